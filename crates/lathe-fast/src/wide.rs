//! Adjacent cells that are read or written together: words of several bytes, pushed and popped addresses.

use lathe_base::Width;
use lathe_base::numbers::ByNumber;
use lathe_isa::model::{MemoryId, Order};
use lathe_values::{Bail, Effects, Graph, Node, Store, ValueId};

/// The most cells accessed together.
const MOST: usize = 8;
/// Bits of a cell that fills a byte.
const BYTE: u32 = 8;

/// Adjacent cells, from the one with the lowest address on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cells {
    pub(super) memory: MemoryId,
    pub(super) base: ValueId,
    pub(super) offset: u64,
    pub(super) count: u8,
    /// Which part of the value the first cell holds.
    pub(super) order: Order,
}

/// Words that are read as a whole, by each of their cells.
pub(super) type Words = ByNumber<ValueId, (ValueId, Cells)>;

/// Finds the words of a graph whose cells are not used one by one. `uses` says how often each value is used.
pub(super) fn words(graph: &Graph, uses: &[u32]) -> Words {
    let mut words = Words::default();
    // Larger words come after their parts.
    for id in graph.ids().rev().filter(|id| uses[id.index()] > 0 && matches!(graph.node(*id), Node::Join(..))) {
        let mut parts = Vec::new();
        let alone = collect(graph, uses, id, id, &mut parts);
        if let Some(cells) = gather(graph, &parts).filter(|_| alone && !words.contains_key(&parts[0])) {
            words.extend(parts.iter().map(|part| (*part, (id, cells))));
        }
    }
    words
}

/// Collects the parts that a value is joined from, highest first. Returns false if any of them is used elsewhere, or if
/// there are too many.
fn collect(graph: &Graph, uses: &[u32], top: ValueId, id: ValueId, parts: &mut Vec<ValueId>) -> bool {
    let alone = id == top || uses[id.index()] == 1;
    match graph.node(id) {
        Node::Join(high, low) => {
            alone && collect(graph, uses, top, high, parts) && collect(graph, uses, top, low, parts)
        }
        _ => {
            parts.push(id);
            alone && parts.len() <= MOST
        }
    }
}

/// Returns the cells that these values are loaded from, if they are adjacent and loaded at the same time.
fn gather(graph: &Graph, parts: &[ValueId]) -> Option<Cells> {
    let Node::Load(memory, _, time) = graph.node(*parts.first()?) else { return None };
    let mut addresses = Vec::new();
    for part in parts {
        match graph.node(*part) {
            Node::Load(other, address, at) if (other, at) == (memory, time) => addresses.push(address),
            _ => return None,
        }
    }
    let is_byte = parts.iter().all(|part| graph.width(*part).bits() == BYTE);
    neighbours(graph, memory, &addresses).filter(|_| is_byte)
}

/// Returns the cells at these addresses, highest part first, if they are adjacent.
fn neighbours(graph: &Graph, memory: MemoryId, addresses: &[ValueId]) -> Option<Cells> {
    let order = graph.order_of(addresses)?;
    let lowest = if order == Order::Big { addresses.first()? } else { addresses.last()? };
    let (base, offset) = graph.base_and_offset(*lowest);
    let mask = graph.width(*lowest).mask();
    let fits = (2..=MOST).contains(&addresses.len()) && (MOST as u64..=u64::from(u32::MAX)).contains(&mask);
    fits.then_some(Cells { memory, base: base?, offset, count: addresses.len() as u8, order })
}

/// A store of an instruction into adjacent cells of the code memory.
pub(super) struct WideStore {
    pub(super) cells: Cells,
    pub(super) value: WideValue,
}

/// The value for adjacent cells.
pub(super) enum WideValue {
    Number(u64),
    Value(ValueId),
    /// The first above the second.
    Pair(ValueId, ValueId),
}

/// Combines the stores of an instruction into one, if all go to adjacent cells of the code memory and are checked for
/// marks.
pub(super) fn wide_store(graph: &Graph, effects: &Effects, code: MemoryId) -> Option<WideStore> {
    let stores = &effects.stores;
    let plain =
        |store: &Store| store.memory == code && store.guard.is_none() && graph.width(store.value).bits() == BYTE;
    let checked = stores.iter().all(|store| effects.bails.contains(&Bail::Marked(store.address, None)));
    if stores.len() < 2 || !checked || !stores.iter().all(plain) {
        return None;
    }
    let mut high_first = stores.clone();
    high_first.sort_by_key(|store| std::cmp::Reverse(part(graph, store.value)));
    let addresses: Vec<ValueId> = high_first.iter().map(|store| store.address).collect();
    let parts: Vec<ValueId> = high_first.iter().map(|store| store.value).collect();
    Some(WideStore { cells: neighbours(graph, code, &addresses)?, value: value_of(graph, &parts)? })
}

/// Returns where a value begins in the value that it is a part of.
fn part(graph: &Graph, value: ValueId) -> u32 {
    match graph.node(value) {
        Node::Slice(_, low) => low,
        _ => 0,
    }
}

/// Returns the value that consists of these parts, highest first.
fn value_of(graph: &Graph, parts: &[ValueId]) -> Option<WideValue> {
    let numbers: Option<Vec<u64>> = parts.iter().map(|part| graph.as_constant(*part)).collect();
    if let Some(numbers) = numbers {
        return Some(WideValue::Number(numbers.iter().fold(0, |all, number| all << BYTE | number)));
    }
    if let Some(Node::Slice(whole, _)) = parts.first().map(|part| graph.node(*part)) {
        let low_first = parts.iter().rev().zip((0..).step_by(BYTE as usize));
        let of_whole = low_first.clone().all(|(part, low)| graph.node(*part) == Node::Slice(whole, low));
        if of_whole && Some(graph.width(whole)) == Width::new(u64::from(BYTE) * parts.len() as u64) {
            return Some(WideValue::Value(whole));
        }
    }
    match parts {
        [high, low] => Some(WideValue::Pair(*high, *low)),
        _ => None,
    }
}
