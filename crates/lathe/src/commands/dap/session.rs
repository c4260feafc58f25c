//! One client: its requests in order, each answer before the events that follow it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use lathe_debug::answer::RegisterLine;
use lathe_debug::{Answer, Host, Problem, Reason, Stopped, command, execute, parse};
use lathe_embed::EngineKind;
use serde_json::{Value, json};

use super::memory;
use super::protocol::{ClientRequest, Incoming, Outgoing};
use super::target::{Grain, Launched, Owner, Way};
use crate::arguments::AssemblyArguments;
use crate::commands::debug;
use crate::inputs::Inputs;
use crate::program;

/// A machine has one thread.
const THREAD: u64 = 1;
/// References to scopes; memories follow.
const REGISTERS: u64 = 1;
const FLAGS: u64 = 2;
const MACHINE: u64 = 3;
const MEMORIES: u64 = 100;
/// The most cells of a memory shown as variables.
const SHOWN: u64 = 256;
/// The most cells an editor hears of: it counts them with numbers of 53 bits.
const COUNTED: u64 = 1 << 53;

/// Returns the memory that a scope reference stands for.
pub(super) fn memory_of(reference: u64) -> Option<usize> {
    reference.checked_sub(MEMORIES).map(|at| at as usize)
}

/// One client.
pub(super) struct ClientSession<W> {
    out: Outgoing<W>,
    incoming: Receiver<Incoming>,
    /// Messages that came in while a program ran.
    waiting: VecDeque<Incoming>,
    token: Option<String>,
    target: Option<Launched>,
}

/// What to do after an answer.
enum After {
    Nothing,
    /// The program is loaded: breakpoints can be set.
    Loaded,
    /// The program begins.
    Begin,
    Go(Way, Grain),
    /// The machine is at another position.
    Moved(Stopped),
    Leave,
}

type Answered = Result<(Value, After), String>;

impl<W: Write> ClientSession<W> {
    pub(super) fn new(writer: W, incoming: Receiver<Incoming>, token: Option<String>) -> ClientSession<W> {
        ClientSession { out: Outgoing::new(writer), incoming, waiting: VecDeque::new(), token, target: None }
    }

    /// Answers until the client leaves.
    pub(super) fn serve(mut self) -> io::Result<()> {
        loop {
            let message = self.waiting.pop_front().or_else(|| self.incoming.recv().ok());
            match message {
                Some(Incoming::Request(request)) => {
                    if !self.handle(&request)? {
                        return Ok(());
                    }
                }
                Some(Incoming::Malformed(cause)) => self.out.refuse(None, &cause)?,
                Some(Incoming::End) | None => return Ok(()),
            }
        }
    }

    /// Answers one request; returns whether more may follow.
    fn handle(&mut self, request: &ClientRequest) -> io::Result<bool> {
        match self.answer(request) {
            Ok((body, after)) => {
                self.out.respond(request, body)?;
                self.follow(after)
            }
            Err(message) => {
                self.out.refuse(Some(request), &message)?;
                Ok(true)
            }
        }
    }

    fn answer(&mut self, request: &ClientRequest) -> Answered {
        let arguments = &request.arguments;
        let done = |body: Value| Ok((body, After::Nothing));
        match request.command.as_str() {
            "initialize" => return self.initialize(arguments),
            _ if self.token.is_some() => return Err("the token is missing; give it to `initialize`".to_owned()),
            "launch" => return self.launch(arguments),
            "disconnect" | "terminate" => return Ok((json!({}), After::Leave)),
            "cancel" => return done(json!({})),
            "threads" => return done(json!({ "threads": [{ "id": THREAD, "name": self.name() }] })),
            _ => {}
        }
        let Some(target) = &mut self.target else {
            return Err(format!("`{}` needs a program; `launch` one first", request.command));
        };
        let debugger = &mut target.debugger;
        let grain = match arguments["granularity"].as_str() {
            Some("instruction") => Grain::Instruction,
            _ => Grain::Statement,
        };
        match request.command.as_str() {
            "configurationDone" => Ok((json!({}), After::Begin)),
            "setBreakpoints" => done(target.set_source_breakpoints(arguments)?),
            "setFunctionBreakpoints" => done(target.set_function_breakpoints(arguments)?),
            "setInstructionBreakpoints" => done(target.set_instruction_breakpoints(arguments)?),
            "setDataBreakpoints" => done(target.set_data_breakpoints(arguments)?),
            "dataBreakpointInfo" => done(target.data_info(arguments)?),
            "setExceptionBreakpoints" => done(target.set_exception_breakpoints(arguments)?),
            "stackTrace" => done(stack_trace(target, arguments)?),
            "scopes" => done(scopes(target)),
            "variables" => done(variables(target, arguments)?),
            "setVariable" => done(set_variable(target, arguments)?),
            "setExpression" => {
                let name = text(arguments, "expression")?.to_owned();
                done(assign(target, &name, text(arguments, "value")?)?)
            }
            "evaluate" => evaluate(target, arguments),
            "completions" => done(completions(target, arguments)),
            "continue" => Ok((json!({ "allThreadsContinued": true }), After::Go(Way::Run, grain))),
            "reverseContinue" => Ok((json!({}), After::Go(Way::RunBack, grain))),
            "next" => Ok((json!({}), After::Go(Way::Over, grain))),
            "stepIn" => Ok((json!({}), After::Go(Way::In, grain))),
            "stepOut" => Ok((json!({}), After::Go(Way::Out, grain))),
            "stepBack" => Ok((json!({}), After::Go(Way::Back, grain))),
            "pause" => {
                let position = debugger.position();
                let stopped = Stopped { reason: Reason::Paused, from: position, position };
                Ok((json!({}), After::Moved(stopped)))
            }
            "restart" => {
                debugger.restart().map_err(|problem| problem.to_string())?;
                Ok((json!({}), After::Begin))
            }
            "disassemble" => done(memory::disassemble(debugger, arguments)?),
            "readMemory" => done(memory::read(debugger, arguments)?),
            "writeMemory" => done(memory::write(debugger, arguments)?),
            "loadedSources" => {
                let all: Vec<Value> = (0..debugger.program().sources().len()).map(|at| target.source(at)).collect();
                done(json!({ "sources": all }))
            }
            "source" => done(source(target, arguments)?),
            "exceptionInfo" => done(json!({ "exceptionId": "fault", "breakMode": "always" })),
            "lathe/input" => {
                debugger.give_input(text(arguments, "text")?.as_bytes());
                done(json!({}))
            }
            other => Err(format!("there is no request `{other}`")),
        }
    }

    fn name(&self) -> String {
        self.target.as_ref().map_or("machine".to_owned(), |target| target.debugger.program().isa().name.clone())
    }

    fn initialize(&mut self, arguments: &Value) -> Answered {
        if self.token.is_some() && self.token.as_deref() != arguments["token"].as_str() {
            return Err("the token is missing or wrong; the server printed it when it started".to_owned());
        }
        self.token = None;
        Ok((capabilities(), After::Nothing))
    }

    fn launch(&mut self, arguments: &Value) -> Answered {
        let name = text(arguments, "program")?;
        let assembly = AssemblyArguments::default();
        let machine = arguments["machine"].as_str();
        let request = program::Request { name, machine, from: None, load_at: None, assembly: &assembly };
        let failed = |failure: crate::exit::Failure| match failure.help {
            Some(help) => format!("{}; {help}", failure.message),
            None => failure.message,
        };
        let loaded = request.load(&Inputs::default()).map_err(failed)?;
        let engine = match arguments["engine"].as_str() {
            Some("interp") => EngineKind::Interpreter,
            Some("fast") => EngineKind::Fast,
            _ => EngineKind::Auto,
        };
        let mut debugger = super::super::debug::start(loaded, engine).map_err(failed)?;
        if let Some(input) = arguments["input"].as_str() {
            debugger.give_input(input.as_bytes());
            debugger.end_input();
        }
        let path = std::path::absolute(name).unwrap_or(PathBuf::from(name));
        let no_debug = arguments["noDebug"].as_bool().unwrap_or(false);
        let stop_on_entry = arguments["stopOnEntry"].as_bool().unwrap_or(true);
        self.target = Some(Launched { debugger, path, no_debug, stop_on_entry, set: BTreeMap::<Owner, _>::new() });
        Ok((json!({}), After::Loaded))
    }

    /// Does what follows an answer; returns whether more requests may follow.
    fn follow(&mut self, after: After) -> io::Result<bool> {
        match after {
            After::Nothing => {}
            After::Loaded => self.out.event("initialized", Value::Null)?,
            After::Begin => self.begin()?,
            After::Go(way, grain) => self.go(way, grain)?,
            After::Moved(stopped) => self.stopped(&stopped, Way::In)?,
            After::Leave => {
                self.out.event("terminated", Value::Null)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn begin(&mut self) -> io::Result<()> {
        match &self.target {
            Some(target) if target.stop_on_entry && !target.no_debug => {
                let body = json!({ "reason": "entry", "threadId": THREAD, "allThreadsStopped": true });
                self.out.event("stopped", body)
            }
            _ => self.go(Way::Run, Grain::Statement),
        }
    }

    /// Runs or steps, answering requests on the way.
    fn go(&mut self, way: Way, grain: Grain) -> io::Result<()> {
        loop {
            let Some(target) = &mut self.target else { return Ok(()) };
            if target.debugger.is_halted() && matches!(way, Way::Run | Way::Over | Way::In | Way::Out) {
                self.out.event("exited", json!({ "exitCode": 0 }))?;
                return self.out.event("terminated", Value::Null);
            }
            let mut host = Listening {
                out: &mut self.out,
                incoming: &self.incoming,
                waiting: &mut self.waiting,
                paused: false,
                trouble: None,
            };
            let gone = target.go(way, grain, &mut host);
            let (paused, trouble) = (host.paused, host.trouble);
            trouble.map_or(Ok(()), Err)?;
            let stopped = match gone {
                Ok(stopped) => stopped,
                Err(problem) => return self.could_not(&problem),
            };
            if stopped.reason != Reason::Paused || paused {
                return self.stopped(&stopped, way);
            }
            // Another request came in: it is answered, and the run goes on.
            while let Some(message) = self.waiting.pop_front() {
                match message {
                    Incoming::Request(request) => {
                        let leaves = matches!(request.command.as_str(), "disconnect" | "terminate" | "restart");
                        if leaves {
                            self.waiting.push_front(Incoming::Request(request));
                            return Ok(());
                        }
                        self.handle(&request)?;
                    }
                    Incoming::Malformed(cause) => self.out.refuse(None, &cause)?,
                    Incoming::End => {
                        self.waiting.push_front(Incoming::End);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Reports a move that failed: the client must still hear of a stop.
    fn could_not(&mut self, problem: &Problem) -> io::Result<()> {
        self.out.event("output", json!({ "category": "console", "output": format!("{problem}\n") }))?;
        let body = json!({
            "reason": "step", "description": problem.message, "threadId": THREAD, "allThreadsStopped": true,
        });
        self.out.event("stopped", body)
    }

    fn stopped(&mut self, stopped: &Stopped, way: Way) -> io::Result<()> {
        let Some(target) = &self.target else { return Ok(()) };
        let ends = matches!(stopped.reason, Reason::Halted | Reason::Idle | Reason::Fault(_));
        if target.no_debug && ends {
            let code = if matches!(stopped.reason, Reason::Fault(_)) { 3 } else { 0 };
            self.out.event("exited", json!({ "exitCode": code }))?;
            return self.out.event("terminated", Value::Null);
        }
        let (_, message) = command::explain(&target.debugger, &stopped.reason);
        let reason = match &stopped.reason {
            reason if reason.is_watch() => "data breakpoint",
            Reason::Hit(hits) => {
                let ids: Vec<u32> = hits.iter().map(|hit| hit.id).collect();
                let owns = |owner| target.set.get(&owner).is_some_and(|set| set.iter().any(|id| ids.contains(id)));
                match () {
                    () if owns(Owner::Instructions) => "instruction breakpoint",
                    () if owns(Owner::Functions) => "function breakpoint",
                    () if owns(Owner::Exceptions) => "exception",
                    () => "breakpoint",
                }
            }
            Reason::Fault(_) => "exception",
            Reason::Paused | Reason::Waiting(_) | Reason::Halted | Reason::Idle => "pause",
            Reason::Beginning => "entry",
            Reason::Done if way == Way::Run => "goto",
            Reason::Done => "step",
        };
        let ids: Vec<u32> = stopped.reason.hits().iter().map(|hit| hit.id).collect();
        let mut body = json!({ "reason": reason, "threadId": THREAD, "allThreadsStopped": true });
        if !message.is_empty() {
            body["description"] = json!(message);
            body["text"] = json!(message);
        }
        if !ids.is_empty() {
            body["hitBreakpointIds"] = json!(ids);
        }
        self.out.event("stopped", body)
    }
}

/// Listens during a run: passes output on, and notices the client's requests.
struct Listening<'l, W> {
    out: &'l mut Outgoing<W>,
    incoming: &'l Receiver<Incoming>,
    waiting: &'l mut VecDeque<Incoming>,
    paused: bool,
    trouble: Option<io::Error>,
}

impl<W: Write> Listening<'_, W> {
    fn event(&mut self, category: &str, text: &str) {
        let sent = self.out.event("output", json!({ "category": category, "output": text }));
        self.trouble = self.trouble.take().or(sent.err());
    }
}

impl<W: Write> Host for Listening<'_, W> {
    fn goes_on(&mut self) -> bool {
        while let Ok(message) = self.incoming.try_recv() {
            match message {
                Incoming::Request(request) if request.command == "pause" => {
                    let sent = self.out.respond(&request, json!({}));
                    self.trouble = self.trouble.take().or(sent.err());
                    self.paused = true;
                }
                other => self.waiting.push_back(other),
            }
        }
        !self.paused && self.waiting.is_empty() && self.trouble.is_none()
    }

    fn log(&mut self, text: &str) {
        self.event("console", &format!("{text}\n"));
    }

    fn output(&mut self, bytes: &[u8]) {
        self.event("stdout", &shown(bytes));
    }
}

/// Renders output for an editor: lines and tabs unchanged, other control characters as escapes.
fn shown(bytes: &[u8]) -> String {
    let piece = |byte: u8| match byte {
        b'\n' | b'\t' => char::from(byte).to_string(),
        b'"' | b'\\' => char::from(byte).to_string(),
        other => lathe_debug::printable(&[other]),
    };
    bytes.iter().map(|byte| piece(*byte)).collect()
}

fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsHitConditionalBreakpoints": true,
        "supportsLogPoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsSetExpression": true,
        "supportsRestartRequest": true,
        "supportsCompletionsRequest": true,
        "supportsLoadedSourcesRequest": true,
        "supportsTerminateRequest": true,
        "supportsDataBreakpoints": true,
        "supportsInstructionBreakpoints": true,
        "supportsSteppingGranularity": true,
        "supportsDisassembleRequest": true,
        "supportsReadMemoryRequest": true,
        "supportsWriteMemoryRequest": true,
        "supportsExceptionInfoRequest": true,
        "exceptionBreakpointFilters": [
            { "filter": "output", "label": "Output", "description": "Stops when the program has written output" },
            { "filter": "undefined", "label": "Undefined encodings", "description": "Looks at every instruction" },
        ],
    })
}

fn text<'t>(arguments: &'t Value, key: &str) -> Result<&'t str, String> {
    arguments[key].as_str().ok_or_else(|| format!("`{key}` is missing"))
}

fn stack_trace(target: &mut Launched, arguments: &Value) -> Result<Value, String> {
    let (calls, _) = target.debugger.call_lines(&mut ()).map_err(|problem| problem.to_string())?;
    let first = arguments["startFrame"].as_u64().unwrap_or(0) as usize;
    let levels = arguments["levels"].as_u64().filter(|levels| *levels > 0).unwrap_or(u64::MAX) as usize;
    let frame = |(id, call): (usize, &lathe_debug::watching::CallLine)| {
        let (source, line) = target.place(call.place.line.as_ref());
        let mut frame = json!({
            "id": id, "name": call.routine, "line": line, "column": if line == 0 { 0 } else { 1 },
            "instructionPointerReference": format!("{:#x}", call.place.address),
        });
        match source.is_null() {
            true => frame["presentationHint"] = json!("subtle"),
            false => frame["source"] = source,
        }
        frame
    };
    let frames: Vec<Value> = calls.iter().enumerate().skip(first).take(levels).map(frame).collect();
    Ok(json!({ "stackFrames": frames, "totalFrames": calls.len() }))
}

fn scopes(target: &Launched) -> Value {
    let isa = target.debugger.program().isa();
    let mut scopes = vec![json!({
        "name": "Registers", "presentationHint": "registers", "variablesReference": REGISTERS, "expensive": false,
    })];
    if isa.registers.iter().any(|register| register.is_flag()) {
        scopes.push(json!({ "name": "Flags", "variablesReference": FLAGS, "expensive": false }));
    }
    scopes.push(json!({ "name": "Machine", "variablesReference": MACHINE, "expensive": false }));
    for (memory, at) in isa.memories.iter().zip(MEMORIES..) {
        scopes.push(json!({
            "name": memory.name, "variablesReference": at, "expensive": true,
            "indexedVariables": memory.last().min(COUNTED - 1) + 1,
        }));
    }
    json!({ "scopes": scopes })
}

fn variables(target: &Launched, arguments: &Value) -> Result<Value, String> {
    let reference = arguments["variablesReference"].as_u64().ok_or("`variablesReference` is missing")?;
    let debugger = &target.debugger;
    let isa = debugger.program().isa();
    let variable = |name: &str, value: String| json!({ "name": name, "value": value, "variablesReference": 0 });
    let list: Vec<Value> = match reference {
        REGISTERS | FLAGS => {
            let wanted = |line: &&RegisterLine| (line.bits == 1) == (reference == FLAGS);
            let registers = command::registers(debugger);
            let code = &isa.code_memory().name;
            let shown = registers.iter().filter(wanted).map(|line| {
                let mut shown = variable(&line.name, line.shown());
                shown["evaluateName"] = json!(line.name);
                shown["memoryReference"] = json!(memory::reference(code, isa.pc.width.wrap(line.value)));
                shown
            });
            shown.collect()
        }
        MACHINE => {
            let history = debugger.history();
            let mut list = vec![
                variable("step", debugger.position().to_string()),
                variable("history ends at", history.end().to_string()),
                variable("output bytes", debugger.output().1.len().to_string()),
            ];
            if isa.has_cycles {
                list.push(variable("cycles", debugger.instance().counters().cycles.to_string()));
            }
            list
        }
        _ => {
            let at = memory_of(reference).filter(|at| *at < isa.memories.len()).ok_or("there is no such scope")?;
            let described = &isa.memories[at];
            let memory = debugger.state().memory(lathe_isa::model::MemoryId(at as u32));
            let first = arguments["start"].as_u64().unwrap_or(0);
            let count = arguments["count"].as_u64().filter(|count| *count > 0).unwrap_or(SHOWN).min(4096);
            let digits = |bits: u32| bits.div_ceil(4) as usize;
            let (wide, cell) = (digits(described.address.bits()), digits(described.cell.bits()));
            let addresses = (0..count).map_while(|at| first.checked_add(at).filter(|at| *at <= described.last()));
            let shown = addresses.map(|address| {
                let name = format!("0x{address:0wide$X}");
                let mut shown = variable(&name, format!("0x{:0cell$X}", memory.get(address)));
                shown["evaluateName"] = json!(format!("{}[{name}]", described.name));
                shown["memoryReference"] = json!(memory::reference(&described.name, address));
                shown
            });
            shown.collect()
        }
    };
    Ok(json!({ "variables": list }))
}

fn set_variable(target: &mut Launched, arguments: &Value) -> Result<Value, String> {
    let name = text(arguments, "name")?;
    let reference = arguments["variablesReference"].as_u64().unwrap_or(0);
    let isa = target.debugger.program().isa().clone();
    let name = match memory_of(reference).and_then(|at| isa.memories.get(at)) {
        Some(memory) => format!("{}[{name}]", memory.name),
        None => name.to_owned(),
    };
    assign(target, &name, text(arguments, "value")?)
}

fn assign(target: &mut Launched, name: &str, value: &str) -> Result<Value, String> {
    target.debugger.set(&format!("{name} = {value}")).map_err(|problem| problem.to_string())?;
    let value = target.debugger.evaluate(name).map_err(|problem| problem.to_string())?;
    Ok(json!({ "value": value.to_string(), "variablesReference": 0 }))
}

/// Evaluates an expression; in the console, also any command of the debugger.
fn evaluate(target: &mut Launched, arguments: &Value) -> Answered {
    let line = text(arguments, "expression")?;
    let debugger = &mut target.debugger;
    if arguments["context"] != "repl" || parse(line).is_err() {
        let value = debugger.evaluate(line).map_err(|problem| problem.to_string())?;
        return Ok((json!({ "result": value.to_string(), "variablesReference": 0 }), After::Nothing));
    }
    let before = debugger.position();
    let answer = execute(debugger, line, &mut ()).map_err(|problem| problem.to_string())?;
    let result = match &answer {
        Answer::Save { file, session } => {
            debug::save(file, session).map_err(|problem| problem.to_string())?;
            answer.to_string()
        }
        _ => answer.to_string(),
    };
    let position = debugger.position();
    let after = match position == before && !line.trim_start().starts_with("set") {
        true => After::Nothing,
        false => After::Moved(Stopped { reason: Reason::Done, from: before, position }),
    };
    Ok((json!({ "result": result.trim_end(), "variablesReference": 0 }), after))
}

fn completions(target: &Launched, arguments: &Value) -> Value {
    let line = arguments["text"].as_str().unwrap_or_default();
    let column = arguments["column"].as_u64().unwrap_or(1).saturating_sub(1) as usize;
    let before: String = line.chars().take(column).collect();
    let whole = command::complete(&target.debugger, &before);
    let targets: Vec<Value> =
        whole.iter().take(200).map(|line| json!({ "label": line, "start": 0, "length": column })).collect();
    json!({ "targets": targets })
}

fn source(target: &Launched, arguments: &Value) -> Result<Value, String> {
    let number = target.source_named(&arguments["source"]);
    let number = number.or_else(|| target.source_named(arguments)).ok_or("there is no such source")?;
    Ok(json!({ "content": target.debugger.program().sources()[number].text }))
}
