//! The registers that decide what is fetched: banks, and modes of decoding.
//!
//! When one of them changes, instructions that are different now are forgotten. A program that changes them all the
//! time would spend its time on that, so it is interpreted for a while, longer each time.

use lathe_isa::Isa;
use lathe_vm::state::State;

/// Changes less than this many instructions apart are too close to decode anything between them.
const CLOSE: u64 = 10_000;
/// How many close changes in a row are tolerated.
const PATIENCE: u32 = 16;
/// How many instructions are interpreted after that, at first and at most.
const FIRST_PAUSE: u64 = 10_000;
const LONGEST_PAUSE: u64 = 1 << 20;

/// The values of the registers, and how often they change.
#[derive(Default)]
pub(super) struct Banks {
    values: Vec<u64>,
    /// Steps of the run at the last change.
    changed_at: u64,
    /// Changes in a row that were too close.
    close: u32,
    /// How many instructions the last pause lasted.
    pause: u64,
    /// The step at which the current pause ends. Until then, decoded instructions may be for other banks.
    paused_until: Option<u64>,
}

impl Banks {
    /// Updates the values of the registers. Returns whether any has changed.
    pub(super) fn take(&mut self, isa: &Isa, state: &State) -> bool {
        let values = isa.banked_by.iter().map(|register| state.register(*register));
        if values.clone().eq(self.values.iter().copied()) {
            return false;
        }
        self.values = values.collect();
        true
    }

    /// Updates the values of the registers after an instruction, `done` steps into the run. Returns whether
    /// instructions decoded for other values must be forgotten at once.
    pub(super) fn note(&mut self, isa: &Isa, state: &State, done: u64) -> bool {
        if !self.take(isa, state) {
            return false;
        }
        let is_close = done.wrapping_sub(self.changed_at) < CLOSE;
        self.changed_at = done;
        if self.are_paused() {
            return false;
        }
        if !is_close {
            (self.close, self.pause) = (0, 0);
            return true;
        }
        self.close += 1;
        if self.close <= PATIENCE {
            return true;
        }
        self.close = PATIENCE;
        self.pause = (2 * self.pause).clamp(FIRST_PAUSE, LONGEST_PAUSE);
        self.paused_until = Some(done + self.pause);
        false
    }

    /// Whether there is a pause: decoded instructions may be for other banks.
    pub(super) fn are_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    /// Whether the pause still lasts, `done` steps into the run.
    pub(super) fn go_on(&self, done: u64) -> bool {
        self.paused_until.is_some_and(|until| (self.changed_at..until).contains(&done))
    }

    /// Ends the pause: decoded instructions are for the current banks again.
    pub(super) fn resume(&mut self) {
        self.paused_until = None;
    }
}
