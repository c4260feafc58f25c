//! The datasheet as data: made once from the model and the text of a definition, and published as JSON.

use std::collections::BTreeSet;

use lathe_base::{Span, Width};
use lathe_isa::coverage::{Filling, coverage};
use lathe_isa::encoding::cells;
use lathe_isa::model::{
    BareLabels, Base, DeviceKind, Domain, Example, Field, Instruction, InstructionId, Mapping, Modes, Order, Place,
    Target, View,
};
use lathe_isa::semantics::ExprKind;
use lathe_isa::syntax::Head;
use lathe_isa::{Isa, Written};
use serde::Serialize;

use crate::bits::{self, Part, Word};
use crate::flags::{self, Flag};
use crate::source::{BARE_DIRECTIVES, BARE_LABELS, CASELESS_LABELS, OCTAL_NUMBERS, Text, WrittenRow};
use crate::touches;

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }
    )*};
}

data! {
    /// Everything that a definition says about its machine.
    Sheet {
        /// Always `lathe-model`.
        format: &'static str,
        /// Increases when the meaning of a property changes.
        version: u32,
        /// What commands call the machine.
        name: String,
        /// One line about it.
        title: String,
        /// Prose, in paragraphs.
        documentation: String,
        /// The memories, in order.
        memories: Vec<MemoryData>,
        /// The program counter.
        pc: PcData,
        /// The registers, constants and flags included.
        registers: Vec<RegisterData>,
        /// Names for parts of registers.
        views: Vec<ViewData>,
        /// The kinds of operands.
        fields: Vec<FieldData>,
        /// The operands with several ways to write them.
        modes: Vec<ModesData>,
        /// Prefixes, which change the instruction that follows.
        prefixes: Vec<PrefixData>,
        /// The devices.
        devices: Vec<DeviceData>,
        /// Addresses that reach something other than memory.
        maps: Vec<MapData>,
        /// What memories hold at reset, where it is not 0.
        contents: Vec<ContentsData>,
        /// Names for the numbers of traps.
        traps: Vec<TrapData>,
        /// `on reset`, `on illegal`, `on step`, `before each` and `after each`, as written, with their prose.
        hooks: Vec<String>,
        /// The functions that meanings use, as written, with their prose.
        functions: Vec<String>,
        /// Whether the definition counts cycles.
        has_cycles: bool,
        /// Whether people write and read numbers of this machine in octal.
        octal_numbers: bool,
        /// The opcode map.
        coverage: CoverageData,
        /// The rows of the tables of instructions, in order.
        rows: Vec<RowData>,
        /// The pseudo-instructions.
        pseudos: Vec<PseudoData>,
        /// What programs for this machine may have besides the assembly language: a row each, as written.
        habits: Vec<HabitData>,
        /// The examples, which have been executed.
        examples: Vec<ExampleData>,
        /// What is said about whole blocks.
        blocks: BlocksData,
    }

    /// A memory.
    MemoryData {
        /// Its name.
        name: String,
        /// Bits of an address.
        address_bits: u32,
        /// How many cells it has.
        cells: u128,
        /// Bits of a cell.
        cell_bits: u32,
        /// `little` or `big`: which cell of a wider value comes first.
        order: &'static str,
        /// Whether it holds the code.
        code: bool,
        /// Prose.
        documentation: String,
    }

    /// The program counter.
    PcData {
        /// Its name.
        name: String,
        /// Its width.
        bits: u32,
        /// The memory that holds the code.
        memory: String,
        /// Its value at reset.
        reset: u64,
        /// Prose.
        documentation: String,
    }

    /// A register.
    RegisterData {
        /// Its name.
        name: String,
        /// Its width.
        bits: u32,
        /// Its value at reset.
        reset: u64,
        /// Whether it keeps that value forever.
        constant: bool,
        /// Whether encodings may depend on it.
        mode: bool,
        /// Whether it is a single bit that can change.
        flag: bool,
        /// Other names that programs have for it.
        spellings: Vec<String>,
        /// Prose.
        documentation: String,
    }

    /// A name for parts of registers.
    ViewData {
        /// Its name.
        name: String,
        /// Its width.
        bits: u32,
        /// What it stands for: `hl[15:8]`, `b ++ c`.
        value: String,
        /// Whether writing it clears the other bits.
        clearing: bool,
        /// Whether it is a flag: one bit of a register that has more.
        flag: bool,
        /// Prose.
        documentation: String,
    }

    /// A kind of operand.
    FieldData {
        /// Its name.
        name: String,
        /// Bits of its value.
        bits: u32,
        /// Bits of it in an encoding.
        stored_bits: u32,
        /// What it is, in words.
        description: String,
        /// The names that can be written for it, and their codes.
        values: Vec<CodeData>,
        /// Prose.
        documentation: String,
    }

    /// An operand with several ways to write it.
    ModesData {
        /// Its name.
        name: String,
        /// Its width, in bits.
        bits: u32,
        /// The ways.
        modes: Vec<ModeData>,
        /// Prose.
        documentation: String,
    }

    /// One way to write an operand.
    ModeData {
        /// How it is written.
        syntax: String,
        /// Its bits, and those of the cells it adds, as written.
        picture: String,
        /// What comes after its bits: `where …`, as written.
        condition: String,
        /// What it is, as written.
        meaning: String,
        /// Prose.
        documentation: String,
    }

    /// Bits before an instruction that change it.
    PrefixData {
        /// Its name.
        name: String,
        /// Its bits, as written.
        picture: String,
        /// What stands for what in the instruction that follows, as written: `hl = ix`.
        changes: Vec<String>,
        /// Prose.
        documentation: String,
    }

    /// A name or number that an operand can be.
    CodeData {
        /// The name.
        name: String,
        /// Other names for the same.
        spellings: Vec<String>,
        /// Its code.
        value: u64,
    }

    /// A name for the number of a trap.
    TrapData {
        /// The name.
        name: String,
        /// The number.
        value: u64,
        /// Prose.
        documentation: String,
    }

    /// A device.
    DeviceData {
        /// Its name.
        name: String,
        /// What it is, as a definition says it.
        kind: String,
        /// What meanings can ask of it.
        operations: Vec<OperationData>,
        /// Prose.
        documentation: String,
    }

    /// Something that a device can be asked to do.
    OperationData {
        /// Its name.
        name: String,
        /// The widths of its arguments.
        arguments: Vec<u32>,
        /// The width of its result, if any.
        result: Option<u32>,
    }

    /// Addresses that reach something other than memory.
    MapData {
        /// The memory that they belong to.
        memory: String,
        /// The first address.
        first: u64,
        /// The last address.
        last: u64,
        /// Whether instructions are fetched from what a read gives.
        code: bool,
        /// The value of a read, as written; 0 if empty.
        read: String,
        /// The effect of a write, as written; nothing if empty.
        write: String,
        /// Prose.
        documentation: String,
    }

    /// What a memory holds at reset.
    ContentsData {
        /// The memory.
        memory: String,
        /// The address of the first cell.
        address: u64,
        /// The cells.
        cells: Vec<u64>,
        /// Prose.
        documentation: String,
    }

    /// The opcode map: a slot for each value of the leading bits of the first cell.
    CoverageData {
        /// How many leading bits.
        bits: u32,
        /// The share of all encodings that is defined, from 0 to 1; none if it is too hard to compute.
        share: Option<f64>,
        /// The slots, in order.
        slots: Vec<SlotData>,
    }

    /// All encodings that begin with the same bits.
    SlotData {
        /// The mnemonics of the instructions that begin with these bits, each once.
        mnemonics: Vec<String>,
        /// Their rows, each once.
        rows: Vec<usize>,
        /// `full`, `partial` or `empty`.
        filling: &'static str,
    }

    /// A row of a table of instructions.
    RowData {
        /// A name for links, unique to the row.
        id: String,
        /// Which group of rows it belongs to; empty lines in the definition begin a new one.
        group: usize,
        /// The heading above it, with prose on further lines; empty if there is none.
        heading: String,
        /// Its syntax column, as written.
        syntax: String,
        /// Its encoding column, as written.
        picture: String,
        /// What comes after its encoding: `where …`, as written.
        condition: String,
        /// Its meaning, as written.
        meaning: String,
        /// Prose.
        documentation: String,
        /// The fields of its operands, in the order of the syntax.
        operands: Vec<String>,
        /// Bits of a word of its picture.
        word_bits: u32,
        /// The bits that its instructions share, and `*` for those that tell them apart.
        bits: String,
        /// The bits as parts: bits that belong together are one part.
        parts: Vec<Part>,
        /// The instructions that it stands for: more than one if it names a family.
        instructions: Vec<InstructionData>,
    }

    /// One instruction.
    InstructionData {
        /// Its mnemonic.
        mnemonic: String,
        /// Other spellings of it.
        spellings: Vec<String>,
        /// How it is written.
        syntax: String,
        /// What the members of its families do, as written.
        members: Vec<String>,
        /// How many cells it takes.
        cells: u32,
        /// Its length with the longest modes of its operands.
        longest: u32,
        /// One character for each bit, most significant bit of the first word first: `0`, `1`, `-` for an ignored bit,
        /// or the first letter of an operand.
        bits: String,
        /// The bits as parts: bits that belong together are one part.
        parts: Vec<Part>,
        /// The fewest and the most cycles; none if the definition does not count them.
        cycles: Option<(u64, u64)>,
        /// The flags that it writes.
        flags: Vec<Flag>,
        /// What else it does, in words.
        effects: Vec<String>,
    }

    /// A pseudo-instruction.
    PseudoData {
        /// How it is written.
        syntax: String,
        /// The instructions it stands for.
        expansion: Vec<String>,
        /// Prose.
        documentation: String,
    }

    /// Something that programs may have besides the assembly language.
    HabitData {
        /// What may be written.
        written: String,
        /// What it means.
        meaning: String,
        /// Prose.
        documentation: String,
    }

    /// An example.
    ExampleData {
        /// The instruction.
        source: String,
        /// The number of its row.
        row: usize,
        /// Its cells.
        cells: Vec<u64>,
        /// The state before, as written.
        before: String,
        /// What must hold after, as written.
        after: String,
        /// Whether this came true when it was executed.
        passed: bool,
        /// Prose.
        documentation: String,
    }

    /// Prose about whole blocks, in paragraphs.
    BlocksData {
        /// About the maps.
        maps: String,
        /// About the pseudo-instructions.
        pseudos: String,
        /// About what programs may have besides the assembly language.
        assembly: String,
        /// About the examples.
        examples: String,
    }
}

impl ModeData {
    /// Returns its bits and its condition, as written.
    pub(crate) fn encoding(&self) -> String {
        format!("{} {}", self.picture, self.condition).trim_end().to_owned()
    }
}

impl RowData {
    /// Returns its encoding and its condition, as written.
    pub(crate) fn encoding(&self) -> String {
        format!("{} {}", self.picture, self.condition).trim_end().to_owned()
    }
}

impl Sheet {
    /// Makes the datasheet of a machine from its model and from the text of its definition.
    pub fn new(isa: &Isa, written: &Written) -> Sheet {
        let text = Text::new(written);
        let written = text.rows();
        Sheet {
            format: "lathe-model",
            version: 1,
            name: isa.name.clone(),
            title: isa.title.clone(),
            documentation: text.widths().into_iter().fold(isa.documentation.clone(), |prose, (letter, about)| {
                let bits = isa.names.get(letter).map_or(0, |entry| match entry.named {
                    lathe_isa::names::Named::Width(width) => width.bits(),
                    _ => 0,
                });
                let said = [format!("`{letter}` is a width of {bits} bits"), about.to_owned()];
                let said = said.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ");
                [prose, said].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
            }),
            memories: memories(isa),
            pc: PcData {
                name: isa.pc.name.clone(),
                bits: isa.pc.width.bits(),
                memory: isa.code_memory().name.clone(),
                reset: isa.pc.reset,
                documentation: isa.pc.documentation.clone(),
            },
            registers: registers(isa),
            views: views(isa),
            fields: fields(isa),
            modes: modes(isa, &text),
            prefixes: text.prefixes(),
            devices: devices(isa),
            maps: maps(isa, &text),
            contents: contents(isa),
            traps: traps(isa, &text),
            hooks: text.hooks(),
            functions: text.functions(),
            has_cycles: isa.has_cycles,
            octal_numbers: isa.assembly.octal_numbers,
            coverage: coverage_data(isa),
            rows: rows(isa, &text, &written),
            pseudos: text.pseudos(),
            habits: habits(isa, &text),
            examples: examples(isa, &text),
            blocks: text.blocks(),
        }
    }

    /// Yields the names of the flags: bits of registers, then registers of one bit.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        let views = self.views.iter().filter(|view| view.flag).map(|view| view.name.as_str());
        let registers = self.registers.iter().filter(|register| register.flag);
        views.chain(registers.map(|register| register.name.as_str()))
    }

    /// Writes a number as this machine's users do, with as many digits as its width needs.
    pub fn number(&self, value: u64, bits: u32) -> String {
        // Octal numbers have no prefix, as in programs.
        format!("{}{}", if self.octal_numbers { "" } else { "0x" }, self.digits(value, bits))
    }

    /// Returns the digits of a number.
    pub(crate) fn digits(&self, value: u64, bits: u32) -> String {
        let width = |of_digit: u32| bits.div_ceil(of_digit) as usize;
        if self.octal_numbers { format!("{value:0w$o}", w = width(3)) } else { format!("{value:0w$X}", w = width(4)) }
    }

    /// Returns the bits of an address of a memory.
    pub(crate) fn address_bits(&self, memory: &str) -> u32 {
        self.memories.iter().find(|known| known.name == memory).map_or(16, |known| known.address_bits)
    }

    /// Yields the groups of rows, in order.
    pub fn groups(&self) -> impl Iterator<Item = &[RowData]> {
        self.rows.chunk_by(|one, next| one.group == next.group)
    }

    /// Counts the instructions, each member of a family separately.
    pub fn instruction_count(&self) -> usize {
        self.rows.iter().map(|row| row.instructions.len()).sum()
    }
}

fn memories(isa: &Isa) -> Vec<MemoryData> {
    let memories = isa.memories.iter().zip(0..);
    memories
        .map(|(memory, id)| MemoryData {
            name: memory.name.clone(),
            address_bits: memory.address.bits(),
            cells: memory.cells(),
            cell_bits: memory.cell.bits(),
            order: if memory.order == Order::Little { "little" } else { "big" },
            code: isa.pc.memory.0 == id,
            documentation: memory.documentation.clone(),
        })
        .collect()
}

fn registers(isa: &Isa) -> Vec<RegisterData> {
    let registers = isa.registers.iter();
    registers
        .map(|register| RegisterData {
            name: register.name.clone(),
            bits: register.width.bits(),
            reset: register.reset,
            constant: register.constant,
            mode: register.mode.is_some(),
            flag: register.is_flag(),
            spellings: spellings_of(isa, &register.name),
            documentation: register.documentation.clone(),
        })
        .collect()
}

/// Returns the other names that operands have for a register.
fn spellings_of(isa: &Isa, register: &str) -> Vec<String> {
    let codes = isa.fields.iter().filter(|field| matches!(field.domain, Domain::Registers(_)));
    let mut known = codes.filter_map(|field| Some((field, field.bits_named(register)?)));
    known.next().map_or(Vec::new(), |(field, code)| other_names(field, code, register))
}

/// Returns the names that a field has for a code, except this one.
fn other_names(field: &Field, code: u64, name: &str) -> Vec<String> {
    let other = |(known, bits): &&(String, u64)| *bits == code && known != name;
    field.spellings.iter().filter(other).map(|(known, _)| known.clone()).collect()
}

fn views(isa: &Isa) -> Vec<ViewData> {
    let views = isa.views.iter();
    views
        .map(|view| ViewData {
            name: view.name.clone(),
            bits: view.place.width.bits(),
            value: place(isa, &view.place),
            clearing: view.place.clearing,
            flag: flags::is_flag(isa, &view.place),
            documentation: view.documentation.clone(),
        })
        .collect()
}

fn place(isa: &Isa, place: &Place) -> String {
    let parts = place.parts.iter().map(|part| {
        let register = isa.register(part.register);
        let (high, low) = (part.low + part.width.bits() - 1, part.low);
        match () {
            () if part.width == register.width => register.name.clone(),
            () if high == low => format!("{}[{low}]", register.name),
            () => format!("{}[{high}:{low}]", register.name),
        }
    });
    parts.collect::<Vec<_>>().join(" ++ ")
}

/// Returns the kinds of operands. A field that prefixes change is listed once: the prefixes list what they change.
fn fields(isa: &Isa) -> Vec<FieldData> {
    let mut names = BTreeSet::new();
    let is_declared = |field: &&Field| isa.names.get(&field.name).is_some();
    let plain = isa.fields.iter().filter(is_declared).filter(|field| names.insert(&field.name));
    plain.map(|field| field_data(isa, field)).collect()
}

fn field_data(isa: &Isa, field: &Field) -> FieldData {
    let value = |(name, value): (&String, u64)| {
        let spellings = if field.is_number() { Vec::new() } else { other_names(field, value, name) };
        CodeData { name: name.clone(), spellings, value }
    };
    let values = match &field.domain {
        Domain::Registers(list) => {
            // A named code without a register is the program counter.
            let spelling = |code: u64| field.spellings.iter().find(|(_, other)| *other == code).map(|(name, _)| name);
            let named = list.iter().zip(0..).filter_map(|(entry, code)| {
                Some((entry.as_ref().map(|(name, _)| name).or_else(|| spelling(code))?, code))
            });
            named.map(value).collect()
        }
        Domain::Names(_) if field.has_words() => {
            field.words.iter().map(|word| value((&word.name, word.bits))).collect()
        }
        Domain::Names(list) => list.iter().map(|(name, code)| value((name, *code))).collect(),
        Domain::Values(values) => values.numbers().map(|(code, number)| value((&number.to_string(), code))).collect(),
        Domain::Number(_) => field.spellings.iter().map(|(name, code)| value((name, *code))).collect(),
    };
    FieldData {
        name: field.name.clone(),
        bits: field.width.bits(),
        stored_bits: field.stored_bits(),
        description: describe(isa, field),
        values,
        documentation: field.documentation.clone(),
    }
}

fn describe(isa: &Isa, field: &Field) -> String {
    let numeric = match &field.domain {
        Domain::Registers(_) => return "a register".to_owned(),
        Domain::Names(_) if field.has_words() => return "words in any order".to_owned(),
        Domain::Names(_) => return "one of the names".to_owned(),
        Domain::Values(values) => {
            let sign = if values.signed { "signed" } else { "unsigned" };
            return format!("one of the {sign} {}-bit numbers", values.width.bits());
        }
        Domain::Number(numeric) => numeric,
    };
    let bits = field.width.bits();
    let sign = if numeric.signed { "signed" } else { "unsigned" };
    let base = |base: Base| match base {
        Base::Pc => "this instruction".to_owned(),
        Base::Next => "the next instruction".to_owned(),
        Base::Ahead(_) => "the end of the operand".to_owned(),
        Base::Address(address) => format!("{address:#06X}"),
    };
    let what = match numeric.target {
        None => format!("{sign} {bits}-bit number"),
        Some(Target::Absolute(memory)) => format!("{bits}-bit address in `{}`", isa.memory(memory).name),
        Some(Target::Relative { back, from, .. }) => {
            let direction = if back { "backward " } else { "" };
            format!("{sign} {bits}-bit distance {direction}from {}", base(from))
        }
        Some(Target::Within(page)) => format!("low {bits} bits of an address in the page of {}", base(page)),
    };
    let aligned =
        if numeric.unstored > 0 { format!(", a multiple of {}", 1u64 << numeric.unstored) } else { String::new() };
    let order =
        if field.order == Order::Little && bits > isa.code_memory().cell.bits() { ", low cell first" } else { "" };
    format!("{what}{aligned}{order}")
}

fn modes(isa: &Isa, text: &Text) -> Vec<ModesData> {
    let data = |operand: &Modes| ModesData {
        name: operand.name.clone(),
        bits: operand.width.bits(),
        modes: operand
            .modes
            .iter()
            .map(|mode| ModeData {
                syntax: mode.syntax.clone(),
                picture: mode.picture.clone(),
                condition: text.condition_of_mode(mode.span, &mode.picture),
                meaning: text.last_column(mode.span),
                documentation: mode.documentation.clone(),
            })
            .collect(),
        documentation: operand.documentation.clone(),
    };
    isa.operands.iter().map(data).collect()
}

fn devices(isa: &Isa) -> Vec<DeviceData> {
    let operations = |kind: DeviceKind| {
        let width = |widths: &[Width]| widths.iter().map(|width| width.bits()).collect();
        let all = kind.operations().into_iter();
        all.map(|operation| OperationData {
            name: operation.operation.name().to_owned(),
            arguments: width(&operation.arguments),
            result: operation.result.map(Width::bits),
        })
        .collect()
    };
    let kind = |kind: DeviceKind| match kind {
        DeviceKind::Stream => "stream".to_owned(),
        DeviceKind::Bus { address, value } => format!("bus u{} -> u{}", address.bits(), value.bits()),
        DeviceKind::Display { width, height } => format!("display {width} by {height}"),
        DeviceKind::Keypad { keys } => format!("keypad {keys}"),
        DeviceKind::Timer { width, every } => format!("timer u{} every {every}", width.bits()),
        DeviceKind::Random { width } => format!("random u{}", width.bits()),
        DeviceKind::Counter => "counter".to_owned(),
    };
    let devices = isa.devices.iter();
    devices
        .map(|device| DeviceData {
            name: device.name.clone(),
            kind: kind(device.kind),
            operations: operations(device.kind),
            documentation: device.documentation.clone(),
        })
        .collect()
}

fn maps(isa: &Isa, text: &Text) -> Vec<MapData> {
    let written = text.maps();
    let data = |mapping: &Mapping| {
        let row = written.iter().find(|row| row.span == mapping.span);
        let documentation = row.map_or(String::new(), |row| row.documentation.clone());
        let (read, write) = match row {
            Some(row) => (row.read.clone(), row.write.clone()),
            None => kept_there(isa, mapping),
        };
        let memory = isa.memory(mapping.memory).name.clone();
        let code = mapping.code.is_some();
        MapData { memory, first: mapping.first, last: mapping.last, code, read, write, documentation }
    };
    isa.maps.iter().map(data).collect()
}

/// Returns the read and the write of a cell that is a register or view by its declaration, as a row of `map` would have
/// them.
fn kept_there(isa: &Isa, mapping: &Mapping) -> (String, String) {
    let Some(value) = &mapping.read.value else { return (String::new(), String::new()) };
    let name = match &value.kind {
        ExprKind::Register(register) => isa.register(*register).name.clone(),
        ExprKind::Slice(whole, low) => match whole.kind {
            ExprKind::Register(register) => {
                format!("{}[{}:{low}]", isa.register(register).name, low + value.width.bits() - 1)
            }
            _ => String::new(),
        },
        _ => {
            let mut registers = Vec::new();
            value.visit(&mut |part| {
                registers.extend(match part.kind {
                    ExprKind::Register(register) => Some(register),
                    _ => None,
                })
            });
            let is_it = |view: &&View| view.place.parts.iter().map(|part| part.register).eq(registers.iter().copied());
            isa.views.iter().find(is_it).map_or(String::new(), |view| view.name.clone())
        }
    };
    let write = if mapping.write.block.is_empty() { String::new() } else { format!("{name} = value") };
    (name, write)
}

fn contents(isa: &Isa) -> Vec<ContentsData> {
    let contents = isa.contents.iter();
    contents
        .map(|contents| ContentsData {
            memory: isa.memory(contents.memory).name.clone(),
            address: contents.address,
            cells: contents.values.clone(),
            documentation: contents.documentation.clone(),
        })
        .collect()
}

fn traps(isa: &Isa, text: &Text) -> Vec<TrapData> {
    let data = |(name, value): &(String, u64)| TrapData {
        name: name.clone(),
        value: *value,
        documentation: text.about_trap(name),
    };
    isa.traps.iter().map(data).collect()
}

fn coverage_data(isa: &Isa) -> CoverageData {
    let coverage = coverage(isa);
    let slots = coverage.slots.iter().map(|slot| {
        let mut mnemonics: Vec<String> = Vec::new();
        let mut rows: Vec<usize> = Vec::new();
        for id in &slot.instructions {
            let instruction = isa.instruction(*id);
            let name = instruction.syntax.mnemonic();
            if !mnemonics.iter().any(|known| known == name) {
                mnemonics.push(name.to_owned());
            }
            if !rows.contains(&(instruction.row as usize)) {
                rows.push(instruction.row as usize);
            }
        }
        let filling = match slot.filling() {
            Filling::Full => "full",
            Filling::Partial => "partial",
            Filling::Empty => "empty",
        };
        SlotData { mnemonics, rows, filling }
    });
    CoverageData { bits: coverage.bits, share: coverage.share, slots: slots.collect() }
}

fn rows(isa: &Isa, text: &Text, written: &[WrittenRow]) -> Vec<RowData> {
    let mut rows: Vec<RowData> = Vec::new();
    let mut group = 0;
    for (number, row) in written.iter().enumerate() {
        let all: Vec<&Instruction> =
            isa.instructions.iter().filter(|instruction| instruction.row as usize == number).collect();
        let Some(first) = all.first() else { continue };
        let heading = row.heading.clone();
        group += usize::from((row.begins_group || !heading.is_empty()) && !rows.is_empty());
        let word = row.word.unwrap_or(Word { bits: isa.code_memory().cell.bits(), little: false });
        let shown = shown(&all);
        let mut instructions: Vec<InstructionData> =
            shown.iter().map(|instruction| instruction_data(isa, instruction, &all, word)).collect();
        name_members(text, row, &mut instructions);
        let (names, widths) = operands(isa, first);
        // The picture shows the instructions without a prefix: with one, they are longer.
        let shortest = shown.iter().map(|one| one.look().1.cells).min();
        let plain = shown.iter().map(|one| one.look().1).filter(|encoding| Some(encoding.cells) == shortest);
        let shared = bits::common(&plain.map(|encoding| bits::bits(isa, encoding, word)).collect::<Vec<_>>());
        rows.push(RowData {
            id: format!("row-{number}"),
            group,
            heading,
            syntax: row.syntax.clone(),
            picture: row.picture.clone(),
            condition: row.condition.clone(),
            meaning: row.meaning.clone(),
            documentation: documentation(first, row),
            operands: names.clone(),
            word_bits: word.bits,
            bits: bits::text(&shared, &names),
            parts: bits::parts(&shared, &names, &widths, word.bits),
            instructions,
        });
    }
    rows
}

/// Returns the prose of a row, of the families in it and of their members.
fn documentation(instruction: &Instruction, row: &WrittenRow) -> String {
    let mut all = vec![instruction.documentation.clone()];
    let mut add = |name: &str, prose: &str| {
        if !prose.is_empty() {
            all.push(format!("`{name}`: {prose}"));
        }
    };
    for family in &row.families {
        add(&format!("{{{}}}", family.name.text), &family.documentation);
        family.members.iter().for_each(|member| add(&member.name.text, &member.documentation));
    }
    all.retain(|prose| !prose.is_empty());
    all.join("\n")
}

/// Adds what the members of families do. The instructions of a row are in the order of its families' members, once for
/// each of its prefixes.
fn name_members(text: &Text, row: &WrittenRow, instructions: &mut [InstructionData]) {
    let product: usize = row.families.iter().map(|family| family.members.len()).product();
    if row.families.is_empty() || product == 0 || !instructions.len().is_multiple_of(product) {
        return;
    }
    for (at, instruction) in instructions.iter_mut().enumerate() {
        let mut rest = at;
        for family in row.families.iter().rev() {
            let member = &family.members[rest % family.members.len()];
            rest /= family.members.len();
            if let Some(meaning) = text.member(family, &member.name.text) {
                instruction.members.insert(0, format!("{} = {meaning}", member.name.text));
            }
        }
    }
}

/// Returns the instructions of a row that readers see: one of those that differ only in the modes of operands.
fn shown<'i>(all: &[&'i Instruction]) -> Vec<&'i Instruction> {
    let mut shown: Vec<&Instruction> = Vec::new();
    for instruction in all {
        if !shown.iter().any(|known| known.is_seen_as(instruction)) {
            shown.push(instruction);
        }
    }
    shown
}

/// Returns the names of an instruction's operands, and how many bits of each are stored.
fn operands(isa: &Isa, instruction: &Instruction) -> (Vec<String>, Vec<u32>) {
    if let Some(form) = &instruction.form {
        return form.operands.iter().cloned().unzip();
    }
    let fields = instruction.operands.iter().map(|id| isa.field(*id));
    fields.map(|field| (field.name.clone(), field.stored_bits())).unzip()
}

fn instruction_data(isa: &Isa, instruction: &Instruction, row: &[&Instruction], word: Word) -> InstructionData {
    let (names, widths) = operands(isa, instruction);
    let (syntax, encoding) = instruction.look();
    let bits = bits::bits(isa, encoding, word);
    let same: Vec<&Instruction> = row.iter().copied().filter(|other| other.is_seen_as(instruction)).collect();
    let spelling = |head: &Head| match head {
        Head::Word(word) => word.clone(),
        Head::Glued { prefix, suffix, .. } => format!("{prefix}…{suffix}"),
        Head::Named(field) => field.clone(),
    };
    let heads: Vec<String> = syntax.heads.iter().map(spelling).collect();
    InstructionData {
        mnemonic: heads[0].clone(),
        spellings: heads[1..].to_vec(),
        syntax: syntax.render(|operand| names[operand].clone()),
        members: Vec::new(),
        cells: encoding.cells,
        longest: same.iter().map(|one| one.encoding.cells).max().unwrap_or(encoding.cells),
        bits: bits::text(&bits, &names),
        parts: bits::parts(&bits, &names, &widths, word.bits),
        cycles: isa.has_cycles.then(|| touches::cycles(&same)),
        flags: flags::flags(isa, &same),
        effects: touches::effects(isa, &same),
    }
}

fn habits(isa: &Isa, text: &Text) -> Vec<HabitData> {
    let assembly = &isa.assembly;
    let about = text.habits();
    let mut habits = Vec::new();
    let mut add = |key: &str, written: String, meaning: String| {
        let documentation = about.iter().find(|(word, _)| *word == key).map_or("", |(_, prose)| prose).to_owned();
        habits.push(HabitData { written, meaning, documentation });
    };
    for (name, _) in assembly.functions.iter().chain(&assembly.unary) {
        let (written, value) = text.formula(name).unwrap_or((name, String::new()));
        add(name, written.to_owned(), format!("`{value}`"));
    }
    for (written, operator) in &assembly.operators {
        add(written, format!("x {written} y"), format!("`x {operator} y`"));
    }
    for (name, stands_for) in &assembly.directives {
        let meaning = stands_for.as_ref().map_or("says nothing here".to_owned(), |directive| format!("`{directive}`"));
        add(name, name.clone(), meaning);
    }
    for (prefix, base) in &assembly.prefixes {
        add(prefix, format!("{prefix}…"), format!("a number in base {base}"));
    }
    for comment in &assembly.comments {
        add(comment, comment.clone(), "begins a comment".to_owned());
    }
    for separator in &assembly.separators {
        add(separator, separator.clone(), "ends a line".to_owned());
    }
    for section in &assembly.sections {
        let (memory, address) = (&isa.memory(section.memory).name, section.address);
        add(&section.name, section.name.clone(), format!("a section, from `{memory}[0x{address:X}]` on"));
    }
    for mark in &assembly.locals {
        add(&mark.to_string(), format!("{mark}label:"), "a local label".to_owned());
    }
    for mark in &assembly.heres {
        add(&mark.to_string(), mark.to_string(), "the current address".to_owned());
    }
    match assembly.bare_labels {
        BareLabels::Never => {}
        BareLabels::InFirstColumn => {
            add(BARE_LABELS, "LABEL".to_owned(), "a label in column 1 needs no `:`".to_owned())
        }
        BareLabels::Anywhere => add(BARE_LABELS, "LABEL".to_owned(), "a label needs no `:`".to_owned()),
    }
    if assembly.bare_directives {
        add(BARE_DIRECTIVES, "byte".to_owned(), "a directive needs no `.`".to_owned());
    }
    if assembly.caseless_labels {
        add(CASELESS_LABELS, "LABEL".to_owned(), "is the same as `label` and `Label`".to_owned());
    }
    if assembly.octal_numbers {
        add(OCTAL_NUMBERS, "10".to_owned(), "is eight: numbers are octal".to_owned());
    }
    habits
}

fn examples(isa: &Isa, text: &Text) -> Vec<ExampleData> {
    let failures: Vec<Span> = lathe_vm::examples::check(isa).iter().map(|failure| failure.primary.span).collect();
    let data = |example: &Example| {
        let encoding = &isa.instruction(example.instruction).encoding;
        let window = encoding.encode(&example.operands);
        let facts = example.before.iter().chain(&example.after);
        let written = text.facts(example.span, &example.source);
        let (before, after) = written.split_once("->").unwrap_or(("", &written));
        ExampleData {
            source: example.source.clone(),
            row: row_of(isa, example.instruction),
            cells: cells(window, isa.code_memory().cell).take(encoding.cells as usize).collect(),
            before: before.trim().to_owned(),
            after: after.trim().to_owned(),
            passed: !facts.map(|fact| fact.span).any(|span| failures.contains(&span)),
            documentation: text.about_example(example.span),
        }
    };
    isa.examples.iter().map(data).collect()
}

fn row_of(isa: &Isa, id: InstructionId) -> usize {
    isa.instruction(id).row as usize
}
