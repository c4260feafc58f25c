//! The opcode map of `lathe check --map`, 80 columns wide: a grid by the first cell, as in a datasheet, or a list by
//! major opcode where instructions are too wide for a grid. Both end with the free opcodes.

use std::fmt::Write;

use lathe_isa::Isa;
use lathe_isa::coverage::{Coverage, Filling, Slot};
use lathe_isa::encoding::{Cube, cells, share, witness};
use serde::Serialize;

use crate::render;

/// Characters per place. Eight places and the row's header fit into 80 columns.
const WIDTH: usize = 8;
/// Places per row.
const COLUMNS: usize = 8;
/// The width of a terminal, in columns.
const SCREEN: usize = 80;
/// Machines with instructions of fewer bits are shown as a grid.
const WIDE: u32 = 16;
/// With more bits than this, a major opcode is no help.
const MAJOR_BITS: u32 = 10;

/// Renders the whole map, with a legend and the free opcodes.
pub(super) fn text(isa: &Isa, coverage: &Coverage) -> String {
    match Majors::of(isa) {
        Some(majors) => majors.text(isa),
        None => grid(isa, coverage),
    }
}

/// The free opcodes, as data.
#[derive(Debug, Serialize)]
pub(super) struct FreeData {
    /// The bits of an opcode, the highest first; `-` for bits outside it.
    picture: String,
    /// Opcodes without instructions.
    free: Vec<u64>,
}

pub(super) fn free_data(isa: &Isa, coverage: &Coverage) -> FreeData {
    match Majors::of(isa) {
        Some(majors) => FreeData { picture: majors.picture(), free: majors.free() },
        None => FreeData { picture: "x".repeat(coverage.bits as usize), free: free_slots(coverage) },
    }
}

fn free_slots(coverage: &Coverage) -> Vec<u64> {
    let slots = coverage.slots.iter().enumerate();
    slots.filter(|(_, slot)| slot.filling() == Filling::Empty).map(|(at, _)| at as u64).collect()
}

fn grid(isa: &Isa, coverage: &Coverage) -> String {
    let columns = coverage.slots.len().min(COLUMNS);
    let digits = coverage.bits.div_ceil(4) as usize;
    let mut text = heading(isa, coverage);
    text += &" ".repeat(digits + 2);
    for column in 0..columns {
        let _ = write!(text, " {:<WIDTH$}", format!("+{column}"));
    }
    trim(&mut text);
    let rows: Vec<&[Slot]> = coverage.slots.chunks(columns).collect();
    let is_free = |row: &[Slot]| row.iter().all(|slot| slot.instructions.is_empty());
    let mut at = 0;
    while at < rows.len() {
        let free = rows[at..].iter().take_while(|row| is_free(row)).count();
        if free > 1 {
            let (first, last) = (at * columns, (at + free) * columns - 1);
            text += &render::dim(&format!("{first:0digits$X} to {last:0digits$X} are free"));
            text.push('\n');
            at += free;
            continue;
        }
        let _ = write!(text, "{:0digits$X}  ", at * columns);
        rows[at].iter().for_each(|slot| text += &format!(" {}", place(isa, slot)));
        trim(&mut text);
        at += 1;
    }
    let free = free_slots(coverage);
    text + &legend(isa, coverage) + &free_text(&free, coverage.slots.len(), |value| format!("{value:0digits$X}"))
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

/// Renders one place, padded to the common width: the formatter cannot pad coloured texts.
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

/// Returns the mnemonics of a slot's instructions, without repetitions.
pub(super) fn mnemonics<'i>(isa: &'i Isa, slot: &Slot) -> Vec<&'i str> {
    distinct(slot.instructions.iter().map(|id| isa.instruction(*id).syntax.mnemonic()))
}

fn distinct<'n>(all: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = Vec::new();
    for name in all {
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
        (any(&|slot| slot.filling() == Filling::Empty), ".  free"),
        (any(&|slot| slot.filling() == Filling::Partial), "*  partly defined: the rest of the encoding decides"),
        (any(&|slot| mnemonics(isa, slot).len() > 1), "+  several instructions begin like this; the first is named"),
    ];
    let lines: String = marks.iter().filter(|(occurs, _)| *occurs).map(|(_, line)| format!("  {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Renders `free: 3 of 256: 02, 04 to 05`, on as many lines as needed.
fn free_text(free: &[u64], all: usize, shown: impl Fn(u64) -> String) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = free;
    while let Some(first) = rest.first() {
        let run = rest.iter().zip(*first..).take_while(|(value, next)| *value == next).count();
        parts.push(match run {
            1 => shown(*first),
            _ => format!("{} to {}", shown(*first), shown(*first + run as u64 - 1)),
        });
        rest = &rest[run..];
    }
    let head = format!("free: {} of {all}", free.len());
    if parts.is_empty() { format!("\n{head}\n") } else { format!("\n{}", wrapped(&format!("{head}: "), &parts)) }
}

/// Joins parts with commas after a head, on lines that fit the screen.
fn wrapped(head: &str, parts: &[String]) -> String {
    let indent = " ".repeat(head.chars().count());
    let (mut text, mut line) = (String::new(), head.to_owned());
    for (at, part) in parts.iter().enumerate() {
        let comma = if at + 1 < parts.len() { "," } else { "" };
        if line.chars().count() + part.chars().count() + 2 > SCREEN && line.trim() != head.trim() {
            text += line.trim_end();
            text.push('\n');
            line.clone_from(&indent);
        }
        let _ = write!(line, "{part}{comma} ");
    }
    text + line.trim_end() + "\n"
}

/// The bits that are fixed in every instruction: the major opcode.
struct Majors {
    mask: u128,
    bits: u32,
    /// One for each value.
    all: Vec<Major>,
    /// How many bits the picture of the mask shows.
    shown: u32,
}

struct Major {
    names: Vec<String>,
    /// What share is defined, if known.
    share: Option<f64>,
    /// An undefined encoding of it.
    free: Option<u128>,
}

impl Majors {
    /// Returns the major opcodes if all instructions are wide, and some but not too many bits distinguish them.
    fn of(isa: &Isa) -> Option<Majors> {
        let cell = isa.code_memory().cell.bits();
        let shortest = isa.instructions.iter().map(|instruction| instruction.encoding.cells).min()? * cell;
        let mask = isa.instructions.iter().fold(!0, |mask, instruction| mask & instruction.encoding.fixed.mask);
        let bits = mask.count_ones();
        if shortest < WIDE || !(1..=MAJOR_BITS).contains(&bits) {
            return None;
        }
        let all = (0..1u64 << bits).map(|value| major(isa, Cube { mask, value: spread(value, mask) }, bits)).collect();
        let shown = (128 - mask.trailing_zeros()).div_ceil(cell) * cell;
        Some(Majors { mask, bits, all, shown })
    }

    /// Renders the positions of the opcode's bits, such as `-xxxxxxx`.
    fn picture(&self) -> String {
        (0..self.shown).map(|at| if self.mask >> (127 - at) & 1 == 1 { 'x' } else { '-' }).collect()
    }

    fn free(&self) -> Vec<u64> {
        let values = (0..).zip(&self.all);
        values.filter(|(_, major)| major.names.is_empty()).map(|(value, _)| value).collect()
    }

    fn binary(&self, value: u64) -> String {
        format!("{value:0width$b}", width = self.bits as usize)
    }

    fn text(&self, isa: &Isa) -> String {
        let mut text = format!("opcode map by major opcode: the bits marked x in {}\n\n", self.picture());
        for (value, major) in (0..).zip(&self.all).filter(|(_, major)| !major.names.is_empty()) {
            let names: Vec<String> = major.names.clone();
            text += &wrapped(&format!("  {}  ", self.binary(value)), &names).replace(", ", " ").replace(",\n", "\n");
            text.extend(self.room(isa, major).map(|room| render::dim(&room) + "\n"));
        }
        let free = self.free();
        text + &free_text(&free, self.all.len(), |value| self.binary(value))
    }

    /// Describes how much of a major opcode is free, with an example.
    fn room(&self, isa: &Isa, major: &Major) -> Option<String> {
        let share = major.share.filter(|share| *share < 1.0 - 1e-9)?;
        let memory = isa.code_memory();
        let example = |window: u128| {
            let count = isa.longest() as usize;
            let cells = cells(window, memory.cell).take(count).map(|cell| render::hex(cell, memory.cell.bits()));
            format!(", such as {}", cells.collect::<Vec<_>>().join(" "))
        };
        let percent = ((1.0 - share) * 100.0).clamp(0.1, 99.9);
        let indent = self.bits as usize + 4;
        Some(format!("{:indent$}{percent:.1} % free{}", "", major.free.map(example).unwrap_or_default()))
    }
}

/// Spreads the bits of a number over the positions of a mask, the highest first.
fn spread(value: u64, mask: u128) -> u128 {
    let places = (0..128).rev().filter(|at| mask >> at & 1 == 1);
    let count = mask.count_ones();
    places.zip((0..count).rev()).fold(0, |window, (place, bit)| window | u128::from(value >> bit & 1) << place)
}

fn major(isa: &Isa, cube: Cube, bits: u32) -> Major {
    let inside = isa.instructions.iter().filter(|instruction| instruction.encoding.fixed.intersection(cube).is_some());
    let encodings: Vec<_> = inside.clone().map(|instruction| &instruction.encoding).collect();
    let parts = encodings.iter().map(|encoding| share(encoding.fixed, &encoding.excluded).ok());
    let sum: Option<f64> = parts.sum();
    let taken: Vec<Cube> = encodings.iter().map(|encoding| encoding.fixed).collect();
    Major {
        names: distinct(inside.map(|instruction| instruction.syntax.mnemonic()))
            .into_iter()
            .map(str::to_owned)
            .collect(),
        share: sum.map(|sum| sum * f64::from(bits).exp2()),
        free: witness(cube, &taken).ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(name: &str) -> String {
        let machine = lathe_machines::find(name).expect("it ships");
        let isa = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it is right");
        let text = text(&isa, &lathe_isa::coverage::coverage(&isa));
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn every_map_fits_80_columns() {
        for machine in lathe_machines::every() {
            for line in map(machine.name).lines() {
                assert!(line.chars().count() <= SCREEN, "{}: {line}", machine.name);
            }
        }
    }

    #[test]
    fn wide_instructions_are_shown_by_major_opcode() {
        let text = map("lc3");
        assert!(text.contains("the bits marked x in xxxx------------"), "{text}");
        assert!(text.contains("\n  0001  add\n"), "{text}");
        assert!(text.ends_with("free: 1 of 16: 1101\n"), "{text}");
        let text = map("rv32i");
        assert!(text.contains("the bits marked x in -xxxxxxx\n"), "{text}");
        assert!(text.contains("\n  1100011  beq bne blt bge bltu bgeu\n"), "{text}");
    }

    #[test]
    fn free_opcodes_are_listed() {
        let text = map("quad8");
        assert!(text.contains("\nfree: ") && text.contains("B0 to BF"), "{text}");
        assert_eq!(free_text(&[1, 2, 3, 9], 16, |value| format!("{value:X}")), "\nfree: 4 of 16: 1 to 3, 9\n");
        assert_eq!(free_text(&[], 16, |value| value.to_string()), "\nfree: 0 of 16\n");
    }

    #[test]
    fn bits_are_spread_over_a_mask() {
        assert_eq!(spread(0b101, 0b1011_0000), 0b1001_0000);
    }
}
