//! `lathe debug`: the debugger on the terminal, from a script, from standard input, or for gdb.
//!
//! What commands mean is in `lathe-debug`; this module decides only where they come from and where answers
//! go.

mod batch;
#[cfg(feature = "gdb")]
mod gdb;
#[cfg(feature = "screen")]
mod screen;

#[cfg(feature = "gdb")]
use gdb::serve as serve_gdb;
#[cfg(feature = "screen")]
use screen::run as show;
use std::io::{self, IsTerminal};

use lathe_debug::{Debugger, Problem, Program, session};
use lathe_embed::{EngineKind, Machine};

use super::Outcome;
use crate::arguments::Debug;
use crate::exit::{Exit, Failure};
use crate::inputs::Inputs;
use crate::program::{self, Request};
use crate::{files, output, render};

/// The extension of saved sessions.
const SESSION: &str = ".session";

/// The most bytes read of a saved session or of console input.
const LARGEST: u64 = 1 << 30;

/// Debugs a program.
pub(super) fn execute(arguments: &Debug) -> Outcome {
    let inputs = Inputs::default();
    let mut debugger = open(arguments, &inputs)?;
    if let Some(script) = &arguments.gdb_script {
        inputs.check_spared(script, "--gdb-script")?;
    }
    if let Some(size) = arguments.memory {
        debugger.set_memory(size.saturating_mul(1 << 20));
    }
    if let Some(bytes) = arguments.max_memory {
        debugger.set_max_memory(bytes);
    }
    debugger.set_recording(!arguments.no_record);
    if let Some(port) = arguments.gdb {
        return serve_gdb(&mut debugger, port, arguments);
    }
    match &arguments.batch {
        Some(script) => batch::run(&mut debugger, script, arguments.format),
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => show(&mut debugger, &arguments.image),
        None => batch::run(&mut debugger, files::STANDARD, arguments.format),
    }
}

#[cfg(not(feature = "gdb"))]
fn serve_gdb(_: &mut Debugger, _: u16, _: &Debug) -> Outcome {
    Err(Failure::not_built("server for gdb"))
}

#[cfg(not(feature = "screen"))]
fn show(_: &mut Debugger, _: &str) -> Outcome {
    Err(Failure::not_built("screen for the debugger"))
}

/// Opens a debugger for a program or a saved session.
fn open(arguments: &Debug, inputs: &Inputs) -> Result<Debugger, Failure> {
    let engine = EngineKind::from(arguments.engine);
    let name = &arguments.image;
    if let Some(text) = saved_session(name)? {
        return session::open(&text, engine).map_err(|problem| failure(name, problem));
    }
    let Debug { machine, from, load_at, assembly, entry, .. } = arguments;
    let (machine, from) = (machine.machine.as_deref(), from.as_deref());
    let mut program = Request { name, machine, from, load_at: *load_at, assembly }.load(inputs)?;
    if let Some(place) = entry {
        program.begin_at(place)?;
    }
    let mut debugger = start(program, engine)?;
    if let Some(file) = &arguments.input {
        debugger.give_input(&files::read(file, LARGEST)?);
        debugger.end_input();
    }
    Ok(debugger)
}

/// Creates a debugger at the beginning of a program.
pub(super) fn start(program: program::Program, engine: EngineKind) -> Result<Debugger, Failure> {
    let machine = Machine::from(program.isa);
    let instance = machine.instance_on(engine).map_err(|error| Failure::usage(error.to_string()))?;
    let mut debugger = Debugger::new(Program::new(machine.isa().clone(), program.image, program.sources), instance);
    debugger.definition = program.definition;
    Ok(debugger)
}

/// Returns the text of a saved session, if the file is one.
fn saved_session(name: &str) -> Result<Option<String>, Failure> {
    if name == files::STANDARD || !name.ends_with(SESSION) {
        return Ok(None);
    }
    files::read_text(name, LARGEST).map(Some)
}

fn failure(name: &str, problem: Problem) -> Failure {
    let failure = Failure::input(format!("{}: {}", files::title(name), problem.message));
    match problem.help {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// Renders a problem for people.
fn complaint(problem: &Problem) -> String {
    let failure = Failure::input(problem.message.clone());
    let failure = problem.help.iter().fold(failure, |failure, help| failure.help(help.clone()));
    render::failure(&failure)
}

/// Writes a saved session. Its extension, which no program has, marks it as a session when it is opened.
pub(super) fn save(file: &str, session: &str) -> Result<(), Problem> {
    if !file.ends_with(SESSION) {
        let other = format!("{}{SESSION}", file.strip_suffix(".asm").unwrap_or(file));
        return Err(Problem::new(format!("{file} cannot be opened as a session")).help(format!("write `save {other}`")));
    }
    let whole = files::Whole { name: file.to_owned(), bytes: session.as_bytes().to_vec() };
    files::write_all(&[whole]).map_err(|failure| Problem { message: failure.message, help: failure.help })
}

/// Prints an answer, whatever its length.
fn tell(text: &str) -> Result<(), Failure> {
    output::answer(text)
}

/// Returns the exit code of a script.
fn exit(failed: bool) -> Exit {
    if failed { Exit::InputWrong } else { Exit::Done }
}
