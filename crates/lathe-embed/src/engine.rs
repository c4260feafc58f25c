//! The choice of an engine. All of them do the same; they differ in speed, and in what
//! builds they are there for.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lathe_fast::Fast;
use lathe_isa::Isa;

#[cfg(feature = "jit")]
use lathe_jit::{Jit, SharedCode};
use lathe_vm::{Devices, Engine, Interpreter, Run, State, Stops};

/// Which engine runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// The fastest there is: the JIT with its compiler on another thread, or the fast interpreter where that cannot
    /// be had.
    #[default]
    Auto,
    /// The reference interpreter.
    Interpreter,
    /// The fast interpreter.
    Fast,
    /// The fast interpreter, and compiled code for what is hot. It waits for its compiler, so that it compiles the
    /// same in every run.
    Jit,
}

/// Why an engine cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// Lathe was built without it.
    NotBuilt,
}

/// What a compiling engine has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Regions of code compiled.
    pub regions: u64,
    /// Those of them that ran for long, and were compiled again as well as the compiler can.
    pub improved: u64,
    /// Regions thrown away because their code was changed.
    pub invalidations: u64,
    /// Regions given up because they were left again after every few instructions.
    pub given_up: u64,
    /// Times that compiled code was entered.
    pub entries: u64,
    /// Times that it was left because an instruction must be interpreted: it reaches a device, faults,
    /// halts, or changes code.
    pub left_to_interpreter: u64,
    /// Times that it was left by a computed jump to where it has no code.
    pub left_by_jump: u64,
    /// Guest instructions compiled.
    pub compiled_instructions: u64,
    /// Steps done in compiled code.
    pub compiled_steps: u64,
    /// Spent on compiling, if the engine was given a clock.
    pub compile_time: Duration,
}

/// One of the engines.
pub enum AnyEngine {
    /// The reference interpreter.
    Interpreter(Interpreter),
    /// The fast interpreter.
    Fast(Box<Fast>),
    /// The one that compiles.
    #[cfg(feature = "jit")]
    Jit(Box<Jit>),
}

impl EngineKind {
    /// Every engine by itself, the simplest first; [`EngineKind::Auto`] is one of these.
    pub const ALL: [EngineKind; 3] = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit];

    /// How it is called on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Auto => "auto",
            EngineKind::Interpreter => "interp",
            EngineKind::Fast => "fast",
            EngineKind::Jit => "jit",
        }
    }

    /// The engine for tests that look after every step. Each executes its own form of every instruction
    /// then, one at a time: the fast interpreter its operations, the JIT compiled code.
    ///
    /// # Errors
    /// As for [`EngineKind::build`].
    pub fn build_for_steps(self, isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
        match self {
            EngineKind::Interpreter => self.build(isa),
            EngineKind::Fast => Ok(AnyEngine::Fast(Box::new(Fast::stepping(isa)))),
            EngineKind::Jit => stepping_jit(isa),
            EngineKind::Auto => stepping_jit(isa).or_else(|_| EngineKind::Fast.build_for_steps(isa)),
        }
    }

    /// The engine, for this instruction set.
    ///
    /// # Errors
    /// If it was asked for by name and cannot be had. [`EngineKind::Auto`] always can.
    pub fn build(self, isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
        match self {
            EngineKind::Interpreter => Ok(AnyEngine::Interpreter(Interpreter::new(isa))),
            EngineKind::Fast => Ok(AnyEngine::Fast(Box::new(Fast::new(isa)))),
            EngineKind::Jit => jit(isa),
            EngineKind::Auto => automatic(isa),
        }
    }
}

#[cfg(feature = "jit")]
fn jit(isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    Ok(AnyEngine::Jit(Box::new(Jit::new(isa))))
}

#[cfg(not(feature = "jit"))]
fn jit(_: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    Err(Unavailable::NotBuilt)
}

#[cfg(feature = "jit")]
fn automatic(isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    Ok(SharedEngine::new(isa).engine())
}

#[cfg(not(feature = "jit"))]
fn automatic(isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    EngineKind::Fast.build(isa)
}

#[cfg(feature = "jit")]
fn stepping_jit(isa: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    Ok(AnyEngine::Jit(Box::new(Jit::stepping(isa))))
}

#[cfg(not(feature = "jit"))]
fn stepping_jit(_: &Arc<Isa>) -> Result<AnyEngine, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// What the compiling engines of several instances have in common: their code.
#[cfg(feature = "jit")]
#[derive(Clone)]
pub(crate) struct SharedEngine(SharedCode);

#[cfg(feature = "jit")]
impl SharedEngine {
    pub(crate) fn new(isa: &Arc<Isa>) -> Self {
        SharedEngine(SharedCode::new(isa).in_background(Arc::new(crate::background::run)))
    }

    pub(crate) fn engine(&self) -> AnyEngine {
        AnyEngine::Jit(Box::new(Jit::sharing(&self.0)))
    }
}

impl AnyEngine {
    fn as_engine(&mut self) -> &mut dyn Engine {
        match self {
            AnyEngine::Interpreter(engine) => engine,
            AnyEngine::Fast(engine) => &mut **engine,
            #[cfg(feature = "jit")]
            AnyEngine::Jit(engine) => &mut **engine,
        }
    }

    /// Which one it is; never [`EngineKind::Auto`].
    pub fn kind(&self) -> EngineKind {
        match self {
            AnyEngine::Interpreter(_) => EngineKind::Interpreter,
            AnyEngine::Fast(_) => EngineKind::Fast,
            #[cfg(feature = "jit")]
            AnyEngine::Jit(_) => EngineKind::Jit,
        }
    }

    /// Lets it measure with this clock how long compiling takes, if it is one that compiles. It tells
    /// the time that has passed since some moment.
    pub fn set_clock(&mut self, clock: fn() -> Duration) {
        #[cfg(feature = "jit")]
        if let AnyEngine::Jit(jit) = self {
            jit.set_clock(clock);
        }
        #[cfg(not(feature = "jit"))]
        let _ = clock;
    }

    /// What it has compiled, if it is one that compiles.
    pub fn statistics(&self) -> Option<Statistics> {
        match self {
            AnyEngine::Interpreter(_) | AnyEngine::Fast(_) => None,
            #[cfg(feature = "jit")]
            AnyEngine::Jit(jit) => {
                let done = jit.statistics();
                Some(Statistics {
                    regions: done.regions,
                    improved: done.improved,
                    invalidations: done.invalidations,
                    given_up: done.given_up,
                    entries: done.entries,
                    left_to_interpreter: done.interpreted,
                    left_by_jump: done.jumped,
                    compiled_instructions: done.compiled,
                    compiled_steps: done.steps,
                    compile_time: done.compile_time,
                })
            }
        }
    }
}

impl Engine for AnyEngine {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        self.as_engine().advance(state, devices, stops)
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        self.as_engine().interpreter()
    }
}

impl Unavailable {
    /// What to do about it.
    pub fn next_step(&self) -> &'static str {
        match self {
            Unavailable::NotBuilt => {
                "choose `fast`, which does the same, or install one that has it: `cargo install --path crates/lathe`"
            }
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::NotBuilt => write!(f, "this build of Lathe has no JIT"),
        }
    }
}
