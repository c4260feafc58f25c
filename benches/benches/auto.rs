//! Whether `auto` ever loses: every program of `machines/*/programs`, on each engine in turn.
//!
//! A time is that of the thread that runs the program, including reading the definition and assembling, as a user waits
//! for it. The column for the processor adds the time of the thread that compiles.
//!
//! `cargo bench -p lathe-benches --bench auto [-- WORD...]`, for all programs or those with one of the words in their
//! paths

use std::fs;
use std::path::{Path, PathBuf};

use lathe_base::files::{FileError, Files, Found};
use lathe_benches::measure::processor_time;
use lathe_embed::{EngineKind, Machine};

/// The engines whose best time is the goal; the reference interpreter only wins where next to nothing is executed.
const OTHERS: [EngineKind; 3] = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit];
/// The reference interpreter skips programs with more steps.
const FEW: u64 = 500_000;
/// Files that are only included.
const INCLUDES: [&str; 2] = ["lib", "macros"];
/// The most steps of a run, for programs that do not end.
const MOST: u64 = 3_000_000;
const ROUNDS: usize = 5;
/// The goals are for programs of this many steps and more: in the others most of the time passes before they begin.
const LONG: u64 = 10_000;
/// How many times as long as the best engine `auto` may take: in time, and in processor time.
const GOALS: [f64; 2] = [1.05, 1.5];

/// Includes come from the folder of the program.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = fs::read(self.0.join(name)).map_err(|error| FileError(error.to_string()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

fn main() {
    // Cargo itself passes a flag.
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted =
        |path: &&PathBuf| words.is_empty() || words.iter().any(|word| path.to_string_lossy().contains(word));
    println!("{:<24}{:>10}{:>10}{:>8}{:>12}{:>11}", "program", "steps", "best ms", "of", "auto: time", "processor");
    let (mut count, mut long, mut lost) = (0, 0, [0, 0]);
    for machine in lathe_machines::ALL {
        for path in programs(machine.name).iter().filter(is_wanted) {
            let (steps, ratios) = compare(machine.name, path);
            count += 1;
            if steps >= LONG {
                long += 1;
                lost = [0, 1].map(|at| lost[at] + usize::from(ratios[at] > GOALS[at]));
            }
        }
    }
    println!("{count} programs, {long} of at least {LONG} steps. Of these, auto took");
    println!(
        "more than {} of the best time in {}, more than {} of the best processor time in {}",
        GOALS[0], lost[0], GOALS[1], lost[1]
    );
}

fn programs(machine: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines").join(machine).join("programs");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect();
    let is_included = |path: &PathBuf| INCLUDES.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "asm") && !is_included(path));
    paths.sort();
    paths
}

/// Prints a line; returns the steps, and how many times as long as the best engine `auto` took, in time and in
/// processor time.
fn compare(machine: &str, path: &Path) -> (u64, [f64; 2]) {
    let mut best = [[f64::INFINITY; 2]; OTHERS.len()];
    let mut auto = [f64::INFINITY; 2];
    let mut steps = 0;
    for _ in 0..ROUNDS {
        let (done, times) = run(machine, path, EngineKind::Auto);
        auto = least(auto, times);
        steps = done;
        for (kind, best) in OTHERS.into_iter().zip(&mut best) {
            if kind != EngineKind::Interpreter || steps <= FEW {
                *best = least(*best, run(machine, path, kind).1);
            }
        }
    }
    let winner = (0..OTHERS.len()).min_by(|one, other| best[*one][0].total_cmp(&best[*other][0])).unwrap_or(0);
    let goal = best.into_iter().reduce(least).unwrap_or(auto);
    let ratios = [auto[0] / goal[0], auto[1] / goal[1]];
    let title = format!("{machine} {}", path.file_stem().unwrap_or_default().to_string_lossy());
    let (milliseconds, winner) = (goal[0] * 1e3, OTHERS[winner].name());
    println!("{title:<24}{steps:>10}{milliseconds:>10.2}{winner:>8}{:>12.2}{:>11.2}", ratios[0], ratios[1]);
    (steps, ratios)
}

fn least(one: [f64; 2], other: [f64; 2]) -> [f64; 2] {
    [one[0].min(other[0]), one[1].min(other[1])]
}

/// Runs once from the beginning; returns the steps, and the seconds of its thread and of all threads.
fn run(machine: &str, path: &Path, kind: EngineKind) -> (u64, [f64; 2]) {
    let start = processor_time();
    let machine = Machine::built_in(machine).expect("it ships");
    let text = fs::read_to_string(path).expect("it can be read");
    let folder = Folder(path.parent().unwrap_or(path).to_owned());
    let image = machine.assemble_with(&path.to_string_lossy(), &text, &folder).expect("it assembles");
    let mut instance = machine.instance_on(kind).expect("it is there");
    instance.set_clock(processor_time);
    instance.load(&image);
    let input = path.with_file_name("expected").join(path.file_name().unwrap_or_default()).with_extension("in");
    instance.give_input(&fs::read(input).unwrap_or_default());
    instance.end_input();
    let run = instance.run_for(MOST);
    let time = processor_time().saturating_sub(start).as_secs_f64();
    let statistics = instance.statistics().filter(|_| kind == EngineKind::Auto);
    let compiling = statistics.map_or(0.0, |done| done.compile_time.as_secs_f64());
    (run.steps, [time, time + compiling])
}
