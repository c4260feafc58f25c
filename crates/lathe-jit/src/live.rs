//! Liveness: which registers a block needs from the blocks before it. A register that it overwrites before anything can
//! see the old value need not be computed for it, so flags that are never read are never computed.

use std::collections::BTreeMap;

use lathe_values::{Node, Store, ValueId};

use crate::dirty::Dirty;
use crate::region::{Block, Check, Edge, End, Event, Region, Segment, Snapshot};
use crate::register_set::RegisterSet;

/// The live registers at the beginning of each block, by the address of its leader.
pub(crate) type Live = BTreeMap<u64, RegisterSet>;

/// Finds the live registers of a region whose exits write back `dirty` registers.
pub(crate) fn live(region: &Region, dirty: &Dirty) -> Live {
    let mut live: Live = region.blocks.keys().map(|pc| (*pc, RegisterSet::default())).collect();
    loop {
        let mut changed = false;
        for (pc, block) in region.blocks.iter().rev() {
            let needed = needed(*pc, block, dirty, &live);
            changed |= live[pc] != needed;
            live.insert(*pc, needed);
        }
        if !changed {
            return live;
        }
    }
}

/// Returns the registers that one block needs, given what the others need.
fn needed(pc: u64, block: &Block, dirty: &Dirty, live: &Live) -> RegisterSet {
    let mut roots = Roots { pc, block, dirty, live, values: vec![false; block.graph.len()] };
    roots.segment(&block.root);
    let mut values = roots.values;
    let mut registers = RegisterSet::default();
    for id in block.graph.ids().rev() {
        if !values[id.index()] {
            continue;
        }
        if let Node::Register(register) = block.graph.node(id) {
            registers.insert(register);
        }
        block.graph.operands(id).for_each(|operand| values[operand.index()] = true);
    }
    registers
}

struct Roots<'a> {
    pc: u64,
    block: &'a Block,
    dirty: &'a Dirty<'a>,
    live: &'a Live,
    values: Vec<bool>,
}

impl Roots<'_> {
    fn see(&mut self, value: ValueId) {
        self.values[value.index()] = true;
    }

    fn segment(&mut self, segment: &Segment) {
        for event in &segment.events {
            match event {
                Event::Load(load) => self.see(*load),
                Event::LoadGroup(group) => group.cells.iter().for_each(|load| self.see(*load)),
                Event::Store(stores) => stores.stores.iter().for_each(|store| self.store(store)),
                Event::Leave(checks, snapshot) => {
                    checks.iter().for_each(|check| self.check(check));
                    self.exit(snapshot);
                }
            }
        }
        match &segment.end {
            End::Leave(snapshot) => self.exit(snapshot),
            End::Goto(edge) => self.edge(edge),
            End::Branch(condition, taken, other) => {
                self.see(*condition);
                self.edge(taken);
                self.edge(other);
            }
            End::Jump(jump) => {
                self.see(jump.target);
                if let Some((checks, before)) = &jump.before {
                    checks.iter().for_each(|check| self.check(check));
                    self.exit(before);
                }
                self.exit(&jump.after);
                jump.arms.iter().for_each(|(_, edge)| self.edge(edge));
            }
            End::Select(select) => {
                self.see(select.content);
                self.exit(&select.before);
                select.arms.iter().for_each(|(_, edge)| self.edge(edge));
            }
        }
    }

    fn check(&mut self, check: &Check) {
        match check {
            Check::When(condition) => self.see(*condition),
            Check::Marked { first, .. } | Check::Wraps { first, .. } | Check::Closed(_, first) => self.see(*first),
            Check::MarkedIf(address, guard) => {
                self.see(*address);
                self.see(*guard);
            }
        }
    }

    fn store(&mut self, store: &Store) {
        self.see(store.address);
        self.see(store.value);
        store.guard.into_iter().for_each(|guard| self.see(guard));
    }

    /// Sees everything in a snapshot but its registers.
    fn rest(&mut self, snapshot: &Snapshot) {
        snapshot.pending.stores.iter().for_each(|store| self.store(store));
        self.see(snapshot.steps);
        self.see(snapshot.cycles);
    }

    /// Sees what an exit needs: it writes registers back.
    fn exit(&mut self, snapshot: &Snapshot) {
        self.rest(snapshot);
        for register in self.dirty.at(self.pc, &self.block.graph, snapshot).iter() {
            self.see(snapshot.registers[register.index()]);
        }
    }

    fn edge(&mut self, edge: &Edge) {
        match edge {
            Edge::Segment(segment) => self.segment(segment),
            // The budget is checked on a back edge, and that check is an exit.
            Edge::Block(snapshot) if snapshot.pc <= self.pc => self.exit(snapshot),
            Edge::Block(snapshot) => match self.live.get(&snapshot.pc) {
                None => self.exit(snapshot),
                Some(live) => {
                    self.rest(snapshot);
                    live.iter().for_each(|register| self.see(snapshot.registers[register.index()]));
                }
            },
        }
    }
}
