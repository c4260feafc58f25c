//! What stops a run: places, cells, values, events. This is the user's list; `plan.rs` turns it into what an engine
//! looks for.

use std::ops::RangeInclusive;

use lathe_isa::model::MemoryId;

use crate::expression::Expression;

/// One breakpoint or watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// As the user typed it.
    pub text: String,
    /// What it stops at.
    pub what: What,
    /// A hit counts only if this is not 0 there.
    pub condition: Option<Expression>,
    /// How many more hits to ignore before one stops.
    pub ignore: u64,
    /// How often it was hit going forward.
    pub hits: u64,
    /// Whether it is enabled.
    pub enabled: bool,
    /// What a hit does.
    pub effect: Effect,
}

/// What stops a run.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Before the instruction at one of these addresses.
    At(Vec<u64>),
    /// After an access to one of these cells.
    Cells {
        /// The memory.
        memory: MemoryId,
        /// The cells.
        addresses: RangeInclusive<u64>,
        /// Which accesses.
        access: CellAccess,
    },
    /// After an instruction that changes the value of this expression. Costs a look after every instruction.
    Changes(Expression),
    /// When this expression becomes true. Costs a look after every instruction.
    Becomes(Expression),
    /// When this event happens.
    On(Trigger),
}

/// Which accesses to cells stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// Reads.
    Read,
    /// Writes, even of the value already there.
    Write,
    /// Both.
    Any,
    /// Writes of a different value.
    Change,
}

impl CellAccess {
    /// Returns the access in words.
    pub fn name(self) -> &'static str {
        match self {
            CellAccess::Read => "reads of",
            CellAccess::Write => "writes to",
            CellAccess::Any => "accesses to",
            CellAccess::Change => "changes of",
        }
    }
}

/// Something that happens during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The program has written to the console.
    Output,
    /// Before an encoding that belongs to no instruction and that the machine handles itself.
    Undefined,
    /// Before a call instruction.
    Call,
    /// Before an instruction with this mnemonic.
    Instruction(String),
}

/// What a hit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The run stops.
    Stop,
    /// The run stops, and the breakpoint is deleted.
    StopOnce,
    /// This text is logged, with the expressions in braces filled in, and the run goes on.
    Log(String),
}

/// All breakpoints, in order of number.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoints {
    /// Adds a breakpoint and returns its number.
    pub fn add(&mut self, text: String, what: What, condition: Option<Expression>, effect: Effect) -> u32 {
        self.last += 1;
        let (ignore, hits, enabled) = (0, 0, true);
        self.list.push(Breakpoint { id: self.last, text, what, condition, ignore, hits, enabled, effect });
        self.last
    }

    /// Gives the next breakpoint this number, unless a later one was already given out.
    pub(crate) fn next_is(&mut self, id: u32) {
        self.last = self.last.max(id.saturating_sub(1));
    }

    /// Returns all breakpoints.
    pub fn all(&self) -> &[Breakpoint] {
        &self.list
    }

    /// Returns the breakpoint with this number.
    pub fn get(&self, id: u32) -> Option<&Breakpoint> {
        self.list.iter().find(|known| known.id == id)
    }

    /// Returns the breakpoint with this number, to change.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|known| known.id == id)
    }

    /// Removes a breakpoint; returns whether it existed.
    pub fn remove(&mut self, id: u32) -> bool {
        let before = self.list.len();
        self.list.retain(|known| known.id != id);
        self.list.len() != before
    }

    /// Removes all breakpoints.
    pub fn clear(&mut self) {
        self.list.clear();
    }
}
