//! What the operators of the semantics compute. This is the only definition, for constants and interpreters alike;
//! other back ends are tested against it.
//!
//! All of them are total. Division by zero gives all ones, its remainder the dividend; the most negative number divided
//! by minus one is itself; a shift by the width or more leaves only the fill.

use lathe_base::Width;

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// All bits inverted.
    Not,
    /// Two's complement.
    Negate,
}

/// An operator with two operands of the same width, unless noted otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// Sum, wrapped.
    Add,
    /// Difference, wrapped.
    Subtract,
    /// Product, wrapped.
    Multiply,
    /// Quotient.
    Divide,
    /// Quotient of two's complement numbers, towards zero.
    DivideSigned,
    /// Remainder.
    Remainder,
    /// Remainder of two's complement numbers, with the dividend's sign.
    RemainderSigned,
    /// Bits set in both.
    And,
    /// Bits set in either.
    Or,
    /// Bits set in exactly one.
    Xor,
    /// Shift left; the count may have any width.
    ShiftLeft,
    /// Shift right, filled with zeros; the count may have any width.
    ShiftRight,
    /// Shift right, filled with the sign; the count may have any width.
    ShiftRightSigned,
    /// Rotate left; the count may have any width and is taken modulo the value's.
    RotateLeft,
    /// Rotate right; the count may have any width and is taken modulo the value's.
    RotateRight,
    /// One bit: equal.
    Equal,
    /// One bit: not equal.
    Unequal,
    /// One bit: less.
    Less,
    /// One bit: less or equal.
    LessOrEqual,
    /// One bit: less, as two's complement numbers.
    LessSigned,
    /// One bit: less or equal, as two's complement numbers.
    LessOrEqualSigned,
}

impl UnaryOperator {
    /// All of them.
    pub const ALL: [UnaryOperator; 2] = [UnaryOperator::Not, UnaryOperator::Negate];

    /// Computes the result for an operand of this width.
    pub fn apply(self, width: Width, x: u64) -> u64 {
        match self {
            UnaryOperator::Not => width.wrap(!x),
            UnaryOperator::Negate => width.wrap(x.wrapping_neg()),
        }
    }
}

impl BinaryOperator {
    /// All of them.
    pub const ALL: [BinaryOperator; 21] = {
        use BinaryOperator::*;
        [
            Add,
            Subtract,
            Multiply,
            Divide,
            DivideSigned,
            Remainder,
            RemainderSigned,
            And,
            Or,
            Xor,
            ShiftLeft,
            ShiftRight,
            ShiftRightSigned,
            RotateLeft,
            RotateRight,
            Equal,
            Unequal,
            Less,
            LessOrEqual,
            LessSigned,
            LessOrEqualSigned,
        ]
    };

    /// Computes the result for a left operand of this width.
    #[inline]
    pub fn apply(self, width: Width, x: u64, y: u64) -> u64 {
        use BinaryOperator::*;
        match self {
            Add => width.wrap(x.wrapping_add(y)),
            Subtract => width.wrap(x.wrapping_sub(y)),
            Multiply => width.wrap(x.wrapping_mul(y)),
            Divide => x.checked_div(y).unwrap_or(width.mask()),
            DivideSigned => divide_signed(width, x, y),
            Remainder => x.checked_rem(y).unwrap_or(x),
            RemainderSigned => remainder_signed(width, x, y),
            And => x & y,
            Or => x | y,
            Xor => x ^ y,
            ShiftLeft => shift_left(width, x, y),
            ShiftRight => shift_right(x, y),
            ShiftRightSigned => width.wrap((width.signed(x) >> y.min(63)) as u64),
            RotateLeft => rotate_left(width, x, y % u64::from(width.bits())),
            RotateRight => {
                let bits = u64::from(width.bits());
                rotate_left(width, x, (bits - y % bits) % bits)
            }
            Equal => u64::from(x == y),
            Unequal => u64::from(x != y),
            Less => u64::from(x < y),
            LessOrEqual => u64::from(x <= y),
            LessSigned => u64::from(width.signed(x) < width.signed(y)),
            LessOrEqualSigned => u64::from(width.signed(x) <= width.signed(y)),
        }
    }

    /// Whether the result is one bit, whatever the operands' width.
    pub fn is_comparison(self) -> bool {
        use BinaryOperator::*;
        matches!(self, Equal | Unequal | Less | LessOrEqual | LessSigned | LessOrEqualSigned)
    }

    /// Whether the right operand is a count that may have a width of its own.
    pub fn takes_count(self) -> bool {
        use BinaryOperator::*;
        matches!(self, ShiftLeft | ShiftRight | ShiftRightSigned | RotateLeft | RotateRight)
    }
}

fn shift_left(width: Width, x: u64, count: u64) -> u64 {
    if count >= 64 { 0 } else { width.wrap(x << count) }
}

fn shift_right(x: u64, count: u64) -> u64 {
    if count >= 64 { 0 } else { x >> count }
}

fn rotate_left(width: Width, x: u64, count: u64) -> u64 {
    if count == 0 { x } else { width.wrap(x << count) | (x >> (u64::from(width.bits()) - count)) }
}

fn divide_signed(width: Width, x: u64, y: u64) -> u64 {
    let quotient = if y == 0 { -1 } else { width.signed(x).wrapping_div(width.signed(y)) };
    width.wrap(quotient as u64)
}

fn remainder_signed(width: Width, x: u64, y: u64) -> u64 {
    if y == 0 { x } else { width.wrap(width.signed(x).wrapping_rem(width.signed(y)) as u64) }
}

#[cfg(test)]
mod tests {
    use super::BinaryOperator::*;
    use super::*;

    /// Compares every operator with arithmetic on plain integers, on all pairs of four-bit values.
    #[test]
    fn four_bit_values_exhaustively() {
        let width = Width::new(4).unwrap();
        let signed = |x: u64| if x >= 8 { x as i64 - 16 } else { x as i64 };
        let low = |x: i64| x.rem_euclid(16) as u64;
        for x in 0..16u64 {
            for y in 0..16u64 {
                let (xs, ys) = (signed(x), signed(y));
                let check = |operator: BinaryOperator, expected: u64| {
                    assert_eq!(operator.apply(width, x, y), expected, "{operator:?} {x} {y}");
                };
                check(Add, (x + y) % 16);
                check(Subtract, low(x as i64 - y as i64));
                check(Multiply, x * y % 16);
                check(Divide, x.checked_div(y).unwrap_or(15));
                check(Remainder, x.checked_rem(y).unwrap_or(x));
                check(DivideSigned, if y == 0 { 15 } else { low(xs / ys) });
                check(RemainderSigned, if y == 0 { x } else { low(xs % ys) });
                check(ShiftLeft, if y > 3 { 0 } else { (x << y) % 16 });
                check(ShiftRight, if y > 3 { 0 } else { x >> y });
                check(ShiftRightSigned, low(xs >> y.min(4)));
                check(RotateLeft, ((x << (y % 4)) | (x >> (4 - y % 4))) % 16);
                check(RotateRight, ((x >> (y % 4)) | (x << (4 - y % 4))) % 16);
                check(LessSigned, u64::from(xs < ys));
                check(LessOrEqualSigned, u64::from(xs <= ys));
            }
        }
    }

    #[test]
    fn sixty_four_bits_do_not_overflow_the_host() {
        let width = Width::MAX;
        let min = 1u64 << 63;
        assert_eq!(DivideSigned.apply(width, min, u64::MAX), min);
        assert_eq!(RemainderSigned.apply(width, min, u64::MAX), 0);
        assert_eq!(ShiftLeft.apply(width, 1, 64), 0);
        assert_eq!(ShiftRightSigned.apply(width, min, 200), u64::MAX);
        assert_eq!(RotateLeft.apply(width, min, 65), 1);
    }
}
