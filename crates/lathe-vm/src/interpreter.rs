//! The reference interpreter: it walks the semantics as they stand. Every other engine is
//! compared with this one, so this one is kept simple.

use lathe_base::limits;
use lathe_isa::Isa;
use lathe_isa::decode::Decoded;
use lathe_isa::model::{Domain, Instruction, MemoryId, Status};
use lathe_isa::operand::Location;
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, OperandId, Statement};

use crate::device::Devices;
use crate::state::State;

/// Executes one instruction after the other.
pub struct Interpreter<'i> {
    isa: &'i Isa,
    /// Cells to look at before decoding.
    longest: u32,
    /// Values of the locals of the body being executed.
    locals: Vec<u64>,
    /// What the running instruction has overwritten, oldest first.
    undo: Vec<Undo>,
}

enum Undo {
    Register(lathe_isa::model::RegisterId, u64),
    Cell(MemoryId, u64, u64),
}

/// Why a machine stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It halted, or can never change again.
    Halted,
    /// It could not execute an instruction; the state is as before that instruction.
    Fault(Fault),
    /// The limit of steps was reached.
    Limit,
}

/// An instruction that could not be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its address.
    pub pc: u64,
    /// What is wrong.
    pub cause: FaultCause,
}

/// What is wrong with an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultCause {
    /// No row of the definition has this encoding.
    Undefined,
    /// The definition says so, with its words and perhaps a number.
    Declared(String, Option<u64>),
}

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Why it stopped.
    pub stop: Stop,
    /// How many instructions were executed; one that faulted does not count.
    pub steps: u64,
    /// How many cycles they took, where the definition counts them.
    pub cycles: u64,
}

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Why the machine stopped, if it did.
    pub stop: Option<Stop>,
    /// How many cycles it took.
    pub cycles: u64,
}

impl Step {
    /// How it ended, in one word.
    pub fn status(&self) -> Status {
        match self.stop {
            None | Some(Stop::Limit) => Status::Running,
            Some(Stop::Halted) => Status::Halted,
            Some(Stop::Fault(_)) => Status::Fault,
        }
    }
}

/// What an instruction has done so far, besides changing the state.
struct Progress {
    /// Where execution goes on.
    pc: u64,
    cycles: u64,
    halted: bool,
    /// Whether a device was reached.
    touched: bool,
}

/// The instruction being executed: its operands, and where it stands.
struct Context<'c> {
    instruction: Option<&'c Instruction>,
    operands: [u64; limits::OPERANDS],
    location: Location,
}

impl<'i> Interpreter<'i> {
    /// An interpreter for this instruction set.
    pub fn new(isa: &'i Isa) -> Self {
        Interpreter { isa, longest: isa.longest(), locals: Vec::new(), undo: Vec::new() }
    }

    /// Executes at most `limit` instructions.
    pub fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        let mut run = Run { stop: Stop::Limit, steps: 0, cycles: 0 };
        while run.steps < limit {
            let step = self.step(state, devices);
            run.cycles += step.cycles;
            run.steps += u64::from(!matches!(step.stop, Some(Stop::Fault(_))));
            if let Some(stop) = step.stop {
                run.stop = stop;
                break;
            }
        }
        run
    }

    /// Executes one instruction.
    pub fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        let isa = self.isa;
        let pc = state.pc;
        let window = state.window(isa, pc, self.longest);
        let (context, body, cycles) = match isa.decode(window) {
            Some(Decoded { instruction, operands }) => {
                let instruction = isa.instruction(instruction);
                let context = self.context(Some(instruction), operands, pc);
                (context, &instruction.body, instruction.cycles)
            }
            None => match &isa.on_illegal {
                Some(body) => (self.context(None, [0; limits::OPERANDS], pc), body, 0),
                None => return fault(pc, FaultCause::Undefined),
            },
        };
        self.undo.clear();
        let mut progress = Progress { pc: context.location.next, cycles, halted: false, touched: false };
        match self.body(body, &[], &context, &mut progress, state, devices) {
            Err(cause) => {
                self.roll_back(state);
                devices.discard();
                fault(pc, cause)
            }
            Ok(_) => {
                devices.commit();
                state.pc = progress.pc;
                let stuck = progress.pc == pc && !progress.touched && self.nothing_changed(state);
                let stop = (progress.halted || stuck).then_some(Stop::Halted);
                Step { stop, cycles: progress.cycles }
            }
        }
    }

    fn context<'c>(
        &self,
        instruction: Option<&'c Instruction>,
        operands: [u64; limits::OPERANDS],
        pc: u64,
    ) -> Context<'c> {
        let width = self.isa.pc.width;
        let length = instruction.map_or(0, |instruction| u64::from(instruction.encoding.cells));
        let next = width.wrap(pc.wrapping_add(length));
        Context { instruction, operands, location: Location { pc, next, width } }
    }

    /// Executes a body with its first locals given; gives its value, if it has one.
    fn body(
        &mut self,
        body: &Body,
        given: &[u64],
        context: &Context,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<u64, FaultCause> {
        self.locals.clear();
        self.locals.extend_from_slice(given);
        self.locals.resize(body.locals.len(), 0);
        self.block(&body.block, context, progress, state, devices)?;
        Ok(body.value.as_ref().map_or(0, |value| self.value(value, context, state)))
    }

    fn block(
        &mut self,
        block: &Block,
        context: &Context,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), FaultCause> {
        for statement in block {
            self.statement(statement, context, progress, state, devices)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &Statement,
        context: &Context,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), FaultCause> {
        match statement {
            Statement::Let(local, value) => self.locals[usize::from(local.0)] = self.value(value, context, state),
            Statement::SetRegister(register, value) => {
                let value = self.value(value, context, state);
                self.undo.push(Undo::Register(*register, state.register(*register)));
                state.set_register(*register, value);
            }
            Statement::SetOperand(operand, value) => {
                let value = self.value(value, context, state);
                self.set_operand(*operand, value, context, state);
            }
            Statement::Load { into, memory, address } => {
                let address = self.value(address, context, state);
                let value = self.load(*memory, address, context, progress, state, devices)?;
                self.locals[usize::from(into.0)] = value;
            }
            Statement::Store { memory, address, value } => {
                let (address, value) = (self.value(address, context, state), self.value(value, context, state));
                self.store(*memory, address, value, context, progress, state, devices)?;
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments = self.values(arguments, context, state);
                progress.touched = true;
                self.locals[usize::from(into.0)] = devices.read(*device, *operation, &arguments);
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let arguments = self.values(arguments, context, state);
                progress.touched = true;
                devices.write_later(*device, *operation, arguments);
            }
            Statement::Jump(target) => progress.pc = self.value(target, context, state),
            Statement::Halt => progress.halted = true,
            Statement::Fault { message, detail } => {
                let detail = detail.as_ref().map(|detail| self.value(detail, context, state));
                return Err(FaultCause::Declared(message.clone(), detail));
            }
            Statement::Cycles(count) => progress.cycles += self.value(count, context, state),
            Statement::If { condition, then, otherwise } => {
                let taken = self.value(condition, context, state) != 0;
                self.block(if taken { then } else { otherwise }, context, progress, state, devices)?;
            }
        }
        Ok(())
    }

    fn values(&self, list: &[Expr], context: &Context, state: &State) -> Vec<u64> {
        list.iter().map(|expr| self.value(expr, context, state)).collect()
    }

    fn value(&self, expr: &Expr, context: &Context, state: &State) -> u64 {
        match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Local(local) => self.locals[usize::from(local.0)],
            ExprKind::Register(register) => state.register(*register),
            ExprKind::Operand(operand) => self.operand(*operand, context, state),
            ExprKind::Pc => context.location.pc,
            ExprKind::Next => context.location.next,
            ExprKind::Unary(operator, x) => operator.apply(expr.width, self.value(x, context, state)),
            ExprKind::Binary(operator, x, y) => {
                operator.apply(x.width, self.value(x, context, state), self.value(y, context, state))
            }
            ExprKind::Slice(x, low) => expr.width.wrap(self.value(x, context, state) >> low),
            ExprKind::Join(high, low) => {
                (self.value(high, context, state) << low.width.bits()) | self.value(low, context, state)
            }
            ExprKind::ZeroExtend(x) => self.value(x, context, state),
            ExprKind::SignExtend(x) => expr.width.wrap(x.width.signed(self.value(x, context, state)) as u64),
            ExprKind::Choose(condition, x, y) => {
                let chosen = if self.value(condition, context, state) != 0 { x } else { y };
                self.value(chosen, context, state)
            }
        }
    }

    fn operand(&self, operand: OperandId, context: &Context, state: &State) -> u64 {
        let Some(instruction) = context.instruction else { return 0 };
        let at = usize::from(operand.0);
        let field = self.isa.field(instruction.operands[at]);
        let bits = context.operands[at];
        match &field.domain {
            Domain::Registers(list) => match &list[bits as usize] {
                Some((_, place)) => state.place(place),
                None => 0,
            },
            _ => field.value(bits, context.location),
        }
    }

    fn set_operand(&mut self, operand: OperandId, value: u64, context: &Context, state: &mut State) {
        let Some(instruction) = context.instruction else { return };
        let at = usize::from(operand.0);
        let Domain::Registers(list) = &self.isa.field(instruction.operands[at]).domain else { return };
        let Some((_, place)) = &list[context.operands[at] as usize] else { return };
        self.undo.extend(place.parts.iter().map(|part| Undo::Register(part.register, state.register(part.register))));
        state.set_place(self.isa, place, value);
    }

    fn load(
        &mut self,
        memory: MemoryId,
        address: u64,
        context: &Context,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<u64, FaultCause> {
        match self.isa.mapping(memory, address) {
            None => Ok(state.memory(memory).get(address)),
            Some(mapping) => {
                let locals = std::mem::take(&mut self.locals);
                let value = self.body(&mapping.read, &[address], context, progress, state, devices);
                self.locals = locals;
                value
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a store and its surroundings")]
    fn store(
        &mut self,
        memory: MemoryId,
        address: u64,
        value: u64,
        context: &Context,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), FaultCause> {
        match self.isa.mapping(memory, address) {
            None => {
                self.undo.push(Undo::Cell(memory, address, state.memory(memory).get(address)));
                state.memory_mut(memory).set(address, value);
                Ok(())
            }
            Some(mapping) => {
                let locals = std::mem::take(&mut self.locals);
                let done = self.body(&mapping.write, &[address, value], context, progress, state, devices);
                self.locals = locals;
                done.map(|_| ())
            }
        }
    }

    /// The cells that the instruction executed last has written.
    pub(crate) fn written(&self) -> impl Iterator<Item = (MemoryId, u64)> {
        self.undo.iter().filter_map(|change| match change {
            Undo::Cell(memory, address, _) => Some((*memory, *address)),
            Undo::Register(..) => None,
        })
    }

    fn roll_back(&mut self, state: &mut State) {
        for change in self.undo.drain(..).rev() {
            match change {
                Undo::Register(register, old) => state.set_register(register, old),
                Undo::Cell(memory, address, old) => state.memory_mut(memory).set(address, old),
            }
        }
    }

    /// Whether everything overwritten has the value it had before the instruction.
    fn nothing_changed(&self, state: &State) -> bool {
        let mut seen: Vec<&Undo> = Vec::new();
        self.undo.iter().all(|change| {
            let first = !seen.iter().any(|earlier| earlier.same_place(change));
            seen.push(change);
            !first
                || match change {
                    Undo::Register(register, old) => state.register(*register) == *old,
                    Undo::Cell(memory, address, old) => state.memory(*memory).get(*address) == *old,
                }
        })
    }
}

impl Undo {
    fn same_place(&self, other: &Undo) -> bool {
        match (self, other) {
            (Undo::Register(a, _), Undo::Register(b, _)) => a == b,
            (Undo::Cell(m, a, _), Undo::Cell(n, b, _)) => (m, a) == (n, b),
            _ => false,
        }
    }
}

fn fault(pc: u64, cause: FaultCause) -> Step {
    Step { stop: Some(Stop::Fault(Fault { pc, cause })), cycles: 0 }
}
