//! Compiles hot guest code, from the same meaning that the reference interpreter walks: quickly at first with a
//! compiler of its own, then with Cranelift; or to WebAssembly, where it runs as WebAssembly itself.
//!
//! ```
//! use std::sync::Arc;
//! use lathe_jit::Jit;
//! use lathe_vm::{Console, Devices, Engine, State, Stop};
//!
//! let text = r#"
//! machine tiny "Counts down"
//! memory ram : u8 -> u8
//! pc pc : u8 in ram
//! register a : u16
//! instructions {
//!   loop | 0000 0001 | a = a - 1; if a != 0 { pc = 0 }
//!   nop  | 0000 0010 |
//!   halt | 0000 0000 | halt
//! }
//! "#;
//! let isa = Arc::new(lathe_isa::load(text).isa.unwrap());
//! let mut state = State::new(&isa);
//! state.memory_mut(isa.pc.memory).fill([2, 1, 0]);
//! let mut devices = Devices::new(&isa, Console::default());
//! let run = Jit::new(&isa).run(&mut state, &mut devices, 1_000_000);
//! assert_eq!((run.stop, run.steps), (Stop::Halted, 2 * 65_536 + 1));
//! ```
//!
//! Deliberately absent: any knowledge of an instruction set, and any effect except on registers and memory. Devices,
//! faults, halting and changes of code are left to the interpreter, one instruction at a time.
//!
//! This is the only crate that may use unsafe code; `README.md` lists every use.

mod code;
mod context;
#[cfg(not(target_arch = "wasm32"))]
mod cranelift;
#[cfg(all(target_arch = "x86_64", unix))]
mod direct;
mod dirty;
mod emit;
mod engine;
mod enter;
mod guarded;
mod jumps;
mod ledger;
mod links;
mod live;
mod orders;
mod recompile;
mod region;
mod regions;
mod register_set;
mod shared;
#[cfg(any(target_arch = "wasm32", test))]
mod wasm;

#[cfg(not(target_arch = "wasm32"))]
use cranelift::CraneliftCompiler as Compiler;
#[cfg(target_arch = "wasm32")]
use wasm::HostCompiler as Compiler;

pub use engine::{Clock, Jit, Statistics};
pub use orders::{Background, Job};
pub use shared::SharedCode;
