//! Pseudo-instructions: what people write, and the instructions it expands to.

use lathe_base::Span;

use crate::language::ast;
use crate::model::{Field, InstructionId};
use crate::syntax::Syntax;

/// One pseudo-instruction.
#[derive(Clone, Debug)]
pub struct Pseudo {
    /// How it is written.
    pub syntax: Syntax,
    /// Its operands, in the order of the syntax.
    pub parameters: Vec<Field>,
    /// The instructions that it expands to, in order.
    pub expansion: Vec<Template>,
    /// Where it is defined.
    pub span: Span,
}

/// One instruction of an expansion, with every form that its text fits; the choice is the same as for any line.
#[derive(Clone, Debug)]
pub struct Template {
    /// As written in the definition.
    pub text: String,
    /// The forms.
    pub forms: Vec<(InstructionId, Vec<Argument>)>,
}

/// An operand of an instruction in an expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// These bits, whatever the parameters are.
    Bits(u64),
    /// The register or name given for this parameter.
    Parameter(usize),
    /// A number computed from the parameters.
    Value(Arithmetic),
}

/// Arithmetic on integers when a pseudo-instruction is expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// A number.
    Number(i128),
    /// The value of a parameter.
    Parameter(usize),
    /// Bits of a value: the highest and the lowest.
    Slice(Box<Arithmetic>, u32, u32),
    /// One operand.
    Unary(ast::Unary, Box<Arithmetic>),
    /// Two operands.
    Binary(ast::Binary, Box<Arithmetic>, Box<Arithmetic>),
}

impl Arithmetic {
    /// Returns the value for these parameters; `None` if it does not fit in 128 bits or divides by zero.
    pub fn value(&self, parameters: &dyn Fn(usize) -> i128) -> Option<i128> {
        match self {
            Arithmetic::Number(value) => Some(*value),
            Arithmetic::Parameter(index) => Some(parameters(*index)),
            Arithmetic::Slice(inner, high, low) => {
                let value = inner.value(parameters)?;
                let width = high - low + 1;
                let mask = if width >= 127 { i128::MAX } else { (1 << width) - 1 };
                Some((value >> low) & mask)
            }
            Arithmetic::Unary(operator, inner) => {
                let value = inner.value(parameters)?;
                match operator {
                    ast::Unary::Complement => Some(!value),
                    ast::Unary::Negate => value.checked_neg(),
                    ast::Unary::Not => Some(i128::from(value == 0)),
                }
            }
            Arithmetic::Binary(operator, x, y) => binary(*operator, x.value(parameters)?, y.value(parameters)?),
        }
    }
}

/// Applies an operator to integers of unlimited width, as far as 128 bits go.
pub fn binary(operator: ast::Binary, x: i128, y: i128) -> Option<i128> {
    use ast::Binary::*;
    let truth = |holds: bool| Some(i128::from(holds));
    match operator {
        Either => truth(x != 0 || y != 0),
        Both => truth(x != 0 && y != 0),
        Equal => truth(x == y),
        Unequal => truth(x != y),
        Less => truth(x < y),
        LessOrEqual => truth(x <= y),
        Greater => truth(x > y),
        GreaterOrEqual => truth(x >= y),
        Or => Some(x | y),
        Xor => Some(x ^ y),
        And => Some(x & y),
        Join => None,
        ShiftLeft => {
            let count = u32::try_from(y).ok().filter(|count| *count < 127)?;
            x.checked_mul(1i128 << count)
        }
        ShiftRight => Some(x >> u32::try_from(y).ok()?.min(127)),
        Add => x.checked_add(y),
        Subtract => x.checked_sub(y),
        Multiply => x.checked_mul(y),
        Divide => x.checked_div(y),
        Remainder => x.checked_rem(y),
    }
}
