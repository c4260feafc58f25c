//! Diagnostics of the assembler: `tests/assembly/*.asm`, each with its expected diagnostics in comments on the lines
//! that cause them: `; !A303 part of the message`.
//!
//! Every diagnostic must be expected and every expectation must be met; every code has a fixture; every diagnostic has
//! a next step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lathe_asm::{Assembled, Options, assemble, codes};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("assembly")
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").flatten();
    let name = |path: &Path| path.file_name().expect("a file has a name").to_string_lossy().into_owned();
    let files = entries.map(|entry| entry.path()).filter(|path| path.is_file());
    files.map(|path| (name(&path), std::fs::read(&path).expect("the file can be read"))).collect()
}

/// A machine whose branch takes only even distances.
const ALIGNED: &str = "
machine aligned \"Even branches\"
memory ram : u8 -> u8
pc pc : u8 in ram
field T : u5 align 2 from next
instructions { b T | 0000 TTTT | pc = T }
";

fn machine(text: &str) -> Isa {
    let line = text.lines().find(|line| line.starts_with(".machine")).expect("a fixture names its machine");
    let name = line.split_whitespace().nth(1).expect("the name follows");
    let wide = || (name == "wide8").then_some(include_str!("../machines/wide8.isa"));
    let definition = lathe_machines::find(name).map(|machine| machine.definition).or_else(wide).unwrap_or(ALIGNED);
    lathe_isa::load(definition).isa.expect("the definition is right")
}

fn assembled(text: &str) -> Assembled {
    let further = MemoryFiles(files(&folder().join("files")));
    assemble(&machine(text), &further, Source::new("fixture.asm", text), &Options::default())
}

/// Returns the diagnostics that a text expects: line, code, part of the message.
fn expectations(source: &Source) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        for part in line.split("; !").skip(1) {
            let (code, message) = part.split_once(' ').unwrap_or((part, ""));
            found.push((number + 1, code.to_owned(), message.trim().to_owned()));
        }
    }
    found
}

fn check(name: &str, text: &str) {
    let result = assembled(text);
    let mut wanted: Vec<(String, usize, String, String)> = Vec::new();
    for source in &result.sources {
        let of_source =
            expectations(source).into_iter().map(|(line, code, part)| (source.name.clone(), line, code, part));
        wanted.extend(of_source.filter(|expected| !wanted.contains(expected)).collect::<Vec<_>>());
    }
    for diagnostic in result.diagnostics.into_sorted() {
        let source = &result.sources[diagnostic.primary.span.file.0 as usize];
        let (line, _) = source.line_column(diagnostic.primary.span.start);
        let fits = |(file, at, code, part): &(String, usize, String, String)| {
            *file == source.name
                && *at == line
                && code == diagnostic.code.name
                && diagnostic.message.contains(part.as_str())
        };
        let at = wanted.iter().position(fits);
        let found = format!("{}:{line}: {} {}", source.name, diagnostic.code.name, diagnostic.message);
        assert!(at.is_some(), "{name}: not expected: {found}\nstill expected: {wanted:#?}");
        at.map(|at| wanted.remove(at));
        assert!(!diagnostic.help.is_empty(), "{name}: no next step: {found}");
    }
    assert!(wanted.is_empty(), "{name}: not reported: {wanted:#?}");
}

#[test]
fn every_fixture_reports_what_it_says() {
    for (name, bytes) in files(&folder()) {
        check(&name, &String::from_utf8(bytes).expect("a fixture is a text"));
    }
}

#[test]
fn every_code_has_a_fixture() {
    let all: BTreeMap<String, Vec<u8>> = files(&folder()).into_iter().chain(files(&folder().join("files"))).collect();
    let texts = all.values().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let shown: BTreeSet<String> =
        texts.flat_map(|text| expectations(&Source::new("", text))).map(|(_, code, _)| code).collect();
    let missing: Vec<&str> = codes::ALL.iter().map(|code| code.name).filter(|code| !shown.contains(*code)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

#[test]
fn an_error_in_a_macro_names_every_use_that_led_to_it() {
    let text = std::fs::read_to_string(folder().join("chain-of-macros.asm")).expect("the fixture is there");
    let result = assembled(&text);
    let found = result.diagnostics.into_sorted();
    let uses: Vec<&str> = found[0].others.iter().map(|label| label.text.as_str()).collect();
    assert_eq!(uses, ["in this use of `inner`", "in this use of `outer`"]);
}

/// The next step also exists as a change of the text, where possible.
#[test]
fn a_fix_mends_the_line() {
    let cases = [
        ("again   inc a", "again:   inc a"),
        ("li a, #5", "li a, 5"),
        ("db 5", ".byte 5"),
        (".res 5", ".space 5"),
        ("start: jmp strat", "start: jmp start"),
        ("again : inc a", "again: inc a"),
        ("size := 5", "size = 5"),
        ("hlat", "halt"),
    ];
    for (wrong, right) in cases {
        let text = format!("{wrong}\n.machine quad8\n");
        let found = assembled(&text).diagnostics.into_sorted();
        let fix = found.iter().flat_map(|found| &found.fixes).next().unwrap_or_else(|| panic!("{wrong}: {found:?}"));
        let mut mended = text.clone();
        mended.replace_range(fix.span.range(), &fix.text);
        assert_eq!(mended.lines().next(), Some(right));
    }
}

/// A word before a local label is a misspelt instruction if it looks like one, and otherwise a label without its colon.
#[test]
fn a_word_before_a_dot_is_told_from_a_label() {
    let isa = machine(".machine mos6502");
    let help = |line: &str| {
        let source = Source::new("main.asm", format!("main: nop\n.next: nop\n{line}\n"));
        let Assembled { diagnostics, .. } = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
        let found = diagnostics.into_sorted().into_iter().find(|one| one.code.name == "A301");
        found.unwrap_or_else(|| panic!("nothing is wrong with `{line}`")).help.join(" ")
    };
    assert_eq!(help("        bnee .next"), "did you mean `bne`?");
    assert_eq!(help("        value .next"), "a label needs a colon: `value:`");
    assert_eq!(help("        valu .byte 1"), "a label needs a colon: `valu:`");
}
