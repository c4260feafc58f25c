//! The text of a disassembly.

use std::fmt::Write;
use std::ops::Bound;

use super::{Disassembler, Instruction, number};
use crate::image::{Image, Segment};

/// Cells per line of data.
const ROW: usize = 8;
/// The fewest characters that are shown as text.
const SHORTEST_TEXT: usize = 4;
/// The fewest zeros that are shown as a gap.
const SHORTEST_GAP: usize = 16;

pub(super) fn write(disassembler: &Disassembler, image: &Image) -> String {
    let isa = disassembler.isa;
    let mut listing = Listing { disassembler, modes: isa.modes_at_reset(), assumed: 0, text: String::new() };
    let _ = writeln!(listing.text, ".machine {}", isa.name);
    if let Some(entry) = image.entry {
        let label = disassembler.labels.get(&(isa.pc.memory, entry));
        let place = label.cloned().unwrap_or_else(|| number(isa, entry, isa.pc.width));
        let _ = writeln!(listing.text, ".entry {place}");
    }
    let mut memory = isa.pc.memory;
    for segment in &disassembler.segments {
        listing.text.push('\n');
        if segment.memory != memory {
            memory = segment.memory;
            let _ = writeln!(listing.text, ".section {}", isa.memory(memory).name);
        }
        listing.segment(segment);
    }
    listing.text
}

struct Listing<'d, 'i> {
    disassembler: &'d Disassembler<'i>,
    /// The modes that the assembler assumes at this line.
    modes: u128,
    /// The modes that an earlier line has marked as assumed.
    assumed: u128,
    text: String,
}

impl Listing<'_, '_> {
    fn segment(&mut self, segment: &Segment) {
        let address = self.disassembler.isa.memory(segment.memory).address;
        let _ = writeln!(self.text, ".org {}", number(self.disassembler.isa, segment.start, address));
        let mut offset = 0;
        while offset < segment.cells.len() as u64 {
            let at = segment.start + offset;
            if let Some(label) = self.disassembler.labels.get(&(segment.memory, at)) {
                let _ = writeln!(self.text, "{label}:");
            }
            offset += match self.instruction(segment, at) {
                Some(cells) => cells,
                None => self.data(segment, at),
            };
        }
    }

    /// Writes a line of code if an instruction was found here, or its cells if it cannot be written as one; returns how
    /// many cells.
    fn instruction(&mut self, segment: &Segment, at: u64) -> Option<u64> {
        let disassembler = self.disassembler;
        let found = disassembler.code.get(&at).filter(|_| segment.memory == disassembler.isa.pc.memory)?;
        let cells = disassembler.cells(found);
        if !disassembler.can_be_written(found, at) {
            self.row(segment, at, cells as usize);
            return Some(cells);
        }
        self.modes(found);
        let line = disassembler.text(&found.decoded, at);
        let comment = self.comment(segment, at, cells as usize);
        let _ = writeln!(self.text, "    {line:<28} {} {comment}", self.mark());
        Some(cells)
    }

    /// Writes a `.mode` line for the modes that this instruction depends on, and marks those that are assumed.
    fn modes(&mut self, found: &Instruction) {
        let isa = self.disassembler.isa;
        let needed = isa.instruction(found.decoded.instruction).encoding.fixed.mask & isa.mode_mask();
        let (is, known) = (found.modes.bits, found.modes.known);
        let (changed, doubtful) = ((is ^ self.modes) & needed, needed & !known & !self.assumed);
        for (register, shift) in &isa.modes {
            let register = isa.register(*register);
            let mask = u128::from(register.width.mask()) << shift;
            if (changed | doubtful) & mask == 0 {
                continue;
            }
            let line = format!(".mode {} = {}", register.name, (is & mask) >> shift);
            let remark = if doubtful & mask == 0 { String::new() } else { format!(" {} assumed", self.mark()) };
            let line = if remark.is_empty() { line } else { format!("{line:<28}") };
            let _ = writeln!(self.text, "    {line}{remark}");
            self.modes = self.modes & !mask | is & mask;
        }
        self.assumed = (self.assumed | doubtful) & !(needed & known);
    }

    /// Returns what begins a comment: `;`, unless `;` separates lines on this machine.
    fn mark(&self) -> &'static str {
        let separates = self.disassembler.isa.assembly.separators.iter().any(|mark| mark.starts_with(';'));
        if separates { "//" } else { ";" }
    }

    /// Returns the address and the cells, for a comment.
    fn comment(&self, segment: &Segment, at: u64, count: usize) -> String {
        let memory = self.disassembler.isa.memory(segment.memory);
        let digits = |bits: u32| (bits as usize).div_ceil(4);
        let start = (at - segment.start) as usize;
        let (address, cell) = (digits(memory.address.bits()), digits(memory.cell.bits()));
        let mut comment = format!("{at:0address$X}:");
        for value in &segment.cells[start..start + count] {
            let _ = write!(comment, " {value:0cell$X}");
        }
        comment
    }

    /// Writes data up to the next label or instruction, one kind at a time; returns how many cells.
    fn data(&mut self, segment: &Segment, at: u64) -> u64 {
        let cells = &segment.cells[(at - segment.start) as usize..self.end_of_data(segment, at)];
        let bytes = self.disassembler.isa.memory(segment.memory).cell.bits() == 8;
        let zeros = cells.iter().take_while(|cell| **cell == 0).count();
        if zeros >= SHORTEST_GAP {
            let _ = writeln!(self.text, "    .space {zeros:#x}");
            return zeros as u64;
        }
        let text = if bytes { text_length(cells) } else { 0 };
        if text >= SHORTEST_TEXT {
            return self.text_line(&cells[..text], cells.get(text) == Some(&0));
        }
        let until_text =
            (0..cells.len().min(ROW)).skip(1).find(|skip| bytes && text_length(&cells[*skip..]) >= SHORTEST_TEXT);
        let row = until_text.unwrap_or(cells.len().min(ROW));
        self.row(segment, at, row);
        row as u64
    }

    /// Returns where the data that begins here ends, as a position in the segment.
    fn end_of_data(&self, segment: &Segment, at: u64) -> usize {
        let disassembler = self.disassembler;
        let after = (Bound::Excluded((segment.memory, at)), Bound::Included((segment.memory, u64::MAX)));
        let label = disassembler.labels.range(after).next();
        let code = disassembler.code.range((Bound::Excluded(at), Bound::Unbounded)).next();
        let code = code.filter(|_| segment.memory == disassembler.isa.pc.memory);
        let ends = [label.map(|((_, address), _)| *address), code.map(|(address, _)| *address)];
        let positions = ends.into_iter().flatten().map(|end| (end - segment.start) as usize);
        positions.fold(segment.cells.len(), usize::min)
    }

    fn text_line(&mut self, characters: &[u64], ends_with_zero: bool) -> u64 {
        let mut quoted = String::new();
        for character in characters {
            match *character as u8 {
                b'\n' => quoted.push_str("\\n"),
                b'\t' => quoted.push_str("\\t"),
                b'"' => quoted.push_str("\\\""),
                b'\\' => quoted.push_str("\\\\"),
                byte => quoted.push(char::from(byte)),
            }
        }
        let directive = if ends_with_zero { ".asciiz" } else { ".ascii" };
        let _ = writeln!(self.text, "    {directive} \"{quoted}\"");
        characters.len() as u64 + u64::from(ends_with_zero)
    }

    fn row(&mut self, segment: &Segment, at: u64, count: usize) {
        let start = (at - segment.start) as usize;
        let cell = self.disassembler.isa.memory(segment.memory).cell;
        let values: Vec<String> = segment.cells[start..start + count]
            .iter()
            .map(|value| number(self.disassembler.isa, *value, cell))
            .collect();
        let line = format!(".byte {}", values.join(", "));
        let (mark, place, remark) = (self.mark(), self.comment(segment, at, 0), self.remark(segment, at));
        let _ = writeln!(self.text, "    {line:<28} {mark} {place}{remark}");
    }

    /// Says what the cells decode to, if they are an instruction that the assembler encodes differently.
    fn remark(&self, segment: &Segment, at: u64) -> String {
        let isa = self.disassembler.isa;
        if segment.memory != isa.pc.memory {
            return String::new();
        }
        let cells = &segment.cells[(at - segment.start) as usize..];
        match isa.decode(self.disassembler.window(cells, self.modes)) {
            None => " undefined".to_owned(),
            Some(decoded) => format!(" {}", self.disassembler.text(&decoded, at)),
        }
    }
}

/// Returns how many cells at the beginning are printable characters.
fn text_length(cells: &[u64]) -> usize {
    cells.iter().take_while(|cell| matches!(**cell, 0x20..=0x7E | 0x09 | 0x0A)).count()
}
