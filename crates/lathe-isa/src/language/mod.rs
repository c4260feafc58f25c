//! The text of a definition: tokens, the tree, and the parser that makes it.
//!
//! The parser never fails. It returns the tree of what it understood and a list of diagnostics; what a name means is
//! decided later, in `elaborate`.

pub mod ast;
pub(crate) mod inherit;
pub mod lexer;
pub(crate) mod parser;
pub(crate) mod rename;

pub use parser::{end_of_instruction, parse};
