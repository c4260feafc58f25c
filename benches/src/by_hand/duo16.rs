//! duo16 by hand. Traps stop it; the benchmark programs raise none.

use super::{ByHand, numbered};

pub(super) struct Duo16 {
    r: [u16; 16],
    pc: u16,
    zero: bool,
    sign: bool,
    overflow: bool,
    carry: bool,
    trap: bool,
    ram: Vec<u8>,
    output: Vec<u8>,
    halted: bool,
}

const RS: usize = 11;
const RL: usize = 12;
const RB: usize = 13;

impl Duo16 {
    pub(super) fn new(program: &[u8]) -> Duo16 {
        let mut ram = vec![0; 0x10000];
        ram[..program.len()].copy_from_slice(program);
        let mut r = [0; 16];
        (r[RS], r[RB]) = (0xFFE0, 0xFFE0);
        let flags = false;
        Duo16 {
            r,
            pc: 0,
            zero: flags,
            sign: flags,
            overflow: flags,
            carry: flags,
            trap: flags,
            ram,
            output: Vec::new(),
            halted: false,
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

    fn registers(&mut self) -> (usize, usize) {
        let byte = self.fetch();
        ((byte >> 4) as usize, (byte & 15) as usize)
    }

    fn read(&mut self, address: u16) -> u8 {
        if address >= 0xFFE0 { 0 } else { self.ram[address as usize] }
    }

    fn write(&mut self, address: u16, value: u8) {
        if address < 0xFFE0 {
            self.ram[address as usize] = value;
        } else if address == 0xFFE0 {
            self.output.push(value);
        }
    }

    fn read_wide(&mut self, address: u16) -> u16 {
        u16::from_le_bytes([self.read(address), self.read(address.wrapping_add(1))])
    }

    fn write_wide(&mut self, address: u16, value: u16) {
        let [low, high] = value.to_le_bytes();
        self.write(address, low);
        self.write(address.wrapping_add(1), high);
    }

    fn byte(&self, code: usize) -> u8 {
        match code {
            0 => 0,
            1..=10 if code % 2 == 1 => self.r[code.div_ceil(2)] as u8,
            1..=10 => (self.r[code / 2] >> 8) as u8,
            _ => self.r[code - 5] as u8,
        }
    }

    fn set_byte(&mut self, code: usize, value: u8) {
        let value = u16::from(value);
        match code {
            0 => {}
            1..=10 if code % 2 == 1 => {
                let r = &mut self.r[code.div_ceil(2)];
                *r = *r & 0xFF00 | value;
            }
            1..=10 => {
                let r = &mut self.r[code / 2];
                *r = *r & 0xFF | value << 8;
            }
            _ => self.r[code - 5] = value,
        }
    }

    fn set(&mut self, code: usize, value: u16) {
        if code != 0 {
            self.r[code] = value;
        }
    }

    fn push(&mut self, value: u16) {
        self.r[RS] = self.r[RS].wrapping_sub(2);
        self.write_wide(self.r[RS], value);
    }

    fn jump_if(&mut self, condition: bool) {
        let target = self.fetch_wide();
        if condition {
            self.pc = target;
        }
    }

    fn wide(&mut self, operate: impl Fn(&mut Self, u16, u16) -> u16) {
        let (a, b) = self.registers();
        let (c, _) = self.registers();
        let result = operate(self, self.r[b], self.r[c]);
        self.zero = result == 0;
        self.sign = result >= 0x8000;
        self.set(a, result);
    }

    fn narrow(&mut self, operate: impl Fn(&mut Self, u8, u8) -> u8) {
        let (p, q) = self.registers();
        let (r, _) = self.registers();
        let result = operate(self, self.byte(q), self.byte(r));
        self.zero = result == 0;
        self.sign = result >= 0x80;
        self.set_byte(p, result);
    }

    fn logic<T>(&mut self, result: T) -> T {
        self.carry = false;
        self.overflow = false;
        result
    }

    fn step(&mut self) {
        match self.fetch() {
            0x0B => self.trap = false,
            0x20 => {}
            0x21 => {
                let (p, _) = self.registers();
                self.r[RS] = self.r[RS].wrapping_sub(1);
                self.write(self.r[RS], self.byte(p));
            }
            0x22 => {
                let (a, _) = self.registers();
                self.push(self.r[a]);
            }
            0x23 => {
                let (p, _) = self.registers();
                let value = self.read(self.r[RS]);
                self.r[RS] = self.r[RS].wrapping_add(1);
                self.set_byte(p, value);
            }
            0x24 => {
                let (a, _) = self.registers();
                let value = self.read_wide(self.r[RS]);
                self.r[RS] = self.r[RS].wrapping_add(2);
                self.set(a, value);
            }
            0x25 => {
                let target = self.fetch_wide();
                self.r[RL] = self.pc;
                self.pc = target;
            }
            0x26 => {
                let count = u16::from(self.fetch());
                self.r[RS] = self.r[RS].wrapping_add(count);
                self.pc = self.r[RL];
            }
            0x27 => {
                let (a, p) = self.registers();
                let w = self.fetch_wide();
                self.write(self.r[a].wrapping_add(w), self.byte(p));
            }
            0x28 => {
                let (a, b) = self.registers();
                let w = self.fetch_wide();
                self.write_wide(self.r[a].wrapping_add(w), self.r[b]);
            }
            0x29 => {
                let (a, b) = self.registers();
                let (p, _) = self.registers();
                self.write(self.r[a].wrapping_add(self.r[b]), self.byte(p));
            }
            0x2A => {
                let (a, b) = self.registers();
                let (c, _) = self.registers();
                self.write_wide(self.r[a].wrapping_add(self.r[b]), self.r[c]);
            }
            0x2B => {
                let (p, a) = self.registers();
                let w = self.fetch_wide();
                let value = self.read(self.r[a].wrapping_add(w));
                self.set_byte(p, value);
            }
            0x2C => {
                let (a, b) = self.registers();
                let w = self.fetch_wide();
                let value = self.read_wide(self.r[b].wrapping_add(w));
                self.set(a, value);
            }
            0x2D => {
                let (p, a) = self.registers();
                let (b, _) = self.registers();
                let value = self.read(self.r[a].wrapping_add(self.r[b]));
                self.set_byte(p, value);
            }
            0x2E => {
                let (a, b) = self.registers();
                let (c, _) = self.registers();
                let value = self.read_wide(self.r[b].wrapping_add(self.r[c]));
                self.set(a, value);
            }
            0x2F => self.jump_if(self.zero),
            0x30 => self.jump_if(self.sign != self.overflow),
            0x31 => self.jump_if(self.zero || self.sign != self.overflow),
            0x32 => self.jump_if(!self.zero && self.sign == self.overflow),
            0x33 => self.jump_if(self.sign == self.overflow),
            0x34 => self.jump_if(!self.zero),
            0x35 => self.jump_if(self.overflow),
            0x36 => self.jump_if(!self.overflow),
            0x37 => self.jump_if(self.carry),
            0x38 => self.jump_if(!self.carry),
            0x39 => self.jump_if(!self.carry && !self.zero),
            0x3A => self.jump_if(self.carry || self.zero),
            0x3F => {
                let (p, _) = self.registers();
                let value = self.fetch();
                self.set_byte(p, value);
            }
            0x40 => {
                let (a, kind) = self.registers();
                let w = self.fetch_wide();
                match kind {
                    0 => self.set(a, w),
                    _ if a == 0 => self.pc = w,
                    _ => self.pc = self.r[a],
                }
            }
            0x41 => self.narrow(|m, x, y| {
                let (r, carry) = x.overflowing_add(y);
                m.carry = carry;
                m.overflow = (!(x ^ y) & (x ^ r)) >= 0x80;
                r
            }),
            0x42 => self.wide(|m, x, y| {
                let (r, carry) = x.overflowing_add(y);
                m.carry = carry;
                m.overflow = (!(x ^ y) & (x ^ r)) >= 0x8000;
                r
            }),
            0x43 => self.narrow(|m, x, y| {
                let (r, borrow) = x.overflowing_sub(y);
                m.carry = borrow;
                m.overflow = ((x ^ y) & (x ^ r)) >= 0x80;
                r
            }),
            0x44 => self.wide(|m, x, y| {
                let (r, borrow) = x.overflowing_sub(y);
                m.carry = borrow;
                m.overflow = ((x ^ y) & (x ^ r)) >= 0x8000;
                r
            }),
            0x45 => self.narrow(|m, x, y| m.logic(x & y)),
            0x46 => self.wide(|m, x, y| m.logic(x & y)),
            0x47 => self.narrow(|m, x, y| m.logic(x | y)),
            0x48 => self.wide(|m, x, y| m.logic(x | y)),
            0x49 => self.narrow(|m, x, y| m.logic(x ^ y)),
            0x4A => self.wide(|m, x, y| m.logic(x ^ y)),
            0x4B => self.narrow(|m, x, y| m.logic(x << (y & 7))),
            0x4C => self.wide(|m, x, y| m.logic(x << (y & 15))),
            0x4D => self.narrow(|m, x, y| m.logic(((x as i8) >> (y & 7)) as u8)),
            0x4E => self.wide(|m, x, y| m.logic(((x as i16) >> (y & 15)) as u16)),
            0x4F => self.narrow(|m, x, y| m.logic(x >> (y & 7))),
            0x50 => self.wide(|m, x, y| m.logic(x >> (y & 15))),
            0x51 => {
                let ((p, q), (r, s)) = (self.registers(), self.registers());
                let (x, y) = (self.byte(r), self.byte(s));
                self.unless_zero(y.into(), |m| {
                    m.set_byte(p, x / y);
                    m.set_byte(q, x % y);
                });
            }
            0x52 => {
                let ((a, b), (c, e)) = (self.registers(), self.registers());
                let (x, y) = (self.r[c], self.r[e]);
                self.unless_zero(y, |m| {
                    m.set(a, x / y);
                    m.set(b, x % y);
                });
            }
            0x53 => {
                let ((p, q), (r, s)) = (self.registers(), self.registers());
                let [low, high] = (u16::from(self.byte(r)) * u16::from(self.byte(s))).to_le_bytes();
                self.multiplied(high != 0, low == 0, low >= 0x80);
                self.set_byte(p, low);
                self.set_byte(q, high);
            }
            0x54 => {
                let ((a, b), (c, e)) = (self.registers(), self.registers());
                let product = u32::from(self.r[c]) * u32::from(self.r[e]);
                let (low, high) = (product as u16, (product >> 16) as u16);
                self.multiplied(high != 0, low == 0, low >= 0x8000);
                self.set(a, low);
                self.set(b, high);
            }
            _ => self.halted = true,
        }
    }

    /// Divides; division by zero is a trap.
    fn unless_zero(&mut self, divisor: u16, divide: impl Fn(&mut Self)) {
        if divisor == 0 { self.halted = true } else { divide(self) }
    }

    fn multiplied(&mut self, large: bool, zero: bool, sign: bool) {
        (self.carry, self.overflow, self.zero, self.sign) = (large, large, zero, sign);
    }
}

impl ByHand for Duo16 {
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
}
