//! Every engine against hand-written interpreters, on the same programs in one process.
//!
//! `cargo run --release -p lathe-benches --bin engines [-- [MACHINE] [MILLIONS OF STEPS]]`
//!
//! Engines take turns in every round, so that a noisy moment hits all of them. The table
//! shows the best round as a ratio to the hand-written interpreter's best; the median in
//! brackets. What the engines leave behind is compared before anything is timed.

mod assembler;
mod naive;
mod programs;

use std::time::Instant;

use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Fast, Interpreter, State};

use programs::Program;

/// Rounds of every benchmark.
const ROUNDS: usize = 5;
/// The reference interpreter gets this part of the steps.
const REFERENCE_SHARE: u64 = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find(|argument| argument.parse::<u64>().is_err());
    let millions = arguments.iter().find_map(|argument| argument.parse::<u64>().ok()).unwrap_or(200);
    println!("{:8} {:6} {:>9}  {:>8} {:>14} {:>16}", "machine", "program", "naive M/s", "interp", "fast", "jit");
    for machine in lathe_machines::ALL {
        if wanted.is_some_and(|wanted| wanted != machine.name) {
            continue;
        }
        let isa = lathe_isa::load(machine.definition).isa.expect("the definition is right");
        let programs = programs::ALL.iter().filter(|program| program.machine == machine.name);
        let ratios: Vec<Ratios> = programs.map(|program| measure(&isa, program, millions * 1_000_000)).collect();
        let mean = |pick: fn(&Ratios) -> f64| {
            (ratios.iter().map(|ratios| pick(ratios).ln()).sum::<f64>() / ratios.len() as f64).exp()
        };
        let (interp, fast, jit) = (mean(|r| r.interp), mean(|r| r.fast), mean(|r| r.jit));
        println!("{:8} {:6} {:>9}  {interp:>8.2} {fast:>6.2} {jit:>16.2}", machine.name, "mean", "");
    }
}

struct Ratios {
    interp: f64,
    fast: f64,
    jit: f64,
}

fn measure(isa: &Isa, program: &Program, steps: u64) -> Ratios {
    let cells = assembler::assemble(isa, program.text);
    let bytes: Vec<u8> = cells.iter().map(|cell| *cell as u8).collect();
    check(isa, program, &cells, &bytes);
    let mut times: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let mut machine = naive::load(program.machine, &bytes).expect("every machine has one");
        times[0].push(time(|| machine.run(steps)) / steps as f64);
        let part = steps / REFERENCE_SHARE;
        times[1].push(time_engine(isa, &cells, &mut Interpreter::new(isa), part));
        times[2].push(time_engine(isa, &cells, &mut Fast::new(isa), steps));
        times[3].push(time_engine(isa, &cells, &mut Jit::new(isa), steps));
    }
    times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
    let ratio = |engine: usize, at: usize| times[0][at] / times[engine][at];
    let middle = ROUNDS / 2;
    println!(
        "{:8} {:6} {:>9.0}  {:>8.2} {:>6.2} ({:5.2}) {:>8.2} ({:5.2})",
        program.machine,
        program.name,
        1e-6 / times[0][0],
        ratio(1, 0),
        ratio(2, 0),
        ratio(2, middle),
        ratio(3, 0),
        ratio(3, middle),
    );
    Ratios { interp: ratio(1, 0), fast: ratio(2, 0), jit: ratio(3, 0) }
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn loaded(isa: &Isa, cells: &[u64]) -> State {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(cells.iter().copied());
    state
}

fn time_engine(isa: &Isa, cells: &[u64], engine: &mut dyn Engine, steps: u64) -> f64 {
    let mut state = loaded(isa, cells);
    let mut devices = Devices::new(isa, Console::default());
    time(|| assert_eq!(engine.run(&mut state, &mut devices, steps).steps, steps)) / steps as f64
}

/// All engines and the hand-written interpreter must agree on what a shorter run leaves behind.
fn check(isa: &Isa, program: &Program, cells: &[u64], bytes: &[u8]) {
    let steps = 1_234_567;
    let mut machine = naive::load(program.machine, bytes).expect("every machine has one");
    machine.run(steps);
    let memory = MemoryId(isa.memories.len() as u32 - 1);
    let engines: [Box<dyn Engine>; 3] =
        [Box::new(Interpreter::new(isa)), Box::new(Fast::new(isa)), Box::new(Jit::new(isa))];
    for mut engine in engines {
        let mut state = loaded(isa, cells);
        let mut devices = Devices::new(isa, Console::default());
        engine.run(&mut state, &mut devices, steps);
        let same = state.memory_mut(memory).bytes_mut().is_some_and(|bytes| bytes == machine.memory());
        assert!(same && state.pc == machine.pc(), "{} {}: the engines disagree", program.machine, program.name);
    }
}
