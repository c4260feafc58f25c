//! Tests of compiled code as WebAssembly, which only a host of WebAssembly can run: `web/tests/engines.mjs`, a part of
//! `cargo xtask web test`, calls this module in Node.

#[path = "../tests/operators.rs"]
mod operators;

use std::cell::RefCell;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_tests::differential::{Contestant, compare, text};

thread_local! {
    /// What the script reads: the name of a machine, or why a test has failed.
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Where the text is.
// SAFETY: no other function of the module has this name. The text is read before the next call.
#[unsafe(no_mangle)]
extern "C" fn told() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}

/// How long the text is.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn told_length() -> usize {
    TEXT.with_borrow(String::len)
}

/// Has panics leave their message behind. A test that fails panics, and that stops the module.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn begin() {
    std::panic::set_hook(Box::new(|panic| TEXT.set(panic.to_string())));
}

/// Every operator on all operands of small widths.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_operators() {
    operators::operators_with_two_operands();
    operators::operators_with_one_operand();
}

/// How many machines there are.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn machines() -> usize {
    lathe_machines::every().count()
}

/// Compares this many generated programs of one machine with the reference interpreter. Its name is told.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_machine(number: usize, seed: u32, programs: u32) {
    let machine = lathe_machines::every().nth(number).expect("there is such a machine");
    let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
    let isa: Arc<Isa> = Arc::new(loaded.isa.expect("its definition is right"));
    let engine = Contestant::new("jit", |isa| Jit::with_threshold(isa, 2));
    let (first, count) = (u64::from(seed), u64::from(programs));
    if let Err(found) = compare(&isa, first..first + count, &engine, &mut |_| {}) {
        panic!("{}", text(&isa, machine.name, &engine, &found));
    }
    TEXT.set(machine.name.to_owned());
}
