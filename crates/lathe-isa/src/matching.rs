//! Matches a written line with an instruction: whether the text fits a form, and with what operands.
//!
//! The tokens are the caller's: the checker reads lines of the definition, the assembler lines of its source. Both
//! share these rules.

use crate::model::{Domain, Field};
use crate::syntax::{Digits, Head, PieceKind, Syntax};

/// A line being read.
pub trait Line {
    /// The value of an operand that is not a name: an expression.
    type Value;
    /// A position to return to.
    type Mark: Copy;
    /// Returns the current position.
    fn mark(&self) -> Self::Mark;
    /// Returns to a position.
    fn rewind(&mut self, mark: Self::Mark);
    /// Takes this text, one word or one mark, if it comes next; case does not matter.
    fn text(&mut self, text: &str) -> bool;
    /// Takes the next word, if a word comes next.
    fn word(&mut self) -> Option<&str>;
    /// Takes the next word, if the field has that name.
    fn named(&mut self, field: &Field) -> Option<Found<Self::Value>> {
        let bits = self.word().and_then(|word| field.bits_named(word));
        bits.map(Found::Bits)
    }
    /// Takes the next expression, if one comes next. Names of registers are not expressions.
    fn value(&mut self) -> Option<Self::Value>;
    /// Makes an expression of a number.
    fn number(&mut self, value: u64) -> Self::Value;
    /// Takes `prefix{expression:digits}suffix` if it comes next.
    fn braced(&mut self, prefix: &str, digits: Digits, suffix: &str) -> Option<Self::Value>;
    /// Whether the rest of the line is empty.
    fn at_end(&mut self) -> bool;
}

/// The match for an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<V> {
    /// One of the field's names: these bits.
    Bits(u64),
    /// An expression.
    Value(V),
}

/// Why a line does not fit a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The first word differs.
    Head,
    /// This text was expected.
    Text(String),
    /// The operand with this number was expected.
    Operand(usize),
    /// The line goes on after the form's end.
    Rest,
}

/// Matches a whole line with this form, from its first word on; `field` returns the field of an operand.
pub fn match_line<'f, L: Line>(
    syntax: &Syntax,
    field: &dyn Fn(usize) -> &'f Field,
    line: &mut L,
) -> Result<Vec<Found<L::Value>>, Mismatch> {
    let start = line.mark();
    let mut operands = Vec::new();
    let fits = syntax.heads.iter().any(|head| {
        line.rewind(start);
        match_head(head, field, line, &mut operands)
    });
    if !fits {
        return Err(Mismatch::Head);
    }
    for piece in &syntax.pieces {
        match &piece.kind {
            PieceKind::Text(text) if line.text(text) => {}
            PieceKind::Text(text) => return Err(Mismatch::Text(text.clone())),
            PieceKind::Sign if line.text("+") || minus_is_next(line) => {}
            PieceKind::Sign => return Err(Mismatch::Text("+".to_owned())),
            PieceKind::Operand(index) => {
                operands.push(match_operand(field(*index), line).ok_or(Mismatch::Operand(*index))?);
            }
        }
    }
    if line.at_end() { Ok(operands) } else { Err(Mismatch::Rest) }
}

/// Whether a `-` comes next. It is not taken: it belongs to the number.
pub fn minus_is_next<L: Line>(line: &mut L) -> bool {
    let mark = line.mark();
    let found = line.text("-");
    line.rewind(mark);
    found
}

fn match_head<'f, L: Line>(
    head: &Head,
    field: &dyn Fn(usize) -> &'f Field,
    line: &mut L,
    operands: &mut Vec<Found<L::Value>>,
) -> bool {
    let start = line.mark();
    match head {
        Head::Word(word) => line.text(word),
        Head::Named(_) => {
            operands.extend(match_operand(field(0), line));
            !operands.is_empty()
        }
        Head::Glued { prefix, digits, suffix } => {
            let number = line.word().and_then(|word| read_glued(word, prefix, *digits, suffix));
            let value = match number {
                Some(number) => Some(line.number(number)),
                None => {
                    line.rewind(start);
                    line.braced(prefix, *digits, suffix)
                }
            };
            operands.extend(value.map(Found::Value));
            !operands.is_empty()
        }
    }
}

/// Reads the operand of a glued word such as `x2A`.
fn read_glued(word: &str, prefix: &str, digits: Digits, suffix: &str) -> Option<u64> {
    let begins = word.get(..prefix.len())?;
    let rest = begins.eq_ignore_ascii_case(prefix).then(|| &word[prefix.len()..])?;
    let (value, length) = digits.read(rest)?;
    rest[length..].eq_ignore_ascii_case(suffix).then_some(value)
}

/// Reads an operand if one that fits the field comes next.
pub fn match_operand<L: Line>(field: &Field, line: &mut L) -> Option<Found<L::Value>> {
    let start = line.mark();
    let found = match &field.domain {
        Domain::Number(_) | Domain::Values(_) => {
            let named = if field.spellings.is_empty() { None } else { line.named(field) };
            named.or_else(|| {
                line.rewind(start);
                line.value().map(Found::Value)
            })
        }
        _ if field.has_words() => match_words(field, line),
        _ => line.named(field),
    };
    if found.is_none() {
        line.rewind(start);
    }
    found
}

/// Reads all words of the field that come next, if they can be combined.
fn match_words<L: Line>(field: &Field, line: &mut L) -> Option<Found<L::Value>> {
    let mut words = Vec::new();
    loop {
        let mark = line.mark();
        match line.word().filter(|word| field.word(word).is_some()) {
            Some(word) => words.push(word.to_owned()),
            None => {
                line.rewind(mark);
                return field.together(&words).ok().map(Found::Bits);
            }
        }
    }
}

impl Field {
    /// Returns the names that an operand can have, if any; for an operand made of words, the words.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (registers, names) = match &self.domain {
            Domain::Registers(list) => (list.as_slice(), [].as_slice()),
            Domain::Names(_) if self.has_words() => ([].as_slice(), [].as_slice()),
            Domain::Names(list) => ([].as_slice(), list.as_slice()),
            Domain::Number(_) | Domain::Values(_) => ([].as_slice(), [].as_slice()),
        };
        let registers = registers.iter().flatten().map(|(name, _)| name.as_str());
        let names = registers.chain(names.iter().chain(&self.spellings).map(|(name, _)| name.as_str()));
        names.chain(self.words.iter().map(|word| word.name.as_str()))
    }

    /// Returns the bits of this name, in either case, if the field has names.
    pub fn bits_named(&self, name: &str) -> Option<u64> {
        let shown = match &self.domain {
            Domain::Registers(list) => {
                let same = |entry: &Option<(String, _)>| {
                    entry.as_ref().is_some_and(|(known, _)| known.eq_ignore_ascii_case(name))
                };
                list.iter().position(same).map(|at| at as u64)
            }
            Domain::Names(list) => {
                list.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
            }
            Domain::Number(_) | Domain::Values(_) => None,
        };
        shown.or_else(|| {
            let same = |(known, _): &&(String, u64)| known.eq_ignore_ascii_case(name);
            let spelled = self.spellings.iter().find(same).map(|(_, bits)| *bits);
            spelled.or_else(|| self.word(name).map(|word| word.bits))
        })
    }
}
