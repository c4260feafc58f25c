//! The cells of a memory too large for one piece: pages that come into being when they are written,
//! found through two tables of a thousand entries each.

/// Cells of a page, as a power of two.
const PAGE_BITS: u32 = 12;
/// Entries of a table, as a power of two. Two tables and a page make 32 bits of an address.
const TABLE_BITS: u32 = 10;

type Page<T> = Option<Box<[T]>>;
type Table<T> = Option<Box<[Page<T>]>>;

/// Cells of one type, by address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pages<T>(Box<[Table<T>]>);

impl<T: Copy + Default> Pages<T> {
    /// All cells zero, and none of them there.
    pub(crate) fn new() -> Self {
        Pages(entries(TABLE_BITS))
    }

    /// The cell at an address.
    #[inline]
    pub(crate) fn get(&self, address: u64) -> T {
        let [table, page, cell] = path(address);
        let page = self.0[table].as_ref().and_then(|table| table[page].as_ref());
        page.map_or_else(T::default, |page| page[cell])
    }

    /// Writes the cell at an address.
    #[inline]
    pub(crate) fn set(&mut self, address: u64, value: T) {
        let [table, page, cell] = path(address);
        let table = self.0[table].get_or_insert_with(|| entries(TABLE_BITS));
        let page = table[page].get_or_insert_with(|| entries(PAGE_BITS));
        page[cell] = value;
    }

    /// The cells that are there, with their addresses, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, T)> {
        let tables = self.0.iter().zip(0u64..).filter_map(|(table, at)| Some((table.as_ref()?, at << TABLE_BITS)));
        let pages = tables.flat_map(|(table, base)| {
            table.iter().zip(base..).filter_map(|(page, at)| Some((page.as_ref()?, at << PAGE_BITS)))
        });
        pages.flat_map(|(page, base)| (base..).zip(page.iter().copied()))
    }
}

/// So many entries, none of them anything yet.
fn entries<T: Clone + Default>(bits: u32) -> Box<[T]> {
    vec![T::default(); 1 << bits].into_boxed_slice()
}

/// The positions in the first table, in the second, and in the page.
#[inline]
fn path(address: u64) -> [usize; 3] {
    let part = |low: u32, bits: u32| (address >> low) as usize & ((1 << bits) - 1);
    [part(PAGE_BITS + TABLE_BITS, TABLE_BITS), part(PAGE_BITS, TABLE_BITS), part(0, PAGE_BITS)]
}
