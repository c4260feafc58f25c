//! Hardware from an instruction set: a core in plain Verilog that a person can read, what stands around it on a
//! chip, and a bench that runs programs on it.
//!
//! The core executes an instruction as the definition says it, statement by statement, in one combinational
//! block that starts over in every clock cycle. Each access to a memory or device has a number; `step` says which of them have
//! been done. The block runs up to the first that has not, and that one is what the cycle does. When nothing is left to do
//! the instruction retires: then, and only then, the registers change. So an instruction that faults has
//! changed nothing, and an instruction that waits for a device can wait anywhere.
//!
//! This crate writes text. It runs no tool, and knows no file.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod bench;
mod board;
mod body;
mod check;
mod core;
mod devices;
mod expression;
mod names;
mod operators;
mod range;
mod shape;
mod writer;

use std::fmt;

use lathe_base::{Source, Span};
use lathe_isa::Isa;

/// A file of the design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, in the folder of the design or in [`BOARD`] below it.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Something in a definition that the generator has no hardware for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is, as a person would say it.
    pub what: String,
    /// What to do about it.
    pub help: String,
    /// Where it is in the definition.
    pub place: Span,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// What memories hold when the power comes on, and where execution begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The cells of each memory that are not 0, by address.
    pub cells: Vec<Vec<(u64, u64)>>,
    /// The address of the first instruction, if it is not the definition's.
    pub entry: Option<u64>,
}

/// The hardware of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The name of the core's module; its file has the same name.
    pub module: String,
    /// What the numbers of `faulted_code` mean.
    pub messages: Vec<String>,
    /// The core, and everything around it for simulation and for a board.
    pub files: Vec<File>,
}

/// The folder of what belongs to a board, so that a simulator can be given all files beside the core.
pub const BOARD: &str = "board";

/// The message of a fault at bits that no row has.
pub use shape::UNDEFINED;

/// The hardware of a machine. `sources` are the files of its definition, whose rows become comments.
///
/// # Errors
/// If the definition asks for something that the generator has no hardware for.
pub fn generate(isa: &Isa, sources: &[Source], program: &Program) -> Result<Design, Unsupported> {
    check::supported(isa)?;
    let shape = shape::Shape::new(isa);
    let core = core::module(isa, sources, &shape);
    let module = shape.names.module.clone();
    let mut files = vec![
        File { name: format!("{module}.v"), text: core },
        File { name: "bench.v".to_owned(), text: bench::module(isa, &shape, program) },
        File { name: "bench.cpp".to_owned(), text: bench::driver() },
    ];
    files.extend(bench::images(isa, program));
    files.extend(board::files(isa, &shape, program));
    Ok(Design { module, messages: shape.messages, files })
}
