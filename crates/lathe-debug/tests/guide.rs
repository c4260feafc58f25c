//! Runs the sessions in `docs/debugging.md` and compares the answers. `LATHE_BLESS=1` writes them.

use std::collections::BTreeMap;
use std::path::Path;

use lathe_asm::{Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_debug::command::COMMANDS;
use lathe_debug::{Debugger, Program, execute};
use lathe_embed::{EngineKind, Machine};

fn debugger(name: &str, text: &str) -> Debugger {
    let machine = text.lines().find_map(|line| line.trim().strip_prefix(".machine ")).expect("it names its machine");
    let machine = Machine::built_in(machine.trim()).expect("the machine ships");
    let assembled = assemble(machine.isa(), &MemoryFiles::default(), Source::new(name, text), &Options::default());
    let image = assembled.image.unwrap_or_else(|| panic!("{name}: {:?}", assembled.diagnostics.into_sorted()));
    let program = Program::new(machine.isa().clone(), image, assembled.sources);
    Debugger::new(program, machine.instance_on(EngineKind::Fast).expect("it is always there"))
}

/// Returns the document with every answer brought up to date.
fn answered(document: &str) -> String {
    let mut programs: BTreeMap<String, String> = BTreeMap::new();
    let mut sessions: BTreeMap<String, Debugger> = BTreeMap::new();
    let mut result = String::new();
    let mut lines = document.lines().peekable();
    while let Some(line) = lines.next() {
        result += &format!("{line}\n");
        let mut block = Vec::new();
        let (kind, name) = line.strip_prefix("```").and_then(|info| info.split_once(' ')).unwrap_or(("", ""));
        if !matches!(kind, "asm" | "debug") {
            continue;
        }
        while let Some(inside) = lines.next_if(|line| !line.starts_with("```")) {
            block.push(inside);
        }
        if kind == "asm" {
            let text = block.join("\n") + "\n";
            result += &text;
            programs.insert(name.to_owned(), text);
            continue;
        }
        let session = sessions.entry(name.to_owned()).or_insert_with(|| debugger(name, &programs[name]));
        for command in block.iter().filter_map(|line| line.strip_prefix("> ")) {
            let answer = execute(session, command, &mut ());
            let answer = answer.map_or_else(|problem| format!("error: {problem}\n"), |answer| answer.to_string());
            assert!(!answer.starts_with("error"), "{name}: {command}: {answer}");
            result += &format!("> {command}\n{answer}");
        }
    }
    result
}

#[test]
fn the_guide_answers_as_it_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/debugging.md");
    let document = std::fs::read_to_string(&path).expect("there is a guide");
    let now = answered(&document);
    if std::env::var_os("LATHE_BLESS").is_some() {
        std::fs::write(&path, &now).expect("the guide can be written");
        return;
    }
    for (number, (expected, found)) in document.lines().zip(now.lines()).enumerate() {
        assert_eq!(expected, found, "docs/debugging.md:{}; LATHE_BLESS=1 writes the answers", number + 1);
    }
    assert_eq!(document.len(), now.len(), "docs/debugging.md has another length");
}

#[test]
fn the_guide_names_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/debugging.md");
    let document = std::fs::read_to_string(&path).expect("there is a guide");
    for entry in COMMANDS.iter().filter(|entry| !matches!(entry.name, "help" | "quit")) {
        assert!(document.contains(&format!("`{}", entry.name)), "docs/debugging.md does not name `{}`", entry.name);
    }
}
