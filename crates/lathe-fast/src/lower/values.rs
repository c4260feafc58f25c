//! Values: which operation computes each, and which slot it gets.

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_values::{Node, ValueId};

use super::Lowering;
use crate::constants::CONSTANTS;
use crate::ops::{Code, Op, REGISTERS, SLOTS, Slot};

impl Lowering<'_> {
    /// Returns the slot of a value, which is computed if it has none yet.
    pub(super) fn slot(&mut self, id: ValueId) -> Option<Slot> {
        if let Some(slot) = self.slots[id.index()] {
            return Some(slot);
        }
        let slot = match self.graph.node(id) {
            Node::Constant(value) => self.number(value)?,
            Node::Register(register) if register.index() < REGISTERS => register.index() as Slot,
            Node::ZeroExtend(x) => self.slot(x)?,
            node => self.compute(id, node)?,
        };
        self.slots[id.index()] = Some(slot);
        self.trail.push(id);
        Some(slot)
    }

    /// Returns a slot that holds this number.
    pub(super) fn number(&mut self, value: u64) -> Option<Slot> {
        if let Some(slot) = self.constants.slot(value) {
            return Some(slot);
        }
        let into = self.temporary()?;
        self.ops.push(Op { into, extra: value, ..Op::new(Code::Set) });
        Some(into)
    }

    /// Returns a new slot for a value, if there is still room.
    pub(super) fn temporary(&mut self) -> Option<Slot> {
        self.temporaries += 1;
        (self.temporaries <= SLOTS - CONSTANTS).then_some((self.temporaries - 1) as Slot)
    }

    fn compute(&mut self, id: ValueId, node: Node) -> Option<Slot> {
        let width = self.graph.width(id);
        let op = match node {
            Node::Load(memory, address, _) => self.load(memory, address)?,
            Node::Unary(UnaryOperator::Not, x) => Op { x: self.slot(x)?, extra: width.mask(), ..Op::new(Code::Not) },
            Node::Unary(operator, x) => {
                Op { x: self.slot(x)?, extra: u64::from(width.bits()), ..Op::new(Code::Unary(operator)) }
            }
            Node::Binary(BinaryOperator::Less, ..) if self.graph.is_positive(id).is_some() => {
                let value = self.graph.is_positive(id)?;
                Op { x: self.slot(value)?, extra: self.graph.width(value).mask() >> 1, ..Op::new(Code::Positive) }
            }
            Node::Binary(operator, x, y) => self.binary(operator, x, y)?,
            Node::Slice(x, bit) if width == Width::BIT && self.is_beside(x) => self.differs_from_both(x, bit)?,
            Node::Slice(x, low) => Op { x: self.slot(x)?, z: low as u8, extra: width.mask(), ..Op::new(Code::Slice) },
            Node::Join(high, low) => self.join(high, low)?,
            Node::SignExtend(x) => {
                let z = self.graph.width(x).bits() as u8;
                Op { x: self.slot(x)?, z, extra: width.mask(), ..Op::new(Code::SignExtend) }
            }
            Node::Choose(condition, x, y) => {
                Op { x: self.slot(x)?, y: self.slot(y)?, z: self.slot(condition)?, ..Op::new(Code::Choose) }
            }
            Node::Register(register) => Op { extra: register.index() as u64, ..Op::new(Code::GetRegister) },
            // An answer gets its slot when its device is asked.
            Node::Constant(_) | Node::ZeroExtend(_) | Node::Answer(_) => return None,
        };
        let into = self.temporary()?;
        self.ops.push(Op { into, ..op });
        Some(into)
    }

    /// Lowers `high` above `low`. If `high` is a part of another value, the same operation takes that part where it
    /// can.
    fn join(&mut self, high: ValueId, low: ValueId) -> Option<Op> {
        let count = self.graph.width(low).bits();
        let mask = self.graph.width(high).mask();
        let (whole, lowest) = match self.graph.node(high) {
            Node::Slice(whole, lowest) if self.slots[high.index()].is_none() => (whole, lowest),
            _ => (high, 0),
        };
        Some(match self.graph.as_constant(low) {
            Some(0) => {
                let (code, by) = match count.checked_sub(lowest) {
                    Some(left) => (Code::ShiftLeft, left),
                    None => (Code::Slice, lowest - count),
                };
                Op { x: self.slot(whole)?, z: by as u8, extra: mask << count, ..Op::new(code) }
            }
            Some(extra) => Op { x: self.slot(high)?, z: count as u8, extra, ..Op::new(Code::JoinNumber) },
            None => {
                let high = if lowest == 0 { whole } else { high };
                let extra = mask << count | self.graph.width(low).mask();
                Op { x: self.slot(high)?, y: self.slot(low)?, z: count as u8, extra, ..Op::new(Code::Join) }
            }
        })
    }

    fn binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<Op> {
        use BinaryOperator::*;
        let operands = self.graph.width(x);
        let number = self.graph.as_constant(y);
        let mask = operands.mask();
        let x = self.slot(x)?;
        let with_number = match (operator, number) {
            (Add, Some(number)) if mask <= u64::from(u32::MAX) => Some((Code::AddNumber, 0, mask << 32 | number)),
            (And, Some(number)) => Some((Code::AndNumber, 0, number)),
            (Or, Some(number)) => Some((Code::OrNumber, 0, number)),
            (Xor, Some(number)) => Some((Code::XorNumber, 0, number)),
            (Equal, Some(number)) => Some((Code::EqualNumber, 0, number)),
            (Unequal, Some(number)) => Some((Code::UnequalNumber, 0, number)),
            (Less, Some(number)) => Some((Code::LessNumber, 0, number)),
            (LessOrEqual, Some(number)) if number < u64::MAX => Some((Code::LessNumber, 0, number + 1)),
            (ShiftRight, Some(count)) if count < u64::from(operands.bits()) => {
                Some((Code::Slice, count as u8, mask >> count))
            }
            (ShiftLeft, Some(count)) if count < u64::from(operands.bits()) => {
                Some((Code::ShiftLeft, count as u8, mask))
            }
            _ => None,
        };
        if let Some((code, z, extra)) = with_number {
            return Some(Op { x, z, extra, ..Op::new(code) });
        }
        let (code, extra) = match operator {
            Add => (Code::Add, mask),
            Subtract => (Code::Subtract, mask),
            And => (Code::And, 0),
            Or => (Code::Or, 0),
            Xor => (Code::Xor, 0),
            Equal => (Code::Equal, 0),
            Unequal => (Code::Unequal, 0),
            Less => (Code::Less, 0),
            LessOrEqual => (Code::LessOrEqual, 0),
            LessSigned => (Code::LessSigned, 0),
            Multiply => (Code::Multiply, mask),
            ShiftLeft => (Code::ShiftLeftBy, mask),
            ShiftRight => (Code::ShiftRightBy, 0),
            other => (Code::Binary(other), u64::from(operands.bits())),
        };
        Some(Op { x, y: self.slot(y)?, z: 64 - operands.bits() as u8, extra, ..Op::new(code) })
    }

    /// Returns an operation that tests a condition, and whether it tests the inverse. It compares with a number only if
    /// `number` allows that.
    pub(super) fn condition(&mut self, condition: ValueId, number: bool) -> Option<(Op, bool)> {
        use BinaryOperator::{Equal, Less, LessOrEqual, Unequal};
        let test = |code, x, y| Op { x, y, ..Op::new(code) };
        Some(match self.graph.node(condition) {
            Node::Unary(UnaryOperator::Not, inner) => {
                let (op, inverse) = self.condition(inner, number)?;
                (op, !inverse)
            }
            Node::Binary(operator @ (Equal | Unequal), x, y) => {
                let op = match self.graph.as_constant(y).filter(|_| number) {
                    Some(extra) => Op { x: self.slot(x)?, extra, ..Op::new(Code::EqualNumber) },
                    None => test(Code::BranchIfEqual, self.slot(x)?, self.slot(y)?),
                };
                (op, operator == Unequal)
            }
            Node::Binary(Less, x, y) if self.graph.is_positive(condition).is_none() => {
                (test(Code::BranchIfLess, self.slot(x)?, self.slot(y)?), false)
            }
            Node::Binary(LessOrEqual, x, y) => (test(Code::BranchIfLess, self.slot(y)?, self.slot(x)?), true),
            Node::Slice(x, low) => (Op { x: self.slot(x)?, z: low as u8, ..Op::new(Code::BranchIfBit) }, false),
            _ => (test(Code::BranchIf, self.slot(condition)?, 0), false),
        })
    }
}
