//! What a region takes for granted: it is looked at whenever the region is entered, and not inside.

use std::collections::BTreeSet;

use lathe_fast::code_map::CodeMap;
use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_values::{Bail, Graph, Node, Range, ValueId};
use lathe_vm::State;

use super::Region;
use super::block::BlockBuilder;

/// Cells that a store can reach, at most, so that it is worth assuming that none of them is marked.
const UNMARKED: u64 = 256;

/// Registers with what is in them.
pub(crate) type Modes = Vec<(RegisterId, u64)>;

/// What must hold whenever a region is entered. Nothing that compiled code does can change it, so
/// it need not be looked at inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumptions {
    /// Cells of the code memory that have no mark, from the first to the last of each span.
    pub(crate) unmarked: BTreeSet<(u64, u64)>,
    /// Registers of one bit that the region reads but does not change, with what is in them: mostly
    /// a mode that decides what instructions mean.
    pub(crate) modes: Modes,
}

impl Assumptions {
    /// Whether a machine in this state is in the modes.
    pub(crate) fn are_modes_of(&self, state: &State) -> bool {
        self.modes.iter().all(|(id, value)| state.register(*id) == *value)
    }

    /// Whether cells are unmarked as they should be.
    pub(crate) fn hold(&self, marks: &CodeMap) -> bool {
        self.unmarked.iter().all(|(first, last)| marks.is_free(*first, *last))
    }

    fn covers(&self, cell: u64) -> bool {
        // A span that begins further away is too short to reach the cell.
        let close = (cell.saturating_sub(UNMARKED), 0)..=(cell, u64::MAX);
        self.unmarked.range(close).any(|(_, last)| *last >= cell)
    }
}

impl Region {
    /// Whether code of it lies where it assumes that nothing is marked: then it would be dropped as
    /// soon as that code is watched.
    pub(super) fn marks_itself(&self, isa: &Isa) -> bool {
        let cells = self.instructions.iter().flat_map(|(pc, decoded)| decoded.reading.watched_cells(isa, *pc));
        cells.into_iter().any(|(cell, _)| self.assumptions.covers(cell))
    }

    /// The registers of one bit that something is made from and that are never changed, with what is
    /// in them. A region for that is worth it where they are modes; a flag that happens not to be
    /// written soon turns out to differ, and the region is made again without.
    pub(super) fn modes(&self, isa: &Isa, state: &State) -> Modes {
        let is_flag = |id: &RegisterId| isa.register(*id).is_flag();
        let flags = (0..isa.registers.len() as u32).map(RegisterId).filter(is_flag);
        let mut modes: Modes = flags.map(|id| (id, state.register(id))).collect();
        let written = self.written_given(isa, &modes);
        let is_used = |id: &RegisterId| self.blocks.values().any(|block| is_used(&block.graph, *id));
        modes.retain(|(id, _)| !written.contains(*id) && is_used(id));
        modes
    }

    /// Whether it changes none of the modes it was made for.
    pub(super) fn keeps_modes(&self, isa: &Isa) -> bool {
        let written = self.written(isa);
        self.assumptions.modes.iter().all(|(id, _)| !written.contains(*id))
    }
}

/// Whether some value is made from a register.
fn is_used(graph: &Graph, register: RegisterId) -> bool {
    let is_it = |id: ValueId| graph.node(id) == Node::Register(register);
    graph.ids().any(|id| graph.operands(id).any(is_it))
}

impl BlockBuilder<'_, '_> {
    /// Whether a check for marks cannot find one, as long as the few cells it can look at have none:
    /// then the region is entered only where that is so.
    pub(super) fn is_needless(&mut self, bail: &Bail) -> bool {
        let Bail::Marked(address, _) = bail else { return false };
        let Range { least, greatest } = self.graph.range(*address);
        let free = !self.discovery.looks_at_marks
            && greatest - least < UNMARKED
            && self.discovery.known.fast.marks().is_free(least, greatest);
        if free {
            self.discovery.assumptions.unmarked.insert((least, greatest));
        }
        free
    }
}
