//! What debugging costs: the speed of a run with breakpoints, watches and recording, as ratios to the plain
//! engine, and the time of one step back against the length of the run.
//!
//! `cargo bench -p lathe-benches --bench debugger`; `LATHE_LONGEST=10000000000` for longer runs.

use std::time::Instant;

use lathe_debug::{Debugger, Effect, Program, What, execute};
use lathe_embed::{Image, Machine};

/// Counts for ever; every 256th time it writes to memory.
const TEXT: &str = "
loop:   addimm r1, r1, 1
        addimm r2, r2, 3
        xor r2, r1
        neqimm r3, r1, 0
        jmpo r3, loop
        storemem r2, 0x8000
        jmp loop
never:  jmp never
";
/// Instructions of a measured run.
const STEPS: u64 = 200_000_000;
/// Instructions of a run that is looked at one by one.
const SLOW_STEPS: u64 = 2_000_000;

fn main() {
    let machine = Machine::built_in("hex8").expect("it ships");
    let image = machine.assemble(TEXT).expect("it is right");
    let plain = plain(&machine, &image);
    println!("{STEPS} instructions of hex8; the time of the plain engine is 1\n");
    println!("{:<40}{:>8}", "run", "ratio");
    row("debugger, recording off", plain, run(&machine, &image, STEPS, |debugger| debugger.set_recording(false)));
    row("debugger, recording on", plain, run(&machine, &image, STEPS, |_| {}));
    row("1 breakpoint that is not reached", plain, run(&machine, &image, STEPS, |debugger| breakpoints(debugger, 1)));
    row(
        "100 breakpoints that are not reached",
        plain,
        run(&machine, &image, STEPS, |debugger| breakpoints(debugger, 100)),
    );
    let watch = |debugger: &mut Debugger| command(debugger, "watch ram[0x9000]");
    row("1 watched cell that is not written", plain, run(&machine, &image, STEPS, watch));
    let register = |debugger: &mut Debugger| command(debugger, "watch r15");
    let slow = run(&machine, &image, SLOW_STEPS, register) * (STEPS / SLOW_STEPS) as f64;
    row("1 watched register (looks at each step)", plain, slow);
    println!("\n{:<20}{:>16}{:>16}", "length of the run", "one step back", "the next");
    let longest = std::env::var("LATHE_LONGEST").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
    for length in (6..=10).map(|power| 10u64.pow(power)).take_while(|length| *length <= longest) {
        let mut debugger = debugger(&machine, &image);
        debugger.step(length, &mut ()).expect("it runs");
        let first = seconds(|| drop(debugger.back(1, &mut ()).expect("it can go back")));
        let next = seconds(|| drop(debugger.back(1, &mut ()).expect("it can go back")));
        println!("{length:<20}{:>13.1} ms{:>13.1} ms", first * 1e3, next * 1e3);
    }
}

fn row(name: &str, plain: f64, seconds: f64) {
    println!("{name:<40}{:>8.2}", seconds / plain);
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn plain(machine: &Machine, image: &Image) -> f64 {
    let mut instance = machine.instance();
    instance.load(image);
    seconds(|| drop(instance.run_for(STEPS)))
}

fn debugger(machine: &Machine, image: &Image) -> Debugger {
    Debugger::new(Program::new(machine.isa().clone(), image.clone(), Vec::new()), machine.instance())
}

fn run(machine: &Machine, image: &Image, steps: u64, prepare: impl FnOnce(&mut Debugger)) -> f64 {
    let mut debugger = debugger(machine, image);
    prepare(&mut debugger);
    seconds(|| drop(debugger.step(steps, &mut ()).expect("it runs")))
}

fn breakpoints(debugger: &mut Debugger, count: u64) {
    let addresses = (0..count).map(|at| 0x4000 + at).collect();
    debugger.add("", What::At(addresses), None, Effect::Stop).expect("it has no condition");
}

fn command(debugger: &mut Debugger, line: &str) {
    execute(debugger, line, &mut ()).expect("it can be watched");
}
