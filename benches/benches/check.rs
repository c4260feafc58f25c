//! How long it takes to read and check a definition, including its examples: those that ship, and generated ones of
//! 1,000 and 10,000 rows.
//!
//! `cargo bench -p lathe-benches --bench check`

use std::time::{Duration, Instant};

use lathe_benches::generated;

const ROUNDS: usize = 50;
/// Rounds for a generated definition, which takes longer.
const LARGE_ROUNDS: usize = 5;

fn main() {
    println!("{:<12} {:>10} {:>10}", "machine", "best", "median");
    for machine in lathe_machines::ALL {
        row(machine.name, machine.definition, ROUNDS);
    }
    for rows in [1_000, 10_000] {
        row(&format!("{rows} rows"), &generated::many_rows(rows), LARGE_ROUNDS);
    }
}

fn row(name: &str, definition: &str, rounds: usize) {
    let mut times: Vec<Duration> = (0..rounds).map(|_| check(definition)).collect();
    times.sort_unstable();
    println!("{name:<12} {:>7.2} ms {:>7.2} ms", ms(times[0]), ms(times[rounds / 2]));
}

fn check(definition: &str) -> Duration {
    let start = Instant::now();
    let isa = lathe_isa::load(definition).isa.expect("the definition is right");
    assert!(lathe_vm::examples::check(&isa).is_empty(), "its examples hold");
    start.elapsed()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
