//! The one object that a page talks to. It keeps the texts, the last machine and program without errors, and the
//! debugger that runs them.

use lathe_asm::Assembled;
use lathe_debug::{Debugger, Problem, Program};
use lathe_edit::{completion, hover};
use lathe_embed::State;
use lathe_isa::KnownMeanings;
use lathe_machines::Shipped;
use serde::Serialize;

use crate::checking::{self, Checked, Machine, MachineData};
use crate::download::download;
use crate::gallery::{gallery, shipped};
use crate::places::Places;
use crate::request::{Edit, Pane, Request, Window, refused, value};
use crate::{running, view};

/// A definition and a program to edit, and the machine that runs them.
#[derive(Default)]
pub struct Workbench {
    definition: String,
    program: String,
    library: String,
    /// What the rows of the definition meant at the last check.
    meanings: KnownMeanings,
    /// The machine of the last definition without errors.
    machine: Option<Machine>,
    /// The last program that could be assembled.
    assembled: Option<Assembled>,
    debugger: Option<Debugger>,
    /// Numbers of the margin breakpoints.
    margin: Vec<u32>,
    /// Lines of the margin breakpoints, for the next debugger.
    margin_lines: Vec<usize>,
    /// The state that changes count from.
    before: Option<State>,
}

/// What an edit led to. What has not changed is left out.
#[derive(Debug, Serialize)]
struct Edited {
    definition: Option<Checked>,
    program: Option<Checked>,
    /// The machine that programs are assembled for; `None` before the first definition without errors.
    machine: Option<MachineData>,
    /// Whether the definition has errors and the machine is the previous one.
    stale_machine: bool,
    /// Whether the program has errors and the machine runs the previous one.
    stale_program: bool,
    /// Whether the machine restarted.
    restarted: bool,
}

#[derive(Debug, Serialize)]
struct Suggested {
    label: String,
    kind: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    template: Option<String>,
}

impl Workbench {
    /// Answers a request. Both are JSON; the crate's documentation lists the calls.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = Request::read(request).and_then(|request| self.perform(request));
        answer.unwrap_or_else(|problem| refused(&problem))
    }

    fn perform(&mut self, request: Request) -> Result<String, Problem> {
        match request {
            Request::Gallery => value(gallery()),
            Request::Shipped { machine, program } => value(shipped(&machine, program.as_deref())?),
            Request::Edit(edit) => value(self.edit(edit)),
            Request::Complete { pane, at } => value(self.complete(pane, at)),
            Request::Hover { pane, at } => value(self.hover(pane, at)),
            Request::Tidy { pane } => value(self.tidy(pane)),
            Request::Reference => self.reference(),
            Request::Command { line, limit } => running::command(self.debugger()?, &line, limit),
            Request::Input { text } => {
                self.debugger()?.give_input(text.as_bytes());
                value(())
            }
            Request::EndInput => {
                self.debugger()?.end_input();
                value(())
            }
            Request::Key { key, down } => value(self.debugger()?.set_key(key, down)?),
            Request::Port { bus, port, value: set } => value(self.debugger()?.set_port(&bus, port, set)?),
            Request::Breakpoints { lines } => {
                self.margin_lines = lines;
                self.debugger()?;
                let Workbench { debugger: Some(debugger), margin, margin_lines, .. } = self else { return value(()) };
                value(running::set_margin(debugger, margin, margin_lines))
            }
            Request::View(window) => self.view(&window),
            Request::Download { what } => {
                let machine = self.machine.as_mut().ok_or_else(no_machine)?;
                value(download(&what, machine, self.assembled.as_ref())?)
            }
        }
    }

    fn edit(&mut self, edit: Edit) -> Edited {
        if edit.anew {
            *self = Workbench::default();
        }
        let first = self.machine.is_none();
        let definition = (first || self.definition != edit.definition).then(|| {
            let (checked, machine) = checking::check(&edit.definition, &mut self.meanings);
            self.definition = edit.definition;
            (checked, machine)
        });
        let (definition, new_machine) = definition.map_or((None, None), |(checked, machine)| (Some(checked), machine));
        let replaced = new_machine.is_some();
        self.machine = new_machine.or_else(|| self.machine.take());
        let changed = replaced || first || self.program != edit.program || self.library != edit.library;
        (self.program, self.library) = (edit.program, edit.library);
        let program = changed.then(|| self.assemble());
        let restarted = program.as_ref().is_some_and(|(_, restarted)| *restarted);
        Edited {
            definition,
            program: program.map(|(checked, _)| checked),
            machine: self.machine.as_ref().map(|machine| checking::machine_data(&machine.isa)),
            stale_machine: self.machine.as_ref().is_some_and(|machine| machine.text != self.definition),
            stale_program: self.is_program_stale(),
            restarted,
        }
    }

    fn is_program_stale(&self) -> bool {
        let known = self.assembled.as_ref().and_then(|known| known.sources.first());
        known.is_some_and(|source| source.text != self.program)
    }

    /// Assembles the program; on success, the machine restarts with it.
    fn assemble(&mut self) -> (Checked, bool) {
        let Some(machine) = &mut self.machine else { return (checking::program_alone(&self.program), false) };
        let (checked, assembled) = checking::program(&self.program, machine, &self.library);
        let is_sound = assembled.image.is_some();
        // A program assembled for the previous machine would mean something else on this one.
        let is_foreign =
            self.debugger.as_ref().is_some_and(|known| !std::ptr::eq(&**known.program().isa(), &*machine.isa));
        if is_sound || is_foreign {
            self.debugger = None;
            self.before = None;
            self.margin.clear();
            self.assembled = is_sound.then_some(assembled);
        }
        (checked, is_sound)
    }

    /// Returns the debugger, which is made on first use.
    fn debugger(&mut self) -> Result<&mut Debugger, Problem> {
        if self.debugger.is_none() {
            let machine = self.machine.as_ref().ok_or_else(no_machine)?;
            let broken = || Problem::new("the program has errors").help("correct them, and it runs");
            let assembled = self.assembled.as_ref().ok_or_else(broken)?;
            let image = assembled.image.clone().ok_or_else(broken)?;
            let mut debugger = running::start(Program::new(machine.isa.clone(), image, assembled.sources.clone()));
            running::set_margin(&mut debugger, &mut self.margin, &self.margin_lines);
            self.before = Some(debugger.state().clone());
            self.debugger = Some(debugger);
        }
        self.debugger.as_mut().ok_or_else(no_machine)
    }

    fn view(&mut self, window: &Window) -> Result<String, Problem> {
        self.debugger()?;
        let Some(debugger) = &self.debugger else { return Err(no_machine()) };
        let shown = value(view::view(debugger, self.before.as_ref(), window));
        if window.settle {
            self.before = Some(debugger.state().clone());
        }
        shown
    }

    fn text(&self, pane: Pane) -> &str {
        match pane {
            Pane::Definition => &self.definition,
            Pane::Program => &self.program,
        }
    }

    // This function and the following ones are not inlined because opening the page does not need them
    // (`web/build/split.mjs`).
    #[inline(never)]
    fn reference(&mut self) -> Result<String, Problem> {
        value(self.machine.as_mut().ok_or_else(no_machine)?.sheet())
    }

    #[inline(never)]
    fn complete(&mut self, pane: Pane, at: usize) -> Vec<Suggested> {
        let at = Places::new(self.text(pane)).byte(at);
        let all = match (pane, &mut self.machine) {
            (Pane::Definition, _) => completion::definition(&self.definition, at),
            (Pane::Program, None) => completion::assembly(&self.program, at, None),
            (Pane::Program, Some(machine)) => completion::assembly(&self.program, at, Some(machine.sheet_and_words())),
        };
        let suggested = |one: completion::Suggestion| Suggested {
            kind: format!("{:?}", one.kind).to_lowercase(),
            label: one.label,
            detail: one.detail,
            template: one.template,
        };
        all.into_iter().map(suggested).collect()
    }

    /// Returns Markdown about a position, if there is something to say.
    #[inline(never)]
    fn hover(&mut self, pane: Pane, at: usize) -> Option<String> {
        let at = Places::new(self.text(pane)).byte(at);
        let Some(machine) = &mut self.machine else {
            return (pane == Pane::Definition).then(|| hover::definition(&self.definition, at, &Shipped, None))?;
        };
        let (sheet, words) = machine.sheet_and_words();
        match pane {
            Pane::Definition => hover::definition(&self.definition, at, &Shipped, Some(sheet)),
            Pane::Program => hover::assembly(&self.program, at, (sheet, words), self.assembled.as_ref(), || None),
        }
    }

    #[inline(never)]
    fn tidy(&self, pane: Pane) -> String {
        match pane {
            Pane::Definition => lathe_fmt::definition(&self.definition),
            Pane::Program => lathe_fmt::assembly(&self.program, self.machine.as_ref().map(|machine| &*machine.isa)),
        }
    }
}

fn no_machine() -> Problem {
    Problem::new("there is no machine yet").help("correct the errors of the definition first")
}
