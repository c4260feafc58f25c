//! `lathe bench`: its output, not how fast anything is.

use crate::Bench;

/// Few steps, one round: the figures mean nothing, but they are there.
const SHORT: [&str; 4] = ["--steps", "20_000", "--rounds", "1"];

const COUNTER: &str = r#"
machine counter "Counts"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u8
instructions {
  inc   | 0000 0001 | a = a + 1
  again | 0000 0010 | pc = 0
  halt  | 0000 0000 | halt
}
"#;

#[test]
fn the_programs_of_a_machine_as_a_table() {
    let answer = Bench::new().run(&[&["bench", "-m", "stack8b", "--goals"], &SHORT[..]].concat());
    assert_eq!(answer.err, "measuring stack8b lfsr\nmeasuring stack8b crc8\nmeasuring stack8b fib\n");
    let lines: Vec<&str> = answer.out.lines().collect();
    assert!(lines[0].contains("times as fast as the hand-written interpreter; 0.02 million"), "{}", answer.out);
    for word in ["program", "by hand M/s", "interp", "fast"] {
        assert!(lines[1].contains(word), "{}", answer.out);
    }
    for (line, name) in lines[2..].iter().zip(["lfsr", "crc8", "fib", "mean"]) {
        assert!(line.trim_start().starts_with(name), "{}", answer.out);
    }
    assert_eq!(answer.out.contains("goal: jit, mean: at least 8: "), cfg!(feature = "jit"), "{}", answer.out);
}

#[test]
fn the_same_as_json() {
    let answer = Bench::new().run(&[&["bench", "-m", "hex8", "--format", "json"], &SHORT[..]].concat());
    let report = answer.json();
    assert_eq!((&report["rounds"], &report["steps"]), (&1.into(), &20_000.into()));
    let machine = &report["machines"][0];
    assert_eq!((&machine["machine"], &machine["base"]), (&"hex8".into(), &"by hand".into()));
    let changing = machine["programs"].as_array().unwrap().iter().map(|program| program["changes_itself"] == true);
    assert_eq!(changing.collect::<Vec<_>>(), [false, false, false, false, true, true]);
    let scores = machine["programs"][0]["scores"].as_array().unwrap();
    let score = |name: &str| scores.iter().find(|score| score["name"] == name).unwrap();
    assert_eq!(
        (score("by hand")["ratio"].as_f64(), score("interp")["instructions"].as_u64()),
        (Some(1.0), Some(1_000))
    );
    assert!(score("fast")["ratio"].as_f64() > Some(0.0) && score("fast")["best_seconds"].as_f64() > Some(0.0));
    assert!(machine["means"].as_array().unwrap().iter().any(|mean| mean["name"] == "fast"));
}

#[test]
fn a_program_of_ones_own_against_the_reference_interpreter() {
    let bench =
        Bench::with("counter.isa", COUNTER).file("loop.asm", "inc\ninc\nagain\n").file("end.asm", "inc\nhalt\n");
    let answer = bench.run(&[&["bench", "-m", "counter.isa", "loop.asm", "end.asm"], &SHORT[..]].concat());
    assert_eq!((answer.code, answer.err.as_str()), (0, "measuring counter loop.asm\nmeasuring counter end.asm\n"));
    assert!(answer.out.contains("times as fast as the reference interpreter"), "{}", answer.out);
    assert!(!answer.out.contains("by hand") && !answer.out.contains("goal"), "{}", answer.out);
}

#[test]
fn what_cannot_be_measured_is_said_kindly() {
    let bench = Bench::with("counter.isa", COUNTER).file("bad.asm", "inc x\n").file("none.bin", [0xFF]);
    let words = ["there are no benchmark programs for counter.isa", "lathe bench -m counter.isa program.asm"];
    bench.run(&["bench", "-m", "counter.isa"]).complains(2, &words);
    bench.run(&["bench", "-m", "counter.isa", "bad.asm"]).complains(1, &["bad.asm:1:"]);
    bench.run(&["bench", "-m", "counter.isa", "none.bin"]).complains(1, &["executes not one instruction"]);
    bench.run(&["bench", "loop.bin"]).complains(1, &["loop.bin"]);
    bench.run(&["bench", "--steps", "0"]).complains(2, &["at least one step"]);
    bench.run(&["bench", "--rounds", "0"]).complains(2, &["1..=1000"]);
}
