//! Lowers blocks to operations.

mod checks;
mod devices;
mod leave;
mod memory;
mod overflow;
mod values;

use lathe_isa::Isa;
use lathe_values::{Bail, Graph, Store, SymbolicState, ValueId, WayOn, mapped_spans};

use super::block::Block;
use super::constants::Constants;
use super::ops::{EntryId, Op, REGISTERS, Slot};
use super::wide::{Words, words};
use leave::{Leaving, Way};

/// The numbers that operations use for addresses and computed jumps.
pub(super) trait Names {
    /// Returns the entry of an address.
    fn entry(&mut self, address: u64) -> EntryId;
    /// Returns the entry of an address for a block that assumes nothing.
    fn careful_entry(&mut self, address: u64) -> EntryId;
    /// Returns the number of the computed jump at an address.
    fn jump(&mut self, address: u64) -> u32;
}

/// Lowers a block; `None` if it is too large.
pub(super) fn lower(isa: &Isa, block: &Block, names: &mut dyn Names, constants: &mut Constants) -> Option<Vec<Op>> {
    let uses = uses(block);
    let mut lowering = Lowering {
        isa,
        graph: &block.graph,
        before: &block.before,
        words: words(&block.graph, &uses),
        uses,
        slots: vec![None; block.graph.len()],
        trail: Vec::new(),
        temporaries: block.before.registers.len().min(REGISTERS),
        names,
        constants,
        pending: Vec::new(),
        spans: mapped_spans(isa, isa.pc.memory),
        mapped: Vec::new(),
        ops: Vec::new(),
        exits: Vec::new(),
        exit_ops: Vec::new(),
        spare: Vec::new(),
    };
    lowering.assume(block)?;
    let mut so_far = (&block.before, None);
    for (step, count) in block.steps.iter().zip(0..) {
        lowering.loads(&step.effects.loads)?;
        let leaving = Leaving { frame: so_far.0, cycles: so_far.1, count, way: Way::Interpret(step.pc) };
        lowering.bails_and_stores(&step.effects, &leaving)?;
        lowering.device_writes(&step.effects, count)?;
        so_far = (&step.effects.frame, Some(step.cycles));
        if let Some(side) = &step.side {
            lowering.side(side, so_far.0, count + 1)?;
        }
    }
    let (frame, cycles) = so_far;
    let way = Way::End(block.end, block.last());
    lowering.finish(&Leaving { frame, cycles, count: block.steps.len() as u8, way })?;
    lowering.together()
}

/// Counts how often each value is used, wherever the block is left.
fn uses(block: &Block) -> Vec<u32> {
    let mut uses = vec![0; block.graph.len()];
    let mut see = |value: ValueId| uses[value.index()] += 1;
    for step in &block.steps {
        step.effects.frame.registers.iter().copied().for_each(&mut see);
        for bail in &step.effects.bails {
            match bail {
                Bail::When(condition) | Bail::Mapped { condition, .. } => see(*condition),
                Bail::Closed(_, address) => see(*address),
                Bail::Marked(address, guard) => [Some(*address), *guard].into_iter().flatten().for_each(&mut see),
            }
        }
        let calls = step.effects.device_reads.iter().map(|(call, _)| call).chain(&step.effects.device_writes);
        calls.flat_map(|call| call.arguments.iter().copied().chain(call.guard)).for_each(&mut see);
        for store in &step.effects.stores {
            [Some(store.address), Some(store.value), store.guard].into_iter().flatten().for_each(&mut see);
        }
        see(step.cycles);
        step.side.iter().for_each(|side| [side.condition, side.cycles].into_iter().for_each(&mut see));
    }
    match block.end {
        WayOn::Branch(value, ..) | WayOn::Jump(value) => see(value),
        WayOn::Goto(..) => {}
    }
    // Operands come before the values made from them, so one backward pass reaches all.
    for value in block.graph.ids().rev() {
        if uses[value.index()] > 0 {
            block.graph.operands(value).for_each(|operand| uses[operand.index()] += 1);
        }
    }
    uses
}

struct Lowering<'a> {
    isa: &'a Isa,
    graph: &'a Graph,
    before: &'a SymbolicState,
    /// How often each value is used.
    uses: Vec<u32>,
    words: Words,
    /// The slot of each value that has been computed.
    slots: Vec<Option<Slot>>,
    /// The values that have been computed, in order.
    trail: Vec<ValueId>,
    /// The next slot for a value.
    temporaries: usize,
    names: &'a mut dyn Names,
    constants: &'a mut Constants,
    /// Stores that need not be visible yet. Those into the code memory are never among them.
    pending: Vec<Store>,
    /// What is mapped over the code memory.
    spans: Vec<(u64, u64)>,
    /// Addresses of the current instruction already checked against `spans`, as base and offset.
    mapped: Vec<(ValueId, u64)>,
    ops: Vec<Op>,
    /// Where each exit begins in `exit_ops`. Until the block is complete, `exit` of an operation is an index into this.
    exits: Vec<usize>,
    exit_ops: Vec<Op>,
    /// Empty; keeps an allocation for reuse.
    spare: Vec<Op>,
}
