//! Going back is exact: on every machine, with every engine in this build, for random distances.

use std::path::{Path, PathBuf};

use lathe_asm::{Options, assemble};
use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};
use lathe_debug::history::Pace;
use lathe_debug::{Debugger, Program, Reason, execute};
use lathe_embed::{EngineKind, Machine, Snapshot};
use lathe_tests::random::Random;

/// The files of a folder.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = std::fs::read(self.0.join(name)).map_err(|error| FileError(error.to_string()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

fn machines() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines")
}

fn debugger(machine: &str, program: &str, kind: EngineKind) -> Debugger {
    let folder = machines().join(machine).join("programs");
    let text = std::fs::read_to_string(folder.join(program)).expect("the program is there");
    let machine = Machine::built_in(machine).expect("the machine ships");
    let assembled = assemble(machine.isa(), &Folder(folder), Source::new(program, text), &Options::default());
    let image = assembled.image.expect("the program is right");
    let program = Program::new(machine.isa().clone(), image, assembled.sources);
    Debugger::new(program, machine.instance_on(kind).expect("the engine is built"))
}

/// Returns the engines of this build: in a build of the whole workspace, the JIT is among them.
fn engines() -> Vec<EngineKind> {
    let machine = Machine::built_in("hex8").expect("the machine ships");
    let all = [EngineKind::Interpreter, EngineKind::Fast, EngineKind::Jit];
    all.into_iter().filter(|kind| machine.instance_on(*kind).is_ok()).collect()
}

const PROGRAMS: [(&str, &str); 23] = [
    ("quad8", "hanoi.asm"),
    ("duo16", "guess.asm"),
    ("stack8a", "hanoi.asm"),
    ("stack8b", "calculator.asm"),
    ("hex8", "selfmod.asm"),
    ("sm83", "sort.asm"),
    ("mos6502", "primes.asm"),
    ("rv32i", "calculator.asm"),
    ("chip8", "maze.asm"),
    ("lc3", "reverse.asm"),
    ("z80", "sort.asm"),
    ("mos6502x", "divide.asm"),
    ("w65c02", "stack.asm"),
    ("avr", "hanoi.asm"),
    ("i8051", "banks.asm"),
    ("superchip", "scroll.asm"),
    ("gameboy", "banks.asm"),
    ("i8080", "muldiv.asm"),
    ("pdp11", "hanoi.asm"),
    ("pdp8", "interrupts.asm"),
    ("rv32imc", "hanoi.asm"),
    ("rv64i", "sort.asm"),
    ("msp430", "decimal.asm"),
];

fn everything(debugger: &mut Debugger) -> (u64, Snapshot, Vec<u8>) {
    let output = debugger.output().1.to_vec();
    (debugger.position(), debugger.snapshot(), output)
}

/// k steps forward and k steps back lead to the same state, devices and output included.
#[test]
fn forward_and_back_is_where_it_was() {
    let seed = std::env::var("LATHE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for (machine, program) in PROGRAMS {
        for kind in engines() {
            let mut random = Random(seed);
            let mut debugger = debugger(machine, program, kind);
            debugger.give_input(b"12 + 30 * 2\n7\n50\n25\n12\n6\n");
            debugger.end_input();
            for round in 0..150 {
                let start = everything(&mut debugger);
                let magnitude = 1 << random.below(13);
                let forward = 1 + random.below(magnitude);
                let Ok(stopped) = debugger.step(forward, &mut ()) else { break };
                let moved = stopped.position - stopped.from;
                if moved == 0 {
                    break;
                }
                debugger.back(moved, &mut ()).expect("it can go back");
                let again = everything(&mut debugger);
                assert!(start == again, "{machine} {program} {kind:?} seed {seed} round {round}: {moved} steps");
                // Sometimes further back or forward, so that positions are reached in every way.
                let end = debugger.history().positions().last().unwrap_or(0).max(start.0 + moved);
                let target = match random.below(4) {
                    0 => random.below(end.max(1)),
                    _ => start.0 + moved,
                };
                debugger.go_to(target).expect("it has been there");
            }
        }
    }
}

/// Every position has one state, however it was reached.
#[test]
fn every_way_to_a_position_leads_to_the_same_state() {
    for (machine, program) in PROGRAMS {
        let mut slow = debugger(machine, program, EngineKind::Interpreter);
        let mut fast = debugger(machine, program, EngineKind::Auto);
        for debugger in [&mut slow, &mut fast] {
            debugger.give_input(b"3\n4\n");
            debugger.end_input();
            debugger.step(30_000, &mut ()).expect("it begins");
        }
        assert_eq!(slow.position(), fast.position(), "{machine}");
        let mut random = Random(7);
        for _ in 0..25 {
            let target = random.below(slow.position().max(fast.position()) + 1);
            let target = target.min(30_000);
            slow.go_to(target).expect("it has been there");
            fast.go_to(target).expect("it has been there");
            assert!(everything(&mut slow) == everything(&mut fast), "{machine} at {target}");
        }
    }
}

/// Running backwards finds the hits of running forward, in reverse.
#[test]
fn running_back_finds_the_hits_of_running_forward() {
    let watches = [
        ("quad8", "hanoi.asm", "watch sp"),
        ("hex8", "selfmod.asm", "watch sp"),
        ("hex8", "hanoi.asm", "watch writes ram[0xFF00..0xFFFF]"),
        ("hex8", "hanoi.asm", "break on output"),
        ("hex8", "hanoi.asm", "break on call"),
        ("mos6502", "sort.asm", "watch ram[0..255]"),
        ("mos6502", "sort.asm", "watch reads ram[0..255] if a > 10"),
        ("rv32i", "quicksort.asm", "break on jal"),
        ("lc3", "factorial.asm", "break on output"),
        ("sm83", "sort.asm", "watch b"),
        ("stack8b", "hanoi.asm", "watch sp if sp < 0xF0"),
    ];
    for (machine, program, command) in watches {
        let mut debugger = debugger(machine, program, EngineKind::Auto);
        debugger.give_input(b"hello\n");
        debugger.end_input();
        execute(&mut debugger, command, &mut ()).unwrap_or_else(|problem| panic!("{machine} {command}: {problem}"));
        let mut forward = Vec::new();
        while forward.len() < 60 {
            let stopped = debugger.run(&mut ()).expect("it runs");
            let Reason::Hit(hits) = stopped.reason else { break };
            forward.push((stopped.position, debugger.state().pc, hits));
        }
        assert!(forward.len() > 3, "{machine} {program} {command}: {} hits", forward.len());
        let mut back = vec![];
        if debugger.position() == forward.last().unwrap().0 {
            back.push(forward.last().unwrap().clone());
        }
        loop {
            let stopped = debugger.run_back(&mut ()).expect("it runs back");
            let Reason::Hit(hits) = stopped.reason else {
                assert_eq!((stopped.reason, debugger.position()), (Reason::Beginning, 0));
                break;
            };
            back.push((stopped.position, debugger.state().pc, hits));
        }
        back.reverse();
        assert_eq!(back, forward, "{machine} {program} {command}");
    }
}

/// However much a program writes, recording copies no more than its pace allows, and going back is exact.
#[test]
fn recording_costs_what_its_pace_allows() {
    // Counts up all words of 16 pages, again and again.
    let text = "
again:  li t0, 0x100000
        li t1, 0x110000
work:   lw t3, 0(t0)
        addi t3, t3, 1
        sw t3, 0(t0)
        addi t0, t0, 4
        bltu t0, t1, work
        j again
";
    let machine = Machine::built_in("rv32i").expect("the machine ships");
    let image = machine.assemble(text).expect("the program is right");
    for kind in engines() {
        let program = Program::new(machine.isa().clone(), image.clone(), Vec::new());
        let mut debugger = Debugger::new(program, machine.instance_on(kind).expect("the engine is built"));
        let pace = Pace { interval: 1 << 10, per_byte: 4 };
        debugger.set_pace(pace);
        let at_first = debugger.history().copied();
        let steps = 1 << 20;
        debugger.step(steps, &mut ()).unwrap();
        let copied = debugger.history().copied() - at_first;
        assert!(copied <= steps / pace.per_byte, "{kind:?}: {copied}");
        // Each snapshot copies 16 pages and compares 32 KiB of control registers, so one is due every 393,216
        // instructions.
        assert_eq!((copied, debugger.history().positions().count()), (2 * 16 * 4096, 3), "{kind:?}");
        let here = everything(&mut debugger);
        debugger.back(1, &mut ()).unwrap();
        debugger.back(300_000, &mut ()).unwrap();
        debugger.step(300_001, &mut ()).unwrap();
        assert!(everything(&mut debugger) == here, "{kind:?}");
    }
}

/// An edit takes effect from its position on, and again when execution passes that position again.
#[test]
fn setting_something_forks_the_history() {
    let mut debugger = debugger("hex8", "hanoi.asm", EngineKind::Fast);
    debugger.step(500, &mut ()).unwrap();
    let original = everything(&mut debugger);
    debugger.go_to(200).unwrap();
    debugger.set("r9 = 0x5A; ram[0x7000] = 3").unwrap();
    assert_eq!(debugger.evaluate("r9").unwrap().value, 0x5A);
    assert!(debugger.go_to(201).is_err(), "what came after it is forgotten");
    debugger.step(300, &mut ()).unwrap();
    assert!(everything(&mut debugger) != original);
    let forked = everything(&mut debugger);
    debugger.go_to(199).unwrap();
    assert_eq!(debugger.evaluate("ram[0x7000]").unwrap().value, 0);
    debugger.go_to(500).unwrap();
    assert!(everything(&mut debugger) == forked);
}

/// A saved session opens in the state it was saved in, on any engine.
#[test]
fn a_saved_session_is_where_it_was() {
    let mut debugger = debugger("quad8", "guess.asm", EngineKind::Fast);
    debugger.definition = vec![lathe_machines::find("quad8").unwrap().source()];
    let mut run = |line: &str| execute(&mut debugger, line, &mut ()).unwrap();
    run("run");
    run("input \"5\\n\"");
    run("break on output");
    run("run");
    run("step 7");
    run("set a = 9");
    run("step 40");
    run("back 3");
    let lathe_debug::Answer::Save { session, .. } = run("save x") else { panic!("it saves") };
    let before = everything(&mut debugger);
    for kind in engines() {
        let mut again = lathe_debug::session::open(&session, kind).expect("it opens");
        assert!(everything(&mut again) == before);
        assert_eq!(again.history().events(), debugger.history().events());
        assert_eq!(again.breakpoints.all().len(), 1);
        again.back(10, &mut ()).expect("its history is there");
    }
    // A truncated or edited session is refused.
    for cut in [0, 1, 10, session.len() / 2, session.len() - 3] {
        assert!(lathe_debug::session::open(&session[..cut], EngineKind::Fast).is_err(), "{cut}");
    }
    let mut random = Random(3);
    for _ in 0..200 {
        let mut bytes = session.clone().into_bytes();
        let at = random.below(bytes.len() as u64 - 1) as usize;
        let other = b"0123456789abc{}[],:\""[random.below(19) as usize];
        if bytes[at] == other {
            continue;
        }
        bytes[at] = other;
        let Ok(text) = String::from_utf8(bytes) else { continue };
        assert!(lathe_debug::session::open(&text, EngineKind::Fast).is_err(), "byte {at} is {}", char::from(other));
    }
}

/// The instruction that printed something is found, and stepping over it prints that again.
#[test]
fn output_leads_to_the_instruction_that_wrote_it() {
    let mut debugger = debugger("hex8", "hello.asm", EngineKind::Fast);
    debugger.run(&mut ()).unwrap();
    let whole = debugger.output().1.to_vec();
    for byte in 0..whole.len() as u64 {
        debugger.go_to(debugger.history().end()).unwrap();
        debugger.who_printed(byte).unwrap();
        assert_eq!(debugger.output().1.len() as u64, byte);
        debugger.step(1, &mut ()).unwrap();
        assert_eq!(debugger.output().1, &whole[..=byte as usize]);
    }
}

/// Stepping over a call and back over it leads to the same state; so does leaving a routine and returning to its call.
#[test]
fn calls_are_stepped_over_in_both_directions() {
    // The last program has a routine that returns past a text following the call.
    for (machine, program) in [
        ("hex8", "hanoi.asm"),
        ("rv32i", "quicksort.asm"),
        ("mos6502", "muldiv.asm"),
        ("sm83", "fibonacci.asm"),
        ("sm83", "muldiv.asm"),
    ] {
        let mut debugger = debugger(machine, program, EngineKind::Fast);
        let mut calls = 0;
        for _ in 0..3_000 {
            let (before, depth) = (debugger.position(), debugger.stack(&mut ()).unwrap().frames.len());
            let Ok(stopped) = debugger.over(&mut ()) else { break };
            if stopped.reason != Reason::Done {
                break;
            }
            if stopped.position > before + 1 {
                calls += 1;
                if calls == 40 {
                    break;
                }
                assert_eq!(debugger.stack(&mut ()).unwrap().frames.len(), depth, "{machine} at {before}");
                debugger.back_over(&mut ()).unwrap();
                assert_eq!(debugger.position(), before, "{machine}");
                // Into the call, out of it, and back to it.
                debugger.step(1, &mut ()).unwrap();
                assert_eq!(debugger.stack(&mut ()).unwrap().frames.len(), depth + 1, "{machine} at {before}");
                debugger.out(&mut ()).unwrap();
                assert_eq!(debugger.position(), stopped.position, "{machine}");
                debugger.go_to(before + 2).unwrap();
                if debugger.stack(&mut ()).unwrap().frames.len() == depth + 1 {
                    debugger.back_out(&mut ()).unwrap();
                    assert_eq!(debugger.position(), before, "{machine}");
                }
                debugger.go_to(before + 1).unwrap();
            }
        }
        assert!(calls > 1, "{machine}: {calls} calls");
    }
}
