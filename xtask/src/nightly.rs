//! `cargo xtask nightly`: the long versions of what the ordinary tests do in minutes.

use std::process::ExitCode;

use crate::{cargo, exit};

/// What is run, with how much of it. The ordinary tests read the same variables, with smaller numbers.
const LONG: [(&str, &str); 3] = [("LATHE_STATES", "10000"), ("LATHE_PROGRAMS", "20000"), ("LATHE_EDITS", "10000")];

/// Runs all of it, one after the other; the first failure ends it.
pub(crate) fn run(seed: u64) -> ExitCode {
    println!("seed {seed}: the same again with `cargo xtask nightly --seed {seed}`");
    let seed = seed.to_string();
    let steps: [&[&str]; 3] = [
        &["test", "--workspace", "--locked", "--release"],
        // The build of the README's first command, which leaves things out and must say so.
        &["test", "--package", "lathe", "--locked", "--no-default-features", "--profile", "quick", "--test", "cli"],
        &["xtask", "differential", "--programs", "1000000", "--seed", &seed],
    ];
    for step in steps {
        println!("cargo {}", step.join(" "));
        let mut command = cargo();
        command.args(step).envs(LONG).env("LATHE_SEED", &seed);
        let code = exit(&mut command);
        if code != ExitCode::SUCCESS {
            return code;
        }
    }
    ExitCode::SUCCESS
}
