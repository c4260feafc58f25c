//! The past of a run: snapshots that get thinner with their distance, and what came from outside.
//!
//! A position is a number of instructions since the beginning. What somebody does to the machine at a
//! position (input, a changed register) is an [`Event`] there; between events, a run from a snapshot does
//! the same every time.

use std::collections::BTreeMap;

use lathe_embed::{Instance, MemoryId, Snapshot};
use lathe_vm::Keypad;

/// Bytes of snapshots that are kept, unless somebody says otherwise.
pub const MEMORY: u64 = 256 << 20;

/// Snapshots among those that are about equally far away, if memory allows.
const PER_DISTANCE: u64 = 32;
/// Nothing is gained by snapshots that are closer to one another.
const CLOSEST: u64 = 1 << 10;
/// So many new snapshots are worth a look at which can go.
const UNTIDY: usize = 32;

/// What somebody did to the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Before this instruction.
    pub at: u64,
    /// What it was.
    pub kind: EventKind,
}

/// What can be done to a machine from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The console was given these bytes.
    Input(Vec<u8>),
    /// The console was told that nothing more comes.
    InputEnds,
    /// Registers, cells or the program counter were set.
    Edit(Edit),
    /// A key of the keypad went down or up.
    Key {
        /// Which.
        key: u32,
        /// Where it went.
        down: bool,
    },
}

/// New values for parts of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The program counter.
    pub pc: Option<u64>,
    /// Registers by number, and their values.
    pub registers: Vec<(u32, u64)>,
    /// Cells: memory, address, value.
    pub cells: Vec<(u32, u64, u64)>,
}

impl Event {
    /// Does it, for the first time or again.
    pub(crate) fn apply(&self, instance: &mut Instance) {
        match &self.kind {
            EventKind::Input(bytes) => instance.give_input(bytes),
            EventKind::InputEnds => instance.end_input(),
            EventKind::Edit(edit) => edit.apply(instance),
            EventKind::Key { key, down } => {
                if let Some(keypad) = instance.devices_mut().find_mut::<Keypad>() {
                    keypad.set(*key, *down);
                }
            }
        }
    }
}

impl Edit {
    fn apply(&self, instance: &mut Instance) {
        let state = instance.state_mut();
        state.pc = self.pc.unwrap_or(state.pc);
        for (register, value) in &self.registers {
            state.registers_mut()[*register as usize] = *value;
        }
        for (memory, address, value) in &self.cells {
            state.memory_mut(MemoryId(*memory)).set(*address, *value);
        }
    }
}

/// A moment that can be returned to at once.
pub(crate) struct Kept {
    pub(crate) snapshot: Snapshot,
    /// How many events had been applied.
    pub(crate) applied: usize,
    /// How many bytes the program had written.
    pub(crate) written: u64,
}

/// The past.
pub struct History {
    kept: BTreeMap<u64, Kept>,
    events: Vec<Event>,
    /// Instructions between two snapshots of a run.
    pub(crate) interval: u64,
    /// Bytes that snapshots may take.
    limit: u64,
    /// Bytes of one snapshot, roughly.
    cost: u64,
    untidy: usize,
    /// The furthest position that was reached.
    pub(crate) end: u64,
}

impl History {
    pub(crate) fn new(interval: u64, cost: u64) -> History {
        let (kept, events) = (BTreeMap::new(), Vec::new());
        History { kept, events, interval, limit: MEMORY, cost, untidy: 0, end: 0 }
    }

    /// How many snapshots there are, and how many bytes they take at most.
    pub fn size(&self) -> (usize, u64) {
        (self.kept.len(), self.kept.len() as u64 * self.cost)
    }

    /// The furthest position that was reached.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many bytes snapshots may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, bytes: u64, position: u64) {
        self.limit = bytes;
        self.thin(position);
    }

    /// Where snapshots are.
    pub fn positions(&self) -> impl Iterator<Item = u64> {
        self.kept.keys().copied()
    }

    /// What was done from outside, in its order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn has(&self, position: u64) -> bool {
        self.kept.contains_key(&position)
    }

    /// Keeps a moment, and lets others go that are too close to one another for their distance.
    pub(crate) fn keep(&mut self, position: u64, kept: Kept) {
        self.kept.insert(position, kept);
        self.untidy += 1;
        if self.untidy >= UNTIDY || self.size().1 > self.limit {
            self.thin(position);
        }
    }

    /// The last moment kept at or before a position. There is always one: the beginning.
    pub(crate) fn floor(&self, position: u64) -> (u64, &Kept) {
        let (at, kept) = self.kept.range(..=position).next_back().expect("the beginning is kept");
        (*at, kept)
    }

    /// The first moment kept at which the program had written more than so many bytes, and the one before.
    pub(crate) fn around_output(&self, byte: u64) -> (u64, Option<u64>) {
        let mut before = 0;
        for (at, kept) in &self.kept {
            if kept.written > byte {
                return (before, Some(*at));
            }
            before = *at;
        }
        (before, None)
    }

    /// What comes after a position has not happened.
    pub(crate) fn fork(&mut self, position: u64, applied: usize) {
        self.events.truncate(applied);
        self.kept.retain(|at, kept| *at <= position && kept.applied <= applied);
        self.end = position;
    }

    /// Keeps snapshots in proportion to their distance from a position, fewer if they take too much room.
    fn thin(&mut self, position: u64) {
        self.untidy = 0;
        let mut count = PER_DISTANCE;
        loop {
            let mut last = None;
            self.kept.retain(|at, _| {
                let distance = at.abs_diff(position).max(1);
                let stride = (distance.next_power_of_two() / count).max(CLOSEST);
                let slot = Some((stride, at / stride));
                let keeps = *at == 0 || slot != last;
                last = slot;
                keeps
            });
            if self.size().1 <= self.limit || count <= 1 {
                break;
            }
            count /= 2;
        }
        while self.size().1 > self.limit && self.kept.len() > 2 {
            let middle = self.kept.keys().copied().nth(1).unwrap_or(0);
            self.kept.remove(&middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lathe_embed::Machine;

    fn history(limit: u64) -> (History, Instance) {
        let mut history = History::new(1 << 20, 1 << 16);
        history.limit = limit;
        (history, Machine::built_in("hex8").unwrap().instance())
    }

    fn fill(history: &mut History, instance: &mut Instance, count: u64) {
        for at in 0..count {
            let kept = Kept { snapshot: instance.snapshot(), applied: 0, written: 0 };
            history.keep(at << 20, kept);
        }
    }

    #[test]
    fn snapshots_get_thinner_with_their_distance() {
        let (mut history, mut instance) = history(MEMORY);
        fill(&mut history, &mut instance, 2000);
        let kept: Vec<u64> = history.positions().collect();
        assert!(kept.len() < 300, "{}", kept.len());
        assert_eq!(kept[0], 0);
        let now = *kept.last().unwrap();
        for pair in kept.windows(2) {
            let (gap, distance) = (pair[1] - pair[0], now - pair[0]);
            assert!(gap <= (distance / 8).max(1 << 20), "a gap of {gap} at a distance of {distance}");
        }
    }

    #[test]
    fn memory_is_capped() {
        let (mut history, mut instance) = history(10 << 16);
        fill(&mut history, &mut instance, 500);
        assert!(history.size().1 <= 10 << 16);
        assert_eq!(history.positions().next(), Some(0));
    }
}
