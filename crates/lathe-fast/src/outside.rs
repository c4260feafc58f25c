//! Devices as the inner loop reaches them: every operation of every device has a number.

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceOperation};
use lathe_vm::device::Devices;

/// The most arguments of a device operation.
pub(super) const ARGUMENTS: usize = 3;

/// An operation of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    device: DeviceId,
    operation: DeviceOperation,
    /// How many arguments it has.
    arguments: usize,
}

/// Returns the operations of all devices; the number of each is its position.
pub(super) fn operations(isa: &Isa) -> Vec<Operation> {
    let of_device = |(device, described): (DeviceId, &lathe_isa::model::Device)| {
        let operations = described.kind.operations().into_iter();
        operations.map(move |known| Operation {
            device,
            operation: known.operation,
            arguments: known.arguments.len().min(ARGUMENTS),
        })
    };
    (0..).map(DeviceId).zip(&isa.devices).flat_map(of_device).collect()
}

/// Returns the number of an operation of a device.
pub(super) fn number(isa: &Isa, device: DeviceId, operation: DeviceOperation) -> Option<u8> {
    let is_it = |known: &Operation| (known.device, known.operation) == (device, operation);
    operations(isa).iter().position(is_it)?.try_into().ok()
}

/// The devices during a run.
pub(super) struct Outside<'a> {
    pub(super) devices: &'a mut Devices,
    /// The most steps of the run.
    pub(super) limit: u64,
}

impl Outside<'_> {
    /// Returns the answer of a device when this many steps are left.
    pub(super) fn read(
        &mut self,
        known: Operation,
        arguments: &[u64; ARGUMENTS],
        left: u64,
        cycles: u64,
    ) -> Option<u64> {
        self.devices.catch_up(self.limit - left, cycles);
        self.devices.read(known.device, known.operation, &arguments[..known.arguments])
    }

    /// Tells a device something when this many steps are left.
    pub(super) fn write(&mut self, known: Operation, arguments: &[u64; ARGUMENTS], left: u64, cycles: u64) {
        self.devices.catch_up(self.limit - left, cycles);
        self.devices.write(known.device, known.operation, &arguments[..known.arguments]);
    }
}
