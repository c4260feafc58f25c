//! The map of the encoding space, and how much of it is defined.

use crate::encoding::{Cube, EFFORT, TooComplex, share_within, witness};
use crate::model::{InstructionId, Isa};

/// The encodings of an instruction set, by the leading bits of the first cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Coverage {
    /// How many leading bits tell the slots apart: at most eight.
    pub bits: u32,
    /// One slot for each value of those bits.
    pub slots: Vec<Slot>,
    /// The fraction of all encodings that is defined, from 0 to 1; unknown if there are too many conditions.
    pub share: Option<f64>,
}

/// All encodings that begin with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The instructions that begin with these bits.
    pub instructions: Vec<InstructionId>,
    /// The fraction of these encodings that is defined, from 0 to 1.
    pub share: Option<f64>,
}

/// How full a slot is, for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// Every encoding is defined.
    Full,
    /// Some are defined.
    Partial,
    /// None is defined.
    Empty,
}

impl Slot {
    /// Returns how full the slot is.
    pub fn filling(&self) -> Filling {
        match self.share {
            _ if self.instructions.is_empty() => Filling::Empty,
            Some(share) if share > 1.0 - 1e-9 => Filling::Full,
            _ => Filling::Partial,
        }
    }
}

/// Computes the map.
pub fn coverage(isa: &Isa) -> Coverage {
    let bits = isa.code_memory().cell.bits().min(8);
    let mut effort = EFFORT;
    let slots = (0..1u128 << bits).map(|value| {
        let leading = Cube { mask: ((1u128 << bits) - 1) << (128 - bits), value: value << (128 - bits) };
        slot(isa, leading, f64::from(bits).exp2(), &mut effort)
    });
    let slots: Vec<Slot> = slots.collect();
    let share = slots.iter().map(|slot| slot.share).sum::<Option<f64>>().map(|sum| sum / slots.len() as f64);
    Coverage { bits, slots, share }
}

/// The most pieces of rows searched for bits that no row has.
const PIECES: usize = 100_000;

/// Returns a window that begins with no instruction, or nothing if every window begins with one.
///
/// # Errors
/// If there are too many conditions to find out.
pub fn undefined(isa: &Isa) -> Result<Option<u128>, TooComplex> {
    let mut defined = Vec::new();
    for encoding in isa.instructions.iter().map(|instruction| &instruction.encoding) {
        let mut pieces = vec![encoding.fixed];
        for excluded in &encoding.excluded {
            pieces = pieces.into_iter().flat_map(|piece| piece.without(*excluded)).collect();
            if defined.len() + pieces.len() > PIECES {
                return Err(TooComplex);
            }
        }
        defined.extend(pieces);
    }
    witness(Cube::default(), &defined)
}

fn slot(isa: &Isa, leading: Cube, scale: f64, effort: &mut usize) -> Slot {
    let mut slot = Slot { instructions: Vec::new(), share: Some(0.0) };
    for (at, instruction) in isa.instructions.iter().enumerate() {
        let Some(cube) = instruction.encoding.fixed.intersection(leading) else { continue };
        let part = share_within(effort, cube, &instruction.encoding.excluded).ok();
        if part == Some(0.0) {
            continue;
        }
        slot.instructions.push(InstructionId(at as u32));
        slot.share = slot.share.zip(part).map(|(sum, part)| sum + part * scale);
    }
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(rows: &str) -> Isa {
        let text = format!(
            "machine m \"M\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a, b, c : u8\nfield D : register {{ a, b, c }}
instructions {{\n{rows}\n}}\n"
        );
        crate::load(&text).shown().expect("it is right").clone()
    }

    #[test]
    fn what_no_row_has_is_found() {
        let all = machine("  x D | 0 ----- DD | D = 0\n  y | 0 ----- 11 |\n  z | 1------- |");
        assert_eq!(undefined(&all), Ok(None));
        let some = machine("  x D | 0 ----- DD | D = 0\n  z | 1------- |");
        let found = undefined(&some).expect("it is simple").expect("there are some");
        assert_eq!((found >> 127, found >> 120 & 3), (0, 3));
        assert!(some.decode(found).is_none());
    }
}
