//! No text makes the checker panic or hang, and it runs the examples of what it accepts.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Some(isa) = lathe_isa::load(text).isa {
        let _ = lathe_vm::examples::check(&isa);
    }
});
