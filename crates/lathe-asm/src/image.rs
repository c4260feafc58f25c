//! An image: what the assembler makes and a machine loads. It holds cells for one or several memories, the entry point,
//! and debugging information: symbols, and the line that each cell came from.

use std::fmt;

use lathe_base::Span;
use lathe_base::numbers::addresses_from;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_isa::reset::AtReset;

use crate::lines::Lines;

/// A program, ready to load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The machine it is for; empty if the file does not say.
    pub machine: String,
    /// Where execution begins, if given; see [`Image::start`].
    pub entry: Option<u64>,
    /// The cells.
    pub segments: Vec<Segment>,
    /// Names, in the order of their definition.
    pub symbols: Vec<Symbol>,
    /// The lines that cells came from, in the order they were read; see [`Image::line_at`].
    pub lines: Lines,
}

impl Image {
    /// Returns where execution begins: where the program says, or else where the machine does. A program without cells
    /// there begins at its lowest address.
    pub fn start(&self, isa: &Isa) -> u64 {
        let reset = self.at_reset(isa).map_or(isa.pc.reset, |reset| reset.pc);
        let code =
            || self.segments.iter().filter(|segment| segment.memory == isa.pc.memory && !segment.cells.is_empty());
        let at_reset = code().any(|segment| segment.contains(reset));
        let lowest = code().map(|segment| segment.start).min().filter(|_| !at_reset);
        isa.pc.width.wrap(self.entry.or(lowest).unwrap_or(reset))
    }

    /// Returns what the machine's `on reset` decides, with this program in memory. If it reads memory and finds only
    /// cells without a value, it decides nothing: a program without vectors begins as if the machine had none.
    pub fn at_reset(&self, isa: &Isa) -> Option<AtReset> {
        let mut cells = Vec::new();
        let reset = isa.at_reset(|memory, address| {
            let cell = self.cell(memory, address).or_else(|| isa.content(memory, address));
            cells.push(cell);
            cell.unwrap_or(0)
        })?;
        (cells.is_empty() || cells.iter().any(Option::is_some)).then_some(reset)
    }

    /// Returns the registers before the first instruction, as declared or as `on reset` sets them.
    pub fn registers_at_reset(&self, isa: &Isa) -> Vec<u64> {
        let mut registers: Vec<u64> = isa.registers.iter().map(|register| register.reset).collect();
        for (register, value) in self.at_reset(isa).into_iter().flat_map(|reset| reset.registers) {
            registers[register.index()] = value;
        }
        registers
    }

    /// Returns what the program puts into a cell, if anything.
    fn cell(&self, memory: MemoryId, address: u64) -> Option<u64> {
        let mut holding = self.segments.iter().rev().filter(|segment| segment.memory == memory);
        holding
            .find_map(|segment| segment.cells.get(usize::try_from(address.checked_sub(segment.start)?).ok()?).copied())
    }
}

/// Consecutive cells of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The memory.
    pub memory: MemoryId,
    /// The address of the first cell.
    pub start: u64,
    /// The cells.
    pub cells: Vec<u64>,
}

impl Segment {
    /// Returns the address after the last cell, not wrapped.
    pub fn end(&self) -> u128 {
        u128::from(self.start) + self.cells.len() as u128
    }

    /// Whether the segment has a cell at an address.
    pub fn contains(&self, address: u64) -> bool {
        self.start <= address && u128::from(address) < self.end()
    }
}

/// A name of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its full name: a local label has its owner's name before it.
    pub name: String,
    /// Its value.
    pub value: i128,
    /// What it is.
    pub kind: SymbolKind,
    /// Whether `.export` lists it.
    pub exported: bool,
    /// Where it is defined.
    pub span: Span,
}

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// An address in a memory.
    Label(MemoryId),
    /// A number.
    Constant,
}

impl Image {
    /// Returns all cells of one memory as one run from its lowest to its highest address, gaps filled. Where segments
    /// overlap, the later one wins.
    pub fn flat(&self, memory: MemoryId, fill: u64) -> Option<Segment> {
        let of_memory = || self.segments.iter().filter(|segment| segment.memory == memory && !segment.cells.is_empty());
        let start = of_memory().map(|segment| segment.start).min()?;
        let end = of_memory().map(Segment::end).max()?;
        let mut cells = vec![fill; (end - u128::from(start)) as usize];
        for segment in of_memory() {
            let at = (segment.start - start) as usize;
            cells[at..at + segment.cells.len()].copy_from_slice(&segment.cells);
        }
        Some(Segment { memory, start, cells })
    }

    /// Yields the cells of one memory with their addresses, segment by segment.
    pub fn cells_of(&self, memory: MemoryId) -> impl Iterator<Item = (u64, u64)> {
        let segments = self.segments.iter().filter(move |segment| segment.memory == memory);
        segments.flat_map(|segment| addresses_from(segment.start).zip(segment.cells.iter().copied()))
    }

    /// Returns the memories that have cells, in order.
    pub fn memories(&self) -> Vec<MemoryId> {
        let mut memories: Vec<MemoryId> = self.segments.iter().map(|segment| segment.memory).collect();
        memories.sort_unstable();
        memories.dedup();
        memories
    }
}

impl fmt::Display for SymbolKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SymbolKind::Label(_) => write!(f, "label"),
            SymbolKind::Constant => write!(f, "constant"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_fills_gaps_and_lets_the_later_win() {
        let segment = |start, cells: &[u64]| Segment { memory: MemoryId(0), start, cells: cells.to_vec() };
        let image =
            Image { segments: vec![segment(4, &[1, 2]), segment(8, &[3]), segment(5, &[9])], ..Image::default() };
        let flat = image.flat(MemoryId(0), 0xFF).unwrap();
        assert_eq!((flat.start, flat.cells), (4, vec![1, 9, 0xFF, 0xFF, 3]));
        assert_eq!(image.flat(MemoryId(1), 0), None);
    }
}
