//! What is shown about the thing at a place, as Markdown.

use std::ops::Range;

use lathe_asm::Symbol;
use lathe_base::Source;
use lathe_base::files::Files;
use lathe_doc::Sheet;
use lathe_isa::values::{Valued, values_at};

use crate::assembly::{self, Words};
use crate::{definition, description, operands};

/// About a place of a definition: the expression with its width and value, what is said about the line that begins
/// there, then the declaration of the name or the row.
/// What the definition includes comes from `files`; `sheet` is of the machine as it was when it last had no errors.
pub fn definition(text: &str, at: usize, files: &dyn Files, sheet: Option<&Sheet>) -> Option<String> {
    let reading = definition::Reading::new(text);
    let values = values_at(Source::new("definition", text), files, at as u32);
    let expression = values.first().map(|valued| expression(text, valued));
    let word = reading.word_at(at).filter(|word| word.is_name);
    let named = word.and_then(|word| reading.named(word.text)).map(|declared| reading.shown(declared));
    let about = named.or_else(|| row(&reading, at, sheet?));
    // What is shown of a name has its prose already.
    let prose = reading.prose_at(at).filter(|prose| about.as_ref().is_none_or(|about| !about.contains(prose)));
    let parts: Vec<String> = expression.into_iter().chain(prose).chain(about).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// What the row at a place does.
fn row(reading: &definition::Reading, at: usize, sheet: &Sheet) -> Option<String> {
    let row = reading.row_at(at)?;
    let mnemonic = row.name.split([' ', '/']).next()?;
    let by_row = sheet.rows.iter().find(|one| one.syntax == row.name);
    let name = by_row.map_or(mnemonic, |row| row.instructions[0].mnemonic.as_str());
    description::mnemonic(sheet, name)
}

/// Longer expressions are cut: they stand right there.
const SHOWN: usize = 40;

/// `` `a + 1` is 8 bits wide``
fn expression(text: &str, valued: &Valued) -> String {
    let written = text[with_parentheses(text, valued.span.range())].split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = written.chars().take(SHOWN).collect();
    let dots = if cut.len() < written.len() { "…" } else { "" };
    let widths: Vec<String> = valued.widths.iter().map(u32::to_string).collect();
    let bits = match widths.as_slice() {
        [] => String::new(),
        [one] if one == "1" => " is 1 bit wide".to_owned(),
        all => format!(" is {} bits wide", all.join(" or ")),
    };
    let value = valued.value.map_or(String::new(), |value| format!(" = {value} ({value:#x})"));
    format!("`{cut}{dots}`{value}{bits}")
}

/// A place and the parentheses that belong to it: that of `(a) + (b)` begins with `a` and ends with `b`.
fn with_parentheses(text: &str, place: Range<usize>) -> Range<usize> {
    let (mut open, mut missing) = (0usize, 0usize);
    for mark in text[place.clone()].bytes().filter(|byte| b"()".contains(byte)) {
        match mark {
            b'(' => open += 1,
            _ if open > 0 => open -= 1,
            _ => missing += 1,
        }
    }
    let before = text[..place.start].rmatch_indices('(').map(|(at, _)| at).take(missing).last();
    let after = text[place.end..].match_indices(')').map(|(at, _)| place.end + at + 1).take(open).last();
    before.unwrap_or(place.start)..after.unwrap_or(place.end)
}

/// About a place of a program, with the values of its names as far as they are known. `cells` tells what its line
/// has become.
pub fn assembly(
    text: &str,
    at: usize,
    machine: (&Sheet, &Words),
    symbols: &[Symbol],
    cells: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let (sheet, words) = machine;
    let reading = assembly::Reading::new(text, words);
    if let Some(name) = reading.name_at(at) {
        let symbol = symbols.iter().find(|symbol| symbol.name == name.name);
        let value = symbol.map_or(String::new(), |symbol| format!(" = {} ({:#x})", symbol.value, symbol.value));
        return Some(format!("`{}`{value}", name.name));
    }
    let statement = reading.statement_at(at)?;
    let word = &reading.text[statement.operation.0..statement.operation.1];
    let shown = description::mnemonic(sheet, word)?;
    let operand = operands::operand_at(&reading, statement, at);
    let mode = operand.and_then(|operand| operands::mode(machine, word, operand));
    let register = operand.and_then(|_| reading.word_at(at)).and_then(|name| description::register(sheet, name));
    let parts = [mode.map(|(operand, mode)| description::mode(operand, mode)), register];
    let cells = cells().map(|cells| format!("`{cells}`"));
    let parts: Vec<String> = parts.into_iter().flatten().chain(cells).chain([shown]).collect();
    Some(parts.join("\n\n"))
}
