//! `lathe fmt`: definitions and programs put into columns.

use std::path::Path;

use lathe_base::limits;
use lathe_isa::Isa;
use similar::TextDiff;

use super::Outcome;
use crate::arguments::Fmt;
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::{machine, output, program};

/// Files of a folder that are looked at for the machine of one that does not name it.
const NEIGHBOURS: usize = 100;

/// Formats files, or tells which ones are not.
pub(super) fn execute(arguments: &Fmt) -> Outcome {
    let mut changed = Vec::new();
    for name in &arguments.files {
        let text = files::read_text(name, limits::SOURCE_BYTES as u64)?;
        let formatted = formatted(name, &text, arguments.machine.machine.as_deref())?;
        if name == files::STANDARD && !arguments.check && !arguments.diff {
            output::answer(&formatted)?;
            continue;
        }
        if formatted == text {
            continue;
        }
        if arguments.diff {
            output::answer(&difference(name, &text, &formatted))?;
        }
        if arguments.check {
            output::answer(&format!("{} is not formatted\n", files::title(name)))?;
        }
        changed.push(Whole { name: name.clone(), bytes: formatted.into_bytes() });
    }
    if arguments.check || arguments.diff {
        let wrong = arguments.check && !changed.is_empty();
        return Ok(if wrong { Exit::InputWrong } else { Exit::Done });
    }
    files::write_all(&changed)?;
    Ok(Exit::Done)
}

fn formatted(name: &str, text: &str, asked: Option<&str>) -> Result<String, Failure> {
    if is_definition(name, text) {
        return Ok(lathe_fmt::definition(text));
    }
    let isa = match asked {
        Some(asked) => Some(machine::load(asked)?),
        None => machine_of(name, text),
    };
    Ok(lathe_fmt::assembly(text, isa.as_ref()))
}

/// Whether a file is a definition, by its name, or else by how its first declaration begins.
fn is_definition(name: &str, text: &str) -> bool {
    match Path::new(name).extension() {
        Some(extension) => extension.eq_ignore_ascii_case("isa"),
        None => {
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.next().is_some_and(|line| line.starts_with("machine ") || line.starts_with("memory "))
        }
    }
}

/// The machine of a program: the one it names, or the one that the programs beside it name, since a
/// file that others include names none. Without one, the usual habits hold.
fn machine_of(name: &str, text: &str) -> Option<Isa> {
    let open = |program: &str, text: &str| {
        let machine = program::machine_of_source(program, text, None, &Inputs::default());
        machine.ok().map(|machine| machine.isa)
    };
    if program::machine_directive(text).is_some() {
        return open(name, text);
    }
    let folder = Path::new(name).parent().filter(|_| name != files::STANDARD)?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut paths: Vec<_> = folder.read_dir().ok()?.take(NEIGHBOURS).flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let same_kind = |path: &&std::path::PathBuf| path.extension() == Path::new(name).extension();
    paths.iter().filter(same_kind).find_map(|path| {
        let neighbour = path.to_str()?;
        let text = files::read_text(neighbour, limits::SOURCE_BYTES as u64).ok()?;
        program::machine_directive(&text).and_then(|_| open(neighbour, &text))
    })
}

fn difference(name: &str, before: &str, after: &str) -> String {
    let title = files::title(name);
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().header(title, &format!("{title}, formatted")).to_string()
}
