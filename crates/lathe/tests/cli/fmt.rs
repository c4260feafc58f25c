//! `lathe fmt`.

use crate::Bench;

const RAGGED: &str =
    "machine one \"One\"\nmemory ram:u8 -> u8\npc pc : u8 in ram\ninstructions {\nstop|0000 0000|halt\n}\n";
const TIDY: &str = "machine one \"One\"\nmemory ram : u8 -> u8\npc     pc  : u8 in ram\ninstructions {\n  stop | 0000 0000 | halt\n}\n";

#[test]
fn files_are_formatted_in_place() {
    let bench = Bench::with("one.isa", RAGGED).file("a.asm", ".machine hex8\n return;x\n");
    bench.run(&["fmt", "one.isa", "a.asm"]).succeeds();
    assert_eq!(bench.read_text("one.isa"), TIDY);
    assert_eq!(bench.read_text("a.asm"), ".machine hex8\n        return                  ;x\n");
    bench.run(&["fmt", "--check", "one.isa", "a.asm"]).succeeds();
}

#[test]
fn check_names_the_files_and_changes_nothing() {
    let bench = Bench::with("one.isa", RAGGED).file("two.isa", TIDY);
    let answer = bench.run(&["fmt", "--check", "one.isa", "two.isa"]);
    assert_eq!((answer.code, answer.out.as_str()), (1, "one.isa is not formatted\n"));
    assert_eq!(bench.read_text("one.isa"), RAGGED);
}

#[test]
fn a_difference_is_shown_and_changes_nothing() {
    let bench = Bench::with("one.isa", RAGGED);
    let text = bench.run(&["fmt", "--diff", "one.isa"]).succeeds();
    assert!(text.contains("\n-memory ram:u8 -> u8\n") && text.contains("\n+memory ram : u8 -> u8\n"), "{text}");
    assert_eq!(bench.read_text("one.isa"), RAGGED);
}

#[test]
fn standard_input_goes_to_standard_output() {
    let bench = Bench::new();
    assert_eq!(bench.run_with_input(&["fmt", "-"], RAGGED.as_bytes()).succeeds(), TIDY);
    let assembly = bench.run_with_input(&["fmt", "-", "-m", "hex8"], b"a:return\n").succeeds();
    assert_eq!(assembly, "a:      return\n");
}

#[test]
fn a_file_that_is_missing_changes_no_other() {
    let bench = Bench::with("one.isa", RAGGED);
    bench.run(&["fmt", "one.isa", "none.isa"]).complains(1, &["none.isa cannot be read"]);
    assert_eq!(bench.read_text("one.isa"), RAGGED);
}
