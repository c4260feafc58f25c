//! A start for users of customasm: its rules as a definition.
//!
//! Rules say how instructions are written and which bits they have. That becomes rows and fields; what the instructions
//! do is left open, as a meaning that stops the machine. Whatever a row cannot express is a finding with the place of
//! its rule, and the definition is made without it. The result always passes the check: rows that fail it are removed
//! again, with the reason.

mod fields;
mod reading;
mod rows;
mod value;
mod writing;

use std::collections::BTreeSet;

use lathe_base::Severity;

use rows::{Pseudo, Row};
use writing::{Line, Machine, Written};

/// A definition made from rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The definition.
    pub text: String,
    /// What could not be carried over, in the order of the file.
    pub findings: Vec<Finding>,
}

/// Something that could not be carried over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The byte where it begins.
    pub at: usize,
    /// What it is, and why.
    pub message: String,
}

/// The longest file of rules, in bytes.
const LONGEST: usize = lathe_base::limits::DEFINITION_BYTES;
/// The most rounds of removing rows that the check refuses.
const ROUNDS: usize = 40;

/// Makes a definition from the rules in a file of customasm. `file` is the name of the file.
///
/// # Errors
/// If no rule can be carried over; the findings say why.
pub fn import_customasm(file: &str, text: &str) -> Result<Import, Vec<Finding>> {
    if text.len() > LONGEST {
        return Err(vec![Finding { at: 0, message: format!("it is longer than {LONGEST} bytes") }]);
    }
    let mut rules = reading::read(text);
    let mut findings = std::mem::take(&mut rules.findings);
    let cell = match rules.bits.unwrap_or(8) {
        bits @ 1..=64 => bits as u32,
        bits => return Err(vec![Finding { at: 0, message: format!("cells of {bits} bits: they have 1 to 64") }]),
    };
    let (mut rows, mut pseudos) = rows::rows(&rules, cell, &mut findings);
    rows.retain(|row| match writing::uncountable(row, cell) {
        None => true,
        Some(reason) => {
            findings.push(Finding { at: row.at, message: format!("`{}`: {reason}", row.written) });
            false
        }
    });
    note_weaker(&rows, &mut findings);
    let machine = machine(file, &rules, cell);
    let written = accepted(&machine, &mut rows, &mut pseudos, &mut findings);
    findings.sort();
    findings.dedup();
    match written {
        Some(written) => Ok(Import { text: written.text, findings }),
        None => {
            if findings.is_empty() {
                findings.push(Finding { at: 0, message: "there is no rule in it".to_owned() });
            }
            Err(findings)
        }
    }
}

fn machine(file: &str, rules: &reading::Rules, cell: u32) -> Machine {
    let stem = file.rsplit(['/', '\\']).next().unwrap_or(file).split('.').next().unwrap_or("");
    let mut name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    name = name.trim_matches('_').to_lowercase();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "machine");
    }
    let start = rules.address.unwrap_or(0).min(u128::from(u64::MAX));
    let end = start.saturating_add(rules.size.unwrap_or(0x10000 - start.min(0xFFFF))).clamp(2, 1 << 64);
    let address = (128 - (end - 1).leading_zeros()).clamp(1, 64);
    let file = file.chars().filter(|c| !c.is_control()).collect();
    Machine { name, file, cell, address, start: start & ((1 << address) - 1) }
}

/// Reports which rows are less strict than their rules, and once that rows are stricter.
fn note_weaker(rows: &[Row], findings: &mut Vec<Finding>) {
    for row in rows.iter().filter(|row| row.facts.has_unknown) {
        let message = format!("`{}`: its assertion; the row is there without it", row.written);
        findings.push(Finding { at: row.at, message });
    }
    if let Some(row) = rows.iter().find(|row| row.operands.iter().any(|operand| operand.is_cut)) {
        let message = format!(
            "`{}`: numbers are cut to the bits that are left for them; here one that does not fit is an error",
            row.written
        );
        findings.push(Finding { at: row.at, message });
    }
}

/// Writes the definition without the rows that the check refuses.
fn accepted(
    machine: &Machine,
    rows: &mut Vec<Row>,
    pseudos: &mut Vec<Pseudo>,
    findings: &mut Vec<Finding>,
) -> Option<Written> {
    for _ in 0..ROUNDS {
        if rows.is_empty() {
            return None;
        }
        let written = writing::write(machine, rows, pseudos);
        let refused = refused(&written, rows);
        if refused.rows.is_empty() && refused.pseudos.is_empty() {
            return refused.is_sound.then_some(written);
        }
        let finding =
            |at: usize, written: &str, reason: &str| Finding { at, message: format!("`{written}`: {reason}") };
        for (number, reason) in &refused.rows {
            findings.push(finding(rows[*number].at, &rows[*number].written, reason));
        }
        for (number, reason) in &refused.pseudos {
            findings.push(finding(pseudos[*number].at, &pseudos[*number].written, reason));
        }
        remove(rows, &refused.rows.iter().map(|(number, _)| *number).collect());
        remove(pseudos, &refused.pseudos.iter().map(|(number, _)| *number).collect());
    }
    None
}

/// What the check refuses, with its reasons.
#[derive(Default)]
struct Refused {
    rows: Vec<(usize, String)>,
    pseudos: Vec<(usize, String)>,
    is_sound: bool,
}

fn refused(written: &Written, rows: &[Row]) -> Refused {
    let loaded = lathe_isa::load(&written.text);
    let mut refused = Refused { is_sound: loaded.isa.is_some(), ..Refused::default() };
    for error in loaded.diagnostics.into_sorted() {
        if error.severity() != Severity::Error {
            continue;
        }
        let before = &written.text[..error.primary.span.start as usize];
        match written.lines.get(before.matches('\n').count()) {
            Some(Line::Row(number)) => refused.rows.push((*number, error.message)),
            Some(Line::Pseudo(number)) => refused.pseudos.push((*number, error.message)),
            // Impossible fields: remove the rows with operands of such names.
            Some(Line::Fields(names)) => {
                let is_one = |operand: &fields::Operand| names.iter().any(|name| name.starts_with(&operand.name));
                let users = rows.iter().enumerate().filter(|(_, row)| row.operands.iter().any(is_one));
                refused.rows.extend(users.map(|(number, _)| (number, error.message.clone())));
            }
            _ => {}
        }
    }
    for list in [&mut refused.rows, &mut refused.pseudos] {
        let mut seen = BTreeSet::new();
        list.retain(|(number, _)| seen.insert(*number));
    }
    refused
}

fn remove<T>(list: &mut Vec<T>, numbers: &BTreeSet<usize>) {
    let mut number = 0;
    list.retain(|_| {
        number += 1;
        !numbers.contains(&(number - 1))
    });
}
