//! Object files of the LC-3 as its first assemblers made them: words of 16 bits, high byte first; the first word is the
//! address of the others.

use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use super::FormatError;
use super::rom::Rom;
use super::runs::Collector;
use crate::{Image, Segment};

/// The beginning of a later assembler's object files. They hold source lines and are not read.
const LC3TOOLS: &[u8] = b"\x1c\x30\x15\xc0\x01";

/// Writes all cells from the lowest address to the highest.
pub(super) fn write(rom: &Rom) -> Result<Vec<u8>, FormatError> {
    let start = rom.runs.first().map_or(rom.start, |run| run.start);
    check_width(rom.width.bits(), rom.end())?;
    let flat = rom.flat()?;
    let cells = &flat[(start - rom.start) as usize..];
    Ok([start as u64].iter().chain(cells).flat_map(|word| (*word as u16).to_be_bytes()).collect())
}

/// Reads the words to the address in the first of them.
pub(super) fn read(file: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    check_width(isa.memory(memory).cell.bits(), 0)?;
    if file.starts_with(LC3TOOLS) {
        let cause = "this object file was made by lc3tools, whose files hold more than words";
        return Err(FormatError::new(cause, "assemble its source with Lathe, or write an Intel HEX file"));
    }
    if !file.len().is_multiple_of(2) || file.is_empty() {
        let cause = format!("an LC-3 object file holds words of two bytes, and this one has {} bytes", file.len());
        return Err(FormatError::new(
            cause,
            "check that it was copied whole, or say which format it has with `--from`",
        ));
    }
    let mut words = file.chunks_exact(2).map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])));
    let start = words.next().unwrap_or(0);
    let mut collector = Collector::of_cells(isa.memory(memory));
    collector.put(start.into(), &words.collect::<Vec<_>>())?;
    let segment = |run: super::runs::Run<u64>| Segment { memory, start: run.start as u64, cells: run.items };
    Ok(Image {
        segments: collector.finish().into_iter().map(segment).collect(),
        entry: Some(start),
        ..Image::default()
    })
}

fn check_width(bits: u32, end: u128) -> Result<(), FormatError> {
    if bits == 16 && end <= 1 << 16 {
        return Ok(());
    }
    let cause = format!("an LC-3 object file holds 16-bit cells at 16-bit addresses, and these have {bits} bits");
    Err(FormatError::new(cause, "choose another format, such as `hex`"))
}
