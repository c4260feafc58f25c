//! `lathe run`.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::Bench;

/// quad8: copies its input to its output, and halts at the end of the input.
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
    assert_eq!((&answer.json()["output"], &answer.json()["registers"]["d"]), (&"!".into(), &5.into()));
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
    assert_eq!((answer.code, answer.err.as_str()), (3, ""));
    let report = answer.json();
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
    answer.complains(4, &["step limit reached after 1001 steps; next pc 0x0001\n"]);
    // Several slices, and not a whole number of them.
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

/// A program's output is visible before it waits for an answer.
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

/// A program that never reads does not wait for input.
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
    let bench = bench.file("empty.bin", []).file("empty.asm", ".machine quad8\n; nothing\n").file("dev.bin", [0]);
    bench.run(&["run", "empty.bin", "-m", "quad8"]).complains(1, &["empty.bin holds no cells", "right file"]);
    bench.run(&["run", "empty.asm"]).complains(1, &["empty.asm holds no cells"]);
    std::fs::create_dir(bench.path().join("folder")).unwrap();
    bench.run(&["run", "folder", "-m", "quad8"]).complains(1, &["it is a directory", "a file in it"]);
}

/// Cells of twelve bits, so two bytes each in an image.
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

/// Code and data at both ends of a memory with 64-bit addresses, in all forms of a program.
#[test]
fn a_program_at_addresses_of_64_bits() {
    let program = ".machine far64\n.entry start\nstart: li b, text\n li sp, 0x10\n call print\n halt\n\
        .org 0xFFFF_8000_0000_0000\nprint: lb a, 0(b)\n xor c, c\n add a, c\n bz done\n out a\n addi b, 1\n jmp print\n\
        done: ret\n.org 0xFFFF_FFFF_FFFF_FFFC\ntext: .byte 79, 107, 10, 0\n";
    let bench = Bench::with("far64.isa", include_str!("../../../../tests/machines/far64.isa")).file("far.asm", program);
    assert_eq!(bench.run_on_all(&["run", "far.asm"], b"").succeeds(), "Ok\n");
    assert_eq!(bench.run(&["asm", "far.asm", "--to", "image,listing,symbols"]).code, 0);
    assert!(bench.read_text("far.lst").contains("  fffffffffffffffc  4f 6b 0a 00"), "{}", bench.read_text("far.lst"));
    assert!(bench.read_text("far.sym").contains("print = 0xffff800000000000\n"), "{}", bench.read_text("far.sym"));
    assert_eq!(bench.run_on_all(&["run", "far.lathe", "-m", "far64.isa"], b"").succeeds(), "Ok\n");
    assert_eq!(bench.run(&["dis", "far.lathe", "-m", "far64.isa", "-o", "again.asm"]).code, 0);
    assert_eq!(bench.run_on_all(&["run", "again.asm", "-m", "far64.isa"], b"").out, "Ok\n");
    bench
        .run(&["asm", "far.asm", "-o", "far.hex"])
        .complains(1, &["byte address 0xffffffffffffffff is beyond the 32 bits of Intel HEX", "`image`"]);
    assert!(!bench.path().join("far.hex").exists());
    // A part of it as plain bytes, and loaded back where it was.
    let range = "0xFFFFFFFFFFFFFFFC..0xFFFFFFFFFFFFFFFF";
    assert_eq!(bench.run(&["asm", "far.asm", "--range", range, "-o", "text.bin"]).code, 0);
    assert_eq!(bench.read("text.bin"), b"Ok\n\0");
    let script = bench.file("script", "break print\ncontinue\nmemory ram[0xFFFFFFFFFFFFFFFC]\nback 1\nprint pc\n");
    let answer = script.run(&["debug", "far.asm", "--batch", "script"]);
    for text in ["breakpoint 1 reached", "0xFFFF800000000000 <print>", "ram FFFFFFFFFFFFFFFC  4F 6B 0A 00 "] {
        assert!(answer.out.contains(text), "{}{}", answer.out, answer.err);
    }
}

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
    bench.run(&["run", "odd.bin", "-m", "big.isa"]).complains(1, &["odd.bin", "0x1 is incomplete", "2 bytes"]);
    bench.run(&["run", "large.bin", "-m", "big.isa"]).complains(1, &["0x1142", "12 bits", "address 0x0"]);
    bench.run(&["run", "large.bin", "-m", "little.isa"]).complains(1, &["0x4211", "12 bits"]);
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

/// quad8: writes `A`.
const LETTER: &str = ".machine quad8\n li a, 'A'\n out a\n halt\n";

#[test]
fn a_source_is_assembled_first() {
    let bench = Bench::with("a.asm", LETTER)
        .file("bom.asm", format!("\u{FEFF}{LETTER}"))
        .file("named_otherwise.txt", LETTER)
        .file("without.asm", LETTER.replace(".machine quad8", "; nothing"))
        .file("wrong.asm", LETTER.replace("halt", "hlat"));
    for name in ["a.asm", "bom.asm", "named_otherwise.txt"] {
        assert_eq!(bench.run(&["run", name]).succeeds(), "A", "{name}");
    }
    assert_eq!(bench.run(&["run", "without.asm", "-m", "quad8"]).succeeds(), "A");
    bench.run(&["run", "without.asm"]).complains(2, &["which machine without.asm is for", "`-m NAME`"]);
    bench.run(&["run", "a.asm", "-m", "hex8"]).complains(1, &["error[A404]", "a.asm:1:10", "`-m quad8`"]);
    let answer = bench.run(&["run", "wrong.asm"]);
    assert_eq!(answer.out, "");
    answer.complains(1, &["error[A301]", "wrong.asm:4:2", "did you mean `halt`?", "cannot be assembled: 1 error"]);
    assert_eq!(bench.names().len(), 5, "running writes nothing");
}

#[test]
fn a_source_from_standard_input() {
    let bench = Bench::new();
    assert_eq!(bench.run_with_input(&["run", "-"], LETTER.as_bytes()).succeeds(), "A");
    let without = LETTER.replace(".machine quad8", "");
    let arguments = ["run", "-", "-m", "quad8", "--from", "asm"];
    assert_eq!(bench.run_with_input(&arguments, without.as_bytes()).succeeds(), "A");
    bench.run_with_input(&["run", "-"], &[0x01]).complains(2, &["which machine standard input is for"]);
}

/// Each format is recognised by its content or else by its name.
#[test]
fn images_of_every_format_that_can_be_read() {
    let bench = Bench::with("a.asm", LETTER);
    let formats = ["bin", "hex", "srec", "readmemh", "readmemb", "logisim", "logisim2", "image"];
    bench.run(&["asm", "a.asm", "-f", &formats.join(",")]).complains(0, &["wrote a.bin", "wrote a.lathe"]);
    for name in ["a.bin", "a.hex", "a.srec", "a.mem", "a.memb", "a.logisim", "a.logisim2", "a.lathe"] {
        assert_eq!(bench.run(&["run", name, "-m", "quad8"]).succeeds(), "A", "{name}");
    }
    for (name, format) in [("a.mem", "readmemh"), ("a.memb", "readmemb"), ("a.bin", "bin"), ("a.lathe", "image")] {
        std::fs::copy(bench.path().join(name), bench.path().join("x")).unwrap();
        assert_eq!(bench.run(&["run", "x", "-m", "quad8", "--from", format]).succeeds(), "A", "{name}");
    }
    for name in ["a.hex", "a.srec", "a.logisim", "a.lathe"] {
        let answer = bench.run_with_input(&["run", "-", "-m", "quad8"], &bench.read(name));
        assert_eq!(answer.succeeds(), "A", "{name}");
    }
    bench.run(&["run", "a.hex"]).complains(2, &["which machine a.hex is for"]);
}

#[test]
fn an_image_that_knows_its_machine() {
    let bench = Bench::with("a.asm", LETTER)
        .file("mine.isa", crate::check::COUNTER.replace("machine counter", "machine mine"))
        .file("m.asm", ".machine mine\n inc\n halt\n");
    bench.run(&["asm", "a.asm", "-f", "image"]).writes(&["a.lathe"]);
    assert_eq!(bench.run(&["run", "a.lathe"]).succeeds(), "A");
    assert_eq!(bench.run_with_input(&["run", "-"], &bench.read("a.lathe")).succeeds(), "A");
    bench.run(&["run", "a.lathe", "-m", "hex8"]).complains(1, &["a.lathe", "for machine `quad8`, not for `hex8`"]);
    let whole = bench.read("a.lathe");
    let bench = bench.file("half.lathe", &whole[..whole.len() / 2]);
    bench.run(&["run", "half.lathe"]).complains(1, &["half.lathe, line", "damaged", "assemble the program again"]);
    bench.run(&["asm", "m.asm", "-f", "image"]).writes(&["m.lathe"]);
    assert!(bench.run(&["run", "m.lathe"]).succeeds().contains("a 0x01"));
    // The definition changes, and then disappears.
    let changed = bench.read_text("mine.isa").replace("a + 1", "a + 2").replace("-> a = 2", "-> a = 3");
    let bench = bench.file("mine.isa", changed);
    let answer = bench.run(&["run", "m.lathe"]);
    assert!(answer.out.contains("a 0x02"), "{}", answer.out);
    answer.complains(0, &["warning: the definition mine.isa has changed since m.lathe", "assemble it again"]);
    std::fs::remove_file(bench.path().join("mine.isa")).unwrap();
    bench.run(&["run", "m.lathe"]).complains(1, &["m.lathe is for a machine `mine`", "mine.isa beside"]);
}

#[test]
fn images_that_are_damaged_say_where() {
    let bench = Bench::with("sum.hex", ":0100000001FF\n")
        .file("beyond.hex", ":02000004FFFFFC\n:0100000001FE\n:00000001FF\n")
        .file("digit.mem", "@0\n80 8x\n");
    bench.run(&["run", "sum.hex", "-m", "quad8"]).complains(1, &["sum.hex, line 1", "sum"]);
    bench.run(&["run", "beyond.hex", "-m", "quad8"]).complains(1, &["beyond.hex, line 2", "beyond memory `ram`"]);
    bench.run(&["run", "digit.mem", "-m", "quad8"]).complains(1, &["digit.mem, line 2", "`x`"]);
}

/// hex8: counts to a million, then writes a letter and stops.
const LONG: &str = "
.machine hex8
outer:  addimm r2, r2, 1
        eqimm r4, r2, 0
        add r3, r4
        neqimm r5, r3, 250
        jmpbwdo r5, outer
        loadimm r1, 'x'
        output r1
        jmp $
";

#[test]
fn every_engine_does_the_same_for_short_runs_and_long_ones() {
    let bench = Bench::with("cat.bin", CAT).file("long.asm", LONG).file("bad.bin", [0x82, 0x00, 0xB7]);
    assert_eq!(bench.run_on_all(&["run", "cat.bin", "-m", "quad8"], b"some input").succeeds(), "some input");
    assert_eq!(bench.run_on_all(&["run", "bad.bin", "-m", "quad8"], b"").code, 3);
    assert_eq!(bench.run_on_all(&["run", "long.asm", "--format", "json"], b"").json()["output"], "x");
    for limit in ["0", "1", "4999", "5003", "77777", "78082"] {
        let answer = bench.run_on_all(&["run", "long.asm", "--format", "json", "--max-steps", limit], b"");
        let report = answer.json();
        assert_eq!((report["status"].as_str(), report["steps"].to_string().as_str()), (Some("limit"), limit));
    }
}

#[test]
fn statistics_go_to_standard_error() {
    let bench = Bench::with("cat.bin", CAT).file("long.asm", LONG).file("sum.bin", SUM);
    let answer = bench.run_with_input(&["run", "cat.bin", "-m", "quad8", "--stats", "--engine", "fast"], b"!");
    assert_eq!(answer.out, "!");
    let engine = if cfg!(feature = "jit") { "engine         fast\n" } else { "fast (this build has no JIT" };
    answer.complains(0, &[engine, "instructions   7\n", "time ", "million instructions a second"]);
    let answer = bench.run(&["run", "sum.bin", "-m", "stack8a", "--stats"]);
    assert!(answer.out.starts_with("stack8a halted after 4 steps\n") && !answer.out.contains("engine"));
    answer.complains(0, &["instructions   4\n"]);
}

#[test]
fn statistics_as_json_stand_with_the_state() {
    let bench = Bench::with("long.asm", LONG).file("sum.bin", SUM);
    let answer = bench.run(&["run", "sum.bin", "-m", "stack8a", "--stats", "--format", "json", "--engine", "interp"]);
    let stats = &answer.json()["stats"];
    assert_eq!((stats["engine"].as_str(), stats["instructions"].as_u64()), (Some("interp"), Some(4)));
    assert!(stats["seconds"].is_f64() && stats["millions_per_second"].is_f64() && stats["regions"].is_null());
    let without = bench.run(&["run", "sum.bin", "-m", "stack8a", "--format", "json"]);
    assert!(without.json()["stats"].is_null());
}

#[test]
#[cfg(feature = "jit")]
fn a_long_run_is_compiled() {
    let bench = Bench::with("long.asm", LONG);
    // By default, code is compiled on another thread, which may take longer than the run.
    let report = bench.run(&["run", "long.asm", "--stats", "--format", "json"]).json();
    assert_eq!(report["stats"]["engine"], "jit");
    let report = bench.run(&["run", "long.asm", "--stats", "--format", "json", "--engine", "jit"]).json();
    let stats = &report["stats"];
    assert_eq!((stats["engine"].as_str(), stats["regions"].as_u64()), (Some("jit"), Some(1)));
    assert_eq!((&stats["invalidations"], stats["improved"].is_u64()), (&0.into(), true));
    assert!(stats["compiled_steps"].as_u64() > stats["instructions"].as_u64().map(|all| all / 4), "{stats}");
    let words = ["regions        1 compiled, of ", "0 thrown away when their code changed"];
    bench.run(&["run", "long.asm", "--stats", "--engine", "jit"]).complains(0, &words);
}

/// A memory too large to be kept in one piece, and a loop that fills some of it.
const LARGE: &str = r#"
machine large "A great deal of memory"
memory ram : u24 -> u8
pc pc : u24 in ram
register a : u24
instructions {
  inc  | 0000 0001 | a = a + 1
  put  | 0000 0010 | ram[a + 0xF0_0000] = 7
  loop | 0000 0011 | if a[18] == 0 { pc = 0 }
  halt | 0000 0000 | halt
}
"#;

#[test]
#[cfg(feature = "jit")]
fn a_machine_with_a_large_memory_is_compiled_too() {
    let bench = Bench::with("large.isa", LARGE).file("fill.bin", [1, 2, 3, 0]);
    let arguments = ["run", "fill.bin", "-m", "large.isa", "--stats", "--format", "json", "--engine", "jit"];
    let answer = bench.run(&arguments);
    let (report, compiled) = (answer.json(), |report: &serde_json::Value| report["stats"]["compiled_steps"].as_u64());
    assert_eq!((&report["registers"]["a"], &report["stats"]["engine"]), (&0x4_0000.into(), &"jit".into()));
    assert!(compiled(&report) > Some(100_000), "{}", report["stats"]);
}

#[test]
#[cfg(not(feature = "jit"))]
fn a_build_without_the_jit_says_so() {
    let bench = Bench::with("large.isa", LARGE).file("fill.bin", [1, 2, 3, 0]);
    let words = ["this build of Lathe has no JIT", "cargo install --path crates/lathe", "choose `fast`"];
    bench.run(&["run", "fill.bin", "-m", "large.isa", "--engine", "jit"]).complains(2, &words);
}

#[test]
#[cfg(not(feature = "lsp"))]
fn the_quick_build_says_what_it_leaves_out() {
    let bench = Bench::with("a.asm", ".machine quad8\n halt\n");
    let words = ["this build of Lathe has no language server", "cargo install --path crates/lathe"];
    bench.run(&["lsp"]).complains(2, &words);
    bench.run(&["debug", "a.asm", "--gdb", "0"]).complains(2, &["this build of Lathe has no server for gdb"]);
    assert_eq!(bench.run_with_input(&["debug", "a.asm"], b"step\n").code, 0);
}

/// Builds a 32-bit ELF file with one segment at 0x1000 and, if requested, a symbol `tohost`.
pub(crate) fn elf(code: &[u32], tohost: bool) -> Vec<u8> {
    let code: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
    let start = 0x1000u32;
    let symbols: Vec<u8> = [
        [0u32, 0, 0, 0].map(u32::to_le_bytes).concat(),
        // Name, value, size; then global, without a type, absolute.
        [1u32, start + 0x100, 4, 0xFFF1 << 16 | 0x10].map(u32::to_le_bytes).concat(),
    ]
    .concat();
    let names = b"\0tohost\0";
    let (head, part, section) = (52u32, 32u32, 40u32);
    let code_at = head + part;
    let symbols_at = code_at + code.len() as u32;
    let names_at = symbols_at + symbols.len() as u32;
    let sections_at = (names_at + names.len() as u32).next_multiple_of(4);
    let sections = if tohost { 3u16 } else { 0 };
    let mut file = vec![0x7F, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |file: &mut Vec<u8>, value: u16| file.extend(value.to_le_bytes());
    let word = |file: &mut Vec<u8>, value: u32| file.extend(value.to_le_bytes());
    [2u16, 243].into_iter().for_each(|value| half(&mut file, value));
    [1, start, head, if tohost { sections_at } else { 0 }, 0].into_iter().for_each(|value| word(&mut file, value));
    [52u16, 32, 1, 40, sections, sections.saturating_sub(1)].into_iter().for_each(|value| half(&mut file, value));
    let length = code.len() as u32;
    [1, code_at, start, start, length, length + 0x200, 7, 4].into_iter().for_each(|value| word(&mut file, value));
    file.extend(&code);
    file.extend(&symbols);
    file.extend(names);
    file.resize(sections_at as usize, 0);
    file.resize((sections_at + section) as usize, 0);
    let table = [0, 2, 0, 0, symbols_at, symbols.len() as u32, 2, 1, 4, 16];
    let strings = [0, 3, 0, 0, names_at, names.len() as u32, 0, 0, 1, 0];
    table.into_iter().chain(strings).for_each(|value| word(&mut file, value));
    file
}

/// `li a0, 0`, `li a7, 93`, `ecall`.
const END_RV32: [u32; 3] = [0x0000_0513, 0x05D0_0893, 0x0000_0073];

#[test]
fn an_elf_file_is_loaded_and_begun_where_it_says() {
    let bench = Bench::with("t.elf", elf(&END_RV32, false));
    let answer = bench.run(&["run", "t.elf", "-m", "rv32i", "--format", "json"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    assert!(answer.json()["status"] == "halted" && answer.out.contains("4108"), "{answer:?}");
}

/// `lui t0, 1`, `li t1, told`, `sw t1, 0x100(t0)`, `j .`, with the last jumping back to the store.
pub(crate) fn telling(told: u32) -> [u32; 4] {
    [0x0000_12B7, told << 20 | 0x0313, 0x1062_A023, 0xFFDF_F06F]
}

#[test]
fn an_elf_file_tells_its_host_how_it_went() {
    let run = |told| Bench::with("t.elf", elf(&telling(told), true)).run_on_all(&["run", "t.elf", "-m", "rv32i"], b"");
    assert_eq!(run(1).code, 0);
    run(7).complains(3, &["test 3 failed, the program says in `tohost`", "at pc 0x0000100C, after 3 steps\n"]);
}

/// The run stops exactly there, even if the program then jumps to itself, and whatever the limit is.
#[test]
fn a_failure_counts_even_if_the_program_is_stuck_after_it() {
    let mut code = telling(5);
    code[3] = 0x0000_006F;
    let bench = Bench::with("t.elf", elf(&code, true));
    let run =
        |more: &[&str]| bench.run_on_all(&[&["run", "t.elf", "-m", "rv32i", "--format", "json"], more].concat(), b"");
    let answer = run(&[]);
    assert_eq!((answer.code, &answer.json()["steps"], &answer.json()["reason"]), (3, &3.into(), &"tohost".into()));
    assert_eq!(run(&["--max-steps", "3"]).code, 3);
    assert_eq!(run(&["--max-steps", "2"]).code, 4);
}

/// Two halves of a word, the lower one first and odd: a character for the console, not the end of the run.
#[test]
fn a_program_writes_through_its_host() {
    let put = [0x0410_0313, 0x1062_A023, 0x0101_03B7, 0x1072_A223];
    let end = [0x0010_0313, 0x1062_A023, 0x0000_006F];
    let code: Vec<u32> = [&[0x0000_12B7], &put[..], &put[..], &end[..]].concat();
    let answer = Bench::with("t.elf", elf(&code, true)).run_on_all(&["run", "t.elf", "-m", "rv32i"], b"");
    assert_eq!((answer.code, answer.out.as_str(), answer.err.as_str()), (0, "AA", ""));
}

#[test]
fn elf_files_that_cannot_be_loaded_say_why() {
    let refused = |bytes: &[u8], words: &str| {
        let answer = Bench::with("t.elf", bytes).run(&["run", "t.elf", "-m", "rv32i"]);
        assert!(answer.code == 1 && answer.err.contains(words), "{words}: {answer:?}");
    };
    let whole = elf(&END_RV32, true);
    let changed = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    refused(&changed(5, 2), "not one of 32 or 64 bits with the lowest byte first");
    refused(&changed(4, 2), "is damaged");
    refused(&changed(52, 6), "nothing to load");
    refused(&whole[..60], "is damaged");
    refused(&changed(52 + 19, 0x7F), "lies beyond its end");
}

#[test]
fn a_raw_binary_goes_where_it_is_told() {
    // lda #$41; sta $f001; jmp *
    let bench = Bench::with("t.bin", [0xA9, 0x41, 0x8D, 0x01, 0xF0, 0x4C, 0x05, 0x04]);
    let run = |more: &[&str]| bench.run(&[&["run", "t.bin", "-m", "mos6502"], more].concat());
    let answer = run(&["--load-at", "0x400"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, "A"));
    let answer = run(&["--load-at", "0xFFFF"]);
    assert_eq!(answer.code, 1);
    assert!(answer.err.contains("8 bytes do not fit: memory `ram` has room for 1 from 0xffff on"), "{}", answer.err);
    // The whole memory, with a program in its middle.
    let mut whole = vec![0; 1 << 16];
    whole[0x400..0x408].copy_from_slice(&bench.read("t.bin"));
    let bench = Bench::with("all.bin", whole);
    let answer = bench.run(&["run", "all.bin", "-m", "mos6502", "--entry", "0x400"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, "A"));
    let answer = bench.run(&["run", "all.bin", "-m", "mos6502", "--entry", "0x10000"]);
    assert!(answer.code == 2 && answer.err.contains("addresses of mos6502 go up to 0xffff"), "{}", answer.err);
}

#[test]
fn only_a_raw_binary_can_be_moved() {
    let source = ".machine mos6502\nstart: jmp start\n";
    let answer = Bench::with("t.asm", source).run(&["run", "t.asm", "--load-at", "0x400"]);
    assert!(answer.code == 2 && answer.err.contains("t.asm has addresses of its own"), "{}", answer.err);
    let answer = Bench::with("t.asm", source).run(&["run", "t.asm", "--entry", "stat"]);
    assert!(answer.code == 2 && answer.err.contains("did you mean `start`?"), "{}", answer.err);
}

/// Waits for a key and draws its digit.
const KEY: &str = ".machine chip8\n ld v0, k\n ld f, v0\n drw v1, v1, 5\nend: jp end\n";

#[test]
fn a_display_is_written_as_text_and_as_a_picture() {
    let bench = Bench::with("t.asm", KEY);
    let answer = bench.run_on_all(&["run", "t.asm", "--keys", "7", "--screen", "s.txt"], b"");
    assert_eq!(answer.code, 0, "{answer:?}");
    let screen = bench.read_text("s.txt");
    let rows: Vec<&str> = screen.lines().collect();
    assert_eq!((rows.len(), rows[0].len()), (32, 64));
    assert_eq!(rows[..5].iter().map(|row| &row[..4]).collect::<Vec<_>>(), ["####", "...#", "..#.", ".#..", ".#.."]);
    assert_eq!(bench.run(&["run", "t.asm", "--keys", "7", "--screen", "s.png"]).code, 0);
    let picture = bench.read("s.png");
    assert_eq!((&picture[..8], &picture[16..24]), (&b"\x89PNG\r\n\x1a\n"[..], &[0, 0, 2, 0, 0, 0, 1, 0][..]));
    let answer = bench.run(&["run", "t.asm", "--keys", "7", "--screen", "-"]);
    assert!(answer.out.starts_with(&screen), "{}", answer.out);
}

#[test]
fn a_screen_does_not_overwrite_what_is_run() {
    let bench =
        Bench::with("t.asm", ".machine chip8\n .include \"key.inc\"\n").file("key.inc", &KEY[".machine chip8".len()..]);
    let before: Vec<Vec<u8>> = bench.names().iter().map(|name| bench.read(name)).collect();
    for name in ["t.asm", "./t.asm", "key.inc"] {
        let answer = bench.run(&["run", "t.asm", "--keys", "7", "--screen", name]);
        assert!(answer.code == 2 && answer.err.contains("would be overwritten"), "{}", answer.err);
        assert!(answer.err.contains("--screen"), "{}", answer.err);
    }
    assert_eq!(bench.names().iter().map(|name| bench.read(name)).collect::<Vec<_>>(), before);
}

#[test]
fn keys_and_screens_are_for_machines_that_have_them() {
    let bench = Bench::with("t.asm", ".machine hex8\n loadimm r1, 'x'\n output r1\nend: jmp end\n");
    for (option, value, words) in [("--keys", "5", "has no keypad"), ("--screen", "-", "has no display")] {
        let answer = bench.run(&["run", "t.asm", option, value]);
        assert!(answer.code == 2 && answer.err.contains(words), "{}", answer.err);
        assert_eq!(answer.out, "", "nothing has run");
    }
    let answer = Bench::with("t.asm", KEY).run(&["run", "t.asm", "--keys", "5z"]);
    assert!(answer.code == 2 && answer.err.contains("`5z` are not keys of a keypad"), "{}", answer.err);
}

#[test]
fn random_numbers_depend_on_the_seed() {
    let bench = Bench::with("t.asm", ".machine chip8\n rnd v0, 255\n rnd v1, 255\nend: jp end\n");
    let numbers = |seed| bench.run_on_all(&["run", "t.asm", "--seed", seed, "--format", "json"], b"").out;
    assert_eq!(numbers("7"), numbers("7"));
    assert_ne!(numbers("7"), numbers("8"));
}
