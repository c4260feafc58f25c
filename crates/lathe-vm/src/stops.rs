//! Where a run stops, and why it did.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use lathe_isa::model::{DeviceId, MemoryId};

use crate::state::State;

/// Where a run is to stop, if the machine does not stop by itself first.
///
/// ```
/// use lathe_isa::model::MemoryId;
/// use lathe_vm::{Stops, Watch};
///
/// let stops = Stops::after(1_000_000).at(0x40).watching(Watch::writes(MemoryId(0), 0x80..=0x8F));
/// assert_eq!((stops.limit, stops.breakpoints.contains(&0x40)), (1_000_000, true));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stops {
    /// After this many instructions.
    pub limit: u64,
    /// Before the instructions at these addresses. The first instruction of a run is executed in any case, so that a
    /// run can continue from a breakpoint.
    pub breakpoints: BTreeSet<u64>,
    /// After an instruction that accesses one of these cells.
    pub watches: Vec<Watch>,
    /// What to do with a run in which nothing can change any more.
    pub idle: WhenIdle,
}

/// What to do with a run in which nothing can change any more: an instruction has jumped to itself, changed nothing and
/// accessed no device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenIdle {
    /// The run stops.
    #[default]
    Stop,
    /// The run continues to the limit, as the machine would.
    GoOn,
}

impl Stops {
    /// Stops after this many instructions.
    pub fn after(limit: u64) -> Stops {
        Stops { limit, breakpoints: BTreeSet::new(), watches: Vec::new(), idle: WhenIdle::Stop }
    }

    /// Stops only where the machine stops by itself.
    pub fn never() -> Stops {
        Stops::after(u64::MAX)
    }

    /// Also stops before the instruction at this address.
    pub fn at(mut self, address: u64) -> Stops {
        self.breakpoints.insert(address);
        self
    }

    /// Also stops after an access to watched cells.
    pub fn watching(mut self, watch: Watch) -> Stops {
        self.watches.push(watch);
        self
    }

    /// Lets the run continue after a jump to itself.
    pub fn idling(mut self) -> Stops {
        self.idle = WhenIdle::GoOn;
        self
    }

    /// Whether only the limit or the machine itself can end the run.
    pub fn is_plain(&self) -> bool {
        self.breakpoints.is_empty() && self.watches.is_empty()
    }

    /// Whether these stops include everything that ends a run with the others, limits aside.
    pub fn include(&self, others: &Stops) -> bool {
        self.breakpoints.is_superset(&others.breakpoints)
            && others.watches.iter().all(|watch| self.watches.contains(watch))
    }

    /// Turns a run that ended at its limit into one that reached a breakpoint, if it is at one.
    pub fn at_limit(&self, mut run: Run, state: &State) -> Run {
        if run.stop == Stop::Limit && run.steps > 0 && self.breakpoints.contains(&state.pc) {
            run.stop = Stop::Breakpoint;
        }
        run
    }

    /// Whether an access is watched.
    pub fn watches(&self, access: &Access) -> bool {
        self.watches.iter().any(|watch| watch.covers(access))
    }
}

/// Cells that stop a run when accessed. Addresses mapped to something else count as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// The memory.
    pub memory: MemoryId,
    /// The cells.
    pub addresses: RangeInclusive<u64>,
    /// Whether reading one of the cells stops the run.
    pub reads: bool,
    /// Whether writing one of the cells stops the run, even if the value stays the same.
    pub writes: bool,
}

impl Watch {
    /// Stops after an instruction that reads one of these cells. Fetching an instruction is not a read.
    pub fn reads(memory: MemoryId, addresses: RangeInclusive<u64>) -> Watch {
        Watch { memory, addresses, reads: true, writes: false }
    }

    /// Stops after an instruction that writes one of these cells.
    pub fn writes(memory: MemoryId, addresses: RangeInclusive<u64>) -> Watch {
        Watch { memory, addresses, reads: false, writes: true }
    }

    /// Stops after an instruction that reads or writes one of these cells.
    pub fn accesses(memory: MemoryId, addresses: RangeInclusive<u64>) -> Watch {
        Watch { memory, addresses, reads: true, writes: true }
    }

    /// Whether the watch stops for accesses of this kind.
    pub fn is_for(&self, kind: AccessKind) -> bool {
        match kind {
            AccessKind::Read => self.reads,
            AccessKind::Write => self.writes,
        }
    }

    /// Whether the watch stops for this access.
    pub fn covers(&self, access: &Access) -> bool {
        self.is_for(access.kind) && self.memory == access.memory && self.addresses.contains(&access.address)
    }
}

/// One access to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The memory.
    pub memory: MemoryId,
    /// The cell.
    pub address: u64,
    /// Whether it was read or written.
    pub kind: AccessKind,
    /// The value read or written.
    pub value: u64,
}

/// How a cell is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// Why a machine stopped. If there are several reasons, the first in this order counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The machine could not execute an instruction; the state is as before that instruction.
    Fault(Fault),
    /// An instruction reads from a device that has no answer yet; the state is as before that instruction, which will
    /// be executed again.
    Waiting(DeviceId),
    /// The machine halted.
    Halted,
    /// The last executed instruction accessed these watched cells.
    Watch(Vec<Access>),
    /// The last executed instruction jumped to itself and changed nothing, so nothing can change any more.
    Idle,
    /// The next instruction has a breakpoint.
    Breakpoint,
    /// The limit of steps was reached.
    Limit,
}

/// An instruction that could not be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its address.
    pub pc: u64,
    /// What is wrong.
    pub cause: FaultCause,
}

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultCause {
    /// No row of the definition has this encoding.
    Undefined,
    /// The definition declares the fault, with a message and possibly a number.
    Declared(String, Option<u64>),
    /// The state is not one of this machine: it has different registers or memories.
    ForeignState,
    /// The instruction writes to a page of a large memory that does not exist yet, and the machine may not take
    /// [more memory](crate::State::set_max_memory).
    OutOfMemory,
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Why it stopped.
    pub stop: Stop,
    /// How many instructions were executed; one that faulted or waits does not count.
    pub steps: u64,
    /// How many cycles they took, if the definition counts them.
    pub cycles: u64,
}

impl Run {
    /// Makes a run in which nothing has been done yet.
    pub fn new() -> Run {
        Run { stop: Stop::Limit, steps: 0, cycles: 0 }
    }
}

impl Default for Run {
    fn default() -> Run {
        Run::new()
    }
}
