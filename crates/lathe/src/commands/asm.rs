//! `lathe asm`: assembles a program and writes it in one or several formats.

use lathe_asm::{Options, Overlap};

use serde::Serialize;

use super::Outcome;
use crate::arguments::{Asm, Format};
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::outputs::{self, Product, Target};
use crate::render::DiagnosticData;
use crate::{definitions, files, output, program, watch};

/// Assembles a program, once or whenever it changes.
pub(super) fn execute(arguments: &Asm) -> Outcome {
    let job = Job::new(arguments)?;
    if arguments.watch {
        watch::forever(|inputs| job.once(inputs));
    }
    job.once(&Inputs::default())?;
    Ok(Exit::Done)
}

/// What was asked for, as far as it is known without the program.
struct Job<'a> {
    arguments: &'a Asm,
    options: Options,
    targets: Vec<Target>,
}

impl<'a> Job<'a> {
    fn new(arguments: &'a Asm) -> Result<Self, Failure> {
        check_standard_input(arguments)?;
        let overlap = if arguments.allow_overlap { Overlap::LaterWins } else { Overlap::Refuse };
        let options =
            Options { definitions: definitions::read(&arguments.assembly.define)?, overlap, ..Options::default() };
        Ok(Job { arguments, options, targets: outputs::targets(arguments)? })
    }

    /// Assembles and writes. Nothing is written until everything is ready.
    fn once(&self, inputs: &Inputs) -> Result<(), Failure> {
        let Asm { source, assembly, .. } = self.arguments;
        let text = program::source_text(source, inputs)?;
        let machine = program::machine_of_source(source, &text, self.arguments.machine.machine.as_deref(), inputs)?;
        let (image, sources) =
            program::Assembly { name: source, text, root: assembly.root.as_deref(), options: &self.options }
                .assemble(&machine.isa, inputs)?;
        let product = Product { arguments: self.arguments, machine: &machine, image: &image, sources: &sources };
        let made = product.files(&self.targets)?;
        made.iter().try_for_each(|file| inputs.check_spared(&file.name, "-o"))?;
        files::write_all(&made)?;
        let written = || made.iter().filter(|file| file.name != files::STANDARD);
        match self.arguments.answer() {
            Format::Text => written().for_each(|file| output::complain(&format!("wrote {}\n", file.name))),
            Format::Json => {
                let files = written().map(|file| FileData { name: &file.name, bytes: file.bytes.len() }).collect();
                let diagnostics = output::take_diagnostics();
                let answer = AsmData { ok: true, machine: &machine.isa.name, files, diagnostics };
                output::answer(&output::json(&answer)?)?;
            }
        }
        Ok(())
    }
}

/// The assembled files, as data.
#[derive(Debug, Serialize)]
struct AsmData<'a> {
    ok: bool,
    machine: &'a str,
    files: Vec<FileData<'a>>,
    /// Warnings.
    diagnostics: Vec<DiagnosticData>,
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(super) struct FileData<'a> {
    pub(super) name: &'a str,
    pub(super) bytes: usize,
}

/// Checks that at most one reader uses standard input, once, and at most one writer standard output.
fn check_standard_input(arguments: &Asm) -> Result<(), Failure> {
    if arguments.answer() == Format::Json && arguments.output.as_deref() == Some(files::STANDARD) {
        let message = "the image and the JSON cannot both go to standard output";
        return Err(Failure::usage(message).help("give the name of a file with `-o`"));
    }
    let source = arguments.source == files::STANDARD;
    let machine = arguments.machine.machine.as_deref() == Some(files::STANDARD);
    if source && machine {
        return Err(program::both_from_standard_input());
    }
    if arguments.watch && (source || machine) {
        watch::check([files::STANDARD])?;
    }
    Ok(())
}
