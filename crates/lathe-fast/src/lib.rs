//! The fast interpreter: every block of instructions is decoded and lowered once per address,
//! and executed from then on as a short list of operations on slots. Blocks are linked to one
//! another, so that going on costs no lookup.
//!
//! Whatever the lowered form cannot say (faults, halting, addresses that may be mapped, stores
//! into code) is left to the reference interpreter, one instruction at a time. So there is
//! only one place that knows those. It also does the last few steps before a limit.
//!
//! Deliberately absent: compiled code, which is in `lathe-jit` and starts where this leaves off.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

mod armed;
mod banks;
mod block;
mod burst;
pub mod code_map;
mod constants;
mod decode;
mod fuse;
mod history;
mod jump_cache;
mod lower;
mod memories;
mod ops;
mod outside;
mod pairs;
#[cfg(test)]
mod tests;
mod volatile;
mod watch;
mod wide;

use std::sync::Arc;

use lathe_base::numbers::ByNumber;
use lathe_isa::Isa;
use lathe_isa::model::{Hook, MemoryId, RegisterId};
use lathe_isa::semantics::{Body, Statement};
use lathe_values::{Graph, Start};
use lathe_vm::device::Devices;
use lathe_vm::engine::Engine;
use lathe_vm::interpreter::Interpreter;
use lathe_vm::memory::CellStorage;
use lathe_vm::state::{Stamp, State};
use lathe_vm::stops::{Run, Stop, Stops};

use crate::code_map::CodeMap;
pub use armed::Armed;
use banks::Banks;
use block::Block;
use constants::Constants;
pub use decode::{Lowerable, Reading, Touched, WaysOn};
use history::History;
use jump_cache::JumpCache;
use lower::{Names, lower};
use ops::{Code, EntryId, Op, REGISTERS, SLOTS};
use outside::{Operation, Outside, operations};
use volatile::Volatile;
use watch::Instruction;

/// Operations beyond this number are forgotten all at once.
const OPERATIONS: usize = 1 << 20;
/// Times that a block is reached before it is lowered; [why](Fast::lowered_after).
const LOWERED_AFTER: u8 = 6;
/// A run that pauses at hot blocks lowers them after this share of the threshold, if that is sooner.
const SOON: u32 = 64;
/// A register is a mode if at most one in this many instructions changes it.
const RARE: usize = 16;
/// How many targets of one computed jump are remembered for those who ask.
const TARGETS: usize = 16;
/// The operation that decodes, and the one that interprets.
const DECODE: u32 = 0;
const INTERPRET: u32 = 1;

/// The fast interpreter.
pub struct Fast {
    isa: Arc<Isa>,
    reference: Interpreter,
    longest: u32,
    start: Start,
    /// The graph of the block that was lowered last. The next is built in its room.
    room: Graph,
    /// Registers, values of the running block, constants.
    slots: Box<[u64; SLOTS]>,
    constants: Constants,
    ops: Vec<Op>,
    entries: Vec<Entry>,
    by_address: ByNumber<u64, EntryId>,
    /// Entries by address, for blocks that assume nothing.
    careful: ByNumber<u64, EntryId>,
    /// Entries by address, for blocks of one instruction.
    single: ByNumber<u64, EntryId>,
    /// Where blocks may be left before their end: behind this many instructions, to other blocks.
    sides: ByNumber<EntryId, Vec<(u32, EntryId)>>,
    /// Registers that rarely change.
    modes: Vec<RegisterId>,
    /// Where each computed jump went.
    jumps: Vec<Vec<u64>>,
    jump_cache: JumpCache,
    /// Whether every block is one instruction.
    stepping: bool,
    /// Whether the machine does something else before its next instruction. Only instructions that are left to the
    /// reference interpreter can change that, so it is looked at after those, and when a run begins.
    due: bool,
    /// Whether what the machine does between instructions is part of each of them.
    has_hook_in_instructions: bool,
    jumps_by_address: ByNumber<u64, u32>,
    device_operations: Vec<Operation>,
    instructions: ByNumber<u64, Instruction>,
    /// Instructions that are looked up by their content.
    volatiles: Vec<Volatile>,
    marks: CodeMap,
    /// Memories that programs can write.
    written: Vec<MemoryId>,
    /// The registers that decide what is fetched.
    banks: Banks,
    /// How often a block must be reached before it is lowered. Until then it is interpreted: most code of a
    /// short program runs a few times only, and lowering an instruction takes as long as interpreting it about
    /// this often.
    lowered_after: u8,
    /// How often a block must be reached before the run pauses there.
    threshold: u32,
    /// Addresses of instructions that were changed since they were last asked for.
    changed: Vec<u64>,
    history: History,
    /// Instructions and accesses that are left to the reference interpreter because a run may stop there.
    armed: Arc<Armed>,
    /// Where this run stops; all of it is among those.
    stops: Stops,
    /// How often something was left to the reference interpreter at which no run stops any more.
    needless: u32,
    /// What the state was when the last run had ended.
    stamp: Option<Stamp>,
}

/// The block at one address.
#[derive(Clone, Debug)]
struct Entry {
    pc: u64,
    /// Where its operations begin.
    start: u32,
    /// How many instructions it has.
    count: u32,
    /// How often it was reached.
    visits: u32,
    /// The run pauses when it has been reached this often.
    hot_at: u32,
    /// How often it was reached before it was lowered.
    cold: u8,
}

impl Entry {
    /// Counts that it was reached without jumping to it. It does not become hot by this, but on the next jump.
    fn visit(&mut self) {
        if self.visits.wrapping_add(1) != self.hot_at {
            self.visits = self.visits.wrapping_add(1);
        }
    }
}

/// Why a run paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The machine stopped, or the limit was reached.
    Stopped(Stop),
    /// The block at this address was reached as often as the threshold says.
    Hot(u64),
}

/// What the inner loop cannot do by itself.
enum Event {
    /// There are fewer steps left than the block has instructions.
    Short(EntryId),
    Hot(EntryId),
    Decode(EntryId),
    /// The instruction at this address must be interpreted.
    Interpret(u64),
    /// The volatile instruction with this number is something that has no operations yet.
    Unknown(EntryId, u32),
    /// The volatile instruction at this entry has not changed for a long time.
    Settled(EntryId),
    /// A computed jump has gone somewhere new.
    Jump(u32, u64),
}

/// How far the reference interpreter goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HowFar {
    One,
    /// As long as instructions follow one another.
    Straight,
}

/// How soon reaching an address pauses the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// The next time.
    Always,
    /// After this many times.
    After(u32),
    /// As good as never.
    Never,
}

impl Fast {
    /// A run of no more steps is left to the reference interpreter: it would take longer to look
    /// whether all that was decoded is still there.
    pub const FEW: u64 = 16;

    /// A fast interpreter for this instruction set.
    pub fn new(isa: &Arc<Isa>) -> Self {
        let mut fast = Fast {
            isa: isa.clone(),
            reference: Interpreter::new(isa),
            longest: isa.longest(),
            start: Start::new(isa),
            room: Graph::default(),
            slots: Box::new([0; SLOTS]),
            constants: Constants::default(),
            ops: Vec::new(),
            entries: Vec::new(),
            by_address: ByNumber::default(),
            careful: ByNumber::default(),
            single: ByNumber::default(),
            sides: ByNumber::default(),
            modes: modes(isa),
            stepping: false,
            due: false,
            has_hook_in_instructions: isa.on_step.as_ref().is_some_and(Hook::is_part_of_instructions),
            jumps: Vec::new(),
            jump_cache: JumpCache::new(),
            jumps_by_address: ByNumber::default(),
            device_operations: operations(isa),
            instructions: ByNumber::default(),
            volatiles: Vec::new(),
            marks: CodeMap::new(isa),
            written: written(isa),
            banks: Banks::default(),
            lowered_after: LOWERED_AFTER,
            threshold: u32::MAX,
            changed: Vec::new(),
            history: History::default(),
            armed: Arc::new(Armed::new(&Stops::never())),
            stops: Stops::never(),
            needless: 0,
            stamp: None,
        };
        fast.forget_everything();
        fast
    }

    /// One for tests that look after every step: instructions are lowered one at a time, and executed in
    /// that form however few steps are asked for.
    pub fn stepping(isa: &Arc<Isa>) -> Self {
        Fast { stepping: true, lowered_after: 0, ..Fast::new(isa) }
    }

    /// One for tests with short programs: everything is lowered when it is first reached.
    pub fn eager(isa: &Arc<Isa>) -> Self {
        Fast { lowered_after: 0, ..Fast::new(isa) }
    }

    /// Pauses at blocks that have been reached this often. They are lowered soon enough for that.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        let soon = u8::try_from(threshold / SOON).unwrap_or(u8::MAX);
        Fast { threshold: threshold.max(1), lowered_after: LOWERED_AFTER.min(soon), ..Fast::new(isa) }
    }

    /// The instruction set it runs.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Where every block begins.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Registers of one bit that few instructions change.
    pub fn modes(&self) -> &[RegisterId] {
        &self.modes
    }

    /// The cells that must not be written behind its back.
    pub fn marks(&self) -> &CodeMap {
        &self.marks
    }

    /// Keeps permits beside the marks from now on, see [`CodeMap::keep_permits`].
    pub fn keep_permits(&mut self, room: impl FnOnce(usize) -> Option<Box<dyn CellStorage<u8>>>) {
        self.marks.keep_permits(room);
    }

    /// The addresses of instructions that were changed since this was last asked.
    pub fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.changed)
    }

    /// Where the computed jump at this address went so far.
    pub fn targets(&self, pc: u64) -> impl Iterator<Item = u64> {
        let jump = self.jumps_by_address.get(&pc).map(|jump| &self.jumps[*jump as usize]);
        jump.into_iter().flatten().copied()
    }

    /// Sets when the run pauses at an address.
    pub fn set_heat(&mut self, pc: u64, heat: Heat) {
        let distance = match heat {
            Heat::Always => 1,
            Heat::After(times) => times.max(1),
            Heat::Never => u32::MAX,
        };
        for id in [Some(self.entry(pc)), self.careful.get(&pc).copied()].into_iter().flatten() {
            let entry = &mut self.entries[id as usize];
            entry.hot_at = entry.visits.wrapping_add(distance);
        }
    }

    /// Counts that another engine has reached an address this often. Whether it is hot now.
    pub fn warm(&mut self, pc: u64, times: u32) -> bool {
        let id = self.entry(pc);
        let entry = &mut self.entries[id as usize];
        let distance = entry.hot_at.wrapping_sub(entry.visits).saturating_sub(times);
        entry.hot_at = entry.visits.wrapping_add(distance.max(1));
        distance == 0
    }

    /// Whether an address becomes hot by being reached often enough.
    pub fn may_become_hot(&self, pc: u64) -> bool {
        let id = self.by_address.get(&pc);
        let entry = id.map(|id| &self.entries[*id as usize]);
        entry.is_none_or(|entry| entry.hot_at.wrapping_sub(entry.visits) <= u32::MAX / 2)
    }

    /// About how often the instruction at an address has been executed since its block was lowered. Blocks
    /// count how often they are reached; after a branch it is assumed that those who left there are the ones
    /// who reached the block it leads to, from whichever of the blocks around the address that have such a branch before it.
    pub fn executions(&self, pc: u64) -> u64 {
        let visits = |id: EntryId| u64::from(self.entries[id as usize].visits);
        let at = [self.by_address.get(&pc), self.careful.get(&pc)].into_iter().flatten();
        let around = self.instructions.get(&pc).into_iter().flat_map(Instruction::blocks);
        let (mut certain, mut reached, mut left) = (0, 0, Vec::new());
        for (id, position) in around.filter(|(_, position)| *position > 0) {
            let sides = self.sides.get(&id).into_iter().flatten();
            let before = left.len();
            left.extend(sides.take_while(|(behind, _)| *behind <= position).map(|(_, to)| *to));
            let count = if left.len() == before { &mut certain } else { &mut reached };
            *count += visits(id);
        }
        left.sort_unstable();
        left.dedup();
        let left: u64 = left.into_iter().map(visits).sum();
        at.map(|id| visits(*id)).sum::<u64>() + certain + reached.saturating_sub(left)
    }

    /// Runs until the machine stops, the limit is reached or an address is hot.
    pub fn run_until_hot(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Pause {
        self.take_registers(state);
        let mut left = limit - run.steps;
        let began = (state.pc, left);
        let mut entry = if left == 1 { self.single_entry(state.pc) } else { self.reach(state.pc) };
        let mut is_unknown = false;
        let pause = loop {
            let Entry { pc, count, .. } = self.entries[entry as usize];
            if std::mem::take(&mut is_unknown) || self.due || self.is_paused() || left < u64::from(count) {
                state.pc = pc;
                if left == 0 {
                    break Pause::Stopped(Stop::Limit);
                }
                if let Some(stop) = self.interpret(HowFar::One, state, devices, run, limit, &mut left) {
                    break Pause::Stopped(stop);
                }
                entry = self.reach(state.pc);
                continue;
            }
            match self.burst(entry, &mut left, state, &mut Outside { devices, limit }, run) {
                Event::Short(next) => entry = next,
                Event::Hot(next) => {
                    let hot = &mut self.entries[next as usize];
                    hot.hot_at = hot.visits.wrapping_add(1);
                    // A block for other modes than the present ones leads to one for any mode at the same
                    // address. The caller has just been told that it is hot.
                    if (hot.pc, left) == began {
                        entry = next;
                        continue;
                    }
                    state.pc = hot.pc;
                    break Pause::Hot(hot.pc);
                }
                Event::Decode(next) if self.is_cold(next) => {
                    state.pc = self.entries[next as usize].pc;
                    if let Some(stop) = self.interpret(HowFar::Straight, state, devices, run, limit, &mut left) {
                        break Pause::Stopped(stop);
                    }
                    entry = self.reach(state.pc);
                }
                Event::Decode(next) => entry = self.lower_entry(state, next),
                Event::Jump(jump, target) => {
                    entry = self.entry(target);
                    self.remember(jump, target, entry);
                }
                Event::Settled(at) => {
                    self.settle(self.entries[at as usize].pc);
                    entry = at;
                }
                Event::Unknown(at, _) if self.ops.len() > OPERATIONS => {
                    let pc = self.entries[at as usize].pc;
                    self.begin_again();
                    entry = self.entry(pc);
                }
                Event::Unknown(at, number) if self.add_variant(state, at, number) => entry = at,
                // It is interpreted.
                Event::Unknown(at, _) => (entry, is_unknown) = (at, true),
                Event::Interpret(pc) => {
                    state.pc = pc;
                    if let Some(stop) = self.interpret(HowFar::One, state, devices, run, limit, &mut left) {
                        break Pause::Stopped(stop);
                    }
                    entry = self.reach(state.pc);
                }
            }
        };
        run.steps = limit - left;
        self.give_registers(state);
        pause
    }

    /// Whether banks change so often that everything is interpreted for a while. What was decoded may not be there now.
    pub fn is_paused(&self) -> bool {
        self.banks.are_paused()
    }

    /// Whether the machine does something else before its next instruction, which is for the reference interpreter.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Looks whether the machine does something else before its next instruction.
    pub(crate) fn look_whether_due(&mut self, state: &State) {
        self.due = !self.has_hook_in_instructions && self.reference.is_due(state);
    }

    /// Whether a block that has not been lowered is better interpreted this time.
    fn is_cold(&mut self, entry: EntryId) -> bool {
        let cold = &mut self.entries[entry as usize].cold;
        let is_cold = *cold < self.lowered_after;
        *cold = cold.saturating_add(1);
        is_cold
    }

    /// Lets the reference interpreter do some instructions, unless the run stops before them.
    fn interpret(
        &mut self,
        how_far: HowFar,
        state: &mut State,
        devices: &mut Devices,
        run: &mut Run,
        limit: u64,
        left: &mut u64,
    ) -> Option<Stop> {
        self.give_registers(state);
        let stop = loop {
            let pc = state.pc;
            devices.catch_up(limit - *left, run.cycles);
            let stop = self.interpret_in(state, devices, run, limit, left);
            let follows = (1..=u64::from(self.longest)).contains(&state.pc.wrapping_sub(pc));
            let goes_on = how_far == HowFar::Straight && follows || self.banks.go_on(limit - *left);
            if stop.is_some() || !goes_on || *left == 0 {
                break stop;
            }
        };
        if self.is_paused() && !self.banks.go_on(limit - *left) {
            self.end_pause(state);
        }
        self.take_registers(state);
        self.look_whether_due(state);
        stop
    }

    /// Lets the reference interpreter do one instruction on registers that are all in the state, unless the run
    /// stops before it. The instruction that a run begins with is executed in any case.
    fn interpret_in(
        &mut self,
        state: &mut State,
        devices: &mut Devices,
        run: &mut Run,
        limit: u64,
        left: &mut u64,
    ) -> Option<Stop> {
        let pc = state.pc;
        if *left < limit && self.stops.breakpoints.contains(&pc) {
            return Some(Stop::Breakpoint);
        }
        self.note_interpreted(state, pc);
        let step = self.reference.step(state, devices);
        let code = self.isa.pc.memory;
        let written = self.reference.written().filter(|(memory, _)| *memory == code).map(|(_, address)| address);
        // Most instructions write nothing, and then nothing is allocated.
        let written: Vec<u64> = written.collect();
        written.into_iter().for_each(|address| self.note_store(state, address));
        self.note_banks(state, limit - *left + step.executed());
        run.cycles = run.cycles.wrapping_add(step.cycles);
        *left -= step.executed();
        if step.stop.is_none()
            && let Some(jump) = self.jumps_by_address.get(&pc).copied()
        {
            let entry = self.entry(state.pc);
            self.remember(jump, state.pc, entry);
        }
        self.note_needless(pc);
        self.reference.stop_after(step, state, &self.stops)
    }

    /// The entry of an address that was reached without a jump from another block.
    fn reach(&mut self, pc: u64) -> EntryId {
        let id = self.entry(pc);
        self.entries[id as usize].visit();
        id
    }

    /// The entry of an address, to be decoded when it is reached.
    fn entry(&mut self, pc: u64) -> EntryId {
        self.find_or_add(pc, |fast| &mut fast.by_address)
    }

    /// The entry of an address for a block of one instruction.
    fn single_entry(&mut self, pc: u64) -> EntryId {
        self.find_or_add(pc, |fast| &mut fast.single)
    }

    /// The entry of an address among those of one kind.
    fn find_or_add(&mut self, pc: u64, kind: impl Fn(&mut Fast) -> &mut ByNumber<u64, EntryId>) -> EntryId {
        if let Some(id) = kind(self).get(&pc) {
            return *id;
        }
        let id = self.new_entry(pc);
        kind(self).insert(pc, id);
        id
    }

    fn new_entry(&mut self, pc: u64) -> EntryId {
        self.entries.push(Entry { pc, start: DECODE, count: 1, visits: 0, hot_at: self.threshold, cold: 0 });
        self.entries.len() as EntryId - 1
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
        if targets.len() < TARGETS && !targets.contains(&target) {
            targets.push(target);
        }
        self.jump_cache.insert(jump, target, entry);
    }

    /// Forgets everything that was decoded. Marks stay, which costs detours only.
    fn forget_everything(&mut self) {
        self.changed.extend(self.instructions.keys());
        self.changed.sort_unstable();
        self.ops.clear();
        self.entries.clear();
        self.by_address.clear();
        self.careful.clear();
        self.single.clear();
        self.sides.clear();
        self.jumps.clear();
        self.jump_cache = JumpCache::new();
        self.jumps_by_address.clear();
        self.instructions.clear();
        self.volatiles.clear();
        self.constants.clear();
        self.ops.extend([Op::new(Code::Decode), Op::new(Code::InterpretEntry)]);
    }

    /// There are too many operations. What has too many places for all of them would lower them again and again, so each must be reached twice
    /// as often the next time.
    fn begin_again(&mut self) {
        self.forget_everything();
        self.lowered_after = self.lowered_after.saturating_mul(2);
    }

    /// Decodes and lowers an entry. The entry may have another id afterwards, because all of
    /// them are forgotten when there are too many operations.
    fn lower_entry(&mut self, state: &State, id: EntryId) -> EntryId {
        let pc = self.entries[id as usize].pc;
        if self.ops.len() > OPERATIONS {
            self.begin_again();
        }
        // One of another kind keeps its entry, unless it was forgotten with all others.
        let is_single = self.single.get(&pc) == Some(&id);
        let is_careful = is_single || self.careful.get(&pc) == Some(&id);
        let id = if is_careful { id } else { self.entry(pc) };
        let most = if is_single || self.stepping { 1 } else { usize::MAX };
        let lowered = self.lower_block(state, pc, is_careful, most);
        match lowered {
            Some((ops, block)) => {
                let entry = &mut self.entries[id as usize];
                (entry.start, entry.count) = (self.ops.len() as u32, block.steps.len() as u32);
                self.ops.extend(ops);
                for (position, (pc, decoded)) in block.decoded.iter().enumerate() {
                    self.watch_in_block(state, *pc, decoded, (id, position as u32));
                }
                let sides = block.sides().map(|(behind, target)| (behind, self.entry(target))).collect();
                self.sides.insert(id, sides);
                // What it goes on with is about as warm, and would be interpreted for as long once more.
                if let Some((next, _)) = block.way_on() {
                    let next = self.entry(next);
                    self.entries[next as usize].cold = self.lowered_after;
                }
                self.room = block.graph;
            }
            None => {
                let decoded = self.decode(state, pc);
                self.watch_in_block(state, pc, &decoded, (id, 0));
                let is_stop = self.armed.stops.breakpoints.contains(&pc);
                let start = if decoded.reading.volatile && !is_stop { self.select(pc) } else { INTERPRET };
                let entry = &mut self.entries[id as usize];
                (entry.start, entry.count) = (start, 1);
            }
        }
        id
    }

    /// The operations of the block at an address, of at most this many instructions. One that is too large is made of
    /// fewer.
    fn lower_block(&mut self, state: &State, pc: u64, careful: bool, mut most: usize) -> Option<(Vec<Op>, Block)> {
        let modes = self.modes.iter().filter(|_| !careful);
        let modes: Vec<(RegisterId, u64)> = modes.map(|id| (*id, self.slots[id.index()])).collect();
        loop {
            let room = std::mem::take(&mut self.room);
            let block = block::build(self, state, pc, most, &modes, room)?;
            let ops = self.with_constants(|fast, constants| lower(&fast.isa.clone(), &block, fast, constants));
            match ops {
                Some(ops) => return Some((ops, block)),
                None => most = Some(block.steps.len() / 2).filter(|most| *most > 0)?,
            }
        }
    }

    /// Does something with the constants, which are not there meanwhile.
    fn with_constants<T>(&mut self, act: impl FnOnce(&mut Self, &mut Constants) -> T) -> T {
        let mut constants = std::mem::take(&mut self.constants);
        let done = act(self, &mut constants);
        constants.slots().for_each(|(slot, value)| self.slots[slot] = value);
        self.constants = constants;
        done
    }

    fn take_registers(&mut self, state: &State) {
        let count = state.registers().len().min(REGISTERS);
        self.slots[..count].copy_from_slice(&state.registers()[..count]);
    }

    fn give_registers(&self, state: &mut State) {
        let count = state.registers().len().min(REGISTERS);
        state.registers_mut()[..count].copy_from_slice(&self.slots[..count]);
    }
}

/// The memories that programs can write.
fn written(isa: &Isa) -> Vec<MemoryId> {
    let maps = isa.maps.iter().flat_map(|mapping| [&mapping.read, &mapping.write]);
    let between = isa.on_step.iter().map(|hook| &hook.body).chain(&isa.on_illegal);
    let rows = isa.instructions.iter().map(|instruction| &*instruction.body);
    let mut written = Vec::new();
    for body in rows.chain(maps).chain(between) {
        visit(body, |statement| match statement {
            Statement::Store { memory, .. } if !written.contains(memory) => written.push(*memory),
            _ => {}
        });
    }
    written
}

/// Single bits that few instructions change, such as whether arithmetic is decimal. Blocks are made for the
/// value that they have.
fn modes(isa: &Isa) -> Vec<RegisterId> {
    let mut writers = vec![0; isa.registers.len().min(REGISTERS)];
    let rows = isa.instructions.iter().map(|instruction| (&*instruction.body, 1));
    // Where a hook is part of every instruction, so is what it changes.
    let often = isa.on_step.iter().filter(|hook| hook.is_part_of_instructions());
    for (body, times) in rows.chain(often.map(|hook| (&hook.body, isa.instructions.len()))) {
        let mut changed = Vec::new();
        visit(body, |statement| match statement {
            Statement::SetRegister(register, _) if !changed.contains(register) => changed.push(*register),
            _ => {}
        });
        for register in changed {
            if let Some(count) = writers.get_mut(register.index()) {
                *count += times;
            }
        }
    }
    let is_mode = |(register, writers): &(RegisterId, usize)| {
        isa.register(*register).is_flag() && writers * RARE <= isa.instructions.len()
    };
    (0..).map(RegisterId).zip(writers).filter(is_mode).map(|(register, _)| register).collect()
}

/// All statements of a body.
fn visit(body: &Body, mut see: impl FnMut(&Statement)) {
    body.block.iter().for_each(|statement| statement.visit(&mut see));
}

impl Names for Fast {
    fn entry(&mut self, address: u64) -> EntryId {
        Fast::entry(self, address)
    }

    fn careful_entry(&mut self, address: u64) -> EntryId {
        self.find_or_add(address, |fast| &mut fast.careful)
    }

    fn jump(&mut self, address: u64) -> u32 {
        Fast::jump(self, address)
    }
}

impl Engine for Fast {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        let limit = stops.limit;
        if !state.fits(&self.isa) || (limit <= Fast::FEW && !self.stepping) {
            return self.reference.advance(state, devices, stops);
        }
        self.arm(stops);
        self.revalidate(state);
        self.changed.clear();
        let mut run = Run::new();
        loop {
            match self.run_until_hot(state, devices, limit, &mut run) {
                Pause::Stopped(stop) => {
                    run.stop = stop;
                    self.take_note_of(state);
                    return stops.at_limit(run, state);
                }
                Pause::Hot(pc) => self.set_heat(pc, Heat::Never),
            }
        }
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        &mut self.reference
    }
}
