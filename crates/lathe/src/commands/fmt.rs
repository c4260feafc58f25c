//! `lathe fmt`: formats definitions and programs in columns.

use std::path::Path;

use lathe_base::limits;
use lathe_isa::Isa;
use serde::Serialize;
use similar::TextDiff;

use super::Outcome;
use crate::arguments::{Fmt, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::{machine, output, program};

/// How many files in a folder to search for the machine of a file that names none.
const NEIGHBOURS: usize = 100;

/// Formats files, or reports the unformatted ones.
pub(super) fn execute(arguments: &Fmt) -> Outcome {
    let only_looks = arguments.check || arguments.diff;
    let files = arguments.files.iter().map(|name| File::new(name, arguments)).collect::<Result<Vec<_>, _>>()?;
    let changed = || files.iter().filter(|file| file.is_changed());
    if !only_looks {
        let written = changed().filter(|file| file.name != files::STANDARD);
        files::write_all(&written.map(File::written).collect::<Vec<_>>())?;
    }
    let wrong = arguments.check && changed().next().is_some();
    match arguments.format.format {
        Format::Text => files.iter().try_for_each(|file| output::answer(&file.text(arguments)))?,
        Format::Json => {
            let files: Vec<_> = files.iter().map(|file| file.data(arguments)).collect();
            output::answer(&output::json(&serde_json::json!({ "ok": !wrong, "files": files }))?)?;
        }
    }
    Ok(if wrong { Exit::InputWrong } else { Exit::Done })
}

/// A file before and after.
struct File<'f> {
    name: &'f str,
    before: String,
    after: String,
}

/// A file as data.
#[derive(Serialize)]
struct FileData<'f> {
    name: &'f str,
    is_formatted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// Standard input, formatted.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'f str>,
}

impl<'f> File<'f> {
    fn new(name: &'f str, arguments: &Fmt) -> Result<File<'f>, Failure> {
        let before = files::read_text(name, limits::SOURCE_BYTES as u64)?;
        let after = formatted(name, &before, arguments.machine.machine.as_deref())?;
        Ok(File { name, before, after })
    }

    fn is_changed(&self) -> bool {
        self.before != self.after
    }

    /// Whether its text is the answer: standard input, formatted to standard output.
    fn is_passed_on(&self, arguments: &Fmt) -> bool {
        self.name == files::STANDARD && !arguments.check && !arguments.diff
    }

    fn written(&self) -> Whole {
        Whole { name: self.name.to_owned(), bytes: self.after.clone().into_bytes() }
    }

    fn text(&self, arguments: &Fmt) -> String {
        if self.is_passed_on(arguments) {
            return self.after.clone();
        }
        let mut text = String::new();
        if arguments.diff && self.is_changed() {
            text += &difference(self.name, &self.before, &self.after);
        }
        if arguments.check && self.is_changed() {
            text += &format!("{} is not formatted\n", files::title(self.name));
        }
        text
    }

    fn data(&self, arguments: &Fmt) -> FileData<'_> {
        let diff = arguments.diff.then(|| difference(self.name, &self.before, &self.after));
        let text = self.is_passed_on(arguments).then_some(self.after.as_str());
        FileData { name: self.name, is_formatted: !self.is_changed(), diff, text }
    }
}

fn formatted(name: &str, text: &str, asked: Option<&str>) -> Result<String, Failure> {
    if is_definition(name, text) {
        return Ok(lathe_fmt::definition(text));
    }
    if asked.is_none() && !is_assembly(name, text) {
        let message = format!("{name} is neither a definition (.isa) nor assembly (.asm, .s, .inc)");
        return Err(Failure::usage(message).help("if it is assembly, say for which machine with `-m`"));
    }
    let isa = match asked {
        Some(asked) => Some(machine::load(asked)?),
        None => machine_of(name, text),
    };
    Ok(lathe_fmt::assembly(text, isa.as_ref()))
}

/// Whether a file is a definition, by its name, or else by its first declaration.
fn is_definition(name: &str, text: &str) -> bool {
    match Path::new(name).extension() {
        Some(extension) => extension.eq_ignore_ascii_case("isa"),
        None => {
            let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            lines.next().is_some_and(|line| line.starts_with("machine ") || line.starts_with("memory "))
        }
    }
}

/// Whether a file is assembly, by its name or because it names its machine.
fn is_assembly(name: &str, text: &str) -> bool {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_none_or(|extension| matches!(extension.as_str(), "asm" | "s" | "a" | "inc"))
        || program::machine_directive(text).is_some()
}

/// Returns the machine of a program: the one it names, or the one that programs beside it name, since included files
/// name none. Without a machine, the formatter uses general habits.
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
