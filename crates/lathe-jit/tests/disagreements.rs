//! Programs on which the engines once did not agree.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

fn load(definition: &str) -> Arc<Isa> {
    let loaded = lathe_isa::load(definition);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// Runs a program, each limit on the next engine in turn, and compares with the reference interpreter.
fn agree(isa: &Arc<Isa>, engines: &mut [Box<dyn Engine>], program: &[u64], limits: &[u64]) {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(program.iter().copied());
    let mut expected = state.clone();
    let mut devices = Devices::new(isa, Console::default());
    let mut reference = Interpreter::new(isa);
    for (at, limit) in limits.iter().enumerate() {
        let engine = at % engines.len();
        let run = engines[engine].run(&mut state, &mut devices, *limit);
        assert_eq!(run, reference.run(&mut expected, &mut devices, *limit), "run {at}");
        assert!(state == expected, "run {at}");
        let (found, wanted) = (state.memory(isa.pc.memory), expected.memory(isa.pc.memory));
        assert_eq!(found.nonzero(), wanted.nonzero(), "run {at}");
    }
}

fn fast(isa: &Arc<Isa>) -> Box<dyn Engine> {
    Box::new(Fast::eager(isa))
}

fn jit(isa: &Arc<Isa>) -> Box<dyn Engine> {
    Box::new(Jit::with_threshold(isa, 2))
}

/// An engine that has not provided the room for a large memory has no permits, and still must record which pages it
/// writes.
#[test]
fn a_state_with_a_large_memory_goes_from_engine_to_engine() {
    let isa = load(
        r#"
machine large "A large code memory"
memory ram : u24 -> u8
pc pc : u24 in ram
register a, n : u24
field T : u8
instructions {
  halt    | 0x00     | halt
  put     | 0x01     | ram[a] = 7
  add     | 0x02     | a = a + 0x1000
  count   | 0x03     | n = n + 1
  again T | 0x04 {T} | pc = zext(T)
}
"#,
    );
    let program = [3, 2, 1, 3, 4, 0];
    agree(&isa, &mut [jit(&isa), fast(&isa)], &program, &[100, 200, 300, 400]);
    agree(&isa, &mut [jit(&isa), Box::new(Jit::new(&isa))], &program, &[100, 200, 300, 400]);
    agree(&isa, &mut [jit(&isa), jit(&isa), fast(&isa)], &program, &[100, 200, 300, 400, 20, 30, 500]);
}

/// A narrow sum that always wraps differs from the wide sum of its terms.
#[test]
fn a_narrow_sum_may_wrap_always() {
    let isa = load(
        r#"
machine sums "Sums that wrap for sure"
memory ram : u8 -> u8
pc pc : u8 in ram
register b, c, d : u8
register a : u16
instructions {
  halt  | 0x00 | halt
  sum   | 0x01 | let p = u4(8) ++ b[3:0]; let q = u4(8) ++ c[3:0]; let low : u8 = p + q + zext(d[1:0]); let high : u16 = zext(d[7:2] ++ u2(0)); a = a * 3 + (zext(low) + high)
  next  | 0x02 | b = b + 7; c = c + 5; d = d + 3
  again | 0x03 | pc = 0
}
"#,
    );
    for engine in [fast, jit] {
        agree(&isa, &mut [engine(&isa)], &[1, 2, 3], &[17, 100, 1_000]);
    }
}

/// The count of cycles wraps.
#[test]
fn cycles_may_be_very_many() {
    let isa = load(
        r#"
machine patient "Cycles that reach the end"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u64
instructions with cycles {
  halt  | 0x00 | 1 | halt
  wait  | 0x01 | 1 | cycles + a
  next  | 0x02 | 1 | a = ~a
  again | 0x03 | 1 | pc = 0
}
"#,
    );
    for engine in [fast, jit] {
        agree(&isa, &mut [engine(&isa)], &[2, 1, 3], &[50, 100, 1_000]);
    }
}
