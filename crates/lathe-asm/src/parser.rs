//! Parses expressions, with C's precedence, and presents lines of instructions to the matcher of forms.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use lathe_base::numbers::NameSet;
use lathe_base::{Diagnostic, Span, limits};
use lathe_isa::language::ast::{Binary, Unary};
use lathe_isa::matching::{Found, Line};
use lathe_isa::model::{Assembly, Field};
use lathe_isa::pseudo::Arithmetic;
use lathe_isa::syntax::Digits;

use crate::codes;
use crate::expression::{ExprId, Expressions, NodeKind};
use crate::program::Texts;
use crate::symbols::{Definition, SymbolId, Symbols};
use crate::tokens::{Kind, Token, text_bytes};
use crate::words::{in_small_letters, local};

/// What reading a line needs of the program.
pub(crate) struct Names<'p> {
    pub(crate) texts: &'p Texts,
    pub(crate) expressions: &'p mut Expressions,
    pub(crate) symbols: &'p mut Symbols,
    pub(crate) context: &'p Context,
}

/// What names mean on the current line.
#[derive(Default)]
pub(crate) struct Context {
    /// Registers and other names of the machine, in lowercase, which labels cannot have.
    pub(crate) reserved: NameSet,
    /// What local labels belong to.
    pub(crate) owner: String,
    /// The macros and repetitions around the line, which have local labels of their own.
    pub(crate) scopes: Vec<Scope>,
    /// How many anonymous labels there have been.
    pub(crate) anonymous: u32,
    /// How often each numbered label has been defined.
    pub(crate) numbered: HashMap<String, u32>,
    /// What the machine adds to expressions.
    pub(crate) habits: Assembly,
    /// What `$` stands for: an unnamed label at the address of the line. The expression may be evaluated elsewhere, in
    /// a constant or in a later instruction of the same line.
    pub(crate) here: Option<SymbolId>,
}

impl Context {
    /// Returns the full name of the local label `.local`, written at `place`.
    pub(crate) fn local_name(&self, local: &str, place: Span) -> String {
        let inside = |body: Span| body.file == place.file && body.start <= place.start && place.end <= body.end;
        let own = |scope: &&Scope| scope.labels.contains(local) && inside(scope.body);
        let scope = self.scopes.iter().rev().find(own);
        format!("{}.{local}", scope.map_or(&self.owner, |scope| &scope.prefix))
    }

    /// Returns the name of the numbered label that `1b` or `1f` means.
    fn numbered_name(&self, word: &str) -> Option<String> {
        let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = word.strip_suffix(['b', 'f']).filter(is_number)?;
        let before = self.numbered.get(number).copied().unwrap_or(0);
        Some(numbered_label(number, if word.ends_with('f') { before + 1 } else { before }))
    }

    /// Returns the machine's function of this name.
    fn function(&self, name: &str) -> Option<&Arithmetic> {
        named(&self.habits.functions, name)
    }

    /// Whether a word is a name of the machine, in either case.
    pub(crate) fn is_reserved(&self, word: &str) -> bool {
        self.reserved.contains(&*in_small_letters(word))
    }
}

fn named<'a>(list: &'a [(String, Arithmetic)], name: &str) -> Option<&'a Arithmetic> {
    list.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

/// Returns the name of the label `1:` for its `times`th definition.
pub(crate) fn numbered_label(number: &str, times: u32) -> String {
    format!(":{number}:{times}")
}

/// A use of a macro, or a turn of a repetition, with its own local labels.
pub(crate) struct Scope {
    pub(crate) prefix: String,
    pub(crate) labels: Rc<HashSet<String>>,
    /// Where its lines are. Text from elsewhere was passed as an argument and means the caller's labels.
    pub(crate) body: Span,
}

/// Why no expression could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoExpression {
    pub(crate) span: Span,
    pub(crate) problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// What was expected.
    Expected(&'static str),
    /// A name of the machine, not of the program.
    Register,
    TooDeep,
}

/// A line being read, from a position on.
pub(crate) struct Reading<'t, 'p> {
    pub(crate) tokens: &'t [Token],
    pub(crate) at: usize,
    pub(crate) names: Names<'p>,
    /// The deepest failure of an expression so far, for the message.
    pub(crate) failure: Option<NoExpression>,
    /// The last expression read as an operand, with its beginning and end. Several forms want one at the same place.
    last: Option<(usize, ExprId, usize)>,
    depth: usize,
    /// What the forms of the line depend on.
    pub(crate) chosen_by: ChosenBy,
}

/// What determines the forms of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChosenBy {
    /// Its own text.
    Text,
    /// Also the values that its names have so far.
    Values,
    /// Which names other lines have defined so far.
    OtherLines,
}

#[rustfmt::skip]
const OPERATORS: [(&str, u8, Binary); 18] = [
    ("||", 1, Binary::Either),
    ("&&", 2, Binary::Both),
    ("|",  3, Binary::Or),
    ("^",  4, Binary::Xor),
    ("&",  5, Binary::And),
    ("==", 6, Binary::Equal),       ("!=", 6, Binary::Unequal),
    ("<=", 7, Binary::LessOrEqual), (">=", 7, Binary::GreaterOrEqual),
    ("<<", 8, Binary::ShiftLeft),   (">>", 8, Binary::ShiftRight),
    ("<",  7, Binary::Less),        (">",  7, Binary::Greater),
    ("+",  9, Binary::Add),         ("-",  9, Binary::Subtract),
    ("*", 10, Binary::Multiply),    ("/", 10, Binary::Divide),      ("%", 10, Binary::Remainder),
];

impl<'t, 'p> Reading<'t, 'p> {
    pub(crate) fn new(tokens: &'t [Token], names: Names<'p>) -> Self {
        Reading { tokens, at: 0, names, failure: None, last: None, depth: 0, chosen_by: ChosenBy::Text }
    }

    pub(crate) fn peek(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(crate) fn source_text(&self, token: Token) -> &'p str {
        self.names.texts.of(token)
    }

    /// Returns the place of the next token, or the end of the line.
    pub(crate) fn place(&self) -> Span {
        self.peek().map_or_else(|| self.end(), |token| token.span)
    }

    /// Returns the end of the line.
    pub(crate) fn end(&self) -> Span {
        self.tokens.last().map_or(Span::default(), |last| Span { start: last.span.end, ..last.span })
    }

    /// Describes what is at a position, for a message.
    pub(crate) fn found(&self, at: usize) -> String {
        self.tokens.get(at).map_or("the end of the line".to_owned(), |token| format!("`{}`", self.source_text(*token)))
    }

    /// Returns the diagnostic for an expression that cannot be read.
    pub(crate) fn no_expression(&self, failure: &NoExpression) -> Diagnostic {
        let at = self.tokens.iter().position(|token| token.span == failure.span).unwrap_or(self.tokens.len());
        let found = self.found(at);
        let (code, message, help) = match failure.problem {
            Problem::Expected(what) => {
                let help = if what.starts_with('`') {
                    "close what was opened"
                } else {
                    "write a number, a name or an expression"
                };
                let before = at.checked_sub(1).map(|at| self.tokens[at]);
                let after = before.filter(|token| matches!(token.kind, Kind::Mark(_)) && what == "a value");
                let after = after.map_or(String::new(), |token| format!(" after `{}`", self.source_text(token)));
                (codes::EXPECTED, format!("expected {what}{after}, found {found}"), help)
            }
            Problem::Register => {
                let message = format!("the register {found} has no value while the program is assembled");
                (codes::EXPECTED, message, "write a number or a label")
            }
            Problem::TooDeep => {
                (codes::TOO_DEEP, "this expression is nested too deeply".to_owned(), "split it with `name = …`")
            }
        };
        Diagnostic::new(code, failure.span, message).help(help)
    }

    pub(crate) fn take_mark(&mut self, mark: char) -> bool {
        let found = self.peek().is_some_and(|token| token.is_mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Takes the next token if it is a word.
    pub(crate) fn take_word(&mut self) -> Option<Token> {
        let token = self.peek().filter(|token| token.kind == Kind::Word)?;
        self.at += 1;
        Some(token)
    }

    fn fail<T>(&mut self, problem: Problem) -> Result<T, NoExpression> {
        let failure = NoExpression { span: self.place(), problem };
        if self.failure.as_ref().is_none_or(|known| known.span.start <= failure.span.start) {
            self.failure = Some(failure.clone());
        }
        Err(failure)
    }

    pub(crate) fn expression(&mut self) -> Result<ExprId, NoExpression> {
        if self.depth >= limits::NESTING {
            return self.fail(Problem::TooDeep);
        }
        self.depth += 1;
        let result = self.choice();
        self.depth -= 1;
        result
    }

    fn choice(&mut self) -> Result<ExprId, NoExpression> {
        let condition = self.climb(1)?;
        if !self.take_mark('?') {
            return Ok(condition);
        }
        let first = self.expression()?;
        if !self.take_mark(':') {
            return self.fail(Problem::Expected("`:`"));
        }
        let second = self.expression()?;
        let span = joined(self.span(condition), self.span(second));
        Ok(self.names.expressions.add(NodeKind::Choice(condition, first, second), span))
    }

    fn span(&self, id: ExprId) -> Span {
        self.names.expressions.span(id)
    }

    fn climb(&mut self, lowest: u8) -> Result<ExprId, NoExpression> {
        let mut left = self.unary()?;
        while let Some((length, level, operator)) = self.operator().filter(|(_, level, _)| *level >= lowest) {
            self.at += length;
            if self.depth >= limits::NESTING {
                return self.fail(Problem::TooDeep);
            }
            self.depth += 1;
            let right = self.climb(level + 1);
            self.depth -= 1;
            let right = right?;
            let span = joined(self.span(left), self.span(right));
            left = self.names.expressions.add(NodeKind::Binary(operator, left, right), span);
        }
        Ok(left)
    }

    /// Returns the next operator's number of marks, precedence and meaning.
    fn operator(&self) -> Option<(usize, u8, Binary)> {
        let first = self.peek()?;
        if let Some(found) = self.operator_here() {
            return Some(found);
        }
        let Kind::Mark(mark) = first.kind else { return None };
        let second = self
            .tokens
            .get(self.at + 1)
            .filter(|second| first.touches(**second))
            .and_then(|second| if let Kind::Mark(mark) = second.kind { Some(mark) } else { None });
        OPERATORS.iter().find_map(|(text, level, operator)| {
            let mut chars = text.chars();
            let fits = chars.next() == Some(mark) && chars.next().is_none_or(|wanted| second == Some(wanted));
            fits.then_some((text.len(), *level, *operator))
        })
    }

    /// Returns the next operator if only this machine's programs have it.
    fn operator_here(&self) -> Option<(usize, u8, Binary)> {
        let mut operators = self.names.context.habits.operators.iter();
        let (length, means) = operators.find_map(|(written, means)| {
            let mut rest = written.as_str();
            let mut length = 0;
            while !rest.is_empty() {
                let token = *self.tokens.get(self.at + length)?;
                let touches = length == 0 || self.tokens[self.at + length - 1].touches(token);
                let text = Some(self.source_text(token)).filter(|_| touches)?;
                let same = rest.get(..text.len())?.eq_ignore_ascii_case(text);
                rest = Some(&rest[text.len()..]).filter(|_| same)?;
                length += 1;
            }
            // `==` is not two `=`.
            let next = self.tokens.get(self.at + length).filter(|next| next.is_mark('='));
            next.is_none().then_some((length, means))
        })?;
        let found = OPERATORS.iter().find(|(text, ..)| text == means);
        found.map(|(_, level, operator)| (length, *level, *operator))
    }

    fn unary(&mut self) -> Result<ExprId, NoExpression> {
        let Some(token) = self.peek() else { return self.fail(Problem::Expected("a value")) };
        let operator = match token.kind {
            Kind::Mark('-') => Unary::Negate,
            Kind::Mark('~') => Unary::Complement,
            Kind::Mark('!') => Unary::Not,
            Kind::Mark('+') => {
                self.at += 1;
                return self.deeper(Self::unary);
            }
            Kind::Mark(mark @ ('<' | '>')) => {
                self.at += 1;
                let inner = self.deeper(Self::unary)?;
                let span = joined(token.span, self.span(inner));
                let (high, low) = if mark == '<' { (7, 0) } else { (15, 8) };
                return Ok(self.names.expressions.add(NodeKind::Slice(inner, high, low), span));
            }
            _ => return self.postfix(),
        };
        self.at += 1;
        let inner = self.deeper(Self::unary)?;
        let span = joined(token.span, self.span(inner));
        Ok(self.names.expressions.add(NodeKind::Unary(operator, inner), span))
    }

    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> Result<T, NoExpression>) -> Result<T, NoExpression> {
        if self.depth >= limits::NESTING {
            return self.fail(Problem::TooDeep);
        }
        self.depth += 1;
        let result = inside(self);
        self.depth -= 1;
        result
    }

    /// Reads a value, perhaps with bits taken from it: `x[7:4]`, the bracket touching the value.
    fn postfix(&mut self) -> Result<ExprId, NoExpression> {
        let mut value = self.primary()?;
        while let Some((high, low, length)) = self.slice() {
            let span = joined(self.span(value), self.tokens[self.at + length - 1].span);
            self.at += length;
            value = self.names.expressions.add(NodeKind::Slice(value, high, low), span);
        }
        Ok(value)
    }

    fn slice(&self) -> Option<(u8, u8, usize)> {
        let before = self.at.checked_sub(1).map(|at| self.tokens[at])?;
        let rest = &self.tokens[self.at..];
        let bit = |token: &Token| match token.kind {
            Kind::Number(number) => u8::try_from(number).ok().filter(|bit| *bit < 127),
            _ => None,
        };
        match rest {
            [open, high, colon, low, close, ..]
                if open.is_mark('[') && before.touches(*open) && colon.is_mark(':') && close.is_mark(']') =>
            {
                let (high, low) = (bit(high)?, bit(low)?);
                (high >= low).then_some((high, low, 5))
            }
            _ => None,
        }
    }

    fn primary(&mut self) -> Result<ExprId, NoExpression> {
        let Some(token) = self.peek() else { return self.fail(Problem::Expected("a value")) };
        match token.kind {
            Kind::Number(number) => {
                self.at += 1;
                Ok(self.names.expressions.number(number, token.span))
            }
            Kind::Word => self.word_value(token),
            Kind::Text => self.text_value(token),
            Kind::Mark('(') => {
                self.at += 1;
                let inner = self.expression()?;
                if !self.take_mark(')') {
                    return self.fail(Problem::Expected("`)`"));
                }
                Ok(inner)
            }
            Kind::Mark(mark) if is_here(mark, &self.names.context.habits) => {
                let Some(here) = self.names.context.here else { return self.fail(Problem::Expected("a value")) };
                self.at += 1;
                Ok(self.names.expressions.add(NodeKind::Symbol(here), token.span))
            }
            Kind::Mark(':') => self.anonymous(token),
            Kind::Mark('%') => self.machine_function(token),
            _ => self.fail(Problem::Expected("a value")),
        }
    }

    /// Reads `%hi(x)`: a function of the definition.
    fn machine_function(&mut self, percent: Token) -> Result<ExprId, NoExpression> {
        let name = self.tokens.get(self.at + 1).filter(|name| percent.touches(**name)).copied();
        let word = name.filter(|name| name.kind == Kind::Word).map(|name| format!("%{}", self.source_text(name)));
        let Some(value) = word.and_then(|word| self.names.context.function(&word)) else {
            return self.fail(Problem::Expected("a value"));
        };
        self.at += 2;
        if !self.take_mark('(') {
            return self.fail(Problem::Expected("`(`"));
        }
        self.machine_argument(value, percent)
    }

    /// Reads the argument of a function of the definition, and applies the function.
    fn machine_argument(&mut self, value: &Arithmetic, function: Token) -> Result<ExprId, NoExpression> {
        let argument = self.deeper(Self::expression)?;
        if !self.take_mark(')') {
            return self.fail(Problem::Expected("`)`"));
        }
        Ok(self.names.expressions.arithmetic(value, function.span, &mut |_, _| argument))
    }

    /// Reads a text of one to fifteen bytes as a number, the first byte highest.
    fn text_value(&mut self, token: Token) -> Result<ExprId, NoExpression> {
        let bytes = text_bytes(self.source_text(token)).unwrap_or_default();
        if bytes.is_empty() || bytes.len() > 15 {
            return self.fail(Problem::Expected("a number"));
        }
        self.at += 1;
        let number = bytes.iter().fold(0i128, |number, byte| (number << 8) | i128::from(*byte));
        Ok(self.names.expressions.number(number, token.span))
    }

    /// Reads `:+`, `:--` and so on.
    fn anonymous(&mut self, colon: Token) -> Result<ExprId, NoExpression> {
        let mut last = colon;
        let mut count = 0u32;
        let Some(Kind::Mark(direction @ ('+' | '-'))) = self.tokens.get(self.at + 1).map(|token| token.kind) else {
            return self.fail(Problem::Expected("a value"));
        };
        self.at += 1;
        while let Some(next) = self.peek().filter(|next| next.is_mark(direction) && last.touches(*next)) {
            last = next;
            count += 1;
            self.at += 1;
        }
        let number = match direction {
            '+' => self.names.context.anonymous.checked_add(count),
            _ => (self.names.context.anonymous + 1).checked_sub(count).filter(|number| *number > 0),
        };
        let name = format!(":{}", number.unwrap_or(0));
        Ok(self.symbol(&name, joined(colon.span, last.span)))
    }

    fn symbol(&mut self, name: &str, span: Span) -> ExprId {
        let id = self.names.symbols.intern(name, span);
        self.names.symbols.entry_mut(id).used = true;
        self.names.expressions.add(NodeKind::Symbol(id), span)
    }

    fn word_value(&mut self, token: Token) -> Result<ExprId, NoExpression> {
        let word = self.source_text(token);
        let called = self.tokens.get(self.at + 1).is_some_and(|next| next.is_mark('(') && token.touches(*next));
        if called && let Some(result) = self.call(token, word) {
            return result;
        }
        if let Some(value) = named(&self.names.context.habits.unary, word)
            && self.tokens.get(self.at + 1).is_some_and(|next| next.begins_value())
        {
            self.at += 1;
            let operand = self.deeper(Self::unary)?;
            return Ok(self.names.expressions.arithmetic(value, token.span, &mut |_, _| operand));
        }
        if self.names.context.is_reserved(word) {
            return self.fail(Problem::Register);
        }
        self.at += 1;
        if let Some(name) = self.names.context.numbered_name(word) {
            return Ok(self.symbol(&name, token.span));
        }
        if let Some(local) = local(word, &self.names.context.habits) {
            let name = self.names.context.local_name(local, token.span);
            return Ok(self.symbol(&name, token.span));
        }
        Ok(self.symbol(word, token.span))
    }

    /// Reads a call of a function of the definition, `lo(x)`, `hi(x)`, `len("…")` or `defined(x)`; `None` for any other
    /// name.
    fn call(&mut self, token: Token, word: &str) -> Option<Result<ExprId, NoExpression>> {
        if let Some(value) = self.names.context.function(word) {
            self.at += 2;
            return Some(self.machine_argument(value, token));
        }
        let function = match word.to_ascii_lowercase().as_str() {
            "lo" => Function::Bits(7, 0),
            "hi" => Function::Bits(15, 8),
            "len" => Function::Length,
            "defined" | "def" => Function::Defined,
            _ => return None,
        };
        self.at += 2;
        let result = self.deeper(|reading| reading.argument(function, token));
        Some(result.and_then(|id| if self.take_mark(')') { Ok(id) } else { self.fail(Problem::Expected("`)`")) }))
    }

    fn argument(&mut self, function: Function, token: Token) -> Result<ExprId, NoExpression> {
        match function {
            Function::Bits(high, low) => {
                let inner = self.expression()?;
                Ok(self.names.expressions.add(NodeKind::Slice(inner, high, low), token.span))
            }
            Function::Length => {
                let Some(text) = self.peek().filter(|token| token.kind == Kind::Text) else {
                    return self.fail(Problem::Expected("a text in quotes"));
                };
                self.at += 1;
                let length = text_bytes(self.source_text(text)).map_or(0, |bytes| bytes.len());
                Ok(self.names.expressions.number(length as i128, token.span))
            }
            Function::Defined => {
                let Some(name) = self.take_word() else { return self.fail(Problem::Expected("a name")) };
                self.chosen_by = ChosenBy::OtherLines;
                let id = self.names.symbols.find(self.source_text(name));
                let defined = id.is_some_and(|id| {
                    self.names.symbols.entry_mut(id).used = true;
                    self.names.symbols.entry(id).definition != Definition::None
                });
                Ok(self.names.expressions.number(i128::from(defined), token.span))
            }
        }
    }
}

/// Whether a mark stands for the current address.
pub(crate) fn is_here(mark: char, habits: &Assembly) -> bool {
    matches!(mark, '$' | '*') || habits.heres.contains(&mark)
}

#[derive(Clone, Copy)]
enum Function {
    Bits(u8, u8),
    Length,
    Defined,
}

/// Returns the smallest span that contains both, if they are in one file; a macro may mix files.
fn joined(first: Span, second: Span) -> Span {
    if first.file == second.file { first.to(second) } else { first }
}

impl Line for Reading<'_, '_> {
    type Value = ExprId;
    type Mark = (usize, usize);

    fn mark(&self) -> (usize, usize) {
        (self.at, self.names.expressions.len())
    }

    fn rewind(&mut self, (at, nodes): (usize, usize)) {
        self.at = at;
        self.names.expressions.truncate(nodes);
        self.last = self.last.filter(|(_, expression, _)| (expression.0 as usize) < nodes);
    }

    /// Takes a text of the syntax: one token, or several that touch, such as `add.w` or `st+`.
    fn text(&mut self, text: &str) -> bool {
        let start = self.at;
        let mut rest = text;
        while !rest.is_empty() {
            let Some(token) = self.peek() else { break };
            let glued = self.at == start || self.tokens[self.at - 1].touches(token);
            let found = self.source_text(token);
            let same = rest.get(..found.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(found));
            if !glued || !same || matches!(token.kind, Kind::Text | Kind::Bad(_)) {
                break;
            }
            rest = &rest[found.len()..];
            self.at += 1;
        }
        if !rest.is_empty() {
            self.at = start;
        }
        rest.is_empty()
    }

    fn word(&mut self) -> Option<&str> {
        let token = self.take_word()?;
        Some(self.source_text(token))
    }

    fn named(&mut self, field: &Field) -> Option<Found<ExprId>> {
        let token = self.take_word()?;
        field.bits_named(self.source_text(token)).map(Found::Bits)
    }

    fn value(&mut self) -> Option<ExprId> {
        let start = self.at;
        if let Some((_, expression, end)) = self.last.filter(|(at, ..)| *at == start) {
            self.at = end;
            return Some(expression);
        }
        let expression = self.expression().ok()?;
        self.last = Some((start, expression, self.at));
        Some(expression)
    }

    fn number(&mut self, value: u64) -> ExprId {
        let span = self.at.checked_sub(1).map_or(Span::default(), |at| self.tokens[at].span);
        self.names.expressions.number(value.into(), span)
    }

    fn braced(&mut self, _prefix: &str, _digits: Digits, _suffix: &str) -> Option<ExprId> {
        None
    }

    fn at_end(&mut self) -> bool {
        self.at == self.tokens.len()
    }
}
