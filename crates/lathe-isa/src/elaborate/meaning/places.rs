//! Places: registers, views and memory cells, read and written.

use lathe_base::{Span, Width};

use super::{Lowerer, Value};
use crate::codes;
use crate::language::ast::{Expr as Tree, Name, Order, Type};
use crate::model::{Memory, MemoryId, Part, Place};
use crate::operators::BinaryOperator;
use crate::semantics::{Expr, ExprKind, Statement};

impl Lowerer<'_, '_> {
    pub(super) fn read_place(&self, place: &Place) -> Expr {
        let parts = place.parts.iter().map(|part| self.read_part(part));
        parts.reduce(Expr::join).unwrap_or(Expr::constant(place.width, 0))
    }

    fn read_part(&self, part: &Part) -> Expr {
        let register = &self.declarations.registers[part.register.index()];
        let whole = match register.constant {
            true => Expr::constant(register.width, register.reset),
            false => Expr { width: register.width, kind: ExprKind::Register(part.register) },
        };
        Expr::slice(whole, part.low, part.width)
    }

    pub(super) fn write_place(&mut self, place: &Place, value: Value) {
        let value = if place.parts.len() > 1 { self.keep(value) } else { value };
        let mut low = place.width.bits();
        for part in &place.parts {
            low -= part.width.bits();
            let bits = Expr::slice(value.expr.clone(), low, part.width);
            self.write_part(part, bits, place.clearing);
        }
    }

    /// Writes some bits of a register, leaving or clearing the others.
    fn write_part(&mut self, part: &Part, bits: Expr, clearing: bool) {
        let register = &self.declarations.registers[part.register.index()];
        if register.constant {
            return;
        }
        let old = match clearing {
            true => Expr::constant(register.width, 0),
            false => Expr { width: register.width, kind: ExprKind::Register(part.register) },
        };
        self.emit(Statement::SetRegister(part.register, Expr::replace(old, part.low, bits)));
    }

    pub(super) fn address(&mut self, memory: MemoryId, tree: &Tree) -> Option<Expr> {
        let width = self.declarations.memories[memory.index()].address;
        Some(self.value(tree, Some(width))?.expr)
    }

    pub(super) fn load(&mut self, memory: MemoryId, address: &Tree) -> Option<Value> {
        let address = self.address(memory, address)?;
        Some(Value::unsigned(self.load_cell(memory, address)))
    }

    fn load_cell(&mut self, memory: MemoryId, address: Expr) -> Expr {
        let cell = self.declarations.memories[memory.index()].cell;
        let into = self.local(cell);
        self.emit(Statement::Load { into, memory, address });
        Expr::local(cell, into)
    }

    /// `ram.u16[a]`: the lowest address is read first, whatever the order.
    pub(super) fn load_wide(&mut self, memory: &Name, ty: &Type, address: &Tree) -> Option<Value> {
        let (memory, count) = self.wide(memory, ty)?;
        let address = self.address(memory, address)?;
        let address = self.keep(Value::unsigned(address)).expr;
        for _ in 0..count {
            self.spend(ty.span)?;
        }
        let width = self.width(ty)?;
        Some(Value { expr: self.load_cells(memory, &address, width), signed: ty.signed })
    }

    /// The cells from an address on that make a value of this width: the lowest address is read first.
    pub(super) fn load_cells(&mut self, memory: MemoryId, address: &Expr, width: Width) -> Expr {
        let &Memory { cell, order, .. } = &self.declarations.memories[memory.index()];
        let count = width.bits() / cell.bits();
        let mut cells: Vec<Expr> =
            (0..count).map(|offset| self.load_cell(memory, plus(address.clone(), offset))).collect();
        if order == Order::Little {
            cells.reverse();
        }
        cells.into_iter().reduce(Expr::join).unwrap_or(Expr::constant(width, 0))
    }

    /// Writes a value to as many cells as it has: the lowest address is written first.
    pub(super) fn store_cells(&mut self, memory: MemoryId, address: &Expr, value: Value) {
        let value = self.keep(value).expr;
        let &Memory { cell, order, .. } = &self.declarations.memories[memory.index()];
        let count = value.width.bits() / cell.bits();
        for offset in 0..count {
            let number = if order == Order::Little { offset } else { count - 1 - offset };
            let value = Expr::slice(value.clone(), number * cell.bits(), cell);
            self.emit(Statement::Store { memory, address: plus(address.clone(), offset), value });
        }
    }

    pub(super) fn store_wide(&mut self, memory: &Name, ty: &Type, address: &Tree, value: &Tree) -> Option<()> {
        let width = self.width(ty)?;
        let (memory, count) = self.wide(memory, ty)?;
        let address = self.address(memory, address)?;
        let address = self.keep(Value::unsigned(address)).expr;
        let value = self.value(value, Some(width))?;
        for _ in 0..count {
            self.spend(ty.span)?;
        }
        self.store_cells(memory, &address, value);
        Some(())
    }

    /// The memory and the number of cells of a wide access.
    pub(super) fn wide(&mut self, name: &Name, ty: &Type) -> Option<(MemoryId, u32)> {
        let memory = self.declarations.memory_of(name, self.diagnostics)?;
        let width = self.width(ty)?;
        let cell = self.declarations.memories[memory.index()].cell;
        if width.bits() % cell.bits() != 0 {
            let message = format!("{} bits are not a whole number of {}-bit cells", width.bits(), cell.bits());
            let help = format!("a cell of `{}` has {} bits", name.text, cell.bits());
            return self.fail(codes::WIDTH_MISMATCH, ty.span, message, help);
        }
        Some((memory, width.bits() / cell.bits()))
    }

    pub(super) fn not_assignable<T>(&mut self, span: Span, what: &str, help: &str) -> Option<T> {
        self.fail(codes::NOT_ASSIGNABLE, span, format!("{what} cannot be assigned"), help)
    }
}

fn plus(address: Expr, offset: u32) -> Expr {
    if offset == 0 {
        return address;
    }
    let width = address.width;
    Expr::binary(BinaryOperator::Add, address, Expr::constant(width, u64::from(offset)))
}
