//! Pairs of operations that often follow one another, executed as one. Dispatching an operation takes longer than most
//! operations do, and a second operation that uses the result of the first has it at hand.
//!
//! Both stay in the list unchanged, except that the code of the first stands for both.

use super::ops::{Code, Op};

/// Turns operations that follow one another into pairs. Only the first of a pair may lead to the second. Exits keep to
/// that, because each begins after an operation that ends a block.
pub(super) fn pair_up(ops: &mut [Op]) {
    let mut at = 0;
    while let Some([first, second, ..]) = ops.get_mut(at..) {
        at += match pair(first, second) {
            Some(code) => {
                first.code = code;
                2
            }
            None => 1,
        };
    }
}

/// Returns the code that stands for two operations together, if there is one.
fn pair(first: &Op, second: &Op) -> Option<Code> {
    use Code::*;
    let goes_on = second.x == first.into;
    let same_address = (second.x, second.extra) == (first.x, first.extra);
    Some(match (first.code, second.code) {
        (Add, Slice) if goes_on => AddThenSlice,
        (AddNumber, Slice) if goes_on => AddNumberThenSlice,
        (AddNumber, LoadOffset) if goes_on => AddNumberThenLoadOffset,
        (AddNumber, Move) => AddNumberThenMove,
        (AddNumber, Goto) => AddNumberThenGoto,
        (Move, Move) => MoveThenMove,
        (Move, Goto) => MoveThenGoto,
        (Move, Jump) => MoveThenJump,
        (Slice, EqualNumber) => SliceThenEqualNumber,
        (EqualNumber, Slice) => EqualNumberThenSlice,
        (Slice, Join) => SliceThenJoin,
        (LoadOffset, LeaveIfMapped) if same_address => LoadOffsetUnmapped,
        (LoadWide, LeaveIfMapped) if same_address => LoadWideUnmapped,
        (AddNumber, LeaveIfNumber) if goes_on => AddNumberThenLeaveIfNumber,
        (LoadWide, LeaveIfNumber) if goes_on => LoadWideThenLeaveIfNumber,
        (Join, AddNumber) if goes_on => JoinThenAddNumber,
        (StoreOffset, StoreOffset) => StoreOffsetThenStoreOffset,
        (StoreUnmarkedOffset, StoreOffset) => StoreUnmarkedOffsetThenStoreOffset,
        _ => return None,
    })
}
