//! Compiles regions to WebAssembly modules at run time, for an engine that is WebAssembly itself.
//!
//! The builder first records what the emitter builds. Most values are used once, and become part of the expression that
//! uses them. Only a complete record shows which values need a local of their own, and which blocks form a loop.

#[cfg(target_arch = "wasm32")]
mod code;
mod module;
mod scopes;
#[cfg(test)]
mod tests;

use lathe_isa::Isa;

#[cfg(target_arch = "wasm32")]
pub(crate) use self::code::HostCompiler;
use crate::emit::{Builder, Comparison, Home, Operation, Placed, Type, emit};
use crate::region::Region;

/// Returns the module of a region: it imports the memory of the engine, and exports one function.
pub(crate) fn module(isa: &Isa, region: &Region) -> Vec<u8> {
    let mut builder = WasmBuilder::new();
    let [context, number] = PARAMETERS.map(|local| builder.local_value(local, Type::I32));
    emit(isa, region, &mut builder, context, number);
    builder.module()
}

/// The locals of the parameters: the context, and the number of the block to begin with.
const PARAMETERS: [Local; 2] = [Local(0), Local(1)];
/// Depth to which expressions may nest: they are written by recursion.
const DEPTH: u32 = 48;

/// A local of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Local(u32);

/// A value, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value(u32);

/// A block of the region, by its place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Label(u32);

/// How a value is made.
#[derive(Clone, Copy, Debug)]
enum Source {
    Constant(u64),
    /// The content of a local, which does not change while the value is used.
    Local(Local),
    Calculate(Operation, Value, Value),
    Compare(Comparison, Value, Value),
    IsZero(Value),
    Choose(Value, Value, Value),
    Widen(Value),
    WidenSigned(Value),
    Narrow(Value),
    Load {
        bytes: u32,
        at: Value,
        offset: u32,
    },
}

#[derive(Clone, Copy, Debug)]
struct Made {
    source: Source,
    ty: Type,
    /// How often the value is used.
    uses: u32,
    /// The depth of its expression.
    depth: u32,
    /// Whether it has a local, however often it is used.
    has_local: bool,
}

/// The recorded steps, in order.
#[derive(Clone, Debug)]
enum Step {
    /// Makes a value, if it needs a local; otherwise it is written where it is used.
    Make(Value),
    Store {
        bytes: u32,
        value: Value,
        at: Value,
        offset: u32,
    },
    /// Sets locals, all at once.
    Set(Vec<(Local, Value)>),
    If(Value),
    Else,
    End,
    Jump(Label),
    Leave,
}

/// Records the code of a region.
struct WasmBuilder {
    values: Vec<Made>,
    /// The types of all locals but the parameters.
    locals: Vec<Type>,
    /// The number of the block to go to next.
    next: Local,
    /// The steps before the blocks.
    prologue: Vec<Step>,
    blocks: Vec<Vec<Step>>,
    /// The number of blocks that there will be.
    labels: u32,
    at: At,
}

/// The current position of the builder.
#[derive(Clone, Copy, Debug)]
enum At {
    Prologue,
    Block(usize),
}

impl WasmBuilder {
    fn new() -> Self {
        let mut builder = WasmBuilder {
            values: Vec::new(),
            locals: Vec::new(),
            next: Local(0),
            prologue: Vec::new(),
            blocks: Vec::new(),
            labels: 0,
            at: At::Prologue,
        };
        builder.next = builder.local(Type::I32);
        builder
    }

    fn local(&mut self, ty: Type) -> Local {
        self.locals.push(ty);
        Local((PARAMETERS.len() + self.locals.len() - 1) as u32)
    }

    fn local_value(&mut self, local: Local, ty: Type) -> Value {
        self.value(Source::Local(local), ty, 0)
    }

    fn do_next(&mut self, step: Step) {
        match self.at {
            At::Prologue => self.prologue.push(step),
            At::Block(block) => self.blocks[block].push(step),
        }
    }

    fn value(&mut self, source: Source, ty: Type, depth: u32) -> Value {
        // Memory is read at its place in the order of steps.
        let has_local = matches!(source, Source::Load { .. }) || depth > DEPTH;
        let depth = if has_local { 0 } else { depth };
        self.values.push(Made { source, ty, uses: 0, depth, has_local });
        Value(self.values.len() as u32 - 1)
    }

    /// Makes a value from others.
    fn make<const N: usize>(&mut self, source: Source, ty: Type, from: [Value; N]) -> Value {
        let depth = from.iter().map(|value| self.made(*value).depth).max().unwrap_or(0) + 1;
        self.use_all(&from);
        let value = self.value(source, ty, depth);
        self.do_next(Step::Make(value));
        value
    }

    fn use_all(&mut self, values: &[Value]) {
        values.iter().for_each(|value| self.values[value.0 as usize].uses += 1);
    }

    fn made(&self, value: Value) -> &Made {
        &self.values[value.0 as usize]
    }

    fn ty(&self, value: Value) -> Type {
        self.made(value).ty
    }
}

impl Builder for WasmBuilder {
    type Value = Value;
    type Variable = Local;
    type Block = Label;
    const POINTER: Type = Type::I32;
    const VARIABLES_IN_MEMORY: bool = false;
    const ASKED_IN_TURN: usize = 1;

    fn constant(&mut self, ty: Type, value: u64) -> Value {
        self.value(Source::Constant(value), ty, 0)
    }

    fn calculate(&mut self, operation: Operation, x: Value, y: Value) -> Value {
        self.make(Source::Calculate(operation, x, y), self.ty(x), [x, y])
    }

    fn not(&mut self, x: Value) -> Value {
        self.calculate_with(Operation::Xor, self.ty(x), x, u64::MAX)
    }

    fn negate(&mut self, x: Value) -> Value {
        let zero = self.constant(self.ty(x), 0);
        self.calculate(Operation::Subtract, zero, x)
    }

    /// Exchanges neighbouring bytes, then neighbouring pairs, then fours: WebAssembly has no instruction for this.
    fn swap_bytes(&mut self, bytes: u32, x: Value) -> Value {
        let ty = self.ty(x);
        let mut exchanged = x;
        for (distance, low) in [(8, 0x00FF_00FF_00FF_00FF), (16, 0x0000_FFFF_0000_FFFF), (32, 0xFFFF_FFFF)] {
            if distance >= u64::from(8 * bytes) {
                break;
            }
            let low = low & (u64::MAX >> (64 - 8 * bytes));
            let up = self.calculate_with(Operation::And, ty, exchanged, low);
            let up = self.calculate_with(Operation::ShiftLeft, ty, up, distance);
            let down = self.calculate_with(Operation::ShiftRight, ty, exchanged, distance);
            let down = self.calculate_with(Operation::And, ty, down, low);
            exchanged = self.calculate(Operation::Or, up, down);
        }
        exchanged
    }

    fn compare(&mut self, comparison: Comparison, x: Value, y: Value) -> Value {
        self.make(Source::Compare(comparison, x, y), Type::I32, [x, y])
    }

    fn is_zero(&mut self, x: Value) -> Value {
        self.make(Source::IsZero(x), Type::I32, [x])
    }

    fn bit(&mut self, ty: Type, condition: Value) -> Value {
        self.convert(condition, Type::I32, ty)
    }

    fn choose(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.make(Source::Choose(condition, x, y), self.ty(x), [condition, x, y])
    }

    fn widen(&mut self, x: Value) -> Value {
        self.make(Source::Widen(x), Type::I64, [x])
    }

    fn widen_signed(&mut self, x: Value) -> Value {
        self.make(Source::WidenSigned(x), Type::I64, [x])
    }

    fn narrow(&mut self, x: Value) -> Value {
        self.make(Source::Narrow(x), Type::I32, [x])
    }

    fn load(&mut self, ty: Type, bytes: u32, at: Value, offset: i32) -> Value {
        self.make(Source::Load { bytes, at, offset: offset as u32 }, ty, [at])
    }

    fn store(&mut self, bytes: u32, value: Value, at: Value, offset: i32) {
        self.use_all(&[value, at]);
        self.do_next(Step::Store { bytes, value, at, offset: offset as u32 });
    }

    fn variable(&mut self, ty: Type, _: Home) -> Local {
        self.local(ty)
    }

    /// Variables are set right before a jump, so they do not change while the value is used.
    fn read(&mut self, variable: Local) -> Value {
        let ty = self.locals[variable.0 as usize - PARAMETERS.len()];
        self.local_value(variable, ty)
    }

    fn assign(&mut self, values: &[(Local, Value)]) {
        values.iter().for_each(|(_, value)| self.use_all(&[*value]));
        self.do_next(Step::Set(values.to_vec()));
    }

    fn keep(&mut self, x: Value) -> Value {
        let ty = self.ty(x);
        let local = self.local(ty);
        self.assign(&[(local, x)]);
        self.local_value(local, ty)
    }

    fn block(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn dispatch(&mut self, number: Value, _: &[Label]) {
        self.assign(&[(self.next, number)]);
    }

    fn start(&mut self, block: Label) {
        assert_eq!(self.blocks.len(), block.0 as usize, "blocks are started in order");
        self.blocks.push(Vec::new());
        self.at = At::Block(block.0 as usize);
    }

    fn jump(&mut self, block: Label) {
        self.do_next(Step::Jump(block));
    }

    fn begin_if(&mut self, condition: Value, _: Placed) {
        self.use_all(&[condition]);
        self.do_next(Step::If(condition));
    }

    fn begin_else(&mut self) {
        self.do_next(Step::Else);
    }

    fn end_if(&mut self) {
        self.do_next(Step::End);
    }

    fn is_cold(&mut self) {}

    fn leave(&mut self) {
        self.do_next(Step::Leave);
    }

    fn finish(&mut self) {}
}
