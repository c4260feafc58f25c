//! From values of a graph to Cranelift values.
//!
//! A value of up to 32 bits is computed in an `i32`, a wider one in an `i64`; no other type
//! is used, because Cranelift's others get far less testing. A value is *exact* when all
//! bits above its width are zero, and *loose* when they may be anything. Most operators do
//! not look at higher bits, so masking is left to those that do.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use cranelift_frontend::{FunctionBuilder, Variable};
use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_values::{Graph, Node, ValueId};

/// The type in which values of a width are computed.
pub(crate) fn type_of(width: Width) -> Type {
    if width.bits() <= 32 { I32 } else { I64 }
}

/// The values of one block that have been computed where the emission stands.
#[derive(Default)]
pub(crate) struct Computed {
    exact: Vec<Option<Value>>,
    loose: Vec<Option<Value>>,
    log: Vec<(ValueId, bool)>,
}

impl Computed {
    /// For a graph of this many values.
    pub(crate) fn new(values: usize) -> Computed {
        Computed { exact: vec![None; values], loose: vec![None; values], log: Vec::new() }
    }

    /// A position to come back to.
    pub(crate) fn mark(&self) -> usize {
        self.log.len()
    }

    /// Forgets what was computed since the mark, because it is not computed on other ways.
    pub(crate) fn rewind(&mut self, mark: usize) {
        for (id, exact) in self.log.drain(mark..) {
            let list = if exact { &mut self.exact } else { &mut self.loose };
            list[id.index()] = None;
        }
    }

    /// Notes an exact value.
    pub(crate) fn set_exact(&mut self, id: ValueId, value: Value) {
        self.exact[id.index()] = Some(value);
        self.log.push((id, true));
    }

    fn set_loose(&mut self, id: ValueId, value: Value) {
        self.loose[id.index()] = Some(value);
        self.log.push((id, false));
    }
}

/// Computes values at the place where the builder stands.
pub(crate) struct Values<'a, 'f> {
    pub(crate) builder: &'a mut FunctionBuilder<'f>,
    pub(crate) graph: &'a Graph,
    pub(crate) computed: &'a mut Computed,
    /// The variable of each register, by its number.
    pub(crate) registers: &'a [Option<Variable>],
}

impl Values<'_, '_> {
    fn bits(&self, id: ValueId) -> u32 {
        self.graph.width(id).bits()
    }

    fn ty(&self, id: ValueId) -> Type {
        type_of(self.graph.width(id))
    }

    fn constant(&mut self, ty: Type, value: u64) -> Value {
        // Cranelift wants the constant of an `i32` without bits above it.
        let value = if ty == I32 { i64::from(value as u32) } else { value as i64 };
        self.builder.ins().iconst(ty, value)
    }

    fn mask(&mut self, value: Value, width: Width) -> Value {
        let ty = type_of(width);
        if width.bits() == ty.bits() {
            return value;
        }
        let mask = self.constant(ty, width.mask());
        self.builder.ins().band(value, mask)
    }

    /// The value in another type, with zeros or nothing above.
    fn convert(&mut self, value: Value, from: Type, to: Type) -> Value {
        match (from, to) {
            (I32, I64) => self.builder.ins().uextend(I64, value),
            (I64, I32) => self.builder.ins().ireduce(I32, value),
            _ => value,
        }
    }

    /// The value with zeros above its width.
    pub(crate) fn exact(&mut self, id: ValueId) -> Value {
        if let Some(value) = self.computed.exact[id.index()] {
            return value;
        }
        let value = match self.make_exact(id) {
            Some(value) => value,
            None => {
                let loose = self.loose(id);
                self.mask(loose, self.graph.width(id))
            }
        };
        self.computed.set_exact(id, value);
        value
    }

    /// The value with anything above its width.
    pub(crate) fn loose(&mut self, id: ValueId) -> Value {
        let index = id.index();
        if let Some(value) = self.computed.exact[index].or(self.computed.loose[index]) {
            return value;
        }
        match self.make_loose(id) {
            Some(value) => {
                self.computed.set_loose(id, value);
                value
            }
            None => self.exact(id),
        }
    }

    /// The exact value, where it does not come from masking the loose one.
    fn make_exact(&mut self, id: ValueId) -> Option<Value> {
        let ty = self.ty(id);
        Some(match self.graph.node(id) {
            Node::Constant(value) => self.constant(ty, value),
            Node::Register(register) => {
                let variable = self.registers[register.index()].expect("a register that is read has a variable");
                self.builder.use_var(variable)
            }
            Node::Load(..) => unreachable!("memory is read at its place in the order"),
            Node::Answer(_) => unreachable!("what asks devices is not compiled"),
            Node::Unary(UnaryOperator::Not, x) if self.bits(x) == 1 => {
                let x = self.exact(x);
                let one = self.constant(I32, 1);
                self.builder.ins().bxor(x, one)
            }
            Node::Unary(..) => return None,
            Node::Binary(operator, x, y) => return self.exact_binary(operator, x, y),
            Node::Slice(x, low) if low + self.bits(id) == self.bits(x) => {
                let from = self.ty(x);
                let x = self.exact(x);
                let shifted = self.builder.ins().ushr_imm_u(x, i64::from(low));
                self.convert(shifted, from, ty)
            }
            Node::Slice(..) => return None,
            Node::Join(high, low) => {
                let high_value = self.exact(high);
                self.join(high, high_value, low, ty)
            }
            Node::ZeroExtend(x) => {
                let from = self.ty(x);
                let x = self.exact(x);
                self.convert(x, from, ty)
            }
            Node::SignExtend(_) => return None,
            Node::Choose(condition, x, y) => {
                if let (Some(more), Some(less)) = (self.graph.as_constant(x), self.graph.as_constant(y))
                    && more == less.wrapping_add(1)
                {
                    return Some(self.one_more(condition, y, ty));
                }
                let condition = self.condition(condition);
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.ins().select(condition, x, y)
            }
        })
    }

    /// `y` plus one where the condition holds: what a skipped instruction does to the count of
    /// steps. Adding is cheaper than choosing between constants.
    fn one_more(&mut self, condition: ValueId, y: ValueId, ty: Type) -> Value {
        let (bit, y) = (self.exact(condition), self.exact(y));
        let bit = self.convert(bit, I32, ty);
        self.builder.ins().iadd(y, bit)
    }

    fn join(&mut self, high: ValueId, high_value: Value, low: ValueId, ty: Type) -> Value {
        let (from_high, from_low) = (self.ty(high), self.ty(low));
        let high = self.convert(high_value, from_high, ty);
        let shift = i64::from(self.bits(low));
        let high = self.builder.ins().ishl_imm_u(high, shift);
        let low = self.exact(low);
        let low = self.convert(low, from_low, ty);
        self.builder.ins().bor(high, low)
    }

    fn exact_binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<Value> {
        use BinaryOperator::*;
        Some(match operator {
            And if self.graph.as_constant(y).is_some() => {
                let (x, y) = (self.loose(x), self.exact(y));
                self.builder.ins().band(x, y)
            }
            And => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.ins().band(x, y)
            }
            Or => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.ins().bor(x, y)
            }
            Xor => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.ins().bxor(x, y)
            }
            Divide | Remainder => self.divide(operator, x, y),
            ShiftRight => self.shift(operator, x, y),
            Equal | Unequal | Less | LessOrEqual | LessSigned | LessOrEqualSigned => {
                if self.bits(x) < I32.bits() {
                    return Some(self.compare_by_sign(operator, x, y));
                }
                let bit = self.compare(operator, x, y);
                self.builder.ins().uextend(I32, bit)
            }
            _ => return None,
        })
    }

    /// The loose value, where it is not simply the exact one.
    fn make_loose(&mut self, id: ValueId) -> Option<Value> {
        let ty = self.ty(id);
        Some(match self.graph.node(id) {
            Node::Unary(UnaryOperator::Not, x) if self.bits(x) > 1 => {
                let x = self.loose(x);
                self.builder.ins().bnot(x)
            }
            Node::Unary(UnaryOperator::Negate, x) => {
                let x = self.loose(x);
                self.builder.ins().ineg(x)
            }
            Node::Binary(operator, x, y) => return self.loose_binary(operator, x, y),
            Node::Slice(x, low) => {
                let from = self.ty(x);
                let x = self.loose(x);
                let shifted = if low == 0 { x } else { self.builder.ins().ushr_imm_u(x, i64::from(low)) };
                self.convert(shifted, from, ty)
            }
            Node::Join(high, low) => {
                let high_value = self.loose(high);
                self.join(high, high_value, low, ty)
            }
            Node::SignExtend(x) => {
                let from = self.ty(x);
                let x = self.signed(x);
                if from == ty { x } else { self.builder.ins().sextend(I64, x) }
            }
            Node::Choose(condition, x, y) if self.bits(x) > 1 => {
                let condition = self.condition(condition);
                let (x, y) = (self.loose(x), self.loose(y));
                self.builder.ins().select(condition, x, y)
            }
            _ => return None,
        })
    }

    fn loose_binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<Value> {
        use BinaryOperator::*;
        Some(match operator {
            Add | Subtract | Multiply | Or | Xor => {
                let (x, y) = (self.loose(x), self.loose(y));
                match operator {
                    Add => self.builder.ins().iadd(x, y),
                    Subtract => self.builder.ins().isub(x, y),
                    Multiply => self.builder.ins().imul(x, y),
                    Or => self.builder.ins().bor(x, y),
                    _ => self.builder.ins().bxor(x, y),
                }
            }
            DivideSigned | RemainderSigned => self.divide_signed(operator, x, y),
            ShiftLeft | ShiftRightSigned => self.shift(operator, x, y),
            RotateLeft | RotateRight => self.rotate(operator, x, y),
            _ => return None,
        })
    }

    /// The value with its sign in all bits above its width.
    fn signed(&mut self, id: ValueId) -> Value {
        let spare = i64::from(self.ty(id).bits() - self.bits(id));
        let value = self.loose(id);
        if spare == 0 {
            return value;
        }
        let raised = self.builder.ins().ishl_imm_u(value, spare);
        self.builder.ins().sshr_imm_u(raised, spare)
    }

    /// One bit for a branch or a select: not zero where the value is 1. Even where the value is
    /// there as a number already, testing what it comes from is shorter.
    pub(crate) fn condition(&mut self, id: ValueId) -> Value {
        match self.graph.node(id) {
            Node::Binary(operator, x, y) if operator.is_comparison() => self.compare(operator, x, y),
            Node::Slice(x, low) => {
                let ty = self.ty(x);
                let x = self.loose(x);
                let bit = self.constant(ty, 1 << low);
                self.builder.ins().band(x, bit)
            }
            Node::Unary(UnaryOperator::Not, inner) => {
                let inner = self.condition(inner);
                self.builder.ins().icmp_imm_u(IntCC::Equal, inner, 0)
            }
            _ => self.exact(id),
        }
    }

    fn compare(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Value {
        use BinaryOperator::*;
        let code = match operator {
            Equal => IntCC::Equal,
            Unequal => IntCC::NotEqual,
            Less => IntCC::UnsignedLessThan,
            LessOrEqual => IntCC::UnsignedLessThanOrEqual,
            LessSigned => IntCC::SignedLessThan,
            _ => IntCC::SignedLessThanOrEqual,
        };
        let signed = matches!(operator, LessSigned | LessOrEqualSigned);
        let (x, y) = if signed { (self.signed(x), self.signed(y)) } else { (self.exact(x), self.exact(y)) };
        self.builder.ins().icmp(code, x, y)
    }

    /// The outcome of a comparison as a number, for operands that leave room for a sign: it is the
    /// sign of a difference. On x86 a flag as a number takes three instructions, the first of which
    /// waits for whatever was in its register before.
    fn compare_by_sign(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Value {
        use BinaryOperator::*;
        let signed = matches!(operator, LessSigned | LessOrEqualSigned);
        let zero = self.graph.as_constant(y) == Some(0);
        let (x, y) = if signed { (self.signed(x), self.signed(y)) } else { (self.exact(x), self.exact(y)) };
        let negative = match operator {
            Less | LessSigned => self.builder.ins().isub(x, y),
            LessOrEqual | LessOrEqualSigned => {
                let difference = self.builder.ins().isub(x, y);
                self.builder.ins().iadd_imm_s(difference, -1)
            }
            _ => {
                let differing = if zero { x } else { self.builder.ins().bxor(x, y) };
                match operator {
                    Equal => self.builder.ins().iadd_imm_s(differing, -1),
                    _ => self.builder.ins().ineg(differing),
                }
            }
        };
        self.builder.ins().ushr_imm_u(negative, i64::from(I32.bits() - 1))
    }

    /// Unsigned division, total: by zero it gives all ones, and the dividend as remainder.
    fn divide(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Value {
        let (width, ty) = (self.graph.width(x), self.ty(x));
        let known = self.graph.as_constant(y).is_some_and(|y| y != 0);
        let (x, y) = (self.exact(x), self.exact(y));
        let remainder = operator == BinaryOperator::Remainder;
        if known {
            return if remainder { self.builder.ins().urem(x, y) } else { self.builder.ins().udiv(x, y) };
        }
        let one = self.constant(ty, 1);
        let zero = self.builder.ins().icmp_imm_u(IntCC::Equal, y, 0);
        let divisor = self.builder.ins().select(zero, one, y);
        let (result, otherwise) = if remainder {
            (self.builder.ins().urem(x, divisor), x)
        } else {
            (self.builder.ins().udiv(x, divisor), self.constant(ty, width.mask()))
        };
        self.builder.ins().select(zero, otherwise, result)
    }

    /// Signed division, total. The host traps on a division by zero and on the most negative
    /// number by minus one, so both divisors are replaced before and answered for after.
    fn divide_signed(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Value {
        let ty = self.ty(x);
        let (x, y) = (self.signed(x), self.signed(y));
        let (one, none) = (self.constant(ty, 1), self.constant(ty, 0));
        let all = self.constant(ty, u64::MAX);
        let zero = self.builder.ins().icmp(IntCC::Equal, y, none);
        let minus = self.builder.ins().icmp(IntCC::Equal, y, all);
        let divisor = self.builder.ins().select(zero, one, y);
        let divisor = self.builder.ins().select(minus, one, divisor);
        if operator == BinaryOperator::RemainderSigned {
            let result = self.builder.ins().srem(x, divisor);
            let result = self.builder.ins().select(minus, none, result);
            return self.builder.ins().select(zero, x, result);
        }
        let result = self.builder.ins().sdiv(x, divisor);
        let negative = self.builder.ins().ineg(x);
        let result = self.builder.ins().select(minus, negative, result);
        self.builder.ins().select(zero, all, result)
    }

    /// A shift, total: by the type's bits or more it leaves only the fill.
    fn shift(&mut self, operator: BinaryOperator, x: ValueId, count: ValueId) -> Value {
        use BinaryOperator::*;
        let ty = self.ty(x);
        let bits = u64::from(ty.bits());
        let small = self.graph.as_constant(count).unwrap_or(self.graph.width(count).mask()) < bits;
        let value = match operator {
            ShiftLeft => self.loose(x),
            ShiftRight => self.exact(x),
            _ => self.signed(x),
        };
        let count_type = self.ty(count);
        let count = self.exact(count);
        let last = self.constant(count_type, bits - 1);
        let far = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, count, last);
        let count = match operator {
            ShiftRightSigned if !small => self.builder.ins().select(far, last, count),
            _ => count,
        };
        let count = self.convert(count, count_type, ty);
        let shifted = match operator {
            ShiftLeft => self.builder.ins().ishl(value, count),
            ShiftRight => self.builder.ins().ushr(value, count),
            _ => self.builder.ins().sshr(value, count),
        };
        if small || operator == ShiftRightSigned {
            return shifted;
        }
        let none = self.constant(ty, 0);
        self.builder.ins().select(far, none, shifted)
    }

    fn rotate(&mut self, operator: BinaryOperator, x: ValueId, count: ValueId) -> Value {
        let (ty, bits) = (self.ty(x), u64::from(self.bits(x)));
        let x = self.exact(x);
        let count_type = self.ty(count);
        let count = self.exact(count);
        let modulus = self.constant(count_type, bits);
        let count = self.builder.ins().urem(count, modulus);
        let count = self.convert(count, count_type, ty);
        let whole = self.constant(ty, bits);
        let rest = self.builder.ins().isub(whole, count);
        let (left, right) = if operator == BinaryOperator::RotateLeft { (count, rest) } else { (rest, count) };
        // Where the value fills its type, a count of its bits would be taken for zero; both
        // halves are then the value itself, and so is what they make together.
        let high = self.builder.ins().ishl(x, left);
        let low = self.builder.ins().ushr(x, right);
        self.builder.ins().bor(high, low)
    }
}
