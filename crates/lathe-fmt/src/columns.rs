//! Widths of columns.
//!
//! A few cells much wider than the others do not widen the column for all: they stick out.

/// How much wider than the others a cell may be before it sticks out.
const REACH: usize = 12;

/// Returns the width of a column of cells.
pub(crate) fn width(cells: impl Iterator<Item = usize>) -> usize {
    let mut widths: Vec<usize> = cells.collect();
    widths.sort_unstable();
    let within = (widths.len().div_ceil(2)..widths.len()).find(|&at| widths[at] > widths[at - 1] + REACH);
    let last = within.unwrap_or(widths.len());
    last.checked_sub(1).map_or(0, |at| widths[at])
}

/// Returns how many columns a text takes.
pub(crate) fn count(text: &str) -> usize {
    text.chars().count()
}

/// Pads a text with blanks up to a column.
pub(crate) fn pad(text: &mut String, column: usize) {
    let blanks = column.saturating_sub(count(text));
    text.extend(std::iter::repeat_n(' ', blanks));
}

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn one_long_cell_sticks_out() {
        assert_eq!(width([3, 5, 4].into_iter()), 5);
        assert_eq!(width([3, 5, 4, 30].into_iter()), 5);
        assert_eq!(width([3, 5, 30, 31].into_iter()), 5);
        assert_eq!(width([3, 30, 30, 31].into_iter()), 31);
        assert_eq!(width([7].into_iter()), 7);
        assert_eq!(width([].into_iter()), 0);
    }
}
