//! How long it takes to read and check a definition, its examples included.
//!
//! `cargo bench -p lathe-benches --bench check`

use std::time::{Duration, Instant};

const ROUNDS: usize = 50;

fn main() {
    println!("{:<10} {:>10} {:>10}", "machine", "best", "median");
    for machine in lathe_machines::ALL {
        let mut times: Vec<Duration> = (0..ROUNDS).map(|_| check(machine.definition)).collect();
        times.sort_unstable();
        println!("{:<10} {:>7.2} ms {:>7.2} ms", machine.name, ms(times[0]), ms(times[ROUNDS / 2]));
    }
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
