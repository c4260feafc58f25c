//! The machine as a page shows it: a window on registers, code, cells, console and display, and what changed since the
//! last time.

use lathe_asm::CallKind;
use lathe_debug::{Debugger, Program};
use lathe_embed::{MemoryId, State};
use lathe_isa::Isa;
use lathe_isa::model::DeviceKind;
use lathe_vm::{Display, Port, Ports};
use serde::Serialize;

use crate::checking::hex_digits;
use crate::request::Window;

/// The most cells in an answer.
const CELLS: u64 = 4096;
/// The most instructions in an answer, both before the next one and from it on.
const INSTRUCTIONS: usize = 200;
/// The most bytes of output in an answer; earlier output is no longer shown.
const OUTPUT: usize = 1 << 16;
/// How many cells to search for the first change.
const SEARCHED: u64 = 1 << 17;

/// One moment, as shown.
#[derive(Debug, Serialize)]
pub(crate) struct View {
    position: u64,
    end: u64,
    halted: bool,
    registers: Vec<RegisterView>,
    code: Vec<CodeView>,
    memory: MemoryView,
    console: ConsoleView,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<DisplayView>,
    /// The ports of every bus that were set or written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ports: Vec<PortView>,
    /// The program line to be executed next.
    line: Option<usize>,
}

#[derive(Debug, Serialize)]
struct RegisterView {
    name: String,
    bits: u32,
    /// In hexadecimal, all digits.
    value: String,
    changed: bool,
}

#[derive(Debug, Serialize)]
struct CodeView {
    /// The address in hexadecimal.
    hex: String,
    /// The label here, if there is one.
    label: Option<String>,
    cells: String,
    text: String,
    line: Option<usize>,
    current: bool,
}

#[derive(Debug, Serialize)]
struct MemoryView {
    name: String,
    /// The address of the first cell, in hexadecimal.
    from: String,
    /// The cells in hexadecimal, all digits, concatenated.
    cells: String,
    digits: usize,
    /// Offsets of the cells that changed.
    changed: Vec<u64>,
    /// The first address of this memory that changed, whether it is shown or not, in hexadecimal.
    first_change: Option<String>,
}

/// Output, as characters whose codes are the bytes.
#[derive(Debug, Serialize)]
struct ConsoleView {
    /// The number of bytes written so far.
    written: u64,
    /// The position of `text` in the output.
    from: u64,
    text: String,
    unread: usize,
}

#[derive(Debug, Serialize)]
struct DisplayView {
    width: u32,
    height: u32,
    /// `#` and `.`, row by row.
    rows: String,
}

/// A port; its values are in hexadecimal, all digits.
#[derive(Debug, Serialize)]
struct PortView {
    bus: String,
    port: u64,
    /// What the machine reads from the port.
    read: String,
    /// What the machine last wrote to the port.
    written: Option<String>,
}

/// Returns what is shown now; `before` is the state that changes count from.
pub(crate) fn view(debugger: &Debugger, before: Option<&State>, window: &Window) -> View {
    let isa = debugger.program().isa();
    let state = debugger.state();
    let before = before.filter(|before| before.fits(isa));
    View {
        position: debugger.position(),
        end: debugger.history().end(),
        halted: debugger.is_halted(),
        registers: registers(debugger, before),
        code: code(debugger, window),
        memory: memory(isa, state, before, window),
        console: console(debugger, window.written),
        display: debugger.instance().devices().find().map(display),
        ports: ports(debugger),
        line: line_of(debugger.program(), state.pc),
    }
}

fn registers(debugger: &Debugger, before: Option<&State>) -> Vec<RegisterView> {
    let isa = debugger.program().isa();
    let state = debugger.state();
    let shown = |name: &str, bits: u32, value: u64, old: Option<u64>| RegisterView {
        name: name.to_owned(),
        bits,
        value: format!("{value:0digits$X}", digits = hex_digits(bits)),
        changed: old.is_some_and(|old| old != value),
    };
    let pc = shown(&isa.pc.name, isa.pc.width.bits(), state.pc, before.map(|before| before.pc));
    let all = isa.registers.iter().zip(state.registers()).enumerate();
    let registers = all.filter(|(_, (register, _))| !register.constant).map(|(at, (register, value))| {
        let old = before.map(|before| before.registers()[at]);
        shown(&register.name, register.width.bits(), *value, old)
    });
    std::iter::once(pc).chain(registers).collect()
}

fn code(debugger: &Debugger, window: &Window) -> Vec<CodeView> {
    let (program, state) = (debugger.program(), debugger.state());
    let mut lines = program.lines_before(state, state.pc, window.before.min(INSTRUCTIONS));
    let mut at = state.pc;
    for _ in 0..window.after.min(INSTRUCTIONS) {
        lines.push(program.line(state, at));
        let next = program.next(state, at);
        if next <= at {
            break;
        }
        at = next;
    }
    let shown = |line: lathe_debug::program::Line| CodeView {
        hex: line.place.hex,
        label: line.place.label.filter(|label| !label.contains('+')),
        cells: line.cells,
        text: line.text,
        line: line_of(program, line.place.address),
        current: line.place.address == state.pc,
    };
    lines.into_iter().map(shown).collect()
}

/// Returns the program line that an address comes from; if a macro in another file produced it, the line that calls the
/// macro.
fn line_of(program: &Program, address: u64) -> Option<usize> {
    let lines = &program.image().lines;
    let line = program.image().line_at(program.isa().pc.memory, address)?;
    let calls = lines.calls_around(line).filter(|(_, call)| call.kind != CallKind::Include);
    let mut spans = std::iter::once(line.span).chain(calls.map(|(_, call)| call.span));
    let span = spans.find(|span| span.file.0 == 0)?;
    Some(program.sources().first()?.line_column(span.start).0)
}

fn memory(isa: &Isa, state: &State, before: Option<&State>, window: &Window) -> MemoryView {
    let id = isa.memory_named(&window.memory).unwrap_or(isa.pc.memory);
    let described = isa.memory(id);
    let digits = hex_digits(described.cell.bits());
    let from = window.from.min(described.last());
    let count = window.count.min(CELLS).min((described.last() - from).saturating_add(1));
    let now = state.memory(id);
    let cells = (0..count).map(|at| format!("{:0digits$X}", now.get(from + at))).collect();
    let differs = |at: u64| before.is_some_and(|before| before.memory(id).get(at) != now.get(at));
    let changed = (0..count).filter(|offset| differs(from + offset)).collect();
    let first_change = before.and_then(|before| first_change(before, state, id, described.last()));
    let (from, first_change) = (format!("{from:x}"), first_change.map(|address| format!("{address:x}")));
    MemoryView { name: described.name.clone(), from, cells, digits, changed, first_change }
}

fn first_change(before: &State, now: &State, id: MemoryId, last: u64) -> Option<u64> {
    let (before, now) = (before.memory(id), now.memory(id));
    (0..=last.min(SEARCHED - 1)).find(|at| before.get(*at) != now.get(*at))
}

fn console(debugger: &Debugger, known: u64) -> ConsoleView {
    let (dropped, bytes) = debugger.output();
    let written = dropped + bytes.len() as u64;
    let from = if known <= written { known.max(dropped) } else { dropped };
    let new = &bytes[(from - dropped) as usize..];
    let skipped = new.len().saturating_sub(OUTPUT);
    let text = new[skipped..].iter().map(|byte| char::from(*byte)).collect();
    let unread = debugger.instance().devices().find_console().map_or(0, lathe_embed::Console::unread);
    ConsoleView { written, from: from + skipped as u64, text, unread }
}

fn ports(debugger: &Debugger) -> Vec<PortView> {
    let isa = debugger.program().isa();
    let of_bus = |(bus, ports): (&str, &Ports)| {
        let kind = isa.devices.iter().find(|device| device.name == bus).map(|device| device.kind);
        let digits = if let Some(DeviceKind::Bus { value, .. }) = kind { hex_digits(value.bits()) } else { 0 };
        let hex = |value: u64| format!("{value:0digits$X}");
        let shown = |(number, port): (u64, Port)| PortView {
            bus: bus.to_owned(),
            port: number,
            read: hex(port.read),
            written: port.written.map(hex),
        };
        ports.known().map(shown).collect::<Vec<_>>()
    };
    debugger.ports().flat_map(of_bus).collect()
}

fn display(display: &Display) -> DisplayView {
    DisplayView { width: display.width(), height: display.height(), rows: display.text().replace('\n', "") }
}
