//! A language server for definitions (`.isa`) and for the assembly of any machine.
//!
//! `lathe-edit` answers questions about a text and knows nothing of the protocol; the server ([`run`])
//! turns requests into such questions, and is the only place with wire types. Nothing is
//! kept between two versions of a text but the machines, which are loaded again only when their definition
//! has changed: reading and assembling everything again is fast enough.
//!
//! Deliberately absent: anything that only one editor has.

mod document;
mod grammar;
mod server;
mod stdio;
mod wire;
mod workspace;

pub use grammar::{assembly_grammar, definition_grammar};
pub use server::{run, serve};
