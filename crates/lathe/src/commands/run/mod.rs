//! `lathe run`: runs a program, with the console on standard input and output.
//!
//! `session` runs it, `trace` records what it does, `expected` is what a script expects of it, and `report` says how it
//! ended.

mod expected;
mod report;
mod session;
mod trace;

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use lathe_asm::Image;
use lathe_embed::{EngineKind, Machine};

use self::expected::Expected;
use self::report::Ended;
use self::session::RunningProgram;
use self::trace::Tracer;
use super::Outcome;
use super::console::Terminal;
use super::host::Host;
use super::screen::{self, Live};
use super::stats::Stats;
use crate::arguments::{Format, Run};
use crate::exit::Failure;
use crate::inputs::Inputs;
use crate::places::Places;
use crate::program::{Program, Request};
use crate::{files, signals, watch};

/// Runs a program, once or whenever one of its files changes.
pub(super) fn execute(arguments: &Run) -> Outcome {
    if arguments.watch {
        watch::check([Some(arguments.image.as_str()), arguments.machine.machine.as_deref()].into_iter().flatten())?;
        watch::forever(|inputs| once(arguments, inputs));
    }
    once(arguments, &Inputs::default())
}

fn once(arguments: &Run, inputs: &Inputs) -> Outcome {
    let Run { image: name, machine, from, load_at, assembly, panel, .. } = arguments;
    let (machine, from) = (machine.machine.as_deref(), from.as_deref());
    let mut program = Request { name, machine, from, load_at: *load_at, assembly }.load(inputs)?;
    panel.screen.iter().try_for_each(|screen| inputs.check_spared(screen, "--screen"))?;
    if let Some(place) = &arguments.entry {
        program.begin_at(place)?;
    }
    let until = arguments.until.as_deref().map(|place| program.address_of(place, "stop")).transpose()?;
    let expected = Expected::new(arguments, &program, inputs)?;
    let tracer = Tracer::new(arguments, &program, inputs)?;
    check_not_empty(name, &program.image)?;
    let host = Host::new(&program);
    let captured = arguments.format == Format::Json;
    let terminal = if captured { Terminal::captured() } else { Terminal::new() };
    terminal.look_for(arguments.expect_output.as_deref().unwrap_or_default());
    let Program { isa, image, sources, .. } = program;
    let mut instance = Machine::from(isa).instance_on(EngineKind::from(arguments.engine))?;
    instance.set_clock(since_start);
    if let Some(bytes) = arguments.max_memory {
        instance.set_max_memory(bytes);
    }
    instance.load(&image);
    if let Some(console) = instance.devices_mut().find_console_mut() {
        *console = terminal.console();
    }
    screen::prepare(panel, instance.devices_mut())?;
    let live = if captured { None } else { Live::start(instance.isa(), panel)? };
    let was_live = live.is_some();
    let isa = instance.isa().clone();
    let places = Places { isa: &isa, image: &image, sources: &sources };
    let limit = arguments.max_steps.unwrap_or(u64::MAX);
    let (interrupted, time) = (signals::pressed(), Duration::ZERO);
    let mut session = RunningProgram { instance, terminal, live, host, until, limit, interrupted, time };
    let end = session.run(tracer, &places)?;
    let RunningProgram { instance, terminal, time, .. } = session;
    terminal.end_line();
    screen::save(panel, instance.devices())?;
    let stats = arguments.stats.then(|| Stats {
        engine: instance.engine(),
        steps: instance.counters().steps,
        time,
        compiled: instance.statistics(),
    });
    let output_was_found = terminal.has_found();
    let output = captured.then(|| terminal.take_captured());
    let (instance, places, end) = (&instance, &places, &end);
    let report = Ended { instance, places, end, stats, expected, output, output_was_found, was_live };
    report.tell(arguments)?;
    Ok(report.exit(arguments))
}

/// Returns the time since the first call.
fn since_start() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

/// Checks that there is something to run. A machine whose cells are all 0 may well run for ever.
fn check_not_empty(name: &str, image: &Image) -> Result<(), Failure> {
    if image.segments.iter().any(|segment| !segment.cells.is_empty()) {
        return Ok(());
    }
    let message = format!("{} holds no cells, so there is nothing to run", files::title(name));
    Err(Failure::input(message).help("check that it is the right file, and that it was written whole"))
}
