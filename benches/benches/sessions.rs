//! What a session costs besides running: snapshots every million instructions, and a breakpoint and a watched cell that
//! are never reached. `cargo bench --bench sessions` prints the ratios to a plain run.

use std::time::Instant;

use lathe_benches::programs;
use lathe_embed::{Instance, Machine, Snapshot, Stops, Watch};

/// Steps of a slice, after each of which there may be a snapshot, and slices of a measured run.
const BETWEEN: u64 = 1_000_000;
const SLICES: u64 = 20;
const ROUNDS: usize = 25;

fn main() {
    println!("a million steps, and times as much; the best of {ROUNDS} rounds for each million");
    println!("machine     plain in µs   with snapshots   with a breakpoint   with a watch");
    for machine in lathe_machines::ALL {
        measure(machine.name);
    }
}

/// Prints one row of the table, if the machine has a benchmark program.
fn measure(name: &str) {
    let Some(program) = programs::of(name).next() else { return };
    let machine = Machine::built_in(name).expect("it ships");
    let image = machine.assemble(program.text).expect("it assembles");
    let mut instance = machine.instance();
    instance.load(&image);
    instance.run_for(BETWEEN * SLICES);
    let start = instance.snapshot();
    let code = machine.isa().pc.memory;
    let last = machine.isa().memory(code).address.mask();
    let mut rounds = |act: &mut dyn FnMut(&mut Instance) -> Vec<f64>| -> f64 {
        let mut once = |_| {
            instance.restore(&start).expect("it is its own");
            act(&mut instance)
        };
        let best = |best: Vec<f64>, round: Vec<f64>| best.iter().zip(&round).map(|(x, y)| x.min(*y)).collect();
        (0..ROUNDS).map(&mut once).reduce(best).expect("there are rounds").iter().sum()
    };
    let plain = rounds(&mut |instance| in_slices(instance, |instance| drop(instance.run_for(BETWEEN))));
    let mut kept: Vec<Snapshot> = Vec::new();
    let snapshots = rounds(&mut |instance| {
        kept.clear();
        in_slices(instance, |instance| {
            instance.run_for(BETWEEN);
            kept.push(instance.snapshot());
        })
    });
    let breakpoint = Stops::after(BETWEEN).at(last);
    let breakpoint = rounds(&mut |instance| in_slices(instance, |instance| drop(instance.run(&breakpoint))));
    let watch = Stops::after(BETWEEN).watching(Watch::writes(code, last..=last));
    let watch = rounds(&mut |instance| in_slices(instance, |instance| drop(instance.run(&watch))));
    let [snapshots, breakpoint, watch] = [snapshots, breakpoint, watch].map(|seconds| seconds / plain);
    let micros = plain * 1e6 / SLICES as f64;
    println!("{name:<10}{micros:>13.0}{snapshots:>17.3}{breakpoint:>20.2}{watch:>15.2}");
}

/// Returns the seconds that each slice took.
fn in_slices(instance: &mut Instance, mut act: impl FnMut(&mut Instance)) -> Vec<f64> {
    let mut slice = |_| {
        let begin = Instant::now();
        act(instance);
        begin.elapsed().as_secs_f64()
    };
    (0..SLICES).map(&mut slice).collect()
}
