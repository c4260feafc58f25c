//! Regions: all code reached from a hot address by known jumps, as blocks of straight-line code over graphs of values.
//!
//! A block begins at a *leader* and is a tree: where a branch falls through to code that nothing else reaches, that
//! code continues the block and sees its values. Constants are propagated through the tree, so a jump through a
//! register into which a constant was just loaded is a known jump. Leaders are found by building blocks until no new
//! leader turns up.

mod assumptions;
mod block;
mod checks;
mod choices;
mod discover;
mod groups;
mod registers;
mod stores;
mod volatile;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lathe_fast::{Armed, Lowerable};
use lathe_isa::model::MemoryId;
use lathe_values::{Graph, ValueId};

pub(crate) use self::assumptions::Assumptions;
pub(crate) use self::discover::{Extent, INSTRUCTIONS, Known, discover};
pub(crate) use self::groups::{Group, Stores};

/// A region, ready to be compiled.
pub(crate) struct Region {
    /// The blocks, by the address of their leader.
    pub(crate) blocks: BTreeMap<u64, Block>,
    /// The instructions it was made from.
    pub(crate) instructions: BTreeMap<u64, Arc<Lowerable>>,
    /// The volatile instructions, with the number of compiled contents of each.
    pub(crate) selects: BTreeMap<u64, usize>,
    /// Whether it would be larger without the limit.
    pub(crate) is_cut: bool,
    /// The most steps between two checks of the budget.
    pub(crate) bound: u64,
    /// What must hold when it is entered, so that it need not be checked inside.
    pub(crate) assumptions: Assumptions,
    /// Instructions and accesses that it leaves to the reference interpreter because a run may stop there.
    pub(crate) armed: Arc<Armed>,
}

/// Straight-line code from a leader on, with branches that only lead deeper.
pub(crate) struct Block {
    pub(crate) graph: Graph,
    pub(crate) root: Segment,
    /// The most instructions on any path through it.
    longest: u64,
    /// About how often it was executed before it was compiled. Only Cranelift's code is placed accordingly.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code))]
    pub(crate) executions: u64,
}

/// Events in order, and how the segment ends.
pub(crate) struct Segment {
    pub(crate) events: Vec<Event>,
    pub(crate) end: End,
}

/// Something that happens at its place in the order of the segment.
pub(crate) enum Event {
    /// Reads memory.
    Load(ValueId),
    /// Reads contiguous cells.
    LoadGroup(Group),
    /// Leaves the region before an instruction under any of these conditions.
    Leave(Vec<Check>, Arc<Snapshot>),
    /// Writes memory.
    Store(Stores),
}

/// A condition for leaving the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// This one bit is 1.
    When(ValueId),
    /// One of `count` cells of the code memory from this address on is marked.
    Marked { first: ValueId, count: u64 },
    /// This cell is marked, and this one bit is 1.
    MarkedIf(ValueId, ValueId),
    /// `count` cells from this address on are not contiguous, because the address wraps.
    Wraps { first: ValueId, count: u64 },
    /// The page of this cell of a large memory is closed.
    Closed(MemoryId, ValueId),
}

/// How a segment ends.
pub(crate) enum End {
    Goto(Edge),
    Branch(ValueId, Edge, Edge),
    Jump(Jump),
    Select(Select),
    /// Leaves the region.
    Leave(Arc<Snapshot>),
}

/// A volatile instruction.
pub(crate) struct Select {
    /// What its cells hold.
    pub(crate) content: ValueId,
    /// The code for each known content.
    pub(crate) arms: Vec<(u64, Edge)>,
    /// The machine before it: for any other content, the region is left.
    pub(crate) before: Arc<Snapshot>,
}

/// A computed jump.
pub(crate) struct Jump {
    pub(crate) target: ValueId,
    /// The code for each target seen so far.
    pub(crate) arms: Vec<(u64, Edge)>,
    /// The machine after it, except for the program counter: for any other target, the region is left.
    pub(crate) after: Arc<Snapshot>,
    /// Conditions for leaving the region before it instead, and the machine before it. None of them holds if the target
    /// is one of the arms.
    pub(crate) before: Option<(Vec<Check>, Arc<Snapshot>)>,
}

/// An edge to the code that follows.
pub(crate) enum Edge {
    /// To the leader that the snapshot names.
    Block(Arc<Snapshot>),
    /// To a segment deeper in the block.
    Segment(Box<Segment>),
}

/// The machine between two instructions.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) pc: u64,
    pub(crate) registers: Vec<ValueId>,
    /// Delayed stores; no two can touch the same cell.
    pub(crate) pending: Stores,
    /// Instructions since the leader.
    pub(crate) steps: ValueId,
    /// Cycles since the leader.
    pub(crate) cycles: ValueId,
    /// Whether the next instruction must be interpreted.
    pub(crate) interpret: bool,
}

impl Region {
    /// Returns the number of compiled instructions, where each content of a volatile instruction counts.
    pub(crate) fn size(&self) -> usize {
        self.instructions.len() + self.selects.values().sum::<usize>()
    }

    /// Whether it contains more than exits to the interpreter.
    pub(crate) fn is_worth_compiling(&self) -> bool {
        self.blocks.values().any(|block| block.longest > 0)
    }

    /// Returns the addresses that it leads to by known jumps and has no code for.
    pub(crate) fn leads_to(&self) -> BTreeSet<u64> {
        let mut outside = BTreeSet::new();
        let mut see = |to: &Snapshot| {
            if !self.blocks.contains_key(&to.pc) {
                outside.insert(to.pc);
            }
        };
        self.blocks.values().for_each(|block| block.root.ways_on(&mut see));
        outside
    }

    /// Returns the addresses of its computed jumps.
    pub(crate) fn computed_jumps(&self) -> BTreeSet<u64> {
        let mut jumps = BTreeSet::new();
        self.blocks.values().for_each(|block| {
            block.root.visit(&mut |segment| {
                if let End::Jump(jump) = &segment.end {
                    jumps.insert(jump.after.pc);
                }
            })
        });
        jumps
    }
}

impl Segment {
    /// Visits this segment and all segments deeper in the block.
    fn visit(&self, see: &mut impl FnMut(&Segment)) {
        see(self);
        for edge in self.edges() {
            if let Edge::Segment(segment) = edge {
                segment.visit(see);
            }
        }
    }

    /// Visits the snapshots on the edges to other blocks.
    pub(crate) fn ways_on(&self, see: &mut impl FnMut(&Snapshot)) {
        self.visit(&mut |segment| {
            for edge in segment.edges() {
                if let Edge::Block(snapshot) = edge {
                    see(snapshot);
                }
            }
        });
    }

    fn edges(&self) -> Vec<&Edge> {
        match &self.end {
            End::Goto(edge) => vec![edge],
            End::Branch(_, taken, other) => vec![taken, other],
            End::Jump(Jump { arms, .. }) | End::Select(Select { arms, .. }) => {
                arms.iter().map(|(_, edge)| edge).collect()
            }
            End::Leave(_) => Vec::new(),
        }
    }
}
