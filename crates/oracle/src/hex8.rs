//! The reference model of `hex8`: sixteen 8-bit registers, variable length,
//! 64 KiB memory, branches on odd.
//!
//! For comparison with another implementation; not an assembler, and not a table of instructions to generate anything
//! from.

use crate::{Console, Model, Outcome, Trace, no_such_memory, no_such_register, zeroed_ram};

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Registers {
    pc: u16,
    sp: u16,
    r: [u8; 16],
}

/// The `hex8` machine.
pub struct Hex8 {
    reg: Registers,
    ram: Box<[u8; 65536]>,
    trace: Trace,
}

impl Default for Hex8 {
    /// The machine at reset.
    fn default() -> Self {
        Hex8 { reg: Registers::default(), ram: zeroed_ram(), trace: Trace::new() }
    }
}

/// The result of binary operation `s` on two values.
fn operate(s: u8, x: u8, y: u8) -> u8 {
    let count = u32::from(y % 8);
    match s {
        0x0 => x & y,
        0x1 => x | y,
        0x2 => x ^ y,
        0x3 => x << count,
        0x4 => x >> count,
        0x5 => x.rotate_left(count),
        0x6 => x.rotate_right(count),
        0x7 => x.wrapping_add(y),
        0x8 => x.wrapping_sub(y),
        0x9 => x.wrapping_mul(y),
        // x div 0 = 0xFF
        0xA => x.checked_div(y).unwrap_or(0xFF),
        // x mod 0 = x
        0xB => x.checked_rem(y).unwrap_or(x),
        0xC => u8::from(x > y),
        0xD => u8::from(x < y),
        0xE => u8::from(x == y),
        0xF => u8::from(x != y),
        _ => unreachable!("an operation is four bits"),
    }
}

/// The two halves of a byte, the high one first.
fn halves(byte: u8) -> (usize, usize) {
    (usize::from(byte >> 4), usize::from(byte & 0x0F))
}

/// The number of a register called `r0`…`r15`.
fn number(name: &str) -> usize {
    match name {
        "r0" => 0,
        "r1" => 1,
        "r2" => 2,
        "r3" => 3,
        "r4" => 4,
        "r5" => 5,
        "r6" => 6,
        "r7" => 7,
        "r8" => 8,
        "r9" => 9,
        "r10" => 10,
        "r11" => 11,
        "r12" => 12,
        "r13" => 13,
        "r14" => 14,
        "r15" => 15,
        _ => no_such_register("hex8", name),
    }
}

impl Hex8 {
    /// The next byte of the instruction; `pc` moves past it.
    fn fetch(&mut self) -> u8 {
        let byte = self.ram[usize::from(self.reg.pc)];
        self.reg.pc = self.reg.pc.wrapping_add(1);
        byte
    }

    /// An address in an instruction: high byte first.
    fn fetch_address(&mut self) -> u16 {
        let high = self.fetch();
        let low = self.fetch();
        u16::from_be_bytes([high, low])
    }

    fn load(&self, address: u16) -> u8 {
        self.ram[usize::from(address)]
    }

    fn store(&mut self, address: u16, value: u8) {
        let cell = &mut self.ram[usize::from(address)];
        self.trace.store(0, address, cell, value);
    }

    fn push(&mut self, value: u8) {
        self.reg.sp = self.reg.sp.wrapping_sub(1);
        self.store(self.reg.sp, value);
    }

    fn pop(&mut self) -> u8 {
        let value = self.load(self.reg.sp);
        self.reg.sp = self.reg.sp.wrapping_add(1);
        value
    }

    /// The address held by a pair of registers, `b` the high byte.
    fn pair(&self, b: usize, c: usize) -> u16 {
        u16::from_be_bytes([self.reg.r[b], self.reg.r[c]])
    }

    fn is_odd(&self, a: usize) -> bool {
        self.reg.r[a] & 1 == 1
    }

    /// Executes the instruction at `pc`. Every encoding is defined.
    fn execute(&mut self, console: &mut Console) {
        let byte0 = self.fetch();
        let low_half = byte0 & 0x0F;
        let a = usize::from(low_half);
        match byte0 >> 4 {
            // output a
            0x0 => {
                self.trace.io = true;
                console.write(self.reg.r[a]);
            }
            // loadimm a, v
            0x1 => self.reg.r[a] = self.fetch(),
            // loadmem a, m
            0x2 => {
                let m = self.fetch_address();
                self.reg.r[a] = self.load(m);
            }
            // storemem a, m
            0x3 => {
                let m = self.fetch_address();
                self.store(m, self.reg.r[a]);
            }
            // loadind a, b, c
            0x4 => {
                let (b, c) = halves(self.fetch());
                self.reg.r[a] = self.load(self.pair(b, c));
            }
            // storeind a, b, c
            0x5 => {
                let (b, c) = halves(self.fetch());
                self.store(self.pair(b, c), self.reg.r[a]);
            }
            // call m: push the low byte, then the high byte, of the return address
            0x6 => {
                let m = self.fetch_address();
                let [high, low] = self.reg.pc.to_be_bytes();
                self.push(low);
                self.push(high);
                self.reg.pc = m;
            }
            // return
            0x7 => {
                let high = self.pop();
                let low = self.pop();
                self.reg.pc = u16::from_be_bytes([high, low]);
            }
            // jmp m
            0x8 => self.reg.pc = self.fetch_address(),
            // jmpfwdo a, o: from the next instruction
            0x9 => {
                let o = u16::from(self.fetch());
                if self.is_odd(a) {
                    self.reg.pc = self.reg.pc.wrapping_add(o);
                }
            }
            // jmpbwdo a, o: from the next instruction
            0xA => {
                let o = u16::from(self.fetch());
                if self.is_odd(a) {
                    self.reg.pc = self.reg.pc.wrapping_sub(o);
                }
            }
            // jmpo a, m
            0xB => {
                let m = self.fetch_address();
                if self.is_odd(a) {
                    self.reg.pc = m;
                }
            }
            // push a
            0xC => self.push(self.reg.r[a]),
            // pop a
            0xD => self.reg.r[a] = self.pop(),
            // [OP]imm a, b, v: A = B op V
            0xE => {
                let (a, b) = halves(self.fetch());
                let v = self.fetch();
                self.reg.r[a] = operate(low_half, self.reg.r[b], v);
            }
            // [OP] a, b: A = A op B
            0xF => {
                let (a, b) = halves(self.fetch());
                self.reg.r[a] = operate(low_half, self.reg.r[a], self.reg.r[b]);
            }
            _ => unreachable!("the high half of a byte is four bits"),
        }
    }
}

impl Model for Hex8 {
    fn name(&self) -> &'static str {
        "hex8"
    }

    fn registers(&self) -> &'static [(&'static str, u32)] {
        &[
            ("pc", 16),
            ("sp", 16),
            ("r0", 8),
            ("r1", 8),
            ("r2", 8),
            ("r3", 8),
            ("r4", 8),
            ("r5", 8),
            ("r6", 8),
            ("r7", 8),
            ("r8", 8),
            ("r9", 8),
            ("r10", 8),
            ("r11", 8),
            ("r12", 8),
            ("r13", 8),
            ("r14", 8),
            ("r15", 8),
        ]
    }

    fn register(&self, name: &str) -> u64 {
        match name {
            "pc" => self.reg.pc.into(),
            "sp" => self.reg.sp.into(),
            _ => self.reg.r[number(name)].into(),
        }
    }

    fn set_register(&mut self, name: &str, value: u64) {
        match name {
            "pc" => self.reg.pc = value as u16,
            "sp" => self.reg.sp = value as u16,
            _ => self.reg.r[number(name)] = value as u8,
        }
    }

    fn memories(&self) -> &'static [(&'static str, usize)] {
        &[("ram", 65536)]
    }

    fn memory(&self, name: &str) -> &[u8] {
        match name {
            "ram" => &self.ram[..],
            _ => no_such_memory("hex8", name),
        }
    }

    fn memory_mut(&mut self, name: &str) -> &mut [u8] {
        match name {
            "ram" => &mut self.ram[..],
            _ => no_such_memory("hex8", name),
        }
    }

    fn step(&mut self, console: &mut Console) -> Outcome {
        let before = self.reg;
        self.trace.begin();
        self.execute(console);
        if self.reg == before && self.trace.is_quiet() { Outcome::Halted } else { Outcome::Running }
    }

    fn touched(&self) -> &[(usize, u16)] {
        &self.trace.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with `program` at `pc`, ready to run it.
    fn at(pc: u16, program: &[u8]) -> Hex8 {
        let mut m = Hex8::default();
        m.reg.pc = pc;
        for (i, byte) in program.iter().enumerate() {
            m.ram[usize::from(pc.wrapping_add(i as u16))] = *byte;
        }
        m
    }

    fn step(m: &mut Hex8) -> Outcome {
        m.step(&mut Console::default())
    }

    #[test]
    fn addresses_in_instructions_are_high_byte_first() {
        // storemem r3, 0x1234; loadmem r4, 0x1234
        let mut m = at(0, &[0x33, 0x12, 0x34, 0x24, 0x12, 0x34]);
        m.reg.r[3] = 0x77;
        step(&mut m);
        assert_eq!(m.ram[0x1234], 0x77);
        assert_eq!(m.touched(), &[(0, 0x1234)]);
        step(&mut m);
        assert_eq!(m.reg.r[4], 0x77);
        assert_eq!(m.reg.pc, 6);
    }

    #[test]
    fn loadind_and_storeind_take_b_as_the_high_byte_and_c_as_the_low() {
        // storeind r1, r2, r3; loadind r2, r2, r3
        let mut m = at(0, &[0x51, 0x23, 0x42, 0x23]);
        m.reg.r[1] = 0x5A;
        m.reg.r[2] = 0x80;
        m.reg.r[3] = 0x01;
        step(&mut m);
        assert_eq!(m.ram[0x8001], 0x5A);
        step(&mut m);
        assert_eq!(m.reg.r[2], 0x5A);
    }

    #[test]
    fn the_first_push_after_reset_is_at_ffff() {
        // push r7; pop r8
        let mut m = at(0, &[0xC7, 0xD8]);
        m.reg.r[7] = 0x42;
        step(&mut m);
        assert_eq!(m.reg.sp, 0xFFFF);
        assert_eq!(m.ram[0xFFFF], 0x42);
        step(&mut m);
        assert_eq!(m.reg.sp, 0);
        assert_eq!(m.reg.r[8], 0x42);
    }

    #[test]
    fn call_pushes_the_low_byte_then_the_high_byte_of_the_next_address() {
        // call 0x2000 at 0x1234, then return
        let mut m = at(0x1234, &[0x60, 0x20, 0x00]);
        m.ram[0x2000] = 0x70;
        step(&mut m);
        assert_eq!(m.reg.pc, 0x2000);
        assert_eq!(m.reg.sp, 0xFFFE);
        assert_eq!(m.ram[0xFFFF], 0x37);
        assert_eq!(m.ram[0xFFFE], 0x12);
        assert_eq!(m.touched(), &[(0, 0xFFFF), (0, 0xFFFE)]);
        step(&mut m);
        assert_eq!(m.reg.pc, 0x1237);
        assert_eq!(m.reg.sp, 0);
    }

    #[test]
    fn the_unused_low_half_of_call_return_and_jmp_is_ignored() {
        let mut m = at(0, &[0x6F, 0x00, 0x10]);
        m.ram[0x10] = 0x8A;
        m.ram[0x11] = 0x12;
        m.ram[0x12] = 0x34;
        m.ram[0x1234] = 0x73;
        step(&mut m);
        assert_eq!(m.reg.pc, 0x10);
        step(&mut m);
        assert_eq!(m.reg.pc, 0x1234);
        step(&mut m);
        assert_eq!(m.reg.pc, 3);
    }

    #[test]
    fn jmpfwdo_goes_forward_and_jmpbwdo_backward_from_the_next_instruction() {
        for (opcode, value, expected) in
            [(0x95, 0x01, 0x0107), (0x95, 0xFE, 0x0102), (0xA5, 0xFF, 0x00FD), (0xA5, 0x02, 0x0102)]
        {
            let mut m = at(0x0100, &[opcode, 5]);
            m.reg.r[5] = value;
            assert_eq!(step(&mut m), Outcome::Running);
            assert_eq!(m.reg.pc, expected);
        }
    }

    #[test]
    fn jmpo_branches_if_the_register_is_odd() {
        let mut m = at(0, &[0xB0, 0xAB, 0xCD]);
        step(&mut m);
        assert_eq!(m.reg.pc, 3);
        let mut m = at(0, &[0xB0, 0xAB, 0xCD]);
        m.reg.r[0] = 3;
        step(&mut m);
        assert_eq!(m.reg.pc, 0xABCD);
    }

    #[test]
    fn a_jump_to_itself_halts() {
        // jmp 0x0300
        let mut m = at(0x0300, &[0x80, 0x03, 0x00]);
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 0x0300);
        // jmpbwdo r1, 2 with r1 odd
        let mut m = at(0x0300, &[0xA1, 0x02]);
        m.reg.r[1] = 1;
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 0x0300);
        // A call to itself is no halt: the stack pointer moves
        let mut m = at(0x0300, &[0x60, 0x03, 0x00]);
        assert_eq!(step(&mut m), Outcome::Running);
    }

    #[test]
    fn comparisons_give_1_or_0_unsigned() {
        assert_eq!(operate(0xC, 0x80, 0x7F), 1);
        assert_eq!(operate(0xC, 0x80, 0x80), 0);
        assert_eq!(operate(0xD, 0x80, 0x7F), 0);
        assert_eq!(operate(0xD, 0x7F, 0x80), 1);
        assert_eq!(operate(0xE, 5, 5), 1);
        assert_eq!(operate(0xE, 5, 6), 0);
        assert_eq!(operate(0xF, 5, 5), 0);
        assert_eq!(operate(0xF, 5, 6), 1);
    }

    #[test]
    fn mul_keeps_the_low_8_bits_and_division_by_zero_is_defined() {
        assert_eq!(operate(0x9, 0x35, 0x27), 0x13); // 53 * 39 = 2067 = 0x813
        assert_eq!(operate(0xA, 200, 7), 28);
        assert_eq!(operate(0xB, 200, 7), 4);
        assert_eq!(operate(0xA, 0x12, 0), 0xFF);
        assert_eq!(operate(0xB, 0x12, 0), 0x12);
    }

    #[test]
    fn a_shift_or_rotate_count_is_taken_modulo_8() {
        assert_eq!(operate(0x3, 0x81, 9), 0x02);
        assert_eq!(operate(0x4, 0x81, 9), 0x40);
        assert_eq!(operate(0x5, 0x81, 9), 0x03);
        assert_eq!(operate(0x6, 0x81, 9), 0xC0);
        for s in 0x3..=0x6 {
            assert_eq!(operate(s, 0xA7, 8), 0xA7);
        }
    }

    #[test]
    fn the_remaining_operations() {
        assert_eq!(operate(0x0, 0x0F, 0x35), 0x05);
        assert_eq!(operate(0x1, 0x0F, 0x35), 0x3F);
        assert_eq!(operate(0x2, 0x0F, 0x35), 0x3A);
        assert_eq!(operate(0x7, 0xFF, 0x02), 0x01);
        assert_eq!(operate(0x8, 0x01, 0x02), 0xFF);
    }

    #[test]
    fn opimm_computes_b_op_v_and_op_computes_a_op_b_into_a() {
        // subimm r1, r2, 5; sub r1, r3
        let mut m = at(0, &[0xE8, 0x12, 0x05, 0xF8, 0x13]);
        m.reg.r[1] = 0x99;
        m.reg.r[2] = 0x20;
        m.reg.r[3] = 0x10;
        step(&mut m);
        assert_eq!(m.reg.r[1..4], [0x1B, 0x20, 0x10]);
        step(&mut m);
        assert_eq!(m.reg.r[1..4], [0x0B, 0x20, 0x10]);
        assert_eq!(m.reg.pc, 5);
    }

    #[test]
    fn instruction_bytes_wrap_across_the_end_of_memory() {
        // loadmem r1, 0x4321 at 0xFFFE
        let mut m = at(0xFFFE, &[0x21, 0x43, 0x21]);
        m.ram[0x4321] = 0x66;
        step(&mut m);
        assert_eq!(m.reg.r[1], 0x66);
        assert_eq!(m.reg.pc, 1);
    }

    #[test]
    fn output_writes_the_register() {
        let mut m = at(0, &[0x1C, 0x41, 0x0C]);
        let mut console = Console::default();
        m.step(&mut console);
        m.step(&mut console);
        assert_eq!(console.output, [0x41]);
        assert_eq!(m.reg.pc, 3);
    }
}
