//! A program that has been read: what it consists of, in order, before it has addresses.
//!
//! Everything of which there are many is kept in lists and referred to by position.

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
    /// Whether parts of the program could not be read, so that what is missing may be in them.
    pub(crate) is_incomplete: bool,
}

impl Program {
    /// What a line needs to be read.
    pub(crate) fn names<'p>(&'p mut self, texts: &'p Texts, context: &'p Context) -> Names<'p> {
        Names { texts, expressions: &mut self.expressions, symbols: &mut self.symbols, context }
    }
}

/// What tokens are pieces of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    pub(crate) sources: Vec<Source>,
    /// Words that stand in no source: macros have made them of several pieces.
    pub(crate) made: Vec<Box<str>>,
}

impl Texts {
    /// The text of a token.
    pub(crate) fn of(&self, token: Token) -> &str {
        match (token.made as usize).checked_sub(1) {
            Some(made) => &self.made[made],
            None => &self.sources[token.span.file.0 as usize].text[token.span.range()],
        }
    }
}

/// One thing with an effect, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) kind: ItemKind,
    pub(crate) span: Span,
    /// The call it stands in, as a position in `calls` plus one.
    pub(crate) call: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ItemKind {
    Label(SymbolId),
    /// One of the alternatives from a position on, shortest first; the chosen one only moves on.
    Instruction {
        first: u32,
        count: u16,
        chosen: u16,
    },
    /// Values from a position on, each this many cells.
    Data {
        first: u32,
        count: u32,
        cells: u16,
        order: Order,
    },
    /// Bytes from a position on, a cell each.
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
    /// Goes on in a memory, or, counted on from there, in a section.
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
    /// Its operands, from this position on.
    pub(crate) operands: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    Bits(u64),
    Value(ExprId),
}
