//! `lathe run`: runs a program, with the console on standard input and output.

use lathe_asm::Image;
use lathe_isa::Isa;
use lathe_isa::model::DeviceKind;
use lathe_vm::{Devices, Fast, Fault, Interpreter, State, Stop};
use serde::Serialize;

use super::Outcome;
use super::console::Terminal;
use crate::arguments::{Engine, Format, Run};
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::program::{Program, Request};
use crate::render::{bold, failure, hex};
use crate::{dump, files, output};

/// Steps between two looks at the outside: whether output still has a reader. What the program
/// has written is shown then at the latest, so a slice must take no time that a person notices.
const SLICE: u64 = 1 << 18;

/// Runs a program.
pub(super) fn execute(arguments: &Run) -> Outcome {
    let Run { image: name, machine, from, assembly, .. } = arguments;
    let request = Request { name, machine: machine.machine.as_deref(), from: from.as_deref(), assembly };
    let Program { isa, image } = request.load(&Inputs::default())?;
    check_not_empty(name, &image)?;
    let mut state = State::new(&isa);
    lay_down(&image, &isa, &mut state);
    let terminal = Terminal::new();
    let ended = run(&isa, &mut state, &terminal, arguments.max_steps.unwrap_or(u64::MAX), arguments.engine)?;
    terminal.end_line();
    Report { isa: &isa, state: &state, ended: &ended }.tell(arguments)?;
    Ok(ended.exit())
}

/// That there is something to run. A machine whose cells are all 0 may well go on for ever.
fn check_not_empty(name: &str, image: &Image) -> Result<(), Failure> {
    if image.segments.iter().any(|segment| !segment.cells.is_empty()) {
        return Ok(());
    }
    let message = format!("{} holds no cells, so there is nothing to run", files::title(name));
    Err(Failure::input(message).help("check that it is the right file, and that it was written whole"))
}

/// Lays the image down in the memories it is for.
fn lay_down(image: &Image, isa: &Isa, state: &mut State) {
    for segment in &image.segments {
        for (cell, address) in segment.cells.iter().zip(segment.start..) {
            state.memory_mut(segment.memory).set(address, *cell);
        }
    }
    state.pc = image.start(isa);
}

/// How a run ended.
struct Ended {
    /// Nothing, if whoever read the output has gone.
    stop: Option<Stop>,
    steps: u64,
    cycles: u64,
}

impl Ended {
    fn exit(&self) -> Exit {
        match &self.stop {
            None | Some(Stop::Halted) => Exit::Done,
            Some(Stop::Fault(_)) => Exit::Fault,
            Some(Stop::Limit) => Exit::StepLimit,
        }
    }
}

/// Runs in slices, until the machine stops or nobody reads its output any more.
fn run(isa: &Isa, state: &mut State, terminal: &Terminal, limit: u64, choice: Engine) -> Result<Ended, Failure> {
    let mut devices = Devices::new(isa, terminal.console());
    let mut engine: Box<dyn lathe_vm::Engine + '_> = match choice {
        Engine::Auto | Engine::Fast => Box::new(Fast::new(isa)),
        Engine::Interp => Box::new(Interpreter::new(isa)),
    };
    let mut ended = Ended { stop: None, steps: 0, cycles: 0 };
    loop {
        let run = engine.run(state, &mut devices, SLICE.min(limit - ended.steps));
        ended.steps += run.steps;
        ended.cycles += run.cycles;
        let has_reader = terminal.flush()?;
        if run.stop != Stop::Limit || ended.steps == limit {
            ended.stop = Some(run.stop);
            return Ok(ended);
        }
        if !has_reader {
            return Ok(ended);
        }
    }
}

/// What is told when a run has ended.
struct Report<'r> {
    isa: &'r Isa,
    state: &'r State,
    ended: &'r Ended,
}

impl Report<'_> {
    fn tell(&self, arguments: &Run) -> Result<(), Failure> {
        let Some(stop) = &self.ended.stop else { return Ok(()) };
        let state = match arguments.format {
            Format::Json => self.json(stop)?,
            Format::Text => self.text(stop, arguments),
        };
        // The JSON tells it as well, and should stand alone where a script looks for it.
        if arguments.format == Format::Text || !has_console(self.isa) {
            output::complain(&self.complaint(stop));
        }
        self.print(&state)
    }

    /// A console keeps standard output for the program.
    fn print(&self, text: &str) -> Result<(), Failure> {
        if has_console(self.isa) {
            output::complain(text);
            return Ok(());
        }
        output::answer(text)
    }

    /// What went wrong, for standard error.
    fn complaint(&self, stop: &Stop) -> String {
        match stop {
            Stop::Halted => String::new(),
            Stop::Fault(fault) => self.fault(fault),
            Stop::Limit => {
                let steps = count_steps(self.ended.steps);
                let pc = hex(self.state.pc, self.isa.pc.width.bits());
                format!("stopped after {steps}, as --max-steps says; next would be {} {pc}\n", self.isa.pc.name)
            }
        }
    }

    /// What happened, where, the cells there, and the registers.
    fn fault(&self, fault: &Fault) -> String {
        let isa = self.isa;
        let pc = hex(fault.pc, isa.pc.width.bits());
        let head = Failure::input(format!("the machine faulted: {}", dump::cause(isa, &fault.cause)));
        let window = self.state.window(isa, fault.pc, isa.longest());
        let instruction = dump::instruction(isa, window);
        let steps = count_steps(self.ended.steps);
        let registers = dump::registers(isa, self.state);
        format!("{}  at {} {pc}, after {steps}\n  {instruction}\n{registers}", failure(&head), isa.pc.name)
    }

    /// The final state, as far as it is wanted. A fault has shown the registers already.
    fn text(&self, stop: &Stop, arguments: &Run) -> String {
        let alone = !has_console(self.isa);
        let shown_already = matches!(stop, Stop::Fault(_)) && !alone;
        if shown_already || !(arguments.state || alone) {
            return String::new();
        }
        let head = format!(
            "{} {} after {}{}\n",
            bold(&self.isa.name),
            word(stop),
            count_steps(self.ended.steps),
            self.cycles()
        );
        let memories = if alone { dump::memories(self.isa, self.state) } else { String::new() };
        head + &dump::registers(self.isa, self.state) + &memories
    }

    fn cycles(&self) -> String {
        if self.isa.has_cycles { format!(" and {} cycles", self.ended.cycles) } else { String::new() }
    }

    /// One line: what comes on standard error may stand among other things.
    fn json(&self, stop: &Stop) -> Result<String, Failure> {
        let fault = match stop {
            Stop::Fault(fault) => Some(FaultData { pc: fault.pc, cause: dump::cause(self.isa, &fault.cause) }),
            Stop::Halted | Stop::Limit => None,
        };
        let data = RunData {
            machine: &self.isa.name,
            status: status(stop),
            fault,
            steps: self.ended.steps,
            cycles: self.isa.has_cycles.then_some(self.ended.cycles),
            state: dump::state_data(self.isa, self.state),
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
    #[serde(flatten)]
    state: dump::StateData<'r>,
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
        Stop::Halted => "halted",
        Stop::Fault(_) => "faulted",
        Stop::Limit => "stopped",
    }
}

/// The same in the vocabulary of `lathe verify`.
fn status(stop: &Stop) -> &'static str {
    match stop {
        Stop::Halted => "halted",
        Stop::Fault(_) => "fault",
        Stop::Limit => "limit",
    }
}

fn count_steps(steps: u64) -> String {
    format!("{steps} step{}", if steps == 1 { "" } else { "s" })
}
