//! The options for writing an image. Formats that show the whole image (listing, symbols, JSON, Lathe's own) use only
//! those that apply.

use lathe_base::Width;
use lathe_isa::model::MemoryId;

use super::FormatError;

/// How to write an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatOptions {
    /// The memory whose cells are written. `None` is the code memory, and refuses an image with cells for other
    /// memories too rather than write part of it.
    pub memory: Option<MemoryId>,
    /// The value of cells that the image leaves undefined, where a format needs one.
    pub fill: u64,
    /// How many cells the file holds, filled up from its first address. Formats with addresses are filled up too.
    pub size: Option<u64>,
    /// The addresses to write; `None` is all.
    pub range: Option<AddressRange>,
    /// Where addresses in the file count from.
    pub addresses: Addresses,
    /// Every nth cell only, for machines whose memory is spread over several chips.
    pub interleave: Option<Interleave>,
    /// Some bits of each cell only, for chips narrower than a cell.
    pub lane: Option<Lane>,
    /// The name of arrays in C, Rust and VHDL.
    pub name: String,
    /// The identity of the definition, see [`identity`](super::identity), for Lathe's own image.
    pub definition: Option<String>,
}

impl Default for FormatOptions {
    fn default() -> Self {
        FormatOptions {
            memory: None,
            fill: 0,
            size: None,
            range: None,
            addresses: Addresses::default(),
            interleave: None,
            lane: None,
            name: "program".into(),
            definition: None,
        }
    }
}

/// Addresses of a memory, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    /// The first address.
    pub first: u64,
    /// The last address.
    pub last: u64,
}

/// Where addresses in a file count from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addresses {
    /// As in the machine's memory.
    #[default]
    OfMemory,
    /// From the first address of the range, which becomes 0: the chip's own addresses.
    OfChip,
}

/// One chip of several that take turns: chip 0 has the first cell, chip 1 the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interleave {
    /// How many chips there are.
    pub chips: u32,
    /// Which one, from 0.
    pub chip: u32,
}

impl Interleave {
    /// The most chips that can take turns.
    pub const CHIPS: u32 = 256;

    /// Returns all chips of a row of this many, one file each.
    ///
    /// # Errors
    /// If there are none, or more than [`Interleave::CHIPS`].
    pub fn all(chips: u32) -> Result<Vec<Interleave>, FormatError> {
        Interleave { chips, chip: 0 }.check()?;
        Ok((0..chips).map(|chip| Interleave { chips, chip }).collect())
    }

    pub(super) fn check(self) -> Result<(), FormatError> {
        let Interleave { chips, chip } = self;
        if chip < chips && chips <= Self::CHIPS {
            return Ok(());
        }
        let cause = format!("there is no chip {chip} among {chips} chips that take turns");
        Err(FormatError::new(cause, format!("give 1 to {} chips; they are counted from 0", Self::CHIPS)))
    }
}

/// Some bits of each cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The lowest bit.
    pub low: u32,
    /// How many bits.
    pub width: Width,
}

impl Lane {
    /// Splits a cell into lanes of this many bits, the least significant first, one file each. The last one is narrower
    /// if the cell does not divide evenly.
    pub fn all(cell: Width, lane: Width) -> Vec<Lane> {
        let lows = (0..cell.bits()).step_by(lane.bits() as usize);
        let rest = |low: u32| Width::new(u64::from(cell.bits() - low)).unwrap_or(Width::BIT);
        lows.map(|low| Lane { low, width: lane.min(rest(low)) }).collect()
    }
}
