//! Devices that count instructions see the same count on every engine, although most instructions are executed without
//! telling them.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_vm::device::{Keypad, Timer};
use lathe_vm::{Console, Devices, Engine, Interpreter, Run, State};

/// Every read of a timer or key leaves a trace in `seen`.
const WATCHFUL: &str = r#"
machine watchful "Looks at timers"
memory ram : u8 -> u8
pc pc : u8 in ram
register n : u8
register seen : u64
device seven : timer u16 every 7
device ten   : timer u8 every 10
device keys  : keypad 4
instructions {
  count | 0x01 | n = n + 1
  look  | 0x02 | seen = seen * 31 + zext(seven.read()) + zext(ten.read())
  key   | 0x03 | seen = seen * 31 + zext(keys.any())
  wind  | 0x04 | seven.write(40 + zext(n)); ten.write(n)
  skip  | 0x05 | if n[0] { skip }
  again | 0x06 | pc = 0
  halt  | 0x00 | halt
}
"#;

fn watchful() -> Arc<Isa> {
    let loaded = lathe_isa::load(WATCHFUL);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

/// Runs these limits in turn. Returns the runs, the state and what is left on the first timer.
fn run(isa: &Arc<Isa>, engine: &mut dyn Engine, code: &[u64], limits: &[u64]) -> (Vec<Run>, State, Option<u64>) {
    let mut state = State::new(isa);
    state.memory_mut(isa.pc.memory).fill(code.iter().copied());
    let mut devices = Devices::new(isa, Console::default());
    if let Some(keys) = devices.find_mut::<Keypad>() {
        *keys = Keypad::new(4).with_script(&[0, 1, 2, 3]);
    }
    let runs = limits.iter().map(|limit| engine.run(&mut state, &mut devices, *limit)).collect();
    (runs, state, devices.find::<Timer>().map(Timer::left))
}

#[test]
fn time_passes_alike_on_all_engines() {
    let isa = watchful();
    let programs: [&[u64]; 4] = [
        &[4, 1, 1, 1, 2, 1, 5, 1, 2, 1, 3, 6],
        &[1, 1, 5, 4, 1, 1, 1, 1, 1, 1, 2, 3, 6],
        &[4, 2, 2, 3, 2, 5, 2, 1, 6],
        &[1, 1, 1, 1, 1, 1, 1, 1, 5, 2, 1, 1, 6],
    ];
    let limits: [&[u64]; 4] = [&[9_999], &[1; 200], &[17, 700, 70, 3_001], &[20, 21, 22, 5_000]];
    for code in programs {
        for limits in limits {
            let expected = run(&isa, &mut Interpreter::new(&isa), code, limits);
            assert_eq!(run(&isa, &mut Fast::eager(&isa), code, limits), expected, "{code:?} {limits:?}");
            assert_eq!(run(&isa, &mut Jit::with_threshold(&isa, 2), code, limits), expected, "{code:?} {limits:?}");
        }
    }
}
