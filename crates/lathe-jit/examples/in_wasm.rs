//! Tests code compiled to WebAssembly, which only a WebAssembly host can run: `web/tests/engines.mjs`, a part of `cargo
//! xtask web test`, calls this module in Node.

#[path = "../tests/operators.rs"]
mod operators;

use std::cell::RefCell;
use std::sync::Arc;

use lathe_isa::Isa;
use lathe_jit::Jit;
use lathe_tests::differential::{Contestant, compare, text};
use lathe_vm::{Console, Devices, Engine, Interpreter, State};

thread_local! {
    /// The text that the script reads: the name of a machine, or why a test has failed.
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Returns where the text is.
// SAFETY: no other function of the module has this name. The text is read before the next call.
#[unsafe(no_mangle)]
extern "C" fn told() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}

/// Returns how long the text is.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn told_length() -> usize {
    TEXT.with_borrow(String::len)
}

/// Makes panics leave their message in the text. A failing test panics, which stops the module.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn begin() {
    std::panic::set_hook(Box::new(|panic| TEXT.set(panic.to_string())));
}

/// Tests every operator on all operands of small widths.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_operators() {
    operators::operators_with_two_operands();
    operators::operators_with_one_operand();
}

/// A machine whose numbers of two, four and eight bytes have the high byte first. The machines that ship have such
/// numbers of at most two bytes.
const BIG: &str = r#"
machine big "Numbers with their high byte first"
memory ram : u8 -> u8 big
pc pc : u8 in ram
register a, b, p : u64
field N : u8
instructions {
  load2  | 0000 0001          | a = zext(ram[p[7:0]] ++ ram[p[7:0] + 1])
  load4  | 0000 0010          | a = zext(ram[p[7:0]] ++ ram[p[7:0] + 1] ++ ram[p[7:0] + 2] ++ ram[p[7:0] + 3])
  load8  | 0000 0011          | a = ram[p[7:0]] ++ ram[p[7:0] + 1] ++ ram[p[7:0] + 2] ++ ram[p[7:0] + 3] ++ ram[p[7:0] + 4] ++ ram[p[7:0] + 5] ++ ram[p[7:0] + 6] ++ ram[p[7:0] + 7]
  store2 | 0000 0101          | ram[p[7:0]] = a[15:8]; ram[p[7:0] + 1] = a[7:0]
  store4 | 0000 0110          | ram[p[7:0]] = a[31:24]; ram[p[7:0] + 1] = a[23:16]; ram[p[7:0] + 2] = a[15:8]; ram[p[7:0] + 3] = a[7:0]
  store8 | 0000 0111          | ram[p[7:0]] = a[63:56]; ram[p[7:0] + 1] = a[55:48]; ram[p[7:0] + 2] = a[47:40]; ram[p[7:0] + 3] = a[39:32]; ram[p[7:0] + 4] = a[31:24]; ram[p[7:0] + 5] = a[23:16]; ram[p[7:0] + 6] = a[15:8]; ram[p[7:0] + 7] = a[7:0]
  add    | 0000 1000          | b = b + a
  swap   | 0000 1001          | a = b
  to N   | 0001 0000 NNNNNNNN | p = zext(N)
  again N | 0010 0000 NNNNNNNN | pc = N
}
"#;

/// Tests numbers of several bytes, the high byte first, in generated programs.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_big(seed: u32, programs: u32) {
    let loaded = lathe_isa::load(BIG);
    let isa: Arc<Isa> = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    check(&isa, "big", seed, programs);
}

/// A machine with two large memories, which are in pages here, and numbers around the ends of pages.
const PAGES: &str = r#"
machine pages "Numbers across the ends of pages"
memory ram : u24 -> u8 little
memory data : u22 -> u16
pc pc : u24 in ram
register a, b : u64
register p : u24
field N : u8
instructions {
  load2   | 0000 0001          | a = zext(ram[p + 1] ++ ram[p])
  load4   | 0000 0010          | a = zext(ram[p + 3] ++ ram[p + 2] ++ ram[p + 1] ++ ram[p])
  load8   | 0000 0011          | a = ram[p + 7] ++ ram[p + 6] ++ ram[p + 5] ++ ram[p + 4] ++ ram[p + 3] ++ ram[p + 2] ++ ram[p + 1] ++ ram[p]
  fixed   | 0000 0100          | a = zext(ram[0x30_1000] ++ ram[0x30_0FFF])
  store2  | 0000 0101          | ram[p] = a[7:0]; ram[p + 1] = a[15:8]
  store4  | 0000 0110          | ram[p] = a[7:0]; ram[p + 1] = a[15:8]; ram[p + 2] = a[23:16]; ram[p + 3] = a[31:24]
  store8  | 0000 0111          | ram[p] = a[7:0]; ram[p + 1] = a[15:8]; ram[p + 2] = a[23:16]; ram[p + 3] = a[31:24]; ram[p + 4] = a[39:32]; ram[p + 5] = a[47:40]; ram[p + 6] = a[55:48]; ram[p + 7] = a[63:56]
  add     | 0000 1000          | b = b + a + 0x0123_4567_89AB_CDEF
  swap    | 0000 1001          | a = b
  get     | 0000 1010          | a = zext(data[p[21:0]])
  put     | 0000 1011          | data[p[21:0]] = a[15:0]
  next    | 0000 1100          | p = p + 3
  near N  | 0001 0000 NNNNNNNN | p = 0x30_0FF0 + zext(N[4:0])
  last N  | 0001 0001 NNNNNNNN | p = 0xFF_FFF0 + zext(N[4:0])
  again N | 0010 0000 NNNNNNNN | pc = zext(N)
}
"#;

/// Tests numbers of several bytes that lie in one page or in two.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_pages(seed: u32, programs: u32) {
    let loaded = lathe_isa::load(PAGES);
    let isa: Arc<Isa> = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    check(&isa, "pages", seed, programs);
    cross(&isa);
}

/// Runs loops that read and write across the end of a page and of the memory, with every instruction of [`PAGES`] that
/// can: generated programs seldom get there with an address unknown to compiled code.
fn cross(isa: &Arc<Isa>) {
    let [near, last, add, swap, next, again] = [0x10, 0x11, 0x08, 0x09, 0x0C, 0x20];
    let (loads, stores) = ([0x01, 0x02, 0x03, 0x04, 0x0A], [0x05, 0x06, 0x07, 0x0B]);
    let pairs = loads.into_iter().flat_map(|load| stores.map(|store| (load, store)));
    for (begin, (load, store)) in
        [near, last].into_iter().flat_map(|begin| pairs.clone().map(move |pair| (begin, pair)))
    {
        let program = [begin, 0, load, add, swap, store, next, again, 2];
        let end = |engine: &mut dyn Engine| {
            let mut state = State::new(isa);
            state.memory_mut(isa.pc.memory).fill(program);
            engine.run(&mut state, &mut Devices::new(isa, Console::default()), 400);
            state
        };
        let (expected, found) = (end(&mut Interpreter::new(isa)), end(&mut Jit::with_threshold(isa, 2)));
        assert!(expected == found, "{program:?} does not do the same");
    }
}

/// Returns how many machines there are.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn machines() -> usize {
    lathe_machines::every().count()
}

/// Compares this many generated programs of one machine with the reference interpreter. Leaves the name of the machine
/// in the text.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
extern "C" fn check_machine(number: usize, seed: u32, programs: u32) {
    let machine = lathe_machines::every().nth(number).expect("there is such a machine");
    let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
    let isa: Arc<Isa> = Arc::new(loaded.isa.expect("its definition is right"));
    check(&isa, machine.name, seed, programs);
}

fn check(isa: &Arc<Isa>, name: &str, seed: u32, programs: u32) {
    let engine = Contestant::new("jit", |isa| Jit::with_threshold(isa, 2));
    let (first, count) = (u64::from(seed), u64::from(programs));
    if let Err(found) = compare(isa, first..first + count, &engine, &mut |_| {}) {
        panic!("{}", text(isa, name, &engine, &found));
    }
    TEXT.set(name.to_owned());
}
