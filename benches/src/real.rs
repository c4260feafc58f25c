//! Programs as people write them, for `lathe bench --real`: made of many warm places instead of one hot loop, with jump
//! tables, nested calls, and code that is patched. They are in `real/`, and end by writing a checksum; `tests/real.rs`
//! computes the same by other means.

use std::fmt;

use lathe_asm::Image;
use lathe_base::files::MemoryFiles;
use lathe_embed::{Error, Machine};

/// A program of one machine.
#[derive(Clone, Copy)]
pub struct Program {
    /// The machine it is for.
    pub machine: &'static str,
    /// The kind of work it does; programs of one name do the same on different machines, or nearly.
    pub name: &'static str,
    /// Its source, in which `ROUNDS` says how long it runs.
    pub text: &'static str,
    /// What the programs of its machine share: `lib.asm`.
    library: &'static str,
}

/// The most rounds that all programs can count: each of them takes more than 500 million instructions for these.
pub const MOST_ROUNDS: u32 = 65_535;

/// The lengths that are measured by default, in instructions.
pub const LENGTHS: [u64; 3] = [1_000_000, 10_000_000, 100_000_000];

macro_rules! programs {
    ($($machine:literal: $($name:literal)*;)*) => {
        /// All of them.
        pub const ALL: &[Program] = &[$($(Program {
            machine: $machine,
            name: $name,
            text: include_str!(concat!("../real/", $machine, "/", $name, ".asm")),
            library: include_str!(concat!("../real/", $machine, "/lib.asm")),
        }),*),*];
    };
}

programs! {
    "hex8":    "states" "text";
    "duo16":   "compress" "search";
    "mos6502": "interpreter" "states" "suite";
    "sm83":    "compress" "suite";
    "lc3":     "search" "sort";
    "rv32i":   "interpreter" "sort" "text";
}

impl Program {
    /// Assembles the program, to run for this many rounds.
    ///
    /// # Errors
    /// None, if the program is correct and `machine` is its machine.
    pub fn assemble(&self, machine: &Machine, rounds: u32) -> Result<Image, Error> {
        let files = MemoryFiles([("lib.asm".to_owned(), self.library.as_bytes().to_vec())].into());
        machine.assemble_with(self.name, &format!("ROUNDS = {rounds}\n{}", self.text), &files)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.machine, self.name)
    }
}
