//! Reads a file of customasm rules into a tree. Nothing here knows what a rule means; text that cannot be read is a
//! finding with its place, and the rest is read all the same.

use super::Finding;

/// The contents of a file.
#[derive(Default)]
pub(super) struct Rules<'s> {
    /// Blocks of rules, in order.
    pub(super) blocks: Vec<Block<'s>>,
    /// `bits`: the width of a cell.
    pub(super) bits: Option<u128>,
    /// `addr` of the first bank.
    pub(super) address: Option<u128>,
    /// `size` of the first bank.
    pub(super) size: Option<u128>,
    /// Constants with numbers.
    pub(super) constants: Vec<(&'s str, u128)>,
    pub(super) findings: Vec<Finding>,
}

/// `#ruledef` or `#subruledef`.
pub(super) struct Block<'s> {
    pub(super) name: Option<&'s str>,
    /// Whether its rules are whole instructions.
    pub(super) is_main: bool,
    pub(super) rules: Vec<Rule<'s>>,
}

/// One rule: its pattern and its production.
pub(super) struct Rule<'s> {
    /// The byte where it begins.
    pub(super) at: usize,
    /// The pattern as it is in the file.
    pub(super) written: &'s str,
    pub(super) pattern: Vec<Piece<'s>>,
    pub(super) production: Production<'s>,
}

/// A part of a pattern.
#[derive(Clone)]
pub(super) struct Piece<'s> {
    /// Whether a blank precedes it.
    pub(super) is_spaced: bool,
    pub(super) kind: PieceKind<'s>,
}

#[derive(Clone)]
pub(super) enum PieceKind<'s> {
    /// A word or mark that stands for itself, in lowercase.
    Text(String),
    Parameter {
        name: &'s str,
        ty: Type<'s>,
    },
}

/// What a parameter takes.
#[derive(Clone, Copy)]
pub(super) enum Type<'s> {
    Any,
    Unsigned(u32),
    Signed(u32),
    Integer(u32),
    Rules(&'s str),
}

pub(super) enum Production<'s> {
    Value(Expr<'s>),
    /// The lines of an `asm` block.
    Assembly(Vec<Vec<Token<'s>>>),
}

pub(super) enum Expr<'s> {
    /// A number, and its size if its digits or a size give one.
    Number(i128, Option<u32>),
    Text,
    Name(&'s str),
    /// `$`: the address of the instruction.
    Here,
    Unary(&'s str, Box<Expr<'s>>),
    Binary(&'s str, Box<Expr<'s>>, Box<Expr<'s>>),
    Slice(Box<Expr<'s>>, Box<Expr<'s>>, Box<Expr<'s>>),
    Size(Box<Expr<'s>>, Box<Expr<'s>>),
    Call(&'s str, Vec<Expr<'s>>),
    Assign(&'s str, Box<Expr<'s>>),
    Block(Vec<Expr<'s>>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'s> {
    pub(super) text: &'s str,
    pub(super) at: usize,
    /// Whether a blank, a comment or the end of a line precedes it.
    pub(super) is_spaced: bool,
    begins_line: bool,
}

/// The deepest nesting of expressions and blocks.
const DEPTH: usize = 48;
const MARKS: [&str; 9] = ["=>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];

/// Reads a file.
pub(super) fn read(text: &str) -> Rules<'_> {
    let tokens = tokens(text);
    let mut reader = Reader { text, tokens: &tokens, at: 0, rules: Rules::default(), has_program: false };
    while reader.at < tokens.len() {
        reader.item();
    }
    reader.rules
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut is_spaced, mut begins_line) = (0, true, true);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match first {
            '\n' | '\r' => {
                (is_spaced, begins_line) = (true, true);
                at += 1;
                continue;
            }
            ';' => {
                at += comment(rest);
                is_spaced = true;
                continue;
            }
            _ if first.is_whitespace() => {
                is_spaced = true;
                at += first.len_utf8();
                continue;
            }
            '"' => rest[1..].find(['"', '\n']).map_or(rest.len(), |end| end + 2).min(rest.len()),
            _ if first.is_alphanumeric() || first == '_' => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ if MARKS.iter().any(|mark| rest.starts_with(mark)) => 2,
            _ => first.len_utf8(),
        };
        tokens.push(Token { text: &rest[..length], at, is_spaced, begins_line });
        (is_spaced, begins_line) = (false, false);
        at += length;
    }
    tokens
}

/// Returns the length of a comment: to the end of the line, or from `;*` to its `*;`, which nest.
fn comment(text: &str) -> usize {
    if !text.starts_with(";*") {
        return text.find('\n').unwrap_or(text.len());
    }
    let (mut depth, mut at) = (1, 2);
    while depth > 0 {
        let rest = &text[at..];
        let Some(next) = rest.find([';', '*']) else { return text.len() };
        let (change, length) = match &rest[next..] {
            inner if inner.starts_with(";*") => (1, 2),
            inner if inner.starts_with("*;") => (-1, 2),
            _ => (0, 1),
        };
        depth += change;
        at += next + length;
    }
    at
}

struct Reader<'t, 's> {
    text: &'s str,
    tokens: &'t [Token<'s>],
    at: usize,
    rules: Rules<'s>,
    has_program: bool,
}

impl<'t, 's> Reader<'t, 's> {
    fn word(&self, ahead: usize) -> &'s str {
        self.tokens.get(self.at + ahead).map_or("", |token| token.text)
    }

    fn find(&mut self, at: usize, message: impl Into<String>) {
        self.rules.findings.push(Finding { at, message: message.into() });
    }

    fn item(&mut self) {
        let first = self.tokens[self.at];
        if first.text != "#" {
            return self.program_line(first.at);
        }
        let directive = self.word(1);
        match directive {
            "ruledef" | "subruledef" => {
                self.at += 2;
                self.block(directive == "ruledef");
            }
            "bankdef" => {
                self.at += 2;
                self.bank();
            }
            "bits" => {
                self.rules.bits = self.rules.bits.or(number(self.word(2)).map(|(value, _)| value));
                self.skip_line();
            }
            "once" | "bank" | "noemit" => self.skip_line(),
            "const" => {
                self.at += 2;
                if self.word(0) == "(" {
                    self.at += self.tokens[self.at..].iter().take_while(|token| token.text != ")").count() + 1;
                }
                self.constant();
            }
            "include" => {
                self.find(first.at, format!("#include {}: put its rules into this file", self.word(2)));
                self.skip_line();
            }
            "if" | "elif" | "else" | "fn" => {
                self.find(first.at, format!("#{directive}: write out the case that you need"));
                self.skip_line();
                self.skip_braces();
            }
            _ => self.program_line(first.at),
        }
    }

    /// Handles a line of a program, which is not part of the rules. One finding is enough for all of them.
    fn program_line(&mut self, at: usize) {
        if self.word(1) == "=" {
            return self.constant();
        }
        if !self.has_program {
            self.has_program = true;
            self.find(at, "the program from here on: only rules become a definition");
        }
        self.skip_line();
        self.skip_braces();
    }

    fn constant(&mut self) {
        if let (name, "=", Some((value, _))) = (self.word(0), self.word(1), number(self.word(2))) {
            self.rules.constants.push((name, value));
        }
        self.skip_line();
    }

    fn skip_line(&mut self) {
        self.at += 1;
        while self.tokens.get(self.at).is_some_and(|token| !token.begins_line && token.text != "{") {
            self.at += 1;
        }
    }

    /// Skips a block in braces of unknown meaning, if there is one here.
    fn skip_braces(&mut self) {
        if self.word(0) != "{" {
            return;
        }
        let mut depth = 0;
        while let Some(token) = self.tokens.get(self.at) {
            depth += i32::from(token.text == "{") - i32::from(token.text == "}");
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    fn bank(&mut self) {
        self.at += self.tokens[self.at..].iter().take_while(|token| token.text != "{").count() + 1;
        let is_first = self.rules.address.is_none() && self.rules.size.is_none();
        while self.at < self.tokens.len() && self.word(0) != "}" {
            let after_mark = usize::from(self.word(0) == "#");
            let field = self.word(after_mark);
            let after_name = after_mark + 1 + usize::from(self.word(after_mark + 1) == "=");
            let value = number(self.word(after_name)).map(|(value, _)| value);
            match field {
                "bits" => self.rules.bits = self.rules.bits.or(value),
                "addr" if is_first => self.rules.address = value,
                "size" if is_first => self.rules.size = value,
                _ => {}
            }
            self.skip_line();
        }
        self.at += 1;
    }

    fn block(&mut self, is_main: bool) {
        let name = (self.word(0) != "{").then(|| self.word(0)).filter(|name| !name.is_empty());
        self.at += usize::from(name.is_some());
        if self.word(0) != "{" {
            let at = self.tokens.get(self.at).map_or(self.text.len(), |token| token.at);
            return self.find(at, "a block of rules without `{`");
        }
        self.at += 1;
        let mut rules = Vec::new();
        while self.at < self.tokens.len() && self.word(0) != "}" {
            rules.extend(self.rule());
        }
        self.at += 1;
        self.rules.blocks.push(Block { name, is_main, rules });
    }

    fn rule(&mut self) -> Option<Rule<'s>> {
        let start = self.at;
        let at = self.tokens[start].at;
        let end = self.end_of_rule();
        self.at = end;
        let tokens = &self.tokens[start..end];
        let Some(arrow) = tokens.iter().position(|token| token.text == "=>") else {
            self.find(at, "a rule without `=>`");
            return None;
        };
        let written = self.text[at..tokens[arrow].at].trim_end();
        let result = pattern(&tokens[..arrow])
            .and_then(|pattern| Ok(Rule { at, written, pattern, production: production(&tokens[arrow + 1..])? }));
        result.map_err(|message| self.find(at, format!("`{written}`: {message}"))).ok()
    }

    /// Returns where a rule ends: before the next line, unless a bracket is open or `=>`, `asm` or an operator comes
    /// last.
    fn end_of_rule(&self) -> usize {
        let (mut depth, mut goes_on, mut has_arrow) = (0i32, true, false);
        for (number, token) in self.tokens.iter().enumerate().skip(self.at) {
            if number > self.at && depth <= 0 && (token.text == "}" || token.begins_line && has_arrow && !goes_on) {
                return number;
            }
            depth += i32::from(["{", "(", "["].contains(&token.text));
            depth -= i32::from(["}", ")", "]"].contains(&token.text));
            has_arrow |= token.text == "=>";
            goes_on = ["=>", "asm", "@", "+", "-", "*", "|", "&", "||", "&&", "?", ":"].contains(&token.text);
        }
        self.tokens.len()
    }
}

fn pattern<'s>(tokens: &[Token<'s>]) -> Result<Vec<Piece<'s>>, String> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_spaced = token.is_spaced && at > 0;
        if token.text != "{" {
            pieces.push(Piece { is_spaced, kind: PieceKind::Text(token.text.to_lowercase()) });
            at += 1;
            continue;
        }
        let text = |ahead: usize| tokens.get(at + ahead).map_or("", |token| token.text);
        let (ty, length) = match (text(2), text(4)) {
            ("}", _) => (Type::Any, 3),
            (":", "}") => (parameter_type(text(3))?, 5),
            // `{}` is an empty alternative.
            _ if text(1) == "}" => {
                at += 2;
                continue;
            }
            _ => return Err("its parameter cannot be read".to_owned()),
        };
        pieces.push(Piece { is_spaced, kind: PieceKind::Parameter { name: text(1), ty } });
        at += length;
    }
    Ok(pieces)
}

fn parameter_type(name: &str) -> Result<Type<'_>, String> {
    let digits = name.get(1..).and_then(|digits| digits.parse::<u32>().ok());
    match (name.as_bytes().first(), digits) {
        (Some(b'u' | b's' | b'i'), Some(bits)) if !(1..=64).contains(&bits) => {
            Err(format!("`{name}`: numbers have 1 to 64 bits"))
        }
        (Some(b'u'), Some(bits)) => Ok(Type::Unsigned(bits)),
        (Some(b's'), Some(bits)) => Ok(Type::Signed(bits)),
        (Some(b'i'), Some(bits)) => Ok(Type::Integer(bits)),
        _ => Ok(Type::Rules(name)),
    }
}

fn production<'s>(tokens: &[Token<'s>]) -> Result<Production<'s>, String> {
    if let [asm, open, lines @ .., close] = tokens
        && (asm.text, open.text, close.text) == ("asm", "{", "}")
    {
        let mut all: Vec<Vec<Token>> = Vec::new();
        for token in lines {
            match all.last_mut().filter(|_| !token.begins_line) {
                Some(line) => line.push(*token),
                None => all.push(vec![*token]),
            }
        }
        return Ok(Production::Assembly(all));
    }
    let mut parser = Parser { tokens, at: 0 };
    let value = parser.expression(0)?;
    match tokens.get(parser.at) {
        None => Ok(Production::Value(value)),
        Some(token) => Err(format!("`{}` is not expected there", token.text)),
    }
}

/// Reads a number of customasm, with the size that its digits give.
pub(super) fn number(text: &str) -> Option<(u128, Option<u32>)> {
    let (base, digits) = match text.get(..2).unwrap_or("") {
        "0x" | "0X" => (16, &text[2..]),
        "0b" | "0B" => (2, &text[2..]),
        "0o" | "0O" => (8, &text[2..]),
        _ => (10, text),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    let value = u128::from_str_radix(&digits, base).ok()?;
    let per_digit = match base {
        16 => 4,
        8 => 3,
        2 => 1,
        _ => return Some((value, None)),
    };
    Some((value, u32::try_from(digits.len()).ok().map(|digits| digits.saturating_mul(per_digit))))
}

struct Parser<'t, 's> {
    tokens: &'t [Token<'s>],
    at: usize,
}

/// The binary operators, the loosest first; `@` joins.
const LEVELS: [&[&str]; 10] = [
    &["@"],
    &["||"],
    &["&&"],
    &["==", "!=", "<", "<=", ">", ">="],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl<'s> Parser<'_, 's> {
    fn word(&self) -> &'s str {
        self.tokens.get(self.at).map_or("", |token| token.text)
    }

    fn take(&mut self, text: &str) -> bool {
        let is_here = self.word() == text;
        self.at += usize::from(is_here);
        is_here
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        if self.take(text) { Ok(()) } else { Err(format!("expected `{text}`, found `{}`", self.word())) }
    }

    fn expression(&mut self, depth: usize) -> Result<Expr<'s>, String> {
        if depth > DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let value = self.level(0, depth)?;
        match self.word() {
            "=" => match value {
                Expr::Name(name) => {
                    self.at += 1;
                    Ok(Expr::Assign(name, Box::new(self.expression(depth + 1)?)))
                }
                _ => Err("`=` has no name before it".to_owned()),
            },
            "?" => Err("a choice with `?` has no bits of its own: write a rule for each case".to_owned()),
            _ => Ok(value),
        }
    }

    fn level(&mut self, level: usize, depth: usize) -> Result<Expr<'s>, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(depth) };
        let mut left = self.level(level + 1, depth)?;
        let mut count = depth;
        while operators.contains(&self.word()) {
            count += 1;
            if count > DEPTH * 4 {
                return Err("it is too long".to_owned());
            }
            let operator = self.word();
            self.at += 1;
            let right = self.level(level + 1, depth)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self, depth: usize) -> Result<Expr<'s>, String> {
        if depth > DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        let mut value = self.prefix(depth)?;
        if self.take("`") {
            let size = self.leaf(depth + 1)?;
            value = Expr::Size(Box::new(value), Box::new(size));
        }
        // A `[` on a new line begins something else.
        if self.word() == "[" && !self.tokens[self.at].begins_line {
            self.at += 1;
            let high = self.expression(depth + 1)?;
            self.expect(":")?;
            let low = self.expression(depth + 1)?;
            self.expect("]")?;
            value = Expr::Slice(Box::new(value), Box::new(high), Box::new(low));
        }
        Ok(value)
    }

    fn prefix(&mut self, depth: usize) -> Result<Expr<'s>, String> {
        let operator = self.word();
        if !["-", "!"].contains(&operator) || depth > DEPTH {
            return self.leaf(depth + 1);
        }
        self.at += 1;
        Ok(Expr::Unary(operator, Box::new(self.prefix(depth + 1)?)))
    }

    fn leaf(&mut self, depth: usize) -> Result<Expr<'s>, String> {
        let Some(token) = self.tokens.get(self.at).copied() else { return Err("its value ends too early".to_owned()) };
        self.at += 1;
        match token.text {
            "(" => {
                let inner = self.expression(depth)?;
                self.expect(")")?;
                Ok(inner)
            }
            "{" => {
                let mut all = Vec::new();
                while !self.take("}") {
                    all.push(self.expression(depth)?);
                    self.take(",");
                }
                Ok(Expr::Block(all))
            }
            "$" => {
                let is_call = self.tokens.get(self.at).is_some_and(|next| !next.is_spaced && is_word(next.text));
                if is_call { self.leaf(depth) } else { Ok(Expr::Here) }
            }
            text if text.starts_with('"') => Ok(Expr::Text),
            text if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let (value, size) = number(text).ok_or_else(|| format!("`{text}` is not a number"))?;
                let value = i128::try_from(value).map_err(|_| format!("`{text}` is too large"))?;
                Ok(Expr::Number(value, size))
            }
            text if is_word(text) => {
                if !self.take("(") {
                    return Ok(if text == "pc" { Expr::Here } else { Expr::Name(text) });
                }
                let mut arguments = Vec::new();
                while !self.take(")") {
                    arguments.push(self.expression(depth)?);
                    self.take(",");
                }
                Ok(Expr::Call(text, arguments))
            }
            text => Err(format!("`{text}` is not expected there")),
        }
    }
}

pub(super) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}
