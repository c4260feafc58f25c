//! The names of a program, with the definition and uses of each: what an editor needs to find, rename and complete
//! them. Programs with errors have them too.

use std::collections::HashMap;

use lathe_base::Span;

use crate::SymbolKind;
use crate::expression::Value;
use crate::program::Program;
use crate::symbols::{Definition, Entry, SymbolId};

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The full name: a local label has its owner's name before it.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Where it is defined; `None` for a name from outside or without a definition.
    pub definition: Option<Span>,
    /// Its uses, in source order.
    pub uses: Vec<Span>,
}

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A label or a constant, and its value if known.
    Symbol(SymbolKind, Option<i128>),
    /// A macro.
    Macro,
    /// Used, but defined nowhere.
    Undefined,
}

/// Returns all names of a program, without those generated for anonymous labels and uses of macros.
pub(crate) fn of(program: &mut Program) -> Vec<Name> {
    let mut uses = program.expressions.uses();
    uses.sort_unstable();
    uses.dedup();
    let mut rest = uses.as_slice();
    let entries: Vec<(SymbolId, Entry)> = program.symbols.iter().map(|(id, entry)| (id, entry.clone())).collect();
    let mut names: Vec<Name> = Vec::new();
    let mut again: HashMap<Box<str>, usize> = HashMap::new();
    for (id, entry) in entries {
        let (own, later) = rest.split_at(rest.partition_point(|(symbol, _)| *symbol <= id));
        rest = later;
        if !entry.name.contains([':', '@']) {
            let uses = own.iter().map(|(_, span)| *span).collect();
            let name = name(program, id, &entry, uses);
            match again.get(&entry.name) {
                Some(first) => names[*first].uses.extend(name.definition.into_iter().chain(name.uses)),
                None => {
                    entry.again.then(|| again.insert(entry.name, names.len()));
                    names.push(name);
                }
            }
        }
    }
    again.values().for_each(|at| names[*at].uses.sort_unstable());
    names.append(&mut program.macros);
    names
}

fn name(program: &mut Program, id: SymbolId, entry: &Entry, uses: Vec<Span>) -> Name {
    let value = match entry.definition {
        Definition::Constant(expr) => program.expressions.value(expr, None, &mut program.symbols).ok(),
        Definition::Number(number) => Some(Value::number(number)),
        _ => program.symbols.label(id),
    };
    let value = value.map(|value| value.number);
    let kind = match entry.definition {
        Definition::None => NameKind::Undefined,
        Definition::Label(memory, _) => NameKind::Symbol(SymbolKind::Label(memory), value),
        _ => NameKind::Symbol(SymbolKind::Constant, value),
    };
    let is_written = kind != NameKind::Undefined && entry.span != Span::default();
    Name { name: entry.name.to_string(), kind, definition: is_written.then_some(entry.span), uses }
}
