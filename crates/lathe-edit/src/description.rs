//! What hovering over an instruction shows: its rows as the datasheet has them.

use lathe_doc::{InstructionData, RowData, Sheet};

/// The rows that a mnemonic begins, as Markdown. At most this many, the rest is counted.
const ROWS: usize = 8;

/// The instructions with this mnemonic, and their rows.
pub fn forms<'s>(sheet: &'s Sheet, mnemonic: &str) -> Vec<(&'s RowData, &'s InstructionData)> {
    let is_named = |one: &InstructionData| {
        std::iter::once(&one.mnemonic).chain(&one.spellings).any(|name| name.eq_ignore_ascii_case(mnemonic))
    };
    let all = sheet.rows.iter().flat_map(|row| row.instructions.iter().map(move |one| (row, one)));
    all.filter(|(_, one)| is_named(one)).collect()
}

/// What a mnemonic does, as Markdown; `None` if the machine does not have it.
pub fn mnemonic(sheet: &Sheet, mnemonic: &str) -> Option<String> {
    let forms = forms(sheet, mnemonic);
    let pseudo = |syntax: &str| {
        syntax
            .split([' ', '\t'])
            .next()
            .is_some_and(|head| head.split('/').any(|name| name.eq_ignore_ascii_case(mnemonic)))
    };
    let pseudos: Vec<String> = sheet
        .pseudos
        .iter()
        .filter(|one| pseudo(&one.syntax))
        .map(|one| format!("```isa\n{} => {}\n```", one.syntax, one.expansion.join("; ")))
        .collect();
    let mut parts: Vec<String> = forms.iter().take(ROWS).map(|(row, one)| form(row, one)).collect();
    parts.extend(pseudos.into_iter().take(ROWS));
    if forms.len() > ROWS {
        parts.push(format!("and {} more forms", forms.len() - ROWS));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn form(row: &RowData, one: &InstructionData) -> String {
    let mut text = format!("**`{}`** · `{}`", one.syntax, spaced(one));
    if let Some((least, most)) = one.cycles {
        text += &if least == most { format!(" · {least} cycles") } else { format!(" · {least}–{most} cycles") };
    }
    if !row.documentation.is_empty() {
        text += &format!("\n\n{}", row.documentation);
    }
    if !row.meaning.is_empty() {
        text += &format!("\n```isa\n{}\n```", row.meaning);
    }
    for member in &one.members {
        text += &format!("\n`{member}`");
    }
    let flags: Vec<String> = one.flags.iter().map(|flag| format!("`{}` {}", flag.name, flag.effect)).collect();
    if !flags.is_empty() {
        text += &format!("\n\nflags: {}", flags.join(", "));
    }
    text
}

/// The bits with a blank where a part ends.
fn spaced(one: &InstructionData) -> String {
    let mut bits = one.bits.chars();
    let parts = one.parts.iter().map(|part| bits.by_ref().take(part.width as usize).collect::<String>());
    parts.collect::<Vec<_>>().join(" ")
}
