//! Runs one benchmark program on the compiling engine only, for a profiler to look at.
//!
//! `cargo run --release -p lathe-benches --example probe -- MACHINE PROGRAM MILLIONS`

use lathe_benches::programs;
use lathe_embed::{EngineKind, Machine};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, name, millions] = &arguments[..] else { panic!("MACHINE PROGRAM MILLIONS") };
    let steps = millions.parse::<u64>().expect("a number") * 1_000_000;
    let program = programs::of(machine).find(|program| program.name == name).expect("the program is there");
    let machine = Machine::built_in(machine).expect("the machine ships");
    let image = machine.assemble(program.text).unwrap_or_else(|error| panic!("{error}"));
    let mut instance = machine.instance_on(EngineKind::Jit).unwrap_or_else(|error| panic!("{error}"));
    instance.load(&image);
    let start = std::time::Instant::now();
    let run = instance.run(steps);
    let seconds = start.elapsed().as_secs_f64();
    println!("{:?}, {:.0} million per second", run.stop, run.steps as f64 / seconds / 1e6);
}
