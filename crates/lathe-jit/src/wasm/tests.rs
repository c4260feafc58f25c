//! The modules of all sorts of regions are valid. Node, where they can run, tests what they do: `cargo xtask web test`.

use std::sync::Arc;

use lathe_fast::Fast;
use lathe_isa::Isa;
use lathe_tests::differential::generate;
use lathe_vm::{Console, Devices, Engine, State};
use wasmparser::{Validator, WasmFeatures};

use super::module;
use crate::region::{Extent, Known, discover};

/// Programs of each machine.
const PROGRAMS: u64 = 40;
/// Instructions that are interpreted, so that computed jumps have targets.
const STEPS: u64 = 2_000;

fn validate(isa: &Isa, fast: &Fast, state: &State, extent: Extent, place: &str) {
    let targets = |pc| fast.targets(pc).collect();
    let known = Known {
        fast,
        state,
        most: usize::MAX,
        modes: true,
        targets: &targets,
        contents: &|pc| fast.contents(pc),
        is_compiled: &|_| false,
        has_run: &|_| true,
    };
    let bytes = module(isa, &discover(&known, state.pc, extent));
    // Modules use nothing newer than the first version of WebAssembly.
    let result = Validator::new_with_features(WasmFeatures::WASM1).validate_all(&bytes);
    result.unwrap_or_else(|error| panic!("{place}: {error}"));
}

#[test]
fn modules_are_valid() {
    for machine in lathe_machines::every() {
        let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
        let isa = Arc::new(loaded.isa.expect("its definition is right"));
        for seed in 1..=PROGRAMS {
            let mut state = State::new(&isa);
            generate(&isa, seed).lay_down(&isa, &mut state);
            let mut devices = Devices::new(&isa, Console::default());
            let mut fast = Fast::eager(&isa);
            fast.run(&mut state, &mut devices, STEPS);
            let place = format!("{}, seed {seed}", machine.name);
            validate(&isa, &fast, &state, Extent::Everything, &place);
            validate(&isa, &fast, &state, Extent::One, &place);
        }
    }
}
