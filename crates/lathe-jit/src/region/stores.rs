//! Delays stores until something may read the cells they write. A store that is overwritten before then is never done,
//! and more stores can be done together.

use lathe_isa::model::MemoryId;
use lathe_values::{Node, Store, ValueId};

use super::Event;
use super::block::{BlockBuilder, Path};

/// The most stores that a block delays.
const PENDING: usize = 16;

impl BlockBuilder<'_, '_> {
    pub(super) fn put_off(&mut self, store: Store, path: &mut Path, events: &mut Vec<Event>) {
        let earlier = path.pending.iter_mut().find(|other| other.is_to_cell_of(&store));
        if let Some(earlier) = earlier.filter(|_| store.guard.is_none()) {
            earlier.value = store.value;
            return;
        }
        self.flush(path, events, store.memory, store.address);
        if store.guard.is_some() {
            return self.do_now(path, vec![store], events);
        }
        if path.pending.len() == PENDING {
            let all = std::mem::take(&mut path.pending);
            self.do_now(path, all, events);
        }
        path.pending.push(store);
    }

    pub(super) fn flush_for(&mut self, load: ValueId, path: &mut Path, events: &mut Vec<Event>) {
        if let Node::Load(memory, address, _) = self.graph.node(load) {
            self.flush(path, events, memory, address);
        }
    }

    /// Does the delayed stores that may touch this cell.
    fn flush(&mut self, path: &mut Path, events: &mut Vec<Event>, memory: MemoryId, address: ValueId) {
        let graph = &self.graph;
        let must_be_done = |store: &Store| store.may_reach(graph, memory, address);
        let (done, kept) = std::mem::take(&mut path.pending).into_iter().partition(must_be_done);
        path.pending = kept;
        self.do_now(path, done, events);
    }

    /// Does these stores now.
    fn do_now(&mut self, path: &Path, stores: Vec<Store>, events: &mut Vec<Event>) {
        if !stores.is_empty() {
            events.push(Event::Store(self.grouped(path, stores)));
        }
    }

    /// Whether a load reads no cell of a delayed store.
    pub(super) fn is_clear(&self, load: ValueId, path: &Path) -> bool {
        let Node::Load(memory, address, _) = self.graph.node(load) else { return true };
        !path.pending.iter().any(|store| store.may_reach(&self.graph, memory, address))
    }

    /// Whether a store to the same cell is delayed already.
    pub(super) fn is_written_anyway(&self, store: &Store, path: &Path) -> bool {
        store.guard.is_none() && path.pending.iter().any(|other| other.is_to_cell_of(store))
    }
}
