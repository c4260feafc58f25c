//! hex8 by hand.

use super::{ByHand, numbered};

pub(super) struct Hex8 {
    r: [u8; 16],
    pc: u16,
    sp: u16,
    ram: Vec<u8>,
    output: Vec<u8>,
}

impl Hex8 {
    pub(super) fn new(program: &[u8]) -> Hex8 {
        let mut ram = vec![0; 0x10000];
        ram[..program.len()].copy_from_slice(program);
        Hex8 { r: [0; 16], pc: 0, sp: 0, ram, output: Vec::new() }
    }

    fn fetch(&mut self) -> u8 {
        let byte = self.ram[self.pc as usize];
        self.pc = self.pc.wrapping_add(1);
        byte
    }

    fn fetch_word(&mut self) -> u16 {
        let high = self.fetch();
        let low = self.fetch();
        u16::from_be_bytes([high, low])
    }

    fn push(&mut self, value: u8) {
        self.sp = self.sp.wrapping_sub(1);
        self.ram[self.sp as usize] = value;
    }

    fn pop(&mut self) -> u8 {
        let value = self.ram[self.sp as usize];
        self.sp = self.sp.wrapping_add(1);
        value
    }

    fn step(&mut self) {
        let byte = self.fetch();
        let a = (byte & 15) as usize;
        match byte >> 4 {
            0x0 => self.output.push(self.r[a]),
            0x1 => self.r[a] = self.fetch(),
            0x2 => {
                let address = self.fetch_word();
                self.r[a] = self.ram[address as usize];
            }
            0x3 => {
                let address = self.fetch_word();
                self.ram[address as usize] = self.r[a];
            }
            0x4 => {
                let byte = self.fetch();
                let address = u16::from_be_bytes([self.r[(byte >> 4) as usize], self.r[(byte & 15) as usize]]);
                self.r[a] = self.ram[address as usize];
            }
            0x5 => {
                let byte = self.fetch();
                let address = u16::from_be_bytes([self.r[(byte >> 4) as usize], self.r[(byte & 15) as usize]]);
                self.ram[address as usize] = self.r[a];
            }
            0x6 => {
                let target = self.fetch_word();
                let [high, low] = self.pc.to_be_bytes();
                self.push(low);
                self.push(high);
                self.pc = target;
            }
            0x7 => {
                let high = self.pop();
                let low = self.pop();
                self.pc = u16::from_be_bytes([high, low]);
            }
            0x8 => self.pc = self.fetch_word(),
            0x9 => {
                let distance = u16::from(self.fetch());
                if self.r[a] & 1 != 0 {
                    self.pc = self.pc.wrapping_add(distance);
                }
            }
            0xA => {
                let distance = u16::from(self.fetch());
                if self.r[a] & 1 != 0 {
                    self.pc = self.pc.wrapping_sub(distance);
                }
            }
            0xB => {
                let target = self.fetch_word();
                if self.r[a] & 1 != 0 {
                    self.pc = target;
                }
            }
            0xC => self.push(self.r[a]),
            0xD => self.r[a] = self.pop(),
            0xE => {
                let byte = self.fetch();
                let value = self.fetch();
                self.r[(byte >> 4) as usize] = operate(a, self.r[(byte & 15) as usize], value);
            }
            _ => {
                let byte = self.fetch();
                let (x, y) = ((byte >> 4) as usize, (byte & 15) as usize);
                self.r[x] = operate(a, self.r[x], self.r[y]);
            }
        }
    }
}

fn operate(operation: usize, x: u8, y: u8) -> u8 {
    match operation {
        0 => x & y,
        1 => x | y,
        2 => x ^ y,
        3 => x << (y & 7),
        4 => x >> (y & 7),
        5 => x.rotate_left(u32::from(y & 7)),
        6 => x.rotate_right(u32::from(y & 7)),
        7 => x.wrapping_add(y),
        8 => x.wrapping_sub(y),
        9 => x.wrapping_mul(y),
        10 => x.checked_div(y).unwrap_or(0xFF),
        11 => x.checked_rem(y).unwrap_or(x),
        12 => u8::from(x > y),
        13 => u8::from(x < y),
        14 => u8::from(x == y),
        _ => u8::from(x != y),
    }
}

impl ByHand for Hex8 {
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
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
