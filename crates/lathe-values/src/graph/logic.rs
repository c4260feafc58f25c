//! `and`, `or` and `not` of the same values, as machines have them that make all logic of one instruction (NAND). A
//! compiler behind an engine may find them, too; that of browsers does not, and an interpreter has none.

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::{Graph, Node, ValueId};

/// Signs of a two's complement number, as a sum.
type Signs = u8;
const NEGATIVE: Signs = 1;
const ZERO: Signs = 2;
const POSITIVE: Signs = 4;
const ALL: Signs = NEGATIVE + ZERO + POSITIVE;

impl Graph {
    /// `x operator y` as something simpler, if one is made from the other or from what the other is made from.
    pub(super) fn simpler_logic(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<ValueId> {
        use BinaryOperator::{And, Or};
        if !matches!(operator, And | Or) {
            return None;
        }
        let width = self.width(x);
        if self.inverse(x) == Some(y) || self.inverse(y) == Some(x) {
            return Some(self.constant(width, if operator == And { 0 } else { width.mask() }));
        }
        if let (Some(a), Some(b)) = (self.inverse(x), self.inverse(y)) {
            let together = self.binary(if operator == And { Or } else { And }, a, b);
            return Some(self.not(together));
        }
        if let Some(sign) = self.sign_in_both(operator, x, y) {
            return Some(sign);
        }
        match operator {
            And => self.without(x, y).or_else(|| self.without(y, x)),
            _ => self.one_of_two(x, y),
        }
    }

    /// Two conditions about the sign of one value, as one: a machine that keeps flags for negative, zero and positive
    /// asks for any of them.
    fn sign_in_both(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<ValueId> {
        let ((value, first), (other, second)) = (self.signs(x)?, self.signs(y)?);
        let signs = if operator == BinaryOperator::And { first & second } else { first | second };
        (value == other).then(|| self.has_sign(value, signs))
    }

    /// The value of which a condition asks for the sign, and for which signs.
    fn signs(&self, condition: ValueId) -> Option<(ValueId, Signs)> {
        use BinaryOperator::{Equal, Less, Unequal};
        match self.node(condition) {
            Node::Slice(value, low) if self.width(condition) == Width::BIT && low + 1 == self.width(value).bits() => {
                Some((value, NEGATIVE))
            }
            Node::Binary(Equal, value, number) if self.as_constant(number) == Some(0) => Some((value, ZERO)),
            Node::Binary(Unequal, value, number) if self.as_constant(number) == Some(0) => Some((value, ALL - ZERO)),
            Node::Binary(Less, ..) => self.is_positive(condition).map(|value| (value, POSITIVE)),
            Node::Unary(UnaryOperator::Not, inverse) => self.signs(inverse).map(|(value, signs)| (value, ALL - signs)),
            _ => None,
        }
    }

    /// Whether a value has one of these signs.
    fn has_sign(&mut self, value: ValueId, signs: Signs) -> ValueId {
        let width = self.width(value);
        if signs.count_ones() == 2 {
            let other = self.has_sign(value, ALL - signs);
            return self.not(other);
        }
        match signs {
            NEGATIVE => self.slice(value, width.bits() - 1, Width::BIT),
            ZERO => {
                let zero = self.constant(width, 0);
                self.binary(BinaryOperator::Equal, value, zero)
            }
            POSITIVE => {
                let less_one = self.plus(value, width.mask());
                let most = self.constant(width, width.mask() >> 1);
                self.binary(BinaryOperator::Less, less_one, most)
            }
            _ => self.constant(Width::BIT, u64::from(signs == ALL)),
        }
    }

    /// The value of which a condition asks whether it is positive as a two's complement number, in the way that takes one
    /// comparison: one less is less than the largest of them.
    pub fn is_positive(&self, condition: ValueId) -> Option<ValueId> {
        let Node::Binary(BinaryOperator::Less, less_one, most) = self.node(condition) else { return None };
        let Node::Binary(BinaryOperator::Add, value, number) = self.node(less_one) else { return None };
        let mask = self.width(value).mask();
        let is_so = self.as_constant(number) == Some(mask) && self.as_constant(most) == Some(mask >> 1);
        is_so.then_some(value)
    }

    /// What a value is the inverse of.
    fn inverse(&self, id: ValueId) -> Option<ValueId> {
        match self.node(id) {
            Node::Unary(UnaryOperator::Not, x) => Some(x),
            _ => None,
        }
    }

    fn as_and(&self, id: ValueId) -> Option<(ValueId, ValueId)> {
        match self.node(id) {
            Node::Binary(BinaryOperator::And, x, y) => Some((x, y)),
            _ => None,
        }
    }

    /// `x and not (x and y)` is `x and not y`.
    fn without(&mut self, x: ValueId, other: ValueId) -> Option<ValueId> {
        let (a, b) = self.as_and(self.inverse(other)?)?;
        let rest = match () {
            () if a == x => b,
            () if b == x => a,
            () => return None,
        };
        let rest = self.not(rest);
        Some(self.and(x, rest))
    }

    /// `(a and not b) or (b and not a)` is `a xor b`.
    fn one_of_two(&mut self, x: ValueId, y: ValueId) -> Option<ValueId> {
        let ((a, b), (c, d)) = (self.as_and(x)?, self.as_and(y)?);
        let pairs = [(a, b), (b, a)];
        let is_other = |(a, b): &&(ValueId, ValueId)| match self.inverse(*b) {
            Some(b) => (b == c && self.inverse(d) == Some(*a)) || (b == d && self.inverse(c) == Some(*a)),
            None => false,
        };
        let (a, not_b) = *pairs.iter().find(is_other)?;
        let b = self.inverse(not_b)?;
        Some(self.binary(BinaryOperator::Xor, a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{evaluate, register};
    use super::*;

    /// `not (x and y)`.
    fn nand(graph: &mut Graph, x: ValueId, y: ValueId) -> ValueId {
        let both = graph.and(x, y);
        graph.not(both)
    }

    /// The two of which this is the outcome, in an order of their own.
    fn operands(graph: &Graph, operator: BinaryOperator, id: ValueId) -> Option<[ValueId; 2]> {
        match graph.node(id) {
            Node::Binary(found, x, y) if found == operator => Some([x.min(y), x.max(y)]),
            _ => None,
        }
    }

    #[test]
    fn the_inverse_of_what_differs_from_a_number_differs_from_its_inverse() {
        let mut graph = Graph::default();
        let x = register(&mut graph, 8, 0);
        let [number, inverse] = [0x0F, 0xF0].map(|number| graph.constant(graph.width(x), number));
        let differs = graph.binary(BinaryOperator::Xor, x, number);
        assert_eq!(graph.not(differs), graph.binary(BinaryOperator::Xor, x, inverse));
    }

    #[test]
    fn logic_made_of_one_instruction_is_what_it_stands_for() {
        let mut graph = Graph::default();
        let [x, y] = [0, 1].map(|number| register(&mut graph, 8, number));
        let neither_both = nand(&mut graph, x, y);
        for (first, second) in [(x, y), (y, x)] {
            let (left, right) = (nand(&mut graph, first, neither_both), nand(&mut graph, neither_both, second));
            let one = nand(&mut graph, left, right);
            assert_eq!(operands(&graph, BinaryOperator::Xor, one), Some([x, y]));
        }
        let (not_x, not_y) = (nand(&mut graph, x, x), nand(&mut graph, y, y));
        let either = nand(&mut graph, not_x, not_y);
        assert_eq!(operands(&graph, BinaryOperator::Or, either), Some([x, y]));
        let both = nand(&mut graph, neither_both, neither_both);
        assert_eq!(operands(&graph, BinaryOperator::And, both), Some([x, y]));
        let (none, all) = (graph.and(x, not_x), nand(&mut graph, not_y, y));
        assert_eq!((graph.as_constant(none), graph.as_constant(all)), (Some(0), Some(0xFF)));
        // Only one of the halves: that is no `xor`.
        let left = nand(&mut graph, x, neither_both);
        let half = nand(&mut graph, left, y);
        assert_eq!(operands(&graph, BinaryOperator::Xor, half), None);
    }

    /// A condition about the sign of a value, as a machine asks for it that has a flag for each.
    fn flags(graph: &mut Graph, value: ValueId, signs: Signs) -> ValueId {
        let negative = graph.slice(value, 3, Width::BIT);
        let zero = graph.constant(graph.width(value), 0);
        let zero = graph.binary(BinaryOperator::Equal, value, zero);
        let (not_negative, not_zero) = (graph.not(negative), graph.not(zero));
        let positive = graph.and(not_negative, not_zero);
        let none = graph.constant(Width::BIT, 0);
        let flags = [(NEGATIVE, negative), (ZERO, zero), (POSITIVE, positive)];
        let wanted = flags.into_iter().filter(|(sign, _)| signs & sign != 0);
        wanted.fold(none, |any, (_, flag)| graph.binary(BinaryOperator::Or, any, flag))
    }

    #[test]
    fn flags_of_one_value_together_are_one_question_about_its_sign() {
        for signs in 0..=ALL {
            let mut graph = Graph::default();
            let value = register(&mut graph, 4, 0);
            let any = flags(&mut graph, value, signs);
            let inverse = graph.not(any);
            for number in 0..16 {
                let sign = if number >= 8 {
                    NEGATIVE
                } else if number == 0 {
                    ZERO
                } else {
                    POSITIVE
                };
                let expected = u64::from(signs & sign != 0);
                assert_eq!(evaluate(&graph, any, &[number]), expected, "signs {signs}, {number}");
                assert_eq!(evaluate(&graph, inverse, &[number]), 1 - expected, "not signs {signs}, {number}");
            }
            for id in [any, inverse] {
                let is_two = matches!(graph.node(id), Node::Binary(BinaryOperator::And | BinaryOperator::Or, ..));
                assert!(!is_two, "signs {signs}");
            }
        }
    }

    #[test]
    fn signs_of_two_values_are_two_questions() {
        let mut graph = Graph::default();
        let [x, y] = [0, 1].map(|number| register(&mut graph, 4, number));
        let (x, y) = (flags(&mut graph, x, NEGATIVE), flags(&mut graph, y, ZERO));
        let either = graph.binary(BinaryOperator::Or, x, y);
        assert_eq!(operands(&graph, BinaryOperator::Or, either), Some([x.min(y), x.max(y)]));
    }
}
