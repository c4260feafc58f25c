//! Where execution goes after an instruction, as far as its bits tell.

use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::model::Domain;
use lathe_isa::operand::Location;
use lathe_isa::semantics::{Block, Expr, ExprKind, Statement};

/// Where execution may go.
pub(super) struct Flow {
    /// Whether the instruction after it in memory may come next, or after a call.
    pub(super) goes_on: bool,
    /// Other places.
    pub(super) targets: Vec<u64>,
}

/// Where execution goes after an instruction.
pub(super) fn of(isa: &Isa, decoded: &Decoded, location: Location) -> Flow {
    let mut walk = Walk { isa, decoded, location, targets: Vec::new(), keeps_next: false };
    let leaves = walk.block(&isa.instruction(decoded.instruction).body.block);
    Flow { goes_on: !leaves || walk.keeps_next, targets: walk.targets }
}

struct Walk<'w> {
    isa: &'w Isa,
    decoded: &'w Decoded,
    location: Location,
    targets: Vec<u64>,
    /// Whether the address of the next instruction is put away: a call, which will come back.
    keeps_next: bool,
}

impl Walk<'_> {
    /// Whether every way through the block leaves the line of instructions.
    fn block(&mut self, block: &Block) -> bool {
        let mut leaves = false;
        for statement in block {
            leaves |= self.statement(statement);
        }
        leaves
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        match statement {
            Statement::Jump(target) => {
                self.targets.extend(self.known(target));
                true
            }
            Statement::Halt | Statement::Fault { .. } => true,
            Statement::If { condition, then, otherwise } => match self.known(condition) {
                Some(0) => self.block(otherwise),
                Some(_) => self.block(then),
                None => self.block(then) & self.block(otherwise),
            },
            other => {
                for expr in other.expressions() {
                    expr.visit(&mut |part| self.keeps_next |= part.kind == ExprKind::Next);
                }
                false
            }
        }
    }

    /// The value of an expression that depends on nothing but the instruction itself.
    fn known(&self, expr: &Expr) -> Option<u64> {
        let width = expr.width;
        Some(match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Pc => self.location.pc,
            ExprKind::Next => self.location.next,
            ExprKind::Operand(operand) => {
                let at = usize::from(operand.0);
                let field = self.isa.field(self.isa.instruction(self.decoded.instruction).operands[at]);
                match field.domain {
                    Domain::Number(_) | Domain::Values(_) => field.value(self.decoded.operands[at], self.location),
                    _ => return None,
                }
            }
            ExprKind::Code(operand) => self.decoded.operands[usize::from(operand.0)],
            ExprKind::Local(_) | ExprKind::Register(_) => return None,
            ExprKind::Unary(operator, x) => operator.apply(width, self.known(x)?),
            ExprKind::Binary(operator, x, y) => operator.apply(x.width, self.known(x)?, self.known(y)?),
            ExprKind::Slice(x, low) => width.wrap(self.known(x)? >> low),
            ExprKind::Join(high, low) => (self.known(high)? << low.width.bits()) | self.known(low)?,
            ExprKind::ZeroExtend(x) => self.known(x)?,
            ExprKind::SignExtend(x) => width.wrap(x.width.signed(self.known(x)?) as u64),
            ExprKind::Choose(condition, x, y) => self.known(if self.known(condition)? != 0 { x } else { y })?,
        })
    }
}
