//! Conditions for leaving a region before an instruction.

use lathe_fast::code_map::GROUP_BITS;
use lathe_isa::model::MemoryId;
use lathe_values::ValueId;
use lathe_vm::memory::{PAGE_BITS, together};

use super::Type::{I32, I64};
use super::values::{Computed, type_of};
use super::{Builder, Comparison, Emitter, Operation, Placed};
use crate::context::{Context, offset};
use crate::region::{Block, Check, Snapshot};

impl<B: Builder> Emitter<'_, B> {
    /// Leaves the region if any of the conditions holds.
    pub(super) fn leave_if(
        &mut self,
        block: &Block,
        checks: &[Check],
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) {
        let in_turn = B::ASKED_IN_TURN > 1 || checks.len() == 1;
        let mut conditions = Vec::new();
        for check in checks {
            conditions.push(match check {
                Check::Marked { first, count } if self.permits.is_some() => {
                    self.leave_if_marked(block, *first, *count, snapshot, computed);
                    continue;
                }
                Check::When(condition) if in_turn => self.values(block, computed).condition(*condition),
                Check::When(condition) => {
                    let bit = self.values(block, computed).exact(*condition);
                    self.builder.widen(bit)
                }
                Check::Marked { first, count } => self.marks(block, *first, *count, computed),
                Check::MarkedIf(address, guard) => self.marks_if(block, *address, *guard, computed),
                Check::Wraps { first, count } => self.wraps(block, *first, *count, computed),
                Check::Closed(memory, address) => self.closed(block, *memory, *address, computed),
            });
        }
        if !in_turn {
            let any = conditions.into_iter().reduce(|x, y| self.builder.calculate(Operation::Or, x, y));
            conditions = any.into_iter().collect();
        }
        for some in conditions.chunks(B::ASKED_IN_TURN) {
            self.exit_if_any(block, some, snapshot, computed);
        }
        for check in checks {
            if let Check::Marked { first, count } | Check::Wraps { first, count } = check {
                computed.set_contiguous(*first, *count);
            }
        }
    }

    /// Leaves the region if one of this many cells is marked. The permit nearly always decides this; finding the marks
    /// of a large memory takes longer.
    fn leave_if_marked(
        &mut self,
        block: &Block,
        first: ValueId,
        count: u64,
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) {
        let Some(permits) = self.permits else { return };
        let address = self.masked(block, first, self.isa.code_memory().last(), computed);
        let group = self.builder.calculate_with(Operation::ShiftRight, B::POINTER, address, u64::from(GROUP_BITS));
        let at = self.builder.calculate(Operation::Add, permits, group);
        let permit = self.builder.load(I32, 1, at, 0);
        let is_doubtful = self.builder.is_zero(permit);
        self.builder.begin_if(is_doubtful, Placed::Away);
        self.builder.is_cold();
        let mark = computed.mark();
        let marks = self.marks(block, first, count, computed);
        self.exit_if(block, marks, snapshot, computed);
        computed.rewind(mark);
        self.builder.end_if();
    }

    /// Returns the marks of this many cells from an address on, as one number. There are marks after the last cell, so
    /// this does not reach beyond the marks.
    fn marks(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed<B::Value>) -> B::Value {
        let address = self.masked(block, first, self.isa.code_memory().last(), computed);
        let at = if self.isa.code_memory().is_large() {
            self.mark_in_row(address)
        } else {
            self.builder.calculate(Operation::Add, self.marks, address)
        };
        let marks = match count {
            1 | 2 => self.builder.load(I64, count as u32, at, 0),
            3 | 4 => self.builder.load(I64, 4, at, 0),
            _ => self.builder.load(I64, 8, at, 0),
        };
        if let Some(rest) = count.checked_sub(8).filter(|rest| *rest > 0) {
            let others = self.builder.load(I64, 8, at, rest as i32);
            return self.builder.calculate(Operation::Or, marks, others);
        }
        if matches!(count, 1 | 2 | 4 | 8) {
            return marks;
        }
        self.builder.calculate_with(Operation::And, I64, marks, (1 << (8 * count)) - 1)
    }

    /// Returns the host address of the mark of a cell of a large memory: the table has the row of its page.
    fn mark_in_row(&mut self, address: B::Value) -> B::Value {
        let ty = B::POINTER;
        let (marks, table) = match self.rows {
            Some(rows) => (self.marks, rows),
            None => {
                let marks = self.builder.load_pointer(self.pointer, offset!(marks));
                (marks, self.builder.load_pointer(self.pointer, offset!(rows)))
            }
        };
        let entry = self.page_entry(table, address);
        let row = self.builder.load_pointer(entry, 0);
        let within = self.builder.calculate_with(Operation::And, ty, address, (1 << PAGE_BITS) - 1);
        let row = self.builder.calculate(Operation::Add, marks, row);
        self.builder.calculate(Operation::Add, row, within)
    }

    fn marks_if(
        &mut self,
        block: &Block,
        address: ValueId,
        guard: ValueId,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        let mark = self.marks(block, address, 1, computed);
        let guard = self.values(block, computed).exact(guard);
        let guard = self.builder.widen(guard);
        let all = self.builder.negate(guard);
        self.builder.calculate(Operation::And, mark, all)
    }

    /// Returns whether this many cells from an address on run over the last cell of the memory, or of its contiguous
    /// part.
    fn wraps(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed<B::Value>) -> B::Value {
        let width = block.graph.width(first);
        let mut first = self.values(block, computed).exact(first);
        let together = together(width.mask());
        if together != width.mask() {
            first = self.builder.calculate_with(Operation::And, type_of(width), first, together);
        }
        let last = self.builder.constant(type_of(width), together - (count - 1));
        let wraps = self.builder.compare(Comparison::Less, last, first);
        self.builder.bit(I64, wraps)
    }

    /// Returns whether the page of a cell is closed.
    fn closed(
        &mut self,
        block: &Block,
        memory: MemoryId,
        address: ValueId,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        let ty = B::POINTER;
        let opened = self.builder.load_pointer(self.pointer, offset!(opened));
        let table = self.builder.load_pointer(opened, (memory.0 * ty.bytes()) as i32);
        let address = self.masked(block, address, self.isa.memory(memory).last(), computed);
        let page = self.builder.calculate_with(Operation::ShiftRight, ty, address, u64::from(PAGE_BITS));
        let at = self.builder.calculate(Operation::Add, table, page);
        let opened = self.builder.load(I64, 1, at, 0);
        self.builder.calculate_with(Operation::Xor, I64, opened, 1)
    }
}
