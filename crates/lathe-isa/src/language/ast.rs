//! The tree of a definition as written: names not yet resolved, widths not yet known.

use std::collections::BTreeSet;

use lathe_base::Span;

/// A name and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// A whole definition.
#[derive(Clone, Debug, Default)]
pub struct Definition {
    /// `machine name "title"`.
    pub machine: Option<Machine>,
    /// Everything else, in the order written.
    pub items: Vec<Item>,
    /// Words of declarations that could not be read. That has been reported, so what they would have declared does not
    /// count as missing.
    pub broken: BTreeSet<String>,
    /// Whether a row of instructions could not be read.
    pub rows_lost: bool,
    /// The places of all declarations: every item except rows of instructions, pseudo-instructions and examples. Their
    /// texts determine what a row can name.
    pub declared: Vec<Span>,
}

/// `machine name "title"`.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The name that commands use.
    pub name: Name,
    /// A one-line description.
    pub title: String,
    /// The machine that it extends, if any.
    pub extends: Option<Import>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// Another file that a definition names.
#[derive(Clone, Debug)]
pub struct Import {
    /// The name of the file, or of the machine.
    pub name: String,
    /// Whether it is the name of a machine, without quotes.
    pub is_machine: bool,
    /// Where it is named.
    pub span: Span,
}

/// `remove x, on step` or `remove { inc D }`
#[derive(Clone, Debug)]
pub enum Remove {
    /// A declaration, by its name.
    Name(Name),
    /// `on reset`, `on illegal`, `on step`, `before each` or `after each`.
    Hook(Name),
    /// A row of instructions or a pseudo-instruction, by its syntax.
    Row(Column),
}

/// One declaration or block.
#[derive(Clone, Debug)]
pub enum Item {
    /// `memory ram : u16 -> u8 little`
    Memory(Memory),
    /// `pc pc : u16 in ram`
    Pc(Pc),
    /// `register a, b = 3 : u8`, `constant r0 : u16 = 0` and `mode wide : u1`
    Registers(Registers),
    /// `view r1l = r1[7:0] clearing`
    View(View),
    /// `field D, S : …`
    Fields(Fields),
    /// `device console : stream`
    Device(Device),
    /// `map ram { … }`
    Map(Map),
    /// `trap divide = 2, …`
    Traps(Traps),
    /// `width X = 32`
    Width(WidthLetter),
    /// `fn name(…) -> … { … }`
    Function(Function),
    /// `family OP : u4 (…) -> … { … }`
    Family(Family),
    /// `operand S, D : u6 of uK { … }`
    Operands(Operands),
    /// `prefix ix 0xDD with hl = ix { … }`
    Prefix(Prefix),
    /// `on reset { … }`
    OnReset(Hook),
    /// `on illegal { … }`
    OnIllegal(Hook),
    /// `on step when … { … }`
    OnStep(Hook),
    /// `before each { … }` and `after each when … { … }`
    Each(Moment, Hook),
    /// `data ram 0x50 { 0xF0, 0x90 }`
    Contents(Contents),
    /// `assembly { … }`
    Assembly(Table<AssemblyRow>),
    /// `instructions { … }`
    Instructions(Instructions),
    /// `pseudo { … }`
    Pseudos(Table<Pseudo>),
    /// `examples { … }`
    Examples(Table<Example>),
    /// `include "shared.isa"`
    Include(Import),
    /// `remove x`: what not to inherit from the machine that this one extends.
    Remove(Vec<Remove>),
}

impl Item {
    /// Returns the `##` lines about the item. Items that declare nothing have none.
    pub fn documentation(&mut self) -> Option<&mut String> {
        match self {
            Item::Memory(memory) => Some(&mut memory.documentation),
            Item::Pc(pc) => Some(&mut pc.documentation),
            Item::Registers(registers) => Some(&mut registers.documentation),
            Item::View(view) => Some(&mut view.documentation),
            Item::Fields(fields) => Some(&mut fields.documentation),
            Item::Device(device) => Some(&mut device.documentation),
            Item::Map(map) => Some(&mut map.documentation),
            Item::Traps(traps) => Some(&mut traps.documentation),
            Item::Width(width) => Some(&mut width.documentation),
            Item::Function(function) => Some(&mut function.documentation),
            Item::Family(family) => Some(&mut family.documentation),
            Item::Operands(operands) => Some(&mut operands.documentation),
            Item::Prefix(prefix) => Some(&mut prefix.documentation),
            Item::OnReset(hook) | Item::OnIllegal(hook) | Item::OnStep(hook) | Item::Each(_, hook) => {
                Some(&mut hook.documentation)
            }
            Item::Contents(contents) => Some(&mut contents.documentation),
            Item::Assembly(table) => Some(&mut table.documentation),
            Item::Instructions(instructions) => Some(&mut instructions.documentation),
            Item::Pseudos(table) => Some(&mut table.documentation),
            Item::Examples(table) => Some(&mut table.documentation),
            Item::Include(_) | Item::Remove(_) => None,
        }
    }

    /// Whether the item consists of instructions, pseudo-instructions or examples, and declares nothing that they can
    /// name.
    pub(crate) fn is_rows(&self) -> bool {
        matches!(self, Item::Instructions(_) | Item::Pseudos(_) | Item::Examples(_))
    }

    /// Whether a `##` after the item, on the same line, is about the item: whether the item is, or can be, a single
    /// line.
    pub(crate) fn is_line(&self) -> bool {
        matches!(
            self,
            Item::Memory(_)
                | Item::Pc(_)
                | Item::Registers(_)
                | Item::View(_)
                | Item::Fields(_)
                | Item::Device(_)
                | Item::Traps(_)
                | Item::Width(_)
                | Item::Prefix(_)
                | Item::Contents(_)
        )
    }
}

/// A block that consists only of rows.
#[derive(Clone, Debug)]
pub struct Table<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `trap divide = 2, illegal = 3`
#[derive(Clone, Debug, Default)]
pub struct Traps {
    /// The names and their numbers.
    pub names: Vec<(Name, Expr)>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `width X = 32`: a letter for a width used throughout the definition.
#[derive(Clone, Debug)]
pub struct WidthLetter {
    /// The letter.
    pub name: Name,
    /// How many bits.
    pub bits: Expr,
    /// The `##` lines before it.
    pub documentation: String,
}

/// The order of bytes, or cells, of a value that takes several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Least significant first.
    Little,
    /// Most significant first.
    Big,
}

/// `memory ram : u16 -> u8 little`
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name.
    pub name: Name,
    /// Type of an address.
    pub address: Type,
    /// Type of a cell.
    pub cell: Type,
    /// Order of wide accesses, if given.
    pub order: Option<Order>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `pc pc : u16 in ram`
#[derive(Clone, Debug)]
pub struct Pc {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// The memory that holds the code.
    pub memory: Name,
    /// Its value at reset, if given.
    pub reset: Option<Expr>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// Whether something is done before or after every instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the row's meaning.
    Before,
    /// After it.
    After,
}

impl Moment {
    /// Returns its word.
    pub fn word(self) -> &'static str {
        match self {
            Moment::Before => "before",
            Moment::After => "after",
        }
    }
}

/// `on illegal { … }`, `on step when irq { … }`, `after each when irq { … }`
#[derive(Clone, Debug)]
pub struct Hook {
    /// The first word.
    pub span: Span,
    /// The condition; always true if not given.
    pub when: Option<Expr>,
    /// What it does.
    pub body: Block,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `data ram 0x50 { 0xF0, 0x90 }`
#[derive(Clone, Debug)]
pub struct Contents {
    /// The memory.
    pub memory: Name,
    /// The address of the first cell.
    pub address: Expr,
    /// The cells.
    pub values: Vec<Expr>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// The kind of a declaration of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterKind {
    /// `register`
    Plain,
    /// `constant`: they ignore writes.
    Constant,
    /// `mode`: encodings may depend on them.
    Mode,
}

/// `register a, b = 3 : u8`, `constant r0 : u16 = 0` or `mode wide : u1`
#[derive(Clone, Debug)]
pub struct Registers {
    /// Each name or range of names.
    pub names: Vec<DeclaredRegisters>,
    /// The type of all of them.
    pub ty: Type,
    /// The cells of the first register, if they live in a memory. The others follow.
    pub home: Option<Home>,
    /// Their kind.
    pub kind: RegisterKind,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `r0..r15 = 5`: one of the names or ranges of a declaration.
#[derive(Clone, Debug)]
pub struct DeclaredRegisters {
    /// The names.
    pub range: NameRange,
    /// Their value at reset.
    pub reset: Option<Expr>,
    /// The position of the first among the declaration's registers, where the registers before it do not tell: some
    /// have been removed.
    pub position: Option<u64>,
}

/// `at data[0x5D]`: the cell of a memory where a register or view lives.
#[derive(Clone, Debug)]
pub struct Home {
    /// The memory.
    pub memory: Name,
    /// The address of the first cell.
    pub address: Expr,
}

/// `r0` or `r0..r15`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRange {
    /// The only name, or the first.
    pub first: Name,
    /// The last, if it is a range.
    pub last: Option<Name>,
}

/// `r0..r3`, or `x1/ra` with other spellings, or `pc = next`.
#[derive(Clone, Debug)]
pub struct ListedRegister {
    /// The register or registers.
    pub range: NameRange,
    /// Other spellings of a single register.
    pub spellings: Vec<Name>,
    /// The value of a read, for the program counter.
    pub reads: Option<Expr>,
}

/// `view r1l = r1[7:0] clearing`
#[derive(Clone, Debug)]
pub struct View {
    /// Its name.
    pub name: Name,
    /// What it shows: slices of registers, joined with `++`.
    pub value: Expr,
    /// Whether a write clears the rest of the register.
    pub clearing: bool,
    /// Its cells, if it lives in a memory.
    pub home: Option<Home>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `field D, S : …`
#[derive(Clone, Debug)]
pub struct Fields {
    /// The names that share this description.
    pub names: Vec<Name>,
    /// What their bits mean.
    pub kind: FieldKind,
    /// The `##` lines before it.
    pub documentation: String,
}

/// What the bits of a field mean.
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// `register { a, b, _, c/d }`
    Register(Vec<Option<ListedRegister>>, Span),
    /// `enum { low = 0, high = 3 }`
    Enumeration(Vec<(Name, Option<Expr>)>, Span),
    /// `words { cla = 8, (ral = 2 | rar = 4) }`
    Words(Vec<WordGroup>, Span),
    /// `u8`, `s8`, with what follows.
    Number(Box<Number>),
}

/// An entry of `words { … }`: a word, or in parentheses lists of words that exclude each other.
#[derive(Clone, Debug)]
pub struct WordGroup {
    /// The lists; a word by itself is one list of one word.
    pub alternatives: Vec<Vec<(Name, Option<Expr>)>>,
    /// All of it.
    pub span: Span,
}

/// `u16 little address`, `s8 from next`, `u7 within pc` and so on.
#[derive(Clone, Debug)]
pub struct Number {
    /// Width and signedness.
    pub ty: Type,
    /// `little` or `big`.
    pub order: Option<Order>,
    /// `align 2`: a multiple of this; the low bits are not stored.
    pub align: Option<Expr>,
    /// What the number is counted from, if it names an address.
    pub address: Option<AddressKind>,
    /// `low`: an address gives its low bits.
    pub low: bool,
    /// `{ mtvec = 0x305 }`: names for some of its values.
    pub names: Vec<(Name, Expr)>,
    /// `in { 8, 1..7 }`: the values that it can have, in the order of their codes.
    pub values: Option<Vec<ListedValue>>,
    /// The whole of it.
    pub span: Span,
}

/// A value that a number can have, or the first and last of several; none for a code without a value.
pub type ListedValue = Option<(Expr, Option<Expr>)>;

/// How a field names an address.
#[derive(Clone, Debug)]
pub enum AddressKind {
    /// `address` or `address in data`: the number is the address.
    Absolute(Option<Name>),
    /// `from next`, `back from pc`: counted from there.
    Relative {
        /// Backward instead of forward.
        back: bool,
        /// The origin.
        from: Origin,
        /// `address from next`: a plain number means an address too, not a distance.
        number_is_address: bool,
    },
    /// `within pc`, `within next`, `within 0xFF00`: the low bits of an address in that page.
    Within(Page),
}

/// What a distance counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `pc`: this instruction.
    Pc,
    /// `next`: the one after it.
    Next,
    /// `here`: the cells that a mode adds, which hold the distance.
    Here,
}

/// The page given after `within`.
#[derive(Clone, Debug)]
pub enum Page {
    /// The page of `pc`.
    Pc,
    /// The page of `next`.
    Next,
    /// The page of an address.
    Address(Expr),
}

/// `device console : stream`, `device port : bus u8 -> u8`
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: Name,
    /// The word for its kind.
    pub word: Name,
    /// Its kind.
    pub kind: DeviceKind,
    /// The `##` lines before it.
    pub documentation: String,
}

/// A kind of device, with its parameters.
#[derive(Clone, Debug)]
pub enum DeviceKind {
    /// `stream`
    Stream,
    /// `bus u8 -> u8`
    Bus(Type, Type),
    /// `display 64 by 32`
    Display(Expr, Expr),
    /// `keypad 16`
    Keypad(Expr),
    /// `timer u8 every 10`
    Timer(Type, Expr),
    /// `random u8`
    Random(Type),
    /// `counter`
    Counter,
    /// A word that is not a kind.
    Unknown,
}

/// `map ram { … }`
#[derive(Clone, Debug)]
pub struct Map {
    /// The memory that it covers.
    pub memory: Name,
    /// `with code`: instructions are fetched through it.
    pub code: bool,
    /// The rows.
    pub rows: Vec<MapRow>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `0xFFE0 | console.read() | console.write(value)`
#[derive(Clone, Debug)]
pub struct MapRow {
    /// The first address.
    pub first: Expr,
    /// The last, if it is a range.
    pub last: Option<Expr>,
    /// The value of a read.
    pub read: Option<Expr>,
    /// What a write does.
    pub write: Option<Block>,
    /// The whole row.
    pub span: Span,
    /// The `##` lines directly before it.
    pub documentation: String,
}

/// `fn name(x: u8, …) -> u8 { … }`
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<(Name, Type)>,
    /// The type of its result, if any.
    pub result: Option<Type>,
    /// What it does.
    pub body: Block,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `family OP : u4 (x: u8) -> u8 { add = … }`
#[derive(Clone, Debug)]
pub struct Family {
    /// Its name, which is also a field's.
    pub name: Name,
    /// The width of its code.
    pub ty: Type,
    /// The parameters that all members share.
    pub parameters: Vec<(Name, Type)>,
    /// The type of each member's result, if any.
    pub result: Option<Type>,
    /// The members.
    pub members: Vec<Member>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `add = x + y`, or with its code: `add 7 = x + y`
#[derive(Clone, Debug)]
pub struct Member {
    /// Its name, as it appears in the syntax.
    pub name: Name,
    /// Its code, if not one more than the previous member's.
    pub code: Option<Expr>,
    /// Its value or effect.
    pub body: Block,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `operand S, D : u6 of uK { … }`: operands that can be written in several ways.
#[derive(Clone, Debug)]
pub struct Operands {
    /// The names that share these modes.
    pub names: Vec<Name>,
    /// How many bits of an encoding select the mode and hold its fields.
    pub ty: Type,
    /// The letter for the width of the operand, if rows give it.
    pub letter: Option<Name>,
    /// The modes.
    pub modes: Vec<ModeRow>,
    /// The first words of comments that could be meant as modes, as in `#N | …`.
    pub commented: Vec<Name>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// A line of an `operand` block.
#[derive(Clone, Debug)]
pub enum ModeRow {
    /// A mode.
    Mode(Box<Mode>),
    /// The name of another operand: all modes of that one.
    All(Name),
}

/// `(R)+ | 010 RRR | let a = R; R = R + 2; ram.u16[a]`
#[derive(Clone, Debug)]
pub struct Mode {
    /// How it is written.
    pub syntax: Column,
    /// The bits of the operand, and of the cells that it adds to the instruction.
    pub picture: Column,
    /// The conditions after `where`.
    pub conditions: Vec<Expr>,
    /// What it does, ending with what the operand is.
    pub meaning: Block,
    /// The whole row.
    pub span: Span,
    /// The `##` lines directly before it.
    pub documentation: String,
}

/// `prefix ix 0xDD with hl = ix, h = ixh { cycles + 4 }`
#[derive(Clone, Debug)]
pub struct Prefix {
    /// Its name, written before instructions that it does not change.
    pub name: Name,
    /// Its bits.
    pub picture: Column,
    /// The registers that it replaces, and what they mean after it.
    pub renames: Vec<(Name, Name)>,
    /// What it does, before the instruction does anything.
    pub body: Block,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `after ix, iy` or `only after ix`: the prefixes that the rows of a block can have.
#[derive(Clone, Debug)]
pub struct After {
    /// Whether the rows exist only with a prefix.
    pub only: bool,
    /// Each is one prefix, or several in this order.
    pub sequences: Vec<Vec<Name>>,
}

/// A row of `assembly`.
#[derive(Clone, Debug)]
pub struct AssemblyRow {
    /// The habit.
    pub habit: Habit,
    /// The `##` lines directly before it.
    pub documentation: String,
}

/// One habit of the people who write programs for a machine.
#[derive(Clone, Debug)]
pub enum Habit {
    /// `%hi(V) = (V + 0x800)[31:12]`
    Function {
        /// Its name, without the `%`.
        name: Name,
        /// The name of its argument.
        parameter: Name,
        /// Its value.
        value: Expr,
    },
    /// `lo V = V[7:0]`
    Unary {
        /// Its name.
        name: Name,
        /// The name of its operand.
        parameter: Name,
        /// Its value.
        value: Expr,
    },
    /// `operator "<>" = "!="`
    Operator {
        /// What programs write.
        written: Name,
        /// The operator that it stands for.
        means: Name,
    },
    /// `.half = .le16`, `db = .byte`, `":=" = .equ`, or `.text, .data =` for directives to ignore.
    Directives {
        /// Their names, with the dot if they have one.
        names: Vec<Name>,
        /// The directive that they stand for, if any.
        means: Option<Name>,
    },
    /// `prefix "x" = 16`
    Prefix {
        /// The prefix.
        text: Name,
        /// The base of the number.
        base: Expr,
    },
    /// `comment "#"`
    Comment(Name),
    /// `separator ";"`
    Separator(Name),
    /// `section ROM0 = ram[0x0000]`
    Section {
        /// Its names.
        names: Vec<Name>,
        /// The memory it is in.
        memory: Name,
        /// Where it begins.
        address: Expr,
    },
    /// `local "@"`
    Local(Name),
    /// `here "."`
    Here(Name),
    /// `bare labels`, or `bare labels in column 1`
    BareLabels {
        /// Whether only labels with nothing before them.
        in_first_column: bool,
    },
    /// `bare directives`
    BareDirectives,
    /// `caseless labels`
    CaselessLabels,
    /// `octal numbers`
    OctalNumbers,
}

/// `instructions { … }`
#[derive(Clone, Debug)]
pub struct Instructions {
    /// `as u32 little`: the unit that a picture shows, if not a cell.
    pub unit: Option<(Type, Option<Order>)>,
    /// The prefixes that its rows can have.
    pub after: Option<After>,
    /// The text of the two above, and of `with cycles`.
    pub head: Span,
    /// The first words of comments that could be meant as rows, as in `#N | …`.
    pub commented: Vec<Name>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The `##` lines before it.
    pub documentation: String,
}

/// `syntax | encoding | meaning`
#[derive(Clone, Debug)]
pub struct Row {
    /// The first column.
    pub syntax: Column,
    /// The second column up to `where`.
    pub picture: Column,
    /// The conditions after `where`.
    pub conditions: Vec<Expr>,
    /// The column of cycles, where the block has one.
    pub cycles: Option<Expr>,
    /// The last column.
    pub meaning: Block,
    /// The whole row.
    pub span: Span,
    /// The `##` lines directly before it.
    pub documentation: String,
    /// The `##` lines before those, with an empty line after them: a heading for the rows from here on.
    pub heading: String,
}

/// Raw text of a column, blanks at both ends cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As written.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// `li D, N:u8 => sli D, N[7:4]; sli D, N[3:0]`
#[derive(Clone, Debug)]
pub struct Pseudo {
    /// What is written.
    pub syntax: Column,
    /// What it stands for.
    pub expansion: Vec<Column>,
    /// The `##` lines directly before it.
    pub documentation: String,
}

/// `sli a, 5 : a = 0x0A -> a = 0xA5`
#[derive(Clone, Debug)]
pub struct Example {
    /// The instruction.
    pub source: Column,
    /// The state set before.
    pub before: Vec<Fact>,
    /// What must hold afterwards.
    pub after: Vec<Fact>,
    /// The `##` lines directly before it.
    pub documentation: String,
}

/// One fact of an example.
#[derive(Clone, Debug)]
pub enum Fact {
    /// `a = 5`
    Register(Name, Expr),
    /// `ram[5] = 6`
    Cell(Name, Expr, Expr),
    /// `input 65`
    Input(Span, Vec<Expr>),
    /// `output 65`
    Output(Span, Vec<Expr>),
    /// `halted`, `fault`, `running`
    Status(Name),
}

/// `u8`, `sK`, `u(2 * K)`
#[derive(Clone, Debug)]
pub struct Type {
    /// `s` instead of `u`.
    pub signed: bool,
    /// The number of bits.
    pub width: Box<Expr>,
    /// Its place.
    pub span: Span,
}

/// Statements, and the value that the last of them gives.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// The value, if the last thing written is one.
    pub value: Option<Expr>,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let x : u8 = …`
    Let(Name, Option<Type>, Expr),
    /// `a = …`
    Assign(Expr, Expr),
    /// `if … { … } else { … }`
    If(Expr, Block, Option<Block>),
    /// `for r in { a, b } { … }`, `for i, r in …`
    For(For),
    /// A call for its effect.
    Call(Expr),
    /// `skip`
    Skip(Span),
    /// `halt`
    Halt(Span),
    /// `fault "…", value`
    Fault(Span, String, Option<Expr>),
    /// `cycles + …`: this instruction takes this many more.
    Cycles(Expr),
}

/// `for i, r in { r1..r4, x } { … }`
#[derive(Clone, Debug)]
pub struct For {
    /// The name of the position, if wanted.
    pub index: Option<Name>,
    /// The name of the item.
    pub name: Name,
    /// The items.
    pub items: Vec<ForItem>,
    /// What is done with each.
    pub body: Block,
    /// The head.
    pub span: Span,
}

/// An item of a `for`.
#[derive(Clone, Debug)]
pub enum ForItem {
    /// `r1..r4`
    Range(NameRange),
    /// Anything with a value.
    Value(Expr),
}

/// An expression and where it is.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `5`
    Number(u64),
    /// `x`
    Name(String),
    /// `f(x)`, `u16(x)`
    Call(Name, Vec<Expr>),
    /// `console.write(x)`
    Method(Name, Name, Vec<Expr>),
    /// `ram[a]`, `x[7]`
    Index(Box<Expr>, Box<Expr>),
    /// `ram.u16[a]`
    Wide(Name, Type, Box<Expr>),
    /// `S.u8`
    Sized(Name, Type),
    /// `F.cla`
    Word(Name, Name),
    /// `x[7:4]`
    Slice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `-x`
    Unary(Unary, Box<Expr>),
    /// `x + y`
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `c ? x : y`
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// An expression that could not be understood; already reported.
    Broken,
}

/// `~x`, `-x`, `!x`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `~`
    Complement,
    /// `-`
    Negate,
    /// `!`
    Not,
}

/// An operator with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `||`
    Either,
    /// `&&`
    Both,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `&`
    And,
    /// `++`
    Join,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
}
