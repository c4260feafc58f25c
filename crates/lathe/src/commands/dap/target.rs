//! The debugged program as an editor sees it: sources with paths, lines, steps from line to line.

use std::path::{Path, PathBuf};

use lathe_debug::program::SourceLine;
use lathe_debug::{Debugger, Host, Problem, Reason, Stopped};
use serde_json::{Value, json};

/// A program that was launched.
pub(super) struct Launched {
    pub(super) debugger: Debugger,
    /// Its main file.
    pub(super) path: PathBuf,
    /// Whether it runs without stopping.
    pub(super) no_debug: bool,
    pub(super) stop_on_entry: bool,
    /// Breakpoints by what set them: a source's number, or one of the kinds below.
    pub(super) set: std::collections::BTreeMap<Owner, Vec<u32>>,
}

/// Which request set a breakpoint; each replaces its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Source(usize),
    Functions,
    Instructions,
    Data,
    Exceptions,
}

/// How to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Run,
    Over,
    In,
    Out,
    Back,
    RunBack,
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    Statement,
    Instruction,
}

/// The most instructions in a step from statement to statement.
const PATIENCE: usize = 100_000;

impl Launched {
    /// Moves, and returns where that ended.
    pub(super) fn go(&mut self, way: Way, grain: Grain, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let debugger = &mut self.debugger;
        let once: fn(&mut Debugger, &mut dyn Host) -> Result<Stopped, Problem> = match way {
            Way::Run => return debugger.run(host),
            Way::RunBack => return debugger.run_back(host),
            Way::Out => return debugger.out(host).or_else(|_| debugger.over(host)),
            Way::Over => Debugger::over,
            Way::In => |debugger, host| debugger.step(1, host),
            Way::Back => Debugger::back_over,
        };
        let mut stopped = once(debugger, host)?;
        let mut patience = PATIENCE;
        while grain == Grain::Statement
            && stopped.reason == Reason::Done
            && !is_statement(debugger)
            && debugger.position() > 0
            && patience > 0
        {
            patience -= 1;
            stopped = once(debugger, host)?;
        }
        Ok(stopped)
    }

    /// Describes a source to the client: its path if it is a file, else a number to request its text with.
    pub(super) fn source(&self, number: usize) -> Value {
        let Some(source) = self.debugger.program().sources().get(number) else { return Value::Null };
        let path = self.path_of(number);
        let name =
            Path::new(&source.name).file_name().map_or(source.name.clone(), |name| name.to_string_lossy().into());
        match path.is_file() {
            true => json!({ "name": name, "path": path }),
            false => json!({ "name": name, "sourceReference": number + 1 }),
        }
    }

    /// Returns the path of a source: the main file where it was launched, others beside it.
    fn path_of(&self, number: usize) -> PathBuf {
        let name = &self.debugger.program().sources()[number].name;
        let path = match (number, self.path.parent()) {
            (0, _) | (_, None) => self.path.clone(),
            (_, Some(folder)) if folder.join(name).is_file() => folder.join(name),
            _ => PathBuf::from(name),
        };
        path.canonicalize().unwrap_or(path)
    }

    /// Returns the number of a source that the client names.
    pub(super) fn source_named(&self, source: &Value) -> Option<usize> {
        if let Some(number) = source["sourceReference"].as_u64().filter(|number| *number > 0) {
            return usize::try_from(number - 1).ok().filter(|at| *at < self.debugger.program().sources().len());
        }
        let path = Path::new(source["path"].as_str().or(source["name"].as_str())?);
        let path = path.canonicalize().unwrap_or(path.to_owned());
        (0..self.debugger.program().sources().len()).find(|number| self.path_of(*number) == path)
    }

    pub(super) fn place(&self, line: Option<&SourceLine>) -> (Value, usize) {
        line.map_or((Value::Null, 0), |line| (self.source(line.source), line.line))
    }
}

/// Whether the next instruction begins a statement of the source, so that a step may end there.
fn is_statement(debugger: &Debugger) -> bool {
    let (program, pc) = (debugger.program(), debugger.state().pc);
    let Some(line) = program.source_line(pc) else { return true };
    program.stops_of_line(line.source, line.line).is_ok_and(|(_, stops)| stops.contains(&pc))
}
