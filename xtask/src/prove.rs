//! `cargo xtask prove`: proves the cores of all machines, instruction by instruction, and prints a table.

use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::{cargo, exit, root};

/// The machine without a core: its code is fetched through a map.
const LEFT_OUT: &str = "gameboy";

/// Proves the cores of some machines, or of all; the table is that of `docs/hardware.md`.
pub(crate) fn run(timeout: u64, wanted: &[&str]) -> ExitCode {
    let built = exit(cargo().args(["build", "--release", "--locked", "--package", "lathe", "--no-default-features"]));
    if built != ExitCode::SUCCESS {
        return built;
    }
    let Some(machines) = machines(wanted) else {
        eprintln!("there is no folder `machines`");
        return ExitCode::FAILURE;
    };
    println!("| machine | claims | proven | refuted | undecided | seconds |\n|---|---|---|---|---|---|");
    let mut is_right = true;
    for machine in machines {
        let begin = Instant::now();
        let Some(Count { claims, proven, refuted, undecided }) = prove(&machine, timeout) else {
            println!("| {machine} | `lathe prove -m {machine}` failed | | | | |");
            is_right = false;
            continue;
        };
        let seconds = begin.elapsed().as_secs();
        println!("| {machine} | {claims} | {proven} | {refuted} | {undecided} | {seconds} |");
        is_right &= refuted == 0;
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns the names of the machines that ship, or those that are wanted.
fn machines(wanted: &[&str]) -> Option<Vec<String>> {
    if !wanted.is_empty() {
        return Some(wanted.iter().map(|name| (*name).to_owned()).collect());
    }
    let folders = std::fs::read_dir(root().join("machines")).ok()?.filter_map(Result::ok);
    let names = folders.filter_map(|folder| folder.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name != LEFT_OUT).collect();
    names.sort();
    Some(names)
}

struct Count {
    claims: u64,
    proven: u64,
    refuted: u64,
    undecided: u64,
}

/// Returns what `lathe prove` says in its last line.
fn prove(machine: &str, timeout: u64) -> Option<Count> {
    let mut command = Command::new(root().join("target/release/lathe"));
    command.args(["prove", "-m", machine, "--timeout", &timeout.to_string()]);
    let output = command.output().ok()?;
    count(String::from_utf8_lossy(&output.stdout).lines().last()?)
}

/// Reads a line such as `quad8: 22 of 24 claims proven, 1 refuted, 1 not decided in 120 s`.
fn count(line: &str) -> Option<Count> {
    let (_, counts) = line.split_once(": ")?;
    let (proven, rest) = counts.split_once(" of ")?;
    let (claims, rest) = rest.split_once(" claims proven")?;
    let number = |word: &str| {
        let before = rest.split(", ").find_map(|part| part.split_once(word));
        before.map_or(Some(0), |(number, _)| number.trim().parse().ok())
    };
    let (refuted, undecided) = (number(" refuted")?, number(" not decided")?);
    Some(Count { claims: claims.parse().ok()?, proven: proven.parse().ok()?, refuted, undecided })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_counted() {
        let all = |line| count(line).map(|count| [count.claims, count.proven, count.refuted, count.undecided]);
        assert_eq!(all("quad8: 24 of 24 claims proven"), Some([24, 24, 0, 0]));
        assert_eq!(all("a: 2 of 5 claims proven, 1 refuted, 2 not decided in 120 s"), Some([5, 2, 1, 2]));
        assert_eq!(all("error: it is not installed"), None);
    }
}
