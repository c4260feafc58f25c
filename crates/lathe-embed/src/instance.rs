//! One running machine: its state, its devices, its engine.

use lathe_asm::Image;
use lathe_base::{Width, nearest};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, MemoryId, Place};
use lathe_vm::{Console, Device, Devices, Engine, Memory, Run, State};

use crate::engine::{AnyEngine, EngineKind, Statistics};
use crate::error::Error;

/// One running machine.
pub struct Instance<'m> {
    isa: &'m Isa,
    state: State,
    devices: Devices,
    engine: AnyEngine<'m>,
}

/// Lays an image down in the memories it is for, and puts the program counter at its beginning.
/// Cells that it says nothing about stay as they are.
pub fn lay_down(image: &Image, isa: &Isa, state: &mut State) {
    for segment in &image.segments {
        for (cell, address) in segment.cells.iter().zip(segment.start..) {
            state.memory_mut(segment.memory).set(address, *cell);
        }
    }
    state.pc = image.start(isa);
}

impl<'m> Instance<'m> {
    pub(crate) fn new(isa: &'m Isa, engine: AnyEngine<'m>) -> Instance<'m> {
        Instance { isa, state: State::new(isa), devices: Devices::new(isa, Console::default()), engine }
    }

    /// Puts a program into the memories, and the program counter at its beginning. Everything else
    /// stays as it is; [`Instance::reset`] before it begins anew.
    pub fn load(&mut self, image: &Image) {
        lay_down(image, self.isa, &mut self.state);
    }

    /// Registers at their reset values, memories zero. Devices stay.
    pub fn reset(&mut self) {
        self.state = State::new(self.isa);
    }

    /// Runs until the machine stops, or so many instructions have been executed. Whatever the
    /// engine, the same program and input stop at the same instruction.
    pub fn run(&mut self, limit: u64) -> Run {
        self.engine.run(&mut self.state, &mut self.devices, limit)
    }

    /// The value of the program counter, a register or a view.
    ///
    /// # Errors
    /// If the machine has none of this name.
    pub fn get(&self, name: &str) -> Result<u64, Error> {
        Ok(match self.place(name)? {
            Named::Pc => self.state.pc,
            Named::Place(place) => self.state.place(&place),
        })
    }

    /// Sets the program counter, a register or a view.
    ///
    /// # Errors
    /// If the machine has none of this name, it is constant, or the value does not fit.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), Error> {
        match self.place(name)? {
            Named::Pc => self.state.pc = fitting(name, value, self.isa.pc.width)?,
            Named::Place(place) if place.parts.iter().any(|part| self.isa.register(part.register).constant) => {
                return Err(Error::Constant(name.to_owned()));
            }
            Named::Place(place) => {
                let value = fitting(name, value, place.width)?;
                self.state.set_place(self.isa, &place, value);
            }
        }
        Ok(())
    }

    /// A memory, to be read.
    ///
    /// # Errors
    /// If the machine has none of this name.
    pub fn memory(&self, name: &str) -> Result<&Memory, Error> {
        Ok(self.state.memory(self.memory_id(name)?))
    }

    /// A memory, to be written. Writing code is no trouble: every engine looks at it again.
    ///
    /// # Errors
    /// If the machine has none of this name.
    pub fn memory_mut(&mut self, name: &str) -> Result<&mut Memory, Error> {
        let id = self.memory_id(name)?;
        Ok(self.state.memory_mut(id))
    }

    /// Program counter, registers and memories: a snapshot is a clone of this.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The same, to be changed in any way; assigning it goes back to a snapshot.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// Puts a device in the place of the one that the definition names so.
    ///
    /// # Errors
    /// If the definition names none so.
    pub fn attach(&mut self, name: &str, device: impl Device) -> Result<(), Error> {
        let id = self.device_id(name)?;
        self.devices.attach(id, Box::new(device));
        Ok(())
    }

    /// Gives the console more to read. Nothing happens if the machine has no console.
    pub fn give_input(&mut self, bytes: &[u8]) {
        if let Some(console) = self.devices.find_console_mut() {
            console.give(bytes);
        }
    }

    /// What the program has written to the console since this was last asked.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.devices.find_console_mut().map(Console::take_output).unwrap_or_default()
    }

    /// Which engine runs it; never [`EngineKind::Auto`].
    pub fn engine(&self) -> EngineKind {
        self.engine.kind()
    }

    /// What the engine has compiled, if it is one that compiles.
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

/// What a name of a register stands for.
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
