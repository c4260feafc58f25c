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

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Order, RegisterId};
use lathe_isa::operators::BinaryOperator;
use lathe_isa::semantics::Statement;
use lathe_vm::State;
use lathe_vm::code_map::MARKS_AT_ONCE;
use lathe_vm::dataflow::{Bail, Effects, Frame, Graph, Node, Store, ValueId, execute};
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
const PENDING: usize = 8;
/// How deep branches may nest within a block.
const DEPTH: usize = 6;
/// Leaders that a way through a block may run past, itself included: the code behind them is
/// then there twice, but what it overwrites (flags above all) need not be computed before it.
const CROSSINGS: usize = 3;
/// Values of one block beyond which it runs past no leader.
const CROSSING_VALUES: usize = 400;
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
    /// Reads two cells that lie together.
    LoadPair(Pair),
    /// Leaves the region before an instruction under any of these conditions.
    Leave(Vec<Check>, Rc<Snapshot>),
    /// Writes memory.
    Store(Store),
}

/// Two neighbouring cells of one byte each, which are read together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The load at the lower address.
    pub(crate) first: ValueId,
    /// The load at the higher one.
    pub(crate) second: ValueId,
    /// Both as a number, the low byte first.
    pub(crate) little: ValueId,
    /// Both as a number, the high byte first.
    pub(crate) big: ValueId,
}

/// Two neighbouring cells of one byte each, which are written together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairedStore {
    /// The positions of the two stores, the one at the lower address first.
    pub(crate) positions: (usize, usize),
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
    pub(crate) pending: Vec<Store>,
    /// Those of them that can be done two at a time.
    pub(crate) paired: Vec<PairedStore>,
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
        leaders: BTreeSet::from([entry]),
        decoded: HashMap::new(),
        instructions: BTreeMap::new(),
        values: 0,
    };
    let mut blocks = BTreeMap::new();
    for _ in 0..PASSES {
        let known = discovery.leaders.len();
        blocks = discovery.blocks(entry);
        if discovery.leaders.len() == known {
            break;
        }
    }
    let bound = blocks.values().map(|block| block.longest).sum::<u64>().max(1);
    Region { blocks, instructions: discovery.instructions, bound }
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
        let frame = Frame::new(self.isa, &mut graph);
        let zero = graph.constant(Width::MAX, 0);
        let (pending, together, crossed) = (Vec::new(), Vec::new(), vec![pc]);
        let path = Path { pc, frame, pending, steps: zero, cycles: zero, count: 0, depth: 0, crossed, together };
        let mut builder = BlockBuilder { discovery: self, graph, targets: Vec::new(), longest: 0 };
        let root = builder.segment(path);
        let BlockBuilder { graph, targets, longest, .. } = builder;
        self.values += graph.len();
        (Block { graph, root, longest }, targets)
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
        self.read(&effects, path, &mut checks, events);
        if !checks.is_empty() {
            events.push(Event::Leave(checks, before.clone()));
        }
        self.advance(&decoded, effects.clone(), path, events);
        self.go_on(&decoded, effects.next, path, events, Some(before).filter(|_| stays_later))
    }

    /// Adds a check, or widens one that is there already, of this instruction or of one before
    /// it. Leaving earlier than necessary is always right, and two checks in one are cheaper.
    fn add_check(&mut self, check: Check, path: &mut Path, checks: &mut Vec<Check>, events: &mut [Event]) {
        let earlier = events.iter_mut().rev().filter_map(|event| match event {
            Event::Leave(earlier, _) if matches!(check, Check::Marked { .. }) => Some(earlier),
            _ => None,
        });
        let mut all = checks.iter_mut().chain(earlier.flatten());
        match all.find_map(|other| self.widen(other, check).then_some(*other)) {
            Some(Check::Marked { first, count }) => path.together.push((first, count)),
            Some(_) => {}
            None => checks.push(check),
        }
    }

    /// Makes the first check cover the second, if they are about neighbours.
    fn widen(&mut self, wider: &mut Check, check: Check) -> bool {
        match (*wider, check) {
            (a, b) if a == b => true,
            (Check::Marked { first, count }, Check::Marked { first: other, count: 1 }) => {
                let Some(distance) = self.distance(first, other) else { return false };
                let (first, count) = if distance < 0 {
                    (other, count + distance.unsigned_abs())
                } else {
                    (first, count.max(distance as u64 + 1))
                };
                if count <= MARKS_AT_ONCE {
                    *wider = Check::Marked { first, count };
                }
                count <= MARKS_AT_ONCE
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
        let effects = execute(self.discovery.isa, &mut self.graph, &path.frame, decoded.body.as_ref()?, decoded.next)?;
        let memories = effects.stores.iter().map(|store| store.memory);
        let loads = effects.loads.iter().filter_map(|load| match self.graph.node(*load) {
            Node::Load(memory, ..) => Some(memory),
            _ => None,
        });
        let flat = |memory| self.discovery.isa.memory(memory).cells() <= lathe_base::limits::FLAT_CELLS;
        memories.chain(loads).all(flat).then_some(effects)
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
        let mut loads = effects.loads.iter().copied().peekable();
        while let Some(load) = loads.next() {
            self.flush_for(load, path, events);
            match loads.peek().and_then(|next| self.pair(load, *next, checks)) {
                Some(pair) => {
                    loads.next().into_iter().for_each(|next| self.flush_for(next, path, events));
                    events.push(Event::LoadPair(pair));
                }
                None => events.push(Event::Load(load)),
            }
        }
    }

    fn flush_for(&mut self, load: ValueId, path: &mut Path, events: &mut Vec<Event>) {
        if let Node::Load(memory, address, _) = self.graph.node(load) {
            self.flush(path, events, memory, address);
        }
    }

    /// Two loads as one, if they are of neighbouring bytes that make one value; bytes that do not
    /// were mostly stored one by one, and reading them together would have to wait for both
    /// stores. The second must not wrap to the first cell of the memory, so there is a check for
    /// that, unless another says it already.
    fn pair(&mut self, x: ValueId, y: ValueId, checks: &mut Vec<Check>) -> Option<Pair> {
        let (Node::Load(memory, at_x, _), Node::Load(other, at_y, _)) = (self.graph.node(x), self.graph.node(y)) else {
            return None;
        };
        let distance = self.distance(at_x, at_y).filter(|_| memory == other && self.is_in_bytes(memory))?;
        let (first, second, lower) = match distance {
            1 => (x, y, at_x),
            -1 => (y, x, at_y),
            _ => return None,
        };
        let known = self.graph.len();
        let little = self.graph.join(second, first);
        let one_value = self.graph.len() == known;
        let big = self.graph.join(first, second);
        if !one_value && self.graph.len() > known + 1 {
            return None;
        }
        let last = self.graph.width(lower).mask();
        match self.graph.as_constant(lower) {
            Some(lower) if lower == last => return None,
            Some(_) => {}
            None if checks.iter().any(|check| self.is_left_from(*check, lower)) => {}
            None => {
                let last = self.graph.constant(self.graph.width(lower), last);
                checks.push(Check::When(self.graph.binary(BinaryOperator::Equal, lower, last)));
            }
        }
        Some(Pair { first, second, little, big })
    }

    /// Whether a check leaves where the address is the last, because it is beyond some other.
    fn is_left_from(&self, check: Check, address: ValueId) -> bool {
        let Check::When(condition) = check else { return false };
        matches!(self.graph.node(condition), Node::Binary(BinaryOperator::LessOrEqual, least, x)
            if x == address && self.graph.as_constant(least).is_some())
    }

    fn is_in_bytes(&self, memory: MemoryId) -> bool {
        cfg!(target_endian = "little") && self.discovery.isa.memory(memory).cell.bits() == 8
    }

    /// The stores that can be done two at a time: to neighbouring bytes that are known to lie
    /// together, and of values that are together one value.
    fn paired(&mut self, path: &Path) -> Vec<PairedStore> {
        let mut paired: Vec<PairedStore> = Vec::new();
        for (low, first) in path.pending.iter().enumerate() {
            for (high, second) in path.pending.iter().enumerate() {
                let free = |at| paired.iter().all(|pair| pair.positions.0 != at && pair.positions.1 != at);
                if first.memory != second.memory || self.distance(first.address, second.address) != Some(1) {
                    continue;
                }
                if !free(low) || !free(high) || !self.lie_together(path, first) {
                    continue;
                }
                if let Some((value, order)) = self.as_one(first.value, second.value) {
                    paired.push(PairedStore { positions: (low, high), value, order });
                }
            }
        }
        paired
    }

    /// Whether the cell of a store and the one after it are known to lie together.
    fn lie_together(&self, path: &Path, store: &Store) -> bool {
        let covers = |(first, count): &(ValueId, u64)| {
            let distance = self.distance(*first, store.address);
            distance.is_some_and(|distance| distance >= 0 && distance.unsigned_abs() + 1 < *count)
        };
        store.memory == self.discovery.isa.pc.memory
            && self.is_in_bytes(store.memory)
            && path.together.iter().any(covers)
    }

    /// Two bytes as one value that takes no effort to put together.
    fn as_one(&mut self, first: ValueId, second: ValueId) -> Option<(ValueId, Order)> {
        let little = self.graph.join(second, first);
        if !matches!(self.graph.node(little), Node::Join(..)) {
            return Some((little, Order::Little));
        }
        let big = self.graph.join(first, second);
        (!matches!(self.graph.node(big), Node::Join(..))).then_some((big, Order::Big))
    }

    /// Does the stores that may touch this cell.
    fn flush(&mut self, path: &mut Path, events: &mut Vec<Event>, memory: MemoryId, address: ValueId) {
        let graph = &self.graph;
        let clear = |store: &Store| store.memory != memory || graph.are_distinct(store.address, address);
        events.extend(path.pending.iter().filter(|store| !clear(store)).map(|store| Event::Store(*store)));
        path.pending.retain(clear);
    }

    fn advance(&mut self, decoded: &Lowerable, effects: Effects, path: &mut Path, events: &mut Vec<Event>) {
        for store in &effects.stores {
            self.put_off(*store, path, events);
        }
        let (one, row) = (self.graph.constant(Width::MAX, 1), self.graph.constant(Width::MAX, decoded.cycles));
        path.steps = self.graph.binary(BinaryOperator::Add, path.steps, one);
        let cycles = self.graph.binary(BinaryOperator::Add, effects.cycles, row);
        path.cycles = self.graph.binary(BinaryOperator::Add, path.cycles, cycles);
        path.frame = effects.frame;
        path.count += 1;
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
            events.push(Event::Store(store));
            return;
        }
        if path.pending.len() == PENDING {
            events.push(Event::Store(path.pending.remove(0)));
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
        path.frame = frame;
        path.steps = self.graph.choose(executed, skipped.steps, path.steps);
        path.cycles = self.graph.choose(executed, skipped.cycles, path.cycles);
        path.count = skipped.count;
        path.pc = target;
        true
    }

    /// The machine after the instructions from `from` up to `to`, if there are few, and they
    /// change nothing but registers.
    fn skipped(&mut self, path: &Path, from: u64, to: u64) -> Option<(Path, Vec<ValueId>)> {
        let distance = self.discovery.isa.pc.width.wrap(to.wrapping_sub(from));
        if distance == 0 || distance > SKIPPED * 4 {
            return None;
        }
        let mut path = Path { pc: from, ..path.clone() };
        let mut loads = Vec::new();
        let mut passed = Vec::new();
        for _ in 0..SKIPPED {
            if path.pc == to {
                self.discovery.instructions.extend(passed);
                return Some((path, loads));
            }
            if self.discovery.leaders.contains(&path.pc) || self.discovery.ends_before(path.pc) {
                return None;
            }
            let decoded = self.discovery.decode(path.pc);
            let effects = self.effects(&decoded, &path)?;
            let harmless = effects.bails.is_empty() && effects.stores.is_empty();
            if !harmless || self.graph.as_constant(effects.next) != Some(decoded.next) || decoded.next == path.pc {
                return None;
            }
            passed.push((path.pc, decoded.clone()));
            loads.extend_from_slice(&effects.loads);
            self.advance(&decoded, effects, &mut path, &mut Vec::new());
            path.pc = decoded.next;
        }
        None
    }

    fn snapshot(&mut self, path: &Path, pc: u64) -> Rc<Snapshot> {
        self.snapshot_of(path, pc, Interpret::Yes)
    }

    fn snapshot_of(&mut self, path: &Path, pc: u64, interpret: Interpret) -> Rc<Snapshot> {
        Rc::new(Snapshot {
            pc,
            registers: path.frame.registers.clone(),
            pending: path.pending.clone(),
            paired: self.paired(path),
            steps: path.steps,
            cycles: path.cycles,
            interpret: matches!(interpret, Interpret::Yes),
        })
    }
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

    /// Registers that the region writes or reads, those it writes first.
    pub(crate) fn registers(&self, isa: &Isa) -> Registers {
        let mut registers = Registers::default();
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
            if !isa.register(id).constant && graph.node(*value) != Node::Register(id) {
                self.written.insert(id);
            }
        }
    }
}
