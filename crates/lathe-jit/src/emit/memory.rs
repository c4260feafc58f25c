//! Cells of guest memory. Every guest value that becomes part of a host address is masked here.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use lathe_isa::model::{MemoryId, Order};
use lathe_values::{Graph, Node, Store, ValueId};

use super::{Emitter, present};
use crate::region::{Block, Group, Stores};
use crate::values::{Computed, type_of};

/// An address as an index, of which only the bits of a mask count, and a number beyond it.
#[derive(Debug, PartialEq, Eq)]
struct Indexed {
    index: ValueId,
    mask: u64,
    beyond: u64,
}

/// An address that cannot lie past the last cell. Where it is a narrow index into a table, masking
/// the index says that already, and the host adds the table's address for nothing.
fn indexed(graph: &Graph, address: ValueId, last: u64) -> Indexed {
    if let (Some(base), beyond) = graph.base_and_offset(address)
        && let Node::ZeroExtend(index) = graph.node(base)
        && graph.width(index).mask().checked_add(beyond).is_some_and(|end| end <= last)
    {
        return Indexed { index, mask: graph.width(index).mask(), beyond };
    }
    Indexed { index: address, mask: last, beyond: 0 }
}

impl Emitter<'_, '_> {
    /// The host address of a cell.
    fn cell(&mut self, block: &Block, memory: MemoryId, address: ValueId, computed: &mut Computed) -> Value {
        let described = self.isa.memory(memory);
        let shift = i64::from(described.cell.bits() > 8) * 3;
        let Indexed { index, mask, beyond } = indexed(&block.graph, address, described.cells() - 1);
        let index = self.masked(block, index, mask, computed);
        let offset = if shift == 0 { index } else { self.builder.ins().ishl_imm_u(index, shift) };
        let cell = self.builder.ins().iadd(self.memories[memory.index()], offset);
        if beyond == 0 { cell } else { self.builder.ins().iadd_imm_s(cell, (beyond as i64) << shift) }
    }

    /// An address in 64 bits, masked.
    pub(super) fn masked(&mut self, block: &Block, address: ValueId, mask: u64, computed: &mut Computed) -> Value {
        let narrow = self.values(block, computed).loose(address);
        let wide = match type_of(block.graph.width(address)) {
            I32 => self.builder.ins().uextend(I64, narrow),
            _ => narrow,
        };
        let mask = self.builder.ins().iconst(I64, mask as i64);
        self.builder.ins().band(wide, mask)
    }

    pub(super) fn load(&mut self, block: &Block, load: ValueId, computed: &mut Computed) {
        let Node::Load(memory, address, _) = block.graph.node(load) else { return };
        let cell = self.isa.memory(memory).cell;
        let from = self.cell(block, memory, address, computed);
        let value = if cell.bits() <= 8 {
            self.builder.ins().uload8(I32, present(), from, 0)
        } else {
            self.builder.ins().load(type_of(cell), present(), from, 0)
        };
        computed.set_exact(load, value);
    }

    /// Reads neighbouring bytes at once. Where they are not contiguous, the region is left before
    /// anything is made of them; those beyond the last then lie in the spare bytes of the memory.
    pub(super) fn load_group(&mut self, block: &Block, group: &Group, computed: &mut Computed) {
        let Some(Node::Load(memory, address, _)) = group.cells.first().map(|first| block.graph.node(*first)) else {
            return;
        };
        let from = self.cell(block, memory, address, computed);
        let all = match group.cells.len() {
            2 => self.builder.ins().uload16(I32, present(), from, 0),
            4 => self.builder.ins().load(I32, present(), from, 0),
            _ => self.builder.ins().load(I64, present(), from, 0),
        };
        for (cell, number) in group.cells.iter().zip(0..) {
            let shifted = if number == 0 { all } else { self.builder.ins().ushr_imm_u(all, 8 * number) };
            let narrow = if group.cells.len() == 8 { self.builder.ins().ireduce(I32, shifted) } else { shifted };
            let byte = self.builder.ins().iconst(I32, 0xFF);
            let value = self.builder.ins().band(narrow, byte);
            computed.set_exact(*cell, value);
        }
        if let Some(little) = group.little {
            computed.set_exact(little, all);
        }
        if let Some(big) = group.big {
            let swapped = self.swap_bytes(all, group.cells.len());
            computed.set_exact(big, swapped);
        }
    }

    /// This many low bytes in the other order.
    fn swap_bytes(&mut self, value: Value, count: usize) -> Value {
        let swapped = self.builder.ins().bswap(value);
        if count == 2 { self.builder.ins().ushr_imm_u(swapped, 16) } else { swapped }
    }

    pub(super) fn stores(&mut self, block: &Block, stores: &Stores, computed: &mut Computed) {
        for group in &stores.groups {
            let store = &stores.stores[group.positions[0]];
            let to = self.cell(block, store.memory, store.address, computed);
            let value = self.values(block, computed).loose(group.value);
            let count = group.positions.len();
            let value = if group.order == Order::Big { self.swap_bytes(value, count) } else { value };
            match count {
                2 => self.builder.ins().istore16(present(), value, to, 0),
                _ => self.builder.ins().store(present(), value, to, 0),
            };
        }
        let is_grouped = |at| stores.groups.iter().any(|group| group.positions.contains(&at));
        for (_, store) in stores.stores.iter().enumerate().filter(|(at, _)| !is_grouped(*at)) {
            self.store(block, store, computed);
        }
    }

    fn store(&mut self, block: &Block, store: &Store, computed: &mut Computed) {
        let Some(guard) = store.guard else { return self.store_now(block, store, computed) };
        let guard = self.values(block, computed).condition(guard);
        let (doing, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(guard, doing, &[], after, &[]);
        self.builder.switch_to_block(doing);
        let mark = computed.mark();
        self.store_now(block, store, computed);
        self.builder.ins().jump(after, &[]);
        computed.rewind(mark);
        self.builder.switch_to_block(after);
    }

    fn store_now(&mut self, block: &Block, store: &Store, computed: &mut Computed) {
        let cell = self.isa.memory(store.memory).cell;
        let to = self.cell(block, store.memory, store.address, computed);
        if cell.bits() == 8 {
            let value = self.values(block, computed).loose(store.value);
            self.builder.ins().istore8(present(), value, to, 0);
        } else if cell.bits() < 8 {
            let value = self.values(block, computed).exact(store.value);
            self.builder.ins().istore8(present(), value, to, 0);
        } else {
            let value = self.values(block, computed).exact(store.value);
            let wide = if type_of(cell) == I32 { self.builder.ins().uextend(I64, value) } else { value };
            self.builder.ins().store(present(), wide, to, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use lathe_base::Width;
    use lathe_isa::model::RegisterId;
    use lathe_isa::operators::BinaryOperator;

    use super::*;

    #[test]
    fn an_index_is_masked_by_itself_where_the_table_ends_before_the_memory_does() {
        let mut graph = Graph::default();
        let [byte, word] = [8, 16].map(|bits| Width::new(bits).expect("a width"));
        let index = graph.register(byte, RegisterId(0));
        let wide = graph.zero_extend(word, index);
        let mut from = |table: u64| {
            let table = graph.constant(word, table);
            let address = graph.binary(BinaryOperator::Add, wide, table);
            (address, indexed(&graph, address, 0x0FFF))
        };
        assert_eq!(from(0).1, Indexed { index, mask: 0xFF, beyond: 0 });
        assert_eq!(from(0x0F00).1, Indexed { index, mask: 0xFF, beyond: 0x0F00 });
        let (address, whole) = from(0x0F01);
        assert_eq!(whole, Indexed { index: address, mask: 0x0FFF, beyond: 0 });
        let (address, whole) = from(0xFFFF);
        assert_eq!(whole, Indexed { index: address, mask: 0x0FFF, beyond: 0 });
    }
}
