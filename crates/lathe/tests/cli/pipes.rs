//! Named pipes, wherever a command takes the name of a file: no process is at the other end, so a command that opened
//! one would wait for ever.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::Bench;

/// Far longer than any of these commands takes; a waiting command would never end.
const BOUND: Duration = Duration::from_secs(120);

/// Pipes, and valid files.
fn bench() -> Bench {
    let hello = sample("hex8", "hello");
    let bench = Bench::with("hello.asm", hello)
        .file("include.asm", ".machine hex8\n.include \"pipe\"\n")
        .file("incbin.asm", ".machine hex8\n.incbin \"pipe\"\n")
        .file("machine.asm", ".machine other\n nop\n")
        .file("includes.isa", "machine m \"M\"\ninclude \"pipe\"\n")
        .file("extends.isa", "machine m extends \"pipe\" \"M\"\n");
    for name in ["pipe", "pipe.asm", "pipe.isa", "pipe.bin", "other.isa", "beside.in"] {
        assert!(Command::new("mkfifo").arg(bench.path().join(name)).status().unwrap().success());
    }
    bench.file("beside.asm", "; expect: r0 = 0\n.machine hex8\nx: jmp x\n")
}

fn sample(machine: &str, program: &str) -> Vec<u8> {
    Bench::new().run(&["show", machine, "--programs", program]).succeeds().into_bytes()
}

/// Returns the exit code and all output; kills the process if it waits.
fn ended(bench: &Bench, arguments: &[&str]) -> (i32, String) {
    let mut command = bench.command(arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id().to_string();
    let (send, receive) = mpsc::channel();
    let waiting = std::thread::spawn(move || send.send(child.wait_with_output().unwrap()));
    let output = receive.recv_timeout(BOUND);
    if output.is_err() {
        Command::new("kill").arg(id).status().unwrap();
    }
    let _ = waiting.join().unwrap();
    let output = output.unwrap_or_else(|_| panic!("`lathe {}` waits", arguments.join(" ")));
    let said = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

#[test]
fn a_pipe_is_not_waited_for_where_a_file_is_read() {
    let bench = bench();
    let commands = [
        "asm include.asm",
        "asm incbin.asm",
        "asm machine.asm",
        "asm pipe.asm",
        "asm hello.asm -m pipe.isa",
        "run pipe.asm",
        "run pipe.bin -m hex8",
        "run hello.asm -m pipe.isa",
        "run hello.asm --expect-screen pipe",
        "dis pipe.bin -m hex8",
        "dis hello.asm -m pipe.isa",
        "dis hello.asm --symbols pipe",
        "check pipe.isa",
        "check includes.isa",
        "check extends.isa",
        "check pipe.isa --fix",
        "show pipe.isa",
        "test pipe.asm",
        "test hello.asm --expect pipe",
        "debug pipe.asm --batch -",
        "debug hello.asm --batch pipe",
        "debug hello.asm --batch - --input pipe",
        "verify -m hex8 pipe",
        "verify -m pipe.isa hello.asm",
        "fmt pipe.asm",
        "fmt pipe.isa --check",
        "doc -m pipe.isa",
        "export customasm -m pipe.isa",
        "export ghidra -m pipe.isa -o out",
        "hdl -m pipe.isa -o out",
        "hdl -m hex8 --program pipe.asm -o out",
    ];
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let (code, said) = ended(&bench, &arguments);
        assert!(matches!(code, 1 | 2), "{command}: {code}\n{said}");
        assert!(said.contains("it is a pipe"), "{command}:\n{said}");
    }
}

#[test]
fn a_pipe_is_not_waited_for_where_a_file_is_written() {
    let bench = bench();
    let commands = [
        "asm hello.asm -o pipe",
        "dis hello.asm -o pipe",
        "run hello.asm --trace=pipe",
        "doc -m hex8 -o pipe.html",
        "export customasm -m hex8 -o pipe",
        "test hello.asm --report pipe.csv",
    ];
    for name in ["pipe.html", "pipe.csv"] {
        assert!(Command::new("mkfifo").arg(bench.path().join(name)).status().unwrap().success());
    }
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        let (code, said) = ended(&bench, &arguments);
        assert!(matches!(code, 1 | 2), "{command}: {code}\n{said}");
        assert!(said.contains("it is a pipe"), "{command}:\n{said}");
    }
    for (command, folder) in
        [("hdl -m hex8 -o pipe", "pipe"), ("export ghidra -m hex8 -o pipe", "pipe"), ("new pipe", "pipe")]
    {
        let arguments: Vec<&str> = command.split(' ').collect();
        let (code, said) = ended(&bench, &arguments);
        assert!(matches!(code, 1 | 2) && said.contains(folder), "{command}: {code}\n{said}");
    }
}

/// A pipe beside a program does not count as expectations.
#[test]
fn a_pipe_beside_a_program_is_passed_over() {
    let (code, said) = ended(&bench(), &["test", "beside.asm"]);
    assert!(code == 0 && said.contains("ok    beside.asm"), "{code}: {said}");
}

/// A shell's `<(…)` is also a pipe, but an open one.
#[test]
fn what_a_shell_pipes_in_is_read() {
    let bench = bench();
    let script = "cat hello.asm | \"$0\" run /dev/stdin --from asm";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_lathe")]).current_dir(bench.path());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"Hello from hex8"), "{output:?}");
}
