//! The operations that the fast interpreter executes. Their operands are *slots*: first
//! the registers, then values of the running block, then constants.

use std::ops::{Index, IndexMut};

use lathe_isa::model::Order;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// An index into the slots. Every number is a valid one, so accessing a slot needs no bounds check.
pub(super) type Slot = u8;

/// How many slots there are.
pub(super) const SLOTS: usize = 1 << Slot::BITS;

/// What the slots hold.
#[derive(Clone, Debug)]
pub(super) struct Slots(pub(super) [u64; SLOTS]);

impl Index<Slot> for Slots {
    type Output = u64;

    #[inline(always)]
    fn index(&self, slot: Slot) -> &u64 {
        &self.0[usize::from(slot)]
    }
}

impl IndexMut<Slot> for Slots {
    #[inline(always)]
    fn index_mut(&mut self, slot: Slot) -> &mut u64 {
        &mut self.0[usize::from(slot)]
    }
}

/// How many registers have a slot of their own; the others stay in the state.
pub(super) const REGISTERS: usize = SLOTS / 2;

/// How many memories are *near*: the inner loop has direct access to them. The others are *far*.
pub(super) const NEAR_MEMORIES: usize = 4;

/// How many marks are checked together, at most.
pub(super) const MARKS_IN_A_WORD: u8 = 8;

/// An index into the entries.
pub(super) type EntryId = u32;

/// One operation; what the fields mean depends on the code. Four of them fit in a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    pub(super) code: Code,
    /// The slot that takes the result.
    pub(super) into: Slot,
    pub(super) x: Slot,
    pub(super) y: Slot,
    pub(super) z: u8,
    /// Distance from the next operation to the *exit*: the operations for leaving the block.
    pub(super) exit: u16,
    pub(super) extra: u64,
}

impl Op {
    pub(super) const fn new(code: Code) -> Op {
        Op { code, into: 0, x: 0, y: 0, z: 0, exit: 0, extra: 0 }
    }
}

/// What an operation does.
///
/// An operation that leaves a block continues at its `exit`. One that ends a block has the number of instructions done
/// in `into`, and the next entry in `extra`; a branch has its other entry in the upper half. One that continues with
/// another block has the cycles taken in `exit`.
///
/// An *offset* is a number to add, in the lower half of `extra`, and the mask of the sum, in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// `into = extra`
    Set,
    /// `into = x`
    Move,
    /// `into =` the register `extra`, which has no slot.
    GetRegister,
    /// The register `extra`, which has no slot, gets `x`.
    SetRegister,
    /// `into = (x + y) & extra`
    Add,
    /// `into = x` plus an offset.
    AddNumber,
    /// `into = (x - y) & extra`
    Subtract,
    /// `into = x & y`
    And,
    /// `into = x & extra`
    AndNumber,
    /// `into = x | y`
    Or,
    /// `into = x | extra`
    OrNumber,
    /// `into = x ^ y`
    Xor,
    /// `into = x ^ extra`
    XorNumber,
    /// `into = !x & extra`
    Not,
    /// `into = x == y`
    Equal,
    /// `into = x == extra`
    EqualNumber,
    /// `into = x != y`
    Unequal,
    /// `into = x != extra`
    UnequalNumber,
    /// `into = x < y`
    Less,
    /// `into = x < extra`
    LessNumber,
    /// `into = x <= y`
    LessOrEqual,
    /// `into = x < y` as two's complement numbers, with `z` unused bits above each.
    LessSigned,
    /// `into = (x * y) & extra`
    Multiply,
    /// `into = (x << y) & extra`
    ShiftLeftBy,
    /// `into = x >> y`
    ShiftRightBy,
    /// `into = x - 1 < extra`: whether `x` is positive, if `extra` is the largest positive number.
    Positive,
    /// Any operator with one operand of `extra` bits.
    Unary(UnaryOperator),
    /// Any operator with two operands of `extra` bits.
    Binary(BinaryOperator),
    /// `into = (x >> z) & extra`
    Slice,
    /// `into = (x << z) & extra`
    ShiftLeft,
    /// `into = (x << z | y) & extra`
    Join,
    /// `into = x << z | extra`
    JoinNumber,
    /// `into =` whether `x` differs from both `y` and the slot `z` in the bit `exit`; if that bit of `extra` is set,
    /// whether `x` is the same as `y` there and differs from `z`.
    DiffersFromBoth,
    /// `into = x`, of `z` bits, sign-extended to the mask `extra`.
    SignExtend,
    /// `into = x` if the slot `z` is not zero, else `y`.
    Choose,
    /// `into =` the cell at `x` of the memory `z`, kept as bytes if it is in one piece.
    Load,
    /// As `Load`, at `x` plus an offset.
    LoadOffset,
    /// As `Load`, at `x << extra | y`.
    LoadJoined,
    /// As `Load`, from a memory of words.
    LoadWord,
    /// As `LoadOffset`, from a memory of words.
    LoadWordOffset,
    /// As `Load`, from a far memory.
    LoadFar,
    /// `into =` adjacent cells of the memory `z` of bytes, the first at `x` plus an offset; `exit` is their [`Shape`].
    LoadWide,
    /// Stores `y` in the cell at `x` of the memory `z`.
    Store,
    /// As `Store`, at `x` plus an offset.
    StoreOffset,
    /// As `Store`, into a memory of words.
    StoreWord,
    /// As `StoreOffset`, into a memory of words.
    StoreWordOffset,
    /// As `Store`, into a far memory.
    StoreFar,
    /// Stores `y` in the cell at `x` of any memory `z` if the slot `into` is not zero.
    StoreIf,
    /// As `Store`, for a code cell; leaves instead if it is marked.
    StoreUnmarked,
    /// As `StoreUnmarked`, at `x` plus an offset.
    StoreUnmarkedOffset,
    /// As `StoreUnmarked`, at `x << extra | into`.
    StoreUnmarkedJoined,
    /// Stores `y` in adjacent code cells, the first at `x` plus an offset; leaves instead if any of them is marked.
    /// `into` is their [`Shape`].
    StoreWideUnmarked,
    /// As `StoreUnmarked`, for code in words.
    StoreWordUnmarked,
    /// As `StoreUnmarkedOffset`, for code in words.
    StoreWordUnmarkedOffset,
    /// Leaves if `x` is not zero.
    LeaveIf,
    /// Leaves if `x` is zero.
    LeaveUnless,
    /// Leaves if `x == y`.
    LeaveIfEqual,
    /// Leaves if `x != y`.
    LeaveUnlessEqual,
    /// Leaves if `x == extra`.
    LeaveIfNumber,
    /// Leaves if `x != extra`.
    LeaveUnlessNumber,
    /// Leaves if `x < y`.
    LeaveIfLess,
    /// Leaves if `x >= y`.
    LeaveUnlessLess,
    /// Leaves if the bit `z` of `x` is set.
    LeaveIfBit,
    /// Leaves if the bit `z` of `x` is not set.
    LeaveUnlessBit,
    /// Leaves if the code cell at `x` is marked.
    LeaveIfMarked,
    /// Leaves if the code cell at `x` plus an offset is marked.
    LeaveIfMarkedOffset,
    /// Leaves if the code cell at `x` is marked and `y` is not zero.
    LeaveIfBothMarked,
    /// Leaves if something is mapped over one of `z` adjacent code cells, the first at `x` plus an offset, or if they
    /// extend past the last cell of a small memory.
    LeaveIfMapped,
    /// Leaves if the page of the cell at `x` of the large memory `z` is closed.
    LeaveIfClosed,
    /// `x` is the argument `z` of the device operation that follows.
    Argument,
    /// `into =` the answer of the [device operation](super::outside::Outside) number `z` if `x` is not zero, else 0;
    /// `extra` instructions of the block came before. Leaves if there is no answer yet.
    DeviceRead,
    /// As `DeviceRead`, for an operation without an answer.
    DeviceWrite,
    /// The block takes `x` cycles.
    Cycles,
    /// The block takes `extra` cycles.
    CyclesNumber,
    /// The block takes `extra` cycles if `x` is not zero.
    CyclesIf,
    /// The block takes `extra` cycles if `x < y`.
    CyclesIfLess,
    /// Continues with the operations for the current content of the volatile instruction number `extra`: `y` cells of
    /// the memory `z`.
    Select,
    /// Continues with an entry.
    Goto,
    /// Takes the other way if `x` is not zero.
    BranchIf,
    /// Takes the other way if `x == y`.
    BranchIfEqual,
    /// Takes the other way if `x < y`.
    BranchIfLess,
    /// Takes the other way if the bit `y` of `x` is set; `y` is the number itself, not a slot.
    BranchIfBit,
    /// Continues at the address `x`; `extra` is the number of the computed jump.
    Jump,
    /// `into` instructions were done; the one at the address `extra` must be interpreted.
    Interpret,
    /// [Pairs](super::pairs): this operation and the next one. A second operation that takes the result of the first
    /// directly has it as its `x`.
    AddThenSlice,
    AddNumberThenSlice,
    AddNumberThenLoadOffset,
    AddNumberThenMove,
    AddNumberThenGoto,
    MoveThenMove,
    MoveThenGoto,
    MoveThenJump,
    SliceThenEqualNumber,
    EqualNumberThenSlice,
    SliceThenJoin,
    /// `LoadOffset` and `LeaveIfMapped` of the same cell.
    LoadOffsetUnmapped,
    /// `LoadWide` and `LeaveIfMapped` of the same cells.
    LoadWideUnmapped,
    AddNumberThenLeaveIfNumber,
    LoadWideThenLeaveIfNumber,
    JoinThenAddNumber,
    StoreOffsetThenStoreOffset,
    StoreUnmarkedOffsetThenStoreOffset,
}

/// How many cells are accessed together, and whether the first holds the highest part of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape(pub(super) u16);

impl Shape {
    pub(super) fn new(count: u8, order: Order) -> Shape {
        Shape(u16::from(count) | u16::from(order == Order::Big) << 7)
    }

    #[inline(always)]
    pub(super) fn count(self) -> usize {
        usize::from(self.0 & 0xF)
    }

    #[inline(always)]
    pub(super) fn is_big(self) -> bool {
        self.0 & 0x80 != 0
    }
}
