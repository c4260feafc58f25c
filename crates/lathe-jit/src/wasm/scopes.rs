//! Finds which blocks form loops. WebAssembly has no jumps, only branches out of blocks and back to the beginning of
//! loops.
//!
//! Blocks stay in their order. A back edge makes a loop of all blocks from its target to its source. A loop that begins
//! inside another and ends behind it extends the outer loop. Since a region can be entered at any block, a local says
//! where to go next, and each loop looks at it at its beginning.

/// Loops nested deeper than this are not loops of their own; their back edges go to a loop around them.
const NESTED: u32 = 8;

/// Blocks that are written one after another, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Block(usize),
    Loop(Scope),
}

/// A loop, or all of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) parts: Vec<Part>,
}

impl Part {
    pub(super) fn first(&self) -> usize {
        match self {
            Part::Block(number) => *number,
            Part::Loop(scope) => scope.first,
        }
    }

    pub(super) fn last(&self) -> usize {
        match self {
            Part::Block(number) => *number,
            Part::Loop(scope) => scope.last,
        }
    }
}

/// Returns the scope of a region with this many blocks and these edges between them.
pub(super) fn scopes(blocks: usize, ways: &[(usize, usize)]) -> Scope {
    let mut ends: Vec<Option<usize>> = vec![None; blocks];
    for (from, to) in ways.iter().filter(|(from, to)| to <= from) {
        ends[*to] = ends[*to].max(Some(*from));
    }
    // Inner loops first, because they may extend outer loops.
    for first in (0..blocks).rev() {
        let Some(mut last) = ends[first] else { continue };
        let mut inside = first + 1;
        while inside <= last {
            last = last.max(ends[inside].unwrap_or(inside));
            inside += 1;
        }
        ends[first] = Some(last);
    }
    let last = blocks.saturating_sub(1);
    Scope { first: 0, last, parts: parts(&ends, 0..blocks, false, 0) }
}

/// Returns the parts of some blocks. The first block may be the beginning of the loop around them.
fn parts(ends: &[Option<usize>], blocks: std::ops::Range<usize>, is_loop: bool, depth: u32) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut next = blocks.start;
    while next < blocks.end {
        let is_own = is_loop && next == blocks.start;
        match ends[next].filter(|_| !is_own && depth < NESTED) {
            Some(last) => {
                let parts_inside = self::parts(ends, next..last + 1, true, depth + 1);
                parts.push(Part::Loop(Scope { first: next, last, parts: parts_inside }));
                next = last + 1;
            }
            None => {
                parts.push(Part::Block(next));
                next += 1;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts as text, with loops in brackets.
    fn text(parts: &[Part]) -> String {
        let part = |part: &Part| match part {
            Part::Block(number) => number.to_string(),
            Part::Loop(scope) => format!("[{}]", text(&scope.parts)),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ways_back_make_loops() {
        let of = |blocks, ways: &[(usize, usize)]| text(&scopes(blocks, ways).parts);
        assert_eq!(of(0, &[]), "");
        assert_eq!(of(3, &[(0, 2)]), "0 1 2");
        assert_eq!(of(3, &[(1, 1)]), "0 [1] 2");
        assert_eq!(of(5, &[(3, 1), (3, 2)]), "0 [1 [2 3]] 4");
        assert_eq!(of(5, &[(2, 0), (4, 1)]), "[0 [1 2 3 4]]");
        assert_eq!(of(6, &[(1, 0), (4, 3)]), "[0 1] 2 [3 4] 5");
        let many: Vec<(usize, usize)> = (0..20).map(|to| (19, to)).collect();
        assert!(of(20, &many).ends_with("[7 8 9 10 11 12 13 14 15 16 17 18 19]]]]]]]]"));
    }
}
