//! How long the language server takes for a keystroke in a long file: the change, the findings, and what an editor
//! requests after every change (colours, and hints beside the lines on the screen); and for its occasional requests.
//!
//! `cargo bench -p lathe-benches --no-default-features --bench keystroke`
//!
//! A word after `--` measures only the files with this word in their names. Programs have 20,000 lines. The client is
//! this process, so all messages are measured, but no pipe.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use lathe_benches::generated;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

const LINES: usize = 20_000;
const KEYSTROKES: usize = 40;
/// The lines on the screen.
const SCREEN: std::ops::Range<usize> = 10_000..10_060;
/// What an editor requests after every keystroke, and what it requests now and then.
const ALWAYS: [&str; 2] = ["semanticTokens/range", "inlayHint"];
const SOMETIMES: [&str; 8] = [
    "semanticTokens/full",
    "documentSymbol",
    "foldingRange",
    "codeLens",
    "completion",
    "hover",
    "references",
    "formatting",
];

fn main() {
    println!(
        "milliseconds; a keystroke is its change, the findings, the colours and the hints of a screen of 60 lines"
    );
    println!(
        "{:<22} {:>7} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8}   then, each",
        "file", "lines", "best", "median", "processor", "findings", "colours", "hints"
    );
    for machine in ["mos6502", "rv32i"] {
        measure(&format!("{machine}.asm"), &program(machine, false), "label_1200");
        measure(&format!("{machine}.asm, broken"), &program(machine, true), "label_1200");
    }
    for machine in ["rv32i", "z80", "pdp11"] {
        let definition = lathe_machines::find(machine).expect("it ships").definition;
        measure(&format!("{machine}.isa"), definition, "pc");
    }
    for rows in [1_000, 10_000] {
        measure(&format!("{rows}-rows.isa"), &generated::many_rows(rows), "pc");
    }
}

/// Whether a file was asked for.
fn is_asked_for(name: &str) -> bool {
    std::env::args().skip(1).all(|word| word.starts_with("--") || name.contains(&word))
}

/// Types a comment into the middle of a file, one letter at a time.
fn measure(name: &str, text: &str, word: &str) {
    if !is_asked_for(name) {
        return;
    }
    let (server, client) = Connection::memory();
    let thread = std::thread::spawn(move || lathe_lsp::serve(&server).expect("it serves to the end"));
    let mut editor = Editor::new(client, name.split(',').next().unwrap_or(name), text);
    let lines = text.lines().count();
    let line = SCREEN.start.min(lines / 2) + 7;
    let mut column = text.lines().nth(line).map_or(0, str::len);
    let mut times = Vec::new();
    let before = processor();
    // For rv32i, `;` begins another statement.
    let comment = if name.starts_with("mos6502") { " ; " } else { " # " };
    for letter in comment.chars().chain("abcdefghijklmnopqrstuvwxyz".chars().cycle()).take(KEYSTROKES) {
        let start = Instant::now();
        editor.insert(line, column, letter);
        editor.findings();
        let findings = start.elapsed();
        let parts = ALWAYS.map(|method| {
            let start = Instant::now();
            drop(editor.ask(method, line, 0));
            start.elapsed()
        });
        times.push((start.elapsed(), findings, parts));
        column += 1;
    }
    let processor = (processor() - before) / KEYSTROKES as f64;
    times.sort_unstable();
    let (best, findings, [colours, hints]) = times[0];
    let (median, ..) = times[times.len() / 2];
    print!("{name:<22} {lines:>7} {:>8.1} {:>8.1} {processor:>9.1}", ms(best), ms(median));
    print!(" {:>9.1} {:>8.1} {:>8.1}  ", ms(findings), ms(colours), ms(hints));
    let (row, at) =
        text.lines().enumerate().find_map(|(row, line)| Some((row, line.find(word)?))).expect("it is there");
    for method in SOMETIMES {
        let mut rounds: Vec<Duration> = (0..5)
            .map(|_| {
                editor.insert(line, column, 'x');
                editor.findings();
                let start = Instant::now();
                drop(editor.ask(method, row, at + 1));
                start.elapsed()
            })
            .collect();
        rounds.sort_unstable();
        print!(" {} {:.1}", method.rsplit('/').next().unwrap_or(method), ms(rounds[0]));
    }
    println!();
    editor.close();
    thread.join().expect("the server ends well");
}

/// The side of an editor: one open file.
struct Editor {
    connection: Connection,
    uri: String,
    version: i64,
    requests: i32,
    /// The newest version whose findings have come.
    found: i64,
}

impl Editor {
    fn new(connection: Connection, name: &str, text: &str) -> Editor {
        let uri = format!("file:///measured/{name}");
        let mut editor = Editor { connection, uri, version: 1, requests: 0, found: 0 };
        editor.request("initialize", json!({ "capabilities": {} }));
        editor.notify("initialized", json!({}));
        let item = json!({ "uri": editor.uri, "languageId": "lathe", "version": 1, "text": text });
        editor.notify("textDocument/didOpen", json!({ "textDocument": item }));
        editor.findings();
        editor
    }

    fn insert(&mut self, line: usize, column: usize, letter: char) {
        self.version += 1;
        let place = json!({ "line": line, "character": column });
        let change = json!({ "range": { "start": place, "end": place }, "text": letter.to_string() });
        let document = json!({ "uri": self.uri, "version": self.version });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    fn ask(&mut self, method: &str, line: usize, column: usize) -> Value {
        let place = |line: usize| json!({ "line": line, "character": 0 });
        let start = line.saturating_sub(7);
        self.request(
            &format!("textDocument/{method}"),
            json!({
                "textDocument": { "uri": self.uri },
                "position": { "line": line, "character": column },
                "range": { "start": place(start), "end": place(start + SCREEN.len()) },
                "context": { "includeDeclaration": true, "triggerKind": 1 },
                "options": { "tabSize": 8, "insertSpaces": true },
            }),
        )
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        loop {
            match self.receive() {
                Message::Response(response) if response.id == id => {
                    assert!(response.error.is_none(), "{method}: {:?}", response.error);
                    return response.result.unwrap_or_default();
                }
                _ => continue,
            }
        }
    }

    /// Waits for the findings of the newest version.
    fn findings(&mut self) {
        while self.found < self.version {
            drop(self.receive());
        }
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv().expect("the server is there");
        if let Message::Notification(Notification { method, params }) = &message
            && method == "textDocument/publishDiagnostics"
        {
            self.found = self.found.max(params["version"].as_i64().unwrap_or(0));
        }
        message
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server is there");
    }

    fn close(&mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
    }
}

/// Returns a program of ten-line blocks: a label, instructions that refer to labels near and far, a comment, a
/// constant. A broken program has a mistake in every hundredth block.
fn program(machine: &str, broken: bool) -> String {
    let mut text = format!(".machine {machine}\n .org 0x200\n");
    for block in 0..LINES / 10 {
        let (near, far, number) = (block.saturating_sub(1), (block * 7) % (LINES / 10), block % 256);
        let mistake = match machine {
            _ if broken && block.is_multiple_of(100) => "lda [\n",
            "mos6502" => "; the next block\n",
            _ => "# the next block\n",
        };
        let _ = match machine {
            "mos6502" => write!(
                text,
                "label_{block}:\n        lda #{number}\n        sta $8000 + {number}\n        ldx label_{far}\n{mistake}        cmp #value_{block}\n        bne label_{near}\n        jsr label_{far}      ; there\nvalue_{block} = {number} & 3\n        inx\n"
            ),
            _ => write!(
                text,
                "label_{block}:\n        addi a0, a1, {number}\n        lw a2, 8(sp)\n        sw a2, 12(sp)\n{mistake}        li a3, value_{block}\n        bne a0, a2, label_{near}\n        jal ra, label_{far}      # there\nvalue_{block} = {number} & 3\n        xor t0, t1, t2\n"
            ),
        };
    }
    text
}

/// Returns the processor time of this process in milliseconds, where the system reports it: what a keystroke takes on
/// an otherwise idle computer.
fn processor() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e6
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
