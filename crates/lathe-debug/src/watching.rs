//! Stretches of the past, instruction by instruction: what was executed, how often, who called whom.
//!
//! None of this is recorded while a program runs: a stretch is executed again, on the reference interpreter, and
//! observed.

use std::collections::BTreeMap;

use lathe_embed::Changes;
use lathe_isa::decode::Decoded;
use serde::Serialize;

use crate::calls::{Jumped, Stack};
use crate::debugger::{Debugger, Host};
use crate::expression::Evaluator;
use crate::program::{Line, Place, Program, SourceLine};
use crate::{Problem, text};
use lathe_embed::State;

/// The most instructions executed again to find the calls.
const FOLLOWED: u64 = 1 << 18;
/// Instructions between two stacks kept.
const STRIDE: u64 = 1 << 12;
/// Instructions between two calls of `Host::goes_on`.
const PATIENCE: u64 = 1 << 14;
/// The most stacks kept.
const KEPT: usize = 512;

/// Known call stacks, by position.
#[derive(Default)]
pub(crate) struct Stacks(BTreeMap<u64, Stack>);

impl Stacks {
    pub(crate) fn fork(&mut self, position: u64) {
        self.0.retain(|at, _| *at <= position);
    }

    fn keep(&mut self, position: u64, stack: Stack) {
        self.0.insert(position, stack);
        if self.0.len() > KEPT {
            let first = self.0.keys().copied().find(|at| !at.is_multiple_of(STRIDE * 8));
            let first = first.or_else(|| self.0.keys().next().copied());
            first.map(|first| self.0.remove(&first));
        }
    }
}

/// One executed instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traced {
    /// The position before the instruction.
    pub step: u64,
    /// The instruction.
    #[serde(flatten)]
    pub line: Line,
    /// What it changed, in words: `r1 = 0x05`.
    pub changes: Vec<String>,
}

/// How often instructions were executed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The first position counted.
    pub from: u64,
    /// The position at which counting ended.
    pub to: u64,
    /// Executions by label, most frequent first.
    pub labels: Vec<(String, u64)>,
    /// Executions by address, most frequent first.
    pub hottest: Vec<(Line, u64)>,
}

/// Which lines of the source were executed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Every line with instructions, and how often its most executed instruction ran.
    pub lines: Vec<(SourceLine, u64)>,
    /// How many of the lines were executed.
    pub executed: usize,
}

/// What a walk shows of one executed instruction.
pub(crate) struct Executed<'e> {
    pub(crate) program: &'e Program,
    pub(crate) evaluator: &'e mut Evaluator,
    /// The position before the instruction.
    pub(crate) position: u64,
    pub(crate) pc: u64,
    pub(crate) decoded: Option<Decoded>,
    pub(crate) changes: &'e Changes,
    /// The state after it.
    pub(crate) state: &'e mut State,
}

impl Debugger {
    /// Executes a stretch of the history again and shows every instruction to `see`. Returns the position reached; the
    /// debugger ends where it began.
    fn walk(
        &mut self,
        from: u64,
        to: u64,
        host: &mut dyn Host,
        see: &mut dyn FnMut(&mut Executed),
    ) -> Result<u64, Problem> {
        let here = self.position;
        self.go_to(from)?;
        let mut asked = 0;
        while self.position < to {
            self.apply_events();
            let pc = self.instance.state().pc;
            let decoded = self.program.decode(self.instance.state(), pc);
            let (step, changes) = self.instance.step();
            if matches!(step.stop, Some(lathe_embed::Stop::Fault(_) | lathe_embed::Stop::Waiting(_))) {
                break;
            }
            self.position += 1;
            self.note_output(&mut ());
            see(&mut Executed {
                program: &self.program,
                evaluator: &mut self.evaluator,
                position: self.position - 1,
                pc,
                decoded,
                changes: &changes,
                state: self.instance.state_mut(),
            });
            asked += 1;
            if asked == PATIENCE {
                asked = 0;
                if !host.goes_on() {
                    break;
                }
            }
        }
        let reached = self.position;
        self.go_to(here)?;
        Ok(reached)
    }

    /// Returns the last instructions before this position; with a condition, only those after which it holds.
    ///
    /// # Errors
    /// If the condition cannot be understood.
    pub fn trace(&mut self, count: u64, condition: Option<&str>, host: &mut dyn Host) -> Result<Vec<Traced>, Problem> {
        let condition = condition.map(|text| self.compile(text)).transpose()?;
        let (mut end, mut found) = (self.position, Vec::new());
        let stretch = if condition.is_some() { FOLLOWED } else { count.min(FOLLOWED) };
        // Stretch by stretch from the end, until enough are found.
        while end > 0 && (found.len() as u64) < count {
            let start = end.saturating_sub(stretch.max(1));
            let mut part = Vec::new();
            let reached = self.walk(start, end, host, &mut |executed| {
                let holds = condition.as_ref().is_none_or(|text| executed.evaluator.bits(text, executed.state) != 0);
                if holds {
                    part.push(executed.traced());
                    if part.len() as u64 > 2 * count {
                        part.drain(..count as usize);
                    }
                }
            })?;
            part.append(&mut found);
            let extra = part.len().saturating_sub(count as usize);
            found = part.split_off(extra);
            end = start;
            if reached < end || !host.goes_on() {
                break;
            }
        }
        Ok(found)
    }

    /// Counts how often each instruction was executed in the last `count` instructions before this position.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn profile(&mut self, count: u64, host: &mut dyn Host) -> Result<Profile, Problem> {
        let from = self.position.saturating_sub(count);
        let (counts, to) = self.executions(from, host)?;
        let mut labels: BTreeMap<String, u64> = BTreeMap::new();
        for (address, count) in &counts {
            *labels.entry(self.program.owner(*address)).or_default() += count;
        }
        let mut hottest: Vec<(u64, u64)> = counts.into_iter().collect();
        hottest.sort_by_key(|(address, count)| (std::cmp::Reverse(*count), *address));
        let hottest =
            hottest.iter().take(10).map(|(address, count)| (self.program.line(self.state(), *address), *count));
        let hottest = hottest.collect();
        let mut labels: Vec<(String, u64)> = labels.into_iter().collect();
        labels.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), name.clone()));
        Ok(Profile { from, to, labels, hottest })
    }

    /// Determines which source lines were executed in the last `count` instructions before this position.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn coverage(&mut self, count: u64, host: &mut dyn Host) -> Result<Coverage, Problem> {
        let (counts, _) = self.executions(self.position.saturating_sub(count), host)?;
        let times = |addresses: &[u64]| addresses.iter().filter_map(|address| counts.get(address)).max().copied();
        let lines = self.program.code_lines().into_iter();
        let lines: Vec<(SourceLine, u64)> = lines.map(|(line, at)| (line, times(&at).unwrap_or(0))).collect();
        let executed = lines.iter().filter(|(_, count)| *count > 0).count();
        Ok(Coverage { lines, executed })
    }

    fn executions(&mut self, from: u64, host: &mut dyn Host) -> Result<(BTreeMap<u64, u64>, u64), Problem> {
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        let to = self.position;
        let reached = self.walk(from, to, host, &mut |executed| *counts.entry(executed.pc).or_default() += 1)?;
        Ok((counts, reached))
    }

    /// Finds the last instruction that wrote one of these registers, and the position before it.
    ///
    /// If nothing has written them since the beginning.
    pub fn who_wrote_register(&mut self, registers: &[u32], host: &mut dyn Host) -> Result<Traced, Problem> {
        let (mut end, mut stretch) = (self.position, 1 << 10);
        while end > 0 {
            let start = end.saturating_sub(stretch);
            let mut last = None;
            let reached = self.walk(start, end, host, &mut |executed| {
                if executed.changes.registers.iter().any(|change| registers.contains(&change.register.0)) {
                    last = Some(executed.traced());
                }
            })?;
            if let Some(traced) = last {
                return Ok(traced);
            }
            if reached < end {
                return Err(Problem::new("the search was interrupted").help("`who wrote` again searches again"));
            }
            (end, stretch) = (start, (stretch * 4).min(FOLLOWED));
        }
        Err(Problem::new("nothing has written it since the beginning").help("it has its reset value"))
    }

    /// Returns what the next instruction does, if the history goes that far; the position stays.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn preview(&mut self) -> Result<Option<Traced>, Problem> {
        let here = self.position;
        let mut seen = None;
        self.keep();
        if here < self.history.end {
            self.walk(here, here + 1, &mut (), &mut |executed| seen = Some(executed.traced()))?;
        }
        Ok(seen)
    }

    /// Finds the calls that have not returned.
    pub(crate) fn follow_calls(&mut self, host: &mut dyn Host) -> Result<Stack, Problem> {
        let here = self.position;
        let known = self.stacks.0.range(..=here).next_back().filter(|(at, _)| here - *at <= FOLLOWED);
        let cut = here > FOLLOWED;
        let unknown = (here.saturating_sub(FOLLOWED), Stack { cut, ..Stack::default() });
        let (from, mut stack) = known.map_or(unknown, |(at, stack)| (*at, stack.clone()));
        if from == here {
            return Ok(stack);
        }
        let model = self.model.clone();
        let mut found = Vec::new();
        self.walk(from, here, host, &mut |executed| {
            let length = executed
                .decoded
                .map_or(1, |decoded| u64::from(executed.program.isa().instruction(decoded.instruction).encoding.cells));
            let next = executed.program.isa().pc.width.wrap(executed.pc.wrapping_add(length));
            let jumped = Jumped {
                program: executed.program,
                model: &model,
                decoded: executed.decoded.as_ref(),
                from: executed.pc,
                next,
                position: executed.position,
            };
            stack.follow(&jumped, executed.state);
            if (executed.position + 1).is_multiple_of(STRIDE) {
                found.push((executed.position + 1, stack.clone()));
            }
        })?;
        found.into_iter().for_each(|(at, stack)| self.stacks.keep(at, stack));
        self.stacks.keep(here, stack.clone());
        Ok(stack)
    }
}

impl Executed<'_> {
    pub(crate) fn traced(&self) -> Traced {
        let changes = text::changes(self.program.isa(), self.changes);
        let mut line = self.program.line(self.state, self.pc);
        // The instruction may have overwritten itself.
        if self.changes.cells.iter().any(|cell| cell.memory == self.program.isa().pc.memory) {
            line.text = self.decoded_text().unwrap_or(line.text);
        }
        Traced { step: self.position, line, changes }
    }

    fn decoded_text(&self) -> Option<String> {
        let decoded = self.decoded.as_ref()?;
        let label =
            |_, address| self.program.label(self.program.isa().pc.memory, address).filter(|name| !name.contains('+'));
        Some(lathe_asm::disassembler::instruction(self.program.isa(), decoded, self.pc, label))
    }
}

/// A call on the stack, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallLine {
    /// Where execution is, or will resume when the calls above have returned.
    #[serde(flatten)]
    pub place: Place,
    /// The routine's label, or else its address.
    pub routine: String,
    /// The position before the call; `None` for the outermost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_at: Option<u64>,
}

impl Debugger {
    /// Returns the stack for people, innermost call first, and whether earlier calls are unknown.
    ///
    /// # Errors
    /// If the history cannot be repeated.
    pub fn call_lines(&mut self, host: &mut dyn Host) -> Result<(Vec<CallLine>, bool), Problem> {
        let stack = self.stack(host)?;
        let mut lines = Vec::new();
        let mut at = self.state().pc;
        for frame in stack.frames.iter().rev() {
            let routine = self.program.label(self.program.isa().pc.memory, frame.target);
            let routine = routine.unwrap_or_else(|| self.program.hex(frame.target));
            lines.push(CallLine { place: self.program.place(at), routine, called_at: Some(frame.position) });
            at = frame.site;
        }
        lines.push(CallLine { place: self.program.place(at), routine: self.program.owner(at), called_at: None });
        Ok((lines, stack.cut))
    }
}
