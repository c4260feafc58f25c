//! Programs that do not fit into one region run compiled all the same: long loops, and computed jumps with many
//! targets, with targets that turn up late, and with effects of their own.

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_jit::{Jit, Statistics};
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

const MACHINE: &str = r#"
machine chain "Long loops and tables of routines"
memory ram : u16 -> u8
pc pc : u16 in ram
register a   : u16
register b   : u8
register few : u8 = 0
field N : u8
instructions {
  nop     | 0000 0000          |
  add N   | 0000 0001 NNNNNNNN | a = a + zext(N)
  start   | 0000 0010          | pc = 0
  table N | 0000 0011 NNNNNNNN | b = b + 37; pc = 0x4000 + (zext(b & N & ~few) << 3)
  few N   | 0000 0100 NNNNNNNN | few = N
  count   | 0000 0101          | if b[0] { ram[0x8000] = ram[0x8000] + 1 }; pc = 0x4000 + (zext(b) << 3)
  step    | 0000 0110          | b = b + 37
  rare    | 0000 0111          | if a[11:0] == 0 { pc = 0x4000 }
}
"#;

const ADD: u64 = 1;
const START: u64 = 2;
const TABLE: u64 = 3;
const COUNT: u64 = 5;
const STEP: u64 = 6;
const RARE: u64 = 7;

fn isa() -> Arc<Isa> {
    Arc::new(lathe_isa::load(MACHINE).isa.expect("the definition is right"))
}

/// Loads a program at address 0, and 256 routines that add different numbers and start again.
fn with_routines(isa: &Isa, program: impl IntoIterator<Item = u64>) -> State {
    let mut state = State::new(isa);
    let ram = state.memory_mut(isa.pc.memory);
    ram.fill(program);
    for routine in 0..256 {
        for (cell, at) in [ADD, routine, START].into_iter().zip(0x4000 + 8 * routine..) {
            ram.set(at, cell);
        }
    }
    state
}

/// Runs these stretches of steps, and compares with the reference interpreter. Returns the statistics of the last
/// stretch.
fn run(isa: &Arc<Isa>, mut state: State, jit: &mut Jit, stretches: &[u64]) -> (Statistics, State) {
    let mut expected = state.clone();
    let mut devices = Devices::new(isa, Console::default());
    let mut before = jit.statistics();
    for steps in stretches {
        before = jit.statistics();
        let found = jit.run(&mut state, &mut devices, *steps);
        assert_eq!(found, Interpreter::new(isa).run(&mut expected, &mut devices, *steps));
        assert_eq!(state, expected);
    }
    let after = jit.statistics();
    let last = Statistics { steps: after.steps - before.steps, entries: after.entries - before.entries, ..after };
    (last, state)
}

#[test]
fn a_loop_longer_than_a_region_is_compiled_to_its_end() {
    let isa = isa();
    let program = (0..6_000).flat_map(|at| [ADD, at % 256]).chain([START]);
    let mut jit = Jit::with_threshold(&isa, 50);
    let (last, _) = run(&isa, with_routines(&isa, program), &mut jit, &[1_500_000, 300_000]);
    assert!(last.regions > 3, "{last:?}");
    assert!(last.steps > 295_000, "the rest was interpreted: {last:?}");
    assert!(last.compiled < 7_000, "instructions are there more than once: {last:?}");
}

#[test]
fn a_jump_to_many_places_stays_in_compiled_code() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 50);
    let (last, _) = run(&isa, with_routines(&isa, [TABLE, 127]), &mut jit, &[200_000, 100_000]);
    assert!(last.steps > 99_000, "{last:?}");
    assert!(last.entries < 200, "compiled code was left all the time: {last:?}");
}

/// If there are more targets than can be remembered, each is compiled by itself, and only once.
#[test]
fn a_jump_to_more_places_than_are_remembered_leads_to_compiled_code() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 50);
    let (last, _) = run(&isa, with_routines(&isa, [ADD, 1, STEP, TABLE, 255]), &mut jit, &[400_000, 100_000]);
    assert!(last.steps > 99_000, "{last:?}");
    assert!(last.compiled < 1_000, "instructions are there more than once: {last:?}");
}

/// The second target turns up when the region has been compiled and running for long.
#[test]
fn a_target_that_turns_up_late_is_compiled_too() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 50);
    let mut state = with_routines(&isa, [TABLE, 127]);
    let few = lathe_isa::model::Place::whole(lathe_isa::model::RegisterId(2), isa.registers[2].width);
    state.set_place(&isa, &few, 0xFF);
    let (_, mut state) = run(&isa, state, &mut jit, &[10_000]);
    state.set_place(&isa, &few, 0xFE);
    let (last, _) = run(&isa, state, &mut jit, &[10_000, 10_000]);
    assert!(last.steps > 9_900 && last.entries < 10, "{last:?}");
}

/// A jump that goes to a new target counts in memory, and must do so once.
#[test]
fn a_jump_with_an_effect_is_not_done_twice() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 2);
    let (last, _) = run(&isa, with_routines(&isa, [STEP, COUNT]), &mut jit, &[20, 20, 20, 20, 200, 5_000]);
    assert!(last.steps > 1_000, "{last:?}");
}

/// A checksum of 256 bytes, in nested loops with branches. Its first regions are made before all of it is known to run;
/// the improved code is one region.
#[test]
fn loops_within_loops_become_one_region() {
    let chip8 = lathe_machines::ALL.iter().find(|machine| machine.name == "chip8").expect("it ships");
    let isa = Arc::new(lathe_isa::load_with(chip8.source(), &lathe_machines::Shipped).isa.expect("it is right"));
    let program = [
        0x66, 0xFF, 0x65, 0x07, 0x61, 0x00, 0xA2, 0x00, 0xF1, 0x1E, 0xF0, 0x65, 0x86, 0x03, 0x62, 0x08, 0x86, 0x6E,
        0x3F, 0x00, 0x86, 0x53, 0x72, 0xFF, 0x32, 0x00, 0x12, 0x10, 0x71, 0x01, 0x31, 0x00, 0x12, 0x06, 0x12, 0x04,
    ];
    let mut state = State::new(&isa);
    program.into_iter().zip(0x200..).for_each(|(cell, at)| state.memory_mut(isa.pc.memory).set(at, cell));
    state.pc = 0x200;
    let (last, _) = run(&isa, state, &mut Jit::new(&isa), &[6_000_000, 100_000]);
    assert!(last.steps > 99_000, "{last:?}");
    assert!(last.entries < 50, "compiled code was left all the time: {last:?}");
}

/// A threshold of zero visits means one: code is compiled when it is first reached.
#[test]
fn a_threshold_of_nothing_is_one() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 0);
    let (last, _) = run(&isa, with_routines(&isa, [TABLE, 255]), &mut jit, &[20_000, 5_000]);
    assert!(last.regions > 0 && last.steps > 4_000, "{last:?}");
}

/// A run too near its end to enter the existing regions compiles nothing more: it would not enter that either.
#[test]
fn nothing_is_compiled_in_the_last_steps_of_a_run() {
    let isa = isa();
    let long = (0..300).flat_map(|at| [ADD, at % 256]).chain([START]);
    let mut jit = Jit::with_threshold(&isa, 50);
    let (last, mut state) = run(&isa, with_routines(&isa, long), &mut jit, &[40_000, 1_000]);
    assert_eq!(last.regions, 1, "{last:?}");
    assert!(last.steps > 500, "{last:?}");
    let short = [ADD, 1, TABLE, 0].into_iter().zip(0x4000..);
    short.for_each(|(cell, at)| state.memory_mut(isa.pc.memory).set(at, cell));
    state.pc = 0x4000;
    let (last, state) = run(&isa, state, &mut jit, &[100; 100]);
    assert_eq!(last.regions, 1, "{last:?}");
    let (last, _) = run(&isa, state, &mut jit, &[10_000]);
    assert_eq!(last.regions, 2, "{last:?}");
}

/// Routines that lead to one another are regions of their own at first. Soon compiled code follows links from one to
/// another; where there are no links, the regions are merged once crossing between them has taken long enough.
#[test]
fn regions_that_lead_to_one_another_all_the_time_are_not_left() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 50);
    let routines = with_routines(&isa, [ADD, 1, STEP, TABLE, 255]);
    let (early, state) = run(&isa, routines, &mut jit, &[10_000, 10_000]);
    assert!(early.entries > 1_000, "{early:?}");
    let (last, _) = run(&isa, state, &mut jit, &[60_000, 10_000]);
    assert!(last.steps > 9_800 && last.entries < 50, "{last:?}");
}

/// A path taken once in 4096 times is too rare for the first region. It becomes part of the region once that has run for
/// so long that it is compiled with full effort.
#[test]
fn what_is_rare_becomes_part_of_a_region_that_runs_on() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 6_400);
    let (first, state) = run(&isa, with_routines(&isa, [ADD, 1, RARE, START]), &mut jit, &[220_000]);
    assert_eq!((first.regions, first.compiled), (1, 3), "{first:?}");
    let (last, _) = run(&isa, state, &mut jit, &[1_300_000, 50_000]);
    assert_eq!((last.regions, last.improved), (1, 1), "{last:?}");
    assert!(last.steps > 49_900 && last.entries == 1, "{last:?}");
}
