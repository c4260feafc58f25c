//! Programs and definitions of several files: their findings, where names lead, and what a rename changes.

mod editor;

use std::collections::BTreeMap;

use editor::Editor;
use serde_json::{Value, json};

const LIBRARY: &str = "twice:  add r1, r1\n        return\n";
const ONE: &str = ".machine hex8\nstart:  call twice\n        jmp start\n        .include \"lib.asm\"\n";
const TWO: &str = ".machine hex8\nstart:  call thrice\n        jmp start\n        .include \"lib.asm\"\n";

fn codes(editor: &Editor, name: &str) -> Vec<String> {
    editor.last_findings(name).into_iter().map(|(_, _, code, _)| code).collect()
}

/// Waits until all findings have arrived.
fn settle(editor: &mut Editor, name: &str) {
    editor.findings(name);
    // Findings wait until no request is pending, so they may come after the first answer, but not after the second.
    editor.ask("foldingRange", name, 0);
    editor.ask("foldingRange", name, 0);
}

/// Renames a name; returns the new text of each file.
fn renamed(editor: &mut Editor, name: &str, at: &str, new: &str) -> Result<BTreeMap<String, String>, String> {
    let offset = editor.text(name).find(at).expect("it is there");
    let answer = editor.ask_with("rename", name, offset, json!({ "newName": new }))?;
    let mut texts = BTreeMap::new();
    for (uri, edits) in answer["changes"].as_object().expect("there are changes") {
        let file = uri.rsplit('/').next().unwrap_or_default();
        let path = editor.path(file);
        let mut lines: Vec<String> =
            std::fs::read_to_string(path).expect("it is there").lines().map(str::to_owned).collect();
        let mut edits: Vec<&Value> = edits.as_array().into_iter().flatten().collect();
        let number = |place: &Value, key: &str| place[key].as_u64().unwrap_or(0) as usize;
        edits.sort_by_key(|edit| std::cmp::Reverse(number(&edit["range"]["start"], "character")));
        for edit in edits {
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            let columns = number(start, "character")..number(end, "character");
            lines[number(start, "line")].replace_range(columns, edit["newText"].as_str().unwrap_or(""));
        }
        texts.insert(file.to_owned(), lines.join("\n") + "\n");
    }
    Ok(texts)
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    folder
}

#[test]
fn a_change_is_found_in_all_programs_that_include_it() {
    let folder = folder(&[("lib.asm", LIBRARY), ("one.asm", ONE), ("two.asm", TWO)]);
    let mut editor = Editor::new(folder.path());
    for (name, text) in [("lib.asm", LIBRARY), ("one.asm", ONE), ("two.asm", TWO)] {
        editor.open(name, text);
        settle(&mut editor, name);
    }
    assert_eq!(codes(&editor, "one.asm"), Vec::<String>::new());
    assert_eq!(codes(&editor, "two.asm"), ["A201"], "there is no `thrice`");
    // Now there is a `thrice`, but no `twice`.
    editor.edit("lib.asm", 0, 5, "thrice");
    settle(&mut editor, "lib.asm");
    assert_eq!(codes(&editor, "one.asm"), ["A201"]);
    assert_eq!(codes(&editor, "two.asm"), Vec::<String>::new());
    // A mistake that both programs have is reported once.
    editor.edit("lib.asm", 0, 0, " addd r1, r1\n");
    settle(&mut editor, "lib.asm");
    assert_eq!(codes(&editor, "lib.asm"), ["A301"]);
    // First one program stops including it, then none does.
    for name in ["one.asm", "two.asm"] {
        assert_eq!(codes(&editor, "lib.asm"), ["A301"]);
        let at = editor.text(name).find(".include").expect("it includes it");
        editor.edit(name, at, at, "; ");
        settle(&mut editor, name);
    }
    assert_eq!(codes(&editor, "lib.asm"), Vec::<String>::new());
    editor.end();
}

#[test]
fn what_is_closed_has_no_findings() {
    let folder = folder(&[("two.asm", TWO), ("lib.asm", " addd r1, r1\n")]);
    let mut editor = Editor::new(folder.path());
    editor.open("one.asm", ".machine hex8\n");
    editor.open("two.asm", TWO);
    settle(&mut editor, "two.asm");
    assert_eq!(codes(&editor, "lib.asm"), ["A301"], "also in a file that is not open");
    editor.close("two.asm");
    settle(&mut editor, "one.asm");
    assert_eq!((codes(&editor, "two.asm"), codes(&editor, "lib.asm")), (Vec::new(), Vec::new()));
    editor.end();
}

#[test]
fn labels_are_renamed_in_all_files() {
    let folder = folder(&[("lib.asm", LIBRARY), ("one.asm", ONE)]);
    let mut editor = Editor::new(folder.path());
    editor.open("one.asm", ONE);
    let texts = renamed(&mut editor, "one.asm", "twice", "double").expect("it is a name");
    assert_eq!(texts["lib.asm"], LIBRARY.replace("twice", "double"));
    assert_eq!(texts["one.asm"], ONE.replace("twice", "double"));
    for (name, reason) in
        [("start", "`start` is defined twice"), ("r1", "something would be wrong"), ("2x", "`2x` is not a name")]
    {
        let refused = renamed(&mut editor, "one.asm", "twice", name).expect_err("it cannot be");
        assert!(refused.contains(reason), "{name}: {refused}");
    }
    editor.end();
}

const SHARED: &str = "fn twice(x: u8) -> u8 { x + x }\nregister a, b, r0..r3 : u8\n";
const MACHINE: &str = "machine mine \"\"
memory ram : u8 -> u8
pc pc : u8 in ram
include \"shared.isa\"
field D : register { a, b }
field R : register { r0..r3 }
instructions {
  dbl D  | 0000 000D | D = twice(D)
  put R  | 0001 00RR | a = R; b = r2
}
";

#[test]
fn names_are_renamed_in_all_files_of_a_definition() {
    let folder = folder(&[("shared.isa", SHARED), ("mine.isa", MACHINE)]);
    let mut editor = Editor::new(folder.path());
    editor.open("mine.isa", MACHINE);
    editor.open("shared.isa", SHARED);
    for (name, at) in [("mine.isa", "twice(D)"), ("shared.isa", "twice(x")] {
        let texts = renamed(&mut editor, name, at, "double").expect("it is a name");
        assert_eq!(texts["shared.isa"], SHARED.replace("twice", "double"));
        assert_eq!(texts["mine.isa"], MACHINE.replace("twice", "double"));
    }
    let offset = MACHINE.find("twice(D)").expect("it is there");
    let place = editor.ask("definition", "mine.isa", offset);
    assert_eq!(
        (place["uri"].as_str(), &place["range"]["start"]["line"]),
        (Some(&*editor.uri("shared.isa")), &json!(0))
    );
    for (at, name, reason) in [
        ("twice(D)", "halt", "something would be wrong"),
        ("twice(D)", "a", "`a` is"),
        // One of `r0..r3` has no place of its own.
        ("r2", "other", "something would be wrong"),
    ] {
        let refused = renamed(&mut editor, "mine.isa", at, name).expect_err("it cannot be");
        assert!(refused.contains(reason), "{name}: {refused}");
    }
    editor.end();
}

#[test]
fn a_mnemonic_leads_to_its_row_in_another_file() {
    let rows = "instructions {\n  nop | 1000 0000 |\n  stop | 1000 0001 | halt\n}\n";
    let machine = format!("{MACHINE}include \"rows.isa\"\n");
    let program = ".machine mine\n dbl a\n stop\n";
    let folder =
        folder(&[("shared.isa", SHARED), ("rows.isa", rows), ("mine.isa", &machine), ("program.asm", program)]);
    let mut editor = Editor::new(folder.path());
    editor.open("program.asm", program);
    for (word, file, line) in [("dbl", "mine.isa", 7), ("stop", "rows.isa", 2)] {
        let place = editor.ask("definition", "program.asm", program.find(word).expect("it is there"));
        assert_eq!(place["uri"], editor.uri(file));
        assert_eq!(place["range"]["start"], json!({ "line": line, "character": 2 }));
    }
    editor.end();
}

#[test]
fn symbols_are_found_in_files_that_are_not_open() {
    let folder = folder(&[("shared.isa", SHARED), ("one.asm", ONE), ("notes.txt", "start:\n")]);
    std::fs::create_dir(folder.path().join("deeper")).expect("there is room");
    std::fs::write(folder.path().join("deeper/three.s"), ".machine hex8\nlater:  nop\n").expect("there is room");
    let mut editor = Editor::new(folder.path());
    editor.open("new.asm", ".machine hex8\nlast: nop\n");
    let mut names = |query: &str| -> Vec<String> {
        let found = editor.ask_with("workspace/symbol", "new.asm", 0, json!({ "query": query })).expect("an answer");
        let symbol = |one: &Value| {
            let file = one["location"]["uri"].as_str().unwrap_or("").rsplit('/').next().unwrap_or("").to_owned();
            format!("{} {file}", one["name"].as_str().unwrap_or(""))
        };
        found.as_array().into_iter().flatten().map(symbol).collect()
    };
    assert_eq!(names("la"), ["later three.s", "last new.asm"]);
    assert_eq!(names("twice"), ["twice shared.isa"]);
    assert_eq!(names("start"), ["start one.asm"]);
    editor.end();
}
