//! The registers that decide what is fetched: banks, and modes of decoding.
//!
//! When one of them changes, what was decoded under the others is forgotten. Programs that change them all the time
//! would spend their time on that, so they are interpreted for a while, and for longer each time.

use lathe_isa::Isa;
use lathe_vm::state::State;

/// Changes that are closer than this many instructions are too close to decode anything between them.
const CLOSE: u64 = 10_000;
/// So many of them in a row are put up with.
const PATIENCE: u32 = 16;
/// Instructions that are interpreted then, at first and at most.
const FIRST_PAUSE: u64 = 10_000;
const LONGEST_PAUSE: u64 = 1 << 20;

/// What the registers were, and how restless they are.
#[derive(Default)]
pub(super) struct Banks {
    values: Vec<u64>,
    /// Steps of the run at their last change.
    changed_at: u64,
    /// Changes in a row that were too close.
    close: u32,
    /// How many instructions were interpreted the last time that they were restless.
    pause: u64,
    /// The step at which that ends, while it lasts. What was decoded may be for other banks then.
    paused_until: Option<u64>,
}

impl Banks {
    /// Takes over the registers; whether one of them is new.
    pub(super) fn take(&mut self, isa: &Isa, state: &State) -> bool {
        let values = isa.banked_by.iter().map(|register| state.register(*register));
        if values.clone().eq(self.values.iter().copied()) {
            return false;
        }
        self.values = values.collect();
        true
    }

    /// Takes over the registers after an instruction, with so many steps of the run done; whether what was decoded
    /// under others has to be forgotten at once.
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

    /// Whether what was decoded may be for other banks.
    pub(super) fn are_paused(&self) -> bool {
        self.paused_until.is_some()
    }

    /// Whether instructions are still to be interpreted, with so many steps of the run done.
    pub(super) fn go_on(&self, done: u64) -> bool {
        self.paused_until.is_some_and(|until| (self.changed_at..until).contains(&done))
    }

    /// What was decoded is for these banks again.
    pub(super) fn resume(&mut self) {
        self.paused_until = None;
    }
}
