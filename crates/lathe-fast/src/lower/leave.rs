//! How a block is left: at its end, after a branch, or before an instruction that must be interpreted.

use lathe_isa::model::RegisterId;
use lathe_isa::operators::BinaryOperator;
use lathe_values::{Node, SymbolicState, ValueId, WayOn};

use super::Lowering;
use crate::block::{Block, Side};
use crate::fuse::{fuse_writes, leaves};
use crate::ops::{Code, Op, REGISTERS, Slot};
use crate::pairs::pair_up;

/// How a block is left, and in which state.
pub(super) struct Leaving<'a> {
    pub(super) frame: &'a SymbolicState,
    pub(super) cycles: Option<ValueId>,
    /// How many instructions were done.
    pub(super) count: u8,
    pub(super) way: Way,
}

/// Where execution continues.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// The instruction at this address is interpreted.
    Interpret(u64),
    /// At this address.
    Goto(u64),
    /// Wherever the end of the block leads; its last instruction is at this address.
    End(WayOn, u64),
}

impl Lowering<'_> {
    /// Emits checks of the assumptions of the block, which leave for the careful block if one does not hold.
    pub(super) fn assume(&mut self, block: &Block) -> Option<()> {
        for (register, extra) in block.assumptions() {
            let x = Slot::try_from(register.index()).ok()?;
            let entry = self.names.careful_entry(block.steps.first()?.pc);
            let exit = self.add_exit(&[Op { extra: u64::from(entry), ..Op::new(Code::Goto) }])?;
            self.ops.push(Op { x, exit, extra, ..Op::new(Code::LeaveUnlessNumber) });
        }
        Some(())
    }

    pub(super) fn side(&mut self, side: &Side, frame: &SymbolicState, count: u8) -> Option<()> {
        let leaving = Leaving { frame, cycles: Some(side.cycles), count, way: Way::Goto(side.target) };
        let exit = self.exit(&leaving)?;
        self.leave_if(side.condition, side.when, exit)
    }

    /// Emits an operation that leaves if the condition is 1 (`when` is true) or 0 (`when` is false).
    pub(super) fn leave_if(&mut self, condition: ValueId, when: bool, exit: u16) -> Option<()> {
        let (op, inverse) = self.condition(condition, true)?;
        let [leave_if, leave_unless] = match op.code {
            Code::BranchIfEqual => [Code::LeaveIfEqual, Code::LeaveUnlessEqual],
            Code::EqualNumber => [Code::LeaveIfNumber, Code::LeaveUnlessNumber],
            Code::BranchIfLess => [Code::LeaveIfLess, Code::LeaveUnlessLess],
            Code::BranchIfBit => [Code::LeaveIfBit, Code::LeaveUnlessBit],
            _ => [Code::LeaveIf, Code::LeaveUnless],
        };
        let code = if when != inverse { leave_if } else { leave_unless };
        self.ops.push(Op { code, exit, ..op });
        Some(())
    }

    /// Emits the operations for leaving the block here, which come after all others. Values computed there are not
    /// available to the rest of the block. Returns the number of the exit.
    pub(super) fn exit(&mut self, leaving: &Leaving) -> Option<u16> {
        let spare = std::mem::take(&mut self.spare);
        let ops = std::mem::replace(&mut self.ops, spare);
        let (computed, temporaries, pending) = (self.trail.len(), self.temporaries, self.pending.clone());
        self.finish(leaving)?;
        self.trail.drain(computed..).for_each(|value| self.slots[value.index()] = None);
        (self.temporaries, self.pending) = (temporaries, pending);
        let mut ops = std::mem::replace(&mut self.ops, ops);
        let exit = self.add_exit(&ops);
        ops.clear();
        self.spare = ops;
        exit
    }

    fn add_exit(&mut self, ops: &[Op]) -> Option<u16> {
        self.exits.push(self.exit_ops.len());
        self.exit_ops.extend_from_slice(ops);
        u16::try_from(self.exits.len() - 1).ok()
    }

    /// Emits the pending stores, the writes of the registers, and the operation that continues elsewhere.
    pub(super) fn finish(&mut self, leaving: &Leaving) -> Option<()> {
        self.store_pending(None)?;
        let cycles = self.cycles(leaving.cycles)?;
        let changed = changed_registers(self.before, leaving.frame);
        let is_changed = |slot: Slot| changed.iter().any(|(register, _)| register.index() == usize::from(slot));
        let mut sources = Vec::with_capacity(changed.len());
        for (_, value) in &changed {
            sources.push(self.slot(*value)?);
        }
        let mut end = self.end(leaving)?;
        // A register that is copied or tested is saved first, if it gets a new value before that.
        let tested = tested_slots(&mut end).into_iter();
        for source in sources.iter_mut().chain(tested) {
            if is_changed(*source) {
                let saved = self.temporary()?;
                self.ops.push(Op { into: saved, x: *source, ..Op::new(Code::Move) });
                *source = saved;
            }
        }
        for ((register, _), x) in changed.iter().zip(sources) {
            self.ops.push(match register.index() < REGISTERS {
                true => Op { into: register.index() as Slot, x, ..Op::new(Code::Move) },
                false => Op { x, extra: register.index() as u64, ..Op::new(Code::SetRegister) },
            });
        }
        self.take_cycles(cycles, &mut end);
        self.ops.push(end);
        fuse_writes(&mut self.ops, self.before.registers.len().min(REGISTERS));
        Some(())
    }

    /// Emits operations for the cycles that depend on something. Returns those that the block always takes.
    fn cycles(&mut self, cycles: Option<ValueId>) -> Option<u64> {
        let Some(cycles) = cycles else { return Some(0) };
        match self.graph.node(cycles) {
            Node::Constant(number) => Some(number),
            Node::Binary(BinaryOperator::Add, x, y) => {
                let (x, y) = (self.cycles(Some(x))?, self.cycles(Some(y))?);
                Some(x.wrapping_add(y))
            }
            Node::Choose(condition, x, y) => match (self.graph.as_constant(x), self.graph.as_constant(y)) {
                (Some(x), Some(y)) => self.cycles_if(condition, x, y),
                _ => self.computed_cycles(cycles),
            },
            _ => self.computed_cycles(cycles),
        }
    }

    fn computed_cycles(&mut self, cycles: ValueId) -> Option<u64> {
        let x = self.slot(cycles)?;
        self.ops.push(Op { x, ..Op::new(Code::Cycles) });
        Some(0)
    }

    /// Emits an operation so that the block takes `yes` cycles if the condition is 1, else `no`. Returns those that it
    /// takes in any case.
    fn cycles_if(&mut self, condition: ValueId, yes: u64, no: u64) -> Option<u64> {
        let extra = yes.wrapping_sub(no);
        let op = match self.graph.node(condition) {
            Node::Binary(BinaryOperator::Less, x, y) => {
                Op { x: self.slot(x)?, y: self.slot(y)?, ..Op::new(Code::CyclesIfLess) }
            }
            _ => Op { x: self.slot(condition)?, ..Op::new(Code::CyclesIf) },
        };
        self.ops.push(Op { extra, ..op });
        Some(no)
    }

    /// Adds the cycles that the block always takes to the operation at its end, if that has room for them; else emits
    /// one.
    fn take_cycles(&mut self, cycles: u64, end: &mut Op) {
        match u16::try_from(cycles) {
            Ok(cycles) if end.code != Code::Interpret => end.exit = cycles,
            Ok(0) => {}
            _ => self.ops.push(Op { extra: cycles, ..Op::new(Code::CyclesNumber) }),
        }
    }

    fn end(&mut self, leaving: &Leaving) -> Option<Op> {
        let into = leaving.count;
        Some(match leaving.way {
            Way::Interpret(extra) => Op { into, extra, ..Op::new(Code::Interpret) },
            Way::Goto(target) | Way::End(WayOn::Goto(target), _) => {
                let extra = u64::from(self.names.entry(target));
                Op { into, extra, ..Op::new(Code::Goto) }
            }
            Way::End(WayOn::Jump(target), from) => {
                let extra = u64::from(self.names.jump(from));
                Op { into, x: self.slot(target)?, extra, ..Op::new(Code::Jump) }
            }
            Way::End(WayOn::Branch(condition, taken, other), _) => {
                let (op, inverse) = self.condition(condition, false)?;
                let (taken, other) = if inverse { (other, taken) } else { (taken, other) };
                let entries = (self.names.entry(taken), self.names.entry(other));
                let extra = u64::from(entries.0) << 32 | u64::from(entries.1);
                let y = if op.code == Code::BranchIfBit { op.z } else { op.y };
                Op { into, y, extra, ..op }
            }
        })
    }

    /// Returns the operations of the block, followed by those of its exits.
    pub(super) fn together(self) -> Option<Vec<Op>> {
        let mut ops = self.ops;
        let own = ops.len();
        for (op, at) in ops.iter_mut().zip(1..).filter(|(op, _)| leaves(op.code)) {
            op.exit = u16::try_from(own + self.exits[usize::from(op.exit)] - at).ok()?;
        }
        ops.extend(self.exit_ops);
        pair_up(&mut ops);
        Some(ops)
    }
}

/// Returns the registers that change on the way to a frame, with their new values.
fn changed_registers(before: &SymbolicState, frame: &SymbolicState) -> Vec<(RegisterId, ValueId)> {
    let ids = (0..).map(RegisterId).zip(frame.registers.iter().copied());
    let mut changed = Vec::with_capacity(frame.registers.len());
    changed.extend(ids.filter(|(id, value)| before.registers[id.index()] != *value));
    changed
}

/// Returns the slots that the last operation of a block tests.
fn tested_slots(end: &mut Op) -> Vec<&mut Slot> {
    match end.code {
        Code::BranchIfEqual | Code::BranchIfLess => vec![&mut end.x, &mut end.y],
        Code::BranchIf | Code::BranchIfBit | Code::Jump => vec![&mut end.x],
        _ => Vec::new(),
    }
}
