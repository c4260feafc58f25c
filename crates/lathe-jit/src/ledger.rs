//! What a program has earned by running, and what compiling has cost it: the one place that knows prices.
//!
//! Both sides are counted in guest instructions ("steps"), since an engine has no clock: compiling one instruction
//! quickly takes about as long as interpreting [`threshold`](Ledger::threshold) steps. All orders together never cost
//! more than the steps executed so far, so compiling can at most double the time of a run.

use std::collections::HashMap;

use crate::region::INSTRUCTIONS;

/// Instructions of the largest region that is compiled with full effort, which takes some tenths of a second. In a
/// browser, nobody has tried blocks that are nested as deeply as larger regions need.
pub(crate) const LARGEST: usize = if cfg!(target_arch = "wasm32") { INSTRUCTIONS } else { 4_096 };
/// The first look at a region comes when it has done this many times its [price](Ledger::price), and each further one
/// when it has done this many times as much as at the look before.
pub(crate) const YOUNG: u64 = 4;
/// Factor by which a region may grow when it is compiled again, unless the program as a whole can afford more. Without
/// it, each of many equally warm regions would absorb all the others.
pub(crate) const GROWTH: usize = 4;
/// Entering and leaving a region from the engine takes as long as this many steps in it.
pub(crate) const CROSSING: u64 = 128;
/// Finding out how large a region would become costs this fraction of compiling it.
pub(crate) const SURVEY: usize = 8;
/// Leaving a region for an address without compiled code counts as reaching that address this many times. The detour
/// costs about as much as interpreting a few blocks, and code that hot code leads to is about to become hot itself.
pub(crate) const EXIT: u32 = 48;

/// Compilations of one address; code that changes even more often is interpreted for good.
const COMPILATIONS: u32 = 8;
/// Doublings of the threshold for code that keeps being thrown away.
const DOUBLINGS: u32 = 12;
/// Code is warm when it has been executed this fraction of the threshold: it becomes part of regions next to it.
const WARM: u32 = 64;
/// Leaving a region this fraction of the threshold for each of its instructions has cost as much as compiling it again.
const MISSES: u32 = 2;
/// Leaving a region for code that is not compiled, and coming back, costs as much as this many steps.
const EXIT_COST: u64 = 1 << 6;
/// Instructions that every program may have compiled with full effort, which takes some tens of milliseconds...
const CREDIT: u64 = 512;
/// ...and it may have one more each time it has executed this fraction of that one's price.
const AFFORDED: u64 = 2;
/// Steps that must have been executed for each instruction visited while surveying a region.
const VISIT: u64 = 128;

/// The accounts of one engine.
pub(crate) struct Ledger {
    threshold: u32,
    /// Multiples of the quick price after which full effort pays.
    full_effort: u64,
    /// Steps executed so far.
    pub(crate) executed: u64,
    /// Instructions ordered to be compiled quickly.
    ordered: u64,
    /// Instructions ordered to be compiled with full effort.
    improved: usize,
    /// Instructions visited while surveying regions.
    surveyed: u64,
    /// How often each address was ordered.
    compilations: HashMap<u64, u32>,
}

impl Ledger {
    /// Opens the accounts. A block becomes hot after `threshold` visits, and full effort pays after `full_effort` times
    /// the price of the quick one.
    pub(crate) fn new(threshold: u32, full_effort: u64) -> Ledger {
        let compilations = HashMap::new();
        Ledger { threshold, full_effort, executed: 0, ordered: 0, improved: 0, surveyed: 0, compilations }
    }

    /// Returns the number of visits that make a block hot.
    pub(crate) fn threshold(&self) -> u32 {
        self.threshold
    }

    /// Returns the multiple of the quick price after which full effort pays.
    pub(crate) fn full_effort(&self) -> u64 {
        self.full_effort
    }

    /// Returns the steps that are worth compiling this many instructions quickly, `times` over.
    pub(crate) fn price(&self, instructions: usize, times: u64) -> u64 {
        instructions as u64 * u64::from(self.threshold) * times
    }

    /// Whether the address may be compiled once more, and the program has executed enough to pay for what was ordered.
    pub(crate) fn can_afford(&self, pc: u64) -> bool {
        self.compilations_of(pc) < COMPILATIONS && self.affordable_at(0) <= self.executed
    }

    /// Returns how many steps pay for everything ordered so far and this many instructions more.
    pub(crate) fn affordable_at(&self, instructions: usize) -> u64 {
        (self.ordered + instructions as u64).saturating_mul(u64::from(self.threshold))
    }

    /// Returns how many instructions the program can afford to have compiled quickly now.
    pub(crate) fn affordable(&self) -> usize {
        let earned = self.executed / u64::from(self.threshold);
        usize::try_from(earned.saturating_sub(self.ordered)).unwrap_or(usize::MAX)
    }

    /// Returns how large a region of this many instructions may become when it is compiled with full effort.
    pub(crate) fn most_after(&self, instructions: usize) -> usize {
        let earned = CREDIT + self.executed / self.price(1, self.full_effort / AFFORDED);
        let affordable = usize::try_from(earned).unwrap_or(usize::MAX).saturating_sub(self.improved);
        affordable.max(instructions * GROWTH).min(LARGEST)
    }

    /// Returns how many visits make an address hot that has been compiled before.
    pub(crate) fn patience(&self, pc: u64) -> u32 {
        self.threshold.saturating_mul(1 << self.compilations_of(pc).min(DOUBLINGS))
    }

    /// Returns how many executions make code warm.
    pub(crate) fn warm(&self) -> u64 {
        u64::from((self.threshold / WARM).max(1))
    }

    /// Returns how many misses have cost as much as compiling a region of this size again.
    pub(crate) fn misses(&self, size: usize) -> u32 {
        (self.threshold / MISSES).saturating_mul(size as u32)
    }

    /// Whether this many exits have cost more than compiling a region of this size again.
    pub(crate) fn exits_cost_more(&self, exits: u64, size: usize) -> bool {
        exits * EXIT_COST > self.price(size, 1)
    }

    /// Whether the program can afford another survey of its regions.
    pub(crate) fn can_survey(&self) -> bool {
        self.surveyed * VISIT <= self.executed
    }

    /// Records a survey that has visited this many instructions.
    pub(crate) fn note_survey(&mut self, instructions: usize) {
        self.surveyed += instructions as u64;
    }

    /// Records an order for quick code with these leaders.
    pub(crate) fn note_order(&mut self, leaders: &[u64], instructions: usize) {
        self.ordered += instructions as u64;
        leaders.iter().for_each(|leader| *self.compilations.entry(*leader).or_default() += 1);
    }

    /// Records an order for code made with full effort, or other work that costs as much.
    pub(crate) fn note_improvement(&mut self, instructions: usize) {
        self.improved += instructions;
    }

    /// Writes off the cost of all code, because it had to be thrown away for reasons that are not the program's.
    pub(crate) fn write_off(&mut self) {
        self.compilations.clear();
        (self.ordered, self.improved) = (0, 0);
    }

    fn compilations_of(&self, pc: u64) -> u32 {
        self.compilations.get(&pc).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ordered_must_be_earned_first() {
        let mut ledger = Ledger::new(100, 16);
        assert!(ledger.can_afford(0) && ledger.affordable() == 0);
        ledger.note_order(&[0], 10);
        ledger.executed = 999;
        assert!(!ledger.can_afford(0));
        ledger.executed = 1_000;
        assert!(ledger.can_afford(0));
        ledger.executed = 1_250;
        assert_eq!((ledger.affordable(), ledger.affordable_at(5)), (2, 1_500));
        ledger.note_order(&[8], 5);
        ledger.write_off();
        assert!(ledger.can_afford(8) && ledger.patience(8) == 100);
    }

    #[test]
    fn code_that_is_thrown_away_again_and_again_is_given_up() {
        let mut ledger = Ledger::new(100, 16);
        ledger.executed = u64::MAX;
        for count in 0..COMPILATIONS {
            assert!(ledger.can_afford(7));
            assert_eq!(ledger.patience(7), 100 << count);
            ledger.note_order(&[7], 1);
        }
        assert!(!ledger.can_afford(7) && ledger.can_afford(8));
    }

    #[test]
    fn a_region_grows_with_what_the_program_can_afford() {
        let mut ledger = Ledger::new(100, 16);
        assert_eq!(ledger.most_after(1), CREDIT as usize);
        assert_eq!([ledger.most_after(1_000), ledger.most_after(LARGEST)], [1_000 * GROWTH, LARGEST]);
        ledger.note_improvement(CREDIT as usize);
        assert_eq!(ledger.most_after(10), 10 * GROWTH);
        // One more instruction for each 800 steps.
        ledger.executed = 800 * 100;
        assert_eq!(ledger.most_after(10), 100);
    }
}
