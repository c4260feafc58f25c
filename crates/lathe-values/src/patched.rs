//! Instructions that a program keeps changing. Some of their cells are *live*: read at every execution, instead of once
//! when the instruction is decoded.
//!
//! Numbers in live cells become loads. All other bits of live cells (opcodes, registers) are compared with what was
//! decoded; if they differ, the instruction is left to the reference interpreter. So nobody needs to watch stores to
//! live cells.

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::encoding::{Cube, Encoding, Segment};
use lathe_isa::model::{Domain, Field, Target};
use lathe_isa::operand::Location;
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Block, Body, Expr, LocalId, Statement};
use lathe_isa::specialize::specialize_with;

/// A set of an instruction's cells, by their distance from its address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cells(u128);

impl Cells {
    /// Adds a cell.
    pub fn insert(&mut self, cell: u32) {
        self.0 |= 1u128.checked_shl(cell).unwrap_or(0);
    }

    /// Whether the cell is in the set.
    pub fn contains(self, cell: u32) -> bool {
        self.0.checked_shr(cell).is_some_and(|rest| rest & 1 == 1)
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the window bits of those among the first `count` cells that are in the set.
    pub fn bits(self, cell: Width, count: u32) -> u128 {
        let cells = (0..count).filter(|at| self.contains(*at));
        cells.fold(0, |bits, at| bits | cell_bits(cell, at))
    }
}

/// Returns the bits of one cell in a window.
fn cell_bits(cell: Width, at: u32) -> u128 {
    u128::from(cell.mask()) << cell_shift(cell, at)
}

/// Returns how far the lowest bit of a cell is above the lowest of the window.
fn cell_shift(cell: Width, at: u32) -> u32 {
    128 - (at + 1) * cell.bits()
}

/// Returns the bits in live cells that must stay as they were decoded.
pub fn guarded_bits(isa: &Isa, decoded: &Decoded, live: Cells) -> u128 {
    let instruction = isa.instruction(decoded.instruction);
    let encoding = &instruction.encoding;
    let read = instruction.operands.iter().zip(&encoding.operands).filter(|(field, _)| is_read(isa.field(**field)));
    let read = read.flat_map(|(_, segments)| segments).fold(0, |bits, segment| bits | segment_bits(segment));
    // A condition, or the program counter among registers, may fix bits of an operand.
    live.bits(isa.code_memory().cell, encoding.cells) & (!read | encoding.fixed.mask) & !encoding.ignored
}

/// Whether a field is read when the instruction is executed. Which register it means is decided when it is decoded.
fn is_read(field: &Field) -> bool {
    !matches!(field.domain, Domain::Registers(_))
}

fn segment_bits(segment: &Segment) -> u128 {
    u128::from(segment.width.mask()) << segment.shift
}

/// Returns the meaning of an instruction at this place, with its live cells read when it is executed. `window` is what
/// was decoded.
pub fn patched(isa: &Isa, decoded: &Decoded, location: Location, window: u128, live: Cells) -> Body {
    let instruction = isa.instruction(decoded.instruction);
    let reading = Reading {
        cell: isa.code_memory().cell,
        live: (0..instruction.encoding.cells).filter(|at| live.contains(*at)).collect(),
        first_local: instruction.body.locals.len() as u16,
    };
    let fields = instruction.operands.iter().map(|field| isa.field(*field));
    let operand = |((field, segments), bits): ((&Field, &Vec<Segment>), &u64)| {
        let bits = is_read(field).then(|| reading.operand(field, segments, *bits)).flatten()?;
        Some(value_of(field, bits, location))
    };
    let given: Vec<Option<Expr>> =
        fields.zip(&instruction.encoding.operands).zip(&decoded.operands).map(operand).collect();
    let locals = vec![reading.cell; reading.live.len()];
    let mut body = specialize_with(isa, decoded, location, &given, &locals);
    let mut block = reading.loads(isa, location.pc);
    block.extend(reading.leave_if_changed(&instruction.encoding, window, guarded_bits(isa, decoded, live)));
    block.append(&mut body.block);
    Body { block, ..body }
}

/// How the live cells of one instruction are read: each into a local of its own.
struct Reading {
    cell: Width,
    live: Vec<u32>,
    first_local: u16,
}

impl Reading {
    fn locals(&self) -> impl Iterator<Item = (u32, LocalId)> {
        self.live.iter().copied().zip((self.first_local..).map(LocalId))
    }

    fn loads(&self, isa: &Isa, pc: u64) -> Block {
        let width = isa.code_memory().address;
        let load = |(at, into)| {
            let address = Expr::constant(width, width.wrap(pc.wrapping_add(u64::from(at))));
            Statement::Load { into, memory: isa.pc.memory, address, cells: 1 }
        };
        self.locals().map(load).collect()
    }

    /// Returns the bits of an operand; none if no bit of it is in a live cell.
    fn operand(&self, field: &Field, segments: &[Segment], decoded: u64) -> Option<Expr> {
        let mut value = None;
        for segment in segments {
            for (at, local) in self.locals() {
                let Some((from, low, width)) = overlap(segment, cell_shift(self.cell, at), self.cell) else { continue };
                let bits = Expr::slice(Expr::local(self.cell, local), from, width);
                let old = value.unwrap_or_else(|| Expr::constant(field.width, decoded));
                value = Some(Expr::replace(old, low, bits));
            }
        }
        value
    }

    /// Returns statements that leave the instruction if it is no longer the one decoded. They halt instead: engines
    /// that lower bodies leave halting to the reference interpreter.
    fn leave_if_changed(&self, encoding: &Encoding, window: u128, guarded: u128) -> Block {
        let decoded = Cube { mask: guarded, value: window & guarded };
        let changed = self.differs(decoded);
        let known = !self.live.iter().fold(0, |bits, at| bits | cell_bits(self.cell, *at)) | guarded;
        let possible = encoding.excluded.iter().filter(|cube| (cube.value ^ window) & cube.mask & known == 0);
        let excluded = possible.filter_map(|cube| {
            let open = Cube { mask: cube.mask & !known, value: cube.value & !known };
            Some(Expr::unary(lathe_isa::operators::UnaryOperator::Not, self.differs(open)?))
        });
        let conditions = changed.into_iter().chain(excluded);
        let leave = |condition| Statement::If { condition, then: vec![Statement::Halt], otherwise: Vec::new() };
        conditions.map(leave).collect()
    }

    /// Returns whether the live cells are outside a set; none if the set says nothing about them.
    fn differs(&self, cube: Cube) -> Option<Expr> {
        let cells = self.locals().filter_map(|(at, local)| {
            let part = |bits: u128| self.cell.wrap((bits >> cell_shift(self.cell, at)) as u64);
            let (mask, value) = (part(cube.mask), part(cube.value));
            let constant = |bits| Expr::constant(self.cell, bits);
            let kept = Expr::binary(BinaryOperator::And, Expr::local(self.cell, local), constant(mask));
            (mask != 0).then(|| Expr::binary(BinaryOperator::Unequal, kept, constant(value)))
        });
        cells.reduce(|x, y| Expr::binary(BinaryOperator::Or, x, y))
    }
}

/// Returns the bits of a segment that lie in a cell: their lowest bit in the cell, their lowest bit in the operand, and
/// how many there are.
fn overlap(segment: &Segment, cell_shift: u32, cell: Width) -> Option<(u32, u32, Width)> {
    let bottom = segment.shift.max(cell_shift);
    let top = (segment.shift + segment.width.bits()).min(cell_shift + cell.bits());
    let width = Width::new(u64::from(top.checked_sub(bottom)?))?;
    Some((bottom - cell_shift, segment.low + bottom - segment.shift, width))
}

/// Returns what the meaning sees for these bits: [`Field::value`], as an expression.
fn value_of(field: &Field, bits: Expr, location: Location) -> Expr {
    let Domain::Number(numeric) = &field.domain else { return bits };
    let width = location.width;
    let fit = |signed: bool| match signed {
        _ if bits.width.bits() > width.bits() => Expr::slice(bits.clone(), 0, width),
        true => Expr::sign_extend(width, bits.clone()),
        false => Expr::zero_extend(width, bits.clone()),
    };
    match numeric.target {
        None | Some(Target::Absolute(_)) => bits,
        Some(Target::Relative { back, from, .. }) => {
            let operator = if back { BinaryOperator::Subtract } else { BinaryOperator::Add };
            Expr::binary(operator, Expr::constant(width, location.of(from)), fit(numeric.signed))
        }
        Some(Target::Within(from)) => {
            let page = width.wrap(location.of(from) & !field.width.mask());
            Expr::binary(BinaryOperator::Or, Expr::constant(width, page), fit(false))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = r#"
machine fields "Every way a number can name something"
memory ram : u16 -> u8
pc pc : u16 in ram
register a : u16
field N : u8
field S : s8
field M : u16 address
field F : u8 from next
field G : s8 from pc
field P : u8 within next
field R : u8 back from next
instructions {
  n N | 0000 0000 NNNNNNNN | a = zext(N)
  s S | 0000 0001 SSSSSSSS | a = sext(S)
  m M | 0000 0010 {M}      | pc = M
  f F | 0000 0011 FFFFFFFF | pc = F
  g G | 0000 0100 GGGGGGGG | pc = G
  r R | 0000 0101 RRRRRRRR | pc = R
  p P | 0000 0110 PPPPPPPP | pc = P
}
"#;

    fn isa() -> Isa {
        let loaded = lathe_isa::load(MACHINE);
        loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
    }

    #[test]
    fn values_are_those_of_the_fields() {
        let isa = isa();
        let width = isa.pc.width;
        for (field, pc) in isa.fields.iter().flat_map(|field| [0, 2, 0x1234, 0xFFFE].map(|pc| (field, pc))) {
            let location = Location { pc, next: width.wrap(pc + 2), width };
            for bits in 0..=field.width.mask() {
                let value = value_of(field, Expr::constant(field.width, bits), location);
                assert_eq!(value.as_constant(), Some(field.value(bits, location)), "{} {bits:#x}", field.name);
            }
        }
    }

    #[test]
    fn numbers_are_read_and_opcodes_compared() {
        let isa = isa();
        let window = lathe_isa::encoding::window([3, 7], isa.code_memory().cell);
        let decoded = isa.decode(window).expect("a row fits");
        let location = Location { pc: 0, next: 2, width: isa.pc.width };
        let live = |cells: &[u32]| {
            let mut live = Cells::default();
            cells.iter().for_each(|cell| live.insert(*cell));
            live
        };
        assert_eq!(guarded_bits(&isa, &decoded, live(&[1])), 0);
        assert_eq!(guarded_bits(&isa, &decoded, live(&[0, 1])), 0xFF << 120);
        let number = patched(&isa, &decoded, location, window, live(&[1])).block;
        assert!(matches!(number[..], [Statement::Load { .. }, Statement::Jump(_)]), "{number:?}");
        let opcode = patched(&isa, &decoded, location, window, live(&[0])).block;
        assert!(matches!(opcode[..], [Statement::Load { .. }, Statement::If { .. }, Statement::Jump(_)]), "{opcode:?}");
    }
}
