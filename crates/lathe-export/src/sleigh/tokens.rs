//! The bits of instructions as SLEIGH names them: fields of tokens.

use std::collections::BTreeSet;
use std::fmt;

use lathe_isa::encoding::Segment;

/// Adjacent bits of one token of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits {
    /// The number of the token, from the first.
    pub(super) token: u32,
    /// Bits of the token.
    pub(super) size: u32,
    /// Whether the token is a whole instruction.
    pub(super) whole: bool,
    pub(super) high: u32,
    pub(super) low: u32,
    /// Whether the highest of them is a sign.
    pub(super) signed: bool,
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bits { token, size, whole, high, low, signed } = self;
        let sign = if *signed { 's' } else { 'c' };
        if *whole { write!(f, "{sign}w{size}_{high}_{low}") } else { write!(f, "{sign}{token}_{high}_{low}") }
    }
}

/// How the cells of instructions form tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bits of a cell.
    pub(super) cell: u32,
    /// Cells of a token: a common divisor of all instruction lengths.
    pub(super) cells: u32,
    /// Whether the first cell of a token is its highest.
    pub(super) big: bool,
    /// Whether a token is a whole instruction, though others are longer or shorter.
    pub(super) whole: bool,
}

impl Layout {
    /// Returns the layout for instructions with these numbers of cells.
    pub(super) fn new(cell: u32, big: bool, lengths: impl Iterator<Item = u32>) -> Self {
        let divisor = |x: u32, y: u32| {
            let (mut x, mut y) = (x, y);
            while y > 0 {
                (x, y) = (y, x % y);
            }
            x
        };
        let common = lengths.fold(0, divisor).max(1);
        let cells = if common * cell <= 64 && (common * cell).is_power_of_two() { common } else { 1 };
        Layout { cell, cells, big, whole: false }
    }

    /// Returns the layout for one instruction of this many cells: the common one, unless an operand lies in several
    /// tokens without filling them. Then the instruction is one token, if SLEIGH has tokens of that size.
    pub(super) fn of(self, cells: u32, operands: &[Vec<Segment>]) -> Layout {
        let whole = Layout { cells, whole: true, ..self };
        let fits = whole.bits() <= 64 && whole.bits().is_power_of_two();
        if fits && operands.iter().any(|segments| !self.holds(segments)) { whole } else { self }
    }

    /// Whether the bits of an operand are in one token, or are all the bits of several.
    pub(super) fn holds(self, segments: &[Segment]) -> bool {
        let pieces = self.pieces(segments);
        let own = |token: u32| -> u32 {
            pieces.iter().filter(|(bits, _)| bits.token == token).map(|(bits, _)| bits.high + 1 - bits.low).sum()
        };
        let tokens: BTreeSet<u32> = pieces.iter().map(|(bits, _)| bits.token).collect();
        tokens.len() <= 1 || tokens.iter().all(|token| own(*token) == self.bits())
    }

    /// Returns one bit of a token.
    fn bit(self, token: u32, place: u32) -> Bits {
        Bits { token, size: self.bits(), whole: self.whole, high: place, low: place, signed: false }
    }

    /// Returns a whole token.
    pub(super) fn token(self, token: u32) -> Bits {
        Bits { high: self.bits() - 1, ..self.bit(token, 0) }
    }

    /// Returns the number of bits in a token.
    pub(super) fn bits(self) -> u32 {
        self.cell * self.cells
    }

    /// Returns the token that a bit of the window is in, and its position there.
    fn place(self, window_bit: u32) -> (u32, u32) {
        let from_top = 127 - window_bit;
        let (cell, in_cell) = (from_top / self.cell, self.cell - 1 - from_top % self.cell);
        let (token, at) = (cell / self.cells, cell % self.cells);
        let rank = if self.big { self.cells - 1 - at } else { at };
        (token, rank * self.cell + in_cell)
    }

    /// Returns the bits of an operand as runs, each with the operand's bit at which it begins.
    pub(super) fn pieces(self, segments: &[Segment]) -> Vec<(Bits, u32)> {
        let mut all: Vec<(u32, u32, u32)> = Vec::new();
        for segment in segments {
            for bit in 0..segment.width.bits() {
                let (token, place) = self.place(segment.shift + bit);
                all.push((segment.low + bit, token, place));
            }
        }
        all.sort_unstable();
        let mut pieces: Vec<(Bits, u32)> = Vec::new();
        for (bit, token, place) in all {
            match pieces.last_mut() {
                Some((bits, low))
                    if bits.token == token && bits.high + 1 == place && *low + place - bits.low == bit =>
                {
                    bits.high = place;
                }
                _ => pieces.push((self.bit(token, place), bit)),
            }
        }
        pieces
    }

    /// Returns the bits of a token under a mask, as runs with their values.
    pub(super) fn runs(self, mask: u128, value: u128, token: u32) -> Vec<(Bits, u64)> {
        let mut set: Vec<(u32, u64)> = (0..128)
            .filter(|bit| mask >> bit & 1 == 1 && self.place(*bit).0 == token)
            .map(|bit| (self.place(bit).1, (value >> bit & 1) as u64))
            .collect();
        set.sort_unstable();
        let mut runs: Vec<(Bits, u64)> = Vec::new();
        for (place, bit) in set {
            match runs.last_mut() {
                Some((bits, number)) if bits.high + 1 == place => {
                    bits.high = place;
                    *number |= bit << (place - bits.low);
                }
                _ => runs.push((self.bit(token, place), bit)),
            }
        }
        runs
    }
}

/// Returns the definitions of the tokens with these fields.
pub(super) fn definitions(fields: &BTreeSet<Bits>) -> String {
    let mut text = String::new();
    let tokens: BTreeSet<(bool, u32, u32)> =
        fields.iter().map(|field| (field.whole, field.token, field.size)).collect();
    for (whole, token, size) in tokens {
        let name = if whole { format!("whole{size}") } else { format!("part{token}") };
        text += &format!("define token {name} ({size})\n");
        for field in fields.iter().filter(|field| (field.whole, field.token, field.size) == (whole, token, size)) {
            let sign = if field.signed { " signed" } else { "" };
            text += &format!("    {field} = ({}, {}){sign}\n", field.low, field.high);
        }
        text += ";\n\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lathe_base::Width;

    #[test]
    fn runs_of_fixed_bits() {
        let layout = Layout { cell: 8, cells: 1, big: true, whole: false };
        let found = layout.runs(0xF3 << 120, 0x82 << 120, 0);
        let shown: Vec<String> = found.iter().map(|(bits, value)| format!("{bits}={value}")).collect();
        assert_eq!(shown, ["c0_1_0=2", "c0_7_4=8"]);
    }

    #[test]
    fn neighbours_in_a_little_token_are_joined() {
        // Bits 11 to 7 of a little-endian word.
        let layout = Layout::new(8, false, [4, 4].into_iter());
        let width = |bits| Width::new(bits).unwrap();
        let segments =
            [Segment { shift: 127, width: width(1), low: 0 }, Segment { shift: 112, width: width(4), low: 1 }];
        let found = layout.pieces(&segments);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.to_string(), found[0].1), ("c0_11_7".to_owned(), 0));
    }

    #[test]
    fn an_operand_across_tokens_makes_a_whole_of_them() {
        let layout = Layout::new(8, false, [2, 4].into_iter());
        let segment = |shift, bits, low| Segment { shift, width: Width::new(bits).unwrap(), low };
        // Bits 19 to 15 of a word, and all of its upper half.
        let across = vec![segment(119, 1, 0), segment(104, 4, 1)];
        let upper = vec![segment(104, 8, 0), segment(96, 8, 8)];
        assert!(!layout.of(4, std::slice::from_ref(&upper)).whole);
        let whole = layout.of(4, &[upper, across.clone()]);
        let found = whole.pieces(&across);
        assert_eq!((found.len(), found[0].0.to_string()), (1, "cw32_19_15".to_owned()));
        // There is no token of 24 bits.
        assert!(!layout.of(3, &[across]).whole);
    }
}
