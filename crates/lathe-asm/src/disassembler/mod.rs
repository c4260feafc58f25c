//! Turns an image back into assembly that assembles to the same image.
//!
//! Code is followed from the entry point; unreached cells are data. Encodings that the assembler would not produce
//! (ignored bits set, a longer form than needed) are followed too, but written as data, with a comment that names the
//! instruction.

mod flow;
mod listing;
mod text;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lathe_base::Width;
use lathe_base::numbers::addresses_from;
use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::encoding::window;
use lathe_isa::model::{self, Base, Domain, Field, InstructionId, MemoryId, Numeric, Target};
use lathe_isa::operand::Location;

pub use text::instruction;

use crate::image::{Image, Segment, SymbolKind};
use flow::Modes;

/// How to find code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Follow jumps and calls from the entry point and from exported code labels.
    #[default]
    Follow,
    /// Decode everything in the code memory, one instruction after the other.
    Linear,
}

/// Disassembles an image.
pub fn disassemble(isa: &Isa, image: &Image, method: Method) -> String {
    let mut disassembler = Disassembler::new(isa, image);
    match method {
        Method::Follow => disassembler.follow(image),
        Method::Linear => disassembler.linear(image),
    }
    disassembler.name_targets(image);
    listing::write(&disassembler, image)
}

/// An instruction found in the image.
#[derive(Clone, Copy)]
struct Instruction {
    decoded: Decoded,
    /// The modes it was decoded with.
    modes: Modes,
    /// Whether the assembler would produce these bits: not if ignored bits are set, or if it tries another instruction
    /// with the same text first.
    is_canonical: bool,
}

struct Disassembler<'i> {
    isa: &'i Isa,
    /// The cells of each memory; adjoining runs are joined.
    segments: Vec<Segment>,
    /// Instructions found in the code memory, by address.
    code: BTreeMap<u64, Instruction>,
    /// For each instruction, the ones with the same text that the assembler tries first.
    rivals: Vec<Vec<InstructionId>>,
    /// Cells of the longest instruction.
    longest: usize,
    /// Names of addresses.
    labels: BTreeMap<(MemoryId, u64), String>,
}

impl<'i> Disassembler<'i> {
    fn new(isa: &'i Isa, image: &Image) -> Self {
        let (code, labels) = (BTreeMap::new(), BTreeMap::new());
        let longest = isa.longest() as usize;
        Disassembler { isa, segments: joined(image), code, rivals: rivals(isa), longest, labels }
    }

    fn code_segments(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.memory == self.isa.pc.memory)
    }

    /// Decodes the instruction at an address, if all its cells are in the image.
    fn decode(&self, address: u64, modes: Modes) -> Option<Instruction> {
        let inside = |segment: &&Segment| segment.contains(address);
        let segment = self.code_segments().find(inside)?;
        let cells = &segment.cells[(address - segment.start) as usize..];
        let window = self.window(cells, modes.bits);
        let decoded = self.isa.decode(window)?;
        let encoding = &self.isa.instruction(decoded.instruction).encoding;
        let whole = encoding.cells as usize <= cells.len();
        // Labels come later; every address inside the image will have one, except in the middle of a line.
        let found = Instruction { decoded, modes, is_canonical: encoding.is_canonical(window) };
        let first = self.is_first_choice(&found, address, |memory, address| self.is_inside(memory, address));
        whole.then_some(Instruction { is_canonical: found.is_canonical && first, ..found })
    }

    /// Returns the window that begins with these cells.
    fn window(&self, cells: &[u64], modes: u128) -> u128 {
        window(cells.iter().copied().take(self.longest), self.isa.code_memory().cell) | modes
    }

    /// Returns how many cells an instruction takes.
    fn cells(&self, found: &Instruction) -> u64 {
        u64::from(self.isa.instruction(found.decoded.instruction).encoding.cells)
    }

    fn location(&self, instruction: InstructionId, pc: u64) -> Location {
        let width = self.isa.pc.width;
        let cells = self.isa.instruction(instruction).encoding.cells;
        Location { pc, next: width.wrap(pc.wrapping_add(cells.into())), width }
    }

    /// Whether the assembler would choose this instruction for its text. `labelled` tells whether an address is written
    /// as a label.
    fn is_first_choice(&self, found: &Instruction, pc: u64, labelled: impl Fn(MemoryId, u64) -> bool) -> bool {
        let decoded = &found.decoded;
        let own = self.isa.instruction(decoded.instruction);
        let location = self.location(decoded.instruction, pc);
        let rivals = self.rivals[decoded.instruction.index()].iter().map(|rival| self.isa.instruction(*rival));
        let is_meant = |rival: &&model::Instruction| rival.encoding.is_in(found.modes.bits, self.isa.mode_mask());
        !rivals.filter(is_meant).any(|rival| {
            let fields = rival.operands.iter().zip(&own.operands);
            let operands: Option<Vec<u64>> = fields
                .zip(decoded.operands)
                .map(|((theirs, ours), bits)| {
                    let ours = self.isa.field(*ours);
                    let target = self.target(ours, bits, location);
                    let target = target.filter(|(memory, address)| labelled(*memory, *address));
                    same_text(self.isa.field(*theirs), ours, bits, target.map(|(_, address)| address), location)
                })
                .collect();
            operands.is_some_and(|operands| rival.encoding.holds(&operands))
        })
    }

    /// Whether the text of an instruction assembles to the same cells.
    fn can_be_written(&self, found: &Instruction, pc: u64) -> bool {
        found.is_canonical
            && self.is_first_choice(found, pc, |memory, address| self.labels.contains_key(&(memory, address)))
    }

    fn follow(&mut self, image: &Image) {
        let of_code = |kind: SymbolKind| kind == SymbolKind::Label(self.isa.pc.memory);
        let named = image.symbols.iter().filter(|symbol| of_code(symbol.kind) && symbol.exported);
        let named = named.filter_map(|symbol| u64::try_from(symbol.value).ok());
        let modes = Modes::with(&image.registers_at_reset(self.isa), self.isa);
        let start = std::iter::once((image.start(self.isa), modes));
        let mut pending: VecDeque<(u64, Modes)> = start.chain(named.map(|place| (place, modes.assumed()))).collect();
        let mut taken: BTreeSet<u64> = BTreeSet::new();
        while let Some((address, modes)) = pending.pop_front() {
            if taken.contains(&address) {
                continue;
            }
            let Some(found) = self.decode(address, modes) else { continue };
            let (decoded, cells) = (found.decoded, self.cells(&found));
            let last = address + (cells - 1);
            if (address..=last).any(|cell| taken.contains(&cell)) {
                continue;
            }
            taken.extend(address..=last);
            let flow = flow::of(self.isa, &decoded, self.location(decoded.instruction, address), modes);
            if let Some(next) = address.checked_add(cells).filter(|_| flow.goes_on) {
                // After a call returns, the routine may have changed the modes.
                let modes = if flow.is_call { flow.modes.assumed() } else { flow.modes };
                pending.push_front((next, modes));
            }
            pending.extend(flow.targets.into_iter().map(|target| (target, flow.modes)));
            self.code.insert(address, found);
        }
    }

    fn linear(&mut self, image: &Image) {
        let at_reset = Modes::with(&image.registers_at_reset(self.isa), self.isa);
        let runs: Vec<(u64, u64)> =
            self.code_segments().map(|segment| (segment.start, segment.cells.len() as u64)).collect();
        for (start, count) in runs {
            let (mut offset, mut modes) = (0, at_reset);
            while offset < count {
                let at = start + offset;
                let found = self.decode(at, modes);
                offset += found.map_or(1, |found| {
                    self.code.insert(at, found);
                    let location = self.location(found.decoded.instruction, at);
                    modes = flow::of(self.isa, &found.decoded, location, modes).modes;
                    self.cells(&found)
                });
            }
        }
    }

    /// Names the addresses that operands and symbols refer to.
    fn name_targets(&mut self, image: &Image) {
        let mut names = BTreeSet::new();
        for symbol in &image.symbols {
            let (SymbolKind::Label(memory), Ok(address)) = (symbol.kind, u64::try_from(symbol.value)) else { continue };
            let free = self.may_have_label(memory, address) && !self.labels.contains_key(&(memory, address));
            if free && is_name(&symbol.name, self.isa) && names.insert(symbol.name.clone()) {
                self.labels.insert((memory, address), symbol.name.clone());
            }
        }
        let mut targets: BTreeSet<(MemoryId, u64)> = BTreeSet::new();
        for (address, found) in self.code.iter().filter(|(_, found)| found.is_canonical) {
            targets.extend(self.targets(&found.decoded, *address));
        }
        targets.extend(image.entry.map(|entry| (self.isa.pc.memory, entry)));
        for (memory, address) in targets {
            if !self.may_have_label(memory, address) || self.labels.contains_key(&(memory, address)) {
                continue;
            }
            let stem = if self.code.contains_key(&address) && memory == self.isa.pc.memory { "code" } else { "data" };
            let digits = (self.isa.memory(memory).address.bits() as usize).div_ceil(4);
            let mut name = format!("{stem}_{address:0digits$x}");
            while !names.insert(name.clone()) {
                name.push('_');
            }
            self.labels.insert((memory, address), name);
        }
    }

    /// Returns the addresses that the operands of an instruction name.
    fn targets(&self, decoded: &Decoded, address: u64) -> Vec<(MemoryId, u64)> {
        let instruction = self.isa.instruction(decoded.instruction);
        let location = self.location(decoded.instruction, address);
        let fields = instruction.operands.iter().map(|field| self.isa.field(*field));
        fields.zip(decoded.operands).filter_map(|(field, bits)| self.target(field, bits, location)).collect()
    }

    /// Returns the address that an operand names, if any.
    fn target(&self, field: &Field, bits: u64, location: Location) -> Option<(MemoryId, u64)> {
        let Domain::Number(Numeric { target: Some(target), .. }) = field.domain else { return None };
        let memory = match target {
            Target::Absolute(memory) => memory,
            _ => self.isa.pc.memory,
        };
        Some((memory, field.value(bits, location)))
    }

    fn is_inside(&self, memory: MemoryId, address: u64) -> bool {
        let covers = |segment: &Segment| segment.memory == memory && segment.contains(address);
        self.segments.iter().any(covers)
    }

    /// Whether a line of the output begins at this address.
    fn may_have_label(&self, memory: MemoryId, address: u64) -> bool {
        let before = self.code.range(..address).next_back().filter(|_| memory == self.isa.pc.memory);
        let split = before.is_some_and(|(start, found)| address - start < self.cells(found));
        self.is_inside(memory, address) && !split
    }

    /// Returns the text of an instruction.
    fn text(&self, decoded: &Decoded, address: u64) -> String {
        text::instruction(self.isa, decoded, address, |memory, address| self.labels.get(&(memory, address)).cloned())
    }
}

/// Lists for each instruction the ones with the same texts and operand positions that are tried first.
fn rivals(isa: &Isa) -> Vec<Vec<InstructionId>> {
    let mut by_shape: BTreeMap<String, Vec<InstructionId>> = BTreeMap::new();
    let mut order: Vec<InstructionId> = (0..isa.instructions.len() as u32).map(InstructionId).collect();
    order.sort_by_key(|id| (isa.instruction(*id).encoding.cells, *id));
    let mut rivals = vec![Vec::new(); order.len()];
    for id in order {
        for shape in isa.instruction(id).syntax.shapes() {
            let alike = by_shape.entry(shape).or_default();
            rivals[id.index()].extend_from_slice(alike);
            alike.push(id);
        }
    }
    rivals
}

/// Returns the bits that the text of operand `bits` of `ours` has as an operand of `theirs`, if it fits: a label for
/// `address`, or else a number or a name.
fn same_text(theirs: &Field, ours: &Field, bits: u64, address: Option<u64>, location: Location) -> Option<u64> {
    if let Some(address) = address {
        return theirs.bits_for_address(address, location);
    }
    match &ours.domain {
        Domain::Number(numeric) => {
            let number = match numeric.target {
                Some(Target::Within(Base::Pc | Base::Next)) => i128::from(ours.value(bits, location)),
                _ if numeric.signed => i128::from(ours.width.signed(bits)),
                _ => i128::from(bits),
            };
            theirs.bits_of(number, location)
        }
        Domain::Values(values) => theirs.bits_of(values.number(bits)?, location),
        _ => {
            let name = ours.names().find(|name| ours.bits_named(name) == Some(bits));
            name.and_then(|name| theirs.bits_named(name))
        }
    }
}

/// Writes a number as the machine's programs do: hexadecimal, or octal if that is their custom.
fn number(isa: &Isa, value: u64, width: Width) -> String {
    let bits = width.bits() as usize;
    match isa.assembly.octal_numbers {
        true => format!("0o{value:0digits$o}", digits = bits.div_ceil(3)),
        false => format!("0x{value:0digits$X}", digits = bits.div_ceil(4)),
    }
}

/// Whether a symbol's name can be written as a label.
fn is_name(name: &str, isa: &Isa) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let fine =
        name.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
    let taken = isa.registers.iter().any(|register| register.name.eq_ignore_ascii_case(name))
        || isa.views.iter().any(|view| view.name.eq_ignore_ascii_case(name))
        || isa.fields.iter().any(|field| field.bits_named(name).is_some());
    begins && fine && !taken
}

/// Returns the segments of an image in order, joining those that touch or overlap.
fn joined(image: &Image) -> Vec<Segment> {
    let mut cells: BTreeMap<(MemoryId, u64), u64> = BTreeMap::new();
    for segment in &image.segments {
        cells.extend(addresses_from(segment.start).zip(&segment.cells).map(|(at, cell)| ((segment.memory, at), *cell)));
    }
    let mut segments: Vec<Segment> = Vec::new();
    for ((memory, address), cell) in cells {
        match segments.last_mut().filter(|last| last.memory == memory && last.end() == u128::from(address)) {
            Some(last) => last.cells.push(cell),
            None => segments.push(Segment { memory, start: address, cells: vec![cell] }),
        }
    }
    segments
}
