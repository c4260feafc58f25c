//! `lathe lsp`, driven by independent clients.
#![cfg(feature = "lsp")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lathe_tests::tools;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lsp")
}

/// Returns the number of random edits of each file; `LATHE_EDITS` sets another. The 10,000 of a long run are made in
/// `crates/lathe-lsp/tests/edits.rs`, where no comparison has to start a process.
fn edits() -> String {
    let asked = std::env::var("LATHE_EDITS").ok().and_then(|count| count.parse().ok()).unwrap_or(60);
    asked.min(1_000).to_string()
}

fn check(mut command: Command, last: &str) {
    let output = command.output().expect("the client can be started");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains(last), "{out}{err}");
}

#[test]
fn pygls_gets_an_answer_to_every_request() {
    let Some(python) = tools::find_python_with("pygls_gets_an_answer_to_every_request", "pygls.lsp.client") else {
        return;
    };
    let mut command = Command::new(python);
    command.arg(folder().join("client.py")).arg(env!("CARGO_BIN_EXE_lathe"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).arg(edits());
    check(command, "the findings were those of the command line");
}

#[test]
fn neovim_shows_findings_and_hovers() {
    let Some(neovim) = tools::find("neovim_shows_findings_and_hovers", "nvim") else { return };
    let page = include_str!("../../../docs/editors.md");
    let settings =
        page.split_once("```lua\n").and_then(|(_, rest)| rest.split_once("```")).expect("the page has them").0;
    let place = tempfile::tempdir().expect("there is room");
    let file = place.path().join("init.lua");
    std::fs::write(&file, settings).expect("there is room");
    let mut path: Vec<PathBuf> =
        Path::new(env!("CARGO_BIN_EXE_lathe")).parent().map(Path::to_owned).into_iter().collect();
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    let mut command = Command::new(neovim);
    command.args(["--headless", "--clean", "-i", "NONE", "-u"]).arg(&file).arg("-S").arg(folder().join("neovim.lua"));
    command.env("PATH", std::env::join_paths(path).expect("it was a path"));
    check(command, "neovim: done");
}
