//! What an engine hands to compiled code and gets back from it.

use crate::links::{Link, Usage};

/// What compiled code and the engine share. Compiled code uses the offsets of the fields.
#[repr(C)]
pub(crate) struct Context {
    /// One word for every register.
    pub(crate) registers: *mut u64,
    /// One mark for every cell of the code memory; where it is large, the rows of marks.
    pub(crate) marks: *const u8,
    /// For every page of a large code memory, the position of its row of marks. Null if the code memory is not large.
    pub(crate) rows: *const usize,
    /// The permits, one byte for every group of cells of a large code memory: not zero if stores there need no look at
    /// the marks. Null if the code memory is not large.
    pub(crate) permits: *const u8,
    /// The first cell of every memory, or the table of its pages if it is large and in pieces.
    pub(crate) memories: *const *mut u8,
    /// One byte for every page of every large memory: 1 if it may be written. Null for the others.
    pub(crate) opened: *const *const u8,
    /// The budget: steps left, less the bound of the region.
    pub(crate) fuel: i64,
    /// Cycles spent.
    pub(crate) cycles: u64,
    /// The address of the next instruction.
    pub(crate) pc: u64,
    /// Not zero if that instruction must be interpreted.
    pub(crate) interpret: u64,
    /// The address of the computed jump that went to an unexpected target, if that is why the region was left; else
    /// unchanged.
    pub(crate) jump: u64,
    /// Where other regions are entered: the table of links, and the mask for the bits of a hash that count.
    pub(crate) links: *const Link,
    pub(crate) link_mask: u64,
    /// The usage of the first region, and that of the running region.
    pub(crate) usages: *mut Usage,
    pub(crate) current: *mut Usage,
    /// The budget when the running region was entered.
    pub(crate) started: i64,
}

/// No computed jump: addresses have fewer bits.
pub(crate) const NO_JUMP: u64 = u64::MAX;

/// The offset at which compiled code finds a field of the [`Context`].
macro_rules! offset {
    ($field:ident) => {
        std::mem::offset_of!(Context, $field) as i32
    };
}

pub(crate) use offset;
