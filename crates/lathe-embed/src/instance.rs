//! One running machine: its state, its devices, its engine.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use lathe_asm::Image;
use lathe_base::numbers::addresses_from;
use lathe_base::{Width, nearest};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, MemoryId, Place};
use lathe_vm::{
    Changes, Console, Device, Devices, DevicesSnapshot, Engine, Memory, Run, State, StateSnapshot, Step, Stop, Stops,
};

use crate::engine::{AnyEngine, EngineKind, Statistics};
use crate::error::Error;

/// One running machine: the unit to run, debug, measure and embed.
pub struct Instance {
    isa: Arc<Isa>,
    state: State,
    devices: Devices,
    engine: AnyEngine,
    counters: Counters,
}

/// What a machine has done since its reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Instructions executed.
    pub steps: u64,
    /// Cycles they took, where the definition counts them.
    pub cycles: u64,
}

/// Everything that the future of an instance depends on: state, devices with their pending input and output, counters.
/// Every run from a snapshot goes the same way.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    state: StateSnapshot,
    devices: DevicesSnapshot,
    counters: Counters,
}

impl Snapshot {
    /// Returns the program counter, registers and memories.
    pub fn state(&self) -> &StateSnapshot {
        &self.state
    }

    /// Returns what had been executed by then.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the bytes that the memories of these snapshots take together. Snapshots share pages that did not change
    /// between them, and shared pages count once.
    pub fn total_size<'s>(snapshots: impl IntoIterator<Item = &'s Snapshot>) -> u64 {
        let mut seen = HashSet::new();
        snapshots.into_iter().map(|snapshot| snapshot.state.size_beyond(&mut seen)).sum()
    }
}

/// Writes an image to its memories, and prepares the machine for its first instruction: sets the program counter and
/// the registers that `on reset` sets. Cells below a map with code go where that map fetches instructions from.
/// Everything else stays as it is.
pub fn lay_down(image: &Image, isa: &Isa, state: &mut State) {
    for segment in &image.segments {
        for (cell, address) in segment.cells.iter().zip(addresses_from(segment.start)) {
            let cell_of =
                if segment.memory == isa.pc.memory { state.code_cell(isa, address) } else { (segment.memory, address) };
            state.memory_mut(cell_of.0).set(cell_of.1, *cell);
        }
    }
    let registers = image.at_reset(isa).map(|reset| reset.registers);
    registers.into_iter().flatten().for_each(|(register, value)| state.registers_mut()[register.index()] = value);
    state.pc = image.start(isa);
}

impl Instance {
    /// Creates a machine at reset, on an engine built for it. [`Machine`](crate::Machine) has simpler ways.
    pub fn on(mut engine: AnyEngine) -> Instance {
        let isa = engine.interpreter().isa().clone();
        let (state, devices) = (State::new(&isa), Devices::new(&isa, Console::default()));
        Instance { isa, state, devices, engine, counters: Counters::default() }
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Loads a program into the memories, does what the machine does `on reset`, and sets the program counter to the
    /// program's beginning. Everything else stays as it is; to start over, call [`Instance::reset`] first.
    pub fn load(&mut self, image: &Image) {
        lay_down(image, &self.isa, &mut self.state);
    }

    /// Resets registers to their reset values, and memories and counters to zero. Devices and the memory limit stay.
    pub fn reset(&mut self) {
        let max_memory = self.state.max_memory();
        self.state = State::new(&self.isa);
        self.state.set_max_memory(max_memory);
        self.counters = Counters::default();
    }

    /// Runs until the machine stops, or one of the stops is reached. On every engine, the same program, input and stops
    /// end at the same instruction.
    pub fn run(&mut self, stops: &Stops) -> Run {
        let run = self.engine.run_until(&mut self.state, &mut self.devices, stops);
        self.count(run.steps, run.cycles);
        run
    }

    /// Runs until the machine stops, or this many instructions have been executed.
    pub fn run_for(&mut self, limit: u64) -> Run {
        self.run(&Stops::after(limit))
    }

    /// Executes one instruction, and returns what it did.
    pub fn step(&mut self) -> (Step, Changes) {
        let interpreter = self.engine.interpreter();
        let run = interpreter.run(&mut self.state, &mut self.devices, 1);
        let changes = interpreter.changes(&self.state);
        self.count(run.steps, run.cycles);
        (Step { stop: Some(run.stop).filter(|stop| *stop != Stop::Limit), cycles: run.cycles }, changes)
    }

    fn count(&mut self, steps: u64, cycles: u64) {
        self.counters.steps = self.counters.steps.wrapping_add(steps);
        self.counters.cycles = self.counters.cycles.wrapping_add(cycles);
    }

    /// Sets how many bytes the pages of large memories (of more than 2^20 cells) may take from now on; the default is
    /// [`MAX_MEMORY`](lathe_vm::MAX_MEMORY). An instruction that needs more faults with
    /// [`OutOfMemory`](lathe_vm::FaultCause::OutOfMemory).
    pub fn set_max_memory(&mut self, bytes: u64) {
        self.state.set_max_memory(bytes);
    }

    /// Returns what the machine has executed since its reset.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Takes a snapshot of everything that the machine's future depends on.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot { state: self.state.snapshot(), devices: self.devices.snapshot(), counters: self.counters }
    }

    /// Restores a snapshot, which another instance of the machine may have taken. Output taken from the console in the
    /// meantime stays taken.
    ///
    /// # Errors
    /// If the snapshot is of another machine, or other devices are attached.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        if !snapshot.state.fits(&self.isa) || !self.devices.restore(&snapshot.devices) {
            return Err(Error::OtherMachine);
        }
        self.state.restore(&snapshot.state);
        self.counters = snapshot.counters;
        Ok(())
    }

    /// Returns the value of the program counter, a register or a view.
    ///
    /// # Errors
    /// If the machine has nothing of this name.
    pub fn get(&self, name: &str) -> Result<u64, Error> {
        Ok(match self.place(name)? {
            Named::Pc => self.state.pc,
            Named::Place(place) => self.state.place(&place),
        })
    }

    /// Sets the program counter, a register or a view.
    ///
    /// # Errors
    /// If the machine has nothing of this name, it is constant, or the value does not fit.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
        match self.place(name)? {
            Named::Pc => self.state.pc = fitting(name, value, self.isa.pc.width)?,
            Named::Place(place) if place.parts.iter().any(|part| self.isa.register(part.register).constant) => {
                return Err(Error::Constant(name.to_owned()));
            }
            Named::Place(place) => {
                let value = fitting(name, value, place.width)?;
                self.state.set_place(&self.isa, &place, value);
            }
        }
        Ok(())
    }

    /// Returns a memory, to read.
    ///
    /// # Errors
    /// If the machine has no memory of this name.
    pub fn memory(&self, name: &str) -> Result<&Memory, Error> {
        Ok(self.state.memory(self.memory_id(name)?))
    }

    /// Returns a memory, to write. Writing code is safe: every engine checks it again.
    ///
    /// # Errors
    /// If the machine has no memory of this name.
    pub fn memory_mut(&mut self, name: &str) -> Result<&mut Memory, Error> {
        let id = self.memory_id(name)?;
        Ok(self.state.memory_mut(id))
    }

    /// Returns the program counter, registers and memories.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the program counter, registers and memories, for any change.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Returns what instructions reach besides registers and memories.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns the devices, to press keys, set a seed and the like.
    pub fn devices_mut(&mut self) -> &mut Devices {
        &mut self.devices
    }

    /// Attaches a device in place of the one that has this name in the definition.
    ///
    /// # Errors
    /// If the definition has no device of this name.
    pub fn attach(&mut self, name: &str, device: impl Device) -> Result<(), Error> {
        let id = self.device_id(name)?;
        self.devices.attach(id, device);
        Ok(())
    }

    /// Gives the console more to read. Nothing happens if the machine has no console.
    pub fn give_input(&mut self, bytes: &[u8]) {
        if let Some(console) = self.devices.find_console_mut() {
            console.give(bytes);
        }
    }

    /// Keeps the console's input open: a program that reads where there is no input yet stops with [`Stop::Waiting`].
    /// Nothing happens if the machine has no console.
    pub fn open_input(&mut self) {
        if let Some(console) = self.devices.find_console_mut() {
            console.open_input();
        }
    }

    /// Ends the console's input: a program that reads past the end gets 0, as it does if the input was never
    /// [opened](Instance::open_input).
    pub fn end_input(&mut self) {
        if let Some(console) = self.devices.find_console_mut() {
            console.end_input();
        }
    }

    /// Takes what the program has written to the console since the last call.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.devices.find_console_mut().map(Console::take_output).unwrap_or_default()
    }

    /// Returns which engine runs the machine; never [`EngineKind::Auto`].
    pub fn engine(&self) -> EngineKind {
        self.engine.kind()
    }

    /// Sets the clock with which the engine measures its compile time, if it compiles. The clock returns the time
    /// passed since some fixed moment.
    pub fn set_clock(&mut self, clock: fn() -> Duration) {
        self.engine.set_clock(clock);
    }

    /// Returns what the engine has compiled, if it compiles.
    pub fn statistics(&self) -> Option<Statistics> {
        self.engine.statistics()
    }

    fn place(&self, name: &str) -> Result<Named, Error> {
        if name == self.isa.pc.name {
            return Ok(Named::Pc);
        }
        let names = || {
            let registers = self.isa.registers.iter().map(|register| register.name.as_str());
            registers.chain(self.isa.views.iter().map(|view| view.name.as_str())).chain([self.isa.pc.name.as_str()])
        };
        self.isa.place_named(name).map(Named::Place).ok_or_else(|| unknown("register", name, names()))
    }

    fn memory_id(&self, name: &str) -> Result<MemoryId, Error> {
        let names = || self.isa.memories.iter().map(|memory| memory.name.as_str());
        self.isa.memory_named(name).ok_or_else(|| unknown("memory", name, names()))
    }

    fn device_id(&self, name: &str) -> Result<DeviceId, Error> {
        let names = || self.isa.devices.iter().map(|device| device.name.as_str());
        let at = names().position(|known| known == name);
        at.map(|at| DeviceId(at as u32)).ok_or_else(|| unknown("device", name, names()))
    }
}

/// What a register name stands for.
enum Named {
    Pc,
    Place(Place),
}

fn unknown<'n>(kind: &'static str, name: &str, known: impl Iterator<Item = &'n str>) -> Error {
    Error::UnknownName { kind, name: name.to_owned(), nearest: nearest(name, known).map(str::to_owned) }
}

fn fitting(name: &str, value: u64, width: Width) -> Result<u64, Error> {
    let too_wide = || Error::DoesNotFit { value, name: name.to_owned(), bits: width.bits() };
    width.holds(value).then_some(value).ok_or_else(too_wide)
}
