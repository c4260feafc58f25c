//! Devices: what instructions reach besides registers and memory.
//!
//! Reads happen at once, and are taken back if the instruction then faults. Writes happen when the instruction has
//! ended, so that one that faults leaves nothing behind.

mod console;
mod panel;
mod ports;

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, Operation};

pub use console::{Console, Input};
pub use panel::{Counter, Display, Keypad, Random, Timer};
pub use ports::{Port, Ports, REMEMBERED_PORTS};

/// The default seed of random numbers.
const SEED: u64 = 1;

/// Something that answers the operations of one kind of device.
pub trait Device: Send + 'static {
    /// Everything that the device's answers depend on, for snapshots.
    type Saved: PartialEq + Debug + Send + Sync + 'static;

    /// Performs an operation that gives a value. `None` if there is no value yet: the run stops in the state before the
    /// instruction, which is executed again when the run continues. A read that returns `None` must change nothing.
    fn read(&mut self, operation: DeviceOperation, arguments: &[u64]) -> Option<u64>;

    /// Performs an operation that gives no value.
    fn write(&mut self, operation: DeviceOperation, arguments: &[u64]);

    /// Tells the device that one of its periods, counted in instructions, has passed `_count` times.
    fn ticks(&mut self, _count: u64) {}

    /// Tells a counter that this many instructions have been executed, in this many cycles. Only counters are told.
    fn passed(&mut self, _instructions: u64, _cycles: u64) {}

    /// Returns what [`Device::restore`] needs to bring the device back to its present state.
    fn save(&mut self) -> Self::Saved;

    /// Goes back to a saved state, possibly saved by another device of this type.
    fn restore(&mut self, saved: &Self::Saved);
}

/// A [`Device`] of any type.
trait AnyDevice: Any + Send {
    fn read(&mut self, operation: DeviceOperation, arguments: &[u64]) -> Option<u64>;
    fn write(&mut self, operation: DeviceOperation, arguments: &[u64]);
    fn ticks(&mut self, count: u64);
    fn passed(&mut self, instructions: u64, cycles: u64);
    fn save(&mut self) -> Arc<dyn AnySaved>;
    /// Returns false if a device of another type saved the state.
    fn restore(&mut self, saved: &dyn AnySaved) -> bool;
    fn recognizes(&self, saved: &dyn AnySaved) -> bool;
}

impl<D: Device> AnyDevice for D {
    fn read(&mut self, operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        Device::read(self, operation, arguments)
    }

    fn write(&mut self, operation: DeviceOperation, arguments: &[u64]) {
        Device::write(self, operation, arguments);
    }

    fn ticks(&mut self, count: u64) {
        Device::ticks(self, count);
    }

    fn passed(&mut self, instructions: u64, cycles: u64) {
        Device::passed(self, instructions, cycles);
    }

    fn save(&mut self) -> Arc<dyn AnySaved> {
        Arc::new(Device::save(self))
    }

    fn restore(&mut self, saved: &dyn AnySaved) -> bool {
        let saved: Option<&D::Saved> = (saved as &dyn Any).downcast_ref();
        saved.map(|saved| Device::restore(self, saved)).is_some()
    }

    fn recognizes(&self, saved: &dyn AnySaved) -> bool {
        (saved as &dyn Any).is::<D::Saved>()
    }
}

/// The saved state of a [`Device`] of any type.
trait AnySaved: Any + Debug + Send + Sync {
    fn equals(&self, other: &dyn AnySaved) -> bool;
}

impl<S: PartialEq + Debug + Send + Sync + 'static> AnySaved for S {
    fn equals(&self, other: &dyn AnySaved) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }
}

/// The devices of one machine.
pub struct Devices {
    list: Vec<Box<dyn AnyDevice>>,
    /// The result bits of each operation of each device; anything beyond them is dropped.
    masks: Vec<Vec<(DeviceOperation, u64)>>,
    /// Devices to tell when a number of instructions has passed.
    clocks: Vec<Clock>,
    /// Devices that count instructions and cycles.
    counters: Vec<DeviceId>,
    /// How many instructions of this run have been reported to the counters.
    steps_reported: u64,
    /// How many cycles have been reported.
    cycles_reported: u64,
    /// The states of the devices before the running instruction read from them.
    unread: Vec<(DeviceId, Arc<dyn AnySaved>)>,
    console: Option<DeviceId>,
}

/// A device to be told every given number of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Clock {
    device: DeviceId,
    every: u64,
    left: u64,
}

/// The state of all devices of a machine at one moment.
#[derive(Clone, Debug)]
pub struct DevicesSnapshot {
    list: Vec<Arc<dyn AnySaved>>,
    clocks: Vec<Clock>,
}

impl PartialEq for DevicesSnapshot {
    fn eq(&self, other: &Self) -> bool {
        let saved = |(mine, theirs): (&Arc<dyn AnySaved>, &Arc<dyn AnySaved>)| mine.equals(&**theirs);
        self.clocks == other.clocks
            && self.list.len() == other.list.len()
            && self.list.iter().zip(&other.list).all(saved)
    }
}

impl Devices {
    /// Makes the devices of a definition: the first stream is the console, buses have nothing attached, no key is down.
    pub fn new(isa: &Isa, console: Console) -> Devices {
        let mut console = Some(console);
        let mut found = None;
        let mut list: Vec<Box<dyn AnyDevice>> = Vec::new();
        for (at, device) in isa.devices.iter().enumerate() {
            list.push(match device.kind {
                DeviceKind::Stream => {
                    found = found.or(Some(DeviceId(at as u32)));
                    Box::new(console.take().unwrap_or_default())
                }
                DeviceKind::Bus { .. } => Box::new(Ports::default()),
                DeviceKind::Display { width, height } => Box::new(Display::new(width, height)),
                DeviceKind::Keypad { keys } => Box::new(Keypad::new(keys)),
                DeviceKind::Timer { .. } => Box::new(Timer::default()),
                DeviceKind::Random { .. } => Box::new(Random::new(SEED)),
                DeviceKind::Counter => Box::new(Counter::default()),
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
        let is_counter = |(_, device): &(DeviceId, &lathe_isa::model::Device)| device.kind == DeviceKind::Counter;
        let counters = (0..).map(DeviceId).zip(&isa.devices).filter(is_counter).map(|(id, _)| id).collect();
        let mask = |known: &Operation| (known.operation, known.result.map_or(0, |width| width.mask()));
        let masks = isa.devices.iter().map(|device| device.kind.operations().iter().map(mask).collect()).collect();
        Devices {
            list,
            masks,
            clocks,
            counters,
            steps_reported: 0,
            cycles_reported: 0,
            unread: Vec::new(),
            console: found,
        }
    }

    /// Replaces a device with another.
    pub fn attach(&mut self, id: DeviceId, device: impl Device) {
        self.list[id.index()] = Box::new(device);
    }

    /// Returns the console.
    ///
    /// # Panics
    /// If the machine has none, or another device was attached in its place.
    pub fn console(&self) -> &Console {
        self.find_console().expect("the machine has a console")
    }

    /// Returns the console, if the machine has one and no other device was attached in its place.
    pub fn find_console(&self) -> Option<&Console> {
        let device: &dyn Any = self.list[self.console?.index()].as_ref();
        device.downcast_ref()
    }

    /// Returns the console, for giving input and taking output.
    pub fn find_console_mut(&mut self) -> Option<&mut Console> {
        let device: &mut dyn Any = self.list[self.console?.index()].as_mut();
        device.downcast_mut()
    }

    /// Returns the first device of this type, which gives access to what only that type has.
    pub fn find<T: Device>(&self) -> Option<&T> {
        self.list.iter().find_map(|device| (device.as_ref() as &dyn Any).downcast_ref())
    }

    /// Returns the first device of this type, to be changed.
    pub fn find_mut<T: Device>(&mut self) -> Option<&mut T> {
        self.list.iter_mut().find_map(|device| (device.as_mut() as &mut dyn Any).downcast_mut())
    }

    /// Returns the device with this id, if it is of this type.
    pub fn find_at<T: Device>(&self, id: DeviceId) -> Option<&T> {
        let device: &dyn Any = self.list.get(id.index())?.as_ref();
        device.downcast_ref()
    }

    /// Returns the device with this id, to be changed, if it is of this type.
    pub fn find_at_mut<T: Device>(&mut self, id: DeviceId) -> Option<&mut T> {
        let device: &mut dyn Any = self.list.get_mut(id.index())?.as_mut();
        device.downcast_mut()
    }

    /// Saves the state of all devices. To be called between two runs.
    pub fn snapshot(&mut self) -> DevicesSnapshot {
        DevicesSnapshot {
            list: self.list.iter_mut().map(|device| device.save()).collect(),
            clocks: self.clocks.clone(),
        }
    }

    /// Goes back to a saved state. Does nothing and returns false if the snapshot is not one of devices of the same
    /// types.
    pub fn restore(&mut self, snapshot: &DevicesSnapshot) -> bool {
        let clocks = |clocks: &[Clock]| clocks.iter().map(|clock| (clock.device, clock.every)).collect::<Vec<_>>();
        let fits = self.list.len() == snapshot.list.len()
            && clocks(&self.clocks) == clocks(&snapshot.clocks)
            && self.list.iter().zip(&snapshot.list).all(|(device, saved)| device.recognizes(&**saved));
        if fits {
            self.list.iter_mut().zip(&snapshot.list).for_each(|(device, saved)| {
                device.restore(&**saved);
            });
            self.clocks.clone_from(&snapshot.clocks);
        }
        fits
    }

    /// Begins a run.
    pub(crate) fn begin(&mut self) {
        self.steps_reported = 0;
        self.cycles_reported = 0;
    }

    /// Reports that this many instructions of this run have been executed, in this many cycles. Whatever counts them
    /// need not know before it is asked.
    #[inline]
    pub fn catch_up(&mut self, steps: u64, cycles: u64) {
        let passed = steps.saturating_sub(self.steps_reported);
        self.steps_reported = steps;
        for counter in &self.counters {
            self.list[counter.index()].passed(passed, cycles.wrapping_sub(self.cycles_reported));
        }
        self.cycles_reported = cycles;
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

    /// Reads from a device, and cuts the answer to the bits of the operation; `None` if there is no answer yet.
    pub fn read(&mut self, id: DeviceId, operation: DeviceOperation, arguments: &[u64]) -> Option<u64> {
        let value = self.list[id.index()].read(operation, arguments)?;
        let mask = self.masks[id.index()].iter().find(|(known, _)| *known == operation);
        Some(value & mask.map_or(0, |(_, mask)| *mask))
    }

    /// Performs an operation that gives no answer.
    pub fn write(&mut self, id: DeviceId, operation: DeviceOperation, arguments: &[u64]) {
        self.list[id.index()].write(operation, arguments);
    }

    /// Saves the state of a device for [`Devices::take_back`], unless the running instruction has already done so.
    pub(crate) fn remember(&mut self, id: DeviceId) {
        if self.unread.iter().all(|(known, _)| *known != id) {
            self.unread.push((id, self.list[id.index()].save()));
        }
    }

    /// Ends an instruction.
    pub(crate) fn commit(&mut self) {
        self.unread.clear();
    }

    /// Undoes the reads of an instruction that has not happened: they consume nothing.
    pub(crate) fn take_back(&mut self) {
        for (id, saved) in self.unread.drain(..) {
            self.list[id.index()].restore(&*saved);
        }
    }
}
