//! The past of a run: snapshots, sparser with distance, and events from outside.
//!
//! A position is a number of instructions since the beginning. What someone does to the machine at a position (input, a
//! changed register) is an [`Event`] there; between events, a run from a snapshot is deterministic.

use std::collections::BTreeMap;

use lathe_embed::{EngineKind, Instance, MemoryId, Snapshot};
use lathe_isa::model::DeviceId;
use lathe_vm::{Keypad, Ports};

/// The default limit on bytes of snapshots.
pub const MEMORY: u64 = 256 << 20;

/// Snapshots kept per range of distances, if memory allows.
const PER_DISTANCE: u64 = 32;
/// Closer snapshots gain nothing.
const CLOSEST: u64 = 1 << 10;
/// Roughly the bytes a snapshot takes besides memory cells.
const OVERHEAD: u64 = 1 << 10;
/// How many new snapshots trigger a round of thinning.
const UNTIDY: usize = 32;

/// Something done to the machine from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The position; the event precedes the instruction executed there.
    pub at: u64,
    /// What was done.
    pub kind: EventKind,
}

/// What can be done to a machine from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The console was given these bytes.
    Input(Vec<u8>),
    /// The console was told that the input has ended.
    InputEnds,
    /// Registers, cells or the program counter were set.
    Edit(Edit),
    /// A key of the keypad went down or up.
    Key {
        /// The key's number.
        key: u32,
        /// Whether it is down now.
        down: bool,
    },
    /// A port was set: reads there return this value from now on.
    Port {
        /// The bus, by its number among the devices.
        bus: u32,
        /// The port's number.
        port: u64,
        /// The value read.
        value: u64,
    },
}

/// New values for parts of the state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    /// The program counter.
    pub pc: Option<u64>,
    /// Register numbers and values.
    pub registers: Vec<(u32, u64)>,
    /// Cells: memory, address, value.
    pub cells: Vec<(u32, u64, u64)>,
}

impl Event {
    /// Applies the event, for the first time or again.
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
            EventKind::Port { bus, port, value } => {
                if let Some(ports) = instance.devices_mut().find_at_mut::<Ports>(DeviceId(*bus)) {
                    ports.set(*port, *value);
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

/// How often a run is recorded, in countable units: instructions and bytes.
///
/// A snapshot copies the pages written since the previous one, and afterwards the first store to each of them takes a
/// detour. So the more there is to copy, the longer the run waits before the next snapshot, and recording takes at most
/// about a tenth of the time. Going back pays the price: the program runs again from the last snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The fewest instructions between two snapshots. A run checks its history at multiples of this number.
    pub interval: u64,
    /// Instructions per byte that a snapshot has to copy or compare.
    pub per_byte: u64,
}

impl Pace {
    /// Returns the pace for an engine: the faster it is, the more instructions it executes while a page is copied.
    pub fn of(engine: EngineKind) -> Pace {
        match engine {
            EngineKind::Interpreter => Pace { interval: 1 << 17, per_byte: 1 },
            EngineKind::Fast => Pace { interval: 1 << 20, per_byte: 4 },
            EngineKind::Jit | EngineKind::Auto => Pace { interval: 1 << 21, per_byte: 16 },
        }
    }
}

/// A position that can be restored at once.
pub(crate) struct Kept {
    pub(crate) snapshot: Snapshot,
    /// How many events had been applied.
    pub(crate) applied: usize,
    /// How many bytes the program had written.
    pub(crate) written: u64,
    /// Bytes copied for the snapshot.
    pub(crate) copied: u64,
}

impl Kept {
    /// Returns roughly how many bytes the snapshot takes beyond the previous one.
    fn bytes(&self) -> u64 {
        self.copied + OVERHEAD
    }
}

/// The past.
pub struct History {
    kept: BTreeMap<u64, Kept>,
    events: Vec<Event>,
    pub(crate) pace: Pace,
    /// The most bytes snapshots may take.
    limit: u64,
    untidy: usize,
    /// An upper bound on the bytes snapshots take: their exact size when last computed, plus all bytes copied since.
    spent: u64,
    /// Bytes copied for all snapshots, including dropped ones.
    copied: u64,
    /// The furthest position reached.
    pub(crate) end: u64,
}

impl History {
    pub(crate) fn new(pace: Pace) -> History {
        let (kept, events) = (BTreeMap::new(), Vec::new());
        History { kept, events, pace, limit: MEMORY, untidy: 0, spent: 0, copied: 0, end: 0 }
    }

    /// Returns how many snapshots there are and how many bytes they take together: pages are shared until they are
    /// written.
    pub fn size(&self) -> (usize, u64) {
        let count = self.kept.len();
        (count, Snapshot::total_size(self.kept.values().map(|kept| &kept.snapshot)) + count as u64 * OVERHEAD)
    }

    /// Returns how many bytes were copied for snapshots, including dropped ones: the cost of recording.
    pub fn copied(&self) -> u64 {
        self.copied
    }

    /// Whether snapshots exceed their limit.
    fn is_full(&mut self) -> bool {
        if self.spent > self.limit {
            self.spent = self.size().1;
        }
        self.spent > self.limit
    }

    /// Whether a snapshot is due at a position if it has to go through this many bytes.
    pub(crate) fn is_due(&self, position: u64, bytes: u64) -> bool {
        let Pace { interval, per_byte } = self.pace;
        position.is_multiple_of(interval) && position - self.floor(position).0 >= bytes.saturating_mul(per_byte)
    }

    /// Returns the furthest position reached.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the most bytes snapshots may take.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, bytes: u64, position: u64) {
        self.limit = bytes;
        self.thin(position);
    }

    /// Returns the positions of the snapshots.
    pub fn positions(&self) -> impl Iterator<Item = u64> {
        self.kept.keys().copied()
    }

    /// Returns the events from outside, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(crate) fn has(&self, position: u64) -> bool {
        self.kept.contains_key(&position)
    }

    /// Keeps a snapshot, and drops others that are too close together for their distance.
    pub(crate) fn keep(&mut self, position: u64, kept: Kept) {
        self.spent += kept.bytes();
        self.copied += kept.copied;
        self.kept.insert(position, kept);
        self.untidy += 1;
        if self.untidy >= UNTIDY || self.is_full() {
            self.thin(position);
        }
    }

    /// Returns the last snapshot at or before a position. There is always one: the beginning.
    pub(crate) fn floor(&self, position: u64) -> (u64, &Kept) {
        let (at, kept) = self.kept.range(..=position).next_back().expect("the beginning is kept");
        (*at, kept)
    }

    /// Returns the positions of the last snapshot before the program had written more than this many bytes, and of the
    /// first one after, if there is one.
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

    /// Drops everything after a position.
    pub(crate) fn fork(&mut self, position: u64, applied: usize) {
        self.events.truncate(applied);
        self.kept.retain(|at, kept| *at <= position && kept.applied <= applied);
        self.end = position;
    }

    /// Thins snapshots in proportion to their distance from a position, further if they take too much memory.
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
            if !self.is_full() || count <= 1 {
                break;
            }
            count /= 2;
        }
        while self.is_full() && self.kept.len() > 2 {
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
        let mut history = History::new(Pace::of(EngineKind::Fast));
        history.limit = limit;
        (history, Machine::built_in("hex8").unwrap().instance())
    }

    fn fill(history: &mut History, instance: &mut Instance, count: u64) {
        for at in 0..count {
            // Write to every page.
            let ram = instance.memory_mut("ram").unwrap();
            (0..16).for_each(|page| ram.set(page << 12, at % 255 + 1));
            let snapshot = instance.snapshot();
            let copied = snapshot.state().copied();
            history.keep(at << 20, Kept { snapshot, applied: 0, written: 0, copied });
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
    fn large_snapshots_are_taken_less_often() {
        let (mut history, mut instance) = history(MEMORY);
        fill(&mut history, &mut instance, 2);
        // Four instructions per byte, counted from the last snapshot, at 1 << 20.
        assert!(history.is_due(2 << 20, 1 << 16) && !history.is_due(3 << 19, 1 << 16));
        assert!(!history.is_due(2 << 20, 16 << 20) && !history.is_due(64 << 20, 16 << 20));
        assert!(history.is_due(65 << 20, 16 << 20));
        assert!(!history.is_due(65 << 20, u64::MAX));
    }

    #[test]
    fn memory_is_capped() {
        let (mut history, mut instance) = history(10 << 16);
        fill(&mut history, &mut instance, 500);
        assert!(history.size().1 <= 10 << 16);
        assert_eq!(history.positions().next(), Some(0));
    }

    #[test]
    fn what_snapshots_share_counts_once() {
        let (mut history, mut instance) = history(MEMORY);
        fill(&mut history, &mut instance, 1);
        for at in 1..=20 {
            instance.memory_mut("ram").unwrap().set(0x1234, at);
            let snapshot = instance.snapshot();
            let copied = snapshot.state().copied();
            history.keep(at << 20, Kept { snapshot, applied: 0, written: 0, copied });
        }
        assert_eq!(history.size(), (21, (16 + 20) * 4096 + 21 * OVERHEAD));
    }
}
