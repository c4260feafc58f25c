//! The language reference, executed: every example of `docs/language.md` is a definition that does what the page says,
//! and every diagnostic and limit is in its tables.
//!
//! A block marked `isa` loads without an error and its examples pass. One marked `isa,error E301` gives that code and
//! no other error. A block without a `machine` line is a fragment: [`PREAMBLE`] provides what it does not declare
//! itself. One marked `isa,file name.isa` is a file that later blocks can extend and include.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lathe_base::files::MemoryFiles;
use lathe_base::{Severity, Source, limits};
use lathe_isa::codes;
use lathe_tests::pages::{check_limits, check_links};

/// The lines that complete fragments: each unless the fragment declares one of its names.
const PREAMBLE: [(&str, &[&str]); 8] = [
    ("memory ram : u16 -> u8", &["ram", "prog"]),
    ("pc pc : u16 in ram", &["pc", "ip"]),
    ("register a, b, c, d : u8", &["a", "b", "c", "d"]),
    ("register w, v : u16", &["w", "v"]),
    ("register carry, zero : u1", &["carry", "zero"]),
    ("field D, S : register { a, b, c, d }", &["D", "S"]),
    ("field N : u8", &["N"]),
    ("device console : stream", &["console"]),
];

/// One block of the page: the number of its first line, its mark, its text.
struct Example {
    line: usize,
    mark: String,
    text: String,
}

fn page_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md")
}

fn page() -> String {
    fs::read_to_string(page_path()).expect("the page is there")
}

fn examples(page: &str) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(mark)) => {
                open = Some(Example { line: at + 1, mark: mark.to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => example.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    examples
}

/// Returns the names that a fragment declares at the beginning of lines.
fn declared(text: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let word = line.split_whitespace().next().unwrap_or("");
        if !["memory", "pc", "register", "constant", "view", "field", "device"].contains(&word) {
            continue;
        }
        let head = line[word.len()..].split([':', '=']).next().unwrap_or("");
        names.extend(head.split(',').map(str::trim));
    }
    names
}

fn completed(text: &str) -> String {
    if text.contains("machine ") {
        return text.to_owned();
    }
    let names = declared(text);
    let mut whole = String::from("machine example \"An example\"\n");
    for (line, needed) in PREAMBLE {
        if !needed.iter().any(|name| names.contains(name)) {
            whole.extend([line, "\n"]);
        }
    }
    whole + text
}

/// Returns the codes of all errors, including those of examples.
fn errors(text: &str, files: &MemoryFiles) -> Vec<String> {
    let loaded = lathe_isa::load_with(Source::new("example.isa", text), files);
    let mut found = loaded.diagnostics.into_sorted();
    if let Some(isa) = &loaded.isa {
        found.extend(lathe_vm::examples::check(isa));
    }
    found.retain(|diagnostic| diagnostic.severity() == Severity::Error);
    found.iter().map(|diagnostic| format!("{} {}", diagnostic.code.name, diagnostic.message)).collect()
}

#[test]
fn every_example_does_what_the_page_says() {
    let page = page();
    let mut problems = Vec::new();
    let (mut fine, mut broken) = (0, 0);
    let mut files = MemoryFiles::default();
    for example in examples(&page) {
        if let Some(name) = example.mark.strip_prefix("isa,file ") {
            files.0.insert(name.to_owned(), example.text.into_bytes());
            continue;
        }
        let found = errors(&completed(&example.text), &files);
        let right = match example.mark.split_once("error ") {
            Some((_, code)) => {
                broken += 1;
                found.len() == 1 && found[0].starts_with(code)
            }
            None if example.mark == "isa" => {
                fine += 1;
                found.is_empty()
            }
            None => true,
        };
        if !right {
            problems.push(format!("docs/language.md:{} {}: {found:#?}", example.line, example.mark));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(fine >= 30 && broken >= 10, "{fine} examples and {broken} mistakes: the page has lost some");
    println!("{fine} examples and {broken} mistakes");
}

#[test]
fn every_diagnostic_stands_in_the_table() {
    let page = page();
    for code in codes::ALL {
        let row = format!("| `{}` | {} | ", code.name, code.title);
        assert!(page.lines().any(|line| line.starts_with(&row)), "the page has no row {row}");
    }
}

#[test]
fn every_limit_stands_in_the_table() {
    let limits = [
        (limits::DEFINITION_BYTES as u64, "bytes of a definition"),
        (limits::DEFINITION_FILES as u64, "files that a definition is made of"),
        (limits::NAMES as u64, "names declared"),
        (limits::LIST as u64, "names in a list, members of a family, items of a `for`"),
        (limits::FIELD_NAMES as u64, "names in the lists of all fields together"),
        (limits::MEMORIES as u64, "memories"),
        (limits::INSTRUCTIONS as u64, "instructions, families spread out"),
        (limits::INSTRUCTION_BITS as u64, "bits of an instruction, modes included"),
        (u64::from(limits::MODE_BITS), "bits of all modes of a machine together"),
        (limits::OPERANDS as u64, "operands of an instruction"),
        (limits::CONDITIONS as u64, "conditions after `where`"),
        (limits::CONTENTS as u64, "cells that have a value at reset"),
        (limits::DISPLAY, "pixels of a display in one direction"),
        (limits::KEYS, "keys of a keypad"),
        (limits::COLUMN_BYTES as u64, "bytes of a column of syntax or encoding"),
        (limits::DOCUMENTATION_BYTES as u64, "bytes of documentation before a row"),
        (limits::ROWS as u64, "examples; pseudo-instructions; rows of maps"),
        (limits::EXPANSION as u64, "instructions of one pseudo-instruction"),
        (limits::NESTING as u64, "nesting of expressions, blocks and calls"),
        (limits::OPERATORS as u64, "operators of an expression"),
        (limits::MEANING_DEPTH as u64, "nesting of a meaning, functions put in place"),
        (limits::MEANING_NODES as u64, "parts of a meaning, functions put in place and lists unrolled"),
        (limits::TOTAL_NODES as u64, "parts of all meanings together"),
        (limits::DIAGNOSTICS as u64, "diagnostics shown"),
    ];
    check_limits(&page(), &limits);
}

/// Links lead to headings, of this page or of another.
#[test]
fn links_lead_to_headings() {
    check_links(&page_path());
}
