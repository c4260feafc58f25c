//! Which cells of the code memory must not be written behind an engine's back: those that
//! hold code it has looked at, and those that something is mapped over.
//!
//! A mark stays when the code under it is gone, unless it is taken away. That costs a
//! detour on a store, never a wrong result.

use std::collections::BTreeSet;

use lathe_base::limits;
use lathe_isa::Isa;

use crate::dataflow::execute::mapped_spans;

/// Something is mapped over the cell.
const MAPPED: u8 = 2;
/// The cell is part of an instruction that was decoded.
const CODE: u8 = 1;

/// Nothing is there: behind the last cell.
const END: u8 = 4;

/// So many marks can be looked at together from any address on. Where that runs over the last
/// cell a mark is found, so that cells which were looked at together lie together.
pub const MARKS_AT_ONCE: u64 = 8;

/// One mark for every cell of the code memory.
#[derive(Clone, Debug)]
pub struct CodeMap {
    mask: u64,
    marks: Marks,
}

#[derive(Clone, Debug)]
enum Marks {
    /// As many as there are cells, and those behind the last.
    Flat(Vec<u8>),
    /// For a memory that is too large: the cells that hold code, and what is mapped.
    Sparse(BTreeSet<u64>, Vec<(u64, u64)>),
}

impl CodeMap {
    /// Only what is mapped is marked.
    pub fn new(isa: &Isa) -> CodeMap {
        let cells = isa.code_memory().cells();
        let spans = mapped_spans(isa, isa.pc.memory);
        let marks = if cells > limits::FLAT_CELLS {
            Marks::Sparse(BTreeSet::new(), spans)
        } else {
            let mut marks = vec![0; cells as usize];
            spans.iter().for_each(|(first, last)| marks[*first as usize..=*last as usize].fill(MAPPED));
            marks.extend([END; MARKS_AT_ONCE as usize]);
            Marks::Flat(marks)
        };
        CodeMap { mask: cells - 1, marks }
    }

    /// Marks a cell as code.
    pub fn mark(&mut self, address: u64) {
        let address = address & self.mask;
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] |= CODE,
            Marks::Sparse(code, _) => {
                code.insert(address);
            }
        }
    }

    /// Takes the mark of code away from a cell.
    pub fn unmark(&mut self, address: u64) {
        let address = address & self.mask;
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] &= !CODE,
            Marks::Sparse(code, _) => {
                code.remove(&address);
            }
        }
    }

    /// Whether a store to this cell must be watched.
    #[inline]
    pub fn is_marked(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] != 0,
            Marks::Sparse(code, spans) => {
                code.contains(&address) || spans.iter().any(|(first, last)| (*first..=*last).contains(&address))
            }
        }
    }

    /// Whether something is mapped over this cell.
    #[inline]
    pub fn is_mapped(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] & MAPPED != 0,
            Marks::Sparse(_, spans) => spans.iter().any(|(first, last)| (*first..=*last).contains(&address)),
        }
    }

    /// One byte for every cell, not zero where it is marked, and [`MARKS_AT_ONCE`] more that are
    /// not zero, if the memory is small enough.
    pub fn flat(&self) -> Option<&[u8]> {
        match &self.marks {
            Marks::Flat(marks) => Some(marks),
            Marks::Sparse(..) => None,
        }
    }
}
