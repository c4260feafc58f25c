//! What debugging costs: the speed of a run with breakpoints, watches and recording, as ratios to the plain
//! engine, and the time of one step back against the length of the run.
//!
//! `cargo bench -p lathe-benches --bench debugger`; `LATHE_LONGEST=10000000000` for longer runs.

use std::time::Instant;

use lathe_debug::{Debugger, Effect, Program, What, execute};
use lathe_embed::{Image, Machine};

/// Counts for ever; every 256th time it writes to memory.
const COUNTING: &str = "
loop:   addimm r1, r1, 1
        addimm r2, r2, 3
        xor r2, r1
        neqimm r3, r1, 0
        jmpo r3, loop
        storemem r2, 0x8000
        jmp loop
never:  jmp never
";
/// Touches 16 MiB, and then works in 32 KiB of it.
const LOCAL: &str = "
        li t0, 0x100000
        li t1, 0x1100000
        li t2, 4096
touch:  sw t0, 0(t0)
        add t0, t0, t2
        bltu t0, t1, touch
again:  li t0, 0x100000
        li t1, 0x108000
work:   lw t3, 0(t0)
        addi t3, t3, 1
        sw t3, 0(t0)
        addi t0, t0, 4
        bltu t0, t1, work
        j again
";
/// Writes 16 MiB from one end to the other, again and again.
const SWEEPING: &str = "
again:  li t0, 0x100000
        li t1, 0x1100000
work:   lw t3, 0(t0)
        addi t3, t3, 1
        sw t3, 0(t0)
        addi t0, t0, 4
        bltu t0, t1, work
        j again
";
/// Writes anywhere in 16 MiB.
const SCATTERED: &str = "
        li t0, 1
        li t1, 0x19660D
        li t2, 0x3C6EF35F
        li t4, 0x100000
work:   mul t0, t0, t1
        add t0, t0, t2
        srli t3, t0, 10
        slli t3, t3, 2
        srli t3, t3, 2
        slli t3, t3, 2
        li t5, 0xFFFFFC
        and t3, t3, t5
        add t3, t3, t4
        sw t0, 0(t3)
        j work
";
/// Instructions of a measured run.
const STEPS: u64 = 200_000_000;
/// Instructions of a run that is looked at one by one.
const SLOW_STEPS: u64 = 1_000_000;
/// Runs of each kind; the fastest counts.
const ROUNDS: usize = 3;

/// A program on its machine.
struct Subject {
    machine: Machine,
    image: Image,
}

impl Subject {
    fn new(machine: &str, text: &str) -> Subject {
        let machine = Machine::built_in(machine).expect("it ships");
        let image = machine.assemble(text).expect("it is right");
        Subject { machine, image }
    }

    fn debugger(&self) -> Debugger {
        let program = Program::new(self.machine.isa().clone(), self.image.clone(), Vec::new());
        Debugger::new(program, self.machine.instance())
    }

    /// Seconds of a run on the engine alone.
    fn plain(&self) -> f64 {
        fastest(|| {
            let mut instance = self.machine.instance();
            instance.load(&self.image);
            seconds(|| drop(instance.run_for(STEPS)))
        })
    }

    /// Seconds of a run in the debugger.
    fn debugged(&self, steps: u64, prepare: impl Fn(&mut Debugger)) -> f64 {
        fastest(|| {
            let mut debugger = self.debugger();
            prepare(&mut debugger);
            seconds(|| drop(debugger.step(steps, &mut ()).expect("it runs")))
        })
    }
}

fn main() {
    stops();
    recording();
    steps_back();
}

fn stops() {
    let subject = Subject::new("hex8", COUNTING);
    let plain = subject.plain();
    let rate = STEPS as f64 / plain / 1e6;
    println!("{STEPS} instructions of hex8, {rate:.0} M/s on the engine alone, whose time is 1");
    let row = |name: &str, seconds: f64| println!("  {name:<44}{:>8.2}", seconds / plain);
    let breakpoints = |count: u64| {
        move |debugger: &mut Debugger| {
            let addresses = (0..count).map(|at| 0x4000 + at).collect();
            debugger.add("", What::At(addresses), None, Effect::Stop).expect("it has no condition");
        }
    };
    row("debugger, recording off", subject.debugged(STEPS, |debugger| debugger.set_recording(false)));
    row("debugger, recording on", subject.debugged(STEPS, |_| {}));
    row("1 breakpoint that is not reached", subject.debugged(STEPS, breakpoints(1)));
    row("100 breakpoints that are not reached", subject.debugged(STEPS, breakpoints(100)));
    row("1 cell watched for writes, never written", subject.debugged(STEPS, command("watch writes ram[0x9000]")));
    row("1 cell watched for accesses, never accessed", subject.debugged(STEPS, command("awatch ram[0x9000]")));
    let slow = subject.debugged(SLOW_STEPS, command("watch r15")) * (STEPS / SLOW_STEPS) as f64;
    row("1 register watched: looks at each instruction", slow);
}

fn recording() {
    println!(
        "\nrecording on rv32i, against recording off: a snapshot every 2^20 instructions, or fewer where they are large"
    );
    println!("  {:<44}{:>8}{:>12}", "program", "ratio", "MiB kept");
    for (name, text) in [
        ("16 MiB touched, works in 32 KiB", LOCAL),
        ("sweeps over 16 MiB", SWEEPING),
        ("writes anywhere in 16 MiB", SCATTERED),
    ] {
        let subject = Subject::new("rv32i", text);
        let off = subject.debugged(STEPS, |debugger| debugger.set_recording(false));
        let on = subject.debugged(STEPS, |_| {});
        let mut debugger = subject.debugger();
        debugger.step(STEPS, &mut ()).expect("it runs");
        println!("  {name:<44}{:>8.2}{:>12}", on / off, debugger.history().size().1 >> 20);
    }
}

fn steps_back() {
    let subject = Subject::new("hex8", COUNTING);
    println!("\n  {:<20}{:>16}{:>16}", "length of the run", "one step back", "the next");
    let longest = std::env::var("LATHE_LONGEST").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
    for length in (6..=10).map(|power| 10u64.pow(power)).take_while(|length| *length <= longest) {
        let mut debugger = subject.debugger();
        debugger.step(length, &mut ()).expect("it runs");
        let first = seconds(|| drop(debugger.back(1, &mut ()).expect("it can go back")));
        let next = seconds(|| drop(debugger.back(1, &mut ()).expect("it can go back")));
        println!("  {length:<20}{:>13.1} ms{:>13.1} ms", first * 1e3, next * 1e3);
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn fastest(mut run: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn command(line: &'static str) -> impl Fn(&mut Debugger) {
    move |debugger| {
        execute(debugger, line, &mut ()).expect("it can be watched");
    }
}
