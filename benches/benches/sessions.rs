//! What a session costs besides running: snapshots every million instructions, a breakpoint and a
//! watched cell that are never reached. `cargo bench --bench sessions` prints the ratios to a plain run.

use std::time::Instant;

use lathe_benches::programs;
use lathe_embed::{Instance, Machine, Snapshot, Stops, Watch};

/// Steps of a measured run, and between two snapshots.
const STEPS: u64 = 20_000_000;
const BETWEEN: u64 = 1_000_000;
/// Stops other than the limit are left to the reference interpreter, which gets fewer steps.
const STOPPED: u64 = 1_000_000;
const ROUNDS: usize = 5;

fn main() {
    println!("times a plain run, the best of {ROUNDS} rounds");
    println!("machine     in slices   with snapshots   with a breakpoint   with a watch");
    for machine in lathe_machines::ALL {
        measure(machine.name);
    }
}

/// One row of the table, if the machine has a benchmark program.
fn measure(name: &str) {
    let Some(program) = programs::of(name).next() else { return };
    let machine = Machine::built_in(name).expect("it ships");
    let image = machine.assemble(program.text).expect("it assembles");
    let mut instance = machine.instance();
    instance.load(&image);
    instance.run_for(STEPS);
    let start = instance.snapshot();
    let code = machine.isa().pc.memory;
    let last = machine.isa().memory(code).address.mask();
    let mut time = |act: &mut dyn FnMut(&mut Instance)| -> f64 {
        let mut once = || {
            instance.restore(&start).expect("it is its own");
            let begin = Instant::now();
            act(&mut instance);
            begin.elapsed().as_secs_f64()
        };
        (0..ROUNDS).map(|_| once()).fold(f64::MAX, f64::min)
    };
    let plain = time(&mut |instance| drop(instance.run_for(STEPS))) / STEPS as f64;
    let slices = time(&mut |instance| (0..STEPS / BETWEEN).for_each(|_| drop(instance.run_for(BETWEEN))));
    let snapshots = time(&mut |instance| drop(with_snapshots(instance)));
    let breakpoint = Stops::after(STOPPED).at(last);
    let breakpoint = time(&mut |instance| drop(instance.run(&breakpoint)));
    let watch = Stops::after(STOPPED).watching(Watch::writes(code, last..=last));
    let watch = time(&mut |instance| drop(instance.run(&watch)));
    let [slices, snapshots] = [slices, snapshots].map(|seconds| seconds / STEPS as f64 / plain);
    let [breakpoint, watch] = [breakpoint, watch].map(|seconds| seconds / STOPPED as f64 / plain);
    println!("{name:<10}{slices:>11.3}{snapshots:>17.3}{breakpoint:>20.2}{watch:>15.2}");
}

/// Runs with a snapshot after every slice; all of them are kept.
fn with_snapshots(instance: &mut Instance) -> Vec<Snapshot> {
    let slice = |_| {
        instance.run_for(BETWEEN);
        instance.snapshot()
    };
    (0..STEPS / BETWEEN).map(slice).collect()
}
