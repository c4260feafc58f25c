//! Independent reference models of the five machines.
//!
//! For: tests that run another implementation beside one of these models and
//! compare the two after every instruction. Each model was written by hand
//! from the machine descriptions alone, in the plainest Rust available (one
//! `match` on the opcode per machine), so that a mistake shared with a
//! generated engine is unlikely.
//!
//! Not for: running programs in production, assembling, disassembling or
//! debugging. There is no loader; a test writes the program into memory with
//! [`Model::memory_mut`] and starts stepping.

#![forbid(unsafe_code)]

use std::collections::VecDeque;

pub mod duo16;
pub mod hex8;
pub mod quad8;
mod stack8;
pub mod stack8a;
pub mod stack8b;

#[cfg(test)]
mod properties;

pub use duo16::Duo16;
pub use hex8::Hex8;
pub use quad8::Quad8;
pub use stack8a::Stack8a;
pub use stack8b::Stack8b;

/// The result of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The instruction completed and the machine goes on.
    Running,
    /// The instruction completed and the machine stops: either a halting instruction, or one after which nothing can
    /// ever change again.
    Halted,
    /// The instruction could not be executed. The state is exactly as it was
    /// before the step, and `pc` names the instruction.
    Fault(Fault),
}

/// Why a machine stopped with a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The encoding is not defined.
    Undefined,
    /// `duo16` only: a trap, by its number, with no handler to take it.
    UnhandledTrap(u16),
}

/// Console input and output, in memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Console {
    /// The bytes still to be read, the next one in front.
    pub input: VecDeque<u8>,
    /// The bytes written so far.
    pub output: Vec<u8>,
}

impl Console {
    /// A console with this input and no output yet.
    pub fn with_input(input: &[u8]) -> Self {
        Console { input: input.iter().copied().collect(), output: Vec::new() }
    }

    /// Reads the next input byte; 0 at the end of the input.
    fn read(&mut self) -> u8 {
        self.input.pop_front().unwrap_or(0)
    }

    fn write(&mut self, byte: u8) {
        self.output.push(byte);
    }
}

/// A machine that can be inspected and stepped.
///
/// The model keeps no "stopped" state: stepping again after `Halted` or
/// `Fault` simply executes the instruction at `pc`.
pub trait Model {
    /// The machine's name.
    fn name(&self) -> &'static str;

    /// Names and widths in bits of all registers, `pc` included.
    fn registers(&self) -> &'static [(&'static str, u32)];

    /// The value of a register.
    ///
    /// # Panics
    /// If the machine has no register of that name.
    fn register(&self, name: &str) -> u64;

    /// Sets a register; bits beyond its width are dropped.
    ///
    /// # Panics
    /// If the machine has no register of that name.
    fn set_register(&mut self, name: &str, value: u64);

    /// Names and numbers of cells of all memories.
    fn memories(&self) -> &'static [(&'static str, usize)];

    /// The raw cells of a memory, including those under a device.
    ///
    /// # Panics
    /// If the machine has no memory of that name.
    fn memory(&self, name: &str) -> &[u8];

    /// The raw cells of a memory, for writing.
    ///
    /// # Panics
    /// If the machine has no memory of that name.
    fn memory_mut(&mut self, name: &str) -> &mut [u8];

    /// Executes one instruction.
    fn step(&mut self, console: &mut Console) -> Outcome;

    /// (memory index, address) of every memory cell written by the last step, even if the cell already held the value.
    /// Cells under a device, which ignore the write, are not listed.
    fn touched(&self) -> &[(usize, u16)];
}

/// The five machines, at reset.
pub fn all() -> Vec<Box<dyn Model>> {
    vec![
        Box::new(Quad8::default()),
        Box::new(Duo16::default()),
        Box::new(Stack8a::default()),
        Box::new(Stack8b::default()),
        Box::new(Hex8::default()),
    ]
}

/// The machine of that name, at reset.
pub fn by_name(name: &str) -> Option<Box<dyn Model>> {
    all().into_iter().find(|model| model.name() == name)
}

/// The effects of one step outside the registers: its memory writes and whether it did input or output.
struct Trace {
    touched: Vec<(usize, u16)>,
    /// Some memory cell has another value than before.
    changed: bool,
    /// Some device was accessed.
    io: bool,
}

impl Trace {
    fn new() -> Self {
        Trace { touched: Vec::with_capacity(64), changed: false, io: false }
    }

    /// Forgets the previous step.
    fn begin(&mut self) {
        self.touched.clear();
        self.changed = false;
        self.io = false;
    }

    /// Writes one cell and notes it.
    fn store(&mut self, memory: usize, address: u16, cell: &mut u8, value: u8) {
        self.touched.push((memory, address));
        self.changed |= *cell != value;
        *cell = value;
    }

    /// No memory changed and nothing was input or output.
    fn is_quiet(&self) -> bool {
        !self.changed && !self.io
    }
}

/// 64 KiB of zeroes.
fn zeroed_ram() -> Box<[u8; 65536]> {
    Box::new([0; 65536])
}

fn no_such_register(machine: &str, name: &str) -> ! {
    panic!("{machine} has no register `{name}`")
}

fn no_such_memory(machine: &str, name: &str) -> ! {
    panic!("{machine} has no memory `{name}`")
}
