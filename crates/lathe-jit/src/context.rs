//! What an engine hands over to compiled code, and gets back from it.

use crate::links::{Link, Usage};

/// What compiled code and the engine share. Offsets are used by compiled code.
#[repr(C)]
pub(crate) struct Context {
    /// One word for every register.
    pub(crate) registers: *mut u64,
    /// One mark for every cell of the code memory; where it is large, the rows of marks.
    pub(crate) marks: *const u8,
    /// For every page of a large code memory, where its row of marks is. Null if it is not large.
    pub(crate) rows: *const usize,
    /// One byte for every group of cells of a large code memory: not zero if stores there are permitted without a look
    /// at the marks. Null if it is not large.
    pub(crate) permits: *const u8,
    /// The first cell of every memory; of a large one that is in pieces, the table of its pages.
    pub(crate) memories: *const *mut u8,
    /// One byte for every page of every large memory: 1 if it may be written. Null for the others.
    pub(crate) opened: *const *const u8,
    /// Steps left, less the bound of the region.
    pub(crate) fuel: i64,
    /// Cycles taken.
    pub(crate) cycles: u64,
    /// Where it goes on.
    pub(crate) pc: u64,
    /// Not zero if the instruction there must be interpreted.
    pub(crate) interpret: u64,
    /// The address of the computed jump that went where it was not expected to go, if that is why
    /// the region was left; else as it was.
    pub(crate) jump: u64,
    /// Where other regions are entered: the table, and which bits of a hash count.
    pub(crate) links: *const Link,
    pub(crate) link_mask: u64,
    /// What is known of the use of each region, and of the one that is running.
    pub(crate) usages: *mut Usage,
    pub(crate) current: *mut Usage,
    /// The budget when the running region was entered.
    pub(crate) started: i64,
}

/// No computed jump: addresses have fewer bits.
pub(crate) const NO_JUMP: u64 = u64::MAX;

/// Where compiled code finds a field of the [`Context`].
macro_rules! offset {
    ($field:ident) => {
        std::mem::offset_of!(Context, $field) as i32
    };
}

pub(crate) use offset;
