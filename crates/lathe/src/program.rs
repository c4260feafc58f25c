//! Programs as they are given: assembly, or an image in one of the formats that can be read.
//! From either comes an image and the machine it is for.

use std::path::Path;

use lathe_asm::formats::{self, Format};
use lathe_asm::{Assembled, Image, Options, assemble};
use lathe_base::{Severity, Source, limits};
use lathe_isa::Isa;

use crate::exit::Failure;
use crate::project::Project;
use crate::{files, machine, output, render};

/// A program ready to run, and its machine.
pub(crate) struct Program {
    pub(crate) isa: Isa,
    pub(crate) image: Image,
}

/// What a file holds.
enum Content {
    Assembly(String),
    Image(Format, Vec<u8>),
}

/// Loads a program of any kind. Assembly is assembled, with its diagnostics shown.
pub(crate) fn load(name: &str, machine: Option<&str>, format: Option<Format>) -> Result<Program, Failure> {
    match content(name, format)? {
        Content::Assembly(text) => {
            let isa = machine_of_source(name, &text, machine)?;
            let assembled = assemble_text(&isa, name, text, None, &Options::default())?;
            let image = show(assembled, name)?;
            Ok(Program { isa, image })
        }
        Content::Image(format, bytes) => {
            let isa = machine_of_image(name, format, &bytes, machine)?;
            let image = formats::read(format, &bytes, &isa).map_err(|error| format_failure(name, &error))?;
            Ok(Program { isa, image })
        }
    }
}

fn content(name: &str, format: Option<Format>) -> Result<Content, Failure> {
    let bytes = files::read(name, limits::IMAGE_BYTES)?;
    if let Some(format) = format {
        return Ok(Content::Image(format, bytes));
    }
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let named_so = matches!(extension.as_deref(), Some("asm" | "s" | "a" | "inc"));
    match String::from_utf8(bytes) {
        Ok(text) if named_so || machine_directive(&text).is_some() => Ok(Content::Assembly(text)),
        Ok(text) => Ok(image(name, text.into_bytes())),
        Err(error) => Ok(image(name, error.into_bytes())),
    }
}

fn image(name: &str, bytes: Vec<u8>) -> Content {
    Content::Image(formats::guess(name, &bytes), bytes)
}

/// The name after `.machine`, which stands before anything else but comments and blank lines.
fn machine_directive(text: &str) -> Option<&str> {
    let is_blank = |line: &&str| line.is_empty() || line.starts_with(';') || line.starts_with("//");
    let first = text.lines().map(str::trim).find(|line| !is_blank(line))?;
    let name = first.strip_prefix(".machine")?.trim_start();
    name.split([' ', '\t', ';']).next().map(|name| name.trim_matches('"')).filter(|name| !name.is_empty())
}

/// The machine of a source: the one asked for, or the one it names. A definition of one's own is
/// found beside the source.
pub(crate) fn machine_of_source(name: &str, text: &str, asked: Option<&str>) -> Result<Isa, Failure> {
    if let Some(asked) = asked {
        return machine::load(asked);
    }
    let Some(named) = machine_directive(text) else { return Err(which(name)) };
    let beside = Path::new(name).with_file_name(format!("{named}.isa"));
    let own = lathe_machines::find(named).is_none() && beside.is_file();
    machine::load(&if own { beside.to_string_lossy().into_owned() } else { named.to_owned() })
}

fn machine_of_image(name: &str, format: Format, bytes: &[u8], asked: Option<&str>) -> Result<Isa, Failure> {
    if let Some(asked) = asked {
        return machine::load(asked);
    }
    if format != Format::Image {
        return Err(which(name));
    }
    let header = formats::header(bytes).map_err(|error| format_failure(name, &error))?;
    machine::load(&header.machine)
}

fn which(name: &str) -> Failure {
    let message = format!("nothing says which machine {} is for", files::title(name));
    Failure::usage(message).help("say it with `-m NAME`, or begin an assembly source with `.machine NAME`")
}

/// Assembles a text; further files come from its project.
pub(crate) fn assemble_text(
    isa: &Isa,
    name: &str,
    text: String,
    root: Option<&str>,
    options: &Options,
) -> Result<Assembled, Failure> {
    let project = Project::new(name, root)?;
    Ok(assemble(isa, &project, Source::new(files::title(name), text), options))
}

/// Shows the diagnostics of a program; gives its image if there was no error.
pub(crate) fn show(assembled: Assembled, name: &str) -> Result<Image, Failure> {
    let Assembled { image, diagnostics, sources } = assembled;
    let dropped = diagnostics.dropped();
    let diagnostics = diagnostics.into_sorted();
    for diagnostic in &diagnostics {
        output::complain(&render::diagnostic(&sources, diagnostic));
    }
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error).count();
    image.ok_or_else(|| {
        let more = if dropped > 0 { format!(", and {dropped} more not shown") } else { String::new() };
        Failure::input(format!("{} cannot be assembled: {}{more}", files::title(name), render::count(errors, "error")))
    })
}

/// A failure for a file that is not what its format says.
pub(crate) fn format_failure(name: &str, error: &formats::FormatError) -> Failure {
    let line = error.line.map_or(String::new(), |line| format!(", line {line}"));
    Failure::input(format!("{}{line}: {}", files::title(name), error.cause)).help(error.next_step.clone())
}

#[cfg(test)]
mod tests {
    use super::machine_directive;

    #[test]
    fn the_machine_is_named_before_anything_else() {
        assert_eq!(machine_directive("; hello\n\n  .machine quad8 ; yes\nnop"), Some("quad8"));
        assert_eq!(machine_directive("nop\n.machine quad8"), None);
        assert_eq!(machine_directive(".machine"), None);
        assert_eq!(machine_directive(""), None);
    }
}
