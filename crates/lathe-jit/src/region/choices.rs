//! Turns branches over a few instructions into choices between values, which cost no jump and let the block go on.

use lathe_values::{Store, ValueId};

use super::Event;
use super::block::{BlockBuilder, Path};

/// The most instructions that a branch may skip to become a choice between values.
const SKIPPED: u64 = 5;

impl BlockBuilder<'_, '_> {
    /// Turns a branch over a few harmless instructions into choices between values. Returns whether it has.
    pub(super) fn choose_instead(
        &mut self,
        condition: ValueId,
        taken: u64,
        other: u64,
        path: &mut Path,
        events: &mut Vec<Event>,
    ) -> bool {
        let tried = self.skipped(path, other, taken).map(|skipped| (self.graph.not(condition), skipped, taken));
        let tried = tried.or_else(|| self.skipped(path, taken, other).map(|skipped| (condition, skipped, other)));
        let Some((executed, (skipped, loads), target)) = tried else { return false };
        for load in loads {
            self.flush_for(load, path, events);
            events.push(Event::Load(load));
        }
        let mut frame = skipped.frame;
        for (register, before) in frame.registers.iter_mut().zip(&path.frame.registers) {
            *register = self.graph.choose(executed, *register, *before);
        }
        // If the instructions are skipped, their cells are written too, with the values they get anyway.
        for store in skipped.pending {
            let same = |other: &&mut Store| other.is_to_cell_of(&store);
            if let Some(before) = path.pending.iter_mut().find(same).filter(|before| before.value != store.value) {
                before.value = self.graph.choose(executed, store.value, before.value);
                frame.store(&self.graph, before);
            }
        }
        path.frame = frame;
        path.steps = self.graph.choose(executed, skipped.steps, path.steps);
        path.cycles = self.graph.choose(executed, skipped.cycles, path.cycles);
        path.count = skipped.count;
        path.pc = target;
        true
    }

    /// Returns the machine after the instructions from `from` up to `to`, and their loads, if they are few and change
    /// only registers and cells that will be written anyway.
    fn skipped(&mut self, path: &Path, from: u64, to: u64) -> Option<(Path, Vec<ValueId>)> {
        let distance = self.discovery.isa.pc.width.wrap(to.wrapping_sub(from));
        if distance == 0 || distance > SKIPPED * 4 {
            return None;
        }
        let mut path = Path { pc: from, ..path.clone() };
        let (mut loads, mut stores) = (Vec::new(), false);
        let mut passed = Vec::new();
        for _ in 0..SKIPPED {
            if path.pc == to {
                // A load may have to wait for a delayed store, whose value can then no longer be chosen.
                if stores && loads.iter().any(|load| !self.is_clear(*load, &path)) {
                    return None;
                }
                self.discovery.instructions.extend(passed);
                return Some((path, loads));
            }
            if self.discovery.leaders.contains_key(&path.pc) || self.discovery.ends_before(path.pc) {
                return None;
            }
            let decoded = self.discovery.decode(path.pc);
            if decoded.reading.is_volatile() {
                return None;
            }
            let effects = self.effects(&decoded, &path)?;
            let written = effects.stores.iter().all(|store| self.is_written_anyway(store, &path));
            let harmless = effects.bails.is_empty() && written;
            if !harmless || self.graph.as_constant(effects.next) != Some(decoded.next) || decoded.next == path.pc {
                return None;
            }
            passed.push((path.pc, decoded.clone()));
            loads.extend_from_slice(&effects.loads);
            stores |= !effects.stores.is_empty();
            self.advance(&decoded, effects, &mut path, &mut Vec::new());
            path.pc = decoded.next;
        }
        None
    }
}
