//! The operations that the fast interpreter executes. Their operands are *slots*: first
//! the registers, then values of the running block, then constants.

use lathe_isa::model::Order;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// A position in the list of slots. Every number is one, so that reaching a slot needs no check.
pub(super) type Slot = u8;

/// How many slots there are.
pub(super) const SLOTS: usize = 1 << Slot::BITS;

/// Registers that have a slot of their own; the others stay in the state.
pub(super) const REGISTERS: usize = SLOTS / 2;

/// Memories that are at hand while blocks are executed.
pub(super) const NEAR_MEMORIES: usize = 4;

/// Marks that are looked at together, at most.
pub(super) const MARKS_IN_A_WORD: u8 = 8;

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
    pub(super) z: u8,
    /// How far after the next operation those for leaving the block begin.
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
/// Operations that may leave a block go on at their `exit`. Those that end a block have in `into` how many
/// instructions were done, and in `extra` the entry to go on with; where there are two ways, the other one is
/// in its upper half. Those that go on with a block have in `exit` how many cycles were taken.
///
/// An *offset* is a number to be added in the lower half of `extra` with the mask of the sum in the upper half.
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
    /// `into = x - 1 < extra`, so whether it is positive where that is the largest positive number.
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
    /// `into =` whether `x` differs from `y` and from the slot `z` in the bit `exit`; where that bit of `extra` is set, whether
    /// it is as in `y` and not as in `z`.
    DiffersFromBoth,
    /// `into = x`, of `z` bits, with copies of its sign up to the mask `extra`.
    SignExtend,
    /// `into = x` where the slot `z` is not zero, else `y`.
    Choose,
    /// `into =` the cell at `x` of the memory `z`, in bytes if it is in one piece.
    Load,
    /// As `Load`, at `x` plus an offset.
    LoadOffset,
    /// As `Load`, at `x << extra | y`.
    LoadJoined,
    /// As `Load`, from a memory of words.
    LoadWord,
    /// As `LoadOffset`, from a memory of words.
    LoadWordOffset,
    /// As `Load`, from a memory that is not at hand.
    LoadFar,
    /// `into =` the cells from `x` plus an offset on, of the memory `z` of bytes; `exit` is their [`Shape`].
    LoadWide,
    /// The cell at `x` of the memory `z` gets `y`.
    Store,
    /// As `Store`, at `x` plus an offset.
    StoreOffset,
    /// As `Store`, into a memory of words.
    StoreWord,
    /// As `StoreOffset`, into a memory of words.
    StoreWordOffset,
    /// As `Store`, into a memory that is not at hand.
    StoreFar,
    /// The cell at `x` of any memory `z` gets `y` where the slot `into` is not zero.
    StoreIf,
    /// As `Store` for a code cell that is not marked; else leaves.
    StoreUnmarked,
    /// As `StoreUnmarked`, at `x` plus an offset.
    StoreUnmarkedOffset,
    /// As `StoreUnmarked`, at `x << extra | into`.
    StoreUnmarkedJoined,
    /// The code cells from `x` plus an offset on, none of which is marked, get `y` together; else leaves. `into` is
    /// their [`Shape`].
    StoreWideUnmarked,
    /// As `StoreUnmarked`, for code in words.
    StoreWordUnmarked,
    /// As `StoreUnmarkedOffset`, for code in words.
    StoreWordUnmarkedOffset,
    /// Leaves where `x` is not zero.
    LeaveIf,
    /// Leaves where `x` is zero.
    LeaveUnless,
    /// Leaves where `x == y`.
    LeaveIfEqual,
    /// Leaves where `x != y`.
    LeaveUnlessEqual,
    /// Leaves where `x == extra`.
    LeaveIfNumber,
    /// Leaves where `x != extra`.
    LeaveUnlessNumber,
    /// Leaves where `x < y`.
    LeaveIfLess,
    /// Leaves where `x >= y`.
    LeaveUnlessLess,
    /// Leaves where the bit `z` of `x` is set.
    LeaveIfBit,
    /// Leaves where the bit `z` of `x` is not set.
    LeaveUnlessBit,
    /// Leaves where the code cell at `x` is marked.
    LeaveIfMarked,
    /// Leaves where the code cell at `x` plus an offset is marked.
    LeaveIfMarkedOffset,
    /// Leaves where the code cell at `x` is marked and `y` is not zero.
    LeaveIfBothMarked,
    /// Leaves where something is mapped over one of `z` code cells from `x` plus an offset on, or the last cell is among them and
    /// not the last of them.
    LeaveIfMapped,
    /// Leaves where the page of a cell of a large memory is closed.
    LeaveIfClosed,
    /// `x` is the argument `z` of the operation of a device that follows.
    Argument,
    /// `into =` what the operation `z` of all [operations of devices](super::outside::Outside) gives, where `x` is not
    /// zero, else 0; `extra` instructions of the block came before. Leaves where it gives nothing yet.
    DeviceRead,
    /// As `DeviceRead`, for one that gives nothing.
    DeviceWrite,
    /// The block takes `x` cycles.
    Cycles,
    /// The block takes `extra` cycles.
    CyclesNumber,
    /// The block takes `extra` cycles where `x` is not zero.
    CyclesIf,
    /// The block takes `extra` cycles where `x < y`.
    CyclesIfLess,
    /// Goes on with the operations for what is in the `y` cells, of the memory `z`, of the volatile instruction with
    /// the number `extra`.
    Select,
    /// Goes on with an entry.
    Goto,
    /// Goes the other way where `x` is not zero.
    BranchIf,
    /// Goes the other way where `x == y`.
    BranchIfEqual,
    /// Goes the other way where `x < y`.
    BranchIfLess,
    /// Goes the other way where the bit `y` of `x` is set, where `y` is the number itself.
    BranchIfBit,
    /// Goes on at the address `x`; `extra` is the number of the computed jump.
    Jump,
    /// `into` instructions were done; the one at the address `extra` must be interpreted.
    Interpret,
    /// The entry is an instruction that must be interpreted.
    InterpretEntry,
    /// Decodes the entry first.
    Decode,
    /// [Pairs](super::pairs): this operation and the next one. Where the second reads what the first has made, that is its `x`.
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

/// How many cells are reached together, and whether the first is the highest part of what they hold.
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
