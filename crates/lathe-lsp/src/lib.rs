//! A language server for definitions (`.isa`) and for the assembly of any machine.
//!
//! [`definition`] and [`assembly`] answer questions about a text and know nothing of the protocol; the
//! server ([`run`]) turns requests into such questions, and is the only place with wire types. Nothing is
//! kept between two versions of a text but the machines, which are loaded again only when their definition
//! has changed: reading and assembling everything again is fast enough.
//!
//! Deliberately absent: anything that only one editor has.

mod assembly;
mod definition;
mod description;
mod document;
mod grammar;
mod server;
mod wire;
mod workspace;

pub use grammar::{assembly_grammar, definition_grammar};
pub use server::run;

/// What a piece of text is, for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Comment,
    Keyword,
    Type,
    Number,
    Text,
    Register,
    Operand,
    Function,
    Mnemonic,
    Directive,
    Label,
    Name,
}

/// A piece of text with its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) class: Class,
}
