//! Runs of items at addresses: cells of a memory, or bytes of a file. Merges them, and collects them from a file within
//! the limits.
//!
//! Addresses have 128 bits here, so that every memory has an address after its last cell, even counted in bytes.

use lathe_base::limits;
use lathe_isa::model::Memory;

use super::FormatError;

/// The most cells held at once.
pub(super) const CELLS: u64 = limits::IMAGE_CELLS;

/// Consecutive items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run<T> {
    /// The address of the first item.
    pub(super) start: u128,
    /// The items.
    pub(super) items: Vec<T>,
}

impl<T> Run<T> {
    /// Returns the address after the last item.
    pub(super) fn end(&self) -> u128 {
        self.start + self.items.len() as u128
    }
}

/// Returns items as sorted runs with gaps between them. Where runs overlap, the later one wins. The cost is that of
/// sorting, whatever the overlaps.
pub(super) fn merge<T: Copy + Default>(runs: &[Run<T>]) -> Vec<Run<T>> {
    let mut order: Vec<usize> = (0..runs.len()).filter(|at| !runs[*at].items.is_empty()).collect();
    order.sort_by_key(|at| runs[*at].start);
    let mut extents: Vec<(u128, u128)> = Vec::new();
    let mut extent_of = vec![usize::MAX; runs.len()];
    for at in order {
        match extents.last_mut() {
            Some((_, end)) if runs[at].start <= *end => *end = (*end).max(runs[at].end()),
            _ => extents.push((runs[at].start, runs[at].end())),
        }
        extent_of[at] = extents.len() - 1;
    }
    let blank = |(start, end): &(u128, u128)| Run { start: *start, items: vec![T::default(); (end - start) as usize] };
    let mut merged: Vec<Run<T>> = extents.iter().map(blank).collect();
    for (run, extent) in runs.iter().zip(extent_of) {
        if let Some(target) = merged.get_mut(extent) {
            let from = (run.start - target.start) as usize;
            target.items[from..from + run.items.len()].copy_from_slice(&run.items);
        }
    }
    merged
}

/// Returns up to `count` items from `address` on, as far as there is no gap; `runs` must be merged.
pub(super) fn slice<T>(runs: &[Run<T>], address: u128, count: u64) -> &[T] {
    let after = runs.partition_point(|run| run.start <= address);
    let Some(run) = after.checked_sub(1).map(|at| &runs[at]) else { return &[] };
    let from = (address - run.start).min(run.items.len() as u128);
    let to = (from + u128::from(count)).min(run.items.len() as u128);
    &run.items[from as usize..to as usize]
}

/// Collects what a file holds, and checks that it fits the memory and the limits.
pub(super) struct Collector<T> {
    runs: Vec<Run<T>>,
    taken: u64,
    end: u128,
    limit: u64,
    beyond: String,
}

impl Collector<u64> {
    /// Collects the cells of a memory.
    pub(super) fn of_cells(memory: &Memory) -> Self {
        let last = memory.last();
        let beyond = format!("is beyond memory `{}`, whose last cell is at {last:#x}", memory.name);
        Collector { runs: Vec::new(), taken: 0, end: memory.cells(), limit: CELLS, beyond }
    }
}

impl Collector<u8> {
    /// Collects the bytes that a memory's cells take in a file.
    pub(super) fn of_bytes(memory: &Memory) -> Self {
        let size = memory.bytes_per_cell() as u64;
        let end = memory.cells() * u128::from(size);
        let beyond = format!("is beyond memory `{}`, whose last byte is at {:#x}", memory.name, end - 1);
        Collector { runs: Vec::new(), taken: 0, end, limit: CELLS.saturating_mul(size), beyond }
    }
}

impl<T: Copy + Default> Collector<T> {
    /// Adds consecutive items.
    pub(super) fn put(&mut self, address: u128, items: &[T]) -> Result<(), FormatError> {
        self.room(address, items.len() as u64)?.extend_from_slice(items);
        Ok(())
    }

    /// Adds one item several times.
    pub(super) fn put_times(&mut self, address: u128, item: T, count: u64) -> Result<(), FormatError> {
        self.room(address, count)?.extend(std::iter::repeat_n(item, count as usize));
        Ok(())
    }

    /// Returns the run that continues at the address, after checking that `count` items fit.
    fn room(&mut self, address: u128, count: u64) -> Result<&mut Vec<T>, FormatError> {
        let end = address.saturating_add(count.into());
        if end > self.end {
            let first_outside = address.max(self.end);
            let cause = format!("address {first_outside:#x} {}", self.beyond);
            return Err(FormatError::new(cause, "check that the file is for this machine and this memory"));
        }
        self.taken = self.taken.saturating_add(count);
        if self.taken > self.limit {
            let cause = format!("the file holds more than {CELLS} cells, the limit for an image");
            return Err(FormatError::new(cause, "load a smaller file"));
        }
        if self.runs.last().is_none_or(|run| run.end() != address) {
            self.runs.push(Run { start: address, items: Vec::new() });
        }
        let last = self.runs.len() - 1;
        Ok(&mut self.runs[last].items)
    }

    /// Returns all that was collected, merged.
    pub(super) fn finish(self) -> Vec<Run<T>> {
        merge(&self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u128, items: &[u64]) -> Run<u64> {
        Run { start, items: items.to_vec() }
    }

    #[test]
    fn merging_joins_neighbours_keeps_gaps_and_lets_the_later_win() {
        let runs = [run(8, &[8, 9]), run(0, &[0, 1]), run(2, &[2]), run(1, &[7]), run(20, &[]), run(10, &[5])];
        assert_eq!(merge(&runs), [run(0, &[0, 7, 2]), run(8, &[8, 9, 5])]);
    }

    #[test]
    fn a_slice_ends_at_a_gap() {
        let runs = [run(2, &[2, 3]), run(8, &[8])];
        assert_eq!(slice(&runs, 3, 9), [3]);
        assert_eq!(slice(&runs, 0, 9), [0; 0]);
        assert_eq!(slice(&runs, 5, u64::MAX), [0; 0]);
    }
}
