//! Chores of this project: the test command, and everything too long for an ordinary test run.

#[cfg(feature = "engines")]
mod differential;
mod nightly;
mod packages;
mod prove;
#[cfg(feature = "engines")]
mod startup;
mod test;
#[cfg(feature = "engines")]
mod vectors;
mod web;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const HELP: &str = "\
Chores of this project:

  cargo xtask test [--no-install] [ARGUMENTS OF cargo test]
      Runs all tests; without arguments also those of the playground, in a browser. First installs
      what some of them need beyond Rust (xtask/packages.txt), with the system's package manager,
      pip and npm, and says so. With --no-install nothing is installed, and tests whose tools are
      missing are skipped and listed by name.

  cargo xtask picture
      Makes docs/picture.svg and docs/debugger.svg anew, the pictures in the README and in the
      debugger's guide, by running the real program.

  cargo xtask web [--serve [PORT] | test | picture | pictures]
      Builds the playground into target/web, as files that any static host can serve. Needs Node;
      WebAssembly comes from rustup's target wasm32-unknown-unknown, or from Debian's compiler
      (packages rustc-web cargo-web rust-web-src lld-22). --serve serves it on loopback, test
      compares it with the native build and drives it with Chromium. picture makes
      docs/playground.png anew; pictures makes all of them, at desktop and phone width, light
      and dark, in target/pictures.

  cargo xtask edits [COUNT [SEED [FILE]]]
      So many random edits (10,000) in the language server, of each shipped definition, of programs
      of each machine, and of broken files; or only of files whose name has FILE in it. No answer
      may be a crash, and findings are compared with those of the command line.

  cargo xtask nightly [--seed S]
      The long versions of the tests: more random states, more generated programs, 10,000 random
      edits of each file in the language server. Then a check for other computers, and Miri, where rustup has
      them. Takes hours; prints the seed, and the commands as it goes.

  cargo xtask cosim [INSTRUCTIONS [SEED]]
      The cores of `lathe hdl` beside the interpreter, for all machines, on their programs and on
      generated ones, until so many instructions (1,000,000,000 over all machines) have been
      compared; and the gates of the five small ones. Needs verilator, iverilog and yosys.

  cargo xtask prove [--timeout SECONDS] [MACHINE ...]
      Proves the cores of `lathe hdl`, of all machines or of some, instruction by instruction, and
      prints a table. A solver has so many seconds (120) for each. Needs yosys and z3; takes hours.

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
    // `cargo xtask test -- --help` asks the tests for help, not this program.
    let own = words.iter().take_while(|word| **word != "--");
    if own.clone().any(|word| ["--help", "-h"].contains(word)) || words == ["help"] {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match words.as_slice() {
        ["test", rest @ ..] => test::run(rest),
        ["picture"] => picture(),
        ["web", rest @ ..] => web::run(rest),
        ["prove", "--timeout", seconds, wanted @ ..] => {
            seconds.parse().map_or_else(|_| usage(), |seconds| prove::run(seconds, wanted))
        }
        ["prove", wanted @ ..] => prove::run(120, wanted),
        ["cosim"] => cosim("1000000000", "1"),
        ["cosim", instructions] => cosim(instructions, "1"),
        ["cosim", instructions, seed] => cosim(instructions, seed),
        ["edits", rest @ ..] if rest.len() <= 3 => edits(rest),
        ["nightly"] => nightly::run(1),
        ["nightly", "--seed", seed] => seed.parse().map_or_else(|_| usage(), nightly::run),
        ["vectors" | "differential" | "startup", ..] => with_engines(&arguments),
        _ => usage(),
    }
}

/// Makes the pictures with the tests that compare them. One is of the debugger's screen, and needs tmux.
fn picture() -> ExitCode {
    let made = [("picture", "the_picture"), ("faces", "the_guide_shows")].iter().all(|(test, filter)| {
        let mut command = cargo();
        command.args(["test", "--package", "lathe", "--test", test, filter]).env("LATHE_UPDATE", "1");
        command.status().is_ok_and(|status| status.success())
    });
    if made { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many machines' cores are compared: all but gameboy's.
const CORES: u64 = 22;

/// Runs the long version of the hardware tests, with everything that they need.
fn cosim(instructions: &str, seed: &str) -> ExitCode {
    let (Ok(instructions), true) = (instructions.parse::<u64>(), seed.parse::<u64>().is_ok()) else { return usage() };
    let each = instructions.div_ceil(CORES).to_string();
    // A core and the interpreter beside it use two processes, and their speed is measured.
    let pairs = std::thread::available_parallelism().map_or(1, |processors| processors.get().div_ceil(2)).to_string();
    let mut command = cargo();
    command.args([
        "test",
        "--release",
        "--package",
        "lathe-tests",
        "--test",
        "hardware",
        "--test",
        "hardware_tools",
        "--",
        "--nocapture",
        "--test-threads",
        &pairs,
    ]);
    command.envs([("LATHE_COSIM", each.as_str()), ("LATHE_SEED", seed), ("LATHE_TOOLS_REQUIRED", "1")]);
    exit(&mut command)
}

/// The command that edits files in the language server. It reports each file as it finishes it.
const EDITS: [&str; 10] =
    ["test", "--package", "lathe-lsp", "--locked", "--release", "--test", "edits", "random_edits", "--", "--nocapture"];

/// Makes random edits, with a count and a seed, in some files.
fn edits(rest: &[&str]) -> ExitCode {
    let given = |at: usize, otherwise| rest.get(at).copied().unwrap_or(otherwise);
    let (count, seed, file) = (given(0, "10000"), given(1, "13"), given(2, ""));
    if count.parse::<u64>().is_err() || seed.parse::<u64>().is_err() {
        return usage();
    }
    let mut command = cargo();
    command.args(EDITS).envs([("LATHE_EDITS", count), ("LATHE_SEED", seed), ("LATHE_FILE", file)]);
    exit(&mut command)
}

/// Runs a command that needs the engines.
#[cfg(feature = "engines")]
fn with_engines(arguments: &[String]) -> ExitCode {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let number = |text: Option<&&str>, otherwise: u64| text.map_or(Ok(otherwise), |text| text.parse());
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

/// Runs a command that needs the engines: builds this program once more, with them.
#[cfg(not(feature = "engines"))]
fn with_engines(arguments: &[String]) -> ExitCode {
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--features", "engines", "--"]).args(arguments);
    exit(&mut command)
}

/// Returns Cargo, at the root of the project.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Returns the root of the project.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a command, and exits with its status.
fn exit(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("error: {} cannot be started: {error}", command.get_program().to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("{HELP}");
    ExitCode::from(2)
}

#[cfg(feature = "engines")]
fn report(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
