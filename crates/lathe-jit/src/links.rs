//! Ways from one region to the next that compiled code finds by itself: a look at a table takes a few nanoseconds, coming back to the
//! engine and being called again several times as long.
//!
//! The engine adds a link whenever it has gone such a way. Until it is forgotten, because the region went away or a mark was added, it
//! leads to a region in use for which everything holds that is assumed about cells. Modes are looked at on the way in.

#[cfg(all(target_arch = "x86_64", unix))]
use std::mem::offset_of;

/// Pairs of links of one engine, at least and at most.
const LEAST: usize = 1 << 5;
const MOST: usize = 1 << 11;
/// Addresses are multiplied with this number to find their place. The bits from [`SHIFT`] on count.
pub(crate) const HASH: i32 = 0x61C8_8647;
pub(crate) const SHIFT: u8 = 16;
/// No address: those have fewer bits.
const NOWHERE: u64 = u64::MAX;

/// Where compiled code goes on at an address.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) pc: u64,
    /// Where the code for it is.
    pub(crate) way_in: usize,
    /// The [bound](crate::shared::Compiled) of its region.
    pub(crate) bound: i64,
    /// Where the use of its region is written down: so many bytes after that of the first.
    pub(crate) usage: u64,
}

/// For compiled code.
#[cfg(all(target_arch = "x86_64", unix))]
impl Link {
    pub(crate) const PC: i32 = offset_of!(Link, pc) as i32;
    pub(crate) const WAY_IN: i32 = offset_of!(Link, way_in) as i32;
    pub(crate) const BOUND: i32 = offset_of!(Link, bound) as i32;
    pub(crate) const USAGE: i32 = offset_of!(Link, usage) as i32;
}

impl Link {
    const NONE: Link = Link { pc: NOWHERE, way_in: 0, bound: i64::MAX, usage: 0 };
}

/// The links that have their place together. Compiled code comes from one to the other by turning one bit of its address.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Pair([Link; 2]);

impl Pair {
    const NONE: Pair = Pair([Link::NONE; 2]);
}

/// From one link of a pair to the other.
#[cfg(all(target_arch = "x86_64", unix))]
pub(crate) const OTHER: i32 = size_of::<Link>() as i32;

/// What one engine has made of a region.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Steps to be done before the engine looks at it. What coming from the engine and going back takes counts as steps.
    pub(crate) left: i64,
    /// How many steps that has taken the time of.
    pub(crate) crossing: u64,
}

#[cfg(all(target_arch = "x86_64", unix))]
impl Usage {
    pub(crate) const LEFT: i32 = offset_of!(Usage, left) as i32;
}

/// The links of one engine.
pub(crate) struct Links {
    table: Vec<Pair>,
    /// Those that hold only as long as no mark is added.
    assuming: Vec<u64>,
    /// The number of additions to the marks when those were seen to hold.
    additions: u64,
}

impl Links {
    pub(crate) fn new() -> Links {
        Links { table: vec![Pair::NONE; LEAST], assuming: Vec::new(), additions: 0 }
    }

    /// The first of them, and the bits of a hash that tell how many bytes another pair comes after it.
    pub(crate) fn table(&self) -> (*const Link, u64) {
        (self.table.as_ptr().cast(), (size_of::<Pair>() * (self.table.len() - 1)) as u64)
    }

    /// Makes room for this many.
    pub(crate) fn make_room(&mut self, count: usize) {
        let wanted = (count * 2).next_power_of_two().clamp(LEAST, MOST);
        if wanted > self.table.len() {
            self.table = vec![Pair::NONE; wanted];
        }
    }

    /// The place of an address.
    fn at(&mut self, pc: u64) -> &mut [Link; 2] {
        let distance = pc.wrapping_mul(HASH as u64) >> SHIFT & self.table().1;
        &mut self.table[distance as usize / size_of::<Pair>()].0
    }

    /// Adds one; whether something about cells is assumed for the region to which it leads.
    pub(crate) fn add(&mut self, link: Link, assumes: bool) {
        if assumes {
            // Most of so many are there more than once.
            if self.assuming.len() > self.table.len() {
                self.forget_assuming();
            }
            self.assuming.push(link.pc);
        }
        let [first, second] = self.at(link.pc);
        if first.pc != link.pc {
            *second = *first;
        }
        *first = link;
    }

    /// Forgets the one from an address.
    pub(crate) fn forget(&mut self, pc: u64) {
        for link in self.at(pc).iter_mut().filter(|link| link.pc == pc) {
            *link = Link::NONE;
        }
    }

    /// Forgets those for which something must be looked at again, if marks have been added since that was done.
    pub(crate) fn forget_unless(&mut self, additions: u64) {
        if self.additions != additions {
            self.additions = additions;
            self.forget_assuming();
        }
    }

    fn forget_assuming(&mut self) {
        while let Some(pc) = self.assuming.pop() {
            self.forget(pc);
        }
    }
}
