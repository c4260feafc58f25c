//! The regions that an engine runs, and where they can be entered. Compiled code leads from one to another many
//! million times a second, so both are found in one look.

use std::ops::RangeInclusive;
use std::sync::Arc;

use lathe_base::numbers::ByNumber;

use crate::shared::Compiled;

/// Instructions of a region in which others may be. Fewer than `LARGEST / LARGE` of them are looked through.
const LARGE: usize = 256;
/// Addresses that are found in one look, at least and at most, as powers of two.
const CLOSE_BITS: RangeInclusive<u32> = 6..=12;

/// A region in use. No other region of the same engine ever has the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionId {
    slot: u32,
    /// How many others were in the slot before.
    generation: u32,
}

/// A region that this engine runs, and what came of it.
pub(crate) struct InUse {
    pub(crate) region: Arc<Compiled>,
    /// In how many places it is entered, and not another region.
    ways_in: usize,
    /// Times it was left to the interpreter, and steps done, since they were last looked at.
    pub(crate) visits: u64,
    pub(crate) steps: u64,
    /// The number of additions to the marks when its assumptions were last seen to hold.
    pub(crate) additions: Option<u64>,
    /// Times it was reached in a mode that it is not for.
    pub(crate) strangers: u32,
    /// Times it was left to the interpreter with a content of a volatile instruction that it has no code for.
    pub(crate) unknown: u32,
    /// Steps to be done before it is compiled better.
    pub(crate) until_better: u64,
    /// The instructions for which it will have done enough by then.
    pub(crate) earned: usize,
    /// How many times the threshold it will have done for each of them.
    pub(crate) used_for: u64,
    /// Times it was entered, and steps done.
    pub(crate) entries: u64,
    pub(crate) done: u64,
}

impl InUse {
    /// A region that is new: after so many steps it will have done so many times the threshold for each of these instructions.
    pub(crate) fn new(region: Arc<Compiled>, until_better: u64, earned: usize, used_for: u64) -> InUse {
        InUse {
            region,
            ways_in: 0,
            visits: 0,
            steps: 0,
            additions: None,
            strangers: 0,
            unknown: 0,
            until_better,
            earned,
            used_for,
            entries: 0,
            done: 0,
        }
    }
}

impl InUse {
    /// Whether going in and out, which takes as long as so many steps, has taken longer than the steps themselves.
    pub(crate) fn is_crossed_often(&self, crossing: u64) -> bool {
        self.entries * crossing > self.done
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
    /// Those that were looked for last, each where its address belongs. There is room for twice as many as there are, up to a
    /// limit: a thousand machines, most of which run a few regions, need not have the room for many.
    close: Vec<Option<(u64, WayIn)>>,
}

struct Slot {
    generation: u32,
    used: Option<InUse>,
}

impl Regions {
    pub(crate) fn new() -> Regions {
        Regions { slots: Vec::new(), free: Vec::new(), ways_in: ByNumber::default(), close: Vec::new() }
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

    /// Uses a region from now on; where another one could be entered, this one is. One that is nowhere entered any more is
    /// let go.
    pub(crate) fn insert(&mut self, used: InUse) -> RegionId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, used: None });
            self.slots.len() as u32 - 1
        });
        let id = RegionId { slot, generation: self.slots[slot as usize].generation };
        let region = used.region.clone();
        self.slots[slot as usize].used = Some(InUse { ways_in: region.blocks.len(), ..used });
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
        if let Some(close) = close(&mut self.close, pc) {
            *close = None;
        }
    }

    /// Lets go of a region; where it could be entered so far.
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

    /// The region that is entered at an address.
    pub(crate) fn at(&self, pc: u64) -> Option<RegionId> {
        self.ways_in.get(&pc).map(|way| way.id)
    }

    /// The instructions of a region and of all those that it leads to, as far as they are asked for; more than `most` if there
    /// are. `jump` tells where the computed jump at an address goes.
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
        // Of two large ones, one may be in the other but for a few places where it is still entered.
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

    /// Whether one of them is not entered with so few steps left.
    pub(crate) fn any_needs_more_than(&self, left: u64) -> bool {
        self.iter().any(|(_, used)| used.region.bound > left)
    }

    /// Whether compiled code can be entered at an address.
    pub(crate) fn has_way_in(&self, pc: u64) -> bool {
        self.ways_in.contains_key(&pc)
    }

    /// Where compiled code is entered from an address.
    pub(crate) fn way_in(&mut self, pc: u64) -> Option<WayIn> {
        match close(&mut self.close, pc)? {
            Some((at, way)) if *at == pc => Some(*way),
            other => {
                let way = *self.ways_in.get(&pc)?;
                *other = Some((pc, way));
                Some(way)
            }
        }
    }
}

/// Where an address belongs among the close ones, of which there are a power of two. On some machines its lowest bits are
/// always the same.
fn close<T>(places: &mut [T], pc: u64) -> Option<&mut T> {
    let mask = places.len().checked_sub(1)?;
    let at = (pc.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> u32::BITS) as usize & mask;
    places.get_mut(at)
}
