//! `lathe show`: the text of a machine, one of its rows with its bits, or its sample programs.

use lathe_base::{FileId, Span, nearest};
use lathe_isa::encoding::Encoding;
use lathe_isa::model::{Domain, Example, Field, Instruction, InstructionId};
use lathe_isa::syntax::Head;
use lathe_isa::{Isa, Written};
use lathe_machines::Program;
use serde::Serialize;

use super::Outcome;
use crate::arguments::{Format, Show};
use crate::exit::{Exit, Failure};
use crate::render::{self, bold, dim};
use crate::{machine, output};

/// The most members of a family, or other instructions of one row, listed for people.
const LISTED: usize = 16;

/// Shows what was asked for.
pub(super) fn execute(arguments: &Show) -> Outcome {
    let json = arguments.format.format == Format::Json;
    let text = match (&arguments.programs, &arguments.row) {
        (Some(name), _) => programs(&arguments.machine, name.as_deref(), json)?,
        (None, None) => definition(&arguments.machine, json)?,
        (None, Some(row)) => {
            let machine = machine::open(&arguments.machine)?;
            let rows = rows(&machine.isa, &machine.written, row)?;
            if json { output::json(&rows)? } else { rows.iter().map(RowData::text).collect::<Vec<_>>().join("\n") }
        }
    };
    output::answer(&text)?;
    Ok(Exit::Done)
}

/// Returns the definition as written: its author's comments describe it best.
fn definition(name: &str, json: bool) -> Result<String, Failure> {
    let source = machine::find(name)?;
    if json {
        return output::json(&serde_json::json!({ "file": source.name, "definition": source.text }));
    }
    Ok(source.text)
}

fn programs(machine: &str, name: Option<&str>, json: bool) -> Result<String, Failure> {
    let Some(known) = lathe_machines::find(machine) else {
        machine::find(machine)?;
        let message = format!("`{machine}` does not come with Lathe, so it has no sample programs");
        return Err(Failure::usage(message).help("`lathe machines` lists those that have"));
    };
    let Some(name) = name else {
        let all: Vec<ProgramData> = known.programs.iter().map(ProgramData::from).collect();
        return if json { output::json(&all) } else { Ok(program_list(machine, &all)) };
    };
    let program = known.program(name).ok_or_else(|| {
        let near = nearest(name, known.programs.iter().map(|program| program.name));
        let help = near.map_or_else(
            || format!("`lathe show {machine} --programs` lists them"),
            |near| format!("did you mean `{near}`?"),
        );
        Failure::usage(format!("{machine} has no sample program `{name}`")).help(help)
    })?;
    if json {
        return output::json(&serde_json::json!({ "name": program.name, "text": program.text }));
    }
    Ok(program.text.to_owned())
}

fn program_list(machine: &str, all: &[ProgramData]) -> String {
    let width = all.iter().map(|program| program.name.len()).max().unwrap_or(0);
    let line = |program: &ProgramData| {
        let gap = " ".repeat(width - program.name.len());
        format!("{}{gap}  {}\n", bold(program.name), program.title)
    };
    let lines: String = all.iter().map(line).collect();
    format!("{lines}\nTo run one: lathe show {machine} --programs hello > hello.asm, then lathe run hello.asm\n")
}

#[derive(Debug, Serialize)]
struct ProgramData {
    name: &'static str,
    title: &'static str,
}

impl From<&Program> for ProgramData {
    fn from(program: &Program) -> ProgramData {
        ProgramData { name: program.name, title: program.title() }
    }
}

/// One row of a definition.
#[derive(Debug, Serialize)]
struct RowData {
    /// The row as written in the definition.
    row: String,
    line: usize,
    /// The file that the row comes from, if it is not the machine's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    documentation: String,
    /// The instructions the row describes: several if it has a family.
    instructions: Vec<InstructionData>,
    operands: Vec<OperandData>,
    /// Examples as written in the definition.
    examples: Vec<String>,
}

#[derive(Debug, Serialize)]
struct InstructionData {
    syntax: String,
    /// One character per bit: `0` and `1`, the letter of an operand, `-` where ignored.
    bits: Vec<String>,
    cycles: Option<u64>,
}

#[derive(Debug, Serialize)]
struct OperandData {
    name: String,
    letter: char,
    kind: String,
}

/// Returns the rows whose first word, or whose whole syntax, is this.
fn rows(isa: &Isa, source: &Written, wanted: &str) -> Result<Vec<RowData>, Failure> {
    let matches = |instruction: &Instruction| {
        let syntax = written(isa, instruction);
        mnemonics(isa, instruction).any(|name| name.eq_ignore_ascii_case(wanted)) || syntax.eq_ignore_ascii_case(wanted)
    };
    let mut found: Vec<(u32, Vec<InstructionId>)> = Vec::new();
    for (at, instruction) in isa.instructions.iter().enumerate().filter(|(_, instruction)| matches(instruction)) {
        let id = InstructionId(at as u32);
        match found.iter_mut().find(|(row, _)| *row == instruction.row) {
            Some((_, ids)) => ids.push(id),
            None => found.push((instruction.row, vec![id])),
        }
    }
    if found.is_empty() {
        return Err(unknown(isa, wanted));
    }
    Ok(found.iter().map(|(_, ids)| row_data(isa, source, ids)).collect())
}

fn unknown(isa: &Isa, wanted: &str) -> Failure {
    let pseudo = isa.pseudos.iter().find(|pseudo| pseudo.syntax.mnemonic().eq_ignore_ascii_case(wanted));
    if let Some(pseudo) = pseudo {
        let parts: Vec<&str> = pseudo.expansion.iter().map(|part| part.text.as_str()).collect();
        let message = format!("`{wanted}` is a pseudo-instruction of {}, which stands for others", isa.name);
        return Failure::usage(message).help(format!("it expands to `{}`", parts.join("; ")));
    }
    let names = isa.instructions.iter().map(|instruction| instruction.syntax.mnemonic());
    let near = nearest(wanted, names);
    let help = near.map_or_else(
        || format!("`lathe show {}` prints all of them", isa.name),
        |near| format!("did you mean `{near}`?"),
    );
    Failure::usage(format!("{} has no instruction `{wanted}`", isa.name)).help(help)
}

fn mnemonics<'i>(isa: &'i Isa, instruction: &'i Instruction) -> impl Iterator<Item = &'i str> {
    instruction.syntax.heads.iter().flat_map(|head| match head {
        Head::Word(word) => vec![word.as_str()],
        Head::Glued { prefix, .. } => vec![prefix.as_str()],
        Head::Named(name) => isa.field(instruction.operands[0]).names().chain([name.as_str()]).collect(),
    })
}

/// Renders the syntax with the names of its operands.
fn written(isa: &Isa, instruction: &Instruction) -> String {
    instruction.look().0.render(|at| names(isa, instruction)[at].clone())
}

/// Returns the names of the operands as people see them.
fn names(isa: &Isa, instruction: &Instruction) -> Vec<String> {
    match &instruction.form {
        Some(form) => form.operands.iter().map(|(name, _)| name.clone()).collect(),
        None => instruction.operands.iter().map(|id| isa.field(*id).name.clone()).collect(),
    }
}

fn row_data(isa: &Isa, source: &Written, ids: &[InstructionId]) -> RowData {
    let first = isa.instruction(ids[0]);
    let names = names(isa, first);
    let letters = letters(&names);
    let instruction = |instruction: &&Instruction| InstructionData {
        syntax: written(isa, instruction),
        bits: bits(instruction.look().1, &letters, isa.code_memory().cell.bits()),
        cycles: isa.has_cycles.then_some(instruction.cycles),
    };
    let mut shown: Vec<&Instruction> = Vec::new();
    for one in ids.iter().map(|id| isa.instruction(*id)) {
        if !shown.iter().any(|known| known.is_seen_as(one)) {
            shown.push(one);
        }
    }
    let operands = names.iter().zip(&letters).map(|(name, letter)| {
        let kind = match isa.operands.iter().find(|operand| operand.name == *name) {
            Some(operand) => operand.modes.iter().map(|mode| mode.syntax.as_str()).collect::<Vec<_>>().join("  "),
            None => isa.fields.iter().find(|field| field.name == *name).map(kind).unwrap_or_default(),
        };
        OperandData { name: name.clone(), letter: *letter, kind }
    });
    let source = |span: Span| &source.sources[span.file.0 as usize];
    let line_of = |span: Span| source(span).line_column(span.start).0;
    let text_of = |span: Span| source(span).text.lines().nth(line_of(span) - 1).unwrap_or("").trim().to_owned();
    let example = |example: &Example| text_of(example.span);
    RowData {
        row: text_of(first.span),
        line: line_of(first.span),
        file: (first.span.file != FileId(0)).then(|| source(first.span).name.clone()),
        documentation: first.documentation.clone(),
        instructions: shown.iter().map(instruction).collect(),
        operands: operands.collect(),
        examples: isa.examples.iter().filter(|example| ids.contains(&example.instruction)).map(example).collect(),
    }
}

/// Chooses a letter for each operand in the picture: the first of its name, or the next free letter.
fn letters(names: &[String]) -> Vec<char> {
    let mut letters: Vec<char> = Vec::new();
    for name in names {
        let own = name.chars().next().unwrap_or('X');
        let free = std::iter::once(own).chain('A'..='Z').find(|letter| !letters.contains(letter));
        letters.push(free.unwrap_or('?'));
    }
    letters
}

/// Renders the bits of each cell.
fn bits(encoding: &Encoding, letters: &[char], cell: u32) -> Vec<String> {
    let bit = |at: u32| {
        let mask = 1u128 << (127 - at);
        let operand = encoding.operands.iter().zip(letters).find(|(segments, _)| {
            segments.iter().any(|segment| (segment.shift..segment.shift + segment.width.bits()).contains(&(127 - at)))
        });
        match operand {
            Some((_, letter)) => *letter,
            None if encoding.ignored & mask != 0 => '-',
            None if encoding.fixed.value & mask != 0 => '1',
            None => '0',
        }
    };
    (0..encoding.cells).map(|number| (number * cell..(number + 1) * cell).map(bit).collect()).collect()
}

/// Describes what can be written for an operand.
fn kind(field: &Field) -> String {
    let list = |names: Vec<&str>| match names.as_slice() {
        [first, .., last] if names.len() > 8 => format!("{first} … {last}, {} names", names.len()),
        _ => names.join(", "),
    };
    match &field.domain {
        Domain::Registers(places) => list(places.iter().flatten().map(|(name, _)| name.as_str()).collect()),
        Domain::Names(_) if field.has_words() => {
            format!("any of {}", field.names().collect::<Vec<_>>().join(", "))
        }
        Domain::Names(names) => list(names.iter().map(|(name, _)| name.as_str()).collect()),
        Domain::Values(values) => {
            let numbers: Vec<String> = values.numbers().map(|(_, number)| number.to_string()).collect();
            list(numbers.iter().map(String::as_str).collect()).replace(" names", " numbers")
        }
        Domain::Number(number) => {
            let sign = if number.signed { "signed" } else { "unsigned" };
            let what = if number.target.is_some() { "an address" } else { "a number" };
            format!("{what}, {sign}, {}", render::count(field.width.bits() as usize, "bit"))
        }
    }
}

impl RowData {
    fn text(&self) -> String {
        let file = self.file.as_deref().unwrap_or("the definition");
        let place = format!("line {} of {file}", self.line);
        let mut text = format!("{}\n{}\n\n", bold(&self.row), dim(&place));
        if !self.documentation.is_empty() {
            text += &format!("{}\n\n", self.documentation.trim_end());
        }
        let width = self.instructions.iter().map(|one| one.syntax.chars().count()).max().unwrap_or(0);
        for instruction in self.instructions.iter().take(LISTED) {
            let cells: Vec<String> = instruction.bits.iter().map(|bits| nibbles(bits)).collect();
            let cycles = instruction.cycles.map(|cycles| format!("  {}", render::count(cycles as usize, "cycle")));
            let (syntax, cells) = (&instruction.syntax, cells.join("  "));
            text += &format!("  {syntax:<width$}  {cells}{}\n", cycles.unwrap_or_default());
        }
        if self.instructions.len() > LISTED {
            text += &format!("  … and {} more\n", self.instructions.len() - LISTED);
        }
        if !self.operands.is_empty() {
            text += "\nOperands:\n";
            text.extend(self.operands.iter().map(|one| match one.name.chars().eq([one.letter]) {
                true => format!("  {}: {}\n", one.name, one.kind),
                false => format!("  {}  {}: {}\n", one.letter, one.name, one.kind),
            }));
        }
        if !self.examples.is_empty() {
            text += "\nExamples:\n";
            text.extend(self.examples.iter().map(|example| format!("  {example}\n")));
        }
        text
    }
}

/// Groups bits by four, as in datasheets: `01000001` becomes `0100 0001`.
fn nibbles(bits: &str) -> String {
    let bits: Vec<char> = bits.chars().collect();
    bits.rchunks(4).rev().map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}
