//! `lathe bench`: measures the engines and shows the ratios. What is measured, and how, is in `lathe-benches`; this
//! file has the command line, the table and the JSON.

mod real;

use std::io::{IsTerminal, stderr};
use std::sync::Arc;

use lathe_asm::Image;
use lathe_benches::goals::{self, Goal};
use lathe_benches::measure::{Baselines, Contestant, Job, Measured, Score};
use lathe_benches::programs;
use lathe_embed::{EngineKind, Machine};
use lathe_isa::Isa;
use serde::Serialize;

use super::Outcome;
use crate::arguments::{AssemblyArguments, Bench, Format};
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::program::{Program, Request};
use crate::render::{bold, count};
use crate::{files, machine, output};

const JIT: Contestant = Contestant::Engine(EngineKind::Jit);
const FAST: Contestant = Contestant::Engine(EngineKind::Fast);
const REFERENCE: Contestant = Contestant::Engine(EngineKind::Interpreter);

/// The default number of instructions in a run.
const STEPS: u64 = 200_000_000;

/// Measures and reports.
pub(super) fn execute(arguments: &Bench) -> Outcome {
    if arguments.real {
        return real::execute(arguments);
    }
    let mut reports = Vec::new();
    for table in tables(arguments)? {
        let report = table.measure(arguments)?;
        if arguments.format.format == Format::Text {
            output::answer(&report.text(arguments))?;
        }
        reports.push(report);
    }
    if arguments.format.format == Format::Json {
        let machines = reports.iter().map(Report::data).collect();
        output::answer(&output::json(&BenchData { rounds: arguments.rounds, steps: steps(arguments), machines })?)?;
    }
    Ok(Exit::Done)
}

fn steps(arguments: &Bench) -> u64 {
    arguments.steps.unwrap_or(STEPS)
}

/// Programs of one machine that share a table.
struct Table {
    isa: Arc<Isa>,
    programs: Vec<Measurand>,
    baselines: Baselines,
}

/// A program to measure.
struct Measurand {
    name: String,
    image: Image,
    /// Whether it is shown separately, outside the mean.
    changes_itself: bool,
}

/// Returns what to measure: the programs given, or those of one machine, or of all.
fn tables(arguments: &Bench) -> Result<Vec<Table>, Failure> {
    match (arguments.programs.as_slice(), arguments.machine.machine.as_deref()) {
        ([], Some(name)) => Ok(vec![benchmark(name)?]),
        ([], None) => {
            let names = lathe_machines::ALL.iter().map(|machine| machine.name);
            names.filter(|name| programs::of(name).next().is_some()).map(benchmark).collect()
        }
        (given, machine) => given.iter().map(|name| own(name, machine)).collect(),
    }
}

/// Returns the benchmark programs of a shipped machine.
fn benchmark(name: &str) -> Result<Table, Failure> {
    let machine = Machine::from(machine::load(name)?);
    let known = lathe_machines::find(name).map(|known| programs::of(known.name)).into_iter().flatten();
    let assemble = |program: &programs::Program| {
        let image = machine.assemble(program.text).map_err(|error| Failure::input(error.to_string()))?;
        Ok(Measurand { name: program.name.to_owned(), image, changes_itself: program.changes_itself })
    };
    let programs: Vec<Measurand> = known.map(assemble).collect::<Result<_, Failure>>()?;
    if programs.is_empty() {
        let message = format!("there are no benchmark programs for {name}");
        return Err(
            Failure::usage(message).help(format!("give a program of your own: `lathe bench -m {name} program.asm`"))
        );
    }
    Ok(Table { isa: machine.isa().clone(), programs, baselines: Baselines::All })
}

/// Loads a program given on the command line.
fn own(name: &str, machine: Option<&str>) -> Result<Table, Failure> {
    let assembly = AssemblyArguments::default();
    let request = Request { name, machine, from: None, load_at: None, assembly: &assembly };
    let Program { isa, image, .. } = request.load(&Inputs::default())?;
    let program = Measurand { name: files::title(name).to_owned(), image, changes_itself: false };
    Ok(Table { isa: Arc::new(isa), programs: vec![program], baselines: Baselines::None })
}

impl Table {
    fn measure(self, arguments: &Bench) -> Result<Report, Failure> {
        let mut rows = Vec::new();
        for Measurand { name, image, changes_itself } in self.programs {
            let title = format!("{} {name}", self.isa.name);
            let progress = Progress::begin(&title);
            let (baselines, steps, rounds) = (self.baselines, steps(arguments), arguments.rounds as usize);
            let job = Job { isa: &self.isa, image: &image, baselines, engines: &EngineKind::ALL, steps, rounds };
            let measured = job.measure(&mut |round, whose| progress.show(&title, round, rounds, whose));
            progress.end();
            let measured = measured.map_err(|trouble| Failure::input(format!("{title}: {trouble}")))?;
            rows.push(Row { name, changes_itself, measured });
        }
        Ok(Report { machine: self.isa.name.clone(), rows })
    }
}

/// Progress: one line rewritten on the terminal, or a line per program elsewhere.
enum Progress {
    Terminal,
    Lines,
}

impl Progress {
    fn begin(title: &str) -> Progress {
        if stderr().is_terminal() {
            return Progress::Terminal;
        }
        output::complain(&format!("measuring {title}\n"));
        Progress::Lines
    }

    fn show(&self, title: &str, round: usize, rounds: usize, whose: Contestant) {
        if let Progress::Terminal = self {
            output::signal(&format!("measuring {title}: round {round} of {rounds}, {}", whose.name()));
        }
    }

    fn end(&self) {
        if let Progress::Terminal = self {
            output::signal("");
        }
    }
}

/// The results for the programs of one machine.
struct Report {
    machine: String,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    changes_itself: bool,
    measured: Measured,
}

/// How many times as fast as the base.
#[derive(Clone, Copy)]
struct Ratio {
    best: f64,
    median: f64,
}

impl Row {
    fn score(&self, contestant: Contestant) -> Option<&Score> {
        self.measured.scores.iter().find(|score| score.contestant == contestant)
    }

    fn ratio(&self, contestant: Contestant, base: Contestant) -> Option<Ratio> {
        let (score, base) = (self.score(contestant)?, self.score(base)?);
        Some(Ratio { best: base.best() / score.best(), median: base.median() / score.median() })
    }
}

impl Report {
    /// Returns the hand-written interpreter, or the reference interpreter where there is none.
    fn base(&self) -> Contestant {
        let by_hand = self.rows.iter().all(|row| row.score(Contestant::ByHand).is_some());
        if by_hand { Contestant::ByHand } else { REFERENCE }
    }

    /// Returns the contestants that have a column of ratios.
    fn others(&self) -> Vec<Contestant> {
        let all = EngineKind::ALL.map(Contestant::Engine).into_iter().chain([Contestant::Translation]);
        let took_part = |one: &Contestant| self.rows.iter().any(|row| row.score(*one).is_some());
        all.filter(|one| *one != self.base()).filter(took_part).collect()
    }

    /// Returns the programs that count for the mean and its goals.
    fn ordinary(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.changes_itself)
    }

    /// Returns the programs that are shown separately.
    fn changing(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.changes_itself)
    }

    /// Returns the geometric mean of the best ratios over the programs that have one.
    fn mean(&self, contestant: Contestant) -> Option<f64> {
        geometric_mean(self.ordinary().filter_map(|row| row.ratio(contestant, self.base())).map(|ratio| ratio.best))
    }

    fn text(&self, arguments: &Bench) -> String {
        let (base, others) = (self.base(), self.others());
        let million = steps(arguments) as f64 / 1e6;
        let rounds = count(arguments.rounds as usize, "round");
        let mut text = format!(
            "{}: times as fast as {}; {million} million instructions a run, best of {rounds} (median)\n",
            bold(&self.machine),
            spelt(base),
        );
        let width = self.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max("program".len());
        let heads: String = others.iter().map(|other| format!("  {:>16}", other.name())).collect();
        text += &format!("  {:<width$}  {:>12}{heads}\n", "program", format!("{} M/s", base.name()));
        let line = |row: &Row| {
            let speed = row.score(base).map_or(0.0, millions);
            let cells: String = others.iter().map(|other| cell(row.ratio(*other, base))).collect();
            format!("  {:<width$}  {speed:>12.1}{cells}\n", row.name)
        };
        text.extend(self.ordinary().map(line));
        if self.ordinary().count() > 1 {
            let cells: String = others.iter().map(|other| mean_cell(self.mean(*other))).collect();
            text += format!("  {:<width$}  {:>12}{cells}", "mean", "").trim_end();
            text += "\n";
        }
        if self.changing().count() > 0 {
            text += "  changing their own code, and not in the mean:\n";
            text.extend(self.changing().map(line));
        }
        text.extend(self.notes().iter().map(|note| format!("  {note}\n")));
        let goals = if arguments.goals { self.goals() } else { Vec::new() };
        text.extend(goals.iter().map(|goal| format!("  {}\n", goal.text())));
        text + "\n"
    }

    /// Explains why programs have no translation.
    fn notes(&self) -> Vec<String> {
        let without = self.ordinary().filter_map(|row| Some((&row.name, row.measured.no_translation.as_ref()?)));
        without.map(|(name, why)| format!("{name}: not translated for gcc, because {why}")).collect()
    }

    fn goals(&self) -> Vec<Reached> {
        let Some(goal) = goals::of(&self.machine).filter(|_| self.base() == Contestant::ByHand) else {
            return Vec::new();
        };
        let Goal { mean, each, behind_translation } = goal;
        let least = self.ordinary().filter_map(|row| row.ratio(JIT, self.base())).map(|ratio| ratio.best);
        let least = least.min_by(f64::total_cmp);
        let changing = self.changing().filter_map(|row| row.ratio(JIT, FAST)).map(|ratio| ratio.best);
        let changing = changing.min_by(f64::total_cmp);
        let behind = || Some(self.mean(Contestant::Translation)? / self.mean(JIT)?);
        let reached = [
            self.mean(JIT).map(|found| Reached { what: "jit, mean: at least", goal: mean, found, met: found >= mean }),
            least.map(|found| Reached { what: "jit, every program: at least", goal: each, found, met: found >= each }),
            behind_translation.zip(behind()).map(|(goal, found)| Reached {
                what: "gcc -O3 to jit, mean: at most",
                goal,
                found,
                met: found <= goal,
            }),
            changing.map(|found| Reached {
                what: "jit to fast, every program that changes its code: at least",
                goal: goals::CHANGING,
                found,
                met: found >= goals::CHANGING,
            }),
        ];
        reached.into_iter().flatten().collect()
    }

    fn data(&self) -> MachineData<'_> {
        let base = self.base();
        let score = |row: &Row, score: &Score| {
            let ratio = row.ratio(score.contestant, base);
            ScoreData {
                name: score.contestant.name(),
                instructions: score.steps,
                best_seconds: score.best() * score.steps as f64,
                median_seconds: score.median() * score.steps as f64,
                millions_per_second: millions(score),
                ratio: ratio.map(|ratio| ratio.best),
                median_ratio: ratio.map(|ratio| ratio.median),
            }
        };
        let program = |row: &'_ Row| -> ProgramData {
            let scores = row.measured.scores.iter().map(|one| score(row, one)).collect();
            ProgramData { name: row.name.clone(), changes_itself: row.changes_itself, scores }
        };
        let others = self.others();
        let means = others.iter().filter_map(|other| Some(MeanData { name: other.name(), ratio: self.mean(*other)? }));
        MachineData {
            machine: &self.machine,
            base: base.name(),
            programs: self.rows.iter().map(program).collect(),
            means: means.collect(),
            goals: self.goals(),
            notes: self.notes(),
        }
    }
}

fn spelt(base: Contestant) -> &'static str {
    if base == Contestant::ByHand { "the hand-written interpreter" } else { "the reference interpreter" }
}

fn millions(score: &Score) -> f64 {
    1e-6 / score.best()
}

/// Returns `None` for no ratios.
fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.map(f64::ln).collect();
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp())
}

fn cell(ratio: Option<Ratio>) -> String {
    let text = ratio.map(|ratio| format!("{:.2} ({:.2})", ratio.best, ratio.median));
    format!("  {:>16}", text.unwrap_or_else(|| "-".to_owned()))
}

/// Formats a mean to stand under the best ratio, not under the median.
fn mean_cell(mean: Option<f64>) -> String {
    let text = mean.map(|mean| format!("{mean:.2}"));
    format!("  {:>8}        ", text.unwrap_or_else(|| "-".to_owned()))
}

/// A goal and its result.
#[derive(Debug, Serialize)]
struct Reached {
    what: &'static str,
    goal: f64,
    found: f64,
    met: bool,
}

impl Reached {
    fn text(&self) -> String {
        let Reached { what, goal, found, met } = self;
        let verdict = if *met { "met" } else { "missed" };
        format!("goal: {what} {goal}: {found:.2}, {verdict}")
    }
}

/// Everything as data.
#[derive(Debug, Serialize)]
struct BenchData<'r> {
    rounds: u32,
    /// Steps of a run; the reference interpreter does a part of them.
    steps: u64,
    machines: Vec<MachineData<'r>>,
}

#[derive(Debug, Serialize)]
struct MachineData<'r> {
    machine: &'r str,
    /// The contestant that ratios are relative to.
    base: &'static str,
    programs: Vec<ProgramData>,
    means: Vec<MeanData>,
    goals: Vec<Reached>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ProgramData {
    name: String,
    /// Whether it is left out of the means.
    changes_itself: bool,
    scores: Vec<ScoreData>,
}

#[derive(Debug, Serialize)]
struct ScoreData {
    name: &'static str,
    instructions: u64,
    best_seconds: f64,
    median_seconds: f64,
    millions_per_second: f64,
    ratio: Option<f64>,
    median_ratio: Option<f64>,
}

#[derive(Debug, Serialize)]
struct MeanData {
    name: &'static str,
    ratio: f64,
}
