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

impl<'a> Memories<'a> {
    /// Splits the memories into near and far ones. Every store into a large memory comes after a check that the page is
    /// open: for the code memory, of the marks, which say that too; for others, of the memory itself.
    pub(super) fn new(memories: &'a mut [Memory], code: MemoryId) -> Memories<'a> {
        let (near, far) = memories.split_at_mut(memories.len().min(NEAR_MEMORIES));
        let (pages, others) = ([const { None }; NEAR_MEMORIES], [const { None }; NEAR_MEMORIES]);
        let mut all = Memories { bytes: Default::default(), words: Default::default(), pages, others, far };
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

    /// Reads a cell of a small memory of bytes.
    #[inline(always)]
    pub(super) fn byte(&self, memory: u8, address: u64) -> Option<u64> {
        self.bytes[usize::from(memory) % NEAR_MEMORIES].get(address as usize).map(|byte| u64::from(*byte))
    }

    /// Reads a cell of a small memory of words.
    #[inline(always)]
    pub(super) fn word(&self, memory: u8, address: u64) -> Option<u64> {
        self.words[usize::from(memory) % NEAR_MEMORIES].get(address as usize).copied()
    }

    /// Writes a cell of a small memory of bytes. Returns whether there is one.
    #[inline(always)]
    pub(super) fn set_byte(&mut self, memory: u8, address: u64, value: u64) -> bool {
        let byte = self.bytes[usize::from(memory) % NEAR_MEMORIES].get_mut(address as usize);
        byte.map(|byte| *byte = value as u8).is_some()
    }

    /// Writes a cell of a small memory of words. Returns whether there is one.
    #[inline(always)]
    pub(super) fn set_word(&mut self, memory: u8, address: u64, value: u64) -> bool {
        let word = self.words[usize::from(memory) % NEAR_MEMORIES].get_mut(address as usize);
        word.map(|word| *word = value).is_some()
    }

    /// Whether the page of a cell is open.
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

    /// Reads adjacent cells of a small memory of bytes, whose addresses wrap at the mask.
    #[inline(always)]
    pub(super) fn wide(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> Option<u64> {
        let (at, count) = (address as usize, shape.count());
        let inside = address + count as u64 <= mask + 1;
        let bytes = self.bytes[usize::from(memory) % NEAR_MEMORIES].get(at..).filter(|_| inside)?;
        word(bytes, shape)
    }

    /// Returns the pages of a large memory of bytes.
    #[inline(always)]
    pub(super) fn paged(&mut self, memory: u8) -> Option<&mut Paged<'a>> {
        self.pages.get_mut(usize::from(memory))?.as_mut()
    }

    /// Returns the pages of a large memory of bytes, if this many cells from an address on are in one of them.
    #[inline(always)]
    pub(super) fn paged_together(&mut self, memory: u8, address: u64, count: usize) -> Option<&mut Paged<'a>> {
        self.paged(memory).filter(|_| within_page(address) + count <= PAGE as usize)
    }

    /// Reads adjacent cells of any near memory of bytes.
    pub(super) fn any_wide(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let other = self.others[usize::from(memory) % NEAR_MEMORIES].as_ref();
        match other.and_then(|other| other.rest_of_page(address)?.get(..shape.count())) {
            Some(bytes) if shape.is_big() => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            Some(bytes) => bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte)),
            None => self.wide_slowly(memory, address, mask, shape),
        }
    }

    fn wide_slowly(&self, memory: u8, address: u64, mask: u64, shape: Shape) -> u64 {
        let count = shape.count() as u64;
        let cell = |at: u64| self.any(memory, address.wrapping_add(at) & mask);
        (0..count).fold(0, |all, at| all << 8 | cell(if shape.is_big() { at } else { count - 1 - at }))
    }

    /// Writes adjacent cells of a small memory of bytes, whose addresses wrap at the mask. Returns whether there are
    /// such cells.
    #[inline(always)]
    pub(super) fn set_wide(&mut self, memory: u8, address: u64, mask: u64, shape: Shape, value: u64) -> bool {
        let (at, count) = (address as usize, shape.count());
        let inside = address + count as u64 <= mask + 1;
        let bytes = &mut self.bytes[usize::from(memory) % NEAR_MEMORIES];
        let bytes = bytes.get_mut(at..at + count).filter(|_| inside);
        bytes.map(|bytes| set_word(bytes, shape, value)).is_some()
    }

    /// Writes adjacent cells of any near memory of bytes.
    pub(super) fn set_any_wide(&mut self, memory: u8, address: u64, mask: u64, shape: Shape, value: u64) {
        let (parts, count) = (parts(value, shape), shape.count());
        let other = self.others[usize::from(memory) % NEAR_MEMORIES].as_mut();
        match other.and_then(|other| other.rest_of_page_mut(address)?.get_mut(..count)) {
            Some(bytes) => bytes.copy_from_slice(&parts[..count]),
            None => {
                for (part, at) in parts[..count].iter().zip(0..) {
                    self.set_any(memory, address.wrapping_add(at) & mask, u64::from(*part));
                }
            }
        }
    }

    /// Reads a cell of any memory.
    pub(super) fn any(&self, memory: u8, address: u64) -> u64 {
        let at = usize::from(memory);
        if let Some(Some(pages)) = self.pages.get(at) {
            return u64::from(pages.bytes(address)[0]);
        }
        match (at.checked_sub(NEAR_MEMORIES), self.others.get(at)) {
            (Some(far), _) => self.far[far].get(address),
            (None, Some(Some(other))) => other.get(address),
            _ => self.byte(memory, address).or_else(|| self.word(memory, address)).unwrap_or(0),
        }
    }

    /// Reads this many cells from an address on, the first above the others.
    pub(super) fn cells(&self, memory: u8, described: &lathe_isa::model::Memory, address: u64, count: u8) -> u64 {
        if described.cell.bits() == 8 {
            // One at a time: some have just been written, and a wider read would have to wait for those writes.
            return self.wide_slowly(memory, address, described.address.mask(), Shape::new(count, Order::Big));
        }
        let cell = |at: u8| self.any(memory, described.address.wrap(address.wrapping_add(u64::from(at))));
        (0..count).fold(0u64, |cells, at| cells.wrapping_shl(described.cell.bits()) | cell(at))
    }

    /// Writes a cell of any memory.
    pub(super) fn set_any(&mut self, memory: u8, address: u64, value: u64) {
        let at = usize::from(memory);
        if let Some(Some(pages)) = self.pages.get_mut(at) {
            pages.bytes_mut(address)[0] = value as u8;
            return;
        }
        match (at.checked_sub(NEAR_MEMORIES), self.others.get_mut(at)) {
            (Some(far), _) => self.far[far].set(address, value),
            (None, Some(Some(other))) => other.set(address, value),
            _ => {
                let _ = self.set_byte(memory, address, value) || self.set_word(memory, address, value);
            }
        }
    }
}

/// Reads the value that cells hold, of which enough follow.
///
/// Reads no more bytes than asked for, if the host can do that: if one of the others has just been written, the read
/// would have to wait for the write.
#[inline(always)]
pub(super) fn word(bytes: &[u8], shape: Shape) -> Option<u64> {
    let spare = 64 - 8 * shape.count() as u32;
    let value = match shape.count() {
        2 => u64::from(u16::from_le_bytes(*bytes.first_chunk()?)),
        4 => u64::from(u32::from_le_bytes(*bytes.first_chunk()?)),
        _ => u64::from_le_bytes(*bytes.first_chunk()?) << spare >> spare,
    };
    Some(if shape.is_big() { value.swap_bytes() >> spare } else { value })
}

/// Writes a value into cells.
#[inline(always)]
pub(super) fn set_word(bytes: &mut [u8], shape: Shape, value: u64) {
    let parts = parts(value, shape);
    match (bytes, shape.count()) {
        // All at once, so that reading both or all four need not wait for several writes.
        ([a, b, ..], 2) => [*a, *b] = [parts[0], parts[1]],
        ([a, b, c, d, ..], 4) => [*a, *b, *c, *d] = [parts[0], parts[1], parts[2], parts[3]],
        (bytes, count) => bytes.iter_mut().zip(parts).take(count).for_each(|(byte, part)| *byte = part),
    }
}

/// Returns the parts of a value for adjacent cells, the one for the first cell first.
#[inline(always)]
fn parts(value: u64, shape: Shape) -> [u8; 8] {
    match shape.is_big() {
        true => (value << (64 - 8 * shape.count() as u32)).to_be_bytes(),
        false => value.to_le_bytes(),
    }
}
