//! Finds the writes to registers named by operands that can wait until everything else has been done: those after which
//! nothing reads these registers. They share one multiplexer at the end of the core instead of having one each.

use std::collections::BTreeSet;

use lathe_isa::Isa;
use lathe_isa::model::{FieldId, RegisterId};
use lathe_isa::semantics::{Block, Statement};

use crate::operands;

/// Returns, for each write of an instruction to an operand, in textual order, whether it can wait. `fields` are the
/// fields of its operands.
pub(crate) fn writes(isa: &Isa, fields: &[FieldId], block: &Block) -> Vec<bool> {
    let search = Search { isa, fields };
    let mut found = Vec::new();
    search.block(block, &BTreeSet::new(), &mut found);
    found
}

struct Search<'a> {
    isa: &'a Isa,
    /// The fields of the instruction's operands.
    fields: &'a [FieldId],
}

impl Search<'_> {
    /// `after` are the registers that are read or written after the block.
    fn block(&self, block: &Block, after: &BTreeSet<RegisterId>, found: &mut Vec<bool>) {
        for (at, statement) in block.iter().enumerate() {
            let rest = || -> BTreeSet<RegisterId> {
                block[at + 1..].iter().flat_map(|later| self.touched(later)).chain(after.iter().copied()).collect()
            };
            match statement {
                Statement::SetOperand(operand, _) => {
                    let rest = rest();
                    let field = self.fields[usize::from(operand.0)];
                    found.push(!operands::registers(self.isa, field).any(|register| rest.contains(&register)));
                }
                Statement::If { then, otherwise, .. } => {
                    let rest = rest();
                    self.block(then, &rest, found);
                    self.block(otherwise, &rest, found);
                }
                _ => {}
            }
        }
    }

    /// Returns the registers that a statement reads or writes. An access to a memory may have the effects of its maps.
    fn touched(&self, statement: &Statement) -> BTreeSet<RegisterId> {
        let effects = statement.effects();
        let reached = |memory| effects.loads.contains(memory) || effects.stores.contains(memory);
        let maps = self.isa.maps.iter().filter(|map| reached(&map.memory));
        let mapped = maps.flat_map(|map| [map.read.effects(), map.write.effects()]);
        let named = effects.operands_read.iter().chain(&effects.operands_written);
        let mut touched: BTreeSet<RegisterId> =
            named.flat_map(|operand| operands::registers(self.isa, self.fields[usize::from(operand.0)])).collect();
        touched.extend(mapped.flat_map(|effects| effects.reads.into_iter().chain(effects.writes)));
        touched.extend(effects.reads.iter().chain(&effects.writes));
        touched
    }
}
