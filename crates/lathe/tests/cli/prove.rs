//! `lathe prove`.

use lathe_tests::tools;

use crate::Bench;

#[test]
fn a_core_is_proven_instruction_by_instruction() {
    let test = "lathe prove";
    if tools::find(test, "yosys").is_none() || tools::find(test, "z3").is_none() {
        return;
    }
    let bench = Bench::new();
    let answer = bench.run(&["prove", "-m", "quad8", "--only", "push", "--only", "nop"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""));
    let words: Vec<Vec<&str>> = answer.out.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(words[0], ["proven", "nop", "2", "cycles"]);
    assert_eq!(words[1], ["proven", "push", "D", "3"]);
    assert_eq!(words[2][..2], ["proven", "(decoding)"]);
    assert!(answer.out.ends_with("\nquad8: 3 of 3 claims proven\n"), "{}", answer.out);
    let answer = bench.run(&["prove", "-m", "quad8", "--only", "(reset)"]);
    let names: Vec<&str> = answer.out.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!((answer.code, names), (0, vec!["(reset)", "(decoding)", "2"]), "{}", answer.out);
    bench.run(&["prove", "-m", "quad8", "--only", "nope"]).complains(1, &["nothing to prove", "--only"]);
}

/// A core changed by hand, and the waveform of what it does wrong.
#[test]
fn a_core_changed_by_hand_is_shown_as_a_waveform() {
    let test = "lathe prove --core";
    if tools::find(test, "yosys").is_none() || tools::find(test, "z3").is_none() {
        return;
    }
    let bench = Bench::new();
    assert_eq!(bench.run(&["hdl", "-m", "quad8", "-o", "hardware"]).code, 0);
    let right = bench.read_text("hardware/quad8.v");
    let bench = bench.file("mine.v", right.replace("(D - S)", "(S - D)"));
    let answer =
        bench.run(&["prove", "-m", "quad8", "--core", "mine.v", "--waves", "bad", "--only", "sub", "--only", "add"]);
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    assert!(answer.out.contains("\nproven     add D, S"), "{}", answer.out);
    assert!(answer.out.starts_with("REFUTED    sub D, S"), "{}", answer.out);
    let shown = answer.out.lines().find_map(|line| line.strip_prefix("    as a waveform: "));
    let name = shown.expect("it is told").replace('\\', "/");
    assert_eq!(name, "bad/sub-D-S.vcd");
    let wave = bench.read_text(&name);
    assert!(wave.starts_with("$timescale 1 ns $end\n$scope module quad8 $end\n"), "{wave}");
    assert!(wave.contains(" retire $end\n") && wave.contains(" step [1:0] $end\n"), "{wave}");
    bench.run(&["prove", "-m", "quad8", "--core", "none.v"]).complains(1, &["none.v"]);
}

#[test]
fn what_is_not_true_is_shown_with_a_state() {
    if tools::find("lathe prove --keeps", "z3").is_none() {
        return;
    }
    let bench = Bench::new();
    let answer = bench.run(&["prove", "-m", "quad8", "--keeps", "page", "--but", "page"]);
    assert_eq!((answer.code, answer.err.as_str()), (0, ""), "{}", answer.out);
    let answer = bench.run(&["prove", "-m", "quad8", "--keeps", "sp", "--format", "json"]);
    assert_eq!((answer.code, answer.err.as_str()), (1, ""));
    let data = answer.json();
    let claims = data["claims"].as_array().expect("there are some");
    let refuted: Vec<_> = claims.iter().filter(|claim| claim["found"] == "refuted").collect();
    let names: Vec<_> = refuted.iter().filter_map(|claim| claim["claim"].as_str()).collect();
    assert_eq!(names, ["push D", "pop D"]);
    let push = &refuted[0]["case"];
    assert_eq!(push["after"][0]["name"], "sp");
    let (old, new) = (push["after"][0]["expected"].as_u64(), push["after"][0]["found"].as_u64());
    assert_eq!(new, old.map(|old| old.wrapping_sub(1) & 0xFF), "{push}");
    let example = push["example"].as_str().expect("it can be told as one");
    let (before, after) = example.split_once(" -> ").expect("it has two sides");
    assert!(before.starts_with("push ") && before.contains(&format!("sp = {:#x}", old.unwrap_or(0))), "{example}");
    assert_eq!(after, format!("sp = {:#x}", new.unwrap_or(0)), "{example}");
}

#[test]
fn wrong_usage_is_told() {
    let bench = Bench::new();
    for (missing, arguments) in
        [("yosys", &["prove", "-m", "quad8"][..]), ("z3", &["prove", "--equal", "quad8", "quad8"])]
    {
        let output = bench.command(arguments).env("PATH", bench.path()).output().expect("it runs");
        crate::answer(output).complains(1, &[missing, "not installed", &format!("apt install {missing}")]);
    }
    bench.run(&["prove"]).complains(2, &["which machine?", "--equal"]);
    bench.run(&["prove", "-m", "quad8", "--keeps", "q"]).complains(2, &["no register `q`", "page"]);
    bench.run(&["prove", "-m", "quad8", "--keeps", "sp", "--but", "x"]).complains(2, &["no instruction `x`"]);
    bench.run(&["prove", "--equal", "quad8", "hex8"]).complains(1, &["different machines", "same memories"]);
}

/// An abandoned solver is not left behind. It has a pipe open as long as it runs.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_solver_first() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;
    for signal in ["INT", "TERM"] {
        let bench = Bench::with("z3", "#!/bin/sh\nexec > pipe\necho $$\nexec tail -f /dev/null\n");
        std::fs::set_permissions(bench.path().join("z3"), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(Command::new("mkfifo").arg(bench.path().join("pipe")).status().unwrap().success());
        let path = format!("{}:{}", bench.path().display(), std::env::var("PATH").unwrap());
        let mut child = Command::new(env!("CARGO_BIN_EXE_lathe"))
            .args(["prove", "-m", "quad8", "--keeps", "sp", "--only", "nop"])
            .current_dir(bench.path())
            .env("PATH", path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(std::fs::File::open(bench.path().join("pipe")).unwrap()).lines();
        let solver = lines.next().unwrap().unwrap();
        let kill = |signal: &str, id: &str| Command::new("kill").args([signal, id]).status().unwrap().success();
        assert!(kill(&format!("-{signal}"), &child.id().to_string()));
        assert_eq!(child.wait().unwrap().code(), None, "it ends by the signal");
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || sender.send(lines.next().is_none()));
        let is_gone = receiver.recv_timeout(Duration::from_secs(60));
        if is_gone.is_err() {
            kill("-KILL", &solver);
        }
        assert_eq!(is_gone, Ok(true), "after {signal}");
    }
}
