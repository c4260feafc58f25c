//! How a program has changed its own instructions, and how each is treated as a result.
//!
//! After stores have hit an instruction twice, the cells that were hit are *live*: read at every execution, so that
//! further stores cost nothing. If even the opcode keeps changing, the instruction is volatile: looked up by its
//! content, until that has been the same for a while.

use lathe_base::numbers::ByNumber;

use lathe_values::patched::Cells;

/// Stores into an instruction that make its cells live.
const HITS: u32 = 2;
/// Executions as another instruction than the decoded one that make an instruction volatile.
const MISMATCHES: u32 = 2;
/// Executions of the same instruction after which a volatile one is decoded like any other again. The number doubles
/// with each relapse, so that an instruction that changes now and then is not compiled and thrown away again and again.
const QUIET: u32 = 2_000;
/// How many relapses count.
const RELAPSES: u32 = 16;
/// How many instructions are remembered. Beyond that all are forgotten, which costs only time.
const REMEMBERED: usize = 1 << 16;

/// How an instruction is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Decoded once, with these cells live.
    Decoded(Cells),
    /// Looked up by its content every time.
    Volatile,
}

/// The changed instructions, by address.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    changes: ByNumber<u64, Changes>,
}

#[derive(Clone, Debug, Default)]
struct Changes {
    hits: u32,
    cells: Cells,
    mismatches: u32,
    quiet: u32,
    /// How often it counted as settled.
    settled: u32,
}

impl Changes {
    /// Returns how many executions of the same instruction make it count as settled.
    fn patience(&self) -> u32 {
        QUIET << self.settled.min(RELAPSES)
    }

    /// Forgets that the instruction has changed, but counts that it has settled.
    fn settle(&mut self) {
        *self = Changes { settled: self.settled.saturating_add(1), ..Changes::default() };
    }
}

impl History {
    /// Returns how the instruction at an address is treated.
    pub(super) fn treatment(&self, pc: u64) -> Treatment {
        match self.changes.get(&pc) {
            Some(changes) if changes.mismatches >= MISMATCHES => Treatment::Volatile,
            Some(changes) if changes.hits >= HITS => Treatment::Decoded(changes.cells),
            _ => Treatment::Decoded(Cells::default()),
        }
    }

    /// Notes that a store has hit this cell of an instruction. Returns whether it is treated differently from now on.
    pub(super) fn hit(&mut self, pc: u64, cell: u32) -> bool {
        if self.changes.len() >= REMEMBERED {
            self.changes.clear();
        }
        let changes = self.changes.entry(pc).or_default();
        changes.hits = changes.hits.saturating_add(1);
        changes.cells.insert(cell);
        changes.hits >= HITS
    }

    /// Notes that the opcode of an instruction was not the decoded one when it was reached. Returns whether the
    /// instruction is treated differently from now on.
    pub(super) fn mismatch(&mut self, pc: u64) -> bool {
        let changes = self.changes.entry(pc).or_default();
        changes.mismatches = changes.mismatches.saturating_add(1);
        changes.quiet = 0;
        changes.mismatches >= MISMATCHES
    }

    /// Notes that the instruction has been the same for a long time.
    pub(super) fn settle(&mut self, pc: u64) {
        self.changes.entry(pc).or_default().settle();
    }

    /// Returns how many executions of the same instruction make a volatile one count as settled.
    pub(super) fn patience(&self, pc: u64) -> u32 {
        self.changes.get(&pc).map_or(QUIET, Changes::patience)
    }

    /// Notes that an interpreted instruction was the same as last time. Returns whether it is treated differently from
    /// now on.
    pub(super) fn same(&mut self, pc: u64) -> bool {
        let Some(changes) = self.changes.get_mut(&pc) else { return false };
        changes.quiet += 1;
        let settled = changes.quiet >= changes.patience();
        if settled {
            changes.settle();
        }
        settled
    }
}
