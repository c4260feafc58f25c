//! What an instruction touches, inferred from its meaning: cycles, memory, control flow. Flags are in `flags.rs`.

use lathe_isa::Isa;
use lathe_isa::model::{Instruction, MemoryId};
use lathe_isa::semantics::{Block, Effects, Statement};

/// Returns the fewest and the most cycles of any of these instructions.
pub(crate) fn cycles(instructions: &[&Instruction]) -> (u64, u64) {
    let one = |instruction: &&Instruction| {
        let (least, most) = extra(&instruction.body.block);
        (instruction.cycles.saturating_add(least), instruction.cycles.saturating_add(most))
    };
    let all = instructions.iter().map(one);
    all.reduce(|(least, most), (low, high)| (least.min(low), most.max(high))).unwrap_or_default()
}

fn extra(block: &Block) -> (u64, u64) {
    block.iter().fold((0, 0), |(least, most), statement| {
        let (low, high) = match statement {
            Statement::Cycles(value) => {
                let known = value.as_constant();
                (known.unwrap_or(0), known.unwrap_or(value.width.mask()))
            }
            Statement::If { then, otherwise, .. } => {
                let (then, otherwise) = (extra(then), extra(otherwise));
                (then.0.min(otherwise.0), then.1.max(otherwise.1))
            }
            _ => (0, 0),
        };
        (least.saturating_add(low), most.saturating_add(high))
    })
}

/// Returns what else any of these instructions does, in a few words each.
pub(crate) fn effects(isa: &Isa, instructions: &[&Instruction]) -> Vec<String> {
    let mut effects = Effects::default();
    for instruction in instructions {
        effects.include(instruction.body.effects());
    }
    let names = |list: Vec<&String>| list.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    // In the order of declaration: the order within a meaning does not matter.
    let memories = |list: &[MemoryId]| {
        let touched = isa.memories.iter().zip(0..).filter(|(_, number)| list.contains(&MemoryId(*number)));
        names(touched.map(|(memory, _)| &memory.name).collect())
    };
    let mut found = Vec::new();
    if !effects.loads.is_empty() {
        found.push(format!("reads {}", memories(&effects.loads)));
    }
    if !effects.stores.is_empty() {
        found.push(format!("writes {}", memories(&effects.stores)));
    }
    if !effects.devices.is_empty() {
        let devices = effects.devices.iter().map(|id| &isa.devices[id.index()].name).collect();
        found.push(format!("uses {}", names(devices)));
    }
    if effects.jumps {
        found.push("may jump".to_owned());
    }
    if effects.halts {
        found.push("may halt".to_owned());
    }
    if effects.faults {
        found.push("may fault".to_owned());
    }
    found
}
