//! Memories too large for one piece, in compiled code: accesses that wrap, pages that nobody has written yet, and the
//! same engine on several states.

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Place};
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

/// A machine with 2^24 cells of code and data, and as many in another memory.
const LARGE: &str = r#"
machine large "Two large memories"
memory ram : u24 -> u8 little
memory far : u24 -> u16
pc pc : u24 in ram
register a, b, step : u24
register v : u64
instructions {
  read2  | 0000 0010 | v = v + zext(ram.u16[a])
  read4  | 0000 0011 | v = v * 3 + zext(ram.u32[a])
  read8  | 0000 0100 | v = v ^ ram.u64[a]
  write2 | 0000 0101 | ram.u16[b] = v[15:0]
  write4 | 0000 0110 | ram.u32[b] = v[31:0]
  write8 | 0000 0111 | ram.u64[b] = v
  far    | 0000 1000 | far[a] = far[b] + v[15:0]
  next   | 0000 1001 | a = a + step; b = b - step
  back   | 0000 1010 | pc = 0x10; v = v + 1
  halt   | 0000 0000 | halt
}
"#;

fn large() -> Arc<Isa> {
    let loaded = lathe_isa::load(LARGE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// Returns the machine with these instructions in a loop from 0x10 on.
fn state(isa: &Isa, code: &[u64], registers: &[(&str, u64)]) -> State {
    let mut state = State::new(isa);
    (0x10..).zip(code).for_each(|(address, value)| state.memory_mut(isa.pc.memory).set(address, *value));
    state.pc = 0x10;
    for (name, value) in registers {
        let place: Place = isa.place_named(name).expect("it has such a register");
        state.set_place(isa, &place, *value);
    }
    state
}

fn run(isa: &Arc<Isa>, engine: &mut dyn Engine, state: &mut State, limit: u64) -> Run {
    engine.run(state, &mut Devices::new(isa, Console::default()), limit)
}

/// Runs the state on the engine and on the reference interpreter, which must agree.
fn agree(isa: &Arc<Isa>, jit: &mut Jit, mut state: State, limit: u64) -> State {
    let mut expected = state.clone();
    let before = jit.statistics().steps;
    let found = run(isa, jit, &mut state, limit);
    assert_eq!(found, run(isa, &mut Interpreter::new(isa), &mut expected, limit));
    assert_eq!(state, expected);
    assert!(jit.statistics().steps > before, "nothing of it was compiled");
    // Equal memories may still differ in which cells they list and copy.
    for id in [MemoryId(0), MemoryId(1)] {
        assert_eq!(state.memory(id).nonzero(), expected.memory(id).nonzero());
    }
    assert_eq!(state.clone(), expected);
    state
}

#[test]
fn wide_accesses_wrap() {
    let isa = large();
    for op in 2..=7 {
        for distance in 0..10 {
            let at = 0x100_0000 - distance;
            let registers = [("a", at), ("b", at), ("v", 0x0123_4567_89AB_CDEF)];
            let mut state = state(&isa, &[9, op, op, 10], &registers);
            state.memory_mut(isa.pc.memory).fill(0x41..0x49);
            agree(&isa, &mut Jit::with_threshold(&isa, 2), state, 500);
        }
    }
}

#[test]
fn what_is_written_before_is_read_together() {
    let isa = large();
    for offset in 0..16 {
        let registers = [("a", 0x5000), ("b", 0x5000 + offset - 8), ("v", 0x0123_4567_89AB_CDEF)];
        let code = [7, 3, 6, 4, 5, 2, 5, 3, 7, 4, 10];
        agree(&isa, &mut Jit::with_threshold(&isa, 2), state(&isa, &code, &registers), 2_000);
    }
}

#[test]
fn every_page_that_is_written_is_known() {
    let isa = large();
    let registers = [("a", 0x4000), ("b", 0xFF_4000), ("step", 0x203), ("v", u64::MAX)];
    let after = agree(&isa, &mut Jit::with_threshold(&isa, 2), state(&isa, &[9, 6, 8, 10], &registers), 4_000);
    assert!(after.memory(MemoryId(0)).nonzero().len() > 1_000);
    assert!(after.memory(MemoryId(1)).nonzero().len() > 500);
}

/// The second state has none of the pages that the first run has opened.
#[test]
fn an_engine_may_run_another_state() {
    let isa = large();
    let mut jit = Jit::with_threshold(&isa, 2);
    for start in [0x20_0000, 0x20_0000, 0x30_0000, 0x20_0008] {
        let registers = [("a", start), ("b", start), ("step", 0x100), ("v", 0x55)];
        agree(&isa, &mut jit, state(&isa, &[9, 6, 10], &registers), 1_000);
    }
}

/// Stores that run over their own code.
#[test]
fn code_in_a_large_memory_may_change() {
    let isa = large();
    for start in 0x100..0x110 {
        let registers = [("b", start), ("step", 1), ("v", 0x0A09_0906)];
        agree(
            &isa,
            &mut Jit::with_threshold(&isa, 2),
            state(&isa, &[9, 9, 2, 3, 4, 6, 2, 10, 10, 10], &registers),
            3_000,
        );
    }
}

/// Compiled code is left for the first store to every page, and is still worth keeping.
#[test]
fn opening_pages_does_not_count_against_compiled_code() {
    let isa = large();
    let mut jit = Jit::with_threshold(&isa, 2);
    // Writes to another page every time: to all 4096 pages, twice.
    let state = state(&isa, &[7, 9, 10], &[("b", 0x00FF_F800), ("step", 0x1000)]);
    let steps = 2 * 4096 * 3;
    agree(&isa, &mut jit, state, steps);
    let statistics = jit.statistics();
    assert_eq!(statistics.given_up, 0);
    assert!(statistics.interpreted > 4000 && statistics.steps > steps / 2, "{statistics:?}");
}
