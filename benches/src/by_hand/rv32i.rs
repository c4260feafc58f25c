//! RV32IM by hand. Its 2^32 bytes are pages of 4 KiB, found through one table and created when they are first written.

use super::ByHand;

const PAGE: usize = 0x1000;

pub(super) struct Rv32i {
    x: [u32; 32],
    pc: u32,
    pages: Vec<Option<Box<[u8; PAGE]>>>,
    csr: Vec<u32>,
    /// Instructions executed so far.
    steps: u64,
    output: Vec<u8>,
    halted: bool,
}

const MSTATUS: usize = 0x300;
const MTVEC: usize = 0x305;
const MEPC: usize = 0x341;
const MCAUSE: usize = 0x342;
const MTVAL: usize = 0x343;
/// How many bytes of a call to write have been written.
const PROGRESS: usize = 0x800;
/// The writable bits of `mstatus`: whether interrupts are on, and whether they were.
const MIE_AND_MPIE: u32 = 0x88;
/// The distance from a counter to its upper half.
const HIGH: usize = 0x80;

impl Rv32i {
    pub(super) fn new(program: &[u8]) -> Rv32i {
        let mut pages: Vec<Option<Box<[u8; PAGE]>>> = (0..1 << 20).map(|_| None).collect();
        for (page, bytes) in pages.iter_mut().zip(program.chunks(PAGE)) {
            page.insert(Box::new([0; PAGE]))[..bytes.len()].copy_from_slice(bytes);
        }
        Rv32i { x: [0; 32], pc: 0, pages, csr: vec![0; 0x1000], steps: 0, output: Vec::new(), halted: false }
    }

    fn read(&self, address: u32) -> u8 {
        match &self.pages[(address >> 12) as usize] {
            Some(page) => page[(address & 0xFFF) as usize],
            None => 0,
        }
    }

    /// Loads bytes, the lowest first. Those of one page need one lookup.
    fn load<const N: usize>(&self, address: u32) -> [u8; N] {
        let at = (address & 0xFFF) as usize;
        match &self.pages[(address >> 12) as usize] {
            Some(page) if at + N <= PAGE => {
                let mut bytes = [0; N];
                bytes.copy_from_slice(&page[at..at + N]);
                bytes
            }
            _ => std::array::from_fn(|byte| self.read(address.wrapping_add(byte as u32))),
        }
    }

    fn store(&mut self, address: u32, bytes: &[u8]) {
        let at = (address & 0xFFF) as usize;
        if at + bytes.len() <= PAGE {
            let page = self.pages[(address >> 12) as usize].get_or_insert_with(|| Box::new([0; PAGE]));
            page[at..at + bytes.len()].copy_from_slice(bytes);
            return;
        }
        for (byte, n) in bytes.iter().zip(0..) {
            self.store(address.wrapping_add(n), &[*byte]);
        }
    }

    fn set(&mut self, register: usize, value: u32) {
        if register != 0 {
            self.x[register] = value;
        }
    }

    /// Jumps to the handler; without one the machine stops.
    fn raise(&mut self, number: u32, here: u32) {
        if self.csr[MTVEC] == 0 {
            self.pc = here;
            self.halted = true;
        } else {
            self.csr[MEPC] = here;
            self.csr[MCAUSE] = number;
            self.csr[MTVAL] = 0;
            self.csr[MSTATUS] = self.csr[MSTATUS] << 4 & MIE_AND_MPIE;
            self.pc = self.csr[MTVEC] & !3;
        }
    }

    /// Makes a system call. There is never any input.
    fn environment_call(&mut self, here: u32) {
        match self.x[17] {
            _ if self.csr[MTVEC] != 0 => self.raise(11, here),
            11 => self.output.push(self.x[10] as u8),
            12 => self.x[10] = u32::MAX,
            63 => self.x[10] = if self.x[10] == 0 { 0 } else { -9i32 as u32 },
            64 => self.write(here),
            _ => self.halted = true,
        }
    }

    /// Writes one byte per step, until all are written.
    fn write(&mut self, here: u32) {
        let (done, count) = (self.csr[PROGRESS], self.x[12]);
        self.csr[PROGRESS] = 0;
        if !matches!(self.x[10], 1 | 2) {
            self.x[10] = -9i32 as u32;
        } else if count == 0 {
            self.x[10] = 0;
        } else {
            self.output.push(self.read(self.x[11].wrapping_add(done)));
            if done + 1 == count {
                self.x[10] = count;
            } else {
                self.csr[PROGRESS] = done + 1;
                self.pc = here;
            }
        }
    }

    /// Returns a counter: the number of instructions plus a difference stored in its place.
    fn counter(&self, low: usize) -> u64 {
        let difference = u64::from(self.csr[low + HIGH]) << 32 | u64::from(self.csr[low]);
        self.steps.wrapping_add(difference)
    }

    /// Sets a counter so that the next instruction reads this value.
    fn set_counter(&mut self, low: usize, value: u64) {
        let difference = value.wrapping_sub(self.steps).wrapping_sub(1);
        (self.csr[low], self.csr[low + HIGH]) = (difference as u32, (difference >> 32) as u32);
    }

    fn control(&self, register: usize) -> u32 {
        match register {
            MSTATUS => self.csr[MSTATUS] | 0x1800,
            0x301 => 0x4000_1100,
            0x320 | 0x7A1 => 0,
            0xB00 | 0xB02 => self.counter(register) as u32,
            0xB80 | 0xB82 => (self.counter(register - HIGH) >> 32) as u32,
            0xC00 | 0xC02 => self.counter(register - 0x100) as u32,
            0xC80 | 0xC82 => (self.counter(register - 0x100 - HIGH) >> 32) as u32,
            0xC01 => self.steps as u32,
            0xC81 => (self.steps >> 32) as u32,
            _ => self.csr[register],
        }
    }

    fn set_control(&mut self, register: usize, value: u32) {
        match register {
            MSTATUS => self.csr[MSTATUS] = value & MIE_AND_MPIE,
            0x301 | 0x320 | 0x7A1 => {}
            0xB00 | 0xB02 => self.set_counter(register, self.counter(register) >> 32 << 32 | u64::from(value)),
            0xB80 | 0xB82 => {
                let low = register - HIGH;
                self.set_counter(low, u64::from(value) << 32 | self.counter(low) & 0xFFFF_FFFF);
            }
            _ => self.csr[register] = value,
        }
    }

    fn step(&mut self) {
        let here = self.pc;
        let word = u32::from_le_bytes(self.load(here));
        self.pc = here.wrapping_add(4);
        let d = (word >> 7 & 31) as usize;
        let s = self.x[(word >> 15 & 31) as usize];
        let t = self.x[(word >> 20 & 31) as usize];
        let immediate = (word as i32 >> 20) as u32;
        let kind = word >> 12 & 7;
        match word & 0x7F {
            0x37 => self.set(d, word & 0xFFFF_F000),
            0x17 => self.set(d, here.wrapping_add(word & 0xFFFF_F000)),
            0x6F => {
                let distance =
                    (word as i32 >> 31 << 20) as u32 | word & 0xF_F000 | word >> 9 & 0x800 | word >> 20 & 0x7FE;
                self.set(d, self.pc);
                self.pc = here.wrapping_add(distance);
            }
            0x67 if kind == 0 => {
                self.set(d, self.pc);
                self.pc = s.wrapping_add(immediate) & !1;
            }
            0x63 => {
                let jumps = match kind {
                    0 => s == t,
                    1 => s != t,
                    4 => (s as i32) < t as i32,
                    5 => s as i32 >= t as i32,
                    6 => s < t,
                    7 => s >= t,
                    _ => return self.raise(2, here),
                };
                if jumps {
                    let distance =
                        (word as i32 >> 31 << 12) as u32 | word << 4 & 0x800 | word >> 20 & 0x7E0 | word >> 7 & 0x1E;
                    self.pc = here.wrapping_add(distance);
                }
            }
            0x03 => {
                let at = s.wrapping_add(immediate);
                let value = match kind {
                    0 => self.read(at) as i8 as u32,
                    1 => i16::from_le_bytes(self.load(at)) as u32,
                    2 => u32::from_le_bytes(self.load(at)),
                    4 => u32::from(self.read(at)),
                    5 => u32::from(u16::from_le_bytes(self.load(at))),
                    _ => return self.raise(2, here),
                };
                self.set(d, value);
            }
            0x23 => {
                let at = s.wrapping_add((word as i32 >> 25 << 5) as u32 | word >> 7 & 31);
                match kind {
                    0 => self.store(at, &[t as u8]),
                    1 => self.store(at, &(t as u16).to_le_bytes()),
                    2 => self.store(at, &t.to_le_bytes()),
                    _ => self.raise(2, here),
                }
            }
            0x13 => {
                let shift = immediate & 31;
                let value = match (kind, word >> 25) {
                    (0, _) => s.wrapping_add(immediate),
                    (1, 0) => s << shift,
                    (2, _) => u32::from((s as i32) < immediate as i32),
                    (3, _) => u32::from(s < immediate),
                    (4, _) => s ^ immediate,
                    (5, 0) => s >> shift,
                    (5, 0x20) => (s as i32 >> shift) as u32,
                    (6, _) => s | immediate,
                    (7, _) => s & immediate,
                    _ => return self.raise(2, here),
                };
                self.set(d, value);
            }
            0x33 => {
                let value = match (word >> 25, kind) {
                    (0, 0) => s.wrapping_add(t),
                    (0, 1) => s << (t & 31),
                    (0, 2) => u32::from((s as i32) < t as i32),
                    (0, 3) => u32::from(s < t),
                    (0, 4) => s ^ t,
                    (0, 5) => s >> (t & 31),
                    (0, 6) => s | t,
                    (0, 7) => s & t,
                    (0x20, 0) => s.wrapping_sub(t),
                    (0x20, 5) => (s as i32 >> (t & 31)) as u32,
                    (1, 0) => s.wrapping_mul(t),
                    (1, 1) => ((i64::from(s as i32) * i64::from(t as i32)) >> 32) as u32,
                    (1, 2) => ((i64::from(s as i32) * i64::from(t)) >> 32) as u32,
                    (1, 3) => ((u64::from(s) * u64::from(t)) >> 32) as u32,
                    (1, 4) if t == 0 => u32::MAX,
                    (1, 4) => (s as i32).wrapping_div(t as i32) as u32,
                    (1, 5) => s.checked_div(t).unwrap_or(u32::MAX),
                    (1, 6) if t == 0 => s,
                    (1, 6) => (s as i32).wrapping_rem(t as i32) as u32,
                    (1, 7) => s.checked_rem(t).unwrap_or(s),
                    _ => return self.raise(2, here),
                };
                self.set(d, value);
            }
            0x0F if kind < 2 => {}
            0x73 => self.system(word, d, s, here),
            _ => self.raise(2, here),
        }
    }

    fn system(&mut self, word: u32, d: usize, s: u32, here: u32) {
        match word {
            0x0000_0073 => return self.environment_call(here),
            0x0010_0073 => return self.raise(3, here),
            0x3020_0073 => {
                self.csr[MSTATUS] = self.csr[MSTATUS] >> 4 & MIE_AND_MPIE | 0x80;
                return self.pc = self.csr[MEPC] & !3;
            }
            0x1050_0073 => return self.halted = true,
            _ => {}
        }
        let register = (word >> 20) as usize;
        let (source, is_number) = (word >> 15 & 31, word >> 14 & 1 != 0);
        let (kind, operand) = (word >> 12 & 3, if is_number { source } else { s });
        // Setting or clearing bits with x0 or 0 only reads.
        let writes = kind == 1 || source != 0;
        if kind == 0 || writes && register >> 10 == 3 {
            return self.raise(2, here);
        }
        let old = self.control(register);
        if writes {
            let value = match kind {
                1 => operand,
                2 => old | operand,
                _ => old & !operand,
            };
            self.set_control(register, value);
        }
        self.set(d, old);
    }
}

impl ByHand for Rv32i {
    fn run(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step();
            self.steps += 1;
            if self.halted {
                return;
            }
        }
    }

    fn memory(&self) -> Vec<(u64, u64)> {
        let there = self.pages.iter().zip(0..).filter_map(|(page, number)| Some((page.as_ref()?, number)));
        let cells = there.flat_map(|(page, number): (_, u64)| {
            page.iter().zip(0..).map(move |(byte, at): (_, u64)| (number << 12 | at, u64::from(*byte)))
        });
        cells.collect()
    }

    fn pc(&self) -> u64 {
        u64::from(self.pc)
    }

    fn jump(&mut self, pc: u64) {
        self.pc = pc as u32;
    }

    fn registers(&self) -> Vec<(&'static str, u64)> {
        let names = [
            "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
            "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30",
            "x31",
        ];
        names.into_iter().zip(self.x.map(u64::from)).collect()
    }

    fn output(&self) -> &[u8] {
        &self.output
    }
}
