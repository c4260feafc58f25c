//! Stops at the speed of lowered code. An instruction at a breakpoint, and an access to a watched cell, are left to
//! the reference interpreter like everything else that cannot be lowered, and there the run stops. So code that
//! comes by neither runs as if there were no stops.
//!
//! What was lowered for some stops serves for fewer of them, too: what is left to the interpreter needlessly costs
//! time, not correctness. A debugger changes between runs with stops and without, and should not have all code
//! lowered again each time.

use std::sync::Arc;

use lathe_values::Reserved;
use lathe_vm::stops::{Access, Stops, Watch};

use crate::Fast;

/// This many needless detours are worth lowering everything again.
const NEEDLESS: u32 = 1 << 12;

/// What is left to the reference interpreter because a run may stop there.
#[derive(Debug, PartialEq, Eq)]
pub struct Armed {
    /// Where it may stop; the limit says nothing.
    pub(crate) stops: Stops,
    /// The cells whose accesses may stop it, as the graphs are told.
    pub(crate) reserved: Vec<Reserved>,
}

impl Armed {
    /// For runs with these stops.
    pub(crate) fn new(stops: &Stops) -> Armed {
        let reserved = |watch: &Watch| {
            let Watch { memory, addresses, reads, writes } = watch.clone();
            Reserved { memory, addresses, reads, writes }
        };
        let Stops { breakpoints, watches, .. } = stops.clone();
        let reserved = watches.iter().map(reserved).collect();
        Armed { stops: Stops { breakpoints, watches, ..Stops::never() }, reserved }
    }
}

impl Fast {
    /// What is left to the reference interpreter because a run may stop there.
    pub fn armed(&self) -> &Arc<Armed> {
        &self.armed
    }

    /// Prepares for a run with these stops. Whether everything that was lowered had to be forgotten.
    pub fn arm(&mut self, stops: &Stops) -> bool {
        if self.stops.breakpoints != stops.breakpoints || self.stops.watches != stops.watches {
            self.stops = stops.clone();
        }
        if self.armed.stops.include(stops) && self.needless < NEEDLESS {
            return false;
        }
        self.armed = Arc::new(Armed::new(stops));
        self.needless = 0;
        self.forget_everything();
        true
    }

    /// Counts an instruction that was interpreted for a stop which this run does not have.
    pub(super) fn note_needless(&mut self, pc: u64) {
        let (armed, stops) = (&self.armed.stops, &self.stops);
        if armed.is_plain() {
            return;
        }
        let is_needless = |access: &Access| armed.watches(access) && !stops.watches(access);
        let at_breakpoint = armed.breakpoints.contains(&pc) && !stops.breakpoints.contains(&pc);
        if at_breakpoint || self.reference.accesses().any(|access| is_needless(&access)) {
            self.needless = self.needless.saturating_add(1);
        }
    }
}
