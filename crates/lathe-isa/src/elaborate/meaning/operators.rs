//! Operators with two sides.

use lathe_base::{Diagnostic, Span, Width};

use super::expressions::is_comparison;
use super::{Lowerer, Value};
use crate::codes;
use crate::language::ast::{Binary, Expr as Tree};
use crate::operators::BinaryOperator;
use crate::semantics::Expr;

impl Lowerer<'_, '_> {
    pub(super) fn binary(
        &mut self,
        operator: Binary,
        left: &Tree,
        right: &Tree,
        want: Option<Width>,
        span: Span,
    ) -> Option<Value> {
        match operator {
            Binary::Either | Binary::Both => self.logical(operator, left, right),
            Binary::Join => self.join(left, right, span),
            Binary::ShiftLeft | Binary::ShiftRight => {
                let want = self.hint(left).or(want);
                let (left, right) = self.both(left, want, right, CountWidth::Own)?;
                let operator = match (operator, left.signed) {
                    (Binary::ShiftLeft, _) => BinaryOperator::ShiftLeft,
                    (_, true) => BinaryOperator::ShiftRightSigned,
                    (_, false) => BinaryOperator::ShiftRight,
                };
                Some(Value { signed: left.signed, expr: Expr::binary(operator, left.expr, right.expr) })
            }
            _ => self.arithmetic(operator, left, right, want, span),
        }
    }

    /// Lowers both sides, keeping the left value in a local if the right side could change it.
    pub(super) fn both(
        &mut self,
        left: &Tree,
        want: Option<Width>,
        right: &Tree,
        count: CountWidth,
    ) -> Option<(Value, Value)> {
        let left = self.value(left, want)?;
        let at = self.emitted();
        let want = match count {
            CountWidth::Same => Some(left.width()),
            // A count that gets no width from elsewhere.
            CountWidth::Own => Some(self.hint(right).unwrap_or(left.width().min(Width::MAX))),
        };
        let right = self.value(right, want)?;
        Some((self.settle(left, at), right))
    }

    fn logical(&mut self, operator: Binary, left: &Tree, right: &Tree) -> Option<Value> {
        for side in [left, right] {
            if let Some(width) = self.hint(side).filter(|width| *width != Width::BIT) {
                let (word, bitwise) = if operator == Binary::Both { ("&&", "&") } else { ("||", "|") };
                let message = format!("`{word}` works on single bits, but this has {} bits", width.bits());
                let help = format!("for all bits of a value write `{bitwise}`, or compare it, as in `x != 0`");
                return self.fail(codes::WIDTH_MISMATCH, side.span, message, help);
            }
        }
        let left = self.truth(left)?;
        let (right, block) = self.in_block(|l| l.truth(right))?;
        if block.is_empty() {
            let operator = if operator == Binary::Both { BinaryOperator::And } else { BinaryOperator::Or };
            return Some(Value::unsigned(Expr::binary(operator, left, right)));
        }
        let constant = |bit| (Expr::constant(Width::BIT, bit), Vec::new());
        let (then, otherwise) =
            if operator == Binary::Both { ((right, block), constant(0)) } else { (constant(1), (right, block)) };
        Some(Value::unsigned(self.select(left, then, otherwise)))
    }

    fn join(&mut self, left: &Tree, right: &Tree, span: Span) -> Option<Value> {
        let high = self.value(left, None)?;
        let at = self.emitted();
        let low = self.value(right, None)?;
        let high = self.settle(high, at);
        if high.width().joined(low.width()).is_none() {
            let message = format!("{} bits together are too many", high.width().bits() + low.width().bits());
            return self.fail(codes::BAD_WIDTH, span, message, "a value has at most 128 bits");
        }
        Some(Value::unsigned(Expr::join(high.expr, low.expr)))
    }

    fn arithmetic(
        &mut self,
        operator: Binary,
        left: &Tree,
        right: &Tree,
        want: Option<Width>,
        span: Span,
    ) -> Option<Value> {
        let outer = want.filter(|_| !is_comparison(operator));
        let (left_hint, right_hint) = (self.hint(left), self.hint(right));
        if let (Some(l), Some(r)) = (left_hint, right_hint)
            && l != r
        {
            return self.report(Self::different_widths(l, r, span));
        }
        let numbers = (self.constant(left).is_some(), self.constant(right).is_some());
        let want = left_hint.or(right_hint).or(outer);
        let (left, right) = match want {
            // A number on the left takes the width of whatever is on the right.
            None if numbers == (true, false) => {
                let right = self.value(right, None)?;
                (self.value(left, Some(right.width()))?, right)
            }
            _ => self.both(left, want, right, CountWidth::Same)?,
        };
        let signed = match (left.signed, right.signed) {
            (true, true) => true,
            (true, false) if numbers.1 => true,
            (false, true) if numbers.0 => true,
            (false, false) => false,
            _ if minds_sign(operator) => return self.report(mixed(span)),
            _ => false,
        };
        if let (Binary::Divide | Binary::Remainder, true) = (operator, left.width().is_wide()) {
            let sign = if operator == Binary::Divide { "/" } else { "%" };
            let message = format!("`{sign}` takes at most 64 bits, but this has {}", left.width().bits());
            let help =
                "shift and mask for a power of two; for others subtract bit by bit, in a `for` or several instructions";
            return self.fail(codes::BAD_WIDTH, span, message, help);
        }
        let (chosen, swapped) = select(operator, signed);
        let (x, y) = if swapped { (right.expr, left.expr) } else { (left.expr, right.expr) };
        Some(Value { expr: Expr::binary(chosen, x, y), signed: signed && !is_comparison(operator) })
    }
}

/// Whether the right side has the width of the left, or may have its own, as a count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CountWidth {
    Same,
    Own,
}

fn minds_sign(operator: Binary) -> bool {
    use Binary::*;
    matches!(operator, Less | LessOrEqual | Greater | GreaterOrEqual | Divide | Remainder)
}

fn mixed(span: Span) -> Diagnostic {
    Diagnostic::new(codes::MIXED_SIGNS, span, "one side is signed and the other is unsigned")
        .help("write `signed(x)` or `unsigned(x)` on one side to make both alike")
}

/// Selects the operator of the semantics, and says whether the sides are swapped.
fn select(operator: Binary, signed: bool) -> (BinaryOperator, bool) {
    use BinaryOperator as To;
    let pick = |plain: To, signed_one: To| if signed { signed_one } else { plain };
    match operator {
        Binary::Equal => (To::Equal, false),
        Binary::Unequal => (To::Unequal, false),
        Binary::Less => (pick(To::Less, To::LessSigned), false),
        Binary::LessOrEqual => (pick(To::LessOrEqual, To::LessOrEqualSigned), false),
        Binary::Greater => (pick(To::Less, To::LessSigned), true),
        Binary::GreaterOrEqual => (pick(To::LessOrEqual, To::LessOrEqualSigned), true),
        Binary::Or => (To::Or, false),
        Binary::Xor => (To::Xor, false),
        Binary::And => (To::And, false),
        Binary::Subtract => (To::Subtract, false),
        Binary::Multiply => (To::Multiply, false),
        Binary::Divide => (pick(To::Divide, To::DivideSigned), false),
        Binary::Remainder => (pick(To::Remainder, To::RemainderSigned), false),
        // The other operators do not come here.
        _ => (To::Add, false),
    }
}
