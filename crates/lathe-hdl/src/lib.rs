//! Hardware from an instruction set: a core in plain Verilog that a person can read, the circuits around it on a chip,
//! and a bench that runs programs on it.
//!
//! The core executes an instruction statement by statement, as the definition says, in one combinational block that
//! starts over in every clock cycle. Each access to a memory or device has a number; `step` says which accesses have
//! been done. A division counts as two accesses, since the division unit is given its operands and answers some cycles
//! later. The block runs up to the first access that has not been done, and the cycle does that access. When none is
//! left, the instruction retires: then, and only then, the registers change. So an instruction that faults has changed
//! nothing, and an instruction that waits for a device can wait anywhere.
//!
//! If operands with many modes make many instructions, these are cut into parts ([`Form::Parts`]), which the same block
//! executes one after the other. What is proven about a core does not depend on its form.
//!
//! This crate only writes text: it runs no tool and touches no file.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod accesses;
mod bench;
mod board;
mod body;
mod check;
mod core;
mod decode;
mod devices;
mod divide;
mod execution;
mod expression;
mod late;
mod maps;
mod names;
mod operands;
mod operators;
mod parts;
mod range;
mod shape;
mod small;
mod text;
mod writer;

use std::collections::BTreeMap;
use std::fmt;

use lathe_base::{Source, Span};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};

/// A file of the design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, in the folder of the design or in [`BOARD`] below it.
    pub name: String,
    /// Its contents.
    pub text: String,
}

/// Something in a definition that the generator has no hardware for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// A description, as a person would put it.
    pub what: String,
    /// What to do about it.
    pub help: String,
    /// Its place in the definition.
    pub place: Span,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// The contents of memories at power-on, and the address where execution begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The cells of each memory that are not 0, by address.
    pub cells: Vec<Vec<(u64, u64)>>,
    /// The address of the first instruction, if it is not the definition's.
    pub entry: Option<u64>,
    /// Registers whose first value is not the declared one, because `on reset` sets them.
    pub registers: BTreeMap<RegisterId, u64>,
    /// The most address bits of a memory on the board, for a chip with little block RAM.
    pub board_bits: Option<u32>,
}

impl Program {
    fn register(&self, id: RegisterId, isa: &Isa) -> u64 {
        self.registers.get(&id).copied().unwrap_or(isa.register(id).reset)
    }
}

/// The form in which the actions of instructions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each instruction in one piece, under its row.
    Whole,
    /// In parts, each shared by all instructions that have it: the operands, the operation, the result.
    Parts,
    /// In parts where that is much shorter.
    Best,
}

/// The hardware of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The name of the core's module; its file has the same name.
    pub module: String,
    /// The meanings of the values of `faulted_code`.
    pub messages: Vec<String>,
    /// The core seen from outside.
    pub interface: Interface,
    /// The core, and everything around it for simulation and for a board.
    pub files: Vec<File>,
    core: text::Text,
}

impl Design {
    /// Returns the part of the core that one instruction needs; the index after the last instruction is for bits that
    /// no row has. A slice is the text of the core without the actions of other instructions, in whose place it stops
    /// for ever, and without the decoding of other rows. So what is true of an instruction in its slice is true of it
    /// in the core, if the core decodes every row correctly ([`Design::decoder`]). What `on step` does in place of an
    /// instruction is only in the last slice. A tool reads a slice of a large core much faster than the core.
    pub fn slice(&self, at: usize) -> Option<String> {
        self.core.slice(at)
    }

    /// Returns the core's decoder as a module of its own: from `window`, the cells at the program counter with the
    /// first one highest, to `instruction`, one of [`Interface::numbers`].
    pub fn decoder(&self) -> String {
        self.core.decoder(DECODER)
    }
}

/// The core seen from outside: what an observer has to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Registers that can change, each with the name of its flip-flops, in the order of `retire_registers`.
    pub registers: Vec<(RegisterId, String)>,
    /// The stem of each memory's port names, and how many neighbouring cells its ports reach.
    pub memories: Vec<(String, u32)>,
    /// What devices are asked to do.
    pub operations: Vec<DevicePort>,
    /// The most accesses that each instruction makes, including the fetch; the last entry is for bits that no row has.
    pub accesses: Vec<u32>,
    /// The last value of `step`; some values may be unused.
    pub steps: u32,
    /// The decoder's number for each instruction, in order.
    pub numbers: Vec<u64>,
    /// The width of such a number. 0 is for bits that no row has.
    pub number_bits: u32,
    /// The width of the number that goes with a fault.
    pub detail_bits: u32,
    /// The width of the division unit, if there is one; [`DIVISION`] is the ending of its name.
    pub division: Option<u32>,
}

/// The ports of one operation of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePort {
    /// The device.
    pub device: DeviceId,
    /// The operation.
    pub operation: DeviceOperation,
    /// The stem of the port names.
    pub name: String,
    /// Whether a signal requests the operation. If not, the answer can be read at any time.
    pub is_asked: bool,
    /// The names of its arguments.
    pub arguments: Vec<String>,
    /// Whether it may make the core wait.
    pub may_wait: bool,
    /// Whether the answer comes in the next cycle.
    pub answers_later: bool,
    /// Whether there is an answer.
    pub has_answer: bool,
}

/// The folder of the files for boards, apart from the core's so that a simulator can be given all files beside the
/// core.
pub const BOARD: &str = "board";

/// The ending that turns the name of the core's module into that of its division unit.
pub const DIVISION: &str = "_divide";

/// The name of the decoder where it is a module of its own.
pub const DECODER: &str = "decoder";

/// The message of the fault for bits that no row has.
pub use shape::UNDEFINED;
pub use small::Small;

/// Generates the hardware of a machine. `sources` are the files of its definition, whose rows become comments.
///
/// # Errors
/// If the definition asks for something that the generator has no hardware for.
pub fn generate(isa: &Isa, sources: &[Source], program: &Program) -> Result<Design, Unsupported> {
    generate_as(isa, sources, program, Form::Best)
}

/// Generates the hardware of a machine in the given form.
///
/// # Errors
/// If the definition asks for something that the generator has no hardware for.
pub fn generate_as(isa: &Isa, sources: &[Source], program: &Program, form: Form) -> Result<Design, Unsupported> {
    check::supported(isa)?;
    let shape = shape::Shape::new(isa);
    let (core, accesses, steps) = core::module(isa, sources, &shape, form);
    let module = shape.names.module.clone();
    let mut files = vec![
        File { name: format!("{module}.v"), text: core.whole() },
        File { name: "bench.v".to_owned(), text: bench::module(isa, &shape, program) },
        File { name: "bench.cpp".to_owned(), text: bench::driver() },
    ];
    files.extend(bench::images(isa, program));
    files.extend(board::files(isa, &shape, program));
    let interface = interface(isa, &shape, &core, (accesses, steps));
    Ok(Design { module, messages: shape.messages, interface, files, core })
}

fn interface(isa: &Isa, shape: &shape::Shape, core: &text::Text, (accesses, steps): (Vec<u32>, u32)) -> Interface {
    let names = &shape.names;
    let port = |(device, known): &(DeviceId, lathe_isa::model::Operation)| {
        let name = format!("{}_{}", names.device(*device), known.operation.name());
        let arguments = shape::argument_names(isa.devices[device.index()].kind, known.operation);
        DevicePort {
            device: *device,
            operation: known.operation,
            is_asked: shape::is_asked(isa, *device, known),
            arguments: arguments.iter().take(known.arguments.len()).map(|one| format!("{name}_{one}")).collect(),
            may_wait: shape::may_wait(isa, *device, known.operation),
            answers_later: shape::answers_later(known),
            has_answer: known.result.is_some(),
            name,
        }
    };
    Interface {
        registers: shape.registers.iter().map(|(id, _)| (*id, format!("{}_q", names.register(*id)))).collect(),
        memories: (0..)
            .map(MemoryId)
            .zip(&shape.lanes)
            .map(|(id, lanes)| (names.memory(id).to_owned(), *lanes))
            .collect(),
        operations: shape.operations.iter().map(port).collect(),
        accesses,
        steps,
        numbers: core.numbers(),
        number_bits: core.number_bits(),
        detail_bits: shape.detail_bits,
        division: shape.division,
    }
}
