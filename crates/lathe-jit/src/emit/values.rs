//! Turns the values of a graph into values of a compiler.
//!
//! A value of up to 32 bits is computed in an `i32`, a wider one in an `i64`. A value is *exact* if all bits above its
//! width are zero, and *loose* if they may be anything. Most operators ignore higher bits, so only those that use them
//! mask their operands.

use lathe_base::Width;
use lathe_isa::model::MemoryId;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_values::{Graph, Node, ValueId};

use super::builder::Type::{I32, I64};
use super::builder::{Builder, Comparison, Operation, Type};

/// Returns the type in which values of a width are computed.
pub(super) fn type_of(width: Width) -> Type {
    if width.bits() <= 32 { I32 } else { I64 }
}

/// The values of one block that have been computed on the path to the current position.
pub(super) struct Computed<V> {
    exact: Vec<Option<V>>,
    loose: Vec<Option<V>>,
    log: Vec<(ValueId, bool)>,
    /// The pages of addresses, in memories in pieces.
    pages: Vec<(MemoryId, ValueId, V)>,
    /// Spans of cells known to be contiguous, each from an address on.
    contiguous: Vec<(ValueId, u64)>,
}

/// A position in the lists of computed values.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    log: usize,
    pages: usize,
    contiguous: usize,
}

impl<V: Copy> Computed<V> {
    /// Creates the record for a graph of this many values.
    pub(super) fn new(values: usize) -> Computed<V> {
        Computed {
            exact: vec![None; values],
            loose: vec![None; values],
            log: Vec::new(),
            pages: Vec::new(),
            contiguous: Vec::new(),
        }
    }

    /// Returns a position to rewind to.
    pub(super) fn mark(&self) -> Mark {
        Mark { log: self.log.len(), pages: self.pages.len(), contiguous: self.contiguous.len() }
    }

    /// Forgets the values computed since the mark, because other paths do not compute them.
    pub(super) fn rewind(&mut self, mark: Mark) {
        for (id, exact) in self.log.drain(mark.log..) {
            let list = if exact { &mut self.exact } else { &mut self.loose };
            list[id.index()] = None;
        }
        self.pages.truncate(mark.pages);
        self.contiguous.truncate(mark.contiguous);
    }

    /// Records that this many cells from an address on are contiguous.
    pub(super) fn set_contiguous(&mut self, first: ValueId, count: u64) {
        self.contiguous.push((first, count));
    }

    /// Returns an address in the same page, which represents all addresses known to be in that page.
    pub(super) fn in_same_page(&self, graph: &Graph, address: ValueId) -> ValueId {
        let is_covered = |(first, count): &&(ValueId, u64)| {
            let distance = graph.distance(*first, address);
            distance.is_some_and(|distance| distance >= 0 && distance.unsigned_abs() < *count)
        };
        self.contiguous.iter().find(is_covered).map_or(address, |(first, _)| *first)
    }

    /// Returns the page of an address, if it has been looked up.
    pub(super) fn page(&self, memory: MemoryId, address: ValueId) -> Option<V> {
        let found = self.pages.iter().find(|(of, at, _)| (*of, *at) == (memory, address));
        found.map(|(.., page)| *page)
    }

    pub(super) fn set_page(&mut self, memory: MemoryId, address: ValueId, page: V) {
        self.pages.push((memory, address, page));
    }

    /// Records an exact value.
    pub(super) fn set_exact(&mut self, id: ValueId, value: V) {
        self.exact[id.index()] = Some(value);
        self.log.push((id, true));
    }

    fn set_loose(&mut self, id: ValueId, value: V) {
        self.loose[id.index()] = Some(value);
        self.log.push((id, false));
    }
}

/// Computes values at the current position of the builder.
pub(super) struct Values<'a, B: Builder> {
    pub(super) builder: &'a mut B,
    pub(super) graph: &'a Graph,
    pub(super) computed: &'a mut Computed<B::Value>,
    /// The variable of each register, by its number.
    pub(super) registers: &'a [Option<B::Variable>],
}

impl<B: Builder> Values<'_, B> {
    fn bits(&self, id: ValueId) -> u32 {
        self.graph.width(id).bits()
    }

    fn ty(&self, id: ValueId) -> Type {
        type_of(self.graph.width(id))
    }

    fn mask(&mut self, value: B::Value, width: Width) -> B::Value {
        let ty = type_of(width);
        if width.bits() == ty.bits() {
            return value;
        }
        self.builder.low_bits(ty, value, width.mask())
    }

    /// Returns the value with zeros above its width.
    pub(super) fn exact(&mut self, id: ValueId) -> B::Value {
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

    /// Returns the value with anything above its width.
    pub(super) fn loose(&mut self, id: ValueId) -> B::Value {
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

    /// Computes the exact value, unless it comes from masking the loose value.
    fn make_exact(&mut self, id: ValueId) -> Option<B::Value> {
        let ty = self.ty(id);
        Some(match self.graph.node(id) {
            Node::Constant(value) => self.builder.constant(ty, value),
            Node::Register(register) => {
                let variable = self.registers[register.index()].expect("a register that is read has a variable");
                self.builder.read(variable)
            }
            Node::Load(..) => unreachable!("memory is read at its place in the order"),
            Node::Answer(_) => unreachable!("what asks devices is not compiled"),
            Node::Unary(UnaryOperator::Not, x) if self.bits(x) == 1 => {
                let x = self.exact(x);
                let one = self.builder.constant(I32, 1);
                self.builder.calculate(Operation::Xor, x, one)
            }
            Node::Unary(..) => return None,
            Node::Binary(operator, x, y) => return self.exact_binary(operator, x, y),
            Node::Slice(x, low) if low + self.bits(id) == self.bits(x) => {
                let from = self.ty(x);
                let x = self.exact(x);
                let shifted = self.builder.calculate_with(Operation::ShiftRight, from, x, u64::from(low));
                self.builder.convert(shifted, from, ty)
            }
            Node::Slice(..) => return None,
            Node::Join(high, low) => match self.replaces_low_bits(high, low) {
                Some(all) => {
                    let (from, mask) = (self.ty(all), self.graph.width(high).mask() << self.bits(low));
                    let all = self.loose(all);
                    let all = self.builder.convert(all, from, ty);
                    let high = self.builder.calculate_with(Operation::And, ty, all, mask);
                    self.or_low(high, low, ty)
                }
                None => {
                    let high_value = self.exact(high);
                    self.join(high, high_value, low, ty)
                }
            },
            Node::ZeroExtend(x) => {
                let from = self.ty(x);
                let x = self.exact(x);
                self.builder.convert(x, from, ty)
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
                self.builder.choose(condition, x, y)
            }
        })
    }

    /// Computes `y` plus one if the condition holds: the effect of a skipped instruction on the count of steps. Adding
    /// is cheaper than choosing between constants.
    fn one_more(&mut self, condition: ValueId, y: ValueId, ty: Type) -> B::Value {
        let (bit, y) = (self.exact(condition), self.exact(y));
        let bit = self.builder.convert(bit, I32, ty);
        self.builder.calculate(Operation::Add, y, bit)
    }

    fn join(&mut self, high: ValueId, high_value: B::Value, low: ValueId, ty: Type) -> B::Value {
        let from_high = self.ty(high);
        let high = self.builder.convert(high_value, from_high, ty);
        let shift = u64::from(self.bits(low));
        let high = self.builder.calculate_with(Operation::ShiftLeft, ty, high, shift);
        self.or_low(high, low, ty)
    }

    fn or_low(&mut self, high: B::Value, low: ValueId, ty: Type) -> B::Value {
        let from = self.ty(low);
        let low = self.exact(low);
        let low = self.builder.convert(low, from, ty);
        self.builder.calculate(Operation::Or, high, low)
    }

    /// Returns the value whose upper part is `high`, if it lies above as many bits as `low` has. It then need not be
    /// shifted down and up again.
    fn replaces_low_bits(&self, high: ValueId, low: ValueId) -> Option<ValueId> {
        let Node::Slice(all, from) = self.graph.node(high) else { return None };
        let is_new = self.computed.exact[high.index()].is_none();
        (is_new && from == self.bits(low)).then_some(all)
    }

    /// Returns what to compare: the operands of a difference that is compared with zero, because it is zero if they are
    /// equal.
    fn compared(&self, operator: BinaryOperator, x: ValueId, y: ValueId) -> (ValueId, ValueId) {
        let is_new = self.computed.exact[x.index()].is_none();
        match self.graph.node(x) {
            Node::Binary(BinaryOperator::Subtract, a, b)
                if is_new
                    && matches!(operator, BinaryOperator::Equal | BinaryOperator::Unequal)
                    && self.graph.as_constant(y) == Some(0) =>
            {
                (a, b)
            }
            _ => (x, y),
        }
    }

    fn exact_binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<B::Value> {
        use BinaryOperator::*;
        Some(match operator {
            And if self.graph.as_constant(y).is_some() => {
                let (x, y) = (self.loose(x), self.exact(y));
                self.builder.calculate(Operation::And, x, y)
            }
            And => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.calculate(Operation::And, x, y)
            }
            Or => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.calculate(Operation::Or, x, y)
            }
            Xor => {
                let (x, y) = (self.exact(x), self.exact(y));
                self.builder.calculate(Operation::Xor, x, y)
            }
            Divide | Remainder => self.divide(operator, x, y),
            ShiftRight => self.shift(operator, x, y),
            Equal | Unequal | Less | LessOrEqual | LessSigned | LessOrEqualSigned => {
                if self.bits(x) < I32.bits() {
                    return Some(self.compare_by_sign(operator, x, y));
                }
                let bit = self.compare(operator, x, y);
                self.builder.bit(I32, bit)
            }
            _ => return None,
        })
    }

    /// Computes the loose value, unless it is simply the exact value.
    fn make_loose(&mut self, id: ValueId) -> Option<B::Value> {
        let ty = self.ty(id);
        Some(match self.graph.node(id) {
            Node::Unary(UnaryOperator::Not, x) if self.bits(x) > 1 => {
                let x = self.loose(x);
                self.builder.not(x)
            }
            Node::Unary(UnaryOperator::Negate, x) => {
                let x = self.loose(x);
                self.builder.negate(x)
            }
            Node::Binary(operator, x, y) => return self.loose_binary(operator, x, y),
            Node::Slice(x, low) => {
                let from = self.ty(x);
                let x = self.loose(x);
                let shifted = match low {
                    0 => x,
                    _ => self.builder.calculate_with(Operation::ShiftRight, from, x, u64::from(low)),
                };
                self.builder.convert(shifted, from, ty)
            }
            Node::Join(high, low) if !self.is_exact_anyway(high) && self.replaces_low_bits(high, low).is_none() => {
                let high_value = self.loose(high);
                self.join(high, high_value, low, ty)
            }
            Node::SignExtend(x) => {
                let from = self.ty(x);
                let x = self.signed(x);
                if from == ty { x } else { self.builder.widen_signed(x) }
            }
            Node::Choose(condition, x, y) if self.bits(x) > 1 => {
                let condition = self.condition(condition);
                let (x, y) = (self.loose(x), self.loose(y));
                self.builder.choose(condition, x, y)
            }
            _ => return None,
        })
    }

    /// Whether a value is exact without further work, so that a loose value gains nothing.
    fn is_exact_anyway(&self, id: ValueId) -> bool {
        self.computed.exact[id.index()].is_some()
            || matches!(self.graph.node(id), Node::Register(_) | Node::Constant(_))
    }

    fn loose_binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> Option<B::Value> {
        use BinaryOperator::*;
        Some(match operator {
            Add | Subtract | Multiply | Or | Xor => {
                let (x, y) = (self.loose(x), self.loose(y));
                match operator {
                    Add => self.builder.calculate(Operation::Add, x, y),
                    Subtract => self.builder.calculate(Operation::Subtract, x, y),
                    Multiply => self.builder.calculate(Operation::Multiply, x, y),
                    Or => self.builder.calculate(Operation::Or, x, y),
                    _ => self.builder.calculate(Operation::Xor, x, y),
                }
            }
            DivideSigned | RemainderSigned => self.divide_signed(operator, x, y),
            ShiftLeft | ShiftRightSigned => self.shift(operator, x, y),
            RotateLeft | RotateRight => self.rotate(operator, x, y),
            _ => return None,
        })
    }

    /// Returns the value sign-extended to its type.
    fn signed(&mut self, id: ValueId) -> B::Value {
        let ty = self.ty(id);
        let spare = u64::from(ty.bits() - self.bits(id));
        let value = self.loose(id);
        if spare == 0 {
            return value;
        }
        let raised = self.builder.calculate_with(Operation::ShiftLeft, ty, value, spare);
        self.builder.calculate_with(Operation::ShiftRightSigned, ty, raised, spare)
    }

    /// Returns a condition for a branch or a choice: not zero if the one-bit value is 1. Even if the value has been
    /// computed, testing its operands is shorter.
    pub(super) fn condition(&mut self, id: ValueId) -> B::Value {
        match self.graph.node(id) {
            Node::Binary(operator, x, y) if operator.is_comparison() => self.compare(operator, x, y),
            Node::Slice(x, low) => {
                let ty = self.ty(x);
                let x = self.loose(x);
                let bit = self.builder.constant(ty, 1 << low);
                self.builder.calculate(Operation::And, x, bit)
            }
            Node::Unary(UnaryOperator::Not, inner) => {
                let inner = self.condition(inner);
                self.builder.is_zero(inner)
            }
            _ => self.exact(id),
        }
    }

    fn compare(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> B::Value {
        use BinaryOperator::*;
        let (x, y) = self.compared(operator, x, y);
        let comparison = match operator {
            Equal => Comparison::Equal,
            Unequal => Comparison::Unequal,
            Less => Comparison::Less,
            LessOrEqual => Comparison::LessOrEqual,
            LessSigned => Comparison::LessSigned,
            _ => Comparison::LessOrEqualSigned,
        };
        let signed = matches!(operator, LessSigned | LessOrEqualSigned);
        let (x, y) = if signed { (self.signed(x), self.signed(y)) } else { (self.exact(x), self.exact(y)) };
        self.builder.compare(comparison, x, y)
    }

    /// Computes the outcome of a comparison as a number, for operands that leave room for a sign: it is the sign of a
    /// difference. On x86, turning a flag into a number takes three instructions, the first of which waits for the old
    /// value of its register.
    fn compare_by_sign(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> B::Value {
        use BinaryOperator::*;
        let (x, y) = self.compared(operator, x, y);
        let signed = matches!(operator, LessSigned | LessOrEqualSigned);
        let zero = self.graph.as_constant(y) == Some(0);
        let (x, y) = if signed { (self.signed(x), self.signed(y)) } else { (self.exact(x), self.exact(y)) };
        let negative = match operator {
            Less | LessSigned => self.builder.calculate(Operation::Subtract, x, y),
            LessOrEqual | LessOrEqualSigned => {
                let difference = self.builder.calculate(Operation::Subtract, x, y);
                self.builder.calculate_with(Operation::Add, I32, difference, u64::MAX)
            }
            _ => {
                let differing = if zero { x } else { self.builder.calculate(Operation::Xor, x, y) };
                match operator {
                    Equal => self.builder.calculate_with(Operation::Add, I32, differing, u64::MAX),
                    _ => self.builder.negate(differing),
                }
            }
        };
        self.builder.calculate_with(Operation::ShiftRight, I32, negative, u64::from(I32.bits() - 1))
    }

    /// Divides unsigned numbers. Division by zero gives all ones, and the dividend as remainder.
    fn divide(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> B::Value {
        let (width, ty) = (self.graph.width(x), self.ty(x));
        let known = self.graph.as_constant(y).is_some_and(|y| y != 0);
        let (x, y) = (self.exact(x), self.exact(y));
        let remainder = operator == BinaryOperator::Remainder;
        if known {
            return if remainder {
                self.builder.calculate(Operation::Remainder, x, y)
            } else {
                self.builder.calculate(Operation::Divide, x, y)
            };
        }
        let one = self.builder.constant(ty, 1);
        let zero = self.builder.is_zero(y);
        let divisor = self.builder.choose(zero, one, y);
        let (result, otherwise) = if remainder {
            (self.builder.calculate(Operation::Remainder, x, divisor), x)
        } else {
            (self.builder.calculate(Operation::Divide, x, divisor), self.builder.constant(ty, width.mask()))
        };
        self.builder.choose(zero, otherwise, result)
    }

    /// Divides signed numbers. The host traps on division by zero and of the most negative number by minus one, so both
    /// divisors are replaced before the division and their results after it.
    fn divide_signed(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> B::Value {
        let ty = self.ty(x);
        let (x, y) = (self.signed(x), self.signed(y));
        let (one, none) = (self.builder.constant(ty, 1), self.builder.constant(ty, 0));
        let all = self.builder.constant(ty, u64::MAX);
        let zero = self.builder.compare(Comparison::Equal, y, none);
        let minus = self.builder.compare(Comparison::Equal, y, all);
        let divisor = self.builder.choose(zero, one, y);
        let divisor = self.builder.choose(minus, one, divisor);
        if operator == BinaryOperator::RemainderSigned {
            let result = self.builder.calculate(Operation::RemainderSigned, x, divisor);
            let result = self.builder.choose(minus, none, result);
            return self.builder.choose(zero, x, result);
        }
        let result = self.builder.calculate(Operation::DivideSigned, x, divisor);
        let negative = self.builder.negate(x);
        let result = self.builder.choose(minus, negative, result);
        self.builder.choose(zero, all, result)
    }

    /// Shifts by any count: by the bits of the type or more, only the fill remains.
    fn shift(&mut self, operator: BinaryOperator, x: ValueId, count: ValueId) -> B::Value {
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
        let last = self.builder.constant(count_type, bits - 1);
        let far = self.builder.compare(Comparison::Less, last, count);
        let count = match operator {
            ShiftRightSigned if !small => self.builder.choose(far, last, count),
            _ => count,
        };
        let count = self.builder.convert(count, count_type, ty);
        let shifted = match operator {
            ShiftLeft => self.builder.calculate(Operation::ShiftLeft, value, count),
            ShiftRight => self.builder.calculate(Operation::ShiftRight, value, count),
            _ => self.builder.calculate(Operation::ShiftRightSigned, value, count),
        };
        if small || operator == ShiftRightSigned {
            return shifted;
        }
        let none = self.builder.constant(ty, 0);
        self.builder.choose(far, none, shifted)
    }

    fn rotate(&mut self, operator: BinaryOperator, x: ValueId, count: ValueId) -> B::Value {
        let (ty, bits) = (self.ty(x), u64::from(self.bits(x)));
        let x = self.exact(x);
        let count_type = self.ty(count);
        let count = self.exact(count);
        let count = match bits.is_power_of_two() {
            true => self.builder.calculate_with(Operation::And, count_type, count, bits - 1),
            false => {
                let modulus = self.builder.constant(count_type, bits);
                self.builder.calculate(Operation::Remainder, count, modulus)
            }
        };
        let count = self.builder.convert(count, count_type, ty);
        let whole = self.builder.constant(ty, bits);
        let rest = self.builder.calculate(Operation::Subtract, whole, count);
        let (left, right) = if operator == BinaryOperator::RotateLeft { (count, rest) } else { (rest, count) };
        // If the value fills its type, shifting by all of its bits shifts by zero; both halves are then the value
        // itself, and so is their union.
        let high = self.builder.calculate(Operation::ShiftLeft, x, left);
        let low = self.builder.calculate(Operation::ShiftRight, x, right);
        self.builder.calculate(Operation::Or, high, low)
    }
}
