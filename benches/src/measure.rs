//! Times programs on everything that can run them. The contestants take turns in every round, so that a noisy moment
//! hits all of them, and their results are compared before anything is timed.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use lathe_asm::Image;
use lathe_embed::{EngineKind, Machine, Run, State};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use crate::by_hand;
use crate::translation::{NoTranslation, Translation, remains};

/// The reference interpreter gets this fraction of the steps, because it is so much slower.
const REFERENCE_SHARE: u64 = 20;
/// Steps after which everything is compared.
const COMPARED: u64 = 1_234_567;

/// Something that runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contestant {
    /// The hand-written interpreter.
    ByHand,
    /// An engine of Lathe.
    Engine(EngineKind),
    /// The static translation.
    Translation,
}

impl Contestant {
    /// Returns its name in a table.
    pub fn name(self) -> &'static str {
        match self {
            Contestant::ByHand => "by hand",
            Contestant::Engine(kind) => kind.name(),
            Contestant::Translation => "gcc -O3",
        }
    }
}

/// Which baselines to measure besides the engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baselines {
    /// The hand-written interpreter, if there is one, and the static translation, if it is possible.
    All,
    /// The hand-written interpreter, if there is one.
    ByHand,
    /// None: only the engines.
    None,
}

/// A program to be measured.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// Its machine.
    pub isa: &'j Arc<Isa>,
    /// The program.
    pub image: &'j Image,
    /// What it is measured against.
    pub baselines: Baselines,
    /// The engines to measure, if they exist.
    pub engines: &'j [EngineKind],
    /// How many steps a run has, if the program does not end earlier.
    pub steps: u64,
    /// How many rounds there are; at least one.
    pub rounds: usize,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    /// The steps it executed.
    pub steps: u64,
    /// How long they took.
    pub seconds: f64,
    /// The part of that spent on compiling; on another thread, in addition to it.
    pub compiling: f64,
}

/// All rounds of one contestant: seconds per step, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The contestant.
    pub contestant: Contestant,
    /// The steps of a run.
    pub steps: u64,
    /// The fraction of the time spent on compiling in the best round; it can be more than 1 if another thread did it.
    pub compiling: f64,
    times: Vec<f64>,
}

impl Score {
    /// Creates the score of at least one round, all of the same number of steps.
    fn new(contestant: Contestant, mut rounds: Vec<Timed>) -> Score {
        rounds.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        let Timed { steps, seconds, compiling } = rounds[0];
        let times = rounds.iter().map(|round| round.seconds / round.steps as f64).collect();
        Score { contestant, steps, compiling: compiling / seconds, times }
    }

    /// Returns seconds per step in the best round.
    pub fn best(&self) -> f64 {
        self.times[0]
    }

    /// Returns seconds per step in the median round.
    pub fn median(&self) -> f64 {
        self.times[self.times.len() / 2]
    }
}

/// The results of a job.
#[derive(Clone, Debug)]
pub struct Measured {
    /// A score for each contestant.
    pub scores: Vec<Score>,
    /// Why there is no translation, if one was wanted.
    pub no_translation: Option<NoTranslation>,
}

/// Why a job could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The program executes no instruction at all.
    NothingToRun,
    /// Two contestants that must agree do not: a bug.
    Disagreement(Contestant),
    /// The translation could not be run.
    Translation(NoTranslation),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trouble::NothingToRun => write!(f, "the program executes not one instruction"),
            Trouble::Disagreement(contestant) => {
                write!(f, "`{}` does not do what the reference interpreter does", contestant.name())
            }
            Trouble::Translation(why) => write!(f, "the static translation cannot be run: {why}"),
        }
    }
}

/// Reports progress: the round, from 1, and whose turn it is.
pub type Progress<'p> = dyn FnMut(usize, Contestant) + 'p;

/// A contestant with what it needs.
#[derive(Clone, Copy)]
enum Runner<'t> {
    ByHand,
    Engine(EngineKind),
    Translation(&'t Translation),
}

impl Runner<'_> {
    fn contestant(self) -> Contestant {
        match self {
            Runner::ByHand => Contestant::ByHand,
            Runner::Engine(kind) => Contestant::Engine(kind),
            Runner::Translation(_) => Contestant::Translation,
        }
    }
}

impl Job<'_> {
    /// Compares, then times.
    ///
    /// # Errors
    /// If the contestants disagree, or one cannot be run.
    pub fn measure(&self, progress: &mut Progress) -> Result<Measured, Trouble> {
        let translation = (self.baselines == Baselines::All).then(|| self.translate());
        let (translation, no_translation) = match translation.transpose() {
            Ok(translation) => (translation, None),
            Err(why) => (None, Some(why)),
        };
        let runners = self.runners(translation.as_ref());
        self.compare(&runners)?;
        let mut rounds: Vec<Vec<Timed>> = vec![Vec::new(); runners.len()];
        for round in 1..=self.rounds.max(1) {
            for (runner, rounds) in runners.iter().zip(&mut rounds) {
                progress(round, runner.contestant());
                rounds.push(self.time(*runner)?);
            }
        }
        let scores = runners.iter().zip(rounds).map(|(runner, rounds)| Score::new(runner.contestant(), rounds));
        Ok(Measured { scores: scores.collect(), no_translation })
    }

    /// Returns the static translation, if it can run all steps.
    fn translate(&self) -> Result<Translation, NoTranslation> {
        let translation = Translation::new(self.isa, self.image)?;
        let (timed, _) = translation.run(self.steps)?;
        if timed.steps < self.steps { Err(NoTranslation::Stops) } else { Ok(translation) }
    }

    fn runners<'t>(&self, translation: Option<&'t Translation>) -> Vec<Runner<'t>> {
        let by_hand = self.by_hand().map(|_| Runner::ByHand);
        let is_there = |kind: &EngineKind| kind.build(self.isa).is_ok();
        let engines = self.engines.iter().copied().filter(is_there).map(Runner::Engine);
        by_hand.into_iter().chain(engines).chain(translation.map(Runner::Translation)).collect()
    }

    /// Returns the hand-written interpreter with the program loaded, if it is wanted and exists.
    fn by_hand(&self) -> Option<Box<dyn by_hand::ByHand>> {
        let code = self.image.flat(self.isa.pc.memory, 0).filter(|_| self.baselines != Baselines::None)?;
        let program: Vec<u64> = std::iter::repeat_n(0, code.start as usize).chain(code.cells).collect();
        by_hand::load(&self.isa.name, &program, self.image.start(self.isa))
    }

    /// Times one run from the beginning.
    fn time(&self, runner: Runner) -> Result<Timed, Trouble> {
        let timed = match runner {
            Runner::ByHand => self.by_hand().map(|mut machine| {
                let start = processor_time();
                machine.run(self.steps);
                Timed { steps: self.steps, seconds: seconds_since(start), compiling: 0.0 }
            }),
            Runner::Engine(EngineKind::Interpreter) => {
                Some(self.run(EngineKind::Interpreter, (self.steps / REFERENCE_SHARE).max(1)).0)
            }
            Runner::Engine(kind) => Some(self.run(kind, self.steps).0),
            Runner::Translation(translation) => Some(translation.run(self.steps).map_err(Trouble::Translation)?.0),
        };
        timed.filter(|timed| timed.steps > 0).ok_or(Trouble::NothingToRun)
    }

    /// Runs an engine created for this run only: what it compiles is part of its time.
    fn run(&self, kind: EngineKind, limit: u64) -> (Timed, Run, State) {
        let machine = Machine::from(self.isa.clone());
        let start = processor_time();
        let instance = machine.instance_on(kind);
        let mut instance = instance.unwrap_or_else(|_| unreachable!("only engines that are there take part"));
        instance.set_clock(processor_time);
        instance.load(self.image);
        let run = instance.run_for(limit);
        let seconds = seconds_since(start);
        let compiling = instance.statistics().map_or(0.0, |statistics| statistics.compile_time.as_secs_f64());
        (Timed { steps: run.steps, seconds, compiling }, run, instance.state().clone())
    }

    /// Compares all contestants' results with the reference interpreter's.
    fn compare(&self, runners: &[Runner]) -> Result<(), Trouble> {
        let limit = COMPARED.min(self.steps);
        let (_, run, state) = self.run(EngineKind::Interpreter, limit);
        let agrees = |runner: &&Runner| match **runner {
            Runner::Engine(kind) => {
                let (_, found, left) = self.run(kind, limit);
                (&found, &left) == (&run, &state)
            }
            Runner::ByHand => self.by_hand_agrees(limit, &run, &state),
            Runner::Translation(translation) => self.translation_agrees(translation, limit),
        };
        match runners.iter().find(|runner| !agrees(runner)) {
            None => Ok(()),
            Some(runner) => Err(Trouble::Disagreement(runner.contestant())),
        }
    }

    fn by_hand_agrees(&self, limit: u64, run: &Run, state: &State) -> bool {
        self.by_hand().is_some_and(|mut machine| {
            machine.run(limit);
            leaves(&*machine, self.isa, state) && machine.cycles().is_none_or(|cycles| cycles == run.cycles)
        })
    }

    /// The translation stops a little later than asked; the engine runs for as many steps.
    fn translation_agrees(&self, translation: &Translation, limit: u64) -> bool {
        translation.run(limit).is_ok_and(|(timed, left)| {
            let (_, _, state) = self.run(EngineKind::Fast, timed.steps);
            remains(self.isa, &state) == left
        })
    }
}

/// Returns the processor time of this thread, so that other load on the computer does not count; where the system does
/// not report it, the time that has passed.
pub fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    // Linux updates the count when a thread yields its processor, so this one does.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn seconds_since(start: Duration) -> f64 {
    processor_time().saturating_sub(start).as_secs_f64()
}

/// Whether a hand-written machine is in this state, as far as it reports its own.
pub fn leaves(machine: &dyn by_hand::ByHand, isa: &Isa, state: &State) -> bool {
    let register = |name: &str| {
        let place = isa.registers.iter().position(|register| register.name == name);
        place.map(|place| state.registers()[place])
    };
    let memory = isa.memories.iter().position(|memory| memory.name == machine.memory_name());
    memory.is_some_and(|id| {
        let memory = state.memory(MemoryId(id as u32));
        machine.pc() == state.pc
            && machine.registers().iter().all(|(name, value)| register(name) == Some(*value))
            && machine.memory().iter().all(|(address, value)| memory.get(*address) == *value)
    })
}
