//! Machines inside other programs.
//!
//! A [`Machine`] is created once from a definition; any number of [`Instance`]s run programs on it, in any number of
//! threads.
//!
//! ```
//! use lathe_embed::{Machine, Stop};
//!
//! let machine = Machine::built_in("quad8")?;
//! let program = machine.assemble(" li a, 'H'\n out a\n halt\n")?;
//! let mut instance = machine.instance();
//! instance.load(&program);
//! assert_eq!(instance.run_for(1_000).stop, Stop::Halted);
//! assert_eq!(instance.take_output(), b"H");
//! # Ok::<(), lathe_embed::Error>(())
//! ```
//!
//! `docs/embedding.md` is the guide; its examples are tests of this crate.
//!
//! Deliberately absent: anything that the crates below lack. This crate only combines them, so that its users need not
//! know them all; those who need more use them directly.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

#[cfg(feature = "jit")]
mod background;
mod engine;
mod error;
mod fleet;
mod instance;
mod machine;

pub use engine::{AnyEngine, EngineKind, Statistics, Unavailable};
pub use error::{Error, Finding};
pub use fleet::Fleet;
pub use instance::{Counters, Instance, Snapshot, lay_down};
pub use machine::Machine;

pub use lathe_asm::Image;
pub use lathe_asm::formats::Format;
pub use lathe_isa::Isa;
pub use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};
pub use lathe_vm::{
    Access, AccessKind, CellChange, Changes, Console, Device, DeviceUse, Devices, Fault, FaultCause, Input, Memory,
    RegisterChange, Run, State, Step, Stop, Stops, Watch, WhenIdle,
};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Guide;
