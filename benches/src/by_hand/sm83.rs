//! The processor of the Game Boy by hand: the 244 instructions without a prefix and the 256 behind CB, with
//! flags, interrupts and cycles. The opcodes that hang the chip stop it.

use super::{ByHand, numbered};

pub(super) struct Sm83 {
    /// b, c, d, e, h, l, none, a: as instructions number them.
    r: [u8; 8],
    sp: u16,
    pc: u16,
    zero: bool,
    subtraction: bool,
    half: bool,
    carry: bool,
    ime: bool,
    ei: bool,
    ie: u8,
    irq: u8,
    cycles: u64,
    ram: Vec<u8>,
    output: Vec<u8>,
    halted: bool,
}

const B: usize = 0;
const C: usize = 1;
const D: usize = 2;
const E: usize = 3;
const H: usize = 4;
const L: usize = 5;
const A: usize = 7;

impl Sm83 {
    pub(super) fn new(program: &[u8]) -> Sm83 {
        let mut ram = vec![0; 0x10000];
        ram[..program.len()].copy_from_slice(program);
        Sm83 {
            r: [0; 8],
            sp: 0,
            pc: 0,
            zero: false,
            subtraction: false,
            half: false,
            carry: false,
            ime: false,
            ei: false,
            ie: 0,
            irq: 0,
            cycles: 0,
            ram,
            output: Vec::new(),
            halted: false,
        }
    }

    fn read(&self, address: u16) -> u8 {
        self.ram[address as usize]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.ram[address as usize] = value;
        match address {
            0xFF02 if value & 0x80 != 0 => self.output.push(self.ram[0xFF01]),
            0xFF0F => self.irq = value,
            0xFFFF => self.ie = value,
            _ => {}
        }
    }

    fn fetch(&mut self) -> u8 {
        let byte = self.ram[self.pc as usize];
        self.pc = self.pc.wrapping_add(1);
        byte
    }

    fn fetch_wide(&mut self) -> u16 {
        let low = self.fetch();
        let high = self.fetch();
        u16::from_le_bytes([low, high])
    }

    fn hl(&self) -> u16 {
        u16::from_be_bytes([self.r[H], self.r[L]])
    }

    fn set_hl(&mut self, value: u16) {
        [self.r[H], self.r[L]] = value.to_be_bytes();
    }

    /// Returns a register, or the cell at hl.
    fn get(&self, code: u8) -> u8 {
        if code == 6 { self.read(self.hl()) } else { self.r[code as usize] }
    }

    fn set(&mut self, code: u8, value: u8) {
        if code == 6 {
            self.write(self.hl(), value);
        } else {
            self.r[code as usize] = value;
        }
    }

    /// Returns bc, de, hl or sp.
    fn pair(&self, code: u8) -> u16 {
        match code {
            0 => u16::from_be_bytes([self.r[B], self.r[C]]),
            1 => u16::from_be_bytes([self.r[D], self.r[E]]),
            2 => self.hl(),
            _ => self.sp,
        }
    }

    fn set_pair(&mut self, code: u8, value: u16) {
        match code {
            0 => [self.r[B], self.r[C]] = value.to_be_bytes(),
            1 => [self.r[D], self.r[E]] = value.to_be_bytes(),
            2 => self.set_hl(value),
            _ => self.sp = value,
        }
    }

    fn flags(&self) -> u8 {
        u8::from(self.zero) << 7
            | u8::from(self.subtraction) << 6
            | u8::from(self.half) << 5
            | u8::from(self.carry) << 4
    }

    fn push(&mut self, value: u16) {
        let [low, high] = value.to_le_bytes();
        self.sp = self.sp.wrapping_sub(2);
        self.write(self.sp, low);
        self.write(self.sp.wrapping_add(1), high);
    }

    fn pop(&mut self) -> u16 {
        let value = u16::from_le_bytes([self.read(self.sp), self.read(self.sp.wrapping_add(1))]);
        self.sp = self.sp.wrapping_add(2);
        value
    }

    fn condition(&self, opcode: u8) -> bool {
        match opcode >> 3 & 3 {
            0 => !self.zero,
            1 => self.zero,
            2 => !self.carry,
            _ => self.carry,
        }
    }

    fn plus(&mut self, x: u8, carry: bool) {
        let a = self.r[A];
        let r = u16::from(a) + u16::from(x) + u16::from(carry);
        self.zero = r as u8 == 0;
        self.subtraction = false;
        self.half = (a ^ x ^ r as u8) & 0x10 != 0;
        self.carry = r > 0xFF;
        self.r[A] = r as u8;
    }

    fn minus(&mut self, x: u8, carry: bool) -> u8 {
        let a = self.r[A];
        let r = u16::from(a).wrapping_sub(u16::from(x)).wrapping_sub(u16::from(carry));
        self.zero = r as u8 == 0;
        self.subtraction = true;
        self.half = (a ^ x ^ r as u8) & 0x10 != 0;
        self.carry = r > 0xFF;
        r as u8
    }

    fn logic(&mut self, r: u8, half: bool) {
        self.zero = r == 0;
        self.subtraction = false;
        self.half = half;
        self.carry = false;
        self.r[A] = r;
    }

    fn operate(&mut self, operation: u8, x: u8) {
        match operation {
            0 => self.plus(x, false),
            1 => self.plus(x, self.carry),
            2 => self.r[A] = self.minus(x, false),
            3 => self.r[A] = self.minus(x, self.carry),
            4 => self.logic(self.r[A] & x, true),
            5 => self.logic(self.r[A] ^ x, false),
            6 => self.logic(self.r[A] | x, false),
            _ => {
                self.minus(x, false);
            }
        }
    }

    fn shift(&mut self, operation: u8, x: u8) -> u8 {
        let (r, carry) = match operation {
            0 => (x.rotate_left(1), x & 0x80 != 0),
            1 => (x.rotate_right(1), x & 1 != 0),
            2 => (x << 1 | u8::from(self.carry), x & 0x80 != 0),
            3 => (x >> 1 | u8::from(self.carry) << 7, x & 1 != 0),
            4 => (x << 1, x & 0x80 != 0),
            5 => (x >> 1 | x & 0x80, x & 1 != 0),
            6 => (x.rotate_left(4), false),
            _ => (x >> 1, x & 1 != 0),
        };
        self.zero = r == 0;
        self.subtraction = false;
        self.half = false;
        self.carry = carry;
        r
    }

    /// Returns the sum of the stack pointer and a signed distance.
    fn sum(&mut self) -> u16 {
        let x = self.fetch() as i8 as u16;
        let r = self.sp.wrapping_add(x);
        self.zero = false;
        self.subtraction = false;
        self.half = (self.sp ^ x ^ r) & 0x10 != 0;
        self.carry = (self.sp ^ x ^ r) & 0x100 != 0;
        r
    }

    fn adjust(&mut self) {
        let a = self.r[A];
        let above = !self.subtraction && a > 0x99;
        let six = if self.half || !self.subtraction && a & 15 > 9 { 0x06 } else { 0 };
        let sixty = if self.carry || above { 0x60 } else { 0 };
        let r = if self.subtraction { a.wrapping_sub(six + sixty) } else { a.wrapping_add(six + sixty) };
        self.zero = r == 0;
        self.half = false;
        self.carry = self.carry || above;
        self.r[A] = r;
    }

    fn interrupt(&mut self, asked: u8) {
        let number = asked.trailing_zeros() as u16;
        self.irq &= !(1 << number);
        self.ram[0xFF0F] = self.irq;
        self.ime = false;
        self.ei = false;
        self.push(self.pc);
        self.pc = 0x40 + 8 * number;
        self.cycles += 5;
    }

    fn step(&mut self) {
        if self.ei || self.ime {
            let asked = self.ie & self.irq & 0x1F;
            if self.ime && asked != 0 {
                return self.interrupt(asked);
            }
            if self.ei {
                self.ime = true;
                self.ei = false;
            }
        }
        let opcode = self.fetch();
        let (x, y) = (opcode >> 3 & 7, opcode & 7);
        self.cycles += match opcode {
            0x00 => 1,
            0x01 | 0x11 | 0x21 | 0x31 => {
                let value = self.fetch_wide();
                self.set_pair(opcode >> 4, value);
                3
            }
            0x02 | 0x12 => {
                self.write(self.pair(opcode >> 4), self.r[A]);
                2
            }
            0x22 => {
                self.write(self.hl(), self.r[A]);
                self.set_hl(self.hl().wrapping_add(1));
                2
            }
            0x32 => {
                self.write(self.hl(), self.r[A]);
                self.set_hl(self.hl().wrapping_sub(1));
                2
            }
            0x03 | 0x13 | 0x23 | 0x33 => {
                self.set_pair(opcode >> 4, self.pair(opcode >> 4).wrapping_add(1));
                2
            }
            0x0B | 0x1B | 0x2B | 0x3B => {
                self.set_pair(opcode >> 4, self.pair(opcode >> 4).wrapping_sub(1));
                2
            }
            0x04 | 0x0C | 0x14 | 0x1C | 0x24 | 0x2C | 0x34 | 0x3C => {
                let r = self.get(x).wrapping_add(1);
                self.zero = r == 0;
                self.subtraction = false;
                self.half = r & 15 == 0;
                self.set(x, r);
                if x == 6 { 3 } else { 1 }
            }
            0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x35 | 0x3D => {
                let r = self.get(x).wrapping_sub(1);
                self.zero = r == 0;
                self.subtraction = true;
                self.half = r & 15 == 15;
                self.set(x, r);
                if x == 6 { 3 } else { 1 }
            }
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x36 | 0x3E => {
                let value = self.fetch();
                self.set(x, value);
                if x == 6 { 3 } else { 2 }
            }
            0x07 | 0x0F | 0x17 | 0x1F => {
                self.r[A] = self.shift(x, self.r[A]);
                self.zero = false;
                1
            }
            0x08 => {
                let at = self.fetch_wide();
                let [low, high] = self.sp.to_le_bytes();
                self.write(at, low);
                self.write(at.wrapping_add(1), high);
                5
            }
            0x09 | 0x19 | 0x29 | 0x39 => {
                let (hl, by) = (self.hl(), self.pair(opcode >> 4));
                let (r, carry) = hl.overflowing_add(by);
                self.subtraction = false;
                self.half = (hl ^ by ^ r) & 0x1000 != 0;
                self.carry = carry;
                self.set_hl(r);
                2
            }
            0x0A | 0x1A => {
                self.r[A] = self.read(self.pair(opcode >> 4));
                2
            }
            0x2A => {
                self.r[A] = self.read(self.hl());
                self.set_hl(self.hl().wrapping_add(1));
                2
            }
            0x3A => {
                self.r[A] = self.read(self.hl());
                self.set_hl(self.hl().wrapping_sub(1));
                2
            }
            0x10 => {
                self.halted = true;
                3
            }
            0x18 => {
                let distance = self.fetch() as i8;
                self.pc = self.pc.wrapping_add_signed(i16::from(distance));
                3
            }
            0x20 | 0x28 | 0x30 | 0x38 => {
                let distance = self.fetch() as i8;
                if self.condition(opcode) {
                    self.pc = self.pc.wrapping_add_signed(i16::from(distance));
                    3
                } else {
                    2
                }
            }
            0x27 => {
                self.adjust();
                1
            }
            0x2F => {
                self.r[A] = !self.r[A];
                self.subtraction = true;
                self.half = true;
                1
            }
            0x37 => {
                self.subtraction = false;
                self.half = false;
                self.carry = true;
                1
            }
            0x3F => {
                self.subtraction = false;
                self.half = false;
                self.carry = !self.carry;
                1
            }
            0x76 => {
                self.halted = self.ie & self.irq & 0x1F == 0;
                3
            }
            0x40..=0x7F => {
                let value = self.get(y);
                self.set(x, value);
                if x == 6 || y == 6 { 2 } else { 1 }
            }
            0x80..=0xBF => {
                self.operate(x, self.get(y));
                if y == 6 { 2 } else { 1 }
            }
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
                let value = self.fetch();
                self.operate(x, value);
                2
            }
            0xC0 | 0xC8 | 0xD0 | 0xD8 => {
                if self.condition(opcode) {
                    self.pc = self.pop();
                    5
                } else {
                    2
                }
            }
            0xC1 | 0xD1 | 0xE1 => {
                let value = self.pop();
                self.set_pair(opcode >> 4 & 3, value);
                3
            }
            0xF1 => {
                let [a, f] = self.pop().to_be_bytes();
                self.r[A] = a;
                self.zero = f & 0x80 != 0;
                self.subtraction = f & 0x40 != 0;
                self.half = f & 0x20 != 0;
                self.carry = f & 0x10 != 0;
                3
            }
            0xC5 | 0xD5 | 0xE5 => {
                self.push(self.pair(opcode >> 4 & 3));
                4
            }
            0xF5 => {
                self.push(u16::from_be_bytes([self.r[A], self.flags()]));
                4
            }
            0xC2 | 0xCA | 0xD2 | 0xDA => {
                let target = self.fetch_wide();
                if self.condition(opcode) {
                    self.pc = target;
                    4
                } else {
                    3
                }
            }
            0xC3 => {
                self.pc = self.fetch_wide();
                4
            }
            0xE9 => {
                self.pc = self.hl();
                1
            }
            0xC4 | 0xCC | 0xD4 | 0xDC => {
                let target = self.fetch_wide();
                if self.condition(opcode) {
                    self.push(self.pc);
                    self.pc = target;
                    6
                } else {
                    3
                }
            }
            0xCD => {
                let target = self.fetch_wide();
                self.push(self.pc);
                self.pc = target;
                6
            }
            0xC9 => {
                self.pc = self.pop();
                4
            }
            0xD9 => {
                self.pc = self.pop();
                self.ime = true;
                4
            }
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.push(self.pc);
                self.pc = u16::from(opcode & 0x38);
                4
            }
            0xCB => self.prefixed(),
            0xE0 => {
                let at = 0xFF00 | u16::from(self.fetch());
                self.write(at, self.r[A]);
                3
            }
            0xF0 => {
                let at = 0xFF00 | u16::from(self.fetch());
                self.r[A] = self.read(at);
                3
            }
            0xE2 => {
                self.write(0xFF00 | u16::from(self.r[C]), self.r[A]);
                2
            }
            0xF2 => {
                self.r[A] = self.read(0xFF00 | u16::from(self.r[C]));
                2
            }
            0xEA => {
                let at = self.fetch_wide();
                self.write(at, self.r[A]);
                4
            }
            0xFA => {
                let at = self.fetch_wide();
                self.r[A] = self.read(at);
                4
            }
            0xE8 => {
                self.sp = self.sum();
                4
            }
            0xF8 => {
                let value = self.sum();
                self.set_hl(value);
                3
            }
            0xF9 => {
                self.sp = self.hl();
                2
            }
            0xF3 => {
                self.ime = false;
                self.ei = false;
                1
            }
            0xFB => {
                self.ei = true;
                1
            }
            0xD3 | 0xDB | 0xDD | 0xE3 | 0xE4 | 0xEB | 0xEC | 0xED | 0xF4 | 0xFC | 0xFD => {
                self.pc = self.pc.wrapping_sub(1);
                self.halted = true;
                0
            }
        };
    }

    fn prefixed(&mut self) -> u64 {
        let opcode = self.fetch();
        let (x, y) = (opcode >> 3 & 7, opcode & 7);
        let value = self.get(y);
        match opcode >> 6 {
            0 => {
                let r = self.shift(x, value);
                self.set(y, r);
            }
            1 => {
                self.zero = value >> x & 1 == 0;
                self.subtraction = false;
                self.half = true;
                return if y == 6 { 3 } else { 2 };
            }
            2 => self.set(y, value & !(1 << x)),
            _ => self.set(y, value | 1 << x),
        }
        if y == 6 { 4 } else { 2 }
    }
}

impl ByHand for Sm83 {
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
            if self.halted {
                return;
            }
        }
    }

    fn memory(&self) -> Vec<(u64, u64)> {
        numbered(&self.ram)
    }

    fn pc(&self) -> u64 {
        u64::from(self.pc)
    }

    fn jump(&mut self, pc: u64) {
        self.pc = pc as u16;
    }

    fn registers(&self) -> Vec<(&'static str, u64)> {
        let [b, c, d, e, h, l, _, a] = self.r.map(u64::from);
        let wide = [("a", a), ("b", b), ("c", c), ("d", d), ("e", e), ("h", h), ("l", l)];
        let more = [("sp", u64::from(self.sp)), ("ie", u64::from(self.ie)), ("irq", u64::from(self.irq))];
        let flags = [("zf", self.zero), ("nf", self.subtraction), ("hf", self.half), ("cf", self.carry)];
        let flags = flags.into_iter().chain([("ime", self.ime), ("ei", self.ei)]);
        let flags = flags.map(|(name, flag)| (name, u64::from(flag)));
        wide.into_iter().chain(more).chain(flags).collect()
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.cycles)
    }

    fn output(&self) -> &[u8] {
        &self.output
    }
}
