//! Tokens of a definition, made on demand.
//!
//! Two columns of a row, syntax and encoding, are not made of tokens but taken as raw text: an assembly syntax is the
//! user's own, and `11II` is neither a number nor a name. Hence a cursor that the parser can move, instead of a list of
//! tokens made beforehand.

use lathe_base::{FileId, Span};

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name.
    Name(String),
    /// A number; `None` when it does not fit in 64 bits or its digits are wrong.
    Number(Option<u64>),
    /// A text in double quotes; `None` when the closing quote is missing.
    Text(Option<String>),
    /// A mark, such as `{` or `<<`.
    Mark(&'static str),
    /// The end of a line.
    Newline,
    /// The end of the text.
    End,
    /// A character that begins no token.
    Unknown(char),
}

/// All marks; a mark comes before its own prefixes.
const MARKS: [&str; 38] = [
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "->", "=>", "..", "{", "}", "(", ")", "[", "]", ",", ";",
    ":", ".", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "_", "@",
];

/// A position in the text from which tokens are read.
#[derive(Clone, Debug)]
pub struct Cursor<'s> {
    text: &'s str,
    file: FileId,
    at: usize,
    /// Documentation comments (`## …`) passed since it was last taken.
    pub documentation: Vec<&'s str>,
}

impl<'s> Cursor<'s> {
    /// Makes a cursor at the beginning of a text.
    pub fn new(file: FileId, text: &'s str) -> Self {
        Cursor { text, file, at: 0, documentation: Vec::new() }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'s str {
        self.text
    }

    /// Returns the position.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Moves the cursor.
    pub fn move_to(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    /// Returns the rest of the text.
    pub fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    /// Returns the bytes `start..end` as a place.
    pub fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    /// Reads the next token and its place.
    #[expect(clippy::should_implement_trait, reason = "no iterator: the end is a token, and the cursor moves")]
    pub fn next(&mut self) -> (Token, Span) {
        self.skip_blanks();
        let start = self.at;
        let token = self.take();
        (token, self.span(start, self.at))
    }

    fn take(&mut self) -> Token {
        let Some(first) = self.rest().chars().next() else { return Token::End };
        if first == '\n' {
            self.at += 1;
            return Token::Newline;
        }
        if first.is_ascii_digit() {
            return Token::Number(number(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_')));
        }
        let begins_name = first.is_alphabetic() || (first == '_' && self.rest()[1..].starts_with(is_name_part));
        if begins_name {
            return Token::Name(self.take_while(is_name_part).to_owned());
        }
        if first == '"' {
            return self.take_text();
        }
        match MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            Some(mark) => {
                self.at += mark.len();
                Token::Mark(mark)
            }
            None => {
                self.at += first.len_utf8();
                Token::Unknown(first)
            }
        }
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn take_text(&mut self) -> Token {
        self.at += 1;
        let inside = self.take_while(|c| c != '"' && c != '\n').to_owned();
        if !self.rest().starts_with('"') {
            return Token::Text(None);
        }
        self.at += 1;
        Token::Text(Some(inside))
    }

    /// Skips blanks and comments, but keeps documentation comments.
    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|c| c.is_whitespace() && c != '\n');
            if !self.rest().starts_with('#') {
                return;
            }
            let comment = self.take_while(|c| c != '\n');
            if let Some(text) = comment.strip_prefix("##") {
                self.documentation.push(text.strip_prefix(' ').unwrap_or(text).trim_end());
            }
        }
    }
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Evaluates a number as written: decimal, `0x…`, `0b…` or `0o…`, with `_` anywhere between digits.
pub fn number(written: &str) -> Option<u64> {
    let digits = written.replace('_', "").to_ascii_lowercase();
    let (digits, radix) = match digits.get(..2) {
        Some("0x") => (&digits[2..], 16),
        Some("0b") => (&digits[2..], 2),
        Some("0o") => (&digits[2..], 8),
        _ => (&digits[..], 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut cursor = Cursor::new(FileId(0), text);
        let mut list = Vec::new();
        loop {
            match cursor.next().0 {
                Token::End => return list,
                token => list.push(token),
            }
        }
    }

    #[test]
    fn marks_take_the_longest() {
        let marks = tokens("a++b..c<<=d");
        let written: Vec<_> =
            marks.iter().filter_map(|t| if let Token::Mark(m) = t { Some(*m) } else { None }).collect();
        assert_eq!(written, ["++", "..", "<<", "="]);
    }

    #[test]
    fn numbers_in_four_bases() {
        assert_eq!(
            [number("10"), number("0x1_0"), number("0b10"), number("0o17")],
            [Some(10), Some(16), Some(2), Some(15)]
        );
        assert_eq!([number("0x"), number("12ab"), number("99999999999999999999")], [None; 3]);
    }

    #[test]
    fn comments_vanish_and_documentation_is_kept() {
        let mut cursor = Cursor::new(FileId(0), "# plain\n## said\nx");
        assert_eq!(cursor.next().0, Token::Newline);
        assert_eq!(cursor.next().0, Token::Newline);
        assert_eq!(cursor.next().0, Token::Name("x".into()));
        assert_eq!(cursor.documentation, ["said"]);
    }

    #[test]
    fn an_underscore_alone_is_a_mark() {
        assert_eq!(tokens("_ _a"), [Token::Mark("_"), Token::Name("_a".into())]);
    }
}
