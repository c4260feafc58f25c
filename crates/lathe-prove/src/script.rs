//! Text for a solver, in SMT-LIB: bit vectors, and functions for memories. Every value that is more than a name gets a name
//! of its own, so that what is used twice is written once.

use std::fmt::Write as _;

use lathe_base::Width;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};

/// A script that is being written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    text: String,
    names: usize,
}

/// A bit vector: a constant or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) bits: u32,
    pub(crate) text: String,
}

/// A condition: `true`, `false` or a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition(pub(crate) String);

/// Cells by address, or events by number: the name of a function of one argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) index: u32,
    pub(crate) bits: u32,
    pub(crate) name: String,
}

impl Term {
    pub(crate) fn constant(bits: u32, value: u64) -> Term {
        let digits = bits as usize;
        let wrapped = Width::new(u64::from(bits)).map_or(value, |width| width.wrap(value));
        Term { bits, text: format!("#b{wrapped:0digits$b}") }
    }

    pub(crate) fn is(&self, value: u64) -> bool {
        *self == Term::constant(self.bits, value)
    }
}

impl Condition {
    pub(crate) fn always() -> Condition {
        Condition("true".to_owned())
    }

    pub(crate) fn never() -> Condition {
        Condition("false".to_owned())
    }

    pub(crate) fn is_always(&self) -> bool {
        self.0 == "true"
    }

    pub(crate) fn is_never(&self) -> bool {
        self.0 == "false"
    }
}

/// The sort of a bit vector.
pub(crate) fn sort(bits: u32) -> String {
    format!("(_ BitVec {bits})")
}

impl Script {
    pub(crate) fn finish(self) -> String {
        self.text
    }

    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}.{}", self.names)
    }

    /// Something of which nothing is known.
    pub(crate) fn unknown(&mut self, name: &str, bits: u32) -> Term {
        let _ = writeln!(self.text, "(declare-fun |{name}| () {})", sort(bits));
        Term { bits, text: format!("|{name}|") }
    }

    /// A table of which nothing is known.
    pub(crate) fn unknown_table(&mut self, name: &str, index: u32, bits: u32) -> Table {
        let _ = writeln!(self.text, "(declare-fun |{name}| ({}) {})", sort(index), sort(bits));
        Table { index, bits, name: format!("|{name}|") }
    }

    /// A name for a value.
    pub(crate) fn define(&mut self, bits: u32, body: String) -> Term {
        if !body.starts_with('(') {
            return Term { bits, text: body };
        }
        let name = self.fresh("v");
        let _ = writeln!(self.text, "(declare-fun {name} () {})\n(assert (= {name} {body}))", sort(bits));
        Term { bits, text: name }
    }

    /// A name for a condition.
    pub(crate) fn condition(&mut self, body: String) -> Condition {
        if !body.starts_with('(') {
            return Condition(body);
        }
        let name = self.fresh("c");
        let _ = writeln!(self.text, "(declare-fun {name} () Bool)\n(assert (= {name} {body}))");
        Condition(name)
    }

    pub(crate) fn holds(&mut self, bit: &Term) -> Condition {
        match bit.text.as_str() {
            "#b1" => Condition::always(),
            "#b0" => Condition::never(),
            text => self.condition(format!("(= {text} #b1)")),
        }
    }

    pub(crate) fn bit(&mut self, condition: &Condition) -> Term {
        match condition.0.as_str() {
            "true" => Term::constant(1, 1),
            "false" => Term::constant(1, 0),
            text => self.define(1, format!("(ite {text} #b1 #b0)")),
        }
    }

    pub(crate) fn and(&mut self, x: &Condition, y: &Condition) -> Condition {
        match () {
            () if x.is_never() || y.is_always() => x.clone(),
            () if y.is_never() || x.is_always() => y.clone(),
            () => self.condition(format!("(and {} {})", x.0, y.0)),
        }
    }

    pub(crate) fn or(&mut self, x: &Condition, y: &Condition) -> Condition {
        match () {
            () if x.is_always() || y.is_never() => x.clone(),
            () if y.is_always() || x.is_never() => y.clone(),
            () => self.condition(format!("(or {} {})", x.0, y.0)),
        }
    }

    pub(crate) fn not(&mut self, x: &Condition) -> Condition {
        match () {
            () if x.is_always() => Condition::never(),
            () if x.is_never() => Condition::always(),
            () => self.condition(format!("(not {})", x.0)),
        }
    }

    /// Where the first holds, the second does.
    pub(crate) fn implies(&mut self, x: &Condition, y: &Condition) -> Condition {
        let unless = self.not(x);
        self.or(&unless, y)
    }

    pub(crate) fn equal(&mut self, x: &Term, y: &Term) -> Condition {
        if x == y { Condition::always() } else { self.condition(format!("(= {} {})", x.text, y.text)) }
    }

    pub(crate) fn choose(&mut self, condition: &Condition, x: &Term, y: &Term) -> Term {
        match () {
            () if condition.is_always() || x == y => x.clone(),
            () if condition.is_never() => y.clone(),
            () => self.define(x.bits, format!("(ite {} {} {})", condition.0, x.text, y.text)),
        }
    }

    pub(crate) fn unary(&mut self, operator: UnaryOperator, x: &Term) -> Term {
        let name = match operator {
            UnaryOperator::Not => "bvnot",
            UnaryOperator::Negate => "bvneg",
        };
        self.define(x.bits, format!("({name} {})", x.text))
    }

    pub(crate) fn binary(&mut self, operator: BinaryOperator, x: &Term, y: &Term) -> Term {
        use BinaryOperator::*;
        let plain = |name: &str| format!("({name} {} {})", x.text, y.text);
        let comparison = |test: String| format!("(ite {test} #b1 #b0)");
        let body = match operator {
            Add => plain("bvadd"),
            Subtract => plain("bvsub"),
            Multiply => plain("bvmul"),
            And => plain("bvand"),
            Or => plain("bvor"),
            Xor => plain("bvxor"),
            // SMT-LIB agrees about what a division by zero gives, except in the signed one.
            Divide => plain("bvudiv"),
            Remainder => plain("bvurem"),
            DivideSigned => {
                let (none, ones) = (Term::constant(x.bits, 0), Term::constant(x.bits, u64::MAX));
                format!("(ite (= {} {}) {} {})", y.text, none.text, ones.text, plain("bvsdiv"))
            }
            RemainderSigned => plain("bvsrem"),
            ShiftLeft | ShiftRight | ShiftRightSigned => return self.shift(operator, x, y),
            RotateLeft | RotateRight => return self.rotate(operator, x, y),
            Equal => comparison(plain("=")),
            Unequal => comparison(plain("distinct")),
            Less => comparison(plain("bvult")),
            LessOrEqual => comparison(plain("bvule")),
            LessSigned => comparison(plain("bvslt")),
            LessOrEqualSigned => comparison(plain("bvsle")),
        };
        let bits = if operator.is_comparison() { 1 } else { x.bits };
        self.define(bits, body)
    }

    /// Shifts in a width that holds the number and the count.
    fn shift(&mut self, operator: BinaryOperator, x: &Term, count: &Term) -> Term {
        let wide = x.bits.max(count.bits);
        let (name, is_signed) = match operator {
            BinaryOperator::ShiftLeft => ("bvshl", false),
            BinaryOperator::ShiftRight => ("bvlshr", false),
            _ => ("bvashr", true),
        };
        let number = if is_signed { self.sign_extend(wide, x) } else { self.zero_extend(wide, x) };
        let count = self.zero_extend(wide, count);
        let shifted = self.define(wide, format!("({name} {} {})", number.text, count.text));
        self.slice(&shifted, 0, x.bits)
    }

    /// Rotates by shifting in both directions, in a width that holds the number, the count and the number's width.
    fn rotate(&mut self, operator: BinaryOperator, x: &Term, count: &Term) -> Term {
        let wide = x.bits.max(count.bits).max(8);
        let (number, count) = (self.zero_extend(wide, x), self.zero_extend(wide, count));
        let width = Term::constant(wide, u64::from(x.bits));
        let count = self.define(wide, format!("(bvurem {} {})", count.text, width.text));
        let rest = self.define(wide, format!("(bvsub {} {})", width.text, count.text));
        let (left, right) = if operator == BinaryOperator::RotateLeft { (count, rest) } else { (rest, count) };
        let high = self.define(wide, format!("(bvshl {} {})", number.text, left.text));
        let low = self.define(wide, format!("(bvlshr {} {})", number.text, right.text));
        let both = self.define(wide, format!("(bvor {} {})", high.text, low.text));
        self.slice(&both, 0, x.bits)
    }

    pub(crate) fn slice(&mut self, x: &Term, low: u32, bits: u32) -> Term {
        if low == 0 && bits == x.bits {
            return x.clone();
        }
        self.define(bits, format!("((_ extract {} {low}) {})", low + bits - 1, x.text))
    }

    pub(crate) fn join(&mut self, high: &Term, low: &Term) -> Term {
        self.define(high.bits + low.bits, format!("(concat {} {})", high.text, low.text))
    }

    /// All of them, the first highest. There must be one.
    pub(crate) fn join_all(&mut self, parts: &[Term]) -> Term {
        let mut whole = parts[0].clone();
        for part in &parts[1..] {
            whole = self.join(&whole, part);
        }
        whole
    }

    pub(crate) fn zero_extend(&mut self, bits: u32, x: &Term) -> Term {
        if bits == x.bits {
            return x.clone();
        }
        self.define(bits, format!("((_ zero_extend {}) {})", bits - x.bits, x.text))
    }

    pub(crate) fn sign_extend(&mut self, bits: u32, x: &Term) -> Term {
        if bits == x.bits {
            return x.clone();
        }
        self.define(bits, format!("((_ sign_extend {}) {})", bits - x.bits, x.text))
    }

    /// So many bits of a number: its lowest, or with zeros or its sign above.
    pub(crate) fn fit(&mut self, bits: u32, x: &Term, is_signed: bool) -> Term {
        match () {
            () if bits <= x.bits => self.slice(x, 0, bits),
            () if is_signed => self.sign_extend(bits, x),
            () => self.zero_extend(bits, x),
        }
    }

    pub(crate) fn add(&mut self, x: &Term, amount: u64) -> Term {
        let amount = Term::constant(x.bits, amount);
        if amount.is(0) { x.clone() } else { self.binary(BinaryOperator::Add, x, &amount) }
    }

    pub(crate) fn get(&mut self, table: &Table, index: &Term) -> Term {
        self.define(table.bits, format!("({} {})", table.name, index.text))
    }

    /// The table with one entry replaced, where the condition holds.
    pub(crate) fn set(&mut self, table: &Table, condition: &Condition, index: &Term, value: &Term) -> Table {
        if condition.is_never() {
            return table.clone();
        }
        let name = self.fresh("t");
        let _ = writeln!(
            self.text,
            "(define-fun {name} ((x {})) {} (ite (and {} (= x {})) {} ({} x)))",
            sort(table.index),
            sort(table.bits),
            condition.0,
            index.text,
            value.text,
            table.name
        );
        Table { name, ..table.clone() }
    }

    /// One table or the other.
    pub(crate) fn choose_table(&mut self, condition: &Condition, x: &Table, y: &Table) -> Table {
        match () {
            () if condition.is_always() || x == y => x.clone(),
            () if condition.is_never() => y.clone(),
            () => {
                let name = self.fresh("t");
                let _ = writeln!(
                    self.text,
                    "(define-fun {name} ((x {})) {} (ite {} ({} x) ({} x)))",
                    sort(x.index),
                    sort(x.bits),
                    condition.0,
                    x.name,
                    y.name
                );
                Table { name, ..x.clone() }
            }
        }
    }
}
