//! Runs compiled code: finds where it is entered, hands it the machine, and goes from region to region until it must be
//! left.
//!
//! This is the only caller of compiled code, so what [`Code::call`](crate::code::Code::call) asks for is promised here.

use std::ptr::{null, null_mut};

use lathe_base::limits;
use lathe_fast::code_map::{CodeMap, GROUP_BITS, MARKS_AT_ONCE, View};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_vm::memory::{LARGE_IN_ONE_PIECE, PAGE_BITS};
use lathe_vm::{Run, State};

use crate::context::{Context, NO_JUMP};
use crate::engine::{Drop, Jit, SLICE};
use crate::guarded;
use crate::ledger::CROSSING;
use crate::regions::{RegionId, Regions, WayIn};
use crate::shared::Compiled;

/// Of this many computed jumps that leave a region one is examined. Few loops have a multiple of this many jumps.
pub(crate) const SAMPLE: u64 = 13;
/// Entering compiled code counts as this many steps towards the next look.
const ENTRY: u64 = 1 << 10;
/// Times that a region is reached in a mode it was not made for before it is compiled again for any mode.
const STRANGERS: u32 = 8;

/// Where compiled code is entered.
struct Place {
    id: RegionId,
    block: u32,
    /// The steps it may take.
    budget: i64,
}

/// Why compiled code was left.
pub(crate) enum Exit {
    /// The next instruction must be interpreted.
    Interpret(RegionId),
    /// A computed jump went to an address the region has no code for, as it has done often.
    Missed(RegionId),
    /// The next address has no compiled code, or the budget is nearly spent.
    Elsewhere(RegionId),
    /// It is time to take up what has been compiled, and to consider compiling the region again.
    Look(RegionId),
}

impl Jit {
    /// Whether this host has room for all cells and permits, without which compiled code cannot be entered.
    pub(crate) fn has_room(&self, state: &mut State) -> bool {
        let are_there = memories(&self.isa).all(|id| base(&self.isa, state, id).is_some());
        are_there && marks(&self.isa, self.fast.marks()).is_some()
    }

    /// Moves memories between guard pages where the host has them, and makes room for permits. Memories that do not fit
    /// in one piece get a table of their pages.
    pub(crate) fn make_room(&mut self, state: &mut State) {
        if LARGE_IN_ONE_PIECE {
            self.fast.keep_permits(guarded::room);
        }
        for id in memories(&self.isa) {
            let memory = state.storage_mut(id);
            memory.move_into(guarded::room, guarded::room);
            if !LARGE_IN_ONE_PIECE {
                memory.make_page_table();
            }
        }
    }

    /// Runs compiled code from region to region, if there is some at the program counter and the budget suffices.
    pub(crate) fn enter(&mut self, state: &mut State, left: u64, run: &mut Run) -> Option<Exit> {
        let mut place = self.place(state, left)?;
        let Marks { marks, rows, permits } = marks(&self.isa, self.fast.marks())?;
        let mut bases = [null_mut(); limits::MEMORIES];
        let mut opened = [null(); limits::MEMORIES];
        for id in memories(&self.isa) {
            bases[id.index()] = base(&self.isa, state, id)?;
            opened[id.index()] = state.memory(id).open_pages_pointer(self.isa.memory(id))?;
        }
        let mut context = Context {
            registers: state.registers_mut().as_mut_ptr(),
            marks,
            rows,
            permits,
            memories: bases.as_ptr(),
            opened: opened.as_ptr(),
            fuel: 0,
            cycles: 0,
            pc: 0,
            interpret: 0,
            jump: NO_JUMP,
            links: null(),
            link_mask: 0,
            usages: null_mut(),
            current: null_mut(),
            started: 0,
        };
        self.regions.links.forget_unless(self.fast.marks().additions());
        let before = run.steps;
        loop {
            let Place { id, block, budget } = place;
            (context.links, context.link_mask) = self.regions.links.table();
            context.usages = self.regions.usages.as_mut_ptr();
            context.current = context.usages.wrapping_byte_add(Regions::usage_at(id));
            let used = self.regions.get(id)?;
            context.fuel = budget - used.region.bound as i64;
            (context.started, context.jump) = (context.fuel, NO_JUMP);
            context.registers = state.registers_mut().as_mut_ptr();
            // SAFETY: the region was compiled for this instruction set. There are as many registers as it has:
            // `advance` has looked, and nobody can take some away. There are as many marks, permits, cells and pages as
            // it says: that was looked at above, and nothing in this loop changes where they are. Every number in
            // the table of rows is where a whole row begins: the code map gives no other. Every link leads to a
            // region in use, since those from its addresses are forgotten when it goes away, and there is a usage
            // for each of those. Nothing else touches any of this during the call.
            unsafe { used.region.code.call(&mut context, block) };
            state.pc = context.pc;
            // It may have gone on in other regions.
            let id = self.regions.of_usage(context.current.addr() - context.usages.addr())?;
            let used = self.regions.get(id)?;
            let steps = (budget - used.region.bound as i64 - context.fuel) as u64;
            run.steps += steps;
            run.cycles = run.cycles.wrapping_add(std::mem::take(&mut context.cycles));
            self.statistics.entries += 1;
            self.statistics.steps += steps;
            if context.interpret != 0 {
                self.regions.get_mut(id)?.exits += 1;
            }
            let is_to_be_looked_at = self.regions.note_steps(id, (context.started - context.fuel) as u64, CROSSING);
            if context.interpret != 0 {
                self.statistics.interpreted += 1;
                return Some(Exit::Interpret(id));
            }
            self.until_look = self.until_look.saturating_sub(steps + ENTRY);
            if is_to_be_looked_at || self.until_look == 0 {
                self.until_look = SLICE;
                return Some(Exit::Look(id));
            }
            if context.jump != NO_JUMP {
                self.statistics.jumped += 1;
                if self.statistics.jumped.is_multiple_of(SAMPLE) && self.misses_too_often(id, context.jump, state.pc) {
                    return Some(Exit::Missed(id));
                }
            }
            match self.place(state, left - (run.steps - before)) {
                Some(next) => {
                    self.regions.link(state.pc, next.id, next.block);
                    place = next;
                }
                None => {
                    return Some(Exit::Elsewhere(id));
                }
            }
        }
    }

    /// Finds where compiled code can be entered now, with this many steps left.
    fn place(&mut self, state: &State, left: u64) -> Option<Place> {
        let WayIn { id, block } = self.regions.way_in(state.pc)?;
        let additions = self.fast.marks().additions();
        let used = self.regions.get(id)?;
        let bound = used.region.bound;
        // This is asked whenever one region leads to another, and most need no closer look.
        let is_as_before = used.additions == Some(additions) && used.region.assumptions.modes.is_empty();
        if !is_as_before && !self.is_as_assumed(state, id) {
            return None;
        }
        let budget = left.min(SLICE + bound);
        (budget >= bound).then_some(Place { id, block, budget: budget as i64 })
    }

    /// Whether the assumptions of a region hold. A region whose assumptions can never hold again is dropped.
    fn is_as_assumed(&mut self, state: &State, id: RegionId) -> bool {
        let additions = self.fast.marks().additions();
        let Some(used) = self.regions.get_mut(id) else { return false };
        let Compiled { assumptions, blocks, .. } = &*used.region;
        if !assumptions.are_modes_of(state) {
            used.strangers += 1;
            if used.strangers == STRANGERS {
                self.any_mode.extend(blocks.keys());
                self.drop_region(id, Drop::TryAgain);
            }
            return false;
        }
        // Assumptions about cells fail only where a mark is added.
        if used.additions != Some(additions) && !assumptions.hold(self.fast.marks()) {
            self.drop_region(id, Drop::TryAgain);
            return false;
        }
        used.additions = Some(additions);
        true
    }
}

/// Returns the first cell of a memory, or the table of its pages. There is none if the memory is not as the definition
/// says, or is in pages although this host has room for it in one piece.
fn base(isa: &Isa, state: &mut State, id: MemoryId) -> Option<*mut u8> {
    let (memory, described) = (state.memory_mut(id), isa.memory(id));
    match described.is_large() && !LARGE_IN_ONE_PIECE {
        true => Some(memory.page_table_pointer(described)?.cast_mut().cast()),
        false => memory.cells_pointer(described),
    }
}

/// What compiled code examines before it stores; see [`Context`].
struct Marks {
    marks: *const u8,
    rows: *const usize,
    permits: *const u8,
}

/// Returns the marks of all cells, or `None` if there are not as many as the definition says.
fn marks(isa: &Isa, marks: &CodeMap) -> Option<Marks> {
    let cells = isa.code_memory().cells();
    match marks.view() {
        View::Flat(marks) if marks.len() as u128 == cells + u128::from(MARKS_AT_ONCE) => {
            Some(Marks { marks: marks.as_ptr(), rows: null(), permits: null() })
        }
        View::Paged { table, rows, permits } if table.len() as u128 == cells >> PAGE_BITS => {
            let permits = match permits {
                Some(permits) => (permits.len() as u128 == cells >> GROUP_BITS).then_some(permits.as_ptr())?,
                None => (!LARGE_IN_ONE_PIECE).then_some(null())?,
            };
            Some(Marks { marks: rows.as_ptr(), rows: table.as_ptr(), permits })
        }
        _ => None,
    }
}

fn memories(isa: &Isa) -> impl Iterator<Item = MemoryId> {
    (0..isa.memories.len() as u32).map(MemoryId)
}
