//! Widths and values of the expressions in a definition, for editors that show them. The checks of meanings find them;
//! nothing is computed here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use lathe_base::files::Files;
use lathe_base::{Diagnostics, FileId, Source, Span, Width};

use crate::{elaborate, written};

/// An expression and what is known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Valued {
    /// Its place.
    pub span: Span,
    /// Its widths: several if a function is called with several, none if no width matters.
    pub widths: BTreeSet<u32>,
    /// Its value, if that is always the same.
    pub value: Option<u128>,
}

/// Returns the expressions of a definition's own file that contain a byte, innermost first. Works on broken
/// definitions, for the parts that could be understood.
pub fn values_at(main: Source, files: &dyn Files, offset: u32) -> Vec<Valued> {
    let mut diagnostics = Diagnostics::default();
    let written = written::read(main, files, &mut diagnostics);
    let asked = Rc::new(Asked { offset, found: RefCell::default() });
    elaborate::elaborate(&written, Some(Rc::clone(&asked)), None, &mut diagnostics);
    let mut found = asked.found.take();
    found.sort_by_key(|one| one.span.end - one.span.start);
    found
}

/// A question about the expressions at a byte of the definition's own file, and what has been found so far.
#[derive(Debug)]
pub(crate) struct Asked {
    offset: u32,
    found: RefCell<Vec<Valued>>,
}

impl Asked {
    /// Notes an expression if it was asked about.
    pub(crate) fn note(&self, span: Span, width: Option<Width>, value: Option<u128>) {
        if span.file != FileId(0) || !(span.start..=span.end).contains(&self.offset) {
            return;
        }
        let mut found = self.found.borrow_mut();
        match found.iter_mut().find(|one| one.span == span) {
            // A function called twice, a row of a family, a turn of a repetition.
            Some(known) => {
                known.widths.extend(width.map(Width::bits));
                known.value = known.value.filter(|known| Some(*known) == value);
            }
            None => found.push(Valued { span, widths: width.map(Width::bits).into_iter().collect(), value }),
        }
    }
}
