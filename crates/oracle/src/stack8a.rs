//! The reference model of `stack8a`: the 8-bit stack machine, first revision.
//!
//! For comparison with another implementation; not an assembler, and not a table of instructions to generate anything
//! from.

use crate::stack8::{MEMORIES, REGISTERS, Stack8, truth};
use crate::{Console, Fault, Model, Outcome};

/// The `stack8a` machine.
pub struct Stack8a {
    m: Stack8,
}

impl Default for Stack8a {
    /// The machine at reset.
    fn default() -> Self {
        Stack8a { m: Stack8::new() }
    }
}

impl Stack8a {
    /// Executes the instruction at `pc`. A fault may leave `pc` advanced; the
    /// caller puts it back.
    fn execute(&mut self) -> Outcome {
        let m = &mut self.m;
        let opcode = m.fetch();
        // The operand of the shifts.
        let n = opcode & 7;
        match opcode {
            // nop
            0x00 => {}
            // x00: 8-bit immediate
            0x01 => {
                let value = m.fetch();
                m.push(value);
            }
            // htl
            0x02 => return Outcome::Halted,
            // lda: address -> value
            0x11 => {
                let address = m.pop();
                m.push(m.load_data(address));
            }
            // sta: value, address on top
            0x12 => {
                let address = m.pop();
                let value = m.pop();
                m.store_data(address, value);
            }
            // ldp: the stack pointer from before the push
            0x13 => m.push(m.reg.sp),
            // stp: the popped value replaces the stack pointer
            0x14 => m.reg.sp = m.pop(),
            // ldi: the address of the next instruction
            0x15 => m.push(m.reg.pc),
            // sti
            0x16 => m.reg.pc = m.pop(),
            // ldc
            0x17 => m.push(truth(m.reg.carry)),
            // stc
            0x18 => m.reg.carry = m.pop() != 0,
            // dup
            0x19 => m.load_offset(0),
            // drp
            0x1A => {
                m.pop();
            }
            // swp
            0x1B => m.swap(),
            // add, adc, sub, sbc
            0x20 => m.add(false),
            0x21 => m.add(m.reg.carry),
            0x22 => m.subtract(false),
            0x23 => m.subtract(m.reg.carry),
            // inc
            0x24 => {
                let value = m.pop();
                m.push(value.wrapping_add(1));
            }
            // dec
            0x25 => {
                let value = m.pop();
                m.push(value.wrapping_sub(1));
            }
            // ilt
            0x26 => {
                let (a, b) = m.pop_two();
                m.push(truth(a < b));
            }
            // igt
            0x27 => {
                let (a, b) = m.pop_two();
                m.push(truth(a > b));
            }
            // ieq
            0x28 => {
                let (a, b) = m.pop_two();
                m.push(truth(a == b));
            }
            // nez
            0x29 => {
                let value = m.pop();
                m.push(truth(value != 0));
            }
            // not
            0x30 => {
                let value = m.pop();
                m.push(!value);
            }
            // oor
            0x31 => {
                let (a, b) = m.pop_two();
                m.push(a | b);
            }
            // and
            0x32 => {
                let (a, b) = m.pop_two();
                m.push(a & b);
            }
            // xor
            0x33 => {
                let (a, b) = m.pop_two();
                m.push(a ^ b);
            }
            // nothing has these encodings
            0x03..=0x10 | 0x1C..=0x1F | 0x2A..=0x2F | 0x34..=0x3F => {
                return Outcome::Fault(Fault::Undefined);
            }
            // sto n
            0x40..=0x7F => m.store_offset(opcode & 0x3F),
            // ldo n
            0x80..=0xBF => m.load_offset(opcode & 0x3F),
            // sla n: the same result as shl
            0xC0..=0xC7 => {
                let value = m.pop();
                m.push(value << n);
            }
            // sra n
            0xC8..=0xCF => {
                let value = m.pop() as i8;
                m.push((value >> n) as u8);
            }
            // shl n
            0xD0..=0xD7 => {
                let value = m.pop();
                m.push(value << n);
            }
            // shr n
            0xD8..=0xDF => {
                let value = m.pop();
                m.push(value >> n);
            }
            // slc n
            0xE0..=0xE7 => m.rotate_left_through_carry(n),
            // src n
            0xE8..=0xEF => m.rotate_right_through_carry(n),
            // 4-bit immediate
            0xF0..=0xFF => m.push(opcode & 0x0F),
        }
        Outcome::Running
    }
}

impl Model for Stack8a {
    fn name(&self) -> &'static str {
        "stack8a"
    }

    fn registers(&self) -> &'static [(&'static str, u32)] {
        REGISTERS
    }

    fn register(&self, name: &str) -> u64 {
        self.m.register("stack8a", name)
    }

    fn set_register(&mut self, name: &str, value: u64) {
        self.m.set_register("stack8a", name, value);
    }

    fn memories(&self) -> &'static [(&'static str, usize)] {
        MEMORIES
    }

    fn memory(&self, name: &str) -> &[u8] {
        self.m.memory("stack8a", name)
    }

    fn memory_mut(&mut self, name: &str) -> &mut [u8] {
        self.m.memory_mut("stack8a", name)
    }

    fn step(&mut self, _console: &mut Console) -> Outcome {
        let before = self.m.reg;
        self.m.trace.begin();
        match self.execute() {
            Outcome::Running if self.m.reg == before && self.m.trace.is_quiet() => Outcome::Halted,
            Outcome::Fault(fault) => {
                self.m.reg = before;
                Outcome::Fault(fault)
            }
            outcome => outcome,
        }
    }

    fn touched(&self) -> &[(usize, u16)] {
        &self.m.trace.touched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a machine whose program is `program` and whose stack holds `stack`, the last of it on top.
    fn with(program: &[u8], stack: &[u8]) -> Stack8a {
        let mut s = Stack8a::default();
        s.m.prog[..program.len()].copy_from_slice(program);
        for value in stack {
            s.m.push(*value);
        }
        s
    }

    fn step(s: &mut Stack8a) -> Outcome {
        s.step(&mut Console::default())
    }

    /// Returns the stack after one step of `opcode` on `stack`, the top last.
    fn after(opcode: u8, carry: bool, stack: &[u8]) -> (Vec<u8>, bool) {
        let mut s = with(&[opcode], stack);
        s.m.reg.carry = carry;
        assert_eq!(step(&mut s), Outcome::Running);
        assert_eq!(s.m.reg.pc, 1);
        let depth = 0u8.wrapping_sub(s.m.reg.sp);
        let left = (1..=depth).map(|i| s.m.data[256 - usize::from(i)]).collect();
        (left, s.m.reg.carry)
    }

    #[test]
    fn reset_is_zero_and_the_first_push_goes_to_ff() {
        // x2A
        let mut s = with(&[0x01, 0x2A], &[]);
        assert_eq!(step(&mut s), Outcome::Running);
        assert_eq!(s.m.reg.sp, 0xFF);
        assert_eq!(s.m.data[0xFF], 0x2A);
        assert_eq!(s.m.reg.pc, 2);
        assert_eq!(s.touched(), &[(1, 0xFF)]);
        // F7 is x7
        assert_eq!(after(0xF7, false, &[]), (vec![7], false));
    }

    #[test]
    fn operands_are_in_the_order_they_were_pushed() {
        assert_eq!(after(0x22, false, &[9, 5]), (vec![4], false));
        assert_eq!(after(0x26, false, &[5, 9]), (vec![0xFF], false));
        assert_eq!(after(0x26, false, &[9, 5]), (vec![0x00], false));
        assert_eq!(after(0x27, false, &[9, 5]), (vec![0xFF], false));
        assert_eq!(after(0x27, false, &[5, 5]), (vec![0x00], false));
    }

    #[test]
    fn comparisons_are_unsigned_and_true_is_ff() {
        assert_eq!(after(0x26, true, &[0x7F, 0x80]), (vec![0xFF], true));
        assert_eq!(after(0x27, true, &[0x7F, 0x80]), (vec![0x00], true));
        assert_eq!(after(0x28, true, &[3, 3]), (vec![0xFF], true));
        assert_eq!(after(0x28, true, &[3, 4]), (vec![0x00], true));
        assert_eq!(after(0x29, true, &[3]), (vec![0xFF], true));
        assert_eq!(after(0x29, true, &[0]), (vec![0x00], true));
    }

    #[test]
    fn add_adc_sub_sbc_set_carry() {
        assert_eq!(after(0x20, true, &[0xFF, 0x01]), (vec![0x00], true));
        assert_eq!(after(0x20, true, &[0x01, 0x01]), (vec![0x02], false));
        assert_eq!(after(0x21, true, &[0xFF, 0xFF]), (vec![0xFF], true));
        assert_eq!(after(0x21, true, &[0x01, 0x01]), (vec![0x03], false));
        assert_eq!(after(0x22, true, &[0x03, 0x01]), (vec![0x02], false));
        assert_eq!(after(0x22, false, &[0x01, 0x03]), (vec![0xFE], true));
        assert_eq!(after(0x23, true, &[0x03, 0x03]), (vec![0xFF], true));
        assert_eq!(after(0x23, true, &[0x03, 0x02]), (vec![0x00], false));
        assert_eq!(after(0x23, true, &[0x00, 0xFF]), (vec![0x00], true));
    }

    #[test]
    fn inc_dec_and_the_other_shifts_do_not_change_carry() {
        for carry in [false, true] {
            assert_eq!(after(0x24, carry, &[0xFF]), (vec![0x00], carry));
            assert_eq!(after(0x25, carry, &[0x00]), (vec![0xFF], carry));
            assert_eq!(after(0xCA, carry, &[0x85]), (vec![0xE1], carry)); // sra 2
            assert_eq!(after(0xD2, carry, &[0xC3]), (vec![0x0C], carry)); // shl 2
            assert_eq!(after(0xDA, carry, &[0xC3]), (vec![0x30], carry)); // shr 2
        }
    }

    #[test]
    fn slc_and_src_rotate_through_carry_as_nine_bits_n_times() {
        // carry:value 1:01000010, left 3 -> 0:00010101
        assert_eq!(after(0xE3, true, &[0x42]), (vec![0x15], false));
        assert_eq!(after(0xE1, false, &[0x80]), (vec![0x00], true));
        // value:carry 00000011:1, right 2 -> carry 1, value 11000000
        assert_eq!(after(0xEA, true, &[0x03]), (vec![0xC0], true));
        assert_eq!(after(0xE9, true, &[0x00]), (vec![0x80], false));
        // n = 0 changes nothing
        assert_eq!(after(0xE0, true, &[0x11]), (vec![0x11], true));
        assert_eq!(after(0xE8, true, &[0x11]), (vec![0x11], true));
    }

    #[test]
    fn lda_takes_an_address_and_sta_a_value_with_the_address_on_top() {
        let mut s = with(&[0x11], &[0x40]);
        s.m.data[0x40] = 0x99;
        step(&mut s);
        assert_eq!(s.m.data[0xFF], 0x99);
        assert_eq!(s.m.reg.sp, 0xFF);
        let mut s = with(&[0x12], &[0x99, 0x40]);
        step(&mut s);
        assert_eq!(s.m.data[0x40], 0x99);
        assert_eq!(s.m.reg.sp, 0x00);
        assert_eq!(s.touched(), &[(1, 0x40)]);
    }

    #[test]
    fn ldo_uses_sp_before_the_push_and_sto_sp_after_the_pop() {
        assert_eq!(after(0x80, false, &[1, 2, 3]), (vec![1, 2, 3, 3], false));
        assert_eq!(after(0x82, false, &[1, 2, 3]), (vec![1, 2, 3, 1], false));
        assert_eq!(after(0x40, false, &[1, 2, 3]), (vec![1, 3], false));
        assert_eq!(after(0x41, false, &[1, 2, 3]), (vec![3, 2], false));
        assert_eq!(after(0x19, false, &[1, 2]), (vec![1, 2, 2], false));
        // n is 0...63, and the sum wraps
        let mut s = with(&[0xBF], &[]);
        s.m.reg.sp = 0xF0;
        s.m.data[0x2F] = 0x77;
        step(&mut s);
        assert_eq!(s.m.data[0xEF], 0x77);
    }

    #[test]
    fn load_stack_pointer_is_from_before_the_push_and_store_sets_it() {
        assert_eq!(after(0x13, false, &[1, 2]), (vec![1, 2, 0xFE], false));
        let mut s = with(&[0x14], &[0x50]);
        step(&mut s);
        assert_eq!(s.m.reg.sp, 0x50);
    }

    #[test]
    fn load_instruction_pointer_pushes_the_address_of_the_next_instruction() {
        assert_eq!(after(0x15, false, &[]), (vec![1], false));
        // sti
        let mut s = with(&[0x16], &[0x50]);
        step(&mut s);
        assert_eq!(s.m.reg.pc, 0x50);
        assert_eq!(s.m.reg.sp, 0);
    }

    #[test]
    fn drp_swp_and_the_bitwise_operations() {
        assert_eq!(after(0x1A, false, &[1, 2]), (vec![1], false));
        assert_eq!(after(0x1B, false, &[1, 2, 3]), (vec![1, 3, 2], false));
        assert_eq!(after(0x30, false, &[0x0F]), (vec![0xF0], false));
        assert_eq!(after(0x31, false, &[0x0F, 0x35]), (vec![0x3F], false));
        assert_eq!(after(0x32, false, &[0x0F, 0x35]), (vec![0x05], false));
        assert_eq!(after(0x33, false, &[0x0F, 0x35]), (vec![0x3A], false));
    }

    #[test]
    fn the_immediate_is_fetched_across_the_end_of_program_memory() {
        let mut s = with(&[0x66], &[]);
        s.m.prog[0xFF] = 0x01;
        s.m.reg.pc = 0xFF;
        step(&mut s);
        assert_eq!(s.m.data[0xFF], 0x66);
        assert_eq!(s.m.reg.pc, 1);
    }

    #[test]
    fn htl_completes_with_pc_at_the_next_instruction() {
        let mut s = with(&[0x02], &[]);
        assert_eq!(step(&mut s), Outcome::Halted);
        assert_eq!(s.m.reg.pc, 1);
    }

    #[test]
    fn the_undefined_encodings_fault_and_leave_everything() {
        let undefined = |opcode: u8| matches!(opcode, 0x03..=0x10 | 0x1C..=0x1F | 0x2A..=0x2F | 0x34..=0x3F);
        for opcode in 0..=0xFF {
            let mut s = with(&[opcode], &[1, 2, 3]);
            let before = s.m.reg;
            let data = s.m.data;
            let faulted = step(&mut s) == Outcome::Fault(Fault::Undefined);
            assert_eq!(faulted, undefined(opcode), "{opcode:02X}");
            if faulted {
                assert!(s.m.reg == before && s.m.data == data);
            }
        }
    }

    #[test]
    fn true_is_ff_also_for_ldc_and_stc_takes_any_value_but_0() {
        assert_eq!(after(0x17, true, &[]), (vec![0xFF], true));
        assert_eq!(after(0x17, false, &[]), (vec![0x00], false));
        assert_eq!(after(0x18, false, &[0x02]), (vec![], true));
        assert_eq!(after(0x18, true, &[0x00]), (vec![], false));
    }

    #[test]
    fn c0_to_c7_are_sla() {
        assert_eq!(after(0xC0, true, &[0x91]), (vec![0x91], true));
        assert_eq!(after(0xC3, true, &[0x91]), (vec![0x88], true));
        assert_eq!(after(0xC7, false, &[0x91]), (vec![0x80], false));
    }
}
