//! What a program has done to its own instructions, and how they are treated therefore.
//!
//! An instruction that was hit by stores twice has its hit cells *live*: read whenever it is
//! executed, so that further stores cost nothing. Where even the opcode keeps changing, it
//! is volatile, so looked up by what its cells hold, until it has been the same for a while.

use std::collections::HashMap;

use crate::dataflow::patched::Cells;

/// Stores into an instruction after which its cells are live.
const HITS: u32 = 2;
/// Executions as another instruction than the decoded one after which it is volatile.
const MISMATCHES: u32 = 2;
/// Executions of the same instruction after which one that is volatile is decoded like any other once more.
pub(super) const QUIET: u32 = 200;
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
    changes: HashMap<u64, Changes>,
}

#[derive(Clone, Debug, Default)]
struct Changes {
    hits: u32,
    cells: Cells,
    mismatches: u32,
    quiet: u32,
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

    /// The instruction is treated as if it had never been changed.
    pub(super) fn forget(&mut self, pc: u64) {
        self.changes.remove(&pc);
    }

    /// An interpreted instruction was the same as last time. Whether it is treated otherwise from
    /// now on.
    pub(super) fn same(&mut self, pc: u64) -> bool {
        let Some(changes) = self.changes.get_mut(&pc) else { return false };
        changes.quiet += 1;
        let settled = changes.quiet >= QUIET;
        if settled {
            self.changes.remove(&pc);
        }
        settled
    }
}
