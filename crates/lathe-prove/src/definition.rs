//! Claims about definitions alone: that two describe one machine, and that instructions do not change a register.

use lathe_isa::Isa;
use lathe_isa::model::{InstructionId, RegisterId};

use crate::compare::{self, Same};
use crate::meaning::{self, Outcome, Row, State};
use crate::script::{Condition, Script};
use crate::{Query, Watch};

/// Why two definitions cannot be compared step by step: one has something that the other lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Different(pub String);

/// A row of each of two definitions; `None` stands for bits that no row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair(pub Option<InstructionId>, pub Option<InstructionId>);

/// Returns the pairs of rows that may share an encoding. Two definitions describe one machine if both rows of each pair
/// do the same.
///
/// # Errors
/// If their memories, registers or devices differ: the first difference.
pub fn pairs(a: &Isa, b: &Isa) -> Result<Vec<Pair>, Different> {
    comparable(a, b)?;
    let mut all = Vec::new();
    for (x, one) in (0..).map(InstructionId).zip(&a.instructions) {
        for (y, other) in (0..).map(InstructionId).zip(&b.instructions) {
            if one.encoding.fixed.intersection(other.encoding.fixed).is_some() {
                all.push(Pair(Some(x), Some(y)));
            }
        }
        all.push(Pair(Some(x), None));
    }
    all.extend((0..b.instructions.len() as u32).map(|y| Pair(None, Some(InstructionId(y)))));
    all.push(Pair(None, None));
    Ok(all)
}

/// Returns the query whether two rows do different things where their bits are the same.
pub fn equal(a: &Isa, b: &Isa, pair: Pair) -> Query {
    let mut script = Script::default();
    let before = State::unknown(a, &mut script);
    let longest = a.longest().max(b.longest());
    let row = |id: Option<InstructionId>| id.map_or(Row::Undefined, Row::Instruction);
    let (first, mine) = meaning::step(a, &mut script, &before, row(pair.0), longest);
    // The other definition may list its registers in another order.
    let theirs = reorder(a, b, &before);
    let (second, its) = meaning::step(b, &mut script, &theirs, row(pair.1), longest);
    script.suppose(first);
    script.suppose(second);
    let its = Outcome { state: reorder(b, a, &its.state), ..its };
    let same = outcomes(a, &mut script, &mine, &its);
    compare::refute(&mut script, &same);
    let mut told = compare::before(a, &before, &mine);
    told.extend(compare::after(a, &mut script, &mine.state, &its.state));
    told.extend(compare::held(same));
    Query::new(script, told)
}

/// Returns the query whether an instruction changes one of these registers.
pub fn keeps(isa: &Isa, id: InstructionId, registers: &[RegisterId]) -> Query {
    let mut script = Script::default();
    let before = State::with(isa, &mut script, Row::Instruction(id));
    let (stands, after) = meaning::step(isa, &mut script, &before, Row::Instruction(id), isa.longest());
    let runs = script.not(&after.replaced);
    script.suppose(stands);
    script.suppose(runs);
    let mut same = Vec::new();
    for register in registers {
        let (old, new) = (&before.registers[register.index()], &after.state.registers[register.index()]);
        same.push((isa.register(*register).name.clone(), script.equal(old, new)));
    }
    compare::refute(&mut script, &same);
    let mut told = compare::before(isa, &before, &after);
    told.extend(compare::held(same));
    for register in registers {
        let (old, new) = (&before.registers[register.index()], &after.state.registers[register.index()]);
        told.push(Watch::After(isa.register(*register).name.clone(), old.node, new.node));
    }
    Query::new(script, told)
}

/// Checks that both have the same memories, registers and devices.
fn comparable(a: &Isa, b: &Isa) -> Result<(), Different> {
    let missing = |what: &str, name: &str, isa: &Isa| Different(format!("{} has no {what} `{name}`", isa.name));
    let otherwise = |what: &str, name: &str| Different(format!("{what} `{name}` is not the same in both"));
    for (one, other) in [(a, b), (b, a)] {
        for register in &one.registers {
            let found = other.registers.iter().find(|known| known.name == register.name);
            let found = found.ok_or_else(|| missing("register", &register.name, other))?;
            let is_same = |x: u64, y: u64| !register.constant || x == y;
            if (found.width, found.constant, found.mode) != (register.width, register.constant, register.mode)
                || !is_same(found.reset, register.reset)
            {
                return Err(otherwise("register", &register.name));
            }
        }
        for (at, memory) in one.memories.iter().enumerate() {
            let found = other.memories.get(at).filter(|known| known.name == memory.name);
            let found = found.ok_or_else(|| missing("memory", &memory.name, other))?;
            if (found.address, found.cell) != (memory.address, memory.cell) {
                return Err(otherwise("memory", &memory.name));
            }
        }
        for (at, device) in one.devices.iter().enumerate() {
            let found = other.devices.get(at).filter(|known| known.name == device.name);
            let found = found.ok_or_else(|| missing("device", &device.name, other))?;
            if found.kind != device.kind {
                return Err(otherwise("device", &device.name));
            }
        }
    }
    if (a.pc.width, a.pc.memory) != (b.pc.width, b.pc.memory) {
        return Err(otherwise("program counter", &a.pc.name));
    }
    Ok(())
}

/// Returns the state of one definition with its registers in the order of another.
fn reorder(from: &Isa, to: &Isa, state: &State) -> State {
    let place = |name: &str| from.registers.iter().position(|known| known.name == name).unwrap_or(0);
    let registers = to.registers.iter().map(|register| state.registers[place(&register.name)]).collect();
    State { registers, ..state.clone() }
}

/// Returns what must be the same in two outcomes.
fn outcomes(isa: &Isa, script: &mut Script, mine: &Outcome, its: &Outcome) -> Vec<Same> {
    let mut same = compare::states(isa, script, &mine.state, &its.state);
    let failed = |outcome: &Outcome| outcome.fault.as_ref().map_or(Condition::never(), |fault| fault.condition);
    let (one, other) = (failed(mine), failed(its));
    let flags = [("faults", one, other), ("halts", mine.halted, its.halted)];
    for (name, one, other) in flags {
        let (one, other) = (script.bit(&one), script.bit(&other));
        same.push((name.to_owned(), script.equal(&one, &other)));
    }
    let works = script.not(&one);
    let cycles = script.equal(&mine.cycles, &its.cycles);
    same.push(("cycles".to_owned(), script.implies(&works, &cycles)));
    // The same message for the same reason; where nothing faults, no reason applies.
    for (condition, message, detail) in mine.fault.iter().flat_map(|fault| &fault.causes) {
        let mut found = Condition::never();
        for (where_, other, number) in its.fault.iter().flat_map(|fault| &fault.causes) {
            let numbers = match (detail, number) {
                (Some(x), Some(y)) if x.bits == y.bits => script.equal(x, y),
                (None, None) => Condition::always(),
                _ => Condition::never(),
            };
            if message == other {
                let both = script.and(where_, &numbers);
                found = script.or(&found, &both);
            }
        }
        same.push((format!("the fault `{message}`"), script.implies(condition, &found)));
    }
    same
}
