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

/// What is neither a definition nor assembly stays as it is.
#[test]
fn other_files_are_left_alone() {
    let page = "# Title\n\nSome   words; and more\n";
    let bench = Bench::with("README.md", page).file("other.txt", ".machine hex8\nx: nop\n");
    bench.run(&["fmt", "README.md"]).complains(2, &["README.md is neither a definition (.isa) nor assembly", "`-m`"]);
    assert_eq!(bench.read_text("README.md"), page);
    bench.run(&["fmt", "other.txt"]).succeeds();
}

#[test]
fn programs_get_json_on_every_path() {
    let bench = Bench::with("one.isa", RAGGED).file("two.isa", TIDY);
    let run = |arguments: &[&str], code: i32| {
        let answer = bench.run(&[&["fmt", "--format", "json"], arguments].concat());
        assert_eq!((answer.code, answer.err.as_str()), (code, ""), "{answer:?}");
        answer.json()
    };
    let checked = run(&["--check", "--diff", "one.isa", "two.isa"], 1);
    assert_eq!((&checked["ok"], &run(&["--check", "two.isa"], 0)["ok"]), (&false.into(), &true.into()));
    let (wrong, right) = (&checked["files"][0], &checked["files"][1]);
    assert_eq!((&wrong["name"], &wrong["is_formatted"]), (&"one.isa".into(), &false.into()));
    assert_eq!(right["is_formatted"], true);
    assert!(wrong["diff"].as_str().unwrap().contains("@@"), "{wrong}");
    assert_eq!(bench.read_text("one.isa"), RAGGED);
    assert_eq!(run(&["one.isa"], 0)["files"][0]["is_formatted"], false);
    assert_eq!(run(&["one.isa"], 0)["files"][0]["is_formatted"], true);
    assert!(run(&["missing.asm"], 1)["error"].to_string().contains("missing.asm"));
    let answer = bench.run_with_input(&["fmt", "-", "--format", "json"], RAGGED.as_bytes());
    assert_eq!(answer.json()["files"][0]["text"].as_str().unwrap(), bench.read_text("one.isa"));
}
