//! Which cells of the code memory must not be written behind an engine's back: those that
//! hold code it has looked at, and those that something is mapped over.
//!
//! A mark stays when the code under it is gone, unless it is taken away. That costs a
//! detour on a store, never a wrong result.

use std::collections::BTreeSet;

use lathe_isa::Isa;

use crate::dataflow::execute::mapped_spans;
use crate::memory::CellStorage;
use crate::pages::{PAGE, Tables, within};

/// Something is mapped over the cell.
const MAPPED: u8 = 2;
/// The cell is part of an instruction that was decoded.
const CODE: u8 = 1;

/// Nothing is there: after the last cell.
const END: u8 = 4;

/// This many marks can be looked at together from any address on. Where that runs over the last
/// cell a mark is found, so that cells which were looked at together are contiguous.
pub const MARKS_AT_ONCE: u64 = 8;

/// The cell may be written, among the permits of a large memory.
pub const PERMITTED: u8 = 1;

/// One mark for every cell of the code memory.
pub struct CodeMap {
    mask: u64,
    marks: Marks,
    /// How often a cell has been marked that was not.
    additions: u64,
}

enum Marks {
    /// As many as there are cells, and those after the last.
    Flat(Vec<u8>),
    Sparse(Sparse),
}

/// The marks of a memory that is too large to have one for every cell.
struct Sparse {
    /// Those of the pages that hold code.
    pages: Tables<Option<Box<[u8]>>>,
    /// What is mapped.
    spans: Vec<(u64, u64)>,
    permits: Option<Permits>,
}

/// The opposite of marks, in room that an engine has lent, because room for all cells is full of
/// zeros in the beginning: [`PERMITTED`] where a cell may be written, zero elsewhere, above all in
/// pages that nobody has written yet.
struct Permits {
    room: Box<dyn CellStorage<u8>>,
    /// The first addresses of the pages that have been opened.
    opened: BTreeSet<u64>,
}

/// How the marks of all cells can be looked at.
#[derive(Clone, Copy, Debug)]
pub enum View<'m> {
    /// One byte for every cell, not zero where it is marked, and [`MARKS_AT_ONCE`] more that are
    /// not zero.
    Marks(&'m [u8]),
    /// One byte for every cell, [`PERMITTED`] where it is not marked and its page has been opened,
    /// and [`MARKS_AT_ONCE`] more that are zero.
    Permits(&'m [u8]),
}

impl CodeMap {
    /// Only what is mapped is marked.
    pub fn new(isa: &Isa) -> CodeMap {
        let cells = isa.code_memory().cells();
        let spans = mapped_spans(isa, isa.pc.memory);
        let marks = if isa.code_memory().is_large() {
            Marks::Sparse(Sparse { pages: Tables::new(), spans, permits: None })
        } else {
            let mut marks = vec![0; cells as usize];
            spans.iter().for_each(|(first, last)| marks[*first as usize..=*last as usize].fill(MAPPED));
            marks.extend([END; MARKS_AT_ONCE as usize]);
            Marks::Flat(marks)
        };
        CodeMap { mask: cells - 1, marks, additions: 0 }
    }

    /// Marks a cell as code.
    pub fn mark(&mut self, address: u64) {
        let address = address & self.mask;
        self.additions += u64::from(!self.is_marked(address));
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] |= CODE,
            Marks::Sparse(sparse) => {
                *sparse.mark(address) |= CODE;
                sparse.permit(address);
            }
        }
    }

    /// Takes the mark of code away from a cell.
    pub fn unmark(&mut self, address: u64) {
        let address = address & self.mask;
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] &= !CODE,
            Marks::Sparse(sparse) => {
                *sparse.mark(address) &= !CODE;
                sparse.permit(address);
            }
        }
    }

    /// Whether a store to this cell must be watched.
    #[inline]
    pub fn is_marked(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] != 0,
            Marks::Sparse(sparse) => sparse.is_marked(address),
        }
    }

    /// Whether one of this many neighbouring cells is marked, or they are not contiguous.
    pub(crate) fn is_any_marked(&self, address: u64, count: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Sparse(Sparse { pages, spans, permits: None }) if within(address) as u64 + count <= PAGE => {
                match pages.get(address) {
                    Some(Some(page)) => page[within(address)..][..count as usize].iter().any(|mark| *mark != 0),
                    _ => spans.iter().any(|(first, last)| *first < address + count && address <= *last),
                }
            }
            _ => (0..count).any(|at| self.is_marked(address.wrapping_add(at))),
        }
    }

    /// Whether something is mapped over this cell.
    #[inline]
    pub fn is_mapped(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] & MAPPED != 0,
            Marks::Sparse(sparse) => is_mapped(&sparse.spans, address),
        }
    }

    /// How often a cell has been marked that was not: as long as this stays the same, what had no
    /// mark has none.
    pub fn additions(&self) -> u64 {
        self.additions
    }

    /// Whether no cell from the first to the last is marked.
    pub fn is_free(&self, first: u64, last: u64) -> bool {
        match &self.marks {
            Marks::Flat(marks) => marks[first as usize..=last as usize].iter().all(|mark| *mark == 0),
            Marks::Sparse(..) => (first..=last).all(|address| !self.is_marked(address)),
        }
    }

    /// Takes room for the permits of a large memory, if there is none yet: for this many bytes, all zero.
    pub fn move_into(&mut self, room: impl FnOnce(usize) -> Option<Box<dyn CellStorage<u8>>>) {
        if let Marks::Sparse(sparse) = &mut self.marks
            && sparse.permits.is_none()
        {
            let count = usize::try_from(self.mask + 1 + MARKS_AT_ONCE).ok();
            let storage = count.and_then(room).filter(|room| Some(room.cells().len()) == count);
            sparse.permits = storage.map(|room| Permits { room, opened: BTreeSet::new() });
        }
    }

    /// Permits stores into the page of this address, which has been written.
    pub fn open(&mut self, address: u64) {
        if let Marks::Sparse(sparse) = &mut self.marks {
            sparse.open(address & self.mask);
        }
    }

    /// The first addresses of the pages into which stores are permitted.
    pub fn opened(&self) -> impl Iterator<Item = u64> {
        let permits = match &self.marks {
            Marks::Flat(_) => None,
            Marks::Sparse(sparse) => sparse.permits.as_ref(),
        };
        permits.into_iter().flat_map(|permits| permits.opened.iter().copied())
    }

    /// All marks at once; none of a large memory as long as there is no room for them.
    pub fn view(&self) -> Option<View<'_>> {
        match &self.marks {
            Marks::Flat(marks) => Some(View::Marks(marks)),
            Marks::Sparse(sparse) => Some(View::Permits(sparse.permits.as_ref()?.room.cells())),
        }
    }
}

impl Sparse {
    /// Where there are permits, a page that has not been opened counts as marked: the first store into
    /// it must be seen.
    #[inline]
    fn is_marked(&self, address: u64) -> bool {
        match &self.permits {
            Some(permits) => permits.room.cells()[address as usize] != PERMITTED,
            None => self.holds_code_or_is_mapped(address),
        }
    }

    fn holds_code_or_is_mapped(&self, address: u64) -> bool {
        match self.pages.get(address) {
            Some(Some(page)) => page[within(address)] != 0,
            _ => is_mapped(&self.spans, address),
        }
    }

    fn mark(&mut self, address: u64) -> &mut u8 {
        let first = first_of_page(address);
        let mapped = |address| if is_mapped(&self.spans, address) { MAPPED } else { 0 };
        let page = || (first..first + PAGE).map(mapped).collect();
        &mut self.pages.entry(address).get_or_insert_with(page)[within(address)]
    }

    /// Makes the permit of one cell right, if its page has been opened.
    fn permit(&mut self, address: u64) {
        let permit = if self.holds_code_or_is_mapped(address) { 0 } else { PERMITTED };
        if let Some(permits) = &mut self.permits
            && permits.opened.contains(&first_of_page(address))
        {
            permits.room.cells_mut()[address as usize] = permit;
        }
    }

    fn open(&mut self, address: u64) {
        let first = first_of_page(address);
        let Some(permits) = self.permits.as_mut().filter(|permits| !permits.opened.contains(&first)) else { return };
        permits.opened.insert(first);
        // The marks of the page are found once, not for each of its cells.
        let marks = self.pages.get(first).and_then(Option::as_deref);
        let cells = &mut permits.room.cells_mut()[first as usize..][..PAGE as usize];
        for (cell, address) in cells.iter_mut().zip(first..) {
            let marked = marks.map_or_else(|| is_mapped(&self.spans, address), |marks| marks[within(address)] != 0);
            *cell = if marked { 0 } else { PERMITTED };
        }
    }
}

fn first_of_page(address: u64) -> u64 {
    address & !(PAGE - 1)
}

fn is_mapped(spans: &[(u64, u64)], address: u64) -> bool {
    spans.iter().any(|(first, last)| (*first..=*last).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Owned(Vec<u8>);

    impl CellStorage<u8> for Owned {
        fn cells(&self) -> &[u8] {
            &self.0
        }

        fn cells_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    fn permits(map: &CodeMap, first: u64) -> &[u8] {
        match map.view() {
            Some(View::Permits(permits)) => &permits[first as usize..][..4],
            other => panic!("a large memory has permits, not {other:?}"),
        }
    }

    #[test]
    fn a_large_memory_permits_stores_into_opened_pages_except_where_marked() {
        let text = "machine m \"\"\nmemory r : u24 -> u8\npc pc : u24 in r\ndevice out : stream\n\
            map r {\n 0x00_2002 | 0 | out.write(value)\n}\ninstructions {\n h | 0000 0000 | halt\n}\n";
        let loaded = lathe_isa::load(text);
        let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let mut map = CodeMap::new(&isa);
        map.mark(0x2001);
        assert!(map.view().is_none());
        map.move_into(|count| Some(Box::new(Owned(vec![0; count]))));
        assert_eq!(permits(&map, 0x2000), [0, 0, 0, 0]);
        assert!(map.is_marked(0x2000));
        map.open(0x2FFF);
        assert_eq!(permits(&map, 0x2000), [1, 0, 0, 1]);
        assert_eq!(permits(&map, 0x3000), [0, 0, 0, 0]);
        map.mark(0x2003);
        map.unmark(0x2001);
        map.unmark(0x2002);
        assert_eq!(permits(&map, 0x2000), [1, 1, 0, 0]);
        assert_eq!(map.opened().collect::<Vec<_>>(), [0x2000]);
        assert!(map.is_marked(0x2002) && map.is_marked(0x100_2003) && !map.is_marked(0x2001));
    }

    #[test]
    fn additions_say_whether_what_was_free_may_not_be_any_more() {
        let text = "machine m \"\"\nmemory r : u8 -> u8\npc pc : u8 in r\ninstructions {\n h | 0000 0000 | halt\n}\n";
        let isa = lathe_isa::load(text).isa.expect("the definition is right");
        let mut marks = CodeMap::new(&isa);
        assert!(marks.is_free(0, 255));
        marks.mark(7);
        assert_eq!(marks.additions(), 1);
        assert!(!marks.is_free(0, 7) && !marks.is_free(7, 255));
        assert!(marks.is_free(0, 6) && marks.is_free(8, 255));
        marks.mark(7);
        assert_eq!(marks.additions(), 1, "it was there already");
        marks.unmark(7);
        assert!(marks.is_free(0, 255));
        marks.mark(7);
        assert_eq!(marks.additions(), 2, "it was away in between");
    }
}
