//! The operations that the fast interpreter executes. Their operands are *slots*: first
//! the registers, then values of the running instruction, then constants.

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// A position in the list of slots.
pub(super) type Slot = u16;

/// A position in the list of entries.
pub(super) type EntryId = u32;

/// No entry: the operation after this one is of the same instruction.
pub(super) const HERE: EntryId = EntryId::MAX;

/// One operation; what the fields mean depends on the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) code: Code,
    /// The width of the operands.
    pub(super) width: Width,
    /// The slot that takes the result.
    pub(super) into: Slot,
    pub(super) x: Slot,
    pub(super) y: Slot,
    /// The entry to go on with after an operation that gives a value; [`HERE`] for the next operation.
    pub(super) next: EntryId,
    pub(super) extra: u64,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// `into = x`
    Move,
    /// `into = (x + y) & extra`
    Add,
    /// `into = (x - y) & extra`
    Subtract,
    /// `into = x & y`
    And,
    /// `into = x | y`
    Or,
    /// `into = x ^ y`
    Xor,
    /// `into = x == y`
    Equal,
    /// `into = x < y`
    Less,
    /// Any operator with one operand.
    Unary(UnaryOperator),
    /// Any operator with two operands.
    Binary(BinaryOperator),
    /// `into = (x >> y) & extra`, where `y` is the number itself.
    Slice,
    /// `into = x << extra | y`
    Join,
    /// `into = x` with copies of its sign up to the mask `extra`.
    SignExtend,
    /// `into = x` where the slot `extra` is not zero, else `y`.
    Choose,
    /// `into =` the cell at `x` of the memory `extra`.
    Load,
    /// The cell at `x` of the memory `extra` gets `y`.
    Store,
    /// The same, where the slot `into` is not zero.
    StoreIf,
    /// Leaves the instruction, whose entry is `extra`, where `x` is not zero.
    BailIf,
    /// Leaves the instruction where the code cell at `x` is marked and `y` is not zero.
    BailMarked,
    /// The instruction takes `x` cycles.
    Cycles,
    /// Goes on with the entry `extra`, which follows in memory.
    Next,
    /// Goes on with the entry `extra`; `into` is 1 if that is not further up.
    Goto,
    /// Goes on with the entry in the upper half of `extra` where `x` is not zero, else with the
    /// lower. `into` has bit 1 set if the first is not further up, and bit 0 if the second is not.
    Branch,
    /// Goes on at the address `x`; the entry of the jump is `extra`.
    Jump,
    /// Leaves the instruction, whose entry is `extra`.
    Interpret,
    /// Decodes the entry `extra` first.
    Decode,
}
