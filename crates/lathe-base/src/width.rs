//! The width of a bit vector, and the arithmetic of values held in a `u64`.
//!
//! A value of width `w` is kept in the low `w` bits of a `u64`, the others zero. Every engine relies on this. Widths
//! above 64 exist only while meanings are elaborated, which replaces such values by halves; the arithmetic here is for
//! narrower ones.

use std::fmt;

/// How many bits a value has: 1 to 64, or up to 128 in meanings as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Width(u8);

impl Width {
    /// One bit: a truth value, a flag.
    pub const BIT: Width = Width(1);
    /// Eight bits.
    pub const BYTE: Width = Width(8);
    /// Two bytes.
    pub const TWO_BYTES: Width = Width(16);
    /// Four bytes.
    pub const FOUR_BYTES: Width = Width(32);
    /// The widest value that a machine can keep.
    pub const MAX: Width = Width(64);
    /// The widest value of a meaning as written.
    pub const WIDEST: Width = Width(128);

    /// Returns a width if `bits` is between 1 and 64.
    pub fn new(bits: u64) -> Option<Width> {
        (1..=64).contains(&bits).then_some(Width(bits as u8))
    }

    /// Returns the width of a value in a meaning as written if `bits` is between 1 and 128.
    pub fn computed(bits: u64) -> Option<Width> {
        (1..=128).contains(&bits).then_some(Width(bits as u8))
    }

    /// Whether a value of this width does not fit in a `u64`.
    pub fn is_wide(self) -> bool {
        self > Width::MAX
    }

    /// Returns the number of bits.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// Returns the value with all bits set.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Clears the bits above this width.
    pub fn wrap(self, value: u64) -> u64 {
        value & self.mask()
    }

    /// Whether the value has no bits above this width.
    pub fn holds(self, value: u64) -> bool {
        value <= self.mask()
    }

    /// Returns the most significant bit, as a value.
    pub fn sign_bit(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Reads the value as two's complement.
    pub fn signed(self, value: u64) -> i64 {
        let unused = 64 - self.bits();
        ((value << unused) as i64) >> unused
    }

    /// Adds two widths, if the sum is a width that a machine can keep.
    pub fn plus(self, other: Width) -> Option<Width> {
        Width::new(u64::from(self.0) + u64::from(other.0))
    }

    /// Adds two widths, if a value in a meaning can have the sum.
    pub fn joined(self, other: Width) -> Option<Width> {
        Width::computed(u64::from(self.0) + u64::from(other.0))
    }

    /// Returns how many bits it takes to tell `count` things apart, at least one.
    pub fn to_tell_apart(count: usize) -> Width {
        let last = (count.max(2) - 1) as u64;
        Width((64 - last.leading_zeros()) as u8)
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "u{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_width_arithmetic() {
        let byte = Width::new(8).unwrap();
        assert_eq!(byte.wrap(0x1FF), 0xFF);
        assert_eq!(byte.signed(0x80), -128);
        assert_eq!(Width::MAX.mask(), u64::MAX);
        assert_eq!(Width::MAX.signed(u64::MAX), -1);
        assert_eq!(Width::BIT.signed(1), -1);
        assert_eq!(Width::new(0), None);
        assert_eq!(Width::new(65), None);
        assert_eq!(Width::computed(128), Some(Width::WIDEST));
        assert_eq!([Width::computed(0), Width::computed(129), Width::WIDEST.joined(Width::BIT)], [None; 3]);
        assert_eq!([Width::MAX.is_wide(), Width::MAX.joined(Width::BIT).unwrap().is_wide()], [false, true]);
    }

    #[test]
    fn bits_to_tell_things_apart() {
        let bits = |count| Width::to_tell_apart(count).bits();
        assert_eq!([bits(1), bits(2), bits(3), bits(4), bits(5), bits(16), bits(17)], [1, 1, 2, 2, 3, 4, 5]);
    }
}
