//! Help, and wrong usage.

use crate::Bench;

#[test]
fn every_command_has_help_with_examples() {
    let help = Bench::new().run(&["--help"]).succeeds();
    let bench = if cfg!(feature = "bench") { &["bench"][..] } else { &[] };
    for command in ["machines", "check", "asm", "dis", "run", "verify"].iter().chain(bench) {
        assert!(help.contains(command), "{help}");
        let help = Bench::new().run(&[command, "--help"]).succeeds();
        assert!(help.contains(&format!("  lathe {command} ")) || help.contains("  lathe run "), "{help}");
    }
    assert!(help.contains("4  the step limit was reached"), "{help}");
    let help = Bench::new().run(&["test", "--help"]).succeeds();
    assert!(help.contains("\n  ; expect: steps <= 1000 "), "each expectation has a line of its own: {help}");
}

#[test]
fn wrong_usage_ends_with_2() {
    let bench = Bench::with("x.bin", [0]);
    bench.run(&[]).complains(2, &["Usage: lathe"]);
    bench.run(&["chekc"]).complains(2, &["chekc"]);
    bench.run(&["check"]).complains(2, &["<FILE|NAME>"]);
    bench.run(&["run", "x.bin"]).complains(2, &["which machine x.bin is for", "`-m NAME`"]);
    bench.run(&["run", "x.bin", "-m", "quad8", "--max-steps", "many"]).complains(2, &["many", "0x3E8"]);
    bench.run(&["verify", "-m", "quad8"]).complains(2, &["<FILE>"]);
    bench.run(&["hdl", "mine.isa"]).complains(2, &["unexpected argument 'mine.isa'", "`-m mine.isa`"]);
    bench.run(&["machines", "--format", "xml"]).complains(2, &["text", "json"]);
}

#[test]
fn a_machine_that_does_not_exist_is_wrong_usage() {
    let bench = Bench::with("x.bin", [0]);
    bench.run(&["check", "quda8"]).complains(2, &["`quda8`", "did you mean `quad8`?"]);
    bench.run(&["run", "x.bin", "-m", "hexx8"]).complains(2, &["did you mean `hex8`?"]);
    bench.run(&["verify", "x.bin", "-m", "duo16.isa"]).complains(2, &["did you mean `duo16`?"]);
    bench.run(&["check", "missing.isa"]).complains(2, &["`missing.isa`", "quad8, duo16, stack8a, stack8b, hex8"]);
}

#[test]
fn a_file_with_the_name_of_a_machine_is_reached_by_its_path() {
    let bench = Bench::with("quad8", "machine other \"Another\"\n");
    assert!(bench.run(&["check", "quad8"]).succeeds().contains("Four registers"));
    bench.run(&["check", "./quad8"]).complains(1, &["no program counter"]);
}

/// A request for JSON gets JSON, whatever goes wrong.
#[test]
fn failures_are_json_where_json_was_asked_for() {
    let bench = Bench::with("bad.isa", "machine m \"M\"\nregister a u8\n")
        .file("bad.asm", ".machine hex8\n loadimm r1, 300\n")
        .file("empty.json", "[]")
        .file("x.bin", [0]);
    for (code, arguments) in [
        (1, &["run", "x.bin", "-m", "bad.isa"][..]),
        (1, &["asm", "bad.asm"]),
        (1, &["dis", "bad.asm"]),
        (1, &["verify", "-m", "hex8", "empty.json"]),
        (2, &["verify", "-m", "hexx", "empty.json"]),
        (2, &["show", "quad9"]),
        (2, &["explain", "E999"]),
        (2, &["new", "quad8"]),
        (1, &["test", "x.bin", "-m", "hex8"]),
        (2, &["run", "x.bin", "--no-such-flag"]),
        (2, &["check"]),
    ] {
        let answer = bench.run(&[arguments, &["--format", "json"]].concat());
        assert_eq!(answer.code, code, "{arguments:?}\n{}{}", answer.out, answer.err);
        let last = answer.json();
        assert_eq!((&last["ok"], last["error"]["exit_code"].as_i64()), (&false.into(), Some(code.into())), "{last}");
        assert!(answer.err.is_empty(), "{arguments:?}: {}", answer.err);
    }
    let answer = bench.run(&["asm", "bad.asm", "--format", "json"]);
    assert_eq!(answer.json()["diagnostics"][0]["code"], "A303");
}

/// Nothing is printed besides the JSON, neither by `--fix` nor by `--trace`.
#[test]
fn all_that_is_said_is_json_where_json_was_asked_for() {
    let bench = Bench::with("a.asm", ".machine quad8\n li a, 65\n out a\n halt\n")
        .file("mine.isa", Bench::new().run(&["show", "quad8"]).succeeds().replace("machine quad8", "machine mine"));
    let fixed = bench.run(&["check", "mine.isa", "--fix", "--format", "json"]);
    assert_eq!((fixed.err.as_str(), &fixed.json()["mended"]), ("", &0.into()));
    let traced = bench.run(&["run", "a.asm", "--trace", "--format", "json"]);
    assert_eq!(traced.json()["steps"], 4);
    let lines: Vec<serde_json::Value> = traced.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["instruction"]), (4, &"sli a, 0x4".into()));
}

#[test]
fn what_was_assembled_and_disassembled_as_json() {
    let bench = Bench::with("a.asm", ".machine hex8\n loadimm r1, 5\nspare: loadimm r1, 5\n");
    let answer = bench.run(&["asm", "a.asm", "--to", "bin,listing", "--format", "json"]);
    let json = answer.json();
    assert_eq!((&json["ok"], &json["files"][0]["bytes"]), (&true.into(), &4.into()));
    assert_eq!(json["diagnostics"][0]["code"], "W701");
    assert_eq!(bench.run(&["asm", "a.asm", "-f", "bin"]).code, 0, "the old spelling");
    let json = bench.run(&["dis", "a.bin", "-m", "hex8", "--format", "json"]).json();
    assert!(json["assembly"].as_str().unwrap().contains("loadimm r1, "), "{json}");
    bench.run(&["asm", "a.asm", "-o", "-", "--format", "json"]).complains(2, &[]);
}

/// A definition is given by its path; for its name alone, the path is suggested.
#[test]
fn a_definition_without_its_ending_is_found() {
    let bench = Bench::with("mine.isa", "machine mine \"\"\n");
    for arguments in [&["check", "mine"][..], &["show", "mine"], &["doc", "-m", "mine"]] {
        bench.run(arguments).complains(2, &["no file with the name `mine`", "did you mean `mine.isa`?"]);
    }
}

/// A definition given as a program, or the reverse, is explained.
#[test]
fn a_definition_is_no_program_and_a_program_no_definition() {
    let bench =
        Bench::with("t.asm", "; says which machine\n.machine hex8\n jmp $\n").file("mine.isa", "machine mine \"\"\n");
    for command in ["run", "asm", "dis", "debug"] {
        let words = ["mine.isa is the definition of a machine, not a program", "lathe run PROGRAM -m mine.isa"];
        bench.run(&[command, "mine.isa"]).complains(2, &words);
    }
    for arguments in
        [&["check", "t.asm"][..], &["show", "t.asm"], &["run", "t.asm", "-m", "t.asm"], &["doc", "-m", "t.asm"]]
    {
        bench
            .run(arguments)
            .complains(2, &["t.asm is a program for hex8, not the definition of a machine", "lathe run t.asm"]);
    }
}
