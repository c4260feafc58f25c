//! The bits of an instruction as a picture: one character for each bit of the encoding, in the order a datasheet shows
//! them.

use lathe_isa::Isa;
use lathe_isa::encoding::Encoding;
use serde::Serialize;

/// Bits that belong together: a fixed pattern, some bits of an operand, or ignored bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// `0` and `1` for fixed bits, `-` for ignored bits, `*` for those of a family; for an operand, its name, and which
    /// of its bits if they are not all here.
    pub label: String,
    /// How many bits.
    pub width: u32,
    /// The operand, counted in the order of the syntax; `None` for other bits.
    pub operand: Option<usize>,
}

/// One bit of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    Fixed(bool),
    /// An operand, and the number of its bit.
    Operand(usize, u32),
    Ignored,
    /// A bit decided by the member of a family.
    Member,
}

/// Returns the bits that all instructions of a row share; the others belong to the members of its families.
pub(crate) fn common(all: &[Vec<Bit>]) -> Vec<Bit> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let shared = |(at, bit): (usize, &Bit)| {
        if others.iter().all(|other| other.get(at) == Some(bit)) { *bit } else { Bit::Member }
    };
    first.iter().enumerate().map(shared).collect()
}

/// The words of a picture: their width, and whether the first cell is the lowest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) bits: u32,
    pub(crate) little: bool,
}

/// Returns the bits of an instruction, most significant bit of the first word first.
pub(crate) fn bits(isa: &Isa, encoding: &Encoding, word: Word) -> Vec<Bit> {
    let cell = isa.code_memory().cell.bits();
    let total = encoding.cells * cell;
    let mut bits: Vec<Bit> = (0..total).map(|at| bit(encoding, 127 - at)).collect();
    if word.little && word.bits > cell {
        for word in bits.chunks_mut(word.bits as usize) {
            let cells: Vec<Bit> = word.chunks(cell as usize).rev().flatten().copied().collect();
            word.copy_from_slice(&cells);
        }
    }
    bits
}

fn bit(encoding: &Encoding, shift: u32) -> Bit {
    for (operand, segments) in encoding.operands.iter().enumerate() {
        for segment in segments {
            if (segment.shift..segment.shift + segment.width.bits()).contains(&shift) {
                return Bit::Operand(operand, segment.low + shift - segment.shift);
            }
        }
    }
    if encoding.fixed.mask >> shift & 1 == 0 {
        return Bit::Ignored;
    }
    Bit::Fixed(encoding.fixed.value >> shift & 1 == 1)
}

/// Returns one character per bit: `0001DDSS`. An operand with a longer name is shown by its first letter.
pub(crate) fn text(bits: &[Bit], names: &[String]) -> String {
    let letter = |operand: usize| names.get(operand).and_then(|name| name.chars().next()).unwrap_or('?');
    bits.iter()
        .map(|bit| match bit {
            Bit::Fixed(true) => '1',
            Bit::Fixed(false) => '0',
            Bit::Ignored => '-',
            Bit::Member => '*',
            Bit::Operand(operand, _) => letter(*operand),
        })
        .collect()
}

/// Groups bits that belong together into parts, each within a word of `limit` bits.
pub(crate) fn parts(bits: &[Bit], names: &[String], widths: &[u32], limit: u32) -> Vec<Part> {
    let mut parts: Vec<(Part, Vec<u32>)> = Vec::new();
    for (at, bit) in bits.iter().enumerate() {
        let begins = (at as u32).is_multiple_of(limit);
        let (label, operand, number) = match bit {
            Bit::Fixed(value) => (u8::from(*value).to_string(), None, 0),
            Bit::Ignored => ("-".to_owned(), None, 0),
            Bit::Member => ("*".to_owned(), None, 0),
            Bit::Operand(operand, number) => (String::new(), Some(*operand), *number),
        };
        match parts.last_mut().filter(|_| !begins) {
            Some((last, numbers)) if last.operand == operand && joins(last, numbers, &label, operand, number) => {
                last.width += 1;
                last.label.push_str(&label);
                numbers.push(number);
            }
            _ => parts.push((Part { label, width: 1, operand }, vec![number])),
        }
    }
    parts
        .into_iter()
        .map(|(mut part, numbers)| {
            if let Some(operand) = part.operand {
                part.label = operand_label(&names[operand], &numbers, widths[operand]);
            }
            part
        })
        .collect()
}

/// Whether a bit continues a part.
fn joins(last: &Part, numbers: &[u32], label: &str, operand: Option<usize>, number: u32) -> bool {
    if operand.is_some() {
        return numbers.last().is_some_and(|last| *last == number + 1);
    }
    let kind = |label: &str| label.chars().next().map(|c| if c == '1' { '0' } else { c });
    kind(&last.label) == kind(label)
}

fn operand_label(name: &str, numbers: &[u32], width: u32) -> String {
    let (high, low) = (numbers.first().copied().unwrap_or(0), numbers.last().copied().unwrap_or(0));
    match () {
        () if numbers.len() as u32 == width => name.to_owned(),
        () if high == low => format!("{name}[{high}]"),
        () => format!("{name}[{high}:{low}]"),
    }
}
