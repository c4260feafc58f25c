//! The reference model of `duo16`: 16-bit registers with byte views, flags,
//! traps, variable length, and a memory-mapped console.
//!
//! For comparison with another implementation; not an assembler, and not a table of instructions to generate anything
//! from. No device but the console is attached.

use crate::{Console, Fault, Model, Outcome, Trace, no_such_memory, no_such_register, zeroed_ram};

// Numbers of the wide registers that some instructions use implicitly.
const R1: usize = 1;
const R10: usize = 10;
const RS: usize = 11;
const RL: usize = 12;
const RB: usize = 13;
const RP: usize = 14;
const RH: usize = 15;

/// The console's data cell.
const CONSOLE_DATA: u16 = 0xFFE0;
/// The console's status cell.
const CONSOLE_STATUS: u16 = 0xFFE1;
/// The cells where boards may put devices; there are none here.
const NO_DEVICE_FIRST: u16 = 0xFFE2;
const NO_DEVICE_LAST: u16 = 0xFFFF;

/// A reason why an instruction traps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trap {
    Halt,
    InvalidInstruction,
    DivisionByZero,
    StrayReth,
}

impl Trap {
    fn number(self) -> u16 {
        match self {
            Trap::Halt => 0,
            Trap::InvalidInstruction => 1,
            Trap::DivisionByZero => 2,
            Trap::StrayReth => 3,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Registers {
    pc: u16,
    /// r0…r10, rs, rl, rb, rp, rh by their numbers; r0 stays 0.
    wide: [u16; 16],
    zero: bool,
    sign: bool,
    overflow: bool,
    carry: bool,
    trap: bool,
}

/// The `duo16` machine.
pub struct Duo16 {
    reg: Registers,
    ram: Box<[u8; 65536]>,
    trace: Trace,
}

impl Default for Duo16 {
    /// The machine at reset.
    fn default() -> Self {
        let mut reg = Registers::default();
        reg.wide[RS] = 0xFFE0;
        reg.wide[RB] = 0xFFE0;
        Duo16 { reg, ram: zeroed_ram(), trace: Trace::new() }
    }
}

/// The number of a wide register by its name; `r0` is not state.
fn number(name: &str) -> usize {
    match name {
        "r1" => 1,
        "r2" => 2,
        "r3" => 3,
        "r4" => 4,
        "r5" => 5,
        "r6" => 6,
        "r7" => 7,
        "r8" => 8,
        "r9" => 9,
        "r10" => 10,
        "rs" => RS,
        "rl" => RL,
        "rb" => RB,
        "rp" => RP,
        "rh" => RH,
        _ => no_such_register("duo16", name),
    }
}

/// Registers.
impl Duo16 {
    fn wide(&self, r: usize) -> u16 {
        self.reg.wide[r]
    }

    /// `r0` ignores writes.
    fn set_wide(&mut self, r: usize, value: u16) {
        if r != 0 {
            self.reg.wide[r] = value;
        }
    }

    fn byte(&self, r: usize) -> u8 {
        match r {
            // r0b
            0 => 0,
            // r1l, r2l, r3l, r4l, r5l
            1 | 3 | 5 | 7 | 9 => low(self.wide(r.div_ceil(2))),
            // r1h, r2h, r3h, r4h, r5h
            2 | 4 | 6 | 8 | 10 => high(self.wide(r / 2)),
            // r6b … r10b are b … f
            _ => low(self.wide(r - 5)),
        }
    }

    fn set_byte(&mut self, r: usize, value: u8) {
        match r {
            0 => {}
            // the other half stays
            1 | 3 | 5 | 7 | 9 => {
                let w = r.div_ceil(2);
                self.set_wide(w, u16::from_le_bytes([value, high(self.wide(w))]));
            }
            2 | 4 | 6 | 8 | 10 => {
                let w = r / 2;
                self.set_wide(w, u16::from_le_bytes([low(self.wide(w)), value]));
            }
            // the high half is cleared
            _ => self.set_wide(r - 5, u16::from(value)),
        }
    }
}

fn low(wide: u16) -> u8 {
    wide as u8
}

fn high(wide: u16) -> u8 {
    (wide >> 8) as u8
}

/// Instruction fetch: raw memory, never a device.
impl Duo16 {
    /// The next byte of the instruction; `pc` moves past it.
    fn fetch_byte(&mut self) -> u8 {
        let byte = self.ram[usize::from(self.reg.pc)];
        self.reg.pc = self.reg.pc.wrapping_add(1);
        byte
    }

    fn fetch_wide(&mut self) -> u16 {
        let first = self.fetch_byte();
        let second = self.fetch_byte();
        u16::from_le_bytes([first, second])
    }

    /// Two four-bit operands, the first in the high half.
    fn fetch_two(&mut self) -> (usize, usize) {
        let byte = self.fetch_byte();
        (usize::from(byte >> 4), usize::from(byte & 0x0F))
    }

    /// One register operand; the four padding bits of its byte must be zero.
    fn fetch_one(&mut self) -> Result<usize, Trap> {
        match self.fetch_two() {
            (r, 0) => Ok(r),
            _ => Err(Trap::InvalidInstruction),
        }
    }

    /// Three register operands; the four padding bits must be zero.
    fn fetch_three(&mut self) -> Result<(usize, usize, usize), Trap> {
        let (r1, r2) = self.fetch_two();
        let r3 = self.fetch_one()?;
        Ok((r1, r2, r3))
    }

    /// `br1, br2, br3`: the number of the first, the values of the others.
    fn fetch_three_bytes(&mut self) -> Result<(usize, u8, u8), Trap> {
        let (r1, r2, r3) = self.fetch_three()?;
        Ok((r1, self.byte(r2), self.byte(r3)))
    }

    /// `wr1, wr2, wr3`: the number of the first, the values of the others.
    fn fetch_three_wides(&mut self) -> Result<(usize, u16, u16), Trap> {
        let (r1, r2, r3) = self.fetch_three()?;
        Ok((r1, self.wide(r2), self.wide(r3)))
    }

    /// `r1, r2, r3, r4`.
    fn fetch_four(&mut self) -> (usize, usize, usize, usize) {
        let (r1, r2) = self.fetch_two();
        let (r3, r4) = self.fetch_two();
        (r1, r2, r3, r4)
    }
}

/// Memory, with the console in it.
impl Duo16 {
    fn load_byte(&mut self, address: u16, console: &mut Console) -> u8 {
        match address {
            CONSOLE_DATA => {
                self.trace.io = true;
                console.read()
            }
            CONSOLE_STATUS => {
                self.trace.io = true;
                u8::from(!console.input.is_empty())
            }
            NO_DEVICE_FIRST..=NO_DEVICE_LAST => 0,
            _ => self.ram[usize::from(address)],
        }
    }

    fn store_byte(&mut self, address: u16, value: u8, console: &mut Console) {
        match address {
            CONSOLE_DATA => {
                self.trace.io = true;
                console.write(value);
            }
            // the status cannot be written
            CONSOLE_STATUS => self.trace.io = true,
            NO_DEVICE_FIRST..=NO_DEVICE_LAST => {}
            _ => {
                let cell = &mut self.ram[usize::from(address)];
                self.trace.store(0, address, cell, value);
            }
        }
    }

    /// Two byte accesses, low address first.
    fn load_wide(&mut self, address: u16, console: &mut Console) -> u16 {
        let first = self.load_byte(address, console);
        let second = self.load_byte(address.wrapping_add(1), console);
        u16::from_le_bytes([first, second])
    }

    /// Two byte accesses, low address first.
    fn store_wide(&mut self, address: u16, value: u16, console: &mut Console) {
        self.store_byte(address, low(value), console);
        self.store_byte(address.wrapping_add(1), high(value), console);
    }

    fn push_byte(&mut self, value: u8, console: &mut Console) {
        self.reg.wide[RS] = self.wide(RS).wrapping_sub(1);
        self.store_byte(self.wide(RS), value, console);
    }

    fn push_wide(&mut self, value: u16, console: &mut Console) {
        self.reg.wide[RS] = self.wide(RS).wrapping_sub(2);
        self.store_wide(self.wide(RS), value, console);
    }

    fn pop_byte(&mut self, console: &mut Console) -> u8 {
        let value = self.load_byte(self.wide(RS), console);
        self.reg.wide[RS] = self.wide(RS).wrapping_add(1);
        value
    }

    fn pop_wide(&mut self, console: &mut Console) -> u16 {
        let value = self.load_wide(self.wide(RS), console);
        self.reg.wide[RS] = self.wide(RS).wrapping_add(2);
        value
    }
}

/// Arithmetic: each function sets the flags and writes the result.
impl Duo16 {
    fn finish_byte(&mut self, r: usize, result: u8, carry: bool, overflow: bool) {
        self.reg.zero = result == 0;
        self.reg.sign = result & 0x80 != 0;
        self.reg.carry = carry;
        self.reg.overflow = overflow;
        self.set_byte(r, result);
    }

    fn finish_wide(&mut self, r: usize, result: u16, carry: bool, overflow: bool) {
        self.reg.zero = result == 0;
        self.reg.sign = result & 0x8000 != 0;
        self.reg.carry = carry;
        self.reg.overflow = overflow;
        self.set_wide(r, result);
    }

    fn add_byte(&mut self, r: usize, x: u8, y: u8) {
        let (result, carry) = x.overflowing_add(y);
        let (_, overflow) = (x as i8).overflowing_add(y as i8);
        self.finish_byte(r, result, carry, overflow);
    }

    fn add_wide(&mut self, r: usize, x: u16, y: u16) {
        let (result, carry) = x.overflowing_add(y);
        let (_, overflow) = (x as i16).overflowing_add(y as i16);
        self.finish_wide(r, result, carry, overflow);
    }

    fn sub_byte(&mut self, r: usize, x: u8, y: u8) {
        let (result, borrow) = x.overflowing_sub(y);
        let (_, overflow) = (x as i8).overflowing_sub(y as i8);
        self.finish_byte(r, result, borrow, overflow);
    }

    fn sub_wide(&mut self, r: usize, x: u16, y: u16) {
        let (result, borrow) = x.overflowing_sub(y);
        let (_, overflow) = (x as i16).overflowing_sub(y as i16);
        self.finish_wide(r, result, borrow, overflow);
    }

    /// and, or, xor and the shifts: carry = overflow = 0.
    fn logic_byte(&mut self, r: usize, result: u8) {
        self.finish_byte(r, result, false, false);
    }

    /// and, or, xor and the shifts: carry = overflow = 0.
    fn logic_wide(&mut self, r: usize, result: u16) {
        self.finish_wide(r, result, false, false);
    }

    /// `r1` gets the lower half, then `r2` the upper.
    fn mul_byte(&mut self, r1: usize, r2: usize, x: u8, y: u8) {
        let product = u16::from(x) * u16::from(y);
        let big = high(product) != 0;
        self.finish_byte(r1, low(product), big, big);
        self.set_byte(r2, high(product));
    }

    /// `r1` gets the lower half, then `r2` the upper.
    fn mul_wide(&mut self, r1: usize, r2: usize, x: u16, y: u16) {
        let product = u32::from(x) * u32::from(y);
        let upper = (product >> 16) as u16;
        let big = upper != 0;
        self.finish_wide(r1, product as u16, big, big);
        self.set_wide(r2, upper);
    }

    /// `r1` gets the quotient, then `r2` the remainder; no flag changes.
    fn div_byte(&mut self, r1: usize, r2: usize, x: u8, y: u8) -> Result<(), Trap> {
        if y == 0 {
            return Err(Trap::DivisionByZero);
        }
        self.set_byte(r1, x / y);
        self.set_byte(r2, x % y);
        Ok(())
    }

    /// `r1` gets the quotient, then `r2` the remainder; no flag changes.
    fn div_wide(&mut self, r1: usize, r2: usize, x: u16, y: u16) -> Result<(), Trap> {
        if y == 0 {
            return Err(Trap::DivisionByZero);
        }
        self.set_wide(r1, x / y);
        self.set_wide(r2, x % y);
        Ok(())
    }
}

/// Jumps and traps.
impl Duo16 {
    /// A jump to an immediate address, taken or not.
    fn jump_if(&mut self, condition: bool) {
        let target = self.fetch_wide();
        if condition {
            self.reg.pc = target;
        }
    }

    /// Opcode 40: `ldi wr, w`, `jmp w` and `jmp wr`.
    fn load_immediate_or_jump(&mut self) -> Result<(), Trap> {
        let (r, option) = self.fetch_two();
        let w = self.fetch_wide();
        match (r, option, w) {
            (_, 0, _) => self.set_wide(r, w),
            (0, 1, _) => self.reg.pc = w,
            (_, 1, 0) => self.reg.pc = self.wide(r),
            _ => return Err(Trap::InvalidInstruction),
        }
        Ok(())
    }

    fn flags_word(&self) -> u16 {
        u16::from(self.reg.zero) << 7
            | u16::from(self.reg.overflow) << 6
            | u16::from(self.reg.sign) << 5
            | u16::from(self.reg.carry) << 4
    }

    fn set_flags_word(&mut self, word: u16) {
        self.reg.zero = word & 0x80 != 0;
        self.reg.overflow = word & 0x40 != 0;
        self.reg.sign = word & 0x20 != 0;
        self.reg.carry = word & 0x10 != 0;
    }

    /// Takes a trap raised by the instruction at `here`; `pc` is already the
    /// next instruction's, and nothing else has been written.
    fn take_trap(&mut self, trap: Trap, here: u16, console: &mut Console) -> Outcome {
        if self.wide(RH) == 0 || self.reg.trap {
            return match trap {
                Trap::Halt => Outcome::Halted,
                _ => Outcome::Fault(Fault::UnhandledTrap(trap.number())),
            };
        }
        let saved_pc = match trap {
            Trap::InvalidInstruction => here,
            _ => self.reg.pc,
        };
        // Every value is the one from before the trap; that matters for rs.
        let before = self.reg.wide;
        self.push_wide(saved_pc, console);
        self.push_wide(self.flags_word(), console);
        for value in &before[R1..=R10] {
            self.push_wide(*value, console);
        }
        self.push_wide(before[RS], console);
        self.push_wide(before[RL], console);
        self.push_wide(before[RB], console);
        self.push_wide(before[RP], console);
        self.push_wide(before[RH], console);
        self.reg.trap = true;
        self.reg.wide[R1] = trap.number();
        self.reg.pc = before[RH];
        Outcome::Running
    }

    /// reth: pops what a trap pushed, in reverse.
    fn return_from_trap(&mut self, console: &mut Console) -> Result<(), Trap> {
        if !self.reg.trap {
            return Err(Trap::StrayReth);
        }
        self.reg.wide[RH] = self.pop_wide(console);
        self.reg.wide[RP] = self.pop_wide(console);
        self.reg.wide[RB] = self.pop_wide(console);
        self.reg.wide[RL] = self.pop_wide(console);
        let popped_rs = self.pop_wide(console);
        for r in (R1..=R10).rev() {
            self.reg.wide[r] = self.pop_wide(console);
        }
        let flags = self.pop_wide(console);
        self.set_flags_word(flags);
        self.reg.pc = self.pop_wide(console);
        self.reg.wide[RS] = popped_rs;
        self.reg.trap = false;
        Ok(())
    }
}

/// The instructions.
impl Duo16 {
    /// Executes the instruction at `pc`. When it traps, it has written nothing
    /// but `pc`.
    fn execute(&mut self, console: &mut Console) -> Result<(), Trap> {
        let Registers { zero, sign, overflow, carry, .. } = self.reg;
        match self.fetch_byte() {
            // halt
            0x0A => return Err(Trap::Halt),
            // ctf
            0x0B => self.reg.trap = false,
            // reth
            0x0D => self.return_from_trap(console)?,
            // nop
            0x20 => {}
            // push br
            0x21 => {
                let r = self.fetch_one()?;
                self.push_byte(self.byte(r), console);
            }
            // push wr
            0x22 => {
                let r = self.fetch_one()?;
                self.push_wide(self.wide(r), console);
            }
            // pop br
            0x23 => {
                let r = self.fetch_one()?;
                let value = self.pop_byte(console);
                self.set_byte(r, value);
            }
            // pop wr: `pop rs` leaves the popped value
            0x24 => {
                let r = self.fetch_one()?;
                let value = self.pop_wide(console);
                self.set_wide(r, value);
            }
            // call w
            0x25 => {
                let target = self.fetch_wide();
                self.reg.wide[RL] = self.reg.pc;
                self.reg.pc = target;
            }
            // ret b
            0x26 => {
                let b = self.fetch_byte();
                self.reg.wide[RS] = self.wide(RS).wrapping_add(u16::from(b));
                self.reg.pc = self.wide(RL);
            }
            // store wr1, w, br2
            0x27 => {
                let (r1, r2) = self.fetch_two();
                let w = self.fetch_wide();
                self.store_byte(self.wide(r1).wrapping_add(w), self.byte(r2), console);
            }
            // store wr1, w, wr2
            0x28 => {
                let (r1, r2) = self.fetch_two();
                let w = self.fetch_wide();
                self.store_wide(self.wide(r1).wrapping_add(w), self.wide(r2), console);
            }
            // store wr1, wr2, br3
            0x29 => {
                let (r1, r2, r3) = self.fetch_three()?;
                let address = self.wide(r1).wrapping_add(self.wide(r2));
                self.store_byte(address, self.byte(r3), console);
            }
            // store wr1, wr2, wr3
            0x2A => {
                let (r1, r2, r3) = self.fetch_three()?;
                let address = self.wide(r1).wrapping_add(self.wide(r2));
                self.store_wide(address, self.wide(r3), console);
            }
            // load br1, wr2, w
            0x2B => {
                let (r1, r2) = self.fetch_two();
                let w = self.fetch_wide();
                let value = self.load_byte(self.wide(r2).wrapping_add(w), console);
                self.set_byte(r1, value);
            }
            // load wr1, wr2, w
            0x2C => {
                let (r1, r2) = self.fetch_two();
                let w = self.fetch_wide();
                let value = self.load_wide(self.wide(r2).wrapping_add(w), console);
                self.set_wide(r1, value);
            }
            // load br1, wr2, wr3
            0x2D => {
                let (r1, x, y) = self.fetch_three_wides()?;
                let value = self.load_byte(x.wrapping_add(y), console);
                self.set_byte(r1, value);
            }
            // load wr1, wr2, wr3
            0x2E => {
                let (r1, x, y) = self.fetch_three_wides()?;
                let value = self.load_wide(x.wrapping_add(y), console);
                self.set_wide(r1, value);
            }
            // jez
            0x2F => self.jump_if(zero),
            // jlt
            0x30 => self.jump_if(sign != overflow),
            // jle
            0x31 => self.jump_if(zero || sign != overflow),
            // jgt
            0x32 => self.jump_if(!zero && sign == overflow),
            // jge
            0x33 => self.jump_if(sign == overflow),
            // jnz
            0x34 => self.jump_if(!zero),
            // jo
            0x35 => self.jump_if(overflow),
            // jno
            0x36 => self.jump_if(!overflow),
            // jb, jc
            0x37 => self.jump_if(carry),
            // jae, jnc
            0x38 => self.jump_if(!carry),
            // ja
            0x39 => self.jump_if(!carry && !zero),
            // jbe
            0x3A => self.jump_if(carry || zero),
            // ldi br, b
            0x3F => {
                let r = self.fetch_one()?;
                let b = self.fetch_byte();
                self.set_byte(r, b);
            }
            // ldi wr, w and the unconditional jumps
            0x40 => self.load_immediate_or_jump()?,
            // add br
            0x41 => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.add_byte(r1, x, y);
            }
            // add wr
            0x42 => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.add_wide(r1, x, y);
            }
            // sub br
            0x43 => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.sub_byte(r1, x, y);
            }
            // sub wr
            0x44 => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.sub_wide(r1, x, y);
            }
            // and br
            0x45 => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, x & y);
            }
            // and wr
            0x46 => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, x & y);
            }
            // or br
            0x47 => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, x | y);
            }
            // or wr
            0x48 => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, x | y);
            }
            // xor br
            0x49 => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, x ^ y);
            }
            // xor wr
            0x4A => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, x ^ y);
            }
            // shl br
            0x4B => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, x << (y % 8));
            }
            // shl wr
            0x4C => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, x << (y % 16));
            }
            // asr br
            0x4D => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, ((x as i8) >> (y % 8)) as u8);
            }
            // asr wr
            0x4E => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, ((x as i16) >> (y % 16)) as u16);
            }
            // lsr br
            0x4F => {
                let (r1, x, y) = self.fetch_three_bytes()?;
                self.logic_byte(r1, x >> (y % 8));
            }
            // lsr wr
            0x50 => {
                let (r1, x, y) = self.fetch_three_wides()?;
                self.logic_wide(r1, x >> (y % 16));
            }
            // div br
            0x51 => {
                let (r1, r2, r3, r4) = self.fetch_four();
                self.div_byte(r1, r2, self.byte(r3), self.byte(r4))?;
            }
            // div wr
            0x52 => {
                let (r1, r2, r3, r4) = self.fetch_four();
                self.div_wide(r1, r2, self.wide(r3), self.wide(r4))?;
            }
            // mul br
            0x53 => {
                let (r1, r2, r3, r4) = self.fetch_four();
                self.mul_byte(r1, r2, self.byte(r3), self.byte(r4));
            }
            // mul wr
            0x54 => {
                let (r1, r2, r3, r4) = self.fetch_four();
                self.mul_wide(r1, r2, self.wide(r3), self.wide(r4));
            }
            // null and all opcodes not mentioned
            0x00..=0x09 | 0x0C | 0x0E..=0x1F | 0x3B..=0x3E | 0x55..=0xFF => {
                return Err(Trap::InvalidInstruction);
            }
        }
        Ok(())
    }
}

impl Model for Duo16 {
    fn name(&self) -> &'static str {
        "duo16"
    }

    fn registers(&self) -> &'static [(&'static str, u32)] {
        &[
            ("pc", 16),
            ("r1", 16),
            ("r2", 16),
            ("r3", 16),
            ("r4", 16),
            ("r5", 16),
            ("r6", 16),
            ("r7", 16),
            ("r8", 16),
            ("r9", 16),
            ("r10", 16),
            ("rs", 16),
            ("rl", 16),
            ("rb", 16),
            ("rp", 16),
            ("rh", 16),
            ("zero", 1),
            ("sign", 1),
            ("overflow", 1),
            ("carry", 1),
            ("trap", 1),
        ]
    }

    fn register(&self, name: &str) -> u64 {
        match name {
            "pc" => self.reg.pc.into(),
            "zero" => self.reg.zero.into(),
            "sign" => self.reg.sign.into(),
            "overflow" => self.reg.overflow.into(),
            "carry" => self.reg.carry.into(),
            "trap" => self.reg.trap.into(),
            _ => self.wide(number(name)).into(),
        }
    }

    fn set_register(&mut self, name: &str, value: u64) {
        let bit = value & 1 == 1;
        match name {
            "pc" => self.reg.pc = value as u16,
            "zero" => self.reg.zero = bit,
            "sign" => self.reg.sign = bit,
            "overflow" => self.reg.overflow = bit,
            "carry" => self.reg.carry = bit,
            "trap" => self.reg.trap = bit,
            _ => self.set_wide(number(name), value as u16),
        }
    }

    fn memories(&self) -> &'static [(&'static str, usize)] {
        &[("ram", 65536)]
    }

    fn memory(&self, name: &str) -> &[u8] {
        match name {
            "ram" => &self.ram[..],
            _ => no_such_memory("duo16", name),
        }
    }

    fn memory_mut(&mut self, name: &str) -> &mut [u8] {
        match name {
            "ram" => &mut self.ram[..],
            _ => no_such_memory("duo16", name),
        }
    }

    fn step(&mut self, console: &mut Console) -> Outcome {
        let before = self.reg;
        self.trace.begin();
        let outcome = match self.execute(console) {
            Ok(()) => Outcome::Running,
            Err(trap) => self.take_trap(trap, before.pc, console),
        };
        match outcome {
            Outcome::Running if self.reg == before && self.trace.is_quiet() => Outcome::Halted,
            Outcome::Fault(fault) => {
                self.reg = before;
                Outcome::Fault(fault)
            }
            outcome => outcome,
        }
    }

    fn touched(&self) -> &[(usize, u16)] {
        &self.trace.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with `program` at `pc`, ready to run it.
    fn at(pc: u16, program: &[u8]) -> Duo16 {
        let mut m = Duo16::default();
        m.reg.pc = pc;
        for (i, byte) in program.iter().enumerate() {
            m.ram[usize::from(pc.wrapping_add(i as u16))] = *byte;
        }
        m
    }

    fn step(m: &mut Duo16) -> Outcome {
        m.step(&mut Console::default())
    }

    /// zero, sign, overflow, carry, as a string of those set.
    fn flags(m: &Duo16) -> String {
        let all = [(m.reg.zero, 'Z'), (m.reg.sign, 'S'), (m.reg.overflow, 'O'), (m.reg.carry, 'C')];
        all.iter().filter(|(set, _)| *set).map(|(_, c)| c).collect()
    }

    fn wide_at(m: &Duo16, address: usize) -> u16 {
        u16::from_le_bytes([m.ram[address], m.ram[address + 1]])
    }

    #[test]
    fn reset_rs_and_rb_are_ffe0() {
        let m = Duo16::default();
        for (name, _) in m.registers() {
            let expected = if ["rs", "rb"].contains(name) { 0xFFE0 } else { 0 };
            assert_eq!(m.register(name), expected, "{name}");
        }
    }

    #[test]
    fn store_r1_4_r2l_is_27_13_04_00() {
        let mut m = at(0, &[0x27, 0x13, 0x04, 0x00]);
        m.reg.wide[1] = 0x1000;
        m.reg.wide[2] = 0xAABB;
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.ram[0x1004], 0xBB);
        assert_eq!(m.touched(), &[(0, 0x1004)]);
        assert_eq!(m.reg.pc, 4);
    }

    #[test]
    fn store_r1_r2_r3l_is_29_12_50_and_the_fill_must_be_zero() {
        let mut m = at(0, &[0x29, 0x12, 0x50]);
        m.reg.wide[1] = 0x1000;
        m.reg.wide[2] = 0xFFFF;
        m.reg.wide[3] = 0xAABB;
        step(&mut m);
        assert_eq!(m.ram[0x0FFF], 0xBB);
        assert_eq!(m.reg.pc, 3);
        let mut m = at(0, &[0x29, 0x12, 0x51]);
        assert_eq!(step(&mut m), Outcome::Fault(Fault::UnhandledTrap(1)));
        assert_eq!(m.reg.pc, 0);
        assert_eq!(m.touched(), &[]);
    }

    #[test]
    fn opcode_40_is_ldi_jmp_w_jmp_wr_or_invalid() {
        // ldi r3, 0x1234
        let mut m = at(0, &[0x40, 0x30, 0x34, 0x12]);
        step(&mut m);
        assert_eq!((m.reg.wide[3], m.reg.pc), (0x1234, 4));
        // ldi r0, 0x1234 does nothing
        let mut m = at(0, &[0x40, 0x00, 0x34, 0x12]);
        step(&mut m);
        assert_eq!((m.reg.wide[0], m.reg.pc), (0, 4));
        // jmp 0x1234
        let mut m = at(0, &[0x40, 0x01, 0x34, 0x12]);
        step(&mut m);
        assert_eq!(m.reg.pc, 0x1234);
        // jmp rl
        let mut m = at(0, &[0x40, 0xC1, 0x00, 0x00]);
        m.reg.wide[RL] = 0x4321;
        step(&mut m);
        assert_eq!(m.reg.pc, 0x4321);
        // anything else
        for bad in [[0x40, 0xC1, 0x00, 0x01], [0x40, 0xC2, 0, 0], [0x40, 0x02, 0, 0]] {
            let mut m = at(0, &bad);
            assert_eq!(step(&mut m), Outcome::Fault(Fault::UnhandledTrap(1)));
        }
    }

    #[test]
    fn writing_a_byte_view_leaves_the_other_half_or_clears_the_high_half() {
        let names = [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10];
        for (r, wide) in names.into_iter().enumerate() {
            // ldi br, 0x99
            let mut m = at(0, &[0x3F, (r as u8) << 4, 0x99]);
            for value in &mut m.reg.wide[1..=10] {
                *value = 0x1122;
            }
            step(&mut m);
            let expected = match r {
                0 => 0,
                1 | 3 | 5 | 7 | 9 => 0x1199,
                2 | 4 | 6 | 8 | 10 => 0x9922,
                _ => 0x0099,
            };
            assert_eq!(m.reg.wide[wide], expected, "{r}");
            assert_eq!(m.byte(r), if r == 0 { 0 } else { 0x99 });
        }
    }

    #[test]
    fn add_and_sub_set_carry_and_signed_overflow() {
        for (opcode, x, y, result, expected) in [
            (0x41, 0x7F, 0x01u8, 0x80, "SO"),
            (0x41, 0xFF, 0x01, 0x00, "ZC"),
            (0x41, 0x80, 0x80, 0x00, "ZOC"),
            (0x43, 0x00, 0x01, 0xFF, "SC"),
            (0x43, 0x80, 0x01, 0x7F, "O"),
            (0x43, 0x05, 0x05, 0x00, "Z"),
            (0x43, 0x7F, 0xFF, 0x80, "SOC"),
        ] {
            // op r1l, r1h, r2l
            let mut m = at(0, &[opcode, 0x12, 0x30]);
            m.reg.wide[1] = u16::from_le_bytes([0xEE, x]);
            m.reg.wide[2] = u16::from(y);
            step(&mut m);
            assert_eq!(m.reg.wide[1], u16::from_le_bytes([result, x]));
            assert_eq!(flags(&m), expected, "{opcode:02X} {x:02X} {y:02X}");
        }
        for (opcode, x, y, result, expected) in [
            (0x42, 0x7FFF, 0x0001, 0x8000, "SO"),
            (0x42, 0xFFFF, 0x0001, 0x0000, "ZC"),
            (0x44, 0x0080, 0x0001, 0x007F, ""),
            (0x44, 0x0000, 0x8000, 0x8000, "SOC"),
        ] {
            // op r9, r3, rp
            let mut m = at(0, &[opcode, 0x93, 0xE0]);
            m.reg.wide[3] = x;
            m.reg.wide[RP] = y;
            step(&mut m);
            assert_eq!(m.reg.wide[9], result);
            assert_eq!(flags(&m), expected, "{opcode:02X} {x:04X} {y:04X}");
        }
    }

    #[test]
    fn logic_and_shifts_clear_carry_and_overflow_and_the_count_is_modulo_the_width() {
        for (opcode, x, y, result, expected) in [
            (0x45, 0x0F, 0x35, 0x05, ""),
            (0x47, 0x8F, 0x35, 0xBF, "S"),
            (0x49, 0x35, 0x35, 0x00, "Z"),
            (0x4B, 0x81, 0x09, 0x02, ""),
            (0x4D, 0x84, 0x0A, 0xE1, "S"),
            (0x4F, 0x84, 0x0A, 0x21, ""),
            (0x4F, 0x84, 0x08, 0x84, "S"),
        ] {
            // op r6b, r7b, r8b
            let mut m = at(0, &[opcode, 0xBC, 0xD0]);
            m.reg.carry = true;
            m.reg.overflow = true;
            m.reg.wide[6] = 0x7777;
            m.reg.wide[7] = 0x5500 | x;
            m.reg.wide[8] = 0x5500 | y;
            step(&mut m);
            assert_eq!(m.reg.wide[6], result, "{opcode:02X}");
            assert_eq!(flags(&m), expected, "{opcode:02X}");
        }
        for (opcode, x, y, result, expected) in [
            (0x46, 0x0F0F, 0x3355, 0x0305, ""),
            (0x48, 0x8F0F, 0x3355, 0xBF5F, "S"),
            (0x4A, 0x3355, 0x3355, 0x0000, "Z"),
            (0x4C, 0x8001, 0x0014, 0x0010, ""),
            (0x4E, 0x8000, 0xFFFF, 0xFFFF, "S"),
            (0x50, 0x8000, 0x001F, 0x0001, ""),
        ] {
            // op r6, r7, r8
            let mut m = at(0, &[opcode, 0x67, 0x80]);
            m.reg.carry = true;
            m.reg.overflow = true;
            m.reg.wide[7] = x;
            m.reg.wide[8] = y;
            step(&mut m);
            assert_eq!(m.reg.wide[6], result, "{opcode:02X}");
            assert_eq!(flags(&m), expected, "{opcode:02X}");
        }
    }

    #[test]
    fn flags_come_from_the_result_even_when_r0_ignores_it() {
        // sub r0, r1, r2
        let mut m = at(0, &[0x44, 0x01, 0x20]);
        m.reg.wide[1] = 1;
        m.reg.wide[2] = 2;
        step(&mut m);
        assert_eq!(flags(&m), "SC");
        assert_eq!(m.reg.wide[0], 0);
    }

    #[test]
    fn jumps_take_the_stated_conditions() {
        for n in 0..16u8 {
            let (z, s, o, c) = (n & 8 != 0, n & 4 != 0, n & 2 != 0, n & 1 != 0);
            let taken = [
                (0x2F, z),
                (0x30, s ^ o),
                (0x31, z | (s ^ o)),
                (0x32, !(z | (s ^ o))),
                (0x33, !(s ^ o)),
                (0x34, !z),
                (0x35, o),
                (0x36, !o),
                (0x37, c),
                (0x38, !c),
                (0x39, !(c | z)),
                (0x3A, c | z),
            ];
            for (opcode, jumps) in taken {
                let mut m = at(0x100, &[opcode, 0x34, 0x12]);
                (m.reg.zero, m.reg.sign, m.reg.overflow, m.reg.carry) = (z, s, o, c);
                assert_eq!(step(&mut m), Outcome::Running);
                assert_eq!(m.reg.pc, if jumps { 0x1234 } else { 0x103 }, "{opcode:02X}");
            }
        }
    }

    #[test]
    fn mul_writes_the_lower_half_then_the_upper_and_flags_an_upper_half() {
        // mul r1l, r1h, r2l, r2h: 0x12 * 0x34 = 0x03A8
        let mut m = at(0, &[0x53, 0x12, 0x34]);
        m.reg.wide[2] = 0x3412;
        step(&mut m);
        assert_eq!(m.reg.wide[1], 0x03A8);
        assert_eq!(flags(&m), "SOC");
        // mul r1, r1, r2, r3: 0x1234 * 0x100 = 0x00123400, the upper stays
        let mut m = at(0, &[0x54, 0x11, 0x23]);
        m.reg.wide[2] = 0x1234;
        m.reg.wide[3] = 0x0100;
        step(&mut m);
        assert_eq!(m.reg.wide[1], 0x0012);
        assert_eq!(flags(&m), "OC");
        // mul r2, r3, r2, r3: operands are read first; zero is of the lower half
        let mut m = at(0, &[0x54, 0x23, 0x23]);
        m.reg.wide[2] = 0x8000;
        m.reg.wide[3] = 0x0002;
        step(&mut m);
        assert_eq!(m.reg.wide[2..4], [0x0000, 0x0001]);
        assert_eq!(flags(&m), "ZOC");
        // mul r6b, r6b: both clear the high half
        let mut m = at(0, &[0x53, 0xBB, 0x12]);
        m.reg.wide[1] = 0x0203;
        m.reg.wide[6] = 0x9999;
        step(&mut m);
        assert_eq!(m.reg.wide[6], 0x0000);
        assert_eq!(flags(&m), "");
    }

    #[test]
    fn div_writes_the_quotient_then_the_remainder_and_no_flags() {
        // div r1, r1, r2, r3: 100 / 7 = 14 rest 2
        let mut m = at(0, &[0x52, 0x11, 0x23]);
        m.reg.wide[2] = 100;
        m.reg.wide[3] = 7;
        (m.reg.zero, m.reg.carry) = (true, true);
        step(&mut m);
        assert_eq!(m.reg.wide[1], 2);
        assert_eq!(flags(&m), "ZC");
        // div r1l, r1h, r1l, r1h: 0xC8 / 7, unsigned
        let mut m = at(0, &[0x51, 0x12, 0x12]);
        m.reg.wide[1] = 0x07C8;
        step(&mut m);
        assert_eq!(m.reg.wide[1], 0x041C);
    }

    #[test]
    fn push_rs_pushes_the_value_before_and_pop_rs_leaves_the_popped_value() {
        // push rs; pop rs
        let mut m = at(0, &[0x22, 0xB0, 0x24, 0xB0]);
        m.reg.wide[RS] = 0x8000;
        step(&mut m);
        assert_eq!(m.reg.wide[RS], 0x7FFE);
        assert_eq!(wide_at(&m, 0x7FFE), 0x8000);
        m.ram[0x7FFE] = 0x21;
        step(&mut m);
        assert_eq!(m.reg.wide[RS], 0x8021);
        // push r1h; pop r7b: one byte each
        let mut m = at(0, &[0x21, 0x20, 0x23, 0xC0]);
        m.reg.wide[1] = 0x5566;
        m.reg.wide[7] = 0xFFFF;
        step(&mut m);
        assert_eq!((m.reg.wide[RS], m.ram[0xFFDF]), (0xFFDF, 0x55));
        step(&mut m);
        assert_eq!((m.reg.wide[RS], m.reg.wide[7]), (0xFFE0, 0x0055));
    }

    #[test]
    fn call_sets_rl_to_the_next_instruction_and_ret_adds_to_rs() {
        let mut m = at(0x100, &[0x25, 0x34, 0x12]);
        m.ram[0x1234] = 0x26;
        m.ram[0x1235] = 0xFF;
        step(&mut m);
        assert_eq!((m.reg.pc, m.reg.wide[RL]), (0x1234, 0x103));
        step(&mut m);
        assert_eq!((m.reg.pc, m.reg.wide[RS]), (0x103, 0x00DF));
    }

    #[test]
    fn with_rh_0_trap_0_halts_and_any_other_is_a_fault() {
        let mut m = at(0xFFFF, &[0x0A]);
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 0);
        for (program, number) in [([0x00, 0, 0], 1), ([0x52, 0x12, 0x30], 2), ([0x0D, 0, 0], 3)] {
            let mut m = at(7, &program);
            let before = m.reg;
            assert_eq!(step(&mut m), Outcome::Fault(Fault::UnhandledTrap(number)));
            assert!(m.reg == before);
            assert_eq!(m.touched(), &[]);
        }
    }

    #[test]
    fn with_trap_set_trap_0_halts_and_any_other_is_a_fault() {
        let mut m = at(0, &[0x0A, 0x00]);
        m.reg.wide[RH] = 0x100;
        m.reg.trap = true;
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!((m.reg.pc, m.reg.trap), (1, true));
        assert_eq!(step(&mut m), Outcome::Fault(Fault::UnhandledTrap(1)));
        assert_eq!((m.reg.pc, m.reg.trap), (1, true));
    }

    /// A machine with every register distinct, and `program` at 0x0200.
    fn full(program: &[u8]) -> Duo16 {
        let mut m = at(0x0200, program);
        for r in 1..=15 {
            m.reg.wide[r] = 0x1100 * r as u16 + 7;
        }
        m.reg.wide[RS] = 0x8000;
        m.reg.wide[RH] = 0x0300;
        (m.reg.zero, m.reg.sign) = (true, true);
        m
    }

    #[test]
    fn a_trap_pushes_34_bytes_with_values_from_before_and_reth_undoes_it() {
        // halt; the handler is: reth
        let mut m = full(&[0x0A]);
        m.ram[0x0300] = 0x0D;
        let before = m.reg;
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.reg.wide[RS], 0x8000 - 34);
        assert_eq!(m.touched().len(), 34);
        assert_eq!(wide_at(&m, 0x7FFE), 0x0201); // saved pc: the next instruction
        assert_eq!(wide_at(&m, 0x7FFC), 0x00A0); // zero<<7 | sign<<5
        assert_eq!(wide_at(&m, 0x7FFA), 0x1107); // r1
        assert_eq!(wide_at(&m, 0x7FE8), 0xAA07); // r10
        assert_eq!(wide_at(&m, 0x7FE6), 0x8000); // rs
        assert_eq!(wide_at(&m, 0x7FE4), 0xCC07); // rl
        assert_eq!(wide_at(&m, 0x7FE2), 0xDD07); // rb
        assert_eq!(wide_at(&m, 0x7FE0), 0xEE07); // rp
        assert_eq!(wide_at(&m, 0x7FDE), 0x0300); // rh
        assert_eq!((m.reg.pc, m.reg.wide[1], m.reg.trap), (0x0300, 0, true));
        assert_eq!(flags(&m), "ZS");
        assert_eq!(step(&mut m), Outcome::Running);
        let mut expected = before;
        expected.pc = 0x0201;
        assert!(m.reg == expected);
    }

    #[test]
    fn the_saved_pc_of_an_invalid_instruction_is_its_own_address() {
        for (program, number, saved) in [
            (&[0xFFu8, 0, 0][..], 1, 0x0200),
            (&[0x22, 0x11, 0][..], 1, 0x0200),
            (&[0x52, 0x12, 0x30][..], 2, 0x0203),
            (&[0x0D, 0, 0][..], 3, 0x0201),
        ] {
            let mut m = full(program);
            let before = m.reg;
            assert_eq!(step(&mut m), Outcome::Running);
            assert_eq!(wide_at(&m, 0x7FFE), saved);
            let mut expected = before;
            expected.pc = 0x0300;
            expected.trap = true;
            expected.wide[1] = number;
            expected.wide[RS] = 0x8000 - 34;
            assert!(m.reg == expected, "trap {number}");
        }
    }

    #[test]
    fn reth_takes_rs_last_of_all_and_puts_the_flags_back() {
        let mut m = at(0, &[0x0D]);
        m.reg.trap = true;
        m.reg.wide[RS] = 0x4000;
        // rh, rp, rb, rl, rs, r10 … r1, flags, pc
        for i in 0..17u8 {
            m.ram[0x4000 + 2 * usize::from(i)] = i + 1;
        }
        m.ram[0x401E] = 0x5F; // overflow and carry; the low four bits mean nothing
        step(&mut m);
        assert_eq!(m.reg.wide[RH], 1);
        assert_eq!(m.reg.wide[RP], 2);
        assert_eq!(m.reg.wide[RB], 3);
        assert_eq!(m.reg.wide[RL], 4);
        assert_eq!(m.reg.wide[RS], 5);
        assert_eq!(m.reg.wide[10], 6);
        assert_eq!(m.reg.wide[1], 15);
        assert_eq!(flags(&m), "OC");
        assert_eq!(m.reg.pc, 17);
        assert!(!m.reg.trap);
    }

    #[test]
    fn ctf_clears_the_trap_flag() {
        let mut m = at(0, &[0x0B]);
        m.reg.trap = true;
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!((m.reg.pc, m.reg.trap), (1, false));
    }

    #[test]
    fn console_data_and_status() {
        // load r1, r0, 0xFFE0 (wide: data, then status), twice
        let mut m = at(0, &[0x2C, 0x10, 0xE0, 0xFF, 0x2C, 0x20, 0xE0, 0xFF]);
        m.ram[0xFFE0] = 0x55;
        let mut console = Console::with_input(&[0x41, 0x42]);
        m.step(&mut console);
        assert_eq!(m.reg.wide[1], 0x0141);
        m.step(&mut console);
        assert_eq!(m.reg.wide[2], 0x0042);
        assert!(console.input.is_empty());
    }

    #[test]
    fn a_wide_access_is_two_byte_accesses_low_address_first() {
        // store r0, 0xFFDF, r1: low byte in ram, high byte to the console
        let mut m = at(0x10, &[0x28, 0x01, 0xDF, 0xFF, 0x28, 0x01, 0xFF, 0xFF]);
        m.reg.wide[1] = 0x4847;
        let mut console = Console::default();
        m.step(&mut console);
        assert_eq!(m.ram[0xFFDF], 0x47);
        assert_eq!(console.output, [0x48]);
        assert_eq!(m.touched(), &[(0, 0xFFDF)]);
        // store r0, 0xFFFF, r1: the low byte is ignored, the high byte wraps to 0
        m.step(&mut console);
        assert_eq!((m.ram[0xFFFF], m.ram[0x0000]), (0x00, 0x48));
        assert_eq!(m.touched(), &[(0, 0x0000)]);
    }

    #[test]
    fn the_rest_of_the_device_cells_reads_0_and_ignores_writes() {
        // load r1, r0, 0xFFE2; store r0, 0xFFFF, r1l
        let mut m = at(0, &[0x2C, 0x10, 0xE2, 0xFF, 0x27, 0x01, 0xFF, 0xFF]);
        m.ram[0xFFE2] = 0x55;
        m.ram[0xFFFF] = 0x66;
        m.reg.wide[1] = 0x7777;
        step(&mut m);
        assert_eq!(m.reg.wide[1], 0);
        step(&mut m);
        assert_eq!(m.ram[0xFFFF], 0x66);
        assert_eq!(m.touched(), &[]);
    }

    #[test]
    fn instruction_fetch_never_touches_a_device() {
        // ldi r1, 0x1234 in the raw cells from 0xFFE0 on
        let mut m = at(0xFFE0, &[0x40, 0x10, 0x34, 0x12]);
        let mut console = Console::with_input(&[9]);
        m.step(&mut console);
        assert_eq!((m.reg.wide[1], m.reg.pc), (0x1234, 0xFFE4));
        assert_eq!(console.input.len(), 1);
        // and across the end of memory
        let mut m = at(0xFFFE, &[0x40, 0x10, 0x34, 0x12]);
        step(&mut m);
        assert_eq!((m.reg.wide[1], m.reg.pc), (0x1234, 2));
    }

    #[test]
    fn pushes_reach_the_console_too() {
        // push r1 with rs = 0xFFE2
        let mut m = at(0, &[0x22, 0x10]);
        m.reg.wide[RS] = 0xFFE2;
        m.reg.wide[1] = 0x4849;
        let mut console = Console::default();
        assert_eq!(m.step(&mut console), Outcome::Running);
        assert_eq!(console.output, [0x49]);
        assert_eq!(m.touched(), &[]);
    }

    #[test]
    fn a_jump_to_itself_halts() {
        let mut m = at(0x500, &[0x40, 0x01, 0x00, 0x05]);
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 0x500);
        // call to itself halts when rl already holds the next address
        let mut m = at(0x500, &[0x25, 0x00, 0x05]);
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(step(&mut m), Outcome::Halted);
        // ret 0 with rl its own address
        let mut m = at(0x500, &[0x26, 0x00]);
        m.reg.wide[RL] = 0x500;
        assert_eq!(step(&mut m), Outcome::Halted);
    }
}
