//! Conditions for leaving a region, as few as possible.

use lathe_fast::code_map::MARKS_AT_ONCE;
use lathe_isa::operators::BinaryOperator;
use lathe_values::{Bail, Node, ValueId};
use lathe_vm::memory::together;

use super::block::{BlockBuilder, Path};
use super::{Check, Event};

/// The most cells covered by one check that they are contiguous.
const TOGETHER: u64 = 256;
/// Marks that are read at once. More are checked together only where finding them takes longer than reading them.
const WORD: u64 = 8;

impl From<Bail> for Check {
    fn from(bail: Bail) -> Check {
        match bail {
            Bail::When(condition) | Bail::Mapped { condition, .. } => Check::When(condition),
            Bail::Marked(address, None) => Check::Marked { first: address, count: 1 },
            Bail::Marked(address, Some(guard)) => Check::MarkedIf(address, guard),
            Bail::Closed(memory, address) => Check::Closed(memory, address),
        }
    }
}

impl BlockBuilder<'_, '_> {
    /// Adds a check, or widens a check of this or an earlier instruction to cover it. Leaving earlier than necessary is
    /// always right, and one check is cheaper than two.
    pub(super) fn add_check(&mut self, check: Check, path: &mut Path, checks: &mut Vec<Check>, events: &mut [Event]) {
        let earlier = events.iter_mut().rev().filter_map(|event| match event {
            Event::Leave(earlier, _) if matches!(check, Check::Marked { .. } | Check::Wraps { .. }) => Some(earlier),
            _ => None,
        });
        let mut all = checks.iter_mut().chain(earlier.flatten());
        match all.find_map(|other| self.widen(other, check).then_some(*other)) {
            Some(Check::Marked { first, count } | Check::Wraps { first, count }) => path.together.push((first, count)),
            Some(_) => {}
            None => checks.push(check),
        }
    }

    /// Makes the first check cover the second, if they concern neighbouring cells. Returns whether it does.
    fn widen(&mut self, wider: &mut Check, check: Check) -> bool {
        match (*wider, check) {
            (a, b) if a == b => true,
            (Check::Marked { first, count }, Check::Marked { first: other, count: more }) => {
                let most = if self.discovery.isa.code_memory().is_large() { MARKS_AT_ONCE } else { WORD };
                let both = self.span((first, count), (other, more)).filter(|(_, count)| *count <= most);
                both.inspect(|(first, count)| *wider = Check::Marked { first: *first, count: *count }).is_some()
            }
            (Check::Wraps { first, count }, Check::Wraps { first: other, count: more }) => {
                let most = TOGETHER.min(self.graph.width(first).mask());
                let both = self.span((first, count), (other, more)).filter(|(_, count)| *count <= most);
                both.inspect(|(first, count)| *wider = Check::Wraps { first: *first, count: *count }).is_some()
            }
            (Check::When(a), Check::When(b)) => match self.either_reaches(a, b) {
                Some(both) => {
                    *wider = Check::When(both);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Returns the smallest span that covers two others, if their distance is known.
    fn span(&self, one: (ValueId, u64), other: (ValueId, u64)) -> Option<(ValueId, u64)> {
        let distance = self.graph.distance(one.0, other.0)?;
        let (low, high) = if distance < 0 { (other, one) } else { (one, other) };
        Some((low.0, low.1.max(distance.unsigned_abs().saturating_add(high.1))))
    }

    /// Joins `first <= x` or `first <= x + 1` into one comparison. The sum may wrap, but then the first comparison
    /// holds anyway.
    fn either_reaches(&mut self, a: ValueId, b: ValueId) -> Option<ValueId> {
        let (Node::Binary(BinaryOperator::LessOrEqual, first, x), Node::Binary(BinaryOperator::LessOrEqual, other, y)) =
            (self.graph.node(a), self.graph.node(b))
        else {
            return None;
        };
        let least = self.graph.as_constant(first).filter(|least| first == other && *least > 0)?;
        let lower = match self.graph.distance(x, y)? {
            1 => x,
            -1 => y,
            _ => return None,
        };
        let width = self.graph.width(lower);
        let least = self.graph.constant(width, least - 1);
        Some(self.graph.binary(BinaryOperator::LessOrEqual, least, lower))
    }

    /// Whether this many cells from an address on may fail to be contiguous, given all that is known and checked;
    /// `None` if they are known to fail.
    pub(super) fn may_wrap(&self, lowest: ValueId, count: u64, checks: &[Check]) -> Option<bool> {
        let last = self.graph.width(lowest).mask();
        let together = together(last);
        let least = together - (count - 2);
        let range = self.graph.range(lowest);
        let is_contiguous = range.least & !together == range.greatest & !together && range.greatest & together < least;
        match self.graph.as_constant(lowest) {
            Some(_) => is_contiguous.then_some(false),
            None if is_contiguous => Some(false),
            None if together != last => Some(true),
            None => Some(!checks.iter().any(|check| self.is_left_from(*check, lowest, least))),
        }
    }

    /// Whether a check leaves the region whenever the address is `from` or higher.
    fn is_left_from(&self, check: Check, address: ValueId, from: u64) -> bool {
        let Check::When(condition) = check else { return false };
        matches!(self.graph.node(condition), Node::Binary(BinaryOperator::LessOrEqual, least, x)
            if x == address && self.graph.as_constant(least).is_some_and(|least| least <= from))
    }
}
