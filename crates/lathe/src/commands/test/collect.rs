//! Which programs are tested: the files given, and the sources in folders, with the expectations of each.

use std::path::{Path, PathBuf};

use lathe_base::limits;

use super::expectation::{self, Case, Condition};
use crate::exit::Failure;
use crate::files;
use crate::inputs::Inputs;

/// How many levels of subfolders to search.
const DEPTH: usize = 8;

/// Returns the programs below these paths, in a fixed order, without repetitions.
pub(super) fn programs(paths: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let folder = Path::new(path);
        if folder.is_dir() {
            below(folder, DEPTH, &mut found)?;
        } else if folder.exists() {
            found.push(folder.to_owned());
        } else {
            let message = format!("there is no file and no folder {path}");
            return Err(Failure::usage(message).help("give programs, or folders that hold some"));
        }
    }
    let mut names: Vec<String> = found.iter().map(|path| shown(path)).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).to_string_lossy().into_owned()
}

/// Finds sources in a folder and its subfolders. Links are not followed: a folder of submissions may hold links that
/// lead anywhere.
fn below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::input(format!("the folder {} cannot be read: {}", folder.display(), files::reason(&error)))
    };
    for entry in folder.read_dir().map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let kind = entry.file_type().map_err(unreadable)?;
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && depth > 0 && !hidden {
            below(&path, depth - 1, found)?;
        } else if kind.is_file() && is_source(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether the name is that of an assembly source.
pub(super) fn is_source(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    matches!(extension.as_deref(), Some("asm" | "s"))
}

/// Returns the expectations of a program: those in its source, and those in files of the same name beside it or in a
/// folder `expected` there. `NAME.expect` holds statements, `.out` the output, `.in` the input, `.screen` what the
/// display shows, `.keys` the keys.
pub(super) fn expectations(program: &str, source: Option<&str>, inputs: &Inputs) -> Result<Vec<Case>, String> {
    let mut cases = match source {
        Some(text) => expectation::of_source(text).map_err(|mistake| format!("{program}, {mistake}"))?,
        None => Vec::new(),
    };
    let path = Path::new(program);
    let beside = |extension: &str| {
        let name = path.with_extension(extension);
        let apart = path.with_file_name("expected").join(name.file_name().unwrap_or_default());
        [name, apart].into_iter().find(|file| file.is_file())
    };
    if let Some(file) = beside("expect") {
        cases.extend(file_cases(&file.to_string_lossy(), inputs)?);
    }
    let mut given = Case::default();
    let mut is_given = false;
    for extension in ["in", "keys", "out", "screen"] {
        let Some(file) = beside(extension) else { continue };
        let bytes = read(&file.to_string_lossy(), inputs)?;
        let text = || String::from_utf8_lossy(&bytes).into_owned();
        is_given = true;
        match extension {
            "in" => given.input = bytes,
            "keys" => given.keys = text().trim().to_owned(),
            "out" => given.checks.push(Condition::Output(bytes)),
            _ => given.checks.push(Condition::Screen(text())),
        }
    }
    if !is_given {
        return Ok(cases);
    }
    if cases.is_empty() {
        return Ok(vec![given]);
    }
    for case in &mut cases {
        if case.input.is_empty() {
            case.input.clone_from(&given.input);
        }
        if case.keys.is_empty() {
            case.keys.clone_from(&given.keys);
        }
        case.checks.extend(given.checks.iter().cloned());
    }
    Ok(cases)
}

/// Returns the cases of a file of statements.
pub(super) fn file_cases(name: &str, inputs: &Inputs) -> Result<Vec<Case>, String> {
    let bytes = read(name, inputs)?;
    expectation::of_file(&String::from_utf8_lossy(&bytes)).map_err(|mistake| format!("{name}, {mistake}"))
}

fn read(name: &str, inputs: &Inputs) -> Result<Vec<u8>, String> {
    inputs.note(name);
    files::read(name, limits::SOURCE_BYTES as u64).map_err(|failure| failure.message)
}
