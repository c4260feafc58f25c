//! `lathe explain`: what a diagnostic means, with a wrong example and how to correct it.
//!
//! The entries are the texts in `explanations/`, whose headers describe their format. Lathe's messages about the wrong
//! example are not stored there: they are generated when shown.

use std::collections::BTreeMap;

use anstyle::AnsiColor;
use lathe_asm::{Options, assemble};
use lathe_base::files::MemoryFiles;
use lathe_base::{Code, Diagnostic, Severity, Source, nearest};
use serde::Serialize;

use super::Outcome;
use crate::arguments::{Explain, Format};
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::render::{self, bold, mark};
use crate::{machine, output};

const LANGUAGE: &str = include_str!("../../explanations/language.txt");
const ASSEMBLY: &str = include_str!("../../explanations/assembly.txt");

/// Explains one code, or lists all of them.
pub(super) fn execute(arguments: &Explain) -> Outcome {
    let json = arguments.format.format == Format::Json;
    let text = match &arguments.code {
        None if json => output::json(&codes().map(CodeData::from).collect::<Vec<_>>())?,
        None => list(),
        Some(name) => {
            let entry = find(name)?;
            if json { output::json(&entry.data())? } else { entry.text() }
        }
    };
    output::answer(&text)?;
    Ok(Exit::Done)
}

/// Returns every code: of definitions, then of assembly sources.
fn codes() -> impl Iterator<Item = &'static Code> {
    lathe_isa::codes::ALL.iter().chain(lathe_asm::codes::ALL)
}

fn list() -> String {
    let heading = |name: &str| match name {
        "E101" => "In definitions:\n",
        "A101" => "\nIn assembly sources:\n",
        _ => "",
    };
    codes().map(|code| format!("{}  {}  {}\n", heading(code.name), bold(code.name), code.title)).collect()
}

/// Finds the entry of a code in any form: `E401`, `e401`, `error[E401]`.
fn find(name: &str) -> Result<Entry, Failure> {
    let wanted = name.trim_start_matches("error").trim_start_matches("warning").trim_matches(['[', ']']);
    let code = codes().find(|code| code.name.eq_ignore_ascii_case(wanted));
    let entry = code.and_then(|code| entries().into_iter().find(|entry| entry.code == code.name));
    entry.ok_or_else(|| {
        let near = nearest(&wanted.to_ascii_uppercase(), codes().map(|code| code.name));
        let help = near.map_or_else(
            || "`lathe explain` lists all of them".to_owned(),
            |near| format!("did you mean `{near}`? `lathe explain` lists all of them"),
        );
        Failure::usage(format!("there is no diagnostic with the code `{name}`")).help(help)
    })
}

/// The entry for one code.
#[derive(Debug)]
struct Entry {
    code: &'static str,
    kind: Kind,
    /// What the code means, for people.
    meaning: String,
    example: Vec<(Side, &'static str)>,
}

/// What the example is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Definition,
    Source,
}

/// Which side of an example a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Wrong,
    Right,
    Both,
}

fn entries() -> Vec<Entry> {
    let of = |text: &'static str, kind| blocks(text).into_iter().filter_map(move |block| entry(&block, kind));
    of(LANGUAGE, Kind::Definition).chain(of(ASSEMBLY, Kind::Source)).collect()
}

/// Splits the text into the lines of each entry: an entry begins with a line that is a code, after an
/// empty one.
fn blocks(text: &'static str) -> Vec<Vec<&'static str>> {
    let mut blocks: Vec<Vec<&str>> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if is_code(line) {
            blocks.push(Vec::new());
        }
        blocks.last_mut().into_iter().for_each(|block| block.push(line));
    }
    blocks
}

fn is_code(line: &str) -> bool {
    line.len() == 4 && line.starts_with(['E', 'W', 'A']) && line[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// Parses an entry. The prose ends with the first line that ends a sentence; the example follows.
fn entry(lines: &[&'static str], kind: Kind) -> Option<Entry> {
    let (code, rest) = lines.split_first()?;
    let rest = &rest[..rest.iter().rposition(|line| !line.is_empty())? + 1];
    let prose = rest.iter().position(|line| line.ends_with('.'))? + 1;
    let line = |line: &&'static str| match line.as_bytes().first() {
        Some(b'-') => (Side::Wrong, &line[1..]),
        Some(b'+') => (Side::Right, &line[1..]),
        _ => (Side::Both, *line),
    };
    let example = rest[prose..].iter().map(line).collect();
    Some(Entry { code, kind, meaning: rest[..prose].join("\n"), example })
}

impl Entry {
    /// Returns one side of the example, with what every text of its kind needs.
    fn side(&self, side: Side) -> String {
        let lines = self.example.iter().filter(|(at, _)| *at == side || *at == Side::Both);
        let text: String = lines.flat_map(|(_, line)| [line, "\n"]).collect();
        match self.kind {
            Kind::Definition => {
                let head = "machine m \"An example\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\n";
                let head = if text.contains("machine ") { "" } else { head };
                let rows = if text.contains("instructions {") { "" } else { "instructions {\n  nop | 0x00 |\n}\n" };
                format!("{head}{text}{rows}")
            }
            Kind::Source if text.contains(".machine ") => text,
            Kind::Source => format!(".machine hex8\n{text}"),
        }
    }

    /// Returns Lathe's diagnostics for a side of the example.
    fn diagnose(&self, side: Side) -> (Vec<Source>, Vec<Diagnostic>) {
        let text = self.side(side);
        match self.kind {
            Kind::Definition => {
                let checked = machine::check(Source::new("m.isa", text), &Inputs::default());
                (checked.written.sources, checked.diagnostics)
            }
            Kind::Source => diagnose_source(text),
        }
    }

    fn severity(&self) -> &'static str {
        let code = codes().find(|code| code.name == self.code);
        match code.map(|code| code.severity()) {
            Some(Severity::Warning) => "warning",
            _ => "error",
        }
    }

    fn title(&self) -> &'static str {
        codes().find(|code| code.name == self.code).map_or("", |code| code.title)
    }

    fn text(&self) -> String {
        let line = |(side, line): &(Side, &str)| match side {
            Side::Wrong => mark(&format!("  - {line}"), AnsiColor::Red) + "\n",
            Side::Right => mark(&format!("  + {line}"), AnsiColor::Green) + "\n",
            Side::Both => format!("    {line}\n"),
        };
        let example: String = self.example.iter().map(line).collect();
        let (sources, found) = self.diagnose(Side::Wrong);
        let said: String = found.iter().map(|diagnostic| render::diagnostic(&sources, diagnostic)).collect();
        let head = bold(&format!("{}[{}]: {}", self.severity(), self.code, self.title()));
        format!(
            "{head}\n\n{}\n\nAn example, wrong (-) and right (+):\n\n{example}\nWhat Lathe says about the wrong one:\n\n{}",
            self.meaning,
            said.trim_end_matches('\n').to_owned() + "\n"
        )
    }

    fn data(&self) -> EntryData {
        let (_, found) = self.diagnose(Side::Wrong);
        EntryData {
            code: self.code,
            severity: self.severity(),
            title: self.title(),
            meaning: self.meaning.replace('\n', " "),
            wrong: self.side(Side::Wrong),
            right: self.side(Side::Right),
            messages: found.into_iter().map(|diagnostic| diagnostic.message).collect(),
        }
    }
}

/// Checks an assembly example. The examples may include two files: one is empty, one includes itself.
fn diagnose_source(text: String) -> (Vec<Source>, Vec<Diagnostic>) {
    let name = text.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let Some(isa) = lathe_machines::find(&name)
        .and_then(|machine| lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa)
    else {
        return (Vec::new(), Vec::new());
    };
    let files = MemoryFiles(BTreeMap::from([
        ("empty.asm".to_owned(), Vec::new()),
        ("cycle.asm".to_owned(), b"        .include \"cycle.asm\"\n".to_vec()),
    ]));
    let assembled = assemble(&isa, &files, Source::new("example.asm", text), &Options::default());
    (assembled.sources, assembled.diagnostics.into_sorted())
}

/// An entry as data.
#[derive(Debug, Serialize)]
struct EntryData {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    meaning: String,
    wrong: String,
    right: String,
    /// Lathe's messages about the wrong example.
    messages: Vec<String>,
}

/// A code in the full list, as data.
#[derive(Debug, Serialize)]
struct CodeData {
    code: &'static str,
    title: &'static str,
}

impl From<&'static Code> for CodeData {
    fn from(code: &'static Code) -> CodeData {
        CodeData { code: code.name, title: code.title }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_once() {
        let explained: Vec<&str> = entries().iter().map(|entry| entry.code).collect();
        let all: Vec<&str> = codes().map(|code| code.name).collect();
        assert_eq!(explained, all, "explanations/*.txt and codes.rs must list the same codes, in the same order");
    }

    #[test]
    fn a_wrong_example_gives_exactly_its_code_and_a_right_one_nothing() {
        let shown = |found: Vec<Diagnostic>| -> Vec<String> {
            found.into_iter().map(|found| format!("{} {}", found.code.name, found.message)).collect()
        };
        let mut problems = Vec::new();
        for entry in entries() {
            let (wrong, right) = (entry.diagnose(Side::Wrong).1, entry.diagnose(Side::Right).1);
            if wrong.is_empty() || wrong.iter().any(|found| found.code.name != entry.code) {
                problems.push(format!("{}: wrong gives {:?}", entry.code, shown(wrong)));
            }
            if !right.is_empty() {
                problems.push(format!("{}: right gives {:?}", entry.code, shown(right)));
            }
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
