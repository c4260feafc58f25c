//! `cargo xtask test`: all tests, with the tools that they need beyond Rust.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::packages::{self, Package};
use crate::{cargo, exit, web};

/// Installs what is missing, unless told not to, and runs the tests.
pub(crate) fn run(arguments: &[&str]) -> ExitCode {
    let (install, arguments) = match arguments {
        ["--no-install", rest @ ..] => (false, rest),
        all => (true, all),
    };
    let missing = packages::missing();
    let complete = if install { provide(&missing) } else { missing.is_empty() };
    let skipped = packages::folder().join("skipped.txt");
    // The list must not contain anything from an earlier run. A missing file is fine.
    let _ = std::fs::remove_file(&skipped);
    let mut command = cargo();
    command.args(["test", "--workspace", "--locked"]).args(arguments);
    command.env("LATHE_TOOLS", packages::folder());
    // If everything could be installed, a missing tool is our mistake.
    if complete {
        command.env("LATHE_TOOLS_REQUIRED", "1");
    }
    let mut code = exit(&mut command);
    // Arguments select some of Cargo's tests; without any, the page is tested too.
    if arguments.is_empty() && code == ExitCode::SUCCESS {
        code = test_page(install, complete, &skipped);
    }
    list_skipped(&skipped);
    code
}

/// Builds the playground and tests it in a browser, or notes what is missing for that.
fn test_page(install: bool, complete: bool, skipped: &Path) -> ExitCode {
    match web::missing_for_tests(install) {
        None => web::run(&["test"]),
        Some(missing) if complete => {
            eprintln!("error: the tests of the playground need {missing}");
            ExitCode::FAILURE
        }
        Some(missing) => {
            note_skipped(skipped, &format!("the tests of the playground need {missing}\n"));
            ExitCode::SUCCESS
        }
    }
}

/// Adds a line to the list of what was skipped. The list only informs, so a failure to write it is ignored.
fn note_skipped(file: &Path, line: &str) {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(file);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Installs packages; returns whether all of them are there now.
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

/// Prints the skipped tests: each wrote its name and what it lacked.
fn list_skipped(file: &Path) {
    let Ok(text) = std::fs::read_to_string(file) else { return };
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    eprintln!("\nskipped, because a tool is missing (`cargo xtask test` without --no-install installs it):");
    lines.iter().for_each(|line| eprintln!("  {line}"));
}
