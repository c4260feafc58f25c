//! Where a region's code begins.
//!
//! Many x86 processors (those of Skylake's family, with the microcode of 2019 or later) do not keep decoded instructions
//! of 32 bytes in which a jump ends, or from which one reaches into the next 32. A loop with such a jump takes up to
//! twice as long, so the same code is fast or slow by chance. Moving all of it by a few bytes costs nothing.

use cranelift_codegen::CompiledCode;
use cranelift_codegen::binemit::CodeOffset;

/// Bytes whose decoded instructions are kept together.
pub(crate) const LINE: CodeOffset = 32;
/// The lengths of jumps as Cranelift writes them, and of most comparisons before one: the processor takes both as one.
const CONDITIONAL: CodeOffset = 6;
const UNCONDITIONAL: CodeOffset = 5;
const COMPARISON: CodeOffset = 4;
/// A jump in a loop counts this many times one outside.
const LOOP: u64 = 8;
/// Loops within loops that are told apart.
const DEPTH: u32 = 8;
/// Executions beyond this number count no more.
const MOST: u64 = 1 << 24;

/// A jump, or a comparison and a jump, from its first byte to the one after the last.
#[derive(Debug, PartialEq, Eq)]
struct Branch {
    start: CodeOffset,
    end: CodeOffset,
    weight: u64,
}

/// How many bytes after a multiple of [`LINE`] the code should begin, if the blocks it is made from were executed this
/// often.
pub(crate) fn offset(code: &CompiledCode, executions: &[u64]) -> usize {
    if cfg!(not(target_arch = "x86_64")) {
        return 0;
    }
    let places = code.buffer.get_srclocs_sorted().iter().filter(|place| !place.loc.is_default());
    let made_from: Vec<(CodeOffset, u32)> = places.map(|place| (place.start, place.loc.bits())).collect();
    let executions = |end: CodeOffset| {
        let last = made_from.partition_point(|(start, _)| *start < end).checked_sub(1)?;
        executions.get(made_from[last].1.checked_sub(1)? as usize)
    };
    let executions = |end: CodeOffset| executions(end).map_or(1, |times| (*times).clamp(1, MOST));
    best(&branches(&code.bb_starts, &code.bb_edges, code.buffer.total_size(), executions)) as usize
}

/// The least offset with which the fewest branches are slow, those in loops above all.
fn best(branches: &[Branch]) -> CodeOffset {
    let cost = |offset: &CodeOffset| -> u64 {
        let is_slow = |branch: &&Branch| (branch.start + offset) / LINE != (branch.end + offset) / LINE;
        branches.iter().filter(is_slow).map(|branch| branch.weight).sum()
    };
    (0..LINE).min_by_key(cost).unwrap_or(0)
}

/// The jumps at the ends of blocks, of which the beginnings, the ways between them and about how often what is before
/// an end was executed are given.
fn branches(
    starts: &[CodeOffset],
    ways: &[(CodeOffset, CodeOffset)],
    size: CodeOffset,
    executions: impl Fn(CodeOffset) -> u64,
) -> Vec<Branch> {
    let ends = starts.iter().skip(1).copied().chain([size]);
    let blocks: Vec<(CodeOffset, CodeOffset)> = starts.iter().copied().zip(ends).collect();
    // Loops are contiguous: blocks are laid out in the order in which they are reached.
    // The shorter of two ways back to the same block is a loop within the longer: it is the one that is taken more often.
    let loops: Vec<&(CodeOffset, CodeOffset)> = ways.iter().filter(|(from, to)| to <= from).collect();
    let mut branches = Vec::new();
    for (start, end) in blocks {
        let depth = loops.iter().filter(|(last, first)| (*first..=*last).contains(&start)).count() as u32;
        let weight = LOOP.pow(depth.min(DEPTH)) * executions(end);
        let mut add = |before: CodeOffset, length: CodeOffset| {
            let end = end.saturating_sub(before);
            branches.push(Branch { start: end.saturating_sub(length), end, weight });
        };
        let targets: Vec<CodeOffset> = ways.iter().filter(|(from, _)| *from == start).map(|(_, to)| *to).collect();
        match (targets.len(), targets.contains(&end)) {
            (1, false) => add(0, UNCONDITIONAL),
            (2, true) => add(0, COMPARISON + CONDITIONAL),
            (2, false) => {
                add(UNCONDITIONAL, COMPARISON + CONDITIONAL);
                add(0, UNCONDITIONAL);
            }
            // It falls through, returns, or jumps by a table.
            _ => {}
        }
    }
    branches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_jump_of_a_loop_reaches_or_ends_at_a_boundary() {
        let branch = |start, end, weight| Branch { start, end, weight };
        assert_eq!(best(&[branch(10, 19, 1)]), 0);
        // From 28 to 37: four bytes further, it begins with a line.
        assert_eq!(best(&[branch(28, 37, 1)]), 4);
        // One that ends where a line does is as slow.
        assert_eq!(best(&[branch(26, 32, 1)]), 6);
        // Not both can be clear of boundaries: it is the one in the loop.
        let both = [branch(28, 37, 1), branch(37, 64, LOOP)];
        assert_eq!((0..LINE).filter(|offset| (37 + offset) / LINE == (64 + offset) / LINE).min(), Some(best(&both)));
    }

    #[test]
    fn jumps_count_by_the_loops_they_are_in() {
        // 0 falls through to 10; 10 goes to 40 or on to 24, which goes back to 10; 40 returns.
        let found = branches(&[0, 10, 24, 40], &[(0, 10), (10, 40), (10, 24), (24, 10)], 50, |_| 1);
        let branch = |start, end, weight| Branch { start, end, weight };
        assert_eq!(found, [branch(14, 24, LOOP), branch(35, 40, LOOP)]);
        // Of two ways back to one block, the shorter counts more.
        let found = branches(&[0, 20, 40], &[(0, 0), (0, 20), (20, 0), (20, 40)], 50, |_| 1);
        assert_eq!(found, [branch(10, 20, LOOP * LOOP), branch(30, 40, LOOP)]);
        // One that is executed more often counts more.
        let found = branches(&[0, 20, 40], &[(0, 0), (0, 20), (20, 20), (20, 40)], 50, u64::from);
        assert_eq!(found, [branch(10, 20, LOOP * 20), branch(30, 40, LOOP * 40)]);
        // Where neither way falls through, there are two jumps.
        let found = branches(&[0, 30, 60], &[(0, 60), (0, 0)], 70, |_| 1);
        assert_eq!(found, [branch(15, 25, LOOP), branch(25, 30, LOOP)]);
    }
}
