//! Other emulators to compare machines with: they take commands on their standard input.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lathe_isa::Isa;
use lathe_vm::State;

/// Returns what an emulator prints for a script.
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

/// Returns the values that SIMH shows, in order: after a name or an address, `:` and a tab.
pub fn simh_values(output: &str) -> Vec<u64> {
    let shown = output.lines().filter_map(|line| line.split_once(":\t"));
    shown.filter_map(|(_, value)| u64::from_str_radix(value.trim(), 8).ok()).collect()
}

/// Sets registers by name. A name that the definition does not have is the program counter's.
pub fn set_registers(isa: &Isa, state: &mut State, names: &[&str], values: &[u64]) {
    for (name, value) in names.iter().zip(values) {
        match isa.place_named(name) {
            Some(place) => state.set_place(isa, &place, *value),
            None => state.pc = *value,
        }
    }
}

/// Returns the contents of the registers with these names, as [`set_registers`] takes them.
pub fn registers(isa: &Isa, state: &State, names: &[&str]) -> Vec<u64> {
    names.iter().map(|name| isa.place_named(name).map_or(state.pc, |place| state.place(&place))).collect()
}

/// Returns a number from the environment, such as how many states to compare.
pub fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}
