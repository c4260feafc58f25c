//! The engine: interprets, compiles hot code, runs compiled code, and drops code that the program has changed.
//!
//! The decisions are elsewhere: prices in `ledger.rs`, the extent of a region in `region/discover.rs`, and when to
//! compile one again in `recompile.rs`. The call into compiled code is in `enter.rs`.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use lathe_fast::{Fast, Heat, Pause, Warmth};
use lathe_isa::Isa;
use lathe_isa::model::Memory;
use lathe_vm::{Devices, Engine, Interpreter, Run, State, Stop, Stops};

use crate::enter::Exit;
use crate::jumps::Jumps;
use crate::ledger::{EXIT, Ledger, YOUNG};
use crate::orders::{Delivery, Orders};
use crate::region::{Extent, INSTRUCTIONS, Known, Region, discover};
use crate::regions::{InUse, RegionId, Regions};
use crate::shared::{Compiled, Effort, SharedCode};

/// Code that is being compiled is reached this fraction of the threshold before the engine looks whether it has
/// arrived.
const LOOK_AGAIN: u32 = 32;
/// Steps in compiled code after which the engine takes up what has arrived, and considers compiling a region again.
pub(crate) const SLICE: u64 = 1 << 20;
/// The last steps of a run, at most this many, are interpreted without a pause where compiled code needs more.
const LAST: u64 = 512;
/// Contents of a volatile instruction that are compiled; an instruction with more is left to the interpreter.
const VARIANTS: usize = 512;
/// Regions in use; beyond this number all are dropped.
const REGIONS: usize = 1 << 12;
/// A region is given up if it comes back to the interpreter this often...
const VISITS: u64 = 512;
/// ...and has done fewer steps than this each time: going in and out costs more than it saves.
const WORTH: u64 = 32;

/// The engine that compiles. It can be sent to another thread.
pub struct Jit {
    pub(crate) isa: Arc<Isa>,
    pub(crate) fast: Fast,
    pub(crate) code: SharedCode,
    pub(crate) regions: Regions,
    /// Leaders of regions that were made for one mode and reached in another.
    pub(crate) any_mode: HashSet<u64>,
    pub(crate) jumps: Jumps,
    pub(crate) orders: Orders,
    /// What the program has executed, and what compiling has cost.
    pub(crate) ledger: Ledger,
    /// Whether every region is one instruction, compiled before it is first executed.
    stepping: bool,
    /// Steps in compiled code until the engine looks whether more of it has arrived.
    pub(crate) until_look: u64,
    pub(crate) statistics: Statistics,
    clock: Option<Clock>,
}

/// Returns the time since some fixed moment. The engine has no clock of its own.
pub type Clock = fn() -> Duration;

/// What the engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Regions compiled.
    pub regions: u64,
    /// Regions compiled again with full effort; they do not count as regions compiled.
    pub improved: u64,
    /// Regions that another engine had compiled.
    pub shared: u64,
    /// Regions given up because they came back to the interpreter all the time.
    pub given_up: u64,
    /// Regions thrown away because their code was changed.
    pub invalidations: u64,
    /// Guest instructions compiled.
    pub compiled: u64,
    /// Guest instructions with cells that compiled code reads from memory each time, because the program keeps changing
    /// them.
    pub patched: u64,
    /// Times that compiled code was entered.
    pub entries: u64,
    /// Times that compiled code was left because an instruction must be interpreted.
    pub interpreted: u64,
    /// Times that compiled code was left by a computed jump to an address without code.
    pub jumped: u64,
    /// Steps executed in compiled code.
    pub steps: u64,
    /// Time spent compiling, if a clock was given.
    pub compile_time: Duration,
}

impl Jit {
    /// Creates an engine for this instruction set, with code of its own.
    pub fn new(isa: &Arc<Isa>) -> Self {
        Jit::sharing(&SharedCode::new(isa))
    }

    /// Creates an engine that compiles blocks after this many visits.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        Jit::sharing(&SharedCode::with_threshold(isa, threshold))
    }

    /// Creates an engine that shares compiled code with others.
    pub fn sharing(code: &SharedCode) -> Self {
        Jit {
            isa: code.isa().clone(),
            fast: Fast::with_threshold(code.isa(), code.threshold()),
            code: code.clone(),
            regions: Regions::new(),
            any_mode: HashSet::new(),
            jumps: Jumps::default(),
            orders: Orders::new(),
            ledger: Ledger::new(code.threshold(), code.better()),
            stepping: false,
            until_look: SLICE,
            statistics: Statistics::default(),
            clock: None,
        }
    }

    /// Creates an engine for tests that look after every step: it compiles each instruction by itself before executing
    /// it, and runs compiled code however few steps are asked for.
    pub fn stepping(isa: &Arc<Isa>) -> Self {
        Jit { fast: Fast::stepping(isa), stepping: true, ..Jit::new(isa) }
    }

    /// Sets the clock that measures how long compiling takes.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// Returns what it has done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
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
                let before = self.ledger.executed;
                let run = self.advance_compiling(state, devices, limit);
                self.ledger.executed = before + run.steps;
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

/// Running: interpreting, and going between the interpreter and compiled code.
impl Jit {
    /// Interprets, compiles hot code and runs it.
    fn advance_compiling(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        let before = self.ledger.executed;
        let mut run = Run::new();
        while run.steps < limit {
            if !self.fast.is_due()
                && !self.fast.is_paused()
                && let Some(exit) = self.enter(state, limit - run.steps, &mut run)
            {
                self.ledger.executed = before + run.steps;
                // Runs that always end here must not put off a look for ever.
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

    /// Interprets until a block is hot, and prepares its code. Returns why the machine stops, if it does.
    fn interpret(&mut self, state: &mut State, devices: &mut Devices, limit: u64, run: &mut Run) -> Option<Stop> {
        let before = run.steps;
        let left = limit - run.steps;
        // Compiled code that needs more steps than are left would be hot again and again.
        let pause = match left <= LAST && self.regions.needs_more_than(state.pc, left) {
            true => Pause::Stopped(self.fast.run_on(state, devices, limit, run)),
            false => self.fast.run_until_hot(state, devices, limit, run),
        };
        self.ledger.executed += run.steps - before;
        match pause {
            Pause::Stopped(stop) => Some(stop),
            Pause::Hot(pc) => {
                self.forget_changed();
                match self.regions.has_way_in(pc) {
                    true => {}
                    // This run is too near its limit to enter it, and where the next one goes is unknown.
                    false if self.regions.any_needs_more_than(limit - run.steps) => self.look_again(pc),
                    false => self.prepare(state, pc, Extent::Everything),
                }
                None
            }
        }
    }

    /// Does what an exit from compiled code asks for. Returns why the machine stops, if it does.
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
                // The fast interpreter has operations for the present content, and for what follows.
                let stop = match self.fast.is_volatile(state.pc) {
                    true => {
                        self.note_unknown(state, id);
                        self.interpret(state, devices, limit, run)
                    }
                    false => self.step(state, devices, run),
                };
                // An exit that has opened a page will not recur: the page is written directly from now on.
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
                self.reconsider(state, id);
                self.take_deliveries(state);
                None
            }
            Exit::Elsewhere(_) => None,
        }
    }

    /// Compiled code has led to an address: compiles what is there, once that has happened often enough. Returns
    /// whether compiled code can be entered there.
    fn arrive(&mut self, state: &mut State, exit: &Exit) -> bool {
        let pc = state.pc;
        if self.regions.has_way_in(pc) {
            return true;
        }
        match (self.fast.warm(pc, EXIT), exit) {
            (Warmth::Hot, _) => {
                self.prepare(state, pc, Extent::Gap);
                self.regions.has_way_in(pc)
            }
            (Warmth::Never, Exit::Elsewhere(id)) => {
                self.give_up_if_worthless(*id);
                false
            }
            // A region is not to blame for leading to code that has yet to be compiled.
            _ => false,
        }
    }

    /// Interprets the instruction at which compiled code was left.
    fn step(&mut self, state: &mut State, devices: &mut Devices, run: &mut Run) -> Option<Stop> {
        let before = run.steps;
        match self.fast.run_until_hot(state, devices, before + 1, run) {
            Pause::Stopped(Stop::Limit) | Pause::Hot(_) => None,
            Pause::Stopped(stop) => Some(stop),
        }
    }

    /// Compiles and runs every instruction by itself.
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

    /// Compiles the instruction at the program counter, unless that was done before.
    fn prepare_step(&mut self, state: &mut State) {
        if !self.regions.has_way_in(state.pc) {
            self.prepare(state, state.pc, Extent::One);
        }
    }
}

/// Compiling for the first time; `recompile.rs` has the rest.
impl Jit {
    /// Prepares compiled code for a hot address: takes up what another engine has compiled, or orders it.
    fn prepare(&mut self, state: &mut State, pc: u64, extent: Extent) {
        // Compiled code addresses cells by their distance from the first, and no host has room for that many.
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
            return self.fast.set_heat(pc, Heat::After(self.ledger.patience(pc)));
        }
        self.make_room(state);
        // Without room for all cells of a large memory and their permits, compiled code could not be entered.
        if !self.has_room(state) {
            return self.fast.set_heat(pc, Heat::Never);
        }
        match self.discover(state, pc, extent, self.ledger.warm(), INSTRUCTIONS) {
            Some(region) => self.order(state, pc, region, Effort::Quick, None),
            None => self.fast.set_heat(pc, Heat::Never),
        }
    }

    /// Whether the program can afford to have the code at an address compiled.
    pub(crate) fn can_afford(&self, pc: u64) -> bool {
        self.stepping || self.ledger.can_afford(pc)
    }

    /// Discovers the region around an address, made of code that has been executed at least this often. Returns `None`
    /// if it is not worth compiling.
    pub(crate) fn discover(&self, state: &State, pc: u64, extent: Extent, least: u64, most: usize) -> Option<Region> {
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
        // On average, each content must have been executed as often as other code.
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

    /// Whether a region from this address may assume the present modes.
    pub(crate) fn may_assume_modes(&self, pc: u64) -> bool {
        !self.stepping && !self.any_mode.contains(&pc)
    }

    /// Orders a region from the compiler, perhaps to replace another.
    pub(crate) fn order(
        &mut self,
        state: &mut State,
        entry: u64,
        region: Region,
        effort: Effort,
        replaces: Option<RegionId>,
    ) {
        let leaders: Vec<u64> = region.blocks.keys().copied().collect();
        if effort == Effort::Quick {
            self.ledger.note_order(&leaders, region.size());
            self.look_again(entry);
        }
        let result = self.orders.open(entry, leaders);
        // Nobody takes delivery if the engine is gone.
        let deliver = move |region, time| drop(result.send(Delivery { entry, region, replaces, effort, time }));
        self.code.order(entry, region, effort, self.clock, deliver);
        self.take_deliveries(state);
    }

    /// Pauses soon at this address again, to see whether its code has arrived.
    fn look_again(&mut self, pc: u64) {
        self.fast.set_heat(pc, Heat::After(self.ledger.threshold() / LOOK_AGAIN));
    }

    /// Takes up compiled regions that have arrived, if the cells they were compiled from still hold the same.
    fn take_deliveries(&mut self, state: &mut State) {
        while let Some(Delivery { entry, region, replaces, effort, time }) = self.orders.next() {
            self.statistics.compile_time += time;
            // The region that it replaces may still be in use.
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
                    self.fast.set_heat(entry, Heat::After(self.ledger.patience(entry)));
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

    /// Puts a region into use.
    pub(crate) fn take_up(&mut self, state: &mut State, region: Arc<Compiled>) {
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
        let until_look = self.ledger.price(earned, YOUNG);
        self.regions.insert(InUse::new(region, earned, YOUNG), until_look);
    }
}

/// What becomes of the addresses of a dropped region.
#[derive(Clone, Copy)]
pub(crate) enum Drop {
    /// They may be compiled again, but not soon.
    TryAgain,
    /// They are never compiled again.
    ForGood,
}

/// Dropping regions.
impl Jit {
    /// Drops the regions with an instruction that has changed.
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

    /// Counts that a region has come back to the interpreter, and gives it up if it does so after every few steps.
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

    /// Drops a region.
    pub(crate) fn drop_region(&mut self, id: RegionId, drop: Drop) {
        for leader in self.regions.remove(id) {
            let heat = match drop {
                Drop::TryAgain => Heat::After(self.ledger.patience(leader)),
                Drop::ForGood => Heat::Never,
            };
            self.fast.set_heat(leader, heat);
        }
    }

    /// Drops all regions.
    fn drop_all(&mut self) {
        let all: Vec<RegionId> = self.regions.iter().map(|(id, _)| id).collect();
        all.into_iter().for_each(|id| self.drop_region(id, Drop::TryAgain));
    }

    /// Drops all code, because runs are to stop elsewhere. Its cost does not count against its replacement.
    fn begin_anew(&mut self) {
        self.ledger.write_off();
        self.drop_all();
    }
}
