//! From the name of a machine to its instruction set: finds the definition, checks it, runs its examples, and reports
//! what is wrong with it.

use std::path::Path;

use lathe_base::{Diagnostic, Severity, Source, limits, nearest};
use lathe_isa::{Isa, Written};
use lathe_machines::{Shipped, WithShipped};

use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::project::Project;
use crate::{files, output, program, render};

/// A checked definition.
pub(crate) struct Checked {
    /// Its files and their contents.
    pub(crate) written: Written,
    /// The instruction set, if the text has no errors. Its examples may still fail.
    pub(crate) isa: Option<Isa>,
    /// Errors and warnings, by position.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// How many more diagnostics there were.
    pub(crate) dropped: usize,
}

impl Checked {
    /// Returns how many diagnostics have this severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity() == severity).count()
    }

    /// Returns the file asked for.
    pub(crate) fn source(&self) -> &Source {
        &self.written.sources[0]
    }

    /// Returns the exit code for the result.
    pub(crate) fn exit(&self) -> Exit {
        if self.isa.is_none() || self.count(Severity::Error) > 0 { Exit::InputWrong } else { Exit::Done }
    }

    /// Shows the diagnostics.
    pub(crate) fn complain(&self) {
        self.diagnostics.iter().for_each(|diagnostic| output::diagnostic(&self.written.sources, diagnostic));
    }

    /// Counts the diagnostics, as in `2 errors, 1 warning`.
    pub(crate) fn tally(&self) -> String {
        let errors = render::count(self.count(Severity::Error), "error");
        let warnings = render::count(self.count(Severity::Warning), "warning");
        let more = if self.dropped > 0 { format!(", and {} more not shown", self.dropped) } else { String::new() };
        format!("{errors}, {warnings}{more}")
    }
}

/// A machine ready to use.
pub(crate) struct Machine {
    /// Its instruction set.
    pub(crate) isa: Isa,
    /// The definition it was made from.
    pub(crate) written: Written,
}

/// Returns the instruction set of a machine to use.
pub(crate) fn load(name: &str) -> Result<Isa, Failure> {
    open(name).map(|machine| machine.isa)
}

/// Opens a machine to use. Warnings are left to `lathe check`: someone who runs a program wants to see the program.
pub(crate) fn open(name: &str) -> Result<Machine, Failure> {
    open_noting(name, &Inputs::default())
}

/// Opens a machine to use, and notes the files of its definition.
pub(crate) fn open_noting(name: &str, inputs: &Inputs) -> Result<Machine, Failure> {
    if lathe_machines::find(name).is_none() {
        inputs.note(name);
    }
    let checked = check(find(name)?, inputs);
    let usable = checked.exit() == Exit::Done;
    if !usable {
        checked.complain();
    }
    let message = format!("the definition {} cannot be used: {}", checked.source().name, checked.tally());
    let isa = checked.isa.filter(|_| usable).ok_or_else(|| Failure::input(message))?;
    Ok(Machine { isa, written: checked.written })
}

impl Machine {
    /// Returns the file asked for.
    pub(crate) fn definition(&self) -> &Source {
        &self.written.sources[0]
    }
}

/// Checks a definition and runs its examples. What it extends and includes is beside it, or ships with Lathe.
pub(crate) fn check(source: Source, inputs: &Inputs) -> Checked {
    let main = if source.name == files::title(files::STANDARD) { files::STANDARD } else { &source.name };
    let mut loaded = match Project::new(main, None, inputs) {
        Ok(project) => lathe_isa::load_with(source, &WithShipped(&project)),
        // Without a folder, there are no other files.
        Err(_) => lathe_isa::load_with(source, &Shipped),
    };
    if let Some(isa) = &loaded.isa {
        loaded.diagnostics.extend(lathe_vm::examples::check(isa));
    }
    let dropped = loaded.diagnostics.dropped();
    Checked { written: loaded.written, isa: loaded.isa, diagnostics: loaded.diagnostics.into_sorted(), dropped }
}

/// Finds the definition of this name: one that ships with Lathe, a file, or standard input. To use a file that has the
/// name of a shipped machine, give `./name`.
pub(crate) fn find(name: &str) -> Result<Source, Failure> {
    if let Some(machine) = lathe_machines::find(name) {
        return Ok(Source::new(format!("{name}.isa"), machine.definition));
    }
    if name != files::STANDARD && !Path::new(name).exists() {
        return Err(unknown(name));
    }
    let text = files::read_text(name, limits::DEFINITION_BYTES as u64)?;
    if let Some(machine) = program::machine_directive(&text) {
        let message = format!("{} is a program for {machine}, not the definition of a machine", files::title(name));
        return Err(
            Failure::usage(message).help(format!("`lathe run {name}` runs it, `lathe check` is for definitions"))
        );
    }
    Ok(Source::new(files::title(name), text))
}

/// Reports a name that is neither a machine nor a file: most often a typing error, so wrong usage.
fn unknown(name: &str) -> Failure {
    let names = || lathe_machines::every().map(|machine| machine.name);
    let failure = Failure::usage(format!("there is no machine and no file with the name `{name}`"));
    let file = format!("{name}.isa");
    if Path::new(&file).is_file() {
        return failure.help(format!("did you mean `{file}`?"));
    }
    match nearest(name.trim_end_matches(".isa"), names()) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!(
            "the machines that come with Lathe are {}; a definition of your own is given by the path of its file",
            names().collect::<Vec<_>>().join(", ")
        )),
    }
}
