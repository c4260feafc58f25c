//! The same program does the same whether this compiler or Cranelift has compiled it. Programs are generated: values of
//! both types, more than there are registers, in nested branches that meet again or go elsewhere.

use std::ptr::{null, null_mut};

use lathe_tests::random::Random;

use super::DirectBuilder;
use crate::code::Code;
use crate::context::{Context, NO_JUMP, offset};
use crate::cranelift::CraneliftCompiler;
use crate::emit::{Builder, Comparison, Home, Operation, Placed, Type};
use crate::shared::Effort;

const PROGRAMS: u64 = 4_000;
const BLOCKS: u64 = 4;
const REGISTERS: usize = 12;
const MEMORIES: usize = 5;
/// Bytes of each memory that are used; there are a few more.
const BYTES: u64 = 256;

/// One program, for one of the compilers.
struct Program<'b, B: Builder> {
    builder: &'b mut B,
    random: Random,
    memories: Vec<B::Value>,
    variables: Vec<(Type, Home, B::Variable)>,
    blocks: Vec<B::Block>,
    context: B::Value,
    /// The values that the block has computed so far.
    values: Vec<(Type, B::Value)>,
    conditions: Vec<B::Value>,
}

fn type_of(register: usize) -> Type {
    if register.is_multiple_of(3) { Type::I64 } else { Type::I32 }
}

fn program<B: Builder>(builder: &mut B, context: B::Value, number: B::Value, seed: u64) {
    let memories = builder.load_pointer(context, offset!(memories));
    let memories = (0..MEMORIES).map(|memory| {
        let base = builder.load_pointer(memories, memory as i32 * 8);
        builder.keep(base)
    });
    let memories = memories.collect();
    let register = |register| (type_of(register), Home::Register(register as i32 * 8));
    let homes = (0..REGISTERS).map(register).chain([(Type::I64, Home::Context(offset!(cycles)))]);
    let homes = homes.chain([(Type::I64, Home::Fuel)]);
    let variables: Vec<_> = homes.map(|(ty, home)| (ty, home, builder.variable(ty, home))).collect();
    if !B::VARIABLES_IN_MEMORY {
        let mut loaded = Vec::new();
        for (ty, home, variable) in &variables {
            let (at, offset) = place(builder, context, *home);
            loaded.push((*variable, builder.load(*ty, ty.bytes(), at, offset)));
        }
        builder.assign(&loaded);
    }
    let blocks: Vec<_> = (0..BLOCKS).map(|_| builder.block()).collect();
    builder.dispatch(number, &blocks);
    let random = Random(seed);
    let (values, conditions) = (Vec::new(), Vec::new());
    let mut program = Program { builder, random, memories, variables, blocks, context, values, conditions };
    for block in 0..BLOCKS {
        program.block(block);
    }
    program.builder.finish();
}

/// Returns where a variable is written when the function is left.
fn place<B: Builder>(builder: &mut B, context: B::Value, home: Home) -> (B::Value, i32) {
    match home {
        Home::Fuel => (context, offset!(fuel)),
        Home::Context(offset) => (context, offset),
        Home::Register(offset) => (builder.load_pointer(context, offset!(registers)), offset),
    }
}

impl<B: Builder> Program<'_, B> {
    fn block(&mut self, block: u64) {
        self.builder.start(self.blocks[block as usize]);
        (self.values, self.conditions) = (Vec::new(), Vec::new());
        for variable in 0..self.variables.len() {
            if self.random.once_in(2) {
                let (ty, _, variable) = self.variables[variable];
                let value = self.builder.read(variable);
                self.values.push((ty, value));
            }
        }
        let count = self.random.within(1..60);
        self.lines(block, count, 0);
        self.go(block);
    }

    fn lines(&mut self, block: u64, count: u64, depth: u32) {
        for _ in 0..count {
            match self.random.below(16) {
                0 | 1 => self.store(),
                2 | 3 => {
                    let loaded = self.load();
                    self.values.push(loaded);
                }
                4 if depth < 3 => self.branch(block, count / 3, depth),
                5 | 6 => {
                    let condition = self.new_condition();
                    self.conditions.push(condition);
                }
                _ => self.compute(),
            }
        }
    }

    fn branch(&mut self, block: u64, count: u64, depth: u32) {
        let condition = self.condition();
        let placed = *self.random.pick(&[Placed::Away, Placed::Next]);
        let marks = (self.values.len(), self.conditions.len());
        if self.random.once_in(3) {
            let others = self.random.within(1..3);
            let mut conditions: Vec<_> = [condition].into_iter().chain((0..others).map(|_| self.condition())).collect();
            if self.random.once_in(3) {
                conditions.truncate(1);
                conditions.extend(self.two_about_one());
            }
            self.builder.begin_if_any(&conditions);
        } else {
            self.builder.begin_if(condition, placed);
        }
        if self.random.once_in(2) {
            self.builder.is_cold();
        }
        let has_else = self.random.once_in(3);
        for way in 0..1 + u32::from(has_else) {
            if way == 1 {
                self.builder.begin_else();
            }
            self.lines(block, count, depth + 1);
            if self.random.once_in(3) && way == 0 {
                self.go(block);
            }
            self.values.truncate(marks.0);
            self.conditions.truncate(marks.1);
        }
        self.builder.end_if();
    }

    /// Sets some variables, and goes to a later block or leaves.
    fn go(&mut self, block: u64) {
        let mut values: Vec<Option<B::Value>> = Vec::new();
        for (ty, home, variable) in self.variables.clone() {
            if self.random.once_in(2) {
                self.compute();
            }
            values.push(match home {
                Home::Register(_) if self.random.once_in(2) => None,
                Home::Register(_) => Some(self.value(ty)),
                Home::Fuel | Home::Context(_) => {
                    let before = self.builder.read(variable);
                    let operation = if home == Home::Fuel { Operation::Subtract } else { Operation::Add };
                    let number = self.random.below(1 << 20);
                    Some(self.builder.calculate_with(operation, ty, before, number))
                }
            });
        }
        let next = self.random.within(block + 1..BLOCKS + 2);
        let label = self.blocks.get(next as usize).copied();
        if label.is_none() {
            let value = self.value(Type::I64);
            self.builder.store(8, value, self.context, offset!(pc));
        }
        if label.is_some() || B::VARIABLES_IN_MEMORY {
            let set = self.variables.iter().zip(values).filter_map(|((.., variable), value)| Some((*variable, value?)));
            self.builder.assign(&set.collect::<Vec<_>>());
        } else {
            for ((ty, home, variable), value) in self.variables.clone().into_iter().zip(values) {
                let value = value.unwrap_or_else(|| self.builder.read(variable));
                let (at, offset) = place(self.builder, self.context, home);
                self.builder.store(ty.bytes(), value, at, offset);
            }
        }
        match label {
            Some(label) => self.builder.jump(label),
            None => self.builder.leave(),
        }
    }

    fn number(&mut self, ty: Type) -> B::Value {
        let bits = self.random.within(1..u64::from(ty.bits()) + 1) as u32;
        let number = self.random.value(bits);
        let number = if self.random.once_in(4) { number.wrapping_neg() } else { number };
        self.builder.constant(ty, number)
    }

    /// Returns an available value, or a constant.
    fn value(&mut self, ty: Type) -> B::Value {
        let there: Vec<B::Value> = self.values.iter().filter(|(of, _)| *of == ty).map(|(_, value)| *value).collect();
        if there.is_empty() || self.random.once_in(5) { self.number(ty) } else { *self.random.pick(&there) }
    }

    fn condition(&mut self) -> B::Value {
        if self.conditions.is_empty() || self.random.once_in(2) {
            return self.new_condition();
        }
        *self.random.pick(&self.conditions)
    }

    fn new_condition(&mut self) -> B::Value {
        let ty = *self.random.pick(&[Type::I32, Type::I64]);
        let (x, y) = (self.value(ty), self.value(ty));
        let comparisons = [
            Comparison::Equal,
            Comparison::Unequal,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::LessSigned,
            Comparison::LessOrEqualSigned,
        ];
        match self.random.below(12) {
            9..=11 => self.asked_directly(&comparisons),
            0 => self.builder.is_zero(x),
            1 => {
                let bit = self.random.below(u64::from(ty.bits()));
                self.builder.calculate_with(Operation::And, ty, x, 1 << bit)
            }
            2 => {
                let inner = self.builder.calculate_with(Operation::And, ty, x, 1);
                self.builder.is_zero(inner)
            }
            3 => x,
            _ => {
                let comparison = *self.random.pick(&comparisons);
                self.builder.compare(comparison, x, y)
            }
        }
    }

    /// Returns two conditions about one value: how it compares with another, and whether it is zero.
    fn two_about_one(&mut self) -> [B::Value; 2] {
        let ty = *self.random.pick(&[Type::I32, Type::I64]);
        let (x, y) = (self.value(ty), self.value(ty));
        [self.builder.compare(Comparison::Less, x, y), self.builder.is_zero(x)]
    }

    /// Returns a condition about a value in memory, cells or a variable, that is usually read for nothing else.
    fn asked_directly(&mut self, comparisons: &[Comparison]) -> B::Value {
        let (ty, value) = if self.random.once_in(2) {
            self.load()
        } else {
            let (ty, _, variable) = *self.random.pick(&self.variables);
            (ty, self.builder.read(variable))
        };
        let comparison = *self.random.pick(comparisons);
        match self.random.below(8) {
            // A condition about a value that has just been computed.
            6 | 7 => {
                let operations = [Operation::And, Operation::Subtract, Operation::ShiftLeft, Operation::ShiftRight];
                let operation = *self.random.pick(&operations);
                let number = *self.random.pick(&[0, 1, 32, 64]);
                let computed = self.builder.calculate_with(operation, ty, value, number);
                self.values.push((ty, computed));
                self.builder.is_zero(computed)
            }
            0 => value,
            1 => {
                let mask = self.number(ty);
                self.builder.calculate(Operation::And, value, mask)
            }
            2 => {
                let other = self.value(ty);
                self.builder.compare(comparison, other, value)
            }
            _ => {
                let number = *self.random.pick(&[0, 1, 0x80, 0xFF, 0x100, 1 << 31, 1 << 40, u64::MAX, u64::MAX << 31]);
                let number = self.builder.constant(ty, number);
                self.builder.compare(comparison, value, number)
            }
        }
    }

    fn compute(&mut self) {
        let ty = *self.random.pick(&[Type::I32, Type::I64]);
        let (x, y) = (self.value(ty), self.value(ty));
        let value = match self.random.below(24) {
            0 => self.builder.not(x),
            1 => self.builder.negate(x),
            2 => {
                let bytes = if ty == Type::I64 { 8 } else { *self.random.pick(&[2, 4]) };
                self.builder.swap_bytes(bytes, x)
            }
            3 => {
                // Only the outcome of a comparison can become a number.
                let condition = self.builder.compare(Comparison::LessSigned, x, y);
                self.builder.bit(ty, condition)
            }
            4 | 5 => {
                let condition = self.condition();
                self.builder.choose(condition, x, y)
            }
            6 => {
                let x = self.value(Type::I32);
                let value = if self.random.once_in(2) { self.builder.widen(x) } else { self.builder.widen_signed(x) };
                return self.values.push((Type::I64, value));
            }
            7 => {
                let x = self.value(Type::I64);
                let value = self.builder.narrow(x);
                return self.values.push((Type::I32, value));
            }
            8 => {
                let mask = *self.random.pick(&[0xFF, 0xFFFF, 0xFFFF_FFFF, 0x7F, 0x1_0000]);
                self.builder.low_bits(ty, x, mask)
            }
            9 => {
                let positive = self.builder.calculate_with(Operation::And, ty, y, u64::from(u32::MAX >> 1));
                let divisor = self.builder.calculate_with(Operation::Or, ty, positive, 1);
                let divisions =
                    [Operation::Divide, Operation::DivideSigned, Operation::Remainder, Operation::RemainderSigned];
                let division = *self.random.pick(&divisions);
                self.builder.calculate(division, x, divisor)
            }
            _ => {
                let operations = [
                    Operation::Add,
                    Operation::Subtract,
                    Operation::Multiply,
                    Operation::And,
                    Operation::Or,
                    Operation::Xor,
                    Operation::ShiftLeft,
                    Operation::ShiftRight,
                    Operation::ShiftRightSigned,
                ];
                let operation = *self.random.pick(&operations);
                let y = match self.random.below(4) {
                    0 => {
                        let number = *self.random.pick(&[0, 1, 8, 24, 31]);
                        self.builder.constant(ty, number)
                    }
                    _ => y,
                };
                self.builder.calculate(operation, x, y)
            }
        };
        self.values.push((ty, value));
    }

    /// Returns an address in a memory, as the emitter computes it.
    fn address(&mut self) -> (B::Value, i32) {
        let memory = *self.random.pick(&self.memories);
        let index = self.value(Type::I64);
        let index = self.builder.low_bits(Type::I64, index, 0x0F);
        let index = match self.random.below(4) {
            0 => self.builder.calculate_with(Operation::ShiftLeft, Type::I64, index, 3),
            _ => index,
        };
        let mut at = self.builder.calculate(Operation::Add, memory, index);
        if self.random.once_in(3) {
            let further = self.random.below(BYTES / 4);
            at = self.builder.calculate_with(Operation::Add, Type::I64, at, further);
        }
        (at, self.random.below(BYTES / 8) as i32)
    }

    fn load(&mut self) -> (Type, B::Value) {
        let (at, offset) = self.address();
        let ty = *self.random.pick(&[Type::I32, Type::I64]);
        let bytes = *self.random.pick(&[1, 2, 4, 8]);
        (ty, self.builder.load(ty, bytes.min(ty.bytes()), at, offset))
    }

    fn store(&mut self) {
        let ty = *self.random.pick(&[Type::I32, Type::I64]);
        let value = self.value(ty);
        let (at, offset) = self.address();
        let bytes = *self.random.pick(&[1, 2, ty.bytes()]);
        self.builder.store(bytes, value, at, offset);
    }
}

/// Runs a function. Returns the registers, the cells and the fields of the context that it leaves.
fn run(code: &Code, block: u32, seed: u64) -> (Vec<u64>, Vec<u8>, [u64; 3]) {
    let mut random = Random(seed);
    let mut registers: Vec<u64> = (0..REGISTERS).map(|register| random.value(type_of(register).bits())).collect();
    // Often zeros, and many of them together, because compiled code tests for zero.
    let zeros: Vec<bool> = (0..MEMORIES as u64 * BYTES / 8).map(|_| random.once_in(2)).collect();
    let cell = |number: usize| if zeros[number / 8] { 0 } else { random.value(8) as u8 };
    let mut cells: Vec<u8> = (0..MEMORIES * BYTES as usize).map(cell).collect();
    let bases: Vec<*mut u8> = cells.chunks_mut(BYTES as usize).map(<[u8]>::as_mut_ptr).collect();
    let mut context = Context {
        registers: registers.as_mut_ptr(),
        marks: null(),
        rows: null(),
        permits: null(),
        memories: bases.as_ptr(),
        opened: null(),
        fuel: 1 << 40,
        cycles: 7,
        pc: 0,
        interpret: 0,
        jump: NO_JUMP,
        links: null(),
        link_mask: 0,
        usages: null_mut(),
        current: null_mut(),
        started: 0,
    };
    // SAFETY: there are as many registers and memories as the code uses, and it reaches fewer than 256 bytes of each:
    // at most 120 for an index, 63 for a constant, 31 for an offset and 8 for the access itself.
    unsafe { code.call(&mut context, block) };
    (registers, cells, [context.fuel as u64, context.cycles, context.pc])
}

#[test]
fn code_does_what_that_of_cranelift_does() {
    let mut compiler = CraneliftCompiler::new().expect("there is a compiler for this computer");
    for seed in 1..=PROGRAMS {
        let mut builder = DirectBuilder::new();
        let [context, number] = builder.parameters();
        program(&mut builder, context, number, seed);
        let direct = compiler.place(&builder.writer.finish(None).code).expect("there is room for code");
        let other = compiler.build(Effort::Quick, &[1; BLOCKS as usize], |builder, [context, number]| {
            program(builder, context, number, seed);
        });
        let other = other.expect("Cranelift takes it");
        for block in 0..=BLOCKS as u32 {
            let [direct, other] = [&direct, &other].map(|code| run(code, block, seed));
            assert_eq!(direct, other, "seed {seed}, from block {block}: this compiler, Cranelift");
        }
    }
}

/// Cells that cannot be compared in memory go through registers, and there must be enough registers for all the
/// conditions of one `if`.
#[test]
fn conditions_about_cells_leave_registers_for_one_another() {
    for number in [1, 1 << 40] {
        let mut builder = DirectBuilder::new();
        let [context, first] = builder.parameters();
        let memories = builder.load_pointer(context, offset!(memories));
        let bases = [0, 1, 2, 3, 4].map(|memory| {
            let base = builder.load_pointer(memories, memory * 8);
            builder.keep(base)
        });
        let variables = [0, 8, 16].map(|offset| builder.variable(Type::I64, Home::Register(offset)));
        let block = builder.block();
        builder.dispatch(first, &[block]);
        builder.start(block);
        let conditions = variables.map(|variable| {
            let index = builder.read(variable);
            let index = builder.low_bits(Type::I64, index, 0x0F);
            let at = builder.calculate(Operation::Add, bases[4], index);
            let cell = builder.load(Type::I64, 1, at, 0);
            let number = builder.constant(Type::I64, number);
            builder.compare(Comparison::LessSigned, cell, number)
        });
        builder.begin_if_any(&conditions);
        builder.leave();
        builder.end_if();
        builder.leave();
        builder.finish();
        assert!(!builder.writer.finish(None).code.is_empty());
    }
}
