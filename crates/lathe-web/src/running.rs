//! The machine at work: the debugger's commands in slices, and what the user does to the machine.

use lathe_debug::{Answer, Debugger, Effect, Host, Problem, Program, What, execute};
use lathe_embed::Machine;
use serde::Serialize;

use crate::request::value;

/// The most bytes snapshots take; a page has less memory than a terminal.
const HISTORY: u64 = 64 << 20;
/// Roughly how many instructions the debugger executes before it asks again whether to go on.
const SLICE: u64 = 1 << 16;

/// Lets a run go on for this many instructions.
struct Budget {
    left: u64,
}

impl Host for Budget {
    fn goes_on(&mut self) -> bool {
        self.left = self.left.saturating_sub(SLICE);
        self.left > 0
    }
}

/// Where a margin breakpoint was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Margin {
    /// The line asked for.
    asked: usize,
    /// The line it stops at: the same line, or the next one with an instruction.
    line: usize,
}

/// Creates a debugger for a program.
pub(crate) fn start(program: Program) -> Debugger {
    let machine = Machine::from(program.isa().clone());
    let mut debugger = Debugger::new(program, machine.instance());
    debugger.set_memory(HISTORY);
    debugger
}

/// Executes a line of the debugger's language. `run` stops after `limit` instructions; commands that search, such as
/// `over` or `back run`, go on a little further before they give up.
pub(crate) fn command(debugger: &mut Debugger, line: &str, limit: u64) -> Result<String, Problem> {
    let parsed = lathe_debug::parse(line)?;
    if ["save", "quit"].contains(&parsed.name) {
        let problem = Problem::new(format!("`{}` does nothing in a page", parsed.name));
        return Err(problem.help("Share makes a link of everything, Export makes files"));
    }
    // The debugger rarely asks whether to go on; `step` runs exactly this many instructions.
    let is_run = parsed.name == "run";
    let line = if is_run { format!("step {}", limit.max(1)) } else { line.to_owned() };
    let mut answer = execute(debugger, &line, &mut Budget { left: limit.max(1) })?;
    if let Answer::Stopped(report) = &mut answer
        && is_run
        && report.reason == "done"
    {
        report.reason = "paused";
    }
    let shown = value(answer.to_string())?;
    let mut text = value(&answer)?;
    // An answer is an object with at least its kind; `shown` is added as another member.
    debug_assert!(text.starts_with("{\"answer\":") && text.ends_with('}'), "{text}");
    text.pop();
    text += &format!(",\"shown\":{shown}}}");
    Ok(text)
}

/// Replaces the margin breakpoints by those at these lines. Breakpoints set in the debugger's language stay.
pub(crate) fn set_margin(debugger: &mut Debugger, known: &mut Vec<u32>, lines: &[usize]) -> Vec<Margin> {
    for id in known.drain(..) {
        debugger.breakpoints.remove(id);
    }
    let mut margins = Vec::new();
    for asked in lines {
        // A line after the last instruction has nowhere to stop; its mark has no effect.
        let Ok((line, addresses)) = debugger.program().stops_of_line(0, *asked) else { continue };
        let text = format!(":{line}");
        if let Ok(id) = debugger.add(&text, What::At(addresses), None, Effect::Stop) {
            known.push(id);
            margins.push(Margin { asked: *asked, line });
        }
    }
    margins
}
