//! Operands in both directions: the bits of an encoding, and what they mean at a location.

use lathe_base::Width;

use crate::model::{Base, Domain, Field, Numeric, Target, Values};

/// The address of an instruction and of the one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// This instruction.
    pub pc: u64,
    /// The next one in memory.
    pub next: u64,
    /// The width of both.
    pub width: Width,
}

impl Location {
    /// Returns the address that a distance counts from.
    pub fn of(self, base: Base) -> u64 {
        match base {
            Base::Pc => self.pc,
            Base::Next => self.next,
            Base::Ahead(cells) => self.width.wrap(self.pc.wrapping_add(u64::from(cells))),
            Base::Address(address) => address,
        }
    }
}

impl Field {
    /// Returns the value that the meaning sees for these bits: the number itself, or the address it names. For a field
    /// of registers or of listed numbers, that is the bits.
    pub fn value(&self, bits: u64, location: Location) -> u64 {
        let Domain::Number(numeric) = &self.domain else { return bits };
        let extended = if numeric.signed { self.width.signed(bits) as u64 } else { bits };
        match numeric.target {
            None | Some(Target::Absolute(_)) => bits,
            Some(Target::Relative { back, from, .. }) => {
                let base = location.of(from);
                let target = if back { base.wrapping_sub(extended) } else { base.wrapping_add(extended) };
                location.width.wrap(target)
            }
            Some(Target::Within(from)) => (location.of(from) & !self.width.mask()) | bits,
        }
    }

    /// Returns the width that the author of a meaning sees.
    pub(crate) fn seen_width(&self, pc: Width) -> Width {
        if let Domain::Values(values) = &self.domain { values.width } else { self.value_width(pc) }
    }

    /// Returns the width of the operand's value in meanings; for a number from a list, the width of its code.
    pub fn value_width(&self, pc: Width) -> Width {
        match &self.domain {
            Domain::Number(Numeric { target: Some(Target::Relative { .. } | Target::Within(_)), .. }) => pc,
            Domain::Registers(list) => list.iter().flatten().next().map_or(self.width, |(_, place)| place.width),
            _ => self.width,
        }
    }

    /// Returns the bits for a plain number in assembly, if the field can hold it.
    pub fn bits_of(&self, number: i128, location: Location) -> Option<u64> {
        if let Domain::Values(values) = &self.domain {
            return values.code(number);
        }
        let Domain::Number(numeric) = &self.domain else { return None };
        let stored = match numeric.target {
            Some(Target::Relative { number_is_address: true, .. }) => {
                return self.bits_for_address(u64::try_from(number).ok()?, location);
            }
            Some(Target::Within(_)) if !self.width.holds(u64::try_from(number).unwrap_or(u64::MAX)) => {
                return self.bits_for_address(u64::try_from(number).ok()?, location);
            }
            _ => number,
        };
        self.checked(numeric, stored)
    }

    /// Returns the bits that name an address, if it can be reached from here.
    pub fn bits_for_address(&self, address: u64, location: Location) -> Option<u64> {
        if let Domain::Values(values) = &self.domain {
            return values.code(address.into());
        }
        let Domain::Number(numeric) = &self.domain else { return None };
        match numeric.target {
            None if numeric.low => Some(self.width.wrap(address)).filter(|bits| self.is_aligned(*bits)),
            None | Some(Target::Absolute(_)) => self.checked(numeric, i128::from(address)),
            Some(Target::Relative { back, from, .. }) => {
                let distance = address.wrapping_sub(location.of(from));
                let distance = if back { distance.wrapping_neg() } else { distance };
                let distance = location.width.wrap(distance);
                let near =
                    if numeric.signed { i128::from(location.width.signed(distance)) } else { i128::from(distance) };
                self.checked(numeric, near)
            }
            Some(Target::Within(from)) => {
                let same_page = (address ^ location.of(from)) & !self.width.mask() == 0;
                same_page.then(|| self.width.wrap(address)).filter(|bits| self.is_aligned(*bits))
            }
        }
    }

    /// Whether the bits that are not stored are zero.
    fn is_aligned(&self, bits: u64) -> bool {
        bits & ((1 << self.unstored_bits()) - 1) == 0
    }

    fn checked(&self, numeric: &Numeric, number: i128) -> Option<u64> {
        let bits = match (numeric.signed, numeric.target) {
            (true, _) => {
                let half = i128::from(self.width.sign_bit());
                (-half..half).contains(&number).then(|| self.width.wrap(number as u64))
            }
            (false, None) if numeric.wraps => fit(number, self.width),
            (false, _) => u64::try_from(number).ok().filter(|number| self.width.holds(*number)),
        };
        bits.filter(|bits| self.is_aligned(*bits))
    }
}

impl Values {
    /// Returns the number with this code, if any.
    pub fn number(&self, code: u64) -> Option<i128> {
        let bits = *self.list.get(usize::try_from(code).ok()?)?.as_ref()?;
        Some(if self.signed { self.width.signed(bits).into() } else { bits.into() })
    }

    /// Returns the code of a number, if it is in the list.
    pub fn code(&self, number: i128) -> Option<u64> {
        let same = |code: &u64| match self.number(*code) {
            Some(known) if self.wraps => fit(number, self.width) == fit(known, self.width),
            known => known == Some(number),
        };
        (0..self.list.len() as u64).find(same)
    }

    /// Returns the numbers with their codes.
    pub fn numbers(&self) -> impl Iterator<Item = (u64, i128)> + '_ {
        (0..self.list.len() as u64).filter_map(|code| Some((code, self.number(code)?)))
    }
}

/// Returns the bits of a number, if it fits as unsigned or as two's complement.
pub(crate) fn fit(value: i128, width: Width) -> Option<u64> {
    fits(value, width).then(|| width.wrap(value as u64))
}

/// Whether a number can be written in this many bits, as unsigned or as two's complement.
pub(crate) fn fits(value: i128, width: Width) -> bool {
    let (lowest, highest) = range(width);
    u128::try_from(value).map_or(value >= lowest, |value| value <= highest)
}

/// Returns the lowest number of a width as two's complement, and the highest as unsigned.
pub(crate) fn range(width: Width) -> (i128, u128) {
    let unused = 128 - width.bits();
    (i128::MIN >> unused, u128::MAX >> unused)
}
