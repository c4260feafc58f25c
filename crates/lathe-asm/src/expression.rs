//! Expressions in assembly: numbers of 128 bits, names, C's operators.
//!
//! Nodes are kept in one list and refer to each other by position: a program of a million lines has millions of them.
//! Evaluation never changes a node.

use lathe_base::{Code, Span, Width, limits};
use lathe_isa::language::ast::{Binary, Unary};
use lathe_isa::model::MemoryId;
use lathe_isa::pseudo::{self, Arithmetic};

use crate::codes;
use crate::symbols::{Definition, SymbolId, Symbols};

/// The position of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExprId(pub(crate) u32);

/// A number, and its memory if it is an address.
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
    /// A number that needs more than 64 bits, by its position in a list of its own.
    Wide(u32),
    Symbol(SymbolId),
    Unary(Unary, ExprId),
    Binary(Binary, ExprId, ExprId),
    Choice(ExprId, ExprId, ExprId),
    /// Bits of a value: the highest and the lowest.
    Slice(ExprId, u8, u8),
    /// A value that must fit as the operand of a pseudo-instruction; an address may stand for its low bits.
    Fit(ExprId, Fit),
    /// An address that must be in one page, of this many bits, with the instruction this many cells ahead.
    SamePage(ExprId, Width, u8),
}

impl NodeKind {
    /// Returns the same node with other nodes below it.
    pub(crate) fn map(self, below: impl Fn(ExprId) -> ExprId) -> NodeKind {
        match self {
            NodeKind::Number(_) | NodeKind::Wide(_) | NodeKind::Symbol(_) => self,
            NodeKind::Unary(operator, inner) => NodeKind::Unary(operator, below(inner)),
            NodeKind::Binary(operator, left, right) => NodeKind::Binary(operator, below(left), below(right)),
            NodeKind::Choice(condition, first, second) => {
                NodeKind::Choice(below(condition), below(first), below(second))
            }
            NodeKind::Slice(inner, high, low) => NodeKind::Slice(below(inner), high, low),
            NodeKind::Fit(inner, fit) => NodeKind::Fit(below(inner), fit),
            NodeKind::SamePage(inner, width, ahead) => NodeKind::SamePage(below(inner), width, ahead),
        }
    }
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
    /// The name's value could not be read, which has been reported.
    Broken,
    /// The name is defined in terms of itself.
    Circular(SymbolId, Span),
    /// Too long a chain of constants.
    TooDeep(Span),
    /// More than 128 bits, a division by zero, or a shift by a negative number.
    Arithmetic(Span),
    /// An operand of a pseudo-instruction that does not fit.
    Unfit(Span, i128, Fit),
    /// An address outside the page that begins here.
    OtherPage(Span, i128, u64, Width),
}

impl NoValue {
    /// Returns the code of its diagnostic.
    pub(crate) fn code(self) -> Code {
        match self {
            NoValue::Later(..) => codes::NOT_YET_KNOWN,
            NoValue::Undefined(..) | NoValue::Broken => codes::UNDEFINED,
            NoValue::Circular(..) => codes::CIRCULAR,
            NoValue::TooDeep(_) => codes::TOO_DEEP,
            NoValue::Arithmetic(_) => codes::ARITHMETIC,
            NoValue::Unfit(..) => codes::OUT_OF_RANGE,
            NoValue::OtherPage(..) => codes::OUT_OF_REACH,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Expressions {
    nodes: Vec<Node>,
    wide: Vec<i128>,
}

impl Expressions {
    /// Turns a definition's arithmetic into an expression; `parameter` returns what stands for its parameters.
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

    /// Whether an expression is a literal number.
    pub(crate) fn is_number(&self, id: ExprId) -> bool {
        matches!(self.nodes[id.0 as usize].kind, NodeKind::Number(_) | NodeKind::Wide(_))
    }

    pub(crate) fn is_name(&self, id: ExprId) -> bool {
        matches!(self.nodes[id.0 as usize].kind, NodeKind::Symbol(_))
    }

    /// Returns every use of a name in an expression.
    pub(crate) fn uses(&self) -> Vec<(SymbolId, Span)> {
        let symbol = |node: &Node| match node.kind {
            NodeKind::Symbol(id) => Some((id, node.span)),
            _ => None,
        };
        self.nodes.iter().filter_map(symbol).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the nodes added since `length`.
    pub(crate) fn since(&self, length: usize) -> &[Node] {
        &self.nodes[length..]
    }

    /// Forgets the nodes added since `length`, when a reading turns out not to fit.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.nodes.truncate(length);
    }

    /// Evaluates an expression in a line at `here`.
    ///
    /// Pending steps are kept in a list and not on the stack: a sum of 30,000 terms is as deep as it is long.
    pub(crate) fn value(&self, id: ExprId, here: Option<Value>, symbols: &mut Symbols) -> Result<Value, NoValue> {
        let mut todo = Vec::new();
        // Most expressions are a single number or name.
        if let Some(value) = self.begin(id, &mut todo, symbols)? {
            return Ok(value);
        }
        let mut values = Vec::new();
        while let Some(step) = todo.pop() {
            let result = match step {
                Step::Begin(id) => self.begin(id, &mut todo, symbols),
                Step::Finish(id) => self.finish(id, here, &mut values, &mut todo),
                Step::Define(id, expr) => Ok(values.pop().inspect(|value| symbols.settle(id, expr, Some(*value)))),
            };
            match result {
                Ok(value) => values.extend(value),
                Err(problem) => {
                    for step in todo {
                        if let Step::Define(id, expr) = step {
                            symbols.settle(id, expr, None);
                        }
                    }
                    return Err(problem);
                }
            }
        }
        Ok(values.pop().unwrap_or(Value::number(0)))
    }

    /// Returns the value of a node with none below it; otherwise, schedules those below it first.
    fn begin(&self, id: ExprId, todo: &mut Vec<Step>, symbols: &mut Symbols) -> Result<Option<Value>, NoValue> {
        let node = self.nodes[id.0 as usize];
        match node.kind {
            NodeKind::Number(number) => return Ok(Some(Value::number(number.into()))),
            NodeKind::Wide(at) => return Ok(Some(Value::number(self.wide[at as usize]))),
            NodeKind::Symbol(symbol) => return self.symbol(symbol, node.span, todo, symbols),
            NodeKind::Binary(_, left, right) => {
                todo.extend([Step::Finish(id), Step::Begin(right), Step::Begin(left)]);
            }
            NodeKind::Unary(_, inner)
            | NodeKind::Choice(inner, ..)
            | NodeKind::Slice(inner, ..)
            | NodeKind::Fit(inner, _)
            | NodeKind::SamePage(inner, ..) => todo.extend([Step::Finish(id), Step::Begin(inner)]),
        }
        Ok(None)
    }

    /// Computes the value of a node from those of the nodes below it, which are taken from `values`.
    fn finish(
        &self,
        id: ExprId,
        here: Option<Value>,
        values: &mut Vec<Value>,
        todo: &mut Vec<Step>,
    ) -> Result<Option<Value>, NoValue> {
        let node = self.nodes[id.0 as usize];
        let Some(value) = values.pop() else { return Ok(None) };
        match node.kind {
            NodeKind::Unary(operator, _) => unary(operator, value.number).map(Value::number),
            NodeKind::Binary(operator, ..) => values.pop().and_then(|left| binary(operator, left, value)),
            NodeKind::Choice(_, first, second) => {
                todo.push(Step::Begin(if value.number != 0 { first } else { second }));
                return Ok(None);
            }
            NodeKind::Slice(_, high, low) => {
                let bits = value.number >> low;
                let width = u32::from(high - low) + 1;
                Some(Value::number(if width >= 127 { bits } else { bits & ((1 << width) - 1) }))
            }
            NodeKind::Fit(_, fit) => {
                return fitted(value, fit).map(Some).ok_or(NoValue::Unfit(node.span, value.number, fit));
            }
            NodeKind::SamePage(_, width, ahead) => {
                let here = here.map_or(0, |here| here.number) + i128::from(ahead);
                let page = here as u64 & !width.mask();
                let plain = value.memory.is_none() && (0..=i128::from(width.mask())).contains(&value.number);
                let same = plain || value.number as u64 & !width.mask() == page;
                return same.then_some(Some(value)).ok_or(NoValue::OtherPage(node.span, value.number, page, width));
            }
            NodeKind::Number(_) | NodeKind::Wide(_) | NodeKind::Symbol(_) => Some(value),
        }
        .map(Some)
        .ok_or(NoValue::Arithmetic(node.span))
    }

    fn symbol(
        &self,
        id: SymbolId,
        span: Span,
        todo: &mut Vec<Step>,
        symbols: &mut Symbols,
    ) -> Result<Option<Value>, NoValue> {
        match symbols.entry(id).definition {
            Definition::None => Err(NoValue::Undefined(id, span)),
            Definition::Broken => Err(NoValue::Broken),
            Definition::Number(number) => Ok(Some(Value::number(number))),
            Definition::Label(_, None) => Err(NoValue::Later(id, span)),
            Definition::Label(memory, Some(address)) => {
                Ok(Some(Value { number: address as i128, memory: Some(memory) }))
            }
            Definition::Busy(_) => Err(NoValue::Circular(id, span)),
            Definition::Constant(expr) => {
                let cached = symbols.entry(id).cached.filter(|(pass, _)| *pass == symbols.pass);
                if cached.is_none() {
                    if symbols.depth >= limits::NESTING {
                        return Err(NoValue::TooDeep(span));
                    }
                    symbols.begin(id, expr);
                    todo.extend([Step::Define(id, expr), Step::Begin(expr)]);
                }
                Ok(cached.map(|(_, value)| value))
            }
        }
    }
}

/// A pending step of an evaluation.
#[derive(Clone, Copy)]
enum Step {
    /// Evaluate a node.
    Begin(ExprId),
    /// Combine the values of the nodes below it.
    Finish(ExprId),
    /// Take the last value as that of a constant with this expression.
    Define(SymbolId, ExprId),
}

fn unary(operator: Unary, value: i128) -> Option<i128> {
    match operator {
        Unary::Complement => Some(!value),
        Unary::Negate => value.checked_neg(),
        Unary::Not => Some(i128::from(value == 0)),
    }
}

/// Computes a binary operation. An address plus or minus a number is an address; everything else is a number.
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
