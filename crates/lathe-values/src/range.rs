//! The interval that a value lies in: enough to know that an index of one byte stays within its 256 cells, and that
//! nothing is mapped there.
//!
//! Intervals of unsigned numbers, because addresses are unsigned. Known bits are not tracked; slices and joins in the
//! graph express those already.

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// The numbers from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The smallest.
    pub least: u64,
    /// The largest.
    pub greatest: u64,
}

impl Range {
    /// Returns the range of one number.
    pub fn of(number: u64) -> Range {
        Range { least: number, greatest: number }
    }

    /// Returns the range of every number of this width.
    pub fn all(width: Width) -> Range {
        Range { least: 0, greatest: width.mask() }
    }

    /// Returns the number, if there is only one.
    pub fn only(self) -> Option<u64> {
        (self.least == self.greatest).then_some(self.least)
    }

    /// Whether the ranges have no number in common.
    pub fn is_apart_from(self, other: Range) -> bool {
        self.greatest < other.least || other.greatest < self.least
    }

    /// Whether the range contains a number.
    pub fn contains(self, number: u64) -> bool {
        (self.least..=self.greatest).contains(&number)
    }

    /// Returns the numbers of both ranges, and those between them.
    pub fn or(self, other: Range) -> Range {
        Range { least: self.least.min(other.least), greatest: self.greatest.max(other.greatest) }
    }

    /// Returns the results of an operator for operands of this width.
    pub fn unary(operator: UnaryOperator, width: Width, x: Range) -> Range {
        match operator {
            UnaryOperator::Not => Range { least: width.mask() - x.greatest, greatest: width.mask() - x.least },
            UnaryOperator::Negate => Range::of(0).minus(x, width),
        }
    }

    /// Returns the results of an operator for left operands of this width.
    pub fn binary(operator: BinaryOperator, width: Width, x: Range, y: Range) -> Range {
        use BinaryOperator::*;
        match operator {
            _ if operator.is_comparison() => Range::comparison(operator, width, x, y),
            Add => x.plus(y, width),
            Subtract => x.minus(y, width),
            And => Range { least: 0, greatest: x.greatest.min(y.greatest) },
            Or => Range { least: x.least.max(y.least), greatest: ones_up_to(x.greatest | y.greatest) },
            Xor => Range { least: 0, greatest: ones_up_to(x.greatest | y.greatest) },
            ShiftLeft => match y.only() {
                Some(count) if count <= u64::from(x.greatest.leading_zeros()) && count < 64 => {
                    Range { least: x.least << count, greatest: x.greatest << count }.wrapped(width)
                }
                _ => Range::all(width),
            },
            ShiftRight => {
                let shift = |x: u64, count: u64| if count >= 64 { 0 } else { x >> count };
                Range { least: shift(x.least, y.greatest), greatest: shift(x.greatest, y.least) }
            }
            _ => Range::all(width),
        }
    }

    fn comparison(operator: BinaryOperator, width: Width, x: Range, y: Range) -> Range {
        use BinaryOperator::*;
        let unsigned = x.greatest.max(y.greatest) < width.sign_bit();
        let (always, never) = match operator {
            Equal => (x.only().is_some() && x == y, x.is_apart_from(y)),
            Unequal => (x.is_apart_from(y), x.only().is_some() && x == y),
            Less => (x.greatest < y.least, x.least >= y.greatest),
            LessOrEqual => (x.greatest <= y.least, x.least > y.greatest),
            LessSigned if unsigned => (x.greatest < y.least, x.least >= y.greatest),
            LessOrEqualSigned if unsigned => (x.greatest <= y.least, x.least > y.greatest),
            _ => (false, false),
        };
        match (always, never) {
            (true, _) => Range::of(1),
            (_, true) => Range::of(0),
            _ => Range::all(Width::BIT),
        }
    }

    fn plus(self, other: Range, width: Width) -> Range {
        match (self.least.checked_add(other.least), self.greatest.checked_add(other.greatest)) {
            (Some(least), Some(greatest)) => Range { least, greatest }.wrapped(width),
            // All sums of the operands exceed 64 bits.
            (None, None) => Range {
                least: self.least.wrapping_add(other.least),
                greatest: self.greatest.wrapping_add(other.greatest),
            },
            _ => Range::all(width),
        }
    }

    fn minus(self, other: Range, width: Width) -> Range {
        let (least, greatest) = (self.least.checked_sub(other.greatest), self.greatest.checked_sub(other.least));
        match (least, greatest) {
            (Some(least), Some(greatest)) => Range { least, greatest },
            (None, None) => Range {
                least: width.wrap(self.least.wrapping_sub(other.greatest)),
                greatest: width.wrap(self.greatest.wrapping_sub(other.least)),
            },
            _ => Range::all(width),
        }
    }

    /// Truncates each number to a width. The result is still an interval if all numbers lose the same upper bits.
    fn wrapped(self, width: Width) -> Range {
        let above = |number: u64| number & !width.mask();
        if above(self.least) == above(self.greatest) {
            Range { least: width.wrap(self.least), greatest: width.wrap(self.greatest) }
        } else {
            Range::all(width)
        }
    }

    /// Returns the bits of each number from `low` up.
    pub fn slice(self, low: u32, width: Width) -> Range {
        Range { least: self.least >> low, greatest: self.greatest >> low }.wrapped(width)
    }

    /// Joins each number, as the upper part, with each of a second range of `bits` bits.
    pub fn join(self, low: Range, bits: u32) -> Range {
        Range { least: self.least << bits | low.least, greatest: self.greatest << bits | low.greatest }
    }

    /// Extends each number with copies of its sign, from one width to another.
    pub fn sign_extend(self, from: Width, to: Width) -> Range {
        let extend = |number: u64| to.wrap(from.signed(number) as u64);
        if (self.least < from.sign_bit()) == (self.greatest < from.sign_bit()) {
            Range { least: extend(self.least), greatest: extend(self.greatest) }
        } else {
            Range::all(to)
        }
    }
}

/// Returns a number with all bits set up to the highest that is set in this one.
fn ones_up_to(number: u64) -> u64 {
    u64::MAX.checked_shr(number.leading_zeros()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use BinaryOperator::*;

    fn width(bits: u64) -> Width {
        Width::new(bits).unwrap()
    }

    /// Returns every interval of numbers of this width.
    fn ranges(width: Width) -> impl Iterator<Item = Range> {
        (0..=width.mask()).flat_map(move |least| (least..=width.mask()).map(move |greatest| Range { least, greatest }))
    }

    fn numbers(range: Range) -> impl Iterator<Item = u64> {
        range.least..=range.greatest
    }

    #[test]
    fn every_result_of_an_operator_lies_in_its_range() {
        let width = width(3);
        for operator in BinaryOperator::ALL {
            for (x, y) in ranges(width).flat_map(|x| ranges(width).map(move |y| (x, y))) {
                let range = Range::binary(operator, width, x, y);
                for (a, b) in numbers(x).flat_map(|a| numbers(y).map(move |b| (a, b))) {
                    let result = operator.apply(width, a, b);
                    assert!(range.contains(result), "{operator:?} of {a} and {b} is {result}, not in {range:?}");
                }
            }
        }
    }

    #[test]
    fn every_result_in_64_bits_lies_in_its_range() {
        let interesting = [0, 1, 2, u64::MAX / 2, u64::MAX / 2 + 1, u64::MAX - 1, u64::MAX];
        let all = || interesting.into_iter().flat_map(|a| interesting.into_iter().map(move |b| (a, b)));
        for operator in BinaryOperator::ALL {
            for ((a, b), (c, d)) in all().flat_map(|x| all().map(move |y| (x, y))) {
                let (x, y) = (Range::of(a).or(Range::of(b)), Range::of(c).or(Range::of(d)));
                let range = Range::binary(operator, Width::MAX, x, y);
                for (a, b) in [(a, c), (a, d), (b, c), (b, d)] {
                    let result = operator.apply(Width::MAX, a, b);
                    assert!(range.contains(result), "{operator:?} of {a} and {b} is {result}, not in {range:?}");
                }
            }
        }
    }

    #[test]
    fn every_part_of_a_number_lies_in_its_range() {
        let (narrow, wide) = (width(3), width(5));
        for x in ranges(width(4)) {
            for number in numbers(x) {
                let inverse = UnaryOperator::Not.apply(width(4), number);
                assert!(Range::unary(UnaryOperator::Not, width(4), x).contains(inverse));
                let negative = UnaryOperator::Negate.apply(width(4), number);
                assert!(Range::unary(UnaryOperator::Negate, width(4), x).contains(negative));
                for low in 0..2 {
                    assert!(x.slice(low, narrow).contains(narrow.wrap(number >> low)), "{number} of {x:?} from {low}");
                }
                let extended = wide.wrap(width(4).signed(number) as u64);
                assert!(x.sign_extend(width(4), wide).contains(extended), "{number} of {x:?}");
                for low in ranges(narrow) {
                    assert!(x.join(low, 3).contains(number << 3 | low.least));
                    assert!(x.join(low, 3).contains(number << 3 | low.greatest));
                }
            }
        }
    }

    #[test]
    fn a_sum_stays_an_interval_unless_it_wraps_in_between() {
        let byte = Range::all(width(8));
        let page = Range { least: 0x100, greatest: 0x1FF };
        assert_eq!(Range::binary(Add, width(16), byte, Range::of(0x100)), page);
        assert_eq!(Range::binary(Add, width(16), page, Range::of(0xFFFF)), Range { least: 0xFF, greatest: 0x1FE });
        assert_eq!(Range::binary(Add, width(16), byte, Range::of(0xFF80)), Range::all(width(16)));
        assert_eq!(page.slice(8, width(8)), Range::of(1));
    }
}
