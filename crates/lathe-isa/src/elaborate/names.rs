//! The names of a definition, and their lookup.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits, nearest};

use crate::codes;
use crate::language::ast::Name;
use crate::language::parser::is_type;
use crate::names::{Entry, Named, Resolved};
use crate::values::Asked;

/// Words reserved everywhere in meanings.
pub(crate) const RESERVED: [&str; 16] = [
    "next", "let", "if", "else", "for", "in", "skip", "halt", "fault", "cycles", "signed", "unsigned", "zext", "sext",
    "rotl", "rotr",
];

/// Stands for every name: a part of the definition could not be read at all.
pub(crate) const EVERYTHING: &str = "*";

/// All names, in one space.
#[derive(Debug, Default)]
pub(crate) struct Names<'a> {
    table: Cow<'a, Resolved>,
    /// Where each name is used, possibly with repeated places; a name may count as used without any.
    uses: RefCell<BTreeMap<String, Vec<Span>>>,
    /// Names that are missing, or whose declaration could not be understood. They have been reported once and are not
    /// reported again at every use.
    broken: RefCell<BTreeSet<String>>,
    /// The names found since a certain moment, if they are being noted.
    log: RefCell<Option<BTreeSet<(Span, String)>>>,
    /// A question about expressions, if one has been asked.
    asked: Option<Rc<Asked>>,
}

impl<'a> Names<'a> {
    /// Makes an empty table; the words in `broken` are not to be reported as missing.
    pub(crate) fn without(broken: &BTreeSet<String>, asked: Option<Rc<Asked>>) -> Names<'a> {
        Names { broken: RefCell::new(broken.clone()), asked, ..Names::default() }
    }

    /// Notes the width and value of an expression, in case somebody has asked.
    pub(crate) fn note(&self, span: Span, width: Option<Width>, value: Option<u128>) {
        if let Some(asked) = &self.asked {
            asked.note(span, width, value);
        }
    }

    /// Makes the table of a definition that has been read already.
    pub(crate) fn known(resolved: &'a Resolved) -> Names<'a> {
        Names { table: Cow::Borrowed(resolved), ..Names::default() }
    }

    /// Returns all names. A place counts as a use only if the name is written there, alone or in a range: after a
    /// prefix, one register is meant where another is written.
    pub(crate) fn into_resolved(self, texts: &[&str]) -> Resolved {
        let mut resolved = self.table.into_owned();
        for (name, mut uses) in self.uses.into_inner() {
            uses.sort_unstable();
            uses.dedup();
            let is_written = |span: &Span| {
                let written = texts.get(span.file.0 as usize).and_then(|text| text.get(span.range())).unwrap_or("");
                written.starts_with(&name) || written.contains("..")
            };
            uses.retain(is_written);
            resolved.set_uses(&name, uses);
        }
        resolved
    }

    /// Notes that a name cannot be used and that the reason has been reported.
    pub(crate) fn mark_broken(&self, name: &str) {
        self.broken.borrow_mut().insert(name.to_owned());
    }

    /// Whether a missing name has been reported already.
    pub(crate) fn is_broken(&self, name: &str) -> bool {
        let broken = self.broken.borrow();
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let all = broken.contains(EVERYTHING);
        all || broken.contains(name) || (stem != name && broken.contains(&format!("{stem}..")))
    }

    /// Whether there is room for another name.
    pub(crate) fn is_full(&self) -> bool {
        self.table.len() >= limits::NAMES
    }

    /// Reports a name that is not what was looked for, unless that has been done. The next step suggested is a similar
    /// name that `fits`, or else `declare`.
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
        let diagnostic = Diagnostic::new(code, name.span, message);
        diagnostics.push(match near {
            Some(meant) => diagnostic.did_you_mean(name.span, meant),
            None => diagnostic.help(declare),
        });
    }

    /// Declares a name, or reports that it is taken.
    pub(crate) fn declare(&mut self, name: &Name, named: Named, diagnostics: &mut Diagnostics) -> bool {
        if is_type(&name.text) || RESERVED.contains(&name.text.as_str()) {
            self.mark_broken(&name.text);
            let message = format!("`{}` is a word of the language", name.text);
            diagnostics.push(Diagnostic::new(codes::DECLARED_TWICE, name.span, message).help("choose another name"));
            return false;
        }
        if let Some(Entry { span: first, .. }) = self.table.get(&name.text) {
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
            diagnostics.push(Diagnostic::new(codes::TOO_MANY, name.span, message).help("use fewer names"));
            return false;
        }
        self.table.to_mut().insert(&name.text, Entry { named, span: name.span, uses: Vec::new() });
        true
    }

    /// Declares a name for a number that a field can hold, and marks it as used. Several fields may have the same name
    /// for the same number.
    pub(crate) fn declare_value(&mut self, name: &Name, value: u64, width: Width, diagnostics: &mut Diagnostics) {
        let is_known = matches!(self.peek(&name.text), Some(Named::Constant(known, _)) if known == value);
        if !is_known {
            self.declare(name, Named::Constant(value, width), diagnostics);
        }
        self.mark_used(&name.text);
    }

    /// Returns what the name stands for, and notes the use.
    pub(crate) fn find(&self, name: &str, span: Span) -> Option<Named> {
        let found = self.peek(name)?;
        if let Some(log) = self.log.borrow_mut().as_mut() {
            log.insert((span, name.to_owned()));
        }
        let mut uses = self.uses.borrow_mut();
        match uses.get_mut(name) {
            Some(places) => places.push(span),
            None => drop(uses.insert(name.to_owned(), vec![span])),
        }
        Some(found)
    }

    /// Begins to note the names found.
    pub(crate) fn begin_log(&self) {
        *self.log.borrow_mut() = Some(BTreeSet::new());
    }

    /// Returns the names found since then.
    pub(crate) fn end_log(&self) -> Vec<(Span, String)> {
        self.log.borrow_mut().take().unwrap_or_default().into_iter().collect()
    }

    /// Marks a name as used: whether it really is does not matter.
    pub(crate) fn mark_used(&self, name: &str) {
        self.uses.borrow_mut().entry(name.to_owned()).or_default();
    }

    /// Returns what the name stands for, without counting it as used.
    pub(crate) fn peek(&self, name: &str) -> Option<Named> {
        self.table.get(name).map(|entry| entry.named)
    }

    /// Returns everything declared and never looked up.
    pub(crate) fn unused(&self) -> impl Iterator<Item = (&str, Named, Span)> {
        let used: BTreeSet<String> = self.uses.borrow().keys().cloned().collect();
        self.table
            .iter()
            .filter(move |(name, _)| !used.contains(*name))
            .map(|(name, entry)| (name, entry.named, entry.span))
    }

    /// Returns the name nearest to a misspelt one, among those that `fits` accepts.
    pub(crate) fn suggestion(&self, name: &str, fits: impl Fn(Named) -> bool) -> Option<&str> {
        let candidates = self.table.iter().filter(|(_, entry)| fits(entry.named)).map(|(name, _)| name);
        nearest(name, candidates)
    }
}
