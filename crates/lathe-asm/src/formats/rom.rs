//! From an image to the cells of one file: one memory, a range of it, every nth cell, some bits of each cell, filled up
//! to a size. Every format that holds the cells of one memory begins here.
//!
//! Formats without addresses begin at address 0, or at the first address of the range.

use lathe_base::Width;
use lathe_isa::model::{Isa, Memory, MemoryId, Order};

use super::options::{AddressRange, Addresses, FormatOptions, Interleave, Lane};
use super::runs::{CELLS, Run, merge};
use super::{Format, FormatError};
use crate::{Image, Segment};

/// The cells of one file.
#[derive(Debug)]
pub(super) struct Rom {
    /// The cells at the file's addresses: sorted, with gaps between the runs.
    pub(super) runs: Vec<Run<u64>>,
    /// Where formats without addresses begin.
    pub(super) start: u128,
    /// The width of a cell.
    pub(super) width: Width,
    /// The order of a cell's bytes.
    pub(super) order: Order,
    /// How many cells are possible, counted from address 0.
    pub(super) depth: u128,
    /// The value of cells in gaps.
    pub(super) fill: u64,
    /// Where execution begins, if the file holds whole code cells.
    pub(super) entry: Option<u128>,
    /// What the file holds, for a comment.
    pub(super) title: String,
}

impl Rom {
    /// Selects the cells that the options ask for.
    pub(super) fn select(
        format: Format,
        image: &Image,
        isa: &Isa,
        options: &FormatOptions,
    ) -> Result<Rom, FormatError> {
        check(image, isa)?;
        let id = choose_memory(format, image, isa, options)?;
        let memory = isa.memory(id);
        let view = View::new(memory, options)?;
        let whole = options.interleave.is_none() && options.lane.is_none();
        let entry = image.entry.filter(|entry| whole && id == isa.pc.memory && view.range.contains(*entry));
        let mut rom = Rom {
            runs: merge(&view.runs(image, id)),
            start: view.start(),
            width: view.lane.width,
            order: memory.order,
            depth: view.depth(),
            fill: (options.fill >> view.lane.low) & view.lane.width.mask(),
            entry: entry.map(|entry| u128::from(entry - view.base)),
            title: view.title(isa, memory, options),
        };
        if format == Format::Binary && whole && options.range.is_none() && id == isa.pc.memory {
            rom.begin_at(isa.pc.reset.into())?;
        }
        if let Some(size) = options.size {
            rom.fill_up(size)?;
        }
        Ok(rom)
    }

    /// Makes a raw binary begin where the machine does, since it is loaded there.
    fn begin_at(&mut self, reset: u128) -> Result<(), FormatError> {
        if let Some(first) = self.runs.first().filter(|first| first.start < reset) {
            let cause =
                format!("a raw binary begins at {reset:#x}, and the image has cells from {:#x} on", first.start);
            let next = "choose a format with addresses, such as `hex`, or a range of addresses";
            return Err(FormatError::new(cause, next));
        }
        self.start = reset;
        Ok(())
    }

    /// Returns the address after the last cell, or where the file begins if there are none.
    pub(super) fn end(&self) -> u128 {
        self.runs.last().map_or(self.start, Run::end)
    }

    /// Returns all cells from the beginning, gaps filled.
    pub(super) fn flat(&self) -> Result<Vec<u64>, FormatError> {
        let length = self.end() - self.start;
        if length > u128::from(CELLS) {
            let cause = format!("the file would have {length} cells, most of them filled in; the limit is {CELLS}");
            let such_as = if self.end() > 1 << 32 { "`readmemh` or `image`" } else { "`hex` or `readmemh`" };
            let next = format!("write a range of addresses, or a format that gives addresses such as {such_as}");
            return Err(FormatError::new(cause, next));
        }
        let mut cells = vec![self.fill; length as usize];
        for run in &self.runs {
            let from = (run.start - self.start) as usize;
            cells[from..from + run.items.len()].copy_from_slice(&run.items);
        }
        Ok(cells)
    }

    /// Returns all cells in one piece, of which there must be at least one.
    pub(super) fn flat_not_empty(&self) -> Result<Vec<u64>, FormatError> {
        if self.end() == self.start {
            let cause = format!("there are no cells to write for {}", self.title);
            return Err(FormatError::new(cause, "choose another memory or range, or give a size to fill up to"));
        }
        self.flat()
    }

    /// Returns the hexadecimal digits of a cell.
    pub(super) fn digits(&self) -> usize {
        digits(self.width)
    }

    /// Returns the hexadecimal digits of an address.
    pub(super) fn address_digits(&self) -> usize {
        let last = self.depth.max(self.end()).max(2) - 1;
        (u128::BITS - last.leading_zeros()).div_ceil(4) as usize
    }

    fn fill_up(&mut self, size: u64) -> Result<(), FormatError> {
        if size > CELLS {
            let cause = format!("a size of {size} cells is more than the limit of {CELLS}");
            return Err(FormatError::new(cause, "give a smaller size"));
        }
        let needed = self.end() - self.start;
        if needed > size.into() {
            let cause = format!("the image needs {needed} cells from address {:#x} on, more than {size}", self.start);
            return Err(FormatError::new(cause, "give a larger size, or a range that leaves something out"));
        }
        let mut items = self.flat()?;
        items.resize(size as usize, self.fill);
        self.depth = self.start + u128::from(size);
        self.runs = if items.is_empty() { Vec::new() } else { vec![Run { start: self.start, items }] };
        Ok(())
    }
}

/// Returns the hexadecimal digits of a value of this width.
pub(super) fn digits(width: Width) -> usize {
    width.bits().div_ceil(4) as usize
}

/// How addresses and cells of a memory map to those of a file.
struct View {
    range: AddressRange,
    base: u64,
    interleave: Interleave,
    lane: Lane,
}

impl AddressRange {
    fn contains(self, address: u64) -> bool {
        (self.first..=self.last).contains(&address)
    }
}

impl View {
    fn new(memory: &Memory, options: &FormatOptions) -> Result<View, FormatError> {
        let range = options.range.unwrap_or(AddressRange { first: 0, last: memory.last() });
        let interleave = options.interleave.unwrap_or(Interleave { chips: 1, chip: 0 });
        let lane = options.lane.unwrap_or(Lane { low: 0, width: memory.cell });
        check_range(memory, range)?;
        interleave.check()?;
        check_lane(memory, lane)?;
        check_fill(memory, options.fill)?;
        let base = if options.addresses == Addresses::OfChip { range.first } else { 0 };
        Ok(View { range, base, interleave, lane })
    }

    /// Returns the file's address of this chip's first cell at or after `address`.
    fn address(&self, address: u128) -> u128 {
        let Interleave { chips, chip } = self.interleave;
        (address - u128::from(self.base)).saturating_sub(chip.into()).div_ceil(chips.into())
    }

    fn start(&self) -> u128 {
        self.address(self.range.first.into())
    }

    fn depth(&self) -> u128 {
        self.address(u128::from(self.range.last) + 1)
    }

    fn runs(&self, image: &Image, memory: MemoryId) -> Vec<Run<u64>> {
        let of_memory = image.segments.iter().filter(|segment| segment.memory == memory);
        of_memory.map(|segment| self.run(segment)).collect()
    }

    /// Selects the cells of one segment that are in the range, on the chip and in the lane.
    fn run(&self, segment: &Segment) -> Run<u64> {
        let start = u128::from(segment.start);
        let first = start.max(self.range.first.into());
        let after = segment.end().min(u128::from(self.range.last) + 1).max(first);
        let chips = u128::from(self.interleave.chips);
        let address = self.address(first);
        let from = u128::from(self.base) + address * chips + u128::from(self.interleave.chip);
        let kept = if from < after { &segment.cells[(from - start) as usize..(after - start) as usize] } else { &[] };
        let of_chip = kept.iter().step_by(chips as usize);
        let items = of_chip.map(|cell| (cell >> self.lane.low) & self.lane.width.mask()).collect();
        Run { start: address, items }
    }

    fn title(&self, isa: &Isa, memory: &Memory, options: &FormatOptions) -> String {
        let mut title = format!("machine {}, memory {}", isa.name, memory.name);
        if let Some(range) = options.range {
            title += &format!(" from {:#x} to {:#x}", range.first, range.last);
        }
        if let Some(Interleave { chips, chip }) = options.interleave {
            title += &format!(", chip {chip} of {chips}");
        }
        if let Some(lane) = options.lane {
            title += &format!(", bits {} down to {} of each cell", lane.low + lane.width.bits() - 1, lane.low);
        }
        let bits = self.lane.width.bits();
        title + &format!(", cells of {bits} bit{}", if bits == 1 { "" } else { "s" })
    }
}

fn check_range(memory: &Memory, range: AddressRange) -> Result<(), FormatError> {
    let AddressRange { first, last } = range;
    if first <= last && last <= memory.last() {
        return Ok(());
    }
    let cause = format!("there is no range from {first:#x} to {last:#x} in memory `{}`", memory.name);
    Err(FormatError::new(cause, format!("give addresses from 0 to {:#x}, the lower one first", memory.last())))
}

fn check_lane(memory: &Memory, lane: Lane) -> Result<(), FormatError> {
    let bits = memory.cell.bits();
    if lane.low < bits && lane.width.bits() <= bits - lane.low {
        return Ok(());
    }
    let cause =
        format!("a cell of memory `{}` has no {} bits from bit {} on", memory.name, lane.width.bits(), lane.low);
    Err(FormatError::new(cause, format!("choose among bits 0 to {}", bits - 1)))
}

fn check_fill(memory: &Memory, fill: u64) -> Result<(), FormatError> {
    if memory.cell.holds(fill) {
        return Ok(());
    }
    let cause = format!("the fill value {fill:#x} is too wide for a cell of memory `{}`", memory.name);
    Err(FormatError::new(cause, format!("give a value of at most {:#x}", memory.cell.mask())))
}

/// Chooses the requested memory, or the code memory if the image has cells for no other.
fn choose_memory(format: Format, image: &Image, isa: &Isa, options: &FormatOptions) -> Result<MemoryId, FormatError> {
    if let Some(id) = options.memory {
        let next = "choose one of the machine's memories";
        let known = id.index() < isa.memories.len();
        return if known { Ok(id) } else { Err(FormatError::new("there is no such memory", next)) };
    }
    let code = isa.pc.memory;
    let names =
        |ids: &[MemoryId]| ids.iter().map(|id| format!("`{}`", isa.memory(*id).name)).collect::<Vec<_>>().join(" and ");
    let used = image_memories(image);
    let others: Vec<MemoryId> = used.into_iter().filter(|id| *id != code).collect();
    if others.is_empty() {
        return Ok(code);
    }
    let code_name = &isa.memory(code).name;
    let cause = format!(
        "the image has cells for memory {}, which a `{}` file of memory `{code_name}` would lose",
        names(&others),
        format.name()
    );
    Err(FormatError::new(cause, "write one file for each memory, or use format `image`, which holds them all"))
}

/// Returns the memories that the image has cells for.
pub(super) fn image_memories(image: &Image) -> Vec<MemoryId> {
    let with_cells = image.segments.iter().filter(|segment| !segment.cells.is_empty());
    let mut memories: Vec<MemoryId> = with_cells.map(|segment| segment.memory).collect();
    memories.sort_unstable();
    memories.dedup();
    memories
}

/// Returns all cells of each memory, in the order of the machine's memories.
pub(super) fn all_cells(image: &Image, isa: &Isa) -> Result<Vec<Vec<Run<u64>>>, FormatError> {
    check(image, isa)?;
    let mut runs: Vec<Vec<Run<u64>>> = vec![Vec::new(); isa.memories.len()];
    for segment in &image.segments {
        runs[segment.memory.index()].push(Run { start: segment.start.into(), items: segment.cells.clone() });
    }
    Ok(runs.iter().map(|runs| merge(runs)).collect())
}

/// Checks that the image fits the machine, so that the rest can rely on it.
pub(super) fn check(image: &Image, isa: &Isa) -> Result<(), FormatError> {
    let next = "check that the image is for this machine";
    for segment in &image.segments {
        let Some(memory) = isa.memories.get(segment.memory.index()) else {
            return Err(FormatError::new("the image has cells for a memory that the machine does not have", next));
        };
        if segment.end() > memory.cells() {
            let cause = format!("the cells at {:#x} run past the end of memory `{}`", segment.start, memory.name);
            return Err(FormatError::new(cause, next));
        }
        if let Some(at) = segment.cells.iter().position(|cell| !memory.cell.holds(*cell)) {
            return Err(too_wide(segment.cells[at], memory.cell).at_address(segment.start + at as u64));
        }
    }
    Ok(())
}

/// Returns the error for a value that does not fit in a cell.
pub(super) fn too_wide(value: u64, cell: Width) -> FormatError {
    let cause = format!("value {value:#x} is too wide for a cell of {} bits", cell.bits());
    FormatError::new(cause, "check that the file is for this machine and this memory")
}

impl FormatError {
    /// Adds the address of the cell to the cause.
    pub(super) fn at_address(mut self, address: u64) -> FormatError {
        self.cause += &format!(", at address {address:#x}");
        self
    }
}
