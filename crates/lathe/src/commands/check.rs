//! `lathe check`: checks a definition and summarises it.

use std::collections::BTreeSet;

use lathe_base::fix::apply_safe;
use lathe_base::{FileId, Severity, Source, Span, limits};
use lathe_isa::Isa;
use lathe_isa::codes::EXAMPLE_FAILS;
use lathe_isa::coverage::{Coverage, Filling, Slot, coverage};
use lathe_isa::model::{DeviceKind, Example, Memory, Order, Register};
use serde::Serialize;

use super::{Outcome, opcode_map};
use crate::arguments::{Check, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::machine::{self, Checked};
use crate::{output, render, watch};

/// Checks a definition.
pub(super) fn execute(arguments: &Check) -> Outcome {
    if arguments.watch {
        watch::check([arguments.definition.as_str()])?;
        watch::forever(|inputs| once(arguments, inputs));
    }
    once(arguments, &Inputs::default())
}

fn once(arguments: &Check, inputs: &Inputs) -> Outcome {
    if lathe_machines::find(&arguments.definition).is_none() {
        inputs.note(&arguments.definition);
    }
    let mended = arguments.fix.then(|| mend(&arguments.definition)).transpose()?;
    let checked = machine::check(machine::find(&arguments.definition)?, inputs);
    match arguments.format.format {
        Format::Json => output::answer(&output::json(&ReportData { mended, ..report_data(&checked) })?)?,
        Format::Text => {
            if let Some(count) = mended {
                output::complain(&format!("{}: mended {}\n", arguments.definition, render::count(count, "place")));
            }
            tell(&checked, arguments)?;
        }
    }
    Ok(checked.exit())
}

/// The most rounds of fixes: one mistake can hide another.
const ROUNDS: usize = 8;

/// Applies the safe fixes to a file. The file is written once, whole, and only if it has fewer errors than before.
/// Returns how many places were fixed.
fn mend(name: &str) -> Result<usize, Failure> {
    if name == files::STANDARD || lathe_machines::find(name).is_some() {
        let message = "`--fix` changes a file, and this is none";
        return Err(Failure::usage(message).help("give the path of a definition of your own"));
    }
    let bytes = files::read(name, limits::DEFINITION_BYTES as u64)?;
    let mut text = files::text(name, bytes.clone())?;
    // A leading byte order mark is not part of the text, but is kept.
    let before = bytes.len() - text.len();
    let mut count = 0;
    for _ in 0..ROUNDS {
        let checked = machine::check(Source::new(name, text.clone()), &Inputs::default());
        let fixed = apply_safe(&text, FileId(0), &checked.diagnostics);
        let is_better = || {
            let again = machine::check(Source::new(name, fixed.text.clone()), &Inputs::default());
            again.count(Severity::Error) < checked.count(Severity::Error)
        };
        if fixed.count == 0 || !is_better() {
            break;
        }
        (text, count) = (fixed.text, count + fixed.count);
    }
    if count > 0 {
        let bytes = [&bytes[..before], text.as_bytes()].concat();
        files::write_all(&[Whole { name: name.to_owned(), bytes }])?;
    }
    Ok(count)
}

fn tell(checked: &Checked, arguments: &Check) -> Result<(), Failure> {
    checked.complain();
    let Some(isa) = checked.isa.as_ref().filter(|_| checked.exit() == Exit::Done) else {
        output::complain(&format!("{}: {}\n", checked.source().name, checked.tally()));
        return Ok(());
    };
    let coverage = coverage(isa);
    let mut text = summary(isa, &coverage);
    text += &format!("\n{}\n", verdict(checked));
    if arguments.map {
        text += &format!("\n{}", opcode_map::text(isa, &coverage));
    }
    output::answer(&text)
}

fn verdict(checked: &Checked) -> String {
    match checked.count(Severity::Warning) {
        0 => format!("{}: no errors", checked.source().name),
        warnings => format!("{}: no errors, {}", checked.source().name, render::count(warnings, "warning")),
    }
}

/// Summarises the definition, one line for each kind of thing.
fn summary(isa: &Isa, coverage: &Coverage) -> String {
    let lines = [
        ("instructions", instructions(isa)),
        ("registers", registers(isa)),
        ("memories", list(isa.memories.iter().map(memory))),
        ("devices", list(isa.devices.iter().map(|device| format!("{} ({})", device.name, kind(device.kind))))),
        ("encodings", encodings(coverage, isa)),
        ("", format!("{} of all encodings are defined", percent(coverage.share))),
        ("examples", examples(isa)),
    ];
    let lines = lines.iter().map(|(name, text)| format!("  {name:<12}  {}\n", hanging(text, INDENT)));
    let title = hanging(&isa.title, isa.name.chars().count() + 2);
    format!("{}  {title}\n\n{}", render::bold(&isa.name), lines.collect::<String>())
}

/// The indentation of the summary's texts, in columns.
const INDENT: usize = 16;
/// Columns of a terminal.
const COLUMNS: usize = 80;

/// Wraps a text whose first line begins in the column `indent`, with all other lines below the first.
fn hanging(text: &str, indent: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.push(String::new());
        for word in line.split(' ') {
            let last = lines.last_mut().expect("there is one");
            let room = COLUMNS.saturating_sub(indent + last.chars().count() + 1);
            if last.is_empty() {
                last.push_str(word);
            } else if word.chars().count() <= room {
                last.extend([" ", word]);
            } else {
                lines.push(word.to_owned());
            }
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}

fn instructions(isa: &Isa) -> String {
    let rows = match rows(isa) {
        rows if rows == isa.instructions.len() => String::new(),
        rows => format!(" from {}", render::count(rows, "row")),
    };
    let pseudos = match isa.pseudos.len() {
        0 => String::new(),
        pseudos => format!(", and {}", render::count(pseudos, "pseudo-instruction")),
    };
    format!("{}{rows}{pseudos}", isa.instructions.len())
}

/// Returns how many rows the instructions come from: a row with a family is many instructions.
fn rows(isa: &Isa) -> usize {
    isa.instructions.iter().map(|instruction| instruction.row).collect::<BTreeSet<u32>>().len()
}

/// Lists the registers by width: `8 bits: a b c d; 16 bits: sp`.
fn registers(isa: &Isa) -> String {
    let mut groups: Vec<(u32, Vec<&str>)> = vec![(isa.pc.width.bits(), vec![&isa.pc.name])];
    for register in &isa.registers {
        let bits = register.width.bits();
        match groups.iter_mut().find(|(width, _)| *width == bits) {
            Some((_, names)) => names.push(&register.name),
            None => groups.push((bits, vec![&register.name])),
        }
    }
    let group = |(bits, names): &(u32, Vec<&str>)| format!("{}: {}", plural_bits(*bits), names.join(" "));
    let total = isa.registers.len();
    let views =
        if isa.views.is_empty() { String::new() } else { format!(", {}", render::count(isa.views.len(), "view")) };
    let lines = groups.iter().map(|entry| format!("\n{}", group(entry)));
    format!("{total} and the program counter{views}{}", lines.collect::<String>())
}

fn plural_bits(bits: u32) -> String {
    render::count(bits as usize, "bit")
}

fn memory(memory: &Memory) -> String {
    format!("{} ({} cells of {})", memory.name, memory.cells(), plural_bits(memory.cell.bits()))
}

fn kind(kind: DeviceKind) -> String {
    match kind {
        DeviceKind::Stream => "stream".to_owned(),
        DeviceKind::Bus { address, value } => format!("bus {address} -> {value}"),
        DeviceKind::Display { width, height } => format!("display {width} by {height}"),
        DeviceKind::Keypad { keys } => format!("keypad {keys}"),
        DeviceKind::Timer { width, every } => format!("timer {width} every {every}"),
        DeviceKind::Random { width } => format!("random {width}"),
        DeviceKind::Counter => "counter".to_owned(),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}

fn encodings(coverage: &Coverage, isa: &Isa) -> String {
    let cell = isa.code_memory().cell.bits();
    let what = match cell {
        8 => "first bytes".to_owned(),
        _ if cell == coverage.bits => "first cells".to_owned(),
        _ => format!("values of the first {}", plural_bits(coverage.bits)),
    };
    let [full, partial, empty] = fillings(coverage);
    format!("{full} of {} {what} defined, {partial} partly, {empty} undefined", coverage.slots.len())
}

/// Returns how many slots are full, partial and empty.
fn fillings(coverage: &Coverage) -> [usize; 3] {
    let count = |filling| coverage.slots.iter().filter(|slot| slot.filling() == filling).count();
    [Filling::Full, Filling::Partial, Filling::Empty].map(count)
}

/// Formats a share in percent, as 100 only if nothing at all is missing.
fn percent(share: Option<f64>) -> String {
    match share {
        None => "an unknown part".to_owned(),
        Some(share) if share > 1.0 - 1e-9 => "100 %".to_owned(),
        Some(share) if share > 0.0 => format!("{:.1} %", (share * 100.0).clamp(0.1, 99.9)),
        Some(_) => "0 %".to_owned(),
    }
}

fn examples(isa: &Isa) -> String {
    if isa.examples.is_empty() { "none".to_owned() } else { format!("{} passed", isa.examples.len()) }
}

/// Everything about a definition, as data.
#[derive(Debug, Serialize)]
struct ReportData<'c> {
    file: &'c str,
    ok: bool,
    /// How many places `--fix` changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    mended: Option<usize>,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<render::DiagnosticData>,
    dropped_diagnostics: usize,
    /// Absent if errors leave no model.
    machine: Option<MachineData<'c>>,
}

#[derive(Debug, Serialize)]
struct MachineData<'c> {
    name: &'c str,
    title: &'c str,
    instructions: usize,
    rows: usize,
    pseudo_instructions: usize,
    pc: PcData<'c>,
    registers: Vec<RegisterData<'c>>,
    views: Vec<&'c str>,
    memories: Vec<MemoryData<'c>>,
    devices: Vec<DeviceData<'c>>,
    traps: Vec<TrapData<'c>>,
    cycles: bool,
    examples: ExamplesData,
    encodings: EncodingsData,
    map: Vec<SlotData<'c>>,
    free_opcodes: opcode_map::FreeData,
}

#[derive(Debug, Serialize)]
struct PcData<'c> {
    name: &'c str,
    bits: u32,
    memory: &'c str,
}

#[derive(Debug, Serialize)]
struct RegisterData<'c> {
    name: &'c str,
    bits: u32,
    reset: u64,
    constant: bool,
}

#[derive(Debug, Serialize)]
struct MemoryData<'c> {
    name: &'c str,
    address_bits: u32,
    cell_bits: u32,
    cells: u128,
    order: &'static str,
}

#[derive(Debug, Serialize)]
struct DeviceData<'c> {
    name: &'c str,
    kind: String,
}

#[derive(Debug, Serialize)]
struct TrapData<'c> {
    name: &'c str,
    number: u64,
}

#[derive(Debug, Serialize)]
struct ExamplesData {
    passed: usize,
    failed: usize,
}

/// The encodings by the leading bits of the first cell.
#[derive(Debug, Serialize)]
struct EncodingsData {
    leading_bits: u32,
    defined: usize,
    partly: usize,
    undefined: usize,
    /// The defined share of all encodings, from 0 to 1.
    share: Option<f64>,
}

#[derive(Debug, Serialize)]
struct SlotData<'c> {
    leading: usize,
    instructions: Vec<&'c str>,
    share: Option<f64>,
}

fn report_data(checked: &Checked) -> ReportData<'_> {
    let sources: &[Source] = &checked.written.sources;
    let diagnostics = checked.diagnostics.iter().map(|diagnostic| render::diagnostic_data(sources, diagnostic));
    ReportData {
        file: &checked.source().name,
        ok: checked.exit() == Exit::Done,
        mended: None,
        errors: checked.count(Severity::Error),
        warnings: checked.count(Severity::Warning),
        diagnostics: diagnostics.collect(),
        dropped_diagnostics: checked.dropped,
        machine: checked.isa.as_ref().map(|isa| machine_data(checked, isa)),
    }
}

fn machine_data<'c>(checked: &Checked, isa: &'c Isa) -> MachineData<'c> {
    let coverage = coverage(isa);
    MachineData {
        name: &isa.name,
        title: &isa.title,
        instructions: isa.instructions.len(),
        rows: rows(isa),
        pseudo_instructions: isa.pseudos.len(),
        pc: PcData { name: &isa.pc.name, bits: isa.pc.width.bits(), memory: &isa.code_memory().name },
        registers: isa.registers.iter().map(register_data).collect(),
        views: isa.views.iter().map(|view| view.name.as_str()).collect(),
        memories: isa.memories.iter().map(memory_data).collect(),
        devices: isa.devices.iter().map(|device| DeviceData { name: &device.name, kind: kind(device.kind) }).collect(),
        traps: isa.traps.iter().map(|(name, number)| TrapData { name, number: *number }).collect(),
        cycles: isa.has_cycles,
        examples: examples_data(checked, isa),
        encodings: encodings_data(&coverage),
        free_opcodes: opcode_map::free_data(isa, &coverage),
        map: coverage.slots.iter().enumerate().map(|(leading, slot)| slot_data(isa, leading, slot)).collect(),
    }
}

fn register_data(register: &Register) -> RegisterData<'_> {
    RegisterData {
        name: &register.name,
        bits: register.width.bits(),
        reset: register.reset,
        constant: register.constant,
    }
}

fn memory_data(memory: &Memory) -> MemoryData<'_> {
    MemoryData {
        name: &memory.name,
        address_bits: memory.address.bits(),
        cell_bits: memory.cell.bits(),
        cells: memory.cells(),
        order: match memory.order {
            Order::Little => "little",
            Order::Big => "big",
        },
    }
}

/// Counts the examples that passed and failed. One has failed if a diagnostic about one of its facts says so.
fn examples_data(checked: &Checked, isa: &Isa) -> ExamplesData {
    let complaints = checked.diagnostics.iter().filter(|one| one.code == EXAMPLE_FAILS);
    let places: BTreeSet<Span> = complaints.map(|one| one.primary.span).collect();
    let fails =
        |example: &&Example| example.before.iter().chain(&example.after).any(|fact| places.contains(&fact.span));
    let failed = isa.examples.iter().filter(fails).count();
    ExamplesData { passed: isa.examples.len() - failed, failed }
}

fn encodings_data(coverage: &Coverage) -> EncodingsData {
    let [defined, partly, undefined] = fillings(coverage);
    EncodingsData { leading_bits: coverage.bits, defined, partly, undefined, share: coverage.share }
}

fn slot_data<'c>(isa: &'c Isa, leading: usize, slot: &Slot) -> SlotData<'c> {
    SlotData { leading, instructions: opcode_map::mnemonics(isa, slot), share: slot.share }
}
