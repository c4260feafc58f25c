//! The names of a program.

use std::borrow::Cow;

use lathe_base::numbers::ByName;
use lathe_base::{Span, nearest};
use lathe_isa::model::MemoryId;

use crate::expression::{ExprId, Value};

/// A name of the program, defined or only mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SymbolId(pub(crate) u32);

/// What is known about a name.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) definition: Definition,
    pub(crate) span: Span,
    pub(crate) used: bool,
    pub(crate) exported: bool,
    /// Whether it is a constant that may be defined again.
    pub(crate) again: bool,
    /// The value of a constant, and the pass that computed it.
    pub(crate) cached: Option<(u32, Value)>,
}

/// How a name is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    /// Not yet, or never.
    None,
    /// `name:`, with the address in its memory once a pass has reached it.
    Label(MemoryId, Option<u128>),
    /// `name = …`
    Constant(ExprId),
    /// A constant whose value cannot be read; already reported.
    Broken,
    /// A number given from outside or by the assembler.
    Number(i128),
    /// A constant being evaluated; meeting it again means a circular definition.
    Busy(ExprId),
}

#[derive(Debug, Default)]
pub(crate) struct Symbols {
    list: Vec<Entry>,
    by_name: ByName<SymbolId>,
    /// Whether names ignore case.
    pub(crate) caseless: bool,
    /// The number of the current pass; a constant's value holds for one pass.
    pub(crate) pass: u32,
    /// How many constants are being evaluated, each needed by the one before.
    pub(crate) depth: usize,
}

impl Symbols {
    /// Returns the symbol of this name, adding it if there is none.
    pub(crate) fn intern(&mut self, name: &str, span: Span) -> SymbolId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = SymbolId(self.list.len() as u32);
        let entry = Entry {
            name: name.into(),
            definition: Definition::None,
            span,
            used: false,
            exported: false,
            again: false,
            cached: None,
        };
        self.list.push(entry);
        self.by_name.insert(self.key(name).into(), id);
        id
    }

    /// Returns the symbol of this name for a definition that may be repeated: a new one after the first, so that
    /// earlier lines keep their meaning.
    pub(crate) fn intern_again(&mut self, name: &str, span: Span) -> SymbolId {
        let first = self.intern(name, span);
        let entry = self.entry_mut(first);
        let id = match entry.definition {
            Definition::None => first,
            _ if entry.again => {
                self.by_name.remove(self.key(name).as_ref());
                self.intern(name, span)
            }
            _ => return first,
        };
        self.entry_mut(id).again = true;
        id
    }

    /// Whether the name still means this symbol at the end of the program.
    pub(crate) fn is_last(&self, id: SymbolId) -> bool {
        !self.entry(id).again || self.find(&self.entry(id).name) == Some(id)
    }

    /// Returns the key of a name in the table.
    fn key<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.caseless { name.to_ascii_lowercase().into() } else { name.into() }
    }

    pub(crate) fn find(&self, name: &str) -> Option<SymbolId> {
        self.by_name.get(self.key(name).as_ref()).copied()
    }

    pub(crate) fn entry(&self, id: SymbolId) -> &Entry {
        &self.list[id.0 as usize]
    }

    pub(crate) fn entry_mut(&mut self, id: SymbolId) -> &mut Entry {
        &mut self.list[id.0 as usize]
    }

    /// Defines a name; fails with the span of an earlier definition if there is one.
    pub(crate) fn define(&mut self, id: SymbolId, definition: Definition, span: Span) -> Result<(), Span> {
        let entry = self.entry_mut(id);
        if entry.definition != Definition::None {
            return Err(entry.span);
        }
        entry.definition = definition;
        entry.span = span;
        Ok(())
    }

    /// Marks a constant as being evaluated.
    pub(crate) fn begin(&mut self, id: SymbolId, expr: ExprId) {
        self.depth += 1;
        self.entry_mut(id).definition = Definition::Busy(expr);
    }

    /// Ends what `begin` began; the constant's value, if any, holds for this pass.
    pub(crate) fn settle(&mut self, id: SymbolId, expr: ExprId, value: Option<Value>) {
        self.depth -= 1;
        let pass = self.pass;
        let entry = self.entry_mut(id);
        entry.definition = Definition::Constant(expr);
        entry.cached = value.map(|value| (pass, value));
    }

    /// Returns the address of a label in the last pass, with its memory.
    pub(crate) fn label(&self, id: SymbolId) -> Option<Value> {
        match self.entry(id).definition {
            Definition::Label(memory, Some(address)) => Some(Value { number: address as i128, memory: Some(memory) }),
            _ => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (SymbolId, &Entry)> {
        self.list.iter().enumerate().map(|(at, entry)| (SymbolId(at as u32), entry))
    }

    /// Finds a "did you mean" among the defined names.
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        let defined = self.list.iter().filter(|entry| entry.definition != Definition::None);
        nearest(name, defined.map(|entry| entry.name.as_ref()))
    }
}
