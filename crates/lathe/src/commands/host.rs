//! The host that test programs report to, as in RISC-V's tests and simulators: a program writes to its variable
//! `tohost`. An odd number ends it, 1 with success and any other with the number of the failed test; an even number
//! requests a device or a system call, of which console output works.

use lathe_asm::Symbol;
use lathe_embed::Instance;
use lathe_isa::model::MemoryId;
use lathe_vm::{Stops, Watch};

use crate::program::Program;

/// The upper half of a word whose lower half is a character for the console.
const PUT_CHARACTER: u64 = 0x0101_0000;
/// 32-bit programs write the two halves separately, within this many instructions.
const HALVES: u64 = 8;
/// Numbers of system calls.
const WRITE: u64 = 64;
const EXIT: u64 = 93;
/// The result of an unknown system call: "not implemented".
const UNKNOWN: u64 = -38i64 as u64;
/// The most bytes that one call writes.
const LONGEST: u64 = 1 << 20;

/// Where the program and its host communicate.
pub(super) struct Host {
    memory: MemoryId,
    to: u64,
    from: Option<u64>,
}

/// What a program reported.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Nothing,
    /// Bytes for the console.
    Output(Vec<u8>),
    /// It has ended, with this code.
    Exit(u64),
}

impl Host {
    /// Creates the host of a program that has one.
    pub(super) fn new(program: &Program) -> Option<Host> {
        let named = |name: &str| {
            let symbol: Option<&Symbol> = program.image.symbols.iter().find(|symbol| symbol.name == name);
            symbol.and_then(|symbol| u64::try_from(symbol.value).ok())
        };
        Some(Host { memory: program.isa.pc.memory, to: program.tohost?, from: named("fromhost") })
    }

    /// Returns the cells to watch: those of a 64-bit word.
    pub(super) fn watch(&self) -> Watch {
        Watch::writes(self.memory, self.to..=self.to + 7)
    }

    /// Reads what the program has written, and responds to it.
    pub(super) fn hear(&self, instance: &mut Instance) -> Heard {
        let low = self.read(instance, self.to, 4);
        if low != 0 && self.read(instance, self.to + 4, 4) == 0 {
            self.wait_for_upper_half(instance);
        }
        let high = self.read(instance, self.to + 4, 4);
        if high == PUT_CHARACTER {
            self.answer(instance, None);
            return Heard::Output(vec![low as u8]);
        }
        match low {
            0 => Heard::Nothing,
            _ if low & 1 == 1 => Heard::Exit(low >> 1),
            _ => self.call(instance, low),
        }
    }

    /// Waits for the upper half; if it does not follow, restores the state.
    fn wait_for_upper_half(&self, instance: &mut Instance) {
        let snapshot = instance.snapshot();
        let upper = Watch::writes(self.memory, self.to + 4..=self.to + 7);
        instance.run(&Stops::after(HALVES).watching(upper));
        if self.read(instance, self.to + 4, 4) != PUT_CHARACTER {
            // The snapshot is of this very instance, so it fits.
            let _ = instance.restore(&snapshot);
        }
    }

    /// Performs a system call: its number and arguments are at an address that the program gives.
    fn call(&self, instance: &mut Instance, place: u64) -> Heard {
        let word = |at: u64| self.read(instance, place + 8 * at, 8);
        let (number, arguments) = (word(0), [word(1), word(2), word(3)]);
        let (result, heard) = match number {
            EXIT => return Heard::Exit(arguments[0]),
            WRITE => {
                let length = arguments[2].min(LONGEST);
                let bytes = (0..length).map(|at| self.read(instance, arguments[1].wrapping_add(at), 1) as u8).collect();
                (length, Heard::Output(bytes))
            }
            _ => (UNKNOWN, Heard::Nothing),
        };
        self.write(instance, place, result, 8);
        self.answer(instance, Some(1));
        heard
    }

    /// Clears the request, and answers it where the program waits for an answer.
    fn answer(&self, instance: &mut Instance, value: Option<u64>) {
        self.write(instance, self.to, 0, 8);
        if let (Some(from), Some(value)) = (self.from, value) {
            self.write(instance, from, value, 8);
        }
    }

    /// Reads a little-endian number of this many bytes.
    fn read(&self, instance: &Instance, address: u64, bytes: u64) -> u64 {
        let memory = instance.state().memory(self.memory);
        let width = instance.isa().pc.width;
        (0..bytes).rev().fold(0, |word, at| word << 8 | memory.get(width.wrap(address.wrapping_add(at))))
    }

    fn write(&self, instance: &mut Instance, address: u64, value: u64, bytes: u64) {
        let width = instance.isa().pc.width;
        let memory = instance.state_mut().memory_mut(self.memory);
        (0..bytes).for_each(|at| memory.set(width.wrap(address.wrapping_add(at)), value >> (8 * at) & 0xFF));
    }
}
