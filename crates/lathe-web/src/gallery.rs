//! What ships with Lathe, to choose from.
//!
//! A page has these texts only a moment after it opens: `web/build/split.mjs` moves out data that opening does not
//! need. So functions that use them are not inlined into code that opening runs.

use lathe_asm::formats::Format;
use lathe_base::files::{FileError, Files, Found};
use lathe_base::nearest;
use lathe_debug::Problem;
use lathe_edit::Class;
use lathe_machines::{Machine, every, find};
use serde::Serialize;

/// All there is to choose from, and the words that a page shares with Lathe.
#[derive(Debug, Serialize)]
pub(crate) struct Gallery {
    machines: Vec<MachineCard>,
    /// The names of the colour classes, by number.
    classes: Vec<&'static str>,
    formats: Vec<FormatCard>,
}

#[derive(Debug, Serialize)]
struct MachineCard {
    name: &'static str,
    title: &'static str,
    programs: Vec<ProgramCard>,
}

#[derive(Debug, Serialize)]
struct ProgramCard {
    name: &'static str,
    title: &'static str,
}

#[derive(Debug, Serialize)]
struct FormatCard {
    name: &'static str,
    about: &'static str,
}

/// The texts of a shipped machine and of one of its programs.
#[derive(Debug, Serialize)]
pub(crate) struct Shipped {
    definition: &'static str,
    program: &'static str,
}

#[inline(never)]
pub(crate) fn gallery() -> Gallery {
    let machines = every().map(|machine| MachineCard {
        name: machine.name,
        title: title(&machine),
        // A library for other programs to include is not a program to run.
        programs: machine.programs.iter().filter(|one| one.name != "lib").map(card).collect(),
    });
    let classes = Class::ALL.iter().map(|class| class.name()).collect();
    // Formats that can be written; the others can only be read.
    let written = Format::all().filter(|format| !matches!(format, Format::Elf | Format::GameBoy));
    let formats = written.map(|format| FormatCard { name: format.name(), about: format.about() });
    Gallery { machines: machines.collect(), classes, formats: formats.collect() }
}

fn card(program: &lathe_machines::Program) -> ProgramCard {
    ProgramCard { name: program.name, title: program.title() }
}

/// Returns the quoted text after the machine's name.
fn title(machine: &Machine) -> &'static str {
    machine.definition.lines().find_map(|line| line.strip_prefix("machine ")?.split('"').nth(1)).unwrap_or("")
}

/// Returns the texts of a machine and a program; by default, its `hello`, or else its first program.
#[inline(never)]
pub(crate) fn shipped(machine: &str, program: Option<&str>) -> Result<Shipped, Problem> {
    let found = find(machine).ok_or_else(|| unknown("machine", machine, every().map(|one| one.name)))?;
    let chosen = match program {
        Some(name) => {
            found.program(name).ok_or_else(|| unknown("program", name, found.programs.iter().map(|one| one.name)))?
        }
        None => found.program("hello").unwrap_or(found.programs[0]),
    };
    Ok(Shipped { definition: found.definition, program: chosen.text })
}

fn unknown<'n>(kind: &str, name: &str, known: impl Iterator<Item = &'n str>) -> Problem {
    let problem = Problem::new(format!("no {kind} is called `{name}`"));
    match nearest(name, known) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("the gallery lists what there is"),
    }
}

/// The programs of a shipped machine, for including.
pub(crate) struct Library<'n>(pub(crate) &'n str);

impl Files for Library<'_> {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let program = name.strip_suffix(".asm").and_then(|stem| find(self.0)?.program(stem));
        let missing = || {
            FileError(match self.0 {
                "" => "a page can only include the programs of a shipped machine".to_owned(),
                machine => format!("{machine} ships no program of this name"),
            })
        };
        let program = program.ok_or_else(missing)?;
        Ok(Found { name: format!("{}.asm", program.name), bytes: program.text.as_bytes().to_vec() })
    }
}
