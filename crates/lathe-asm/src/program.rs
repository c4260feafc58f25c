//! A program that has been read: its contents, in order, before it has addresses.
//!
//! Everything numerous is kept in lists and referred to by position.

use lathe_base::{Source, Span};
use lathe_isa::model::{InstructionId, Order};

use crate::expression::{ExprId, Expressions};
use crate::lines::Call;
use crate::names::Name;
use crate::parser::{Context, Names};
use crate::symbols::{SymbolId, Symbols};
use crate::tokens::Token;

/// A program that has been read.
#[derive(Debug, Default)]
pub(crate) struct Program {
    pub(crate) items: Vec<Item>,
    pub(crate) expressions: Expressions,
    pub(crate) symbols: Symbols,
    pub(crate) alternatives: Vec<Alternative>,
    pub(crate) operands: Vec<Operand>,
    pub(crate) values: Vec<ExprId>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) texts: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) macros: Vec<Name>,
    /// Whether parts of the program could not be read, so that missing definitions may be in them.
    pub(crate) is_incomplete: bool,
}

impl Program {
    /// Returns what reading a line needs.
    pub(crate) fn names<'p>(&'p mut self, texts: &'p Texts, context: &'p Context) -> Names<'p> {
        Names { texts, expressions: &mut self.expressions, symbols: &mut self.symbols, context }
    }
}

/// The texts that tokens are part of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) sources: Vec<Source>,
    /// Words that are in no source: macros have made them from several pieces.
    pub(crate) made: Vec<Box<str>>,
}

impl Texts {
    /// Returns the text of a token.
    pub(crate) fn of(&self, token: Token) -> &str {
        match (token.made as usize).checked_sub(1) {
            Some(made) => &self.made[made],
            None => &self.sources[token.span.file.0 as usize].text[token.span.range()],
        }
    }
}

/// One thing with an effect, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    pub(crate) span: Span,
    /// The call around it, as a position in `calls` plus one.
    pub(crate) call: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemKind {
    Label(SymbolId),
    /// One of the alternatives from `first` on, shortest first; `chosen` only moves on.
    Instruction {
        first: u32,
        count: u16,
        chosen: u16,
    },
    /// Values from `first` on, each taking `cells` cells.
    Data {
        first: u32,
        count: u32,
        cells: u16,
        order: Order,
    },
    /// Bytes from `first` on, a cell each.
    Bytes {
        first: u32,
        count: u32,
    },
    Space {
        count: ExprId,
        fill: Option<ExprId>,
    },
    Align {
        to: ExprId,
        fill: Option<ExprId>,
    },
    Origin(ExprId),
    /// Continues in a memory or section; sections are counted after the memories.
    Place(usize),
    Assert {
        condition: ExprId,
        message: u32,
    },
    Entry(ExprId),
}

/// One way to encode an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alternative {
    pub(crate) instruction: InstructionId,
    /// The position of its first operand.
    pub(crate) operands: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Bits(u64),
    Value(ExprId),
}
