//! What a command answers: data that programs take as JSON and people as text.

use std::fmt;

use lathe_base::numbers::addresses_from;
use serde::Serialize;

use crate::expression::Value;
use crate::plan::{CellHit, Detail, Hit};
use crate::program::{Line, hexadecimal};
use crate::watching::{CallLine, Coverage, Profile, Traced};

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Where the machine is now.
    Stopped(StopReport),
    /// The value of an expression.
    Value {
        /// The expression as typed.
        expression: String,
        /// Its value.
        #[serde(flatten)]
        value: Value,
    },
    /// A breakpoint was set.
    Breakpoint(BreakpointLine),
    /// Every breakpoint.
    Breakpoints {
        /// In order of number.
        list: Vec<BreakpointLine>,
    },
    /// Program counter and registers.
    Registers {
        /// In the definition's order.
        list: Vec<RegisterLine>,
    },
    /// Cells of a memory.
    Memory {
        /// The memory's name.
        memory: String,
        /// The first address.
        address: u64,
        /// Bits in an address.
        address_bits: u32,
        /// Bits in a cell.
        cell_bits: u32,
        /// The cells.
        cells: Vec<u64>,
    },
    /// Instructions.
    Code {
        /// The address of the next instruction.
        pc: u64,
        /// In address order.
        lines: Vec<Line>,
    },
    /// Lines of a source.
    Source {
        /// The source's name.
        file: String,
        /// The number of the next line to execute, if it is in this file.
        current: Option<usize>,
        /// Line numbers and texts.
        lines: Vec<(usize, String)>,
    },
    /// Calls that have not returned.
    Stack {
        /// Innermost first.
        calls: Vec<CallLine>,
        /// Whether earlier calls are unknown.
        cut: bool,
    },
    /// Executed instructions.
    Trace {
        /// In execution order.
        lines: Vec<Traced>,
    },
    /// How often instructions were executed.
    Profile(Profile),
    /// Which lines were executed.
    Coverage(Coverage),
    /// What the program has written.
    Output {
        /// The output, with control characters escaped.
        text: String,
        /// Earlier bytes that are no longer kept.
        dropped: u64,
    },
    /// The display.
    Display {
        /// The display's rows.
        rows: Vec<String>,
    },
    /// The position in the history.
    History {
        /// The current position.
        position: u64,
        /// The furthest position.
        end: u64,
        /// The number of snapshots.
        snapshots: usize,
        /// An upper bound on the bytes they take.
        bytes: u64,
        /// The most bytes they may take.
        limit: u64,
        /// The number of events from outside.
        events: usize,
    },
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Save a session to a file.
    Save {
        /// The file.
        file: String,
        /// The session's text.
        #[serde(skip)]
        session: String,
    },
    /// Quit.
    Quit,
}

/// Where the machine stopped, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StopReport {
    /// One word: `done`, `breakpoint`, `halted`, `idle`, `fault`, `waiting`, `paused`, `beginning`.
    pub reason: &'static str,
    /// The reason as a sentence; empty if there is nothing to say.
    pub message: String,
    /// The breakpoints reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hits: Vec<Hit>,
    /// The new position.
    pub step: u64,
    /// The previous position.
    pub from: u64,
    /// The next instruction.
    #[serde(flatten)]
    pub line: Line,
    /// Registers that changed.
    pub changes: Vec<String>,
    /// Output the program wrote for the first time.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// What breakpoints logged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<String>,
}

/// A breakpoint, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BreakpointLine {
    /// Its number.
    pub id: u32,
    /// What it stops at, in words.
    pub what: String,
    /// The condition, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The text it logs instead of stopping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Whether the first hit deletes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Whether it is enabled.
    pub enabled: bool,
    /// How often it was hit.
    pub hits: u64,
    /// How many more hits to ignore.
    pub ignore: u64,
    /// What it costs, where that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<&'static str>,
}

/// A register, for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegisterLine {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// Its width.
    pub bits: u32,
}

impl RegisterLine {
    /// Formats the value for people: a flag as 0 or 1, anything else in hexadecimal.
    pub fn shown(&self) -> String {
        if self.bits == 1 { self.value.to_string() } else { hexadecimal(self.value, self.bits) }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Answer::Stopped(report) => write!(formatter, "{report}"),
            Answer::Value { expression, value } => writeln!(formatter, "{expression} = {value}"),
            Answer::Breakpoint(line) => writeln!(formatter, "{line}"),
            Answer::Breakpoints { list } if list.is_empty() => writeln!(formatter, "no breakpoints"),
            Answer::Breakpoints { list } => list.iter().try_for_each(|line| writeln!(formatter, "{line}")),
            Answer::Registers { list } => registers(formatter, list),
            Answer::Memory { memory, address, address_bits, cell_bits, cells } => {
                dump(formatter, memory, *address, (*address_bits, *cell_bits), cells)
            }
            Answer::Code { pc, lines } => lines.iter().try_for_each(|line| {
                let mark = if line.place.address == *pc { "->" } else { "  " };
                writeln!(formatter, "{mark} {}", code(line))
            }),
            Answer::Source { file, current, lines } => {
                writeln!(formatter, "{file}")?;
                lines.iter().try_for_each(|(number, text)| {
                    let mark = if Some(*number) == *current { "->" } else { "  " };
                    writeln!(formatter, "{}", format!("{mark} {number:>4}  {text}").trim_end())
                })
            }
            Answer::Stack { calls, cut } => {
                for (depth, call) in calls.iter().enumerate() {
                    write!(formatter, "#{depth}  {}", place(&call.place))?;
                    match call.called_at {
                        Some(step) => writeln!(formatter, "  in {}, called at step {step}", call.routine)?,
                        None => writeln!(formatter)?,
                    }
                }
                if *cut { writeln!(formatter, "... calls before these are not known") } else { Ok(()) }
            }
            Answer::Trace { lines } => lines.iter().try_for_each(|line| writeln!(formatter, "{}", traced(line))),
            Answer::Profile(profile) => write!(formatter, "{profile}"),
            Answer::Coverage(coverage) => write!(formatter, "{coverage}"),
            Answer::Output { text, dropped: 0 } => writeln!(formatter, "\"{text}\""),
            Answer::Output { text, dropped } => writeln!(formatter, "... {dropped} bytes before \"{text}\""),
            Answer::Display { rows } => rows.iter().try_for_each(|row| writeln!(formatter, "{row}")),
            Answer::History { position, end, snapshots, bytes, limit, events } => {
                writeln!(formatter, "step {position} of {end}")?;
                let (bytes, limit) = (bytes.div_ceil(1 << 20), limit >> 20);
                writeln!(
                    formatter,
                    "{snapshots} snapshots, at most {bytes} of {limit} MiB; {events} events from outside"
                )
            }
            Answer::Text { text } => writeln!(formatter, "{}", text.trim_end()),
            Answer::Save { file, .. } => writeln!(formatter, "saved to {file}"),
            Answer::Quit => Ok(()),
        }
    }
}

impl StopReport {
    /// Renders what happened on the way here, line by line: logs, output, the reason to stop.
    pub fn happened(&self) -> String {
        let mut lines: String = self.log.iter().map(|line| format!("log: {line}\n")).collect();
        if !self.output.is_empty() {
            lines += &format!("output: \"{}\"\n", self.output);
        }
        if !self.message.is_empty() {
            lines += &format!("{}\n", self.message);
        }
        lines
    }
}

impl fmt::Display for StopReport {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        writeln!(formatter, "{}step {}  {}", self.happened(), self.step, code(&self.line))?;
        match self.changes.is_empty() {
            true => Ok(()),
            false => writeln!(formatter, "    {}", self.changes.join(", ")),
        }
    }
}

impl fmt::Display for BreakpointLine {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.id, self.what)?;
        if let Some(condition) = &self.condition {
            write!(formatter, " if {condition}")?;
        }
        if let Some(log) = &self.log {
            write!(formatter, " log \"{log}\"")?;
        }
        let plural = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let ignore = (self.ignore > 0).then(|| format!("the next {} pass", plural(self.ignore, "hit")));
        let notes = [
            self.temporary.then(|| "once".to_owned()),
            (!self.enabled).then(|| "disabled".to_owned()),
            (self.hits > 0).then(|| plural(self.hits, "hit")),
            ignore,
            self.cost.map(str::to_owned),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        if notes.is_empty() { Ok(()) } else { write!(formatter, "  ({})", notes.join("; ")) }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let total = (self.to - self.from).max(1);
        let share = |count: u64| format!("{:5.1} %", count as f64 * 100.0 / total as f64);
        writeln!(formatter, "{} instructions, steps {} to {}", self.to - self.from, self.from, self.to)?;
        for (name, count) in self.labels.iter().take(15) {
            writeln!(formatter, "{count:>12}  {}  {name}", share(*count))?;
        }
        writeln!(formatter, "hottest instructions:")?;
        self.hottest
            .iter()
            .try_for_each(|(line, count)| writeln!(formatter, "{count:>12}  {}  {}", share(*count), code(line)))
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        writeln!(formatter, "{} of {} lines with instructions were executed", self.executed, self.lines.len())?;
        let missed: Vec<&(_, u64)> = self.lines.iter().filter(|(_, count)| *count == 0).collect();
        missed.iter().take(20).try_for_each(|(line, _)| writeln!(formatter, "  never  {}:{}", line.file, line.line))?;
        if missed.len() > 20 { writeln!(formatter, "  and {} more", missed.len() - 20) } else { Ok(()) }
    }
}

/// Renders a place as `0x0012 <loop+2>`.
pub fn place(place: &crate::program::Place) -> String {
    let label = place.label.as_ref().map(|label| format!(" <{label}>")).unwrap_or_default();
    format!("{}{label}", place.hex)
}

/// Renders an instruction with its place.
pub fn code(line: &Line) -> String {
    let source = line.place.line.as_ref().map(|line| format!("  ; {}:{}", line.file, line.line)).unwrap_or_default();
    format!("{:<20} {:<24}{source}", place(&line.place), line.text).trim_end().to_owned()
}

fn traced(traced: &Traced) -> String {
    let text = format!("{:>8}  {:<20} {:<24}", traced.step, place(&traced.line.place), traced.line.text);
    format!("{text}  {}", traced.changes.join(", ")).trim_end().to_owned()
}

/// Describes a hit in a sentence.
pub(crate) fn hit(hit: &Hit, name: &str) -> String {
    match &hit.detail {
        Detail::Reached => format!("{name} reached"),
        Detail::Cells { cells } => {
            let cells: Vec<String> = cells.iter().map(cell).collect();
            format!("{name}: {}", cells.join(", "))
        }
        Detail::Changed { expression, old, new } => format!("{name}: {expression} = {new:#x} (was {old:#x})"),
        Detail::Became { expression } => format!("{name}: {expression} is true now"),
        Detail::Output => format!("{name}: the program has written output"),
    }
}

fn cell(cell: &CellHit) -> String {
    let place = format!("{}[{:#06x}]", cell.memory, cell.address);
    match (cell.written, cell.old) {
        (true, Some(old)) => format!("{place} = {:#04x} (was {old:#04x})", cell.value),
        (true, None) => format!("{place} = {:#04x}", cell.value),
        (false, _) => format!("{place} was read, {:#04x}", cell.value),
    }
}

fn registers(formatter: &mut fmt::Formatter, list: &[RegisterLine]) -> fmt::Result {
    let width = list.iter().map(|line| line.name.len() + line.shown().len()).max().unwrap_or(0) + 3;
    let columns = (76 / (width + 2)).max(1);
    for row in list.chunks(columns) {
        let texts: Vec<String> =
            row.iter().map(|line| format!("{:<width$}", format!("{} = {}", line.name, line.shown()))).collect();
        writeln!(formatter, "{}", texts.join("  ").trim_end())?;
    }
    Ok(())
}

fn dump(f: &mut fmt::Formatter, memory: &str, start: u64, bits: (u32, u32), cells: &[u64]) -> fmt::Result {
    let (address_digits, digits) = (bits.0.div_ceil(4) as usize, bits.1.div_ceil(4) as usize);
    let per_row = (48 / (digits + 1)).next_power_of_two() / if (48 / (digits + 1)).is_power_of_two() { 1 } else { 2 };
    let per_row = per_row.clamp(1, 16);
    for (row, address) in cells.chunks(per_row).zip(addresses_from(start).step_by(per_row)) {
        let values: Vec<String> = row.iter().map(|cell| format!("{cell:0digits$X}")).collect();
        let width = per_row * (digits + 1) - 1;
        write!(f, "{memory} {address:0address_digits$X}  {:<width$}", values.join(" "))?;
        if bits.1 == 8 {
            let characters = row.iter().map(|cell| match *cell {
                0x20..=0x7E => char::from(*cell as u8),
                _ => '.',
            });
            write!(f, "  {}", characters.collect::<String>())?;
        }
        writeln!(f)?;
    }
    Ok(())
}
