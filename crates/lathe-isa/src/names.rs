//! The names that a definition declares, and what each stands for. They share one space.

use std::collections::BTreeMap;

use lathe_base::{FileId, Span, Width};

use crate::model::{DeviceId, FieldId, MemoryId, RegisterId};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A memory.
    Memory(MemoryId),
    /// The program counter.
    Pc,
    /// A register.
    Register(RegisterId),
    /// A view, by its position in the model.
    View(usize),
    /// A field.
    Field(FieldId),
    /// A family, by its position in the model.
    Family(usize),
    /// An operand with modes, by its position in the model.
    Operand(usize),
    /// A device.
    Device(DeviceId),
    /// A trap's number.
    Trap(u64),
    /// A value of an enumeration, and the width of its field.
    Constant(u64, Width),
    /// A function, by its position in the model.
    Function(usize),
    /// A letter for a width, and the width.
    Width(Width),
}

impl Named {
    /// Returns the kind for messages, such as "a memory".
    pub fn kind(self) -> &'static str {
        match self {
            Named::Memory(_) => "a memory",
            Named::Pc => "the program counter",
            Named::Register(_) => "a register",
            Named::View(_) => "a view",
            Named::Field(_) => "a field",
            Named::Family(_) => "a family",
            Named::Operand(_) => "an operand with modes",
            Named::Device(_) => "a device",
            Named::Trap(_) => "a trap",
            Named::Constant(..) => "a value of an enumeration",
            Named::Function(_) => "a function",
            Named::Width(_) => "a width",
        }
    }
}

/// A name that a definition declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it stands for.
    pub named: Named,
    /// Where it is declared.
    pub span: Span,
    /// Where it is used, in the order of the text. What a function uses counts if the function is called.
    pub uses: Vec<Span>,
}

/// All names that a definition declares.
#[derive(Clone, Debug, Default)]
pub struct Resolved {
    table: BTreeMap<String, Entry>,
}

impl Resolved {
    /// Returns what is known about a name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.table.get(name)
    }

    /// Returns all names, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.table.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// Returns the name declared or used at this byte of the definition's own file.
    pub fn at(&self, offset: u32) -> Option<(&str, &Entry)> {
        let holds = |span: &Span| span.file == FileId(0) && span.start <= offset && offset < span.end;
        self.iter().find(|(_, entry)| holds(&entry.span) || entry.uses.iter().any(holds))
    }

    /// Returns how many names there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(crate) fn insert(&mut self, name: &str, entry: Entry) {
        self.table.insert(name.to_owned(), entry);
    }

    pub(crate) fn set_uses(&mut self, name: &str, uses: Vec<Span>) {
        if let Some(entry) = self.table.get_mut(name) {
            entry.uses = uses;
        }
    }
}
