//! Symbols by themselves: plain, as JSON, and as labels for the VICE monitor.

use std::fmt::Write;

use lathe_base::Source;
use lathe_isa::model::{Isa, MemoryId};
use serde::Serialize;

use super::FormatError;
use super::json::{Number, Object};
use super::places::Places;
use super::rom::digits;
use crate::{Image, Symbol, SymbolKind};

/// Writes `name = value`, one per line, in order of definition.
pub(super) fn write_plain(image: &Image, isa: &Isa) -> Vec<u8> {
    let mut out = String::new();
    for symbol in &image.symbols {
        let _ = writeln!(out, "{} = {}", symbol.name, value(symbol, isa));
    }
    out.into_bytes()
}

/// Returns the table at the end of a listing.
pub(super) fn table(image: &Image, isa: &Isa) -> String {
    let width = image.symbols.iter().map(|symbol| symbol.name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for symbol in &image.symbols {
        let kind = match memory_name(symbol, isa) {
            Some(memory) => format!("label in {memory}"),
            None => symbol.kind.to_string(),
        };
        let exported = if symbol.exported { ", exported" } else { "" };
        let _ = writeln!(out, "{:<width$} = {}  {kind}{exported}", symbol.name, value(symbol, isa));
    }
    out
}

/// Writes labels, but no constants, for the VICE monitor's command `al`. `C:` is the computer's memory, the only one
/// known to VICE and other readers of these files.
pub(super) fn write_vice(image: &Image, only: Option<MemoryId>) -> Vec<u8> {
    let mut out = String::new();
    for symbol in &image.symbols {
        match symbol.kind {
            SymbolKind::Label(memory) if only.is_none_or(|only| only == memory) => {
                let _ = writeln!(out, "al C:{:04x} .{}", symbol.value, symbol.name);
            }
            _ => {}
        }
    }
    out.into_bytes()
}

/// Writes symbols as JSON.
pub(super) fn write_json(image: &Image, isa: &Isa, sources: &[Source]) -> Result<Vec<u8>, FormatError> {
    let mut out = Object::new();
    out.value("machine", &isa.name)?;
    out.list("symbols", rows(image, isa, &Places::new(sources)))?;
    Ok(out.finish())
}

/// A symbol on the wire.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    name: &'a str,
    value: Number,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<&'a str>,
    exported: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Yields all symbols on the wire.
pub(super) fn rows<'a>(image: &'a Image, isa: &'a Isa, places: &'a Places<'a>) -> impl Iterator<Item = Row<'a>> {
    image.symbols.iter().map(move |symbol| {
        let place = places.of(symbol.span);
        Row {
            name: &symbol.name,
            value: Number(symbol.value),
            kind: symbol.kind.to_string(),
            memory: memory_name(symbol, isa),
            exported: symbol.exported,
            file: place.map(|place| places.name(place.file)),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        }
    })
}

fn memory_name<'a>(symbol: &Symbol, isa: &'a Isa) -> Option<&'a str> {
    match symbol.kind {
        SymbolKind::Label(id) => isa.memories.get(id.index()).map(|memory| memory.name.as_str()),
        SymbolKind::Constant => None,
    }
}

/// Returns the value in hexadecimal; a label's has all digits of an address.
fn value(symbol: &Symbol, isa: &Isa) -> String {
    let digits = match symbol.kind {
        SymbolKind::Label(id) => isa.memories.get(id.index()).map_or(1, |memory| digits(memory.address)),
        SymbolKind::Constant => 1,
    };
    let sign = if symbol.value < 0 { "-" } else { "" };
    format!("{sign}0x{:0digits$x}", symbol.value.unsigned_abs())
}
