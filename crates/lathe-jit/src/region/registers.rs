//! Finds the registers that a region changes.

use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_values::{Graph, Node, ValueId};

use super::{Edge, End, Event, Region, Segment, Snapshot};
use crate::register_set::RegisterSet;

impl Region {
    /// Returns the registers that the region changes.
    pub(crate) fn written(&self, isa: &Isa) -> RegisterSet {
        self.written_given(isa, &self.assumptions.modes)
    }

    /// Returns the registers that it changes if some hold these values.
    pub(super) fn written_given(&self, isa: &Isa, modes: &[(RegisterId, u64)]) -> RegisterSet {
        let mut written = Written { isa, modes, registers: RegisterSet::default() };
        for block in self.blocks.values() {
            written.by_segment(&block.graph, &block.root);
        }
        written.registers
    }
}

impl Snapshot {
    /// Returns the registers that have changed since the block began, when some held these values.
    pub(crate) fn changed(
        &self,
        isa: &Isa,
        graph: &Graph,
        modes: &[(RegisterId, u64)],
    ) -> impl Iterator<Item = RegisterId> {
        let is_changed = move |(id, value): &(RegisterId, ValueId)| {
            let is_mode =
                || modes.iter().any(|(mode, number)| mode == id && graph.as_constant(*value) == Some(*number));
            graph.node(*value) != Node::Register(*id) && !isa.register(*id).constant && !is_mode()
        };
        (0..).map(RegisterId).zip(self.registers.iter().copied()).filter(is_changed).map(|(id, _)| id)
    }
}

/// Collects the registers that are changed.
struct Written<'a> {
    isa: &'a Isa,
    /// The values of some registers; writing the same value again changes nothing.
    modes: &'a [(RegisterId, u64)],
    registers: RegisterSet,
}

impl Written<'_> {
    fn by_segment(&mut self, graph: &Graph, segment: &Segment) {
        for event in &segment.events {
            if let Event::Leave(_, snapshot) = event {
                self.before(graph, snapshot);
            }
        }
        match &segment.end {
            End::Leave(snapshot) => self.before(graph, snapshot),
            End::Goto(edge) => self.on_edge(graph, edge),
            End::Branch(_, x, y) => [x, y].into_iter().for_each(|edge| self.on_edge(graph, edge)),
            End::Jump(jump) => {
                let before = jump.before.as_ref().map(|(_, before)| before);
                before.into_iter().chain([&jump.after]).for_each(|snapshot| self.before(graph, snapshot));
                jump.arms.iter().for_each(|(_, edge)| self.on_edge(graph, edge));
            }
            End::Select(select) => {
                self.before(graph, &select.before);
                select.arms.iter().for_each(|(_, edge)| self.on_edge(graph, edge));
            }
        }
    }

    fn on_edge(&mut self, graph: &Graph, edge: &Edge) {
        match edge {
            Edge::Block(snapshot) => self.before(graph, snapshot),
            Edge::Segment(segment) => self.by_segment(graph, segment),
        }
    }

    fn before(&mut self, graph: &Graph, snapshot: &Snapshot) {
        self.registers.extend(snapshot.changed(self.isa, graph, self.modes));
    }
}
