//! What hovering over an instruction shows: its rows as the datasheet has them.

use lathe_doc::{InstructionData, ModeData, ModesData, RowData, Sheet};

/// The most rows of a mnemonic that are shown; the rest are counted.
const ROWS: usize = 8;

/// Returns the instructions with this mnemonic, and their rows.
pub fn forms<'s>(sheet: &'s Sheet, mnemonic: &str) -> Vec<(&'s RowData, &'s InstructionData)> {
    let is_named = |one: &InstructionData| {
        std::iter::once(&one.mnemonic).chain(&one.spellings).any(|name| name.eq_ignore_ascii_case(mnemonic))
    };
    let all = sheet.rows.iter().flat_map(|row| row.instructions.iter().map(move |one| (row, one)));
    all.filter(|(_, one)| is_named(one)).collect()
}

/// Describes a mnemonic, as Markdown; `None` if the machine does not have it. The forms with the highest `rank` come
/// first.
pub fn mnemonic(sheet: &Sheet, mnemonic: &str, rank: impl Fn(&InstructionData) -> usize) -> Option<String> {
    let mut forms = forms(sheet, mnemonic);
    forms.sort_by_key(|(_, one)| std::cmp::Reverse(rank(one)));
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
        .map(|one| {
            let prose = if one.documentation.is_empty() { String::new() } else { format!("{}\n\n", one.documentation) };
            format!("{prose}```isa\n{} => {}\n```", one.syntax, one.expansion.join("; "))
        })
        .collect();
    let mut parts: Vec<String> = forms.iter().take(ROWS).map(|(row, one)| form(row, one)).collect();
    parts.extend(pseudos.into_iter().take(ROWS));
    if forms.len() > ROWS {
        parts.push(format!("and {} more forms", forms.len() - ROWS));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// Describes one way to write an operand.
pub fn mode(operand: &ModesData, mode: &ModeData) -> String {
    let prose = if mode.documentation.is_empty() { String::new() } else { format!("\n\n{}", mode.documentation) };
    let meaning = if mode.meaning.is_empty() { String::new() } else { format!("\n```isa\n{}\n```", mode.meaning) };
    format!("**`{}`** of `{}` · `{}`{prose}{meaning}", mode.syntax, operand.name, mode.picture)
}

/// Describes a register, a view or the program counter, by any of its names.
pub fn register(sheet: &Sheet, name: &str) -> Option<String> {
    let is_it = |known: &String| known.eq_ignore_ascii_case(name);
    let register = sheet.registers.iter().find(|one| std::iter::once(&one.name).chain(&one.spellings).any(is_it));
    let view = sheet.views.iter().find(|one| is_it(&one.name));
    let (what, bits, prose) = match (register, view) {
        (Some(one), _) => ("register".to_owned(), one.bits, &one.documentation),
        (None, Some(one)) => (format!("`{}`", one.value), one.bits, &one.documentation),
        (None, None) if is_it(&sheet.pc.name) => ("program counter".to_owned(), sheet.pc.bits, &sheet.pc.documentation),
        (None, None) => return None,
    };
    let bits = if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") };
    let prose = if prose.is_empty() { String::new() } else { format!(" · {prose}") };
    Some(format!("`{name}` · {what} · {bits}{prose}"))
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

/// Returns the bits with a blank where a part ends.
fn spaced(one: &InstructionData) -> String {
    let mut bits = one.bits.chars();
    let parts = one.parts.iter().map(|part| bits.by_ref().take(part.width as usize).collect::<String>());
    parts.collect::<Vec<_>>().join(" ")
}
