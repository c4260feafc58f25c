//! Compares the fast engines with the reference interpreter on many generated programs.
//!
//! A disagreement is saved as soon as it is found and again whenever it gets smaller, so the command can be interrupted
//! at any time. The line of progress says where to continue.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::{Jit, SharedCode};
use lathe_tests::differential::{Contestant, Disagreement, compare, later, save, text};

use crate::usage;

/// Programs between two checks of the clock.
const CHUNK: u64 = 64;
/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(10);
/// The engines for single steps, which are slow, run one in this many chunks.
const SINGLE_STEPS: u64 = 64;

struct Job {
    programs: u64,
    seed: u64,
    machine: Option<String>,
    engine: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let job = match read(arguments) {
        Ok(job) => job,
        Err(problem) => {
            eprintln!("error: {problem}");
            return usage();
        }
    };
    let mut isas = Vec::new();
    for (name, isa) in machines(job.machine.as_deref()) {
        let Some(isa) = isa else {
            eprintln!("error: {name} is not a machine that ships, and no right definition; `lathe check` says more");
            return ExitCode::FAILURE;
        };
        isas.push((name, isa));
    }
    let contests: Vec<Contest> = isas.iter().map(|(name, isa)| Contest::new(name, isa, &job)).collect();
    if contests.iter().all(|contest| contest.engines.is_empty()) {
        eprintln!("error: there is no such engine");
        return usage();
    }
    go(&job, contests)
}

/// Returns one machine, by name or file, or all that ship; without an instruction set if the definition has errors.
fn machines(wanted: Option<&str>) -> Vec<(String, Option<Arc<Isa>>)> {
    let shipped = lathe_machines::ALL.iter().filter(|machine| wanted.is_none_or(|wanted| wanted == machine.name));
    let load = |source| lathe_isa::load_with(source, &lathe_machines::Shipped).isa.map(Arc::new);
    let shipped: Vec<_> = shipped.map(|machine| (machine.name.to_owned(), load(machine.source()))).collect();
    match wanted {
        Some(path) if shipped.is_empty() => {
            let definition = std::fs::read_to_string(path).unwrap_or_default();
            vec![(path.to_owned(), lathe_isa::load(&definition).isa.map(Arc::new))]
        }
        _ => shipped,
    }
}

fn read(arguments: &[String]) -> Result<Job, String> {
    let mut job = Job { programs: 1_000_000, seed: 1, machine: None, engine: None };
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("`{}` needs a value", pair[0])) };
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is not a number"));
        match name.as_str() {
            "--programs" => job.programs = number()?,
            "--seed" => job.seed = number()?,
            "--machine" => job.machine = Some(value.clone()),
            "--engine" => job.engine = Some(value.clone()),
            _ => return Err(format!("`{name}` is not known")),
        }
    }
    Ok(job)
}

/// One machine with the engines to compare on it.
struct Contest<'i> {
    machine: &'i str,
    isa: &'i Arc<Isa>,
    /// The engines, each with its number of disagreements.
    engines: Vec<(Contestant, u64)>,
}

impl<'i> Contest<'i> {
    fn new(machine: &'i str, isa: &'i Arc<Isa>, job: &Job) -> Self {
        let code = SharedCode::with_threshold(isa, 2);
        let engines = [
            Contestant::new("fast", Fast::eager),
            Contestant::new("jit", |isa| Jit::with_threshold(isa, 2)),
            Contestant::new("jit-later", |isa| {
                Jit::sharing(&SharedCode::with_threshold(isa, 2).in_background(later(2)))
            }),
            Contestant::new("jit-thread", |isa| {
                let elsewhere = Arc::new(|job| drop(std::thread::spawn(job)));
                Jit::sharing(&SharedCode::with_threshold(isa, 2).in_background(elsewhere))
            }),
            Contestant::new("jit-shared", move |_| Jit::sharing(&code)),
            Contestant::new("fast-steps", Fast::stepping),
            Contestant::new("jit-steps", Jit::stepping),
        ];
        let wanted = |engine: &Contestant| job.engine.as_ref().is_none_or(|wanted| wanted == engine.name);
        Contest { machine, isa, engines: engines.into_iter().filter(wanted).map(|engine| (engine, 0)).collect() }
    }

    /// Compares the programs of these seeds on all engines; returns how many programs were run.
    fn compare(&mut self, seeds: &std::ops::Range<u64>, is_alone: bool) -> u64 {
        let (isa, machine) = (self.isa, self.machine);
        let mut compared = 0;
        for (engine, disagreements) in &mut self.engines {
            let sparse = engine.name.ends_with("-steps") && !is_alone;
            if sparse && !(seeds.start / CHUNK).is_multiple_of(SINGLE_STEPS) {
                continue;
            }
            let mut keep = |found: &Disagreement| drop(save(&folder(), isa, machine, engine, found));
            match compare(isa, seeds.clone(), engine, &mut keep) {
                Ok(()) => compared += seeds.end - seeds.start,
                Err(found) => {
                    *disagreements += 1;
                    show(isa, machine, engine, &found);
                }
            }
        }
        compared
    }

    fn disagreements(&self) -> u64 {
        self.engines.iter().map(|(_, disagreements)| disagreements).sum()
    }
}

/// Compares everything, a few programs of each machine in turn.
fn go(job: &Job, mut contests: Vec<Contest>) -> ExitCode {
    let last = job.seed.saturating_add(job.programs);
    let (mut from, mut compared, mut shown) = (job.seed, 0, Instant::now());
    let tell = |from: u64, compared: u64, contests: &[Contest]| {
        let found: u64 = contests.iter().map(Contest::disagreements).sum();
        eprintln!(
            "{} of {} programs for each machine, {compared} runs agree, {found} disagree; go on with --seed {from}",
            from - job.seed,
            job.programs,
        );
    };
    while from < last {
        // Up to where a new engine is made, so that a continued run finds the same.
        let to = (from / CHUNK + 1).saturating_mul(CHUNK).min(last);
        for contest in &mut contests {
            compared += contest.compare(&(from..to), job.engine.is_some());
        }
        from = to;
        if shown.elapsed() >= PROGRESS {
            tell(from, compared, &contests);
            shown = Instant::now();
        }
    }
    tell(from, compared, &contests);
    let agree = contests.iter().all(|contest| contest.disagreements() == 0);
    if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the folder in which disagreements are saved.
fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.join("differential")
}

fn show(isa: &Isa, machine: &str, engine: &Contestant, found: &Disagreement) {
    println!("{}", text(isa, machine, engine, found));
    match save(&folder(), isa, machine, engine, found) {
        Ok(path) => println!("saved as {}", path.display()),
        Err(error) => println!("it could not be saved: {error}"),
    }
}
