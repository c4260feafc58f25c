//! The engine: interprets, compiles what is hot, runs what is compiled, and forgets what
//! has been changed.

use std::collections::{BTreeSet, HashMap};

use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_vm::fast::{Heat, Pause};
use lathe_vm::{Devices, Engine, Fast, Run, State, Stop};

use crate::code::{Code, Compilers};
use crate::emit::{Context, block_numbers};
use crate::guarded;
use crate::region::discover;

/// How often an address is jumped to before it is compiled, unless said otherwise.
const THRESHOLD: i32 = 1_000;
/// Compilations of one address, at most; code that changes all the time is interpreted.
const COMPILATIONS: u32 = 8;
/// Exits at one computed jump before its region is compiled anew with the targets seen since.
const MISSES: u32 = 50;

/// The engine that compiles.
pub struct Jit<'i> {
    isa: &'i Isa,
    fast: Fast<'i>,
    /// None where there is no compiler for this computer, or the code memory is too large.
    compilers: Option<Compilers>,
    regions: HashMap<RegionId, Compiled>,
    next_region: RegionId,
    /// Where compiled code can be entered.
    entries: HashMap<u64, (RegionId, u32)>,
    compilations: HashMap<u64, u32>,
    misses: HashMap<u64, u32>,
    statistics: Statistics,
}

type RegionId = u32;

struct Compiled {
    code: Code,
    entry: u64,
    bound: u64,
    instructions: BTreeSet<u64>,
}

/// What the engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Regions compiled.
    pub regions: u64,
    /// Regions thrown away because their code was changed.
    pub invalidations: u64,
    /// Guest instructions compiled.
    pub compiled: u64,
    /// Those of them with cells that are read from memory whenever they are executed, because the
    /// program keeps changing them.
    pub patched: u64,
    /// Times that compiled code was entered.
    pub entries: u64,
    /// Steps done in compiled code.
    pub steps: u64,
}

impl<'i> Jit<'i> {
    /// An engine for this instruction set.
    pub fn new(isa: &'i Isa) -> Self {
        Jit::with_threshold(isa, THRESHOLD)
    }

    /// One that compiles what has been jumped to so often.
    pub fn with_threshold(isa: &'i Isa, threshold: i32) -> Self {
        let fast = Fast::with_threshold(isa, threshold);
        let compilers = fast.marks().flat().and_then(|_| Compilers::new());
        Jit {
            isa,
            fast,
            compilers,
            regions: HashMap::new(),
            next_region: 0,
            entries: HashMap::new(),
            compilations: HashMap::new(),
            misses: HashMap::new(),
            statistics: Statistics::default(),
        }
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Runs compiled code, if there is some here and the budget is large enough for it.
    fn enter(&mut self, state: &mut State, left: u64, run: &mut Run) -> Option<Exit> {
        let (id, block) = *self.entries.get(&state.pc)?;
        let region = &self.regions[&id];
        let fuel = i64::try_from(left).ok()?.checked_sub(i64::try_from(region.bound).ok()?)?;
        if fuel < 0 {
            return None;
        }
        let marks = self.fast.marks().flat()?.as_ptr();
        let memories = bases(self.isa, state);
        let registers = state.registers_mut().as_mut_ptr();
        let mut context =
            Context { registers, marks, memories: memories.as_ptr(), fuel, cycles: 0, pc: 0, interpret: 0 };
        // SAFETY: registers, marks and cells are those of a state of this instruction set, which
        // the region was compiled for; nothing else touches them during the call. A memory that is
        // not in one piece has a null base, and no code is compiled that reaches it.
        unsafe { region.code.call(&mut context, block) };
        state.pc = context.pc;
        let steps = (fuel - context.fuel) as u64;
        run.steps += steps;
        run.cycles += context.cycles;
        self.statistics.entries += 1;
        self.statistics.steps += steps;
        Some(if context.interpret != 0 { Exit::Interpret(id) } else { Exit::Elsewhere })
    }

    /// Compiles the region around an address.
    fn compile(&mut self, state: &State, pc: u64) {
        let count = self.compilations.entry(pc).or_default();
        *count += 1;
        let too_often = *count > COMPILATIONS;
        let Some(compilers) = self.compilers.as_mut().filter(|_| !too_often) else {
            self.fast.set_heat(pc, Heat::Never);
            return;
        };
        let region = discover(&self.fast, state, pc);
        let compiled = region.does_anything().then(|| compilers.compile(self.isa, &region)).flatten();
        let Some(code) = compiled else {
            self.fast.set_heat(pc, Heat::Never);
            return;
        };
        let id = self.next_region;
        self.next_region += 1;
        for (pc, decoded) in &region.instructions {
            self.fast.watch(state, *pc, decoded);
        }
        for (leader, number) in block_numbers(&region) {
            self.entries.insert(leader, (id, number));
            self.fast.set_heat(leader, Heat::Always);
        }
        self.statistics.regions += 1;
        self.statistics.compiled += region.instructions.len() as u64;
        self.statistics.patched += region.instructions.values().filter(|decoded| decoded.is_patched()).count() as u64;
        let instructions = region.instructions.into_keys().collect();
        self.regions.insert(id, Compiled { code, entry: pc, bound: region.bound, instructions });
    }

    /// Drops the regions that hold an instruction which was changed.
    fn forget_changed(&mut self) {
        for pc in self.fast.take_changed() {
            let mut hit: Vec<RegionId> = self.regions.keys().copied().collect();
            hit.retain(|id| self.regions[id].instructions.contains(&pc));
            for id in hit {
                self.drop_region(id);
                self.statistics.invalidations += 1;
            }
        }
    }

    fn drop_region(&mut self, id: RegionId) {
        self.regions.remove(&id);
        let mut leaders: Vec<u64> = Vec::new();
        self.entries.retain(|leader, (region, _)| {
            let keep = *region != id;
            if !keep {
                leaders.push(*leader);
            }
            keep
        });
        leaders.into_iter().for_each(|leader| self.fast.set_heat(leader, Heat::Cold));
    }

    /// Counts an exit before a computed jump; a region that misses often is compiled anew.
    fn miss(&mut self, state: &State, id: RegionId, pc: u64, known: usize) {
        if self.fast.targets(pc).count() == known {
            return;
        }
        let count = self.misses.entry(pc).or_default();
        *count += 1;
        if *count < MISSES {
            return;
        }
        *count = 0;
        if let Some(entry) = self.regions.get(&id).map(|region| region.entry) {
            self.drop_region(id);
            self.compile(state, entry);
        }
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

/// Why compiled code was left.
enum Exit {
    /// The instruction where it stands must be interpreted.
    Interpret(RegionId),
    /// It goes on where the region has no code, or the budget is nearly spent.
    Elsewhere,
}

/// The first cell of every memory that is in one piece, which is moved between guard pages if it
/// is not there yet.
fn bases(isa: &Isa, state: &mut State) -> Vec<*mut u8> {
    let base = |id| {
        let memory = state.memory_mut(id);
        memory.move_into(guarded::room, guarded::room);
        if let Some(bytes) = memory.spacious_bytes_mut() {
            return bytes.as_mut_ptr();
        }
        memory.words_mut().map_or(std::ptr::null_mut(), |words| words.as_mut_ptr().cast())
    };
    (0..isa.memories.len() as u32).map(MemoryId).map(base).collect()
}

impl Engine for Jit<'_> {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        self.fast.revalidate(state);
        self.forget_changed();
        let mut run = Run { stop: Stop::Limit, steps: 0, cycles: 0 };
        while run.steps < limit {
            if !self.fast.is_due(state)
                && let Some(exit) = self.enter(state, limit - run.steps, &mut run)
            {
                if run.steps == limit {
                    break;
                }
                if let Exit::Interpret(id) = exit {
                    let pc = state.pc;
                    let known = self.fast.targets(pc).count();
                    if let Some(stop) = self.step(state, devices, &mut run) {
                        run.stop = stop;
                        return run;
                    }
                    self.miss(state, id, pc, known);
                    self.forget_changed();
                    continue;
                }
            }
            match self.fast.run_until_hot(state, devices, limit, &mut run) {
                Pause::Stopped(stop) => {
                    run.stop = stop;
                    return run;
                }
                Pause::Hot(pc) => {
                    self.forget_changed();
                    if !self.entries.contains_key(&pc) {
                        self.compile(state, pc);
                    }
                }
            }
        }
        run
    }
}
