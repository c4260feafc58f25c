//! Expressions in Verilog. Every part has exactly the width that the definition gives it: where Verilog would compute
//! with more bits, or cannot select bits, a part gets a name first.

use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_isa::semantics::{Expr, ExprKind, OperandId};

use crate::body::Lowering;
use crate::operands::{self, Operand};
use crate::operators::symbol;
use crate::shape;

/// Returns the range of a declaration, with a space after it; nothing for a single bit.
pub(crate) fn range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) }
}

/// Returns a number of the given width.
pub(crate) fn number(bits: u32, value: u64) -> String {
    if value < 10 { format!("{bits}'d{value}") } else { format!("{bits}'h{value:X}") }
}

/// Selects bits of a name that has `of` bits.
pub(crate) fn select(name: &str, of: u32, low: u32, bits: u32) -> String {
    match bits {
        _ if bits == of => name.to_owned(),
        1 => format!("{name}[{low}]"),
        _ => format!("{name}[{}:{low}]", low + bits - 1),
    }
}

/// Extends bits with zeros.
pub(crate) fn extend(text: &str, from: u32, to: u32) -> String {
    if from == to { text.to_owned() } else { format!("{{{}, {text}}}", number(to - from, 0)) }
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl Lowering<'_> {
    /// Returns the text of an expression. Writes the lines that have to come before it at once.
    pub(crate) fn expression(&mut self, expr: &Expr) -> String {
        let bits = expr.width.bits();
        match &expr.kind {
            ExprKind::Constant(value) => number(bits, *value),
            ExprKind::Local(local) => self.locals[usize::from(local.0)].clone(),
            ExprKind::Register(id) => {
                let register = self.isa.register(*id);
                let name = self.shape.names.register(*id);
                match register.constant {
                    true => number(bits, register.reset),
                    // The instruction may have changed it since.
                    false if self.is_for_all() => format!("{name}_q"),
                    false => name.to_owned(),
                }
            }
            ExprKind::Operand(operand) => self.operand(*operand),
            ExprKind::Code(operand) => self.operands[usize::from(operand.0)].code.clone(),
            ExprKind::Pc => self.shape.names.pc.clone(),
            ExprKind::Next => "next".to_owned(),
            ExprKind::Unary(operator, x) => {
                let sign = match operator {
                    UnaryOperator::Not => "~",
                    UnaryOperator::Negate => "-",
                };
                format!("({sign}{})", self.expression(x))
            }
            ExprKind::Binary(operator, x, y) => self.binary(*operator, x, y),
            ExprKind::Slice(x, low) => self.slice(x, *low, bits),
            ExprKind::Join(high, low) => {
                let mut parts = Vec::new();
                self.parts(high, &mut parts);
                self.parts(low, &mut parts);
                format!("{{{}}}", parts.join(", "))
            }
            ExprKind::ZeroExtend(x) => {
                let text = self.expression(x);
                extend(&text, x.width.bits(), bits)
            }
            ExprKind::SignExtend(x) => {
                let text = self.named(x);
                sign_extend(&text, x.width.bits(), bits)
            }
            ExprKind::Choose(condition, x, y) if self.divides_slowly(x) || self.divides_slowly(y) => {
                self.choose_one(condition, x, y)
            }
            ExprKind::Choose(condition, x, y) => {
                let (condition, x, y) = (self.expression(condition), self.expression(x), self.expression(y));
                format!("({condition} ? {x} : {y})")
            }
        }
    }

    /// Collects the parts of a concatenation, without braces inside braces.
    fn parts(&mut self, expr: &Expr, parts: &mut Vec<String>) {
        match &expr.kind {
            ExprKind::Join(high, low) => {
                self.parts(high, parts);
                self.parts(low, parts);
            }
            _ => parts.push(self.expression(expr)),
        }
    }

    /// Writes a choice that evaluates only the chosen value.
    fn choose_one(&mut self, condition: &Expr, x: &Expr, y: &Expr) -> String {
        let condition = self.expression(condition);
        let name = self.new_temporary(x.width.bits());
        let before = self.known.clone();
        self.out.open(format!("if ({condition}) begin"));
        let text = self.expression(x);
        self.out.line(format!("{name} = {text};"));
        let after = std::mem::replace(&mut self.known, before);
        self.out.turn("end else begin");
        let text = self.expression(y);
        self.out.line(format!("{name} = {text};"));
        self.known.join(&after);
        self.out.close("end");
        name
    }

    fn binary(&mut self, operator: BinaryOperator, x: &Expr, y: &Expr) -> String {
        // Verilog tools warn about comparisons with the least or the largest number that always have the same result.
        let most = Some(x.width.mask());
        match (operator, x.as_constant(), y.as_constant()) {
            (BinaryOperator::LessOrEqual, Some(0), _) => return "1'b1".to_owned(),
            (BinaryOperator::LessOrEqual, _, number) if number == most => return "1'b1".to_owned(),
            (BinaryOperator::Less, _, Some(0)) => return "1'b0".to_owned(),
            (BinaryOperator::Less, number, _) if number == most => return "1'b0".to_owned(),
            _ => {}
        }
        if let Some(text) = self.division(operator, x, y) {
            return text;
        }
        let (left, right) = (self.expression(x), self.expression(y));
        match symbol(operator) {
            Some(symbol) if matches!(operator, BinaryOperator::LessSigned | BinaryOperator::LessOrEqualSigned) => {
                format!("($signed({left}) {symbol} $signed({right}))")
            }
            Some(symbol) => format!("({left} {symbol} {right})"),
            None => {
                let name = self.common.functions.name(operator, x.width.bits(), y.width.bits());
                format!("{}({left}, {right})", name.unwrap_or_default())
            }
        }
    }

    fn slice(&mut self, x: &Expr, low: u32, bits: u32) -> String {
        match &x.kind {
            // A slice of a slice is a slice of the whole.
            ExprKind::Slice(inner, below) => self.slice(inner, low + below, bits),
            ExprKind::ZeroExtend(inner) if low + bits <= inner.width.bits() => self.slice(inner, low, bits),
            ExprKind::Constant(value) => number(bits, x.width.wrap(*value) >> low & mask(bits)),
            ExprKind::Register(id) if self.isa.register(*id).constant => {
                number(bits, self.isa.register(*id).reset >> low & mask(bits))
            }
            _ => {
                let text = self.named(x);
                select(&text, x.width.bits(), low, bits)
            }
        }
    }

    /// Returns a name that has the value of an expression, creating one if necessary.
    pub(crate) fn named(&mut self, expr: &Expr) -> String {
        let text = self.expression(expr);
        if is_name(&text) { text } else { self.temporary(expr.width.bits(), &text) }
    }

    /// Assigns a value to a new name and returns the name.
    pub(crate) fn temporary(&mut self, bits: u32, text: &str) -> String {
        let name = self.new_temporary(bits);
        self.out.line(format!("{name} = {text};"));
        name
    }

    fn operand(&mut self, operand: OperandId) -> String {
        let Operand { field, name, code, .. } = self.operands[usize::from(operand.0)].clone();
        if !operands::registers(self.isa, field).any(|register| self.known.written.contains(&register)) {
            return name;
        }
        let list = self.shape.names.field(shape::register_list(self.isa, field));
        let name = self.new_temporary(self.isa.field(field).value_width(self.isa.pc.width).bits());
        self.out.line(format!("read_{list}({code}, {name});"));
        name
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

pub(crate) fn sign_extend(name: &str, from: u32, to: u32) -> String {
    if from == to {
        return name.to_owned();
    }
    let sign = select(name, from, from - 1, 1);
    format!("{{{{{}{{{sign}}}}}, {name}}}", to - from)
}
