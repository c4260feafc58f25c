//! Many instances of one machine: the memory of each, what a thousand of them in turn cost, and what a second thread
//! gains. Every instance has run its program long enough for the hot part to be compiled; they share compiled code.
//!
//! Each machine is measured in a process of its own, so that reuse of memory freed by another does not count as zero.
//!
//! `cargo bench -p lathe-benches --bench instances`

use std::process::Command;
use std::time::Instant;

use lathe_benches::programs;
use lathe_embed::{Fleet, Image, Instance, Machine};
use lathe_isa::model::Memory;

const INSTANCES: usize = 1_000;
/// Steps of each instance before anything is measured.
const WARM_UP: u64 = 200_000;
/// Steps of an instance's turn: short turns, and longer ones of less than a millisecond.
const TURNS: [u64; 2] = [100_000, 1_000_000];
/// Steps of each of the thousand in all; a single instance runs as many as all of them together.
const STEPS: u64 = 2_000_000;

fn main() {
    // Cargo itself passes a flag.
    match std::env::args().nth(1).filter(|argument| !argument.starts_with('-')) {
        Some(name) => measure(&name),
        None => measure_all(),
    }
}

fn measure_all() {
    println!("{INSTANCES} instances, in turns of {TURNS:?} instructions; M/s: millions of instructions a second\n");
    println!("{HEAD}");
    let this = std::env::current_exe().expect("it is running");
    for machine in lathe_machines::ALL {
        let status = Command::new(&this).arg(machine.name).status().expect("it can be run again");
        assert!(status.success(), "{}: {status}", machine.name);
    }
}

const HEAD: &str =
    "machine   guest KiB   KiB beyond it   one M/s   thousand: short turns   long turns   two threads: times";

/// Prints one row of the table, if the machine has a benchmark program.
fn measure(name: &str) {
    let Some(program) = programs::of(name).next() else { return };
    let machine = Machine::built_in(name).expect("it ships");
    let image = machine.assemble(program.text).expect("it assembles");
    let guest: u64 = machine.isa().memories.iter().map(bytes).sum();
    let before = resident();
    let fleet = machine.fleet();
    let mut all: Vec<Instance> = (0..INSTANCES).map(|_| ready(&fleet, &image)).collect();
    let beyond = before.zip(resident()).map(|(before, after)| (after - before) / INSTANCES as f64 - guest as f64);
    let beyond = beyond.map_or("unknown".to_owned(), |bytes| format!("{:.0}", bytes / 1024.0));
    let thousand = TURNS.map(|turn| speed(STEPS * INSTANCES as u64, || run(&mut all, turn, STEPS)));
    drop(all);
    let (alone, long) = (STEPS * INSTANCES as u64, TURNS[1]);
    let one = TURNS.map(|turn| speed(alone, || run(&mut [ready(&fleet, &image)], turn, alone)));
    let two = speed(2 * alone, || two_threads(&fleet, &image, long, alone));
    println!(
        "{name:<10}{:>9}{beyond:>16}{:>10.0}{:>24.2}{:>13.2}{:>21.2}",
        guest / 1024,
        one[1],
        thousand[0] / one[0],
        thousand[1] / one[1],
        two / one[1],
    );
}

/// Returns the bytes that a memory takes; next to nothing if it is kept in pages.
fn bytes(memory: &Memory) -> u64 {
    let each = if memory.cell.bits() <= 8 { 1 } else { 8 };
    if memory.is_large() { 0 } else { (memory.last() + 1) * each }
}

/// Returns an instance whose hot code is compiled.
fn ready(fleet: &Fleet, image: &Image) -> Instance {
    let mut instance = fleet.instance();
    instance.load(image);
    instance.run_for(WARM_UP);
    instance
}

/// Runs this many steps of each, in turns; returns the seconds.
fn run(instances: &mut [Instance], turn: u64, steps: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..steps / turn {
        instances.iter_mut().for_each(|instance| assert_eq!(instance.run_for(turn).steps, turn));
    }
    start.elapsed().as_secs_f64()
}

/// Runs two threads with one instance each and this many steps each; returns the seconds.
fn two_threads(fleet: &Fleet, image: &Image, turn: u64, steps: u64) -> f64 {
    let mut ready = [ready(fleet, image), ready(fleet, image)];
    let start = Instant::now();
    std::thread::scope(|scope| {
        for instance in &mut ready {
            scope.spawn(move || run(std::slice::from_mut(instance), turn, steps));
        }
    });
    start.elapsed().as_secs_f64()
}

/// Returns millions of instructions per second, in the better of two rounds.
fn speed(steps: u64, mut measure: impl FnMut() -> f64) -> f64 {
    let seconds = measure().min(measure());
    steps as f64 / seconds / 1e6
}

/// Returns the resident bytes of the process, where the system reports them.
fn resident() -> Option<f64> {
    const PAGE: f64 = 4096.0;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    text.split_whitespace().nth(1)?.parse::<f64>().ok().map(|pages| pages * PAGE)
}
