//! The reference interpreter: it walks the semantics as they are. Every other engine is compared with it, so it is kept
//! simple.

use std::collections::BTreeSet;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, Domain, Field, Hook, InstructionId, MemoryId, Part, Place, RegisterId, Status};
use lathe_isa::operand::Location;
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, OperandId, Statement};

use crate::changes::{CellChange, Changes, DeviceUse, RegisterChange};
use crate::device::Devices;
use crate::state::State;
use crate::stops::{Access, AccessKind, Fault, FaultCause, Stop, Stops};

/// Executes instructions one by one.
pub struct Interpreter {
    isa: Arc<Isa>,
    stepper: Stepper,
}

/// How many decoded instructions are kept.
const RECENT: usize = 1 << 12;

/// What one step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Why the machine stopped, if it did.
    pub stop: Option<Stop>,
    /// How many cycles the step took.
    pub cycles: u64,
}

impl Step {
    /// Returns how the step ended, in one word. A machine in which nothing can change any more has halted.
    pub fn status(&self) -> Status {
        match self.stop {
            Some(Stop::Halted | Stop::Idle) => Status::Halted,
            Some(Stop::Fault(_)) => Status::Fault,
            None | Some(Stop::Waiting(_) | Stop::Watch(_) | Stop::Breakpoint | Stop::Limit) => Status::Running,
        }
    }

    /// Returns how many instructions were executed: one, unless it faulted or waits.
    pub fn executed(&self) -> u64 {
        u64::from(!matches!(self.stop, Some(Stop::Fault(_) | Stop::Waiting(_))))
    }
}

impl Interpreter {
    /// Makes an interpreter for this instruction set.
    pub fn new(isa: &Arc<Isa>) -> Self {
        Interpreter { isa: isa.clone(), stepper: Stepper::new(isa) }
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Executes one instruction, or what the machine does instead.
    pub fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        self.stepper.step(&self.isa, state, devices)
    }

    /// Executes a body between two instructions, such as one from [`Isa::compile`], and returns its value. Memory is
    /// accessed cell by cell, never through a mapped address, so looking changes nothing.
    ///
    /// # Errors
    /// If the body faults, or a device has no answer yet; the state is then as before.
    pub fn evaluate(&mut self, body: &Body, state: &mut State, devices: &mut Devices) -> Result<u64, FaultCause> {
        self.stepper.evaluate(&self.isa, body, state, devices)
    }

    /// Returns what the last executed instruction did; nothing if the state has changed since.
    pub fn changes(&self, state: &State) -> Changes {
        self.stepper.changes(state)
    }

    /// Whether the machine does something else before the instruction.
    pub fn is_due(&mut self, state: &State) -> bool {
        self.stepper.is_due(&self.isa, state)
    }

    /// Returns the cells that the last executed instruction wrote.
    pub fn written(&self) -> impl Iterator<Item = (MemoryId, u64)> {
        self.stepper.log.iter().filter_map(|record| match record {
            Record::Cell(memory, address, _) => Some((*memory, *address)),
            _ => None,
        })
    }

    /// Returns what the last executed instruction exchanged with devices, in order.
    pub fn device_uses(&self) -> impl Iterator<Item = &DeviceUse> {
        self.stepper.log.iter().filter_map(|record| match record {
            Record::Device(used) => Some(used),
            _ => None,
        })
    }

    /// Returns the accesses to memory of the last executed instruction.
    pub fn accesses(&self) -> impl Iterator<Item = Access> {
        self.stepper.accesses()
    }

    /// Returns the watched accesses of the last executed instruction.
    pub(crate) fn watched(&self, stops: &Stops) -> Vec<Access> {
        if stops.watches.is_empty() {
            return Vec::new();
        }
        self.accesses().filter(|access| stops.watches(access)).collect()
    }
}

/// What the interpreter keeps from one instruction to the next, whatever the instruction set.
pub(crate) struct Stepper {
    /// How many cells to read before decoding.
    longest: u32,
    /// The values of the locals of the body being executed.
    locals: Vec<u64>,
    /// What the running instruction has done, oldest first.
    log: Vec<Record>,
    /// Recently executed instructions, by the lowest bits of their addresses.
    recent: Vec<Option<Box<Fetched>>>,
    /// When nothing is to be done between two instructions.
    quiet: Quiet,
}

/// The registers that the condition of `on step` reads, with their values when it last did not hold. While they stay
/// the same, the condition need not be evaluated.
#[derive(Default)]
struct Quiet {
    registers: Vec<(RegisterId, u64)>,
    /// Whether the condition has been seen not to hold.
    is_known: bool,
}

impl Quiet {
    fn of(hook: &Hook) -> Quiet {
        let mut registers: Vec<(RegisterId, u64)> = Vec::new();
        hook.when.visit_registers(&mut |register, _| {
            if registers.iter().all(|(known, _)| *known != register) {
                registers.push((register, 0));
            }
        });
        Quiet { registers, is_known: false }
    }

    fn is_as_before(&self, state: &State) -> bool {
        self.is_known && self.registers.iter().all(|(register, value)| state.register(*register) == *value)
    }

    fn note(&mut self, state: &State) {
        self.registers.iter_mut().for_each(|(register, value)| *value = state.register(*register));
        self.is_known = true;
    }
}

/// Something that an instruction has done.
enum Record {
    /// A register was written; this was its value.
    Register(RegisterId, u64),
    /// A cell was written; this was its value.
    Cell(MemoryId, u64, u64),
    /// Memory was accessed.
    Access(Access),
    /// A device was asked for something.
    Device(DeviceUse),
}

/// Why an instruction cannot be executed now.
enum Refusal {
    Fault(FaultCause),
    Waiting(DeviceId),
}

/// Where execution is, and what it may have to undo.
struct Progress {
    /// Where execution continues, once that is known.
    pc: Option<u64>,
    cycles: u64,
    halted: bool,
    /// Whether a device was accessed.
    touched: bool,
    /// Whether a mapped access is in progress, whose own accesses reach the cells themselves.
    mapped: bool,
}

impl Progress {
    fn new() -> Progress {
        Progress { pc: None, cycles: 0, halted: false, touched: false, mapped: false }
    }
}

/// An instruction at an address, with what its operands mean there.
struct Fetched {
    /// The cells it was decoded from. It is valid only for the same cells, so self-modifying programs need no special
    /// care.
    window: u128,
    code: Code,
    cycles: u64,
    operands: Vec<Operand>,
    location: Location,
    /// Whether it can fail after it has read from a device.
    takes_back: bool,
}

/// Where to find the body of an instruction.
#[derive(Clone, Copy)]
enum Code {
    Instruction(InstructionId),
    /// What is done instead of an undefined encoding, if anything.
    Illegal,
}

impl Code {
    fn body(self, isa: &Isa) -> Option<&Body> {
        match self {
            Code::Instruction(id) => Some(&isa.instruction(id).body),
            Code::Illegal => isa.on_illegal.as_ref(),
        }
    }
}

/// An operand: its bits, and what they mean.
struct Operand {
    bits: u64,
    says: Says,
}

/// What the bits of an operand mean.
enum Says {
    /// A whole register: by far the most common place.
    Register(RegisterId),
    Place(Place),
    Number(u64),
}

impl Stepper {
    pub(crate) fn new(isa: &Isa) -> Stepper {
        let recent = (0..RECENT).map(|_| None).collect();
        let quiet = isa.on_step.as_ref().map(Quiet::of).unwrap_or_default();
        Stepper { longest: isa.longest(), locals: Vec::new(), log: Vec::new(), recent, quiet }
    }

    /// Executes one instruction, or what the machine does instead.
    pub(crate) fn step(&mut self, isa: &Isa, state: &mut State, devices: &mut Devices) -> Step {
        self.log.clear();
        let pc = state.pc;
        let mut progress = Progress::new();
        if let Some(hook) = isa.on_step.as_ref().filter(|hook| self.holds(hook, isa, state)) {
            let between = Fetched::between(isa, state);
            let mut execution = Execution { isa, stepper: self, fetched: &between, progress, state, devices };
            let done = execution.body(&hook.body, &[]).map(drop);
            if done.is_err() || execution.progress.pc.is_some() {
                return execution.end(pc, done);
            }
            progress = execution.progress;
        }
        let window = state.window(isa, pc, self.longest);
        let slot = pc as usize % RECENT;
        let fetched = match self.recent[slot].take() {
            Some(known) if known.window == window && known.location.pc == pc => known,
            // Its allocation is reused: otherwise, a program that runs through all of its memory would mostly allocate.
            Some(mut other) => {
                *other = Fetched::new(isa, window, pc);
                other
            }
            None => Box::new(Fetched::new(isa, window, pc)),
        };
        let mut execution = Execution { isa, stepper: self, fetched: &fetched, progress, state, devices };
        let done = execution.execute();
        let step = execution.end(pc, done);
        self.recent[slot] = Some(fetched);
        step
    }

    fn evaluate(
        &mut self,
        isa: &Isa,
        body: &Body,
        state: &mut State,
        devices: &mut Devices,
    ) -> Result<u64, FaultCause> {
        self.log.clear();
        let pc = state.pc;
        let between = Fetched::between(isa, state);
        let progress = Progress { mapped: true, pc: Some(pc), ..Progress::new() };
        let mut execution = Execution { isa, stepper: self, fetched: &between, progress, state, devices };
        let value = execution.body(body, &[]);
        let (value, done) = match value {
            Ok(value) => (value, Ok(())),
            Err(refusal) => (0, Err(refusal)),
        };
        match execution.end(pc, done).stop {
            Some(Stop::Fault(fault)) => Err(fault.cause),
            Some(Stop::Waiting(_)) => Err(FaultCause::Declared("a device has no answer yet".to_owned(), None)),
            _ => Ok(value),
        }
    }

    fn is_due(&mut self, isa: &Isa, state: &State) -> bool {
        isa.on_step.as_ref().is_some_and(|hook| self.holds(hook, isa, state))
    }

    /// Whether the condition of `on step` holds.
    fn holds(&mut self, hook: &Hook, isa: &Isa, state: &State) -> bool {
        if self.quiet.is_as_before(state) {
            return false;
        }
        let holds = self.evaluate_condition(&hook.when, &Fetched::between(isa, state), state);
        if !holds {
            self.quiet.note(state);
        }
        holds
    }

    /// Whether a condition on registers holds.
    fn evaluate_condition(&mut self, condition: &Body, between: &Fetched, state: &State) -> bool {
        self.locals.resize(self.locals.len().max(condition.locals.len()), 0);
        for statement in &condition.block {
            // A condition does nothing else, as has been checked.
            if let Statement::Let(local, value) = statement {
                self.locals[usize::from(local.0)] = self.value(value, between, state);
            }
        }
        condition.value.as_ref().is_some_and(|value| self.value(value, between, state) == 1)
    }

    fn changes(&self, state: &State) -> Changes {
        let mut changes = Changes::default();
        for record in &self.log {
            match record {
                Record::Register(register, old) => {
                    if changes.registers.iter().all(|known| known.register != *register) {
                        let (register, old, new) = (*register, *old, state.register(*register));
                        changes.registers.push(RegisterChange { register, old, new });
                    }
                }
                Record::Cell(memory, address, old) => {
                    if changes.cells.iter().all(|known| (known.memory, known.address) != (*memory, *address)) {
                        let new = state.memory(*memory).get(*address);
                        changes.cells.push(CellChange { memory: *memory, address: *address, old: *old, new });
                    }
                }
                Record::Access(access) => changes.accesses.push(*access),
                Record::Device(used) => changes.devices.push(used.clone()),
            }
        }
        changes
    }

    fn accesses(&self) -> impl Iterator<Item = Access> {
        self.log.iter().filter_map(|record| match record {
            Record::Access(access) => Some(*access),
            _ => None,
        })
    }

    fn roll_back(&mut self, state: &mut State) {
        for record in self.log.drain(..).rev() {
            match record {
                Record::Register(register, old) => state.set_register(register, old),
                Record::Cell(memory, address, old) => state.memory_mut(memory).set(address, old),
                Record::Access(_) | Record::Device(_) => {}
            }
        }
    }

    /// Whether everything overwritten has the value that it had before the instruction.
    fn nothing_changed(&self, state: &State) -> bool {
        let mut seen = BTreeSet::new();
        self.log.iter().all(|record| match record {
            Record::Register(register, old) => {
                !seen.insert((None, u64::from(register.0))) || state.register(*register) == *old
            }
            Record::Cell(memory, address, old) => {
                !seen.insert((Some(*memory), *address)) || state.memory(*memory).get(*address) == *old
            }
            Record::Access(_) | Record::Device(_) => true,
        })
    }

    /// Evaluates an expression. Most are leaves, for which a call would not pay.
    #[inline(always)]
    fn value(&self, expr: &Expr, fetched: &Fetched, state: &State) -> u64 {
        match &expr.kind {
            ExprKind::Constant(value) => *value,
            ExprKind::Local(local) => self.locals[usize::from(local.0)],
            ExprKind::Register(register) => state.register(*register),
            ExprKind::Operand(operand) => self.operand(*operand, fetched, state),
            _ => self.compute(expr, fetched, state),
        }
    }

    #[inline(never)]
    fn compute(&self, expr: &Expr, fetched: &Fetched, state: &State) -> u64 {
        let computed = expr.operate(|part| self.value(part, fetched, state));
        computed.unwrap_or_else(|| match &expr.kind {
            ExprKind::Code(operand) => fetched.operands[usize::from(operand.0)].bits,
            ExprKind::Pc => fetched.location.pc,
            // Only `next` is left.
            _ => fetched.location.next,
        })
    }

    fn operand(&self, operand: OperandId, fetched: &Fetched, state: &State) -> u64 {
        match &fetched.operands[usize::from(operand.0)].says {
            Says::Register(register) => state.register(*register),
            Says::Place(place) => state.place(place),
            Says::Number(number) => *number,
        }
    }
}

impl Fetched {
    /// Makes the setting between two instructions.
    fn between(isa: &Isa, state: &State) -> Fetched {
        let location = Location { pc: state.pc, next: state.pc, width: isa.pc.width };
        Fetched { window: 0, code: Code::Illegal, cycles: 0, operands: Vec::new(), location, takes_back: true }
    }

    /// Decodes the instruction at an address.
    fn new(isa: &Isa, window: u128, pc: u64) -> Fetched {
        let width = isa.pc.width;
        let Some(decoded) = isa.decode(window) else {
            let (code, location) = (Code::Illegal, Location { pc, next: pc, width });
            return Fetched { window, code, cycles: 0, operands: Vec::new(), location, takes_back: true };
        };
        let instruction = isa.instruction(decoded.instruction);
        let next = width.wrap(pc.wrapping_add(u64::from(instruction.encoding.cells)));
        let location = Location { pc, next, width };
        let fields = instruction.operands.iter().map(|field| isa.field(*field));
        let says = |field: &Field, bits: u64| match &field.domain {
            Domain::Registers(list) => match &list[bits as usize] {
                Some((_, place)) => match isa.whole_register(place) {
                    Some(register) => Says::Register(register),
                    None => Says::Place(place.clone()),
                },
                None => Says::Number(0),
            },
            _ => Says::Number(field.value(bits, location)),
        };
        let operand = |(field, bits): (&Field, u64)| Operand { bits, says: says(field, bits) };
        let operands = fields.zip(decoded.operands).map(operand).collect();
        let (code, cycles) = (Code::Instruction(decoded.instruction), instruction.cycles);
        let takes_back = isa.on_step.is_some() || Failures::of(isa, &instruction.body).can_follow_a_read();
        Fetched { window, code, cycles, operands, location, takes_back }
    }
}

/// What can make a body fail, for an instruction that reads from devices.
#[derive(Default)]
struct Failures {
    /// Reads from devices. Each but the first may have to wait after another has happened.
    reads: usize,
    faults: bool,
}

impl Failures {
    fn of(isa: &Isa, body: &Body) -> Failures {
        let mut failures = Failures::default();
        let mut seen: Vec<&Body> = Vec::new();
        failures.add(isa, body, &mut |memory| {
            // Which mapping an access reaches is not known in advance.
            seen.extend(isa.maps.iter().filter(|map| map.memory == memory).flat_map(|map| [&map.read, &map.write]));
        });
        seen.into_iter().for_each(|body| failures.add(isa, body, &mut |_| {}));
        failures
    }

    fn add(&mut self, isa: &Isa, body: &Body, access: &mut impl FnMut(MemoryId)) {
        for statement in &body.block {
            statement.visit(&mut |statement| match statement {
                Statement::DeviceRead { .. } => self.reads += 1,
                Statement::Fault { .. } => self.faults = true,
                Statement::Load { memory, .. } => access(*memory),
                Statement::Store { memory, .. } => {
                    // There may be no memory for the cell.
                    self.faults |= isa.memory(*memory).is_large();
                    access(*memory);
                }
                _ => {}
            });
        }
    }

    fn can_follow_a_read(&self) -> bool {
        self.reads > 1 || self.reads == 1 && self.faults
    }
}

/// An instruction being executed.
struct Execution<'e> {
    isa: &'e Isa,
    stepper: &'e mut Stepper,
    fetched: &'e Fetched,
    progress: Progress,
    state: &'e mut State,
    devices: &'e mut Devices,
}

impl Execution<'_> {
    fn execute(&mut self) -> Result<(), Box<Refusal>> {
        let body = self.fetched.code.body(self.isa).ok_or(Refusal::Fault(FaultCause::Undefined))?;
        self.progress.cycles = self.progress.cycles.wrapping_add(self.fetched.cycles);
        self.body(body, &[])?;
        self.progress.pc.get_or_insert(self.fetched.location.next);
        Ok(())
    }

    /// Commits what has been done, or takes it back.
    fn end(self, pc: u64, done: Result<(), Box<Refusal>>) -> Step {
        let Execution { stepper, progress, state, devices, .. } = self;
        if let Err(refusal) = done {
            stepper.roll_back(state);
            devices.take_back();
            let stop = match *refusal {
                Refusal::Fault(cause) => Stop::Fault(Fault { pc, cause }),
                Refusal::Waiting(device) => Stop::Waiting(device),
            };
            return Step { stop: Some(stop), cycles: 0 };
        }
        for record in &stepper.log {
            if let Record::Device(DeviceUse { device, operation, arguments, value: None }) = record {
                devices.write(*device, *operation, arguments);
            }
        }
        devices.commit();
        state.pc = progress.pc.unwrap_or(pc);
        let idle = state.pc == pc && !progress.touched && stepper.nothing_changed(state);
        let stop = if progress.halted { Some(Stop::Halted) } else { idle.then_some(Stop::Idle) };
        Step { stop, cycles: progress.cycles }
    }

    fn value(&self, expr: &Expr) -> u64 {
        self.stepper.value(expr, self.fetched, self.state)
    }

    fn values(&self, list: &[Expr]) -> Vec<u64> {
        list.iter().map(|expr| self.value(expr)).collect()
    }

    /// Executes a body with its first locals given, and returns its value, if any.
    fn body(&mut self, body: &Body, given: &[u64]) -> Result<u64, Box<Refusal>> {
        // Locals are always assigned before they are read, so old values may stay in the others.
        let locals = &mut self.stepper.locals;
        if locals.len() < body.locals.len() {
            locals.resize(body.locals.len(), 0);
        }
        locals[..given.len()].copy_from_slice(given);
        self.block(&body.block)?;
        Ok(body.value.as_ref().map_or(0, |value| self.value(value)))
    }

    fn block(&mut self, block: &Block) -> Result<(), Box<Refusal>> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Box<Refusal>> {
        match statement {
            Statement::Let(local, value) => self.stepper.locals[usize::from(local.0)] = self.value(value),
            Statement::SetRegister(register, value) => self.set_register(*register, self.value(value)),
            Statement::SetOperand(operand, value) => self.set_operand(*operand, self.value(value)),
            Statement::Load { into, memory, address, cells } => {
                let value = self.load(*memory, self.value(address), *cells)?;
                self.stepper.locals[usize::from(into.0)] = value;
            }
            Statement::Store { memory, address, cells, value } => {
                self.store(*memory, self.value(address), *cells, self.value(value))?;
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments = self.values(arguments);
                self.progress.touched = true;
                if self.fetched.takes_back {
                    self.devices.remember(*device);
                }
                let answer = self.devices.read(*device, *operation, &arguments);
                let value = answer.ok_or(Refusal::Waiting(*device))?;
                self.stepper.locals[usize::from(into.0)] = value;
                let used = DeviceUse { device: *device, operation: *operation, arguments, value: answer };
                self.stepper.log.push(Record::Device(used));
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let arguments = self.values(arguments);
                self.progress.touched = true;
                let used = DeviceUse { device: *device, operation: *operation, arguments, value: None };
                self.stepper.log.push(Record::Device(used));
            }
            Statement::Jump(target) => self.progress.pc = Some(self.value(target)),
            Statement::Halt => self.progress.halted = true,
            Statement::Fault { message, detail } => {
                let detail = detail.as_ref().map(|detail| self.value(detail));
                return Err(Box::new(Refusal::Fault(FaultCause::Declared(message.clone(), detail))));
            }
            Statement::Cycles(count) => {
                self.progress.cycles = self.progress.cycles.wrapping_add(self.value(count));
            }
            Statement::If { condition, then, otherwise } => {
                let taken = self.value(condition) != 0;
                self.block(if taken { then } else { otherwise })?;
            }
        }
        Ok(())
    }

    fn set_register(&mut self, register: RegisterId, value: u64) {
        self.stepper.log.push(Record::Register(register, self.state.register(register)));
        self.state.set_register(register, value);
    }

    fn set_operand(&mut self, operand: OperandId, value: u64) {
        match &self.fetched.operands[usize::from(operand.0)].says {
            Says::Register(register) => self.set_register(*register, value),
            Says::Place(place) => {
                let old = |part: &Part| Record::Register(part.register, self.state.register(part.register));
                self.stepper.log.extend(place.parts.iter().map(old));
                self.state.set_place(self.isa, place, value);
            }
            Says::Number(_) => {}
        }
    }

    fn load(&mut self, memory: MemoryId, address: u64, cells: u8) -> Result<u64, Box<Refusal>> {
        let described = self.isa.memory(memory);
        described.layout(cells).try_fold(0, |value, (offset, low)| {
            let cell = self.load_cell(memory, described.address.wrap(address.wrapping_add(offset)))?;
            Ok(value | cell << low)
        })
    }

    fn store(&mut self, memory: MemoryId, address: u64, cells: u8, value: u64) -> Result<(), Box<Refusal>> {
        let described = self.isa.memory(memory);
        described.layout(cells).try_for_each(|(offset, low)| {
            let address = described.address.wrap(address.wrapping_add(offset));
            self.store_cell(memory, address, described.cell.wrap(value >> low))
        })
    }

    fn load_cell(&mut self, memory: MemoryId, address: u64) -> Result<u64, Box<Refusal>> {
        let value = match self.isa.mapping(memory, address).filter(|_| !self.progress.mapped) {
            None => self.state.memory(memory).get(address),
            Some(mapping) => self.mapped(&mapping.read, &[address])?,
        };
        self.stepper.log.push(Record::Access(Access { memory, address, kind: AccessKind::Read, value }));
        Ok(value)
    }

    fn store_cell(&mut self, memory: MemoryId, address: u64, value: u64) -> Result<(), Box<Refusal>> {
        self.stepper.log.push(Record::Access(Access { memory, address, kind: AccessKind::Write, value }));
        match self.isa.mapping(memory, address).filter(|_| !self.progress.mapped) {
            None if !self.state.has_memory_for(memory, address) => {
                Err(Box::new(Refusal::Fault(FaultCause::OutOfMemory)))
            }
            None => {
                self.stepper.log.push(Record::Cell(memory, address, self.state.memory(memory).get(address)));
                self.state.memory_mut(memory).set(address, value);
                Ok(())
            }
            Some(mapping) => self.mapped(&mapping.write, &[address, value]).map(|_| ()),
        }
    }

    /// Executes the body of a mapped address.
    fn mapped(&mut self, body: &Body, given: &[u64]) -> Result<u64, Box<Refusal>> {
        let locals = std::mem::take(&mut self.stepper.locals);
        self.progress.mapped = true;
        let value = self.body(body, given);
        self.progress.mapped = false;
        self.stepper.locals = locals;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Console;

    const MACHINE: &str = r#"
machine asked "Can be interrupted"
memory ram : u8 -> u8
pc pc : u8 in ram
register irq, i : u1
register n : u8
on step when irq && !i { i = 1; pc = 0x80 }
instructions {
  count | 0000 0000 | n = n + 1
  allow | 0000 0001 | i = 0
}
"#;

    #[test]
    fn whoever_changes_a_register_what_is_due_is_done() {
        let isa = Arc::new(lathe_isa::load(MACHINE).isa.expect("the machine is right"));
        let (mut interpreter, mut devices) = (Interpreter::new(&isa), Devices::new(&isa, Console::default()));
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).set(0x80, 1);
        let mut step = |state: &mut State| {
            interpreter.step(state, &mut devices);
            (state.pc, interpreter.is_due(state))
        };
        assert_eq!(step(&mut state), (1, false));
        state.registers_mut()[0] = 1;
        assert_eq!(step(&mut state), (0x80, false), "somebody else has changed it");
        assert_eq!(step(&mut state), (0x81, true), "the instruction has");
        assert_eq!(step(&mut state), (0x80, false));
        state.registers_mut()[0] = 0;
        assert_eq!(step(&mut state), (0x81, false));
        assert_eq!(step(&mut state), (0x82, false));
    }
}
