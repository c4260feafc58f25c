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
