//! The cells of a memory too large for one piece. They are kept in pages that are created when written, or in storage
//! for all cells that an engine lends, most of which is never touched. An engine on a host without that much room asks
//! for a table of the addresses of all pages.
//!
//! Where addresses are so wide that no table has room for all pages, existing pages are found by number.
//!
//! A page is open or closed. Every store to a closed page goes through [`Pages::open`], which notes it; after that, the
//! page may be written untracked. Taking a snapshot closes all pages. So the next snapshot knows which pages have been
//! written since, and copies only those.

use std::sync::Arc;

use lathe_base::numbers::{ByNumber, addresses_from};

use crate::memory::{CellStorage, SPARE};
use crate::shared_pages::SharedPages;

/// The number of cells in a page, as a power of two.
pub const PAGE_BITS: u32 = 12;
/// The number of cells in a page.
pub const PAGE: u64 = 1 << PAGE_BITS;
/// The number of pages that one table finds, as a power of two.
const TABLE_BITS: u32 = 10;
/// Marks an open page.
const OPEN: u8 = 1;

/// Cells of one type, by address, stored in one of the ways below.
pub(crate) struct Pages<T, S = Tabled<T>> {
    store: S,
    /// The numbers of the pages that are open.
    opened: Vec<u64>,
    /// The pages as they were when last closed.
    kept: SharedPages<T>,
    /// How many pages exist: open or kept.
    count: u64,
}

/// Pages of a memory that is too wide for tables.
pub(crate) type NumberedPages<T> = Pages<T, Numbered<T>>;

/// Stores pages, and knows which of them are open.
pub(crate) trait Store<T> {
    /// Makes a store for this many pages, none of which exists.
    fn new(pages: u64) -> Self;
    /// Makes a store for as many pages, none of which exists.
    fn without_pages(&self) -> Self;
    /// Returns the page with this number, if it exists.
    fn page(&self, number: u64) -> Option<&[T]>;
    /// Returns the page with this number, and creates it if it does not exist.
    fn page_mut(&mut self, number: u64) -> &mut [T];
    /// Fills the page with this number with zeros.
    fn clear(&mut self, number: u64);
    fn is_open(&self, number: u64) -> bool;
    /// Opens or closes a page. Opening creates a page that does not exist.
    fn set_open(&mut self, number: u64, open: bool);
    /// Returns the cell at an address.
    fn get(&self, address: u64) -> T;
    /// Writes the cell at an address, whose page exists.
    fn set(&mut self, address: u64, value: T);
}

/// Pages found in tables, or all in one piece.
pub(crate) struct Tabled<T> {
    cells: Cells<T>,
    /// One byte per page, not zero if it is open.
    is_open: Vec<u8>,
}

/// Pages found by number.
pub(crate) struct Numbered<T>(ByNumber<u64, NumberedPage<T>>);

struct NumberedPage<T> {
    cells: Box<[T]>,
    is_open: bool,
}

/// Where the cells are.
enum Cells<T> {
    Own(OwnPages<T>),
    Lent(Box<dyn CellStorage<T>>),
}

/// A page, and the spare cells after it, which stay zero.
type Page<T> = [T; PAGE as usize + SPARE];

/// Pages that are created when written.
struct OwnPages<T> {
    /// Which of `tables` finds a page, by the upper bits of its number; the first, where no page exists.
    directory: Vec<u32>,
    /// Where a page is among `pages`, by the lower bits of its number; the first, if it does not exist.
    tables: Vec<[u32; 1 << TABLE_BITS]>,
    /// The first is all zero: to be read, and never written.
    pages: Vec<Box<Page<T>>>,
    /// Slots of pages that were removed. They keep their room for other pages.
    free: Vec<u32>,
    /// The address of the first cell of every page, if somebody has asked for them.
    places: Option<Vec<usize>>,
}

/// The first table, which finds no page, and the first page.
const NONE: u32 = 0;

/// Returns the positions of a page in the directory and in its table.
#[inline]
fn path(number: u64) -> (usize, usize) {
    ((number >> TABLE_BITS) as usize, number as usize & ((1 << TABLE_BITS) - 1))
}

impl<T: Copy + Default> OwnPages<T> {
    fn new(count: u64) -> Self {
        OwnPages {
            directory: vec![NONE; count.div_ceil(1 << TABLE_BITS) as usize],
            tables: vec![[NONE; 1 << TABLE_BITS]],
            pages: vec![zeros()],
            free: Vec::new(),
            places: None,
        }
    }

    /// Returns where a page is among the pages.
    #[inline]
    fn slot(&self, number: u64) -> u32 {
        let (upper, lower) = path(number);
        self.tables[self.directory[upper] as usize][lower]
    }

    fn set_slot(&mut self, number: u64, slot: u32) {
        let (upper, lower) = path(number);
        if self.directory[upper] == NONE {
            self.directory[upper] = self.tables.len() as u32;
            self.tables.push([NONE; 1 << TABLE_BITS]);
        }
        self.tables[self.directory[upper] as usize][lower] = slot;
    }

    /// Returns the page with this number: the first one, if it does not exist.
    #[inline]
    fn page(&self, number: u64) -> &Page<T> {
        &self.pages[self.slot(number) as usize]
    }

    fn exists(&self, number: u64) -> bool {
        self.slot(number) != NONE
    }

    /// Returns the page with this number, and creates it if it does not exist.
    #[inline]
    fn page_mut(&mut self, number: u64) -> &mut Page<T> {
        let slot = match self.slot(number) {
            NONE => self.create(number),
            slot => slot,
        };
        &mut self.pages[slot as usize]
    }

    /// Creates a page, and returns where it is.
    #[cold]
    fn create(&mut self, number: u64) -> u32 {
        let slot = self.free.pop().unwrap_or(self.pages.len() as u32);
        match self.pages.get_mut(slot as usize) {
            Some(page) => page.fill(T::default()),
            None => self.pages.push(zeros()),
        }
        self.set_slot(number, slot);
        self.note_place(number);
        slot
    }

    fn remove(&mut self, number: u64) {
        let slot = self.slot(number);
        if slot != NONE {
            self.free.push(slot);
            self.set_slot(number, NONE);
            self.note_place(number);
        }
    }

    /// Updates the address of a page.
    fn note_place(&mut self, number: u64) {
        let address = self.page(number).as_ptr().addr();
        if let Some(places) = &mut self.places {
            places[number as usize] = address;
        }
    }

    /// Makes the table of the addresses of this many pages; those with these numbers exist.
    fn make_places(&mut self, count: usize, existing: &[u64]) {
        self.places = Some(vec![self.pages[NONE as usize].as_ptr().addr(); count]);
        existing.iter().for_each(|number| self.note_place(*number));
    }
}

impl<T: Copy + Default> Cells<T> {
    /// Returns the page with this number, if it exists.
    #[inline]
    fn page(&self, number: u64) -> Option<&[T]> {
        match self {
            Cells::Own(pages) => pages.exists(number).then(|| &pages.page(number)[..PAGE as usize]),
            Cells::Lent(storage) => storage.cells().get((number << PAGE_BITS) as usize..)?.get(..PAGE as usize),
        }
    }

    /// Returns the page with this number, and creates it if it does not exist.
    #[inline]
    fn page_mut(&mut self, number: u64) -> &mut [T] {
        match self {
            Cells::Own(pages) => &mut pages.page_mut(number)[..PAGE as usize],
            Cells::Lent(storage) => &mut storage.cells_mut()[(number << PAGE_BITS) as usize..][..PAGE as usize],
        }
    }

    /// Fills the page with this number with zeros.
    fn clear(&mut self, number: u64) {
        match self {
            Cells::Own(pages) => pages.remove(number),
            Cells::Lent(_) => self.page_mut(number).fill(T::default()),
        }
    }
}

impl<T: Copy + Default> Store<T> for Tabled<T> {
    fn new(pages: u64) -> Self {
        Tabled { cells: Cells::Own(OwnPages::new(pages)), is_open: vec![0; pages as usize] }
    }

    fn without_pages(&self) -> Self {
        Tabled::new(self.is_open.len() as u64)
    }

    #[inline]
    fn page(&self, number: u64) -> Option<&[T]> {
        self.cells.page(number)
    }

    #[inline]
    fn page_mut(&mut self, number: u64) -> &mut [T] {
        self.cells.page_mut(number)
    }

    fn clear(&mut self, number: u64) {
        self.cells.clear(number);
    }

    #[inline]
    fn is_open(&self, number: u64) -> bool {
        self.is_open[number as usize] == OPEN
    }

    fn set_open(&mut self, number: u64, open: bool) {
        self.is_open[number as usize] = if open { OPEN } else { 0 };
        if open {
            self.cells.page_mut(number);
        }
    }

    #[inline]
    fn get(&self, address: u64) -> T {
        match &self.cells {
            Cells::Own(pages) => pages.page(address >> PAGE_BITS)[within_page(address)],
            Cells::Lent(storage) => storage.cells()[address as usize],
        }
    }

    #[inline]
    fn set(&mut self, address: u64, value: T) {
        match &mut self.cells {
            Cells::Own(pages) => pages.page_mut(address >> PAGE_BITS)[within_page(address)] = value,
            Cells::Lent(storage) => storage.cells_mut()[address as usize] = value,
        }
    }
}

impl<T: Copy + Default> Numbered<T> {
    fn entry(&mut self, number: u64) -> &mut NumberedPage<T> {
        let page = || NumberedPage { cells: vec![T::default(); PAGE as usize].into_boxed_slice(), is_open: false };
        self.0.entry(number).or_insert_with(page)
    }
}

impl<T: Copy + Default> Store<T> for Numbered<T> {
    fn new(_: u64) -> Self {
        Numbered(ByNumber::default())
    }

    fn without_pages(&self) -> Self {
        Numbered(ByNumber::default())
    }

    #[inline]
    fn page(&self, number: u64) -> Option<&[T]> {
        self.0.get(&number).map(|page| &*page.cells)
    }

    #[inline]
    fn page_mut(&mut self, number: u64) -> &mut [T] {
        &mut self.entry(number).cells
    }

    fn clear(&mut self, number: u64) {
        self.0.remove(&number);
    }

    #[inline]
    fn is_open(&self, number: u64) -> bool {
        self.0.get(&number).is_some_and(|page| page.is_open)
    }

    fn set_open(&mut self, number: u64, open: bool) {
        self.entry(number).is_open = open;
    }

    #[inline]
    fn get(&self, address: u64) -> T {
        self.page(address >> PAGE_BITS).map_or_else(T::default, |page| page[within_page(address)])
    }

    #[inline]
    fn set(&mut self, address: u64, value: T) {
        self.page_mut(address >> PAGE_BITS)[within_page(address)] = value;
    }
}

impl<T: Copy + Default> Pages<T> {
    /// Moves the cells to storage for all of them, which must be all zero.
    pub(crate) fn move_into(&mut self, storage: impl FnOnce() -> Option<Box<dyn CellStorage<T>>>) {
        if let Cells::Lent(_) = self.store.cells {
            return;
        }
        let Some(mut storage) = storage() else { return };
        for (base, page) in self.pages() {
            storage.cells_mut()[base as usize..][..PAGE as usize].copy_from_slice(page);
        }
        self.store.cells = Cells::Lent(storage);
    }

    /// Makes a table of the addresses of pages, unless the pages are in one piece.
    pub(crate) fn make_places(&mut self) {
        if self.places().is_some() {
            return;
        }
        let existing: Vec<u64> = self.pages().map(|(base, _)| base >> PAGE_BITS).collect();
        let Tabled { cells, is_open } = &mut self.store;
        if let Cells::Own(pages) = cells {
            pages.make_places(is_open.len(), &existing);
        }
    }

    /// Returns the table of the addresses of pages, if there is one.
    pub(crate) fn places(&self) -> Option<&[usize]> {
        match &self.store.cells {
            Cells::Own(pages) => pages.places.as_deref(),
            Cells::Lent(_) => None,
        }
    }

    /// Returns the lent storage, to be read.
    pub(crate) fn lent(&self) -> Option<&dyn CellStorage<T>> {
        match &self.store.cells {
            Cells::Own(_) => None,
            Cells::Lent(storage) => Some(&**storage),
        }
    }

    /// Returns the lent storage.
    pub(crate) fn lent_mut(&mut self) -> Option<&mut dyn CellStorage<T>> {
        match &mut self.store.cells {
            Cells::Own(_) => None,
            Cells::Lent(storage) => Some(&mut **storage),
        }
    }

    /// Returns one byte per page, not zero if it is open.
    pub(crate) fn open_pages(&self) -> &[u8] {
        &self.store.is_open
    }
}

/// A large memory of bytes, as an engine accesses it cell by cell. It panics if an address is outside of the memory.
pub struct Paged<'m> {
    cells: PagedCells<'m>,
    is_open: &'m [u8],
}

enum PagedCells<'m> {
    Own(&'m mut OwnPages<u8>),
    Lent(&'m mut [u8]),
}

impl<'m> Paged<'m> {
    pub(crate) fn new(pages: &'m mut Pages<u8>) -> Self {
        let Tabled { cells, is_open } = &mut pages.store;
        let cells = match cells {
            Cells::Own(pages) => PagedCells::Own(pages),
            Cells::Lent(storage) => PagedCells::Lent(storage.cells_mut()),
        };
        Paged { cells, is_open }
    }

    /// Whether the page of an address is open.
    #[inline]
    pub fn is_open(&self, address: u64) -> bool {
        self.is_open[(address >> PAGE_BITS) as usize] == OPEN
    }

    /// Returns the bytes from an address on. Only those up to the end of the page are cells.
    #[inline(always)]
    pub fn bytes(&self, address: u64) -> &[u8; SPARE] {
        let bytes = match &self.cells {
            PagedCells::Own(pages) => &pages.page(address >> PAGE_BITS)[within_page(address)..],
            PagedCells::Lent(cells) => &cells[address as usize..],
        };
        bytes.first_chunk().expect("spare cells follow the last cell")
    }

    /// Returns the bytes from an address on, to be written up to the end of the page, which must be open.
    #[inline(always)]
    pub fn bytes_mut(&mut self, address: u64) -> &mut [u8; SPARE] {
        debug_assert!(self.is_open(address), "{address:#x}");
        let bytes = match &mut self.cells {
            PagedCells::Own(pages) => &mut pages.page_mut(address >> PAGE_BITS)[within_page(address)..],
            PagedCells::Lent(cells) => &mut cells[address as usize..],
        };
        bytes.first_chunk_mut().expect("spare cells follow the last cell")
    }
}

impl<T: Copy + Default, S: Store<T>> Pages<T, S> {
    /// Makes this many pages, all zero, none of which exists.
    pub(crate) fn new(pages: u64) -> Self {
        Pages { store: S::new(pages), opened: Vec::new(), kept: SharedPages::new(pages), count: 0 }
    }

    /// Returns the cell at an address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> T {
        self.store.get(address)
    }

    /// Writes the cell at an address.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, value: T) {
        self.open(address);
        self.store.set(address, value);
    }

    /// Returns the cells from an address to the end of its page, if the page exists.
    #[inline]
    pub(crate) fn rest_of_page(&self, address: u64) -> Option<&[T]> {
        self.store.page(address >> PAGE_BITS)?.get(within_page(address)..)
    }

    /// Returns the cells from an address to the end of its page, to be written.
    #[inline]
    pub(crate) fn rest_of_page_mut(&mut self, address: u64) -> &mut [T] {
        self.open(address);
        &mut self.store.page_mut(address >> PAGE_BITS)[within_page(address)..]
    }

    /// Whether the page of an address is open.
    #[inline]
    pub(crate) fn is_open(&self, address: u64) -> bool {
        self.store.is_open(address >> PAGE_BITS)
    }

    /// Whether the page of an address exists.
    pub(crate) fn is_there(&self, address: u64) -> bool {
        self.is_open(address) || self.kept.get(address >> PAGE_BITS).is_some()
    }

    /// Notes that the page of an address may be written untracked from now on.
    #[inline]
    pub(crate) fn open(&mut self, address: u64) {
        if !self.is_open(address) {
            self.open_closed(address >> PAGE_BITS);
        }
    }

    fn open_closed(&mut self, number: u64) {
        self.count += u64::from(self.kept.get(number).is_none());
        self.store.set_open(number, true);
        self.opened.push(number);
    }

    /// Returns how many cells exist.
    pub(crate) fn size(&self) -> u64 {
        self.count * PAGE
    }

    /// Returns how many cells are in open pages.
    pub(crate) fn opened_size(&self) -> u64 {
        self.opened.len() as u64 * PAGE
    }

    /// Closes all pages, and returns them as they are now, with how many had to be copied.
    pub(crate) fn snapshot(&mut self) -> (SharedPages<T>, u64) {
        let copied = self.opened.len() as u64;
        for number in self.opened.drain(..) {
            self.store.set_open(number, false);
            if let Some(page) = self.store.page(number) {
                self.kept.set(number, Arc::from(page));
            }
        }
        (self.kept.clone(), copied)
    }

    /// Restores the pages, all of them closed.
    pub(crate) fn restore(&mut self, kept: &SharedPages<T>) {
        let mut changed = self.kept.differences(kept);
        for number in self.opened.drain(..) {
            self.store.set_open(number, false);
            changed.push(number);
        }
        for number in changed {
            match kept.get(number) {
                Some(page) => self.store.page_mut(number).copy_from_slice(page),
                None => self.store.clear(number),
            }
        }
        self.kept = kept.clone();
        self.count = kept.count();
    }

    /// Returns the existing cells with their addresses, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, T)> {
        self.pages().flat_map(|(base, page)| addresses_from(base).zip(page.iter().copied()))
    }

    /// Returns the existing pages with the addresses of their first cells, in order.
    fn pages(&self) -> impl Iterator<Item = (u64, &[T])> {
        let mut numbers = self.kept.numbers();
        numbers.extend(&self.opened);
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(|number| Some((number << PAGE_BITS, self.store.page(number)?)))
    }
}

/// A copy has its own storage.
impl<T: Copy + Default, S: Store<T>> Clone for Pages<T, S> {
    fn clone(&self) -> Self {
        let mut store = self.store.without_pages();
        self.pages().for_each(|(base, page)| store.page_mut(base >> PAGE_BITS).copy_from_slice(page));
        self.opened.iter().for_each(|number| store.set_open(*number, true));
        Pages { store, opened: self.opened.clone(), kept: self.kept.clone(), count: self.count }
    }
}

/// A page that does not exist equals a page of zeros.
impl<T: Copy + Default + PartialEq, S: Store<T>> PartialEq for Pages<T, S> {
    fn eq(&self, other: &Self) -> bool {
        let differs = |(_, x): &(u64, T)| *x != T::default();
        self.iter().filter(differs).eq(other.iter().filter(differs))
    }
}

impl<T: Copy + Default + Eq, S: Store<T>> Eq for Pages<T, S> {}

impl<T: Copy + Default + std::fmt::Debug, S: Store<T>> std::fmt::Debug for Pages<T, S> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.debug_map().entries(self.pages()).finish()
    }
}

/// Makes a page of zeros, with the spare cells after it.
fn zeros<T: Copy + Default>() -> Box<Page<T>> {
    let cells = vec![T::default(); PAGE as usize + SPARE].into_boxed_slice();
    cells.try_into().unwrap_or_else(|_| unreachable!("it has as many cells as a page"))
}

/// Returns the position of an address in its page.
#[inline]
pub fn within_page(address: u64) -> usize {
    (address & (PAGE - 1)) as usize
}
