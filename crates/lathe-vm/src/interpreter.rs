//! The reference interpreter: it walks the semantics as they stand. Every other engine is
//! compared with this one, so this one is kept simple.

use std::collections::BTreeSet;

use lathe_base::limits;
use lathe_isa::Isa;
use lathe_isa::model::{Domain, Field, Hook, MemoryId, Part, Place, RegisterId, Status};
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
    /// Instructions executed lately, by the lowest bits of their address.
    recent: Vec<Option<Box<Fetched<'i>>>>,
}

/// How many instructions are kept decoded.
const RECENT: usize = 1 << 10;

enum Undo {
    Register(RegisterId, u64),
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
    /// Where execution goes on, once that is said.
    pc: Option<u64>,
    cycles: u64,
    halted: bool,
    /// Whether a device was reached.
    touched: bool,
    /// Whether a mapped access is being done, whose own accesses reach the cells themselves.
    mapped: bool,
}

/// An instruction at an address, with what its operands say there.
struct Fetched<'i> {
    /// The cells it was decoded from. It is valid for the same cells only, so a program that
    /// changes itself needs no care.
    window: u128,
    /// What it does; nothing if the encoding is not defined.
    body: Option<&'i Body>,
    cycles: u64,
    operands: Vec<Operand<'i>>,
    /// The bits of the operands.
    codes: [u64; limits::OPERANDS],
    location: Location,
}

/// What an operand says.
enum Operand<'i> {
    /// A whole register: by far the most common place.
    Register(RegisterId),
    Place(&'i Place),
    Number(u64),
}

impl<'i> Interpreter<'i> {
    /// An interpreter for this instruction set.
    pub fn new(isa: &'i Isa) -> Self {
        let recent = (0..RECENT).map(|_| None).collect();
        Interpreter { isa, longest: isa.longest(), locals: Vec::new(), undo: Vec::new(), recent }
    }

    /// Executes one instruction, or what the machine does in its place.
    pub fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        self.undo.clear();
        let mut progress = Progress { pc: None, cycles: 0, halted: false, touched: false, mapped: false };
        let done = match &self.isa.on_step {
            Some(hook) => self.hook(hook, &mut progress, state, devices),
            None => Ok(()),
        };
        let pc = state.pc;
        if done.is_err() || progress.pc.is_some() {
            return self.end(pc, done, &progress, state, devices);
        }
        let window = state.window(self.isa, pc, self.longest);
        let slot = pc as usize % RECENT;
        let known = self.recent[slot].take().filter(|known| known.window == window && known.location.pc == pc);
        let fetched = known.unwrap_or_else(|| Box::new(self.fetch(window, pc)));
        let done = self.execute(&fetched, &mut progress, state, devices);
        self.recent[slot] = Some(fetched);
        self.end(pc, done, &progress, state, devices)
    }

    /// Whether the machine does something else before the instruction.
    pub(crate) fn is_due(&mut self, state: &State) -> bool {
        self.isa.on_step.as_ref().is_some_and(|hook| self.holds(&hook.when, state))
    }

    /// Whether a condition on registers holds.
    fn holds(&mut self, condition: &Body, state: &State) -> bool {
        let nowhere = self.between(state);
        self.locals.resize(self.locals.len().max(condition.locals.len()), 0);
        for statement in &condition.block {
            // It has been checked that a condition does nothing else.
            if let Statement::Let(local, value) = statement {
                self.locals[usize::from(local.0)] = self.value(value, &nowhere, state);
            }
        }
        condition.value.as_ref().is_some_and(|value| self.value(value, &nowhere, state) == 1)
    }

    /// Does what a meaning says between two instructions, such as one from [`Isa::compile`], and gives its
    /// value. Memory is reached cell by cell, never through a mapped address, so looking changes nothing.
    ///
    /// # Errors
    /// If it faults; the state is then as before.
    pub fn evaluate(&mut self, body: &Body, state: &mut State, devices: &mut Devices) -> Result<u64, FaultCause> {
        self.undo.clear();
        let mut progress = Progress { pc: None, cycles: 0, halted: false, touched: false, mapped: true };
        let nowhere = self.between(state);
        match self.body(body, &[], &nowhere, &mut progress, state, devices) {
            Ok(value) => {
                devices.commit();
                state.pc = progress.pc.unwrap_or(state.pc);
                Ok(value)
            }
            Err(cause) => {
                self.roll_back(state);
                devices.discard();
                Err(*cause)
            }
        }
    }

    /// What is done before an instruction.
    fn hook(
        &mut self,
        hook: &Hook,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), Box<FaultCause>> {
        if self.holds(&hook.when, state) {
            let nowhere = self.between(state);
            self.body(&hook.body, &[], &nowhere, progress, state, devices)?;
        }
        Ok(())
    }

    /// The place between two instructions.
    fn between(&self, state: &State) -> Fetched<'i> {
        let location = Location { pc: state.pc, next: state.pc, width: self.isa.pc.width };
        Fetched { window: 0, body: None, cycles: 0, operands: Vec::new(), codes: [0; limits::OPERANDS], location }
    }

    /// Decodes the instruction at an address.
    fn fetch(&self, window: u128, pc: u64) -> Fetched<'i> {
        let (isa, width) = (self.isa, self.isa.pc.width);
        let Some(decoded) = isa.decode(window) else {
            let (body, location) = (isa.on_illegal.as_ref(), Location { pc, next: pc, width });
            return Fetched { window, body, cycles: 0, operands: Vec::new(), codes: [0; limits::OPERANDS], location };
        };
        let instruction = isa.instruction(decoded.instruction);
        let next = width.wrap(pc.wrapping_add(u64::from(instruction.encoding.cells)));
        let location = Location { pc, next, width };
        let fields = instruction.operands.iter().map(|field| isa.field(*field));
        let operand = |(field, bits): (&'i Field, u64)| match &field.domain {
            Domain::Registers(list) => match &list[bits as usize] {
                Some((_, place)) => match isa.whole_register(place) {
                    Some(register) => Operand::Register(register),
                    None => Operand::Place(place),
                },
                None => Operand::Number(0),
            },
            _ => Operand::Number(field.value(bits, location)),
        };
        let codes = decoded.operands;
        let operands = fields.zip(codes.iter().copied()).map(operand).collect();
        Fetched { window, body: Some(&instruction.body), cycles: instruction.cycles, operands, codes, location }
    }

    fn execute(
        &mut self,
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), Box<FaultCause>> {
        let body = fetched.body.ok_or(FaultCause::Undefined)?;
        progress.cycles = progress.cycles.wrapping_add(fetched.cycles);
        self.body(body, &[], fetched, progress, state, devices)?;
        progress.pc.get_or_insert(fetched.location.next);
        Ok(())
    }

    /// Makes what has been done final, or undoes it.
    fn end(
        &mut self,
        pc: u64,
        done: Result<(), Box<FaultCause>>,
        progress: &Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Step {
        if let Err(cause) = done {
            self.roll_back(state);
            devices.discard();
            return Step { stop: Some(Stop::Fault(Fault { pc, cause: *cause })), cycles: 0 };
        }
        devices.commit();
        state.pc = progress.pc.unwrap_or(pc);
        let stuck = state.pc == pc && !progress.touched && self.nothing_changed(state);
        let stop = (progress.halted || stuck).then_some(Stop::Halted);
        Step { stop, cycles: progress.cycles }
    }

    /// Executes a body with its first locals given; gives its value, if it has one.
    fn body(
        &mut self,
        body: &Body,
        given: &[u64],
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<u64, Box<FaultCause>> {
        // Locals are always assigned before they are read, so old values may stay in the others.
        if self.locals.len() < body.locals.len() {
            self.locals.resize(body.locals.len(), 0);
        }
        self.locals[..given.len()].copy_from_slice(given);
        self.block(&body.block, fetched, progress, state, devices)?;
        Ok(body.value.as_ref().map_or(0, |value| self.value(value, fetched, state)))
    }

    fn block(
        &mut self,
        block: &Block,
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), Box<FaultCause>> {
        for statement in block {
            self.statement(statement, fetched, progress, state, devices)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &Statement,
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), Box<FaultCause>> {
        match statement {
            Statement::Let(local, value) => self.locals[usize::from(local.0)] = self.value(value, fetched, state),
            Statement::SetRegister(register, value) => {
                let value = self.value(value, fetched, state);
                self.set_register(*register, value, state);
            }
            Statement::SetOperand(operand, value) => {
                let value = self.value(value, fetched, state);
                self.set_operand(*operand, value, fetched, state);
            }
            Statement::Load { into, memory, address } => {
                let address = self.value(address, fetched, state);
                let value = self.load(*memory, address, fetched, progress, state, devices)?;
                self.locals[usize::from(into.0)] = value;
            }
            Statement::Store { memory, address, value } => {
                let (address, value) = (self.value(address, fetched, state), self.value(value, fetched, state));
                self.store(*memory, address, value, fetched, progress, state, devices)?;
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments = self.values(arguments, fetched, state);
                progress.touched = true;
                self.locals[usize::from(into.0)] = devices.read(*device, *operation, &arguments);
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let arguments = self.values(arguments, fetched, state);
                progress.touched = true;
                devices.write_later(*device, *operation, arguments);
            }
            Statement::Jump(target) => progress.pc = Some(self.value(target, fetched, state)),
            Statement::Halt => progress.halted = true,
            Statement::Fault { message, detail } => {
                let detail = detail.as_ref().map(|detail| self.value(detail, fetched, state));
                return Err(Box::new(FaultCause::Declared(message.clone(), detail)));
            }
            Statement::Cycles(count) => {
                progress.cycles = progress.cycles.wrapping_add(self.value(count, fetched, state));
            }
            Statement::If { condition, then, otherwise } => {
                let taken = self.value(condition, fetched, state) != 0;
                self.block(if taken { then } else { otherwise }, fetched, progress, state, devices)?;
            }
        }
        Ok(())
    }

    fn values(&self, list: &[Expr], fetched: &Fetched, state: &State) -> Vec<u64> {
        list.iter().map(|expr| self.value(expr, fetched, state)).collect()
    }

    /// The value of an expression. Most are a single thing, for which no call is worth it.
    #[inline]
    fn value(&self, expr: &Expr, fetched: &Fetched, state: &State) -> u64 {
        match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Local(local) => self.locals[usize::from(local.0)],
            ExprKind::Register(register) => state.register(*register),
            ExprKind::Operand(operand) => self.operand(*operand, fetched, state),
            _ => self.compute(expr, fetched, state),
        }
    }

    fn compute(&self, expr: &Expr, fetched: &Fetched, state: &State) -> u64 {
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Local(_) | ExprKind::Register(_) | ExprKind::Operand(_) => {
                self.value(expr, fetched, state)
            }
            ExprKind::Code(operand) => fetched.codes[usize::from(operand.0)],
            ExprKind::Pc => fetched.location.pc,
            ExprKind::Next => fetched.location.next,
            ExprKind::Unary(operator, x) => operator.apply(expr.width, self.value(x, fetched, state)),
            ExprKind::Binary(operator, x, y) => {
                operator.apply(x.width, self.value(x, fetched, state), self.value(y, fetched, state))
            }
            ExprKind::Slice(x, low) => expr.width.wrap(self.value(x, fetched, state) >> low),
            ExprKind::Join(high, low) => {
                (self.value(high, fetched, state) << low.width.bits()) | self.value(low, fetched, state)
            }
            ExprKind::ZeroExtend(x) => self.value(x, fetched, state),
            ExprKind::SignExtend(x) => expr.width.wrap(x.width.signed(self.value(x, fetched, state)) as u64),
            ExprKind::Choose(condition, x, y) => {
                let chosen = if self.value(condition, fetched, state) != 0 { x } else { y };
                self.value(chosen, fetched, state)
            }
        }
    }

    fn operand(&self, operand: OperandId, fetched: &Fetched, state: &State) -> u64 {
        match &fetched.operands[usize::from(operand.0)] {
            Operand::Register(register) => state.register(*register),
            Operand::Place(place) => state.place(place),
            Operand::Number(number) => *number,
        }
    }

    fn set_register(&mut self, register: RegisterId, value: u64, state: &mut State) {
        self.undo.push(Undo::Register(register, state.register(register)));
        state.set_register(register, value);
    }

    fn set_operand(&mut self, operand: OperandId, value: u64, fetched: &Fetched, state: &mut State) {
        match fetched.operands[usize::from(operand.0)] {
            Operand::Register(register) => self.set_register(register, value, state),
            Operand::Place(place) => {
                let old = |part: &Part| Undo::Register(part.register, state.register(part.register));
                self.undo.extend(place.parts.iter().map(old));
                state.set_place(self.isa, place, value);
            }
            Operand::Number(_) => {}
        }
    }

    fn load(
        &mut self,
        memory: MemoryId,
        address: u64,
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<u64, Box<FaultCause>> {
        match self.isa.mapping(memory, address).filter(|_| !progress.mapped) {
            None => Ok(state.memory(memory).get(address)),
            Some(mapping) => {
                let locals = std::mem::take(&mut self.locals);
                progress.mapped = true;
                let value = self.body(&mapping.read, &[address], fetched, progress, state, devices);
                progress.mapped = false;
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
        fetched: &Fetched,
        progress: &mut Progress,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<(), Box<FaultCause>> {
        match self.isa.mapping(memory, address).filter(|_| !progress.mapped) {
            None => {
                self.undo.push(Undo::Cell(memory, address, state.memory(memory).get(address)));
                state.memory_mut(memory).set(address, value);
                Ok(())
            }
            Some(mapping) => {
                let locals = std::mem::take(&mut self.locals);
                progress.mapped = true;
                let done = self.body(&mapping.write, &[address, value], fetched, progress, state, devices);
                progress.mapped = false;
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
        let mut seen = BTreeSet::new();
        self.undo.iter().all(|change| match change {
            Undo::Register(register, old) => {
                !seen.insert((None, u64::from(register.0))) || state.register(*register) == *old
            }
            Undo::Cell(memory, address, old) => {
                !seen.insert((Some(*memory), *address)) || state.memory(*memory).get(*address) == *old
            }
        })
    }
}
