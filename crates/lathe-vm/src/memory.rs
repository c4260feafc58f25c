//! A memory: cells of one width, at addresses that wrap. Small memories are kept in one piece; large ones in pages,
//! which are created when written, and found in tables or, if addresses are too wide for tables, by number.

use std::collections::HashSet;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use lathe_base::limits;

use crate::pages::{NumberedPages, Pages};
pub use crate::pages::{PAGE, PAGE_BITS, Paged, within_page};
use crate::shared_pages::SharedPages;

/// How many bytes follow the last cell. An engine may read them together with the last cells, and must ignore what it
/// finds there.
pub const SPARE: usize = 8;

/// Whether this host has room for all cells of the largest memory in one piece. A host with 32-bit addresses does not;
/// there, compiled code finds the page of a cell in a table.
pub const LARGE_IN_ONE_PIECE: bool = cfg!(target_pointer_width = "64");

/// Returns the last of the cells contiguous with the first, in a memory with addresses up to `last`: all cells, or
/// those of a page.
pub const fn together(last: u64) -> u64 {
    if LARGE_IN_ONE_PIECE || last < limits::FLAT_CELLS { last } else { PAGE - 1 }
}

/// The cells of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The highest address; addresses wrap after it.
    mask: u64,
    /// The highest value; values wrap after it.
    cell_mask: u64,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cells {
    /// One byte per cell, and the spare ones.
    Bytes(Piece<u8>),
    Words(Piece<u64>),
    BytePages(Pages<u8>),
    WordPages(Pages<u64>),
    NumberedBytes(NumberedPages<u8>),
    NumberedWords(NumberedPages<u64>),
}

/// The saved cells of one memory. Snapshots share the pages that did not change between them.
#[derive(Clone, Debug)]
pub struct MemorySnapshot {
    mask: u64,
    cell_mask: u64,
    pages: SnapshotPages,
    copied: u64,
}

/// How a snapshot was made does not matter.
impl PartialEq for MemorySnapshot {
    fn eq(&self, other: &Self) -> bool {
        (self.mask, self.cell_mask, &self.pages) == (other.mask, other.cell_mask, &other.pages)
    }
}

#[derive(Clone, Debug, PartialEq)]
enum SnapshotPages {
    Bytes(SharedPages<u8>),
    Words(SharedPages<u64>),
}

impl MemorySnapshot {
    /// Returns the cell at an address.
    pub fn get(&self, address: u64) -> u64 {
        let (number, at) = ((address & self.mask) >> PAGE_BITS, within_page(address & self.mask));
        match &self.pages {
            SnapshotPages::Bytes(pages) => pages.get(number).map_or(0, |page| u64::from(page[at])),
            SnapshotPages::Words(pages) => pages.get(number).map_or(0, |page| page[at]),
        }
    }

    /// Returns how many bytes had to be copied for the snapshot.
    pub fn copied(&self) -> u64 {
        self.copied * self.page_size()
    }

    /// Returns how many bytes its pages take that are not among those seen. They count as seen from now on.
    pub fn size_beyond(&self, seen: &mut HashSet<usize>) -> u64 {
        let pages = match &self.pages {
            SnapshotPages::Bytes(pages) => pages.new_pages(seen),
            SnapshotPages::Words(pages) => pages.new_pages(seen),
        };
        pages * self.page_size()
    }

    fn page_size(&self) -> u64 {
        let cell = if matches!(self.pages, SnapshotPages::Bytes(_)) { 1 } else { 8 };
        PAGE.min(self.mask.saturating_add(1)) * cell
    }

    /// Whether the snapshot fits a memory as the definition describes it.
    pub(crate) fn fits(&self, described: &lathe_isa::model::Memory) -> bool {
        let in_bytes = matches!(self.pages, SnapshotPages::Bytes(_));
        (self.mask, self.cell_mask) == (described.last(), described.cell.mask())
            && in_bytes == (described.cell.bits() <= 8)
    }
}

/// Storage for cells that an engine provides, to have them at an address of its choice. An implementation is not
/// trusted to provide as many cells as requested: code that depends on the number checks it.
pub trait CellStorage<T>: Send + Sync {
    /// Returns all cells.
    fn cells(&self) -> &[T];
    /// Returns all cells, to be written.
    fn cells_mut(&mut self) -> &mut [T];
}

/// Cells in one piece.
struct Piece<T> {
    cells: Storage<T>,
    /// The cells when a snapshot was last taken.
    kept: SharedPages<T>,
}

enum Storage<T> {
    Own(Vec<T>),
    Lent(Box<dyn CellStorage<T>>),
}

impl<T> Deref for Piece<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.cells {
            Storage::Own(cells) => cells,
            Storage::Lent(storage) => storage.cells(),
        }
    }
}

impl<T> DerefMut for Piece<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.cells {
            Storage::Own(cells) => cells,
            Storage::Lent(storage) => storage.cells_mut(),
        }
    }
}

/// A copy has its own storage.
impl<T: Clone> Clone for Piece<T> {
    fn clone(&self) -> Self {
        Piece { cells: Storage::Own(self.to_vec()), kept: self.kept.clone() }
    }
}

impl<T: PartialEq> PartialEq for Piece<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Piece<T> {}

impl<T: fmt::Debug> fmt::Debug for Piece<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Copy + Default + PartialEq> Piece<T> {
    /// Makes this many cells, and spare ones, all zero.
    fn new(count: u64, spare: usize) -> Self {
        let pages = count.div_ceil(PAGE);
        Piece { cells: Storage::Own(vec![T::default(); count as usize + spare]), kept: SharedPages::new(pages) }
    }

    fn move_into(&mut self, storage: impl FnOnce(usize) -> Option<Box<dyn CellStorage<T>>>) {
        if let Storage::Own(cells) = &mut self.cells
            && let Some(mut storage) = storage(cells.len())
            && storage.cells_mut().len() == cells.len()
        {
            storage.cells_mut().copy_from_slice(cells);
            self.cells = Storage::Lent(storage);
        }
    }

    /// Saves the first `count` cells, and returns how many pages had to be copied. Writes to a small memory are not
    /// tracked, so all its pages are compared, which is quick.
    fn snapshot(&mut self, count: usize) -> (SharedPages<T>, u64) {
        let (mut kept, mut copied) = (self.kept.clone(), 0);
        for (page, number) in self[..count].chunks(PAGE as usize).zip(0..) {
            let is_kept = match self.kept.get(number) {
                Some(known) => known == page,
                None => is_zero(page),
            };
            if !is_kept {
                kept.set(number, Arc::from(page));
                copied += 1;
            }
        }
        self.kept = kept.clone();
        (kept, copied)
    }

    fn restore(&mut self, kept: &SharedPages<T>, count: usize) {
        for (page, number) in self[..count].chunks_mut(PAGE as usize).zip(0..) {
            match kept.get(number) {
                Some(known) => page.copy_from_slice(known),
                None => page.fill(T::default()),
            }
        }
        self.kept = kept.clone();
    }
}

/// Whether all cells are zero: the first is zero, and each equals the one before it. Comparing slices is much quicker
/// than checking cell by cell.
fn is_zero<T: Default + PartialEq>(page: &[T]) -> bool {
    page.split_first().is_none_or(|(first, others)| *first == T::default() && *others == page[..others.len()])
}

impl Memory {
    /// Makes a memory as the definition describes it, all zero.
    pub fn new(described: &lathe_isa::model::Memory) -> Memory {
        let (last, in_one_piece, wide) = (described.last(), !described.is_large(), described.has_wide_addresses());
        let pages = (last >> PAGE_BITS) + 1;
        let cells = match described.cell.bits() <= 8 {
            true if in_one_piece => Cells::Bytes(Piece::new(last + 1, SPARE)),
            false if in_one_piece => Cells::Words(Piece::new(last + 1, 0)),
            true if wide => Cells::NumberedBytes(NumberedPages::new(pages)),
            false if wide => Cells::NumberedWords(NumberedPages::new(pages)),
            true => Cells::BytePages(Pages::new(pages)),
            false => Cells::WordPages(Pages::new(pages)),
        };
        Memory { mask: last, cell_mask: described.cell.mask(), cells }
    }

    /// Whether the memory is as the definition describes it.
    pub fn fits(&self, described: &lathe_isa::model::Memory) -> bool {
        let (last, in_bytes) = (described.last(), described.cell.bits() <= 8);
        let (large, wide) = (described.is_large(), described.has_wide_addresses());
        let kept = match &self.cells {
            Cells::Bytes(cells) => in_bytes && !large && cells.len() as u64 == last + 1 + SPARE as u64,
            Cells::Words(cells) => !in_bytes && !large && cells.len() as u64 == last + 1,
            Cells::BytePages(_) => in_bytes && large && !wide,
            Cells::WordPages(_) => !in_bytes && large && !wide,
            Cells::NumberedBytes(_) => in_bytes && wide,
            Cells::NumberedWords(_) => !in_bytes && wide,
        };
        kept && (self.mask, self.cell_mask) == (last, described.cell.mask())
    }

    /// Returns how many bytes the cells take; for a large memory, those of the existing pages.
    pub fn size(&self) -> u64 {
        match &self.cells {
            Cells::Bytes(cells) => cells.len() as u64,
            Cells::Words(cells) => cells.len() as u64 * 8,
            Cells::BytePages(pages) => pages.size(),
            Cells::WordPages(pages) => pages.size() * 8,
            Cells::NumberedBytes(pages) => pages.size(),
            Cells::NumberedWords(pages) => pages.size() * 8,
        }
    }

    /// Returns how many bytes a snapshot would have to look at now.
    pub(crate) fn snapshot_size(&self) -> u64 {
        match &self.cells {
            Cells::Bytes(_) | Cells::Words(_) => self.size(),
            Cells::BytePages(pages) => pages.opened_size(),
            Cells::WordPages(pages) => pages.opened_size() * 8,
            Cells::NumberedBytes(pages) => pages.opened_size(),
            Cells::NumberedWords(pages) => pages.opened_size() * 8,
        }
    }

    /// Returns how many bytes the pages created so far take, for a large memory.
    pub(crate) fn grown(&self) -> u64 {
        match &self.cells {
            Cells::Bytes(_) | Cells::Words(_) => 0,
            Cells::BytePages(_) | Cells::WordPages(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => {
                self.size()
            }
        }
    }

    /// Saves the cells. For a large memory, only the pages written since the last snapshot are copied.
    pub fn snapshot(&mut self) -> MemorySnapshot {
        let count = self.count();
        let bytes = |(pages, copied)| (SnapshotPages::Bytes(pages), copied);
        let words = |(pages, copied)| (SnapshotPages::Words(pages), copied);
        let (pages, copied) = match &mut self.cells {
            Cells::Bytes(cells) => bytes(cells.snapshot(count)),
            Cells::Words(cells) => words(cells.snapshot(count)),
            Cells::BytePages(pages) => bytes(pages.snapshot()),
            Cells::WordPages(pages) => words(pages.snapshot()),
            Cells::NumberedBytes(pages) => bytes(pages.snapshot()),
            Cells::NumberedWords(pages) => words(pages.snapshot()),
        };
        MemorySnapshot { mask: self.mask, cell_mask: self.cell_mask, pages, copied }
    }

    /// Restores the cells in place. Does nothing if the snapshot is of another memory.
    pub(crate) fn restore(&mut self, snapshot: &MemorySnapshot) {
        let count = self.count();
        if snapshot.mask != self.mask {
            return;
        }
        match (&mut self.cells, &snapshot.pages) {
            (Cells::Bytes(cells), SnapshotPages::Bytes(kept)) => cells.restore(kept, count),
            (Cells::Words(cells), SnapshotPages::Words(kept)) => cells.restore(kept, count),
            (Cells::BytePages(pages), SnapshotPages::Bytes(kept)) => pages.restore(kept),
            (Cells::WordPages(pages), SnapshotPages::Words(kept)) => pages.restore(kept),
            (Cells::NumberedBytes(pages), SnapshotPages::Bytes(kept)) => pages.restore(kept),
            (Cells::NumberedWords(pages), SnapshotPages::Words(kept)) => pages.restore(kept),
            _ => {}
        }
    }

    /// Returns the number of cells of a memory in one piece; meaningless for others.
    fn count(&self) -> usize {
        (self.mask as usize).saturating_add(1)
    }

    /// Whether the memory is kept in pages.
    pub fn is_paged(&self) -> bool {
        !matches!(self.cells, Cells::Bytes(_) | Cells::Words(_))
    }

    /// Returns how many bytes writing this cell would add: those of its page, or none if the page exists.
    pub(crate) fn growth(&self, address: u64) -> u64 {
        let address = address & self.mask;
        match &self.cells {
            Cells::BytePages(pages) if !pages.is_there(address) => PAGE,
            Cells::WordPages(pages) if !pages.is_there(address) => PAGE * 8,
            Cells::NumberedBytes(pages) if !pages.is_there(address) => PAGE,
            Cells::NumberedWords(pages) if !pages.is_there(address) => PAGE * 8,
            _ => 0,
        }
    }

    /// Whether the page of an address may be written untracked, so that an engine can write cells in place. Pages of
    /// small memories always may.
    #[inline]
    pub fn is_open(&self, address: u64) -> bool {
        match &self.cells {
            Cells::Bytes(_) | Cells::Words(_) => true,
            Cells::BytePages(pages) => pages.is_open(address & self.mask),
            Cells::WordPages(pages) => pages.is_open(address & self.mask),
            Cells::NumberedBytes(pages) => pages.is_open(address & self.mask),
            Cells::NumberedWords(pages) => pages.is_open(address & self.mask),
        }
    }

    /// Returns the cell at an address.
    #[inline]
    pub fn get(&self, address: u64) -> u64 {
        let address = address & self.mask;
        match &self.cells {
            Cells::Bytes(cells) => u64::from(cells[address as usize]),
            Cells::Words(cells) => cells[address as usize],
            Cells::BytePages(pages) => u64::from(pages.get(address)),
            Cells::WordPages(pages) => pages.get(address),
            Cells::NumberedBytes(pages) => u64::from(pages.get(address)),
            Cells::NumberedWords(pages) => pages.get(address),
        }
    }

    /// Returns the pages, if this is a large memory of bytes whose pages are found in tables.
    pub fn paged_mut(&mut self) -> Option<Paged<'_>> {
        match &mut self.cells {
            Cells::BytePages(pages) => Some(Paged::new(pages)),
            _ => None,
        }
    }

    /// Returns the bytes from an address to the end of its page, if this is a memory of bytes whose pages are found by
    /// number, and the page exists.
    #[inline]
    pub fn rest_of_page(&self, address: u64) -> Option<&[u8]> {
        match &self.cells {
            Cells::NumberedBytes(pages) => pages.rest_of_page(address & self.mask),
            _ => None,
        }
    }

    /// Returns the bytes from an address to the end of its page, to be written, if this is a memory of whole bytes
    /// whose pages are found by number.
    #[inline]
    pub fn rest_of_page_mut(&mut self, address: u64) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::NumberedBytes(pages) if self.cell_mask == 0xFF => Some(pages.rest_of_page_mut(address & self.mask)),
            _ => None,
        }
    }

    /// Writes the cell at an address.
    #[inline]
    pub fn set(&mut self, address: u64, value: u64) {
        let (address, value) = (address & self.mask, value & self.cell_mask);
        match &mut self.cells {
            Cells::Bytes(cells) => cells[address as usize] = value as u8,
            Cells::Words(cells) => cells[address as usize] = value,
            Cells::BytePages(pages) => pages.set(address, value as u8),
            Cells::WordPages(pages) => pages.set(address, value),
            Cells::NumberedBytes(pages) => pages.set(address, value as u8),
            Cells::NumberedWords(pages) => pages.set(address, value),
        }
    }

    /// Returns the cells as contiguous bytes, if they are kept as bytes, with [`SPARE`] bytes after the last cell,
    /// which must stay zero. For a large memory, only if they have been [moved](Memory::move_into).
    pub fn padded_bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::Bytes(cells) => Some(cells),
            Cells::BytePages(pages) => pages.lent_mut().map(CellStorage::cells_mut),
            Cells::Words(_) | Cells::WordPages(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => None,
        }
    }

    /// Returns the cells as contiguous words, if they are kept as words. For a large memory, only if they have been
    /// [moved](Memory::move_into).
    pub fn words_mut(&mut self) -> Option<&mut [u64]> {
        match &mut self.cells {
            Cells::Words(cells) => Some(cells),
            Cells::WordPages(pages) => pages.lent_mut().map(CellStorage::cells_mut),
            Cells::Bytes(_) | Cells::BytePages(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => None,
        }
    }

    /// Moves the cells to storage that an engine provides for this many cells, all zero, if they have not been moved
    /// yet and the storage has this many. The content stays the same. If the memory is large, direct writes there are
    /// allowed only in open pages. The cells of a memory too wide for tables stay where they are.
    pub fn move_into(
        &mut self,
        bytes: impl Fn(usize) -> Option<Box<dyn CellStorage<u8>>>,
        words: impl Fn(usize) -> Option<Box<dyn CellStorage<u64>>>,
    ) {
        // A 32-bit host has no room for all cells of a large memory.
        let Some(count) = usize::try_from(self.mask).ok().and_then(|last| last.checked_add(1)) else { return };
        match &mut self.cells {
            Cells::Bytes(cells) => cells.move_into(bytes),
            Cells::Words(cells) => cells.move_into(words),
            Cells::BytePages(pages) => pages.move_into(|| bytes(count + SPARE)),
            Cells::WordPages(pages) => pages.move_into(|| words(count)),
            Cells::NumberedBytes(_) | Cells::NumberedWords(_) => {}
        }
    }

    /// Returns the address of the cells, for compiled code: contiguous, as many as the definition says, bytes followed
    /// by [`SPARE`] more. Nothing if they are in pieces, or not as the definition says.
    pub fn cells_pointer(&mut self, described: &lathe_isa::model::Memory) -> Option<*mut u8> {
        let count = usize::try_from(described.cells()).ok()?;
        if described.cell.bits() <= 8 {
            let bytes = self.padded_bytes_mut()?;
            return (bytes.len() == count + SPARE).then_some(bytes.as_mut_ptr());
        }
        let words = self.words_mut()?;
        (words.len() == count).then_some(words.as_mut_ptr().cast())
    }

    /// Makes a table of the addresses of pages, if the memory is large and not in one piece.
    pub fn make_page_table(&mut self) {
        match &mut self.cells {
            Cells::Bytes(_) | Cells::Words(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => {}
            Cells::BytePages(pages) => pages.make_places(),
            Cells::WordPages(pages) => pages.make_places(),
        }
    }

    /// Returns the address of the [table of pages](Memory::make_page_table), for compiled code, which only reads it:
    /// the address of the first cell of every page, as many pages as the definition says, each with [`SPARE`] cells
    /// after the last. Pages that are not open must not be written.
    pub fn page_table_pointer(&self, described: &lathe_isa::model::Memory) -> Option<*const usize> {
        let (table, in_bytes) = match &self.cells {
            Cells::Bytes(_) | Cells::Words(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => return None,
            Cells::BytePages(pages) => (pages.places()?, true),
            Cells::WordPages(pages) => (pages.places()?, false),
        };
        let is_as_described =
            table.len() as u128 == described.cells() >> PAGE_BITS && in_bytes == (described.cell.bits() <= 8);
        is_as_described.then_some(table.as_ptr())
    }

    /// Returns the address of the table of open pages, for compiled code, which only reads it: one byte per page, not
    /// zero if the page is open. Null if the memory is not large. Nothing if it is large and has no table with as many
    /// pages as the definition says.
    pub fn open_pages_pointer(&self, described: &lathe_isa::model::Memory) -> Option<*const u8> {
        if !described.is_large() {
            return Some(std::ptr::null());
        }
        let table = match &self.cells {
            Cells::Bytes(_) | Cells::Words(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => return None,
            Cells::BytePages(pages) => pages.open_pages(),
            Cells::WordPages(pages) => pages.open_pages(),
        };
        (table.len() as u128 == described.cells() >> PAGE_BITS).then_some(table.as_ptr())
    }

    /// Returns the padding after the last cell, where nothing is ever written. Empty if there is none.
    pub fn padding(&self) -> &[u8] {
        let count = self.count();
        match &self.cells {
            Cells::Bytes(cells) => &cells[count..],
            Cells::BytePages(pages) => pages.lent().map_or(&[], |lent| &lent.cells()[count..]),
            Cells::Words(_) | Cells::WordPages(_) | Cells::NumberedBytes(_) | Cells::NumberedWords(_) => &[],
        }
    }

    /// Writes cells from address 0 on.
    pub fn fill(&mut self, values: impl IntoIterator<Item = u64>) {
        values.into_iter().zip(0..).for_each(|(value, address)| self.set(address, value));
    }

    /// Returns every cell that is not zero, with its address, in order.
    pub fn nonzero(&self) -> Vec<(u64, u64)> {
        let flat = |cells: &mut dyn Iterator<Item = u64>| -> Vec<(u64, u64)> {
            (0..).zip(cells).filter(|(_, value)| *value != 0).collect()
        };
        let set = |(address, value): (u64, u64)| (value != 0).then_some((address, value));
        let byte = |(address, value)| set((address, u64::from(value)));
        match &self.cells {
            Cells::Bytes(cells) => flat(&mut cells.iter().map(|value| u64::from(*value))),
            Cells::Words(cells) => flat(&mut cells.iter().copied()),
            Cells::BytePages(pages) => pages.iter().filter_map(byte).collect(),
            Cells::WordPages(pages) => pages.iter().filter_map(set).collect(),
            Cells::NumberedBytes(pages) => pages.iter().filter_map(byte).collect(),
            Cells::NumberedWords(pages) => pages.iter().filter_map(set).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use lathe_base::Width;
    use lathe_isa::model::Order;

    use super::*;

    fn memory(address: u64, cell: u64) -> Memory {
        let width = |bits| Width::new(bits).unwrap();
        let described = lathe_isa::model::Memory {
            name: "m".into(),
            address: width(address),
            cell: width(cell),
            order: Order::Big,
            documentation: String::new(),
            span: lathe_base::Span::default(),
        };
        Memory::new(&described)
    }

    #[test]
    fn addresses_and_values_wrap() {
        let mut memory = memory(4, 4);
        memory.set(0x1F, 0x23);
        assert_eq!(memory.get(0xF), 3);
        assert_eq!(memory.nonzero(), [(0xF, 3)]);
    }

    /// Every way of keeping cells, with addresses up to the very last.
    #[test]
    fn snapshots_restore_every_kind_of_memory() {
        for (address, cell) in [(6, 8), (6, 20), (24, 8), (24, 20), (33, 8), (33, 20), (64, 8), (64, 64)] {
            let mut memory = memory(address, cell);
            let last = u64::MAX >> (64 - address);
            let cells = |memory: &Memory| [0, 1, last / 2, last - 1, last].map(|at| memory.get(at));
            memory.set(last, 1);
            memory.set(last.wrapping_add(1), 2);
            let first = memory.snapshot();
            assert_eq!(cells(&memory), [2, 0, 0, 0, 1], "{address}");
            assert_eq!([first.get(last), first.get(0), first.get(1)], [1, 2, 0]);
            assert_eq!(memory.is_open(last), address == 6, "a snapshot closes all pages");
            memory.set(last, 3);
            memory.set(last / 2, 4);
            let copy = memory.clone();
            assert_eq!((&copy, copy.size()), (&memory, memory.size()));
            let second = memory.snapshot();
            memory.set(1, 5);
            memory.restore(&first);
            assert_eq!(cells(&memory), [2, 0, 0, 0, 1], "{address}");
            assert_eq!(memory.snapshot(), first);
            memory.restore(&second);
            assert_eq!(cells(&memory), [2, 0, 4, 0, 3], "{address}");
            assert_eq!(memory, copy);
            assert_eq!(memory.nonzero(), [(0, 2), (last / 2, 4), (last, 3)]);
        }
    }

    #[test]
    fn a_wide_memory_is_open_where_it_is_written_and_grows_by_pages() {
        let mut memory = memory(64, 8);
        assert_eq!((memory.growth(u64::MAX), memory.size(), memory.is_open(u64::MAX)), (PAGE, 0, false));
        memory.set(u64::MAX, 1);
        assert_eq!((memory.growth(u64::MAX), memory.size(), memory.is_open(u64::MAX)), (0, PAGE, true));
        assert_eq!((memory.growth(0), memory.is_open(0)), (PAGE, false));
        let snapshot = memory.snapshot();
        assert_eq!((memory.growth(u64::MAX), memory.is_open(u64::MAX), snapshot.copied()), (0, false, PAGE));
        assert_eq!(memory.rest_of_page(u64::MAX), Some([1].as_slice()));
        assert_eq!(memory.rest_of_page_mut(u64::MAX - 1).map(|rest| rest.len()), Some(2));
        assert_eq!(memory.snapshot_size(), PAGE);
    }

    struct Plain(Vec<u8>);

    impl CellStorage<u8> for Plain {
        fn cells(&self) -> &[u8] {
            &self.0
        }

        fn cells_mut(&mut self) -> &mut [u8] {
            &mut self.0
        }
    }

    /// A page that goes away makes room for another one; neither is mistaken for the other.
    #[test]
    fn pages_that_are_restored_away_leave_nothing_behind() {
        let mut memory = memory(24, 8);
        memory.make_page_table();
        let [first, second, third, fourth] = [1, 7, 1 << 11, 9].map(|number| number << PAGE_BITS);
        memory.set(first, 1);
        let before = memory.snapshot();
        memory.set(second, 2);
        memory.set(fourth, 4);
        memory.restore(&before);
        memory.set(third + 1, 3);
        let cells = |memory: &Memory| [first, second, third, fourth].map(|at| memory.get(at));
        assert_eq!(cells(&memory), [1, 0, 0, 0]);
        assert_eq!(memory.nonzero(), [(first, 1), (third + 1, 3)]);
        let Cells::BytePages(pages) = &memory.cells else { panic!("it is large") };
        let places = pages.places().expect("it has a table");
        let at = |address: u64| places[(address >> PAGE_BITS) as usize];
        assert_eq!(at(second), at(0), "both pages do not exist");
        assert_eq!([first, third].map(|page| at(page) == at(0)), [false; 2]);
        memory.move_into(|count| Some(Box::new(Plain(vec![0; count]))), |_| None);
        assert!(memory.padded_bytes_mut().is_some(), "it has moved");
        assert_eq!(cells(&memory), [1, 0, 0, 0]);
    }

    #[test]
    fn a_large_memory_costs_only_what_is_written() {
        let mut memory = memory(32, 32);
        memory.set(0xFFFF_FFFF, 7);
        memory.set(0, 1);
        assert_eq!(memory.get(0x1_FFFF_FFFF), 7);
        assert_eq!(memory.get(0x8000_0000), 0);
        assert_eq!(memory.nonzero(), [(0, 1), (0xFFFF_FFFF, 7)]);
        assert_eq!(memory.size(), (2 * 8) << PAGE_BITS);
    }
}
