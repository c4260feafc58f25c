//! Questions about a program, for any machine. Labels and colours come from tokens alone, so they work even if the
//! program cannot be assembled.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lathe_asm::tokens::{self, Kind, Token};
use lathe_asm::words;
use lathe_base::FileId;
use lathe_isa::Isa;
use lathe_isa::model::Domain;

use crate::{Class, Piece, dialect};

/// The functions of expressions that every machine has, and what each returns.
pub const FUNCTIONS: [(&str, &str); 5] = [
    ("lo", "bits 7 to 0 of a value"),
    ("hi", "bits 15 to 8 of a value"),
    ("len", "the number of bytes of a text"),
    ("defined", "1 if the name is defined, else 0"),
    ("def", "1 if the name is defined, else 0"),
];

/// Words with a meaning on a machine.
#[derive(Default)]
pub struct Words {
    /// Directives, and words that define names.
    pub own: words::Words,
    /// Registers and other names that no label can have, in lowercase.
    pub reserved: BTreeSet<String>,
    /// The fields; if a field takes one of a list of names, those names, in lowercase.
    pub fields: BTreeMap<String, Option<BTreeSet<String>>>,
    operations: BTreeSet<String>,
}

impl Words {
    /// Collects the words of a machine.
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
        let operations = isa.first_words().map(str::to_lowercase).collect();
        Words { own: words::Words::new(isa), reserved, fields, operations }
    }

    /// Whether a word is an instruction or a directive.
    pub fn begins(&self, word: &str) -> bool {
        self.operations.contains(&word.to_lowercase()) || self.own.directive(word).is_some()
    }

    /// Whether a word is a function when it is called.
    fn is_function(&self, word: &str) -> bool {
        let own = FUNCTIONS.iter().map(|(name, _)| *name);
        let mut all = own.chain(self.own.habits.functions.iter().map(|(name, _)| name.as_str()));
        all.any(|name| name.eq_ignore_ascii_case(word))
    }

    /// Whether a word is an operator when it precedes a value.
    fn is_operator(&self, word: &str) -> bool {
        self.own.habits.unary.iter().any(|(name, _)| name.eq_ignore_ascii_case(word))
    }
}

/// Returns the pieces of some whole lines of a text, in order, and perhaps some before and after them.
pub fn pieces(text: &str, lines: Range<usize>, words: &Words) -> Vec<Piece> {
    // The text before and after matters only for a comment over several lines.
    let end = lines.end.min(text.len());
    let start = lines.start.min(end);
    let end = if may_be_open(&text[start..end]) { text.len() } else { end };
    let start = if may_be_open(&text[..start]) { 0 } else { start };
    let mut pieces = Reading::new(&text[start..end], words).pieces;
    pieces.iter_mut().for_each(|piece| (piece.start, piece.end) = (piece.start + start, piece.end + start));
    pieces
}

/// Whether a comment over several lines may be open at the end of a text.
fn may_be_open(text: &str) -> bool {
    text.match_indices("/*").any(|(at, _)| {
        let line = text[at + 2..].lines().next().unwrap_or("");
        !line.contains("*/")
    })
}

/// One occurrence of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The full name: a local label has its owner's name before it.
    pub name: String,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// What it does there.
    pub role: Role,
}

/// The role of a name at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Role {
    Label,
    Constant,
    Macro,
    Use,
}

impl Role {
    /// Returns one word for what has the name.
    pub fn word(self) -> &'static str {
        match self {
            Role::Label => "label",
            Role::Constant => "constant",
            Role::Macro => "macro",
            Role::Use => "name",
        }
    }
}

/// A statement: its operation, and the commas between its operands.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The bytes of its operation.
    pub operation: (usize, usize),
    /// The bytes of the commas between its operands.
    pub commas: Vec<usize>,
    /// Where it ends.
    pub end: usize,
}

/// A program that has been read.
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
    /// Reads a text, given the words of its machine.
    pub fn new(text: &'s str, words: &Words) -> Reading<'s> {
        let mut reading =
            Reading { text, pieces: Vec::new(), names: Vec::new(), statements: Vec::new(), owner: String::new() };
        let mut at = 0;
        let mut tokens = Vec::new();
        while at < text.len() {
            tokens.clear();
            let next = tokens::line(FileId(0), text, at, &words.own.habits, &mut tokens);
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
        if let Some((name, parameters)) = words.own.macro_after_name(tokens, |token| &self.text[token.span.range()]) {
            self.name(self.word(&name).to_owned(), &name, Role::Macro, Class::Label);
            let before = tokens.len() - parameters.len() - 1;
            self.statement(&tokens[before..]);
            self.piece(&tokens[before], Class::Directive);
            return parameters.iter().for_each(|token| self.piece(token, Class::Name));
        }
        let mut rest = tokens;
        loop {
            match rest {
                [colon, tail @ ..] if colon.is_mark(':') => rest = tail,
                [name, colon, tail @ ..]
                    if colon.is_mark(':')
                        && name.touches(*colon)
                        && matches!(name.kind, Kind::Word)
                        && self.defines(rest, words).is_none() =>
                {
                    self.label(name, words);
                    rest = tail;
                }
                [number, colon, tail @ ..]
                    if colon.is_mark(':') && number.touches(*colon) && matches!(number.kind, Kind::Number(_)) =>
                {
                    rest = tail
                }
                [name, tail @ ..] if rest.len() == tokens.len() && self.is_bare_label(rest, words) => {
                    self.label(name, words);
                    rest = tail;
                }
                _ => break,
            }
        }
        let Some((first, operands)) = rest.split_first() else { return };
        if let (Kind::Word, Some(marks)) = (first.kind, self.defines(rest, words)) {
            self.name(self.word(first).to_owned(), first, Role::Constant, Class::Label);
            return self.values(&operands[marks..], words);
        }
        self.statement(rest);
        let word = self.word(first).to_lowercase();
        let directive = words.own.directive(&word);
        let is_directive = word.starts_with('.') || directive.is_some();
        self.piece(first, if is_directive { Class::Directive } else { Class::Mnemonic });
        if let (Some(".macro" | ".equ" | ".set"), Some(name)) =
            (directive, operands.first().filter(|name| name.kind == Kind::Word))
        {
            let role = if directive == Some(".macro") { Role::Macro } else { Role::Constant };
            self.name(self.word(name).to_owned(), name, role, Class::Label);
            return if role == Role::Constant {
                let marks = self.defines(operands, words).unwrap_or(0);
                self.values(&operands[1 + marks..], words)
            } else {
                operands[1..].iter().for_each(|token| self.piece(token, Class::Name))
            };
        }
        if !is_directive && !words.operations.contains(&word) {
            self.names.push(Occurrence {
                name: self.word(first).to_owned(),
                start: first.span.start as usize,
                end: first.span.end as usize,
                role: Role::Use,
            });
        }
        if directive == Some(".section") {
            return self.section(operands, words);
        }
        self.values(operands, words);
    }

    /// Reads the operands of `.section`: names of sections are not labels.
    fn section(&mut self, operands: &[Token], words: &Words) {
        let at = operands.iter().position(|token| dialect::is_section(words, self.word(token)));
        let (before, rest) = operands.split_at(at.unwrap_or(operands.len()));
        self.values(before, words);
        let Some((name, rest)) = rest.split_first() else { return };
        self.piece(name, Class::Name);
        self.values(rest, words);
    }

    fn statement(&mut self, tokens: &[Token]) {
        let [first, operands @ ..] = tokens else { return };
        let commas = operands.iter().filter(|token| token.is_mark(',')).map(|token| token.span.start as usize);
        self.statements.push(Statement {
            operation: (first.span.start as usize, first.span.end as usize),
            commas: commas.collect(),
            end: operands.last().unwrap_or(first).span.end as usize,
        });
    }

    /// Returns how many tokens after a name, the first token, make it a constant.
    fn defines(&self, tokens: &[Token], words: &Words) -> Option<usize> {
        let (marks, means) = words.own.defines(tokens, |token| &self.text[token.span.range()])?;
        (means != ".macro").then_some(marks)
    }

    fn is_bare_label(&self, tokens: &[Token], words: &Words) -> bool {
        let begins = |word: &str| words.operations.contains(&word.to_lowercase());
        words.own.is_bare_label(tokens, self.text, |token| &self.text[token.span.range()], begins)
    }

    fn label(&mut self, token: &Token, words: &Words) {
        let word = self.word(token);
        let name = match words.own.local(word) {
            Some(local) => format!("{}.{local}", self.owner),
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
                    let next = tokens.get(at + 1);
                    let is_function = called && words.is_function(word)
                        || next.is_some_and(|next| next.begins_value()) && words.is_operator(word);
                    if words.reserved.contains(&word.to_lowercase()) {
                        self.piece(token, Class::Register);
                    } else if called && percent || is_function {
                        self.piece(token, Class::Function);
                    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
                        self.piece(token, Class::Label);
                    } else {
                        let local = words.own.local(word).map(|local| format!("{}.{local}", self.owner));
                        let name = local.unwrap_or_else(|| word.to_owned());
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

    /// Returns the name at a place.
    pub fn name_at(&self, at: usize) -> Option<&Occurrence> {
        self.names.iter().find(|name| name.start <= at && at <= name.end)
    }

    /// Whether a place is in a comment, or follows one on its line.
    pub fn is_in_comment(&self, at: usize) -> bool {
        let Some(before) = self.text.get(..at) else { return false };
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let last = self.pieces.iter().take_while(|piece| piece.start < at).last();
        last.is_some_and(|piece| {
            let goes_on = piece.end > line && !self.text[piece.start..piece.end].ends_with("*/");
            piece.class == Class::Comment && (at < piece.end || goes_on)
        })
    }

    /// Returns the label that local labels belong to at a place.
    pub fn owner_at(&self, at: usize) -> Option<&str> {
        let owners = self.names.iter().filter(|name| name.role == Role::Label && !name.name.contains('.'));
        owners.take_while(|name| name.start < at).last().map(|name| name.name.as_str())
    }

    /// Returns the word at a place.
    pub fn word_at(&self, at: usize) -> Option<&'s str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let (before, after) = self.text.split_at_checked(at)?;
        let start = before.trim_end_matches(is_word).len();
        let end = self.text.len() - after.trim_start_matches(is_word).len();
        (start < end).then(|| &self.text[start..end])
    }

    /// Returns the run of marks at a place, and the place within the run.
    pub fn marks_at(&self, at: usize) -> Option<(&'s str, usize)> {
        let is_mark = |c: char| c.is_ascii_punctuation() && c != '_';
        let (before, after) = self.text.split_at_checked(at)?;
        let start = before.trim_end_matches(is_mark).len();
        let end = self.text.len() - after.trim_start_matches(is_mark).len();
        (start < end).then(|| (&self.text[start..end], at - start))
    }

    /// Returns the statement on the line of a place.
    pub fn statement_at(&self, at: usize) -> Option<&Statement> {
        let line_start = self.text[..at.min(self.text.len())].rfind('\n').map_or(0, |end| end + 1);
        self.statements.iter().find(|one| one.operation.0 >= line_start && one.operation.0 <= at)
    }

    /// Yields the definitions of names.
    pub fn definitions(&self) -> impl Iterator<Item = &Occurrence> {
        self.names.iter().filter(|name| name.role != Role::Use)
    }

    /// Returns the first and last lines of blocks that fold: macros, conditions, repetitions.
    pub fn blocks(&self, words: &Words, line_of: impl Fn(usize) -> usize) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        let mut blocks = Vec::new();
        for statement in &self.statements {
            let word = &self.text[statement.operation.0..statement.operation.1];
            match words.own.directive(word).unwrap_or("") {
                ".macro" | ".if" | ".ifdef" | ".ifndef" | ".rept" => open.push(statement.operation.0),
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
