//! `lathe debug` from scripts and from standard input.

use super::Bench;

const COUNT: &str = ".machine hex8\nloop: addimm r1, r1, 1\n output r1\n jmp loop\n";

fn bench() -> Bench {
    Bench::with("count.asm", COUNT)
}

#[test]
fn commands_come_from_a_script_or_from_standard_input() {
    let script = "# two rounds\nbreak loop\nrun\n\nback 2\nprint r1 + 4\n";
    let bench = bench().file("script.txt", script);
    let answer = bench.run(&["debug", "count.asm", "--batch", "script.txt"]).succeeds();
    let expected = "\
> break loop
1: break at 0x0000 <loop>, count.asm:2
> run
output: \"\\x01\"
breakpoint 1 reached
step 3  0x0000 <loop>        addimm r1, r1, 1          ; count.asm:2
    r1 = 0x01 (was 0x00)
> back 2
step 1  0x0003 <loop+3>      output r1                 ; count.asm:3
> print r1 + 4
r1 + 4 = 0x05
";
    assert_eq!(answer, expected);
    assert_eq!(bench.run_on_all(&["debug", "count.asm"], script.as_bytes()).succeeds(), expected);
    assert_eq!(bench.run_with_input(&["debug", "count.asm", "--batch", "-"], script.as_bytes()).succeeds(), expected);
}

#[test]
fn answers_can_be_data() {
    let answer = bench().run_with_input(&["debug", "count.asm", "--format", "json"], b"step 2\nstpe\nprint r1\n");
    assert_eq!(answer.code, 1);
    let lines: Vec<serde_json::Value> = answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["answer"], &lines[0]["step"]), (&"stopped".into(), &2.into()));
    assert_eq!(lines[1]["error"]["help"], "did you mean `step`?");
    assert_eq!((&lines[2]["expression"], &lines[2]["value"], &lines[2]["bits"]), (&"r1".into(), &1.into(), &8.into()));
}

#[test]
fn a_command_that_fails_is_told_and_the_next_follows() {
    let answer = bench().run_with_input(&["debug", "count.asm"], b"break lop\nprint r99\nstep\n");
    assert_eq!(answer.code, 1);
    for words in ["the program has no label `lop`", "did you mean `loop`?", "`r99`", "step 1"] {
        assert!(answer.out.contains(words), "{words}: {}", answer.out);
    }
}

#[test]
fn a_session_is_saved_and_opened_again() {
    let bench = bench();
    bench
        .run_with_input(&["debug", "count.asm"], b"step 100\nset r1 = 9\nstep 5\nback 1\nsave here.session\n")
        .succeeds();
    let answer = bench.run_on_all(&["debug", "here.session"], b"where\nprint r1\nback 5\nprint r1\n").succeeds();
    assert!(
        answer.contains("step 104  ") && answer.contains("r1 = 0x0A (10)") && answer.contains("r1 = 0x21 (33)"),
        "{answer}"
    );
    // Breakpoints keep their numbers, their ignore counts, and whether they are enabled.
    let commands = b"break loop\nbreak 0\nbreak loop if r1 == 3\ntbreak 2\ndelete 2\nignore 3 7\ndisable 4\n";
    let list = bench.run_with_input(&["debug", "count.asm"], &[commands, &b"step\nbl\nsave bl.session\n"[..]].concat());
    let list = list.succeeds();
    let again = bench.run_with_input(&["debug", "bl.session"], b"bl\n").succeeds();
    let list = list.split("> bl\n").nth(1).and_then(|rest| rest.split("> save").next()).unwrap();
    assert!(list.contains("4: ") && list.contains("next 7 hits") && list.contains("disabled"), "{list}");
    assert!(again.contains(list), "{again}\nis not\n{list}");
    let mut text = bench.read_text("here.session");
    text.truncate(text.len() / 2);
    std::fs::write(bench.path().join("cut.session"), &text).unwrap();
    bench.run(&["debug", "cut.session"]).complains(1, &["cut.session", "cut short", "save the session again"]);
}

/// A session contains everything: the files of the machine may have moved or gone.
#[test]
fn a_session_of_a_machine_made_of_several_files_is_opened_again() {
    let bench = bench();
    let mine = "machine mine extends \"parts/base.isa\" \"With one more\"\n\
        include \"parts/more.isa\"\n";
    let base = "machine base \"A small one\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a : u8\n\
        instructions { halt | 00000000 | halt }\n";
    let more = "instructions { inc | 00000001 | a = a + 1 }\n";
    std::fs::create_dir(bench.path().join("parts")).unwrap();
    for (name, text) in [("mine.isa", mine), ("parts/base.isa", base), ("parts/more.isa", more)] {
        std::fs::write(bench.path().join(name), text).unwrap();
    }
    std::fs::write(bench.path().join("two.asm"), ".machine mine\n inc\n inc\n halt\n").unwrap();
    bench.run_with_input(&["debug", "two.asm"], b"step 2\nsave two.session\n").succeeds();
    std::fs::remove_dir_all(bench.path().join("parts")).unwrap();
    std::fs::remove_file(bench.path().join("mine.isa")).unwrap();
    let answer = bench.run_on_all(&["debug", "two.session"], b"print a\nback\nprint a\n").succeeds();
    assert!(answer.contains("a = 0x02") && answer.contains("a = 0x01"), "{answer}");
}

/// Neither a session nor a gdb script replaces the program.
#[test]
fn the_program_is_not_overwritten() {
    let program = ".machine quad8\n inc a\n halt\n";
    let bench = Bench::with("count.asm", program);
    let answer = bench.run_with_input(&["debug", "count.asm"], b"save count.asm\n");
    assert_eq!(answer.code, 1);
    assert!(answer.out.contains("count.asm cannot be opened as a session"), "{answer:?}");
    assert!(answer.out.contains("write `save count.session`"), "{answer:?}");
    let words = ["count.asm is an input and would be overwritten"];
    bench.run(&["debug", "count.asm", "--gdb", "0", "--gdb-script", "count.asm"]).complains(2, &words);
    assert_eq!((bench.read_text("count.asm").as_str(), bench.names().len()), (program, 1));
}

/// Typed text is shown again, and must not reach the terminal as a command.
#[test]
fn control_characters_are_shown_and_do_nothing() {
    let typed =
        b"print \x1b[31m\x07\nbreak \x1b]0;title\x07 log \"\x08\"\nbreak loop log \"\x1b[2J\"\nstep 5\nbreakpoints\n";
    let answer = bench().run_with_input(&["debug", "count.asm", "--color", "always"], typed);
    let plain =
        answer.out.replace("\x1b[1m", "").replace("\x1b[91m", "").replace("\x1b[0m", "").replace("\x1b[96m", "");
    assert!(plain.contains("> print \\u{1b}[31m\\u{7}\n"), "{plain:?}");
    assert!(!plain.contains(|c: char| c.is_control() && c != '\n'), "{plain:?}");
}
