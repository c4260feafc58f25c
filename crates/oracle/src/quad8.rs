//! The reference model of `quad8`: four 8-bit registers, one-byte
//! instructions, paged 64 KiB memory.
//!
//! For comparison with another implementation; not an assembler, and not a table of instructions to generate anything
//! from.

use crate::{Console, Fault, Model, Outcome, Trace, no_such_memory, no_such_register, zeroed_ram};

/// Register number of C, the high byte of a JMPFAR target.
const C: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Registers {
    pc: u16,
    /// a, b, c, d.
    r: [u8; 4],
    page: u8,
    stackpage: u8,
    sp: u8,
}

/// The `quad8` machine.
pub struct Quad8 {
    reg: Registers,
    ram: Box<[u8; 65536]>,
    trace: Trace,
}

impl Default for Quad8 {
    /// The machine at reset.
    fn default() -> Self {
        Quad8 { reg: Registers::default(), ram: zeroed_ram(), trace: Trace::new() }
    }
}

/// The address made of two bytes.
fn address(high: u8, low: u8) -> u16 {
    u16::from_be_bytes([high, low])
}

impl Quad8 {
    fn load(&self, address: u16) -> u8 {
        self.ram[usize::from(address)]
    }

    fn store(&mut self, address: u16, value: u8) {
        let cell = &mut self.ram[usize::from(address)];
        self.trace.store(0, address, cell, value);
    }

    fn skip_if(&mut self, condition: bool) {
        if condition {
            self.reg.pc = self.reg.pc.wrapping_add(1);
        }
    }

    /// Executes the instruction at `pc`. A fault may leave `pc` advanced; the
    /// caller puts it back.
    fn execute(&mut self, console: &mut Console) -> Outcome {
        let here = self.reg.pc;
        let next = here.wrapping_add(1);
        let [page_of_here, _] = here.to_be_bytes();
        let [_, next_low] = next.to_be_bytes();
        let opcode = self.load(here);
        // Most instructions are "oooo dd ss": RD in bits 3-2, RS in bits 1-0.
        let d = usize::from((opcode >> 2) & 3);
        let s = usize::from(opcode & 3);
        let rd = self.reg.r[d];
        let rs = self.reg.r[s];

        self.reg.pc = next;
        match opcode {
            // NOP
            0x00 => {}
            // HALT
            0x01 => return Outcome::Halted,
            // PAGE rd: 0000 pp 11
            0x03 | 0x07 | 0x0B | 0x0F => self.reg.page = rd,
            // 0000xx00 and 0000xx01 with xx not 00, and 0000xx10
            0x02 | 0x04..=0x06 | 0x08..=0x0A | 0x0C..=0x0E => return undefined(),
            // SUB rd, rs
            0x10..=0x1F => self.reg.r[d] = rd.wrapping_sub(rs),
            // LOAD rd, [rs]
            0x20..=0x2F => self.reg.r[d] = self.load(address(self.reg.page, rs)),
            // STORE rd, [rs]
            0x30..=0x3F => self.store(address(self.reg.page, rs), rd),
            // SKIPZ, SKIPNZ, SKIPL, SKIPGE rd
            0x40..=0x4F => match opcode & 3 {
                0 => self.skip_if(rd == 0),
                1 => self.skip_if(rd != 0),
                2 => self.skip_if(rd >= 0x80),
                _ => self.skip_if(rd < 0x80),
            },
            // JALR rd, [rs]: `rs` was read before RD is written
            0x50..=0x5F => {
                self.reg.r[d] = next_low;
                self.reg.pc = address(page_of_here, rs);
            }
            // NAND rd, rs
            0x60..=0x6F => self.reg.r[d] = !(rd & rs),
            // ADD rd, rs
            0x70..=0x7F => self.reg.r[d] = rd.wrapping_add(rs),
            // INC, DEC, OUT, IN rd
            0x80..=0x8F => match opcode & 3 {
                0 => self.reg.r[d] = rd.wrapping_add(1),
                1 => self.reg.r[d] = rd.wrapping_sub(1),
                2 => {
                    self.trace.io = true;
                    console.write(rd);
                }
                _ => {
                    self.trace.io = true;
                    self.reg.r[d] = console.read();
                }
            },
            // JMPFAR rd, rs: to C:RD, both read before RS is written
            0x90..=0x9F => {
                self.reg.pc = address(self.reg.r[C], rd);
                self.reg.r[s] = next_low;
            }
            // PUSH, POP, STACKPAGE rd
            0xA0..=0xAF => match opcode & 3 {
                0 => {
                    self.reg.sp = self.reg.sp.wrapping_sub(1);
                    self.store(address(self.reg.stackpage, self.reg.sp), rd);
                }
                1 => {
                    self.reg.r[d] = self.load(address(self.reg.stackpage, self.reg.sp));
                    self.reg.sp = self.reg.sp.wrapping_add(1);
                }
                2 => self.reg.stackpage = rd,
                _ => return undefined(),
            },
            // 1011xxxx
            0xB0..=0xBF => return undefined(),
            // SLI rd, imm: 11 ii dd ii, bits 5, 4, 1, 0
            0xC0..=0xFF => {
                let immediate = ((opcode >> 4) & 3) << 2 | (opcode & 3);
                self.reg.r[d] = rd << 4 | immediate;
            }
        }
        Outcome::Running
    }
}

fn undefined() -> Outcome {
    Outcome::Fault(Fault::Undefined)
}

impl Model for Quad8 {
    fn name(&self) -> &'static str {
        "quad8"
    }

    fn registers(&self) -> &'static [(&'static str, u32)] {
        &[("pc", 16), ("a", 8), ("b", 8), ("c", 8), ("d", 8), ("page", 8), ("stackpage", 8), ("sp", 8)]
    }

    fn register(&self, name: &str) -> u64 {
        match name {
            "pc" => self.reg.pc.into(),
            "a" => self.reg.r[0].into(),
            "b" => self.reg.r[1].into(),
            "c" => self.reg.r[2].into(),
            "d" => self.reg.r[3].into(),
            "page" => self.reg.page.into(),
            "stackpage" => self.reg.stackpage.into(),
            "sp" => self.reg.sp.into(),
            _ => no_such_register("quad8", name),
        }
    }

    fn set_register(&mut self, name: &str, value: u64) {
        match name {
            "pc" => self.reg.pc = value as u16,
            "a" => self.reg.r[0] = value as u8,
            "b" => self.reg.r[1] = value as u8,
            "c" => self.reg.r[2] = value as u8,
            "d" => self.reg.r[3] = value as u8,
            "page" => self.reg.page = value as u8,
            "stackpage" => self.reg.stackpage = value as u8,
            "sp" => self.reg.sp = value as u8,
            _ => no_such_register("quad8", name),
        }
    }

    fn memories(&self) -> &'static [(&'static str, usize)] {
        &[("ram", 65536)]
    }

    fn memory(&self, name: &str) -> &[u8] {
        match name {
            "ram" => &self.ram[..],
            _ => no_such_memory("quad8", name),
        }
    }

    fn memory_mut(&mut self, name: &str) -> &mut [u8] {
        match name {
            "ram" => &mut self.ram[..],
            _ => no_such_memory("quad8", name),
        }
    }

    fn step(&mut self, console: &mut Console) -> Outcome {
        let before = self.reg;
        self.trace.begin();
        match self.execute(console) {
            Outcome::Running if self.reg == before && self.trace.is_quiet() => Outcome::Halted,
            Outcome::Fault(fault) => {
                self.reg = before;
                Outcome::Fault(fault)
            }
            outcome => outcome,
        }
    }

    fn touched(&self) -> &[(usize, u16)] {
        &self.trace.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with `program` at `pc`, ready to run it.
    fn at(pc: u16, program: &[u8]) -> Quad8 {
        let mut m = Quad8::default();
        m.reg.pc = pc;
        for (i, byte) in program.iter().enumerate() {
            m.ram[usize::from(pc.wrapping_add(i as u16))] = *byte;
        }
        m
    }

    fn step(m: &mut Quad8) -> Outcome {
        m.step(&mut Console::default())
    }

    #[test]
    fn sequential_execution_carries_into_the_next_page_and_wraps() {
        let mut m = at(0x01FF, &[0x00]);
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.reg.pc, 0x0200);
        let mut m = at(0xFFFF, &[0x00]);
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.reg.pc, 0x0000);
    }

    #[test]
    fn skip_skips_one_byte() {
        // skipz b, with b = 0, then with b = 1
        let mut m = at(0xFFFE, &[0x44]);
        step(&mut m);
        assert_eq!(m.reg.pc, 0x0000);
        let mut m = at(0xFFFE, &[0x44]);
        m.reg.r[1] = 1;
        step(&mut m);
        assert_eq!(m.reg.pc, 0xFFFF);
        // skipnz d
        let mut m = at(0x10, &[0x4D]);
        m.reg.r[3] = 9;
        step(&mut m);
        assert_eq!(m.reg.pc, 0x12);
    }

    #[test]
    fn skipl_and_skipge_are_signed() {
        for (value, after_skipl, after_skipge) in [(0x80, 2, 1), (0xFF, 2, 1), (0x7F, 1, 2), (0x00, 1, 2)] {
            let mut m = at(0, &[0x42]);
            m.reg.r[0] = value;
            step(&mut m);
            assert_eq!(m.reg.pc, after_skipl);
            let mut m = at(0, &[0x43]);
            m.reg.r[0] = value;
            step(&mut m);
            assert_eq!(m.reg.pc, after_skipge);
        }
    }

    #[test]
    fn jalr_stays_in_the_page_it_runs_in() {
        // jalr a, [b] in the last byte of page 0x12
        let mut m = at(0x12FF, &[0x51]);
        m.reg.r = [0xAA, 0x34, 0, 0];
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.reg.pc, 0x1234);
        assert_eq!(m.reg.r, [0x00, 0x34, 0, 0]); // low byte of 0x1300
    }

    #[test]
    fn jalr_with_rd_and_rs_the_same_takes_the_old_value_as_target() {
        // jalr b, [b]
        let mut m = at(0x1220, &[0x55]);
        m.reg.r[1] = 0x34;
        step(&mut m);
        assert_eq!(m.reg.pc, 0x1234);
        assert_eq!(m.reg.r[1], 0x21);
    }

    #[test]
    fn jmpfar_target_is_read_before_rs_is_written() {
        // jmpfar b, c (the documented pattern 1001 dd 10)
        let mut m = at(0x0510, &[0x96]);
        m.reg.r = [1, 0x22, 0x33, 4];
        step(&mut m);
        assert_eq!(m.reg.pc, 0x3322);
        assert_eq!(m.reg.r, [1, 0x22, 0x11, 4]);
        // jmpfar b, b: RD is RS
        let mut m = at(0x0510, &[0x95]);
        m.reg.r = [1, 0x22, 0x33, 4];
        step(&mut m);
        assert_eq!(m.reg.pc, 0x3322);
        assert_eq!(m.reg.r, [1, 0x11, 0x33, 4]);
        // jmpfar c, d: C:C
        let mut m = at(0x0510, &[0x9B]);
        m.reg.r = [1, 0x22, 0x33, 4];
        step(&mut m);
        assert_eq!(m.reg.pc, 0x3333);
        assert_eq!(m.reg.r, [1, 0x22, 0x33, 0x11]);
    }

    #[test]
    fn push_decrements_sp_first_so_the_first_goes_to_ff_of_the_stack_page() {
        // stackpage a; push b; pop c
        let mut m = at(0, &[0xA2, 0xA4, 0xA9]);
        m.reg.r = [0x40, 0x99, 0, 0];
        step(&mut m);
        step(&mut m);
        assert_eq!(m.ram[0x40FF], 0x99);
        assert_eq!(m.reg.sp, 0xFF);
        assert_eq!(m.touched(), &[(0, 0x40FF)]);
        step(&mut m);
        assert_eq!(m.reg.r[2], 0x99);
        assert_eq!(m.reg.sp, 0);
        assert_eq!(m.touched(), &[]);
    }

    #[test]
    fn page_copies_a_register_and_load_store_use_it() {
        // page d; store a, [b]; load c, [b]
        let mut m = at(0, &[0x0F, 0x31, 0x29]);
        m.reg.r = [0x5A, 0x10, 0, 0x80];
        step(&mut m);
        assert_eq!(m.reg.page, 0x80);
        step(&mut m);
        assert_eq!(m.ram[0x8010], 0x5A);
        step(&mut m);
        assert_eq!(m.reg.r[2], 0x5A);
    }

    #[test]
    fn sli_immediate_is_bits_5_4_1_0() {
        // 11 10 01 01: imm = 1001, rd = b
        let mut m = at(0, &[0b1110_0101]);
        m.reg.r[1] = 0x7C;
        step(&mut m);
        assert_eq!(m.reg.r[1], 0xC9);
    }

    #[test]
    fn the_undefined_encodings_fault_and_leave_everything() {
        let mut expected: Vec<u8> =
            vec![0x02, 0x04, 0x05, 0x06, 0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x0E, 0xA3, 0xA7, 0xAB, 0xAF];
        expected.extend(0xB0..=0xBF);
        for opcode in 0..=0xFF {
            let mut m = at(0x123, &[opcode]);
            let before = m.reg;
            let outcome = step(&mut m);
            let faulted = outcome == Outcome::Fault(Fault::Undefined);
            assert_eq!(faulted, expected.contains(&opcode), "{opcode:02X}");
            if faulted {
                assert!(m.reg == before);
            }
        }
    }

    #[test]
    fn halt_completes_with_pc_at_the_next_instruction() {
        let mut m = at(0xFFFF, &[0x01]);
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 0);
    }

    #[test]
    fn a_jump_to_itself_halts_once_it_leaves_everything_unchanged() {
        // jalr a, [b] with b its own address: the first time a changes.
        let mut m = at(5, &[0x51]);
        m.reg.r[1] = 5;
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(m.reg.r[0], 6);
        assert_eq!(step(&mut m), Outcome::Halted);
        assert_eq!(m.reg.pc, 5);
    }

    #[test]
    fn input_reads_0_at_its_end_and_output_goes_as_it_is() {
        // in a; out a; in a
        let mut m = at(0, &[0x83, 0x82, 0x83]);
        let mut console = Console::with_input(&[0xFE]);
        for _ in 0..3 {
            assert_eq!(m.step(&mut console), Outcome::Running);
        }
        assert_eq!(console.output, [0xFE]);
        assert_eq!(m.reg.r[0], 0);
    }

    #[test]
    fn sub_nand_add_inc_dec_wrap() {
        for (opcode, expected) in
            [(0x11, 0x05u8.wrapping_sub(0xF0)), (0x61, 0xFF), (0x71, 0xF5), (0x80, 0x06), (0x81, 0x04)]
        {
            let mut m = at(0, &[opcode]);
            m.reg.r = [0x05, 0xF0, 0, 0];
            step(&mut m);
            assert_eq!(m.reg.r[0], expected, "{opcode:02X}");
        }
        let mut m = at(0, &[0x81]);
        step(&mut m);
        assert_eq!(m.reg.r[0], 0xFF);
    }

    #[test]
    fn a_program_can_change_its_own_code_from_the_next_instruction_on() {
        // store a, [b] over the byte that follows: it becomes HALT
        let mut m = at(0, &[0x31, 0x00]);
        m.reg.r = [0x01, 0x01, 0, 0];
        assert_eq!(step(&mut m), Outcome::Running);
        assert_eq!(step(&mut m), Outcome::Halted);
    }
}
