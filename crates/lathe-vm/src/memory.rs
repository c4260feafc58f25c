//! A memory: cells of one width, at addresses that wrap. Small ones are kept in one piece,
//! large ones in pages that come into being when written.

use std::collections::BTreeMap;

use lathe_base::limits;

/// Cells in a page of a large memory.
const PAGE: u64 = 4096;
/// Bytes behind the last cell. An engine may read them together with the last cells, and must
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
    Bytes(Vec<u8>),
    Words(Vec<u64>),
    Pages(BTreeMap<u64, Vec<u64>>),
}

impl Memory {
    /// A memory as the definition describes it, all zero.
    pub fn new(described: &lathe_isa::model::Memory) -> Memory {
        let count = described.cells();
        let cells = if count > limits::FLAT_CELLS {
            Cells::Pages(BTreeMap::new())
        } else if described.cell.bits() <= 8 {
            Cells::Bytes(vec![0; count as usize + SPARE])
        } else {
            Cells::Words(vec![0; count as usize])
        };
        Memory { mask: count - 1, cell_mask: described.cell.mask(), cells }
    }

    /// The cell at an address.
    #[inline]
    pub fn get(&self, address: u64) -> u64 {
        let address = address & self.mask;
        match &self.cells {
            Cells::Bytes(cells) => u64::from(cells[address as usize]),
            Cells::Words(cells) => cells[address as usize],
            Cells::Pages(pages) => pages.get(&(address / PAGE)).map_or(0, |page| page[(address % PAGE) as usize]),
        }
    }

    /// Writes the cell at an address.
    pub fn set(&mut self, address: u64, value: u64) {
        let (address, value) = (address & self.mask, value & self.cell_mask);
        match &mut self.cells {
            Cells::Bytes(cells) => cells[address as usize] = value as u8,
            Cells::Words(cells) => cells[address as usize] = value,
            Cells::Pages(pages) => {
                let page = pages.entry(address / PAGE).or_insert_with(|| vec![0; PAGE as usize]);
                page[(address % PAGE) as usize] = value;
            }
        }
    }

    /// The cells one after the other, if they are kept as bytes.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let count = self.mask as usize + 1;
        self.spacious_bytes_mut().map(|bytes| &mut bytes[..count])
    }

    /// The same with [`SPARE`] bytes behind the last cell, which must stay zero.
    pub fn spacious_bytes_mut(&mut self) -> Option<&mut [u8]> {
        match &mut self.cells {
            Cells::Bytes(cells) => Some(cells),
            Cells::Words(_) | Cells::Pages(_) => None,
        }
    }

    /// The cells one after the other, if they are kept as words.
    pub fn words_mut(&mut self) -> Option<&mut [u64]> {
        match &mut self.cells {
            Cells::Words(cells) => Some(cells),
            Cells::Bytes(_) | Cells::Pages(_) => None,
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
            Cells::Pages(pages) => {
                let all = pages.iter().flat_map(|(page, cells)| (page * PAGE..).zip(cells.iter().copied()));
                all.filter(|(_, value)| *value != 0).collect()
            }
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
    }
}
