//! Rows of tables: instructions, pseudo-instructions, maps, examples. Their first columns are taken as raw text.

use lathe_base::{Diagnostic, Span, limits};

use super::recovery::unmatched_brace;
use super::{Failed, Parsed, Parser};
use crate::codes;
use crate::language::ast::*;
use crate::language::lexer::Token;

/// Returns where the instruction of an example ends: before this `:`. A syntax may have a `:` of its own, as in
/// `call 0x3000:0x10`, so a `:` with a blank before it is looked for first.
pub fn end_of_instruction(line: &str) -> Option<usize> {
    let facts = line.find("->").unwrap_or(line.len());
    line[..facts].rfind(" :").map(|blank| blank + 1).or_else(|| line.find(':'))
}

impl Parser<'_, '_> {
    /// Reads the text from the current token up to one of `stops` or the end of the line. A `#` begins a comment unless
    /// something directly follows it and something precedes it on the line: `lda #N` is a syntax with a number sign.
    fn raw(&mut self, stops: &[&str]) -> (Column, bool) {
        self.raw_at(self.span.start as usize, stops)
    }

    /// Reads the text from the end of the current token up to one of `stops` or the end of the line.
    fn raw_after(&mut self, stops: &[&str]) -> (Column, bool) {
        self.raw_at(self.span.end as usize, stops)
    }

    fn raw_at(&mut self, at: usize, stops: &[&str]) -> (Column, bool) {
        self.raw_before(at, |line| stops.iter().filter_map(|stop| line.find(stop)).min())
    }

    /// Reads the text from a position up to where `stop` says, or the end of the line.
    fn raw_before(&mut self, at: usize, stop: impl Fn(&str) -> Option<usize>) -> (Column, bool) {
        self.cursor.move_to(at);
        let rest = self.cursor.rest();
        let start = at + rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        self.cursor.move_to(start);
        let rest = self.cursor.rest();
        let line = rest.find('\n').unwrap_or(rest.len());
        let stop = stop(&rest[..line]);
        let end = stop.unwrap_or(line);
        let comment = comment_start(&rest[..end]);
        let text = rest[..comment.unwrap_or(end)].trim_end();
        let column = Column { text: text.to_owned(), span: self.cursor.span(start, start + text.len()) };
        let found = stop.is_some() && comment.is_none();
        self.move_to(start + if found { end } else { line });
        (column, found)
    }

    /// Leaves the brace that closes the block, if it is on this line, for the next read.
    fn end_before_brace(&mut self, column: &mut Column) {
        let Some(brace) = unmatched_brace(&column.text, &mut 0) else { return };
        self.move_to(column.span.start as usize + brace);
        column.text.truncate(brace);
        column.text.truncate(column.text.trim_end().len());
        column.span.end = column.span.start + column.text.len() as u32;
    }

    /// Reads the rest of the line as raw text, up to one of `stops`.
    pub(super) fn rest_before(&mut self, stops: &[&str]) -> Column {
        self.raw(stops).0
    }

    /// Reads the rest of the line as raw text, up to the brace that closes the block if it is on this line.
    pub(super) fn rest_of_line(&mut self) -> Column {
        let start = self.span.start as usize;
        self.cursor.move_to(start);
        let rest = self.cursor.rest();
        let line = rest.find('\n').unwrap_or(rest.len());
        let end = unmatched_brace(&rest[..line], &mut 0).unwrap_or(line);
        let text = rest[..comment_start(&rest[..end]).unwrap_or(end)].trim_end();
        let column = Column { text: text.to_owned(), span: self.cursor.span(start, start + text.len()) };
        self.move_to(start + end);
        column
    }

    pub(super) fn instructions(&mut self) -> Parsed<Instructions> {
        let begin = self.last_end;
        let unit = if self.take_word("as") {
            Some((self.ty("as in `instructions as u32 little { … }`")?, self.order()))
        } else {
            None
        };
        let with_cycles = self.take_word("with");
        if with_cycles {
            self.expect_word("cycles", "as in `instructions with cycles { … }`")?;
        }
        let only = self.take_word("only");
        let after = if only || self.is_word("after") {
            let help = "as in `instructions after ix, iy { … }` or `instructions only after ix { … }`";
            self.expect_word("after", help)?;
            let sequences = self.list(|p| {
                let mut sequence = vec![p.name("a prefix", help)?];
                while matches!(p.token, Token::Name(_)) {
                    sequence.push(p.name("a prefix", help)?);
                }
                Ok(sequence)
            })?;
            Some(After { only, sequences })
        } else {
            None
        };
        let start = self.last_end;
        let rows = self.rows("instructions", |p| p.row(with_cycles))?;
        let (head, commented) = (self.cursor.span(begin, start), self.commented(start));
        Ok(Instructions { unit, after, head, commented, rows, documentation: String::new() })
    }

    /// Returns the first words of comments since `start` that have the columns of a row.
    pub(super) fn commented(&self, start: usize) -> Vec<Name> {
        let text = &self.cursor.text()[start..self.last_end.max(start)];
        let mut commented = Vec::new();
        let mut at = start;
        for line in text.split_inclusive('\n') {
            let written = line.trim_start();
            let word = written
                .strip_prefix('#')
                .map_or("", |rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(""));
            if !word.is_empty() && line.matches('|').count() >= 2 {
                let begin = at + line.len() - written.len();
                let span = self.cursor.span(begin, begin + 1 + word.len());
                commented.push(Name { text: word.to_owned(), span });
            }
            at += line.len();
        }
        commented
    }

    fn row(&mut self, with_cycles: bool) -> Parsed<Row> {
        let start = self.span;
        let (heading, documentation) = self.heading_and_documentation();
        let (syntax, found) = self.raw(&["|"]);
        if !found {
            if let Some(mark) = ["//", ";", "/*", "--"].into_iter().find(|mark| syntax.text.starts_with(mark)) {
                let span = Span { end: syntax.span.start + mark.len() as u32, ..syntax.span };
                let message = format!("`{mark}` does not begin a comment here");
                let diagnostic = Diagnostic::new(codes::UNEXPECTED, span, message).help("comments begin with `#`");
                return self.fail_with(diagnostic.safe_fix(span, "#"));
            }
            let message = format!("`{}` has no encoding", syntax.text);
            let help = "a row is `syntax | encoding | meaning`, as in `inc D | 1000 DD00 | D = D + 1`";
            return self.fail(codes::MISSING_COLUMN, syntax.span, message, help);
        }
        self.check_size(&syntax, &documentation)?;
        let (picture, conditions) = self.picture()?;
        let cycles = if with_cycles { Some(self.cycles_column(&syntax)?) } else { None };
        if !self.continues("|") {
            return self.too_few_columns(&syntax, &picture, with_cycles);
        }
        self.advance();
        self.check_no_cycles(with_cycles)?;
        let meaning = self.line_block()?;
        let span = start.to(self.cursor.span(start.start as usize, self.last_end));
        Ok(Row { syntax, picture, conditions, cycles, meaning, span, documentation, heading })
    }

    /// Reads a mode of an operand, or the name of another operand.
    pub(super) fn mode(&mut self) -> Parsed<ModeRow> {
        let start = self.span;
        let documentation = self.take_documentation();
        let (mut syntax, found) = self.raw(&["|"]);
        if !found {
            if syntax.text.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Ok(ModeRow::All(Name { text: syntax.text, span: syntax.span }));
            }
            let message = format!("`{}` has no encoding", syntax.text);
            let help = "a mode is `syntax | encoding | what it is`, as in `(R) | 001 RRR | ram[R]`";
            return self.fail(codes::MISSING_COLUMN, syntax.span, message, help);
        }
        // A row cannot begin with `#`; in quotes it can.
        if let Some(inside) = syntax.text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            syntax.span = Span { start: syntax.span.start + 1, end: syntax.span.end - 1, ..syntax.span };
            syntax.text = inside.to_owned();
        }
        self.check_size(&syntax, &documentation)?;
        let (picture, conditions) = self.picture()?;
        if !self.continues("|") {
            let message = format!("`{}` does not say what the operand is", syntax.text);
            let help = "add a column with a register, a memory cell or a value, as in `(R) | 001 RRR | ram[R]`";
            return self.fail(codes::MISSING_COLUMN, syntax.span, message, help);
        }
        self.advance();
        let meaning = self.line_block()?;
        let span = start.to(self.cursor.span(start.start as usize, self.last_end));
        Ok(ModeRow::Mode(Box::new(Mode { syntax, picture, conditions, meaning, span, documentation })))
    }

    /// Splits the `##` lines since the last row: those directly above this row document it, the others are the heading
    /// of the rows from here on.
    fn heading_and_documentation(&mut self) -> (String, String) {
        let mut lines = std::mem::take(&mut self.cursor.documentation);
        let above = self.cursor.text()[..self.span.start as usize].lines().rev();
        // The first of these lines is the beginning of the row's own line.
        let above =
            above.map(str::trim_start).skip_while(|line| line.is_empty()).take_while(|line| line.starts_with('#'));
        let own = if self.is_below_an_empty_line() { 0 } else { above.filter(|line| line.starts_with("##")).count() };
        let documentation = lines.split_off(lines.len().saturating_sub(own));
        (lines.join("\n"), documentation.join("\n"))
    }

    /// Whether the line above the current one is empty.
    fn is_below_an_empty_line(&self) -> bool {
        let before = self.cursor.text()[..self.span.start as usize].trim_end_matches([' ', '\t']);
        before.trim_end_matches('\r').strip_suffix('\n').is_some_and(|before| {
            before.trim_end_matches([' ', '\t', '\r']).ends_with('\n') || before.trim().is_empty()
        })
    }

    /// Checks that a row does not give cycles in a block without them: no meaning begins with a number and `|`.
    fn check_no_cycles(&mut self, with_cycles: bool) -> Parsed<()> {
        if with_cycles || !matches!(self.token, Token::Number(..)) {
            return Ok(());
        }
        let (span, saved) = (self.span, self.save());
        self.advance();
        let is_column = self.is("|");
        self.restore(saved);
        if is_column {
            let help = "for a column of cycles, begin the table with `instructions with cycles { … }`";
            return self.fail(codes::UNEXPECTED, span, "this row has four columns and not three", help);
        }
        Ok(())
    }

    fn too_few_columns<T>(&mut self, syntax: &Column, picture: &Column, with_cycles: bool) -> Parsed<T> {
        let short = |column: &Column| column.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (help, message) = if with_cycles {
            let help = "a row of `instructions with cycles` is `syntax | encoding | cycles | meaning`; the meaning may \
                        be empty, but its `|` must be there";
            (help, "this row has three columns and not four".to_owned())
        } else {
            let help = "a row is `syntax | encoding | meaning`; the meaning may be empty, but its `|` must be there";
            (help, format!("this row has two columns, `{}` and `{}`, and not three", short(syntax), short(picture)))
        };
        let end = Span { start: picture.span.end, ..picture.span };
        let diagnostic = Diagnostic::new(codes::MISSING_COLUMN, picture.span, message).help(help);
        self.fail_with(if with_cycles { diagnostic } else { diagnostic.fix(end, " |") })
    }

    fn check_size(&mut self, syntax: &Column, documentation: &str) -> Parsed<()> {
        if syntax.text.len() > limits::COLUMN_BYTES {
            let message = format!("a column has at most {} bytes", limits::COLUMN_BYTES);
            return self.fail(codes::TOO_LARGE, syntax.span, message, "write one row for each instruction");
        }
        if documentation.len() > limits::DOCUMENTATION_BYTES {
            let message = format!("the text before this row has more than {} bytes", limits::DOCUMENTATION_BYTES);
            return self.fail(
                codes::TOO_LARGE,
                syntax.span,
                message,
                "write long texts with a single `#`, or elsewhere",
            );
        }
        Ok(())
    }

    /// Whether the row continues with `mark`, possibly at the beginning of the next line.
    fn continues(&mut self, mark: &str) -> bool {
        if self.is(mark) {
            return true;
        }
        let saved = self.save();
        self.skip_newlines();
        if self.is(mark) {
            return true;
        }
        self.restore(saved);
        false
    }

    fn picture(&mut self) -> Parsed<(Column, Vec<Expr>)> {
        let (mut picture, _) = self.raw_after(&["|"]);
        if picture.text.len() > limits::COLUMN_BYTES {
            let message = format!("a column has at most {} bytes", limits::COLUMN_BYTES);
            let help = format!("an instruction has at most {} bits", limits::INSTRUCTION_BITS);
            return self.fail(codes::TOO_LARGE, picture.span, message, &help);
        }
        let Some(at) = picture.text.find("where") else { return Ok((picture, Vec::new())) };
        let start = picture.span.start as usize;
        self.move_to(start + at + "where".len());
        let conditions = self.list(Self::condition)?;
        if conditions.len() > limits::CONDITIONS {
            let message = format!("a row has at most {} conditions", limits::CONDITIONS);
            return self.fail(codes::TOO_MANY, picture.span, message, "give the rows different fixed bits");
        }
        picture.text = picture.text[..at].trim_end().to_owned();
        picture.span = self.cursor.span(start, start + picture.text.len());
        Ok((picture, conditions))
    }

    /// Reads `A != r0`: only these two operators, so that `|` still ends the column.
    fn condition(&mut self) -> Parsed<Expr> {
        let help = "a condition compares a field with a constant, as in `where A != r0`";
        let left = self.operand()?;
        let operator = match &self.token {
            Token::Mark("==") => Binary::Equal,
            Token::Mark("!=") => Binary::Unequal,
            _ => return self.unexpected("`==` or `!=`", help),
        };
        self.advance();
        let right = self.operand()?;
        let span = left.span.to(right.span);
        Ok(Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span })
    }

    fn cycles_column(&mut self, syntax: &Column) -> Parsed<Expr> {
        if !self.continues("|") {
            let message = format!("`{}` has no column for its cycles", syntax.text);
            let help = "in `instructions with cycles` a row is `syntax | encoding | cycles | meaning`";
            return self.fail(codes::MISSING_COLUMN, syntax.span, message, help);
        }
        self.advance();
        self.column_expression()
    }

    pub(super) fn map(&mut self) -> Parsed<Map> {
        let memory = self.name("a memory", "as in `map ram { … }`")?;
        let code = self.take_word("with");
        if code {
            self.expect_word("code", "`map ram with code { … }` fetches instructions through the map")?;
        }
        let rows = self.rows("mapped addresses", |p| {
            let (start, above) = (p.span, p.take_documentation());
            let help = "a row is `address | what a read gives | what a write does`";
            let first = p.operand()?;
            let last = if p.take("..") { Some(p.operand()?) } else { None };
            p.expect("|", help)?;
            let read = if p.is("|") { None } else { Some(p.column_expression()?) };
            p.expect("|", help)?;
            let write = p.line_block()?;
            let documentation = joined(&above, &p.take_documentation());
            let is_empty = write.statements.is_empty() && write.value.is_none();
            let span = start.to(p.cursor.span(start.start as usize, p.last_end));
            Ok(MapRow { first, last, read, write: (!is_empty).then_some(write), span, documentation })
        })?;
        Ok(Map { memory, code, rows, documentation: String::new() })
    }

    pub(super) fn pseudo(&mut self) -> Parsed<Pseudo> {
        let help = "as in `mov D, S => sub D, D; add D, S`";
        let documentation = self.take_documentation();
        let (syntax, found) = self.raw(&["=>"]);
        if !found {
            let message = format!("`{}` has no `=>` with the instructions it stands for", syntax.text);
            return self.fail(codes::MISSING_COLUMN, syntax.span, message, help);
        }
        let mut expansion = Vec::new();
        loop {
            let (mut part, more) = self.raw_after(&[";"]);
            self.end_before_brace(&mut part);
            if !part.text.is_empty() {
                expansion.push(part);
            }
            if !more {
                break;
            }
            if expansion.len() > limits::EXPANSION {
                let message = format!("a pseudo-instruction stands for at most {} instructions", limits::EXPANSION);
                return self.fail(codes::TOO_MANY, syntax.span, message, "make it shorter");
            }
        }
        if expansion.is_empty() {
            return self.fail(codes::MISSING_COLUMN, syntax.span, "there is nothing after `=>`", help);
        }
        Ok(Pseudo { syntax, expansion, documentation })
    }

    pub(super) fn example(&mut self) -> Parsed<Example> {
        let help = "as in `sub a, b : a = 5, b = 3 -> a = 2`";
        let documentation = self.take_documentation();
        let (source, found) = self.raw_before(self.span.start as usize, end_of_instruction);
        if !found {
            let message = "an example needs `:` after the instruction";
            self.report(Diagnostic::new(codes::MISSING_COLUMN, source.span, message).help(help));
            return Err(Failed);
        }
        self.advance();
        let before = if self.is("->") { Vec::new() } else { self.list(Self::fact)? };
        self.expect("->", help)?;
        let after = self.list(Self::fact)?;
        Ok(Example { source, before, after, documentation })
    }

    fn fact(&mut self) -> Parsed<Fact> {
        let help = "a fact is `a = 5`, `ram[5] = 6`, `input 65`, `output 65`, `halted`, `running` or `fault`";
        let name = self.name("a register, a memory cell, input, output or a status", help)?;
        match name.text.as_str() {
            "input" => return Ok(Fact::Input(name.span, self.bytes()?)),
            "output" => return Ok(Fact::Output(name.span, self.bytes()?)),
            "halted" | "running" | "fault" => return Ok(Fact::Status(name)),
            _ => {}
        }
        let address = if self.take("[") {
            let address = self.expression()?;
            self.expect("]", help)?;
            Some(address)
        } else {
            None
        };
        self.expect("=", help)?;
        let value = self.expression()?;
        Ok(match address {
            Some(address) => Fact::Cell(name, address, value),
            None => Fact::Register(name, value),
        })
    }

    /// Reads consecutive numbers: `input 65 66`.
    fn bytes(&mut self) -> Parsed<Vec<Expr>> {
        let mut bytes = vec![self.operand()?];
        while matches!(self.token, Token::Number(_)) {
            bytes.push(self.operand()?);
        }
        Ok(bytes)
    }
}

/// Joins the `##` lines above something and what follows it on its own line.
pub(super) fn joined(above: &str, after: &str) -> String {
    [above, after].into_iter().filter(|lines| !lines.is_empty()).collect::<Vec<_>>().join("\n")
}

fn comment_start(line: &str) -> Option<usize> {
    line.char_indices().filter(|(_, c)| *c == '#').map(|(at, _)| at).find(|at| {
        let follows = line[at + 1..].chars().next();
        *at == 0 || follows.is_none_or(|c| c.is_whitespace() || c == '#')
    })
}
