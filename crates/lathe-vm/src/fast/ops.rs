//! The operations that the fast interpreter executes. Their operands are *slots*: first
//! the registers, then values of the running block, then constants.

use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// A position in the list of slots.
pub(super) type Slot = u16;

/// How many slots there are: a power of two, so that a position needs only to be masked.
pub(super) const SLOTS: usize = 1 << 12;

/// A position in the list of entries.
pub(super) type EntryId = u32;

/// One operation; what the fields mean depends on the code. Four of them fit in a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) code: Code,
    /// The slot that takes the result.
    pub(super) into: Slot,
    pub(super) x: Slot,
    pub(super) y: Slot,
    pub(super) extra: u64,
}

/// What an operation does.
///
/// Those that leave a block name the instruction of the block, counted from its first, that
/// must be interpreted. Those that end a block have a [`Way`] in `into`, and in `extra` the
/// entry to go on with; where there are two ways, the other one is in its upper half.
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
    /// `into = !x & extra`
    Not,
    /// `into = x == y`
    Equal,
    /// `into = x != y`
    Unequal,
    /// `into = x < y`
    Less,
    /// Any operator with one operand of `extra` bits.
    Unary(UnaryOperator),
    /// Any operator with two operands of `extra` bits.
    Binary(BinaryOperator),
    /// `into = (x >> y) & extra`, where `y` is the number itself.
    Slice,
    /// `into = x << extra | y`
    Join,
    /// `into = x`, of `y` bits, with copies of its sign up to the mask `extra`.
    SignExtend,
    /// `into = x` where the slot `extra` is not zero, else `y`.
    Choose,
    /// `into =` the cell at `x` of the memory `extra`.
    Load,
    /// The cell at `x` of the memory `extra` gets `y`.
    Store,
    /// The same, where the slot `into` is not zero.
    StoreIf,
    /// The same as `Store` for a code cell that is not marked; else leaves at instruction `into`.
    StoreUnmarked,
    /// Leaves the block at instruction `extra` where `x` is not zero.
    LeaveIf,
    /// Leaves it where the code cell at `x` is marked and `y` is not zero.
    LeaveIfMarked,
    /// The block takes `x` cycles.
    Cycles,
    /// Goes on with an entry.
    Goto,
    /// Goes the other way where `x` is not zero.
    BranchIf,
    /// Goes the other way where `x == y`.
    BranchIfEqual,
    /// Goes the other way where `x < y`.
    BranchIfLess,
    /// Goes the other way where the bit `y` of `x` is set.
    BranchIfBit,
    /// Goes on at the address `x`; `extra` is the number of the computed jump.
    Jump,
    /// Leaves the block at its first instruction.
    Interpret,
    /// Decodes the entry first.
    Decode,
}

/// How a block ends: how many instructions it had, and which ways do not go up. Only those can
/// close a loop, and only they make an address hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way(pub(super) Slot);

impl Way {
    pub(super) fn new(count: u64, back: bool, other_back: bool) -> Way {
        Way((count as Slot) << 2 | Slot::from(other_back) << 1 | Slot::from(back))
    }

    #[inline(always)]
    pub(super) fn count(self) -> u64 {
        u64::from(self.0 >> 2)
    }

    #[inline(always)]
    pub(super) fn goes_back(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline(always)]
    pub(super) fn other_goes_back(self) -> bool {
        self.0 & 2 != 0
    }
}
