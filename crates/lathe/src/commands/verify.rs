//! `lathe verify`: compares a machine with single-step test vectors.

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use anstyle::AnsiColor;
use lathe_base::limits;
use lathe_embed::EngineKind;
use serde::Serialize;

use super::Outcome;
use super::test_bench::{Failed, TestBench};
use crate::arguments::{Format, Verify};
use crate::exit::{Exit, Failure};
use crate::render::mark;
use crate::vectors::{self, Names};
use crate::{files, machine, output, render};

/// The most failures shown to people.
const SHOWN: usize = 10;
/// The most failures listed for programs.
const LISTED: usize = 1000;

/// Runs all vectors of all files.
pub(super) fn execute(arguments: &Verify) -> Outcome {
    let isa = Arc::new(machine::load(&arguments.machine.machine)?);
    let names = Names::new(&isa, &arguments.ignore);
    let kept = if arguments.format.format == Format::Json { LISTED } else { SHOWN };
    let mut tally = Tally { machine: &isa.name, passed: 0, failed: 0, files: Vec::new(), failures: Vec::new() };
    let mut bench = TestBench::new(&isa, &names, EngineKind::from(arguments.engine).build_for_steps(&isa)?);
    let progress = Progress::new(arguments.files.len());
    for (at, file) in arguments.files.iter().enumerate() {
        progress.show(at, file);
        let counted = run_file(file, &names, &mut bench, kept, &mut tally.failures);
        progress.clear();
        let counted = counted?;
        tally.passed += counted.passed;
        tally.failed += counted.failed;
        tally.files.push(counted);
    }
    let nothing = tally.passed + tally.failed == 0;
    if nothing && arguments.format.format == Format::Text {
        output::answer(&text(&tally))?;
    }
    if nothing {
        let message = format!("there is no test in {}", render::count(arguments.files.len(), "file"));
        return Err(Failure::input(message).help("`lathe verify --help` shows how tests are written"));
    }
    output::answer(&match arguments.format.format {
        Format::Text => text(&tally),
        Format::Json => output::json(&tally)?,
    })?;
    Ok(if tally.failed == 0 { Exit::Done } else { Exit::InputWrong })
}

/// Runs the vectors of one file, and keeps the first failures.
fn run_file<'f>(
    file: &'f str,
    names: &Names,
    bench: &mut TestBench,
    kept: usize,
    failures: &mut Vec<FailureData<'f>>,
) -> Result<FileTally<'f>, Failure> {
    let text = files::read(file, limits::VECTOR_BYTES)?;
    let mut tally = FileTally { file: files::title(file), passed: 0, failed: 0 };
    let read = vectors::read(&text, names, &mut |vector| {
        match bench.run(vector)? {
            None => tally.passed += 1,
            Some(failed) => {
                tally.failed += 1;
                if failures.len() < kept {
                    let name = vector.name.clone();
                    failures.push(FailureData { file: files::title(file), number: vector.number, name, failed });
                }
            }
        }
        Ok(())
    });
    read.map_err(|problem| {
        let failure = Failure::input(format!("{}: {problem}", files::title(file)));
        failure.help("`lathe verify --help` shows what a file of vectors looks like")
    })?;
    Ok(tally)
}

/// The results of all vectors; also the answer as data.
#[derive(Debug, Serialize)]
struct Tally<'v> {
    machine: &'v str,
    passed: usize,
    failed: usize,
    files: Vec<FileTally<'v>>,
    failures: Vec<FailureData<'v>>,
}

#[derive(Debug, Serialize)]
struct FileTally<'v> {
    file: &'v str,
    passed: usize,
    failed: usize,
}

#[derive(Debug, Serialize)]
struct FailureData<'v> {
    file: &'v str,
    /// The position in its file, from 1.
    number: usize,
    name: String,
    #[serde(flatten)]
    failed: Failed,
}

/// Renders the first failures, and the line that scripts look for.
fn text(tally: &Tally) -> String {
    let mut text: String = tally.failures.iter().map(failure_text).collect();
    let more = tally.failed - tally.failures.len();
    if more > 0 {
        text += &format!("... and {more} more that failed\n\n");
    }
    text + &format!("{} passed, {} failed\n", tally.passed, tally.failed)
}

fn failure_text(failure: &FailureData) -> String {
    let FailureData { file, number, name, failed } = failure;
    let name = if name.is_empty() { String::new() } else { format!("{name}  ") };
    let mut text = format!("{} {name}({file}, test {number})\n", mark("FAIL", AnsiColor::BrightRed));
    text += &format!("  {}\n", failed.instruction);
    text.extend(failed.fault.iter().map(|fault| format!("  the step faulted: {fault}\n")));
    let fields = failed.differences.iter().map(|one| one.field.chars().count()).max().unwrap_or(0);
    let expected = failed.differences.iter().map(|one| one.expected.chars().count()).max().unwrap_or(0);
    for one in &failed.differences {
        text += &format!("  {:<fields$}  expected {:<expected$}  found {}\n", one.field, one.expected, one.found);
    }
    text + "\n"
}

/// A progress line on the terminal, when there are several files.
struct Progress {
    total: usize,
    shown: Shown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Yes,
    No,
}

impl Progress {
    fn new(total: usize) -> Progress {
        Progress { total, shown: if total > 1 && stderr().is_terminal() { Shown::Yes } else { Shown::No } }
    }

    fn show(&self, at: usize, file: &str) {
        if self.shown == Shown::Yes {
            output::signal(&format!("{} of {}  {file}", at + 1, self.total));
        }
    }

    fn clear(&self) {
        if self.shown == Shown::Yes {
            output::signal("");
        }
    }
}
