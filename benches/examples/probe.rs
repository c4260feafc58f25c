//! Runs one benchmark program on the compiling engine only, for a profiler to look at.
//!
//! `cargo run --release -p lathe-benches --example probe -- MACHINE PROGRAM MILLIONS`

#[path = "../src/bin/engines/assembler.rs"]
mod assembler;
#[path = "../src/bin/engines/programs.rs"]
mod programs;

use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, State};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [machine, name, millions] = &arguments[..] else { panic!("MACHINE PROGRAM MILLIONS") };
    let steps = millions.parse::<u64>().expect("a number") * 1_000_000;
    let program = programs::ALL.iter().find(|program| program.machine == machine && program.name == name);
    let definition = lathe_machines::find(machine).expect("the machine ships").definition;
    let isa = lathe_isa::load(definition).isa.expect("the definition is right");
    let cells = assembler::assemble(&isa, program.expect("the program is there").text);
    let mut state = State::new(&isa);
    state.memory_mut(isa.pc.memory).fill(cells);
    let mut devices = Devices::new(&isa, Console::default());
    let mut engine = Jit::new(&isa);
    let start = std::time::Instant::now();
    let run = engine.run(&mut state, &mut devices, steps);
    let seconds = start.elapsed().as_secs_f64();
    println!("{:?}, {:.0} million per second, {:?}", run.stop, steps as f64 / seconds / 1e6, engine.statistics());
}
