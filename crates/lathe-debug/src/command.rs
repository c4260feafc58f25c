//! The command language: what people type, the same in every face. `docs/debugging.md` is its reference, and a test
//! runs its examples.

use std::ops::RangeInclusive;

use lathe_base::nearest;
use lathe_isa::model::MemoryId;
use lathe_vm::Display;

use crate::answer::{self, Answer, BreakpointLine, RegisterLine, StopReport};
use crate::breakpoints::{Breakpoint, CellAccess, Effect, Trigger, What};
use crate::debugger::{Debugger, Host, Reason, Stopped};
use crate::plan::{Hit, INTERNAL, can_remember};
use crate::program::number;
use crate::text::{changed, printable, unescape};
use crate::{Problem, session};

/// How many instructions a profile covers by default.
const PROFILED: u64 = 2_000_000;
/// The most cells shown at once.
const SHOWN: u64 = 4096;

/// One command of the language, for help and completion.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The command's name.
    pub name: &'static str,
    /// Short forms, and names familiar from other debuggers.
    pub short: &'static [&'static str],
    /// Its syntax.
    pub usage: &'static str,
    /// What it does.
    pub about: &'static str,
}

const fn entry(name: &'static str, short: &'static [&'static str], usage: &'static str, about: &'static str) -> Entry {
    Entry { name, short, usage, about }
}

/// All commands, in the order of the help.
#[rustfmt::skip]
pub const COMMANDS: &[Entry] = &[
    entry("step",        &["s", "si", "stepi"],           "step [N]",                "execute N instructions"),
    entry("over",        &["n", "ni", "next", "nexti"],   "over [N]",                "like step, but a call runs until it has returned"),
    entry("out",         &["finish", "fin"],              "out",                     "run until this routine has returned"),
    entry("run",         &["c", "r", "continue"],         "run",                     "run until something stops it"),
    entry("to",          &["advance", "until"],           "to PLACE | to EXPR",      "run to a place, or until an expression becomes true"),
    entry("back",        &["rs", "rsi", "reverse-step"],  "back [N|over|out|run]",   "the same backwards: N instructions, over a call, out of it, to the last breakpoint"),
    entry("goto",        &["g"],                          "goto STEP|start|end",     "go to a step of the history"),
    entry("who",         &[],                             "who wrote X | who printed [\"TEXT\"]", "go back to the instruction that wrote X last, or printed TEXT"),
    entry("when",        &[],                             "when EXPR",               "go back to where EXPR became true"),
    entry("break",       &["b", "br"],                    "break PLACE [if EXPR] [log \"TEXT\"]", "stop at a place; `break on output|undefined|call|MNEMONIC` stops there"),
    entry("tbreak",      &["tb"],                         "tbreak PLACE [if EXPR]",  "stop there once"),
    entry("watch",       &["w"],                          "watch [reads|writes|accesses] X [if EXPR]", "stop when X changes: a register, ram[0x20], ram[0x20..0x2F], an expression"),
    entry("breakpoints", &["info", "bl"],                 "breakpoints",             "list breakpoints and watches"),
    entry("delete",      &["d", "clear"],                 "delete [N]",              "delete breakpoint N, or all"),
    entry("enable",      &[],                             "enable N",                "enable breakpoint N"),
    entry("disable",     &[],                             "disable N",               "disable breakpoint N"),
    entry("ignore",      &[],                             "ignore N COUNT",          "ignore the next COUNT hits of breakpoint N"),
    entry("print",       &["p"],                          "print EXPR",              "the value of an expression"),
    entry("set",         &[],                             "set X = EXPR",            "change a register, a cell or pc; the history forks here"),
    entry("registers",   &["regs", "reg"],                "registers",               "all registers"),
    entry("memory",      &["x", "m"],                     "memory ram[ADDRESS] [N]", "show N cells"),
    entry("list",        &["l"],                          "list [PLACE]",            "the source around here"),
    entry("disassemble", &["dis", "u"],                   "disassemble [PLACE] [N]", "N instructions from a place"),
    entry("where",       &["."],                          "where",                   "where the machine is"),
    entry("stack",       &["bt", "backtrace"],            "stack",                   "calls that have not returned"),
    entry("trace",       &["t"],                          "trace [N] [if EXPR]",     "the last N instructions that were executed"),
    entry("profile",     &[],                             "profile [N]",             "how often instructions were executed in the last N steps"),
    entry("coverage",    &[],                             "coverage [N]",            "which source lines were executed in the last N steps"),
    entry("input",       &[],                             "input \"TEXT\" | input end", "give the console something to read"),
    entry("output",      &[],                             "output",                  "the program's output so far"),
    entry("display",     &[],                             "display",                 "the display"),
    entry("key",         &[],                             "key N [up]",              "press or release a key of the keypad"),
    entry("history",     &[],                             "history [memory MIB]",    "how far the history goes, what it costs, and the memory it may take"),
    entry("save",        &[],                             "save FILE",               "save the session: program, input, position, breakpoints"),
    entry("restart",     &[],                             "restart",                 "go to the beginning and forget the history; breakpoints stay"),
    entry("help",        &["h", "?"],                     "help [COMMAND]",          "this list, or more about one command"),
    entry("quit",        &["q", "exit"],                  "quit",                    "leave"),
];

/// Short forms that expand to several words.
const PHRASES: [(&str, &str); 10] = [
    ("rn", "back over"),
    ("rni", "back over"),
    ("reverse-next", "back over"),
    ("rf", "back out"),
    ("reverse-finish", "back out"),
    ("rc", "back run"),
    ("reverse-continue", "back run"),
    ("rwatch", "watch reads"),
    ("awatch", "watch accesses"),
    ("where-am-i", "where"),
];

/// A command and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The full name.
    pub name: &'static str,
    /// The arguments.
    pub rest: String,
}

/// Parses a command. An assignment such as `a = 3` counts as `set`.
///
/// # Errors
/// If there is no such command.
pub fn parse(line: &str) -> Result<Command, Problem> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if let Some((_, phrase)) = PHRASES.iter().find(|(short, _)| *short == word) {
        return parse(&format!("{phrase} {rest}"));
    }
    let exact = COMMANDS.iter().find(|entry| entry.name == word || entry.short.contains(&word));
    let mut beginning = COMMANDS.iter().filter(|entry| !word.is_empty() && entry.name.starts_with(word));
    let unique = beginning.next().filter(|_| beginning.next().is_none());
    match exact.or(unique) {
        Some(_) if rest.starts_with('=') && !rest.starts_with("==") => assignment(line),
        Some(entry) => Ok(Command { name: entry.name, rest: rest.to_owned() }),
        None if is_assignment(line) => assignment(line),
        None => {
            let near = nearest(word, COMMANDS.iter().map(|entry| entry.name));
            Err(Problem::new(format!("there is no command `{word}`")).help(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`help` lists the commands".to_owned(),
            }))
        }
    }
}

fn assignment(line: &str) -> Result<Command, Problem> {
    Ok(Command { name: "set", rest: line.to_owned() })
}

fn is_assignment(line: &str) -> bool {
    let Some((left, right)) = line.split_once('=') else { return false };
    !left.ends_with(['=', '!', '<', '>']) && !right.starts_with('=') && !left.trim().is_empty()
}

/// Completes the text before the cursor; returns whole lines.
pub fn complete(debugger: &Debugger, line: &str) -> Vec<String> {
    let (before, word) = match line.rfind(|c: char| c.is_whitespace() || matches!(c, '[' | '(' | '+' | '=')) {
        Some(at) => line.split_at(at + line[at..].chars().next().map_or(1, char::len_utf8)),
        None => ("", line),
    };
    let isa = debugger.program().isa();
    let mut words: Vec<String> = match before.is_empty() {
        true => COMMANDS.iter().map(|entry| entry.name.to_owned()).collect(),
        false => {
            let registers = isa.registers.iter().map(|register| register.name.clone());
            let views = isa.views.iter().map(|view| view.name.clone());
            let memories = isa.memories.iter().map(|memory| memory.name.clone());
            let labels = debugger.program().image().symbols.iter().map(|symbol| symbol.name.clone());
            labels.chain(registers).chain(views).chain(memories).chain([isa.pc.name.clone()]).collect()
        }
    };
    words.retain(|known| known.starts_with(word) && !known.contains('@'));
    words.sort();
    words.dedup();
    words.into_iter().map(|word| format!("{before}{word}")).collect()
}

/// Executes a command line.
///
/// # Errors
/// If the line cannot be understood or carried out; nothing has changed then.
pub fn execute(debugger: &mut Debugger, line: &str, host: &mut dyn Host) -> Result<Answer, Problem> {
    let command = parse(line)?;
    Executor { debugger, host }.execute(&command)
}

struct Executor<'e> {
    debugger: &'e mut Debugger,
    host: &'e mut dyn Host,
}

/// Records what a run reports, and passes it on.
struct Noting<'n> {
    host: &'n mut dyn Host,
    output: Vec<u8>,
    log: Vec<String>,
}

/// The most log lines and the most output bytes kept for an answer.
const NOTED: usize = 4096;

impl Host for Noting<'_> {
    fn goes_on(&mut self) -> bool {
        self.host.goes_on()
    }

    fn log(&mut self, text: &str) {
        self.host.log(text);
        if self.log.len() < NOTED {
            self.log.push(text.to_owned());
        }
    }

    fn output(&mut self, bytes: &[u8]) {
        self.host.output(bytes);
        let room = NOTED.saturating_sub(self.output.len());
        self.output.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

type Move<'m> = &'m mut dyn FnMut(&mut Debugger, &mut dyn Host) -> Result<Stopped, Problem>;

impl Executor<'_> {
    fn execute(&mut self, command: &Command) -> Result<Answer, Problem> {
        let rest = command.rest.as_str();
        match command.name {
            "step" => {
                let count = count(rest, 1)?;
                self.go(&mut |debugger, host| debugger.step(count, host))
            }
            "over" => {
                let count = count(rest, 1)?;
                self.go(&mut |debugger, host| repeat(count, debugger, host, Debugger::over))
            }
            "out" => self.go(&mut Debugger::out),
            "run" => self.go(&mut Debugger::run),
            "to" => {
                let what = self.place_or_condition(rest)?;
                self.go(&mut |debugger, host| debugger.run_to(&what, host))
            }
            "back" => self.back(rest),
            "goto" => self.goto(rest),
            "when" => {
                let what = What::Becomes(self.debugger.compile(rest)?);
                self.go(&mut |debugger, host| debugger.back_to(&what, host))
            }
            "who" => self.who(rest),
            "break" => self.breakpoint(rest, Effect::Stop),
            "tbreak" => self.breakpoint(rest, Effect::StopOnce),
            "watch" => self.watch(rest),
            "breakpoints" => self.breakpoints(rest),
            "delete" => self.delete(rest),
            "enable" => self.change(rest, |breakpoint, _| breakpoint.enabled = true),
            "disable" => self.change(rest, |breakpoint, _| breakpoint.enabled = false),
            "ignore" => self.change(rest, |breakpoint, count| breakpoint.ignore = count),
            "print" => {
                let value = self.debugger.evaluate(rest)?;
                Ok(Answer::Value { expression: rest.to_owned(), value })
            }
            "set" => self.set(rest),
            "registers" => Ok(Answer::Registers { list: registers(self.debugger) }),
            "memory" => self.memory(rest),
            "list" => self.list(rest),
            "disassemble" => self.disassemble(rest),
            "where" => Ok(self.here()),
            "stack" => {
                let (calls, cut) = self.debugger.call_lines(self.host)?;
                Ok(Answer::Stack { calls, cut })
            }
            "trace" => {
                let (number, condition) = split_condition(rest);
                let count = count(number, 20)?;
                Ok(Answer::Trace { lines: self.debugger.trace(count.min(100_000), condition, self.host)? })
            }
            "profile" => Ok(Answer::Profile(self.debugger.profile(count(rest, PROFILED)?, self.host)?)),
            "coverage" => Ok(Answer::Coverage(self.debugger.coverage(count(rest, PROFILED)?, self.host)?)),
            "input" => self.input(rest),
            "output" => {
                let (dropped, bytes) = self.debugger.output();
                Ok(Answer::Output { text: printable(bytes), dropped })
            }
            "display" => self.display(),
            "key" => self.key(rest),
            "history" => self.history(rest),
            "save" => self.save(rest),
            "restart" => self.restart(),
            "help" => help(rest),
            _ => Ok(Answer::Quit),
        }
    }

    /// Moves, and reports the result.
    fn go(&mut self, way: Move) -> Result<Answer, Problem> {
        let before = registers(self.debugger);
        let mut host = Noting { host: self.host, output: Vec::new(), log: Vec::new() };
        let stopped = way(self.debugger, &mut host)?;
        let (output, log) = (printable(&host.output), host.log);
        Ok(self.report(&stopped, &before, output, log))
    }

    fn report(&self, stopped: &Stopped, before: &[RegisterLine], output: String, log: Vec<String>) -> Answer {
        let debugger = &self.debugger;
        let now = registers(debugger);
        let changes = now.iter().zip(before).filter(|(now, before)| now.value != before.value);
        let changes = changes.filter(|(now, _)| now.name != debugger.program().isa().pc.name);
        let changes = changes.map(|(now, before)| changed(&now.name, before.value, now.value, now.bits)).collect();
        let line = debugger.program().line(debugger.state(), debugger.state().pc);
        let (reason, message) = explain(debugger, &stopped.reason);
        let hits = stopped.reason.hits().to_vec();
        let (step, from) = (stopped.position, stopped.from);
        Answer::Stopped(StopReport { reason, message, hits, step, from, line, changes, output, log })
    }

    fn here(&self) -> Answer {
        let position = self.debugger.position();
        let stopped = Stopped { reason: Reason::Done, from: position, position };
        let before = registers(self.debugger);
        self.report(&stopped, &before, String::new(), Vec::new())
    }

    fn back(&mut self, rest: &str) -> Result<Answer, Problem> {
        let (word, times) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "over" => {
                let count = count(times, 1)?;
                self.go(&mut |debugger, host| repeat(count, debugger, host, Debugger::back_over))
            }
            "out" => self.go(&mut Debugger::back_out),
            "run" | "continue" => self.go(&mut Debugger::run_back),
            _ => {
                let count = count(rest, 1)?;
                self.go(&mut |debugger, host| debugger.back(count, host))
            }
        }
    }

    fn goto(&mut self, rest: &str) -> Result<Answer, Problem> {
        let end = self.debugger.history().end;
        let target = match rest {
            "start" => 0,
            "end" => end,
            _ => number(rest).ok_or_else(|| {
                Problem::new("a step is missing")
                    .help("write `goto 100`, `goto start` or `goto end`; `to PLACE` runs to a place")
            })?,
        };
        self.go(&mut |debugger, _| {
            let from = debugger.position();
            debugger.go_to(target)?;
            Ok(Stopped { reason: Reason::Done, from, position: target })
        })
    }

    fn who(&mut self, rest: &str) -> Result<Answer, Problem> {
        let (word, what) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match word {
            "wrote" | "changed" => self.who_wrote(what.trim()),
            "printed" | "wrote-output" => self.who_printed(what.trim()),
            _ => Err(Problem::new(format!("`who {rest}` cannot be answered"))
                .help("ask `who wrote ram[0x20]`, `who wrote a` or `who printed \"x\"`")),
        }
    }

    fn who_wrote(&mut self, what: &str) -> Result<Answer, Problem> {
        if let Some((memory, addresses)) = self.cells(what)? {
            let what = What::Cells { memory, addresses, access: CellAccess::Write };
            return self.go(&mut |debugger, host| debugger.who_wrote(&what, host));
        }
        let isa = self.debugger.program().isa().clone();
        let Some(place) = isa.place_named(what) else {
            return Err(Problem::new(format!("`{what}` is neither a register nor a memory cell"))
                .help("ask for a register by its name, or for a cell such as ram[0x20]"));
        };
        let registers: Vec<u32> = place.parts.iter().map(|part| part.register.0).collect();
        let traced = self.debugger.who_wrote_register(&registers, self.host)?;
        let answer = self.go(&mut |debugger, _| {
            let from = debugger.position();
            debugger.go_to(traced.step)?;
            Ok(Stopped { reason: Reason::Done, from, position: traced.step })
        })?;
        Ok(with_message(answer, format!("this instruction wrote {what}: {}", traced.changes.join(", "))))
    }

    fn who_printed(&mut self, what: &str) -> Result<Answer, Problem> {
        let (dropped, bytes) = self.debugger.output();
        let byte = match quoted(what)? {
            None => (dropped + bytes.len() as u64).checked_sub(1),
            Some(text) => {
                let found = bytes.windows(text.len().max(1)).rposition(|window| window == text);
                Some(found.map(|at| dropped + at as u64).ok_or_else(|| {
                    Problem::new(format!("the program has not written \"{}\" by now", printable(&text)))
                        .help("`output` shows what it has written")
                })?)
            }
        };
        let byte = byte.ok_or_else(|| Problem::new("the program has written nothing by now"))?;
        let answer = self.go(&mut |debugger, _| debugger.who_printed(byte))?;
        Ok(with_message(answer, format!("this instruction wrote byte {byte} of the output")))
    }

    fn place_or_condition(&self, rest: &str) -> Result<What, Problem> {
        match self.debugger.program().find(rest) {
            Ok(addresses) => Ok(What::At(addresses)),
            // What looks like a condition is one; for everything else, "no such place" is the better message.
            Err(problem) if rest.contains(['=', '<', '>', '(', '[', '&', '|', '!']) => self
                .debugger
                .compile(rest)
                .map(What::Becomes)
                .map_err(|found| if rest.contains(':') { problem } else { found }),
            Err(problem) => Err(problem),
        }
    }

    fn breakpoint(&mut self, rest: &str, effect: Effect) -> Result<Answer, Problem> {
        let (rest, effect) = match rest.split_once(" log ") {
            Some((rest, text)) => (rest, Effect::Log(text.trim().trim_matches('"').to_owned())),
            None => (rest, effect),
        };
        let (place, condition) = split_condition(rest);
        let what = match place.strip_prefix("on ") {
            Some(event) => What::On(self.event(event.trim())?),
            None if place.is_empty() => What::At(vec![self.debugger.state().pc]),
            None => What::At(self.debugger.program().find(place)?),
        };
        let id = self.debugger.add(place, what, condition, effect)?;
        self.added(id)
    }

    fn event(&self, name: &str) -> Result<Trigger, Problem> {
        let isa = self.debugger.program().isa();
        match name {
            "output" => Ok(Trigger::Output),
            "undefined" | "trap" | "illegal" => Ok(Trigger::Undefined),
            "call" if !isa.instructions.iter().any(|row| row.syntax.mnemonic() == "call") => Ok(Trigger::Call),
            "calls" => Ok(Trigger::Call),
            _ if isa.instructions.iter().any(|row| row.syntax.mnemonic().eq_ignore_ascii_case(name)) => {
                Ok(Trigger::Instruction(name.to_owned()))
            }
            "fault" | "halt" => Err(Problem::new(format!("the machine always stops on a {name}"))),
            _ => {
                let mnemonics = isa.instructions.iter().map(|row| row.syntax.mnemonic());
                let known = mnemonics.chain(["output", "undefined", "calls"]);
                let near = nearest(name, known).map(|near| format!("did you mean `{near}`?"));
                let help = near.unwrap_or("say output, undefined, calls, or a mnemonic".to_owned());
                Err(Problem::new(format!("nothing that stops is called `{name}`")).help(help))
            }
        }
    }

    fn watch(&mut self, rest: &str) -> Result<Answer, Problem> {
        let (rest, condition) = split_condition(rest);
        let kinds = [
            ("reads ", CellAccess::Read),
            ("writes ", CellAccess::Write),
            ("accesses ", CellAccess::Any),
            ("changes ", CellAccess::Change),
        ];
        let kind = kinds.iter().find_map(|(word, access)| Some((rest.strip_prefix(word)?.trim(), Some(*access))));
        let (text, access) = kind.unwrap_or((rest, None));
        let what = match (self.cells(text)?, access) {
            (Some((memory, addresses)), access) => {
                let access = access.unwrap_or(CellAccess::Change);
                if access == CellAccess::Change && !can_remember(&addresses) {
                    let problem = Problem::new("these are too many cells to tell whether they changed");
                    return Err(problem.help("watch at most 65536 cells, or `watch writes`"));
                }
                What::Cells { memory, addresses, access }
            }
            (None, None | Some(CellAccess::Change)) => What::Changes(self.debugger.compile(text)?),
            (None, Some(access)) => {
                let message = format!("{} `{text}` cannot be watched, only changes", access.name());
                return Err(Problem::new(message).help("reads and writes can be watched for cells such as ram[0x20]"));
            }
        };
        let id = self.debugger.add(text, what, condition, Effect::Stop)?;
        self.added(id)
    }

    fn added(&self, id: u32) -> Result<Answer, Problem> {
        let breakpoint = self.debugger.breakpoints.get(id).expect("it was just added");
        Ok(Answer::Breakpoint(describe(self.debugger, breakpoint)))
    }

    /// Parses cells such as `ram[0x20]` or `ram[table..table+7]`; the addresses are evaluated now.
    fn cells(&mut self, text: &str) -> Result<Option<(MemoryId, RangeInclusive<u64>)>, Problem> {
        let Some((name, inside)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) else {
            return Ok(None);
        };
        let isa = self.debugger.program().isa().clone();
        let Some(memory) = isa.memory_named(name.trim()) else { return Ok(None) };
        let (first, last) = inside.split_once("..").unwrap_or((inside, inside));
        let width = isa.memory(memory).address;
        let (first, last) = (self.debugger.evaluate(first)?.value, self.debugger.evaluate(last)?.value);
        if first > last || !width.holds(last) {
            let message = format!("`{}` has no cells `{text}`", isa.memory(memory).name);
            return Err(
                Problem::new(message).help(format!("addresses go up to {:#x}, the lower one first", width.mask()))
            );
        }
        Ok(Some((memory, first..=last)))
    }

    fn breakpoints(&self, rest: &str) -> Result<Answer, Problem> {
        match rest {
            "registers" | "r" => return Ok(Answer::Registers { list: registers(self.debugger) }),
            _ => {}
        }
        let list = self.debugger.breakpoints.all().iter().map(|known| describe(self.debugger, known)).collect();
        Ok(Answer::Breakpoints { list })
    }

    fn delete(&mut self, rest: &str) -> Result<Answer, Problem> {
        if rest.is_empty() {
            self.debugger.breakpoints.clear();
            return Ok(Answer::Text { text: "all breakpoints are gone".to_owned() });
        }
        let id = self.number_of(rest)?;
        self.debugger.breakpoints.remove(id);
        Ok(Answer::Text { text: format!("breakpoint {id} is gone") })
    }

    fn number_of(&self, text: &str) -> Result<u32, Problem> {
        let id = text.trim().parse().ok().filter(|id| self.debugger.breakpoints.get(*id).is_some());
        id.ok_or_else(|| Problem::new(format!("there is no breakpoint `{text}`")).help("`breakpoints` lists them"))
    }

    fn change(&mut self, rest: &str, change: impl Fn(&mut Breakpoint, u64)) -> Result<Answer, Problem> {
        let (id, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, "0"));
        let (id, value) = (self.number_of(id)?, count(value, 0)?);
        if let Some(breakpoint) = self.debugger.breakpoints.get_mut(id) {
            change(breakpoint, value);
        }
        self.added(id)
    }

    fn set(&mut self, rest: &str) -> Result<Answer, Problem> {
        if rest.is_empty() {
            return Err(Problem::new("what is to be set is missing").help("write `set a = 3` or `set ram[0x20] = 1`"));
        }
        let forgets = self.debugger.history().end > self.debugger.position();
        self.debugger.set(rest)?;
        let note = if forgets { "; what came after this step is forgotten" } else { "" };
        Ok(Answer::Text { text: format!("set {}{note}", rest.trim_end_matches(';')) })
    }

    fn memory(&mut self, rest: &str) -> Result<Answer, Problem> {
        let isa = self.debugger.program().isa().clone();
        let (text, cells) = match rest.rfind(']') {
            Some(at) => (rest[..=at].trim(), rest[at + 1..].trim()),
            None => rest.rsplit_once(' ').unwrap_or((rest, "")),
        };
        let (memory, addresses) = match self.cells(text)? {
            Some(found) => found,
            None if text.is_empty() => (isa.pc.memory, 0..=0),
            None => match isa.memory_named(text) {
                Some(memory) => (memory, 0..=0),
                None => {
                    let address = self.debugger.evaluate(text)?.value;
                    (isa.pc.memory, address..=address)
                }
            },
        };
        let described = isa.memory(memory);
        let (first, last) = (*addresses.start(), *addresses.end());
        let wanted = if last > first { (last - first).saturating_add(1) } else { count(cells, 64)? };
        let length = wanted.clamp(1, SHOWN).min((described.last() - first.min(described.last())).saturating_add(1));
        let cells = (0..length).map(|at| self.debugger.state().memory(memory).get(first.wrapping_add(at))).collect();
        Ok(Answer::Memory {
            memory: described.name.clone(),
            address: first,
            address_bits: described.address.bits(),
            cell_bits: described.cell.bits(),
            cells,
        })
    }

    fn list(&mut self, rest: &str) -> Result<Answer, Problem> {
        let program = self.debugger.program();
        let address = match rest {
            "" => self.debugger.state().pc,
            place => *program.find(place)?.first().unwrap_or(&0),
        };
        let Some(line) = program.source_line(address) else { return self.disassemble(rest) };
        let current = program.source_line(self.debugger.state().pc).filter(|here| here.source == line.source);
        let lines =
            program.sources()[line.source].text.lines().zip(1..).map(|(text, number)| (number, text.to_owned()));
        let near = lines.filter(|(number, _)| line.line.abs_diff(*number) <= 5);
        Ok(Answer::Source { file: line.file, current: current.map(|here| here.line), lines: near.collect() })
    }

    fn disassemble(&mut self, rest: &str) -> Result<Answer, Problem> {
        let (place, number) = match rest.rsplit_once(' ') {
            Some((place, count)) => (place, count),
            None if number(rest).is_some_and(|count| count < 1000) => ("", rest),
            None => (rest, ""),
        };
        let pc = self.debugger.state().pc;
        let address = if place.is_empty() { pc } else { *self.debugger.program().find(place)?.first().unwrap_or(&pc) };
        let lines = code_from(self.debugger, address, count(number, 10)?.min(1000));
        Ok(Answer::Code { pc, lines })
    }

    fn input(&mut self, rest: &str) -> Result<Answer, Problem> {
        let isa = self.debugger.program().isa();
        if self.debugger.instance().devices().find_console().is_none() {
            return Err(Problem::new(format!("{} has no console", isa.name)));
        }
        if rest == "end" {
            self.debugger.end_input();
            return Ok(Answer::Text { text: "the input ends here".to_owned() });
        }
        let Some(bytes) = quoted(rest)? else {
            return Err(Problem::new("the input is missing").help("write `input \"text\\n\"` or `input end`"));
        };
        self.debugger.give_input(&bytes);
        Ok(Answer::Text { text: format!("{} bytes to read", bytes.len()) })
    }

    fn display(&self) -> Result<Answer, Problem> {
        let display = self.debugger.instance().devices().find::<Display>();
        let display = display.ok_or_else(|| Problem::new("this machine has no display"))?;
        Ok(Answer::Display { rows: display.text().lines().map(str::to_owned).collect() })
    }

    fn key(&mut self, rest: &str) -> Result<Answer, Problem> {
        let (key, way) = rest.split_once(' ').unwrap_or((rest, "down"));
        let key = u32::from_str_radix(key.trim_start_matches("0x"), 16);
        let key = key.map_err(|_| Problem::new("a key is missing").help("write `key 5` or `key 5 up`"))?;
        self.debugger.set_key(key, way.trim() != "up")?;
        Ok(Answer::Text { text: format!("key {key:X} is {}", if way.trim() == "up" { "up" } else { "down" }) })
    }

    fn history(&mut self, rest: &str) -> Result<Answer, Problem> {
        if let Some(size) = rest.strip_prefix("memory") {
            self.debugger.set_memory(count(size.trim(), 256)?.saturating_mul(1 << 20));
        }
        let position = self.debugger.position();
        let history = self.debugger.history();
        let (snapshots, bytes) = history.size();
        let (end, limit, events) = (history.end, history.limit(), history.events().len());
        Ok(Answer::History { position, end, snapshots, bytes, limit, events })
    }

    fn save(&mut self, rest: &str) -> Result<Answer, Problem> {
        if rest.is_empty() {
            return Err(Problem::new("a file is missing").help("write `save FILE`"));
        }
        Ok(Answer::Save { file: rest.to_owned(), session: session::write(self.debugger) })
    }

    fn restart(&mut self) -> Result<Answer, Problem> {
        self.debugger.restart()?;
        Ok(self.here())
    }
}

fn repeat(
    count: u64,
    debugger: &mut Debugger,
    host: &mut dyn Host,
    way: fn(&mut Debugger, &mut dyn Host) -> Result<Stopped, Problem>,
) -> Result<Stopped, Problem> {
    let from = debugger.position();
    let mut stopped = way(debugger, host)?;
    for _ in 1..count {
        if stopped.reason != Reason::Done {
            break;
        }
        stopped = way(debugger, host)?;
    }
    Ok(Stopped { from, ..stopped })
}

/// Returns `count` instructions starting at an address.
pub fn code_from(debugger: &Debugger, address: u64, count: u64) -> Vec<crate::program::Line> {
    let mut at = address;
    let lines = (0..count).map(|_| {
        let line = debugger.program().line(debugger.state(), at);
        at = debugger.program().isa().pc.width.wrap(at.wrapping_add(line.length));
        line
    });
    lines.collect()
}

/// Returns the program counter and the registers, without constant ones.
pub fn registers(debugger: &Debugger) -> Vec<RegisterLine> {
    let isa = debugger.program().isa();
    let state = debugger.state();
    let pc = RegisterLine { name: isa.pc.name.clone(), value: state.pc, bits: isa.pc.width.bits() };
    let listed = isa.registers.iter().zip(state.registers()).filter(|(register, _)| !register.constant);
    let register = |(register, value): (&lathe_isa::model::Register, &u64)| RegisterLine {
        name: register.name.clone(),
        value: *value,
        bits: register.width.bits(),
    };
    std::iter::once(pc).chain(listed.map(register)).collect()
}

/// Describes a breakpoint in words.
pub fn describe(debugger: &Debugger, breakpoint: &Breakpoint) -> BreakpointLine {
    let program = debugger.program();
    let isa = program.isa();
    let each = "looks at every instruction";
    let (what, cost) = match &breakpoint.what {
        What::At(addresses) => {
            let places: Vec<String> = addresses.iter().take(4).map(|at| answer::place(&program.place(*at))).collect();
            let more = if addresses.len() > 4 { format!(" and {} more", addresses.len() - 4) } else { String::new() };
            let line = addresses.first().and_then(|at| program.source_line(*at));
            let line = line.map(|line| format!(", {}:{}", line.file, line.line)).unwrap_or_default();
            (format!("break at {}{more}{line}", places.join(", ")), None)
        }
        What::Cells { access, .. } => (format!("watch {} {}", access.name(), breakpoint.text), None),
        What::Changes(expression) => (format!("watch changes of {}", expression.text), Some(each)),
        What::Becomes(expression) => (format!("stop when {}", expression.text), Some(each)),
        What::On(Trigger::Output) => ("break on output".to_owned(), None),
        What::On(Trigger::Undefined) => ("break on undefined encodings".to_owned(), Some(each)),
        What::On(Trigger::Call) => ("break on calls".to_owned(), Some(each)),
        What::On(Trigger::Instruction(name)) => (format!("break on {name} ({})", isa.name), Some(each)),
    };
    BreakpointLine {
        id: breakpoint.id,
        what,
        condition: breakpoint.condition.as_ref().map(|condition| condition.text.clone()),
        log: match &breakpoint.effect {
            Effect::Log(text) => Some(text.clone()),
            _ => None,
        },
        temporary: breakpoint.effect == Effect::StopOnce,
        enabled: breakpoint.enabled,
        hits: breakpoint.hits,
        ignore: breakpoint.ignore,
        cost,
    }
}

/// Returns a reason as a word and as a sentence.
pub fn explain(debugger: &Debugger, reason: &Reason) -> (&'static str, String) {
    let isa = debugger.program().isa();
    match reason {
        Reason::Done => ("done", String::new()),
        Reason::Hit(hits) => {
            let sentence = |hit: &Hit| {
                let breakpoint = debugger.breakpoints.get(hit.id);
                let name = match breakpoint.map(|known| &known.what) {
                    _ if hit.id == INTERNAL => String::new(),
                    Some(What::Cells { .. } | What::Changes(_)) => format!("watch {}", hit.id),
                    _ => format!("breakpoint {}", hit.id),
                };
                answer::hit(hit, &name).trim_start_matches(": ").to_owned()
            };
            let sentences: Vec<String> = hits.iter().map(sentence).collect();
            ("breakpoint", sentences.join("; "))
        }
        Reason::Halted => ("halted", "the machine halted".to_owned()),
        Reason::Idle => ("idle", "an instruction jumps to itself: nothing can change any more".to_owned()),
        Reason::Fault(fault) => ("fault", format!("the machine faulted: {}", cause(isa, &fault.cause))),
        Reason::Waiting(_) => ("waiting", "the program waits for input: `input \"text\"` or `input end`".to_owned()),
        Reason::Paused => ("paused", "paused".to_owned()),
        Reason::Beginning => ("beginning", "the beginning of the history".to_owned()),
    }
}

fn cause(isa: &lathe_isa::Isa, cause: &lathe_embed::FaultCause) -> String {
    match cause {
        lathe_embed::FaultCause::Undefined => "no instruction has this encoding".to_owned(),
        lathe_embed::FaultCause::OutOfMemory => "no memory is left for it".to_owned(),
        lathe_embed::FaultCause::ForeignState => "the state is not one of this machine".to_owned(),
        lathe_embed::FaultCause::Declared(message, None) => message.clone(),
        lathe_embed::FaultCause::Declared(message, Some(number)) => {
            let name = isa.traps.iter().find(|(_, known)| known == number).map(|(name, _)| format!(" ({name})"));
            format!("{message} {number}{}", name.unwrap_or_default())
        }
    }
}

fn with_message(answer: Answer, message: String) -> Answer {
    match answer {
        Answer::Stopped(report) => Answer::Stopped(StopReport { message, ..report }),
        other => other,
    }
}

fn count(text: &str, otherwise: u64) -> Result<u64, Problem> {
    match text.trim() {
        "" => Ok(otherwise),
        text => number(text)
            .ok_or_else(|| Problem::new(format!("`{text}` is not a number")).help("write one such as 10 or 0x10")),
    }
}

/// Splits a text at the word `if`.
fn split_condition(text: &str) -> (&str, Option<&str>) {
    if let Some(condition) = text.strip_prefix("if ") {
        return ("", Some(condition.trim()));
    }
    match text.split_once(" if ") {
        Some((before, condition)) => (before.trim(), Some(condition.trim())),
        None => (text.trim(), None),
    }
}

/// Returns the bytes of a quoted text or of bare words; `None` for an empty text.
fn quoted(text: &str) -> Result<Option<Vec<u8>>, Problem> {
    if text.is_empty() {
        return Ok(None);
    }
    let inside = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let bytes = unescape(inside).ok_or_else(|| {
        Problem::new(format!("{text} has an escape that is not known"))
            .help("known are \\n \\t \\r \\0 \\\\ \\\" and \\xFF")
    })?;
    Ok(Some(bytes))
}

fn help(topic: &str) -> Result<Answer, Problem> {
    if topic.is_empty() {
        let width = COMMANDS.iter().map(|entry| entry.usage.len()).filter(|width| *width < 30).max().unwrap_or(0);
        let line = |entry: &Entry| format!("{:<width$}  {}\n", entry.usage, entry.about);
        return Ok(Answer::Text { text: COMMANDS.iter().map(line).collect() });
    }
    let command = parse(topic)?;
    let entry = COMMANDS.iter().find(|entry| entry.name == command.name).unwrap_or(&COMMANDS[0]);
    let phrases = PHRASES.iter().filter(|(_, phrase)| phrase.starts_with(entry.name)).map(|(short, _)| *short);
    let short: Vec<&str> = entry.short.iter().copied().chain(phrases).collect();
    let short = if short.is_empty() { String::new() } else { format!("\nalso: {}", short.join(", ")) };
    Ok(Answer::Text { text: format!("{}\n{}{short}", entry.usage, entry.about) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_name_short_form_and_beginning() {
        let name = |line: &str| parse(line).map(|command| (command.name, command.rest));
        assert_eq!(name("step 3"), Ok(("step", "3".to_owned())));
        assert_eq!(name("c"), Ok(("run", String::new())));
        assert_eq!(name("rc"), Ok(("back", "run".to_owned())));
        assert_eq!(name("prof"), Ok(("profile", String::new())));
        assert_eq!(name("a = 3"), Ok(("set", "a = 3".to_owned())));
        assert_eq!(name("ram[4] = 3"), Ok(("set", "ram[4] = 3".to_owned())));
        assert_eq!(name("b = 3"), Ok(("set", "b = 3".to_owned())));
        assert_eq!(parse("stpe").unwrap_err().to_string(), "there is no command `stpe`; did you mean `step`?");
        assert!(parse("a == 3").is_err());
    }

    #[test]
    fn no_short_form_means_two_things() {
        let mut seen = std::collections::BTreeSet::new();
        let phrases = PHRASES.iter().map(|(short, _)| short);
        for word in COMMANDS.iter().flat_map(|entry| entry.short.iter().chain([&entry.name])).chain(phrases) {
            assert!(seen.insert(word), "{word}");
        }
    }
}
