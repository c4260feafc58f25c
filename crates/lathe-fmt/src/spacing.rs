//! Blanks between the tokens of a definition.

use lathe_base::FileId;
use lathe_isa::language::lexer::{Cursor, Token};

/// The context of a piece of text, which decides how its operators are spaced.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a meaning: operators have blanks around them.
    Meaning,
    /// In a declaration: `/` and `-` join names and numbers, and keep their spacing.
    Declaration,
}

/// Puts the language's usual blanks between the tokens of a text. A text that would not read the same afterwards stays
/// as it was.
pub(crate) fn tidy(text: &str, place: Place) -> String {
    let text = text.trim();
    let tokens = tokens(text);
    let mut result = String::with_capacity(text.len());
    let mut state = State { place, slices: Vec::new(), operand: false, unary: false };
    for (at, (token, start, end)) in tokens.iter().enumerate() {
        let gap = at > 0 && tokens[at - 1].2 < *start;
        if at > 0 && state.blank(&tokens[at - 1].0, token, gap) {
            result.push(' ');
        }
        result.push_str(&text[*start..*end]);
        state.pass(token);
    }
    let same = |a: &[(Token, usize, usize)], b: &[(Token, usize, usize)]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0)
    };
    if same(&tokens, &self::tokens(&result)) { result } else { text.to_owned() }
}

fn tokens(text: &str) -> Vec<(Token, usize, usize)> {
    let mut cursor = Cursor::new(FileId(0), text);
    let mut list = Vec::new();
    loop {
        let (token, span) = cursor.next();
        if token == Token::End {
            return list;
        }
        list.push((token, span.start as usize, span.end as usize));
    }
}

struct State {
    place: Place,
    /// For each open bracket, whether it is `[`.
    slices: Vec<bool>,
    /// Whether the last token ends a value, so that a following operator is binary.
    operand: bool,
    /// Whether the last token is a prefix operator.
    unary: bool,
}

impl State {
    /// Whether a blank belongs between two tokens; `gap` says whether there is one now.
    fn blank(&self, before: &Token, token: &Token, gap: bool) -> bool {
        let (before, after) = (mark(before), mark(token));
        match (before, after) {
            (_, "," | ";" | ")" | "]") | ("(" | "[", _) => false,
            ("." | "..", _) | (_, "." | "..") => false,
            ("," | ";", _) => true,
            ("{", "}") => gap,
            ("{" | "}", _) | (_, "{" | "}") => true,
            _ if self.unary => false,
            ("=" | "->" | "=>", _) | (_, "=" | "->" | "=>") => true,
            (":", _) | (_, ":") => gap,
            _ if self.place == Place::Declaration || self.slices.last() == Some(&true) => gap,
            _ if is_operator(before) || self.operand && is_operator(after) => true,
            _ => gap,
        }
    }

    fn pass(&mut self, token: &Token) {
        let mark = mark(token);
        match mark {
            "(" | "[" | "{" => self.slices.push(mark == "["),
            ")" | "]" | "}" => drop(self.slices.pop()),
            _ => {}
        }
        self.unary = !self.operand && matches!(mark, "-" | "~" | "!");
        self.operand = match token {
            Token::Name(word) => !matches!(word.as_str(), "if" | "else" | "in" | "when"),
            Token::Number(_) | Token::Text(_) => true,
            _ => matches!(mark, ")" | "]" | "}"),
        };
    }
}

fn mark(token: &Token) -> &'static str {
    if let Token::Mark(mark) = token { mark } else { "" }
}

fn is_operator(mark: &str) -> bool {
    matches!(
        mark,
        "<<" | ">>"
            | "<="
            | ">="
            | "=="
            | "!="
            | "&&"
            | "||"
            | "++"
            | "<"
            | ">"
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "&"
            | "|"
            | "^"
            | "?"
    )
}

#[cfg(test)]
mod tests {
    use super::{Place, tidy};

    fn check(ragged: &str, expected: &str) {
        assert_eq!(tidy(ragged, Place::Meaning), expected);
        assert_eq!(tidy(expected, Place::Meaning), expected);
    }

    #[test]
    fn operators_stand_between_blanks() {
        check("D=D+1;carry = D==0", "D = D + 1; carry = D == 0");
        check("if x{skip}else{ pc=-x }", "if x { skip } else { pc = -x }");
        check("a = b  - -c", "a = b - -c");
        check("x = (a+ b) [3 : 0]", "x = (a + b) [3 : 0]");
        check("if !z&&~a == 0 {halt}", "if !z && ~a == 0 { halt }");
        check("ram . u16[ sp ]=v", "ram.u16[sp] = v");
    }

    #[test]
    fn bits_stay_as_tight_as_they_are() {
        check("a = r[K-1]", "a = r[K-1]");
        check("a = r[2 * K - 1 : K]", "a = r[2 * K - 1 : K]");
    }

    #[test]
    fn declarations_keep_what_joins_names() {
        assert_eq!(tidy("register { x0/zero,x1 / ra }", Place::Declaration), "register { x0/zero, x1 / ra }");
        assert_eq!(tidy("n,z=1", Place::Declaration), "n, z = 1");
    }
}
