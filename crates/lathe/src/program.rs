//! Programs as given: assembly, or an image in one of the readable formats. Either becomes an image and its machine.

use std::path::Path;

use anstyle::AnsiColor;
use lathe_asm::formats::{self, Format};
use lathe_asm::image::Symbol;
use lathe_asm::{Assembled, Image, Options, assemble};
use lathe_base::{Severity, Source, limits, nearest};
use lathe_isa::Isa;

use crate::arguments::{AssemblyArguments, number};
use crate::exit::Failure;
use crate::inputs::Inputs;
use crate::machine::{self, Machine};
use crate::outputs::format_named;
use crate::project::Project;
use crate::{definitions, files, output, render};

/// The most folder entries searched for a similar definition.
const NEIGHBOURS: usize = 1_000;

/// A program ready to run, and its machine.
pub(crate) struct Program {
    pub(crate) isa: Isa,
    pub(crate) image: Image,
    /// The sources it was assembled from, if any.
    pub(crate) sources: Vec<Source>,
    /// The files of the machine's definition.
    pub(crate) definition: Vec<Source>,
    /// The address of `tohost`, for an ELF file that reports its result there.
    pub(crate) tohost: Option<u64>,
}

impl Program {
    /// Makes execution begin at an address, or at a name in the program.
    pub(crate) fn begin_at(&mut self, place: &str) -> Result<(), Failure> {
        self.image.entry = Some(self.address_of(place, "begin")?);
        Ok(())
    }

    /// Returns the code address that a person means: a number, or a name in the program.
    pub(crate) fn address_of(&self, place: &str, what: &str) -> Result<u64, Failure> {
        let symbols = &self.image.symbols;
        let named = symbols.iter().find(|symbol| symbol.name == place).map(|symbol| symbol.value);
        let address = named.and_then(|value| u64::try_from(value).ok()).or_else(|| number(place).ok());
        let Some(address) = address else {
            let near = nearest(place, symbols.iter().map(|symbol| symbol.name.as_str()));
            let help = near.map_or("give a number such as 0x400".to_owned(), |near| format!("did you mean `{near}`?"));
            let message = format!("cannot {what} at `{place}`: it is not an address, and the program has no such name");
            return Err(Failure::usage(message).help(help));
        };
        if !self.isa.pc.width.holds(address) {
            let message = format!("cannot {what} at {address:#x}");
            let last = self.isa.pc.width.mask();
            return Err(Failure::usage(message).help(format!("addresses of {} go up to {last:#x}", self.isa.name)));
        }
        Ok(address)
    }
}

/// A program as requested on the command line.
pub(crate) struct Request<'r> {
    /// Its file.
    pub(crate) name: &'r str,
    /// Its machine, if given.
    pub(crate) machine: Option<&'r str>,
    /// Its format, if given.
    pub(crate) from: Option<&'r str>,
    /// Where an image without addresses goes, if given.
    pub(crate) load_at: Option<u64>,
    /// How to assemble it, if it is a source.
    pub(crate) assembly: &'r AssemblyArguments,
}

/// What a file may hold.
#[derive(Clone, Copy)]
enum Kind {
    Assembly,
    Image(Format),
}

impl Request<'_> {
    /// Loads a program of any kind. Assembly is assembled, and its diagnostics shown.
    pub(crate) fn load(&self, inputs: &Inputs) -> Result<Program, Failure> {
        if self.name == files::STANDARD && self.machine == Some(files::STANDARD) {
            return Err(both_from_standard_input());
        }
        let asked = self.from.map(kind_named).transpose()?;
        inputs.note(self.name);
        let bytes = files::read(self.name, limits::IMAGE_BYTES)?;
        let kind = asked.unwrap_or_else(|| kind(self.name, &bytes));
        if self.load_at.is_some() && !matches!(kind, Kind::Image(Format::Binary)) {
            let message = format!("{} has addresses of its own", files::title(self.name));
            return Err(Failure::usage(message).help("leave out --load-at, or say `--from bin` if it is a raw binary"));
        }
        match kind {
            Kind::Assembly => self.assemble(files::text(self.name, bytes)?, inputs),
            Kind::Image(format) => self.read(format, &bytes, inputs),
        }
    }

    fn assemble(&self, text: String, inputs: &Inputs) -> Result<Program, Failure> {
        let Machine { isa, written } = machine_of_source(self.name, &text, self.machine, inputs)?;
        let options = Options { definitions: definitions::read(&self.assembly.define)?, ..Options::default() };
        let root = self.assembly.root.as_deref();
        let assembly = Assembly { name: self.name, text, root, options: &options };
        let (image, sources) = assembly.assemble(&isa, inputs)?;
        Ok(Program { isa, image, sources, definition: written.sources, tohost: None })
    }

    /// Reads an image. If it can be loaded only in part, its format must have been given.
    fn read(&self, format: Format, bytes: &[u8], inputs: &Inputs) -> Result<Program, Failure> {
        let failure = |error: formats::FormatError| format_failure(self.name, &error);
        let header = (format == Format::Image).then(|| formats::header(bytes)).transpose().map_err(failure)?;
        let named = header.as_ref().map(|header| header.machine.as_str());
        let machine = chosen(self.name, self.machine, named, inputs)?;
        let image = match self.load_at {
            Some(address) => formats::read_binary_at(bytes, &machine.isa, address),
            None => formats::read(format, bytes, &machine.isa),
        };
        let image = image.map_err(failure)?;
        if let Some(left_out) = formats::left_out(format, bytes, &machine.isa) {
            let message = format!("{}: {}", files::title(self.name), left_out.cause);
            if self.from.is_none() {
                let help = format!("{}; `--from {}` loads it all the same", left_out.next_step, format.name());
                return Err(Failure::input(message).help(help));
            }
            warn(&message, &left_out.next_step);
        }
        let is_tohost = |symbol: &&Symbol| format == Format::Elf && symbol.name == "tohost";
        let tohost = image.symbols.iter().find(is_tohost).and_then(|symbol| u64::try_from(symbol.value).ok());
        if let Some(identity) = header.and_then(|header| header.definition) {
            warn_if_changed(self.name, &identity, &machine);
        }
        let Machine { isa, written } = machine;
        Ok(Program { isa, image, sources: Vec::new(), definition: written.sources, tohost })
    }
}

/// Returns the format of this name, or assembly.
fn kind_named(name: &str) -> Result<Kind, Failure> {
    if name.eq_ignore_ascii_case("asm") { Ok(Kind::Assembly) } else { format_named(name).map(Kind::Image) }
}

/// Returns what a file holds, by its name and its content.
fn kind(name: &str, bytes: &[u8]) -> Kind {
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let is_named_so = matches!(extension.as_deref(), Some("asm" | "s" | "a" | "inc"));
    let names_machine = || std::str::from_utf8(bytes).is_ok_and(|text| machine_directive(text).is_some());
    if is_named_so || names_machine() { Kind::Assembly } else { Kind::Image(formats::guess(name, bytes)) }
}

/// Warns if an image was made with another text of the definition: it most likely still fits, but not certainly.
fn warn_if_changed(name: &str, identity: &str, machine: &Machine) {
    if formats::identity(&machine.written.whole()) != identity {
        let (name, definition) = (files::title(name), &machine.definition().name);
        warn(&format!("the definition {definition} has changed since {name} was assembled"), "assemble it again");
    }
}

fn warn(message: &str, next_step: &str) {
    let warning = render::mark("warning:", AnsiColor::Yellow);
    let help = render::mark("help:", AnsiColor::BrightCyan);
    output::complain(&format!("{warning} {message}\n{help} {next_step}\n"));
}

/// Returns the failure that two things want the same input.
pub(crate) fn both_from_standard_input() -> Failure {
    let message = "the program and the machine cannot both come from standard input";
    Failure::usage(message).help("give the name of a file for one of them")
}

/// Returns the name after `.machine`, which must precede everything but comments and blank lines.
pub(crate) fn machine_directive(text: &str) -> Option<&str> {
    let text = without_comments(text.trim_start_matches('\u{FEFF}'));
    let (directive, rest) = text.split_once([' ', '\t'])?;
    let name = rest.lines().next()?.trim_start().split([' ', '\t', ';', '/']).next()?.trim_matches('"');
    (directive.eq_ignore_ascii_case(".machine") && !name.is_empty()).then_some(name)
}

/// Skips leading comments.
fn without_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let after = |end: &str| text.split_once(end).map_or("", |(_, rest)| rest);
        text = match text {
            _ if text.starts_with("/*") => after("*/"),
            _ if text.starts_with([';', '#']) || text.starts_with("//") => after("\n"),
            _ => return text,
        }
    }
}

/// Reads the text of an assembly source.
pub(crate) fn source_text(name: &str, inputs: &Inputs) -> Result<String, Failure> {
    inputs.note(name);
    files::read_text(name, limits::SOURCE_BYTES as u64)
}

/// Returns the machine of a source: the one asked for, or the one it names.
pub(crate) fn machine_of_source(
    name: &str,
    text: &str,
    asked: Option<&str>,
    inputs: &Inputs,
) -> Result<Machine, Failure> {
    chosen(name, asked, machine_directive(text), inputs)
}

/// Returns the machine asked for on the command line, or else the one that the program names.
fn chosen(program: &str, asked: Option<&str>, named: Option<&str>, inputs: &Inputs) -> Result<Machine, Failure> {
    match (asked, named) {
        (Some(asked), _) => {
            if lathe_machines::find(asked).is_none() {
                inputs.note(asked);
            }
            machine::open_noting(asked, inputs)
        }
        (None, Some(named)) => machine_named_by(program, named, inputs),
        (None, None) => Err(which(program)),
    }
}

/// Finds the machine that a program names: one that ships with Lathe, or a definition beside the program. A name with a
/// path in it finds nothing: a program does not open files elsewhere.
fn machine_named_by(program: &str, named: &str, inputs: &Inputs) -> Result<Machine, Failure> {
    if lathe_machines::find(named).is_some() {
        return machine::open(named);
    }
    let is_plain = named.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let beside = Path::new(program).with_file_name(format!("{named}.isa"));
    if is_plain {
        inputs.note(&beside);
    }
    if is_plain && beside.exists() && !beside.is_dir() {
        machine::open_noting(&beside.to_string_lossy(), inputs)
    } else {
        Err(unknown(program, named))
    }
}

fn unknown(program: &str, named: &str) -> Failure {
    let message = format!("{} is for a machine `{named}`, which does not exist", files::title(program));
    let beside: Vec<String> = definitions_beside(program);
    let known = lathe_machines::every().map(|machine| machine.name).chain(beside.iter().map(String::as_str));
    // The program may name the file.
    let name = named.strip_suffix(".isa").unwrap_or(named);
    let near = nearest(name, known);
    Failure::input(message).help(match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("put its definition {name}.isa beside the program, or say where it is with `-m FILE.isa`"),
    })
}

/// Returns the names of the definitions in the program's folder.
fn definitions_beside(program: &str) -> Vec<String> {
    let folder = Path::new(program).parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = folder.unwrap_or(Path::new(".")).read_dir() else { return Vec::new() };
    let name = |path: &Path| Some(path.file_stem()?.to_str()?.to_owned());
    let paths = entries.take(NEIGHBOURS).flatten().map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "isa"))
        .filter_map(|path| name(&path))
        .collect()
}

fn which(name: &str) -> Failure {
    if is_definition(name) {
        let help = format!("run a program on it with `lathe run PROGRAM -m {name}`; `lathe check {name}` checks it");
        return Failure::usage(format!("{name} is the definition of a machine, not a program")).help(help);
    }
    let message = format!("nothing says which machine {} is for", files::title(name));
    Failure::usage(message).help("say it with `-m NAME`, or begin an assembly source with `.machine NAME`")
}

fn is_definition(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("isa"))
}

/// An assembly source, and how to assemble it.
pub(crate) struct Assembly<'a> {
    pub(crate) name: &'a str,
    pub(crate) text: String,
    /// The project folder, if given.
    pub(crate) root: Option<&'a str>,
    pub(crate) options: &'a Options,
}

impl Assembly<'_> {
    /// Assembles the source and shows its diagnostics; returns the image and its sources if there was no error.
    pub(crate) fn assemble(self, isa: &Isa, inputs: &Inputs) -> Result<(Image, Vec<Source>), Failure> {
        definitions::check_free(&self.options.definitions, isa)?;
        let project = Project::new(self.name, self.root, inputs)?;
        let title = files::title(self.name);
        let Assembled { image, diagnostics, sources, .. } =
            assemble(isa, &project, Source::new(title, self.text), self.options);
        let dropped = diagnostics.dropped();
        let diagnostics = diagnostics.into_sorted();
        for diagnostic in &diagnostics {
            output::diagnostic(&sources, diagnostic);
        }
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity() == Severity::Error).count();
        let more = if dropped > 0 { format!(", and {dropped} more not shown") } else { String::new() };
        let message = || format!("{title} cannot be assembled: {}{more}", render::count(errors, "error"));
        image.map(|image| (image, sources)).ok_or_else(|| Failure::input(message()))
    }
}

/// Reports a file that does not follow its format.
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
        assert_eq!(machine_directive("\u{FEFF}.Machine\t\"quad8\"// yes"), Some("quad8"));
        assert_eq!(machine_directive("/* two\nlines */ .machine quad8\r\n"), Some("quad8"));
        assert_eq!(machine_directive("nop\n.machine quad8"), None);
        assert_eq!(machine_directive(".machine"), None);
        assert_eq!(machine_directive(".machine \n quad8"), None);
        assert_eq!(machine_directive(".machinery quad8"), None);
        assert_eq!(machine_directive("/* .machine quad8"), None);
        assert_eq!(machine_directive(""), None);
    }
}
