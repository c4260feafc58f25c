//! Writes instruction sets for other tools, so that a machine described here can be used there; and reads customasm's
//! rules as the start of a definition.
//!
//! Each format has a module that turns a model into text. Reading and writing files is the caller's business.

mod customasm;
mod import;
mod sleigh;

pub use customasm::customasm;
pub use import::{Finding, Import, import_customasm};
pub use sleigh::ghidra;

use lathe_isa::Isa;
use lathe_isa::model::Instruction;

/// What was exported, and what could not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The files for the other tool.
    pub files: Vec<File>,
    /// One line for everything that the other tool cannot express.
    pub missing: Vec<String>,
}

/// A file for another tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, relative to the folder of all files.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// Yields the instructions of a machine in its initial modes: other tools have no notion of modes.
fn in_first_modes(isa: &Isa) -> impl Iterator<Item = &Instruction> {
    let (modes, mask) = (isa.modes_at_reset(), isa.mode_mask());
    isa.instructions.iter().filter(move |instruction| instruction.encoding.is_in(modes, mask))
}

/// Says what is lost by that.
fn modes_missing(isa: &Isa) -> Option<String> {
    let names: Vec<String> = isa.modes.iter().map(|(mode, _)| format!("`{}`", isa.register(*mode).name)).collect();
    (!names.is_empty()).then(|| format!("{}: instructions are those that there are at reset", names.join(", ")))
}
