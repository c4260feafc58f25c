//! The test of one program: it is assembled, run once for each case, and compared with the expectations.
//!
//! This happens in a separate process (`pool`), so it may use any amount of time and memory.

use std::time::{Duration, Instant};

use lathe_asm::{Image, Options, assemble};
use lathe_base::files::{FileError, Files, Found};
use lathe_base::{Severity, Source};
use lathe_embed::{EngineKind, Machine};
use lathe_isa::Isa;
use lathe_vm::{Devices, Display, Keypad, Random, State, Stop, Stops};
use serde::{Deserialize, Serialize};

use super::collect;
use super::diff;
use super::expectation::{Case, Condition, Ending, Number};
use crate::arguments::AssemblyArguments;
use crate::commands::host::{Heard, Host};
use crate::inputs::Inputs;
use crate::program::{self, Request};
use crate::project::Project;
use crate::render::hex;
use crate::{dump, files};

/// Steps between two checks of the limits.
const SLICE: u64 = 1 << 18;
/// The most differences reported for one case.
const DIFFERENCES: usize = 8;

/// A program to test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) program: String,
    pub(super) machine: Option<String>,
    /// A file of expectations for all programs, in place of their own.
    pub(super) expect: Option<String>,
    pub(super) root: Option<String>,
    /// Whether it may include no files: its neighbours are other people's work.
    pub(super) alone: bool,
    pub(super) engine: String,
    pub(super) limits: Limits,
}

/// What one run may use.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Limits {
    pub(super) steps: u64,
    pub(super) output: u64,
    pub(super) seconds: u64,
    pub(super) memory: u64,
}

/// The result for a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tested {
    pub(super) program: String,
    pub(super) machine: Option<String>,
    pub(super) verdict: Verdict,
    /// Why it could not be run, one line each.
    pub(super) errors: Vec<String>,
    pub(super) cases: Vec<CaseTested>,
    pub(super) seconds: f64,
}

/// The verdict on a program or a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// It could not be run, or exceeded its limits.
    Error,
    /// It has no expectations.
    Skipped,
}

/// The result of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CaseTested {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) status: String,
    pub(super) steps: u64,
    pub(super) cycles: Option<u64>,
    /// What differs from the expectations; one entry may have several lines.
    pub(super) differences: Vec<String>,
}

impl Tested {
    /// Creates the result for a program that could not be run at all.
    pub(super) fn error(program: &str, error: impl Into<String>) -> Tested {
        Tested {
            program: program.to_owned(),
            machine: None,
            verdict: Verdict::Error,
            errors: vec![error.into()],
            cases: Vec::new(),
            seconds: 0.0,
        }
    }

    /// Returns the steps of all cases together.
    pub(super) fn steps(&self) -> u64 {
        self.cases.iter().map(|case| case.steps).sum()
    }
}

/// The files of a program that may include none.
struct Alone;

impl Files for Alone {
    fn open(&self, _: &str, _: &str) -> Result<Found, FileError> {
        Err(FileError("a submission stands alone; `--root FOLDER` allows the files of a folder".into()))
    }
}

impl Job {
    /// Tests the program, and calls `alive` before each case.
    pub(super) fn run(&self, alive: &mut dyn FnMut()) -> Tested {
        let start = Instant::now();
        let mut tested =
            self.test(alive).unwrap_or_else(|errors| Tested { errors, ..Tested::error(&self.program, "") });
        tested.seconds = start.elapsed().as_secs_f64();
        tested
    }

    fn test(&self, alive: &mut dyn FnMut()) -> Result<Tested, Vec<String>> {
        let inputs = Inputs::default();
        let one = |message: String| vec![message];
        let is_source = collect::is_source(self.program.as_ref());
        let text = is_source.then(|| program::source_text(&self.program, &inputs)).transpose();
        let text = text.map_err(|failure| one(failure.message))?;
        let cases = match &self.expect {
            Some(file) => collect::file_cases(file, &inputs),
            None => collect::expectations(&self.program, text.as_deref(), &inputs),
        };
        let cases = cases.map_err(one)?;
        let nothing = Tested { verdict: Verdict::Skipped, errors: Vec::new(), ..Tested::error(&self.program, "") };
        if cases.is_empty() && is_source {
            return Ok(nothing);
        }
        let (isa, image, host) = match text {
            Some(text) => self.assemble(text, &inputs)?,
            None => self.load(&inputs)?,
        };
        let cases = match &host {
            // The program itself reports whether it passed.
            Some(_) if cases.is_empty() => vec![Case::default()],
            None if cases.is_empty() => return Ok(nothing),
            _ => cases,
        };
        let name = isa.name.clone();
        let machine = Machine::from(isa);
        let run = |case: &Case| {
            alive();
            self.run_case(&machine, &image, host.as_ref(), case)
        };
        let cases: Vec<CaseTested> = cases.iter().map(run).collect::<Result<_, String>>().map_err(one)?;
        let worst = [Verdict::Error, Verdict::Failed, Verdict::Passed];
        let verdict = worst.into_iter().find(|verdict| cases.iter().any(|case| case.verdict == *verdict));
        Ok(Tested { machine: Some(name), verdict: verdict.unwrap_or(Verdict::Passed), cases, ..nothing })
    }

    fn assemble(&self, text: String, inputs: &Inputs) -> Result<(Isa, Image, Option<Host>), Vec<String>> {
        let failed = |failure: crate::exit::Failure| vec![failure.message];
        let machine = program::machine_of_source(&self.program, &text, self.machine.as_deref(), inputs);
        let isa = machine.map_err(failed)?.isa;
        let source = Source::new(files::title(&self.program), text);
        let assembled = if self.alone {
            assemble(&isa, &Alone, source, &Options::default())
        } else {
            let project = Project::new(&self.program, self.root.as_deref(), inputs).map_err(failed)?;
            assemble(&isa, &project, source, &Options::default())
        };
        let errors = || {
            let sorted = assembled.diagnostics.into_sorted();
            let errors = sorted.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error);
            let line = |diagnostic: &lathe_base::Diagnostic| {
                let source = assembled.sources.get(diagnostic.primary.span.file.0 as usize);
                let (line, _) = source.map_or((1, 1), |source| source.line_column(diagnostic.primary.span.start));
                let name = source.map_or("", |source| source.name.as_str());
                format!("{name}:{line}: {} [{}]", diagnostic.message, diagnostic.code.name)
            };
            errors.take(DIFFERENCES).map(line).collect::<Vec<_>>()
        };
        match assembled.image {
            Some(image) => Ok((isa, image, None)),
            None => Err(errors()),
        }
    }

    /// Loads an image in any readable format, and the host that it reports to.
    fn load(&self, inputs: &Inputs) -> Result<(Isa, Image, Option<Host>), Vec<String>> {
        let assembly = AssemblyArguments { define: Vec::new(), root: self.root.clone() };
        let machine = self.machine.as_deref();
        let request = Request { name: &self.program, machine, from: None, load_at: None, assembly: &assembly };
        let program = request.load(inputs).map_err(|failure| vec![failure.message])?;
        let host = Host::new(&program);
        Ok((program.isa, program.image, host))
    }

    /// Runs a case. Fails if an expectation makes no sense on this machine.
    fn run_case(
        &self,
        machine: &Machine,
        image: &Image,
        host: Option<&Host>,
        case: &Case,
    ) -> Result<CaseTested, String> {
        let kinds = EngineKind::ALL.into_iter().chain([EngineKind::Auto]);
        let kind = kinds.into_iter().find(|kind| kind.name() == self.engine).unwrap_or_default();
        let isa = &**machine.isa();
        let mut instance = machine.instance_on(kind).map_err(|error| error.to_string())?;
        instance.set_max_memory(self.limits.memory);
        instance.load(image);
        instance.give_input(&case.input);
        prepare(case, instance.devices_mut())?;
        let mut ran = Ran { status: Status::Limit, steps: 0, cycles: 0, output: Vec::new() };
        let start = Instant::now();
        while ran.status == Status::Limit && ran.steps < self.limits.steps {
            let mut stops = Stops::after(SLICE.min(self.limits.steps - ran.steps));
            stops.watches.extend(host.map(Host::watch));
            let run = instance.run(&stops);
            ran.status = match (&run.stop, host) {
                (Stop::Watch(_), Some(host)) => Status::heard(host.hear(&mut instance), &mut ran.output),
                (Stop::Idle, Some(_)) => Status::Fault("it jumps to itself, and has not reported a result".into()),
                (stop, _) => Status::from(stop, isa),
            };
            (ran.steps, ran.cycles) = (instance.counters().steps, instance.counters().cycles);
            ran.output.extend(instance.take_output());
            if ran.output.len() as u64 > self.limits.output {
                ran.output.truncate(self.limits.output as usize);
                ran.status = Status::TooMuch(format!("it printed more than {} bytes", self.limits.output));
            } else if ran.status == Status::Limit && start.elapsed() >= Duration::from_secs(self.limits.seconds) {
                ran.status = Status::TooMuch(format!("it did not end within {} s", self.limits.seconds));
            }
        }
        let screen = instance.devices().find::<Display>().map(Display::text);
        let end = End { isa, image, state: instance.state(), screen, ran: &ran };
        let mut differences = Vec::from_iter(end.ended_badly(case));
        // The length of a run that was cut off tells nothing more.
        let was_cut_off = !differences.is_empty() && matches!(ran.status, Status::Limit | Status::TooMuch(_));
        let is_length = |check: &&Condition| matches!(check, Condition::Steps(_) | Condition::Cycles(_));
        for check in case.checks.iter().filter(|check| !(was_cut_off && is_length(check))) {
            differences.extend(end.difference(check)?);
        }
        differences.truncate(DIFFERENCES);
        let verdict = match (&ran.status, differences.is_empty()) {
            (Status::TooMuch(_), _) => Verdict::Error,
            (_, true) => Verdict::Passed,
            (_, false) => Verdict::Failed,
        };
        Ok(CaseTested {
            name: case.name.clone(),
            verdict,
            status: ran.status.name().to_owned(),
            steps: ran.steps,
            cycles: isa.has_cycles.then_some(ran.cycles),
            differences,
        })
    }
}

fn prepare(case: &Case, devices: &mut Devices) -> Result<(), String> {
    let script: Vec<u32> = case.keys.chars().filter_map(|key| key.to_digit(16)).collect();
    match devices.find_mut::<Keypad>() {
        Some(keypad) => *keypad = keypad.clone().with_script(&script),
        None if !script.is_empty() => {
            return Err("keys are expected to be pressed, but the machine has no keypad".into());
        }
        None => {}
    }
    if let (Some(seed), Some(random)) = (case.seed, devices.find_mut::<Random>()) {
        *random = Random::new(seed);
    }
    Ok(())
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Status {
    Halted,
    /// The program jumps to itself.
    Stuck,
    Fault(String),
    Limit,
    /// More output or time than a run may take.
    TooMuch(String),
}

impl Status {
    fn from(stop: &Stop, isa: &Isa) -> Status {
        match stop {
            Stop::Halted => Status::Halted,
            Stop::Idle => Status::Stuck,
            Stop::Fault(fault) => {
                let at = hex(fault.pc, isa.pc.width.bits());
                Status::Fault(format!("{} at {} {at}", dump::cause(isa, &fault.cause), isa.pc.name))
            }
            Stop::Limit | Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint => Status::Limit,
        }
    }

    /// Interprets what a program told its host; console output is appended to `output`.
    fn heard(heard: Heard, output: &mut Vec<u8>) -> Status {
        match heard {
            Heard::Exit(0) => return Status::Halted,
            Heard::Exit(number) => return Status::Fault(format!("test {number} failed")),
            Heard::Output(bytes) => output.extend(bytes),
            Heard::Nothing => {}
        }
        Status::Limit
    }

    fn name(&self) -> &'static str {
        match self {
            Status::Halted => "halted",
            Status::Stuck => "stuck",
            Status::Fault(_) => "fault",
            Status::Limit => "limit",
            Status::TooMuch(_) => "stopped",
        }
    }

    fn fits(&self, ending: Ending, text: &str) -> bool {
        match (ending, self) {
            (Ending::Halted, Status::Halted) | (Ending::Stuck, Status::Stuck) | (Ending::Limit, Status::Limit) => true,
            (Ending::Fault, Status::Fault(cause)) => cause.contains(text),
            _ => false,
        }
    }

    fn told(&self, steps: u64) -> String {
        match self {
            Status::Halted => "it halted".to_owned(),
            Status::Stuck => "it is stuck: it jumps to itself".to_owned(),
            Status::Fault(cause) => format!("the machine faulted: {cause}"),
            Status::Limit => format!("it did not end within {steps} steps"),
            Status::TooMuch(what) => what.clone(),
        }
    }
}

struct Ran {
    status: Status,
    steps: u64,
    cycles: u64,
    output: Vec<u8>,
}

/// What a run leaves behind.
struct End<'e> {
    isa: &'e Isa,
    image: &'e Image,
    state: &'e State,
    screen: Option<String>,
    ran: &'e Ran,
}

impl End<'_> {
    /// Returns a complaint if the run exceeded its time or output, or if it did not halt and the case names no end.
    fn ended_badly(&self, case: &Case) -> Option<String> {
        let is_said = case.checks.iter().any(|check| matches!(check, Condition::Ends(..)));
        let is_bad = match &self.ran.status {
            Status::Halted | Status::Stuck => false,
            Status::TooMuch(_) => true,
            Status::Fault(_) | Status::Limit => !is_said,
        };
        is_bad.then(|| self.ran.status.told(self.ran.steps))
    }

    /// Returns how a check is not met, if it is not. Fails if the machine has nothing to check.
    fn difference(&self, check: &Condition) -> Result<Option<String>, String> {
        let differs = |is_right: bool, text: String| Ok((!is_right).then_some(text));
        match check {
            Condition::Output(wanted) if *wanted == self.ran.output => Ok(None),
            Condition::Output(wanted) => Ok(Some(diff::text("the output differs", wanted, &self.ran.output))),
            Condition::Contains(part) => {
                let is_there = part.is_empty() || self.ran.output.windows(part.len()).any(|at| at == part);
                differs(is_there, format!("the output does not contain \"{}\"", part.escape_ascii()))
            }
            Condition::Screen(wanted) => {
                let screen = self.screen.as_ref().ok_or("a screen is expected, but the machine has no display")?;
                Ok((screen != wanted).then(|| diff::text("the screen differs", wanted.as_bytes(), screen.as_bytes())))
            }
            Condition::Register(name, wanted) => self.register(name, wanted),
            Condition::Cells { memory, address, values } => self.cells(memory, address, values),
            Condition::Steps(most) => differs(
                self.ran.steps <= *most,
                format!("it took {} steps, at most {most} were expected", self.ran.steps),
            ),
            Condition::Cycles(_) if !self.isa.has_cycles => {
                Err(format!("cycles are expected, but {} does not count cycles", self.isa.name))
            }
            Condition::Cycles(most) => differs(
                self.ran.cycles <= *most,
                format!("it took {} cycles, at most {most} were expected", self.ran.cycles),
            ),
            Condition::Ends(ending, text) => {
                let wanted = format!("{ending:?}").to_lowercase();
                let text = if text.is_empty() { String::new() } else { format!(" \"{text}\"") };
                let told = self.ran.status.told(self.ran.steps);
                differs(
                    self.ran.status.fits(*ending, text.trim_matches([' ', '"'])),
                    format!("expected it to end {wanted}{text}, but {told}"),
                )
            }
        }
    }

    fn register(&self, name: &str, wanted: &Number) -> Result<Option<String>, String> {
        let (found, bits) = if name == self.isa.pc.name {
            (self.state.pc, self.isa.pc.width.bits())
        } else {
            let place = self.isa.place_named(name);
            let place = place.ok_or_else(|| format!("{} has no register `{name}`", self.isa.name))?;
            (self.state.place(&place), place.width.bits())
        };
        let wanted = self.value(wanted, bits)?;
        Ok((found != wanted).then(|| format!("{name}: expected {}, found {}", hex(wanted, bits), hex(found, bits))))
    }

    fn cells(&self, memory: &str, address: &Number, values: &[Number]) -> Result<Option<String>, String> {
        let id = self.isa.memory_named(memory);
        let id = id.ok_or_else(|| format!("{} has no memory `{memory}`", self.isa.name))?;
        let model = self.isa.memory(id);
        let bits = model.cell.bits();
        let start = self.value(address, model.address.bits())?;
        let wanted: Vec<u64> = values.iter().map(|value| self.value(value, bits)).collect::<Result<_, _>>()?;
        let cell = |at: u64| self.state.memory(id).get(model.address.wrap(start.wrapping_add(at)));
        let found: Vec<u64> = (0..wanted.len() as u64).map(cell).collect();
        let Some(at) = wanted.iter().zip(&found).position(|(wanted, found)| wanted != found) else { return Ok(None) };
        let place = hex(model.address.wrap(start.wrapping_add(at as u64)), model.address.bits());
        let list =
            |cells: &[u64]| cells.iter().skip(at).take(8).map(|cell| hex(*cell, bits)).collect::<Vec<_>>().join(" ");
        Ok(Some(format!("{memory}[{place}]: expected {}, found {}", list(&wanted), list(&found))))
    }

    /// Converts a number to this many bits; a negative one wraps.
    fn value(&self, number: &Number, bits: u32) -> Result<u64, String> {
        let value = match number {
            Number::Value(value) => *value,
            Number::Label(name, distance) => {
                let symbol = self.image.symbols.iter().find(|symbol| symbol.name == *name);
                symbol.ok_or_else(|| format!("`{name}` is neither a number nor a name of the program"))?.value
                    + distance
            }
        };
        let range = -(1i128 << (bits - 1))..1i128 << bits;
        if !range.contains(&value) {
            return Err(format!("{value} is expected where there are only {bits} bits"));
        }
        Ok((value & ((1i128 << bits) - 1)) as u64)
    }
}
