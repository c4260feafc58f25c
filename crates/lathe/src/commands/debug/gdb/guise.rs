//! A machine in a guise that gdb accepts. gdb knows no foreign instruction sets, so every machine poses as a 32-bit
//! RISC-V: `x0` to `x31` and `pc`, then its own registers under their own names. A machine that has `x0` to `x31`
//! itself, such as rv32i, is what it poses as.
//!
//! gdb has one memory of bytes. The code memory begins at 0, the others follow in [`Window`]s of their own. A cell
//! wider than a byte takes two, four or eight bytes, lowest first, and then addresses, including `pc`, count bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use lathe_debug::Problem;
use lathe_embed::State;
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, RegisterId};

/// Other names of `x0` to `x31`.
#[rustfmt::skip]
const ALIASES: [&str; 32] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];
/// The distance between the starts of two memories in gdb's address space.
const WINDOW: u64 = 1 << 28;
/// The size of gdb's address space.
const SPACE: u64 = 1 << 32;

/// How gdb sees a machine.
pub(super) struct Guise {
    isa: Arc<Isa>,
    registers: Vec<Shown>,
    windows: Vec<Window>,
}

/// A register as gdb sees it.
struct Shown {
    name: String,
    bits: u32,
    what: What,
}

/// What a register shows.
#[derive(Clone, Copy)]
enum What {
    /// The machine has no such register: it reads 0.
    Nothing,
    Pc,
    Register(RegisterId),
}

/// The range of a memory in gdb's address space.
pub(super) struct Window {
    pub(super) memory: MemoryId,
    pub(super) base: u64,
    /// Bytes per cell.
    pub(super) scale: u64,
    length: u64,
}

/// The location of a byte of gdb's memory.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub(super) memory: MemoryId,
    pub(super) cell: u64,
    /// The position of the byte in its cell, in bits.
    pub(super) shift: u32,
}

impl Guise {
    /// # Errors
    /// If the code memory is too large for a 32-bit debugger.
    pub(super) fn new(isa: &Arc<Isa>) -> Result<Guise, Problem> {
        let windows = windows(isa);
        if windows.first().is_none_or(|window| window.memory != isa.pc.memory) {
            let message = format!("the code memory of {} has more than the 2^32 bytes that gdb can address", isa.name);
            return Err(Problem::new(message).help("use `lathe debug` without `--gdb`"));
        }
        Ok(Guise { isa: isa.clone(), registers: registers(isa), windows })
    }

    /// Whether the machine has the registers of a RISC-V, so that gdb can be given its real programs.
    pub(super) fn is_itself(&self) -> bool {
        (1..32).all(|number| self.isa.registers.iter().any(|register| register.name == format!("x{number}")))
    }

    /// Returns the machine's name.
    pub(super) fn machine(&self) -> &str {
        &self.isa.name
    }

    /// Returns the memories and their windows, the code memory first.
    pub(super) fn windows(&self) -> impl Iterator<Item = (&str, &Window)> {
        self.windows.iter().map(|window| (self.isa.memory(window.memory).name.as_str(), window))
    }

    /// Returns the target description, from which gdb learns the registers.
    pub(super) fn description(&self) -> String {
        let mut text = String::from(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n\
             <architecture>riscv:rv32</architecture>\n<osabi>none</osabi>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n",
        );
        for (number, register) in self.registers.iter().enumerate() {
            if number == ALIASES.len() + 1 {
                let _ = writeln!(text, "</feature>\n<feature name=\"org.lathe.{}\">", self.isa.name);
            }
            let kind = match register.what {
                What::Pc => "code_ptr".to_owned(),
                _ if number < ALIASES.len() => "int".to_owned(),
                _ => format!("uint{}", register.bits),
            };
            let Shown { name, bits, .. } = register;
            let _ = writeln!(text, "<reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\" group=\"general\"/>");
        }
        text + "</feature>\n</target>\n"
    }

    /// Returns all registers concatenated, as gdb takes them.
    pub(super) fn bytes(&self, state: &State) -> Vec<u8> {
        let bytes = |register: &Shown| -> Vec<u8> {
            let value = self.value(register.what, state);
            value.to_le_bytes()[..register.bits as usize / 8].to_vec()
        };
        self.registers.iter().flat_map(bytes).collect()
    }

    /// Returns the names and values to set so that the registers become those gdb wants.
    pub(super) fn differences(&self, state: &State, mut wanted: &[u8]) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        for register in &self.registers {
            let Some((bytes, rest)) = wanted.split_at_checked(register.bits as usize / 8) else { break };
            wanted = rest;
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            if value == self.value(register.what, state) {
                continue;
            }
            match register.what {
                What::Nothing => {}
                What::Pc => found.push((self.isa.pc.name.clone(), self.isa.pc.width.wrap(value / self.scale()))),
                What::Register(id) => {
                    let own = self.isa.register(id);
                    found.push((own.name.clone(), own.width.wrap(value)));
                }
            }
        }
        found
    }

    fn value(&self, what: What, state: &State) -> u64 {
        match what {
            What::Nothing => 0,
            What::Pc => self.code_address(state.pc),
            What::Register(id) => state.register(id),
        }
    }

    fn scale(&self) -> u64 {
        self.windows[0].scale
    }

    /// Converts an address of the code memory to gdb's.
    pub(super) fn code_address(&self, address: u64) -> u64 {
        address * self.scale()
    }

    /// Converts gdb's address to one of the code memory, if it is in that.
    pub(super) fn code_cell(&self, address: u64) -> Option<u64> {
        let located = self.locate(address)?;
        (located.memory == self.isa.pc.memory).then_some(located.cell)
    }

    /// Locates a byte of gdb's memory.
    pub(super) fn locate(&self, address: u64) -> Option<Located> {
        let within = |window: &&Window| (window.base..window.base + window.length).contains(&address);
        let window = self.windows.iter().find(within)?;
        let offset = address - window.base;
        let shift = 8 * (offset % window.scale) as u32;
        Some(Located { memory: window.memory, cell: offset / window.scale, shift })
    }
}

fn registers(isa: &Isa) -> Vec<Shown> {
    let ids = || (0..).map(RegisterId).zip(&isa.registers);
    let named = |name: &str| ids().find(|(_, register)| register.name == name).map(|(id, _)| id);
    let core = ALIASES.iter().enumerate().map(|(number, alias)| {
        let name = format!("x{number}");
        let what = named(&name).or_else(|| named(alias)).map_or(What::Nothing, What::Register);
        Shown { name, bits: 32, what }
    });
    let is_shown = |name: &str| {
        let number = name.strip_prefix('x').and_then(|number| number.parse::<usize>().ok());
        ALIASES.contains(&name) || number.is_some_and(|number| number < ALIASES.len()) || name == "pc"
    };
    let own = ids().filter(|(_, register)| !is_shown(&register.name)).map(|(id, register)| Shown {
        name: register.name.clone(),
        bits: register.width.bits().next_power_of_two().max(8),
        what: What::Register(id),
    });
    core.chain([Shown { name: "pc".to_owned(), bits: 32, what: What::Pc }]).chain(own).collect()
}

/// Places the code memory at 0 and the others after it, as far as there is room.
fn windows(isa: &Isa) -> Vec<Window> {
    let ids = (0..).map(MemoryId).zip(&isa.memories).map(|(id, _)| id);
    let others = ids.filter(|id| *id != isa.pc.memory);
    let mut windows = Vec::new();
    let mut base = 0;
    for memory in std::iter::once(isa.pc.memory).chain(others) {
        let described = isa.memory(memory);
        let scale = u64::from(described.cell.bits().div_ceil(8).next_power_of_two());
        let length = described.cells() * u128::from(scale);
        if let Some(length) = u64::try_from(length).ok().filter(|length| *length <= SPACE - base) {
            windows.push(Window { memory, base, scale, length });
            base = (base + length).next_multiple_of(WINDOW);
        }
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;
    use lathe_embed::Machine;

    fn guise(machine: &str) -> (Machine, Guise) {
        let machine = Machine::built_in(machine).expect("it ships");
        let guise = Guise::new(machine.isa()).expect("it fits");
        (machine, guise)
    }

    #[test]
    fn registers_have_their_own_names_behind_those_of_a_risc_v() {
        let (machine, guise) = guise("quad8");
        let names: Vec<&str> = guise.registers.iter().skip(32).map(|register| register.name.as_str()).collect();
        assert_eq!(names, ["pc", "a", "b", "c", "d", "page", "stackpage"], "sp is x2");
        let mut instance = machine.instance();
        instance.set("sp", 7).unwrap();
        instance.set("page", 3).unwrap();
        let bytes = guise.bytes(instance.state());
        assert_eq!((bytes.len(), bytes[4 * 2], bytes[4 * 33 + 4]), (4 * 33 + 6, 7, 3));
        let mut wanted = bytes.clone();
        wanted[4 * 32] = 0x40;
        wanted[4 * 33] = 9;
        wanted[0] = 1;
        assert_eq!(guise.differences(instance.state(), &wanted), [("pc".to_owned(), 0x40), ("a".to_owned(), 9)]);
        assert!(!guise.is_itself());
        assert!(self::guise("rv32i").1.is_itself());
    }

    #[test]
    fn memories_follow_one_another_and_wide_cells_take_several_bytes() {
        let (machine, guise) = guise("stack8b");
        let at = |address| guise.locate(address).map(|located| (located.memory, located.cell, located.shift));
        let data = machine.isa().memory_named("data").unwrap();
        assert_eq!(at(0xFF), Some((machine.isa().pc.memory, 0xFF, 0)));
        assert_eq!((at(0x100), at(WINDOW + 3)), (None, Some((data, 3, 0))));
        let (lc3, guise) = self::guise("lc3");
        let found = guise.locate(0x6001).expect("it is there");
        assert_eq!((found.memory, found.cell, found.shift), (lc3.isa().pc.memory, 0x3000, 8));
        assert_eq!((guise.code_address(0x3000), guise.code_cell(0x6000)), (0x6000, Some(0x3000)));
    }
}
