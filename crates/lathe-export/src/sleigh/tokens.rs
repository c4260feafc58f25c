//! The bits of instructions as SLEIGH names them: fields of tokens.

use std::collections::BTreeSet;
use std::fmt;

use lathe_isa::encoding::Segment;

/// Neighbouring bits of one token of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bits {
    /// Which token, from the first.
    pub(super) token: u32,
    pub(super) high: u32,
    pub(super) low: u32,
    /// Whether the highest of them is a sign.
    pub(super) signed: bool,
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bits { token, high, low, signed } = self;
        write!(f, "{}{token}_{high}_{low}", if *signed { 's' } else { 'c' })
    }
}

/// How the cells of instructions make up tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Bits of a cell.
    pub(super) cell: u32,
    /// Cells of a token: as many as every instruction has a multiple of.
    pub(super) cells: u32,
    /// Whether the first cell of a token is its highest.
    pub(super) big: bool,
}

impl Layout {
    /// The layout for instructions that have these numbers of cells.
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
        Layout { cell, cells, big }
    }

    /// Bits of a token.
    pub(super) fn bits(self) -> u32 {
        self.cell * self.cells
    }

    /// The token that a bit of the window is in, and which of its bits it is.
    fn place(self, window_bit: u32) -> (u32, u32) {
        let from_top = 127 - window_bit;
        let (cell, in_cell) = (from_top / self.cell, self.cell - 1 - from_top % self.cell);
        let (token, at) = (cell / self.cells, cell % self.cells);
        let rank = if self.big { self.cells - 1 - at } else { at };
        (token, rank * self.cell + in_cell)
    }

    /// The bits of an operand as runs, each with the bit of the operand that its lowest is.
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
                _ => pieces.push((Bits { token, high: place, low: place, signed: false }, bit)),
            }
        }
        pieces
    }

    /// The bits of a token under a mask, as runs with their values.
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
                _ => runs.push((Bits { token, high: place, low: place, signed: false }, bit)),
            }
        }
        runs
    }
}

/// The definitions of the tokens that have these fields.
pub(super) fn definitions(fields: &BTreeSet<Bits>, layout: Layout) -> String {
    let mut text = String::new();
    for token in 0..=fields.iter().map(|field| field.token).max().unwrap_or(0) {
        text += &format!("define token part{token} ({})\n", layout.bits());
        for field in fields.iter().filter(|field| field.token == token) {
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
        let layout = Layout { cell: 8, cells: 1, big: true };
        let found = layout.runs(0xF3 << 120, 0x82 << 120, 0);
        let shown: Vec<String> = found.iter().map(|(bits, value)| format!("{bits}={value}")).collect();
        assert_eq!(shown, ["c0_1_0=2", "c0_7_4=8"]);
    }

    #[test]
    fn neighbours_in_a_little_token_are_joined() {
        // The bits 11 to 7 of a word that begins with its lowest byte.
        let layout = Layout::new(8, false, [4, 4].into_iter());
        let width = |bits| Width::new(bits).unwrap();
        let segments =
            [Segment { shift: 127, width: width(1), low: 0 }, Segment { shift: 112, width: width(4), low: 1 }];
        let found = layout.pieces(&segments);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.to_string(), found[0].1), ("c0_11_7".to_owned(), 0));
    }
}
