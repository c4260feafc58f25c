//! Lathe's own image: all memories, the entry, symbols, the lines that cells came from, and its machine and definition.
//! JSON text of version 1.
//!
//! ```text
//! {
//!   "format": "lathe-image",
//!   "version": 1,
//!   "machine": "quad8",
//!   "definition": "fnv1a128:…",          the identity of the definition's text, if known
//!   "entry": 0,                          left out if the program does not say
//!   "memories": [{"name": "ram", "address_bits": 16, "cell_bits": 8}],
//!   "files": ["hello.asm"],              spans name a file by its position here
//!   "segments": [{"memory": "ram", "start": 0, "cells": "48656c6c6f"}],
//!   "symbols": [{"name": "start", "value": 0, "memory": "ram", "exported": true, "span": [0, 4, 9]}],
//!   "calls": [{"kind": "macro", "name": "print", "span": [0, 20, 30], "parent": 0}],
//!   "lines": [[0, 0, 2, "code", 0, 11, 19, 0]]   memory, address, cells, kind, file, start, end, call
//! }
//! ```
//!
//! Cells are hexadecimal, each with as many digits as its width needs. A symbol without a memory is a constant; a value
//! or an address beyond 53 bits is a string. Lines are lists because there are many of them. Unknown keys are ignored,
//! so that later versions can add some.

use lathe_base::{FileId, Source, Span};
use lathe_isa::model::{Isa, Memory, MemoryId};
use serde::{Deserialize, Serialize};

use super::FormatError;
use super::json::{Number, Object, hexadecimal};
use super::rom::{check, digits, too_wide};
use super::runs::CELLS;
use super::text::{bad_digit, digit};
use crate::{Call, CallKind, Image, Line, LineKind, Lines, Segment, Symbol, SymbolKind};

const FORMAT: &str = "lathe-image";
const VERSION: u64 = 1;

/// What Lathe's own image says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The machine it is for.
    pub machine: String,
    /// The [`identity`] of the definition that it was made with, if known.
    pub definition: Option<String>,
    /// The names of its sources; spans refer to them by position.
    pub files: Vec<String>,
}

/// Returns a hash of a definition's text, so that an image can tell whether it changed: FNV-1a of 128 bits. It guards
/// against mistakes, not malice.
pub fn identity(definition: &str) -> String {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = definition.bytes().fold(BASIS, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("fnv1a128:{hash:032x}")
}

#[derive(Deserialize)]
struct WireHeader {
    #[serde(default)]
    format: String,
    #[serde(default)]
    version: u64,
    #[serde(default)]
    machine: String,
    #[serde(default)]
    definition: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

#[derive(Deserialize)]
struct WireImage<'w> {
    #[serde(default)]
    entry: Option<Number>,
    memories: Vec<WireMemory>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    segments: Vec<WireSegment>,
    #[serde(default)]
    symbols: Vec<WireSymbol>,
    #[serde(default)]
    calls: Vec<WireCall>,
    #[serde(default, borrow)]
    lines: Vec<WireLine<'w>>,
}

#[derive(Serialize, Deserialize)]
struct WireMemory {
    name: String,
    address_bits: u32,
    cell_bits: u32,
}

#[derive(Serialize, Deserialize)]
struct WireSegment {
    memory: String,
    start: Number,
    cells: String,
}

#[derive(Serialize, Deserialize)]
struct WireSymbol {
    name: String,
    value: Number,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    #[serde(default)]
    exported: bool,
    span: WireSpan,
}

#[derive(Serialize, Deserialize)]
struct WireCall {
    kind: String,
    name: String,
    span: WireSpan,
    parent: u32,
}

/// File, start, end.
#[derive(Serialize, Deserialize)]
struct WireSpan(u32, u32, u32);

/// Memory, address, cells, kind, file, start, end, call.
#[derive(Serialize, Deserialize)]
struct WireLine<'w>(u32, Number, u32, &'w str, u32, u32, u32, u32);

/// Writes Lathe's own image.
pub(super) fn write(
    image: &Image,
    isa: &Isa,
    sources: &[Source],
    definition: Option<&str>,
) -> Result<Vec<u8>, FormatError> {
    check(image, isa)?;
    let mut out = Object::new();
    out.value("format", &FORMAT)?;
    out.value("version", &VERSION)?;
    out.value("machine", &isa.name)?;
    if let Some(definition) = definition {
        out.value("definition", &definition)?;
    }
    if let Some(entry) = image.entry {
        out.value("entry", &Number::from(entry))?;
    }
    out.list("memories", isa.memories.iter().map(wire_memory))?;
    out.list("files", file_names(image, sources))?;
    out.list("segments", image.segments.iter().map(|segment| wire_segment(segment, isa)))?;
    out.list("symbols", image.symbols.iter().map(|symbol| wire_symbol(symbol, isa)))?;
    out.list("calls", image.lines.calls().iter().map(wire_call))?;
    out.list("lines", image.lines.iter().map(wire_line))?;
    Ok(out.finish())
}

/// Returns the names of the sources, empty for sources that spans refer to but are not at hand.
fn file_names<'a>(image: &Image, sources: &'a [Source]) -> Vec<&'a str> {
    let spans = image.lines.iter().map(|line| line.span);
    let spans = spans.chain(image.symbols.iter().map(|symbol| symbol.span));
    let spans = spans.chain(image.lines.calls().iter().map(|call| call.span));
    let last = spans.map(|span| span.file.0 as usize).max().unwrap_or(0).min(sources.len() + usize::from(u16::MAX));
    let name = |at: usize| sources.get(at).map_or("", |source| source.name.as_str());
    (0..sources.len().max(last + 1)).map(name).collect()
}

fn wire_memory(memory: &Memory) -> WireMemory {
    WireMemory { name: memory.name.clone(), address_bits: memory.address.bits(), cell_bits: memory.cell.bits() }
}

fn wire_segment(segment: &Segment, isa: &Isa) -> WireSegment {
    let memory = isa.memory(segment.memory);
    let cells = hexadecimal(&segment.cells, digits(memory.cell), "");
    WireSegment { memory: memory.name.clone(), start: segment.start.into(), cells }
}

fn wire_symbol(symbol: &Symbol, isa: &Isa) -> WireSymbol {
    let memory = match symbol.kind {
        SymbolKind::Label(id) => isa.memories.get(id.index()).map(|memory| memory.name.clone()),
        SymbolKind::Constant => None,
    };
    let (value, span) = (Number(symbol.value), wire_span(symbol.span));
    WireSymbol { name: symbol.name.clone(), value, memory, exported: symbol.exported, span }
}

fn wire_call(call: &Call) -> WireCall {
    WireCall {
        kind: call.kind.name().to_owned(),
        name: call.name.clone(),
        span: wire_span(call.span),
        parent: call.parent,
    }
}

fn wire_line(line: &Line) -> WireLine<'static> {
    let WireSpan(file, start, end) = wire_span(line.span);
    WireLine(line.memory.0, line.address.into(), line.cells, line.kind.name(), file, start, end, line.call)
}

fn wire_span(span: Span) -> WireSpan {
    WireSpan(span.file.0, span.start, span.end)
}

/// Reads only what the image says about itself, so that a machine can be chosen by it.
///
/// # Errors
/// If it is not one of Lathe's images, or has an unknown version.
pub fn header(bytes: &[u8]) -> Result<Header, FormatError> {
    let wire: WireHeader = parse(bytes)?;
    if wire.format != FORMAT {
        let cause = format!("the file has no `\"format\": \"{FORMAT}\"`, so it is not one of Lathe's images");
        return Err(FormatError::new(cause, "say which format it has"));
    }
    if wire.version != VERSION {
        let cause = format!("the image has version {}, and this Lathe reads version {VERSION}", wire.version);
        return Err(FormatError::new(cause, "assemble the program again, or use the Lathe that wrote it"));
    }
    Ok(Header { machine: wire.machine, definition: wire.definition, files: wire.files })
}

/// Reads Lathe's own image.
pub(super) fn read(bytes: &[u8], isa: &Isa) -> Result<Image, FormatError> {
    let machine = header(bytes)?.machine;
    if machine != isa.name {
        let cause = format!("the image is for machine `{machine}`, not for `{}`", isa.name);
        return Err(FormatError::new(
            cause,
            format!("choose machine `{machine}`, or assemble the program for this one"),
        ));
    }
    let wire: WireImage = parse(bytes)?;
    let reader = Reader { isa, memories: memories(&wire.memories, isa)?, files: wire.files.len().max(1) };
    reader.image(wire, machine)
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, FormatError> {
    serde_json::from_slice(bytes).map_err(|error| {
        let line = error.line();
        let cause = format!("the image is damaged: {error}");
        FormatError::new(cause, "assemble the program again").at_line(line)
    })
}

/// Returns the machine's memories in the order of the file's list.
fn memories(wire: &[WireMemory], isa: &Isa) -> Result<Vec<MemoryId>, FormatError> {
    let next = "assemble the program again: the definition has changed since";
    let find = |wire: &WireMemory| {
        let Some(id) = isa.memory_named(&wire.name) else {
            let cause = format!("the image has memory `{}`, which machine `{}` does not have", wire.name, isa.name);
            return Err(FormatError::new(cause, next));
        };
        let memory = isa.memory(id);
        let (address, cell) = (memory.address.bits(), memory.cell.bits());
        if (address, cell) == (wire.address_bits, wire.cell_bits) {
            return Ok(id);
        }
        let cause = format!(
            "memory `{}` has addresses of {} bits and cells of {} in the image, but {address} and {cell} in the machine",
            wire.name, wire.address_bits, wire.cell_bits
        );
        Err(FormatError::new(cause, next))
    };
    wire.iter().map(find).collect()
}

/// Converts wire types to a checked image.
struct Reader<'a> {
    isa: &'a Isa,
    memories: Vec<MemoryId>,
    files: usize,
}

impl Reader<'_> {
    fn image(&self, wire: WireImage<'_>, machine: String) -> Result<Image, FormatError> {
        let calls: Vec<Call> =
            wire.calls.into_iter().zip(0..).map(|(call, at)| self.call(call, at)).collect::<Result<_, _>>()?;
        let lines = wire.lines.iter().map(|line| self.line(line, calls.len())).collect::<Result<_, _>>()?;
        self.check_size(&wire.segments)?;
        let image = Image {
            machine,
            entry: wire.entry.map(|entry| self.entry(entry)).transpose()?,
            segments: wire.segments.iter().map(|segment| self.segment(segment)).collect::<Result<_, _>>()?,
            symbols: wire.symbols.into_iter().map(|symbol| self.symbol(symbol)).collect::<Result<_, _>>()?,
            lines: Lines::new(lines, calls),
        };
        check(&image, self.isa)?;
        Ok(image)
    }

    /// Checks that there are not too many cells, before any is stored.
    fn check_size(&self, segments: &[WireSegment]) -> Result<(), FormatError> {
        let mut total = 0;
        for segment in segments {
            let memory = self.isa.memory(self.memory(&segment.memory)?);
            total += (segment.cells.len() / digits(memory.cell)) as u64;
        }
        if total <= CELLS {
            return Ok(());
        }
        let cause = format!("the image has {total} cells, and the limit is {CELLS}");
        Err(FormatError::new(cause, "load a smaller image"))
    }

    fn entry(&self, entry: Number) -> Result<u64, FormatError> {
        let memory = self.isa.code_memory();
        address(entry, memory)
            .ok_or_else(|| damaged(format!("execution begins at {:#x}, beyond memory `{}`", entry.0, memory.name)))
    }

    /// Finds a memory of the file's list by name.
    fn memory(&self, name: &str) -> Result<MemoryId, FormatError> {
        let id = self.isa.memory_named(name).filter(|id| self.memories.contains(id));
        id.ok_or_else(|| damaged(format!("memory `{name}` is not in its list")))
    }

    fn segment(&self, wire: &WireSegment) -> Result<Segment, FormatError> {
        let id = self.memory(&wire.memory)?;
        let memory = self.isa.memory(id);
        let chunks = wire.cells.as_bytes().chunks(digits(memory.cell));
        let cells = chunks.map(|digits| cell(digits, memory)).collect::<Result<_, _>>()?;
        let start = address(wire.start, memory);
        let start =
            start.ok_or_else(|| damaged(format!("a segment begins at {:#x}, beyond its memory", wire.start.0)))?;
        Ok(Segment { memory: id, start, cells })
    }

    fn symbol(&self, wire: WireSymbol) -> Result<Symbol, FormatError> {
        let kind = match &wire.memory {
            Some(name) => SymbolKind::Label(self.memory(name)?),
            None => SymbolKind::Constant,
        };
        let span = self.span(&wire.span)?;
        Ok(Symbol { name: wire.name, value: wire.value.0, kind, exported: wire.exported, span })
    }

    /// Converts a call, which is inside no call or an earlier one.
    fn call(&self, wire: WireCall, at: u32) -> Result<Call, FormatError> {
        if wire.parent > at {
            return Err(damaged(format!("call {} is inside the later call {}", at + 1, wire.parent)));
        }
        let Some(kind) = CallKind::ALL.into_iter().find(|kind| kind.name() == wire.kind) else {
            return Err(damaged(format!("there is no kind of call `{}`", wire.kind)));
        };
        Ok(Call { kind, span: self.span(&wire.span)?, name: wire.name, parent: wire.parent })
    }

    fn line(&self, wire: &WireLine<'_>, calls: usize) -> Result<Line, FormatError> {
        let WireLine(memory, Number(first), cells, kind, file, start, end, call) = *wire;
        let Some(memory) = self.memories.get(memory as usize).copied() else {
            return Err(damaged(format!("a line is in memory number {memory}, which is not in its list")));
        };
        let last = first.saturating_add(i128::from(cells.max(1)) - 1);
        let described = self.isa.memory(memory);
        let (Some(address), Some(_)) = (address(Number(first), described), address(Number(last), described)) else {
            return Err(damaged(format!("a line has cells at {first:#x}, beyond its memory")));
        };
        if call as usize > calls {
            return Err(damaged(format!("a line is in call {call}, but there are only {calls}")));
        }
        let Some(kind) = LineKind::ALL.into_iter().find(|known| known.name() == kind) else {
            return Err(damaged(format!("there is no kind of line `{kind}`")));
        };
        Ok(Line { memory, address, cells, kind, span: self.span(&WireSpan(file, start, end))?, call })
    }

    fn span(&self, WireSpan(file, start, end): &WireSpan) -> Result<Span, FormatError> {
        if (*file as usize) < self.files && start <= end {
            return Ok(Span { file: FileId(*file), start: *start, end: *end });
        }
        Err(damaged(format!("there is no place [{file}, {start}, {end}] in its files")))
    }
}

/// Returns an address, if the memory has it.
fn address(number: Number, memory: &Memory) -> Option<u64> {
    u64::try_from(number.0).ok().filter(|address| memory.address.holds(*address))
}

fn cell(text: &[u8], memory: &Memory) -> Result<u64, FormatError> {
    if text.len() != digits(memory.cell) {
        return Err(damaged(format!("the last cell of a segment of memory `{}` is incomplete", memory.name)));
    }
    let append = |cell: u64, byte: &u8| digit(*byte, 16).map(|digit| cell << 4 | digit).ok_or(*byte);
    let cell = text.iter().try_fold(0, append).map_err(|byte| bad_digit(byte, "hexadecimal"))?;
    if memory.cell.holds(cell) { Ok(cell) } else { Err(too_wide(cell, memory.cell)) }
}

fn damaged(what: String) -> FormatError {
    FormatError::new(format!("the image is damaged: {what}"), "assemble the program again")
}

#[cfg(test)]
mod tests {
    use super::identity;

    #[test]
    fn the_identity_is_fnv_1a_of_128_bits() {
        assert_eq!(identity(""), "fnv1a128:6c62272e07bb014262b821756295c58d");
        assert_eq!(identity("a"), "fnv1a128:d228cb696f1a8caf78912b704e4a8964");
    }
}
