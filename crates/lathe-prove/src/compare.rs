//! Two outcomes of one step, side by side: what must be the same in them, and what to report if something is not.

use lathe_isa::Isa;

use crate::Watch;
use crate::graph::Node;
use crate::meaning::{Outcome, State};
use crate::script::{Condition, Script};

/// Something that must hold, with its name.
pub(crate) type Same = (String, Condition);

/// Compares program counter, registers, cells, and the requests to devices and their arguments.
pub(crate) fn states(isa: &Isa, script: &mut Script, mine: &State, its: &State) -> Vec<Same> {
    let mut same = vec![(isa.pc.name.clone(), script.equal(&mine.pc, &its.pc))];
    for ((register, mine), its) in isa.registers.iter().zip(&mine.registers).zip(&its.registers) {
        same.push((register.name.clone(), script.equal(mine, its)));
    }
    for ((memory, mine), its) in isa.memories.iter().zip(&mine.memories).zip(&its.memories) {
        let any = script.unknown(&format!("any {}", memory.name), memory.address.bits());
        let (one, other) = (script.get(mine, &any), script.get(its, &any));
        same.push((format!("every cell of {}", memory.name), script.equal(&one, &other)));
    }
    for ((device, mine), its) in isa.devices.iter().zip(&mine.devices).zip(&its.devices) {
        let any = script.unknown(&format!("any {}", device.name), mine.writes.bits);
        let (one, other) = (script.get(&mine.given, &any), script.get(&its.given, &any));
        same.push((format!("what is read from {}", device.name), script.equal(&mine.reads, &its.reads)));
        same.push((format!("how much is given to {}", device.name), script.equal(&mine.writes, &its.writes)));
        same.push((format!("what is given to {}", device.name), script.equal(&one, &other)));
    }
    same
}

/// Claims that all of these hold, by asking for a case in which one does not.
pub(crate) fn refute(script: &mut Script, same: &[Same]) {
    let all = script.all(same.iter().map(|(_, condition)| *condition));
    let fails = script.not(&all);
    script.suppose(fails);
}

/// Reports the state before a step.
pub(crate) fn before(isa: &Isa, state: &State, meant: &Outcome) -> Vec<Watch> {
    let state = values(isa, state).into_iter().map(|(name, term)| Watch::Before(name, term));
    let code = meant.window.iter().map(|cell| Watch::Code(cell.node));
    let reads = meant
        .reads
        .iter()
        .map(|(memory, address, content)| Watch::Read(isa.memory(*memory).name.clone(), address.node, content.node));
    let input = meant.input.iter().map(|value| Watch::Input(value.node));
    state.chain(code).chain(reads).chain(input).collect()
}

/// Reports the differences between two states after a step. The cells are those that [`states`] has compared.
pub(crate) fn after(isa: &Isa, script: &mut Script, mine: &State, its: &State) -> Vec<Watch> {
    let both = values(isa, mine).into_iter().zip(values(isa, its));
    let mut all: Vec<Watch> = both.map(|((name, mine), (_, its))| Watch::After(name, mine, its)).collect();
    for ((memory, mine), its) in isa.memories.iter().zip(&mine.memories).zip(&its.memories) {
        let any = script.unknown(&format!("any {}", memory.name), memory.address.bits());
        let (one, other) = (script.get(mine, &any), script.get(its, &any));
        all.push(Watch::Cell(memory.name.clone(), any.node, one.node, other.node));
    }
    all
}

/// Reports conditions that should hold.
pub(crate) fn held(same: Vec<Same>) -> impl Iterator<Item = Watch> {
    same.into_iter().map(|(name, condition)| Watch::Same(name, condition.0))
}

/// Returns the program counter and the registers that can change, by name.
fn values(isa: &Isa, state: &State) -> Vec<(String, Node)> {
    let registers = isa.registers.iter().zip(&state.registers).filter(|(register, _)| !register.constant);
    std::iter::once((isa.pc.name.clone(), state.pc.node))
        .chain(registers.map(|(register, term)| (register.name.clone(), term.node)))
        .collect()
}
