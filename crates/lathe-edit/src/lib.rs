//! Questions that editors ask about a text: what to colour, what a name means, what can be written here, what to show
//! beside it. Both the language server and the playground ask them here.
//!
//! [`definition`] reads definitions and [`assembly`] reads programs; both work while the text is broken.
//! [`completion`], [`hover`] and [`signature`] put answers together. Places are bytes of the text.
//!
//! Deliberately absent: protocols, files, and anything that only one editor has.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod assembly;
pub mod completion;
pub mod definition;
pub mod description;
mod dialect;
pub mod hover;
pub mod operands;
pub mod signature;

/// What a piece of text is, for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Class {
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
pub struct Piece {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it is.
    pub class: Class,
}

impl Class {
    /// Every class; its place in this list is its number.
    pub const ALL: [Class; 12] = [
        Class::Comment,
        Class::Keyword,
        Class::Type,
        Class::Number,
        Class::Text,
        Class::Register,
        Class::Operand,
        Class::Function,
        Class::Mnemonic,
        Class::Directive,
        Class::Label,
        Class::Name,
    ];

    /// Returns one word for it.
    pub fn name(self) -> &'static str {
        match self {
            Class::Comment => "comment",
            Class::Keyword => "keyword",
            Class::Type => "type",
            Class::Number => "number",
            Class::Text => "text",
            Class::Register => "register",
            Class::Operand => "operand",
            Class::Function => "function",
            Class::Mnemonic => "mnemonic",
            Class::Directive => "directive",
            Class::Label => "label",
            Class::Name => "name",
        }
    }
}
