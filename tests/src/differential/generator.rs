//! Generated programs. They tend to run in loops over few addresses, to store into themselves, to name one register
//! twice, to hit undefined words, devices, stacks that wrap and the ends of memories, and to stop anywhere.

use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Domain, Field, FieldId, InstructionId, MemoryId};
use lathe_isa::operand::Location;
use lathe_isa::semantics::Statement;

use super::Case;
use crate::random::Random;

/// The most steps of one run.
const STEPS: u64 = 4_000;
/// Steps of a short run: more than are left to the reference interpreter, but few enough to end in the middle of a
/// region.
const SHORT: std::ops::Range<u64> = 17..80;
/// Instructions of a program that does not fit into one region.
const LARGE: std::ops::Range<u64> = 200..1_500;

/// Returns the case with this seed.
pub fn generate(isa: &Isa, seed: u64) -> Case {
    let mut random = Random(seed);
    let top = isa.pc.width.mask();
    let origin = match random.below(6) {
        0 => top - random.below(8),
        1 => random.number() & top,
        _ => 0,
    };
    let length = match random.below(200) {
        0 => random.within(LARGE).min(top / 4),
        1..50 => 1 + random.below(40),
        _ => 1 + random.below(12),
    };
    let edges = edges(isa);
    let jumps = jumps(isa);
    let mut generator = Generator { isa, random, origin, addresses: vec![origin], at: origin, edges, jumps };
    let mut program: Vec<Vec<u64>> = (0..length).map(|_| generator.instruction()).collect();
    if !generator.jumps.is_empty() && !generator.random.once_in(4) {
        let ways = 1 + generator.random.below(3);
        program.extend((0..ways).map(|_| generator.way_back()));
    }
    let registers = (0..isa.registers.len()).map(|at| generator.register(at)).collect::<Vec<u64>>();
    let data = generator.data(&registers);
    let Generator { mut random, .. } = generator;
    let input = (0..random.below(6)).map(|_| random.value(8) as u8).collect();
    let limits = limits(&mut random);
    Case { program, origin, registers, data, input, limits }
}

/// Returns limits for runs of all lengths, or for many short ones; everything is compared after each.
fn limits(random: &mut Random) -> Vec<u64> {
    if random.once_in(4) {
        let first = random.below(400);
        let short = (0..1 + random.below(16)).map(|_| random.within(SHORT));
        return std::iter::once(first).chain(short).collect();
    }
    let one = |random: &mut Random| match random.below(4) {
        0 => random.below(20),
        1 => random.below(300),
        _ => random.below(STEPS),
    };
    (0..1 + random.below(4)).map(|_| one(random)).collect()
}

/// Returns addresses at which something else begins: maps, and the ends of memories.
fn edges(isa: &Isa) -> Vec<u64> {
    let mapped =
        isa.maps.iter().flat_map(|map| [map.first, map.last, map.first.wrapping_sub(1), map.last.wrapping_add(1)]);
    mapped.chain([0, isa.pc.width.mask()]).collect()
}

/// Returns the instructions that may jump.
fn jumps(isa: &Isa) -> Vec<InstructionId> {
    let all = (0..isa.instructions.len() as u32).map(InstructionId);
    all.filter(|id| isa.instruction(*id).body.block.iter().any(can_jump)).collect()
}

fn can_jump(statement: &Statement) -> bool {
    match statement {
        Statement::Jump(_) => true,
        Statement::If { then, otherwise, .. } => then.iter().chain(otherwise).any(can_jump),
        _ => false,
    }
}

struct Generator<'i> {
    isa: &'i Isa,
    random: Random,
    origin: u64,
    /// The addresses of instructions, including the one being made.
    addresses: Vec<u64>,
    at: u64,
    edges: Vec<u64>,
    jumps: Vec<InstructionId>,
}

impl Generator<'_> {
    fn instruction(&mut self) -> Vec<u64> {
        let cell = self.isa.code_memory().cell;
        let encoded = if self.random.once_in(100) {
            vec![self.random.value(cell.bits())]
        } else {
            let id = InstructionId(self.random.below(self.isa.instructions.len() as u64) as u32);
            self.encoded(id)
        };
        self.placed(encoded)
    }

    /// Returns a jump, which as likely as not closes a loop: code that runs once is not compiled.
    fn way_back(&mut self) -> Vec<u64> {
        let id = *self.random.pick(&self.jumps);
        let encoded = self.encoded(id);
        self.placed(encoded)
    }

    fn placed(&mut self, encoded: Vec<u64>) -> Vec<u64> {
        self.at = self.isa.pc.width.wrap(self.at.wrapping_add(encoded.len() as u64));
        self.addresses.push(self.at);
        encoded
    }

    fn encoded(&mut self, id: InstructionId) -> Vec<u64> {
        let isa = self.isa;
        let encoding = &isa.instruction(id).encoding;
        let width = isa.pc.width;
        let next = width.wrap(self.at.wrapping_add(u64::from(encoding.cells)));
        let location = Location { pc: self.at, next, width };
        let (few, alias) = (self.random.once_in(2), self.random.once_in(4));
        let mut before: Option<(FieldId, u64)> = None;
        let mut operands = Vec::new();
        for field in &isa.instruction(id).operands {
            let is_register = matches!(isa.field(*field).domain, Domain::Registers(_));
            // The same register in two operands of an instruction.
            let same = before.filter(|(other, _)| alias && is_register && is_alike(isa, *other, *field));
            let bits = same.map_or_else(|| self.operand(isa.field(*field), location, few), |(_, bits)| bits);
            before = Some((*field, bits));
            operands.push(bits);
        }
        let window = encoding.encode(&operands);
        cells(window, isa.code_memory().cell).take(encoding.cells as usize).collect()
    }

    /// Returns the bits of an operand: few different registers, and addresses near the program.
    fn operand(&mut self, field: &Field, location: Location, few: bool) -> u64 {
        let bits = field.width.bits();
        match &field.domain {
            Domain::Registers(list) if few => self.random.below(list.len().min(4) as u64),
            Domain::Registers(list) => self.random.below(list.len() as u64),
            Domain::Names(list) => self.random.pick(list).1,
            Domain::Values(values) => self.random.below(values.list.len() as u64),
            Domain::Number(_) => {
                let address = match self.random.below(16) {
                    0..4 => self.inside(),
                    4..11 => *self.random.pick(&self.addresses),
                    11 => self.origin,
                    12 | 13 => *self.random.pick(&self.edges),
                    _ => location.next.wrapping_add(self.random.below(6)),
                };
                let near = field.bits_for_address(location.width.wrap(address), location);
                match near {
                    Some(bits) if !self.random.once_in(4) => bits,
                    _ => self.random.value(bits),
                }
            }
        }
    }

    /// Returns the address of an instruction, or of one of its cells: a store there changes an operand.
    fn inside(&mut self) -> u64 {
        let start = *self.random.pick(&self.addresses);
        let inside = if self.random.once_in(2) { self.random.below(4) } else { 0 };
        start.wrapping_add(inside)
    }

    /// Returns the first content of a register: often an address of the program, or a part of one where an address
    /// takes two registers.
    fn register(&mut self, at: usize) -> u64 {
        let register = &self.isa.registers[at];
        let bits = register.width.bits();
        let value = match self.random.below(8) {
            _ if register.constant => register.reset,
            0 if bits < self.isa.pc.width.bits() => self.inside() >> bits,
            0 | 1 => self.inside(),
            2 => *self.random.pick(&self.edges),
            3 => register.reset,
            _ => self.random.value(bits),
        };
        value & register.width.mask()
    }

    /// Returns cells of data: anything anywhere, and addresses of the program where registers point, for instructions
    /// that return or jump to an address that they read.
    fn data(&mut self, registers: &[u64]) -> Vec<(MemoryId, u64, u64)> {
        let isa = self.isa;
        let mut data = Vec::new();
        for _ in 0..self.random.below(6) {
            let memory = MemoryId(self.random.below(isa.memories.len() as u64) as u32);
            let described = isa.memory(memory);
            let at = self.random.value(described.address.bits());
            data.push((memory, at, self.random.value(described.cell.bits())));
        }
        for _ in 0..self.random.below(4).min(registers.len() as u64) {
            let memory = MemoryId(self.random.below(isa.memories.len() as u64) as u32);
            let described = isa.memory(memory);
            let page = if self.random.once_in(2) { 0x100 } else { 0 };
            let at = self.random.pick(registers).wrapping_add(page);
            let (target, cell) = (*self.random.pick(&self.addresses), described.cell);
            let (low, high) = (cell.wrap(target), cell.wrap(target.checked_shr(cell.bits()).unwrap_or(0)));
            let pair = if self.random.once_in(2) { [low, high] } else { [high, low] };
            let wrap = |at: u64| described.address.wrap(at);
            data.extend(
                pair.into_iter().zip(0..).map(|(value, offset)| (memory, wrap(at.wrapping_add(offset)), value)),
            );
        }
        data
    }
}

/// Whether two fields name registers from lists of the same length, so that the same bits are mostly the same register.
fn is_alike(isa: &Isa, one: FieldId, other: FieldId) -> bool {
    match (&isa.field(one).domain, &isa.field(other).domain) {
        (Domain::Registers(one), Domain::Registers(other)) => one.len() == other.len(),
        _ => false,
    }
}
