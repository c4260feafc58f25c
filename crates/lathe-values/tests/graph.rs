//! However a graph simplifies the values it is asked for, they are what they are meant to be.
//!
//! Values are combined at random. The test computes what each should be without the graph, for several contents of the
//! registers, and compares that with what the graph says.

use lathe_base::Width;
use lathe_isa::model::RegisterId;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_tests::random::Random;
use lathe_values::{Graph, Node, ValueId};

/// How many graphs are built.
const GRAPHS: u64 = 15_000;
/// How many values each has.
const VALUES: usize = 60;
/// How many contents of the registers are tried on each.
const SAMPLES: usize = 12;
const WIDTHS: [u64; 12] = [1, 2, 3, 4, 5, 8, 9, 12, 16, 24, 32, 64];

/// Returns a number, often one that gets special treatment.
fn number(random: &mut Random, width: Width) -> u64 {
    let number = match random.below(6) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << random.below(64),
        3 => u64::MAX << random.below(64),
        4 => random.below(16),
        _ => random.number(),
    };
    width.wrap(number)
}

/// A value of the graph, and what it should be in each sample.
#[derive(Clone, Copy, Debug)]
struct Value {
    id: ValueId,
    width: Width,
    wanted: [u64; SAMPLES],
}

struct Maker {
    random: Random,
    /// The few widths and operators that a graph has, so that they meet in many combinations.
    widths: Vec<Width>,
    operators: Vec<BinaryOperator>,
    graph: Graph,
    values: Vec<Value>,
    /// The content of each register in each sample.
    registers: Vec<[u64; SAMPLES]>,
}

impl Maker {
    /// Creates a maker with a few registers.
    fn new(seed: u64) -> Maker {
        let mut random = Random(seed);
        let widths = (0..3).map(|_| Width::new(*random.pick(&WIDTHS)).expect("a width")).collect();
        let operators = (0..4).map(|_| *random.pick(&BinaryOperator::ALL)).collect();
        let (graph, values, registers) = (Graph::default(), Vec::new(), Vec::new());
        let mut maker = Maker { random, widths, operators, graph, values, registers };
        for register in 0..8 {
            let width = maker.width();
            let wanted = std::array::from_fn(|_| number(&mut maker.random, width));
            maker.registers.push(wanted);
            let id = maker.graph.register(width, RegisterId(register));
            maker.values.push(Value { id, width, wanted });
        }
        maker
    }

    fn width(&mut self) -> Width {
        *self.random.pick(&self.widths)
    }

    /// Returns one of the existing values, or sometimes a number.
    fn any(&mut self) -> Value {
        if self.random.below(6) == 0 {
            let width = self.width();
            return self.constant(width);
        }
        *self.random.pick(&self.values)
    }

    fn constant(&mut self, width: Width) -> Value {
        let number = number(&mut self.random, width);
        Value { id: self.graph.constant(width, number), width, wanted: [number; SAMPLES] }
    }

    /// Returns a value of this width: an existing one, a number, or one that is resized.
    fn like(&mut self, width: Width) -> Value {
        let same: Vec<Value> = self.values.iter().filter(|value| value.width == width).copied().collect();
        match self.random.below(3) {
            0 if !same.is_empty() => *self.random.pick(&same),
            1 => self.constant(width),
            _ => {
                let value = self.any();
                self.resize(value, width)
            }
        }
    }

    fn resize(&mut self, value: Value, width: Width) -> Value {
        let Value { id, width: before, wanted } = value;
        if before.bits() > width.bits() {
            let low = self.random.below(u64::from(before.bits() - width.bits()) + 1) as u32;
            let wanted = wanted.map(|x| width.wrap(x >> low));
            return Value { id: self.graph.slice(id, low, width), width, wanted };
        }
        if self.random.below(2) == 0 {
            return Value { id: self.graph.zero_extend(width, id), width, wanted };
        }
        let wanted = wanted.map(|x| width.wrap(before.signed(x) as u64));
        Value { id: self.graph.sign_extend(width, id), width, wanted }
    }

    fn add(&mut self, x: Value, y: Value) -> Value {
        let wanted = both(&x, &y, |a, b| x.width.wrap(a.wrapping_add(b)));
        Value { id: self.graph.binary(BinaryOperator::Add, x.id, y.id), width: x.width, wanted }
    }

    fn join(&mut self, x: Value, y: Value) -> Value {
        let width = x.width.plus(y.width).expect("there is room for both");
        Value { id: self.graph.join(x.id, y.id), width, wanted: both(&x, &y, |high, low| high << y.width.bits() | low) }
    }

    /// Builds a sum digit by digit: the lower digit of a byte in a sum of its own, the upper one added in its place.
    fn digits(&mut self) -> Value {
        let [nibble, byte, word] = [4, 8, 16].map(|bits| Width::new(bits).expect("a width"));
        let number = self.like(byte);
        let part = |maker: &mut Maker, low: u32| {
            let wanted = number.wanted.map(|x| nibble.wrap(x >> low));
            Value { id: maker.graph.slice(number.id, low, nibble), width: nibble, wanted }
        };
        let (lower, upper) = (part(self, 0), part(self, 4));
        let zeros = Value { id: self.graph.constant(nibble, 0), width: nibble, wanted: [0; SAMPLES] };
        let mut other = || {
            let (high, low) = (self.constant(nibble), self.like(nibble));
            self.join(high, low)
        };
        let (one, other) = (other(), other());
        let sum = self.add(one, other);
        let lower = Value { id: self.graph.zero_extend(byte, lower.id), width: byte, wanted: lower.wanted };
        let sum = self.add(sum, lower);
        let upper = self.join(upper, zeros);
        let [sum, upper] = [sum, upper].map(|value| Value {
            id: self.graph.zero_extend(word, value.id),
            width: word,
            wanted: value.wanted,
        });
        self.add(sum, upper)
    }

    /// Builds logic of two values from NANDs only.
    fn nands(&mut self) -> Value {
        let x = self.any();
        let mut made = vec![x, self.like(x.width)];
        for _ in 0..6 {
            let (x, y) = (*self.random.pick(&made), *self.random.pick(&made));
            let both_set = self.graph.and(x.id, y.id);
            let wanted = both(&x, &y, |a, b| x.width.wrap(!(a & b)));
            made.push(Value { id: self.graph.not(both_set), width: x.width, wanted });
        }
        *self.random.pick(&made[2..])
    }

    /// Builds a new value from the existing ones.
    fn make(&mut self) -> Value {
        let x = self.any();
        match self.random.below(12) {
            11 => self.nands(),
            10 => self.digits(),
            0 => {
                let width = self.width();
                self.resize(x, width)
            }
            1 => {
                let operator = *self.random.pick(&UnaryOperator::ALL);
                let wanted = x.wanted.map(|value| operator.apply(x.width, value));
                Value { id: self.graph.unary(operator, x.id), width: x.width, wanted }
            }
            2 | 3 => {
                let y = self.any();
                if x.width.plus(y.width).is_some() { self.join(x, y) } else { x }
            }
            4 => {
                let (condition, y) = (self.like(Width::BIT), self.like(x.width));
                let wanted = |at: usize| if condition.wanted[at] != 0 { x.wanted[at] } else { y.wanted[at] };
                let wanted = std::array::from_fn(wanted);
                Value { id: self.graph.choose(condition.id, x.id, y.id), width: x.width, wanted }
            }
            _ => {
                let (operator, y) = (*self.random.pick(&self.operators), self.like(x.width));
                let width = if operator.is_comparison() { Width::BIT } else { x.width };
                let wanted = both(&x, &y, |a, b| operator.apply(x.width, a, b));
                Value { id: self.graph.binary(operator, x.id, y.id), width, wanted }
            }
        }
    }

    /// Returns what the graph says a value is in one sample.
    fn found(&self, id: ValueId, sample: usize) -> u64 {
        let (width, of) = (self.graph.width(id), |id| self.found(id, sample));
        match self.graph.node(id) {
            Node::Constant(value) => value,
            Node::Register(register) => self.registers[register.index()][sample],
            Node::Unary(operator, x) => operator.apply(width, of(x)),
            Node::Binary(operator, x, y) => operator.apply(self.graph.width(x), of(x), of(y)),
            Node::Slice(x, low) => width.wrap(of(x) >> low),
            Node::Join(high, low) => of(high) << self.graph.width(low).bits() | of(low),
            Node::ZeroExtend(x) => of(x),
            Node::SignExtend(x) => width.wrap(self.graph.width(x).signed(of(x)) as u64),
            Node::Choose(condition, x, y) => of(if of(condition) != 0 { x } else { y }),
            Node::Load(..) | Node::Answer(_) => panic!("nothing was loaded or asked"),
        }
    }
}

fn both(x: &Value, y: &Value, apply: impl Fn(u64, u64) -> u64) -> [u64; SAMPLES] {
    std::array::from_fn(|at| apply(x.wanted[at], y.wanted[at]))
}

#[test]
fn values_are_what_they_are_meant_to_be() {
    for seed in 0..GRAPHS {
        let mut maker = Maker::new(seed);
        while maker.values.len() < VALUES {
            let value = maker.make();
            let range = maker.graph.range(value.id);
            assert_eq!(maker.graph.width(value.id), value.width, "seed {seed}");
            for (sample, wanted) in value.wanted.into_iter().enumerate() {
                let found = maker.found(value.id, sample);
                assert_eq!(found, wanted, "seed {seed}, value {}", maker.values.len());
                assert!((range.least..=range.greatest).contains(&wanted), "seed {seed}: {wanted} in {range:?}");
            }
            maker.values.push(value);
        }
    }
}

#[test]
fn what_is_said_of_two_values_holds() {
    let (mut distinct, mut apart) = (0, 0);
    for seed in 0..GRAPHS {
        let mut maker = Maker::new(seed);
        while maker.values.len() < VALUES {
            let value = maker.make();
            maker.values.push(value);
        }
        let Maker { graph, values, .. } = &maker;
        for (x, y) in values.iter().flat_map(|x| values.iter().map(move |y| (x, y))) {
            if x.width != y.width {
                continue;
            }
            let mut pairs = x.wanted.into_iter().zip(y.wanted);
            if graph.are_distinct(x.id, y.id) {
                distinct += 1;
                assert!(pairs.clone().all(|(x, y)| x != y), "seed {seed}: {x:?} {y:?}");
            }
            if let Some(distance) = graph.distance(x.id, y.id) {
                apart += u64::from(distance != 0);
                assert!(pairs.all(|(from, to)| x.width.wrap(from.wrapping_add(distance as u64)) == to), "seed {seed}");
            }
        }
    }
    assert!(distinct > 1_000 && apart > 1_000, "{distinct} {apart}");
}
