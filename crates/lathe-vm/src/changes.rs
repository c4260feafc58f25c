//! What one instruction did: the registers and cells it changed, what it read, and what it exchanged with devices.

use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};

use crate::stops::Access;

/// What one instruction did; nothing if it faulted or waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Registers that were written, each once, in the order of their first writes.
    pub registers: Vec<RegisterChange>,
    /// Cells that were written, each once, in the order of their first writes.
    pub cells: Vec<CellChange>,
    /// All accesses to memory in order, including those of mapped addresses.
    pub accesses: Vec<Access>,
    /// What the instruction exchanged with devices, in order.
    pub devices: Vec<DeviceUse>,
}

/// A register that was written, possibly with the value it already had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// The register.
    pub register: RegisterId,
    /// Its value before.
    pub old: u64,
    /// Its value after.
    pub new: u64,
}

/// A cell that was written, possibly with the value it already had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellChange {
    /// The memory.
    pub memory: MemoryId,
    /// The cell.
    pub address: u64,
    /// Its value before.
    pub old: u64,
    /// Its value after.
    pub new: u64,
}

/// An operation requested from a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUse {
    /// The device.
    pub device: DeviceId,
    /// The operation.
    pub operation: DeviceOperation,
    /// Its arguments.
    pub arguments: Vec<u64>,
    /// Its result, if it was a read.
    pub value: Option<u64>,
}
