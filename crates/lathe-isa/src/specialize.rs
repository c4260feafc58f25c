//! Specializes the meaning of one instruction for one address: operands are replaced by the registers and numbers they
//! name, `pc` and `next` by numbers, and whatever is then known is computed.
//!
//! The result contains no operand, no `pc` and no `next`. Engines start from this form; the reference interpreter does
//! not use it, so that the two can be compared.

use lathe_base::{Width, limits};

use crate::decode::Decoded;
use crate::model::{Domain, Hook, Instruction, Isa, Part, Place, RegisterId};
use crate::operand::Location;
use crate::semantics::{Block, Body, Expr, ExprKind, LocalId, OperandId, Statement};

/// Specializes the meaning of a decoded instruction for this location.
pub fn specialize(isa: &Isa, decoded: &Decoded, location: Location) -> Body {
    let instruction = isa.instruction(decoded.instruction);
    Specializer::new(isa, Some(instruction), decoded.operands, location, &instruction.body).finish()
}

/// Specializes the meaning of a decoded instruction with some operands computed: these expressions replace them, in the
/// order of the operands. They may use locals of these widths, which are numbered after those of the instruction's
/// meaning and must be set before it.
pub fn specialize_with(
    isa: &Isa,
    decoded: &Decoded,
    location: Location,
    given: &[Option<Expr>],
    locals: &[Width],
) -> Body {
    let instruction = isa.instruction(decoded.instruction);
    let mut specializer = Specializer::new(isa, Some(instruction), decoded.operands, location, &instruction.body);
    specializer.given = given;
    specializer.locals.extend_from_slice(locals);
    specializer.known.resize(specializer.locals.len(), None);
    specializer.finish()
}

/// Specializes what an undefined encoding does at this address, if the definition says anything.
pub fn specialize_illegal(isa: &Isa, pc: u64) -> Option<Body> {
    let body = isa.on_illegal.as_ref()?;
    let location = Location { pc, next: pc, width: isa.pc.width };
    Some(Specializer::new(isa, None, [0; limits::OPERANDS], location, body).finish())
}

/// Specializes what the machine does before the instruction at this address.
pub fn specialize_hook(isa: &Isa, hook: &Hook, pc: u64) -> Hook {
    let location = Location { pc, next: pc, width: isa.pc.width };
    let at = |body| Specializer::new(isa, None, [0; limits::OPERANDS], location, body).finish();
    Hook { when: at(&hook.when), body: at(&hook.body) }
}

struct Specializer<'a> {
    isa: &'a Isa,
    instruction: Option<&'a Instruction>,
    operands: [u64; limits::OPERANDS],
    /// Computed operands, by their number.
    given: &'a [Option<Expr>],
    location: Location,
    body: &'a Body,
    /// The widths of the locals, including those added here.
    locals: Vec<Width>,
    /// The locals whose value is known at the current statement.
    known: Vec<Option<u64>>,
}

impl<'a> Specializer<'a> {
    fn new(
        isa: &'a Isa,
        instruction: Option<&'a Instruction>,
        operands: [u64; limits::OPERANDS],
        location: Location,
        body: &'a Body,
    ) -> Self {
        let locals = body.locals.clone();
        let known = vec![None; locals.len()];
        Specializer { isa, instruction, operands, given: &[], location, body, locals, known }
    }

    fn finish(mut self) -> Body {
        let mut block = Block::with_capacity(self.body.block.len());
        self.block(&self.body.block, &mut block);
        let value = self.body.value.as_ref().map(|value| self.value(value));
        Body { locals: self.locals, block, value }
    }

    fn block(&mut self, block: &[Statement], out: &mut Block) {
        block.iter().for_each(|statement| self.statement(statement, out));
    }

    fn statement(&mut self, statement: &Statement, out: &mut Block) {
        match statement {
            Statement::Let(local, value) => {
                let value = self.value(value);
                self.known[usize::from(local.0)] = value.as_constant();
                out.push(Statement::Let(*local, value));
            }
            Statement::SetRegister(register, value) => {
                let value = self.value(value);
                out.push(Statement::SetRegister(*register, value));
            }
            Statement::SetOperand(operand, value) => {
                let value = self.value(value);
                self.set_operand(*operand, value, out);
            }
            Statement::Load { into, memory, address, cells } => {
                let address = self.value(address);
                self.known[usize::from(into.0)] = None;
                out.push(Statement::Load { into: *into, memory: *memory, address, cells: *cells });
            }
            Statement::Store { memory, address, cells, value } => {
                let (address, value) = (self.value(address), self.value(value));
                out.push(Statement::Store { memory: *memory, address, cells: *cells, value });
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments = self.values(arguments);
                self.known[usize::from(into.0)] = None;
                out.push(Statement::DeviceRead { into: *into, device: *device, operation: *operation, arguments });
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let arguments = self.values(arguments);
                out.push(Statement::DeviceWrite { device: *device, operation: *operation, arguments });
            }
            Statement::Jump(target) => out.push(Statement::Jump(self.value(target))),
            Statement::Halt => out.push(Statement::Halt),
            Statement::Fault { message, detail } => {
                let detail = detail.as_ref().map(|detail| self.value(detail));
                out.push(Statement::Fault { message: message.clone(), detail });
            }
            Statement::Cycles(count) => out.push(Statement::Cycles(self.value(count))),
            Statement::If { condition, then, otherwise } => self.choice(condition, then, otherwise, out),
        }
    }

    /// Specializes a choice: to one branch only, if the condition is known.
    fn choice(&mut self, condition: &Expr, then: &[Statement], otherwise: &[Statement], out: &mut Block) {
        let condition = self.value(condition);
        match condition.as_constant() {
            Some(0) => self.block(otherwise, out),
            Some(_) => self.block(then, out),
            None => {
                let before = self.known.clone();
                let (mut taken, mut other) = (Block::new(), Block::new());
                self.block(then, &mut taken);
                let after_then = std::mem::replace(&mut self.known, before);
                self.block(otherwise, &mut other);
                for (known, then) in self.known.iter_mut().zip(after_then) {
                    *known = known.filter(|value| then == Some(*value));
                }
                out.push(Statement::If { condition, then: taken, otherwise: other });
            }
        }
    }

    fn values(&self, list: &[Expr]) -> Vec<Expr> {
        list.iter().map(|expr| self.value(expr)).collect()
    }

    fn value(&self, expr: &Expr) -> Expr {
        match &expr.kind {
            ExprKind::Constant(_) => expr.clone(),
            ExprKind::Local(local) => match self.known[usize::from(local.0)] {
                Some(value) => Expr::constant(expr.width, value),
                None => expr.clone(),
            },
            ExprKind::Register(register) => self.register(*register),
            ExprKind::Operand(operand) => self.operand(*operand, expr.width),
            ExprKind::Code(operand) => {
                let bits = self.operands.get(usize::from(operand.0)).copied();
                Expr::constant(expr.width, bits.unwrap_or(0))
            }
            ExprKind::Pc => Expr::constant(expr.width, self.location.pc),
            ExprKind::Next => Expr::constant(expr.width, self.location.next),
            ExprKind::Unary(operator, x) => Expr::unary(*operator, self.value(x)),
            ExprKind::Binary(operator, x, y) => Expr::binary(*operator, self.value(x), self.value(y)),
            ExprKind::Slice(x, low) => Expr::slice(self.value(x), *low, expr.width),
            ExprKind::Join(high, low) => Expr::join(self.value(high), self.value(low)),
            ExprKind::ZeroExtend(x) => Expr::zero_extend(expr.width, self.value(x)),
            ExprKind::SignExtend(x) => Expr::sign_extend(expr.width, self.value(x)),
            ExprKind::Choose(condition, x, y) => Expr::choose(self.value(condition), self.value(x), self.value(y)),
        }
    }

    fn register(&self, id: RegisterId) -> Expr {
        let register = self.isa.register(id);
        if register.constant {
            return Expr::constant(register.width, register.reset);
        }
        Expr { width: register.width, kind: ExprKind::Register(id) }
    }

    fn operand(&self, operand: OperandId, width: Width) -> Expr {
        let Some(instruction) = self.instruction else { return Expr::constant(width, 0) };
        let at = usize::from(operand.0);
        if let Some(Some(given)) = self.given.get(at) {
            return given.clone();
        }
        let field = self.isa.field(instruction.operands[at]);
        let bits = self.operands[at];
        match &field.domain {
            Domain::Registers(list) => match &list[bits as usize] {
                Some((_, place)) => self.place(place),
                None => Expr::constant(width, 0),
            },
            _ => Expr::constant(width, field.value(bits, self.location)),
        }
    }

    fn place(&self, place: &Place) -> Expr {
        let part = |part: &Part| Expr::slice(self.register(part.register), part.low, part.width);
        let mut parts = place.parts.iter().map(part);
        let first = parts.next().unwrap_or_else(|| Expr::constant(place.width, 0));
        parts.fold(first, Expr::join)
    }

    /// Splits a write to a register field into writes to registers. If there are several parts, the value is kept in a
    /// local, because writing the first must not change what the second gets.
    fn set_operand(&mut self, operand: OperandId, value: Expr, out: &mut Block) {
        let Some(instruction) = self.instruction else { return };
        let at = usize::from(operand.0);
        let Domain::Registers(list) = &self.isa.field(instruction.operands[at]).domain else { return };
        let Some((_, place)) = &list[self.operands[at] as usize] else { return };
        let value = if place.parts.len() > 1 { self.keep(value, out) } else { value };
        let mut low = place.width.bits();
        for part in &place.parts {
            low -= part.width.bits();
            if self.isa.register(part.register).constant {
                continue;
            }
            let bits = Expr::slice(value.clone(), low, part.width);
            let width = self.isa.register(part.register).width;
            let old = if place.clearing { Expr::constant(width, 0) } else { self.register(part.register) };
            out.push(Statement::SetRegister(part.register, Expr::replace(old, part.low, bits)));
        }
    }

    fn keep(&mut self, value: Expr, out: &mut Block) -> Expr {
        let (local, width) = (LocalId(self.locals.len() as u16), value.width);
        self.locals.push(width);
        self.known.push(value.as_constant());
        out.push(Statement::Let(local, value));
        Expr::local(width, local)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = r#"
machine pairs "Registers in pairs, one that is constant"
memory ram : u8 -> u8
pc pc : u8 in ram
constant z : u4 = 0
register a, b : u4
view ab = a ++ b
view ba = b ++ a
field P, Q : register { ab, ba }
field R : register { z, a, b }
field F : u4 from next
instructions {
  move P, Q   | 00 P Q 0000 | P = Q
  copy R      | 01 RR 0000  | R = a
  jump F      | 1 FFFF 000  | if z == 0 { pc = F } else { a = b }
  back        | 0111 1111   | pc = pc
}
"#;

    fn body(cell: u64, pc: u64) -> Body {
        let isa = crate::load(MACHINE).isa.expect("the machine is right");
        let cell_width = isa.code_memory().cell;
        let decoded = isa.decode(crate::encoding::window([cell], cell_width)).expect("a row fits");
        let next = isa.pc.width.wrap(pc + 1);
        specialize(&isa, &decoded, Location { pc, next, width: isa.pc.width })
    }

    #[test]
    fn a_place_of_two_parts_is_written_from_one_value() {
        let block = body(0b0001_0000, 0).block;
        assert!(matches!(block[0], Statement::Let(..)), "{block:?}");
        assert!(matches!(block[1], Statement::SetRegister(..)), "{block:?}");
        assert!(matches!(block[2], Statement::SetRegister(..)), "{block:?}");
    }

    #[test]
    fn a_constant_register_is_not_written() {
        assert!(body(0b0100_0000, 0).block.is_empty());
    }

    #[test]
    fn what_is_known_is_decided() {
        let eight = Width::new(8).unwrap();
        assert_eq!(body(0b1001_1000, 0xFE).block, [Statement::Jump(Expr::constant(eight, 2))]);
        assert_eq!(body(0b0111_1111, 7).block, [Statement::Jump(Expr::constant(eight, 7))]);
    }
}
