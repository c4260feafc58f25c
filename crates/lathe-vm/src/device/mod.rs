//! Devices: what instructions reach besides registers and memory.
//!
//! Operations are numbered as in [`lathe_isa::model::DeviceKind::operations`]. Reads happen
//! at once. Writes happen when the instruction has ended, so that one that faults leaves
//! nothing behind.

mod console;
mod panel;

use std::any::Any;

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind};

pub use console::Console;
pub use panel::{Display, Keypad, Random, Timer};

/// What random numbers depend on, if nothing else is said.
const SEED: u64 = 1;

/// Something that answers the operations of one kind of device.
pub trait Device: Any + Send {
    /// Does an operation that gives a value.
    fn read(&mut self, operation: u8, arguments: &[u64]) -> u64;
    /// Does an operation that gives none.
    fn write(&mut self, operation: u8, arguments: &[u64]);
    /// Is told that as many instructions have passed as its kind waits for.
    fn tick(&mut self) {}
    /// The same, so many times.
    fn ticks(&mut self, count: u64) {
        (0..count).for_each(|_| self.tick());
    }
}

/// A bus with nothing attached: reads 0, drops what is written.
#[derive(Debug, Default)]
pub struct Bus;

impl Device for Bus {
    fn read(&mut self, _operation: u8, _arguments: &[u64]) -> u64 {
        0
    }

    fn write(&mut self, _operation: u8, _arguments: &[u64]) {}
}

/// The devices of one machine.
pub struct Devices {
    list: Vec<Box<dyn Device>>,
    /// The bits that each operation of each device gives; what it gives beyond them is dropped.
    masks: Vec<Vec<u64>>,
    /// Devices that count instructions.
    clocks: Vec<Clock>,
    /// Instructions of this run that those have been told of.
    told: u64,
    /// Writes of the instruction being executed.
    pending: Vec<(DeviceId, u8, Vec<u64>)>,
    console: Option<DeviceId>,
}

/// What must be told after every so many instructions.
#[derive(Clone, Copy, Debug)]
struct Clock {
    device: DeviceId,
    every: u64,
    left: u64,
}

impl Devices {
    /// The devices of a definition: the first stream is the console, buses have nothing attached,
    /// nobody touches the keypads.
    pub fn new(isa: &Isa, console: Console) -> Devices {
        let mut console = Some(console);
        let mut found = None;
        let mut list: Vec<Box<dyn Device>> = Vec::new();
        let masks = |kind: DeviceKind| kind.operations().iter().map(|o| o.result.map_or(0, |w| w.mask())).collect();
        let masks = isa.devices.iter().map(|device| masks(device.kind)).collect();
        for (at, device) in isa.devices.iter().enumerate() {
            list.push(match device.kind {
                DeviceKind::Stream => {
                    found = found.or(Some(DeviceId(at as u32)));
                    Box::new(console.take().unwrap_or_default())
                }
                DeviceKind::Bus { .. } => Box::new(Bus),
                DeviceKind::Display { width, height } => Box::new(Display::new(width, height)),
                DeviceKind::Keypad { keys } => Box::new(Keypad::new(keys)),
                DeviceKind::Timer { .. } => Box::new(Timer::default()),
                DeviceKind::Random { .. } => Box::new(Random::new(SEED)),
            });
        }
        let clock = |(device, described): (DeviceId, &lathe_isa::model::Device)| {
            let every = match described.kind {
                DeviceKind::Timer { every, .. } => u64::from(every),
                DeviceKind::Keypad { .. } => u64::from(Keypad::HOLD),
                _ => return None,
            };
            Some(Clock { device, every, left: every })
        };
        let clocks = (0..).map(DeviceId).zip(&isa.devices).filter_map(clock).collect();
        Devices { list, masks, clocks, told: 0, pending: Vec::new(), console: found }
    }

    /// Puts another device in the place of one.
    pub fn attach(&mut self, id: DeviceId, device: Box<dyn Device>) {
        self.list[id.index()] = device;
    }

    /// The console.
    ///
    /// # Panics
    /// If the machine has none, or another device was attached in its place.
    pub fn console(&self) -> &Console {
        self.find_console().expect("the machine has a console")
    }

    /// The console, if the machine has one and nothing else was attached in its place.
    pub fn find_console(&self) -> Option<&Console> {
        let device: &dyn Any = self.list[self.console?.index()].as_ref();
        device.downcast_ref()
    }

    /// The same, to be given input or rid of output.
    pub fn find_console_mut(&mut self) -> Option<&mut Console> {
        let device: &mut dyn Any = self.list[self.console?.index()].as_mut();
        device.downcast_mut()
    }

    /// The first device of this type, and a way to reach what only that type has.
    pub fn find<T: Device>(&self) -> Option<&T> {
        self.list.iter().find_map(|device| (device.as_ref() as &dyn Any).downcast_ref())
    }

    /// The first device of this type, to be changed.
    pub fn find_mut<T: Device>(&mut self) -> Option<&mut T> {
        self.list.iter_mut().find_map(|device| (device.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// A run begins.
    pub(crate) fn begin(&mut self) {
        self.told = 0;
    }

    /// So many instructions of this run have been executed. What counts them need not know before
    /// somebody looks at it.
    #[inline]
    pub fn catch_up(&mut self, steps: u64) {
        let passed = steps.saturating_sub(self.told);
        self.told = steps;
        for clock in &mut self.clocks {
            if passed < clock.left {
                clock.left -= passed;
                continue;
            }
            let beyond = passed - clock.left;
            clock.left = clock.every - beyond % clock.every;
            self.list[clock.device.index()].ticks(1 + beyond / clock.every);
        }
    }

    pub(crate) fn read(&mut self, id: DeviceId, operation: u8, arguments: &[u64]) -> u64 {
        self.list[id.index()].read(operation, arguments) & self.masks[id.index()][usize::from(operation)]
    }

    pub(crate) fn write_later(&mut self, id: DeviceId, operation: u8, arguments: Vec<u64>) {
        self.pending.push((id, operation, arguments));
    }

    pub(crate) fn commit(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        for (id, operation, arguments) in self.pending.drain(..) {
            self.list[id.index()].write(operation, &arguments);
        }
    }

    pub(crate) fn discard(&mut self) {
        self.pending.clear();
    }
}
