//! How published test suites report whether they passed, each with a program that passes and one that fails:
//! `docs/testing.md` says how to run the suites themselves.

use crate::Bench;
use crate::run::{elf, telling};

/// Returns a 6502 program for all 64 KiB, started at 0x400: `failing` traps it in a jump to itself at 0x402, otherwise
/// it reaches the one at 0x405.
fn klaus(failing: bool) -> Vec<u8> {
    let mut memory = vec![0; 1 << 16];
    // lda #0 or #1; bne *; jmp *
    memory[0x400..0x407].copy_from_slice(&[0xA9, u8::from(failing), 0xD0, 0xFE, 0x4C, 0x04, 0x04]);
    memory
}

#[test]
fn a_trap_of_the_6502_functional_test_is_no_success() {
    let run = |failing| {
        let bench = Bench::with("test.bin", klaus(failing));
        bench.run_on_all(&["run", "test.bin", "-m", "mos6502", "--entry", "0x400", "--until", "0x404"], b"")
    };
    assert_eq!(run(false).code, 0);
    run(true).complains(1, &["it jumps to itself at pc 0x0402", "the run ended before it came to 0x404"]);
}

/// Returns a Game Boy program that writes to the serial port and then jumps to itself.
fn cartridge(text: &str) -> String {
    let put: String =
        text.bytes().map(|byte| format!(" ld a, {byte}\n ldh (0x01), a\n ld a, 0x81\n ldh (0x02), a\n")).collect();
    format!(".machine sm83\n{put}end: jr end\n")
}

#[test]
fn what_a_game_boy_program_writes_decides() {
    let run = |text: &str, more: &[&str]| {
        let bench = Bench::with("test.asm", cartridge(text));
        bench.run_on_all(&[&["run", "test.asm", "--expect-output", "Passed"], more].concat(), b"")
    };
    let passed = run("06-ld r,r\n\n\nPassed\n", &[]);
    assert_eq!((passed.code, passed.out.as_str()), (0, "06-ld r,r\n\n\nPassed\n"));
    run("06-ld r,r\n\n\nFailed\n", &[]).complains(1, &["expected the program to write \"Passed\", but it did not"]);
    run("PPassed", &[]).complains(0, &[]);
    run("Passe", &[]).complains(1, &["expected the program to write"]);
    // Both conditions must hold.
    run("Passed", &["--expect-stop", "halt"]).complains(1, &["expected the run to end with halt, but it is stuck at"]);
    run("Failed", &["--expect-stop", "stuck"]).complains(1, &["expected the program to write"]);
    run("Passed", &["--expect-stop", "stuck"]).complains(0, &[]);
    // Neither condition hides a different end.
    assert_eq!(run("Passed", &["--max-steps", "3"]).code, 4);
    let json = run("Failed", &["--format", "json"]);
    assert_eq!((json.code, &json.json()["as_expected"]), (1, &false.into()));
}

#[test]
fn a_cartridge_that_cannot_be_loaded_whole_is_not_run() {
    let mut rom = vec![0; 0x1_0000];
    rom[0x104..0x108].copy_from_slice(&[0xCE, 0xED, 0x66, 0x66]);
    // MBC1, 64 KiB, and the header checksum.
    (rom[0x147], rom[0x148], rom[0x14D]) = (1, 1, 0xE5);
    // jr *
    rom[0x100..0x103].copy_from_slice(&[0x18, 0xFE, 0]);
    let bench = Bench::with("large.gb", rom);
    let words = ["only banks 0 and 1 of 4 can be loaded", "MBC1", "`--from gb` loads it all the same"];
    bench.run(&["run", "large.gb", "-m", "sm83"]).complains(1, &words);
    bench.run(&["run", "large.gb", "-m", "sm83", "--from", "gb"]).complains(0, &["warning", "only banks 0 and 1 of 4"]);
}

/// A test with a symbol `tohost` that ends in a jump to itself has reported nothing.
#[test]
fn a_riscv_test_that_is_stuck_has_failed() {
    let bench = Bench::with("t.elf", elf(&[0x0000_006F], true));
    let run = |more: &[&str]| bench.run_on_all(&[&["run", "t.elf", "-m", "rv32i"], more].concat(), b"");
    run(&[]).complains(3, &["the program jumps to itself, and has not reported a result in `tohost`", "0x00001000"]);
    let json = run(&["--format", "json"]).json();
    assert_eq!((&json["status"], &json["reason"]), (&"fault".into(), &"stuck".into()));
    assert_eq!(run(&["--expect-stop", "stuck"]).code, 0);
    run(&["--trace"]).complains(3, &["has not reported a result in `tohost`"]);
}

#[test]
fn riscv_tests_are_tested_together() {
    let bench = Bench::with("good.elf", elf(&telling(1), true))
        .file("bad.elf", elf(&telling(7), true))
        .file("stuck.elf", elf(&[0x0000_006F], true));
    let answer = bench.run(&["test", "good.elf", "bad.elf", "stuck.elf", "-m", "rv32i"]);
    assert_eq!(answer.code, 1, "{answer:?}");
    for words in
        ["ok    good.elf  3 steps", "FAIL  bad.elf", "test 3 failed", "FAIL  stuck.elf", "has not reported a result"]
    {
        assert!(answer.out.contains(words), "{words}: {answer:?}");
    }
}

#[test]
fn what_a_display_shows_decides() {
    let draw = |digit: u32| format!(".machine chip8\n ld v0, {digit}\n ld f, v0\n drw v1, v1, 5\nend: jp end\n");
    let bench = Bench::with("seven.asm", draw(7)).file("one.asm", draw(1));
    assert_eq!(bench.run(&["run", "seven.asm", "--screen", "good.txt"]).code, 0);
    let run = |name: &str| bench.run_on_all(&["run", name, "--expect-screen", "good.txt"], b"");
    let answer = run("seven.asm");
    // For a machine with a display, the display is the output.
    assert_eq!((answer.code, answer.out.as_bytes()), (0, bench.read("good.txt").as_slice()));
    run("one.asm").complains(1, &["the screen is not what good.txt shows: it differs from line 1", "- ####", "+ ..#."]);
    let answer = bench.run(&["run", "seven.asm", "--expect-screen", "missing.txt"]);
    assert!(answer.code == 1 && answer.err.contains("missing.txt"), "{answer:?}");
}
