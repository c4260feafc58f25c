//! `cargo xtask test`: all tests, with what they need beyond Rust.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::packages::{self, Package};
use crate::{cargo, exit};

/// Installs what is missing, unless told not to, and runs the tests.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let (install, arguments) = match arguments {
        ["--no-install", rest @ ..] => (false, rest),
        all => (true, all),
    };
    let missing = packages::missing();
    let complete = if install { provide(&missing) } else { missing.is_empty() };
    let skipped = packages::folder().join("skipped.txt");
    // Nothing of an earlier run is to be listed. That there is none is as good.
    let _ = std::fs::remove_file(&skipped);
    let mut command = cargo();
    command.args(["test", "--workspace", "--locked"]).args(arguments);
    command.env("LATHE_TOOLS", packages::folder());
    // Where everything could be installed, a tool that is not found is a mistake of ours.
    if complete {
        command.env("LATHE_TOOLS_REQUIRED", "1");
    }
    let code = exit(&mut command);
    list_skipped(&skipped);
    code
}

/// Installs packages; whether all of them are there now.
fn provide(missing: &[Package]) -> bool {
    if missing.is_empty() {
        return true;
    }
    let names: Vec<String> = missing.iter().map(Package::to_string).collect();
    eprintln!("installing what some tests need: {}", names.join(", "));
    let failed = packages::install(missing);
    for (package, reason) in &failed {
        eprintln!("warning: {package} could not be installed: {reason}; the tests that need it are skipped");
    }
    failed.is_empty()
}

/// The tests that were skipped: each wrote its name and what it missed.
fn list_skipped(file: &PathBuf) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    eprintln!("\nskipped, because a tool is missing (`cargo xtask test` without --no-install installs it):");
    lines.iter().for_each(|line| eprintln!("  {line}"));
}
