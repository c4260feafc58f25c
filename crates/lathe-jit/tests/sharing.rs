//! Many machines share compiled code, on any thread, and do not disturb one another.

// The tests look at the process from outside.
#![allow(clippy::disallowed_methods)]

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_jit::{Jit, SharedCode, Statistics};
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

const MACHINE: &str = r#"
machine loops "Adds up, and can change what it adds"
memory ram : u16 -> u8
pc pc : u16 in ram
register a, b : u16
field N : u8
instructions {
  add N  | 0000 0001 NNNNNNNN | a = a + zext(N)
  dec    | 0000 0010          | b = b - 1
  loop N | 0000 0011 NNNNNNNN | if b != 0 { pc = zext(N) }
  poke N | 0000 0100 NNNNNNNN | ram[zext(N)] = a[7:0]
  skip N | 0000 0101 NNNNNNNN |
  halt   | 0000 0000          | halt
}
"#;

/// Adds 7 `b` times.
const ADDS: [u64; 8] = [1, 7, 5, 1, 2, 3, 0, 0];
/// As `ADDS`, but the added number changes all the time.
const PATCHES: [u64; 9] = [1, 7, 5, 1, 4, 1, 2, 3, 0];
/// Begins with the same cells as `ADDS`, until it has run so far that it changes the added number.
const PATCHES_LATE: [u64; 16] = [1, 7, 5, 1, 2, 3, 0, 4, 1, 2, 3, 0, 0, 0, 0, 0];

fn isa() -> Arc<Isa> {
    Arc::new(lathe_isa::load(MACHINE).isa.expect("the definition is right"))
}

fn loaded(isa: &Isa, program: &[u64], times: u64) -> State {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(program.iter().copied());
    let b = lathe_isa::model::Place::whole(RegisterId(1), isa.register(RegisterId(1)).width);
    state.set_place(isa, &b, times);
    state
}

/// Runs in slices, as somebody with many machines does.
fn run(isa: &Arc<Isa>, engine: &mut dyn Engine, mut state: State) -> (Vec<Run>, State) {
    let mut devices = Devices::new(isa, Console::default());
    let runs = (0..10).map(|slice| engine.run(&mut state, &mut devices, 1_000 + 777 * slice)).collect();
    (runs, state)
}

fn sum(all: impl Iterator<Item = Statistics>, pick: impl Fn(Statistics) -> u64) -> u64 {
    all.map(pick).sum()
}

#[test]
fn engines_and_code_can_be_sent() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Jit>();
    is_send::<State>();
    is_send::<SharedCode>();
    is_sync::<SharedCode>();
}

#[test]
fn a_thousand_machines_share_one_compilation() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 50);
    let before = resident();
    let mut engines: Vec<Jit> = (0..1_000).map(|_| Jit::sharing(&code)).collect();
    let mut states: Vec<State> = Vec::new();
    for (engine, times) in engines.iter_mut().zip(0..) {
        let (runs, state) = run(&isa, engine, loaded(&isa, &ADDS, 20_000 + times));
        if times % 100 == 0 {
            let expected = run(&isa, &mut Interpreter::new(&isa), loaded(&isa, &ADDS, 20_000 + times));
            assert_eq!((runs, &state), (expected.0, &expected.1));
        }
        states.push(state);
    }
    let statistics = || engines.iter().map(Jit::statistics);
    assert_eq!(sum(statistics(), |all| all.regions), 1);
    assert_eq!(sum(statistics(), |all| all.shared), 999);
    if cfg!(target_os = "linux") {
        let (guest, each) = (1 << 16, (resident() - before) / 1_000);
        assert!(each < guest + (256 << 10), "{each} bytes for each machine");
    }
}

/// Returns the resident bytes of the process. Only Linux tells them, and there it must.
fn resident() -> u64 {
    if !cfg!(target_os = "linux") {
        return 0;
    }
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).expect("the second number");
    pages * 4096
}

/// Programs that are the same at first and differ later run in turn.
#[test]
fn a_machine_that_changes_its_code_does_not_change_others() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 20);
    let mut shared = 0;
    for times in 0..60 {
        let programs = [&ADDS[..], &PATCHES, &PATCHES_LATE];
        let mut machines: Vec<(Jit, State, Devices)> = programs
            .map(|program| {
                (Jit::sharing(&code), loaded(&isa, program, 300 + times), Devices::new(&isa, Console::default()))
            })
            .into();
        let mut expected: Vec<State> = programs.map(|program| loaded(&isa, program, 300 + times)).into();
        for _ in 0..8 {
            for ((jit, state, devices), expected) in machines.iter_mut().zip(&mut expected) {
                let found = jit.run(state, devices, 400 + times);
                let mut other = Devices::new(&isa, Console::default());
                assert_eq!(found, Interpreter::new(&isa).run(expected, &mut other, 400 + times));
                assert_eq!(state, expected);
            }
        }
        shared += sum(machines.iter().map(|(jit, ..)| jit.statistics()), |all| all.shared);
    }
    assert!(shared > 60, "only {shared} regions were shared");
}

#[test]
fn threads_share_code() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 20);
    let expected: Vec<_> =
        (0..40).map(|times| run(&isa, &mut Interpreter::new(&isa), loaded(&isa, &PATCHES_LATE, 500 + times))).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (expected, times) in expected.iter().zip(0..) {
                    let found = run(&isa, &mut Jit::sharing(&code), loaded(&isa, &PATCHES_LATE, 500 + times));
                    assert_eq!(found, *expected);
                }
            });
        }
    });
}

/// A loop that changes one of its own constants runs compiled all the same.
#[test]
fn changed_numbers_are_read_from_memory() {
    let isa = isa();
    let mut jit = Jit::with_threshold(&isa, 20);
    let found = run(&isa, &mut jit, loaded(&isa, &PATCHES, 60_000));
    assert_eq!(found, run(&isa, &mut Interpreter::new(&isa), loaded(&isa, &PATCHES, 60_000)));
    let Statistics { patched, steps, .. } = jit.statistics();
    let all: u64 = found.0.iter().map(|run| run.steps).sum();
    assert!(patched > 0 && steps > all / 2, "{:?}", jit.statistics());
}

/// A machine with the first code of a region once kept it for ever if another machine had the region improved.
#[test]
fn what_one_machine_has_improved_all_others_take_up() {
    let isa = isa();
    let code = SharedCode::with_threshold(&isa, 10);
    let mut machines: Vec<(Jit, State, Devices)> = (0..3)
        .map(|_| (Jit::sharing(&code), loaded(&isa, &ADDS, 60_000), Devices::new(&isa, Console::default())))
        .collect();
    let mut turn = |steps: u64| {
        machines
            .iter_mut()
            .map(|(jit, state, devices)| {
                jit.run(state, devices, steps);
                jit.statistics()
            })
            .collect::<Vec<Statistics>>()
    };
    let first = turn(500);
    assert_eq!(first.iter().map(|all| (all.regions, all.shared)).collect::<Vec<_>>(), [(1, 0), (0, 1), (0, 1)]);
    turn(20_000);
    let then = turn(20_000);
    assert_eq!(then.iter().map(|all| (all.improved, all.shared)).collect::<Vec<_>>(), [(1, 0), (0, 2), (0, 2)]);
}
