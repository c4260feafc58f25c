//! The program being debugged, as a person knows it: labels, source lines, instructions as text. Nothing here runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use lathe_asm::{Image, Labels, LineKind, SymbolKind, disassembler};
use lathe_base::{FileId, Source, nearest};
use lathe_isa::Isa;
use lathe_isa::compile::Symbols;
use lathe_isa::decode::Decoded;
use lathe_isa::model::MemoryId;
use lathe_vm::State;
use serde::Serialize;

use crate::Problem;

/// A program and what is known about it: sources, labels, names.
#[derive(Clone, Debug)]
pub struct Program {
    isa: Arc<Isa>,
    image: Image,
    sources: Vec<Source>,
    labels: Labels,
    names: BTreeMap<String, u64>,
}

/// A source line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SourceLine {
    /// The source's name.
    pub file: String,
    /// The source's index in the list of sources.
    #[serde(skip)]
    pub source: usize,
    /// The line number, from 1.
    pub line: usize,
}

/// An address with what helps a person find it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The address in the code memory.
    pub address: u64,
    /// `0x0012`
    pub hex: String,
    /// `loop+2`, if there is a label at or before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The source line it comes from.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub line: Option<SourceLine>,
}

/// One instruction, disassembled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Its place.
    #[serde(flatten)]
    pub place: Place,
    /// Its cells in hexadecimal.
    pub cells: String,
    /// The number of cells.
    pub length: u64,
    /// Its text; `??` if it cannot be decoded.
    pub text: String,
}

impl Program {
    /// Creates a program for a machine; the image's source positions refer to `sources`.
    pub fn new(isa: Arc<Isa>, image: Image, sources: Vec<Source>) -> Program {
        let labels = Labels::new(&image);
        let value = |value: i128| u64::try_from(value).or_else(|_| i64::try_from(value).map(|value| value as u64));
        let names = image.symbols.iter().filter_map(|symbol| Some((symbol.name.clone(), value(symbol.value).ok()?)));
        let names = names.collect();
        Program { isa, image, sources, labels, names }
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Returns the image.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the sources the image was assembled from, if known.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Returns labels and constants, for expressions.
    pub fn names(&self) -> &BTreeMap<String, u64> {
        &self.names
    }

    /// Formats an address of the code memory in hexadecimal.
    pub fn hex(&self, address: u64) -> String {
        hexadecimal(address, self.isa.pc.width.bits())
    }

    /// Returns the label at or before an address, with the distance: `loop+2`.
    pub fn label(&self, memory: MemoryId, address: u64) -> Option<String> {
        let (symbol, distance) = self.labels.before(memory, address)?;
        // Far past the last label, its name says nothing.
        let near = distance < 0x1000;
        near.then(|| if distance == 0 { symbol.name.clone() } else { format!("{}+{distance}", symbol.name) })
    }

    /// Returns the label that owns an address, for profiles: the nearest one at or before it, without its local part.
    pub fn owner(&self, address: u64) -> String {
        match self.labels.before(self.isa.pc.memory, address) {
            Some((symbol, _)) => symbol.name.split('.').next().unwrap_or(&symbol.name).to_owned(),
            None => "(no label)".to_owned(),
        }
    }

    /// Returns the source line that an address comes from.
    pub fn source_line(&self, address: u64) -> Option<SourceLine> {
        let line = self.image.line_at(self.isa.pc.memory, address)?;
        let source = line.span.file.0 as usize;
        let text = self.sources.get(source)?;
        Some(SourceLine { file: text.name.clone(), source, line: text.line_column(line.span.start).0 })
    }

    /// Returns the text of a source line.
    pub fn text_of(&self, line: &SourceLine) -> &str {
        let source = self.sources.get(line.source);
        source.and_then(|source| source.text.lines().nth(line.line - 1)).unwrap_or_default()
    }

    /// Returns everything known about an address.
    pub fn place(&self, address: u64) -> Place {
        let label = self.label(self.isa.pc.memory, address);
        Place { address, hex: self.hex(address), label, line: self.source_line(address) }
    }

    /// Decodes the instruction at an address from the current memory.
    pub fn decode(&self, state: &State, address: u64) -> Option<Decoded> {
        self.isa.decode(state.window(&self.isa, address, self.isa.longest()))
    }

    /// Disassembles the instruction at an address.
    pub fn line(&self, state: &State, address: u64) -> Line {
        let decoded = self.decode(state, address);
        let label = |memory, address| self.labels.at(memory, address).next().map(|symbol| symbol.name.clone());
        let text = decoded.as_ref().map(|decoded| disassembler::instruction(&self.isa, decoded, address, label));
        let length = self.length(decoded.as_ref());
        let cell = self.isa.code_memory().cell;
        let digits = cell.bits().div_ceil(4) as usize;
        let memory = state.memory(self.isa.pc.memory);
        let cells: Vec<String> =
            (0..length).map(|at| format!("{:0digits$X}", memory.get(address.wrapping_add(at)))).collect();
        Line { place: self.place(address), cells: cells.join(" "), length, text: text.unwrap_or("??".to_owned()) }
    }

    /// Returns at most `count` instructions before an address, fewer if no more can be decoded. The cells before an
    /// address may be decoded in several ways; the longest sequence that ends at the address is taken.
    pub fn lines_before(&self, state: &State, address: u64, count: usize) -> Vec<Line> {
        let reach = (count as u64 + 4) * u64::from(self.isa.longest());
        for start in address.saturating_sub(reach)..address {
            let mut addresses = Vec::new();
            let mut at = start;
            while at < address {
                addresses.push(at);
                let Some(next) = at.checked_add(self.length(self.decode(state, at).as_ref())) else { break };
                at = next;
            }
            if at == address {
                let first = addresses.len().saturating_sub(count);
                return addresses[first..].iter().map(|address| self.line(state, *address)).collect();
            }
        }
        Vec::new()
    }

    fn length(&self, decoded: Option<&Decoded>) -> u64 {
        decoded.map_or(1, |decoded| u64::from(self.isa.instruction(decoded.instruction).encoding.cells))
    }

    /// Returns the address after the instruction at this one.
    pub fn next(&self, state: &State, address: u64) -> u64 {
        let length = self.length(self.decode(state, address).as_ref());
        self.isa.pc.width.wrap(address.wrapping_add(length))
    }

    /// Returns where a call returns to, given the address after it. Where the source has text or numbers after a call,
    /// the routine reads them and returns past them.
    pub(crate) fn return_address(&self, next: u64) -> u64 {
        let line = |address: u64| self.image.line_at(self.isa.pc.memory, address);
        let mut at = next;
        while let Some(data) = line(at).filter(|line| line.kind == LineKind::Data) {
            let Ok(after) = u64::try_from(data.end()) else { return next };
            at = after;
        }
        if line(at).is_some_and(|line| line.kind == LineKind::Code) { at } else { next }
    }

    /// Finds where to stop for a place the user typed: a label, `label+2`, a number, `file.asm:12`, `:12`.
    ///
    /// # Errors
    /// If there is no such place in the program.
    pub fn find(&self, text: &str) -> Result<Vec<u64>, Problem> {
        let text = text.trim();
        if let Some((file, line)) = text.rsplit_once(':')
            && let Ok(line) = line.parse()
        {
            let source = self.source_named(file)?;
            return self.stops_of_line(source, line).map(|(_, stops)| stops);
        }
        self.address(text).map(|address| vec![address])
    }

    /// Parses an address: a label, `label+2`, or a number.
    fn address(&self, text: &str) -> Result<u64, Problem> {
        let (name, offset) = match text.rsplit_once('+') {
            Some((name, offset)) if number(name).is_none() => (name.trim(), number(offset.trim())),
            _ => (text, Some(0)),
        };
        let offset = offset.ok_or_else(|| self.unknown(text))?;
        let address = number(name).or_else(|| self.label_value(name)).ok_or_else(|| self.unknown(name))?;
        let address = address.wrapping_add(offset);
        if !self.isa.pc.width.holds(address) {
            let last = self.hex(self.isa.pc.width.mask());
            return Err(
                Problem::new(format!("there is no address {address:#x}")).help(format!("addresses end at {last}"))
            );
        }
        Ok(address)
    }

    /// Finds a label by its full name, or a local label by its own name if that is unique.
    fn label_value(&self, name: &str) -> Option<u64> {
        let code = SymbolKind::Label(self.isa.pc.memory);
        let whole = self.image.symbols.iter().find(|symbol| symbol.name == name && symbol.kind == code);
        let local = || {
            let mut named = self.image.symbols.iter().filter(|symbol| {
                symbol.kind == code
                    && symbol.name.rsplit_once('.').is_some_and(|(_, own)| own == name.trim_start_matches('.'))
            });
            named.next().filter(|_| named.next().is_none())
        };
        u64::try_from(whole.or_else(local)?.value).ok()
    }

    fn unknown(&self, name: &str) -> Problem {
        let labels = self.image.symbols.iter().filter(|symbol| matches!(symbol.kind, SymbolKind::Label(_)));
        let near = nearest(name, labels.map(|symbol| symbol.name.as_str()));
        Problem::new(format!("the program has no label `{name}`")).help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "give a label, an address such as 0x40, or a line such as main.asm:12".to_owned(),
        })
    }

    fn source_named(&self, name: &str) -> Result<usize, Problem> {
        let ends = |source: &Source| {
            source.name == name
                || source.name.ends_with(&format!("/{name}"))
                || name.ends_with(&format!("/{}", source.name))
        };
        let found = if name.is_empty() { Some(0) } else { self.sources.iter().position(ends) };
        found.filter(|at| *at < self.sources.len()).ok_or_else(|| {
            let names: Vec<&str> = self.sources.iter().map(|source| source.name.as_str()).collect();
            Problem::new(format!("the program has no source `{name}`")).help(match names.as_slice() {
                [] => "it was loaded without its source; debug the assembly file to have lines".to_owned(),
                names => format!("it was assembled from {}", names.join(", ")),
            })
        })
    }

    /// Returns the first line from this one on that has instructions, and their addresses.
    ///
    /// # Errors
    /// If neither this line nor one below it has instructions.
    pub fn stops_of_line(&self, source: usize, line: usize) -> Result<(usize, Vec<u64>), Problem> {
        let text = &self.sources[source];
        let stops = |line: usize| -> Option<Vec<u64>> {
            let span = text.line(FileId(source as u32), line)?;
            let code = self.isa.pc.memory;
            let lines = self.image.stops_of(span);
            Some(lines.iter().filter(|line| line.memory == code).map(|line| line.address).collect())
        };
        let mut at = line;
        while let Some(found) = stops(at) {
            if !found.is_empty() {
                return Ok((at, found));
            }
            at += 1;
        }
        let message = format!("line {line} of {} has no instruction, and none follows", text.name);
        Err(Problem::new(message))
    }

    /// Returns the addresses of all instructions by source line.
    pub fn code_lines(&self) -> BTreeMap<SourceLine, Vec<u64>> {
        let mut lines: BTreeMap<SourceLine, Vec<u64>> = BTreeMap::new();
        for line in self.image.lines.iter().filter(|line| line.kind == LineKind::Code) {
            if let Some(place) = self.source_line(line.address) {
                lines.entry(place).or_default().push(line.address);
            }
        }
        lines
    }
}

impl Symbols for Program {
    fn value(&self, name: &str) -> Option<u64> {
        self.names.get(name).copied().or_else(|| self.label_value(name))
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.names.keys().map(String::as_str))
    }
}

/// Parses a number as people write it: `12`, `0x12`, `0b101`.
pub(crate) fn number(text: &str) -> Option<u64> {
    let text = text.replace('_', "").to_ascii_lowercase();
    let digits = |mark: &str| text.strip_prefix(mark).filter(|rest| !rest.starts_with('+'));
    match (digits("0x"), digits("0b"), digits("0o")) {
        (Some(rest), _, _) => u64::from_str_radix(rest, 16).ok(),
        (_, Some(rest), _) => u64::from_str_radix(rest, 2).ok(),
        (_, _, Some(rest)) => u64::from_str_radix(rest, 8).ok(),
        _ => text.parse().ok().filter(|_| !text.starts_with('+')),
    }
}

/// Formats a value with as many digits as its bits need.
pub(crate) fn hexadecimal(value: u64, bits: u32) -> String {
    format!("0x{value:0digits$X}", digits = bits.div_ceil(4) as usize)
}
