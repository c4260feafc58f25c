//! Broken definitions and their diagnostics.
//!
//! Each file in `tests/diagnostics/` has its expectations in comments on the lines that cause them: `# !E301 16 bits`
//! is the code and a part of the message. If a line cannot have a comment, its expectations are on the next one:
//! `# ^!E103 closing quote`. Everything that is reported must be expected, and everything expected must be reported.
//!
//! `LATHE_UPDATE=1` writes the actual diagnostics as expectations; read them before you keep them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lathe_base::files::MemoryFiles;
use lathe_base::fix::apply_safe;
use lathe_base::{Diagnostic, FileId, Severity, Source};
use lathe_isa::codes;
use lathe_machines::WithShipped;

const HERE: &str = "# !";
const ABOVE: &str = "# ^!";

/// One expectation: the line (from 1), the code, a part of the message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Expected {
    line: usize,
    code: String,
    part: String,
}

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagnostics");
    let entries = fs::read_dir(folder).expect("the fixtures are there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// Returns everything that is wrong with a definition, including its examples.
fn diagnose(text: &str) -> Vec<Diagnostic> {
    let part = "fn twice(x: u8) -> u8 { x + x }\n";
    let files = MemoryFiles([("part.isa".to_owned(), part.as_bytes().to_vec())].into());
    let loaded = lathe_isa::load_with(Source::new("fixture.isa", text), &WithShipped(&files));
    let mut found = loaded.diagnostics.into_sorted();
    if let Some(isa) = &loaded.isa {
        found.extend(lathe_vm::examples::check(isa));
    }
    found
}

/// Returns the expectations on one line: after each mark, the code and a part of the message.
fn expectations(line: &str, mark: &str, number: usize) -> Vec<Expected> {
    let parts = line.split(mark).skip(1);
    let expected = parts.map(|part| {
        let (code, part) = part.trim().split_once(' ').unwrap_or((part.trim(), ""));
        Expected { line: number, code: code.to_owned(), part: part.trim().to_owned() }
    });
    expected.collect()
}

fn expected(text: &str) -> Vec<Expected> {
    let mut all = Vec::new();
    for (at, line) in text.lines().enumerate() {
        all.extend(expectations(line, HERE, at + 1));
        all.extend(expectations(line, ABOVE, at));
    }
    all
}

/// Compares the diagnostics with the expectations; returns every difference.
fn check(name: &str, text: &str) -> Vec<String> {
    let source = Source::new(name, text);
    let mut missing = expected(text);
    let mut problems = Vec::new();
    for diagnostic in diagnose(text) {
        let (line, column) = source.line_column(diagnostic.primary.span.start);
        let shown = format!("{name}:{line}:{column} {} {}", diagnostic.code.name, diagnostic.message);
        let fits = |e: &Expected| {
            e.line == line && e.code == diagnostic.code.name && diagnostic.message.contains(e.part.as_str())
        };
        match missing.iter().position(fits) {
            Some(at) => drop(missing.remove(at)),
            None => problems.push(format!("not expected: {shown}")),
        }
        if diagnostic.help.iter().all(|help| help.trim().is_empty()) {
            problems.push(format!("no next step: {shown}"));
        }
    }
    problems.extend(missing.iter().map(|e| format!("not reported: {name}:{} {} {}", e.line, e.code, e.part)));
    problems
}

/// Returns the text with the actual diagnostics as expectations.
fn updated(text: &str) -> String {
    let source = Source::new("", text);
    let mut found: Vec<(usize, String)> = Vec::new();
    for diagnostic in diagnose(text) {
        let (line, _) = source.line_column(diagnostic.primary.span.start);
        found.push((line, format!("{} {}", diagnostic.code.name, diagnostic.message)));
    }
    let mut lines: Vec<String> = Vec::new();
    let mut pending: Vec<String> = Vec::new();
    let written: Vec<&str> = text.lines().collect();
    for (at, line) in written.iter().enumerate() {
        if line.starts_with("# ^") {
            lines.push(if pending.is_empty() { "# ^".into() } else { format!("{ABOVE}{}", pending.join(ABOVE)) });
            pending.clear();
            continue;
        }
        let bare = line.split(HERE).next().unwrap_or("").trim_end();
        let here = found.iter().filter(|(number, _)| *number == at + 1).map(|(_, shown)| shown.clone());
        pending = here.collect();
        let next_is_for_this = written.get(at + 1).is_some_and(|next| next.starts_with("# ^"));
        if pending.is_empty() || next_is_for_this {
            lines.push(bare.to_owned());
        } else {
            lines.push(format!("{bare}  {HERE}{}", std::mem::take(&mut pending).join(&format!(" {HERE}"))));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn every_fixture_says_what_is_reported() {
    let update = std::env::var_os("LATHE_UPDATE").is_some();
    let mut problems = Vec::new();
    for path in fixtures() {
        let text = fs::read_to_string(&path).expect("a text");
        if update {
            fs::write(&path, updated(&text)).expect("the fixture can be written");
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        problems.extend(check(&name, &text));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_code_has_a_fixture() {
    let texts = fixtures().into_iter().map(|path| fs::read_to_string(path).expect("a text"));
    let shown: BTreeSet<String> = texts.flat_map(|text| expected(&text)).map(|expected| expected.code).collect();
    let missing: Vec<&str> = codes::ALL.iter().map(|code| code.name).filter(|name| !shown.contains(*name)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

/// One mistake gives one diagnostic, or very few.
#[test]
fn a_beginners_mistake_is_told_once() {
    for path in fixtures() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("beginner-") {
            let count = diagnose(&fs::read_to_string(path).expect("a text")).len();
            assert!((1..=2).contains(&count), "{name} gives {count} diagnostics");
        }
    }
}

/// Returns a definition with one more line, or with another statement as the meaning of `foo`.
fn starter(line: &str, meaning: &str) -> String {
    format!(
        "machine starter \"My first machine\"\nmemory ram : u16 -> u8\npc pc : u16 in ram\nregister a, x : u8\n\
         device console : stream\n{line}\ninstructions {{\n  foo | 0000 0000 | {meaning}\n  bar | 0000 0001 | \
         a = x + a + console.read(); x = a; console.write(x)\n}}\n"
    )
}

/// Words that people know from other languages give one message, which names Lathe's equivalent.
#[test]
fn words_of_other_languages_lead_to_what_there_is_here() {
    let lines = [
        ("flag c", "register c, z : u1"),
        ("function f(x: u8) -> u8 { x }", "fn double(x: u8)"),
        ("fn f(x: u8) -> u8 = x", "stands in a block"),
        ("import \"x.isa\"", "include \"shared.isa\""),
        ("port p : stream", "device console : stream"),
        ("interrupt 5", "on step when"),
        ("const k = 5", "did you mean `constant`"),
        ("register r : i8", "did you mean `s8`?"),
        ("register r : uint16_t", "did you mean `u16`?"),
        ("register r : byte", "did you mean `u8`?"),
        ("register r0-r7 : u8", "`r0..r7`"),
        ("register r[8] : u8", "`r0..r7`"),
        ("/* where all is */", "comments begin with `#`"),
        ("-- where all is", "comments begin with `#`"),
    ];
    let meanings = [
        ("var t = a", "let x = a + 1"),
        ("print a", "console.write(a)"),
        ("mem[5] = a", "the memory of this machine is `ram`"),
        ("a = ram(5)", "`ram[…]`"),
        ("ram = a", "`ram[…] = …`"),
        ("console = a", "`console.write(…)`"),
    ];
    let lines = lines.map(|(line, help)| (line, starter(line, "halt"), help));
    let meanings = meanings.map(|(meaning, help)| (meaning, starter("", meaning), help));
    for (written, text, help) in lines.into_iter().chain(meanings) {
        let found = diagnose(&text);
        let helps: Vec<&String> = found.iter().flat_map(|one| &one.help).collect();
        assert!(found.len() == 1 && helps[0].contains(help), "{written}: {found:#?}");
    }
}

/// These words are ordinary names for functions.
#[test]
fn functions_may_have_such_names() {
    for name in ["jump", "goto", "repeat", "loop", "print", "write", "int"] {
        let function = format!("fn {name}(x: u8) {{ a = x }}");
        assert_eq!(diagnose(&starter(&function, &format!("{name}(x)"))), [], "{name}");
    }
}

/// A block that is closed on the line of its last row.
#[test]
fn a_block_may_end_on_the_line_of_its_last_row() {
    let pseudos = starter("pseudo { baz => foo; bar }\npseudo {\n  quux => bar }", "halt");
    assert_eq!(diagnose(&pseudos), []);
}

/// A fix removes its finding when applied by itself. All safe fixes together remove the errors that they answer, and
/// cause none.
#[test]
fn fixes_mend_what_they_answer() {
    let (mut safe, mut all) = (0, 0);
    for path in fixtures() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = fs::read_to_string(path).expect("a text");
        let found = diagnose(&text);
        for diagnostic in &found {
            for fix in &diagnostic.fixes {
                let mut changed = text.clone();
                changed.replace_range(fix.span.range(), &fix.text);
                // The same mistake may show up elsewhere, since it was reported only once.
                let start = diagnostic.primary.span.start;
                let same =
                    |other: &Diagnostic| other.message == diagnostic.message && other.primary.span.start == start;
                assert!(!diagnose(&changed).iter().any(same), "{name}: `{}` stays after {fix:?}", diagnostic.message);
                all += 1;
            }
        }
        let fixed = apply_safe(&text, FileId(0), &found);
        if fixed.count > 0 {
            safe += fixed.count;
            // A row that becomes readable may do something other than its example says.
            let counts = |one: &&Diagnostic| one.severity() == Severity::Error && one.code != codes::EXAMPLE_FAILS;
            let errors = |found: &[Diagnostic]| found.iter().filter(counts).count();
            let left = diagnose(&fixed.text);
            assert!(errors(&left) + fixed.count <= errors(&found), "{name}: {left:#?}\n{}", fixed.text);
        }
    }
    assert!(safe >= 15 && all >= 30, "{safe} safe fixes of {all}");
}
