//! The report at the end of a run: what happened and where, the final state as far as it is wanted, and the exit code.

use lathe_embed::{Fault, Instance, State, Stop};
use lathe_isa::Isa;
use lathe_isa::model::DeviceKind;
use lathe_vm::Display;
use serde::Serialize;

use super::expected::Expected;
use super::session::End;
use crate::arguments::{Format, Run};
use crate::commands::console::Captured;
use crate::commands::stats::{Stats, StatsData};
use crate::exit::{Exit, Failure};
use crate::places::Places;
use crate::render::{bold, count, failure, hex};
use crate::{dump, output};

/// A run that has ended.
pub(super) struct Ended<'r> {
    pub(super) instance: &'r Instance,
    pub(super) places: &'r Places<'r>,
    pub(super) end: &'r End,
    /// How fast it was, if requested.
    pub(super) stats: Option<Stats>,
    /// The expectations.
    pub(super) expected: Expected,
    /// The program's output, if it is part of the answer.
    pub(super) output: Option<Captured>,
    /// Whether the expected output was written.
    pub(super) output_was_found: bool,
    /// Whether the display was shown while it ran.
    pub(super) was_live: bool,
}

impl Ended<'_> {
    fn isa(&self) -> &Isa {
        self.instance.isa()
    }

    fn state(&self) -> &State {
        self.instance.state()
    }

    fn steps(&self) -> String {
        count(self.instance.counters().steps as usize, "step")
    }

    /// Returns the exit code.
    pub(super) fn exit(&self, arguments: &Run) -> Exit {
        if *self.end == End::Interrupted {
            return Exit::Interrupted;
        }
        let ended = match self.end {
            _ if self.expected.has_stop() => Exit::Done,
            End::Stop(Stop::Halted | Stop::Idle) if arguments.until.is_some() => Exit::InputWrong,
            End::Stop(Stop::Halted | Stop::Idle) | End::Reached | End::Passed | End::NoReader => Exit::Done,
            End::Stop(Stop::Fault(_)) | End::TestFailed(_) | End::Untold => Exit::Fault,
            End::Stop(_) => Exit::StepLimit,
            End::Interrupted => Exit::Interrupted,
        };
        if ended == Exit::Done && !self.expected.missed(self).is_empty() { Exit::InputWrong } else { ended }
    }

    /// Prints the report.
    pub(super) fn tell(&self, arguments: &Run) -> Result<(), Failure> {
        if *self.end == End::NoReader {
            return Ok(());
        }
        if arguments.format == Format::Json {
            return output::answer(&self.json()?);
        }
        output::complain(&self.complaint(arguments));
        let state = self.text(arguments);
        if has_console(self.isa()) {
            output::complain(&state)
        } else {
            output::answer(&state)?
        }
        if let Some(stats) = &self.stats {
            output::complain(&stats.text());
        }
        Ok(())
    }

    /// Formats an address as `pc 0x0009 (loop+2, deep.asm:6)`.
    fn place(&self, address: u64) -> String {
        let pc = &self.isa().pc;
        let place = self.places.describe(address).map(|place| format!(" ({place})")).unwrap_or_default();
        format!("{} {}{place}", pc.name, hex(address, pc.width.bits()))
    }

    /// Returns what went wrong, or may have, for standard error.
    fn complaint(&self, arguments: &Run) -> String {
        let pc = self.state().pc;
        let mut text = match self.end {
            End::Stop(Stop::Fault(fault)) => self.fault(fault),
            End::Stop(Stop::Limit) => format!("step limit reached after {}; next {}\n", self.steps(), self.place(pc)),
            End::Interrupted => format!("interrupted after {}; next {}\n", self.steps(), self.place(pc)),
            End::TestFailed(number) => {
                let head = Failure::input(format!("test {number} failed, the program says in `tohost`"));
                format!("{}  at {}, after {}\n", failure(&head), self.place(pc), self.steps())
            }
            End::Untold => {
                let message = "the program jumps to itself, and has not reported a result in `tohost`";
                format!("{}  at {}, after {}\n", failure(&Failure::input(message)), self.place(pc), self.steps())
            }
            End::Stop(Stop::Idle) if arguments.until.is_some() || self.expected.has_stop() => {
                format!("stuck after {}: it jumps to itself at {}\n", self.steps(), self.place(pc))
            }
            _ => String::new(),
        };
        let missed = matches!(self.end, End::Stop(Stop::Halted | Stop::Idle));
        if let Some(until) = arguments.until.as_ref().filter(|_| missed) {
            text += &failure(&Failure::input(format!("the run ended before it came to {until}")));
        }
        self.expected.missed(self).into_iter().for_each(|missed| text += &failure(&Failure::input(missed)));
        text
    }

    /// Describes what happened, as the end of a sentence.
    pub(super) fn happened(&self) -> String {
        let at = self.place(self.state().pc);
        match self.end {
            End::Stop(Stop::Halted) => format!("halted at {at}"),
            End::Stop(Stop::Idle) | End::Untold => format!("is stuck at {at}"),
            End::Stop(Stop::Fault(_)) => format!("faulted at {at}"),
            End::Stop(_) => "did not end".to_owned(),
            End::Reached => format!("came to {at}"),
            End::Passed => "told its host that all is well".to_owned(),
            End::TestFailed(number) => format!("told its host that test {number} failed"),
            End::Interrupted | End::NoReader => "was interrupted".to_owned(),
        }
    }

    /// Describes a fault: what happened, where, the cells there, and the registers.
    fn fault(&self, fault: &Fault) -> String {
        let isa = self.isa();
        let head = Failure::input(format!("the machine faulted: {}", dump::cause(isa, &fault.cause)));
        let window = self.state().window(isa, fault.pc, isa.longest());
        let instruction = dump::instruction(isa, window);
        let registers = dump::registers(isa, self.state());
        format!("{}  at {}, after {}\n  {instruction}\n{registers}", failure(&head), self.place(fault.pc), self.steps())
    }

    /// Renders the final state, as far as it is wanted. A fault has already shown the registers, and a display shown
    /// during the run leaves nothing to add.
    fn text(&self, arguments: &Run) -> String {
        let display = self.instance.devices().find::<Display>();
        let is_wanted = arguments.panel.screen.is_none() && !self.was_live;
        let screen = display.filter(|_| is_wanted).map(Display::text).unwrap_or_default();
        let alone = !has_console(self.isa()) && display.is_none();
        let shown_already = matches!(self.end, End::Stop(Stop::Fault(_))) && has_console(self.isa());
        if shown_already || !(arguments.state || alone) {
            return screen;
        }
        let cycles = if self.isa().has_cycles {
            format!(" and {} cycles", self.instance.counters().cycles)
        } else {
            String::new()
        };
        let why = if matches!(self.end, End::Stop(Stop::Idle)) { ": it jumps to itself" } else { "" };
        let head = format!("{} {} after {}{cycles}{why}\n", bold(&self.isa().name), word(self.end), self.steps());
        let memories = if has_console(self.isa()) { String::new() } else { dump::memories(self.isa(), self.state()) };
        head + &dump::registers(self.isa(), self.state()) + &memories + &screen
    }

    fn json(&self) -> Result<String, Failure> {
        let fault = match self.end {
            End::Stop(Stop::Fault(fault)) => {
                Some(FaultData { pc: fault.pc, cause: dump::cause(self.isa(), &fault.cause) })
            }
            End::TestFailed(number) => Some(FaultData { pc: self.state().pc, cause: format!("test {number} failed") }),
            End::Untold => {
                Some(FaultData { pc: self.state().pc, cause: "stuck without an answer in `tohost`".to_owned() })
            }
            _ => None,
        };
        let output = self.output.as_ref().filter(|_| has_console(self.isa()));
        let display = self.instance.devices().find::<Display>();
        let data = RunData {
            machine: &self.isa().name,
            status: status(self.end),
            reason: reason(self.end),
            place: self.places.describe(self.state().pc),
            fault,
            as_expected: self.expected.has_any().then(|| self.expected.missed(self).is_empty()),
            steps: self.instance.counters().steps,
            cycles: self.isa().has_cycles.then_some(self.instance.counters().cycles),
            stats: self.stats.map(|stats| stats.data()),
            output: output.map(|output| String::from_utf8_lossy(&output.bytes).into_owned()),
            output_bytes: output
                .filter(|output| std::str::from_utf8(&output.bytes).is_err())
                .map(|output| output.bytes.clone()),
            output_is_cut: output.is_some_and(|output| output.is_cut),
            state: dump::state_data(self.isa(), self.state()),
            display: display.map(|display| display.text().lines().map(str::to_owned).collect()),
            diagnostics: output::take_diagnostics(),
        };
        output::json_line(&data)
    }
}

/// A run as data.
#[derive(Serialize)]
struct RunData<'r> {
    machine: &'r str,
    status: &'static str,
    /// Distinguishes ends with the same status, where the end is unusual: `stuck`, `tohost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The nearest label, and the source line.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_expected: Option<bool>,
    steps: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<StatsData>,
    /// The program's console output, if it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    /// The program's console output as bytes, if it is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bytes: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    output_is_cut: bool,
    #[serde(flatten)]
    state: dump::StateData<'r>,
    /// The rows of the display.
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diagnostics: Vec<crate::render::DiagnosticData>,
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

fn word(end: &End) -> &'static str {
    match end {
        End::Stop(Stop::Halted | Stop::Idle) | End::Passed => "halted",
        End::Stop(Stop::Fault(_)) | End::TestFailed(_) | End::Untold => "faulted",
        End::Interrupted => "was interrupted",
        _ => "stopped",
    }
}

/// Returns the status in the vocabulary of `lathe verify`.
fn status(end: &End) -> &'static str {
    match end {
        End::Stop(Stop::Halted | Stop::Idle) | End::Passed => "halted",
        End::Stop(Stop::Fault(_)) | End::TestFailed(_) | End::Untold => "fault",
        End::Reached => "reached",
        End::Interrupted | End::NoReader => "interrupted",
        End::Stop(_) => "limit",
    }
}

fn reason(end: &End) -> Option<&'static str> {
    match end {
        End::Stop(Stop::Idle) | End::Untold => Some("stuck"),
        End::Passed | End::TestFailed(_) => Some("tohost"),
        _ => None,
    }
}
