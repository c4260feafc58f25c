//! An instruction whose opcode keeps changing is compiled for all of its contents so far.

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, State, Stop};

const MACHINE: &str = r#"
machine changing "Makes its first instruction another one all the time"
memory ram : u16 -> u8
pc pc : u16 in ram
register a, b, i : u16
field N : u8
instructions with cycles {
  halt   | 0x00     | 1 | halt
  inc    | 0x01     | 1 | a = a + 1
  triple | 0x02     | 2 | a = a * 3
  swap   | 0x03     | 1 | let t = a; a = b; b = t
  add N  | 0x04 {N} | 3 | a = a + zext(N)
  put N  | 0x05 {N} | 2 | ram[zext(N)] = a[7:0]
  own    | 0x06     | 1 | a = a + zext(ram[0])
  near   | 0x07     | 1 | if a[0] { pc = 2 }
  nop    | 0x08     | 1 |
  next   | 0x09     | 1 | i = i + 1; ram[0] = ram[u8(1) ++ i[7:0]]
  again  | 0x0A     | 1 | pc = 0
}
"#;

/// The second cell is an operand, or an instruction of its own. The first cell takes the opcodes from 0x100 on in turn,
/// again and again.
const PROGRAM: [u64; 5] = [0x01, 0x08, 0x08, 0x09, 0x0A];

/// The most steps that take the program through all opcodes.
const ROUND: u64 = 256 * 5;

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// A machine on the compiling engine, and the same machine on the reference interpreter.
struct Pair {
    isa: Arc<Isa>,
    jit: Jit,
    reference: Interpreter,
    found: State,
    expected: State,
}

impl Pair {
    fn new(opcodes: &[u64]) -> Pair {
        Pair::with_threshold(64, opcodes)
    }

    fn with_threshold(threshold: u32, opcodes: &[u64]) -> Pair {
        let isa = isa();
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill(PROGRAM);
        let (jit, reference) = (Jit::with_threshold(&isa, threshold), Interpreter::new(&isa));
        let mut pair = Pair { isa, jit, reference, found: state.clone(), expected: state };
        pair.set_opcodes(opcodes);
        pair
    }

    /// Sets the opcodes that come in turn from now on.
    fn set_opcodes(&mut self, opcodes: &[u64]) {
        for (at, opcode) in (0x100..0x200).zip(opcodes.iter().cycle()) {
            self.set(at, *opcode);
        }
    }

    fn set(&mut self, address: u64, value: u64) {
        for state in [&mut self.found, &mut self.expected] {
            state.memory_mut(self.isa.pc.memory).set(address, value);
        }
    }

    fn run(&mut self, limit: u64) -> Stop {
        let mut devices = Devices::new(&self.isa, Console::default());
        let run = self.jit.run(&mut self.found, &mut devices, limit);
        assert_eq!(run, self.reference.run(&mut self.expected, &mut devices, limit));
        assert!(self.found == self.expected, "{:?}, {:?}", self.found.registers(), self.expected.registers());
        run.stop
    }

    /// Returns how often compiled code is left to the interpreter in a run.
    fn interpreted(&mut self, limit: u64) -> u64 {
        let before = self.jit.statistics().interpreted;
        assert_eq!(self.run(limit), Stop::Limit);
        self.jit.statistics().interpreted - before
    }
}

#[test]
fn compiled_code_knows_the_contents() {
    let mut pair = Pair::new(&[1, 2, 3, 4, 5, 6, 7, 8]);
    pair.run(100 * ROUND);
    // These runs may stop between any two instructions.
    (17..200).for_each(|limit| drop(pair.run(limit)));
    let before = pair.jit.statistics();
    assert_eq!(pair.interpreted(100 * ROUND), 0, "{before:?}");
    let after = pair.jit.statistics();
    assert!(after.steps - before.steps > 90 * ROUND && after.given_up == 0, "{after:?}");
}

#[test]
fn contents_that_come_later_are_compiled_too() {
    // The region is left for later contents now and then, or so often that it would soon be given up.
    for (threshold, later) in [(64, [3, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]), (640, [3, 4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 1])]
    {
        let mut pair = Pair::with_threshold(threshold, &[1, 2]);
        pair.run(100 * ROUND);
        (17..200).for_each(|limit| drop(pair.run(limit)));
        pair.set_opcodes(&later);
        assert!(pair.interpreted(ROUND) > 0);
        pair.run(400 * ROUND);
        let before = pair.jit.statistics();
        assert_eq!(pair.interpreted(100 * ROUND), 0, "{before:?}");
        let after = pair.jit.statistics();
        assert!(after.steps - before.steps > 90 * ROUND, "{later:?}: {after:?}");
        assert_eq!(after.given_up, 0);
    }
}

/// The instruction has the same content whenever it is interpreted, which does not mean that it always has.
#[test]
fn one_that_is_compiled_for_others_does_not_settle() {
    let mut rarely = [1, 2].repeat(128);
    let mut pair = Pair::new(&rarely);
    pair.run(100 * ROUND);
    rarely[7] = 3;
    pair.set_opcodes(&rarely);
    let before = pair.jit.statistics().invalidations;
    (0..1_000).for_each(|_| drop(pair.run(ROUND)));
    assert_eq!(pair.jit.statistics().invalidations, before, "{:?}", pair.jit.statistics());
}

#[test]
fn an_operand_may_change_with_it() {
    let mut pair = Pair::new(&[4, 5, 1, 4]);
    for operand in [0x08, 0x80, 0x08, 0x81, 0x82] {
        pair.set(1, operand);
        // As an instruction of its own, any other operand is illegal.
        let stop = pair.run(10 * ROUND);
        assert_eq!(stop == Stop::Limit, operand == 0x08, "{operand:#x}: {stop:?}");
        (pair.found.pc, pair.expected.pc) = (0, 0);
    }
}

#[test]
fn one_that_becomes_an_end_ends_there() {
    let mut pair = Pair::new(&[1, 2, 3]);
    pair.run(100 * ROUND);
    pair.set(0x180, 0);
    assert_eq!(pair.run(100 * ROUND), Stop::Halted);
    assert_eq!(pair.found.pc, 1, "behind it");
}

/// The cell behind a volatile instruction is fetched from a cartridge. The cell below the map is no part of the
/// instruction.
#[test]
fn one_before_a_map_is_what_is_fetched() {
    let mapped = MACHINE.replace(
        "register a, b, i : u16",
        "register a, b, i : u16\nmemory rom : u8 -> u8\nmap ram with code {\n  0x0001 .. 0x00FF | rom[address[7:0]] |\n}",
    );
    let loaded = lathe_isa::load(&mapped);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let mut state = State::new(&isa);
    state.memory_mut(isa.pc.memory).fill(PROGRAM);
    let rom = lathe_isa::model::MemoryId(1);
    state.memory_mut(rom).fill([0, 0x08, 0x08, 0x09, 0x0A]);
    let opcodes = [1, 4, 2, 3].into_iter().cycle();
    (0x100..0x200).zip(opcodes).for_each(|(at, opcode)| state.memory_mut(isa.pc.memory).set(at, opcode));
    // Below the map are the operands of other instructions.
    state.memory_mut(isa.pc.memory).set(1, 0x80);
    let mut expected = state.clone();
    let mut devices = Devices::new(&isa, Console::default());
    let mut jit = Jit::with_threshold(&isa, 64);
    for limit in [10 * ROUND, 10 * ROUND, 100 * ROUND] {
        let run = jit.run(&mut state, &mut devices, limit);
        assert_eq!(run, Interpreter::new(&isa).run(&mut expected, &mut devices, limit));
        assert!(state == expected, "{:?}, {:?}", state.registers(), expected.registers());
    }
}
