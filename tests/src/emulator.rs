//! Other emulators, which machines are compared with: they take commands on their standard input.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// What an emulator prints when it is given this script.
///
/// # Panics
/// If it cannot be started or does not read everything.
pub fn answer(program: &Path, arguments: &[&str], script: String) -> String {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("no panic").expect("it reads everything");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The values that SIMH shows, in order: after a name or an address, `:` and a tab.
pub fn simh_values(output: &str) -> Vec<u64> {
    let shown = output.lines().filter_map(|line| line.split_once(":\t"));
    shown.filter_map(|(_, value)| u64::from_str_radix(value.trim(), 8).ok()).collect()
}

/// A number from the environment, such as how many states to compare.
pub fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
