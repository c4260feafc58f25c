//! The interface between the emitter and the compilers: operations that every compiler has.
//!
//! Code is structured, because WebAssembly is: the blocks of a region, which are jump targets, and inside them only
//! `if`s. The emitter builds values when they are first needed, each before its uses.

/// The types in which values are computed. There are no others, because Cranelift's get far less testing and
/// WebAssembly has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    I32,
    I64,
}

impl Type {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Type::I32 => 32,
            Type::I64 => 64,
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        self.bits() / 8
    }
}

/// Operations on two values of one type. Shifts take their count modulo the bits of the type. The emitter never divides
/// by zero, nor the least number by minus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    DivideSigned,
    Remainder,
    RemainderSigned,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
}

/// Comparisons of two values of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    LessSigned,
    LessOrEqualSigned,
}

/// Where the code under a condition is best placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Out of the way of the other path.
    Away,
    /// Next to the branch.
    Next,
}

/// Where the engine keeps the value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// The budget.
    Fuel,
    /// This many bytes into the context.
    Context(i32),
    /// This many bytes into the guest registers.
    Register(i32),
}

/// Makes the code of one region.
///
/// A *condition* is a value that is only tested for zero; it may have a type of its own.
pub(crate) trait Builder {
    /// A computed value, available in the block and branch that computed it.
    type Value: Copy;
    /// A variable, which carries a value from block to block.
    type Variable: Copy;
    /// A block of the region.
    type Block: Copy;
    /// The type of host addresses.
    const POINTER: Type;
    /// Whether variables stay where the engine keeps them, between all blocks. If not, they are loaded when a region is
    /// entered and stored when it is left.
    const VARIABLES_IN_MEMORY: bool;
    /// The most conditions that are better tested in turn ([`Builder::begin_if_any`]) than computed and joined; 1 if
    /// joining is always better.
    const ASKED_IN_TURN: usize;

    fn constant(&mut self, ty: Type, value: u64) -> Self::Value;
    fn calculate(&mut self, operation: Operation, x: Self::Value, y: Self::Value) -> Self::Value;
    fn not(&mut self, x: Self::Value) -> Self::Value;
    fn negate(&mut self, x: Self::Value) -> Self::Value;
    /// Returns the low two, four or eight bytes of a value in the opposite order, and zeros above them.
    fn swap_bytes(&mut self, bytes: u32, x: Self::Value) -> Self::Value;
    /// Returns the outcome of a comparison, as a condition.
    fn compare(&mut self, comparison: Comparison, x: Self::Value, y: Self::Value) -> Self::Value;
    /// Returns whether a value or a condition is zero, as a condition.
    fn is_zero(&mut self, x: Self::Value) -> Self::Value;
    /// Returns the outcome of a comparison as 0 or 1.
    fn bit(&mut self, ty: Type, condition: Self::Value) -> Self::Value;
    fn choose(&mut self, condition: Self::Value, x: Self::Value, y: Self::Value) -> Self::Value;
    /// Zero-extends a value of 32 bits to 64.
    fn widen(&mut self, x: Self::Value) -> Self::Value;
    /// Sign-extends a value of 32 bits to 64.
    fn widen_signed(&mut self, x: Self::Value) -> Self::Value;
    /// Returns the low half of a value of 64 bits.
    fn narrow(&mut self, x: Self::Value) -> Self::Value;

    /// Loads this many bytes of host memory, the low byte first, with zeros above. The memory is always accessible.
    fn load(&mut self, ty: Type, bytes: u32, at: Self::Value, offset: i32) -> Self::Value;
    /// Stores the low bytes of a value.
    fn store(&mut self, bytes: u32, value: Self::Value, at: Self::Value, offset: i32);

    fn variable(&mut self, ty: Type, home: Home) -> Self::Variable;
    fn read(&mut self, variable: Self::Variable) -> Self::Value;
    /// Sets variables, all at once. A jump or an exit follows.
    fn assign(&mut self, values: &[(Self::Variable, Self::Value)]);
    /// Makes a value available in all blocks; called before the first block.
    fn keep(&mut self, x: Self::Value) -> Self::Value;

    /// Creates another block. Blocks are started in the order of their creation.
    fn block(&mut self) -> Self::Block;
    /// Jumps to the block with this number, or returns if there is none. This ends the code before the blocks.
    fn dispatch(&mut self, number: Self::Value, blocks: &[Self::Block]);
    fn start(&mut self, block: Self::Block);
    fn jump(&mut self, block: Self::Block);
    /// Begins code that is executed only if the condition is not zero, up to `begin_else` or `end_if`.
    fn begin_if(&mut self, condition: Self::Value, placed: Placed);
    /// Begins code that is executed only if one of a few conditions is not zero.
    fn begin_if_any(&mut self, conditions: &[Self::Value]) {
        let mut none = self.constant(Type::I32, 1);
        for condition in conditions {
            let is_zero = self.is_zero(*condition);
            let bit = self.bit(Type::I32, is_zero);
            none = self.calculate(Operation::And, none, bit);
        }
        let any = self.is_zero(none);
        self.begin_if(any, Placed::Away);
    }
    fn begin_else(&mut self);
    /// Goes on after both branches, unless both have gone elsewhere.
    fn end_if(&mut self);
    /// Marks the code that follows as rarely executed.
    fn is_cold(&mut self);
    /// Leaves the region.
    fn leave(&mut self);
    /// Leaves the region for an address where another region may go on.
    fn go_on(&mut self) {
        self.leave();
    }
    fn finish(&mut self);

    /// Converts a value from one type to another: zero-extends or truncates it.
    fn convert(&mut self, x: Self::Value, from: Type, to: Type) -> Self::Value {
        match (from, to) {
            (Type::I32, Type::I64) => self.widen(x),
            (Type::I64, Type::I32) => self.narrow(x),
            _ => x,
        }
    }

    /// Calculates with a value of this type and a constant.
    fn calculate_with(&mut self, operation: Operation, ty: Type, x: Self::Value, number: u64) -> Self::Value {
        let number = self.constant(ty, number);
        self.calculate(operation, x, number)
    }

    /// Returns the lowest bits of a value of this type, which `mask` selects, and zeros above.
    fn low_bits(&mut self, ty: Type, x: Self::Value, mask: u64) -> Self::Value {
        self.calculate_with(Operation::And, ty, x, mask)
    }

    /// Loads a host address from host memory.
    fn load_pointer(&mut self, at: Self::Value, offset: i32) -> Self::Value {
        self.load(Self::POINTER, Self::POINTER.bytes(), at, offset)
    }
}
