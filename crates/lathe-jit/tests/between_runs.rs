//! Whatever others do to a state between two runs, engines go on from the changed state; a state that nobody has
//! touched need not be checked.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

const MACHINE: &str = r#"
machine between "A loop whose code others change"
memory ram : u8 -> u8
pc pc : u8 in ram
register a    : u16
mode     wide : u1
field N : u8
instructions {
  add N   | 0000 0001 NNNNNNNN where wide == 0 | a = a + zext(N)
  twice N | 0000 0001 NNNNNNNN where wide == 1 | a = a + zext(N) + zext(N)
  again   | 0000 0010                          | pc = 0
}
"#;

const ADD: u64 = 1;
const AGAIN: u64 = 2;

/// Long enough for the loop to be compiled.
const STEPS: u64 = 20_000;

/// A change that somebody makes to a state.
type Change = fn(&Isa, &mut State);

const CHANGES: &[(&str, Change)] = &[
    ("nothing", |_, _| {}),
    ("a cell of the code", |isa, state| state.memory_mut(isa.pc.memory).set(1, 7)),
    ("an opcode", |isa, state| state.memory_mut(isa.pc.memory).set(2, AGAIN)),
    ("a cell, as engines do", |isa, state| state.parts_mut().1[isa.pc.memory.index()].set(1, 9)),
    ("a register that decides how code is read", |isa, state| {
        let wide = isa.registers.iter().position(|register| register.name == "wide").expect("it has one");
        state.registers_mut()[wide] ^= 1;
    }),
    ("the same, by its name", |isa, state| {
        let wide = isa.place_named("wide").expect("it has one");
        state.set_place(isa, &wide, state.place(&wide) ^ 1);
    }),
    ("a snapshot of it with other code", |isa, state| {
        let mut other = state.clone();
        other.memory_mut(isa.pc.memory).set(3, 11);
        state.restore(&other.snapshot());
    }),
    ("another state in its place", |isa, state| {
        let mut other = state.clone();
        other.memory_mut(isa.pc.memory).set(1, 13);
        *state = other;
    }),
    ("a snapshot is taken", |_, state| _ = state.snapshot()),
];

#[test]
fn engines_see_what_others_have_changed() {
    let isa = Arc::new(lathe_isa::load(MACHINE).isa.expect("the definition is right"));
    let engines: [(&str, Box<dyn Engine>); 2] =
        [("fast", Box::new(Fast::new(&isa))), ("jit", Box::new(Jit::with_threshold(&isa, 10)))];
    for (name, mut engine) in engines {
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill([ADD, 3, ADD, 5, AGAIN]);
        let mut expected = state.clone();
        let mut devices = Devices::new(&isa, Console::default());
        for (what, change) in CHANGES.iter().chain(CHANGES) {
            let found = engine.run(&mut state, &mut devices, STEPS);
            assert_eq!(found, Interpreter::new(&isa).run(&mut expected, &mut devices, STEPS), "{name}, before {what}");
            assert_eq!(state, expected, "{name}, before {what}");
            change(&isa, &mut state);
            change(&isa, &mut expected);
        }
    }
}

/// A stamp stays if nothing can have changed, and goes away with every possible change.
#[test]
fn a_stamp_is_lost_with_every_change() {
    let isa = Arc::new(lathe_isa::load(MACHINE).isa.expect("the definition is right"));
    for (what, change) in CHANGES {
        let mut state = State::new(&isa);
        let stamp = state.stamp();
        let copy = state.clone();
        change(&isa, &mut state);
        assert_eq!(state.has(stamp), ["nothing", "a snapshot is taken"].contains(what), "{what}");
        assert!(copy.has(stamp));
    }
    let (mut one, mut other) = (State::new(&isa), State::new(&isa));
    assert_ne!(one.stamp(), other.stamp());
}
