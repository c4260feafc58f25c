//! The fast interpreter: every block of instructions is decoded and lowered once per address,
//! and executed from then on as a short list of operations on slots. Blocks are linked to one
//! another, so that going on costs no lookup.
//!
//! Whatever the lowered form cannot say (devices, faults, halting, mapped addresses, stores
//! into code) is left to the reference interpreter, one instruction at a time. So there is
//! only one place that knows those. It also does the last few steps before a limit.

mod block;
mod burst;
mod decode;
mod history;
mod lower;
mod ops;
mod watch;

use std::collections::HashMap;

use lathe_isa::Isa;

use crate::code_map::CodeMap;
use crate::device::Devices;
use crate::engine::Engine;
use crate::interpreter::{Interpreter, Run, Stop};
use crate::state::State;
use block::{Block, End};
pub use decode::{Lowerable, Reading};
use history::History;
use lower::{Constants, Ways, lower};
use ops::{Code, EntryId, Op, SLOTS};
use watch::Instruction;

/// Operations beyond this number are forgotten all at once.
const OPERATIONS: usize = 1 << 20;
/// How many targets of one computed jump are remembered.
const TARGETS: usize = 16;
/// A block that was left so often is made of single instructions instead, so that not all of it
/// is interpreted.
const LEFT_OFTEN: u8 = 4;
/// The operation that decodes, and the one that interprets.
const DECODE: u32 = 0;
const INTERPRET: u32 = 1;

/// The fast interpreter.
pub struct Fast<'i> {
    isa: &'i Isa,
    reference: Interpreter<'i>,
    longest: u32,
    /// Registers, values of the running block, constants.
    slots: Box<[u64; SLOTS]>,
    constants: Constants,
    ops: Vec<Op>,
    entries: Vec<Entry>,
    by_address: HashMap<u64, EntryId>,
    /// Where each computed jump went.
    jumps: Vec<Vec<(u64, EntryId)>>,
    /// Whether every block is one instruction.
    stepping: bool,
    jumps_by_address: HashMap<u64, u32>,
    instructions: HashMap<u64, Instruction>,
    marks: CodeMap,
    /// How often an address must be jumped to before the run pauses there.
    threshold: i32,
    /// Addresses of instructions that were changed since they were last asked for.
    changed: Vec<u64>,
    history: History,
}

/// The block at one address.
#[derive(Clone, Debug)]
struct Entry {
    pc: u64,
    /// Where its operations begin.
    start: u32,
    /// How many instructions it has.
    count: u32,
    /// Counts up to zero.
    heat: i32,
    /// How often it was left to the reference interpreter.
    left: u8,
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
    /// There are fewer steps left than the block has instructions.
    Short(EntryId),
    Hot(EntryId),
    Decode(EntryId),
    /// The instruction with this number in the block must be interpreted.
    Interpret(EntryId, u32),
    /// A computed jump has gone somewhere new.
    Jump(u32, u64),
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

impl<'i> Fast<'i> {
    /// A run of no more steps is left to the reference interpreter: it would take longer to look
    /// whether all that was decoded is still there.
    pub const FEW: u64 = 16;

    /// A fast interpreter for this instruction set.
    pub fn new(isa: &'i Isa) -> Self {
        let mut fast = Fast {
            isa,
            reference: Interpreter::new(isa),
            longest: isa.longest(),
            slots: Box::new([0; SLOTS]),
            constants: Constants::new(isa.registers.len()),
            ops: Vec::new(),
            entries: Vec::new(),
            by_address: HashMap::new(),
            stepping: false,
            jumps: Vec::new(),
            jumps_by_address: HashMap::new(),
            instructions: HashMap::new(),
            marks: CodeMap::new(isa),
            threshold: i32::MAX,
            changed: Vec::new(),
            history: History::default(),
        };
        fast.forget_everything();
        fast
    }

    /// One for tests that look after every step: instructions are lowered one at a time, and executed in
    /// that form however few steps are asked for.
    pub fn stepping(isa: &'i Isa) -> Self {
        Fast { stepping: true, ..Fast::new(isa) }
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

    /// The addresses of instructions that were changed since this was last asked.
    pub fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.changed)
    }

    /// Where the computed jump at this address went so far.
    pub fn targets(&self, pc: u64) -> impl Iterator<Item = u64> {
        let jump = self.jumps_by_address.get(&pc).map(|jump| &self.jumps[*jump as usize]);
        jump.into_iter().flatten().map(|(target, _)| *target)
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

    /// Counts so many jumps to an address that were done by another engine. Whether it is hot now.
    pub fn warm(&mut self, pc: u64, jumps: i32) -> bool {
        let id = self.entry(pc);
        let heat = &mut self.entries[id as usize].heat;
        *heat = heat.saturating_add(jumps).min(0);
        let is_hot = *heat == 0;
        if is_hot {
            *heat = -1;
        }
        is_hot
    }

    /// Runs until the machine stops, the limit is reached or an address is hot.
    pub fn run_until_hot(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Pause {
        self.take_registers(state);
        let mut left = limit - run.steps;
        let mut entry = self.entry(state.pc);
        let mut due = self.is_due(state);
        let pause = loop {
            let Entry { pc, count, .. } = self.entries[entry as usize];
            if due || left < u64::from(count) {
                state.pc = pc;
                if left == 0 {
                    break Pause::Stopped(Stop::Limit);
                }
                if let Some(stop) = self.interpret(state, devices, run, &mut left, 1) {
                    break Pause::Stopped(stop);
                }
                entry = self.entry(state.pc);
                due = self.is_due(state);
                continue;
            }
            match self.burst(entry, &mut left, state, run) {
                Event::Short(next) => entry = next,
                Event::Hot(next) => {
                    let hot = &mut self.entries[next as usize];
                    hot.heat = -1;
                    state.pc = hot.pc;
                    break Pause::Hot(hot.pc);
                }
                Event::Decode(next) => entry = self.lower_entry(state, next),
                Event::Jump(jump, target) => {
                    entry = self.entry(target);
                    self.remember(jump, target, entry);
                }
                Event::Interpret(at, index) => {
                    state.pc = self.entries[at as usize].pc;
                    self.note_left(at);
                    if let Some(stop) = self.interpret(state, devices, run, &mut left, u64::from(index) + 1) {
                        break Pause::Stopped(stop);
                    }
                    entry = self.entry(state.pc);
                    due = self.is_due(state);
                }
            }
        };
        run.steps = limit - left;
        self.give_registers(state);
        pause
    }

    /// Whether the machine does something else before its next instruction. Only instructions that
    /// are left to the reference interpreter can change that.
    pub fn is_due(&mut self, state: &State) -> bool {
        self.reference.is_due(state)
    }

    /// Lets the reference interpreter do so many instructions, no more than there are steps left.
    fn interpret(
        &mut self,
        state: &mut State,
        devices: &mut Devices,
        run: &mut Run,
        left: &mut u64,
        count: u64,
    ) -> Option<Stop> {
        self.give_registers(state);
        let stop = (0..count).find_map(|_| self.interpret_one(state, devices, run, left));
        self.take_registers(state);
        stop
    }

    fn interpret_one(
        &mut self,
        state: &mut State,
        devices: &mut Devices,
        run: &mut Run,
        left: &mut u64,
    ) -> Option<Stop> {
        let pc = state.pc;
        self.note_interpreted(state, pc);
        let step = self.reference.step(state, devices);
        let code = self.isa.pc.memory;
        let written: Vec<u64> =
            self.reference.written().filter(|(memory, _)| *memory == code).map(|(_, address)| address).collect();
        written.into_iter().for_each(|address| self.note_store(state, address));
        run.cycles += step.cycles;
        *left -= u64::from(!matches!(step.stop, Some(Stop::Fault(_))));
        if step.stop.is_none()
            && let Some(jump) = self.jumps_by_address.get(&pc).copied()
        {
            let entry = self.entry(state.pc);
            self.remember(jump, state.pc, entry);
        }
        step.stop
    }

    /// A block that is left often becomes one of a single instruction.
    fn note_left(&mut self, id: EntryId) {
        let entry = &mut self.entries[id as usize];
        if entry.count > 1 {
            entry.left = entry.left.saturating_add(1);
            if entry.left >= LEFT_OFTEN {
                self.forget_block(id);
            }
        }
    }

    /// The entry of an address, to be decoded when it is reached.
    fn entry(&mut self, pc: u64) -> EntryId {
        if let Some(id) = self.by_address.get(&pc) {
            return *id;
        }
        let id = self.entries.len() as EntryId;
        self.entries.push(Entry { pc, start: DECODE, count: 1, heat: -self.threshold, left: 0 });
        self.by_address.insert(pc, id);
        id
    }

    /// The computed jump at an address.
    fn jump(&mut self, pc: u64) -> u32 {
        let next = self.jumps.len() as u32;
        let jump = *self.jumps_by_address.entry(pc).or_insert(next);
        if jump == next {
            self.jumps.push(Vec::new());
        }
        jump
    }

    fn remember(&mut self, jump: u32, target: u64, entry: EntryId) {
        let targets = &mut self.jumps[jump as usize];
        if targets.len() < TARGETS && targets.iter().all(|(known, _)| *known != target) {
            targets.push((target, entry));
        }
    }

    /// Forgets everything that was decoded. Marks stay, which costs detours only.
    fn forget_everything(&mut self) {
        self.changed.extend(self.instructions.keys());
        self.changed.sort_unstable();
        self.ops.clear();
        self.entries.clear();
        self.by_address.clear();
        self.jumps.clear();
        self.jumps_by_address.clear();
        self.instructions.clear();
        self.constants.clear();
        let op = |code| Op { code, into: 0, x: 0, y: 0, extra: 0 };
        self.ops.extend([op(Code::Decode), op(Code::Interpret)]);
    }

    /// Decodes and lowers an entry. The entry may have another id afterwards, because all of
    /// them are forgotten when there are too many operations.
    fn lower_entry(&mut self, state: &State, id: EntryId) -> EntryId {
        let Entry { pc, left, .. } = self.entries[id as usize];
        if self.ops.len() > OPERATIONS || self.constants.are_full() {
            self.forget_everything();
        }
        let id = self.entry(pc);
        let most = if self.stepping || left >= LEFT_OFTEN { 1 } else { usize::MAX };
        let lowered = block::build(self, state, pc, most).and_then(|block| {
            let ways = self.ways(&block);
            Some((lower(&block, &ways, &mut self.constants)?, block))
        });
        match lowered {
            Some((ops, block)) => {
                let entry = &mut self.entries[id as usize];
                (entry.start, entry.count) = (self.ops.len() as u32, block.steps.len() as u32);
                self.ops.extend(ops);
                self.constants.slots().for_each(|(slot, value)| self.slots[slot] = value);
                for (pc, reading) in &block.readings {
                    self.watch_in_block(state, *pc, reading, id);
                }
            }
            None => {
                let reading = self.decode(state, pc).reading;
                self.watch_in_block(state, pc, &reading, id);
                let entry = &mut self.entries[id as usize];
                (entry.start, entry.count) = (INTERPRET, 1);
            }
        }
        id
    }

    fn ways(&mut self, block: &Block) -> Ways {
        let mut way = |target: u64| (self.entry(target), target <= block.last);
        match block.end {
            End::Goto(target) => {
                let (entry, back) = way(target);
                Ways::Goto(entry, back)
            }
            End::Branch(condition, taken, other) => Ways::Branch(condition, way(taken), way(other)),
            End::Jump(target) => Ways::Jump(target, self.jump(block.last)),
        }
    }

    fn take_registers(&mut self, state: &State) {
        self.slots[..state.registers().len()].copy_from_slice(state.registers());
    }

    fn give_registers(&self, state: &mut State) {
        let registers = state.registers_mut();
        registers.copy_from_slice(&self.slots[..registers.len()]);
    }
}

impl Engine for Fast<'_> {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        if limit <= Fast::FEW && !self.stepping {
            return self.reference.advance(state, devices, limit);
        }
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
