//! All formulas of a few operations, and longer random ones: the node in the graph means what the formula means.

use super::*;
use crate::evaluate::Evaluation;

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Evaluates a node for given unknowns, from the nodes of which it is made.
fn value(graph: &Graph, node: Node, unknowns: &HashMap<String, u128>) -> u128 {
    let chosen = graph.cone(&[node]).into_iter().filter_map(|node| match graph.form(node) {
        Form::Unknown(name) => Some((node, (0..graph.bits(node)).map(|bit| unknowns[name] >> bit & 1 == 1).collect())),
        _ => None,
    });
    let bits = &Evaluation::new(graph, chosen.collect()).of(&[node])[0];
    bits.iter().rev().fold(0, |all, bit| all << 1 | u128::from(*bit))
}

const OPERATORS: [Operator; 14] = [
    Operator::And,
    Operator::Or,
    Operator::Xor,
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::Remainder,
    Operator::ShiftLeft,
    Operator::ShiftRight,
    Operator::ShiftRightSigned,
    Operator::Equal,
    Operator::Less,
    Operator::LessSigned,
];

/// Evaluates an operator by the book.
fn meant(operator: Operator, bits: u32, x: u128, y: u128) -> u128 {
    let signed = |x: u128| if x >> (bits - 1) & 1 == 1 { x as i128 - (1i128 << bits) } else { x as i128 };
    let all = match operator {
        Operator::And => x & y,
        Operator::Or => x | y,
        Operator::Xor => x ^ y,
        Operator::Add => x + y,
        Operator::Subtract => x.wrapping_sub(y),
        Operator::Multiply => x.wrapping_mul(y),
        Operator::Divide => x.checked_div(y).unwrap_or(u128::MAX),
        Operator::Remainder => x.checked_rem(y).unwrap_or(x),
        Operator::ShiftLeft => {
            if y >= u128::from(bits) {
                0
            } else {
                x << y
            }
        }
        Operator::ShiftRight => {
            if y >= u128::from(bits) {
                0
            } else {
                x >> y
            }
        }
        Operator::ShiftRightSigned => (signed(x) >> y.min(u128::from(bits))) as u128,
        Operator::Equal => (x == y).into(),
        Operator::Less => (x < y).into(),
        Operator::LessSigned => (signed(x) < signed(y)).into(),
    };
    all & if matches!(operator, Operator::Equal | Operator::Less | Operator::LessSigned) { 1 } else { mask(bits) }
}

/// Adds a value made of earlier ones, in the graph and by the book.
fn grow(graph: &mut Graph, all: &mut Vec<(Node, u128)>, random: &mut Random) {
    let pick = |random: &mut Random, bits: Option<u32>| {
        let fitting: Vec<(Node, u128)> =
            all.iter().copied().filter(|(node, _)| bits.is_none_or(|bits| graph.bits(*node) == bits)).collect();
        // Prefers the latest values.
        let at = random.below(fitting.len() as u64).max(random.below(fitting.len() as u64));
        fitting[at as usize]
    };
    let (x, a) = pick(random, None);
    let bits = graph.bits(x);
    let (y, b) = pick(random, Some(bits));
    let (condition, c) = pick(random, Some(1));
    let (other, d) = pick(random, None);
    let new = match random.below(24) {
        at if (at as usize) < OPERATORS.len() => {
            let operator = OPERATORS[at as usize];
            (graph.operate(operator, x, y), meant(operator, bits, a, b))
        }
        14 => (graph.not(x), !a & mask(bits)),
        15 => (graph.negate(x), a.wrapping_neg() & mask(bits)),
        16 | 17 if bits > 1 => {
            let low = random.below(bits.into()) as u32;
            let many = 1 + random.below((bits - low).into()) as u32;
            (graph.slice(x, low, many), a >> low & mask(many))
        }
        18 if bits + graph.bits(other) <= 24 => (graph.join(&[x, other]), a << graph.bits(other) | d),
        19 if bits < 20 => (graph.sign_extend(bits + 3, x), if a >> (bits - 1) == 1 { a | 7 << bits } else { a }),
        20 => (graph.constant(bits, b), b),
        _ => (graph.choose(condition, x, y), if c == 1 { a } else { b }),
    };
    all.push(new);
}

#[test]
fn what_is_computed_early_is_what_it_would_be_later() {
    let mut random = Random(1);
    for round in 0..1_000 {
        let mut graph = Graph::default();
        let mut unknowns = HashMap::default();
        let mut all = vec![(Node::FALSE, 0), (Node::TRUE, 1)];
        for (at, bits) in [1, 1, 1, 2, 2, 3, 3, 8, 8].into_iter().enumerate() {
            let name = at.to_string();
            let number = u128::from(random.below(1 << bits));
            all.push((graph.unknown(&name, bits), number));
            unknowns.insert(name, number);
        }
        for number in [0, 1, 5, 0xFF] {
            all.push((graph.constant(8, number), number));
        }
        // Choices by a two-bit value, of which one is always taken.
        for _ in 0..3 {
            let (value, number) = all[5];
            for at in 0..4 {
                let at = (at + random.below(4) as u128) & 3;
                let wanted = graph.constant(2, at);
                let (x, y) = (all[9 + random.below(2) as usize], *all.last().expect("there are some"));
                let condition = graph.equal(value, wanted);
                all.push((graph.choose(condition, x.0, y.0), if number == at { x.1 } else { y.1 }));
                let (other, holds) = all[all.len() - 2 - random.below(3) as usize];
                if graph.bits(other) == 1 {
                    all.push((graph.or(condition, other), (number == at || holds == 1).into()));
                }
                all.push((condition, (number == at).into()));
                let (last, expected) = all[all.len() - 2];
                if graph.bits(last) == 8 {
                    all.push((last, expected));
                } else {
                    all.push(x);
                }
            }
        }
        for _ in 0..60 {
            grow(&mut graph, &mut all, &mut random);
        }
        for (node, expected) in &all {
            assert_eq!(value(&graph, *node, &unknowns), *expected, "round {round}, {node:?}: {:?}", graph.form(*node));
        }
        // Facts that hold in a case do not change a value in it.
        let mut facts = Facts::default();
        let conditions: Vec<_> = all.iter().filter(|(node, _)| graph.bits(*node) == 1).take(12).collect();
        for (node, number) in conditions {
            graph.learn(&mut facts, *node, *number == 1);
        }
        for (node, expected) in &all {
            let under = graph.under(&mut facts, *node);
            assert_eq!(value(&graph, under, &unknowns), *expected, "round {round}, {node:?} with facts");
        }
    }
}

/// All values of a formula: one number for each assignment of a few unknowns.
type Table = Vec<u8>;

/// Formulas over a few unknowns, each as the graph keeps it and with all its values by the book.
#[derive(Clone)]
struct Formulas {
    graph: Graph,
    /// The formulas made so far.
    made: Vec<(Node, Table)>,
    /// All values of each node, computed from the graph.
    kept: Vec<Table>,
    unknowns: HashMap<String, Table>,
}

impl Formulas {
    /// Starts with unknowns of given widths, and some numbers.
    fn new(unknowns: &[(&str, u32)], numbers: &[(u32, u8)]) -> Formulas {
        let mut all =
            Formulas { graph: Graph::default(), made: Vec::new(), kept: Vec::new(), unknowns: HashMap::default() };
        let ways = 1u32 << unknowns.iter().map(|(_, bits)| bits).sum::<u32>();
        let mut low = 0;
        for (name, bits) in unknowns {
            let table: Table = (0..ways).map(|way| (way >> low & ((1 << bits) - 1)) as u8).collect();
            all.unknowns.insert((*name).to_owned(), table.clone());
            let node = all.graph.unknown(name, *bits);
            all.keep(node, table);
            low += bits;
        }
        for (bits, number) in numbers {
            let node = all.graph.constant(*bits, u128::from(*number));
            all.keep(node, vec![*number; ways as usize]);
        }
        all
    }

    fn ways(&self) -> usize {
        self.unknowns.values().next().map_or(1, Vec::len)
    }

    fn keep(&mut self, node: Node, table: Table) {
        self.check(node, &table);
        if !self.made.iter().any(|(known, _)| *known == node) {
            self.made.push((node, table));
        }
    }

    /// Checks that the graph's node is what the book says.
    fn check(&mut self, node: Node, table: &Table) {
        let differs = self.kept(node) != table;
        assert!(!differs, "{} is not {table:?}", self.text(node));
    }

    /// Returns a formula as a person reads it.
    fn text(&self, node: Node) -> String {
        let text = |node: &Node| self.text(*node);
        match self.graph.form(node) {
            Form::Constant(number) => number.to_string(),
            Form::Unknown(name) => name.clone(),
            Form::Apply(..) => unreachable!("no function is asked for"),
            Form::Not(x) => format!("~{}", text(x)),
            Form::Negate(x) => format!("-{}", text(x)),
            Form::Pair(operator, x, y) => format!("({} {operator:?} {})", text(x), text(y)),
            Form::Choose(condition, x, y) => format!("({} ? {} : {})", text(condition), text(x), text(y)),
            Form::Slice(x, low) => format!("{}[{low}+{}]", text(x), self.graph.bits(node)),
            Form::Join(parts) => format!("({})", parts.iter().map(text).collect::<Vec<_>>().join(" ++ ")),
        }
    }

    fn kept(&mut self, node: Node) -> &Table {
        for at in self.kept.len()..=node.index() {
            let (form, bits) = self.graph.nodes[at].clone();
            let of = |node: Node| &self.kept[node.index()];
            let table = match form {
                Form::Constant(number) => vec![number as u8; self.ways()],
                Form::Unknown(name) => self.unknowns[&name].clone(),
                Form::Apply(..) => unreachable!("no function is asked for"),
                Form::Not(x) => each(of(x), |x| !x & mask(bits) as u8),
                Form::Negate(x) => each(of(x), |x| x.wrapping_neg() & mask(bits) as u8),
                Form::Pair(operator, x, y) => tabled(operator, self.graph.bits(x), of(x), of(y)),
                Form::Choose(condition, x, y) => chosen(of(condition), of(x), of(y)),
                Form::Slice(x, low) => each(of(x), |x| x >> low & mask(bits) as u8),
                Form::Join(parts) => parts.iter().fold(vec![0; self.ways()], |high, low| {
                    let bits = self.graph.bits(*low);
                    high.iter().zip(of(*low)).map(|(high, low)| high << bits | low).collect()
                }),
            };
            self.kept.push(table);
        }
        &self.kept[node.index()]
    }

    /// Makes every formula of two values, and of one of them alone.
    fn combine(&mut self, x: &(Node, Table), y: &(Node, Table), into: &mut Vec<(Node, Table)>) {
        let (bits, other) = (self.graph.bits(x.0), self.graph.bits(y.0));
        if bits == other {
            for operator in OPERATORS {
                into.push((self.graph.operate(operator, x.0, y.0), tabled(operator, bits, &x.1, &y.1)));
            }
        }
        if bits + other <= 6 {
            let table = x.1.iter().zip(&y.1).map(|(x, y)| x << other | y).collect();
            into.push((self.graph.join(&[x.0, y.0]), table));
        }
        if x.0 == y.0 {
            into.push((self.graph.not(x.0), each(&x.1, |x| !x & mask(bits) as u8)));
            into.push((self.graph.negate(x.0), each(&x.1, |x| x.wrapping_neg() & mask(bits) as u8)));
            let sign = |x: u8| if x >> (bits - 1) == 1 { x | 3 << bits } else { x };
            into.push((self.graph.sign_extend(bits + 2, x.0), each(&x.1, sign)));
            for (low, many) in (0..bits).flat_map(|low| (1..=bits - low).map(move |many| (low, many))) {
                into.push((self.graph.slice(x.0, low, many), each(&x.1, |x| x >> low & mask(many) as u8)));
            }
        }
    }

    fn choose(&mut self, condition: &(Node, Table), x: &(Node, Table), y: &(Node, Table)) -> (Node, Table) {
        (self.graph.choose(condition.0, x.0, y.0), chosen(&condition.1, &x.1, &y.1))
    }

    /// Returns the formulas of a width.
    fn of_bits(&self, bits: u32) -> Vec<(Node, Table)> {
        self.made.iter().filter(|(node, _)| self.graph.bits(*node) == bits).cloned().collect()
    }

    /// Checks all formulas with one more operation, and then all with yet another, without keeping these.
    fn exhaust(mut self) -> usize {
        let (first, conditions, mut count) = (self.made.clone(), self.of_bits(1), 0);
        let mut new = Vec::new();
        for (x, y) in first.iter().flat_map(|x| first.iter().map(move |y| (x, y))) {
            self.combine(x, y, &mut new);
            if self.graph.bits(x.0) == self.graph.bits(y.0) {
                for condition in &conditions {
                    new.push(self.choose(condition, x, y));
                }
            }
        }
        for (node, table) in new {
            self.keep(node, table);
        }
        let conditions = self.of_bits(1);
        for x in &self.made {
            // Formulas made here are not used further.
            let mut here = self.clone();
            let mut new = Vec::new();
            for y in &self.made {
                here.combine(x, y, &mut new);
            }
            for y in first.iter().filter(|(node, _)| self.graph.bits(*node) == self.graph.bits(x.0)) {
                for condition in &conditions {
                    new.push(here.choose(condition, x, y));
                    new.push(here.choose(condition, y, x));
                }
            }
            count += new.len();
            for (node, table) in new {
                here.check(node, &table);
            }
        }
        count + self.exhaust_facts(&conditions)
    }

    /// Checks that facts that hold in a case do not change a value in it.
    fn exhaust_facts(&self, conditions: &[(Node, Table)]) -> usize {
        for (condition, holds) in conditions.iter().flat_map(|condition| [(condition, true), (condition, false)]) {
            let mut here = self.clone();
            let mut facts = Facts::default();
            here.graph.learn(&mut facts, condition.0, holds);
            for (node, table) in &self.made {
                let under = here.graph.under(&mut facts, *node);
                let found = here.kept(under).iter().zip(table).zip(&condition.1);
                let differs = found.into_iter().any(|((found, meant), is)| (*is == 1) == holds && found != meant);
                assert!(!differs, "{} where {} is {holds}", self.text(*node), self.text(condition.0));
            }
        }
        2 * conditions.len() * self.made.len()
    }
}

fn each(x: &Table, of: impl Fn(u8) -> u8) -> Table {
    x.iter().map(|x| of(*x)).collect()
}

fn tabled(operator: Operator, bits: u32, x: &Table, y: &Table) -> Table {
    x.iter().zip(y).map(|(x, y)| meant(operator, bits, u128::from(*x), u128::from(*y)) as u8).collect()
}

fn chosen(condition: &Table, x: &Table, y: &Table) -> Table {
    condition.iter().zip(x).zip(y).map(|((condition, x), y)| if *condition == 1 { *x } else { *y }).collect()
}

#[test]
fn every_small_formula_is_what_it_means() {
    let count = Formulas::new(&[("x", 3), ("y", 3)], &[(1, 1), (3, 1), (3, 6)]).exhaust();
    eprintln!("{count} formulas of numbers");
}

#[test]
fn every_small_condition_is_what_it_means() {
    let mut all = Formulas::new(&[("p", 1), ("q", 1), ("x", 2)], &[(1, 0), (2, 0), (2, 3)]);
    for number in 0..4 {
        let (x, wanted) = (all.made[2].clone(), all.graph.constant(2, number));
        let node = all.graph.equal(x.0, wanted);
        all.keep(node, each(&x.1, |x| u8::from(u128::from(x) == number)));
    }
    let count = all.exhaust();
    eprintln!("{count} formulas of conditions");
}

/// A division unit wider than the instruction's operands.
#[test]
fn zeros_above_a_division_change_nothing_below_them() {
    for (operator, more) in [Operator::Divide, Operator::Remainder].into_iter().flat_map(|one| [(one, 1), (one, 5)]) {
        let mut graph = Graph::default();
        let (x, y) = (graph.unknown("x", 3), graph.unknown("y", 3));
        let (wide_x, wide_y) = (graph.zero_extend(3 + more, x), graph.zero_extend(3 + more, y));
        let wide = graph.operate(operator, wide_x, wide_y);
        assert_eq!(graph.slice(wide, 0, 3), graph.operate(operator, x, y));
        for bits in 1..=3 {
            let low = graph.slice(wide, 0, bits);
            for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (a, b))) {
                let unknowns = [("x".to_owned(), a), ("y".to_owned(), b)].into_iter().collect();
                assert_eq!(
                    value(&graph, low, &unknowns),
                    meant(operator, 3, a, b) & mask(bits),
                    "{a} {operator:?} {b}"
                );
            }
        }
    }
}

#[test]
fn powers_of_two_divide_by_shifting() {
    for (power, operator) in (0..4).flat_map(|power| [Operator::Divide, Operator::Remainder].map(|one| (power, one))) {
        let mut graph = Graph::default();
        let (x, y) = (graph.unknown("x", 4), graph.constant(4, 1 << power));
        let node = graph.operate(operator, x, y);
        assert!(!matches!(graph.form(node), Form::Pair(..)), "{:?}", graph.form(node));
        for a in 0..16 {
            let unknowns = [("x".to_owned(), a)].into_iter().collect();
            assert_eq!(value(&graph, node, &unknowns), meant(operator, 4, a, 1 << power), "{a} {operator:?} {power}");
        }
    }
}

/// Yosys takes neighbouring bits of a value together, and a definition takes them one by one: both are one formula,
/// even if a single bit is no longer a choice.
#[test]
fn bits_taken_one_by_one_are_bits_taken_together() {
    let mut graph = Graph::default();
    let (condition, x) = (graph.unknown("c", 1), graph.unknown("x", 4));
    for number in 0..16 {
        let number = graph.constant(4, number);
        for value in [graph.choose(condition, number, x), graph.choose(condition, x, number)] {
            let bits: Vec<Node> = (0..4).rev().map(|low| graph.slice(value, low, 1)).collect();
            assert_eq!(graph.join(&bits), value);
            for (low, many) in [(0, 2), (1, 2), (2, 2), (0, 3), (1, 3)] {
                let (first, last) = (4 - low - many, 4 - low);
                let joined = graph.join(&bits[first..last]);
                assert_eq!(joined, graph.slice(value, low as u32, many as u32));
            }
        }
    }
}
