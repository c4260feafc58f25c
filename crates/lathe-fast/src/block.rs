//! Blocks: sequences of instructions, executed symbolically as if they were one.
//!
//! A block can be left before each of its instructions, with the registers as they are there, and after a branch that
//! does not go the way the block does. Stores are done in order, so leaving a block never has to undo anything.

use std::sync::Arc;

use lathe_base::Width;
use lathe_isa::model::RegisterId;
use lathe_values::{Effects, Graph, Node, SymbolicState, ValueId, WayOn};
use lathe_vm::state::State;

use super::decode::{Lowerable, effects_at};
use crate::Fast;

/// The most instructions in a block.
const INSTRUCTIONS: usize = 32;
/// The most values in the graph of a block.
const VALUES: usize = 512;

/// Instructions executed symbolically as one.
pub(super) struct Block {
    pub(super) graph: Graph,
    pub(super) before: SymbolicState,
    /// What each instruction does, in order.
    pub(super) steps: Vec<Step>,
    pub(super) end: WayOn,
    /// The decoded instructions and their addresses.
    pub(super) decoded: Vec<(u64, Arc<Lowerable>)>,
    /// The most instructions the block may have.
    most: usize,
    /// Registers assumed to have their current value, that value, and whether anything in the block depends on it.
    assumed: Vec<(RegisterId, u64, bool)>,
}

/// One instruction of a block.
pub(super) struct Step {
    pub(super) pc: u64,
    pub(super) effects: Effects,
    /// The cycles of all instructions up to this one.
    pub(super) cycles: ValueId,
    /// How the block may be left after this instruction.
    pub(super) side: Option<Side>,
}

/// A side exit: a branch that leaves the block for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) condition: ValueId,
    /// Whether the branch leaves if the condition is 1, or if it is 0.
    pub(super) when: bool,
    pub(super) target: u64,
    /// The cycles of all instructions up to the exit.
    pub(super) cycles: ValueId,
}

/// Builds the block at an address, of at most `most` instructions. Returns none if the first instruction must be
/// interpreted.
///
/// Assumes that the registers in `modes` have the values given there. Reuses the allocation of `room`.
pub(super) fn build(
    fast: &Fast,
    state: &State,
    pc: u64,
    most: usize,
    modes: &[(RegisterId, u64)],
    room: Graph,
) -> Option<Block> {
    let decoded = Some(fast.decode(state, pc)).filter(|decoded| !decoded.reading.is_volatile())?;
    build_from(fast, state, decoded, pc, most, modes, room)
}

/// Builds a block whose first instruction is already decoded. It may be volatile, because the block is entered only
/// while the cells hold this instruction.
pub(super) fn build_from(
    fast: &Fast,
    state: &State,
    first: Arc<Lowerable>,
    pc: u64,
    most: usize,
    modes: &[(RegisterId, u64)],
    room: Graph,
) -> Option<Block> {
    let mut block = Block::new(fast, pc, most.min(INSTRUCTIONS), modes, room);
    let effects = block.effects(fast, &first, pc)?;
    block.add(&first, effects, pc);
    while block.steps.len() < block.most && block.graph.len() <= VALUES / 2 {
        let Some((pc, side)) = block.way_on() else { break };
        let decoded = fast.decode(state, pc);
        let fixed = Some(&decoded).filter(|decoded| !decoded.reading.is_volatile());
        let Some(effects) = fixed.and_then(|decoded| block.effects(fast, decoded, pc)) else { break };
        block.follow(side);
        block.add(&decoded, effects, pc);
    }
    Some(block)
}

impl Block {
    fn new(fast: &Fast, pc: u64, most: usize, modes: &[(RegisterId, u64)], room: Graph) -> Block {
        let (mut graph, mut before) = (room, fast.start.frame.clone());
        graph.clone_from(&fast.start.graph);
        for (register, value) in modes {
            before.assume(&fast.isa, &mut graph, *register, *value);
        }
        let assumed = modes.iter().map(|(register, value)| (*register, *value, false)).collect();
        let (steps, decoded) = (Vec::with_capacity(most), Vec::with_capacity(most));
        Block { graph, before, steps, end: WayOn::Goto(pc), decoded, most, assumed }
    }

    /// Returns the registers whose assumed value anything in the block depends on, with that value.
    pub(super) fn assumptions(&self) -> impl Iterator<Item = (RegisterId, u64)> {
        self.assumed.iter().filter(|(_, _, matters)| *matters).map(|(register, value, _)| (*register, *value))
    }

    /// Returns the address that the block may continue with, and the side exit to the other one.
    pub(super) fn way_on(&self) -> Option<(u64, Option<Side>)> {
        match self.end {
            WayOn::Goto(pc) => self.may_follow(pc).then_some((pc, None)),
            WayOn::Branch(condition, taken, other) => {
                // Another round of the loop is the best guess, and falling through the second best: code that a branch
                // skips is there to be executed.
                let start = self.start();
                let when =
                    if start == Some(taken) || start == Some(other) { start == Some(other) } else { taken > other };
                let (pc, target) = if when { (other, taken) } else { (taken, other) };
                let cycles = self.steps.last()?.cycles;
                self.may_follow(pc).then_some((pc, Some(Side { condition, when, target, cycles })))
            }
            WayOn::Jump(_) => None,
        }
    }

    /// Whether the block may continue with the instruction at an address.
    ///
    /// A backward jump may close a loop, where another block begins. If this block is the loop, it is unrolled while a
    /// whole round fits: flags that the next round overwrites are never computed.
    fn may_follow(&self, pc: u64) -> bool {
        let Some(last) = self.steps.last() else { return true };
        if self.start() != Some(pc) {
            return pc > last.pc;
        }
        let round = self.steps.iter().rev().position(|step| step.pc == pc).map_or(0, |at| at + 1);
        let with_a_round = |amount: usize| amount + amount * round / self.steps.len();
        with_a_round(self.steps.len()) <= self.most && with_a_round(self.graph.len()) <= VALUES / 2
    }

    fn start(&self) -> Option<u64> {
        self.steps.first().map(|step| step.pc)
    }

    fn effects(&mut self, fast: &Fast, decoded: &Lowerable, pc: u64) -> Option<Effects> {
        let frame = self.steps.last().map_or(&self.before, |step| &step.effects.frame);
        let effects = effects_at(&fast.isa, &mut self.graph, frame, decoded, pc)?;
        (self.graph.len() <= VALUES).then_some(effects)
    }

    /// Continues after the last instruction. Cycles that depend on its branch are known from there on.
    fn follow(&mut self, side: Option<Side>) {
        let Some(last) = self.steps.last_mut() else { return };
        last.side = side;
        if let Some(side) = &mut last.side
            && let Node::Choose(condition, x, y) = self.graph.node(last.cycles)
            && condition == side.condition
        {
            (side.cycles, last.cycles) = if side.when { (x, y) } else { (y, x) };
        }
    }

    fn add(&mut self, decoded: &Arc<Lowerable>, effects: Effects, pc: u64) {
        for (register, _, matters) in &mut self.assumed {
            *matters |= effects.touched.contains(*register);
        }
        let none = self.graph.constant(Width::MAX, 0);
        let so_far = self.steps.last().map_or(none, |step| step.cycles);
        let cycles = effects.cycles_after(&mut self.graph, so_far, decoded.cycles);
        self.end = self.graph.way_on(effects.next);
        if !self.decoded.iter().any(|(known, _)| *known == pc) {
            self.decoded.push((pc, decoded.clone()));
        }
        self.steps.push(Step { pc, effects, cycles, side: None });
    }

    /// Returns the side exits: after how many instructions, and to which address.
    pub(super) fn sides(&self) -> impl Iterator<Item = (u32, u64)> {
        (1..).zip(&self.steps).filter_map(|(behind, step)| Some((behind, step.side.as_ref()?.target)))
    }

    /// Returns the address of the last instruction.
    pub(super) fn last(&self) -> u64 {
        self.steps.last().map_or(0, |step| step.pc)
    }
}
