//! Watching code: which instructions have been decoded, by this engine or by one that uses
//! it, and what happens when a program stores into them.

use std::sync::Arc;

use lathe_base::Width;
use lathe_vm::state::State;

use super::decode::{Lowerable, Reading, cell_of};
use super::ops::EntryId;
use super::volatile::Volatile;
use super::{DECODE, Fast};

/// An instruction that has been decoded.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    reading: Reading,
    /// The bits that must not change unseen.
    watched: u128,
    /// The blocks that it is part of, with how many instructions come before it there.
    blocks: Vec<(EntryId, u32)>,
    /// What it was decoded as for those, so that others need not decode it again.
    decoded: Option<Arc<Lowerable>>,
}

impl Instruction {
    fn new(reading: Reading, watched: u128) -> Instruction {
        Instruction { reading, watched, blocks: Vec::new(), decoded: None }
    }

    /// The blocks that it is part of, with how many instructions come before it there.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (EntryId, u32)> {
        self.blocks.iter().copied()
    }

    /// Whether a store to this cell of it must not go unseen.
    fn watches(&self, cell: u32, width: Width) -> bool {
        cell < self.reading.cells && cell_of(self.watched, cell, width) != 0
    }
}

impl Fast {
    /// Notes an instruction that another engine has decoded here, so that a change of it is seen.
    /// What was made from another reading of it is forgotten, unless all that it relies on is still
    /// watched.
    pub fn watch(&mut self, pc: u64, reading: &Reading) {
        let cell = self.isa.code_memory().cell;
        let watched = reading.watched(cell);
        let covers = |known: &Instruction| {
            known.watched & !watched == 0 && (known.reading.window ^ reading.window) & known.watched == 0
        };
        if self.instructions.get(&pc).is_some_and(|known| !covers(known)) {
            self.make_stale(pc);
        }
        let instruction = self.instructions.entry(pc).or_insert_with(|| Instruction::new(*reading, watched));
        (instruction.reading, instruction.watched) = (*reading, watched);
        for at in (0..reading.cells).filter(|at| instruction.watches(*at, cell)) {
            self.marks.mark(pc.wrapping_add(u64::from(at)));
        }
    }

    /// Notes an instruction of a block. One that another engine has decoded as something else must
    /// be forgotten there, and counts as a change of its opcode.
    pub(super) fn watch_in_block(&mut self, state: &State, pc: u64, decoded: &Arc<Lowerable>, block: (EntryId, u32)) {
        let other = self.instructions.get(&pc).map(|known| known.reading);
        if other.is_some_and(|other| (self.head(state, pc, other.cells) ^ other.window) & other.guarded != 0) {
            self.history.mismatch(pc);
            self.changed.push(pc);
        }
        self.watch(pc, &decoded.reading);
        let Some(known) = self.instructions.get_mut(&pc) else { return };
        if !known.blocks.contains(&block) {
            known.blocks.push(block);
        }
        known.decoded = Some(decoded.clone());
    }

    /// Forgets what was decoded and is not there any more, and looks at all else that a run goes by. To be called before
    /// a run if the state may have been changed by others, or a snapshot has been taken.
    pub fn revalidate(&mut self, state: &State) {
        self.look_whether_due(state);
        self.marks.close_as(state.memory(self.isa.pc.memory));
        self.banks.take(&self.isa, state);
        // There may be many instructions, and many short runs.
        let is_as_left = self.stamp.is_some_and(|stamp| state.has(stamp)) && !self.is_paused();
        if !is_as_left {
            self.end_pause(state);
        }
    }

    /// After a run: what is in the state has been seen, and need not be looked at before the next run unless somebody
    /// else changes it.
    pub fn take_note_of(&mut self, state: &mut State) {
        self.stamp = Some(state.stamp());
    }

    /// Forgets what was decoded where something else is fetched now, because an instruction has changed a register that
    /// decides it, with so many steps of the run done.
    pub(super) fn note_banks(&mut self, state: &State, done: u64) {
        // Tests that look after every step are about what is decoded.
        let forget = match self.stepping {
            true => self.banks.take(&self.isa, state),
            false => self.banks.note(&self.isa, state, done),
        };
        if forget {
            self.forget_what_changed(state);
        }
    }

    /// Ends the time in which everything is interpreted, because banks change too often for anything else.
    pub(super) fn end_pause(&mut self, state: &State) {
        self.banks.resume();
        self.forget_what_changed(state);
    }

    fn forget_what_changed(&mut self, state: &State) {
        let mut changed: Vec<u64> = self.instructions.keys().copied().collect();
        changed.retain(|pc| self.is_changed(state, *pc));
        changed.sort_unstable();
        changed.into_iter().for_each(|pc| self.make_stale(pc));
    }

    /// Makes the instructions stale that a store into code has changed, or that have been hit
    /// often enough to be treated otherwise.
    pub(super) fn note_store(&mut self, state: &State, address: u64) {
        self.marks.open(address);
        // No instruction is fetched from a cell below a map with code.
        if !self.marks.is_marked(address) || self.isa.has_mapped_code && self.fetch(address).is_some() {
            return;
        }
        for back in 0..self.longest {
            let pc = self.before(address, back);
            if !self.is_watched(pc, back) {
                continue;
            }
            let otherwise = self.history.hit(pc, back);
            if otherwise || self.is_changed(state, pc) {
                self.make_stale(pc);
            }
        }
        // A cell that no instruction watches any more loses its mark. Those that are decoded later
        // mark it again.
        if !(0..self.longest).any(|back| self.is_watched(self.before(address, back), back)) {
            self.marks.unmark(address);
        }
    }

    /// Whether the instruction at an address keeps changing its opcode, so that it is looked up by its content.
    pub fn is_volatile(&self, pc: u64) -> bool {
        self.reading(pc).is_some_and(|reading| reading.volatile)
    }

    /// How the instruction at an address was read, if it has been decoded.
    pub(super) fn reading(&self, pc: u64) -> Option<&Reading> {
        self.instructions.get(&pc).map(|known| &known.reading)
    }

    /// What the instruction at an address was decoded as, if it is part of a block.
    pub(super) fn decoded(&self, pc: u64) -> Option<&Arc<Lowerable>> {
        self.instructions.get(&pc)?.decoded.as_ref()
    }

    fn before(&self, address: u64, back: u32) -> u64 {
        self.isa.pc.width.wrap(address.wrapping_sub(u64::from(back)))
    }

    fn is_watched(&self, pc: u64, cell: u32) -> bool {
        let width = self.isa.code_memory().cell;
        self.instructions.get(&pc).is_some_and(|known| known.watches(cell, width))
    }

    /// Whether an instruction is not what was decoded any more.
    fn is_changed(&self, state: &State, pc: u64) -> bool {
        let changed = |known: &Instruction| {
            (self.head(state, pc, known.reading.cells) ^ known.reading.window) & known.watched != 0
        };
        self.instructions.get(&pc).is_some_and(changed)
    }

    /// Before an instruction is interpreted: counts whether it is still the same, where that
    /// decides how it is treated.
    pub(super) fn note_interpreted(&mut self, state: &State, pc: u64) {
        let Some(known) = self.instructions.get(&pc) else { return };
        let Reading { cells, window, guarded, volatile, .. } = known.reading;
        if !volatile && guarded == 0 {
            return;
        }
        let now = self.head(state, pc, cells);
        let compared = if volatile { u128::MAX } else { guarded };
        let otherwise = match (now ^ window) & compared {
            0 => volatile && self.history.same(pc),
            _ => self.history.mismatch(pc) && !volatile,
        };
        if let Some(known) = self.instructions.get_mut(&pc).filter(|_| volatile) {
            known.reading.window = now;
        }
        if otherwise {
            self.make_stale(pc);
        }
    }

    /// Decodes an instruction like any other again that has not changed for a long time.
    pub(super) fn settle(&mut self, pc: u64) {
        self.history.settle(pc);
        self.make_stale(pc);
    }

    /// The beginning of the instruction stream, without what lies beyond this many cells.
    pub(super) fn head(&self, state: &State, pc: u64, cells: u32) -> u128 {
        state.window(&self.isa, pc, cells)
    }

    /// Forgets an instruction, and every block that it is part of.
    fn make_stale(&mut self, pc: u64) {
        let Some(known) = self.instructions.remove(&pc) else { return };
        known.blocks.into_iter().for_each(|(block, _)| self.forget_block(block));
        if let Some(jump) = self.jumps_by_address.get(&pc) {
            self.jumps[*jump as usize].clear();
            self.jump_cache.forget(*jump);
        }
        self.changed.push(pc);
    }

    /// The block is decoded again when it is reached.
    pub(super) fn forget_block(&mut self, block: EntryId) {
        let entry = &mut self.entries[block as usize];
        (entry.start, entry.count) = (DECODE, 1);
        let pc = entry.pc;
        self.volatiles.iter_mut().filter(|volatile| volatile.pc == pc).for_each(Volatile::forget);
    }
}
