//! The memories of a machine, as the inner loop accesses them.

use lathe_isa::model::{MemoryId, Order};
use lathe_vm::memory::{Memory, PAGE, Paged, within_page};

use super::ops::{NEAR_MEMORIES, Shape};

/// The near memories, each in the form that is fastest to access; its other forms are empty.
pub(super) struct Memories<'a> {
    bytes: [&'a mut [u8]; NEAR_MEMORIES],
    words: [&'a mut [u64]; NEAR_MEMORIES],
    /// Large memories of bytes with tables of their pages, not in one piece, or asked which pages are open.
    pages: [Option<Paged<'a>>; NEAR_MEMORIES],
    /// Other large memories.
    others: [Option<&'a mut Memory>; NEAR_MEMORIES],
    far: &'a mut [Memory],
}

/// Rare paths are never inlined into the inner loop: their variables would take host registers that it needs.
impl<'a> Memories<'a> {
    /// Splits the memories into near and far ones. Every store into a large memory comes after a check that the page is
    /// open: for the code memory, of the marks, which say that too; for others, of the memory itself.
    pub(super) fn new(memories: &'a mut [Memory], code: MemoryId) -> Memories<'a> {
        let (near, far) = memories.split_at_mut(memories.len().min(NEAR_MEMORIES));
        let (bytes, words, pages, others) = Default::default();
        let mut all = Memories { bytes, words, pages, others, far };
        for (memory, at) in near.iter_mut().zip(0..) {
            let is_asked = code.index() != at && memory.is_paged();
            if !is_asked && memory.padded_bytes_mut().is_some() {
                all.bytes[at] = memory.padded_bytes_mut().unwrap_or_default();
            } else if !is_asked && memory.words_mut().is_some() {
                all.words[at] = memory.words_mut().unwrap_or_default();
            } else if memory.paged_mut().is_some() {
                all.pages[at] = memory.paged_mut();
            } else {
                all.others[at] = Some(memory);
            }
        }
        all
    }

    #[inline(always)]
    pub(super) fn byte(&self, memory: u8, address: u64) -> u64 {
        let memory = usize::from(memory) % NEAR_MEMORIES;
        match self.bytes[memory].get(address as usize) {
            Some(byte) => u64::from(*byte),
            None => self.other(memory, address),
        }
    }

    #[inline(always)]
    pub(super) fn word(&self, memory: u8, address: u64) -> u64 {
        let memory = usize::from(memory) % NEAR_MEMORIES;
        match self.words[memory].get(address as usize) {
            Some(word) => *word,
            None => self.other(memory, address),
        }
    }

    #[inline(always)]
    pub(super) fn set_byte(&mut self, memory: u8, address: u64, value: u64) {
        let memory = usize::from(memory) % NEAR_MEMORIES;
        match self.bytes[memory].get_mut(address as usize) {
            Some(byte) => *byte = value as u8,
            None => self.set_other(memory, address, value),
        }
    }

    #[inline(always)]
    pub(super) fn set_word(&mut self, memory: u8, address: u64, value: u64) {
        let memory = usize::from(memory) % NEAR_MEMORIES;
        match self.words[memory].get_mut(address as usize) {
            Some(word) => *word = value,
            None => self.set_other(memory, address, value),
        }
    }

    /// Whether the page of a cell is open.
    #[inline(never)]
    pub(super) fn is_open(&self, memory: u8, address: u64) -> bool {
        let at = usize::from(memory);
        match at.checked_sub(NEAR_MEMORIES) {
            Some(far) => self.far[far].is_open(address),
            None => match (&self.pages[at], &self.others[at]) {
                (Some(pages), _) => pages.is_open(address),
                (None, Some(memory)) => memory.is_open(address),
                (None, None) => true,
            },
        }
    }

    #[inline(never)]
    fn other(&self, memory: usize, address: u64) -> u64 {
        match &self.pages[memory] {
            Some(pages) => u64::from(pages.bytes(address)[0]),
            None => self.others[memory].as_ref().map_or(0, |memory| memory.get(address)),
        }
    }

    #[inline(never)]
    fn set_other(&mut self, memory: usize, address: u64, value: u64) {
        if let Some(pages) = &mut self.pages[memory] {
            pages.bytes_mut(address)[0] = value as u8;
        } else if let Some(memory) = &mut self.others[memory] {
            memory.set(address, value);
        }
    }

    /// Reads adjacent cells of a memory of bytes, whose addresses wrap at the mask.
    ///
    /// Reads no more bytes than asked for, if the host can do that: if one of the others has just been written, the
    /// read would have to wait for the write.
    #[inline(always)]
    pub(super) fn wide(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let (at, count) = (address as usize, shape.count());
        let inside = address + count as u64 <= mask + 1;
        let bytes = self.bytes[usize::from(memory) % NEAR_MEMORIES].get(at..).filter(|_| inside).unwrap_or_default();
        let spare = 64 - 8 * count as u32;
        let value = match count {
            2 => bytes.first_chunk().map(|bytes| u64::from(u16::from_le_bytes(*bytes))),
            4 => bytes.first_chunk().map(|bytes| u64::from(u32::from_le_bytes(*bytes))),
            // Enough bytes follow the last cell.
            _ => bytes.first_chunk().map(|bytes| u64::from_le_bytes(*bytes) << spare >> spare),
        };
        match value {
            Some(value) if shape.is_big() => value.swap_bytes() >> spare,
            Some(value) => value,
            None => self.wide_in_page(memory, address, mask, shape),
        }
    }

    /// Reads adjacent cells of a large memory, mostly in one page.
    #[inline(never)]
    fn wide_in_page(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let (at, count) = (usize::from(memory) % NEAR_MEMORIES, shape.count());
        let in_page = within_page(address) + count <= PAGE as usize;
        let Some(pages) = self.pages[at].as_ref().filter(|_| in_page) else {
            return self.wide_otherwise(memory, address, mask, shape);
        };
        let (bytes, spare) = (pages.bytes(address), 64 - 8 * count as u32);
        // As above: no more bytes than asked for.
        let value = match *bytes {
            [a, b, ..] if count == 2 => u64::from(u16::from_le_bytes([a, b])),
            [a, b, c, d, ..] if count == 4 => u64::from(u32::from_le_bytes([a, b, c, d])),
            all => u64::from_le_bytes(all) << spare >> spare,
        };
        if shape.is_big() { value.swap_bytes() >> spare } else { value }
    }

    /// Reads adjacent cells that are not in one page of a table: those of a memory whose pages are found by number, or
    /// of two pages.
    fn wide_otherwise(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let other = self.others[usize::from(memory) % NEAR_MEMORIES].as_ref();
        match other.and_then(|other| other.rest_of_page(address)?.get(..shape.count())) {
            Some(bytes) if shape.is_big() => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            Some(bytes) => bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            None => self.wide_slowly(memory, address, mask, shape),
        }
    }

    #[inline(never)]
    fn wide_slowly(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let count = shape.count() as u64;
        let cell = |at: u64| self.byte(memory, address.wrapping_add(at) & mask);
        (0..count).fold(0, |all, at| all << 8 | cell(if shape.is_big() { at } else { count - 1 - at }))
    }

    /// Writes adjacent cells of a memory of bytes, whose addresses wrap at the mask.
    #[inline(always)]
    pub(super) fn set_wide(&mut self, memory: u8, address: u64, mask: u64, shape: Shape, value: u64) {
        let (at, count) = (address as usize, shape.count());
        let value = if shape.is_big() { (value << (64 - 8 * count as u32)).swap_bytes() } else { value };
        let inside = address + count as u64 <= mask + 1;
        let bytes = &mut self.bytes[usize::from(memory) % NEAR_MEMORIES];
        let parts = value.to_le_bytes();
        match bytes.get_mut(at..at + count).filter(|_| inside) {
            // All at once, so that reading both or all four need not wait for several writes.
            Some([low, high]) => [*low, *high] = (value as u16).to_le_bytes(),
            Some([a, b, c, d]) => [*a, *b, *c, *d] = (value as u32).to_le_bytes(),
            Some(bytes) => bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = part),
            None => self.set_in_page(memory, address, mask, &parts[..count]),
        }
    }

    /// Writes adjacent cells of a large memory, mostly in one page.
    #[inline(never)]
    fn set_in_page(&mut self, memory: u8, address: u64, mask: u64, parts: &[u8]) {
        let (at, in_page) = (usize::from(memory) % NEAR_MEMORIES, within_page(address) + parts.len() <= PAGE as usize);
        let bytes = match (&mut self.pages[at], &mut self.others[at]) {
            (Some(pages), _) if in_page => Some(pages.bytes_mut(address)),
            (None, Some(other)) if in_page => other.rest_of_page_mut(address),
            _ => None,
        };
        match (bytes, parts) {
            // All at once, as above.
            (Some([a, b, c, d, ..]), [w, x, y, z]) => [*a, *b, *c, *d] = [*w, *x, *y, *z],
            (Some([a, b, ..]), [x, y]) => [*a, *b] = [*x, *y],
            (Some(bytes), parts) => bytes.iter_mut().zip(parts).for_each(|(byte, part)| *byte = *part),
            (None, _) => {
                for (part, at) in parts.iter().zip(0..) {
                    self.set_byte(memory, address.wrapping_add(at) & mask, u64::from(*part));
                }
            }
        }
    }

    /// Reads a cell of a far memory.
    #[inline(always)]
    pub(super) fn far(&self, memory: u8, address: u64) -> u64 {
        self.far[usize::from(memory) - NEAR_MEMORIES].get(address)
    }

    /// Reads a cell of any memory.
    #[inline(never)]
    pub(super) fn any(&self, memory: u8, address: u64) -> u64 {
        let at = usize::from(memory);
        match at.checked_sub(NEAR_MEMORIES) {
            Some(far) => self.far[far].get(address),
            None if !self.words[at].is_empty() => self.word(memory, address),
            None => self.byte(memory, address),
        }
    }

    /// Reads this many cells from an address on, the first above the others.
    #[inline(never)]
    pub(super) fn cells(&self, memory: u8, described: &lathe_isa::model::Memory, address: u64, count: u8) -> u64 {
        if described.cell.bits() == 8 {
            // One at a time: some have just been written, and a wider read would have to wait for those writes.
            return self.wide_slowly(memory, address, described.address.mask(), Shape::new(count, Order::Big));
        }
        let cell = |at: u8| self.any(memory, described.address.wrap(address.wrapping_add(u64::from(at))));
        (0..count).fold(0u64, |cells, at| cells.wrapping_shl(described.cell.bits()) | cell(at))
    }

    /// Writes a cell of any memory.
    #[inline(never)]
    pub(super) fn set_any(&mut self, memory: u8, address: u64, value: u64) {
        let at = usize::from(memory);
        match at.checked_sub(NEAR_MEMORIES) {
            Some(far) => self.far[far].set(address, value),
            None if !self.words[at].is_empty() => self.set_word(memory, address, value),
            None => self.set_byte(memory, address, value),
        }
    }
}
