//! What a program does, instruction by instruction: `lathe run --trace`.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use lathe_embed::{Instance, Stop};
use lathe_isa::model::MemoryId;
use lathe_vm::Changes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::arguments::{Format, Run, number};
use crate::dump;
use crate::exit::Failure;
use crate::files;
use crate::inputs::Inputs;
use crate::places::Places;
use crate::program::Program;
use crate::render::hex;

/// Writes a trace.
pub(super) struct Tracer {
    stream: Box<dyn Write>,
    format: Format,
    pub(super) begin: Begin,
}

/// Which part of a run to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// After this many steps.
    Step(u64),
    /// From the first time it reaches this address.
    Address(u64),
    /// This many steps at the end.
    Last(u64),
}

/// An instruction about to be executed.
pub(super) struct Before {
    step: u64,
    pc: u64,
    place: String,
    instruction: String,
}

impl Tracer {
    /// Creates a tracer, if the command line asks for one.
    pub(super) fn new(arguments: &Run, program: &Program, inputs: &Inputs) -> Result<Option<Tracer>, Failure> {
        let begin = match (arguments.trace_last, &arguments.trace_from) {
            (Some(count), _) => Begin::Last(count),
            (None, None) => Begin::Step(0),
            (None, Some(place)) => match number(place) {
                Ok(step) => Begin::Step(step),
                Err(_) => Begin::Address(program.address_of(place, "begin a trace")?),
            },
        };
        let is_asked_for =
            arguments.trace.is_some() || arguments.trace_last.is_some() || arguments.trace_from.is_some();
        let file = arguments.trace.clone().flatten().filter(|name| name != files::STANDARD);
        let stream: Box<dyn Write> = match file {
            None => Box::new(io::stderr()),
            Some(name) => {
                inputs.check_spared(&name, "--trace=")?;
                let file = files::create(Path::new(&name)).map_err(|error| {
                    Failure::input(format!("{name} cannot be written: {}", files::reason(&error)))
                        .help("give another name with `--trace=FILE`")
                })?;
                Box::new(BufWriter::new(file))
            }
        };
        let format = arguments.trace_format.unwrap_or(arguments.format);
        Ok(is_asked_for.then_some(Tracer { stream, format, begin }))
    }

    /// Records the next instruction before it is executed.
    pub(super) fn before(&self, instance: &Instance, places: &Places) -> Before {
        let (isa, state) = (instance.isa(), instance.state());
        let window = state.window(isa, state.pc, isa.longest());
        Before {
            step: instance.counters().steps,
            pc: state.pc,
            place: places.label(state.pc).unwrap_or_default(),
            instruction: dump::disassembled(isa, window, state.pc),
        }
    }

    /// Writes what the instruction did.
    pub(super) fn after(
        &mut self,
        before: Before,
        instance: &Instance,
        stop: Option<&Stop>,
        changes: &Changes,
    ) -> Result<(), Failure> {
        let line = match self.format {
            Format::Text => text(&before, instance, stop, changes),
            Format::Json => json(before, instance, stop, changes)?,
        };
        self.stream.write_all(line.as_bytes()).map_err(|error| unwritable(&error))
    }

    /// Writes out everything.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        self.stream.flush().map_err(|error| unwritable(&error))
    }
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::input(format!("the trace cannot be written: {}", files::reason(error)))
}

/// A register's name, its new value and its width.
type Register = (String, u64, u32);
/// A cell and its new value.
type Cell = (MemoryId, u64, u64);

/// Returns the changed registers and cells with their new values.
fn changed(instance: &Instance, changes: &Changes) -> (Vec<Register>, Vec<Cell>) {
    let isa = instance.isa();
    let registers = changes.registers.iter().filter(|change| change.old != change.new).map(|change| {
        let register = isa.register(change.register);
        (register.name.clone(), change.new, register.width.bits())
    });
    let cells = changes.cells.iter().filter(|change| change.old != change.new);
    (registers.collect(), cells.map(|change| (change.memory, change.address, change.new)).collect())
}

fn text(before: &Before, instance: &Instance, stop: Option<&Stop>, changes: &Changes) -> String {
    let isa = instance.isa();
    let (registers, cells) = changed(instance, changes);
    let mut parts: Vec<String> =
        registers.iter().map(|(name, value, bits)| format!("{name}={}", hex(*value, *bits))).collect();
    parts.extend(cells.iter().map(|(memory, address, value)| {
        let memory = isa.memory(*memory);
        format!("{}[{}]={}", memory.name, hex(*address, memory.address.bits()), hex(*value, memory.cell.bits()))
    }));
    parts.extend(stop.map(|stop| format!("({})", stop_word(stop))));
    let pc = hex(before.pc, isa.pc.width.bits());
    let line =
        format!("{:>8}  {pc}  {:<14}  {:<24}  {}", before.step, before.place, before.instruction, parts.join(" "));
    line.trim_end().to_owned() + "\n"
}

/// One step, as a line of JSON.
#[derive(Serialize)]
struct StepData {
    step: u64,
    pc: u64,
    #[serde(skip_serializing_if = "String::is_empty")]
    place: String,
    instruction: String,
    registers: Map<String, Value>,
    cells: Vec<CellData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop: Option<&'static str>,
}

#[derive(Serialize)]
struct CellData {
    memory: String,
    address: u64,
    value: u64,
}

fn json(before: Before, instance: &Instance, stop: Option<&Stop>, changes: &Changes) -> Result<String, Failure> {
    let (registers, cells) = changed(instance, changes);
    let Before { step, pc, place, instruction } = before;
    let cell = |(memory, address, value): (MemoryId, u64, u64)| CellData {
        memory: instance.isa().memory(memory).name.clone(),
        address,
        value,
    };
    crate::output::json_line(&StepData {
        step,
        pc,
        place,
        instruction,
        registers: registers.into_iter().map(|(name, value, _)| (name, value.into())).collect(),
        cells: cells.into_iter().map(cell).collect(),
        stop: stop.map(stop_word),
    })
}

fn stop_word(stop: &Stop) -> &'static str {
    match stop {
        Stop::Halted => "halted",
        Stop::Idle => "stuck",
        Stop::Fault(_) => "fault",
        _ => "stopped",
    }
}
