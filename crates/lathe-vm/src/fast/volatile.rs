//! Instructions whose opcode keeps changing. Each is looked up by what its cells hold whenever it is executed, so
//! that going back and forth between a few instructions costs a comparison, and storing into them nothing.

use super::block::build_from;
use super::lower::lower;
use super::ops::{Code, EntryId, Op};
use super::{Fast, INTERPRET};
use crate::state::State;

/// Contents that are remembered for one address.
const VARIANTS: usize = 16;
/// A content is lowered after this many executions since the last time. Otherwise contents that never come back would
/// cost more than interpreting them.
const WORTH: u32 = 64;

/// An instruction whose opcode keeps changing.
#[derive(Clone, Debug)]
pub(super) struct Volatile {
    pub(super) pc: u64,
    variants: Vec<Variant>,
    /// The variant that was executed last, and how often in a row.
    last: usize,
    quiet: u32,
    /// Executions in a row after which it is taken for settled.
    patience: u32,
    /// Executions since a variant was added.
    executed: u32,
}

/// The operations for one content of the cells.
#[derive(Clone, Copy, Debug)]
struct Variant {
    mask: u64,
    content: u64,
    start: u32,
    /// How many instructions there are: this one and those that follow it.
    count: u32,
}

/// What is to be done with a volatile instruction.
pub(super) enum Found {
    /// Its operations begin here, and are for at most this many instructions.
    Start(u32, u32),
    /// This content is not known.
    Unknown,
    /// It has not changed for a long time.
    Settled,
}

impl Volatile {
    /// Finds the operations for what its cells hold now.
    #[inline]
    pub(super) fn find(&mut self, content: u64) -> Found {
        let matches = |variant: &Variant| (variant.content ^ content) & variant.mask == 0;
        self.executed = self.executed.saturating_add(1);
        let Some(at) = self.variants.iter().position(matches) else { return Found::Unknown };
        self.quiet = if at == self.last { self.quiet + 1 } else { 0 };
        self.last = at;
        if self.quiet >= self.patience {
            self.quiet = 0;
            return Found::Settled;
        }
        Found::Start(self.variants[at].start, self.variants[at].count)
    }

    /// Forgets all operations, because an instruction that follows has changed.
    pub(super) fn forget(&mut self) {
        self.variants.clear();
        self.last = 0;
    }

    fn add(&mut self, variant: Variant) {
        self.executed = 0;
        match self.variants.len() < VARIANTS {
            true => self.variants.push(variant),
            // The next one after the last that was of use.
            false => self.variants[(self.last + 1) % VARIANTS] = variant,
        }
    }
}

impl Fast {
    /// Whether what the cells of an instruction hold fits in a word.
    fn contents_fit(&self) -> bool {
        self.longest * self.isa.code_memory().cell.bits() <= u64::BITS
    }

    /// Where the operations of the volatile instruction at an address begin.
    pub(super) fn select(&mut self, pc: u64) -> u32 {
        if !self.contents_fit() {
            return INTERPRET;
        }
        let next = self.volatiles.len() as u64;
        let known = self.volatiles.iter().zip(0..).find(|(volatile, _)| volatile.pc == pc).map(|(_, at)| at);
        let extra = known.unwrap_or(next);
        let patience = self.history.patience(pc);
        if extra == next {
            self.volatiles.push(Volatile { pc, variants: Vec::new(), last: 0, quiet: 0, patience, executed: WORTH });
        }
        self.volatiles[extra as usize].patience = patience;
        let (z, y) = (self.isa.pc.memory.index() as u8, self.longest as u8);
        self.ops.push(Op { y, z, extra, ..Op::new(Code::Select) });
        self.ops.len() as u32 - 1
    }

    /// Lowers what a volatile instruction is now, if that seems worth it. Whether it was.
    pub(super) fn add_variant(&mut self, state: &State, entry: EntryId, number: u32) -> bool {
        let pc = self.entries[entry as usize].pc;
        if self.volatiles[number as usize].executed < WORTH {
            return false;
        }
        let reading = self.decode(state, pc).reading;
        let bits = u64::BITS - self.longest * self.isa.code_memory().cell.bits();
        let used = reading.cells * self.isa.code_memory().cell.bits();
        let mask = u64::MAX.checked_shl(u64::BITS - used).unwrap_or(0) >> bits;
        let content = (reading.window >> 64) as u64 >> bits;
        let lengths = if self.stepping { [1, 1] } else { [usize::MAX, 1] };
        let lowered = lengths.into_iter().find_map(|most| {
            let block = build_from(self, state, self.decode(state, pc), pc, most, &[])?;
            Some((self.with_constants(|fast, constants| lower(&fast.isa.clone(), &block, fast, constants))?, block))
        });
        let (mut start, mut count) = (INTERPRET, 1);
        if let Some((ops, block)) = lowered {
            (start, count) = (self.ops.len() as u32, block.steps.len() as u32);
            self.ops.extend(ops);
            for (position, (pc, reading)) in block.readings.iter().enumerate().skip(1) {
                self.watch_in_block(state, *pc, reading, (entry, position as u32));
            }
        }
        self.volatiles[number as usize].add(Variant { mask, content, start, count });
        true
    }
}
