//! The assembly reference, executed: every example of `docs/assembly.md` makes the cells that the page shows, and every
//! diagnostic, format and limit is in its tables.
//!
//! The mark of a block says what it is:
//!
//! - `asm`: a program without errors, for hex8 if it names no machine. `; -> 11 05` at the end of a line gives all
//!   cells that the line makes, including macros and repetitions.
//! - `asm,error A303`: a program with errors, all of this code; `asm,warning W701` likewise.
//! - `asm file=NAME`: a file that later blocks may include; `isa file=NAME.isa`: a machine that they may name.
//! - `asm disassembly`: the disassembly of the block before it, without symbols.
//! - `text format=NAME`: the last program, written in that format.
//!
//! `LATHE_UPDATE=1` writes blocks of the last two kinds into the page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lathe_asm::formats::{self, Format};
use lathe_asm::{Assembled, Image, Line, Method, Options, assemble, codes, disassemble};
use lathe_base::files::MemoryFiles;
use lathe_base::{Severity, Source, Span, limits};
use lathe_isa::Isa;
use lathe_tests::pages::{check_limits, check_links};

/// The machine for examples that name none.
const DEFAULT: &str = "hex8";

/// The name of every program; blocks do not have one.
const NAME: &str = "count.asm";

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/assembly.md")
}

fn page() -> String {
    std::fs::read_to_string(page_path()).expect("the page is there")
}

/// A block of the page: the number of its first line, its mark, its text.
struct Block<'p> {
    line: usize,
    mark: &'p str,
    text: String,
}

/// Prose and blocks in turn.
enum Part<'p> {
    Prose(&'p str),
    Block(Block<'p>),
}

fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(mark)) => open = Some(Block { line: at + 2, mark, text: String::new() }),
            (None, None) => parts.push(Part::Prose(line)),
            (Some(_), Some(_)) => parts.extend(open.take().map(Part::Block)),
            (Some(block), None) => block.text.extend([line, "\n"]),
        }
    }
    assert!(open.is_none(), "the last block is not closed");
    parts
}

/// What has been read from the page so far.
struct Reader {
    files: MemoryFiles,
    last: Option<(Isa, Image, Vec<Source>)>,
    problems: Vec<String>,
    /// How many lines with cells, and how many mistakes, have been checked.
    lines: usize,
    mistakes: usize,
}

impl Reader {
    fn new() -> Reader {
        let four = ("four.bin".to_owned(), vec![1, 2, 3, 4]);
        Reader { files: MemoryFiles(BTreeMap::from([four])), last: None, problems: Vec::new(), lines: 0, mistakes: 0 }
    }

    /// Checks a block; returns the text that it should have.
    fn block(&mut self, block: &Block) -> String {
        let (kind, rest) = block.mark.split_once([',', ' ']).unwrap_or((block.mark, ""));
        match (kind, rest.split_once([' ', '=']).unwrap_or((rest, ""))) {
            ("asm", ("", _)) => self.program(block),
            ("asm", ("error" | "warning", code)) => self.mistake(block, code),
            ("asm" | "isa", ("file", name)) => {
                self.files.0.insert(name.to_owned(), block.text.clone().into_bytes());
            }
            ("asm", ("disassembly", _)) => return self.disassembly(),
            ("text", ("format", name)) => return self.format(name),
            ("", _) => {}
            _ => self.problems.push(format!("docs/assembly.md:{}: nothing checks `{}`", block.line, block.mark)),
        }
        block.text.clone()
    }

    /// Returns the machine of a program: one that ships with Lathe, or one of the page.
    fn machine(&self, text: &str) -> Isa {
        let named = text.lines().find_map(|line| line.strip_prefix(".machine "));
        let name = named.map_or(DEFAULT, |rest| rest.split_whitespace().next().unwrap_or(DEFAULT));
        let own = self.files.0.get(&format!("{name}.isa")).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let shipped = || lathe_machines::find(name).expect("it comes with Lathe").definition.to_owned();
        lathe_isa::load(&own.unwrap_or_else(shipped)).isa.expect("it is right")
    }

    fn assembled(&self, isa: &Isa, text: &str) -> Assembled {
        assemble(isa, &self.files, Source::new(NAME, text), &Options::default())
    }

    fn program(&mut self, block: &Block) {
        let isa = self.machine(&block.text);
        let Assembled { image, diagnostics, sources, .. } = self.assembled(&isa, &block.text);
        let Some(image) = image else {
            let found = diagnostics.into_sorted();
            let found: Vec<String> =
                found.iter().map(|found| format!("{} {}", found.code.name, found.message)).collect();
            self.problems.push(format!("docs/assembly.md:{}: {}", block.line, found.join("; ")));
            return;
        };
        for (number, line) in block.text.lines().enumerate() {
            let Some((_, wanted)) = line.rsplit_once("; ->").or_else(|| line.rsplit_once("# ->")) else { continue };
            let found = cells_of_line(&image, &sources, number + 1);
            self.lines += 1;
            if found != wanted.trim() {
                let place = block.line + number;
                self.problems.push(format!("docs/assembly.md:{place}: {line}\n  makes {found}"));
            }
        }
        self.last = Some((isa, image, sources));
    }

    fn mistake(&mut self, block: &Block, code: &str) {
        let found = self.assembled(&self.machine(&block.text), &block.text).diagnostics.into_sorted();
        let severity = if code.starts_with('W') { Severity::Warning } else { Severity::Error };
        let found: Vec<String> = found
            .iter()
            .filter(|found| found.severity() == severity || found.severity() == Severity::Error)
            .map(|found| format!("{} {}", found.code.name, found.message))
            .collect();
        self.mistakes += 1;
        if found.is_empty() || !found.iter().all(|found| found.starts_with(code)) {
            self.problems.push(format!("docs/assembly.md:{} {}: {found:?}", block.line, block.mark));
        }
    }

    /// Returns the disassembly of the last program, which assembles to the same cells.
    fn disassembly(&mut self) -> String {
        let (isa, image, _) = self.last.as_ref().expect("a program stands before it");
        let bare = Image { symbols: Vec::new(), ..image.clone() };
        let text = disassemble(isa, &bare, Method::Follow);
        let again = self.assembled(isa, &text).image.expect("a disassembly can be assembled");
        assert_eq!(again.flat(isa.pc.memory, 0), image.flat(isa.pc.memory, 0));
        text
    }

    fn format(&self, name: &str) -> String {
        let (isa, image, sources) = self.last.as_ref().expect("a program stands before it");
        let format = Format::named(name).expect("there is such a format");
        let bytes = formats::write(format, image, isa, sources, &formats::FormatOptions::default());
        String::from_utf8(bytes.expect("it can be written")).expect("it is a text")
    }
}

/// Returns the cells that a line of the main source made, itself or through macros, in the page's notation.
fn cells_of_line(image: &Image, sources: &[Source], number: usize) -> String {
    let here = |line: &&Line| {
        let span = outermost(image, line);
        span.file.0 == 0 && sources[0].line_column(span.start).0 == number
    };
    let lines: Vec<&Line> = image.lines.iter().filter(here).collect();
    let cells = lines.iter().flat_map(|line| {
        let all = image.flat(line.memory, 0).expect("it has cells");
        let start = (line.address - all.start) as usize;
        all.cells[start..start + line.cells as usize].to_vec()
    });
    cells.map(|cell| format!("{cell:02X}")).collect::<Vec<_>>().join(" ")
}

/// Returns the place of a line, or of the use of a macro that led to it.
fn outermost(image: &Image, line: &Line) -> Span {
    image.lines.calls_around(line).last().map_or(line.span, |(_, call)| call.span)
}

#[test]
fn every_example_does_what_the_page_says() {
    let page = page();
    let mut reader = Reader::new();
    let mut real = String::new();
    for part in parts(&page) {
        match part {
            Part::Prose(line) => real.extend([line, "\n"]),
            Part::Block(block) => real.extend(["```", block.mark, "\n", &reader.block(&block), "```\n"]),
        }
    }
    let Reader { problems, lines, mistakes, .. } = reader;
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    if std::env::var_os("LATHE_UPDATE").is_some() {
        std::fs::write(page_path(), real).expect("the page can be written");
        return;
    }
    assert_eq!(page, real, "LATHE_UPDATE=1 writes what is real into the page");
    assert!(lines >= 80 && mistakes >= 20, "{lines} lines and {mistakes} mistakes: the page has lost some");
    println!("{lines} lines with their cells, {mistakes} mistakes");
}

#[test]
fn every_diagnostic_stands_in_the_table() {
    let page = page();
    for code in codes::ALL {
        let row = format!("| `{}` | {} | ", code.name, code.title);
        assert!(page.lines().any(|line| line.starts_with(&row)), "the page has no row {row}");
    }
}

/// Checks each format's names, file names, whether it can be read, and its description.
#[test]
fn every_format_stands_in_the_table() {
    let page = page();
    for format in Format::all() {
        let start = format!("| `{}` | `.{}`", format.name(), format.extension());
        let row = page.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("the page has no row {start}"));
        let columns: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [_, names, reading, about] = columns[..] else { panic!("{row}") };
        for name in names.split('`').filter(|name| name.starts_with('.')) {
            assert_eq!(Format::of_file_name(&format!("rom{name}")), Some(format), "{name}");
        }
        assert_eq!(reading, if format.can_be_read() { "yes" } else { "no" }, "{row}");
        assert_eq!(about, format.about());
    }
}

/// Every directive in the table exists: a line that is only its name is not an unknown one.
#[test]
fn every_directive_of_the_table_exists() {
    let page = page();
    let isa = Reader::new().machine("");
    let rows = page.lines().skip_while(|line| *line != "| directive | what it does |").skip(2);
    let mut count = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let column = row.split('|').nth(1).unwrap_or("");
        let names = column.split('`').filter(|part| part.starts_with('.'));
        for name in names.filter_map(|part| part.split_whitespace().next()) {
            let found = assemble(&isa, &MemoryFiles::default(), Source::new(NAME, name), &Options::default());
            let unknown = found.diagnostics.into_sorted().iter().any(|found| found.code == codes::UNKNOWN_DIRECTIVE);
            assert!(!unknown, "there is no directive {name}");
            count += 1;
        }
    }
    assert!(count >= 32, "{count} directives: the table has lost some");
}

#[test]
fn every_limit_stands_in_the_table() {
    let limits = [
        (limits::SOURCE_BYTES as u64, "bytes of a source"),
        (limits::IMAGE_BYTES, "bytes of an image that is read"),
        (limits::SOURCE_FILES as u64, "files of a program"),
        (limits::INCLUDE_DEPTH as u64, "files including one another"),
        (limits::MACRO_DEPTH as u64, "macros and repetitions inside one another"),
        (limits::EXPANSIONS as u64, "uses of macros, turns of repetitions and includes"),
        (limits::EXPANDED_BYTES as u64, "bytes of text that macros, repetitions and includes read"),
        (limits::LINE_TOKENS as u64, "words and marks of a line, macros put in place"),
        (limits::EXPRESSION_NODES as u64, "numbers, names and operators of a program"),
        (limits::IMAGE_CELLS, "cells of a program"),
        (
            limits::LAYOUT_VISITS as u64,
            "lines looked at for the shortest encodings; beyond that, jumps take their longest",
        ),
        (limits::REPETITIONS as u64, "turns of one repetition"),
        (limits::NESTING as u64, "nesting of an expression"),
        (limits::PROGRAM_ITEMS as u64, "lines with an effect"),
        (limits::LAYOUT_PASSES as u64, "passes in a row in which addresses change and no encoding grows"),
        (limits::DIAGNOSTICS as u64, "diagnostics shown"),
    ];
    check_limits(&page(), &limits);
}

/// Links lead to headings, of this page or of another.
#[test]
fn links_lead_to_headings() {
    check_links(&page_path());
}
