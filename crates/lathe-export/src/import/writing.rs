//! Writes the definition as text, and notes what each line was made from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::fields::{Choice, Kind, Listed, Operand};
use super::rows::{Demand, Pseudo, Row, To};
use super::value::{Bit, Facts, Page};

/// The meaning of an instruction until somebody writes it.
const PLACEHOLDER: &str = "fault \"TODO\"";

/// What is known about the machine besides its instructions.
pub(super) struct Machine {
    pub(super) name: String,
    /// The file that it was made from.
    pub(super) file: String,
    pub(super) cell: u32,
    pub(super) address: u32,
    pub(super) start: u128,
}

/// A definition, and what its lines are.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
}

/// What a line was made from.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Line {
    Row(usize),
    Pseudo(usize),
    /// Fields with these names.
    Fields(Vec<String>),
    Other,
}

/// Writes a definition.
pub(super) fn write(machine: &Machine, rows: &[Row], pseudos: &[Pseudo]) -> Written {
    let mut fields = Fields::new(rows, pseudos);
    let mut body: Vec<(String, Line)> = vec![("instructions {".to_owned(), Line::Other)];
    for (number, row) in rows.iter().enumerate() {
        body.push((fields.row(row, machine.cell), Line::Row(number)));
    }
    body.push(("}".to_owned(), Line::Other));
    if !pseudos.is_empty() {
        body.push((String::new(), Line::Other));
        body.push(("pseudo {".to_owned(), Line::Other));
        for (number, pseudo) in pseudos.iter().enumerate() {
            body.push((fields.pseudo(pseudo, machine.cell), Line::Pseudo(number)));
        }
        body.push(("}".to_owned(), Line::Other));
    }
    let mut all: Vec<(String, Line)> = head(machine, &fields).into_iter().map(|line| (line, Line::Other)).collect();
    for (names, description) in fields.together() {
        all.push((format!("field {} : {description}", names.join(", ")), Line::Fields(names)));
    }
    if !fields.declared.is_empty() {
        all.push((String::new(), Line::Other));
    }
    all.extend(body);
    let text = all.iter().fold(String::new(), |text, (line, _)| text + line + "\n");
    Written { text, lines: all.into_iter().map(|(_, line)| line).collect() }
}

fn head(machine: &Machine, fields: &Fields) -> Vec<String> {
    let free =
        |names: [&str; 3]| names.into_iter().find(|name| !fields.taken.contains(*name)).unwrap_or("x").to_owned();
    let (memory, pc) = (free(["ram", "memory_", "cells_"]), free(["pc", "ip", "counter_"]));
    let start = if machine.start == 0 { String::new() } else { format!(" = {:#x}", machine.start) };
    let mut lines = vec![
        format!("# Made from {} by `lathe import customasm`.", machine.file),
        "#".to_owned(),
        "# TODO: rules say how instructions are written and which bits they have, but not what they do.".to_owned(),
        format!("# Put that in place of each `{PLACEHOLDER}`. Until then programs can be assembled and disassembled,"),
        "# and a run stops at its first instruction.".to_owned(),
        format!("machine {} \"TODO: one line about it\"", machine.name),
        String::new(),
        format!("memory {memory} : u{} -> u{}", machine.address, machine.cell),
        format!("pc {pc} : u{} in {memory}{start}", machine.address),
        String::new(),
    ];
    if !fields.registers.is_empty() {
        lines.push("# TODO: rules do not tell how wide registers are.".to_owned());
        let names: Vec<&str> = fields.registers.iter().map(String::as_str).collect();
        for names in names.chunks(64) {
            lines.push(format!("register {} : u{}", ranges(names), machine.cell.max(fields.number)));
        }
        lines.push(String::new());
    }
    lines
}

/// The fields that rows need.
struct Fields {
    /// Names and descriptions, in order.
    declared: Vec<(String, String)>,
    registers: Vec<String>,
    /// The width of the widest number that may be written with or without a sign: registers are at least as wide.
    number: u32,
    /// Names that already mean something else.
    taken: BTreeSet<String>,
}

impl Fields {
    fn new(rows: &[Row], pseudos: &[Pseudo]) -> Fields {
        let operands = rows.iter().flat_map(|row| &row.operands).chain(pseudos.iter().flat_map(|one| &one.operands));
        let mut choices: Vec<&Choice> = Vec::new();
        let mut number = 0;
        for operand in operands {
            number = number.max(match &operand.kind {
                Kind::Values(values) => values.wraps.unwrap_or(0),
                _ if operand.wraps => operand.width,
                _ => 0,
            });
            match &operand.kind {
                Kind::Choice(choice) if !choices.contains(&choice) => choices.push(choice),
                _ => {}
            }
        }
        let mut registers: Vec<String> = Vec::new();
        let mut add = |choice: &Choice| {
            for (_, names) in choice.by_code() {
                let is_known = registers.iter().any(|known| known == names[0]);
                if !is_known {
                    registers.push(names[0].to_owned());
                }
            }
        };
        choices.iter().filter(|choice| choice.is_registers()).for_each(|choice| add(choice));
        let taken = choices.iter().flat_map(|choice| choice.names.iter().map(|(name, _)| name.clone())).collect();
        Fields { declared: Vec::new(), registers, number: number.min(64), taken }
    }

    /// Groups the names of fields by description.
    fn together(&self) -> Vec<(Vec<String>, String)> {
        let mut all: Vec<(Vec<String>, String)> = Vec::new();
        for (name, description) in &self.declared {
            match all.iter_mut().find(|(_, known)| known == description) {
                Some((names, _)) => names.push(name.clone()),
                None => all.push((vec![name.clone()], description.clone())),
            }
        }
        all
    }

    /// Returns the name of a field for an operand.
    fn name(&mut self, operand: &Operand, description: String, used: &[String]) -> String {
        let mut name = operand.name.clone();
        let mut number = operand.width.max(2);
        loop {
            match self.declared.iter().find(|(known, _)| *known == name) {
                Some((_, known)) if *known == description && !used.contains(&name) => return name,
                None if !used.contains(&name) => {
                    self.declared.push((name.clone(), description));
                    return name;
                }
                _ => {
                    name = format!("{}_{number}", operand.name);
                    number += 1;
                }
            }
        }
    }

    fn row(&mut self, row: &Row, cell: u32) -> String {
        let cells = i128::from(row.bits.len() as u32 / cell);
        let mut names: Vec<String> = Vec::new();
        for (number, operand) in row.operands.iter().enumerate() {
            let is_little = cell == 8 && is_little(row, number, operand);
            let description = self.description(operand, &row.facts, number, cells, is_little);
            let name = self.name(operand, description, &names);
            names.push(name);
        }
        let mut syntax = row.syntax.render(|number| names[number].clone());
        if !row.spellings.is_empty() {
            let end = syntax.find(' ').unwrap_or(syntax.len());
            syntax.insert_str(end, &format!("/{}", row.spellings.join("/")));
        }
        let picture = picture(row, &names, cell);
        let condition = |demand: &Demand| {
            let to = match demand.to {
                To::Code(code) => row.operands[demand.operand].spelled(code)?,
                To::Operand(other) => names[other].clone(),
            };
            Some(format!("{} {} {to}", names[demand.operand], if demand.is_equal { "==" } else { "!=" }))
        };
        let conditions: Vec<String> = row.conditions.iter().filter_map(condition).collect();
        let conditions =
            if conditions.is_empty() { String::new() } else { format!(" where {}", conditions.join(", ")) };
        format!("  {syntax} | {picture}{conditions} | {PLACEHOLDER}")
    }

    fn pseudo(&mut self, pseudo: &Pseudo, cell: u32) -> String {
        let mut names: Vec<String> = Vec::new();
        let mut shown = Vec::new();
        for (number, operand) in pseudo.operands.iter().enumerate() {
            match &operand.kind {
                Kind::Choice(_) | Kind::Number(..) | Kind::Values(_) => {
                    let cells = i128::from(pseudo.bits as u32 / cell);
                    let description = self.description(operand, &pseudo.facts, number, cells, false);
                    let name = self.name(operand, description, &names);
                    shown.push(name.clone());
                    names.push(name);
                }
                // The instructions of the expansion decide which numbers fit.
                Kind::Anything => {
                    let is_taken = |name: &str, fields: &Fields| {
                        names.iter().any(|known| known == name)
                            || fields.declared.iter().any(|(known, _)| known == name)
                    };
                    let mut name = operand.name.clone();
                    while is_taken(&name, self) {
                        name.push('_');
                    }
                    shown.push(format!("{name}:s64"));
                    names.push(name);
                }
            }
        }
        let syntax = pseudo.syntax.render(|number| shown[number].clone());
        let line = |line: &String| {
            line.split('\u{1}').enumerate().fold(String::new(), |text, (at, part)| match at % 2 {
                0 => text + part,
                _ => text + part.parse::<usize>().ok().and_then(|number| names.get(number)).map_or("", String::as_str),
            })
        };
        let lines: Vec<String> = pseudo.lines.iter().map(line).collect();
        format!("  {syntax} => {}", lines.join("; "))
    }

    fn description(&self, operand: &Operand, facts: &Facts, number: usize, cells: i128, is_little: bool) -> String {
        match &operand.kind {
            Kind::Choice(choice) if choice.takes_numbers => {
                let names: Vec<String> =
                    choice.names.iter().map(|(name, code)| format!("{name} = {code:#x}")).collect();
                format!("u{} {{ {} }}", operand.width, names.join(", "))
            }
            Kind::Choice(choice) => self.choice(choice),
            Kind::Values(values) => list_type(values),
            Kind::Number(..) | Kind::Anything => number_type(operand, facts, number, cells, is_little),
        }
    }

    fn choice(&self, choice: &Choice) -> String {
        let codes = choice.by_code();
        let is_registers = codes.iter().all(|(_, names)| self.registers.iter().any(|known| known == names[0]));
        if !is_registers {
            let names = codes.iter().flat_map(|(code, names)| names.iter().map(move |name| format!("{name} = {code}")));
            return format!("enum {{ {} }}", names.collect::<Vec<_>>().join(", "));
        }
        let mut list: Vec<String> = Vec::new();
        for (code, names) in codes {
            list.resize(code as usize, "_".to_owned());
            list.push(names.join("/"));
        }
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        format!("register {{ {} }}", ranges(&list))
    }
}

/// Returns a type such as `s16 in { 0, 1, 2, -1 }`.
fn list_type(listed: &Listed) -> String {
    let (least, most) = (listed.numbers.values().min().copied(), listed.numbers.values().max().copied());
    let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
    let bits = |number: i128| 128 - if number < 0 { !number } else { number }.leading_zeros();
    let shortest = bits(most).max(bits(least)) + u32::from(least < 0);
    let width = listed.wraps.unwrap_or(shortest).max(shortest).max(1);
    let mut entries: Vec<(Option<i128>, Option<i128>)> = Vec::new();
    let mut expected = 0;
    for (code, number) in &listed.numbers {
        entries.extend((expected..*code).map(|_| (None, None)));
        expected = code + 1;
        match entries.last_mut() {
            Some((Some(_), Some(last))) if *last + 1 == *number => *last = *number,
            _ => entries.push((Some(*number), Some(*number))),
        }
    }
    let entry = |entry: &(Option<i128>, Option<i128>)| match entry {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) if first + 1 == *last => format!("{first}, {last}"),
        (Some(first), Some(last)) => format!("{first}..{last}"),
        _ => "_".to_owned(),
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    format!("{}{width} in {{ {} }}", if least < 0 { 's' } else { 'u' }, entries.join(", "))
}

fn number_type(operand: &Operand, facts: &Facts, number: usize, cells: i128, is_little: bool) -> String {
    let Kind::Number(_, declared) = operand.kind else { return "s64".to_owned() };
    let least = facts.least.get(&number).copied();
    let distance = facts.distances.get(&number);
    let is_signed = match (distance, declared) {
        (Some(_), _) | (None, None) => least.map_or(distance.is_some(), |least| least < 0),
        (None, Some(is_signed)) => is_signed,
    };
    let mut text = format!("{}{}", if is_signed { 's' } else { 'u' }, operand.width);
    if is_little {
        text.push_str(" little");
    }
    let page = facts.pages.get(&number);
    if operand.is_cut && page.is_none() {
        text.push_str(" low");
    }
    if operand.unstored > 0 {
        let _ = write!(text, " align {}", 1u64 << operand.unstored);
    }
    let base = |after: i128| if after == cells { "next" } else { "pc" };
    if let Some(distance) = distance {
        let _ = write!(text, " address{} from {}", if distance.is_back { " back" } else { "" }, base(distance.after));
    }
    let _ = match page {
        Some(Page::After(after)) => write!(text, " within {}", base(*after)),
        Some(Page::Of(address)) => write!(text, " within {address:#x}"),
        None => Ok(()),
    };
    text
}

/// Returns the bits of an operand in a row, most significant first, if they are adjacent.
fn together(row: &Row, number: usize) -> Option<Vec<u32>> {
    let is_its = |bit: &Bit| matches!(bit, Bit::Of(of, _) if *of == number);
    let first = row.bits.iter().position(is_its)?;
    let bits: Vec<u32> = row.bits[first..]
        .iter()
        .map_while(|bit| match bit {
            Bit::Of(of, bit) if *of == number => Some(*bit),
            _ => None,
        })
        .collect();
    (bits.len() == row.bits.iter().filter(|bit| is_its(bit)).count()).then_some(bits)
}

fn is_little(row: &Row, number: usize, operand: &Operand) -> bool {
    if operand.width <= 8 || !operand.width.is_multiple_of(8) || operand.unstored > 0 {
        return false;
    }
    let turned: Vec<u32> = (0..operand.width / 8).flat_map(|byte| (byte * 8..byte * 8 + 8).rev()).collect();
    together(row, number).is_some_and(|bits| bits == turned)
}

fn picture(row: &Row, names: &[String], cell: u32) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while let Some(bit) = row.bits.get(at) {
        match bit {
            Bit::Fixed(_) => {
                let to_end = cell as usize - at % cell as usize;
                let fixed: String = row.bits[at..]
                    .iter()
                    .take(to_end)
                    .map_while(|bit| match bit {
                        Bit::Fixed(bit) => Some(if *bit { '1' } else { '0' }),
                        Bit::Of(..) => None,
                    })
                    .collect();
                at += fixed.len();
                parts.push(match u128::from_str_radix(&fixed, 2) {
                    Ok(value) if fixed.len().is_multiple_of(8) => {
                        format!("0x{value:0digits$X}", digits = fixed.len() / 4)
                    }
                    _ => fixed,
                });
            }
            Bit::Of(number, high) => {
                let operand = &row.operands[*number];
                if cell == 8 && is_little(row, *number, operand) {
                    parts.push(format!("{{{}}}", names[*number]));
                    at += operand.width as usize;
                    continue;
                }
                let run = row.bits[at..].iter().zip(0..).take_while(
                    |(bit, back)| matches!(bit, Bit::Of(of, place) if of == number && place + back == *high),
                );
                let length = run.count();
                let low = high + 1 - length as u32;
                parts.push(match (*high + 1, low) {
                    whole if whole == (operand.width, operand.unstored) => format!("{{{}}}", names[*number]),
                    (_, low) if low == *high => format!("{{{}[{high}]}}", names[*number]),
                    (_, low) => format!("{{{}[{high}:{low}]}}", names[*number]),
                });
                at += length;
            }
        }
    }
    parts.join(" ")
}

/// Joins a list of names, with `r0..r3` for names that count.
fn ranges(names: &[&str]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let length = counting(&names[at..]).max(1);
        match length {
            1 | 2 => parts.extend(names[at..at + length].iter().map(|name| (*name).to_owned())),
            _ => parts.push(format!("{}..{}", names[at], names[at + length - 1])),
        }
        at += length;
    }
    parts.join(", ")
}

/// Returns how many names at the beginning of a list count up.
fn counting(names: &[&str]) -> usize {
    let split = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        let number = digits.parse::<u32>().ok().filter(|number| number.to_string() == digits)?;
        Some((stem.to_owned(), number))
    };
    let Some((stem, first)) = names.first().and_then(|name| split(name)) else { return 1 };
    let counts = |(at, name): &(usize, &&str)| split(name) == Some((stem.clone(), first.saturating_add(*at as u32)));
    names.iter().enumerate().take_while(counts).count()
}

/// Reports an operand whose distance or page is counted from a place that no field can count from.
pub(super) fn uncountable(row: &Row, cell: u32) -> Option<String> {
    let cells = i128::from(row.bits.len() as u32 / cell);
    let distances = row.facts.distances.iter().map(|(number, distance)| (number, distance.after));
    let pages = row.facts.pages.iter().filter_map(|(number, page)| match page {
        Page::After(after) => Some((number, *after)),
        Page::Of(_) => None,
    });
    let (number, after) = distances.chain(pages).find(|(_, after)| *after != 0 && *after != cells)?;
    let name: BTreeMap<usize, &str> = row.operands.iter().map(|one| one.name.as_str()).enumerate().collect();
    Some(format!(
        "`{}` is counted from `$ + {after}`; distances here are from the instruction or from the next one",
        name.get(number).copied().unwrap_or("it").to_lowercase()
    ))
}
