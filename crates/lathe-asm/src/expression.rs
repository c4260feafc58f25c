//! Expressions of assembly: numbers of 128 bits, names, C's operators.
//!
//! They are kept in one list, each node referring to others by position: a program of a
//! million lines has millions of them. An evaluation never changes a node.

use lathe_base::{Span, Width, limits};
use lathe_isa::language::ast::{Binary, Unary};
use lathe_isa::model::MemoryId;
use lathe_isa::pseudo::{self, Arithmetic};

use crate::symbols::{Definition, SymbolId, Symbols};

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExprId(pub(crate) u32);

/// A number, and the memory it is an address of, if it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) number: i128,
    pub(crate) memory: Option<MemoryId>,
}

impl Value {
    pub(crate) fn number(number: i128) -> Value {
        Value { number, memory: None }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeKind {
    Number(i64),
    /// A number that needs more than 64 bits, in a list of its own.
    Wide(u32),
    Symbol(SymbolId),
    Unary(Unary, ExprId),
    Binary(Binary, ExprId, ExprId),
    Choice(ExprId, ExprId, ExprId),
    /// Bits of a value: the highest and the lowest.
    Slice(ExprId, u8, u8),
    /// A value that must fit as the operand of a pseudo-instruction; an address may stand for its
    /// low bits.
    Fit(ExprId, Fit),
    /// An address that must be in one page, of so many bits, with the instruction so many cells on.
    SamePage(ExprId, Width, u8),
}

/// What an operand of a pseudo-instruction may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) width: Width,
    /// Whether negative numbers fit.
    pub(crate) negative: bool,
    pub(crate) signed: bool,
    pub(crate) low: bool,
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// The name is defined, but its address is not known yet.
    Later(SymbolId, Span),
    /// The name is not defined.
    Undefined(SymbolId, Span),
    /// The name is defined by itself.
    Circular(SymbolId, Span),
    /// Constants defined by one another over too many steps.
    TooDeep(Span),
    /// More than 128 bits, a division by zero, or a shift by a negative number.
    Arithmetic(Span),
    /// An operand of a pseudo-instruction that does not fit.
    Unfit(Span, i128, Fit),
    /// An address in another page than the one that begins here.
    OtherPage(Span, i128, u64, Width),
}

#[derive(Debug, Default)]
pub(crate) struct Expressions {
    nodes: Vec<Node>,
    wide: Vec<i128>,
}

impl Expressions {
    /// Arithmetic of a definition as an expression; `parameter` gives what stands for its parameters.
    pub(crate) fn arithmetic(
        &mut self,
        value: &Arithmetic,
        span: Span,
        parameter: &mut dyn FnMut(usize, &mut Expressions) -> ExprId,
    ) -> ExprId {
        let kind = match value {
            Arithmetic::Number(number) => return self.number(*number, span),
            Arithmetic::Parameter(at) => return parameter(*at, self),
            Arithmetic::Slice(inner, high, low) => {
                NodeKind::Slice(self.arithmetic(inner, span, parameter), *high as u8, *low as u8)
            }
            Arithmetic::Unary(operator, inner) => NodeKind::Unary(*operator, self.arithmetic(inner, span, parameter)),
            Arithmetic::Binary(operator, left, right) => {
                let left = self.arithmetic(left, span, parameter);
                NodeKind::Binary(*operator, left, self.arithmetic(right, span, parameter))
            }
        };
        self.add(kind, span)
    }

    pub(crate) fn add(&mut self, kind: NodeKind, span: Span) -> ExprId {
        self.nodes.push(Node { kind, span });
        ExprId((self.nodes.len() - 1) as u32)
    }

    pub(crate) fn number(&mut self, number: i128, span: Span) -> ExprId {
        let kind = match i64::try_from(number) {
            Ok(small) => NodeKind::Number(small),
            Err(_) => {
                self.wide.push(number);
                NodeKind::Wide((self.wide.len() - 1) as u32)
            }
        };
        self.add(kind, span)
    }

    pub(crate) fn span(&self, id: ExprId) -> Span {
        self.nodes[id.0 as usize].span
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Forgets everything after a length, when a reading turns out not to fit.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.nodes.truncate(length);
    }

    /// The value of an expression in a line at `here`.
    pub(crate) fn value(&self, id: ExprId, here: Option<Value>, symbols: &mut Symbols) -> Result<Value, NoValue> {
        let node = self.nodes[id.0 as usize];
        match node.kind {
            NodeKind::Number(number) => Ok(Value::number(number.into())),
            NodeKind::Wide(at) => Ok(Value::number(self.wide[at as usize])),
            NodeKind::Symbol(symbol) => self.symbol(symbol, node.span, symbols),
            NodeKind::Unary(operator, inner) => {
                let value = self.value(inner, here, symbols)?.number;
                unary(operator, value).map(Value::number).ok_or(NoValue::Arithmetic(node.span))
            }
            NodeKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left, here, symbols)?, self.value(right, here, symbols)?);
                binary(operator, left, right).ok_or(NoValue::Arithmetic(node.span))
            }
            NodeKind::Choice(condition, first, second) => {
                let holds = self.value(condition, here, symbols)?.number != 0;
                self.value(if holds { first } else { second }, here, symbols)
            }
            NodeKind::Slice(inner, high, low) => {
                let value = self.value(inner, here, symbols)?.number >> low;
                let width = u32::from(high - low) + 1;
                Ok(Value::number(if width >= 127 { value } else { value & ((1 << width) - 1) }))
            }
            NodeKind::Fit(inner, fit) => {
                let value = self.value(inner, here, symbols)?;
                fitted(value, fit).ok_or(NoValue::Unfit(node.span, value.number, fit))
            }
            NodeKind::SamePage(inner, width, ahead) => {
                let value = self.value(inner, here, symbols)?;
                let here = here.map_or(0, |here| here.number) + i128::from(ahead);
                let page = here as u64 & !width.mask();
                let plain = value.memory.is_none() && (0..=i128::from(width.mask())).contains(&value.number);
                let same = plain || value.number as u64 & !width.mask() == page;
                same.then_some(value).ok_or(NoValue::OtherPage(node.span, value.number, page, width))
            }
        }
    }

    fn symbol(&self, id: SymbolId, span: Span, symbols: &mut Symbols) -> Result<Value, NoValue> {
        match symbols.entry(id).definition {
            Definition::None => Err(NoValue::Undefined(id, span)),
            Definition::Number(number) => Ok(Value::number(number)),
            Definition::Label(_, None) => Err(NoValue::Later(id, span)),
            Definition::Label(memory, Some(address)) => Ok(Value { number: address.into(), memory: Some(memory) }),
            Definition::Busy(_) => Err(NoValue::Circular(id, span)),
            Definition::Constant(expr) => self.constant(id, expr, span, symbols),
        }
    }

    /// The value of a constant, computed once a pass.
    fn constant(&self, id: SymbolId, expr: ExprId, span: Span, symbols: &mut Symbols) -> Result<Value, NoValue> {
        if let Some((_, value)) = symbols.entry(id).cached.filter(|(pass, _)| *pass == symbols.pass) {
            return Ok(value);
        }
        if symbols.depth >= limits::NESTING {
            return Err(NoValue::TooDeep(span));
        }
        symbols.entry_mut(id).definition = Definition::Busy(expr);
        symbols.depth += 1;
        let value = self.value(expr, None, symbols);
        symbols.depth -= 1;
        let pass = symbols.pass;
        let entry = symbols.entry_mut(id);
        entry.definition = Definition::Constant(expr);
        entry.cached = value.ok().map(|value| (pass, value));
        value
    }
}

fn unary(operator: Unary, value: i128) -> Option<i128> {
    match operator {
        Unary::Complement => Some(!value),
        Unary::Negate => value.checked_neg(),
        Unary::Not => Some(i128::from(value == 0)),
    }
}

/// An address plus or minus a number is an address; everything else is a number.
fn binary(operator: Binary, left: Value, right: Value) -> Option<Value> {
    let number = pseudo::binary(operator, left.number, right.number)?;
    let memory = match (operator, left.memory, right.memory) {
        (Binary::Add | Binary::Subtract, Some(memory), None) | (Binary::Add, None, Some(memory)) => Some(memory),
        _ => None,
    };
    Some(Value { number, memory })
}

fn fitted(value: Value, fit: Fit) -> Option<Value> {
    if fit.low && value.memory.is_some() {
        return Some(Value::number(value.number & i128::from(fit.width.mask())));
    }
    let lowest = if fit.negative { -i128::from(fit.width.sign_bit()) } else { 0 };
    let highest = if fit.signed { i128::from(fit.width.mask() >> 1) } else { i128::from(fit.width.mask()) };
    (lowest..=highest).contains(&value.number).then_some(value)
}
