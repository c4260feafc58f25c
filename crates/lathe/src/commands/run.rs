//! `lathe run`: runs a program, with the console on standard input and output.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use lathe_asm::Image;
use lathe_embed::{EngineKind, Fault, FaultCause, Instance, Machine, State, Stop};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceKind, MemoryId};
use lathe_vm::Display;
use serde::Serialize;

use super::Outcome;
use super::console::Terminal;
use super::screen::{self, Live};
use super::stats::{Stats, StatsData};
use crate::arguments::{Format, Run};
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::program::{Program, Request};
use crate::render::{bold, failure, hex};
use crate::{dump, files, output};

/// Steps between two looks at the outside: whether output still has a reader. What the program
/// has written is shown then at the latest, so a slice must take no time that a person notices.
const SLICE: u64 = 1 << 18;
/// Where a slice takes less than this, looking costs more than it should, and the next is longer.
const SHORT: Duration = Duration::from_millis(5);
/// No slice is longer, because code that was fast can become slow.
const LONGEST_SLICE: u64 = 1 << 23;

/// Runs a program.
pub(super) fn execute(arguments: &Run) -> Outcome {
    let Run { image: name, machine, from, load_at, assembly, panel, .. } = arguments;
    let (machine, from) = (machine.machine.as_deref(), from.as_deref());
    let inputs = Inputs::default();
    let mut program = Request { name, machine, from, load_at: *load_at, assembly }.load(&inputs)?;
    panel.screen.iter().try_for_each(|screen| inputs.check_spared(screen, "--screen"))?;
    if let Some(place) = &arguments.entry {
        program.begin_at(place)?;
    }
    let Program { isa, image, tohost } = program;
    check_not_empty(name, &image)?;
    let terminal = Terminal::new();
    let mut instance = Machine::from(isa).instance_on(EngineKind::from(arguments.engine))?;
    instance.set_clock(since_start);
    instance.load(&image);
    if let Some(console) = instance.devices_mut().find_console_mut() {
        *console = terminal.console();
    }
    screen::prepare(panel, instance.devices_mut())?;
    let live = Live::start(instance.isa(), panel)?;
    let tohost = tohost.map(|address| (instance.isa().pc.memory, address));
    let mut outside = Outside { terminal, live, tohost };
    let ended = run(&mut instance, &mut outside, arguments.max_steps.unwrap_or(u64::MAX))?;
    drop(outside.live);
    outside.terminal.end_line();
    screen::save(panel, instance.devices())?;
    let stats = arguments.stats.then(|| ended.stats(&instance));
    Report { instance: &instance, ended: &ended, stats }.tell(arguments)?;
    Ok(ended.exit())
}

/// The time since this was first asked.
fn since_start() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// That there is something to run. A machine whose cells are all 0 may well go on for ever.
fn check_not_empty(name: &str, image: &Image) -> Result<(), Failure> {
    if image.segments.iter().any(|segment| !segment.cells.is_empty()) {
        return Ok(());
    }
    let message = format!("{} holds no cells, so there is nothing to run", files::title(name));
    Err(Failure::input(message).help("check that it is the right file, and that it was written whole"))
}

/// How a run ended.
struct Ended {
    /// Nothing, if whoever read the output has gone.
    stop: Option<Stop>,
    /// Spent in the engine.
    time: Duration,
}

impl Ended {
    fn stats(&self, instance: &Instance) -> Stats {
        let (engine, compiled) = (instance.engine(), instance.statistics());
        Stats { engine, steps: instance.counters().steps, time: self.time, compiled }
    }

    fn exit(&self) -> Exit {
        match &self.stop {
            None | Some(Stop::Halted | Stop::Idle) => Exit::Done,
            Some(Stop::Fault(_)) => Exit::Fault,
            Some(Stop::Limit | Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint) => Exit::StepLimit,
        }
    }
}

/// What is looked at between two slices of a run.
struct Outside {
    terminal: Terminal,
    /// The display, if it is shown.
    live: Option<Live>,
    /// Where the program tells how it went, if it does.
    tohost: Option<(MemoryId, u64)>,
}

/// What was seen outside.
enum Seen {
    Nothing,
    /// Nobody is there any more.
    Left,
    /// The program has told how it went.
    Told(Stop),
}

impl Outside {
    fn look(&mut self, instance: &mut Instance) -> Result<Seen, Failure> {
        let has_reader = self.terminal.flush()?;
        let goes_on = self.live.as_mut().map_or(Ok(true), |live| live.frame(instance.devices_mut()))?;
        let state = instance.state();
        if !has_reader || !goes_on {
            return Ok(Seen::Left);
        }
        // A word of four bytes, the lowest first: what has it is a program for such a machine.
        let word = |(memory, address): (MemoryId, u64)| {
            (0..4).rev().fold(0, |word, at| word << 8 | state.memory(memory).get(address + at))
        };
        let told = self.tohost.map_or(0, word);
        Ok(match told {
            0 => Seen::Nothing,
            1 => Seen::Told(Stop::Halted),
            other => {
                let cause = FaultCause::Declared("the program told its host of a failure".to_owned(), Some(other >> 1));
                Seen::Told(Stop::Fault(Fault { pc: state.pc, cause }))
            }
        })
    }
}

/// Runs in slices, until the machine stops or nobody watches any more.
fn run(instance: &mut Instance, outside: &mut Outside, limit: u64) -> Result<Ended, Failure> {
    let mut ended = Ended { stop: None, time: Duration::ZERO };
    let mut slice = SLICE;
    loop {
        slice = outside.live.as_ref().map_or(slice, |live| live.steps);
        let start = Instant::now();
        let run = instance.run_for(slice.min(limit - instance.counters().steps));
        let taken = start.elapsed();
        slice = if taken < SHORT { LONGEST_SLICE.min(slice * 2) } else { SLICE };
        ended.time += taken;
        let seen = outside.look(instance)?;
        if run.stop != Stop::Limit || instance.counters().steps == limit {
            ended.stop = Some(run.stop);
            return Ok(ended);
        }
        match seen {
            Seen::Nothing => {}
            Seen::Left => return Ok(ended),
            Seen::Told(stop) => {
                ended.stop = Some(stop);
                return Ok(ended);
            }
        }
    }
}

/// What is told when a run has ended.
struct Report<'r> {
    instance: &'r Instance,
    ended: &'r Ended,
    /// How fast it was, if that was asked.
    stats: Option<Stats>,
}

impl Report<'_> {
    fn isa(&self) -> &Isa {
        self.instance.isa()
    }

    fn state(&self) -> &State {
        self.instance.state()
    }

    fn display(&self) -> Option<&Display> {
        self.instance.devices().find()
    }

    fn steps(&self) -> String {
        count_steps(self.instance.counters().steps)
    }

    fn tell(&self, arguments: &Run) -> Result<(), Failure> {
        let Some(stop) = &self.ended.stop else { return Ok(()) };
        let state = match arguments.format {
            Format::Json => self.json(stop)?,
            Format::Text => self.text(stop, arguments),
        };
        // The JSON tells it as well, and should stand alone where a script looks for it.
        if arguments.format == Format::Text || !has_console(self.isa()) {
            output::complain(&self.complaint(stop));
        }
        self.print(&state)?;
        if let Some(stats) = self.stats.filter(|_| arguments.format == Format::Text) {
            output::complain(&stats.text());
        }
        Ok(())
    }

    /// A console keeps standard output for the program.
    fn print(&self, text: &str) -> Result<(), Failure> {
        if has_console(self.isa()) {
            output::complain(text);
            return Ok(());
        }
        output::answer(text)
    }

    /// What went wrong, for standard error.
    fn complaint(&self, stop: &Stop) -> String {
        match stop {
            Stop::Halted | Stop::Idle => String::new(),
            Stop::Fault(fault) => self.fault(fault),
            Stop::Limit | Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint => {
                let steps = self.steps();
                let pc = hex(self.state().pc, self.isa().pc.width.bits());
                format!("stopped after {steps}, as --max-steps says; next would be {} {pc}\n", self.isa().pc.name)
            }
        }
    }

    /// What happened, where, the cells there, and the registers.
    fn fault(&self, fault: &Fault) -> String {
        let isa = self.isa();
        let pc = hex(fault.pc, isa.pc.width.bits());
        let head = Failure::input(format!("the machine faulted: {}", dump::cause(isa, &fault.cause)));
        let window = self.state().window(isa, fault.pc, isa.longest());
        let instruction = dump::instruction(isa, window);
        let steps = self.steps();
        let registers = dump::registers(isa, self.state());
        format!("{}  at {} {pc}, after {steps}\n  {instruction}\n{registers}", failure(&head), isa.pc.name)
    }

    /// The final state, as far as it is wanted. A fault has shown the registers already.
    fn text(&self, stop: &Stop, arguments: &Run) -> String {
        let alone = !has_console(self.isa());
        let shown_already = matches!(stop, Stop::Fault(_)) && !alone;
        if shown_already || !(arguments.state || alone) {
            return String::new();
        }
        let head = format!("{} {} after {}{}\n", bold(&self.isa().name), word(stop), self.steps(), self.cycles());
        let memories = if alone { dump::memories(self.isa(), self.state()) } else { String::new() };
        let screen = self.display().filter(|_| arguments.panel.screen.is_none()).map(Display::text).unwrap_or_default();
        head + &dump::registers(self.isa(), self.state()) + &memories + &screen
    }

    fn cycles(&self) -> String {
        if self.isa().has_cycles { format!(" and {} cycles", self.instance.counters().cycles) } else { String::new() }
    }

    /// One line: what comes on standard error may stand among other things.
    fn json(&self, stop: &Stop) -> Result<String, Failure> {
        let fault = match stop {
            Stop::Fault(fault) => Some(FaultData { pc: fault.pc, cause: dump::cause(self.isa(), &fault.cause) }),
            _ => None,
        };
        let data = RunData {
            machine: &self.isa().name,
            status: status(stop),
            fault,
            steps: self.instance.counters().steps,
            cycles: self.isa().has_cycles.then_some(self.instance.counters().cycles),
            stats: self.stats.map(|stats| stats.data()),
            state: dump::state_data(self.isa(), self.state()),
            display: self.display().map(|display| display.text().lines().map(str::to_owned).collect()),
        };
        output::json_line(&data)
    }
}

/// A run as data.
#[derive(Debug, Serialize)]
struct RunData<'r> {
    machine: &'r str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultData>,
    steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<StatsData>,
    #[serde(flatten)]
    state: dump::StateData<'r>,
    /// The rows of the display.
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct FaultData {
    pc: u64,
    cause: String,
}

/// Whether the program has standard output to write to. A bus has nothing attached to show.
fn has_console(isa: &Isa) -> bool {
    isa.devices.iter().any(|device| device.kind == DeviceKind::Stream)
}

fn word(stop: &Stop) -> &'static str {
    match stop {
        Stop::Halted | Stop::Idle => "halted",
        Stop::Fault(_) => "faulted",
        Stop::Limit | Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint => "stopped",
    }
}

/// The same in the vocabulary of `lathe verify`.
fn status(stop: &Stop) -> &'static str {
    match stop {
        Stop::Halted | Stop::Idle => "halted",
        Stop::Fault(_) => "fault",
        Stop::Limit | Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint => "limit",
    }
}

fn count_steps(steps: u64) -> String {
    format!("{steps} step{}", if steps == 1 { "" } else { "s" })
}
