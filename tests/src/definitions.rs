//! Generated definitions: machines that nobody would design, with random widths, word orders and meanings, so that
//! engines are compared on more than what ships.
//!
//! A definition is a function of its seed. Every value in it is a `let` with an explicit width, so the generator need
//! not know how widths are inferred.

use std::cmp::Ordering;
use std::fmt::Write;

use crate::random::Random;

/// The most statements of a meaning.
const STATEMENTS: u64 = 7;
/// How many instructions a machine has.
const ROWS: u64 = 14;

/// An instruction that consists of words in any order.
const WORDS: &str = "field K : words { nothing = 0, clear = 8, more = 4, (twice = 1 | half = 2 | both = 3) }\n";

/// An operand whose value is one of several numbers; one code has none.
const VALUES: &str = "field V : u5 in { 8, 1..3, _, 31, 4 }\n";

/// Returns the definition for a seed.
pub fn definition(seed: u64) -> String {
    let mut random = Random(seed ^ 0x6A09_E667_F3BC_C908);
    let machine = Machine::choose(&mut random).with_wide_addresses(seed);
    let mut text = machine.declarations(seed);
    if random.once_in(3) {
        text += &machine.hook(&mut random);
    }
    text += "instructions {\n";
    let cell = machine.cell;
    let _ = writeln!(text, "  stop | {} | halt", picture(&"0".repeat(6), cell));
    for row in 1..=ROWS {
        let opcode: String = format!("{row:06b}");
        // Two register fields, and a number in the rest of the last cell, or in one more.
        let mut bits = format!("{opcode}XXYY");
        let number = if random.once_in(2) { machine.number } else { 0 };
        bits.extend(std::iter::repeat_n('N', number as usize));
        let operands = if number > 0 { " X, Y, N" } else { " X, Y" };
        let meaning = Meaning::new(&machine, &mut random, number > 0).text;
        let _ = writeln!(text, "  op{row}{operands} | {} | {{\n{meaning}  }}", picture(&bits, cell));
    }
    for row in ROWS + 1..=ROWS + 2 {
        let bits = picture(&format!("{row:06b}EEEEFFFF"), cell);
        let meaning =
            *random.pick(&["E = E + F", "E = F; a = a ^ F", "if E != F { E = F - E } else { b = E }", "E = 0"]);
        let _ = writeln!(text, "  op{row} E, F | {bits} | {meaning}");
    }
    // Numbers from a list, and rows restricted by conditions.
    let bits = picture(&format!("{:06b}XXVVV", ROWS + 4), cell);
    let condition = *random.pick(&["", " where V != 31", " where V != 8, X != b"]);
    let _ = writeln!(text, "  pick V, X | {bits}{condition} | X = X + {}", fit("V", 5, machine.bank));
    let bits = picture(&format!("{:06b}XXYY", ROWS + 5), cell);
    let _ = writeln!(
        text,
        "  near X+W | {} | X = X + {}",
        picture(&format!("{:06b}XXWWWW", ROWS + 9), cell),
        fit("W", 4, machine.bank)
    );
    let _ = writeln!(text, "  swap X, Y | {bits} where X != Y | let x : uB = X; X = Y; Y = x");
    let row = ROWS + 3;
    let meaning = "if K.clear { a = 0 }; if K.more { b = b + a + 1 }; if K.twice { a = a << 1 }; \
                   if K.half { a = a >> 1 }; if K.both { a = ~b }";
    let _ = writeln!(text, "  {{K}} | {} | {meaning}", picture(&format!("{row:06b}KKKK"), cell));
    if has_modes(seed) {
        text += &machine.rows_in_modes();
    }
    text + "}\n" + &machine.operand_modes() + WORDS + VALUES
}

/// Whether instructions are fetched through a map.
fn has_code_map(seed: u64) -> bool {
    seed % 4 < 2 && !matches!(seed % 16, 1 | 4)
}

/// Whether encodings depend on modes: only for some of the machines that cannot become hardware anyway.
fn has_modes(seed: u64) -> bool {
    has_code_map(seed) && seed % 3 == 1
}

/// Returns bits as a picture of whole cells, padded with zeros.
fn picture(bits: &str, cell: u64) -> String {
    let length = (bits.len() as u64).next_multiple_of(cell) as usize;
    format!("{bits:0<length$}")
}

/// Converts a value from one width to another.
fn fit(name: &str, have: u64, want: u64) -> String {
    match have.cmp(&want) {
        Ordering::Less => format!("u{want}({name})"),
        Ordering::Equal => name.to_owned(),
        Ordering::Greater => format!("{name}[{}:0]", want - 1),
    }
}

struct Machine {
    /// The widths of a cell of the code memory and of its addresses.
    cell: u64,
    address: u64,
    little: bool,
    /// The widths of a cell of the second memory and of its addresses.
    data_cell: u64,
    data_address: u64,
    /// The width of the four registers that operands name.
    bank: u64,
    /// The widths of the other registers.
    others: Vec<u64>,
    /// The width of the number in an instruction.
    number: u64,
}

impl Machine {
    fn choose(random: &mut Random) -> Machine {
        Machine {
            cell: *random.pick(&[4, 7, 8, 8, 8, 12, 16, 16, 32]),
            address: random.within(6..13),
            little: random.once_in(2),
            data_cell: *random.pick(&[1, 3, 8, 8, 8, 9, 16, 33, 64]),
            data_address: random.within(3..11),
            bank: *random.pick(&[3, 8, 8, 16, 16, 31, 32, 64]),
            others: (0..4).map(|_| *random.pick(&[1, 1, 2, 5, 8, 13, 16, 32, 48, 64])).collect(),
            number: random.within(1..9),
        }
    }

    /// Sometimes makes one memory or both too wide for tables. These machines do not become hardware, nor do those with
    /// a code map, so some have no code map.
    fn with_wide_addresses(self, seed: u64) -> Machine {
        let bits = [33, 40, 47, 64][(seed / 16 % 4) as usize];
        let address = if matches!(seed % 16, 0 | 1 | 5) { bits } else { self.address };
        let data_address = if matches!(seed % 16, 0 | 4) { bits } else { self.data_address };
        Machine { address, data_address, ..self }
    }

    fn declarations(&self, seed: u64) -> String {
        let order = if self.little { "little" } else { "big" };
        let Machine { cell, address, data_cell, data_address, bank, number, .. } = self;
        let mut text = format!(
            "machine generated \"From seed {seed}\"\nmemory ram : u{address} -> u{cell} {order}\n\
             memory data : u{data_address} -> u{data_cell} {order}\npc pc : u{address} in ram\n\
             width B = {bank}\nregister a, b, c, d : uB\nfield X, Y : register {{ a, b, c, d }}\nfield W : s4\nfield N : u{number}\n"
        );
        let mut cell = 1;
        for (width, at) in self.others.iter().zip(0..) {
            let cells = width / data_cell;
            // Some of the registers are cells of the second memory.
            if seed.is_multiple_of(3) && width % data_cell == 0 && u128::from(cell + cells) <= 1 << data_address {
                let _ = writeln!(text, "register r{at} : u{width} at data[{cell}]");
                cell += cells;
            } else {
                let _ = writeln!(text, "register r{at} : u{width}");
            }
        }
        if has_modes(seed) {
            text += "mode w : u1\nmode v = 1 : u2\n";
        }
        if seed % 2 == 1 {
            text += &self.map();
        }
        if has_code_map(seed) {
            text += &self.code_map();
        }
        text
    }

    /// Returns a map for fetching code from elsewhere: from a memory that only this map reaches, and from other cells
    /// of the code memory. Registers select the cells.
    fn code_map(&self) -> String {
        let Machine { cell, address, others, .. } = self;
        let (read, chosen) = (fit("address", *address, 5), fit("r1", others[1], 5));
        let (selected, written) = (fit("r0", others[0], *address), fit("value", *cell, others[1]));
        format!(
            "memory rom : u5 -> u{cell}\nmap ram with code {{\n  16..31 | rom[{read} ^ {chosen}] | r1 = {written}\n  \
             32..39 | ram[address ^ {selected}] | ram[address ^ 3] = value\n}}\n"
        )
    }

    /// Returns a map at a few addresses of the code memory: a register, and cells that change on the way.
    fn map(&self) -> String {
        let Machine { cell, bank, .. } = self;
        let (read, written) = (fit("a", *bank, *cell), fit("value", *cell, *bank));
        format!(
            "map ram {{\n  4 | {read} | a = {written}\n  5 | ram[address] ^ 1 | ram[address] = value; r0 = r0 + 1\n  \
             6..7 | ram[address] | if value[0] {{ ram[address] = value }} else {{ b = b ^ {written} }}\n}}\n"
        )
    }

    /// Returns rows that exist in some modes only: with different lengths, with the same text, or not at all.
    fn rows_in_modes(&self) -> String {
        let Machine { cell, bank, number, .. } = self;
        let bits = |row: u64, rest: &str| picture(&format!("{row:06b}{rest}"), *cell);
        let added = fit("N", *number, *bank);
        let numbers = "N".repeat(*number as usize);
        format!(
            "  wide X    | {} where w == 0 | X = X + 1\n  wide X, N | {} where w != 0 | X = X + {added}\n  \
             four X    | {} where v == 0 | X = ~X\n  four X    | {} where v == 1, w == 1 | X = X ^ 5\n  \
             four X, N | {} where v == 2 | X = {added}; w = 0\n  turn X    | {} | w = X[0]; v = v + 1\n",
            bits(ROWS + 6, "XX"),
            bits(ROWS + 6, &format!("XX{numbers}")),
            bits(ROWS + 7, "XX"),
            bits(ROWS + 7, "XX"),
            bits(ROWS + 7, &format!("XX{numbers}")),
            bits(ROWS + 8, "XX"),
        )
    }

    /// Returns operands with modes: a register, one that changes before it is used, memory beside it, numbers in cells
    /// of their own.
    fn operand_modes(&self) -> String {
        let Machine { cell, address, bank, data_cell, data_address, .. } = self;
        let place = fit("X", *bank, *data_address);
        let mut text = format!("field J : u{cell}\noperand E : u4 {{\n  X | 00XX | X\n  up X | 01XX | X = X + 3; X\n");
        if bank % data_cell == 0 {
            let _ = writeln!(text, "  at X | 10XX | X = X + 1; data.u{bank}[{place}]");
        }
        let number = fit("J", *cell, *bank);
        let _ = write!(text, "}}\noperand F : u4 {{\n  E\n  just J | 1100 {{J}} | {number}\n");
        if cell <= address {
            let _ = writeln!(text, "  to T | 1101 {{T}} | {}", fit("T", *address, *bank));
        }
        let target = if cell <= address { format!("field T : u{cell} from next\n") } else { String::new() };
        text + "}\n" + &target
    }

    /// Returns an action between instructions, perhaps a constant one.
    fn hook(&self, random: &mut Random) -> String {
        let when = match random.below(3) {
            0 => String::new(),
            1 => " when r0 == 1 && r1 != 0".to_owned(),
            _ => " when a == b".to_owned(),
        };
        let jump = if random.once_in(2) { "if r2 == 1 { pc = 1; r2 = 0 }" } else { "r3 = r3 + 1" };
        format!("on step{when} {{ r0 = r0 + 1; a = a + 1; {jump} }}\n")
    }
}

/// The meaning of one instruction as it is written.
struct Meaning<'m> {
    machine: &'m Machine,
    random: &'m mut Random,
    /// The names that values are made from, with their widths.
    known: Vec<(String, u64)>,
    text: String,
}

impl<'m> Meaning<'m> {
    fn new(machine: &'m Machine, random: &'m mut Random, has_number: bool) -> Self {
        let mut known: Vec<(String, u64)> = ["X", "Y", "a", "b"].map(|name| (name.to_owned(), machine.bank)).into();
        known.extend(machine.others.iter().zip(0..).map(|(width, at)| (format!("r{at}"), *width)));
        known.push(("pc".to_owned(), machine.address));
        if has_number {
            known.push(("N".to_owned(), machine.number));
        }
        let mut meaning = Meaning { machine, random, known, text: String::new() };
        for _ in 0..meaning.random.within(1..STATEMENTS) {
            meaning.statement();
        }
        meaning
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "    {line}");
    }

    /// Returns a name of this width, creating one if necessary.
    fn value(&mut self, width: u64) -> String {
        let known = self.name(width).filter(|_| !self.random.once_in(3));
        if let Some(known) = known {
            return known;
        }
        let text = self.expression(width);
        let name = format!("t{}", self.known.len());
        self.line(&format!("let {name} : u{width} = {text}"));
        self.known.push((name.clone(), width));
        name
    }

    /// Returns an expression of this width in names of any width.
    fn expression(&mut self, width: u64) -> String {
        let (name, bits) = self.random.pick(&self.known).clone();
        match self.random.below(10) {
            0 => self.number(width),
            1 if bits < width => format!("zext({name})"),
            2 if bits < width => format!("sext({name})"),
            1 | 2 if bits > width => {
                let low = self.random.within(0..bits - width + 1);
                format!("{name}[{}:{low}]", low + width - 1)
            }
            3 if width == 1 => {
                let other = self.value(bits);
                let operator = self.random.pick(&["==", "!=", "<", "<=", ">", ">="]);
                if self.random.once_in(2) {
                    format!("{name} {operator} {other}")
                } else {
                    format!("signed({name}) {operator} signed({other})")
                }
            }
            4 => format!("{} ? {} : {}", self.value(1), self.value(width), self.value(width)),
            5 => format!("{}({}, {})", self.random.pick(&["rotl", "rotr"]), self.value(width), self.value(bits)),
            // Division takes at most 64 bits.
            6 if width <= 64 => {
                let signs = [("", ""), ("signed(", ")")];
                let (open, close) = *self.random.pick(&signs);
                let operator = *self.random.pick(&["/", "%"]);
                format!("{open}{}{close} {operator} {open}{}{close}", self.value(width), self.value(width))
            }
            7 => {
                let (value, count) = (self.value(width), self.value(bits));
                self.random
                    .pick(&[
                        format!("{value} << {count}"),
                        format!("{value} >> {count}"),
                        format!("signed({value}) >> {count}"),
                    ])
                    .clone()
            }
            8 if bits < width => format!("{} ++ {name}", self.value(width - bits)),
            _ => {
                let operator = *self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                match (self.name(width), self.name(width)) {
                    (Some(x), Some(_)) if self.random.once_in(4) => {
                        format!("{x} {operator} {}", self.number(width))
                    }
                    (Some(x), Some(y)) => format!("{x} {operator} {y}"),
                    _ => self.number(width),
                }
            }
        }
    }

    /// Returns a number of this width, as far as it can be written.
    fn number(&mut self, width: u64) -> String {
        self.random.value(width.min(64) as u32).to_string()
    }

    /// Returns a name of this width, if there is one.
    fn name(&mut self, width: u64) -> Option<String> {
        let fitting: Vec<String> =
            self.known.iter().filter(|(_, bits)| *bits == width).map(|(name, _)| name.clone()).collect();
        (!fitting.is_empty()).then(|| self.random.pick(&fitting).clone())
    }

    /// Returns a memory with the widths of its addresses and of an access: a cell, or two.
    fn place(&mut self) -> (String, u64, u64) {
        let Machine { cell, address, data_cell, data_address, .. } = *self.machine;
        let (name, address, cell) = *self.random.pick(&[("ram", address, cell), ("data", data_address, data_cell)]);
        if cell * 2 <= 64 && self.random.once_in(2) {
            return (format!("{name}.u{}", cell * 2), address, cell * 2);
        }
        (name.to_owned(), address, cell)
    }

    /// Returns an address of this width; sometimes a low constant, where registers and mapped cells are.
    fn address(&mut self, width: u64) -> String {
        if self.random.once_in(3) { self.random.below(8).to_string() } else { self.value(width) }
    }

    fn statement(&mut self) {
        match self.random.below(10) {
            // More bits than anything can hold, some of which go to a register.
            9 => {
                let width = self.random.within(65..129);
                let value = self.value(width);
                let (name, bits) = self.random.pick(&self.registers()).clone();
                let low = self.random.within(0..width - bits + 1);
                self.line(&format!("{name} = {value}[{}:{low}]", low + bits - 1));
            }
            8 => {
                let condition = self.value(1);
                self.line(&format!("if {condition} {{ skip }}"));
            }
            0 => {
                let (memory, address, width) = self.place();
                let address = self.address(address);
                let name = format!("t{}", self.known.len());
                self.line(&format!("let {name} : u{width} = {memory}[{address}]"));
                self.known.push((name, width));
            }
            1 => {
                let effect = self.store();
                self.line(&effect);
            }
            2 => {
                let condition = self.value(1);
                let (then, otherwise) = (self.effect(), self.effect());
                self.line(&format!("if {condition} {{ {then} }} else {{ {otherwise} }}"));
            }
            3 => {
                let condition = self.value(1);
                let target = self.value(self.machine.address);
                self.line(&format!("if {condition} {{ pc = {target} }}"));
            }
            _ => {
                let effect = self.assignment();
                self.line(&effect);
            }
        }
    }

    fn effect(&mut self) -> String {
        if self.random.once_in(3) { self.store() } else { self.assignment() }
    }

    fn store(&mut self) -> String {
        let (memory, address, width) = self.place();
        let (address, value) = (self.address(address), self.value(width));
        format!("{memory}[{address}] = {value}")
    }

    fn assignment(&mut self) -> String {
        let (name, width) = self.random.pick(&self.registers()).clone();
        format!("{name} = {}", self.value(width))
    }

    /// Returns what can be assigned, with its width.
    fn registers(&self) -> Vec<(String, u64)> {
        let others = self.machine.others.iter().zip(0..).map(|(width, at)| (format!("r{at}"), *width));
        let mut registers: Vec<(String, u64)> = others.collect();
        registers.extend(["X", "Y", "X", "Y"].map(|name| (name.to_owned(), self.machine.bank)));
        registers
    }
}

#[cfg(test)]
mod tests {
    /// Most generated definitions are machines; the others have rows that the check rightly refuses.
    #[test]
    fn most_definitions_are_right() {
        let is_right = |seed: &u64| lathe_isa::load(&super::definition(*seed)).isa.is_some();
        let right = (0..100).filter(is_right).count();
        let why = (0..100).find(|seed| !is_right(seed)).map(|seed| {
            let text = super::definition(seed);
            let found = lathe_isa::load(&text).diagnostics;
            format!("{text}\n{found:?}")
        });
        assert!(right > 90, "{right} of 100; {}", why.unwrap_or_default());
    }
}
