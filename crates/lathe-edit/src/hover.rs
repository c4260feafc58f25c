//! What to show about the thing at a place, as Markdown.

use std::ops::Range;

use lathe_asm::{Assembled, SymbolKind};
use lathe_base::Source;
use lathe_base::files::Files;
use lathe_doc::Sheet;
use lathe_isa::values::{Valued, values_at};

use crate::assembly::{self, Role, Words};
use crate::{Class, definition, description, dialect, operands};

/// Describes a place of a definition: the expression with its width and value, the documentation of the line that
/// begins there, then the declaration of the name, or the row of a map or of instructions. Included files come from
/// `files`; `sheet` shows the machine when it last had no errors.
pub fn definition(text: &str, at: usize, files: &dyn Files, sheet: Option<&Sheet>) -> Option<String> {
    let reading = definition::Reading::new(text);
    let values = values_at(Source::new("definition", text), files, at as u32);
    let expression = values.first().map(|valued| expression(text, valued));
    let word = reading.word_at(at).filter(|word| word.is_name);
    let named = word.and_then(|word| reading.named(word.text)).map(|declared| reading.shown(declared));
    let about = named.or_else(|| reading.mapped_at(at)).or_else(|| row(&reading, at, sheet?));
    // The text about a name already contains its prose.
    let prose = reading.prose_at(at).filter(|prose| about.as_ref().is_none_or(|about| !about.contains(prose)));
    let parts: Vec<String> = expression.into_iter().chain(prose).chain(about).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Describes the row at a place.
fn row(reading: &definition::Reading, at: usize, sheet: &Sheet) -> Option<String> {
    let row = reading.row_at(at)?;
    let mnemonic = row.name.split([' ', '/']).next()?;
    let by_row = sheet.rows.iter().find(|one| one.syntax == row.name);
    let name = by_row.map_or(mnemonic, |row| row.instructions[0].mnemonic.as_str());
    description::mnemonic(sheet, name, |_| 0)
}

/// The most characters of an expression that are shown; all of it is right there in the text.
const SHOWN: usize = 40;

/// Returns text such as `` `a + 1` is 8 bits wide``.
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

/// Extends a place by the parentheses that belong to it: the place of `(a) + (b)` begins with `a` and ends with `b`.
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

/// Describes a place of a program, with its names' values and definitions as far as known. `cells` returns what the
/// line was assembled to.
pub fn assembly(
    text: &str,
    at: usize,
    machine: (&Sheet, &Words),
    assembled: Option<&Assembled>,
    cells: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let (sheet, words) = machine;
    let reading = assembly::Reading::new(text, words);
    if let Some(name) = reading.name_at(at) {
        return Some(named(&reading, &name.name, assembled));
    }
    if let Some(shown) = of_dialect(&reading, at, machine) {
        return Some(shown);
    }
    let statement = reading.statement_at(at)?;
    let word = &reading.text[statement.operation.0..statement.operation.1];
    let written = &reading.text[statement.operation.1..statement.end];
    let shown = description::mnemonic(sheet, word, |one| operands::likeness(machine, &one.syntax, written))?;
    let operand = operands::operand_at(&reading, statement, at);
    let mode = operand.and_then(|operand| operands::mode(machine, word, operand));
    let register = operand.and_then(|_| reading.word_at(at)).and_then(|name| description::register(sheet, name));
    let parts = [mode.map(|(operand, mode)| description::mode(operand, mode)), register];
    let cells = cells().map(|cells| format!("`{cells}`"));
    let parts: Vec<String> = parts.into_iter().flatten().chain(cells).chain([shown]).collect();
    Some(parts.join("\n\n"))
}

/// Describes a name of a program: its value, and where it is defined.
fn named(reading: &assembly::Reading, name: &str, assembled: Option<&Assembled>) -> String {
    let symbols = assembled.and_then(|assembled| assembled.image.as_ref()).map_or(&[][..], |image| &image.symbols);
    let Some(symbol) = symbols.iter().find(|symbol| symbol.name == name) else {
        let Some(defined) = reading.definitions().find(|one| one.name == name) else { return format!("`{name}`") };
        let line = reading.text[..defined.start].matches('\n').count() + 1;
        return format!("`{name}` · {}, defined in line {line}", defined.role.word());
    };
    let kind = if symbol.kind == SymbolKind::Constant { Role::Constant } else { Role::Label };
    let place = assembled.and_then(|assembled| assembled.sources.get(symbol.span.file.0 as usize)).map(|source| {
        let (line, _) = source.line_column(symbol.span.start);
        format!(", defined in line {line} of `{}`", source.name)
    });
    let value = symbol.value;
    format!("`{name}` = {value} ({value:#x}) · {}{}", kind.word(), place.unwrap_or_default())
}

/// Describes a directive, a function or an operator, by whatever name the machine's programs give it.
fn of_dialect(reading: &assembly::Reading, at: usize, (sheet, words): (&Sheet, &Words)) -> Option<String> {
    let piece = reading.pieces.iter().find(|piece| piece.start <= at && at <= piece.end);
    let text = piece.map_or("", |piece| &reading.text[piece.start..piece.end]);
    match piece.map(|piece| piece.class) {
        Some(Class::Directive) => dialect::directive(words, text),
        Some(Class::Function) => dialect::word(sheet, text),
        Some(Class::Name) if dialect::is_section(words, text) => dialect::word(sheet, text),
        Some(_) => None,
        // Between the pieces are marks, and the words between a name and its value.
        None => match reading.word_at(at) {
            Some(word) => dialect::directive(words, word),
            None => reading.marks_at(at).and_then(|(marks, at)| dialect::mark(words, marks, at)),
        },
    }
}
