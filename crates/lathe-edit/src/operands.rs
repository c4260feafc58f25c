//! Operands of a line of assembly: which of the machine's ways to write one was taken. This looks only at words, so it
//! works even if the program cannot be assembled.

use lathe_doc::{ModeData, ModesData, Sheet};

use crate::assembly::{Reading, Statement, Words};
use crate::description;

/// Returns the operand at a place of a line: its number and its text. `None` if the place is before the operands.
pub fn operand_at<'s>(reading: &Reading<'s>, statement: &Statement, at: usize) -> Option<(usize, &'s str)> {
    if at <= statement.operation.1 {
        return None;
    }
    let number = statement.commas.iter().filter(|comma| **comma < at).count();
    let start = number.checked_sub(1).map_or(statement.operation.1, |before| statement.commas[before] + 1);
    let end = statement.commas.get(number).copied().unwrap_or(statement.end).max(start);
    Some((number, reading.text[start..end].trim()))
}

/// Returns the operands with modes that the forms of a mnemonic have at one position, each once.
pub fn with_modes<'s>(sheet: &'s Sheet, mnemonic: &str, number: usize) -> Vec<&'s ModesData> {
    let mut found: Vec<&ModesData> = Vec::new();
    for (_, form) in description::forms(sheet, mnemonic) {
        let name = parameters(&form.syntax).nth(number).unwrap_or("");
        let operand = sheet.modes.iter().find(|operand| operand.name == name);
        found.extend(operand.filter(|operand| !found.iter().any(|known| known.name == operand.name)));
    }
    found
}

/// Returns the mode in which an operand is written, and the operand that has it.
pub fn mode<'s>(
    (sheet, words): (&'s Sheet, &Words),
    mnemonic: &str,
    (number, text): (usize, &str),
) -> Option<(&'s ModesData, &'s ModeData)> {
    let written = tokens(text);
    let fits = |mode: &&ModeData| fits(words, &tokens(&mode.syntax), &written);
    // `-(sp)` could be a number before a register in parentheses, but the mode with more words and marks of its own is
    // meant.
    let marks = |mode: &&ModeData| marks(words, &tokens(&mode.syntax));
    let mut operands = with_modes(sheet, mnemonic, number).into_iter();
    operands.find_map(|operand| Some((operand, operand.modes.iter().filter(fits).max_by_key(marks)?)))
}

/// Rates how well a line's operands fit a syntax: 0 if their shape differs, otherwise more for each word or mark of the
/// syntax.
pub fn likeness((sheet, words): (&Sheet, &Words), syntax: &str, written: &str) -> usize {
    let operands = tokens(syntax.split_once(' ').map_or("", |(_, operands)| operands));
    // Operands with modes have any shape.
    let has_modes = parameters(syntax).any(|name| sheet.modes.iter().any(|operand| operand.name == name));
    match has_modes || fits(words, &operands, &tokens(written)) {
        true => 1 + marks(words, &operands),
        false => 0,
    }
}

/// Returns how many words of a syntax are not fields.
fn marks(words: &Words, syntax: &[&str]) -> usize {
    syntax.iter().filter(|token| !words.fields.contains_key(**token)).count()
}

/// Yields the operands of a syntax.
pub fn parameters(syntax: &str) -> impl Iterator<Item = &str> {
    let operands = syntax.split_once(' ').map_or("", |(_, operands)| operands);
    operands.split(',').map(str::trim).filter(|operand| !operand.is_empty())
}

/// Returns a syntax with its fields as places to fill in: `(${1:Q})+`.
pub fn template(words: &Words, syntax: &str) -> Option<String> {
    let mut places = 0;
    let place = |token: &str| match words.fields.contains_key(token) {
        true => {
            places += 1;
            format!("${{{places}:{token}}}")
        }
        false => token.replace('$', "\\$"),
    };
    Some(tokens(syntax).into_iter().map(place).collect())
}

/// Whether a text has the shape of a syntax. A field with names takes one of them; a number is anything without
/// reserved names.
fn fits(words: &Words, syntax: &[&str], written: &[&str]) -> bool {
    let Some((first, rest)) = syntax.split_first() else { return written.is_empty() };
    match words.fields.get(*first) {
        Some(Some(names)) => {
            let is_named = written.first().is_some_and(|word| names.contains(&word.to_lowercase()));
            is_named && fits(words, rest, &written[1..])
        }
        Some(None) => {
            let value = written.iter().take_while(|word| !words.reserved.contains(&word.to_lowercase())).count();
            (1..=value).any(|length| fits(words, rest, &written[length..]))
        }
        None => {
            written.first().is_some_and(|word| word.eq_ignore_ascii_case(first)) && fits(words, rest, &written[1..])
        }
    }
}

/// Splits an operand into words and marks.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || "_.".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match rest.find(|c| !is_word(c)) {
            Some(0) => first.len_utf8(),
            end => end.unwrap_or(rest.len()),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_told_by_their_shape() {
        let loaded = lathe_isa::load(lathe_machines::find("pdp11").unwrap().definition);
        let isa = loaded.isa.unwrap();
        let (sheet, words) = (Sheet::new(&isa, &loaded.written), Words::new(&isa));
        let cases = [
            ("r1", "R"),
            ("(SP)", "(R)"),
            ("(r1)+", "(Q)+"),
            ("@(r2)+", "@(Q)+"),
            ("-(sp)", "-(Q)"),
            ("4(r2)", "X(Q)"),
            ("@table+2*(1+1)(r6)", "@X(Q)"),
            ("#'a'", "#N"),
            ("@#0177566", "@#A"),
            ("count", "W"),
            ("@count", "@W"),
        ];
        for (written, expected) in cases {
            let found = mode((&sheet, &words), "mov", (0, written)).map(|(_, mode)| mode.syntax.as_str());
            assert_eq!(found, Some(expected), "{written}");
        }
        assert_eq!(mode((&sheet, &words), "mov", (1, "(r1)-")), None);
        assert_eq!(mode((&sheet, &words), "br", (0, "count")), None);
    }
}
