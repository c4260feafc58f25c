//! What one instruction did: the registers and cells it changed, what it read, and what
//! passed between it and devices.

use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};

use crate::stops::Access;

/// What one instruction did. One that faulted or waits has done nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Registers that were written, each once, in the order of their first writes.
    pub registers: Vec<RegisterChange>,
    /// Cells that were written, each once, in the order of their first writes.
    pub cells: Vec<CellChange>,
    /// All accesses to memory in their order, mapped addresses included.
    pub accesses: Vec<Access>,
    /// What passed between the instruction and devices, in its order.
    pub devices: Vec<DeviceUse>,
}

/// A register that was written, perhaps with the value that it had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// The register.
    pub register: RegisterId,
    /// Its value before.
    pub old: u64,
    /// Its value after.
    pub new: u64,
}

/// A cell that was written, perhaps with the value that it had.
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

/// What was asked of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceUse {
    /// The device.
    pub device: DeviceId,
    /// What was asked.
    pub operation: DeviceOperation,
    /// What it was given.
    pub arguments: Vec<u64>,
    /// What it gave, where it was read.
    pub value: Option<u64>,
}
