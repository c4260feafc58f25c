//! Programs that some tests need beyond Rust: a browser, a debugger, a language client.
//!
//! `cargo xtask test` installs them (xtask/packages.txt) and then requires that they are found. A plain `cargo test`
//! skips a test whose tool is missing, and names it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Finds a program by name: on the path, or among the project's own tools. If it returns `None`, the program is missing
/// and the calling test should end: it has been noted as skipped.
///
/// # Panics
/// If it is missing although everything has been installed.
pub fn find(test: &str, program: &str) -> Option<PathBuf> {
    let own = folder();
    let own = own.iter().flat_map(|own| [own.join("python/bin"), own.join("node/node_modules/.bin")]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = own.chain(std::env::split_paths(&path)).map(|folder| folder.join(program)).find(|file| file.is_file());
    found.or_else(|| skip(test, program))
}

/// Finds the folder of a Node package by name, to be required by its path.
///
/// # Panics
/// If it is missing although everything has been installed.
pub fn find_node_package(test: &str, name: &str) -> Option<PathBuf> {
    let package = folder().map(|own| own.join("node/node_modules").join(name)).filter(|package| package.is_dir());
    package.or_else(|| skip(test, &format!("the Node package {name}")))
}

/// Finds a Python that has this module.
///
/// # Panics
/// If it is missing although everything has been installed.
pub fn find_python_with(test: &str, module: &str) -> Option<PathBuf> {
    let has_module = |python: &PathBuf| {
        let mut command = std::process::Command::new(python);
        command.args(["-c", &format!("import {module}")]).stderr(std::process::Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let own = folder().map(|own| own.join("python/bin/python")).filter(|python| python.is_file());
    let found = own.into_iter().chain([PathBuf::from("python3")]).find(has_module);
    found.or_else(|| skip(test, &format!("the Python module {module}")))
}

/// Returns the folder in which `cargo xtask test` installs: the one it sets, or else one beside the test binaries.
fn folder() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("LATHE_TOOLS") {
        return Some(folder.into());
    }
    let binary = std::env::current_exe().ok()?;
    binary.ancestors().nth(3).map(|target| target.join("tools")).filter(|folder| folder.is_dir())
}

fn skip(test: &str, missing: &str) -> Option<PathBuf> {
    let required = std::env::var_os("LATHE_TOOLS_REQUIRED").is_some();
    assert!(!required, "{test} needs {missing}, which is not installed; is it in xtask/packages.txt?");
    println!("skipped: {test} needs {missing}");
    if let Some(folder) = folder() {
        // The list is for people who read the end of `cargo xtask test`; without it nothing is lost.
        let _ = note(&folder, &format!("{test} needs {missing}\n"));
    }
    None
}

/// Appends a whole line at once, since tests run side by side.
fn note(folder: &Path, line: &str) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let file = std::fs::OpenOptions::new().create(true).append(true).open(folder.join("skipped.txt"));
    file?.write_all(line.as_bytes())
}
