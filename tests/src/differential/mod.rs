//! Generated programs on several engines, which must agree in everything.
//!
//! A case is a program, an input, initial registers and data, and a few step limits. It is a function of its seed, so a
//! seed is enough to reproduce a failure. State, output, steps, cycles and the reason to stop are compared after every
//! limit.

mod generator;
mod report;
mod shrink;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, Place, RegisterId};
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State, Stop};

pub use generator::generate;
pub use report::{save, text};
pub use shrink::shrink;

/// Programs that one engine runs before another is made.
const KEPT: u64 = 16;
/// One program in this many is also run on an engine of its own.
const FRESH: u64 = 4;

/// A program with everything on which its run depends.
#[derive(Clone, Debug)]
pub struct Case {
    /// The instructions in order, from `origin` on: encoded cells.
    pub program: Vec<Vec<u64>>,
    /// The address of the first instruction.
    pub origin: u64,
    /// The first contents of the registers.
    pub registers: Vec<u64>,
    /// Cells of data, by memory and address; the program lies over them.
    pub data: Vec<(MemoryId, u64, u64)>,
    /// The input at the console.
    pub input: Vec<u8>,
    /// The step limits of consecutive runs.
    pub limits: Vec<u64>,
}

impl Case {
    /// Loads the case into a machine at reset.
    pub fn lay_down(&self, isa: &Isa, state: &mut State) {
        for (id, value) in (0..).map(RegisterId).zip(&self.registers) {
            if !isa.register(id).constant {
                state.set_place(isa, &Place::whole(id, isa.register(id).width), *value);
            }
        }
        for (memory, address, value) in self.cells(isa) {
            state.memory_mut(memory).set(address, value);
        }
        state.pc = self.origin;
    }

    /// Returns the first contents of the memories, in the order of addresses.
    pub fn cells(&self, isa: &Isa) -> Vec<(MemoryId, u64, u64)> {
        let at = |offset| isa.pc.width.wrap(self.origin.wrapping_add(offset));
        let program = self.program.iter().flatten().zip(0..).map(|(value, offset)| {
            let (memory, address) = isa.code_cell(&self.registers, at(offset));
            (memory, address, *value)
        });
        let all = self.data.iter().copied().chain(program);
        let cells: BTreeMap<(u32, u64), u64> =
            all.map(|(memory, address, value)| ((memory.0, address), value)).collect();
        cells.into_iter().map(|((memory, address), value)| (MemoryId(memory), address, value)).collect()
    }
}

/// A job to be done once.
type Job = Box<dyn FnOnce() + Send>;

/// Does every job once this many others have been ordered after it.
pub fn later(by: usize) -> Arc<dyn Fn(Job) + Send + Sync> {
    let waiting: Mutex<VecDeque<Job>> = Mutex::default();
    Arc::new(move |job| {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push_back(job);
        let due = if waiting.len() > by { waiting.pop_front() } else { None };
        drop(waiting);
        due.into_iter().for_each(|job| job());
    })
}

/// Makes an engine for an instruction set.
pub type Make = Box<dyn Fn(&Arc<Isa>) -> Box<dyn Engine>>;

/// An engine to be compared.
pub struct Contestant {
    /// Its name.
    pub name: &'static str,
    /// Creates the engine.
    pub make: Make,
}

impl Contestant {
    /// Creates a contestant from an engine and its name.
    pub fn new<E: Engine + 'static>(name: &'static str, make: impl Fn(&Arc<Isa>) -> E + 'static) -> Self {
        Contestant { name, make: Box::new(move |isa| Box::new(make(isa))) }
    }
}

/// A case on which an engine disagrees with the reference interpreter.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The seed of the program.
    pub seed: u64,
    /// The seed of the first program that the engine ran, if a new engine agrees.
    pub since: Option<u64>,
    /// The smallest failing case so far.
    pub case: Case,
    /// The difference.
    pub difference: String,
}

/// What can be observed after a run.
#[derive(Debug, PartialEq)]
pub struct Sight {
    /// How the run ended.
    pub run: Run,
    /// The machine after it.
    pub state: State,
    /// All output so far.
    pub output: Vec<u8>,
}

/// A machine with a case loaded.
struct Laid {
    state: State,
    devices: Devices,
}

impl Laid {
    fn new(isa: &Isa, case: &Case) -> Laid {
        let mut state = State::new(isa);
        case.lay_down(isa, &mut state);
        Laid { state, devices: Devices::new(isa, Console::with_input(case.input.iter().copied())) }
    }

    fn output(&self) -> &[u8] {
        self.devices.find_console().map_or(&[][..], Console::output)
    }
}

/// Returns what the reference interpreter shows after each limit, until the machine stops.
fn expected(isa: &Arc<Isa>, case: &Case) -> Vec<Sight> {
    play(isa, case, &mut Interpreter::new(isa))
}

/// Returns what an engine shows after each limit, until the machine stops.
pub fn play(isa: &Isa, case: &Case, engine: &mut dyn Engine) -> Vec<Sight> {
    let mut laid = Laid::new(isa, case);
    let mut sights = Vec::new();
    for limit in &case.limits {
        let run = engine.run(&mut laid.state, &mut laid.devices, *limit);
        let goes_on = run.stop == Stop::Limit;
        sights.push(Sight { run, state: laid.state.clone(), output: laid.output().to_vec() });
        if !goes_on {
            break;
        }
    }
    sights
}

/// Returns an engine's first difference, if there is one.
fn difference(isa: &Isa, case: &Case, expected: &[Sight], engine: &mut dyn Engine) -> Option<String> {
    let mut laid = Laid::new(isa, case);
    for (at, (sight, limit)) in expected.iter().zip(&case.limits).enumerate() {
        let run = engine.run(&mut laid.state, &mut laid.devices, *limit);
        if run != sight.run || laid.state != sight.state || laid.output() != sight.output {
            return Some(format!("after run {} of {}\n{}", at + 1, case.limits.len(), told(isa, sight, &run, &laid)));
        }
    }
    None
}

fn told(isa: &Isa, expected: &Sight, run: &Run, found: &Laid) -> String {
    let mut text = String::new();
    if *run != expected.run {
        let _ = writeln!(text, "{run:?}\n  not {:?}", expected.run);
    }
    if found.state.pc != expected.state.pc {
        let _ = writeln!(text, "{} = {:#x}, not {:#x}", isa.pc.name, found.state.pc, expected.state.pc);
    }
    for ((register, a), b) in isa.registers.iter().zip(found.state.registers()).zip(expected.state.registers()) {
        if a != b {
            let _ = writeln!(text, "{} = {a:#x}, not {b:#x}", register.name);
        }
    }
    for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
        let (found, expected) = (found.state.memory(id), expected.state.memory(id));
        let all = found.nonzero().into_iter().chain(expected.nonzero()).map(|(address, _)| address);
        let mut all: Vec<u64> = all.filter(|at| found.get(*at) != expected.get(*at)).collect();
        all.sort_unstable();
        all.dedup();
        for at in all.iter().take(8) {
            let _ = writeln!(text, "{}[{at:#x}] = {:#x}, not {:#x}", memory.name, found.get(*at), expected.get(*at));
        }
    }
    if found.output() != expected.output {
        let _ = writeln!(text, "output {:?}, not {:?}", found.output(), expected.output);
    }
    text
}

/// Compares the programs of these seeds. A disagreement is shown to `found` at once, and then ever smaller ones, so
/// that nothing is lost if somebody stops the search.
///
/// One engine runs many programs, so that its memory of one must not disturb the next.
///
/// # Errors
/// The smallest disagreement found from the first one.
pub fn compare(
    isa: &Arc<Isa>,
    seeds: Range<u64>,
    engine: &Contestant,
    found: &mut dyn FnMut(&Disagreement),
) -> Result<(), Box<Disagreement>> {
    let mut kept = (engine.make)(isa);
    for seed in seeds {
        if seed % KEPT == 0 {
            kept = (engine.make)(isa);
        }
        let case = generate(isa, seed);
        let expected = expected(isa, &case);
        let alone = || difference(isa, &case, &expected, &mut *(engine.make)(isa));
        if let Some(difference) = Some(()).filter(|()| seed % FRESH == 0).and_then(|()| alone()) {
            return Err(smallest(isa, Disagreement { seed, since: None, case, difference }, engine, found));
        }
        if let Some(difference) = difference(isa, &case, &expected, &mut *kept) {
            let since = alone().is_none().then_some(seed - seed % KEPT);
            return Err(smallest(isa, Disagreement { seed, since, case, difference }, engine, found));
        }
    }
    Ok(())
}

/// Returns the smallest disagreement found from this one on a new engine. One that needs an old engine stays as it is.
fn smallest(
    isa: &Arc<Isa>,
    first: Disagreement,
    engine: &Contestant,
    found: &mut dyn FnMut(&Disagreement),
) -> Box<Disagreement> {
    found(&first);
    let mut best = first.clone();
    if first.since.is_none() {
        let alone = |case: &Case| difference(isa, case, &expected(isa, case), &mut *(engine.make)(isa));
        let mut show = |case: &Case| {
            best = Disagreement { case: case.clone(), difference: alone(case).unwrap_or_default(), ..first.clone() };
            found(&best);
        };
        shrink(isa, &first.case, &mut |case| alone(case).is_some(), &mut show);
    }
    Box::new(best)
}
