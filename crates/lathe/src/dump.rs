//! The state of a machine and the instruction at its program counter, for people and as data.

use std::collections::BTreeSet;
use std::fmt::Write;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::encoding;
use lathe_isa::model::{Domain, Instruction, Memory, MemoryId};
use lathe_isa::operand::Location;
use lathe_vm::{FaultCause, State};
use serde::{Serialize, Serializer};

use crate::render::hex;

/// The widest line of a dump, in columns.
const COLUMNS: usize = 80;

/// Renders the program counter and all registers in as few lines as possible.
pub(crate) fn registers(isa: &Isa, state: &State) -> String {
    let all: Vec<(String, String)> =
        values(isa, state).map(|(name, width, value)| (name.to_owned(), written(value, width))).collect();
    let table = (1..=12).rev().map(|columns| table(&all, columns)).find(|table| fits(table));
    table.unwrap_or_else(|| self::table(&all, 1))
}

/// Returns name, width and value of the program counter and of every register.
fn values<'i>(isa: &'i Isa, state: &State) -> impl Iterator<Item = (&'i str, Width, u64)> {
    let pc = (isa.pc.name.as_str(), isa.pc.width, state.pc);
    let registers = isa.registers.iter().zip(state.registers());
    std::iter::once(pc).chain(registers.map(|(register, value)| (register.name.as_str(), register.width, *value)))
}

/// Formats a flag as a digit, everything wider in hexadecimal.
fn written(value: u64, width: Width) -> String {
    if width == Width::BIT { value.to_string() } else { hex(value, width.bits()) }
}

/// Lays out names and values in this many columns, each as wide as needed.
fn table(all: &[(String, String)], columns: usize) -> String {
    let widest = |column: usize, part: fn(&(String, String)) -> &String| {
        all.iter().skip(column).step_by(columns).map(|entry| part(entry).chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<(usize, usize)> =
        (0..columns).map(|at| (widest(at, |entry| &entry.0), widest(at, |entry| &entry.1))).collect();
    let mut text = String::new();
    for line in all.chunks(columns) {
        let entry = |((name, value), (n, v)): (&(String, String), &(usize, usize))| format!("  {name:<n$} {value:<v$}");
        let line: String = line.iter().zip(&widths).map(entry).collect();
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn fits(table: &str) -> bool {
    table.lines().all(|line| line.chars().count() <= COLUMNS)
}

/// Renders all memories, without cells that are zero.
pub(crate) fn memories(isa: &Isa, state: &State) -> String {
    isa.memories.iter().zip(0..).map(|(memory, id)| one_memory(memory, state.memory(MemoryId(id)))).collect()
}

fn one_memory(described: &Memory, memory: &lathe_vm::Memory) -> String {
    let cells = memory.nonzero();
    if cells.is_empty() {
        return format!("{}: all zero\n", described.name);
    }
    let in_a_line = cells_in_a_line(described);
    let lines: BTreeSet<u64> = cells.iter().map(|(address, _)| address - address % in_a_line).collect();
    let mut text = format!("{}:\n", described.name);
    let mut expected = lines.first().copied();
    for first in lines {
        if Some(first) != expected {
            text += "  ...\n";
        }
        expected = first.checked_add(in_a_line);
        text += &line(described, memory, first, in_a_line);
    }
    text
}

/// Returns how many cells to show per line: sixteen bytes, or as many wider cells as fit, rounded to a power of two so
/// that addresses are round.
fn cells_in_a_line(described: &Memory) -> u64 {
    let digits = u64::from(described.cell.bits().div_ceil(4));
    let fitting = 48 / (digits + 1);
    (1u64 << fitting.max(1).ilog2()).min(described.last().saturating_add(1))
}

fn line(described: &Memory, memory: &lathe_vm::Memory, first: u64, count: u64) -> String {
    let values: Vec<u64> = (0..count).map(|at| memory.get(first + at)).collect();
    let cells: String = values.iter().map(|value| format!(" {}", digits(*value, described.cell))).collect();
    let mut text = format!("  {}  {}", digits(first, described.address), cells.trim_start());
    if described.cell.bits() == 8 {
        let _ = write!(text, "  {}", values.iter().map(|value| printable(*value)).collect::<String>().trim_end());
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn digits(value: u64, width: Width) -> String {
    format!("{value:0digits$X}", digits = width.bits().div_ceil(4) as usize)
}

fn printable(value: u64) -> char {
    match value {
        0 => ' ',
        0x20..=0x7E => char::from(value as u8),
        _ => '.',
    }
}

/// Renders the cells of the instruction that the window begins with, and its syntax. Where there is no instruction, as
/// many cells as the longest one has.
pub(crate) fn instruction(isa: &Isa, window: u128) -> String {
    let width = isa.code_memory().cell;
    let found = isa.decode(window).map(|decoded| isa.instruction(decoded.instruction));
    let length = found.map_or(isa.longest(), |instruction| instruction.encoding.cells);
    let cells = encoding::cells(window, width).take(length as usize);
    let cells: String = cells.map(|cell| format!(" {}", digits(cell, width))).collect();
    let operand = |instruction: &Instruction, at: usize| isa.field(instruction.operands[at]).name.clone();
    let row = found.map(|found| format!("  ({})", found.syntax.render(|at| operand(found, at)))).unwrap_or_default();
    format!("{} at {}:{cells}{row}", if width.bits() == 8 { "bytes" } else { "cells" }, isa.pc.name)
}

/// Disassembles the instruction that the window begins with.
pub(crate) fn disassembled(isa: &Isa, window: u128, pc: u64) -> String {
    let Some(decoded) = isa.decode(window) else { return "(undefined)".to_owned() };
    let instruction = isa.instruction(decoded.instruction);
    let next = isa.pc.width.wrap(pc.wrapping_add(instruction.encoding.cells.into()));
    let location = Location { pc, next, width: isa.pc.width };
    let operand = |at: usize| {
        let (field, bits) = (isa.field(instruction.operands[at]), decoded.operands[at]);
        let named = match &field.domain {
            Domain::Registers(places) => {
                places.get(bits as usize).and_then(Option::as_ref).map(|(name, _)| name.clone())
            }
            Domain::Names(names) => names.iter().find(|(_, value)| *value == bits).map(|(name, _)| name.clone()),
            Domain::Number(number) if number.signed && number.target.is_none() => {
                Some(field.width.signed(bits).to_string())
            }
            Domain::Values(values) => values.number(bits).map(|number| number.to_string()),
            Domain::Number(_) => None,
        };
        named.unwrap_or_else(|| hex(field.value(bits, location), field.value_width(isa.pc.width).bits()))
    };
    instruction.syntax.render(operand)
}

/// Describes the cause of a fault; the number of a trap gets its name.
pub(crate) fn cause(isa: &Isa, cause: &FaultCause) -> String {
    match cause {
        FaultCause::Undefined => "no instruction has this encoding".to_owned(),
        FaultCause::OutOfMemory => {
            "it writes to a page of memory that the machine may not have; `--max-memory SIZE` gives it more".to_owned()
        }
        FaultCause::ForeignState => "the state is not one of this machine".to_owned(),
        FaultCause::Declared(message, None) => message.clone(),
        FaultCause::Declared(message, Some(number)) => {
            let name = isa.traps.iter().find(|(_, known)| known == number).map(|(name, _)| format!(" ({name})"));
            format!("{message} {number}{}", name.unwrap_or_default())
        }
    }
}

/// A state as data, in the shape of `lathe verify`: registers by name, memories as pairs.
#[derive(Debug, Serialize)]
pub(crate) struct StateData<'s> {
    registers: InOrder<'s, u64>,
    memories: InOrder<'s, Vec<(u64, u64)>>,
}

/// A JSON object whose keys are in the order of the definition.
#[derive(Debug)]
struct InOrder<'s, T>(Vec<(&'s str, T)>);

impl<T: Serialize> Serialize for InOrder<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Returns a state as data, without memory cells that are zero.
pub(crate) fn state_data<'s>(isa: &'s Isa, state: &State) -> StateData<'s> {
    let memories = isa.memories.iter().zip(0..);
    StateData {
        registers: InOrder(values(isa, state).map(|(name, _, value)| (name, value)).collect()),
        memories: InOrder(
            memories.map(|(memory, id)| (memory.name.as_str(), state.memory(MemoryId(id)).nonzero())).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(memories: &str) -> Isa {
        let text =
            format!("machine t \"t\"\n{memories}\npc pc : u8 in code\ninstructions {{ halt | 0000 0000 | halt }}");
        lathe_isa::load(&text).isa.expect("the definition is right")
    }

    #[test]
    fn zero_lines_are_left_out_and_text_is_shown() {
        let isa = machine("memory code : u8 -> u8\nmemory wide : u10 -> u12");
        let mut state = State::new(&isa);
        state.memory_mut(MemoryId(0)).fill(b"Hi\n".map(u64::from));
        state.memory_mut(MemoryId(0)).set(0xFF, 0x80);
        let expected = "code:\n\
            \x20 00  48 69 0A 00 00 00 00 00 00 00 00 00 00 00 00 00  Hi.\n\
            \x20 ...\n\
            \x20 F0  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 80                 .\n\
            wide: all zero\n";
        assert_eq!(memories(&isa, &state), expected);
    }

    #[test]
    fn wide_cells_and_small_memories_keep_to_the_width() {
        let isa = machine("memory code : u8 -> u8\nmemory wide : u10 -> u12\nmemory tiny : u2 -> u4");
        let mut state = State::new(&isa);
        state.memory_mut(MemoryId(1)).set(0x3FF, 0xABC);
        state.memory_mut(MemoryId(2)).set(3, 5);
        let text = memories(&isa, &state);
        assert!(text.contains("wide:\n  3F8  000 000 000 000 000 000 000 ABC\n"), "{text}");
        assert!(text.contains("tiny:\n  0  0 0 0 5\n"), "{text}");
    }
}
