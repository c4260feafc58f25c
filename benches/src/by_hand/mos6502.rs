//! The 6502 by hand: the 151 documented instructions with their cycles. Anything else stops it.

use super::{ByHand, numbered};

pub(super) struct Mos6502 {
    a: u8,
    x: u8,
    y: u8,
    s: u8,
    pc: u16,
    n: bool,
    v: bool,
    d: bool,
    i: bool,
    z: bool,
    c: bool,
    irq: bool,
    nmi: bool,
    cycles: u64,
    ram: Vec<u8>,
    output: Vec<u8>,
    halted: bool,
}

impl Mos6502 {
    pub(super) fn new(program: &[u8]) -> Mos6502 {
        let mut ram = vec![0; 0x10000];
        ram[..program.len()].copy_from_slice(program);
        Mos6502 {
            a: 0,
            x: 0,
            y: 0,
            s: 0xFD,
            pc: 0,
            n: false,
            v: false,
            d: false,
            i: true,
            z: false,
            c: false,
            irq: false,
            nmi: false,
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
        if address == 0xF001 {
            self.output.push(value);
        }
    }

    fn fetch(&mut self) -> u8 {
        let byte = self.ram[self.pc as usize];
        self.pc = self.pc.wrapping_add(1);
        byte
    }

    fn push(&mut self, value: u8) {
        self.write(0x100 + u16::from(self.s), value);
        self.s = self.s.wrapping_sub(1);
    }

    fn pop(&mut self) -> u8 {
        self.s = self.s.wrapping_add(1);
        self.read(0x100 + u16::from(self.s))
    }

    // Addresses of operands. Computing one moves the program counter.

    fn immediate(&mut self) -> u16 {
        let at = self.pc;
        self.pc = self.pc.wrapping_add(1);
        at
    }

    fn zero(&mut self) -> u16 {
        u16::from(self.fetch())
    }

    fn zero_x(&mut self) -> u16 {
        u16::from(self.fetch().wrapping_add(self.x))
    }

    fn zero_y(&mut self) -> u16 {
        u16::from(self.fetch().wrapping_add(self.y))
    }

    fn absolute(&mut self) -> u16 {
        let low = self.fetch();
        let high = self.fetch();
        u16::from_le_bytes([low, high])
    }

    fn absolute_x(&mut self) -> u16 {
        self.absolute().wrapping_add(u16::from(self.x))
    }

    fn absolute_y(&mut self) -> u16 {
        self.absolute().wrapping_add(u16::from(self.y))
    }

    fn pointer(&self, at: u8) -> u16 {
        u16::from_le_bytes([self.read(u16::from(at)), self.read(u16::from(at.wrapping_add(1)))])
    }

    fn indirect_x(&mut self) -> u16 {
        let at = self.fetch().wrapping_add(self.x);
        self.pointer(at)
    }

    fn indirect_y(&mut self) -> u16 {
        let at = self.fetch();
        self.pointer(at).wrapping_add(u16::from(self.y))
    }

    // An indexed read takes one more cycle if it crosses a page.

    fn index(&mut self, base: u16, by: u8) -> u16 {
        let at = base.wrapping_add(u16::from(by));
        if at >> 8 != base >> 8 {
            self.cycles += 1;
        }
        at
    }

    fn paged_x(&mut self) -> u16 {
        let base = self.absolute();
        self.index(base, self.x)
    }

    fn paged_y(&mut self) -> u16 {
        let base = self.absolute();
        self.index(base, self.y)
    }

    fn paged_indirect(&mut self) -> u16 {
        let at = self.fetch();
        self.index(self.pointer(at), self.y)
    }

    fn set(&mut self, value: u8) -> u8 {
        self.n = value >= 0x80;
        self.z = value == 0;
        value
    }

    fn flags(&self) -> u8 {
        u8::from(self.n) << 7
            | u8::from(self.v) << 6
            | 0x20
            | u8::from(self.d) << 3
            | u8::from(self.i) << 2
            | u8::from(self.z) << 1
            | u8::from(self.c)
    }

    fn set_flags(&mut self, p: u8) {
        self.n = p & 0x80 != 0;
        self.v = p & 0x40 != 0;
        self.d = p & 0x08 != 0;
        self.i = p & 0x04 != 0;
        self.z = p & 0x02 != 0;
        self.c = p & 0x01 != 0;
    }

    fn operand(&mut self, mode: impl Fn(&mut Self) -> u16) -> u8 {
        let at = mode(self);
        self.read(at)
    }

    // Each of the following returns the cycles that it is given.

    fn ora(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.a = self.set(self.a | m);
        cycles
    }

    fn and(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.a = self.set(self.a & m);
        cycles
    }

    fn eor(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.a = self.set(self.a ^ m);
        cycles
    }

    fn adc(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.add(m);
        cycles
    }

    fn sbc(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.subtract(m);
        cycles
    }

    fn lda(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.a = self.set(m);
        cycles
    }

    fn ldx(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.x = self.set(m);
        cycles
    }

    fn ldy(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.y = self.set(m);
        cycles
    }

    fn store(&mut self, value: u8, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let at = mode(self);
        self.write(at, value);
        cycles
    }

    fn compare(&mut self, with: u8, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.c = with >= m;
        self.set(with.wrapping_sub(m));
        cycles
    }

    fn bit(&mut self, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let m = self.operand(mode);
        self.n = m & 0x80 != 0;
        self.v = m & 0x40 != 0;
        self.z = self.a & m == 0;
        cycles
    }

    fn change(&mut self, operate: impl Fn(&mut Self, u8) -> u8, mode: impl Fn(&mut Self) -> u16, cycles: u64) -> u64 {
        let at = mode(self);
        let value = operate(self, self.read(at));
        self.write(at, value);
        cycles
    }

    fn branch(&mut self, condition: bool) -> u64 {
        let distance = self.fetch() as i8;
        if !condition {
            return 2;
        }
        let to = self.pc.wrapping_add_signed(i16::from(distance));
        let cycles = if to >> 8 == self.pc >> 8 { 3 } else { 4 };
        self.pc = to;
        cycles
    }

    fn asl(&mut self, m: u8) -> u8 {
        self.c = m & 0x80 != 0;
        self.set(m << 1)
    }

    fn lsr(&mut self, m: u8) -> u8 {
        self.c = m & 1 != 0;
        self.set(m >> 1)
    }

    fn rol(&mut self, m: u8) -> u8 {
        let r = m << 1 | u8::from(self.c);
        self.c = m & 0x80 != 0;
        self.set(r)
    }

    fn ror(&mut self, m: u8) -> u8 {
        let r = m >> 1 | u8::from(self.c) << 7;
        self.c = m & 1 != 0;
        self.set(r)
    }

    fn inc(&mut self, m: u8) -> u8 {
        self.set(m.wrapping_add(1))
    }

    fn dec(&mut self, m: u8) -> u8 {
        self.set(m.wrapping_sub(1))
    }

    fn add(&mut self, m: u8) {
        let sum = u16::from(self.a) + u16::from(m) + u16::from(self.c);
        self.z = sum as u8 == 0;
        if !self.d {
            self.n = sum & 0x80 != 0;
            self.v = !(self.a ^ m) & (self.a ^ sum as u8) & 0x80 != 0;
            self.c = sum > 0xFF;
            self.a = sum as u8;
            return;
        }
        let mut low = (self.a & 15) + (m & 15) + u8::from(self.c);
        if low > 9 {
            low = ((low + 6) & 15) + 16;
        }
        let mut high = u16::from(self.a & 0xF0) + u16::from(m & 0xF0) + u16::from(low);
        self.n = high & 0x80 != 0;
        self.v = !(self.a ^ m) & (self.a ^ high as u8) & 0x80 != 0;
        self.c = high > 0x9F;
        if self.c {
            high += 0x60;
        }
        self.a = high as u8;
    }

    fn subtract(&mut self, m: u8) {
        let borrow = u8::from(!self.c);
        let r = self.a.wrapping_sub(m).wrapping_sub(borrow);
        self.v = (self.a ^ m) & (self.a ^ r) & 0x80 != 0;
        self.c = u16::from(self.a) >= u16::from(m) + u16::from(borrow);
        self.set(r);
        if !self.d {
            self.a = r;
            return;
        }
        let mut low = (self.a & 15).wrapping_sub(m & 15).wrapping_sub(borrow);
        let mut high = (self.a >> 4).wrapping_sub(m >> 4);
        if low >= 0x80 {
            low = low.wrapping_sub(6);
            high = high.wrapping_sub(1);
        }
        if high >= 0x80 {
            high = high.wrapping_sub(6);
        }
        self.a = high << 4 | low & 15;
    }

    fn interrupt(&mut self, vector: u16, back: u16, status: u8) {
        let [low, high] = back.to_le_bytes();
        self.push(high);
        self.push(low);
        self.push(status);
        self.i = true;
        self.pc = u16::from_le_bytes([self.read(vector), self.read(vector + 1)]);
    }

    fn step(&mut self) {
        if self.nmi || self.irq && !self.i {
            let vector = if self.nmi { 0xFFFA } else { 0xFFFE };
            self.nmi = false;
            self.interrupt(vector, self.pc, self.flags());
            self.cycles += 7;
            return;
        }
        let opcode = self.fetch();
        let cycles = match opcode {
            0x09 => self.ora(Self::immediate, 2),
            0x05 => self.ora(Self::zero, 3),
            0x15 => self.ora(Self::zero_x, 4),
            0x0D => self.ora(Self::absolute, 4),
            0x1D => self.ora(Self::paged_x, 4),
            0x19 => self.ora(Self::paged_y, 4),
            0x01 => self.ora(Self::indirect_x, 6),
            0x11 => self.ora(Self::paged_indirect, 5),
            0x29 => self.and(Self::immediate, 2),
            0x25 => self.and(Self::zero, 3),
            0x35 => self.and(Self::zero_x, 4),
            0x2D => self.and(Self::absolute, 4),
            0x3D => self.and(Self::paged_x, 4),
            0x39 => self.and(Self::paged_y, 4),
            0x21 => self.and(Self::indirect_x, 6),
            0x31 => self.and(Self::paged_indirect, 5),
            0x49 => self.eor(Self::immediate, 2),
            0x45 => self.eor(Self::zero, 3),
            0x55 => self.eor(Self::zero_x, 4),
            0x4D => self.eor(Self::absolute, 4),
            0x5D => self.eor(Self::paged_x, 4),
            0x59 => self.eor(Self::paged_y, 4),
            0x41 => self.eor(Self::indirect_x, 6),
            0x51 => self.eor(Self::paged_indirect, 5),
            0x69 => self.adc(Self::immediate, 2),
            0x65 => self.adc(Self::zero, 3),
            0x75 => self.adc(Self::zero_x, 4),
            0x6D => self.adc(Self::absolute, 4),
            0x7D => self.adc(Self::paged_x, 4),
            0x79 => self.adc(Self::paged_y, 4),
            0x61 => self.adc(Self::indirect_x, 6),
            0x71 => self.adc(Self::paged_indirect, 5),
            0xA9 => self.lda(Self::immediate, 2),
            0xA5 => self.lda(Self::zero, 3),
            0xB5 => self.lda(Self::zero_x, 4),
            0xAD => self.lda(Self::absolute, 4),
            0xBD => self.lda(Self::paged_x, 4),
            0xB9 => self.lda(Self::paged_y, 4),
            0xA1 => self.lda(Self::indirect_x, 6),
            0xB1 => self.lda(Self::paged_indirect, 5),
            0xC9 => self.compare(self.a, Self::immediate, 2),
            0xC5 => self.compare(self.a, Self::zero, 3),
            0xD5 => self.compare(self.a, Self::zero_x, 4),
            0xCD => self.compare(self.a, Self::absolute, 4),
            0xDD => self.compare(self.a, Self::paged_x, 4),
            0xD9 => self.compare(self.a, Self::paged_y, 4),
            0xC1 => self.compare(self.a, Self::indirect_x, 6),
            0xD1 => self.compare(self.a, Self::paged_indirect, 5),
            0xE9 => self.sbc(Self::immediate, 2),
            0xE5 => self.sbc(Self::zero, 3),
            0xF5 => self.sbc(Self::zero_x, 4),
            0xED => self.sbc(Self::absolute, 4),
            0xFD => self.sbc(Self::paged_x, 4),
            0xF9 => self.sbc(Self::paged_y, 4),
            0xE1 => self.sbc(Self::indirect_x, 6),
            0xF1 => self.sbc(Self::paged_indirect, 5),
            0x85 => self.store(self.a, Self::zero, 3),
            0x95 => self.store(self.a, Self::zero_x, 4),
            0x8D => self.store(self.a, Self::absolute, 4),
            0x9D => self.store(self.a, Self::absolute_x, 5),
            0x99 => self.store(self.a, Self::absolute_y, 5),
            0x81 => self.store(self.a, Self::indirect_x, 6),
            0x91 => self.store(self.a, Self::indirect_y, 6),
            0x06 => self.change(Self::asl, Self::zero, 5),
            0x16 => self.change(Self::asl, Self::zero_x, 6),
            0x0E => self.change(Self::asl, Self::absolute, 6),
            0x1E => self.change(Self::asl, Self::absolute_x, 7),
            0x26 => self.change(Self::rol, Self::zero, 5),
            0x36 => self.change(Self::rol, Self::zero_x, 6),
            0x2E => self.change(Self::rol, Self::absolute, 6),
            0x3E => self.change(Self::rol, Self::absolute_x, 7),
            0x46 => self.change(Self::lsr, Self::zero, 5),
            0x56 => self.change(Self::lsr, Self::zero_x, 6),
            0x4E => self.change(Self::lsr, Self::absolute, 6),
            0x5E => self.change(Self::lsr, Self::absolute_x, 7),
            0x66 => self.change(Self::ror, Self::zero, 5),
            0x76 => self.change(Self::ror, Self::zero_x, 6),
            0x6E => self.change(Self::ror, Self::absolute, 6),
            0x7E => self.change(Self::ror, Self::absolute_x, 7),
            0xC6 => self.change(Self::dec, Self::zero, 5),
            0xD6 => self.change(Self::dec, Self::zero_x, 6),
            0xCE => self.change(Self::dec, Self::absolute, 6),
            0xDE => self.change(Self::dec, Self::absolute_x, 7),
            0xE6 => self.change(Self::inc, Self::zero, 5),
            0xF6 => self.change(Self::inc, Self::zero_x, 6),
            0xEE => self.change(Self::inc, Self::absolute, 6),
            0xFE => self.change(Self::inc, Self::absolute_x, 7),
            0xA2 => self.ldx(Self::immediate, 2),
            0xA6 => self.ldx(Self::zero, 3),
            0xB6 => self.ldx(Self::zero_y, 4),
            0xAE => self.ldx(Self::absolute, 4),
            0xBE => self.ldx(Self::paged_y, 4),
            0xA0 => self.ldy(Self::immediate, 2),
            0xA4 => self.ldy(Self::zero, 3),
            0xB4 => self.ldy(Self::zero_x, 4),
            0xAC => self.ldy(Self::absolute, 4),
            0xBC => self.ldy(Self::paged_x, 4),
            0x86 => self.store(self.x, Self::zero, 3),
            0x96 => self.store(self.x, Self::zero_y, 4),
            0x8E => self.store(self.x, Self::absolute, 4),
            0x84 => self.store(self.y, Self::zero, 3),
            0x94 => self.store(self.y, Self::zero_x, 4),
            0x8C => self.store(self.y, Self::absolute, 4),
            0xC0 => self.compare(self.y, Self::immediate, 2),
            0xC4 => self.compare(self.y, Self::zero, 3),
            0xCC => self.compare(self.y, Self::absolute, 4),
            0xE0 => self.compare(self.x, Self::immediate, 2),
            0xE4 => self.compare(self.x, Self::zero, 3),
            0xEC => self.compare(self.x, Self::absolute, 4),
            0x24 => self.bit(Self::zero, 3),
            0x2C => self.bit(Self::absolute, 4),
            0x0A => {
                self.a = self.asl(self.a);
                2
            }
            0x2A => {
                self.a = self.rol(self.a);
                2
            }
            0x4A => {
                self.a = self.lsr(self.a);
                2
            }
            0x6A => {
                self.a = self.ror(self.a);
                2
            }
            0xE8 => {
                self.x = self.inc(self.x);
                2
            }
            0xC8 => {
                self.y = self.inc(self.y);
                2
            }
            0xCA => {
                self.x = self.dec(self.x);
                2
            }
            0x88 => {
                self.y = self.dec(self.y);
                2
            }
            0xAA => {
                self.x = self.set(self.a);
                2
            }
            0xA8 => {
                self.y = self.set(self.a);
                2
            }
            0x8A => {
                self.a = self.set(self.x);
                2
            }
            0x98 => {
                self.a = self.set(self.y);
                2
            }
            0xBA => {
                self.x = self.set(self.s);
                2
            }
            0x9A => {
                self.s = self.x;
                2
            }
            0x18 => {
                self.c = false;
                2
            }
            0x38 => {
                self.c = true;
                2
            }
            0x58 => {
                self.i = false;
                2
            }
            0x78 => {
                self.i = true;
                2
            }
            0xB8 => {
                self.v = false;
                2
            }
            0xD8 => {
                self.d = false;
                2
            }
            0xF8 => {
                self.d = true;
                2
            }
            0xEA => 2,
            0x48 => {
                self.push(self.a);
                3
            }
            0x08 => {
                self.push(self.flags() | 0x10);
                3
            }
            0x68 => {
                let value = self.pop();
                self.a = self.set(value);
                4
            }
            0x28 => {
                let flags = self.pop();
                self.set_flags(flags);
                4
            }
            0x10 => self.branch(!self.n),
            0x30 => self.branch(self.n),
            0x50 => self.branch(!self.v),
            0x70 => self.branch(self.v),
            0x90 => self.branch(!self.c),
            0xB0 => self.branch(self.c),
            0xD0 => self.branch(!self.z),
            0xF0 => self.branch(self.z),
            0x4C => {
                self.pc = self.absolute();
                3
            }
            0x6C => {
                let at = self.absolute();
                let high = self.read(at & 0xFF00 | at.wrapping_add(1) & 0xFF);
                self.pc = u16::from_le_bytes([self.read(at), high]);
                5
            }
            0x20 => {
                let low = self.fetch();
                let [back_low, back_high] = self.pc.to_le_bytes();
                self.push(back_high);
                self.push(back_low);
                self.pc = u16::from_le_bytes([low, self.read(self.pc)]);
                6
            }
            0x60 => {
                let low = self.pop();
                let high = self.pop();
                self.pc = u16::from_le_bytes([low, high]).wrapping_add(1);
                6
            }
            0x00 => {
                self.interrupt(0xFFFE, self.pc.wrapping_add(1), self.flags() | 0x10);
                7
            }
            0x40 => {
                let flags = self.pop();
                self.set_flags(flags);
                let low = self.pop();
                let high = self.pop();
                self.pc = u16::from_le_bytes([low, high]);
                6
            }
            _ => {
                self.pc = self.pc.wrapping_sub(1);
                self.halted = true;
                0
            }
        };
        self.cycles += cycles;
    }
}

impl ByHand for Mos6502 {
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
        let bytes = [("a", self.a), ("x", self.x), ("y", self.y), ("s", self.s)];
        let flags = [("n", self.n), ("v", self.v), ("d", self.d), ("i", self.i), ("z", self.z), ("c", self.c)];
        let bytes = bytes.map(|(name, value)| (name, u64::from(value)));
        bytes.into_iter().chain(flags.map(|(name, flag)| (name, u64::from(flag)))).collect()
    }

    fn cycles(&self) -> Option<u64> {
        Some(self.cycles)
    }

    fn output(&self) -> &[u8] {
        &self.output
    }
}
