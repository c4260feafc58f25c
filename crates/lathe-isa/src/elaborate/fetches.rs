//! Maps with code: which cell an instruction at a mapped address is fetched from.

use lathe_base::{Diagnostic, Diagnostics, limits};

use super::Declarations;
use crate::codes;
use crate::language::ast;
use crate::model::{Fetch, Mapping, RegisterId};
use crate::semantics::{Body, Expr, ExprKind, Statement};

/// Finds where instructions at the addresses of a row are fetched from, in a map with code.
pub(super) fn fetch(
    declarations: &Declarations,
    mapping: &Mapping,
    row: &ast::MapRow,
    diagnostics: &mut Diagnostics,
) -> Option<Fetch> {
    let pc = declarations.pc.as_ref()?;
    if mapping.memory != pc.memory {
        let [this, code] = [mapping.memory, pc.memory].map(|id| &declarations.memories[id.index()].name);
        let message = format!("instructions are fetched from `{code}`, not from `{this}`");
        diagnostics.push(Diagnostic::new(codes::NOT_HERE, row.span, message).help("leave out `with code`"));
        return None;
    }
    let span = row.read.as_ref().map_or(row.span, |read| read.span);
    if in_place_size(&mapping.read) > limits::MEANING_NODES {
        let message = format!("this has more than {} parts once local values are put in place", limits::MEANING_NODES);
        let help = "compute the address of code from fewer values, each used less often";
        diagnostics.push(Diagnostic::new(codes::TOO_MANY, span, message).help(help));
        return None;
    }
    let fetch = one_cell(&mapping.read);
    if fetch.is_none() {
        let message = "no instruction can be fetched from this";
        let help = "with code, a read gives one cell of a memory, and `address` and registers say which; \
                    other rows belong into a `map` without code";
        diagnostics.push(Diagnostic::new(codes::NOT_HERE, span, message).help(help));
    }
    fetch
}

/// Returns the one cell that a body reads, if it does nothing else. Locals are substituted.
fn one_cell(read: &Body) -> Option<Fetch> {
    let mut known: Vec<Option<Expr>> = vec![None; read.locals.len()];
    let mut cell = None;
    for statement in &read.block {
        match statement {
            Statement::Let(local, value) if cell.is_none() => {
                known[usize::from(local.0)] = Some(in_place(value, &known));
            }
            Statement::Let(local, Expr { kind: ExprKind::Local(from), .. }) => match &mut cell {
                Some((into, _)) if into == from => *into = *local,
                _ => return None,
            },
            Statement::Load { into, memory, address, cells: 1 } if cell.is_none() => {
                cell = Some((*into, Fetch { memory: *memory, address: in_place(address, &known) }));
            }
            _ => return None,
        }
    }
    let (into, fetch) = cell?;
    (read.value.as_ref()?.kind == ExprKind::Local(into)).then_some(fetch)
}

/// Measures how large expressions become when locals are substituted: each use is a copy.
fn in_place_size(read: &Body) -> usize {
    let mut sizes = vec![0usize; read.locals.len()];
    let mut largest = 0;
    for statement in &read.block {
        let mut size = 0usize;
        let mut see = |part: &Expr| {
            let part = match part.kind {
                ExprKind::Local(local) => sizes[usize::from(local.0)].max(1),
                _ => 1,
            };
            size = size.saturating_add(part);
        };
        statement.expressions().for_each(|expr| expr.visit(&mut see));
        largest = largest.max(size);
        if let Statement::Let(local, _) = statement {
            sizes[usize::from(local.0)] = size;
        }
    }
    largest
}

/// Substitutes the known values of locals in an expression.
fn in_place(expr: &Expr, known: &[Option<Expr>]) -> Expr {
    let mut expr = expr.clone();
    match expr.kind {
        ExprKind::Local(local) => known[usize::from(local.0)].clone().unwrap_or(expr),
        _ => {
            expr.parts_mut().into_iter().for_each(|part| *part = in_place(part, known));
            expr
        }
    }
}

/// Returns the registers that decide where instructions are fetched from and how they are decoded.
pub(super) fn banked_by(maps: &[Mapping], modes: &[(RegisterId, u32)]) -> Vec<RegisterId> {
    let mut registers: Vec<RegisterId> = modes.iter().map(|(register, _)| *register).collect();
    for fetch in maps.iter().filter_map(|mapping| mapping.code.as_ref()) {
        fetch.address.visit(&mut |part| match part.kind {
            ExprKind::Register(register) if !registers.contains(&register) => registers.push(register),
            _ => {}
        });
    }
    registers
}
