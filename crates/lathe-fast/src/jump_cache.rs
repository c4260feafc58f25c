//! Where computed jumps went: a hash table indexed by the jump and the address together, so that a jump with many
//! targets costs no more than one with few.

use super::ops::EntryId;

/// Size of the table at first, and at most, as powers of two.
const FIRST: u32 = 6;
const MOST: u32 = 12;

/// A table of targets. Targets that share a place evict one another.
#[derive(Clone, Debug)]
pub(super) struct JumpCache {
    places: Vec<Place>,
    /// How many low bits of a hash do not count for the position.
    shift: u32,
    /// Targets added since the table last grew.
    came_in: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    pc: u64,
    jump: u32,
    entry: EntryId,
}

/// A free place: no jump has this number.
const EMPTY: Place = Place { pc: 0, jump: u32::MAX, entry: 0 };

impl JumpCache {
    pub(super) fn new() -> JumpCache {
        JumpCache { places: vec![EMPTY; 1 << FIRST], shift: u64::BITS - FIRST, came_in: 0 }
    }

    /// Returns the entry that a jump to an address goes to, if known.
    #[inline(always)]
    pub(super) fn find(&self, jump: u32, pc: u64) -> Option<EntryId> {
        let place = self.places.get(self.position(jump, pc))?;
        (place.pc == pc && place.jump == jump).then_some(place.entry)
    }

    pub(super) fn insert(&mut self, jump: u32, pc: u64, entry: EntryId) {
        if self.find(jump, pc) == Some(entry) {
            return;
        }
        self.came_in += 1;
        if self.came_in * 2 > self.places.len() && self.places.len() < 1 << MOST {
            self.grow();
        }
        let at = self.position(jump, pc);
        self.places[at] = Place { pc, jump, entry };
    }

    /// Forgets where one jump went.
    pub(super) fn forget(&mut self, jump: u32) {
        self.places.iter_mut().filter(|place| place.jump == jump).for_each(|place| *place = EMPTY);
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.places.len() * 2];
        (self.shift, self.came_in) = (self.shift - 1, 0);
        for place in std::mem::replace(&mut self.places, larger).into_iter().filter(|place| place.jump != EMPTY.jump) {
            let at = self.position(place.jump, place.pc);
            self.places[at] = place;
        }
    }

    /// Hashes a target: multiplying moves the differences to the upper bits, which are the position.
    #[inline(always)]
    fn position(&self, jump: u32, pc: u64) -> usize {
        let mixed = (pc ^ u64::from(jump) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> (self.shift % u64::BITS)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_targets_of_one_jump_are_found() {
        let mut cache = JumpCache::new();
        let address = |target: u32| u64::from(target) * 3;
        let mut missed = 0;
        // Evicted targets are added again when they are jumped to, and the table grows.
        for target in (0..10).flat_map(|_| 0..200u32) {
            if cache.find(7, address(target)) != Some(target) {
                missed += 1;
                cache.insert(7, address(target), target);
            }
        }
        assert!(missed < 400, "{missed}");
        assert_eq!(cache.find(7, 1), None);
        assert_eq!(cache.find(8, 3), None);
    }

    #[test]
    fn one_jump_is_forgotten_alone() {
        let mut cache = JumpCache::new();
        cache.insert(1, 100, 5);
        cache.insert(2, 100, 6);
        cache.forget(1);
        assert_eq!((cache.find(1, 100), cache.find(2, 100)), (None, Some(6)));
    }
}
