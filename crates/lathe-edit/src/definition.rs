//! Questions about a definition. Everything here works on broken definitions too, as well as possible: it starts from
//! the tree, which the parser always produces.

use std::collections::HashMap;

use lathe_base::{Diagnostics, FileId, Span};
use lathe_isa::language::ast::{Definition, Item, ModeRow, NameRange, Operands, Remove};
use lathe_isa::language::lexer::{Cursor, Token};

use crate::{Class, Piece};

/// The words that begin a declaration, with a template for completion.
pub const ITEMS: [(&str, &str); 26] = [
    ("machine", "machine ${1:name} \"${2:one line about it}\""),
    ("memory", "memory ${1:ram} : u${2:16} -> u${3:8}"),
    ("pc", "pc pc : u${1:16} in ${2:ram}"),
    ("register", "register ${1:a, b} : u${2:8}"),
    ("constant", "constant ${1:zero} : u${2:8} = ${3:0}"),
    ("mode", "mode ${1:wide} : u${2:1}"),
    ("view", "view ${1:low} = ${2:a}[${3:7}:${4:0}]"),
    ("field", "field ${1:D, S} : register { ${2:a, b} }"),
    ("device", "device ${1:console} : stream"),
    ("map", "map ${1:ram} {\n  ${2:0xFF00} | ${3:console.read()} | ${4:console.write(value)}\n}"),
    ("data", "data ${1:ram} ${2:0x50} { ${3:0} }"),
    ("trap", "trap ${1:divide} = ${2:2}"),
    ("width", "width ${1:X} = ${2:32}"),
    ("fn", "fn ${1:push}(${2:v: u8}) { $3 }"),
    ("family", "family ${1:OP} : u${2:3} (${3:x: u8, y: u8}) -> u8 {\n  ${4:add} = ${5:x + y}\n}"),
    ("operand", "operand ${1:S, D} : u${2:6} {\n  ${3:(R)} | ${4:001 RRR} | ${5:ram[R]}\n}"),
    ("assembly", "assembly {\n  $1\n}"),
    ("instructions", "instructions {\n  # syntax   encoding    meaning\n  ${1:nop} | ${2:0000 0000} | $3\n}"),
    ("pseudo", "pseudo {\n  ${1:clr D} => ${2:sub D, D}\n}"),
    ("examples", "examples {\n  ${1:inc a} : ${2:a = 1} -> ${3:a = 2}\n}"),
    ("on", "on illegal { $1 }"),
    ("prefix", "prefix ${1:ix} ${2:0xDD} with ${3:hl = ix} { $4 }"),
    ("before", "before each { $1 }"),
    ("after", "after each when ${1:busy} { $2 }"),
    ("include", "include \"${1:shared.isa}\""),
    ("remove", "remove {\n  ${1:inc D}\n}"),
];

/// The other words with a meaning of their own.
pub const KEYWORDS: [&str; 50] = [
    "let", "if", "else", "for", "in", "skip", "halt", "fault", "cycles", "next", "signed", "unsigned", "zext", "sext",
    "rotl", "rotr", "code", "as", "with", "where", "when", "reset", "illegal", "step", "little", "big", "low", "align",
    "address", "from", "back", "within", "clearing", "enum", "words", "here", "every", "by", "stream", "bus",
    "display", "keypad", "timer", "random", "counter", "extends", "each", "only", "of", "at",
];

/// Something that is declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name; for a row, its syntax.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The place of its name.
    pub span: Span,
}

/// What can be declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Kind {
    Machine,
    Memory,
    Pc,
    Register,
    View,
    Field,
    Device,
    Trap,
    Width,
    Function,
    Family,
    Operand,
    Mode,
    Prefix,
    Row,
    Pseudo,
    Example,
}

impl Kind {
    /// Returns what it is called in a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Machine => "machine",
            Kind::Memory => "memory",
            Kind::Pc => "program counter",
            Kind::Register => "register",
            Kind::View => "view",
            Kind::Field => "field",
            Kind::Device => "device",
            Kind::Trap => "trap",
            Kind::Width => "width",
            Kind::Function => "function",
            Kind::Family => "family",
            Kind::Operand => "operand",
            Kind::Mode => "mode",
            Kind::Prefix => "prefix",
            Kind::Row => "instruction",
            Kind::Pseudo => "pseudo-instruction",
            Kind::Example => "example",
        }
    }

    /// Whether it has a name of its own that meanings can use.
    pub fn is_plain(self) -> bool {
        !matches!(self, Kind::Mode | Kind::Prefix | Kind::Row | Kind::Pseudo | Kind::Example | Kind::Machine)
    }

    fn class(self) -> Class {
        match self {
            Kind::Register | Kind::View | Kind::Pc => Class::Register,
            Kind::Field | Kind::Family | Kind::Operand => Class::Operand,
            Kind::Function => Class::Function,
            _ => Class::Name,
        }
    }
}

/// A definition that has been read.
pub struct Reading<'s> {
    text: &'s str,
    tree: Definition,
    /// All declarations, in order.
    pub declared: Vec<Declared>,
    /// The positions of plain names in that list.
    by_name: HashMap<String, usize>,
    /// Columns of raw text, in order: start, end and kind.
    columns: Vec<(usize, usize, Column)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Syntax,
    Picture,
}

/// A word of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'s> {
    /// Its first byte.
    pub start: usize,
    /// The word.
    pub text: &'s str,
    /// Whether it can be the name of a declaration.
    pub is_name: bool,
    /// Whether it is a letter of a picture, a bit of the field.
    pub in_picture: bool,
}

impl<'s> Reading<'s> {
    /// Reads a text, sound or not.
    pub fn new(text: &'s str) -> Reading<'s> {
        let tree = lathe_isa::language::parse(FileId(0), text, &mut Diagnostics::default());
        let mut reading = Reading { text, tree, declared: Vec::new(), by_name: HashMap::new(), columns: Vec::new() };
        reading.declare();
        // A prefix may share the name of a register.
        let (plain, others): (Vec<_>, Vec<_>) =
            reading.declared.iter().enumerate().partition(|(_, one)| one.kind.is_plain());
        let prefixes = others.into_iter().filter(|(_, one)| one.kind == Kind::Prefix);
        for (number, one) in plain.into_iter().chain(prefixes) {
            reading.by_name.entry(one.name.clone()).or_insert(number);
        }
        reading.columns.sort_unstable_by_key(|column| column.0);
        reading
    }

    fn declare(&mut self) {
        let mut all = Vec::new();
        let mut columns: Vec<(usize, usize, Column)> = Vec::new();
        let mut add = |name: &str, kind: Kind, span: Span| all.push(Declared { name: name.to_owned(), kind, span });
        let mut column = |span: Span, kind: Column| columns.push((span.start as usize, span.end as usize, kind));
        if let Some(machine) = &self.tree.machine {
            add(&machine.name.text, Kind::Machine, machine.name.span);
        }
        for item in &self.tree.items {
            match item {
                Item::Memory(memory) => add(&memory.name.text, Kind::Memory, memory.name.span),
                Item::Pc(pc) => add(&pc.name.text, Kind::Pc, pc.name.span),
                Item::Registers(registers) => {
                    for declared in &registers.names {
                        for name in names(&declared.range) {
                            add(&name, Kind::Register, declared.range.first.span);
                        }
                    }
                }
                Item::View(view) => add(&view.name.text, Kind::View, view.name.span),
                Item::Fields(fields) => {
                    fields.names.iter().for_each(|name| add(&name.text, Kind::Field, name.span));
                }
                Item::Operands(operands) => {
                    operands.names.iter().for_each(|name| add(&name.text, Kind::Operand, name.span));
                    for mode in &operands.modes {
                        if let ModeRow::Mode(mode) = mode {
                            add(&mode.syntax.text, Kind::Mode, mode.syntax.span);
                            column(mode.syntax.span, Column::Syntax);
                            column(mode.picture.span, Column::Picture);
                        }
                    }
                }
                Item::Prefix(prefix) => add(&prefix.name.text, Kind::Prefix, prefix.name.span),
                Item::Device(device) => add(&device.name.text, Kind::Device, device.name.span),
                Item::Traps(traps) => traps.names.iter().for_each(|(name, ..)| add(&name.text, Kind::Trap, name.span)),
                Item::Width(width) => add(&width.name.text, Kind::Width, width.name.span),
                Item::Function(function) => add(&function.name.text, Kind::Function, function.name.span),
                Item::Family(family) => add(&family.name.text, Kind::Family, family.name.span),
                Item::Instructions(table) => {
                    for row in &table.rows {
                        add(&row.syntax.text, Kind::Row, row.syntax.span);
                        column(row.syntax.span, Column::Syntax);
                        column(row.picture.span, Column::Picture);
                    }
                }
                Item::Pseudos(pseudos) => {
                    for pseudo in &pseudos.rows {
                        add(&pseudo.syntax.text, Kind::Pseudo, pseudo.syntax.span);
                        column(pseudo.syntax.span, Column::Syntax);
                        pseudo.expansion.iter().for_each(|part| column(part.span, Column::Syntax));
                    }
                }
                Item::Examples(examples) => {
                    for example in &examples.rows {
                        add(&example.source.text, Kind::Example, example.source.span);
                        column(example.source.span, Column::Syntax);
                    }
                }
                Item::Remove(removed) => {
                    for one in removed {
                        if let Remove::Row(row) = one {
                            column(row.span, Column::Syntax);
                        }
                    }
                }
                _ => {}
            }
        }
        self.declared = all;
        self.columns = columns;
    }

    /// Returns the declaration that a name refers to.
    pub fn named(&self, name: &str) -> Option<&Declared> {
        self.by_name.get(name).map(|number| &self.declared[*number])
    }

    /// Returns the row on the line of this place.
    pub fn row_at(&self, at: usize) -> Option<&Declared> {
        let at = at.min(self.text.len());
        let start = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = self.text[at..].find('\n').map_or(self.text.len(), |length| at + length);
        let is_here = |span: Span| (start..=end).contains(&(span.start as usize));
        let is_row = |one: &&Declared| matches!(one.kind, Kind::Row | Kind::Example | Kind::Pseudo);
        self.declared.iter().filter(is_row).find(|one| is_here(one.span))
    }

    /// Says what a row of a map is for, if there is one at a place.
    pub fn mapped_at(&self, at: usize) -> Option<String> {
        let maps = self.tree.items.iter().filter_map(|item| if let Item::Map(map) = item { Some(map) } else { None });
        let mut rows = maps.flat_map(|map| map.rows.iter().map(move |row| (map, row)));
        let (map, row) = rows.find(|(_, row)| (row.span.start..=row.span.end).contains(&(at as u32)))?;
        let last = row.last.as_ref().unwrap_or(&row.first).span.end;
        let addresses = self.text.get(row.first.span.start as usize..last as usize)?;
        let for_whom = match map.code {
            true => "for reads and writes, and for instructions, which are fetched from the cell that a read gives",
            false => "for reads and writes; instructions are fetched from the cells below it",
        };
        Some(format!("`{addresses}` of `{}` · {for_whom}", map.memory.text))
    }

    /// Returns all pieces of the text that have a class, in order, and all its words.
    pub fn pieces(&self) -> (Vec<Piece>, Vec<Word<'s>>) {
        let mut pieces = Vec::new();
        let mut words = Vec::new();
        let mut at = 0;
        for (start, end, column) in &self.columns {
            if *start < at {
                continue;
            }
            self.tokens(at, *start, &mut pieces, &mut words);
            self.raw(*start, *end, *column, &mut pieces, &mut words);
            at = *end;
        }
        self.tokens(at, self.text.len(), &mut pieces, &mut words);
        (pieces, words)
    }

    fn tokens(&self, from: usize, to: usize, pieces: &mut Vec<Piece>, words: &mut Vec<Word<'s>>) {
        let part = &self.text[..to];
        let mut cursor = Cursor::new(FileId(0), part);
        cursor.move_to(from);
        let mut last = from;
        loop {
            let (token, span) = cursor.next();
            let (start, end) = (span.start as usize, span.end as usize);
            comments(part, last, start, pieces);
            last = end;
            let class = match &token {
                Token::End => return,
                Token::Name(name) => {
                    words.push(Word { start, text: &self.text[start..end], is_name: true, in_picture: false });
                    self.class_of(name)
                }
                Token::Number(_) => Class::Number,
                Token::Text(_) => Class::Text,
                _ => continue,
            };
            pieces.push(Piece { start, end, class });
        }
    }

    fn class_of(&self, name: &str) -> Class {
        if let Some(declared) = self.named(name) {
            return declared.kind.class();
        }
        let digits = name
            .strip_prefix(['u', 's'])
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
        match () {
            () if digits => Class::Type,
            () if KEYWORDS.contains(&name) || ITEMS.iter().any(|(word, _)| *word == name) => Class::Keyword,
            () => Class::Name,
        }
    }

    fn raw(&self, start: usize, end: usize, column: Column, pieces: &mut Vec<Piece>, words: &mut Vec<Word<'s>>) {
        let text = &self.text[start..end];
        let mut at = 0;
        let mut depth = 0;
        while at < text.len() {
            let rest = &text[at..];
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            if length == 0 {
                depth += i32::from(rest.starts_with('{')) - i32::from(rest.starts_with('}'));
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            }
            let (from, word) = (start + at, &rest[..length]);
            let is_first = at == 0;
            at += length;
            if column == Column::Picture && depth == 0 {
                self.picture(from, word, pieces, words);
                continue;
            }
            let is_mnemonic = column == Column::Syntax && is_first && depth == 0;
            words.push(Word {
                start: from,
                text: &self.text[from..from + length],
                is_name: !is_mnemonic,
                in_picture: false,
            });
            let class = match () {
                () if is_mnemonic => Class::Mnemonic,
                () if word.starts_with(|c: char| c.is_ascii_digit()) => Class::Number,
                () => self.class_of(word),
            };
            pieces.push(Piece { start: from, end: from + length, class });
        }
    }

    /// Adds the letters of a picture: runs of one field, or a number.
    fn picture(&self, start: usize, word: &str, pieces: &mut Vec<Piece>, words: &mut Vec<Word<'s>>) {
        if word.starts_with("0x") || word.starts_with("0X") {
            pieces.push(Piece { start, end: start + word.len(), class: Class::Number });
            return;
        }
        let mut rest = word;
        let mut at = start;
        while let Some(first) = rest.chars().next() {
            let same = |c: char| if first.is_ascii_digit() { c.is_ascii_digit() } else { c == first };
            let length = rest.find(|c| !same(c)).unwrap_or(rest.len());
            let class = if first.is_ascii_digit() { Class::Number } else { Class::Operand };
            pieces.push(Piece { start: at, end: at + length, class });
            if !first.is_ascii_digit() && first != '_' {
                for (offset, c) in rest[..length].char_indices() {
                    let (from, end) = (at + offset, at + offset + c.len_utf8());
                    words.push(Word { start: from, text: &self.text[from..end], is_name: true, in_picture: true });
                }
            }
            at += length;
            rest = &rest[length..];
        }
    }

    /// Returns the word at a place.
    pub fn word_at(&self, at: usize) -> Option<Word<'s>> {
        let (_, words) = self.pieces();
        words.into_iter().find(|word| word.start <= at && at <= word.start + word.text.len())
    }

    /// Returns every occurrence of a declared name.
    pub fn references(&self, name: &str) -> Vec<Word<'s>> {
        let (_, words) = self.pieces();
        words.into_iter().filter(|word| word.is_name && word.text == name).collect()
    }

    /// Returns the first and last line of each block in braces.
    pub fn blocks(&self) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        let mut blocks = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            let code = line.split(" #").next().unwrap_or("");
            for c in code.chars() {
                match c {
                    '{' => open.push(number),
                    '}' => {
                        if let Some(start) = open.pop().filter(|start| *start < number) {
                            blocks.push((start, number));
                        }
                    }
                    _ => {}
                }
            }
        }
        blocks
    }

    /// Shows the line of a declaration, and its documentation.
    pub fn shown(&self, declared: &Declared) -> String {
        let start = self.start_of_line(declared.span.start as usize);
        let prose = match self.prose(start) {
            prose if prose.is_empty() => prose,
            prose => format!("{prose}\n\n"),
        };
        let modes = self.modes(&declared.name).filter(|_| declared.kind == Kind::Operand);
        let line = modes.unwrap_or_else(|| self.line(start).0.to_owned());
        format!("{prose}```isa\n{line}\n```\n{}", declared.kind.word())
    }

    /// Returns the documentation of the declaration or row whose first word is at a place.
    pub fn prose_at(&self, at: usize) -> Option<String> {
        let start = self.start_of_line(at);
        let first = self.line(start).0.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").len();
        let word = start + self.text[start..].len() - self.text[start..].trim_start_matches([' ', '\t']).len();
        let prose = (word..=word + first).contains(&at).then(|| self.prose(start))?;
        (!prose.is_empty()).then_some(prose)
    }

    fn start_of_line(&self, at: usize) -> usize {
        self.text[..at.min(self.text.len())].rfind('\n').map_or(0, |at| at + 1)
    }

    /// Splits a line from the documentation after it.
    fn line(&self, start: usize) -> (&'s str, Option<&'s str>) {
        let line = self.text[start..].lines().next().unwrap_or("").trim();
        line.split_once(" ## ").map_or((line, None), |(line, after)| (line.trim(), Some(after.trim())))
    }

    /// Returns the documentation above and after a line.
    fn prose(&self, start: usize) -> String {
        let above = self.text[..start].lines().rev().map_while(|line| line.trim().strip_prefix("##"));
        let mut prose: Vec<&str> = above.map(str::trim).collect();
        prose.reverse();
        prose.extend(self.line(start).1);
        prose.join(" ")
    }

    /// Shows the head of an operand, and its modes.
    fn modes(&self, name: &str) -> Option<String> {
        let is_it = |operands: &&Operands| operands.names.iter().any(|known| known.text == name);
        let mut operands = self.tree.items.iter().filter_map(|item| match item {
            Item::Operands(operands) => Some(operands),
            _ => None,
        });
        let operands = operands.find(is_it)?;
        let head = self.line(self.start_of_line(operands.names[0].span.start as usize)).0;
        let mode = |mode: &ModeRow| match mode {
            ModeRow::Mode(mode) => format!("  {} | {}", mode.syntax.text, mode.picture.text),
            ModeRow::All(name) => format!("  {}", name.text),
        };
        Some(
            [vec![head.to_owned()], operands.modes.iter().map(mode).collect(), vec!["}".to_owned()]]
                .concat()
                .join("\n"),
        )
    }
}

/// Adds the comments between two tokens.
fn comments(text: &str, from: usize, to: usize, pieces: &mut Vec<Piece>) {
    let mut at = from;
    while let Some(start) = text.get(at..to).and_then(|gap| gap.find('#')).map(|offset| at + offset) {
        let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
        pieces.push(Piece { start, end, class: Class::Comment });
        at = end;
        if at >= to {
            return;
        }
    }
}

/// Returns the names of a range: `r0..r15`. A range that does not count gives only its first name.
fn names(range: &NameRange) -> Vec<String> {
    let first = &range.first.text;
    let split = |name: &str| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (stem, number) = name.split_at(name.len() - digits);
        Some((stem.to_owned(), number.parse::<u32>().ok()?))
    };
    let ends = range.last.as_ref().and_then(|last| Some((split(first)?, split(&last.text)?)));
    match ends {
        Some(((stem, from), (_, to))) if from.abs_diff(to) < 1024 => {
            (from.min(to)..=from.max(to)).map(|number| format!("{stem}{number}")).collect()
        }
        _ => vec![first.clone()],
    }
}
