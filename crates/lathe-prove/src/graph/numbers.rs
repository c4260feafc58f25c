//! The numbers that a value can be, as far as conditions compare it with numbers. An instruction that stores many cells
//! has many such conditions about one address; knowing that one of them holds decides most of the others.

use super::{Facts, Form, Graph, Node, Operator, mask};

/// The width of the widest values that are examined.
const WIDEST: u32 = 64;

/// How deeply nested the examined conditions are.
const DEEPEST: u32 = 4;

/// Ranges of numbers, both ends included, in order and with a gap between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbers(Vec<(u128, u128)>);

impl Numbers {
    fn from(first: u128, last: u128) -> Numbers {
        Numbers(if first <= last { vec![(first, last)] } else { Vec::new() })
    }

    /// Returns the numbers that are in both.
    fn both(&self, other: &Numbers) -> Numbers {
        let mut all = Vec::new();
        for (first, last) in &self.0 {
            let parts = other.0.iter().map(|(from, to)| (*first.max(from), *last.min(to)));
            all.extend(parts.filter(|(from, to)| from <= to));
        }
        Numbers(all)
    }

    /// Returns all other numbers up to the largest.
    fn others(&self, most: u128) -> Numbers {
        let (mut all, mut next) = (Vec::new(), 0);
        for (first, last) in &self.0 {
            if next < *first {
                all.push((next, first - 1));
            }
            next = last + 1;
        }
        if next <= most {
            all.push((next, most));
        }
        Numbers(all)
    }

    /// Returns the numbers that are in either.
    fn any(&self, other: &Numbers, most: u128) -> Numbers {
        self.others(most).both(&other.others(most)).others(most)
    }

    /// Returns the numbers that become these by a modular addition.
    fn before_adding(&self, amount: u128, most: u128) -> Numbers {
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for (first, last) in &self.0 {
            // Numbers below the amount result from wrapping around.
            if *first < amount {
                high.push((first + most + 1 - amount, last.min(&(amount - 1)) + most + 1 - amount));
            }
            if *last >= amount {
                low.push((first.max(&amount) - amount, last - amount));
            }
        }
        Numbers(low).any(&Numbers(high), most)
    }

    /// Returns the numbers that become these when shifted up, with a constant in the other bits.
    fn before_joining(&self, rest: u128, low: u32, most: u128) -> Numbers {
        let step = 1 << low;
        let parts = self.0.iter().filter(|(_, last)| *last >= rest).map(|(first, last)| {
            let first = first.saturating_sub(rest).div_ceil(step);
            Numbers::from(first, ((last - rest) / step).min(most))
        });
        parts.fold(Numbers(Vec::new()), |all, part| all.any(&part, most))
    }

    /// Returns the only number, if there is only one.
    fn single(&self) -> Option<u128> {
        match self.0[..] {
            [(first, last)] if first == last => Some(first),
            _ => None,
        }
    }
}

impl Graph {
    /// Returns the value that a condition compares with numbers, and the numbers for which it holds, if it does so.
    fn about(&self, condition: Node, deep: u32) -> Option<(Node, Numbers)> {
        match *self.form(condition) {
            Form::Not(x) => {
                let (value, numbers) = self.about(x, deep)?;
                Some((value, numbers.others(mask(self.bits(value)))))
            }
            Form::Pair(operator @ (Operator::And | Operator::Or), x, y) if deep > 0 => {
                let ((value, first), (other, second)) = (self.about(x, deep - 1)?, self.about(y, deep - 1)?);
                let most = mask(self.bits(value));
                let numbers = if operator == Operator::And { first.both(&second) } else { first.any(&second, most) };
                (value == other).then_some((value, numbers))
            }
            Form::Pair(Operator::Equal, x, y) => {
                let (value, number) =
                    self.as_constant(x).map(|number| (y, number)).or_else(|| Some((x, self.as_constant(y)?)))?;
                self.through(value, Numbers::from(number, number))
            }
            Form::Pair(Operator::Less, x, y) => match (self.as_constant(x), self.as_constant(y)) {
                (Some(number), None) => self.through(y, Numbers::from(number + 1, mask(self.bits(y)))),
                (None, Some(number)) => self.through(x, Numbers::from(0, number.checked_sub(1)?)),
                _ => None,
            },
            // The highest bit, such as the carry of a sum.
            Form::Slice(x, low) if low + 1 == self.bits(x) => {
                self.through(x, Numbers::from(1 << low, mask(self.bits(x))))
            }
            _ => None,
        }
    }

    /// Traces a value to the one from which it was made by adding a number, by taking the highest bits or by joining
    /// numbers; and returns the numbers that this one must be for the first to be one of the given.
    fn through(&self, made: Node, numbers: Numbers) -> Option<(Node, Numbers)> {
        let bits = self.bits(made);
        if !(2..=WIDEST).contains(&bits) {
            return None;
        }
        match *self.form(made) {
            Form::Join(ref parts) => match self.only_unknown(parts) {
                Some((value, rest, low)) => {
                    let most = mask(self.bits(value));
                    self.through(value, numbers.before_joining(rest, low, most))
                }
                None => Some((made, numbers)),
            },
            Form::Pair(Operator::Add, x, y) => {
                let (value, amount) =
                    match self.as_constant(x).map(|amount| (y, amount)).or_else(|| Some((x, self.as_constant(y)?))) {
                        Some(found) => found,
                        None => return Some((made, numbers)),
                    };
                self.through(value, numbers.before_adding(amount, mask(bits)))
            }
            Form::Slice(x, low) if low + bits == self.bits(x) => {
                let numbers = numbers.0.iter().map(|(first, last)| (first << low, ((last + 1) << low) - 1));
                self.through(x, Numbers(numbers.collect()))
            }
            _ => Some((made, numbers)),
        }
    }

    /// Returns the only part that is not a number, the value of the others where this part is 0, and how many bits are
    /// below it.
    fn only_unknown(&self, parts: &[Node]) -> Option<(Node, u128, u32)> {
        let (mut at, mut rest, mut found) = (0, 0, None);
        for part in parts.iter().rev() {
            match (self.as_constant(*part), found) {
                (Some(number), _) => rest |= number << at,
                (None, None) => found = Some((*part, at)),
                (None, Some(_)) => return None,
            }
            at += self.bits(*part);
        }
        found.map(|(value, low)| (value, rest, low))
    }

    /// Learns which numbers a value can be if a condition about it holds, or does not.
    pub(super) fn learn_numbers(&mut self, facts: &mut Facts, condition: Node, holds: bool) {
        let Some((value, numbers)) = self.about(condition, DEEPEST) else { return };
        let most = mask(self.bits(value));
        let numbers = if holds { numbers } else { numbers.others(most) };
        let numbers = match facts.numbers.get(&value) {
            Some(known) => known.both(&numbers),
            None => numbers,
        };
        if let Some(number) = numbers.single() {
            let number = self.constant(self.bits(value), number);
            facts.known.insert(value, number);
        }
        facts.numbers.insert(value, numbers);
    }

    /// Returns the numbers that a narrow value cannot be: a bit for each.
    pub(super) fn excluded(&self, facts: &Facts, value: Node) -> u64 {
        let is_excluded = |number: &u128| {
            let made_of = self.through(value, Numbers::from(*number, *number));
            made_of.is_some_and(|(of, numbers)| {
                facts.numbers.get(&of).is_some_and(|known| known.both(&numbers).0.is_empty())
            })
        };
        let is_known = self.through(value, Numbers::from(0, 0)).is_some_and(|(of, _)| facts.numbers.contains_key(&of));
        if !is_known {
            return 0;
        }
        (0..=mask(self.bits(value))).filter(is_excluded).map(|number| 1 << number).sum()
    }

    /// Returns whether a condition holds, if it holds for all numbers that the value can be or for none of them.
    pub(super) fn decided(&self, facts: &Facts, condition: Node) -> Option<bool> {
        if facts.numbers.is_empty() || self.bits(condition) != 1 {
            return None;
        }
        let (value, numbers) = self.about(condition, DEEPEST)?;
        let known = facts.numbers.get(&value)?;
        match known.both(&numbers) {
            both if both.0.is_empty() => Some(false),
            both if both == *known => Some(true),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers below 16 whose bits are set.
    fn numbers(bits: u32) -> Numbers {
        let mut all = Numbers(Vec::new());
        for number in (0..16).filter(|number| bits >> number & 1 == 1) {
            all = all.any(&Numbers::from(number, number), 15);
        }
        all
    }

    fn bits(numbers: &Numbers) -> u32 {
        numbers.0.iter().flat_map(|(first, last)| *first..=*last).map(|number| 1 << number).sum()
    }

    #[test]
    fn all_sets_of_four_bits_are_what_they_mean() {
        for one in 0..1 << 16 {
            let set = numbers(one);
            assert_eq!(bits(&set), one);
            assert_eq!(bits(&set.others(15)), !one & 0xFFFF);
            for amount in 0..16 {
                // Each number plus the amount must be one of them.
                let moved = (one >> amount | one << (16 - amount)) & 0xFFFF;
                assert_eq!(bits(&set.before_adding(amount, 15)), moved, "{one:b} and {amount}");
            }
            for (rest, low, width) in [(0, 0, 3), (8, 0, 3), (0, 1, 3), (1, 1, 3), (9, 1, 2), (2, 2, 2), (6, 0, 1)] {
                let joined = (0..1 << width).filter(|number| one >> (number << low | rest) & 1 == 1);
                let joined = joined.map(|number: u32| 1 << number).sum::<u32>();
                let found = set.before_joining(u128::from(rest), low, mask(width));
                assert_eq!(bits(&found), joined, "{one:b} {rest} {low} {width}");
                assert_eq!(found, found.any(&Numbers(Vec::new()), 15), "with gaps between them");
            }
            let other = one.wrapping_mul(40503) & 0xFFFF;
            assert_eq!(bits(&set.both(&numbers(other))), one & other);
            assert_eq!(bits(&set.any(&numbers(other), 15)), one | other);
            assert_eq!(set.single().is_some(), one.count_ones() == 1);
        }
    }

    #[test]
    fn what_is_known_of_one_cell_decides_about_its_neighbours() {
        let mut graph = Graph::default();
        let address = graph.unknown("address", 16);
        let at = |graph: &mut Graph, distance: u128| {
            let distance = graph.constant(16, distance);
            graph.add(address, distance)
        };
        let less = |graph: &mut Graph, distance: u128, than: u128| {
            let (place, than) = (at(graph, distance), graph.constant(16, than));
            graph.less(place, than)
        };
        let mut facts = Facts::default();
        // The cell before the address is one of the last 32, so the next one is one of them or the first of all.
        let below = less(&mut graph, 0xFFFF, 0xFFE0);
        graph.learn(&mut facts, below, false);
        let next = less(&mut graph, 0, 0xFFE1);
        assert_ne!(graph.under(&mut facts, next), Node::FALSE);
        let first = graph.constant(16, 0);
        let around = graph.equal(address, first);
        graph.learn(&mut facts, around, false);
        assert_eq!(graph.under(&mut facts, next), Node::FALSE);
        let far = less(&mut graph, 0xFFDF, 0xFFE0);
        assert_eq!(graph.under(&mut facts, far), Node::TRUE);
        let last = less(&mut graph, 0, 0xFFFF);
        assert_eq!(graph.under(&mut facts, last), last);
        graph.learn(&mut facts, last, false);
        let known = graph.under(&mut facts, address);
        assert_eq!(graph.as_constant(known), Some(0xFFFF));
        let top = graph.slice(address, 8, 8);
        let known = graph.under(&mut facts, top);
        assert_eq!(graph.as_constant(known), Some(0xFF));
    }

    /// Rows of a sprite that are below the last row of a screen.
    #[test]
    fn what_is_known_of_one_carry_decides_about_others() {
        for known in 1..8_u128 {
            let mut graph = Graph::default();
            let y = graph.unknown("y", 3);
            let carry = |graph: &mut Graph, amount: u128| {
                let (zero, amount) = (graph.constant(1, 0), graph.constant(4, amount));
                let wide = graph.join(&[zero, y]);
                let sum = graph.add(wide, amount);
                graph.slice(sum, 3, 1)
            };
            for holds in [false, true] {
                let (mut facts, condition) = (Facts::default(), carry(&mut graph, known));
                graph.learn(&mut facts, condition, holds);
                for other in 1..8 {
                    let values: Vec<bool> =
                        (0..8).filter(|y| (y + known >= 8) == holds).map(|y| y + other >= 8).collect();
                    let expected = values.iter().all(|value| *value == values[0]).then_some(u128::from(values[0]));
                    let condition = carry(&mut graph, other);
                    let found = graph.under(&mut facts, condition);
                    assert_eq!(graph.as_constant(found), expected, "{known} {holds} {other}");
                }
            }
        }
    }
}
