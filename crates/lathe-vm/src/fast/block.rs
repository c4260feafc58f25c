//! Blocks: instructions that follow one another, executed on values as if they were one.
//!
//! A block changes nothing before its last condition to leave it has been looked at: once
//! it has stored something it takes in no more instructions that might have to be left to
//! the reference interpreter. So leaving a block means that nothing of it has happened.

use lathe_base::Width;
use lathe_isa::operators::BinaryOperator;

use super::Fast;
use super::decode::{Lowerable, Reading, effects_at};
use crate::dataflow::{Effects, Frame, Graph, Node, ValueId};
use crate::state::State;

/// Instructions of one block.
const INSTRUCTIONS: usize = 32;
/// Values of one block.
pub(super) const VALUES: usize = 512;

/// Instructions as one.
pub(super) struct Block {
    pub(super) graph: Graph,
    pub(super) before: Frame,
    /// What each instruction does, in order.
    pub(super) steps: Vec<Effects>,
    /// The cycles they take together.
    pub(super) cycles: ValueId,
    pub(super) end: End,
    /// The address of the last.
    pub(super) last: u64,
    /// What they were made from.
    pub(super) readings: Vec<(u64, Reading)>,
}

/// Where a block goes on.
pub(super) enum End {
    Goto(u64),
    /// To the first address where the condition is 1, else to the second.
    Branch(ValueId, u64, u64),
    Jump(ValueId),
}

/// Builds the block at an address, of at most so many instructions; none if the first must be
/// interpreted.
pub(super) fn build(fast: &Fast, state: &State, pc: u64, most: usize) -> Option<Block> {
    let mut graph = Graph::default();
    let frame = Frame::new(fast.isa, &mut graph);
    let cycles = graph.constant(Width::MAX, 0);
    let (steps, readings) = (Vec::new(), Vec::new());
    let mut block = Block { graph, before: frame, steps, cycles, end: End::Goto(pc), last: pc, readings };
    let mut stored = false;
    while let End::Goto(pc) = block.end {
        let full = block.steps.len() >= most.min(INSTRUCTIONS) || block.graph.len() > VALUES / 2;
        let again = block.readings.iter().any(|(known, _)| *known == pc);
        // A jump back may close a loop. A block begins there, so that it is counted.
        let closes_loop = !block.steps.is_empty() && pc <= block.last;
        if full || again || closes_loop {
            break;
        }
        let decoded = fast.decode(state, pc);
        let Some(effects) = block.next(fast, &decoded, pc) else { break };
        if stored && !effects.bails.is_empty() {
            break;
        }
        stored |= !effects.stores.is_empty();
        block.add(decoded, effects, pc);
    }
    (!block.steps.is_empty()).then_some(block)
}

impl Block {
    fn next(&mut self, fast: &Fast, decoded: &Lowerable, pc: u64) -> Option<Effects> {
        if decoded.reading.is_volatile() {
            return None;
        }
        let frame = self.steps.last().map_or(&self.before, |step| &step.frame);
        let effects = effects_at(fast.isa, &mut self.graph, frame, decoded, pc)?;
        (self.graph.len() <= VALUES).then_some(effects)
    }

    fn add(&mut self, decoded: Lowerable, effects: Effects, pc: u64) {
        let row = self.graph.constant(Width::MAX, decoded.cycles);
        let cycles = self.graph.binary(BinaryOperator::Add, effects.cycles, row);
        self.cycles = self.graph.binary(BinaryOperator::Add, self.cycles, cycles);
        self.end = self.way_on(effects.next);
        self.last = pc;
        self.readings.push((pc, decoded.reading));
        self.steps.push(effects);
    }

    fn way_on(&self, next: ValueId) -> End {
        match self.graph.node(next) {
            Node::Constant(target) => End::Goto(target),
            Node::Choose(condition, x, y) => match (self.graph.as_constant(x), self.graph.as_constant(y)) {
                (Some(x), Some(y)) => End::Branch(condition, x, y),
                _ => End::Jump(next),
            },
            _ => End::Jump(next),
        }
    }

    /// The machine after it.
    pub(super) fn after(&self) -> &Frame {
        self.steps.last().map_or(&self.before, |step| &step.frame)
    }
}
