//! Examples: the instruction must exist, and its facts must name things that exist. Whether an example comes out as
//! written shows when it is run, which is not done here.

use lathe_base::{Diagnostic, Diagnostics, Width, limits};

use super::Declarations;
use super::constants::{constant, constant_in, declared};
use super::source_line::{Heads, forms, no_form};
use crate::codes;
use crate::language::ast::{self, Column, Item, Name};
use crate::matching::Found;
use crate::model::{DeviceId, DeviceKind, Example, Fact, FactKind, Field, InstructionId, Status};
use crate::names::Named;
use crate::operand::Location;

pub(crate) fn examples(
    declarations: &Declarations,
    definition: &ast::Definition,
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Vec<Example> {
    let blocks = definition
        .items
        .iter()
        .filter_map(|item| if let Item::Examples(table) = item { Some(&table.rows) } else { None });
    let rows: Vec<&ast::Example> = blocks.flatten().collect();
    if let Some(row) = rows.get(limits::ROWS) {
        let message = format!("a definition has at most {} examples", limits::ROWS);
        diagnostics.push(Diagnostic::new(codes::TOO_MANY, row.source.span, message).help("remove some of them"));
        return Vec::new();
    }
    rows.into_iter().filter_map(|row| example(declarations, row, heads, diagnostics)).collect()
}

fn example(
    declarations: &Declarations,
    row: &ast::Example,
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Option<Example> {
    let before = facts(declarations, &row.before, diagnostics);
    let after = facts(declarations, &row.after, diagnostics);
    let (before, after) = (before?, after?);
    let pc = before.iter().find_map(|fact| if let FactKind::Pc(pc) = fact.kind { Some(pc) } else { None }).unwrap_or(0);
    let modes = modes(declarations, &before);
    let (instruction, operands) = instruction(declarations, &row.source, (pc, modes), heads, diagnostics)?;
    let (source, span) = (row.source.text.clone(), row.source.span);
    Some(Example { source, instruction, operands, before, after, span })
}

/// Returns the modes at the beginning of an example, as bits of a window.
fn modes(declarations: &Declarations, before: &[Fact]) -> u128 {
    let mut values: Vec<u64> = declarations.registers.iter().map(|register| register.reset).collect();
    for fact in before {
        let FactKind::Place(place, value) = &fact.kind else { continue };
        for (register, kept, bits) in place.spread(*value) {
            values[register.index()] = values[register.index()] & kept | bits;
        }
    }
    let modes = declarations.registers.iter().zip(values);
    modes.filter_map(|(register, value)| Some(u128::from(value) << register.mode?)).fold(0, |all, one| all | one)
}

/// Finds the shortest instruction that fits the line.
fn instruction(
    declarations: &Declarations,
    source: &Column,
    (pc, modes): (u64, u128),
    heads: &Heads,
    diagnostics: &mut Diagnostics,
) -> Option<(InstructionId, Vec<u64>)> {
    let instructions = heads.instructions;
    let mut candidates = forms(declarations, source, heads, &[], &[]);
    let mask = declarations.mode_mask();
    candidates.retain(|(id, _)| instructions[id.index()].encoding.is_in(modes, mask));
    candidates.sort_by_key(|(id, _)| instructions[id.index()].encoding.cells);
    let mut problem = None;
    for (id, found) in candidates {
        let instruction = &instructions[id.index()];
        let width = declarations.pc_width();
        let next = width.wrap(pc.wrapping_add(u64::from(instruction.encoding.cells)));
        let location = Location { pc, next, width };
        let fields = instruction.operands.iter().map(|field| &declarations.fields[field.index()]);
        let bits = found.iter().zip(fields).map(|(found, field)| bits(declarations, found, field, location));
        match bits.collect::<Result<Vec<u64>, Box<Diagnostic>>>() {
            Ok(bits) if instruction.encoding.holds(&bits) => return Some((id, bits)),
            Ok(_) => {
                let message = format!("the `where` of its row excludes `{}`", source.text);
                let help = "use operands that the row allows";
                problem = Some(Diagnostic::new(codes::BAD_EXAMPLE, source.span, message).help(help));
            }
            Err(diagnostic) => problem = Some(*diagnostic),
        }
    }
    let diagnostic = problem.or_else(|| no_form(codes::BAD_EXAMPLE, declarations, source, instructions));
    diagnostics.extend(diagnostic);
    None
}

fn bits(
    declarations: &Declarations,
    found: &Found<ast::Expr>,
    field: &Field,
    location: Location,
) -> Result<u64, Box<Diagnostic>> {
    let expr = match found {
        Found::Bits(bits) => return Ok(*bits),
        Found::Value(expr) => expr,
    };
    let number = constant(expr, &|name, span| declared(&declarations.names, name, span)).ok_or_else(|| {
        let message = "expected a register or a number";
        let diagnostic = Diagnostic::new(codes::BAD_EXAMPLE, expr.span, message);
        Box::new(diagnostic.help("examples have no labels; write a number"))
    })?;
    field.bits_of(number, location).ok_or_else(|| {
        let message = format!("{number} does not fit in `{}`, which has {} bits", field.name, field.width.bits());
        let diagnostic = Diagnostic::new(codes::BAD_EXAMPLE, expr.span, message);
        Box::new(diagnostic.help("write a number that fits"))
    })
}

fn facts(declarations: &Declarations, facts: &[ast::Fact], diagnostics: &mut Diagnostics) -> Option<Vec<Fact>> {
    facts.iter().map(|written| fact(declarations, written, diagnostics)).collect()
}

fn fact(declarations: &Declarations, written: &ast::Fact, diagnostics: &mut Diagnostics) -> Option<Fact> {
    let (kind, span) = match written {
        ast::Fact::Register(name, value) => {
            (register(declarations, name, value, diagnostics)?, name.span.to(value.span))
        }
        ast::Fact::Cell(name, address, value) => {
            if let Some(Named::Device(id)) = declarations.names.peek(&name.text) {
                let kind = device(declarations, name, id, Some(address), value, diagnostics)?;
                return Some(Fact { kind, span: name.span.to(value.span) });
            }
            let memory = declarations.memory_of(name, diagnostics)?;
            let described = &declarations.memories[memory.index()];
            let address = constant_in(described.address, address, &declarations.names, diagnostics)?;
            let cell = constant_in(described.cell, value, &declarations.names, diagnostics)?;
            (FactKind::Cell(memory, address, cell), name.span.to(value.span))
        }
        ast::Fact::Input(span, bytes) => (FactKind::Input(numbers(declarations, bytes, diagnostics)?), *span),
        ast::Fact::Output(span, bytes) => (FactKind::Output(numbers(declarations, bytes, diagnostics)?), *span),
        ast::Fact::Status(name) => {
            let status = match name.text.as_str() {
                "halted" => Status::Halted,
                "fault" => Status::Fault,
                _ => Status::Running,
            };
            (FactKind::Status(status), name.span)
        }
    };
    Some(Fact { kind, span })
}

fn register(
    declarations: &Declarations,
    name: &Name,
    value: &ast::Expr,
    diagnostics: &mut Diagnostics,
) -> Option<FactKind> {
    if declarations.names.peek(&name.text) == Some(Named::Pc) {
        return constant_in(declarations.pc_width(), value, &declarations.names, diagnostics).map(FactKind::Pc);
    }
    if let Some(Named::Device(id)) = declarations.names.peek(&name.text) {
        return device(declarations, name, id, None, value, diagnostics);
    }
    let place = declarations.place_of(name, diagnostics)?;
    let value = constant_in(place.width, value, &declarations.names, diagnostics)?;
    Some(FactKind::Place(place, value))
}

/// Elaborates a device fact: `ports[5] = 7`, `keys[3] = 1` or `delay = 9`.
fn device(
    declarations: &Declarations,
    name: &Name,
    id: DeviceId,
    address: Option<&ast::Expr>,
    value: &ast::Expr,
    diagnostics: &mut Diagnostics,
) -> Option<FactKind> {
    let (address_width, width, help) = match declarations.devices[id.index()].kind {
        DeviceKind::Bus { address, value } => (Some(address), Some(value), "a port has a number, as in `ports[5] = 7`"),
        DeviceKind::Keypad { keys } => {
            let key = Width::to_tell_apart(keys as usize);
            (Some(key), Some(Width::BIT), "a key has a number, as in `keys[3] = 1`")
        }
        DeviceKind::Timer { width, .. } => (None, Some(width), "a timer is one number, as in `delay = 9`"),
        DeviceKind::Stream => (None, None, "write `input 65` before `->` and `output 65` after it"),
        _ => (None, None, "every example begins after a reset, with the device as it is then"),
    };
    let Some(width) = width.filter(|_| address.is_some() == address_width.is_some()) else {
        let message = match width {
            Some(_) => format!("this is not how an example names the device `{}`", name.text),
            None => format!("`{}` is a device, whose state an example cannot name", name.text),
        };
        diagnostics.push(Diagnostic::new(codes::WRONG_KIND, name.span, message).help(help));
        return None;
    };
    declarations.names.find(&name.text, name.span);
    let mut constant = |width, expr| constant_in(width, expr, &declarations.names, diagnostics);
    let arguments = match address.zip(address_width) {
        Some((address, width)) => vec![constant(width, address)?],
        None => Vec::new(),
    };
    Some(FactKind::Device(id, arguments, constant(width, value)?))
}

fn numbers(declarations: &Declarations, list: &[ast::Expr], diagnostics: &mut Diagnostics) -> Option<Vec<u8>> {
    list.iter()
        .map(|expr| constant_in(Width::BYTE, expr, &declarations.names, diagnostics).map(|value| value as u8))
        .collect()
}
