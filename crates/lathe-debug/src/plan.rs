//! What a run looks for: the enabled breakpoints, sorted by cost.
//!
//! The engine checks addresses and cells, at almost no cost. Values and kinds of instructions are checked after every
//! instruction, which is slow and says so. Output is found by running ahead and going back.

use std::collections::BTreeMap;

use lathe_embed::{Access, AccessKind, State, Stop, Stops, Watch};
use serde::Serialize;

use crate::breakpoints::{Breakpoint, CellAccess, Trigger, What};
use crate::calls::{CallModel, Transfer};
use crate::expression::{Evaluator, Expression};
use crate::program::Program;

/// The number of stops the user did not set.
pub(crate) const INTERNAL: u32 = 0;
/// The most cells whose old values are remembered.
const REMEMBERED: u64 = 1 << 16;

/// A breakpoint that was hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Its number.
    pub id: u32,
    /// What happened.
    #[serde(flatten)]
    pub detail: Detail,
}

/// What happened when a breakpoint was hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Detail {
    /// The next instruction is the breakpoint's.
    Reached,
    /// Cells were accessed.
    Cells {
        /// The accesses.
        cells: Vec<CellHit>,
    },
    /// A value changed.
    Changed {
        /// The expression.
        expression: String,
        /// The value before.
        old: u64,
        /// The value now.
        new: u64,
    },
    /// A condition became true.
    Became {
        /// The condition.
        expression: String,
    },
    /// The program wrote to the console.
    Output,
}

/// An access to a watched cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellHit {
    /// The memory's name.
    pub memory: String,
    /// The cell.
    pub address: u64,
    /// Whether it was written.
    pub written: bool,
    /// The value it held before, if known.
    pub old: Option<u64>,
    /// The value read or written.
    pub value: u64,
}

struct Cells {
    id: u32,
    watch: Watch,
    access: CellAccess,
    /// The cells' previous values, if there are few enough cells.
    shadow: Vec<u64>,
}

struct Looked {
    id: u32,
    expression: Expression,
    last: u64,
}

/// What a run looks for.
#[derive(Default)]
pub(crate) struct Plan {
    at: BTreeMap<u64, Vec<u32>>,
    cells: Vec<Cells>,
    changes: Vec<Looked>,
    becomes: Vec<Looked>,
    kinds: Vec<(u32, Trigger)>,
    output: Vec<u32>,
    conditions: BTreeMap<u32, Expression>,
}

impl Plan {
    /// Plans for all enabled breakpoints.
    pub(crate) fn new(breakpoints: &[Breakpoint]) -> Plan {
        let mut plan = Plan::default();
        for breakpoint in breakpoints.iter().filter(|breakpoint| breakpoint.enabled) {
            plan.add(breakpoint.id, &breakpoint.what);
            if let Some(condition) = &breakpoint.condition {
                plan.conditions.insert(breakpoint.id, condition.clone());
            }
        }
        plan
    }

    /// Plans for one thing only.
    pub(crate) fn only(what: &What) -> Plan {
        let mut plan = Plan::default();
        plan.add(INTERNAL, what);
        plan
    }

    pub(crate) fn add(&mut self, id: u32, what: &What) {
        match what {
            What::At(addresses) => addresses.iter().for_each(|address| self.at.entry(*address).or_default().push(id)),
            What::Cells { memory, addresses, access } => {
                let reads = matches!(access, CellAccess::Read | CellAccess::Any);
                let writes = !matches!(access, CellAccess::Read);
                let watch = Watch { memory: *memory, addresses: addresses.clone(), reads, writes };
                self.cells.push(Cells { id, watch, access: *access, shadow: Vec::new() });
            }
            What::Changes(expression) => self.changes.push(Looked { id, expression: expression.clone(), last: 0 }),
            What::Becomes(expression) => self.becomes.push(Looked { id, expression: expression.clone(), last: 0 }),
            What::On(Trigger::Output) => self.output.push(id),
            What::On(event) => self.kinds.push((id, event.clone())),
        }
    }

    /// Whether every instruction has to be checked.
    pub(crate) fn steps(&self) -> bool {
        !(self.changes.is_empty() && self.becomes.is_empty() && self.kinds.is_empty())
    }

    /// Whether output is looked for.
    pub(crate) fn wants_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Returns what the engine is to look for.
    pub(crate) fn stops(&self) -> Stops {
        let mut stops = Stops::never();
        stops.breakpoints = self.at.keys().copied().collect();
        stops.watches = self.cells.iter().map(|cells| cells.watch.clone()).collect();
        stops
    }

    /// Remembers the watched values before a run.
    pub(crate) fn prepare(&mut self, evaluator: &mut Evaluator, state: &mut State) {
        for looked in self.changes.iter_mut().chain(&mut self.becomes) {
            looked.last = evaluator.bits(&looked.expression, state);
        }
        for cells in &mut self.cells {
            let (first, last) = (*cells.watch.addresses.start(), *cells.watch.addresses.end());
            if last - first < REMEMBERED {
                let memory = state.memory(cells.watch.memory);
                cells.shadow = (first..=last).map(|address| memory.get(address)).collect();
            }
        }
    }

    /// Returns the hits of the last run of the engine.
    pub(crate) fn hits(&mut self, stop: &Stop, wrote: bool, seen: &mut Seen) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Stop::Watch(accesses) = stop {
            for cells in &mut self.cells {
                let found = cells.hits(accesses, seen);
                if !found.is_empty() {
                    hits.push(Hit { id: cells.id, detail: Detail::Cells { cells: found } });
                }
            }
        }
        for looked in &mut self.changes {
            let new = seen.evaluator.bits(&looked.expression, seen.state);
            let old = std::mem::replace(&mut looked.last, new);
            if old != new {
                let expression = looked.expression.text.clone();
                hits.push(Hit { id: looked.id, detail: Detail::Changed { expression, old, new } });
            }
        }
        for looked in &mut self.becomes {
            let new = seen.evaluator.bits(&looked.expression, seen.state);
            let old = std::mem::replace(&mut looked.last, new);
            if old == 0 && new != 0 {
                let expression = looked.expression.text.clone();
                hits.push(Hit { id: looked.id, detail: Detail::Became { expression } });
            }
        }
        if wrote {
            hits.extend(self.output.iter().map(|id| Hit { id: *id, detail: Detail::Output }));
        }
        // A machine stopped like this does not execute the instruction at its program counter next.
        if !matches!(stop, Stop::Halted | Stop::Idle | Stop::Fault(_) | Stop::Waiting(_)) {
            let reached = |id: &u32| Hit { id: *id, detail: Detail::Reached };
            hits.extend(self.at.get(&seen.state.pc).into_iter().flatten().map(reached));
            hits.extend(self.kinds.iter().filter(|(_, event)| seen.is_next(event)).map(|(id, _)| reached(id)));
        }
        let conditions = &self.conditions;
        hits.retain(|hit| {
            let condition = conditions.get(&hit.id);
            condition.is_none_or(|condition| seen.evaluator.bits(condition, seen.state) != 0)
        });
        hits
    }
}

impl Cells {
    fn hits(&mut self, accesses: &[Access], seen: &Seen) -> Vec<CellHit> {
        let mut hits = Vec::new();
        for access in accesses.iter().filter(|access| self.watch.covers(access)) {
            let slot = (access.address - self.watch.addresses.start()) as usize;
            let written = access.kind == AccessKind::Write;
            // Cells not watched for writes may have been written unseen.
            let old = self.shadow.get(slot).copied().filter(|_| self.watch.writes);
            if let Some(value) = self.shadow.get_mut(slot).filter(|_| written) {
                *value = access.value;
            }
            if self.access != CellAccess::Change || old != Some(access.value) {
                let memory = seen.program.isa().memory(access.memory).name.clone();
                hits.push(CellHit { memory, address: access.address, written, old, value: access.value });
            }
        }
        hits
    }
}

/// A run's present state, for checking hits.
pub(crate) struct Seen<'s> {
    pub(crate) program: &'s Program,
    pub(crate) model: &'s CallModel,
    pub(crate) evaluator: &'s mut Evaluator,
    pub(crate) state: &'s mut State,
}

impl Seen<'_> {
    fn is_next(&self, event: &Trigger) -> bool {
        let decoded = self.program.decode(self.state, self.state.pc);
        match (event, decoded) {
            (Trigger::Undefined, decoded) => decoded.is_none(),
            (Trigger::Call, Some(decoded)) => self.model.transfer(self.program.isa(), &decoded) != Transfer::Other,
            (Trigger::Instruction(name), Some(decoded)) => {
                let syntax = &self.program.isa().instruction(decoded.instruction).syntax;
                syntax.mnemonic().eq_ignore_ascii_case(name)
            }
            _ => false,
        }
    }
}

/// Whether there are few enough cells to tell whether they changed.
pub(crate) fn can_remember(addresses: &std::ops::RangeInclusive<u64>) -> bool {
    addresses.end() - addresses.start() < REMEMBERED
}
