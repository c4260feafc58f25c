//! Hooks, which run between instructions, do not keep a machine from being compiled.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

/// Pulls flags, which decide whether an interrupt is due, from memory in every round of a loop.
const PULLING: &str = r#"
machine pulling "An interrupt that a flag allows"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, n : u8
register irq, mask, c : u1
constant none : u1 = 0
view p = none ++ none ++ none ++ none ++ none ++ irq ++ mask ++ c
on step when irq && !mask { pc = 0x80; mask = 1 }
instructions {
  inc   | 0x01 | n = n + 1
  plp   | 0x02 | p = ram[0x40 + zext(n[1:0])]
  again | 0x03 | pc = 0
}
"#;

/// Counts before every instruction.
const COUNTING: &str = r#"
machine counting "A refresh counter"
memory ram : u8 -> u8
pc pc : u8 in ram
register n : u8
register r : u7
on step { r = r + 1 }
instructions {
  inc   | 0x01 | n = n + 1
  see   | 0x02 | n = n + zext(r)
  again | 0x03 | pc = 0
}
"#;

const STEPS: u64 = 100_000;

fn load(text: &str) -> Arc<Isa> {
    let loaded = lathe_isa::load(text);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

fn run(isa: &Isa, engine: &mut dyn Engine, flags: &[u64]) -> (Run, State) {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill([1, 2, 1, 1, 3]);
    for (flags, address) in flags.iter().zip(0x40..) {
        state.memory_mut(isa.pc.memory).set(address, *flags);
    }
    for (code, address) in [1, 3].into_iter().zip(0x80..) {
        state.memory_mut(isa.pc.memory).set(address, code);
    }
    let mut devices = Devices::new(isa, Console::default());
    let run = engine.run(&mut state, &mut devices, STEPS);
    (run, state)
}

/// Asserts that all engines do the same. Returns how many steps compiled code did.
fn compiled_steps(isa: &Arc<Isa>, flags: &[u64]) -> u64 {
    let expected = run(isa, &mut Interpreter::new(isa), flags);
    assert_eq!(run(isa, &mut Fast::eager(isa), flags), expected);
    let mut jit = Jit::with_threshold(isa, 10);
    assert_eq!(run(isa, &mut jit, flags), expected);
    jit.statistics().steps
}

#[test]
fn an_instruction_that_could_allow_an_interrupt_is_compiled() {
    let isa = load(PULLING);
    let steps = compiled_steps(&isa, &[0b010, 0b011, 0b000, 0b111]);
    assert!(steps > STEPS * 9 / 10, "{steps}");
}

#[test]
fn an_interrupt_comes_where_it_is_due() {
    let isa = load(PULLING);
    compiled_steps(&isa, &[0b010, 0b100, 0b000, 0b111]);
    compiled_steps(&isa, &[0b101, 0b101, 0b101, 0b101]);
}

#[test]
fn what_is_done_before_every_instruction_is_compiled_with_it() {
    let isa = load(COUNTING);
    let steps = compiled_steps(&isa, &[]);
    assert!(steps > STEPS * 9 / 10, "{steps}");
}

/// Somebody else requests an interrupt between two runs. It comes before the next instruction, and then compiled code
/// goes on.
#[test]
fn an_interrupt_that_is_asked_for_between_two_runs_comes_at_once() {
    let isa = load(PULLING);
    let register = |name: &str| isa.registers.iter().position(|register| register.name == name).expect("it has one");
    let (irq, mask) = (register("irq"), register("mask"));
    let run = |engine: &mut dyn Engine| {
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill([1, 1, 3]);
        state.memory_mut(isa.pc.memory).set(0x80, 3);
        let mut devices = Devices::new(&isa, Console::default());
        let first = engine.run(&mut state, &mut devices, STEPS);
        state.registers_mut()[irq] = 1;
        let second = engine.run(&mut state, &mut devices, STEPS);
        assert_eq!(state.registers()[mask], 1, "it has come");
        (first, second, state)
    };
    let expected = run(&mut Interpreter::new(&isa));
    assert!(run(&mut Fast::eager(&isa)) == expected);
    let mut jit = Jit::with_threshold(&isa, 10);
    assert!(run(&mut jit) == expected);
    let steps = jit.statistics().steps;
    assert!(steps > 2 * STEPS * 9 / 10, "{steps}");
}
