//! Stops at the speed of lowered code. An instruction at a breakpoint and an access to a watched cell are left to the
//! reference interpreter, like everything else that cannot be lowered, and the run stops there. Code that reaches
//! neither runs as if there were no stops.
//!
//! Code lowered for some stops also serves for fewer: leaving something to the reference interpreter needlessly costs
//! time, not correctness. A debugger alternates between runs with and without stops, and should not have all code
//! lowered again each time.

use std::sync::Arc;

use lathe_values::Reserved;
use lathe_vm::stops::{Access, Stops, Watch};

use crate::Fast;

/// After this many needless detours, lowering everything again pays.
const NEEDLESS: u32 = 1 << 12;

/// What is left to the reference interpreter because a run may stop there.
#[derive(Debug, PartialEq, Eq)]
pub struct Armed {
    /// Where a run may stop; the limit means nothing here.
    pub(crate) stops: Stops,
    /// The cells whose accesses may stop a run, as symbolic execution takes them.
    pub(crate) reserved: Vec<Reserved>,
}

impl Armed {
    /// Prepares for runs with these stops.
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
    /// Returns what is left to the reference interpreter because a run may stop there.
    pub fn armed(&self) -> &Arc<Armed> {
        &self.armed
    }

    /// Prepares for a run with these stops. Returns whether everything lowered had to be forgotten.
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

    /// Counts the instruction just interpreted, if that was for a stop that this run does not have.
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
