//! Where execution goes after an instruction, and in which modes, as far as its bits tell.

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::model::{Domain, RegisterId};
use lathe_isa::operand::Location;
use lathe_isa::operators::{BinaryOperator, UnaryOperator};
use lathe_isa::semantics::{Block, Expr, ExprKind, Statement};

/// The values of the modes, as bits of a window. Unknown modes are assumed to be unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modes {
    pub(super) bits: u128,
    pub(super) known: u128,
}

impl Modes {
    /// Takes the modes from the values of the registers; all are known.
    pub(super) fn with(registers: &[u64], isa: &Isa) -> Modes {
        Modes { bits: isa.mode_bits(registers), known: isa.mode_mask() }
    }

    /// Returns the same values, none of them known.
    pub(super) fn assumed(self) -> Modes {
        Modes { known: 0, ..self }
    }

    fn of(self, register: RegisterId, isa: &Isa) -> Bits {
        let width = isa.register(register).width;
        match isa.modes.iter().find(|(mode, _)| *mode == register) {
            Some((_, shift)) => {
                let part = |bits: u128| width.wrap((bits >> shift) as u64);
                Bits { value: part(self.bits & self.known), known: part(self.known) }
            }
            None => Bits::default(),
        }
    }

    fn set(&mut self, register: RegisterId, value: Bits, isa: &Isa) {
        let Some((_, shift)) = isa.modes.iter().find(|(mode, _)| *mode == register) else { return };
        let (mask, known) =
            (u128::from(isa.register(register).width.mask()) << shift, u128::from(value.known) << shift);
        self.bits = self.bits & !known | u128::from(value.value) << shift & known;
        self.known = self.known & !mask | known;
    }

    /// Keeps what is known on both of two paths.
    fn joined(self, other: Modes) -> Modes {
        let known = self.known & other.known & !(self.bits ^ other.bits);
        Modes { bits: self.bits, known }
    }
}

/// Where execution may go.
pub(super) struct Flow {
    /// Whether the next instruction in memory may follow, directly or after a call.
    pub(super) goes_on: bool,
    /// Jump targets.
    pub(super) targets: Vec<u64>,
    /// The modes there.
    pub(super) modes: Modes,
    /// Whether the instruction saves the address of the next one: a call, which will return.
    pub(super) is_call: bool,
}

/// Finds where execution goes after an instruction.
pub(super) fn of(isa: &Isa, decoded: &Decoded, location: Location, modes: Modes) -> Flow {
    let body = &isa.instruction(decoded.instruction).body;
    let locals = vec![Bits::default(); body.locals.len()];
    let mut walk =
        Walk { isa, decoded, location, locals, modes, targets: Vec::new(), keeps_next: false, changes_bank: false };
    let leaves = walk.block(&body.block);
    let is_call = walk.keeps_next;
    // The same addresses hold other cells in another bank.
    let targets = if walk.changes_bank { Vec::new() } else { walk.targets };
    Flow { goes_on: !leaves || is_call, targets, modes: walk.modes, is_call }
}

struct Walk<'w> {
    isa: &'w Isa,
    decoded: &'w Decoded,
    location: Location,
    locals: Vec<Bits>,
    modes: Modes,
    targets: Vec<u64>,
    keeps_next: bool,
    /// Whether the instruction sets a register that selects where instructions are fetched from.
    changes_bank: bool,
}

/// The known bits of a value.
#[derive(Clone, Copy, Debug, Default)]
struct Bits {
    /// Unknown bits are 0 here.
    value: u64,
    known: u64,
}

impl Bits {
    fn all(width: Width, value: u64) -> Bits {
        Bits { value: width.wrap(value), known: width.mask() }
    }

    /// Returns the bits that are known to be 0, and those known to be 1.
    fn zeros_and_ones(self) -> (u64, u64) {
        (self.known & !self.value, self.value)
    }

    /// Returns the value, if all its bits are known.
    fn whole(self, width: Width) -> Option<u64> {
        (self.known == width.mask()).then_some(self.value)
    }
}

impl Walk<'_> {
    /// Whether every path through the block leaves the sequence of instructions.
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
                None => {
                    let before = self.modes;
                    let leaves = self.block(then);
                    let after = std::mem::replace(&mut self.modes, before);
                    let both = self.block(otherwise) & leaves;
                    self.modes = after.joined(self.modes);
                    both
                }
            },
            other => {
                match other {
                    Statement::Let(local, value) => self.locals[usize::from(local.0)] = self.bits(value),
                    Statement::SetRegister(register, value) => {
                        let value = self.bits(value);
                        self.modes.set(*register, value, self.isa);
                        let is_mode = self.isa.modes.iter().any(|(mode, _)| mode == register);
                        self.changes_bank |= !is_mode && self.isa.banked_by.contains(register);
                    }
                    _ => {}
                }
                for expr in other.expressions() {
                    expr.visit(&mut |part| self.keeps_next |= part.kind == ExprKind::Next);
                }
                false
            }
        }
    }

    /// Returns the value of an expression that depends only on the instruction itself and on known modes.
    fn known(&self, expr: &Expr) -> Option<u64> {
        self.bits(expr).whole(expr.width)
    }

    fn bits(&self, expr: &Expr) -> Bits {
        let width = expr.width;
        let all = |value: u64| Bits::all(width, value);
        match &expr.kind {
            ExprKind::Constant(value) => all(*value),
            ExprKind::Pc => all(self.location.pc),
            ExprKind::Next => all(self.location.next),
            ExprKind::Operand(operand) => {
                let at = usize::from(operand.0);
                let field = self.isa.field(self.isa.instruction(self.decoded.instruction).operands[at]);
                match field.domain {
                    Domain::Number(_) | Domain::Values(_) => all(field.value(self.decoded.operands[at], self.location)),
                    _ => Bits::default(),
                }
            }
            ExprKind::Code(operand) => all(self.decoded.operands[usize::from(operand.0)]),
            ExprKind::Local(local) => self.locals[usize::from(local.0)],
            ExprKind::Register(register) => self.modes.of(*register, self.isa),
            ExprKind::Unary(UnaryOperator::Not, x) => {
                let x = self.bits(x);
                Bits { value: !x.value & x.known, ..x }
            }
            ExprKind::Unary(operator, x) => self.known(x).map_or(Bits::default(), |x| all(operator.apply(width, x))),
            ExprKind::Binary(operator, x, y) => match (self.known(x), self.known(y)) {
                (Some(a), Some(b)) => all(operator.apply(x.width, a, b)),
                _ => bitwise(*operator, self.bits(x), self.bits(y)),
            },
            ExprKind::Slice(x, low) => {
                let x = self.bits(x);
                Bits { value: width.wrap(x.value >> low), known: width.wrap(x.known >> low) }
            }
            ExprKind::Join(high, low) => {
                let (bits, high, low) = (low.width.bits(), self.bits(high), self.bits(low));
                Bits { value: high.value << bits | low.value, known: high.known << bits | low.known }
            }
            ExprKind::ZeroExtend(x) => {
                let inner = self.bits(x);
                Bits { known: inner.known | width.mask() & !x.width.mask(), ..inner }
            }
            ExprKind::SignExtend(x) => self.known(x).map_or(Bits::default(), |value| all(x.width.signed(value) as u64)),
            ExprKind::Choose(condition, x, y) => match self.known(condition) {
                Some(condition) => self.bits(if condition != 0 { x } else { y }),
                None => Bits::default(),
            },
        }
    }
}

/// Returns what is known of the result of a bitwise operation.
fn bitwise(operator: BinaryOperator, x: Bits, y: Bits) -> Bits {
    let ((zeros, ones), (other_zeros, other_ones)) = (x.zeros_and_ones(), y.zeros_and_ones());
    let (zeros, ones) = match operator {
        BinaryOperator::And => (zeros | other_zeros, ones & other_ones),
        BinaryOperator::Or => (zeros & other_zeros, ones | other_ones),
        BinaryOperator::Xor => (zeros & other_zeros | ones & other_ones, zeros & other_ones | ones & other_zeros),
        _ => (0, 0),
    };
    Bits { value: ones, known: zeros | ones }
}
