//! `extends`: what a machine inherits from the one it extends. It inherits everything except examples. Whatever it
//! declares again, by the same name or with the same syntax, replaces the inherited declaration.
//!
//! This works on trees, before names are looked up, so inherited meanings see the replacements of what they name.

use std::collections::BTreeSet;

use lathe_base::{Diagnostic, Diagnostics, Span};

use super::ast::*;
use crate::codes;
use crate::elaborate::{EVERYTHING, spread};

impl Definition {
    /// Notes that a part of the definition is absent and that this has been reported: nothing counts as missing any
    /// more.
    pub(crate) fn lose(&mut self) {
        self.broken.extend(["machine", "pc", EVERYTHING].map(str::to_owned));
        self.rows_lost = true;
    }
}

/// Puts what is inherited from `base` before what `own` declares.
pub(crate) fn inherit(mut base: Definition, own: &mut Definition, diagnostics: &mut Diagnostics) {
    base.items.retain(|item| !matches!(item, Item::Examples(_)));
    for removed in own.items.iter().filter_map(removals).flatten() {
        if !base.remove(removed) && !own.rows_lost && base.broken.is_empty() {
            report_nothing_removed(removed, own, diagnostics);
        }
    }
    let replaced = own.keys();
    for item in &mut base.items {
        item.keep(&|key| !replaced.contains(key));
    }
    base.items.retain(|item| !item.is_empty());
    own.items.retain(|item| removals(item).is_none());
    own.items.splice(0..0, base.items);
    own.broken.extend(base.broken);
    own.declared.extend(base.declared);
    own.rows_lost |= base.rows_lost;
}

/// Reports what is to be removed although nothing is inherited.
pub(crate) fn check_nothing_removed(own: &Definition, diagnostics: &mut Diagnostics) {
    for removed in own.items.iter().filter_map(removals).flatten() {
        let message = "there is nothing to remove from: this machine extends no other";
        let help = "remove the declaration itself, or write `extends` in the `machine` line";
        diagnostics.push(Diagnostic::new(codes::NOTHING_REMOVED, removed.span(), message).help(help));
    }
}

fn removals(item: &Item) -> Option<&Vec<Remove>> {
    if let Item::Remove(removed) = item { Some(removed) } else { None }
}

fn report_nothing_removed(removed: &Remove, own: &Definition, diagnostics: &mut Diagnostics) {
    let base = own.machine.as_ref().and_then(|machine| machine.extends.as_ref());
    let base = base.map_or("", |import| import.name.as_str());
    let (message, help) = match removed {
        Remove::Name(name) => (format!("`{base}` declares no `{}`", name.text), "rows are removed in braces"),
        Remove::Hook(word) => {
            (format!("`{base}` has no `{}`", word.text), "there is nothing to remove; leave this out")
        }
        Remove::Row(row) => {
            (format!("`{base}` has no row `{}`", row.text), "write the syntax as it is written there, operands and all")
        }
    };
    diagnostics.push(Diagnostic::new(codes::NOTHING_REMOVED, removed.span(), message).help(help));
}

impl Remove {
    fn span(&self) -> Span {
        match self {
            Remove::Name(name) | Remove::Hook(name) => name.span,
            Remove::Row(row) => row.span,
        }
    }

    fn key(&self) -> Key {
        match self {
            Remove::Name(name) => Key::Name(name.text.clone()),
            Remove::Hook(word) => Key::Hook(word.text.clone()),
            Remove::Row(row) => Key::row(row),
        }
    }
}

/// What distinguishes one replaceable thing from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Name(String),
    /// There is one program counter, whatever its name.
    Pc,
    Hook(String),
    Prefix(String),
    /// A syntax, without its blanks.
    Row(String),
    /// A memory and an address in it, as written.
    Place(String, String),
}

impl Key {
    fn row(column: &Column) -> Key {
        Key::Row(column.text.split_whitespace().collect())
    }

    fn place(memory: &Name, address: &Expr) -> Key {
        Key::Place(memory.text.clone(), format!("{:?}", shape(address)))
    }
}

/// Returns an expression as text, without the places of its parts.
fn shape(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Number(number) => number.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Binary(operator, left, right) => format!("({} {operator:?} {})", shape(left), shape(right)),
        ExprKind::Unary(operator, inner) => format!("({operator:?} {})", shape(inner)),
        other => format!("{other:?}"),
    }
}

impl Definition {
    /// Removes something, and returns whether it was there.
    fn remove(&mut self, removed: &Remove) -> bool {
        let key = removed.key();
        let is_pc = |item: &Item| matches!((item, &key), (Item::Pc(pc), Key::Name(name)) if pc.name.text == *name);
        let key = if self.items.iter().any(is_pc) { Key::Pc } else { key };
        let before = self.keys();
        self.items.iter_mut().for_each(|item| item.keep(&|other| *other != key));
        self.items.retain(|item| !item.is_empty());
        before.contains(&key)
    }

    fn keys(&self) -> BTreeSet<Key> {
        let keys = std::cell::RefCell::new(BTreeSet::new());
        for item in &self.items {
            item.clone().keep(&|key| {
                keys.borrow_mut().insert(key.clone());
                true
            });
        }
        keys.into_inner()
    }
}

impl Item {
    /// Keeps only the wanted parts.
    fn keep(&mut self, wanted: &dyn Fn(&Key) -> bool) {
        let named = |name: &Name| wanted(&Key::Name(name.text.clone()));
        let mut whole = true;
        match self {
            Item::Memory(memory) => whole = named(&memory.name),
            Item::Pc(_) => whole = wanted(&Key::Pc),
            Item::View(view) => whole = named(&view.name),
            Item::Device(device) => whole = named(&device.name),
            Item::Function(function) => whole = named(&function.name),
            Item::Family(family) => whole = named(&family.name),
            Item::Width(width) => whole = named(&width.name),
            Item::Prefix(prefix) => whole = wanted(&Key::Prefix(prefix.name.text.clone())),
            Item::OnReset(_) => whole = wanted(&Key::Hook("on reset".to_owned())),
            Item::OnIllegal(_) => whole = wanted(&Key::Hook("on illegal".to_owned())),
            Item::OnStep(_) => whole = wanted(&Key::Hook("on step".to_owned())),
            Item::Each(moment, _) => whole = wanted(&Key::Hook(format!("{} each", moment.word()))),
            Item::Contents(contents) => whole = wanted(&Key::place(&contents.memory, &contents.address)),
            Item::Registers(registers) => keep_registers(registers, &named),
            Item::Fields(fields) => fields.names.retain(named),
            Item::Operands(operands) => operands.names.retain(named),
            Item::Traps(traps) => traps.names.retain(|(name, _)| named(name)),
            Item::Map(map) => {
                let memory = map.memory.clone();
                map.rows.retain(|row| wanted(&Key::place(&memory, &row.first)));
            }
            Item::Instructions(block) => block.rows.retain(|row| wanted(&Key::row(&row.syntax))),
            Item::Pseudos(pseudos) => pseudos.rows.retain(|pseudo| wanted(&Key::row(&pseudo.syntax))),
            Item::Assembly(_) | Item::Examples(_) | Item::Include(_) | Item::Remove(_) => {}
        }
        if !whole {
            *self = Item::Traps(Traps::default());
        }
    }

    /// Whether nothing is left of the item.
    fn is_empty(&self) -> bool {
        match self {
            Item::Registers(registers) => registers.names.is_empty(),
            Item::Fields(fields) => fields.names.is_empty(),
            Item::Operands(operands) => operands.names.is_empty(),
            Item::Traps(traps) => traps.names.is_empty(),
            _ => false,
        }
    }
}

/// Removes registers from lists and ranges. A range that loses any becomes single names.
fn keep_registers(registers: &mut Registers, wanted: &dyn Fn(&Name) -> bool) {
    let mut left = Vec::new();
    let mut next = 0;
    for declared in std::mem::take(&mut registers.names) {
        let names = spread(&declared.range, &mut Diagnostics::default());
        let first = declared.position.unwrap_or(next);
        next = first + names.len() as u64;
        if names.is_empty() || names.iter().all(wanted) {
            left.push(DeclaredRegisters { position: Some(first), ..declared });
            continue;
        }
        let kept = names.into_iter().zip(first..).filter(|(name, _)| wanted(name));
        left.extend(kept.map(|(name, position)| DeclaredRegisters {
            range: NameRange { first: name, last: None },
            reset: declared.reset.clone(),
            position: Some(position),
        }));
    }
    registers.names = left;
}
