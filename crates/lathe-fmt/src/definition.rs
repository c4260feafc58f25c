//! Definitions: tables in columns, adjacent declarations aligned, blocks indented.

use crate::columns::{count, pad, width};
use crate::rows::{Row, Table, outside, split_comment};
use crate::spacing::{Place, tidy};

/// The column of comments after code, if the code leaves room.
const COMMENTS: usize = 44;

/// Formats a definition. A formatted definition comes back unchanged, and so does one with unbalanced brackets: there
/// is no telling where its lines belong.
pub fn definition(text: &str) -> String {
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let formatted = crate::settle(text, once);
    if ending == "\n" { formatted } else { formatted.replace('\n', ending) }
}

fn once(text: &str) -> String {
    let Some(mut lines) = read(text) else { return text.to_owned() };
    align(&mut lines);
    render(&lines)
}

/// A line of the file.
struct Line {
    depth: usize,
    body: Body,
    comment: String,
    /// The table that this row belongs to: the number of its opening line.
    table: Option<(usize, Table)>,
}

enum Body {
    Blank,
    /// Only a comment.
    Comment,
    /// A comment that names a table's columns.
    Header(Vec<String>),
    Row(Vec<String>),
    /// A declaration in columns: all but the last are padded.
    Aligned(Shape, Vec<String>),
    Code(String),
}

/// The shape of an aligned line; adjacent lines of one shape share their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Memories,
    Registers,
    Views,
    Fields,
    Devices,
    Functions,
    Branches,
}

/// What is open at the beginning of a line.
enum Open {
    Table(usize, Table),
    Block,
    List,
}

#[derive(Default)]
struct Reader {
    lines: Vec<Line>,
    open: Vec<Open>,
    /// The number of open parentheses and brackets.
    nested: usize,
    /// Whether the previous line is unfinished.
    unfinished: bool,
    /// Whether a closing bracket had no opening one.
    unmatched: bool,
}

/// Reads the lines of a definition; `None` if brackets do not match.
fn read(text: &str) -> Option<Vec<Line>> {
    let mut reader = Reader::default();
    for raw in text.lines() {
        reader.line(raw.trim());
    }
    (reader.open.is_empty() && reader.nested == 0 && !reader.unmatched).then_some(reader.lines)
}

impl Reader {
    fn line(&mut self, line: &str) {
        let table = match self.open.last() {
            Some(Open::Table(number, table)) if self.nested == 0 => Some((*number, *table)),
            _ => None,
        };
        let depth = self.open.len();
        if line.is_empty() {
            return self.push(depth, Body::Blank, "", table);
        }
        if line.starts_with('#') {
            let header = table.and_then(|(_, table)| header(line, table));
            let body = header.map_or(Body::Comment, Body::Header);
            return self.push(depth, body, line, table);
        }
        let row = table.filter(|_| !self.unfinished && !line.starts_with(['}', '|']));
        if let Some(Row { cells, code, comment }) = row.and_then(|(_, table)| table.row(line)) {
            self.push(depth, Body::Row(cells), comment.trim_end(), table);
            return self.scan(code, Open::Block);
        }
        let (code, comment) = split_comment(line);
        let closing = code.chars().take_while(|c| "})]".contains(*c)).count();
        let continues = self.unfinished && !matches!(self.open.last(), Some(Open::List)) || self.nested > 0;
        let depth = (depth + usize::from(continues)).saturating_sub(closing);
        let word = code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
        let top = self.open.is_empty() && !continues;
        // The author has laid out half a row, and a list over several lines.
        let verbatim = row.is_some() || matches!(self.open.last(), Some(Open::List));
        let body = if verbatim { Body::Code(code.to_owned()) } else { code_line(code, word, top) };
        self.push(depth, body, comment, None);
        let opens = match Table::opened_by(code).filter(|_| top) {
            Some(table) => Open::Table(self.lines.len(), table),
            None if top && !is_code(word) => Open::List,
            None => Open::Block,
        };
        self.scan(code, opens);
    }

    fn push(&mut self, depth: usize, body: Body, comment: &str, table: Option<(usize, Table)>) {
        self.lines.push(Line { depth, body, comment: comment.to_owned(), table });
    }

    /// Follows braces and brackets. The first brace that stays open begins a `first`.
    fn scan(&mut self, code: &str, first: Open) {
        let before = self.open.len();
        let mut quoted = false;
        for c in code.chars() {
            match c {
                '"' => quoted = !quoted,
                _ if quoted => {}
                '{' => self.open.push(Open::Block),
                '}' => self.unmatched |= self.open.pop().is_none(),
                '(' | '[' => self.nested += 1,
                ')' | ']' => match self.nested.checked_sub(1) {
                    Some(nested) => self.nested = nested,
                    None => self.unmatched = true,
                },
                _ => {}
            }
        }
        if let Some(opened) = self.open.get_mut(before) {
            *opened = first;
        }
        if !code.trim().is_empty() {
            let end = code.trim_end();
            let operator = end.ends_with(['+', '*', '/', '%', '&', '|', '^', '?', '<', '=', ',']);
            self.unfinished = operator || end.ends_with('-') && !end.ends_with("->");
        }
    }
}

/// Returns the names of columns, if a comment has one for each column.
fn header(line: &str, table: Table) -> Option<Vec<String>> {
    let names = line.strip_prefix('#')?.trim();
    let cells: Vec<&str> = names.split("  ").map(str::trim).filter(|name| !name.is_empty()).collect();
    let mut cells: Vec<String> = cells.into_iter().map(str::to_owned).collect();
    if cells.len() != table.columns() || cells.len() < 3 || line.starts_with("##") {
        return None;
    }
    cells[0].insert_str(0, "# ");
    Some(cells)
}

fn code_line(code: &str, word: &str, top: bool) -> Body {
    let aligned = if top { declaration(code, word) } else { branch(code, word) };
    aligned.unwrap_or_else(|| {
        let place = if top && !is_code(word) { Place::Declaration } else { Place::Meaning };
        let several = top && !is_code(word) && code.matches(&format!(" {word} ")).count() > 0;
        Body::Code(if several { code.to_owned() } else { tidy(code, place) })
    })
}

/// Whether the block that a word begins holds statements.
fn is_code(word: &str) -> bool {
    matches!(word, "fn" | "on" | "before" | "after")
}

fn declaration(code: &str, word: &str) -> Option<Body> {
    let shape = match word {
        "memory" | "pc" => Shape::Memories,
        "register" | "constant" | "mode" => Shape::Registers,
        "field" => Shape::Fields,
        "device" => Shape::Devices,
        "view" => Shape::Views,
        "fn" => return one_line_block(code, Shape::Functions),
        _ => return None,
    };
    let mark = if shape == Shape::Views { "=" } else { ":" };
    let at = outside(code, mark)?;
    let (names, rest) = (code.get(word.len()..at)?, &code[at + 1..]);
    // Several declarations on one line are a table of the author's own.
    if names.is_empty() || rest.contains(&format!(" {word} ")) {
        return None;
    }
    let names = tidy(names, Place::Declaration);
    let rest = format!("{mark} {}", tidy(rest, Place::Declaration));
    Some(Body::Aligned(shape, vec![word.to_owned(), names, rest]))
}

fn branch(code: &str, word: &str) -> Option<Body> {
    if matches!(word, "if" | "else") { one_line_block(code, Shape::Branches) } else { None }
}

/// Splits `fn f(x: u8) { … }` or `else if c { … }`, if all of it is on its line.
fn one_line_block(code: &str, shape: Shape) -> Option<Body> {
    let whole = tidy(code, Place::Meaning);
    let at = whole.find('{')?;
    let (head, block) = (whole[..at].trim_end().to_owned(), whole[at..].to_owned());
    let mut depth = 0i32;
    let closes = block.char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        (depth == 0).then_some(at + 1)
    });
    (closes == Some(block.len())).then_some(Body::Aligned(shape, vec![head, block]))
}

/// Aligns the columns of every group of declarations and every table.
fn align(lines: &mut [Line]) {
    let mut at = 0;
    while at < lines.len() {
        let Body::Aligned(shape, _) = lines[at].body else {
            at += 1;
            continue;
        };
        let depth = lines[at].depth;
        let same = |line: &&Line| line.depth == depth && matches!(line.body, Body::Aligned(other, _) if other == shape);
        let length = lines[at..].iter().take_while(same).count();
        align_group(&mut lines[at..at + length]);
        at += length;
    }
    let mut tables: Vec<usize> = lines.iter().filter_map(|line| line.table).map(|(number, _)| number).collect();
    tables.dedup();
    tables.into_iter().for_each(|number| align_table(lines, number));
}

fn align_table(lines: &mut [Line], number: usize) {
    let is_member = |line: &Line| line.table.is_some_and(|(other, _)| other == number);
    let Some((_, table)) = lines.iter().find(|line| is_member(line)).and_then(|line| line.table) else { return };
    let cell = |line: &Line, column: usize| match &line.body {
        Body::Row(cells) => Some(count(&cells[column])),
        // The name of a column needs only two blanks after it; between the columns themselves are three.
        Body::Header(cells) => Some(count(&cells[column]).saturating_sub(1)),
        _ => None,
    };
    let members = || lines.iter().filter(|line| is_member(line));
    let columns = 0..table.columns() - 1;
    let widths: Vec<usize> = columns.map(|column| width(members().filter_map(|line| cell(line, column)))).collect();
    for line in lines.iter_mut().filter(|line| is_member(line)) {
        match &line.body {
            Body::Row(cells) => line.body = Body::Code(row(cells, &widths, table.mark())),
            Body::Header(cells) => line.comment = names(cells, &widths, table.mark()),
            _ => {}
        }
    }
}

fn row(cells: &[String], widths: &[usize], mark: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (cell, width) in cells.iter().zip(widths) {
        text.push_str(cell);
        column += width;
        pad(&mut text, column);
        text.push(' ');
        text.push_str(mark);
        text.push(' ');
        column += mark.len() + 2;
    }
    if let Some(last) = cells.last() {
        text.push_str(last);
    }
    text.trim_end().to_owned()
}

fn names(cells: &[String], widths: &[usize], mark: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for (at, cell) in cells.iter().enumerate() {
        pad(&mut text, column);
        if at > 0 && !text.ends_with("  ") {
            text.push_str("  ");
        }
        text.push_str(cell);
        column += widths.get(at).map_or(0, |width| width + mark.len() + 2);
    }
    text
}

fn align_group(lines: &mut [Line]) {
    let cells = |line: &Line| match &line.body {
        Body::Aligned(_, cells) => cells.clone(),
        _ => Vec::new(),
    };
    let rows: Vec<Vec<String>> = lines.iter().map(cells).collect();
    let columns = rows.first().map_or(0, Vec::len).saturating_sub(1);
    let widths: Vec<usize> = (0..columns).map(|column| width(rows.iter().map(|row| count(&row[column])))).collect();
    for (line, row) in lines.iter_mut().zip(&rows) {
        let mut text = String::new();
        let mut column = 0;
        for (at, cell) in row.iter().enumerate() {
            text.push_str(cell);
            if let Some(width) = widths.get(at) {
                column += width + 1;
                pad(&mut text, column);
                if !text.ends_with(' ') {
                    text.push(' ');
                }
            }
        }
        line.body = Body::Code(text);
    }
}

fn render(lines: &[Line]) -> String {
    let codes: Vec<String> = lines.iter().map(code).collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let trailing = |at: usize| !codes[at].is_empty() && !lines[at].comment.is_empty();
        let length = (at..lines.len()).take_while(|at| trailing(*at)).count();
        if length > 0 {
            let widest = width(codes[at..at + length].iter().map(|code| count(code)));
            let column = (widest + 2).max(COMMENTS);
            for (line, code) in lines[at..at + length].iter().zip(&codes[at..at + length]) {
                let mut text = code.clone();
                pad(&mut text, column);
                if !text.ends_with("  ") {
                    text.push_str("  ");
                }
                out.push(text + &line.comment);
            }
            at += length;
            continue;
        }
        let text = if codes[at].is_empty() && !lines[at].comment.is_empty() {
            format!("{}{}", "  ".repeat(lines[at].depth), lines[at].comment)
        } else {
            codes[at].clone()
        };
        let after_blank = out.last().is_none_or(|last| last.is_empty());
        if !text.is_empty() || !after_blank {
            out.push(text);
        }
        at += 1;
    }
    while out.last().is_some_and(|last| last.is_empty()) {
        out.pop();
    }
    out.iter().map(|line| format!("{line}\n")).collect()
}

fn code(line: &Line) -> String {
    match &line.body {
        Body::Code(code) if !code.is_empty() => "  ".repeat(line.depth) + code,
        _ => String::new(),
    }
}
