//! Where a region's code begins.
//!
//! Many x86 processors (the Skylake family, with microcode of 2019 or later) do not cache the decoded instructions of a
//! 32-byte line if a jump crosses or touches its end. A loop with such a jump takes up to twice as long, so the same
//! code is fast or slow by chance. Moving all of it by a few bytes costs nothing.

use cranelift_codegen::CompiledCode;
use cranelift_codegen::binemit::CodeOffset;

/// Bytes whose decoded instructions are cached together.
pub(crate) const LINE: CodeOffset = 32;
/// The length of most comparisons before a conditional jump: the processor fuses the two.
const COMPARISON: CodeOffset = 4;
/// A jump in a loop counts as much as this many outside.
const LOOP: u64 = 8;
/// Levels of nested loops that are told apart.
const DEPTH: u32 = 8;
/// Executions beyond this number do not count.
const MOST: u64 = 1 << 24;

/// A jump, or a comparison and a jump, from its first byte to the byte after its last.
#[derive(Debug, PartialEq, Eq)]
struct Branch {
    start: CodeOffset,
    end: CodeOffset,
    weight: u64,
}

/// Returns how many bytes after a multiple of [`LINE`] the code should begin, if the blocks it is made from were
/// executed this often.
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
    best(&branches(code.code_buffer(), &code.bb_starts, executions)) as usize
}

/// Returns the smallest offset that makes the fewest branches slow, where branches in loops weigh most.
fn best(branches: &[Branch]) -> CodeOffset {
    let cost = |offset: &CodeOffset| -> u64 {
        let is_slow = |branch: &&Branch| (branch.start + offset) / LINE != (branch.end + offset) / LINE;
        branches.iter().filter(is_slow).map(|branch| branch.weight).sum()
    };
    (0..LINE).min_by_key(cost).unwrap_or(0)
}

/// Returns the jumps at the ends of blocks. `starts` are the beginnings of the blocks; `executions` returns about how
/// often the code before an end was executed.
fn branches(code: &[u8], starts: &[CodeOffset], executions: impl Fn(CodeOffset) -> u64) -> Vec<Branch> {
    let ends = starts.iter().skip(1).copied().chain([code.len() as CodeOffset]);
    let jumps: Vec<Jump> = ends.flat_map(|end| jumps_before(code, end)).collect();
    let is_block = |offset: &CodeOffset| starts.binary_search(offset).is_ok();
    // Bytes that only look like a jump, such as the end of a constant, do not lead to a block.
    let jumps: Vec<Jump> = jumps.into_iter().filter(|jump| is_block(&jump.target)).collect();
    // Loops are contiguous: blocks are placed in the order in which they are reached. The shorter of two back edges to
    // the same block is a loop within the longer one: it is taken more often.
    let loops: Vec<&Jump> = jumps.iter().filter(|jump| jump.target < jump.end).collect();
    let branch = |jump: &Jump| {
        let depth = loops.iter().filter(|back| back.target < jump.end && jump.end <= back.end).count() as u32;
        let weight = LOOP.pow(depth.min(DEPTH)) * executions(jump.end);
        Branch { start: jump.start, end: jump.end, weight }
    };
    jumps.iter().map(branch).collect()
}

/// A jump to an address in the code, with the comparison before it.
struct Jump {
    start: CodeOffset,
    end: CodeOffset,
    target: CodeOffset,
}

/// Returns the jumps of a block that ends here: a conditional one, an unconditional one, or both. Cranelift reports
/// edges between blocks, too, but wrong ones if some blocks are cold (0.135).
fn jumps_before(code: &[u8], end: CodeOffset) -> impl Iterator<Item = Jump> {
    let to = |end: CodeOffset, length: CodeOffset, compared: CodeOffset| {
        let distance = code.get(..end as usize)?.last_chunk()?;
        let target = end.checked_add_signed(i32::from_le_bytes(*distance))?;
        Some(Jump { start: end.checked_sub(length)?.saturating_sub(compared), end, target })
    };
    let byte = |before: CodeOffset| end.checked_sub(before).and_then(|at| code.get(at as usize)).copied();
    let always = (byte(5) == Some(0xE9)).then(|| to(end, 5, 0)).flatten();
    let rest = if always.is_some() { 5 } else { 0 };
    let is_conditional = byte(rest + 6) == Some(0x0F) && byte(rest + 5).is_some_and(|second| second >> 4 == 8);
    let sometimes = is_conditional.then(|| to(end - rest, 6, COMPARISON)).flatten();
    sometimes.into_iter().chain(always)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_jump_of_a_loop_reaches_or_ends_at_a_boundary() {
        let branch = |start, end, weight| Branch { start, end, weight };
        assert_eq!(best(&[branch(10, 19, 1)]), 0);
        // From 28 to 37: moved by four bytes, it begins with a line.
        assert_eq!(best(&[branch(28, 37, 1)]), 4);
        // A jump that ends where a line does is as slow.
        assert_eq!(best(&[branch(26, 32, 1)]), 6);
        // Not both can be clear of boundaries: the jump in the loop is.
        let both = [branch(28, 37, 1), branch(37, 64, LOOP)];
        assert_eq!((0..LINE).filter(|offset| (37 + offset) / LINE == (64 + offset) / LINE).min(), Some(best(&both)));
    }

    /// Makes code of this length with jumps: where each ends, where it leads to, and whether it is conditional.
    fn code(length: usize, jumps: &[(usize, i32, bool)]) -> Vec<u8> {
        let mut code = vec![0x90; length];
        for (end, target, is_conditional) in jumps {
            code[end - 4..*end].copy_from_slice(&(target - *end as i32).to_le_bytes());
            match is_conditional {
                true => code[end - 6..end - 4].copy_from_slice(&[0x0F, 0x85]),
                false => code[end - 5] = 0xE9,
            }
        }
        code
    }

    #[test]
    fn jumps_count_by_the_loops_they_are_in() {
        let branch = |start, end, weight| Branch { start, end, weight };
        // 0 falls through to 10; 10 goes to 40 or on to 24, which goes back to 10; 40 returns.
        let found = branches(&code(50, &[(24, 40, true), (40, 10, false)]), &[0, 10, 24, 40], |_| 1);
        assert_eq!(found, [branch(14, 24, LOOP), branch(35, 40, LOOP)]);
        // Of two back edges to one block, the shorter counts more.
        let two = code(50, &[(20, 0, true), (40, 0, true)]);
        assert_eq!(branches(&two, &[0, 20, 40], |_| 1), [branch(10, 20, LOOP * LOOP), branch(30, 40, LOOP)]);
        // A jump that is executed more often counts more.
        let two = code(50, &[(20, 0, true), (40, 20, true)]);
        let found = branches(&two, &[0, 20, 40], u64::from);
        assert_eq!(found, [branch(10, 20, LOOP * 20), branch(30, 40, LOOP * 40)]);
        // If neither way falls through, there are two jumps.
        let both = code(70, &[(25, 0, true), (30, 60, false)]);
        assert_eq!(branches(&both, &[0, 30, 60], |_| 1), [branch(15, 25, LOOP), branch(25, 30, 1)]);
        // Bytes that lead into the middle of a block are no jump.
        assert_eq!(branches(&code(50, &[(24, 41, true)]), &[0, 24, 40], |_| 1), []);
    }

    #[test]
    fn code_of_any_bytes_is_read() {
        for length in 0..12 {
            for byte in [0x0F, 0x85, 0xE9, 0xFF] {
                let found = branches(&vec![byte; length], &[0], |_| 1);
                assert!(found.iter().all(|branch| branch.end == length as CodeOffset));
            }
        }
    }
}
