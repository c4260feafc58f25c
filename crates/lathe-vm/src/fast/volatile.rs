//! Instructions whose opcode keeps changing. Each is looked up by what its cells hold whenever it is executed, so
//! that going back and forth between a few instructions costs a comparison, and storing into them nothing.

use super::block::build_one;
use super::lower::lower;
use super::ops::{Code, EntryId, Op};
use super::{Fast, INTERPRET};
use crate::state::State;

/// Contents that are remembered for one address.
const VARIANTS: usize = 16;
/// A content is lowered when so many executions since the last time have found theirs. Otherwise contents that never
/// come back would cost more than interpreting them.
const WORTH: u32 = 16;
/// Executions of the same content after which the instruction is decoded like any other once more.
pub(super) const QUIET: u32 = 200;

/// An instruction whose opcode keeps changing.
#[derive(Clone, Debug)]
pub(super) struct Volatile {
    pub(super) pc: u64,
    variants: Vec<Variant>,
    /// The variant that was executed last, and how often in a row.
    last: usize,
    quiet: u32,
    /// Executions that found their variant, less those spent on new ones.
    credit: u32,
}

/// The operations for one content of the cells.
#[derive(Clone, Copy, Debug)]
struct Variant {
    mask: u64,
    content: u64,
    start: u32,
}

/// What is to be done with a volatile instruction.
pub(super) enum Found {
    /// Its operations begin here.
    Start(u32),
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
        let Some(at) = self.variants.iter().position(matches) else { return Found::Unknown };
        self.credit = self.credit.saturating_add(1);
        self.quiet = if at == self.last { self.quiet + 1 } else { 0 };
        self.last = at;
        if self.quiet >= QUIET {
            self.quiet = 0;
            return Found::Settled;
        }
        Found::Start(self.variants[at].start)
    }

    fn add(&mut self, variant: Variant) {
        self.credit = 0;
        match self.variants.len() < VARIANTS {
            true => self.variants.push(variant),
            // The next one after the last that was of use.
            false => self.variants[(self.last + 1) % VARIANTS] = variant,
        }
    }
}

impl Fast<'_> {
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
        if extra == next {
            self.volatiles.push(Volatile { pc, variants: Vec::new(), last: 0, quiet: 0, credit: WORTH });
        }
        let (z, y) = (self.isa.pc.memory.index() as u8, self.longest as u8);
        self.ops.push(Op { y, z, extra, ..Op::new(Code::Select) });
        self.ops.len() as u32 - 1
    }

    /// Lowers what a volatile instruction is now, if that seems worth it. Whether it was.
    pub(super) fn add_variant(&mut self, state: &State, entry: EntryId, number: u32) -> bool {
        let pc = self.entries[entry as usize].pc;
        if self.volatiles[number as usize].credit < WORTH {
            return false;
        }
        let decoded = self.decode(state, pc);
        let bits = u64::BITS - self.longest * self.isa.code_memory().cell.bits();
        let used = decoded.reading.cells * self.isa.code_memory().cell.bits();
        let mask = u64::MAX.checked_shl(u64::BITS - used).unwrap_or(0) >> bits;
        let content = (decoded.reading.window >> 64) as u64 >> bits;
        let block = build_one(self, decoded, pc);
        let ops =
            block.and_then(|block| self.with_constants(|fast, constants| lower(fast.isa, &block, fast, constants)));
        let start = ops.map_or(INTERPRET, |ops| {
            self.ops.extend(ops.iter());
            (self.ops.len() - ops.len()) as u32
        });
        self.volatiles[number as usize].add(Variant { mask, content, start });
        true
    }
}
