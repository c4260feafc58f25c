//! Regions: everything that can be reached from a hot address by jumps whose targets are
//! known, as blocks of straight code over graphs of values.
//!
//! A block begins at a *leader* and is a tree: where a branch falls through to code that
//! nothing else reaches, that code continues the block and sees its values. Constants are
//! followed through the tree, so a jump to a computed address that was just loaded into a
//! register is a jump to a known one. The leaders are found by building blocks until no
//! new one turns up.

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
    /// The volatile ones among them, with how many contents of each are compiled.
    pub(crate) selects: BTreeMap<u64, usize>,
    /// Whether it would be larger if it might.
    pub(crate) is_cut: bool,
    /// More steps than this are never done between two checks of the budget.
    pub(crate) bound: u64,
    /// What it does not look at because it is known already.
    pub(crate) assumptions: Assumptions,
    /// What it leaves to the reference interpreter because a run may stop there.
    pub(crate) armed: Arc<Armed>,
}

/// Straight code from a leader on, with branches that only lead deeper.
pub(crate) struct Block {
    pub(crate) graph: Graph,
    pub(crate) root: Segment,
    /// The most instructions on any way through it.
    longest: u64,
    /// About how often it was executed before it was compiled. Where code lies matters to Cranelift's only.
    #[cfg_attr(target_arch = "wasm32", expect(dead_code))]
    pub(crate) executions: u64,
}

/// Effects in order, and how it goes on.
pub(crate) struct Segment {
    pub(crate) events: Vec<Event>,
    pub(crate) end: End,
}

/// Something that happens at its place in the order.
pub(crate) enum Event {
    /// Reads memory.
    Load(ValueId),
    /// Reads cells that are contiguous.
    LoadGroup(Group),
    /// Leaves the region before an instruction under any of these conditions.
    Leave(Vec<Check>, Arc<Snapshot>),
    /// Writes memory.
    Store(Stores),
}

/// A condition to leave the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// This one bit is 1.
    When(ValueId),
    /// One of this many cells of the code memory is marked, from this address on.
    Marked { first: ValueId, count: u64 },
    /// This cell is marked, and the one bit is 1.
    MarkedIf(ValueId, ValueId),
    /// This many cells from this address on are not contiguous, because the address wraps.
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
    /// What it is for each content that is known.
    pub(crate) arms: Vec<(u64, Edge)>,
    /// The machine before it: for any other content the region is left.
    pub(crate) before: Arc<Snapshot>,
}

/// A computed jump.
pub(crate) struct Jump {
    pub(crate) target: ValueId,
    /// Where it has gone so far.
    pub(crate) arms: Vec<(u64, Edge)>,
    /// The machine after it, but for where it goes on: the region is left to anywhere else.
    pub(crate) after: Arc<Snapshot>,
    /// Conditions to leave the region before it instead, none of which holds where it goes to one of the arms, and the
    /// machine before it.
    pub(crate) before: Option<(Vec<Check>, Arc<Snapshot>)>,
}

/// A way on.
pub(crate) enum Edge {
    /// To the leader that the snapshot names.
    Block(Arc<Snapshot>),
    /// Deeper into the block.
    Segment(Box<Segment>),
}

/// The machine between two instructions.
#[derive(Clone)]
pub(crate) struct Snapshot {
    pub(crate) pc: u64,
    pub(crate) registers: Vec<ValueId>,
    /// Stores that have not been done yet; no two can touch the same cell.
    pub(crate) pending: Stores,
    /// Instructions since the leader.
    pub(crate) steps: ValueId,
    /// Cycles since the leader.
    pub(crate) cycles: ValueId,
    /// Whether the instruction there must be interpreted.
    pub(crate) interpret: bool,
}

impl Region {
    /// How many instructions are compiled.
    pub(crate) fn size(&self) -> usize {
        self.instructions.len() + self.selects.values().sum::<usize>()
    }

    /// Whether there is more in it than ways to the interpreter.
    pub(crate) fn is_worth_compiling(&self) -> bool {
        self.blocks.values().any(|block| block.longest > 0)
    }

    /// Where it leads and has no code, by known jumps.
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

    /// The addresses of its computed jumps.
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
    /// This segment and those that it leads deeper into.
    fn visit(&self, see: &mut impl FnMut(&Segment)) {
        see(self);
        for edge in self.edges() {
            if let Edge::Segment(segment) = edge {
                segment.visit(see);
            }
        }
    }

    /// The ways to other blocks.
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
