//! Dirty registers, which an exit must write back: those that may have changed anywhere between the point of entry and
//! the exit, so that the machine may have another value.

use std::collections::{BTreeMap, BTreeSet};

use lathe_isa::Isa;
use lathe_isa::model::RegisterId;
use lathe_values::Graph;

use crate::region::{Region, Snapshot};
use crate::register_set::RegisterSet;

/// The registers that may have been changed before each block, by the address of its leader.
pub(crate) struct Dirty<'a> {
    isa: &'a Isa,
    modes: &'a [(RegisterId, u64)],
    before: BTreeMap<u64, RegisterSet>,
}

impl<'a> Dirty<'a> {
    pub(crate) fn new(isa: &'a Isa, region: &'a Region) -> Dirty<'a> {
        let before = region.blocks.keys().map(|pc| (*pc, RegisterSet::default())).collect();
        let mut dirty = Dirty { isa, modes: &region.assumptions.modes, before };
        let mut ways = Vec::new();
        for (pc, block) in &region.blocks {
            block.root.ways_on(&mut |to: &Snapshot| {
                if region.blocks.contains_key(&to.pc) {
                    ways.push((*pc, to.pc, dirty.changed(&block.graph, to)));
                }
            });
        }
        let mut waiting: BTreeSet<u64> = region.blocks.keys().copied().collect();
        while let Some(pc) = waiting.pop_first() {
            for (_, to, changed) in ways.iter().filter(|(from, ..)| *from == pc) {
                let mut after = dirty.before[&pc].clone();
                after.join(changed);
                if dirty.before.entry(*to).or_default().join(&after) {
                    waiting.insert(*to);
                }
            }
        }
        dirty
    }

    /// Returns the registers to be written back from a snapshot of the block with this leader.
    pub(crate) fn at(&self, leader: u64, graph: &Graph, snapshot: &Snapshot) -> RegisterSet {
        let mut dirty = self.changed(graph, snapshot);
        if let Some(before) = self.before.get(&leader) {
            dirty.join(before);
        }
        dirty
    }

    /// Returns the registers that have changed since the block began.
    pub(crate) fn changed(&self, graph: &Graph, snapshot: &Snapshot) -> RegisterSet {
        snapshot.changed(self.isa, graph, self.modes).collect()
    }
}
