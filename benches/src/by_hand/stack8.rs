//! stack8a and stack8b by hand.

use super::{ByHand, numbered};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Revision {
    A,
    B,
}

pub(super) struct Stack8 {
    revision: Revision,
    pc: u8,
    sp: u8,
    carry: bool,
    prog: [u8; 256],
    data: [u8; 256],
    output: Vec<u8>,
    halted: bool,
}

impl Stack8 {
    pub(super) fn new(program: &[u8], revision: Revision) -> Stack8 {
        let mut prog = [0; 256];
        prog[..program.len()].copy_from_slice(program);
        Stack8 { revision, pc: 0, sp: 0, carry: false, prog, data: [0; 256], output: Vec::new(), halted: false }
    }

    fn fetch(&mut self) -> u8 {
        let byte = self.prog[self.pc as usize];
        self.pc = self.pc.wrapping_add(1);
        byte
    }

    fn push(&mut self, value: u8) {
        self.sp = self.sp.wrapping_sub(1);
        self.data[self.sp as usize] = value;
    }

    fn pop(&mut self) -> u8 {
        let value = self.data[self.sp as usize];
        self.sp = self.sp.wrapping_add(1);
        value
    }

    fn add(&mut self, carry: bool) {
        let (y, x) = (self.pop(), self.pop());
        let sum = u16::from(x) + u16::from(y) + u16::from(carry);
        self.carry = sum > 0xFF;
        self.push(sum as u8);
    }

    fn subtract(&mut self, borrow: bool) {
        let (y, x) = (self.pop(), self.pop());
        let difference = i16::from(x) - i16::from(y) - i16::from(borrow);
        self.carry = difference < 0;
        self.push(difference as u8);
    }

    fn unary(&mut self, operate: impl Fn(u8) -> u8) {
        let x = self.pop();
        self.push(operate(x));
    }

    fn binary(&mut self, operate: impl Fn(u8, u8) -> u8) {
        let (y, x) = (self.pop(), self.pop());
        self.push(operate(x, y));
    }

    fn rotate(&mut self, left: u32) {
        let value = u32::from(self.carry) << 8 | u32::from(self.pop());
        let value = (value << left | value >> (9 - left)) & 0x1FF;
        self.carry = value > 0xFF;
        self.push(value as u8);
    }

    fn step(&mut self) {
        let byte = self.fetch();
        let count = u32::from(byte & 7);
        match byte {
            0x00 => {}
            0x01 => {
                let value = self.fetch();
                self.push(value);
            }
            0x08 => {
                self.fetch();
                let value = self.pop();
                self.output.push(value);
            }
            0x09 => {
                self.fetch();
                self.push(0);
            }
            0x11 => {
                let address = self.pop();
                self.push(self.data[address as usize]);
            }
            0x12 => {
                let address = self.pop();
                self.data[address as usize] = self.pop();
            }
            0x13 => self.push(self.sp),
            0x14 => self.sp = self.pop(),
            0x15 => self.push(self.pc),
            0x16 => self.pc = self.pop(),
            0x17 if self.revision == Revision::A => self.push(if self.carry { 0xFF } else { 0 }),
            0x18 if self.revision == Revision::A => self.carry = self.pop() != 0,
            0x17 => {
                let address = self.pop();
                self.push(self.prog[address as usize]);
            }
            0x18 => {
                let address = self.pop();
                self.prog[address as usize] = self.pop();
            }
            0x19 => self.push(self.data[self.sp as usize]),
            0x1A => self.sp = self.sp.wrapping_add(1),
            0x1B => {
                let (y, x) = (self.pop(), self.pop());
                self.push(y);
                self.push(x);
            }
            0x20 => self.add(false),
            0x21 => self.add(self.carry),
            0x22 => self.subtract(false),
            0x23 => self.subtract(self.carry),
            0x24 => self.unary(|x| x.wrapping_add(1)),
            0x25 => self.unary(|x| x.wrapping_sub(1)),
            0x26 => self.binary(|x, y| if x < y { 0xFF } else { 0 }),
            0x27 => self.binary(|x, y| if x > y { 0xFF } else { 0 }),
            0x28 => self.binary(|x, y| if x == y { 0xFF } else { 0 }),
            0x29 => self.unary(|x| if x != 0 { 0xFF } else { 0 }),
            0x2A => self.unary(u8::wrapping_neg),
            0x2B => self.unary(|x| (x as i8).wrapping_abs() as u8),
            0x30 => self.unary(|x| !x),
            0x31 => self.binary(|x, y| x | y),
            0x32 => self.binary(|x, y| x & y),
            0x33 => self.binary(|x, y| x ^ y),
            0x34 => self.binary(|x, y| !(x ^ y)),
            0x40..=0x7F => {
                let value = self.pop();
                self.data[self.sp.wrapping_add(byte & 0x3F) as usize] = value;
            }
            0x80..=0xBF => self.push(self.data[self.sp.wrapping_add(byte & 0x3F) as usize]),
            0xC0..=0xC7 if self.revision == Revision::B => {
                if self.pop() != 0 {
                    self.pc = self.pc.wrapping_add(byte & 7);
                }
            }
            0xC0..=0xC7 => self.unary(|x| x << count),
            0xC8..=0xCF => self.unary(|x| ((x as i8) >> count) as u8),
            0xD0..=0xD7 => self.unary(|x| x << count),
            0xD8..=0xDF => self.unary(|x| x >> count),
            0xE0..=0xE7 => self.rotate(count),
            0xE8..=0xEF => self.rotate((9 - count) % 9),
            0xF0..=0xFF => self.push(byte & 15),
            _ => self.halted = true,
        }
    }
}

impl ByHand for Stack8 {
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
            if self.halted {
                return;
            }
        }
    }

    fn memory(&self) -> Vec<(u64, u64)> {
        numbered(&self.data)
    }

    fn pc(&self) -> u64 {
        u64::from(self.pc)
    }

    fn jump(&mut self, pc: u64) {
        self.pc = pc as u8;
    }

    fn memory_name(&self) -> &'static str {
        "data"
    }
}
