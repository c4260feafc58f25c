//! The model of an instruction set: what the language produces and every tool consumes.
//!
//! Ids are positions in the lists of [`Isa`]. Nothing here knows the text it came from,
//! apart from places kept for diagnostics that are found later.

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
            /// As a position in its list.
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
    /// What commands call it.
    pub name: String,
    /// One line about it.
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
    /// The functions; meanings have them in place already.
    pub functions: Vec<Function>,
    /// The families.
    pub families: Vec<Family>,
    /// The operands with modes.
    pub operands: Vec<Modes>,
    /// The headings of the rows, in order.
    pub groups: Vec<Group>,
    /// Addresses that reach something other than memory, in order and without overlap.
    pub maps: Vec<Mapping>,
    /// Whether instructions are fetched through some of them.
    pub has_mapped_code: bool,
    /// The registers that decide what is fetched: where from, and how it is decoded.
    pub banked_by: Vec<RegisterId>,
    /// The registers that encodings may depend on, and where in a window their values are.
    pub modes: Vec<(RegisterId, u32)>,
    /// Names for numbers of traps.
    pub traps: Vec<(String, u64)>,
    /// What is done before the first instruction; see [`Isa::at_reset`].
    pub on_reset: Option<Body>,
    /// What an undefined encoding does; a fault, if not said.
    pub on_illegal: Option<Body>,
    /// What is done before an instruction, if a condition holds.
    pub on_step: Option<Hook>,
    /// What memories hold at reset, where it is not 0.
    pub contents: Vec<Contents>,
    /// The instructions, families spread out.
    pub instructions: Vec<Instruction>,
    /// Whether the definition counts cycles.
    pub has_cycles: bool,
    /// Instructions for people only.
    pub pseudos: Vec<Pseudo>,
    /// How people write programs for it.
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
    /// The width of an address; it has two to this power cells.
    pub address: Width,
    /// The width of a cell.
    pub cell: Width,
    /// How values wider than a cell are laid down.
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
    /// Gives one bit from registers alone, so that it can change only where one of them does.
    pub when: Body,
    /// What is done where that bit is 1. If it jumps, that is the whole step; otherwise the
    /// instruction follows.
    pub body: Body,
}

impl Hook {
    /// Whether an engine does best to treat it as the beginning of every instruction: it has
    /// something to do all the time, or never takes the place of an instruction. Others are rarely
    /// due, and only where a register has changed that their condition looks at.
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
    /// Whether it keeps its reset value for ever.
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
    /// Bits of its number; some of the lowest may not be stored, see [`Numeric::unstored`].
    pub width: Width,
    /// How `{F}` lays it down in an encoding.
    pub order: Order,
    /// What its bits say.
    pub domain: Domain,
    /// Other names for its codes, which may be written and are never shown.
    pub spellings: Vec<(String, u64)>,
    /// The words that its names are made of, if an operand is several words in any order; its names are all that
    /// can be said with them, as Lathe writes it.
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
    /// The bits to look at to see whether it is there: its own, and those that only words have which it excludes.
    pub mask: u64,
    /// Which entry of the list it is in. Words of one entry exclude each other if they are in different alternatives.
    pub group: usize,
    /// Which alternative of that entry.
    pub alternative: usize,
}

/// What the bits of a field say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One of these places; `None` where no register has the code.
    Registers(Vec<Option<(String, Place)>>),
    /// One of these names.
    Names(Vec<(String, u64)>),
    /// A number, or an address made from one.
    Number(Numeric),
    /// One of these numbers, by its place in the list.
    Values(Values),
}

/// The numbers that an operand can be. Only the assembler and people see a number: in an encoding, and in what
/// engines execute, there is its place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Values {
    /// In the order of their codes; `None` for a code without a number.
    pub list: Vec<Option<u64>>,
    /// The width of the numbers.
    pub width: Width,
    /// Two's complement.
    pub signed: bool,
    /// Whether -1 and the highest number are the same, see [`Numeric::wraps`].
    pub wraps: bool,
}

/// A number in an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numeric {
    /// Two's complement.
    pub signed: bool,
    /// Whether a negative number can be written for it although it is not signed: where it is as
    /// wide as a register or a memory cell, so that nothing is put above its bits.
    pub wraps: bool,
    /// How many of the lowest bits are always zero and not stored.
    pub unstored: u32,
    /// How it names an address, if it does.
    pub target: Option<Target>,
    /// Whether an address written for it means its low bits.
    pub low: bool,
}

/// How a number names an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// It is the address, in this memory.
    Absolute(MemoryId),
    /// It is a distance in the code memory.
    Relative {
        /// Against the direction of addresses.
        back: bool,
        /// From where.
        from: Base,
        /// Whether a plain number in assembly is an address too, rather than the distance.
        number_is_address: bool,
    },
    /// It is the low bits of an address in the same page of the code memory.
    Within(Base),
}

/// From where a distance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// This instruction.
    Pc,
    /// The instruction after it.
    Next,
    /// So many cells after the beginning of this instruction: where the cells of an operand end that
    /// has some of its own.
    Ahead(u32),
    /// This address, wherever the instruction is.
    Address(u64),
}

/// A device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// What kind of device it is.
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
        /// How many.
        keys: u32,
    },
    /// A number that goes down to 0: `read() -> uN`, `write(uN)`.
    Timer {
        /// Width of the number.
        width: Width,
        /// After how many instructions it goes down by one.
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
    /// How definitions write it.
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

/// An operation of one kind of device, with the widths that it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is asked.
    pub operation: DeviceOperation,
    /// The widths of what it is given.
    pub arguments: Vec<Width>,
    /// The width of what it gives, if anything.
    pub result: Option<Width>,
}

impl DeviceKind {
    /// Whether an operation takes something away from it, so that doing it twice is not the same as doing it once.
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

    /// What it can be asked to do.
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
    /// Its members; rows say which of them they have.
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

/// An operand that can be written in several ways. A row with one is as many instructions as it has modes, so
/// nothing that executes, assembles or decodes needs to know about it; whoever shows rows to people does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Its name.
    pub name: String,
    /// How many bits of an encoding say which mode it is, and with what.
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

/// A row before modes are chosen, and before the program counter is told from other registers: what people look at
/// instead of one instruction for each choice.
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

/// Addresses that reach something other than memory. The loads and stores of its bodies reach the
/// cells themselves, never a mapping, so that none can lead to itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The memory over which it lies.
    pub memory: MemoryId,
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
    /// What a read gives; local 0 is the address.
    pub read: Body,
    /// What a write does; local 0 is the address, local 1 the value.
    pub write: Body,
    /// Where instructions at these addresses are fetched from, if not from the cells themselves.
    pub code: Option<Fetch>,
    /// Its row, or the declaration of what is kept there.
    pub span: Span,
}

/// The cell that an instruction below a mapped address is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The memory.
    pub memory: MemoryId,
    /// Its address there, of registers and of the mapped address, which is local 0.
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
    /// The members of families it was made with, in the order of the syntax.
    pub chosen: Vec<Chosen>,
    /// The row it was made from, if that is several instructions to everybody but people; all of these share it.
    pub form: Option<Arc<Form>>,
    /// The heading it is under, by its position.
    pub group: Option<usize>,
    /// Whether its meaning could not be understood and is empty here; only in a partial model.
    pub broken: bool,
    /// Where that row is.
    pub span: Span,
}

/// What the assembler takes besides its own language, because programs for this machine have always
/// been written so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// Functions, written `%name(x)`.
    pub functions: Vec<(String, Arithmetic)>,
    /// Operators written before their operand, as in `lo x`.
    pub unary: Vec<(String, Arithmetic)>,
    /// Other ways to write the operators of expressions, and the operator each means.
    pub operators: Vec<(String, String)>,
    /// Other names of directives, in small letters, and the directive each means, if any. Those that are marks stand
    /// between a name and its value.
    pub directives: Vec<(String, Option<String>)>,
    /// Prefixes of numbers, in small letters, and their base.
    pub prefixes: Vec<(String, u32)>,
    /// What begins a comment, besides `;` and `//`.
    pub comments: Vec<String>,
    /// What ends a line, besides its end; it counts before what begins a comment.
    pub separators: Vec<String>,
    /// Places that keep count of themselves, as memories do.
    pub sections: Vec<Section>,
    /// What begins a local label, besides `.`.
    pub locals: Vec<char>,
    /// What stands for the current address, besides `$` and `*`.
    pub heres: Vec<char>,
    /// Where a word that is nothing else is a label without its `:`.
    pub bare_labels: BareLabels,
    /// Whether directives may go without their `.`.
    pub bare_directives: bool,
    /// Whether `Loop` and `LOOP` are one label.
    pub caseless_labels: bool,
    /// Whether a number without a prefix is octal, and numbers are shown so.
    pub octal_numbers: bool,
}

/// Where a label may go without its `:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BareLabels {
    /// Nowhere.
    #[default]
    Never,
    /// Where nothing stands before it on its line.
    InFirstColumn,
    /// Wherever a label may stand.
    Anywhere,
}

/// A place in a memory where a part of a program is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// The memory it is in.
    pub memory: MemoryId,
    /// Where it begins.
    pub address: u64,
}

/// An example: an instruction, the state before, and what must be so after.
#[derive(Clone, Debug)]
pub struct Example {
    /// As written.
    pub source: String,
    /// The instruction.
    pub instruction: InstructionId,
    /// Its operands' bits.
    pub operands: Vec<u64>,
    /// Set before.
    pub before: Vec<Fact>,
    /// Must be so after.
    pub after: Vec<Fact>,
    /// Where it is.
    pub span: Span,
}

/// One fact of an example, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it says.
    pub kind: FactKind,
    /// Where.
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
    /// What the console has to give.
    Input(Vec<u8>),
    /// What the console was given.
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
    /// The instruction with this id.
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.instructions[id.index()]
    }

    /// The field with this id.
    pub fn field(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    /// The memory with this id.
    pub fn memory(&self, id: MemoryId) -> &Memory {
        &self.memories[id.index()]
    }

    /// The register with this id.
    pub fn register(&self, id: RegisterId) -> &Register {
        &self.registers[id.index()]
    }

    /// The memory that holds the code.
    pub fn code_memory(&self) -> &Memory {
        self.memory(self.pc.memory)
    }

    /// The memory of this name.
    pub fn memory_named(&self, name: &str) -> Option<MemoryId> {
        position(self.memories.iter().map(|memory| &memory.name), name).map(MemoryId)
    }

    /// The register or view of this name.
    pub fn place_named(&self, name: &str) -> Option<Place> {
        let register = position(self.registers.iter().map(|register| &register.name), name).map(RegisterId);
        let whole = register.map(|id| Place::whole(id, self.register(id).width));
        whole.or_else(|| self.views.iter().find(|view| view.name == name).map(|view| view.place.clone()))
    }

    /// The register that a place is, if it is the whole of one that can change.
    pub fn whole_register(&self, place: &Place) -> Option<RegisterId> {
        let [part] = place.parts.as_slice() else { return None };
        let register = self.register(part.register);
        (part.width == register.width && !register.constant).then_some(part.register)
    }

    /// What is mapped over this address of this memory, if anything.
    pub fn mapping(&self, memory: MemoryId, address: u64) -> Option<&Mapping> {
        let after = self.maps.partition_point(|mapping| (mapping.memory, mapping.first) <= (memory, address));
        let mapping = &self.maps[after.checked_sub(1)?];
        (mapping.memory == memory && address <= mapping.last).then_some(mapping)
    }

    /// What modes add to a window, with these values of the registers.
    #[inline]
    pub fn mode_bits(&self, registers: &[u64]) -> u128 {
        self.modes.iter().fold(0, |bits, (register, shift)| bits | u128::from(registers[register.index()]) << shift)
    }

    /// What modes add to a window as a machine begins.
    pub fn modes_at_reset(&self) -> u128 {
        self.mode_bits(&self.registers.iter().map(|register| register.reset).collect::<Vec<u64>>())
    }

    /// The bits of a window that are modes.
    pub fn mode_mask(&self) -> u128 {
        let mask = |(register, shift): &(RegisterId, u32)| u128::from(self.register(*register).width.mask()) << shift;
        self.modes.iter().fold(0, |bits, mode| bits | mask(mode))
    }

    /// What the definition puts into a cell, if it does.
    pub fn content(&self, memory: MemoryId, address: u64) -> Option<u64> {
        let mut holding = self.contents.iter().rev().filter(|contents| contents.memory == memory);
        holding.find_map(|contents| {
            contents.values.get(usize::try_from(address.checked_sub(contents.address)?).ok()?).copied()
        })
    }

    /// Where the cell of an instruction at this address is fetched from, with these values of the registers.
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

    /// The words that an instruction can begin with, as far as they are always the same.
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

    /// Cells of the longest instruction.
    pub fn longest(&self) -> u32 {
        self.instructions.iter().map(|instruction| instruction.encoding.cells).max().unwrap_or(1)
    }
}

fn position<'a>(mut names: impl Iterator<Item = &'a String>, name: &str) -> Option<u32> {
    names.position(|known| known == name).map(|at| at as u32)
}

impl Instruction {
    /// How people see it: its row's syntax and bits, where the row is several instructions only because of what its
    /// operands can be.
    pub fn look(&self) -> (&Syntax, &Encoding) {
        self.form.as_ref().map_or((&self.syntax, &self.encoding), |form| (&form.syntax, &form.encoding))
    }

    /// Whether people see the two as one, because they differ only in what their operands can be.
    pub fn is_seen_as(&self, other: &Instruction) -> bool {
        match (&self.form, &other.form) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => std::ptr::eq(self, other),
        }
    }
}

impl Register {
    /// Whether it is a single bit that can change: a flag, or a mode that decides what instructions mean.
    pub fn is_flag(&self) -> bool {
        self.width == Width::BIT && !self.constant
    }
}

impl Memory {
    /// How many cells it has: one more than a `u64` holds, if its addresses are as wide as that.
    pub fn cells(&self) -> u128 {
        1 << self.address.bits()
    }

    /// The address of its last cell.
    pub fn last(&self) -> u64 {
        self.address.mask()
    }

    /// Whether it has too many cells to be kept in one piece.
    pub fn is_large(&self) -> bool {
        self.last() >= limits::FLAT_CELLS
    }

    /// Whether it has too many cells for a table of its pages.
    pub fn has_wide_addresses(&self) -> bool {
        self.address.bits() > limits::TABLE_ADDRESS_BITS
    }

    /// How many cells a value of this width takes.
    pub fn cells_of(&self, width: Width) -> u8 {
        (width.bits() / self.cell.bits()) as u8
    }

    /// Where the cells of a value lie, the one at the lowest address first: how far from the first, and from which bit
    /// of the value up.
    pub fn layout(&self, cells: u8) -> impl DoubleEndedIterator<Item = (u64, u32)> + Clone + use<> {
        let (order, bits) = (self.order, self.cell.bits());
        (0..cells).map(move |at| {
            let number = if order == Order::Little { at } else { cells - 1 - at };
            (u64::from(at), u32::from(number) * bits)
        })
    }

    /// The cells of a value, given from the lowest address up, with the highest part of the value first.
    pub fn highest_first<T>(&self, mut cells: Vec<T>) -> Vec<T> {
        if self.order == Order::Little {
            cells.reverse();
        }
        cells
    }

    /// How many bytes of a file hold one cell.
    pub fn bytes_per_cell(&self) -> usize {
        self.cell.bits().div_ceil(8) as usize
    }
}

impl Place {
    /// What a value makes of each register in it: the bits that stay as they are, and the others.
    pub fn spread(&self, value: u64) -> impl Iterator<Item = (RegisterId, u64, u64)> {
        let mut low = self.width.bits();
        self.parts.iter().map(move |part| {
            low -= part.width.bits();
            let kept = if self.clearing { 0 } else { !(part.width.mask() << part.low) };
            (part.register, kept, part.width.wrap(value >> low) << part.low)
        })
    }

    /// A whole register.
    pub fn whole(register: RegisterId, width: Width) -> Place {
        Place { parts: vec![Part { register, low: 0, width }], width, clearing: false }
    }
}

impl Field {
    /// How many bits are stored in an encoding.
    pub fn stored_bits(&self) -> u32 {
        self.width.bits() - self.unstored_bits()
    }

    /// How many of the lowest bits are always zero and not stored.
    pub fn unstored_bits(&self) -> u32 {
        match &self.domain {
            Domain::Number(numeric) => numeric.unstored,
            _ => 0,
        }
    }

    /// Whether every combination of its bits says something.
    pub fn admits(&self, bits: u64) -> bool {
        match &self.domain {
            Domain::Registers(list) => list.get(bits as usize).is_some_and(Option::is_some),
            Domain::Names(list) => list.iter().any(|(_, value)| *value == bits),
            Domain::Number(_) => true,
            Domain::Values(values) => values.number(bits).is_some(),
        }
    }

    /// Whether its operand is written as a number.
    pub fn is_number(&self) -> bool {
        matches!(self.domain, Domain::Number(_) | Domain::Values(_))
    }
}
