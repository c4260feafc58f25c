//! Converts between our values and those of the protocol.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lathe_base::{Diagnostic, Severity, Span};
use lathe_edit::{Class, Piece};
use lsp_types::{
    DiagnosticSeverity, NumberOrString, Position, Range, SemanticToken, SemanticTokenType, SemanticTokensEdit,
    TextEdit, Uri,
};

use crate::document::{Document, Place};

/// The classes of colours, in order of their numbers.
pub(crate) const CLASSES: [(Class, SemanticTokenType); 12] = [
    (Class::Comment, SemanticTokenType::COMMENT),
    (Class::Keyword, SemanticTokenType::KEYWORD),
    (Class::Type, SemanticTokenType::TYPE),
    (Class::Number, SemanticTokenType::NUMBER),
    (Class::Text, SemanticTokenType::STRING),
    (Class::Register, SemanticTokenType::VARIABLE),
    (Class::Operand, SemanticTokenType::PARAMETER),
    (Class::Function, SemanticTokenType::FUNCTION),
    (Class::Mnemonic, SemanticTokenType::MACRO),
    (Class::Directive, SemanticTokenType::DECORATOR),
    (Class::Label, SemanticTokenType::CLASS),
    (Class::Name, SemanticTokenType::PROPERTY),
];

/// Returns the path of a file's address; `None` if it is not a file.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let rest = rest.find('/').map(|at| &rest[at..])?;
    let mut bytes = Vec::new();
    let mut characters = rest.bytes();
    while let Some(byte) = characters.next() {
        match byte {
            b'%' => {
                let digits = [characters.next()?, characters.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            _ => bytes.push(byte),
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    // On Windows the path begins after the slash: /c:/folder.
    let drive = text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { &text[1..] } else { &text }))
}

/// Returns the address of a file.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', "/");
    let mut address = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => address.push(byte.into()),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&address).ok()
}

pub(crate) fn place(position: Position) -> Place {
    Place { line: position.line, character: position.character }
}

pub(crate) fn position(document: &Document, offset: usize) -> Position {
    let place = document.place(offset);
    Position { line: place.line, character: place.character }
}

pub(crate) fn range(document: &Document, start: usize, end: usize) -> Range {
    Range { start: position(document, start), end: position(document, end.max(start)) }
}

pub(crate) fn span(document: &Document, span: Span) -> Range {
    range(document, span.start as usize, span.end as usize)
}

pub(crate) fn diagnostic(document: &Document, found: &Diagnostic) -> lsp_types::Diagnostic {
    let help: String = found.help.iter().map(|help| format!("\nhelp: {help}")).collect();
    lsp_types::Diagnostic {
        range: span(document, found.primary.span),
        severity: Some(match found.severity() {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(found.code.name.to_owned())),
        source: Some("lathe".to_owned()),
        message: format!("{}{help}", found.message),
        ..lsp_types::Diagnostic::default()
    }
}

/// Replaces a text by another with one edit of the part that differs, so that the editor keeps the cursor.
pub(crate) fn replace_all(document: &Document, new: &str) -> Vec<TextEdit> {
    let old = &document.text;
    if old == new {
        return Vec::new();
    }
    let boundary = |at: usize| old.is_char_boundary(at) && new.is_char_boundary(at);
    let mut start = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    while !boundary(start) {
        start -= 1;
    }
    let rest = |text: &str| text.len() - start;
    let common = old.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    let mut end = common.min(rest(old)).min(rest(new));
    while !old.is_char_boundary(old.len() - end) {
        end -= 1;
    }
    let new_text = new[start..new.len() - end].to_owned();
    vec![TextEdit { range: range(document, start, old.len() - end), new_text }]
}

/// Packs colours as the protocol does: as distances from the previous one. Pieces over several lines are cut.
pub(crate) fn tokens(document: &Document, pieces: &[Piece]) -> Vec<SemanticToken> {
    let mut last = Place { line: 0, character: 0 };
    let mut tokens = Vec::new();
    for piece in pieces {
        let mut start = piece.start;
        for part in document.text[piece.start..piece.end].split('\n') {
            let length = part.trim_end_matches('\r').encode_utf16().count() as u32;
            let here = document.place(start);
            start += part.len() + 1;
            if length == 0 || here < last {
                continue;
            }
            let delta_line = here.line - last.line;
            let delta_start = if delta_line == 0 { here.character - last.character } else { here.character };
            let token_type = CLASSES.iter().position(|(class, _)| *class == piece.class).unwrap_or(0) as u32;
            tokens.push(SemanticToken { delta_line, delta_start, length, token_type, token_modifiers_bitset: 0 });
            last = here;
        }
    }
    tokens
}

/// Returns the changes from some colours to others, as one edit of the part that differs.
pub(crate) fn changed_tokens(old: &[SemanticToken], new: &[SemanticToken]) -> Vec<SemanticTokensEdit> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..], &new[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (removed, added) = (old.len() - end, &new[..new.len() - end]);
    if removed == 0 && added.is_empty() {
        return Vec::new();
    }
    // The protocol counts numbers, five for each colour.
    let edit =
        SemanticTokensEdit { start: 5 * start as u32, delete_count: 5 * removed as u32, data: Some(added.to_vec()) };
    vec![edit]
}
