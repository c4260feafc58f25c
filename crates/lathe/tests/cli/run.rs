//! `lathe run`.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::Bench;

/// quad8: copies its input to its output, and halts at its end.
/// `in a; skipnz a; halt; out a; jalr d, [c]`
const CAT: [u8; 5] = [0x83, 0x41, 0x01, 0x82, 0x5E];
/// quad8: writes zeros for ever. `out a; jalr d, [c]`
const ENDLESS: [u8; 2] = [0x82, 0x5E];

#[test]
fn input_becomes_output_and_nothing_else_is_printed() {
    let bench = Bench::with("cat.bin", CAT);
    assert_eq!(bench.run_with_input(&["run", "cat.bin", "-m", "quad8"], b"hello\nworld").succeeds(), "hello\nworld");
    assert_eq!(bench.run(&["run", "cat.bin", "-m", "quad8"]).succeeds(), "");
}

#[test]
fn much_input_and_output_comes_through_whole() {
    let bench = Bench::with("cat.bin", CAT);
    let input: Vec<u8> = (0..300_000u32).map(|at| b'a' + (at % 23) as u8).collect();
    std::fs::write(bench.path().join("input"), &input).unwrap();
    let file = std::fs::File::open(bench.path().join("input")).unwrap();
    let output = bench.command(&["run", "cat.bin", "-m", "quad8"]).stdin(file).output().unwrap();
    assert!(output.stdout == input);
}

#[test]
fn with_a_console_the_state_goes_to_standard_error() {
    let bench = Bench::with("cat.bin", CAT);
    let answer = bench.run_with_input(&["run", "cat.bin", "-m", "quad8", "--state"], b"!");
    assert_eq!(answer.out, "!");
    let expected = "quad8 halted after 7 steps\n  \
        pc 0x0003  a 0x00  b 0x00  c 0x00  d 0x05  page 0x00  stackpage 0x00  sp 0x00\n";
    assert_eq!((answer.code, answer.err.as_str()), (0, expected));
}

/// stack8a: `x5; x41; add; htl`
const SUM: [u8; 5] = [0xF5, 0x01, 0x41, 0x20, 0x02];

#[test]
fn without_a_console_the_state_is_the_answer() {
    let bench = Bench::with("sum.bin", SUM);
    let text = bench.run(&["run", "sum.bin", "-m", "stack8a"]).succeeds();
    let expected = "stack8a halted after 4 steps\n  \
        pc 0x05  sp 0xFF  carry 0\n\
        prog:\n  \
        00  F5 01 41 20 02 00 00 00 00 00 00 00 00 00 00 00  ..A .\n\
        data:\n  \
        F0  00 00 00 00 00 00 00 00 00 00 00 00 00 00 41 46                AF\n";
    assert_eq!(text, expected);
    assert_eq!(bench.run(&["run", "sum.bin", "-m", "stack8a", "--state"]).succeeds(), expected);
}

#[test]
fn the_state_as_json() {
    let bench = Bench::with("sum.bin", SUM).file("cat.bin", CAT);
    let answer = bench.run(&["run", "sum.bin", "-m", "stack8a", "--format", "json"]);
    let expected = serde_json::json!({
        "machine": "stack8a", "status": "halted", "steps": 4,
        "registers": {"pc": 5, "sp": 255, "carry": 0},
        "memories": {"prog": [[0, 0xF5], [1, 1], [2, 0x41], [3, 0x20], [4, 2]], "data": [[254, 0x41], [255, 0x46]]},
    });
    assert_eq!(answer.json(), expected);
    assert_eq!(answer.succeeds().lines().count(), 1);
    let answer = bench.run_with_input(&["run", "cat.bin", "-m", "quad8", "--format", "json"], b"!");
    assert_eq!(answer.out, "!");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&answer.err).unwrap()["registers"]["d"], 5);
}

#[test]
fn an_undefined_encoding_is_a_fault() {
    let answer = Bench::with("bad.bin", [0x82, 0x00, 0xB7]).run(&["run", "bad.bin", "-m", "quad8"]);
    assert_eq!(answer.out, "\0");
    let expected = "error: the machine faulted: no instruction has this encoding\n  \
        at pc 0x0002, after 2 steps\n  \
        bytes at pc: B7\n  \
        pc 0x0002  a 0x00  b 0x00  c 0x00  d 0x00  page 0x00  stackpage 0x00  sp 0x00\n";
    assert_eq!((answer.code, answer.err.as_str()), (3, expected));
}

#[test]
fn a_trap_that_nobody_handles_has_its_name() {
    let bench = Bench::with("div.bin", [0x20, 0x52, 0x12, 0x34]);
    let words =
        ["unhandled trap 2 (divide)", "at pc 0x0001, after 1 step\n", "52 12 34  (div A, B, C, E)", "rs   0xFFE0"];
    bench.run(&["run", "div.bin", "-m", "duo16"]).complains(3, &words);
    let answer = bench.run(&["run", "div.bin", "-m", "duo16", "--format", "json"]);
    assert_eq!((answer.code, answer.out.as_str()), (3, ""));
    let report: serde_json::Value = serde_json::from_str(&answer.err).unwrap();
    assert_eq!(report["status"], "fault");
    assert_eq!(report["fault"], serde_json::json!({"pc": 1, "cause": "unhandled trap 2 (divide)"}));
}

#[test]
fn a_fault_without_a_console_leaves_the_state_on_standard_output() {
    let answer = Bench::with("bad.bin", [0xF5, 0x03]).run(&["run", "bad.bin", "-m", "stack8a"]);
    assert!(answer.out.starts_with("stack8a faulted after 1 step\n  pc 0x01  sp 0xFF"), "{}", answer.out);
    answer.complains(3, &["no instruction has this encoding", "at pc 0x01, after 1 step\n", "  pc 0x01  sp 0xFF"]);
}

#[test]
fn the_step_limit_ends_with_4() {
    let bench = Bench::with("endless.bin", ENDLESS);
    let answer = bench.run(&["run", "endless.bin", "-m", "quad8", "--max-steps", "1_001"]);
    assert_eq!(answer.out.len(), 501);
    answer.complains(4, &["after 1001 steps", "--max-steps", "pc 0x0001"]);
    // More than one slice, and not a whole number of them.
    let answer = bench.run(&["run", "endless.bin", "-m", "quad8", "--max-steps", "600000"]);
    assert_eq!((answer.code, answer.out.len()), (4, 300_000));
    let answer = bench.run(&["run", "endless.bin", "-m", "quad8", "--max-steps", "0", "--state"]);
    assert_eq!((answer.code, answer.out.len()), (4, 0));
}

#[test]
fn a_jump_to_itself_halts() {
    let answer = Bench::with("stop.bin", [0x80, 0x00, 0x00]).run(&["run", "stop.bin", "-m", "hex8"]);
    assert_eq!(answer.succeeds(), "");
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let bench = Bench::with("endless.bin", ENDLESS);
    let mut command = bench.command(&["run", "endless.bin", "-m", "quad8", "--max-steps", "400_000_000"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdout.take().unwrap().read_exact(&mut [0; 3]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// What a program has written is there before it waits for an answer.
#[test]
fn a_question_is_seen_before_the_answer_is_read() {
    // `inc a; out a; in b; out b; halt`
    let bench = Bench::with("ask.bin", [0x80, 0x82, 0x87, 0x86, 0x01]);
    let mut command = bench.command(&["run", "ask.bin", "-m", "quad8"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    let reading = std::thread::spawn(move || {
        let mut byte = [0];
        while output.read_exact(&mut byte).is_ok() {
            let _ = sender.send(byte[0]);
        }
    });
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(1));
    child.stdin.take().unwrap().write_all(b"x").unwrap();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(b'x'));
    reading.join().unwrap();
    assert!(child.wait().unwrap().success());
}

/// A program that never reads does not wait for input that never comes.
#[test]
fn input_is_read_only_when_asked_for() {
    let bench = Bench::with("halt.bin", [0x01]);
    let mut command = bench.command(&["run", "halt.bin", "-m", "quad8"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let kept_open = child.stdin.take();
    assert!(child.wait().unwrap().success());
    drop(kept_open);
}

#[test]
fn an_image_comes_from_standard_input() {
    let bench = Bench::new();
    assert!(bench.run_with_input(&["run", "-", "-m", "stack8a"], &SUM).succeeds().contains("AF\n"));
    bench.run(&["run", "-", "-m", "-"]).complains(2, &["both"]);
}

#[test]
fn images_that_do_not_fit() {
    let bench = Bench::with("large.bin", [0; 257]).file("full.bin", [2; 256]);
    bench
        .run(&["run", "large.bin", "-m", "stack8a"])
        .complains(1, &["large.bin", "257 bytes", "`prog`", "room for 256"]);
    bench.run(&["run", "full.bin", "-m", "stack8a"]).succeeds();
    bench.run(&["run", "missing.bin", "-m", "stack8a"]).complains(1, &["missing.bin", "no such file"]);
}

/// Twelve bits in a cell, so two bytes each in an image.
const WIDE: &str = r#"machine wide "Twelve bits"
memory code : u4 -> u12 ORDER
pc pc : u4 in code
register a : u12
field N : u8
instructions {
  halt   | 0000 0000 0000 | halt
  load N | 0001 NNNNNNNN  | a = zext(N)
  show   | 0010 0000 0000 | a = a
}
"#;

#[test]
fn wide_cells_are_read_in_the_order_of_the_memory() {
    let bench = Bench::new()
        .file("big.isa", WIDE.replace("ORDER", "big"))
        .file("little.isa", WIDE.replace("ORDER", "little"))
        .file("big.bin", [0x01, 0x42, 0x00, 0x00])
        .file("little.bin", [0x42, 0x01, 0x00, 0x00])
        .file("odd.bin", [0x01, 0x42, 0x00])
        .file("large.bin", [0x11, 0x42])
        .file("long.bin", [0; 34]);
    for order in ["big", "little"] {
        let answer = bench.run(&["run", &format!("{order}.bin"), "-m", &format!("{order}.isa")]);
        let text = answer.succeeds();
        assert!(text.contains("  pc 0x2  a 0x042\n") && text.contains("  0  142 000 000"), "{text}");
    }
    bench.run(&["run", "odd.bin", "-m", "big.isa"]).complains(1, &["2 bytes", "3 bytes end within a cell"]);
    bench.run(&["run", "large.bin", "-m", "big.isa"]).complains(1, &["code[0x0]", "0x1142", "12 bits"]);
    bench.run(&["run", "large.bin", "-m", "little.isa"]).complains(1, &["0x4211", "low byte first"]);
    bench.run(&["run", "long.bin", "-m", "big.isa"]).complains(1, &["34 bytes", "room for 32"]);
}

#[test]
fn a_wrong_definition_is_told_and_not_run() {
    let bench = Bench::with("wrong.isa", "machine wrong \"Nothing in it\"\n").file("x.bin", [0]);
    let answer = bench.run(&["run", "x.bin", "-m", "wrong.isa"]);
    assert_eq!(answer.out, "");
    answer.complains(1, &["error[E206]", "wrong.isa cannot be used: "]);
}

#[test]
fn warnings_of_a_definition_are_left_to_check() {
    let warned = crate::check::COUNTER.replace("register a : u8", "register a, idle : u8");
    let bench = Bench::with("warned.isa", warned).file("x.bin", [1, 0]);
    assert!(bench.run(&["run", "x.bin", "-m", "warned.isa"]).succeeds().contains("a 0x01"));
}
