//! What can be written at a place.

use std::collections::BTreeSet;

use lathe_doc::Sheet;

use lathe_asm::words::DIRECTIVES;

use crate::assembly::{self, FUNCTIONS, Role, Words};
use crate::definition::{self, ITEMS, Kind};
use crate::operands;

/// Something that can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What it is called, and what is written unless there is a template.
    pub label: String,
    /// What it is.
    pub kind: SuggestionKind,
    /// A few words about it; may be empty.
    pub detail: String,
    /// What is written instead of the label, with `${1:places}` to fill in.
    pub template: Option<String>,
}

/// What a suggestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum SuggestionKind {
    Keyword,
    Instruction,
    Function,
    Macro,
    Register,
    Operand,
    Label,
    Constant,
    Method,
}

/// Words of meanings that are worth suggesting.
const STATEMENTS: [&str; 15] = [
    "let", "if", "else", "for", "skip", "halt", "fault", "cycles", "next", "signed", "unsigned", "zext", "sext",
    "rotl", "rotr",
];

/// What devices can be asked.
const OPERATIONS: [&str; 12] = [
    "read()",
    "write()",
    "ready()",
    "get()",
    "set()",
    "clear()",
    "scroll()",
    "row()",
    "set_row()",
    "down()",
    "any()",
    "key()",
];

fn suggestion(label: &str, kind: SuggestionKind, detail: impl Into<String>) -> Suggestion {
    Suggestion { label: label.to_owned(), kind, detail: detail.into(), template: None }
}

/// The text of the line before a place.
fn before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or(text);
    before.rsplit_once('\n').map_or(before, |(_, line)| line)
}

/// What can be written at a place of a definition.
pub fn definition(text: &str, at: usize) -> Vec<Suggestion> {
    let before = before(text, at);
    if before.chars().all(char::is_alphanumeric) {
        let template = |(word, template): &(&str, &'static str)| Suggestion {
            template: Some((*template).to_owned()),
            ..suggestion(word, SuggestionKind::Keyword, "declaration")
        };
        return ITEMS.iter().map(template).collect();
    }
    if before.trim_end().ends_with('.') {
        return OPERATIONS.iter().map(|word| suggestion(word, SuggestionKind::Method, "of a device")).collect();
    }
    let reading = definition::Reading::new(text);
    let plain = reading.declared.iter().filter(|one| one.kind.is_plain());
    let mut all: Vec<Suggestion> = plain
        .map(|one| {
            let kind = match one.kind {
                Kind::Function => SuggestionKind::Function,
                Kind::Field | Kind::Family => SuggestionKind::Operand,
                _ => SuggestionKind::Register,
            };
            suggestion(&one.name, kind, one.kind.word())
        })
        .collect();
    all.extend(STATEMENTS.iter().map(|word| suggestion(word, SuggestionKind::Keyword, "")));
    all
}

/// What can be written at a place of a program. Without a machine there are still directives and labels.
pub fn assembly(text: &str, at: usize, machine: Option<(&Sheet, &Words)>) -> Vec<Suggestion> {
    let default = Words::default();
    let words = machine.map_or(&default, |(_, words)| words);
    let reading = assembly::Reading::new(text, words);
    let before = before(text, at);
    let code = before.rsplit_once(':').map_or(before, |(_, code)| code).trim_start();
    match code.contains([' ', '\t', ',']) {
        false => operations(&reading, machine.map(|(sheet, _)| sheet)),
        true => {
            let mut all = machine.map_or(Vec::new(), |machine| modes(&reading, at, machine));
            all.extend(operands(&reading, words));
            all
        }
    }
}

/// The ways to write the operand at a place, if it has several, with their fields to fill in.
fn modes(reading: &assembly::Reading, at: usize, (sheet, words): (&Sheet, &Words)) -> Vec<Suggestion> {
    let Some(statement) = reading.statement_at(at) else { return Vec::new() };
    let mnemonic = &reading.text[statement.operation.0..statement.operation.1];
    let number = statement.commas.iter().filter(|comma| **comma < at).count();
    let mut all: Vec<Suggestion> = Vec::new();
    for mode in operands::with_modes(sheet, mnemonic, number).iter().flat_map(|operand| &operand.modes) {
        if all.iter().any(|known| known.label == mode.syntax) {
            continue;
        }
        let template = operands::template(words, &mode.syntax);
        all.push(Suggestion { template, ..suggestion(&mode.syntax, SuggestionKind::Operand, mode.meaning.clone()) });
    }
    all
}

fn operations(reading: &assembly::Reading, sheet: Option<&Sheet>) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> =
        DIRECTIVES.iter().map(|(word, _)| suggestion(word, SuggestionKind::Keyword, "")).collect();
    let mut seen = BTreeSet::new();
    for row in sheet.iter().flat_map(|sheet| &sheet.rows) {
        for one in row.instructions.iter().filter(|one| seen.insert(one.syntax.clone())) {
            let detail = format!("{}  {}", one.syntax, row.meaning);
            all.push(suggestion(&one.mnemonic, SuggestionKind::Instruction, detail));
        }
    }
    for pseudo in sheet.iter().flat_map(|sheet| &sheet.pseudos) {
        let head = pseudo.syntax.split([' ', '/']).next().unwrap_or("");
        let detail = format!("{} => {}", pseudo.syntax, pseudo.expansion.join("; "));
        all.push(suggestion(head, SuggestionKind::Instruction, detail));
    }
    let macros = reading.definitions().filter(|name| name.role == Role::Macro);
    all.extend(macros.map(|name| suggestion(&name.name, SuggestionKind::Macro, "macro")));
    all
}

fn operands(reading: &assembly::Reading, words: &Words) -> Vec<Suggestion> {
    let registers = words.reserved.iter().map(|name| suggestion(name, SuggestionKind::Register, "register"));
    let mut all: Vec<Suggestion> = registers.collect();
    for name in reading.definitions().filter(|name| name.role != Role::Macro) {
        let is_label = name.role == Role::Label;
        let (kind, detail) =
            if is_label { (SuggestionKind::Label, "label") } else { (SuggestionKind::Constant, "constant") };
        all.push(suggestion(&name.name, kind, detail));
    }
    all.extend(FUNCTIONS.iter().map(|name| suggestion(name, SuggestionKind::Function, "function")));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(all: &[Suggestion]) -> Vec<&str> {
        all.iter().map(|one| one.label.as_str()).collect()
    }

    #[test]
    fn a_new_line_of_a_definition_begins_with_a_declaration() {
        let all = definition("machine m\nreg", 13);
        assert!(labels(&all).contains(&"register"));
        assert!(all.iter().all(|one| one.template.is_some()));
    }

    #[test]
    fn a_program_is_offered_its_machines_instructions_then_registers_and_labels() {
        let text = lathe_machines::find("hex8").unwrap().definition;
        let loaded = lathe_isa::load(text);
        let isa = loaded.isa.unwrap();
        let (sheet, words) = (Sheet::new(&isa, &loaded.written), Words::new(&isa));
        let program = "loop: add\n jmp ";
        let first = assembly(program, 9, Some((&sheet, &words)));
        assert!(labels(&first).contains(&"addimm"));
        let second = assembly(program, program.len(), Some((&sheet, &words)));
        assert!(labels(&second).contains(&"loop") && labels(&second).contains(&"r1"));
        assert!(!labels(&second).contains(&"addimm"));
        assert!(labels(&assembly(program, 9, None)).contains(&".byte"));
    }
}
