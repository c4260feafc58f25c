//! Compares the fast engines with the reference interpreter on many generated programs.

use std::process::ExitCode;

use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_tests::differential::compare;
use lathe_vm::Fast;

use crate::usage;

/// Programs between two lines of progress.
const CHUNK: u64 = 5_000;

struct Job {
    programs: u64,
    seed: u64,
    machine: Option<String>,
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
    for definition in definitions(job.machine.as_deref()) {
        let Some(isa) = lathe_isa::load(&definition).isa else {
            eprintln!("error: the definition is wrong; `lathe check` says how");
            return ExitCode::FAILURE;
        };
        if let Err(disagreement) = compare_machine(&isa, &job) {
            return save(&isa, &disagreement);
        }
    }
    ExitCode::SUCCESS
}

/// The definition of one machine, by name or file, or of all that ship.
fn definitions(wanted: Option<&str>) -> Vec<String> {
    let shipped = lathe_machines::ALL.iter().filter(|machine| wanted.is_none_or(|wanted| wanted == machine.name));
    let shipped: Vec<String> = shipped.map(|machine| machine.definition.to_owned()).collect();
    match wanted {
        Some(path) if shipped.is_empty() => vec![std::fs::read_to_string(path).unwrap_or_default()],
        _ => shipped,
    }
}

fn read(arguments: &[String]) -> Result<Job, String> {
    let mut job = Job { programs: 1_000_000, seed: 1, machine: None };
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { return Err(format!("`{}` needs a value", pair[0])) };
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is not a number"));
        match name.as_str() {
            "--programs" => job.programs = number()?,
            "--seed" => job.seed = number()?,
            "--machine" => job.machine = Some(value.clone()),
            _ => return Err(format!("`{name}` is not known")),
        }
    }
    Ok(job)
}

fn compare_machine(isa: &Isa, job: &Job) -> Result<(), String> {
    let last = job.seed.saturating_add(job.programs);
    let mut from = job.seed;
    while from < last {
        let to = from.saturating_add(CHUNK).min(last);
        compare(isa, from..to, &Fast::new).map_err(|text| format!("; fast, {text}"))?;
        compare(isa, from..to, &|isa| Jit::with_threshold(isa, 2)).map_err(|text| format!("; jit, {text}"))?;
        from = to;
        eprintln!("{}: {} of {} programs agree (seeds from {})", isa.name, from - job.seed, job.programs, job.seed);
    }
    Ok(())
}

fn save(isa: &Isa, disagreement: &str) -> ExitCode {
    let path = format!("differential-{}.asm", isa.name);
    println!("{disagreement}");
    match std::fs::write(&path, disagreement) {
        Ok(()) => println!("saved as {path}"),
        Err(error) => println!("{path} could not be written: {error}"),
    }
    ExitCode::FAILURE
}
