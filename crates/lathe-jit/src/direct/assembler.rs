//! Encodes the x86-64 instructions that this compiler uses, each in one form.

use crate::emit::Type;

/// A host register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub(super) u8);

impl Reg {
    pub(super) const RAX: Reg = Reg(0);
    pub(super) const RCX: Reg = Reg(1);
    pub(super) const RDX: Reg = Reg(2);
    pub(super) const RBX: Reg = Reg(3);
    pub(super) const RSP: Reg = Reg(4);
    pub(super) const RBP: Reg = Reg(5);
    pub(super) const RSI: Reg = Reg(6);
    pub(super) const RDI: Reg = Reg(7);
    pub(super) const R8: Reg = Reg(8);
    pub(super) const R12: Reg = Reg(12);
    pub(super) const R13: Reg = Reg(13);
    pub(super) const R14: Reg = Reg(14);
    pub(super) const R15: Reg = Reg(15);

    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A place in host memory: a base, perhaps an index times a power of two, and a displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: Reg,
    /// The index, which cannot be `rsp`, and the exponent.
    pub(super) index: Option<(Reg, u8)>,
    pub(super) distance: i32,
}

impl Place {
    pub(super) fn at(base: Reg, distance: i32) -> Place {
        Place { base, index: None, distance }
    }
}

/// The operand of an instruction besides its register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Reg(Reg),
    Place(Place),
}

/// Operations on two operands that set flags, by their x86 number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Subtract = 5,
    Xor = 6,
    Compare = 7,
}

/// Shifts, by their x86 number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    Left = 4,
    Right = 5,
    RightSigned = 7,
}

/// Operations on one operand, by their x86 number. The last two divide `rdx:rax`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unary {
    Not = 2,
    Negate = 3,
    Divide = 6,
    DivideSigned = 7,
}

/// Conditions of the flags, by their x86 number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flags {
    Below = 2,
    AboveOrEqual = 3,
    Equal = 4,
    Unequal = 5,
    BelowOrEqual = 6,
    Above = 7,
    Less = 12,
    GreaterOrEqual = 13,
    LessOrEqual = 14,
    Greater = 15,
}

impl Flags {
    /// Returns the opposite condition.
    pub(super) fn negated(self) -> Flags {
        match self {
            Flags::Below => Flags::AboveOrEqual,
            Flags::AboveOrEqual => Flags::Below,
            Flags::Equal => Flags::Unequal,
            Flags::Unequal => Flags::Equal,
            Flags::BelowOrEqual => Flags::Above,
            Flags::Above => Flags::BelowOrEqual,
            Flags::Less => Flags::GreaterOrEqual,
            Flags::GreaterOrEqual => Flags::Less,
            Flags::LessOrEqual => Flags::Greater,
            Flags::Greater => Flags::LessOrEqual,
        }
    }

    /// Whether the condition compares signed numbers.
    pub(super) fn is_signed(self) -> bool {
        matches!(self, Flags::Less | Flags::LessOrEqual | Flags::Greater | Flags::GreaterOrEqual)
    }

    /// Returns the condition for the same comparison with its operands exchanged.
    pub(super) fn exchanged(self) -> Flags {
        match self {
            Flags::Below => Flags::Above,
            Flags::AboveOrEqual => Flags::BelowOrEqual,
            Flags::BelowOrEqual => Flags::AboveOrEqual,
            Flags::Above => Flags::Below,
            Flags::Less => Flags::Greater,
            Flags::GreaterOrEqual => Flags::LessOrEqual,
            Flags::LessOrEqual => Flags::GreaterOrEqual,
            Flags::Greater => Flags::Less,
            Flags::Equal | Flags::Unequal => self,
        }
    }
}

/// Where code goes: rarely executed code comes after all other code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Usual = 0,
    Rare = 1,
}

/// A jump target in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(usize);

/// A relative distance of four bytes at an offset in a section, known only when all code is there.
struct Fixup {
    at: (Section, usize),
    to: Label,
    /// Where the distance is measured from: a label, or the end of the four bytes.
    from: Option<Label>,
}

/// Bytes of a jump instruction.
const JUMP: usize = 5;

/// Writes code.
#[derive(Default)]
pub(super) struct Assembler {
    code: [Vec<u8>; 2],
    is_rare: bool,
    labels: Vec<Option<(Section, usize)>>,
    fixups: Vec<Fixup>,
    /// The register whose value the flags tell to be zero or not.
    tested: Option<(Reg, Type)>,
    /// The last jump of the usual code; other code may follow it.
    last_jump: Option<Jump>,
}

/// A jump to a label: where it ends, the index of its fixup, and the labels placed at its end.
struct Jump {
    end: usize,
    fixup: usize,
    to: Label,
    behind: Vec<Label>,
}

impl Assembler {
    pub(super) fn section(&self) -> Section {
        if self.is_rare { Section::Rare } else { Section::Usual }
    }

    pub(super) fn set_section(&mut self, section: Section) {
        self.tested = None;
        self.is_rare = section == Section::Rare;
    }

    fn here(&self) -> (Section, usize) {
        (self.section(), self.code[self.section() as usize].len())
    }

    fn byte(&mut self, byte: u8) {
        self.code[usize::from(self.is_rare)].push(byte);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code[usize::from(self.is_rare)].extend_from_slice(bytes);
    }

    /// Creates a label, to be placed later.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label here. Removes a jump to the instruction that follows it.
    pub(super) fn place(&mut self, label: Label) {
        self.tested = None;
        if !self.is_rare
            && let Some(mut jump) = self.last_jump.take_if(|jump| jump.end == self.code[0].len())
        {
            if jump.to == label {
                self.fixups.remove(jump.fixup);
                self.code[0].truncate(jump.end - JUMP);
                jump.behind.iter().for_each(|label| self.labels[label.0] = Some(self.here()));
            } else {
                jump.behind.push(label);
                self.last_jump = Some(jump);
            }
        }
        self.labels[label.0] = Some(self.here());
    }

    /// Whether the flags already tell whether the value of a register is zero. Above 32 bits there are zeros.
    pub(super) fn is_tested(&self, ty: Type, x: Reg) -> bool {
        self.tested.is_some_and(|(reg, tested)| reg == x && (tested == Type::I32 || ty == Type::I64))
    }

    /// Notes that an instruction has written a register and left the flags unchanged.
    fn is_written(&mut self, to: Reg) {
        self.tested = self.tested.filter(|(reg, _)| *reg != to);
    }

    fn distance(&mut self, to: Label, from: Option<Label>) {
        self.fixups.push(Fixup { at: self.here(), to, from });
        self.bytes(&[0; 4]);
    }

    /// Encodes an instruction: prefixes, opcode, a register or number, and an operand.
    fn instruction(&mut self, wide: bool, bytes: bool, opcode: &[u8], reg: u8, operand: Operand) {
        let (index, base) = match operand {
            Operand::Reg(reg) => (0, reg.0),
            Operand::Place(place) => (place.index.map_or(0, |(index, _)| index.0), place.base.0),
        };
        let rex = u8::from(wide) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
        // Without a prefix, the low bytes of four registers would be other bytes.
        if rex != 0 || bytes {
            self.byte(0x40 | rex);
        }
        self.bytes(opcode);
        let reg = (reg & 7) << 3;
        let place = match operand {
            Operand::Reg(other) => return self.byte(0xC0 | reg | other.0 & 7),
            Operand::Place(place) => place,
        };
        let base = place.base.0 & 7;
        let mode = match i8::try_from(place.distance) {
            // With `rbp` and `r13`, the encoding without displacement means something else.
            Ok(0) if base != Reg::RBP.0 => 0x00,
            Ok(_) => 0x40,
            Err(_) => 0x80,
        };
        match place.index {
            None if base != Reg::RSP.0 => self.byte(mode | reg | base),
            None => self.bytes(&[mode | reg | 4, 4 << 3 | base]),
            Some((index, power)) => self.bytes(&[mode | reg | 4, power << 6 | (index.0 & 7) << 3 | base]),
        }
        match mode {
            0x00 => {}
            0x40 => self.byte(place.distance as u8),
            _ => self.bytes(&place.distance.to_le_bytes()),
        }
    }

    fn is_wide(ty: Type) -> bool {
        ty == Type::I64
    }

    /// Does an operation on a register.
    pub(super) fn alu(&mut self, alu: Alu, ty: Type, to: Reg, from: Operand) {
        self.tested = (alu != Alu::Compare).then_some((to, ty));
        self.instruction(Self::is_wide(ty), false, &[(alu as u8) << 3 | 3], to.0, from);
    }

    /// Does an operation with a signed number.
    pub(super) fn alu_number(&mut self, alu: Alu, ty: Type, to: Operand, number: i32) {
        self.tested = match to {
            Operand::Reg(to) if alu != Alu::Compare => Some((to, ty)),
            _ => None,
        };
        match i8::try_from(number) {
            Ok(short) => {
                self.instruction(Self::is_wide(ty), false, &[0x83], alu as u8, to);
                self.byte(short as u8);
            }
            Err(_) => {
                self.instruction(Self::is_wide(ty), false, &[0x81], alu as u8, to);
                self.bytes(&number.to_le_bytes());
            }
        }
    }

    /// Sets the flags by the bits that two registers have in common.
    pub(super) fn test(&mut self, ty: Type, x: Reg, y: Reg) {
        self.tested = (x == y).then_some((x, ty));
        self.instruction(Self::is_wide(ty), false, &[0x85], y.0, Operand::Reg(x));
    }

    /// Sets the flags by the bits that memory and a register have in common.
    pub(super) fn test_place(&mut self, ty: Type, x: Place, y: Reg) {
        self.tested = None;
        self.instruction(Self::is_wide(ty), false, &[0x85], y.0, Operand::Place(x));
    }

    /// Sets the flags by some bits of an operand. For an operand of 64 bits, the number is sign-extended.
    pub(super) fn test_number(&mut self, ty: Type, x: Operand, number: i32) {
        self.tested = None;
        self.instruction(Self::is_wide(ty), false, &[0xF7], 0, x);
        self.bytes(&number.to_le_bytes());
    }

    /// Compares this many bytes with a number: one byte with any number, two with one that fits into a signed byte, and
    /// more with a signed number of 32 bits.
    pub(super) fn compare_place(&mut self, bytes: u32, place: Place, number: i32) {
        let place = Operand::Place(place);
        match bytes {
            1 => {
                self.tested = None;
                self.instruction(false, false, &[0x80], Alu::Compare as u8, place);
                self.byte(number as u8);
            }
            2 => {
                self.byte(0x66);
                self.alu_number(Alu::Compare, Type::I32, place, i32::from(number as i8));
            }
            4 => self.alu_number(Alu::Compare, Type::I32, place, number),
            _ => self.alu_number(Alu::Compare, Type::I64, place, number),
        }
    }

    pub(super) fn unary(&mut self, unary: Unary, ty: Type, x: Reg) {
        self.tested = (unary == Unary::Negate).then_some((x, ty));
        self.instruction(Self::is_wide(ty), false, &[0xF7], unary as u8, Operand::Reg(x));
    }

    pub(super) fn shift_number(&mut self, shift: Shift, ty: Type, x: Reg, count: u8) {
        // A shift by zero leaves the flags unchanged.
        self.tested = (count != 0).then_some((x, ty));
        self.instruction(Self::is_wide(ty), false, &[0xC1], shift as u8, Operand::Reg(x));
        self.byte(count);
    }

    /// Shifts by the count in `cl`.
    pub(super) fn shift(&mut self, shift: Shift, ty: Type, x: Reg) {
        self.tested = None;
        self.instruction(Self::is_wide(ty), false, &[0xD3], shift as u8, Operand::Reg(x));
    }

    pub(super) fn multiply(&mut self, ty: Type, to: Reg, from: Reg) {
        self.tested = None;
        self.instruction(Self::is_wide(ty), false, &[0x0F, 0xAF], to.0, Operand::Reg(from));
    }

    pub(super) fn multiply_number(&mut self, ty: Type, to: Reg, from: Reg, number: i32) {
        self.tested = None;
        self.instruction(Self::is_wide(ty), false, &[0x69], to.0, Operand::Reg(from));
        self.bytes(&number.to_le_bytes());
    }

    /// Fills `rdx` with the sign of `rax`.
    pub(super) fn sign_into_rdx(&mut self, ty: Type) {
        self.is_written(Reg::RDX);
        if Self::is_wide(ty) {
            self.byte(0x48);
        }
        self.byte(0x99);
    }

    pub(super) fn swap(&mut self, ty: Type, x: Reg) {
        self.is_written(x);
        let rex = u8::from(Self::is_wide(ty)) << 3 | x.0 >> 3;
        if rex != 0 {
            self.byte(0x40 | rex);
        }
        self.bytes(&[0x0F, 0xC8 | x.0 & 7]);
    }

    pub(super) fn copy(&mut self, ty: Type, to: Reg, from: Reg) {
        self.is_written(to);
        self.instruction(Self::is_wide(ty), false, &[0x8B], to.0, Operand::Reg(from));
    }

    pub(super) fn number(&mut self, to: Reg, number: u64) {
        self.is_written(to);
        if let Ok(number) = u32::try_from(number) {
            if to.0 >= 8 {
                self.byte(0x41);
            }
            self.byte(0xB8 | to.0 & 7);
            return self.bytes(&number.to_le_bytes());
        }
        if let Ok(number) = i32::try_from(number as i64) {
            self.instruction(true, false, &[0xC7], 0, Operand::Reg(to));
            return self.bytes(&number.to_le_bytes());
        }
        self.bytes(&[0x48 | to.0 >> 3, 0xB8 | to.0 & 7]);
        self.bytes(&number.to_le_bytes());
    }

    /// Computes the address of a place.
    pub(super) fn address(&mut self, ty: Type, to: Reg, of: Place) {
        self.is_written(to);
        self.instruction(Self::is_wide(ty), false, &[0x8D], to.0, Operand::Place(of));
    }

    /// Computes the address of a label.
    pub(super) fn address_of_label(&mut self, to: Reg, label: Label) {
        self.is_written(to);
        self.bytes(&[0x48 | (to.0 >> 3) << 2, 0x8D, 0x05 | (to.0 & 7) << 3]);
        self.distance(label, None);
    }

    /// Loads this many bytes, zero-extended.
    pub(super) fn load(&mut self, bytes: u32, to: Reg, from: Operand) {
        self.is_written(to);
        match bytes {
            1 => self.instruction(false, true, &[0x0F, 0xB6], to.0, from),
            2 => self.instruction(false, false, &[0x0F, 0xB7], to.0, from),
            4 => self.instruction(false, false, &[0x8B], to.0, from),
            _ => self.instruction(true, false, &[0x8B], to.0, from),
        }
    }

    /// Loads four bytes, sign-extended.
    pub(super) fn load_signed(&mut self, to: Reg, from: Operand) {
        self.is_written(to);
        self.instruction(true, false, &[0x63], to.0, from);
    }

    /// Stores the low bytes of a register.
    pub(super) fn store(&mut self, bytes: u32, to: Place, from: Reg) {
        let to = Operand::Place(to);
        match bytes {
            1 => self.instruction(false, true, &[0x88], from.0, to),
            2 => {
                self.byte(0x66);
                self.instruction(false, false, &[0x89], from.0, to);
            }
            _ => self.instruction(bytes == 8, false, &[0x89], from.0, to),
        }
    }

    /// Stores the low bytes of a signed number.
    pub(super) fn store_number(&mut self, bytes: u32, to: Place, number: i32) {
        let to = Operand::Place(to);
        match bytes {
            1 => {
                self.instruction(false, false, &[0xC6], 0, to);
                self.byte(number as u8);
            }
            2 => {
                self.byte(0x66);
                self.instruction(false, false, &[0xC7], 0, to);
                self.bytes(&(number as u16).to_le_bytes());
            }
            _ => {
                self.instruction(bytes == 8, false, &[0xC7], 0, to);
                self.bytes(&number.to_le_bytes());
            }
        }
    }

    /// Sets the low byte of a register to 1 if the condition holds, else to 0.
    pub(super) fn set(&mut self, flags: Flags, to: Reg) {
        self.is_written(to);
        self.instruction(false, true, &[0x0F, 0x90 | flags as u8], 0, Operand::Reg(to));
    }

    /// Copies a register if the condition holds.
    pub(super) fn copy_if(&mut self, flags: Flags, ty: Type, to: Reg, from: Reg) {
        self.is_written(to);
        self.instruction(Self::is_wide(ty), false, &[0x0F, 0x40 | flags as u8], to.0, Operand::Reg(from));
    }

    pub(super) fn jump_if(&mut self, flags: Flags, to: Label) {
        self.bytes(&[0x0F, 0x80 | flags as u8]);
        self.distance(to, None);
    }

    pub(super) fn jump(&mut self, to: Label) {
        self.byte(0xE9);
        self.distance(to, None);
        if !self.is_rare {
            let (end, fixup) = (self.code[0].len(), self.fixups.len() - 1);
            self.last_jump = Some(Jump { end, fixup, to, behind: Vec::new() });
        }
    }

    pub(super) fn jump_to_register(&mut self, to: Reg) {
        self.instruction(false, false, &[0xFF], 4, Operand::Reg(to));
    }

    pub(super) fn push(&mut self, x: Reg) {
        self.push_or_pop(0x50, x);
    }

    pub(super) fn pop(&mut self, x: Reg) {
        self.is_written(x);
        self.push_or_pop(0x58, x);
    }

    fn push_or_pop(&mut self, opcode: u8, x: Reg) {
        if x.0 >= 8 {
            self.byte(0x41);
        }
        self.byte(opcode | x.0 & 7);
    }

    /// Adds a number, to be filled in later, to a register.
    pub(super) fn add_later(&mut self, to: Reg) -> Later {
        self.tested = None;
        self.instruction(true, false, &[0x81], Alu::Add as u8, Operand::Reg(to));
        let later = Later(self.here());
        self.bytes(&[0; 4]);
        later
    }

    pub(super) fn tell(&mut self, later: Later, number: i32) {
        let Later((section, at)) = later;
        self.code[section as usize][at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    pub(super) fn leave(&mut self) {
        self.byte(0xC3);
    }

    /// Writes a table of the distances of labels from another label, four bytes each.
    pub(super) fn table(&mut self, from: Label, labels: &[Label]) {
        labels.iter().for_each(|label| self.distance(*label, Some(from)));
    }

    /// Returns all code, and the offsets of some labels in it.
    pub(super) fn finish(self, wanted: &[Label]) -> (Vec<u8>, Vec<u32>) {
        let [mut code, rare] = self.code;
        let usual = code.len();
        code.extend(rare);
        let offset = |(section, at): (Section, usize)| if section == Section::Rare { usual + at } else { at };
        let place = |label: Label| offset(self.labels[label.0].expect("a label that is used is placed"));
        let found = wanted.iter().map(|label| place(*label) as u32).collect();
        for Fixup { at, to, from } in self.fixups {
            let at = offset(at);
            let from = from.map_or(at + 4, place);
            let distance = place(to).wrapping_sub(from) as i32;
            code[at..at + 4].copy_from_slice(&distance.to_le_bytes());
        }
        (code, found)
    }
}

/// The place of a number to be filled in later.
#[derive(Clone, Copy)]
pub(super) struct Later((Section, usize));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_to_what_follows_is_left_out_and_labels_behind_it_move() {
        let mut assembler = Assembler::default();
        let [behind, target, away] = [(); 3].map(|()| assembler.label());
        assembler.jump_if(Flags::Equal, behind);
        assembler.jump(target);
        assembler.place(behind);
        assembler.place(target);
        assembler.jump(away);
        assembler.leave();
        assembler.place(away);
        let (code, places) = assembler.finish(&[behind, target, away]);
        assert_eq!(places, [6, 6, 12]);
        assert_eq!(code, [0x0F, 0x84, 0, 0, 0, 0, 0xE9, 1, 0, 0, 0, 0xC3], "only a jump over something stays");
    }
}
