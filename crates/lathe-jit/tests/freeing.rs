//! Unused code is freed. This test is alone in its file, because it looks at the process from outside.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods)]

use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, State};

const MACHINE: &str = r#"
machine adds "Adds numbers"
memory ram : u16 -> u8
pc pc : u16 in ram
register a : u8
field N : u8
instructions {
  add N | 0000 0001 NNNNNNNN | a = a + N
}
"#;

/// More addresses than are kept for future engines.
const ADDRESSES: u64 = 9_000;

/// Returns the bytes of memory that hold code made by this process.
fn bytes_of_code() -> u64 {
    let text = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let bytes = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (first, end) = words[0].split_once('-')?;
        let size = u64::from_str_radix(end, 16).ok()? - u64::from_str_radix(first, 16).ok()?;
        // Shared anonymous pages are listed as pages of this device.
        let is_made_here = words.len() == 5 || line.contains("/dev/zero");
        (words[1].contains('x') && is_made_here).then_some(size)
    };
    text.lines().filter_map(bytes).sum()
}

/// Single steps at one address after another, with another number at each.
#[test]
fn code_of_dropped_regions_is_freed() {
    let isa = std::sync::Arc::new(lathe_isa::load(MACHINE).isa.expect("it is right"));
    let before = bytes_of_code();
    let mut jit = Jit::stepping(&isa);
    let mut state = State::new(&isa);
    let mut devices = Devices::new(&isa, Console::default());
    let mut most = 0;
    for at in 0..ADDRESSES {
        state.pc = 3 * at;
        state.memory_mut(isa.pc.memory).set(3 * at, 1);
        state.memory_mut(isa.pc.memory).set(3 * at + 1, at % 256);
        jit.run(&mut state, &mut devices, 1);
        state.memory_mut(isa.pc.memory).set(3 * at, 0);
        if at % 500 == 0 {
            most = most.max(bytes_of_code() - before);
        }
    }
    let statistics = jit.statistics();
    assert_eq!((statistics.regions, statistics.steps), (ADDRESSES, ADDRESSES));
    assert!(most > 0 && most < (ADDRESSES / 2) * 4096, "{most} bytes of code at a time");
    drop(jit);
    assert_eq!(bytes_of_code(), before, "bytes of code are left");
}
