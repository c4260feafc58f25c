//! What stops a run: places, cells, values, events. This is the list that a person keeps; `plan.rs`
//! turns it into what an engine looks for.

use std::ops::RangeInclusive;

use lathe_isa::model::MemoryId;

use crate::expression::Expression;

/// One breakpoint or watchpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// As somebody asked for it.
    pub text: String,
    /// What stops.
    pub what: What,
    /// Only if this is not 0 there.
    pub condition: Option<Expression>,
    /// How many more hits pass before one stops.
    pub ignore: u64,
    /// How often it was hit going forward.
    pub hits: u64,
    /// Whether it counts at the moment.
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
    /// After an instruction that changes the value of this. Costs a look at every instruction.
    Changes(Expression),
    /// When this becomes true. Costs a look at every instruction.
    Becomes(Expression),
    /// When this happens.
    On(Trigger),
}

/// Which accesses to cells stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellAccess {
    /// Reads.
    Read,
    /// Writes, even of the value that is there already.
    Write,
    /// Both.
    Any,
    /// Writes of another value.
    Change,
}

impl CellAccess {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            CellAccess::Read => "reads of",
            CellAccess::Write => "writes to",
            CellAccess::Any => "accesses to",
            CellAccess::Change => "changes of",
        }
    }
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The program has written to the console.
    Output,
    /// Before an encoding that no instruction has, which the machine handles itself.
    Undefined,
    /// Before an instruction that calls.
    Call,
    /// Before an instruction of this mnemonic.
    Instruction(String),
}

/// What a hit does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It stops the run.
    Stop,
    /// It stops the run, and the breakpoint goes away.
    StopOnce,
    /// It writes this, with the expressions in braces filled in, and the run goes on.
    Log(String),
}

/// All breakpoints, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Breakpoints {
    list: Vec<Breakpoint>,
    last: u32,
}

impl Breakpoints {
    /// A new one; gives its number.
    pub fn add(&mut self, text: String, what: What, condition: Option<Expression>, effect: Effect) -> u32 {
        self.last += 1;
        let (ignore, hits, enabled) = (0, 0, true);
        self.list.push(Breakpoint { id: self.last, text, what, condition, ignore, hits, enabled, effect });
        self.last
    }

    /// The next one gets this number, if no later one was given out.
    pub(crate) fn next_is(&mut self, id: u32) {
        self.last = self.last.max(id.saturating_sub(1));
    }

    /// All of them.
    pub fn all(&self) -> &[Breakpoint] {
        &self.list
    }

    /// The one with this number.
    pub fn get(&self, id: u32) -> Option<&Breakpoint> {
        self.list.iter().find(|known| known.id == id)
    }

    /// The one with this number, to be changed.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut Breakpoint> {
        self.list.iter_mut().find(|known| known.id == id)
    }

    /// Takes one away; says whether it was there.
    pub fn remove(&mut self, id: u32) -> bool {
        let before = self.list.len();
        self.list.retain(|known| known.id != id);
        self.list.len() != before
    }

    /// Takes all away.
    pub fn clear(&mut self) {
        self.list.clear();
    }
}
