//! CHIP-8 by hand, as on the COSMAC VIP. No key is ever pressed; an unknown instruction stops it.

use super::{ByHand, numbered};

/// A timer counts down once in this many instructions.
const TICK: u8 = 10;

/// The digits, five bytes each, at 0x50.
#[rustfmt::skip]
const DIGITS: [u8; 80] = [
    0xF0, 0x90, 0x90, 0x90, 0xF0, 0x20, 0x60, 0x20, 0x20, 0x70, 0xF0, 0x10, 0xF0, 0x80, 0xF0, 0xF0, 0x10, 0xF0, 0x10, 0xF0,
    0x90, 0x90, 0xF0, 0x10, 0x10, 0xF0, 0x80, 0xF0, 0x10, 0xF0, 0xF0, 0x80, 0xF0, 0x90, 0xF0, 0xF0, 0x10, 0x20, 0x40, 0x40,
    0xF0, 0x90, 0xF0, 0x90, 0xF0, 0xF0, 0x90, 0xF0, 0x10, 0xF0, 0xF0, 0x90, 0xF0, 0x90, 0x90, 0xE0, 0x90, 0xE0, 0x90, 0xE0,
    0xF0, 0x80, 0x80, 0x80, 0xF0, 0xE0, 0x90, 0x90, 0x90, 0xE0, 0xF0, 0x80, 0xF0, 0x80, 0xF0, 0xF0, 0x80, 0xF0, 0x80, 0x80,
];

pub(super) struct Chip8 {
    v: [u8; 16],
    i: u16,
    pc: u16,
    sp: u8,
    stack: [u16; 16],
    ram: Vec<u8>,
    screen: [u64; 32],
    delay: u8,
    sound: u8,
    until_tick: u8,
    random: u64,
    halted: bool,
}

impl Chip8 {
    pub(super) fn new(program: &[u8]) -> Chip8 {
        let mut ram = vec![0; 0x1000];
        ram[..program.len()].copy_from_slice(program);
        ram[0x50..0x50 + DIGITS.len()].copy_from_slice(&DIGITS);
        Chip8 {
            v: [0; 16],
            i: 0,
            pc: 0x200,
            sp: 0,
            stack: [0; 16],
            ram,
            screen: [0; 32],
            delay: 0,
            sound: 0,
            until_tick: TICK,
            random: 1,
            halted: false,
        }
    }

    fn read(&self, address: u16) -> u8 {
        self.ram[(address & 0xFFF) as usize]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.ram[(address & 0xFFF) as usize] = value;
    }

    fn step(&mut self) {
        let word = u16::from(self.read(self.pc)) << 8 | u16::from(self.read(self.pc.wrapping_add(1)));
        self.pc = self.pc.wrapping_add(2) & 0xFFF;
        let x = (word >> 8 & 0xF) as usize;
        let y = (word >> 4 & 0xF) as usize;
        let byte = word as u8;
        let address = word & 0xFFF;
        match word >> 12 {
            0x0 if word == 0x00E0 => self.screen = [0; 32],
            0x0 if word == 0x00EE => {
                self.sp = self.sp.wrapping_sub(1) & 0xF;
                self.pc = self.stack[self.sp as usize];
            }
            0x1 => self.pc = address,
            0x2 => {
                self.stack[self.sp as usize] = self.pc;
                self.sp = (self.sp + 1) & 0xF;
                self.pc = address;
            }
            0x3 => self.skip_if(self.v[x] == byte),
            0x4 => self.skip_if(self.v[x] != byte),
            0x5 if word & 0xF == 0 => self.skip_if(self.v[x] == self.v[y]),
            0x6 => self.v[x] = byte,
            0x7 => self.v[x] = self.v[x].wrapping_add(byte),
            0x8 => self.arithmetic(word & 0xF, x, y),
            0x9 if word & 0xF == 0 => self.skip_if(self.v[x] != self.v[y]),
            0xA => self.i = address,
            0xB => self.pc = address.wrapping_add(u16::from(self.v[0])) & 0xFFF,
            0xC => self.v[x] = self.next_random() & byte,
            0xD => self.draw(x, y, word & 0xF),
            0xE if byte == 0x9E => {}
            0xE if byte == 0xA1 => self.skip_if(true),
            0xF => self.other(byte, x),
            _ => self.stop(),
        }
        self.until_tick -= 1;
        if self.until_tick == 0 {
            self.until_tick = TICK;
            self.delay = self.delay.saturating_sub(1);
            self.sound = self.sound.saturating_sub(1);
        }
    }

    fn skip_if(&mut self, condition: bool) {
        if condition {
            self.pc = self.pc.wrapping_add(2) & 0xFFF;
        }
    }

    fn arithmetic(&mut self, operation: u16, x: usize, y: usize) {
        let (a, b) = (self.v[x], self.v[y]);
        let (result, flag) = match operation {
            0x0 => {
                self.v[x] = b;
                return;
            }
            0x1 => (a | b, false),
            0x2 => (a & b, false),
            0x3 => (a ^ b, false),
            0x4 => a.overflowing_add(b),
            0x5 => (a.wrapping_sub(b), a >= b),
            0x6 => (b >> 1, b & 1 != 0),
            0x7 => (b.wrapping_sub(a), b >= a),
            0xE => (b << 1, b & 0x80 != 0),
            _ => return self.stop(),
        };
        self.v[x] = result;
        self.v[0xF] = u8::from(flag);
    }

    fn draw(&mut self, x: usize, y: usize, height: u16) {
        let (column, row) = (self.v[x] & 63, usize::from(self.v[y] & 31));
        let mut hit = false;
        for (n, line) in (0..height).zip(row..32) {
            let sprite = u64::from(self.read(self.i.wrapping_add(n))) << 56 >> column;
            hit |= self.screen[line] & sprite != 0;
            self.screen[line] ^= sprite;
        }
        self.v[0xF] = u8::from(hit);
    }

    fn other(&mut self, operation: u8, x: usize) {
        match operation {
            0x07 => self.v[x] = self.delay,
            0x0A => self.pc = self.pc.wrapping_sub(2) & 0xFFF,
            0x15 => self.delay = self.v[x],
            0x18 => self.sound = self.v[x],
            0x1E => self.i = self.i.wrapping_add(u16::from(self.v[x])),
            0x29 => self.i = 0x50 + u16::from(self.v[x] & 0xF) * 5,
            0x33 => {
                let digits = [self.v[x] / 100, self.v[x] / 10 % 10, self.v[x] % 10];
                (0..).zip(digits).for_each(|(n, digit)| self.write(self.i.wrapping_add(n), digit));
            }
            0x55 => {
                for n in 0..=x {
                    self.write(self.i, self.v[n]);
                    self.i = self.i.wrapping_add(1);
                }
            }
            0x65 => {
                for n in 0..=x {
                    self.v[n] = self.read(self.i);
                    self.i = self.i.wrapping_add(1);
                }
            }
            _ => self.stop(),
        }
    }

    /// SplitMix64, from a seed of 1.
    fn next_random(&mut self) -> u8 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as u8
    }

    fn stop(&mut self) {
        self.pc = self.pc.wrapping_sub(2) & 0xFFF;
        self.halted = true;
    }
}

impl ByHand for Chip8 {
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
        let names = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "va", "vb", "vc", "vd", "ve", "vf"];
        let others = [("i", u64::from(self.i)), ("sp", u64::from(self.sp))];
        names.into_iter().zip(self.v.map(u64::from)).chain(others).collect()
    }
}
