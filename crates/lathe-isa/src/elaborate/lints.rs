//! Warnings: what is declared and has no effect.

use std::collections::BTreeSet;

use lathe_base::{Diagnostic, Diagnostics, FileId};

use super::Declarations;
use crate::codes;
use crate::model::{DeviceKind, Domain, Instruction, RegisterId};
use crate::names::Named;
use crate::semantics::Body;

/// Looks at everything declared; `others` are the meanings that belong to no instruction.
pub(crate) fn lint(
    declarations: &Declarations,
    instructions: &[Instruction],
    others: &[&Body],
    diagnostics: &mut Diagnostics,
) {
    if diagnostics.has_errors() {
        // What could not be read may use anything.
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
        // What an inherited declaration is for is the business of the machine that declares it.
        if warned && span.file == FileId(0) {
            let message =
                format!("{} `{name}` is never used", &named.kind()[named.kind().find(' ').map_or(0, |at| at + 1)..]);
            diagnostics.push(Diagnostic::new(codes::UNUSED, span, message).help("use it or remove it"));
        }
    }
    let read = registers_read(declarations, instructions, others);
    for (at, register) in declarations.registers.iter().enumerate() {
        if register.span.file == FileId(0) && !register.constant && !read.contains(&RegisterId(at as u32)) {
            let message = format!("nothing reads the register `{}`", register.name);
            let help = "its value has no effect; use it in a meaning or remove it";
            diagnostics.push(Diagnostic::new(codes::NEVER_READ, register.span, message).help(help));
        }
    }
    cycles_that_nothing_counts(declarations, instructions, others, diagnostics);
}

/// A machine whose instructions take no cycles, and a meaning that asks how many there were.
fn cycles_that_nothing_counts(
    declarations: &Declarations,
    instructions: &[Instruction],
    others: &[&Body],
    diagnostics: &mut Diagnostics,
) {
    let bodies = || instructions.iter().map(|instruction| &*instruction.body).chain(others.iter().copied());
    let counted = instructions.iter().any(|instruction| instruction.cycles != 0) || bodies().any(Body::adds_cycles);
    if counted || !bodies().any(Body::reads_cycles) {
        return;
    }
    for device in declarations.devices.iter().filter(|device| device.kind == DeviceKind::Counter) {
        let message = format!("`{}.cycles()` is always 0, since no instruction takes cycles", device.name);
        let help = format!(
            "say how many with `instructions with cycles {{`, or count instructions with `{}.instructions()`",
            device.name
        );
        diagnostics.push(Diagnostic::new(codes::NO_CYCLES, device.span, message).help(help));
    }
}

fn registers_read(declarations: &Declarations, instructions: &[Instruction], others: &[&Body]) -> BTreeSet<RegisterId> {
    let mut read = BTreeSet::new();
    for instruction in instructions {
        let effects = instruction.body.effects();
        read.extend(effects.reads);
        for operand in effects.operands_read {
            let field = &declarations.fields[instruction.operands[usize::from(operand.0)].index()];
            if let Domain::Registers(list) = &field.domain {
                read.extend(list.iter().flatten().flat_map(|(_, place)| place.parts.iter().map(|part| part.register)));
            }
        }
    }
    others.iter().for_each(|body| read.extend(body.effects().reads));
    read
}
