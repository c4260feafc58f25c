//! Running machines: their state, their devices, the reference interpreter, and what all engines have in common.
//!
//! ```
//! use std::sync::Arc;
//! use lathe_vm::{Engine, Console, Devices, Interpreter, State, Stop};
//!
//! let text = r#"
//! machine tiny "Adds what it reads"
//! memory ram : u8 -> u8
//! pc pc : u8 in ram
//! register a : u8
//! device console : stream
//! instructions {
//!   add  | 0000 0001 | a = a + console.read()
//!   out  | 0000 0010 | console.write(a)
//!   halt | 0000 0000 | halt
//! }
//! "#;
//! let isa = Arc::new(lathe_isa::load(text).isa.unwrap());
//! let mut state = State::new(&isa);
//! state.memory_mut(isa.pc.memory).fill([1, 1, 2, 0]);
//! let mut devices = Devices::new(&isa, Console::with_input([40, 2]));
//! let run = Interpreter::new(&isa).run(&mut state, &mut devices, 1_000);
//! assert_eq!(run.stop, Stop::Halted);
//! assert_eq!(devices.console().output(), [42]);
//! ```
//!
//! Deliberately absent: files, terminals, clocks, randomness. A run is a function of the
//! definition, the image and the input.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod changes;
pub mod device;
pub mod engine;
pub mod examples;
pub mod interpreter;
pub mod memory;
mod pages;
mod shared_pages;
pub mod state;
pub mod stops;

pub use changes::{CellChange, Changes, DeviceUse, RegisterChange};
pub use device::{
    Console, Counter, Device, Devices, DevicesSnapshot, Display, Input, Keypad, Port, Ports, REMEMBERED_PORTS, Random,
    Timer,
};
pub use engine::Engine;
pub use interpreter::{Interpreter, Step};
pub use memory::{Memory, MemorySnapshot};
pub use state::{MAX_MEMORY, Stamp, State, StateSnapshot};
pub use stops::{Access, AccessKind, Fault, FaultCause, Run, Stop, Stops, Watch, WhenIdle};
