//! A graph of pure values. Building a value folds constants, reduces it to one of a few forms, and finds it again if it
//! exists already.

mod facts;
mod found;
mod logic;
mod signs;
mod sums;

pub use facts::WayOn;

use lathe_base::Width;
use lathe_isa::model::{MemoryId, RegisterId};
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use super::range::Range;
use found::Found;

/// A value of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

impl ValueId {
    /// Returns the position of the value in the order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a value is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number.
    Constant(u64),
    /// The initial value of a register.
    Register(RegisterId),
    /// A cell of a memory, read after this many stores.
    Load(MemoryId, ValueId, u32),
    /// An operator with one operand.
    Unary(UnaryOperator, ValueId),
    /// An operator with two operands.
    Binary(BinaryOperator, ValueId, ValueId),
    /// Some of the bits of a value, from this lowest one up.
    Slice(ValueId, u32),
    /// The first above the second.
    Join(ValueId, ValueId),
    /// A value with zeros above.
    ZeroExtend(ValueId),
    /// A value with copies of its sign above.
    SignExtend(ValueId),
    /// The second if the first is 1, else the third.
    Choose(ValueId, ValueId, ValueId),
    /// The answer of a device; each has a number of its own.
    Answer(u32),
}

#[derive(Clone, Copy, Debug)]
struct Value {
    node: Node,
    width: Width,
    range: Range,
    depth: u32,
    /// The last answer of a device that it depends on.
    answer: Option<ValueId>,
}

/// Values, each after its operands.
#[derive(Debug, Default)]
pub struct Graph {
    values: Vec<Value>,
    found: Found,
    deepest: u32,
}

impl Clone for Graph {
    fn clone(&self) -> Graph {
        let mut graph = Graph::default();
        graph.clone_from(self);
        graph
    }

    /// Copies a graph, with room for as many values as the other has, or as this had before if that is more.
    fn clone_from(&mut self, other: &Graph) {
        self.values.clear();
        self.values.reserve(other.values.capacity());
        self.values.extend_from_slice(&other.values);
        self.found.clone_from(&other.found);
        self.deepest = other.deepest;
    }
}

impl Graph {
    /// Creates a graph without values, with room for this many.
    pub fn with_room_for(values: usize) -> Graph {
        Graph { values: Vec::with_capacity(values), found: Found::with_room_for(values), deepest: 0 }
    }

    /// Returns how a value is computed.
    pub fn node(&self, id: ValueId) -> Node {
        self.values[id.index()].node
    }

    /// Returns how many bits a value has.
    pub fn width(&self, id: ValueId) -> Width {
        self.values[id.index()].width
    }

    /// Returns the range that a value lies in.
    pub fn range(&self, id: ValueId) -> Range {
        self.values[id.index()].range
    }

    /// Returns how many values there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the length of the longest chain of values in which each is an operand of the next. Computing a value by
    /// recursion goes this deep.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// Returns all values, each after its operands.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ValueId> + use<> {
        (0..self.values.len() as u32).map(ValueId)
    }

    /// Whether there is no value yet.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the number that a value is, if it is constant.
    pub fn as_constant(&self, id: ValueId) -> Option<u64> {
        match self.node(id) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value computed like this, or the constant that it always is.
    fn add(&mut self, node: Node, width: Width) -> ValueId {
        let range = self.range_of(node, width);
        let node = range.only().map_or(node, Node::Constant);
        self.add_in(node, width, range)
    }

    /// Returns the value computed like this, which lies in this range; adds it if there is none.
    fn add_in(&mut self, node: Node, width: Width, range: Range) -> ValueId {
        let hash = hash(node, width);
        if let Some(known) = self.find(node, width, hash) {
            return known;
        }
        let id = ValueId(self.values.len() as u32);
        let (mut depth, mut answer) = (0, matches!(node, Node::Answer(_)).then_some(id));
        for operand in operands(node).map(|operand| &self.values[operand.index()]) {
            depth = depth.max(operand.depth);
            answer = answer.max(operand.answer);
        }
        depth += 1;
        self.deepest = self.deepest.max(depth);
        let values = &mut self.values;
        values.push(Value { node, width, range, depth, answer });
        self.found.insert(id.0, hash, |number| {
            let Value { node, width, .. } = values[number as usize];
            self::hash(node, width)
        });
        id
    }

    fn find(&self, node: Node, width: Width, hash: u64) -> Option<ValueId> {
        let is_it = |number: u32| {
            let value = &self.values[number as usize];
            value.node == node && value.width == width
        };
        self.found.get(hash, is_it).map(ValueId)
    }

    fn range_of(&self, node: Node, width: Width) -> Range {
        match node {
            Node::Constant(number) => Range::of(number),
            Node::Register(_) | Node::Load(..) | Node::Answer(_) => Range::all(width),
            Node::Unary(operator, x) => Range::unary(operator, width, self.range(x)),
            Node::Binary(operator, x, y) => Range::binary(operator, self.width(x), self.range(x), self.range(y)),
            Node::Slice(x, low) => self.range(x).slice(low, width),
            Node::Join(high, low) => self.range(high).join(self.range(low), self.width(low).bits()),
            Node::ZeroExtend(x) => self.range(x),
            Node::SignExtend(x) => self.range(x).sign_extend(self.width(x), width),
            Node::Choose(_, x, y) => self.range(x).or(self.range(y)),
        }
    }

    /// Returns a number as a value.
    pub fn constant(&mut self, width: Width, value: u64) -> ValueId {
        let value = width.wrap(value);
        self.add_in(Node::Constant(value), width, Range::of(value))
    }

    /// Returns the initial value of a register.
    pub fn register(&mut self, width: Width, id: RegisterId) -> ValueId {
        self.add(Node::Register(id), width)
    }

    /// Returns a cell of a memory, read after this many stores.
    pub fn load(&mut self, width: Width, memory: MemoryId, address: ValueId, stores: u32) -> ValueId {
        self.add(Node::Load(memory, address, stores), width)
    }

    /// Returns a new answer of a device. No two are the same.
    pub fn answer(&mut self, width: Width) -> ValueId {
        self.add(Node::Answer(self.values.len() as u32), width)
    }

    /// Whether a value depends on this answer of a device or on a later one.
    pub fn is_after_answer(&self, id: ValueId, answer: ValueId) -> bool {
        self.values[id.index()].answer.is_some_and(|last| last >= answer)
    }

    /// Returns `x` with all bits inverted.
    pub fn not(&mut self, x: ValueId) -> ValueId {
        self.unary(UnaryOperator::Not, x)
    }

    /// Returns the bits set in both.
    pub fn and(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.binary(BinaryOperator::And, x, y)
    }

    /// Applies an operator to one operand.
    pub fn unary(&mut self, operator: UnaryOperator, x: ValueId) -> ValueId {
        let width = self.width(x);
        match self.node(x) {
            Node::Constant(value) => self.constant(width, operator.apply(width, value)),
            Node::Unary(inner, y) if inner == operator => y,
            Node::Binary(BinaryOperator::Equal, a, b) if operator == UnaryOperator::Not => {
                self.add(Node::Binary(BinaryOperator::Unequal, a, b), width)
            }
            Node::Binary(BinaryOperator::Unequal, a, b) if operator == UnaryOperator::Not => {
                self.add(Node::Binary(BinaryOperator::Equal, a, b), width)
            }
            Node::Binary(BinaryOperator::Xor, a, b)
                if operator == UnaryOperator::Not && self.as_constant(b).is_some() =>
            {
                let others = self.not(b);
                self.binary(BinaryOperator::Xor, a, others)
            }
            _ => self.add(Node::Unary(operator, x), width),
        }
    }

    /// Applies an operator to two operands.
    pub fn binary(&mut self, operator: BinaryOperator, x: ValueId, y: ValueId) -> ValueId {
        let operands = self.width(x);
        let width = if operator.is_comparison() { Width::BIT } else { operands };
        match (self.as_constant(x), self.as_constant(y)) {
            (Some(a), Some(b)) => self.constant(width, operator.apply(operands, a, b)),
            (Some(_), None) if is_commutative(operator) => self.binary(operator, y, x),
            (None, Some(constant)) => self.binary_with_constant(operator, x, y, constant, width),
            _ if x == y => self.binary_with_itself(operator, x, width),
            // Whether a number is not negative is one of its bits.
            (Some(0), None) if operator == BinaryOperator::LessOrEqualSigned => {
                let is_negative = self.binary(BinaryOperator::LessSigned, y, x);
                self.not(is_negative)
            }
            _ => match self.put_together(operator, x, y).or_else(|| self.simpler_logic(operator, x, y)) {
                Some(simpler) => simpler,
                None => self.add(Node::Binary(operator, x, y), width),
            },
        }
    }

    fn binary_with_itself(&mut self, operator: BinaryOperator, x: ValueId, width: Width) -> ValueId {
        use BinaryOperator::*;
        match operator {
            And | Or => x,
            Xor | Subtract | Unequal | Less | LessSigned => self.constant(width, 0),
            Equal | LessOrEqual | LessOrEqualSigned => self.constant(width, 1),
            _ => self.add(Node::Binary(operator, x, x), width),
        }
    }

    fn binary_with_constant(
        &mut self,
        operator: BinaryOperator,
        x: ValueId,
        y: ValueId,
        constant: u64,
        width: Width,
    ) -> ValueId {
        use BinaryOperator::*;
        let all = self.width(x).mask();
        if let Node::Choose(condition, a, b) = self.node(x)
            && self.as_constant(a).is_some()
            && self.as_constant(b).is_some()
        {
            let (a, b) = (self.binary(operator, a, y), self.binary(operator, b, y));
            return self.choose(condition, a, b);
        }
        match operator {
            Add | Or | Xor | ShiftLeft | ShiftRight | ShiftRightSigned | Subtract if constant == 0 => x,
            And if constant == all => x,
            And | Multiply if constant == 0 => self.constant(width, 0),
            Multiply | Divide if constant == 1 => x,
            Xor if constant == all => self.not(x),
            Subtract => {
                let negative = self.constant(width, constant.wrapping_neg());
                self.binary(Add, x, negative)
            }
            Add => match self.node(x) {
                Node::Binary(Add, base, offset) if self.as_constant(offset).is_some() => {
                    let offset = self.binary(Add, offset, y);
                    self.binary(Add, base, offset)
                }
                Node::Binary(Subtract, number, less) if self.as_constant(number).is_some() => {
                    let number = self.binary(Add, number, y);
                    self.binary(Subtract, number, less)
                }
                // `!less` is `-1 - less`.
                Node::Unary(UnaryOperator::Not, less) => {
                    let number = self.constant(width, constant.wrapping_sub(1));
                    self.binary(Subtract, number, less)
                }
                _ => self.add(Node::Binary(Add, x, y), width),
            },
            Equal => self.equal_to(x, y, constant),
            Unequal => {
                let equal = self.equal_to(x, y, constant);
                self.not(equal)
            }
            Less if constant == 0 => self.constant(width, 0),
            LessSigned if constant == 0 => {
                let top = self.width(x).bits() - 1;
                self.slice(x, top, Width::BIT)
            }
            LessOrEqual if constant == all => self.constant(width, 1),
            RotateLeft => self.rotate_left(x, constant),
            // Left by the bits that are missing to a whole turn.
            RotateRight => self.rotate_left(x, u64::from(width.bits()) - constant % u64::from(width.bits())),
            _ => self.add(Node::Binary(operator, x, y), width),
        }
    }

    /// Returns `x` rotated by this many bits: its two parts, exchanged.
    fn rotate_left(&mut self, x: ValueId, count: u64) -> ValueId {
        let width = self.width(x);
        let upper = count % u64::from(width.bits());
        let (Some(of_upper), Some(of_lower)) = (Width::new(upper), Width::new(u64::from(width.bits()) - upper)) else {
            return x;
        };
        let (upper, lower) = (self.slice(x, of_lower.bits(), of_upper), self.slice(x, 0, of_lower));
        self.join(lower, upper)
    }

    /// Returns whether `x` equals `y`, which is this number.
    fn equal_to(&mut self, x: ValueId, y: ValueId, constant: u64) -> ValueId {
        match self.node(x) {
            _ if self.width(x) == Width::BIT => {
                if constant == 1 {
                    x
                } else {
                    self.not(x)
                }
            }
            Node::ZeroExtend(inner) => {
                let width = self.width(inner);
                if !width.holds(constant) {
                    return self.constant(Width::BIT, 0);
                }
                let narrow = self.constant(width, constant);
                self.binary(BinaryOperator::Equal, inner, narrow)
            }
            Node::Binary(BinaryOperator::And, inner, mask) if constant == 0 => match self.as_constant(mask) {
                Some(mask) if mask.is_power_of_two() => {
                    let bit = self.slice(inner, mask.trailing_zeros(), Width::BIT);
                    self.not(bit)
                }
                _ => self.add(Node::Binary(BinaryOperator::Equal, x, y), Width::BIT),
            },
            _ => match self.equal_without_carry(x, constant) {
                Some(simpler) => simpler,
                None => self.add(Node::Binary(BinaryOperator::Equal, x, y), Width::BIT),
            },
        }
    }

    /// Adds a number to `x`.
    pub fn plus(&mut self, x: ValueId, number: u64) -> ValueId {
        if number == 0 {
            return x;
        }
        let number = self.constant(self.width(x), number);
        self.binary(BinaryOperator::Add, x, number)
    }

    /// Returns some of the bits of `x`, from `low` up.
    pub fn slice(&mut self, x: ValueId, low: u32, width: Width) -> ValueId {
        if low == 0 && width == self.width(x) {
            return x;
        }
        let top = low + width.bits();
        match self.node(x) {
            Node::Constant(value) => self.constant(width, value >> low),
            Node::Slice(inner, lower) => self.slice(inner, low + lower, width),
            Node::ZeroExtend(inner) if top <= self.width(inner).bits() => self.slice(inner, low, width),
            Node::ZeroExtend(inner) if low >= self.width(inner).bits() => self.constant(width, 0),
            Node::ZeroExtend(inner) if low == 0 => self.zero_extend(width, inner),
            Node::Join(_, lower) if top <= self.width(lower).bits() => self.slice(lower, low, width),
            Node::Join(upper, lower) if low >= self.width(lower).bits() => {
                let below = self.width(lower).bits();
                self.slice(upper, low - below, width)
            }
            Node::Choose(condition, a, b) if self.as_constant(a).is_some() && self.as_constant(b).is_some() => {
                let (a, b) = (self.slice(a, low, width), self.slice(b, low, width));
                self.choose(condition, a, b)
            }
            Node::Unary(UnaryOperator::Not, inner) => {
                let inner = self.slice(inner, low, width);
                self.not(inner)
            }
            Node::Binary(operator, a, b) => self.slice_of_binary(x, operator, a, b, low, width),
            _ => self.add(Node::Slice(x, low), width),
        }
    }

    /// Returns some of the bits of `a operator b`, which is `x`.
    fn slice_of_binary(
        &mut self,
        x: ValueId,
        operator: BinaryOperator,
        a: ValueId,
        b: ValueId,
        low: u32,
        width: Width,
    ) -> ValueId {
        use BinaryOperator::*;
        let top = u64::from(low + width.bits());
        match (operator, self.as_constant(b)) {
            (And | Or | Xor, Some(_)) => {
                let (a, b) = (self.slice(a, low, width), self.slice(b, low, width));
                self.binary(operator, a, b)
            }
            (ShiftRight, Some(count)) if count.saturating_add(top) <= u64::from(self.width(a).bits()) => {
                self.slice(a, low + count as u32, width)
            }
            (ShiftLeft, Some(count)) if count <= u64::from(low) => self.slice(a, low - count as u32, width),
            _ => self.add(Node::Slice(x, low), width),
        }
    }

    /// Joins `high` above `low`; together they must have no more than 64 bits.
    pub fn join(&mut self, high: ValueId, low: ValueId) -> ValueId {
        let width = self.width(high).plus(self.width(low)).unwrap_or(Width::MAX);
        match (self.node(high), self.node(low)) {
            (Node::Constant(a), Node::Constant(b)) => {
                let shift = self.width(low).bits();
                self.constant(width, (a << shift) | b)
            }
            (Node::Constant(0), _) => self.zero_extend(width, low),
            (Node::Slice(x, upper), Node::Slice(y, lower)) if x == y && upper == lower + self.width(low).bits() => {
                self.slice(x, lower, width)
            }
            (Node::Slice(x, upper), _) if x == low && upper == self.width(low).bits() => self.slice(x, 0, width),
            _ => self.add(Node::Join(high, low), width),
        }
    }

    /// Returns the join of these values, highest first, if it exists already.
    pub fn joined(&self, mut values: impl Iterator<Item = ValueId>) -> Option<ValueId> {
        let first = values.next()?;
        values.try_fold(first, |high, low| {
            let width = self.width(high).plus(self.width(low))?;
            let join = Node::Join(high, low);
            self.find(join, width, hash(join, width))
        })
    }

    /// Returns these values as one, highest first, if that takes no effort: they have been joined already, are parts of
    /// one value, or are all numbers.
    pub fn as_one(&mut self, values: impl Iterator<Item = ValueId> + Clone) -> Option<ValueId> {
        let part = |id: ValueId| match self.node(id) {
            Node::Slice(x, low) => (Some(x), low, self.width(id)),
            Node::Constant(_) => (None, 0, self.width(id)),
            _ => (Some(id), 0, self.width(id)),
        };
        let follows = |x: ValueId, y: ValueId| match (part(x), part(y)) {
            ((None, ..), (None, ..)) => true,
            ((high, upper, _), (low, lower, width)) => high == low && upper == lower + width.bits(),
        };
        if values.clone().zip(values.clone().skip(1)).all(|(x, y)| follows(x, y)) {
            return { values }.reduce(|high, low| self.join(high, low));
        }
        self.joined(values)
    }

    /// Returns `x` with zeros above.
    pub fn zero_extend(&mut self, width: Width, x: ValueId) -> ValueId {
        match self.node(x) {
            _ if width == self.width(x) => x,
            Node::Constant(value) => self.constant(width, value),
            Node::ZeroExtend(inner) => self.zero_extend(width, inner),
            _ => self.add(Node::ZeroExtend(x), width),
        }
    }

    /// Returns `x` with copies of its sign above.
    pub fn sign_extend(&mut self, width: Width, x: ValueId) -> ValueId {
        match self.node(x) {
            _ if width == self.width(x) => x,
            Node::Constant(value) => {
                let value = self.width(x).signed(value) as u64;
                self.constant(width, value)
            }
            _ => self.add(Node::SignExtend(x), width),
        }
    }

    /// Returns `x` if the condition is 1, else `y`.
    pub fn choose(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> ValueId {
        let width = self.width(x);
        match self.node(condition) {
            _ if x == y => x,
            Node::Constant(0) => y,
            Node::Constant(_) => x,
            Node::Unary(UnaryOperator::Not, inverse) => self.choose(inverse, y, x),
            _ if width == Width::BIT => match (self.as_constant(x), self.as_constant(y)) {
                (Some(1), Some(0)) => condition,
                (Some(0), Some(1)) => self.not(condition),
                _ => self.add(Node::Choose(condition, x, y), width),
            },
            _ => self.add(Node::Choose(condition, x, y), width),
        }
    }

    /// Returns the operands of a value.
    pub fn operands(&self, id: ValueId) -> impl Iterator<Item = ValueId> {
        operands(self.node(id))
    }
}

/// Returns a hash of a value, whose highest bits depend on everything that the value is made of.
fn hash(node: Node, width: Width) -> u64 {
    let pair = |x: ValueId, y: ValueId| u64::from(x.0) << 32 | u64::from(y.0);
    let (kind, parts) = match node {
        Node::Constant(number) => (0, number),
        Node::Register(id) => (1, u64::from(id.0)),
        Node::Load(memory, address, stores) => (2 + (u64::from(memory.0) << 8), pair(address, ValueId(stores))),
        Node::Unary(operator, x) => (3 + ((operator as u64) << 8), u64::from(x.0)),
        Node::Binary(operator, x, y) => (4 + ((operator as u64) << 8), pair(x, y)),
        Node::Slice(x, low) => (5, pair(x, ValueId(low))),
        Node::Join(high, low) => (6, pair(high, low)),
        Node::ZeroExtend(x) => (7, u64::from(x.0)),
        Node::SignExtend(x) => (8, u64::from(x.0)),
        Node::Choose(condition, x, y) => (9 + (u64::from(condition.0) << 8), pair(x, y)),
        Node::Answer(number) => (10, u64::from(number)),
    };
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let parts = (parts ^ parts >> 32).wrapping_mul(SPREAD);
    (parts ^ parts >> 29 ^ kind ^ u64::from(width.bits()) << 48).wrapping_mul(SPREAD)
}

fn operands(node: Node) -> impl Iterator<Item = ValueId> {
    let (x, y, z) = match node {
        Node::Constant(_) | Node::Register(_) | Node::Answer(_) => (None, None, None),
        Node::Load(_, x, _) | Node::Unary(_, x) | Node::Slice(x, _) | Node::ZeroExtend(x) | Node::SignExtend(x) => {
            (Some(x), None, None)
        }
        Node::Binary(_, x, y) | Node::Join(x, y) => (Some(x), Some(y), None),
        Node::Choose(x, y, z) => (Some(x), Some(y), Some(z)),
    };
    [x, y, z].into_iter().flatten()
}

fn is_commutative(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Add | Multiply | And | Or | Xor | Equal | Unequal)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn width(bits: u64) -> Width {
        Width::new(bits).unwrap()
    }

    pub(super) fn add(graph: &mut Graph, x: ValueId, y: ValueId) -> ValueId {
        graph.binary(BinaryOperator::Add, x, y)
    }

    pub(super) fn register(graph: &mut Graph, bits: u64, number: u32) -> ValueId {
        graph.register(width(bits), RegisterId(number))
    }

    /// Evaluates a value, with these numbers in the registers.
    pub(super) fn evaluate(graph: &Graph, id: ValueId, registers: &[u64]) -> u64 {
        let of = |id| evaluate(graph, id, registers);
        match graph.node(id) {
            Node::Constant(number) => number,
            Node::Register(register) => registers[register.index()],
            Node::Load(..) | Node::Answer(_) => unreachable!("there is no memory and no device here"),
            Node::Unary(operator, x) => operator.apply(graph.width(x), of(x)),
            Node::Binary(operator, x, y) => operator.apply(graph.width(x), of(x), of(y)),
            Node::Slice(x, low) => graph.width(id).wrap(of(x) >> low),
            Node::Join(high, low) => of(high) << graph.width(low).bits() | of(low),
            Node::ZeroExtend(x) => of(x),
            Node::SignExtend(x) => graph.width(id).wrap(graph.width(x).signed(of(x)) as u64),
            Node::Choose(condition, x, y) => of(if of(condition) == 1 { x } else { y }),
        }
    }

    #[test]
    fn a_rotation_by_a_number_exchanges_two_parts() {
        for (bits, count) in (1..=9).flat_map(|bits| (0..20).map(move |count| (bits, count))) {
            let mut graph = Graph::default();
            let x = register(&mut graph, bits, 0);
            let by = graph.constant(width(5), count);
            for operator in [BinaryOperator::RotateLeft, BinaryOperator::RotateRight] {
                let rotated = graph.binary(operator, x, by);
                assert!(!matches!(graph.node(rotated), Node::Binary(..)), "{operator:?} {bits} {count}");
                for number in 0..1 << bits {
                    let wanted = operator.apply(width(bits), number, count);
                    assert_eq!(evaluate(&graph, rotated, &[number]), wanted, "{operator:?} {bits} {number} {count}");
                }
            }
        }
    }

    #[test]
    fn an_index_stays_in_its_page() {
        let mut graph = Graph::default();
        let index = register(&mut graph, 8, 0);
        let wide = graph.zero_extend(width(16), index);
        let [page, odd] = [0x2000, 0x2001].map(|base| graph.constant(width(16), base));
        let (within, across) = (add(&mut graph, wide, page), add(&mut graph, wide, odd));
        let [within, across] = [within, across].map(|address| graph.slice(address, 8, width(8)));
        assert_eq!(graph.as_constant(within), Some(0x20));
        assert_eq!(graph.as_constant(across), None);
    }
}
