//! A run in slices. Between two slices, the run deals with the outside: standard output, the display, and whether the
//! user wants it to end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use lathe_embed::{Instance, Snapshot, Stop};
use lathe_vm::Stops;

use super::trace::{Begin, Tracer};
use crate::commands::console::Terminal;
use crate::commands::host::{Heard, Host};
use crate::commands::screen::{Live, Wish};
use crate::exit::Failure;
use crate::places::Places;

/// Steps in a first slice. The program's output is shown at its end at the latest, so a slice must take no time that
/// people notice.
const SLICE: u64 = 1 << 18;
/// If a slice takes less than this, the checks cost too much, and the next slice is longer.
const SHORT: Duration = Duration::from_millis(5);
/// The longest slice: code that was fast can become slow.
const LONGEST_SLICE: u64 = 1 << 23;
/// Traced steps between two checks of the outside.
const TRACED: u64 = 1 << 12;

/// A running program.
pub(super) struct RunningProgram {
    pub(super) instance: Instance,
    pub(super) terminal: Terminal,
    /// The display, if it is shown.
    pub(super) live: Option<Live>,
    pub(super) host: Option<Host>,
    /// The address that `--until` names.
    pub(super) until: Option<u64>,
    pub(super) limit: u64,
    /// Whether the user has pressed Ctrl-C.
    pub(super) interrupted: Arc<AtomicBool>,
    /// The time spent in the engine.
    pub(super) time: Duration,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The machine stopped, or the limit was reached.
    Stop(Stop),
    /// It reached the address that `--until` names.
    Reached,
    /// The program told its host that all is well.
    Passed,
    /// The program told its host that the test with this number failed.
    TestFailed(u64),
    /// The program jumps to itself without having told its host the result.
    Untold,
    /// The user pressed Ctrl-C or Esc.
    Interrupted,
    /// The reader of the output has gone.
    NoReader,
}

/// What to keep of the state while running at full speed.
enum Keep<'k> {
    Nothing,
    /// Keeps the state at the beginning of every slice, and how much input had been read by then, reaching back this
    /// many steps before the end.
    Last(u64, &'k mut VecDeque<(Snapshot, usize)>),
}

impl RunningProgram {
    /// Runs to the end, and restores the terminal.
    pub(super) fn run(&mut self, tracer: Option<Tracer>, places: &Places) -> Result<End, Failure> {
        let end = match tracer {
            _ if self.until == Some(self.instance.state().pc) => Ok(End::Reached),
            None => self.run_fast(self.limit, &[], Keep::Nothing),
            Some(tracer) => self.run_traced(tracer, places),
        };
        self.live = None;
        end
    }

    /// Runs at the engine's speed, to the end, to this many steps, or to one of these addresses; the last two are
    /// [`Stop::Limit`] and [`Stop::Breakpoint`].
    fn run_fast(&mut self, steps: u64, places: &[u64], mut keep: Keep) -> Result<End, Failure> {
        let mut slice = SLICE;
        loop {
            if let Keep::Last(count, kept) = &mut keep {
                self.keep(*count, kept);
            }
            slice = self.live.as_ref().map_or(slice, |live| live.steps);
            let left = steps - self.instance.counters().steps;
            let mut stops = Stops::after(slice.min(left));
            stops.breakpoints.extend(places.iter().chain(&self.until));
            stops.watches.extend(self.host.as_ref().map(Host::watch));
            let start = Instant::now();
            let run = self.instance.run(&stops);
            let taken = start.elapsed();
            self.time += taken;
            slice = if taken < SHORT { LONGEST_SLICE.min(slice * 2) } else { SLICE };
            let end = self.judge(run.stop);
            let seen = self.look()?;
            let is_over = self.instance.counters().steps == steps;
            match (end, seen) {
                (Some(end), _) | (None, Some(end)) => return Ok(end),
                (None, None) if is_over => return Ok(End::Stop(Stop::Limit)),
                (None, None) => {}
            }
        }
    }

    /// Keeps the current state, and drops states too far back.
    fn keep(&mut self, count: u64, kept: &mut VecDeque<(Snapshot, usize)>) {
        let now = self.instance.counters().steps;
        while kept.get(1).is_some_and(|(second, _)| second.counters().steps + count <= now) {
            kept.pop_front();
        }
        kept.push_back((self.instance.snapshot(), self.terminal.read_so_far()));
    }

    /// Returns what a stop means for the run; `None` if it goes on.
    fn judge(&mut self, stop: Stop) -> Option<End> {
        match stop {
            Stop::Limit => None,
            Stop::Breakpoint if self.until == Some(self.instance.state().pc) => Some(End::Reached),
            Stop::Watch(_) => self.hear(),
            Stop::Idle if self.host.is_some() => Some(End::Untold),
            other => Some(End::Stop(other)),
        }
    }

    /// Handles what the program tells its host.
    fn hear(&mut self) -> Option<End> {
        match self.host.as_ref()?.hear(&mut self.instance) {
            Heard::Nothing => None,
            Heard::Output(bytes) => {
                self.terminal.write(&bytes);
                None
            }
            Heard::Exit(0) => Some(End::Passed),
            Heard::Exit(code) => Some(End::TestFailed(code)),
        }
    }

    fn look(&mut self) -> Result<Option<End>, Failure> {
        if !self.terminal.flush()? {
            return Ok(Some(End::NoReader));
        }
        let wish = self.live.as_mut().map_or(Ok(Wish::GoOn), |live| live.frame(self.instance.devices_mut()))?;
        let stops = wish == Wish::Stop || self.interrupted.swap(false, Ordering::Relaxed);
        Ok(stops.then_some(End::Interrupted))
    }

    /// Runs fast to where the trace begins, then step by step.
    fn run_traced(&mut self, mut tracer: Tracer, places: &Places) -> Result<End, Failure> {
        let here = End::Stop(Stop::Limit);
        let end = match tracer.begin {
            Begin::Step(step) => self.run_fast(step.min(self.limit), &[], Keep::Nothing)?,
            Begin::Address(address) if address == self.instance.state().pc => here.clone(),
            Begin::Address(address) => match self.run_fast(self.limit, &[address], Keep::Nothing)? {
                End::Stop(Stop::Breakpoint) => here.clone(),
                // The step limit is not where the trace begins.
                End::Stop(Stop::Limit) => return Ok(here),
                other => other,
            },
            Begin::Last(count) => return self.trace_last(count, tracer, places),
        };
        if end != here {
            return Ok(end);
        }
        let end = self.trace(&mut tracer, places, self.limit)?;
        tracer.finish()?;
        Ok(end)
    }

    /// Runs to the end first, then the last steps again, from a state kept before them.
    fn trace_last(&mut self, count: u64, mut tracer: Tracer, places: &Places) -> Result<End, Failure> {
        self.terminal.record();
        let mut kept = VecDeque::new();
        let end = self.run_fast(self.limit, &[], Keep::Last(count, &mut kept))?;
        let last = self.instance.counters().steps;
        let begin = last.saturating_sub(count);
        let Some((snapshot, read)) = kept.iter().rev().find(|(snapshot, _)| snapshot.counters().steps <= begin) else {
            return Ok(end);
        };
        self.terminal.replay(*read);
        self.instance.restore(snapshot).map_err(|error| Failure::input(error.to_string()))?;
        self.run_fast(begin, &[], Keep::Nothing)?;
        // One more step, so that an instruction that faulted is shown as well.
        let faulted = u64::from(matches!(end, End::Stop(Stop::Fault(_))));
        self.trace(&mut tracer, places, last + faulted)?;
        tracer.finish()?;
        Ok(end)
    }

    fn trace(&mut self, tracer: &mut Tracer, places: &Places, limit: u64) -> Result<End, Failure> {
        let watch = self.host.as_ref().map(Host::watch);
        while self.instance.counters().steps < limit {
            let before = tracer.before(&self.instance, places);
            let (step, changes) = self.instance.step();
            tracer.after(before, &self.instance, step.stop.as_ref(), &changes)?;
            if let Some(end) = step.stop.and_then(|stop| self.judge(stop)) {
                return Ok(end);
            }
            let told = |watch: &lathe_vm::Watch| changes.accesses.iter().any(|access| watch.covers(access));
            let heard = if watch.as_ref().is_some_and(told) { self.hear() } else { None };
            let reached = (self.until == Some(self.instance.state().pc)).then_some(End::Reached);
            let seen = if self.instance.counters().steps.is_multiple_of(TRACED) { self.look()? } else { None };
            if let Some(end) = heard.or(reached).or(seen) {
                return Ok(end);
            }
        }
        self.look()?;
        Ok(End::Stop(Stop::Limit))
    }
}
