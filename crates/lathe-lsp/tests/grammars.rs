//! The grammars in `editors/vscode` match the languages' words, and the extension is complete.

use std::path::{Path, PathBuf};

use serde_json::Value;

fn extension() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/vscode")
}

#[test]
fn the_extension_has_fresh_grammars() {
    let grammars = [
        ("isa.tmLanguage.json", lathe_lsp::definition_grammar()),
        ("lathe-asm.tmLanguage.json", lathe_lsp::assembly_grammar()),
    ];
    for (name, grammar) in grammars {
        let path = extension().join("syntaxes").join(name);
        if std::env::var_os("LATHE_BLESS").is_some() {
            std::fs::write(&path, &grammar).expect("it can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == grammar, "{name} is out of date: LATHE_BLESS=1 cargo test -p lathe-lsp");
    }
}

#[test]
fn the_manifest_names_files_that_exist() {
    let text = std::fs::read_to_string(extension().join("package.json")).expect("there is a manifest");
    let manifest: Value = serde_json::from_str(&text).expect("it is JSON");
    let contributes = &manifest["contributes"];
    let lists = ["grammars", "snippets"].iter().flat_map(|list| contributes[list].as_array().into_iter().flatten());
    let named = lists.map(|one| &one["path"]).chain([&manifest["main"]]);
    let configurations = contributes["languages"].as_array().into_iter().flatten().map(|one| &one["configuration"]);
    for path in named.chain(configurations) {
        let path = extension().join(path.as_str().expect("a path"));
        assert!(path.is_file(), "{} does not exist", path.display());
    }
    let main = std::fs::read_to_string(extension().join("extension.js")).expect("there is code");
    for command in contributes["commands"].as_array().into_iter().flatten() {
        let command = command["command"].as_str().expect("a name");
        assert!(main.contains(&format!("'{command}'")), "{command} does nothing");
    }
}
