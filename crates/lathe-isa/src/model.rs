//! The model of an instruction set: what the language produces and every tool consumes.
//!
//! Ids are positions in the lists of [`Isa`]. Nothing here knows the text it came from, apart from places kept for
//! diagnostics that are found later.

use std::sync::Arc;

use lathe_base::{Span, Width, limits};

use crate::language::ast;
pub use crate::language::ast::Order;

use crate::decode::Decoder;
use crate::encoding::Encoding;
use crate::names::Resolved;
use crate::pseudo::{Arithmetic, Pseudo};
use crate::semantics::{Body, Expr, ExprKind};
use crate::syntax::{Head, Syntax};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the id as a position in its list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// A memory.
    MemoryId;
    /// A register.
    RegisterId;
    /// A field.
    FieldId;
    /// A device.
    DeviceId;
    /// An instruction.
    InstructionId;
}

/// A whole instruction set.
#[derive(Clone, Debug)]
pub struct Isa {
    /// The name that commands use.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// Prose.
    pub documentation: String,
    /// The memories; image loading and dumps follow this order.
    pub memories: Vec<Memory>,
    /// The program counter.
    pub pc: Pc,
    /// The registers, constant ones included, without the program counter.
    pub registers: Vec<Register>,
    /// Names for parts of registers.
    pub views: Vec<View>,
    /// The kinds of operands.
    pub fields: Vec<Field>,
    /// The devices.
    pub devices: Vec<Device>,
    /// The functions; meanings have them inlined already.
    pub functions: Vec<Function>,
    /// The families.
    pub families: Vec<Family>,
    /// The operands with modes.
    pub operands: Vec<Modes>,
    /// The headings of the rows, in order.
    pub groups: Vec<Group>,
    /// Addresses that reach something other than memory, in order and without overlap.
    pub maps: Vec<Mapping>,
    /// Whether instructions are fetched through any of these maps.
    pub has_mapped_code: bool,
    /// The registers that decide what is fetched: from where, and how it is decoded.
    pub banked_by: Vec<RegisterId>,
    /// The registers that encodings may depend on, and where in a window their values are.
    pub modes: Vec<(RegisterId, u32)>,
    /// Names for numbers of traps.
    pub traps: Vec<(String, u64)>,
    /// What is done before the first instruction; see [`Isa::at_reset`].
    pub on_reset: Option<Body>,
    /// What an undefined encoding does; a fault, if not given.
    pub on_illegal: Option<Body>,
    /// What is done before an instruction, if a condition holds.
    pub on_step: Option<Hook>,
    /// What memories hold at reset, where it is not 0.
    pub contents: Vec<Contents>,
    /// The instructions, families expanded.
    pub instructions: Vec<Instruction>,
    /// Whether the definition counts cycles.
    pub has_cycles: bool,
    /// Pseudo-instructions: for people only.
    pub pseudos: Vec<Pseudo>,
    /// How people write programs for the machine.
    pub assembly: Assembly,
    /// Examples that must come out as written.
    pub examples: Vec<Example>,
    /// Finds the instruction of an encoding.
    pub decoder: Decoder,
    /// Everything that has a name.
    pub names: Resolved,
}

/// A memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// The width of an address; the memory has two to this power cells.
    pub address: Width,
    /// The width of a cell.
    pub cell: Width,
    /// How values wider than a cell are laid out.
    pub order: Order,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// The program counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pc {
    /// Its name.
    pub name: String,
    /// Its width, which is that of the code memory's addresses.
    pub width: Width,
    /// The memory that holds the code.
    pub memory: MemoryId,
    /// Its value at reset.
    pub reset: u64,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// What a machine does between two instructions: interrupts, and changes that take effect late.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The condition: one bit computed from registers alone, so that it can change only when one of them does.
    pub when: Body,
    /// What is done if that bit is 1. If it jumps, that is the whole step; otherwise the instruction follows.
    pub body: Body,
}

impl Hook {
    /// Whether an engine had better treat the hook as the beginning of every instruction: it always has something to
    /// do, or never replaces an instruction. Other hooks are rarely due, and only after a change of a register that
    /// their condition reads.
    pub fn is_part_of_instructions(&self) -> bool {
        let always = self.when.block.is_empty() && self.when.value.as_ref().and_then(Expr::as_constant) == Some(1);
        always || !self.body.effects().jumps
    }
}

/// What a memory holds at reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The memory.
    pub memory: MemoryId,
    /// The address of the first cell.
    pub address: u64,
    /// The cells.
    pub values: Vec<u64>,
    /// Prose.
    pub documentation: String,
}

/// A register or flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name.
    pub name: String,
    /// Its width.
    pub width: Width,
    /// Its value at reset.
    pub reset: u64,
    /// Whether it always keeps its reset value.
    pub constant: bool,
    /// Where its value is in the window of an encoding, from the lowest bit up, if encodings may depend on it.
    pub mode: Option<u32>,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// Some bits of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The register.
    pub register: RegisterId,
    /// The lowest bit.
    pub low: u32,
    /// How many bits.
    pub width: Width,
}

/// Something that can be read and written like a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its bits, most significant part first.
    pub parts: Vec<Part>,
    /// Its width: the sum of the parts'.
    pub width: Width,
    /// Whether writing it clears the other bits of its registers.
    pub clearing: bool,
}

/// A name for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub place: Place,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// A kind of operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bits of its number, of which some of the lowest may not be stored; see [`Numeric::unstored`].
    pub width: Width,
    /// How `{F}` lays it out in an encoding.
    pub order: Order,
    /// What its bits mean.
    pub domain: Domain,
    /// Other names for its codes, which are accepted but never shown.
    pub spellings: Vec<(String, u64)>,
    /// The words that its names are made of, if an operand is several words in any order; its names are then all that
    /// the words can express, as Lathe writes it.
    pub words: Vec<Word>,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// A word that stands for bits of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// How it is written.
    pub name: String,
    /// Its bits.
    pub bits: u64,
    /// The bits that show whether it is present: its own, and those that only words excluded by it have.
    pub mask: u64,
    /// Its entry in the list. Words of one entry exclude each other if they are in different alternatives.
    pub group: usize,
    /// Its alternative in that entry.
    pub alternative: usize,
}

/// What the bits of a field mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One of these places; `None` where no register has the code.
    Registers(Vec<Option<(String, Place)>>),
    /// One of these names.
    Names(Vec<(String, u64)>),
    /// A number, or an address made from one.
    Number(Numeric),
    /// One of these numbers, by its position in the list.
    Values(Values),
}

/// The numbers that an operand can be. Only the assembler and people see the numbers: encodings, and what engines
/// execute, contain their positions in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// In the order of their codes; `None` for a code without a number.
    pub list: Vec<Option<u64>>,
    /// The width of the numbers.
    pub width: Width,
    /// Two's complement.
    pub signed: bool,
    /// Whether -1 and the highest number are the same; see [`Numeric::wraps`].
    pub wraps: bool,
}

/// A number in an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numeric {
    /// Two's complement.
    pub signed: bool,
    /// Whether it accepts negative numbers although it is not signed: it is as wide as a register or a memory cell, so
    /// that nothing is put above its bits.
    pub wraps: bool,
    /// How many of the lowest bits are always zero and not stored.
    pub unstored: u32,
    /// How it names an address, if it does.
    pub target: Option<Target>,
    /// Whether an address written for it means the low bits of the address.
    pub low: bool,
}

/// How a number names an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The number is the address, in this memory.
    Absolute(MemoryId),
    /// The number is a distance in the code memory.
    Relative {
        /// Against the direction of addresses.
        back: bool,
        /// The origin.
        from: Base,
        /// Whether a plain number in assembly is an address too, rather than the distance.
        number_is_address: bool,
    },
    /// The number is the low bits of an address in the same page of the code memory.
    Within(Base),
}

/// The origin of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// This instruction.
    Pc,
    /// The next instruction.
    Next,
    /// This many cells after the beginning of this instruction: where the cells that an operand adds begin or end.
    Ahead(u32),
    /// This address, wherever the instruction is.
    Address(u64),
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: DeviceKind,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// The kinds of devices that the language knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// Bytes in, bytes out: `write(u8)`, `read() -> u8`, `ready() -> u1`.
    Stream,
    /// Numbered ports: `write(address, value)`, `read(address) -> value`.
    Bus {
        /// Width of a port's number.
        address: Width,
        /// Width of a value.
        value: Width,
    },
    /// Pixels that are on or off: `get(x, y) -> u1`, `set(x, y, u1)`, `clear()`, `scroll(dx, dy)`, and
    /// `row(y) -> uW`, `set_row(y, uW)` with the leftmost pixel highest. A row of more than 64 pixels is
    /// reached in parts of 64, from a column on: `row(x, y) -> u64`, `set_row(x, y, u64)`.
    Display {
        /// Pixels of a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// Keys that are down or up: `down(key) -> u1`, `any() -> u1`, `key() -> key`.
    Keypad {
        /// How many keys.
        keys: u32,
    },
    /// A number that goes down to 0: `read() -> uN`, `write(uN)`.
    Timer {
        /// Width of the number.
        width: Width,
        /// How many instructions it takes to go down by one.
        every: u32,
    },
    /// Numbers without a pattern: `read() -> uN`.
    Random {
        /// Width of the numbers.
        width: Width,
    },
    /// What the machine has done since its reset: `instructions() -> u64`, `cycles() -> u64`.
    Counter,
}

/// What devices can be asked to do. Not every kind of device can do everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeviceOperation {
    /// `read`: the next byte of a stream, a port of a bus, a timer, a random number.
    Read,
    /// `write`: to a stream, a port of a bus, a timer.
    Write,
    /// `ready`: whether a stream has a byte to read.
    Ready,
    /// `get`: one pixel of a display.
    Get,
    /// `set`: writes one pixel of a display.
    Set,
    /// `clear`: turns all pixels of a display off.
    Clear,
    /// `scroll`: moves everything that a display shows.
    Scroll,
    /// `row`: one row of a display, or 64 pixels of one.
    Row,
    /// `set_row`: writes one row of a display, or 64 pixels of one.
    SetRow,
    /// `down`: whether a key is down.
    Down,
    /// `any`: whether any key is down.
    Any,
    /// `key`: the first key that is down.
    Key,
    /// `instructions`: how many were executed before this one.
    Instructions,
    /// `cycles`: how many those took.
    Cycles,
}

impl DeviceOperation {
    /// Returns its name in definitions.
    pub fn name(self) -> &'static str {
        match self {
            DeviceOperation::Read => "read",
            DeviceOperation::Write => "write",
            DeviceOperation::Ready => "ready",
            DeviceOperation::Get => "get",
            DeviceOperation::Set => "set",
            DeviceOperation::Clear => "clear",
            DeviceOperation::Scroll => "scroll",
            DeviceOperation::Row => "row",
            DeviceOperation::SetRow => "set_row",
            DeviceOperation::Down => "down",
            DeviceOperation::Any => "any",
            DeviceOperation::Key => "key",
            DeviceOperation::Instructions => "instructions",
            DeviceOperation::Cycles => "cycles",
        }
    }
}

/// An operation of one kind of device, with its widths there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The operation.
    pub operation: DeviceOperation,
    /// The widths of its arguments.
    pub arguments: Vec<Width>,
    /// The width of its result, if any.
    pub result: Option<Width>,
}

impl DeviceKind {
    /// Whether an operation consumes something, so that doing it twice differs from doing it once.
    pub fn consumes(self, operation: DeviceOperation) -> bool {
        match self {
            DeviceKind::Stream | DeviceKind::Bus { .. } | DeviceKind::Random { .. } => {
                operation == DeviceOperation::Read
            }
            DeviceKind::Keypad { .. } | DeviceKind::Display { .. } | DeviceKind::Timer { .. } | DeviceKind::Counter => {
                false
            }
        }
    }

    /// Returns the operations of this kind of device.
    pub fn operations(self) -> Vec<Operation> {
        let byte = Width::BYTE;
        let operation = |operation, arguments, result| Operation { operation, arguments, result };
        match self {
            DeviceKind::Stream => vec![
                operation(DeviceOperation::Read, vec![], Some(byte)),
                operation(DeviceOperation::Write, vec![byte], None),
                operation(DeviceOperation::Ready, vec![], Some(Width::BIT)),
            ],
            DeviceKind::Bus { address, value } => {
                vec![
                    operation(DeviceOperation::Read, vec![address], Some(value)),
                    operation(DeviceOperation::Write, vec![address, value], None),
                ]
            }
            DeviceKind::Display { width, height } => {
                let (x, y) = (Width::to_tell_apart(width as usize), Width::to_tell_apart(height as usize));
                let (row, place) = match Width::new(u64::from(width)) {
                    Some(whole) => (whole, vec![y]),
                    None => (Width::MAX, vec![x, y]),
                };
                let distance = |width: Width| width.plus(Width::BIT).unwrap_or(width);
                vec![
                    operation(DeviceOperation::Get, vec![x, y], Some(Width::BIT)),
                    operation(DeviceOperation::Set, vec![x, y, Width::BIT], None),
                    operation(DeviceOperation::Clear, vec![], None),
                    operation(DeviceOperation::Scroll, vec![distance(x), distance(y)], None),
                    operation(DeviceOperation::SetRow, [place.as_slice(), &[row]].concat(), None),
                    operation(DeviceOperation::Row, place, Some(row)),
                ]
            }
            DeviceKind::Keypad { keys } => {
                let key = Width::to_tell_apart(keys as usize);
                vec![
                    operation(DeviceOperation::Down, vec![key], Some(Width::BIT)),
                    operation(DeviceOperation::Any, vec![], Some(Width::BIT)),
                    operation(DeviceOperation::Key, vec![], Some(key)),
                ]
            }
            DeviceKind::Timer { width, .. } => {
                vec![
                    operation(DeviceOperation::Read, vec![], Some(width)),
                    operation(DeviceOperation::Write, vec![width], None),
                ]
            }
            DeviceKind::Random { width } => vec![operation(DeviceOperation::Read, vec![], Some(width))],
            DeviceKind::Counter => vec![
                operation(DeviceOperation::Instructions, vec![], Some(Width::MAX)),
                operation(DeviceOperation::Cycles, vec![], Some(Width::MAX)),
            ],
        }
    }
}

/// A function of the definition.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// As written.
    pub tree: ast::Function,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

impl From<&ast::Function> for Function {
    fn from(tree: &ast::Function) -> Self {
        let (name, documentation) = (tree.name.text.clone(), tree.documentation.clone());
        Function { name, documentation, tree: tree.clone(), span: tree.name.span }
    }
}

/// Instructions that share everything but their first word, a code and a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// The width of its codes.
    pub width: Width,
    /// Its members; rows say which ones they use.
    pub members: Vec<Member>,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// A member of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name, as in the syntax.
    pub name: String,
    /// Its code, as in the encoding.
    pub code: u64,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// A member chosen from a family, both by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The family.
    pub family: usize,
    /// The member.
    pub member: usize,
}

/// An operand that can be written in several ways. A row with one is as many instructions as it has modes, so nothing
/// that executes, assembles or decodes needs to know about it; only code that shows rows to people does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Its name.
    pub name: String,
    /// How many bits of an encoding select the mode and hold its fields.
    pub width: Width,
    /// Its modes.
    pub modes: Vec<Mode>,
    /// Prose.
    pub documentation: String,
    /// Where it is declared.
    pub span: Span,
}

/// One way to write an operand, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How it is written.
    pub syntax: String,
    /// Its bits, and those of the cells that it adds to an instruction.
    pub picture: String,
    /// Prose.
    pub documentation: String,
    /// The row.
    pub span: Span,
}

/// A row before modes are chosen, and before the program counter is split from other registers: what people see instead
/// of one instruction for each choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// How it is written.
    pub syntax: Syntax,
    /// The names of its operands, in the order of the syntax, and how many bits of each are stored.
    pub operands: Vec<(String, u32)>,
    /// Its bits, without the cells that operands add.
    pub encoding: Encoding,
}

/// Rows under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The heading: a line, and perhaps prose on further lines.
    pub heading: String,
    /// The first row.
    pub span: Span,
}

/// Addresses that reach something other than memory. The loads and stores of its bodies reach the cells themselves,
/// never a mapping, so no mapping can lead to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The memory that it covers.
    pub memory: MemoryId,
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
    /// The value of a read; local 0 is the address.
    pub read: Body,
    /// What a write does; local 0 is the address, local 1 the value.
    pub write: Body,
    /// Where instructions at these addresses are fetched from, if not from the cells themselves.
    pub code: Option<Fetch>,
    /// Its row, or the declaration of the register or view kept there.
    pub span: Span,
}

/// The cell that an instruction at a mapped address is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The memory.
    pub memory: MemoryId,
    /// The cell's address, computed from registers and the mapped address, which is local 0.
    pub address: Expr,
}

/// One instruction: a row, with the members of its families chosen.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// How it is written.
    pub syntax: Syntax,
    /// Its operands, in the order of the syntax.
    pub operands: Vec<FieldId>,
    /// Its bits.
    pub encoding: Encoding,
    /// What it does. Shared by the models of a definition that is read again and again.
    pub body: Arc<Body>,
    /// The cycles it takes, where they are counted.
    pub cycles: u64,
    /// Prose.
    pub documentation: String,
    /// The row it comes from, counted over the whole definition.
    pub row: u32,
    /// The members chosen from its families, in the order of the syntax.
    pub chosen: Vec<Chosen>,
    /// The row as people see it, if to everything else it is several instructions; all of these share it.
    pub form: Option<Arc<Form>>,
    /// The heading above it, by its position.
    pub group: Option<usize>,
    /// Whether its meaning could not be understood and is empty here; only in a partial model.
    pub broken: bool,
    /// Where that row is.
    pub span: Span,
}

/// What the assembler accepts besides its own language, because programs for this machine have always been written that
/// way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// Functions, written `%name(x)`.
    pub functions: Vec<(String, Arithmetic)>,
    /// Operators written before their operand, as in `lo x`.
    pub unary: Vec<(String, Arithmetic)>,
    /// Other spellings of the operators of expressions, and the operator each means.
    pub operators: Vec<(String, String)>,
    /// Other names of directives, in lower case, and the directive each means, if any. Those that are marks go between
    /// a name and its value.
    pub directives: Vec<(String, Option<String>)>,
    /// Prefixes of numbers, in lower case, and their base.
    pub prefixes: Vec<(String, u32)>,
    /// What begins a comment, besides `;` and `//`.
    pub comments: Vec<String>,
    /// What ends a line early; it takes precedence over what begins a comment.
    pub separators: Vec<String>,
    /// Sections, each of which keeps a position of its own, as memories do.
    pub sections: Vec<Section>,
    /// What begins a local label, besides `.`.
    pub locals: Vec<char>,
    /// What stands for the current address, besides `$` and `*`.
    pub heres: Vec<char>,
    /// Where a word that is nothing else is a label even without its `:`.
    pub bare_labels: BareLabels,
    /// Whether directives may omit their `.`.
    pub bare_directives: bool,
    /// Whether `Loop` and `LOOP` are the same label.
    pub caseless_labels: bool,
    /// Whether a number without a prefix is octal, and numbers are shown in octal.
    pub octal_numbers: bool,
}

/// Where a label may omit its `:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BareLabels {
    /// Nowhere.
    #[default]
    Never,
    /// At the beginning of its line.
    InFirstColumn,
    /// Wherever a label may stand.
    Anywhere,
}

/// A place in a memory for a part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// The memory it is in.
    pub memory: MemoryId,
    /// Where it begins.
    pub address: u64,
}

/// An example: an instruction, the state before, and what must hold afterwards.
#[derive(Clone, Debug)]
pub struct Example {
    /// As written.
    pub source: String,
    /// The instruction.
    pub instruction: InstructionId,
    /// Its operands' bits.
    pub operands: Vec<u64>,
    /// The state set before.
    pub before: Vec<Fact>,
    /// What must hold afterwards.
    pub after: Vec<Fact>,
    /// Its place.
    pub span: Span,
}

/// One fact of an example, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it says.
    pub kind: FactKind,
    /// Its place.
    pub span: Span,
}

/// What a fact says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactKind {
    /// The program counter.
    Pc(u64),
    /// A register or view.
    Place(Place, u64),
    /// A memory cell.
    Cell(MemoryId, u64, u64),
    /// What a device is told or asked with these arguments: a port of a bus, a key, a timer.
    Device(DeviceId, Vec<u64>, u64),
    /// The input that the console provides.
    Input(Vec<u8>),
    /// The output that the console receives.
    Output(Vec<u8>),
    /// How the step ended.
    Status(Status),
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The machine goes on.
    Running,
    /// It stopped by itself.
    Halted,
    /// It could not execute the instruction.
    Fault,
}

impl Isa {
    /// Returns the instruction with this id.
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// Returns the field with this id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// Returns the memory with this id.
    pub fn memory(&self, id: MemoryId) -> &Memory {
        &self.memories[id.index()]
    }

    /// Returns the register with this id.
    pub fn register(&self, id: RegisterId) -> &Register {
        &self.registers[id.index()]
    }

    /// Returns the memory that holds the code.
    pub fn code_memory(&self) -> &Memory {
        self.memory(self.pc.memory)
    }

    /// Returns the memory with this name.
    pub fn memory_named(&self, name: &str) -> Option<MemoryId> {
        position(self.memories.iter().map(|memory| &memory.name), name).map(MemoryId)
    }

    /// Returns the register or view with this name.
    pub fn place_named(&self, name: &str) -> Option<Place> {
        let register = position(self.registers.iter().map(|register| &register.name), name).map(RegisterId);
        let whole = register.map(|id| Place::whole(id, self.register(id).width));
        whole.or_else(|| self.views.iter().find(|view| view.name == name).map(|view| view.place.clone()))
    }

    /// Returns the register that a place consists of, if the place is the whole of a register that can change.
    pub fn whole_register(&self, place: &Place) -> Option<RegisterId> {
        let [part] = place.parts.as_slice() else { return None };
        let register = self.register(part.register);
        (part.width == register.width && !register.constant).then_some(part.register)
    }

    /// Returns what is mapped over this address of this memory, if anything.
    pub fn mapping(&self, memory: MemoryId, address: u64) -> Option<&Mapping> {
        let after = self.maps.partition_point(|mapping| (mapping.memory, mapping.first) <= (memory, address));
        let mapping = &self.maps[after.checked_sub(1)?];
        (mapping.memory == memory && address <= mapping.last).then_some(mapping)
    }

    /// Returns what modes add to a window, with these values of the registers.
    #[inline]
    pub fn mode_bits(&self, registers: &[u64]) -> u128 {
        self.modes.iter().fold(0, |bits, (register, shift)| bits | u128::from(registers[register.index()]) << shift)
    }

    /// Returns what modes add to a window at reset.
    pub fn modes_at_reset(&self) -> u128 {
        self.mode_bits(&self.registers.iter().map(|register| register.reset).collect::<Vec<u64>>())
    }

    /// Returns the bits of a window that are modes.
    pub fn mode_mask(&self) -> u128 {
        let mask = |(register, shift): &(RegisterId, u32)| u128::from(self.register(*register).width.mask()) << shift;
        self.modes.iter().fold(0, |bits, mode| bits | mask(mode))
    }

    /// Returns what the definition puts into a cell, if anything.
    pub fn content(&self, memory: MemoryId, address: u64) -> Option<u64> {
        let mut holding = self.contents.iter().rev().filter(|contents| contents.memory == memory);
        holding.find_map(|contents| {
            contents.values.get(usize::try_from(address.checked_sub(contents.address)?).ok()?).copied()
        })
    }

    /// Returns the cell that an instruction at this address is fetched from, with these values of the registers.
    pub fn code_cell(&self, registers: &[u64], address: u64) -> (MemoryId, u64) {
        let here = (self.pc.memory, self.pc.width.wrap(address));
        let mapping = if self.has_mapped_code { self.mapping(here.0, here.1) } else { None };
        let Some(fetch) = mapping.and_then(|mapping| mapping.code.as_ref()) else { return here };
        let leaf = |part: &ExprKind| match part {
            ExprKind::Register(register) => registers[register.index()],
            _ => here.1,
        };
        (fetch.memory, fetch.address.evaluate(&leaf))
    }

    /// Returns the words that an instruction can begin with, as far as they are fixed.
    pub fn first_words(&self) -> impl Iterator<Item = &str> {
        let instructions = self.instructions.iter().map(|one| (&one.syntax, one.operands.first()));
        let instructions = instructions.map(|(syntax, first)| (syntax, first.map(|id| self.field(*id))));
        let pseudos = self.pseudos.iter().map(|one| (&one.syntax, one.parameters.first()));
        instructions.chain(pseudos).flat_map(|(syntax, first)| {
            syntax.heads.iter().flat_map(move |head| match head {
                Head::Word(word) => vec![word.as_str()],
                Head::Glued { .. } => Vec::new(),
                Head::Named(_) => first.into_iter().flat_map(Field::names).collect(),
            })
        })
    }

    /// Whether programs can show anything by themselves.
    pub fn has_output(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Returns the number of cells of the longest instruction.
    pub fn longest(&self) -> u32 {
        self.instructions.iter().map(|instruction| instruction.encoding.cells).max().unwrap_or(1)
    }
}

fn position<'a>(mut names: impl Iterator<Item = &'a String>, name: &str) -> Option<u32> {
    names.position(|known| known == name).map(|at| at as u32)
}

impl Instruction {
    /// Returns the instruction as people see it: the syntax and bits of its row, if the row is several instructions
    /// only because of what its operands can be.
    pub fn look(&self) -> (&Syntax, &Encoding) {
        self.form.as_ref().map_or((&self.syntax, &self.encoding), |form| (&form.syntax, &form.encoding))
    }

    /// Whether people see the two instructions as one, because they differ only in what their operands can be.
    pub fn is_seen_as(&self, other: &Instruction) -> bool {
        match (&self.form, &other.form) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => std::ptr::eq(self, other),
        }
    }
}

impl Register {
    /// Whether the register is a single bit that can change: a flag, or a mode that decides what instructions mean.
    pub fn is_flag(&self) -> bool {
        self.width == Width::BIT && !self.constant
    }
}

impl Memory {
    /// Returns the number of cells: one more than a `u64` holds, if addresses have 64 bits.
    pub fn cells(&self) -> u128 {
        1 << self.address.bits()
    }

    /// Returns the address of the last cell.
    pub fn last(&self) -> u64 {
        self.address.mask()
    }

    /// Whether the memory has too many cells to be kept in one piece.
    pub fn is_large(&self) -> bool {
        self.last() >= limits::FLAT_CELLS
    }

    /// Whether the memory has too many cells for a table of its pages.
    pub fn has_wide_addresses(&self) -> bool {
        self.address.bits() > limits::TABLE_ADDRESS_BITS
    }

    /// Returns how many cells a value of this width takes.
    pub fn cells_of(&self, width: Width) -> u8 {
        (width.bits() / self.cell.bits()) as u8
    }

    /// Returns where the cells of a value lie, from the lowest address up: each cell's distance from the first, and the
    /// lowest bit of the value in it.
    pub fn layout(&self, cells: u8) -> impl DoubleEndedIterator<Item = (u64, u32)> + Clone + use<> {
        let (order, bits) = (self.order, self.cell.bits());
        (0..cells).map(move |at| {
            let number = if order == Order::Little { at } else { cells - 1 - at };
            (u64::from(at), u32::from(number) * bits)
        })
    }

    /// Reorders the cells of a value, given from the lowest address up, so that the highest part of the value comes
    /// first.
    pub fn highest_first<T>(&self, mut cells: Vec<T>) -> Vec<T> {
        if self.order == Order::Little {
            cells.reverse();
        }
        cells
    }

    /// Returns how many bytes of a file hold one cell.
    pub fn bytes_per_cell(&self) -> usize {
        self.cell.bits().div_ceil(8) as usize
    }
}

impl Place {
    /// Returns what a value changes in each register of the place: the bits that stay as they are, and the new ones.
    pub fn spread(&self, value: u64) -> impl Iterator<Item = (RegisterId, u64, u64)> {
        let mut low = self.width.bits();
        self.parts.iter().map(move |part| {
            low -= part.width.bits();
            let kept = if self.clearing { 0 } else { !(part.width.mask() << part.low) };
            (part.register, kept, part.width.wrap(value >> low) << part.low)
        })
    }

    /// Makes the place of a whole register.
    pub fn whole(register: RegisterId, width: Width) -> Place {
        Place { parts: vec![Part { register, low: 0, width }], width, clearing: false }
    }
}

impl Field {
    /// Returns how many bits are stored in an encoding.
    pub fn stored_bits(&self) -> u32 {
        self.width.bits() - self.unstored_bits()
    }

    /// Returns how many of the lowest bits are always zero and not stored.
    pub fn unstored_bits(&self) -> u32 {
        match &self.domain {
            Domain::Number(numeric) => numeric.unstored,
            _ => 0,
        }
    }

    /// Whether these bits mean something.
    pub fn admits(&self, bits: u64) -> bool {
        match &self.domain {
            Domain::Registers(list) => list.get(bits as usize).is_some_and(Option::is_some),
            Domain::Names(list) => list.iter().any(|(_, value)| *value == bits),
            Domain::Number(_) => true,
            Domain::Values(values) => values.number(bits).is_some(),
        }
    }

    /// Whether the operand is written as a number.
    pub fn is_number(&self) -> bool {
        matches!(self.domain, Domain::Number(_) | Domain::Values(_))
    }
}
