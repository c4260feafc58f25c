//! Executes a specialized body symbolically: on values instead of numbers.
//!
//! An `if` becomes a choice between values, and an access to a known mapped address becomes the meaning of that
//! address. Anything that cannot be expressed like that (faults, halting, long alternatives) becomes a condition to
//! leave the instruction to the reference interpreter. If that always happens, the whole instruction is left.

use std::ops::RangeInclusive;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceKind, DeviceOperation, Hook, Mapping, MemoryId, RegisterId};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::{Body, Expr, ExprKind, LocalId, Statement};

use super::graph::{Graph, ValueId};

/// An `if` with more statements than this in one alternative is not worth a choice.
const LONG_ALTERNATIVE: usize = 12;
/// Mapped addresses that are no further apart than this are checked together.
const CLOSE: u64 = 16;
/// Most blocks have no more values than this.
const VALUES: usize = 160;
/// The width in which cycles are counted.
const CYCLES: Width = Width::MAX;

/// What is known about the machine between two instructions.
#[derive(Clone, Debug)]
pub struct SymbolicState {
    /// The value of each register.
    pub registers: Vec<ValueId>,
    /// Cells whose content is known, and that no later store can have changed.
    known: Vec<Cell>,
    /// How many stores have been done.
    stores: u32,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    memory: MemoryId,
    address: ValueId,
    value: ValueId,
}

/// A cell to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The memory.
    pub memory: MemoryId,
    /// The address.
    pub address: ValueId,
    /// The value that the cell gets.
    pub value: ValueId,
    /// One bit: whether the cell is written at all; always, if absent.
    pub guard: Option<ValueId>,
}

impl Store {
    /// Whether it certainly writes the same cell as another store, if both happen.
    pub fn is_to_cell_of(&self, other: &Store) -> bool {
        self.memory == other.memory && self.address == other.address
    }

    /// Whether it may write this cell.
    pub fn may_reach(&self, graph: &Graph, memory: MemoryId, address: ValueId) -> bool {
        self.memory == memory && !graph.are_distinct(self.address, address)
    }
}

/// An operation of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCall {
    /// The device.
    pub device: DeviceId,
    /// What it is asked to do.
    pub operation: DeviceOperation,
    /// Its arguments.
    pub arguments: Vec<ValueId>,
    /// One bit: whether the operation is done at all; always, if absent.
    pub guard: Option<ValueId>,
}

/// When an instruction must be left to the reference interpreter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bail {
    /// This bit is 1.
    When(ValueId),
    /// Something is mapped over this cell. The bit is 1 wherever that is so, and perhaps close by; an engine may check
    /// either.
    Mapped {
        /// The memory.
        memory: MemoryId,
        /// The address.
        address: ValueId,
        /// The bit.
        condition: ValueId,
    },
    /// This cell of the code memory holds code, or something is mapped over it, and the store
    /// with this guard happens.
    Marked(ValueId, Option<ValueId>),
    /// The page of this cell of a large memory is closed, so that a store to it must be seen. This is never the code
    /// memory, whose marks say that too.
    Closed(MemoryId, ValueId),
}

/// What an instruction does: cells to read, conditions to leave it, devices to ask, then the changes.
#[derive(Clone, Debug)]
pub struct Effects {
    /// Values to load from memory now, in order.
    pub loads: Vec<ValueId>,
    /// When it must be left to the reference interpreter.
    pub bails: Vec<Bail>,
    /// What devices are asked, in order, and the values of their answers. If one has no answer yet, the instruction is
    /// left to the reference interpreter; only the last one consumes anything from its device.
    pub device_reads: Vec<(DeviceCall, ValueId)>,
    /// The cells written, in order.
    pub stores: Vec<Store>,
    /// What devices are told, in order.
    pub device_writes: Vec<DeviceCall>,
    /// The address where execution continues.
    pub next: ValueId,
    /// The cycles it takes beyond those of its row.
    pub cycles: ValueId,
    /// The machine after it.
    pub frame: SymbolicState,
    /// Registers read or written; the instruction depends on no others.
    pub touched: Registers,
}

/// A set of registers. The first ones are told apart; all others always count as contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(u128);

impl Registers {
    fn insert(&mut self, register: RegisterId) {
        self.0 |= 1u128.checked_shl(register.0).unwrap_or(0);
    }

    /// Whether the register is in the set.
    pub fn contains(self, register: RegisterId) -> bool {
        self.0.checked_shr(register.0).is_none_or(|rest| rest & 1 != 0)
    }
}

impl Effects {
    /// Whether it accesses any device.
    pub fn has_devices(&self) -> bool {
        !self.device_reads.is_empty() || !self.device_writes.is_empty()
    }

    /// Whether the cells to read, and whether to leave the instruction, are known before any device is asked.
    pub fn is_certain_before_devices(&self, graph: &Graph) -> bool {
        let Some((_, first)) = self.device_reads.first() else { return true };
        let is_before = |value: ValueId| !graph.is_after_answer(value, *first);
        self.loads.iter().all(|load| is_before(*load))
            && self.bails.iter().all(|bail| match bail {
                Bail::When(value) | Bail::Closed(_, value) | Bail::Mapped { condition: value, .. } => is_before(*value),
                Bail::Marked(address, guard) => is_before(*address) && guard.is_none_or(is_before),
            })
    }

    /// Returns one bit: whether execution continues at this address.
    pub fn goes_to(&self, graph: &mut Graph, pc: u64) -> ValueId {
        let pc = graph.constant(graph.width(self.next), pc);
        graph.binary(BinaryOperator::Equal, self.next, pc)
    }

    /// Returns the cycles after it, given those before it and those of its row.
    pub fn cycles_after(&self, graph: &mut Graph, before: ValueId, row: u64) -> ValueId {
        let own = graph.plus(self.cycles, row);
        graph.binary(BinaryOperator::Add, before, own)
    }
}

/// Where every block begins: a graph with the registers, and a state in which each has its initial value. Copying this
/// takes a small part of the time of building it.
#[derive(Clone, Debug)]
pub struct Start {
    /// The registers.
    pub graph: Graph,
    /// The machine at the beginning.
    pub frame: SymbolicState,
}

impl Start {
    /// Builds the start for an instruction set.
    pub fn new(isa: &Isa) -> Start {
        let mut graph = Graph::with_room_for(VALUES);
        let frame = SymbolicState::new(isa, &mut graph);
        Start { graph, frame }
    }
}

impl SymbolicState {
    /// Creates a state in which every register has its initial value, and nothing is known about memory.
    pub fn new(isa: &Isa, graph: &mut Graph) -> SymbolicState {
        let ids = (0..).map(RegisterId).zip(&isa.registers);
        let value = |(id, register): (RegisterId, &lathe_isa::model::Register)| match register.constant {
            true => graph.constant(register.width, register.reset),
            false => graph.register(register.width, id),
        };
        SymbolicState { registers: ids.map(value).collect(), known: Vec::new(), stores: 0 }
    }

    /// Assumes that a register has this value.
    pub fn assume(&mut self, isa: &Isa, graph: &mut Graph, register: RegisterId, value: u64) {
        self.registers[register.index()] = graph.constant(isa.register(register).width, value);
    }

    /// Returns the content of a cell, if it is known.
    fn lookup(&self, graph: &Graph, memory: MemoryId, address: ValueId) -> Option<ValueId> {
        let same = |cell: &&Cell| cell.memory == memory && cell.address == address;
        let cell = self.known.iter().rev().find(same)?;
        debug_assert_eq!(graph.width(cell.address), graph.width(address));
        Some(cell.value)
    }

    fn learn(&mut self, memory: MemoryId, address: ValueId, value: ValueId) {
        self.known.push(Cell { memory, address, value });
    }

    /// Forgets every cell that a store to this address may change.
    fn forget(&mut self, graph: &Graph, memory: MemoryId, address: ValueId) {
        self.known.retain(|cell| cell.memory != memory || graph.are_distinct(cell.address, address));
    }

    /// Returns the content of this many cells of the code memory from an address on, the first above the others, and
    /// the loads that this takes.
    pub fn content(&mut self, isa: &Isa, graph: &mut Graph, first: u64, cells: u32) -> (ValueId, Vec<ValueId>) {
        let (memory, described) = (isa.pc.memory, isa.code_memory());
        let mut loads = Vec::new();
        let mut cell = |at: u32| {
            let address = graph.constant(described.address, first.wrapping_add(u64::from(at)));
            self.lookup(graph, memory, address).unwrap_or_else(|| {
                let load = graph.load(described.cell, memory, address, self.stores);
                self.learn(memory, address, load);
                loads.push(load);
                load
            })
        };
        let cells: Vec<ValueId> = (0..cells).map(&mut cell).collect();
        let content = cells.into_iter().reduce(|high, low| graph.join(high, low));
        (content.unwrap_or_else(|| graph.constant(Width::BIT, 0)), loads)
    }

    /// Notes that a cell is written.
    pub fn store(&mut self, graph: &Graph, store: &Store) {
        self.stores += 1;
        self.forget(graph, store.memory, store.address);
        if store.guard.is_none() {
            self.learn(store.memory, store.address, store.value);
        }
    }
}

/// One instruction, all of it specialized to its address.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    /// The hook before it, if that [is part of it](Hook::is_part_of_instructions).
    pub hook: Option<&'a Hook>,
    /// What it does.
    pub body: &'a Body,
    /// The address of the instruction that follows it.
    pub next: u64,
    /// Cells of which some accesses are left to the reference interpreter.
    pub reserved: &'a [Reserved],
}

/// Cells of which reads or writes are left to the reference interpreter, because somebody watches them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The memory.
    pub memory: MemoryId,
    /// The cells.
    pub addresses: RangeInclusive<u64>,
    /// Whether reads of these cells are left to it.
    pub reads: bool,
    /// Whether writes to these cells are left to it.
    pub writes: bool,
}

/// Executes an instruction symbolically from this frame on. Returns none if it must always be left to the reference
/// interpreter.
pub fn execute(isa: &Isa, graph: &mut Graph, frame: &SymbolicState, meaning: &Meaning) -> Option<Effects> {
    let next = graph.constant(isa.pc.width, meaning.next);
    let cycles = graph.constant(CYCLES, 0);
    let effects = Effects {
        loads: Vec::new(),
        bails: Vec::new(),
        device_reads: Vec::new(),
        stores: Vec::new(),
        device_writes: Vec::new(),
        next,
        cycles,
        frame: frame.clone(),
        touched: Registers::default(),
    };
    let reserved = meaning.reserved;
    let mut executor = Executor {
        isa,
        graph,
        effects,
        locals: Locals::default(),
        guard: None,
        is_hook: false,
        is_mapped: false,
        reserved,
    };
    match meaning.hook {
        Some(hook) => {
            executor.hook(hook)?;
            executor.body(meaning.body, &[])?;
        }
        None => {
            executor.body(meaning.body, &[])?;
            executor.leave_if_due(frame)?;
        }
    }
    Some(executor.effects)
}

/// The locals of the body being executed.
#[derive(Clone, Default)]
struct Locals<'a> {
    widths: &'a [Width],
    /// Their values; none until assigned, which always comes before they are read.
    values: Vec<Option<ValueId>>,
}

impl<'a> Locals<'a> {
    /// Creates the locals of a body, of which the first ones are given.
    fn of(body: &'a Body, given: &[ValueId]) -> Locals<'a> {
        let mut values = vec![None; body.locals.len()];
        values.iter_mut().zip(given).for_each(|(value, given)| *value = Some(*given));
        Locals { widths: &body.locals, values }
    }

    fn get(&self, local: LocalId) -> Option<ValueId> {
        self.values[usize::from(local.0)]
    }

    fn set(&mut self, local: LocalId, value: ValueId) {
        self.values[usize::from(local.0)] = Some(value);
    }

    fn width(&self, local: LocalId) -> Width {
        self.widths[usize::from(local.0)]
    }
}

struct Executor<'a> {
    isa: &'a Isa,
    graph: &'a mut Graph,
    effects: Effects,
    locals: Locals<'a>,
    /// The condition under which the current statement is reached; none if it always is.
    guard: Option<ValueId>,
    /// Whether the current statement is part of the hook before the instruction.
    is_hook: bool,
    /// Whether the current statement is part of the meaning of a mapped address, where accesses reach the cells
    /// themselves.
    is_mapped: bool,
    reserved: &'a [Reserved],
}

impl<'a> Executor<'a> {
    /// Executes a body whose first locals are given.
    fn body(&mut self, body: &'a Body, given: &[ValueId]) -> Option<()> {
        self.locals = Locals::of(body, given);
        self.block(&body.block)
    }

    /// Executes a condition on registers. Returns its bit.
    fn condition(&mut self, condition: &'a Body) -> Option<ValueId> {
        self.body(condition, &[])?;
        self.value(condition.value.as_ref()?)
    }

    /// Executes the hook before the instruction, if it is due.
    fn hook(&mut self, hook: &'a Hook) -> Option<()> {
        let due = self.condition(&hook.when)?;
        self.locals = Locals::of(&hook.body, &[]);
        self.is_hook = true;
        self.choice(due, &hook.body.block, &[])?;
        self.is_hook = false;
        Some(())
    }

    /// Leaves the instruction if the hook is due after it. That depends on some registers, so the hook can only become
    /// due if one of them changes.
    fn leave_if_due(&mut self, before: &SymbolicState) -> Option<()> {
        let Some(hook) = &self.isa.on_step else { return Some(()) };
        let is_changed = |id: RegisterId, _| self.effects.frame.registers[id.index()] != before.registers[id.index()];
        if !hook.when.any_register(is_changed) {
            return Some(());
        }
        let due = self.condition(&hook.when)?;
        match self.graph.as_constant(due) {
            Some(0) => Some(()),
            Some(_) => None,
            None => {
                self.effects.bails.push(Bail::When(due));
                Some(())
            }
        }
    }

    fn block(&mut self, block: &[Statement]) -> Option<()> {
        block.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, statement: &Statement) -> Option<()> {
        match statement {
            Statement::Let(local, value) => {
                let value = self.value(value)?;
                self.locals.set(*local, value);
            }
            // After this, other code is fetched, which only an engine can handle.
            Statement::SetRegister(register, _) if self.isa.banked_by.contains(register) => self.leave()?,
            Statement::SetRegister(register, value) => {
                self.effects.touched.insert(*register);
                self.effects.frame.registers[register.index()] = self.value(value)?;
            }
            Statement::Load { into, memory, address, cells } => {
                let address = self.value(address)?;
                let value = self.load(*memory, address, *cells)?;
                self.locals.set(*into, value);
            }
            Statement::Store { memory, address, cells, value } => {
                let (address, value) = (self.value(address)?, self.value(value)?);
                self.store(*memory, address, *cells, value)?;
            }
            // If the hook jumps, the instruction is not executed at all.
            Statement::Jump(_) if self.is_hook => self.leave()?,
            Statement::Jump(target) => self.effects.next = self.value(target)?,
            Statement::Cycles(count) => {
                let count = self.value(count)?;
                let count = self.graph.zero_extend(CYCLES, count);
                self.effects.cycles = self.graph.binary(BinaryOperator::Add, self.effects.cycles, count);
            }
            Statement::If { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                self.choice(condition, then, otherwise)?;
            }
            Statement::DeviceRead { into, device, operation, arguments } => {
                match self.device_call(*device, *operation, arguments)?.filter(|_| !self.has_consumed()) {
                    Some(call) => {
                        let answer = self.graph.answer(self.locals.width(*into));
                        self.effects.device_reads.push((call, answer));
                        self.locals.set(*into, answer);
                    }
                    None => self.leave()?,
                }
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                match self.device_call(*device, *operation, arguments)? {
                    Some(call) => self.effects.device_writes.push(call),
                    None => self.leave()?,
                }
            }
            Statement::Halt | Statement::Fault { .. } | Statement::SetOperand(..) => self.leave()?,
        }
        Some(())
    }

    /// Returns the call of a device operation, unless only the reference interpreter can do it: it alone knows the time
    /// within a block, and what a hook leads to.
    fn device_call(
        &mut self,
        device: DeviceId,
        operation: DeviceOperation,
        arguments: &[Expr],
    ) -> Option<Option<DeviceCall>> {
        if self.is_hook || self.isa.devices.iter().any(|device| device.kind == DeviceKind::Counter) {
            return Some(None);
        }
        let arguments: Option<Vec<ValueId>> = arguments.iter().map(|argument| self.value(argument)).collect();
        Some(Some(DeviceCall { device, operation, arguments: arguments?, guard: self.guard }))
    }

    /// Whether something has been consumed from a device. After that, no device can be asked that may have no answer
    /// yet.
    fn has_consumed(&self) -> bool {
        let consumes =
            |(call, _): &(DeviceCall, ValueId)| self.isa.devices[call.device.index()].kind.consumes(call.operation);
        self.effects.device_reads.iter().any(consumes)
    }

    /// Leaves the instruction to the reference interpreter whenever the current statement is reached.
    fn leave(&mut self) -> Option<()> {
        self.effects.bails.push(Bail::When(self.guard?));
        Some(())
    }

    fn choice(&mut self, condition: ValueId, then: &[Statement], otherwise: &[Statement]) -> Option<()> {
        match self.graph.as_constant(condition) {
            Some(0) => return self.block(otherwise),
            Some(_) => return self.block(then),
            None => {}
        }
        let inverse = self.graph.not(condition);
        // If one alternative leaves the instruction, only the other remains to be done.
        match (is_simple(then), is_simple(otherwise)) {
            (true, true) => {}
            (false, false) => return self.leave(),
            (false, true) => return self.leave_or(condition, otherwise),
            (true, false) => return self.leave_or(inverse, then),
        }
        let before =
            (self.effects.frame.registers.clone(), self.locals.values.clone(), self.effects.next, self.effects.cycles);
        let (outer, guards) = (self.guard, [self.reached(condition), self.reached(inverse)]);
        self.guard = Some(guards[0]);
        self.block(then)?;
        let frame = std::mem::replace(&mut self.effects.frame.registers, before.0);
        let locals = std::mem::replace(&mut self.locals.values, before.1);
        let next = std::mem::replace(&mut self.effects.next, before.2);
        let cycles = std::mem::replace(&mut self.effects.cycles, before.3);
        self.guard = Some(guards[1]);
        self.block(otherwise)?;
        self.guard = outer;
        for (register, then) in self.effects.frame.registers.iter_mut().zip(frame) {
            *register = self.graph.choose(condition, then, *register);
        }
        for (local, then) in self.locals.values.iter_mut().zip(locals) {
            *local = match (then, *local) {
                (Some(then), Some(otherwise)) => Some(self.graph.choose(condition, then, otherwise)),
                // Only the alternative that assigns the local reads it.
                (then, otherwise) => then.or(otherwise),
            };
        }
        self.effects.next = self.graph.choose(condition, next, self.effects.next);
        self.effects.cycles = self.graph.choose(condition, cycles, self.effects.cycles);
        Some(())
    }

    /// Leaves the instruction if a condition holds, and else executes a block.
    fn leave_or(&mut self, condition: ValueId, block: &[Statement]) -> Option<()> {
        let left = self.reached(condition);
        match self.graph.as_constant(left) {
            Some(0) => {}
            Some(_) => return None,
            None => self.effects.bails.push(Bail::When(left)),
        }
        self.block(block)
    }

    /// Returns one bit: whether the current statement is reached and a condition holds.
    fn reached(&mut self, condition: ValueId) -> ValueId {
        match self.guard {
            Some(outer) => self.graph.and(outer, condition),
            None => condition,
        }
    }

    /// Loads each cell as a value of its own: one may have been written later than another, and each may be known
    /// separately.
    fn load(&mut self, memory: MemoryId, address: ValueId, cells: u8) -> Option<ValueId> {
        if cells == 1 {
            return self.load_cell(memory, address);
        }
        let cells: Option<Vec<ValueId>> = (0..cells)
            .map(|offset| {
                let address = self.graph.plus(address, u64::from(offset));
                self.load_cell(memory, address)
            })
            .collect();
        let cells = self.isa.memory(memory).highest_first(cells?);
        cells.into_iter().reduce(|high, low| self.graph.join(high, low))
    }

    fn store(&mut self, memory: MemoryId, address: ValueId, cells: u8, value: ValueId) -> Option<()> {
        let described = self.isa.memory(memory);
        described.layout(cells).try_for_each(|(offset, low)| {
            let address = self.graph.plus(address, offset);
            let value = self.graph.slice(value, low, described.cell);
            self.store_cell(Store { memory, address, value, guard: self.guard })
        })
    }

    fn load_cell(&mut self, memory: MemoryId, address: ValueId) -> Option<ValueId> {
        self.leave_if_reserved(memory, address, |cells| cells.reads)?;
        if let Some(mapping) = self.known_mapping(memory, address) {
            return self.mapped(&mapping.read, &[address])?;
        }
        self.leave_if_mapped(memory, address)?;
        if let Some(known) = self.effects.frame.lookup(self.graph, memory, address) {
            return Some(known);
        }
        self.leave_if_just_written(memory, address)?;
        let stores = self.effects.frame.stores;
        let value = self.graph.load(self.isa.memory(memory).cell, memory, address, stores);
        if !self.effects.loads.contains(&value) {
            self.effects.loads.push(value);
        }
        self.effects.frame.learn(memory, address, value);
        Some(value)
    }

    /// Leaves the instruction if it has itself written the cell that it is about to read: its stores are done after its
    /// loads.
    fn leave_if_just_written(&mut self, memory: MemoryId, address: ValueId) -> Option<()> {
        for at in 0..self.effects.stores.len() {
            let store = self.effects.stores[at];
            if !store.may_reach(self.graph, memory, address) {
                continue;
            }
            let same = self.graph.binary(BinaryOperator::Equal, store.address, address);
            match self.graph.as_constant(same) {
                Some(0) => {}
                Some(_) => return None,
                None => self.effects.bails.push(Bail::When(same)),
            }
        }
        Some(())
    }

    fn store_cell(&mut self, store: Store) -> Option<()> {
        self.leave_if_reserved(store.memory, store.address, |cells| cells.writes)?;
        if let Some(mapping) = self.known_mapping(store.memory, store.address) {
            return self.mapped(&mapping.write, &[store.address, store.value]).map(drop);
        }
        if store.memory == self.isa.pc.memory {
            self.effects.bails.push(Bail::Marked(store.address, store.guard));
        } else {
            self.leave_if_mapped(store.memory, store.address)?;
            let bail = Bail::Closed(store.memory, store.address);
            if self.isa.memory(store.memory).is_large() && !self.effects.bails.contains(&bail) {
                self.effects.bails.push(bail);
            }
        }
        self.effects.frame.store(self.graph, &store);
        self.effects.stores.push(store);
        Some(())
    }

    /// Returns what is mapped over an address, if the address is known.
    fn known_mapping(&self, memory: MemoryId, address: ValueId) -> Option<&'a Mapping> {
        let address = self.graph.as_constant(address).filter(|_| !self.is_mapped)?;
        self.isa.mapping(memory, address)
    }

    /// Executes the meaning of a mapped address.
    fn mapped(&mut self, body: &'a Body, given: &[ValueId]) -> Option<Option<ValueId>> {
        let outer = std::mem::take(&mut self.locals);
        self.is_mapped = true;
        self.body(body, given)?;
        let value = match &body.value {
            Some(value) => Some(self.value(value)?),
            None => None,
        };
        self.is_mapped = false;
        self.locals = outer;
        Some(value)
    }

    /// Leaves the instruction if something is mapped over the address.
    fn leave_if_mapped(&mut self, memory: MemoryId, address: ValueId) -> Option<()> {
        // Known addresses have been looked up before.
        if self.is_mapped || self.graph.as_constant(address).is_some() {
            return Some(());
        }
        for (first, last) in rough_spans(self.isa, memory) {
            let within = self.within(address, first, last);
            let (reached, bail) = match self.guard {
                Some(guard) => {
                    let both = self.graph.and(guard, within);
                    (both, Bail::When(both))
                }
                None => (within, Bail::Mapped { memory, address, condition: within }),
            };
            match self.graph.as_constant(reached) {
                Some(0) => {}
                Some(_) => return None,
                None => self.effects.bails.push(bail),
            }
        }
        Some(())
    }

    /// Leaves the instruction if such an access to the cell is reserved.
    fn leave_if_reserved(&mut self, memory: MemoryId, address: ValueId, by: fn(&Reserved) -> bool) -> Option<()> {
        let mask = self.graph.width(address).mask();
        let reserved = self.reserved;
        for cells in reserved.iter().filter(|cells| cells.memory == memory && by(cells)) {
            let (first, last) = (*cells.addresses.start(), mask.min(*cells.addresses.end()));
            if first > last {
                continue;
            }
            let within = self.within(address, first, last);
            let reached = self.guard.map_or(within, |guard| self.graph.and(guard, within));
            match self.graph.as_constant(reached) {
                Some(0) => {}
                Some(_) => return None,
                None => self.effects.bails.push(Bail::When(reached)),
            }
        }
        Some(())
    }

    /// Returns one bit: whether an address lies in a span.
    fn within(&mut self, address: ValueId, first: u64, last: u64) -> ValueId {
        let width = self.graph.width(address);
        let (least, length) = (self.graph.constant(width, first), self.graph.constant(width, last - first));
        if last == width.mask() {
            return self.graph.binary(BinaryOperator::LessOrEqual, least, address);
        }
        let distance = self.graph.binary(BinaryOperator::Subtract, address, least);
        self.graph.binary(BinaryOperator::LessOrEqual, distance, length)
    }

    /// Evaluates an expression. Returns none if that depends on how the instruction is written, which specialized
    /// bodies never do.
    fn value(&mut self, expr: &Expr) -> Option<ValueId> {
        let value = match &expr.kind {
            ExprKind::Constant(value) => self.graph.constant(expr.width, *value),
            ExprKind::Local(local) => self.locals.get(*local)?,
            ExprKind::Register(register) => {
                self.effects.touched.insert(*register);
                self.effects.frame.registers[register.index()]
            }
            ExprKind::Unary(operator, x) => {
                let x = self.value(x)?;
                self.graph.unary(*operator, x)
            }
            ExprKind::Binary(operator, x, y) => {
                let (x, y) = (self.value(x)?, self.value(y)?);
                self.graph.binary(*operator, x, y)
            }
            ExprKind::Slice(x, low) => {
                let x = self.value(x)?;
                self.graph.slice(x, *low, expr.width)
            }
            ExprKind::Join(high, low) => {
                let (high, low) = (self.value(high)?, self.value(low)?);
                self.graph.join(high, low)
            }
            ExprKind::ZeroExtend(x) => {
                let x = self.value(x)?;
                self.graph.zero_extend(expr.width, x)
            }
            ExprKind::SignExtend(x) => {
                let x = self.value(x)?;
                self.graph.sign_extend(expr.width, x)
            }
            ExprKind::Choose(condition, x, y) => {
                let (condition, x, y) = (self.value(condition)?, self.value(x)?, self.value(y)?);
                self.graph.choose(condition, x, y)
            }
            ExprKind::Operand(_) | ExprKind::Code(_) | ExprKind::Pc | ExprKind::Next => return None,
        };
        Some(value)
    }
}

/// Whether a block may become one side of a choice.
fn is_simple(block: &[Statement]) -> bool {
    let mut count = 0;
    let mut simple = true;
    for statement in block {
        statement.visit(&mut |statement| {
            count += 1;
            simple &= !matches!(statement, Statement::Halt | Statement::Fault { .. });
        });
    }
    simple && count <= LONG_ALTERNATIVE
}

/// Returns spans of mapped addresses, joining those that lie close together: leaving where nothing is mapped is right
/// too, and one check is cheaper than two.
fn rough_spans(isa: &Isa, memory: MemoryId) -> impl Iterator<Item = (u64, u64)> {
    let mut maps = isa.maps.iter().filter(move |mapping| mapping.memory == memory).peekable();
    std::iter::from_fn(move || {
        let Mapping { first, mut last, .. } = *maps.next()?;
        while let Some(close) = maps.next_if(|next| next.first - last <= CLOSE) {
            last = close.last;
        }
        Some((first, last))
    })
}

/// Returns the spans of a memory's addresses that have something mapped over them, adjacent ones joined.
pub fn mapped_spans(isa: &Isa, memory: MemoryId) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for mapping in isa.maps.iter().filter(|mapping| mapping.memory == memory) {
        match spans.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(mapping.first) => *last = mapping.last,
            _ => spans.push((mapping.first, mapping.last)),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use lathe_isa::operand::Location;
    use lathe_isa::specialize::specialize;

    use super::*;

    const MACHINE: &str = r#"
machine stacked "Pushes before it reads where to go, and has something mapped in two places"
memory ram : u16 -> u8
pc pc : u16 in ram
register s, x : u8
field A : u16
device console : stream
map ram {
  0xF001 | ram[address] | console.write(value)
  0xF004 | ram[address] | console.write(value)
  0xF800 | s            | s = value
  0xF801 | ram[address] | x = value
}
instructions {
  call A    | 0000 0001 {A} | ram[0x100 + zext(s)] = 1; s = s - 1; pc = ram[next - 1] ++ A[7:0]
  get A     | 0000 0010 {A} | x = ram[A + zext(x)]
  lda A     | 0000 0011 {A} | x = ram[A]
  sta A     | 0000 0100 {A} | ram[A] = x
  take A    | 0000 0101 {A} | ram[A] = console.read()
  far A     | 0000 0110 {A} | x = ram[A + zext(console.read())]
  to A      | 0000 0111 {A} | ram[A + zext(console.read())] = x
  only A    | 0000 1000 {A} | if x[0] { fault "odd" } else { s = x; ram[A] = x; pc = A }
  unless A  | 0000 1001 {A} | if x[0] { s = x; ram[A] = x; pc = A } else { halt }
}
"#;

    /// Executes the instruction at an address. Returns none if it is left altogether.
    fn execute_at(code: [u64; 3], pc: u64) -> Option<(Graph, Effects)> {
        let loaded = lathe_isa::load(MACHINE);
        let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let window = lathe_isa::encoding::window(code, isa.code_memory().cell);
        let decoded = isa.decode(window).expect("a row fits");
        let body = specialize(&isa, &decoded, Location { pc, next: pc + 3, width: isa.pc.width });
        let mut graph = Graph::default();
        let frame = SymbolicState::new(&isa, &mut graph);
        let meaning = Meaning { hook: None, body: &body, next: pc + 3, reserved: &[] };
        let effects = execute(&isa, &mut graph, &frame, &meaning)?;
        Some((graph, effects))
    }

    fn effects(code: [u64; 3], pc: u64) -> Effects {
        execute_at(code, pc).expect("it is not left altogether").1
    }

    #[test]
    fn what_is_mapped_over_a_known_address_is_part_of_the_instruction() {
        let [s, x] = [0, 1].map(RegisterId);
        let (mut graph, lda) = execute_at([3, 0xF8, 0x00], 0x400).expect("it reads a register");
        assert!(lda.bails.is_empty() && lda.loads.is_empty());
        assert_eq!(lda.frame.registers[x.index()], graph.register(Width::BYTE, s));
        let (mut graph, sta) = execute_at([4, 0xF8, 0x00], 0x400).expect("it writes a register");
        assert!(sta.bails.is_empty() && sta.stores.is_empty());
        assert_eq!(sta.frame.registers[s.index()], graph.register(Width::BYTE, x));
        // Here, the cell itself is read.
        assert_eq!(effects([3, 0xF8, 0x01], 0x400).loads.len(), 1);
        let (_, sta) = execute_at([4, 0xF0, 0x01], 0x400).expect("it writes to a device");
        assert!(sta.bails.is_empty() && sta.stores.is_empty());
        assert_eq!(sta.device_writes.len(), 1);
    }

    #[test]
    fn what_is_mapped_may_touch_a_register_too() {
        let touched = |code| {
            let touched = effects(code, 0x400).touched;
            [0, 1, 2].map(|id| touched.contains(RegisterId(id)))
        };
        assert_eq!(touched([3, 0x20, 0x00]), [false, true, false]);
        assert_eq!(touched([3, 0xF8, 0x00]), [true, true, false]);
        let mut registers = Registers::default();
        assert!(registers.contains(RegisterId(128)) && !registers.contains(RegisterId(127)));
        registers.insert(RegisterId(127));
        registers.insert(RegisterId(128));
        assert!(registers.contains(RegisterId(127)) && !registers.contains(RegisterId(0)));
    }

    #[test]
    fn beside_an_alternative_that_leaves_the_other_is_certain() {
        for opcode in [8, 9] {
            let (mut graph, effects) = execute_at([opcode, 0x20, 0x00], 0x400).expect("it is not left altogether");
            assert!(matches!(effects.bails[..], [Bail::When(_), Bail::Marked(_, None)]), "{:?}", effects.bails);
            assert_eq!(graph.as_constant(effects.next), Some(0x2000));
            assert_eq!(effects.frame.registers[0], graph.register(Width::BYTE, RegisterId(1)));
            assert!(matches!(effects.stores[..], [Store { guard: None, .. }]));
        }
    }

    #[test]
    fn what_depends_on_an_answer_is_not_known_before() {
        let is_certain = |opcode| {
            let (graph, effects) = execute_at([opcode, 0x20, 0x00], 0x400).expect("it is not left altogether");
            assert_eq!(effects.device_reads.len(), 1);
            effects.is_certain_before_devices(&graph)
        };
        assert_eq!([5, 6, 7].map(is_certain), [true, false, false]);
    }

    #[test]
    fn what_an_instruction_has_perhaps_written_itself_is_checked_first() {
        let bails = |pc| effects([1, 0x12, 0x34], pc).bails;
        assert!(matches!(bails(0x180)[..], [Bail::Marked(..), Bail::When(_)]), "{:?}", bails(0x180));
        assert!(matches!(bails(0x400)[..], [Bail::Marked(..)]), "{:?}", bails(0x400));
    }

    #[test]
    fn what_is_mapped_is_looked_for_once_and_only_where_it_can_be() {
        let bails = |base: u64| effects([2, base >> 8, base & 0xFF], 0x400).bails.len();
        assert_eq!(bails(0x2000), 0);
        assert_eq!(bails(0xEF01), 0);
        assert_eq!(bails(0xEF02), 1);
        assert_eq!(bails(0xEF80), 1);
        assert_eq!(bails(0xF004), 1);
        assert_eq!(bails(0xF005), 0);
    }
}
