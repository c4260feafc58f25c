//! The machines that ship with Lathe, as text: definitions and sample programs. They are not special: each is a file in
//! `machines/` that a user could have written.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};

/// A machine that ships with Lathe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: &'static str,
    /// The text of its definition.
    pub definition: &'static str,
    /// Programs for it, and files that they include.
    pub programs: &'static [Program],
}

/// A program that ships with Lathe, or a file that a program includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its name, without `.asm`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! machines {
    ($(#[$about:meta])* $list:ident; $($name:literal: $($program:literal)*;)*) => {
        $(#[$about])*
        pub const $list: &[Machine] = &[$(Machine {
            name: $name,
            definition: include_str!(concat!("../../../machines/", $name, "/", $name, ".isa")),
            programs: &[$(Program {
                name: $program,
                text: include_str!(concat!("../../../machines/", $name, "/programs/", $program, ".asm")),
            }),*],
        }),*];
    };
}

// A test compares the programs with the contents of the folders.
#[rustfmt::skip]
machines! {
    /// The machines that are benchmarked: each has programs and a goal in `benches/`.
    ALL;
    "quad8":   "coroutines" "fibonacci" "guess" "hanoi" "hello" "jack" "lib" "library" "life" "macros" "mandelbrot" "primes" "sort";
    "duo16":   "calculator" "e" "emulate" "fibonacci" "guess" "hanoi" "hello" "lib" "life" "mandelbrot" "primes" "sort" "syscalls" "tasks" "words";
    "stack8a": "decimal" "fibonacci" "gcd" "hanoi" "hello" "lfsr" "lib" "life" "primes" "sort" "turing";
    "stack8b": "bf" "calculator" "fibonacci" "hanoi" "hello" "lib" "life" "monitor" "portrait" "primes" "sierpinski" "sort";
    "hex8":    "brainfuck" "collatz" "fibonacci" "hanoi" "hello" "lib" "library" "life" "macros" "mandelbrot" "primes" "selfmod" "sort";
    "sm83":    "brainfuck" "crc32" "decimal" "fibonacci" "hello" "lib" "life" "muldiv" "primes" "selftest" "sort";
    "mos6502": "crc32" "decimal" "fibonacci" "forth" "hello" "lib" "life" "muldiv" "primes" "selftest" "sort";
    "rv32i":   "calculator" "fibonacci" "hello" "lib" "mandelbrot" "matrix" "primes" "quicksort" "selftest" "traps";
    "chip8":   "ball" "counter" "digits" "keypad" "life" "maze" "selftest" "sierpinski" "steer";
    "lc3":     "arithmetic" "bubble" "count" "factorial" "fibonacci" "hello" "lib" "reverse" "selftest";
}

#[rustfmt::skip]
machines! {
    /// The machines that are not benchmarked.
    FURTHER;
    "z80":      "blocks" "brackets" "decimal" "fibonacci" "hello" "lib" "muldiv" "primes" "registers" "sort";
    "mos6502x": "compare" "count" "divide" "hello" "lib" "mask" "parity" "rotate" "skip";
    "w65c02":   "bits" "decimal" "fibonacci" "hello" "lib" "masks" "primes" "stack" "table";
    "avr":      "crc" "fibonacci" "hanoi" "hello" "lib" "primes" "registers" "skips" "sort";
    "i8051":    "banks" "bits" "decimal" "fibonacci" "hello" "lib" "parity" "primes" "sort";
    "superchip": "digits" "flags" "halves" "jumps" "rows" "scroll" "sierpinski" "tiles";
    "gameboy":  "banks" "divider" "frames" "hello" "keys" "lib" "save" "ticks" "tiles" "wave";
    "i8080":    "decimal" "fibonacci" "hello" "lib" "muldiv" "parity" "primes" "reverse" "sort" "vectors";
    "pdp11":    "coroutines" "fibonacci" "hanoi" "hello" "lib" "octal" "primes" "sort" "traps";
    "pdp8":     "fibonacci" "hello" "interrupts" "lib" "multiply" "octal" "primes" "shout" "sort";
    "rv32imc":  "collatz" "crc" "fibonacci" "hanoi" "hello" "lib" "primes" "sizes" "sort";
    "rv64i":    "factorial" "fibonacci" "hash" "hello" "lib" "random" "sort" "square" "words";
    "msp430":   "checksum" "decimal" "fibonacci" "hanoi" "hello" "lib" "primes" "shout" "sort";
}

/// Yields every machine that ships.
pub fn every() -> impl Iterator<Item = Machine> + Clone {
    ALL.iter().chain(FURTHER).copied()
}

/// Finds a machine by name.
pub fn find(name: &str) -> Option<Machine> {
    every().find(|machine| machine.name == name)
}

/// Files from elsewhere, and the shipped machines by name, so that definitions can extend them: `extends mos6502`.
#[derive(Clone, Copy)]
pub struct WithShipped<'f>(pub &'f dyn Files);

/// The machines that ship with Lathe, and no other files.
#[derive(Clone, Copy, Debug)]
pub struct Shipped;

/// The prefix of shipped definitions' names. What these extend ships as well: a file of the same name elsewhere is
/// ignored.
const SHIPPED: &str = "lathe:";

impl Files for Shipped {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let machine = find(name).ok_or_else(|| FileError("no machine of this name comes with Lathe".to_owned()))?;
        Ok(Found { name: format!("{SHIPPED}{name}.isa"), bytes: machine.definition.as_bytes().to_vec() })
    }
}

impl Files for WithShipped<'_> {
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError> {
        let shipped = Shipped.open(from, name);
        if shipped.is_ok() || from.starts_with(SHIPPED) { shipped } else { self.0.open(from, name) }
    }
}

impl Machine {
    /// Returns its definition under its name, to load with [`Shipped`] for what it extends.
    pub fn source(&self) -> Source {
        Source::new(format!("{}.isa", self.name), self.definition)
    }

    /// Finds a program by name, with or without `.asm`.
    pub fn program(&self, name: &str) -> Option<Program> {
        let name = name.strip_suffix(".asm").unwrap_or(name);
        self.programs.iter().copied().find(|program| program.name == name)
    }
}

impl Program {
    /// Returns what it says about itself, on the first line of its first comment: `; name.asm: says hello`.
    pub fn title(&self) -> &'static str {
        let mut lines = self.text.lines().map(|line| line.trim_start_matches([';', '#', '/', ' ', '*']).trim());
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('.')).unwrap_or("");
        first.split_once(".asm: ").map_or(first, |(_, title)| title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)]
    fn the_programs_are_those_of_the_folders() {
        for machine in every() {
            let folder = format!("{}/../../machines/{}/programs", env!("CARGO_MANIFEST_DIR"), machine.name);
            let entries = std::fs::read_dir(folder).expect("there are programs");
            let names = entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
            let mut names: Vec<String> =
                names.filter_map(|name| name.strip_suffix(".asm").map(str::to_owned)).collect();
            names.sort();
            assert_eq!(
                machine.programs.iter().map(|program| program.name).collect::<Vec<_>>(),
                names,
                "{}",
                machine.name
            );
        }
    }
}
