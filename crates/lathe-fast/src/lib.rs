//! The fast interpreter: it decodes and lowers every block of instructions once per address, and executes it from then
//! on as a short list of operations on slots. Blocks are linked, so that going from one to the next costs no lookup.
//!
//! Whatever the lowered form cannot express (faults, halting, addresses that may be mapped, stores into code) is left
//! to the reference interpreter, one instruction at a time, so it is implemented only once. The reference interpreter
//! also executes the last few steps before a limit.
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
mod execute;
mod flow;
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
pub use decode::{Lowerable, Reading, WaysOn};
use flow::{Beginning, Ready};
use history::History;
use jump_cache::JumpCache;
use lower::{Names, lower};
use ops::{EntryId, Op, REGISTERS, SLOTS, Slots};
use outside::{Operation, Outside, operations};
use volatile::Volatile;
use watch::Instruction;

/// The engine forgets all operations once there are more than this.
const OPERATIONS: usize = 1 << 20;
/// How often a block is reached before it is lowered; [why](Fast::lowered_after).
const LOWERED_AFTER: u8 = 6;
/// An engine that pauses at hot blocks lowers a block after this share of the threshold, if that is sooner.
const SOON: u32 = 64;
/// A register is a mode if at most one in this many instructions changes it.
const RARE: usize = 16;
/// How many targets of a computed jump are remembered for other engines.
const TARGETS: usize = 16;

/// The fast interpreter.
pub struct Fast {
    isa: Arc<Isa>,
    reference: Interpreter,
    longest: u32,
    start: Start,
    /// The graph of the block lowered last. The next block reuses its allocation.
    room: Graph,
    /// Registers, values of the running block, constants.
    slots: Box<Slots>,
    constants: Constants,
    ops: Vec<Ready>,
    entries: Vec<Entry>,
    by_address: ByNumber<u64, EntryId>,
    /// Entries by address, for blocks that assume nothing.
    careful: ByNumber<u64, EntryId>,
    /// Entries by address, for blocks of one instruction.
    single: ByNumber<u64, EntryId>,
    /// Side exits of each block: after how many instructions, and to which block.
    sides: ByNumber<EntryId, Vec<(u32, EntryId)>>,
    /// Registers that rarely change.
    modes: Vec<RegisterId>,
    /// Targets of each computed jump.
    jumps: Vec<Vec<u64>>,
    jump_cache: JumpCache,
    /// Whether every block is one instruction.
    stepping: bool,
    /// Whether the machine does something else before its next instruction. Only instructions that are left to the
    /// reference interpreter can change that, so the engine checks after each of them, and at the start of a run.
    due: bool,
    /// Whether the hook between instructions is part of every instruction.
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
    /// How often a block must be reached before it is lowered. Until then it is interpreted: most code of a short
    /// program runs only a few times, and lowering an instruction takes as long as interpreting it about this often.
    lowered_after: u8,
    /// How often a block must be reached before the run pauses there.
    threshold: u32,
    /// Addresses of instructions that have changed since the last [`take_changed`](Fast::take_changed).
    changed: Vec<u64>,
    history: History,
    /// Instructions and accesses that are left to the reference interpreter because a run may stop there.
    armed: Arc<Armed>,
    /// Where this run stops: some or all of what is armed.
    stops: Stops,
    /// How often something was left to the reference interpreter for a stop that the current run does not have.
    needless: u32,
    /// Identifies the state that the last run left.
    stamp: Option<Stamp>,
}

/// The block at one address.
#[derive(Clone, Debug)]
struct Entry {
    pc: u64,
    /// Where the operations of the block begin.
    start: Beginning,
    /// How many instructions the block has.
    count: u32,
    /// How often the block was reached.
    visits: u32,
    /// The number of visits at which the run pauses.
    hot_at: u32,
    /// How often the block was reached before it was lowered.
    cold: u8,
}

impl Entry {
    /// Counts a visit that was not a jump. Such a visit never makes the block hot; the next jump to it does.
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
    /// The block at this address has been reached often enough to be hot.
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
    /// The volatile instruction with this number has a content without operations.
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
    /// While instructions follow one another.
    Straight,
}

/// How soon reaching an address pauses the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heat {
    /// The next time.
    Always,
    /// After this many times.
    After(u32),
    /// Practically never.
    Never,
}

/// Whether an address is hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmth {
    /// It is.
    Hot,
    /// It will be, after more visits.
    Warming,
    /// Practically never.
    Never,
}

impl Fast {
    /// Runs of at most this many steps go to the reference interpreter: checking whether all decoded instructions are
    /// still there would take longer.
    pub const FEW: u64 = 16;

    /// Creates a fast interpreter for this instruction set.
    pub fn new(isa: &Arc<Isa>) -> Self {
        let mut fast = Fast {
            isa: isa.clone(),
            reference: Interpreter::new(isa),
            longest: isa.longest(),
            start: Start::new(isa),
            room: Graph::default(),
            slots: Box::new(Slots([0; SLOTS])),
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

    /// Creates an engine for tests that check after every step: it lowers instructions one at a time, and executes them
    /// in that form however few steps are asked for.
    pub fn stepping(isa: &Arc<Isa>) -> Self {
        Fast { stepping: true, lowered_after: 0, ..Fast::new(isa) }
    }

    /// Creates an engine for tests with short programs: it lowers everything when it is first reached.
    pub fn eager(isa: &Arc<Isa>) -> Self {
        Fast { lowered_after: 0, ..Fast::new(isa) }
    }

    /// Creates an engine that pauses at blocks reached this often, and lowers them soon enough for that.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        let soon = u8::try_from(threshold / SOON).unwrap_or(u8::MAX);
        Fast { threshold: threshold.max(1), lowered_after: LOWERED_AFTER.min(soon), ..Fast::new(isa) }
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Returns the graph and the state where every block begins.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// Returns the modes: registers of one bit that few instructions change.
    pub fn modes(&self) -> &[RegisterId] {
        &self.modes
    }

    /// Returns the cells that must not be written behind the engine's back.
    pub fn marks(&self) -> &CodeMap {
        &self.marks
    }

    /// Keeps permits along with the marks from now on, see [`CodeMap::keep_permits`].
    pub fn keep_permits(&mut self, room: impl FnOnce(usize) -> Option<Box<dyn CellStorage<u8>>>) {
        self.marks.keep_permits(room);
    }

    /// Returns the addresses of instructions that have changed since the last call.
    pub fn take_changed(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.changed)
    }

    /// Returns the targets so far of the computed jump at this address.
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

    /// Counts visits of another engine to an address.
    pub fn warm(&mut self, pc: u64, times: u32) -> Warmth {
        let id = self.entry(pc);
        let entry = &mut self.entries[id as usize];
        let missing = entry.hot_at.wrapping_sub(entry.visits);
        let distance = missing.saturating_sub(times);
        entry.hot_at = entry.visits.wrapping_add(distance.max(1));
        match distance {
            0 => Warmth::Hot,
            _ if missing <= u32::MAX / 2 => Warmth::Warming,
            _ => Warmth::Never,
        }
    }

    /// Estimates how often the instruction at an address has been executed since its block was lowered, from the visits
    /// of the blocks that contain it. Where those have side exits before the instruction, all visits of the blocks that
    /// the exits lead to are assumed to come from there.
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

    /// Runs until the machine stops or the limit is reached.
    pub fn run_on(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Stop {
        match self.run_blocks(false, state, devices, limit, run) {
            Pause::Stopped(stop) => stop,
            Pause::Hot(_) => unreachable!("it has not been asked to pause"),
        }
    }

    /// Runs until the machine stops, the limit is reached or an address is hot.
    pub fn run_until_hot(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Pause {
        self.run_blocks(true, state, devices, limit, run)
    }

    /// Runs until the machine stops, the limit is reached or, if asked to pause there, an address is hot.
    fn run_blocks(
        &mut self,
        pauses: bool,
        state: &mut State,
        devices: &mut Devices,
        limit: u64,
        run: &mut Run,
    ) -> Pause {
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
            match self.burst(entry, &mut left, state, Outside { devices, limit }, run) {
                Event::Short(next) => entry = next,
                Event::Hot(next) => {
                    // Where nobody compiles, counting begins again.
                    let distance = if self.threshold == u32::MAX { u32::MAX } else { 1 };
                    let hot = &mut self.entries[next as usize];
                    hot.hot_at = hot.visits.wrapping_add(distance);
                    // Unless it has been asked to pause, it goes on, and also where it began: a block for modes that no
                    // longer hold leads to the careful block at the same address, without executing anything. The
                    // caller has just been told that this address is hot.
                    if !pauses || (hot.pc, left) == began {
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
                // The instruction is interpreted.
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

    /// Whether everything is interpreted for a while because banks change too often. Decoded instructions may be stale
    /// then.
    pub fn is_paused(&self) -> bool {
        self.banks.are_paused()
    }

    /// Whether the machine does something else before its next instruction, as only the reference interpreter can.
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Updates whether the machine does something else before its next instruction.
    pub(crate) fn look_whether_due(&mut self, state: &State) {
        self.due = !self.has_hook_in_instructions && self.reference.is_due(state);
    }

    /// Counts a visit to a block that has not been lowered. Returns whether interpreting it is better this time.
    fn is_cold(&mut self, entry: EntryId) -> bool {
        let cold = &mut self.entries[entry as usize].cold;
        let is_cold = *cold < self.lowered_after;
        *cold = cold.saturating_add(1);
        is_cold
    }

    /// Executes one or more instructions in the reference interpreter, unless the run stops before them.
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

    /// Executes one instruction in the reference interpreter, with all registers in the state, unless the run stops
    /// before it. The first instruction of a run is executed in any case.
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
        // Most instructions write nothing, so nothing is allocated for them.
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

    /// Returns the entry of an address that was reached without a jump from another block, and counts the visit.
    fn reach(&mut self, pc: u64) -> EntryId {
        let id = self.entry(pc);
        self.entries[id as usize].visit();
        id
    }

    /// Returns the entry of an address. A new one is decoded when it is reached.
    fn entry(&mut self, pc: u64) -> EntryId {
        self.find_or_add(pc, |fast| &mut fast.by_address)
    }

    /// Returns the entry of an address for a block of one instruction.
    fn single_entry(&mut self, pc: u64) -> EntryId {
        self.find_or_add(pc, |fast| &mut fast.single)
    }

    /// Returns the entry of an address among those of one kind.
    fn find_or_add(&mut self, pc: u64, kind: impl Fn(&mut Fast) -> &mut ByNumber<u64, EntryId>) -> EntryId {
        if let Some(id) = kind(self).get(&pc) {
            return *id;
        }
        let id = self.new_entry(pc);
        kind(self).insert(pc, id);
        id
    }

    fn new_entry(&mut self, pc: u64) -> EntryId {
        let start = Beginning::DECODE;
        self.entries.push(Entry { pc, start, count: 1, visits: 0, hot_at: self.threshold, cold: 0 });
        self.entries.len() as EntryId - 1
    }

    /// Returns the number of the computed jump at an address.
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

    /// Forgets everything that was decoded. Marks stay, which costs only detours.
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
    }

    /// Starts again because there are too many operations. A program with too much code for all of it to be lowered
    /// would lower it again and again, so each block must be reached twice as often the next time.
    fn begin_again(&mut self) {
        self.forget_everything();
        self.lowered_after = self.lowered_after.saturating_mul(2);
    }

    /// Decodes and lowers an entry. Returns its id, which is a new one if all entries had to be forgotten because there
    /// were too many operations.
    fn lower_entry(&mut self, state: &State, id: EntryId) -> EntryId {
        let pc = self.entries[id as usize].pc;
        if self.ops.len() > OPERATIONS {
            self.begin_again();
        }
        // An entry of another kind keeps its id, unless it was forgotten with all others.
        let is_single = self.single.get(&pc) == Some(&id);
        let is_careful = is_single || self.careful.get(&pc) == Some(&id);
        let id = if is_careful { id } else { self.entry(pc) };
        let most = if is_single || self.stepping { 1 } else { usize::MAX };
        let lowered = self.lower_block(state, pc, is_careful, most);
        match lowered {
            Some((ops, block)) => {
                let entry = &mut self.entries[id as usize];
                entry.start = Beginning::add(&mut self.ops, &ops);
                entry.count = block.steps.len() as u32;
                for (position, (pc, decoded)) in block.decoded.iter().enumerate() {
                    self.watch_in_block(state, *pc, decoded, (id, position as u32));
                }
                let sides = block.sides().map(|(behind, target)| (behind, self.entry(target))).collect();
                self.sides.insert(id, sides);
                // The next block is about as warm, and would otherwise be interpreted as often first.
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
                let start = if decoded.reading.volatile && !is_stop { self.select(pc) } else { Beginning::INTERPRET };
                let entry = &mut self.entries[id as usize];
                (entry.start, entry.count) = (start, 1);
            }
        }
        id
    }

    /// Lowers the block at an address, of at most this many instructions; of fewer if the block is too large.
    fn lower_block(&mut self, state: &State, pc: u64, careful: bool, mut most: usize) -> Option<(Vec<Op>, Block)> {
        let modes = self.modes.iter().filter(|_| !careful);
        let modes: Vec<(RegisterId, u64)> = modes.map(|id| (*id, self.slots.0[id.index()])).collect();
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

    /// Calls a function with the constants, which the engine does not have meanwhile.
    fn with_constants<T>(&mut self, act: impl FnOnce(&mut Self, &mut Constants) -> T) -> T {
        let mut constants = std::mem::take(&mut self.constants);
        let done = act(self, &mut constants);
        constants.slots().for_each(|(slot, value)| self.slots.0[slot] = value);
        self.constants = constants;
        done
    }

    fn take_registers(&mut self, state: &State) {
        let count = state.registers().len().min(REGISTERS);
        self.slots.0[..count].copy_from_slice(&state.registers()[..count]);
    }

    fn give_registers(&self, state: &mut State) {
        let count = state.registers().len().min(REGISTERS);
        state.registers_mut()[..count].copy_from_slice(&self.slots.0[..count]);
    }
}

/// Returns the memories that programs can write.
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

/// Returns the registers of one bit that few instructions change, such as whether arithmetic is decimal. Blocks are
/// specialized to their current values.
fn modes(isa: &Isa) -> Vec<RegisterId> {
    let mut writers = vec![0; isa.registers.len().min(REGISTERS)];
    let rows = isa.instructions.iter().map(|instruction| (&*instruction.body, 1));
    // A hook that is part of every instruction changes its registers in every instruction.
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

/// Calls a function for each statement of a body.
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
        run.stop = self.run_on(state, devices, limit, &mut run);
        self.take_note_of(state);
        stops.at_limit(run, state)
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        &mut self.reference
    }
}
