//! `lathe check`.

use crate::Bench;

/// A definition with nothing wrong.
pub(crate) const COUNTER: &str = r#"machine counter "Counts"
memory code : u8 -> u8
pc pc : u8 in code
register a : u8
instructions {
  halt | 0000 0000 | halt
  inc  | 0000 0001 | a = a + 1
}
examples {
  inc : a = 1 -> a = 2
}
"#;

#[test]
fn a_good_definition_gets_a_summary() {
    let text = Bench::new().run(&["check", "quad8"]).succeeds();
    for line in [
        "quad8  Four registers, one-byte instructions, paged 64 KiB memory",
        "  instructions  22, and 17 pseudo-instructions",
        "                8 bits: a b c d page stackpage sp",
        "  memories      ram (65536 cells of 8 bits)",
        "  devices       console (stream)",
        "  encodings     226 of 256 first bytes defined, 0 partly, 30 undefined",
        "                88.3 % of all encodings are defined",
        "  examples      10 passed",
        "quad8.isa: no errors",
    ] {
        assert!(text.lines().any(|found| found == line), "`{line}` is missing from:\n{text}");
    }
    assert!(!text.contains("opcode map"), "{text}");
}

#[test]
fn rows_are_counted_apart_from_instructions() {
    let text = Bench::new().run(&["check", "hex8"]).succeeds();
    assert!(text.contains("  instructions  46 from 16 rows, and 6 pseudo-instructions\n"), "{text}");
    assert!(text.contains("100 % of all encodings"), "{text}");
}

#[test]
fn all_machines_that_ship_are_without_findings() {
    for machine in ["quad8", "duo16", "stack8a", "stack8b", "hex8"] {
        Bench::new().run(&["check", machine]).succeeds();
    }
}

/// The summary and the map fit terminals of the usual width.
#[test]
fn nothing_is_wider_than_a_terminal() {
    for machine in Bench::new().run(&["machines"]).succeeds().lines().filter_map(|line| line.split(' ').next()) {
        let text = Bench::new().run(&["check", machine, "--map"]).succeeds();
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{machine}: {wide:#?}");
    }
    let text = Bench::new().run(&["check", "rv32i"]).succeeds();
    assert!(text.contains("x14\n                x15"), "{text}");
}

#[test]
fn the_map_is_a_grid_with_marks_and_a_legend() {
    let text = Bench::new().run(&["check", "duo16", "--map"]).succeeds();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("10 to").starts_with("10 to 1F are free"), "{text}");
    assert!(line("20  ").starts_with("20   nop      push*    push*    pop*     pop*     call     ret"), "{text}");
    assert!(line("40  ").starts_with("40   ldi+*    add*     add*"), "{text}");
    assert!(text.contains("  .  free\n") && text.contains("  *  partly") && text.contains("  +  several"), "{text}");
    assert!(text.contains("\nfree: "), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_map_of_a_narrow_cell_is_as_wide_as_the_cell() {
    let narrow = COUNTER.replace("u8 -> u8", "u8 -> u2").replace("0000 0000", "00").replace("0000 0001", "01");
    let text = Bench::with("narrow.isa", narrow).run(&["check", "narrow.isa", "--map"]).succeeds();
    assert!(text.contains("    +0       +1       +2       +3\n0   halt     inc      .        .\n"), "{text}");
}

/// A beginner's mistakes, each with its place, its cause and a next step.
const BROKEN: &str = r#"machine broken "Two mistakes"
memory code : u8 -> u8
pc pc : u8 in code
register a : u8
instructions {
  halt | 0000 0000 | halt
  inc  | 0000 0000 | a = a + 1
  dec  | 0000 0001 | a = aa - 1
}
"#;

#[test]
fn errors_are_drawn_on_standard_error_and_end_with_1() {
    let answer = Bench::with("broken.isa", BROKEN).run(&["check", "broken.isa", "--map"]);
    assert_eq!(answer.out, "");
    let words = [
        "error[E401]",
        " --> broken.isa:7:3",
        "7 |   inc  | 0000 0000 | a = a + 1",
        "error[E201]: there is nothing named `aa`",
        " --> broken.isa:8:26",
        "= help: ",
        "broken.isa: 2 errors, 0 warnings\n",
    ];
    answer.complains(1, &words);
}

#[test]
fn errors_as_json_have_lines_columns_and_help() {
    let answer = Bench::with("broken.isa", BROKEN).run(&["check", "broken.isa", "--format", "json"]);
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    let report = answer.json();
    assert_eq!(report["ok"], false);
    assert_eq!(report["errors"], 2);
    assert_eq!(report["machine"], serde_json::Value::Null);
    let unknown = &report["diagnostics"][1];
    assert_eq!(unknown["code"], "E201");
    assert_eq!(unknown["severity"], "error");
    assert_eq!(unknown["primary"]["file"], "broken.isa");
    let offset = BROKEN.find("aa").unwrap();
    assert_eq!(unknown["primary"]["start"], serde_json::json!({"offset": offset, "line": 8, "column": 26}));
    assert_eq!(unknown["primary"]["end"], serde_json::json!({"offset": offset + 2, "line": 8, "column": 28}));
    assert!(!unknown["help"][0].as_str().unwrap().is_empty());
    let overlap = &report["diagnostics"][0];
    assert_eq!(overlap["others"][0]["start"]["line"], 6);
}

#[test]
fn a_good_definition_as_json_has_everything() {
    let answer = Bench::new().run(&["check", "duo16", "--format", "json"]);
    assert_eq!(answer.code, 0);
    let report = answer.json();
    let machine = &report["machine"];
    assert_eq!((&report["ok"], &machine["name"]), (&true.into(), &"duo16".into()));
    assert_eq!(machine["registers"][0], serde_json::json!({"name": "r0", "bits": 16, "reset": 0, "constant": true}));
    assert_eq!(machine["examples"], serde_json::json!({"passed": 11, "failed": 0}));
    assert_eq!(machine["encodings"]["undefined"], 204);
    assert_eq!(machine["map"].as_array().unwrap().len(), 256);
    assert_eq!(machine["map"][0x40]["instructions"], serde_json::json!(["ldi", "jmp"]));
    assert_eq!(machine["traps"][2], serde_json::json!({"name": "divide", "number": 2}));
}

#[test]
fn warnings_are_told_and_do_not_fail() {
    let warned = COUNTER.replace("register a : u8", "register a, idle : u8");
    let answer = Bench::with("warned.isa", warned).run(&["check", "warned.isa"]);
    assert!(answer.out.contains("warned.isa: no errors, 1 warning"), "{}", answer.out);
    answer.complains(0, &["warning[W60", "idle", "--> warned.isa:4:"]);
}

#[test]
fn an_example_that_fails_is_an_error() {
    let wrong = COUNTER.replace("-> a = 2", "-> a = 3");
    let bench = Bench::with("wrong.isa", wrong);
    bench.run(&["check", "wrong.isa"]).complains(1, &["error[E502]", "wrong.isa:10:", "gives 0x2"]);
    let report = bench.run(&["check", "wrong.isa", "--format", "json"]).json();
    assert_eq!(report["machine"]["examples"], serde_json::json!({"passed": 0, "failed": 1}));
}

#[test]
fn a_definition_comes_from_standard_input() {
    let bench = Bench::new();
    assert!(bench.run_with_input(&["check", "-"], COUNTER.as_bytes()).succeeds().contains("counter  Counts"));
    bench.run_with_input(&["check", "-"], BROKEN.as_bytes()).complains(1, &["--> standard input:8:26"]);
    bench.run_with_input(&["check", "-"], b"").complains(1, &["standard input"]);
}

#[test]
fn texts_of_other_systems_are_read() {
    let windows = format!("\u{FEFF}{}", COUNTER.replace('\n', "\r\n"));
    Bench::with("windows.isa", windows).run(&["check", "windows.isa"]).succeeds();
}

#[test]
fn what_is_no_definition_at_all_is_said_so() {
    let bench = Bench::with("binary.isa", b"machine x\n\xFF\xFE").file("large.isa", vec![b'#'; (1 << 20) + 1]);
    std::fs::create_dir(bench.path().join("folder.isa")).unwrap();
    bench.run(&["check", "binary.isa"]).complains(1, &["binary.isa is not a text: line 2"]);
    bench.run(&["check", "large.isa"]).complains(1, &["more than 1048576 bytes"]);
    bench.run(&["check", "folder.isa"]).complains(1, &["it is a directory"]);
}

#[test]
fn colours_only_where_they_are_seen() {
    let bench = Bench::with("broken.isa", BROKEN);
    let piped = bench.run(&["check", "broken.isa"]);
    assert!(!piped.err.contains('\x1b'), "{}", piped.err);
    assert!(!bench.run(&["check", "quad8", "--map"]).out.contains('\x1b'));
    let forced = bench.command(&["check", "broken.isa"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stderr.contains(&0x1b));
}

/// `--fix` applies the safe fixes, keeps everything else, and reports the rest.
#[test]
fn fixes_are_written_into_the_file() {
    let broken = COUNTER.replace("instructions {", "instruction {").replace("a : u8", "a : 8").replace('\n', "\r\n");
    let bench = Bench::with("mine.isa", format!("\u{FEFF}{broken}"));
    bench.run(&["check", "mine.isa", "--fix"]).complains(0, &["mine.isa: mended 2 places"]);
    let expected = format!("\u{FEFF}{}", COUNTER.replace('\n', "\r\n"));
    assert_eq!(bench.read("mine.isa"), expected.as_bytes());
    bench.run(&["check", "mine.isa", "--fix"]).complains(0, &["mine.isa: mended 0 places"]);
    assert_eq!(bench.read("mine.isa"), expected.as_bytes());
    assert_eq!(bench.names(), ["mine.isa"]);
}

#[test]
fn what_needs_a_decision_is_left_alone() {
    let broken = COUNTER.replace("a = a + 1", "a = aa + 1");
    let bench = Bench::with("mine.isa", &broken);
    bench.run(&["check", "mine.isa", "--fix"]).complains(1, &["mended 0 places", "there is nothing named `aa`"]);
    assert_eq!(bench.read("mine.isa"), broken.as_bytes());
    bench.run(&["check", "quad8", "--fix"]).complains(2, &["changes a file"]);
    bench.run(&["check", "-", "--fix"]).complains(2, &["changes a file"]);
}
