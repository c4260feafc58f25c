//! The cells of a memory too large for one piece: pages that come into being when they are written,
//! found through two tables of a thousand entries each.
//!
//! An engine may lend storage for all of them at once, most of which is never touched. The pages that
//! were written are noted all the same, so that nobody looks through the rest.

use crate::memory::CellStorage;

/// Cells of a page, as a power of two.
pub const PAGE_BITS: u32 = 12;
/// Cells of a page.
pub(crate) const PAGE: u64 = 1 << PAGE_BITS;
/// Entries of a table, as a power of two. Two tables and a page make 32 bits of an address.
const TABLE_BITS: u32 = 10;

/// Cells of one type, by address.
pub(crate) enum Pages<T> {
    Own(Tables<Option<Box<[T]>>>),
    Lent(Lent<T>),
}

/// Storage for all cells.
pub(crate) struct Lent<T> {
    pub(crate) cells: Box<dyn CellStorage<T>>,
    /// One byte for every page: 1 if it has been touched, that is, may hold something other than zeros.
    pub(crate) touched_pages: Box<dyn CellStorage<u8>>,
}

impl<T> Lent<T> {
    #[inline]
    fn open(&mut self, address: u64) {
        self.touched_pages.cells_mut()[(address >> PAGE_BITS) as usize] = 1;
    }
}

impl<T: Copy + Default> Pages<T> {
    /// All cells zero, and none of them there.
    pub(crate) fn new() -> Self {
        Pages::Own(Tables::new())
    }

    /// The cell at an address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> T {
        match self {
            Pages::Own(pages) => {
                let page = pages.get(address).and_then(Option::as_ref);
                page.map_or_else(T::default, |page| page[within(address)])
            }
            Pages::Lent(lent) => lent.cells.cells()[address as usize],
        }
    }

    /// Writes the cell at an address.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, value: T) {
        match self {
            Pages::Own(pages) => pages.entry(address).get_or_insert_with(page)[within(address)] = value,
            Pages::Lent(lent) => {
                lent.open(address);
                lent.cells.cells_mut()[address as usize] = value;
            }
        }
    }

    /// The cells from an address to the end of its page, if that is there.
    #[inline]
    pub(crate) fn rest_of_page(&self, address: u64) -> Option<&[T]> {
        match self {
            Pages::Own(pages) => pages.get(address)?.as_ref()?.get(within(address)..),
            Pages::Lent(lent) => lent.cells.cells().get(address as usize..=(address | (PAGE - 1)) as usize),
        }
    }

    /// The cells from an address to the end of its page, to be written, if that is there.
    #[inline]
    pub(crate) fn rest_of_page_mut(&mut self, address: u64) -> Option<&mut [T]> {
        match self {
            Pages::Own(pages) => pages.entry(address).as_mut()?.get_mut(within(address)..),
            Pages::Lent(lent) => {
                lent.open(address);
                lent.cells.cells_mut().get_mut(address as usize..=(address | (PAGE - 1)) as usize)
            }
        }
    }

    /// Moves the cells to storage for all of them, which must be all zero.
    pub(crate) fn move_into(&mut self, storage: impl FnOnce() -> Option<Lent<T>>) {
        let Pages::Own(pages) = self else { return };
        let Some(mut lent) = storage() else { return };
        for (base, page) in pages.iter().filter_map(|(base, page)| Some((base, page.as_ref()?))) {
            lent.open(base);
            lent.cells.cells_mut()[base as usize..][..page.len()].copy_from_slice(page);
        }
        *self = Pages::Lent(lent);
    }

    /// The storage that was lent for them, to be read.
    pub(crate) fn lent(&self) -> Option<&Lent<T>> {
        match self {
            Pages::Own(_) => None,
            Pages::Lent(lent) => Some(lent),
        }
    }

    /// The storage that was lent for them.
    pub(crate) fn lent_mut(&mut self) -> Option<&mut Lent<T>> {
        match self {
            Pages::Own(_) => None,
            Pages::Lent(lent) => Some(lent),
        }
    }

    /// Notes that the page of an address may be written without being told so each time.
    pub(crate) fn open(&mut self, address: u64) {
        match self {
            Pages::Own(pages) => {
                pages.entry(address).get_or_insert_with(page);
            }
            Pages::Lent(lent) => lent.open(address),
        }
    }

    /// How many cells are there.
    pub(crate) fn size(&self) -> u64 {
        self.pages().count() as u64 * PAGE
    }

    /// The cells that are there, with their addresses, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, T)> {
        self.pages().flat_map(|(base, page)| (base..).zip(page.iter().copied()))
    }

    /// The pages that are there, with the addresses of their first cells, in order.
    fn pages(&self) -> Box<dyn Iterator<Item = (u64, &[T])> + '_> {
        match self {
            Pages::Own(pages) => Box::new(pages.iter().filter_map(|(base, page)| Some((base, page.as_deref()?)))),
            Pages::Lent(lent) => {
                let touched = (0u64..).zip(lent.touched_pages.cells()).filter(|(_, touched)| **touched != 0);
                let cells = lent.cells.cells();
                let page = |base: u64| (base, &cells[base as usize..][..PAGE as usize]);
                Box::new(touched.map(move |(number, _)| page(number << PAGE_BITS)))
            }
        }
    }
}

/// A copy is at no particular place.
impl<T: Copy + Default> Clone for Pages<T> {
    fn clone(&self) -> Self {
        let mut copy = Tables::new();
        self.pages().for_each(|(base, page)| *copy.entry(base) = Some(page.into()));
        Pages::Own(copy)
    }
}

/// A page that is not there is the same as one full of zeros.
impl<T: Copy + Default + PartialEq> PartialEq for Pages<T> {
    fn eq(&self, other: &Self) -> bool {
        let differs = |(_, x): &(u64, T)| *x != T::default();
        self.iter().filter(differs).eq(other.iter().filter(differs))
    }
}

impl<T: Copy + Default + Eq> Eq for Pages<T> {}

impl<T: Copy + Default + std::fmt::Debug> std::fmt::Debug for Pages<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.debug_map().entries(self.pages()).finish()
    }
}

/// Something for every page, found through tables that come into being when they are needed.
#[derive(Clone, Debug)]
pub(crate) struct Tables<E>(Box<[Option<Box<[E]>>]>);

impl<E: Clone + Default> Tables<E> {
    pub(crate) fn new() -> Self {
        Tables(entries(TABLE_BITS))
    }

    /// What there is for the page of an address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> Option<&E> {
        let (table, page) = path(address);
        self.0[table].as_ref().map(|table| &table[page])
    }

    /// What there is for the page of an address, to be written.
    #[inline]
    pub(crate) fn entry(&mut self, address: u64) -> &mut E {
        let (table, page) = path(address);
        &mut self.0[table].get_or_insert_with(|| entries(TABLE_BITS))[page]
    }

    /// Everything in tables that are there, with the addresses of the pages, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &E)> {
        let tables = self.0.iter().zip(0u64..).filter_map(|(table, at)| Some((table.as_ref()?, at << TABLE_BITS)));
        tables.flat_map(|(table, base)| table.iter().zip(base..).map(|(entry, at)| (at << PAGE_BITS, entry)))
    }
}

/// This many entries, none of them anything yet.
fn entries<T: Clone + Default>(bits: u32) -> Box<[T]> {
    vec![T::default(); 1 << bits].into_boxed_slice()
}

/// A page of zeros.
fn page<T: Clone + Default>() -> Box<[T]> {
    entries(PAGE_BITS)
}

/// The positions in the first table and in the second.
#[inline]
fn path(address: u64) -> (usize, usize) {
    let part = |low: u32| (address >> low) as usize & ((1 << TABLE_BITS) - 1);
    (part(PAGE_BITS + TABLE_BITS), part(PAGE_BITS))
}

/// The position in the page.
#[inline]
pub(crate) fn within(address: u64) -> usize {
    (address & (PAGE - 1)) as usize
}
