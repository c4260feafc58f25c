//! `lathe verify`.

use crate::{Answer, Bench};

/// Runs a text of vectors, on every engine.
#[track_caller]
fn verify(machine: &str, vectors: &str) -> Answer {
    Bench::with("v.json", vectors).run_on_all(&["verify", "-m", machine, "v.json"], b"")
}

#[track_caller]
fn passes(machine: &str, vectors: &str) {
    let answer = verify(machine, vectors);
    assert!(answer.code == 0 && answer.err.is_empty(), "{}{}", answer.out, answer.err);
    assert!(answer.out.ends_with(" passed, 0 failed\n") && answer.out.lines().count() == 1, "{}", answer.out);
}

/// Checks that the vectors fail with these lines, blanks aside.
#[track_caller]
fn fails(machine: &str, vectors: &str, lines: &[&str]) {
    let answer = verify(machine, vectors);
    assert_eq!((answer.code, answer.err.as_str()), (1, ""), "{}", answer.out);
    let found: Vec<String> =
        answer.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in lines {
        assert!(found.iter().any(|found| found == line), "`{line}` is missing from:\n{}", answer.out);
    }
}

/// One vector for each kind of effect: registers, memory, jumps, input, output, halting, a fault.
const QUAD8: &str = r#"[
{"name": "sub a, b", "initial": {"pc": 16, "a": 3, "b": 5, "ram": [[16, 17]]},
 "final": {"pc": 17, "a": 254, "b": 5, "ram": [[16, 17]]}, "status": "running"},
{"name": "store a, [b]", "initial": {"page": 1, "a": 3, "b": 5, "ram": [[0, 49], [261, 9]]},
 "final": {"pc": 1, "ram": [[261, 3]]}},
{"name": "push b", "initial": {"stackpage": 128, "b": 9, "ram": [[0, 164]]}, "final": {"sp": 255, "ram": [[33023, 9]]}},
{"name": "jalr a, [a]", "initial": {"pc": 4863, "a": 64, "ram": [[4863, 80]]}, "final": {"pc": 4672, "a": 0}},
{"name": "in a", "initial": {"ram": [[0, 131]]}, "final": {"a": 65}, "in": [65, 66], "out": []},
{"name": "out a", "initial": {"a": 66, "ram": [[0, 130]]}, "final": {"a": 66}, "out": [66]},
{"name": "halt", "initial": {"ram": [[0, 1]]}, "final": {"pc": 1}, "status": "halted"},
{"name": "undefined", "initial": {"a": 7, "ram": [[0, 176]]}, "final": {"pc": 0, "a": 7}, "status": "fault"}
]"#;

#[test]
fn vectors_that_hold() {
    passes("quad8", QUAD8);
    assert_eq!(verify("quad8", QUAD8).out, "8 passed, 0 failed\n");
    let nothing = verify("quad8", "[]");
    assert_eq!(nothing.out, "0 passed, 0 failed\n");
    nothing.complains(1, &["there is no test in 1 file"]);
}

#[test]
fn vectors_come_from_standard_input_and_several_files() {
    let bench = Bench::with("one.json", QUAD8).file("two.json", QUAD8);
    let answer = bench.run(&["verify", "one.json", "two.json", "-m", "quad8"]);
    assert_eq!(answer.succeeds(), "16 passed, 0 failed\n");
    assert_eq!(
        bench.run_with_input(&["verify", "-m", "quad8", "-"], QUAD8.as_bytes()).succeeds(),
        "8 passed, 0 failed\n"
    );
}

#[test]
fn every_field_is_compared() {
    let sub = r#"[{"name": "x", "initial": {"a": 3, "b": 5, "ram": [[0, 17]]}, "final": FINAL}]"#;
    let with = |final_state: &str| sub.replace("FINAL", final_state);
    passes("quad8", &with(r#"{"a": 254}"#));
    fails(
        "quad8",
        &with(r#"{"a": 255}"#),
        &["FAIL x (v.json, test 1)", "bytes at pc: 11 (sub D, S)", "a expected 0xFF found 0xFE", "0 passed, 1 failed"],
    );
    fails("quad8", &with(r#"{"pc": 2}"#), &["pc expected 0x0002 found 0x0001"]);
    fails(
        "quad8",
        &with(r#"{"ram": [[0, 18], [9, 1]]}"#),
        &["ram[0x0000] expected 0x12 found 0x11", "ram[0x0009] expected 0x01 found 0x00"],
    );
    fails("quad8", &with(r#"{}, "status": "halted""#), &["status expected halted found running"]);
    fails("quad8", &with(r#"{}, "out": [0, 65]"#), &["out expected [0x00, 0x41] found []"]);
}

#[test]
fn memory_that_is_not_listed_must_be_unchanged() {
    let store = r#"[{"name": "x", "initial": {"page": 1, "a": 3, "b": 5, "ram": [[0, 49]]}, "final": {"pc": 1}}]"#;
    fails("quad8", store, &["ram[0x0105] expected 0x00 found 0x03"]);
    let listed_before = store.replace("[0, 49]", "[0, 49], [261, 9]");
    fails("quad8", &listed_before, &["ram[0x0105] expected 0x09 found 0x03"]);
    passes("quad8", &store.replace("\"pc\": 1", "\"ram\": [[261, 3]]"));
}

#[test]
fn a_fault_that_nobody_expects_is_explained() {
    let undefined = r#"[{"name": "x", "initial": {"ram": [[0, 176]]}, "final": {"pc": 1}}]"#;
    fails(
        "quad8",
        undefined,
        &["the step faulted: no instruction has this encoding", "pc expected 0x0001 found 0x0000"],
    );
}

/// No vector, passed or failed, leaves anything behind for the next.
#[test]
fn vectors_do_not_see_one_another() {
    let store = r#"{"name": "store", "initial": {"page": 1, "a": 3, "b": 5, "ram": [[0, 49]]}, "final": {}}"#;
    let load = r#"{"name": "load", "initial": {"page": 1, "a": 7, "b": 5, "ram": [[0, 33]]}, "final": {"a": 0}}"#;
    let nop = r#"{"name": "nop", "initial": {}, "final": {"pc": 1, "a": 0, "b": 0, "page": 0}}"#;
    fails("quad8", &format!("[{store}, {load}, {nop}, {store}, {load}]"), &["3 passed, 2 failed"]);
}

#[test]
fn registers_that_are_not_listed_have_their_reset_value() {
    let push = r#"[{"name": "push r1", "initial": {"r1": 4660, "ram": [[0, 34], [1, 16]]},
        "final": {"rs": 65502, "ram": [[65502, 52], [65503, 18]]}}]"#;
    passes("duo16", push);
}

#[test]
fn views_are_registers_too() {
    let ldi = r#"[{"name": "ldi r1h, 5", "initial": {"r1": 4660, "ram": [[0, 63], [1, 32], [2, 5]]},
        "final": {"r1": 1332, "r1h": 5, "r1l": 52}}]"#;
    passes("duo16", ldi);
    fails("duo16", &ldi.replace("\"r1l\": 52", "\"r1l\": 53"), &["r1l expected 0x35 found 0x34"]);
    passes(
        "duo16",
        r#"[{"name": "nop", "initial": {"r6": 4660, "r6b": 52, "r0": 0, "ram": [[0, 32]]}, "final": {"r6": 4660}}]"#,
    );
}

#[test]
fn the_other_machines() {
    passes(
        "stack8b",
        r#"[{"name": "x2A", "initial": {"prog": [[0, 1], [1, 42]]}, "final": {"pc": 2, "sp": 255, "data": [[255, 42]]}}]"#,
    );
    passes(
        "hex8",
        r#"[{"name": "jmp", "initial": {"pc": 8, "ram": [[8, 143], [10, 8]]}, "final": {"pc": 8}, "status": "halted"}]"#,
    );
    fails(
        "stack8a",
        r#"[{"name": "x7", "initial": {"prog": [[0, 247]]}, "final": {"sp": 255}}]"#,
        &["data[0xFF] expected 0x00 found 0x07"],
    );
}

/// Cycles, and a memory too large to be kept in one piece.
const TIMED: &str = r#"machine timed "Counts its cycles"
memory code : u4 -> u8
memory far : u32 -> u16
pc pc : u4 in code
register a : u32
instructions with cycles {
  nop   | 0000 0000 | 1 |
  store | 0000 0001 | 3 | far[a] = a[15:0]
}
"#;

#[test]
fn cycles_are_compared_if_the_machine_has_them() {
    let bench = Bench::with("timed.isa", TIMED);
    let nop = r#"[{"name": "nop", "initial": {}, "final": {"pc": 1}, "cycles": COUNT}]"#;
    for (count, code) in [("1", 0), ("[[0, 0, \"read\"]]", 0), ("2", 1), ("[]", 1)] {
        std::fs::write(bench.path().join("v.json"), nop.replace("COUNT", count)).unwrap();
        let answer = bench.run(&["verify", "-m", "timed.isa", "v.json"]);
        assert_eq!((answer.code, answer.out.contains("cycles")), (code, code == 1), "{count}: {}", answer.out);
    }
    passes("quad8", &nop.replace("COUNT", "99"));
}

#[test]
fn a_large_memory_is_compared_as_well() {
    let store =
        r#"{"name": "store", "initial": {"a": 4294967295, "code": [[0, 1]]}, "final": {"far": [[4294967295, VALUE]]}}"#;
    let text = format!("[{}, {}]", store.replace("VALUE", "65535"), store.replace("VALUE", "1"));
    let zero = r#"[{"name": "store 0", "initial": {"a": 65536, "code": [[0, 1]]}, "final": {"pc": 1}}]"#;
    let bench = Bench::with("timed.isa", TIMED).file("v.json", text).file("zero.json", zero);
    let answer = bench.run(&["verify", "-m", "timed.isa", "v.json"]);
    assert!(answer.out.contains("far[0xFFFFFFFF]  expected 0x0001  found 0xFFFF"), "{}", answer.out);
    assert!(answer.out.ends_with("\n1 passed, 1 failed\n"), "{}", answer.out);
    bench.run(&["verify", "-m", "timed.isa", "zero.json"]).succeeds();
}

#[test]
fn only_the_first_failures_are_shown() {
    let wrong = r#"{"name": "wrong", "initial": {}, "final": {"pc": 9}}"#;
    let answer = verify("quad8", &format!("[{}]", [wrong; 13].join(",")));
    assert_eq!(answer.out.matches("FAIL").count(), 10);
    assert!(answer.out.ends_with("... and 3 more that failed\n\n0 passed, 13 failed\n"), "{}", answer.out);
    let report = Bench::with("v.json", format!("[{}]", [wrong; 13].join(",")));
    let report = report.run(&["verify", "-m", "quad8", "v.json", "--format", "json"]).json();
    assert_eq!((&report["failed"], report["failures"].as_array().unwrap().len()), (&13.into(), 13));
}

#[test]
fn the_answer_as_json() {
    let text = r#"[{"name": "x", "initial": {"ram": [[0, 128]]}, "final": {"a": 2}}, {"name": "y", "initial": {}, "final": {}}]"#;
    let answer = Bench::with("v.json", text).run(&["verify", "-m", "quad8", "v.json", "--format", "json"]);
    assert_eq!(answer.code, 1);
    let expected = serde_json::json!({
        "machine": "quad8", "passed": 1, "failed": 1,
        "files": [{"file": "v.json", "passed": 1, "failed": 1}],
        "failures": [{
            "file": "v.json", "number": 1, "name": "x", "instruction": "bytes at pc: 80  (inc D)",
            "differences": [{"field": "a", "expected": "0x02", "found": "0x01"}],
        }],
    });
    assert_eq!(answer.json(), expected);
}

#[test]
fn names_that_the_machine_does_not_have() {
    let text = r#"[{"name": "x", "initial": {"a": 1, "ime": 1, "ie": 0}, "final": {"a": 1, "ime": [2]}, "ports": []}]"#;
    let bench = Bench::with("v.json", text);
    let words = ["v.json: line 1, column ", "`ime`", "in test `x`, key `initial.ime`", "--ignore ime"];
    bench.run(&["verify", "-m", "quad8", "v.json"]).complains(1, &words);
    let ignoring = |names: &[&str]| {
        let mut arguments = vec!["verify", "-m", "quad8", "v.json"];
        names.iter().for_each(|name| arguments.extend(["--ignore", name]));
        bench.run(&arguments)
    };
    ignoring(&["ime"]).complains(1, &["`ie`"]);
    ignoring(&["ime", "ie"]).complains(1, &["key `ports`", "--ignore ports"]);
    assert_eq!(ignoring(&["ime", "ie", "ports"]).succeeds(), "1 passed, 0 failed\n");
}

#[test]
fn what_the_machine_has_can_be_left_out_of_the_comparison() {
    let inc = r#"[{"name": "x", "initial": {"a": 1, "ram": [[0, 128]]}, "final": {"a": 1, "pc": 1}}]"#;
    let store = r#"[{"name": "x", "initial": {"a": 1, "b": 9, "ram": [[0, 49]]}, "final": {"pc": 1, "ram": [[7, 7]]}},
        {"name": "y", "initial": {"b": 9, "ram": [[0, 33]]}, "final": {"a": 0}}]"#;
    let bench = Bench::with("inc.json", inc).file("store.json", store);
    assert_eq!(bench.run(&["verify", "-m", "quad8", "inc.json"]).code, 1);
    bench.run(&["verify", "-m", "quad8", "inc.json", "--ignore", "a"]).succeeds();
    assert_eq!(bench.run(&["verify", "-m", "quad8", "store.json"]).code, 1);
    bench.run(&["verify", "-m", "quad8", "store.json", "--ignore", "ram"]).succeeds();
}

/// Wrong texts, each with words of its complaint.
#[rustfmt::skip]
const WRONG: &[(&str, &str, &[&str])] = &[
    ("quad8", r#"[{"name":"x","initial":{"a":256},"final":{}}]"#,           &["256 does not fit into 8 bits", "test `x`", "`initial.a`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{"pc":65536}}]"#,        &["65536 does not fit into 16 bits", "`final.pc`"]),
    ("quad8", r#"[{"name":"x","initial":{"a":-1},"final":{}}]"#,            &["-1", "not negative", "`initial.a`"]),
    ("quad8", r#"[{"name":"x","initial":{"a":1.5},"final":{}}]"#,           &["1.5", "whole number"]),
    ("quad8", r#"[{"name":"x","initial":{"a":"1"},"final":{}}]"#,           &["string", "whole number"]),
    ("quad8", r#"[{"name":"x","initial":{"aa":1},"final":{}}]"#,            &["`aa`", "`initial.aa`"]),
    ("quad8", r#"[{"name":"x","initial":{"stackpag":1},"final":{}}]"#,      &["did you mean `stackpage`?"]),
    ("quad8", r#"[{"name":"x","initial":{"ram":[[65536,1]]},"final":{}}]"#, &["address 65536", "`initial.ram`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{"ram":[[1,256]]}}]"#,   &["value 256", "`final.ram`"]),
    ("quad8", r#"[{"name":"x","initial":{"ram":[[1]]},"final":{}}]"#,       &["pair [address, value]"]),
    ("quad8", r#"[{"name":"x","initial":{"ram":[[1,2,3]]},"final":{}}]"#,   &["pair [address, value]"]),
    ("quad8", r#"[{"name":"x","initial":{"ram":7},"final":{}}]"#,           &["[address, value] pairs"]),
    ("quad8", r#"[{"name":"x","initial":{"ram":[[1,2],[1,3]]},"final":{}}]"#, &["ram[0x0001] is there twice", "test `x`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{"ram":[[1,2],[1,3]]}}]"#, &["ram[0x0001] is there twice"]),
    ("duo16", r#"[{"name":"x","initial":{"r0":1},"final":{}}]"#,            &["`r0` cannot be 0x0001", "constant"]),
    ("duo16", r#"[{"name":"x","initial":{"r1":1,"r1l":2},"final":{}}]"#,    &["`r1` cannot be 0x0001"]),
    ("quad8", r#"[{"name":"x","initial":{}}]"#,                             &["no `final`", "test `x`"]),
    ("quad8", r#"[{"name":"x","final":{}}]"#,                               &["no `initial`"]),
    ("quad8", r#"[{"name":"x","initial":{},"fnial":{}}]"#,                  &["did you mean `final`?", "`fnial`"]),
    ("quad8", r#"[{"name":"x","initial":{},"initial":{},"final":{}}]"#,     &["twice", "`initial`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{},"status":"dead"}]"#,  &["dead", "`halted`", "`status`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{},"in":[256]}]"#,       &["256", "`in`"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{},"cycles":"2"}]"#,     &["a number of cycles"]),
    ("stack8a", r#"[{"name":"x","initial":{},"final":{},"in":[1]}]"#,       &["no console"]),
    ("quad8", r#"[{"initial":{},"final":{}},{"initial":{"a":999}}]"#,       &["test number 2"]),
    ("quad8", r#"[{"name":"x","initial":{},"final":{}"#,                    &["line 1", "EOF"]),
    ("quad8", "[{\"name\":\"x\",\n nonsense}]",                             &["line 2, column 2"]),
    ("quad8", r#"{"name":"x"}"#,                                            &["an array of tests"]),
    ("quad8", "[] []",                                                      &["trailing characters"]),
    ("quad8", "",                                                           &["EOF"]),
];

#[test]
fn wrong_files_are_said_to_be_wrong() {
    for (machine, text, words) in WRONG {
        let answer = verify(machine, text);
        assert_eq!(answer.out, "", "{text}");
        answer.complains(1, words);
    }
    Bench::new().run(&["verify", "-m", "quad8", "none.json"]).complains(1, &["none.json", "no such file"]);
}

/// Runs published single-step tests of real processors, where available. They are not part of this project: they are in
/// `../shared/vectors` beside it, or where `LATHE_VECTORS` says.
#[track_caller]
fn published(machine: &str) {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("LATHE_VECTORS").map_or(beside, Into::into).join(machine);
    let Ok(entries) = folder.read_dir() else {
        // Not with a macro, whose output is suppressed for tests that pass.
        let message = format!("SKIPPED: no published vectors for {machine} in {}\n", folder.display());
        std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes()).unwrap();
        return;
    };
    let mut files: Vec<String> = entries.map(|entry| entry.unwrap().path().to_string_lossy().into_owned()).collect();
    files.sort();
    for engine in crate::ENGINES {
        let mut arguments = vec!["verify", "-m", machine, "--engine", engine];
        arguments.extend(files.iter().map(String::as_str));
        let answer = Bench::new().run(&arguments);
        assert!(
            answer.code == 0 && answer.out.ends_with(" passed, 0 failed\n"),
            "{engine}: {}{}",
            answer.out,
            answer.err
        );
    }
}

#[test]
fn published_vectors_of_the_sm83_pass() {
    published("sm83");
}

#[test]
fn published_vectors_of_the_6502_pass() {
    published("mos6502");
}

/// Cartridges that test the machine and print `Passed`, where available: beside the published vectors.
#[test]
fn published_cartridges_pass_on_the_game_boy() {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors");
    let folder = std::env::var_os("LATHE_VECTORS").map_or(beside, Into::into).join("gameboy");
    for name in ["cpu_instrs.gb", "instr_timing.gb"] {
        let path = folder.join(name);
        if !path.is_file() {
            let message = format!("SKIPPED: no {name} in {}\n", folder.display());
            std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes()).unwrap();
            continue;
        }
        for engine in crate::ENGINES {
            let path = path.to_string_lossy();
            let answer = Bench::new().run(&["run", &path, "-m", "gameboy", "--engine", engine]);
            assert!(answer.code == 0 && answer.out.contains("Passed"), "{engine}: {}{}", answer.out, answer.err);
        }
    }
}
