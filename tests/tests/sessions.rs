//! Sessions on generated programs: every engine stops where single steps of the reference interpreter do, and running
//! from a snapshot gives the same result every time.
//!
//! `LATHE_PROGRAMS` sets how many programs each machine gets, and `LATHE_SEED` where the seeds start.

use std::sync::Arc;

use lathe_embed::{
    Access, AnyEngine, Console, Fault, FaultCause, Instance, Run, Snapshot, State, Stop, Stops, Watch, WhenIdle,
};
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_jit::Jit;
use lathe_tests::differential::{Case, generate};
use lathe_tests::random::Random;
use lathe_vm::{Devices, Engine, Interpreter};

/// Reduces the programs for snapshots: every cell is compared on every engine, which takes time.
const SNAPSHOTS: u64 = 4;
/// Reduces the programs for stops: every other set of stops compiles everything anew, which takes time.
const STOPS: u64 = 6;
/// How many runs a program has.
const RUNS: usize = 12;
/// With this many programs, every kind of stop occurs on every machine; with fewer, a kind may be missing somewhere.
const ENOUGH: u64 = 8;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn seeds(divided_by: u64) -> std::ops::Range<u64> {
    let first = number("LATHE_SEED", 1);
    first..first + number("LATHE_PROGRAMS", 48) / divided_by
}

/// Returns the machines that ship, and some test machines.
fn machines() -> impl Iterator<Item = Arc<Isa>> {
    let load = |text: &str| Arc::new(lathe_isa::load(text).isa.expect("the definition is right"));
    let others = ["acc12", "clock8", "far40", "far64", "tape16", "twice8", "word32"].map(|name| {
        let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
        load(&std::fs::read_to_string(path).expect("the definition is there"))
    });
    let loaded = lathe_machines::ALL.iter().map(|one| lathe_isa::load_with(one.source(), &lathe_machines::Shipped));
    loaded.map(|loaded| Arc::new(loaded.isa.expect("the definition is right"))).chain(others)
}

fn engines(isa: &Arc<Isa>) -> [(&'static str, AnyEngine); 5] {
    [
        ("interpreter", AnyEngine::Interpreter(Interpreter::new(isa))),
        ("fast", AnyEngine::Fast(Box::new(Fast::eager(isa)))),
        ("fast-steps", AnyEngine::Fast(Box::new(Fast::stepping(isa)))),
        ("jit", AnyEngine::Jit(Box::new(Jit::with_threshold(isa, 2)))),
        ("jit-steps", AnyEngine::Jit(Box::new(Jit::stepping(isa)))),
    ]
}

/// Defines stops as simply as possible: executes one instruction after the other, and examines what it did.
fn in_steps(interpreter: &mut Interpreter, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
    let mut run = Run::new();
    while run.steps < stops.limit {
        let one = Engine::run(interpreter, state, devices, 1);
        let changes = interpreter.changes(state);
        run = Run { stop: Stop::Limit, steps: run.steps + one.steps, cycles: run.cycles.wrapping_add(one.cycles) };
        let seen: Vec<Access> = changes.accesses.into_iter().filter(|access| stops.watches(access)).collect();
        run.stop = match one.stop {
            Stop::Fault(_) | Stop::Waiting(_) | Stop::Halted => one.stop,
            _ if !seen.is_empty() => Stop::Watch(seen),
            Stop::Idle if stops.idle == WhenIdle::Stop => Stop::Idle,
            _ if stops.breakpoints.contains(&state.pc) => Stop::Breakpoint,
            _ => continue,
        };
        break;
    }
    run
}

/// Returns stops around what a program does: addresses where it has been, cells that it has accessed.
fn stops(isa: &Isa, random: &mut Random, visited: &[u64], accesses: &[Access]) -> Stops {
    let mut stops = Stops::after(random.below(600));
    for _ in 0..random.below(3) {
        let address = if random.once_in(4) { random.number() } else { *random.pick(visited) };
        stops = stops.at(isa.pc.width.wrap(address));
    }
    for _ in 0..random.below(3) {
        let (memory, address) = match accesses {
            [] => (MemoryId(random.below(isa.memories.len() as u64) as u32), random.number()),
            _ => (random.pick(accesses).memory, random.pick(accesses).address),
        };
        let first = isa.memory(memory).address.wrap(address);
        let last = isa.memory(memory).address.mask().min(first.saturating_add(random.below(4)));
        stops = stops.watching(match random.below(3) {
            0 => Watch::reads(memory, first..=last),
            1 => Watch::writes(memory, first..=last),
            _ => Watch::accesses(memory, first..=last),
        });
    }
    if random.once_in(4) { stops.idling() } else { stops }
}

/// Returns where a program goes and what it accesses in its first steps.
fn explored(isa: &Arc<Isa>, case: &Case) -> (Vec<u64>, Vec<Access>) {
    let mut interpreter = Interpreter::new(isa);
    let (mut state, mut devices) = laid(isa, case);
    let (mut visited, mut accesses) = (vec![state.pc], Vec::new());
    for _ in 0..200 {
        if interpreter.step(&mut state, &mut devices).stop.is_some() {
            break;
        }
        visited.push(state.pc);
        accesses.extend(interpreter.changes(&state).accesses);
    }
    (visited, accesses)
}

fn laid(isa: &Isa, case: &Case) -> (State, Devices) {
    let mut state = State::new(isa);
    case.lay_down(isa, &mut state);
    (state, Devices::new(isa, Console::with_input(case.input.iter().copied())))
}

/// How often each reason occurred, so that a test which no longer reaches one is noticed.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    breakpoints: u64,
    watches: u64,
    idle: u64,
}

impl Reached {
    fn count(&mut self, stop: &Stop) {
        match stop {
            Stop::Breakpoint => self.breakpoints += 1,
            Stop::Watch(_) => self.watches += 1,
            Stop::Idle => self.idle += 1,
            _ => {}
        }
    }

    fn add(&mut self, other: Reached) {
        self.breakpoints += other.breakpoints;
        self.watches += other.watches;
        self.idle += other.idle;
    }

    fn is_all(self) -> bool {
        self.breakpoints > 0 && self.watches > 0
    }
}

/// The same stops on every engine leave everything the same.
#[test]
fn stops_are_those_of_single_steps() {
    let programs = seeds(STOPS).count() as u64;
    let mut on_any = Reached::default();
    for isa in machines() {
        let mut reached = Reached::default();
        for seed in seeds(STOPS) {
            let case = generate(&isa, seed);
            let (visited, accesses) = explored(&isa, &case);
            let mut random = Random(seed);
            let all: Vec<Stops> = (0..RUNS).map(|_| stops(&isa, &mut random, &visited, &accesses)).collect();
            let mut engines = engines(&isa).map(|(name, engine)| (name, engine, laid(&isa, &case)));
            let (mut state, mut devices) = laid(&isa, &case);
            let mut interpreter = Interpreter::new(&isa);
            for (number, stops) in all.iter().enumerate() {
                let expected = in_steps(&mut interpreter, &mut state, &mut devices, stops);
                reached.count(&expected.stop);
                let saved = devices.snapshot();
                for (name, engine, (found, devices)) in &mut engines {
                    let run = engine.run_until(found, devices, stops);
                    let at = format!("{} seed {seed} run {number} on {name}: {stops:?}", isa.name);
                    assert_eq!(run, expected, "{at}");
                    assert!(*found == state, "{at}: {:#x} {:#x}", found.pc, state.pc);
                    assert!(devices.snapshot() == saved, "{at}");
                }
                if matches!(expected.stop, Stop::Fault(_)) {
                    break;
                }
            }
        }
        println!("{}: {reached:?}", isa.name);
        assert!(programs < ENOUGH || reached.is_all(), "{}: {reached:?}", isa.name);
        on_any.add(reached);
    }
    assert!(programs == 0 || on_any.is_all(), "{on_any:?}");
}

/// Returns an instance with a case loaded.
fn session(engine: AnyEngine, isa: &Isa, case: &Case) -> Instance {
    let mut instance = Instance::on(engine);
    case.lay_down(isa, instance.state_mut());
    instance.give_input(&case.input);
    instance
}

/// Returns what can be observed of runs: how they ended, what they wrote, everything that they left behind.
fn seen(instance: &mut Instance, limits: &[u64]) -> (Vec<Run>, Vec<u8>, Snapshot) {
    let runs = limits.iter().map(|limit| instance.run_for(*limit)).collect();
    (runs, instance.take_output(), instance.snapshot())
}

/// Snapshot, run, restore, run: all the same, on the engine that took the snapshot and on others.
#[test]
fn what_runs_from_a_snapshot_is_the_same_every_time() {
    for isa in machines() {
        for seed in seeds(SNAPSHOTS) {
            let case = generate(&isa, seed);
            let (first, rest) = case.limits.split_at(case.limits.len() / 2);
            let mut snapshots = Vec::new();
            for (name, engine) in engines(&isa) {
                let mut instance = session(engine, &isa, &case);
                seen(&mut instance, first);
                let snapshot = instance.snapshot();
                let once = seen(&mut instance, rest);
                instance.restore(&snapshot).expect("it is its own");
                assert!(instance.snapshot() == snapshot, "{} seed {seed} on {name}: restored", isa.name);
                let again = seen(&mut instance, rest);
                assert!(once == again, "{} seed {seed} on {name}: {:?} {:?}", isa.name, once.0, again.0);
                snapshots.push((snapshot, once));
            }
            // Each engine continues where another has been.
            for ((name, engine), (snapshot, expected)) in engines(&isa).into_iter().rev().zip(&snapshots) {
                let mut instance = Instance::on(engine);
                instance.restore(snapshot).expect("it is of the same machine");
                assert!(seen(&mut instance, rest) == *expected, "{} seed {seed} elsewhere on {name}", isa.name);
            }
        }
    }
}

/// A machine whose code, and whose data in bytes and in words, are in large memories, all of which it can fill.
const LARGE: &str = r#"
machine large "Stores anywhere"
memory code  : u24 -> u8
memory bytes : u32 -> u8
memory words : u32 -> u32
pc pc : u24 in code
register a, b : u32
instructions {
  code    | 0001 0000 | code[a[23:0]] = b[7:0]
  byte    | 0001 0001 | bytes[a] = b[7:0]
  word    | 0001 0010 | words[a] = b
  both    | 0001 0011 | words[a] = b; bytes[b] = a[7:0]
  read    | 0001 0100 | b = words[a] + zext(bytes[a])
  add     | 0001 0101 | a = a + b
  far     | 0001 0110 | a = a * 0x9E37_79B1 + 1
  near    | 0001 0111 | a = a + 0x400
  again   | 0001 1000 | pc = 0
}
"#;

/// A machine that may take only a few pages faults at the same instruction in the same state on every engine, also from
/// a snapshot taken on the way.
#[test]
fn memory_runs_out_at_the_same_step() {
    let isa = Arc::new(lathe_isa::load(LARGE).isa.expect("the definition is right"));
    let code = isa.pc.memory;
    let mut spent = 0;
    for seed in seeds(1) {
        let mut random = Random(seed);
        let program: Vec<u64> = (0..2 + random.below(12)).map(|_| 0x10 + random.below(8)).chain([0x18]).collect();
        let (max_memory, limits) = ((1 + random.below(40)) << 12, [random.below(400), 1 + random.below(3000), 20_000]);
        let begin = |engine: AnyEngine| {
            let mut instance = Instance::on(engine);
            instance.set_max_memory(max_memory);
            instance.state_mut().memory_mut(code).fill(program.iter().copied());
            instance.state_mut().registers_mut()[1] = 0x1000 + seed;
            instance
        };
        let mut expected = None;
        for (name, engine) in engines(&isa) {
            let mut instance = begin(engine);
            let before = seen(&mut instance, &limits[..1]);
            let after = seen(&mut instance, &limits[1..]);
            instance.restore(&before.2).expect("it is its own");
            assert!(seen(&mut instance, &limits[1..]) == after, "seed {seed} on {name}: again");
            let out_of_memory =
                |run: &Run| matches!(run.stop, Stop::Fault(Fault { cause: FaultCause::OutOfMemory, .. }));
            spent += u64::from(after.0.iter().any(out_of_memory));
            let all = (before, after);
            let same = expected.get_or_insert_with(|| all.clone());
            assert!(
                *same == all,
                "seed {seed} on {name}: {:?} {:?}, not {:?} {:?}",
                all.0.0,
                all.1.0,
                same.0.0,
                same.1.0
            );
        }
    }
    assert!(spent > 0 || seeds(1).is_empty());
}

/// Snapshots between which one page is written share all others, in memories of any size.
#[test]
fn snapshots_share_the_pages_that_stay_the_same() {
    const COUNT: u64 = 50;
    for isa in machines().chain([Arc::new(lathe_isa::load(LARGE).isa.expect("the definition is right"))]) {
        for (_, engine) in engines(&isa) {
            let mut instance = Instance::on(engine);
            for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
                let cells = memory.last().min((1 << 16) - 1) + 1;
                (0..cells).step_by(64).for_each(|address| instance.state_mut().memory_mut(id).set(address, 1));
            }
            let first = instance.snapshot();
            let all: u64 =
                (0..).map(MemoryId).take(isa.memories.len()).map(|id| first.state().memory(id).copied()).sum();
            assert_eq!(Snapshot::total_size([&first]), all, "{}", isa.name);
            let mut snapshots = vec![first];
            for number in 0..COUNT {
                instance.state_mut().memory_mut(isa.pc.memory).set(0, number);
                instance.run_for(0);
                snapshots.push(instance.snapshot());
            }
            let page = 4096.min(isa.code_memory().last().saturating_add(1))
                * if isa.code_memory().cell.bits() <= 8 { 1 } else { 8 };
            assert!(Snapshot::total_size(&snapshots) <= all + COUNT * page, "{}", isa.name);
            instance.restore(&snapshots[7]).expect("it is its own");
            assert!(instance.snapshot() == snapshots[7], "{}", isa.name);
        }
    }
}
