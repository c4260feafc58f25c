//! Compiled code that many engines share.
//!
//! A region is a function of the cells it was compiled from and of how they were read, and
//! it has no state of its own. So any engine whose memory holds the same cells may run it.
//! An engine whose program changes itself lets go of its regions; the others keep them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lathe_isa::Isa;
use lathe_vm::State;
use lathe_vm::fast::{Fast, Reading};

use crate::code::{Code, Compilers};
use crate::emit::block_numbers;
use crate::region::{Assumptions, Region};

/// How often a block is reached before it is compiled, unless said otherwise. It has then been interpreted
/// for about as long as compiling it takes, whatever its length: compiling an instruction takes as long as
/// interpreting it so often.
const THRESHOLD: u32 = 6_000;
/// Regions from one address that are kept for engines to come; the oldest goes first.
const VARIANTS: usize = 4;
/// Addresses whose regions are kept; beyond that all are let go.
const ADDRESSES: usize = 1 << 12;

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
    library: Arc<Mutex<Library>>,
}

struct Library {
    /// None where there is no compiler for this computer.
    compilers: Option<Compilers>,
    /// The regions from each address, the newest last.
    regions: HashMap<u64, Vec<Arc<Compiled>>>,
}

/// A compiled region, with what must hold of a machine that runs it.
pub(crate) struct Compiled {
    pub(crate) code: Code,
    pub(crate) entry: u64,
    /// The most steps between two checks of the budget.
    pub(crate) bound: u64,
    /// Where it can be entered: addresses with the numbers of their blocks.
    pub(crate) blocks: BTreeMap<u64, u32>,
    /// The instructions it was made from.
    pub(crate) instructions: BTreeMap<u64, Reading>,
    /// What must hold whenever it is entered.
    pub(crate) assumptions: Assumptions,
}

impl SharedCode {
    /// No code yet, for this instruction set.
    pub fn new(isa: &Arc<Isa>) -> Self {
        SharedCode::with_threshold(isa, THRESHOLD)
    }

    /// No code yet; it is compiled when it has been reached so often.
    pub fn with_threshold(isa: &Arc<Isa>, threshold: u32) -> Self {
        let library = Library { compilers: Compilers::new(), regions: HashMap::new() };
        SharedCode { isa: isa.clone(), threshold, library: Arc::new(Mutex::new(library)) }
    }

    pub(crate) fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    /// The newest region from this address that fits the machine; `modes` says whether it may be for
    /// the present ones only.
    pub(crate) fn find(&self, fast: &Fast, state: &State, entry: u64, modes: bool) -> Option<Arc<Compiled>> {
        let library = self.lock();
        let fits = |region: &&Arc<Compiled>| {
            (modes || region.assumptions.modes.is_empty())
                && region.assumptions.are_modes_of(state)
                && region.assumptions.hold(fast.marks())
                && region.instructions.iter().all(|(pc, reading)| fast.reads_like(state, *pc, reading))
        };
        library.regions.get(&entry)?.iter().rev().find(fits).cloned()
    }

    /// Compiles a region and keeps it; none if the compiler refuses it.
    pub(crate) fn compile(&self, entry: u64, region: Region) -> Option<Arc<Compiled>> {
        let mut library = self.lock();
        let code = library.compilers.as_mut()?.compile(&self.isa, &region)?;
        let blocks = block_numbers(&region);
        let instructions = region.instructions.iter().map(|(pc, decoded)| (*pc, decoded.reading)).collect();
        let Region { bound, assumptions, .. } = region;
        let compiled = Arc::new(Compiled { code, entry, bound, blocks, instructions, assumptions });
        if library.regions.len() >= ADDRESSES {
            library.regions.clear();
        }
        let variants = library.regions.entry(entry).or_default();
        if variants.len() == VARIANTS {
            variants.remove(0);
        }
        variants.push(compiled.clone());
        Some(compiled)
    }

    /// What an engine leaves behind when it panics is still a whole library.
    fn lock(&self) -> MutexGuard<'_, Library> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
