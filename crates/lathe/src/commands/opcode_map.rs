//! The opcode map of `lathe check --map`: a grid, sixteen places wide, as in a datasheet.

use std::fmt::Write;

use lathe_isa::Isa;
use lathe_isa::coverage::{Coverage, Filling, Slot};

use crate::render;

/// Characters of one place. Sixteen of them and the row's header fit into 120 columns.
const WIDTH: usize = 6;
/// Places in a row, in bits.
const ROW_BITS: u32 = 4;

/// The whole map, with a legend.
pub(super) fn grid(isa: &Isa, coverage: &Coverage) -> String {
    let low = coverage.bits.min(ROW_BITS);
    let columns = 1usize << low;
    let mut text = heading(isa, coverage);
    text += &format!("{:4}", "");
    for column in 0..columns {
        let _ = write!(text, " {:<WIDTH$}", digit(column, low));
    }
    trim(&mut text);
    for (row, slots) in coverage.slots.chunks(columns).enumerate() {
        let _ = write!(text, "{:>3} ", row_header(row, coverage.bits, low));
        slots.iter().for_each(|slot| text += &format!(" {}", place(isa, slot)));
        trim(&mut text);
    }
    text + &legend(isa, coverage)
}

fn heading(isa: &Isa, coverage: &Coverage) -> String {
    let cell = isa.code_memory().cell.bits();
    let what = match cell {
        8 => "first byte".to_owned(),
        _ if cell == coverage.bits => "first cell".to_owned(),
        _ => format!("first {} bits of the first cell", coverage.bits),
    };
    format!("opcode map by the {what}\n\n")
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// The low bits, as they end every number in the column.
fn digit(column: usize, bits: u32) -> String {
    if bits == ROW_BITS { format!("_{column:X}") } else { format!("{column:X}") }
}

fn row_header(row: usize, bits: u32, low: u32) -> String {
    if bits > low { format!("{row:X}_") } else { String::new() }
}

/// One place, as wide as all others: coloured texts cannot be padded by the formatter.
fn place(isa: &Isa, slot: &Slot) -> String {
    let text = place_text(isa, slot);
    let gap = " ".repeat(WIDTH.saturating_sub(text.chars().count()));
    if slot.instructions.is_empty() { render::dim(&text) + &gap } else { text + &gap }
}

fn place_text(isa: &Isa, slot: &Slot) -> String {
    let names = mnemonics(isa, slot);
    let Some(first) = names.first() else { return ".".to_owned() };
    let several = if names.len() > 1 { "+" } else { "" };
    let partial = if slot.filling() == Filling::Partial { "*" } else { "" };
    let room = WIDTH - several.len() - partial.len();
    format!("{}{several}{partial}", first.chars().take(room).collect::<String>())
}

/// The mnemonics of the instructions of a slot, each once.
pub(super) fn mnemonics<'i>(isa: &'i Isa, slot: &Slot) -> Vec<&'i str> {
    let mut names: Vec<&str> = Vec::new();
    for id in &slot.instructions {
        let name = isa.instruction(*id).syntax.mnemonic();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Explains the marks that occur.
fn legend(isa: &Isa, coverage: &Coverage) -> String {
    let any = |condition: &dyn Fn(&Slot) -> bool| coverage.slots.iter().any(condition);
    let marks = [
        (any(&|slot| slot.filling() == Filling::Empty), ".  undefined"),
        (any(&|slot| slot.filling() == Filling::Partial), "*  partly defined: the rest of the encoding decides"),
        (any(&|slot| mnemonics(isa, slot).len() > 1), "+  several instructions begin so; the first is named"),
    ];
    let lines: String = marks.iter().filter(|(occurs, _)| *occurs).map(|(_, line)| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
