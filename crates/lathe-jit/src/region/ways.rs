//! Where a block goes on after an instruction: straight on, deeper into a branch, to a leader, or wherever a computed
//! jump leads.

use std::sync::Arc;

use lathe_fast::Lowerable;
use lathe_isa::operators::BinaryOperator;
use lathe_values::{Node, ValueId, WayOn};

use super::block::{BlockBuilder, Interpret, Path};
use super::{Check, Edge, End, Event, Jump, Snapshot};

/// Depth to which branches may nest within a block.
pub(super) const DEPTH: usize = 6;
/// Leaders on a path through a block, its own included. Code after a leader that the path runs past is compiled twice,
/// but registers that it overwrites (flags above all) need not be computed before it.
const CROSSINGS: usize = 3;
/// Values of one block beyond which it runs past no more leaders.
const CROSSING_VALUES: usize = 400;
/// Values of all blocks of a region beyond which no block runs past a leader.
const REGION_VALUES: usize = 1_000;

impl BlockBuilder<'_, '_> {
    pub(super) fn go_on(
        &mut self,
        decoded: &Lowerable,
        next: ValueId,
        path: &mut Path,
        events: &mut Vec<Event>,
        before: Option<(Vec<Check>, Arc<Snapshot>)>,
    ) -> Option<End> {
        let pc = path.pc;
        match self.graph.way_on(next) {
            WayOn::Goto(target) => {
                path.pc = target;
                let goes_further = target == decoded.next || self.cross(path);
                (!goes_further).then(|| End::Goto(self.way_to_leader(path)))
            }
            WayOn::Branch(condition, taken, other) => {
                if self.choose_instead(condition, taken, other, path, events) {
                    return None;
                }
                let taken = self.way(path, taken, decoded.next, condition, 1);
                let other = self.way(path, other, decoded.next, condition, 0);
                Some(End::Branch(condition, taken, other))
            }
            WayOn::Jump(target) => Some(self.computed(target, path, pc, before)),
        }
    }

    /// Builds one side of a branch: a deeper segment if it falls through, else an edge to a leader.
    fn way(&mut self, path: &Path, target: u64, falls_to: u64, condition: ValueId, holds: u64) -> Edge {
        let mut path = Path { pc: target, depth: path.depth + 1, ..path.clone() };
        self.assume(&mut path, condition, holds);
        let is_leader = self.discovery.leaders.contains_key(&target) || self.discovery.ends_before(target);
        let falls = target == falls_to && !is_leader;
        if path.depth <= DEPTH && (falls || self.cross(&mut path)) {
            return Edge::Segment(Box::new(self.segment(path)));
        }
        self.way_to_leader(&path)
    }

    /// Replaces values by the constants that they must be if a condition has this value: above all the register that
    /// was just tested, which then need not be computed.
    fn assume(&mut self, path: &mut Path, condition: ValueId, holds: u64) {
        let mut known = vec![(condition, holds), (self.graph.not(condition), 1 - holds)];
        match (self.graph.node(condition), holds) {
            (Node::Binary(BinaryOperator::Equal, x, y), 1) | (Node::Binary(BinaryOperator::Unequal, x, y), 0) => {
                known.extend(self.graph.as_constant(y).map(|y| (x, y)));
            }
            _ => {}
        }
        let Path { frame, pending, steps, cycles, .. } = path;
        let stored = pending.iter_mut().map(|store| &mut store.value);
        for value in frame.registers.iter_mut().chain(stored).chain([steps, cycles]) {
            *value = self.with_known(*value, &known);
        }
    }

    /// Returns a value simplified for these values being these constants.
    fn with_known(&mut self, value: ValueId, known: &[(ValueId, u64)]) -> ValueId {
        let number_of = |value| known.iter().find(|(fact, _)| *fact == value).map(|(_, number)| *number);
        let inner = match self.graph.node(value) {
            // The direction of a branch decides how many cycles it takes.
            Node::Choose(condition, x, y) if let Some(holds) = number_of(condition) => {
                return self.with_known(if holds == 1 { x } else { y }, known);
            }
            Node::Binary(BinaryOperator::Add, x, y) if self.graph.as_constant(y).is_some() => {
                let x = self.with_known(x, known);
                return self.graph.binary(BinaryOperator::Add, x, y);
            }
            Node::ZeroExtend(inner) => inner,
            _ => value,
        };
        number_of(inner).map_or(value, |number| self.graph.constant(self.graph.width(value), number))
    }

    /// Runs past the leader at the path's address, if that is worth it. Returns whether it does.
    pub(super) fn cross(&mut self, path: &mut Path) -> bool {
        let room = self.graph.len() < CROSSING_VALUES && self.discovery.values < REGION_VALUES;
        let new = !path.crossed.contains(&path.pc) && !self.discovery.ends_before(path.pc);
        let crosses = room && path.crossed.len() < CROSSINGS && new && !self.discovery.selects(path.pc);
        if crosses {
            path.crossed.push(path.pc);
        }
        crosses
    }

    pub(super) fn way_to_leader(&mut self, path: &Path) -> Edge {
        self.targets.push(path.pc);
        Edge::Block(self.snapshot_of(path, path.pc, Interpret::No))
    }

    /// Returns the targets of the computed jump at an address so far, except those before which the region ends: like
    /// any other target, these leave the region.
    pub(super) fn targets(&mut self, pc: u64) -> Vec<u64> {
        let mut targets = (self.discovery.known.targets)(pc);
        targets.retain(|target| *target != pc && !self.discovery.ends_before(*target));
        targets
    }

    fn computed(&mut self, target: ValueId, path: &Path, pc: u64, before: Option<(Vec<Check>, Arc<Snapshot>)>) -> End {
        let targets = self.targets(pc);
        let edge = |target: u64| {
            let mut path = Path { pc: target, depth: path.depth + 1, ..path.clone() };
            let deeper = path.depth <= DEPTH && self.cross(&mut path);
            let edge = if deeper { Edge::Segment(Box::new(self.segment(path))) } else { self.way_to_leader(&path) };
            (target, edge)
        };
        let arms = targets.into_iter().map(edge).collect();
        let after = self.snapshot_of(path, pc, Interpret::No);
        End::Jump(Jump { target, arms, after, before })
    }
}
