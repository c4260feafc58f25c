//! What a region assumes when it is compiled may cease to hold: cells get marks, a mode changes. And cells that both
//! ways of a branch write are written once.

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::{Place, RegisterId};
use lathe_jit::{Jit, SharedCode};
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

const MACHINE: &str = r#"
machine assumed "A stack in a page of its own, and a mode"
memory ram : u16 -> u8
pc pc : u16 in ram
register a, b : u16
register s, v=0x0A : u8
register d : u1
field N : u8
instructions {
  halt    | 0000 0000          | halt
  add N   | 0000 0001 NNNNNNNN | a = d ? a - zext(N) : a + zext(N)
  dec     | 0000 0010          | b = b - 1
  loop N  | 0000 0011 NNNNNNNN | if b != 0 { pc = zext(N) }
  mode N  | 0000 0100 NNNNNNNN | d = N[0]
  flip    | 0000 0101          | v = v ^ 1
  set N   | 0000 0110 NNNNNNNN | b = zext(N) << 4
  push    | 0000 0111          | ram[0x100 + zext(s)] = v; s = s - 1
  go      | 0000 1000          | pc = 0x100 + zext(s + 1)
  turn    | 0000 1001          | d = !d
  home    | 0000 1010          | a = a + 1; pc = 0
  away    | 0000 1011          | a = a + 0x100; pc = 0
  put N   | 0000 1100 NNNNNNNN | ram[zext(N)] = a[7:0]
  hop N   | 0000 1101 NNNNNNNN | if a[0] { pc = zext(N) }
  mix     | 0000 1110          | a = a * 0x6255 + 0x3619
  get N   | 0000 1111 NNNNNNNN | a = a + zext(ram[zext(N) + zext(b[3:0])])
  sum N   | 0001 0000 NNNNNNNN | a = a + zext(ram[zext(N)])
}
"#;

/// Adds 3 `b` times.
const ADDS: &[u64] = &[1, 3, 2, 3, 0, 0];

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

fn loaded(isa: &Isa, program: &[u64]) -> State {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(program.iter().copied());
    state
}

fn set(isa: &Isa, state: &mut State, register: u32, value: u64) {
    let id = RegisterId(register);
    state.set_place(isa, &Place::whole(id, isa.register(id).width), value);
}

/// Runs from the beginning in one mode.
fn run_in_mode(isa: &Arc<Isa>, engine: &mut dyn Engine, state: &mut State, mode: u64) -> Run {
    set(isa, state, 1, 1_000);
    set(isa, state, 4, mode);
    state.pc = 0;
    engine.run(state, &mut Devices::new(isa, Console::default()), 100_000)
}

/// Runs in slices on the JIT and on the reference interpreter, which must agree after each.
fn agrees(isa: &Arc<Isa>, engine: &mut Jit, program: &[u64]) {
    let mut reference = Interpreter::new(isa);
    let (mut state, mut expected) = (loaded(isa, program), loaded(isa, program));
    [&mut state, &mut expected].into_iter().for_each(|state| set(isa, state, 1, 1_000));
    let mut devices = Devices::new(isa, Console::default());
    for slice in 0..40 {
        let run = engine.run(&mut state, &mut devices, 1_000 + 77 * slice);
        assert_eq!(run, reference.run(&mut expected, &mut devices, 1_000 + 77 * slice), "slice {slice}");
        assert_eq!(state, expected, "slice {slice}");
    }
    assert!(engine.statistics().steps > 10_000, "it is compiled");
}

#[test]
fn cells_that_get_marked_are_looked_at() {
    let isa = isa();
    // Fills the page with an instruction that goes back to the beginning, with another one in every round, and jumps
    // there. The target is unknown until the jump has been executed.
    let program = [5, 6, 16, 7, 2, 3, 3, 8];
    let mut engine = Jit::with_threshold(&isa, 50);
    agrees(&isa, &mut engine, &program);
    assert!(engine.statistics().regions > 1, "the first was made before anything was decoded there");
}

#[test]
fn a_machine_with_other_marks_does_not_share_the_region() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 50);
    let program = [5, 6, 16, 7, 2, 3, 3, 8];
    for _ in 0..3 {
        agrees(&isa, &mut Jit::sharing(&code), &program);
    }
}

#[test]
fn a_region_for_one_mode_is_not_run_in_another() {
    let isa = isa();
    let (mut engine, mut reference) = (Jit::with_threshold(&isa, 50), Interpreter::new(&isa));
    let (mut state, mut expected) = (loaded(&isa, ADDS), loaded(&isa, ADDS));
    for mode in [0, 0, 1, 0, 1, 1, 0].into_iter().cycle().take(70) {
        let run = run_in_mode(&isa, &mut engine, &mut state, mode);
        assert_eq!(run, run_in_mode(&isa, &mut reference, &mut expected, mode));
        assert_eq!(state, expected);
    }
    // Once both modes have been seen often enough, the region is compiled for both.
    assert_eq!(engine.statistics().regions, 2);
    let before = engine.statistics().steps;
    [0, 1].into_iter().for_each(|mode| drop(run_in_mode(&isa, &mut engine, &mut state, mode)));
    assert!(engine.statistics().steps - before > 5_000);
}

#[test]
fn machines_in_different_modes_share_what_fits() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 50);
    let mut reference = Interpreter::new(&isa);
    let mut shared = 0;
    for mode in [0, 1, 0, 1] {
        let mut engine = Jit::sharing(&code);
        let (mut state, mut expected) = (loaded(&isa, ADDS), loaded(&isa, ADDS));
        run_in_mode(&isa, &mut engine, &mut state, mode);
        run_in_mode(&isa, &mut reference, &mut expected, mode);
        assert_eq!(state, expected);
        shared += engine.statistics().shared;
    }
    assert_eq!(shared, 2);
}

#[test]
fn a_mode_that_the_region_itself_changes_is_none() {
    let isa = isa();
    // Programs that turn the mode every time, set it to its present value, or set it to another.
    for turning in [[9, 1, 3, 2, 3, 0, 0], [1, 3, 9, 2, 3, 0, 0]] {
        agrees(&isa, &mut Jit::with_threshold(&isa, 50), &endless(&turning));
    }
    for mode in [0, 1] {
        agrees(&isa, &mut Jit::with_threshold(&isa, 50), &endless(&[1, 3, 4, mode, 2, 3, 0]));
    }
}

/// Makes a program begin again instead of halting; `home` leads to 0.
fn endless(program: &[u64]) -> Vec<u64> {
    program.iter().copied().chain([10]).collect()
}

#[test]
fn a_cell_that_is_written_on_both_ways_is_written_once() {
    let isa = isa();
    // `put`, then a branch over another `put` to the same cell, which is read in the end.
    let plain = [14, 12, 0x85, 13, 8, 14, 12, 0x85, 15, 0x80, 2, 3, 0];
    // The same with a `get` before the second `put`, from cells that include the written one.
    let reading = |base| [14, 12, 0x85, 13, 10, 15, base, 14, 12, 0x85, 2, 15, 0x80, 3, 0];
    // And with a `get` after it.
    let reading_after = |base| [14, 12, 0x85, 13, 10, 14, 12, 0x85, 15, base, 2, 15, 0x80, 3, 0];
    // And with a read of the cell where the written value is known.
    let known = [14, 12, 0x85, 13, 8, 14, 12, 0x85, 16, 0x85, 2, 3, 0];
    let programs = [&plain[..], &known, &reading(0x80), &reading(0x90), &reading_after(0x80), &reading_after(0x90)];
    for program in programs {
        agrees(&isa, &mut Jit::with_threshold(&isa, 50), &endless(program));
    }
}

/// Code compiled for one mode goes on in another: the engine must not find it hot at the same address for ever.
#[test]
fn a_hot_loop_goes_on_in_another_mode() {
    let machine = lathe_machines::find("mos6502").expect("it ships");
    let isa = Arc::new(lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("it is right"));
    // loop: adc #1; dex; bne loop; sed; jmp loop
    let program = [0x69, 0x01, 0xCA, 0xD0, 0xFB, 0xF8, 0x4C, 0x00, 0x00];
    let run = |engine: &mut dyn Engine| {
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill(program);
        state.pc = 0;
        let run = engine.run(&mut state, &mut Devices::new(&isa, Console::default()), 20_000);
        (run, state)
    };
    let expected = run(&mut Interpreter::new(&isa));
    assert_eq!(run(&mut Jit::with_threshold(&isa, 10)), expected);
}
