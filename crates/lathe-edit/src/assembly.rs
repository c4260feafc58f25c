//! Questions about a program, for any machine. Labels and colours come from tokens alone, so they work
//! while the program cannot be assembled.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lathe_asm::tokens::{self, Kind, Token};
use lathe_base::FileId;
use lathe_isa::Isa;
use lathe_isa::model::{Assembly, Domain};

use crate::{Class, Piece};

/// The directives of the assembly language; a machine may add others.
pub const DIRECTIVES: [&str; 34] = [
    ".machine", ".byte", ".cell", ".word", ".le16", ".be16", ".le32", ".be32", ".le64", ".be64", ".ascii", ".asciiz",
    ".fill", ".space", ".org", ".align", ".p2align", ".section", ".equ", ".include", ".incbin", ".if", ".elif",
    ".else", ".endif", ".macro", ".endm", ".rept", ".endr", ".assert", ".error", ".warn", ".entry", ".export",
];

/// The functions of expressions.
pub const FUNCTIONS: [&str; 4] = ["lo", "hi", "len", "defined"];

/// Words that a machine gives meaning to.
#[derive(Default)]
pub struct Words {
    habits: Assembly,
    /// Registers and other names that no label can have, in small letters.
    pub reserved: BTreeSet<String>,
    /// The fields, and the names of those that are one of a list, in small letters.
    pub fields: BTreeMap<String, Option<BTreeSet<String>>>,
    operations: BTreeSet<String>,
}

impl Words {
    /// The words of a machine.
    pub fn new(isa: &Isa) -> Words {
        let mut reserved: BTreeSet<String> = BTreeSet::new();
        let mut fields: BTreeMap<String, Option<BTreeSet<String>>> = BTreeMap::new();
        for field in &isa.fields {
            let mut names: BTreeSet<String> = match &field.domain {
                Domain::Registers(list) => list.iter().flatten().map(|(name, _)| name.to_lowercase()).collect(),
                Domain::Names(list) => list.iter().map(|(name, _)| name.to_lowercase()).collect(),
                Domain::Number(_) | Domain::Values(_) => BTreeSet::new(),
            };
            names.extend(field.spellings.iter().map(|(name, _)| name.to_lowercase()));
            reserved.extend(names.iter().cloned());
            fields.entry(field.name.clone()).or_insert((!field.is_number()).then_some(names));
        }
        let mut operations: BTreeSet<String> =
            isa.assembly.directives.iter().map(|(name, _)| name.to_lowercase()).collect();
        operations.extend(isa.first_words().map(str::to_lowercase));
        Words { habits: isa.assembly.clone(), reserved, fields, operations }
    }
}

/// The pieces of some whole lines of a text, in order, and perhaps some before and after them.
pub fn pieces(text: &str, lines: Range<usize>, words: &Words) -> Vec<Piece> {
    // Only a comment that goes on over lines makes it matter what stands before and after.
    let end = lines.end.min(text.len());
    let start = lines.start.min(end);
    let end = if may_be_open(&text[start..end]) { text.len() } else { end };
    let start = if may_be_open(&text[..start]) { 0 } else { start };
    let mut pieces = Reading::new(&text[start..end], words).pieces;
    pieces.iter_mut().for_each(|piece| (piece.start, piece.end) = (piece.start + start, piece.end + start));
    pieces
}

/// Whether a comment that goes on over lines may be open at the end of a text.
fn may_be_open(text: &str) -> bool {
    text.match_indices("/*").any(|(at, _)| {
        let line = text[at + 2..].lines().next().unwrap_or("");
        !line.contains("*/")
    })
}

/// A name at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The full name: a local label has that of its owner before it.
    pub name: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it does there.
    pub role: Role,
}

/// What a name does where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Role {
    Label,
    Constant,
    Macro,
    Use,
}

/// A statement: where its operation stands, and its tokens.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The bytes of its operation.
    pub operation: (usize, usize),
    /// Where the commas between its operands stand.
    pub commas: Vec<usize>,
    /// Where it ends.
    pub end: usize,
}

/// A program text, read.
pub struct Reading<'s> {
    /// The text.
    pub text: &'s str,
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Every name, in order.
    pub names: Vec<Occurrence>,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
    owner: String,
}

impl<'s> Reading<'s> {
    /// Reads a text, with what its machine gives meaning to.
    pub fn new(text: &'s str, words: &Words) -> Reading<'s> {
        let mut reading =
            Reading { text, pieces: Vec::new(), names: Vec::new(), statements: Vec::new(), owner: String::new() };
        let mut at = 0;
        let mut tokens = Vec::new();
        while at < text.len() {
            tokens.clear();
            let next = tokens::line(FileId(0), text, at, &words.habits, &mut tokens);
            let first = reading.pieces.len();
            reading.comments(at, next, &tokens);
            reading.line(&tokens, words);
            reading.pieces[first..].sort_unstable_by_key(|piece| piece.start);
            at = next;
        }
        reading
    }

    fn word(&self, token: &Token) -> &'s str {
        &self.text[token.span.range()]
    }

    fn comments(&mut self, from: usize, to: usize, tokens: &[Token]) {
        let mut last = from;
        let ends = tokens.iter().map(|token| (token.span.start as usize, token.span.end as usize)).chain([(to, to)]);
        for (start, end) in ends {
            let gap = &self.text[last..start];
            let trimmed = gap.trim();
            if !trimmed.is_empty() {
                let begin = last + gap.len() - gap.trim_start().len();
                self.pieces.push(Piece { start: begin, end: begin + trimmed.len(), class: Class::Comment });
            }
            last = end;
        }
    }

    fn line(&mut self, tokens: &[Token], words: &Words) {
        let mut rest = tokens;
        loop {
            match rest {
                [colon, tail @ ..] if colon.is_mark(':') => rest = tail,
                [name, colon, tail @ ..]
                    if colon.is_mark(':') && name.touches(*colon) && matches!(name.kind, Kind::Word) =>
                {
                    self.label(name);
                    rest = tail;
                }
                [number, colon, tail @ ..]
                    if colon.is_mark(':') && number.touches(*colon) && matches!(number.kind, Kind::Number(_)) =>
                {
                    rest = tail
                }
                [name, tail @ ..] if self.is_bare_label(name, tail, words) => {
                    self.label(name);
                    rest = tail;
                }
                _ => break,
            }
        }
        let Some((first, operands)) = rest.split_first() else { return };
        let constant =
            operands.first().is_some_and(|next| next.is_mark('=') || self.word(next).eq_ignore_ascii_case("equ"));
        if constant && first.kind == Kind::Word {
            self.name(self.word(first).to_owned(), first, Role::Constant, Class::Label);
            return self.values(&operands[1..], words);
        }
        let commas =
            operands.iter().filter(|token| token.is_mark(',')).map(|token| token.span.start as usize).collect();
        let end = rest.last().map_or(0, |token| token.span.end as usize);
        self.statements.push(Statement {
            operation: (first.span.start as usize, first.span.end as usize),
            commas,
            end,
        });
        let word = self.word(first).to_lowercase();
        let class = if word.starts_with('.') { Class::Directive } else { Class::Mnemonic };
        self.piece(first, class);
        if let (".macro" | ".equ", Some(name)) =
            (word.as_str(), operands.first().filter(|name| name.kind == Kind::Word))
        {
            let role = if word == ".macro" { Role::Macro } else { Role::Constant };
            self.name(self.word(name).to_owned(), name, role, Class::Label);
            return if role == Role::Constant {
                self.values(&operands[1..], words)
            } else {
                operands[1..].iter().for_each(|token| self.piece(token, Class::Name))
            };
        }
        if !word.starts_with('.') && !words.operations.contains(&word) {
            self.names.push(Occurrence {
                name: self.word(first).to_owned(),
                start: first.span.start as usize,
                end: first.span.end as usize,
                role: Role::Use,
            });
        }
        self.values(operands, words);
    }

    fn is_bare_label(&self, name: &Token, tail: &[Token], words: &Words) -> bool {
        let known = |token: &Token| {
            let word = self.word(token).to_lowercase();
            word.starts_with('.') || words.operations.contains(&word)
        };
        words.habits.bare_labels && name.kind == Kind::Word && !known(name) && tail.first().is_none_or(known)
    }

    fn label(&mut self, token: &Token) {
        let word = self.word(token);
        let name = match word.strip_prefix('.') {
            Some(_) => format!("{}{word}", self.owner),
            None => {
                word.clone_into(&mut self.owner);
                word.to_owned()
            }
        };
        self.name(name, token, Role::Label, Class::Label);
    }

    fn values(&mut self, tokens: &[Token], words: &Words) {
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                Kind::Number(_) => self.piece(token, Class::Number),
                Kind::Text => self.piece(token, Class::Text),
                Kind::Word => {
                    let word = self.word(token);
                    let called = tokens.get(at + 1).is_some_and(|next| next.is_mark('(') && token.touches(*next));
                    let percent = at > 0 && tokens[at - 1].is_mark('%');
                    if words.reserved.contains(&word.to_lowercase()) {
                        self.piece(token, Class::Register);
                    } else if called && (percent || FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(word))) {
                        self.piece(token, Class::Function);
                    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                        self.piece(token, Class::Label);
                    } else {
                        let name =
                            if word.starts_with('.') { format!("{}{word}", self.owner) } else { word.to_owned() };
                        self.name(name, token, Role::Use, Class::Label);
                    }
                }
                _ => {}
            }
        }
    }

    fn name(&mut self, name: String, token: &Token, role: Role, class: Class) {
        self.names.push(Occurrence { name, start: token.span.start as usize, end: token.span.end as usize, role });
        self.piece(token, class);
    }

    fn piece(&mut self, token: &Token, class: Class) {
        self.pieces.push(Piece { start: token.span.start as usize, end: token.span.end as usize, class });
    }

    /// The name at a place.
    pub fn name_at(&self, at: usize) -> Option<&Occurrence> {
        self.names.iter().find(|name| name.start <= at && at <= name.end)
    }

    /// The word at a place.
    pub fn word_at(&self, at: usize) -> Option<&'s str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (before, after) = self.text.split_at_checked(at)?;
        let start = before.trim_end_matches(is_word).len();
        let end = self.text.len() - after.trim_start_matches(is_word).len();
        (start < end).then(|| &self.text[start..end])
    }

    /// The statement on the line of a place.
    pub fn statement_at(&self, at: usize) -> Option<&Statement> {
        let line_start = self.text[..at.min(self.text.len())].rfind('\n').map_or(0, |end| end + 1);
        self.statements.iter().find(|one| one.operation.0 >= line_start && one.operation.0 <= at)
    }

    /// Where names are defined.
    pub fn definitions(&self) -> impl Iterator<Item = &Occurrence> {
        self.names.iter().filter(|name| name.role != Role::Use)
    }

    /// Lines that fold: macros, conditions, repetitions.
    pub fn blocks(&self, line_of: impl Fn(usize) -> usize) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        let mut blocks = Vec::new();
        for statement in &self.statements {
            let word = self.text[statement.operation.0..statement.operation.1].to_lowercase();
            match word.as_str() {
                ".macro" | ".if" | ".rept" => open.push(statement.operation.0),
                ".endm" | ".endif" | ".endr" => {
                    if let Some(start) = open.pop() {
                        blocks.push((line_of(start), line_of(statement.operation.0)));
                    }
                }
                _ => {}
            }
        }
        blocks
    }
}
