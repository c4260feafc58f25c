//! Writes the actions of an instruction as Verilog, statement by statement. Accesses to memories and devices are
//! numbered along each path through it; the crate's documentation says how the core uses the numbers.

use std::collections::{BTreeMap, BTreeSet};

use lathe_isa::Isa;
use lathe_isa::model::{
    DeviceId, DeviceOperation, FieldId, InstructionId, Mapping, MemoryId, Operation, Order, RegisterId,
};
use lathe_isa::semantics::{Block, Body, Expr, ExprKind, LocalId, OperandId, Statement};

use crate::check;
use crate::divide::{self, Division};
use crate::expression::{number, select};
use crate::late;
use crate::maps::{self, Access, Numbers};
use crate::operands::{self, Operand};
use crate::operators::Functions;
use crate::parts::{self, Parts};
use crate::range::Ranges;
use crate::shape::{self, Shape};
use crate::writer::Writer;

/// A count for each width in bits.
pub(crate) type Counts = BTreeMap<u32, u32>;

/// What all bodies of a core share, and what writing them has found out.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// Functions for operators.
    pub(crate) functions: Functions,
    /// How many values of each width are kept from one step to the next.
    pub(crate) latches: Counts,
    /// How many temporaries of each width bodies need.
    pub(crate) temporaries: Counts,
    /// How many names of each width they need for device writes that have to wait.
    pub(crate) later: Counts,
    /// The highest access number, plus one; where parts are shared, some instructions skip numbers.
    pub(crate) steps: u32,
    /// The most accesses of each instruction, in order; the last entry is for bits that no row has.
    pub(crate) accesses: Vec<u32>,
    /// How many accesses have been done once the instruction has been fetched.
    pub(crate) fetched: u32,
    /// The names of values that parts of instructions hand on, with their widths.
    pub(crate) handed: BTreeMap<String, u32>,
    /// Register lists that are written after everything else.
    pub(crate) late: BTreeSet<FieldId>,
    /// The width of `step`; right only in the second pass.
    pub(crate) step_bits: u32,
    /// How many values of each width are kept by maps over memories.
    pub(crate) kept: Counts,
    /// Registers that `on step` may change before an instruction.
    pub(crate) on_step: BTreeSet<RegisterId>,
    /// For each memory, the access numbers that the shared logic of its maps takes.
    pub(crate) maps: Vec<Numbers>,
}

impl Common {
    /// The names of loaded values, with their widths.
    pub(crate) fn loaded(&self) -> Vec<(u32, String)> {
        [names("load", &self.latches), names("kept", &self.kept)].concat()
    }

    /// The names of computed values, with their widths.
    pub(crate) fn computed(&self) -> Vec<(u32, String)> {
        let handed = self.handed.iter().map(|(name, bits)| (*bits, name.clone())).collect();
        [names("t", &self.temporaries), names("later", &self.later), handed].concat()
    }
}

fn names(stem: &str, counts: &Counts) -> Vec<(u32, String)> {
    counts.iter().flat_map(|(bits, count)| (0..*count).map(move |at| (*bits, format!("{stem}{bits}_{at}")))).collect()
}

/// The state of numbering on a path through a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Way {
    /// The number of the next access.
    pub(crate) site: u32,
    /// The next slot of each width for a loaded value.
    slots: Counts,
    /// The next temporary of each width.
    temporaries: Counts,
}

impl Way {
    /// Joins another path to this one: counts on from the higher number of both.
    pub(crate) fn join(&mut self, other: &Way) {
        self.site = self.site.max(other.site);
        at_least(&mut self.slots, &other.slots);
        at_least(&mut self.temporaries, &other.temporaries);
    }

    /// Returns the same path with the temporaries of another.
    pub(crate) fn with_temporaries_of(mut self, other: &Way) -> Way {
        self.temporaries.clone_from(&other.temporaries);
        self
    }
}

fn at_least(counts: &mut Counts, others: &Counts) {
    for (bits, other) in others {
        let count = counts.entry(*bits).or_default();
        *count = (*count).max(*other);
    }
}

/// Takes the next number for this width.
fn next(counts: &mut Counts, bits: u32) -> u32 {
    let count = counts.entry(bits).or_default();
    *count += 1;
    *count - 1
}

/// What is known at a point in a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) way: Way,
    /// Registers that may have been written already.
    pub(crate) written: BTreeSet<RegisterId>,
    /// Divisions already done whose operands have not changed since.
    pub(crate) divisions: Vec<Division>,
}

impl Known {
    /// Joins another path to this one: keeps what is known on both.
    pub(crate) fn join(&mut self, other: &Known) {
        self.way.join(&other.way);
        self.written.extend(other.written.iter().copied());
        self.divisions.retain(|division| other.divisions.contains(division));
    }

    fn local_changes(&mut self, local: LocalId) {
        self.divisions.retain(|division| !division.of.mention(|kind| *kind == ExprKind::Local(local)));
    }

    /// An operand may name any of these registers.
    fn registers_change(&mut self, registers: impl IntoIterator<Item = RegisterId>) {
        for register in registers {
            self.written.insert(register);
            self.divisions.retain(|division| {
                let is_register = |kind: &ExprKind| *kind == ExprKind::Register(register);
                !division.of.mention(|kind| is_register(kind) || matches!(kind, ExprKind::Operand(_)))
            });
        }
    }
}

/// A write to a device that has to wait for the end of the instruction: the name of the condition, and the names of the
/// values written.
#[derive(Debug)]
struct Pending {
    device: DeviceId,
    operation: DeviceOperation,
    is_wanted: String,
    arguments: Vec<String>,
}

/// An instruction that is being written part by part, and what each part has to know about those before it.
pub(crate) struct Doing {
    id: InstructionId,
    /// `None` if the instruction has to stay in one piece: a division looks back at divisions before it, and writes
    /// that wait for the end are done there.
    parts: Option<Parts>,
    ranges: Ranges,
    late: std::vec::IntoIter<bool>,
    written: BTreeSet<RegisterId>,
}

impl Doing {
    pub(crate) fn new(isa: &Isa, id: InstructionId) -> Doing {
        let instruction = isa.instruction(id);
        let body = shape::feasible(isa, &instruction.body);
        let is_whole = divide::divides(&body) || !check::deferred(isa, &body).is_empty();
        let parts = if is_whole { None } else { Parts::of(isa, &instruction.operands, &body) };
        let body = parts.as_ref().map_or(body, Parts::body);
        let late = late::writes(isa, &instruction.operands, &body.block).into_iter();
        Doing { id, parts, ranges: Ranges::of(&body), late, written: BTreeSet::new() }
    }
}

/// A body being lowered to Verilog.
pub(crate) struct Lowering<'a> {
    pub(crate) isa: &'a Isa,
    pub(crate) shape: &'a Shape,
    pub(crate) common: &'a mut Common,
    /// The statements so far.
    pub(crate) out: Writer,
    pub(crate) known: Known,
    /// Whether a division may take clock cycles here; if not, it is combinational.
    pub(crate) may_divide_slowly: bool,
    /// Divisions of the body of which both quotient and remainder are used.
    pub(crate) wanted_both: Vec<divide::Fraction>,
    /// The names of the locals of the body being written.
    pub(crate) locals: Vec<String>,
    /// The operands.
    pub(crate) operands: Vec<Operand>,
    /// Whether each of the coming writes to operands can wait until the end.
    late: std::vec::IntoIter<bool>,
    /// Whether a mapped access is being written; its own accesses reach the cells themselves.
    mapped: bool,
    /// In logic shared by all instructions, the name of the number from which accesses count.
    first: Option<String>,
    /// Devices whose writes wait until the end of the instruction.
    deferred: Vec<DeviceId>,
    pending: Vec<Pending>,
    later: Counts,
    /// The ranges of the locals.
    ranges: Ranges,
}

impl<'a> Lowering<'a> {
    /// Starts from a path's numbers, at a depth of indentation.
    pub(crate) fn new(isa: &'a Isa, shape: &'a Shape, common: &'a mut Common, way: Way, depth: usize) -> Lowering<'a> {
        Lowering {
            isa,
            shape,
            common,
            out: Writer::at(depth),
            known: Known { way, ..Known::default() },
            may_divide_slowly: true,
            wanted_both: Vec::new(),
            locals: Vec::new(),
            operands: Vec::new(),
            late: Vec::new().into_iter(),
            mapped: false,
            first: None,
            deferred: Vec::new(),
            pending: Vec::new(),
            later: Counts::new(),
            ranges: Ranges::default(),
        }
    }

    /// Starts the logic of a map, which all instructions share: the instructions say where its numbers begin.
    pub(crate) fn mapped(
        isa: &'a Isa,
        shape: &'a Shape,
        common: &'a mut Common,
        first: String,
        depth: usize,
    ) -> Lowering<'a> {
        Lowering { mapped: true, first: Some(first), ..Lowering::new(isa, shape, common, Way::default(), depth) }
    }

    /// Whether this is logic shared by all instructions, which runs after they have changed registers.
    pub(crate) fn is_for_all(&self) -> bool {
        self.first.is_some()
    }

    /// Returns the statements and the numbers reached.
    pub(crate) fn finish(self) -> (String, Way) {
        at_least(&mut self.common.temporaries, &self.known.way.temporaries);
        at_least(&mut self.common.later, &self.later);
        (self.out.finish(), self.known.way)
    }

    /// Writes a whole instruction: its operands, its actions, and the writes to devices that had to wait for its end.
    pub(crate) fn instruction(&mut self, id: InstructionId) {
        let instruction = self.isa.instruction(id);
        self.operands = self.shape.operands.of(id);
        self.late = late::writes(self.isa, &instruction.operands, &instruction.body.block).into_iter();
        self.whole(&instruction.body);
    }

    /// Writes a part of an instruction; those before it have been written.
    pub(crate) fn part(&mut self, doing: &mut Doing, at: usize) {
        match (at, &doing.parts) {
            (0, _) => self.length(doing.id),
            (1, None) => self.instruction(doing.id),
            (_, None) => {}
            (_, Some(parts)) => {
                self.operands = self.shape.operands.of(doing.id);
                self.late = std::mem::take(&mut doing.late);
                self.ranges = std::mem::take(&mut doing.ranges);
                self.known.written = std::mem::take(&mut doing.written);
                self.block_of(parts, &parts.blocks[at - 1]);
                doing.late = std::mem::take(&mut self.late);
                doing.ranges = std::mem::take(&mut self.ranges);
                doing.written = std::mem::take(&mut self.known.written);
            }
        }
    }

    /// Writes one of the blocks of an instruction in parts.
    fn block_of(&mut self, parts: &Parts, block: &Block) {
        let mut own = BTreeSet::new();
        parts::assignments(block, &mut |local| {
            own.insert(local);
        });
        for (local, width) in (0..).map(LocalId).zip(&parts.locals) {
            let name = match parts.handed.get(&local) {
                Some(name) => {
                    self.common.handed.insert(name.clone(), width.bits());
                    name.clone()
                }
                None if own.contains(&local) => self.new_temporary(width.bits()),
                None => String::new(),
            };
            self.locals.push(name);
        }
        self.block(block);
    }

    /// Writes the address of the next instruction, and how long this one takes.
    pub(crate) fn length(&mut self, id: InstructionId) {
        let instruction = self.isa.instruction(id);
        let width = self.isa.pc.width;
        self.out.line(format!(
            "next = {} + {};",
            self.shape.names.pc,
            number(width.bits(), width.wrap(u64::from(instruction.encoding.cells)))
        ));
        if self.isa.has_cycles {
            self.out.line(format!("cycles = cycles + {};", number(64, instruction.cycles)));
        }
    }

    /// Writes a body that stands by itself; returns the text of its value.
    pub(crate) fn whole(&mut self, body: &Body) -> Option<String> {
        self.deferred = check::deferred(self.isa, body);
        let body = &shape::feasible(self.isa, body);
        self.ranges = Ranges::of(body);
        let value = self.body(body, &[]);
        for pending in std::mem::take(&mut self.pending) {
            let known = self.operation(pending.device, pending.operation);
            self.out.open(format!("if ({}) begin", pending.is_wanted));
            self.device_write(pending.device, &known, &pending.arguments);
            self.out.close("end");
        }
        value
    }

    /// Writes a body with its first locals given; returns the text of its value.
    pub(crate) fn body(&mut self, body: &Body, given: &[String]) -> Option<String> {
        let used = used_locals(body);
        let mut names = given.to_vec();
        for (at, width) in body.locals.iter().enumerate().skip(given.len()) {
            names.push(if used.contains(&at) { self.new_temporary(width.bits()) } else { String::new() });
        }
        let outer = std::mem::replace(&mut self.locals, names);
        let wanted_outside = std::mem::replace(&mut self.wanted_both, divide::wanted_both(body));
        // Its locals are not those of the body around it.
        self.known.divisions.clear();
        self.block(&body.block);
        let value = body.value.as_ref().map(|value| self.expression(value));
        self.known.divisions.clear();
        self.wanted_both = wanted_outside;
        self.locals = outer;
        value
    }

    fn block(&mut self, block: &Block) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let(local, value) => {
                let text = self.expression(value);
                let name = self.locals[usize::from(local.0)].clone();
                self.out.line(format!("{name} = {text};"));
                self.known.local_changes(*local);
            }
            Statement::SetRegister(register, value) => {
                let text = self.expression(value);
                self.out.line(format!("{} = {text};", self.shape.names.register(*register)));
                self.known.registers_change([*register]);
            }
            Statement::SetOperand(operand, value) => self.set_operand(*operand, value),
            Statement::DeviceRead { into, device, operation, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(|argument| self.expression(argument)).collect();
                let value = self.device_read(*device, *operation, &arguments);
                let name = self.locals[usize::from(into.0)].clone();
                self.out.line(format!("{name} = {value};"));
                self.known.local_changes(*into);
            }
            Statement::DeviceWrite { device, operation, arguments } => {
                self.write_now_or_later(*device, *operation, arguments)
            }
            Statement::Jump(target) => {
                let text = self.expression(target);
                self.out.line(format!("jump = 1'b1;\ntarget = {text};"));
            }
            Statement::Halt => self.out.line("halt = 1'b1;"),
            Statement::Fault { message, detail } => self.fault(message, detail.as_ref()),
            Statement::Cycles(count) => {
                let bits = count.width.bits();
                let text = self.expression(count);
                self.out.line(format!("cycles = cycles + {};", crate::expression::extend(&text, bits, 64)));
            }
            Statement::If { condition, then, otherwise } => self.choice(condition, then, otherwise),
            Statement::Load { into, memory, address, cells } => {
                self.load(*into, *memory, address, *cells);
                self.known.local_changes(*into);
            }
            Statement::Store { memory, address, cells, value } => self.store(*memory, address, *cells, value),
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Block, otherwise: &Block) {
        let text = self.expression(condition);
        let before = self.known.clone();
        self.out.open(format!("if ({text}) begin"));
        self.block(then);
        let after = std::mem::replace(&mut self.known, before);
        if !otherwise.is_empty() {
            self.out.turn("end else begin");
            self.block(otherwise);
        }
        self.known.join(&after);
        self.out.close("end");
    }

    /// Writes a fault: the machine stops as it was before the instruction, unless it has to stop for an access first.
    pub(crate) fn fault(&mut self, message: &str, detail: Option<&Expr>) {
        let detail = detail.map(|detail| {
            let text = self.expression(detail);
            crate::expression::extend(&text, detail.width.bits(), self.shape.detail_bits)
        });
        let detail = detail.unwrap_or_else(|| number(self.shape.detail_bits, 0));
        let code = number(self.shape.fault_bits(), self.shape.fault_code(message) as u64);
        self.out.open("if (!stop) begin");
        self.out
            .line(format!("fault = 1'b1; // {message}\nfault_code = {code};\nfault_detail = {detail};\nstop = 1'b1;"));
        self.out.close("end");
    }

    fn set_operand(&mut self, operand: OperandId, value: &Expr) {
        let text = self.expression(value);
        let Operand { field, code, .. } = self.operands[usize::from(operand.0)].clone();
        self.known.registers_change(operands::registers(self.isa, field));
        let first = shape::register_list(self.isa, field);
        let list = self.shape.names.field(first);
        if self.late.next() == Some(true) {
            self.common.late.insert(first);
            self.out.line(format!("{list}_write = 1'b1; {list}_address = {code}; {list}_data = {text};"));
        } else {
            self.out.line(format!("write_{list}({code}, {text});"));
        }
    }

    /// Takes the number of the next access; returns it as text, and the number after it.
    pub(crate) fn number_site(&mut self) -> (String, String) {
        let site = self.known.way.site;
        self.known.way.site += 1;
        (self.site(site), self.site(site + 1))
    }

    fn site(&self, site: u32) -> String {
        let number = number(self.common.step_bits, u64::from(site));
        match &self.first {
            None => number,
            Some(first) if site == 0 => first.clone(),
            Some(first) => format!("({first} + {number})"),
        }
    }

    /// Returns a name that keeps an access's answer until the instruction ends.
    pub(crate) fn latch(&mut self, bits: u32) -> String {
        let slot = next(&mut self.known.way.slots, bits);
        let (stem, all) = match self.first {
            None => ("load", &mut self.common.latches),
            Some(_) => ("kept", &mut self.common.kept),
        };
        at_least(all, &self.known.way.slots);
        format!("{stem}{bits}_{slot}")
    }

    /// Returns a new name for a computed value.
    pub(crate) fn new_temporary(&mut self, bits: u32) -> String {
        format!("t{bits}_{}", next(&mut self.known.way.temporaries, bits))
    }

    /// Returns a new name that is 0 on every path until something is assigned to it.
    fn new_later(&mut self, bits: u32) -> String {
        format!("later{bits}_{}", next(&mut self.later, bits))
    }

    /// Writes a load. Several cells at once have no map over them.
    fn load(&mut self, into: LocalId, memory: MemoryId, address: &Expr, cells: u8) {
        let name = self.locals[usize::from(into.0)].clone();
        let found = self.mappings(memory, address, Access::Read);
        if found.is_empty() {
            let address = self.expression(address);
            let value = self.load_cells(memory, &address, u32::from(cells));
            let value = self.in_order(memory, &value, cells);
            self.out.line(format!("{name} = {value};"));
            return;
        }
        let bits = address.width.bits();
        let address_is_known = address.as_constant().is_some();
        let text = self.expression(address);
        if !address_is_known && self.can_share(memory, Access::Read) {
            let value = self.mapped_load(memory, &text);
            self.out.line(format!("{name} = {value};"));
            return;
        }
        let address = if address_is_known { text } else { self.temporary(bits, &text) };
        self.either(&found, &address, address_is_known, &mut |this, mapping| {
            let value = match mapping {
                Some(mapping) => this.side(&mapping.read, std::slice::from_ref(&address)).unwrap_or_default(),
                None => this.load_cells(memory, &address, 1),
            };
            this.out.line(format!("{name} = {value};"));
        });
    }

    /// Writes a store. Several cells at once have no map over them.
    fn store(&mut self, memory: MemoryId, address: &Expr, cells: u8, value: &Expr) {
        let found = self.mappings(memory, address, Access::Write);
        if found.is_empty() {
            let (address, mut text) = (self.expression(address), self.expression(value));
            if cells > 1 && self.isa.memory(memory).order == Order::Big {
                text = self.temporary(value.width.bits(), &text);
            }
            let value = self.in_order(memory, &text, cells);
            self.store_cells(memory, &address, &value, u32::from(cells));
            return;
        }
        let (bits, value_bits) = (address.width.bits(), value.width.bits());
        let address_is_known = address.as_constant().is_some();
        let text = self.expression(address);
        let address = if address_is_known { text } else { self.temporary(bits, &text) };
        let text = self.expression(value);
        let value = self.temporary(value_bits, &text);
        if !address_is_known && self.can_share(memory, Access::Write) {
            self.mapped_store(memory, &address, &value);
            self.mapped_to_core(&found, &address, &value);
            return;
        }
        self.either(&found, &address, address_is_known, &mut |this, mapping| match mapping {
            Some(mapping) => {
                this.side(&mapping.write, &[address.clone(), value.clone()]);
            }
            None => this.store_cells(memory, &address, &value, 1),
        });
    }

    /// Whether the shared logic of a memory's maps can do this access.
    fn can_share(&self, memory: MemoryId, access: Access) -> bool {
        let (isa, maps) = (self.isa, &self.shape.maps);
        let written = |id| self.known.written.contains(&id) || self.common.on_step.contains(&id);
        let waits = access == Access::Write && self.deferred.iter().any(|device| maps.may_write(isa, memory, *device));
        !waits && maps.can_share(isa, memory, access, written)
    }

    /// Writes a read of an address that may be mapped; returns the name of the value.
    fn mapped_load(&mut self, memory: MemoryId, address: &str) -> String {
        let name = self.shape.names.memory(memory).to_owned();
        let at = self.site(self.known.way.site);
        self.known.way.site += self.common.maps[memory.index()].reads;
        let after = self.site(self.known.way.site);
        let latch = self.latch(self.isa.memory(memory).cell.bits());
        self.out.line(format!("`{name}_mapped_load({at}, {address})"));
        self.out.line(format!("if (step == {after}) {latch} = {name}_answer;"));
        latch
    }

    /// Writes a store to an address that may be mapped, except its effects on the core.
    fn mapped_store(&mut self, memory: MemoryId, address: &str, value: &str) {
        let numbers = self.common.maps[memory.index()].writes;
        if numbers == 0 {
            // The maps access nothing but the cells.
            return self.store_cells(memory, address, value, 1);
        }
        let name = self.shape.names.memory(memory).to_owned();
        let at = self.site(self.known.way.site);
        self.known.way.site += numbers;
        self.out.line(format!("`{name}_mapped_store({at}, {address}, {value})"));
    }

    /// Writes what mapped stores change in the core: registers, or the next address.
    fn mapped_to_core(&mut self, found: &[usize], address: &str, value: &str) {
        for at in found {
            let Some(body) = self.shape.maps.core(*at) else { continue };
            let before = self.known.clone();
            self.out.open(format!("if ({}) begin", maps::test(self.isa, &self.isa.maps[*at], address)));
            self.body(body, &[address.to_owned(), value.to_owned()]);
            self.out.close("end");
            self.known.join(&before);
        }
    }

    /// Converts a value between the cell order of its memory and lane order, in which the lowest address has the lowest
    /// bits.
    fn in_order(&self, memory: MemoryId, value: &str, cells: u8) -> String {
        let memory = self.isa.memory(memory);
        if cells == 1 || memory.order == Order::Little {
            return value.to_owned();
        }
        let (cell, bits) = (memory.cell.bits(), memory.cell.bits() * u32::from(cells));
        let parts: Vec<String> = memory.layout(cells).rev().map(|(_, low)| select(value, bits, low, cell)).collect();
        format!("{{{}}}", parts.join(", "))
    }

    /// Writes one side of a mapped address.
    fn side(&mut self, body: &Body, given: &[String]) -> Option<String> {
        self.body(&shape::feasible(self.isa, body), given)
    }

    /// Returns the maps that may cover an address and make a difference there.
    fn mappings(&self, memory: MemoryId, address: &Expr, access: Access) -> Vec<usize> {
        if self.mapped {
            return Vec::new();
        }
        let (first, last) = self.ranges.expression(address);
        let reached = |map: &Mapping| map.memory == memory && map.first <= last && first <= map.last;
        let all =
            self.isa.maps.iter().enumerate().filter(|(at, map)| reached(map) && self.shape.maps.matters(*at, access));
        all.map(|(at, _)| at).collect()
    }

    /// Writes one branch for each map, and one for the cells themselves.
    fn either(
        &mut self,
        found: &[usize],
        address: &str,
        is_known: bool,
        branch: &mut dyn FnMut(&mut Self, Option<&'a Mapping>),
    ) {
        let found = found.iter().map(|at| &self.isa.maps[*at]);
        if is_known {
            self.mapped = true;
            branch(self, found.into_iter().next());
            self.mapped = false;
            return;
        }
        let before = self.known.clone();
        let mut after = before.clone();
        for (at, mapping) in found.map(Some).chain([None]).enumerate() {
            match (at, mapping.map(|mapping| maps::test(self.isa, mapping, address))) {
                (0, Some(test)) => self.out.open(format!("if ({test}) begin")),
                (_, Some(test)) => self.out.turn(format!("end else if ({test}) begin")),
                (_, None) => self.out.turn("end else begin"),
            }
            self.known = before.clone();
            self.mapped = true;
            branch(self, mapping);
            self.mapped = false;
            after.join(&self.known);
        }
        self.out.close("end");
        self.known = after;
    }

    /// Writes a load of cells, the first in the lowest bits; returns the name of the value.
    pub(crate) fn load_cells(&mut self, memory: MemoryId, address: &str, count: u32) -> String {
        let name = self.shape.names.memory(memory).to_owned();
        let described = self.isa.memory(memory);
        let (lanes, bits) = (self.shape.lanes[memory.index()], described.cell.bits() * count);
        let (at, after) = self.number_site();
        let latch = self.latch(bits);
        self.out.line(format!("`{name}_load({at}, {address})"));
        self.out.line(format!(
            "if (step == {after}) {latch} = {};",
            select(&format!("{name}_value"), lanes * described.cell.bits(), 0, bits)
        ));
        latch
    }

    fn store_cells(&mut self, memory: MemoryId, address: &str, value: &str, count: u32) {
        let name = self.shape.names.memory(memory).to_owned();
        let (lanes, cell) = (self.shape.lanes[memory.index()], self.isa.memory(memory).cell.bits());
        let (at, _) = self.number_site();
        let mask = number(lanes, (1 << count) - 1);
        let value = crate::expression::extend(value, cell * count, cell * lanes);
        self.out.line(format!("`{name}_store({at}, {address}, {mask}, {value})"));
    }

    fn operation(&self, device: DeviceId, operation: DeviceOperation) -> Operation {
        let known = self.isa.devices[device.index()].kind.operations();
        known.into_iter().find(|known| known.operation == operation).expect("the definition has been checked")
    }

    /// Writes a read from a device; returns the name of the answer.
    fn device_read(&mut self, device: DeviceId, operation: DeviceOperation, arguments: &[String]) -> String {
        let known = self.operation(device, operation);
        let port = format!("{}_{}", self.shape.names.device(device), operation.name());
        let (at, after) = self.number_site();
        let latch = self.latch(known.result.map_or(1, |width| width.bits()));
        let mut given = vec![at.clone()];
        given.extend(arguments.iter().cloned());
        if shape::answers_later(&known) {
            self.out.line(format!("`do_{port}({})", given.join(", ")));
            self.out.line(format!("if (step == {after}) {latch} = {port}_value;"));
        } else if self.isa.devices[device.index()].kind.consumes(operation) {
            self.out.line(format!("`do_{port}({})", given.join(", ")));
            self.out.line(format!("if (step <= {at}) {latch} = {port}_value;"));
        } else {
            // An operation in this cycle changes the device only at its end, and the answer has to reflect it.
            self.out.open(format!("if (!stop && step <= {at}) begin"));
            self.out
                .line(format!("if (busy) stop = 1'b1; else begin {latch} = {port}_value; step_next = {after}; end"));
            self.out.close("end");
        }
        latch
    }

    fn write_now_or_later(&mut self, device: DeviceId, operation: DeviceOperation, arguments: &[Expr]) {
        let texts: Vec<String> = arguments.iter().map(|argument| self.expression(argument)).collect();
        let known = self.operation(device, operation);
        if !self.deferred.contains(&device) {
            self.device_write(device, &known, &texts);
            return;
        }
        // Execution may not reach the statement.
        let is_wanted = self.new_later(1);
        self.out.line(format!("{is_wanted} = 1'b1;"));
        let mut given = Vec::new();
        for (text, argument) in texts.iter().zip(arguments) {
            let name = self.new_later(argument.width.bits());
            self.out.line(format!("{name} = {text};"));
            given.push(name);
        }
        self.pending.push(Pending { device, operation, is_wanted, arguments: given });
    }

    fn device_write(&mut self, device: DeviceId, operation: &Operation, arguments: &[String]) {
        let port = format!("{}_{}", self.shape.names.device(device), operation.operation.name());
        let (at, _) = self.number_site();
        let mut given = vec![at];
        given.extend(arguments.iter().cloned());
        self.out.line(format!("`do_{port}({})", given.join(", ")));
    }
}

/// Returns the locals that a body assigns or reads.
fn used_locals(body: &Body) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    for statement in &body.block {
        statement.visit(&mut |statement| match statement {
            Statement::Let(local, _)
            | Statement::Load { into: local, .. }
            | Statement::DeviceRead { into: local, .. } => {
                used.insert(usize::from(local.0));
            }
            _ => {}
        });
    }
    used
}

/// Calls `see` with the expressions that a body evaluates, in order.
pub(crate) fn for_each_expression(body: &Body, see: &mut dyn FnMut(&Expr)) {
    for statement in &body.block {
        statement.visit(&mut |statement| statement.expressions().for_each(&mut *see));
    }
    body.value.iter().for_each(see);
}
