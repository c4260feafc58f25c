//! The regions that an engine runs, and where they can be entered. Compiled code goes from one region to another many
//! million times a second, so both take one lookup.

use std::ops::RangeInclusive;
use std::sync::Arc;

use lathe_base::numbers::ByNumber;

use crate::links::{Link, Links, Usage};
use crate::shared::Compiled;

/// Instructions of a region that may contain others. At most `LARGEST / LARGE` such regions are searched.
const LARGE: usize = 256;
/// Addresses that take one lookup, at least and at most, as powers of two.
const CLOSE_BITS: RangeInclusive<u32> = 6..=12;

/// Names a region in use. No other region of the same engine ever has the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionId {
    slot: u32,
    /// The number of regions that were in the slot before.
    generation: u32,
}

/// A region that this engine runs, and how it has fared.
pub(crate) struct InUse {
    pub(crate) region: Arc<Compiled>,
    /// The number of leaders where this region is entered, and not another one.
    ways_in: usize,
    /// Times it has come back to the interpreter since that was last looked at, and the steps it had done by then.
    pub(crate) visits: u64,
    pub(crate) done_before: u64,
    /// Its exits to the interpreter in the middle of it, since they were last taken.
    pub(crate) exits: u64,
    /// The number of additions to the marks when its assumptions were last known to hold.
    pub(crate) additions: Option<u64>,
    /// Times it was reached in a mode that it was not made for.
    pub(crate) strangers: u32,
    /// Times it was left because it has no code for the content of a volatile instruction.
    pub(crate) unknown: u32,
    /// Steps after which the engine looks at it, counted from its beginning and including those for entering and
    /// leaving.
    looked_at: u64,
    /// The instructions for which it will have earned the price by then...
    pub(crate) earned: usize,
    /// ...and how many times over.
    pub(crate) used_for: u64,
}

impl InUse {
    /// Creates the record of a new region. At the first look, it will have done the price of `earned` instructions
    /// `used_for` times over.
    pub(crate) fn new(region: Arc<Compiled>, earned: usize, used_for: u64) -> InUse {
        InUse {
            region,
            ways_in: 0,
            visits: 0,
            done_before: 0,
            exits: 0,
            additions: None,
            strangers: 0,
            unknown: 0,
            looked_at: 0,
            earned,
            used_for,
        }
    }
}

/// A block of a region, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WayIn {
    pub(crate) id: RegionId,
    pub(crate) block: u32,
}

/// All regions in use.
pub(crate) struct Regions {
    slots: Vec<Slot>,
    /// Slots with nothing in them.
    free: Vec<u32>,
    ways_in: ByNumber<u64, WayIn>,
    /// A cache of the entries of `ways_in` that were looked up last, indexed by a hash of the address. It has room for
    /// twice as many as there are, up to a limit: a thousand machines, most of which run a few regions, need not have
    /// room for many.
    close: Vec<Option<(u64, WayIn)>>,
    /// The steps done in the region of each slot.
    pub(crate) usages: Vec<Usage>,
    pub(crate) links: Links,
    /// No region has a greater bound.
    greatest_bound: u64,
}

struct Slot {
    generation: u32,
    used: Option<InUse>,
}

impl Regions {
    pub(crate) fn new() -> Regions {
        Regions {
            slots: Vec::new(),
            free: Vec::new(),
            ways_in: ByNumber::default(),
            close: Vec::new(),
            usages: Vec::new(),
            links: Links::new(),
            greatest_bound: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, id: RegionId) -> Option<&InUse> {
        let slot = self.slots.get(id.slot as usize)?;
        slot.used.as_ref().filter(|_| slot.generation == id.generation)
    }

    pub(crate) fn get_mut(&mut self, id: RegionId) -> Option<&mut InUse> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        slot.used.as_mut().filter(|_| slot.generation == id.generation)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RegionId, &InUse)> {
        (0..).zip(&self.slots).filter_map(|(slot, held)| {
            let id = RegionId { slot, generation: held.generation };
            held.used.as_ref().map(|used| (id, used))
        })
    }

    /// Returns the region whose usage is this many bytes after the first.
    pub(crate) fn of_usage(&self, distance: usize) -> Option<RegionId> {
        let slot = distance / size_of::<Usage>();
        self.slots.get(slot).map(|held| RegionId { slot: slot as u32, generation: held.generation })
    }

    /// Returns where the usage of a region is, in bytes after the first.
    pub(crate) fn usage_at(id: RegionId) -> usize {
        id.slot as usize * size_of::<Usage>()
    }

    /// Records the steps of a region, and the steps that entering and leaving it count as. Returns whether it is time
    /// to look at the region.
    pub(crate) fn note_steps(&mut self, id: RegionId, steps: u64, crossing: u64) -> bool {
        let usage = &mut self.usages[id.slot as usize];
        usage.crossing += crossing;
        usage.left = usage.left.saturating_sub_unsigned(steps + crossing);
        usage.left <= 0
    }

    /// Schedules a look at a region after this many more steps. Entering and leaving count as steps.
    pub(crate) fn look_after(&mut self, id: RegionId, steps: u64) {
        let before = self.passed(id);
        if let Some(used) = self.get_mut(id) {
            let steps = steps.min(i64::MAX as u64 / 2);
            used.looked_at = before + steps;
            self.usages[id.slot as usize].left = steps as i64;
        }
    }

    /// Whether it is time to look at a region.
    pub(crate) fn is_time_to_look(&self, id: RegionId) -> bool {
        self.usages[id.slot as usize].left <= 0
    }

    /// Returns the steps of a region, including those for entering and leaving.
    fn passed(&self, id: RegionId) -> u64 {
        self.get(id).map_or(0, |used| used.looked_at.wrapping_add_signed(-self.usages[id.slot as usize].left))
    }

    /// Returns the steps that a region has done.
    pub(crate) fn done(&self, id: RegionId) -> u64 {
        self.passed(id).saturating_sub(self.usages[id.slot as usize].crossing)
    }

    /// Whether entering a region from the engine and leaving it has taken longer than its steps.
    pub(crate) fn is_crossed_often(&self, id: RegionId) -> bool {
        self.usages[id.slot as usize].crossing > self.done(id)
    }

    /// Takes the exits of a region to the interpreter since the last call.
    pub(crate) fn take_exits(&mut self, id: RegionId) -> u64 {
        self.get_mut(id).map_or(0, |used| std::mem::take(&mut used.exits))
    }

    /// Adds a link to a block, if compiled code can follow links to its region.
    pub(crate) fn link(&mut self, pc: u64, id: RegionId, block: u32) {
        let Some(used) = self.get(id) else { return };
        if let (Some(way_in), Ok(bound)) = (used.region.code.way_in(block), i64::try_from(used.region.bound)) {
            let link = Link { pc, way_in, bound, usage: Regions::usage_at(id) as u64 };
            let assumes = !used.region.assumptions.unmarked.is_empty();
            self.links.add(link, assumes);
        }
    }

    /// Puts a region into use, with a first look after this many steps. It takes over the leaders that it shares with
    /// other regions; a region that is no longer entered anywhere is removed.
    pub(crate) fn insert(&mut self, used: InUse, until_look: u64) -> RegionId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, used: None });
            self.usages.push(Usage::default());
            self.slots.len() as u32 - 1
        });
        let id = RegionId { slot, generation: self.slots[slot as usize].generation };
        let region = used.region.clone();
        self.greatest_bound = self.greatest_bound.max(region.bound);
        self.slots[slot as usize].used = Some(InUse { ways_in: region.blocks.len(), ..used });
        self.usages[slot as usize] = Usage::default();
        self.look_after(id, until_look);
        for (leader, block) in &region.blocks {
            self.forget_close(*leader);
            let before = self.ways_in.insert(*leader, WayIn { id, block: *block });
            if let Some(WayIn { id, .. }) = before
                && let Some(other) = self.get_mut(id)
            {
                other.ways_in -= 1;
                if other.ways_in == 0 {
                    self.remove(id);
                }
            }
        }
        self.make_room_for_close();
        self.links.make_room(self.ways_in.len());
        id
    }

    fn make_room_for_close(&mut self) {
        let wanted = (self.ways_in.len() * 2).next_power_of_two();
        let wanted = wanted.clamp(1 << CLOSE_BITS.start(), 1 << CLOSE_BITS.end());
        if wanted > self.close.len() {
            self.close = vec![None; wanted];
        }
    }

    fn forget_close(&mut self, pc: u64) {
        self.links.forget(pc);
        if let Some(at) = close_at(&self.close, pc) {
            self.close[at] = None;
        }
    }

    /// Removes a region. Returns the leaders where it could be entered.
    pub(crate) fn remove(&mut self, id: RegionId) -> Vec<u64> {
        let Some(used) = self.get_mut(id) else { return Vec::new() };
        let region = used.region.clone();
        let held = &mut self.slots[id.slot as usize];
        held.used = None;
        held.generation += 1;
        self.free.push(id.slot);
        let is_its = |leader: &u64| self.ways_in.get(leader).is_some_and(|way| way.id == id);
        let leaders: Vec<u64> = region.blocks.keys().copied().filter(is_its).collect();
        for leader in &leaders {
            self.ways_in.remove(leader);
            self.forget_close(*leader);
        }
        leaders
    }

    /// Returns the region that is entered at an address.
    pub(crate) fn at(&self, pc: u64) -> Option<RegionId> {
        self.ways_in.get(&pc).map(|way| way.id)
    }

    /// Returns the number of instructions in a region and in all regions reached from it, as far as `is_asked_for`
    /// accepts them. Stops counting beyond `most`. `jump` returns the targets of the computed jump at an address.
    pub(crate) fn reach<J: Iterator<Item = u64>>(
        &self,
        id: RegionId,
        most: usize,
        is_asked_for: impl Fn(&Compiled) -> bool,
        jump: impl Fn(u64) -> J,
    ) -> usize {
        let mut seen = vec![false; self.slots.len()];
        seen[id.slot as usize] = true;
        let (mut waiting, mut instructions) = (vec![id], 0);
        // One large region may be contained in another, except for a few leaders where it is still entered.
        let mut large: Vec<&Compiled> = Vec::new();
        while let Some(InUse { region, .. }) = waiting.pop().and_then(|id| self.get(id)) {
            if !large.iter().any(|other| other.instructions.contains_key(&region.entry)) {
                instructions += region.size;
                large.extend(Some(&**region).filter(|region| region.size >= LARGE));
            }
            if instructions > most {
                break;
            }
            let computed = region.computed_jumps.iter().flat_map(|at| jump(*at));
            for next in region.leads_to.iter().copied().chain(computed).filter_map(|pc| self.at(pc)) {
                let is_new = !std::mem::replace(&mut seen[next.slot as usize], true);
                if is_new && self.get(next).is_some_and(|used| is_asked_for(&used.region)) {
                    waiting.push(next);
                }
            }
        }
        instructions
    }

    /// Whether the region at an address cannot be entered with only this many steps left.
    pub(crate) fn needs_more_than(&self, pc: u64, left: u64) -> bool {
        self.greatest_bound > left
            && self.at(pc).and_then(|id| self.get(id)).is_some_and(|used| used.region.bound > left)
    }

    /// Whether some region cannot be entered with only this many steps left.
    pub(crate) fn any_needs_more_than(&self, left: u64) -> bool {
        self.greatest_bound > left && self.iter().any(|(_, used)| used.region.bound > left)
    }

    /// Whether compiled code can be entered at an address.
    pub(crate) fn has_way_in(&self, pc: u64) -> bool {
        self.lately(pc).is_some() || self.ways_in.contains_key(&pc)
    }

    /// Returns the region and block to enter at an address.
    pub(crate) fn way_in(&mut self, pc: u64) -> Option<WayIn> {
        self.lately(pc).or_else(|| {
            let way = *self.ways_in.get(&pc)?;
            let at = close_at(&self.close, pc)?;
            self.close[at] = Some((pc, way));
            Some(way)
        })
    }

    /// Returns the region and block to enter at an address that was looked up lately.
    fn lately(&self, pc: u64) -> Option<WayIn> {
        let (known, way) = self.close[close_at(&self.close, pc)?]?;
        (known == pc).then_some(way)
    }
}

/// Returns the place of an address in the cache, whose size is a power of two. On some machines the lowest bits of an
/// address are always the same, so it is hashed.
fn close_at<T>(places: &[T], pc: u64) -> Option<usize> {
    let mask = places.len().checked_sub(1)?;
    Some((pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> u32::BITS) as usize & mask)
}
