//! `lathe asm`: assembles a program and writes it in one or several formats.

use std::time::Duration;

use lathe_asm::{Options, Overlap};
use lathe_isa::Isa;

use super::Outcome;
use crate::arguments::Asm;
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::outputs::{self, Product, Target};
use crate::{arguments, files, output, program, render};

/// How often `--watch` looks at the files. Looking is cheap and works on every file system,
/// which waiting for events of the system does not.
const LOOK: Duration = Duration::from_millis(200);

/// Assembles a program, once or whenever it changes.
pub(super) fn execute(arguments: &Asm) -> Outcome {
    let job = Job::new(arguments)?;
    if arguments.watch {
        job.watch();
    }
    job.once(&Inputs::default())?;
    Ok(Exit::Done)
}

/// What was asked for, as far as it can be told without the program.
struct Job<'a> {
    arguments: &'a Asm,
    options: Options,
    targets: Vec<Target>,
}

impl<'a> Job<'a> {
    fn new(arguments: &'a Asm) -> Result<Self, Failure> {
        check_standard_input(arguments)?;
        let overlap = if arguments.allow_overlap { Overlap::LaterWins } else { Overlap::Refuse };
        let options = Options { definitions: definitions(&arguments.define)?, overlap };
        Ok(Job { arguments, options, targets: outputs::targets(arguments)? })
    }

    /// Assembles whenever a file of the program changes, until the process is ended. Mistakes
    /// are told and waited for: whoever watches is about to mend them.
    fn watch(&self) -> ! {
        loop {
            let inputs = Inputs::default();
            if let Err(failure) = self.once(&inputs) {
                output::complain(&render::failure(&failure));
            }
            output::complain(&format!("watching {}\n", render::count(inputs.count(), "file")));
            while !inputs.have_changed() {
                std::thread::sleep(LOOK);
            }
        }
    }

    /// Assembles and writes. Nothing is written before everything is made.
    fn once(&self, inputs: &Inputs) -> Result<(), Failure> {
        let Asm { source, root, .. } = self.arguments;
        let text = program::source_text(source, inputs)?;
        let machine = program::machine_of_source(source, &text, self.arguments.machine.machine.as_deref(), inputs)?;
        check_free(&self.options, &machine.isa)?;
        let (image, sources) = program::Assembly { name: source, text, root: root.as_deref(), options: &self.options }
            .assemble(&machine.isa, inputs)?;
        let product = Product { arguments: self.arguments, machine: &machine, image: &image, sources: &sources };
        let made = product.files(&self.targets)?;
        made.iter().try_for_each(|file| inputs.check_spared(&file.name))?;
        files::write_all(&made)?;
        for file in made.iter().filter(|file| file.name != files::STANDARD) {
            output::complain(&format!("wrote {}\n", file.name));
        }
        Ok(())
    }
}

/// Standard input can be read once, by one.
fn check_standard_input(arguments: &Asm) -> Result<(), Failure> {
    let source = arguments.source == files::STANDARD;
    let machine = arguments.machine.machine.as_deref() == Some(files::STANDARD);
    if source && machine {
        return Err(program::both_from_standard_input());
    }
    if arguments.watch && (source || machine) {
        return Err(Failure::usage("standard input cannot be watched").help("give the name of a file"));
    }
    Ok(())
}

/// `NAME=VALUE`, or `NAME` for 1; each name once.
fn definitions(given: &[String]) -> Result<Vec<(String, i128)>, Failure> {
    let mut all: Vec<(String, i128)> = Vec::new();
    for text in given {
        let (name, value) = definition(text)?;
        if all.iter().any(|(known, _)| *known == name) {
            return Err(Failure::usage(format!("`-D {name}` is given twice")).help("leave one of them out"));
        }
        all.push((name, value));
    }
    Ok(all)
}

fn definition(text: &str) -> Result<(String, i128), Failure> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let (digits, sign) = value.strip_prefix('-').map_or((value, 1), |digits| (digits, -1));
    let wrong = |what: String| Failure::usage(what).help("as in `-D DEBUG` or `-D SIZE=0x100`");
    if !is_word(name) {
        return Err(wrong(format!("`{name}` in `-D {text}` is no name: letters, digits and _, no digit first")));
    }
    let number = arguments::number(digits).map_err(|error| wrong(format!("`{value}` in `-D {text}` is {error}")))?;
    Ok((name.to_owned(), sign * i128::from(number)))
}

/// Whether a source could use the name.
fn is_word(name: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(letters) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// That no definition hides a name of the machine: a source could not define it either.
fn check_free(options: &Options, isa: &Isa) -> Result<(), Failure> {
    let is_taken = |name: &str| {
        isa.registers.iter().any(|register| register.name.eq_ignore_ascii_case(name))
            || isa.views.iter().any(|view| view.name.eq_ignore_ascii_case(name))
            || isa.fields.iter().any(|field| field.bits_named(name).is_some())
    };
    let Some((name, _)) = options.definitions.iter().find(|(name, _)| is_taken(name)) else { return Ok(()) };
    let message = format!("`{name}` in `-D {name}` is a name of the machine {}", isa.name);
    Err(Failure::usage(message).help(format!("choose another name, such as `{name}_`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_words_with_or_without_a_value() {
        assert_eq!(definition("DEBUG").unwrap(), ("DEBUG".into(), 1));
        assert_eq!(definition("SIZE=0x10").unwrap(), ("SIZE".into(), 16));
        assert_eq!(definition("_n=-3").unwrap(), ("_n".into(), -3));
        for wrong in ["=3", "", "N=", "N=x", "N=--3", "N=+3", "1x", "a b=1", "a-b", ".a", "é=1"] {
            assert!(definition(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_definition_is_given_once() {
        let given = ["A=1".to_owned(), "a=2".to_owned()];
        assert_eq!(definitions(&given).unwrap().len(), 2);
        assert!(definitions(&[given[0].clone(), "A".to_owned()]).is_err());
    }
}
