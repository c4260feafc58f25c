//! Random edits of shipped and of broken files: no request makes the server fall over, and the findings are always
//! those of the command line. `LATHE_EDITS` says how many edits of each file (`cargo xtask nightly`: 10,000),
//! `LATHE_SEED` which ones; from 1,000 on it is every broken file, and not only some. A text that fails is made as small as possible and printed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;

use lathe_asm::{Options, assemble};
use lathe_base::files::MemoryFiles;
use lathe_base::{Diagnostic, Source};
use lathe_isa::Isa;
use lathe_machines::{Shipped, WithShipped};
use lathe_tests::random::Random;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

/// Requests at a place, and for a whole text.
const AT_PLACES: [&str; 7] =
    ["hover", "completion", "signatureHelp", "definition", "references", "prepareRename", "rename"];
const FOR_TEXTS: [&str; 10] = [
    "documentSymbol",
    "foldingRange",
    "semanticTokens/full",
    "semanticTokens/full/delta",
    "semanticTokens/range",
    "inlayHint",
    "codeLens",
    "codeAction",
    "formatting",
    "workspace",
];

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// An editor with one open file, and the server in another thread.
struct Editor {
    connection: Connection,
    server: Option<std::thread::JoinHandle<Result<(), String>>>,
    path: PathBuf,
    text: String,
    version: i64,
    requests: i32,
    colours: Value,
    found: Option<(i64, Value)>,
}

impl Editor {
    fn new(name: &str, text: &str) -> Editor {
        let (server, connection) = Connection::memory();
        let server = std::thread::spawn(move || lathe_lsp::serve(&server));
        // A folder that does not exist: nothing beside the file plays a part.
        let path = Path::new("/nowhere/edits").join(name);
        let (server, text) = (Some(server), text.to_owned());
        let mut editor =
            Editor { connection, server, path, text, version: 1, requests: 0, colours: json!("0"), found: None };
        editor.request("initialize", json!({ "capabilities": {} }));
        editor.notify("initialized", json!({}));
        let item = json!({ "uri": editor.uri(), "languageId": "lathe", "version": 1, "text": editor.text });
        editor.notify("textDocument/didOpen", json!({ "textDocument": item }));
        editor
    }

    fn uri(&self) -> String {
        format!("file://{}", self.path.display())
    }

    fn place(&self, offset: usize) -> Value {
        let before = &self.text[..offset];
        let line = before.rsplit('\n').next().unwrap_or("");
        json!({ "line": before.matches('\n').count(), "character": line.encode_utf16().count() })
    }

    fn edit(&mut self, start: usize, end: usize, piece: &str) {
        let range = json!({ "start": self.place(start), "end": self.place(end) });
        self.text.replace_range(start..end, piece);
        self.version += 1;
        let document = json!({ "uri": self.uri(), "version": self.version });
        let change = json!({ "range": range, "text": piece });
        self.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [change] }));
    }

    /// The findings for the newest version.
    fn findings(&mut self) -> Vec<(u64, u64, String, String)> {
        loop {
            if let Some((version, found)) = &self.found
                && *version == self.version
            {
                let row = |one: &Value| {
                    let start = &one["range"]["start"];
                    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
                    let (line, character) = (start["line"].as_u64(), start["character"].as_u64());
                    (line.unwrap_or(0), character.unwrap_or(0), text(&one["code"]), text(&one["message"]))
                };
                return found.as_array().into_iter().flatten().map(row).collect();
            }
            self.receive();
        }
    }

    fn ask(&mut self, method: &str, offset: usize) -> Value {
        let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 100_000, "character": 0 } });
        if method == "workspace" {
            return self.request("workspace/symbol", json!({ "query": "a" }));
        }
        let params = json!({
            "textDocument": { "uri": self.uri() },
            "position": self.place(offset),
            "range": whole,
            "newName": "fresh",
            "previousResultId": self.colours,
            "context": { "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false, "diagnostics": [] },
            "options": { "tabSize": 8, "insertSpaces": true },
        });
        let answer = self.request(&format!("textDocument/{method}"), params);
        if let Some(name) = answer.get("resultId").filter(|name| name.is_string()) {
            self.colours = name.clone();
        }
        answer
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        loop {
            if let Message::Response(response) = self.receive()
                && response.id == id
            {
                // A name that cannot be given is an answer, too; a request that cannot be read is not.
                let refused = response.error.as_ref().filter(|error| error.code == -32602 || error.code == -32601);
                assert!(refused.is_none(), "{method}: {refused:?}");
                return response.result.unwrap_or_default();
            }
        }
    }

    fn receive(&mut self) -> Message {
        let message = self.connection.receiver.recv().expect("the server is still there");
        if let Message::Notification(Notification { method, params }) = &message
            && method == "textDocument/publishDiagnostics"
            && params["uri"] == json!(self.uri())
            && let Some(version) = params["version"].as_i64()
        {
            self.found = Some((version, params["diagnostics"].clone()));
        }
        message
    }

    fn notify(&self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server is still there");
    }

    fn close(mut self) {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        let server = self.server.take().map(std::thread::JoinHandle::join);
        assert!(matches!(server, Some(Ok(Ok(())))), "the server ends well");
    }

    /// Compares the findings, and asks some things.
    fn check(&mut self, asked: &[(&str, usize)]) {
        // The server is busy with it, too.
        let mut wanted = expected(&self.path, &self.text);
        let mut found = self.findings();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "the findings are those of the command line");
        for (method, offset) in asked {
            let offset = (0..=*offset).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            self.ask(method, offset);
        }
    }
}

/// What `lathe check` and `lathe asm` say: line, column in UTF-16 units, code, message with its next steps.
fn expected(path: &Path, text: &str) -> Vec<(u64, u64, String, String)> {
    let files = MemoryFiles::default();
    let all: Vec<Diagnostic> = if path.extension().is_some_and(|ending| ending == "isa") {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut loaded = lathe_isa::load_with(Source::new(name, text), &WithShipped(&files));
        if let Some(isa) = &loaded.isa {
            loaded.diagnostics.extend(lathe_vm::examples::check(isa));
        }
        loaded.diagnostics.into_sorted()
    } else {
        let Some(machine) = machine_of(text) else { return Vec::new() };
        let isa = shipped(machine);
        assemble(&isa, &files, Source::new("program.asm", text), &Options::default()).diagnostics.into_sorted()
    };
    let row = |one: &Diagnostic| {
        let before = &text[..one.primary.span.start as usize];
        let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
        let help: String = one.help.iter().map(|help| format!("\nhelp: {help}")).collect();
        let message = format!("{}{help}", one.message);
        (before.matches('\n').count() as u64, column as u64, one.code.name.to_owned(), message)
    };
    // Findings in a machine that comes with Lathe are not about this file.
    all.iter().filter(|one| one.primary.span.file.0 == 0).map(row).collect()
}

/// A shipped machine, loaded once: ten thousand edits ask for the same few.
fn shipped(machine: lathe_machines::Machine) -> Rc<Isa> {
    thread_local!(static LOADED: RefCell<BTreeMap<&'static str, Rc<Isa>>> = RefCell::default());
    let load = || Rc::new(lathe_isa::load_with(machine.source(), &Shipped).isa.expect("it ships"));
    LOADED.with_borrow_mut(|loaded| Rc::clone(loaded.entry(machine.name).or_insert_with(load)))
}

/// The shipped machine that the first line of a program names.
fn machine_of(text: &str) -> Option<lathe_machines::Machine> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with([';', '#', '*', '/']))?;
    let (directive, rest) = line.split_once([' ', '\t'])?;
    let name = rest.trim_start().split([' ', '\t', ';', '/']).next()?.trim_matches('"');
    directive.eq_ignore_ascii_case(".machine").then(|| lathe_machines::find(name))?
}

/// Opens a text and asks everything at a few places: whether that goes well.
fn is_fine(name: &str, text: &str) -> bool {
    let run = || {
        let mut editor = Editor::new(name, text);
        let places: Vec<usize> = (0..8).map(|part| text.len() * part / 7).collect();
        let mut asked: Vec<(&str, usize)> = FOR_TEXTS.map(|method| (method, 0)).to_vec();
        asked.extend(AT_PLACES.iter().flat_map(|method| places.iter().map(move |place| (*method, *place))));
        editor.check(&asked);
        editor.close();
    };
    catch_unwind(AssertUnwindSafe(run)).is_ok()
}

/// Fewer lines of a text that does not go well.
fn shrunk(name: &str, text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            if is_fine(name, &fewer.concat()) {
                at += size;
            } else {
                lines = fewer;
            }
        }
        size /= 2;
    }
    lines.concat()
}

const PIECES: [&str; 34] = [
    "\n",
    " ",
    "|",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "a",
    "D",
    "0",
    "1",
    "#",
    "##",
    ":",
    "=",
    ",",
    ";",
    "\"",
    "'",
    "é",
    "𝄞",
    "register ",
    "pc = ",
    ".byte ",
    "field ",
    "where ",
    "let ",
    "=> ",
    "/*",
    "*/",
    ".macro x\n",
    "0x",
];

fn edits(name: &str, original: &str, count: u64, seed: u64) {
    let mut random = Random(seed ^ name.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)));
    let mut editor = Editor::new(name, original);
    for number in 0..count {
        if number % 25 == 24 {
            let end = editor.text.len();
            editor.edit(0, end, original);
        }
        let boundary = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let start = boundary(&editor.text, random.below(editor.text.len() as u64 + 1) as usize);
        let length = *random.pick(&[0, 0, 0, 1, 1, 2, 7, 40]);
        let end = boundary(&editor.text, (start + length).min(editor.text.len())).max(start);
        let piece = if random.once_in(3) { "" } else { *random.pick(&PIECES) };
        editor.edit(start, end, piece);
        let at = boundary(&editor.text, (start + piece.len()).min(editor.text.len()));
        let asked = [(*random.pick(&AT_PLACES), at), (*random.pick(&FOR_TEXTS), 0)];
        let result = catch_unwind(AssertUnwindSafe(|| editor.check(&asked)));
        if result.is_err() {
            let text = editor.text.clone();
            let small = if is_fine(name, &text) { text } else { shrunk(name, &text) };
            panic!("seed {seed}, {name}, edit {number}, {asked:?}; the text, made small:\n{small}");
        }
    }
    editor.close();
}

/// Files of a folder of fixtures.
fn fixtures(folder: &str, ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(folder);
    let mut files: Vec<PathBuf> =
        folder.read_dir().expect("there are fixtures").flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|found| found == ending));
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(path).expect("fixtures are text"))
    };
    files.iter().map(read).collect()
}

/// Every shipped definition, a program of each machine, and broken files of both kinds: all of them, or some.
fn files(all: bool) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for machine in lathe_machines::every() {
        files.push((format!("{}.isa", machine.name), machine.definition.to_owned()));
        let alone = machine.programs.iter().filter(|program| !program.text.contains(".inc"));
        if let Some(program) = alone.min_by_key(|program| program.text.len()) {
            files.push((format!("{}-{}.asm", machine.name, program.name), program.text.to_owned()));
        }
    }
    files.extend(fixtures("diagnostics", "isa").into_iter().step_by(if all { 1 } else { 9 }));
    let programs = fixtures("assembly", "asm").into_iter().filter(|(_, text)| !text.contains(".inc"));
    files
        .extend(programs.step_by(if all { 1 } else { 6 }).map(|(name, text)| (name, format!(".machine hex8\n{text}"))));
    files
}

#[test]
fn random_edits() {
    let (count, seed) = (number("LATHE_EDITS", 24), number("LATHE_SEED", 13));
    let only = std::env::var("LATHE_FILE").unwrap_or_default();
    let mut files = files(count >= 1000);
    files.retain(|(name, _)| name.contains(&only));
    let files = Mutex::new(files.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    // Held only to take the next one.
                    let next = files.lock().ok().and_then(|mut files| files.next());
                    let Some((name, text)) = next else { return };
                    edits(&name, &text, count, seed);
                    println!("{name}: {count} edits, seed {seed}");
                }
            });
        }
    });
}

/// Half-typed lines, one for each kind of declaration: names before and after them are still known.
#[test]
fn half_typed_definitions_keep_what_is_known() {
    let before = "machine m \"\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister acc : u8\nfield N : u8\n";
    let after = "instructions {\n  ldi N | 0x01 {N} | acc = N\n  nop | 0x00 |\n}\n";
    let halves = [
        "memory",
        "memory rom",
        "memory rom :",
        "memory rom : u8 ->",
        "pc",
        "register",
        "register x",
        "register x, ",
        "register x :",
        "register x : u",
        "constant c : u8 =",
        "view v",
        "view v =",
        "view v = acc[",
        "field D",
        "field D :",
        "field D : register {",
        "field D : register { acc,",
        "field D : enum { a",
        "field D : u8 from",
        "device",
        "device d :",
        "device d : timer u8",
        "map ram {",
        "map ram {\n  0x10 |",
        "data ram 0 {",
        "trap t",
        "trap t =",
        "fn",
        "fn f(",
        "fn f(x: u8",
        "fn f(x: u8) -> u8 {",
        "fn f(x: u8) { let y =",
        "family OP : u1 (",
        "family OP : u1 (x: u8) -> u8 {\n  add =",
        "assembly {",
        "assembly { %hi(V) =",
        "instructions {",
        "instructions {\n  add",
        "instructions {\n  add N |",
        "instructions {\n  add N | 0x02",
        "instructions {\n  add N | 0x02 {",
        "instructions {\n  add N | 0x02 {N} |",
        "instructions {\n  add N | 0x02 {N} | acc =",
        "instructions {\n  add N | 0x02 {N} | acc = acc +",
        "instructions {\n  add N | 0x02 {N} | if",
        "pseudo {",
        "pseudo {\n  clr =>",
        "examples {",
        "examples {\n  nop :",
        "examples {\n  nop : acc =",
        "on illegal {",
        "on step",
        "prefix p",
        "prefix p 0xDD with",
        "before each {",
        "after each when",
        "include",
        "include \"",
        "remove {",
        "##",
    ];
    for half in halves {
        for text in [format!("{before}{half}\n{after}"), format!("{before}{after}{half}")] {
            let mut editor = Editor::new("half.isa", &text);
            let at = text.find(half).unwrap_or(0) + half.len();
            editor.check(&[("completion", at), ("hover", at), ("definition", at), ("signatureHelp", at)]);
            let symbols = editor.ask("documentSymbol", 0).to_string();
            for name in ["\"m\"", "\"ram\"", "\"acc\"", "\"N\""] {
                assert!(symbols.contains(name), "no symbol {name} after `{half}`: {symbols}");
            }
            let hover = editor.ask("hover", text.find("acc").unwrap_or(0) + 1);
            assert!(hover.to_string().contains("register acc"), "no hover after `{half}`: {hover}");
            let offered = editor.ask("completion", text.find("acc = N").map_or(at, |at| at + 6)).to_string();
            assert!(offered.contains("\"acc\"") && offered.contains("\"N\""), "`{half}`: {offered}");
            editor.ask("formatting", 0);
            editor.close();
        }
    }
}
