//! Simplifies `and`, `or` and `not` of the same values, as they come from machines that build all logic from one
//! instruction (NAND). A compiler behind an engine may find these, too; that of browsers does not, and an interpreter
//! has none.

use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::{Graph, Node, ValueId};

impl Graph {
    /// Simplifies `x operator y`, if one operand is computed from the other or from the same values as the other.
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

    /// Returns the value that this one is the inverse of.
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

    /// Simplifies `x and not (x and y)` to `x and not y`.
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

    /// Simplifies `(a and not b) or (b and not a)` to `a xor b`.
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
    use super::super::tests::register;
    use super::*;

    /// Builds `not (x and y)`.
    fn nand(graph: &mut Graph, x: ValueId, y: ValueId) -> ValueId {
        let both = graph.and(x, y);
        graph.not(both)
    }

    /// Returns the operands of a value, the earlier one first, if it is the result of this operator.
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
        // With only one of the halves, there is no `xor`.
        let left = nand(&mut graph, x, neither_both);
        let half = nand(&mut graph, left, y);
        assert_eq!(operands(&graph, BinaryOperator::Xor, half), None);
    }
}
