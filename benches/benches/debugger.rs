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
/// Writes a new number to half of all words, again and again.
const FILLING: &str = "
        .org x3000
again:  ld r1, first
        ld r2, count
        add r3, r3, #1
work:   str r3, r1, #0
        add r1, r1, #1
        add r2, r2, #-1
        brp work
        br again
first:  .fill x4000
count:  .fill x7FFF
";
/// Instructions of a measured run.
const STEPS: u64 = 200_000_000;
/// Instructions of a run for measuring the cost of its snapshots and the time to step back.
const LONG_STEPS: u64 = 1_000_000_000;
/// Instructions of a run that is executed one by one.
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

    /// Returns the seconds of a run on the engine alone.
    fn plain(&self) -> f64 {
        fastest(|| {
            let mut instance = self.machine.instance();
            instance.load(&self.image);
            seconds(|| drop(instance.run_for(STEPS)))
        })
    }

    /// Returns the seconds of a run in the debugger.
    fn debugged(&self, steps: u64, prepare: impl Fn(&mut Debugger)) -> f64 {
        fastest(|| {
            let mut debugger = self.debugger();
            prepare(&mut debugger);
            seconds(|| drop(debugger.step(steps, &mut ()).expect("it runs")))
        })
    }

    /// Returns the seconds of a long run without and with recording, in turns, so that both run under the same load.
    fn off_and_on(&self) -> (f64, f64) {
        let run = |recording: bool| {
            let mut debugger = self.debugger();
            debugger.set_recording(recording);
            seconds(|| drop(debugger.step(LONG_STEPS, &mut ()).expect("it runs")))
        };
        let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (run(false), run(true))).collect();
        let best = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
        (best(&mut rounds.iter().map(|round| round.0)), best(&mut rounds.iter().map(|round| round.1)))
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
    // The baseline is measured again each time, because the computer does other things as well.
    let row = |name: &str, seconds: f64| println!("  {name:<44}{:>8.2}", seconds / subject.plain());
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
        "\nrecording, against recording off: a snapshot every 2^21 instructions, or fewer where there is more to copy"
    );
    println!(
        "  {:<44}{:>8}{:>12}{:>12}{:>16}{:>12}",
        "program", "ratio", "MiB copied", "MiB kept", "one step back", "the next"
    );
    for (name, machine, text) in [
        ("hex8: counts", "hex8", COUNTING),
        ("lc3: fills half of its memory", "lc3", FILLING),
        ("rv32i: 16 MiB touched, works in 32 KiB", "rv32i", LOCAL),
        ("rv32i: sweeps over 16 MiB", "rv32i", SWEEPING),
        ("rv32i: writes anywhere in 16 MiB", "rv32i", SCATTERED),
    ] {
        let subject = Subject::new(machine, text);
        let (off, on) = subject.off_and_on();
        let mut debugger = subject.debugger();
        debugger.step(LONG_STEPS, &mut ()).expect("it runs");
        let (copied, kept) = (debugger.history().copied() >> 20, debugger.history().size().1 >> 20);
        let (first, next) = back_twice(&mut debugger);
        println!("  {name:<44}{:>8.2}{copied:>12}{kept:>12}{first:>13.1} ms{next:>9.1} ms", on / off);
    }
}

/// Returns the milliseconds of a step back, and of the next.
fn back_twice(debugger: &mut Debugger) -> (f64, f64) {
    let mut back = || seconds(|| drop(debugger.back(1, &mut ()).expect("it can go back"))) * 1e3;
    (back(), back())
}

fn steps_back() {
    let subject = Subject::new("hex8", COUNTING);
    println!("\n  {:<20}{:>16}{:>16}", "length of the run", "one step back", "the next");
    let longest = std::env::var("LATHE_LONGEST").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000_000);
    for length in (6..=10).map(|power| 10u64.pow(power)).take_while(|length| *length <= longest) {
        let mut debugger = subject.debugger();
        debugger.step(length, &mut ()).expect("it runs");
        let (first, next) = back_twice(&mut debugger);
        println!("  {length:<20}{first:>13.1} ms{next:>13.1} ms");
    }
}

/// Returns the seconds that some work takes: of processor time, where the system reports it for a thread, so that other
/// load does not count; otherwise of wall-clock time. Processor time is too coarse for short work.
fn seconds(work: impl FnOnce()) -> f64 {
    let (start, processor) = (Instant::now(), processor_seconds());
    work();
    let (elapsed, end) = (start.elapsed().as_secs_f64(), processor_seconds());
    processor.zip(end).filter(|_| elapsed > 0.02).map_or(elapsed, |(start, end)| end - start)
}

/// Returns the processor time of this thread in seconds.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

fn fastest(mut run: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn command(line: &'static str) -> impl Fn(&mut Debugger) {
    move |debugger| {
        execute(debugger, line, &mut ()).expect("it can be watched");
    }
}
