//! The engine: interprets, compiles what is hot, runs what is compiled, and forgets what
//! has been changed.

use std::collections::{HashMap, HashSet};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

use lathe_base::limits;
use lathe_fast::code_map::{CodeMap, GROUP_BITS, MARKS_AT_ONCE, View};
use lathe_fast::{Fast, Heat, Pause};
use lathe_isa::Isa;
use lathe_isa::model::{Memory, MemoryId};
use lathe_vm::memory::{LARGE_IN_ONE_PIECE, PAGE_BITS};
use lathe_vm::{Devices, Engine, Interpreter, Run, State, Stop, Stops};

use crate::context::{Context, NO_JUMP};
use crate::guarded;
use crate::jumps::Jumps;
use crate::orders::{Delivery, Orders};
use crate::region::{Extent, INSTRUCTIONS, Known, Region, discover};
use crate::regions::{Exits, InUse, RegionId, Regions, WayIn};
use crate::shared::{Compiled, Effort, SharedCode};

/// Compilations of one address, at most; code that changes all the time is interpreted.
const COMPILATIONS: u32 = 8;
/// Leaving compiled code counts as reaching the place it leads to this many times: it takes about as long as
/// interpreting this many instructions.
const EXIT: u32 = 48;
/// Something that leaves a region this often for each of its instructions, divided into the threshold, has cost about what
/// compiling the region again does.
const MISSES: u32 = 2;
/// Of so many computed jumps that leave a region one is looked at. No loop has a multiple of this many jumps, as a rule.
const SAMPLE: u64 = 13;
/// A part of a region has been executed at least this share of the threshold, by which it is hot.
const WARM: u32 = 64;
/// A part of one that runs on and on has been executed at all: by then what is rare is worth more as part of the region than as a
/// way out of it.
const EVER: u64 = 1;
/// How often the threshold is doubled for code that is thrown away again and again.
const DOUBLINGS: u32 = 12;
/// Code that is being compiled is reached this share of the threshold before the engine looks whether it has
/// arrived.
const LOOK_AGAIN: u32 = 32;
/// Steps in compiled code after which the engine looks whether more of it has arrived, or should be made better.
const SLICE: u64 = 1 << 20;
/// Entering compiled code counts as this many of them.
const ENTRY: u64 = 1 << 10;
/// A region that has done this many times the threshold of steps for each of its instructions, and each time that it has become
/// as many times as much, is looked at: it may be made one with others, which is done quickly.
const YOUNG: u64 = 4;
/// If a region is left too often for what is not part of it, it is compiled quickly once more with what has turned up since: at once where
/// that is interpreted in the middle of it, and for what is elsewhere from this share of what it must have done to be compiled as well as
/// possible on.
const AGAIN: u64 = 16;
/// Leaving a region for what is not compiled takes as long as this many steps.
const LEFT: u64 = 1 << 11;
/// It becomes at most this many times as large then, if the program has not run for so long that it can afford more. Where
/// a program has many places that are equally warm, each of them would take in all others.
const GROWTH: usize = 4;
/// Every program can afford to have this many instructions compiled as well as possible, which takes a few milliseconds...
const CREDIT: u64 = 512;
/// ...and one more whenever it has done this share of the steps for which one instruction is compiled like that.
const AFFORDED: u64 = 2;
/// Finding out how large a region would become takes this share of compiling it.
const LOOKS: usize = 8;
/// For each instruction that is looked at for that, so many have been executed: it takes as long as a few of them.
const LOOK: u64 = 128;
/// Going in and out takes as long as this many of those steps: two regions that lead to one another all the time are
/// made one soon.
const CROSSING: u64 = 128;
/// Instructions of the largest region that is compiled as well as possible, which takes a tenth of a second. What a browser makes
/// of blocks that are nested as deeply was not tried.
const LARGEST: usize = if cfg!(target_arch = "wasm32") { INSTRUCTIONS } else { 4_096 };
/// Contents of a volatile instruction that are compiled; one that is more than this is left to the interpreter.
const VARIANTS: usize = 512;
/// Regions in use; beyond that all are let go.
const REGIONS: usize = 1 << 12;

/// Times that a region is reached in a mode it is not for before it is compiled again for any.
const STRANGERS: u32 = 8;

/// A region is given up if it comes back to the interpreter this often...
const VISITS: u64 = 512;
/// ...and has done fewer steps than this each time: going in and out costs more than it saves.
const WORTH: u64 = 32;

/// The engine that compiles. It can be sent to another thread.
pub struct Jit {
    isa: Arc<Isa>,
    fast: Fast,
    code: SharedCode,
    regions: Regions,
    compilations: HashMap<u64, u32>,
    /// Leaders of regions that were made for a mode and came to be reached in another.
    any_mode: HashSet<u64>,
    jumps: Jumps,
    orders: Orders,
    /// Instructions executed so far, and those that were ordered to be compiled.
    executed: u64,
    ordered: u64,
    /// Those that were compiled as well as possible.
    improved: usize,
    /// Those that were looked at to find out what regions would become.
    looked_at: u64,
    /// Whether every region is one instruction, compiled before it is first executed.
    stepping: bool,
    /// Steps to be done in compiled code before the engine looks whether more of it has arrived.
    until_look: u64,
    statistics: Statistics,
    clock: Option<Clock>,
}

/// Tells the time that has passed since some moment. The engine has no clock of its own.
pub type Clock = fn() -> Duration;

/// What the engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Regions compiled.
    pub regions: u64,
    /// Those of them that were compiled again, as well as the compiler can.
    pub improved: u64,
    /// Regions that another engine had compiled.
    pub shared: u64,
    /// Regions given up because they came back to the interpreter all the time.
    pub given_up: u64,
    /// Regions thrown away because their code was changed.
    pub invalidations: u64,
    /// Guest instructions compiled.
    pub compiled: u64,
    /// Those of them with cells that are read from memory whenever they are executed, because the
    /// program keeps changing them.
    pub patched: u64,
    /// Times that compiled code was entered.
    pub entries: u64,
    /// Times that it was left because an instruction must be interpreted.
    pub interpreted: u64,
    /// Times that it was left by a computed jump to where it has no code.
    pub jumped: u64,
    /// Steps done in compiled code.
    pub steps: u64,
    /// Spent on compiling, if a clock was given.
    pub compile_time: Duration,
}

impl Jit {
    /// An engine for this instruction set, with code of its own.
    pub fn new(isa: &Arc<Isa>) -> Self {
        Jit::sharing(&SharedCode::new(isa))
    }

    /// One that compiles what has been reached this often.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        Jit::sharing(&SharedCode::with_threshold(isa, threshold))
    }

    /// One that runs what others have compiled, and they what it compiles.
    pub fn sharing(code: &SharedCode) -> Self {
        Jit {
            isa: code.isa().clone(),
            fast: Fast::with_threshold(code.isa(), code.threshold()),
            code: code.clone(),
            regions: Regions::new(),
            compilations: HashMap::new(),
            any_mode: HashSet::new(),
            jumps: Jumps::default(),
            orders: Orders::new(),
            executed: 0,
            ordered: 0,
            improved: 0,
            looked_at: 0,
            stepping: false,
            until_look: SLICE,
            statistics: Statistics::default(),
            clock: None,
        }
    }

    /// One for tests that look after every step: instructions are compiled one at a time, before they
    /// are first executed, and run in that form however few steps are asked for.
    pub fn stepping(isa: &Arc<Isa>) -> Self {
        Jit { fast: Fast::stepping(isa), stepping: true, ..Jit::new(isa) }
    }

    /// Measures with this clock from now on how long compiling takes.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Moves memories between guard pages, if they are not there yet and the host has guard pages, and makes room for
    /// permits. Memories for which it has no room in one piece get a table of their pages.
    fn make_room(&mut self, state: &mut State) {
        if LARGE_IN_ONE_PIECE {
            self.fast.keep_permits(guarded::room);
        }
        for id in memories(&self.isa) {
            let memory = state.storage_mut(id);
            memory.move_into(guarded::room, guarded::room);
            if !LARGE_IN_ONE_PIECE {
                memory.make_page_table();
            }
        }
    }

    /// Runs compiled code, from region to region, if there is some here and the budget is large enough for it.
    fn enter(&mut self, state: &mut State, left: u64, run: &mut Run) -> Option<Exit> {
        let mut place = self.place(state, left)?;
        let Marks { marks, rows, permits } = marks(&self.isa, self.fast.marks())?;
        let memories = bases(&self.isa, state)?;
        let opened = opened(&self.isa, state)?;
        let mut context = Context {
            registers: state.registers_mut().as_mut_ptr(),
            marks,
            rows,
            permits,
            memories: memories.as_ptr(),
            opened: opened.as_ptr(),
            fuel: 0,
            cycles: 0,
            pc: 0,
            interpret: 0,
            jump: NO_JUMP,
            links: null(),
            link_mask: 0,
            usages: null_mut(),
            current: null_mut(),
            started: 0,
        };
        self.regions.links.forget_unless(self.fast.marks().additions());
        let before = run.steps;
        loop {
            let Place { id, block, budget } = place;
            (context.links, context.link_mask) = self.regions.links.table();
            context.usages = self.regions.usages.as_mut_ptr();
            context.current = context.usages.wrapping_byte_add(Regions::usage_at(id));
            let used = self.regions.get(id)?;
            context.fuel = budget - used.region.bound as i64;
            (context.started, context.jump) = (context.fuel, NO_JUMP);
            context.registers = state.registers_mut().as_mut_ptr();
            // SAFETY: the region was compiled for this instruction set. There are as many registers as it has:
            // `advance` has looked, and nobody can take some away. There are as many marks, permits, cells and pages as
            // it says: that was looked at above, and nothing in this loop changes where they are. Every number in
            // the table of rows is where a whole row begins: the code map gives no other. Every link leads to a
            // region in use, since those from its addresses are forgotten when it goes away, and there is a usage
            // for each of those. Nothing else touches any of this during the call.
            unsafe { used.region.code.call(&mut context, block) };
            state.pc = context.pc;
            // It may have gone on in others.
            let id = self.regions.of_usage(context.current.addr() - context.usages.addr())?;
            let used = self.regions.get(id)?;
            let steps = (budget - used.region.bound as i64 - context.fuel) as u64;
            run.steps += steps;
            run.cycles = run.cycles.wrapping_add(std::mem::take(&mut context.cycles));
            self.statistics.entries += 1;
            self.statistics.steps += steps;
            if context.interpret != 0 {
                self.regions.get_mut(id)?.exits.to_interpret += 1;
            }
            let is_to_be_looked_at = self.regions.note_steps(id, (context.started - context.fuel) as u64, CROSSING);
            if context.interpret != 0 {
                self.statistics.interpreted += 1;
                return Some(Exit::Interpret(id));
            }
            self.until_look = self.until_look.saturating_sub(steps + ENTRY);
            if is_to_be_looked_at || self.until_look == 0 {
                self.until_look = SLICE;
                return Some(Exit::Look(id));
            }
            if context.jump != NO_JUMP {
                self.statistics.jumped += 1;
                if self.statistics.jumped.is_multiple_of(SAMPLE) && self.misses_too_often(id, context.jump, state.pc) {
                    return Some(Exit::Missed(id));
                }
            }
            match self.place(state, left - (run.steps - before)) {
                Some(next) => {
                    self.regions.link(state.pc, next.id, next.block);
                    place = next;
                }
                None => {
                    self.regions.get_mut(id)?.exits.elsewhere += 1;
                    return Some(Exit::Elsewhere(id));
                }
            }
        }
    }

    /// Counts that a computed jump of a region has gone where the region has no code; whether that happens so often
    /// that it pays to compile the region again.
    fn misses_too_often(&mut self, id: RegionId, jump: u64, target: u64) -> bool {
        let Some(used) = self.regions.get(id) else { return false };
        let patience = misses_of(self.code.threshold(), used.region.size) / SAMPLE as u32;
        self.jumps.missed(&self.fast, jump, target, patience)
    }

    /// Where compiled code can be entered now, with this many steps left.
    fn place(&mut self, state: &State, left: u64) -> Option<Place> {
        let WayIn { id, block } = self.regions.way_in(state.pc)?;
        let additions = self.fast.marks().additions();
        let used = self.regions.get(id)?;
        let bound = used.region.bound;
        // This is asked whenever one region leads to another, and most of them need no closer look.
        let is_as_before = used.additions == Some(additions) && used.region.assumptions.modes.is_empty();
        if !is_as_before && !self.is_as_assumed(state, id) {
            return None;
        }
        let budget = left.min(SLICE + bound);
        (budget >= bound).then_some(Place { id, block, budget: budget as i64 })
    }

    /// Whether what was assumed for a region holds; one for which it never will again is dropped.
    fn is_as_assumed(&mut self, state: &State, id: RegionId) -> bool {
        let additions = self.fast.marks().additions();
        let Some(used) = self.regions.get_mut(id) else { return false };
        let Compiled { assumptions, blocks, .. } = &*used.region;
        if !assumptions.are_modes_of(state) {
            used.strangers += 1;
            if used.strangers == STRANGERS {
                self.any_mode.extend(blocks.keys());
                self.drop_region(id, Drop::TryAgain);
            }
            return false;
        }
        // Cells lose what was assumed of them only where a mark is added.
        if used.additions != Some(additions) && !assumptions.hold(self.fast.marks()) {
            self.drop_region(id, Drop::TryAgain);
            return false;
        }
        used.additions = Some(additions);
        true
    }

    /// Makes the code at a hot address ready: somebody else's, or a new compilation.
    fn prepare(&mut self, state: &mut State, pc: u64, extent: Extent) {
        // Compiled code finds a cell by its distance from the first, and no host has room for so many.
        if self.isa.memories.iter().any(Memory::has_wide_addresses) {
            return self.fast.set_heat(pc, Heat::Never);
        }
        self.take_deliveries(state);
        if self.regions.has_way_in(pc) {
            return;
        }
        if let Some(region) = self.code.find(&self.fast, state, pc, self.may_assume_modes(pc)) {
            self.statistics.shared += 1;
            return self.take_up(state, region);
        }
        if self.orders.cover(pc) || self.code.is_ordered(pc) {
            return self.look_again(pc);
        }
        if !self.can_afford(pc) {
            return self.fast.set_heat(pc, Heat::After(self.patience(pc)));
        }
        self.make_room(state);
        // Where there is no room for all cells of a large memory and their permits, compiled code could not be entered.
        if bases(&self.isa, state).is_none() || marks(&self.isa, self.fast.marks()).is_none() {
            return self.fast.set_heat(pc, Heat::Never);
        }
        match self.discover(state, pc, extent, self.warm(), INSTRUCTIONS) {
            Some(region) => self.order(state, pc, region, Effort::Quick, None),
            None => self.fast.set_heat(pc, Heat::Never),
        }
    }

    /// Has a region compiled, perhaps in the place of another.
    fn order(&mut self, state: &mut State, entry: u64, region: Region, effort: Effort, replaces: Option<RegionId>) {
        let leaders: Vec<u64> = region.blocks.keys().copied().collect();
        if effort == Effort::Quick {
            self.ordered += region.size() as u64;
            leaders.iter().for_each(|leader| *self.compilations.entry(*leader).or_default() += 1);
            self.look_again(entry);
        }
        let result = self.orders.open(entry, leaders);
        // If the engine is gone, nobody wants it.
        let deliver = move |region, time| drop(result.send(Delivery { entry, region, replaces, effort, time }));
        self.code.order(entry, region, effort, self.clock, deliver);
        self.take_deliveries(state);
    }

    /// Has a region compiled as well as the compiler can, if it has run for long enough to earn that back.
    fn improve(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id).filter(|_| self.regions.is_time_to_look(id)) else { return };
        let (known, earned, used_for) = (used.region.clone(), used.earned, used.used_for);
        let entry = known.entry;
        if self.orders.cover(entry) {
            return self.regions.look_after(id, SLICE);
        }
        // Where compiled code finds the way to other regions by itself, going there takes little.
        let is_crossed_often = known.code.way_in(0).is_none() && self.regions.is_crossed_often(id);
        if is_crossed_often && self.merge(state, id) {
            return;
        }
        // By the time that it is compiled as well as possible, that takes a small part of the time it has run.
        let better = self.code.better();
        if used_for < better {
            let rest = self.price(earned, used_for * (YOUNG - 1));
            self.regions.look_after(id, rest);
            self.regions.get_mut(id).into_iter().for_each(|used| used.used_for *= YOUNG);
            // Leaving it has taken as long as compiling it does. What is elsewhere may yet become a region of its own; what is
            // interpreted in the middle of this one will not.
            let Exits { to_interpret, elsewhere } = self.regions.take_exits(id);
            let exits = if used_for >= better / AGAIN { to_interpret + elsewhere } else { to_interpret };
            if exits * LEFT > self.price(known.size, 1) && known.effort == Effort::Quick {
                self.extend(state, id);
            }
            return;
        }
        self.regions.look_after(id, u64::MAX);
        if !known.is_improvable() {
            return self.take_better(state, id, &known);
        }
        // More has run since it was discovered: what became regions of their own becomes part of it, as far as it has earned
        // that. Where all of it would be too much, what others took in stays theirs.
        let most = self.most_after(earned);
        let jump = |pc| self.jumps.all_targets(&self.fast, pc);
        let mut size = self.regions.reach(id, LARGEST, |_| true, jump);
        let takes_all = size <= LARGEST;
        if !takes_all {
            size = self.regions.reach(id, LARGEST, |region| region.effort == Effort::Quick, jump).min(LARGEST);
        }
        if size > most {
            return self.improve_later(id, earned);
        }
        let extent = if takes_all { Extent::Everything } else { Extent::Rest };
        let Some(better) = self.discover(state, entry, extent, EVER, most) else { return };
        if better.is_cut && most < LARGEST {
            self.improved += better.size() / LOOKS;
            self.improve_later(id, earned);
        } else if known.claim_improvement() {
            self.improved += better.size();
            self.order(state, entry, better, Effort::Best, Some(id));
        }
    }

    /// Has a region compiled quickly with what has run since it was discovered, if there is any, all of it fits into one region and
    /// the program can afford that.
    fn extend(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id) else { return };
        let (entry, own) = (used.region.entry, used.region.size);
        let size = self.regions.reach(id, LARGEST, |_| true, |pc| self.jumps.all_targets(&self.fast, pc));
        // What is no region yet comes on top of that.
        let most = LARGEST.min(self.affordable());
        if size > most || self.code.is_ordered(entry) {
            return;
        }
        let region = self.discover(state, entry, Extent::Everything, EVER, most);
        let is_whole = |region: &Region| region.size() > own && (!region.is_cut || most == LARGEST);
        if let Some(region) = region.filter(is_whole) {
            self.order(state, entry, region, Effort::Quick, Some(id));
        }
    }

    /// Has a region compiled together with all that it leads to, once the program has run for long enough to afford that.
    /// Quickly, because it is going from one to another that takes the time. Whether this is what becomes of it, now or later.
    fn merge(&mut self, state: &mut State, id: RegionId) -> bool {
        let Some(used) = self.regions.get(id) else { return false };
        let (entry, own, soonest) = (used.region.entry, used.region.size, self.price(used.earned, YOUNG));
        if used.region.effort == Effort::Best || self.code.is_ordered(entry) {
            return false;
        }
        if self.looked_at * LOOK > self.executed {
            self.regions.look_after(id, soonest);
            return true;
        }
        let jump = |pc| self.jumps.all_targets(&self.fast, pc);
        let size = self.regions.reach(id, LARGEST, |_| true, jump);
        self.looked_at += size as u64;
        if size <= own || size > LARGEST {
            return false;
        }
        let affordable_at = self.affordable_at(size);
        if affordable_at > self.executed {
            let wait = (affordable_at - self.executed).max(soonest);
            self.regions.look_after(id, wait);
            return true;
        }
        let region = self.discover(state, entry, Extent::Everything, self.warm(), LARGEST);
        match region.filter(|region| region.size() > own) {
            Some(region) => {
                self.order(state, entry, region, Effort::Quick, Some(id));
                true
            }
            None => false,
        }
    }

    /// Another engine has had a region compiled as well as possible: takes that up, or looks again when it has been compiled.
    fn take_better(&mut self, state: &mut State, id: RegionId, known: &Compiled) {
        let entry = known.entry;
        if known.effort == Effort::Best {
            return;
        }
        if self.code.is_ordered(entry) {
            self.regions.look_after(id, SLICE);
            return;
        }
        let found = self.code.find(&self.fast, state, entry, self.may_assume_modes(entry));
        if let Some(better) = found.filter(|region| region.effort == Effort::Best) {
            self.statistics.shared += 1;
            self.drop_region(id, Drop::TryAgain);
            self.take_up(state, better);
        }
    }

    /// Looks again whether to compile a region better when it has earned so many times as much.
    fn improve_later(&mut self, id: RegionId, earned: usize) {
        self.regions.look_after(id, self.price(earned * (GROWTH - 1), self.code.better()));
        self.regions.get_mut(id).into_iter().for_each(|used| used.earned = earned * GROWTH);
    }

    /// How large a region of this many instructions may become: so many times as large, or what the whole program can afford.
    fn most_after(&self, instructions: usize) -> usize {
        let affordable = CREDIT + self.executed / self.price(1, self.code.better() / AFFORDED);
        let affordable = usize::try_from(affordable).unwrap_or(usize::MAX).saturating_sub(self.improved);
        affordable.max(instructions * GROWTH).min(LARGEST)
    }

    /// The steps in which a region of this many instructions has done this many times the threshold for each of them.
    fn price(&self, instructions: usize, times: u64) -> u64 {
        instructions as u64 * u64::from(self.code.threshold()) * times
    }

    /// Looks again soon whether the code at an address has been compiled.
    fn look_again(&mut self, pc: u64) {
        self.fast.set_heat(pc, Heat::After(self.code.threshold() / LOOK_AGAIN));
    }

    /// Takes up what has been compiled, if the cells it was compiled from are still as they were.
    fn take_deliveries(&mut self, state: &mut State) {
        while let Some(Delivery { entry, region, replaces, effort, time }) = self.orders.next() {
            self.statistics.compile_time += time;
            // What it was to replace may still be in use.
            let is_compiled = self.regions.has_way_in(entry);
            let Some(region) = region else {
                if !is_compiled {
                    self.fast.set_heat(entry, Heat::Never);
                }
                continue;
            };
            self.count_compiled(&region, effort);
            if !region.fits(&self.fast, state) {
                if !is_compiled {
                    self.fast.set_heat(entry, Heat::After(self.patience(entry)));
                }
                continue;
            }
            if let Some(id) = replaces {
                self.drop_region(id, Drop::TryAgain);
            }
            self.take_up(state, region);
        }
    }

    fn count_compiled(&mut self, region: &Compiled, effort: Effort) {
        if effort == Effort::Best {
            self.statistics.improved += 1;
            return;
        }
        self.statistics.regions += 1;
        self.statistics.compiled += region.instructions.len() as u64;
        let patched = region.instructions.values().filter(|reading| reading.is_patched());
        self.statistics.patched += patched.count() as u64;
    }

    /// Whether enough has been executed that compiling something at this address is no great loss, whatever comes of it.
    fn can_afford(&self, pc: u64) -> bool {
        let often = self.compilations.get(&pc).is_some_and(|count| *count >= COMPILATIONS);
        self.stepping || !often && self.affordable_at(0) <= self.executed
    }

    /// How much must have been executed before so many more instructions are compiled: for each one that has been, as many as the
    /// threshold.
    fn affordable_at(&self, instructions: usize) -> u64 {
        (self.ordered + instructions as u64).saturating_mul(u64::from(self.code.threshold()))
    }

    /// How many more instructions can be compiled now.
    fn affordable(&self) -> usize {
        let all = self.executed / u64::from(self.code.threshold());
        usize::try_from(all.saturating_sub(self.ordered)).unwrap_or(usize::MAX)
    }

    /// How often an address must be reached before it is compiled, after what became of it so far.
    fn patience(&self, pc: u64) -> u32 {
        let count = self.compilations.get(&pc).copied().unwrap_or(0);
        self.code.threshold().saturating_mul(1 << count.min(DOUBLINGS))
    }

    /// Whether a region from this address may be for the present modes only.
    fn may_assume_modes(&self, pc: u64) -> bool {
        !self.stepping && !self.any_mode.contains(&pc)
    }

    /// How often something has been executed that is hot, or next to what is.
    fn warm(&self) -> u64 {
        u64::from((self.code.threshold() / WARM).max(1))
    }

    /// The region around an address, of what has been executed so often, if it is worth compiling.
    fn discover(&self, state: &State, pc: u64, extent: Extent, least: u64, most: usize) -> Option<Region> {
        let is_compiled = |pc| match extent {
            Extent::Rest => self
                .regions
                .at(pc)
                .and_then(|id| self.regions.get(id))
                .is_some_and(|used| used.region.effort == Effort::Best),
            _ => self.regions.has_way_in(pc) || self.orders.cover(pc),
        };
        let has_run = |pc| self.fast.executions(pc) >= least || self.regions.has_way_in(pc);
        let targets = |pc| self.jumps.targets(&self.fast, pc);
        // On average, each content has been executed as often as other code must have been.
        let contents = |pc| {
            let contents = self.fast.contents(pc);
            let are_often = contents.len() <= VARIANTS && self.fast.executions(pc) >= least * contents.len() as u64;
            if are_often { contents } else { Vec::new() }
        };
        let modes = self.may_assume_modes(pc);
        let known = Known {
            fast: &self.fast,
            state,
            most,
            modes,
            targets: &targets,
            contents: &contents,
            is_compiled: &is_compiled,
            has_run: &has_run,
        };
        Some(discover(&known, pc, extent)).filter(Region::is_worth_compiling)
    }

    /// Uses a region from now on.
    fn take_up(&mut self, state: &mut State, region: Arc<Compiled>) {
        self.make_room(state);
        if self.regions.len() >= REGIONS {
            self.drop_all();
        }
        for (pc, reading) in &region.instructions {
            self.fast.watch(*pc, reading);
        }
        for leader in region.blocks.keys() {
            self.fast.set_heat(*leader, Heat::Always);
        }
        let earned = region.size;
        let until_look = self.price(earned, YOUNG);
        self.regions.insert(InUse::new(region, earned, YOUNG), until_look);
    }

    /// A region has come back to the interpreter. It is given up if it does so after every few steps.
    fn give_up_if_worthless(&mut self, id: RegionId) {
        let done = self.regions.done(id);
        let Some(used) = self.regions.get_mut(id) else { return };
        used.visits += 1;
        if used.visits < VISITS {
            return;
        }
        let worthless = done.saturating_sub(used.done_before) < used.visits * WORTH;
        (used.visits, used.done_before) = (0, done);
        if !worthless {
            return;
        }
        if used.region.selects.iter().any(|(pc, compiled)| self.fast.contents(*pc).len() > *compiled) {
            return self.drop_region(id, Drop::TryAgain);
        }
        used.region.instructions.keys().for_each(|pc| self.jumps.give_up(*pc));
        self.drop_region(id, Drop::ForGood);
        self.statistics.given_up += 1;
    }

    /// Drops the regions that hold an instruction which was changed.
    fn forget_changed(&mut self) {
        for pc in self.fast.take_changed() {
            self.jumps.forget(pc);
            let is_hit = |(_, used): &(RegionId, &InUse)| used.region.instructions.contains_key(&pc);
            let hit: Vec<RegionId> = self.regions.iter().filter(is_hit).map(|(id, _)| id).collect();
            for id in hit {
                self.drop_region(id, Drop::TryAgain);
                self.statistics.invalidations += 1;
            }
        }
    }

    /// Lets go of a region.
    fn drop_region(&mut self, id: RegionId, drop: Drop) {
        for leader in self.regions.remove(id) {
            let heat = match drop {
                Drop::TryAgain => Heat::After(self.patience(leader)),
                Drop::ForGood => Heat::Never,
            };
            self.fast.set_heat(leader, heat);
        }
    }

    /// Lets go of all regions.
    fn drop_all(&mut self) {
        let all: Vec<RegionId> = self.regions.iter().map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.drop_region(id, Drop::TryAgain));
    }

    /// Forgets all code, because runs are to stop elsewhere. What was spent on it does not count against what
    /// comes in its place.
    fn begin_anew(&mut self) {
        self.compilations.clear();
        (self.ordered, self.improved) = (0, 0);
        self.drop_all();
    }

    /// Has a region compiled again, with the targets of its computed jumps that have turned up since.
    fn renew(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id) else { return };
        let (entry, most) = (used.region.entry, self.most_after(used.region.size));
        if self.orders.cover(entry) || self.code.is_ordered(entry) || !self.can_afford(entry) {
            return;
        }
        if let Some(region) = self.discover(state, entry, Extent::Everything, self.warm(), most) {
            self.order(state, entry, region, Effort::Quick, Some(id));
        }
    }

    /// A region has been left at a volatile instruction, for a content that it has no code for. It is compiled again when this
    /// has cost enough, and more contents are known.
    fn note_unknown(&mut self, state: &mut State, id: RegionId) {
        let pc = state.pc;
        let Some(used) = self.regions.get_mut(id) else { return };
        let (compiled, size) = (used.region.selects.get(&pc).copied().unwrap_or(0), used.region.size);
        used.unknown += 1;
        let is_often = used.unknown >= misses_of(self.code.threshold(), size);
        if is_often {
            used.unknown = 0;
        }
        if compiled > 0 {
            self.fast.is_executed_elsewhere(pc);
        }
        if is_often && self.fast.contents(pc).len() > compiled {
            self.renew(state, id);
        }
    }

    /// Compiled code has led to an address. Whether it can be entered there, perhaps because it has
    /// been led there often enough to go on compiling.
    fn arrive(&mut self, state: &mut State, exit: &Exit) -> bool {
        let pc = state.pc;
        if self.regions.has_way_in(pc) {
            return true;
        }
        if self.fast.warm(pc, EXIT) {
            self.prepare(state, pc, Extent::Gap);
        }
        // What is only not compiled yet is no reason to give up what leads there.
        if let Exit::Elsewhere(id) = *exit
            && !self.fast.may_become_hot(pc)
        {
            self.give_up_if_worthless(id);
        }
        self.regions.has_way_in(pc)
    }

    /// One instruction by the interpreter, after compiled code has left it to it.
    fn step(&mut self, state: &mut State, devices: &mut Devices, run: &mut Run) -> Option<Stop> {
        let before = run.steps;
        match self.fast.run_until_hot(state, devices, before + 1, run) {
            Pause::Stopped(Stop::Limit) | Pause::Hot(_) => None,
            Pause::Stopped(stop) => Some(stop),
        }
    }
}

/// What becomes of the addresses of a region that is let go.
#[derive(Clone, Copy)]
enum Drop {
    /// They may be compiled again, but not soon.
    TryAgain,
    /// They are not compiled any more.
    ForGood,
}

/// Where compiled code is entered.
struct Place {
    id: RegionId,
    block: u32,
    /// Steps that may be done.
    budget: i64,
}

/// Why compiled code was left.
enum Exit {
    /// The instruction where it stands must be interpreted.
    Interpret(RegionId),
    /// A computed jump has gone where the region has no code, as it does often.
    Missed(RegionId),
    /// It goes on where the region has no code, or the budget is nearly spent.
    Elsewhere(RegionId),
    /// It is time to look what has been compiled, and whether the region should be.
    Look(RegionId),
}

/// How often a region of this size is left for something that it has no code for before that has cost what compiling it
/// again does.
fn misses_of(threshold: u32, size: usize) -> u32 {
    (threshold / MISSES).saturating_mul(size as u32)
}

/// One pointer for every memory that a machine can have.
type Pointers = [*mut u8; limits::MEMORIES];

/// The first cell of every memory, or the table of its pages; none if one of them is not as the definition says, or is in
/// pages although this host has room for it in one piece.
fn bases(isa: &Isa, state: &mut State) -> Option<Pointers> {
    let mut bases = [null_mut(); limits::MEMORIES];
    for id in memories(isa) {
        let (memory, described) = (state.memory_mut(id), isa.memory(id));
        bases[id.index()] = match described.is_large() && !LARGE_IN_ONE_PIECE {
            true => memory.page_table_pointer(described)?.cast_mut().cast(),
            false => memory.cells_pointer(described)?,
        };
    }
    Some(bases)
}

/// The table of open pages of every large memory, null for the others.
fn opened(isa: &Isa, state: &State) -> Option<[*const u8; limits::MEMORIES]> {
    let mut tables = [null(); limits::MEMORIES];
    for id in memories(isa) {
        tables[id.index()] = state.memory(id).open_pages_pointer(isa.memory(id))?;
    }
    Some(tables)
}

/// What compiled code looks at before it stores: see [`Context`].
struct Marks {
    marks: *const u8,
    rows: *const usize,
    permits: *const u8,
}

/// The marks of all cells; none if there are not as many as the definition says.
fn marks(isa: &Isa, marks: &CodeMap) -> Option<Marks> {
    let cells = isa.code_memory().cells();
    match marks.view() {
        View::Flat(marks) if marks.len() as u128 == cells + u128::from(MARKS_AT_ONCE) => {
            Some(Marks { marks: marks.as_ptr(), rows: null(), permits: null() })
        }
        View::Paged { table, rows, permits } if table.len() as u128 == cells >> PAGE_BITS => {
            let permits = match permits {
                Some(permits) => (permits.len() as u128 == cells >> GROUP_BITS).then_some(permits.as_ptr())?,
                None => (!LARGE_IN_ONE_PIECE).then_some(null())?,
            };
            Some(Marks { marks: rows.as_ptr(), rows: table.as_ptr(), permits })
        }
        _ => None,
    }
}

fn memories(isa: &Isa) -> impl Iterator<Item = MemoryId> {
    (0..isa.memories.len() as u32).map(MemoryId)
}

impl Jit {
    /// Goes on after compiled code was left; why the machine stops, if it does.
    fn leave(
        &mut self,
        exit: &Exit,
        state: &mut State,
        devices: &mut Devices,
        limit: u64,
        run: &mut Run,
    ) -> Option<Stop> {
        match *exit {
            Exit::Interpret(id) => {
                let opened = state.snapshot_size();
                // The fast interpreter knows what the instruction is at the moment, and what follows it.
                let stop = match self.fast.is_volatile(state.pc) {
                    true => {
                        self.note_unknown(state, id);
                        self.interpret(state, devices, limit, run)
                    }
                    false => self.step(state, devices, run),
                };
                // A page is opened once, and then it is written without leaving.
                if state.snapshot_size() == opened {
                    self.give_up_if_worthless(id);
                }
                self.forget_changed();
                stop
            }
            Exit::Missed(id) => {
                self.renew(state, id);
                None
            }
            Exit::Look(id) => {
                self.improve(state, id);
                self.take_deliveries(state);
                None
            }
            Exit::Elsewhere(_) => None,
        }
    }

    /// Compiles what stands at the next address, unless that was done before.
    fn prepare_step(&mut self, state: &mut State) {
        if !self.regions.has_way_in(state.pc) {
            self.prepare(state, state.pc, Extent::One);
        }
    }

    /// Every instruction by itself.
    fn advance_in_steps(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        let mut run = Run::new();
        while run.steps < limit {
            self.prepare_step(state);
            let exit = if self.fast.is_due() { None } else { self.enter(state, 1, &mut run) };
            if exit.is_some_and(|exit| !matches!(exit, Exit::Interpret(_))) {
                continue;
            }
            if let Some(stop) = self.step(state, devices, &mut run) {
                run.stop = stop;
                break;
            }
            self.forget_changed();
        }
        run
    }
}

impl Engine for Jit {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        let limit = stops.limit;
        if !state.fits(&self.isa) || (limit <= Fast::FEW && !self.stepping) {
            return self.fast.advance(state, devices, stops);
        }
        if self.fast.arm(stops) {
            self.begin_anew();
        }
        if !self.regions.is_empty() {
            self.make_room(state);
        }
        self.fast.revalidate(state);
        self.forget_changed();
        self.take_deliveries(state);
        let run = match self.stepping {
            true => self.advance_in_steps(state, devices, limit),
            false => {
                let before = self.executed;
                let run = self.advance_compiling(state, devices, limit);
                self.executed = before + run.steps;
                run
            }
        };
        self.fast.take_note_of(state);
        stops.at_limit(run, state)
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        self.fast.interpreter()
    }
}

impl Jit {
    /// Interprets, compiles what is hot, and runs that.
    fn advance_compiling(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        let before = self.executed;
        let mut run = Run::new();
        while run.steps < limit {
            if !self.fast.is_due()
                && !self.fast.is_paused()
                && let Some(exit) = self.enter(state, limit - run.steps, &mut run)
            {
                self.executed = before + run.steps;
                // A run that always ends here must not put off for ever what is to be looked at.
                if run.steps == limit && !matches!(exit, Exit::Look(_)) {
                    break;
                }
                if let Some(stop) = self.leave(&exit, state, devices, limit, &mut run) {
                    run.stop = stop;
                    return run;
                }
                if self.arrive(state, &exit) || run.steps == limit {
                    continue;
                }
            }
            if let Some(stop) = self.interpret(state, devices, limit, &mut run) {
                run.stop = stop;
                return run;
            }
        }
        run
    }

    /// Interprets until something is hot and makes that ready; why the machine stops, if it does.
    fn interpret(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Option<Stop> {
        let before = run.steps;
        let pause = self.fast.run_until_hot(state, devices, limit, run);
        self.executed += run.steps - before;
        match pause {
            Pause::Stopped(stop) => Some(stop),
            Pause::Hot(pc) => {
                self.forget_changed();
                match self.regions.has_way_in(pc) {
                    true => {}
                    // This run would not enter it any more, and where the next one goes is not known.
                    false if self.regions.any_needs_more_than(limit - run.steps) => self.look_again(pc),
                    false => self.prepare(state, pc, Extent::Everything),
                }
                None
            }
        }
    }
}
