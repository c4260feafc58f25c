//! The debugger itself: a machine at a position in its history, and the ways to another position.
//!
//! Every way forward goes through [`Debugger::next_hit`], every way back is a search (`search.rs`) followed by
//! [`Debugger::go_to`]. Questions about stretches of the past are in `watching.rs`.

use lathe_base::numbers::addresses_from;
use lathe_base::{Source, Width};
use lathe_embed::{DeviceId, Fault, Instance, State, Stop, Stops};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceKind, MemoryId};
use lathe_vm::{Keypad, Ports};

use crate::breakpoints::{Breakpoint, Breakpoints, Effect, What};
use crate::calls::{CallModel, Stack};
use crate::expression::{Evaluator, Expression, Value};
use crate::history::{Edit, Event, EventKind, History, Kept, Pace};
use crate::plan::{Detail, Hit, INTERNAL, Plan, Seen};
use crate::program::Program;
use crate::{Problem, text};

/// How many instructions to run ahead when looking for output.
const AHEAD: u64 = 1 << 16;
/// Snapshots are left at these distances before a position returned to, because the next step back ends near it.
const APPROACHES: [u64; 3] = [1 << 17, 1 << 13, 1 << 10];
/// Bytes of output kept.
const OUTPUT: usize = 8 << 20;

/// The caller of a run: told what happens during it, and asked whether it may go on.
pub trait Host {
    /// Whether the run may go on; asked every few milliseconds.
    fn goes_on(&mut self) -> bool {
        true
    }

    /// A logging breakpoint was reached.
    fn log(&mut self, _text: &str) {}

    /// The program wrote something for the first time.
    fn output(&mut self, _bytes: &[u8]) {}
}

/// Returns the buses of a machine, with the widths of their port numbers and of their values.
fn buses(isa: &Isa) -> impl Iterator<Item = (DeviceId, Width, Width)> {
    (0..).map(DeviceId).zip(&isa.devices).filter_map(|(id, device)| match device.kind {
        DeviceKind::Bus { address, value } => Some((id, address, value)),
        _ => None,
    })
}

/// A host that ignores everything.
impl Host for () {}

/// Why the machine stopped, or how a move ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The command is done.
    Done,
    /// Breakpoints were reached.
    Hit(Vec<Hit>),
    /// The machine halted.
    Halted,
    /// An instruction jumped to itself: nothing can change any more.
    Idle,
    /// An instruction cannot be executed.
    Fault(Fault),
    /// The program waits for input.
    Waiting(DeviceId),
    /// The host paused the run.
    Paused,
    /// The beginning of the history.
    Beginning,
}

/// Where a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// Why.
    pub reason: Reason,
    /// The position before the run.
    pub from: u64,
    /// The position after it.
    pub position: u64,
}

/// How the search for the next hit ended.
pub(crate) enum Outcome {
    Hit(Vec<Hit>),
    /// The machine stopped on its own.
    Stopped(Reason),
    /// The requested end was reached.
    End,
    Paused,
}

/// A machine that is being debugged.
pub struct Debugger {
    pub(crate) program: Program,
    pub(crate) instance: Instance,
    pub(crate) evaluator: Evaluator,
    pub(crate) history: History,
    /// Instructions executed since the beginning.
    pub(crate) position: u64,
    /// How many events of the history have been applied.
    applied: usize,
    /// Breakpoints the user set.
    pub breakpoints: Breakpoints,
    output: Output,
    /// The position at which the machine halted, if it did.
    halted: Option<u64>,
    pub(crate) model: CallModel,
    pub(crate) stacks: crate::watching::Stacks,
    recording: bool,
    /// The files of the definition, for saved sessions; empty unless the caller sets it.
    pub definition: Vec<Source>,
}

/// The program's output, as far as it is kept.
#[derive(Default)]
struct Output {
    /// How many bytes came before the kept ones.
    dropped: u64,
    bytes: Vec<u8>,
}

impl Output {
    fn total(&self) -> u64 {
        self.dropped + self.bytes.len() as u64
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * OUTPUT {
            let old = self.bytes.len() - OUTPUT;
            self.bytes.drain(..old);
            self.dropped += old as u64;
        }
    }

    fn truncate(&mut self, total: u64) {
        let kept = total.saturating_sub(self.dropped) as usize;
        self.bytes.truncate(kept);
        self.dropped = self.dropped.min(total);
    }
}

impl Debugger {
    /// Debugs a program on a fresh instance of its machine. The program is loaded, and its input stays open: it waits
    /// for [`Debugger::give_input`].
    pub fn new(program: Program, mut instance: Instance) -> Debugger {
        instance.load(program.image());
        instance.open_input();
        let isa = program.isa().clone();
        let mut debugger = Debugger {
            evaluator: Evaluator::new(&isa),
            history: History::new(Pace::of(instance.engine())),
            model: CallModel::new(&isa),
            stacks: crate::watching::Stacks::default(),
            position: 0,
            applied: 0,
            breakpoints: Breakpoints::default(),
            output: Output::default(),
            halted: None,
            recording: true,
            definition: Vec::new(),
            program,
            instance,
        };
        debugger.keep();
        debugger
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the state of the machine at this position.
    pub fn state(&self) -> &State {
        self.instance.state()
    }

    /// Returns the machine with its devices.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Takes a snapshot of everything the machine consists of at this position, for comparisons.
    pub fn snapshot(&mut self) -> lathe_embed::Snapshot {
        self.instance.snapshot()
    }

    /// Returns the number of instructions executed since the beginning.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the past, and the future already seen.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Limits the machine's memory to this many bytes from now on. Call it at the beginning: with a lower limit, the
    /// past does not repeat in the same way.
    pub fn set_max_memory(&mut self, bytes: u64) {
        self.instance.set_max_memory(bytes);
    }

    /// Sets how many bytes snapshots may take.
    pub fn set_memory(&mut self, bytes: u64) {
        self.history.set_limit(bytes, self.position);
    }

    /// Sets how often snapshots are taken; the default suits the engine.
    pub fn set_pace(&mut self, pace: Pace) {
        self.history.pace = Pace { interval: pace.interval.max(1), ..pace };
    }

    /// Sets whether to take snapshots while the program runs. Without them, going back starts at the beginning.
    pub fn set_recording(&mut self, recording: bool) {
        self.recording = recording;
    }

    /// Whether the machine has halted at this position.
    pub fn is_halted(&self) -> bool {
        self.halted == Some(self.position)
    }

    /// Returns the kept part of the output written by this position, and how many bytes came before it.
    pub fn output(&self) -> (u64, &[u8]) {
        let written = self.written().saturating_sub(self.output.dropped) as usize;
        (self.output.dropped, &self.output.bytes[..written.min(self.output.bytes.len())])
    }

    pub(crate) fn written(&self) -> u64 {
        self.instance.devices().find_console().map_or(0, lathe_embed::Console::written)
    }

    /// Evaluates an expression at this position.
    ///
    /// # Errors
    /// If it cannot be understood.
    pub fn evaluate(&mut self, text: &str) -> Result<Value, Problem> {
        let expression = self.compile(text)?;
        self.evaluator.value(&expression, self.instance.state_mut())
    }

    pub(crate) fn compile(&self, text: &str) -> Result<Expression, Problem> {
        self.evaluator.compile(text, &self.program)
    }

    // Ways forward.

    /// Executes this many instructions, unless something stops the run first.
    ///
    /// # Errors
    /// If the machine has halted.
    pub fn step(&mut self, count: u64, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut plan = Plan::new(self.breakpoints.all());
        self.forward(&mut plan, self.position.saturating_add(count), host)
    }

    /// Runs until something stops it.
    ///
    /// # Errors
    /// If the machine has halted.
    pub fn run(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut plan = Plan::new(self.breakpoints.all());
        self.forward(&mut plan, u64::MAX, host)
    }

    /// Runs to a place, unless something stops the run first.
    ///
    /// # Errors
    /// If the machine has halted.
    pub fn run_to(&mut self, what: &What, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut plan = Plan::new(self.breakpoints.all());
        plan.add(INTERNAL, what);
        self.forward(&mut plan, u64::MAX, host)
    }

    /// Executes one instruction, or, if it is a call, everything up to the return.
    ///
    /// # Errors
    /// If the machine has halted.
    pub fn over(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let pc = self.state().pc;
        let next = self.program.next(self.state(), pc);
        let from = self.position;
        let decoded = self.program.decode(self.state(), pc);
        let stopped = self.step(1, host)?;
        let to = self.state().pc;
        let called = to != next && self.model.called(&self.program, decoded.as_ref(), pc, to);
        if !called || stopped.reason != Reason::Done {
            return Ok(Stopped { from, ..stopped });
        }
        self.return_from(pc, self.program.return_address(next), from, host)
    }

    /// Runs until the current routine has returned.
    ///
    /// # Errors
    /// If no call is known, or the machine has halted.
    pub fn out(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let Some(frame) = self.stack(host)?.frames.pop() else { return Err(no_call()) };
        self.return_from(frame.site, frame.return_to, self.position, host)
    }

    /// Runs until a call made at `site` has returned. The same call may be made again before that.
    fn return_from(&mut self, site: u64, next: u64, from: u64, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let mut depth = 1;
        loop {
            let mut plan = Plan::new(self.breakpoints.all());
            plan.add(INTERNAL, &What::At(vec![site, next]));
            let stopped = self.forward(&mut plan, u64::MAX, host)?;
            if stopped.reason != Reason::Done {
                return Ok(Stopped { from, ..stopped });
            }
            match self.state().pc {
                pc if pc == next => depth -= 1,
                _ => depth += 1,
            }
            if depth == 0 {
                return Ok(Stopped { from, ..stopped });
            }
        }
    }

    /// Runs to `end` at most, and handles hits: counts, logs, stops.
    fn forward(&mut self, plan: &mut Plan, end: u64, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        if self.is_halted() {
            let message = "the machine has halted";
            return Err(Problem::new(message).help("go back with `back`, start again with `restart`, or set `pc`"));
        }
        loop {
            let reason = match self.next_hit(plan, end, host)? {
                Outcome::Hit(hits) => match self.count(hits, host) {
                    Some(reason) => reason,
                    None if self.position >= end => Reason::Done,
                    None => continue,
                },
                Outcome::Stopped(reason) => reason,
                Outcome::End => Reason::Done,
                Outcome::Paused => Reason::Paused,
            };
            return Ok(Stopped { reason, from, position: self.position });
        }
    }

    /// Counts hits; returns a reason to stop if any of them stops.
    fn count(&mut self, hits: Vec<Hit>, host: &mut dyn Host) -> Option<Reason> {
        let mut done = false;
        let mut stopping = Vec::new();
        for hit in hits {
            let Some(breakpoint) = self.breakpoints.get_mut(hit.id) else {
                done |= hit.id == INTERNAL;
                continue;
            };
            breakpoint.hits += 1;
            if breakpoint.ignore > 0 {
                breakpoint.ignore -= 1;
                continue;
            }
            match breakpoint.effect.clone() {
                Effect::Stop => stopping.push(hit),
                Effect::StopOnce => {
                    self.breakpoints.remove(hit.id);
                    stopping.push(hit);
                }
                Effect::Log(template) => {
                    let line = self.fill(&template);
                    host.log(&line);
                }
            }
        }
        match stopping.is_empty() {
            false => Some(Reason::Hit(stopping)),
            true => done.then_some(Reason::Done),
        }
    }

    /// Replaces the expressions in a text's braces by their values.
    pub fn fill(&mut self, template: &str) -> String {
        text::fill(template, |expression| match self.evaluate(expression) {
            Ok(value) => value.to_string(),
            Err(problem) => format!("{{{problem}}}"),
        })
    }

    /// Runs to the next position, up to `end`, at which the plan has a hit or the machine stops.
    pub(crate) fn next_hit(&mut self, plan: &mut Plan, end: u64, host: &mut dyn Host) -> Result<Outcome, Problem> {
        self.apply_events();
        plan.prepare(&mut self.evaluator, self.instance.state_mut());
        let mut stops = plan.stops();
        let mut since_asked = 0;
        while self.position < end {
            self.keep_if_due();
            self.apply_events();
            let slice = self.slice(end);
            stops.limit = match () {
                () if plan.steps() => 1,
                () if plan.wants_output() => slice.min(AHEAD),
                () => slice,
            };
            let (stop, wrote) = self.advance(&stops, plan.wants_output() && !plan.steps(), host)?;
            let mut seen = Seen {
                program: &self.program,
                model: &self.model,
                evaluator: &mut self.evaluator,
                state: self.instance.state_mut(),
            };
            let hits = plan.hits(&stop, wrote, &mut seen);
            if !hits.is_empty() {
                return Ok(Outcome::Hit(hits));
            }
            if let Some(reason) = stopping(stop) {
                return Ok(Outcome::Stopped(reason));
            }
            since_asked += stops.limit;
            if since_asked >= AHEAD {
                since_asked = 0;
                if !host.goes_on() {
                    return Ok(Outcome::Paused);
                }
            }
        }
        Ok(Outcome::End)
    }

    /// Runs once; with `first_output`, to just after the first instruction that writes output.
    fn advance(&mut self, stops: &Stops, first_output: bool, host: &mut dyn Host) -> Result<(Stop, bool), Problem> {
        let written = self.written();
        let before = first_output.then(|| (self.instance.snapshot(), self.position));
        let run = self.instance.run(stops);
        self.position += run.steps;
        let mut stop = run.stop;
        if let Some((snapshot, start)) = before
            && self.written() > written
            && run.steps > 1
        {
            let first = self.first_output(&snapshot, start, written)?;
            if first < self.position {
                stop = Stop::Limit;
            }
            self.instance.restore(&snapshot).map_err(unrepeatable)?;
            self.instance.run(&Stops::after(first - start).idling());
            self.position = first;
        }
        self.note_output(host);
        if stop == Stop::Halted && !self.is_edited_here() {
            self.halted = Some(self.position);
        }
        self.history.end = self.history.end.max(self.position);
        Ok((stop, self.written() > written))
    }

    /// Whether an edit was made at this position, so that a halted machine may go on.
    fn is_edited_here(&self) -> bool {
        let is_edit = |event: &&Event| event.at == self.position && matches!(event.kind, EventKind::Edit(_));
        self.history.events().iter().rev().find(is_edit).is_some()
    }

    /// Returns the first position after a snapshot at which more output is written than before.
    fn first_output(&mut self, start: &lathe_embed::Snapshot, at: u64, written: u64) -> Result<u64, Problem> {
        let (mut low, mut high) = (at, self.position);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            self.instance.restore(start).map_err(unrepeatable)?;
            self.instance.run(&Stops::after(middle - at).idling());
            if self.written() > written { high = middle } else { low = middle }
        }
        Ok(high)
    }

    /// Takes the program's output from the console, and passes on what is new.
    pub(crate) fn note_output(&mut self, host: &mut dyn Host) {
        let written = self.written();
        let bytes = self.instance.take_output();
        let new = written.saturating_sub(self.output.total()) as usize;
        if let Some(new) = bytes.len().checked_sub(new).filter(|_| new > 0) {
            self.output.push(&bytes[new..]);
            host.output(&bytes[new..]);
        }
    }

    /// Returns how many instructions remain until the next event, snapshot point or `end`.
    fn slice(&self, end: u64) -> u64 {
        let interval = self.history.pace.interval;
        let boundary = (self.position / interval + 1).saturating_mul(interval);
        let event = self.history.events().get(self.applied).map_or(u64::MAX, |event| event.at);
        end.min(boundary).min(event.max(self.position + 1)) - self.position
    }

    pub(crate) fn apply_events(&mut self) {
        while let Some(event) = self.history.events().get(self.applied)
            && event.at <= self.position
        {
            event.apply(&mut self.instance);
            self.applied += 1;
        }
    }

    fn keep_if_due(&mut self) {
        if self.recording && self.history.is_due(self.position, self.state().snapshot_size()) {
            self.keep();
        }
    }

    pub(crate) fn keep(&mut self) {
        if !self.history.has(self.position) {
            let (applied, written) = (self.applied, self.written());
            let snapshot = self.instance.snapshot();
            let copied = snapshot.state().copied();
            let kept = Kept { snapshot, applied, written, copied };
            self.history.keep(self.position, kept);
        }
    }

    // Ways back.

    /// Goes to a position in the history, back or forward.
    ///
    /// # Errors
    /// If it is beyond the end of the history.
    pub fn go_to(&mut self, target: u64) -> Result<(), Problem> {
        if target > self.history.end {
            let end = self.history.end;
            let problem = Problem::new(format!("step {target} has not been reached yet"));
            return Err(problem.help(format!("the history ends at step {end}; `run` goes on from there")));
        }
        let (start, kept) = self.history.floor(target);
        let is_on_the_way = (start..=target).contains(&self.position);
        if !is_on_the_way {
            let (applied, snapshot) = (kept.applied, &kept.snapshot);
            self.instance.restore(snapshot).map_err(unrepeatable)?;
            (self.position, self.applied) = (start, applied);
        }
        for approach in APPROACHES {
            if let Some(mark) = target.checked_sub(approach).filter(|mark| *mark > self.position) {
                self.repeat(mark)?;
                self.keep();
            }
        }
        self.repeat(target)?;
        self.apply_events();
        Ok(())
    }

    /// Runs to a position in the history without checking breakpoints.
    pub(crate) fn repeat(&mut self, target: u64) -> Result<(), Problem> {
        while self.position < target {
            self.keep_if_due();
            self.apply_events();
            let stops = Stops::after(self.slice(target)).idling();
            let run = self.instance.run(&stops);
            self.position += run.steps;
            self.note_output(&mut ());
            if run.steps == 0 {
                return Err(Problem::new("the history cannot be repeated from here").help("start again with `restart`"));
            }
        }
        Ok(())
    }

    /// Goes back this many instructions.
    ///
    /// # Errors
    /// If this is the beginning already.
    pub fn back(&mut self, count: u64, _host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        if from == 0 {
            return Err(at_beginning());
        }
        let target = from.saturating_sub(count);
        self.go_to(target)?;
        let reason = if from < count { Reason::Beginning } else { Reason::Done };
        Ok(Stopped { reason, from, position: target })
    }

    /// Goes back one instruction or, if that instruction returned from a call, to before the call.
    ///
    /// # Errors
    /// If this is the beginning already.
    pub fn back_over(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        if from == 0 {
            return Err(at_beginning());
        }
        let returned = self.stack(host)?.returned;
        let target = returned.map_or(from - 1, |frame| frame.position);
        self.go_to(target)?;
        Ok(Stopped { reason: Reason::Done, from, position: target })
    }

    /// Goes back to before the call of the current routine.
    ///
    /// # Errors
    /// If no call is known.
    pub fn back_out(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let from = self.position;
        let Some(frame) = self.stack(host)?.frames.pop() else { return Err(no_call()) };
        self.go_to(frame.position)?;
        Ok(Stopped { reason: Reason::Done, from, position: self.position })
    }

    /// Starts over: the history and the input given are forgotten, breakpoints stay.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn restart(&mut self) -> Result<(), Problem> {
        let (start, kept) = self.history.floor(0);
        self.instance.restore(&kept.snapshot).map_err(unrepeatable)?;
        (self.position, self.applied, self.halted) = (start, 0, None);
        self.history.fork(0, 0);
        self.stacks.fork(0);
        self.output.truncate(0);
        Ok(())
    }

    // Changing things, which forks the history.

    /// Performs assignments such as `r1 = 5; ram[0x10] = 3`. What came after this position is forgotten.
    ///
    /// # Errors
    /// If it cannot be understood, or would use a device.
    pub fn set(&mut self, statements: &str) -> Result<(), Problem> {
        let before = self.instance.state().pc;
        self.evaluator.perform(statements, &self.program, self.instance.state_mut())?;
        let changes = self.evaluator.changes(self.instance.state());
        let pc = Some(self.instance.state().pc).filter(|pc| *pc != before);
        let registers = changes.registers.iter().map(|change| (change.register.0, change.new)).collect();
        let cells = changes.cells.iter().map(|change| (change.memory.0, change.address, change.new)).collect();
        self.record(EventKind::Edit(Edit { pc, registers, cells }));
        Ok(())
    }

    /// Writes cells. What came after this position is forgotten.
    pub fn write_cells(&mut self, memory: MemoryId, address: u64, values: &[u64]) {
        let cells = addresses_from(address).zip(values).map(|(address, value)| (memory.0, address, *value)).collect();
        self.happen(EventKind::Edit(Edit { cells, ..Edit::default() }));
    }

    /// Gives the console something to read.
    pub fn give_input(&mut self, bytes: &[u8]) {
        self.happen(EventKind::Input(bytes.to_vec()));
    }

    /// Tells the console that the input has ended: reads past the end return 0.
    pub fn end_input(&mut self) {
        self.happen(EventKind::InputEnds);
    }

    /// Presses or releases a key of the keypad.
    ///
    /// # Errors
    /// If the machine has no keypad.
    pub fn set_key(&mut self, key: u32, down: bool) -> Result<(), Problem> {
        if self.instance.devices().find::<Keypad>().is_none() {
            return Err(Problem::new("this machine has no keypad"));
        }
        self.happen(EventKind::Key { key, down });
        Ok(())
    }

    /// Returns the ports of the machine's buses that were set or written, with the name of each bus.
    pub fn ports(&self) -> impl Iterator<Item = (&str, &Ports)> {
        let isa = self.program.isa();
        buses(isa).filter_map(|(bus, ..)| {
            Some((&*isa.devices[bus.index()].name, self.instance.devices().find_at::<Ports>(bus)?))
        })
    }

    /// Sets what the machine reads at a port of a bus.
    ///
    /// # Errors
    /// If there is no such bus or port, or the value does not fit.
    pub fn set_port(&mut self, bus: &str, port: u64, value: u64) -> Result<(), Problem> {
        let isa = self.program.isa();
        let found = buses(isa).find(|(id, ..)| isa.devices[id.index()].name == bus);
        let Some((id, ports, values)) = found else {
            return Err(Problem::new(format!("this machine has no bus `{bus}`")));
        };
        for (what, number, width) in [("port", port, ports), ("value", value, values)] {
            if !width.holds(number) {
                let problem = Problem::new(format!("the {what} {number} does not fit in {} bits", width.bits()));
                return Err(problem.help(format!("0 to {} fit", width.mask())));
            }
        }
        self.happen(EventKind::Port { bus: id.0, port, value });
        Ok(())
    }

    /// Applies an event to the machine, and records it.
    pub(crate) fn happen(&mut self, kind: EventKind) {
        Event { at: self.position, kind: kind.clone() }.apply(&mut self.instance);
        self.record(kind);
    }

    /// Records an event just applied to the machine, and drops the future it may have changed.
    fn record(&mut self, kind: EventKind) {
        let is_edit = matches!(kind, EventKind::Edit(_));
        self.history.fork(self.position, self.applied);
        self.stacks.fork(self.position);
        self.output.truncate(self.written());
        self.halted = self.halted.filter(|at| *at <= self.position && !is_edit);
        self.history.push(Event { at: self.position, kind });
        self.applied += 1;
    }

    /// Repeats an event of a saved history.
    pub(crate) fn replay(&mut self, event: Event) -> Result<(), Problem> {
        self.history.end = self.history.end.max(event.at);
        self.repeat(event.at)?;
        self.happen(event.kind);
        Ok(())
    }

    /// Runs a replayed history on to its saved end.
    pub(crate) fn replay_to(&mut self, end: u64) -> Result<(), Problem> {
        self.history.end = self.history.end.max(end);
        self.repeat(end)
    }

    /// Adds a breakpoint and returns its number.
    pub fn add(&mut self, text: &str, what: What, condition: Option<&str>, effect: Effect) -> Result<u32, Problem> {
        let condition = condition.map(|text| self.compile(text)).transpose()?;
        Ok(self.breakpoints.add(text.to_owned(), what, condition, effect))
    }

    /// Returns a breakpoint at an address, for a margin.
    pub fn breakpoint_at(&self, address: u64) -> Option<&Breakpoint> {
        let is_at = |known: &&Breakpoint| matches!(&known.what, What::At(list) if list.contains(&address));
        self.breakpoints.all().iter().find(is_at)
    }

    /// Returns the calls that have not returned, as far as they are known.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn stack(&mut self, host: &mut dyn Host) -> Result<Stack, Problem> {
        self.follow_calls(host)
    }
}

fn stopping(stop: Stop) -> Option<Reason> {
    match stop {
        Stop::Halted => Some(Reason::Halted),
        Stop::Idle => Some(Reason::Idle),
        Stop::Fault(fault) => Some(Reason::Fault(fault)),
        Stop::Waiting(device) => Some(Reason::Waiting(device)),
        Stop::Watch(_) | Stop::Breakpoint | Stop::Limit => None,
    }
}

pub(crate) fn at_beginning() -> Problem {
    Problem::new("this is the beginning of the history").help("go forward with `step` or `run`")
}

fn no_call() -> Problem {
    Problem::new("no call is known that has not returned").help("`stack` shows what is known")
}

pub(crate) fn unrepeatable(error: lathe_embed::Error) -> Problem {
    Problem::new(error.to_string())
}

impl Reason {
    /// Returns the hits; none for other reasons.
    pub fn hits(&self) -> &[Hit] {
        match self {
            Reason::Hit(hits) => hits,
            _ => &[],
        }
    }

    /// Whether a watched cell or value is the reason.
    pub fn is_watch(&self) -> bool {
        self.hits().iter().any(|hit| matches!(hit.detail, Detail::Cells { .. } | Detail::Changed { .. }))
    }
}
