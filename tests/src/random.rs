//! A small generator of random numbers, so that a seed is enough to reproduce a failure.

/// The generator: splitmix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `count`.
    pub fn below(&mut self, count: u64) -> u64 {
        self.number() % count
    }

    /// Returns a number in a range that is not empty.
    pub fn within(&mut self, range: std::ops::Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    /// Returns one item of a list that is not empty.
    pub fn pick<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// Returns true once in this many times.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Returns a value of this width: half of the time one near an edge.
    pub fn value(&mut self, bits: u32) -> u64 {
        let mask = u64::MAX >> (64 - bits);
        let edges = [0, 1, 2, 7, 8, 16, mask, mask - 1, mask >> 1, (mask >> 1) + 1, 0xFE, 0xFF, 0x100, 0xFFDF, 0xFFE0];
        let edge = edges[self.below(edges.len() as u64) as usize];
        if self.once_in(2) { edge & mask } else { self.number() & mask }
    }
}
