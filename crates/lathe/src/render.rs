//! Diagnostics and failures, for people and as JSON.
//!
//! Texts for people are always coloured here; `output` takes the colours out where they
//! would not be seen. So there is one way to draw, not two.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use lathe_base::{Diagnostic, FileId, Label, Severity, Source, Span};
use serde::Serialize;

use crate::exit::Failure;

/// One diagnostic with its excerpt, ending with an empty line.
pub(crate) fn diagnostic(sources: &[Source], diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code.name);
    let excerpts = files_of(diagnostic).into_iter().filter_map(|file| excerpt(sources, file, diagnostic));
    let help = diagnostic.help.iter().map(|help| Level::HELP.message(help));
    let group = title.elements(excerpts).elements(help);
    Renderer::styled().render(&[group]) + "\n\n"
}

/// The files that a diagnostic speaks of, that of its main place first.
fn files_of(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files = vec![diagnostic.primary.span.file];
    for label in &diagnostic.others {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

/// The lines of one file that a diagnostic speaks of.
fn excerpt<'d>(
    sources: &'d [Source],
    file: FileId,
    diagnostic: &'d Diagnostic,
) -> Option<Snippet<'d, annotate_snippets::Annotation<'d>>> {
    let source = sources.get(file.0 as usize)?;
    let mark = |kind: AnnotationKind, label: &'d Label| {
        let annotation = kind.span(range(source, label.span));
        if label.text.is_empty() { annotation } else { annotation.label(&label.text) }
    };
    let primary = std::iter::once(&diagnostic.primary).map(|label| (AnnotationKind::Primary, label));
    let others = diagnostic.others.iter().map(|label| (AnnotationKind::Context, label));
    let here = primary.chain(others).filter(|(_, label)| label.span.file == file);
    let snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
    Some(snippet.annotations(here.map(|(kind, label)| mark(kind, label))))
}

/// A place as a range that the text has, whatever the diagnostic says: drawing must not panic.
fn range(source: &Source, span: Span) -> Range<usize> {
    let boundary = |offset: u32| source.text.floor_char_boundary((offset as usize).min(source.text.len()));
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}

/// A failure, as `error:` and `help:` lines.
pub(crate) fn failure(failure: &Failure) -> String {
    let help = failure.help.as_ref().map(|help| format!("{} {help}\n", mark("help:", AnsiColor::BrightCyan)));
    format!("{} {}\n{}", mark("error:", AnsiColor::BrightRed), failure.message, help.unwrap_or_default())
}

/// A word in bold and in a colour.
pub(crate) fn mark(word: &str, color: AnsiColor) -> String {
    paint(word, Style::new().bold().fg_color(Some(color.into())))
}

/// A word that steps back behind the others.
pub(crate) fn dim(word: &str) -> String {
    paint(word, Style::new().dimmed())
}

/// A word that stands out.
pub(crate) fn bold(word: &str) -> String {
    paint(word, Style::new().bold())
}

fn paint(word: &str, style: Style) -> String {
    format!("{style}{word}{style:#}")
}

/// `1 error`, `2 errors`.
pub(crate) fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A number in hexadecimal, with as many digits as its width has.
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
}

#[derive(Debug, Serialize)]
struct LabelData {
    file: String,
    start: PositionData,
    end: PositionData,
    text: String,
}

/// Bytes from the beginning, and the line and column, both from 1.
#[derive(Debug, Serialize)]
struct PositionData {
    offset: u32,
    line: usize,
    column: usize,
}

/// A diagnostic as data.
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
    }
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

    /// Places past the end and inside of a character are moved to where the text can be cut.
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
}
