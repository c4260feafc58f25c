//! Instruction sets written for other tools, so that a machine described here can be used there.
//!
//! Each format has a module that turns a model into text. Reading and writing files is the caller's
//! business, and so is reading what other tools have written.

mod customasm;

pub use customasm::customasm;

/// What was exported, and what could not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The text for the other tool.
    pub text: String,
    /// One line for everything that the other tool has no way to say.
    pub missing: Vec<String>,
}
