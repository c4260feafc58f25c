//! `lathe bench --real`: programs as people write them, at several lengths. How they are measured is in
//! `lathe-benches`; this file has the table and the JSON.

use lathe_benches::measure::{Baselines, Contestant, Job, Measured, Score};
use lathe_benches::real::{self, LENGTHS, MOST_ROUNDS, Program};
use lathe_embed::{EngineKind, Machine};
use serde::Serialize;

use super::{Progress, geometric_mean, millions};
use crate::arguments::{Bench, Format};
use crate::commands::Outcome;
use crate::exit::{Exit, Failure};
use crate::machine;
use crate::output;
use crate::render::{bold, count};

/// The engines that are measured.
const ENGINES: [EngineKind; 4] = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit, EngineKind::Auto];

/// The columns of the table.
const COLUMNS: [Contestant; 5] = [
    Contestant::Engine(ENGINES[0]),
    Contestant::Engine(ENGINES[1]),
    Contestant::Engine(ENGINES[2]),
    Contestant::Engine(ENGINES[3]),
    Contestant::Translation,
];

fn column(ratio: Option<f64>) -> String {
    format!("{:>8}", ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")))
}

/// Measures and reports, each line as soon as it is known.
pub(super) fn execute(arguments: &Bench) -> Outcome {
    let programs = programs(arguments.machine.machine.as_deref())?;
    let lengths = arguments.steps.map_or(LENGTHS.to_vec(), |steps| vec![steps]);
    let shown = arguments.format.format == Format::Text;
    if shown {
        output::answer(&head(arguments))?;
    }
    let mut lines = Vec::new();
    for program in programs {
        let machine = Machine::from(machine::load(program.machine)?);
        for length in &lengths {
            // The time gcc spends compiling is not counted, so one length shows what its code can do.
            let baselines = if Some(length) == lengths.last() { Baselines::All } else { Baselines::ByHand };
            let line = measure(arguments, &machine, program, *length, baselines)?;
            if shown {
                output::answer(&line.text())?;
            }
            lines.push(line);
        }
    }
    match arguments.format.format {
        Format::Text => output::answer(&(means_text(&lines, &lengths) + &notes(&lines)))?,
        Format::Json => output::answer(&output::json(&data(arguments, &lines, &lengths))?)?,
    }
    Ok(Exit::Done)
}

/// Returns all programs, or those of one machine.
fn programs(machine: Option<&str>) -> Result<Vec<&'static Program>, Failure> {
    let wanted = |program: &&Program| machine.is_none_or(|name| name == program.machine);
    let programs: Vec<&Program> = real::ALL.iter().filter(wanted).collect();
    if programs.is_empty() {
        let mut names: Vec<&str> = real::ALL.iter().map(|program| program.machine).collect();
        names.dedup();
        let message = format!("there are no real programs for {}", machine.unwrap_or_default());
        return Err(Failure::usage(message).help(format!("choose one of {}", names.join(", "))));
    }
    Ok(programs)
}

fn measure(
    arguments: &Bench,
    machine: &Machine,
    program: &Program,
    steps: u64,
    baselines: Baselines,
) -> Result<Line, Failure> {
    let title = format!("{} {}, {} million", program.machine, program.name, steps as f64 / 1e6);
    let image = program.assemble(machine, MOST_ROUNDS).map_err(|error| Failure::input(error.to_string()))?;
    let rounds = arguments.rounds as usize;
    let job = Job { isa: machine.isa(), image: &image, baselines, engines: &ENGINES, steps, rounds };
    let progress = Progress::begin(&title);
    let measured = job.measure(&mut |round, whose| progress.show(&title, round, rounds, whose));
    progress.end();
    let measured = measured.map_err(|trouble| Failure::input(format!("{title}: {trouble}")))?;
    Ok(Line { machine: program.machine, program: program.name, steps, measured })
}

/// One program at one length.
struct Line {
    machine: &'static str,
    program: &'static str,
    steps: u64,
    measured: Measured,
}

impl Line {
    fn score(&self, contestant: Contestant) -> Option<&Score> {
        self.measured.scores.iter().find(|score| score.contestant == contestant)
    }

    /// Returns the base: the hand-written interpreter, or the reference interpreter where there is none. It comes
    /// first.
    fn base(&self) -> &Score {
        &self.measured.scores[0]
    }

    /// Returns how many times as fast as the base a contestant is, in the best round of each.
    fn ratio(&self, contestant: Contestant) -> Option<f64> {
        Some(self.base().best() / self.score(contestant)?.best())
    }

    fn text(&self) -> String {
        let ratios: String = COLUMNS.map(|whose| column(self.ratio(whose))).concat();
        let compiling = self.score(super::JIT).map_or("-".to_owned(), |jit| format!("{:.0} %", jit.compiling * 100.0));
        format!(
            "  {:<8}{:<12}{:>9}{:>13.1}{ratios}{compiling:>11}\n",
            self.machine,
            self.program,
            self.steps as f64 / 1e6,
            millions(self.base()),
        )
    }
}

fn head(arguments: &Bench) -> String {
    let names = COLUMNS.map(|whose| format!("{:>8}", whose.name())).concat();
    let rounds = count(arguments.rounds as usize, "round");
    format!(
        "{}: times as fast as the hand-written interpreter, best of {rounds}; compiling: its share of the time of `jit`\n  \
         {:<8}{:<12}{:>9}{:>13}{names}{:>11}\n",
        bold("real programs"),
        "machine",
        "program",
        "millions",
        "by hand M/s",
        "compiling",
    )
}

/// Returns the geometric mean of a contestant over all programs it ran at one length.
fn mean(lines: &[Line], length: u64, whose: Contestant) -> Option<f64> {
    geometric_mean(lines.iter().filter(|line| line.steps == length).filter_map(|line| line.ratio(whose)))
}

fn means_text(lines: &[Line], lengths: &[u64]) -> String {
    let line = |length: &u64| {
        let means = COLUMNS.map(|whose| column(mean(lines, *length, whose))).concat();
        format!("  {:<20}{:>9}{:>13}{means}\n", "mean", *length as f64 / 1e6, "")
    };
    lengths.iter().map(line).collect()
}

/// Explains why programs have no translation.
fn notes(lines: &[Line]) -> String {
    let without = lines.iter().filter_map(|line| Some((line, line.measured.no_translation.as_ref()?)));
    let note = |(line, why): (&Line, _)| {
        format!("  {} {}: not translated for gcc, because {why}\n", line.machine, line.program)
    };
    without.map(note).collect()
}

/// Everything as data.
#[derive(Debug, Serialize)]
struct RealData {
    rounds: u32,
    programs: Vec<ProgramData>,
    means: Vec<MeanData>,
}

#[derive(Debug, Serialize)]
struct ProgramData {
    machine: &'static str,
    program: &'static str,
    /// Steps of a run; the reference interpreter does a part of them.
    steps: u64,
    /// The contestant that ratios are relative to.
    base: &'static str,
    scores: Vec<ScoreData>,
}

#[derive(Debug, Serialize)]
struct ScoreData {
    name: &'static str,
    instructions: u64,
    best_seconds: f64,
    median_seconds: f64,
    millions_per_second: f64,
    ratio: f64,
    /// The share of the time spent compiling, here or on another thread during the run.
    compiling: f64,
}

#[derive(Debug, Serialize)]
struct MeanData {
    name: &'static str,
    steps: u64,
    ratio: f64,
}

fn data(arguments: &Bench, lines: &[Line], lengths: &[u64]) -> RealData {
    let score = |line: &Line, score: &Score| ScoreData {
        name: score.contestant.name(),
        instructions: score.steps,
        best_seconds: score.best() * score.steps as f64,
        median_seconds: score.median() * score.steps as f64,
        millions_per_second: millions(score),
        ratio: line.base().best() / score.best(),
        compiling: score.compiling,
    };
    let program = |line: &Line| ProgramData {
        machine: line.machine,
        program: line.program,
        steps: line.steps,
        base: line.base().contestant.name(),
        scores: line.measured.scores.iter().map(|one| score(line, one)).collect(),
    };
    let means = |steps: &u64| {
        let steps = *steps;
        COLUMNS
            .into_iter()
            .filter_map(move |whose| Some(MeanData { name: whose.name(), steps, ratio: mean(lines, steps, whose)? }))
    };
    RealData {
        rounds: arguments.rounds,
        programs: lines.iter().map(program).collect(),
        means: lengths.iter().flat_map(means).collect(),
    }
}
