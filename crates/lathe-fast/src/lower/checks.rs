//! Conditions to leave one instruction to the reference interpreter.

use lathe_values::{Bail, Effects, Node, Store, ValueId};

use super::memory::{Address, Form, Keeping};
use super::{Leaving, Lowering};
use crate::ops::{Code, MARKS_IN_A_WORD, Op};
use crate::wide::wide_store;

impl Lowering<'_> {
    /// Lowers the conditions to leave one instruction to the reference interpreter, which share an exit, and its
    /// stores.
    pub(super) fn bails_and_stores(&mut self, effects: &Effects, leaving: &Leaving) -> Option<()> {
        if !effects.device_reads.is_empty() {
            // Once a device has been asked, nothing else may leave the instruction, not even a store.
            let exit = self.exit(leaving)?;
            self.mapped.clear();
            effects.bails.iter().try_for_each(|bail| self.bail(bail, exit))?;
            self.device_reads(effects, exit, leaving.count)?;
            return effects.stores.iter().try_for_each(|store| self.store(store));
        }
        let near = self.keeping(self.isa.pc.memory) == Keeping::Bytes;
        if let Some(store) = wide_store(self.graph, effects, self.isa.pc.memory).filter(|_| near) {
            let exit = self.exit(leaving)?;
            self.mapped.clear();
            let others = effects.bails.iter().filter(|bail| !matches!(bail, Bail::Marked(..)));
            others.copied().collect::<Vec<_>>().iter().try_for_each(|bail| self.bail(bail, exit))?;
            return self.store_wide(&store, exit);
        }
        let mut stores = effects.stores.clone();
        if let Some((last, others)) = effects.bails.split_last() {
            let exit = self.exit(leaving)?;
            self.mapped.clear();
            others.iter().try_for_each(|bail| self.bail(bail, exit))?;
            match self.checked_by(last, &stores) {
                Some(at) => self.store_unmarked(&stores.remove(at), exit)?,
                None => self.bail(last, exit)?,
            }
        }
        stores.iter().try_for_each(|store| self.store(store))
    }

    /// Returns the store that this condition checks, if it may come before all others of the instruction.
    fn checked_by(&self, bail: &Bail, stores: &[Store]) -> Option<usize> {
        let Bail::Marked(address, None) = bail else { return None };
        let code = self.isa.pc.memory;
        let is_checked = |store: &Store| store.memory == code && store.address == *address && store.guard.is_none();
        let at = stores.iter().position(is_checked)?;
        let is_apart = |store: &Store| !store.may_reach(self.graph, code, *address);
        (stores[..at].iter().all(is_apart) && self.keeping(code) != Keeping::Far).then_some(at)
    }

    fn bail(&mut self, bail: &Bail, exit: u16) -> Option<()> {
        match bail {
            Bail::When(condition) => self.leave_if(*condition, true, exit),
            // One check of the marks covers everything that is mapped over the code memory.
            Bail::Mapped { memory, address, condition } => match self.graph.base_and_offset(*address) {
                (Some(base), offset)
                    if *memory == self.isa.pc.memory && !self.isa.code_memory().has_wide_addresses() =>
                {
                    self.leave_if_mapped(base, offset, exit)
                }
                _ => self.leave_if(*condition, true, exit),
            },
            Bail::Marked(address, guard) => self.leave_if_marked(*address, *guard, exit),
            Bail::Closed(memory, address) => {
                let (x, z) = (self.slot(*address)?, memory.index() as u8);
                self.ops.push(Op { x, z, exit, ..Op::new(Code::LeaveIfClosed) });
                Some(())
            }
        }
    }

    fn leave_if_mapped(&mut self, base: ValueId, offset: u64, exit: u16) -> Option<()> {
        let mask = self.graph.width(base).mask();
        let (least, most) = match self.graph.node(base) {
            Node::ZeroExtend(inner) => (offset, offset + self.graph.width(inner).mask()),
            _ => (0, mask),
        };
        let reachable = most > mask || self.spans.iter().any(|(first, last)| *first <= most && least <= *last);
        if !reachable || self.mapped.contains(&(base, offset)) {
            return Some(());
        }
        self.mapped.push((base, offset));
        let x = self.slot(base)?;
        let op = Op { x, z: 1, exit, extra: mask << 32 | offset, ..Op::new(Code::LeaveIfMapped) };
        match self.ops.last_mut() {
            Some(last) if extends(last, &op) => *last = Op { z: last.z + 1, extra: last.extra.min(op.extra), ..op },
            _ => self.ops.push(op),
        }
        Some(())
    }

    fn leave_if_marked(&mut self, address: ValueId, guard: Option<ValueId>, exit: u16) -> Option<()> {
        let op = match guard {
            Some(guard) => Op { x: self.slot(address)?, y: self.slot(guard)?, ..Op::new(Code::LeaveIfBothMarked) },
            None => {
                let Address { form, x, extra, .. } = self.address(address, Keeping::Words, false)?;
                let code = if form == Form::Offset { Code::LeaveIfMarkedOffset } else { Code::LeaveIfMarked };
                Op { x, extra, ..Op::new(code) }
            }
        };
        self.ops.push(Op { exit, ..op });
        Some(())
    }
}

/// Whether a second operation checks a cell beside those of the first, so that one operation can check all of them.
fn extends(first: &Op, second: &Op) -> bool {
    let is_same = first.code == second.code && first.x == second.x && first.exit == second.exit;
    let is_beside = first.extra + u64::from(first.z) == second.extra || second.extra + 1 == first.extra;
    is_same && is_beside && first.z < MARKS_IN_A_WORD
}
