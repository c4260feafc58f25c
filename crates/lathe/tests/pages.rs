//! Commands on pages: those of the README are run as typed, in order; those of every other page name existing commands
//! and flags. `tutorial.rs` checks what the tutorial's commands print.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the commands after `$ ` on a page, without the remarks after them.
fn commands(page: &str) -> Vec<&str> {
    let typed = page.lines().filter_map(|line| line.strip_prefix("$ "));
    typed.map(|line| line.split_once("  #").map_or(line, |(command, _)| command).trim()).collect()
}

fn lathe(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lathe"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// A fresh clone, as far as the README's commands need it.
#[test]
fn the_commands_of_the_readme_work_as_typed() {
    let clone = tempfile::tempdir().unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("machines"), clone.path().join("machines")).unwrap();
    let mut folder = clone.path().to_owned();
    let mut count = 0;
    for typed in commands(&read(&root().join("README.md"))) {
        let (command, into) = typed.split_once(" > ").map_or((typed, None), |(command, name)| (command, Some(name)));
        let words: Vec<&str> = command.split_whitespace().collect();
        let arguments = match words.as_slice() {
            ["cd", name] => {
                folder.push(name);
                continue;
            }
            // These build and serve, or wait for an editor.
            ["cargo", "xtask" | "install" | "run" | "bench", ..] | ["lathe", "lsp"] => continue,
            ["cargo", "lathe", arguments @ ..] | ["lathe", arguments @ ..] => arguments,
            _ => panic!("the test cannot run `{typed}`"),
        };
        // The commands after the reader's own machine are typed in the clone again.
        if arguments == ["machines"] {
            folder = clone.path().to_owned();
        }
        let output = lathe(arguments, &folder).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "`{typed}`: {}\n{told}", output.status);
        if let Some(name) = into {
            std::fs::write(folder.join(name), &output.stdout).unwrap();
        }
        count += 1;
    }
    assert!(count >= 14, "{count} commands: the page has lost some");
}

/// Returns every page of the project that people read.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md"), root().join("ARCHITECTURE.md")];
    for folder in ["docs", "machines", "editors", "crates"] {
        collect(&root().join(folder), &mut pages);
    }
    pages
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("node_modules") {
            collect(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// Returns the flags among these words, without their values.
fn flags<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let flags = words.iter().take_while(|word| !matches!(**word, "|" | "||" | ";"));
    flags.filter(|word| word.starts_with('-') && word.len() > 1).map(|word| word.split('=').next().unwrap()).collect()
}

#[test]
fn commands_on_pages_have_flags_that_exist() {
    let (mut help, mut problems, mut count) = (std::collections::BTreeMap::new(), Vec::new(), 0);
    for page in pages() {
        for typed in commands(&read(&page)) {
            let Some((_, typed)) = typed.split_once("lathe ").filter(|(before, _)| !before.contains("git ")) else {
                continue;
            };
            let words: Vec<&str> = typed.split_whitespace().collect();
            let [command, rest @ ..] = words.as_slice() else { continue };
            if *command == "bench" && cfg!(not(feature = "bench")) || !command.starts_with(char::is_alphabetic) {
                continue;
            }
            let text: &String = help.entry((*command).to_owned()).or_insert_with(|| {
                let output = lathe(&[command, "--help"], &root()).output().unwrap();
                String::from_utf8(output.stdout).unwrap()
            });
            let known = |flag: &str| text.split([' ', ',', '=', '\n', '[']).any(|word| word == flag);
            let unknown: Vec<&str> = flags(rest).into_iter().filter(|flag| !known(flag)).collect();
            if text.is_empty() || !unknown.is_empty() {
                problems.push(format!("{}: `lathe {typed}`: {unknown:?}", page.display()));
            }
            count += 1;
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= 50, "{count} commands: the pages have lost some");
}
