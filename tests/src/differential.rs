//! Generated programs on several engines, which must agree in everything.
//!
//! A case is a program, an input, registers to start with, and a few step limits. It is a
//! function of its seed, so a seed is all it takes to see a failure again. Programs are
//! made to run in loops over few addresses, to store into themselves, to hit undefined
//! words, devices and the ends of memories.

use std::fmt::Write;

use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{Domain, InstructionId, MemoryId, RegisterId};
use lathe_isa::operand::Location;
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

use crate::random::Random;

/// Programs that one engine runs before another is made.
const KEPT: u64 = 64;
/// The most steps of one run.
const STEPS: u64 = 4_000;

/// A program with everything that its run depends on.
#[derive(Clone, Debug)]
pub struct Case {
    /// The instructions, in order from `origin` on: encoded cells.
    pub program: Vec<Vec<u64>>,
    /// The address of the first.
    pub origin: u64,
    /// What the registers hold at first.
    pub registers: Vec<u64>,
    /// Cells of data, by memory and address.
    pub data: Vec<(MemoryId, u64, u64)>,
    /// What the console has to give.
    pub input: Vec<u8>,
    /// Steps of the runs, one after the other.
    pub limits: Vec<u64>,
}

/// What a run leaves behind.
#[derive(Debug, PartialEq)]
pub struct Outcome {
    runs: Vec<Run>,
    state: State,
    output: Vec<u8>,
}

/// The case with this seed.
pub fn generate(isa: &Isa, seed: u64) -> Case {
    let mut random = Random(seed);
    let top = isa.pc.width.mask();
    let origin = match random.below(6) {
        0 => top - random.below(8),
        1 => random.number() & top,
        _ => 0,
    };
    let longest = if random.once_in(4) { 40 } else { 12 };
    let length = 1 + random.below(longest);
    let mut generator = Generator { isa, random, origin, addresses: vec![origin], at: origin };
    let program: Vec<Vec<u64>> = (0..length).map(|_| generator.instruction()).collect();
    let Generator { mut random, addresses, .. } = generator;
    let registers = isa.registers.iter().map(|register| match random.below(5) {
        _ if register.constant => register.reset,
        0 => {
            let start = addresses[random.below(addresses.len() as u64) as usize];
            within(&mut random, start) & register.width.mask()
        }
        1 => register.reset,
        _ => random.value(register.width.bits()),
    });
    let registers = registers.collect();
    let data = (0..random.below(6)).map(|_| {
        let memory = random.below(isa.memories.len() as u64) as u32;
        let described = &isa.memories[memory as usize];
        (MemoryId(memory), random.value(described.address.bits()), random.value(described.cell.bits()))
    });
    let data = data.collect();
    let input = (0..random.below(6)).map(|_| random.value(8) as u8).collect();
    let limits = (0..1 + random.below(4)).map(|_| limit(&mut random)).collect();
    Case { program, origin, registers, data, input, limits }
}

/// The address of an instruction, or of one of its cells: a store there changes an operand.
fn within(random: &mut Random, start: u64) -> u64 {
    let inside = if random.once_in(2) { random.below(4) } else { 0 };
    start.wrapping_add(inside)
}

fn limit(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => random.below(20),
        1 => random.below(300),
        _ => random.below(STEPS),
    }
}

struct Generator<'i> {
    isa: &'i Isa,
    random: Random,
    origin: u64,
    /// Where instructions begin, the one being made included.
    addresses: Vec<u64>,
    at: u64,
}

impl Generator<'_> {
    fn instruction(&mut self) -> Vec<u64> {
        let cell = self.isa.code_memory().cell;
        let encoded = if self.random.once_in(60) {
            vec![self.random.value(cell.bits())]
        } else {
            let id = InstructionId(self.random.below(self.isa.instructions.len() as u64) as u32);
            self.encoded(id)
        };
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
        let few = self.random.once_in(2);
        let operands: Vec<u64> =
            isa.instruction(id).operands.iter().map(|field| self.operand(isa.field(*field), location, few)).collect();
        let window = encoding.encode(&operands);
        cells(window, isa.code_memory().cell).take(encoding.cells as usize).collect()
    }

    /// Bits of an operand: few different registers, and addresses near the program.
    fn operand(&mut self, field: &lathe_isa::model::Field, location: Location, few: bool) -> u64 {
        let bits = field.width.bits();
        match &field.domain {
            Domain::Registers(list) if few => self.random.below(list.len().min(4) as u64),
            Domain::Registers(list) => self.random.below(list.len() as u64),
            Domain::Names(list) => list[self.random.below(list.len() as u64) as usize].1,
            Domain::Number(_) => {
                let address = match self.random.below(8) {
                    start @ 0..=5 => {
                        let begin = self.addresses[self.random.below(self.addresses.len() as u64) as usize];
                        if start < 2 { within(&mut self.random, begin) } else { begin }
                    }
                    6 => self.origin,
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
}

/// Runs a case on one engine.
pub fn run(isa: &Isa, case: &Case, engine: &mut dyn Engine) -> Outcome {
    let mut state = State::new(isa);
    for (id, value) in (0..).map(RegisterId).zip(&case.registers) {
        if !isa.register(id).constant {
            state.set_place(isa, &lathe_isa::model::Place::whole(id, isa.register(id).width), *value);
        }
    }
    for (memory, address, value) in &case.data {
        state.memory_mut(*memory).set(*address, *value);
    }
    for (value, offset) in case.program.iter().flatten().zip(0..) {
        state.memory_mut(isa.pc.memory).set(case.origin.wrapping_add(offset), *value);
    }
    state.pc = case.origin;
    let mut devices = Devices::new(isa, Console::with_input(case.input.iter().copied()));
    let mut runs = Vec::new();
    for limit in &case.limits {
        let run = engine.run(&mut state, &mut devices, *limit);
        let goes_on = run.stop == lathe_vm::Stop::Limit;
        runs.push(run);
        if !goes_on {
            break;
        }
    }
    let output = devices.find_console().map_or(&[][..], Console::output).to_vec();
    Outcome { runs, state, output }
}

/// Whether an engine, made anew, agrees with the reference interpreter on a case.
pub fn agrees(isa: &Isa, case: &Case, engine: &mut dyn Engine) -> bool {
    run(isa, case, &mut Interpreter::new(isa)) == run(isa, case, engine)
}

/// The shortest case that still disagrees, found by leaving out instructions and runs.
pub fn shrink(isa: &Isa, case: &Case, disagrees: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for candidate in smaller(isa, &best) {
            if disagrees(&candidate) {
                best = candidate;
                changed = true;
                break;
            }
        }
    }
    best
}

fn smaller(isa: &Isa, case: &Case) -> Vec<Case> {
    let mut list = Vec::new();
    for at in 0..case.program.len() {
        let mut without = case.clone();
        without.program.remove(at);
        list.push(without);
    }
    for at in 0..case.limits.len() {
        let mut without = case.clone();
        without.limits.remove(at);
        list.push(without.clone());
        for limit in [case.limits[at] / 2, case.limits[at].saturating_sub(1)] {
            if limit < case.limits[at] {
                let mut less = case.clone();
                less.limits[at] = limit;
                list.push(less);
            }
        }
    }
    for at in 0..case.data.len() {
        let mut without = case.clone();
        without.data.remove(at);
        list.push(without);
    }
    for (at, register) in isa.registers.iter().enumerate() {
        if case.registers[at] != register.reset {
            let mut plain = case.clone();
            plain.registers[at] = register.reset;
            list.push(plain);
        }
    }
    list
}

/// A case as text: everything needed to see the failure again.
pub fn describe(isa: &Isa, case: &Case) -> String {
    let mut text =
        format!("; {} from {:#x}, limits {:?}, input {:?}\n", isa.name, case.origin, case.limits, case.input);
    for (register, value) in isa.registers.iter().zip(&case.registers) {
        if *value != register.reset {
            let _ = writeln!(text, "; {} = {value:#x}", register.name);
        }
    }
    for (memory, address, value) in &case.data {
        let _ = writeln!(text, "; {}[{address:#x}] = {value:#x}", isa.memory(*memory).name);
    }
    for cells in &case.program {
        let window = lathe_isa::encoding::window(cells.iter().copied(), isa.code_memory().cell);
        let name = isa.decode(window).map_or("undefined", |found| isa.instruction(found.instruction).syntax.mnemonic());
        let bytes: Vec<String> = cells.iter().map(|cell| format!("{cell:#04x}")).collect();
        let _ = writeln!(text, ".byte {}  ; {name}", bytes.join(", "));
    }
    text
}

/// Compares so many generated programs; the text of the shortest disagreement, if there is one.
/// `engine` makes a new engine; one is also kept over many programs, so that what it remembers
/// of one must not disturb the next.
pub fn compare<'i, E: Engine>(
    isa: &'i Isa,
    seeds: std::ops::Range<u64>,
    engine: &dyn Fn(&'i Isa) -> E,
) -> Result<(), String> {
    let mut kept = engine(isa);
    for seed in seeds {
        if seed % KEPT == 0 {
            kept = engine(isa);
        }
        let case = generate(isa, seed);
        let expected = run(isa, &case, &mut Interpreter::new(isa));
        if seed % 4 == 0 && run(isa, &case, &mut engine(isa)) != expected {
            return Err(format!("seed {seed}\n{}", shortest(isa, &case, engine)));
        }
        let found = run(isa, &case, &mut kept);
        if found != expected {
            let first = seed - seed % KEPT;
            let why = difference(isa, &expected, &found);
            let fresh = shortest(isa, &case, engine);
            return Err(format!("seed {seed}, on an engine kept since {first}\n{why}; on a fresh one:\n{fresh}"));
        }
    }
    Ok(())
}

/// The shortest case around this one on which a fresh engine disagrees, with the difference.
fn shortest<'i, E: Engine>(isa: &'i Isa, case: &Case, engine: &dyn Fn(&'i Isa) -> E) -> String {
    let mut disagrees = |case: &Case| !agrees(isa, case, &mut engine(isa));
    let shown = if disagrees(case) { shrink(isa, case, &mut disagrees) } else { case.clone() };
    let (expected, found) = (run(isa, &shown, &mut Interpreter::new(isa)), run(isa, &shown, &mut engine(isa)));
    format!("{}{}", describe(isa, &shown), difference(isa, &expected, &found))
}

fn difference(isa: &Isa, expected: &Outcome, found: &Outcome) -> String {
    let mut text = format!("; runs {:?}\n;  not {:?}\n", found.runs, expected.runs);
    let _ = writeln!(text, "; pc {:#x}, not {:#x}", found.state.pc, expected.state.pc);
    for ((register, a), b) in isa.registers.iter().zip(found.state.registers()).zip(expected.state.registers()) {
        if a != b {
            let _ = writeln!(text, "; {} = {a:#x}, not {b:#x}", register.name);
        }
    }
    for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
        let (found, expected) = (found.state.memory(id).nonzero(), expected.state.memory(id).nonzero());
        if found != expected {
            let _ = writeln!(text, "; {} differs", memory.name);
        }
    }
    if found.output != expected.output {
        let _ = writeln!(text, "; output {:?}, not {:?}", found.output, expected.output);
    }
    text
}
