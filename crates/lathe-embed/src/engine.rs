//! The choice of an engine. All engines give the same results; they differ in speed and in the builds that have them.

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
    /// The fastest available: the JIT with its compiler on another thread, or the fast interpreter where there is no
    /// JIT.
    #[default]
    Auto,
    /// The reference interpreter.
    Interpreter,
    /// The fast interpreter.
    Fast,
    /// The fast interpreter, with compiled code where the program is hot. It waits for its compiler, so that it
    /// compiles the same in every run.
    Jit,
}

/// Why an engine is not available.
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
    /// Regions that ran for long, and were compiled again as well as the compiler can.
    pub improved: u64,
    /// Regions discarded because their code changed.
    pub invalidations: u64,
    /// Regions given up because execution kept leaving them after a few instructions.
    pub given_up: u64,
    /// How often compiled code was entered.
    pub entries: u64,
    /// How often execution left compiled code because an instruction must be interpreted: it reaches a device, faults,
    /// halts, or changes code.
    pub left_to_interpreter: u64,
    /// How often a computed jump left compiled code for an address that has none.
    pub left_by_jump: u64,
    /// Guest instructions compiled.
    pub compiled_instructions: u64,
    /// Steps executed in compiled code.
    pub compiled_steps: u64,
    /// Time spent compiling, if the engine was given a clock.
    pub compile_time: Duration,
}

/// An engine.
pub enum AnyEngine {
    /// The reference interpreter.
    Interpreter(Interpreter),
    /// The fast interpreter.
    Fast(Box<Fast>),
    /// The JIT.
    #[cfg(feature = "jit")]
    Jit(Box<Jit>),
}

impl EngineKind {
    /// Every actual engine, the simplest first; [`EngineKind::Auto`] is one of these.
    pub const ALL: [EngineKind; 3] = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit];

    /// Returns the name used on the command line and in tables.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Auto => "auto",
            EngineKind::Interpreter => "interp",
            EngineKind::Fast => "fast",
            EngineKind::Jit => "jit",
        }
    }

    /// Builds the engine for tests that check after every step. Each engine then executes its own form of every
    /// instruction, one at a time: the fast interpreter its operations, the JIT compiled code.
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

    /// Builds the engine for this instruction set.
    ///
    /// # Errors
    /// If the engine is not available. [`EngineKind::Auto`] always is.
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

/// What the compiling engines of several instances share: their code.
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

    /// Returns which engine this is; never [`EngineKind::Auto`].
    pub fn kind(&self) -> EngineKind {
        match self {
            AnyEngine::Interpreter(_) => EngineKind::Interpreter,
            AnyEngine::Fast(_) => EngineKind::Fast,
            #[cfg(feature = "jit")]
            AnyEngine::Jit(_) => EngineKind::Jit,
        }
    }

    /// Sets the clock with which the engine measures its compile time, if it compiles. The clock returns the time
    /// passed since some fixed moment.
    pub fn set_clock(&mut self, clock: fn() -> Duration) {
        #[cfg(feature = "jit")]
        if let AnyEngine::Jit(jit) = self {
            jit.set_clock(clock);
        }
        #[cfg(not(feature = "jit"))]
        let _ = clock;
    }

    /// Returns what the engine has compiled, if it compiles.
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
    /// Returns what to do about it.
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
