//! `lathe debug --gdb` driven by a real gdb.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::{binary, folder};

/// A gdb server, and the address it listens on.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path, arguments: &[&str]) -> Server {
        let mut command = Command::new(binary());
        command.current_dir(folder).arg("debug").args(arguments).args(["--gdb", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).expect("it tells where it listens");
        let address = line.split([' ', ';']).find(|word| word.starts_with("127.0.0.1:"));
        let address = address.unwrap_or_else(|| panic!("{line}")).to_owned();
        Server { child, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs gdb with these commands; returns its standard output and standard error.
fn gdb(gdb: &Path, folder: &Path, arguments: &[&str], commands: &[&str]) -> (String, String) {
    let mut command = Command::new(gdb);
    command.current_dir(folder).args(["--batch", "-nx", "-ex", "set width 0"]).args(arguments);
    for line in commands {
        command.args(["-ex", line]);
    }
    let output = command.output().expect("gdb runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Checks that the texts occur, in this order.
fn assert_in_order(text: &str, expected: &[&str]) {
    let mut rest = text;
    for part in expected {
        let at = rest.find(part).unwrap_or_else(|| panic!("`{part}` does not follow in:\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

/// Builds an ELF file with the line numbers of a C program.
fn executable(test: &str, folder: &Path) -> Option<PathBuf> {
    let (assembler, linker) = ("riscv64-unknown-elf-as", "riscv64-unknown-elf-ld");
    let (assembler, linker) = (lathe_tests::tools::find(test, assembler)?, lathe_tests::tools::find(test, linker)?);
    std::fs::write(folder.join("sum.c"), include_str!("gdb/sum.c")).unwrap();
    std::fs::write(folder.join("sum.s"), include_str!("gdb/sum.s")).unwrap();
    let run = |program: PathBuf, arguments: &[&str]| {
        let done = Command::new(program).current_dir(folder).args(arguments).status();
        assert!(done.expect("it runs").success(), "{arguments:?}");
    };
    run(assembler, &["-march=rv32im", "-mabi=ilp32", "sum.s", "-o", "sum.o"]);
    run(linker, &["-m", "elf32lriscv", "-Ttext=0x1000", "sum.o", "-o", "sum.elf"]);
    Some(folder.join("sum.elf"))
}

#[test]
fn gdb_stops_at_lines_of_c_and_steps_back() {
    let test = "gdb_stops_at_lines_of_c_and_steps_back";
    let Some(program) = lathe_tests::tools::find(test, "gdb-multiarch") else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let Some(_) = executable(test, folder.path()) else { return };
    let server = Server::start(folder.path(), &["-m", "rv32i", "sum.elf"]);
    let remote = format!("target remote {}", server.address);
    let (said, passed_on) = gdb(
        &program,
        folder.path(),
        &["sum.elf"],
        &[
            &remote,
            "break sum.c:13",
            "continue",
            "print number",
            "continue",
            "print number",
            "step",
            "print $a0",
            "info symbol $pc",
            "backtrace",
            "finish",
            "print total",
            "watch total",
            "continue",
            "reverse-continue",
            "print total",
            "delete 2",
            "reverse-continue",
            "print number",
            "stepi",
            "print/x $pc",
            "reverse-stepi",
            "print/x $pc",
            "reverse-step",
            "print number",
            "delete",
            "set var total = 1000",
            "continue",
            "print total",
            "reverse-continue",
            "print $sp",
            "kill",
        ],
    );
    assert_in_order(
        &said,
        &[
            "Breakpoint 1, main () at sum.c:13",
            "$1 = 1",
            "Breakpoint 1, main () at sum.c:13",
            "$2 = 2",
            "square (number=2) at sum.c:7",
            "$3 = 2",
            "square + 16 in section .text",
            "#0  square (number=2)",
            "main () at sum.c:13",
            "Value returned is $4 = 4",
            "$5 = 1",
            "Hardware watchpoint 2: total",
            "Old value = 1\nNew value = 5\nmain () at sum.c:12",
            "Old value = 5\nNew value = 1\n0x00001060",
            "$6 = 1",
            "Breakpoint 1, main () at sum.c:13",
            "$7 = 2",
            "$8 = 0x1048",
            "$9 = 0x1044",
            "$10 = 1",
            "Program received signal SIGILL",
            "$11 = 1029",
            "No more reverse-execution history",
            "$12 = (void *) 0x0",
        ],
    );
    assert_in_order(&passed_on, &["the program ends with the code 1029"]);
}

#[test]
fn gdb_drives_a_machine_it_does_not_know() {
    let test = "gdb_drives_a_machine_it_does_not_know";
    let Some(program) = lathe_tests::tools::find(test, "gdb-multiarch") else { return };
    let folder = folder();
    let server = Server::start(folder.path(), &["program.asm", "--gdb-script", "program.gdb"]);
    let (said, passed_on) = gdb(
        &program,
        folder.path(),
        &["-x", "program.gdb"],
        &[
            "break *$double",
            "continue",
            "print $r1",
            "x/2i $pc",
            "print/x $pc == $double",
            "stepi",
            "reverse-stepi",
            "print/x $pc == $double",
            "set $r9 = 0x5A",
            "monitor print r9",
            "set {char}0x80 = 7",
            "monitor print ram[0x80]",
            "lathe stack",
            "monitor nonsense",
            "delete",
            "continue",
            "lathe who printed \"b\"",
            "print/x $r0",
            "reverse-continue",
            "print $pc",
            "kill",
        ],
    );
    assert_in_order(
        &said,
        &[
            "Breakpoint 1, ",
            "$1 = 1",
            "add r0, r0",
            "return",
            "$2 = 0x1",
            "return",
            "add r0, r0",
            "$3 = 0x1",
            "$4 = 0x62",
            "No more reverse-execution history",
            "$5 = (void (*)()) 0x0",
        ],
    );
    assert_in_order(
        &passed_on,
        &[
            "r9 = 0x5A",
            "ram[0x80] = 0x07",
            "in double",
            "error: there is no command `nonsense`",
            "ab\nan instruction jumps to itself",
            "output r0",
        ],
    );
    drop(server);
}

/// A client that sends nonsense or disconnects keeps no other out.
#[test]
fn nonsense_from_a_client_leaves_the_server_for_the_next() {
    let folder = folder();
    let server = Server::start(folder.path(), &["program.asm"]);
    let hostile: [&[u8]; 6] = [
        b"hello",
        b"$#00$qSupported#00",
        b"$m0,ffffffffffffffff#xx",
        b"\x03\x03\x03",
        &[b'$'; 100_000],
        b"$vCont;s:zzzz#ff+++$Gzz#00",
    ];
    for bytes in hostile {
        let mut client = TcpStream::connect(&server.address).expect("it listens");
        // The server may hang up in the middle.
        let _ = client.write_all(bytes);
    }
    let mut client = TcpStream::connect(&server.address).expect("it still listens");
    client.write_all(b"$?#3f").expect("it takes a question");
    let mut answer = [0];
    std::io::Read::read_exact(&mut client, &mut answer).expect("it answers");
    assert_eq!(answer, *b"+");
}
