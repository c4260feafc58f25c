//! Maps keyed by guest address, by other keys made of a few numbers, and by name. Engines look them up all the time,
//! the assembler several times per word, and the standard library's hash takes longer than the work done there.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Returns the addresses from `start` on. Counting wraps, so every address can be included.
pub fn addresses_from(start: u64) -> impl Iterator<Item = u64> + Clone {
    std::iter::successors(Some(start), |address| Some(address.wrapping_add(1)))
}

/// A map keyed by number.
pub type ByNumber<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// A map keyed by name.
pub type ByName<V> = HashMap<String, V, BuildHasherDefault<Spread>>;

/// A set of names.
pub type NameSet = HashSet<String, BuildHasherDefault<Spread>>;

/// Spreads numbers by a multiplication. A program that makes many of them collide slows down only itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        let rest = rest.iter().fold(rest.len() as u64, |number, byte| number << 8 | u64::from(*byte));
        self.write_u64(rest);
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
