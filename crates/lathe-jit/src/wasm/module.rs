//! Writes the bytes of a module from the record of its steps.

use wasm_encoder::{
    BlockType, CodeSection, EntityType, ExportKind, ExportSection, Function, FunctionSection, ImportSection,
    InstructionSink, MemArg, MemArgTarget, MemoryType, Module, TypeSection, ValType,
};

use super::scopes::{Part, Scope, scopes};
use super::{Local, Made, PARAMETERS, Source, Step, Value, WasmBuilder};
use crate::emit::{Comparison, Operation, Type};

fn val_type(ty: Type) -> ValType {
    match ty {
        Type::I32 => ValType::I32,
        Type::I64 => ValType::I64,
    }
}

/// What a branch out of a block can lead to.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// The end of the function, where the region is left.
    Leave,
    /// The beginning of a loop of these blocks. A local says which of them comes next, unless there is only one.
    Loop { first: usize, last: usize },
    /// The beginning of a later part.
    Part { first: usize, last: usize, is_block: bool },
    /// The end of an `if`.
    If,
}

/// The locals of values available at the current position.
#[derive(Default)]
struct Locals {
    /// The local of each value, by the number of the value.
    of: Vec<Option<Local>>,
    free: [Vec<Local>; 2],
    /// The values that have a local, and how many there were when each open `if` began.
    used: Vec<Value>,
    begun: Vec<usize>,
}

/// Writes the function.
struct Writer<'b> {
    builder: &'b WasmBuilder,
    bytes: Vec<u8>,
    /// The constructs around the current position, the innermost last.
    around: Vec<Target>,
    /// The types of all locals.
    types: Vec<Type>,
    locals: Locals,
}

impl WasmBuilder {
    /// Returns the module of the recorded steps.
    pub(super) fn module(&self) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32; 2], []);
        let mut imports = ImportSection::new();
        let memory = MemoryType { minimum: 0, maximum: None, memory64: false, shared: false, page_size_log2: None };
        imports.import("lathe", "memory", EntityType::Memory(memory));
        let mut functions = FunctionSection::new();
        functions.function(0);
        let mut exports = ExportSection::new();
        exports.export("region", ExportKind::Func, 0);
        let mut code = CodeSection::new();
        code.function(&self.function());
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
        module.finish()
    }

    fn function(&self) -> Function {
        let locals = Locals { of: vec![None; self.values.len()], ..Locals::default() };
        let mut writer =
            Writer { builder: self, bytes: Vec::new(), around: Vec::new(), types: self.locals.clone(), locals };
        writer.steps(&self.prologue);
        writer.sink().block(BlockType::Empty);
        writer.around.push(Target::Leave);
        let Scope { first, last, parts } = scopes(self.blocks.len(), &self.ways());
        writer.sink().loop_(BlockType::Empty);
        writer.around.push(Target::Loop { first, last });
        writer.parts(&parts);
        writer.around.pop();
        writer.sink().end();
        writer.around.pop();
        writer.sink().end();
        writer.sink().end();
        let mut function = Function::new_with_locals_types(writer.types.iter().copied().map(val_type));
        function.raw(writer.bytes);
        function
    }

    /// Returns the edges between blocks: from which block, to which.
    fn ways(&self) -> Vec<(usize, usize)> {
        let all = self.blocks.iter().enumerate();
        let to = |step: &Step| if let Step::Jump(to) = step { Some(to.0 as usize) } else { None };
        all.flat_map(|(from, steps)| steps.iter().filter_map(to).map(move |to| (from, to))).collect()
    }
}

impl Writer<'_> {
    fn sink(&mut self) -> InstructionSink<'_> {
        InstructionSink::new(&mut self.bytes)
    }

    /// Writes a loop: code anywhere in it can go back to its beginning, with a local that says where to go from there.
    fn scope(&mut self, scope: &Scope) {
        let Scope { first, last, ref parts } = *scope;
        self.sink().loop_(BlockType::Empty);
        self.around.push(Target::Loop { first, last });
        match parts[..] {
            [Part::Block(only)] => self.block(only),
            _ => self.parts(parts),
        }
        self.around.pop();
        self.sink().end();
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts.iter().rev() {
            let is_block = matches!(part, Part::Block(_));
            self.around.push(Target::Part { first: part.first(), last: part.last(), is_block });
            self.sink().block(BlockType::Empty);
        }
        self.go_where_told(parts);
        for part in parts {
            self.around.pop();
            self.sink().end();
            match part {
                Part::Block(number) => self.block(*number),
                Part::Loop(scope) => self.scope(scope),
            }
        }
    }

    /// Goes to the part with the block that the local names, nearly always the first part of a loop.
    fn go_where_told(&mut self, parts: &[Part]) {
        let Some(first) = parts.first().map(|part| part.first() as i32) else { return };
        let numbered = parts.iter().zip(0..);
        let table: Vec<u32> = numbered.flat_map(|(part, at)| (part.first()..=part.last()).map(move |_| at)).collect();
        let next = self.builder.next.0;
        // The outermost label is the function: if there is no such block, it returns.
        let nowhere = self.around.len() as u32;
        let mut sink = self.sink();
        sink.local_get(next).i32_const(first).i32_eq().br_if(0);
        sink.local_get(next).i32_const(first).i32_sub().br_table(table, nowhere);
    }

    fn block(&mut self, number: usize) {
        let builder = self.builder;
        self.steps(&builder.blocks[number]);
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            self.step(step);
        }
        self.locals.forget(0, self.builder);
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Make(value) => self.make(value),
            Step::Store { bytes, value, at, offset } => {
                self.value(at);
                self.value(value);
                self.store(bytes, self.builder.ty(value), offset);
            }
            Step::Set(ref values) => self.set(values),
            Step::If(condition) => {
                self.condition(condition);
                self.sink().if_(BlockType::Empty);
                self.around.push(Target::If);
                self.locals.begun.push(self.locals.used.len());
            }
            Step::Else => {
                let begun = self.locals.begun.last().copied().unwrap_or(0);
                self.locals.forget(begun, self.builder);
                self.sink().else_();
            }
            Step::End => {
                let begun = self.locals.begun.pop().unwrap_or(0);
                self.locals.forget(begun, self.builder);
                self.around.pop();
                self.sink().end();
            }
            Step::Jump(to) => self.jump(to.0 as usize),
            Step::Leave => {
                let depth = self.depth(|target| matches!(target, Target::Leave));
                self.sink().br(depth);
            }
        }
    }

    /// Returns the label index of the innermost wanted target.
    fn depth(&self, is_wanted: impl Fn(&Target) -> bool) -> u32 {
        self.around.iter().rev().position(is_wanted).expect("there is a loop around all blocks") as u32
    }

    fn jump(&mut self, to: usize) {
        let leads_there = |target: &Target| match target {
            Target::Loop { first, last } | Target::Part { first, last, .. } => (*first..=*last).contains(&to),
            Target::Leave | Target::If => false,
        };
        let depth = self.depth(leads_there);
        let is_known = match self.around[self.around.len() - 1 - depth as usize] {
            Target::Loop { first, last } => first == last,
            Target::Part { is_block, .. } => is_block,
            Target::Leave | Target::If => true,
        };
        let next = self.builder.next.0;
        if !is_known {
            self.sink().i32_const(to as i32).local_set(next);
        }
        self.sink().br(depth);
    }

    fn set(&mut self, values: &[(Local, Value)]) {
        values.iter().for_each(|(_, value)| self.value(*value));
        values.iter().rev().for_each(|(local, _)| {
            self.sink().local_set(local.0);
        });
    }

    /// Puts a value into a local, if it needs one.
    fn make(&mut self, value: Value) {
        let Made { uses, has_local, .. } = *self.builder.made(value);
        if uses == 0 || uses == 1 && !has_local {
            return;
        }
        self.source(value);
        let ty = self.builder.ty(value);
        let local = self.locals.free[index(ty)].pop().unwrap_or_else(|| {
            self.types.push(ty);
            Local((PARAMETERS.len() + self.types.len() - 1) as u32)
        });
        self.locals.of[value.0 as usize] = Some(local);
        self.locals.used.push(value);
        self.sink().local_set(local.0);
    }

    /// Writes whether a value is not zero.
    fn condition(&mut self, value: Value) {
        self.value(value);
        if self.builder.ty(value) == Type::I64 {
            self.sink().i64_const(0).i64_ne();
        }
    }

    fn value(&mut self, value: Value) {
        match self.locals.of[value.0 as usize] {
            Some(local) => {
                self.sink().local_get(local.0);
            }
            None => self.source(value),
        }
    }

    /// Writes the computation of a value.
    fn source(&mut self, value: Value) {
        let ty = self.builder.ty(value);
        match self.builder.made(value).source {
            Source::Constant(number) => match ty {
                Type::I32 => drop(self.sink().i32_const(number as i32)),
                Type::I64 => drop(self.sink().i64_const(number as i64)),
            },
            Source::Local(local) => drop(self.sink().local_get(local.0)),
            Source::Calculate(operation, x, y) => {
                self.value(x);
                self.value(y);
                self.calculate(operation, ty);
            }
            Source::Compare(comparison, x, y) => {
                self.value(x);
                self.value(y);
                self.compare(comparison, self.builder.ty(x));
            }
            Source::IsZero(x) => {
                self.value(x);
                match self.builder.ty(x) {
                    Type::I32 => drop(self.sink().i32_eqz()),
                    Type::I64 => drop(self.sink().i64_eqz()),
                }
            }
            Source::Choose(condition, x, y) => {
                self.value(x);
                self.value(y);
                self.condition(condition);
                self.sink().select();
            }
            Source::Widen(x) => {
                self.value(x);
                self.sink().i64_extend_i32_u();
            }
            Source::WidenSigned(x) => {
                self.value(x);
                self.sink().i64_extend_i32_s();
            }
            Source::Narrow(x) => {
                self.value(x);
                self.sink().i32_wrap_i64();
            }
            Source::Load { bytes, at, offset } => {
                self.value(at);
                self.load(bytes, ty, offset);
            }
        }
    }

    fn calculate(&mut self, operation: Operation, ty: Type) {
        use Operation::*;
        let mut sink = self.sink();
        match (operation, ty) {
            (Add, Type::I32) => sink.i32_add(),
            (Add, Type::I64) => sink.i64_add(),
            (Subtract, Type::I32) => sink.i32_sub(),
            (Subtract, Type::I64) => sink.i64_sub(),
            (Multiply, Type::I32) => sink.i32_mul(),
            (Multiply, Type::I64) => sink.i64_mul(),
            (Divide, Type::I32) => sink.i32_div_u(),
            (Divide, Type::I64) => sink.i64_div_u(),
            (DivideSigned, Type::I32) => sink.i32_div_s(),
            (DivideSigned, Type::I64) => sink.i64_div_s(),
            (Remainder, Type::I32) => sink.i32_rem_u(),
            (Remainder, Type::I64) => sink.i64_rem_u(),
            (RemainderSigned, Type::I32) => sink.i32_rem_s(),
            (RemainderSigned, Type::I64) => sink.i64_rem_s(),
            (And, Type::I32) => sink.i32_and(),
            (And, Type::I64) => sink.i64_and(),
            (Or, Type::I32) => sink.i32_or(),
            (Or, Type::I64) => sink.i64_or(),
            (Xor, Type::I32) => sink.i32_xor(),
            (Xor, Type::I64) => sink.i64_xor(),
            (ShiftLeft, Type::I32) => sink.i32_shl(),
            (ShiftLeft, Type::I64) => sink.i64_shl(),
            (ShiftRight, Type::I32) => sink.i32_shr_u(),
            (ShiftRight, Type::I64) => sink.i64_shr_u(),
            (ShiftRightSigned, Type::I32) => sink.i32_shr_s(),
            (ShiftRightSigned, Type::I64) => sink.i64_shr_s(),
        };
    }

    fn compare(&mut self, comparison: Comparison, ty: Type) {
        use Comparison::*;
        let mut sink = self.sink();
        match (comparison, ty) {
            (Equal, Type::I32) => sink.i32_eq(),
            (Equal, Type::I64) => sink.i64_eq(),
            (Unequal, Type::I32) => sink.i32_ne(),
            (Unequal, Type::I64) => sink.i64_ne(),
            (Less, Type::I32) => sink.i32_lt_u(),
            (Less, Type::I64) => sink.i64_lt_u(),
            (LessOrEqual, Type::I32) => sink.i32_le_u(),
            (LessOrEqual, Type::I64) => sink.i64_le_u(),
            (LessSigned, Type::I32) => sink.i32_lt_s(),
            (LessSigned, Type::I64) => sink.i64_lt_s(),
            (LessOrEqualSigned, Type::I32) => sink.i32_le_s(),
            (LessOrEqualSigned, Type::I64) => sink.i64_le_s(),
        };
    }

    fn load(&mut self, bytes: u32, ty: Type, offset: u32) {
        let at = place(offset);
        let mut sink = self.sink();
        match (bytes, ty) {
            (1, Type::I32) => sink.i32_load8_u(at),
            (1, Type::I64) => sink.i64_load8_u(at),
            (2, Type::I32) => sink.i32_load16_u(at),
            (2, Type::I64) => sink.i64_load16_u(at),
            (_, Type::I32) => sink.i32_load(at),
            (4, Type::I64) => sink.i64_load32_u(at),
            (_, Type::I64) => sink.i64_load(at),
        };
    }

    fn store(&mut self, bytes: u32, ty: Type, offset: u32) {
        let at = place(offset);
        let mut sink = self.sink();
        match (bytes, ty) {
            (1, Type::I32) => sink.i32_store8(at),
            (1, Type::I64) => sink.i64_store8(at),
            (2, Type::I32) => sink.i32_store16(at),
            (2, Type::I64) => sink.i64_store16(at),
            (_, Type::I32) => sink.i32_store(at),
            (4, Type::I64) => sink.i64_store32(at),
            (_, Type::I64) => sink.i64_store(at),
        };
    }
}

/// Returns a memory operand that promises no alignment: neighbouring cells are accessed together at any address.
fn place(offset: u32) -> MemArg {
    MemArg { offset: u64::from(offset), align: 0, target: MemArgTarget::default(), ordering: None }
}

fn index(ty: Type) -> usize {
    match ty {
        Type::I32 => 0,
        Type::I64 => 1,
    }
}

impl Locals {
    /// Forgets all values but the first `kept`, and frees their locals.
    fn forget(&mut self, kept: usize, builder: &WasmBuilder) {
        for value in self.used.drain(kept..) {
            if let Some(local) = self.of[value.0 as usize].take() {
                self.free[index(builder.ty(value))].push(local);
            }
        }
    }
}
