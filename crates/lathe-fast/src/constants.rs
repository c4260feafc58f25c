//! Constants in slots that all blocks share.

use lathe_base::numbers::ByNumber;

use super::ops::{SLOTS, Slot};

/// How many slots are for constants that all blocks share. Once they are used up, blocks set slots of their own.
pub(super) const CONSTANTS: usize = 64;

/// The constants in slots that all blocks share.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    found: ByNumber<u64, Slot>,
    values: Vec<u64>,
}

impl Constants {
    pub(super) fn clear(&mut self) {
        *self = Constants::default();
    }

    /// Returns the slots of the constants and what they hold.
    pub(super) fn slots(&self) -> impl Iterator<Item = (usize, u64)> {
        (SLOTS - CONSTANTS..).zip(self.values.iter().copied())
    }

    /// Returns the slot of a constant, which it gets now if there is still room.
    pub(super) fn slot(&mut self, value: u64) -> Option<Slot> {
        if let Some(slot) = self.found.get(&value) {
            return Some(*slot);
        }
        if self.values.len() == CONSTANTS {
            return None;
        }
        let slot = (SLOTS - CONSTANTS + self.values.len()) as Slot;
        self.values.push(value);
        self.found.insert(value, slot);
        Some(slot)
    }
}
