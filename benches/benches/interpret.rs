//! Millions of instructions per second of the interpreters on hex8: a loop that computes, loads, stores, calls and
//! branches. `lathe run` uses the fast one unless told otherwise.
//!
//! `cargo bench -p lathe-benches --bench interpret`

use std::time::Instant;

use lathe_asm::{Image, Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_vm::{Console, Devices, Engine, Interpreter, State, Stop};

const STEPS: u64 = 20_000_000;
const ROUNDS: usize = 5;

const PROGRAM: &str = "
        loadimm r1, 1
        loadimm r2, 0x40
loop:   addimm r3, r3, 7
        xor r4, r3
        storeind r4, r2, r3
        loadind r5, r2, r4
        call step
        jmpbwdo r1, loop
step:   mulimm r6, r5, 13
        add r6, r3
        return
";

fn main() {
    let definition = lathe_machines::find("hex8").expect("it ships").definition;
    let isa = std::sync::Arc::new(lathe_isa::load(definition).isa.expect("it is right"));
    let source = Source::new("loop.asm", PROGRAM);
    let image = assemble(&isa, &MemoryFiles::default(), source, &Options::default()).image.expect("it assembles");
    measure("reference", &isa, &image, || Interpreter::new(&isa));
    measure("fast", &isa, &image, || Fast::new(&isa));
}

fn measure<E: Engine>(name: &str, isa: &Isa, image: &Image, engine: impl Fn() -> E) {
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let mut state = State::new(isa);
        state.memory_mut(isa.pc.memory).fill(image.segments[0].cells.iter().copied());
        let mut devices = Devices::new(isa, Console::default());
        let mut engine = engine();
        let start = Instant::now();
        let run = engine.run(&mut state, &mut devices, STEPS);
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(run.stop, Stop::Limit);
    }
    println!("{name} interpreter, hex8: {:.1} million instructions a second", STEPS as f64 / best / 1e6);
}
