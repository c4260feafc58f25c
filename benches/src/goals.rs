//! Goals for the compiling engine, as ratios to the hand-written interpreter.

/// How many times as fast as the fast interpreter the compiling engine must at least be, on every program that changes
/// its own code. Compiling in vain must not cost more than this.
pub const CHANGING: f64 = 0.8;

/// The goal for one machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// The geometric mean over all programs that do not change themselves.
    pub mean: f64,
    /// Each of these programs by itself.
    pub each: f64,
    /// How many times slower than the static translation the engine may be in the mean, where that is a goal.
    pub behind_translation: Option<f64>,
}

/// Returns the goal for a machine, if there is one.
pub fn of(machine: &str) -> Option<Goal> {
    match machine {
        "hex8" => Some(Goal { mean: 15.0, each: 10.0, behind_translation: Some(1.3) }),
        "quad8" | "duo16" => Some(Goal { mean: 12.0, each: 8.0, behind_translation: None }),
        "stack8a" | "stack8b" | "mos6502" | "sm83" | "lc3" | "rv32i" | "chip8" => {
            Some(Goal { mean: 8.0, each: 5.0, behind_translation: None })
        }
        _ => None,
    }
}
