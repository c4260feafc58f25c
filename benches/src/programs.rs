//! The benchmark programs in `programs/`. They run for ever; a benchmark is a number of steps.

/// A program of one machine.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The machine it is for.
    pub machine: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its source.
    pub text: &'static str,
    /// Whether it changes its own code. If so, it is shown apart, and does not count for the mean.
    pub changes_itself: bool,
}

macro_rules! programs {
    ($list:ident, $changes_itself:literal: $($machine:literal: $($name:literal)*;)*) => {
        const $list: &[Program] = &[$($(Program {
            machine: $machine,
            name: $name,
            text: include_str!(concat!("../programs/", $machine, "/", $name, ".asm")),
            changes_itself: $changes_itself,
        }),*),*];
    };
}

programs! { ORDINARY, false:
    "hex8":    "sieve" "lfsr" "crc8" "fib";
    "quad8":   "marks" "lfsr" "fib";
    "duo16":   "sieve" "lfsr" "crc8" "fib";
    "stack8a": "lfsr" "crc8" "fib";
    "stack8b": "lfsr" "crc8" "fib";
    "mos6502": "sieve" "lfsr" "crc8" "fib";
    "sm83":    "sieve" "lfsr" "crc8" "fib";
    "lc3":     "sieve" "lfsr" "crc8" "fib";
    "rv32i":   "sieve" "lfsr" "crc8" "fib";
    "chip8":   "sieve" "lfsr" "crc8" "fib";
}

programs! { CHANGING, true:
    "hex8":  "patch" "flip";
    "duo16": "patch";
}

/// Returns all programs, those that change themselves last.
pub fn all() -> impl Iterator<Item = &'static Program> {
    ORDINARY.iter().chain(CHANGING)
}

/// Returns the programs of one machine.
pub fn of(machine: &str) -> impl Iterator<Item = &'static Program> {
    all().filter(move |program| program.machine == machine)
}
