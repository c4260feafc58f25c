//! Values in a counterexample. The solver chooses only what decides a claim; everything else in the report is computed
//! from its choices, so that a detailed report costs the solver nothing.

use std::collections::HashMap;

use crate::graph::{Form, Graph, Node, Operator};

/// The bits of a value, the lowest first.
pub(crate) type Bits = Vec<bool>;

/// The values of nodes in a case.
pub(crate) struct Evaluation<'g> {
    graph: &'g Graph,
    values: Vec<Option<Bits>>,
    /// The results of functions about which the solver knows nothing else.
    functions: HashMap<(String, Vec<Bits>), Bits>,
}

impl<'g> Evaluation<'g> {
    /// Creates a case in which these nodes, unknowns and results of functions, have these values.
    pub(crate) fn new(graph: &'g Graph, chosen: Vec<(Node, Bits)>) -> Self {
        let nodes: Vec<Node> = chosen.iter().map(|(node, _)| *node).collect();
        let mut evaluation = Evaluation { graph, values: vec![None; graph.len()], functions: HashMap::new() };
        let chosen: HashMap<Node, Bits> = chosen.into_iter().collect();
        for node in graph.cone(&nodes) {
            let value = match chosen.get(&node) {
                Some(value) => value.clone(),
                None => evaluation.compute(node),
            };
            if let Form::Apply(name, given) = graph.form(node) {
                let given = given.iter().map(|node| evaluation.value(*node)).collect();
                evaluation.functions.insert((name.clone(), given), value.clone());
            }
            evaluation.values[node.index()] = Some(value);
        }
        evaluation
    }

    /// Returns the values of some nodes.
    pub(crate) fn of(&mut self, wanted: &[Node]) -> Vec<Bits> {
        for node in self.graph.cone(wanted) {
            if self.values[node.index()].is_none() {
                self.values[node.index()] = Some(self.compute(node));
            }
        }
        wanted.iter().map(|node| self.value(*node)).collect()
    }

    fn value(&self, node: Node) -> Bits {
        self.values[node.index()].clone().unwrap_or_default()
    }

    /// Computes a node whose parts are known. What the solver did not choose is zero.
    fn compute(&self, node: Node) -> Bits {
        let bits = self.graph.bits(node) as usize;
        let mut value = match self.graph.form(node) {
            Form::Constant(value) => (0..bits).map(|bit| bit < 128 && value >> bit & 1 == 1).collect(),
            Form::Unknown(_) => Vec::new(),
            Form::Apply(name, given) => {
                let given = given.iter().map(|node| self.value(*node)).collect();
                self.functions.get(&(name.clone(), given)).cloned().unwrap_or_default()
            }
            Form::Not(x) => inverse(&self.value(*x)),
            Form::Negate(x) => sum(&inverse(&self.value(*x)), &[], true),
            Form::Choose(condition, x, y) => self.value(if self.value(*condition)[0] { *x } else { *y }),
            Form::Join(parts) => parts.iter().rev().flat_map(|part| self.value(*part)).collect(),
            Form::Slice(x, low) => self.value(*x)[*low as usize..].to_vec(),
            Form::Pair(pair, x, y) => operate(*pair, &self.value(*x), &self.value(*y)),
        };
        value.resize(bits, false);
        value
    }
}

fn inverse(x: &[bool]) -> Bits {
    x.iter().map(|bit| !bit).collect()
}

/// Returns a sum as wide as the first operand. Missing bits of the second are zeros.
fn sum(x: &[bool], y: &[bool], mut carry: bool) -> Bits {
    let y = y.iter().copied().chain(std::iter::repeat(false));
    let add = |(x, y): (&bool, bool)| {
        let bits = u8::from(*x) + u8::from(y) + u8::from(carry);
        carry = bits > 1;
        bits & 1 == 1
    };
    x.iter().zip(y).map(add).collect()
}

fn less(x: &[bool], y: &[bool]) -> bool {
    x.iter().rev().lt(y.iter().rev())
}

fn shifted(x: &[bool], by: &[bool], left: bool, fill: bool) -> Bits {
    let width = x.len();
    let by = by.iter().enumerate().filter(|(_, bit)| **bit);
    let by = by.fold(0, |all, (at, _)| width.min(all + if at < 32 { 1 << at } else { width }));
    let filled = std::iter::repeat_n(fill, by);
    match left {
        true => filled.chain(x.iter().copied()).take(width).collect(),
        false => x[by..].iter().copied().chain(filled).collect(),
    }
}

/// Returns the quotient and the remainder; for division by zero, all ones and the first operand.
fn divided(x: &[bool], y: &[bool]) -> (Bits, Bits) {
    let (mut quotient, mut rest) = (vec![false; x.len()], vec![false; x.len() + 1]);
    let divisor: Bits = y.iter().copied().chain([false]).collect();
    for at in (0..x.len()).rev() {
        rest.rotate_right(1);
        rest[0] = x[at];
        if !less(&rest, &divisor) {
            rest = sum(&rest, &inverse(&divisor), true);
            quotient[at] = true;
        }
    }
    rest.truncate(x.len());
    (quotient, rest)
}

fn operate(pair: Operator, x: &[bool], y: &[bool]) -> Bits {
    let each = |operate: fn(bool, bool) -> bool| x.iter().zip(y).map(|(x, y)| operate(*x, *y)).collect();
    let sign = |x: &[bool]| x.last().copied().unwrap_or(false);
    match pair {
        Operator::And => each(|x, y| x & y),
        Operator::Or => each(|x, y| x | y),
        Operator::Xor => each(|x, y| x ^ y),
        Operator::Add => sum(x, y, false),
        Operator::Subtract => sum(x, &inverse(y), true),
        Operator::Multiply => {
            let ones = (0..x.len()).filter(|at| y[*at]);
            ones.fold(vec![false; x.len()], |all, at| {
                let part: Bits = std::iter::repeat_n(false, at).chain(x.iter().copied()).collect();
                sum(&all, &part, false)
            })
        }
        Operator::Divide => divided(x, y).0,
        Operator::Remainder => divided(x, y).1,
        Operator::ShiftLeft => shifted(x, y, true, false),
        Operator::ShiftRight => shifted(x, y, false, false),
        Operator::ShiftRightSigned => shifted(x, y, false, sign(x)),
        Operator::Equal => vec![x == y],
        Operator::Less => vec![less(x, y)],
        Operator::LessSigned => vec![if sign(x) == sign(y) { less(x, y) } else { sign(x) }],
    }
}
