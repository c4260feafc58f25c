//! Tokens of one line of assembly.
//!
//! Marks are single characters, since the syntax of a machine may use any of them in any
//! order; the parser of expressions puts `<` and `<` together where they touch.

use lathe_base::{FileId, Span, limits};
use lathe_isa::model::Assembly;

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its place.
    pub span: Span,
    /// Its number among the words made by macros, from 1; 0 if it is in a source.
    pub(crate) made: u32,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word: letters, digits, `_`, and dots between or before them.
    Word,
    /// A number or a character.
    Number(i128),
    /// A text in double quotes, which the span includes.
    Text,
    /// Any other character.
    Mark(char),
    /// Something that cannot be read.
    Bad(Bad),
}

/// Why a token cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// Digits that the base does not have, or too many of them.
    Number,
    /// A character without its closing quote, or an unknown escape.
    Character,
    /// A text without its closing quote.
    Text,
    /// A comment that is not closed.
    Comment,
    /// More tokens than a line may have.
    TooMany,
}

impl Token {
    /// Whether it is this mark.
    pub fn is_mark(self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// Whether `next` directly follows this token.
    pub fn touches(self, next: Token) -> bool {
        self.span.end == next.span.start && self.span.file == next.span.file
    }

    /// Whether an operand can begin with this token, so that a word before it may be an operator.
    pub fn begins_value(self) -> bool {
        matches!(self.kind, Kind::Number(_) | Kind::Word | Kind::Text | Kind::Mark('(' | '$' | '-' | '~'))
    }
}

/// Reads the tokens of the line that begins at `at`; returns where the next line begins. `habits` are the machine's
/// own.
pub fn line(file: FileId, text: &str, at: usize, habits: &Assembly, tokens: &mut Vec<Token>) -> usize {
    let mut lexer = Lexer { file, bytes: text.as_bytes(), text, habits, at };
    while lexer.skip_blanks(tokens) {
        let start = lexer.at;
        if tokens.len() >= limits::LINE_TOKENS {
            tokens.truncate(1);
            tokens[0].kind = Kind::Bad(Bad::TooMany);
            lexer.skip_line();
            continue;
        }
        let kind = lexer.token(tokens.last().copied());
        tokens.push(Token { kind, span: Span::new(file, start, lexer.at), made: 0 });
    }
    lexer.at
}

struct Lexer<'s> {
    file: FileId,
    bytes: &'s [u8],
    text: &'s str,
    habits: &'s Assembly,
    at: usize,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Whether a mark comes next. Nearly always its first byte rules it out.
    fn stands(&self, mark: &str) -> bool {
        mark.as_bytes().first() == self.bytes.get(self.at) && self.bytes[self.at..].starts_with(mark.as_bytes())
    }

    /// Skips blanks and comments; false at the end of the line, which is skipped too.
    fn skip_blanks(&mut self, tokens: &mut Vec<Token>) -> bool {
        loop {
            if let Some(mark) = self.habits.separators.iter().find(|mark| self.stands(mark)) {
                self.at += mark.len();
                return false;
            }
            match self.peek(0) {
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    return false;
                }
                b';' => self.skip_line(),
                b'/' if self.peek(1) == b'/' => self.skip_line(),
                b'/' if self.peek(1) == b'*' => self.skip_comment(tokens),
                _ if self.habits.comments.iter().any(|mark| self.stands(mark)) => self.skip_line(),
                _ => return self.at < self.bytes.len(),
            }
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    fn skip_comment(&mut self, tokens: &mut Vec<Token>) {
        match self.text[self.at + 2..].find("*/") {
            Some(length) => self.at += length + 4,
            None => {
                let span = Span::new(self.file, self.at, self.at + 2);
                tokens.push(Token { kind: Kind::Bad(Bad::Comment), span, made: 0 });
                self.at = self.bytes.len();
            }
        }
    }

    fn token(&mut self, before: Option<Token>) -> Kind {
        let byte = self.peek(0);
        let is_argument = before.is_some_and(|token| token.is_mark('\\') && token.span.end as usize == self.at);
        if is_argument && (matches!(byte, b'1'..=b'9' | b'@')) {
            return self.argument(byte);
        }
        if let Some(number) = self.prefixed(before) {
            return number;
        }
        match byte {
            b'0'..=b'9' if self.is_numbered_label() => self.word(),
            b'0'..=b'9' => self.number(),
            b'$' if self.peek(1).is_ascii_hexdigit() => self.radix(1, 16),
            b'%' if matches!(self.peek(1), b'0' | b'1') && !self.follows_value(before) => self.radix(1, 2),
            b'\'' if !self.follows_value(before) || self.is_character() => self.character(),
            b'"' => self.quoted(),
            b'.' if is_word(self.peek(1)) => self.word(),
            _ if is_word(byte) => self.word(),
            _ if self.habits.locals.contains(&char::from(byte)) && is_word(self.peek(1)) => self.word(),
            _ => {
                let mark = self.text[self.at..].chars().next().unwrap_or('\0');
                self.at += mark.len_utf8().max(1);
                Kind::Mark(mark)
            }
        }
    }

    /// Whether a value directly precedes, so that an operator comes now and not a prefix. After a blank it is a prefix:
    /// `psh %101`.
    fn follows_value(&self, before: Option<Token>) -> bool {
        before.is_some_and(|token| token.span.end as usize == self.at && ends_value(token))
    }

    /// Reads a number as the machine's programmers write it: `x3000`, `#-5`. A prefix followed by other letters does
    /// not begin a number.
    fn prefixed(&mut self, before: Option<Token>) -> Option<Kind> {
        let (prefix, base) = self.habits.prefixes.iter().find(|(prefix, _)| {
            let begins = self.bytes[self.at..].get(..prefix.len());
            begins.is_some_and(|begins| begins.eq_ignore_ascii_case(prefix.as_bytes()))
        })?;
        let negative = self.peek(prefix.len()) == b'-';
        let start = self.at + prefix.len() + usize::from(negative);
        let length = self.bytes[start..].iter().take_while(|byte| is_word(**byte)).count();
        let digits = self.bytes[start..start + length].iter().all(|byte| char::from(*byte).is_digit(*base));
        if length == 0 || !digits || self.follows_value(before) {
            return None;
        }
        self.at = start;
        match self.radix(0, *base) {
            Kind::Number(value) if negative => Some(Kind::Number(-value)),
            other => Some(other),
        }
    }

    /// Reads what follows the `\` of `\1` and `\@`, whatever comes after it.
    fn argument(&mut self, byte: u8) -> Kind {
        self.at += 1;
        match char::from(byte).to_digit(10) {
            Some(digit) => Kind::Number(digit.into()),
            None => Kind::Mark(char::from(byte)),
        }
    }

    fn word(&mut self) -> Kind {
        self.at += 1;
        while is_word(self.peek(0)) || (self.peek(0) == b'.' && is_word(self.peek(1))) {
            self.at += 1;
        }
        Kind::Word
    }

    /// Whether `1b` or `1f` comes next: the label `1:` before or after this line.
    fn is_numbered_label(&self) -> bool {
        let digits = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let ends = !is_word(self.peek(digits + 1)) && self.peek(digits + 1) != b'.';
        matches!(self.peek(digits), b'b' | b'f') && ends
    }

    fn number(&mut self) -> Kind {
        match (self.peek(0), self.peek(1)) {
            (b'0', b'x' | b'X') => self.radix(2, 16),
            (b'0', b'b' | b'B') => self.radix(2, 2),
            (b'0', b'o' | b'O') => self.radix(2, 8),
            _ => self.radix(0, if self.habits.octal_numbers { 8 } else { 10 }),
        }
    }

    /// Reads digits after a prefix of this many bytes.
    fn radix(&mut self, prefix: usize, radix: u32) -> Kind {
        self.at += prefix;
        let start = self.at;
        let mut value = Some(0i128);
        while is_word(self.peek(0)) {
            let byte = self.peek(0);
            if byte != b'_' {
                let digit = char::from(byte).to_digit(radix);
                let with = |value: i128, digit: u32| value.checked_mul(radix.into())?.checked_add(digit.into());
                value = value.zip(digit).and_then(|(value, digit)| with(value, digit));
            }
            self.at += 1;
        }
        match value.filter(|_| self.at > start) {
            Some(value) => Kind::Number(value),
            None => Kind::Bad(Bad::Number),
        }
    }

    /// Whether a whole character comes next. Right after a value, an unclosed `'` is a mark: `af'`.
    fn is_character(&self) -> bool {
        let inside = unescape(&self.text[self.at + 1..], '\'');
        inside.is_some_and(|(_, length)| self.peek(1 + length) == b'\'')
    }

    fn character(&mut self) -> Kind {
        let rest = &self.text[self.at + 1..];
        let Some((value, length)) = unescape(rest, '\'') else {
            self.at += 1;
            return Kind::Bad(Bad::Character);
        };
        self.at += 1 + length;
        if self.peek(0) != b'\'' {
            return Kind::Bad(Bad::Character);
        }
        self.at += 1;
        Kind::Number(i128::from(value))
    }

    fn quoted(&mut self) -> Kind {
        self.at += 1;
        loop {
            match self.peek(0) {
                b'"' => {
                    self.at += 1;
                    return Kind::Text;
                }
                b'\n' => return Kind::Bad(Bad::Text),
                0 if self.at >= self.bytes.len() => return Kind::Bad(Bad::Text),
                b'\\' if self.peek(1) != b'\n' && self.at + 1 < self.bytes.len() => {
                    let escaped = self.text[self.at + 1..].chars().next().map_or(1, char::len_utf8);
                    self.at += 1 + escaped;
                }
                _ => self.at += 1,
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn ends_value(token: Token) -> bool {
    matches!(token.kind, Kind::Number(_) | Kind::Text | Kind::Word | Kind::Mark(')' | ']'))
}

/// Returns the character at the beginning of a text, escapes resolved, and its length in bytes; `None` at the closing
/// quote, at the end, or for an unknown escape.
fn unescape(text: &str, quote: char) -> Option<(u32, usize)> {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| *c != quote && *c != '\n')?;
    if first != '\\' {
        return Some((first as u32, first.len_utf8()));
    }
    let escape = chars.next()?;
    let value = match escape {
        'n' => 10,
        'r' => 13,
        't' => 9,
        '0' => 0,
        'e' => 27,
        'a' => 7,
        'b' => 8,
        '\\' | '\'' | '"' => escape as u32,
        'x' => {
            let digits = text.get(2..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
            return u32::from_str_radix(digits, 16).ok().map(|value| (value, 4));
        }
        _ => return None,
    };
    Some((value, 2))
}

/// Returns the bytes of a text in quotes: characters beyond ASCII as UTF-8, `\xNN` as that byte. Fails with the offset
/// of an unknown escape.
pub(crate) fn text_bytes(quoted: &str) -> Result<Vec<u8>, usize> {
    let inside = quoted.get(1..quoted.len() - 1).unwrap_or("");
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < inside.len() {
        let (value, length) = unescape(&inside[at..], '"').ok_or(at + 1)?;
        let escaped = inside[at..].starts_with('\\');
        match char::from_u32(value).filter(|_| !escaped) {
            Some(character) => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            None => bytes.push(value as u8),
        }
        at += length;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        let mut tokens = Vec::new();
        line(FileId(0), text, 0, &Assembly::default(), &mut tokens);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers_in_all_spellings() {
        let numbers = kinds("10 0x1F $1f 0b101 %101 0o17 1_000 'A' '\\n' '\\x7f'");
        let expected = [10, 31, 31, 5, 5, 15, 1000, 65, 10, 127].map(Kind::Number);
        assert_eq!(numbers, expected);
    }

    #[test]
    fn a_percent_sign_right_after_a_value_or_before_a_blank_is_an_operator() {
        assert_eq!(kinds("a%10"), [Kind::Word, Kind::Mark('%'), Kind::Number(10)]);
        assert_eq!(kinds("a % 10"), [Kind::Word, Kind::Mark('%'), Kind::Number(10)]);
        assert_eq!(kinds("psh %10"), [Kind::Word, Kind::Number(2)]);
    }

    #[test]
    fn a_single_quote_right_after_a_value_is_a_mark() {
        let prime = [Kind::Word, Kind::Word, Kind::Mark('\'')];
        assert_eq!(kinds("ex af'"), prime);
        assert_eq!(kinds("ex af' ; it's"), prime);
        assert_eq!(kinds("(1)'")[2..], [Kind::Mark(')'), Kind::Mark('\'')]);
        assert_eq!(kinds("db'A','\\n'")[1], Kind::Number(65));
        assert_eq!(kinds("ldi 'A"), [Kind::Word, Kind::Bad(Bad::Character)]);
    }

    #[test]
    fn comments_of_three_kinds() {
        assert_eq!(kinds("a ; b"), [Kind::Word]);
        assert_eq!(kinds("a // b"), [Kind::Word]);
        assert_eq!(kinds("a /* b\n c */ d"), [Kind::Word, Kind::Word]);
        assert_eq!(kinds("a /* b"), [Kind::Word, Kind::Bad(Bad::Comment)]);
    }

    #[test]
    fn words_hold_dots_between_letters() {
        assert_eq!(
            kinds("main.loop .x: add.w ."),
            [Kind::Word, Kind::Word, Kind::Mark(':'), Kind::Word, Kind::Mark('.')]
        );
    }

    #[test]
    fn texts_and_their_bytes() {
        assert_eq!(text_bytes("\"a\\n\\x00é\""), Ok(vec![97, 10, 0, 0xC3, 0xA9]));
        assert_eq!(text_bytes("\"a\\q\""), Err(2));
        assert_eq!(kinds("\"a"), [Kind::Bad(Bad::Text)]);
        assert_eq!(kinds("\"a\\\""), [Kind::Bad(Bad::Text)]);
    }

    #[test]
    fn the_next_line_begins_after_the_newline() {
        assert_eq!(line(FileId(0), "a\nb", 0, &Assembly::default(), &mut Vec::new()), 2);
        assert_eq!(line(FileId(0), "a\nb", 2, &Assembly::default(), &mut Vec::new()), 3);
    }
}
