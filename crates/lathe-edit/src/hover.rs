//! What is shown about the thing at a place, as Markdown.

use lathe_asm::Symbol;
use lathe_doc::Sheet;

use crate::assembly::{self, Words};
use crate::{definition, description};

/// About a place of a definition. `sheet` is of the machine as it was when it last had no errors.
pub fn definition(text: &str, at: usize, sheet: Option<&Sheet>) -> Option<String> {
    let reading = definition::Reading::new(text);
    let word = reading.word_at(at);
    if let Some(declared) = word.filter(|word| word.is_name).and_then(|word| reading.named(word.text)) {
        return Some(reading.shown(declared));
    }
    let row = reading.row_at(at)?;
    let sheet = sheet?;
    let mnemonic = row.name.split([' ', '/']).next()?;
    let by_row = sheet.rows.iter().find(|one| one.syntax == row.name);
    let name = by_row.map_or(mnemonic, |row| row.instructions[0].mnemonic.as_str());
    description::mnemonic(sheet, name)
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
    Some(cells().map_or(shown.clone(), |cells| format!("`{cells}`\n\n{shown}")))
}
