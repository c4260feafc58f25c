//! From a region to a Cranelift function.
//!
//! The function takes a [`Context`] and the number of the block to begin with. Registers
//! live in variables from the entry to an exit, which writes them back. Guest memory is
//! reached as base plus masked address; the mask is applied in 64 bits directly before the
//! addition, so that no mistake elsewhere can reach outside. A constant may be added to that, if
//! the mask and it together do not reach behind the last cell.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Block as Label, Function, InstBuilder, MemFlagsData, Signature, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Order, RegisterId};
use lathe_vm::code_map::PERMITTED;
use lathe_vm::dataflow::{Graph, Node, Store, ValueId};
use lathe_vm::memory::PAGE_BITS;

use crate::live::{Live, live};
use crate::region::{Block, Check, Edge, End, Event, Group, Jump, Region, Segment, Snapshot, Stores};
use crate::values::{Computed, Values, type_of};

/// Targets of a computed jump that are compared one after the other.
const TRIED_IN_TURN: usize = 4;

/// What compiled code and the engine share. Offsets are used by compiled code.
#[repr(C)]
pub(crate) struct Context {
    /// One word for every register.
    pub(crate) registers: *mut u64,
    /// One byte for every cell of the code memory: marks, or permits where it is large.
    pub(crate) marks: *const u8,
    /// The first cell of every memory.
    pub(crate) memories: *const *mut u8,
    /// One byte for every page of every large memory: 1 if it may be written. Null for the others.
    pub(crate) opened: *const *mut u8,
    /// Steps left, less the bound of the region.
    pub(crate) fuel: i64,
    /// Cycles taken.
    pub(crate) cycles: u64,
    /// Where it goes on.
    pub(crate) pc: u64,
    /// Not zero if the instruction there must be interpreted.
    pub(crate) interpret: u64,
    /// The address of the computed jump that went where it was not expected to go, if that is why
    /// the region was left; else as it was.
    pub(crate) jump: u64,
}

/// No computed jump: addresses have fewer bits.
pub(crate) const NO_JUMP: u64 = u64::MAX;

/// The signature of a compiled region.
pub(crate) fn signature(mut signature: Signature) -> Signature {
    signature.params.push(AbiParam::new(I64));
    signature.params.push(AbiParam::new(I32));
    signature
}

/// The numbers of the blocks of a region, by address.
pub(crate) fn block_numbers(region: &Region) -> BTreeMap<u64, u32> {
    region.blocks.keys().copied().zip(0..).collect()
}

/// Fills in the function for a region.
pub(crate) fn emit(
    isa: &Isa,
    region: &Region,
    function: &mut Function,
    context: &mut FunctionBuilderContext,
    target: TargetFrontendConfig,
) {
    let mut builder = FunctionBuilder::new(function, context);
    let registers = region.registers(isa);
    let live = live(region, &registers.written);
    let labels = region.blocks.keys().map(|pc| (*pc, builder.create_block())).collect();
    let variables = Variables {
        registers: vec![None; isa.registers.len()],
        written: registers.written.clone(),
        fuel: builder.declare_var(I64),
        cycles: isa.has_cycles.then(|| builder.declare_var(I64)),
    };
    let entry = builder.create_block();
    let leave = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let pointer = builder.block_params(entry)[0];
    let mut emitter = Emitter {
        isa,
        builder,
        labels,
        leave,
        pointer,
        marks: pointer,
        memories: Vec::new(),
        variables,
        live,
        block: 0,
    };
    emitter.prologue(entry, registers.read.union(&registers.written).copied().collect());
    for (pc, block) in &region.blocks {
        emitter.block(*pc, block);
    }
    emitter.epilogue();
    let Emitter { mut builder, .. } = emitter;
    builder.seal_all_blocks();
    builder.finalize(target);
}

struct Variables {
    registers: Vec<Option<Variable>>,
    /// Registers that an exit writes back.
    written: BTreeSet<RegisterId>,
    fuel: Variable,
    cycles: Option<Variable>,
}

struct Emitter<'a, 'f> {
    isa: &'a Isa,
    builder: FunctionBuilder<'f>,
    labels: BTreeMap<u64, Label>,
    /// Writes what is in its parameters to the context, and returns.
    leave: Label,
    /// The context.
    pointer: Value,
    /// Marks, or permits.
    marks: Value,
    memories: Vec<Value>,
    variables: Variables,
    live: Live,
    /// The leader of the block being emitted.
    block: u64,
}

/// Whether there are permits instead of marks, because the code memory is large.
fn has_permits(isa: &Isa) -> bool {
    isa.code_memory().is_large()
}

/// Guest and context memory are always there, and Cranelift may assume so.
fn trusted() -> MemFlagsData {
    MemFlagsData::trusted()
}

/// An address as an index, of which only the bits of a mask count, and a number beyond it.
#[derive(Debug, PartialEq, Eq)]
struct Indexed {
    index: ValueId,
    mask: u64,
    beyond: u64,
}

/// An address that cannot lie behind the last cell. Where it is a narrow index into a table, masking
/// the index says that already, and the host adds the table's address for nothing.
fn indexed(graph: &Graph, address: ValueId, last: u64) -> Indexed {
    if let (Some(base), beyond) = graph.base_and_offset(address)
        && let Node::ZeroExtend(index) = graph.node(base)
        && graph.width(index).mask().checked_add(beyond).is_some_and(|end| end <= last)
    {
        return Indexed { index, mask: graph.width(index).mask(), beyond };
    }
    Indexed { index: address, mask: last, beyond: 0 }
}

macro_rules! offset {
    ($field:ident) => {
        std::mem::offset_of!(Context, $field) as i32
    };
}

impl<'f> Emitter<'_, 'f> {
    /// Loads registers and bases, and goes to the block asked for.
    fn prologue(&mut self, entry: Label, touched: Vec<RegisterId>) {
        let (pointer, number) = (self.pointer, self.builder.block_params(entry)[1]);
        self.marks = self.builder.ins().load(I64, trusted(), pointer, offset!(marks));
        let memories = self.builder.ins().load(I64, trusted(), pointer, offset!(memories));
        for memory in 0..self.isa.memories.len() as i32 {
            let base = self.builder.ins().load(I64, trusted(), memories, memory * 8);
            self.memories.push(base);
        }
        let registers = self.builder.ins().load(I64, trusted(), pointer, offset!(registers));
        for register in touched {
            let ty = type_of(self.isa.register(register).width);
            let value = self.builder.ins().load(ty, trusted(), registers, register.0 as i32 * 8);
            let variable = self.builder.declare_var(ty);
            self.builder.def_var(variable, value);
            self.variables.registers[register.index()] = Some(variable);
        }
        let fuel = self.builder.ins().load(I64, trusted(), pointer, offset!(fuel));
        self.builder.def_var(self.variables.fuel, fuel);
        if let Some(cycles) = self.variables.cycles {
            let value = self.builder.ins().load(I64, trusted(), pointer, offset!(cycles));
            self.builder.def_var(cycles, value);
        }
        let mut switch = Switch::new();
        for (number, label) in self.labels.values().enumerate() {
            switch.set_entry(number as u128, *label);
        }
        let nowhere = self.builder.create_block();
        switch.emit(&mut self.builder, number, nowhere);
        self.builder.switch_to_block(nowhere);
        self.builder.set_cold_block(nowhere);
        self.builder.ins().return_(&[]);
    }

    /// The shared end of all exits; its parameters are fuel, cycles, `pc` and whether to interpret.
    fn epilogue(&mut self) {
        let leave = self.leave;
        let parameters = [I64, I64, I64, I64].map(|ty| self.builder.append_block_param(leave, ty));
        self.builder.switch_to_block(leave);
        self.builder.set_cold_block(leave);
        let offsets = [offset!(fuel), offset!(cycles), offset!(pc), offset!(interpret)];
        for (value, offset) in parameters.into_iter().zip(offsets) {
            self.builder.ins().store(trusted(), value, self.pointer, offset);
        }
        self.builder.ins().return_(&[]);
    }

    fn block(&mut self, pc: u64, block: &Block) {
        self.block = pc;
        self.builder.switch_to_block(self.labels[&pc]);
        let mut computed = Computed::new(block.graph.len());
        self.segment(block, &block.root, &mut computed);
    }

    fn segment(&mut self, block: &Block, segment: &Segment, computed: &mut Computed) {
        for event in &segment.events {
            match event {
                Event::Load(load) => self.load(block, *load, computed),
                Event::LoadGroup(group) => self.load_group(block, group, computed),
                Event::Leave(checks, snapshot) => self.leave_if(block, checks, snapshot, computed),
                Event::Store(stores) => self.stores(block, stores, computed),
            }
        }
        match &segment.end {
            End::Goto(edge) => self.edge(block, edge, computed),
            End::Branch(condition, taken, other) => {
                let condition = self.values(block, computed).condition(*condition);
                let labels = (self.builder.create_block(), self.builder.create_block());
                // The compiler lays out the second way next to the branch: that is the loop's.
                if self.closes_loop(taken) {
                    let inverse = self.builder.ins().icmp_imm_u(IntCC::Equal, condition, 0);
                    self.builder.ins().brif(inverse, labels.1, &[], labels.0, &[]);
                } else {
                    self.builder.ins().brif(condition, labels.0, &[], labels.1, &[]);
                }
                self.edge_at(block, labels.0, taken, computed);
                self.edge_at(block, labels.1, other, computed);
            }
            End::Jump(jump) => self.jump(block, jump, computed),
            End::Leave(snapshot) => self.exit(block, snapshot, computed),
        }
    }

    /// Whether a way goes back to a block of the region.
    fn closes_loop(&self, edge: &Edge) -> bool {
        matches!(edge, Edge::Block(snapshot) if snapshot.pc <= self.block && self.labels.contains_key(&snapshot.pc))
    }

    fn values<'s>(&'s mut self, block: &'s Block, computed: &'s mut Computed) -> Values<'s, 'f> {
        Values { builder: &mut self.builder, graph: &block.graph, computed, registers: &self.variables.registers }
    }

    /// The host address of a cell.
    fn cell(&mut self, block: &Block, memory: MemoryId, address: ValueId, computed: &mut Computed) -> Value {
        let described = self.isa.memory(memory);
        let shift = i64::from(described.cell.bits() > 8) * 3;
        let Indexed { index, mask, beyond } = indexed(&block.graph, address, described.cells() - 1);
        let index = self.masked(block, index, mask, computed);
        let offset = if shift == 0 { index } else { self.builder.ins().ishl_imm_u(index, shift) };
        let cell = self.builder.ins().iadd(self.memories[memory.index()], offset);
        if beyond == 0 { cell } else { self.builder.ins().iadd_imm_s(cell, (beyond as i64) << shift) }
    }

    /// An address in 64 bits, masked.
    fn masked(&mut self, block: &Block, address: ValueId, mask: u64, computed: &mut Computed) -> Value {
        let narrow = self.values(block, computed).loose(address);
        let wide = match type_of(block.graph.width(address)) {
            I32 => self.builder.ins().uextend(I64, narrow),
            _ => narrow,
        };
        let mask = self.builder.ins().iconst(I64, mask as i64);
        self.builder.ins().band(wide, mask)
    }

    fn load(&mut self, block: &Block, load: ValueId, computed: &mut Computed) {
        let Node::Load(memory, address, _) = block.graph.node(load) else { return };
        let cell = self.isa.memory(memory).cell;
        let from = self.cell(block, memory, address, computed);
        let value = if cell.bits() <= 8 {
            self.builder.ins().uload8(I32, trusted(), from, 0)
        } else {
            self.builder.ins().load(type_of(cell), trusted(), from, 0)
        };
        computed.set_exact(load, value);
    }

    /// Reads neighbouring bytes at once. Where they do not lie together, the region is left before
    /// anything is made of them; those beyond the last then lie in the spare bytes of the memory.
    fn load_group(&mut self, block: &Block, group: &Group, computed: &mut Computed) {
        let Some(Node::Load(memory, address, _)) = group.cells.first().map(|first| block.graph.node(*first)) else {
            return;
        };
        let from = self.cell(block, memory, address, computed);
        let all = match group.cells.len() {
            2 => self.builder.ins().uload16(I32, trusted(), from, 0),
            4 => self.builder.ins().load(I32, trusted(), from, 0),
            _ => self.builder.ins().load(I64, trusted(), from, 0),
        };
        for (cell, number) in group.cells.iter().zip(0..) {
            let shifted = if number == 0 { all } else { self.builder.ins().ushr_imm_u(all, 8 * number) };
            let narrow = if group.cells.len() == 8 { self.builder.ins().ireduce(I32, shifted) } else { shifted };
            let byte = self.builder.ins().iconst(I32, 0xFF);
            let value = self.builder.ins().band(narrow, byte);
            computed.set_exact(*cell, value);
        }
        if let Some(little) = group.little {
            computed.set_exact(little, all);
        }
        if let Some(big) = group.big {
            let swapped = self.swap_bytes(all, group.cells.len());
            computed.set_exact(big, swapped);
        }
    }

    /// So many low bytes in the other order.
    fn swap_bytes(&mut self, value: Value, count: usize) -> Value {
        let swapped = self.builder.ins().bswap(value);
        if count == 2 { self.builder.ins().ushr_imm_u(swapped, 16) } else { swapped }
    }

    fn stores(&mut self, block: &Block, stores: &Stores, computed: &mut Computed) {
        for group in &stores.groups {
            let store = &stores.stores[group.positions[0]];
            let to = self.cell(block, store.memory, store.address, computed);
            let value = self.values(block, computed).loose(group.value);
            let count = group.positions.len();
            let value = if group.order == Order::Big { self.swap_bytes(value, count) } else { value };
            match count {
                2 => self.builder.ins().istore16(trusted(), value, to, 0),
                _ => self.builder.ins().store(trusted(), value, to, 0),
            };
        }
        let is_grouped = |at| stores.groups.iter().any(|group| group.positions.contains(&at));
        for (_, store) in stores.stores.iter().enumerate().filter(|(at, _)| !is_grouped(*at)) {
            self.store(block, store, computed);
        }
    }

    fn store(&mut self, block: &Block, store: &Store, computed: &mut Computed) {
        let Some(guard) = store.guard else { return self.store_now(block, store, computed) };
        let guard = self.values(block, computed).condition(guard);
        let (doing, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(guard, doing, &[], after, &[]);
        self.builder.switch_to_block(doing);
        let mark = computed.mark();
        self.store_now(block, store, computed);
        self.builder.ins().jump(after, &[]);
        computed.rewind(mark);
        self.builder.switch_to_block(after);
    }

    fn store_now(&mut self, block: &Block, store: &Store, computed: &mut Computed) {
        let cell = self.isa.memory(store.memory).cell;
        let to = self.cell(block, store.memory, store.address, computed);
        if cell.bits() == 8 {
            let value = self.values(block, computed).loose(store.value);
            self.builder.ins().istore8(trusted(), value, to, 0);
        } else if cell.bits() < 8 {
            let value = self.values(block, computed).exact(store.value);
            self.builder.ins().istore8(trusted(), value, to, 0);
        } else {
            let value = self.values(block, computed).exact(store.value);
            let wide = if type_of(cell) == I32 { self.builder.ins().uextend(I64, value) } else { value };
            self.builder.ins().store(trusted(), wide, to, 0);
        }
    }

    /// Leaves the region under any of the conditions.
    fn leave_if(&mut self, block: &Block, checks: &[Check], snapshot: &Snapshot, computed: &mut Computed) {
        let mut any: Option<Value> = None;
        for check in checks {
            let one = match check {
                Check::When(condition) if checks.len() == 1 => self.values(block, computed).condition(*condition),
                Check::When(condition) => {
                    let bit = self.values(block, computed).exact(*condition);
                    self.builder.ins().uextend(I64, bit)
                }
                Check::Marked { first, count } => self.marks(block, *first, *count, computed),
                Check::MarkedIf(address, guard) => self.marks_if(block, *address, *guard, computed),
                Check::Wraps { first, count } => self.wraps(block, *first, *count, computed),
                Check::Untouched(memory, address) => self.untouched(block, *memory, *address, computed),
            };
            any = Some(match any {
                Some(before) => self.builder.ins().bor(before, one),
                None => one,
            });
        }
        let Some(any) = any else { return };
        let (cold, after) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(any, cold, &[], after, &[]);
        self.exit_at(block, cold, snapshot, computed);
        self.builder.switch_to_block(after);
    }

    /// The marks of so many cells from an address on, as one number. There are marks behind the last
    /// cell, so this does not reach beyond them.
    fn marks(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed) -> Value {
        let address = self.masked(block, first, self.isa.code_memory().cells() - 1, computed);
        let at = self.builder.ins().iadd(self.marks, address);
        let marks = match count {
            1 => self.builder.ins().uload8(I64, trusted(), at, 0),
            2 => self.builder.ins().uload16(I64, trusted(), at, 0),
            3 | 4 => self.builder.ins().uload32(trusted(), at, 0),
            _ => self.builder.ins().load(I64, trusted(), at, 0),
        };
        let marks = if matches!(count, 1 | 2 | 4 | 8) {
            marks
        } else {
            let wanted = self.builder.ins().iconst(I64, (1 << (8 * count)) - 1);
            self.builder.ins().band(marks, wanted)
        };
        if !has_permits(self.isa) {
            return marks;
        }
        let permitted = (0..count).fold(0, |all, _| all << 8 | i64::from(PERMITTED));
        let permitted = self.builder.ins().iconst(I64, permitted);
        let forbidden = self.builder.ins().icmp(IntCC::NotEqual, marks, permitted);
        self.builder.ins().uextend(I64, forbidden)
    }

    fn marks_if(&mut self, block: &Block, address: ValueId, guard: ValueId, computed: &mut Computed) -> Value {
        let mark = self.marks(block, address, 1, computed);
        let guard = self.values(block, computed).exact(guard);
        let guard = self.builder.ins().uextend(I64, guard);
        let all = self.builder.ins().ineg(guard);
        self.builder.ins().band(mark, all)
    }

    /// Whether so many cells from an address on run over the last one.
    fn wraps(&mut self, block: &Block, first: ValueId, count: u64, computed: &mut Computed) -> Value {
        let mask = block.graph.width(first).mask();
        let first = self.masked(block, first, mask, computed);
        let last = self.builder.ins().iconst(I64, (mask - (count - 1)) as i64);
        let wraps = self.builder.ins().icmp(IntCC::UnsignedGreaterThan, first, last);
        self.builder.ins().uextend(I64, wraps)
    }

    /// Whether the page of a cell has not been opened.
    fn untouched(&mut self, block: &Block, memory: MemoryId, address: ValueId, computed: &mut Computed) -> Value {
        let opened = self.builder.ins().load(I64, trusted(), self.pointer, offset!(opened));
        let table = self.builder.ins().load(I64, trusted(), opened, memory.0 as i32 * 8);
        let address = self.masked(block, address, self.isa.memory(memory).cells() - 1, computed);
        let page = self.builder.ins().ushr_imm_u(address, i64::from(PAGE_BITS));
        let at = self.builder.ins().iadd(table, page);
        let opened = self.builder.ins().uload8(I64, trusted(), at, 0);
        self.builder.ins().bxor_imm_u(opened, 1)
    }

    fn exit_at(&mut self, block: &Block, label: Label, snapshot: &Snapshot, computed: &mut Computed) {
        self.builder.switch_to_block(label);
        self.builder.set_cold_block(label);
        let mark = computed.mark();
        self.exit(block, snapshot, computed);
        computed.rewind(mark);
    }

    /// Writes everything back and returns.
    fn exit(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) {
        let (fuel, cycles) = self.write_back(block, snapshot, computed);
        let pc = self.builder.ins().iconst(I64, snapshot.pc as i64);
        self.leave_with(fuel, cycles, pc, snapshot.interpret);
    }

    /// The same after a computed jump, of which the snapshot has the address.
    fn exit_to(&mut self, block: &Block, snapshot: &Snapshot, target: ValueId, computed: &mut Computed) {
        let (fuel, cycles) = self.write_back(block, snapshot, computed);
        let from = self.builder.ins().iconst(I64, snapshot.pc as i64);
        self.builder.ins().store(trusted(), from, self.pointer, offset!(jump));
        let pc = self.values(block, computed).exact(target);
        let pc = self.widened(pc, block.graph.width(target));
        self.leave_with(fuel, cycles, pc, false);
    }

    /// Does the stores and writes the registers; fuel and cycles after them.
    fn write_back(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) -> (Value, Option<Value>) {
        self.stores(block, &snapshot.pending, computed);
        let registers = self.builder.ins().load(I64, trusted(), self.pointer, offset!(registers));
        for register in self.variables.written.clone() {
            let value = self.values(block, computed).exact(snapshot.registers[register.index()]);
            let wide = self.widened(value, self.isa.register(register).width);
            self.builder.ins().store(trusted(), wide, registers, register.0 as i32 * 8);
        }
        (self.fuel_after(block, snapshot, computed), self.cycles_after(block, snapshot, computed))
    }

    /// A value of this width in 64 bits.
    fn widened(&mut self, value: Value, width: Width) -> Value {
        match type_of(width) {
            I32 => self.builder.ins().uextend(I64, value),
            _ => value,
        }
    }

    fn leave_with(&mut self, fuel: Value, cycles: Option<Value>, pc: Value, interpret: bool) {
        let cycles = cycles.unwrap_or_else(|| self.builder.ins().iconst(I64, 0));
        let interpret = self.builder.ins().iconst(I64, i64::from(interpret));
        let arguments = [fuel, cycles, pc, interpret].map(Into::into);
        self.builder.ins().jump(self.leave, &arguments);
    }

    fn fuel_after(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) -> Value {
        let fuel = self.builder.use_var(self.variables.fuel);
        let steps = self.values(block, computed).exact(snapshot.steps);
        self.builder.ins().isub(fuel, steps)
    }

    fn cycles_after(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) -> Option<Value> {
        let before = self.builder.use_var(self.variables.cycles?);
        let cycles = self.values(block, computed).exact(snapshot.cycles);
        Some(self.builder.ins().iadd(before, cycles))
    }

    fn edge_at(&mut self, block: &Block, label: Label, edge: &Edge, computed: &mut Computed) {
        self.builder.switch_to_block(label);
        let mark = computed.mark();
        self.edge(block, edge, computed);
        computed.rewind(mark);
    }

    fn edge(&mut self, block: &Block, edge: &Edge, computed: &mut Computed) {
        match edge {
            Edge::Segment(segment) => self.segment(block, segment, computed),
            Edge::Block(snapshot) => match self.labels.get(&snapshot.pc).copied() {
                Some(label) => self.go(block, label, snapshot, computed),
                None => self.exit(block, snapshot, computed),
            },
        }
    }

    /// Goes to another block of the region. Every cycle of blocks has an edge that does not go
    /// up, so the budget is checked there.
    fn go(&mut self, block: &Block, label: Label, snapshot: &Snapshot, computed: &mut Computed) {
        self.stores(block, &snapshot.pending, computed);
        let fuel = self.fuel_after(block, snapshot, computed);
        let cycles = self.cycles_after(block, snapshot, computed);
        if snapshot.pc <= self.block {
            let spent = self.is_spent(block, fuel, snapshot.steps);
            let (cold, after) = (self.builder.create_block(), self.builder.create_block());
            self.builder.ins().brif(spent, cold, &[], after, &[]);
            self.exit_at(block, cold, &Snapshot { pending: Stores::default(), ..snapshot.clone() }, computed);
            self.builder.switch_to_block(after);
        }
        let is_changed =
            |register: &RegisterId| block.graph.node(snapshot.registers[register.index()]) != Node::Register(*register);
        let needed = self.live[&snapshot.pc].intersection(&self.variables.written);
        let changed: Vec<RegisterId> = needed.copied().filter(is_changed).collect();
        let values: Vec<(RegisterId, Value)> = changed
            .into_iter()
            .map(|register| (register, self.values(block, computed).exact(snapshot.registers[register.index()])))
            .collect();
        for (register, value) in values {
            let variable =
                self.variables.registers[register.index()].expect("a register that is written has a variable");
            self.builder.def_var(variable, value);
        }
        self.builder.def_var(self.variables.fuel, fuel);
        if let (Some(variable), Some(cycles)) = (self.variables.cycles, cycles) {
            self.builder.def_var(variable, cycles);
        }
        self.builder.ins().jump(label, &[]);
    }

    /// Whether the budget after these steps is below zero. Where the steps are a constant, the
    /// budget before them is compared, so that the two values need not be kept side by side.
    fn is_spent(&mut self, block: &Block, after: Value, steps: ValueId) -> Value {
        match block.graph.as_constant(steps) {
            Some(steps) => {
                let before = self.builder.use_var(self.variables.fuel);
                self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, before, steps as i64)
            }
            None => self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, after, 0),
        }
    }

    /// A computed jump: to where it has gone so far, else out of the region, for the engine to
    /// remember where it goes.
    fn jump(&mut self, block: &Block, jump: &Jump, computed: &mut Computed) {
        let target = self.values(block, computed).exact(jump.target);
        let labels: Vec<Label> = jump.arms.iter().map(|_| self.builder.create_block()).collect();
        let otherwise = self.builder.create_block();
        self.find_arm(block, jump, target, &labels, otherwise);
        for ((_, edge), label) in jump.arms.iter().zip(labels) {
            self.edge_at(block, label, edge, computed);
        }
        self.builder.switch_to_block(otherwise);
        self.builder.set_cold_block(otherwise);
        if let Some(before) = &jump.before {
            let here = self.builder.ins().iconst(type_of(block.graph.width(jump.target)), before.pc as i64);
            let stays = self.builder.ins().icmp(IntCC::Equal, target, here);
            let (staying, going) = (self.builder.create_block(), self.builder.create_block());
            self.builder.ins().brif(stays, staying, &[], going, &[]);
            self.exit_at(block, staying, before, computed);
            self.builder.switch_to_block(going);
            self.builder.set_cold_block(going);
        }
        self.exit_to(block, &jump.after, jump.target, computed);
    }

    /// Goes to the label of the arm for this target. A few are tried one after the other, which is
    /// how the processor guesses best; more are searched for.
    fn find_arm(&mut self, block: &Block, jump: &Jump, target: Value, labels: &[Label], otherwise: Label) {
        if labels.len() > TRIED_IN_TURN {
            let mut switch = Switch::new();
            for ((pc, _), label) in jump.arms.iter().zip(labels) {
                switch.set_entry(u128::from(*pc), *label);
            }
            return switch.emit(&mut self.builder, target, otherwise);
        }
        for ((pc, _), label) in jump.arms.iter().zip(labels) {
            let next = self.builder.create_block();
            let pc = self.builder.ins().iconst(type_of(block.graph.width(jump.target)), *pc as i64);
            let same = self.builder.ins().icmp(IntCC::Equal, target, pc);
            self.builder.ins().brif(same, *label, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(otherwise, &[]);
    }
}

#[cfg(test)]
mod tests {
    use lathe_base::Width;
    use lathe_isa::operators::BinaryOperator;

    use super::*;

    #[test]
    fn an_index_is_masked_by_itself_where_the_table_ends_before_the_memory_does() {
        let mut graph = Graph::default();
        let [byte, word] = [8, 16].map(|bits| Width::new(bits).expect("a width"));
        let index = graph.register(byte, RegisterId(0));
        let wide = graph.zero_extend(word, index);
        let mut from = |table: u64| {
            let table = graph.constant(word, table);
            let address = graph.binary(BinaryOperator::Add, wide, table);
            (address, indexed(&graph, address, 0x0FFF))
        };
        assert_eq!(from(0).1, Indexed { index, mask: 0xFF, beyond: 0 });
        assert_eq!(from(0x0F00).1, Indexed { index, mask: 0xFF, beyond: 0x0F00 });
        let (address, whole) = from(0x0F01);
        assert_eq!(whole, Indexed { index: address, mask: 0x0FFF, beyond: 0 });
        let (address, whole) = from(0xFFFF);
        assert_eq!(whole, Indexed { index: address, mask: 0x0FFF, beyond: 0 });
    }
}
