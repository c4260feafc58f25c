//! Each operation is executed by a function, which ends by calling that of the next operation.
//!
//! Optimised builds turn these calls into jumps, so an operation is a handful of instructions, and each of its jumps is
//! predicted by itself. Nothing depends on that: the end of a block returns, so the calls are never deeper than the
//! longest block.

use crate::burst::Work;
use crate::execute::function_of;
use crate::ops::{Code, EntryId, Op, Slots};

/// An operation, and the function that executes the one that follows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) op: Op,
    next: Execute,
}

/// What comes of executing operations up to the end of their block: the next block, or [`PAUSED`].
pub(crate) type Flow<'a> = EntryId;

/// Executes the first of some operations and those that follow it.
///
/// All arguments fit into registers. What takes longer is another function of this kind, called at the end, so that no
/// registers need be saved before it is known that it is called.
pub(crate) type Execute = for<'a, 'b> fn(&'a [Ready], &'b mut Slots, &'b mut Work<'a>) -> Flow<'a>;

/// There is an [`Event`]. In an `Option` the result would need two registers, which keeps the calls from becoming jumps.
pub(crate) const PAUSED: EntryId = EntryId::MAX;

/// Continues with the next operation.
#[inline(always)]
pub(crate) fn next<'a>(ready: &Ready, rest: &'a [Ready], slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
    (ready.next)(rest, slots, work)
}

/// Continues with another block.
#[inline(always)]
pub(crate) fn block<'a>(target: EntryId, _: &mut Work<'a>) -> Flow<'a> {
    target
}

/// Some operations to begin with: where they are among all, and the function that executes the first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beginning {
    at: u32,
    execute: Execute,
}

impl Beginning {
    /// Decodes the block first.
    pub(crate) const DECODE: Beginning = Beginning { at: u32::MAX, execute: |_, _, work| work.decode() };
    /// The instruction must be interpreted.
    pub(crate) const INTERPRET: Beginning = Beginning { at: u32::MAX, execute: |_, _, work| work.interpret() };

    /// Adds operations to all others.
    pub(crate) fn add(all: &mut Vec<Ready>, ops: &[Op]) -> Beginning {
        let at = all.len() as u32;
        all.extend(ops.iter().zip(1..).map(|(op, next)| Ready { op: *op, next: function(&ops[next..]) }));
        Beginning { at, execute: function(ops) }
    }

    /// Whether there are operations.
    pub(crate) fn is_lowered(self) -> bool {
        self.at != u32::MAX
    }

    /// Continues here.
    #[inline(always)]
    pub(crate) fn flow<'a>(self, slots: &mut Slots, work: &mut Work<'a>) -> Flow<'a> {
        (self.execute)(work.ops.get(self.at as usize..).unwrap_or_default(), slots, work)
    }

    /// Executes operations up to the end of the block. Returns the next block, unless there is an event.
    #[inline(always)]
    pub(crate) fn execute(self, slots: &mut Slots, work: &mut Work) -> Option<EntryId> {
        Some(self.flow(slots, work)).filter(|target| *target != PAUSED)
    }
}

/// Returns the function that executes the first of these operations.
fn function(ops: &[Op]) -> Execute {
    match ops.first() {
        None => |_, _, _| PAUSED,
        Some(op) if is_in_first_memory(ops) => function_of::<true>(op.code),
        Some(op) => function_of::<false>(op.code),
    }
}

/// Whether the memory that the first of these operations accesses is the first one. Where that is known, the operation
/// need not look for it.
fn is_in_first_memory(ops: &[Op]) -> bool {
    let second = ops.get(1).is_some_and(|op| op.z == 0);
    ops.first().is_some_and(|op| match op.code {
        Code::AddNumberThenLoadOffset => second,
        Code::StoreOffsetThenStoreOffset | Code::StoreUnmarkedOffsetThenStoreOffset => op.z == 0 && second,
        _ => op.z == 0,
    })
}

/// Defines the function that returns the function for each code. `FIRST` says whether the memory that the operation
/// accesses is the first.
macro_rules! operations {
    ($($code:pat => $execute:expr,)*) => {
        pub(super) fn function_of<const FIRST: bool>(code: Code) -> super::flow::Execute {
            match code {
                $($code => $execute,)*
            }
        }
    };
}
pub(crate) use operations;
