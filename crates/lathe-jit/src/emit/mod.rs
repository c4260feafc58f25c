//! Emits the code of a region, for any compiler.
//!
//! The code is a function of a [`Context`] and the number of the block to begin with. Registers live in variables from
//! the entry to an exit, which writes them back. Guest memory is addressed as base plus masked address; the mask is
//! applied in as many bits as a host address has, directly before the addition, so that no mistake elsewhere can reach
//! outside. A constant may be added to the sum if mask and constant together do not reach past the last cell. In a
//! large memory in pieces, the base is the beginning of a page, and the mask covers the cells of a page.

mod builder;
mod checks;
mod memory;
mod values;
mod ways;

use std::collections::BTreeMap;

use lathe_isa::Isa;
use lathe_vm::memory::LARGE_IN_ONE_PIECE;

use self::Type::I64;
pub(crate) use self::builder::{Builder, Comparison, Home, Operation, Placed, Type};
use self::values::{Computed, Values, type_of};
use crate::context::{Context, offset};
use crate::dirty::Dirty;
use crate::live::{Live, live};
use crate::region::{Block, End, Event, Region, Segment};
use crate::register_set::RegisterSet;

/// Bytes from one guest register to the next.
pub(crate) const REGISTER: i32 = 8;

/// Returns the numbers of the blocks of a region, by address.
pub(crate) fn block_numbers(region: &Region) -> BTreeMap<u64, u32> {
    region.blocks.keys().copied().zip(0..).collect()
}

/// Emits the code of a region; `pointer` is the context and `number` the block to begin with.
pub(crate) fn emit<B: Builder>(isa: &Isa, region: &Region, builder: &mut B, pointer: B::Value, number: B::Value) {
    let dirty = Dirty::new(isa, region);
    let live = live(region, &dirty);
    let labels = region.blocks.keys().map(|pc| (*pc, builder.block())).collect();
    let variables = Variables {
        registers: vec![None; isa.registers.len()],
        written: region.written(isa),
        fuel: builder.variable(I64, Home::Fuel),
        cycles: isa.has_cycles.then(|| builder.variable(I64, Home::Context(offset!(cycles)))),
    };
    let mut emitter = Emitter {
        isa,
        builder,
        labels,
        pointer,
        marks: pointer,
        rows: None,
        permits: None,
        memories: Vec::new(),
        variables,
        dirty,
        live,
        block: 0,
    };
    emitter.prologue(number);
    for (pc, block) in &region.blocks {
        emitter.block(*pc, block);
    }
    emitter.builder.finish();
}

struct Variables<V> {
    registers: Vec<Option<V>>,
    /// Registers that the region changes.
    written: RegisterSet,
    fuel: V,
    cycles: Option<V>,
}

struct Emitter<'a, B: Builder> {
    isa: &'a Isa,
    builder: &'a mut B,
    labels: BTreeMap<u64, B::Block>,
    /// The context.
    pointer: B::Value,
    /// The marks, unless the permits mostly suffice: then the pointer is loaded when it is needed, because keeping it
    /// in a register would take that from guest registers.
    marks: B::Value,
    /// The table of rows of marks, if the code memory is large and there are no permits.
    rows: Option<B::Value>,
    /// The permits, if the code memory is large and the host has room for them.
    permits: Option<B::Value>,
    memories: Vec<B::Value>,
    variables: Variables<B::Variable>,
    /// The registers that exits write back.
    dirty: Dirty<'a>,
    live: Live,
    /// The leader of the block being emitted.
    block: u64,
}

impl<B: Builder> Emitter<'_, B> {
    /// Loads the bases and the registers that some block needs, and goes to the requested block.
    fn prologue(&mut self, number: B::Value) {
        let pointer = self.pointer;
        let is_large = self.isa.code_memory().is_large();
        if is_large && LARGE_IN_ONE_PIECE {
            let permits = self.builder.load_pointer(pointer, offset!(permits));
            self.permits = Some(self.builder.keep(permits));
        } else {
            let marks = self.builder.load_pointer(pointer, offset!(marks));
            self.marks = self.builder.keep(marks);
            if is_large {
                let rows = self.builder.load_pointer(pointer, offset!(rows));
                self.rows = Some(self.builder.keep(rows));
            }
        }
        let memories = self.builder.load_pointer(pointer, offset!(memories));
        for memory in 0..self.isa.memories.len() as i32 {
            let base = self.builder.load_pointer(memories, memory * B::POINTER.bytes() as i32);
            self.memories.push(self.builder.keep(base));
        }
        let mut needed = RegisterSet::default();
        for live in self.live.values() {
            needed.join(live);
        }
        let mut used = needed.clone();
        used.join(&self.variables.written);
        for register in used.iter() {
            let ty = type_of(self.isa.register(register).width);
            let home = Home::Register(register.0 as i32 * REGISTER);
            self.variables.registers[register.index()] = Some(self.builder.variable(ty, home));
        }
        if !B::VARIABLES_IN_MEMORY {
            self.load_variables(&needed);
        }
        let labels: Vec<B::Block> = self.labels.values().copied().collect();
        self.builder.dispatch(number, &labels);
    }

    /// Loads the needed registers, the budget and the cycles.
    fn load_variables(&mut self, needed: &RegisterSet) {
        let pointer = self.pointer;
        let registers = self.builder.load_pointer(pointer, offset!(registers));
        let mut initial = Vec::new();
        for register in needed.iter() {
            if let Some(variable) = self.variables.registers[register.index()] {
                let ty = type_of(self.isa.register(register).width);
                initial.push((variable, self.builder.load(ty, ty.bytes(), registers, register.0 as i32 * REGISTER)));
            }
        }
        initial.push((self.variables.fuel, self.builder.load(I64, I64.bytes(), pointer, offset!(fuel))));
        if let Some(cycles) = self.variables.cycles {
            initial.push((cycles, self.builder.load(I64, I64.bytes(), pointer, offset!(cycles))));
        }
        self.builder.assign(&initial);
    }

    fn block(&mut self, pc: u64, block: &Block) {
        self.block = pc;
        self.builder.start(self.labels[&pc]);
        let mut computed = Computed::new(block.graph.len());
        self.segment(block, &block.root, &mut computed);
    }

    fn segment(&mut self, block: &Block, segment: &Segment, computed: &mut Computed<B::Value>) {
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
                let placed = if self.closes_loop(taken) { Placed::Next } else { Placed::Away };
                self.builder.begin_if(condition, placed);
                self.edge_in_branch(block, taken, computed);
                self.builder.begin_else();
                self.edge_in_branch(block, other, computed);
                self.builder.end_if();
            }
            End::Jump(jump) => self.jump(block, jump, computed),
            End::Select(select) => self.select(block, select, computed),
            End::Leave(snapshot) => self.exit(block, snapshot, computed),
        }
    }

    fn values<'s>(&'s mut self, block: &'s Block, computed: &'s mut Computed<B::Value>) -> Values<'s, B> {
        Values { builder: self.builder, graph: &block.graph, computed, registers: &self.variables.registers }
    }
}
