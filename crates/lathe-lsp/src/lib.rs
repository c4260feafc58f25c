//! A language server for definitions (`.isa`) and for the assembly of any machine.
//!
//! `lathe-edit` answers questions about a text and knows nothing of the protocol; the server ([`run`]) turns requests
//! into such questions, and is the only place with wire types. Between two versions of a text, only machines and the
//! meanings of unchanged lines and rows are kept; reading and assembling the rest again is fast enough.
//!
//! Deliberately absent: anything specific to one editor.

mod document;
mod grammar;
mod server;
mod stdio;
mod wire;
mod workspace;

pub use grammar::{assembly_grammar, definition_grammar};
pub use server::{run, serve};
