//! The datasheet as Markdown, for repositories and wikis.

use std::fmt::Write;

use crate::html::{flag_effects, length, percent};
use crate::markup::hex;
use crate::sheet::{DeviceData, ModeData, Sheet, ViewData};

/// The datasheet as Markdown.
pub fn markdown(sheet: &Sheet) -> String {
    let mut text = format!("# {}\n\n{}\n", sheet.name, sheet.title);
    if !sheet.documentation.is_empty() {
        let _ = write!(text, "\n{}\n", sheet.documentation);
    }
    text += &registers(sheet);
    text += &memories(sheet);
    let operands: Vec<_> = sheet
        .fields
        .iter()
        .map(|field| {
            let names: Vec<String> =
                field.values.iter().map(|value| format!("`{}` {}", value.name, value.value)).collect();
            let is = joined(&field.description, &field.documentation);
            vec![code(&field.name), field.bits.to_string(), is, names.join(", ")]
        })
        .collect();
    text += &section("Operands", &["name", "bits", "is", "names and codes"], &operands);
    for operand in &sheet.modes {
        let mode = |mode: &ModeData| {
            vec![code(&mode.syntax), code(&mode.picture), joined(&code(&mode.meaning), &mode.documentation)]
        };
        let modes: Vec<_> = operand.modes.iter().map(mode).collect();
        text += &section(&format!("Modes of `{}`", operand.name), &["written", "bits", "is"], &modes);
    }
    let prefixes: Vec<_> = sheet
        .prefixes
        .iter()
        .map(|prefix| {
            let changes = prefix.changes.join(", ");
            vec![code(&prefix.name), code(&prefix.picture), code(&changes), joined("", &prefix.documentation)]
        })
        .collect();
    text += &section("Prefixes", &["name", "bits", "after it", ""], &prefixes);
    text += &instructions(sheet);
    if !sheet.functions.is_empty() {
        let _ = write!(text, "\n## Functions used in meanings\n\n```isa\n{}\n```\n", sheet.functions.join("\n"));
    }
    let pseudos: Vec<_> =
        sheet.pseudos.iter().map(|pseudo| vec![code(&pseudo.syntax), code(&pseudo.expansion.join("; "))]).collect();
    text += &section("Pseudo-instructions", &["written", "stands for"], &pseudos);
    let habits: Vec<_> = sheet.habits.iter().map(|habit| vec![code(&habit.written), habit.meaning.clone()]).collect();
    text += &section("Assembly habits", &["written", "means"], &habits);
    let examples: Vec<_> = sheet
        .examples
        .iter()
        .map(|example| {
            let passed = if example.passed { "as written" } else { "not as written" };
            vec![code(&example.source), code(&example.before), code(&example.after), passed.to_owned()]
        })
        .collect();
    text + &section("Examples", &["instruction", "before", "after", "executed"], &examples)
}

fn registers(sheet: &Sheet) -> String {
    let pc = &sheet.pc;
    let mut rows = vec![vec![
        code(&pc.name),
        pc.bits.to_string(),
        code(&hex(pc.reset, pc.bits)),
        joined(&format!("program counter, in `{}`", pc.memory), &pc.documentation),
    ]];
    rows.extend(sheet.registers.iter().map(|register| {
        let note = match () {
            () if register.constant => "constant",
            () if register.flag => "flag",
            () => "",
        };
        vec![
            code(&register.name),
            register.bits.to_string(),
            code(&hex(register.reset, register.bits)),
            joined(note, &register.documentation),
        ]
    }));
    let view = |view: &ViewData| {
        vec![code(&view.name), view.bits.to_string(), code(&view.value), joined("", &view.documentation)]
    };
    let views: Vec<_> = sheet.views.iter().map(view).collect();
    section("Registers", &["name", "bits", "at reset", ""], &rows)
        + &section("Views", &["name", "bits", "is", ""], &views)
}

/// A note, and prose after it.
fn joined(note: &str, documentation: &str) -> String {
    let documentation = documentation.replace('\n', " ").replace('|', "\\|");
    match (note, documentation.as_str()) {
        (note, "") => note.to_owned(),
        ("", documentation) => documentation.to_owned(),
        (note, documentation) => format!("{note}; {documentation}"),
    }
}

fn memories(sheet: &Sheet) -> String {
    let rows: Vec<_> = sheet
        .memories
        .iter()
        .map(|memory| {
            let holds = if memory.code { "code" } else { "" };
            vec![
                code(&memory.name),
                memory.cells.to_string(),
                memory.cell_bits.to_string(),
                memory.order.to_owned(),
                joined(holds, &memory.documentation),
            ]
        })
        .collect();
    let maps: Vec<_> = sheet
        .maps
        .iter()
        .map(|map| {
            vec![
                code(&map.memory),
                code(&format!("{:#X}..{:#X}", map.first, map.last)),
                code(&map.read),
                code(&map.write),
            ]
        })
        .collect();
    let device = |device: &DeviceData| vec![code(&device.name), code(&device.kind), joined("", &device.documentation)];
    let devices: Vec<_> = sheet.devices.iter().map(device).collect();
    let traps: Vec<_> = sheet.traps.iter().map(|trap| vec![code(&trap.name), trap.value.to_string()]).collect();
    let mut text = section("Memory", &["name", "cells", "bits of a cell", "order", "holds"], &rows);
    text += &section("Memory map", &["memory", "address", "a read gives", "a write does"], &maps);
    text += &section("Devices", &["name", "kind", ""], &devices);
    text += &section("Traps", &["name", "number"], &traps);
    if !sheet.hooks.is_empty() {
        let _ = write!(text, "\n```isa\n{}\n```\n", sheet.hooks.join("\n"));
    }
    text
}

fn instructions(sheet: &Sheet) -> String {
    let mut heads = vec!["instruction", "encoding", "cells"];
    if sheet.has_cycles {
        heads.push("cycles");
    }
    heads.extend(["meaning", "flags"]);
    let rows: Vec<_> = sheet
        .rows
        .iter()
        .map(|row| {
            let first = &row.instructions[0];
            let condition = if row.condition.is_empty() { String::new() } else { format!(" {}", row.condition) };
            let mut cells = vec![code(&row.syntax), code(&format!("{}{condition}", row.picture)), length(first)];
            if let Some((least, most)) = first.cycles {
                cells.push(if least == most { least.to_string() } else { format!("{least}–{most}") });
            }
            cells.push(code(&row.meaning.replace('\n', " ")));
            let flags: Vec<String> = flag_effects(sheet, row)
                .into_iter()
                .filter(|(_, effect)| *effect != "–")
                .map(|(name, effect)| format!("{name} {effect}"))
                .collect();
            cells.push(flags.join(", "));
            cells
        })
        .collect();
    let share = sheet
        .coverage
        .share
        .map_or(String::new(), |share| format!("\n{} of all encodings are defined.\n", percent(share)));
    section("Instructions", &heads, &rows) + &share
}

/// Code in a cell of a table, where `|` would end the cell. Nothing stays nothing.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.is_empty() {
        return text;
    }
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", text.replace('|', "\\|"))
}

fn section(title: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let line: Vec<String> = heads.iter().map(|_| "---".to_owned()).collect();
    let body: String = rows.iter().map(|cells| row(cells)).collect();
    format!("\n## {title}\n\n{}{}{body}", row(&heads), row(&line))
}
