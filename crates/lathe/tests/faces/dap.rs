//! `lathe dap` from outside.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{binary, folder};

#[test]
fn a_client_that_was_not_written_for_it_can_do_everything() {
    let test = "a_client_that_was_not_written_for_it_can_do_everything";
    let Some(node) = lathe_tests::tools::find(test, "node") else { return };
    let Some(package) = lathe_tests::tools::find_node_package(test, "@vscode/debugadapter-testsupport") else { return };
    let folder = folder();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faces/client.js");
    let output =
        Command::new(node).arg(script).arg(package).arg(binary()).arg(folder.path()).output().expect("it runs");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("everything passed"), "{text}");
}

/// A server on standard input and output.
struct Server {
    child: Child,
}

impl Server {
    fn start() -> Server {
        let mut command = Command::new(binary());
        command.arg("dap").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Server { child: command.spawn().expect("it starts") }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.child.stdin.as_mut().expect("it listens").write_all(bytes).expect("it takes everything");
    }

    fn request(&mut self, body: &Value) {
        let body = body.to_string();
        self.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// Receives the next message.
    fn receive(&mut self) -> Value {
        receive(self.child.stdout.as_mut().expect("it answers"))
    }
}

fn receive(input: &mut impl Read) -> Value {
    let mut header = Vec::new();
    while !header.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        input.read_exact(&mut byte).expect("there is a header");
        header.push(byte[0]);
    }
    let text = String::from_utf8(header).expect("a header is text");
    let length = text.trim().rsplit(' ').next().and_then(|length| length.parse().ok()).expect("it has a length");
    let mut body = vec![0; length];
    input.read_exact(&mut body).expect("there is a body");
    serde_json::from_slice(&body).expect("it is JSON")
}

#[test]
fn malformed_messages_are_refused_and_the_server_goes_on() {
    let mut server = Server::start();
    let framed = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let hostile = [
        "hello\r\n".to_owned(),
        "Content-Length: x\r\n\r\n".to_owned(),
        "Content-Length: -5\r\n\r\n".to_owned(),
        "Content-Length: 99999999999\r\n\r\n".to_owned(),
        "Content-Length: 99999999999999999999999\r\n\r\n".to_owned(),
        framed(&" ".repeat(17 << 20)),
        framed("{"),
        framed("null"),
        framed("[1, 2]"),
        framed(r#"{"seq": "one", "type": "request", "command": 7}"#),
        framed(r#"{"seq": 3, "type": "response"}"#),
        framed(&"[".repeat(100_000)),
    ];
    for (number, bytes) in hostile.iter().enumerate() {
        server.send(bytes.as_bytes());
        assert_eq!(server.receive()["success"], json!(false), "{number}");
    }
    for command in ["continue", "variables", "readMemory", "evaluate", "launch", "setBreakpoints", "", "\u{1b}[2J"] {
        server.request(&json!({ "seq": 9, "type": "request", "command": command }));
        let answer = server.receive();
        assert_eq!((&answer["success"], &answer["request_seq"]), (&json!(false), &json!(9)), "{command}");
    }
    server.request(&json!({ "seq": 10, "type": "request", "command": "initialize", "arguments": {} }));
    assert_eq!(server.receive()["success"], json!(true));
    // Arguments of the wrong type, once a program is loaded.
    let folder = folder();
    let program = folder.path().join("program.asm");
    server.request(&json!({ "seq": 11, "type": "request", "command": "launch", "arguments": { "program": program } }));
    assert_eq!(server.receive()["success"], json!(true));
    assert_eq!(server.receive()["event"], json!("initialized"));
    for command in ["variables", "readMemory", "writeMemory", "evaluate", "disassemble", "setVariable", "source"] {
        for arguments in [json!(null), json!([]), json!({ "variablesReference": 1e30, "memoryReference": "ram:zz" })] {
            server.request(&json!({ "seq": 12, "type": "request", "command": command, "arguments": arguments }));
            assert_eq!(server.receive()["success"], json!(false), "{command} {arguments}");
        }
    }
    let huge = json!({ "memoryReference": "ram:0xFFFF", "count": u64::MAX, "offset": i64::MIN });
    server.request(&json!({ "seq": 13, "type": "request", "command": "readMemory", "arguments": huge }));
    assert_eq!(server.receive()["success"], json!(true));
    server.request(&json!({ "seq": 14, "type": "request", "command": "disconnect" }));
    assert_eq!(server.receive()["success"], json!(true));
    assert!(server.child.wait().expect("it ends").success());
}

#[test]
fn a_port_wants_its_token() {
    let mut server = Command::new(binary()).args(["dap", "--listen", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).expect("it tells where it listens");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (address, token) = (words[2].trim_end_matches(','), words[4]);
    assert!(address.starts_with("127.0.0.1:"), "{line}");
    let mut client = TcpStream::connect(address).expect("it listens");
    let mut ask = |arguments: Value, command: &str| {
        let body = json!({ "seq": 1, "type": "request", "command": command, "arguments": arguments }).to_string();
        write!(client, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        receive(&mut client)["success"].clone()
    };
    assert_eq!(ask(json!({}), "threads"), json!(false));
    assert_eq!(ask(json!({}), "initialize"), json!(false));
    assert_eq!(ask(json!({ "token": "guess" }), "initialize"), json!(false));
    assert_eq!(ask(json!({ "token": token }), "initialize"), json!(true));
    assert_eq!(ask(json!({}), "threads"), json!(true));
    server.kill().expect("it can be ended");
    let _ = server.wait();
}
