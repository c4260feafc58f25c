//! Registers and views that live in cells of a memory: `register sp : u16 at data[0x5D]`. They are mapped over those
//! cells, as if the definition had a row of `map` for each.

use lathe_base::{Diagnostic, Diagnostics, Span, Width, limits};

use super::Declarations;
use super::constants::{constant_in, plural, width};
use super::declarations::spread;
use crate::codes;
use crate::language::ast::{
    Block, Definition, Expr, ExprKind, Home, Item, MapRow, Name, Order, RegisterKind, Statement,
};
use crate::model::MemoryId;
use crate::names::Named;

/// Makes the map rows of all registers and views with a home.
pub(super) fn rows(
    declarations: &Declarations,
    definition: &Definition,
    diagnostics: &mut Diagnostics,
) -> Vec<(MemoryId, MapRow)> {
    let mut rows = Vec::new();
    for item in &definition.items {
        match item {
            Item::Registers(registers) => {
                let Some(home) = &registers.home else { continue };
                let Some(width) = width(&registers.ty, &declarations.names, &mut Diagnostics::default()) else {
                    continue;
                };
                let Some(cells) = Cells::new(declarations, home, width, diagnostics) else { continue };
                let mut next = 0;
                let mut all = Vec::new();
                for declared in &registers.names {
                    let names = spread(&declared.range, &mut Diagnostics::default());
                    let first = declared.position.unwrap_or(next);
                    next = first + names.len() as u64;
                    all.extend(names.into_iter().zip(first..));
                }
                let is_constant = registers.kind == RegisterKind::Constant;
                // If one is beyond the end, so are those after it.
                let of_each = all.iter().map_while(|(name, at)| cells.rows(name, *at, is_constant, diagnostics));
                rows.extend(of_each.flatten());
            }
            Item::View(view) => {
                let (Some(home), Some(Named::View(id))) = (&view.home, declarations.names.peek(&view.name.text)) else {
                    continue;
                };
                let width = declarations.views[id].place.width;
                let Some(cells) = Cells::new(declarations, home, width, diagnostics) else { continue };
                rows.extend(cells.rows(&view.name, 0, false, diagnostics).into_iter().flatten());
            }
            _ => {}
        }
    }
    rows
}

/// The cells of values of one width.
struct Cells {
    memory: MemoryId,
    order: Order,
    /// The width of a cell.
    cell: Width,
    /// How many cells a value takes.
    count: u64,
    first: u64,
    /// The last address of the memory.
    last: u64,
    span: Span,
}

impl Cells {
    fn new(declarations: &Declarations, home: &Home, width: Width, diagnostics: &mut Diagnostics) -> Option<Cells> {
        let id = declarations.memory_of(&home.memory, diagnostics)?;
        let memory = &declarations.memories[id.index()];
        let first = constant_in(memory.address, &home.address, &declarations.names, diagnostics)?;
        let (bits, cell) = (width.bits(), memory.cell.bits());
        if bits % cell != 0 {
            let cells = format!("a cell of `{}` has {cell} {}", memory.name, plural(cell, "bit"));
            let message = format!("{bits} {} are not whole cells: {cells}", plural(bits, "bit"));
            let help = "give it the width of a cell or a multiple of it, or write rows of `map`";
            diagnostics.push(Diagnostic::new(codes::WIDTH_MISMATCH, home.memory.span, message).help(help));
            return None;
        }
        let count = u64::from(bits / cell);
        let (order, cell, last) = (memory.order, memory.cell, memory.last());
        Some(Cells { memory: id, order, cell, count, first, last, span: home.memory.span.to(home.address.span) })
    }

    /// Makes the map rows for the cells of the value at `position`, counted from the first address; reports it if the
    /// memory ends before them.
    fn rows(
        &self,
        name: &Name,
        position: u64,
        constant: bool,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<(MemoryId, MapRow)>> {
        let first = position.checked_mul(self.count).and_then(|offset| offset.checked_add(self.first));
        let end = first.and_then(|first| first.checked_add(self.count - 1)).filter(|end| *end <= self.last);
        let (Some(first), Some(_)) = (first, end) else {
            let message = format!("`{}` would be beyond the last cell, 0x{:X}", name.text, self.last);
            let help = "begin at a lower address, or give the memory wider addresses";
            diagnostics.push(Diagnostic::new(codes::DOES_NOT_FIT, self.span, message).help(help));
            return None;
        };
        let rows = (0..self.count.min(limits::ROWS as u64)).map(|at| {
            let from_lowest = if self.order == Order::Little { at } else { self.count - 1 - at };
            (self.memory, self.row(name, first + at, from_lowest * u64::from(self.cell.bits()), constant))
        });
        Some(rows.collect())
    }

    /// Makes the map row for the cell at an address, which holds the bits from `low` up.
    fn row(&self, name: &Name, address: u64, low: u64, constant: bool) -> MapRow {
        let expr = |kind: ExprKind| Expr { kind, span: self.span };
        let number = |number: u64| Box::new(expr(ExprKind::Number(number)));
        let whole = expr(ExprKind::Name(name.text.clone()));
        let part = match self.count {
            1 => whole,
            _ => expr(ExprKind::Slice(Box::new(whole), number(low + u64::from(self.cell.bits()) - 1), number(low))),
        };
        let assign = Statement::Assign(part.clone(), expr(ExprKind::Name("value".to_owned())));
        let write = Block { statements: if constant { Vec::new() } else { vec![assign] }, value: None };
        let (read, write) = (Some(part), Some(write));
        MapRow { first: *number(address), last: None, read, write, span: self.span, documentation: String::new() }
    }
}
