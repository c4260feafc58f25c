//! Statements.

use lathe_base::Diagnostic;

use super::{Parsed, Parser};
use crate::codes;
use crate::language::ast::*;
use crate::language::lexer::Token;

/// A statement, or an expression that may turn out to be the block's value.
enum Piece {
    Statement(Box<Statement>),
    Value(Expr),
}

impl Parser<'_, '_> {
    /// Reads `{ … }` over any number of lines.
    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.open_brace("a block is written between `{` and `}`")?;
        let open = self.cursor.span(self.last_end - 1, self.last_end);
        let enclosed = std::mem::take(&mut self.enclosed);
        let block = self.nested(|p| p.pieces(|p| p.is("}") || p.token == Token::End || p.at_next_row(), true));
        self.enclosed = enclosed;
        let block = block?;
        if !self.is("}") {
            let end = self.cursor.span(self.last_end, self.last_end);
            let diagnostic = Diagnostic::new(codes::UNCLOSED_BLOCK, open, "this block is not closed");
            return self.fail_with(diagnostic.help("close it with `}`").fix(end, " }"));
        }
        self.advance();
        Ok(block)
    }

    /// Reads statements up to the end of the line, or one block in braces.
    pub(super) fn line_block(&mut self) -> Parsed<Block> {
        if self.is("{") {
            return self.block();
        }
        self.pieces(|p| p.token == Token::Newline || p.is("}") || p.token == Token::End, false)
    }

    /// Reads statements up to the end of the text.
    pub(super) fn statements(&mut self) -> Parsed<Block> {
        self.pieces(|p| p.token == Token::End, true)
    }

    fn pieces(&mut self, at_end: impl Fn(&Self) -> bool, over_lines: bool) -> Parsed<Block> {
        let mut block = Block::default();
        loop {
            while self.is(";") || (over_lines && self.token == Token::Newline) {
                self.advance();
            }
            if at_end(self) {
                return Ok(block);
            }
            if let Some(value) = block.value.take() {
                block.statements.push(Statement::Call(value));
            }
            match self.piece()? {
                Piece::Statement(statement) => block.statements.push(*statement),
                Piece::Value(value) => block.value = Some(value),
            }
            let ended = at_end(self) || self.is(";") || (over_lines && self.token == Token::Newline);
            if !ended && self.is("=") {
                return self.assignment_as_comparison("a statement assigns only once");
            }
            if !ended {
                return self.missing_semicolon();
            }
        }
    }

    fn piece(&mut self) -> Parsed<Piece> {
        let span = self.span;
        let Token::Name(word) = self.token.clone() else { return self.assignment_or_value() };
        let statement = match word.as_str() {
            "let" => self.binding()?,
            "if" => self.conditional()?,
            "for" => self.repetition()?,
            "skip" => {
                self.advance();
                Statement::Skip(span)
            }
            "halt" => {
                self.advance();
                Statement::Halt(span)
            }
            "fault" => self.fault()?,
            "cycles" => {
                self.advance();
                self.expect("+", "as in `cycles + 1`: this instruction takes one more")?;
                Statement::Cycles(self.expression()?)
            }
            "while" | "loop" | "do" | "repeat"
                if self.is_foreign_word() || (word == "while" && self.is_before("(")) =>
            {
                let help = "a meaning ends after a fixed number of steps: use `if`, or `for` over a list; loops \
                            belong in programs";
                return self.fail(codes::UNEXPECTED, span, "there are no loops in a meaning", help);
            }
            "return" if self.is_foreign_word() || self.is_before("(") => {
                let help = "the last thing in a function's block is its value, as in `{ let x = a + 1; x }`";
                return self.fail(codes::UNEXPECTED, span, "there is no `return`", help);
            }
            "goto" | "jump" | "jmp" if self.is_foreign_word() => {
                let message = format!("there is no `{word}` in a meaning");
                let help = "to jump, assign the program counter, as in `pc = N`";
                return self.fail(codes::UNEXPECTED, span, message, help);
            }
            "var" | "const" | "auto" | "int" if self.is_foreign_word() => {
                let message = format!("there is no `{word}` in a meaning");
                let help = "a local name is written `let x = a + 1`";
                return self.fail(codes::UNEXPECTED, span, message, help);
            }
            "print" | "write" | "putc" if self.is_foreign_word() => {
                let message = format!("there is no `{word}` in a meaning");
                let help = "to write, use a device, as in `console.write(a)`";
                return self.fail(codes::UNEXPECTED, span, message, help);
            }
            _ => return self.assignment_or_value(),
        };
        Ok(Piece::Statement(Box::new(statement)))
    }

    /// Whether the word here is used as in another language: what follows it cannot follow a name. Before `(` it may be
    /// a function of the definition.
    fn is_foreign_word(&mut self) -> bool {
        let saved = self.save();
        self.advance();
        let is_foreign = matches!(self.token, Token::Name(_) | Token::Number(_) | Token::Mark("{" | "!" | "~"));
        self.restore(saved);
        is_foreign
    }

    fn missing_semicolon<T>(&mut self) -> Parsed<T> {
        if self.is(":") && self.is_before("=") {
            let span = self.cursor.span(self.span.start as usize, self.cursor.at() + 1);
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, "there is no `:=`");
            return self.fail_with(diagnostic.help("to assign, write `=`").fix(span, "="));
        }
        let begins_statement = matches!(self.token, Token::Name(_));
        let help = match begins_statement && self.follows_lone_word() {
            true => "statements are separated by `;`; comments begin with `#`",
            false => "statements are separated by `;`",
        };
        if !begins_statement {
            return self.unexpected("`;` or the end of the statement", help);
        }
        let (found, span) = self.found();
        let between = self.cursor.span(self.last_end, self.last_end);
        let message = format!("expected `;` or the end of the statement, found {found}");
        let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, message).help(help);
        let rest = &self.cursor.text()[self.span.start as usize..];
        let assigns = rest.split([';', '\n']).next().is_some_and(|statement| statement.contains(" = "));
        self.fail_with(if assigns { diagnostic.safe_fix(between, ";") } else { diagnostic.fix(between, ";") })
    }

    /// Whether a single word stands between the last `;` of this line and here, as in `a = 1 ; a comment`.
    fn follows_lone_word(&self) -> bool {
        let before = &self.cursor.text()[..self.last_end];
        let line = before.rsplit('\n').next().unwrap_or(before);
        line.rsplit_once(';').is_some_and(|(_, last)| last.split_whitespace().count() == 1)
    }

    fn assignment_or_value(&mut self) -> Parsed<Piece> {
        let left = self.expression()?;
        if !self.take("=") {
            return Ok(Piece::Value(left));
        }
        self.skip_newlines();
        Ok(Piece::Statement(Box::new(Statement::Assign(left, self.expression()?))))
    }

    fn assignment_as_comparison<T>(&mut self, message: &str) -> Parsed<T> {
        let diagnostic = Diagnostic::new(codes::UNEXPECTED, self.span, message).help("to compare, write `==`");
        self.fail_with(diagnostic.safe_fix(self.span, "=="))
    }

    fn binding(&mut self) -> Parsed<Statement> {
        let help = "as in `let x = a + b`";
        self.advance();
        let name = self.name("a name", help)?;
        let ty = if self.take(":") { Some(self.ty("as in `let x : u16 = …`")?) } else { None };
        self.expect("=", help)?;
        Ok(Statement::Let(name, ty, self.expression()?))
    }

    fn conditional(&mut self) -> Parsed<Statement> {
        self.advance();
        let condition = self.expression()?;
        if self.is("=") {
            return self.assignment_as_comparison("`if` needs a comparison, but `=` assigns");
        }
        let then = self.block()?;
        if ["elif", "elsif", "elseif"].iter().any(|word| self.is_word(word)) {
            let message = format!("there is no {}", self.describe());
            let diagnostic = Diagnostic::new(codes::UNEXPECTED, self.span, message).help("write `else if`");
            return self.fail_with(diagnostic.safe_fix(self.span, "else if"));
        }
        if !self.else_follows() {
            return Ok(Statement::If(condition, then, None));
        }
        if self.is_word("if") {
            let inner = self.nested(Self::conditional)?;
            let otherwise = Block { statements: vec![inner], value: None };
            return Ok(Statement::If(condition, then, Some(otherwise)));
        }
        Ok(Statement::If(condition, then, Some(self.block()?)))
    }

    /// Reads `else`, which may be on the next line.
    fn else_follows(&mut self) -> bool {
        let saved = self.save();
        self.skip_newlines();
        if self.take_word("else") {
            return true;
        }
        self.restore(saved);
        false
    }

    fn repetition(&mut self) -> Parsed<Statement> {
        let help = "as in `for r in { a, b, c } { push(r) }`";
        let span = self.span;
        self.advance();
        let first = self.name("a name", help)?;
        let second = if self.take(",") { Some(self.name("a name", help)?) } else { None };
        self.expect_word("in", help)?;
        let items = self.braced(|p| {
            let value = p.expression()?;
            match (&value.kind, p.is("..")) {
                (ExprKind::Name(text), true) => {
                    p.advance();
                    let first = Name { text: text.clone(), span: value.span };
                    let last = Some(p.name("the last name of the range", help)?);
                    Ok(ForItem::Range(NameRange { first, last }))
                }
                _ => Ok(ForItem::Value(value)),
            }
        })?;
        let body = self.block()?;
        let (index, name) = match second {
            Some(second) => (Some(first), second),
            None => (None, first),
        };
        Ok(Statement::For(For { index, name, items, body, span }))
    }

    fn fault(&mut self) -> Parsed<Statement> {
        let help = "as in `fault \"stack underflow\"`";
        let span = self.span;
        self.advance();
        let Token::Text(Some(text)) = &self.token else { return self.unexpected("a text in quotes", help) };
        let text = text.clone();
        self.advance();
        let detail = if self.take(",") { Some(self.expression()?) } else { None };
        Ok(Statement::Fault(span, text, detail))
    }
}
