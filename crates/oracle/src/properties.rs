//! Tests of what every model guarantees, whatever the program: run on random memory and random registers, comparing the
//! whole state around each step.
//!
//! Not for the meaning of single instructions; those tests are in the module
//! of each machine.

use crate::{Console, Model, Outcome, all, by_name};

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// The whole state: all registers, then all memories.
#[derive(PartialEq)]
struct State {
    registers: Vec<u64>,
    memories: Vec<Vec<u8>>,
}

fn state(model: &dyn Model) -> State {
    State {
        registers: model.registers().iter().map(|(name, _)| model.register(name)).collect(),
        memories: model.memories().iter().map(|(name, _)| model.memory(name).to_vec()).collect(),
    }
}

fn randomize(model: &mut dyn Model, random: &mut Random) {
    for (name, _) in model.registers() {
        model.set_register(name, random.next());
    }
    for (name, _) in model.memories() {
        for cell in model.memory_mut(name) {
            *cell = (random.next() >> 32) as u8;
        }
    }
}

fn assert_differences_are_touched(model: &dyn Model, before: &State, after: &State) {
    for (index, (old, new)) in before.memories.iter().zip(&after.memories).enumerate() {
        if old == new {
            continue;
        }
        for address in (0..old.len()).filter(|&address| old[address] != new[address]) {
            assert!(
                model.touched().contains(&(index, address as u16)),
                "{} wrote cell {address:04X} of memory {index} unseen",
                model.name()
            );
        }
    }
}

#[test]
fn every_step_keeps_its_promises() {
    for mut model in all() {
        let model = model.as_mut();
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut console = Console::with_input(b"some input");
        for _ in 0..20 {
            randomize(model, &mut random);
            for _ in 0..200 {
                let before = state(model);
                let console_before = console.clone();
                let outcome = model.step(&mut console);
                let after = state(model);
                assert_differences_are_touched(model, &before, &after);
                let unchanged = before == after;
                match outcome {
                    Outcome::Running => {
                        assert!(!unchanged || console != console_before, "{}", model.name());
                    }
                    Outcome::Halted => {}
                    Outcome::Fault(_) => {
                        assert!(unchanged && console == console_before, "{}", model.name());
                        assert!(model.touched().is_empty());
                        model.set_register("pc", random.next());
                    }
                }
            }
        }
    }
}

#[test]
fn the_five_machines_are_there_by_name() {
    let names: Vec<_> = all().iter().map(|model| model.name()).collect();
    assert_eq!(names, ["quad8", "duo16", "stack8a", "stack8b", "hex8"]);
    for name in names {
        assert_eq!(by_name(name).map(|model| model.name()), Some(name));
    }
    assert!(by_name("z80").is_none());
}

#[test]
fn registers_and_memories_read_back_what_was_set_in_their_width() {
    for mut model in all() {
        for &(name, width) in model.registers() {
            model.set_register(name, u64::MAX);
            assert_eq!(model.register(name), (1 << width) - 1, "{name}");
            model.set_register(name, 1);
            assert_eq!(model.register(name), 1, "{name}");
        }
        for &(name, cells) in model.memories() {
            model.memory_mut(name)[cells - 1] = 0xA5;
            assert_eq!(model.memory(name).len(), cells);
            assert_eq!(model.memory(name)[cells - 1], 0xA5);
        }
    }
}
