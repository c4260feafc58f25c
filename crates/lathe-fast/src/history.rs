//! What a program has done to its own instructions, and how they are treated therefore.
//!
//! An instruction that was hit by stores twice has its hit cells *live*: read whenever it is
//! executed, so that further stores cost nothing. Where even the opcode keeps changing, it
//! is volatile, so looked up by what its cells hold, until it has been the same for a while.

use lathe_base::numbers::ByNumber;

use lathe_values::patched::Cells;

/// Stores into an instruction after which its cells are live.
const HITS: u32 = 2;
/// Executions as another instruction than the decoded one after which it is volatile.
const MISMATCHES: u32 = 2;
/// Executions of the same instruction after which one that is volatile is decoded like any other once more.
/// It is twice as many after each relapse, so that one which changes now and then is not compiled and thrown
/// away again and again.
const QUIET: u32 = 2_000;
/// Relapses that count.
const RELAPSES: u32 = 16;
/// Instructions that are remembered; beyond that all are forgotten, which costs time only.
const REMEMBERED: usize = 1 << 16;

/// How an instruction is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Decoded once; these of its cells are live.
    Decoded(Cells),
    /// Looked up by what its cells hold every time.
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
    /// How often it was taken for settled.
    settled: u32,
}

impl Changes {
    /// Executions of the same instruction after which it is taken for settled.
    fn patience(&self) -> u32 {
        QUIET << self.settled.min(RELAPSES)
    }

    /// The instruction is treated like one that has never been changed, but its relapse is remembered.
    fn settle(&mut self) {
        *self = Changes { settled: self.settled.saturating_add(1), ..Changes::default() };
    }
}

impl History {
    /// How the instruction at an address is treated.
    pub(super) fn treatment(&self, pc: u64) -> Treatment {
        match self.changes.get(&pc) {
            Some(changes) if changes.mismatches >= MISMATCHES => Treatment::Volatile,
            Some(changes) if changes.hits >= HITS => Treatment::Decoded(changes.cells),
            _ => Treatment::Decoded(Cells::default()),
        }
    }

    /// A store has hit this cell of an instruction. Whether it is treated otherwise from now on.
    pub(super) fn hit(&mut self, pc: u64, cell: u32) -> bool {
        if self.changes.len() >= REMEMBERED {
            self.changes.clear();
        }
        let changes = self.changes.entry(pc).or_default();
        changes.hits = changes.hits.saturating_add(1);
        changes.cells.insert(cell);
        changes.hits >= HITS
    }

    /// The instruction was reached when its opcode was not the decoded one. Whether it is treated
    /// otherwise from now on.
    pub(super) fn mismatch(&mut self, pc: u64) -> bool {
        let changes = self.changes.entry(pc).or_default();
        changes.mismatches = changes.mismatches.saturating_add(1);
        changes.quiet = 0;
        changes.mismatches >= MISMATCHES
    }

    /// The instruction has been the same for a long time.
    pub(super) fn settle(&mut self, pc: u64) {
        self.changes.entry(pc).or_default().settle();
    }

    /// How often a volatile instruction must be executed as the same one to be taken for settled.
    pub(super) fn patience(&self, pc: u64) -> u32 {
        self.changes.get(&pc).map_or(QUIET, Changes::patience)
    }

    /// An interpreted instruction was the same as last time. Whether it is treated otherwise from
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
