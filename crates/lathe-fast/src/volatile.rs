//! Instructions whose opcode keeps changing. Each is looked up by its content at every execution, so that alternating
//! between a few instructions costs a comparison, and storing into them nothing.

use lathe_base::numbers::ByNumber;
use lathe_values::Graph;
use lathe_vm::state::State;

use super::Fast;
use super::block::build_from;
use super::flow::Beginning;
use super::lower::lower;
use super::ops::{Code, EntryId, Op};

/// How many contents are remembered for one address. Beyond that all are forgotten, which costs only time.
const CONTENTS: usize = 1 << 10;

/// How many contents are cached; a power of two.
const RECENT: usize = 8;

/// An instruction whose opcode keeps changing.
#[derive(Clone, Debug)]
pub(super) struct Volatile {
    pub(super) pc: u64,
    /// What is known about each content: what the cells hold, as many as the longest instruction has.
    contents: ByNumber<u64, Content>,
    /// A cache of contents executed lately, found without a search.
    recent: [Option<Recent>; RECENT],
    /// The content that was executed last, and how often in a row.
    last: u64,
    quiet: u32,
    /// Executions of one content in a row after which the instruction counts as settled.
    patience: u32,
}

/// The operations of a content, and the most instructions that they are for.
#[derive(Clone, Copy, Debug)]
struct Recent {
    content: u64,
    start: Beginning,
    count: u32,
}

/// What is known about one content of the cells.
#[derive(Clone, Copy, Debug)]
enum Content {
    /// It has been executed this often. It is interpreted, because many contents never come back.
    Cold(u8),
    /// Where its operations begin, and the most instructions that they are for: this one and those that follow.
    Lowered(Beginning, u32),
}

/// What to do with a volatile instruction.
pub(super) enum Found {
    /// Where its operations begin, and the most instructions that they are for.
    Start(Beginning, u32),
    /// There are no operations for this content.
    Unknown,
    /// It has not changed for a long time.
    Settled,
}

impl Volatile {
    /// Finds the operations for the content that its cells hold now.
    #[inline]
    pub(super) fn find(&mut self, content: u64) -> Found {
        self.quiet = if content == self.last { self.quiet + 1 } else { 0 };
        self.last = content;
        match self.recent[place(content)] {
            Some(Recent { content: known, start, count }) if known == content && self.quiet < self.patience => {
                Found::Start(start, count)
            }
            _ => self.find_among_all(content),
        }
    }

    #[inline(never)]
    fn find_among_all(&mut self, content: u64) -> Found {
        match self.contents.get(&content) {
            Some(Content::Lowered(..)) if self.quiet >= self.patience => {
                self.quiet = 0;
                Found::Settled
            }
            Some(Content::Lowered(start, count)) => {
                self.recent[place(content)] = Some(Recent { content, start: *start, count: *count });
                Found::Start(*start, *count)
            }
            Some(Content::Cold(_)) | None => Found::Unknown,
        }
    }

    /// Forgets all operations, because an instruction that follows has changed.
    pub(super) fn forget(&mut self) {
        self.contents.clear();
        self.recent = Default::default();
    }

    /// Counts an execution of the content looked up last. Returns whether there have been more than this many.
    fn is_worth_lowering(&mut self, often: u8) -> bool {
        if self.contents.len() >= CONTENTS {
            self.forget();
        }
        let Content::Cold(executed) = self.contents.entry(self.last).or_insert(Content::Cold(0)) else { return false };
        *executed = executed.saturating_add(1);
        *executed > often
    }
}

/// Returns the place of a content in the cache.
fn place(content: u64) -> usize {
    (content.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - RECENT.ilog2())) as usize
}

impl Fast {
    /// Whether the cells of the instruction at an address fit in a word, and nothing else decides what it is.
    fn contents_fit(&self, pc: u64) -> bool {
        let mut cells = (0..u64::from(self.longest)).map(|at| self.isa.pc.width.wrap(pc.wrapping_add(at)));
        self.isa.modes.is_empty()
            && self.longest * self.isa.code_memory().cell.bits() <= u64::BITS
            && !(self.isa.has_mapped_code && cells.any(|cell| self.fetch(cell).is_some()))
    }

    /// Returns the contents for which the volatile instruction at an address has been executed often enough to be
    /// lowered; none unless it is volatile now. A content has as many cells as the longest instruction, the first above
    /// the others.
    pub fn contents(&self, pc: u64) -> Vec<u64> {
        let volatile = self.volatiles.iter().find(|volatile| volatile.pc == pc).filter(|_| self.is_volatile(pc));
        let all = volatile.into_iter().flat_map(|volatile| &volatile.contents);
        let lowered = |content: &Content| matches!(content, Content::Lowered(start, _) if start.is_lowered());
        let mut contents: Vec<u64> = all.filter(|(_, known)| lowered(known)).map(|(content, _)| *content).collect();
        contents.sort_unstable();
        contents
    }

    /// Notes that another engine executes the volatile instruction at an address for some contents: it is not always
    /// the same, even if it is whenever this engine executes it.
    pub fn is_executed_elsewhere(&mut self, pc: u64) {
        self.volatiles.iter_mut().filter(|volatile| volatile.pc == pc).for_each(|volatile| volatile.quiet = 0);
    }

    /// Adds the operation that looks up the volatile instruction at an address by its content, if that fits in a word.
    /// Returns where the operations of the instruction begin.
    pub(super) fn select(&mut self, pc: u64) -> Beginning {
        if !self.contents_fit(pc) {
            return Beginning::INTERPRET;
        }
        let next = self.volatiles.len() as u64;
        let known = self.volatiles.iter().zip(0..).find(|(volatile, _)| volatile.pc == pc).map(|(_, at)| at);
        let extra = known.unwrap_or(next);
        let patience = self.history.patience(pc);
        if extra == next {
            let (contents, recent) = Default::default();
            self.volatiles.push(Volatile { pc, contents, recent, last: 0, quiet: 0, patience });
        }
        self.volatiles[extra as usize].patience = patience;
        let (z, y) = (self.isa.pc.memory.index() as u8, self.longest as u8);
        Beginning::add(&mut self.ops, &[Op { y, z, extra, ..Op::new(Code::Select) }])
    }

    /// Lowers the current content of a volatile instruction, if that seems worth it. Returns whether it did.
    pub(super) fn add_variant(&mut self, state: &State, entry: EntryId, number: u32) -> bool {
        let pc = self.entries[entry as usize].pc;
        if !self.volatiles[number as usize].is_worth_lowering(self.lowered_after) {
            return false;
        }
        // With a compiler, the instructions that follow are better compiled; with many contents, they would be lowered
        // for each.
        let is_one_of_many = self.volatiles[number as usize].contents.len() > RECENT;
        let is_alone = self.stepping || self.threshold != u32::MAX || is_one_of_many;
        let lengths = if is_alone { [1, 1] } else { [usize::MAX, 1] };
        let lowered = lengths.into_iter().find_map(|most| {
            let block = build_from(self, state, self.decode(state, pc), pc, most, &[], Graph::default())?;
            Some((self.with_constants(|fast, constants| lower(&fast.isa.clone(), &block, fast, constants))?, block))
        });
        let (mut start, mut count) = (Beginning::INTERPRET, 1);
        if let Some((ops, block)) = lowered {
            (start, count) = (Beginning::add(&mut self.ops, &ops), block.steps.len() as u32);
            for (position, (pc, decoded)) in block.decoded.iter().enumerate().skip(1) {
                self.watch_in_block(state, *pc, decoded, (entry, position as u32));
            }
        }
        let volatile = &mut self.volatiles[number as usize];
        volatile.contents.insert(volatile.last, Content::Lowered(start, count));
        true
    }
}
