//! Lengths of instructions, for a `skip`, which passes over an instruction without executing it.

use std::cell::OnceCell;

use crate::encoding::Cube;

use super::Declarations;
use super::rows::{Draft, DraftedRow, combinations};

/// The lengths of all rows.
pub(crate) struct Lengths<'d> {
    declarations: &'d Declarations<'d>,
    rows: &'d [DraftedRow<'d>],
    longer: OnceCell<Vec<Longer>>,
}

/// Instructions longer than the shortest, and the bits that identify them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Longer {
    /// How many cells they have.
    pub(crate) cells: u32,
    /// The bits of the cells that they share with shorter ones, and modes.
    pub(crate) fixed: Cube,
    /// Bit patterns that belong to other instructions after all.
    pub(crate) excluded: Vec<Cube>,
}

impl<'d> Lengths<'d> {
    /// Makes the lengths. No row may come from an earlier reading: their drafts are needed.
    pub(crate) fn new(declarations: &'d Declarations<'d>, rows: &'d [DraftedRow<'d>]) -> Lengths<'d> {
        Lengths { declarations, rows, longer: OnceCell::new() }
    }

    fn drafts(&self) -> impl Iterator<Item = &'d Draft<'d>> {
        self.rows.iter().flat_map(|row| &row.drafts)
    }

    /// Returns the number of cells of the shortest instruction.
    pub(crate) fn shortest(&self) -> u32 {
        self.drafts().map(|draft| draft.picture.cells).min().unwrap_or(1)
    }

    /// Returns all longer instructions, merged as far as their bits allow. Anything that matches none of them counts as
    /// short.
    pub(crate) fn longer(&self) -> &[Longer] {
        self.longer.get_or_init(|| merged(self.drafts().flat_map(|draft| self.longer_of(draft)).collect()))
    }

    fn longer_of(&self, draft: &Draft) -> Vec<Longer> {
        let cells = draft.picture.cells;
        // The cells that it shares with the next shorter one tell the two apart: an earlier check has shown this.
        let shared = self.drafts().map(|draft| draft.picture.cells).filter(|other| *other < cells).max();
        let Some(bits) = shared.map(|shared| shared * self.declarations.code_cell().bits()) else { return Vec::new() };
        let seen = u128::MAX.checked_shl(128 - bits).unwrap_or(0) | self.declarations.mode_mask();
        let restrict = |cube: &Cube| Cube { mask: cube.mask & seen, value: cube.value & seen };
        let longer = combinations(self.declarations, &draft.families).into_iter().map(|chosen| {
            let encoding = draft.encoding(self.declarations, &chosen);
            let excluded = encoding.excluded.iter().filter(|cube| cube.mask & !seen == 0).map(restrict).collect();
            Longer { cells, fixed: restrict(&encoding.fixed), excluded }
        });
        longer.collect()
    }
}

/// Merges entries that differ in one bit, until none do.
fn merged(mut all: Vec<Longer>) -> Vec<Longer> {
    let mut at = 0;
    while at < all.len() {
        let one = all[at].clone();
        let twin = |other: &Longer| {
            let differ = one.fixed.value ^ other.fixed.value;
            one.cells == other.cells
                && one.excluded == other.excluded
                && one.fixed.mask == other.fixed.mask
                && differ.count_ones() <= 1
        };
        match all.iter().skip(at + 1).position(twin) {
            Some(distance) => {
                let other = all.remove(at + 1 + distance);
                let differ = one.fixed.value ^ other.fixed.value;
                all[at].fixed = Cube { mask: one.fixed.mask & !differ, value: one.fixed.value & !differ };
                at = 0;
            }
            None => at += 1,
        }
    }
    all
}
