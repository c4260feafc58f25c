//! Compiles regions for x86-64 in one pass: the code is about as good as Cranelift's quick code, and takes a tenth of
//! the time to make. Regions that go on running are compiled again, by Cranelift.

mod assembler;
mod listing;
#[cfg(target_os = "linux")]
mod space;
#[cfg(test)]
mod tests;
mod writer;

use lathe_isa::Isa;

use self::listing::{BlockId, Id, Listing, Op, Value, Variable};
#[cfg(target_os = "linux")]
pub(crate) use self::space::Space;
use self::writer::{Crossing, Writer};
use crate::emit::{Builder, Comparison, Home, Operation, Placed, Type, emit};
use crate::region::Region;

/// The position-independent code of a region: a function of the context and the number of a block, by the C calling
/// convention of Unix.
pub(crate) struct Finished {
    pub(crate) code: Vec<u8>,
    /// The offset at which the code of another region enters each block; empty if it cannot.
    pub(crate) ways_in: Vec<u32>,
}

pub(crate) fn compile(isa: &Isa, region: &Region) -> Finished {
    let mut builder = DirectBuilder::new();
    let [context, number] = builder.parameters();
    emit(isa, region, &mut builder, context, number);
    builder.writer.finish(Some(Crossing { bound: region.bound, modes: &region.assumptions.modes }))
}

/// Writes a function, block by block.
struct DirectBuilder {
    writer: Writer,
    /// The block being built.
    listing: Listing,
    /// The lines of the open `if`s, each with the number of masked values before it.
    open: Vec<(usize, usize)>,
    /// Masked values available at the current position.
    masked: Vec<Masked>,
}

/// A value that is another one masked.
struct Masked {
    of: Value,
    mask: u64,
    value: Value,
}

impl DirectBuilder {
    fn new() -> DirectBuilder {
        let mut writer = Writer::new();
        writer.prologue();
        DirectBuilder { writer, listing: Listing::default(), open: Vec::new(), masked: Vec::new() }
    }

    fn parameters(&mut self) -> [Value; 2] {
        let number = self.listing.add(Op::Parameter, Type::I32);
        [Value { id: Id::CONTEXT, ty: Type::I64 }, number]
    }

    /// Writes the code of the listing, and clears it.
    fn write(&mut self) {
        self.writer.write(&self.listing);
        self.listing.clear();
        self.masked.clear();
    }

    /// Masks a value, unless it has no other bits or the masked value is available.
    fn mask(&mut self, x: Value, number: Value, mask: u64) -> Value {
        if self.listing.possible_bits(x) & !mask == 0 {
            return x;
        }
        let is_the_same = |masked: &&Masked| masked.of == x && masked.mask == mask;
        if let Some(masked) = self.masked.iter().find(is_the_same) {
            return masked.value;
        }
        let value = self.listing.add(Op::Calculate(Operation::And, x, number), x.ty);
        self.masked.push(Masked { of: x, mask, value });
        value
    }

    fn effect(&mut self, op: Op) {
        self.listing.add(op, Type::I64);
    }

    /// Returns the number of the next line.
    fn next(&self) -> u32 {
        self.listing.lines.len() as u32
    }
}

impl Builder for DirectBuilder {
    type Value = Value;
    type Variable = Variable;
    type Block = BlockId;
    const POINTER: Type = Type::I64;
    const VARIABLES_IN_MEMORY: bool = true;
    const ASKED_IN_TURN: usize = 3;

    fn constant(&mut self, ty: Type, value: u64) -> Value {
        let value = if ty == Type::I32 { u64::from(value as u32) } else { value };
        self.listing.add(Op::Number(value), ty)
    }

    fn calculate(&mut self, operation: Operation, x: Value, y: Value) -> Value {
        use Operation::*;
        match (operation, self.listing.number(y)) {
            (And, Some(mask)) => return self.mask(x, y, mask),
            (Add | Subtract | Or | Xor | ShiftLeft | ShiftRight | ShiftRightSigned, Some(0)) => return x,
            (ShiftLeft, Some(count)) => {
                if let Some((inner, before)) = self.listing.shifted_left(x)
                    && let Some(count) = before.checked_add(count).filter(|count| *count < u64::from(x.ty.bits()))
                {
                    return self.calculate_with(ShiftLeft, x.ty, inner, count);
                }
            }
            _ => {}
        }
        self.listing.add(Op::Calculate(operation, x, y), x.ty)
    }

    fn not(&mut self, x: Value) -> Value {
        self.listing.add(Op::Not(x), x.ty)
    }

    fn negate(&mut self, x: Value) -> Value {
        self.listing.add(Op::Negate(x), x.ty)
    }

    fn swap_bytes(&mut self, bytes: u32, x: Value) -> Value {
        if let Some(number) = self.listing.number(x) {
            return self.constant(x.ty, number.swap_bytes() >> (u64::BITS - 8 * bytes));
        }
        self.listing.add(Op::Swap(bytes, x), x.ty)
    }

    fn compare(&mut self, comparison: Comparison, x: Value, y: Value) -> Value {
        self.listing.add(Op::Compare(comparison, x, y), Type::I32)
    }

    fn is_zero(&mut self, x: Value) -> Value {
        self.listing.add(Op::IsZero(x), Type::I32)
    }

    fn bit(&mut self, ty: Type, condition: Value) -> Value {
        self.listing.add(Op::Bit(condition), ty)
    }

    fn choose(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.listing.add(Op::Choose(condition, x, y), x.ty)
    }

    /// Does nothing: the upper half of a register is zero if its value has 32 bits.
    fn widen(&mut self, x: Value) -> Value {
        Value { ty: Type::I64, ..x }
    }

    fn widen_signed(&mut self, x: Value) -> Value {
        self.listing.add(Op::WidenSigned(x), Type::I64)
    }

    fn narrow(&mut self, x: Value) -> Value {
        self.listing.add(Op::Narrow(x), Type::I32)
    }

    fn load(&mut self, ty: Type, bytes: u32, at: Value, offset: i32) -> Value {
        self.listing.add(Op::Load { bytes, at, offset }, ty)
    }

    fn store(&mut self, bytes: u32, value: Value, at: Value, offset: i32) {
        self.effect(Op::Store { bytes, value, at, offset });
    }

    fn variable(&mut self, ty: Type, home: Home) -> Variable {
        self.writer.variable(ty, home)
    }

    fn read(&mut self, variable: Variable) -> Value {
        let ty = self.writer.type_of(variable);
        self.listing.add(Op::Read(variable), ty)
    }

    fn assign(&mut self, values: &[(Variable, Value)]) {
        let first = self.listing.assigned.len() as u32;
        self.listing.assigned.extend_from_slice(values);
        self.effect(Op::Assign { first, count: values.len() as u32 });
    }

    fn keep(&mut self, x: Value) -> Value {
        let number = self.writer.new_kept();
        self.effect(Op::Keep(x, number));
        Value { id: Id::kept(number as usize), ty: x.ty }
    }

    fn block(&mut self) -> BlockId {
        self.writer.block()
    }

    fn dispatch(&mut self, number: Value, _: &[BlockId]) {
        self.effect(Op::Dispatch(number));
    }

    fn start(&mut self, block: BlockId) {
        self.write();
        self.writer.place(block);
    }

    fn jump(&mut self, block: BlockId) {
        self.effect(Op::Jump(block));
    }

    fn begin_if(&mut self, condition: Value, _: Placed) {
        self.open.push((self.listing.lines.len(), self.masked.len()));
        self.effect(Op::If { condition, is_rare: false, otherwise: 0 });
    }

    fn begin_if_any(&mut self, conditions: &[Value]) {
        let first = self.listing.conditions.len() as u32;
        self.listing.conditions.extend_from_slice(conditions);
        let any = self.listing.add(Op::Any { first, count: conditions.len() as u32 }, Type::I32);
        self.begin_if(any, Placed::Away);
    }

    fn begin_else(&mut self) {
        let next = self.next();
        if let Some((line, masked)) = self.open.last() {
            self.masked.truncate(*masked);
            if let Op::If { otherwise, .. } = &mut self.listing.lines[*line].op {
                *otherwise = next;
            }
        }
        self.effect(Op::Else { end: 0 });
    }

    fn end_if(&mut self) {
        let next = self.next();
        self.effect(Op::End);
        let Some((line, masked)) = self.open.pop() else { return };
        self.masked.truncate(masked);
        let Op::If { otherwise, .. } = &mut self.listing.lines[line].op else { return };
        match *otherwise {
            0 => *otherwise = next,
            other => self.listing.lines[other as usize].op = Op::Else { end: next },
        }
    }

    fn is_cold(&mut self) {
        if let Some((line, _)) = self.open.last().filter(|(line, _)| line + 1 == self.listing.lines.len())
            && let Op::If { is_rare, .. } = &mut self.listing.lines[*line].op
        {
            *is_rare = true;
        }
    }

    fn leave(&mut self) {
        self.effect(Op::Leave);
    }

    fn go_on(&mut self) {
        self.effect(Op::GoOn);
    }

    fn finish(&mut self) {
        self.write();
    }
}
