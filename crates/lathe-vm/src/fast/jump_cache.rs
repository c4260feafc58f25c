//! Where computed jumps went: a table found by the jump and the address together, so that a jump with many
//! targets costs no more than one with few.

use super::ops::EntryId;

/// The table grows until it has so many places, as a power of two.
const MOST: u32 = 14;
/// How many it has at first.
const FIRST: u32 = 6;

/// A table of targets. Two that share a place push one another out.
#[derive(Clone, Debug)]
pub(super) struct JumpCache {
    places: Vec<Place>,
    /// How many of them are taken.
    taken: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    pc: u64,
    jump: u32,
    entry: EntryId,
}

/// No jump has this number.
const EMPTY: Place = Place { pc: 0, jump: u32::MAX, entry: 0 };

impl JumpCache {
    pub(super) fn new() -> JumpCache {
        JumpCache { places: vec![EMPTY; 1 << FIRST], taken: 0 }
    }

    /// The entry that a jump goes to at an address, if that is known.
    #[inline(always)]
    pub(super) fn find(&self, jump: u32, pc: u64) -> Option<EntryId> {
        let place = self.places.get(self.position(jump, pc))?;
        (place.pc == pc && place.jump == jump).then_some(place.entry)
    }

    pub(super) fn insert(&mut self, jump: u32, pc: u64, entry: EntryId) {
        if self.taken * 2 >= self.places.len() && self.places.len() < 1 << MOST {
            self.grow();
        }
        let at = self.position(jump, pc);
        self.taken += usize::from(self.places[at].jump == EMPTY.jump);
        self.places[at] = Place { pc, jump, entry };
    }

    /// Forgets where one jump went.
    pub(super) fn forget(&mut self, jump: u32) {
        self.places.iter_mut().filter(|place| place.jump == jump).for_each(|place| *place = EMPTY);
    }

    fn grow(&mut self) {
        let larger = vec![EMPTY; self.places.len() * 2];
        let places = std::mem::replace(&mut self.places, larger);
        self.taken = 0;
        for Place { pc, jump, entry } in places.into_iter().filter(|place| place.jump != EMPTY.jump) {
            self.insert(jump, pc, entry);
        }
    }

    /// Multiplying moves the differences to the upper bits, from which the position is taken.
    #[inline(always)]
    fn position(&self, jump: u32, pc: u64) -> usize {
        let mixed = (pc ^ u64::from(jump) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 48) as usize & (self.places.len() - 1)
    }
}
