//! Cells as bytes, for byte-oriented formats: raw binary, Intel HEX, S-record.
//!
//! A cell takes as many whole bytes as it needs, in the byte order of its memory, with zeros in the bits above it.
//! Addresses in such a file count bytes: cell 5 of 12 bits is at byte 10. Packing cells without gaps was rejected:
//! device programmers and debuggers could not find them.

use lathe_base::Width;
use lathe_isa::model::{Isa, Memory, MemoryId, Order};

use super::FormatError;
use super::rom::{Rom, too_wide};
use super::runs::{Collector, Run};
use crate::{Image, Segment};

/// Writes a raw binary: the bytes of all cells from the first address on.
pub(super) fn write_binary(rom: &Rom) -> Result<Vec<u8>, FormatError> {
    Ok(to_bytes(&rom.flat()?, rom.width, rom.order))
}

/// Reads a raw binary that begins at this address.
pub(super) fn read_binary(bytes: &[u8], isa: &Isa, memory: MemoryId, at: u64) -> Result<Image, FormatError> {
    let target = isa.memory(memory);
    let size = target.bytes_per_cell() as u128;
    let room = target.cells().saturating_sub(at.into()) * size;
    if bytes.len() as u128 > room {
        let (length, name) = (bytes.len(), &target.name);
        let place = if at == 0 { String::new() } else { format!(" from {at:#x} on") };
        let cause = format!("{length} bytes do not fit: memory `{name}` has room for {room}{place}");
        let next = "check that the file is for this machine and this memory";
        let elsewhere = if at == 0 { "" } else { "; `--load-at` takes another address" };
        return Err(FormatError::new(cause, format!("{next}{elsewhere}")));
    }
    let mut collector = Collector::of_bytes(target);
    collector.put(u128::from(at) * size, bytes)?;
    image_of_bytes(collector, isa, memory, None)
}

/// Returns how many bytes a cell of this width takes.
pub(super) fn bytes_per_cell(width: Width) -> usize {
    width.bits().div_ceil(8) as usize
}

/// Returns the cells as bytes.
pub(super) fn to_bytes(cells: &[u64], width: Width, order: Order) -> Vec<u8> {
    let size = bytes_per_cell(width);
    let mut bytes = Vec::with_capacity(cells.len() * size);
    for cell in cells {
        match order {
            Order::Little => bytes.extend_from_slice(&cell.to_le_bytes()[..size]),
            Order::Big => bytes.extend_from_slice(&cell.to_be_bytes()[8 - size..]),
        }
    }
    bytes
}

/// Yields the runs of a ROM as runs of bytes.
pub(super) fn byte_runs(rom: &Rom) -> impl Iterator<Item = Run<u8>> {
    let size = bytes_per_cell(rom.width) as u128;
    rom.runs.iter().map(move |run| Run { start: run.start * size, items: to_bytes(&run.items, rom.width, rom.order) })
}

/// Returns the address of a cell, counted in bytes.
pub(super) fn byte_address(rom: &Rom, cell: u128) -> u128 {
    cell * bytes_per_cell(rom.width) as u128
}

/// Builds an image from the bytes of a file. The entry is counted in bytes.
pub(super) fn image_of_bytes(
    collector: Collector<u8>,
    isa: &Isa,
    id: MemoryId,
    entry: Option<u64>,
) -> Result<Image, FormatError> {
    let memory = isa.memory(id);
    let runs = collector.finish();
    let segments = runs.iter().map(|run| segment(run, memory, id)).collect::<Result<_, _>>()?;
    let entry = entry.map(|entry| entry_cell(entry, isa)).transpose()?;
    Ok(Image { segments, entry, ..Image::default() })
}

fn segment(run: &Run<u8>, memory: &Memory, id: MemoryId) -> Result<Segment, FormatError> {
    let size = memory.bytes_per_cell();
    check_whole(run.start, size as u128)?;
    check_whole(run.end(), size as u128)?;
    let start = (run.start / size as u128) as u64;
    let cells: Vec<u64> = run.items.chunks_exact(size).map(|bytes| cell(bytes, memory.order)).collect();
    match cells.iter().position(|cell| !memory.cell.holds(*cell)) {
        Some(at) => Err(too_wide(cells[at], memory.cell).at_address(start + at as u64)),
        None => Ok(Segment { memory: id, start, cells }),
    }
}

/// Checks that a run begins or ends between two cells.
fn check_whole(byte: u128, size: u128) -> Result<(), FormatError> {
    if byte.is_multiple_of(size) {
        return Ok(());
    }
    let cause = format!("the cell at address {:#x} is incomplete: each takes {size} bytes", byte / size);
    Err(FormatError::new(cause, "check that the file is for this machine and this memory"))
}

fn cell(bytes: &[u8], order: Order) -> u64 {
    let append = |cell: u64, byte: &u8| cell << 8 | u64::from(*byte);
    match order {
        Order::Little => bytes.iter().rev().fold(0, append),
        Order::Big => bytes.iter().fold(0, append),
    }
}

fn entry_cell(entry: u64, isa: &Isa) -> Result<u64, FormatError> {
    let memory = isa.code_memory();
    let size = memory.bytes_per_cell() as u64;
    let cell = entry / size;
    if entry.is_multiple_of(size) && cell <= memory.last() {
        return Ok(cell);
    }
    let cause = format!("byte address {entry:#x}, where execution begins, is not a cell of memory `{}`", memory.name);
    Err(FormatError::new(cause, "check that the file is for this machine"))
}
