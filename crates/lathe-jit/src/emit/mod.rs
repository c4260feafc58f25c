//! From a region to a Cranelift function.
//!
//! The function takes a [`Context`] and the number of the block to begin with. Registers
//! live in variables from the entry to an exit, which writes them back. Guest memory is
//! reached as base plus masked address; the mask is applied in 64 bits directly before the
//! addition, so that no mistake elsewhere can reach outside. A constant may be added to that, if
//! the mask and it together do not reach past the last cell.

mod checks;
mod context;
mod memory;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Block as Label, Function, InstBuilder, MemFlagsData, Signature, Value};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use lathe_isa::Isa;
use lathe_isa::model::RegisterId;

use crate::dirty::Dirty;
use crate::live::{Live, live};
use crate::region::{Block, End, Event, Region, Segment};
use crate::values::{Computed, Values, type_of};
use context::offset;
pub(crate) use context::{Context, NO_JUMP};

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
    let dirty = Dirty::new(isa, region);
    let live = live(region, &dirty);
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
        dirty,
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
    /// Registers that the region changes.
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
    /// Marks, or rows of them.
    marks: Value,
    memories: Vec<Value>,
    variables: Variables,
    /// What exits write back.
    dirty: Dirty<'a>,
    live: Live,
    /// The leader of the block being emitted.
    block: u64,
}

/// Guest and context memory are always there, and Cranelift may assume so. Nothing is said about
/// alignment: neighbouring cells are reached together from any address.
fn present() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

impl<'f> Emitter<'_, 'f> {
    /// Loads registers and bases, and goes to the block asked for.
    fn prologue(&mut self, entry: Label, touched: Vec<RegisterId>) {
        let (pointer, number) = (self.pointer, self.builder.block_params(entry)[1]);
        self.marks = self.builder.ins().load(I64, present(), pointer, offset!(marks));
        let memories = self.builder.ins().load(I64, present(), pointer, offset!(memories));
        for memory in 0..self.isa.memories.len() as i32 {
            let base = self.builder.ins().load(I64, present(), memories, memory * 8);
            self.memories.push(base);
        }
        let registers = self.builder.ins().load(I64, present(), pointer, offset!(registers));
        for register in touched {
            let ty = type_of(self.isa.register(register).width);
            let value = self.builder.ins().load(ty, present(), registers, register.0 as i32 * 8);
            let variable = self.builder.declare_var(ty);
            self.builder.def_var(variable, value);
            self.variables.registers[register.index()] = Some(variable);
        }
        let fuel = self.builder.ins().load(I64, present(), pointer, offset!(fuel));
        self.builder.def_var(self.variables.fuel, fuel);
        if let Some(cycles) = self.variables.cycles {
            let value = self.builder.ins().load(I64, present(), pointer, offset!(cycles));
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
            self.builder.ins().store(present(), value, self.pointer, offset);
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

    fn values<'s>(&'s mut self, block: &'s Block, computed: &'s mut Computed) -> Values<'s, 'f> {
        Values { builder: &mut self.builder, graph: &block.graph, computed, registers: &self.variables.registers }
    }
}
