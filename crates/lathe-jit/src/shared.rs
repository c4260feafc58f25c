//! Compiled code that many engines share.
//!
//! A region is a function of the cells it was compiled from and of how they were read, and it has no state of its own.
//! So any engine whose memory holds the same cells may run it. If the program of one engine changes itself, that engine
//! drops its regions; the others keep them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lathe_fast::{Armed, Fast, Reading};
use lathe_isa::Isa;
use lathe_vm::State;

use crate::Compiler;
use crate::code::Code;
use crate::emit::block_numbers;
use crate::engine::Clock;
use crate::orders::{Background, Job};
use crate::region::{Assumptions, Region};

/// Regions from one address that are kept for future engines; the oldest goes first.
const VARIANTS: usize = 4;
/// Addresses whose regions are kept; beyond this number all are let go.
const ADDRESSES: usize = 1 << 12;

/// Where a test chooses its own threshold, full effort pays after at most this many times the quick price, so that
/// short programs get there, too.
const SOON: u64 = 64;

/// How much the compiler does for a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As little as possible: most regions do not run long enough to earn back more.
    Quick,
    /// All it can: the code is up to twice as fast, and takes many times as long to make.
    Best,
}

/// Compiled code for one instruction set. A copy is the same code.
///
/// ```
/// use lathe_jit::{Jit, SharedCode};
/// # let text = "machine m \"\"\nmemory r : u8 -> u8\npc pc : u8 in r\ninstructions {\n h | 0000 0000 | halt\n}\n";
/// # let isa = std::sync::Arc::new(lathe_isa::load(text).isa.unwrap());
/// let code = SharedCode::new(&isa);
/// let machines: Vec<Jit> = (0..1_000).map(|_| Jit::sharing(&code)).collect();
/// ```
#[derive(Clone)]
pub struct SharedCode {
    isa: Arc<Isa>,
    threshold: u32,
    /// Multiples of the quick price after which full effort pays.
    better: u64,
    /// Who compiles; without anybody, the engine that orders the code compiles it.
    background: Option<Background>,
    /// `None` if there is no compiler for this computer. The compiler is locked while it works; the library is not.
    compiler: Arc<Mutex<Option<Compiler>>>,
    library: Arc<Mutex<Library>>,
}

#[derive(Default)]
struct Library {
    /// The regions from each address, the newest last.
    regions: HashMap<u64, Vec<Arc<Compiled>>>,
    /// The addresses from which a region is being compiled for some engine.
    ordered: HashSet<u64>,
}

/// A compiled region, with the conditions that a machine must meet to run it.
pub(crate) struct Compiled {
    pub(crate) code: Code,
    pub(crate) entry: u64,
    /// The most steps between two checks of the budget.
    pub(crate) bound: u64,
    /// Where it can be entered: leaders with the numbers of their blocks.
    pub(crate) blocks: BTreeMap<u64, u32>,
    /// The instructions it was made from.
    pub(crate) instructions: BTreeMap<u64, Reading>,
    /// The number of instructions, where each content of a volatile instruction counts.
    pub(crate) size: usize,
    /// The volatile instructions, with the number of compiled contents of each.
    pub(crate) selects: BTreeMap<u64, usize>,
    /// The addresses outside that it leads to by known jumps, and the addresses of its computed jumps, which lead
    /// anywhere.
    pub(crate) leads_to: BTreeSet<u64>,
    pub(crate) computed_jumps: BTreeSet<u64>,
    pub(crate) effort: Effort,
    /// What must hold whenever it is entered.
    pub(crate) assumptions: Assumptions,
    /// Instructions and accesses that it leaves to the reference interpreter because a run may stop there.
    armed: Arc<Armed>,
    /// Whether it was compiled quickly and nobody has ordered better code yet.
    improvable: AtomicBool,
}

impl SharedCode {
    /// Creates shared code for this instruction set, empty at first. A block is compiled once it has been interpreted
    /// for about as long as compiling it takes.
    pub fn new(isa: &Arc<Isa>) -> Self {
        SharedCode { better: Compiler::BEST, ..SharedCode::with_threshold(isa, Compiler::QUICK) }
    }

    /// Creates shared code, empty at first. A block is compiled after this many visits, and with full effort soon after
    /// that.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        let compiler = Arc::new(Mutex::new(Compiler::new()));
        let threshold = threshold.max(1);
        let better = Compiler::BEST.min(SOON);
        SharedCode { isa: isa.clone(), threshold, better, background: None, compiler, library: Arc::default() }
    }

    /// Compiles code elsewhere, while engines go on interpreting.
    #[must_use]
    pub fn in_background(self, background: Background) -> Self {
        SharedCode { background: Some(background), ..self }
    }

    pub(crate) fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    pub(crate) fn better(&self) -> u64 {
        self.better
    }

    /// Returns the newest region from this address that fits the machine; `modes` says whether the region may be for
    /// the present modes only.
    pub(crate) fn find(&self, fast: &Fast, state: &State, entry: u64, modes: bool) -> Option<Arc<Compiled>> {
        let library = lock(&self.library);
        let fits = |region: &&Arc<Compiled>| {
            (modes || region.assumptions.modes.is_empty())
                && region.assumptions.are_modes_of(state)
                && region.fits(fast, state)
        };
        library.regions.get(&entry)?.iter().rev().find(fits).cloned()
    }

    /// Whether a region from this address is being compiled for some engine.
    pub(crate) fn is_ordered(&self, entry: u64) -> bool {
        lock(&self.library).ordered.contains(&entry)
    }

    /// Orders a region from this address, keeps it, and delivers it with the time that compiling took; `None` if the
    /// compiler refuses it.
    pub(crate) fn order(
        &self,
        entry: u64,
        region: Region,
        effort: Effort,
        clock: Option<Clock>,
        deliver: impl FnOnce(Option<Arc<Compiled>>, Duration) + Send + 'static,
    ) {
        lock(&self.library).ordered.insert(entry);
        let code = self.clone();
        let job: Job = Box::new(move || {
            let now = || clock.map_or(Duration::ZERO, |clock| clock());
            let start = now();
            let compiled = code.compile(entry, region, effort);
            let time = now().saturating_sub(start);
            let mut library = lock(&code.library);
            library.ordered.remove(&entry);
            compiled.iter().for_each(|compiled| library.keep(compiled));
            drop(library);
            deliver(compiled, time);
        });
        match &self.background {
            Some(background) => background(job),
            None => job(),
        }
    }

    fn compile(&self, entry: u64, region: Region, effort: Effort) -> Option<Arc<Compiled>> {
        let code = lock(&self.compiler).as_mut()?.compile(&self.isa, &region, effort)?;
        let blocks = block_numbers(&region);
        let instructions = region.instructions.iter().map(|(pc, decoded)| (*pc, decoded.reading)).collect();
        let (bound, assumptions, armed) = (region.bound, region.assumptions.clone(), region.armed.clone());
        let (size, selects) = (region.size(), region.selects.clone());
        let (leads_to, computed_jumps) = (region.leads_to(), region.computed_jumps());
        let improvable = AtomicBool::new(effort == Effort::Quick);
        Some(Arc::new(Compiled {
            code,
            entry,
            bound,
            blocks,
            instructions,
            size,
            selects,
            leads_to,
            computed_jumps,
            effort,
            assumptions,
            armed,
            improvable,
        }))
    }
}

impl Library {
    fn keep(&mut self, compiled: &Arc<Compiled>) {
        if self.regions.len() >= ADDRESSES {
            self.regions.clear();
        }
        let variants = self.regions.entry(compiled.entry).or_default();
        if variants.len() == VARIANTS {
            variants.remove(0);
        }
        variants.push(compiled.clone());
    }
}

impl Compiled {
    /// Whether better code can be ordered for it.
    pub(crate) fn is_improvable(&self) -> bool {
        self.improvable.load(Ordering::Relaxed)
    }

    /// Whether better code can be ordered for it; only the first caller gets `true`.
    pub(crate) fn claim_improvement(&self) -> bool {
        self.improvable.swap(false, Ordering::Relaxed)
    }

    /// Whether a machine holds the cells that the region was compiled from, reads them in the same way, and stops runs
    /// at the same places.
    pub(crate) fn fits(&self, fast: &Fast, state: &State) -> bool {
        let is_same = |(pc, reading): (&u64, &Reading)| fast.reads_like(state, *pc, reading);
        self.armed == *fast.armed() && self.assumptions.hold(fast.marks()) && self.instructions.iter().all(is_same)
    }
}

/// Locks a mutex. Data that a panic left behind is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
