//! The annotated image: JSON for tools that need to know which line made which cells.
//!
//! Written only. Cells are hexadecimal digits separated by spaces; all other values are plain numbers, or strings if an
//! address needs more than 53 bits; lines and columns count from 1.

use lathe_base::Source;
use lathe_isa::model::{Isa, MemoryId};
use serde::Serialize;

use super::FormatError;
use super::json::{Number, Object, hexadecimal};
use super::places::Places;
use super::rom::{all_cells, digits};
use super::runs::{Run, slice};
use super::symbols;
use crate::{Call, Image, Labels, Line};

#[derive(Serialize)]
struct MemoryRow<'a> {
    name: &'a str,
    address_bits: u32,
    cell_bits: u32,
    code: bool,
}

#[derive(Serialize)]
struct CallRow<'a> {
    number: usize,
    kind: &'static str,
    name: &'a str,
    #[serde(flatten)]
    place: PlaceRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<u32>,
}

#[derive(Serialize)]
struct LineRow<'a> {
    memory: &'a str,
    address: Number,
    count: u32,
    cells: String,
    kind: &'static str,
    #[serde(flatten)]
    place: PlaceRow<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    symbols: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
}

#[derive(Serialize)]
struct PlaceRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Writes the annotated image.
pub(super) fn write(image: &Image, isa: &Isa, sources: &[Source]) -> Result<Vec<u8>, FormatError> {
    let places = Places::new(sources);
    let cells = all_cells(image, isa)?;
    let labels = Labels::new(image);
    let mut out = Object::new();
    out.value("machine", &isa.name)?;
    if let Some(entry) = image.entry {
        out.value("entry", &Number::from(entry))?;
    }
    out.list("memories", memory_rows(isa))?;
    out.list("files", sources.iter().map(|source| &source.name))?;
    out.list("symbols", symbols::rows(image, isa, &places))?;
    out.list("calls", image.lines.calls().iter().enumerate().map(|(at, call)| call_row(at + 1, call, &places)))?;
    out.list("lines", image.lines.iter().filter_map(|line| line_row(line, isa, &cells, &labels, &places)))?;
    Ok(out.finish())
}

fn memory_rows(isa: &Isa) -> impl Iterator<Item = MemoryRow<'_>> {
    isa.memories.iter().zip(0..).map(|(memory, id)| MemoryRow {
        name: &memory.name,
        address_bits: memory.address.bits(),
        cell_bits: memory.cell.bits(),
        code: MemoryId(id) == isa.pc.memory,
    })
}

fn call_row<'a>(number: usize, call: &'a Call, places: &Places<'a>) -> CallRow<'a> {
    let within = Some(call.parent).filter(|parent| *parent > 0);
    CallRow { number, kind: call.kind.name(), name: &call.name, place: place_row(call.span, places), within }
}

fn place_row<'a>(span: lathe_base::Span, places: &Places<'a>) -> PlaceRow<'a> {
    let place = places.of(span);
    PlaceRow {
        file: place.map(|place| places.name(place.file)),
        line: place.map(|place| place.line),
        column: place.map(|place| place.column),
    }
}

/// Returns a line on the wire, if its memory is one of the machine's.
fn line_row<'a>(
    line: &Line,
    isa: &'a Isa,
    cells: &[Vec<Run<u64>>],
    labels: &'a Labels,
    places: &Places<'a>,
) -> Option<LineRow<'a>> {
    let memory = isa.memories.get(line.memory.index())?;
    let made = slice(&cells[line.memory.index()], line.address.into(), u64::from(line.cells));
    Some(LineRow {
        memory: &memory.name,
        address: line.address.into(),
        count: line.cells,
        cells: hexadecimal(made, digits(memory.cell), " "),
        kind: line.kind.name(),
        place: place_row(line.span, places),
        text: places.of(line.span).map(|place| places.text(place)),
        symbols: labels.at(line.memory, line.address).map(|symbol| symbol.name.as_str()).collect(),
        call: Some(line.call).filter(|call| *call > 0),
    })
}
