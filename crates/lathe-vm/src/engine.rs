//! What all engines have in common: the same program, input and limit give the same
//! registers, memories, output, number of steps and reason to stop on every one of them.

use crate::device::Devices;
use crate::interpreter::{Interpreter, Run, Step, Stop};
use crate::state::State;

/// Something that runs machines.
pub trait Engine {
    /// Runs until the machine stops, or so many instructions have been executed. Devices must be
    /// [told](Devices::catch_up) how many those are before an instruction that may use one.
    ///
    /// The state may be changed in any way between two calls.
    fn advance(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run;

    /// Runs until the machine stops, or so many instructions have been executed.
    fn run(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        devices.begin();
        let run = self.advance(state, devices, limit);
        devices.catch_up(run.steps);
        run
    }

    /// Executes one instruction.
    fn step(&mut self, state: &mut State, devices: &mut Devices) -> Step {
        let run = self.run(state, devices, 1);
        Step { stop: Some(run.stop).filter(|stop| *stop != Stop::Limit), cycles: run.cycles }
    }
}

impl Engine for Interpreter<'_> {
    fn advance(&mut self, state: &mut State, devices: &mut Devices, limit: u64) -> Run {
        let mut run = Run { stop: Stop::Limit, steps: 0, cycles: 0 };
        while run.steps < limit {
            devices.catch_up(run.steps);
            let step = self.step(state, devices);
            run.cycles = run.cycles.wrapping_add(step.cycles);
            run.steps += u64::from(!matches!(step.stop, Some(Stop::Fault(_))));
            if let Some(stop) = step.stop {
                run.stop = stop;
                break;
            }
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Console, Fast};

    /// A step of any engine is a step of the reference interpreter: going on, halting, faulting.
    #[test]
    fn a_step_is_a_run_of_one() {
        let text = r#"
machine t "t"
memory ram : u4 -> u8
pc pc : u4 in ram
instructions {
  nop  | 0x01 |
  halt | 0x02 | halt
}
"#;
        let isa = lathe_isa::load(text).isa.expect("it is right");
        for cell in 0..4 {
            let mut state = State::new(&isa);
            state.memory_mut(isa.pc.memory).set(0, cell);
            let mut devices = Devices::new(&isa, Console::default());
            let expected = Interpreter::new(&isa).step(&mut state.clone(), &mut devices);
            let found = Engine::step(&mut Interpreter::new(&isa), &mut state.clone(), &mut devices);
            assert_eq!(found, expected, "{cell}");
            assert_eq!(Fast::new(&isa).step(&mut state, &mut devices), expected, "{cell}");
        }
    }
}
