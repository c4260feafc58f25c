//! Conditions to leave a region before an instruction.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use lathe_isa::model::MemoryId;
use lathe_values::ValueId;
use lathe_vm::memory::PAGE_BITS;

use super::context::{Context, offset};
use super::{Emitter, present};
use crate::region::{Block, Check, Snapshot};
use crate::values::Computed;

impl Emitter<'_, '_> {
    /// Leaves the region under any of the conditions.
    pub(super) fn leave_if(&mut self, block: &Block, checks: &[Check], snapshot: &Snapshot, computed: &mut Computed) {
        let mut any: Option<Value> = None;
        for check in checks {
            let one = match check {
                Check::When(condition) if checks.len() == 1 => self.values(block, computed).condition(*condition),
                Check::When(condition) => {
                    let bit = self.values(block, computed).exact(*condition);
                    self.builder.ins().uextend(I64, bit)
                }
                Check::Marked { first, count } => self.marks(block, *first, *count, computed),
                Check::MarkedIf(address, guard) => self.marks_if(block, *address, *guard, computed),
                Check::Wraps { first, count } => self.wraps(block, *first, *count, computed),
                Check::Closed(memory, address) => self.closed(block, *memory, *address, computed),
            };
            any = Some(match any {
                Some(before) => self.builder.ins().bor(before, one),
                None => one,
            });
        }
        let Some(any) = any else { return };
        let (cold, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(any, cold, &[], after, &[]);
        self.exit_at(block, cold, snapshot, computed);
        self.builder.switch_to_block(after);
    }

    /// The marks of this many cells from an address on, as one number. There are marks after the last
    /// cell, so this does not reach beyond them.
    fn marks(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed) -> Value {
        let address = self.masked(block, first, self.isa.code_memory().cells() - 1, computed);
        let at = if self.isa.code_memory().is_large() {
            self.mark_in_row(address)
        } else {
            self.builder.ins().iadd(self.marks, address)
        };
        let marks = match count {
            1 => self.builder.ins().uload8(I64, present(), at, 0),
            2 => self.builder.ins().uload16(I64, present(), at, 0),
            3 | 4 => self.builder.ins().uload32(present(), at, 0),
            _ => self.builder.ins().load(I64, present(), at, 0),
        };
        if let Some(rest) = count.checked_sub(8).filter(|rest| *rest > 0) {
            let others = self.builder.ins().load(I64, present(), at, rest as i32);
            return self.builder.ins().bor(marks, others);
        }
        if matches!(count, 1 | 2 | 4 | 8) {
            return marks;
        }
        let wanted = self.builder.ins().iconst(I64, (1 << (8 * count)) - 1);
        self.builder.ins().band(marks, wanted)
    }

    /// Where the mark of a cell of a large memory is: the table tells the row of its page.
    fn mark_in_row(&mut self, address: Value) -> Value {
        const { assert!(size_of::<usize>() == 8, "entries of the table are read as 64 bits") };
        // Kept in a register all the time, it would be in the way of guest registers.
        let table = self.builder.ins().load(I64, present(), self.pointer, offset!(rows));
        let page = self.builder.ins().ushr_imm_u(address, i64::from(PAGE_BITS));
        let entry = self.builder.ins().ishl_imm_u(page, 3);
        let entry = self.builder.ins().iadd(table, entry);
        let row = self.builder.ins().load(I64, present(), entry, 0);
        let within = self.builder.ins().iconst(I64, (1 << PAGE_BITS) - 1);
        let within = self.builder.ins().band(address, within);
        let row = self.builder.ins().iadd(self.marks, row);
        self.builder.ins().iadd(row, within)
    }

    fn marks_if(&mut self, block: &Block, address: ValueId, guard: ValueId, computed: &mut Computed) -> Value {
        let mark = self.marks(block, address, 1, computed);
        let guard = self.values(block, computed).exact(guard);
        let guard = self.builder.ins().uextend(I64, guard);
        let all = self.builder.ins().ineg(guard);
        self.builder.ins().band(mark, all)
    }

    /// Whether this many cells from an address on run over the last one.
    fn wraps(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed) -> Value {
        let mask = block.graph.width(first).mask();
        let first = self.masked(block, first, mask, computed);
        let last = self.builder.ins().iconst(I64, (mask - (count - 1)) as i64);
        let wraps = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, first, last);
        self.builder.ins().uextend(I64, wraps)
    }

    /// Whether the page of a cell is closed.
    fn closed(&mut self, block: &Block, memory: MemoryId, address: ValueId, computed: &mut Computed) -> Value {
        let opened = self.builder.ins().load(I64, present(), self.pointer, offset!(opened));
        let table = self.builder.ins().load(I64, present(), opened, memory.0 as i32 * 8);
        let address = self.masked(block, address, self.isa.memory(memory).cells() - 1, computed);
        let page = self.builder.ins().ushr_imm_u(address, i64::from(PAGE_BITS));
        let at = self.builder.ins().iadd(table, page);
        let opened = self.builder.ins().uload8(I64, present(), at, 0);
        self.builder.ins().bxor_imm_u(opened, 1)
    }
}
