//! What ARCHITECTURE.md promises, as far as it can be checked: which crate may use which, what the oracle must not see,
//! how files begin, what the README shows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Which of our crates each crate may use, except in its tests. Dependencies that are not listed do not exist.
const ARROWS: [(&str, &[&str]); 23] = [
    ("lathe-base", &[]),
    ("lathe-isa", &["lathe-base"]),
    ("lathe-asm", &["lathe-base", "lathe-isa"]),
    ("lathe-vm", &["lathe-base", "lathe-isa"]),
    ("lathe-values", &["lathe-base", "lathe-isa"]),
    ("lathe-fast", &["lathe-base", "lathe-isa", "lathe-values", "lathe-vm"]),
    ("lathe-jit", &["lathe-base", "lathe-fast", "lathe-isa", "lathe-values", "lathe-vm"]),
    ("lathe-doc", &["lathe-base", "lathe-isa", "lathe-vm"]),
    ("lathe-export", &["lathe-base", "lathe-isa"]),
    ("lathe-hdl", &["lathe-base", "lathe-isa"]),
    ("lathe-prove", &["lathe-base", "lathe-hdl", "lathe-isa"]),
    ("lathe-fmt", &["lathe-asm", "lathe-base", "lathe-isa"]),
    ("lathe-edit", &["lathe-asm", "lathe-base", "lathe-doc", "lathe-isa"]),
    (
        "lathe-lsp",
        &["lathe-asm", "lathe-base", "lathe-doc", "lathe-edit", "lathe-fmt", "lathe-isa", "lathe-machines", "lathe-vm"],
    ),
    ("lathe-machines", &["lathe-base"]),
    ("lathe-embed", &["lathe-asm", "lathe-base", "lathe-fast", "lathe-isa", "lathe-jit", "lathe-machines", "lathe-vm"]),
    ("lathe-debug", &["lathe-asm", "lathe-base", "lathe-embed", "lathe-isa", "lathe-vm"]),
    (
        "lathe-web",
        &[
            "lathe-asm",
            "lathe-base",
            "lathe-debug",
            "lathe-doc",
            "lathe-edit",
            "lathe-embed",
            "lathe-fmt",
            "lathe-hdl",
            "lathe-isa",
            "lathe-machines",
            "lathe-vm",
        ],
    ),
    (
        "lathe",
        &[
            "lathe-asm",
            "lathe-base",
            "lathe-benches",
            "lathe-debug",
            "lathe-embed",
            "lathe-doc",
            "lathe-export",
            "lathe-fmt",
            "lathe-hdl",
            "lathe-isa",
            "lathe-lsp",
            "lathe-machines",
            "lathe-prove",
            "lathe-vm",
        ],
    ),
    ("oracle", &[]),
    ("lathe-tests", &["lathe-asm", "lathe-base", "lathe-hdl", "lathe-isa", "lathe-vm"]),
    ("lathe-benches", &["lathe-asm", "lathe-base", "lathe-embed", "lathe-isa", "lathe-vm"]),
    ("xtask", &["lathe-fast", "lathe-isa", "lathe-jit", "lathe-machines", "lathe-tests", "lathe-vm", "oracle"]),
];

/// Crates of the core that use no external crates at all.
const BARE: [&str; 9] = [
    "lathe-base",
    "lathe-fast",
    "lathe-hdl",
    "lathe-isa",
    "lathe-values",
    "lathe-vm",
    "lathe-machines",
    "lathe-prove",
    "oracle",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns, for each package of the workspace, the packages it uses, except in its tests.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    let manifest = root().join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(manifest)
        .output()
        .expect("cargo can be run");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let uses = |package: &Value| -> Vec<String> {
        let all = package["dependencies"].as_array().into_iter().flatten();
        all.filter(|used| used["kind"].is_null()).map(|used| text(&used["name"])).collect()
    };
    packages.iter().map(|package| (text(&package["name"]), uses(package))).collect()
}

#[test]
fn arrows_point_one_way() {
    let found = dependencies();
    let ours: Vec<&String> = found.keys().collect();
    for (name, uses) in &found {
        let arrows = ARROWS.iter().find(|(known, _)| known == name);
        let (_, allowed) = arrows.unwrap_or_else(|| panic!("{name} is not in the table of arrows"));
        for used in uses.iter().filter(|used| ours.contains(used)) {
            assert!(allowed.contains(&used.as_str()), "{name} must not use {used}");
        }
    }
    assert_eq!(found.len(), ARROWS.len(), "the table names a crate that does not exist");
}

#[test]
fn the_core_uses_nothing_from_outside() {
    let found = dependencies();
    for name in BARE {
        let uses: Vec<&String> = found[name].iter().filter(|used| !used.starts_with("lathe-")).collect();
        assert!(uses.is_empty(), "{name} uses {uses:?}");
    }
}

/// Only the JIT has unsafe code; and one file of `lathe-web`, which names exported functions and follows no pointer.
#[test]
fn unsafe_code_is_where_it_is_said_to_be() {
    for path in sources(&root().join("crates")) {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let is_exempt =
            path.ends_with("lathe-web/src/exports.rs") || path.components().any(|part| part.as_os_str() == "lathe-jit");
        let uses = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "#[unsafe("];
        let found: Vec<&&str> = uses.iter().filter(|word| text.contains(**word)).collect();
        assert!(is_exempt || found.is_empty(), "{} has {found:?}", path.display());
        if path.ends_with("lathe-web/src/exports.rs") {
            assert_eq!(found, [&"#[unsafe("], "exports.rs only names functions");
        }
    }
}

#[test]
fn the_oracle_imports_nothing_of_the_workspace() {
    for path in sources(&root().join("crates/oracle")) {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        for word in ["lathe_", ".isa", "include_str", "include!"] {
            assert!(!text.contains(word), "{} mentions {word}", path.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

#[test]
fn every_file_says_what_it_is_for() {
    for folder in ["crates", "tests", "benches", "xtask"] {
        for path in sources(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            assert!(text.starts_with("//!"), "{} does not begin with //!", path.display());
        }
    }
}

/// Files whose types may have the names of others. Two are always written with their module: the tree of a definition
/// uses the words of the model that is made from it, hence `ast::Memory`; `lathe-edit` answers the same requests for two
/// languages. The third takes the place of `flow/calls.rs` in some builds.
const MAY_SHARE_NAMES: [&str; 3] = ["language/ast.rs", "lathe-edit/src/definition.rs", "flow/turns.rs"];

/// A type that other files can name has a name that is unique in its crate.
#[test]
fn types_are_not_confused() {
    for folder in std::fs::read_dir(root().join("crates")).expect("the folder can be read").flatten() {
        let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
        for path in sources(&folder.path().join("src")) {
            let text = std::fs::read_to_string(&path).expect("the file can be read");
            let may_share = MAY_SHARE_NAMES.iter().any(|file| path.ends_with(file));
            let names = text.lines().filter_map(named_type).filter(|_| !may_share);
            for name in names {
                let before = found.insert(name.to_owned(), path.clone()).filter(|before| *before != path);
                assert_eq!(before, None, "{name} is in {}, too", path.display());
            }
        }
    }
}

/// Returns the name of the type that a line declares for other files.
fn named_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let declared = rest.strip_prefix(' ').or_else(|| Some(rest.strip_prefix('(')?.split_once(") ")?.1))?;
    let name = ["struct ", "enum ", "trait ", "union "].iter().find_map(|word| declared.strip_prefix(word))?;
    name.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn the_readme_shows_quad8_as_it_is() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let definition = lathe_machines::find("quad8").expect("it ships").definition;
    assert!(
        readme.contains(&format!("```isa\n{definition}```")),
        "README.md shows another quad8 than machines/quad8/quad8.isa"
    );
}

#[test]
fn definitions_are_as_short_as_promised() {
    for machine in lathe_machines::every() {
        // Headings, other prose, and the empty lines around them are for the datasheet.
        let counts = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("##");
        let lines = machine.definition.lines().filter(counts).count();
        let most = match machine.name {
            "sm83" => 350,
            "z80" => 349,
            "avr" | "i8051" | "pdp11" => 199,
            "i8080" | "msp430" | "gameboy" => 170,
            "mos6502" => 250,
            // 80 of them are machine mode: control registers, counters, and the calls of Linux.
            "rv32i" => 260,
            "chip8" | "lc3" => 100,
            _ => 140,
        };
        assert!(lines <= most, "{} has {lines} lines, and {most} are enough", machine.name);
    }
}

/// The second command of the README's "Try it" is a line of `.ci/run`, and not a comment.
#[test]
fn ci_runs_the_readmes_test_command() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).expect("there is .ci/run");
    let readme = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let (_, section) = readme.split_once("## Try it\n").expect("the README says how to try it");
    let command = section.lines().filter_map(|line| line.strip_prefix("$ ")).nth(1).expect("there are two commands");
    assert!(ci.lines().any(|line| line == command), ".ci/run does not run `{command}`");
}
