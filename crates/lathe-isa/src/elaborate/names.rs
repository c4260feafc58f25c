//! The names of a definition, and the search for them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits, nearest};

use crate::codes;
use crate::language::ast::Name;
use crate::language::parser::is_type;
use crate::model::{DeviceId, FieldId, MemoryId, RegisterId};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Memory(MemoryId),
    Pc,
    Register(RegisterId),
    View(usize),
    Field(FieldId),
    Family(usize),
    Device(DeviceId),
    Trap(u64),
    /// A value of an enumeration.
    Constant(u64, Width),
    Function(usize),
}

impl Named {
    /// For messages: "a memory".
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Named::Memory(_) => "a memory",
            Named::Pc => "the program counter",
            Named::Register(_) => "a register",
            Named::View(_) => "a view",
            Named::Field(_) => "a field",
            Named::Family(_) => "a family",
            Named::Device(_) => "a device",
            Named::Trap(_) => "a trap",
            Named::Constant(..) => "a value of an enumeration",
            Named::Function(_) => "a function",
        }
    }
}

/// Words that have a meaning of their own wherever they stand in a meaning.
pub(crate) const RESERVED: [&str; 16] = [
    "next", "let", "if", "else", "for", "in", "skip", "halt", "fault", "cycles", "signed", "unsigned", "zext", "sext",
    "rotl", "rotr",
];

/// All names, in one space.
#[derive(Debug, Default)]
pub(crate) struct Names {
    table: BTreeMap<String, (Named, Span)>,
    used: RefCell<BTreeSet<String>>,
    /// Names that are missing, or declared in a way that could not be understood. That has been
    /// reported once and is not reported wherever they are used.
    broken: RefCell<BTreeSet<String>>,
}

impl Names {
    /// No names yet, and these words not to be reported as missing.
    pub(crate) fn without(broken: &BTreeSet<String>) -> Names {
        Names { broken: RefCell::new(broken.clone()), ..Names::default() }
    }

    /// Notes that a name cannot be used and that the reason has been reported.
    pub(crate) fn mark_broken(&self, name: &str) {
        self.broken.borrow_mut().insert(name.to_owned());
    }

    /// Whether a missing name has been reported already.
    pub(crate) fn is_broken(&self, name: &str) -> bool {
        let broken = self.broken.borrow();
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        broken.contains(name) || (stem != name && broken.contains(&format!("{stem}..")))
    }

    /// Whether there is room for another name.
    pub(crate) fn is_full(&self) -> bool {
        self.table.len() >= limits::NAMES
    }

    /// Reports a name that is not what was looked for, unless that has been done. The next step
    /// is a similar name that `fits`, or else `declare`.
    pub(crate) fn report_wrong(
        &self,
        name: &Name,
        wanted: &str,
        fits: impl Fn(Named) -> bool,
        declare: String,
        diagnostics: &mut Diagnostics,
    ) {
        let (code, message) = match self.peek(&name.text) {
            Some(named) => (codes::WRONG_KIND, format!("`{}` is {}, not a {wanted}", name.text, named.kind())),
            None if self.is_broken(&name.text) => return,
            None => (codes::UNKNOWN_NAME, format!("there is no {wanted} named `{}`", name.text)),
        };
        self.mark_broken(&name.text);
        let near = if diagnostics.is_full() { None } else { self.suggestion(&name.text, fits) };
        diagnostics.push(Diagnostic::new(code, name.span, message).help(near.unwrap_or(declare)));
    }

    /// Declares a name; says so if it is taken.
    pub(crate) fn declare(&mut self, name: &Name, named: Named, diagnostics: &mut Diagnostics) -> bool {
        if is_type(&name.text) || RESERVED.contains(&name.text.as_str()) {
            self.mark_broken(&name.text);
            let message = format!("`{}` is a word of the language", name.text);
            diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, name.span, message).help("choose another name"));
            return false;
        }
        if let Some((_, first)) = self.table.get(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::new(codes::DECLARED_TWICE, name.span, message)
                .also(*first, "first declared here")
                .help("rename one of them; registers, fields, functions and so on share one space of names");
            diagnostics.push(diagnostic);
            return false;
        }
        if self.is_full() {
            self.mark_broken(&name.text);
            let message = format!("more than {} names are declared", limits::NAMES);
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, name.span, message).help("split the machine"));
            return false;
        }
        self.table.insert(name.text.clone(), (named, name.span));
        true
    }

    /// What the name stands for; it counts as used from now on.
    pub(crate) fn find(&self, name: &str) -> Option<Named> {
        let found = self.table.get(name).map(|(named, _)| *named);
        if found.is_some() {
            self.used.borrow_mut().insert(name.to_owned());
        }
        found
    }

    /// What the name stands for, without counting it as used.
    pub(crate) fn peek(&self, name: &str) -> Option<Named> {
        self.table.get(name).map(|(named, _)| *named)
    }

    /// Everything declared and never looked for.
    pub(crate) fn unused(&self) -> impl Iterator<Item = (&str, Named, Span)> {
        let used = self.used.borrow().clone();
        self.table
            .iter()
            .filter(move |(name, _)| !used.contains(*name))
            .map(|(name, (named, span))| (name.as_str(), *named, *span))
    }

    /// "Did you mean", among names that `fits` accepts.
    pub(crate) fn suggestion(&self, name: &str, fits: impl Fn(Named) -> bool) -> Option<String> {
        let candidates = self.table.iter().filter(|(_, (named, _))| fits(*named)).map(|(name, _)| name.as_str());
        nearest(name, candidates).map(|meant| format!("did you mean `{meant}`?"))
    }
}
