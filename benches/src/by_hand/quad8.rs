//! quad8 by hand.

use super::{ByHand, numbered};

pub(super) struct Quad8 {
    r: [u8; 4],
    page: u8,
    stackpage: u8,
    sp: u8,
    pc: u16,
    ram: Vec<u8>,
    output: Vec<u8>,
    halted: bool,
}

impl Quad8 {
    pub(super) fn new(program: &[u8]) -> Quad8 {
        let mut ram = vec![0; 0x10000];
        ram[..program.len()].copy_from_slice(program);
        Quad8 { r: [0; 4], page: 0, stackpage: 0, sp: 0, pc: 0, ram, output: Vec::new(), halted: false }
    }

    fn skip_if(&mut self, condition: bool) {
        if condition {
            self.pc = self.pc.wrapping_add(1);
        }
    }

    fn step(&mut self) {
        let byte = self.ram[self.pc as usize];
        let here = self.pc;
        self.pc = self.pc.wrapping_add(1);
        let (d, s) = ((byte >> 2 & 3) as usize, (byte & 3) as usize);
        match byte >> 4 {
            0x0 => match byte & 3 {
                3 => self.page = self.r[d],
                0 => {}
                _ => self.halted = true,
            },
            0x1 => self.r[d] = self.r[d].wrapping_sub(self.r[s]),
            0x2 => self.r[d] = self.ram[u16::from_be_bytes([self.page, self.r[s]]) as usize],
            0x3 => self.ram[u16::from_be_bytes([self.page, self.r[s]]) as usize] = self.r[d],
            0x4 => match byte & 3 {
                0 => self.skip_if(self.r[d] == 0),
                1 => self.skip_if(self.r[d] != 0),
                2 => self.skip_if(self.r[d] >= 0x80),
                _ => self.skip_if(self.r[d] < 0x80),
            },
            0x5 => {
                let target = here & 0xFF00 | u16::from(self.r[s]);
                self.r[d] = self.pc as u8;
                self.pc = target;
            }
            0x6 => self.r[d] = !(self.r[d] & self.r[s]),
            0x7 => self.r[d] = self.r[d].wrapping_add(self.r[s]),
            0x8 => match byte & 3 {
                0 => self.r[d] = self.r[d].wrapping_add(1),
                1 => self.r[d] = self.r[d].wrapping_sub(1),
                2 => self.output.push(self.r[d]),
                _ => self.r[d] = 0,
            },
            0x9 => {
                let target = u16::from_be_bytes([self.r[2], self.r[d]]);
                self.r[s] = self.pc as u8;
                self.pc = target;
            }
            0xA => match byte & 3 {
                0 => {
                    self.sp = self.sp.wrapping_sub(1);
                    self.ram[u16::from_be_bytes([self.stackpage, self.sp]) as usize] = self.r[d];
                }
                1 => {
                    self.r[d] = self.ram[u16::from_be_bytes([self.stackpage, self.sp]) as usize];
                    self.sp = self.sp.wrapping_add(1);
                }
                2 => self.stackpage = self.r[d],
                _ => self.halted = true,
            },
            0xB => self.halted = true,
            _ => self.r[d] = self.r[d] << 4 | byte >> 2 & 0xC | byte & 3,
        }
    }
}

impl ByHand for Quad8 {
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
