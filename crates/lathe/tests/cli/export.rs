//! `lathe export`.

use crate::Bench;

#[test]
fn rules_go_to_standard_output_or_a_file() {
    let bench = Bench::new();
    let answer = bench.run(&["export", "customasm", "-m", "hex8"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    assert!(answer.out.contains("    jmp {M: u16} => 0x80 @ M\n"), "{}", answer.out);
    bench.run(&["export", "customasm", "-m", "hex8", "-o", "rules.asm"]).writes(&["rules.asm"]);
    assert_eq!(bench.read_text("rules.asm"), answer.out);
}

#[test]
fn what_cannot_be_said_is_a_warning() {
    let answer = Bench::new().run(&["export", "customasm", "-m", "sm83"]);
    assert_eq!(answer.code, 0);
    assert!(answer.err.contains("warning: not exported: `rlca` and `rlc a`"), "{}", answer.err);
}

#[test]
fn programs_get_json() {
    let bench = Bench::new();
    let told = bench.run(&["export", "customasm", "-m", "sm83", "--format", "json"]).json();
    assert_eq!((&told["ok"], &told["machine"]), (&true.into(), &"sm83".into()));
    assert!(told["text"].as_str().is_some_and(|text| text.contains("#ruledef sm83")));
    assert_eq!(told["missing"].as_array().map(Vec::len), Some(4), "{}", told["missing"]);
    let told = bench.run(&["export", "customasm", "-m", "hex8", "-o", "rules.asm", "--format", "json"]).json();
    assert_eq!((&told["files"][0]["name"], &told["text"]), (&"rules.asm".into(), &serde_json::Value::Null));
}

#[test]
fn the_definition_is_not_overwritten() {
    let bench = Bench::new();
    let definition = bench.run(&["show", "hex8"]).out;
    let bench = Bench::with("own.isa", &definition);
    let absolute = bench.path().join("own.isa").to_string_lossy().into_owned();
    for (name, out) in [("own.isa", "own.isa"), ("./own.isa", "own.isa"), ("own.isa", absolute.as_str())] {
        let answer = bench.run(&["export", "customasm", "-m", name, "-o", out]);
        answer.complains(2, &["own.isa is an input and would be overwritten"]);
    }
    assert_eq!(bench.read_text("own.isa"), definition);
}

/// No file of the definition is overwritten, and no folder is left behind.
#[test]
fn parts_of_the_definition_are_not_overwritten() {
    let part = "register b : u8\n";
    let own = "machine own \"\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\ninclude \"own.md\"\n\
               instructions {\n  inc | 0000 0000 | b = b + 1\n}\n";
    let bench = Bench::with("own.isa", own).file("own.md", part);
    let words = ["own.md is an input and would be overwritten"];
    bench.run(&["export", "customasm", "-m", "own.isa", "-o", "own.md"]).complains(2, &words);
    bench.run(&["doc", "-m", "own.isa", "-o", "own.md"]).complains(2, &words);
    bench.run(&["doc", "-m", "./own.isa", "-o", "."]).complains(2, &["an input and would be overwritten"]);
    assert_eq!((bench.read_text("own.isa"), bench.read_text("own.md")), (own.to_owned(), part.to_owned()));
    assert_eq!(bench.names(), ["own.isa", "own.md"]);
}

#[test]
fn a_processor_module_is_a_folder() {
    let bench = Bench::new();
    let answer = bench.run(&["export", "ghidra", "-m", "hex8", "-o", "module"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""), "{}", answer.err);
    let text = bench.read_text("module/data/languages/hex8.slaspec");
    assert!(text.contains("\n:\"return\" is c0_7_4=0x7\n"), "{text}");
    for ending in ["ldefs", "pspec", "cspec"] {
        assert!(bench.read_text(&format!("module/data/languages/hex8.{ending}")).starts_with("<?xml"));
    }
    bench.run(&["export", "ghidra", "-m", "hex8"]).complains(2, &["several files", "-o"]);
}

#[test]
fn cells_that_are_no_bytes_are_refused() {
    let text = "machine odd \"\"\nmemory ram : u8 -> u12\npc pc : u8 in ram\ninstructions {\n  halt | 0000 0000 0000 | halt\n}\n";
    let answer = Bench::with("odd.isa", text).run(&["export", "ghidra", "-m", "odd.isa", "-o", "module"]);
    answer.complains(1, &["odd cannot be exported", "12 bits"]);
}
