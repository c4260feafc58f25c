//! Compiles regions again: with more in them once more has run, and with full effort once they have run for long.
//!
//! What was compiled first is a guess made early. A region is looked at each time it has done four times as much as
//! before, and then
//! - [merged](Jit::merge) with its neighbours, where going from one to the next takes long;
//! - [extended](Jit::extend), where exits to the interpreter in the middle of it have cost as much as compiling;
//! - [improved](Jit::improve), where it has run for so long that full effort pays.
//!
//! Between two looks it is [renewed](Jit::renew) when its computed jumps or volatile instructions have missed too
//! often.

use lathe_vm::State;

use crate::engine::{Drop, Jit, SLICE};
use crate::enter::SAMPLE;
use crate::ledger::{GROWTH, LARGEST, SURVEY, YOUNG};
use crate::region::{Extent, Region};
use crate::regions::RegionId;
use crate::shared::{Compiled, Effort};

/// Code that has been executed at all belongs to a region that has run for long: as part of the region it is worth more
/// than as a way out.
const EVER: u64 = 1;

impl Jit {
    /// Looks at a region, if it is time to: merges, extends or improves it where that pays.
    pub(crate) fn reconsider(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id).filter(|_| self.regions.is_time_to_look(id)) else { return };
        let (region, earned, used_for) = (used.region.clone(), used.earned, used.used_for);
        if self.orders.cover(region.entry) {
            return self.regions.look_after(id, SLICE);
        }
        // Where compiled code follows links by itself, going to another region costs little.
        let is_crossed_often = region.code.way_in(0).is_none() && self.regions.is_crossed_often(id);
        if is_crossed_often && self.merge(state, id) {
            return;
        }
        let full_effort = self.ledger.full_effort();
        if used_for >= full_effort {
            return self.improve(state, id, &region, earned);
        }
        let rest = self.ledger.price(earned, used_for * (YOUNG - 1));
        self.regions.look_after(id, rest);
        self.regions.get_mut(id).into_iter().for_each(|used| used.used_for *= YOUNG);
        let exits = self.regions.take_exits(id);
        if region.effort == Effort::Quick && self.ledger.exits_cost_more(exits, region.size) {
            self.extend(state, id);
        }
    }

    /// Orders a region once more with full effort, and with all that has run since it was discovered.
    fn improve(&mut self, state: &mut State, id: RegionId, region: &Compiled, earned: usize) {
        self.regions.look_after(id, u64::MAX);
        if !region.is_improvable() {
            return self.take_better(state, id, region);
        }
        // Regions next to it become part of it as far as it has earned that. Where all of them would be too much, it
        // does not take what others have absorbed.
        let most = self.ledger.most_after(earned);
        let jump = |pc| self.jumps.all_targets(&self.fast, pc);
        let mut size = self.regions.reach(id, LARGEST, |_| true, jump);
        let takes_all = size <= LARGEST;
        if !takes_all {
            size = self.regions.reach(id, LARGEST, |other| other.effort == Effort::Quick, jump).min(LARGEST);
        }
        if size > most {
            return self.improve_later(id, earned);
        }
        let extent = if takes_all { Extent::Everything } else { Extent::Rest };
        let Some(better) = self.discover(state, region.entry, extent, EVER, most) else { return };
        if better.is_cut && most < LARGEST {
            self.ledger.note_improvement(better.size() / SURVEY);
            self.improve_later(id, earned);
        } else if region.claim_improvement() {
            self.ledger.note_improvement(better.size());
            self.order(state, region.entry, better, Effort::Best, Some(id));
        }
    }

    /// Looks again when the region has earned a few times as much.
    fn improve_later(&mut self, id: RegionId, earned: usize) {
        self.regions.look_after(id, self.ledger.price(earned * (GROWTH - 1), self.ledger.full_effort()));
        self.regions.get_mut(id).into_iter().for_each(|used| used.earned = earned * GROWTH);
    }

    /// Takes up better code that another engine has ordered, or waits for it.
    fn take_better(&mut self, state: &mut State, id: RegionId, known: &Compiled) {
        let entry = known.entry;
        if known.effort == Effort::Best {
            return;
        }
        if self.code.is_ordered(entry) {
            self.regions.look_after(id, SLICE);
            return;
        }
        let found = self.code.find(&self.fast, state, entry, self.may_assume_modes(entry));
        if let Some(better) = found.filter(|region| region.effort == Effort::Best) {
            self.statistics.shared += 1;
            self.drop_region(id, Drop::TryAgain);
            self.take_up(state, better);
        }
    }

    /// Orders quick code for a region with everything that has run since it was discovered, if there is more now, all
    /// of it fits into one region, and the program can afford it.
    fn extend(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id) else { return };
        let (entry, own) = (used.region.entry, used.region.size);
        let size = self.regions.reach(id, LARGEST, |_| true, |pc| self.jumps.all_targets(&self.fast, pc));
        // Code that is not part of any region yet comes on top of that.
        let most = LARGEST.min(self.ledger.affordable());
        if size > most || self.code.is_ordered(entry) {
            return;
        }
        let region = self.discover(state, entry, Extent::Everything, EVER, most);
        let is_whole = |region: &Region| region.size() > own && (!region.is_cut || most == LARGEST);
        if let Some(region) = region.filter(is_whole) {
            self.order(state, entry, region, Effort::Quick, Some(id));
        }
    }

    /// Orders quick code for a region together with all regions that it leads to, once the program can afford that.
    /// Returns whether it does so, now or later.
    fn merge(&mut self, state: &mut State, id: RegionId) -> bool {
        let Some(used) = self.regions.get(id) else { return false };
        let (entry, own, soonest) = (used.region.entry, used.region.size, self.ledger.price(used.earned, YOUNG));
        if used.region.effort == Effort::Best || self.code.is_ordered(entry) {
            return false;
        }
        if !self.ledger.can_survey() {
            self.regions.look_after(id, soonest);
            return true;
        }
        let size = self.regions.reach(id, LARGEST, |_| true, |pc| self.jumps.all_targets(&self.fast, pc));
        self.ledger.note_survey(size);
        if size <= own || size > LARGEST {
            return false;
        }
        let affordable_at = self.ledger.affordable_at(size);
        if affordable_at > self.ledger.executed {
            let wait = (affordable_at - self.ledger.executed).max(soonest);
            self.regions.look_after(id, wait);
            return true;
        }
        let region = self.discover(state, entry, Extent::Everything, self.ledger.warm(), LARGEST);
        match region.filter(|region| region.size() > own) {
            Some(region) => {
                self.order(state, entry, region, Effort::Quick, Some(id));
                true
            }
            None => false,
        }
    }

    /// Orders quick code for a region with the jump targets and contents that have turned up since.
    pub(crate) fn renew(&mut self, state: &mut State, id: RegionId) {
        let Some(used) = self.regions.get(id) else { return };
        let (entry, most) = (used.region.entry, self.ledger.most_after(used.region.size));
        if self.orders.cover(entry) || self.code.is_ordered(entry) || !self.can_afford(entry) {
            return;
        }
        if let Some(region) = self.discover(state, entry, Extent::Everything, self.ledger.warm(), most) {
            self.order(state, entry, region, Effort::Quick, Some(id));
        }
    }

    /// Counts an exit at a volatile instruction whose content has no code. The region is renewed when such exits have
    /// cost enough and more contents are known.
    pub(crate) fn note_unknown(&mut self, state: &mut State, id: RegionId) {
        let pc = state.pc;
        let Some(used) = self.regions.get_mut(id) else { return };
        let (compiled, size) = (used.region.selects.get(&pc).copied().unwrap_or(0), used.region.size);
        used.unknown += 1;
        let is_often = used.unknown >= self.ledger.misses(size);
        if is_often {
            used.unknown = 0;
        }
        if compiled > 0 {
            self.fast.is_executed_elsewhere(pc);
        }
        if is_often && self.fast.contents(pc).len() > compiled {
            self.renew(state, id);
        }
    }

    /// Counts a computed jump to an address the region has no code for. Returns whether such misses have cost as much
    /// as compiling the region again.
    pub(crate) fn misses_too_often(&mut self, id: RegionId, jump: u64, target: u64) -> bool {
        let Some(used) = self.regions.get(id) else { return false };
        let patience = self.ledger.misses(used.region.size) / SAMPLE as u32;
        self.jumps.missed(&self.fast, jump, target, patience)
    }
}
