//! The escape suite: guest programs reach nothing but the guest, whatever they do, and hostile definitions are refused
//! or handled within limits.
//!
//! The pages around guest memory are inaccessible to the process itself, so a stray access by compiled code would end
//! the test with a signal.

#![cfg(target_os = "linux")]
// The tests look at the process from outside.
#![allow(clippy::disallowed_methods)]

use std::ops::RangeInclusive;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_isa::model::{InstructionId, MemoryId, RegisterId};
use lathe_jit::Jit;
use lathe_tests::random::Random;
use lathe_vm::{Console, Devices, Engine, Interpreter, State, Stop};

/// Compiles almost at once.
const THRESHOLD: u32 = 2;
/// Programs of each machine that must have been compiled.
const COMPILED: usize = 10;

fn shipped() -> impl Iterator<Item = Arc<Isa>> {
    let loaded = lathe_machines::ALL.iter().map(|one| lathe_isa::load_with(one.source(), &lathe_machines::Shipped));
    loaded.map(|loaded| Arc::new(loaded.isa.expect("the definition is right")))
}

/// Returns a number, mostly near the limits of a register or an address.
fn value(random: &mut Random) -> u64 {
    match random.below(4) {
        0 => 0u64.wrapping_sub(random.below(4)),
        1 => random.below(4),
        _ => random.number(),
    }
}

/// Makes a machine whose memories are full of instructions with arbitrary operands, so that a jump to anywhere finds
/// some.
fn scrambled(isa: &Isa, random: &mut Random) -> State {
    let mut state = State::new(isa);
    for id in (0..isa.memories.len() as u32).map(MemoryId) {
        let count = isa.memory(id).last().min((1 << 16) - 1) + 1;
        let program: Vec<u64> = (0..1 + random.below(20)).flat_map(|_| instruction(isa, random)).collect();
        state.memory_mut(id).fill(program.into_iter().cycle().take(count as usize));
    }
    for id in (0..isa.registers.len() as u32).map(RegisterId) {
        let place = lathe_isa::model::Place::whole(id, isa.register(id).width);
        state.set_place(isa, &place, isa.register(id).width.wrap(value(random)));
    }
    state.pc = isa.pc.width.wrap(value(random));
    state
}

fn instruction(isa: &Isa, random: &mut Random) -> Vec<u64> {
    let id = InstructionId(random.below(isa.instructions.len() as u64) as u32);
    let encoding = &isa.instruction(id).encoding;
    let operands: Vec<u64> = encoding.operands.iter().map(|_| value(random)).collect();
    cells(encoding.encode(&operands), isa.code_memory().cell).take(encoding.cells as usize).collect()
}

#[derive(Clone, Debug)]
struct Mapped {
    addresses: RangeInclusive<u64>,
    permissions: String,
}

/// Returns the present mappings of the process.
fn mapped() -> Vec<Mapped> {
    let text = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (first, end) = words.next()?.split_once('-')?;
        let (first, end) = (u64::from_str_radix(first, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        Some(Mapped { addresses: first..=end - 1, permissions: words.next()?.to_owned() })
    };
    text.lines().map(|text| line(text).expect("each line has a range and permissions")).collect()
}

fn assert_nothing_is_writable_and_executable() {
    for mapped in mapped() {
        let both = mapped.permissions.contains('w') && mapped.permissions.contains('x');
        assert!(!both, "{mapped:x?}");
    }
}

fn permissions_at(mapped: &[Mapped], address: u64) -> &str {
    let found = mapped.iter().find(|mapped| mapped.addresses.contains(&address));
    found.map_or("not mapped", |mapped| &mapped.permissions)
}

#[test]
fn arbitrary_programs_stay_between_guard_pages() {
    let mut random = Random(0x0123_4567_89AB_CDEF);
    for isa in shipped() {
        let mut compiled = 0;
        for _ in 0..2_000 {
            if compiled == COMPILED {
                break;
            }
            let mut state = scrambled(&isa, &mut random);
            let mut expected = state.clone();
            let mut devices = Devices::new(&isa, Console::with_input([1, 2, 3]));
            let mut jit = Jit::with_threshold(&isa, THRESHOLD);
            let run = jit.run(&mut state, &mut devices, 3_000);
            let mut devices = Devices::new(&isa, Console::with_input([1, 2, 3]));
            assert_eq!(run, Interpreter::new(&isa).run(&mut expected, &mut devices, 3_000), "{}", isa.name);
            assert_eq!(state, expected, "{}", isa.name);
            if jit.statistics().entries > 0 {
                compiled += 1;
                assert_guarded(&isa, &mut state);
                assert_nothing_is_writable_and_executable();
            }
        }
        assert_eq!(compiled, COMPILED, "{}: too few programs loop", isa.name);
    }
}

/// Asserts that every memory lies between inaccessible pages, and that its spare bytes are untouched.
fn assert_guarded(isa: &Isa, state: &mut State) {
    let now = mapped();
    for id in (0..isa.memories.len() as u32).map(MemoryId) {
        let described = isa.memory(id);
        let padding = state.memory(id).padding();
        assert!(padding.iter().all(|byte| *byte == 0), "{}: the padding was written", isa.name);
        let each = if described.cell.bits() <= 8 { 1 } else { 8 };
        let bytes = described.cells() as u64 * each + padding.len() as u64;
        let first = state.memory_mut(id).cells_pointer(described).expect("compiled code has run on it") as u64;
        let last = first + bytes - 1;
        assert_eq!(permissions_at(&now, first), "rw-p");
        assert_eq!(permissions_at(&now, first - 1), "---p");
        let mapping = now.iter().find(|mapped| mapped.addresses.contains(&last)).expect("it is mapped");
        assert_eq!(permissions_at(&now, mapping.addresses.end() + 1), "---p");
    }
}

/// Code that changes itself is compiled and freed again and again, while another thread watches.
#[test]
fn no_page_is_ever_writable_and_executable() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                assert_nothing_is_writable_and_executable();
            }
        });
        let mut random = Random(42);
        for isa in shipped() {
            for _ in 0..30 {
                let mut state = scrambled(&isa, &mut random);
                let mut devices = Devices::new(&isa, Console::default());
                Jit::with_threshold(&isa, THRESHOLD).run(&mut state, &mut devices, 2_000);
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// Runs a definition's machine, whose memory is all zero except for these cells, on both engines.
fn agree(definition: &str, cells: &[u64], limit: u64) -> Stop {
    let loaded = lathe_isa::load(definition);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let run = |engine: &mut dyn Engine| {
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).fill(cells.iter().copied());
        let mut devices = Devices::new(&isa, Console::default());
        (engine.run(&mut state, &mut devices, limit), state)
    };
    let expected = run(&mut Interpreter::new(&isa));
    assert_eq!(run(&mut Jit::with_threshold(&isa, THRESHOLD)), expected);
    expected.0.stop
}

#[test]
fn huge_memories_cost_only_what_is_used() {
    let definition = r#"
machine huge "Memories of four gigacells"
memory code : u32 -> u8
memory data : u32 -> u64
pc pc : u32 in code
register a : u32
instructions {
  fill | 0000 0001 | data[a] = zext(a); a = a - 0x1000_0001
  back | 0000 0010 | pc = 0
  halt | 0000 0000 | halt
}
"#;
    assert_eq!(agree(definition, &[1, 1, 2], 10_000), Stop::Limit);
}

#[test]
fn deep_and_wide_meanings_are_compiled_or_left_alone() {
    let deep = (0..20).fold("a".to_owned(), |inner, at| format!("({inner} + b * {at})"));
    let wide: String = (0..100).map(|at| format!("if a[0] {{ m[a + {at}] = b }} else {{ a = a ^ m[b] }}; ")).collect();
    let definition = format!(
        r#"
machine deep "Large meanings"
memory m : u16 -> u8
memory d : u16 -> u8
pc pc : u16 in d
register a : u16
register b : u8
instructions {{
  deep | 0000 0001 | b = {}
  wide | 0000 0010 | {}
  back | 0000 0011 | pc = 0; a = a + 1
  halt | 0000 0000 | halt
}}
"#,
        deep.replace('a', "a[7:0]"),
        wide.replace("a ^ m[b]", "a ^ zext(m[zext(b)])"),
    );
    assert_eq!(agree(&definition, &[1, 2, 1, 3], 3_000), Stop::Limit);
}

#[test]
fn thousands_of_rows_are_compiled_like_few() {
    let rows: String = (0..4_000).map(|at| format!("  op{at} | {at:016b} | a = a * 3 + {at}\n")).collect();
    let definition = format!(
        r#"
machine rows "Thousands of rows"
memory m : u16 -> u16
pc pc : u16 in m
register a : u16
instructions {{
{rows}  back | 1111111111111111 | pc = 0
}}
"#
    );
    let cells: Vec<u64> = (0..4_000).chain([0xFFFF]).collect();
    assert_eq!(agree(&definition, &cells, 50_000), Stop::Limit);
}

/// Return addresses of two bytes, written and read at once, with one byte in the last cell and the other in the first.
#[test]
fn two_bytes_at_once_may_wrap() {
    let isa = Arc::new(
        lathe_isa::load_with(lathe_machines::find("hex8").expect("it ships").source(), &lathe_machines::Shipped)
            .isa
            .expect("it is right"),
    );
    let sp = isa.place_named("sp").expect("it has a stack pointer");
    for top in [0, 1, 2, 3, 0xFFFF] {
        let mut state = State::new(&isa);
        // At 0x100: call 0x110; jmp 0x100. At 0x110: return.
        for (address, value) in [(0x100, 0x60), (0x101, 1), (0x102, 0x10), (0x103, 0x80), (0x104, 1), (0x110, 0x70)] {
            state.memory_mut(isa.pc.memory).set(address, value);
        }
        state.pc = 0x100;
        state.set_place(&isa, &sp, top);
        let mut expected = state.clone();
        let mut jit = Jit::with_threshold(&isa, THRESHOLD);
        let found = jit.run(&mut state, &mut Devices::new(&isa, Console::default()), 1_000);
        let wanted = Interpreter::new(&isa).run(&mut expected, &mut Devices::new(&isa, Console::default()), 1_000);
        assert_eq!((found, &state), (wanted, &expected), "sp = {top:#x}");
        assert!(jit.statistics().steps > 0);
        assert_guarded(&isa, &mut state);
    }
}
