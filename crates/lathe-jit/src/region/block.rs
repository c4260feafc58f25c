//! Builds a block: executes one instruction after another on values, until the next address is unknown or a leader.
//! Files of their own deal with memory, checks and branches.

use std::sync::Arc;

use lathe_fast::Lowerable;
use lathe_isa::semantics::{Body, Statement};
use lathe_values::{Effects, Graph, Store, SymbolicState, ValueId, WayOn, execute};

use super::discover::Discovery;
use super::{Check, End, Event, Segment, Snapshot};

/// Values of one block, beyond which a new block begins.
const VALUES: usize = 1_500;
/// Depth to which values of a block may nest: they are computed by recursion, on a stack that may be small. An
/// instruction that would nest deeper is left to the interpreter, and at half this depth a new block begins.
const DEPTH: u32 = 512;

/// A block being built.
pub(super) struct BlockBuilder<'d, 'a> {
    pub(super) discovery: &'d mut Discovery<'a>,
    pub(super) graph: Graph,
    /// Leaders that the block leads to.
    pub(super) targets: Vec<u64>,
    pub(super) longest: u64,
}

/// The machine on a path through the block.
#[derive(Clone)]
pub(super) struct Path {
    pub(super) pc: u64,
    pub(super) frame: SymbolicState,
    pub(super) pending: Vec<Store>,
    pub(super) steps: ValueId,
    pub(super) cycles: ValueId,
    /// The most instructions that the path may have executed so far.
    pub(super) count: u64,
    pub(super) depth: usize,
    /// The leaders on the path, the block's own first.
    pub(super) crossed: Vec<u64>,
    /// Spans of contiguous cells of the code memory, each from an address on: their marks were checked together.
    pub(super) together: Vec<(ValueId, u64)>,
}

/// Whether the next instruction of a snapshot must be interpreted.
pub(super) enum Interpret {
    Yes,
    No,
}

impl BlockBuilder<'_, '_> {
    pub(super) fn segment(&mut self, mut path: Path) -> Segment {
        let mut events = Vec::new();
        let mut fresh = path.crossed.last() == Some(&path.pc);
        let end = loop {
            let known = self.discovery.leaders.contains_key(&path.pc) || self.discovery.ends_before(path.pc);
            let is_large = self.graph.len() > VALUES || self.graph.deepest() > DEPTH / 2;
            let begins = known || is_large || self.discovery.selects(path.pc);
            if !fresh && begins && !self.cross(&mut path) {
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

    /// Adds one instruction. Returns how the segment ends, if it ends there.
    fn instruction(&mut self, path: &mut Path, events: &mut Vec<Event>) -> Option<End> {
        let decoded = self.discovery.decode(path.pc);
        // An instruction left to the interpreter belongs to the region, too: the code after it was found by its length.
        self.discovery.instructions.insert(path.pc, decoded.clone());
        match decoded.reading.is_volatile() {
            true => Some(self.select(&decoded, path, events)),
            false => self.decoded(&decoded, path, events),
        }
    }

    /// Adds a decoded instruction. Returns how the segment ends, if it ends there.
    pub(super) fn decoded(&mut self, decoded: &Lowerable, path: &mut Path, events: &mut Vec<Event>) -> Option<End> {
        let pc = path.pc;
        let effects = self.effects(decoded, path);
        // An instruction that goes on at itself may stop the machine, which the interpreter finds out.
        let stays = effects.as_ref().map(|effects| effects.goes_to(&mut self.graph, pc));
        let always = stays.is_some_and(|stays| self.graph.as_constant(stays) == Some(1));
        let Some((effects, stays)) = effects.zip(stays).filter(|_| !always) else {
            let before = self.snapshot(path, pc);
            return Some(self.leave_to_interpreter(decoded, before));
        };
        let mut checks: Vec<Check> = Vec::new();
        if self.graph.as_constant(stays).is_none() {
            checks.push(Check::When(stays));
        }
        for bail in &effects.bails {
            self.add_check(Check::from(*bail), path, &mut checks, events);
        }
        self.read(&effects, path, &mut checks, events);
        let later = self.take_later(&effects, pc, &mut checks);
        // Most instructions have no exit, and grouping stores takes long.
        let before = (!checks.is_empty() || later.is_some()).then(|| self.snapshot(path, pc));
        events.extend(before.clone().filter(|_| !checks.is_empty()).map(|before| Event::Leave(checks, before)));
        let next = effects.next;
        self.advance(decoded, effects, path, events);
        self.go_on(decoded, next, path, events, later.zip(before))
    }

    /// Removes and returns the checks that cannot fail if a computed jump goes to one of its expected targets. They are
    /// done once the jump is known to go elsewhere: a jump that stores nothing can still be left then, a jump that
    /// stores cannot.
    fn take_later(&mut self, effects: &Effects, pc: u64, checks: &mut Vec<Check>) -> Option<Vec<Check>> {
        if !effects.stores.is_empty() || !matches!(self.graph.way_on(effects.next), WayOn::Jump(_)) {
            return None;
        }
        let targets = self.targets(pc);
        let is_later = |check: &mut Check| match check {
            Check::When(condition) => {
                targets.iter().all(|target| self.graph.value_where(*condition, effects.next, *target) == Some(0))
            }
            _ => false,
        };
        Some(checks.extract_if(.., is_later).collect()).filter(|later: &Vec<Check>| !later.is_empty())
    }

    pub(super) fn effects(&mut self, decoded: &Lowerable, path: &Path) -> Option<Effects> {
        let meaning = decoded.meaning()?;
        let mut effects = execute(self.discovery.isa, &mut self.graph, &path.frame, &meaning)?;
        effects.bails.retain(|bail| !self.is_needless(bail));
        // Devices are left to the fast interpreter.
        Some(effects).filter(|effects| !effects.has_devices() && self.graph.deepest() <= DEPTH)
    }

    pub(super) fn leave_to_interpreter(&mut self, decoded: &Lowerable, before: Arc<Snapshot>) -> End {
        let halts = |body: &Body| {
            body.block.iter().any(|statement| matches!(statement, Statement::Halt | Statement::Fault { .. }))
        };
        if decoded.body.as_ref().is_some_and(|body| !halts(body)) && decoded.next != before.pc {
            self.targets.push(decoded.next);
        }
        End::Leave(before)
    }

    pub(super) fn advance(&mut self, decoded: &Lowerable, effects: Effects, path: &mut Path, events: &mut Vec<Event>) {
        for store in &effects.stores {
            self.put_off(*store, path, events);
        }
        self.note_written_alone(&effects.stores);
        path.steps = self.graph.plus(path.steps, 1);
        path.cycles = effects.cycles_after(&mut self.graph, path.cycles, decoded.cycles);
        path.frame = effects.frame;
        path.count += 1;
    }

    pub(super) fn snapshot(&mut self, path: &Path, pc: u64) -> Arc<Snapshot> {
        self.snapshot_of(path, pc, Interpret::Yes)
    }

    pub(super) fn snapshot_of(&mut self, path: &Path, pc: u64, interpret: Interpret) -> Arc<Snapshot> {
        Arc::new(Snapshot {
            pc,
            registers: path.frame.registers.clone(),
            pending: self.grouped(path, path.pending.clone()),
            steps: path.steps,
            cycles: path.cycles,
            interpret: matches!(interpret, Interpret::Yes),
        })
    }
}
