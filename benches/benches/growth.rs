//! How the cost of running grows with the amount of code: on rv32i with the number of warm places, from 10 to 100,000;
//! on hex8 with a loop of 10 to 10,000 instructions, and with routines reached by computed jumps.
//!
//! `cargo bench -p lathe-benches --bench growth`; `-- places` or `-- hex8` for one of the two

use std::time::Instant;

use lathe_benches::by_hand;
use lathe_benches::generated::{IN_A_PLACE, places, scattered, straight};
use lathe_embed::{EngineKind, Image, Instance, Machine};

/// Enough for the longest loop to become hot and to run compiled for a while.
const STEPS: u64 = 100_000_000;
const ROUNDS: usize = 3;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    if is_wanted("places") {
        warm_places();
    }
    if is_wanted("hex8") {
        hot_code();
    }
}

/// Prints the time per instruction against the number of equally warm places.
fn warm_places() {
    let machine = Machine::built_in("rv32i").expect("it ships");
    println!("rv32i, {STEPS} instructions: nanoseconds for an instruction, best of {ROUNDS} rounds\n");
    println!(
        "{:>8}{:>14}{:>10}{:>10}{:>13}{:>13}",
        "places", "instructions", "by hand", "fast", "auto, first", "auto, again"
    );
    for count in [10, 100, 1_000, 10_000, 100_000] {
        let program = machine.assemble(&places(count)).unwrap_or_else(|error| panic!("{count} places: {error}"));
        let by_hand = best(|| run_by_hand(&machine, &program));
        let fast = best(|| run(&mut instance(&machine, EngineKind::Fast, &program)));
        let mut again = f64::MAX;
        let first = best(|| {
            let mut auto = instance(&machine, EngineKind::Auto, &program);
            let first = run(&mut auto);
            again = again.min(run(&mut auto));
            first
        });
        let nanoseconds = |seconds: f64| seconds / STEPS as f64 * 1e9;
        println!(
            "{count:>8}{:>14}{:>10.2}{:>10.2}{:>13.2}{:>13.2}",
            count * IN_A_PLACE,
            nanoseconds(by_hand),
            nanoseconds(fast),
            nanoseconds(first),
            nanoseconds(again),
        );
    }
    println!();
}

fn run_by_hand(machine: &Machine, program: &Image) -> f64 {
    let code = program.flat(machine.isa().pc.memory, 0).expect("it is in one piece");
    let mut by_hand = by_hand::load("rv32i", &code.cells, program.start(machine.isa())).expect("it is there");
    let start = Instant::now();
    by_hand.run(STEPS);
    start.elapsed().as_secs_f64()
}

/// Prints the speed against the amount of hot code, and the cost of compiling it.
fn hot_code() {
    let machine = Machine::built_in("hex8").expect("it ships");
    println!("{STEPS} instructions; fast and jit: millions of instructions a second, best of {ROUNDS} rounds;");
    println!("first: until the code is hot it is interpreted, then compiled; again: the same instance goes on;");
    println!("ms: what the first run took longer\n");
    println!("{HEAD}");
    for size in [10, 100, 1_000, 10_000] {
        row(&machine, &format!("loop of {size}"), size, &straight(size));
    }
    for routines in [128, 512, 2_048] {
        row(&machine, &format!("{routines} routines"), routines * 3 + 11, &scattered(routines));
    }
}

const HEAD: &str = "hot code          instructions      fast   jit, first   jit, again    regions   compiled        ms";

/// Prints a row for one program: its speed, the compiled code, and what compiling cost.
fn row(machine: &Machine, name: &str, instructions: usize, text: &str) {
    let program = machine.assemble(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let fast = best(|| run(&mut instance(machine, EngineKind::Fast, &program)));
    let mut last = None;
    let mut again = f64::MAX;
    let first = best(|| {
        let mut jit = instance(machine, EngineKind::Auto, &program);
        let first = run(&mut jit);
        again = again.min(run(&mut jit));
        last = jit.statistics();
        first
    });
    let speed = |seconds: f64| STEPS as f64 / seconds / 1e6;
    let (regions, compiled) = last.map_or((0, 0), |found| (found.regions, found.compiled_instructions));
    println!(
        "{name:<18}{instructions:>12}{:>10.0}{:>13.0}{:>13.0}{regions:>11}{compiled:>11}{:>10.1}",
        speed(fast),
        speed(first),
        speed(again),
        (first - again).max(0.0) * 1e3,
    );
}

fn instance(machine: &Machine, kind: EngineKind, program: &Image) -> Instance {
    let mut instance = machine.instance_on(kind).expect("it is there");
    instance.load(program);
    instance
}

fn run(instance: &mut Instance) -> f64 {
    let start = Instant::now();
    assert_eq!(instance.run_for(STEPS).steps, STEPS, "the programs run for ever");
    start.elapsed().as_secs_f64()
}

fn best(mut measure: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::MAX, f64::min)
}
