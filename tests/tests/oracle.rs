//! The reference interpreter against the hand-written models in `oracle`, one step at a time: random states for every
//! first byte, values biased to the edges, aliased registers, pointers at the wrap, stores into the next instruction.
//!
//! `LATHE_STATES` sets how many states each first byte gets (2,000 if not set, 10,000 in `cargo xtask nightly`), and
//! `LATHE_SEED` where the random numbers start.

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Status};
use lathe_tests::random::Random;
use lathe_vm::{Console, Devices, Engine, Interpreter, State, Stop};
use oracle::Model;

/// One machine twice: as the definition and as the oracle describe it.
struct Pair {
    isa: Arc<Isa>,
    interpreter: Interpreter,
    model: Box<dyn Model>,
    state: State,
    /// Cells that are not zero in both, to be cleared before the next case.
    dirty: Vec<(usize, u64)>,
}

impl Pair {
    fn new(name: &str) -> Pair {
        let machine = lathe_machines::find(name).expect("the machine ships");
        let isa = Arc::new(
            lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right"),
        );
        let model = oracle::by_name(name).expect("the oracle knows it");
        let (interpreter, state) = (Interpreter::new(&isa), State::new(&isa));
        Pair { isa, interpreter, model, state, dirty: Vec::new() }
    }

    fn set_cell(&mut self, memory: usize, address: u64, value: u64) {
        let name = self.model.memories()[memory].0;
        let address = address % self.model.memories()[memory].1 as u64;
        self.model.memory_mut(name)[address as usize] = value as u8;
        self.state.memory_mut(MemoryId(memory as u32)).set(address, value);
        self.dirty.push((memory, address));
    }

    fn set_register(&mut self, name: &str, value: u64) {
        self.model.set_register(name, value);
        if name == self.isa.pc.name {
            self.state.pc = value;
        } else {
            let place = self.isa.place_named(name).expect("the register has the oracle's name");
            self.state.set_place(&self.isa, &place, value);
        }
    }

    fn clear(&mut self) {
        for (memory, address) in std::mem::take(&mut self.dirty) {
            let name = self.model.memories()[memory].0;
            self.model.memory_mut(name)[address as usize] = 0;
            self.state.memory_mut(MemoryId(memory as u32)).set(address, 0);
        }
    }

    fn register(&self, name: &str) -> u64 {
        if name == self.isa.pc.name {
            return self.state.pc;
        }
        self.state.place(&self.isa.place_named(name).expect("the register exists"))
    }

    /// Does one step on both sides and compares everything.
    fn step(&mut self, input: &[u8], describe: &dyn Fn() -> String) {
        let mut console = oracle::Console::with_input(input);
        let outcome = self.model.step(&mut console);
        let mut devices = Devices::new(&self.isa, Console::with_input(input.iter().copied()));
        let step = self.interpreter.step(&mut self.state, &mut devices);
        let expected = match outcome {
            oracle::Outcome::Running => Status::Running,
            oracle::Outcome::Halted => Status::Halted,
            oracle::Outcome::Fault(_) => Status::Fault,
        };
        assert_eq!(step.status(), expected, "status {:?}, {}", step.stop, describe());
        for (name, _) in self.model.registers() {
            assert_eq!(self.register(name), self.model.register(name), "register {name}, {}", describe());
        }
        let touched: Vec<(usize, u64)> = self.model.touched().iter().map(|(m, a)| (*m, u64::from(*a))).collect();
        self.dirty.extend(touched);
        for (memory, address) in &self.dirty {
            let expected = u64::from(self.model.memory(self.model.memories()[*memory].0)[*address as usize]);
            let found = self.state.memory(MemoryId(*memory as u32)).get(*address);
            assert_eq!(found, expected, "memory {memory} at {address:04X}, {}", describe());
        }
        let output = devices.find_console().map_or(&[][..], Console::output);
        assert_eq!(output, console.output, "output, {}", describe());
    }

    /// Compares both memories whole: nothing was written that the oracle does not know of.
    fn compare_memories(&self) {
        for (memory, (name, _)) in self.model.memories().iter().enumerate() {
            let expected = self.model.memory(name).iter().map(|cell| u64::from(*cell)).zip(0u64..);
            let expected: Vec<(u64, u64)> =
                expected.filter(|(cell, _)| *cell != 0).map(|(cell, at)| (at, cell)).collect();
            assert_eq!(self.state.memory(MemoryId(memory as u32)).nonzero(), expected, "memory {name}");
        }
    }
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn random_steps(name: &str) {
    let (states, seed) = (number("LATHE_STATES", 2_000), number("LATHE_SEED", 1));
    let mut pair = Pair::new(name);
    for opcode in 0..256u64 {
        for case in 0..states {
            let seed = seed ^ (opcode << 32) ^ (case << 40) ^ case;
            let mut random = Random(seed);
            prepare(&mut pair, opcode, &mut random);
            let input: Vec<u8> = (0..random.below(4)).map(|_| random.number() as u8).collect();
            pair.step(&input, &|| {
                format!("{name} opcode {opcode:02X} case {case} (LATHE_SEED={})", number("LATHE_SEED", 1))
            });
            if case % 1_000 == 0 {
                pair.compare_memories();
            }
            pair.clear();
        }
    }
    println!("{name}: {} states compared", 256 * states);
}

/// Prepares a random state with the opcode at pc: sometimes equal registers, pointers near the code, all operand bytes
/// random.
fn prepare(pair: &mut Pair, opcode: u64, random: &mut Random) {
    let shared = random.value(16);
    let registers: Vec<_> = pair.model.registers().to_vec();
    let mut pc = 0;
    for (register, width) in registers {
        let mask = u64::MAX >> (64 - width);
        let value = match random.below(6) {
            0 => shared & mask,
            1 => pc & mask,
            2 => (pc + random.below(5)) & mask,
            _ => random.value(width),
        };
        pair.set_register(register, value);
        if register == pair.isa.pc.name {
            pc = value;
        }
    }
    let code = pair.isa.pc.memory.index();
    let data = pair.model.memories().len() - 1;
    for _ in 0..random.below(8) {
        let (address, value) = (random.value(16), random.value(8));
        pair.set_cell(data, address, value);
    }
    let pointers =
        ["sp", "rs"].map(|name| pair.model.registers().iter().any(|(known, _)| *known == name).then_some(name));
    for pointer in pointers.into_iter().flatten() {
        let base = pair.model.register(pointer);
        for offset in 0..random.below(40) {
            let value = random.value(8);
            pair.set_cell(data, base.wrapping_add(offset), value);
        }
    }
    pair.set_cell(code, pc, opcode);
    for offset in 1..4 {
        let value = if random.below(4) == 0 { 0 } else { random.value(8) };
        pair.set_cell(code, pc.wrapping_add(offset), value);
    }
}

#[test]
fn quad8_random_states() {
    random_steps("quad8");
}

#[test]
fn duo16_random_states() {
    random_steps("duo16");
}

#[test]
fn stack8a_random_states() {
    random_steps("stack8a");
}

#[test]
fn stack8b_random_states() {
    random_steps("stack8b");
}

#[test]
fn hex8_random_states() {
    random_steps("hex8");
}

/// Compares one instruction for all pairs of byte operands and, with `flags`, both values of carry.
fn all_pairs(pair: &mut Pair, code: &[u64], place: &dyn Fn(&mut Pair, u64, u64, u64), flags: u64) {
    for x in 0..256 {
        for y in 0..256 {
            for flag in 0..flags {
                let memory = pair.isa.pc.memory.index();
                pair.set_register("pc", 0x10);
                for (offset, cell) in code.iter().enumerate() {
                    pair.set_cell(memory, 0x10 + offset as u64, *cell);
                }
                place(pair, x, y, flag);
                pair.step(&[], &|| format!("{code:02X?} x={x:02X} y={y:02X} flag={flag}"));
                pair.clear();
            }
        }
    }
}

#[test]
fn hex8_operations_exhaustively() {
    let mut pair = Pair::new("hex8");
    for operation in 0..16 {
        let place = |pair: &mut Pair, x, y, _| {
            pair.set_register("r3", x);
            pair.set_register("r5", y);
        };
        all_pairs(&mut pair, &[0xF0 | operation, 0x35], &place, 1);
        let immediate = |pair: &mut Pair, x, y, _| {
            pair.set_register("r5", x);
            pair.set_cell(0, 0x12, y);
        };
        all_pairs(&mut pair, &[0xE0 | operation, 0x35], &immediate, 1);
    }
}

#[test]
fn quad8_operations_exhaustively() {
    let mut pair = Pair::new("quad8");
    for code in [0x10, 0x60, 0x70, 0x80, 0x81, 0x40, 0x41, 0x42, 0x43, 0xC0, 0xF3] {
        let place = |pair: &mut Pair, x, y, _| {
            pair.set_register("b", x);
            pair.set_register("c", y);
        };
        all_pairs(&mut pair, &[code | 0b0110], &place, 1);
    }
}

#[test]
fn stack_operations_exhaustively() {
    for name in ["stack8a", "stack8b"] {
        let mut pair = Pair::new(name);
        let unary_and_binary = (0x19..=0x34).chain(0xC0..=0xF0);
        for code in unary_and_binary.filter(|code| ![0x16, 0x18].contains(code)) {
            let place = |pair: &mut Pair, x, y, flag| {
                pair.set_register("sp", 0x80);
                pair.set_register("carry", flag);
                pair.set_cell(1, 0x80, y);
                pair.set_cell(1, 0x81, x);
            };
            all_pairs(&mut pair, &[code], &place, 2);
        }
    }
}

#[test]
fn duo16_byte_operations_exhaustively() {
    let mut pair = Pair::new("duo16");
    for code in [0x41, 0x43, 0x45, 0x47, 0x49, 0x4B, 0x4D, 0x4F, 0x51, 0x53] {
        let place = |pair: &mut Pair, x, y, flag| {
            pair.set_register("r3", x | (y << 8));
            for name in ["zero", "sign", "overflow", "carry"] {
                pair.set_register(name, flag);
            }
        };
        // Three operands: r1l, r3l, r3h. Four: r1l, r2l, r3l, r3h.
        let bytes: &[u64] = if code < 0x51 { &[code, 0x15, 0x60] } else { &[code, 0x13, 0x56] };
        all_pairs(&mut pair, bytes, &place, 2);
    }
}

/// The faults' details, which the comparison of outcomes ignores: an undefined byte, and a trap.
#[test]
fn faults_say_what_happened() {
    for (name, cell) in [("quad8", 0xBF), ("stack8a", 0x03)] {
        let pair = Pair::new(name);
        let mut state = State::new(&pair.isa);
        state.memory_mut(pair.isa.pc.memory).set(0, cell);
        let mut devices = Devices::new(&pair.isa, Console::default());
        let run = Interpreter::new(&pair.isa).run(&mut state, &mut devices, 10);
        let cause = lathe_vm::FaultCause::Undefined;
        assert_eq!(run.stop, Stop::Fault(lathe_vm::Fault { pc: 0, cause }));
        assert_eq!(run.steps, 0);
    }
}
