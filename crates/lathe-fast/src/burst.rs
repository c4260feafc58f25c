//! The inner loop of the fast interpreter: from block to block.

use lathe_isa::model::Memory;
use lathe_vm::state::State;
use lathe_vm::stops::Run;

use super::flow::{Beginning, Flow, PAUSED, Ready};
use super::jump_cache::JumpCache;
use super::memories::Memories;
use super::ops::{EntryId, Slots};
use super::outside::{ARGUMENTS, Operation, Outside};
use super::volatile::Volatile;
use super::{Entry, Event, Fast};
use crate::code_map::{CodeMap, View};

/// What operations work on, besides slots.
pub(super) struct Work<'a> {
    pub(super) steps_left: u64,
    pub(super) cycles: u64,
    pub(super) memories: Memories<'a>,
    /// The marks of a small code memory.
    pub(super) flat: &'a [u8],
    pub(super) marks: &'a CodeMap,
    pub(super) code_memory: &'a Memory,
    /// All registers; those that have slots may have other values there.
    pub(super) registers: &'a mut [u64],
    pub(super) ops: &'a [Ready],
    pub(super) jump_cache: &'a JumpCache,
    pub(super) volatiles: &'a mut [Volatile],
    pub(super) device_operations: &'a [Operation],
    /// The address of an access that takes longer.
    pub(super) address: u64,
    pub(super) arguments: [u64; ARGUMENTS],
    pub(super) outside: Outside<'a>,
    entries: &'a mut [Entry],
    /// The block that is executed.
    pub(super) current: EntryId,
    /// Why no block is executed any more.
    pub(super) event: Option<Event>,
}

impl Work<'_> {
    /// Decodes the block first.
    pub(super) fn decode(&mut self) -> Flow<'static> {
        self.event = Some(Event::Decode(self.current));
        PAUSED
    }

    /// Has the instruction of the block interpreted.
    pub(super) fn interpret(&mut self) -> Flow<'static> {
        self.event = Some(Event::Interpret(self.entries[self.current as usize].pc));
        PAUSED
    }

    #[inline(always)]
    pub(super) fn take_cycles(&mut self, cycles: u64) {
        self.cycles = self.cycles.wrapping_add(cycles);
    }

    /// Counts a visit to a block that another one continues with, unless there is something to do first.
    #[inline(always)]
    fn enter(&mut self, target: EntryId) -> Result<Beginning, Event> {
        let next = &mut self.entries[target as usize];
        if self.steps_left < u64::from(next.count) {
            return Err(Event::Short(target));
        }
        next.visits = next.visits.wrapping_add(1);
        if next.visits == next.hot_at {
            return Err(Event::Hot(target));
        }
        self.current = target;
        Ok(next.start)
    }
}

impl Fast {
    /// Executes blocks until something comes up that needs more than slots and memory. At least as many steps must be
    /// left as the first block takes.
    pub(super) fn burst(
        &mut self,
        entry: EntryId,
        left: &mut u64,
        state: &mut State,
        outside: Outside,
        run: &mut Run,
    ) -> Event {
        let Fast { slots, ops, entries, jump_cache, marks, volatiles, isa, device_operations, .. } = self;
        let flat: &[u8] = match marks.view() {
            View::Flat(marks) => marks,
            View::Paged { .. } | View::Numbered => &[],
        };
        let (registers, memories) = state.parts_mut();
        let mut work = Work {
            steps_left: *left,
            cycles: run.cycles,
            memories: Memories::new(memories, isa.pc.memory),
            flat,
            marks,
            code_memory: isa.code_memory(),
            registers,
            ops,
            jump_cache,
            volatiles,
            device_operations,
            address: 0,
            arguments: [0; ARGUMENTS],
            outside,
            entries,
            current: entry,
            event: None,
        };
        let mut start = work.entries[entry as usize].start;
        let slots: &mut Slots = slots;
        let event = loop {
            match start.execute(slots, &mut work).map(|target| work.enter(target)) {
                Some(Ok(next)) => start = next,
                Some(Err(event)) => break event,
                None => break work.event.expect("a block that leads to no other has said why"),
            }
        };
        (*left, run.cycles) = (work.steps_left, work.cycles);
        event
    }
}
