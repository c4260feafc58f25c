//! What a region is emitted into: the operations that every compiler behind it has.
//!
//! Code is structured, because WebAssembly is: the blocks of a region, which are jumped to, and inside of them only
//! `if`s. A back end sees values as soon as they are needed and in an order in which each is there before it is used.

/// The types that values are computed in. No other is used, because Cranelift's others get far less testing, and
/// WebAssembly has no other.
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

/// Operations on two values of one type. Shifts take their count modulo the bits of the type, and nobody divides by zero
/// or the least number by minus one.
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
    /// Out of the way of what is done otherwise.
    Away,
    /// Next to the branch.
    Next,
}

/// Where the engine has what is in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// The budget.
    Fuel,
    /// This many bytes into the context.
    Context(i32),
    /// This many bytes into the registers of the machine.
    Register(i32),
}

/// Makes the code of one region.
///
/// A *condition* is a value that is only looked at for being zero; it may have a type of its own.
pub(crate) trait Builder {
    /// Something that has been computed. It is there in the block and in the branch where that was done.
    type Value: Copy;
    /// Something that blocks hand on to one another.
    type Variable: Copy;
    /// A block of the region.
    type Block: Copy;
    /// The type of addresses of the host.
    const POINTER: Type;
    /// Whether variables are where the engine has them, between all blocks. If not, they are loaded when a region is entered and stored
    /// when it is left.
    const VARIABLES_IN_MEMORY: bool;
    /// How many conditions are better asked one after the other ([`Builder::begin_if_any`]) than computed and joined. If there is no
    /// such number, it is 1.
    const ASKED_IN_TURN: usize;

    fn constant(&mut self, ty: Type, value: u64) -> Self::Value;
    fn calculate(&mut self, operation: Operation, x: Self::Value, y: Self::Value) -> Self::Value;
    fn not(&mut self, x: Self::Value) -> Self::Value;
    fn negate(&mut self, x: Self::Value) -> Self::Value;
    /// The low two, four or eight bytes of a value in the other order, and zeros above them.
    fn swap_bytes(&mut self, bytes: u32, x: Self::Value) -> Self::Value;
    /// The outcome, as a condition.
    fn compare(&mut self, comparison: Comparison, x: Self::Value, y: Self::Value) -> Self::Value;
    /// Whether a value or a condition is zero, as a condition.
    fn is_zero(&mut self, x: Self::Value) -> Self::Value;
    /// The outcome of a comparison as 0 or 1.
    fn bit(&mut self, ty: Type, condition: Self::Value) -> Self::Value;
    fn choose(&mut self, condition: Self::Value, x: Self::Value, y: Self::Value) -> Self::Value;
    /// A value of 32 bits in 64, with zeros above.
    fn widen(&mut self, x: Self::Value) -> Self::Value;
    /// A value of 32 bits in 64, with its sign above.
    fn widen_signed(&mut self, x: Self::Value) -> Self::Value;
    /// The low half of 64 bits.
    fn narrow(&mut self, x: Self::Value) -> Self::Value;

    /// This many bytes of the host's memory, the low one first, with zeros above. They are always there.
    fn load(&mut self, ty: Type, bytes: u32, at: Self::Value, offset: i32) -> Self::Value;
    /// Writes the low bytes of a value.
    fn store(&mut self, bytes: u32, value: Self::Value, at: Self::Value, offset: i32);

    fn variable(&mut self, ty: Type, home: Home) -> Self::Variable;
    fn read(&mut self, variable: Self::Variable) -> Self::Value;
    /// Sets variables, all at once. A jump follows, or the region is left.
    fn assign(&mut self, values: &[(Self::Variable, Self::Value)]);
    /// The same value, for all blocks; before the first of them.
    fn keep(&mut self, x: Self::Value) -> Self::Value;

    /// One more block. They are started in the order in which they are made.
    fn block(&mut self) -> Self::Block;
    /// Goes to the block of this number, and to none if there is none: what comes before the blocks ends here.
    fn dispatch(&mut self, number: Self::Value, blocks: &[Self::Block]);
    fn start(&mut self, block: Self::Block);
    fn jump(&mut self, block: Self::Block);
    /// What follows is done only where the condition is not zero, up to `begin_else` or `end_if`.
    fn begin_if(&mut self, condition: Self::Value, placed: Placed);
    /// The same, where one of a few conditions is not zero.
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
    /// Goes on after either way, unless both have gone elsewhere.
    fn end_if(&mut self);
    /// What follows is rarely done.
    fn is_cold(&mut self);
    /// Leaves the region.
    fn leave(&mut self);
    /// Leaves the region for an address where another one may go on.
    fn go_on(&mut self) {
        self.leave();
    }
    fn finish(&mut self);

    /// The value of this type in another one, with zeros or nothing above.
    fn convert(&mut self, x: Self::Value, from: Type, to: Type) -> Self::Value {
        match (from, to) {
            (Type::I32, Type::I64) => self.widen(x),
            (Type::I64, Type::I32) => self.narrow(x),
            _ => x,
        }
    }

    /// An operation on a value of this type and a number.
    fn calculate_with(&mut self, operation: Operation, ty: Type, x: Self::Value, number: u64) -> Self::Value {
        let number = self.constant(ty, number);
        self.calculate(operation, x, number)
    }

    /// The lowest bits of a value of this type, as a mask tells them, and zeros above.
    fn low_bits(&mut self, ty: Type, x: Self::Value, mask: u64) -> Self::Value {
        self.calculate_with(Operation::And, ty, x, mask)
    }

    /// An address of the host that is found in its memory.
    fn load_pointer(&mut self, at: Self::Value, offset: i32) -> Self::Value {
        self.load(Self::POINTER, Self::POINTER.bytes(), at, offset)
    }
}
