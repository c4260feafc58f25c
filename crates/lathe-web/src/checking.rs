//! From texts to a machine and an image: what is wrong with the texts, how to colour them, and what each line assembles
//! to. What has not changed is not checked again.

use std::sync::Arc;

use lathe_asm::{Assembled, Image, KnownLines, Options, assemble_again};
use lathe_base::fix::Fix;
use lathe_base::{Diagnostic, Severity, Source, Span};
use lathe_doc::Sheet;
use lathe_edit::assembly::{self, Words};
use lathe_edit::{Class, Piece, definition};
use lathe_isa::model::{Device, DeviceKind};
use lathe_isa::{Isa, KnownMeanings, Written};
use lathe_machines::Shipped;
use serde::Serialize;

use crate::gallery::Library;
use crate::places::Places;

/// The program's name in messages.
pub(crate) const PROGRAM: &str = "program";
/// The most cells of a line shown beside it.
const SHOWN_CELLS: usize = 8;

/// A machine without errors, and what is derived from it.
pub(crate) struct Machine {
    pub(crate) isa: Arc<Isa>,
    pub(crate) text: String,
    written: Written,
    pub(crate) words: Words,
    sheet: Option<Sheet>,
    /// What the lines of the program assemble to on this machine.
    lines: KnownLines,
}

impl Machine {
    fn new(isa: Isa, text: &str, written: Written) -> Machine {
        Machine {
            words: Words::new(&isa),
            isa: Arc::new(isa),
            text: text.to_owned(),
            written,
            sheet: None,
            lines: KnownLines::default(),
        }
    }

    /// Returns the machine's datasheet, which is made on first use.
    pub(crate) fn sheet(&mut self) -> &Sheet {
        self.sheet.get_or_insert_with(|| Sheet::new(&self.isa, &self.written))
    }

    /// Returns the files of the definition.
    pub(crate) fn sources(&self) -> &[Source] {
        &self.written.sources
    }

    /// Returns the datasheet and the words to colour.
    pub(crate) fn sheet_and_words(&mut self) -> (&Sheet, &Words) {
        let sheet = self.sheet.get_or_insert_with(|| Sheet::new(&self.isa, &self.written));
        (sheet, &self.words)
    }
}

/// What a page shows about one of the texts.
#[derive(Debug, Serialize)]
pub(crate) struct Checked {
    diagnostics: Vec<Finding>,
    /// Start, end and class of each piece, flattened.
    pieces: Vec<u32>,
    /// Lines (from 1), with the address and the cells they assemble to.
    lines: Vec<(usize, String)>,
}

/// A finding, with positions in the page's units.
#[derive(Debug, Serialize)]
struct Finding {
    from: u32,
    to: u32,
    line: usize,
    severity: &'static str,
    code: &'static str,
    message: String,
    label: String,
    help: Vec<String>,
    others: Vec<Other>,
    fixes: Vec<Change>,
    /// The file it is in, if that is an included one; the positions are then in that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
}

#[derive(Debug, Serialize)]
struct Other {
    from: u32,
    to: u32,
    line: usize,
    text: String,
}

/// A text change that fixes a finding.
#[derive(Debug, Serialize)]
struct Change {
    from: u32,
    to: u32,
    text: String,
    title: String,
}

/// What a page must know about a machine to lay itself out.
#[derive(Debug, Serialize)]
pub(crate) struct MachineData {
    name: String,
    title: String,
    memories: Vec<MemoryData>,
    console: bool,
    keys: u32,
    display: Option<(u32, u32)>,
    buses: Vec<BusData>,
}

#[derive(Debug, Serialize)]
struct BusData {
    name: String,
    port_bits: u32,
    value_bits: u32,
}

#[derive(Debug, Serialize)]
struct MemoryData {
    name: String,
    cell_bits: u32,
    address_bits: u32,
    code: bool,
}

/// Reads and checks a definition, reusing what is known from the last time; the machine is there only without errors.
pub(crate) fn check(text: &str, known: &mut KnownMeanings) -> (Checked, Option<Machine>) {
    let mut loaded = lathe_isa::load_known(Source::new("definition", text), &Shipped, known);
    if let Some(isa) = &loaded.isa {
        loaded.diagnostics.extend(lathe_vm::examples::check(isa));
    }
    let usable = loaded.isa.filter(|_| !loaded.diagnostics.has_errors());
    let places = Places::new(text);
    let diagnostics = findings(loaded.diagnostics.into_sorted(), &loaded.written.sources);
    let pieces = pieces(&definition::Reading::new(text).pieces().0, &places);
    (Checked { diagnostics, pieces, lines: Vec::new() }, usable.map(|isa| Machine::new(isa, text, loaded.written)))
}

/// Assembles a program.
pub(crate) fn program(text: &str, machine: &mut Machine, library: &str) -> (Checked, Assembled) {
    let source = Source::new(PROGRAM, text);
    let mut assembled =
        assemble_again(&machine.isa, &Library(library), source, &Options::default(), &mut machine.lines);
    let found = std::mem::take(&mut assembled.diagnostics).into_sorted();
    let checked = Checked {
        diagnostics: findings(found, &assembled.sources),
        pieces: program_pieces(text, Some(&machine.words)),
        lines: assembled.image.as_ref().map_or(Vec::new(), |image| encodings(image, &machine.isa, &assembled.sources)),
    };
    (checked, assembled)
}

/// Colours a program without a machine; nothing else can be said about it.
pub(crate) fn program_alone(text: &str) -> Checked {
    Checked { diagnostics: Vec::new(), pieces: program_pieces(text, None), lines: Vec::new() }
}

fn program_pieces(text: &str, words: Option<&Words>) -> Vec<u32> {
    let default = Words::default();
    let reading = assembly::Reading::new(text, words.unwrap_or(&default));
    pieces(&reading.pieces, &Places::new(text))
}

fn pieces(pieces: &[Piece], places: &Places) -> Vec<u32> {
    let number = |class: Class| Class::ALL.iter().position(|known| *known == class).unwrap_or(0) as u32;
    pieces.iter().flat_map(|piece| [places.unit(piece.start), places.unit(piece.end), number(piece.class)]).collect()
}

fn findings(found: Vec<Diagnostic>, sources: &[Source]) -> Vec<Finding> {
    let places: Vec<Places> = sources.iter().map(|source| Places::new(&source.text)).collect();
    let range = |span: Span| match places.get(span.file.0 as usize) {
        Some(places) => (places.unit(span.start as usize), places.unit(span.end as usize)),
        None => (0, 0),
    };
    let line = |span: Span| sources.get(span.file.0 as usize).map_or(1, |source| source.line_column(span.start).0);
    let finding = |one: Diagnostic| {
        let span = one.primary.span;
        let (from, to) = range(span);
        let here = |other: Span| other.file == span.file;
        let others = one.others.iter().filter(|other| here(other.span)).map(|other| {
            let (from, to) = range(other.span);
            Other { from, to, line: line(other.span), text: other.text.clone() }
        });
        let fixes = one.fixes.iter().filter(|fix| here(fix.span)).map(|fix| {
            let (from, to) = range(fix.span);
            let old = sources.get(fix.span.file.0 as usize).and_then(|source| source.text.get(fix.span.range()));
            Change { from, to, text: fix.text.clone(), title: title(fix, old.unwrap_or("")) }
        });
        Finding {
            from,
            to,
            line: line(span),
            severity: if one.severity() == Severity::Error { "error" } else { "warning" },
            code: one.code.name,
            label: one.primary.text.clone(),
            others: others.collect(),
            fixes: fixes.collect(),
            file: (span.file.0 > 0).then(|| sources[span.file.0 as usize].name.clone()),
            message: one.message,
            help: one.help,
        }
    };
    found.into_iter().map(finding).collect()
}

/// Describes what a change does, for a button.
fn title(fix: &Fix, old: &str) -> String {
    match (old.trim(), fix.text.trim()) {
        ("", new) => format!("Insert `{new}`"),
        (old, "") => format!("Remove `{old}`"),
        (old, new) => format!("Replace `{old}` with `{new}`"),
    }
}

/// Returns the address and the cells of each program line that produced any.
fn encodings(image: &Image, isa: &Isa, sources: &[Source]) -> Vec<(usize, String)> {
    let Some(source) = sources.first() else { return Vec::new() };
    let mut found: Vec<(usize, String)> = Vec::new();
    for line in image.lines.iter().filter(|line| line.span.file.0 == 0) {
        let holds = |segment: &&lathe_asm::Segment| segment.memory == line.memory && segment.contains(line.address);
        let Some(segment) = image.segments.iter().find(holds) else { continue };
        let memory = isa.memory(line.memory);
        let (address, digits) = (hex_digits(memory.address.bits()), hex_digits(memory.cell.bits()));
        let cells = &segment.cells[(line.address - segment.start) as usize..];
        let cells = &cells[..cells.len().min(line.cells as usize)];
        let shown: Vec<String> = cells.iter().take(SHOWN_CELLS).map(|cell| format!("{cell:0digits$X}")).collect();
        let more = if cells.len() > SHOWN_CELLS { " …" } else { "" };
        let number = source.line_column(line.span.start).0;
        found.push((number, format!("{:0address$X}: {}{more}", line.address, shown.join(" "))));
    }
    found.sort_by_key(|(line, _)| *line);
    found.dedup_by_key(|(line, _)| *line);
    found
}

pub(crate) fn hex_digits(bits: u32) -> usize {
    bits.div_ceil(4) as usize
}

/// Returns what a page must know about a machine to lay itself out.
pub(crate) fn machine_data(isa: &Isa) -> MachineData {
    let memories = isa.memories.iter().map(|memory| MemoryData {
        name: memory.name.clone(),
        cell_bits: memory.cell.bits(),
        address_bits: memory.address.bits(),
        code: std::ptr::eq(memory, isa.code_memory()),
    });
    let kinds = || isa.devices.iter().map(|device| device.kind);
    MachineData {
        name: isa.name.clone(),
        title: isa.title.clone(),
        memories: memories.collect(),
        console: kinds().any(|kind| kind == DeviceKind::Stream),
        keys: kinds()
            .find_map(|kind| if let DeviceKind::Keypad { keys } = kind { Some(keys) } else { None })
            .unwrap_or(0),
        display: kinds().find_map(|kind| match kind {
            DeviceKind::Display { width, height } => Some((width, height)),
            _ => None,
        }),
        buses: isa.devices.iter().filter_map(bus_data).collect(),
    }
}

fn bus_data(device: &Device) -> Option<BusData> {
    let DeviceKind::Bus { address, value } = device.kind else { return None };
    Some(BusData { name: device.name.clone(), port_bits: address.bits(), value_bits: value.bits() })
}
