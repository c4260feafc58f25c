//! The parser: recursive descent over a movable cursor, recovering at line ends.
//!
//! A mistake in a row costs that row, a mistake in a declaration that declaration; the rest of the definition is still
//! read, so that one run reports many mistakes.

mod blocks;
mod expressions;
mod items;
mod recovery;
mod rows;

pub use rows::end_of_instruction;

pub(crate) use expressions::is_type;

use std::collections::BTreeSet;

use lathe_base::{Code, Diagnostic, Diagnostics, FileId, Span, limits};

use super::ast::{Block, Definition, Expr, Name};
use super::lexer::{Cursor, Token};
use crate::codes;

/// Reads a definition. What could not be understood is reported and missing from the tree.
pub fn parse(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Definition {
    let mut parser = Parser::new(file, text, diagnostics);
    if text.len() > limits::DEFINITION_BYTES {
        let span = Span::new(file, 0, 0);
        let message = format!("this definition has {} bytes; the limit is {}", text.len(), limits::DEFINITION_BYTES);
        parser.report(Diagnostic::new(codes::TOO_LARGE, span, message).help("make the definition smaller"));
        let broken = ["machine", "pc"].map(str::to_owned).into();
        return Definition { broken, ..Definition::default() };
    }
    parser.definition()
}

/// Reads a text that consists of one expression.
pub(crate) fn parse_expression(text: &str, diagnostics: &mut Diagnostics) -> Option<Expr> {
    let mut parser = Parser::new(FileId(0), text, diagnostics).of_kind(TextKind::Prompt);
    parser.skip_newlines();
    let expr = parser.expression().ok()?;
    parser.skip_newlines();
    if parser.token != Token::End {
        let help = if parser.is("=") { "to compare, write `==`" } else { "write one expression, as in `a + 1`" };
        return parser.unexpected("the end of the expression", help).ok();
    }
    Some(expr)
}

/// Reads a text that consists of statements.
pub(crate) fn parse_statements(text: &str, diagnostics: &mut Diagnostics) -> Option<Block> {
    Parser::new(FileId(0), text, diagnostics).of_kind(TextKind::Prompt).statements().ok()
}

/// The kind of text being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// A definition.
    Definition,
    /// A line of assembly inside a definition. A name before `(` is not a call: `I(S)` is an address.
    Assembly,
    /// A separate text about a machine. Names may contain dots, as labels do.
    Prompt,
}

/// Something could not be parsed, which has been reported; the caller recovers.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Parsed<T> = Result<T, Failed>;

pub(crate) struct Parser<'s, 'd> {
    cursor: Cursor<'s>,
    token: Token,
    span: Span,
    /// The end of the token before this one.
    last_end: usize,
    /// Where the declaration or row being read begins.
    began: usize,
    /// How many parentheses and brackets are open: inside them, line ends do not count.
    enclosed: usize,
    nesting: usize,
    /// Operators of the expression being read, and how many expressions enclose it.
    operators: usize,
    expressions: usize,
    text: TextKind,
    /// Words of declarations that could not be read.
    broken: BTreeSet<String>,
    rows_lost: bool,
    diagnostics: &'d mut Diagnostics,
}

impl<'s, 'd> Parser<'s, 'd> {
    fn new(file: FileId, text: &'s str, diagnostics: &'d mut Diagnostics) -> Self {
        Parser::starting_at(file, text, 0, diagnostics)
    }

    /// Sets the kind of text.
    pub(crate) fn of_kind(mut self, text: TextKind) -> Self {
        self.text = text;
        self
    }

    /// Makes a parser for a part of a text.
    pub(crate) fn starting_at(file: FileId, text: &'s str, at: usize, diagnostics: &'d mut Diagnostics) -> Self {
        let mut cursor = Cursor::new(file, text);
        cursor.move_to(at);
        let span = Span::new(file, 0, 0);
        let mut parser = Parser {
            cursor,
            token: Token::Newline,
            span,
            last_end: at,
            began: at,
            enclosed: 0,
            nesting: 0,
            operators: 0,
            expressions: 0,
            text: TextKind::Definition,
            broken: BTreeSet::new(),
            rows_lost: false,
            diagnostics,
        };
        parser.advance();
        parser
    }

    /// Advances to the next token. A token that cannot be read is reported only where a token is wanted: it may be the
    /// beginning of a column of raw text.
    fn advance(&mut self) {
        if self.token != Token::Newline {
            self.last_end = self.span.end as usize;
        }
        (self.token, self.span) = self.cursor.next();
        while self.enclosed > 0 && self.token == Token::Newline {
            (self.token, self.span) = self.cursor.next();
        }
    }

    /// Continues reading at `at`, and drops the current token.
    fn move_to(&mut self, at: usize) {
        self.cursor.move_to(at);
        self.advance();
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn fail_with<T>(&mut self, diagnostic: Diagnostic) -> Parsed<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    fn fail<T>(&mut self, code: Code, span: Span, message: impl Into<String>, help: &str) -> Parsed<T> {
        self.report(Diagnostic::new(code, span, message).help(help));
        Err(Failed)
    }

    fn is(&self, mark: &str) -> bool {
        matches!(&self.token, Token::Mark(found) if *found == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Name(found) if found == word)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &str, help: &str) -> Parsed<()> {
        if self.take(mark) {
            return Ok(());
        }
        if let Token::Unknown(character) = self.token
            && self.is_before(mark)
        {
            let diagnostic = self.unknown_character(character);
            self.report(diagnostic);
            self.advance();
            self.advance();
            return Ok(());
        }
        let arrows = ["->", "=>"];
        if arrows.contains(&mark) && arrows.iter().any(|arrow| self.is(arrow)) {
            let message = format!("expected `{mark}`, found {}", self.describe());
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, self.span, message).help(help);
            return self.fail_with(diagnostic.safe_fix(self.span, mark));
        }
        self.unexpected(&format!("`{mark}`"), help)
    }

    /// Whether this mark follows the current token.
    fn is_before(&mut self, mark: &str) -> bool {
        let saved = self.save();
        self.advance();
        let follows = self.is(mark);
        self.restore(saved);
        follows
    }

    /// Reads `{`, which may be on a line of its own.
    fn open_brace(&mut self, help: &str) -> Parsed<()> {
        if self.token == Token::Newline {
            let saved = self.save();
            self.skip_newlines();
            if !self.is("{") {
                self.restore(saved);
            }
        }
        self.expect("{", help)
    }

    fn expect_word(&mut self, word: &str, help: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`"), help) }
    }

    fn unexpected<T>(&mut self, wanted: &str, help: &str) -> Parsed<T> {
        match &self.token {
            Token::Unknown(character) => {
                let diagnostic = self.unknown_character(*character);
                return self.fail_with(diagnostic);
            }
            Token::Text(None) => {
                let span = self.span;
                return self.fail(codes::UNCLOSED_TEXT, span, "this text has no closing quote", "end it with `\"`");
            }
            Token::Mark("/") if self.cursor.rest().starts_with('/') => return self.foreign_comment("//"),
            Token::Mark("/") if self.cursor.rest().starts_with('*') => return self.foreign_comment("/*"),
            Token::Mark("-") if self.cursor.rest().starts_with("- ") => return self.foreign_comment("--"),
            _ => {}
        }
        let (found, span) = self.found();
        self.fail(codes::UNEXPECTED, span, format!("expected {wanted}, found {found}"), help)
    }

    fn unknown_character(&self, character: char) -> Diagnostic {
        let message = format!("the character `{character}` means nothing here");
        let diagnostic = Diagnostic::new(codes::UNKNOWN_CHARACTER, self.span, message);
        let rest = self.cursor.rest();
        match character {
            '$' if rest.starts_with(|c: char| c.is_ascii_hexdigit()) => {
                diagnostic.help("a hexadecimal number is written `0x2A`").safe_fix(self.span, "0x")
            }
            '\'' => match (rest.chars().next(), rest.chars().nth(1)) {
                (Some(quoted), Some('\'')) => {
                    let end = self.span.end as usize + quoted.len_utf8() + 1;
                    let whole = self.cursor.span(self.span.start as usize, end);
                    let number = u32::from(quoted);
                    diagnostic
                        .help(format!("characters are written as numbers: {number}"))
                        .safe_fix(whole, number.to_string())
                }
                _ => diagnostic.help("remove it; characters are written as numbers, such as `65`"),
            },
            _ => diagnostic.help("remove it"),
        }
    }

    /// Reports a mark that begins a comment in other languages; only its first character has been read.
    fn foreign_comment<T>(&mut self, mark: &str) -> Parsed<T> {
        let start = self.span.start as usize;
        let span = self.cursor.span(start, start + mark.len());
        let message = format!("`{mark}` does not begin a comment here");
        let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, message);
        self.fail_with(diagnostic.help("comments begin with `#`").safe_fix(span, "#"))
    }

    /// Returns what is here and where. Something missing at the end of a line is missing after the last word of the
    /// line.
    fn found(&self) -> (String, Span) {
        let here = self.span.start as usize;
        let between = self.cursor.text().get(self.last_end..here).unwrap_or("");
        let ended = self.token == Token::Newline || between.contains('\n');
        if !ended || self.last_end <= self.began {
            return (self.describe(), self.span);
        }
        let before = self.cursor.text()[..self.last_end].chars().next_back().map_or(0, char::len_utf8);
        ("the end of the line".into(), self.cursor.span(self.last_end - before, self.last_end))
    }

    fn describe(&self) -> String {
        match &self.token {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(_) => "a number".into(),
            Token::Text(_) => "a text".into(),
            Token::Mark(mark) => format!("`{mark}`"),
            Token::Newline => "the end of the line".into(),
            Token::End => "the end of the file".into(),
            Token::Unknown(character) => format!("`{character}`"),
        }
    }

    fn name(&mut self, what: &str, help: &str) -> Parsed<Name> {
        match &self.token {
            Token::Name(text) => {
                let name = Name { text: text.clone(), span: self.span };
                self.advance();
                Ok(name)
            }
            _ => self.unexpected(what, help),
        }
    }

    fn skip_newlines(&mut self) {
        while self.token == Token::Newline {
            self.advance();
        }
    }

    /// Returns where the last token read ends.
    pub(crate) fn end(&self) -> usize {
        self.last_end
    }

    /// Returns the `##` lines passed since the last call.
    fn take_documentation(&mut self) -> String {
        std::mem::take(&mut self.cursor.documentation).join("\n")
    }

    /// Counts one level of nesting while `inside` runs.
    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= limits::NESTING {
            let span = self.span;
            let message = format!("this nests more than {} deep", limits::NESTING);
            return self.fail(codes::TOO_DEEP, span, message, "split it with `let` or a function");
        }
        self.nesting += 1;
        let result = inside(self);
        self.nesting -= 1;
        result
    }

    /// Reads `item`s separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(",") {
            self.skip_newlines();
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Reads the rows of a block `{ … }`, each with `row`, and skips rows that fail.
    fn rows<T>(&mut self, what: &str, mut row: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let head = self.began;
        self.open_brace(&format!("{what} are written between `{{` and `}}`"))?;
        let open = self.cursor.span(self.last_end - 1, self.last_end);
        let mut rows = Vec::new();
        loop {
            self.cursor.documentation.clear();
            self.skip_newlines();
            if self.take("}") {
                return Ok(rows);
            }
            if self.token == Token::End || self.at_item_outside(head) {
                let message = format!("the block of {what} is not closed");
                let help = "close it with `}` on a line of its own";
                let end = self.cursor.span(self.last_end, self.last_end);
                let diagnostic = Diagnostic::new(codes::UNCLOSED_BLOCK, open, message).help(help);
                self.report(diagnostic.safe_fix(end, "\n}"));
                return Ok(rows);
            }
            let before = self.cursor.at();
            self.began = self.span.start as usize;
            match row(self) {
                Ok(row) => rows.push(row),
                Err(Failed) => {
                    self.rows_lost |= what == "instructions";
                    self.recover(self.began);
                }
            }
            if self.cursor.at() == before && !self.is("}") && self.token != Token::End {
                self.advance();
            }
        }
    }
}
