//! Whether a sum or a difference has overflowed. Most machines with a flag for that compute it by comparing signs: that
//! of one value with those of two others. As logic on all bits, that takes four operations.

use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_values::{Node, ValueId};

use super::Lowering;
use crate::ops::{Code, Op};

/// One value compared with two others.
struct Beside {
    x: ValueId,
    y: ValueId,
    z: ValueId,
    /// Whether the bits count in which `x` and `y` are the same, not those in which they differ.
    same: bool,
}

impl Lowering<'_> {
    /// Lowers one bit of a value that says where one value differs from two others, or only from the second of them.
    pub(super) fn differs_from_both(&mut self, both: ValueId, bit: u32) -> Option<Op> {
        let Beside { x, y, z, same } = self.beside(both)?;
        let (x, y, z) = (self.slot(x)?, self.slot(y)?, self.slot(z)?);
        Some(Op { x, y, z, exit: bit as u16, extra: u64::from(same) << bit, ..Op::new(Code::DiffersFromBoth) })
    }

    /// Whether a value says where one value differs from two others, or only from the second of them.
    pub(super) fn is_beside(&self, both: ValueId) -> bool {
        self.beside(both).is_some()
    }

    fn beside(&self, both: ValueId) -> Option<Beside> {
        let Node::Binary(BinaryOperator::And, one, other) = self.graph.node(both) else { return None };
        let (first, second) = (self.compared(one)?, self.compared(other)?);
        let ((a, b, same), (c, d, _)) = match (first.2, second.2) {
            (_, false) => (first, second),
            (false, true) => (second, first),
            (true, true) => return None,
        };
        let (x, y, z) = match () {
            () if a == c => (a, b, d),
            () if a == d => (a, b, c),
            () if b == c => (b, a, d),
            () if b == d => (b, a, c),
            () => return None,
        };
        Some(Beside { x, y, z, same })
    }

    /// Returns two values, if the bits of this one say where they differ (false) or where they are the same (true).
    fn compared(&self, id: ValueId) -> Option<(ValueId, ValueId, bool)> {
        match self.graph.node(id) {
            Node::Binary(BinaryOperator::Xor, x, y) => Some((x, y, false)),
            Node::Unary(UnaryOperator::Not, inner) => match self.graph.node(inner) {
                Node::Binary(BinaryOperator::Xor, x, y) => Some((x, y, true)),
                _ => None,
            },
            _ => None,
        }
    }
}
