//! What all engines have in common: the same program, input and limit give the same
//! registers, memories, output, number of steps and reason to stop on every one of them.

use crate::device::Devices;
use crate::interpreter::{Interpreter, Run, Step, Stop};
use crate::state::State;

/// Something that runs machines.
pub trait Engine {
    /// Runs until the machine stops, or so many instructions have been executed.
    ///
    /// The state may be changed in any way between two runs.
    fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run;

    /// Executes one instruction.
    fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        let run = self.run(state, devices, 1);
        Step { stop: Some(run.stop).filter(|stop| *stop != Stop::Limit), cycles: run.cycles }
    }
}

impl Engine for Interpreter<'_> {
    fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        Interpreter::run(self, state, devices, limit)
    }
}
