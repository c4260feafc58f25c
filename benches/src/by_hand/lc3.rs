//! The LC-3 by hand, with the trap routines in its memory. It has a display, but no key is ever pressed; a reserved
//! instruction stops it.

use super::{ByHand, numbered};

pub(super) struct Lc3 {
    r: [u16; 8],
    pc: u16,
    negative: bool,
    zero: bool,
    positive: bool,
    mcr: u16,
    ram: Vec<u16>,
    output: Vec<u8>,
    halted: bool,
}

/// The addresses of the trap routines, at 0x20.
const VECTORS: [u16; 6] = [0x021F, 0x0223, 0x0229, 0x0236, 0x023E, 0x0262];
/// `machines/lc3/os.asm`, assembled, at 0x200.
#[rustfmt::skip]
const ROUTINES: [u16; 103] = [
    0xFE00, 0xFE02, 0xFE04, 0xFE06, 0xFFFE, 0x7FFF, 0x0000, 0x0000, 0x0000, 0x0000, 0x00FF, 0x0049, 0x006E, 0x0070, 0x0075, 0x0074,
    0x0020, 0x0061, 0x0020, 0x0063, 0x0068, 0x0061, 0x0072, 0x0061, 0x0063, 0x0074, 0x0065, 0x0072, 0x003E, 0x0020, 0x0000, 0xA1E0,
    0x07FE, 0xA1DF, 0xC1C0, 0x33E3, 0xA3DD, 0x07FE, 0xB1DC, 0x23DF, 0xC1C0, 0x3FDF, 0x31DB, 0x35DC, 0x1420, 0x6080, 0x0403, 0x4FF3,
    0x14A1, 0x0FFB, 0x25D5, 0x21D2, 0x2FD4, 0xC1C0, 0x3E06, 0xE1D3, 0x4FF0, 0x4FE5, 0x4FE8, 0x2E01, 0xC1C0, 0x0000, 0x3FFE, 0x301E,
    0x341E, 0x361E, 0x381E, 0x1420, 0x6680, 0x21C4, 0x50C0, 0x0410, 0x4FDA, 0x5020, 0x5920, 0x1928, 0x1000, 0x16E0, 0x0601, 0x1021,
    0x16C3, 0x193F, 0x03F9, 0x1020, 0x0403, 0x4FCD, 0x14A1, 0x0FEC, 0x2808, 0x2606, 0x2404, 0x2002, 0x2FE0, 0xC1C0, 0x0000, 0x0000,
    0x0000, 0x0000, 0xA1A1, 0x23A1, 0x5001, 0xB19E, 0x0FFB,
];

impl Lc3 {
    pub(super) fn new(program: &[u64]) -> Lc3 {
        let mut ram = vec![0; 0x10000];
        ram[0x20..0x20 + VECTORS.len()].copy_from_slice(&VECTORS);
        ram[0x200..0x200 + ROUTINES.len()].copy_from_slice(&ROUTINES);
        for (cell, value) in ram.iter_mut().zip(program).filter(|(_, value)| **value != 0) {
            *cell = *value as u16;
        }
        Lc3 {
            r: [0; 8],
            pc: 0x3000,
            negative: false,
            zero: true,
            positive: false,
            mcr: 0x8000,
            ram,
            output: Vec::new(),
            halted: false,
        }
    }

    fn read(&self, address: u16) -> u16 {
        match address {
            0xFE00 | 0xFE02 => 0,
            0xFE04 => 0x8000,
            0xFFFE => self.mcr,
            _ => self.ram[address as usize],
        }
    }

    fn write(&mut self, address: u16, value: u16) {
        match address {
            0xFE06 => self.output.push(value as u8),
            0xFFFE => {
                self.mcr = value;
                self.halted = value < 0x8000;
            }
            _ => self.ram[address as usize] = value,
        }
    }

    fn set(&mut self, register: usize, value: u16) {
        self.negative = value >= 0x8000;
        self.zero = value == 0;
        self.positive = value != 0 && value < 0x8000;
        self.r[register] = value;
    }

    fn step(&mut self) {
        let word = self.ram[self.pc as usize];
        self.pc = self.pc.wrapping_add(1);
        let d = (word >> 9 & 7) as usize;
        let s = (word >> 6 & 7) as usize;
        match word >> 12 {
            0x0 => {
                let jumps = word & 0x800 != 0 && self.negative
                    || word & 0x400 != 0 && self.zero
                    || word & 0x200 != 0 && self.positive;
                if jumps {
                    self.pc = self.pc.wrapping_add(extend(word, 9));
                }
            }
            0x1 => {
                let by = self.second(word);
                self.set(d, self.r[s].wrapping_add(by));
            }
            0x2 => {
                let value = self.read(self.pc.wrapping_add(extend(word, 9)));
                self.set(d, value);
            }
            0x3 => self.write(self.pc.wrapping_add(extend(word, 9)), self.r[d]),
            0x4 => {
                let back = self.pc;
                self.pc = if word & 0x800 != 0 { back.wrapping_add(extend(word, 11)) } else { self.r[s] };
                self.r[7] = back;
            }
            0x5 => {
                let by = self.second(word);
                self.set(d, self.r[s] & by);
            }
            0x6 => {
                let value = self.read(self.r[s].wrapping_add(extend(word, 6)));
                self.set(d, value);
            }
            0x7 => self.write(self.r[s].wrapping_add(extend(word, 6)), self.r[d]),
            0x8 => {
                self.pc = self.read(self.r[6]);
                let flags = self.read(self.r[6].wrapping_add(1));
                self.negative = flags & 4 != 0;
                self.zero = flags & 2 != 0;
                self.positive = flags & 1 != 0;
                self.r[6] = self.r[6].wrapping_add(2);
            }
            0x9 if word & 0x3F == 0x3F => self.set(d, !self.r[s]),
            0xA => {
                let at = self.read(self.pc.wrapping_add(extend(word, 9)));
                let value = self.read(at);
                self.set(d, value);
            }
            0xB => {
                let at = self.read(self.pc.wrapping_add(extend(word, 9)));
                self.write(at, self.r[d]);
            }
            0xC => self.pc = self.r[s],
            0xE => self.r[d] = self.pc.wrapping_add(extend(word, 9)),
            0xF => {
                self.r[7] = self.pc;
                self.pc = self.read(word & 0xFF);
            }
            _ => {
                self.pc = self.pc.wrapping_sub(1);
                self.halted = true;
            }
        }
    }

    /// Returns the second operand: a register or five bits.
    fn second(&self, word: u16) -> u16 {
        if word & 0x20 != 0 { extend(word, 5) } else { self.r[(word & 7) as usize] }
    }
}

/// Sign-extends the lowest bits.
fn extend(word: u16, bits: u32) -> u16 {
    ((word << (16 - bits)) as i16 >> (16 - bits)) as u16
}

impl ByHand for Lc3 {
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
        let flags = [("n", self.negative), ("z", self.zero), ("p", self.positive)];
        let flags = flags.map(|(name, flag)| (name, u64::from(flag)));
        let names = ["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"];
        names.into_iter().zip(self.r.map(u64::from)).chain(flags).chain([("mcr", u64::from(self.mcr))]).collect()
    }

    fn output(&self) -> &[u8] {
        &self.output
    }
}
