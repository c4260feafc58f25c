//! The syntax column: a first word, then texts and operands. A word that names a field is an operand; `{NAME}` is one
//! everywhere; everything else is literal.

use std::collections::BTreeMap;

use lathe_base::{Diagnostic, Diagnostics, FileId, Span, limits};

use super::Declarations;
use super::pictures::Taker;
use crate::codes;
use crate::language::ast::{Column, Name, Number};
use crate::language::parser::Parser;
use crate::language::rename::Renames;
use crate::model::{Domain, Field, FieldId};
use crate::names::Named;
use crate::syntax::{Digits, Head, Piece, PieceKind, Syntax};

/// An operand of a syntax.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Field(FieldId),
    /// `N:u8`, only in pseudo-instructions.
    Inline(Name, Box<Number>),
}

/// A part of a syntax as written, families not yet chosen.
#[derive(Clone, Debug)]
pub(crate) enum SyntaxPart {
    Text(String),
    Operand(Operand, Option<Digits>),
    Family(usize),
    /// An operand with modes, by its position.
    Modes(usize),
    /// A first word with the name of a prefix before it.
    Word(Vec<SyntaxPart>),
}

/// A syntax as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenSyntax {
    heads: Vec<Vec<SyntaxPart>>,
    tail: Vec<(SyntaxPart, bool)>,
    pub(crate) span: Span,
}

/// Whether operands may be declared in place, as in `li D, N:u8`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inline {
    Allowed,
    Refused,
}

pub(crate) fn read(
    declarations: &Declarations,
    column: &Column,
    inline: Inline,
    diagnostics: &mut Diagnostics,
) -> Option<WrittenSyntax> {
    let mut reader = Reader { declarations, column, inline, diagnostics };
    let text = column.text.as_str();
    let head_end = text.find(char::is_whitespace).unwrap_or(text.len());
    if head_end == 0 {
        let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, column.span, "this row has no syntax");
        return reader.fail(diagnostic.help("begin it with a mnemonic, as in `nop | 0000 0000 |`"));
    }
    let heads = reader.heads(head_end)?;
    let tail = reader.tail(head_end)?;
    let written = WrittenSyntax { heads, tail, span: column.span };
    reader.check_heads(&written)?;
    reader.check_tail(&written)?;
    reader.check_operands(&written)?;
    Some(written)
}

/// Reads the syntax of a mode: texts and fields, each with whether a blank precedes it.
pub(crate) fn read_mode(
    declarations: &Declarations,
    column: &Column,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<(SyntaxPart, bool)>> {
    let mut reader = Reader { declarations, column, inline: Inline::Refused, diagnostics };
    let tail = reader.tail(0)?;
    if tail.is_empty() {
        let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, column.span, "this mode has no syntax");
        return reader.fail(diagnostic.help("say how it is written, as in `(R) | 001 RRR | ram[R]`"));
    }
    if tail.iter().any(|(part, _)| matches!(part, SyntaxPart::Family(_) | SyntaxPart::Modes(_))) {
        let message = "a mode is made of texts and fields, without families and other operands";
        let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, column.span, message);
        return reader
            .fail(diagnostic.help("to have all modes of another operand, write its name on a line by itself"));
    }
    let written = WrittenSyntax { heads: vec![Vec::new()], tail, span: column.span };
    reader.check_tail(&written)?;
    reader.check_operands(&written)?;
    Some(written.tail)
}

struct Reader<'r, 'a> {
    declarations: &'r Declarations<'a>,
    column: &'r Column,
    inline: Inline,
    diagnostics: &'r mut Diagnostics,
}

impl Reader<'_, '_> {
    fn span(&self, start: usize, end: usize) -> Span {
        let base = self.column.span.start as usize;
        Span::new(self.column.span.file, base + start, base + end)
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Option<T> {
        self.diagnostics.push(diagnostic);
        None
    }

    /// Reads the first word, or several separated by `/`.
    fn heads(&mut self, end: usize) -> Option<Vec<Vec<SyntaxPart>>> {
        let mut heads = Vec::new();
        let mut at = 0;
        for word in self.column.text[..end].split('/') {
            heads.push(self.head(at, at + word.len())?);
            at += word.len() + 1;
        }
        Some(heads)
    }

    fn head(&mut self, start: usize, end: usize) -> Option<Vec<SyntaxPart>> {
        let text = self.column.text.as_str();
        let mut parts = Vec::new();
        let mut at = start;
        while at < end {
            let rest = &text[at..end];
            let length = if rest.starts_with('{') {
                let (mut part, length) = self.braced(at)?;
                if let SyntaxPart::Operand(Operand::Field(id), digits @ None) = &mut part
                    && length == end - start
                    && let Field { name, domain: Domain::Names(_), .. } = &self.declarations.fields[id.index()]
                {
                    parts.push(SyntaxPart::Text(name.clone()));
                    *digits = Some(Digits::Name);
                }
                parts.push(part);
                length
            } else {
                let length = rest.find('{').unwrap_or(rest.len());
                parts.push(SyntaxPart::Text(rest[..length].to_owned()));
                length
            };
            at += length;
        }
        if parts.iter().any(|part| matches!(part, SyntaxPart::Modes(_))) {
            let message = "an operand with modes cannot be inside the first word";
            let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, self.span(start, end), message);
            return self.fail(diagnostic.help("put a space before it"));
        }
        let operands = parts.iter().filter(|part| matches!(part, SyntaxPart::Operand(..))).count();
        if parts.is_empty() || operands > 1 {
            let message = if parts.is_empty() { "an empty spelling" } else { "a first word with two operands" };
            let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, self.span(start, end.max(start + 1)), message);
            return self
                .fail(diagnostic.help("a first word is a mnemonic, with at most one operand in it: `x{K:hex2}`"));
        }
        Some(parts)
    }

    fn tail(&mut self, start: usize) -> Option<Vec<(SyntaxPart, bool)>> {
        let text = self.column.text.as_str();
        let mut tail = Vec::new();
        let mut at = start;
        while at < text.len() {
            let rest = &text[at..];
            let blank = rest.len() - rest.trim_start().len();
            if blank == rest.len() {
                break;
            }
            at += blank;
            let (part, length) = self.part(at)?;
            tail.push((part, blank > 0));
            at += length;
        }
        Some(tail)
    }

    fn part(&mut self, at: usize) -> Option<(SyntaxPart, usize)> {
        let rest = &self.column.text[at..];
        if rest.starts_with('{') {
            return self.braced(at);
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            let mark = rest.chars().next()?;
            return Some((SyntaxPart::Text(mark.to_string()), mark.len_utf8()));
        }
        let word = &rest[..length];
        if self.inline == Inline::Allowed && rest[length..].starts_with(':') {
            return self.inline_operand(at, length);
        }
        let capital = word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            && !word.starts_with(|c: char| c.is_ascii_digit());
        let known = self
            .declarations
            .names
            .peek(word)
            .is_some_and(|named| matches!(named, Named::Field(_) | Named::Family(_) | Named::Operand(_)));
        if known || capital {
            return Some((self.named(word, None, self.span(at, at + length))?, length));
        }
        Some((SyntaxPart::Text(word.to_owned()), length))
    }

    /// Reads `N:u8 low`: a name and its kind, up to the next mark.
    fn inline_operand(&mut self, at: usize, length: usize) -> Option<(SyntaxPart, usize)> {
        let name = Name { text: self.column.text[at..at + length].to_owned(), span: self.span(at, at + length) };
        let base = self.column.span.start as usize;
        let (number, end) = {
            let (file, at) = (self.column.span.file, base + at + length + 1);
            Parser::number_kind_at(file, self.declarations.text(file), at, self.diagnostics)?
        };
        Some((SyntaxPart::Operand(Operand::Inline(name, Box::new(number)), None), end - base - at))
    }

    /// Reads `{NAME}` or `{NAME:hex2}`.
    fn braced(&mut self, at: usize) -> Option<(SyntaxPart, usize)> {
        let rest = &self.column.text[at..];
        let Some(end) = rest.find('}') else {
            let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, self.span(at, at + 1), "this `{` is not closed");
            return self.fail(diagnostic.help("an operand inside a word is written `x{K:hex2}`"));
        };
        let inside = &rest[1..end];
        let (name, format) = match inside.split_once(':') {
            Some((name, format)) => (name.trim(), Some(format.trim())),
            None => (inside.trim(), None),
        };
        let span = self.span(at + 1, at + end);
        let digits = match format {
            None => None,
            Some("dec") => Some(Digits::Decimal),
            Some(format) => match format.strip_prefix("hex").and_then(|count| count.parse().ok()) {
                Some(count @ 1..=16) => Some(Digits::Hexadecimal(count)),
                _ => {
                    let message = format!("`{format}` is not a format for an operand");
                    let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, span, message);
                    return self.fail(diagnostic.help("write `hex2` for two hexadecimal digits, or `dec` for decimal"));
                }
            },
        };
        Some((self.named(name, digits, span)?, end + 1))
    }

    fn named(&mut self, name: &str, digits: Option<Digits>, span: Span) -> Option<SyntaxPart> {
        match self.declarations.names.find(name, span) {
            Some(Named::Field(id)) => Some(SyntaxPart::Operand(Operand::Field(id), digits)),
            Some(Named::Family(at)) => Some(SyntaxPart::Family(at)),
            Some(Named::Operand(at)) if self.inline == Inline::Refused => Some(SyntaxPart::Modes(at)),
            Some(Named::Operand(_)) => {
                let message = format!("a pseudo-instruction cannot have `{name}`, an operand with modes");
                let diagnostic = Diagnostic::new(codes::WRONG_KIND, span, message);
                self.fail(diagnostic.help("write one pseudo-instruction for each mode that it needs"))
            }
            _ => {
                let name = Name { text: name.to_owned(), span };
                let is_field = |named| matches!(named, Named::Field(_) | Named::Family(_) | Named::Operand(_));
                let declare = format!(
                    "declare it with a line such as `field {} : u8`; texts of the syntax are in small letters",
                    name.text
                );
                self.declarations.names.report_wrong(&name, "field", is_field, declare, self.diagnostics);
                None
            }
        }
    }

    /// Checks that all spellings of the first word have the same operand and the same families.
    fn check_heads(&mut self, written: &WrittenSyntax) -> Option<()> {
        let key = |parts: &Vec<SyntaxPart>| -> Vec<(u8, usize)> {
            let number = |part: &SyntaxPart| match part {
                SyntaxPart::Text(_) => None,
                SyntaxPart::Operand(Operand::Field(id), _) => Some((0, id.index())),
                SyntaxPart::Operand(Operand::Inline(..), _) => Some((1, 0)),
                SyntaxPart::Family(at) => Some((2, *at)),
                SyntaxPart::Modes(at) => Some((3, *at)),
                SyntaxPart::Word(_) => None,
            };
            parts.iter().filter_map(number).collect()
        };
        let first = key(&written.heads[0]);
        if written.heads.iter().any(|head| key(head) != first) {
            let message = "the spellings of the first word differ in their operands";
            let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, written.span, message);
            return self.fail(diagnostic.help("write the same operand in each, as in `x{K:hex2}/push{K:hex2}`"));
        }
        Some(())
    }

    /// Checks that, after the first word, operands are separated from words: `mov r{N}` could never be read back.
    fn check_tail(&mut self, written: &WrittenSyntax) -> Option<()> {
        let is_word = |part: &SyntaxPart| match part {
            SyntaxPart::Text(text) => text.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
            SyntaxPart::Operand(..) | SyntaxPart::Family(_) | SyntaxPart::Modes(_) | SyntaxPart::Word(_) => true,
        };
        let formatted = |part: &SyntaxPart| matches!(part, SyntaxPart::Operand(_, Some(_)));
        let glued = written.tail.windows(2).any(|pair| !pair[1].1 && is_word(&pair[0].0) && is_word(&pair[1].0));
        if glued || written.tail.iter().any(|(part, _)| formatted(part)) {
            let message = "an operand can be part of a word only in the first word";
            let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, written.span, message);
            return self.fail(diagnostic.help("put a space or a mark between them, and remove `:hex2`"));
        }
        Some(())
    }

    fn check_operands(&mut self, written: &WrittenSyntax) -> Option<()> {
        let modes = written.modes().into_iter().map(|at| self.declarations.operands[at].name.text.clone());
        let names: Vec<String> =
            written.operands().iter().map(|operand| self.operand_name(operand)).chain(modes).collect();
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                if let Some(start) = self.column.text.find(" where ") {
                    let span = self.span(start + 1, start + " where".len());
                    let diagnostic = Diagnostic::new(codes::BAD_SYNTAX, span, "`where` is not part of the syntax");
                    return self.fail(diagnostic.help("conditions go after the encoding, as in `10DD where D != 3`"));
                }
                let message = format!("the operand `{name}` is in the syntax twice");
                let diagnostic = Diagnostic::new(codes::OPERAND_LOST, written.span, message);
                return self.fail(diagnostic.help("declare a second field of the same kind, as in `field D, S : …`"));
            }
        }
        if names.len() > limits::OPERANDS {
            let message = format!("an instruction has at most {} operands", limits::OPERANDS);
            let diagnostic = Diagnostic::new(codes::TOO_MANY, written.span, message);
            return self.fail(diagnostic.help(format!("this one has {}", names.len())));
        }
        Some(())
    }

    fn operand_name(&self, operand: &Operand) -> String {
        match operand {
            Operand::Field(id) => self.declarations.fields[id.index()].name.clone(),
            Operand::Inline(name, _) => name.text.clone(),
        }
    }
}

impl WrittenSyntax {
    /// Returns the operands, in order.
    pub(crate) fn operands(&self) -> Vec<&Operand> {
        self.parts()
            .filter_map(|part| if let SyntaxPart::Operand(operand, _) = part { Some(operand) } else { None })
            .collect()
    }

    /// Returns the families, in order.
    pub(crate) fn families(&self) -> Vec<usize> {
        let mut families: Vec<usize> = Vec::new();
        let words = self.parts().flat_map(|part| match part {
            SyntaxPart::Word(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        });
        for part in words {
            if let SyntaxPart::Family(at) = part
                && !families.contains(at)
            {
                families.push(*at);
            }
        }
        families
    }

    /// Returns the fields, in order.
    pub(crate) fn fields(&self) -> Vec<FieldId> {
        let field = |operand: &Operand| if let Operand::Field(id) = operand { Some(*id) } else { None };
        self.operands().into_iter().filter_map(field).collect()
    }

    /// Returns the fields and the operands with modes, in order.
    pub(crate) fn takers(&self) -> Vec<Taker> {
        let taker = |part: &SyntaxPart| match part {
            SyntaxPart::Operand(Operand::Field(id), _) => Some(Taker::Field(*id)),
            SyntaxPart::Modes(at) => Some(Taker::Operand(*at)),
            _ => None,
        };
        self.parts().filter_map(taker).collect()
    }

    /// Returns the operands with modes, in order.
    pub(crate) fn modes(&self) -> Vec<usize> {
        self.parts().filter_map(|part| if let SyntaxPart::Modes(at) = part { Some(*at) } else { None }).collect()
    }

    /// Replaces each operand that has modes with the syntax of its mode.
    pub(crate) fn expanded<'m>(&self, mode: impl Fn(usize) -> &'m [(SyntaxPart, bool)]) -> WrittenSyntax {
        let mut tail = Vec::new();
        for (part, space) in &self.tail {
            let SyntaxPart::Modes(at) = part else {
                tail.push((part.clone(), *space));
                continue;
            };
            let pieces = mode(*at).iter().enumerate();
            tail.extend(pieces.map(|(number, (part, own))| (part.clone(), if number == 0 { *space } else { *own })));
        }
        WrittenSyntax { heads: self.heads.clone(), tail, span: self.span }
    }

    /// Replaces fields with others.
    pub(crate) fn with_fields(&self, fields: &BTreeMap<FieldId, FieldId>) -> WrittenSyntax {
        let change = |part: &SyntaxPart| match part {
            SyntaxPart::Operand(Operand::Field(id), digits) if fields.contains_key(id) => {
                SyntaxPart::Operand(Operand::Field(fields[id]), *digits)
            }
            other => other.clone(),
        };
        let heads = self.heads.iter().map(|head| head.iter().map(change).collect()).collect();
        let tail = self.tail.iter().map(|(part, space)| (change(part), *space)).collect();
        WrittenSyntax { heads, tail, span: self.span }
    }

    /// Returns the syntax after prefixes: with other registers and fields or, if that changes nothing, with the names
    /// of the prefixes before it. `None` if they cannot stand there.
    pub(crate) fn after(
        &self,
        names: &[String],
        renames: &Renames,
        fields: &BTreeMap<FieldId, FieldId>,
    ) -> Option<WrittenSyntax> {
        let mut changes = false;
        let mut change = |part: &SyntaxPart| match part {
            SyntaxPart::Text(text) if renames.contains_key(text) => {
                changes = true;
                SyntaxPart::Text(renames[text].clone())
            }
            SyntaxPart::Operand(Operand::Field(id), digits) if fields.contains_key(id) => {
                changes = true;
                SyntaxPart::Operand(Operand::Field(fields[id]), *digits)
            }
            other => other.clone(),
        };
        let tail: Vec<(SyntaxPart, bool)> = self.tail.iter().map(|(part, space)| (change(part), *space)).collect();
        if changes || names.is_empty() {
            return Some(WrittenSyntax { heads: self.heads.clone(), tail, span: self.span });
        }
        let word = self.heads[0].clone();
        if word.iter().any(|part| matches!(part, SyntaxPart::Operand(..))) {
            return None;
        }
        let names = names.iter().map(|name| SyntaxPart::Text(name.clone())).collect::<Vec<_>>();
        let further = names[1..].iter().map(|name| (name.clone(), true));
        let tail = further.chain([(SyntaxPart::Word(word), true)]).chain(tail).collect();
        Some(WrittenSyntax { heads: vec![vec![names[0].clone()]], tail, span: self.span })
    }

    fn parts(&self) -> impl Iterator<Item = &SyntaxPart> {
        self.heads[0].iter().chain(self.tail.iter().map(|(part, _)| part))
    }

    /// Returns the syntax with these members of its families.
    pub(crate) fn syntax(&self, member: impl Fn(usize) -> String) -> Syntax {
        let heads = self.heads.iter().map(|parts| head(parts, &member)).collect::<Vec<_>>();
        let mut next = usize::from(!matches!(heads[0], Head::Word(_)));
        let mut pieces = Vec::new();
        for (part, space) in &self.tail {
            let kind = match part {
                SyntaxPart::Text(text) => PieceKind::Text(text.clone()),
                SyntaxPart::Family(at) => PieceKind::Text(member(*at)),
                SyntaxPart::Word(parts) => PieceKind::Text(word(parts, &member)),
                SyntaxPart::Operand(..) | SyntaxPart::Modes(_) => {
                    next += 1;
                    PieceKind::Operand(next - 1)
                }
            };
            pieces.push(Piece { kind, space: *space });
        }
        Syntax { heads, pieces }
    }
}

/// Returns a word without its operands.
fn word(parts: &[SyntaxPart], member: &impl Fn(usize) -> String) -> String {
    match head(parts, member) {
        Head::Word(word) | Head::Named(word) => word,
        Head::Glued { prefix, suffix, .. } => prefix + &suffix,
    }
}

fn head(parts: &[SyntaxPart], member: &impl Fn(usize) -> String) -> Head {
    let (mut prefix, mut suffix, mut digits) = (String::new(), String::new(), None);
    for part in parts {
        let text = match part {
            SyntaxPart::Text(text) => text.clone(),
            SyntaxPart::Family(at) => member(*at),
            SyntaxPart::Word(parts) => word(parts, member),
            SyntaxPart::Modes(_) => continue,
            SyntaxPart::Operand(_, format) => {
                digits = Some(format.unwrap_or(Digits::Decimal));
                continue;
            }
        };
        if digits.is_none() { prefix.push_str(&text) } else { suffix.push_str(&text) }
    }
    match digits {
        Some(Digits::Name) => Head::Named(prefix),
        Some(digits) => Head::Glued { prefix, digits, suffix },
        None => Head::Word(prefix),
    }
}

impl Parser<'_, '_> {
    /// Reads `u8 low` and the like at a position in the text; returns it and where it ends.
    fn number_kind_at(file: FileId, text: &str, at: usize, diagnostics: &mut Diagnostics) -> Option<(Number, usize)> {
        let mut parser = Parser::starting_at(file, text, at, diagnostics);
        let number = parser.number_kind("as in `li D, N:u8`").ok()?;
        let end = number.span.end as usize;
        Some((number, end))
    }
}
