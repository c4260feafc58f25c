//! The value of a rule's production: bits, each of them fixed or a bit of an operand. Anything beyond moving bits and
//! taking the distance between addresses is refused with a reason.

use std::collections::{BTreeMap, BTreeSet};

use super::reading::Expr;

/// The longest value, in bits: the length of the longest instruction.
pub(super) const LONGEST: u32 = lathe_base::limits::INSTRUCTION_BITS as u32;

/// One bit of an encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    Fixed(bool),
    /// A bit of an operand, counted from the least significant.
    Of(usize, u32),
}

/// A value in the evaluation of a production.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number {
        value: i128,
        size: Option<u32>,
    },
    /// Bits, least significant first. Without a size, zeros follow above them.
    Bits {
        bits: Vec<Bit>,
        is_sized: bool,
    },
    Sum(Sum),
    Condition(Condition),
    Nothing,
}

/// An operand, an address, or the distance between them, plus a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    /// The operand, and whether it is subtracted.
    operand: Option<(usize, bool)>,
    /// How often the instruction's address is added.
    here: i8,
    constant: i128,
    /// The size that the operand was declared with.
    size: Option<u32>,
}

/// What an assertion says.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// An operand, or a distance to it, is at least or at most this.
    AtLeast(Sum, i128),
    AtMost(Sum, i128),
    /// These bits of an operand have this value.
    Is {
        operand: usize,
        mask: i128,
        value: i128,
    },
    /// Two operands are equal.
    Same(usize, usize),
    /// An operand is in this page.
    SamePage(usize, Page),
    Unknown,
}

/// A page of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// The page of the address this many cells after the instruction.
    After(i128),
    /// The page of this address.
    Of(i128),
}

/// What is known about the operands of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) distances: BTreeMap<usize, Distance>,
    pub(super) least: BTreeMap<usize, i128>,
    pub(super) most: BTreeMap<usize, i128>,
    pub(super) pages: BTreeMap<usize, Page>,
    /// An operand, a mask, and a value that the masked bits must not have.
    pub(super) excluded: Vec<(usize, i128, i128)>,
    /// Operands, with a mask and the value that the masked bits must have.
    pub(super) equal: BTreeMap<usize, (i128, i128)>,
    /// Operands, with a mask and the values of which the masked bits must have one.
    pub(super) listed: BTreeMap<usize, (i128, BTreeSet<i128>)>,
    /// Pairs of operands that must be equal, or must differ, the lower number first.
    pub(super) alike: BTreeMap<(usize, usize), bool>,
    /// Conditions under which, if all hold, a line belongs to another row.
    pub(super) left: Vec<Vec<Condition>>,
    /// Whether an assertion could not be understood.
    pub(super) has_unknown: bool,
    /// Whether an assertion never holds.
    pub(super) is_impossible: bool,
}

/// An operand that is written as an address and stored as the distance from `after` cells after the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
    pub(super) is_back: bool,
    pub(super) after: i128,
}

/// Names and what they stand for.
pub(super) type Names<'s> = BTreeMap<&'s str, Value>;

/// Returns a parameter of a rule as a value.
pub(super) fn operand(number: usize, size: Option<u32>) -> Value {
    Value::Sum(Sum { operand: Some((number, false)), here: 0, constant: 0, size })
}

/// Returns what is added to an operand, if nothing else is done with it.
pub(super) fn added(value: &Value, number: usize) -> Option<i128> {
    match value {
        Value::Sum(Sum { operand: Some((operand, false)), here: 0, constant, .. }) if *operand == number => {
            Some(*constant)
        }
        _ => None,
    }
}

/// Evaluates a production.
pub(super) fn evaluate<'s>(expr: &Expr<'s>, names: &mut Names<'s>, facts: &mut Facts) -> Result<Value, String> {
    match expr {
        Expr::Number(value, size) => Ok(Value::Number { value: *value, size: *size }),
        Expr::Text => Ok(Value::Nothing),
        Expr::Name(name) => names.get(name).cloned().ok_or_else(|| format!("`{name}` is not known here")),
        Expr::Here => Ok(Value::Sum(Sum { operand: None, here: 1, constant: 0, size: None })),
        Expr::Unary(operator, inner) => unary(operator, evaluate(inner, names, facts)?),
        Expr::Binary(operator, left, right) => {
            if let Some(page) = same_page(operator, left, right, names, facts) {
                return Ok(Value::Condition(page));
            }
            let (left, right) = (evaluate(left, names, facts)?, evaluate(right, names, facts)?);
            binary(operator, left, right, facts)
        }
        Expr::Slice(inner, high, low) => {
            let inner = evaluate(inner, names, facts)?;
            let (high, low) = (small(high, names, facts)?, small(low, names, facts)?);
            if high < low || high >= 128 {
                return Err(format!("[{high}:{low}] are no bits"));
            }
            let bits = bits(inner, high + 1, facts)?;
            Ok(Value::Bits { bits: bits[low as usize..].to_vec(), is_sized: true })
        }
        Expr::Size(inner, size) => {
            let (inner, size) = (evaluate(inner, names, facts)?, small(size, names, facts)?);
            if size == 0 || size > LONGEST {
                return Err(format!("a value of {size} bits"));
            }
            match inner {
                Value::Number { value, .. } => Ok(Value::Number { value, size: Some(size) }),
                inner => Ok(Value::Bits { bits: bits(inner, size, facts)?, is_sized: true }),
            }
        }
        Expr::Call(name, arguments) => call(name, arguments, names, facts),
        Expr::Assign(name, value) => {
            let value = evaluate(value, names, facts)?;
            names.insert(name, value);
            Ok(Value::Nothing)
        }
        Expr::Block(all) => {
            let mut last = Value::Nothing;
            for one in all {
                last = evaluate(one, names, facts)?;
            }
            Ok(last)
        }
    }
}

/// Returns all bits of a value with a size, least significant first.
pub(super) fn sized(value: Value, facts: &mut Facts) -> Result<Vec<Bit>, String> {
    let size = match &value {
        Value::Number { size, .. } | Value::Sum(Sum { size, .. }) => *size,
        Value::Bits { bits, is_sized } => is_sized.then_some(bits.len() as u32),
        Value::Condition(_) | Value::Nothing => None,
    };
    let size = size.ok_or("a part of its value has no size")?;
    bits(value, size, facts)
}

/// Returns the lowest bits of a value.
fn bits(value: Value, size: u32, facts: &mut Facts) -> Result<Vec<Bit>, String> {
    if size > LONGEST {
        return Err(format!("it has more than {LONGEST} bits"));
    }
    match value {
        Value::Number { value, .. } => Ok((0..size).map(|bit| Bit::Fixed(value >> bit.min(127) & 1 == 1)).collect()),
        Value::Bits { mut bits, .. } => {
            bits.resize(size as usize, Bit::Fixed(false));
            Ok(bits)
        }
        Value::Sum(sum) => sum_bits(sum, size, facts),
        Value::Condition(_) | Value::Nothing => Err("a condition has no bits".to_owned()),
    }
}

fn sum_bits(sum: Sum, size: u32, facts: &mut Facts) -> Result<Vec<Bit>, String> {
    let Some((operand, is_back)) = sum.operand else {
        return Err("it holds its own address".to_owned());
    };
    let distance = sum.distance();
    if let Some(distance) = distance
        && facts.distances.insert(operand, distance).is_some_and(|other| other != distance)
    {
        return Err("it counts one operand from two places".to_owned());
    }
    if distance.is_none() && (is_back || sum.here != 0 || sum.constant != 0) {
        return Err("it computes with an operand; only distances between addresses can be carried over".to_owned());
    }
    Ok((0..size).map(|bit| Bit::Of(operand, bit)).collect())
}

impl Sum {
    fn distance(self) -> Option<Distance> {
        match (self.operand?.1, self.here) {
            (false, -1) => Some(Distance { is_back: false, after: -self.constant }),
            (true, 1) => Some(Distance { is_back: true, after: self.constant }),
            _ => None,
        }
    }

    fn negated(self) -> Sum {
        let operand = self.operand.map(|(number, is_back)| (number, !is_back));
        Sum { operand, here: -self.here, constant: -self.constant, size: None }
    }

    fn plus(self, other: Sum) -> Result<Sum, String> {
        let operand = match (self.operand, other.operand) {
            (Some(_), Some(_)) => return Err("it computes with two operands".to_owned()),
            (one, other) => one.or(other),
        };
        let constant = self.constant.checked_add(other.constant).ok_or("a number in it is too large")?;
        Ok(Sum { operand, here: self.here.saturating_add(other.here), constant, size: None })
    }
}

fn sum(value: &Value) -> Option<Sum> {
    match value {
        Value::Number { value, .. } => Some(Sum { operand: None, here: 0, constant: *value, size: None }),
        Value::Sum(sum) => Some(*sum),
        _ => None,
    }
}

fn unary(operator: &str, value: Value) -> Result<Value, String> {
    match (operator, value) {
        ("-", Value::Number { value, .. }) => Ok(Value::Number { value: value.saturating_neg(), size: None }),
        ("!", Value::Number { value, .. }) => Ok(Value::Number { value: !value, size: None }),
        ("-", Value::Sum(sum)) => Ok(Value::Sum(sum.negated())),
        ("!", Value::Condition(inner)) => Ok(Value::Condition(Condition::Not(Box::new(inner)))),
        _ => Err(format!("it computes `{operator}` of an operand")),
    }
}

fn binary(operator: &str, left: Value, right: Value, facts: &mut Facts) -> Result<Value, String> {
    if operator == "@" {
        let mut low = sized(right, facts)?;
        low.extend(sized(left, facts)?);
        if low.len() > LONGEST as usize {
            return Err(format!("it has more than {LONGEST} bits"));
        }
        return Ok(Value::Bits { bits: low, is_sized: true });
    }
    if let (Value::Number { value: x, .. }, Value::Number { value: y, .. }) = (&left, &right) {
        return arithmetic(operator, *x, *y);
    }
    match operator {
        "&&" | "||" => {
            let (Value::Condition(left), Value::Condition(right)) = (left, right) else {
                return Ok(Value::Condition(Condition::Unknown));
            };
            let both = vec![left, right];
            Ok(Value::Condition(if operator == "&&" { Condition::All(both) } else { Condition::Any(both) }))
        }
        "==" | "!=" | "<" | "<=" | ">" | ">=" => Ok(Value::Condition(comparison(operator, &left, &right))),
        "+" | "-" if sum(&left).is_some() && sum(&right).is_some() => {
            let (Some(left), Some(right)) = (sum(&left), sum(&right)) else { return Ok(Value::Nothing) };
            Ok(Value::Sum(left.plus(if operator == "-" { right.negated() } else { right })?))
        }
        "&" => and(left, right),
        "<<" | ">>" | "|" | "+" | "^" => moved(operator, left, right, facts),
        _ => Err(format!("it computes `{operator}` with an operand")),
    }
}

fn arithmetic(operator: &str, x: i128, y: i128) -> Result<Value, String> {
    let shift = u32::try_from(y).ok().filter(|shift| *shift < 127);
    let truth =
        |holds: bool| Ok(Value::Condition(if holds { Condition::All(Vec::new()) } else { Condition::Any(Vec::new()) }));
    let value = match operator {
        "+" => x.checked_add(y),
        "-" => x.checked_sub(y),
        "*" => x.checked_mul(y),
        "/" => x.checked_div(y),
        "%" => x.checked_rem(y),
        "&" => Some(x & y),
        "|" => Some(x | y),
        "^" => Some(x ^ y),
        "<<" => shift.and_then(|shift| x.checked_mul(1i128 << shift)),
        ">>" => shift.map(|shift| x >> shift),
        "==" => return truth(x == y),
        "!=" => return truth(x != y),
        "<" => return truth(x < y),
        "<=" => return truth(x <= y),
        ">" => return truth(x > y),
        ">=" => return truth(x >= y),
        _ => return Ok(Value::Condition(Condition::Unknown)),
    };
    let value = value.ok_or_else(|| format!("`{operator}` of {x} and {y} is no number"))?;
    Ok(Value::Number { value, size: None })
}

/// Evaluates `x & 0xFF`: the lowest bits. Of a distance, this says only that addresses wrap.
fn and(left: Value, right: Value) -> Result<Value, String> {
    let (value, mask) = match (left, right) {
        (value, Value::Number { value: mask, .. }) | (Value::Number { value: mask, .. }, value) => (value, mask),
        _ => return Err("it computes `&` of two operands".to_owned()),
    };
    match value {
        Value::Sum(sum) if sum.here != 0 => Ok(Value::Sum(Sum { size: None, ..sum })),
        Value::Sum(Sum { operand: Some((_, false)), constant: 0, size: Some(size), .. })
            if size < 127 && mask & ((1 << size) - 1) == (1 << size) - 1 =>
        {
            Ok(value)
        }
        Value::Sum(sum @ Sum { operand: Some((operand, false)), constant: 0, .. }) if mask >= 0 => {
            let limit = sum.size.unwrap_or(64);
            let bit = |bit: u32| if mask >> bit & 1 == 1 { Bit::Of(operand, bit) } else { Bit::Fixed(false) };
            Ok(Value::Bits { bits: (0..limit).map(bit).collect(), is_sized: false })
        }
        Value::Bits { mut bits, .. } if mask >= 0 => {
            for (number, bit) in bits.iter_mut().enumerate() {
                if mask >> number.min(127) & 1 == 0 {
                    *bit = Bit::Fixed(false);
                }
            }
            Ok(Value::Bits { bits, is_sized: false })
        }
        _ => Err("it computes `&` with an operand".to_owned()),
    }
}

/// Evaluates shifts, and sums of bits that are never both 1 in the same place.
fn moved(operator: &str, left: Value, right: Value, facts: &mut Facts) -> Result<Value, String> {
    let mut width = |value: Value| -> Result<Vec<Bit>, String> {
        let size = match &value {
            Value::Number { value, .. } if *value >= 0 => 128 - value.leading_zeros(),
            Value::Bits { bits, .. } => bits.len() as u32,
            Value::Sum(Sum { size: Some(size), .. }) => *size,
            _ => return Err(format!("it computes `{operator}` with an operand of no size")),
        };
        bits(value, size.min(LONGEST), facts)
    };
    if let ("<<" | ">>", Value::Number { value: shift, .. }) = (operator, &right) {
        let shift = usize::try_from(*shift).ok().filter(|shift| *shift <= 64).ok_or("a shift in it is too large")?;
        let mut bits = width(left)?;
        if operator == "<<" {
            bits.splice(0..0, std::iter::repeat_n(Bit::Fixed(false), shift));
        } else {
            bits.drain(..shift.min(bits.len()));
        }
        return Ok(Value::Bits { bits, is_sized: false });
    }
    if ["<<", ">>"].contains(&operator) {
        return Err("it shifts by an operand".to_owned());
    }
    let (mut left, mut right) = (width(left)?, width(right)?);
    let length = left.len().max(right.len());
    left.resize(length, Bit::Fixed(false));
    right.resize(length, Bit::Fixed(false));
    let joined = left.into_iter().zip(right).map(|pair| match pair {
        (Bit::Fixed(false), bit) | (bit, Bit::Fixed(false)) => Ok(bit),
        (Bit::Fixed(true), Bit::Fixed(true)) if operator == "|" => Ok(Bit::Fixed(true)),
        _ => Err(format!("it computes `{operator}` with an operand")),
    });
    Ok(Value::Bits { bits: joined.collect::<Result<_, _>>()?, is_sized: false })
}

fn comparison(operator: &str, left: &Value, right: &Value) -> Condition {
    let (Value::Number { value, .. }, other, operator) = (match (left, right) {
        (other, number @ Value::Number { .. }) => (number, other, operator),
        (number @ Value::Number { .. }, other) => {
            let turned = match operator {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
            (number, other, turned)
        }
        _ => return same(operator, left, right),
    }) else {
        return Condition::Unknown;
    };
    let equal = |is: Condition| if operator == "==" { is } else { Condition::Not(Box::new(is)) };
    match (operator, other) {
        (">=", Value::Sum(sum)) => Condition::AtLeast(*sum, *value),
        (">", Value::Sum(sum)) => Condition::AtLeast(*sum, value.saturating_add(1)),
        ("<=", Value::Sum(sum)) => Condition::AtMost(*sum, *value),
        ("<", Value::Sum(sum)) => Condition::AtMost(*sum, value.saturating_sub(1)),
        ("==" | "!=", Value::Sum(Sum { operand: Some((operand, false)), here: 0, constant: 0, .. })) => {
            equal(Condition::Is { operand: *operand, mask: -1, value: *value })
        }
        ("==" | "!=", Value::Bits { bits, .. }) => match masked(bits) {
            Some((operand, mask)) => equal(Condition::Is { operand, mask, value: *value }),
            None => Condition::Unknown,
        },
        _ => Condition::Unknown,
    }
}

/// Compares two operands with each other.
fn same(operator: &str, left: &Value, right: &Value) -> Condition {
    let whole = |value: &Value| match value {
        Value::Sum(Sum { operand: Some((operand, false)), here: 0, constant: 0, .. }) => Some(*operand),
        _ => None,
    };
    match (operator, whole(left), whole(right)) {
        ("==" | "!=", Some(left), Some(right)) if left != right => {
            let same = Condition::Same(left.min(right), left.max(right));
            if operator == "==" { same } else { Condition::Not(Box::new(same)) }
        }
        _ => Condition::Unknown,
    }
}

/// Returns the mask of one operand's bits, if all are in their own places.
fn masked(bits: &[Bit]) -> Option<(usize, i128)> {
    let mut operand = None;
    let mut mask = 0;
    for (place, bit) in bits.iter().enumerate() {
        match bit {
            Bit::Fixed(false) => {}
            Bit::Of(number, bit) if *bit as usize == place && operand.is_none_or(|known| known == *number) => {
                operand = Some(*number);
                mask |= 1i128 << place.min(126);
            }
            _ => return None,
        }
    }
    Some((operand?, mask))
}

/// Recognizes `(address >> 8) == (($ + 2) >> 8)`.
fn same_page<'s>(
    operator: &str,
    left: &Expr<'s>,
    right: &Expr<'s>,
    names: &mut Names<'s>,
    facts: &mut Facts,
) -> Option<Condition> {
    let (Expr::Binary(">>", left, x), Expr::Binary(">>", right, y), "==") = (left, right, operator) else {
        return None;
    };
    let (bits, others) = (small(x, names, facts).ok()?, small(y, names, facts).ok()?);
    let left = sum(&evaluate(left, names, facts).ok()?)?;
    let right = sum(&evaluate(right, names, facts).ok()?)?;
    let is_page = bits == others && (left.here, left.constant, right.operand) == (0, 0, None);
    let (operand, false) = left.operand.filter(|_| is_page)? else { return None };
    let page = if right.here == 1 { Page::After(right.constant) } else { Page::Of(right.constant) };
    Some(Condition::SamePage(operand, page))
}

fn call<'s>(name: &str, arguments: &[Expr<'s>], names: &mut Names<'s>, facts: &mut Facts) -> Result<Value, String> {
    let Some(first) = arguments.first() else { return Err(format!("`{name}()` is not known")) };
    match name {
        "assert" => {
            match evaluate(first, names, facts) {
                Ok(Value::Condition(condition)) => facts.assume(&condition),
                // Its bits already make a number a multiple.
                _ => facts.has_unknown |= !is_remainder(first),
            }
            Ok(Value::Nothing)
        }
        "le" => {
            let value = evaluate(first, names, facts)?;
            let bits = sized(value, facts)?;
            if !bits.len().is_multiple_of(8) {
                return Err("`le` wants whole bytes".to_owned());
            }
            let turned = bits.chunks(8).rev().flatten().copied().collect();
            Ok(Value::Bits { bits: turned, is_sized: true })
        }
        _ => Err(format!("`{name}()` is not known")),
    }
}

/// Whether this is `x % 4 == 0`.
fn is_remainder(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary("==", left, _) if matches!(**left, Expr::Binary("%", ..)))
}

/// Whether this asserts that a number is a multiple.
pub(super) fn is_multiple(expr: &Expr) -> bool {
    matches!(expr, Expr::Call("assert", arguments) if arguments.first().is_some_and(is_remainder))
}

fn small<'s>(expr: &Expr<'s>, names: &mut Names<'s>, facts: &mut Facts) -> Result<u32, String> {
    match evaluate(expr, names, facts)? {
        Value::Number { value, .. } => u32::try_from(value).map_err(|_| format!("{value} bits")),
        _ => Err("how many bits it takes depends on an operand".to_owned()),
    }
}

impl Condition {
    /// Returns whether it holds, if that does not depend on operands.
    fn truth(&self) -> Option<bool> {
        match self {
            Condition::All(all) => all.iter().try_fold(true, |so_far, one| Some(so_far & one.truth()?)),
            Condition::Any(all) => all.iter().try_fold(false, |so_far, one| Some(so_far | one.truth()?)),
            Condition::Not(inner) => inner.truth().map(|holds| !holds),
            _ => None,
        }
    }

    /// Returns the operand, the mask and the values, if this says only that these bits of one operand have one of some
    /// values.
    pub(super) fn values(&self) -> Option<(usize, i128, BTreeSet<i128>)> {
        match self {
            Condition::Is { operand, mask, value } => Some((*operand, *mask, BTreeSet::from([*value]))),
            Condition::Any(cases) => {
                let mut all = cases.iter().map(Condition::values);
                let (operand, mask, mut values) = all.next()??;
                for case in all {
                    let (other, bits, more) = case?;
                    values.extend(more);
                    ((other, bits) == (operand, mask)).then_some(())?;
                }
                Some((operand, mask, values))
            }
            _ => None,
        }
    }

    /// Splits it into conditions that must all hold.
    fn parts(&self) -> Vec<Condition> {
        match self {
            Condition::All(all) => all.iter().flat_map(Condition::parts).collect(),
            other => vec![other.clone()],
        }
    }
}

impl Facts {
    /// Notes what an assertion says, as far as it is understood.
    fn assume(&mut self, condition: &Condition) {
        if let Some(holds) = condition.truth() {
            self.is_impossible |= !holds;
            return;
        }
        match condition {
            Condition::All(all) => all.iter().for_each(|one| self.assume(one)),
            Condition::AtLeast(sum, least) => self.bound(*sum, *least, true),
            Condition::AtMost(sum, most) => self.bound(*sum, *most, false),
            Condition::Any(cases) => match cases.iter().find_map(|case| match case {
                Condition::SamePage(operand, page) => Some((*operand, *page)),
                _ => None,
            }) {
                Some((operand, page)) => drop(self.pages.insert(operand, page)),
                None => match condition.values() {
                    Some(values) => self.list(values),
                    None => self.has_unknown = true,
                },
            },
            Condition::SamePage(operand, page) => drop(self.pages.insert(*operand, *page)),
            Condition::Not(inner) => match &**inner {
                Condition::Is { operand, mask, value } => self.excluded.push((*operand, *mask, *value)),
                Condition::Same(one, other) => self.pair(*one, *other, false),
                Condition::Not(inner) => self.assume(inner),
                Condition::Any(cases) => {
                    cases.iter().for_each(|case| self.assume(&Condition::Not(Box::new(case.clone()))));
                }
                Condition::All(all) => self.left.push(all.iter().flat_map(Condition::parts).collect()),
                _ => self.has_unknown = true,
            },
            Condition::Is { operand, mask, value } => {
                let known = self.equal.insert(*operand, (*mask, *value));
                self.has_unknown |= known.is_some_and(|known| known != (*mask, *value));
            }
            Condition::Same(one, other) => self.pair(*one, *other, true),
            Condition::Unknown => self.has_unknown = true,
        }
    }

    /// Notes that an operand, or a distance, is at least or at most `limit`.
    fn bound(&mut self, sum: Sum, limit: i128, is_least: bool) {
        let Some((operand, is_back)) = sum.operand else { return self.has_unknown = true };
        // The bits of a distance give its range, except whether it can be negative.
        let limit = if sum.here == 0 { limit.saturating_sub(sum.constant) } else { limit };
        let (limit, is_least) =
            if sum.here == 0 && is_back { (limit.saturating_neg(), !is_least) } else { (limit, is_least) };
        let limits = if is_least { &mut self.least } else { &mut self.most };
        let known = limits.entry(operand).or_insert(limit);
        *known = if is_least { limit.max(*known) } else { limit.min(*known) };
    }

    fn list(&mut self, (operand, mask, values): (usize, i128, BTreeSet<i128>)) {
        let (bits, known) = self.listed.entry(operand).or_insert_with(|| (mask, values.clone()));
        if *bits != mask {
            return self.has_unknown = true;
        }
        known.retain(|value| values.contains(value));
        self.is_impossible |= known.is_empty();
    }

    fn pair(&mut self, one: usize, other: usize, is_same: bool) {
        let known = self.alike.insert((one, other), is_same);
        self.is_impossible |= known.is_some_and(|known| known != is_same);
    }

    /// Whether there are conditions on the values of operands.
    pub(super) fn has_conditions(&self) -> bool {
        !(self.excluded.is_empty() && self.equal.is_empty() && self.alike.is_empty())
    }

    /// Whether conditions determine the value of an operand.
    pub(super) fn says(&self, operand: usize) -> bool {
        self.equal.contains_key(&operand) || self.twin(operand).is_some()
    }

    /// Returns an operand that must be equal to this one.
    pub(super) fn twin(&self, operand: usize) -> Option<usize> {
        self.alike.iter().find_map(|((one, other), is_same)| match (*one == operand, *other == operand) {
            (true, _) if *is_same => Some(*other),
            (_, true) if *is_same => Some(*one),
            _ => None,
        })
    }
}
