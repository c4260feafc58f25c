//! What a static translator must know but cannot see: which addresses hold instructions, and where computed jumps lead.
//! A run of the reference interpreter provides both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lathe_asm::Image;
use lathe_embed::lay_down;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_isa::operand::Location;
use lathe_isa::semantics::{Body, Expr, Statement};
use lathe_isa::specialize::specialize;
use lathe_vm::{Console, Devices, Interpreter, State};

use super::NoTranslation;

/// Steps after which every benchmark program has reached all of its code.
const STEPS: u64 = 5_000_000;
/// The most cells of a memory that becomes a C array.
const CELLS: u64 = 1 << 24;

/// The code of a program.
pub(super) struct Profile {
    pub(super) entry: u64,
    pub(super) instructions: BTreeMap<u64, Translatable>,
    /// Where blocks begin.
    pub(super) leaders: BTreeSet<u64>,
    /// The first contents of the memories.
    pub(super) cells: Vec<(MemoryId, u64, u64)>,
}

/// An instruction at its address.
pub(super) struct Translatable {
    pub(super) body: Body,
    pub(super) next: u64,
    /// The cells that it was decoded from.
    cells: u32,
    window: u128,
}

impl Translatable {
    fn at(isa: &Isa, state: &State, pc: u64) -> Option<Translatable> {
        let decoded = isa.decode(state.window(isa, pc, isa.longest()))?;
        let cells = isa.instruction(decoded.instruction).encoding.cells;
        let next = isa.pc.width.wrap(pc.wrapping_add(u64::from(cells)));
        let body =
            specialize(isa, &decoded, Location { pc, next, width: isa.pc.width }).cell_by_cell(isa, &|_, _| true);
        Some(Translatable { body, next, cells, window: state.window(isa, pc, cells) })
    }

    /// Returns the targets of its jumps; none if execution always goes on at the next instruction.
    pub(super) fn jumps(&self) -> Vec<&Expr> {
        let mut targets = Vec::new();
        collect(&self.body.block, &mut targets);
        targets
    }
}

fn collect<'b>(block: &'b [Statement], targets: &mut Vec<&'b Expr>) {
    for statement in block {
        match statement {
            Statement::Jump(target) => targets.push(target),
            Statement::If { then, otherwise, .. } => {
                collect(then, targets);
                collect(otherwise, targets);
            }
            _ => {}
        }
    }
}

impl Profile {
    /// Runs a program for a while, and records where it has been.
    pub(super) fn of(isa: &Arc<Isa>, image: &Image) -> Result<Profile, NoTranslation> {
        if isa.memories.iter().any(|memory| memory.last() >= CELLS) {
            return Err(NoTranslation::LargeMemory);
        }
        let mut state = State::new(isa);
        lay_down(image, isa, &mut state);
        let memories = (0..isa.memories.len() as u32).map(MemoryId);
        let cells = |id| state.memory(id).nonzero().into_iter().map(move |(address, value)| (id, address, value));
        let cells = memories.flat_map(cells).collect();
        let entry = state.pc;
        let mut profile = Profile { entry, instructions: BTreeMap::new(), leaders: BTreeSet::from([entry]), cells };
        profile.follow(isa, &mut state)?;
        Ok(profile)
    }

    fn follow(&mut self, isa: &Arc<Isa>, state: &mut State) -> Result<(), NoTranslation> {
        let mut devices = Devices::new(isa, Console::default());
        let mut interpreter = Interpreter::new(isa);
        for _ in 0..STEPS {
            let pc = state.pc;
            let next = self.visit(isa, state)?;
            if interpreter.step(state, &mut devices).stop.is_some() {
                return Err(NoTranslation::Stops);
            }
            if state.pc != next {
                self.leaders.insert(state.pc);
            }
            if state.pc != next || !self.instructions[&pc].jumps().is_empty() {
                self.leaders.insert(next);
            }
        }
        self.leaders.retain(|leader| self.instructions.contains_key(leader));
        Ok(())
    }

    /// Records the instruction at the program counter; returns the address after it.
    fn visit(&mut self, isa: &Isa, state: &State) -> Result<u64, NoTranslation> {
        let pc = state.pc;
        if let Some(known) = self.instructions.get(&pc) {
            let same = state.window(isa, pc, known.cells) == known.window;
            return if same { Ok(known.next) } else { Err(NoTranslation::ChangesItself) };
        }
        let found = Translatable::at(isa, state, pc).ok_or(NoTranslation::Stops)?;
        Ok(self.instructions.entry(pc).or_insert(found).next)
    }

    /// Returns how many instructions there are from a leader to the end of its block.
    pub(super) fn block_length(&self, leader: u64) -> u64 {
        let mut length = 1;
        let mut next = self.instructions[&leader].next;
        while !self.leaders.contains(&next) && self.instructions.contains_key(&next) {
            length += 1;
            next = self.instructions[&next].next;
        }
        length
    }
}
