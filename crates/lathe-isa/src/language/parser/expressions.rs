//! Expressions, by precedence climbing. The order is that of most newer languages, not of C: in `a & b == c` the
//! comparison comes last; `++` binds tighter than `&` and looser than shifts.

use lathe_base::{Diagnostic, Span, limits};

use super::{Parsed, Parser, TextKind};
use crate::codes;
use crate::language::ast::*;
use crate::language::lexer::Token;

#[rustfmt::skip]
const OPERATORS: [(&str, u8, Binary); 19] = [
    ("||", 1, Binary::Either),
    ("&&", 2, Binary::Both),
    ("==", 3, Binary::Equal),     ("!=", 3, Binary::Unequal),
    ("<=", 3, Binary::LessOrEqual), ("<", 3, Binary::Less),
    (">=", 3, Binary::GreaterOrEqual), (">", 3, Binary::Greater),
    ("|",  4, Binary::Or),
    ("^",  5, Binary::Xor),
    ("&",  6, Binary::And),
    ("++", 7, Binary::Join),
    ("<<", 8, Binary::ShiftLeft), (">>", 8, Binary::ShiftRight),
    ("+",  9, Binary::Add),       ("-",  9, Binary::Subtract),
    ("*", 10, Binary::Multiply),  ("/", 10, Binary::Divide),   ("%", 10, Binary::Remainder),
];

/// The lowest precedence above `|`, which ends a column.
const ABOVE_BAR: u8 = 5;

impl Binary {
    /// Whether this is how an operator for whole numbers is written.
    pub fn is_written(text: &str) -> bool {
        OPERATORS.iter().any(|(written, _, operator)| *written == text && *operator != Binary::Join)
    }
}

impl Parser<'_, '_> {
    /// Reads any expression.
    pub(crate) fn expression(&mut self) -> Parsed<Expr> {
        self.counted(Self::choice)
    }

    /// Reads an expression or a part of one; the outermost restarts the count of operators.
    fn counted(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        if self.expressions == 0 {
            self.operators = 0;
        }
        self.expressions += 1;
        let expr = read(self);
        self.expressions -= 1;
        expr
    }

    fn choice(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let condition = p.climb(1)?;
            if !p.take("?") {
                return Ok(condition);
            }
            p.skip_newlines();
            let first = p.expression()?;
            p.skip_newlines();
            p.expect(":", "as in `a == 0 ? b : c`")?;
            p.skip_newlines();
            let second = p.expression()?;
            let span = condition.span.to(second.span);
            Ok(Expr { kind: ExprKind::Choice(Box::new(condition), Box::new(first), Box::new(second)), span })
        })
    }

    /// Reads an expression in a column: a `|` ends it.
    pub(super) fn column_expression(&mut self) -> Parsed<Expr> {
        self.counted(|p| p.climb(ABOVE_BAR))
    }

    /// Counts an operator: operators in a sequence nest in the tree, too.
    fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators <= limits::OPERATORS {
            return Ok(());
        }
        let (span, message) = (self.span, format!("an expression has at most {} operators", limits::OPERATORS));
        self.fail(codes::TOO_DEEP, span, message, "split it with `let` or a function")
    }

    /// Reads a name, a number, or something in parentheses.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        self.counted(|p| p.nested(Self::unary))
    }

    fn climb(&mut self, lowest: u8) -> Parsed<Expr> {
        let mut left = self.nested(Self::unary)?;
        while let Some((level, operator)) = self.operator().filter(|(level, _)| *level >= lowest) {
            self.count_operator()?;
            let mark = self.span;
            self.advance();
            if self.is("=") && mark.end == self.span.start {
                return self.compound_assignment(&left, mark);
            }
            if operator == Binary::Divide && self.is("/") && mark.end == self.span.start {
                (self.token, self.span) = (Token::Mark("/"), mark);
                self.cursor.move_to(mark.end as usize);
                return self.foreign_comment("//");
            }
            self.skip_newlines();
            if self.at_next_row() || (operator == Binary::Join && !self.begins_value()) {
                let counts_up = operator == Binary::Join && matches!(left.kind, ExprKind::Name(_));
                if counts_up && matches!(self.token, Token::Newline | Token::End | Token::Mark(";" | "}")) {
                    let name = &self.cursor.text()[left.span.range()];
                    let (found, span) = self.found();
                    let diagnostic =
                        Diagnostic::new(codes::UNEXPECTED, span, format!("expected a value, found {found}"));
                    let fix = format!("{name} = {name} + 1");
                    return self.fail_with(diagnostic.help(operator_help(operator)).fix(left.span.to(mark), fix));
                }
                return self.unexpected("a value", operator_help(operator));
            }
            let right = self.nested(|p| p.climb(level + 1))?;
            let span = left.span.to(right.span);
            if operator == Binary::Join {
                self.check_join(&left, &right, span);
            }
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        self.check_no_word_operator()?;
        Ok(left)
    }

    /// Reports `a += 1`: `left` and the operator at `mark` have been read.
    fn compound_assignment<T>(&mut self, left: &Expr, mark: Span) -> Parsed<T> {
        let text = self.cursor.text();
        let (name, operator) = (&text[left.span.range()], &text[mark.range()]);
        let whole = mark.to(self.span);
        let diagnostic = Diagnostic::new(codes::UNEXPECTED, whole, format!("there is no `{operator}=`"));
        let diagnostic = diagnostic.help(format!("write `{name} = {name} {operator} …`"));
        // Without parentheses, the operator could apply to only a part of what follows.
        let rest = text[self.span.end as usize..].lines().next().unwrap_or("");
        let is_single = rest.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
        let fix = format!("= {name} {operator}");
        self.fail_with(if is_single { diagnostic.safe_fix(whole, fix) } else { diagnostic.fix(whole, fix) })
    }

    /// Reports `a and b`: operators are marks.
    fn check_no_word_operator(&mut self) -> Parsed<()> {
        let Token::Name(word) = &self.token else { return Ok(()) };
        let meant = match word.as_str() {
            "and" => "`&&` for conditions, `&` for all bits of two values",
            "or" => "`||` for conditions, `|` for all bits of two values",
            "xor" => "`^` for all bits of two values",
            "mod" => "`%` for the remainder",
            _ => return Ok(()),
        };
        let (span, message) = (self.span, format!("`{word}` is not an operator"));
        self.fail(codes::UNEXPECTED, span, message, &format!("write {meant}"))
    }

    /// Reports `not a`. With parentheses, `not` could be a function.
    fn check_no_word_not(&mut self) -> Parsed<()> {
        let (saved, span) = (self.save(), self.span);
        self.advance();
        if matches!(self.token, Token::Name(_) | Token::Number(_)) {
            let help = "write `!` for a condition, `~` for all bits of a value";
            return self.fail(codes::UNEXPECTED, span, "`not` is not an operator", help);
        }
        self.restore(saved);
        Ok(())
    }

    /// Warns about `++` beside arithmetic without parentheses: it binds less tightly than it looks.
    fn check_join(&mut self, left: &Expr, right: &Expr, span: Span) {
        let text = self.cursor.text();
        let is_bare = |side: &Expr| {
            let arithmetic = matches!(
                side.kind,
                ExprKind::Binary(
                    Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Remainder,
                    ..
                )
            );
            arithmetic && !text[..side.span.start as usize].trim_end().ends_with('(')
        };
        let Some(side) = [left, right].into_iter().find(|side| is_bare(side)) else { return };
        let message = "`++` joins the result of this arithmetic, not only the part beside it";
        let grouped = format!("({})", &text[side.span.range()]);
        let diagnostic = Diagnostic::new(codes::UNCLEAR_JOIN, side.span, message).also(span, "what is joined");
        self.report(diagnostic.help(format!("if that is meant, say so: `{grouped}`")).fix(side.span, grouped));
    }

    fn begins_value(&self) -> bool {
        matches!(self.token, Token::Number(_) | Token::Name(_) | Token::Mark("(" | "~" | "-" | "!"))
    }

    fn operator(&self) -> Option<(u8, Binary)> {
        let Token::Mark(mark) = &self.token else { return None };
        OPERATORS.iter().find(|(written, _, _)| written == mark).map(|(_, level, operator)| (*level, *operator))
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let start = self.span;
        let operator = match &self.token {
            Token::Mark("~") => Unary::Complement,
            Token::Mark("-") => Unary::Negate,
            Token::Mark("!") => Unary::Not,
            Token::Name(word) if word == "not" => {
                self.check_no_word_not()?;
                return self.postfix();
            }
            _ => return self.postfix(),
        };
        self.advance();
        let inner = self.nested(Self::unary)?;
        let span = start.to(inner.span);
        Ok(Expr { kind: ExprKind::Unary(operator, Box::new(inner)), span })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut value = self.primary()?;
        while self.is("[") {
            self.count_operator()?;
            value = self.subscript(value)?;
        }
        Ok(value)
    }

    fn subscript(&mut self, value: Expr) -> Parsed<Expr> {
        let help = "as in `x[7:4]` for bits, or `ram[a]` for a memory cell";
        self.enclosed += 1;
        self.advance();
        let high = self.expression();
        let low = match &high {
            Ok(_) if self.take(":") => self.expression().map(Some),
            _ => Ok(None),
        };
        self.enclosed -= 1;
        let (high, low) = (high?, low?);
        let end = self.span;
        self.expect("]", help)?;
        let span = value.span.to(end);
        let (value, high) = (Box::new(value), Box::new(high));
        let kind = match low {
            Some(low) => ExprKind::Slice(value, high, Box::new(low)),
            None => ExprKind::Index(value, high),
        };
        Ok(Expr { kind, span })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let span = self.span;
        match &self.token {
            Token::Number(None) => {
                let help = "write numbers as 42, 0x2A, 0b101010 or 0o52; join longer ones, as in `u64(…) ++ u64(…)`";
                self.fail(codes::BAD_NUMBER, span, "this is not a number of at most 64 bits", help)
            }
            Token::Number(Some(value)) => {
                let value = *value;
                self.advance();
                Ok(Expr { kind: ExprKind::Number(value), span })
            }
            Token::Name(text) => {
                let name = Name { text: text.clone(), span };
                self.advance();
                self.named(name)
            }
            Token::Mark("(") => {
                self.enclosed += 1;
                self.advance();
                let inner = self.expression();
                self.enclosed -= 1;
                let inner = inner?;
                self.expect(")", "close the parenthesis with `)`")?;
                Ok(inner)
            }
            Token::Mark(".") if self.text == TextKind::Prompt => {
                self.advance();
                let name = self.name("a label", "as in `.loop`")?;
                Ok(Expr { kind: ExprKind::Name(format!(".{}", name.text)), span: span.to(name.span) })
            }
            _ => self.unexpected("a value", "write a number, a name, or an expression in parentheses"),
        }
    }

    /// Reads what follows a name: arguments, a method, a width.
    fn named(&mut self, name: Name) -> Parsed<Expr> {
        if self.text != TextKind::Assembly && self.is("(") {
            let (arguments, end) = self.arguments()?;
            let span = name.span.to(end);
            return Ok(Expr { kind: ExprKind::Call(name, arguments), span });
        }
        if !self.take(".") {
            return Ok(Expr { span: name.span, kind: ExprKind::Name(name.text) });
        }
        let is_type = matches!(&self.token, Token::Name(word) if is_type(word));
        if is_type {
            let ty = self.ty("as in `ram.u16[a]`")?;
            if !self.is("[") {
                let span = name.span.to(ty.span);
                return Ok(Expr { kind: ExprKind::Sized(name, ty), span });
            }
            let subscripted = {
                let place = Expr { kind: ExprKind::Name(name.text.clone()), span: name.span };
                self.subscript(place)?
            };
            let span = subscripted.span;
            return match subscripted.kind {
                ExprKind::Index(_, address) => Ok(Expr { kind: ExprKind::Wide(name, ty, address), span }),
                ExprKind::Slice(_, high, low) => {
                    let whole = Expr { span: name.span.to(ty.span), kind: ExprKind::Sized(name, ty) };
                    Ok(Expr { kind: ExprKind::Slice(Box::new(whole), high, low), span })
                }
                _ => self.unexpected("an address", "as in `ram.u16[a]`"),
            };
        }
        let method = self.name("an operation", "as in `console.write(a)` or `ram.u16[a]`")?;
        if self.text == TextKind::Prompt && !self.is("(") {
            let span = name.span.to(method.span);
            return Ok(Expr { kind: ExprKind::Name(format!("{}.{}", name.text, method.text)), span });
        }
        if !self.is("(") {
            let span = name.span.to(method.span);
            return Ok(Expr { kind: ExprKind::Word(name, method), span });
        }
        let (arguments, end) = self.arguments()?;
        let span = name.span.to(end);
        Ok(Expr { kind: ExprKind::Method(name, method, arguments), span })
    }

    fn arguments(&mut self) -> Parsed<(Vec<Expr>, Span)> {
        let help = "arguments are written in parentheses, separated by `,`";
        if !self.is("(") {
            return self.unexpected("`(`", help);
        }
        self.enclosed += 1;
        self.advance();
        let list = if self.is(")") { Ok(Vec::new()) } else { self.list(Self::expression) };
        self.enclosed -= 1;
        let list = list?;
        let end = self.span;
        self.expect(")", help)?;
        Ok((list, end))
    }
}

fn operator_help(operator: Binary) -> &'static str {
    match operator {
        Binary::Join => "`++` joins the bits of two values; to count up, write `a = a + 1`",
        _ => "an operator needs a value on both sides",
    }
}

/// Whether a word is a type, such as `u8` or `uK`.
pub(crate) fn is_type(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(['u', 's']) else { return false };
    let is_number = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
    is_number || (rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_uppercase()))
}
