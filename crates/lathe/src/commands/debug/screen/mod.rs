//! The debugger's screen: keys and mouse become commands of the debugger, its state becomes panes.
//!
//! `view.rs` draws, `prompt.rs` edits the command line. Nothing here knows what a command does.

mod prompt;
mod view;

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use crossterm::cursor::MoveTo;
use crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton,
    MouseEvent, MouseEventKind,
};
use crossterm::style::Print;
use crossterm::{execute as send, queue};
use lathe_debug::answer::{self, RegisterLine};
use lathe_debug::{Answer, Debugger, Host, command, execute};
use lathe_isa::model::MemoryId;

use super::super::Outcome;
use crate::exit::{Exit, Failure};
use crate::signals;
use prompt::Prompt;
use view::Areas;

/// The state of the screen.
pub(super) struct Screen<'s> {
    debugger: &'s mut Debugger,
    /// The program's file.
    name: String,
    prompt: Prompt,
    /// The debugger's answers, newest last.
    messages: Vec<(String, Kind)>,
    /// Registers at the stop before this one, to show what changed.
    before: Vec<RegisterLine>,
    /// What the memory pane showed then: memory and address, and the value.
    cells_before: HashMap<(usize, u64), u64>,
    /// Whether to show the source rather than the disassembly, where there is a source.
    shows_source: bool,
    /// The memory shown, and its first address.
    memory: (usize, u64),
    /// How many lines the code pane is scrolled by.
    scrolled: i64,
    /// Whether typed text is input for the program.
    gives_input: bool,
    shows_help: bool,
    areas: Areas,
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Typed,
    Answer,
    Problem,
}

/// How long a signal that ends the process may have to wait.
const PATIENCE: Duration = Duration::from_millis(200);
/// How many messages are kept.
const MESSAGES: usize = 1000;

/// Shows the debugger until the user leaves it, or the process is to end.
pub(super) fn run(debugger: &mut Debugger, name: &str) -> Outcome {
    signals::deferred(|| show(debugger, name))
}

fn show(debugger: &mut Debugger, name: &str) -> Outcome {
    let failed = |error: io::Error| Failure::input(format!("the terminal cannot be used: {error}"));
    // A panic on the way must not leave an unreadable terminal.
    let earlier = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |information| {
        restore();
        earlier(information);
    }));
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let _ = send!(io::stdout(), EnableMouseCapture);
    let name = crate::files::title(name).to_owned();
    let before = command::registers(debugger);
    let shows_source = !debugger.program().sources().is_empty();
    let mut screen = Screen {
        debugger,
        name,
        prompt: Prompt::default(),
        messages: vec![(WELCOME.to_owned(), Kind::Answer)],
        before,
        cells_before: HashMap::new(),
        shows_source,
        memory: (0, 0),
        scrolled: 0,
        gives_input: false,
        shows_help: false,
        areas: Areas::default(),
    };
    let done = screen.interact(&mut terminal);
    restore();
    let _ = std::panic::take_hook();
    done.map_err(failed)?;
    Ok(Exit::Done)
}

const WELCOME: &str = "→ steps, ← steps back, F5 runs, F6 runs back, F1 helps; or type a command";

fn restore() {
    let _ = send!(io::stdout(), DisableMouseCapture);
    ratatui::restore();
}

/// What to do after a key.
enum Next {
    Nothing,
    Leave,
}

impl Screen<'_> {
    fn interact(&mut self, terminal: &mut ratatui::DefaultTerminal) -> io::Result<()> {
        loop {
            terminal.draw(|frame| self.draw(frame))?;
            while !event::poll(PATIENCE)? {
                if signals::is_waiting() {
                    return Ok(());
                }
            }
            let next = match event::read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key),
                Event::Mouse(mouse) => self.mouse(mouse),
                _ => Next::Nothing,
            };
            if matches!(next, Next::Leave) {
                return Ok(());
            }
        }
    }

    fn key(&mut self, key: KeyEvent) -> Next {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let shift = key.modifiers.intersects(KeyModifiers::SHIFT | KeyModifiers::ALT);
        if std::mem::take(&mut self.shows_help) {
            return Next::Nothing;
        }
        let empty = self.prompt.is_empty() && !self.gives_input;
        match key.code {
            KeyCode::Char('d' | 'q') if control => return Next::Leave,
            KeyCode::Char('c') if control => {
                self.prompt.clear();
                self.gives_input = false;
            }
            KeyCode::Esc => {
                self.prompt.clear();
                self.gives_input = false;
            }
            KeyCode::F(1) => self.shows_help = true,
            KeyCode::F(2) => self.shows_source = !self.shows_source && !self.debugger.program().sources().is_empty(),
            KeyCode::F(3) => self.memory = ((self.memory.0 + 1) % self.debugger.program().isa().memories.len(), 0),
            KeyCode::F(5) if shift => return self.command("back run"),
            KeyCode::F(5) => return self.command("run"),
            KeyCode::F(6) => return self.command("back run"),
            KeyCode::F(7) => return self.command("back"),
            KeyCode::F(8) => return self.command("step"),
            KeyCode::F(9) => self.toggle(self.debugger.state().pc),
            KeyCode::F(10) if shift => return self.command("back over"),
            KeyCode::F(10) => return self.command("over"),
            KeyCode::F(11) if shift => return self.command("back out"),
            KeyCode::F(11) => return self.command("out"),
            KeyCode::F(12) => return self.command("back over"),
            KeyCode::Right if empty && shift => return self.command("over"),
            KeyCode::Left if empty && shift => return self.command("back over"),
            KeyCode::Right if empty => return self.command("step"),
            KeyCode::Left if empty => return self.command("back"),
            KeyCode::PageDown => self.scrolled += 10,
            KeyCode::PageUp => self.scrolled -= 10,
            KeyCode::Tab => self.prompt.complete(|line| command::complete(self.debugger, line)),
            KeyCode::Enter => return self.enter(),
            KeyCode::Up => self.prompt.earlier(),
            KeyCode::Down => self.prompt.later(),
            code => self.prompt.edit(code, control),
        }
        Next::Nothing
    }

    fn enter(&mut self) -> Next {
        if self.gives_input {
            let text = self.prompt.take() + "\n";
            self.gives_input = false;
            self.debugger.give_input(text.as_bytes());
            return self.command("run");
        }
        // An empty line repeats the last command, as gdb users expect.
        let line = match self.prompt.take() {
            line if line.trim().is_empty() => self.prompt.last().unwrap_or_default(),
            line => line,
        };
        if line.trim().is_empty() {
            return Next::Nothing;
        }
        self.prompt.remember(&line);
        self.command(&line)
    }

    /// Executes a command and keeps its answer.
    fn command(&mut self, line: &str) -> Next {
        let (before, cells) = (command::registers(self.debugger), self.shown_cells());
        self.say(format!("> {line}"), Kind::Typed);
        let mut keyboard = Keyboard { asked: 0 };
        match execute(self.debugger, line, &mut keyboard) {
            Ok(Answer::Quit) => return Next::Leave,
            Ok(answer) => {
                if let Answer::Save { file, session } = &answer
                    && let Err(problem) = super::save(file, session)
                {
                    self.say(problem.to_string(), Kind::Problem);
                    return Next::Nothing;
                }
                if let Answer::Stopped(report) = &answer {
                    (self.before, self.cells_before) = (before, cells);
                    self.scrolled = 0;
                    self.gives_input = report.reason == "waiting";
                }
                if let Answer::Memory { memory, address, .. } = &answer {
                    self.show_memory(memory, *address);
                }
                self.say(said(&answer), Kind::Answer);
            }
            Err(problem) => self.say(problem.to_string(), Kind::Problem),
        }
        Next::Nothing
    }

    /// Returns the cells in the memory pane.
    fn shown_cells(&self) -> HashMap<(usize, u64), u64> {
        let at = self.memory.0;
        let memory = self.debugger.state().memory(MemoryId(at as u32));
        self.areas.cells.iter().map(|address| ((at, *address), memory.get(*address))).collect()
    }

    /// Makes the memory pane begin at an address.
    fn show_memory(&mut self, name: &str, address: u64) {
        if let Some(at) = self.debugger.program().isa().memories.iter().position(|memory| memory.name == name) {
            self.memory = (at, address);
        }
    }

    /// Scrolls the memory pane by this many rows.
    fn scroll_memory(&mut self, rows: i64) {
        let (at, start) = self.memory;
        let last = self.debugger.program().isa().memories[at].last() - (self.areas.cells_per_row.max(1) - 1);
        let by = rows.saturating_mul(self.areas.cells_per_row as i64);
        self.memory.1 = start.saturating_add_signed(by).min(last);
    }

    fn say(&mut self, text: String, kind: Kind) {
        self.messages.extend(text.lines().map(|line| (line.to_owned(), kind)));
        let extra = self.messages.len().saturating_sub(MESSAGES);
        self.messages.drain(..extra);
    }

    /// Sets a breakpoint at an address, or removes the one there.
    fn toggle(&mut self, address: u64) {
        let line = match self.debugger.breakpoint_at(address) {
            Some(breakpoint) => format!("delete {}", breakpoint.id),
            None => format!("break {address:#x}"),
        };
        self.command(&line);
    }

    fn mouse(&mut self, mouse: MouseEvent) -> Next {
        let (x, y) = (mouse.column, mouse.row);
        match mouse.kind {
            MouseEventKind::ScrollDown if self.areas.is_memory(x, y) => self.scroll_memory(3),
            MouseEventKind::ScrollUp if self.areas.is_memory(x, y) => self.scroll_memory(-3),
            MouseEventKind::ScrollDown => self.scrolled += 3,
            MouseEventKind::ScrollUp => self.scrolled -= 3,
            MouseEventKind::Down(MouseButton::Left) => {
                if let Some(address) = self.areas.code_at(x, y) {
                    self.toggle(address);
                } else if let Some(share) = self.areas.timeline_at(x, y) {
                    let target = (self.debugger.history().end() as f64 * share) as u64;
                    return self.command(&format!("goto {target}"));
                }
            }
            _ => {}
        }
        Next::Nothing
    }
}

/// Polls the keyboard while a program runs.
struct Keyboard {
    asked: u32,
}

impl Host for Keyboard {
    fn goes_on(&mut self) -> bool {
        if signals::is_waiting() {
            return false;
        }
        self.asked += 1;
        if self.asked == 20 {
            let (_, height) = crossterm::terminal::size().unwrap_or((80, 24));
            let mut out = io::stdout();
            let _ = queue!(out, MoveTo(1, height.saturating_sub(1)), Print(" running; Esc or Ctrl-C pauses "));
            let _ = out.flush();
        }
        while event::poll(Duration::ZERO).unwrap_or(false) {
            if let Ok(Event::Key(key)) = event::read() {
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                if key.code == KeyCode::Esc || key.code == KeyCode::Char('c') && control {
                    return false;
                }
            }
        }
        true
    }
}

/// Renders an answer for this screen. For a stop, what other panes show is left out: changed registers, and the place
/// in the source.
fn said(answer: &Answer) -> String {
    let Answer::Stopped(report) = answer else { return answer.to_string() };
    let (place, text) = (answer::place(&report.line.place), &report.line.text);
    format!("{}step {}  {place}  {text}", report.happened(), report.step)
}
