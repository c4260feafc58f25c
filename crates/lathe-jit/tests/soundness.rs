//! What safe code can do to an engine: give it a state of another machine, leave it little address space, run it on a
//! small stack. None of this may abort, or reach memory that is not the machine's.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Fault, FaultCause, Interpreter, Memory, Run, State, Stop};

/// Makes a machine that counts, and stores at addresses all over its memory.
fn machine(registers: u32, address: u32, cell: u32) -> Arc<Isa> {
    let more: String = (0..registers).map(|number| format!("register x{number} : u16\n")).collect();
    let text = format!(
        "machine m \"m\"\nmemory ram : u{address} -> u{cell}\npc pc : u{address} in ram\nregister a : u{address}\n{more}\
         register v : u{cell}\ninstructions {{\n  step | {:0cell$b} | a = a + 37; v = v + 1; ram[a | (1 << {})] = v; pc = 0\n  \
         halt | {:0cell$b} | halt\n}}\n",
        1,
        address - 1,
        0,
        cell = cell as usize,
    );
    load(&text)
}

fn load(text: &str) -> Arc<Isa> {
    let loaded = lathe_isa::load(text);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics)))
}

fn looping(isa: &Isa) -> State {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).set(0, 1);
    state
}

fn run(isa: &Isa, engine: &mut dyn Engine, state: &mut State) -> Run {
    engine.run(state, &mut Devices::new(isa, Console::default()), 10_000)
}

/// Returns the engines, which have compiled what they run.
fn engines(isa: &Arc<Isa>) -> [Box<dyn Engine>; 3] {
    let mut engines: [Box<dyn Engine>; 3] =
        [Box::new(Interpreter::new(isa)), Box::new(Fast::new(isa)), Box::new(Jit::with_threshold(isa, 2))];
    for engine in &mut engines {
        assert_eq!(run(isa, &mut **engine, &mut looping(isa)).stop, Stop::Limit);
    }
    engines
}

#[test]
fn a_state_of_another_machine_is_refused() {
    let isa = machine(40, 16, 8);
    let refused = Stop::Fault(Fault { pc: 0, cause: FaultCause::ForeignState });
    let others = [machine(0, 16, 8), machine(40, 12, 8), machine(40, 16, 16), machine(40, 24, 8), machine(50, 16, 8)];
    for mut engine in engines(&isa) {
        for other in &others {
            let mut state = looping(other);
            let found = run(&isa, &mut *engine, &mut state);
            assert_eq!((found.stop, found.steps), (refused.clone(), 0));
            assert_eq!(state, looping(other));
        }
        assert_eq!(run(&isa, &mut *engine, &mut looping(&isa)).stop, Stop::Limit, "its own state still runs");
    }
}

/// A memory of another shape in an otherwise valid state, and a register with too many bits.
#[test]
fn a_state_with_a_foreign_part_is_refused() {
    let isa = machine(2, 16, 8);
    let refused = Stop::Fault(Fault { pc: 0, cause: FaultCause::ForeignState });
    for mut engine in engines(&isa) {
        for other in [machine(2, 8, 8), machine(2, 16, 16), machine(2, 24, 8)] {
            let mut state = looping(&isa);
            *state.memory_mut(MemoryId(0)) = Memory::new(other.memory(MemoryId(0)));
            assert_eq!(run(&isa, &mut *engine, &mut state).stop, refused);
        }
        let mut state = looping(&isa);
        state.registers_mut()[0] = 1 << 16;
        assert_eq!(run(&isa, &mut *engine, &mut state).stop, refused);
    }
}

/// Makes a machine with sixteen memories, each as large as the remaining address space.
fn sixteen() -> Arc<Isa> {
    let memories: String = (1..16).map(|number| format!("memory m{number} : u32 -> u8\n")).collect();
    let stores: String = (1..16).map(|number| format!("; m{number}[a] = a[7:0]")).collect();
    let text = format!(
        "machine m \"m\"\nmemory m0 : u32 -> u8\n{memories}pc pc : u32 in m0\nregister a : u32\n\
         instructions {{\n  step | 0x01 | a = a + 0x01000193{stores}; pc = 0\n  halt | 0x00 | halt\n}}\n"
    );
    load(&text)
}

/// The test below runs this one in a process with little address space.
#[test]
fn sixteen_large_memories_agree() {
    let isa = sixteen();
    let (mut found, mut expected) = (looping(&isa), looping(&isa));
    let mut devices = Devices::new(&isa, Console::default());
    let run = Jit::with_threshold(&isa, 2).run(&mut found, &mut devices, 300);
    assert_eq!(run, Interpreter::new(&isa).run(&mut expected, &mut devices, 300));
    assert!(found == expected);
}

#[test]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_types, reason = "a limit of address space is that of a process")]
fn little_address_space_is_no_reason_to_abort() {
    let this = std::env::current_exe().expect("it runs");
    for kibibytes in [1_000_000u64, 4_240_000, 4_400_000, 8_600_000, 12_900_000, 40_000_000] {
        let limited = format!("ulimit -v {kibibytes} && exec \"$0\" --exact sixteen_large_memories_agree");
        let output =
            std::process::Command::new("sh").args(["-c", &limited]).arg(&this).output().expect("there is a shell");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{kibibytes} KiB: {text}");
    }
}

/// Everything works on a thread with a small stack, however long a chain the instructions of a region form.
#[test]
fn a_small_stack_is_enough() {
    let isa = load(
        "machine m \"m\"\nmemory ram : u16 -> u8\npc pc : u16 in ram\nregister a : u16\nregister b : u16\n\
         instructions {\n  mix  | 0x01 | a = (a ^ b) * 5 + (a >> 3); b = b ^ (a << 1)\n  again | 0x02 | pc = 0\n  halt | 0x00 | halt\n}\n",
    );
    let work = move || {
        for length in [10, 200, 900, 3_000] {
            let mut state = State::new(&isa);
            state.memory_mut(isa.pc.memory).fill(std::iter::repeat_n(1, length).chain([2]));
            let mut expected = state.clone();
            let mut devices = Devices::new(&isa, Console::default());
            let limit = 20 * length as u64;
            let run = Jit::with_threshold(&isa, 2).run(&mut state, &mut devices, limit);
            assert_eq!(run, Interpreter::new(&isa).run(&mut expected, &mut devices, limit));
            assert_eq!(state, expected);
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("there are threads").join().expect("it works");
}
