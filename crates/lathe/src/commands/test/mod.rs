//! `lathe test`: runs programs and checks their expectations.
//!
//! Read `expectation` for what can be expected, `collect` for where that is written, `job` for how a program is tested,
//! `pool` for how a misbehaving one is kept from harming the others.

mod collect;
pub(super) mod diff;
mod expectation;
mod job;
mod pool;
mod report;

use std::collections::BTreeMap;
use std::io::{IsTerminal, stderr};
use std::path::Path;

use self::job::{Job, Limits, Tested};
use self::report::Results;
use super::Outcome;
use crate::arguments::{Engine, Test, TestFormat};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::{machine, output, watch};

/// Tests, once or whenever a file changes.
pub(super) fn execute(arguments: &Test) -> Outcome {
    if arguments.worker {
        return pool::work().map(|()| Exit::Done);
    }
    if arguments.watch {
        watch::forever(|inputs| once(arguments, inputs));
    }
    once(arguments, &Inputs::default())
}

fn once(arguments: &Test, inputs: &Inputs) -> Outcome {
    let reports: Vec<(&String, TestFormat)> =
        arguments.report.iter().map(|file| Ok((file, format_of(file)?))).collect::<Result<_, Failure>>()?;
    let jobs = jobs(arguments, inputs)?;
    let report = Results::new(run(arguments, &jobs));
    let good = report.is_good();
    let nothing = jobs.is_empty() || (report.passed + report.failed + report.errors == 0);
    // A JSON answer is one document; if nothing was tested, that is the failure.
    if !nothing || arguments.format != TestFormat::Json {
        tell(arguments, &report)?;
    }
    for (file, format) in reports {
        files::write_all(&[Whole { name: file.clone(), bytes: report.document(format)?.into_bytes() }])?;
    }
    if nothing {
        let message = "nothing was tested";
        let help = "write what a program must do into its source, as in `; expect: output \"Hello\\n\"`, or beside it";
        return Err(Failure::input(message).help(help));
    }
    Ok(if good { Exit::Done } else { Exit::InputWrong })
}

/// Returns the report format for a file name.
fn format_of(file: &str) -> Result<TestFormat, Failure> {
    match Path::new(file).extension().map(|extension| extension.to_string_lossy().to_lowercase()).as_deref() {
        Some("json") => Ok(TestFormat::Json),
        Some("xml") => Ok(TestFormat::Junit),
        Some("csv") => Ok(TestFormat::Csv),
        Some("txt") => Ok(TestFormat::Text),
        _ => Err(Failure::usage(format!("the name {file} does not say what the report is to be"))
            .help("end it with .xml for JUnit, .csv, .json or .txt")),
    }
}

/// Creates a job for each program of this shard.
fn jobs(arguments: &Test, inputs: &Inputs) -> Result<Vec<Job>, Failure> {
    let programs = collect::programs(&arguments.paths)?;
    programs.iter().for_each(|program| inputs.note(program));
    // What all programs share is checked once, here, so that its mistakes are reported once.
    if let Some(file) = &arguments.expect {
        let cases = collect::file_cases(file, inputs).map_err(Failure::input)?;
        if cases.is_empty() {
            return Err(
                Failure::input(format!("{file} expects nothing")).help("write a line such as `output \"7\\n\"`")
            );
        }
    }
    if let Some(name) = &arguments.machine.machine {
        if lathe_machines::find(name).is_none() {
            inputs.note(name);
        }
        machine::load(name)?;
    }
    let mut neighbours: BTreeMap<&Path, usize> = BTreeMap::new();
    for program in &programs {
        *neighbours.entry(folder(program)).or_default() += 1;
    }
    let (shard, shards) = arguments.shard.unwrap_or((1, 1));
    let mine = programs.iter().enumerate().filter(|(at, _)| at % shards == shard - 1);
    let job = |(_, program): (usize, &String)| Job {
        program: program.clone(),
        machine: arguments.machine.machine.clone(),
        expect: arguments.expect.clone(),
        root: arguments.root.clone(),
        alone: arguments.expect.is_some() && arguments.root.is_none() && neighbours[folder(program)] > 1,
        engine: engine_name(arguments.engine).to_owned(),
        limits: Limits {
            steps: arguments.max_steps,
            output: arguments.max_output,
            seconds: arguments.max_time,
            memory: arguments.max_memory,
        },
    };
    Ok(mine.map(job).collect())
}

fn folder(program: &str) -> &Path {
    Path::new(program).parent().unwrap_or(Path::new(""))
}

fn engine_name(engine: Engine) -> &'static str {
    lathe_embed::EngineKind::from(engine).name()
}

/// Runs all tests. People see each result as soon as all before it are done.
fn run(arguments: &Test, jobs: &[Job]) -> Vec<Tested> {
    let at_once = arguments.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let watched = stderr().is_terminal();
    let (mut done, mut waiting) = (Vec::new(), BTreeMap::new());
    pool::run(jobs, at_once, |at, tested| {
        waiting.insert(at, tested);
        while let Some(tested) = waiting.remove(&done.len()) {
            if watched {
                output::signal("");
            }
            if arguments.format == TestFormat::Text {
                // A closed pipe is detected again at the end.
                let _ = output::answer(&report::lines(&tested));
            }
            done.push(tested);
        }
        if watched && done.len() < jobs.len() {
            output::signal(&format!("{} of {}  {}", done.len(), jobs.len(), jobs[done.len()].program));
        }
    });
    done
}

fn tell(arguments: &Test, report: &Results) -> Result<(), Failure> {
    output::answer(&match arguments.format {
        // Graders want one line per program.
        TestFormat::Text if arguments.expect.is_some() => format!("\n{}{}", report.table(), report.summary()),
        TestFormat::Text => report.summary(),
        other => report.document(other)?,
    })
}
