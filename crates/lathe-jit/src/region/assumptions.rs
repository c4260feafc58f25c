//! What a region assumes: checked whenever the region is entered, and not inside.

use std::collections::BTreeSet;

use lathe_fast::code_map::CodeMap;
use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_values::{Bail, Graph, Node, Range, ValueId};
use lathe_vm::State;

use super::Region;
use super::block::BlockBuilder;

/// The most cells that a store may reach for it to be worth assuming that none of them is marked.
const UNMARKED: u64 = 256;

/// Registers with their values.
pub(crate) type Modes = Vec<(RegisterId, u64)>;

/// What must hold whenever a region is entered. Compiled code cannot change it, so it need not be checked inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumptions {
    /// Spans of unmarked cells of the code memory, each from its first to its last cell.
    pub(crate) unmarked: BTreeSet<(u64, u64)>,
    /// One-bit registers that the region reads but does not change, with their values: mostly a mode that decides what
    /// instructions mean.
    pub(crate) modes: Modes,
}

impl Assumptions {
    /// Whether a machine in this state is in the assumed modes.
    pub(crate) fn are_modes_of(&self, state: &State) -> bool {
        self.modes.iter().all(|(id, value)| state.register(*id) == *value)
    }

    /// Whether the assumed cells are unmarked.
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
    /// Whether some of its code lies in cells that it assumes to be unmarked: then it would be dropped as soon as that
    /// code is watched.
    pub(super) fn marks_itself(&self, isa: &Isa) -> bool {
        let mut cells = self.instructions.iter().flat_map(|(pc, decoded)| decoded.reading.watched_cells(isa, *pc));
        !self.assumptions.unmarked.is_empty() && cells.any(|cell| self.assumptions.covers(cell))
    }

    /// Returns the one-bit registers that the region reads and never changes, with their values. Specializing the
    /// region to them pays where they are modes. A flag that merely happens not to be written soon has another value,
    /// and the region is made again without this assumption.
    pub(super) fn modes(&self, isa: &Isa, state: &State) -> Modes {
        let is_flag = |id: &RegisterId| isa.register(*id).is_flag();
        let flags = (0..isa.registers.len() as u32).map(RegisterId).filter(is_flag);
        let mut modes: Modes = flags.map(|id| (id, state.register(id))).collect();
        let written = self.written_given(isa, &modes);
        let is_used = |id: &RegisterId| self.blocks.values().any(|block| is_used(&block.graph, *id));
        modes.retain(|(id, _)| !written.contains(*id) && is_used(id));
        modes
    }

    /// Whether it changes none of the modes that it assumes.
    pub(super) fn keeps_modes(&self, isa: &Isa) -> bool {
        let written = self.written(isa);
        self.assumptions.modes.iter().all(|(id, _)| !written.contains(*id))
    }
}

/// Whether some value is computed from a register.
fn is_used(graph: &Graph, register: RegisterId) -> bool {
    let is_it = |id: ValueId| graph.node(id) == Node::Register(register);
    graph.ids().any(|id| graph.operands(id).any(is_it))
}

impl BlockBuilder<'_, '_> {
    /// Whether a check for marks can be left out because it reaches only a few cells, which have none. The region then
    /// assumes that they have none.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_covers_the_cells_from_its_first_to_its_last() {
        let lengths = [0, 1, 7, UNMARKED - 2, UNMARKED - 1];
        let spans = lengths.into_iter().flat_map(|length| [0, 3, 700].map(|first| (first, first + length)));
        let ends = [(u64::MAX - 3, u64::MAX)];
        let all: Vec<(u64, u64)> = spans.chain(ends).collect();
        // Each span by itself, and each with its neighbour in the list.
        for unmarked in all.chunks(1).chain(all.windows(2)) {
            let assumptions = Assumptions { unmarked: unmarked.iter().copied().collect(), modes: Modes::new() };
            for cell in (0..1_200).chain(u64::MAX - 600..=u64::MAX) {
                let is_covered = unmarked.iter().any(|(first, last)| (*first..=*last).contains(&cell));
                assert_eq!(assumptions.covers(cell), is_covered, "{cell} in {unmarked:?}");
            }
        }
    }
}
