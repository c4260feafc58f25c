//! `cargo xtask nightly`: the long versions of the ordinary tests, which take minutes.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::{EDITS, cargo, exit, root};

/// How much of each test is run. The ordinary tests read the same variables, with smaller defaults.
const LONG: [(&str, &str); 3] = [("LATHE_STATES", "10000"), ("LATHE_PROGRAMS", "20000"), ("LATHE_EDITS", "10000")];

/// Other platforms that the workspace is checked for. The page's WebAssembly is built by its own tests.
const TARGETS: [&str; 2] = ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"];

/// Runs everything in sequence; the first failure ends it.
pub(crate) fn run(seed: u64) -> ExitCode {
    println!("seed {seed}: the same again with `cargo xtask nightly --seed {seed}`");
    let seed = seed.to_string();
    let steps: [&[&str]; 4] = [
        &["test", "--workspace", "--locked", "--release", "--", "--skip", "random_edits"],
        // Run separately: it takes a few minutes per file.
        &EDITS,
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
    if TARGETS.iter().all(|target| checks_for(target)) && passes_miri() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Checks the workspace for another platform; if that is not possible here, says so.
fn checks_for(target: &str) -> bool {
    let mut libraries = Command::new("rustc");
    libraries.args(["--print", "target-libdir", "--target", target]);
    let folder = libraries.output().ok().and_then(|output| String::from_utf8(output.stdout).ok());
    if !folder.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        println!("not checked for {target}: `rustup target add {target}` would be needed");
        return true;
    }
    let mut command = cargo();
    command.args(["check", "--workspace", "--locked", "--target", target]);
    println!("cargo check --workspace --target {target}");
    exit(&mut command) == ExitCode::SUCCESS
}

/// Runs Miri, which finds undefined behaviour, on what it can run. It can neither map inaccessible memory nor enter
/// compiled code, and the unsafe code does nothing else: so this tests the code just above it.
fn passes_miri() -> bool {
    let mut miri = Command::new("cargo");
    miri.args(["+nightly", "miri", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !miri.status().is_ok_and(|status| status.success()) {
        println!("no Miri: `rustup +nightly component add miri rust-src` would be needed");
        return true;
    }
    let packages = ["--package", "lathe-vm", "--package", "lathe-fast"];
    let arguments =
        [&["+nightly", "miri", "test"], &packages[..], &["--lib", "--target-dir", "target/miri", "--"]].concat();
    println!("cargo {} memory pages state code_map", arguments.join(" "));
    let mut command = Command::new("cargo");
    command.current_dir(root()).args(arguments).args(["memory", "pages", "state", "code_map"]);
    exit(&mut command) == ExitCode::SUCCESS
}
