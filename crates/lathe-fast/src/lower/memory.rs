//! Cells: how they are addressed, read and written, one at a time or several together.

use lathe_isa::model::MemoryId;
use lathe_values::{Node, Store, ValueId};

use super::Lowering;
use crate::ops::{Code, NEAR_MEMORIES, Op, Shape, Slot};
use crate::wide::{Cells, WideStore, WideValue};

/// An address in the form in which an operation takes it.
pub(super) struct Address {
    pub(super) form: Form,
    pub(super) x: Slot,
    pub(super) low: Slot,
    pub(super) extra: u64,
}

/// How a memory is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    Bytes,
    Words,
    /// Not near.
    Far,
}

/// What an address is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// In a slot.
    Plain,
    /// A slot plus an offset.
    Offset,
    /// A slot above another.
    Joined,
}

impl Lowering<'_> {
    pub(super) fn load(&mut self, memory: MemoryId, address: ValueId) -> Option<Op> {
        let keeping = self.keeping(memory);
        let Address { form, x, low, extra } = self.address(address, keeping, true)?;
        let code = match (keeping, form) {
            (Keeping::Bytes, Form::Plain) => Code::Load,
            (Keeping::Bytes, Form::Offset) => Code::LoadOffset,
            (Keeping::Bytes, Form::Joined) => Code::LoadJoined,
            (Keeping::Words, Form::Offset) => Code::LoadWordOffset,
            (Keeping::Words, _) => Code::LoadWord,
            (Keeping::Far, _) => Code::LoadFar,
        };
        Some(Op { x, y: low, z: memory.index() as u8, extra, ..Op::new(code) })
    }

    /// Returns an address in a form for memories kept like this. An address that is not in a slot yet needs none if the
    /// operation can compute it.
    pub(super) fn address(&mut self, address: ValueId, keeping: Keeping, joined: bool) -> Option<Address> {
        let mask = self.graph.width(address).mask();
        let fresh = self.slots[address.index()].is_none() && keeping != Keeping::Far;
        match (self.graph.node(address), self.graph.base_and_offset(address)) {
            (Node::Binary(..), (Some(base), offset)) if fresh && base != address && mask <= u64::from(u32::MAX) => {
                Some(Address { form: Form::Offset, x: self.slot(base)?, low: 0, extra: mask << 32 | offset })
            }
            (Node::Join(high, low), _) if fresh && joined && keeping == Keeping::Bytes => {
                let extra = u64::from(self.graph.width(low).bits());
                Some(Address { form: Form::Joined, x: self.slot(high)?, low: self.slot(low)?, extra })
            }
            _ => Some(Address { form: Form::Plain, x: self.slot(address)?, low: 0, extra: 0 }),
        }
    }

    pub(super) fn keeping(&self, memory: MemoryId) -> Keeping {
        match memory.index() < NEAR_MEMORIES {
            true if self.isa.memory(memory).cell.bits() <= 8 => Keeping::Bytes,
            true => Keeping::Words,
            false => Keeping::Far,
        }
    }

    /// Emits the loads of an instruction now, because later stores may change the cells.
    pub(super) fn loads(&mut self, loads: &[ValueId]) -> Option<()> {
        for load in loads.iter().filter(|load| self.uses[load.index()] > 0).copied().collect::<Vec<_>>() {
            if let Node::Load(memory, address, _) = self.graph.node(load) {
                self.store_before_load(memory, address)?;
            }
            let word = self.words.get(&load).copied();
            match word.filter(|(_, cells)| self.keeping(cells.memory) == Keeping::Bytes) {
                Some((word, cells)) => self.load_word(word, &cells)?,
                None => {
                    self.slot(load)?;
                }
            }
        }
        Some(())
    }

    /// Emits the load of a word as a whole, when the first of its cells is loaded.
    fn load_word(&mut self, word: ValueId, cells: &Cells) -> Option<()> {
        if self.slots[word.index()].is_none() {
            self.store_pending(Some(cells.memory))?;
            let op = self.wide(Code::LoadWide, cells)?;
            let into = self.temporary()?;
            self.ops.push(Op { into, ..op });
            self.slots[word.index()] = Some(into);
            self.trail.push(word);
        }
        Some(())
    }

    /// Returns an operation on adjacent cells.
    fn wide(&mut self, code: Code, cells: &Cells) -> Option<Op> {
        let mask = self.graph.width(cells.base).mask();
        let (x, extra) = (self.slot(cells.base)?, mask << 32 | cells.offset);
        let shape = Shape::new(cells.count, cells.order);
        Some(Op { x, z: cells.memory.index() as u8, exit: shape.0, extra, ..Op::new(code) })
    }

    /// Emits the stores of an instruction and the checks of their cells as one operation.
    pub(super) fn store_wide(&mut self, store: &WideStore, exit: u16) -> Option<()> {
        let y = match store.value {
            WideValue::Number(number) => self.number(number)?,
            WideValue::Value(value) => self.slot(value)?,
            WideValue::Pair(high, low) => {
                let (x, y, into) = (self.slot(high)?, self.slot(low)?, self.temporary()?);
                self.ops.push(Op { into, x, y, z: 8, extra: u64::MAX, ..Op::new(Code::Join) });
                into
            }
        };
        let op = self.wide(Code::StoreWideUnmarked, &store.cells)?;
        self.ops.push(Op { y, into: op.exit as Slot, exit, ..op });
        Some(())
    }

    pub(super) fn store(&mut self, store: &Store) -> Option<()> {
        if store.memory == self.isa.pc.memory || store.guard.is_some() {
            self.store_pending(Some(store.memory))?;
            return self.store_now(store);
        }
        self.pending.retain(|earlier| !earlier.is_to_cell_of(store));
        self.pending.push(*store);
        Some(())
    }

    /// Emits the pending stores that a load might have to see.
    fn store_before_load(&mut self, memory: MemoryId, address: ValueId) -> Option<()> {
        if self.pending.iter().any(|store| store.may_reach(self.graph, memory, address)) {
            self.store_pending(Some(memory))?;
        }
        Some(())
    }

    /// Emits the pending stores, all or those into one memory.
    pub(super) fn store_pending(&mut self, memory: Option<MemoryId>) -> Option<()> {
        let is_due = |store: &Store| memory.is_none_or(|memory| store.memory == memory);
        let (due, later) = std::mem::take(&mut self.pending).into_iter().partition(is_due);
        self.pending = later;
        let due: Vec<Store> = due;
        due.iter().try_for_each(|store| self.store_now(store))
    }

    fn store_now(&mut self, store: &Store) -> Option<()> {
        let (z, keeping) = (store.memory.index() as u8, self.keeping(store.memory));
        if let Some(guard) = store.guard {
            let (x, y, into) = (self.slot(store.address)?, self.slot(store.value)?, self.slot(guard)?);
            self.ops.push(Op { into, x, y, z, ..Op::new(Code::StoreIf) });
            return Some(());
        }
        let y = self.slot(store.value)?;
        let Address { form, x, extra, .. } = self.address(store.address, keeping, false)?;
        let code = match (keeping, form) {
            (Keeping::Bytes, Form::Offset) => Code::StoreOffset,
            (Keeping::Bytes, _) => Code::Store,
            (Keeping::Words, Form::Offset) => Code::StoreWordOffset,
            (Keeping::Words, _) => Code::StoreWord,
            (Keeping::Far, _) => Code::StoreFar,
        };
        self.ops.push(Op { x, y, z, extra, ..Op::new(code) });
        Some(())
    }

    /// Emits a store into the code memory and the check of its cell as one operation.
    pub(super) fn store_unmarked(&mut self, store: &Store, exit: u16) -> Option<()> {
        let y = self.slot(store.value)?;
        let keeping = self.keeping(store.memory);
        let Address { form, x, low, extra } = self.address(store.address, keeping, true)?;
        let code = match (keeping, form) {
            (Keeping::Words, Form::Offset) => Code::StoreWordUnmarkedOffset,
            (Keeping::Words, _) => Code::StoreWordUnmarked,
            (_, Form::Plain) => Code::StoreUnmarked,
            (_, Form::Offset) => Code::StoreUnmarkedOffset,
            (_, Form::Joined) => Code::StoreUnmarkedJoined,
        };
        self.ops.push(Op { into: low, x, y, z: store.memory.index() as u8, exit, extra, ..Op::new(code) });
        Some(())
    }
}
