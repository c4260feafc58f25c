//! Places: registers, views and memory cells, read and written.

use lathe_base::{Span, Width};

use super::{Lowerer, Value};
use crate::codes;
use crate::language::ast::{Expr as Tree, Name, Type};
use crate::model::{MemoryId, Part, Place};
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
        let cell = self.declarations.memories[memory.index()].cell;
        Some(Value::unsigned(self.load_cells(memory, address, cell)))
    }

    /// Lowers `ram.u16[a]`.
    pub(super) fn load_wide(&mut self, memory: &Name, ty: &Type, address: &Tree) -> Option<Value> {
        let (memory, width) = self.wide(memory, ty)?;
        let address = self.address(memory, address)?;
        Some(Value { expr: self.load_cells(memory, address, width), signed: ty.signed })
    }

    /// Loads the cells from an address on that make up a value of this width.
    pub(super) fn load_cells(&mut self, memory: MemoryId, address: Expr, width: Width) -> Expr {
        let (into, cells) = (self.local(width), self.cells_of(memory, width));
        self.emit(Statement::Load { into, memory, address, cells });
        Expr::local(width, into)
    }

    /// Stores a value in as many cells as it takes.
    pub(super) fn store_cells(&mut self, memory: MemoryId, address: Expr, value: Expr) {
        let cells = self.cells_of(memory, value.width);
        self.emit(Statement::Store { memory, address, cells, value });
    }

    /// Lowers `ram[a] = x` and `ram.u16[a] = x`.
    pub(super) fn store(&mut self, memory: MemoryId, width: Width, address: &Tree, value: &Tree) -> Option<()> {
        let address = Value::unsigned(self.address(memory, address)?);
        let at = self.emitted();
        let value = self.value(value, Some(width))?;
        let address = self.settle(address, at).expr;
        self.store_cells(memory, address, value.expr);
        Some(())
    }

    /// Returns the memory and the width of a wide access.
    pub(super) fn wide(&mut self, name: &Name, ty: &Type) -> Option<(MemoryId, Width)> {
        let memory = self.declarations.memory_of(name, self.diagnostics)?;
        let width = self.width(ty)?;
        let cell = self.declarations.memories[memory.index()].cell;
        if width.is_wide() {
            let message = format!("memory is reached at most 64 bits at a time, not {}", width.bits());
            let help = format!("join what two accesses give, as in `{0}.u64[a] ++ {0}.u64[b]`", name.text);
            return self.fail(codes::BAD_WIDTH, ty.span, message, help);
        }
        if width.bits() % cell.bits() != 0 {
            let message = format!("{} bits are not a whole number of {}-bit cells", width.bits(), cell.bits());
            let help = format!("a cell of `{}` has {} bits", name.text, cell.bits());
            return self.fail(codes::WIDTH_MISMATCH, ty.span, message, help);
        }
        Some((memory, width))
    }

    /// Returns how many cells an access reaches. Each counts, because engines and hardware split the access.
    fn cells_of(&mut self, memory: MemoryId, width: Width) -> u8 {
        let cells = self.declarations.memories[memory.index()].cells_of(width);
        self.count(usize::from(cells).saturating_sub(1));
        cells
    }

    pub(super) fn not_assignable<T>(&mut self, span: Span, what: &str, help: &str) -> Option<T> {
        self.fail(codes::NOT_ASSIGNABLE, span, format!("{what} cannot be assigned"), help)
    }
}
