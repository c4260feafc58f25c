//! What all engines have in common: the same program, input and stops give the same registers, memories, output, number
//! of steps and stop reason on all of them.

use crate::device::Devices;
use crate::interpreter::{Interpreter, Step};
use crate::state::State;
use crate::stops::{Fault, FaultCause, Run, Stop, Stops, WhenIdle};

/// Something that runs machines.
pub trait Engine {
    /// Runs until the machine stops or is idle, or one of the stops is reached. Before an instruction that may use a
    /// device, the engine must [tell](Devices::catch_up) the devices how many instructions and cycles there have been.
    ///
    /// The state may change in any way between two calls.
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run;

    /// Returns the reference interpreter, which executes what the engine itself cannot.
    fn interpreter(&mut self) -> &mut Interpreter;

    /// Runs until the machine stops, or one of the stops is reached.
    fn run_until(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        devices.begin();
        let mut run = self.advance(state, devices, stops);
        if run.stop == Stop::Idle && stops.idle == WhenIdle::GoOn {
            idle_on(self.interpreter(), state, devices, stops, &mut run);
        }
        devices.catch_up(run.steps, run.cycles);
        run
    }

    /// Runs until the machine stops, or this many instructions have been executed.
    fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        self.run_until(state, devices, &Stops::after(limit))
    }

    /// Executes one instruction.
    fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        let run = self.run(state, devices, 1);
        Step { stop: Some(run.stop).filter(|stop| *stop != Stop::Limit), cycles: run.cycles }
    }
}

/// Advances an idle run to its limit: every further instruction is the one executed last, which changes nothing.
fn idle_on(interpreter: &mut Interpreter, state: &mut State, devices: &mut Devices, stops: &Stops, run: &mut Run) {
    if stops.breakpoints.contains(&state.pc) {
        run.stop = Stop::Breakpoint;
        return;
    }
    let left = stops.limit - run.steps;
    let cycles = if left > 0 { interpreter.step(state, devices).cycles } else { 0 };
    *run = Run { stop: Stop::Limit, steps: stops.limit, cycles: run.cycles.wrapping_add(cycles.wrapping_mul(left)) };
}

impl Engine for Interpreter {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, stops: &Stops) -> Run {
        let mut run = Run::new();
        if !state.fits(self.isa()) {
            run.stop = Stop::Fault(Fault { pc: state.pc, cause: FaultCause::ForeignState });
            return run;
        }
        while run.steps < stops.limit {
            devices.catch_up(run.steps, run.cycles);
            let step = Interpreter::step(self, state, devices);
            run.cycles = run.cycles.wrapping_add(step.cycles);
            run.steps += step.executed();
            if let Some(stop) = self.stop_after(step, state, stops) {
                run.stop = stop;
                break;
            }
        }
        run
    }

    fn interpreter(&mut self) -> &mut Interpreter {
        self
    }
}

impl Interpreter {
    /// Returns why a run stops after this step, its last; nothing if the run continues.
    pub fn stop_after(&self, step: Step, state: &State, stops: &Stops) -> Option<Stop> {
        if let Some(Stop::Fault(_) | Stop::Waiting(_) | Stop::Halted) = step.stop {
            return step.stop;
        }
        let watched = self.watched(stops);
        if !watched.is_empty() {
            return Some(Stop::Watch(watched));
        }
        step.stop.or_else(|| stops.breakpoints.contains(&state.pc).then_some(Stop::Breakpoint))
    }
}
