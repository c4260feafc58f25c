//! Reads ELF files, the output of the usual compilers and linkers. Only what a loader needs is read: program headers,
//! the entry point, and the symbols, if any.
//!
//! Segments go to their physical addresses, as in a board's ROM: the initial values of variables lie after the code,
//! and the program's start-up code copies them to the addresses of the symbols.

use lathe_base::Span;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use object::LittleEndian;
use object::elf::{FileHeader32, FileHeader64, PT_LOAD, SHN_UNDEF, SHT_SYMTAB, STT_FILE, STT_SECTION};
use object::read::elf::{FileHeader, ProgramHeader, Sym};

use super::FormatError;
use super::bytes::image_of_bytes;
use super::runs::Collector;
use crate::Image;
use crate::image::{Symbol, SymbolKind};

/// The magic number of an ELF file.
pub(super) const MAGIC: &[u8] = b"\x7FELF";

/// Reads the loadable segments into this memory. The part of a segment beyond its bytes in the file is 0, as memory is
/// anyway.
pub(super) fn read(file: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    // Byte 4 is the class, byte 5 the byte order.
    match file.get(4..6) {
        Some([1, 1]) | None => read_as::<FileHeader32<LittleEndian>>(file, isa, memory),
        Some([2, 1]) => read_as::<FileHeader64<LittleEndian>>(file, isa, memory),
        Some(_) => {
            let cause = "this ELF file is not one of 32 or 64 bits with the lowest byte first";
            Err(FormatError::new(cause, "build it for a little-endian target"))
        }
    }
}

fn read_as<H: FileHeader<Endian = LittleEndian>>(
    file: &[u8],
    isa: &Isa,
    memory: MemoryId,
) -> Result<Image, FormatError> {
    let header = H::parse(file).map_err(broken)?;
    let parts = header.program_headers(LittleEndian, file).map_err(broken)?;
    let parts: Vec<_> = parts.iter().filter(|part| part.p_type(LittleEndian) == PT_LOAD).collect();
    // Some linkers omit physical addresses.
    let has_physical = parts.iter().any(|part| part.p_paddr(LittleEndian).into() != 0);
    let begins: u64 = header.e_entry(LittleEndian).into();
    let mut entry = begins;
    let mut collector = Collector::of_bytes(isa.memory(memory));
    let mut is_empty = true;
    for part in parts {
        let bytes = part.data(LittleEndian, file).map_err(|()| broken("a part of it lies beyond its end"))?;
        let virtual_start: u64 = part.p_vaddr(LittleEndian).into();
        let start = if has_physical { part.p_paddr(LittleEndian).into() } else { virtual_start };
        collector.put(start.into(), bytes)?;
        is_empty &= bytes.is_empty();
        if let Some(offset) = begins.checked_sub(virtual_start).filter(|offset| *offset < bytes.len() as u64) {
            entry = start.saturating_add(offset);
        }
    }
    if is_empty {
        let cause = "this ELF file has nothing to load";
        return Err(FormatError::new(cause, "link it first: an object file has no addresses yet"));
    }
    let mut image = image_of_bytes(collector, isa, memory, Some(entry))?;
    image.symbols = symbols(header, file, isa, memory).unwrap_or_default();
    Ok(image)
}

/// Reads the symbols that name addresses. A stripped file has none.
fn symbols<H: FileHeader<Endian = LittleEndian>>(
    header: &H,
    file: &[u8],
    isa: &Isa,
    memory: MemoryId,
) -> object::Result<Vec<Symbol>> {
    let table = header.sections(LittleEndian, file)?.symbols(LittleEndian, file, SHT_SYMTAB)?;
    let size = isa.memory(memory).bytes_per_cell() as u64;
    let named = |symbol: &H::Sym| {
        let kind = symbol.st_type();
        let name = symbol.name(LittleEndian, table.strings()).ok().and_then(|name| std::str::from_utf8(name).ok())?;
        let is_address = symbol.st_shndx(LittleEndian) != SHN_UNDEF && kind != STT_FILE && kind != STT_SECTION;
        let value = i128::from(symbol.st_value(LittleEndian).into() / size);
        let (name, kind) = (name.to_owned(), SymbolKind::Label(memory));
        (is_address && !name.is_empty()).then_some(Symbol { name, value, kind, exported: true, span: Span::default() })
    };
    Ok(table.iter().filter_map(named).collect())
}

fn broken(cause: impl std::fmt::Display) -> FormatError {
    FormatError::new(format!("this ELF file is damaged: {cause}"), "check that it was copied whole")
}
