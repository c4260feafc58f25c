//! How a run ends, where, and what it did before: `--until`, `--expect-stop`, `tohost`, `--trace`.

use crate::{Bench, ENGINES};

const LOOP: &str = ".machine hex8\n.entry start\n\
start:  loadimm r1, 3\n\
again:  subimm r1, r1, 1\n\
        jmpo r1, done\n\
        call sub1\n\
        jmp again\n\
done:   jmp done\n\
sub1:   loadimm r2, 7\n\
        return\n";

#[test]
fn a_jump_to_itself_is_told_apart() {
    let bench = Bench::with("loop.asm", LOOP).file("halt.asm", ".machine quad8\n halt\n");
    let json = |name: &str| bench.run(&["run", name, "--format", "json"]).json();
    assert_eq!((&json("loop.asm")["status"], &json("loop.asm")["reason"]), (&"halted".into(), &"stuck".into()));
    assert_eq!((&json("halt.asm")["status"], json("halt.asm").get("reason")), (&"halted".into(), None));
    assert!(bench.run(&["run", "loop.asm", "--state"]).err.contains("steps: it jumps to itself\n"));
    let expect = |name: &str, how: &str| bench.run_on_all(&["run", name, "--expect-stop", how], b"");
    assert_eq!(expect("loop.asm", "stuck").code, 0);
    assert_eq!(expect("loop.asm", "stuck@done").code, 0);
    assert_eq!(expect("halt.asm", "halt").code, 0);
    expect("loop.asm", "halt")
        .complains(1, &["expected the run to end with halt, but it is stuck at pc", "(done, loop.asm:8)"]);
    expect("loop.asm", "stuck@again").complains(1, &["expected the run to end with stuck at again"]);
    expect("halt.asm", "stuck").complains(1, &["but it halted at pc 0x0001"]);
    bench.run(&["run", "halt.asm", "--expect-stop", "well"]).complains(2, &["halt, stuck, fault or limit"]);
    bench.run(&["run", "halt.asm", "--expect-stop", "stuck@dnoe"]).complains(2, &["`dnoe`"]);
}

#[test]
fn a_script_says_where_success_is() {
    let bench = Bench::with("loop.asm", LOOP);
    let until = |place: &str| bench.run_on_all(&["run", "loop.asm", "--until", place, "--format", "json"], b"");
    let reached = until("sub1");
    assert_eq!((reached.code, &reached.json()["status"]), (0, &"reached".into()));
    assert_eq!((&reached.json()["steps"], &reached.json()["place"]), (&4.into(), &"sub1, loop.asm:9".into()));
    assert_eq!((until("start").code, until("start").json()["steps"].as_u64()), (0, Some(0)));
    assert_eq!(until("0x4000").code, 1);
    bench.run(&["run", "loop.asm", "--until", "0x4000"]).complains(1, &["the run ended before it came to 0x4000"]);
}

#[test]
fn faults_and_limits_name_the_label_and_the_line() {
    let deep = ".machine quad8\n li d, sub1\n jmp d\n .org 16\nsub1: nop\n nop\n .byte 0xBF\n";
    let bench = Bench::with("deep.asm", deep);
    bench.run(&["run", "deep.asm"]).complains(3, &["at pc 0x0012 (sub1+2, deep.asm:7), after 5 steps\n"]);
    let words = ["step limit reached after 4 steps; next pc 0x0011 (sub1+1, deep.asm:6)\n"];
    bench.run(&["run", "deep.asm", "--max-steps", "4"]).complains(4, &words);
}

/// Defines a machine with memories larger than any computer's, and one instruction to use them up.
fn greedy(memories: usize, address: u32) -> String {
    let memory = |number| format!("memory m{number} : u{address} -> u64\n");
    let memories: String = (0..memories).map(memory).collect();
    format!(
        "machine greedy \"Writes to page after page\"\n{memories}pc pc : u{address} in m0\nregister a : u{address}\n\
         instructions {{\n  take | 0{} | m1[a] = 1; a = a + 0x1000; pc = 0\n}}\n",
        "0".repeat(63)
    )
}

#[test]
fn memory_that_a_machine_may_not_take_is_a_fault() {
    may_not_take(32);
    may_not_take(64);
}

fn may_not_take(address: u32) {
    let bench = Bench::with("greedy.isa", greedy(2, address)).file("a.asm", " take\n; expect: ends fault\n");
    let run = |size: &str| bench.run_on_all(&["run", "a.asm", "-m", "greedy.isa", "--max-memory", size], b"");
    // The program itself takes one page of cells, 8 bytes each.
    run("320K").complains(3, &["a page of memory", "`--max-memory SIZE`", "after 9 steps"]);
    run("32K").complains(3, &["after 0 steps"]);
    let test = bench.run(&["test", "a.asm", "-m", "greedy.isa", "--max-memory", "1M"]);
    assert!(test.out.contains("1 passed"), "{}", test.out);
    let script = bench.file("script", "run\n");
    let answer = script.run(&["debug", "a.asm", "-m", "greedy.isa", "--max-memory", "1M", "--batch", "script"]);
    assert!(answer.out.contains("no memory is left"), "{}{}", answer.out, answer.err);
    script.run(&["run", "a.asm", "-m", "greedy.isa", "--max-memory", "much"]).complains(2, &["64M"]);
}

/// Where the address space is limited, so are memories, and nothing aborts.
#[cfg(target_os = "linux")]
#[test]
fn sixteen_huge_memories_in_a_small_address_space_are_no_abort() {
    for (engine, address) in ENGINES.iter().flat_map(|engine| [(engine, 32), (engine, 64)]) {
        let bench = Bench::with("greedy.isa", greedy(16, address)).file("a.asm", " take\n");
        let program = env!("CARGO_BIN_EXE_lathe");
        let limited =
            format!("ulimit -v 1000000; exec '{program}' run a.asm -m greedy.isa --max-memory 64M --engine {engine}");
        let output = std::process::Command::new("sh").args(["-c", &limited]).current_dir(bench.path()).output();
        crate::answer(output.unwrap()).complains(3, &["a page of memory"]);
    }
}

/// When the user presses Ctrl-C, the run says where it was, and shows what was requested.
#[cfg(unix)]
#[test]
fn an_interrupted_run_says_where_it_was() {
    use std::io::Read;
    use std::process::Stdio;

    let program = ".machine quad8\n li a, '!'\n out a\nagain: inc b\n li d, again\n jmp d\n";
    let bench = Bench::with("again.asm", program);
    let mut command = bench.command(&["run", "again.asm", "--state", "--stats"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once it has printed, it is running, and listens.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    for part in ["interrupted after ", "again", "again.asm:", "quad8 was interrupted after", "  engine "] {
        assert!(told.contains(part), "`{part}` is missing from:\n{told}");
    }
}

#[test]
fn a_trace_shows_instructions_and_what_they_changed() {
    let bench = Bench::with("loop.asm", LOOP);
    let trace = bench.run(&["run", "loop.asm", "--trace"]).err;
    let lines: Vec<&str> = trace.lines().collect();
    assert_eq!(lines[0], "       0  0x0000  start           loadimm r1, 0x03          r1=0x03");
    assert_eq!(lines[3], "       3  0x0008  again+6         call 0x0011               sp=0xFFFE ram[0xFFFF]=0x0B");
    assert!(lines.last().unwrap().ends_with("(stuck)"), "{trace}");
    let steps = bench.run(&["run", "loop.asm", "--format", "json"]).json()["steps"].as_u64().unwrap();
    assert_eq!(lines.len() as u64, steps);
    bench.run(&["run", "loop.asm", "--trace=t.json", "--trace-format", "json", "--trace-from", "sub1"]).succeeds();
    let text = bench.read_text("t.json");
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&first["step"], &first["place"], &first["registers"]["r2"]), (&4.into(), &"sub1".into(), &7.into()));
    bench.run(&["run", "loop.asm", "--trace=loop.asm"]).complains(2, &["would be overwritten"]);
}

/// The end of a long run is traced without tracing what comes before, on every engine, with the input it read and
/// nothing printed twice.
#[test]
fn the_last_instructions_of_a_long_run_are_traced() {
    let program = ".machine quad8\n in a\n li b, 0\n li c, 0\nagain: inc b\n li d, again\n jnz b, again\n inc c\n \
        li d, again\n jnz c, again\n in a\n out a\n halt\n";
    let bench = Bench::with("long.asm", program);
    let whole = bench.run_with_input(&["run", "long.asm", "--trace", "--engine", "interp"], b"xy");
    let count = whole.err.lines().count();
    assert!(count > 300_000, "{count}");
    for engine in ENGINES {
        let last = bench.run_with_input(&["run", "long.asm", "--trace-last", "12", "--engine", engine], b"xy");
        assert_eq!((last.code, last.out.as_str()), (0, "y"), "{engine}");
        let expected: Vec<&str> = whole.err.lines().skip(count - 12).collect();
        assert_eq!(last.err.lines().collect::<Vec<_>>(), expected, "{engine}");
    }
}
