//! `lathe test`: programs with expectations, folders of submissions, and what may be in them.

use std::fmt::Write;

use crate::{Bench, ENGINES};

const GOOD: &str = "; expect: output \"hi\\n\"\n; expect: a = 10, ram[text] = \"hi\"\n; expect: steps <= 20\n\
    .machine quad8\n li a, 'h'\n out a\n li a, 'i'\n out a\n li a, 10\n out a\n halt\ntext: .ascii \"hi\"\n";

/// Adds two digits that it reads.
const ADD: &str = ".machine quad8\n in a\n in b\n li c, '0'\n sub a, c\n add a, b\n out a\n halt\n";

#[test]
fn a_program_says_itself_what_it_must_do() {
    let bench = Bench::with("good.asm", GOOD).file("lib.asm", ".machine quad8\n nop\n");
    let answer = bench.run(&["test"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{}", answer.out);
    assert_eq!(answer.out, "ok    good.asm  10 steps\n1 passed, 1 without expectations\n");
}

#[test]
fn what_is_wrong_is_shown_line_by_line() {
    let wrong = GOOD.replace("\"hi\\n\"", "\"ho\\n\"").replace("a = 10", "a = 11").replace("<= 20", "<= 5");
    let answer = Bench::with("wrong.asm", wrong).run(&["test"]);
    assert_eq!(answer.code, 1);
    let lines = [
        "FAIL  wrong.asm  10 steps",
        "      the output differs from line 1:",
        "        - ho",
        "        + hi",
        "      a: expected 0x0B, found 0x0A",
        "      it took 10 steps, at most 5 were expected",
        "0 passed, 1 failed",
    ];
    assert_eq!(answer.out.lines().collect::<Vec<_>>(), lines);
}

/// A program that hangs is reported as hanging, not also as taking too long.
#[test]
fn a_run_that_was_cut_off_is_told_once() {
    let hangs = "; expect: steps <= 10\n.machine quad8\nx: inc a\n jmp x\n";
    let answer = Bench::with("hangs.asm", hangs).run(&["test", "--max-steps", "100"]);
    let lines = ["FAIL  hangs.asm  100 steps", "      it did not end within 100 steps", "0 passed, 1 failed"];
    assert_eq!((answer.code, answer.out.lines().collect::<Vec<_>>()), (1, lines.to_vec()));
}

#[test]
fn nothing_to_test_is_no_success() {
    let bench = Bench::with("quiet.asm", ".machine quad8\n halt\n");
    bench.run(&["test"]).complains(1, &["nothing was tested", "; expect: output"]);
    bench.run(&["test", "nowhere"]).complains(2, &["no file and no folder nowhere"]);
    let empty = Bench::new();
    empty.run(&["test"]).complains(1, &["nothing was tested"]);
}

#[test]
fn a_mistake_in_an_expectation_is_no_success_either() {
    for (text, part) in [
        ("; expect: outptu \"x\"\n", "line 1: `outptu \"x\"` is not an expectation"),
        ("; expect: e = 5\n", "quad8 has no register `e`"),
        ("; expect: rom[1] = 5\n", "quad8 has no memory `rom`"),
        ("; expect: a = 256\n", "256 is expected where there are only 8 bits"),
        ("; expect: cycles <= 5\n", "quad8 does not count cycles"),
        ("; expect: a = nowhere\n", "`nowhere` is neither a number nor a name"),
    ] {
        let answer = Bench::with("t.asm", format!("{text}.machine quad8\n halt\n")).run(&["test"]);
        assert!(answer.code == 1 && answer.out.contains(part), "{text}: {}", answer.out);
    }
}

#[test]
fn files_beside_a_program_say_what_it_must_do() {
    let bench = Bench::with("add.asm", ADD).file("add.in", "34").file("add.out", "7");
    assert_eq!(bench.run(&["test"]).succeeds(), "ok    add.asm  8 steps\n1 passed\n");
    let cases =
        "steps <= 100\ncase small\ninput \"34\"\noutput \"7\"\n\ncase \"too large\"\ninput \"99\"\noutput \"18\"\n";
    let bench = Bench::with("add.asm", ADD).file("add.expect", cases);
    let answer = bench.run(&["test", "add.asm"]);
    for part in
        ["FAIL  add.asm  2 cases, 16 steps\n", "      case too large:\n", "        - 18  (no newline at the end)\n"]
    {
        assert!(answer.out.contains(part), "`{part}` is missing from:\n{}", answer.out);
    }
}

#[test]
fn how_a_run_ends_can_be_expected() {
    let fault = ".machine quad8\n .byte 0xFF & 0xBF\n";
    let bench = Bench::with("fault.asm", format!("; expect: ends fault\n{fault}"))
        .file("bad.asm", format!("; expect: a = 0\n{fault}"))
        .file("limit.asm", "; expect: ends limit\n.machine quad8\nagain: inc a\n li d, again\n jmp d\n");
    let answer = bench.run(&["test", "--max-steps", "1000"]);
    assert!(answer.out.contains("FAIL  bad.asm  0 steps\n      the machine faulted: "), "{}", answer.out);
    assert!(answer.out.ends_with("2 passed, 1 failed\n"), "{}", answer.out);
}

/// Creates submissions for one set of expectations. Some are hostile, and each may only harm itself.
fn submissions(count: usize) -> Bench {
    let bench =
        Bench::with("task.expect", "case one\ninput \"34\"\noutput \"7\"\ncase two\ninput \"20\"\noutput \"2\"\n");
    std::fs::create_dir(bench.path().join("in")).unwrap();
    for at in 0..count {
        let text = match at % 10 {
            0..=4 => ADD.to_owned(),
            5 => ADD.replace("add a, b", "sub a, b"),
            6 => "again: li d, again\n jmp d\n".to_owned(),
            7 => "again: li a, 'x'\n out a\n li d, again\n jmp d\n".to_owned(),
            8 => " .include \"../task.expect\"\n .include \"s000.asm\"\n .incbin \"/etc/passwd\"\n".to_owned(),
            _ => "; expect: output \"\"\n .macro m\n m\n .endm\n m\n\u{0} what is this\n".to_owned(),
        };
        std::fs::write(bench.path().join(format!("in/s{at:03}.asm")), text).unwrap();
    }
    bench
}

const GRADE: &[&str] =
    &["test", "in", "-m", "quad8", "--expect", "task.expect", "--max-steps", "200_000", "--max-output", "1000"];

#[test]
fn two_hundred_submissions_cost_only_themselves() {
    let bench = submissions(200);
    let answer = bench.run(&[GRADE, &["--report", "grades.csv", "--report", "results.xml"]].concat());
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    assert!(answer.out.ends_with("100 passed, 40 failed, 60 could not be run\n"), "{}", answer.out);
    let csv = bench.read_text("grades.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 201);
    assert_eq!(lines[1], "in/s000.asm,quad8,passed,2,2,16,,");
    assert_eq!(lines[6], "in/s005.asm,quad8,failed,0,2,16,,one: the output differs from line 1");
    assert!(lines[7].starts_with("in/s006.asm,quad8,failed,0,2,"), "{}", lines[7]);
    assert!(lines[8].ends_with("one: it printed more than 1000 bytes"), "{}", lines[8]);
    assert!(lines[9].contains("a submission stands alone"), "{}", lines[9]);
    assert!(!csv.contains("root:"), "a submission has read what it must not");
    let xml = bench.read_text("results.xml");
    assert!(xml.starts_with("<?xml") && xml.contains("<testcase classname=\"in/s005.asm\" name=\"one\""), "{xml}");
}

#[test]
fn shards_are_all_of_it_and_nothing_twice() {
    let bench = submissions(20);
    let mut all = String::new();
    for part in 1..=8 {
        let answer = bench.run(&[GRADE, &["--shard", &format!("{part}/8"), "--format", "csv"]].concat());
        all.extend(answer.out.lines().skip(1).flat_map(|line| [line, "\n"]));
    }
    let mut lines: Vec<&str> = all.lines().collect();
    lines.sort_unstable();
    let whole = bench.run(&[GRADE, &["--format", "csv"]].concat()).out;
    assert_eq!(lines, whole.lines().skip(1).collect::<Vec<_>>());
    bench.run(&[GRADE, &["--shard", "9/8"]].concat()).complains(2, &["not a part such as 2/8"]);
}

#[test]
fn results_as_data() {
    let bench = Bench::with("good.asm", GOOD).file("bad.asm", GOOD.replace("a = 10", "a = 11"));
    let answer = bench.run(&["test", "--format", "json"]);
    let json = answer.json();
    assert_eq!((&json["passed"], &json["failed"]), (&1.into(), &1.into()));
    let bad = &json["programs"][0];
    assert_eq!((&bad["program"], &bad["verdict"]), (&"bad.asm".into(), &"failed".into()));
    assert_eq!(bad["cases"][0]["differences"][0], "a: expected 0x0B, found 0x0A");
    assert_eq!(bad["cases"][0]["steps"], 10);
    bench.run(&["test", "--report", "x.doc"]).complains(2, &["x.doc", ".xml"]);
}

/// Every shipped program, on every engine.
#[test]
fn the_programs_that_come_along_do_what_they_say() {
    let machines = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines");
    let mut told = String::new();
    for engine in ENGINES.iter().filter(|engine| **engine != "auto") {
        let answer = Bench::new().run(&["test", machines, "--max-time", "600", "--engine", engine]);
        assert_eq!(answer.code, 0, "{engine}\n{}", answer.out);
        let passed: usize = answer.out.lines().last().unwrap().split(' ').next().unwrap().parse().unwrap();
        assert!(passed >= 93, "only {passed} programs: some expect nothing any more");
        let _ = writeln!(told, "{engine}: {passed} programs");
    }
    println!("{told}");
}
