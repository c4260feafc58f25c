//! Which cells of the code memory must not be written behind an engine's back: those with code that it has looked at,
//! and those that something is mapped over.
//!
//! A mark stays when the code under it is gone, unless it is removed. That costs a detour on a store, never a wrong
//! result.

use std::ops::RangeInclusive;

use lathe_base::numbers::ByNumber;
use lathe_isa::Isa;
use lathe_values::execute::mapped_spans;
use lathe_vm::memory::{CellStorage, LARGE_IN_ONE_PIECE, Memory, PAGE, PAGE_BITS, within_page};

/// Something is mapped over the cell.
const MAPPED: u8 = 2;
/// The cell is part of an instruction that was decoded.
const CODE: u8 = 1;

/// There is no such cell, as after the last one, or its page is closed.
const END: u8 = 4;

/// Eight marks with everything that a mark may be except code.
pub(crate) const NOT_CODE: u64 = u64::from_ne_bytes([MAPPED | END; 8]);

/// How many marks can be checked together, from any address on. A check that extends past the last cell, of the memory
/// or of those that lie [together](lathe_vm::memory::together), finds a mark, so cells without marks that were checked
/// together are contiguous.
pub const MARKS_AT_ONCE: u64 = 16;

/// One mark for every cell of the code memory.
pub struct CodeMap {
    mask: u64,
    marks: Marks,
    /// How often a cell without a mark has been marked.
    additions: u64,
}

enum Marks {
    /// One for each cell, and those after the last.
    Flat(Vec<u8>),
    Paged(PagedMarks<Vec<usize>>),
    Numbered(PagedMarks<ByNumber<u64, usize>>),
}

/// Finds the marks of a page: where in the rows that of its first cell is.
trait Table {
    fn row_of(&self, number: u64) -> usize;
    fn set_row_of(&mut self, number: u64, row: usize);
}

impl Table for Vec<usize> {
    #[inline]
    fn row_of(&self, number: u64) -> usize {
        self[number as usize]
    }

    fn set_row_of(&mut self, number: u64, row: usize) {
        self[number as usize] = row;
    }
}

/// A page without an entry is closed.
impl Table for ByNumber<u64, usize> {
    #[inline]
    fn row_of(&self, number: u64) -> usize {
        self.get(&number).copied().unwrap_or(CLOSED)
    }

    fn set_row_of(&mut self, number: u64, row: usize) {
        if row == CLOSED {
            self.remove(&number);
        } else {
            self.insert(number, row);
        }
    }
}

/// The marks of a memory that is too large to have one for every cell. A page is open only if it is
/// [open](Memory::is_open) in the memory too. The cells of a closed page all count as marked, so that the first store
/// into it is seen.
struct PagedMarks<T> {
    table: T,
    /// The number of the last page.
    last: u64,
    /// Rows of [`ROW`] marks: one for each cell of a page, and those after the last. Pages in which all cells have the
    /// same mark share the first rows.
    rows: Vec<u8>,
    /// The rows of pages that hold code or have something mapped over them, open or not.
    own: ByNumber<u64, usize>,
    /// The spans of mapped addresses.
    spans: Vec<(u64, u64)>,
    /// The numbers of the pages that are open.
    opened: Vec<u64>,
    /// One byte for every group of cells, which compiled code finds faster than a mark. Not zero if stores to
    /// [`MARKS_AT_ONCE`] cells are permitted from any cell of the group on.
    permits: Option<Box<dyn CellStorage<u8>>>,
}

/// Binary logarithm of the cells in a group, which share a permit: as many as are checked together, so that those lie
/// in two groups at most.
pub const GROUP_BITS: u32 = MARKS_AT_ONCE.ilog2();

/// Marks of a row: those of a page, then those of the cells after it, so that they can be checked together.
const ROW: usize = (PAGE + MARKS_AT_ONCE) as usize;
/// Rows that pages share: a closed page; a page without marks, where marks follow; a page without marks, where none
/// follow.
const CLOSED: usize = 0;
const FREE: usize = ROW;
const FREE_ON: usize = 2 * ROW;

/// How the marks of all cells can be read.
#[derive(Clone, Copy, Debug)]
pub enum View<'m> {
    /// One byte for every cell, not zero if it is marked, and [`MARKS_AT_ONCE`] more that are not zero.
    Flat(&'m [u8]),
    /// Of a large memory: for every page, where in the rows the mark of its first cell is. Those of its other cells
    /// follow, and of [`MARKS_AT_ONCE`] cells of the next page.
    Paged {
        /// One number for every page.
        table: &'m [usize],
        /// The rows that the table points into.
        rows: &'m [u8],
        /// One byte for every `1 << GROUP_BITS` cells, if [asked for](CodeMap::keep_permits): not zero if stores to
        /// [`MARKS_AT_ONCE`] cells are permitted from any of them on.
        permits: Option<&'m [u8]>,
    },
    /// Of a memory that is too wide for a table: only one mark at a time.
    Numbered,
}

impl CodeMap {
    /// Creates a map that marks mapped cells only, with all pages closed.
    pub fn new(isa: &Isa) -> CodeMap {
        let last = isa.code_memory().last();
        let spans = mapped_spans(isa, isa.pc.memory);
        let marks = if isa.code_memory().has_wide_addresses() {
            Marks::Numbered(PagedMarks::new(ByNumber::default(), last >> PAGE_BITS, spans))
        } else if isa.code_memory().is_large() {
            let table = vec![CLOSED; (last >> PAGE_BITS) as usize + 1];
            Marks::Paged(PagedMarks::new(table, last >> PAGE_BITS, spans))
        } else {
            let mut marks = vec![0; last as usize + 1];
            spans.iter().for_each(|(first, last)| marks[*first as usize..=*last as usize].fill(MAPPED));
            marks.extend([END; MARKS_AT_ONCE as usize]);
            Marks::Flat(marks)
        };
        CodeMap { mask: last, marks, additions: 0 }
    }

    /// Marks a cell as code.
    pub fn mark(&mut self, address: u64) {
        let address = address & self.mask;
        self.additions += u64::from(!self.is_marked(address));
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] |= CODE,
            Marks::Paged(paged) => paged.change(address, |mark| mark | CODE),
            Marks::Numbered(paged) => paged.change(address, |mark| mark | CODE),
        }
    }

    /// Removes the code mark of a cell.
    pub fn unmark(&mut self, address: u64) {
        let address = address & self.mask;
        match &mut self.marks {
            Marks::Flat(marks) => marks[address as usize] &= !CODE,
            Marks::Paged(paged) => paged.change(address, |mark| mark & !CODE),
            Marks::Numbered(paged) => paged.change(address, |mark| mark & !CODE),
        }
    }

    /// Whether a store to this cell must be watched.
    #[inline(always)]
    pub fn is_marked(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] != 0,
            Marks::Paged(paged) => paged.is_marked(address),
            Marks::Numbered(paged) => paged.is_marked(address),
        }
    }

    /// Whether any of this many adjacent cells is marked, or they are not contiguous.
    #[inline]
    pub(crate) fn is_any_marked(&self, address: u64, count: u64) -> bool {
        let address = address & self.mask;
        let marks = match &self.marks {
            Marks::Flat(marks) => &marks[address as usize..],
            // The marks of the next page follow in the row.
            Marks::Paged(paged) => &paged.row(address)[within_page(address)..],
            Marks::Numbered(paged) => &paged.row(address)[within_page(address)..],
        };
        match marks.first_chunk() {
            Some(marks) if (1..=8).contains(&count) => u64::from_le_bytes(*marks) << (64 - 8 * count) != 0,
            _ => marks.iter().take(count as usize).any(|mark| *mark != 0),
        }
    }

    /// Whether something is mapped over this cell.
    #[inline]
    pub fn is_mapped(&self, address: u64) -> bool {
        let address = address & self.mask;
        match &self.marks {
            Marks::Flat(marks) => marks[address as usize] & MAPPED != 0,
            Marks::Paged(paged) => is_mapped(&paged.spans, address),
            Marks::Numbered(paged) => is_mapped(&paged.spans, address),
        }
    }

    /// Returns how often a cell without a mark has been marked. While this stays the same, cells that had no mark still
    /// have none.
    pub fn additions(&self) -> u64 {
        self.additions
    }

    /// Whether no cell from the first to the last is marked.
    pub fn is_free(&self, first: u64, last: u64) -> bool {
        match &self.marks {
            Marks::Flat(marks) => marks[first as usize..=last as usize].iter().all(|mark| *mark == 0),
            // A page may be closed at any time.
            Marks::Paged(_) | Marks::Numbered(_) => false,
        }
    }

    /// Permits stores into the page of this address from now on, because it is open.
    pub fn open(&mut self, address: u64) {
        let number = (address & self.mask) >> PAGE_BITS;
        match &mut self.marks {
            Marks::Flat(_) => {}
            Marks::Paged(paged) => paged.open(number),
            Marks::Numbered(paged) => paged.open(number),
        }
    }

    /// Closes the pages that are not open in this memory: a snapshot may have been taken, or the memory replaced.
    pub fn close_as(&mut self, memory: &Memory) {
        match &mut self.marks {
            Marks::Flat(_) => {}
            Marks::Paged(paged) => paged.close_as(memory),
            Marks::Numbered(paged) => paged.close_as(memory),
        }
    }

    /// Keeps permits from now on, if the memory is large but not too wide for a table, and `room` allocates zeros for
    /// them.
    pub fn keep_permits(&mut self, room: impl FnOnce(usize) -> Option<Box<dyn CellStorage<u8>>>) {
        let Marks::Paged(paged) = &mut self.marks else { return };
        if paged.permits.is_none() {
            let count = paged.table.len() << (PAGE_BITS - GROUP_BITS);
            paged.permits = room(count).filter(|room| room.cells().len() == count);
            paged.opened.clone().into_iter().for_each(|number| paged.permit_page(number));
        }
    }

    /// Returns all marks.
    pub fn view(&self) -> View<'_> {
        match &self.marks {
            Marks::Flat(marks) => View::Flat(marks),
            Marks::Paged(paged) => {
                let permits = paged.permits.as_ref().map(|permits| permits.cells());
                View::Paged { table: &paged.table, rows: &paged.rows, permits }
            }
            Marks::Numbered(_) => View::Numbered,
        }
    }
}

impl<T: Table> PagedMarks<T> {
    /// Creates the marks for a table in which all pages are closed.
    fn new(table: T, last: u64, spans: Vec<(u64, u64)>) -> Self {
        let mut rows = vec![END; ROW];
        rows.extend([0; PAGE as usize]);
        rows.extend([END; MARKS_AT_ONCE as usize]);
        rows.extend([0; ROW]);
        PagedMarks { table, last, rows, own: ByNumber::default(), spans, opened: Vec::new(), permits: None }
    }

    /// Returns the marks of the page of an address, and those after it.
    #[inline]
    fn row(&self, address: u64) -> &[u8] {
        &self.rows[self.table.row_of(address >> PAGE_BITS)..][..ROW]
    }

    #[inline]
    fn is_marked(&self, address: u64) -> bool {
        self.row(address)[within_page(address)] != 0
    }

    /// Changes the mark of one cell.
    fn change(&mut self, address: u64, change: impl FnOnce(u8) -> u8) {
        let number = address >> PAGE_BITS;
        let row = self.own_row(number);
        let mark = &mut self.rows[row + within_page(address)];
        *mark = change(*mark);
        self.arrange(number);
        if (within_page(address) as u64) < MARKS_AT_ONCE {
            self.arrange_before(number);
        }
        let group = address >> GROUP_BITS;
        self.permit(group.saturating_sub(1)..=group);
    }

    /// Returns where the page's own row is, adding one if there is none.
    fn own_row(&mut self, number: u64) -> usize {
        if let Some(row) = self.own.get(&number) {
            return *row;
        }
        let (row, first) = (self.rows.len(), number << PAGE_BITS);
        let mapped = |address| if is_mapped(&self.spans, address) { MAPPED } else { 0 };
        let marks: Vec<u8> = (first..=first + (PAGE - 1)).map(mapped).collect();
        self.rows.extend(marks);
        self.rows.extend([END; MARKS_AT_ONCE as usize]);
        self.own.insert(number, row);
        row
    }

    fn is_open(&self, number: u64) -> bool {
        number <= self.last && self.table.row_of(number) != CLOSED
    }

    fn open(&mut self, number: u64) {
        if self.is_open(number) {
            return;
        }
        let first = number << PAGE_BITS;
        if self.spans.iter().any(|(start, last)| *start <= first + (PAGE - 1) && first <= *last) {
            self.own_row(number);
        }
        self.opened.push(number);
        self.table.set_row_of(number, FREE);
        self.arrange(number);
        self.permit_page(number);
        self.arrange_before(number);
    }

    fn close_as(&mut self, memory: &Memory) {
        let opened = std::mem::take(&mut self.opened);
        let (open, closed): (Vec<u64>, Vec<u64>) =
            opened.into_iter().partition(|number| memory.is_open(number << PAGE_BITS));
        self.opened = open;
        closed.iter().for_each(|number| self.table.set_row_of(*number, CLOSED));
        closed.iter().for_each(|number| {
            self.permit_page(*number);
            self.arrange_before(*number);
        });
    }

    /// Selects the row of an open page, according to its own marks and those after it.
    fn arrange(&mut self, number: u64) {
        if !self.is_open(number) {
            return;
        }
        let next = number + 1;
        // Cells of two pages are not contiguous if the memory is in pieces.
        let begins_free = LARGE_IN_ONE_PIECE && self.is_open(next) && {
            let row = self.row(next << PAGE_BITS);
            row[..MARKS_AT_ONCE as usize].iter().all(|mark| *mark == 0)
        };
        let row = match self.own.get(&number) {
            Some(row) => {
                let behind = if begins_free { 0 } else { END };
                self.rows[*row + PAGE as usize..][..MARKS_AT_ONCE as usize].fill(behind);
                *row
            }
            None if begins_free => FREE_ON,
            None => FREE,
        };
        self.table.set_row_of(number, row);
    }

    /// Updates the page before this one, because the marks after it have changed.
    fn arrange_before(&mut self, number: u64) {
        if let Some(before) = number.checked_sub(1) {
            self.arrange(before);
            let last = (number << (PAGE_BITS - GROUP_BITS)) - 1;
            self.permit(last..=last);
        }
    }

    /// Sets the permits of a page according to its marks.
    fn permit_page(&mut self, number: u64) {
        let first = number << (PAGE_BITS - GROUP_BITS);
        self.permit(first..=first + (PAGE >> GROUP_BITS) - 1);
    }

    /// Sets the permits of groups according to their marks.
    fn permit(&mut self, groups: RangeInclusive<u64>) {
        let Some(permits) = &mut self.permits else { return };
        for group in groups {
            let first = group << GROUP_BITS;
            let marks = &self.rows[self.table.row_of(first >> PAGE_BITS) + within_page(first)..];
            let is_free = marks[..2 * MARKS_AT_ONCE as usize - 1].iter().all(|mark| *mark == 0);
            permits.cells_mut()[group as usize] = u8::from(is_free);
        }
    }
}

fn is_mapped(spans: &[(u64, u64)], address: u64) -> bool {
    spans.iter().any(|(first, last)| (*first..=*last).contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map_of(text: &str) -> (CodeMap, Memory) {
        let loaded = lathe_isa::load(text);
        let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        (CodeMap::new(&isa), Memory::new(isa.code_memory()))
    }

    struct Zeros(Vec<u8>);

    impl CellStorage<u8> for Zeros {
        fn cells(&self) -> &[u8] {
            &self.0
        }

        fn cells_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    fn marks(map: &CodeMap, cells: impl IntoIterator<Item = u64>) -> Vec<bool> {
        cells.into_iter().map(|address| map.is_marked(address)).collect()
    }

    #[test]
    fn the_cells_of_closed_pages_are_marked_and_others_where_they_should_be() {
        let (mut map, mut memory) = map_of(
            "machine m \"\"\nmemory r : u24 -> u8\npc pc : u24 in r\ndevice out : stream\n\
            map r {\n 0x00_2002 | 0 | out.write(value)\n}\ninstructions {\n h | 0000 0000 | halt\n}\n",
        );
        map.mark(0x2001);
        assert_eq!(marks(&map, 0x2000..0x2004), [true; 4]);
        memory.set(0x2FFF, 1);
        map.open(0x2FFF);
        assert_eq!(marks(&map, 0x2000..0x2004), [false, true, true, false]);
        assert_eq!(marks(&map, 0x3000..0x3004), [true; 4]);
        map.mark(0x2003);
        map.unmark(0x2001);
        map.unmark(0x2002);
        assert_eq!(marks(&map, 0x2000..0x2004), [false, false, true, true]);
        assert!(map.is_mapped(0x2002) && map.is_marked(0x100_2003));
        map.close_as(&memory);
        assert_eq!(marks(&map, 0x2000..0x2004), [false, false, true, true], "it is open in the memory");
        memory.snapshot();
        map.close_as(&memory);
        assert_eq!(marks(&map, 0x2000..0x2004), [true; 4]);
        map.open(0x2000);
        assert_eq!(marks(&map, 0x2000..0x2004), [false, false, true, true]);
    }

    #[test]
    fn cells_of_two_pages_are_looked_at_together() {
        let (mut map, mut memory) = map_of(
            "machine m \"\"\nmemory r : u24 -> u8\npc pc : u24 in r\ninstructions {\n h | 0000 0000 | halt\n}\n",
        );
        let across = |map: &CodeMap| map.is_any_marked(0x1FFE, 4);
        map.open(0x1000);
        assert!(across(&map), "the next page is closed");
        memory.set(0x2000, 1);
        map.open(0x2000);
        assert!(!across(&map));
        map.mark(0x2007);
        assert!(across(&map), "there is a mark close by");
        map.unmark(0x2007);
        map.mark(0x1000);
        assert!(!across(&map));
        memory.set(0x1000, 1);
        memory.snapshot();
        memory.set(0x1000, 1);
        map.close_as(&memory);
        assert!(across(&map) && !map.is_marked(0x1FFF));
        map.open(0xFF_F000);
        assert!(map.is_any_marked(0xFF_FFFE, 4) && !map.is_any_marked(0xFF_FFFE, 2), "the last page has no next");
    }

    #[test]
    fn a_memory_too_wide_for_a_table_has_marks_too() {
        let (mut map, mut memory) = map_of(
            "machine m \"\"\nmemory r : u64 -> u8\npc pc : u64 in r\ndevice out : stream\n\
            map r {\n 0xFFFF_FFFF_FFFF_FFFE | 0 | out.write(value)\n}\ninstructions {\n h | 0000 0000 | halt\n}\n",
        );
        let top = u64::MAX - 3;
        map.mark(top);
        assert_eq!(marks(&map, top..=u64::MAX), [true; 4], "the page is closed");
        memory.set(top, 1);
        map.open(top);
        assert_eq!(marks(&map, top..=u64::MAX), [true, false, true, false]);
        assert!(map.is_mapped(top + 2) && !map.is_mapped(top));
        assert!(map.is_any_marked(u64::MAX, 2) && !map.is_any_marked(u64::MAX, 1), "the last page has no next");
        map.unmark(top);
        assert!(!map.is_marked(top));
        memory.snapshot();
        map.close_as(&memory);
        assert_eq!(marks(&map, top..=u64::MAX), [true; 4]);
        assert!(matches!(map.view(), View::Numbered));
    }

    #[test]
    fn permits_say_where_nothing_close_by_is_marked() {
        let (mut map, mut memory) = map_of(
            "machine m \"\"\nmemory r : u24 -> u8\npc pc : u24 in r\ninstructions {\n h | 0000 0000 | halt\n}\n",
        );
        let every_permit_is_right = |map: &CodeMap| {
            let View::Paged { permits: Some(permits), .. } = map.view() else { panic!("there are permits") };
            assert_eq!(permits.len(), 1 << (24 - GROUP_BITS));
            for (group, permit) in permits.iter().enumerate().take(0x5000 >> GROUP_BITS) {
                let first = (group as u64) << GROUP_BITS;
                let is_free = !map.is_any_marked(first, 16) && !map.is_any_marked(first + 15, 16);
                assert_eq!(*permit != 0, is_free, "{first:#x}");
            }
            permits.iter().filter(|permit| **permit != 0).count()
        };
        map.open(0x1000);
        map.keep_permits(|count| Some(Box::new(Zeros(vec![0; count]))));
        assert_eq!(every_permit_is_right(&map), 255, "the last group is followed by a closed page");
        for page in [0x2000, 0x3000] {
            memory.set(page, 1);
            map.open(page);
        }
        assert_eq!(every_permit_is_right(&map), 3 * 256 - 1);
        for address in [0x1800, 0x2000, 0x20FF, 0x2FFF, 0x4000] {
            map.mark(address);
            every_permit_is_right(&map);
        }
        for address in [0x1800, 0x2000, 0x2FFF] {
            map.unmark(address);
            every_permit_is_right(&map);
        }
        map.close_as(&memory);
        assert_eq!(every_permit_is_right(&map), 2 * 256 - 1 - 1, "one page is closed, and code is at 0x20FF");
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
