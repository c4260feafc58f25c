//! The registers that a region touches. Only those travel between it and the machine.

use std::collections::{BTreeMap, BTreeSet};

use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_values::{Graph, Node, ValueId};

use super::{Edge, End, Event, Region, Segment, Snapshot};

/// Which registers a region touches.
#[derive(Default)]
pub(crate) struct Registers {
    pub(crate) read: BTreeSet<RegisterId>,
    pub(crate) written: BTreeSet<RegisterId>,
    /// What is in some of them; writing that again changes nothing.
    modes: BTreeMap<RegisterId, u64>,
}

impl Region {
    /// Registers that the region writes or reads, those it writes first.
    pub(crate) fn registers(&self, isa: &Isa) -> Registers {
        self.registers_given(isa, &self.assumptions.modes)
    }

    pub(super) fn registers_given(&self, isa: &Isa, modes: &BTreeMap<RegisterId, u64>) -> Registers {
        let mut registers = Registers { modes: modes.clone(), ..Registers::default() };
        for block in self.blocks.values() {
            registers.read_by(&block.graph);
            registers.written_by(isa, &block.graph, &block.root);
        }
        registers
    }
}

impl Snapshot {
    /// The registers that have changed since the block began, of which some had these numbers.
    pub(crate) fn changed(
        &self,
        isa: &Isa,
        graph: &Graph,
        modes: &BTreeMap<RegisterId, u64>,
    ) -> impl Iterator<Item = RegisterId> {
        let is_changed = move |(id, value): &(RegisterId, ValueId)| {
            let mode = modes.get(id).copied();
            let same = graph.node(*value) == Node::Register(*id) || mode.is_some() && graph.as_constant(*value) == mode;
            !isa.register(*id).constant && !same
        };
        (0..).map(RegisterId).zip(self.registers.iter().copied()).filter(is_changed).map(|(id, _)| id)
    }
}

impl Registers {
    fn read_by(&mut self, graph: &Graph) {
        for id in graph.ids() {
            if let Node::Register(register) = graph.node(id) {
                self.read.insert(register);
            }
        }
    }

    fn written_by(&mut self, isa: &Isa, graph: &Graph, segment: &Segment) {
        for event in &segment.events {
            if let Event::Leave(_, snapshot) = event {
                self.written_in(isa, graph, snapshot);
            }
        }
        match &segment.end {
            End::Leave(snapshot) => self.written_in(isa, graph, snapshot),
            End::Goto(edge) => self.written_on(isa, graph, edge),
            End::Branch(_, x, y) => [x, y].into_iter().for_each(|edge| self.written_on(isa, graph, edge)),
            End::Jump(jump) => {
                jump.before.iter().chain([&jump.after]).for_each(|snapshot| self.written_in(isa, graph, snapshot));
                jump.arms.iter().for_each(|(_, edge)| self.written_on(isa, graph, edge));
            }
        }
    }

    fn written_on(&mut self, isa: &Isa, graph: &Graph, edge: &Edge) {
        match edge {
            Edge::Block(snapshot) => self.written_in(isa, graph, snapshot),
            Edge::Segment(segment) => self.written_by(isa, graph, segment),
        }
    }

    fn written_in(&mut self, isa: &Isa, graph: &Graph, snapshot: &Snapshot) {
        self.written.extend(snapshot.changed(isa, graph, &self.modes));
    }
}
