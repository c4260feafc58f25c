//! Decodes bits to an instruction: a decision tree over the fixed bits of all rows.
//!
//! The tree only narrows the choice; the row at the leaf is compared in full. So a mistake in the tree can lose an
//! instruction, which the tests would notice, but never confuse two.

use lathe_base::limits;

use crate::encoding::Encoding;
use crate::model::InstructionId;

/// An instruction with the bits of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The instruction.
    pub instruction: InstructionId,
    /// The bits of its operands; zero for operands that it does not have.
    pub operands: [u64; limits::OPERANDS],
}

/// The decision tree.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    /// The next node is `first` plus the bits at `shift`.
    Switch { shift: u32, mask: u64, first: usize },
    /// One of these instructions, if any.
    Leaf(Vec<InstructionId>),
}

/// The most bits that one node tests.
const SWITCH_BITS: u32 = 8;
/// Beyond this size, leaves hold more candidates than they need to.
const NODE_LIMIT: usize = 1 << 17;

impl Decoder {
    /// Builds the tree for these encodings, which must be disjoint.
    pub fn new<'e>(encodings: impl Iterator<Item = &'e Encoding>) -> Decoder {
        let encodings: Vec<&Encoding> = encodings.collect();
        let all = (0..encodings.len() as u32).map(InstructionId).collect();
        let mut decoder = Decoder { nodes: vec![Node::Leaf(Vec::new())] };
        decoder.grow(&encodings, 0, all, 0);
        decoder
    }

    /// Fills the node `at` for these candidates, which agree on the bits under `tested`.
    fn grow(&mut self, encodings: &[&Encoding], at: usize, candidates: Vec<InstructionId>, tested: u128) {
        let bits = choose_bits(candidates.iter().map(|id| encodings[id.index()].fixed.mask & !tested));
        let Some((shift, count)) = bits.filter(|_| candidates.len() > 1 && self.nodes.len() < NODE_LIMIT) else {
            self.nodes[at] = Node::Leaf(candidates);
            return;
        };
        let mask = (1u64 << count) - 1;
        let first = self.nodes.len();
        self.nodes[at] = Node::Switch { shift, mask, first };
        self.nodes.resize(first + (1 << count), Node::Leaf(Vec::new()));
        let mut branches = vec![Vec::new(); 1 << count];
        for id in candidates {
            let fixed = encodings[id.index()].fixed;
            let (own, known) = ((fixed.value >> shift) as u64 & mask, (fixed.mask >> shift) as u64 & mask);
            // It goes into every branch that agrees with its fixed bits.
            match known == mask {
                true => branches[own as usize].push(id),
                false => (0..=mask).filter(|at| (at ^ own) & known == 0).for_each(|at| branches[at as usize].push(id)),
            }
        }
        for (branch, remaining) in branches.into_iter().enumerate() {
            self.grow(encodings, first + branch, remaining, tested | (u128::from(mask) << shift));
        }
    }

    /// Returns the instruction that the window begins with. `encoding` returns the encoding of an id.
    pub fn find<'e>(&self, window: u128, encoding: impl Fn(InstructionId) -> &'e Encoding) -> Option<InstructionId> {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Switch { shift, mask, first } => at = first + ((window >> shift) as u64 & mask) as usize,
                Node::Leaf(candidates) => {
                    return candidates.iter().copied().find(|id| encoding(*id).matches(window));
                }
            }
        }
    }
}

/// Chooses the highest run of bits that all masks have, or else the highest bit that any mask has.
fn choose_bits(masks: impl Iterator<Item = u128> + Clone) -> Option<(u32, u32)> {
    let common = masks.clone().fold(u128::MAX, |all, mask| all & mask);
    let any = masks.fold(0, |all, mask| all | mask);
    if any == 0 {
        return None;
    }
    if common == 0 {
        return Some((127 - any.leading_zeros(), 1));
    }
    let top = common.leading_zeros();
    let run = (common << top).leading_ones().min(SWITCH_BITS);
    Some((128 - top - run, run))
}

impl crate::model::Isa {
    /// Decodes the instruction at the beginning of the window, with its operands.
    pub fn decode(&self, window: u128) -> Option<Decoded> {
        let instruction = self.decoder.find(window, |id| &self.instructions[id.index()].encoding)?;
        let encoding = &self.instructions[instruction.index()].encoding;
        let mut operands = [0; limits::OPERANDS];
        for (index, bits) in operands.iter_mut().enumerate().take(encoding.operands.len()) {
            *bits = encoding.operand(index, window);
        }
        Some(Decoded { instruction, operands })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::Cube;

    fn row(mask: u128, value: u128) -> Encoding {
        let fixed = Cube { mask: mask << 112, value: value << 112 };
        Encoding { cells: 2, fixed, ..Encoding::default() }
    }

    /// Compares the tree with a linear search, for rows whose fixed bits lie in different places.
    #[test]
    fn the_tree_finds_what_a_search_finds() {
        let rows =
            [row(0xFF00, 0x1200), row(0xF00F, 0x2003), row(0xF00F, 0x2004), row(0xC000, 0xC000), row(0xF0F0, 0x1010)];
        let decoder = Decoder::new(rows.iter());
        for word in 0..=0xFFFFu128 {
            let window = word << 112;
            let expected = rows.iter().position(|row| row.matches(window)).map(|at| InstructionId(at as u32));
            assert_eq!(decoder.find(window, |id| &rows[id.index()]), expected, "{word:04x}");
        }
    }
}
