//! The benchmark programs, as they stand in `programs/`. They run for ever; a benchmark is
//! a number of steps.

/// A program of one machine.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The machine it is for.
    pub machine: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// Its source.
    pub text: &'static str,
}

macro_rules! programs {
    ($($machine:literal: $($name:literal)*;)*) => {
        /// All of them.
        pub const ALL: &[Program] = &[$($(Program {
            machine: $machine,
            name: $name,
            text: include_str!(concat!("../programs/", $machine, "/", $name, ".asm")),
        }),*),*];
    };
}

programs! {
    "hex8":    "sieve" "lfsr" "crc8" "fib";
    "quad8":   "marks" "lfsr" "fib";
    "duo16":   "sieve" "lfsr" "crc8" "fib";
    "stack8a": "lfsr" "crc8" "fib";
    "stack8b": "lfsr" "crc8" "fib";
    "mos6502": "sieve" "lfsr" "crc8" "fib";
    "sm83":    "sieve" "lfsr" "crc8" "fib";
    "lc3":     "sieve" "lfsr" "crc8" "fib";
    "rv32i":   "sieve" "lfsr" "crc8" "fib";
}

/// Those of one machine.
pub fn of(machine: &str) -> impl Iterator<Item = &'static Program> {
    ALL.iter().filter(move |program| program.machine == machine)
}
