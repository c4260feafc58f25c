//! Values that depend on unknowns, as a graph in which equal values are one node.
//!
//! Whatever can be computed is computed when a node is made. In a core this is most of it: the bits that distinguish an
//! instruction from others are known, and so is its progress in each clock cycle. Only what the instruction does
//! remains, and where a core does this as the definition says, both are the same node before a solver has seen
//! anything.
//!
//! A condition is a value of one bit. Each rule below is one line of arithmetic; the tests evaluate its input and its
//! result with the same numbers.

mod numbers;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{BuildHasherDefault, Hasher};

use numbers::Numbers;

/// A value: its index in the graph. Its parts have lower indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node(u32);

impl Node {
    /// The known conditions have fixed indices.
    pub(crate) const FALSE: Node = Node(0);
    pub(crate) const TRUE: Node = Node(1);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most bits of a constant; longer ones are joined from several.
const CONSTANT: u32 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    And,
    Or,
    Xor,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Equal,
    Less,
    LessSigned,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    Constant(u128),
    Unknown(String),
    /// The result of a function of which nothing is known.
    Apply(String, Vec<Node>),
    Not(Node),
    Negate(Node),
    Pair(Operator, Node, Node),
    Choose(Node, Node, Node),
    /// The highest first; no part is a join itself.
    Join(Vec<Node>),
    /// Some bits, starting with this one.
    Slice(Node, u32),
}

/// How many choices are searched for a known condition. Nodes made during a search are searched in turn for conditions
/// known inside them: through a quarter of this number, and so on, since otherwise there would be no end to it.
const CHOICES: u32 = 100;

/// A hash map keyed by nodes. The keys come from this crate, so nobody can choose them to collide.
type HashMap<K, V> = std::collections::HashMap<K, V, BuildHasherDefault<Quick>>;

/// Multiplies and rotates, which is enough to spread small numbers.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

/// The nodes, each with its width.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    nodes: Vec<(Form, u32)>,
    places: HashMap<(Form, u32), Node>,
    /// The functions: the widths of their arguments and of their results.
    functions: BTreeMap<String, (Vec<u32>, u32)>,
    /// Slices that have been made, since one may lead to many others.
    sliced: HashMap<(Node, u32, u32), Node>,
    /// Slices that are being made.
    slicing: Vec<(Node, u32, u32)>,
    /// The choices of which a node is a slice, and the lowest bit of that slice: the node itself no longer shows it.
    slices_of: HashMap<Node, Vec<(Node, u32)>>,
    /// How many choices the next [`Graph::inside`] searches.
    choices: u32,
}

/// The facts known in some case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// Nodes with simpler values in this case.
    known: HashMap<Node, Node>,
    /// The numbers that values can be in this case.
    numbers: HashMap<Node, Numbers>,
    /// What has been derived from these.
    memo: HashMap<Node, Node>,
}

impl Facts {
    /// Returns the same facts without what was derived from them: for a caller that is about to learn more, which
    /// invalidates it.
    pub(crate) fn clone_known(&self) -> Facts {
        Facts { known: self.known.clone(), numbers: self.numbers.clone(), memo: HashMap::default() }
    }
}

fn mask(bits: u32) -> u128 {
    if bits >= CONSTANT { u128::MAX } else { (1 << bits) - 1 }
}

impl Default for Graph {
    fn default() -> Graph {
        let mut graph = Graph {
            nodes: Vec::new(),
            places: HashMap::default(),
            functions: BTreeMap::new(),
            sliced: HashMap::default(),
            slicing: Vec::new(),
            slices_of: HashMap::default(),
            choices: CHOICES,
        };
        for value in [0, 1] {
            graph.constant(1, value);
        }
        graph
    }
}

impl Graph {
    pub(crate) fn form(&self, node: Node) -> &Form {
        &self.nodes[node.0 as usize].0
    }

    pub(crate) fn bits(&self, node: Node) -> u32 {
        self.nodes[node.0 as usize].1
    }

    fn add_node(&mut self, form: Form, bits: u32) -> Node {
        let key = (form, bits);
        if let Some(known) = self.places.get(&key) {
            return *known;
        }
        let node = Node(u32::try_from(self.nodes.len()).expect("the limits of definitions keep graphs small"));
        self.nodes.push(key.clone());
        self.places.insert(key, node);
        node
    }

    /// Returns a number of at most 128 bits.
    pub(crate) fn constant(&mut self, bits: u32, value: u128) -> Node {
        self.add_node(Form::Constant(value & mask(bits)), bits)
    }

    pub(crate) fn as_constant(&self, node: Node) -> Option<u128> {
        match self.form(node) {
            Form::Constant(value) => Some(*value),
            _ => None,
        }
    }

    fn is(&self, node: Node, value: u128) -> bool {
        self.as_constant(node) == Some(value & mask(self.bits(node)))
    }

    fn is_ones(&self, node: Node) -> bool {
        self.is(node, u128::MAX)
    }

    fn truth(&self, value: bool) -> Node {
        if value { Node::TRUE } else { Node::FALSE }
    }

    /// Returns a value of which nothing is known but its name.
    pub(crate) fn unknown(&mut self, name: &str, bits: u32) -> Node {
        self.add_node(Form::Unknown(name.to_owned()), bits)
    }

    /// Declares a function of which nothing is known but its name.
    pub(crate) fn function(&mut self, name: &str, given: Vec<u32>, bits: u32) {
        self.functions.insert(name.to_owned(), (given, bits));
    }

    /// Returns the result of a function.
    pub(crate) fn apply(&mut self, name: &str, given: Vec<Node>) -> Node {
        let bits = self.functions.get(name).map_or(1, |(_, bits)| *bits);
        self.add_node(Form::Apply(name.to_owned(), given), bits)
    }

    pub(crate) fn not(&mut self, x: Node) -> Node {
        let bits = self.bits(x);
        match self.form(x).clone() {
            Form::Constant(value) => self.constant(bits, !value),
            Form::Not(inner) => inner,
            Form::Join(parts) => {
                let parts: Vec<Node> = parts.into_iter().map(|part| self.not(part)).collect();
                self.join(&parts)
            }
            _ => self.add_node(Form::Not(x), bits),
        }
    }

    pub(crate) fn negate(&mut self, x: Node) -> Node {
        let bits = self.bits(x);
        match self.form(x) {
            Form::Constant(value) => self.constant(bits, value.wrapping_neg()),
            _ if bits == 1 => x,
            _ => self.add_node(Form::Negate(x), bits),
        }
    }

    /// Makes a pair, with the operands of symmetric operators in a fixed order.
    fn pair(&mut self, operator: Operator, x: Node, y: Node) -> Node {
        let bits = match operator {
            Operator::Equal | Operator::Less | Operator::LessSigned => 1,
            _ => self.bits(x),
        };
        let is_symmetric = matches!(
            operator,
            Operator::And | Operator::Or | Operator::Xor | Operator::Add | Operator::Multiply | Operator::Equal
        );
        let (x, y) = if is_symmetric && y < x { (y, x) } else { (x, y) };
        self.add_node(Form::Pair(operator, x, y), bits)
    }

    /// Returns both numbers, if both are known.
    fn both(&self, x: Node, y: Node) -> Option<(u128, u128)> {
        self.as_constant(x).zip(self.as_constant(y))
    }

    /// Whether one is the complement of the other.
    fn opposite(&self, x: Node, y: Node) -> bool {
        *self.form(x) == Form::Not(y) || *self.form(y) == Form::Not(x)
    }

    pub(crate) fn and(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if let Some((x, y)) = self.both(x, y) {
            return self.constant(bits, x & y);
        }
        match () {
            () if x == y || self.is_ones(y) || self.is(x, 0) => x,
            () if self.is_ones(x) || self.is(y, 0) => y,
            () if bits <= CONSTANT && self.opposite(x, y) => self.constant(bits, 0),
            () => self.all_or_any(Operator::And, x, y),
        }
    }

    pub(crate) fn or(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if let Some((x, y)) = self.both(x, y) {
            return self.constant(bits, x | y);
        }
        match () {
            () if x == y || self.is(y, 0) || self.is_ones(x) => x,
            () if self.is(x, 0) || self.is_ones(y) => y,
            () if bits <= CONSTANT && self.opposite(x, y) => self.constant(bits, u128::MAX),
            () => self.all_or_any(Operator::Or, x, y),
        }
    }

    /// Makes `and` or `or`, which are each other's dual, where neither side decides the result alone.
    fn all_or_any(&mut self, own: Operator, x: Node, y: Node) -> Node {
        let (bits, is_all) = (self.bits(x), own == Operator::And);
        let other_way = if is_all { Operator::Or } else { Operator::And };
        for (one, other) in [(x, y), (y, x)] {
            match *self.form(other) {
                Form::Pair(operator, a, b) if operator == own => match () {
                    () if one == a || one == b => return other,
                    () if bits == 1 && (self.opposite(one, a) || self.opposite(one, b)) => return self.truth(!is_all),
                    () => {}
                },
                Form::Pair(operator, a, b) if operator == other_way => match () {
                    () if one == a || one == b => return one,
                    () if self.opposite(one, a) => return self.operate(own, one, b),
                    () if self.opposite(one, b) => return self.operate(own, one, a),
                    () => {}
                },
                _ => {}
            }
        }
        if bits == 1 {
            if let Some(both) = self.together_cover(x, y, is_all) {
                return both;
            }
            for (one, other) in [(x, y), (y, x)] {
                let new = self.inside(other, one, is_all);
                if new != other {
                    // Two conditions that simplify each other in turn may never come to an end.
                    let choices = self.choices;
                    self.choices -= choices.div_ceil(4);
                    let made = self.operate(own, one, new);
                    self.choices = choices;
                    return made;
                }
            }
        }
        let each = if is_all { Graph::and } else { Graph::or };
        self.by_parts(x, y, each).unwrap_or_else(|| self.pair(own, x, y))
    }

    /// Joins two conditions about one value by `and` or `or`.
    fn together_cover(&mut self, x: Node, y: Node, is_all: bool) -> Option<Node> {
        if is_all {
            return self.both_cover(x, y);
        }
        // One of them holds if not both fail.
        let (fails, other) = (self.not(x), self.not(y));
        let both = self.both_cover(fails, other)?;
        Some(self.not(both))
    }

    /// Returns the numbers for which a condition holds, if it depends only on one narrow value: the value, and a bit
    /// for each number. This runs whenever conditions are joined, so it is faster than the analysis of wider values in
    /// `numbers.rs`.
    fn covers(&self, condition: Node) -> Option<(Node, u64)> {
        match *self.form(condition) {
            Form::Pair(Operator::Equal, x, y) if (2..=6).contains(&self.bits(x)) => {
                let (number, value) =
                    self.as_constant(x).map(|number| (number, y)).or_else(|| Some((self.as_constant(y)?, x)))?;
                Some((value, 1 << number))
            }
            Form::Pair(Operator::Or, x, y) if self.bits(x) == 1 => {
                let ((value, first), (other, second)) = (self.covers(x)?, self.covers(y)?);
                (value == other).then_some((value, first | second))
            }
            Form::Not(x) => {
                let (value, numbers) = self.covers(x)?;
                Some((value, self.every(value) & !numbers))
            }
            _ => None,
        }
    }

    /// Returns a bit for each number that a narrow value can be.
    fn every(&self, value: Node) -> u64 {
        u64::MAX >> (64 - (1 << self.bits(value)))
    }

    /// Returns the conjunction of two conditions about one narrow value if it is one of them, or false, or holds for a
    /// single number.
    fn both_cover(&mut self, x: Node, y: Node) -> Option<Node> {
        let ((value, first), (other, second)) = (self.covers(x)?, self.covers(y)?);
        match first & second {
            _ if value != other => None,
            0 => Some(Node::FALSE),
            both if both == first => Some(x),
            both if both == second => Some(y),
            both if both.count_ones() == 1 => {
                let number = self.constant(self.bits(value), both.trailing_zeros().into());
                Some(self.equal(value, number))
            }
            _ => None,
        }
    }

    /// Simplifies a choice where a value is none of the numbers already tested. If all other numbers have been tested,
    /// the last is chosen without a test.
    fn otherwise(&mut self, y: Node, value: Node, asked: u64) -> Node {
        let Form::Choose(condition, a, b) = *self.form(y) else { return y };
        match self.covers(condition) {
            Some((other, numbers)) if other == value => match asked | numbers {
                all if all == self.every(value) => a,
                all => {
                    let rest = self.otherwise(b, value, all);
                    if rest == b { y } else { self.choose(condition, a, rest) }
                }
            },
            _ => y,
        }
    }

    pub(crate) fn xor(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if let Some((x, y)) = self.both(x, y) {
            return self.constant(bits, x ^ y);
        }
        match () {
            () if self.is(y, 0) => return x,
            () if self.is(x, 0) => return y,
            () if self.is_ones(y) => return self.not(x),
            () if self.is_ones(x) => return self.not(y),
            () if bits <= CONSTANT && x == y => return self.constant(bits, 0),
            () if bits == 1 => {
                let same = self.equal(x, y);
                return self.not(same);
            }
            () => {}
        }
        self.by_parts(x, y, Graph::xor).unwrap_or_else(|| self.pair(Operator::Xor, x, y))
    }

    /// Applies a bitwise operation to parts, if there are any: the pieces of a joined value, and the runs of equal bits
    /// of a number.
    fn by_parts(&mut self, x: Node, y: Node, each: fn(&mut Graph, Node, Node) -> Node) -> Option<Node> {
        if self.bits(x) == 1 {
            return None;
        }
        let cuts = self.cuts(&[x, y])?;
        let mut parts = Vec::new();
        for (low, bits) in cuts.into_iter().rev() {
            let (a, b) = (self.slice(x, low, bits), self.slice(y, low, bits));
            parts.push(each(self, a, b));
        }
        Some(self.join(&parts))
    }

    /// Returns the pieces at which values can be split, the lowest first; `None` if they are of one piece.
    fn cuts(&self, values: &[Node]) -> Option<Vec<(u32, u32)>> {
        let mut ends: Vec<u32> = values.iter().flat_map(|node| self.ends(*node)).collect();
        ends.sort_unstable();
        ends.dedup();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        (ends.len() > 1).then(|| starts.zip(&ends).map(|(low, end)| (low, end - low)).collect())
    }

    fn ends(&self, node: Node) -> Vec<u32> {
        let bits = self.bits(node);
        match self.form(node) {
            Form::Join(parts) => {
                let sizes = parts.iter().rev().map(|part| self.bits(*part));
                sizes
                    .scan(0, |low, bits| {
                        *low += bits;
                        Some(*low)
                    })
                    .collect()
            }
            Form::Constant(value) => {
                (1..=bits).filter(|at| *at == bits || (value >> at ^ value >> (at - 1)) & 1 == 1).collect()
            }
            _ => vec![bits],
        }
    }

    pub(crate) fn add(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if let Some((x, y)) = self.both(x, y) {
            return self.constant(bits, x.wrapping_add(y));
        }
        if bits == 1 {
            return self.xor(x, y);
        }
        for (one, other) in [(x, y), (y, x)] {
            let Some(number) = self.as_constant(other) else { continue };
            if number == 0 {
                return one;
            }
            if let Form::Pair(Operator::Add, a, b) = *self.form(one) {
                for (inner, added) in [(a, b), (b, a)] {
                    if let Some(more) = self.as_constant(added) {
                        let sum = self.constant(bits, number.wrapping_add(more));
                        return self.add(inner, sum);
                    }
                }
            }
        }
        self.pair(Operator::Add, x, y)
    }

    pub(crate) fn subtract(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        match (self.as_constant(x), self.as_constant(y)) {
            _ if bits == 1 => self.xor(x, y),
            (_, Some(number)) => {
                let number = self.constant(bits, number.wrapping_neg());
                self.add(x, number)
            }
            (Some(0), _) => self.negate(y),
            _ if x == y && bits <= CONSTANT => self.constant(bits, 0),
            _ => self.pair(Operator::Subtract, x, y),
        }
    }

    pub(crate) fn multiply(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if let Some((x, y)) = self.both(x, y) {
            return self.constant(bits, x.wrapping_mul(y));
        }
        match () {
            () if bits == 1 => self.and(x, y),
            () if self.is(x, 0) || self.is(y, 1) => x,
            () if self.is(y, 0) || self.is(x, 1) => y,
            () => self.pair(Operator::Multiply, x, y),
        }
    }

    /// Divides; division by zero gives all ones.
    pub(crate) fn divide(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        match self.both(x, y) {
            Some((_, 0)) => self.constant(bits, u128::MAX),
            Some((x, y)) => self.constant(bits, x / y),
            None => match self.power_of_two(y) {
                Some(power) => {
                    let power = self.constant(bits, power.into());
                    self.shift_right(x, power)
                }
                None => self.pair(Operator::Divide, x, y),
            },
        }
    }

    /// Returns the remainder; for division by zero, the number itself.
    pub(crate) fn remainder(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        match self.both(x, y) {
            Some((_, 0)) => x,
            Some((x, y)) => self.constant(bits, x % y),
            None => match self.power_of_two(y) {
                Some(0) => self.constant(bits, 0),
                Some(power) => {
                    let rest = self.slice(x, 0, power);
                    self.zero_extend(bits, rest)
                }
                None => self.pair(Operator::Remainder, x, y),
            },
        }
    }

    fn power_of_two(&self, node: Node) -> Option<u32> {
        self.as_constant(node).filter(|number| number.is_power_of_two()).map(u128::trailing_zeros)
    }

    /// Shifts by a number of the same width.
    pub(crate) fn shift_left(&mut self, x: Node, count: Node) -> Node {
        let bits = self.bits(x);
        match self.as_constant(count) {
            Some(0) => x,
            Some(by) if by < u128::from(bits) => {
                let by = by as u32;
                let (kept, zeros) = (self.slice(x, 0, bits - by), self.zeros(by));
                self.join(&[kept, zeros])
            }
            Some(_) => self.zeros(bits),
            None => self.pair(Operator::ShiftLeft, x, count),
        }
    }

    pub(crate) fn shift_right(&mut self, x: Node, count: Node) -> Node {
        let bits = self.bits(x);
        match self.as_constant(count) {
            Some(0) => x,
            Some(by) if by < u128::from(bits) => {
                let by = by as u32;
                let (kept, zeros) = (self.slice(x, by, bits - by), self.zeros(by));
                self.join(&[zeros, kept])
            }
            Some(_) => self.zeros(bits),
            None => self.pair(Operator::ShiftRight, x, count),
        }
    }

    pub(crate) fn shift_right_signed(&mut self, x: Node, count: Node) -> Node {
        let bits = self.bits(x);
        match self.as_constant(count) {
            Some(by) => {
                let by = by.min(u128::from(bits) - 1) as u32;
                let kept = self.slice(x, by, bits - by);
                self.sign_extend(bits, kept)
            }
            None => self.pair(Operator::ShiftRightSigned, x, count),
        }
    }

    pub(crate) fn equal(&mut self, x: Node, y: Node) -> Node {
        if let Some((x, y)) = self.both(x, y) {
            return self.truth(x == y);
        }
        let bits = self.bits(x);
        if x == y {
            return self.truth(true);
        }
        if bits == 1 {
            match (self.as_constant(x), self.as_constant(y)) {
                (Some(1), _) => return y,
                (_, Some(1)) => return x,
                (Some(_), _) => return self.not(y),
                (_, Some(_)) => return self.not(x),
                _ if self.opposite(x, y) => return self.truth(false),
                _ => {}
            }
        }
        for (one, other) in [(x, y), (y, x)] {
            let form = self.form(other).clone();
            match (self.as_constant(one), &form) {
                (Some(number), Form::Not(inner)) => {
                    let number = self.constant(bits, !number);
                    return self.equal(number, *inner);
                }
                (Some(number), Form::Pair(Operator::Add, a, b)) => {
                    for (inner, added) in [(*a, *b), (*b, *a)] {
                        if let Some(added) = self.as_constant(added) {
                            let number = self.constant(bits, number.wrapping_sub(added));
                            return self.equal(number, inner);
                        }
                    }
                }
                (Some(_), Form::Choose(condition, a, b))
                    if self.as_constant(*a).is_some() || self.as_constant(*b).is_some() =>
                {
                    let (first, second) = (self.equal(one, *a), self.equal(one, *b));
                    return self.choose(*condition, first, second);
                }
                // A value never equals itself plus a nonzero number.
                (None, Form::Pair(Operator::Add, a, b))
                    if (*a == one && self.as_constant(*b).is_some())
                        || (*b == one && self.as_constant(*a).is_some()) =>
                {
                    return self.truth(false);
                }
                _ => {}
            }
        }
        if let (Form::Pair(Operator::Add, a, b), Form::Pair(Operator::Add, c, d)) =
            (self.form(x).clone(), self.form(y).clone())
        {
            for ((a, b), (c, d)) in [((a, b), (c, d)), ((b, a), (c, d)), ((a, b), (d, c)), ((b, a), (d, c))] {
                if a == c && self.both(b, d).is_some() {
                    return self.equal(b, d);
                }
            }
        }
        let is_joined = |node: Node| matches!(self.form(node), Form::Join(_));
        // A slice of a choice between joined values is a choice between slices.
        let is_known = |node: Node| self.is_sliced(node);
        // Numbers stay in one piece here.
        let joined: Vec<Node> = [x, y].into_iter().filter(|node| is_joined(*node)).collect();
        let cuts = if is_known(x) && is_known(y) { self.cuts(&joined) } else { None };
        if let Some(cuts) = cuts {
            let mut all = self.truth(true);
            for (low, bits) in cuts {
                let (a, b) = (self.slice(x, low, bits), self.slice(y, low, bits));
                let same = self.equal(a, b);
                all = self.and(all, same);
            }
            return all;
        }
        self.pair(Operator::Equal, x, y)
    }

    pub(crate) fn less(&mut self, x: Node, y: Node) -> Node {
        match self.both(x, y) {
            Some((x, y)) => self.truth(x < y),
            None if x == y || self.is(y, 0) || self.is_ones(x) => self.truth(false),
            None if self.is(x, 0) => {
                let same = self.equal(x, y);
                self.not(same)
            }
            None if self.is(y, 1) => {
                let zero = self.constant(self.bits(x), 0);
                self.equal(x, zero)
            }
            None => self.pair(Operator::Less, x, y),
        }
    }

    pub(crate) fn less_signed(&mut self, x: Node, y: Node) -> Node {
        let bits = self.bits(x);
        if x == y {
            return self.truth(false);
        }
        if self.is(y, 0) {
            return self.slice(x, bits - 1, 1);
        }
        if let Some((x, y)) = self.both(x, y) {
            let top = 1u128 << (bits - 1);
            return self.truth((x ^ top) < (y ^ top));
        }
        self.pair(Operator::LessSigned, x, y)
    }

    pub(crate) fn choose(&mut self, condition: Node, x: Node, y: Node) -> Node {
        match self.as_constant(condition) {
            Some(1) => return x,
            Some(_) => return y,
            None if x == y => return x,
            None => {}
        }
        if let Form::Not(inner) = *self.form(condition) {
            return self.choose(inner, y, x);
        }
        // Inside the branches, the condition is known.
        let (x, mut y) = (self.inside(x, condition, true), self.inside(y, condition, false));
        if let Some((value, numbers)) = self.covers(condition) {
            y = self.otherwise(y, value, numbers);
        }
        if x == y {
            return x;
        }
        if let Form::Choose(other, a, b) = *self.form(x) {
            if other == condition {
                return self.choose(condition, a, y);
            }
            if b == y {
                let both = self.and(condition, other);
                return self.choose(both, a, y);
            }
        }
        if let Form::Choose(other, a, b) = *self.form(y) {
            if other == condition {
                return self.choose(condition, x, b);
            }
            if a == x {
                let any = self.or(condition, other);
                return self.choose(any, x, b);
            }
            if b == x {
                let unless = self.not(condition);
                let only = self.and(unless, other);
                return self.choose(only, a, x);
            }
        }
        if self.bits(x) == 1 {
            let unless = self.not(condition);
            match (self.as_constant(x), self.as_constant(y)) {
                (Some(1), Some(_)) => return condition,
                (Some(_), Some(_)) => return unless,
                (Some(1), None) => return self.or(condition, y),
                (Some(_), None) => return self.and(unless, y),
                (None, Some(1)) => return self.or(unless, x),
                (None, Some(_)) => return self.and(condition, x),
                _ => {}
            }
            match () {
                () if x == condition => return self.or(condition, y),
                () if y == condition => return self.and(condition, x),
                () => {}
            }
        }
        // A test for division by zero is redundant if division itself gives this result.
        let by_zero = match *self.form(y) {
            Form::Pair(Operator::Divide, _, by) if self.is_ones(x) => Some(by),
            Form::Pair(Operator::Remainder, what, by) if what == x => Some(by),
            _ => None,
        };
        if let Some(by) = by_zero {
            let zero = self.zeros(self.bits(by));
            if self.equal(by, zero) == condition {
                return y;
            }
        }
        self.add_node(Form::Choose(condition, x, y), self.bits(x))
    }

    /// Simplifies the choices that make up a value where a condition holds, or does not. Cores nest the same conditions
    /// again and again.
    fn inside(&mut self, x: Node, condition: Node, holds: bool) -> Node {
        let is_made_of_choices =
            matches!(self.form(x), Form::Choose(..) | Form::Not(_) | Form::Pair(Operator::And | Operator::Or, ..));
        if !is_made_of_choices || self.choices == 0 {
            return x;
        }
        let mut known = HashMap::default();
        let mut follows = vec![(condition, holds)];
        while let Some((condition, holds)) = follows.pop() {
            known.insert(condition, self.truth(holds));
            match *self.form(condition) {
                Form::Not(x) => follows.push((x, !holds)),
                Form::Pair(Operator::And, x, y) if holds => follows.extend([(x, true), (y, true)]),
                Form::Pair(Operator::Or, x, y) if !holds => follows.extend([(x, false), (y, false)]),
                _ => {}
            }
        }
        let (mut budget, choices) = (self.choices, self.choices);
        self.choices /= 4;
        let new = self.inside_of(x, &mut known, &mut budget);
        self.choices = choices;
        new
    }

    fn inside_of(&mut self, x: Node, known: &mut HashMap<Node, Node>, budget: &mut u32) -> Node {
        if let Some(known) = known.get(&x) {
            return *known;
        }
        if *budget == 0 {
            return x;
        }
        *budget -= 1;
        let new = match *self.form(x) {
            Form::Choose(condition, a, b) => {
                let now = self.inside_of(condition, known, budget);
                match self.as_constant(now) {
                    Some(1) => self.inside_of(a, known, budget),
                    Some(_) => self.inside_of(b, known, budget),
                    None => {
                        let (c, d) = (self.inside_of(a, known, budget), self.inside_of(b, known, budget));
                        if (now, c, d) == (condition, a, b) { x } else { self.choose(now, c, d) }
                    }
                }
            }
            Form::Not(inner) => {
                let now = self.inside_of(inner, known, budget);
                if now == inner { x } else { self.not(now) }
            }
            Form::Pair(pair @ (Operator::And | Operator::Or), a, b) if self.bits(x) == 1 => {
                let (c, d) = (self.inside_of(a, known, budget), self.inside_of(b, known, budget));
                if (a, b) == (c, d) { x } else { self.operate(pair, c, d) }
            }
            _ => x,
        };
        known.insert(x, new);
        new
    }

    fn zeros(&mut self, bits: u32) -> Node {
        if bits <= CONSTANT {
            return self.constant(bits, 0);
        }
        let (rest, low) = (self.zeros(bits - CONSTANT), self.constant(CONSTANT, 0));
        self.join(&[rest, low])
    }

    pub(crate) fn zero_extend(&mut self, bits: u32, x: Node) -> Node {
        if bits == self.bits(x) {
            return x;
        }
        let zeros = self.zeros(bits - self.bits(x));
        self.join(&[zeros, x])
    }

    /// Extends with copies of the sign bit, so that the result is the same however it was made.
    pub(crate) fn sign_extend(&mut self, bits: u32, x: Node) -> Node {
        let own = self.bits(x);
        let sign = self.slice(x, own - 1, 1);
        let mut parts = vec![sign; (bits - own) as usize];
        parts.push(x);
        self.join(&parts)
    }

    /// Joins parts, the first highest.
    pub(crate) fn join(&mut self, parts: &[Node]) -> Node {
        let mut all: Vec<Node> = Vec::new();
        for part in parts {
            let pieces = match self.form(*part) {
                Form::Join(pieces) => pieces.clone(),
                _ => vec![*part],
            };
            for piece in pieces {
                match all.last().copied().and_then(|last| self.meet(last, piece)) {
                    Some(whole) => *all.last_mut().expect("there is a last one") = whole,
                    None => all.push(piece),
                }
            }
        }
        if all.len() == 1 {
            return all[0];
        }
        let bits = all.iter().map(|part| self.bits(*part)).sum();
        self.add_node(Form::Join(all), bits)
    }

    /// Merges two neighbours that are one: numbers, or slices of one value.
    fn meet(&mut self, high: Node, low: Node) -> Option<Node> {
        let bits = self.bits(high) + self.bits(low);
        if let Some((x, y)) = self.both(high, low) {
            return (bits <= CONSTANT).then(|| self.constant(bits, x << self.bits(low) | y));
        }
        let as_they_are = match (self.form(high).clone(), self.form(low).clone()) {
            (Form::Slice(x, at), Form::Slice(y, below)) if x == y && at == below + self.bits(low) => {
                Some(self.slice(x, below, bits))
            }
            // Slices of one choice between two values.
            (Form::Choose(one, a, b), Form::Choose(other, c, d)) if one == other => {
                let (x, y) = (self.meet(a, c), self.meet(b, d));
                x.zip(y).map(|(x, y)| self.choose(one, x, y))
            }
            (Form::Not(a), Form::Not(b)) => self.meet(a, b).map(|both| self.not(both)),
            _ => None,
        };
        as_they_are.or_else(|| {
            let (above, below) = (self.slices_of.get(&high)?, self.slices_of.get(&low)?);
            // A value whose slices are being computed may be made of these two.
            let is_next = |(x, at): &&(Node, u32)| {
                above.contains(&(*x, at + self.bits(low))) && !self.slicing.contains(&(*x, *at, bits))
            };
            let values: Vec<(Node, u32)> = below.iter().filter(is_next).copied().collect();
            // The next part may continue any of them.
            let all: Vec<Node> = values.into_iter().map(|(x, at)| self.slice(x, at, bits)).collect();
            all.first().copied()
        })
    }

    /// Returns the given number of bits, starting with one.
    pub(crate) fn slice(&mut self, x: Node, low: u32, bits: u32) -> Node {
        if low == 0 && bits == self.bits(x) {
            return x;
        }
        if let Some(known) = self.sliced.get(&(x, low, bits)) {
            return *known;
        }
        self.slicing.push((x, low, bits));
        let node = self.new_slice(x, low, bits);
        self.slicing.pop();
        self.sliced.insert((x, low, bits), node);
        if matches!(self.form(x), Form::Choose(..)) && self.as_constant(node).is_none() {
            self.slices_of.entry(node).or_default().push((x, low));
        }
        node
    }

    fn new_slice(&mut self, x: Node, low: u32, bits: u32) -> Node {
        match self.form(x).clone() {
            Form::Constant(value) => self.constant(bits, value >> low),
            Form::Slice(inner, below) => self.slice(inner, low + below, bits),
            Form::Join(parts) => {
                let (mut at, mut found) = (0, Vec::new());
                for part in parts.into_iter().rev() {
                    let (start, end) = (at, at + self.bits(part));
                    at = end;
                    let (from, to) = (start.max(low), end.min(low + bits));
                    if from < to {
                        found.push(self.slice(part, from - start, to - from));
                    }
                }
                found.reverse();
                self.join(&found)
            }
            Form::Not(inner) => {
                let inner = self.slice(inner, low, bits);
                self.not(inner)
            }
            Form::Choose(condition, a, b) if self.is_sliced(a) || self.is_sliced(b) => {
                let (a, b) = (self.slice(a, low, bits), self.slice(b, low, bits));
                self.choose(condition, a, b)
            }
            Form::Pair(pair, a, b) if matches!(pair, Operator::And | Operator::Or | Operator::Xor) => {
                let (a, b) = (self.slice(a, low, bits), self.slice(b, low, bits));
                match pair {
                    Operator::And => self.and(a, b),
                    Operator::Or => self.or(a, b),
                    _ => self.xor(a, b),
                }
            }
            // The lowest bits of a sum depend only on the lowest bits of its operands.
            Form::Pair(pair, a, b)
                if low == 0 && matches!(pair, Operator::Add | Operator::Subtract | Operator::Multiply) =>
            {
                let (a, b) = (self.slice(a, 0, bits), self.slice(b, 0, bits));
                self.operate(pair, a, b)
            }
            // Zeros above both operands of a division change nothing below them, even in division by zero.
            Form::Pair(pair @ (Operator::Divide | Operator::Remainder), a, b)
                if low == 0 && self.is_zero_above(a, bits) && self.is_zero_above(b, bits) =>
            {
                let (a, b) = (self.slice(a, 0, bits), self.slice(b, 0, bits));
                self.operate(pair, a, b)
            }
            Form::Negate(inner) if low == 0 => {
                let inner = self.slice(inner, 0, bits);
                self.negate(inner)
            }
            _ => self.add_node(Form::Slice(x, low), bits),
        }
    }

    /// Whether all bits from one on are known to be zero.
    fn is_zero_above(&mut self, x: Node, low: u32) -> bool {
        let above = self.slice(x, low, self.bits(x) - low);
        self.is(above, 0)
    }

    /// Whether slices of a value simplify.
    fn is_sliced(&self, x: Node) -> bool {
        match self.form(x) {
            Form::Constant(_) | Form::Join(_) => true,
            Form::Choose(_, a, b) => self.is_sliced(*a) || self.is_sliced(*b),
            _ => false,
        }
    }

    /// Returns a condition that decides a value and is not made of other conditions, if there is one.
    pub(crate) fn decides(&self, node: Node) -> Option<Node> {
        match *self.form(node) {
            Form::Constant(_) => None,
            Form::Choose(condition, ..) => self.decides(condition),
            Form::Not(x) => self.decides(x),
            Form::Pair(Operator::And | Operator::Or, x, _) if self.bits(node) == 1 => self.decides(x),
            _ if self.bits(node) == 1 => Some(node),
            _ => self.made_of(node).into_iter().filter(|part| self.bits(*part) > 1).find_map(|part| self.decides(part)),
        }
    }

    /// Learns that a condition holds, or that it does not, with its consequences.
    pub(crate) fn learn(&mut self, facts: &mut Facts, condition: Node, holds: bool) {
        if self.as_constant(condition).is_some() {
            return;
        }
        facts.memo.clear();
        facts.known.insert(condition, self.truth(holds));
        self.learn_numbers(facts, condition, holds);
        match *self.form(condition) {
            Form::Not(x) => self.learn(facts, x, !holds),
            Form::Pair(Operator::And, x, y) if holds => {
                [x, y].into_iter().for_each(|part| self.learn(facts, part, true))
            }
            Form::Pair(Operator::Or, x, y) if !holds => {
                [x, y].into_iter().for_each(|part| self.learn(facts, part, false))
            }
            Form::Pair(Operator::Equal, x, y) if holds => {
                for (number, value) in [(x, y), (y, x)] {
                    if self.as_constant(number).is_some() {
                        facts.known.insert(value, number);
                    }
                }
            }
            _ => {}
        }
    }

    /// Simplifies a value by known facts.
    pub(crate) fn under(&mut self, facts: &mut Facts, node: Node) -> Node {
        if facts.known.is_empty() {
            return node;
        }
        let mut needed = vec![node];
        let mut all = std::collections::BTreeSet::new();
        while let Some(one) = needed.pop() {
            if !facts.memo.contains_key(&one) && all.insert(one) && !facts.known.contains_key(&one) {
                needed.extend(self.made_of(one));
            }
        }
        for one in all {
            let new = match facts.known.get(&one) {
                Some(known) => *known,
                None => {
                    let new = self.again(one, &facts.memo);
                    let new = self.chosen(facts, new);
                    let decided = || self.decided(facts, new).map_or(new, |holds| self.truth(holds));
                    facts.known.get(&new).copied().unwrap_or_else(decided)
                }
            };
            facts.memo.insert(one, new);
        }
        facts.memo[&node]
    }

    /// Simplifies a choice by a narrow value that is known not to be some numbers: the last of the other numbers needs
    /// no test.
    fn chosen(&mut self, facts: &Facts, node: Node) -> Node {
        let Form::Choose(condition, ..) = *self.form(node) else { return node };
        let Some((value, _)) = self.covers(condition) else { return node };
        match self.excluded(facts, value) {
            0 => node,
            numbers => self.otherwise(node, value, numbers),
        }
    }

    /// Rebuilds a node from the new values of its parts.
    fn again(&mut self, node: Node, now: &HashMap<Node, Node>) -> Node {
        let new = |part: &Node| now.get(part).copied().unwrap_or(*part);
        if self.made_of(node).iter().all(|part| new(part) == *part) {
            return node;
        }
        let bits = self.bits(node);
        match self.form(node).clone() {
            Form::Constant(_) | Form::Unknown(_) => node,
            Form::Apply(name, given) => self.apply(&name, given.iter().map(new).collect()),
            Form::Not(x) => self.not(new(&x)),
            Form::Negate(x) => self.negate(new(&x)),
            Form::Slice(x, low) => self.slice(new(&x), low, bits),
            Form::Join(parts) => {
                let parts: Vec<Node> = parts.iter().map(new).collect();
                self.join(&parts)
            }
            Form::Choose(condition, x, y) => self.choose(new(&condition), new(&x), new(&y)),
            Form::Pair(pair, x, y) => {
                let (x, y) = (new(&x), new(&y));
                self.operate(pair, x, y)
            }
        }
    }

    pub(crate) fn operate(&mut self, operator: Operator, x: Node, y: Node) -> Node {
        match operator {
            Operator::And => self.and(x, y),
            Operator::Or => self.or(x, y),
            Operator::Xor => self.xor(x, y),
            Operator::Add => self.add(x, y),
            Operator::Subtract => self.subtract(x, y),
            Operator::Multiply => self.multiply(x, y),
            Operator::Divide => self.divide(x, y),
            Operator::Remainder => self.remainder(x, y),
            Operator::ShiftLeft => self.shift_left(x, y),
            Operator::ShiftRight => self.shift_right(x, y),
            Operator::ShiftRightSigned => self.shift_right_signed(x, y),
            Operator::Equal => self.equal(x, y),
            Operator::Less => self.less(x, y),
            Operator::LessSigned => self.less_signed(x, y),
        }
    }

    /// Writes the definitions of these nodes in SMT-LIB.
    pub(crate) fn write(&self, nodes: &[Node], out: &mut String) {
        nodes.iter().for_each(|node| self.write_one(*node, out));
    }

    /// Whether a solver chooses the value of a node.
    pub(crate) fn is_chosen(&self, node: Node) -> bool {
        matches!(self.form(node), Form::Unknown(_) | Form::Apply(..))
    }

    /// Returns these nodes and all that they are made of, parts first.
    pub(crate) fn cone(&self, nodes: &[Node]) -> Vec<Node> {
        let mut needed = vec![false; self.nodes.len()];
        nodes.iter().for_each(|node| needed[node.index()] = true);
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                self.made_of(Node(at as u32)).into_iter().for_each(|node| needed[node.index()] = true);
            }
        }
        (0..self.nodes.len() as u32).map(Node).filter(|node| needed[node.index()]).collect()
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Writes the declarations of all functions.
    pub(crate) fn write_functions(&self, out: &mut String) {
        for (name, (given, bits)) in &self.functions {
            let given: Vec<String> = given.iter().map(|bits| vector(*bits)).collect();
            let _ = writeln!(out, "(declare-fun |{name}| ({}) {})", given.join(" "), vector(*bits));
        }
    }

    fn made_of(&self, node: Node) -> Vec<Node> {
        match self.form(node) {
            Form::Constant(_) | Form::Unknown(_) => Vec::new(),
            Form::Apply(_, all) | Form::Join(all) => all.clone(),
            Form::Not(x) | Form::Negate(x) | Form::Slice(x, _) => vec![*x],
            Form::Pair(_, x, y) => vec![*x, *y],
            Form::Choose(condition, x, y) => vec![*condition, *x, *y],
        }
    }

    /// Returns the name of a value in formulas: a vector, or a condition if it has one bit.
    pub(crate) fn name(&self, node: Node) -> String {
        match self.form(node) {
            Form::Constant(value) if self.bits(node) == 1 => (*value == 1).to_string(),
            Form::Constant(value) => format!("#b{value:0width$b}", width = self.bits(node) as usize),
            Form::Unknown(name) => format!("|{name}|"),
            _ => format!("n{}", node.0),
        }
    }

    /// Returns the text of a value as a vector, even if it has one bit.
    fn vector(&self, node: Node) -> String {
        match self.as_constant(node) {
            Some(value) if self.bits(node) == 1 => format!("#b{value}"),
            _ if self.bits(node) == 1 => format!("(ite {} #b1 #b0)", self.name(node)),
            _ => self.name(node),
        }
    }

    /// Returns the sort of a value.
    pub(crate) fn sort(&self, node: Node) -> String {
        if self.bits(node) == 1 { "Bool".to_owned() } else { vector(self.bits(node)) }
    }

    fn write_one(&self, node: Node, out: &mut String) {
        let (bits, sort) = (self.bits(node), self.sort(node));
        let as_bits = |text: String| if bits == 1 { format!("(= {text} #b1)") } else { text };
        let body = match self.form(node) {
            Form::Constant(_) => return,
            Form::Unknown(name) => {
                let _ = writeln!(out, "(declare-fun |{name}| () {sort})");
                return;
            }
            Form::Apply(name, given) if given.is_empty() => as_bits(format!("|{name}|")),
            Form::Apply(name, given) => {
                let given: Vec<String> = given.iter().map(|node| self.vector(*node)).collect();
                as_bits(format!("(|{name}| {})", given.join(" ")))
            }
            Form::Not(x) if bits == 1 => format!("(not {})", self.name(*x)),
            Form::Not(x) => format!("(bvnot {})", self.name(*x)),
            Form::Negate(x) => format!("(bvneg {})", self.name(*x)),
            Form::Choose(condition, x, y) => {
                format!("(ite {} {} {})", self.name(*condition), self.name(*x), self.name(*y))
            }
            Form::Join(parts) => self.joined(parts),
            Form::Slice(x, low) => as_bits(format!("((_ extract {} {low}) {})", low + bits - 1, self.name(*x))),
            Form::Pair(pair, x, y) => self.pair_text(*pair, *x, *y),
        };
        let _ = writeln!(out, "(define-fun n{} () {sort} {body})", node.0);
    }

    fn pair_text(&self, operator: Operator, x: Node, y: Node) -> String {
        let is_bit = self.bits(x) == 1;
        let (name, plain) = match operator {
            Operator::And => (if is_bit { "and" } else { "bvand" }, true),
            Operator::Or => (if is_bit { "or" } else { "bvor" }, true),
            Operator::Xor => (if is_bit { "xor" } else { "bvxor" }, true),
            Operator::Equal => ("=", true),
            Operator::Less => ("bvult", false),
            Operator::LessSigned => ("bvslt", false),
            Operator::Add => ("bvadd", false),
            Operator::Subtract => ("bvsub", false),
            Operator::Multiply => ("bvmul", false),
            Operator::Divide => ("bvudiv", false),
            Operator::Remainder => ("bvurem", false),
            Operator::ShiftLeft => ("bvshl", false),
            Operator::ShiftRight => ("bvlshr", false),
            Operator::ShiftRightSigned => ("bvashr", false),
        };
        let is_comparison = matches!(operator, Operator::Less | Operator::LessSigned);
        match () {
            () if plain => format!("({name} {} {})", self.name(x), self.name(y)),
            () if is_bit && !is_comparison => format!("(= ({name} {} {}) #b1)", self.vector(x), self.vector(y)),
            () => format!("({name} {} {})", self.vector(x), self.vector(y)),
        }
    }

    /// Returns the text of joined parts, with repeated ones written once.
    fn joined(&self, parts: &[Node]) -> String {
        let mut texts: Vec<(String, u32)> = Vec::new();
        for part in parts {
            let text = self.vector(*part);
            match texts.last_mut() {
                Some((last, times)) if *last == text => *times += 1,
                _ => texts.push((text, 1)),
            }
        }
        let text = |(text, times): &(String, u32)| match times {
            1 => text.clone(),
            _ => format!("((_ repeat {times}) {text})"),
        };
        let texts: Vec<String> = texts.iter().map(text).collect();
        if texts.len() == 1 { texts[0].clone() } else { format!("(concat {})", texts.join(" ")) }
    }
}

fn vector(bits: u32) -> String {
    format!("(_ BitVec {bits})")
}

#[cfg(test)]
mod tests;
