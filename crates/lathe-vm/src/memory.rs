//! A memory: cells of one width, at addresses that wrap. Small ones are kept in one piece,
//! large ones in pages that come into being when written.

use std::fmt;
use std::ops::{Deref, DerefMut};

pub use crate::pages::PAGE_BITS;
use crate::pages::{Lent, Pages};

/// Bytes after the last cell. An engine may read them together with the last cells, and must
/// not make anything of what it finds there.
pub const SPARE: usize = 8;

/// The cells of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Addresses are taken modulo this plus one.
    mask: u64,
    /// Values are taken modulo this plus one.
    cell_mask: u64,
    cells: Cells,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cells {
    /// One byte for each cell, and the spare ones.
    Bytes(Piece<u8>),
    Words(Piece<u64>),
    BytePages(Pages<u8>),
    WordPages(Pages<u64>),
}

/// Storage for cells that an engine provides, because it wants them at a place of its own choice.
/// Nobody trusts an implementation to give as many cells as it was asked for: who depends on that looks.
pub trait CellStorage<T>: Send + Sync {
    /// All cells.
    fn cells(&self) -> &[T];
    /// All cells, to be written.
    fn cells_mut(&mut self) -> &mut [T];
}

/// Cells in one piece.
enum Piece<T> {
    Own(Vec<T>),
    Lent(Box<dyn CellStorage<T>>),
}

impl<T> Deref for Piece<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Piece::Own(cells) => cells,
            Piece::Lent(storage) => storage.cells(),
        }
    }
}

impl<T> DerefMut for Piece<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Piece::Own(cells) => cells,
            Piece::Lent(storage) => storage.cells_mut(),
        }
    }
}

/// A copy is at no particular place.
impl<T: Clone> Clone for Piece<T> {
    fn clone(&self) -> Self {
        Piece::Own(self.to_vec())
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

impl<T: Copy> Piece<T> {
    fn move_into(&mut self, storage: impl FnOnce(usize) -> Option<Box<dyn CellStorage<T>>>) {
        if let Piece::Own(cells) = self
            && let Some(mut storage) = storage(cells.len())
            && storage.cells_mut().len() == cells.len()
        {
            storage.cells_mut().copy_from_slice(cells);
            *self = Piece::Lent(storage);
        }
    }
}

impl Memory {
    /// A memory as the definition describes it, all zero.
    pub fn new(described: &lathe_isa::model::Memory) -> Memory {
        let count = described.cells();
        let in_one_piece = !described.is_large();
        let cells = match described.cell.bits() <= 8 {
            true if in_one_piece => Cells::Bytes(Piece::Own(vec![0; count as usize + SPARE])),
            false if in_one_piece => Cells::Words(Piece::Own(vec![0; count as usize])),
            true => Cells::BytePages(Pages::new()),
            false => Cells::WordPages(Pages::new()),
        };
        Memory { mask: count - 1, cell_mask: described.cell.mask(), cells }
    }

    /// Whether it is a memory as the definition describes it.
    pub fn fits(&self, described: &lathe_isa::model::Memory) -> bool {
        let (count, in_bytes, large) = (described.cells(), described.cell.bits() <= 8, described.is_large());
        let kept = match &self.cells {
            Cells::Bytes(cells) => in_bytes && !large && cells.len() as u64 == count + SPARE as u64,
            Cells::Words(cells) => !in_bytes && !large && cells.len() as u64 == count,
            Cells::BytePages(_) => in_bytes && large,
            Cells::WordPages(_) => !in_bytes && large,
        };
        kept && (self.mask, self.cell_mask) == (count - 1, described.cell.mask())
    }

    /// Bytes that its cells take; of a large memory, those of the pages that are there.
    pub fn size(&self) -> u64 {
        match &self.cells {
            Cells::Bytes(cells) => cells.len() as u64,
            Cells::Words(cells) => cells.len() as u64 * 8,
            Cells::BytePages(pages) => pages.size(),
            Cells::WordPages(pages) => pages.size() * 8,
        }
    }

    /// The cell at an address.
    #[inline]
    pub fn get(&self, address: u64) -> u64 {
        let address = address & self.mask;
        match &self.cells {
            Cells::Bytes(cells) => u64::from(cells[address as usize]),
            Cells::Words(cells) => cells[address as usize],
            Cells::BytePages(pages) => u64::from(pages.get(address)),
            Cells::WordPages(pages) => pages.get(address),
        }
    }

    /// The bytes from an address to the end of its page, if this is a large memory of bytes and the page is there.
    #[inline]
    pub(crate) fn rest_of_page(&self, address: u64) -> Option<&[u8]> {
        match &self.cells {
            Cells::BytePages(pages) => pages.rest_of_page(address & self.mask),
            _ => None,
        }
    }

    /// The bytes from an address to the end of its page, to be written, if this is a large memory of whole bytes and
    /// the page is there.
    #[inline]
    pub(crate) fn rest_of_page_mut(&mut self, address: u64) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::BytePages(pages) if self.cell_mask == 0xFF => pages.rest_of_page_mut(address & self.mask),
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
        }
    }

    /// The cells one after the other, if they are kept as bytes, with [`SPARE`] bytes after the
    /// last cell, which must stay zero. Those of a large memory only where they have been
    /// [moved](Memory::move_into).
    pub(crate) fn padded_bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::Bytes(cells) => Some(cells),
            Cells::BytePages(pages) => pages.lent_mut().map(|lent| lent.cells.cells_mut()),
            Cells::Words(_) | Cells::WordPages(_) => None,
        }
    }

    /// The cells one after the other, if they are kept as words. Those of a large memory only where
    /// they have been [moved](Memory::move_into).
    pub(crate) fn words_mut(&mut self) -> Option<&mut [u64]> {
        match &mut self.cells {
            Cells::Words(cells) => Some(cells),
            Cells::WordPages(pages) => pages.lent_mut().map(|lent| lent.cells.cells_mut()),
            Cells::Bytes(_) | Cells::BytePages(_) => None,
        }
    }

    /// Moves the cells to storage that an engine provides for this many, all zero, if they were not moved
    /// yet and it has as many. The content stays the same. Whoever then writes there must have
    /// [opened](Memory::open) the page before, if the memory is large.
    pub fn move_into(
        &mut self,
        bytes: impl Fn(usize) -> Option<Box<dyn CellStorage<u8>>>,
        words: impl Fn(usize) -> Option<Box<dyn CellStorage<u64>>>,
    ) {
        let Ok(count) = usize::try_from(self.mask + 1) else { return };
        let touched_pages = || bytes(count >> PAGE_BITS);
        match &mut self.cells {
            Cells::Bytes(cells) => cells.move_into(bytes),
            Cells::Words(cells) => cells.move_into(words),
            Cells::BytePages(pages) => {
                pages.move_into(|| Some(Lent { cells: bytes(count + SPARE)?, touched_pages: touched_pages()? }));
            }
            Cells::WordPages(pages) => {
                pages.move_into(|| Some(Lent { cells: words(count)?, touched_pages: touched_pages()? }))
            }
        }
    }

    /// Where the cells lie, for compiled code: one after the other, as many as the definition says, bytes
    /// with [`SPARE`] more after the last. Nothing if they are in pieces, or not as the definition says.
    pub fn cells_pointer(&mut self, described: &lathe_isa::model::Memory) -> Option<*mut u8> {
        let count = usize::try_from(described.cells()).ok()?;
        if described.cell.bits() <= 8 {
            let bytes = self.padded_bytes_mut()?;
            return (bytes.len() == count + SPARE).then_some(bytes.as_mut_ptr());
        }
        let words = self.words_mut()?;
        (words.len() == count).then_some(words.as_mut_ptr().cast())
    }

    /// Where the [table of touched pages](Memory::touched_pages_mut) lies, for compiled code: null if the
    /// memory is not large. Nothing if it is, and there is no table with as many pages as the definition says.
    pub fn touched_pages_pointer(&mut self, described: &lathe_isa::model::Memory) -> Option<*mut u8> {
        if !described.is_large() {
            return Some(std::ptr::null_mut());
        }
        let table = self.touched_pages_mut()?;
        (table.len() as u64 == described.cells() >> PAGE_BITS).then_some(table.as_mut_ptr())
    }

    /// One byte for every page of a large memory whose cells have been [moved](Memory::move_into): not zero
    /// where the page has been opened.
    pub(crate) fn touched_pages_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::Bytes(_) | Cells::Words(_) => None,
            Cells::BytePages(pages) => pages.lent_mut().map(|lent| lent.touched_pages.cells_mut()),
            Cells::WordPages(pages) => pages.lent_mut().map(|lent| lent.touched_pages.cells_mut()),
        }
    }

    /// Notes that cells in the page of this address may be written where they have been moved. What
    /// is there counts as content from now on.
    pub fn open(&mut self, address: u64) {
        match &mut self.cells {
            Cells::Bytes(_) | Cells::Words(_) => {}
            Cells::BytePages(pages) => pages.open(address & self.mask),
            Cells::WordPages(pages) => pages.open(address & self.mask),
        }
    }

    /// The padding after the last cell: nothing is ever written there. Empty where there is none.
    pub fn padding(&self) -> &[u8] {
        let count = self.mask as usize + 1;
        match &self.cells {
            Cells::Bytes(cells) => &cells[count..],
            Cells::BytePages(pages) => pages.lent().map_or(&[], |lent| &lent.cells.cells()[count..]),
            Cells::Words(_) | Cells::WordPages(_) => &[],
        }
    }

    /// Writes cells from address 0 on.
    pub fn fill(&mut self, values: impl IntoIterator<Item = u64>) {
        values.into_iter().zip(0..).for_each(|(value, address)| self.set(address, value));
    }

    /// Every cell that is not zero, with its address, in order.
    pub fn nonzero(&self) -> Vec<(u64, u64)> {
        let flat = |cells: &mut dyn Iterator<Item = u64>| -> Vec<(u64, u64)> {
            (0..).zip(cells).filter(|(_, value)| *value != 0).collect()
        };
        match &self.cells {
            Cells::Bytes(cells) => flat(&mut cells.iter().map(|value| u64::from(*value))),
            Cells::Words(cells) => flat(&mut cells.iter().copied()),
            Cells::BytePages(pages) => {
                pages.iter().filter(|(_, value)| *value != 0).map(|(at, value)| (at, u64::from(value))).collect()
            }
            Cells::WordPages(pages) => pages.iter().filter(|(_, value)| *value != 0).collect(),
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
