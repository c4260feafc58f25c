//! The extension for VS Code: it can be packaged, and its grammars colour every shipped file correctly.

use std::path::{Path, PathBuf};
use std::process::Command;

use lathe_tests::tools;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns every shipped file with this ending.
fn shipped(ending: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join("machines")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|found| found == ending) => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

#[test]
fn the_grammars_colour_every_shipped_file() {
    let test = "the_grammars_colour_every_shipped_file";
    let Some(node) = tools::find(test, "node") else { return };
    let Some(textmate) = tools::find_node_package(test, "vscode-textmate") else { return };
    if tools::find_node_package(test, "vscode-oniguruma").is_none() {
        return;
    }
    let files = [shipped("isa"), shipped("asm")].concat();
    assert!(files.len() > 100, "{files:?}");
    let output = Command::new(node)
        .arg(root().join("editors/vscode/test/grammar.cjs"))
        .args(files)
        .env("NODE_PATH", textmate.parent().expect("it is in a folder"))
        .output()
        .expect("Node can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_extension_can_be_packaged() {
    let test = "the_extension_can_be_packaged";
    let Some(vsce) = tools::find(test, "vsce") else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let package = folder.path().join("lathe.vsix");
    // Dependencies are left out: installing them is not under test.
    let output = Command::new(vsce)
        .args(["package", "--no-dependencies", "--allow-missing-repository", "--skip-license", "--out"])
        .arg(&package)
        .current_dir(root().join("editors/vscode"))
        .output()
        .expect("vsce can be started");
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told);
    assert!(output.status.success() && package.is_file(), "{told}");
    for file in ["extension.js", "isa.tmLanguage.json", "lathe-asm.tmLanguage.json", "isa.json"] {
        assert!(told.contains(file), "{file} is not in the package:\n{told}");
    }
    assert!(!told.contains("grammar.cjs"), "tests do not belong in the package:\n{told}");
}
