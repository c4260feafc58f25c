//! Diagnostics as values: a stable code, a place, a cause and a next step.
//!
//! Nothing here prints. The binary renders a diagnostic for people or as JSON; tests compare the value itself.

use crate::fix::{Fix, Safety};
use crate::{Span, limits};

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but something in it is probably not meant.
    Warning,
}

/// The stable name of one kind of diagnostic, such as `E401`, with its severity.
///
/// Codes are constants in the crate that reports them; a test there checks that each
/// has a fixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    /// `E` or `W` and three digits.
    pub name: &'static str,
    /// The subject, in a few words.
    pub title: &'static str,
}

impl Code {
    /// Returns the severity: codes that begin with `W` are warnings.
    pub fn severity(self) -> Severity {
        if self.name.starts_with('W') { Severity::Warning } else { Severity::Error }
    }
}

/// A place with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is at the place; may be empty for the main place.
    pub text: String,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of finding.
    pub code: Code,
    /// The cause, in one sentence without a full stop.
    pub message: String,
    /// The main place.
    pub primary: Label,
    /// Other places involved.
    pub others: Vec<Label>,
    /// The next step: what the reader can do about it.
    pub help: Vec<String>,
    /// The next step as changes to the text, where possible; any one of them is enough.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// Makes a finding at a place.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let primary = Label { span, text: String::new() };
        let message = message.into();
        Diagnostic { code, message, primary, others: Vec::new(), help: Vec::new(), fixes: Vec::new() }
    }

    /// Sets the words at the main place.
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.others.push(Label { span, text: text.into() });
        self
    }

    /// Adds a next step.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a next step, if there is one.
    pub fn help_if(self, text: Option<impl Into<String>>) -> Self {
        match text {
            Some(text) => self.help(text),
            None => self,
        }
    }

    /// Adds a change to the text that the author may have meant.
    pub fn fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fixes.push(Fix { span, text: text.into(), safety: Safety::Guess });
        self
    }

    /// Adds a change to the text that is right whatever the author meant.
    pub fn safe_fix(mut self, span: Span, text: impl Into<String>) -> Self {
        self.fixes.push(Fix { span, text: text.into(), safety: Safety::Safe });
        self
    }

    /// Suggests a known name for what is at `span`, in words and as a change to the text.
    pub fn did_you_mean(self, span: Span, meant: &str) -> Self {
        self.help(format!("did you mean `{meant}`?")).fix(span, meant)
    }

    /// Returns how serious the finding is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// The findings of one run, in the order found, no more than [`limits::DIAGNOSTICS`].
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    dropped: usize,
}

impl Diagnostics {
    /// Adds a finding. The same finding at the same place is kept once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.push_with(diagnostic.code, || diagnostic);
    }

    /// Adds a finding with this code; `make` runs only if there is room. Errors displace warnings.
    pub fn push_with(&mut self, code: Code, make: impl FnOnce() -> Diagnostic) {
        let is_error = code.severity() == Severity::Error;
        let has_room = self.list.len() < limits::DIAGNOSTICS;
        if self.is_full() || !(has_room || is_error) {
            self.dropped += 1;
            return;
        }
        let diagnostic = make();
        if self.list.contains(&diagnostic) {
            return;
        }
        if !has_room && let Some(warning) = self.list.iter().rposition(|one| one.severity() == Severity::Warning) {
            self.list.remove(warning);
            self.dropped += 1;
        }
        self.list.push(diagnostic);
        self.errors += usize::from(is_error);
    }

    /// Adds all findings of another run.
    pub fn extend(&mut self, others: impl IntoIterator<Item = Diagnostic>) {
        others.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// Whether any finding is an error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether no more findings are kept, so that looking for more is pointless.
    pub fn is_full(&self) -> bool {
        self.errors >= limits::DIAGNOSTICS
    }

    /// Returns how many findings were dropped because of the limit.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Returns how many findings are kept.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Drops all but the first `length`: the later ones only follow from them.
    pub fn truncate(&mut self, length: usize) {
        self.list.truncate(length);
        self.errors = self.list.iter().filter(|one| one.severity() == Severity::Error).count();
    }

    /// Returns all findings, sorted by place.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|diagnostic| diagnostic.primary.span);
        self.list
    }
}

/// Declares a table of diagnostics from one row each: a constant, its code, its title. Defines the constants, and `ALL`
/// with all of them in order.
#[macro_export]
macro_rules! codes {
    ($($constant:ident = $name:literal, $title:literal;)*) => {
        $(#[doc = $title] pub const $constant: $crate::Code = $crate::Code { name: $name, title: $title };)*
        /// All of them, in order.
        pub const ALL: &[$crate::Code] = &[$($constant),*];
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: Code = Code { name: "E001", title: "an error" };
    const WARNING: Code = Code { name: "W001", title: "a warning" };

    #[test]
    fn an_error_after_many_warnings_is_not_lost() {
        let mut diagnostics = Diagnostics::default();
        let at = |code, place| Diagnostic::new(code, Span { start: place, ..Span::default() }, "");
        (0..limits::DIAGNOSTICS as u32 + 5).for_each(|place| diagnostics.push(at(WARNING, place)));
        assert!(!diagnostics.has_errors() && !diagnostics.is_full());
        diagnostics.push(at(ERROR, 3));
        assert!(diagnostics.has_errors());
        assert_eq!((diagnostics.len(), diagnostics.dropped()), (limits::DIAGNOSTICS, 6));
        (0..limits::DIAGNOSTICS as u32).for_each(|place| diagnostics.push(at(ERROR, place)));
        assert!(diagnostics.is_full());
        diagnostics.push_with(ERROR, || panic!("it is not kept"));
        assert!(diagnostics.into_sorted().iter().all(|one| one.severity() == Severity::Error));
    }
}
