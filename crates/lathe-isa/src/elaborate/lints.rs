//! Warnings: declarations without an effect.

use std::collections::BTreeSet;

use lathe_base::{Diagnostic, Diagnostics, FileId};

use super::Declarations;
use crate::codes;
use crate::model::{DeviceKind, Domain, Instruction, RegisterId};
use crate::names::Named;
use crate::semantics::Body;

/// Checks all declarations; `others` are the meanings that belong to no instruction.
pub(crate) fn lint(
    declarations: &Declarations,
    instructions: &[Instruction],
    others: &[&Body],
    diagnostics: &mut Diagnostics,
) {
    if diagnostics.has_errors() {
        // A part that could not be read may use anything.
        return;
    }
    for (name, named, span) in declarations.names.unused() {
        let warned = matches!(
            named,
            Named::Field(_)
                | Named::Family(_)
                | Named::Operand(_)
                | Named::Function(_)
                | Named::Device(_)
                | Named::Memory(_)
                | Named::Trap(_)
                | Named::Width(_)
        );
        // What an inherited declaration is for is the concern of the machine that declares it.
        if warned && span.file == FileId(0) {
            let message =
                format!("{} `{name}` is never used", &named.kind()[named.kind().find(' ').map_or(0, |at| at + 1)..]);
            diagnostics.push(Diagnostic::new(codes::UNUSED, span, message).help("use it or remove it"));
        }
    }
    for id in never_read(declarations, instructions, others) {
        let register = &declarations.registers[id.index()];
        let message = format!("nothing reads the register `{}`", register.name);
        let help = "its value has no effect; use it in a meaning or remove it";
        diagnostics.push(Diagnostic::new(codes::NEVER_READ, register.span, message).help(help));
    }
    cycles_that_nothing_counts(declarations, instructions, others, diagnostics);
}

/// Warns of a machine whose instructions take no cycles, and whose meanings ask how many there were.
fn cycles_that_nothing_counts(
    declarations: &Declarations,
    instructions: &[Instruction],
    others: &[&Body],
    diagnostics: &mut Diagnostics,
) {
    let mut counters = declarations.devices.iter().filter(|device| device.kind == DeviceKind::Counter).peekable();
    if counters.peek().is_none() {
        return;
    }
    let bodies = || instructions.iter().map(|instruction| &*instruction.body).chain(others.iter().copied());
    let counted = instructions.iter().any(|instruction| instruction.cycles != 0) || bodies().any(Body::adds_cycles);
    if counted || !bodies().any(Body::reads_cycles) {
        return;
    }
    for device in counters {
        let message = format!("`{}.cycles()` is always 0, since no instruction takes cycles", device.name);
        let help = format!(
            "say how many with `instructions with cycles {{`, or count instructions with `{}.instructions()`",
            device.name
        );
        diagnostics.push(Diagnostic::new(codes::NO_CYCLES, device.span, message).help(help));
    }
}

/// Returns the registers of this file that nothing reads.
fn never_read(declarations: &Declarations, instructions: &[Instruction], others: &[&Body]) -> BTreeSet<RegisterId> {
    let registers = declarations.registers.iter().enumerate();
    let own = registers.filter(|(_, register)| register.span.file == FileId(0) && !register.constant);
    let mut left: BTreeSet<RegisterId> = own.map(|(at, _)| RegisterId(at as u32)).collect();
    // A mode that decides about an encoding has an effect.
    let decided = instructions.iter().flat_map(|one| one.encoding.excluded.iter().chain([&one.encoding.fixed]));
    let decided = decided.fold(0, |all, cube| all | cube.mask);
    left.retain(|id| {
        let register = &declarations.registers[id.index()];
        register.mode.is_none_or(|shift| u128::from(register.width.mask()) << shift & decided == 0)
    });
    for read in others.iter().flat_map(|body| body.effects().reads) {
        left.remove(&read);
    }
    // The instructions of a row read much the same, so one per row comes first: that finds most registers.
    let begins = |at: &usize| *at == 0 || instructions[at - 1].row != instructions[*at].row;
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..instructions.len()).partition(begins);
    for instruction in first.into_iter().chain(rest).map(|at| &instructions[at]) {
        if left.is_empty() {
            break;
        }
        let effects = instruction.body.effects();
        left.retain(|id| !effects.reads.contains(id));
        for operand in effects.operands_read {
            let field = &declarations.fields[instruction.operands[usize::from(operand.0)].index()];
            if let Domain::Registers(list) = &field.domain {
                for part in list.iter().flatten().flat_map(|(_, place)| &place.parts) {
                    left.remove(&part.register);
                }
            }
        }
    }
    left
}
