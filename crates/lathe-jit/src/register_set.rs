//! Sets of registers, as bits, because compiling uses them all the time.

use lathe_isa::model::RegisterId;

/// A set of registers. On most machines all of them fit into the first word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RegisterSet {
    first: u64,
    /// The bits of the other registers. The last word is never zero.
    rest: Vec<u64>,
}

impl RegisterSet {
    fn words(&self) -> impl Iterator<Item = u64> {
        [self.first].into_iter().chain(self.rest.iter().copied())
    }

    fn word(&self, index: usize) -> u64 {
        match index.checked_sub(1) {
            None => self.first,
            Some(index) => self.rest.get(index).copied().unwrap_or(0),
        }
    }

    pub(crate) fn insert(&mut self, register: RegisterId) {
        let (word, bit) = (register.index() / 64, 1 << (register.index() % 64));
        match word.checked_sub(1) {
            None => self.first |= bit,
            Some(index) => {
                self.rest.resize(self.rest.len().max(word), 0);
                self.rest[index] |= bit;
            }
        }
    }

    pub(crate) fn contains(&self, register: RegisterId) -> bool {
        self.word(register.index() / 64) >> (register.index() % 64) & 1 != 0
    }

    /// Adds the registers of another set. Returns whether this set has grown.
    pub(crate) fn join(&mut self, other: &RegisterSet) -> bool {
        let is_larger = (0..).zip(other.words()).any(|(index, word)| word & !self.word(index) != 0);
        if is_larger {
            self.first |= other.first;
            self.rest.resize(self.rest.len().max(other.rest.len()), 0);
            self.rest.iter_mut().zip(&other.rest).for_each(|(mine, word)| *mine |= word);
        }
        is_larger
    }

    /// Returns the registers in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RegisterId> {
        (0..).zip(self.words()).flat_map(|(index, word)| {
            let rest_of = |bits: &u64| Some(bits & (bits - 1)).filter(|bits| *bits != 0);
            let bits = std::iter::successors(Some(word).filter(|bits| *bits != 0), rest_of);
            bits.map(move |bits| RegisterId(index * 64 + bits.trailing_zeros()))
        })
    }
}

impl Extend<RegisterId> for RegisterSet {
    fn extend<I: IntoIterator<Item = RegisterId>>(&mut self, registers: I) {
        registers.into_iter().for_each(|register| self.insert(register));
    }
}

impl FromIterator<RegisterId> for RegisterSet {
    fn from_iter<I: IntoIterator<Item = RegisterId>>(registers: I) -> Self {
        let mut set = RegisterSet::default();
        set.extend(registers);
        set
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lathe_tests::random::Random;

    use super::*;

    #[test]
    fn it_is_a_set() {
        let mut random = Random(1);
        for _ in 0..2_000 {
            let most = *random.pick(&[3, 64, 65, 200]);
            let [x, y]: [BTreeSet<u32>; 2] =
                [0; 2].map(|_| (0..random.below(12)).map(|_| random.below(most) as u32).collect());
            let [mut mine, other] = [&x, &y].map(|set| set.iter().copied().map(RegisterId).collect::<RegisterSet>());
            (0..most as u32)
                .for_each(|register| assert_eq!(mine.contains(RegisterId(register)), x.contains(&register)));
            assert_eq!(mine == other, x == y, "{x:?} {y:?}");
            assert_eq!(mine.join(&other), !y.is_subset(&x), "{x:?} {y:?}");
            assert!(mine.iter().map(|register| register.0).eq(x.union(&y).copied()), "{x:?} {y:?}");
        }
    }
}
