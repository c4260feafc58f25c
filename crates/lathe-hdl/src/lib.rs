//! Hardware from an instruction set: a core in plain Verilog that a person can read, what stands around it on a
//! chip, and a bench that runs programs on it.
//!
//! The core executes an instruction as the definition says it, statement by statement, in one combinational
//! block that starts over in every clock cycle. Each access to a memory or device has a number; `step` says which of them have
//! been done. A division is counted as two, since the unit that divides is given something and answers some cycles later. The block
//! runs up to the first access that has not been done, and that one is what the cycle does. When nothing is left to do the instruction
//! retires: then, and only then, the registers change. So an instruction that faults has changed nothing, and an instruction that waits
//! for a device can wait anywhere.
//!
//! Where instructions are many because operands have many modes, they are cut into parts ([`Form::Parts`]), which are done one after the
//! other in the same block. What is proven about a core does not depend on how it is written.
//!
//! This crate writes text. It runs no tool, and knows no file.

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
    /// What is in it.
    pub text: String,
}

/// Something in a definition that the generator has no hardware for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// What it is, as a person would say it.
    pub what: String,
    /// What to do about it.
    pub help: String,
    /// Where it is in the definition.
    pub place: Span,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// What memories hold when the power comes on, and where execution begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The cells of each memory that are not 0, by address.
    pub cells: Vec<Vec<(u64, u64)>>,
    /// The address of the first instruction, if it is not the definition's.
    pub entry: Option<u64>,
    /// The registers that do not begin as they are declared, because `on reset` sets them.
    pub registers: BTreeMap<RegisterId, u64>,
    /// How many address bits the memories of the board have at most, for a chip with little block RAM.
    pub board_bits: Option<u32>,
}

impl Program {
    fn register(&self, id: RegisterId, isa: &Isa) -> u64 {
        self.registers.get(&id).copied().unwrap_or(isa.register(id).reset)
    }
}

/// How what instructions do is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each in one piece, under its row.
    Whole,
    /// In parts that are shared by all instructions that have them: the operands, the operation, the result.
    Parts,
    /// In parts where that is much less.
    Best,
}

/// The hardware of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// The name of the core's module; its file has the same name.
    pub module: String,
    /// What the numbers of `faulted_code` mean.
    pub messages: Vec<String>,
    /// The core from outside.
    pub interface: Interface,
    /// The core, and everything around it for simulation and for a board.
    pub files: Vec<File>,
    core: text::Text,
}

impl Design {
    /// The core as far as one instruction needs it; after the last instruction, for bits that no row has. It is the same text
    /// without what other instructions do, in whose place it stops for ever, and without the decoding of other rows: so what is true
    /// of an instruction in its slice is true of it in the core, if that decodes every row as what it is ([`Design::decoder`]). What
    /// `on step` does in place of an instruction is only in the last slice. A tool reads a slice of a large core much faster than the
    /// core.
    pub fn slice(&self, at: usize) -> Option<String> {
        self.core.slice(at)
    }

    /// What decodes in the core, in a module of its own: from `window`, the cells at the program counter with the first highest, to
    /// `instruction`, one of [`Interface::numbers`].
    pub fn decoder(&self) -> String {
        self.core.decoder(DECODER)
    }
}

/// The core from outside: what whoever looks on has to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Registers that can change, by the names of what keeps them between instructions, in the order of `retire_registers`.
    pub registers: Vec<(RegisterId, String)>,
    /// The stem of each memory's ports, and how many neighbouring cells they reach.
    pub memories: Vec<(String, u32)>,
    /// What devices are asked to do.
    pub operations: Vec<DevicePort>,
    /// How many accesses each instruction makes at most, the fetch included; the last is for bits that no row has.
    pub accesses: Vec<u32>,
    /// How far `step` counts them, which may leave numbers out.
    pub steps: u32,
    /// What the decoder calls each instruction, in order.
    pub numbers: Vec<u64>,
    /// The bits of such a number. 0 is for bits that no row has.
    pub number_bits: u32,
    /// The bits of the number that goes with a fault.
    pub detail_bits: u32,
    /// The bits of the unit that divides, if there is one: [`DIVISION`] says how it is called.
    pub division: Option<u32>,
}

/// The ports of one operation of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePort {
    /// The device.
    pub device: DeviceId,
    /// What it is asked to do.
    pub operation: DeviceOperation,
    /// The stem of the names.
    pub name: String,
    /// Whether there is a signal that asks for it. Where there is none, the answer can be looked at any time.
    pub is_asked: bool,
    /// The names of what it is given.
    pub arguments: Vec<String>,
    /// Whether it may let the core wait.
    pub may_wait: bool,
    /// Whether the answer comes in the next cycle.
    pub answers_later: bool,
    /// Whether there is an answer.
    pub has_answer: bool,
}

/// The folder of what belongs to a board, so that a simulator can be given all files beside the core.
pub const BOARD: &str = "board";

/// How the name of the module that divides goes on after the name of the core's module.
pub const DIVISION: &str = "_divide";

/// The name of the module that decodes, where it is one.
pub const DECODER: &str = "decoder";

/// The message of a fault at bits that no row has.
pub use shape::UNDEFINED;
pub use small::Small;

/// The hardware of a machine. `sources` are the files of its definition, whose rows become comments.
///
/// # Errors
/// If the definition asks for something that the generator has no hardware for.
pub fn generate(isa: &Isa, sources: &[Source], program: &Program) -> Result<Design, Unsupported> {
    generate_as(isa, sources, program, Form::Best)
}

/// The same, written in a form.
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
