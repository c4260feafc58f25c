//! The debugger on generated programs, on every machine and engine: going back reaches the earlier state, including
//! devices and output; running back finds what running forward found; a saved session opens where it was.
//!
//! `LATHE_PROGRAMS` sets how many programs there are, and `LATHE_SEED` where the seeds start.

use std::sync::Arc;

use lathe_asm::{Image, Segment};
use lathe_base::Source;
use lathe_debug::breakpoints::CellAccess;
use lathe_debug::history::Pace;
use lathe_debug::{Answer, Debugger, Effect, Hit, Program, Reason, What, execute, session};
use lathe_embed::{Access, AnyEngine, EngineKind, Instance, Snapshot};
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_machines::Shipped;
use lathe_tests::differential::{Case, generate};
use lathe_tests::random::Random;
use lathe_vm::Interpreter;

/// One in this many of the other tests' programs is enough here: each is run on three engines, in all directions.
const SHARE: u64 = 24;
/// How many random distances are tried on one program and engine.
const ROUNDS: u64 = 40;
/// How many hits are looked for.
const HITS: usize = 24;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

fn seeds() -> std::ops::Range<u64> {
    let first = number("LATHE_SEED", 1);
    first..first + (number("LATHE_PROGRAMS", 48) / SHARE).max(1)
}

/// Returns the machines that ship, and some test machines, with the files of their definitions.
fn machines() -> impl Iterator<Item = (Arc<Isa>, Vec<Source>)> {
    let others = ["acc12", "far40", "far64", "tape16", "twice8", "word32"].map(|name| {
        let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
        Source::new(name, std::fs::read_to_string(path).expect("the definition is there"))
    });
    lathe_machines::every().map(|machine| machine.source()).chain(others).map(|source| {
        let loaded = lathe_isa::load_with(source, &Shipped);
        (Arc::new(loaded.isa.expect("the definition is right")), loaded.written.sources)
    })
}

fn engines(isa: &Arc<Isa>) -> [(&'static str, AnyEngine); 3] {
    [
        ("interpreter", AnyEngine::Interpreter(Interpreter::new(isa))),
        ("fast", AnyEngine::Fast(Box::new(Fast::new(isa)))),
        ("jit", AnyEngine::Jit(Box::new(Jit::with_threshold(isa, 2)))),
    ]
}

/// Returns a debugger at the beginning of a case. Setting its registers there is an event of its history.
fn debugger(isa: &Arc<Isa>, case: &Case, engine: AnyEngine) -> Debugger {
    let segment = |(memory, address, value)| Segment { memory, start: address, cells: vec![value] };
    let segments = case.cells(isa).into_iter().map(segment).collect();
    let image = Image { machine: isa.name.clone(), entry: Some(case.origin), segments, ..Image::default() };
    let mut debugger = Debugger::new(Program::new(isa.clone(), image, Vec::new()), Instance::on(engine));
    let set: Vec<String> = isa
        .registers
        .iter()
        .zip(&case.registers)
        .filter(|(register, _)| !register.constant)
        .map(|(register, value)| format!("{} = {}", register.name, register.width.wrap(*value)))
        .collect();
    debugger.set(&set.join("; ")).expect("registers can be set");
    debugger.give_input(&case.input);
    debugger.end_input();
    // Often enough that short programs have some snapshots.
    debugger.set_pace(Pace { interval: 32, per_byte: 0 });
    debugger
}

fn everything(debugger: &mut Debugger) -> (u64, Snapshot, Vec<u8>) {
    let output = debugger.output().1.to_vec();
    (debugger.position(), debugger.snapshot(), output)
}

/// Returns a number of any magnitude up to some thousands.
fn distance(random: &mut Random) -> u64 {
    let magnitude = 1 << random.below(13);
    1 + random.below(magnitude)
}

#[test]
fn forward_and_back_is_where_it_was() {
    let mut distances = 0;
    for (isa, _) in machines() {
        for seed in seeds() {
            let case = generate(&isa, seed);
            for (name, engine) in engines(&isa) {
                let mut random = Random(seed);
                let mut debugger = debugger(&isa, &case, engine);
                for round in 0..ROUNDS {
                    let at = format!("{} seed {seed} on {name}, round {round}", isa.name);
                    let before = everything(&mut debugger);
                    let moved = match debugger.step(distance(&mut random), &mut ()) {
                        Ok(stopped) => stopped.position - stopped.from,
                        Err(_) => 0,
                    };
                    if moved > 0 {
                        distances += 1;
                        let after = everything(&mut debugger);
                        debugger.back(moved, &mut ()).expect("it can go back");
                        assert!(everything(&mut debugger) == before, "{at}: {moved} steps from {}", before.0);
                        debugger.go_to(after.0).expect("it was there");
                        assert!(everything(&mut debugger) == after, "{at}: {moved} steps from {} again", before.0);
                    }
                    // Sometimes from elsewhere, so that positions are reached in every way.
                    if moved == 0 || random.once_in(3) {
                        let target = random.below(debugger.history().end() + 1);
                        debugger.go_to(target).expect("it was there");
                    }
                }
            }
        }
    }
    println!("seed {}: {distances} distances", seeds().start);
    assert!(distances > 1000, "{distances}");
}

/// Returns where a program goes and what it accesses in its first steps.
fn explored(isa: &Arc<Isa>, case: &Case) -> (Vec<u64>, Vec<Access>) {
    let mut debugger = debugger(isa, case, AnyEngine::Interpreter(Interpreter::new(isa)));
    let mut instance = Instance::on(AnyEngine::Interpreter(Interpreter::new(isa)));
    instance.restore(&debugger.snapshot()).expect("it is the same machine");
    let (mut visited, mut accesses) = (vec![instance.state().pc], Vec::new());
    for _ in 0..400 {
        let (step, changes) = instance.step();
        if step.stop.is_some() {
            break;
        }
        visited.push(instance.state().pc);
        accesses.extend(changes.accesses);
    }
    (visited, accesses)
}

fn stops(random: &mut Random, visited: &[u64], accesses: &[Access]) -> Vec<What> {
    let mut stops = vec![What::At(vec![*random.pick(visited)])];
    for _ in 0..random.below(3) {
        if let [_, ..] = accesses {
            let Access { memory, address, .. } = *random.pick(accesses);
            let access = *random.pick(&[CellAccess::Read, CellAccess::Write, CellAccess::Any, CellAccess::Change]);
            stops.push(What::Cells { memory, addresses: address..=address.saturating_add(random.below(3)), access });
        }
    }
    stops
}

#[test]
fn running_back_finds_the_hits_of_running_forward() {
    let mut found = 0;
    for (isa, _) in machines() {
        for seed in seeds() {
            let case = generate(&isa, seed);
            let (visited, accesses) = explored(&isa, &case);
            let mut random = Random(seed);
            let stops = stops(&mut random, &visited, &accesses);
            let mut expected: Option<Vec<(u64, Vec<Hit>)>> = None;
            for (name, engine) in engines(&isa) {
                let at = format!("{} seed {seed} on {name}: {stops:?}", isa.name);
                let mut debugger = debugger(&isa, &case, engine);
                for what in &stops {
                    debugger.breakpoints.add(String::new(), what.clone(), None, Effect::Stop);
                }
                let mut forward = Vec::new();
                while forward.len() < HITS && debugger.position() < 20_000 {
                    let Ok(stopped) = debugger.step(5_000, &mut ()) else { break };
                    match stopped.reason {
                        Reason::Hit(hits) => forward.push((stopped.position, hits)),
                        Reason::Done => {}
                        _ => break,
                    }
                }
                // Past the last hit, so that it is found as well.
                let _ = debugger.go_to(debugger.history().end());
                debugger.step(1, &mut ()).ok();
                let mut back = Vec::new();
                while debugger.position() > 0 {
                    let stopped = debugger.run_back(&mut ()).expect("it runs back");
                    match stopped.reason {
                        Reason::Hit(hits) => back.push((stopped.position, hits)),
                        reason => assert_eq!((reason, debugger.position()), (Reason::Beginning, 0), "{at}"),
                    }
                }
                back.reverse();
                // A hit at the last step, or the absence of further hits, is not compared.
                back.truncate(forward.len());
                forward.truncate(back.len());
                assert_eq!(back, forward, "{at}");
                found += forward.len();
                let expected = expected.get_or_insert_with(|| forward.clone());
                assert_eq!(*expected, forward, "{at}");
            }
        }
    }
    println!("seed {}: {found} hits", seeds().start);
    assert!(found > 500, "{found}");
}

#[test]
fn a_saved_session_opens_where_it_was() {
    for (isa, definition) in machines() {
        for seed in seeds() {
            let case = generate(&isa, seed);
            let mut random = Random(seed);
            for (name, engine) in engines(&isa) {
                let mut debugger = debugger(&isa, &case, engine);
                debugger.definition.clone_from(&definition);
                for _ in 0..4 {
                    let _ = debugger.step(distance(&mut random), &mut ());
                    let target = random.below(debugger.history().end() + 1);
                    debugger.go_to(target).expect("it was there");
                    debugger.give_input(&[random.number() as u8]);
                }
                let _ = debugger.step(distance(&mut random), &mut ());
                let target = random.below(debugger.history().end() + 1);
                debugger.go_to(target).expect("it was there");
                let Ok(Answer::Save { session, .. }) = execute(&mut debugger, "save x.session", &mut ()) else {
                    panic!("it can be saved")
                };
                let at = format!("{} seed {seed} from {name}", isa.name);
                let mut again =
                    session::open(&session, EngineKind::Auto).unwrap_or_else(|error| panic!("{at}: {error}"));
                assert!(everything(&mut again) == everything(&mut debugger), "{at}");
                assert_eq!(again.history().end(), debugger.history().end(), "{at}");
                let target = random.below(debugger.history().end() + 1);
                again.go_to(target).expect("it was there");
                debugger.go_to(target).expect("it was there");
                assert!(everything(&mut again) == everything(&mut debugger), "{at}: step {target}");
            }
        }
    }
}
