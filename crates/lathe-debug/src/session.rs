//! Saved sessions: the definition, the program, all events from outside, the breakpoints and the position. Opening one
//! repeats the run and checks that it ends in the same state.

use lathe_asm::formats::{self, Format, FormatOptions, identity};
use lathe_base::Source;
use lathe_embed::{EngineKind, Machine};
use serde::{Deserialize, Serialize};

use crate::breakpoints::{Breakpoint, Effect, What};
use crate::debugger::Debugger;
use crate::history::{Edit, Event, EventKind};
use crate::program::Program;
use crate::{Problem, command};

const FORMAT: &str = "lathe-session";
const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
struct Saved {
    format: String,
    version: u32,
    /// The identity of everything below, to detect a truncated or edited file.
    check: String,
    session: Wire,
}

#[derive(Serialize, Deserialize)]
struct Wire {
    /// The files of the definition.
    definition: Vec<WireSource>,
    image: String,
    sources: Vec<WireSource>,
    events: Vec<WireEvent>,
    end: u64,
    position: u64,
    /// The identity of the state at the position.
    state: String,
    breakpoints: Vec<WireBreakpoint>,
}

#[derive(Serialize, Deserialize)]
struct WireBreakpoint {
    /// The command that sets it again.
    command: String,
    id: u32,
    enabled: bool,
    hits: u64,
    ignore: u64,
}

/// A file's name and text.
type WireSource = (String, String);

#[derive(Serialize, Deserialize)]
struct WireEvent {
    at: u64,
    #[serde(flatten)]
    kind: WireKind,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WireKind {
    Input(Vec<u8>),
    InputEnds(bool),
    Edit { pc: Option<u64>, registers: Vec<(u32, u64)>, cells: Vec<(u32, u64, u64)> },
    Key { key: u32, down: bool },
    Port { bus: u32, port: u64, value: u64 },
}

/// Returns the text of a saved session.
pub(crate) fn write(debugger: &mut Debugger) -> String {
    let program = debugger.program();
    let (isa, sources) = (program.isa(), program.sources());
    let written = formats::write(Format::Image, program.image(), isa, sources, &FormatOptions::default());
    let image = written.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let events = debugger.history().events().iter().map(wire_event).collect();
    let wire = Wire {
        definition: debugger.definition.iter().map(wire_source).collect(),
        image,
        sources: sources.iter().map(wire_source).collect(),
        events,
        end: debugger.history().end,
        position: debugger.position(),
        state: fingerprint(debugger),
        breakpoints: debugger.breakpoints.all().iter().filter_map(wire_breakpoint).collect(),
    };
    let check = identity(&serde_json::to_string(&wire).unwrap_or_default());
    let saved = Saved { format: FORMAT.to_owned(), version: VERSION, check, session: wire };
    serde_json::to_string(&saved).unwrap_or_default() + "\n"
}

/// Opens a saved session on the given engine.
///
/// # Errors
/// If the text is not a session, was truncated or edited, or does not end in the saved state.
pub fn open(text: &str, engine: EngineKind) -> Result<Debugger, Problem> {
    let damaged = |cause: &str| {
        Problem::new(format!("this is not a saved session that can be opened: {cause}")).help("save the session again")
    };
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|_| damaged("it is not JSON, or was cut short"))?;
    if value["format"] != FORMAT {
        return Err(damaged("it does not say that it is one"));
    }
    if value["version"] != VERSION {
        let found = &value["version"];
        return Err(damaged(&format!("it is of version {found}, and this Lathe knows version {VERSION}")));
    }
    let saved: Saved = serde_json::from_value(value).map_err(|error| damaged(&error.to_string()))?;
    let wire = saved.session;
    if identity(&serde_json::to_string(&wire).unwrap_or_default()) != saved.check {
        return Err(damaged("it was edited or damaged since it was saved"));
    }
    repeat(&wire, engine, &damaged)
}

fn repeat(wire: &Wire, engine: EngineKind, damaged: &dyn Fn(&str) -> Problem) -> Result<Debugger, Problem> {
    let definition: Vec<Source> = wire.definition.iter().map(source_of).collect();
    let isa = lathe_isa::load_again(&definition).isa;
    let machine = Machine::from(isa.ok_or_else(|| damaged("this Lathe cannot read its definition"))?);
    let image = formats::read(Format::Image, wire.image.as_bytes(), machine.isa());
    let image = image.map_err(|error| damaged(&error.cause))?;
    let sources = wire.sources.iter().map(source_of).collect();
    let instance = machine.instance_on(engine).map_err(|error| Problem::new(error.to_string()))?;
    let program = Program::new(machine.isa().clone(), image, sources);
    let mut debugger = Debugger::new(program, instance);
    debugger.definition = definition;
    for event in &wire.events {
        let event = event_of(event);
        if !fits(&event, debugger.program()) {
            return Err(damaged("it sets something that the machine does not have"));
        }
        debugger.replay(event)?;
    }
    debugger.replay_to(wire.end)?;
    debugger.go_to(wire.position)?;
    if fingerprint(&debugger) != wire.state {
        return Err(damaged("repeating it leads to another state"));
    }
    for WireBreakpoint { command, id, enabled, hits, ignore } in &wire.breakpoints {
        debugger.breakpoints.next_is(*id);
        command::execute(&mut debugger, command, &mut ())?;
        if let Some(breakpoint) = debugger.breakpoints.get_mut(*id) {
            (breakpoint.enabled, breakpoint.hits, breakpoint.ignore) = (*enabled, *hits, *ignore);
        }
    }
    Ok(debugger)
}

/// Whether the program's machine has what an event changes.
fn fits(event: &Event, program: &Program) -> bool {
    let EventKind::Edit(edit) = &event.kind else { return true };
    let isa = program.isa();
    let register = |(id, value): &(u32, u64)| {
        isa.registers.get(*id as usize).is_some_and(|register| register.width.holds(*value) && !register.constant)
    };
    let cell = |(id, address, value): &(u32, u64, u64)| {
        isa.memories.get(*id as usize).is_some_and(|memory| memory.address.holds(*address) && memory.cell.holds(*value))
    };
    edit.pc.is_none_or(|pc| isa.pc.width.holds(pc))
        && edit.registers.iter().all(register)
        && edit.cells.iter().all(cell)
}

/// Returns the identity of the state and the output at this position.
fn fingerprint(debugger: &Debugger) -> String {
    let state = debugger.state();
    let mut text = format!("{} {:?}", state.pc, state.registers());
    for (memory, at) in debugger.program().isa().memories.iter().zip(0..) {
        text += &format!(" {} {:?}", memory.name, state.memory(lathe_isa::model::MemoryId(at)).nonzero());
    }
    text += &format!(" {:?}", debugger.output());
    identity(&text)
}

fn wire_breakpoint(breakpoint: &Breakpoint) -> Option<WireBreakpoint> {
    let Breakpoint { id, enabled, hits, ignore, .. } = *breakpoint;
    Some(WireBreakpoint { command: command_for(breakpoint)?, id, enabled, hits, ignore })
}

/// Returns a command that sets a breakpoint again.
fn command_for(breakpoint: &Breakpoint) -> Option<String> {
    let condition = breakpoint.condition.as_ref().map(|condition| format!(" if {}", condition.text));
    let condition = condition.unwrap_or_default();
    let log = match &breakpoint.effect {
        Effect::Log(text) => format!(" log \"{text}\""),
        _ => String::new(),
    };
    let word = if breakpoint.effect == Effect::StopOnce { "tbreak" } else { "break" };
    Some(match &breakpoint.what {
        What::At(_) | What::On(_) => format!("{word} {}{condition}{log}", breakpoint.text),
        What::Cells { access, .. } => {
            let kind = access.name().split(' ').next().unwrap_or("changes");
            format!("watch {kind} {}{condition}", breakpoint.text)
        }
        What::Changes(expression) => format!("watch {}{condition}", expression.text),
        What::Becomes(_) => return None,
    })
}

fn wire_source(source: &Source) -> WireSource {
    (source.name.clone(), source.text.clone())
}

fn source_of((name, text): &WireSource) -> Source {
    Source::new(name.as_str(), text.as_str())
}

fn wire_event(event: &Event) -> WireEvent {
    let kind = match &event.kind {
        EventKind::Input(bytes) => WireKind::Input(bytes.clone()),
        EventKind::InputEnds => WireKind::InputEnds(true),
        EventKind::Edit(Edit { pc, registers, cells }) => {
            WireKind::Edit { pc: *pc, registers: registers.clone(), cells: cells.clone() }
        }
        EventKind::Key { key, down } => WireKind::Key { key: *key, down: *down },
        EventKind::Port { bus, port, value } => WireKind::Port { bus: *bus, port: *port, value: *value },
    };
    WireEvent { at: event.at, kind }
}

fn event_of(event: &WireEvent) -> Event {
    let kind = match &event.kind {
        WireKind::Input(bytes) => EventKind::Input(bytes.clone()),
        WireKind::InputEnds(_) => EventKind::InputEnds,
        WireKind::Edit { pc, registers, cells } => {
            EventKind::Edit(Edit { pc: *pc, registers: registers.clone(), cells: cells.clone() })
        }
        WireKind::Key { key, down } => EventKind::Key { key: *key, down: *down },
        WireKind::Port { bus, port, value } => EventKind::Port { bus: *bus, port: *port, value: *value },
    };
    Event { at: event.at, kind }
}
