//! Stops at the speed of lowered code. An instruction at a breakpoint, and an access to a watched cell, are left to
//! the reference interpreter like everything else that cannot be lowered, and there the run stops. So code that
//! comes by neither runs as if there were no stops.
//!
//! What was lowered for some stops serves for fewer of them, too: what is left to the interpreter needlessly costs
//! time, not correctness. A debugger changes between runs with stops and without, and should not have all code
//! lowered again each time.

use std::sync::Arc;

use super::Fast;
use crate::stops::{Access, Stops};

/// This many needless detours are worth lowering everything again.
const NEEDLESS: u32 = 1 << 12;

impl Fast {
    /// What is left to the reference interpreter because a run may stop there.
    pub fn armed(&self) -> &Arc<Stops> {
        &self.armed
    }

    /// Prepares for a run with these stops. Whether everything that was lowered had to be forgotten.
    pub fn arm(&mut self, stops: &Stops) -> bool {
        if self.stops.breakpoints != stops.breakpoints || self.stops.watches != stops.watches {
            self.stops = stops.clone();
        }
        if self.armed.include(stops) && self.needless < NEEDLESS {
            return false;
        }
        self.armed = Arc::new(Stops {
            breakpoints: stops.breakpoints.clone(),
            watches: stops.watches.clone(),
            ..Stops::never()
        });
        self.needless = 0;
        self.forget_everything();
        true
    }

    /// Counts an instruction that was interpreted for a stop which this run does not have.
    pub(super) fn note_needless(&mut self, pc: u64) {
        if self.armed.is_plain() {
            return;
        }
        let (armed, stops) = (&self.armed, &self.stops);
        let is_needless = |access: &Access| armed.watches(access) && !stops.watches(access);
        let at_breakpoint = armed.breakpoints.contains(&pc) && !stops.breakpoints.contains(&pc);
        if at_breakpoint || self.reference.accesses().any(|access| is_needless(&access)) {
            self.needless = self.needless.saturating_add(1);
        }
    }
}
