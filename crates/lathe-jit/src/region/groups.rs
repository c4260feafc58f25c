//! Groups of neighbouring bytes that are read or written together.

use lathe_isa::model::{MemoryId, Order};
use lathe_values::{Effects, Graph, Node, Store, ValueId};

use super::block::{BlockBuilder, Path};
use super::discover::Discovery;
use super::{Check, Edge, End, Event, Jump, Segment, Select};

/// Sizes of groups, the largest first.
const GROUPS: [usize; 3] = [8, 4, 2];

/// Neighbouring cells of one byte each that are read together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The loads, the one at the lowest address first.
    pub(crate) cells: Vec<ValueId>,
    /// All as one number, the low byte first, if it is used.
    pub(crate) little: Option<ValueId>,
    /// All as one number, the high byte first, if it is used.
    pub(crate) big: Option<ValueId>,
}

/// Stores in order, and the groups of them that can be done together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stores {
    pub(crate) stores: Vec<Store>,
    pub(crate) groups: Vec<StoreGroup>,
}

/// Neighbouring cells of one byte each that are written together.
#[derive(Clone, Debug)]
pub(crate) struct StoreGroup {
    /// The positions of the stores, the one at the lowest address first.
    pub(crate) positions: Vec<usize>,
    /// The value that they write together.
    pub(crate) value: ValueId,
    /// Which byte comes first.
    pub(crate) order: Order,
}

/// The place of a store: an offset from a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    memory: MemoryId,
    base: Option<ValueId>,
    offset: i64,
    /// The position of the store in the list of stores.
    position: usize,
}

impl BlockBuilder<'_, '_> {
    pub(super) fn read(
        &mut self,
        effects: &Effects,
        path: &mut Path,
        checks: &mut Vec<Check>,
        events: &mut Vec<Event>,
    ) {
        let mut loads = effects.loads.as_slice();
        while let Some((first, rest)) = loads.split_first() {
            let groups = GROUPS.iter().filter_map(|count| loads.split_at_checked(*count));
            let group = groups.map(|(loads, _)| loads).find_map(|loads| self.group(loads, path, checks, events));
            let count = group.as_ref().map_or(1, |group| group.cells.len());
            loads[..count].iter().for_each(|load| self.flush_for(*load, path, events));
            events.push(group.map_or(Event::Load(*first), Event::LoadGroup));
            loads = &rest[count - 1..];
        }
    }

    /// Groups loads of neighbouring bytes that make one value. Bytes that do not were mostly stored one by one, and
    /// reading them together would have to wait for all those stores. No address may wrap to the first cell of the
    /// memory, so this adds a check, unless another check covers it.
    fn group(
        &mut self,
        loads: &[ValueId],
        path: &mut Path,
        checks: &mut Vec<Check>,
        events: &mut [Event],
    ) -> Option<Group> {
        let addresses: Option<Vec<(MemoryId, ValueId)>> = loads.iter().map(|load| self.loaded_from(*load)).collect();
        let addresses = addresses?;
        let (memory, _) = *addresses.first()?;
        if !self.is_in_bytes(memory) || addresses.iter().any(|(other, _)| *other != memory) {
            return None;
        }
        let mut addresses: Vec<ValueId> = addresses.into_iter().map(|(_, address)| address).collect();
        let mut cells = loads.to_vec();
        if self.graph.order_of(&addresses)? == Order::Little {
            addresses.reverse();
            cells.reverse();
        }
        let little = self.graph.joined(cells.iter().rev().copied());
        let big = self.graph.joined(cells.iter().copied());
        little.or(big)?;
        let (lowest, count) = (addresses[0], cells.len() as u64);
        if self.may_wrap(lowest, count, checks)? {
            self.add_check(Check::Wraps { first: lowest, count }, path, checks, events);
        }
        Some(Group { cells, little, big })
    }

    fn loaded_from(&self, load: ValueId) -> Option<(MemoryId, ValueId)> {
        match self.graph.node(load) {
            Node::Load(memory, address, _) => Some((memory, address)),
            _ => None,
        }
    }

    /// Groups stores that can be done together: stores to neighbouring bytes known to be contiguous, of values that
    /// together are one value.
    pub(super) fn grouped(&mut self, path: &Path, stores: Vec<Store>) -> Stores {
        let mut ordered: Vec<Placed> = (0..).zip(&stores).filter_map(|(at, store)| self.placed(at, store)).collect();
        ordered.sort_unstable();
        let mut groups = Vec::new();
        let mut rest = ordered.as_slice();
        while !rest.is_empty() {
            let tried = GROUPS.iter().filter_map(|count| rest.get(..*count));
            let group = { tried }.find_map(|placed| self.store_group(path, &stores, placed));
            rest = &rest[group.as_ref().map_or(1, |group| group.positions.len())..];
            groups.extend(group);
        }
        Stores { stores, groups }
    }

    /// Returns the place of a store, if it may be part of a group.
    fn placed(&self, position: usize, store: &Store) -> Option<Placed> {
        let (base, offset) = self.graph.base_and_offset(store.address);
        let offset = self.graph.width(store.address).signed(offset);
        let alone = store.guard.is_some() || !self.is_in_bytes(store.memory);
        (!alone).then_some(Placed { memory: store.memory, base, offset, position })
    }

    fn store_group(&mut self, path: &Path, stores: &[Store], placed: &[Placed]) -> Option<StoreGroup> {
        let lowest = &stores[placed.first()?.position];
        let addresses: Vec<ValueId> = placed.iter().map(|placed| stores[placed.position].address).collect();
        let in_one_memory = placed.iter().all(|placed| placed.memory == lowest.memory);
        let ascend = in_one_memory && self.graph.order_of(&addresses) == Some(Order::Big);
        if !ascend || !self.lie_together(path, lowest, placed.len() as u64) {
            return None;
        }
        let positions: Vec<usize> = placed.iter().map(|placed| placed.position).collect();
        let values: Vec<ValueId> = positions.iter().map(|at| stores[*at].value).collect();
        let (value, order) = self.as_one(values)?;
        Some(StoreGroup { positions, value, order })
    }

    /// Whether this many cells, beginning with the cell of a store, are known to be contiguous.
    fn lie_together(&self, path: &Path, store: &Store, cells: u64) -> bool {
        let covers = |(first, count): &(ValueId, u64)| {
            let distance = self.graph.distance(*first, store.address);
            distance.is_some_and(|distance| distance >= 0 && distance.unsigned_abs() + cells <= *count)
        };
        let cannot_wrap = self.may_wrap(store.address, cells, &[]) == Some(false);
        self.is_in_bytes(store.memory)
            && (cannot_wrap || store.memory == self.discovery.isa.pc.memory && path.together.iter().any(covers))
    }

    /// Returns bytes, the one at the lowest address first, as one value, if that takes no effort to put together.
    fn as_one(&mut self, mut bytes: Vec<ValueId>) -> Option<(ValueId, Order)> {
        if let Some(big) = self.graph.as_one(bytes.iter().copied()) {
            return Some((big, Order::Big));
        }
        bytes.reverse();
        self.graph.as_one(bytes.into_iter()).map(|little| (little, Order::Little))
    }

    fn is_in_bytes(&self, memory: MemoryId) -> bool {
        cfg!(target_endian = "little") && self.discovery.isa.memory(memory).cell.bits() == 8
    }

    pub(super) fn note_written_alone(&mut self, stores: &[Store]) {
        for store in stores {
            let is_next = |other: &Store| {
                let distance = self.graph.distance(store.address, other.address);
                other.memory == store.memory && distance.is_some_and(|distance| distance.abs() == 1)
            };
            if let Some(address) = self.graph.as_constant(store.address).filter(|_| !stores.iter().any(is_next)) {
                self.discovery.written_alone.insert((store.memory, address));
            }
        }
    }
}

impl Discovery<'_> {
    pub(super) fn is_written_alone(&self, graph: &Graph, load: ValueId) -> bool {
        let Node::Load(memory, address, _) = graph.node(load) else { return false };
        graph.as_constant(address).is_some_and(|address| self.written_alone.contains(&(memory, address)))
    }
}

impl Segment {
    /// Splits groups of loads for which `apart` holds: if one byte has just been written alone, reading it with others
    /// has to wait for that store.
    pub(super) fn separate(&mut self, apart: &dyn Fn(&Group) -> bool) {
        let events = std::mem::take(&mut self.events);
        for event in events {
            match event {
                Event::LoadGroup(group) if apart(&group) => {
                    self.events.extend(group.cells.into_iter().map(Event::Load));
                }
                other => self.events.push(other),
            }
        }
        match &mut self.end {
            End::Goto(edge) => edge.separate(apart),
            End::Branch(_, x, y) => [x, y].into_iter().for_each(|edge| edge.separate(apart)),
            End::Jump(Jump { arms, .. }) | End::Select(Select { arms, .. }) => {
                arms.iter_mut().for_each(|(_, edge)| edge.separate(apart));
            }
            End::Leave(_) => {}
        }
    }
}

impl Edge {
    fn separate(&mut self, apart: &dyn Fn(&Group) -> bool) {
        if let Edge::Segment(segment) = self {
            segment.separate(apart);
        }
    }
}

#[cfg(test)]
mod tests {
    use lathe_fast::Fast;
    use lathe_vm::State;

    use super::*;
    use crate::region::{Extent, Known, discover};

    const MACHINE: &str = r#"
machine pairs "Reads two bytes together"
memory ram : u16 -> u8
pc pc : u16 in ram
register a : u16
field N : u8
instructions {
  halt    | 0000 0000          | halt
  load N  | 0000 0001 NNNNNNNN | a = a + (ram[zext(N + 1)] ++ ram[zext(N)])
  inc N   | 0000 0010 NNNNNNNN | ram[zext(N)] = ram[zext(N)] + 1
  store N | 0000 0011 NNNNNNNN | ram[zext(N)] = a[7:0]; ram[zext(N + 1)] = a[15:8]
  again   | 0000 0100          | pc = 0
}
"#;

    /// Returns how many times the region of a program reads two bytes together.
    fn pairs(program: &[u64]) -> usize {
        let loaded = lathe_isa::load(MACHINE);
        let isa = std::sync::Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill(program.iter().copied());
        let fast = Fast::new(&isa);
        let known = Known {
            fast: &fast,
            state: &state,
            most: usize::MAX,
            modes: true,
            targets: &|_| Vec::new(),
            contents: &|_| Vec::new(),
            is_compiled: &|_| false,
            has_run: &|_| true,
        };
        let region = discover(&known, 0, Extent::Everything);
        let events = region.blocks.values().flat_map(|block| &block.root.events);
        events.filter(|event| matches!(event, Event::LoadGroup(_))).count()
    }

    #[test]
    fn bytes_are_read_together_unless_one_is_written_alone() {
        assert_eq!(pairs(&[1, 0x80, 4]), 1);
        assert_eq!(pairs(&[1, 0x80, 3, 0x80, 4]), 1);
        assert_eq!(pairs(&[1, 0x80, 2, 0x80, 4]), 0);
        assert_eq!(pairs(&[1, 0x80, 2, 0x81, 4]), 0);
        assert_eq!(pairs(&[1, 0x80, 2, 0x82, 4]), 1);
    }
}
