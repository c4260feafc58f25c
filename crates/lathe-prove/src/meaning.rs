//! What a definition says about one step, for every state at once: registers and cells are unknowns, and each statement
//! computes new values for them where its path is taken.
//!
//! This reads only the model, and nothing that another back end derived from it.

use lathe_isa::Isa;
use lathe_isa::coverage;
use lathe_isa::encoding::Cube;
use lathe_isa::model::{
    Base, DeviceId, DeviceKind, DeviceOperation, Domain, Field, FieldId, InstructionId, MemoryId, Numeric, Place,
    Target,
};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, OperandId, Statement};

use crate::graph::Facts;
use crate::script::{Condition, Script, Table, Term};

/// The width of the counters of a device's events within one instruction.
const COUNT: u32 = 8;

/// The instruction at the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    Instruction(InstructionId),
    /// Bits that no row has.
    Undefined,
}

/// Everything that a step may change.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) pc: Term,
    /// All registers, including those that never change.
    pub(crate) registers: Vec<Term>,
    pub(crate) memories: Vec<Table>,
    pub(crate) devices: Vec<DeviceState>,
}

/// The reads from a device and the writes to it since the instruction began.
#[derive(Clone, Debug)]
pub(crate) struct DeviceState {
    /// How many reads have consumed something.
    pub(crate) reads: Term,
    /// How many writes there were.
    pub(crate) writes: Term,
    /// The values written, by number.
    pub(crate) given: Table,
}

/// What a step did.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// The state after the step; the state before it, if it faulted.
    pub(crate) state: State,
    pub(crate) halted: Condition,
    pub(crate) fault: Option<Fault>,
    /// Whether `on step` jumped in place of the instruction.
    pub(crate) replaced: Condition,
    /// The cells that were fetched.
    pub(crate) window: Vec<Term>,
    pub(crate) cycles: Term,
    /// Cells that are read, with their contents before the step.
    pub(crate) reads: Vec<(MemoryId, Term, Term)>,
    /// The values read from streams.
    pub(crate) input: Vec<Term>,
}

/// A fault that may have happened: its condition, and the possible causes.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) condition: Condition,
    /// The possible messages, each with its condition and the number that goes with it.
    pub(crate) causes: Vec<(Condition, String, Option<Term>)>,
}

impl State {
    /// Returns any state in which a row stands at the program counter. The cells there contain the row's bits, instead
    /// of a condition saying so: a solver then needs no search to see what is decoded.
    pub(crate) fn with(isa: &Isa, script: &mut Script, row: Row) -> State {
        let mut state = State::unknown(isa, script);
        let Row::Instruction(id) = row else { return state };
        let cell = isa.code_memory().cell;
        let cube = isa.instruction(id).encoding.fixed;
        let code = isa.pc.memory.index();
        let known = lathe_isa::encoding::cells(cube.mask, cell).zip(lathe_isa::encoding::cells(cube.value, cell));
        for (at, (mask, value)) in known.take(isa.instruction(id).encoding.cells as usize).enumerate() {
            let any = script.unknown(&format!("cell {at}"), cell.bits());
            let bit = |script: &mut Script, at: u32| match mask >> at & 1 {
                1 => script.constant(1, value >> at & 1),
                _ => script.slice(&any, at, 1),
            };
            let bits: Vec<Term> = (0..cell.bits()).rev().map(|at| bit(script, at)).collect();
            let bits = script.join_all(&bits);
            let address = script.add(&state.pc, at as u64);
            state.memories[code] = script.set(&state.memories[code], &Condition::always(), &address, &bits);
        }
        state
    }

    /// Simplifies the state by known facts.
    pub(crate) fn under(&self, script: &mut Script, facts: &mut Facts) -> State {
        let devices = self.devices.iter().map(|device| DeviceState {
            reads: script.under(facts, &device.reads),
            writes: script.under(facts, &device.writes),
            given: script.table_under(facts, &device.given),
        });
        let devices = devices.collect();
        State {
            pc: script.under(facts, &self.pc),
            registers: self.registers.iter().map(|term| script.under(facts, term)).collect(),
            memories: self.memories.iter().map(|table| script.table_under(facts, table)).collect(),
            devices,
        }
    }

    /// Returns a state of which nothing is known.
    pub(crate) fn unknown(isa: &Isa, script: &mut Script) -> State {
        let pc = script.unknown("pc", isa.pc.width.bits());
        let registers = isa.registers.iter().map(|register| match register.constant {
            true => script.constant(register.width.bits(), register.reset),
            false => script.unknown(&format!("register {}", register.name), register.width.bits()),
        });
        let registers = registers.collect();
        let memories = isa.memories.iter().map(|memory| {
            script.unknown_table(&format!("memory {}", memory.name), memory.address.bits(), memory.cell.bits())
        });
        let memories = memories.collect();
        let devices = isa.devices.iter().map(|device| DeviceState {
            reads: script.constant(COUNT, 0),
            writes: script.constant(COUNT, 0),
            given: script.unknown_table(&format!("given {}", device.name), COUNT, event_bits(device.kind)),
        });
        let devices = devices.collect();
        for device in &isa.devices {
            for operation in device.kind.operations() {
                let Some(width) = operation.result else { continue };
                let arguments = operation.arguments.iter().map(|width| width.bits());
                let given = std::iter::once(COUNT).chain(arguments).collect();
                script.function(&answer_name(&device.name, operation.operation), given, width.bits());
            }
        }
        State { pc, registers, memories, devices }
    }
}

impl Outcome {
    /// Simplifies the outcome by known facts.
    pub(crate) fn under(&self, script: &mut Script, facts: &mut Facts) -> Outcome {
        let fault = self.fault.as_ref().map(|fault| Fault {
            condition: script.condition_under(facts, fault.condition),
            causes: fault
                .causes
                .iter()
                .map(|(condition, message, number)| {
                    let number = number.as_ref().map(|number| script.under(facts, number));
                    (script.condition_under(facts, *condition), message.clone(), number)
                })
                .collect(),
        });
        Outcome {
            state: self.state.under(script, facts),
            halted: script.condition_under(facts, self.halted),
            fault,
            replaced: script.condition_under(facts, self.replaced),
            window: self.window.iter().map(|cell| script.under(facts, cell)).collect(),
            cycles: script.under(facts, &self.cycles),
            reads: Vec::new(),
            input: Vec::new(),
        }
    }
}

/// Returns the name of the function that stands for a device's answers.
pub(crate) fn answer_name(device: &str, operation: DeviceOperation) -> String {
    format!("{device}.{}", operation.name())
}

/// Returns the answer of a device after the reads so far.
pub(crate) fn answer(
    script: &mut Script,
    device: &lathe_isa::model::Device,
    operation: DeviceOperation,
    state: &DeviceState,
    arguments: &[Term],
) -> Term {
    let given: Vec<Term> = std::iter::once(state.reads).chain(arguments.iter().copied()).collect();
    script.apply(&answer_name(&device.name, operation), &given)
}

/// Whether a read consumes something from the device.
pub(crate) fn takes(kind: DeviceKind, operation: DeviceOperation) -> bool {
    operation == DeviceOperation::Read
        && matches!(kind, DeviceKind::Stream | DeviceKind::Bus { .. } | DeviceKind::Random { .. })
}

/// Returns the width of an event: the operation and its arguments.
fn event_bits(kind: DeviceKind) -> u32 {
    let operations = kind.operations();
    let most = operations.iter().map(|one| one.arguments.iter().map(|width| width.bits()).sum::<u32>()).max();
    COUNT + most.unwrap_or(0)
}

/// Writes to a device where the condition holds.
pub(crate) fn give(
    script: &mut Script,
    kind: DeviceKind,
    state: &mut DeviceState,
    condition: &Condition,
    operation: DeviceOperation,
    arguments: &[Term],
) {
    let number = kind.operations().iter().position(|known| known.operation == operation).unwrap_or(0);
    let mut event = script.constant(COUNT, number as u64);
    for argument in arguments {
        event = script.join(&event, argument);
    }
    let event = script.zero_extend(event_bits(kind), &event);
    state.given = script.set(&state.given, condition, &state.writes, &event);
    let more = script.add(&state.writes, 1);
    state.writes = script.choose(condition, &more, &state.writes);
}

/// Executes one step from a state, given the row at the program counter; also returns the condition that this row
/// stands there.
pub(crate) fn step(isa: &Isa, script: &mut Script, before: &State, row: Row, longest: u32) -> (Condition, Outcome) {
    let cycles = script.constant(64, 0);
    let mut meaning = Meaning {
        isa,
        script,
        state: before.clone(),
        next: before.pc,
        jumped: Condition::never(),
        target: before.pc,
        halted: Condition::never(),
        cycles,
        faults: Vec::new(),
        failed: Condition::never(),
        locals: Vec::new(),
        codes: Vec::new(),
        operands: Vec::new(),
        mapped: false,
        first: before.memories.clone(),
        reads: Vec::new(),
        input: Vec::new(),
    };
    let replaced = meaning.hook();
    let window = meaning.fetch(longest);
    let modes = meaning.state.registers.clone();
    let stands = stands(isa, meaning.script, (&window, &modes), row);
    let goes_on = meaning.script.not(&replaced);
    meaning.row(row, &window, &goes_on);
    (stands, meaning.end(before, replaced, window))
}

/// Returns the condition that a row stands in the cells of a window, with these registers.
pub(crate) fn stands(isa: &Isa, script: &mut Script, window: (&[Term], &[Term]), row: Row) -> Condition {
    match row {
        Row::Instruction(id) => matches(isa, script, window, id),
        // A solver would take a long time to find out that there are none.
        Row::Undefined if coverage::undefined(isa) == Ok(None) => Condition::never(),
        Row::Undefined => {
            let mut none = Condition::always();
            for at in 0..isa.instructions.len() {
                let one = matches(isa, script, window, InstructionId(at as u32));
                let other = script.not(&one);
                none = script.and(&none, &other);
            }
            none
        }
    }
}

fn matches(isa: &Isa, script: &mut Script, window: (&[Term], &[Term]), id: InstructionId) -> Condition {
    let encoding = &isa.instruction(id).encoding;
    let mut all = inside(isa, script, window, encoding.fixed);
    for cube in &encoding.excluded {
        let one = inside(isa, script, window, *cube);
        let other = script.not(&one);
        all = script.and(&all, &other);
    }
    all
}

fn inside(isa: &Isa, script: &mut Script, (window, registers): (&[Term], &[Term]), cube: Cube) -> Condition {
    let cell = isa.code_memory().cell;
    let mut all = Condition::always();
    for (mode, shift) in &isa.modes {
        let width = isa.register(*mode).width;
        if cube.mask >> shift & u128::from(width.mask()) != 0 {
            let value = script.constant(width.bits(), width.wrap((cube.value >> shift) as u64));
            let one = script.equal(&registers[mode.index()], &value);
            all = script.and(&all, &one);
        }
    }
    let cube = cube.within(!isa.mode_mask());
    let masks = lathe_isa::encoding::cells(cube.mask, cell).zip(lathe_isa::encoding::cells(cube.value, cell));
    for (term, (mask, value)) in window.iter().zip(masks).filter(|(_, (mask, _))| *mask != 0) {
        let bits = cell.bits();
        let (mask, value) = (script.constant(bits, mask), script.constant(bits, value));
        let masked = script.binary(BinaryOperator::And, term, &mask);
        let one = script.equal(&masked, &value);
        all = script.and(&all, &one);
    }
    all
}

/// A step being executed.
struct Meaning<'a> {
    isa: &'a Isa,
    script: &'a mut Script,
    state: State,
    /// The address after the instruction.
    next: Term,
    jumped: Condition,
    target: Term,
    halted: Condition,
    cycles: Term,
    faults: Vec<(Condition, String, Option<Term>)>,
    /// Whether there has been a fault: nothing happens after one.
    failed: Condition,
    locals: Vec<Option<Term>>,
    /// The bits of the operands.
    codes: Vec<Term>,
    operands: Vec<FieldId>,
    /// Whether a mapped access is being done; its own accesses reach the cells themselves.
    mapped: bool,
    /// The memories before the step.
    first: Vec<Table>,
    reads: Vec<(MemoryId, Term, Term)>,
    input: Vec<Term>,
}

impl Meaning<'_> {
    /// Executes `on step`; returns the condition that it jumped.
    fn hook(&mut self) -> Condition {
        let Some(hook) = &self.isa.on_step else { return Condition::never() };
        let due = self.body(&hook.when, &[], &Condition::always());
        let due = due.map_or(Condition::never(), |due| self.script.holds(&due));
        self.body(&hook.body, &[], &due);
        self.jumped
    }

    fn fetch(&mut self, longest: u32) -> Vec<Term> {
        let memory = self.state.memories[self.isa.pc.memory.index()].clone();
        let pc = self.state.pc;
        let cell = |this: &mut Self, at: u32| {
            let address = this.script.add(&pc, u64::from(at));
            this.script.get(&memory, &address)
        };
        (0..longest).map(|at| cell(self, at)).collect()
    }

    fn row(&mut self, row: Row, window: &[Term], path: &Condition) {
        match row {
            Row::Instruction(id) => {
                let instruction = self.isa.instruction(id);
                self.next = self.script.add(&self.state.pc, u64::from(instruction.encoding.cells));
                self.operands.clone_from(&instruction.operands);
                self.codes = (0..instruction.operands.len()).map(|at| self.code(id, at, window)).collect();
                let more = self.script.add(&self.cycles, instruction.cycles);
                self.cycles = self.script.choose(path, &more, &self.cycles);
                self.body(&instruction.body, &[], path);
            }
            Row::Undefined => match &self.isa.on_illegal {
                Some(body) => drop(self.body(body, &[], path)),
                None => self.fault(path, lathe_hdl::UNDEFINED, None),
            },
        }
    }

    /// Returns the bits of an operand from their place in the window.
    fn code(&mut self, id: InstructionId, operand: usize, window: &[Term]) -> Term {
        let instruction = self.isa.instruction(id);
        let bits = self.isa.field(instruction.operands[operand]).width.bits();
        let whole = self.script.join_all(window);
        let mut segments = instruction.encoding.operands[operand].clone();
        if segments.is_empty() {
            return self.script.constant(bits, instruction.encoding.constants[operand]);
        }
        segments.sort_by_key(|segment| std::cmp::Reverse(segment.low));
        let mut above = bits;
        let mut parts = Vec::new();
        for segment in segments {
            let top = segment.low + segment.width.bits();
            if top < above {
                parts.push(self.script.constant(above - top, 0));
            }
            parts.push(self.script.slice(&whole, segment.shift + whole.bits - 128, segment.width.bits()));
            above = segment.low;
        }
        if above > 0 {
            parts.push(self.script.constant(above, 0));
        }
        self.script.join_all(&parts)
    }

    fn end(self, before: &State, replaced: Condition, window: Vec<Term>) -> Outcome {
        let Meaning { script, mut state, next, jumped, target, halted, cycles, faults, failed, reads, input, .. } =
            self;
        let after = script.choose(&jumped, &target, &next);
        state.pc = script.choose(&failed, &before.pc, &after);
        for (register, old) in state.registers.iter_mut().zip(&before.registers) {
            *register = script.choose(&failed, old, register);
        }
        for (memory, old) in state.memories.iter_mut().zip(&before.memories) {
            *memory = script.choose_table(&failed, old, memory);
        }
        for (device, old) in state.devices.iter_mut().zip(&before.devices) {
            device.reads = script.choose(&failed, &old.reads, &device.reads);
            device.writes = script.choose(&failed, &old.writes, &device.writes);
            device.given = script.choose_table(&failed, &old.given, &device.given);
        }
        let works = script.not(&failed);
        let halted = script.and(&halted, &works);
        let fault = (!failed.is_never()).then_some(Fault { condition: failed, causes: faults });
        Outcome { state, halted, fault, replaced, window, cycles, reads, input }
    }

    /// Executes a body with its first locals given; returns its value.
    fn body(&mut self, body: &Body, given: &[Term], path: &Condition) -> Option<Term> {
        let mut locals: Vec<Option<Term>> = given.iter().cloned().map(Some).collect();
        locals.resize(body.locals.len().max(given.len()), None);
        let outer = std::mem::replace(&mut self.locals, locals);
        self.block(&body.block, path);
        let value = body.value.as_ref().map(|value| self.value(value));
        self.locals = outer;
        value
    }

    fn block(&mut self, block: &Block, path: &Condition) {
        for statement in block {
            let works = self.script.not(&self.failed);
            let path = self.script.and(path, &works);
            self.statement(statement, &path);
        }
    }

    fn statement(&mut self, statement: &Statement, path: &Condition) {
        match statement {
            Statement::Let(local, value) => {
                let value = self.value(value);
                self.set_local(usize::from(local.0), value, path);
            }
            Statement::SetRegister(register, value) => {
                let value = self.value(value);
                let old = self.state.registers[register.index()];
                self.state.registers[register.index()] = self.script.choose(path, &value, &old);
            }
            Statement::SetOperand(operand, value) => {
                let value = self.value(value);
                self.set_operand(*operand, &value, path);
            }
            Statement::Load { into, memory, address, cells } => {
                let address = self.value(address);
                let mut parts = Vec::new();
                for (offset, _) in self.isa.memory(*memory).layout(*cells) {
                    let (address, path) = self.cell(&address, offset, path);
                    parts.push(self.load(*memory, &address, &path));
                }
                let value = self.script.join_all(&self.isa.memory(*memory).highest_first(parts));
                self.set_local(usize::from(into.0), value, path);
            }
            Statement::Store { memory, address, cells, value } => {
                let (address, value) = (self.value(address), self.value(value));
                let described = self.isa.memory(*memory);
                for (offset, low) in described.layout(*cells) {
                    let (address, path) = self.cell(&address, offset, path);
                    let value = self.script.slice(&value, low, described.cell.bits());
                    self.store(*memory, &address, &value, &path);
                }
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments: Vec<Term> = arguments.iter().map(|argument| self.value(argument)).collect();
                let value = self.ask(*device, *operation, &arguments, path);
                self.set_local(usize::from(into.0), value, path);
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                let arguments: Vec<Term> = arguments.iter().map(|argument| self.value(argument)).collect();
                let kind = self.isa.devices[device.index()].kind;
                give(self.script, kind, &mut self.state.devices[device.index()], path, *operation, &arguments);
            }
            Statement::Jump(target) => {
                let target = self.value(target);
                self.target = self.script.choose(path, &target, &self.target);
                self.jumped = self.script.or(&self.jumped, path);
            }
            Statement::Halt => self.halted = self.script.or(&self.halted, path),
            Statement::Fault { message, detail } => {
                let detail = detail.as_ref().map(|detail| self.value(detail));
                self.fault(path, message, detail);
            }
            Statement::Cycles(count) => {
                let count = self.value(count);
                let count = self.script.zero_extend(64, &count);
                let more = self.script.binary(BinaryOperator::Add, &self.cycles, &count);
                self.cycles = self.script.choose(path, &more, &self.cycles);
            }
            Statement::If { condition, then, otherwise } => {
                let condition = self.value(condition);
                let holds = self.script.holds(&condition);
                let taken = self.script.and(path, &holds);
                let fails = self.script.not(&holds);
                let other = self.script.and(path, &fails);
                self.block(then, &taken);
                self.block(otherwise, &other);
            }
        }
    }

    fn fault(&mut self, path: &Condition, message: &str, detail: Option<Term>) {
        self.faults.push((*path, message.to_owned(), detail));
        self.failed = self.script.or(&self.failed, path);
    }

    /// Assigns a value to a local. Where the path is not taken, the local keeps its value.
    fn set_local(&mut self, local: usize, value: Term, path: &Condition) {
        self.locals[local] = Some(match self.locals[local].take() {
            Some(old) => self.script.choose(path, &value, &old),
            None => value,
        });
    }

    fn ask(&mut self, device: DeviceId, operation: DeviceOperation, arguments: &[Term], path: &Condition) -> Term {
        let described = &self.isa.devices[device.index()];
        let state = &mut self.state.devices[device.index()];
        let value = answer(self.script, described, operation, state, arguments);
        if described.kind == DeviceKind::Stream && operation == DeviceOperation::Read {
            self.input.push(value);
        }
        if takes(described.kind, operation) {
            let more = self.script.add(&state.reads, 1);
            state.reads = self.script.choose(path, &more, &state.reads);
        }
        value
    }

    /// Returns the address of a cell that is accessed together with others, and whether it is accessed: the map over an
    /// earlier cell may have failed.
    fn cell(&mut self, first: &Term, offset: u64, path: &Condition) -> (Term, Condition) {
        if offset == 0 {
            return (*first, *path);
        }
        let offset = self.script.constant(first.bits, offset);
        let works = self.script.not(&self.failed);
        (self.script.binary(BinaryOperator::Add, first, &offset), self.script.and(path, &works))
    }

    fn load(&mut self, memory: MemoryId, address: &Term, path: &Condition) -> Term {
        let before = self.script.get(&self.first[memory.index()].clone(), address);
        self.reads.push((memory, *address, before));
        let mut left = *path;
        let mut found: Vec<(Condition, Term)> = Vec::new();
        for (inside, mapping) in self.mappings(memory, address) {
            let here = self.script.and(&left, &inside);
            self.mapped = true;
            let value = self.body(&mapping.read, std::slice::from_ref(address), &here);
            self.mapped = false;
            found.extend(value.map(|value| (inside, value)));
            let outside = self.script.not(&inside);
            left = self.script.and(&left, &outside);
        }
        let table = self.state.memories[memory.index()].clone();
        let mut value = self.script.get(&table, address);
        for (inside, mapped) in found.iter().rev() {
            value = self.script.choose(inside, mapped, &value);
        }
        value
    }

    fn store(&mut self, memory: MemoryId, address: &Term, value: &Term, path: &Condition) {
        let mut left = *path;
        for (inside, mapping) in self.mappings(memory, address) {
            let here = self.script.and(&left, &inside);
            self.mapped = true;
            self.body(&mapping.write, &[*address, *value], &here);
            self.mapped = false;
            let outside = self.script.not(&inside);
            left = self.script.and(&left, &outside);
        }
        let table = self.state.memories[memory.index()].clone();
        self.state.memories[memory.index()] = self.script.set(&table, &left, address, value);
    }

    /// Returns the maps over a memory, each with the condition that an address is in it.
    fn mappings(&mut self, memory: MemoryId, address: &Term) -> Vec<(Condition, lathe_isa::model::Mapping)> {
        if self.mapped {
            return Vec::new();
        }
        let of_memory: Vec<_> = self.isa.maps.iter().filter(|map| map.memory == memory).cloned().collect();
        let mut all = Vec::new();
        for mapping in of_memory {
            let (first, last) =
                (self.script.constant(address.bits, mapping.first), self.script.constant(address.bits, mapping.last));
            let above = self.script.binary(BinaryOperator::LessOrEqual, &first, address);
            let below = self.script.binary(BinaryOperator::LessOrEqual, address, &last);
            let inside = self.script.binary(BinaryOperator::And, &above, &below);
            all.push((self.script.holds(&inside), mapping));
        }
        all
    }

    fn set_operand(&mut self, operand: OperandId, value: &Term, path: &Condition) {
        let field = self.isa.field(self.operands[usize::from(operand.0)]);
        let code = self.codes[usize::from(operand.0)];
        let Domain::Registers(list) = &field.domain else { return };
        for (number, (_, place)) in
            list.iter().enumerate().filter_map(|(number, entry)| Some((number, entry.as_ref()?)))
        {
            let number = self.script.constant(code.bits, number as u64);
            let chosen = self.script.equal(&code, &number);
            let here = self.script.and(path, &chosen);
            self.set_place(place, value, &here);
        }
    }

    fn set_place(&mut self, place: &Place, value: &Term, path: &Condition) {
        let mut above = place.width.bits();
        for part in &place.parts {
            above -= part.width.bits();
            let register = self.isa.register(part.register);
            if register.constant {
                continue;
            }
            let bits = register.width.bits();
            let part_value = self.script.slice(value, above, part.width.bits());
            let old = self.state.registers[part.register.index()];
            let around = if place.clearing { self.script.constant(bits, 0) } else { old };
            let top = part.low + part.width.bits();
            let mut new = part_value;
            if top < bits {
                let high = self.script.slice(&around, top, bits - top);
                new = self.script.join(&high, &new);
            }
            if part.low > 0 {
                let low = self.script.slice(&around, 0, part.low);
                new = self.script.join(&new, &low);
            }
            self.state.registers[part.register.index()] = self.script.choose(path, &new, &old);
        }
    }

    fn place(&mut self, place: &Place) -> Term {
        let mut parts = Vec::new();
        for part in &place.parts {
            let register = self.state.registers[part.register.index()];
            parts.push(self.script.slice(&register, part.low, part.width.bits()));
        }
        self.script.join_all(&parts)
    }

    fn operand(&mut self, operand: OperandId) -> Term {
        let isa = self.isa;
        let field = isa.field(self.operands[usize::from(operand.0)]);
        let code = self.codes[usize::from(operand.0)];
        match &field.domain {
            Domain::Registers(list) => {
                let bits = field.value_width(isa.pc.width).bits();
                let mut value = self.script.constant(bits, 0);
                for (number, entry) in list.iter().enumerate().rev() {
                    let Some((_, place)) = entry else { continue };
                    let number = self.script.constant(code.bits, number as u64);
                    let chosen = self.script.equal(&code, &number);
                    let one = self.place(place);
                    value = self.script.choose(&chosen, &one, &value);
                }
                value
            }
            Domain::Number(numeric) => self.number(field, *numeric, &code),
            Domain::Names(_) | Domain::Values(_) => code,
        }
    }

    /// Returns the number or the address that the bits encode.
    fn number(&mut self, field: &Field, numeric: Numeric, code: &Term) -> Term {
        let pc = self.isa.pc.width.bits();
        let mut base = |base: Base| match base {
            Base::Pc => self.state.pc,
            Base::Next => self.next,
            Base::Ahead(cells) => self.script.add(&self.state.pc, u64::from(cells)),
            Base::Address(address) => self.script.constant(pc, address),
        };
        match numeric.target {
            None | Some(Target::Absolute(_)) => *code,
            Some(Target::Relative { back, from, .. }) => {
                let from = base(from);
                let distance = self.script.fit(pc, code, numeric.signed);
                let operator = if back { BinaryOperator::Subtract } else { BinaryOperator::Add };
                self.script.binary(operator, &from, &distance)
            }
            Some(Target::Within(from)) => {
                let from = base(from);
                let page = self.script.constant(pc, !field.width.mask());
                let page = self.script.binary(BinaryOperator::And, &from, &page);
                let inside = self.script.fit(pc, code, false);
                self.script.binary(BinaryOperator::Or, &page, &inside)
            }
        }
    }

    fn value(&mut self, expr: &Expr) -> Term {
        let bits = expr.width.bits();
        match &expr.kind {
            ExprKind::Constant(value) => self.script.constant(bits, *value),
            // A local is read only where it was assigned; this value is never used elsewhere.
            ExprKind::Local(local) => {
                self.locals[usize::from(local.0)].unwrap_or_else(|| self.script.constant(bits, 0))
            }
            ExprKind::Register(register) => self.state.registers[register.index()],
            ExprKind::Operand(operand) => self.operand(*operand),
            ExprKind::Code(operand) => self.codes[usize::from(operand.0)],
            ExprKind::Pc => self.state.pc,
            ExprKind::Next => self.next,
            ExprKind::Unary(operator, x) => {
                let x = self.value(x);
                self.script.unary(*operator, &x)
            }
            ExprKind::Binary(operator, x, y) => {
                let (x, y) = (self.value(x), self.value(y));
                self.script.binary(*operator, &x, &y)
            }
            ExprKind::Slice(x, low) => {
                let x = self.value(x);
                self.script.slice(&x, *low, bits)
            }
            ExprKind::Join(high, low) => {
                let (high, low) = (self.value(high), self.value(low));
                self.script.join(&high, &low)
            }
            ExprKind::ZeroExtend(x) => {
                let x = self.value(x);
                self.script.zero_extend(bits, &x)
            }
            ExprKind::SignExtend(x) => {
                let x = self.value(x);
                self.script.sign_extend(bits, &x)
            }
            ExprKind::Choose(condition, x, y) => {
                let (condition, x, y) = (self.value(condition), self.value(x), self.value(y));
                let holds = self.script.holds(&condition);
                self.script.choose(&holds, &x, &y)
            }
        }
    }
}
