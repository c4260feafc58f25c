//! Numbers in slots that all blocks share.

use lathe_base::numbers::ByNumber;

use super::ops::{SLOTS, Slot};

/// Slots for numbers, shared by all blocks. Where they are used up, blocks set slots of their own.
pub(super) const CONSTANTS: usize = 64;

/// The numbers in slots that are shared by all blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    found: ByNumber<u64, Slot>,
    values: Vec<u64>,
}

impl Constants {
    pub(super) fn clear(&mut self) {
        *self = Constants::default();
    }

    /// The slots of the numbers and what they hold.
    pub(super) fn slots(&self) -> impl Iterator<Item = (usize, u64)> {
        (SLOTS - CONSTANTS..).zip(self.values.iter().copied())
    }

    /// The slot of a number, if there is still room.
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
