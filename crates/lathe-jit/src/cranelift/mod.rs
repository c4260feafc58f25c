//! Compiles regions with Cranelift, for the computer that this runs on.

mod code;
mod placement;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Opcode, SourceLoc, Value, types};
use cranelift_frontend::{FunctionBuilder, Switch, Variable};

pub(crate) use self::code::CraneliftCompiler;
use crate::emit::{Builder, Comparison, Home, Operation, Placed, Type};

/// Flags for accesses to guest and context memory, which never trap. They promise no alignment: neighbouring cells are
/// accessed together at any address.
fn present() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

fn type_for(ty: Type) -> types::Type {
    match ty {
        Type::I32 => types::I32,
        Type::I64 => types::I64,
    }
}

/// Builds a Cranelift function.
pub(crate) struct CraneliftBuilder<'f> {
    builder: FunctionBuilder<'f>,
    /// The block that returns.
    leave: Block,
    /// The open `if`s.
    open: Vec<Branch>,
    /// Whether the last instruction goes elsewhere, so that nothing can follow it.
    is_over: bool,
    /// Blocks that have been started. The source location of code is the number of its block, from 1 on.
    started: u32,
}

/// An open `if`.
struct Branch {
    /// The block for the case that the condition does not hold.
    otherwise: Block,
    has_else: bool,
    /// The block where both ways meet again, if they do.
    after: Option<Block>,
}

impl<'f> CraneliftBuilder<'f> {
    /// Begins a function.
    fn new(mut builder: FunctionBuilder<'f>) -> Self {
        let entry = builder.create_block();
        let leave = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        CraneliftBuilder { builder, leave, open: Vec::new(), is_over: false, started: 0 }
    }

    fn parameters(&self) -> [Value; 2] {
        let entry = self.builder.current_block().expect("the function has begun");
        let parameters = self.builder.block_params(entry);
        [parameters[0], parameters[1]]
    }

    /// Whether a value is a sum with a constant.
    fn is_sum(&self, x: Value) -> bool {
        let data = &self.builder.func.dfg;
        let is_number = |x: &Value| {
            let made = data.value_def(*x).inst().map(|inst| data.insts[inst].opcode());
            made == Some(Opcode::Iconst)
        };
        let made = data.value_def(x).inst().filter(|inst| data.insts[*inst].opcode() == Opcode::Iadd);
        made.is_some_and(|inst| data.inst_args(inst).iter().any(is_number))
    }

    fn switch_to(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.is_over = false;
    }

    /// Goes on after the branch, unless the current way has gone elsewhere.
    fn come_together(&mut self) {
        if self.is_over {
            return;
        }
        let Some(branch) = self.open.last_mut() else { return };
        let after = *branch.after.get_or_insert_with(|| self.builder.create_block());
        self.builder.ins().jump(after, &[]);
    }
}

impl Builder for CraneliftBuilder<'_> {
    type Value = Value;
    type Variable = Variable;
    type Block = Block;
    const POINTER: Type = Type::I64;
    const VARIABLES_IN_MEMORY: bool = false;
    const ASKED_IN_TURN: usize = 1;

    fn constant(&mut self, ty: Type, value: u64) -> Value {
        // Cranelift wants an `i32` constant without higher bits.
        let value = if ty == Type::I32 { u64::from(value as u32) } else { value };
        self.builder.ins().iconst(type_for(ty), value as i64)
    }

    fn calculate(&mut self, operation: Operation, x: Value, y: Value) -> Value {
        let ins = self.builder.ins();
        match operation {
            Operation::Add => ins.iadd(x, y),
            Operation::Subtract => ins.isub(x, y),
            Operation::Multiply => ins.imul(x, y),
            Operation::Divide => ins.udiv(x, y),
            Operation::DivideSigned => ins.sdiv(x, y),
            Operation::Remainder => ins.urem(x, y),
            Operation::RemainderSigned => ins.srem(x, y),
            Operation::And => ins.band(x, y),
            Operation::Or => ins.bor(x, y),
            Operation::Xor => ins.bxor(x, y),
            Operation::ShiftLeft => ins.ishl(x, y),
            Operation::ShiftRight => ins.ushr(x, y),
            Operation::ShiftRightSigned => ins.sshr(x, y),
        }
    }

    /// Extends whole bytes: x86 has a short instruction for that, which Cranelift emits once, while it repeats an `and`
    /// in every block that uses it. Sums are masked: Cranelift would add bytes instead, which takes another copy.
    fn low_bits(&mut self, ty: Type, x: Value, mask: u64) -> Value {
        let narrow = match mask {
            _ if self.is_sum(x) => return self.calculate_with(Operation::And, ty, x, mask),
            0xFF => types::I8,
            0xFFFF => types::I16,
            0xFFFF_FFFF if ty == Type::I64 => types::I32,
            _ => return self.calculate_with(Operation::And, ty, x, mask),
        };
        let narrowed = self.builder.ins().ireduce(narrow, x);
        self.builder.ins().uextend(type_for(ty), narrowed)
    }

    fn not(&mut self, x: Value) -> Value {
        self.builder.ins().bnot(x)
    }

    fn negate(&mut self, x: Value) -> Value {
        self.builder.ins().ineg(x)
    }

    fn swap_bytes(&mut self, bytes: u32, x: Value) -> Value {
        let swapped = self.builder.ins().bswap(x);
        if bytes == 2 { self.builder.ins().ushr_imm_u(swapped, 16) } else { swapped }
    }

    fn compare(&mut self, comparison: Comparison, x: Value, y: Value) -> Value {
        let code = match comparison {
            Comparison::Equal => IntCC::Equal,
            Comparison::Unequal => IntCC::NotEqual,
            Comparison::Less => IntCC::UnsignedLessThan,
            Comparison::LessOrEqual => IntCC::UnsignedLessThanOrEqual,
            Comparison::LessSigned => IntCC::SignedLessThan,
            Comparison::LessOrEqualSigned => IntCC::SignedLessThanOrEqual,
        };
        self.builder.ins().icmp(code, x, y)
    }

    fn is_zero(&mut self, x: Value) -> Value {
        self.builder.ins().icmp_imm_u(IntCC::Equal, x, 0)
    }

    fn bit(&mut self, ty: Type, condition: Value) -> Value {
        self.builder.ins().uextend(type_for(ty), condition)
    }

    fn choose(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.builder.ins().select(condition, x, y)
    }

    fn widen(&mut self, x: Value) -> Value {
        self.builder.ins().uextend(types::I64, x)
    }

    fn widen_signed(&mut self, x: Value) -> Value {
        self.builder.ins().sextend(types::I64, x)
    }

    fn narrow(&mut self, x: Value) -> Value {
        self.builder.ins().ireduce(types::I32, x)
    }

    fn load(&mut self, ty: Type, bytes: u32, at: Value, offset: i32) -> Value {
        let (narrow, ins) = (type_for(ty), self.builder.ins());
        match bytes {
            1 => ins.uload8(narrow, present(), at, offset),
            2 => ins.uload16(narrow, present(), at, offset),
            4 if ty == Type::I64 => ins.uload32(present(), at, offset),
            _ => ins.load(narrow, present(), at, offset),
        }
    }

    fn store(&mut self, bytes: u32, value: Value, at: Value, offset: i32) {
        let ins = self.builder.ins();
        match bytes {
            1 => ins.istore8(present(), value, at, offset),
            2 => ins.istore16(present(), value, at, offset),
            _ => ins.store(present(), value, at, offset),
        };
    }

    fn variable(&mut self, ty: Type, _: Home) -> Variable {
        self.builder.declare_var(type_for(ty))
    }

    fn read(&mut self, variable: Variable) -> Value {
        self.builder.use_var(variable)
    }

    fn assign(&mut self, values: &[(Variable, Value)]) {
        values.iter().for_each(|(variable, value)| self.builder.def_var(*variable, *value));
    }

    fn keep(&mut self, x: Value) -> Value {
        x
    }

    fn block(&mut self) -> Block {
        self.builder.create_block()
    }

    fn dispatch(&mut self, number: Value, blocks: &[Block]) {
        let mut switch = Switch::new();
        for (number, block) in (0..).zip(blocks) {
            switch.set_entry(number, *block);
        }
        let nowhere = self.builder.create_block();
        switch.emit(&mut self.builder, number, nowhere);
        self.builder.switch_to_block(nowhere);
        self.builder.set_cold_block(nowhere);
        self.builder.ins().return_(&[]);
    }

    fn start(&mut self, block: Block) {
        self.started += 1;
        self.builder.set_srcloc(SourceLoc::new(self.started));
        self.switch_to(block);
    }

    fn jump(&mut self, block: Block) {
        self.builder.ins().jump(block, &[]);
        self.is_over = true;
    }

    fn begin_if(&mut self, condition: Value, placed: Placed) {
        let (then, otherwise) = (self.builder.create_block(), self.builder.create_block());
        // Cranelift places the second way next to the branch.
        match placed {
            Placed::Away => self.builder.ins().brif(condition, then, &[], otherwise, &[]),
            Placed::Next => {
                let inverse = self.is_zero(condition);
                self.builder.ins().brif(inverse, otherwise, &[], then, &[])
            }
        };
        self.open.push(Branch { otherwise, has_else: false, after: None });
        self.switch_to(then);
    }

    fn begin_else(&mut self) {
        self.come_together();
        if let Some(branch) = self.open.last_mut() {
            branch.has_else = true;
            let otherwise = branch.otherwise;
            self.switch_to(otherwise);
        }
    }

    fn end_if(&mut self) {
        if self.open.last().is_some_and(|branch| branch.has_else) {
            self.come_together();
        }
        let Some(Branch { otherwise, has_else, after }) = self.open.pop() else { return };
        if has_else {
            after.into_iter().for_each(|after| self.switch_to(after));
            return;
        }
        if !self.is_over {
            self.builder.ins().jump(otherwise, &[]);
        }
        self.switch_to(otherwise);
    }

    fn is_cold(&mut self) {
        if let Some(block) = self.builder.current_block().filter(|_| !self.is_over) {
            self.builder.set_cold_block(block);
        }
    }

    fn leave(&mut self) {
        self.builder.ins().jump(self.leave, &[]);
        self.is_over = true;
    }

    fn finish(&mut self) {
        self.switch_to(self.leave);
        self.builder.set_cold_block(self.leave);
        self.builder.ins().return_(&[]);
        self.builder.seal_all_blocks();
    }
}
