//! The debugger: one machine that can be stopped anywhere, looked into, and run backwards.
//!
//! ```
//! use lathe_debug::{Debugger, Program};
//! use lathe_embed::Machine;
//!
//! let machine = Machine::built_in("hex8")?;
//! let image = machine.assemble("loop: addimm r1, r1, 1\n storemem r1, 0x80\n jmp loop")?;
//! let program = Program::new(machine.isa().clone(), image, Vec::new());
//! let mut debugger = Debugger::new(program, machine.instance());
//!
//! debugger.step(7, &mut ())?;
//! assert_eq!((debugger.position(), debugger.state().pc), (7, 3));
//! debugger.back(6, &mut ())?;
//! assert_eq!((debugger.position(), debugger.state().pc), (1, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Going back is running forward again: snapshots are kept, sparser with distance, and a run from a snapshot is
//! deterministic. So nothing is logged while a program runs, and it runs at the engine's speed.
//!
//! Read [`debugger`] first, then [`history`] and [`search`]. [`command`] is the language people type, the same in every
//! face.
//!
//! Deliberately absent: files, terminals, protocols, clocks, threads. The caller decides through [`Host`] when a long
//! run pauses.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod answer;
pub mod breakpoints;
pub mod calls;
pub mod command;
pub mod debugger;
pub mod expression;
pub mod history;
mod plan;
pub mod problem;
pub mod program;
pub mod search;
pub mod session;
mod text;
pub mod watching;

pub use answer::{Answer, StopReport};
pub use breakpoints::{Breakpoint, Effect, What};
pub use command::{Command, execute, parse};
pub use debugger::{Debugger, Host, Reason, Stopped};
pub use expression::Value;
pub use plan::{CellHit, Detail, Hit};
pub use problem::Problem;
pub use program::Program;
pub use text::printable;
