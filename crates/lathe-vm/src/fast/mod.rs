//! The fast interpreter: every instruction is decoded and lowered once per address, and
//! executed from then on as a short list of operations on slots. Instructions are linked
//! to one another, so that going on costs no lookup.
//!
//! Whatever the lowered form cannot say (devices, faults, halting, mapped addresses, stores
//! into code) is left to the reference interpreter, one instruction at a time. So there is
//! only one place that knows those.

mod history;
mod lower;
mod ops;

use std::collections::HashMap;

use lathe_base::Width;
use lathe_isa::Isa;
use lathe_isa::operand::Location;
use lathe_isa::semantics::Body;
use lathe_isa::specialize::{specialize, specialize_illegal};

use crate::code_map::CodeMap;
use crate::dataflow::patched::{Cells, guarded_bits, patched};
use crate::dataflow::{Bail, Effects, Frame, Graph, Node, execute};
use crate::device::Devices;
use crate::engine::Engine;
use crate::interpreter::{Interpreter, Run, Stop};
use crate::state::State;
use history::{History, Treatment};
use lower::{Constants, Direction, End, VALUES, lower};
use ops::{Code, EntryId, HERE, Op, Slot};

/// Operations beyond this number are forgotten all at once.
const OPERATIONS: usize = 1 << 20;
/// How many targets of one computed jump are remembered.
const TARGETS: usize = 16;

/// The fast interpreter.
pub struct Fast<'i> {
    isa: &'i Isa,
    reference: Interpreter<'i>,
    longest: u32,
    /// Registers, values of the running instruction, constants.
    slots: Vec<u64>,
    constants: Constants,
    ops: Vec<Op>,
    entries: Vec<Entry>,
    by_address: HashMap<u64, EntryId>,
    marks: CodeMap,
    /// How often an address must be jumped to before the run pauses there.
    threshold: i32,
    /// Addresses of instructions that were changed since they were last asked for.
    changed: Vec<u64>,
    history: History,
}

/// An instruction at one address.
#[derive(Clone, Debug)]
struct Entry {
    pc: u64,
    /// Where its operations begin.
    start: u32,
    /// What was decoded: its length and its cells; no length if it was not decoded yet.
    cells: u32,
    window: u128,
    /// The bits of the window that must not change behind the engine's back.
    watched: u128,
    /// The bits of live cells that are compared whenever it is executed.
    guarded: u128,
    /// Whether it is interpreted because its opcode changes so often.
    volatile: bool,
    /// Counts up to zero.
    heat: i32,
    /// Where its computed jump went.
    targets: Vec<(u64, EntryId)>,
}

/// Why a run paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The machine stopped, or the limit was reached.
    Stopped(Stop),
    /// This address was jumped to as often as the threshold says.
    Hot(u64),
}

/// What the inner loop cannot do by itself.
enum Event {
    Limit(EntryId),
    Hot(EntryId),
    Decode(EntryId),
    Interpret(EntryId),
    Jump(EntryId, u64),
}

/// A decoded instruction on values: the graph and what it does, if it can be lowered.
pub struct Lowerable {
    /// The cycles of its row.
    pub cycles: u64,
    /// Its meaning here; none for an undefined encoding that is a fault.
    pub body: Option<Body>,
    /// The address of the instruction that follows it.
    pub next: u64,
    /// What this was made from.
    pub reading: Reading,
}

/// How the cells of an instruction were read. Where they are read the same way, the instruction
/// is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How many there are.
    cells: u32,
    /// What was in them.
    window: u128,
    /// Those that are read again whenever the instruction is executed.
    live: Cells,
    /// The bits of those that must be as they were.
    guarded: u128,
    /// Whether the opcode changes so often that the instruction is to be interpreted.
    volatile: bool,
}

impl Reading {
    /// Whether some of its cells are read whenever it is executed.
    pub fn is_patched(&self) -> bool {
        !self.live.is_empty()
    }

    /// Whether its opcode changes so often that it is to be interpreted.
    pub fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// The bits that must not change behind an engine's back.
    fn watched(&self, cell: Width) -> u128 {
        match self.volatile {
            true => 0,
            false => all_bits(self.cells, cell) & !self.live.bits(cell, self.cells),
        }
    }
}

/// The bits of so many cells in a window.
fn all_bits(cells: u32, cell: Width) -> u128 {
    u128::MAX << (128 - cells * cell.bits())
}

impl<'i> Fast<'i> {
    /// A fast interpreter for this instruction set.
    pub fn new(isa: &'i Isa) -> Self {
        let registers = isa.registers.len();
        Fast {
            isa,
            reference: Interpreter::new(isa),
            longest: isa.longest(),
            slots: vec![0; registers + VALUES],
            constants: Constants::new(registers),
            ops: Vec::new(),
            entries: Vec::new(),
            by_address: HashMap::new(),
            marks: CodeMap::new(isa),
            threshold: i32::MAX,
            changed: Vec::new(),
            history: History::default(),
        }
    }

    /// Pauses at addresses that have been jumped to so often.
    pub fn with_threshold(isa: &'i Isa, threshold: i32) -> Self {
        Fast { threshold: threshold.max(1), ..Fast::new(isa) }
    }

    /// The instruction set it runs.
    pub fn isa(&self) -> &'i Isa {
        self.isa
    }

    /// The cells that must not be written behind its back.
    pub fn marks(&self) -> &CodeMap {
        &self.marks
    }

    /// Notes an instruction that another engine has decoded here, so that a change of it is seen.
    pub fn watch(&mut self, pc: u64, reading: &Reading) {
        let id = self.entry(pc);
        self.note_decoded(id, reading);
    }

    /// Whether the cells at an address would be read like this now.
    pub fn reads_like(&self, state: &State, pc: u64, reading: &Reading) -> bool {
        let (live, volatile) = self.treatment(pc);
        let compared = reading.watched(self.isa.code_memory().cell) | reading.guarded;
        let same = (self.head(state, pc, reading.cells) ^ reading.window) & compared == 0;
        same && reading.live == live && reading.volatile == volatile
    }

    /// The addresses of instructions that were changed since this was last asked.
    pub fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.changed)
    }

    /// Where the computed jump at this address went so far.
    pub fn targets(&self, pc: u64) -> impl Iterator<Item = u64> {
        let entry = self.by_address.get(&pc).map(|id| &self.entries[*id as usize]);
        entry.into_iter().flat_map(|entry| entry.targets.iter().map(|(target, _)| *target))
    }

    /// Lets an address pause the run on the next jump to it, or only after the threshold again.
    pub fn set_heat(&mut self, pc: u64, heat: Heat) {
        let id = self.entry(pc);
        self.entries[id as usize].heat = match heat {
            Heat::Always => -1,
            Heat::Cold => -self.threshold,
            Heat::Never => i32::MIN,
        };
    }

    /// The decoded instruction at an address, specialized to it.
    pub fn decode(&self, state: &State, pc: u64) -> Lowerable {
        let isa = self.isa;
        let window = state.window(isa, pc, self.longest);
        let (live, volatile) = self.treatment(pc);
        let Some(decoded) = isa.decode(window) else {
            let volatile = volatile || !live.is_empty();
            let reading = Reading { cells: self.longest, window, live: Cells::default(), guarded: 0, volatile };
            return Lowerable { cycles: 0, body: specialize_illegal(isa, pc), next: pc, reading };
        };
        let instruction = isa.instruction(decoded.instruction);
        let cells = instruction.encoding.cells;
        let next = isa.pc.width.wrap(pc.wrapping_add(u64::from(cells)));
        let location = Location { pc, next, width: isa.pc.width };
        let body = if live.is_empty() {
            specialize(isa, &decoded, location)
        } else {
            patched(isa, &decoded, location, window, live)
        };
        let window = window & all_bits(cells, isa.code_memory().cell);
        let reading = Reading { cells, window, live, guarded: guarded_bits(isa, &decoded, live), volatile };
        Lowerable { cycles: instruction.cycles, body: Some(body), next, reading }
    }

    /// The live cells of an instruction, and whether it is volatile.
    fn treatment(&self, pc: u64) -> (Cells, bool) {
        match self.history.treatment(pc) {
            Treatment::Decoded(live) => (live, false),
            Treatment::Interpreted => (Cells::default(), true),
        }
    }

    /// Forgets what was decoded and is not there any more. To be called before a run if the
    /// state may have been changed by others.
    pub fn revalidate(&mut self, state: &State) {
        for id in 0..self.entries.len() {
            if self.is_changed(state, &self.entries[id]) {
                self.make_stale(id as EntryId);
            }
        }
    }

    /// Runs until the machine stops, the limit is reached or an address is hot.
    pub fn run_until_hot(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Pause {
        self.take_registers(state);
        let mut left = limit - run.steps;
        let mut entry = self.entry(state.pc);
        let pause = loop {
            if left == 0 {
                state.pc = self.entries[entry as usize].pc;
                break Pause::Stopped(Stop::Limit);
            }
            match self.burst(entry, &mut left, state, run) {
                Event::Limit(next) => entry = next,
                Event::Hot(next) => {
                    let hot = &mut self.entries[next as usize];
                    hot.heat = -1;
                    state.pc = hot.pc;
                    break Pause::Hot(hot.pc);
                }
                Event::Decode(next) => entry = self.lower_entry(state, next),
                Event::Jump(from, target) => {
                    let next = self.entry(target);
                    self.remember(from, target, next);
                    entry = next;
                }
                Event::Interpret(at) => {
                    state.pc = self.entries[at as usize].pc;
                    self.note_interpreted(state, at);
                    if let Some(stop) = self.interpret(state, devices, run, &mut left) {
                        break Pause::Stopped(stop);
                    }
                    entry = self.entry(state.pc);
                }
            }
        };
        run.steps = limit - left;
        self.give_registers(state);
        pause
    }

    /// Lets the reference interpreter do one instruction.
    fn interpret(&mut self, state: &mut State, devices: &mut Devices, run: &mut Run, left: &mut u64) -> Option<Stop> {
        self.give_registers(state);
        let step = self.reference.step(state, devices);
        self.take_registers(state);
        let code = self.isa.pc.memory;
        let written: Vec<u64> =
            self.reference.written().filter(|(memory, _)| *memory == code).map(|(_, address)| address).collect();
        written.into_iter().for_each(|address| self.note_store(state, address));
        run.cycles += step.cycles;
        *left -= u64::from(!matches!(step.stop, Some(Stop::Fault(_))));
        step.stop
    }

    /// Makes the instructions stale that a store into code has changed, or that have been hit
    /// often enough to be treated otherwise.
    fn note_store(&mut self, state: &State, address: u64) {
        if !self.marks.is_marked(address) {
            return;
        }
        for back in 0..self.longest {
            let pc = self.isa.pc.width.wrap(address.wrapping_sub(u64::from(back)));
            let Some(id) = self.by_address.get(&pc).copied() else { continue };
            if !self.entries[id as usize].watches(back, self.isa.code_memory().cell) {
                continue;
            }
            if self.history.hit(pc, back) || self.is_changed(state, &self.entries[id as usize]) {
                self.make_stale(id);
            }
        }
        self.unmark_unless_watched(address);
    }

    /// Takes the mark from a cell that no instruction watches any more. Those that are decoded
    /// later mark it again.
    fn unmark_unless_watched(&mut self, address: u64) {
        let cell = self.isa.code_memory().cell;
        let watched = (0..self.longest).any(|back| {
            let pc = self.isa.pc.width.wrap(address.wrapping_sub(u64::from(back)));
            let entry = self.by_address.get(&pc).map(|id| &self.entries[*id as usize]);
            entry.is_some_and(|entry| entry.watches(back, cell))
        });
        if !watched {
            self.marks.unmark(address);
        }
    }

    /// Whether an instruction is not what was decoded any more.
    fn is_changed(&self, state: &State, entry: &Entry) -> bool {
        entry.cells > 0 && (self.head(state, entry.pc, entry.cells) ^ entry.window) & entry.watched != 0
    }

    /// Before an instruction is interpreted: counts whether it is still the same, where that
    /// decides how it is treated.
    fn note_interpreted(&mut self, state: &State, id: EntryId) {
        let Entry { pc, cells, window, guarded, volatile, .. } = self.entries[id as usize];
        if !volatile && guarded == 0 {
            return;
        }
        let now = self.head(state, pc, cells);
        let compared = if volatile { u128::MAX } else { guarded };
        let otherwise = match (now ^ window) & compared {
            0 => volatile && self.history.same(pc),
            _ => self.history.mismatch(pc) && !volatile,
        };
        if volatile {
            self.entries[id as usize].window = now;
        }
        if otherwise {
            self.make_stale(id);
        }
    }

    /// The beginning of the instruction stream, without what lies beyond so many cells.
    fn head(&self, state: &State, pc: u64, cells: u32) -> u128 {
        state.window(self.isa, pc, cells)
    }

    fn make_stale(&mut self, id: EntryId) {
        let start = self.push_decode(id);
        let entry = &mut self.entries[id as usize];
        (entry.cells, entry.watched, entry.guarded, entry.volatile) = (0, 0, 0, false);
        entry.start = start;
        entry.targets.clear();
        self.changed.push(entry.pc);
    }

    fn push_decode(&mut self, id: EntryId) -> u32 {
        let extra = u64::from(id);
        self.ops.push(Op { code: Code::Decode, width: Width::BIT, into: 0, x: 0, y: 0, next: HERE, extra });
        (self.ops.len() - 1) as u32
    }

    /// The entry of an address, to be decoded when it is reached.
    fn entry(&mut self, pc: u64) -> EntryId {
        if let Some(id) = self.by_address.get(&pc) {
            return *id;
        }
        let id = self.entries.len() as EntryId;
        let start = self.push_decode(id);
        self.entries.push(Entry {
            pc,
            start,
            cells: 0,
            window: 0,
            watched: 0,
            guarded: 0,
            volatile: false,
            heat: -self.threshold,
            targets: Vec::new(),
        });
        self.by_address.insert(pc, id);
        id
    }

    fn remember(&mut self, from: EntryId, target: u64, entry: EntryId) {
        let targets = &mut self.entries[from as usize].targets;
        if targets.len() < TARGETS {
            targets.push((target, entry));
        }
    }

    /// Decodes and lowers an entry. The entry may have another id afterwards, because all of
    /// them are forgotten when there are too many operations.
    fn lower_entry(&mut self, state: &State, id: EntryId) -> EntryId {
        let pc = self.entries[id as usize].pc;
        if self.ops.len() > OPERATIONS {
            self.changed.extend(self.entries.iter().map(|entry| entry.pc));
            self.ops.clear();
            self.entries.clear();
            self.by_address.clear();
        }
        let id = self.entry(pc);
        self.note_other_decoded(state, id);
        let lowerable = self.decode(state, pc);
        let ops = self.operations(&lowerable, pc, id).unwrap_or_else(|| {
            vec![Op { code: Code::Interpret, width: Width::BIT, into: 0, x: 0, y: 0, next: HERE, extra: u64::from(id) }]
        });
        let start = self.ops.len() as u32;
        self.ops.extend(ops);
        let constants = self.isa.registers.len() + VALUES;
        self.slots.truncate(constants);
        self.slots.extend_from_slice(&self.constants.values);
        self.entries[id as usize].start = start;
        self.note_decoded(id, &lowerable.reading);
        id
    }

    /// An instruction that another engine has decoded, as something else than it is now: that
    /// engine must forget it, and it counts as a change of its opcode.
    fn note_other_decoded(&mut self, state: &State, id: EntryId) {
        let Entry { pc, cells, window, guarded, .. } = self.entries[id as usize];
        if cells > 0 && (self.head(state, pc, cells) ^ window) & guarded != 0 {
            self.history.mismatch(pc);
            self.changed.push(pc);
        }
    }

    /// Notes what was decoded, and marks the cells that are to be watched.
    fn note_decoded(&mut self, id: EntryId, reading: &Reading) {
        let cell = self.isa.code_memory().cell;
        let entry = &mut self.entries[id as usize];
        (entry.cells, entry.window) = (reading.cells, reading.window);
        entry.watched = reading.watched(cell);
        (entry.guarded, entry.volatile) = (reading.guarded, reading.volatile);
        for at in (0..reading.cells).filter(|at| entry.watches(*at, cell)) {
            self.marks.mark(entry.pc.wrapping_add(u64::from(at)));
        }
    }

    fn operations(&mut self, lowerable: &Lowerable, pc: u64, id: EntryId) -> Option<Vec<Op>> {
        if lowerable.reading.volatile {
            return None;
        }
        let mut graph = Graph::default();
        let frame = Frame::new(self.isa, &mut graph);
        let mut effects = effects_at(self.isa, &mut graph, &frame, lowerable, pc)?;
        let row = graph.constant(Width::MAX, lowerable.cycles);
        effects.cycles = graph.binary(lathe_isa::operators::BinaryOperator::Add, effects.cycles, row);
        let end = self.end(&graph, &effects, pc, lowerable.next);
        lower(&graph, &frame, &effects, end, id, &mut self.constants)
    }

    fn end(&mut self, graph: &Graph, effects: &Effects, pc: u64, next: u64) -> End {
        let mut way = |target: u64| {
            let direction = if target > pc { Direction::Up } else { Direction::Back };
            (self.entry(target), direction)
        };
        match graph.node(effects.next) {
            Node::Constant(target) if target == next => End::Next(way(target).0),
            Node::Constant(target) => {
                let (target, direction) = way(target);
                End::Goto(target, direction)
            }
            Node::Choose(condition, x, y) => match (graph.as_constant(x), graph.as_constant(y)) {
                (Some(x), Some(y)) => End::Branch(condition, way(x), way(y)),
                _ => End::Jump(effects.next),
            },
            _ => End::Jump(effects.next),
        }
    }

    fn take_registers(&mut self, state: &State) {
        self.slots[..state.registers().len()].copy_from_slice(state.registers());
    }

    fn give_registers(&self, state: &mut State) {
        let registers = state.registers_mut();
        registers.copy_from_slice(&self.slots[..registers.len()]);
    }

    /// Executes operations until something comes up that needs more than slots and memory.
    fn burst(&mut self, entry: EntryId, left: &mut u64, state: &mut State, run: &mut Run) -> Event {
        let Fast { slots, ops, entries, marks, .. } = self;
        let mut at = entries[entry as usize].start as usize;
        loop {
            let op = ops[at];
            at += 1;
            let get = |slot: Slot| slots[usize::from(slot)];
            let value = match op.code {
                Code::Move => get(op.x),
                Code::Add => get(op.x).wrapping_add(get(op.y)) & op.extra,
                Code::Subtract => get(op.x).wrapping_sub(get(op.y)) & op.extra,
                Code::And => get(op.x) & get(op.y),
                Code::Or => get(op.x) | get(op.y),
                Code::Xor => get(op.x) ^ get(op.y),
                Code::Equal => u64::from(get(op.x) == get(op.y)),
                Code::Less => u64::from(get(op.x) < get(op.y)),
                Code::Unary(operator) => operator.apply(op.width, get(op.x)),
                Code::Binary(operator) => operator.apply(op.width, get(op.x), get(op.y)),
                Code::Slice => (get(op.x) >> op.y) & op.extra,
                Code::Join => (get(op.x) << op.extra) | get(op.y),
                Code::SignExtend => op.width.signed(get(op.x)) as u64 & op.extra,
                Code::Choose => get(if get(op.extra as Slot) != 0 { op.x } else { op.y }),
                Code::Load => state.memory_at(op.extra).get(get(op.x)),
                Code::Store => {
                    state.memory_at_mut(op.extra).set(get(op.x), get(op.y));
                    continue;
                }
                Code::StoreIf => {
                    if get(op.into) != 0 {
                        state.memory_at_mut(op.extra).set(get(op.x), get(op.y));
                    }
                    continue;
                }
                Code::BailIf => {
                    if get(op.x) != 0 {
                        return Event::Interpret(op.extra as EntryId);
                    }
                    continue;
                }
                Code::BailMarked => {
                    if get(op.y) != 0 && marks.is_marked(get(op.x)) {
                        return Event::Interpret(op.extra as EntryId);
                    }
                    continue;
                }
                Code::Cycles => {
                    run.cycles += get(op.x);
                    continue;
                }
                Code::Next => {
                    let next = op.extra as EntryId;
                    *left -= 1;
                    if *left == 0 {
                        return Event::Limit(next);
                    }
                    at = entries[next as usize].start as usize;
                    continue;
                }
                Code::Goto | Code::Branch | Code::Jump => {
                    let (target, back) = match op.code {
                        Code::Goto => (op.extra as EntryId, op.into != 0),
                        Code::Branch if get(op.x) != 0 => ((op.extra >> 32) as EntryId, op.into & 2 != 0),
                        Code::Branch => (op.extra as EntryId, op.into & 1 != 0),
                        _ => {
                            let (from, pc) = (&entries[op.extra as usize], get(op.x));
                            let known = from.targets.iter().find(|(target, _)| *target == pc);
                            let Some((_, target)) = known else {
                                *left -= 1;
                                return Event::Jump(op.extra as EntryId, pc);
                            };
                            (*target, true)
                        }
                    };
                    *left -= 1;
                    if *left == 0 {
                        return Event::Limit(target);
                    }
                    let entry = &mut entries[target as usize];
                    if back {
                        entry.heat = entry.heat.wrapping_add(1);
                        if entry.heat == 0 {
                            return Event::Hot(target);
                        }
                    }
                    at = entry.start as usize;
                    continue;
                }
                Code::Interpret => return Event::Interpret(op.extra as EntryId),
                Code::Decode => return Event::Decode(op.extra as EntryId),
            };
            slots[usize::from(op.into)] = value;
            if op.next != HERE {
                *left -= 1;
                if *left == 0 {
                    return Event::Limit(op.next);
                }
                at = entries[op.next as usize].start as usize;
            }
        }
    }
}

impl Entry {
    /// Whether a store to this cell of it must not go unseen.
    fn watches(&self, cell: u32, width: Width) -> bool {
        let shift = 128u32.checked_sub((cell + 1) * width.bits());
        cell < self.cells && shift.is_some_and(|shift| (self.watched >> shift) as u64 & width.mask() != 0)
    }
}

/// How soon a jump to an address pauses the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// On the next jump.
    Always,
    /// After as many jumps as the threshold says.
    Cold,
    /// As good as never.
    Never,
}

/// What the instruction does from a frame on; `None` if it must be left to the reference
/// interpreter. That includes every instruction that may leave the machine as it was,
/// `pc` included, because the machine stops there.
pub fn effects_at(isa: &Isa, graph: &mut Graph, frame: &Frame, lowerable: &Lowerable, pc: u64) -> Option<Effects> {
    let mut effects = execute(isa, graph, frame, lowerable.body.as_ref()?, lowerable.next)?;
    let here = graph.constant(isa.pc.width, pc);
    let stays = graph.binary(lathe_isa::operators::BinaryOperator::Equal, effects.next, here);
    match graph.as_constant(stays) {
        Some(0) => {}
        Some(_) => return None,
        None => effects.bails.push(Bail::When(stays)),
    }
    Some(effects)
}

impl Engine for Fast<'_> {
    fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        self.revalidate(state);
        self.changed.clear();
        let mut run = Run { stop: Stop::Limit, steps: 0, cycles: 0 };
        loop {
            match self.run_until_hot(state, devices, limit, &mut run) {
                Pause::Stopped(stop) => {
                    run.stop = stop;
                    return run;
                }
                Pause::Hot(pc) => self.set_heat(pc, Heat::Never),
            }
        }
    }
}
