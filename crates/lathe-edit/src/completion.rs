//! What can be written at a place.

use std::collections::BTreeSet;

use lathe_doc::Sheet;
use lathe_isa::model::BareLabels;

use crate::assembly::{self, Role, Words};
use crate::definition::{self, ITEMS, Kind};
use crate::{dialect, operands};

/// Something that can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// Its name, which is inserted unless there is a template.
    pub label: String,
    /// What it is.
    pub kind: SuggestionKind,
    /// A few words about it; may be empty.
    pub detail: String,
    /// What to insert instead of the label, with `${1:places}` to fill in.
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

/// What devices can be asked to do.
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

pub(crate) fn suggestion(label: &str, kind: SuggestionKind, detail: impl Into<String>) -> Suggestion {
    Suggestion { label: label.to_owned(), kind, detail: detail.into(), template: None }
}

/// Returns the part of the line before a place.
fn before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or(text);
    before.rsplit_once('\n').map_or(before, |(_, line)| line)
}

/// Returns what can be written at a place of a definition.
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

/// Returns what can be written at a place of a program. Without a machine there are still directives and labels.
pub fn assembly(text: &str, at: usize, machine: Option<(&Sheet, &Words)>) -> Vec<Suggestion> {
    let default = Words::default();
    let (sheet, words) = machine.map_or((None, &default), |(sheet, words)| (Some(sheet), words));
    let reading = assembly::Reading::new(text, words);
    if reading.is_in_comment(at) {
        return Vec::new();
    }
    let before = before(text, at);
    let code = before.rsplit_once(':').map_or(before, |(_, code)| code).trim_start();
    let is_of_word = |c: char| c.is_alphanumeric() || "._".contains(c);
    let rest = code.trim_end_matches(is_of_word);
    if !code.contains([' ', '\t', ',']) {
        return in_its_letters(&code[rest.len()..], operations(&reading, sheet, words));
    }
    let operation = code.split([' ', '\t', ',']).next().unwrap_or("");
    if words.own.directive(operation) == Some(".section") {
        return dialect::sections(words, sheet);
    }
    // After a label there may be another operation, after a name a word that makes it a constant.
    let follows_name = !words.begins(operation) && rest.trim_end() == operation;
    let mut all = if follows_name { dialect::definers(words) } else { Vec::new() };
    if follows_name && words.own.habits.bare_labels != BareLabels::Never {
        all.extend(operations(&reading, sheet, words));
    }
    let mut all = in_its_letters(&code[rest.len()..], all);
    all.extend(machine.map_or(Vec::new(), |machine| modes(&reading, at, machine)));
    all.extend(operands(&reading, at, words));
    all.extend(dialect::functions(words, sheet, rest.ends_with('%')));
    all
}

/// Puts suggestions in capitals after a word in capitals.
fn in_its_letters(word: &str, mut all: Vec<Suggestion>) -> Vec<Suggestion> {
    let has = |is_so: fn(&char) -> bool| word.chars().any(|c| is_so(&c));
    if has(char::is_ascii_uppercase) && !has(char::is_ascii_lowercase) {
        all.iter_mut().filter(|one| one.kind != SuggestionKind::Macro).for_each(|one| one.label.make_ascii_uppercase());
    }
    all
}

/// Returns the ways to write the operand at a place, if it has several, with their fields to fill in.
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

fn operations(reading: &assembly::Reading, sheet: Option<&Sheet>, words: &Words) -> Vec<Suggestion> {
    let mut all = Vec::new();
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
    all.extend(dialect::directives(words));
    all
}

fn operands(reading: &assembly::Reading, at: usize, words: &Words) -> Vec<Suggestion> {
    let registers = words.reserved.iter().map(|name| suggestion(name, SuggestionKind::Register, "register"));
    let mut all: Vec<Suggestion> = registers.collect();
    // A local label is written without its owner if the owner is the last full label before the place.
    let owned = reading.owner_at(at).map(|owner| format!("{owner}."));
    for name in reading.definitions().filter(|name| name.role != Role::Macro) {
        let is_owned = owned.as_ref().is_some_and(|owner| name.name.starts_with(owner.as_str()));
        let written = if is_owned { &reading.text[name.start..name.end] } else { name.name.as_str() };
        let is_label = name.role == Role::Label;
        let kind = if is_label { SuggestionKind::Label } else { SuggestionKind::Constant };
        all.push(suggestion(written, kind, name.role.word()));
    }
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
        assert!(assembly("loop: add ; ", 12, Some((&sheet, &words))).is_empty(), "nothing in a comment");
    }

    #[test]
    fn local_labels_are_offered_as_they_are_written_there() {
        let program = "first: nop\n.next: nop\n jmp \nsecond: jmp ";
        let inside = assembly(program, program.find("\nsecond").unwrap(), None);
        assert!(labels(&inside).contains(&".next") && !labels(&inside).contains(&"first.next"));
        let outside = assembly(program, program.len(), None);
        assert!(labels(&outside).contains(&"first.next") && !labels(&outside).contains(&".next"));
    }

    #[test]
    fn a_dialects_names_are_offered_where_they_can_stand() {
        let offered = |machine: &str, program: &str| {
            let loaded = lathe_isa::load(lathe_machines::find(machine).unwrap().definition);
            let isa = loaded.isa.unwrap();
            let (sheet, words) = (Sheet::new(&isa, &loaded.written), Words::new(&isa));
            assembly(program, program.len(), Some((&sheet, &words)))
        };
        let detail = |all: &[Suggestion], label: &str| {
            all.iter().find(|one| one.label == label).map(|one| one.detail.clone()).unwrap_or_default()
        };
        // as65: directives without their dots, even after a label in column 1; capitals after capitals.
        let first = offered("mos6502", "        d");
        assert_eq!(detail(&first, "dw"), "= .word: two bytes in the machine's order, or one cell if cells are wider");
        assert!(labels(&first).contains(&"endm") && labels(&first).contains(&".res") && !labels(&first).contains(&"="));
        let second = offered("mos6502", "table d");
        assert!(["db", "equ", "lda"].iter().all(|word| labels(&second).contains(word)), "{:?}", labels(&second));
        assert!(["DB", "LDA"].iter().all(|word| labels(&offered("mos6502", "        D")).contains(word)));
        // Its operators, with their results, and its sections.
        assert_eq!(detail(&offered("mos6502", "  lda #l"), "lo"), "lo V = V[7:0]");
        assert!(!labels(&offered("mos6502", "  lda #l")).contains(&"db"));
        assert_eq!(detail(&offered("mos6502", "  .segment C"), "CODE"), "a section, from ram[0x800] on");
        assert!(labels(&offered("mos6502", "  .segment C")).contains(&"ram"));
        // RGBDS writes functions as calls, gas with a `%`, which may already be there.
        assert_eq!(detail(&offered("sm83", "  db h"), "high"), "high(V) = V[15:8]");
        assert!(labels(&offered("rv32i", "  lui a0, ")).contains(&"%hi"));
        assert!(labels(&offered("rv32i", "  lui a0, %h")).contains(&"hi"));
        // A machine without a dialect has only names with dots.
        assert!(!labels(&offered("hex8", "  b")).contains(&"byte"));
    }
}
