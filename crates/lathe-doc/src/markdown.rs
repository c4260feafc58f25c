//! The datasheet as Markdown, for repositories and wikis.

use std::fmt::Write;

use crate::grouped;
use crate::html::{flag_effects, length, percent, row_cycles};
use crate::sheet::{DeviceData, HabitData, ModeData, PseudoData, RowData, Sheet, TrapData, ViewData};

/// Returns the datasheet as Markdown.
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
            let names = grouped::names_and_codes(&field.values).into_iter();
            let names: Vec<String> = names.map(|(name, value)| format!("`{name}` {value}")).collect();
            let is = joined(&field.description, &field.documentation);
            vec![code(&field.name), field.bits.to_string(), is, names.join(", ")]
        })
        .collect();
    text += &section("Operands", &["name", "bits", "is", "names and codes"], &operands);
    for operand in grouped::shared_modes(sheet) {
        let mode = |mode: &&ModeData| {
            vec![code(&mode.syntax), code(&mode.encoding()), joined(&code(&mode.meaning), &mode.documentation)]
        };
        let included =
            operand.includes.iter().map(|name| vec![format!("all modes of `{name}`"), String::new(), String::new()]);
        let modes: Vec<_> = included.chain(operand.modes.iter().map(mode)).collect();
        let title = format!("Modes of `{}`", operand.names.join("`, `"));
        text += &section_with_prose(&title, operand.documentation, &["written", "bits", "is"], &modes);
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
    let pseudo = |pseudo: &PseudoData| {
        vec![code(&pseudo.syntax), joined(&code(&pseudo.expansion.join("; ")), &pseudo.documentation)]
    };
    let pseudos: Vec<_> = sheet.pseudos.iter().map(pseudo).collect();
    text += &section_with_prose("Pseudo-instructions", &sheet.blocks.pseudos, &["written", "stands for"], &pseudos);
    let habit = |habit: &HabitData| vec![code(&habit.written), joined(&habit.meaning, &habit.documentation)];
    let habits: Vec<_> = sheet.habits.iter().map(habit).collect();
    text += &section_with_prose("Assembly habits", &sheet.blocks.assembly, &["written", "means"], &habits);
    let examples: Vec<_> = sheet
        .examples
        .iter()
        .map(|example| {
            let passed = if example.passed { "as written" } else { "not as written" };
            let passed = joined(passed, &example.documentation);
            vec![code(&example.source), code(&example.before), code(&example.after), passed]
        })
        .collect();
    let heads = ["instruction", "before", "after", "executed"];
    text + &section_with_prose("Examples", &sheet.blocks.examples, &heads, &examples)
}

fn registers(sheet: &Sheet) -> String {
    let pc = &sheet.pc;
    let mut rows = vec![vec![
        code(&pc.name),
        pc.bits.to_string(),
        code(&sheet.number(pc.reset, pc.bits)),
        joined(&format!("program counter, in `{}`", pc.memory), &pc.documentation),
    ]];
    rows.extend(sheet.registers.iter().map(|register| {
        let note = match () {
            () if register.constant => "constant",
            () if register.mode => "mode: decides about encodings",
            () if register.flag => "flag",
            () => "",
        };
        vec![
            code(&register.name),
            register.bits.to_string(),
            code(&sheet.number(register.reset, register.bits)),
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

/// Joins a note and the prose after it.
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
    let maps: Vec<_> = grouped::maps(sheet)
        .iter()
        .map(|map| {
            let bits = sheet.address_bits(&map.memory);
            vec![
                code(&map.memory),
                code(&format!("{}..{}", sheet.number(map.first, bits), sheet.number(map.last, bits))),
                code(&map.read) + if map.code { ", code too" } else { "" },
                joined(&code(&map.write), &map.documentation),
            ]
        })
        .collect();
    let device = |device: &DeviceData| vec![code(&device.name), code(&device.kind), joined("", &device.documentation)];
    let devices: Vec<_> = sheet.devices.iter().map(device).collect();
    let trap = |trap: &TrapData| vec![code(&trap.name), joined(&trap.value.to_string(), &trap.documentation)];
    let traps: Vec<_> = sheet.traps.iter().map(trap).collect();
    let contents: Vec<_> = sheet
        .contents
        .iter()
        .map(|contents| {
            let memory = sheet.memories.iter().find(|memory| memory.name == contents.memory);
            let bits = memory.map_or(8, |memory| memory.cell_bits);
            let cells: Vec<String> = contents.cells.iter().map(|cell| sheet.number(*cell, bits)).collect();
            vec![
                code(&contents.memory),
                code(&sheet.number(contents.address, sheet.address_bits(&contents.memory))),
                joined(&code(&cells.join(" ")), &contents.documentation),
            ]
        })
        .collect();
    let mut text = section("Memory", &["name", "cells", "bits of a cell", "order", "holds"], &rows);
    let heads = ["memory", "address", "a read gives", "a write does"];
    text += &section_with_prose("Memory map", &sheet.blocks.maps, &heads, &maps);
    text += &section("Contents at reset", &["memory", "from", "cells"], &contents);
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
    let mut text = "\n## Instructions\n".to_owned();
    // A heading covers all rows up to the next heading.
    for rows in sheet.rows.chunk_by(|_, next| next.heading.is_empty()) {
        let (title, rest) = rows[0].heading.split_once('\n').unwrap_or((&rows[0].heading, ""));
        if !title.is_empty() {
            let _ = write!(text, "\n### {title}\n");
        }
        let cells: Vec<_> = rows.iter().map(|row| instruction(sheet, row)).collect();
        text += &(paragraph(rest) + &table(&heads, &cells));
    }
    let share = sheet.coverage.share;
    text + &share.map_or(String::new(), |share| format!("\n{} of all encodings are defined.\n", percent(share)))
}

fn instruction(sheet: &Sheet, row: &RowData) -> Vec<String> {
    let first = &row.instructions[0];
    let mut cells = vec![code(&row.syntax), code(&row.encoding()), length(first)];
    cells.extend(row_cycles(row));
    cells.push(joined(&code(&row.meaning), &row.documentation));
    let flags = flag_effects(sheet, row).into_iter().filter(|(_, effect)| *effect != "–");
    cells.push(flags.map(|(name, effect)| format!("{name} {effect}")).collect::<Vec<_>>().join(", "));
    cells
}

/// Marks up code in a table cell, where `|` would end the cell. An empty text stays empty.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.is_empty() {
        return text;
    }
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{}{fence}", text.replace('|', "\\|"))
}

fn section(title: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    section_with_prose(title, "", heads, rows)
}

fn section_with_prose(title: &str, prose: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!("\n## {title}\n{}{}", paragraph(prose), table(heads, rows))
}

fn paragraph(prose: &str) -> String {
    if prose.trim().is_empty() { String::new() } else { format!("\n{}\n", prose.trim()) }
}

fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let line: Vec<String> = heads.iter().map(|_| "---".to_owned()).collect();
    let body: String = rows.iter().map(|cells| row(cells)).collect();
    format!("\n{}{}{body}", row(&heads), row(&line))
}
