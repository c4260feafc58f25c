//! The bits of one instruction, used in both directions: matched and split when decoding, put together when encoding.
//!
//! A *window* is the beginning of the instruction stream as one number: the first bit of the first cell is the highest
//! bit of a `u128`. So instructions of different lengths can be compared without shifting.

use lathe_base::Width;

/// A set of windows: those whose bits under `mask` equal `value`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cube {
    /// Which bits count.
    pub mask: u128,
    /// What they must be; zero outside the mask.
    pub value: u128,
}

impl Cube {
    /// Whether the window is in the set.
    pub fn contains(self, window: u128) -> bool {
        window & self.mask == self.value
    }

    /// Restricts the condition to these bits.
    pub fn within(self, bits: u128) -> Cube {
        Cube { mask: self.mask & bits, value: self.value & bits }
    }

    /// Returns the windows in both sets, if there are any.
    pub fn intersection(self, other: Cube) -> Option<Cube> {
        let disagree = (self.value ^ other.value) & self.mask & other.mask;
        (disagree == 0).then_some(Cube { mask: self.mask | other.mask, value: self.value | other.value })
    }

    /// Returns the pieces of this set that are not in `other`, disjoint from one another.
    pub(crate) fn without(self, other: Cube) -> Vec<Cube> {
        if self.intersection(other).is_none() {
            return vec![self];
        }
        let mut pieces = Vec::new();
        let mut rest = self;
        let mut free = other.mask & !self.mask;
        while free != 0 {
            let bit = 1u128 << (127 - free.leading_zeros());
            free &= !bit;
            pieces.push(Cube { mask: rest.mask | bit, value: rest.value | (!other.value & bit) });
            rest = Cube { mask: rest.mask | bit, value: rest.value | (other.value & bit) };
        }
        pieces
    }
}

/// How many comparisons of sets a question may take before it is given up.
pub const EFFORT: usize = 10_000_000;

/// A question about sets that has too many cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooComplex;

/// Returns a window in `cube` and in none of `excluded`, if there is one.
pub fn witness(cube: Cube, excluded: &[Cube]) -> Result<Option<u128>, TooComplex> {
    let mut effort = EFFORT;
    witness_within(&mut effort, cube, excluded)
}

/// Looks for a window in `cube` and in none of `excluded`, as one of many questions that share an effort.
pub fn witness_within(effort: &mut usize, cube: Cube, excluded: &[Cube]) -> Result<Option<u128>, TooComplex> {
    let mut pending = vec![(cube, 0)];
    while let Some((cube, done)) = pending.pop() {
        let found = (done..excluded.len()).find(|at| cube.intersection(excluded[*at]).is_some());
        let compared = found.unwrap_or(excluded.len()) - done + 1;
        *effort = effort.checked_sub(compared).ok_or(TooComplex)?;
        let Some(at) = found else { return Ok(Some(cube.value)) };
        pending.extend(cube.without(excluded[at]).into_iter().map(|piece| (piece, at + 1)));
    }
    Ok(None)
}

/// Returns the fraction of all windows that is in `cube` and in none of `excluded`.
pub fn share(cube: Cube, excluded: &[Cube]) -> Result<f64, TooComplex> {
    let mut effort = EFFORT;
    share_within(&mut effort, cube, excluded)
}

/// Returns the fraction of all windows that is in `cube` and in none of `excluded`, as one of many questions that share
/// an effort.
pub fn share_within(effort: &mut usize, cube: Cube, excluded: &[Cube]) -> Result<f64, TooComplex> {
    let mut pending = vec![(cube, 0)];
    let mut sum = 0.0;
    while let Some((cube, done)) = pending.pop() {
        let found = (done..excluded.len()).find(|at| cube.intersection(excluded[*at]).is_some());
        *effort = effort.checked_sub(found.unwrap_or(excluded.len()) - done + 1).ok_or(TooComplex)?;
        match found {
            None => sum += (-f64::from(cube.mask.count_ones())).exp2(),
            Some(at) => pending.extend(cube.without(excluded[at]).into_iter().map(|piece| (piece, at + 1))),
        }
    }
    Ok(sum)
}

/// Bits of an operand that are adjacent in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The position of the lowest bit in the window, counted from the window's lowest bit.
    pub shift: u32,
    /// How many bits there are.
    pub width: Width,
    /// The position of the lowest bit in the operand.
    pub low: u32,
}

/// The bits of one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoding {
    /// How many cells it takes.
    pub cells: u32,
    /// The bits that are always the same.
    pub fixed: Cube,
    /// Encodings that are not this instruction after all: codes without a register, and what `where` excludes.
    pub excluded: Vec<Cube>,
    /// Bits that are ignored when decoding and zero when encoding.
    pub ignored: u128,
    /// Where the bits of each operand are. Two operands that are always the same have the same segments.
    pub operands: Vec<Vec<Segment>>,
    /// The constant value of each operand without bits; 0 for the others.
    pub constants: Vec<u64>,
}

impl Encoding {
    /// Whether the window begins with this instruction.
    pub fn matches(&self, window: u128) -> bool {
        self.fixed.contains(window) && !self.excluded.iter().any(|cube| cube.contains(window))
    }

    /// Returns the bits of one operand.
    pub fn operand(&self, index: usize, window: u128) -> u64 {
        self.constants[index] | gather(&self.operands[index], window)
    }

    /// Returns the window of this instruction with these operand bits, ignored bits zero.
    pub fn encode(&self, operands: &[u64]) -> u128 {
        let bits = |index: usize| scatter(&self.operands[index], operands.get(index).copied().unwrap_or(0));
        (0..self.operands.len()).fold(self.fixed.value, |window, index| window | bits(index))
    }

    /// Whether the encoding can hold these operands and is still this instruction with them.
    pub fn holds(&self, operands: &[u64]) -> bool {
        let window = self.encode(operands);
        self.matches(window) && operands.iter().enumerate().all(|(at, bits)| self.operand(at, window) == *bits)
    }

    /// Whether this is an instruction of a machine in these modes; `mask` selects the bits of the modes.
    pub fn is_in(&self, modes: u128, mask: u128) -> bool {
        (self.fixed.value ^ modes) & self.fixed.mask & mask == 0
    }

    /// Whether a condition determines one of its operands, so that it is a short form of another instruction.
    pub fn is_special(&self) -> bool {
        let same = |at: usize| self.operands[..at].contains(&self.operands[at]);
        (0..self.operands.len()).any(|at| self.operands[at].is_empty() || same(at))
    }

    /// Whether the encoding is the one that the assembler writes.
    pub fn is_canonical(&self, window: u128) -> bool {
        window & self.ignored == 0
    }
}

/// Gathers the bits of an operand from the positions of its segments.
pub fn gather(segments: &[Segment], window: u128) -> u64 {
    segments.iter().fold(0, |bits, part| bits | (part.width.wrap((window >> part.shift) as u64) << part.low))
}

/// Puts the bits of an operand at the positions of its segments.
pub fn scatter(segments: &[Segment], bits: u64) -> u128 {
    let lay = |part: &Segment| u128::from(part.width.wrap(bits >> part.low)) << part.shift;
    segments.iter().fold(0, |window, part| window | lay(part))
}

/// Splits a window into its cells.
pub fn cells(window: u128, cell: Width) -> impl Iterator<Item = u64> {
    let bits = cell.bits();
    (1..=128 / bits).map(move |count| cell.wrap((window >> (128 - count * bits)) as u64))
}

/// Returns the window that begins with these cells.
pub fn window(cells: impl IntoIterator<Item = u64>, cell: Width) -> u128 {
    let bits = cell.bits();
    let shifts = (1..=128 / bits).map(|count| 128 - count * bits);
    cells.into_iter().zip(shifts).fold(0, |window, (value, shift)| window | (u128::from(cell.wrap(value)) << shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube(mask: u128, value: u128) -> Cube {
        Cube { mask: mask << 120, value: value << 120 }
    }

    #[test]
    fn a_witness_avoids_what_is_excluded() {
        let all = Cube::default();
        assert_eq!(witness(all, &[cube(0x80, 0), cube(0x80, 0x80)]), Ok(None));
        let found = witness(all, &[cube(0xC0, 0), cube(0xC0, 0x80)]).unwrap().unwrap();
        assert_eq!(found >> 126 & 1, 1);
    }

    #[test]
    fn shares_add_up() {
        let row = cube(0xF0, 0x40);
        assert_eq!(share(row, &[]), Ok(1.0 / 16.0));
        assert_eq!(share(row, &[cube(0xFF, 0x41), cube(0xFC, 0x44)]), Ok(11.0 / 256.0));
    }

    #[test]
    fn too_many_cases_are_given_up() {
        let excluded: Vec<Cube> =
            (0..40).map(|n| Cube { mask: 0b111u128 << (3 * n), value: 0b111u128 << (3 * n) }).collect();
        assert_eq!(share(Cube::default(), &excluded), Err(TooComplex));
    }

    #[test]
    fn cells_and_windows_are_inverse() {
        let cell = Width::new(12).unwrap();
        let window = window([0xABC, 0x123], cell);
        assert_eq!(cells(window, cell).take(3).collect::<Vec<_>>(), [0xABC, 0x123, 0]);
    }
}
