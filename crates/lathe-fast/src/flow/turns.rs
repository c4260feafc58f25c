//! A loop executes one operation after the other.
//!
//! For WebAssembly, where a call to a function that is only known when it happens takes far longer than a branch to one
//! of many places, even as a tail call.

use crate::burst::Work;
use crate::execute::execute;
use crate::ops::{EntryId, Op, Slots};

/// An operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) op: Op,
}

/// The operations that come next; none at the end of a block, or if there is an event. Not an `enum`, so that it is kept
/// in two registers.
pub(crate) type Flow<'a> = &'a [Ready];

/// There is an event.
pub(crate) const PAUSED: Flow<'static> = &[];

/// Continues with the next operation.
#[inline(always)]
pub(crate) fn next<'a>(_: &Ready, rest: &'a [Ready], _: &mut Slots, _: &mut Work<'a>) -> Flow<'a> {
    rest
}

/// Continues with another block.
#[inline(always)]
pub(crate) fn block<'a>(target: EntryId, work: &mut Work<'a>) -> Flow<'a> {
    work.current = target;
    &[]
}

/// Some operations to begin with: where they are among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning(u32);

impl Beginning {
    /// Decodes the block first.
    pub(crate) const DECODE: Beginning = Beginning(u32::MAX);
    /// The instruction must be interpreted.
    pub(crate) const INTERPRET: Beginning = Beginning(u32::MAX - 1);

    /// Adds operations to all others.
    pub(crate) fn add(all: &mut Vec<Ready>, ops: &[Op]) -> Beginning {
        let at = all.len() as u32;
        all.extend(ops.iter().map(|op| Ready { op: *op }));
        Beginning(at)
    }

    /// Whether there are operations.
    pub(crate) fn is_lowered(self) -> bool {
        self.0 < Self::INTERPRET.0
    }

    /// Continues here.
    #[inline(always)]
    pub(crate) fn flow<'a>(self, _: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
        match self {
            Beginning::DECODE => work.decode(),
            Beginning::INTERPRET => work.interpret(),
            Beginning(at) => &work.ops[at as usize..],
        }
    }

    /// Executes operations up to the end of the block. Returns the next block, unless there is an event.
    #[inline(always)]
    pub(crate) fn execute(self, slots: &mut Slots, work: &mut Work) -> Option<EntryId> {
        let mut ops = self.flow(slots, work);
        while !ops.is_empty() {
            ops = execute(ops, slots, work);
        }
        work.event.is_none().then_some(work.current)
    }
}

/// Defines the function that executes an operation.
macro_rules! operations {
    ($($code:pat => $execute:expr,)*) => {
        #[inline(always)]
        pub(super) fn execute<'a>(ops: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
            const FIRST: bool = false;
            let [Ready { op }, ..] = ops else { return PAUSED };
            match op.code {
                $($code => super::flow::call($execute, ops, slots, work),)*
            }
        }
    };
}
pub(crate) use operations;

#[inline(always)]
pub(crate) fn call<'a>(
    execute: impl FnOnce(&'a [Ready], &mut Slots, &mut Work<'a>) -> Flow<'a>,
    ops: &'a [Ready],
    slots: &mut Slots,
    work: &mut Work<'a>,
) -> Flow<'a> {
    execute(ops, slots, work)
}
