//! Sums that only combine separate parts: bits above others, and sums computed digit by digit.

use lathe_base::Width;
use lathe_isa::operators::BinaryOperator;

use super::{Graph, Node, ValueId};

/// Sums of more values than this are left alone.
const TERMS: usize = 8;

impl Graph {
    /// Simplifies `x operator y` if it only combines separate parts.
    pub(super) fn put_together(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<ValueId> {
        use BinaryOperator::*;
        let disjoint = match operator {
            Add | Or | Xor => self.raised_above(x, y).or_else(|| self.raised_above(y, x)),
            _ => None,
        };
        match operator {
            Add if disjoint.is_none() => self.less_negative(x, y).or_else(|| self.sum_of_parts(x, y)),
            _ => disjoint,
        }
    }

    /// Simplifies `x + (0 - y)` to `x - y`.
    fn less_negative(&mut self, x: ValueId, y: ValueId) -> Option<ValueId> {
        let negated = |id| match self.node(id) {
            Node::Binary(BinaryOperator::Subtract, zero, y) if self.as_constant(zero) == Some(0) => Some(y),
            _ => None,
        };
        let (from, less) = negated(y).map(|less| (x, less)).or_else(|| negated(x).map(|less| (y, less)))?;
        Some(self.binary(BinaryOperator::Subtract, from, less))
    }

    /// Joins `high << count` with `low` in the bits that became free.
    fn raised_above(&mut self, high: ValueId, low: ValueId) -> Option<ValueId> {
        let width = self.width(high);
        let (Node::Binary(BinaryOperator::ShiftLeft, high, count), Node::ZeroExtend(low)) =
            (self.node(high), self.node(low))
        else {
            return None;
        };
        let below = Width::new(self.as_constant(count)?)?;
        let Node::ZeroExtend(high) = self.node(high) else { return None };
        let together = self.width(high).plus(below).filter(|together| *together <= width)?;
        if self.width(low) > below {
            return None;
        }
        let low = self.zero_extend(below, low);
        let whole = self.join(high, low);
        debug_assert_eq!(self.width(whole), together);
        Some(self.zero_extend(width, whole))
    }

    /// Simplifies a sum to which the upper bits of a value, in their place, and its lower bits are added separately, as
    /// when each digit has a sum of its own: adds the whole value instead.
    fn sum_of_parts(&mut self, x: ValueId, y: ValueId) -> Option<ValueId> {
        let width = self.width(x);
        let mut terms = Vec::with_capacity(TERMS);
        self.terms(x, width, &mut terms);
        self.terms(y, width, &mut terms);
        // Most sums contain no value above another.
        if !terms.iter().any(|term| matches!(self.node(*term), Node::Join(..))) {
            return None;
        }
        let mut found = false;
        let mut at = 0;
        while at < terms.len() && terms.len() <= TERMS {
            let rest = (0..terms.len()).find_map(|other| Some((other, self.whole(terms[at], terms[other])?)));
            match rest {
                Some((other, whole)) => {
                    terms[at] = whole;
                    terms.remove(other);
                    found = true;
                    at = 0;
                }
                None => at += 1,
            }
        }
        found.then(|| {
            let zero = self.constant(width, 0);
            terms.into_iter().fold(zero, |sum, term| {
                let term = self.zero_extend(width, term);
                self.binary(BinaryOperator::Add, sum, term)
            })
        })
    }

    /// Collects the terms of a sum of this width, through narrower sums that cannot wrap. If a nested sum of the same
    /// width wraps, so does the whole.
    fn terms(&self, id: ValueId, whole: Width, terms: &mut Vec<ValueId>) {
        let inner = match self.node(id) {
            Node::ZeroExtend(inner) if self.cannot_wrap(inner) => inner,
            _ => id,
        };
        match self.node(inner) {
            Node::Binary(BinaryOperator::Add, x, y)
                if terms.len() < TERMS && (self.width(inner) == whole || self.cannot_wrap(inner)) =>
            {
                self.terms(x, whole, terms);
                self.terms(y, whole, terms);
            }
            Node::ZeroExtend(narrow) => terms.push(narrow),
            _ => terms.push(inner),
        }
    }

    fn cannot_wrap(&self, sum: ValueId) -> bool {
        let Node::Binary(BinaryOperator::Add, x, y) = self.node(sum) else { return false };
        let greatest = self.range(x).greatest.checked_add(self.range(y).greatest);
        greatest.is_some_and(|greatest| self.width(sum).holds(greatest))
    }

    /// Returns whether `x`, the upper bits of a value plus a number, equals a constant, as one comparison of that
    /// value. This is possible if only the carry from the lower bits decides: if the constant is the least or the
    /// greatest that `x` can be.
    pub(super) fn equal_without_carry(&mut self, x: ValueId, constant: u64) -> Option<ValueId> {
        let Node::Slice(sum, low) = self.node(x) else { return None };
        let Node::Binary(BinaryOperator::Add, base, offset) = self.node(sum) else { return None };
        let offset = self.as_constant(offset).filter(|_| self.cannot_wrap(sum))?;
        let range = self.range(sum);
        let (least, greatest) = (range.least >> low, range.greatest >> low);
        let first_above = match () {
            () if least == greatest || !self.width(x).holds(greatest) => return None,
            () if constant == least => least + 1,
            () if constant == greatest => greatest,
            () => return None,
        };
        let base = match self.node(base) {
            Node::ZeroExtend(narrow) => narrow,
            _ => base,
        };
        let enough = self.constant(self.width(base), (first_above << low) - offset);
        let is_below = self.binary(BinaryOperator::Less, base, enough);
        Some(if constant == least { is_below } else { self.not(is_below) })
    }

    /// Returns the value that has these upper bits, in their place, and these lower bits below them.
    fn whole(&mut self, upper: ValueId, lower: ValueId) -> Option<ValueId> {
        let Node::Join(high, zeros) = self.node(upper) else { return None };
        let (Node::Slice(x, above), Node::Slice(y, 0)) = (self.node(high), self.node(lower)) else { return None };
        let below = self.width(lower);
        let fits = x == y && above == below.bits() && self.width(zeros) == below && self.as_constant(zeros) == Some(0);
        let width = self.width(high).plus(below).filter(|_| fits)?;
        Some(self.slice(x, 0, width))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{add, evaluate, register, width};
    use super::*;

    /// Builds a sum digit by digit, where the sum of the lower digits has this many bits.
    fn by_digits(graph: &mut Graph, bits: u64) -> ValueId {
        let [x, y] = [0, 1].map(|number| register(graph, 4, number));
        let carry = register(graph, 1, 2);
        let [x_low, y_low] = [x, y].map(|value| {
            let digit = graph.slice(value, 0, width(2));
            graph.zero_extend(width(bits), digit)
        });
        let carry = graph.zero_extend(width(bits), carry);
        let low = add(graph, x_low, y_low);
        let low = add(graph, low, carry);
        let low = graph.zero_extend(width(5), low);
        let [x_high, y_high] = [x, y].map(|value| {
            let (digit, zero) = (graph.slice(value, 2, width(2)), graph.constant(width(2), 0));
            let digit = graph.join(digit, zero);
            graph.zero_extend(width(5), digit)
        });
        let high = add(graph, x_high, y_high);
        add(graph, high, low)
    }

    #[test]
    fn a_sum_digit_by_digit_is_the_sum() {
        let mut graph = Graph::default();
        let sum = by_digits(&mut graph, 3);
        let [x, y] = [0, 1].map(|number| register(&mut graph, 4, number));
        let carry = register(&mut graph, 1, 2);
        let [x, y, carry] = [x, y, carry].map(|value| graph.zero_extend(width(5), value));
        let whole = add(&mut graph, x, y);
        assert_eq!(sum, add(&mut graph, whole, carry));
    }

    #[test]
    fn sums_are_what_they_were() {
        // Digits whose sum wraps in two bits are not parts of the whole sum.
        for bits in [2, 3] {
            let mut graph = Graph::default();
            let sum = by_digits(&mut graph, bits);
            for (x, y, carry) in (0..16).flat_map(|x| (0..16).flat_map(move |y| [(x, y, 0), (x, y, 1)])) {
                let low = width(bits).wrap((x & 3) + (y & 3) + carry);
                let expected = (x & 12) + (y & 12) + low;
                assert_eq!(evaluate(&graph, sum, &[x, y, carry]), expected, "{x} + {y} + {carry} in {bits} bits");
            }
        }
    }

    #[test]
    fn what_is_inverted_and_added_is_subtracted() {
        let mut graph = Graph::default();
        let [x, y] = [0, 1].map(|number| register(&mut graph, 4, number));
        let inverse = graph.not(y);
        for (number, other) in (0..16).flat_map(|number| [0, 1, 15].map(|other| (number, other))) {
            let first = graph.plus(inverse, number);
            let less = graph.plus(first, other);
            let sum = add(&mut graph, x, less);
            let turned = add(&mut graph, less, x);
            for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))) {
                let expected = width(4).wrap(a + (15 - b) + number + other);
                for sum in [sum, turned] {
                    assert_eq!(evaluate(&graph, sum, &[a, b]), expected, "{a} + not {b} + {number} + {other}");
                }
            }
            let is_difference = |id| graph.node(id) == Node::Binary(BinaryOperator::Subtract, x, y);
            let is_negated = width(4).wrap(number + other) == 1;
            assert_eq!([sum, turned].map(is_difference), [is_negated; 2], "not y + {number} + {other}");
        }
    }

    #[test]
    fn whether_a_sum_carries_into_its_upper_bits_is_one_comparison() {
        for (offset, low) in (0..64).flat_map(|offset| (1..5).map(move |low| (offset, low))) {
            let mut graph = Graph::default();
            let narrow = register(&mut graph, 4, 0);
            let wide = graph.zero_extend(width(6), narrow);
            let sum = graph.plus(wide, offset);
            let upper = graph.slice(sum, low, width(6 - u64::from(low)));
            let (least, greatest) = (offset >> low, (offset + 15) >> low);
            for number in 0..1 << (6 - low) {
                let constant = graph.constant(width(6 - u64::from(low)), number);
                let equal = graph.binary(BinaryOperator::Equal, upper, constant);
                for x in 0..16 {
                    let expected = u64::from(((x + offset) & 63) >> low == number);
                    assert_eq!(evaluate(&graph, equal, &[x]), expected, "({x} + {offset}) >> {low} == {number}");
                }
                let is_edge = number == least || number == greatest;
                let compares = |id| matches!(graph.node(id), Node::Binary(BinaryOperator::Less, x, _) if x == narrow);
                let simple = match graph.node(equal) {
                    Node::Unary(_, inner) => compares(inner),
                    _ => compares(equal) || graph.as_constant(equal).is_some(),
                };
                assert!(simple || !is_edge || offset + 15 > 63 || offset == 0, "({offset} + _) >> {low} == {number}");
            }
        }
    }

    #[test]
    fn what_is_raised_above_another_is_joined_with_it() {
        use BinaryOperator::*;
        for operator in [Add, Or, Xor] {
            for (count, joins) in [(1, false), (2, true), (3, true), (4, false)] {
                let mut graph = Graph::default();
                let [high, low] = [0, 1].map(|number| register(&mut graph, 2, number));
                let [wide_high, wide_low] = [high, low].map(|value| graph.zero_extend(width(5), value));
                let shift = graph.constant(width(5), count);
                let raised = graph.binary(ShiftLeft, wide_high, shift);
                let whole = graph.binary(operator, wide_low, raised);
                let inner = match graph.node(whole) {
                    Node::ZeroExtend(inner) => inner,
                    _ => whole,
                };
                assert_eq!(matches!(graph.node(inner), Node::Join(..)), joins, "{operator:?} after << {count}");
                for (x, y) in (0..4).flat_map(|x| (0..4).map(move |y| (x, y))) {
                    let expected = operator.apply(width(5), width(5).wrap(x << count), y);
                    assert_eq!(evaluate(&graph, whole, &[x, y]), expected, "{x} << {count} {operator:?} {y}");
                }
            }
        }
    }
}
