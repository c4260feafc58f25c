//! Devices: what instructions reach besides registers and memory.
//!
//! Operations are numbered as in [`lathe_isa::model::DeviceKind::operations`]. Reads happen
//! at once. Writes happen when the instruction has ended, so that one that faults leaves
//! nothing behind.

use std::any::Any;
use std::collections::VecDeque;

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind};

/// Something that answers the operations of one kind of device.
pub trait Device: Any + Send {
    /// Does an operation that gives a value.
    fn read(&mut self, operation: u8, arguments: &[u64]) -> u64;
    /// Does an operation that gives none.
    fn write(&mut self, operation: u8, arguments: &[u64]);
}

/// The console of a machine: bytes in from a queue, bytes out to a list.
///
/// Who runs the machine fills the one and empties the other between runs; a reader at the
/// edge can also be attached, which is asked when the queue is empty.
#[derive(Default)]
pub struct Console {
    input: VecDeque<u8>,
    output: Vec<u8>,
    more: Option<Box<dyn FnMut() -> Option<u8> + Send>>,
    sink: Option<Box<dyn FnMut(u8) + Send>>,
}

impl Console {
    /// A console that has this to give.
    pub fn with_input(input: impl IntoIterator<Item = u8>) -> Console {
        Console { input: input.into_iter().collect(), ..Console::default() }
    }

    /// A console that asks `more` for every byte and gives `sink` every byte.
    pub fn connected(
        more: impl FnMut() -> Option<u8> + Send + 'static,
        sink: impl FnMut(u8) + Send + 'static,
    ) -> Console {
        Console { more: Some(Box::new(more)), sink: Some(Box::new(sink)), ..Console::default() }
    }

    /// What has been written and not passed on.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Gives it more to read.
    pub fn give(&mut self, bytes: &[u8]) {
        self.input.extend(bytes);
    }

    /// Takes away what has been written and not passed on.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    fn fetch(&mut self) {
        if self.input.is_empty() {
            let byte = self.more.as_mut().and_then(|more| more());
            self.input.extend(byte);
        }
    }
}

impl Device for Console {
    /// Operation 0 reads a byte, 0 at the end of the input; operation 2 tells whether one is left.
    fn read(&mut self, operation: u8, _arguments: &[u64]) -> u64 {
        self.fetch();
        match operation {
            0 => u64::from(self.input.pop_front().unwrap_or(0)),
            _ => u64::from(!self.input.is_empty()),
        }
    }

    fn write(&mut self, _operation: u8, arguments: &[u64]) {
        let byte = arguments.first().map_or(0, |value| *value as u8);
        match &mut self.sink {
            Some(sink) => sink(byte),
            None => self.output.push(byte),
        }
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
    /// Writes of the instruction being executed.
    pending: Vec<(DeviceId, u8, Vec<u64>)>,
    console: Option<DeviceId>,
}

impl Devices {
    /// The devices of a definition: the first stream is the console, buses have nothing attached.
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
            });
        }
        Devices { list, masks, pending: Vec::new(), console: found }
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
