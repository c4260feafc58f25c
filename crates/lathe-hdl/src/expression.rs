//! Expressions in Verilog. Every part has exactly the bits that the definition gives it: where Verilog would
//! compute with more, or cannot select bits, a part gets a name first.

use lathe_base::Width;
use lathe_isa::model::{Base, Domain, FieldId, Numeric, Target};
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_isa::semantics::{Expr, ExprKind, OperandId};

use crate::body::Lowering;
use crate::operators::symbol;

/// A declaration's range, with a blank after it; nothing for a single bit.
pub(crate) fn range(bits: u32) -> String {
    if bits == 1 { String::new() } else { format!("[{}:0] ", bits - 1) }
}

/// A number of so many bits.
pub(crate) fn number(bits: u32, value: u64) -> String {
    if value < 10 { format!("{bits}'d{value}") } else { format!("{bits}'h{value:X}") }
}

/// Some bits of a name that has `of` bits.
pub(crate) fn select(name: &str, of: u32, low: u32, bits: u32) -> String {
    match bits {
        _ if bits == of => name.to_owned(),
        1 => format!("{name}[{low}]"),
        _ => format!("{name}[{}:{low}]", low + bits - 1),
    }
}

/// Bits with zeros above.
pub(crate) fn extend(text: &str, from: u32, to: u32) -> String {
    if from == to { text.to_owned() } else { format!("{{{}, {text}}}", number(to - from, 0)) }
}

fn is_name(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

impl Lowering<'_> {
    /// An expression's text. Lines that it needs before it are written at once.
    pub(crate) fn expression(&mut self, expr: &Expr) -> String {
        let bits = expr.width.bits();
        match &expr.kind {
            ExprKind::Constant(value) => number(bits, *value),
            ExprKind::Local(local) => self.locals[usize::from(local.0)].clone(),
            ExprKind::Register(id) => {
                let register = self.isa.register(*id);
                if register.constant { number(bits, register.reset) } else { self.shape.names.register(*id).to_owned() }
            }
            ExprKind::Operand(operand) => self.operand(*operand),
            ExprKind::Code(operand) => self.operand_code(*operand),
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

    /// The parts of a concatenation, without braces inside braces.
    fn parts(&mut self, expr: &Expr, parts: &mut Vec<String>) {
        match &expr.kind {
            ExprKind::Join(high, low) => {
                self.parts(high, parts);
                self.parts(low, parts);
            }
            _ => parts.push(self.expression(expr)),
        }
    }

    /// A choice of which only the one is computed that is chosen.
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
        // Comparisons with the least or the largest number that are always the same are what a reader of Verilog complains about.
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
                let name = self.functions.name(operator, x.width.bits(), y.width.bits());
                format!("{}({left}, {right})", name.unwrap_or_default())
            }
        }
    }

    fn slice(&mut self, x: &Expr, low: u32, bits: u32) -> String {
        match &x.kind {
            // Bits of bits are bits of the whole.
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

    /// A name that has the value of an expression, made if there is none.
    pub(crate) fn named(&mut self, expr: &Expr) -> String {
        let text = self.expression(expr);
        if is_name(&text) { text } else { self.temporary(expr.width.bits(), &text) }
    }

    /// A new name for a value, which is given to it at once.
    pub(crate) fn temporary(&mut self, bits: u32, text: &str) -> String {
        let name = self.new_temporary(bits);
        self.out.line(format!("{name} = {text};"));
        name
    }

    fn new_temporary(&mut self, bits: u32) -> String {
        let name = format!("e_{}", self.temporaries);
        self.temporaries += 1;
        self.declare(bits, &name);
        name
    }

    fn operand(&mut self, operand: OperandId) -> String {
        let at = usize::from(operand.0);
        let (field, name) = self.operands[at].clone();
        let Domain::Registers(list) = &self.isa.field(field).domain else { return name };
        let may_have_changed = list
            .iter()
            .flatten()
            .flat_map(|(_, place)| &place.parts)
            .any(|part| self.known.written.contains(&part.register));
        if may_have_changed { self.read_again(field, &name) } else { name }
    }

    fn read_again(&self, field: FieldId, name: &str) -> String {
        let list = self.shape.names.field(crate::shape::register_list(self.isa, field));
        format!("read_{list}({name}_code)")
    }

    fn operand_code(&mut self, operand: OperandId) -> String {
        let (_, name) = &self.operands[usize::from(operand.0)];
        format!("{name}_code")
    }

    /// The value of an operand that is a number or an address, from its bits.
    pub(crate) fn number_operand(&mut self, field: FieldId, numeric: Numeric, code: &str) -> String {
        let (pc, bits) = (self.isa.pc.width, self.isa.field(field).width.bits());
        let base = |base: Base| match base {
            Base::Pc => self.shape.names.pc.clone(),
            Base::Next => "next".to_owned(),
            Base::Ahead(cells) => format!("({} + {})", self.shape.names.pc, number(pc.bits(), u64::from(cells))),
            Base::Address(address) => number(pc.bits(), pc.wrap(address)),
        };
        match numeric.target {
            None | Some(Target::Absolute(_)) => code.to_owned(),
            Some(Target::Relative { back, from, .. }) => {
                let distance = match bits.cmp(&pc.bits()) {
                    std::cmp::Ordering::Greater => select(code, bits, 0, pc.bits()),
                    _ if numeric.signed => sign_extend(code, bits, pc.bits()),
                    _ => extend(code, bits, pc.bits()),
                };
                format!("({} {} {distance})", base(from), if back { "-" } else { "+" })
            }
            Some(Target::Within(from)) if bits >= pc.bits() => {
                let _ = from;
                select(code, bits, 0, pc.bits())
            }
            Some(Target::Within(from)) => match from {
                Base::Address(address) => {
                    let page = Width::new(u64::from(pc.bits() - bits)).map_or(0, |width| width.wrap(address >> bits));
                    format!("{{{}, {code}}}", number(pc.bits() - bits, page))
                }
                _ => format!("{{{}, {code}}}", select(&base(from), pc.bits(), bits, pc.bits() - bits)),
            },
        }
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn sign_extend(name: &str, from: u32, to: u32) -> String {
    if from == to {
        return name.to_owned();
    }
    let sign = select(name, from, from - 1, 1);
    format!("{{{{{}{{{sign}}}}}, {name}}}", to - from)
}
