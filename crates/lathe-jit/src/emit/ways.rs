//! Ways on: to other blocks of the region, wherever a computed jump leads, and out of the region.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block as Label, InstBuilder, Value};
use cranelift_frontend::Switch;
use lathe_base::Width;
use lathe_isa::model::RegisterId;
use lathe_values::{Node, ValueId};

use super::context::{Context, offset};
use super::{Emitter, present};
use crate::region::{Block, Edge, Jump, Snapshot, Stores};
use crate::values::{Computed, type_of};

/// Targets of a computed jump that are compared one after the other.
const TRIED_IN_TURN: usize = 4;

impl Emitter<'_, '_> {
    pub(super) fn edge(&mut self, block: &Block, edge: &Edge, computed: &mut Computed) {
        match edge {
            Edge::Segment(segment) => self.segment(block, segment, computed),
            Edge::Block(snapshot) => match self.labels.get(&snapshot.pc).copied() {
                Some(label) => self.go(block, label, snapshot, computed),
                None => self.exit(block, snapshot, computed),
            },
        }
    }

    pub(super) fn edge_at(&mut self, block: &Block, label: Label, edge: &Edge, computed: &mut Computed) {
        self.builder.switch_to_block(label);
        let mark = computed.mark();
        self.edge(block, edge, computed);
        computed.rewind(mark);
    }

    /// Whether the region has the code that a way leads to: it may have become too large for that.
    fn stays_inside(&self, edge: &Edge) -> bool {
        match edge {
            Edge::Segment(_) => true,
            Edge::Block(snapshot) => self.labels.contains_key(&snapshot.pc),
        }
    }

    /// Whether a way goes back to a block of the region.
    pub(super) fn closes_loop(&self, edge: &Edge) -> bool {
        matches!(edge, Edge::Block(snapshot) if snapshot.pc <= self.block && self.labels.contains_key(&snapshot.pc))
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

    /// A computed jump: to where it has gone so far, else out of the region, for the engine to
    /// remember where it goes.
    pub(super) fn jump(&mut self, block: &Block, jump: &Jump, computed: &mut Computed) {
        let target = self.values(block, computed).exact(jump.target);
        let arms: Vec<&(u64, Edge)> = jump.arms.iter().filter(|(_, edge)| self.stays_inside(edge)).collect();
        let arms: Vec<(u64, Label, &Edge)> =
            arms.into_iter().map(|(pc, edge)| (*pc, self.builder.create_block(), edge)).collect();
        let otherwise = self.builder.create_block();
        self.find_arm(block, jump, target, &arms, otherwise);
        for (_, label, edge) in arms {
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
    fn find_arm(&mut self, block: &Block, jump: &Jump, target: Value, arms: &[(u64, Label, &Edge)], otherwise: Label) {
        if arms.len() > TRIED_IN_TURN {
            let mut switch = Switch::new();
            for (pc, label, _) in arms {
                switch.set_entry(u128::from(*pc), *label);
            }
            return switch.emit(&mut self.builder, target, otherwise);
        }
        for (pc, label, _) in arms {
            let next = self.builder.create_block();
            let pc = self.builder.ins().iconst(type_of(block.graph.width(jump.target)), *pc as i64);
            let same = self.builder.ins().icmp(IntCC::Equal, target, pc);
            self.builder.ins().brif(same, *label, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(otherwise, &[]);
    }

    /// Writes everything back and returns.
    pub(super) fn exit(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) {
        let (fuel, cycles) = self.write_back(block, snapshot, computed);
        let pc = self.builder.ins().iconst(I64, snapshot.pc as i64);
        self.leave_with(fuel, cycles, pc, snapshot.interpret);
    }

    /// Leaves after a computed jump to `target`; the snapshot has the address of the jump.
    fn exit_to(&mut self, block: &Block, snapshot: &Snapshot, target: ValueId, computed: &mut Computed) {
        let (fuel, cycles) = self.write_back(block, snapshot, computed);
        let from = self.builder.ins().iconst(I64, snapshot.pc as i64);
        self.builder.ins().store(present(), from, self.pointer, offset!(jump));
        let pc = self.values(block, computed).exact(target);
        let pc = self.widened(pc, block.graph.width(target));
        self.leave_with(fuel, cycles, pc, false);
    }

    pub(super) fn exit_at(&mut self, block: &Block, label: Label, snapshot: &Snapshot, computed: &mut Computed) {
        self.builder.switch_to_block(label);
        self.builder.set_cold_block(label);
        let mark = computed.mark();
        self.exit(block, snapshot, computed);
        computed.rewind(mark);
    }

    /// Does the stores and writes the registers; fuel and cycles after them.
    fn write_back(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed) -> (Value, Option<Value>) {
        self.stores(block, &snapshot.pending, computed);
        let registers = self.builder.ins().load(I64, present(), self.pointer, offset!(registers));
        for register in self.dirty.at(self.block, &block.graph, snapshot) {
            // As it was loaded: the other half of a narrow register is zero and stays so.
            let value = self.values(block, computed).exact(snapshot.registers[register.index()]);
            self.builder.ins().store(present(), value, registers, register.0 as i32 * 8);
        }
        (self.fuel_after(block, snapshot, computed), self.cycles_after(block, snapshot, computed))
    }

    fn leave_with(&mut self, fuel: Value, cycles: Option<Value>, pc: Value, interpret: bool) {
        let cycles = cycles.unwrap_or_else(|| self.builder.ins().iconst(I64, 0));
        let interpret = self.builder.ins().iconst(I64, i64::from(interpret));
        let arguments = [fuel, cycles, pc, interpret].map(Into::into);
        self.builder.ins().jump(self.leave, &arguments);
    }

    /// A value of this width in 64 bits.
    fn widened(&mut self, value: Value, width: Width) -> Value {
        match type_of(width) {
            I32 => self.builder.ins().uextend(I64, value),
            _ => value,
        }
    }
}
