//! Finds values again by how they come about. Building a value asks this every time, and most of what engines build is there
//! already, so it is a table of places with nothing in it but the numbers of values: what a place stands for is looked up in
//! the graph. A copy for a new block takes little.

/// The numbers of values, each near the place where its hash belongs.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// A number and one more; nothing where that is zero. There is a power of two of them, and at least one in two is free.
    places: Vec<u32>,
    /// How many are not free.
    taken: usize,
}

/// Places of the smallest table.
const LEAST: usize = 16;

impl Clone for Found {
    fn clone(&self) -> Found {
        Found { places: self.places.clone(), taken: self.taken }
    }

    fn clone_from(&mut self, other: &Found) {
        self.places.clone_from(&other.places);
        self.taken = other.taken;
    }
}

impl Found {
    /// Room for this many without growing.
    pub(super) fn with_room_for(values: usize) -> Found {
        Found { places: vec![0; (values * 2).next_power_of_two().max(LEAST)], taken: 0 }
    }

    /// The number with this hash that is the one looked for, if it is there.
    pub(super) fn get(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mut place = place(hash, self.places.len());
        loop {
            let number = self.places[place].checked_sub(1)?;
            if is_it(number) {
                return Some(number);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Adds a number that is not there, with its hash. `hash_of` tells those of the others.
    pub(super) fn insert(&mut self, number: u32, hash: u64, hash_of: impl Fn(u32) -> u64) {
        if (self.taken + 1) * 2 > self.places.len() {
            let larger = vec![0; (self.places.len() * 2).max(LEAST)];
            let smaller = std::mem::replace(&mut self.places, larger);
            for before in smaller.into_iter().filter_map(|place| place.checked_sub(1)) {
                self.put(before, hash_of(before));
            }
        }
        self.put(number, hash);
        self.taken += 1;
    }

    fn put(&mut self, number: u32, hash: u64) {
        let mut place = place(hash, self.places.len());
        while self.places[place] != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = number + 1;
    }
}

/// Where a hash belongs among so many places: its highest bits, which depend on all that went into it.
fn place(hash: u64, places: usize) -> usize {
    (hash >> (u64::BITS - places.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_and_nothing_else_even_where_all_hashes_are_the_same() {
        for hash_of in [|_: u32| u64::MAX, |number: u32| u64::from(number) << 54] {
            let mut found = Found::default();
            for number in 0..1_000 {
                assert_eq!(found.get(hash_of(number), |other| other == number), None);
                found.insert(number, hash_of(number), hash_of);
            }
            for number in 0..1_000 {
                assert_eq!(found.get(hash_of(number), |other| other == number), Some(number));
            }
        }
    }
}
