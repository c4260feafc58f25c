//! Edges to other blocks of the region, computed jumps, and exits.

use lathe_isa::model::RegisterId;
use lathe_values::{Node, ValueId};

use super::Type::I64;
use super::values::{Computed, type_of};
use super::{Builder, Comparison, Emitter, Operation, Placed, REGISTER, Type};
use crate::context::{Context, offset};
use crate::region::{Block, Edge, Jump, Select, Snapshot, Stores};

/// The most targets of a computed jump that are compared in turn.
const TRIED_IN_TURN: usize = 4;

impl<B: Builder> Emitter<'_, B> {
    pub(super) fn edge(&mut self, block: &Block, edge: &Edge, computed: &mut Computed<B::Value>) {
        match edge {
            Edge::Segment(segment) => self.segment(block, segment, computed),
            Edge::Block(snapshot) => match self.labels.get(&snapshot.pc).copied() {
                Some(label) => self.go(block, label, snapshot, computed),
                None => self.exit(block, snapshot, computed),
            },
        }
    }

    /// Emits an edge from inside a branch.
    pub(super) fn edge_in_branch(&mut self, block: &Block, edge: &Edge, computed: &mut Computed<B::Value>) {
        let mark = computed.mark();
        self.edge(block, edge, computed);
        computed.rewind(mark);
    }

    /// Whether the region has code for the target of an edge: it may have become too large to include it.
    fn stays_inside(&self, edge: &Edge) -> bool {
        match edge {
            Edge::Segment(_) => true,
            Edge::Block(snapshot) => self.labels.contains_key(&snapshot.pc),
        }
    }

    /// Whether an edge is a back edge to a block of the region.
    pub(super) fn closes_loop(&self, edge: &Edge) -> bool {
        matches!(edge, Edge::Block(snapshot) if snapshot.pc <= self.block && self.labels.contains_key(&snapshot.pc))
    }

    /// Goes to another block of the region. Every cycle of blocks has an edge that does not go to a higher address, so
    /// the budget is checked there.
    fn go(&mut self, block: &Block, label: B::Block, snapshot: &Snapshot, computed: &mut Computed<B::Value>) {
        self.stores(block, &snapshot.pending, computed);
        let fuel = self.fuel_after(block, snapshot, computed);
        let cycles = self.cycles_after(block, snapshot, computed);
        if snapshot.pc <= self.block {
            let spent = self.is_spent(block, fuel, snapshot.steps);
            let done = Snapshot { pending: Stores::default(), ..snapshot.clone() };
            self.exit_if(block, spent, &done, computed);
        }
        let is_changed =
            |register: &RegisterId| block.graph.node(snapshot.registers[register.index()]) != Node::Register(*register);
        let needed = self.live[&snapshot.pc].iter().filter(|register| self.variables.written.contains(*register));
        let changed: Vec<RegisterId> = needed.filter(is_changed).collect();
        let mut values = self.variables_after(block, changed, snapshot, computed);
        values.push((self.variables.fuel, fuel));
        values.extend(self.variables.cycles.zip(cycles));
        self.builder.assign(&values);
        self.builder.jump(label);
    }

    /// Returns whether the budget after these steps is below zero. If the steps are constant, the budget before them is
    /// compared, so that not both budgets are live at once.
    fn is_spent(&mut self, block: &Block, after: B::Value, steps: ValueId) -> B::Value {
        let (value, least) = match block.graph.as_constant(steps) {
            Some(steps) => (self.builder.read(self.variables.fuel), steps),
            None => (after, 0),
        };
        let least = self.builder.constant(I64, least);
        self.builder.compare(Comparison::LessSigned, value, least)
    }

    fn fuel_after(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed<B::Value>) -> B::Value {
        let fuel = self.builder.read(self.variables.fuel);
        let steps = self.values(block, computed).exact(snapshot.steps);
        self.builder.calculate(Operation::Subtract, fuel, steps)
    }

    fn cycles_after(
        &mut self,
        block: &Block,
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) -> Option<B::Value> {
        let before = self.builder.read(self.variables.cycles?);
        let cycles = self.values(block, computed).exact(snapshot.cycles);
        Some(self.builder.calculate(Operation::Add, before, cycles))
    }

    /// Emits a computed jump: to its targets so far, else out of the region, so that the engine remembers the target.
    pub(super) fn jump(&mut self, block: &Block, jump: &Jump, computed: &mut Computed<B::Value>) {
        self.arms(block, jump.target, &jump.arms, computed);
        if let Some((checks, before)) = &jump.before {
            self.leave_if(block, checks, before, computed);
        }
        self.exit_to(block, &jump.after, jump.target, computed);
    }

    /// Emits a volatile instruction: the code for the content of its cells, else an exit.
    pub(super) fn select(&mut self, block: &Block, select: &Select, computed: &mut Computed<B::Value>) {
        self.arms(block, select.content, &select.arms, computed);
        self.exit(block, &select.before, computed);
    }

    /// Takes the arm for a value, if there is one. The code after this is rarely executed.
    fn arms(&mut self, block: &Block, value: ValueId, arms: &[(u64, Edge)], computed: &mut Computed<B::Value>) {
        let target = (self.values(block, computed).exact(value), type_of(block.graph.width(value)));
        let mut arms: Vec<&(u64, Edge)> = arms.iter().filter(|(_, edge)| self.stays_inside(edge)).collect();
        if arms.len() > TRIED_IN_TURN {
            arms.sort_unstable_by_key(|(number, _)| *number);
            self.search(block, target, &arms, computed);
        } else {
            self.try_in_turn(block, target, &arms, computed);
        }
        self.builder.is_cold();
    }

    /// Takes the arm for this target, if there is one: tries them in turn, which the processor predicts best.
    fn try_in_turn(
        &mut self,
        block: &Block,
        target: (B::Value, Type),
        arms: &[&(u64, Edge)],
        computed: &mut Computed<B::Value>,
    ) {
        for (pc, edge) in arms {
            let pc = self.builder.constant(target.1, *pc);
            let same = self.builder.compare(Comparison::Equal, target.0, pc);
            self.builder.begin_if(same, Placed::Away);
            self.edge_in_branch(block, edge, computed);
            self.builder.end_if();
        }
    }

    /// Takes the arm for this target, if there is one, by bisection of many sorted arms.
    fn search(
        &mut self,
        block: &Block,
        target: (B::Value, Type),
        arms: &[&(u64, Edge)],
        computed: &mut Computed<B::Value>,
    ) {
        let [_, _, ..] = arms else { return self.try_in_turn(block, target, arms, computed) };
        let (low, high) = arms.split_at(arms.len() / 2);
        let middle = self.builder.constant(target.1, high[0].0);
        let is_lower = self.builder.compare(Comparison::Less, target.0, middle);
        self.builder.begin_if(is_lower, Placed::Away);
        self.search(block, target, low, computed);
        self.builder.begin_else();
        self.search(block, target, high, computed);
        self.builder.end_if();
    }

    /// Leaves the region: writes everything back and returns.
    pub(super) fn exit(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed<B::Value>) {
        let pc = self.builder.constant(I64, snapshot.pc);
        self.builder.store(I64.bytes(), pc, self.pointer, offset!(pc));
        // The engine has set this field to zero, so it is stored only where it differs: every value kept for an exit
        // takes a register away from the loop around it.
        if snapshot.interpret {
            let interpret = self.builder.constant(I64, 1);
            self.builder.store(I64.bytes(), interpret, self.pointer, offset!(interpret));
        }
        self.write_back(block, snapshot, computed);
        match snapshot.interpret {
            true => self.builder.leave(),
            false => self.builder.go_on(),
        }
    }

    /// Leaves the region after a computed jump to `target`; the snapshot has the address of the jump.
    fn exit_to(&mut self, block: &Block, snapshot: &Snapshot, target: ValueId, computed: &mut Computed<B::Value>) {
        let pc = self.values(block, computed).exact(target);
        let pc = self.builder.convert(pc, type_of(block.graph.width(target)), I64);
        self.builder.store(I64.bytes(), pc, self.pointer, offset!(pc));
        let from = self.builder.constant(I64, snapshot.pc);
        self.builder.store(I64.bytes(), from, self.pointer, offset!(jump));
        self.write_back(block, snapshot, computed);
        self.builder.go_on();
    }

    /// Leaves the region if a condition holds.
    pub(super) fn exit_if(
        &mut self,
        block: &Block,
        condition: B::Value,
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) {
        self.exit_if_any(block, &[condition], snapshot, computed);
    }

    /// Leaves the region if any of a few conditions holds.
    pub(super) fn exit_if_any(
        &mut self,
        block: &Block,
        conditions: &[B::Value],
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) {
        match conditions {
            [condition] => self.builder.begin_if(*condition, Placed::Away),
            _ => self.builder.begin_if_any(conditions),
        }
        self.builder.is_cold();
        let mark = computed.mark();
        self.exit(block, snapshot, computed);
        computed.rewind(mark);
        self.builder.end_if();
    }

    /// Does the delayed stores and writes back the registers, the budget and the cycles.
    fn write_back(&mut self, block: &Block, snapshot: &Snapshot, computed: &mut Computed<B::Value>) {
        self.stores(block, &snapshot.pending, computed);
        if B::VARIABLES_IN_MEMORY {
            let changed = self.dirty.changed(&block.graph, snapshot);
            let mut values = self.variables_after(block, changed.iter(), snapshot, computed);
            values.push((self.variables.fuel, self.fuel_after(block, snapshot, computed)));
            values.extend(self.variables.cycles.zip(self.cycles_after(block, snapshot, computed)));
            return self.builder.assign(&values);
        }
        let registers = self.builder.load_pointer(self.pointer, offset!(registers));
        for register in self.dirty.at(self.block, &block.graph, snapshot).iter() {
            // As wide as it was loaded: the upper half of a narrow register is zero and stays zero.
            let bytes = type_of(self.isa.register(register).width).bytes();
            let value = self.values(block, computed).exact(snapshot.registers[register.index()]);
            self.builder.store(bytes, value, registers, register.0 as i32 * REGISTER);
        }
        let fuel = self.fuel_after(block, snapshot, computed);
        self.builder.store(I64.bytes(), fuel, self.pointer, offset!(fuel));
        if let Some(cycles) = self.cycles_after(block, snapshot, computed) {
            self.builder.store(I64.bytes(), cycles, self.pointer, offset!(cycles));
        }
    }

    /// Returns the variables of registers, with their values in a snapshot.
    fn variables_after(
        &mut self,
        block: &Block,
        registers: impl IntoIterator<Item = RegisterId>,
        snapshot: &Snapshot,
        computed: &mut Computed<B::Value>,
    ) -> Vec<(B::Variable, B::Value)> {
        let mut values = Vec::new();
        for register in registers {
            let variable =
                self.variables.registers[register.index()].expect("a register that is written has a variable");
            values.push((variable, self.values(block, computed).exact(snapshot.registers[register.index()])));
        }
        values
    }
}
