//! Links, by which compiled code goes from one region to the next by itself: a table lookup takes a few nanoseconds,
//! returning to the engine and being called again several times as long.
//!
//! The engine adds a link whenever it has gone from one region to another. A link is forgotten when its target region
//! goes away or a mark is added; until then it leads to a region in use whose assumptions about cells hold. The target
//! checks modes itself on the way in.

#[cfg(all(target_arch = "x86_64", unix))]
use std::mem::offset_of;

/// Pairs of links in one engine, at least and at most.
const LEAST: usize = 1 << 5;
const MOST: usize = 1 << 11;
/// An address is multiplied by this number to find its place in the table; the bits from [`SHIFT`] on count.
pub(crate) const HASH: i32 = 0x61C8_8647;
pub(crate) const SHIFT: u8 = 16;
/// No address: addresses have fewer bits.
const NOWHERE: u64 = u64::MAX;

/// Where compiled code goes on at an address.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Link {
    pub(crate) pc: u64,
    /// The host address of its code.
    pub(crate) way_in: usize,
    /// The [bound](crate::shared::Compiled) of its region.
    pub(crate) bound: i64,
    /// Where the [`Usage`] of its region is, in bytes after the first.
    pub(crate) usage: u64,
}

/// Offsets for compiled code.
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

/// Two links that share a place. Compiled code gets from one to the other by flipping one bit of the address.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Pair([Link; 2]);

impl Pair {
    const NONE: Pair = Pair([Link::NONE; 2]);
}

/// The bit between the two links of a pair.
#[cfg(all(target_arch = "x86_64", unix))]
pub(crate) const OTHER: i32 = size_of::<Link>() as i32;

/// How much one engine has used a region.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Steps until the engine looks at the region. Entering it from the engine and leaving it count as steps.
    pub(crate) left: i64,
    /// The steps that entering and leaving have counted as.
    pub(crate) crossing: u64,
}

#[cfg(all(target_arch = "x86_64", unix))]
impl Usage {
    pub(crate) const LEFT: i32 = offset_of!(Usage, left) as i32;
}

/// The links of one engine.
pub(crate) struct Links {
    table: Vec<Pair>,
    /// Addresses of the links that hold only until a mark is added.
    assuming: Vec<u64>,
    /// The number of additions to the marks when those links were known to hold.
    additions: u64,
}

impl Links {
    pub(crate) fn new() -> Links {
        Links { table: vec![Pair::NONE; LEAST], assuming: Vec::new(), additions: 0 }
    }

    /// Returns the first link, and a mask for the bits of a hash that give the distance of a pair from it in bytes.
    pub(crate) fn table(&self) -> (*const Link, u64) {
        (self.table.as_ptr().cast(), (size_of::<Pair>() * (self.table.len() - 1)) as u64)
    }

    /// Makes room for this many links.
    pub(crate) fn make_room(&mut self, count: usize) {
        let wanted = (count * 2).next_power_of_two().clamp(LEAST, MOST);
        if wanted > self.table.len() {
            self.table = vec![Pair::NONE; wanted];
        }
    }

    /// Returns the place of an address.
    fn at(&mut self, pc: u64) -> &mut [Link; 2] {
        let distance = pc.wrapping_mul(HASH as u64) >> SHIFT & self.table().1;
        &mut self.table[distance as usize / size_of::<Pair>()].0
    }

    /// Adds a link; `assumes` says whether its target region assumes anything about cells.
    pub(crate) fn add(&mut self, link: Link, assumes: bool) {
        if assumes {
            // With this many, most are listed more than once.
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

    /// Forgets the link for an address.
    pub(crate) fn forget(&mut self, pc: u64) {
        for link in self.at(pc).iter_mut().filter(|link| link.pc == pc) {
            *link = Link::NONE;
        }
    }

    /// Forgets the links that assume anything about cells, if marks have been added since those assumptions were
    /// checked.
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
