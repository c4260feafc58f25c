//! Images in the usual file formats: written for EPROM programmers, simulators, FPGA tools, other languages and people,
//! and read back where the format allows.
//!
//! Text formats write a cell as one number. Formats of bytes (raw binary, Intel HEX, S-record) use as many bytes for
//! each cell as it needs, in its memory's byte order, and count addresses in bytes. Formats without addresses begin at
//! address 0 (a raw binary of code: where the machine begins), or at the first address of the requested range; formats
//! with addresses leave gaps out unless a size is requested.
//!
//! Deliberately absent: opening files. The types for JSON are private to this folder; the model does not know about
//! serialization.

mod annotated;
mod arrays;
mod bytes;
mod elf;
mod error;
mod fpga;
mod game_boy;
mod guess;
mod image_file;
mod intel_hex;
mod json;
mod lc3;
mod listing;
mod logisim;
mod options;
mod places;
mod readmem;
mod records;
mod rom;
mod runs;
mod s_record;
mod symbols;
mod tables;
mod text;

use lathe_base::{Source, limits};
use lathe_isa::model::{Isa, MemoryId};

pub use error::FormatError;
pub use guess::guess;
pub use image_file::{Header, header, identity};
pub use options::{AddressRange, Addresses, FormatOptions, Interleave, Lane};

use crate::Image;
use readmem::Radix;
use rom::Rom;

/// The next step when a format cannot hold an address.
const BEYOND: &str =
    "write format `image`, or `bin` with a range of addresses: it has none itself, and begins with the first";

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Raw binary.
    Binary,
    /// Intel HEX.
    IntelHex,
    /// Motorola S-record.
    SRecord,
    /// Rows of cells for people.
    HexDump,
    /// Verilog's `$readmemh`.
    ReadMemH,
    /// Verilog's `$readmemb`.
    ReadMemB,
    /// Logisim-evolution's `v3.0 hex words addressed`.
    Logisim,
    /// Logisim's `v2.0 raw`.
    Logisim2,
    /// Quartus' memory initialization file.
    Mif,
    /// Vivado's coefficient file.
    Coe,
    /// A C array.
    C,
    /// A Rust array.
    Rust,
    /// A VHDL package.
    Vhdl,
    /// Comma-separated values.
    Csv,
    /// The listing.
    Listing,
    /// Symbols, one per line.
    Symbols,
    /// Symbols as JSON.
    SymbolsJson,
    /// Labels for the VICE monitor.
    Vice,
    /// The annotated image for tools.
    Json,
    /// ELF, 32 or 64 bits, little-endian.
    Elf,
    /// A cartridge of the Game Boy.
    GameBoy,
    /// An object file of the LC-3: the address, then the words.
    Lc3,
    /// Lathe's own image.
    Image,
}

/// What a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    /// The cells of one memory.
    OneMemory,
    /// The whole image, or information about it.
    Everything,
}

/// Whether a format can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Yes,
    No,
}

/// One format, as users see it.
struct Row {
    format: Format,
    name: &'static str,
    /// The usual extension first.
    extensions: &'static [&'static str],
    holds: Holds,
    reading: Reading,
    about: &'static str,
}

const fn row(
    format: Format,
    name: &'static str,
    extensions: &'static [&'static str],
    holds: Holds,
    reading: Reading,
    about: &'static str,
) -> Row {
    Row { format, name, extensions, holds, reading, about }
}

use Holds::{Everything, OneMemory};
use Reading::{No, Yes};

#[rustfmt::skip]
const TABLE: &[Row] = &[
    row(Format::Binary,      "bin",          &["bin", "rom"],                         OneMemory,  Yes, "raw binary: the bytes of all cells"),
    row(Format::IntelHex,    "hex",          &["hex", "ihex", "ihx"],                 OneMemory,  Yes, "Intel HEX, for EPROM programmers"),
    row(Format::SRecord,     "srec",         &["srec", "s19", "s28", "s37", "mot"],   OneMemory,  Yes, "Motorola S-records, for EPROM programmers"),
    row(Format::HexDump,     "hexdump",      &["dump", "txt"],                        OneMemory,  No,  "rows of cells with addresses, for people"),
    row(Format::ReadMemH,    "readmemh",     &["mem", "memh", "vmem"],                OneMemory,  Yes, "Verilog $readmemh"),
    row(Format::ReadMemB,    "readmemb",     &["memb"],                               OneMemory,  Yes, "Verilog $readmemb"),
    row(Format::Logisim,     "logisim",      &["logisim", "lgs3"],                    OneMemory,  Yes, "Logisim-evolution memory image, v3.0 hex words addressed"),
    row(Format::Logisim2,    "logisim2",     &["logisim2", "lgs"],                    OneMemory,  Yes, "Logisim memory image, v2.0 raw"),
    row(Format::Mif,         "mif",          &["mif"],                                OneMemory,  No,  "Memory Initialization File, for Quartus"),
    row(Format::Coe,         "coe",          &["coe"],                                OneMemory,  No,  "coefficient file, for Vivado"),
    row(Format::C,           "c",            &["h", "c"],                             OneMemory,  No,  "C array"),
    row(Format::Rust,        "rust",         &["rs"],                                 OneMemory,  No,  "Rust array"),
    row(Format::Vhdl,        "vhdl",         &["vhd", "vhdl"],                        OneMemory,  No,  "VHDL package with an array"),
    row(Format::Csv,         "csv",          &["csv"],                                OneMemory,  No,  "comma-separated values: address, value"),
    row(Format::Listing,     "listing",      &["lst"],                                Everything, No,  "listing: address, cells, source, macro expansions, symbols"),
    row(Format::Symbols,     "symbols",      &["sym"],                                Everything, No,  "symbols, one per line: name = value"),
    row(Format::SymbolsJson, "symbols-json", &["sym.json"],                           Everything, No,  "symbols as JSON"),
    row(Format::Vice,        "vice",         &["lbl", "labels", "vs"],                Everything, No,  "labels for the VICE monitor"),
    row(Format::Json,        "json",         &["json"],                               Everything, No,  "annotated JSON for tools: which line made which cells"),
    row(Format::Elf,         "elf",          &["elf"],                                OneMemory,  Yes, "ELF of 32 or 64 bits, lowest byte first; can only be read"),
    row(Format::GameBoy,     "gb",           &["gb", "gbc"],                          OneMemory,  Yes, "Game Boy cartridge; can only be read"),
    row(Format::Lc3,         "lc3",          &["obj"],                                OneMemory,  Yes, "LC-3 object file: where it goes, then its words"),
    row(Format::Image,       "image",        &["lathe"],                              Everything, Yes, "Lathe's own image, with symbols, lines and the machine's name"),
];

impl Format {
    /// Yields all formats, in the order of the help.
    pub fn all() -> impl Iterator<Item = Format> {
        TABLE.iter().map(|row| row.format)
    }

    /// Returns the format of this name.
    ///
    /// # Errors
    /// If there is none; the next step suggests the nearest name.
    pub fn named(name: &str) -> Result<Format, FormatError> {
        let wanted = name.to_ascii_lowercase();
        let found = TABLE.iter().find(|row| row.name == wanted).map(|row| row.format);
        found.ok_or_else(|| {
            let near = lathe_base::nearest(name, TABLE.iter().map(|row| row.name));
            let all = TABLE.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            let next = near.map_or(format!("choose among {all}"), |near| format!("did you mean `{near}`?"));
            FormatError::new(format!("there is no format `{name}`"), next)
        })
    }

    /// Returns the format whose extension a file name has. The longest extension wins: `a.sym.json` is a file of
    /// symbols.
    pub fn of_file_name(name: &str) -> Option<Format> {
        let name = name.to_ascii_lowercase();
        let ends = |extension: &str| name.strip_suffix(extension).is_some_and(|rest| rest.ends_with('.'));
        let matches = |row: &Row| row.extensions.iter().filter(|extension| ends(extension)).map(|e| e.len()).max();
        let best = TABLE.iter().filter_map(|row| Some((matches(row)?, row.format)));
        best.max_by_key(|(length, _)| *length).map(|(_, format)| format)
    }

    /// Returns its name, as a user types it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns one line about it.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// Returns its usual extension, without the dot.
    pub fn extension(self) -> &'static str {
        self.row().extensions[0]
    }

    /// Whether [`read`] supports it.
    pub fn can_be_read(self) -> bool {
        self.row().reading == Yes
    }

    /// Whether a file holds the cells of only one memory.
    pub fn holds_one_memory(self) -> bool {
        self.row().holds == OneMemory
    }

    /// Returns the format's row. The table follows the order of the enumeration, which a test checks.
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

/// Returns the files that make up the whole image, as values for [`FormatOptions::memory`]: one for each memory with
/// cells, or a single `None` if one file holds everything.
pub fn memories_to_write(format: Format, image: &Image, isa: &Isa) -> Vec<Option<MemoryId>> {
    if !format.holds_one_memory() {
        return vec![None];
    }
    let memories = rom::image_memories(image);
    let memories = if memories.is_empty() { vec![isa.pc.memory] } else { memories };
    memories.into_iter().map(Some).collect()
}

/// Writes an image.
///
/// # Errors
/// If the format cannot hold the image, or the options do not fit it.
pub fn write(
    format: Format,
    image: &Image,
    isa: &Isa,
    sources: &[Source],
    options: &FormatOptions,
) -> Result<Vec<u8>, FormatError> {
    let rom = || Rom::select(format, image, isa, options);
    match format {
        Format::Binary => bytes::write_binary(&rom()?),
        Format::IntelHex => intel_hex::write(&rom()?),
        Format::SRecord => s_record::write(&rom()?, &isa.name),
        Format::HexDump => Ok(tables::write_hexdump(&rom()?)),
        Format::ReadMemH => Ok(readmem::write(&rom()?, Radix::Hexadecimal)),
        Format::ReadMemB => Ok(readmem::write(&rom()?, Radix::Binary)),
        Format::Logisim => logisim::write_version_3(&rom()?),
        Format::Logisim2 => logisim::write_version_2(&rom()?),
        Format::Mif => fpga::write_mif(&rom()?),
        Format::Coe => fpga::write_coe(&rom()?),
        Format::C => arrays::write_c(&rom()?, &options.name),
        Format::Rust => arrays::write_rust(&rom()?, &options.name),
        Format::Vhdl => arrays::write_vhdl(&rom()?, &options.name),
        Format::Csv => Ok(tables::write_csv(&rom()?)),
        Format::Listing => listing::write(image, isa, sources),
        Format::Symbols => Ok(symbols::write_plain(image, isa)),
        Format::SymbolsJson => symbols::write_json(image, isa, sources),
        Format::Vice => Ok(symbols::write_vice(image, options.memory)),
        Format::Json => annotated::write(image, isa, sources),
        Format::Elf => {
            let next = "choose another format; `lathe run` and `lathe dis` read ELF files";
            Err(FormatError::new("an ELF file can only be read", next))
        }
        Format::GameBoy => {
            let next = "write `bin`, and let `rgbfix` or the like add the header";
            Err(FormatError::new("a Game Boy cartridge can only be read", next))
        }
        Format::Lc3 => lc3::write(&rom()?),
        Format::Image => image_file::write(image, isa, sources, options.definition.as_deref()),
    }
}

/// Reads an image. A format that holds one memory is read into the code memory.
///
/// # Errors
/// If the file is not valid, or does not fit the machine.
pub fn read(format: Format, bytes: &[u8], isa: &Isa) -> Result<Image, FormatError> {
    read_into(format, bytes, isa, isa.pc.memory)
}

/// Says what [`read`] leaves out of a file, and why; `None` for most files.
pub fn left_out(format: Format, bytes: &[u8], isa: &Isa) -> Option<FormatError> {
    (format == Format::GameBoy).then(|| game_boy::left_out(bytes, isa))?
}

/// Reads a raw binary into the code memory, from this address on.
///
/// # Errors
/// If it does not fit there.
pub fn read_binary_at(bytes: &[u8], isa: &Isa, address: u64) -> Result<Image, FormatError> {
    bytes::read_binary(bytes, isa, isa.pc.memory, address)
}

/// Reads an image; a format that holds one memory is read into `memory`.
///
/// # Errors
/// If the file is not valid, or does not fit the machine.
pub fn read_into(format: Format, bytes: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    if memory.index() >= isa.memories.len() {
        return Err(FormatError::new("there is no such memory", "choose one of the machine's memories"));
    }
    if bytes.len() as u64 > limits::IMAGE_BYTES {
        let cause = format!("the file has {} bytes, and the limit is {}", bytes.len(), limits::IMAGE_BYTES);
        return Err(FormatError::new(cause, "load a smaller file"));
    }
    match format {
        Format::Binary => {
            let at = if memory == isa.pc.memory { isa.pc.reset } else { 0 };
            bytes::read_binary(bytes, isa, memory, at)
        }
        Format::IntelHex => intel_hex::read(bytes, isa, memory),
        Format::SRecord => s_record::read(bytes, isa, memory),
        Format::ReadMemH => readmem::read(bytes, Radix::Hexadecimal, isa, memory),
        Format::ReadMemB => readmem::read(bytes, Radix::Binary, isa, memory),
        Format::Logisim | Format::Logisim2 => logisim::read(bytes, isa, memory),
        Format::Elf => elf::read(bytes, isa, memory),
        Format::GameBoy => game_boy::read(bytes, isa, memory),
        Format::Lc3 => lc3::read(bytes, isa, memory),
        Format::Image => image_file::read(bytes, isa),
        other => {
            let readable = TABLE.iter().filter(|row| row.reading == Yes).map(|row| row.name);
            let cause = format!("a `{}` file cannot be read", other.name());
            let next = format!("use one of {}", readable.collect::<Vec<_>>().join(", "));
            Err(FormatError::new(cause, next))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_enumeration_and_names_are_unique() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.format as usize, at);
            assert_eq!(Format::named(row.name), Ok(row.format));
            assert_eq!(Format::of_file_name(&format!("x.{}", row.format.extension())), Some(row.format));
        }
        assert_eq!(TABLE.last().map(|row| row.format), Some(Format::Image));
    }

    #[test]
    fn a_misspelt_format_gets_a_suggestion() {
        assert_eq!(Format::named("sres").unwrap_err().next_step, "did you mean `srec`?");
        assert_eq!(Format::of_file_name("a.sym.json"), Some(Format::SymbolsJson));
        assert_eq!(Format::of_file_name("a.asm"), None);
    }
}
