//! Whether the assembler can read what a row prints. Its lines have comments, labels, constants, numbers and
//! expressions of their own, and a syntax must not interfere with them: what a row prints must read back as that row.

use lathe_base::{Diagnostic, Span};

use crate::codes;
use crate::language::lexer::number;
use crate::model::{Assembly, Domain, Field};
use crate::syntax::{Head, PieceKind, Syntax};

/// Marks that continue an expression after a number.
const OPERATORS: [char; 13] = ['+', '-', '*', '/', '%', '&', '|', '^', '<', '>', '=', '!', '?'];

/// A piece of a printed line.
#[derive(Clone, Copy)]
enum Printed<'s> {
    Text(&'s str),
    Operand(&'s Field),
}

impl Printed<'_> {
    /// Whether the piece may begin with such a character.
    fn may_begin(self, belongs: impl Fn(char) -> bool) -> bool {
        match self {
            Printed::Text(text) => text.starts_with(belongs),
            Printed::Operand(field) => match &field.domain {
                Domain::Number(numeric) => belongs('0') || belongs('9') || (numeric.signed && belongs('-')),
                Domain::Values(values) => belongs('0') || belongs('9') || (values.signed && belongs('-')),
                _ => field.names().any(|name| name.starts_with(&belongs)),
            },
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Printed::Operand(field) if field.is_number())
    }

    /// Whether the piece can end a value in assembly.
    fn ends_value(self) -> bool {
        match self {
            Printed::Text(text) => text.ends_with(|c: char| c.is_ascii_alphanumeric() || "_)]".contains(c)),
            Printed::Operand(_) => true,
        }
    }

    /// Returns the fewest characters that the piece can print.
    fn shortest(self) -> usize {
        match self {
            Printed::Text(text) => text.chars().count(),
            Printed::Operand(_) => 1,
        }
    }

    fn is(self, wanted: &str) -> bool {
        matches!(self, Printed::Text(text) if text == wanted)
    }
}

/// Makes a diagnostic if a syntax cannot be read back.
pub(super) fn check<'s>(
    syntax: &'s Syntax,
    field: impl Fn(usize) -> &'s Field,
    assembly: &Assembly,
    span: Span,
) -> Option<Diagnostic> {
    let heads = syntax.heads.iter().find_map(first_word);
    let tail: Vec<(Printed, bool)> = syntax
        .pieces
        .iter()
        .map(|piece| match &piece.kind {
            PieceKind::Text(text) => (Printed::Text(text), piece.space),
            PieceKind::Sign => (Printed::Text("+"), piece.space),
            PieceKind::Operand(index) => (Printed::Operand(field(*index)), piece.space),
        })
        .collect();
    let (cause, help) = heads
        .or_else(|| after_first_word(&tail))
        .or_else(|| tail.iter().find_map(|(printed, _)| inside(*printed)))
        .or_else(|| single_quotes(&tail))
        .or_else(|| tail.windows(2).find_map(|pair| between(pair[0].0, pair[1])))
        .or_else(|| habits(syntax, assembly))?;
    Some(Diagnostic::new(codes::BAD_SYNTAX, span, cause).help(help))
}

type Problem = (String, &'static str);

/// Finds what the assembler takes a first word for, if not for a mnemonic.
fn first_word(head: &Head) -> Option<Problem> {
    let word = match head {
        Head::Word(word) => word.clone(),
        // Names are words.
        Head::Named(_) => return None,
        Head::Glued { prefix, suffix, .. } => format!("{prefix}{suffix}"),
    };
    let help = "begin the row with a mnemonic of letters, as in `mov`";
    if word.starts_with('.') {
        return Some((format!("assembly reads `{word}` as a directive"), help));
    }
    if let Some(mark) = [':', '='].into_iter().find(|mark| word.contains(*mark)) {
        let what = if mark == ':' { "label" } else { "constant" };
        return Some((format!("assembly reads a first word with `{mark}` in it as a {what}"), help));
    }
    if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
        return Some((format!("assembly cannot read `{word}` as a mnemonic"), help));
    }
    inside(Printed::Text(&word)).or_else(|| word.contains('\'').then(single_quote))
}

/// Finds a label or a constant where a mnemonic with an operand was meant.
fn after_first_word(tail: &[(Printed, bool)]) -> Option<Problem> {
    let (first, space) = *tail.first()?;
    let help = "begin the row with a mnemonic, and write this after it";
    if first.is("=") || first.is("equ") {
        return Some(("assembly reads a first word and `=` as a constant".into(), help));
    }
    (first.is(":") && !space).then(|| ("assembly reads a first word and `:` as a label".into(), help))
}

/// Finds characters that begin something else wherever they are.
fn inside(printed: Printed) -> Option<Problem> {
    let Printed::Text(text) = printed else { return None };
    if text.starts_with(|c: char| c.is_ascii_digit()) && number(text).is_none() {
        let cause = format!("assembly reads `{text}` as a number, since it begins with a digit");
        return Some((cause, "begin the word with a letter"));
    }
    let meaning = |c: char| match c {
        ';' => Some("begins a comment"),
        '"' => Some("begins a text"),
        _ => None,
    };
    let (found, meaning) = text.chars().find_map(|c| Some((c, meaning(c)?)))?;
    Some((format!("`{found}` {meaning} in assembly, so this syntax cannot be read"), "use another mark, or a word"))
}

fn single_quote() -> Problem {
    let cause = "`'` begins a character in assembly, so this syntax cannot be read";
    (cause.into(), "put it directly after an operand or a later word, as in `ex af, af'`, or use a word")
}

/// Finds a `'` that begins a character. One directly after a value does not, unless another `'` makes a character of
/// what is between them.
fn single_quotes(tail: &[(Printed, bool)]) -> Option<Problem> {
    let mut since_last = None;
    for (at, (printed, space)) in tail.iter().enumerate() {
        if !printed.is("'") {
            since_last = since_last.map(|length| length + printed.shortest());
            continue;
        }
        let after_value = !space && at.checked_sub(1).is_some_and(|before| tail[before].0.ends_value());
        let escapes = tail.get(at + 1).is_some_and(|(next, _)| next.is("\\"));
        if !after_value || escapes || since_last.is_some_and(|length| length < 2) {
            return Some(single_quote());
        }
        since_last = Some(0);
    }
    None
}

/// Finds two adjacent pieces that read as something else together.
fn between(first: Printed, (second, space): (Printed, bool)) -> Option<Problem> {
    let operator = |c: char| OPERATORS.contains(&c);
    if first.is_number() && second.may_begin(operator) {
        let cause = "assembly reads a number and an operator or sign after it as one expression";
        return Some((cause.into(), "put the number last, or a `,` after it"));
    }
    if space {
        return None;
    }
    let word = |c: char| c.is_alphanumeric() || c == '_';
    if first.is("/") && (second.is("/") || second.is("*")) {
        return Some(("assembly reads this as a comment".into(), "use other marks"));
    }
    if first.is("$") && second.may_begin(|c| c.is_ascii_hexdigit()) {
        return Some(("assembly reads `$` and what follows as a hexadecimal number".into(), "put a space after `$`"));
    }
    if first.is("%") && second.may_begin(|c| c == '0' || c == '1') {
        return Some(("assembly reads `%` and what follows as a binary number".into(), "put a space after `%`"));
    }
    if first.is(".") && second.may_begin(word) {
        return Some(("assembly reads `.` and what follows as one word".into(), "put a space after `.`"));
    }
    None
}

/// Finds marks of the syntax to which the `assembly` block of this definition gives another meaning.
fn habits(syntax: &Syntax, assembly: &Assembly) -> Option<Problem> {
    let marks = assembly.locals.iter().chain(&assembly.heres).map(char::to_string);
    let operators = assembly.operators.iter().map(|(written, _)| written.clone());
    let mut marks = marks.chain(operators.filter(|written| written.chars().all(|c| c.is_ascii_punctuation())));
    // Dots inside words are letters.
    let has = |text: &str, mark: &str| if mark == "." { text == mark } else { text.contains(mark) };
    let stands =
        |mark: &String| syntax.pieces.iter().any(|piece| piece.kind.text().is_some_and(|text| has(text, mark)));
    if let Some(mark) = marks.find(stands) {
        let cause = format!("the `assembly` block gives `{mark}` a meaning of its own, but this syntax has it");
        return Some((cause, "use another mark"));
    }
    let printed = syntax.render(|_| "0".to_owned());
    let mark = assembly.comments.iter().chain(&assembly.separators).find(|mark| printed.contains(mark.as_str()))?;
    Some((format!("the `assembly` block says that `{mark}` ends a line, but this syntax has it"), "use another mark"))
}
