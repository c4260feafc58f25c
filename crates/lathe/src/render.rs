//! Diagnostics and failures, for people and as JSON.
//!
//! Texts for people are always coloured here; `output` removes the colours where they would not be seen. So there is
//! one way to draw, not two.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use lathe_base::{Diagnostic, FileId, Fix, Label, Safety, Severity, Source, Span};
use serde::Serialize;

use crate::exit::Failure;

/// Renders one diagnostic with its excerpt and an empty line at the end.
pub(crate) fn diagnostic(sources: &[Source], diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(shortened(&diagnostic.message)).id(diagnostic.code.name);
    let excerpts = files_of(diagnostic).into_iter().filter_map(|file| excerpt(sources, file, diagnostic));
    let help = diagnostic.help.iter().map(|help| Level::HELP.message(help));
    let group = title.elements(excerpts).elements(help);
    Renderer::styled().render(&[group]) + "\n\n"
}

/// Returns the files that a diagnostic refers to, that of its main place first.
fn files_of(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files = vec![diagnostic.primary.span.file];
    for label in &diagnostic.others {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

/// The most characters of a message to show: a name in it may be as long as a source.
const MESSAGE: usize = 1_000;

fn shortened(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(MESSAGE) {
        Some((end, _)) => format!("{}…", &message[..end]).into(),
        None => message.into(),
    }
}

/// Returns the excerpt of one file that a diagnostic refers to. Only these lines go to the renderer, which takes time
/// for every line it is given.
fn excerpt<'d>(
    sources: &'d [Source],
    file: FileId,
    diagnostic: &'d Diagnostic,
) -> Option<Snippet<'d, annotate_snippets::Annotation<'d>>> {
    let source = sources.get(file.0 as usize)?;
    let primary = std::iter::once(&diagnostic.primary).map(|label| (AnnotationKind::Primary, label));
    let others = diagnostic.others.iter().map(|label| (AnnotationKind::Context, label));
    let here = primary.chain(others).filter(|(_, label)| label.span.file == file);
    let marks: Vec<_> = here.map(|(kind, label)| (kind, label, range(source, label.span))).collect();
    let lines = whole_lines(&source.text, marks.iter().map(|(_, _, range)| range));
    let annotations = marks.into_iter().map(|(kind, label, range)| {
        let annotation = kind.span(range.start - lines.start..range.end - lines.start);
        if label.text.is_empty() { annotation } else { annotation.label(&label.text) }
    });
    let first = 1 + source.text.as_bytes()[..lines.start].iter().filter(|byte| **byte == b'\n').count();
    let snippet = Snippet::source(&source.text[lines.clone()]).line_start(first).path(source.name.as_str());
    Some(snippet.annotations(annotations.collect::<Vec<_>>()))
}

/// Returns the whole lines from the first place to the last.
fn whole_lines<'r>(text: &str, places: impl Iterator<Item = &'r Range<usize>> + Clone) -> Range<usize> {
    let start = places.clone().map(|place| place.start).min().unwrap_or(0);
    let end = places.map(|place| place.end).max().unwrap_or(0);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |length| end + length + 1);
    line_start..line_end
}

/// Clamps a place to a range that the text has, whatever the diagnostic says: drawing must not panic.
fn range(source: &Source, span: Span) -> Range<usize> {
    let boundary = |offset: u32| source.text.floor_char_boundary((offset as usize).min(source.text.len()));
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

/// Renders a failure as `error:` and `help:` lines.
pub(crate) fn failure(failure: &Failure) -> String {
    let help = failure.help.as_ref();
    let help = help.map(|help| format!("{} {}\n", mark("help:", AnsiColor::BrightCyan), visible(help)));
    format!("{} {}\n{}", mark("error:", AnsiColor::BrightRed), visible(&failure.message), help.unwrap_or_default())
}

/// Makes a text harmless to a terminal: control characters become escapes, except for line ends and tabs.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(hidden) {
        return text.into();
    }
    let mut shown = String::new();
    for c in text.chars() {
        if hidden(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown.into()
}

/// Renders a word in bold and in a colour.
pub(crate) fn mark(word: &str, color: AnsiColor) -> String {
    paint(word, Style::new().bold().fg_color(Some(color.into())))
}

/// Dims a word.
pub(crate) fn dim(word: &str) -> String {
    paint(word, Style::new().dimmed())
}

/// Renders a word in bold.
pub(crate) fn bold(word: &str) -> String {
    paint(word, Style::new().bold())
}

fn paint(word: &str, style: Style) -> String {
    format!("{style}{word}{style:#}")
}

/// Renders a count: `1 error`, `2 errors`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Formats a number in hexadecimal, with as many digits as its width has.
pub(crate) fn hex(value: u64, bits: u32) -> String {
    format!("0x{value:0digits$X}", digits = bits.div_ceil(4) as usize)
}

/// A diagnostic as data.
#[derive(Debug, Serialize)]
pub(crate) struct DiagnosticData {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    message: String,
    primary: LabelData,
    others: Vec<LabelData>,
    help: Vec<String>,
    fixes: Vec<FixData>,
}

/// A change that fixes a diagnostic.
#[derive(Debug, Serialize)]
struct FixData {
    /// What is replaced, and by what text.
    #[serde(flatten)]
    replaced: LabelData,
    /// Whether `--fix` applies it.
    safe: bool,
}

#[derive(Debug, Serialize)]
struct LabelData {
    file: String,
    start: PositionData,
    end: PositionData,
    text: String,
}

/// The byte offset from the beginning, and the line and column, both from 1.
#[derive(Debug, Serialize)]
struct PositionData {
    offset: u32,
    line: usize,
    column: usize,
}

/// Returns a diagnostic as data.
pub(crate) fn diagnostic_data(sources: &[Source], diagnostic: &Diagnostic) -> DiagnosticData {
    DiagnosticData {
        code: diagnostic.code.name,
        severity: match diagnostic.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        title: diagnostic.code.title,
        message: diagnostic.message.clone(),
        primary: label_data(sources, &diagnostic.primary),
        others: diagnostic.others.iter().map(|label| label_data(sources, label)).collect(),
        help: diagnostic.help.clone(),
        fixes: diagnostic.fixes.iter().map(|fix| fix_data(sources, fix)).collect(),
    }
}

fn fix_data(sources: &[Source], fix: &Fix) -> FixData {
    let label = Label { span: fix.span, text: fix.text.clone() };
    FixData { replaced: label_data(sources, &label), safe: fix.safety == Safety::Safe }
}

fn label_data(sources: &[Source], label: &Label) -> LabelData {
    let source = sources.get(label.span.file.0 as usize);
    let position = |offset| {
        let (line, column) = source.map_or((1, 1), |source| source.line_column(offset));
        PositionData { offset, line, column }
    };
    LabelData {
        file: source.map_or_else(String::new, |source| source.name.clone()),
        start: position(label.span.start),
        end: position(label.span.end),
        text: label.text.clone(),
    }
}

#[cfg(test)]
mod tests {
    use lathe_isa::codes::UNEXPECTED;

    use super::*;

    /// Places past the end or inside a character are moved to character boundaries.
    #[test]
    fn no_place_makes_drawing_panic() {
        let sources = [Source::new("t.isa", "é")];
        for (start, end) in [(1, 1), (0, 1), (1, 99), (99, 3), (0, 0)] {
            let span = Span::new(FileId(0), start, end);
            let other = Span::new(FileId(7), start, end);
            let drawn = diagnostic(&sources, &Diagnostic::new(UNEXPECTED, span, "what").also(other, "elsewhere"));
            assert!(drawn.contains("what"), "{drawn}");
        }
    }

    #[test]
    fn a_place_in_the_middle_keeps_its_line_and_column() {
        let sources = [Source::new("t.isa", "one\ntwo\nthree four\nfive\nsix\n")];
        let at = |start, end| Span::new(FileId(0), start, end);
        let drawn = diagnostic(&sources, &Diagnostic::new(UNEXPECTED, at(14, 18), "what").also(at(24, 27), "here"));
        let plain = anstream::adapter::strip_str(&drawn).to_string();
        assert!(
            plain.contains("t.isa:3:7") && plain.contains("3 | three four") && plain.contains("5 | six"),
            "{plain}"
        );
        assert!(!plain.contains("two"), "{plain}");
    }

    #[test]
    fn a_message_has_an_end() {
        let sources = [Source::new("t.isa", "x")];
        let long = Diagnostic::new(UNEXPECTED, Span::new(FileId(0), 0, 1), "é".repeat(5_000));
        assert!(diagnostic(&sources, &long).len() < 3_000);
    }
}
