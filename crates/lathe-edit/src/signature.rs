//! What is being written: the forms of an instruction, or the parameters of a function, and which operand is next.

use lathe_doc::{FieldData, InstructionData, ModeData, RowData, Sheet};

use crate::assembly::{self, Words};
use crate::definition::{self, Kind};
use crate::{description, operands};

/// One way to complete what is being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// All of it.
    pub label: String,
    /// What it does.
    pub documentation: String,
    /// Its operands or parameters, and what each can be, which may be empty.
    pub parameters: Vec<(String, String)>,
}

/// Returns the forms of the instruction at a place of a program, and the number of the operand there.
pub fn assembly(text: &str, at: usize, (sheet, words): (&Sheet, &Words)) -> Option<(Vec<Signature>, usize)> {
    let reading = assembly::Reading::new(text, words);
    let statement = reading.statement_at(at).filter(|one| one.operation.1 < at)?;
    let word = &reading.text[statement.operation.0..statement.operation.1];
    let active = statement.commas.iter().filter(|comma| **comma < at).count();
    Some((forms(sheet, word)?, active))
}

/// Returns the forms of a mnemonic.
fn forms(sheet: &Sheet, mnemonic: &str) -> Option<Vec<Signature>> {
    let signature = |(row, one): (&RowData, &InstructionData)| Signature {
        label: one.syntax.clone(),
        documentation: row.meaning.clone(),
        parameters: operands::parameters(&one.syntax).map(|name| (name.to_owned(), operand(sheet, name))).collect(),
    };
    let all: Vec<Signature> = description::forms(sheet, mnemonic).into_iter().map(signature).collect();
    (!all.is_empty()).then_some(all)
}

/// Returns what can be written for an operand.
fn operand(sheet: &Sheet, name: &str) -> String {
    if let Some(operand) = sheet.modes.iter().find(|operand| operand.name == name) {
        let mode = |mode: &ModeData| mode.syntax.clone();
        return operand.modes.iter().map(mode).collect::<Vec<_>>().join("   ");
    }
    let field: Option<&FieldData> = sheet.fields.iter().find(|field| field.name == name);
    field.map_or(String::new(), |field| field.description.replace('`', ""))
}

/// Returns the function whose arguments are at a place of a definition, or the forms of the instruction that an example
/// or a pseudo-instruction has there.
pub fn definition(text: &str, at: usize, sheet: Option<&Sheet>) -> Option<(Vec<Signature>, usize)> {
    let reading = definition::Reading::new(text);
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let before = &text[start..at];
    if let Some((function, active)) = call(before) {
        let declared = reading.named(function).filter(|one| one.kind == Kind::Function)?;
        return Some((vec![function_signature(text, declared)?], active));
    }
    let row = reading.row_at(at).filter(|row| matches!(row.kind, Kind::Example | Kind::Pseudo))?;
    let line = match row.kind {
        Kind::Example if !before.contains(" :") => before,
        Kind::Pseudo => before.split_once("=>")?.1.rsplit(';').next()?,
        _ => return None,
    };
    let (word, operands) = line.trim_start().split_once([' ', '\t'])?;
    Some((forms(sheet?, word)?, operands.matches(',').count()))
}

/// Returns the function whose parenthesis is open at the end of a text, and the number of the argument there.
fn call(text: &str) -> Option<(&str, usize)> {
    let (mut depth, mut commas) = (0, 0);
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '(' => {
                let word = &text[..at];
                let name = word.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
                return (name < at).then_some((&word[name..], commas));
            }
            '{' | '}' | ';' | '[' => return None,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// Returns the signature of a function as declared: `push(x: u16)`.
fn function_signature(text: &str, declared: &definition::Declared) -> Option<Signature> {
    let head = text.get(declared.span.start as usize..)?.split('{').next()?.trim().to_owned();
    let inside = head.split_once('(')?.1.rsplit_once(')')?.0;
    let parameters = inside.split(',').map(str::trim).filter(|one| !one.is_empty());
    let parameters = parameters.map(|one| (one.to_owned(), String::new())).collect();
    Some(Signature { label: head, documentation: String::new(), parameters })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(machine: &str) -> (Sheet, Words, &'static str) {
        let text = lathe_machines::find(machine).unwrap().definition;
        let loaded = lathe_isa::load(text);
        let isa = loaded.isa.unwrap();
        (Sheet::new(&isa, &loaded.written), Words::new(&isa), text)
    }

    #[test]
    fn the_modes_of_an_operand_are_told() {
        let (sheet, words, _) = loaded("pdp11");
        let program = ".machine pdp11\n mov (r1)+, ";
        let (forms, active) = assembly(program, program.len(), (&sheet, &words)).unwrap();
        assert_eq!((forms[0].label.as_str(), active), ("mov S, D", 1));
        assert!(forms[0].parameters[1].1.contains("@X(Q)"), "{forms:?}");
        assert!(!forms[0].parameters[1].1.contains("#N   "), "{forms:?}");
    }

    #[test]
    fn calls_and_examples_of_a_definition_have_their_parameters() {
        let (sheet, _, text) = loaded("pdp11");
        let at = text.find("interrupt(word").unwrap() + "interrupt(word & 0o177770 == 0o100 || (1, 2) ".len();
        let typed =
            text.replacen("interrupt(word & 0o177770 == 0o100 ||", "interrupt(word & 0o177770 == 0o100 || (1, 2) ", 1);
        let (found, active) = definition(&typed, at, Some(&sheet)).unwrap();
        assert_eq!((found[0].label.as_str(), active), ("interrupt(vector: u16, from: u16)", 0));
        assert_eq!(found[0].parameters[1].0, "from: u16");
        let example = format!("{text}\nexamples {{\n  mov r1, \n}}\n");
        let at = example.find("mov r1, \n").unwrap() + "mov r1, ".len();
        let sound = example.replace("mov r1, \n", "mov r1, r2 : -> r2 = 0\n");
        let (found, active) = definition(&sound, at, Some(&sheet)).unwrap();
        assert_eq!((found[0].label.as_str(), active), ("mov S, D", 1));
    }
}
