//! `lathe import`.

use crate::Bench;

const RULES: &str = "#ruledef\n{\n  nop => 0x00\n  ldi {v: i8} => 0x10 @ v\n  odd {v: u8} => 0x20 @ (v * 3)`8\n}\n";

#[test]
fn rules_become_a_definition_that_assembles() {
    let bench = Bench::with("rules.asm", RULES).file("p.asm", "ldi -1\n nop\n");
    let answer = bench.run(&["import", "customasm", "rules.asm", "-o", "mine.isa"]);
    assert_eq!((answer.code, answer.out.as_str()), (0, ""));
    let expected =
        "warning: rules.asm:5:3: not imported: `odd {v: u8}`: it computes `*` with an operand\nwrote mine.isa\n";
    assert_eq!(answer.err, expected);
    assert_eq!(bench.run(&["check", "mine.isa"]).code, 0);
    assert_eq!(bench.run(&["fmt", "--check", "mine.isa"]).code, 0);
    let listing = bench.run(&["asm", "p.asm", "-m", "mine.isa", "--to", "listing", "-o", "-"]).out;
    assert!(listing.contains("10 ff"), "{listing}");
    // The meanings of the instructions are not known yet, and a run says so.
    assert_eq!(bench.run(&["run", "p.asm", "-m", "mine.isa"]).code, 3);
}

#[test]
fn nothing_is_overwritten() {
    let bench = Bench::with("rules.asm", RULES).file("mine.isa", "mine");
    bench.run(&["import", "customasm", "rules.asm", "-o", "mine.isa"]).complains(2, &["mine.isa exists already"]);
    assert_eq!(bench.read_text("mine.isa"), "mine");
}

#[test]
fn a_file_without_rules_is_refused() {
    let bench = Bench::with("program.asm", "start: nop\n");
    let answer = bench.run(&["import", "customasm", "program.asm"]);
    answer.complains(1, &["program.asm:1:1: not imported: the program", "no rule of program.asm", "#ruledef"]);
}

#[test]
fn programs_get_json() {
    let told = Bench::with("rules.asm", RULES).run(&["import", "customasm", "rules.asm", "--format", "json"]).json();
    assert!(told["text"].as_str().is_some_and(|text| text.contains("nop   | 0x00")), "{told}");
    assert_eq!((&told["missing"][0]["line"], &told["missing"][0]["column"]), (&5.into(), &3.into()), "{told}");
}
