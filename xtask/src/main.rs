//! Longer jobs for people who work on Lathe.
//!
//! `cargo xtask differential [--programs N] [--seed S] [--machine NAME]` compares the fast
//! engines with the reference interpreter on generated programs, with progress, and saves
//! the shortest program on which they disagree.

mod differential;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, rest)) if command == "differential" => differential::run(rest),
        _ => usage("a command is missing"),
    }
}

/// Says what is wrong with the command line.
fn usage(problem: &str) -> ExitCode {
    eprintln!("{problem}\nusage: cargo xtask differential [--programs N] [--seed S] [--machine NAME]");
    ExitCode::from(2)
}
