//! What a newcomer types first: `new`, `show`, `explain`, `completions`, `man`, `--color`.

use crate::Bench;

#[test]
fn a_new_machine_runs_and_passes_its_test_at_once() {
    let bench = Bench::new();
    let told = bench.run(&["new", "mine"]).succeeds();
    assert!(told.contains("made mine/mine.isa\n") && told.contains("lathe run hello.asm"), "{told}");
    assert_eq!(bench.run(&["run", "mine/hello.asm"]).succeeds(), "Hello from mine!\n");
    assert!(bench.run(&["test", "mine"]).succeeds().ends_with("1 passed\n"));
    assert!(bench.run(&["check", "mine/mine.isa"]).succeeds().contains("mine/mine.isa: no errors\n"));
}

#[test]
fn nothing_is_written_over_and_names_are_names() {
    let bench = Bench::with("taken", "something");
    bench.run(&["new", "taken"]).complains(2, &["taken exists already", "another name"]);
    assert_eq!(bench.read("taken"), b"something");
    bench.run(&["new", "9lives"]).complains(2, &["`9lives` cannot be the name of a machine", "a letter first"]);
    bench.run(&["new", "quad8"]).complains(2, &["comes with Lathe already", "`my_quad8`"]);
    bench.run(&["new", "no/where"]).complains(1, &["the folder no/where cannot be made"]);
    assert_eq!(bench.names(), ["taken"]);
}

#[test]
fn a_machine_is_shown_as_it_is_written() {
    let shown = Bench::new().run(&["show", "quad8"]).succeeds();
    assert!(shown.starts_with("machine quad8 ") && shown.contains("| 0110 DDSS |"), "{shown}");
    let json = Bench::new().run(&["show", "quad8", "--format", "json"]).json();
    assert_eq!(json["definition"], shown);
}

#[test]
fn a_row_is_shown_with_its_bits_operands_and_examples() {
    let shown = Bench::new().run(&["show", "quad8", "sli"]).succeeds();
    for part in
        ["| 11II DDII | D = D[3:0] ++ I", "sli D, I  11II DDII", "\n  D: a, b, c, d\n", ": a = 0x0A -> a = 0xA5"]
    {
        assert!(shown.contains(part), "`{part}` is missing from:\n{shown}");
    }
    // A family is one row and many instructions; a second spelling also finds it.
    assert!(Bench::new().run(&["show", "hex8", "add"]).succeeds().contains("add A, B  1111 0111  AAAA BBBB"));
    assert!(Bench::new().run(&["show", "quad8", "skipm"]).succeeds().contains("skipl/skipm D"));
    let json = Bench::new().run(&["show", "sm83", "nop", "--format", "json"]).json();
    assert_eq!(json[0]["instructions"][0]["bits"][0], "00000000");
    Bench::new().run(&["show", "quad8", "nadn"]).complains(2, &["no instruction `nadn`", "did you mean `nand`?"]);
    Bench::new().run(&["show", "quad8", "li"]).complains(2, &["pseudo-instruction", "sli D, N[7:4]; sli D, N[3:0]"]);
}

#[test]
fn sample_programs_come_along() {
    let bench = Bench::new();
    let list = bench.run(&["show", "hex8", "--programs"]).succeeds();
    assert!(list.contains("hello       prints a greeting\n"), "{list}");
    let hello = bench.run(&["show", "hex8", "--programs", "hello"]).succeeds();
    let bench = Bench::with("hello.asm", hello).file("mine.isa", "machine mine \"Of my own\"\n");
    assert!(bench.run(&["run", "hello.asm"]).succeeds().contains("Hello"));
    bench.run(&["show", "hex8", "--programs", "helo"]).complains(2, &["did you mean `hello`?"]);
    bench.run(&["show", "mine.isa", "--programs"]).complains(2, &["no sample programs"]);
}

#[test]
fn a_code_is_explained_with_what_lathe_really_says() {
    let bench = Bench::new();
    for spelling in ["E401", "e401", "error[E401]"] {
        let text = bench.run(&["explain", spelling]).succeeds();
        for part in
            ["error[E401]: two rows for one encoding", "  -   inc D", "  +   inc D", "m.isa:8:", "belongs to both"]
        {
            assert!(text.contains(part), "`{part}` is missing from:\n{text}");
        }
    }
    let list = bench.run(&["explain"]).succeeds();
    assert!(list.contains("  E401  two rows for one encoding\n") && list.contains("  W702  "), "{list}");
    let json = bench.run(&["explain", "A303", "--format", "json"]).json();
    assert_eq!((&json["code"], json["wrong"].as_str().unwrap().contains("300")), (&"A303".into(), true));
    bench.run(&["explain", "E40l"]).complains(2, &["no diagnostic with the code `E40l`", "lists all"]);
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let bench = Bench::new();
    for shell in ["bash", "fish", "zsh", "powershell", "elvish"] {
        assert!(bench.run(&["completions", shell]).succeeds().contains("explain"), "{shell}");
    }
    assert!(bench.run(&["man"]).succeeds().contains(".TH lathe 1"));
    assert!(bench.run(&["man", "run"]).succeeds().contains("max\\-steps"));
    bench.run(&["man", "nothing"]).complains(2, &["no command `nothing`"]);
    std::fs::create_dir(bench.path().join("man1")).unwrap();
    bench.run(&["man", "-o", "man1"]).succeeds();
    assert!(bench.read_text("man1/lathe-run.1").contains("max\\-steps"));
}

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let bench = Bench::new();
    assert!(!bench.run(&["machines"]).succeeds().contains('\x1b'));
    assert!(bench.run(&["machines", "--color", "always"]).succeeds().contains('\x1b'));
    assert!(!bench.run(&["machines", "--color", "never"]).succeeds().contains('\x1b'));
    bench.run(&["machines", "--color", "sometimes"]).complains(2, &["auto, always, never"]);
}
