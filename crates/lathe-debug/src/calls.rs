//! Calls and returns, as far as the meaning of instructions reveals them.
//!
//! An instruction that jumps and saves the address of the next instruction is a call. A jump to an address saved by a
//! call on the stack is its return. Nothing has to be declared, and nothing is assumed about where return addresses are
//! kept.

use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::model::{Domain, Instruction, RegisterId};
use lathe_isa::semantics::{Body, Expr, ExprKind, LocalId, OperandId, Statement};
use lathe_vm::State;

use crate::program::Program;

/// The most frames kept.
const DEEPEST: usize = 4096;

/// What an instruction does to the control flow, as far as its meaning tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// It does not save where it came from.
    Other,
    /// It jumps to a fixed address and saves the next one.
    Call,
    /// It jumps to an address from a register and saves the next one: a call, or, on machines where every jump does
    /// that, a jump.
    Indirect,
}

/// What the rows of a definition say about calls.
#[derive(Clone, Debug)]
pub struct CallModel {
    rows: Vec<Row>,
    /// Registers that some instruction counts up or down and addresses memory with.
    stack_pointers: Vec<RegisterId>,
}

#[derive(Clone, Debug, Default)]
struct Row {
    jumps: bool,
    indirect: bool,
    /// Saves the next address in memory or in a fixed register.
    saves: bool,
    /// Saves the next address in the register that one of these operands names.
    saves_in: Vec<OperandId>,
}

impl CallModel {
    /// Reads the meaning of every row.
    pub fn new(isa: &Isa) -> CallModel {
        let rows = isa.instructions.iter().map(|instruction| Row::of(isa, instruction)).collect();
        let mut stack_pointers = Vec::new();
        for instruction in &isa.instructions {
            for register in counted(&instruction.body) {
                if addresses_with(&instruction.body, register) && !stack_pointers.contains(&register) {
                    stack_pointers.push(register);
                }
            }
        }
        CallModel { rows, stack_pointers }
    }

    /// Returns what an instruction does to the control flow.
    pub fn transfer(&self, isa: &Isa, decoded: &Decoded) -> Transfer {
        let row = &self.rows[decoded.instruction.index()];
        let fields = &isa.instruction(decoded.instruction).operands;
        let keeps = |operand: &OperandId| {
            let at = usize::from(operand.0);
            let Domain::Registers(list) = &isa.field(fields[at]).domain else { return false };
            let place = list.get(decoded.operands[at] as usize).and_then(Option::as_ref);
            place.is_some_and(|(_, place)| place.parts.iter().any(|part| !isa.register(part.register).constant))
        };
        match row.jumps && (row.saves || row.saves_in.iter().any(keeps)) {
            true if row.indirect => Transfer::Indirect,
            true => Transfer::Call,
            false => Transfer::Other,
        }
    }

    /// Whether the step from one instruction to another address was a call.
    pub(crate) fn called(&self, program: &Program, decoded: Option<&Decoded>, from: u64, to: u64) -> bool {
        match decoded.map(|decoded| self.transfer(program.isa(), decoded)) {
            Some(Transfer::Call) => true,
            // Where every jump looks like a call, a jump within one label is not a call.
            Some(Transfer::Indirect) => program.owner(from) != program.owner(to),
            _ => false,
        }
    }

    fn stack(&self, state: &State) -> Vec<u64> {
        self.stack_pointers.iter().map(|register| state.register(*register)).collect()
    }
}

impl Row {
    fn of(isa: &Isa, instruction: &Instruction) -> Row {
        let mut row = Row::default();
        let is_register = |operand: OperandId| {
            let field = instruction.operands[usize::from(operand.0)];
            matches!(isa.field(field).domain, Domain::Registers(_))
        };
        let is_indirect = |expr: &Expr, loaded: &[LocalId]| is_indirect(expr, loaded, &is_register);
        let mut saved: Vec<LocalId> = Vec::new();
        let mut loaded: Vec<LocalId> = Vec::new();
        for statement in &instruction.body.block {
            statement.visit(&mut |statement| match statement {
                Statement::Let(local, value) => {
                    if mentions_next(value, &saved) {
                        saved.push(*local);
                    }
                    if is_indirect(value, &loaded) {
                        loaded.push(*local);
                    }
                }
                Statement::Load { into, .. } => loaded.push(*into),
                Statement::Store { value, .. } if mentions_next(value, &saved) => row.saves = true,
                Statement::SetRegister(_, value) if mentions_next(value, &saved) => row.saves = true,
                Statement::SetOperand(operand, value) if mentions_next(value, &saved) => row.saves_in.push(*operand),
                Statement::Jump(target) => {
                    row.jumps = true;
                    row.indirect |= is_indirect(target, &loaded);
                }
                _ => {}
            });
        }
        row
    }
}

fn mentions_next(expr: &Expr, saved: &[LocalId]) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| {
        found |= match &expr.kind {
            ExprKind::Next => true,
            ExprKind::Local(local) => saved.contains(local),
            _ => false,
        };
    });
    found
}

/// Whether an address comes from a register or memory.
fn is_indirect(expr: &Expr, loaded: &[LocalId], is_register: &impl Fn(OperandId) -> bool) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| {
        found |= match &expr.kind {
            ExprKind::Register(_) => true,
            ExprKind::Operand(operand) => is_register(*operand),
            ExprKind::Local(local) => loaded.contains(local),
            _ => false,
        };
    });
    found
}

/// Returns the registers that a body counts up or down.
fn counted(body: &Body) -> Vec<RegisterId> {
    let mut found = Vec::new();
    for statement in &body.block {
        statement.visit(&mut |statement| {
            if let Statement::SetRegister(register, Expr { kind: ExprKind::Binary(_, x, y), .. }) = statement
                && x.kind == ExprKind::Register(*register)
                && y.as_constant().is_some()
            {
                found.push(*register);
            }
        });
    }
    found
}

fn addresses_with(body: &Body, register: RegisterId) -> bool {
    let mut found = false;
    for statement in &body.block {
        statement.visit(&mut |statement| {
            if let Statement::Load { address, .. } | Statement::Store { address, .. } = statement {
                address.visit(&mut |expr| found |= expr.kind == ExprKind::Register(register));
            }
        });
    }
    found
}

/// A call that has not returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The address of the instruction that called.
    pub site: u64,
    /// Where the call went.
    pub target: u64,
    /// Where the call will return to.
    pub return_to: u64,
    /// The position before the call.
    pub position: u64,
    stack: Vec<u64>,
}

/// The calls at one position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    /// The calls that have not returned, outermost first.
    pub frames: Vec<Frame>,
    /// Whether earlier calls are unknown.
    pub cut: bool,
    /// The call that the last instruction returned from.
    pub(crate) returned: Option<Frame>,
}

/// One executed instruction, for following calls.
pub(crate) struct Jumped<'j> {
    pub(crate) program: &'j Program,
    pub(crate) model: &'j CallModel,
    pub(crate) decoded: Option<&'j Decoded>,
    pub(crate) from: u64,
    pub(crate) next: u64,
    /// The position before the instruction.
    pub(crate) position: u64,
}

impl Stack {
    /// Follows one executed instruction.
    pub(crate) fn follow(&mut self, jumped: &Jumped, state: &State) {
        self.returned = None;
        let to = state.pc;
        if to == jumped.next {
            return;
        }
        if let Some(at) = self.frames.iter().rposition(|frame| frame.return_to == to) {
            self.returned = self.frames.drain(at..).next();
        } else if jumped.model.called(jumped.program, jumped.decoded, jumped.from, to) {
            let stack = jumped.model.stack(state);
            let return_to = jumped.program.return_address(jumped.next);
            let (site, position) = (jumped.from, jumped.position);
            let frame = Frame { site, target: to, return_to, position, stack };
            // The same call at the same stack depth: the earlier one was left by a jump.
            let same = |known: &Frame| (known.site, known.target, &known.stack) == (site, to, &frame.stack);
            if let Some(at) = self.frames.iter().position(same) {
                self.frames.truncate(at);
            }
            if self.frames.len() == DEEPEST {
                self.frames.remove(0);
                self.cut = true;
            }
            self.frames.push(frame);
        }
    }
}
