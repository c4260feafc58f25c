//! Where computed jumps went when they left compiled code.
//!
//! The interpreter remembers the first few targets of each; here are those that turned up
//! afterwards. When jumps to them have left a region often enough, it is compiled again
//! with them.

use std::cmp::Reverse;

use lathe_base::numbers::ByNumber;
use lathe_fast::Fast;

/// Targets of one jump, at most; the others leave compiled code every time.
const TARGETS: usize = 2_048;
/// Jumps that are remembered; beyond that all are forgotten, which costs time only.
const REMEMBERED: usize = 1 << 12;

/// The computed jumps of one machine.
#[derive(Default)]
pub(crate) struct Jumps {
    seen: ByNumber<u64, Seen>,
}

struct Seen {
    /// In the order in which they turned up, and to be looked up.
    targets: Vec<u64>,
    known: ByNumber<u64, ()>,
    /// How often compiled code was left since it was compiled.
    misses: u32,
    /// How often it was compiled again for that.
    renewed: u32,
    /// Whether it goes to too many places for remembering them to be useful.
    given_up: bool,
}

impl Jumps {
    /// Where the jump at an address went, as far as that is remembered; first where most has been executed.
    pub(crate) fn targets(&self, fast: &Fast, pc: u64) -> Vec<u64> {
        let mut all: Vec<u64> = self.all_targets(fast, pc).collect();
        all.sort_unstable();
        all.dedup();
        all.sort_by_cached_key(|target| Reverse(fast.executions(*target)));
        all
    }

    /// Where the jump at an address went, in no order; some may be there twice.
    pub(crate) fn all_targets(&self, fast: &Fast, pc: u64) -> impl Iterator<Item = u64> {
        fast.targets(pc).chain(self.seen.get(&pc).into_iter().flat_map(|seen| &seen.targets).copied())
    }

    /// Compiled code was left because the jump went to this target. Whether the code is to be
    /// compiled again: after this many times, and twice as many each time, because a jump with many
    /// targets keeps finding new ones.
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

    /// Remembers no more of a jump than the interpreter does, because code with all its targets was
    /// not worth it. Every region that it is part of would be as large.
    pub(crate) fn give_up(&mut self, pc: u64) {
        if let Some(seen) = self.seen.get_mut(&pc) {
            seen.targets.clear();
            seen.given_up = true;
        }
    }

    /// Forgets a jump that was changed.
    pub(crate) fn forget(&mut self, pc: u64) {
        self.seen.remove(&pc);
    }
}
