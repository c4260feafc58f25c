//! What the two revisions of the 8-bit stack machine have in common: the
//! state, the stack, and the arithmetic that works on it.
//!
//! Not a machine: the instruction sets are in `stack8a` and `stack8b`, which differ in more ways than they seem to.

use crate::{Trace, no_such_memory, no_such_register};

/// Index of the program memory in the list of memories.
const PROG: usize = 0;
/// Index of the data memory in the list of memories.
const DATA: usize = 1;

pub(crate) const REGISTERS: &[(&str, u32)] = &[("pc", 8), ("sp", 8), ("carry", 1)];
pub(crate) const MEMORIES: &[(&str, usize)] = &[("prog", 256), ("data", 256)];

#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Registers {
    pub(crate) pc: u8,
    pub(crate) sp: u8,
    pub(crate) carry: bool,
}

/// The state of either machine.
pub(crate) struct Stack8 {
    pub(crate) reg: Registers,
    pub(crate) prog: [u8; 256],
    pub(crate) data: [u8; 256],
    pub(crate) trace: Trace,
}

/// true is 0xFF, false 0x00.
pub(crate) fn truth(condition: bool) -> u8 {
    if condition { 0xFF } else { 0x00 }
}

impl Stack8 {
    /// The machine at reset.
    pub(crate) fn new() -> Self {
        Stack8 { reg: Registers::default(), prog: [0; 256], data: [0; 256], trace: Trace::new() }
    }

    /// The next byte of the instruction; `pc` moves past it.
    pub(crate) fn fetch(&mut self) -> u8 {
        let byte = self.prog[usize::from(self.reg.pc)];
        self.reg.pc = self.reg.pc.wrapping_add(1);
        byte
    }

    pub(crate) fn load_data(&self, address: u8) -> u8 {
        self.data[usize::from(address)]
    }

    pub(crate) fn store_data(&mut self, address: u8, value: u8) {
        let cell = &mut self.data[usize::from(address)];
        self.trace.store(DATA, address.into(), cell, value);
    }

    pub(crate) fn store_prog(&mut self, address: u8, value: u8) {
        let cell = &mut self.prog[usize::from(address)];
        self.trace.store(PROG, address.into(), cell, value);
    }

    pub(crate) fn push(&mut self, value: u8) {
        self.reg.sp = self.reg.sp.wrapping_sub(1);
        self.store_data(self.reg.sp, value);
    }

    pub(crate) fn pop(&mut self) -> u8 {
        let value = self.load_data(self.reg.sp);
        self.reg.sp = self.reg.sp.wrapping_add(1);
        value
    }

    /// Pops two operands, in the order they were pushed.
    pub(crate) fn pop_two(&mut self) -> (u8, u8) {
        let second = self.pop();
        let first = self.pop();
        (first, second)
    }

    pub(crate) fn swap(&mut self) {
        let (first, second) = self.pop_two();
        self.push(second);
        self.push(first);
    }

    /// Replaces the top two values by their sum; carry is the carry out.
    pub(crate) fn add(&mut self, carry_in: bool) {
        let (a, b) = self.pop_two();
        let sum = u16::from(a) + u16::from(b) + u16::from(carry_in);
        self.reg.carry = sum > 0xFF;
        self.push(sum as u8);
    }

    /// Replaces the top two values by their difference; carry is the borrow.
    pub(crate) fn subtract(&mut self, borrow_in: bool) {
        let (a, b) = self.pop_two();
        let taken = u16::from(b) + u16::from(borrow_in);
        self.reg.carry = taken > u16::from(a);
        self.push(u16::from(a).wrapping_sub(taken) as u8);
    }

    /// Rotates the top value and carry left as nine bits, `n` times.
    pub(crate) fn rotate_left_through_carry(&mut self, n: u8) {
        let mut value = self.pop();
        for _ in 0..n {
            let out = value & 0x80 != 0;
            value = value << 1 | u8::from(self.reg.carry);
            self.reg.carry = out;
        }
        self.push(value);
    }

    /// Rotates the top value and carry right as nine bits, `n` times.
    pub(crate) fn rotate_right_through_carry(&mut self, n: u8) {
        let mut value = self.pop();
        for _ in 0..n {
            let out = value & 0x01 != 0;
            value = value >> 1 | u8::from(self.reg.carry) << 7;
            self.reg.carry = out;
        }
        self.push(value);
    }

    /// ldo n: push data[sp+n], with `sp` before the push.
    pub(crate) fn load_offset(&mut self, n: u8) {
        let value = self.load_data(self.reg.sp.wrapping_add(n));
        self.push(value);
    }

    /// sto n: pop v, then data[sp+n] = v, with `sp` after the pop.
    pub(crate) fn store_offset(&mut self, n: u8) {
        let value = self.pop();
        self.store_data(self.reg.sp.wrapping_add(n), value);
    }

    pub(crate) fn register(&self, machine: &str, name: &str) -> u64 {
        match name {
            "pc" => self.reg.pc.into(),
            "sp" => self.reg.sp.into(),
            "carry" => self.reg.carry.into(),
            _ => no_such_register(machine, name),
        }
    }

    pub(crate) fn set_register(&mut self, machine: &str, name: &str, value: u64) {
        match name {
            "pc" => self.reg.pc = value as u8,
            "sp" => self.reg.sp = value as u8,
            "carry" => self.reg.carry = value & 1 == 1,
            _ => no_such_register(machine, name),
        }
    }

    pub(crate) fn memory(&self, machine: &str, name: &str) -> &[u8] {
        match name {
            "prog" => &self.prog,
            "data" => &self.data,
            _ => no_such_memory(machine, name),
        }
    }

    pub(crate) fn memory_mut(&mut self, machine: &str, name: &str) -> &mut [u8] {
        match name {
            "prog" => &mut self.prog,
            "data" => &mut self.data,
            _ => no_such_memory(machine, name),
        }
    }
}
