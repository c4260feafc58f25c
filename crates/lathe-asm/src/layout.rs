//! Addresses: passes over the program until every label and every choice of an encoding has settled, then one more pass
//! that lays down the cells.
//!
//! A choice only ever moves to a longer encoding, so choices always settle; an `.align`, `.space` or `.org` that
//! depends on a later address may not.

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};
use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Base, Domain, Field, MemoryId, Order, Target};
use lathe_isa::operand::Location;

use crate::codes;
use crate::expression::{ExprId, NoValue, Value};
use crate::forms::listed;
use crate::image::{Image, Segment, Symbol, SymbolKind};
use crate::lines::{Call, CallKind, Line, LineKind, Lines};
use crate::program::{Alternative, Item, ItemKind, Operand, Program};
use crate::symbols::{Definition, SymbolId};

/// What to do when two things claim one address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Report it.
    #[default]
    Refuse,
    /// The later one wins.
    LaterWins,
}

/// Assigns addresses and lays down the program's cells.
pub(crate) fn lay_out(isa: &Isa, program: &mut Program, overlap: Overlap, diagnostics: &mut Diagnostics) -> Image {
    settle(isa, program, diagnostics);
    let mut writer = Writer::new(isa, program, diagnostics);
    for at in 0..writer.walk.program.items.len() {
        writer.item(writer.walk.program.items[at]);
    }
    let mut image = writer.finish();
    if overlap == Overlap::Refuse {
        check_overlap(isa, program, &image, diagnostics);
    }
    image.segments.retain(|segment| !segment.cells.is_empty());
    image
}

/// Passes over the program until nothing changes. A chain of jumps, each pushed out of reach by the next, takes a pass
/// for each link; beyond a limit, all instructions take their longest encoding, which always ends it.
fn settle(isa: &Isa, program: &mut Program, diagnostics: &mut Diagnostics) {
    let (mut idle, mut visits) = (0, 0);
    while idle < limits::LAYOUT_PASSES {
        let changes = pass(isa, program);
        if changes.labels.is_empty() && !changes.has_grown {
            return;
        }
        idle = if changes.has_grown { 0 } else { idle + 1 };
        visits += program.items.len();
        if visits > limits::LAYOUT_VISITS {
            take_longest(program);
        }
        if idle == limits::LAYOUT_PASSES {
            diagnostics.push(unsettled(program, &changes.labels));
        }
    }
}

fn unsettled(program: &Program, labels: &[SymbolId]) -> Diagnostic {
    let names: Vec<String> = labels.iter().map(|id| format!("`{}`", program.symbols.entry(*id).name)).collect();
    let span = labels.first().map_or(Span::default(), |id| program.symbols.entry(*id).span);
    let message = format!("these addresses change in every pass and do not settle: {}", names.join(", "));
    let help = "an `.align`, `.space`, `.org` or `.if` depends on an address that it moves; break that circle";
    Diagnostic::new(codes::UNSETTLED, span, message).help(help)
}

fn take_longest(program: &mut Program) {
    for item in &mut program.items {
        if let ItemKind::Instruction { count, chosen, .. } = &mut item.kind {
            *chosen = *count - 1;
        }
    }
}

/// What a pass changed.
#[derive(Default)]
struct Changes {
    /// The first few labels that moved.
    labels: Vec<SymbolId>,
    /// Whether an instruction has taken a longer encoding.
    has_grown: bool,
}

/// The most labels that a message names.
const NAMED: usize = 5;

fn pass(isa: &Isa, program: &mut Program) -> Changes {
    let mut changes = Changes::default();
    let mut walk = Walk::new(isa, program);
    walk.program.symbols.pass += 1;
    for at in 0..walk.program.items.len() {
        let item = walk.program.items[at];
        match item.kind {
            ItemKind::Label(symbol) => {
                let here = Some(walk.position());
                let entry = walk.program.symbols.entry_mut(symbol);
                if let Definition::Label(memory, old) = entry.definition
                    && old != here
                {
                    entry.definition = Definition::Label(memory, here);
                    if changes.labels.len() < NAMED {
                        changes.labels.push(symbol);
                    }
                }
            }
            ItemKind::Instruction { first, count, chosen } if count > 1 => {
                let better = walk.choose(first, count, chosen);
                if better != chosen {
                    walk.program.items[at].kind = ItemKind::Instruction { first, count, chosen: better };
                    changes.has_grown = true;
                }
                walk.advance(&walk.program.items[at].kind.clone());
            }
            kind => walk.advance(&kind),
        }
    }
    changes
}

/// The cells of the largest memory. Positions beyond it mean nothing, but must not overflow.
const MOST: u128 = 1 << u64::BITS;

/// A walk over the program that keeps the position in each memory and section.
struct Walk<'w> {
    isa: &'w Isa,
    program: &'w mut Program,
    /// May be one past the last cell, whose address may be the largest `u64`.
    positions: Vec<u128>,
    place: usize,
    memory: MemoryId,
}

impl<'w> Walk<'w> {
    fn new(isa: &'w Isa, program: &'w mut Program) -> Self {
        // Code begins where the machine does.
        let mut positions = vec![0; isa.memories.len()];
        positions[isa.pc.memory.index()] = isa.pc.reset.into();
        positions.extend(isa.assembly.sections.iter().map(|section| u128::from(section.address)));
        Walk { isa, program, positions, place: isa.pc.memory.index(), memory: isa.pc.memory }
    }

    fn position(&self) -> u128 {
        self.positions[self.place]
    }

    fn here(&self) -> Value {
        Value { number: self.position() as i128, memory: Some(self.memory) }
    }

    fn value(&mut self, id: ExprId) -> Result<Value, NoValue> {
        let here = Some(self.here());
        let program = &mut *self.program;
        program.expressions.value(id, here, &mut program.symbols)
    }

    /// Evaluates a count of cells: 0 if it is unknown or negative, at most `MOST`.
    fn count(&mut self, id: ExprId) -> u128 {
        let value = self.value(id).map_or(0, |value| value.number);
        u128::try_from(value).unwrap_or(0).min(MOST)
    }

    /// Advances the position past an item.
    fn advance(&mut self, kind: &ItemKind) {
        let cells = match *kind {
            ItemKind::Origin(address) => {
                self.positions[self.place] = self.count(address);
                return;
            }
            ItemKind::Place(place) => {
                (self.place, self.memory) = (place, memory_of(self.isa, place));
                return;
            }
            ItemKind::Instruction { first, chosen, .. } => {
                u128::from(self.encoding_of(self.program.alternatives[(first + u32::from(chosen)) as usize]).cells)
            }
            ItemKind::Data { count, cells, .. } => u128::from(count) * u128::from(cells),
            ItemKind::Bytes { count, .. } => count.into(),
            ItemKind::Space { count, .. } => self.count(count),
            ItemKind::Align { to, .. } => self.padding(to),
            ItemKind::Label(_) | ItemKind::Assert { .. } | ItemKind::Entry(_) => 0,
        };
        let position = &mut self.positions[self.place];
        *position = (*position + cells).min(2 * MOST);
    }

    fn padding(&mut self, to: ExprId) -> u128 {
        let to = self.count(to).max(1);
        (to - self.position() % to) % to
    }

    fn encoding_of(&self, alternative: Alternative) -> &'w lathe_isa::encoding::Encoding {
        let isa = self.isa;
        &isa.instruction(alternative.instruction).encoding
    }

    fn location(&self, cells: u32) -> Location {
        let width = self.isa.pc.width;
        let pc = width.wrap(self.position() as u64);
        Location { pc, next: width.wrap(pc.wrapping_add(cells.into())), width }
    }

    /// Returns the first alternative, from the chosen one on, whose operands fit or may still fit.
    fn choose(&mut self, first: u32, count: u16, chosen: u16) -> u16 {
        (chosen..count)
            .find(|at| self.fits(self.program.alternatives[(first + u32::from(*at)) as usize]))
            .unwrap_or(count - 1)
    }

    fn fits(&mut self, alternative: Alternative) -> bool {
        let isa = self.isa;
        let instruction = isa.instruction(alternative.instruction);
        let location = self.location(instruction.encoding.cells);
        let mut bits = [0; limits::OPERANDS];
        let mut all_known = true;
        for (index, field) in instruction.operands.iter().enumerate() {
            let found = match self.program.operands[alternative.operands as usize + index] {
                Operand::Bits(bits) => Some(bits),
                Operand::Value(expr) => match self.value(expr) {
                    Ok(value) => operand_bits(isa.field(*field), value, location),
                    Err(NoValue::Unfit(..) | NoValue::OtherPage(..)) => None,
                    Err(_) => {
                        all_known = false;
                        Some(0)
                    }
                },
            };
            let Some(found) = found else { return false };
            bits[index] = found;
        }
        !all_known || instruction.encoding.holds(&bits[..instruction.operands.len()])
    }
}

/// Returns the memory of a place: a memory itself, or that of a section; sections are counted after the memories.
pub(crate) fn memory_of(isa: &Isa, place: usize) -> MemoryId {
    match place.checked_sub(isa.memories.len()) {
        Some(section) => isa.assembly.sections[section].memory,
        None => MemoryId(place as u32),
    }
}

/// Returns the bits of an operand for a value, if the operand can hold and reach it.
fn operand_bits(field: &Field, value: Value, location: Location) -> Option<u64> {
    match value.memory {
        Some(_) => field.bits_for_address(u64::try_from(value.number).ok()?, location),
        None => field.bits_of(value.number, location),
    }
}

/// The last walk: lays down cells and reports what does not fit.
struct Writer<'w, 'd> {
    walk: Walk<'w>,
    image: Image,
    lines: Vec<Line>,
    /// How many cells there are so far.
    placed: u64,
    diagnostics: &'d mut Diagnostics,
    /// Memories that are full, so that each is reported once.
    full: Vec<MemoryId>,
    /// Whether the next cells begin a new segment.
    moved: bool,
}

impl<'w, 'd> Writer<'w, 'd> {
    fn new(isa: &'w Isa, program: &'w mut Program, diagnostics: &'d mut Diagnostics) -> Self {
        let image = Image { machine: isa.name.clone(), ..Image::default() };
        Writer {
            walk: Walk::new(isa, program),
            image,
            lines: Vec::new(),
            placed: 0,
            diagnostics,
            full: Vec::new(),
            moved: true,
        }
    }

    fn item(&mut self, item: Item) {
        match item.kind {
            ItemKind::Instruction { first, chosen, .. } => {
                let alternative = self.walk.program.alternatives[(first + u32::from(chosen)) as usize];
                self.instruction(item, alternative);
            }
            ItemKind::Data { first, count, cells, order } => self.data(item, first, count, cells, order),
            ItemKind::Bytes { first, count } => {
                let range = first as usize..(first + count) as usize;
                self.put(item, count.into(), |cells, program| {
                    cells.extend(program.bytes[range].iter().map(|byte| u64::from(*byte)));
                });
            }
            ItemKind::Space { count, fill } => {
                if let Some(count) = self.checked_count(item, count) {
                    self.fill(item, count, fill);
                }
            }
            ItemKind::Align { to, fill } => self.align(item, to, fill),
            ItemKind::Origin(address) => {
                if self.checked_count(item, address).is_none() {
                    // What follows will not fit either, and need not be reported.
                    self.full.push(self.walk.memory);
                }
                self.moved = true;
            }
            ItemKind::Place(_) => self.moved = true,
            ItemKind::Assert { condition, message } => self.assert(item, condition, message),
            ItemKind::Entry(address) => self.entry(item, address),
            ItemKind::Label(_) => {}
        }
        self.walk.advance(&item.kind);
    }

    fn report(&mut self, item: Item, diagnostic: Diagnostic) {
        let calls = &self.walk.program.calls;
        self.diagnostics.push_with(diagnostic.code, || in_calls(diagnostic, item.call, calls));
    }

    fn value(&mut self, item: Item, id: ExprId) -> Option<Value> {
        match self.walk.value(id) {
            Ok(value) => Some(value),
            Err(NoValue::Broken) => None,
            // It may be defined in a part that could not be read.
            Err(NoValue::Undefined(..)) if self.walk.program.is_incomplete => None,
            Err(problem) => {
                let program = &*self.walk.program;
                let make = || in_calls(no_value(program, problem), item.call, &program.calls);
                self.diagnostics.push_with(problem.code(), make);
                None
            }
        }
    }

    fn checked_count(&mut self, item: Item, id: ExprId) -> Option<u128> {
        let number = self.value(item, id)?.number;
        let cells = self.walk.isa.memory(self.walk.memory).cells();
        if let Some(count) = u128::try_from(number).ok().filter(|count| *count <= cells) {
            return Some(count);
        }
        let span = self.walk.program.expressions.span(id);
        let name = &self.walk.isa.memory(self.walk.memory).name;
        let message = format!("{number} is outside `{name}`, which has {cells} cells");
        self.report(
            item,
            Diagnostic::new(codes::PAST_MEMORY, span, message).help("use an address or a count inside it"),
        );
        None
    }

    fn align(&mut self, item: Item, to: ExprId, fill: Option<ExprId>) {
        let Some(number) = self.value(item, to).map(|value| value.number) else { return };
        if number < 1 {
            let span = self.walk.program.expressions.span(to);
            let message = format!("cannot align to a multiple of {number}");
            self.report(item, Diagnostic::new(codes::BAD_DIRECTIVE, span, message).help("as in `.align 16`"));
        } else if self.checked_count(item, to).is_some() {
            let padding = self.walk.padding(to);
            self.fill(item, padding, fill);
        }
    }

    fn fill(&mut self, item: Item, count: u128, fill: Option<ExprId>) {
        let value = match fill {
            Some(fill) => self.cell(item, fill).unwrap_or(0),
            None => 0,
        };
        self.put(item, count, |cells, _| cells.resize(cells.len() + count as usize, value));
    }

    /// Evaluates a value that must fit in one cell.
    fn cell(&mut self, item: Item, id: ExprId) -> Option<u64> {
        let width = self.walk.isa.memory(self.walk.memory).cell;
        self.fitting(item, id, width.bits())
    }

    fn fitting(&mut self, item: Item, id: ExprId, bits: u32) -> Option<u64> {
        let number = self.value(item, id)?.number;
        let (lowest, highest) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
        if (lowest..=highest).contains(&number) {
            return Some(number as u64);
        }
        let span = self.walk.program.expressions.span(id);
        let message = format!("{number} does not fit in {bits} bits");
        let help = format!("{lowest} to {highest} fit; `lo(x)` and `hi(x)` take bytes of a larger value");
        self.report(item, Diagnostic::new(codes::OUT_OF_RANGE, span, message).help(help));
        None
    }

    fn data(&mut self, item: Item, first: u32, count: u32, cells: u16, order: Order) {
        let width = self.walk.isa.memory(self.walk.memory).cell;
        let bits = width.bits() * u32::from(cells);
        let mut values = Vec::with_capacity((count as usize * usize::from(cells)).min(1 << 16));
        for at in first..first + count {
            let id = self.walk.program.values[at as usize];
            let value = self.fitting(item, id, bits.min(64)).unwrap_or(0);
            let cell = |number: u32| width.wrap(value.checked_shr(number * width.bits()).unwrap_or(0));
            match order {
                Order::Little => values.extend((0..u32::from(cells)).map(cell)),
                Order::Big => values.extend((0..u32::from(cells)).rev().map(cell)),
            }
        }
        self.put(item, values.len() as u128, |cells, _| cells.extend(values));
    }

    fn instruction(&mut self, item: Item, alternative: Alternative) {
        let isa = self.walk.isa;
        let instruction = isa.instruction(alternative.instruction);
        let location = self.walk.location(instruction.encoding.cells);
        let mut bits = [0; limits::OPERANDS];
        let mut all_fit = true;
        for (index, field) in instruction.operands.iter().enumerate() {
            let found = match self.walk.program.operands[alternative.operands as usize + index] {
                Operand::Bits(bits) => Some(bits),
                Operand::Value(expr) => self.operand(item, expr, isa.field(*field), location),
            };
            all_fit &= found.is_some();
            bits[index] = found.unwrap_or(0);
        }
        let operands = &bits[..instruction.operands.len()];
        let window = instruction.encoding.encode(operands);
        if all_fit && !instruction.encoding.holds(operands) {
            let shown = |index: usize| isa.field(instruction.operands[index]).name.clone();
            let message = format!("`{}` cannot have these operands", instruction.syntax.render(shown));
            let help = format!("the `where` of its row excludes them; see `lathe show {}`", isa.name);
            self.report(item, Diagnostic::new(codes::NO_FORM, item.span, message).help(help));
        }
        let count = instruction.encoding.cells as usize;
        let mut values = [0; 128];
        for (value, cell) in values.iter_mut().zip(cells(window, isa.code_memory().cell)).take(count) {
            *value = cell;
        }
        if self.walk.memory != isa.pc.memory {
            let (this, code) = (&isa.memory(self.walk.memory).name, &isa.code_memory().name);
            let message = format!("instructions belong in `{code}`, not in `{this}`");
            let diagnostic = Diagnostic::new(codes::BAD_DIRECTIVE, item.span, message);
            self.report(item, diagnostic.help(format!("write `.section {code}` before it")));
        }
        self.put(item, count as u128, |cells, _| cells.extend(&values[..count]));
    }

    fn operand(&mut self, item: Item, expr: ExprId, field: &Field, location: Location) -> Option<u64> {
        let value = self.value(item, expr)?;
        let reached = self.in_right_memory(item, expr, field, value)?;
        let bits = operand_bits(field, value, location).filter(|_| reached);
        if bits.is_none() {
            let diagnostic = unfit(self.walk.program, expr, field, value, location);
            self.report(item, diagnostic);
        }
        bits
    }

    /// Checks that a label is in the memory that the operand reaches.
    fn in_right_memory(&mut self, item: Item, expr: ExprId, field: &Field, value: Value) -> Option<bool> {
        let Domain::Number(numeric) = &field.domain else { return Some(true) };
        let (Some(target), Some(found)) = (numeric.target, value.memory) else { return Some(true) };
        let wanted = match target {
            Target::Absolute(memory) => memory,
            _ => self.walk.isa.pc.memory,
        };
        if wanted == found {
            return Some(true);
        }
        let isa = self.walk.isa;
        let (found, wanted) = (&isa.memory(found).name, &isa.memory(wanted).name);
        let span = self.walk.program.expressions.span(expr);
        let message = format!("this label is in `{found}`, but the instruction reaches `{wanted}`");
        self.report(item, Diagnostic::new(codes::OUT_OF_REACH, span, message).help("use a label of that memory"));
        None
    }

    /// `.entry`: execution begins at an address of the code memory.
    fn entry(&mut self, item: Item, address: ExprId) {
        let Some(value) = self.value(item, address) else { return };
        let isa = self.walk.isa;
        let span = self.walk.program.expressions.span(address);
        let (code, last) = (isa.code_memory(), isa.code_memory().last());
        let diagnostic = match value.memory {
            Some(memory) if memory != isa.pc.memory => {
                let name = &isa.memory(memory).name;
                let message = format!("this label is in `{name}`, but programs run in `{}`", code.name);
                Diagnostic::new(codes::OUT_OF_REACH, span, message).help(format!("use a label of `{}`", code.name))
            }
            _ if (0..=i128::from(last)).contains(&value.number) => {
                self.image.entry = Some(value.number as u64);
                return;
            }
            _ => {
                let message = format!("execution cannot begin at {}", value.number);
                let help = format!("addresses of `{}` go from 0 to 0x{last:X}", code.name);
                Diagnostic::new(codes::PAST_MEMORY, span, message).help(help)
            }
        };
        self.report(item, diagnostic);
    }

    fn assert(&mut self, item: Item, condition: ExprId, message: u32) {
        if self.value(item, condition).is_some_and(|value| value.number == 0) {
            let text = self.walk.program.texts[message as usize].clone();
            let message = if text.is_empty() { "this assertion fails".to_owned() } else { text };
            self.report(
                item,
                Diagnostic::new(codes::ASSERTION, item.span, message).help("correct the program, or what it asserts"),
            );
        }
    }

    /// Whether `count` more cells fit in the memory and in an image; reports it once if not.
    fn room(&mut self, item: Item, count: u128) -> bool {
        let memory = self.walk.memory;
        let (start, size) = (self.walk.position(), self.walk.isa.memory(memory).cells());
        let fits = start + count <= size;
        if fits && u128::from(self.placed) + count <= u128::from(limits::IMAGE_CELLS) {
            return true;
        }
        if !self.full.contains(&memory) {
            self.full.push(memory);
            let diagnostic = if fits {
                let message = format!("the program has more than {} cells", limits::IMAGE_CELLS);
                let help = "leave cells free with `.org`, which makes none, instead of `.space` or `.fill`";
                Diagnostic::new(codes::TOO_LARGE, item.span, message).help(help)
            } else {
                let name = &self.walk.isa.memory(memory).name;
                let message = format!("`{name}` has {size} cells, and this goes past its end");
                let help = "make the program shorter, or move parts of it with `.org`";
                Diagnostic::new(codes::PAST_MEMORY, item.span, message).help(help)
            };
            self.report(item, diagnostic);
        }
        false
    }

    /// Lays down `count` cells, if there is room for them; `write` adds them.
    fn put(&mut self, item: Item, count: u128, write: impl FnOnce(&mut Vec<u64>, &Program)) {
        if count == 0 || !self.room(item, count) {
            self.moved = true;
            return;
        }
        let (memory, address) = (self.walk.memory, self.walk.position() as u64);
        if self.moved {
            self.image.segments.push(Segment { memory, start: address, cells: Vec::new() });
            self.moved = false;
        }
        let (cells, span, call) = (count as u32, item.span, item.call);
        self.lines.push(Line { memory, address, cells, kind: line_kind(item.kind), span, call });
        self.placed += count as u64;
        if let Some(segment) = self.image.segments.last_mut() {
            write(&mut segment.cells, self.walk.program);
        }
    }

    fn finish(mut self) -> Image {
        let program = &mut *self.walk.program;
        let ids = program.symbols.iter().map(|(id, _)| id).filter(|id| program.symbols.is_last(*id));
        let ids: Vec<SymbolId> = ids.collect();
        for id in ids {
            let entry = program.symbols.entry(id).clone();
            let kind = match entry.definition {
                Definition::None | Definition::Busy(_) | Definition::Broken => continue,
                Definition::Label(..) if entry.name.starts_with(':') => continue,
                Definition::Label(memory, _) => SymbolKind::Label(memory),
                Definition::Constant(_) | Definition::Number(_) => SymbolKind::Constant,
            };
            let value = match entry.definition {
                Definition::Constant(expr) => program.expressions.value(expr, None, &mut program.symbols).ok(),
                Definition::Number(number) => Some(Value::number(number)),
                _ => program.symbols.label(id),
            };
            if let Some(Value { number, .. }) = value {
                let (name, exported, span) = (entry.name.into(), entry.exported, entry.span);
                self.image.symbols.push(Symbol { name, value: number, kind, exported, span });
            }
        }
        self.image.lines = Lines::new(self.lines, program.calls.clone());
        self.image
    }
}

fn line_kind(kind: ItemKind) -> LineKind {
    match kind {
        ItemKind::Instruction { .. } => LineKind::Code,
        ItemKind::Space { .. } | ItemKind::Align { .. } => LineKind::Space,
        _ => LineKind::Data,
    }
}

/// Adds to a diagnostic the macro calls and includes around it.
pub(crate) fn in_calls(mut diagnostic: Diagnostic, call: u32, calls: &[Call]) -> Diagnostic {
    let mut at = call;
    while let Some(call) = (at as usize).checked_sub(1).and_then(|at| calls.get(at)) {
        let text = match call.kind {
            CallKind::Macro | CallKind::Repetition => format!("in this use of `{}`", call.name),
            CallKind::Include => "included here".to_owned(),
        };
        // A macro that uses itself is shown once.
        if !diagnostic.others.iter().any(|other| other.span == call.span && other.text == text) {
            diagnostic = diagnostic.also(call.span, text);
        }
        at = call.parent;
    }
    diagnostic
}

/// Returns the diagnostic for an expression without a value.
pub(crate) fn no_value(program: &Program, problem: NoValue) -> Diagnostic {
    let code = problem.code();
    let name = |id: SymbolId| program.symbols.entry(id).name.to_string();
    match problem {
        NoValue::Undefined(id, span) if name(id).starts_with(':') && name(id)[1..].contains(':') => {
            let message = "there is no such numbered label on that side of this line";
            let help = "`1:` at the beginning of a line is one; `1b` is the last `1:` before, `1f` the next after it";
            Diagnostic::new(code, span, message).help(help)
        }
        NoValue::Undefined(id, span) if name(id).starts_with(':') => {
            let message = "there is no such anonymous label";
            let help = "`:` alone at the beginning of a line is one; `:+` is the next, `:-` the last";
            Diagnostic::new(code, span, message).help(help)
        }
        NoValue::Undefined(id, span) => {
            let name = name(id);
            let diagnostic = Diagnostic::new(code, span, format!("`{name}` is not defined"));
            match program.symbols.nearest(&name) {
                Some(meant) => diagnostic.did_you_mean(span, meant),
                None => diagnostic.help(format!("define it, as `{name}:` before a line or `{name} = …`")),
            }
        }
        NoValue::Broken => Diagnostic::new(code, Span::default(), "this value cannot be read").help("correct it"),
        NoValue::Later(id, span) => {
            let what = if name(id).starts_with(':') { "this line".to_owned() } else { format!("`{}`", name(id)) };
            let message = format!("the address of {what} is not known yet here");
            let help = "addresses are known only when all lines have been read; use constants here";
            Diagnostic::new(code, span, message).help(help)
        }
        NoValue::Circular(id, span) => {
            let message = format!("`{}` is defined in terms of itself", name(id));
            Diagnostic::new(code, span, message).help("give one of the constants involved a number")
        }
        NoValue::TooDeep(span) => {
            let message = "this constant depends on too many others, one after the other";
            Diagnostic::new(code, span, message).help("define constants before they are used")
        }
        NoValue::Arithmetic(span) => {
            let message =
                "this has no value: it needs more than 128 bits, divides by zero, or shifts by a negative number";
            Diagnostic::new(code, span, message).help("check the numbers that go into it")
        }
        NoValue::OtherPage(span, number, page, width) => other_page(span, number, page, width).help(LEAVE_PAGE),
        NoValue::Unfit(span, number, fit) => {
            let message = format!("{number} does not fit in {} bits", fit.width.bits());
            let (lowest, highest) = (-i128::from(fit.width.sign_bit()), fit.width.mask());
            let help = match (fit.signed, fit.negative) {
                (true, _) => format!("{lowest} to {} fit", highest >> 1),
                (false, true) => format!("0 to {highest} fit, or {lowest} to {} as signed", highest >> 1),
                (false, false) => format!("0 to {highest} fit"),
            };
            Diagnostic::new(code, span, message).help(help)
        }
    }
}

/// Returns the diagnostic for a value that an operand cannot hold or reach.
fn unfit(program: &Program, expr: ExprId, field: &Field, value: Value, location: Location) -> Diagnostic {
    let span = program.expressions.span(expr);
    if let Domain::Values(values) = &field.domain {
        let message = format!("{} is not one of the values that this can be", value.number);
        return Diagnostic::new(codes::OUT_OF_RANGE, span, message).help(format!("write one of {}", listed(values)));
    }
    let Domain::Number(numeric) = &field.domain else {
        return Diagnostic::new(codes::OUT_OF_RANGE, span, "this is not a number").help("write a number");
    };
    let number = value.number;
    let (lowest, highest) = if numeric.signed {
        (-i128::from(field.width.sign_bit()), i128::from(field.width.mask() >> 1))
    } else if numeric.wraps && numeric.target.is_none() {
        (-i128::from(field.width.sign_bit()), i128::from(field.width.mask()))
    } else {
        (0, i128::from(field.width.mask()))
    };
    let step = 1i128 << numeric.unstored;
    if number % step != 0 && (value.memory.is_none() || numeric.target.is_some()) {
        let message = format!("{number} is not a multiple of {step}");
        return Diagnostic::new(codes::MISALIGNED, span, message).help(format!("use `.align {step}` before the label"));
    }
    match numeric.target {
        Some(Target::Relative { back, from, number_is_address }) if value.memory.is_some() || number_is_address => {
            let distance = number - i128::from(location.of(from));
            let (ways, reach) = if back { ("backward", -distance) } else { ("forward", distance) };
            let message = format!("this is {reach} cells {ways}, and the instruction reaches {lowest} to {highest}");
            Diagnostic::new(codes::OUT_OF_REACH, span, message)
                .help("move it closer, or use a jump that reaches further")
        }
        Some(Target::Within(Base::Address(page))) => {
            other_page(span, number, page & !field.width.mask(), field.width).help("give an address in that page")
        }
        Some(Target::Within(from)) if value.memory.is_some() => {
            other_page(span, number, location.of(from) & !field.width.mask(), field.width).help(LEAVE_PAGE)
        }
        _ => {
            let message = format!("{number} does not fit in {} bits", field.width.bits());
            let help = format!("{lowest} to {highest} fit; `lo(x)`, `hi(x)` and `x[7:4]` take parts of a value");
            Diagnostic::new(codes::OUT_OF_RANGE, span, message).help(help)
        }
    }
}

const LEAVE_PAGE: &str = "move it into this page, or use a jump that leaves it";

fn other_page(span: Span, number: i128, page: u64, width: Width) -> Diagnostic {
    let last = page | width.mask();
    let message = format!("0x{number:X} is in another page; from here 0x{page:X} to 0x{last:X} can be reached");
    Diagnostic::new(codes::OUT_OF_REACH, span, message)
}

/// Reports two segments at one address, with the lines that made them.
fn check_overlap(isa: &Isa, program: &Program, image: &Image, diagnostics: &mut Diagnostics) {
    let mut order: Vec<&Segment> = image.segments.iter().collect();
    order.sort_by_key(|segment| (segment.memory, segment.start));
    for pair in order.windows(2) {
        if diagnostics.is_full() {
            return;
        }
        let (one, other) = (pair[0], pair[1]);
        if one.memory != other.memory || !one.contains(other.start) {
            continue;
        }
        let at = other.start;
        let covers = |line: &&Line| line.memory == one.memory && line.address <= at && u128::from(at) < line.end();
        let mut lines = image.lines.iter().filter(covers);
        let (first, second) = (lines.next(), lines.next());
        let name = &isa.memory(one.memory).name;
        let message = format!("two lines fill address 0x{at:X} of `{name}`");
        let mut diagnostic =
            Diagnostic::new(codes::OVERLAP, second.or(first).map_or(Span::default(), |line| line.span), message);
        if let (Some(first), Some(_)) = (first, second) {
            diagnostic = diagnostic.also(first.span, "the first one");
        }
        let call = second.map_or(0, |line| line.call);
        let help = "change one of the `.org` directives";
        diagnostics.push(in_calls(diagnostic.help(help), call, &program.calls));
    }
}
