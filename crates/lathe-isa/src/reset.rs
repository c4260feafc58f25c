//! The state before the first instruction, as far as `on reset` determines it.

use std::collections::BTreeMap;

use crate::model::{Isa, MemoryId, RegisterId};
use crate::semantics::{Block, Expr, ExprKind, Statement};

/// What `on reset` determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtReset {
    /// The registers that it sets; the others have their declared values.
    pub registers: BTreeMap<RegisterId, u64>,
    /// The address of the first instruction.
    pub pc: u64,
}

impl Isa {
    /// Returns what `on reset` makes of the registers and the program counter, if there is one. `load` returns the
    /// content of a cell.
    pub fn at_reset(&self, load: impl FnMut(MemoryId, u64) -> u64) -> Option<AtReset> {
        let body = self.on_reset.as_ref()?;
        let state = AtReset { registers: BTreeMap::new(), pc: self.pc.reset };
        let mut reset = Reset { isa: self, locals: vec![0; body.locals.len()], state, load };
        reset.perform(&body.block);
        Some(reset.state)
    }
}

/// Returns what `on reset` would do that it must not do, if anything.
pub(crate) fn beyond(block: &Block) -> Option<&'static str> {
    block.iter().find_map(|statement| match statement {
        Statement::Let(..) | Statement::SetRegister(..) | Statement::Load { .. } | Statement::Jump(_) => None,
        Statement::If { then, otherwise, .. } => beyond(then).or_else(|| beyond(otherwise)),
        Statement::SetOperand(..) => Some("set operands"),
        Statement::Store { .. } => Some("write to memory"),
        Statement::DeviceRead { .. } | Statement::DeviceWrite { .. } => Some("use a device"),
        Statement::Halt => Some("`halt`"),
        Statement::Fault { .. } => Some("`fault`"),
        Statement::Cycles(_) => Some("take cycles"),
    })
}

struct Reset<'i, L> {
    isa: &'i Isa,
    locals: Vec<u64>,
    state: AtReset,
    load: L,
}

impl<L: FnMut(MemoryId, u64) -> u64> Reset<'_, L> {
    fn perform(&mut self, block: &Block) {
        for statement in block {
            match statement {
                Statement::Let(local, value) => self.locals[usize::from(local.0)] = self.value(value),
                Statement::SetRegister(register, value) => {
                    self.state.registers.insert(*register, self.value(value));
                }
                Statement::Jump(target) => self.state.pc = self.value(target),
                Statement::Load { into, memory, address, cells } => {
                    let first = self.value(address);
                    self.locals[usize::from(into.0)] = self.cells(*memory, first, *cells);
                }
                Statement::If { condition, then, otherwise } => {
                    let chosen = if self.value(condition) != 0 { then } else { otherwise };
                    self.perform(chosen);
                }
                Statement::SetOperand(..)
                | Statement::Store { .. }
                | Statement::DeviceRead { .. }
                | Statement::DeviceWrite { .. }
                | Statement::Halt
                | Statement::Fault { .. }
                | Statement::Cycles(_) => unreachable!("`beyond` has looked"),
            }
        }
    }

    /// Reads adjacent cells as one number.
    fn cells(&mut self, memory: MemoryId, first: u64, cells: u8) -> u64 {
        let described = self.isa.memory(memory);
        let all = described.layout(cells).map(|(at, bit)| {
            let address = described.address.wrap(first.wrapping_add(at));
            (self.load)(memory, address) << bit
        });
        all.fold(0, |all, one| all | one)
    }

    fn value(&self, value: &Expr) -> u64 {
        value.evaluate(&|leaf: &ExprKind| match leaf {
            ExprKind::Local(local) => self.locals[usize::from(local.0)],
            ExprKind::Register(register) => {
                let declared = self.isa.register(*register).reset;
                self.state.registers.get(register).copied().unwrap_or(declared)
            }
            // The address of the instruction that is due.
            _ => self.isa.pc.reset,
        })
    }
}
