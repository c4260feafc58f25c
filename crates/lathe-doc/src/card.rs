//! The reference card: everything to look up while programming, on one page.
//!
//! Lines flow into columns, as many as make the card about as wide as a sheet of paper; the picture is then scaled to
//! it. So a small machine has large print, and a large one still fits on one page.

use std::fmt::Write;

use crate::grouped;
use crate::html::{flag_effects, page};
use crate::markup::escape;
use crate::sheet::{FieldData, RegisterData, Sheet};

/// The width of a character and the distance of lines, in units of the picture.
const CHARACTER: f64 = 6.1;
const LINE: f64 = 14.0;
/// The width of a character in the title; wider than most.
const TITLE_CHARACTER: f64 = 7.4;
const MARGIN: f64 = 18.0;
const GUTTER: f64 = 22.0;
/// The widths to try for the last cell of a row before it wraps, in characters.
const WIDTHS: [usize; 8] = [28, 32, 36, 40, 46, 52, 60, 70];
/// The widths to try for its bits.
const BITS: [usize; 4] = [20, 28, 40, 80];
/// What separates the flags from a meaning.
const FLAGS: &str = "   [";
/// The proportions of a sheet in landscape.
const RATIO: f64 = 297.0 / 210.0;

#[derive(Clone)]
enum Line {
    Heading(String),
    /// Columns: syntax, bits, rest.
    Row([String; 3]),
    /// What does not fit in the row above it.
    More([String; 3]),
    Blank,
}

/// Draws the card.
pub fn card_svg(sheet: &Sheet) -> String {
    let Layout { lines, widths, columns } = largest(sheet);
    let column = column(&widths);
    let per_column = lines.len().div_ceil(columns);
    let (width, height) = extent(lines.len(), column, columns);
    let width = width.max(title_end(sheet) + MARGIN);
    let mut body = String::new();
    let _ = write!(
        body,
        "<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/><text class=\"name\" x=\"{MARGIN}\" y=\"34\">{}</text>\
         <text class=\"title\" x=\"{:.0}\" y=\"34\">{}</text>",
        escape(&sheet.name),
        title_start(sheet),
        escape(&sheet.title)
    );
    for (at, line) in lines.iter().enumerate() {
        let x = MARGIN + (at / per_column) as f64 * (column + GUTTER);
        let y = 60.0 + (at % per_column) as f64 * LINE;
        body += &draw(line, x, y, &widths, column);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\">\n<style>{}</style>\n{body}</svg>\n",
        include_str!("card.css")
    )
}

/// Returns the card as a page to print on one sheet.
pub fn card_html(sheet: &Sheet) -> String {
    let style = "html,body{margin:0;height:100%;background:Canvas}svg{display:block;width:100%;max-height:100vh}\n\
                 @page{size:landscape;margin:8mm}@media print{svg{height:100vh}}\n";
    page(&format!("{} reference card", sheet.name), style, &card_svg(sheet))
}

/// Returns where the title begins, after the name.
fn title_start(sheet: &Sheet) -> f64 {
    MARGIN + sheet.name.chars().count() as f64 * 13.5 + 14.0
}

fn title_end(sheet: &Sheet) -> f64 {
    title_start(sheet) + sheet.title.chars().count() as f64 * TITLE_CHARACTER
}

fn extent(lines: usize, column: f64, columns: usize) -> (f64, f64) {
    let width = columns as f64 * (column + GUTTER) - GUTTER + 2.0 * MARGIN;
    (width, lines.div_ceil(columns) as f64 * LINE + 60.0 + MARGIN)
}

/// Returns the width of a column.
fn column(widths: &[usize; 3]) -> f64 {
    widths.iter().map(|width| *width as f64 * CHARACTER + 8.0).sum::<f64>()
}

/// Lines, the widths of their cells, and the number of columns they flow into.
struct Layout {
    lines: Vec<Line>,
    widths: [usize; 3],
    columns: usize,
}

/// Returns the layout with the largest print: the one whose longer side, relative to the sheet's, is shortest.
fn largest(sheet: &Sheet) -> Layout {
    let rows = lines(sheet);
    let limits = WIDTHS.iter().flat_map(|rest| BITS.iter().map(move |bits| (*bits, *rest)));
    let layouts = limits.flat_map(|(bits, rest)| {
        let lines = flowed(&rows, bits, rest);
        let widths = widths(&lines);
        (1..=8).map(move |columns| Layout { lines: unbroken(lines.clone(), columns), widths, columns })
    });
    let side = |layout: &Layout| {
        let (width, height) = extent(layout.lines.len(), column(&layout.widths), layout.columns);
        width.max(height * RATIO)
    };
    let best = layouts.min_by(|one, other| side(one).total_cmp(&side(other)));
    best.unwrap_or(Layout { lines: Vec::new(), widths: [0; 3], columns: 1 })
}

/// Moves to the next column headings that would be the last line of a column, and rows that would continue there.
fn unbroken(mut lines: Vec<Line>, columns: usize) -> Vec<Line> {
    let goes_on = |line: Option<&Line>| matches!(line, Some(Line::More(_)));
    // A move can only lengthen columns, so a few rounds are enough; one left over looks bad, but no more.
    for _ in 0..2 * columns {
        let height = lines.len().div_ceil(columns).max(1);
        let is_last = |at: &usize| at % height == height - 1;
        let is_heading = |at: &usize| matches!(lines[*at], Line::Heading(_));
        let is_bad = |at: &usize| is_last(at) && (is_heading(at) || goes_on(lines.get(at + 1)));
        let Some(end) = (0..lines.len()).find(is_bad) else { break };
        let start = (0..=end).rev().find(|at| !goes_on(lines.get(*at))).unwrap_or(end);
        // A row takes along the heading directly above it.
        let start = if start > 0 && !is_heading(&start) && is_heading(&(start - 1)) { start - 1 } else { start };
        if end + 1 - start >= height {
            break;
        }
        lines.splice(start..start, std::iter::repeat_n(Line::Blank, end + 1 - start));
    }
    lines
}

/// Wraps bits and last cells that are longer than this.
fn flowed(rows: &[Line], bits: usize, rest: usize) -> Vec<Line> {
    let flow = |line: &Line| match line {
        Line::Row(cells) => wrapped(cells, bits, rest),
        other => vec![other.clone()],
    };
    rows.iter().flat_map(flow).collect()
}

fn widths(lines: &[Line]) -> [usize; 3] {
    let mut widths = [0; 3];
    for line in lines {
        if let Line::Row(cells) | Line::More(cells) = line {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count() + 1);
            }
        }
    }
    widths
}

fn draw(line: &Line, x: f64, y: f64, widths: &[usize; 3], column: f64) -> String {
    match line {
        Line::Blank => String::new(),
        Line::Heading(text) => format!(
            "<text class=\"h\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text><path d=\"M{x:.1} {:.1}h{column:.1}\"/>",
            escape(text),
            y + 3.0
        ),
        Line::Row(cells) | Line::More(cells) => {
            let mut text = String::new();
            let mut left = x;
            for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if !cell.is_empty() {
                    let _ = write!(text, "<text class=\"c{at}\" x=\"{left:.1}\" y=\"{y:.1}\">{}</text>", escape(cell));
                }
                left += *width as f64 * CHARACTER + 4.0;
            }
            text
        }
    }
}

fn lines(sheet: &Sheet) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut section = |title: &str, rows: Vec<[String; 3]>| {
        if rows.is_empty() {
            return;
        }
        if !lines.is_empty() {
            lines.push(Line::Blank);
        }
        if !title.is_empty() {
            lines.push(Line::Heading(title.to_owned()));
        }
        lines.extend(rows.into_iter().map(Line::Row));
    };
    section("Registers", registers(sheet));
    let maps = grouped::maps(sheet);
    let maps = maps.iter().map(|map| {
        let bits =
            sheet.memories.iter().find(|memory| memory.name == map.memory).map_or(16, |memory| memory.address_bits);
        let written = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
        let both = match map.read == map.write {
            true => map.read.clone(),
            false => {
                let code = if map.code { " and code" } else { "" };
                format!("{}{code} | {}", written(&map.read, "0"), written(&map.write, "nothing"))
            }
        };
        let last = if map.last == map.first { String::new() } else { format!("..{}", sheet.number(map.last, bits)) };
        [format!("{} {}{last}", map.memory, sheet.number(map.first, bits)), String::new(), both]
    });
    section("Memory map: read | write", maps.collect());
    section("Operands", operands(sheet));
    for operand in grouped::shared_modes(sheet) {
        let included =
            operand.includes.iter().map(|name| [String::new(), String::new(), format!("all modes of {name}")]);
        let own = operand.modes.iter().map(|mode| {
            let meaning = mode.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
            [mode.syntax.clone(), mode.encoding(), meaning]
        });
        section(&format!("Modes of {}", operand.names.join(", ")), included.chain(own).collect());
    }
    let always = always_written(sheet);
    for (number, group) in sheet.groups().enumerate() {
        let rows = group.iter().map(|row| {
            let flags: String = flag_effects(sheet, row)
                .into_iter()
                .filter(|(name, effect)| *effect != "–" && !always.contains(name))
                .map(|(name, _)| format!(" {name}"))
                .collect();
            let meaning = row.meaning.split_whitespace().collect::<Vec<_>>().join(" ");
            let flags = if flags.is_empty() { String::new() } else { format!("{FLAGS}{}]", flags.trim()) };
            [row.syntax.clone(), row.encoding(), meaning + &flags]
        });
        let title = match group[0].heading.lines().next() {
            Some(heading) => heading.replace('`', ""),
            None if number == 0 => "Instructions".to_owned(),
            None => String::new(),
        };
        section(&title, rows.collect());
    }
    section("Families", families(sheet));
    section(
        "Pseudo-instructions",
        sheet
            .pseudos
            .iter()
            .map(|pseudo| [pseudo.syntax.clone(), String::new(), pseudo.expansion.join("; ")])
            .collect(),
    );
    lines
}

/// Lists operands, with those of equal values on one line.
fn operands(sheet: &Sheet) -> Vec<[String; 3]> {
    let alike = |one: &FieldData, next: &FieldData| {
        (&one.values, &one.description, one.stored_bits) == (&next.values, &next.description, next.stored_bits)
    };
    let rows = sheet.fields.chunk_by(alike).map(|fields| {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let values: Vec<&str> = fields[0].values.iter().map(|value| value.name.as_str()).collect();
        let what = if values.is_empty() { fields[0].description.replace('`', "") } else { counted(&values) };
        [names.join(" "), bits(fields[0].stored_bits), what]
    });
    rows.collect()
}

/// Joins names; a run that counts is shown by its first and last name.
fn counted(names: &[&str]) -> String {
    let number = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((stem.to_owned(), name[stem.len()..].parse::<u32>().ok()?))
    };
    let follows = |one: &&str, next: &&str| match (number(one), number(next)) {
        (Some((stem, at)), Some((next, after))) => stem == next && at + 1 == after,
        _ => false,
    };
    let runs = names.chunk_by(follows).map(|run| match run {
        [first, _, .., last] => format!("{first} to {last}"),
        few => few.join(" "),
    });
    runs.collect::<Vec<_>>().join(" ")
}

/// Returns the flags that every instruction writes: the effect of what happens before or after each of them.
fn always_written(sheet: &Sheet) -> Vec<String> {
    let mut common: Option<Vec<String>> = None;
    for row in &sheet.rows {
        let written: Vec<String> =
            flag_effects(sheet, row).into_iter().filter(|(_, effect)| *effect != "–").map(|(name, _)| name).collect();
        common = Some(match common {
            None => written,
            Some(known) => known.into_iter().filter(|name| written.contains(name)).collect(),
        });
    }
    common.unwrap_or_default()
}

/// Lists the members of families, each family once, however many rows it is in.
fn families(sheet: &Sheet) -> Vec<[String; 3]> {
    let mut found: Vec<[String; 3]> = Vec::new();
    for row in sheet.rows.iter().filter(|row| row.instructions.len() > 1) {
        let Some((name, _)) = row.syntax.split_once('{').and_then(|(_, rest)| rest.split_once('}')) else { continue };
        let mut names: Vec<&str> = Vec::new();
        for member in row.instructions.iter().filter_map(|one| one.members.first()) {
            let member = member.split(" = ").next().unwrap_or_default();
            if !names.contains(&member) && !sheet.prefixes.iter().any(|prefix| prefix.name == member) {
                names.push(member);
            }
        }
        let line = [format!("{{{name}}}"), String::new(), names.join(" ")];
        if names.len() > 1 && !found.contains(&line) {
            found.push(line);
        }
    }
    found
}

/// Wraps the bits and the last cell of a row if they are long: bits between words; the last cell after a statement or
/// before its flags, and between words only in a statement longer than a line.
fn wrapped([syntax, bits, rest]: &[String; 3], bits_width: usize, width: usize) -> Vec<Line> {
    let mut pictures = Flow::new(bits_width);
    bits.split_whitespace().for_each(|word| pictures.add(" ", word));
    let mut meanings = Flow::new(width);
    let (meaning, flags) =
        rest.split_once(FLAGS).map_or((rest.as_str(), None), |(before, after)| (before, Some(after)));
    for statement in meaning.split_inclusive("; ").map(str::trim_end) {
        match statement.chars().count() > width {
            true => statement.split(' ').for_each(|word| meanings.add(" ", word)),
            false => meanings.add(" ", statement),
        }
    }
    if let Some(flags) = flags {
        meanings.add("   ", &format!("[{flags}"));
    }
    let count = pictures.lines.len().max(meanings.lines.len());
    let line = |lines: &[String], at: usize| lines.get(at).cloned().unwrap_or_default();
    (0..count)
        .map(|at| match (at, line(&pictures.lines, at), line(&meanings.lines, at)) {
            (0, bits, rest) => Line::Row([syntax.clone(), bits, rest]),
            (_, bits, rest) => Line::More([String::new(), bits, rest]),
        })
        .collect()
}

/// Consecutive pieces of text, on lines of some width.
struct Flow {
    width: usize,
    lines: Vec<String>,
}

impl Flow {
    fn new(width: usize) -> Flow {
        Flow { width, lines: vec![String::new()] }
    }

    /// Adds a piece, after a gap unless it is the first on its line.
    fn add(&mut self, gap: &str, piece: &str) {
        let length = |text: &str| text.chars().count();
        match self.lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(piece),
            Some(last) if length(last) + length(gap) + length(piece) <= self.width => last.extend([gap, piece]),
            _ => self.lines.push(piece.to_owned()),
        }
    }
}

/// Lists registers, those of one width on one line.
fn registers(sheet: &Sheet) -> Vec<[String; 3]> {
    let mut rows = vec![[
        sheet.pc.name.clone(),
        bits(sheet.pc.bits),
        format!("begins at {}", sheet.number(sheet.pc.reset, sheet.pc.bits)),
    ]];
    let kind = |one: &RegisterData| (one.bits, one.constant, one.mode);
    let chunks = sheet.registers.chunk_by(|one, next| kind(one) == kind(next));
    rows.extend(chunks.map(|chunk| {
        let names: Vec<&str> = chunk.iter().map(|register| register.name.as_str()).collect();
        let others: Vec<&str> =
            chunk.iter().filter_map(|register| register.spellings.first()).map(String::as_str).collect();
        let what = match () {
            () if chunk[0].constant => "constant",
            () if chunk[0].mode => {
                if chunk.len() > 1 {
                    "modes"
                } else {
                    "mode"
                }
            }
            () if chunk[0].flag => "flags",
            () => "",
        };
        let names = if names.len() > 1 && names.len() < 4 { names.join(" ") } else { counted(&names) };
        let also = if others.is_empty() { String::new() } else { format!("also {}", counted(&others)) };
        // Many names would widen the syntax column.
        match names.chars().count() {
            0..=20 => [names, bits(chunk[0].bits), [what, &also].join(" ").trim().to_owned()],
            _ => [String::new(), bits(chunk[0].bits), [what, &names, &also].join(" ").trim().to_owned()],
        }
    }));
    rows.extend(sheet.views.iter().map(|view| [view.name.clone(), bits(view.bits), view.value.clone()]));
    rows
}

fn bits(count: u32) -> String {
    if count == 1 { "1 bit".to_owned() } else { format!("{count} bits") }
}
