//! The test bench of `lathe verify`: sets up a state, executes one instruction, compares.
//!
//! Two states are kept from one vector to the next, with all memories zero in between: the machine's own, and the
//! memory expected afterwards. So a vector costs what it lists plus one comparison of the memories as blocks, and the
//! bench relies on nothing that the engine reports about the cells it touched.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use lathe_embed::AnyEngine;
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, MemoryId, Place, RegisterId, Status};
use lathe_vm::{Console, Device, Devices, Engine, Memory, State, Step, Stop};
use serde::Serialize;

use crate::dump;
use crate::render::hex;
use crate::vectors::{Direction, Meaning, NameId, Names, Setting, Transfer, Vector};

/// A machine on the bench.
pub(super) struct TestBench<'i> {
    isa: &'i Isa,
    names: &'i Names,
    engine: AnyEngine,
    actual: State,
    expected: State,
    /// Registers that can be set, with their reset values.
    resets: Vec<(Place, u64)>,
    /// Memories to compare.
    compared: Vec<MemoryId>,
    /// Memories created anew for every vector: large ones, whose pages would pile up, and those not compared, where
    /// writes are unknown.
    renewed: Vec<MemoryId>,
}

/// A vector that failed.
#[derive(Debug, Serialize)]
pub(super) struct Failed {
    /// The instruction executed.
    pub(super) instruction: String,
    /// Why the step faulted, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// What differs.
    pub(super) differences: Vec<Difference>,
}

/// One difference.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub(super) field: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Difference {
    fn new(field: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Difference {
        Difference { field: field.into(), expected: expected.into(), found: found.into() }
    }
}

impl<'i> TestBench<'i> {
    /// Creates a bench for this machine, with this engine.
    pub(super) fn new(isa: &'i Isa, names: &'i Names, engine: AnyEngine) -> TestBench<'i> {
        let memories = || (0..isa.memories.len() as u32).map(MemoryId);
        let large = |id: &MemoryId| isa.memory(*id).is_large();
        let registers = isa.registers.iter().zip(0..).filter(|(register, _)| !register.constant);
        let reset = |id, width, reset| (Place::whole(RegisterId(id), width), reset);
        TestBench {
            isa,
            names,
            engine,
            actual: State::new(isa),
            expected: State::new(isa),
            resets: registers.map(|(register, id)| reset(id, register.width, register.reset)).collect(),
            compared: memories().filter(|id| !names.ignores(*id)).collect(),
            renewed: memories().filter(|id| names.ignores(*id) || large(id)).collect(),
        }
    }

    /// Runs one vector. An error means that the vector makes no sense.
    pub(super) fn run(&mut self, vector: &Vector) -> Result<Option<Failed>, String> {
        self.set_up(vector)?;
        let window = self.actual.window(self.isa, self.actual.pc, self.isa.longest());
        let mut devices = Devices::new(self.isa, Console::with_input(vector.input.iter().copied()));
        let logs = self.attach_buses(vector, &mut devices);
        let step = self.engine.step(&mut self.actual, &mut devices);
        let output = devices.find_console().map_or(&[][..], Console::output);
        let mut differences = self.compare_values(&vector.after);
        let cells = self.compare_memories();
        differences.extend(cells.iter().map(|cell| self.cell_difference(*cell)));
        differences.extend(self.compare_effects(vector, &step, output));
        differences.extend(logs.iter().filter_map(|(id, log)| self.compare_bus(vector, *id, log)));
        self.clean_up(vector, &cells);
        Ok((!differences.is_empty()).then(|| Failed {
            instruction: dump::instruction(self.isa, window),
            fault: unexpected_fault(self.isa, vector, &step),
            differences,
        }))
    }

    /// Attaches buses that answer as the vector says, and log all transfers.
    fn attach_buses(&self, vector: &Vector, devices: &mut Devices) -> Vec<(DeviceId, Log)> {
        if vector.transfers.is_empty() {
            return Vec::new();
        }
        let ids = (0..).map(DeviceId).zip(&self.isa.devices);
        let buses = ids.filter(|(_, device)| matches!(device.kind, DeviceKind::Bus { .. }));
        let mut logs = Vec::new();
        for (id, _) in buses {
            let own = vector.transfers.iter().filter(|(other, _)| *other == id);
            let script = own.map(|(_, transfer)| *transfer).collect();
            let log = Log::default();
            devices.attach(id, ScriptedBus { script, log: Arc::clone(&log) });
            logs.push((id, log));
        }
        logs
    }

    /// Returns a difference if a bus did not see the expected transfers.
    fn compare_bus(&self, vector: &Vector, id: DeviceId, log: &Log) -> Option<Difference> {
        let own = vector.transfers.iter().filter(|(other, _)| *other == id);
        let expected: Vec<Transfer> = own.map(|(_, transfer)| *transfer).collect();
        let found = log.lock().map(|log| log.clone()).unwrap_or_default();
        let name = &self.isa.devices[id.index()].name;
        (expected != found).then(|| Difference::new(name, transfers(&expected), transfers(&found)))
    }

    /// Sets up the state before, on a bench where all memories are zero.
    fn set_up(&mut self, vector: &Vector) -> Result<(), String> {
        for (place, value) in &self.resets {
            self.actual.set_place(self.isa, place, *value);
        }
        self.actual.pc = 0;
        for (name, value) in &vector.before.values {
            self.set_value(*name, *value);
        }
        for (memory, address, value) in &vector.before.cells {
            self.actual.memory_mut(*memory).set(*address, *value);
            self.expected.memory_mut(*memory).set(*address, *value);
        }
        self.check_agreement(&vector.before, &self.actual)?;
        for (memory, address, value) in &vector.after.cells {
            self.expected.memory_mut(*memory).set(*address, *value);
        }
        self.check_cells(&vector.after, &self.expected)
    }

    /// Sets a value. A view that clears the rest of its register when an instruction writes it does not do so here: the
    /// vector says what the parts hold.
    fn set_value(&mut self, name: NameId, value: u64) {
        match &self.names.get(name).meaning {
            Meaning::Pc(_) => self.actual.pc = value,
            Meaning::Place(place) if place.clearing => {
                let place = Place { clearing: false, ..place.clone() };
                self.actual.set_place(self.isa, &place, value);
            }
            Meaning::Place(place) => self.actual.set_place(self.isa, place, value),
            Meaning::Memory(_) => {}
        }
    }

    /// Returns the value and width of what a name stands for, in a state.
    fn value(&self, name: NameId, state: &State) -> (u64, u32) {
        match &self.names.get(name).meaning {
            Meaning::Pc(width) => (state.pc, width.bits()),
            Meaning::Place(place) => (state.place(place), place.width.bits()),
            Meaning::Memory(_) => (0, 1),
        }
    }

    /// Checks that a state holds all that was set: with two values for one thing, or a value for a constant register,
    /// the vector would test something other than it says.
    fn check_agreement(&self, setting: &Setting, state: &State) -> Result<(), String> {
        for (name, value) in &setting.values {
            let (held, bits) = self.value(*name, state);
            if held != *value {
                let name = &self.names.get(*name).name;
                let (value, held) = (hex(*value, bits), hex(held, bits));
                return Err(format!(
                    "`{name}` cannot be {value}: it is constant, or something else here makes it {held}"
                ));
            }
        }
        self.check_cells(setting, state)
    }

    fn check_cells(&self, setting: &Setting, state: &State) -> Result<(), String> {
        let differs = |(memory, address, value): &&(MemoryId, u64, u64)| state.memory(*memory).get(*address) != *value;
        match setting.cells.iter().find(differs) {
            None => Ok(()),
            Some((memory, address, _)) => {
                Err(format!("{} is there twice, with different values", self.cell_name(*memory, *address)))
            }
        }
    }

    fn compare_values(&self, after: &Setting) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (name, value) in &after.values {
            let (found, bits) = self.value(*name, &self.actual);
            let named = self.names.get(*name);
            if found != *value && !named.ignored {
                differences.push(Difference::new(&named.name, hex(*value, bits), hex(found, bits)));
            }
        }
        differences
    }

    /// Returns the cells with wrong values: memory, address, expected, found.
    fn compare_memories(&self) -> Vec<(MemoryId, u64, u64, u64)> {
        let mut cells = Vec::new();
        for memory in &self.compared {
            let (expected, actual) = (self.expected.memory(*memory), self.actual.memory(*memory));
            if expected != actual {
                cells.extend(differing(expected, actual).map(|(at, expected, found)| (*memory, at, expected, found)));
            }
        }
        cells
    }

    fn cell_difference(&self, (memory, address, expected, found): (MemoryId, u64, u64, u64)) -> Difference {
        let bits = self.isa.memory(memory).cell.bits();
        Difference::new(self.cell_name(memory, address), hex(expected, bits), hex(found, bits))
    }

    fn cell_name(&self, memory: MemoryId, address: u64) -> String {
        let memory = self.isa.memory(memory);
        format!("{}[{}]", memory.name, hex(address, memory.address.bits()))
    }

    /// Compares output, status and cycles, as far as the vector specifies them.
    fn compare_effects(&self, vector: &Vector, step: &Step, output: &[u8]) -> Vec<Difference> {
        let mut differences = Vec::new();
        if let Some(expected) = vector.output.as_ref().filter(|expected| *expected != output) {
            differences.push(Difference::new("out", bytes(expected), bytes(output)));
        }
        if let Some(expected) = vector.status.filter(|expected| *expected != step.status()) {
            differences.push(Difference::new("status", word(expected), word(step.status())));
        }
        if let Some(expected) = vector.cycles.filter(|expected| self.isa.has_cycles && *expected != step.cycles) {
            differences.push(Difference::new("cycles", expected.to_string(), step.cycles.to_string()));
        }
        differences
    }

    /// Makes all memories zero again. Every nonzero cell is listed or differs: a change by the step that is not listed
    /// is a difference.
    fn clean_up(&mut self, vector: &Vector, differing: &[(MemoryId, u64, u64, u64)]) {
        let listed = vector.before.cells.iter().chain(&vector.after.cells);
        let listed = listed.map(|(memory, address, _)| (*memory, *address));
        for (memory, address) in listed.chain(differing.iter().map(|(memory, address, ..)| (*memory, *address))) {
            self.actual.memory_mut(memory).set(address, 0);
            self.expected.memory_mut(memory).set(address, 0);
        }
        for memory in &self.renewed {
            *self.actual.memory_mut(*memory) = Memory::new(self.isa.memory(*memory));
            *self.expected.memory_mut(*memory) = Memory::new(self.isa.memory(*memory));
        }
    }
}

/// The transfers of a bus.
type Log = Arc<Mutex<Vec<Transfer>>>;

/// A bus that returns the vector's values at the vector's addresses, and 0 otherwise.
struct ScriptedBus {
    script: Vec<Transfer>,
    log: Log,
}

impl ScriptedBus {
    fn note(&self, transfer: Transfer) {
        if let Ok(mut log) = self.log.lock() {
            log.push(transfer);
        }
    }
}

impl Device for ScriptedBus {
    type Saved = usize;

    fn read(&mut self, _operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        let address = arguments.first().copied().unwrap_or(0);
        let at = self.log.lock().map_or(0, |log| log.len());
        let expected = self.script.get(at).filter(|transfer| transfer.address == address);
        let value = expected.filter(|transfer| transfer.direction == Direction::Read).map_or(0, |one| one.value);
        self.note(Transfer { address, value, direction: Direction::Read });
        Some(value)
    }

    fn write(&mut self, _operation: DeviceOperation, arguments: &[u64]) {
        let (address, value) = (arguments.first().copied().unwrap_or(0), arguments.get(1).copied().unwrap_or(0));
        self.note(Transfer { address, value, direction: Direction::Write });
    }

    fn save(&mut self) -> usize {
        self.log.lock().map_or(0, |log| log.len())
    }

    fn restore(&mut self, saved: &usize) {
        if let Ok(mut log) = self.log.lock() {
            log.truncate(*saved);
        }
    }
}

fn transfers(list: &[Transfer]) -> String {
    let one = |one: &Transfer| {
        let word = if one.direction == Direction::Read { "reads" } else { "writes" };
        format!("{word} {:#x} at {:#x}", one.value, one.address)
    };
    if list.is_empty() { "nothing".to_owned() } else { list.iter().map(one).collect::<Vec<_>>().join(", ") }
}

/// Returns the addresses at which two memories differ, with both values.
fn differing(expected: &Memory, actual: &Memory) -> impl Iterator<Item = (u64, u64, u64)> {
    let mut cells: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    expected.nonzero().into_iter().for_each(|(address, value)| cells.entry(address).or_default().0 = value);
    actual.nonzero().into_iter().for_each(|(address, value)| cells.entry(address).or_default().1 = value);
    let differs = cells.into_iter().filter(|(_, (expected, found))| expected != found);
    differs.map(|(address, (expected, found))| (address, expected, found))
}

/// Returns why the step faulted, if the vector does not expect a fault.
fn unexpected_fault(isa: &Isa, vector: &Vector, step: &Step) -> Option<String> {
    match &step.stop {
        Some(Stop::Fault(fault)) if vector.status != Some(Status::Fault) => Some(dump::cause(isa, &fault.cause)),
        _ => None,
    }
}

fn bytes(list: &[u8]) -> String {
    let list: Vec<String> = list.iter().map(|byte| hex(u64::from(*byte), 8)).collect();
    format!("[{}]", list.join(", "))
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Halted => "halted",
        Status::Fault => "fault",
    }
}
