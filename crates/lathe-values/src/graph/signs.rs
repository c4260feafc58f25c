//! Conditions on the sign of one value: machines that keep flags for negative, zero and positive test any of them.

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::{Graph, Node, ValueId};

/// A set of signs of a two's complement number, as the sum of its members.
type Signs = u8;
const NEGATIVE: Signs = 1;
const ZERO: Signs = 2;
const POSITIVE: Signs = 4;
const ALL: Signs = NEGATIVE + ZERO + POSITIVE;

impl Graph {
    /// Combines two conditions on the sign of one value into one.
    pub(super) fn sign_in_both(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<ValueId> {
        let ((value, first), (other, second)) = (self.signs(x)?, self.signs(y)?);
        let signs = if operator == BinaryOperator::And { first & second } else { first | second };
        (value == other).then(|| self.has_sign(value, signs))
    }

    /// Returns the value whose sign a condition tests, and the signs for which it holds.
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

    /// Returns whether a value has one of these signs.
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

    /// Returns the value that a condition tests for being positive in two's complement, in the form that takes one
    /// comparison: whether the value minus one is less than the largest positive number.
    pub fn is_positive(&self, condition: ValueId) -> Option<ValueId> {
        let Node::Binary(BinaryOperator::Less, less_one, most) = self.node(condition) else { return None };
        let Node::Binary(BinaryOperator::Add, value, number) = self.node(less_one) else { return None };
        let mask = self.width(value).mask();
        let is_so = self.as_constant(number) == Some(mask) && self.as_constant(most) == Some(mask >> 1);
        is_so.then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{evaluate, register};
    use super::*;

    /// Builds a condition on the sign of a value as a machine with a flag for each sign does.
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
        assert_eq!(graph.node(either), Node::Binary(BinaryOperator::Or, x, y));
    }
}
