//! What is known about the values of a graph: how far apart they are, and whether they can be equal.

use lathe_isa::model::Order;
use lathe_isa::operators::BinaryOperator;

use super::{Graph, Node, ValueId};

/// Where execution continues after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOn {
    /// Always at this address.
    Goto(u64),
    /// At the first address if the condition is 1, else at the second.
    Branch(ValueId, u64, u64),
    /// At a computed address.
    Jump(ValueId),
}

impl Graph {
    /// Returns where execution continues if this value is the next address.
    pub fn way_on(&self, next: ValueId) -> WayOn {
        if let Some(target) = self.as_constant(next) {
            return WayOn::Goto(target);
        }
        match self.node(next) {
            Node::Choose(condition, x, y) => match (self.as_constant(x), self.as_constant(y)) {
                (Some(x), Some(y)) => WayOn::Branch(condition, x, y),
                _ => WayOn::Jump(next),
            },
            _ => WayOn::Jump(next),
        }
    }

    /// Returns what `value` is when `known` is this number, if that follows from how both are computed.
    pub fn value_where(&self, value: ValueId, known: ValueId, number: u64) -> Option<u64> {
        if value == known {
            return Some(number);
        }
        match self.node(value) {
            Node::Constant(constant) => Some(constant),
            Node::Binary(BinaryOperator::Equal, x, y) => {
                let [x, y] = [x, y].map(|side| self.value_where(side, known, number));
                Some(u64::from(x? == y?))
            }
            Node::Slice(whole, lowest) => {
                let (masked, mask) = match self.node(known) {
                    Node::Binary(BinaryOperator::And, x, y) => (x, self.as_constant(y)?),
                    _ => (known, self.width(known).mask()),
                };
                let (from, skipped) = match self.node(masked) {
                    Node::Slice(from, lowest) if masked != whole => (from, lowest),
                    _ => (masked, 0),
                };
                let (bits, lowest) = (self.width(value).mask(), lowest.checked_sub(skipped)?);
                (from == whole && mask >> lowest & bits == bits).then_some(number >> lowest & bits)
            }
            _ => None,
        }
    }

    /// Returns a value as a base plus a number.
    pub fn base_and_offset(&self, id: ValueId) -> (Option<ValueId>, u64) {
        match self.node(id) {
            Node::Constant(value) => (None, value),
            Node::Binary(BinaryOperator::Add, base, offset) => match self.as_constant(offset) {
                Some(offset) => (Some(base), offset),
                None => (Some(id), 0),
            },
            _ => (Some(id), 0),
        }
    }

    /// Returns how far the second value is above the first, if both are the same base plus a number.
    pub fn distance(&self, from: ValueId, to: ValueId) -> Option<i64> {
        let ((base, x), (other, y)) = (self.base_and_offset(from), self.base_and_offset(to));
        let width = self.width(from);
        (base == other).then(|| width.signed(width.wrap(y.wrapping_sub(x))))
    }

    /// Returns the order in which adjacent cells hold a value, given their addresses from the highest part to the
    /// lowest; none if they are not adjacent.
    pub fn order_of(&self, addresses: &[ValueId]) -> Option<Order> {
        let all_apart_by = |step| addresses.windows(2).all(|two| self.distance(two[0], two[1]) == Some(step));
        match () {
            () if all_apart_by(1) => Some(Order::Big),
            () if all_apart_by(-1) => Some(Order::Little),
            () => None,
        }
    }

    /// Whether two values of one width can never be equal.
    pub fn are_distinct(&self, x: ValueId, y: ValueId) -> bool {
        if self.range(x).is_apart_from(self.range(y)) {
            return true;
        }
        let ((base_x, x), (base_y, y)) = (self.base_and_offset(x), self.base_and_offset(y));
        if base_x == base_y {
            return x != y;
        }
        if let (Some(a), Some(b)) = (base_x, base_y)
            && let (Node::ZeroExtend(a), Node::ZeroExtend(b)) = (self.node(a), self.node(b))
            && x == y
            && self.width(a) == self.width(b)
        {
            return self.are_distinct(a, b);
        }
        // Joins in which one half differs: another page, or another place in its page.
        self.known_halves_differ(base_x, x, base_y, y)
    }

    fn known_halves_differ(&self, base_x: Option<ValueId>, x: u64, base_y: Option<ValueId>, y: u64) -> bool {
        let (Some(a), Some(b)) = (base_x, base_y) else { return false };
        let (Node::Join(high_a, low_a), Node::Join(high_b, low_b)) = (self.node(a), self.node(b)) else { return false };
        let same_shape = self.width(low_a) == self.width(low_b);
        same_shape
            && x == 0
            && y == 0
            && (self.differ_by_constant(high_a, high_b) || self.differ_by_constant(low_a, low_b))
    }

    fn differ_by_constant(&self, x: ValueId, y: ValueId) -> bool {
        let ((base_x, x), (base_y, y)) = (self.base_and_offset(x), self.base_and_offset(y));
        base_x == base_y && x != y
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{add, register, width};
    use super::*;

    #[test]
    fn what_follows_from_a_masked_value() {
        let mut graph = Graph::default();
        let wide = register(&mut graph, 8, 0);
        let low = graph.slice(wide, 2, width(6));
        let mask = graph.constant(width(6), 0b11_0110);
        let known = graph.binary(BinaryOperator::And, low, mask);
        let six = graph.constant(width(6), 0b00_0110);
        let equal = graph.binary(BinaryOperator::Equal, known, six);
        for number in 0..64u64 {
            let masked = number & 0b11_0110;
            assert_eq!(graph.value_where(known, known, masked), Some(masked));
            assert_eq!(graph.value_where(equal, known, masked), Some(u64::from(masked == 0b00_0110)));
            assert_eq!(graph.value_where(wide, known, masked), None);
            for (bit, is_known) in [false, true, true, false, true, true].into_iter().enumerate() {
                let bit = bit as u32;
                for slice in [graph.slice(low, bit, width(1)), graph.slice(wide, bit + 2, width(1))] {
                    let follows = is_known.then_some(number >> bit & 1);
                    assert_eq!(graph.value_where(slice, known, masked), follows, "bit {bit} of {number:#b}");
                }
            }
        }
        let outside = graph.slice(wide, 1, width(1));
        assert_eq!(graph.value_where(outside, known, 0), None);
        let other = register(&mut graph, 8, 1);
        let other = graph.slice(other, 3, width(1));
        assert_eq!(graph.value_where(other, known, 0), None);
    }

    #[test]
    fn cells_are_told_apart_by_their_range_and_by_their_distance_in_a_page() {
        let mut graph = Graph::default();
        let pointer = register(&mut graph, 8, 0);
        let minus_one = graph.constant(width(8), 0xFF);
        let below = add(&mut graph, pointer, minus_one);
        let page = graph.constant(width(16), 0x100);
        let [first, second] = [pointer, below].map(|low| {
            let low = graph.zero_extend(width(16), low);
            add(&mut graph, low, page)
        });
        let [outside, inside] = [0xFF, 0x1FF].map(|address| graph.constant(width(16), address));
        assert!(graph.are_distinct(first, second));
        assert!(graph.are_distinct(first, outside));
        assert!(!graph.are_distinct(first, inside));
        assert!(!graph.are_distinct(first, first));
        let one = graph.constant(width(16), 1);
        let first_again = add(&mut graph, second, one);
        assert!(!graph.are_distinct(first, first_again));
    }
}
