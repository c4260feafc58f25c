//! Finds the blocks of a region: one for every leader reached, until no new leader turns up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lathe_base::Width;
use lathe_base::numbers::ByNumber;
use lathe_fast::{Fast, Lowerable, WaysOn};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_isa::semantics::Use;
use lathe_values::Start;
use lathe_vm::State;

use super::block::{BlockBuilder, Path};
use super::{Assumptions, Block, Region};
use crate::register_set::RegisterSet;

/// Instructions of the largest region when it is compiled first.
pub(crate) const INSTRUCTIONS: usize = 1_000;
/// A region may have one block for each this many of the instructions it may have.
const IN_A_BLOCK: usize = 2;
/// Blocks of one region that only lead to the interpreter.
const EMPTY_BLOCKS: usize = 16;
/// Leaders found later split blocks built earlier, so blocks are built again, but at most this many times: a block that
/// runs past a leader is longer than necessary, not wrong.
const PASSES: usize = 6;

/// How far a region extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// To all code that has run and is reached by known jumps, as far as there is room.
    Everything,
    /// To where compiled code begins again: code that compiled code leads to soon leads back to it, and would be
    /// compiled once more for every exit.
    Gap,
    /// To everything except code that has been compiled with full effort.
    Rest,
    /// One instruction.
    One,
}

/// What is known about the program.
pub(crate) struct Known<'a> {
    pub(crate) fast: &'a Fast,
    pub(crate) state: &'a State,
    /// Instructions that the region may have; it may exceed this by a few.
    pub(crate) most: usize,
    /// Whether the region may assume the present modes.
    pub(crate) modes: bool,
    /// Returns the targets of the computed jump at an address so far.
    pub(crate) targets: &'a dyn Fn(u64) -> Vec<u64>,
    /// Returns the contents of the volatile instruction at an address that were executed often enough to be in the
    /// region.
    pub(crate) contents: &'a dyn Fn(u64) -> Vec<u64>,
    /// Whether compiled code can be entered at an address.
    pub(crate) is_compiled: &'a dyn Fn(u64) -> bool,
    /// Whether the code at an address has been executed often enough to be in the region.
    pub(crate) has_run: &'a dyn Fn(u64) -> bool,
}

/// Discovers the region around an address.
pub(crate) fn discover(known: &Known, entry: u64, extent: Extent) -> Region {
    let mut discovery = Discovery {
        known,
        extent,
        isa: known.fast.isa(),
        leaders: BTreeMap::new(),
        decoded: ByNumber::default(),
        variants: ByNumber::default(),
        instructions: BTreeMap::new(),
        ends: ByNumber::default(),
        values: 0,
        is_cut: false,
        written_alone: BTreeSet::new(),
        looks_at_marks: false,
        assumptions: Assumptions::default(),
    };
    discovery.leaders.insert(entry, 0);
    discovery.find_loops(entry);
    match discovery.region_for_likely_modes(entry) {
        Some(region) => region,
        None => discovery.region_for_unknown_modes(entry),
    }
}

/// A volatile instruction, as decoded for each of its contents.
pub(super) type Variants = Vec<(u64, Arc<Lowerable>)>;

/// A region being discovered.
pub(super) struct Discovery<'a> {
    pub(super) known: &'a Known<'a>,
    pub(super) extent: Extent,
    pub(super) isa: &'a Isa,
    /// The leaders, each with the number of leaders known before it.
    pub(super) leaders: BTreeMap<u64, usize>,
    pub(super) decoded: ByNumber<u64, Arc<Lowerable>>,
    /// The variants of the volatile instructions that were asked for.
    variants: ByNumber<u64, Arc<Variants>>,
    /// The instructions of the block being built; in the end, of all blocks.
    pub(super) instructions: BTreeMap<u64, Arc<Lowerable>>,
    /// Whether the region ends before an address, for addresses that were asked about.
    ends: ByNumber<u64, bool>,
    /// Values of all blocks so far.
    pub(super) values: usize,
    /// Whether it would be larger without the limit.
    is_cut: bool,
    /// Cells that some instruction writes without writing a neighbour.
    pub(super) written_alone: BTreeSet<(MemoryId, u64)>,
    /// Whether every store checks marks, even if it can reach only a few cells.
    pub(super) looks_at_marks: bool,
    pub(super) assumptions: Assumptions,
}

/// A block, with the leaders it leads to and the instructions it is made of.
struct Built {
    block: Block,
    targets: Vec<u64>,
    instructions: BTreeMap<u64, Arc<Lowerable>>,
    /// The number of leaders known when it was built.
    leaders: usize,
}

impl Discovery<'_> {
    /// Records where loops begin, as far as instructions name their targets: these will be leaders, and a block built
    /// past one would have to be built again.
    fn find_loops(&mut self, entry: u64) {
        let (mut waiting, mut seen) = (vec![entry], BTreeSet::new());
        while let Some(pc) = waiting.pop() {
            if seen.len() >= self.known.most || !seen.insert(pc) || pc != entry && self.ends_before(pc) {
                continue;
            }
            let WaysOn { known, is_computed } = self.decode(pc).ways_on();
            if is_computed {
                waiting.extend((self.known.targets)(pc));
            }
            for target in known {
                if target <= pc && !self.ends_before(target) {
                    let known = self.leaders.len();
                    self.leaders.entry(target).or_insert(known);
                }
                waiting.push(target);
            }
        }
    }

    /// Builds the region around an address for those of the present modes that it seems to depend on. Returns `None` if
    /// it depends on none or changes one of them.
    fn region_for_likely_modes(&mut self, entry: u64) -> Option<Region> {
        let Known { fast, state, modes, .. } = self.known;
        if !modes || fast.modes().is_empty() {
            return None;
        }
        let (mut read, mut written) = (RegisterSet::default(), RegisterSet::default());
        let mut see = |register, how| match how {
            Use::Read => read.insert(register),
            Use::Written => written.insert(register),
        };
        self.decoded.values().for_each(|decoded| decoded.visit_registers(self.isa, &mut see));
        let likely = fast.modes().iter().filter(|id| read.contains(**id)).map(|id| (*id, state.register(*id)));
        self.assumptions.modes = likely.collect();
        if self.assumptions.modes.is_empty() || self.assumptions.modes.iter().any(|(id, _)| written.contains(*id)) {
            self.assumptions.modes.clear();
            return None;
        }
        let region = self.region_beside_its_marks(entry);
        if !region.keeps_modes(self.isa) {
            self.assumptions.modes.clear();
            return None;
        }
        Some(region)
    }

    /// Builds the region around an address, and builds it again for the modes that it turns out to depend on.
    fn region_for_unknown_modes(&mut self, entry: u64) -> Region {
        let region = self.region_beside_its_marks(entry);
        if self.known.modes {
            self.assumptions.modes = region.modes(self.isa, self.known.state);
        }
        if self.assumptions.modes.is_empty() {
            return region;
        }
        let specialized = self.region(entry);
        let fits = !specialized.marks_itself(self.isa) && specialized.keeps_modes(self.isa);
        if fits { specialized } else { region }
    }

    /// Builds the region around an address so that it assumes nothing about the cells that hold its own code.
    fn region_beside_its_marks(&mut self, entry: u64) -> Region {
        let region = self.region(entry);
        if !region.marks_itself(self.isa) {
            return region;
        }
        self.looks_at_marks = true;
        self.region(entry)
    }

    /// Builds the region around an address for the assumed modes. Leaders found before stay.
    fn region(&mut self, entry: u64) -> Region {
        self.assumptions.unmarked.clear();
        let mut built = BTreeMap::new();
        for _ in 0..PASSES {
            let known = self.leaders.len();
            built = self.blocks(entry, built);
            if self.leaders.len() == known {
                break;
            }
        }
        let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
        self.instructions.clear();
        for (pc, Built { mut block, instructions, .. }) in built {
            let Block { graph, root, .. } = &mut block;
            root.separate(&|group| group.cells.iter().any(|load| self.is_written_alone(graph, *load)));
            self.instructions.extend(instructions);
            blocks.insert(pc, block);
        }
        let bound = blocks.values().map(|block: &Block| block.longest).sum::<u64>().max(1);
        let armed = self.known.fast.armed().clone();
        let (instructions, assumptions) = (self.instructions.clone(), self.assumptions.clone());
        let volatile = instructions.iter().filter(|(_, decoded)| decoded.reading.is_volatile());
        let selects = volatile.map(|(pc, _)| (*pc, self.variants(*pc).len())).collect();
        Region { blocks, instructions, selects, is_cut: self.is_cut, bound, assumptions, armed }
    }

    /// Builds the block of every leader reached, within the limit. Keeps a block built before, unless a leader has
    /// turned up inside it.
    fn blocks(&mut self, entry: u64, mut before: BTreeMap<u64, Built>) -> BTreeMap<u64, Built> {
        (self.values, self.is_cut) = (0, false);
        let mut blocks = BTreeMap::new();
        let mut waiting = vec![entry];
        let mut seen = BTreeSet::from([entry]);
        let (mut empty, mut instructions) = (0, 0);
        while let Some(pc) = waiting.pop() {
            if instructions >= self.known.most || blocks.len() * IN_A_BLOCK >= self.known.most {
                self.is_cut = true;
                break;
            }
            if pc != entry && self.ends_before(pc) {
                continue;
            }
            let built = match before.remove(&pc).filter(|built| self.is_whole(built)) {
                Some(built) => built,
                None => self.block(pc),
            };
            empty += usize::from(built.block.longest == 0);
            if built.block.longest == 0 && empty > EMPTY_BLOCKS {
                continue;
            }
            self.values += built.block.graph.len();
            instructions += built.instructions.len() + self.variants(pc).len();
            for target in &built.targets {
                let known = self.leaders.len();
                self.leaders.entry(*target).or_insert(known);
            }
            waiting.extend(built.targets.iter().copied().filter(|target| seen.insert(*target)));
            blocks.insert(pc, built);
        }
        blocks
    }

    /// Whether no leader has turned up inside a block since it was built.
    fn is_whole(&self, built: &Built) -> bool {
        let is_new = |inside: &u64| self.leaders.get(inside).is_some_and(|before| *before >= built.leaders);
        built.leaders == self.leaders.len() || !built.instructions.keys().any(is_new)
    }

    fn block(&mut self, pc: u64) -> Built {
        self.instructions.clear();
        let Start { mut graph, mut frame } = self.known.fast.start().clone();
        for (id, value) in &self.assumptions.modes {
            frame.assume(self.isa, &mut graph, *id, *value);
        }
        let zero = graph.constant(Width::MAX, 0);
        let (pending, together, crossed) = (Vec::new(), Vec::new(), vec![pc]);
        let path = Path { pc, frame, pending, steps: zero, cycles: zero, count: 0, depth: 0, crossed, together };
        let mut builder = BlockBuilder { discovery: self, graph, targets: Vec::new(), longest: 0 };
        let root = builder.segment(path);
        let BlockBuilder { graph, targets, longest, .. } = builder;
        let instructions = std::mem::take(&mut self.instructions);
        let executions = self.known.fast.executions(pc);
        Built { block: Block { graph, root, longest, executions }, targets, instructions, leaders: self.leaders.len() }
    }

    /// Whether the region ends before an address that it leads to.
    pub(super) fn ends_before(&mut self, pc: u64) -> bool {
        let Known { is_compiled, has_run, .. } = self.known;
        let ends = || match self.extent {
            Extent::Everything => !has_run(pc),
            Extent::Gap | Extent::Rest => is_compiled(pc) || !has_run(pc),
            Extent::One => true,
        };
        *self.ends.entry(pc).or_insert_with(ends)
    }

    /// Decodes the volatile instruction at an address for each of its contents that are in the region.
    pub(super) fn variants(&mut self, pc: u64) -> Arc<Variants> {
        let Known { fast, contents, .. } = self.known;
        let decode = |content: u64| (content, fast.decode_content(pc, content));
        let variants = || Arc::new(contents(pc).into_iter().map(decode).collect());
        self.variants.entry(pc).or_insert_with(variants).clone()
    }

    /// Whether the instruction at an address is volatile and compiled. It begins a block: each content is a separate
    /// path through it, and each path would have to do the stores delayed before it.
    pub(super) fn selects(&mut self, pc: u64) -> bool {
        // Most are not, and finding variants takes longer.
        self.known.fast.is_volatile(pc) && !self.variants(pc).is_empty()
    }

    pub(super) fn decode(&mut self, pc: u64) -> Arc<Lowerable> {
        let decode = || self.known.fast.decode_ahead(self.known.state, pc);
        self.decoded.entry(pc).or_insert_with(decode).clone()
    }
}
