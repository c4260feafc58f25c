//! Finds existing values by how they are computed. Building a value always begins with that, and most values that
//! engines build exist already, so this is a hash table of value numbers only: the values themselves are looked up in
//! the graph. Copying the table for a new block takes little.

/// The numbers of values, each near the place where its hash belongs.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// A value number plus one in each place, or zero if the place is free. The number of places is a power of two, and
    /// at least half of them are free.
    places: Vec<u32>,
    /// How many places are taken.
    taken: usize,
}

/// How many places the smallest table has.
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
    /// Creates a table with room for this many values without growing.
    pub(super) fn with_room_for(values: usize) -> Found {
        Found { places: vec![0; (values * 2).next_power_of_two().max(LEAST)], taken: 0 }
    }

    /// Returns the value number with this hash that `is_it` accepts, if there is one.
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

    /// Adds a value number that is not in the table, with its hash. `hash_of` returns the hashes of the others.
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

/// Returns the place where a hash belongs in a table of this size: its highest bits, which depend on everything that
/// was hashed.
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
