//! How fast a run was: `lathe run --stats`, for people and as data.

use std::time::Duration;

use lathe_embed::{EngineKind, Statistics};
use serde::Serialize;

use crate::render::count;

/// How fast a run was, and what was compiled for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stats {
    pub(super) engine: EngineKind,
    pub(super) steps: u64,
    /// Time spent in the engine, including waits for input, but not loading and assembling.
    pub(super) time: Duration,
    /// `None` for engines that do not compile.
    pub(super) compiled: Option<Statistics>,
}

/// Statistics as data.
#[derive(Debug, Serialize)]
pub(super) struct StatsData {
    engine: &'static str,
    instructions: u64,
    seconds: f64,
    millions_per_second: f64,
    #[serde(flatten)]
    compiled: Option<CompiledData>,
}

#[derive(Debug, Serialize)]
struct CompiledData {
    regions: u64,
    improved: u64,
    compiled_instructions: u64,
    compiled_steps: u64,
    compile_seconds: f64,
    entries: u64,
    left_to_interpreter: u64,
    left_by_jump: u64,
    given_up: u64,
    invalidations: u64,
}

impl Stats {
    fn millions_per_second(&self) -> f64 {
        self.steps as f64 / self.time.as_secs_f64().max(1e-9) / 1e6
    }

    /// Names the engine. A build without the JIT says so: its figures are not the best that Lathe can do.
    fn engine_text(&self) -> String {
        let missing = if cfg!(feature = "jit") { "" } else { " (this build has no JIT: see `lathe run --help`)" };
        format!("{}{missing}", self.engine.name())
    }

    /// Renders a line for each figure.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![
            ("engine", self.engine_text()),
            ("instructions", self.steps.to_string()),
            ("time", format!("{:.6} s", self.time.as_secs_f64())),
            ("speed", format!("{:.1} million instructions a second", self.millions_per_second())),
        ];
        if let Some(compiled) = &self.compiled {
            let share = compiled.compiled_steps as f64 / (self.steps.max(1)) as f64 * 100.0;
            let instructions = count(compiled.compiled_instructions as usize, "instruction");
            let again = format!("{} compiled again, as well as possible", compiled.improved);
            lines.push(("regions", format!("{} compiled, of {instructions}; {again}", compiled.regions)));
            let thrown_away = format!("{} thrown away when their code changed", compiled.invalidations);
            lines.push(("", format!("{thrown_away}, {} given up because they were left at once", compiled.given_up)));
            lines.push(("compiling", format!("took {:.6} s", compiled.compile_time.as_secs_f64())));
            lines.push(("compiled code", format!("did {share:.1} % of the instructions")));
            let elsewhere = compiled.entries - compiled.left_to_interpreter - compiled.left_by_jump;
            let entries = count(compiled.entries as usize, "time");
            let interpret = format!("{} for an instruction that must be interpreted", compiled.left_to_interpreter);
            let jump = format!("{} by a computed jump", compiled.left_by_jump);
            lines.push(("", format!("entered {entries}; left {interpret}, {jump}, {elsewhere} for other code")));
        }
        lines.iter().map(|(name, text)| format!("  {name:<13}  {text}\n")).collect()
    }

    pub(super) fn data(&self) -> StatsData {
        let compiled = self.compiled.map(|compiled| CompiledData {
            regions: compiled.regions,
            improved: compiled.improved,
            compiled_instructions: compiled.compiled_instructions,
            compiled_steps: compiled.compiled_steps,
            compile_seconds: compiled.compile_time.as_secs_f64(),
            entries: compiled.entries,
            left_to_interpreter: compiled.left_to_interpreter,
            left_by_jump: compiled.left_by_jump,
            given_up: compiled.given_up,
            invalidations: compiled.invalidations,
        });
        StatsData {
            engine: self.engine.name(),
            instructions: self.steps,
            seconds: self.time.as_secs_f64(),
            millions_per_second: self.millions_per_second(),
            compiled,
        }
    }
}
