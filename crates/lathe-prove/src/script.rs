//! A query under construction: values in a [`Graph`], assumptions, and memories as tables.

use std::rc::Rc;

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

use crate::graph::{Facts, Graph, Node};

/// A query that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) graph: Graph,
    /// The assumptions: they hold in every case that is considered.
    supposed: Vec<Node>,
}

/// A bit vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) bits: u32,
    pub(crate) node: Node,
}

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition(pub(crate) Node);

/// Cells by address, or events by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) index: u32,
    pub(crate) bits: u32,
    cells: Rc<Cells>,
}

#[derive(Debug, PartialEq, Eq)]
enum Cells {
    /// A function of which nothing is known.
    Unknown(String),
    /// Where the condition holds, one entry is replaced.
    Set(Rc<Cells>, Condition, Node, Node),
    Choose(Condition, Rc<Cells>, Rc<Cells>),
}

impl Condition {
    pub(crate) fn always() -> Condition {
        Condition(Node::TRUE)
    }

    pub(crate) fn never() -> Condition {
        Condition(Node::FALSE)
    }

    /// Returns the condition as a bit.
    pub(crate) fn term(self) -> Term {
        Term { bits: 1, node: self.0 }
    }

    pub(crate) fn is_never(self) -> bool {
        self == Condition::never()
    }
}

impl Script {
    /// Returns the assumptions in SMT-LIB, and all nodes that they are made of.
    pub(crate) fn write(&self) -> (String, Vec<Node>) {
        let mut text = String::new();
        self.graph.write_functions(&mut text);
        let nodes = self.graph.cone(&self.supposed);
        self.graph.write(&nodes, &mut text);
        for node in &self.supposed {
            text.push_str(&format!("(assert {})\n", self.graph.name(*node)));
        }
        (text, nodes)
    }

    /// Adds an assumption: only cases in which it holds are considered.
    pub(crate) fn suppose(&mut self, condition: Condition) {
        self.supposed.push(condition.0);
    }

    fn term(&self, node: Node) -> Term {
        Term { bits: self.graph.bits(node), node }
    }

    pub(crate) fn constant(&mut self, bits: u32, value: u64) -> Term {
        let wrapped = Width::new(u64::from(bits)).map_or(value, |width| width.wrap(value));
        let node = self.graph.constant(bits, wrapped.into());
        self.term(node)
    }

    /// Returns a value of which nothing is known.
    pub(crate) fn unknown(&mut self, name: &str, bits: u32) -> Term {
        let node = self.graph.unknown(name, bits);
        self.term(node)
    }

    /// Returns a table of which nothing is known.
    pub(crate) fn unknown_table(&mut self, name: &str, index: u32, bits: u32) -> Table {
        self.graph.function(name, vec![index], bits);
        Table { index, bits, cells: Rc::new(Cells::Unknown(name.to_owned())) }
    }

    /// Declares a function of which nothing is known, with the widths of its arguments and of its result.
    pub(crate) fn function(&mut self, name: &str, given: Vec<u32>, bits: u32) {
        self.graph.function(name, given, bits);
    }

    pub(crate) fn apply(&mut self, name: &str, given: &[Term]) -> Term {
        let node = self.graph.apply(name, given.iter().map(|term| term.node).collect());
        self.term(node)
    }

    pub(crate) fn holds(&mut self, bit: &Term) -> Condition {
        Condition(bit.node)
    }

    pub(crate) fn bit(&mut self, condition: &Condition) -> Term {
        self.term(condition.0)
    }

    pub(crate) fn and(&mut self, x: &Condition, y: &Condition) -> Condition {
        Condition(self.graph.and(x.0, y.0))
    }

    pub(crate) fn or(&mut self, x: &Condition, y: &Condition) -> Condition {
        Condition(self.graph.or(x.0, y.0))
    }

    pub(crate) fn not(&mut self, x: &Condition) -> Condition {
        Condition(self.graph.not(x.0))
    }

    /// Returns the conjunction of conditions.
    pub(crate) fn all(&mut self, conditions: impl IntoIterator<Item = Condition>) -> Condition {
        conditions.into_iter().fold(Condition::always(), |all, one| self.and(&all, &one))
    }

    /// Returns the condition that the second holds where the first does.
    pub(crate) fn implies(&mut self, x: &Condition, y: &Condition) -> Condition {
        let unless = self.not(x);
        self.or(&unless, y)
    }

    pub(crate) fn equal(&mut self, x: &Term, y: &Term) -> Condition {
        Condition(self.graph.equal(x.node, y.node))
    }

    pub(crate) fn choose(&mut self, condition: &Condition, x: &Term, y: &Term) -> Term {
        let node = self.graph.choose(condition.0, x.node, y.node);
        self.term(node)
    }

    pub(crate) fn unary(&mut self, operator: UnaryOperator, x: &Term) -> Term {
        let node = match operator {
            UnaryOperator::Not => self.graph.not(x.node),
            UnaryOperator::Negate => self.graph.negate(x.node),
        };
        self.term(node)
    }

    pub(crate) fn binary(&mut self, operator: BinaryOperator, x: &Term, y: &Term) -> Term {
        use BinaryOperator::*;
        let (a, b, graph) = (x.node, y.node, &mut self.graph);
        let node = match operator {
            Add => graph.add(a, b),
            Subtract => graph.subtract(a, b),
            Multiply => graph.multiply(a, b),
            And => graph.and(a, b),
            Or => graph.or(a, b),
            Xor => graph.xor(a, b),
            Divide => graph.divide(a, b),
            Remainder => graph.remainder(a, b),
            DivideSigned | RemainderSigned => return self.divide_signed(operator, x, y),
            ShiftLeft | ShiftRight | ShiftRightSigned => return self.shift(operator, x, y),
            RotateLeft | RotateRight => return self.rotate(operator, x, y),
            Equal => graph.equal(a, b),
            Unequal => {
                let same = graph.equal(a, b);
                graph.not(same)
            }
            Less => graph.less(a, b),
            LessSigned => graph.less_signed(a, b),
            LessOrEqual => {
                let greater = graph.less(b, a);
                graph.not(greater)
            }
            LessOrEqualSigned => {
                let greater = graph.less_signed(b, a);
                graph.not(greater)
            }
        };
        self.term(node)
    }

    /// Divides two's complement numbers: their magnitudes. A quotient is negative if exactly one operand is, a
    /// remainder if the first is; for division by zero, the quotient is all ones and the remainder the first operand,
    /// as in division of magnitudes.
    fn divide_signed(&mut self, operator: BinaryOperator, x: &Term, y: &Term) -> Term {
        let bits = x.bits;
        let (x_sign, y_sign) = (self.slice(x, bits - 1, 1), self.slice(y, bits - 1, 1));
        let (x_negative, y_negative) = (self.holds(&x_sign), self.holds(&y_sign));
        let (minus_x, minus_y) = (self.unary(UnaryOperator::Negate, x), self.unary(UnaryOperator::Negate, y));
        let (a, b) = (self.choose(&x_negative, &minus_x, x), self.choose(&y_negative, &minus_y, y));
        if operator == BinaryOperator::RemainderSigned {
            let rest = self.binary(BinaryOperator::Remainder, &a, &b);
            let minus = self.unary(UnaryOperator::Negate, &rest);
            return self.choose(&x_negative, &minus, &rest);
        }
        let zero = self.constant(bits, 0);
        let by_zero = self.equal(y, &zero);
        let amount = self.binary(BinaryOperator::Divide, &a, &b);
        let minus = self.unary(UnaryOperator::Negate, &amount);
        let (differ, divides) = (Condition(self.graph.xor(x_negative.0, y_negative.0)), self.not(&by_zero));
        let is_negative = self.and(&divides, &differ);
        self.choose(&is_negative, &minus, &amount)
    }

    /// Shifts in a width that holds the number and the count.
    fn shift(&mut self, operator: BinaryOperator, x: &Term, count: &Term) -> Term {
        let wide = x.bits.max(count.bits);
        let is_signed = operator == BinaryOperator::ShiftRightSigned;
        let number = if is_signed { self.sign_extend(wide, x) } else { self.zero_extend(wide, x) };
        let count = self.zero_extend(wide, count);
        let node = match operator {
            BinaryOperator::ShiftLeft => self.graph.shift_left(number.node, count.node),
            BinaryOperator::ShiftRight => self.graph.shift_right(number.node, count.node),
            _ => self.graph.shift_right_signed(number.node, count.node),
        };
        let shifted = self.term(node);
        self.slice(&shifted, 0, x.bits)
    }

    /// Rotates by shifting in both directions, in a width that holds the number, the count and the number's width.
    fn rotate(&mut self, operator: BinaryOperator, x: &Term, count: &Term) -> Term {
        let wide = x.bits.max(count.bits).max(8);
        let (number, count) = (self.zero_extend(wide, x), self.zero_extend(wide, count));
        let width = self.constant(wide, u64::from(x.bits));
        let count = self.binary(BinaryOperator::Remainder, &count, &width);
        let rest = self.binary(BinaryOperator::Subtract, &width, &count);
        let (left, right) = if operator == BinaryOperator::RotateLeft { (count, rest) } else { (rest, count) };
        let high = self.binary(BinaryOperator::ShiftLeft, &number, &left);
        let low = self.binary(BinaryOperator::ShiftRight, &number, &right);
        let both = self.binary(BinaryOperator::Or, &high, &low);
        self.slice(&both, 0, x.bits)
    }

    pub(crate) fn slice(&mut self, x: &Term, low: u32, bits: u32) -> Term {
        let node = self.graph.slice(x.node, low, bits);
        self.term(node)
    }

    pub(crate) fn join(&mut self, high: &Term, low: &Term) -> Term {
        self.join_all(&[*high, *low])
    }

    /// Joins values, the first highest. There must be one.
    pub(crate) fn join_all(&mut self, parts: &[Term]) -> Term {
        let nodes: Vec<Node> = parts.iter().map(|part| part.node).collect();
        let node = self.graph.join(&nodes);
        self.term(node)
    }

    pub(crate) fn zero_extend(&mut self, bits: u32, x: &Term) -> Term {
        let node = self.graph.zero_extend(bits, x.node);
        self.term(node)
    }

    pub(crate) fn sign_extend(&mut self, bits: u32, x: &Term) -> Term {
        let node = self.graph.sign_extend(bits, x.node);
        self.term(node)
    }

    /// Converts a number to a width: its lowest bits, or with zeros or its sign above.
    pub(crate) fn fit(&mut self, bits: u32, x: &Term, is_signed: bool) -> Term {
        match () {
            () if bits <= x.bits => self.slice(x, 0, bits),
            () if is_signed => self.sign_extend(bits, x),
            () => self.zero_extend(bits, x),
        }
    }

    pub(crate) fn add(&mut self, x: &Term, amount: u64) -> Term {
        let amount = self.constant(x.bits, amount);
        self.binary(BinaryOperator::Add, x, &amount)
    }

    pub(crate) fn get(&mut self, table: &Table, index: &Term) -> Term {
        let node = self.look_up(&table.cells, index.node);
        self.term(node)
    }

    fn look_up(&mut self, cells: &Cells, index: Node) -> Node {
        match cells {
            Cells::Unknown(name) => self.graph.apply(name, vec![index]),
            Cells::Set(rest, condition, at, value) => {
                let same = self.graph.equal(*at, index);
                let here = self.graph.and(condition.0, same);
                let other = self.look_up(rest, index);
                self.graph.choose(here, *value, other)
            }
            Cells::Choose(condition, x, y) => {
                let (x, y) = (self.look_up(x, index), self.look_up(y, index));
                self.graph.choose(condition.0, x, y)
            }
        }
    }

    /// Returns the table with one entry replaced where the condition holds.
    pub(crate) fn set(&mut self, table: &Table, condition: &Condition, index: &Term, value: &Term) -> Table {
        if condition.is_never() {
            return table.clone();
        }
        let cells = Cells::Set(table.cells.clone(), *condition, index.node, value.node);
        Table { cells: Rc::new(cells), ..table.clone() }
    }

    /// Chooses one table or the other.
    pub(crate) fn choose_table(&mut self, condition: &Condition, x: &Table, y: &Table) -> Table {
        match self.graph.as_constant(condition.0) {
            Some(1) => x.clone(),
            Some(_) => y.clone(),
            None if x == y => x.clone(),
            None => {
                let cells = Cells::Choose(*condition, x.cells.clone(), y.cells.clone());
                Table { cells: Rc::new(cells), ..x.clone() }
            }
        }
    }

    pub(crate) fn under(&mut self, facts: &mut Facts, term: &Term) -> Term {
        Term { bits: term.bits, node: self.graph.under(facts, term.node) }
    }

    pub(crate) fn condition_under(&mut self, facts: &mut Facts, condition: Condition) -> Condition {
        Condition(self.graph.under(facts, condition.0))
    }

    /// Simplifies a table by known facts.
    pub(crate) fn table_under(&mut self, facts: &mut Facts, table: &Table) -> Table {
        Table { cells: self.cells_under(facts, &table.cells), ..table.clone() }
    }

    fn cells_under(&mut self, facts: &mut Facts, cells: &Rc<Cells>) -> Rc<Cells> {
        match &**cells {
            Cells::Unknown(_) => cells.clone(),
            Cells::Set(rest, condition, index, value) => {
                let (rest, condition) = (self.cells_under(facts, rest), self.condition_under(facts, *condition));
                if condition.is_never() {
                    return rest;
                }
                let (index, value) = (self.graph.under(facts, *index), self.graph.under(facts, *value));
                Rc::new(Cells::Set(rest, condition, index, value))
            }
            Cells::Choose(condition, x, y) => {
                let condition = self.condition_under(facts, *condition);
                match self.graph.as_constant(condition.0) {
                    Some(1) => self.cells_under(facts, x),
                    Some(_) => self.cells_under(facts, y),
                    None => {
                        let (x, y) = (self.cells_under(facts, x), self.cells_under(facts, y));
                        if x == y { x } else { Rc::new(Cells::Choose(condition, x, y)) }
                    }
                }
            }
        }
    }
}
