//! Suggested changes to a text, and whether each may be applied without asking.
//!
//! Nothing here reads or writes files: callers pass the text in and get the new text back.

use crate::{Diagnostic, FileId, Span};

/// Whether a fix may be applied without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// Nothing else can have been meant.
    Safe,
    /// A person decides: the author may have meant something else, or there are several ways out.
    Guess,
}

/// A change that resolves a finding: `text` replaces what is at `span`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace; an empty span inserts.
    pub span: Span,
    /// The replacement.
    pub text: String,
    /// Whether it may be applied without asking.
    pub safety: Safety,
}

/// A text with safe fixes applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The new text.
    pub text: String,
    /// How many fixes were applied. Of two that overlap, only the first is applied; the finding of the other comes up
    /// again in the new text.
    pub count: usize,
}

/// Applies the safe fixes for one file to its text.
pub fn apply_safe(text: &str, file: FileId, diagnostics: &[Diagnostic]) -> Fixed {
    let fixes = diagnostics.iter().flat_map(|diagnostic| &diagnostic.fixes);
    let mut fixes: Vec<&Fix> =
        fixes.filter(|fix| fix.safety == Safety::Safe && fix.span.file == file && fits(fix, text)).collect();
    fixes.sort_by_key(|fix| (fix.span.start, fix.span.end));
    fixes.dedup();
    let mut fixed = Fixed { text: String::new(), count: 0 };
    let mut done = 0;
    for fix in fixes {
        let range = fix.span.range();
        // Two insertions at the same place would end up in an order that nobody chose.
        if range.start < done || (range.start == done && fixed.count > 0 && range.is_empty()) {
            continue;
        }
        fixed.text.push_str(&text[done..range.start]);
        fixed.text.push_str(&fix.text);
        fixed.count += 1;
        done = range.end;
    }
    fixed.text.push_str(&text[done..]);
    fixed
}

fn fits(fix: &Fix, text: &str) -> bool {
    text.get(fix.span.range()).is_some_and(|replaced| replaced != fix.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn diagnostic(start: usize, end: usize, text: &str) -> Diagnostic {
        let span = Span::new(FileId(0), start, end);
        Diagnostic::new(Code { name: "E000", title: "" }, span, "").safe_fix(span, text)
    }

    #[test]
    fn fixes_are_applied_from_the_front_and_never_twice_to_one_place() {
        let found = [diagnostic(4, 7, "TWO"), diagnostic(0, 3, "1"), diagnostic(5, 6, "x"), diagnostic(7, 7, ";")];
        assert_eq!(apply_safe("one two three", FileId(0), &found), Fixed { text: "1 TWO three".into(), count: 2 });
    }

    #[test]
    fn guesses_other_files_and_places_outside_change_nothing() {
        let span = Span::new(FileId(0), 0, 1);
        let guess = Diagnostic::new(Code { name: "E000", title: "" }, span, "").fix(span, "x");
        let outside = diagnostic(2, 99, "x");
        let inside_a_character = diagnostic(1, 2, "x");
        let found = [guess, outside, inside_a_character];
        assert_eq!(apply_safe("é", FileId(0), &found), Fixed { text: "é".into(), count: 0 });
        assert_eq!(apply_safe("é", FileId(1), &[diagnostic(0, 2, "e")]).count, 0);
    }
}
