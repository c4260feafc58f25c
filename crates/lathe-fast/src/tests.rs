//! Programs for what the fast interpreter does differently from the reference interpreter: compares the two at every
//! limit, and checks that the fast interpreter does it.

mod pairs;
mod together;

use std::sync::Arc;

use lathe_isa::Isa;
use lathe_vm::device::{Console, Devices};
use lathe_vm::engine::Engine;
use lathe_vm::interpreter::Interpreter;
use lathe_vm::state::State;

use super::ops::Code;
use crate::{Fast, LOWERED_AFTER};

const MACHINE: &str = r#"
machine t "Calls, a stack of data, a mode"
memory ram  : u16 -> u8 big
memory data : u8 -> u8
pc pc : u16 in ram
register a, b : u8
register sp   : u16
register mode : u1
field V : u8
field M : u16 address
instructions {
  nop      | 0x00     |
  set V    | 0x01 {V} | a = V
  add V    | 0x02 {V} | a = a + V
  call M   | 0x03 {M} | sp = sp - 2; ram[sp + 1] = next[15:8]; ram[sp] = next[7:0]; pc = M
  ret      | 0x04     | let l = ram[sp]; let h = ram[sp + 1]; sp = sp + 2; pc = h ++ l
  jmp M    | 0x05 {M} | pc = M
  store M  | 0x06 {M} | ram[M] = a
  load M   | 0x07 {M} | a = ram[M]
  push     | 0x08     | b = b - 1; data[b] = a
  pop      | 0x09     | a = data[b]; b = b + 1
  switch   | 0x0A     | mode = ~mode
  inc      | 0x0B     | if mode { a = a + 2 } else { a = a + 1 }
  xor V    | 0x0C {V} | a = a ^ V
  odd M    | 0x0D {M} | if a[0] { pc = M }
  data     | 0x0E     | a = data[a]
  self     | 0x0F     | ram[sp] = a; a = a + ram[pc]
  swap     | 0x10     | let l = ram[sp]; let h = ram[sp + 1]; ram[sp] = a; a = l; pc = h ++ l
}
"#;

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// Returns a state with a program in it, and this stack pointer.
fn state(isa: &Isa, program: &[u64], sp: u64) -> State {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(program.iter().copied());
    state.registers_mut()[2] = sp;
    state
}

fn run(engine: &mut dyn Engine, isa: &Arc<Isa>, state: &mut State, limit: u64) -> lathe_vm::stops::Run {
    engine.run(state, &mut Devices::new(isa, Console::default()), limit)
}

/// Asserts that both interpreters leave the same state at every limit. Returns the fast one after the longest run.
fn agree(isa: &Arc<Isa>, program: &[u64], sp: u64, limits: std::ops::Range<u64>) -> Fast {
    let mut last = Fast::eager(isa);
    for limit in limits {
        let (mut expected, mut found) = (state(isa, program, sp), state(isa, program, sp));
        last = Fast::eager(isa);
        let runs = (run(&mut Interpreter::new(isa), isa, &mut expected, limit), run(&mut last, isa, &mut found, limit));
        assert_eq!(runs.0, runs.1, "limit {limit}, sp {sp:#x}");
        assert!(expected == found, "limit {limit}, sp {sp:#x}: {:?}, {:?}", expected.registers(), found.registers());
    }
    last
}

fn has(fast: &Fast, code: Code) -> bool {
    fast.ops.iter().any(|ready| ready.op.code == code)
}

/// Executes `inc` and `nop` in turn, and what follows.
const FLIP: &[u64] = &[0x0B, 0x08, 0x07, 0, 0, 0x0C, 0x0B, 0x06, 0, 0, 0x05, 0, 0];

#[test]
fn an_opcode_that_keeps_changing_is_found_by_its_content() {
    let isa = isa();
    let fast = agree(&isa, FLIP, 0x8000, 17..1500);
    assert_eq!(fast.volatiles.len(), 1);
    assert!(has(&fast, Code::Select));
    // The rest is not interpreted either, because the cell is not marked.
    assert!(!fast.marks.is_marked(0) && fast.marks.is_marked(1));
}

#[test]
fn what_follows_a_changing_opcode_may_change_too() {
    let isa = isa();
    let (mut expected, mut found) = (state(&isa, FLIP, 0), state(&isa, FLIP, 0));
    let (mut reference, mut fast) = (Interpreter::new(&isa), Fast::eager(&isa));
    for cell in [0x08, 0x00, 0x09, 0x0A, 0x08] {
        for state in [&mut expected, &mut found] {
            state.memory_mut(isa.pc.memory).set(1, cell);
        }
        run(&mut reference, &isa, &mut expected, 2000);
        run(&mut fast, &isa, &mut found, 2000);
        assert!(expected == found, "{cell:#x}");
    }
}

/// Executes nine instructions in turn, of one, two and three cells. The first ones are lowered with what follows them.
#[test]
fn an_instruction_may_be_many() {
    let isa = isa();
    let program = &[0x00, 0x00, 0x09, 0x06, 0, 0, 0x05, 0, 0, 0x0B];
    // `pop` skips the next one.
    let opcodes = [0x00, 0x01, 0x02, 0x07, 0x09, 0x00, 0x0A, 0x0B, 0x0C, 0x0E];
    let filled = || {
        let mut filled = state(&isa, program, 0x8000);
        filled.memory_mut(lathe_isa::model::MemoryId(1)).fill(opcodes.into_iter().cycle().take(256));
        filled
    };
    let (mut expected, mut found) = (filled(), filled());
    let (mut reference, mut fast) = (Interpreter::new(&isa), Fast::new(&isa));
    for limit in [2_000, 17, 18, 19, 20, 3_000, 21, 22, 23, 20_000] {
        let runs = (run(&mut reference, &isa, &mut expected, limit), run(&mut fast, &isa, &mut found, limit));
        assert_eq!(runs.0, runs.1);
        assert!(expected == found, "{:?}, {:?}", expected.registers(), found.registers());
    }
    assert_eq!(fast.contents(0).len(), 9);
}

#[test]
fn an_opcode_that_no_longer_changes_is_decoded_again() {
    let isa = isa();
    let (mut found, mut fast) = (state(&isa, FLIP, 0), Fast::eager(&isa));
    run(&mut fast, &isa, &mut found, 6 * 400);
    assert_eq!(found.pc, 0);
    assert!(fast.decode(&found, 0).reading.is_volatile());
    // From now on, the opcode is xored with zero.
    found.memory_mut(isa.pc.memory).set(6, 0);
    let mut expected = found.clone();
    run(&mut Interpreter::new(&isa), &isa, &mut expected, 6 * 4_000);
    run(&mut fast, &isa, &mut found, 6 * 4_000);
    assert!(expected == found);
    assert!(!fast.decode(&found, 0).reading.is_volatile());
}

/// The first cell is `nop` whenever it is executed, and the opcode of `jmp` in between.
#[test]
fn what_is_never_executed_is_not_expected() {
    let isa = isa();
    let program = &[0x00, 0x01, 0x05, 0x06, 0, 0, 0x01, 0x00, 0x06, 0, 0, 0x05, 0, 0];
    let (mut found, mut fast) = (state(&isa, program, 0x8000), Fast::eager(&isa));
    run(&mut fast, &isa, &mut found, 6 * 100 + 3);
    assert_eq!(found.memory(isa.pc.memory).get(0), 0x05);
    assert_eq!(fast.decode(&found, 0).next, 3);
    let ahead = fast.decode_ahead(&found, 0);
    assert_eq!(ahead.next, 1);
    assert!(ahead.reading.is_patched() && fast.reads_like(&found, 0, &ahead.reading));
}

/// Everywhere on the stack, across the end of the memory, and over the program.
#[test]
fn addresses_are_pushed_and_popped_at_once() {
    let isa = isa();
    let program = [0x03, 0, 8, 0x02, 3, 0x05, 0, 0, 0x0B, 0x04];
    for sp in [0, 1, 2, 3, 5, 8, 10, 12, 0x8000, 0xFFFF, 0xFFFE] {
        agree(&isa, &program, sp, 17..80);
    }
    let fast = agree(&isa, &program, 0x8000, 300..301);
    assert!(has(&fast, Code::StoreWideUnmarked));
    // The pushed address is known where it is popped.
    assert!(!has(&fast, Code::Jump));
    let fast = agree(&isa, &[0x04], 0x8000, 17..18);
    assert!(has(&fast, Code::LoadWideThenLeaveIfNumber));
    // One half of the address is in the last cell, the other in the first.
    let mut program = vec![0; 0x1_0000];
    (program[0], program[0xFFFF]) = (0x04, 0x30);
    agree(&isa, &program, 0xFFFF, 17..20);
}

/// Words at addresses of 64 bits: in one page, across the ends of pages and of the memory, and over the program.
#[test]
fn words_are_pushed_and_popped_anywhere() {
    for order in ["little", "big"] {
        let text = format!(
            "machine far \"Far\"\nmemory ram : u64 -> u8 {order}\npc pc : u64 in ram\nregister a, b, sp : u64\n\
             field J : s8 from next\ninstructions {{\n  push | 0x01 | sp = sp - 8; ram.u64[sp] = a\n  \
             pop | 0x02 | let v = ram.u64[sp]; sp = sp + 8; b = b ^ v\n  inc | 0x03 | a = a * 5 + b + 1\n  \
             walk | 0x04 | sp = sp + 0x1003\n  jump J | 0x05 {{J}} | pc = J\n}}\n"
        );
        let loaded = lathe_isa::load(&text);
        let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
        let program = [0x03, 0x01, 0x03, 0x01, 0x02, 0x02, 0x05, 0xF8];
        for sp in [0, 1, 8, 16, 0x17, 0x1000, 0x1004, 0x8000_0000_1003, u64::MAX, u64::MAX - 20] {
            agree(&isa, &program, sp, 17..60);
        }
        // One cell after the other: operations on several cells have no room for such a mask.
        let fast = agree(&isa, &program, 0x8000_0000_0804, 300..301);
        assert!(has(&fast, Code::Load) && has(&fast, Code::StoreUnmarked));
        assert!(!has(&fast, Code::LoadWide) && !has(&fast, Code::StoreWideUnmarked));
        // A new page, again and again.
        agree(&isa, &[0x03, 0x01, 0x04, 0x02, 0x05, 0xFA], u64::MAX - 0x8000, 17..400);
    }
}

#[test]
fn half_of_an_address_may_be_of_use_alone() {
    let isa = isa();
    let program = [0x01, 0x55, 0x10, 0, 0, 0, 0, 0, 0x08, 0x05, 0, 2, 8, 0];
    let fast = agree(&isa, &program, 12, 17..80);
    assert!(!has(&fast, Code::LoadWide));
    let program = [0x01, 0x55, 0x10, 0, 0, 0, 0, 0, 0x08, 0x05, 0, 0];
    agree(&isa, &program, 0x8000, 17..80);
}

#[test]
fn a_mode_is_assumed_to_stay() {
    let isa = isa();
    assert_eq!(Fast::eager(&isa).modes.len(), 1);
    let fast = agree(&isa, &[0x0B, 0x08, 0x05, 0, 0], 0, 17..200);
    assert!(fast.careful.len() == 1 && has(&fast, Code::LeaveUnlessNumber));
    // The mode still changes.
    agree(&isa, &[0x0B, 0x08, 0x0A, 0x05, 0, 0], 0, 17..200);
    agree(&isa, &[0x0B, 0x08, 0x0D, 0, 7, 0x0A, 0x0A, 0x0A, 0x05, 0, 0], 0, 17..200);
}

/// A delayed store is seen by loads of the cell, and by everything after the block is left.
#[test]
fn stores_wait_until_somebody_can_see_them() {
    let isa = isa();
    let seen = [0x02, 5, 0x08, 0x01, 0xFF, 0x0E, 0x08, 0x09, 0x0B, 0x0D, 0, 0, 0x05, 0, 0];
    agree(&isa, &seen, 0, 17..300);
    let overwritten = [0x02, 7, 0x08, 0x0B, 0x08, 0x09, 0x09, 0x08, 0x09, 0x0D, 0, 0, 0x08, 0x05, 0, 0];
    agree(&isa, &overwritten, 0, 17..300);
}

/// An instruction that reads its own cells after a store of its own, which may hit them.
#[test]
fn what_an_instruction_reads_of_itself_is_known() {
    let isa = isa();
    for sp in [0, 1, 2, 0x8000] {
        let fast = agree(&isa, &[0x00, 0x0F, 0x00, 0x05, 0, 0], sp, 17..200);
        assert!(sp != 0x8000 || !has(&fast, Code::Load));
    }
}

/// The block contains several rounds of the loop, and is left anywhere.
#[test]
fn loops_go_on_in_their_block() {
    let isa = isa();
    let fast = agree(&isa, &[0x0B, 0x08, 0x0D, 0, 0, 0x05, 0, 0], 0, 17..200);
    let start = fast.by_address[&0];
    assert!(fast.entries[start as usize].count > 8, "{:?}", fast.entries[start as usize]);
}

/// Other engines leave mapped addresses that are close together as one span; here the marks tell them apart.
#[test]
fn mapped_addresses_are_looked_up_among_the_marks() {
    let text = r#"
machine t "Reads one cell after the other"
memory ram : u16 -> u8
pc pc : u16 in ram
register a, b : u8
register sp   : u16
device console : stream
map ram {
  0xF001 | 7                    | console.write(value)
  0xF004 | zext(console.ready()) |
}
instructions {
  add   | 0x00 | a = a + ram[sp]; sp = sp + 1
  again | 0x01 | pc = 0
}
"#;
    let loaded = lathe_isa::load(text);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let fast = agree(&isa, &[0, 1], 0xEFF8, 17..60);
    assert!(has(&fast, Code::LeaveIfMapped));
}

/// Blocks ask and tell devices, each as often as they should and at the right time, even if an answer is missing.
#[test]
fn devices_are_part_of_blocks() {
    let text = r#"
machine t "Every device, in every way"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b, sp : u8
device console : stream
device delay   : timer u8 every 3
device screen  : display 8 by 4
device dice    : random u8
instructions {
  wind | 0x00 | delay.write(a + 9)
  in   | 0x01 | a = console.read()
  draw | 0x02 | if a[0] { let old = screen.row(b[1:0]); screen.set_row(b[1:0], old ^ a) } else { console.write(b) }
  roll | 0x03 | b = b + dice.read()
  tick | 0x04 | a = a + delay.read(); console.write(a)
  push | 0x05 | ram[sp] = console.read(); sp = sp + 1
  any  | 0x06 | a = console.ready() ? console.read() : dice.read()
  two  | 0x07 | a = dice.read(); b = console.read()
  odd  | 0x08 | if dice.read()[0] { pc = next + 1 }
  far  | 0x09 | a = ram[dice.read()]
  some | 0x0A | if a[1] { b = dice.read() }
  back | 0x0B | pc = 0
}
"#;
    let loaded = lathe_isa::load(text);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let cells: Vec<u64> = (0..=0x0B).collect();
    for input in (0..30_u8).step_by(3) {
        for (limit, is_open) in (17..90).flat_map(|limit| [(limit, false), (limit, true)]) {
            let run = |engine: &mut dyn Engine| {
                let mut state = State::new(&isa);
                state.memory_mut(isa.pc.memory).fill(cells.iter().copied());
                state.registers_mut()[2] = 0x80;
                let mut devices = Devices::new(&isa, Console::with_input((0..input).map(|at| at.wrapping_mul(7) + 1)));
                if is_open {
                    devices.find_console_mut().expect("it has one").open_input();
                }
                let run = engine.run(&mut state, &mut devices, limit);
                (run, state, devices.console().output().to_vec(), devices.snapshot())
            };
            let mut fast = Fast::eager(&isa);
            assert!(
                run(&mut Interpreter::new(&isa)) == run(&mut fast),
                "{input} bytes, limit {limit}, open: {is_open}"
            );
            let asked = fast.ops.iter().filter(|ready| ready.op.code == Code::DeviceRead).count();
            let told = fast.ops.iter().filter(|ready| ready.op.code == Code::DeviceWrite).count();
            assert!(asked >= 3 && told >= 3 || input < 4, "{asked} {told}");
        }
    }
}

/// A step of any engine is a step of the reference interpreter: going on, halting, faulting.
#[test]
fn a_step_is_a_run_of_one() {
    let text = r#"
machine t "t"
memory ram : u4 -> u8
pc pc : u4 in ram
instructions {
  nop  | 0x01 |
  halt | 0x02 | halt
}
"#;
    let isa = Arc::new(lathe_isa::load(text).isa.expect("it is right"));
    for cell in 0..4 {
        let mut state = State::new(&isa);
        state.memory_mut(isa.pc.memory).set(0, cell);
        let mut devices = Devices::new(&isa, Console::default());
        let expected = Interpreter::new(&isa).step(&mut state.clone(), &mut devices);
        let found = Engine::step(&mut Interpreter::new(&isa), &mut state.clone(), &mut devices);
        assert_eq!(found, expected, "{cell}");
        assert_eq!(Fast::new(&isa).step(&mut state, &mut devices), expected, "{cell}");
    }
}

/// Two blocks, from 2 and from 4, contain a branch to 10, which is taken every other time.
#[test]
fn executions_are_told_where_several_blocks_lead_to_the_same_one() {
    let isa = isa();
    let program = [0x01, 0, 0x02, 2, 0x0D, 0, 10, 0, 0, 0, 0x02, 1, 0x0D, 0, 4, 0x05, 0, 2];
    let mut stepped = state(&isa, &program, 0x8000);
    let mut times = [0u64; 18];
    for _ in 0..6000 {
        times[stepped.pc as usize] += 1;
        run(&mut Interpreter::new(&isa), &isa, &mut stepped, 1);
    }
    let mut fast = Fast::eager(&isa);
    run(&mut fast, &isa, &mut state(&isa, &program, 0x8000), 6000);
    for (pc, times) in times.into_iter().enumerate().filter(|(_, times)| *times > 1) {
        let told = fast.executions(pc as u64);
        assert!(told.abs_diff(times) <= times / 8, "{pc}: {told} instead of {times}");
    }
}

/// A branch before 5 leads to a loop at 16, which is reached more often than the branch. Most visits to 5 come from a
/// jump to 4.
#[test]
fn executions_are_told_where_a_branch_leads_to_much_else() {
    let isa = isa();
    let mut program = [0; 27];
    program[..9].copy_from_slice(&[0x09, 0x0D, 0, 16, 0, 0, 0x05, 0, 16]);
    program[16..].copy_from_slice(&[0x09, 0x0D, 0, 16, 0x09, 0x0D, 0, 4, 0x05, 0, 0]);
    let mut state = state(&isa, &program, 0x8000);
    state.memory_mut(lathe_isa::model::MemoryId(1)).fill((0..256).map(|at| u64::from(at % 3 != 0)));
    let (mut stepped, mut times) = (state.clone(), 0);
    for _ in 0..6000 {
        times += u64::from(stepped.pc == 5);
        run(&mut Interpreter::new(&isa), &isa, &mut stepped, 1);
    }
    let mut fast = Fast::eager(&isa);
    run(&mut fast, &isa, &mut state, 6000);
    let told = fast.executions(5);
    assert!((times / 2..=times * 2).contains(&told) && times > 100, "{told} instead of {times}");
}

/// An interrupt requested by a line, unless it is masked.
const INTERRUPTS: &str = r#"
machine t "Interrupts"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, taken : u8
register line, off : u1
on step when line && !off { taken = taken + 1; off = 1; pc = 0 }
field M : u8 address
instructions {
  inc       | 0x00     | a = a + 1
  allow     | 0x01     | off = 0
  forbid    | 0x02     | off = 1
  jmp M     | 0x03 {M} | pc = M
}
"#;

#[test]
fn a_block_looks_at_what_interrupts_only_where_it_may_allow_one() {
    // A register is a mode only if few instructions change it.
    let others: String = (4..40).map(|code| format!("  xor{code} | {code:#04x} | a = a ^ {code}\n")).collect();
    let loaded = lathe_isa::load(&INTERRUPTS.replace("instructions {\n", &format!("instructions {{\n{others}")));
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    for (program, is_looked_at) in [([0, 0, 0, 3, 0], false), ([0, 2, 1, 3, 0], true)] {
        let (mut reference, mut fast) = (Interpreter::new(&isa), Fast::eager(&isa));
        let (mut expected, mut found) = (state(&isa, &program, 0), state(&isa, &program, 0));
        for line in [0, 1, 0, 1] {
            [&mut expected, &mut found].into_iter().for_each(|state| {
                state.registers_mut()[2..4].copy_from_slice(&[line, 1]);
            });
            run(&mut reference, &isa, &mut expected, 1_001);
            run(&mut fast, &isa, &mut found, 1_001);
            assert!(expected == found, "{program:?} with {line}: {:?}", found.registers());
        }
        assert_eq!(has(&fast, Code::LeaveUnlessNumber), is_looked_at, "{program:?}");
    }
}

/// Without lowering the next block early, a loop of many blocks is lowered one block at a time, each 24 rounds after
/// the one before, and everything after that block is interpreted until then.
#[test]
fn a_long_loop_is_lowered_all_at_once() {
    let isa = isa();
    // Blocks of these instructions are shorter than usual, because each instruction takes many operations.
    let large: Vec<u64> = [0x0F].repeat(640);
    // Blocks of these instructions may be left before their end, for the jump after all of them.
    let with_branches: Vec<u64> = [0x07, 0x90, 0x00, 0x0D, 0x07, 0x80].repeat(320);
    for mut program in [large, with_branches] {
        program.extend([0x05, 0, 0]);
        let mut fast = Fast::new(&isa);
        let mut state = state(&isa, &program, 0x8000);
        run(&mut fast, &isa, &mut state, 641 * (2 * u64::from(LOWERED_AFTER)));
        let walks = |fast: &Fast| fast.entries.iter().map(|entry| u64::from(entry.cold)).sum::<u64>();
        let before = walks(&fast);
        run(&mut fast, &isa, &mut state, 641 * 20);
        // The last instructions of a run are interpreted, and a run may end anywhere.
        let since = walks(&fast) - before;
        assert!(since < 10, "interpreted {since} times in 20 rounds");
    }
}
