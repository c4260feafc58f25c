//! The baselines do what the engines do, so that comparing their speed means something; and
//! the generated programs do what they are made for.

use std::collections::BTreeSet;
use std::path::Path;

use lathe_benches::measure::{self, Baselines, Contestant, Job, Measured, Trouble};
use lathe_benches::translation::{NoTranslation, Translation};
use lathe_benches::{by_hand, generated, goals, programs};
use lathe_embed::{EngineKind, Machine, Stop};

/// Enough steps for every benchmark program to reach all of its code.
const STEPS: u64 = 300_000;

fn measure(machine: &Machine, text: &str, baselines: Baselines) -> Result<Measured, Trouble> {
    let image = machine.assemble(text).unwrap_or_else(|error| panic!("{error}"));
    let engines = &EngineKind::ALL;
    let job = Job { isa: machine.isa(), image: &image, baselines, engines, steps: STEPS, rounds: 1 };
    job.measure(&mut |_, _| {})
}

#[test]
fn everyone_does_the_same_on_every_benchmark_program() {
    for program in programs::all() {
        let machine = Machine::built_in(program.machine).unwrap();
        let measured = measure(&machine, program.text, Baselines::All);
        let measured = measured.unwrap_or_else(|trouble| panic!("{program:?}: {trouble}"));
        let took_part: Vec<&str> = measured.scores.iter().map(|score| score.contestant.name()).collect();
        assert!(took_part.starts_with(&["by hand", "interp", "fast"]), "{took_part:?}");
        let excused = match measured.no_translation {
            Some(NoTranslation::ChangesItself) => program.changes_itself,
            Some(NoTranslation::NoCompiler | NoTranslation::LargeMemory) => true,
            _ => false,
        };
        assert!(took_part.contains(&"gcc -O3") || excused, "{program:?}");
        assert_eq!(measured.scores[2].steps, STEPS);
    }
}

/// The line that includes a machine's routines.
const LIBRARY: &str = ".include \"lib.asm\"";

/// The self-tests that ship with the machines execute every instruction: the hand-written interpreter must end with the
/// same registers, memory, cycles and output as an engine. That of lc3 waits for keys, which nobody presses here, so
/// lc3 has two other programs.
#[test]
fn what_is_written_by_hand_passes_the_self_tests_of_its_machine() {
    let programs = [
        ("mos6502", "selftest", "ok\n"),
        ("sm83", "selftest", "ok\n"),
        ("rv32i", "selftest", "ok\n"),
        ("chip8", "selftest", ""),
        ("chip8", "sierpinski", ""),
        ("lc3", "arithmetic", include_str!("../../machines/lc3/programs/expected/arithmetic.out")),
        ("lc3", "bubble", include_str!("../../machines/lc3/programs/expected/bubble.out")),
    ];
    for (name, program, expected) in programs {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines").join(name).join("programs");
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
        let text = read(&format!("{program}.asm"));
        let text = if text.contains(LIBRARY) { text.replace(LIBRARY, &read("lib.asm")) } else { text };
        let machine = Machine::built_in(name).unwrap();
        let image = machine.assemble(&text).unwrap_or_else(|error| panic!("{error}"));
        let isa = machine.isa();
        let mut instance = machine.instance_on(EngineKind::Fast).unwrap();
        instance.load(&image);
        let run = instance.run_for(100_000_000);
        assert!(matches!(run.stop, Stop::Halted | Stop::Idle), "{name}: {:?}", run.stop);

        let code = image.flat(isa.pc.memory, 0).unwrap();
        let cells: Vec<u64> = std::iter::repeat_n(0, code.start as usize).chain(code.cells).collect();
        let mut by_hand = by_hand::load(name, &cells, image.start(isa)).unwrap();
        by_hand.run(run.steps);
        assert_eq!(String::from_utf8_lossy(by_hand.output()), expected, "{name}");
        assert!(
            measure::leaves(&*by_hand, isa, instance.state()),
            "{name}: {:X} {:X?}",
            by_hand.pc(),
            by_hand.registers()
        );
        assert!(by_hand.cycles().is_none_or(|cycles| cycles == run.cycles), "{name}: {:?} {run:?}", by_hand.cycles());
    }
}

#[test]
fn every_machine_that_ships_has_programs_and_a_goal() {
    for machine in lathe_machines::ALL {
        assert!(programs::of(machine.name).count() >= 3, "{}", machine.name);
        assert!(goals::of(machine.name).is_some(), "{}", machine.name);
    }
}

/// All operators, on operands that change on every iteration.
const OPERATORS: &str = r#"
machine operators "Every operator on 8, 12 and 40 bits"
memory ram : u8 -> u8
memory data : u4 -> u12
pc pc : u8 in ram
register x, y, a : u8
register p, q : u12
register v, w : u40
instructions {
  plain   | 0x01 | a = a + x; a = a - y; a = a * (x | 1); a = a ^ (x & y); a = a | -x; a = ~a
  divide  | 0x02 | a = a ^ (x / y); a = a ^ (x % y); p = p ^ (q / zext(y)); p = p ^ (q % zext(y))
  signed  | 0x03 | a = a ^ (signed(x) / signed(y)); a = a ^ (signed(x) % signed(y)); a = a ^ (signed(x) >> y[3:0])
  shift   | 0x04 | a = a ^ (x << y); a = a ^ (x >> y); p = p ^ (q << y[3:0]); v = v ^ (w >> y)
  rotate  | 0x05 | a = rotl(a, y); p = rotr(p, x); v = rotl(v ^ zext(x), y)
  compare | 0x06 | a = a ^ zext(x < y) ^ zext(x <= y) ^ zext(signed(x) < signed(y)) ^ zext(signed(x) <= signed(y)) ^ zext(x == y) ^ zext(x != y)
  extend  | 0x07 | v = v ^ sext(x); q = sext(y) ^ (a[3:0] ++ a[7:0]); w = w + zext(x ++ y)
  choose  | 0x08 | x = (y[0] ? x : a) + 13; if x[1] { y = y + 7 } else { y = y - 1 }
  memory  | 0x09 | data[x[3:0]] = p; q = data[y[3:0]]
  again   | 0x0A | pc = 0
}
"#;

#[test]
fn every_operator_is_translated_as_it_is_meant() {
    let machine = Machine::define(OPERATORS).unwrap_or_else(|error| panic!("{error}"));
    let program = "plain\n divide\n signed\n shift\n rotate\n compare\n extend\n choose\n memory\n again";
    let measured = measure(&machine, program, Baselines::All).unwrap_or_else(|trouble| panic!("{trouble}"));
    let translated = measured.scores.iter().any(|score| score.contestant == Contestant::Translation);
    assert!(translated || measured.no_translation == Some(NoTranslation::NoCompiler), "{:?}", measured.no_translation);
}

#[test]
fn what_cannot_be_translated_is_refused_with_a_reason() {
    let machine = Machine::built_in("hex8").unwrap();
    let refusal = |text: &str| Translation::new(machine.isa(), &machine.assemble(text).unwrap()).err();
    let changing = "loop: addimm r1, r1, 1\n storemem r1, loop + 2\n jmp loop";
    let has_compiler = refusal("loop: jmp next\nnext: jmp loop").is_none();
    let expected = |why| Some(if has_compiler { why } else { NoTranslation::NoCompiler });
    assert_eq!(refusal(changing), expected(NoTranslation::ChangesItself));
    assert_eq!(refusal("nop\n jmp $"), expected(NoTranslation::Stops));
}

#[test]
fn a_program_of_no_steps_is_refused() {
    let machine = Machine::built_in("quad8").unwrap();
    assert_eq!(measure(&machine, " .byte 0xB0", Baselines::None).unwrap_err(), Trouble::NothingToRun);
}

#[test]
fn generated_programs_run_all_of_their_code() {
    let machine = Machine::built_in("hex8").unwrap();
    let visited = |text: &str, steps: u64| {
        let mut instance = machine.instance_on(EngineKind::Interpreter).unwrap();
        instance.load(&machine.assemble(text).unwrap_or_else(|error| panic!("{error}")));
        let mut seen = BTreeSet::new();
        for _ in 0..steps {
            seen.insert(instance.get("pc").unwrap());
            assert_eq!(instance.run_for(1).stop, Stop::Limit);
        }
        seen.len()
    };
    assert_eq!(visited(&generated::straight(100), 1_000), 101);
    assert_eq!(visited(&generated::scattered(256), 20_000), 11 + 256 * 3);
    for size in [10, 10_000] {
        machine.assemble(&generated::straight(size)).unwrap();
    }
    machine.assemble(&generated::scattered(2_048)).unwrap();
}

#[test]
fn every_place_of_a_generated_program_is_equally_warm() {
    let machine = Machine::built_in("rv32i").unwrap();
    for count in [1, 10, 100, 1_000] {
        let mut instance = machine.instance_on(EngineKind::Interpreter).unwrap();
        instance.load(&machine.assemble(&generated::places(count)).unwrap_or_else(|error| panic!("{error}")));
        let mut seen = BTreeSet::new();
        for _ in 0..count {
            seen.insert(instance.get("pc").unwrap());
            instance.run_for(generated::IN_A_PLACE as u64);
        }
        assert_eq!(seen.len(), count, "{count} places");
        assert_eq!(instance.get("pc").unwrap(), 0, "{count} places");
    }
}
