//! Random edits of shipped and of broken files: no request crashes the server, and its findings always match those of
//! the command line. `LATHE_EDITS` is the number of edits of each file (`cargo xtask edits`: 10,000), `LATHE_SEED`
//! chooses them, `LATHE_FILE` is a part of the files' names; from 1,000 on, every shipped program and every broken file
//! is edited, not only some. A failing text is reduced as far as possible and printed.

mod editor;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;

use lathe_asm::{Options, assemble};
use lathe_base::files::{FileError, Found};
use lathe_base::{Diagnostic, Source};
use lathe_isa::Isa;
use lathe_machines::{Shipped, WithShipped};
use lathe_tests::random::Random;

use editor::Editor;

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
    "workspace/symbol",
];

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The file to edit, and the files it includes: names and texts. All of them are open.
struct Files<'f> {
    name: &'f str,
    others: &'f [(String, String)],
}

/// Files of one folder. As on disk, any other path is outside.
struct Folder(BTreeMap<String, Vec<u8>>);

impl lathe_base::files::Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let missing = if is_inside { "there is no such file" } else { "it is outside of the project's folder" };
        let bytes = self.0.get(name).cloned().ok_or_else(|| FileError(missing.to_owned()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

impl Files<'_> {
    fn open(&self, text: &str) -> Editor {
        // A folder that does not exist: nothing beside the files matters.
        let mut editor = Editor::new(Path::new("/nowhere/edits"));
        self.others.iter().for_each(|(name, text)| editor.open(name, text));
        editor.open(self.name, text);
        editor
    }

    /// Compares the findings, and sends some requests.
    fn check(&self, editor: &mut Editor, asked: &[(&str, usize)]) {
        // Meanwhile, the server is busy with it, too.
        let mut wanted = self.expected(editor.text(self.name));
        // An included file may be a program by itself, with its own findings.
        for (name, text) in self.others.iter().filter(|(_, text)| machine_of(text).is_some()) {
            for (file, rows) in (Files { name, ..*self }).expected(text) {
                let known = wanted.entry(file).or_default();
                let new: Vec<_> = rows.into_iter().filter(|row| !known.contains(row)).collect();
                known.extend(new);
            }
        }
        editor.findings(self.name);
        // The answer comes after the findings in other files.
        editor.ask("foldingRange", self.name, 0);
        for (name, wanted) in &mut wanted {
            let mut found = editor.last_findings(name);
            found.sort();
            wanted.sort();
            assert_eq!(found, *wanted, "the findings in {name} are those of the command line");
        }
        for (method, offset) in asked {
            let text = editor.text(self.name);
            let offset = (0..=*offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            editor.ask(method, self.name, offset);
        }
    }

    /// Returns what `lathe check` and `lathe asm` say about each file: line, column in UTF-16 units, code, message with
    /// its next steps.
    fn expected(&self, text: &str) -> BTreeMap<String, Vec<(u64, u64, String, String)>> {
        let files = Folder(self.others.iter().map(|(name, text)| (name.clone(), text.clone().into())).collect());
        let main = Source::new(self.name, text);
        let (all, sources): (Vec<Diagnostic>, Vec<Source>) = if self.name.ends_with(".isa") {
            let mut loaded = lathe_isa::load_with(main, &WithShipped(&files));
            if let Some(isa) = &loaded.isa {
                loaded.diagnostics.extend(lathe_vm::examples::check(isa));
            }
            (loaded.diagnostics.into_sorted(), loaded.written.sources)
        } else if let Some(machine) = machine_of(text) {
            let assembled = assemble(&shipped(machine), &files, main, &Options::default());
            (assembled.diagnostics.into_sorted(), assembled.sources)
        } else {
            (Vec::new(), vec![main])
        };
        let mut found: BTreeMap<String, Vec<(u64, u64, String, String)>> = BTreeMap::new();
        // Findings in a machine that comes with Lathe are not about these files.
        for source in sources.iter().filter(|source| source.name == self.name || files.0.contains_key(&source.name)) {
            found.entry(source.name.clone()).or_default();
        }
        for one in &all {
            let source = &sources[one.primary.span.file.0 as usize];
            let before = &source.text[..one.primary.span.start as usize];
            let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count();
            let help: String = one.help.iter().map(|help| format!("\nhelp: {help}")).collect();
            let message = format!("{}{help}", one.message);
            let row = (before.matches('\n').count() as u64, column as u64, one.code.name.to_owned(), message);
            found.entry(source.name.clone()).and_modify(|rows| rows.push(row));
        }
        found
    }
}

/// Returns a shipped machine, loaded once: ten thousand edits use the same few.
fn shipped(machine: lathe_machines::Machine) -> Rc<Isa> {
    thread_local!(static LOADED: RefCell<BTreeMap<&'static str, Rc<Isa>>> = RefCell::default());
    let load = || Rc::new(lathe_isa::load_with(machine.source(), &Shipped).isa.expect("it ships"));
    LOADED.with_borrow_mut(|loaded| Rc::clone(loaded.entry(machine.name).or_insert_with(load)))
}

/// Returns the shipped machine that the first line of a program names.
fn machine_of(text: &str) -> Option<lathe_machines::Machine> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with([';', '#', '*', '/']))?;
    let (directive, rest) = line.split_once([' ', '\t'])?;
    let name = rest.trim_start().split([' ', '\t', ';', '/']).next()?.trim_matches('"');
    directive.eq_ignore_ascii_case(".machine").then(|| lathe_machines::find(name))?
}

/// Opens a text and sends every request at a few places; whether all goes well.
fn is_fine(files: &Files, text: &str) -> bool {
    let run = || {
        let mut editor = files.open(text);
        let places: Vec<usize> = (0..8).map(|part| text.len() * part / 7).collect();
        let mut asked: Vec<(&str, usize)> = FOR_TEXTS.map(|method| (method, 0)).to_vec();
        asked.extend(AT_PLACES.iter().flat_map(|method| places.iter().map(move |place| (*method, *place))));
        files.check(&mut editor, &asked);
        editor.end();
    };
    catch_unwind(AssertUnwindSafe(run)).is_ok()
}

/// Reduces a failing text to fewer lines.
fn shrunk(files: &Files, text: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < lines.len() {
            let mut fewer = lines.clone();
            fewer.drain(at..(at + size).min(lines.len()));
            if is_fine(files, &fewer.concat()) {
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

fn edits(files: &Files, original: &str, count: u64, seed: u64) {
    let name = files.name;
    let mut random = Random(seed ^ name.bytes().fold(0u64, |sum, byte| sum.wrapping_mul(31) + u64::from(byte)));
    let mut editor = files.open(original);
    for number in 0..count {
        if number % 25 == 24 {
            let end = editor.text(name).len();
            editor.edit(name, 0, end, original);
        }
        let boundary = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let text = editor.text(name);
        let start = boundary(text, random.below(text.len() as u64 + 1) as usize);
        let length = *random.pick(&[0, 0, 0, 1, 1, 2, 7, 40]);
        let end = boundary(text, (start + length).min(text.len())).max(start);
        let piece = if random.once_in(3) { "" } else { *random.pick(&PIECES) };
        editor.edit(name, start, end, piece);
        let text = editor.text(name);
        let at = boundary(text, (start + piece.len()).min(text.len()));
        let asked = [(*random.pick(&AT_PLACES), at), (*random.pick(&FOR_TEXTS), 0)];
        let result = catch_unwind(AssertUnwindSafe(|| files.check(&mut editor, &asked)));
        if result.is_err() {
            let text = editor.text(name).to_owned();
            let small = if is_fine(files, &text) { text } else { shrunk(files, &text) };
            panic!("seed {seed}, {name}, edit {number}, {asked:?}; the text, made small:\n{small}");
        }
    }
    editor.end();
}

/// Returns the files of a folder of fixtures.
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

/// A file to edit: its name, its text, and the files that it may include.
type Edited = (String, String, Vec<(String, String)>);

/// Yields the programs of docs/assembly.md for other assemblers.
fn dialects() -> impl Iterator<Item = Edited> {
    let (_, chapter) = include_str!("../../../docs/assembly.md").split_once("\n## Dialects\n").expect("there is one");
    let chapter = chapter.split("\n## ").next().unwrap_or("");
    let parts = chapter.split("\n### ").filter_map(|part| {
        let (name, text) = (part.lines().next()?, part.split_once("```asm\n")?.1.split_once("```")?.0);
        Some((format!("{name}.asm"), text.to_owned(), Vec::new()))
    });
    parts.filter(|(_, text, _)| machine_of(text).is_some())
}

/// Returns every shipped definition, programs of each machine, programs for other assemblers, and broken files of both
/// kinds: all of them, or some (for each machine, one program without includes and one with).
fn files(all: bool) -> Vec<Edited> {
    let mut files: Vec<Edited> = Vec::new();
    for machine in lathe_machines::every() {
        files.push((format!("{}.isa", machine.name), machine.definition.to_owned(), Vec::new()));
        let others: Vec<(String, String)> =
            machine.programs.iter().map(|one| (format!("{}.asm", one.name), one.text.to_owned())).collect();
        let programs = machine.programs.iter().filter(|one| machine_of(one.text).is_some());
        let shortest = |includes: bool| {
            let alike = programs.clone().filter(|one| one.text.contains(".inc") == includes);
            alike.min_by_key(|program| program.text.len())
        };
        let edited: Vec<_> =
            if all { programs.clone().collect() } else { [false, true].map(shortest).into_iter().flatten().collect() };
        for program in edited {
            let included = others.iter().filter(|(name, _)| program.text.contains(&format!("\"{name}\"")));
            let name = format!("{}-{}.asm", machine.name, program.name);
            files.push((name, program.text.to_owned(), included.cloned().collect()));
        }
    }
    files.extend(dialects());
    let definitions = fixtures("diagnostics", "isa").into_iter().step_by(if all { 1 } else { 9 });
    files.extend(definitions.map(|(name, text)| (name, text, Vec::new())));
    // The files that fixtures include are beside them.
    let beside = fixtures("assembly/files", "asm");
    let programs = fixtures("assembly", "asm").into_iter().step_by(if all { 1 } else { 6 });
    files.extend(programs.map(|(name, text)| (name, format!(".machine hex8\n{text}"), beside.clone())));
    files
}

#[test]
fn random_edits() {
    let (count, seed) = (number("LATHE_EDITS", 24), number("LATHE_SEED", 13));
    let only = std::env::var("LATHE_FILE").unwrap_or_default();
    let mut files = files(count >= 1000);
    assert!(dialects().count() >= 5, "the programs for other assemblers are not found");
    files.retain(|(name, ..)| name.contains(&only));
    let files = Mutex::new(files.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    // Held only to take the next file.
                    let next = files.lock().ok().and_then(|mut files| files.next());
                    let Some((name, text, others)) = next else { return };
                    edits(&Files { name: &name, others: &others }, &text, count, seed);
                    println!("{name}: {count} edits, seed {seed}");
                }
            });
        }
    });
}

/// Half-typed lines, one for each kind of declaration: names before and after them stay known.
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
            let files = Files { name: "half.isa", others: &[] };
            let mut editor = files.open(&text);
            let at = text.find(half).unwrap_or(0) + half.len();
            files.check(&mut editor, &[("completion", at), ("hover", at), ("definition", at), ("signatureHelp", at)]);
            let symbols = editor.ask("documentSymbol", "half.isa", 0).to_string();
            for name in ["\"m\"", "\"ram\"", "\"acc\"", "\"N\""] {
                assert!(symbols.contains(name), "no symbol {name} after `{half}`: {symbols}");
            }
            let hover = editor.ask("hover", "half.isa", text.find("acc").unwrap_or(0) + 1);
            assert!(hover.to_string().contains("register acc"), "no hover after `{half}`: {hover}");
            let offered =
                editor.ask("completion", "half.isa", text.find("acc = N").map_or(at, |at| at + 6)).to_string();
            assert!(offered.contains("\"acc\"") && offered.contains("\"N\""), "`{half}`: {offered}");
            editor.ask("formatting", "half.isa", 0);
            editor.end();
        }
    }
}
