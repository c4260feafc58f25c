//! Targets of computed jumps that left compiled code.
//!
//! The interpreter remembers the first few targets of each jump; this module remembers the targets that turn up
//! afterwards. When jumps to them have left a region often enough, the region is compiled again and includes them.

use std::cmp::Reverse;

use lathe_base::numbers::ByNumber;
use lathe_fast::Fast;

/// Targets of one jump, at most; a jump to any other leaves compiled code every time.
const TARGETS: usize = 2_048;
/// Jumps that are remembered; beyond this number all are forgotten, which costs only time.
const REMEMBERED: usize = 1 << 12;

/// The computed jumps of one machine.
#[derive(Default)]
pub(crate) struct Jumps {
    seen: ByNumber<u64, Seen>,
}

struct Seen {
    /// The targets that turned up, in order. `known` has them for lookup, together with those of the interpreter.
    targets: Vec<u64>,
    known: ByNumber<u64, ()>,
    /// Times that the jump has left compiled code since it was compiled.
    misses: u32,
    /// Times that the region was compiled again for that.
    renewed: u32,
    /// Whether the jump has too many targets for remembering them to be useful.
    given_up: bool,
}

impl Jumps {
    /// Returns the remembered targets of the jump at an address, those executed most first.
    pub(crate) fn targets(&self, fast: &Fast, pc: u64) -> Vec<u64> {
        let mut all: Vec<u64> = self.all_targets(fast, pc).collect();
        all.sort_unstable();
        all.dedup();
        all.sort_by_cached_key(|target| Reverse(fast.executions(*target)));
        all
    }

    /// Returns the remembered targets of the jump at an address, in no order; some may occur twice.
    pub(crate) fn all_targets(&self, fast: &Fast, pc: u64) -> impl Iterator<Item = u64> {
        fast.targets(pc).chain(self.seen.get(&pc).into_iter().flat_map(|seen| &seen.targets).copied())
    }

    /// Records that compiled code was left because the jump went to this target. Returns whether to compile the code
    /// again: after `patience` misses, and twice as many each further time, because a jump with many targets keeps
    /// finding new ones.
    pub(crate) fn missed(&mut self, fast: &Fast, pc: u64, target: u64, patience: u32) -> bool {
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        let known = || fast.targets(pc).map(|target| (target, ())).collect();
        let new = || Seen { targets: Vec::new(), known: known(), misses: 0, renewed: 0, given_up: false };
        let seen = self.seen.entry(pc).or_insert_with(new);
        if seen.given_up {
            return false;
        }
        if !seen.known.contains_key(&target) {
            if seen.known.len() >= TARGETS {
                return false;
            }
            seen.targets.push(target);
            seen.known.insert(target, ());
        }
        seen.misses += 1;
        if seen.misses < patience.saturating_mul(1 << seen.renewed.min(16)) {
            return false;
        }
        (seen.misses, seen.renewed) = (0, seen.renewed + 1);
        true
    }

    /// From now on, remembers no more of a jump than the interpreter does, because code with all its targets was not
    /// worth compiling. Every region that contains the jump would be as large.
    pub(crate) fn give_up(&mut self, pc: u64) {
        if let Some(seen) = self.seen.get_mut(&pc) {
            seen.targets.clear();
            seen.given_up = true;
        }
    }

    /// Forgets a jump whose instruction was changed.
    pub(crate) fn forget(&mut self, pc: u64) {
        self.seen.remove(&pc);
    }
}
