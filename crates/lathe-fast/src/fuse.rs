//! What operations read and write, and how operations come to write their results into registers themselves.

use super::ops::{Code, Op, Slot};

/// Lets an operation write a register itself, instead of a move at the end, if nothing in between can see the
/// difference or leave the block.
pub(super) fn fuse_writes(ops: &mut Vec<Op>, registers: usize) {
    let mut at = 0;
    while at < ops.len() {
        let Op { code, into, x, .. } = ops[at];
        at += 1;
        if code != Code::Move || usize::from(into) >= registers || usize::from(x) < registers {
            continue;
        }
        let Some(maker) = ops[..at - 1].iter().rposition(|op| op.into == x && gives_value(op.code)) else { continue };
        let between = ops[maker + 1..at - 1].iter();
        let seen = |op: &Op| leaves(op.code) || (op.into == into && gives_value(op.code)) || reads(op, into);
        let seen_after = ops[at..].iter().any(|op| reads(op, into));
        if between.clone().any(seen) || seen_after {
            continue;
        }
        ops[maker].into = into;
        at -= 1;
        ops.remove(at);
        ops[maker + 1..].iter_mut().for_each(|op| replace_reads(op, x, into));
    }
}

/// Which fields of an operation are slots that it reads.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    x: bool,
    y: bool,
    z: bool,
    into: bool,
}

/// Returns which fields an operation reads as slots.
fn reads_of(code: Code) -> Reads {
    use Code::*;
    let none = Reads::default();
    let x = Reads { x: true, ..none };
    let both = Reads { y: true, ..x };
    match code {
        Set | GetRegister | CyclesNumber | Select | Goto | Interpret => none,
        Move | SetRegister | AddNumber | AndNumber | OrNumber | XorNumber | Not | EqualNumber | UnequalNumber
        | LessNumber | Positive | LoadWide | Unary(_) | Slice | ShiftLeft | JoinNumber | SignExtend | Load
        | LoadOffset | LoadWord | LoadWordOffset | LoadFar | LeaveIf | LeaveUnless | LeaveIfNumber
        | LeaveUnlessNumber | LeaveIfBit | LeaveUnlessBit | LeaveIfMarked | LeaveIfMarkedOffset | LeaveIfMapped
        | LeaveIfClosed | Argument | DeviceRead | DeviceWrite | Cycles | CyclesIf | BranchIf | BranchIfBit | Jump => x,
        Add
        | LessOrEqual
        | LessSigned
        | Multiply
        | ShiftLeftBy
        | ShiftRightBy
        | Subtract
        | And
        | Or
        | Xor
        | Equal
        | Unequal
        | Less
        | Binary(_)
        | Join
        | LoadJoined
        | Store
        | StoreOffset
        | StoreWord
        | StoreWordOffset
        | StoreFar
        | StoreUnmarked
        | StoreUnmarkedOffset
        | StoreWideUnmarked
        | StoreWordUnmarked
        | StoreWordUnmarkedOffset
        | LeaveIfEqual
        | LeaveUnlessEqual
        | LeaveIfLess
        | LeaveUnlessLess
        | LeaveIfBothMarked
        | CyclesIfLess
        | BranchIfEqual
        | BranchIfLess => both,
        Choose | DiffersFromBoth => Reads { z: true, ..both },
        StoreIf | StoreUnmarkedJoined => Reads { into: true, ..both },
        AddThenSlice
        | AddNumberThenSlice
        | AddNumberThenLoadOffset
        | AddNumberThenMove
        | AddNumberThenGoto
        | MoveThenMove
        | MoveThenGoto
        | MoveThenJump
        | SliceThenEqualNumber
        | EqualNumberThenSlice
        | SliceThenJoin
        | LoadOffsetUnmapped
        | LoadWideUnmapped
        | AddNumberThenLeaveIfNumber
        | LoadWideThenLeaveIfNumber
        | JoinThenAddNumber
        | StoreOffsetThenStoreOffset
        | StoreUnmarkedOffsetThenStoreOffset => none,
    }
}

/// What an operation results in. Every code is listed, so that a new one cannot be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// `into` takes a value.
    Value,
    /// The block may be left.
    PerhapsLeft,
    /// `into` takes a value, or the block is left.
    ValueOrLeft,
    /// Something else is written, or the block ends.
    Other,
}

fn outcome_of(code: Code) -> Outcome {
    use Code::*;
    match code {
        Set | LessOrEqual | LessSigned | Multiply | ShiftLeftBy | ShiftRightBy | Move | GetRegister | Add
        | AddNumber | Subtract | And | AndNumber | Or | OrNumber | Xor | XorNumber | Not | Equal | EqualNumber
        | Unequal | UnequalNumber | Less | LessNumber | Positive | LoadWide | Unary(_) | Binary(_) | Slice
        | ShiftLeft | Join | JoinNumber | SignExtend | DiffersFromBoth | Choose | Load | LoadOffset | LoadJoined
        | LoadWord | LoadWordOffset | LoadFar => Outcome::Value,
        LeaveIf
        | LeaveUnless
        | LeaveIfEqual
        | LeaveUnlessEqual
        | LeaveIfNumber
        | LeaveUnlessNumber
        | LeaveIfLess
        | LeaveUnlessLess
        | LeaveIfBit
        | LeaveUnlessBit
        | LeaveIfMarked
        | LeaveIfMarkedOffset
        | LeaveIfBothMarked
        | LeaveIfMapped
        | LeaveIfClosed
        | StoreUnmarked
        | StoreWideUnmarked
        | StoreUnmarkedOffset
        | StoreUnmarkedJoined
        | StoreWordUnmarked
        | StoreWordUnmarkedOffset => Outcome::PerhapsLeft,
        DeviceRead => Outcome::ValueOrLeft,
        Argument | DeviceWrite | SetRegister | Store | StoreOffset | StoreWord | StoreWordOffset | StoreFar
        | StoreIf | Cycles | CyclesNumber | CyclesIf | CyclesIfLess | Select | Goto | BranchIf | BranchIfEqual
        | BranchIfLess | BranchIfBit | Jump | Interpret => Outcome::Other,
        // Pairs do not exist yet when this is asked.
        AddThenSlice
        | AddNumberThenSlice
        | AddNumberThenLoadOffset
        | AddNumberThenMove
        | AddNumberThenGoto
        | MoveThenMove
        | MoveThenGoto
        | MoveThenJump
        | SliceThenEqualNumber
        | EqualNumberThenSlice
        | SliceThenJoin
        | LoadOffsetUnmapped
        | LoadWideUnmapped
        | AddNumberThenLeaveIfNumber
        | LoadWideThenLeaveIfNumber
        | JoinThenAddNumber
        | StoreOffsetThenStoreOffset
        | StoreUnmarkedOffsetThenStoreOffset => Outcome::Other,
    }
}

/// Whether `into` takes a value.
fn gives_value(code: Code) -> bool {
    matches!(outcome_of(code), Outcome::Value | Outcome::ValueOrLeft)
}

/// Whether an operation may leave the block.
pub(super) fn leaves(code: Code) -> bool {
    matches!(outcome_of(code), Outcome::PerhapsLeft | Outcome::ValueOrLeft)
}

fn reads(op: &Op, slot: Slot) -> bool {
    let reads = reads_of(op.code);
    let fields = [(reads.x, op.x), (reads.y, op.y), (reads.z, op.z), (reads.into, op.into)];
    fields.contains(&(true, slot))
}

fn replace_reads(op: &mut Op, from: Slot, to: Slot) {
    let reads = reads_of(op.code);
    let fields = [(reads.x, &mut op.x), (reads.y, &mut op.y), (reads.z, &mut op.z), (reads.into, &mut op.into)];
    fields.into_iter().filter(|(read, field)| *read && **field == from).for_each(|(_, field)| *field = to);
}
