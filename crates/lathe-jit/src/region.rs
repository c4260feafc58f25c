//! Regions: everything that can be reached from a hot address by jumps whose targets are
//! known, as blocks of straight code over graphs of values.
//!
//! A block begins at a *leader* and is a tree: where a branch falls through to code that
//! nothing else reaches, that code continues the block and sees its values. Constants are
//! followed through the tree, so a jump to a computed address that was just loaded into a
//! register is a jump to a known one. The leaders are found by building blocks until no
//! new one turns up.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use lathe_base::{Width, limits};
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Order, RegisterId};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::Statement;
use lathe_vm::State;
use lathe_vm::code_map::{CodeMap, MARKS_AT_ONCE};
use lathe_vm::dataflow::{Bail, Effects, Frame, Graph, Node, Range, Store, ValueId, execute};
use lathe_vm::fast::{Fast, Lowerable};

/// Instructions of one region.
const INSTRUCTIONS: usize = 1_000;
/// Instructions of the code that a computed jump leads to, at least, to be a region: entering it takes
/// as long as interpreting about so many.
const TARGET_INSTRUCTIONS: usize = 8;
/// Blocks of one region.
const BLOCKS: usize = 256;
/// Blocks of one region that only lead to the interpreter.
const EMPTY_BLOCKS: usize = 16;
/// Leaders found later split blocks that were built before, so all are built again, but not
/// more often than this: a block that runs past a leader is longer than it need be, not wrong.
const PASSES: usize = 6;
/// Values of one block; this also bounds how deep they nest.
const VALUES: usize = 1_500;
/// Instructions that a branch skips, at most, to become a choice between values.
const SKIPPED: u64 = 5;
/// Stores that are put off within a block.
const PENDING: usize = 16;
/// Cells for which one check that they lie together is enough, at most.
const TOGETHER: u64 = 256;
/// Neighbouring bytes that may be read or written together, the most first.
const GROUPS: [usize; 3] = [8, 4, 2];
/// How deep branches may nest within a block.
const DEPTH: usize = 6;
/// Leaders that a way through a block may run past, itself included: the code behind them is
/// then there twice, but what it overwrites (flags above all) need not be computed before it.
const CROSSINGS: usize = 3;
/// Values of one block beyond which it runs past no leader.
const CROSSING_VALUES: usize = 400;
/// Cells that a store can reach, at most, so that it is worth assuming that none of them is marked.
const UNMARKED: u64 = 256;
/// Values of all blocks of a region beyond which none runs past a leader.
const REGION_VALUES: usize = 3_000;

/// A region, ready to be compiled.
pub(crate) struct Region {
    /// The blocks, by the address of their leader.
    pub(crate) blocks: BTreeMap<u64, Block>,
    /// The instructions it was made from.
    pub(crate) instructions: BTreeMap<u64, Rc<Lowerable>>,
    /// More steps than this are never done between two checks of the budget.
    pub(crate) bound: u64,
    /// What it does not look at because it is known already.
    pub(crate) assumptions: Assumptions,
}

/// What must hold whenever a region is entered. Nothing that compiled code does can change it, so
/// it need not be looked at inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Assumptions {
    /// Cells of the code memory that have no mark, from the first to the last of each span.
    pub(crate) unmarked: BTreeSet<(u64, u64)>,
    /// Registers of one bit that the region reads but does not change, with what is in them: mostly
    /// a mode that decides what instructions mean.
    pub(crate) modes: BTreeMap<RegisterId, u64>,
}

/// Straight code from a leader on, with branches that only lead deeper.
pub(crate) struct Block {
    pub(crate) graph: Graph,
    pub(crate) root: Segment,
    /// The most instructions on any way through it.
    longest: u64,
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
    /// Reads cells that lie together.
    LoadGroup(Group),
    /// Leaves the region before an instruction under any of these conditions.
    Leave(Vec<Check>, Rc<Snapshot>),
    /// Writes memory.
    Store(Stores),
}

/// Neighbouring cells of one byte each, which are read together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The loads, the one at the lowest address first.
    pub(crate) cells: Vec<ValueId>,
    /// All as a number, the low byte first, if somebody wants that.
    pub(crate) little: Option<ValueId>,
    /// All as a number, the high byte first.
    pub(crate) big: Option<ValueId>,
}

/// Stores in order, and those of them that can be done together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stores {
    pub(crate) stores: Vec<Store>,
    pub(crate) groups: Vec<StoreGroup>,
}

/// Neighbouring cells of one byte each, which are written together.
#[derive(Clone, Debug)]
pub(crate) struct StoreGroup {
    /// The positions of the stores, the one at the lowest address first.
    pub(crate) positions: Vec<usize>,
    /// What they write together.
    pub(crate) value: ValueId,
    /// Which byte comes first.
    pub(crate) order: Order,
}

/// A condition to leave the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// This one bit is 1.
    When(ValueId),
    /// One of so many cells of the code memory is marked, from this address on.
    Marked { first: ValueId, count: u64 },
    /// This cell is marked, and the one bit is 1.
    MarkedIf(ValueId, ValueId),
    /// So many cells from this address on do not lie together, because the address wraps.
    Wraps { first: ValueId, count: u64 },
    /// Nothing has been written yet to the page of this cell of a large memory.
    Untouched(MemoryId, ValueId),
}

/// How a segment ends.
pub(crate) enum End {
    Goto(Edge),
    Branch(ValueId, Edge, Edge),
    Jump(Jump),
    /// Leaves the region.
    Leave(Rc<Snapshot>),
}

/// A computed jump.
pub(crate) struct Jump {
    pub(crate) target: ValueId,
    /// Where it has gone so far.
    pub(crate) arms: Vec<(u64, Edge)>,
    /// The machine after it, but for where it goes on: the region is left to anywhere else.
    pub(crate) after: Rc<Snapshot>,
    /// The machine before it, if it has not been looked at yet whether it stays where it is.
    pub(crate) before: Option<Rc<Snapshot>>,
}

/// A way on.
pub(crate) enum Edge {
    /// To the leader that the snapshot names.
    Block(Rc<Snapshot>),
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

/// How far a region extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// To everything that is reached by known jumps, as far as there is room.
    Everything,
    /// As far as nothing is compiled: what compiled code leads to leads back to it soon, and would
    /// be there once more for every way out of it.
    Gap,
    /// The same from a target of a computed jump, of which there may be very many.
    Target,
    /// One instruction.
    One,
}

/// What is known about the program.
pub(crate) struct Known<'a> {
    pub(crate) fast: &'a Fast<'a>,
    pub(crate) state: &'a State,
    /// Whether the region may be for the present modes only.
    pub(crate) modes: bool,
    /// Where the computed jump at an address went so far.
    pub(crate) targets: &'a dyn Fn(u64) -> Vec<u64>,
    /// Whether compiled code can be entered at an address.
    pub(crate) is_compiled: &'a dyn Fn(u64) -> bool,
}

/// The region around an address.
pub(crate) fn discover(known: &Known, entry: u64, extent: Extent) -> Region {
    let mut discovery = Discovery {
        known,
        extent,
        isa: known.fast.isa(),
        leaders: BTreeSet::new(),
        decoded: HashMap::new(),
        instructions: BTreeMap::new(),
        values: 0,
        written_alone: BTreeSet::new(),
        looks_at_marks: false,
        assumptions: Assumptions::default(),
    };
    let isa = discovery.isa;
    let mut region = discovery.region(entry);
    if region.marks_itself(isa) {
        discovery.looks_at_marks = true;
        region = discovery.region(entry);
    }
    if known.modes {
        discovery.assumptions.modes = region.modes(isa, known.state);
    }
    if discovery.assumptions.modes.is_empty() {
        return region;
    }
    let specialized = discovery.region(entry);
    let fits = !specialized.marks_itself(isa) && specialized.keeps_modes(isa);
    if fits { specialized } else { region }
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
        self.unmarked.iter().any(|(first, last)| (*first..=*last).contains(&cell))
    }
}

struct Discovery<'a> {
    known: &'a Known<'a>,
    extent: Extent,
    isa: &'a Isa,
    leaders: BTreeSet<u64>,
    decoded: HashMap<u64, Rc<Lowerable>>,
    instructions: BTreeMap<u64, Rc<Lowerable>>,
    /// Values of all blocks so far.
    values: usize,
    /// Cells that some instruction writes without writing one next to them.
    written_alone: BTreeSet<(MemoryId, u64)>,
    /// Whether every store looks at the marks, though it can only reach a few cells.
    looks_at_marks: bool,
    assumptions: Assumptions,
}

/// The machine while a block is built.
#[derive(Clone)]
struct Path {
    pc: u64,
    frame: Frame,
    pending: Vec<Store>,
    steps: ValueId,
    cycles: ValueId,
    /// The most instructions so far.
    count: u64,
    depth: usize,
    /// The leaders on the way, the block's own first.
    crossed: Vec<u64>,
    /// Cells of the code memory that lie together, from an address on: their marks were looked at
    /// together.
    together: Vec<(ValueId, u64)>,
}

impl Discovery<'_> {
    /// The region around an address, with the modes that are assumed.
    fn region(&mut self, entry: u64) -> Region {
        self.leaders = BTreeSet::from([entry]);
        self.assumptions.unmarked.clear();
        let mut blocks = BTreeMap::new();
        for _ in 0..PASSES {
            let known = self.leaders.len();
            blocks = self.blocks(entry);
            if self.leaders.len() == known {
                break;
            }
        }
        for Block { graph, root, .. } in blocks.values_mut() {
            root.separate(&|group| group.cells.iter().any(|load| self.is_written_alone(graph, *load)));
        }
        let bound = blocks.values().map(|block: &Block| block.longest).sum::<u64>().max(1);
        Region { blocks, instructions: self.instructions.clone(), bound, assumptions: self.assumptions.clone() }
    }

    /// Builds the block of every leader that is reached, within the limit.
    fn blocks(&mut self, entry: u64) -> BTreeMap<u64, Block> {
        self.instructions.clear();
        self.values = 0;
        let mut blocks = BTreeMap::new();
        let mut waiting = vec![entry];
        let mut seen = BTreeSet::from([entry]);
        let mut empty = 0;
        while let Some(pc) = waiting.pop() {
            if self.instructions.len() >= INSTRUCTIONS || blocks.len() >= BLOCKS {
                break;
            }
            if pc != entry && self.ends_before(pc) {
                continue;
            }
            let (block, targets) = self.block(pc);
            empty += usize::from(block.longest == 0);
            if block.longest == 0 && empty > EMPTY_BLOCKS {
                continue;
            }
            blocks.insert(pc, block);
            self.leaders.extend(targets.iter().copied());
            waiting.extend(targets.into_iter().filter(|target| seen.insert(*target)));
        }
        blocks
    }

    fn block(&mut self, pc: u64) -> (Block, Vec<u64>) {
        let mut graph = Graph::default();
        let mut frame = Frame::new(self.isa, &mut graph);
        for (id, value) in &self.assumptions.modes {
            frame.registers[id.index()] = graph.constant(self.isa.register(*id).width, *value);
        }
        let zero = graph.constant(Width::MAX, 0);
        let (pending, together, crossed) = (Vec::new(), Vec::new(), vec![pc]);
        let path = Path { pc, frame, pending, steps: zero, cycles: zero, count: 0, depth: 0, crossed, together };
        let mut builder = BlockBuilder { discovery: self, graph, targets: Vec::new(), longest: 0 };
        let root = builder.segment(path);
        let BlockBuilder { graph, targets, longest, .. } = builder;
        self.values += graph.len();
        (Block { graph, root, longest }, targets)
    }

    fn is_written_alone(&self, graph: &Graph, load: ValueId) -> bool {
        let Node::Load(memory, address, _) = graph.node(load) else { return false };
        graph.as_constant(address).is_some_and(|address| self.written_alone.contains(&(memory, address)))
    }

    /// Whether the region does not extend to an address that it leads to.
    fn ends_before(&self, pc: u64) -> bool {
        match self.extent {
            Extent::Everything => false,
            Extent::Gap | Extent::Target => (self.known.is_compiled)(pc),
            Extent::One => true,
        }
    }

    fn decode(&mut self, pc: u64) -> Rc<Lowerable> {
        let decode = || Rc::new(self.known.fast.decode(self.known.state, pc));
        self.decoded.entry(pc).or_insert_with(decode).clone()
    }
}

struct BlockBuilder<'d, 'a> {
    discovery: &'d mut Discovery<'a>,
    graph: Graph,
    /// Leaders that the block leads to.
    targets: Vec<u64>,
    longest: u64,
}

impl BlockBuilder<'_, '_> {
    fn segment(&mut self, mut path: Path) -> Segment {
        let mut events = Vec::new();
        let mut fresh = path.crossed.last() == Some(&path.pc);
        let end = loop {
            let known = self.discovery.leaders.contains(&path.pc) || self.discovery.ends_before(path.pc);
            if !fresh && (known || self.graph.len() > VALUES) && !self.cross(&mut path) {
                break End::Goto(self.way_to_leader(&path));
            }
            fresh = false;
            if let Some(end) = self.instruction(&mut path, &mut events) {
                break end;
            }
        };
        self.longest = self.longest.max(path.count);
        Segment { events, end }
    }

    /// Adds one instruction; how the segment ends, if it ends there.
    fn instruction(&mut self, path: &mut Path, events: &mut Vec<Event>) -> Option<End> {
        let pc = path.pc;
        let decoded = self.discovery.decode(pc);
        let before = self.snapshot(path, pc);
        // One that is left to the interpreter belongs to the region too: what follows it was found
        // through its length.
        self.discovery.instructions.insert(pc, decoded.clone());
        let Some(effects) = self.effects(&decoded, path) else {
            return Some(self.leave_to_interpreter(&decoded, before));
        };
        let stays = self.stays(&effects, pc);
        if self.graph.as_constant(stays) == Some(1) {
            return Some(self.leave_to_interpreter(&decoded, before));
        }
        let computed = self.two_ways(effects.next).is_none() && self.graph.as_constant(effects.next).is_none();
        // A computed jump that stores nothing can still be left after its target is known not to be
        // one of those that are expected. One that stores may have done so by then.
        let stays_later = computed && effects.stores.is_empty();
        let mut checks: Vec<Check> = Vec::new();
        if self.graph.as_constant(stays).is_none() && !stays_later {
            checks.push(Check::When(stays));
        }
        for bail in &effects.bails {
            self.add_check(check(*bail), path, &mut checks, events);
        }
        self.check_pages(&effects, &mut checks);
        self.read(&effects, path, &mut checks, events);
        if !checks.is_empty() {
            events.push(Event::Leave(checks, before.clone()));
        }
        self.advance(&decoded, effects.clone(), path, events);
        self.go_on(&decoded, effects.next, path, events, Some(before).filter(|_| stays_later))
    }

    /// The first store to a page of a large memory is left to the interpreter, which notes that there
    /// is such a page. The marks of the code memory say so already.
    fn check_pages(&mut self, effects: &Effects, checks: &mut Vec<Check>) {
        let isa = self.discovery.isa;
        let is_paged = |memory: MemoryId| memory != isa.pc.memory && isa.memory(memory).cells() > limits::FLAT_CELLS;
        for store in effects.stores.iter().filter(|store| is_paged(store.memory)) {
            let check = Check::Untouched(store.memory, store.address);
            if !checks.contains(&check) {
                checks.push(check);
            }
        }
    }

    /// Adds a check, or widens one that is there already, of this instruction or of one before
    /// it. Leaving earlier than necessary is always right, and two checks in one are cheaper.
    fn add_check(&mut self, check: Check, path: &mut Path, checks: &mut Vec<Check>, events: &mut [Event]) {
        let earlier = events.iter_mut().rev().filter_map(|event| match event {
            Event::Leave(earlier, _) if matches!(check, Check::Marked { .. } | Check::Wraps { .. }) => Some(earlier),
            _ => None,
        });
        let mut all = checks.iter_mut().chain(earlier.flatten());
        match all.find_map(|other| self.widen(other, check).then_some(*other)) {
            Some(Check::Marked { first, count } | Check::Wraps { first, count }) => path.together.push((first, count)),
            Some(_) => {}
            None => checks.push(check),
        }
    }

    /// Makes the first check cover the second, if they are about neighbours.
    fn widen(&mut self, wider: &mut Check, check: Check) -> bool {
        match (*wider, check) {
            (a, b) if a == b => true,
            (Check::Marked { first, count }, Check::Marked { first: other, count: more }) => {
                let both = self.span((first, count), (other, more)).filter(|(_, count)| *count <= MARKS_AT_ONCE);
                both.inspect(|(first, count)| *wider = Check::Marked { first: *first, count: *count }).is_some()
            }
            (Check::Wraps { first, count }, Check::Wraps { first: other, count: more }) => {
                let most = TOGETHER.min(self.graph.width(first).mask());
                let both = self.span((first, count), (other, more)).filter(|(_, count)| *count <= most);
                both.inspect(|(first, count)| *wider = Check::Wraps { first: *first, count: *count }).is_some()
            }
            (Check::When(a), Check::When(b)) => match self.either_reaches(a, b) {
                Some(both) => {
                    *wider = Check::When(both);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// The cells from the lower of two addresses on that cover so many from either.
    fn span(&self, one: (ValueId, u64), other: (ValueId, u64)) -> Option<(ValueId, u64)> {
        let distance = self.distance(one.0, other.0)?;
        let (low, high) = if distance < 0 { (other, one) } else { (one, other) };
        Some((low.0, low.1.max(distance.unsigned_abs().saturating_add(high.1))))
    }

    /// How far the second address is above the first, if both count from the same value.
    fn distance(&self, from: ValueId, to: ValueId) -> Option<i64> {
        let ((base, x), (other, y)) = (self.graph.base_and_offset(from), self.graph.base_and_offset(to));
        let width = self.graph.width(from);
        (base == other).then(|| width.signed(width.wrap(y.wrapping_sub(x))))
    }

    /// `first <= x` or `first <= x + 1`, as one comparison. The sum may wrap, but where it does,
    /// the first comparison holds anyway.
    fn either_reaches(&mut self, a: ValueId, b: ValueId) -> Option<ValueId> {
        let (Node::Binary(BinaryOperator::LessOrEqual, first, x), Node::Binary(BinaryOperator::LessOrEqual, other, y)) =
            (self.graph.node(a), self.graph.node(b))
        else {
            return None;
        };
        let least = self.graph.as_constant(first).filter(|least| first == other && *least > 0)?;
        let lower = match self.distance(x, y)? {
            1 => x,
            -1 => y,
            _ => return None,
        };
        let width = self.graph.width(lower);
        let least = self.graph.constant(width, least - 1);
        Some(self.graph.binary(BinaryOperator::LessOrEqual, least, lower))
    }

    fn effects(&mut self, decoded: &Lowerable, path: &Path) -> Option<Effects> {
        if decoded.reading.is_volatile() {
            return None;
        }
        let body = decoded.body.as_ref()?;
        let mut effects = execute(self.discovery.isa, &mut self.graph, &path.frame, body, decoded.next)?;
        effects.bails.retain(|bail| !self.is_needless(bail));
        Some(effects)
    }

    /// Whether a check for marks cannot find one, as long as the few cells it can look at have none:
    /// then the region is entered only where that is so.
    fn is_needless(&mut self, bail: &Bail) -> bool {
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

    /// Whether the instruction goes on where it is. The machine may stop then, which is for the
    /// interpreter to find out.
    fn stays(&mut self, effects: &Effects, pc: u64) -> ValueId {
        let here = self.graph.constant(self.discovery.isa.pc.width, pc);
        self.graph.binary(BinaryOperator::Equal, effects.next, here)
    }

    fn leave_to_interpreter(&mut self, decoded: &Lowerable, before: Rc<Snapshot>) -> End {
        let halts = |body: &lathe_isa::semantics::Body| {
            body.block.iter().any(|statement| matches!(statement, Statement::Halt | Statement::Fault { .. }))
        };
        if decoded.body.as_ref().is_some_and(|body| !halts(body)) && decoded.next != before.pc {
            self.targets.push(decoded.next);
        }
        End::Leave(before)
    }

    fn read(&mut self, effects: &Effects, path: &mut Path, checks: &mut Vec<Check>, events: &mut Vec<Event>) {
        let mut loads = effects.loads.as_slice();
        while let Some((first, rest)) = loads.split_first() {
            let groups = GROUPS.iter().filter_map(|count| loads.split_at_checked(*count));
            let group = groups.map(|(loads, _)| loads).find_map(|loads| self.group(loads, path, checks, events));
            let count = group.as_ref().map_or(1, |group| group.cells.len());
            loads[..count].iter().for_each(|load| self.flush_for(*load, path, events));
            events.push(group.map_or(Event::Load(*first), Event::LoadGroup));
            loads = &rest[count - 1..];
        }
    }

    fn flush_for(&mut self, load: ValueId, path: &mut Path, events: &mut Vec<Event>) {
        if let Node::Load(memory, address, _) = self.graph.node(load) {
            self.flush(path, events, memory, address);
        }
    }

    /// Loads as one, if they are of neighbouring bytes that make one value; bytes that do not were
    /// mostly stored one by one, and reading them together would have to wait for all those stores.
    /// None must wrap to the first cell of the memory, so there is a check for that, unless another
    /// says it already.
    fn group(
        &mut self,
        loads: &[ValueId],
        path: &mut Path,
        checks: &mut Vec<Check>,
        events: &mut [Event],
    ) -> Option<Group> {
        let addresses: Option<Vec<(MemoryId, ValueId)>> = loads.iter().map(|load| self.loaded_from(*load)).collect();
        let addresses = addresses?;
        let (memory, origin) = *addresses.first()?;
        if !self.is_in_bytes(memory) || addresses.iter().any(|(other, _)| *other != memory) {
            return None;
        }
        let distances = addresses.iter().map(|(_, address)| self.distance(origin, *address));
        let mut ordered: Vec<(i64, ValueId, ValueId)> = Vec::new();
        for ((distance, load), (_, address)) in distances.zip(loads).zip(&addresses) {
            ordered.push((distance?, *load, *address));
        }
        ordered.sort_unstable();
        if !ordered.windows(2).all(|two| two[0].0 + 1 == two[1].0) {
            return None;
        }
        let cells: Vec<ValueId> = ordered.iter().map(|(_, load, _)| *load).collect();
        let little = self.graph.joined(cells.iter().rev().copied());
        let big = self.graph.joined(cells.iter().copied());
        little.or(big)?;
        let (lowest, count) = (ordered.first()?.2, cells.len() as u64);
        if self.may_wrap(lowest, count, checks)? {
            self.add_check(Check::Wraps { first: lowest, count }, path, checks, events);
        }
        Some(Group { cells, little, big })
    }

    fn loaded_from(&self, load: ValueId) -> Option<(MemoryId, ValueId)> {
        match self.graph.node(load) {
            Node::Load(memory, address, _) => Some((memory, address)),
            _ => None,
        }
    }

    /// Whether so many cells from an address on may not lie together, for all that is known and checked;
    /// `None` if it is known that they do not.
    fn may_wrap(&self, lowest: ValueId, count: u64, checks: &[Check]) -> Option<bool> {
        let least = self.graph.width(lowest).mask() - (count - 2);
        match self.graph.as_constant(lowest) {
            Some(lowest) => (lowest < least).then_some(false),
            None if self.graph.range(lowest).greatest < least => Some(false),
            None => Some(!checks.iter().any(|check| self.is_left_from(*check, lowest, least))),
        }
    }

    /// Whether a check leaves where the address reaches this one, because it leaves from one on
    /// that is no higher.
    fn is_left_from(&self, check: Check, address: ValueId, from: u64) -> bool {
        let Check::When(condition) = check else { return false };
        matches!(self.graph.node(condition), Node::Binary(BinaryOperator::LessOrEqual, least, x)
            if x == address && self.graph.as_constant(least).is_some_and(|least| least <= from))
    }

    fn is_in_bytes(&self, memory: MemoryId) -> bool {
        cfg!(target_endian = "little") && self.discovery.isa.memory(memory).cell.bits() == 8
    }

    /// Stores, with those that can be done together: to neighbouring bytes that are known to lie
    /// together, and of values that are together one value.
    fn grouped(&mut self, path: &Path, stores: Vec<Store>) -> Stores {
        let mut ordered: Vec<Placed> = (0..).zip(&stores).filter_map(|(at, store)| self.placed(at, store)).collect();
        ordered.sort_unstable();
        let mut groups = Vec::new();
        let mut rest = ordered.as_slice();
        while !rest.is_empty() {
            let tried = GROUPS.iter().filter_map(|count| rest.get(..*count));
            let group = { tried }.find_map(|placed| self.store_group(path, &stores, placed));
            rest = &rest[group.as_ref().map_or(1, |group| group.positions.len())..];
            groups.extend(group);
        }
        Stores { stores, groups }
    }

    /// Where a store is made that may be one of a group.
    fn placed(&self, position: usize, store: &Store) -> Option<Placed> {
        let (base, offset) = self.graph.base_and_offset(store.address);
        let offset = self.graph.width(store.address).signed(offset);
        let alone = store.guard.is_some() || !self.is_in_bytes(store.memory);
        (!alone).then_some(Placed { memory: store.memory, base, offset, position })
    }

    fn store_group(&mut self, path: &Path, stores: &[Store], placed: &[Placed]) -> Option<StoreGroup> {
        let adjoin = |two: &[Placed]| {
            two[0].memory == two[1].memory && two[0].base == two[1].base && two[0].offset + 1 == two[1].offset
        };
        let lowest = &stores[placed.first()?.position];
        if !placed.windows(2).all(adjoin) || !self.lie_together(path, lowest, placed.len() as u64) {
            return None;
        }
        let positions: Vec<usize> = placed.iter().map(|placed| placed.position).collect();
        let values: Vec<ValueId> = positions.iter().map(|at| stores[*at].value).collect();
        let (value, order) = self.as_one(values)?;
        Some(StoreGroup { positions, value, order })
    }

    /// Whether so many cells from that of a store on are known to lie together.
    fn lie_together(&self, path: &Path, store: &Store, cells: u64) -> bool {
        let covers = |(first, count): &(ValueId, u64)| {
            let distance = self.distance(*first, store.address);
            distance.is_some_and(|distance| distance >= 0 && distance.unsigned_abs() + cells <= *count)
        };
        let cannot_wrap = self.may_wrap(store.address, cells, &[]) == Some(false);
        self.is_in_bytes(store.memory)
            && (cannot_wrap || store.memory == self.discovery.isa.pc.memory && path.together.iter().any(covers))
    }

    /// Bytes, the one at the lowest address first, as one value that takes no effort to put together.
    fn as_one(&mut self, mut bytes: Vec<ValueId>) -> Option<(ValueId, Order)> {
        if let Some(big) = self.graph.as_one(bytes.iter().copied()) {
            return Some((big, Order::Big));
        }
        bytes.reverse();
        self.graph.as_one(bytes.into_iter()).map(|little| (little, Order::Little))
    }

    /// Does the stores that may touch this cell.
    fn flush(&mut self, path: &mut Path, events: &mut Vec<Event>, memory: MemoryId, address: ValueId) {
        let graph = &self.graph;
        let clear = |store: &Store| store.memory != memory || graph.are_distinct(store.address, address);
        let (kept, done) = std::mem::take(&mut path.pending).into_iter().partition(clear);
        path.pending = kept;
        self.do_now(path, done, events);
    }

    /// Does these stores.
    fn do_now(&mut self, path: &Path, stores: Vec<Store>, events: &mut Vec<Event>) {
        if !stores.is_empty() {
            events.push(Event::Store(self.grouped(path, stores)));
        }
    }

    fn advance(&mut self, decoded: &Lowerable, effects: Effects, path: &mut Path, events: &mut Vec<Event>) {
        for store in &effects.stores {
            self.put_off(*store, path, events);
        }
        self.note_written_alone(&effects.stores);
        let (one, row) = (self.graph.constant(Width::MAX, 1), self.graph.constant(Width::MAX, decoded.cycles));
        path.steps = self.graph.binary(BinaryOperator::Add, path.steps, one);
        let cycles = self.graph.binary(BinaryOperator::Add, effects.cycles, row);
        path.cycles = self.graph.binary(BinaryOperator::Add, path.cycles, cycles);
        path.frame = effects.frame;
        path.count += 1;
    }

    fn note_written_alone(&mut self, stores: &[Store]) {
        for store in stores {
            let is_next = |other: &Store| {
                let distance = self.distance(store.address, other.address);
                other.memory == store.memory && distance.is_some_and(|distance| distance.abs() == 1)
            };
            if let Some(address) = self.graph.as_constant(store.address).filter(|_| !stores.iter().any(is_next)) {
                self.discovery.written_alone.insert((store.memory, address));
            }
        }
    }

    fn put_off(&mut self, store: Store, path: &mut Path, events: &mut Vec<Event>) {
        let same = |other: &Store| other.memory == store.memory && other.address == store.address;
        let earlier = path.pending.iter_mut().find(|other| same(other));
        if let Some(earlier) = earlier.filter(|_| store.guard.is_none()) {
            earlier.value = store.value;
            return;
        }
        self.flush(path, events, store.memory, store.address);
        if store.guard.is_some() {
            return self.do_now(path, vec![store], events);
        }
        if path.pending.len() == PENDING {
            let all = std::mem::take(&mut path.pending);
            self.do_now(path, all, events);
        }
        path.pending.push(store);
    }

    fn go_on(
        &mut self,
        decoded: &Lowerable,
        next: ValueId,
        path: &mut Path,
        events: &mut Vec<Event>,
        before: Option<Rc<Snapshot>>,
    ) -> Option<End> {
        let pc = path.pc;
        if let Some(target) = self.graph.as_constant(next) {
            path.pc = target;
            if target == decoded.next || self.cross(path) {
                return None;
            }
            return Some(End::Goto(self.way_to_leader(path)));
        }
        let Some((condition, taken, other)) = self.two_ways(next) else {
            return Some(self.computed(next, path, pc, before));
        };
        if self.choose_instead(condition, taken, other, path, events) {
            return None;
        }
        let taken = self.way(path, taken, decoded.next, condition, 1);
        let other = self.way(path, other, decoded.next, condition, 0);
        Some(End::Branch(condition, taken, other))
    }

    /// Puts numbers in place of what is known where a condition has this value: above all the
    /// register that was just tested, which then need not be computed.
    fn assume(&mut self, path: &mut Path, condition: ValueId, holds: u64) {
        let mut known = vec![(condition, holds), (self.graph.not(condition), 1 - holds)];
        match (self.graph.node(condition), holds) {
            (Node::Binary(BinaryOperator::Equal, x, y), 1) | (Node::Binary(BinaryOperator::Unequal, x, y), 0) => {
                known.extend(self.graph.as_constant(y).map(|y| (x, y)));
            }
            _ => {}
        }
        let Path { frame, pending, .. } = path;
        for value in frame.registers.iter_mut().chain(pending.iter_mut().map(|store| &mut store.value)) {
            let inner = match self.graph.node(*value) {
                Node::ZeroExtend(inner) => inner,
                _ => *value,
            };
            if let Some((_, number)) = known.iter().find(|(fact, _)| *fact == inner) {
                *value = self.graph.constant(self.graph.width(*value), *number);
            }
        }
    }

    /// The condition and the two addresses of a branch.
    fn two_ways(&self, next: ValueId) -> Option<(ValueId, u64, u64)> {
        let Node::Choose(condition, x, y) = self.graph.node(next) else { return None };
        Some((condition, self.graph.as_constant(x)?, self.graph.as_constant(y)?))
    }

    /// One side of a branch: deeper into the block where it falls through, else to a leader.
    fn way(&mut self, path: &Path, target: u64, falls_to: u64, condition: ValueId, holds: u64) -> Edge {
        let mut path = Path { pc: target, depth: path.depth + 1, ..path.clone() };
        self.assume(&mut path, condition, holds);
        let is_leader = self.discovery.leaders.contains(&target) || self.discovery.ends_before(target);
        let falls = target == falls_to && !is_leader;
        if path.depth <= DEPTH && (falls || self.cross(&mut path)) {
            return Edge::Segment(Box::new(self.segment(path)));
        }
        self.way_to_leader(&path)
    }

    /// Runs past the leader where the path stands, if that is worth it.
    fn cross(&mut self, path: &mut Path) -> bool {
        let room = self.graph.len() < CROSSING_VALUES && self.discovery.values < REGION_VALUES;
        let new = !path.crossed.contains(&path.pc) && !self.discovery.ends_before(path.pc);
        let crosses = room && path.crossed.len() < CROSSINGS && new;
        if crosses {
            path.crossed.push(path.pc);
        }
        crosses
    }

    fn way_to_leader(&mut self, path: &Path) -> Edge {
        self.targets.push(path.pc);
        Edge::Block(self.snapshot_of(path, path.pc, Interpret::No))
    }

    fn computed(&mut self, target: ValueId, path: &Path, pc: u64, before: Option<Rc<Snapshot>>) -> End {
        let targets: Vec<u64> = (self.discovery.known.targets)(pc).into_iter().filter(|target| *target != pc).collect();
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

    /// Turns a branch over a few harmless instructions into choices between values.
    fn choose_instead(
        &mut self,
        condition: ValueId,
        taken: u64,
        other: u64,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) -> bool {
        let tried = self.skipped(path, other, taken).map(|skipped| (self.graph.not(condition), skipped, taken));
        let tried = tried.or_else(|| self.skipped(path, taken, other).map(|skipped| (condition, skipped, other)));
        let Some((executed, (skipped, loads), target)) = tried else { return false };
        for load in loads {
            self.flush_for(load, path, events);
            events.push(Event::Load(load));
        }
        let mut frame = skipped.frame;
        for (register, before) in frame.registers.iter_mut().zip(&path.frame.registers) {
            *register = self.graph.choose(executed, *register, *before);
        }
        // Where nothing is executed the cells are written too, with what they get anyway.
        for store in skipped.pending {
            let same = |other: &&mut Store| other.memory == store.memory && other.address == store.address;
            if let Some(before) = path.pending.iter_mut().find(same).filter(|before| before.value != store.value) {
                before.value = self.graph.choose(executed, store.value, before.value);
                frame.store(&self.graph, before);
            }
        }
        path.frame = frame;
        path.steps = self.graph.choose(executed, skipped.steps, path.steps);
        path.cycles = self.graph.choose(executed, skipped.cycles, path.cycles);
        path.count = skipped.count;
        path.pc = target;
        true
    }

    /// The machine after the instructions from `from` up to `to`, if there are few, and they
    /// change nothing but registers and cells that are to be written anyway.
    fn skipped(&mut self, path: &Path, from: u64, to: u64) -> Option<(Path, Vec<ValueId>)> {
        let distance = self.discovery.isa.pc.width.wrap(to.wrapping_sub(from));
        if distance == 0 || distance > SKIPPED * 4 {
            return None;
        }
        let mut path = Path { pc: from, ..path.clone() };
        let (mut loads, mut stores) = (Vec::new(), false);
        let mut passed = Vec::new();
        for _ in 0..SKIPPED {
            if path.pc == to {
                // A load may have to wait for what was put off, which is then no longer to be chosen.
                if stores && loads.iter().any(|load| !self.is_clear(*load, &path)) {
                    return None;
                }
                self.discovery.instructions.extend(passed);
                return Some((path, loads));
            }
            if self.discovery.leaders.contains(&path.pc) || self.discovery.ends_before(path.pc) {
                return None;
            }
            let decoded = self.discovery.decode(path.pc);
            let effects = self.effects(&decoded, &path)?;
            let written = effects.stores.iter().all(|store| self.is_written_anyway(store, &path));
            let harmless = effects.bails.is_empty() && written;
            if !harmless || self.graph.as_constant(effects.next) != Some(decoded.next) || decoded.next == path.pc {
                return None;
            }
            passed.push((path.pc, decoded.clone()));
            loads.extend_from_slice(&effects.loads);
            stores |= !effects.stores.is_empty();
            self.advance(&decoded, effects, &mut path, &mut Vec::new());
            path.pc = decoded.next;
        }
        None
    }

    /// Whether a load reads no cell that is still to be written.
    fn is_clear(&self, load: ValueId, path: &Path) -> bool {
        let Node::Load(memory, address, _) = self.graph.node(load) else { return true };
        let clear = |store: &Store| store.memory != memory || self.graph.are_distinct(store.address, address);
        path.pending.iter().all(clear)
    }

    /// Whether the cell of a store has one already that was put off.
    fn is_written_anyway(&self, store: &Store, path: &Path) -> bool {
        let same = |other: &Store| other.memory == store.memory && other.address == store.address;
        store.guard.is_none() && path.pending.iter().any(same)
    }

    fn snapshot(&mut self, path: &Path, pc: u64) -> Rc<Snapshot> {
        self.snapshot_of(path, pc, Interpret::Yes)
    }

    fn snapshot_of(&mut self, path: &Path, pc: u64, interpret: Interpret) -> Rc<Snapshot> {
        Rc::new(Snapshot {
            pc,
            registers: path.frame.registers.clone(),
            pending: self.grouped(path, path.pending.clone()),
            steps: path.steps,
            cycles: path.cycles,
            interpret: matches!(interpret, Interpret::Yes),
        })
    }
}

/// Where a store is made: so far from a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    memory: MemoryId,
    base: Option<ValueId>,
    offset: i64,
    /// Which of the stores it is.
    position: usize,
}

fn check(bail: Bail) -> Check {
    match bail {
        Bail::When(condition) => Check::When(condition),
        Bail::Marked(address, None) => Check::Marked { first: address, count: 1 },
        Bail::Marked(address, Some(guard)) => Check::MarkedIf(address, guard),
    }
}

enum Interpret {
    Yes,
    No,
}

impl Segment {
    /// Reads one by one what was to be read together: where one byte has just been written alone,
    /// reading it with others has to wait for it.
    fn separate(&mut self, apart: &dyn Fn(&Group) -> bool) {
        let events = std::mem::take(&mut self.events);
        for event in events {
            match event {
                Event::LoadGroup(group) if apart(&group) => {
                    self.events.extend(group.cells.into_iter().map(Event::Load));
                }
                other => self.events.push(other),
            }
        }
        match &mut self.end {
            End::Goto(edge) => edge.separate(apart),
            End::Branch(_, x, y) => [x, y].into_iter().for_each(|edge| edge.separate(apart)),
            End::Jump(jump) => jump.arms.iter_mut().for_each(|(_, edge)| edge.separate(apart)),
            End::Leave(_) => {}
        }
    }
}

impl Edge {
    fn separate(&mut self, apart: &dyn Fn(&Group) -> bool) {
        if let Edge::Segment(segment) = self {
            segment.separate(apart);
        }
    }
}

impl Region {
    /// Whether there is more in it than ways to the interpreter, and enough to be entered for it.
    pub(crate) fn is_worth(&self, extent: Extent) -> bool {
        let does_anything = self.blocks.values().any(|block| block.longest > 0);
        let is_short = || self.instructions.len() < TARGET_INSTRUCTIONS && self.blocks.len() == 1;
        does_anything && (extent != Extent::Target || !is_short() || self.is_loop())
    }

    /// Whether it is a block that leads to itself.
    fn is_loop(&self) -> bool {
        let leads_back = |edge: &Edge| matches!(edge, Edge::Block(to) if self.blocks.contains_key(&to.pc));
        self.blocks.values().any(|block| match &block.root.end {
            End::Goto(edge) => leads_back(edge),
            End::Branch(_, taken, other) => leads_back(taken) || leads_back(other),
            End::Jump(_) | End::Leave(_) => false,
        })
    }

    /// Whether code of it lies where it assumes that nothing is marked: then it would be dropped as
    /// soon as that code is watched.
    fn marks_itself(&self, isa: &Isa) -> bool {
        let cells = self.instructions.iter().flat_map(|(pc, decoded)| decoded.reading.watched_cells(isa, *pc));
        cells.into_iter().any(|(cell, _)| self.assumptions.covers(cell))
    }

    /// The registers of one bit that something is made from and that are never changed, with what is
    /// in them. A region for that is worth it where they are modes; a flag that happens not to be
    /// written soon turns out to differ, and the region is made anew without.
    fn modes(&self, isa: &Isa, state: &State) -> BTreeMap<RegisterId, u64> {
        let is_flag = |id: &RegisterId| isa.register(*id).width == Width::BIT && !isa.register(*id).constant;
        let flags = (0..isa.registers.len() as u32).map(RegisterId).filter(is_flag);
        let mut modes: BTreeMap<RegisterId, u64> = flags.map(|id| (id, state.register(id))).collect();
        let registers = self.registers_given(isa, &modes);
        let is_used = |id: &RegisterId| self.blocks.values().any(|block| is_used(&block.graph, *id));
        modes.retain(|id, _| !registers.written.contains(id) && is_used(id));
        modes
    }

    /// Whether it changes none of the modes it was made for.
    fn keeps_modes(&self, isa: &Isa) -> bool {
        let written = self.registers(isa).written;
        self.assumptions.modes.keys().all(|id| !written.contains(id))
    }

    /// Registers that the region writes or reads, those it writes first.
    pub(crate) fn registers(&self, isa: &Isa) -> Registers {
        self.registers_given(isa, &self.assumptions.modes)
    }

    fn registers_given(&self, isa: &Isa, modes: &BTreeMap<RegisterId, u64>) -> Registers {
        let mut registers = Registers { modes: modes.clone(), ..Registers::default() };
        for block in self.blocks.values() {
            registers.read_by(&block.graph);
            registers.written_by(isa, &block.graph, &block.root);
        }
        registers
    }
}

/// Which registers a region touches.
#[derive(Default)]
pub(crate) struct Registers {
    pub(crate) read: BTreeSet<RegisterId>,
    pub(crate) written: BTreeSet<RegisterId>,
    /// What is in some of them; writing that again changes nothing.
    modes: BTreeMap<RegisterId, u64>,
}

/// Whether some value is made from a register.
fn is_used(graph: &Graph, register: RegisterId) -> bool {
    let is_it = |id: ValueId| graph.node(id) == Node::Register(register);
    graph.ids().any(|id| graph.operands(id).any(is_it))
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
        for (id, value) in (0..).map(RegisterId).zip(&snapshot.registers) {
            let mode = self.modes.get(&id).copied();
            let same = graph.node(*value) == Node::Register(id) || mode.is_some() && graph.as_constant(*value) == mode;
            if !isa.register(id).constant && !same {
                self.written.insert(id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = r#"
machine pairs "Reads two bytes together"
memory ram : u16 -> u8
pc pc : u16 in ram
register a : u16
field N : u8
instructions {
  halt    | 0000 0000          | halt
  load N  | 0000 0001 NNNNNNNN | a = a + (ram[zext(N + 1)] ++ ram[zext(N)])
  inc N   | 0000 0010 NNNNNNNN | ram[zext(N)] = ram[zext(N)] + 1
  store N | 0000 0011 NNNNNNNN | ram[zext(N)] = a[7:0]; ram[zext(N + 1)] = a[15:8]
  again   | 0000 0100          | pc = 0
}
"#;

    /// How many times the region of a program reads two bytes together.
    fn pairs(program: &[u64]) -> usize {
        let loaded = lathe_isa::load(MACHINE);
        let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill(program.iter().copied());
        let fast = Fast::new(&isa);
        let known =
            Known { fast: &fast, state: &state, modes: true, targets: &|_| Vec::new(), is_compiled: &|_| false };
        let region = discover(&known, 0, Extent::Everything);
        let events = region.blocks.values().flat_map(|block| &block.root.events);
        events.filter(|event| matches!(event, Event::LoadGroup(_))).count()
    }

    #[test]
    fn bytes_are_read_together_unless_one_is_written_alone() {
        assert_eq!(pairs(&[1, 0x80, 4]), 1);
        assert_eq!(pairs(&[1, 0x80, 3, 0x80, 4]), 1);
        assert_eq!(pairs(&[1, 0x80, 2, 0x80, 4]), 0);
        assert_eq!(pairs(&[1, 0x80, 2, 0x81, 4]), 0);
        assert_eq!(pairs(&[1, 0x80, 2, 0x82, 4]), 1);
    }
}
