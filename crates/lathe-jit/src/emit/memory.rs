//! Cells of guest memory. Every guest value that becomes part of a host address is masked here.

use lathe_isa::model::{MemoryId, Order};
use lathe_values::{Graph, Node, Store, ValueId};
use lathe_vm::memory::{LARGE_IN_ONE_PIECE, PAGE, PAGE_BITS};

use super::Type::{I32, I64};
use super::values::{Computed, type_of};
use super::{Builder, Emitter, Operation, Placed};
use crate::region::{Block, Group, Stores};

/// An address as a masked index plus a constant.
#[derive(Debug, PartialEq, Eq)]
struct Indexed {
    index: ValueId,
    mask: u64,
    beyond: u64,
}

/// Splits an address so that it cannot lie past the last cell. If it is a narrow index into a table, masking the index
/// is enough, and the host adds the address of the table for free.
fn indexed(graph: &Graph, address: ValueId, last: u64) -> Indexed {
    if let (Some(base), beyond) = graph.base_and_offset(address)
        && let Node::ZeroExtend(index) = graph.node(base)
        && graph.width(index).mask().checked_add(beyond).is_some_and(|end| end <= last)
    {
        return Indexed { index, mask: graph.width(index).mask(), beyond };
    }
    Indexed { index: address, mask: last, beyond: 0 }
}

impl<B: Builder> Emitter<'_, B> {
    /// Returns the host address of a cell.
    fn cell(
        &mut self,
        block: &Block,
        memory: MemoryId,
        address: ValueId,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        let described = self.isa.memory(memory);
        let shift = u64::from(described.cell.bits() > 8) * 3;
        if described.is_large() && !LARGE_IN_ONE_PIECE {
            return self.cell_in_page(block, memory, address, shift, computed);
        }
        let Indexed { index, mask, beyond } = indexed(&block.graph, address, described.last());
        let mut offset = self.masked(block, index, mask, computed);
        if shift != 0 {
            offset = self.builder.calculate_with(Operation::ShiftLeft, B::POINTER, offset, shift);
        }
        let cell = self.builder.calculate(Operation::Add, self.memories[memory.index()], offset);
        match beyond {
            0 => cell,
            _ => self.builder.calculate_with(Operation::Add, B::POINTER, cell, beyond << shift),
        }
    }

    /// Returns the host address of a cell of a large memory in pieces: a table has the address of its page.
    fn cell_in_page(
        &mut self,
        block: &Block,
        memory: MemoryId,
        address: ValueId,
        shift: u64,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        let ty = B::POINTER;
        let page = self.page(block, memory, address, computed);
        let address = self.masked(block, address, self.isa.memory(memory).last(), computed);
        let mut within = self.builder.calculate_with(Operation::And, ty, address, PAGE - 1);
        if shift != 0 {
            within = self.builder.calculate_with(Operation::ShiftLeft, ty, within, shift);
        }
        self.builder.calculate(Operation::Add, page, within)
    }

    /// Returns the host address of the page of a cell. It does not change until the region is left, so it is looked up
    /// once for all cells known to be contiguous.
    fn page(
        &mut self,
        block: &Block,
        memory: MemoryId,
        address: ValueId,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        let address = computed.in_same_page(&block.graph, address);
        if let Some(page) = computed.page(memory, address) {
            return page;
        }
        let masked = self.masked(block, address, self.isa.memory(memory).last(), computed);
        let entry = self.page_entry(self.memories[memory.index()], masked);
        let page = self.builder.load_pointer(entry, 0);
        computed.set_page(memory, address, page);
        page
    }

    /// Returns the host address of a table's entry for the page of an address.
    pub(super) fn page_entry(&mut self, table: B::Value, address: B::Value) -> B::Value {
        let ty = B::POINTER;
        let page = self.builder.calculate_with(Operation::ShiftRight, ty, address, u64::from(PAGE_BITS));
        let entry = self.builder.calculate_with(Operation::ShiftLeft, ty, page, u64::from(ty.bytes().ilog2()));
        self.builder.calculate(Operation::Add, table, entry)
    }

    /// Returns an address in as many bits as a host address has, masked.
    pub(super) fn masked(
        &mut self,
        block: &Block,
        address: ValueId,
        mask: u64,
        computed: &mut Computed<B::Value>,
    ) -> B::Value {
        if let Some(known) = block.graph.as_constant(address) {
            return self.builder.constant(B::POINTER, known & mask);
        }
        let width = block.graph.width(address);
        // If the mask changes no exact value, that value is often needed for comparisons, too.
        let value = match mask & width.mask() == width.mask() {
            true => self.values(block, computed).exact(address),
            false => self.values(block, computed).loose(address),
        };
        let address = self.builder.convert(value, type_of(width), B::POINTER);
        self.builder.low_bits(B::POINTER, address, mask)
    }

    pub(super) fn load(&mut self, block: &Block, load: ValueId, computed: &mut Computed<B::Value>) {
        let Node::Load(memory, address, _) = block.graph.node(load) else { return };
        let cell = self.isa.memory(memory).cell;
        let from = self.cell(block, memory, address, computed);
        let value = if cell.bits() <= 8 {
            self.builder.load(I32, 1, from, 0)
        } else {
            self.builder.load(type_of(cell), type_of(cell).bytes(), from, 0)
        };
        computed.set_exact(load, value);
    }

    /// Reads neighbouring bytes at once. If they are not contiguous, the region is left before they are used; bytes
    /// beyond the last cell are then read from the spare bytes of the memory or page.
    pub(super) fn load_group(&mut self, block: &Block, group: &Group, computed: &mut Computed<B::Value>) {
        let Some(Node::Load(memory, address, _)) = group.cells.first().map(|first| block.graph.node(*first)) else {
            return;
        };
        let from = self.cell(block, memory, address, computed);
        let ty = if group.cells.len() == 8 { I64 } else { I32 };
        let all = self.builder.load(ty, group.cells.len() as u32, from, 0);
        for (cell, number) in group.cells.iter().zip(0..) {
            let shifted = match number {
                0 => all,
                _ => self.builder.calculate_with(Operation::ShiftRight, ty, all, 8 * number),
            };
            let narrow = self.builder.convert(shifted, ty, I32);
            let value = self.builder.low_bits(I32, narrow, 0xFF);
            computed.set_exact(*cell, value);
        }
        if let Some(little) = group.little {
            computed.set_exact(little, all);
        }
        if let Some(big) = group.big {
            let swapped = self.builder.swap_bytes(group.cells.len() as u32, all);
            computed.set_exact(big, swapped);
        }
    }

    pub(super) fn stores(&mut self, block: &Block, stores: &Stores, computed: &mut Computed<B::Value>) {
        for group in &stores.groups {
            let store = &stores.stores[group.positions[0]];
            let to = self.cell(block, store.memory, store.address, computed);
            let value = self.values(block, computed).loose(group.value);
            let count = group.positions.len() as u32;
            let value = if group.order == Order::Big { self.builder.swap_bytes(count, value) } else { value };
            self.builder.store(count, value, to, 0);
        }
        let is_grouped = |at| stores.groups.iter().any(|group| group.positions.contains(&at));
        for (_, store) in stores.stores.iter().enumerate().filter(|(at, _)| !is_grouped(*at)) {
            self.store(block, store, computed);
        }
    }

    fn store(&mut self, block: &Block, store: &Store, computed: &mut Computed<B::Value>) {
        let Some(guard) = store.guard else { return self.store_now(block, store, computed) };
        let guard = self.values(block, computed).condition(guard);
        self.builder.begin_if(guard, Placed::Away);
        let mark = computed.mark();
        self.store_now(block, store, computed);
        computed.rewind(mark);
        self.builder.end_if();
    }

    fn store_now(&mut self, block: &Block, store: &Store, computed: &mut Computed<B::Value>) {
        let cell = self.isa.memory(store.memory).cell;
        let to = self.cell(block, store.memory, store.address, computed);
        if cell.bits() == 8 {
            let value = self.values(block, computed).loose(store.value);
            self.builder.store(1, value, to, 0);
        } else if cell.bits() < 8 {
            let value = self.values(block, computed).exact(store.value);
            self.builder.store(1, value, to, 0);
        } else {
            let value = self.values(block, computed).exact(store.value);
            let wide = self.builder.convert(value, type_of(cell), I64);
            self.builder.store(I64.bytes(), wide, to, 0);
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
