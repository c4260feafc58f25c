//! Watching code: which instructions have been decoded, by this engine or by one that uses
//! it, and what happens when a program stores into them.

use std::sync::Arc;

use lathe_base::Width;
use lathe_vm::state::State;

use super::Fast;
use super::decode::{Lowerable, Reading, cell_of};
use super::flow::Beginning;
use super::ops::EntryId;
use super::volatile::Volatile;

/// An instruction that has been decoded.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    reading: Reading,
    /// The bits that must not change unseen.
    watched: u128,
    /// The blocks that contain it, and its position in each.
    blocks: Vec<(EntryId, u32)>,
    /// The decoded instruction of those blocks, so that other blocks need not decode it again.
    decoded: Option<Arc<Lowerable>>,
}

impl Instruction {
    fn new(reading: Reading, watched: u128) -> Instruction {
        Instruction { reading, watched, blocks: Vec::new(), decoded: None }
    }

    /// Returns the blocks that contain it, and its position in each.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (EntryId, u32)> {
        self.blocks.iter().copied()
    }

    /// Whether a store to this cell of it must be seen.
    fn watches(&self, cell: u32, width: Width) -> bool {
        cell < self.reading.cells && cell_of(self.watched, cell, width) != 0
    }
}

impl Fast {
    /// Notes an instruction that another engine has decoded here, so that changes to it are seen. Forgets code made
    /// from another reading of it, unless everything that code relies on is still watched.
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

    /// Notes an instruction of a block. If another engine has decoded it as something else, that engine must forget it,
    /// and its opcode counts as changed.
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

    /// Forgets decoded instructions that are no longer there, and updates everything else that a run relies on. Must be
    /// called before a run if others may have changed the state, or a snapshot has been taken.
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

    /// Notes after a run that the engine has seen the state, which need not be checked before the next run unless
    /// somebody else changes it.
    pub fn take_note_of(&mut self, state: &mut State) {
        self.stamp = Some(state.stamp());
    }

    /// Notes that an instruction may have changed a register that decides what is fetched, `done` steps into the run.
    /// Forgets decoded instructions where something else is fetched now.
    pub(super) fn note_banks(&mut self, state: &State, done: u64) {
        // Tests that check after every step test decoded code, not pauses.
        let forget = match self.stepping {
            true => self.banks.take(&self.isa, state),
            false => self.banks.note(&self.isa, state, done),
        };
        if forget {
            self.forget_what_changed(state);
        }
    }

    /// Ends a pause, in which everything is interpreted because banks change too often.
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

    /// Makes instructions stale that a store into code has changed, or that have been hit often enough to be treated
    /// differently.
    pub(super) fn note_store(&mut self, state: &State, address: u64) {
        self.marks.open(address);
        // No instruction is fetched from a cell under a map that provides code.
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
        // A cell that no instruction watches any more loses its mark. Instructions decoded later mark it again.
        if !(0..self.longest).any(|back| self.is_watched(self.before(address, back), back)) {
            self.marks.unmark(address);
        }
    }

    /// Whether the instruction at an address keeps changing its opcode, so that it is looked up by its content.
    pub fn is_volatile(&self, pc: u64) -> bool {
        self.reading(pc).is_some_and(|reading| reading.volatile)
    }

    /// Returns how the instruction at an address was read, if it has been decoded.
    pub(super) fn reading(&self, pc: u64) -> Option<&Reading> {
        self.instructions.get(&pc).map(|known| &known.reading)
    }

    /// Returns the decoded instruction at an address, if it is part of a block.
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

    /// Whether an instruction is no longer what was decoded.
    fn is_changed(&self, state: &State, pc: u64) -> bool {
        let changed = |known: &Instruction| {
            (self.head(state, pc, known.reading.cells) ^ known.reading.window) & known.watched != 0
        };
        self.instructions.get(&pc).is_some_and(changed)
    }

    /// Counts whether an instruction about to be interpreted is still the same, if that decides how it is treated.
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

    /// Decodes a volatile instruction like any other again, because it has not changed for a long time.
    pub(super) fn settle(&mut self, pc: u64) {
        self.history.settle(pc);
        self.make_stale(pc);
    }

    /// Returns the first cells of the instruction stream at an address, no more than this many.
    pub(super) fn head(&self, state: &State, pc: u64, cells: u32) -> u128 {
        state.window(&self.isa, pc, cells)
    }

    /// Forgets an instruction, and every block that contains it.
    fn make_stale(&mut self, pc: u64) {
        let Some(known) = self.instructions.remove(&pc) else { return };
        known.blocks.into_iter().for_each(|(block, _)| self.forget_block(block));
        if let Some(jump) = self.jumps_by_address.get(&pc) {
            self.jumps[*jump as usize].clear();
            self.jump_cache.forget(*jump);
        }
        self.changed.push(pc);
    }

    /// Forgets a block, which is decoded again when it is reached.
    pub(super) fn forget_block(&mut self, block: EntryId) {
        let entry = &mut self.entries[block as usize];
        (entry.start, entry.count) = (Beginning::DECODE, 1);
        let pc = entry.pc;
        self.volatiles.iter_mut().filter(|volatile| volatile.pc == pc).for_each(Volatile::forget);
    }
}
