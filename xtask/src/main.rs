//! Chores of this project that are too long for an ordinary test run.

mod differential;
mod startup;
mod vectors;

use std::process::ExitCode;

const HELP: &str = "\
Chores of this project:

  cargo xtask vectors FOLDER [COUNT] [SEED]
      Writes single-step vectors of the five machines, COUNT for each first byte (40 if not
      given), from the models in crates/oracle. Then, for example:
      cargo run --release -p lathe -- verify -m quad8 FOLDER/quad8.json

  cargo xtask differential [--programs N] [--seed S] [--machine NAME|FILE.isa] [--engine NAME]
      Compares the fast engines with the reference interpreter on generated programs, N for
      each machine. Every disagreement is saved as assembly in target/differential, made as
      small as possible. The engines are fast, jit, jit-shared, and for single steps
      fast-steps and jit-steps.

  cargo xtask startup
      Builds the binary, and measures the time from the start of the process to the first
      instruction of the guest, for every machine.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: Option<&&str>, otherwise: u64| text.map_or(Ok(otherwise), |text| text.parse());
    if words.iter().any(|word| ["--help", "-h"].contains(word)) || words == ["help"] {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match words.as_slice() {
        ["vectors", folder, rest @ ..] if rest.len() <= 2 => match (number(rest.first(), 40), number(rest.get(1), 1)) {
            (Ok(count), Ok(seed)) => report(vectors::write(folder, count, seed)),
            _ => usage(),
        },
        ["startup"] => report(startup::measure()),
        ["differential", ..] => differential::run(&arguments[1..]),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("{HELP}");
    ExitCode::from(2)
}

fn report(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
