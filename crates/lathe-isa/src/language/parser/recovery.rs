//! Recovery from mistakes: where the next declaration or row begins, and looking ahead.
//!
//! Braces alone cannot show that, because a missing brace is a common mistake. Indentation does: what belongs to a row
//! or declaration is indented deeper than its first line, or closes one of its braces.

use lathe_base::Span;

use super::Parser;
use super::items::begins_item;
use crate::language::lexer::Token;

/// A position to return to.
pub(super) struct Saved {
    at: usize,
    documentation: usize,
    token: Token,
    span: Span,
    last_end: usize,
}

impl Parser<'_, '_> {
    pub(super) fn save(&self) -> Saved {
        Saved {
            at: self.cursor.at(),
            documentation: self.cursor.documentation.len(),
            token: self.token.clone(),
            span: self.span,
            last_end: self.last_end,
        }
    }

    pub(super) fn restore(&mut self, saved: Saved) {
        self.cursor.move_to(saved.at);
        self.cursor.documentation.truncate(saved.documentation);
        (self.token, self.span, self.last_end) = (saved.token, saved.span, saved.last_end);
    }

    /// Skips the rest of what began at `start`: the rest of the line being read, lines indented deeper than the first,
    /// and braces that close its own.
    pub(super) fn recover(&mut self, start: usize) {
        self.enclosed = 0;
        let text = self.cursor.text();
        let deeper = indentation(text, start);
        let mut end = line_end(text, self.last_end.max(start));
        let mut depth = 0usize;
        if let Some(at) = unmatched_brace(&text[start..end], &mut depth) {
            return self.move_to(start + at);
        }
        while end < text.len() {
            let (line_start, line_stop) = (end + 1, line_end(text, end + 1));
            let line = &text[line_start..line_stop];
            let written = line.trim_start();
            let closes = depth > 0 && written.starts_with('}') && indentation(text, line_start) >= deeper;
            if !(written.is_empty() || closes || indentation(text, line_start) > deeper) {
                break;
            }
            unmatched_brace(line, &mut depth);
            end = line_stop;
        }
        self.move_to(end);
    }

    /// Notes the words of a declaration that could not be read and has been skipped.
    pub(super) fn note_broken(&mut self, start: usize) {
        let text = self.cursor.text();
        let passed = text.get(start..self.span.start as usize).unwrap_or("");
        let has_body =
            ["fn", "family", "map", "on", "before", "after", "prefix"].iter().any(|word| passed.starts_with(word));
        let passed = if has_body { passed.split('{').next().unwrap_or("") } else { passed };
        let is_range = passed.contains("..");
        for word in passed.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
            self.broken.insert(word.to_owned());
            if is_range {
                self.broken.insert(format!("{}..", word.trim_end_matches(|c: char| c.is_ascii_digit())));
            }
        }
    }

    /// Whether a declaration begins here, no deeper than the one that began at `head`.
    pub(super) fn at_item_outside(&self, head: usize) -> bool {
        let Token::Name(word) = &self.token else { return false };
        let (text, here) = (self.cursor.text(), self.span.start as usize);
        if !begins_item(word) || !self.is_first_on_line() || indentation(text, here) > indentation(text, head) {
            return false;
        }
        let rest = text[here..line_end(text, here)].trim_start_matches(word.as_str()).trim_start();
        rest.starts_with(|c: char| c.is_alphabetic() || c == '{') && !rest.contains('|')
    }

    /// Whether the next row or declaration begins here, no deeper than the one being read.
    pub(super) fn at_next_row(&self) -> bool {
        let (text, here) = (self.cursor.text(), self.span.start as usize);
        if here <= self.began || !self.is_first_on_line() || indentation(text, here) > indentation(text, self.began) {
            return false;
        }
        let is_row = text[here..line_end(text, here)].matches('|').count() >= 2;
        is_row || self.at_item_outside(self.began)
    }

    /// Whether a line ended between the last token and this one.
    fn is_first_on_line(&self) -> bool {
        let between = self.cursor.text().get(self.last_end..self.span.start as usize);
        self.last_end == 0 || between.is_some_and(|between| between.contains('\n'))
    }
}

/// Returns how many blanks the line at this position begins with.
fn indentation(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns where the line at this position ends.
fn line_end(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

/// Counts braces, and returns the position of one that closes nothing opened here.
pub(super) fn unmatched_brace(text: &str, depth: &mut usize) -> Option<usize> {
    for (at, c) in text.char_indices() {
        match c {
            '{' => *depth += 1,
            '}' if *depth == 0 => return Some(at),
            '}' => *depth -= 1,
            '#' if text[at + 1..].starts_with([' ', '#']) => return None,
            _ => {}
        }
    }
    None
}
