//! The programs that come with the machines, run to their end and compared with what they
//! ought to print or leave behind.
//!
//! `machines/<name>/programs/expected/<program>.out` is the console output, `.in` the input,
//! and `.state`, for machines that print nothing, holds lines such as `data[0x80]: 1 1 2 3`
//! and `sp = 0`; `.screen` is what a display shows at the end, after the keys of `.keys` were
//! pressed. The expectations were worked out independently of the programs.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_asm::{Image, Method, Options, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Display, Engine, Fast, Interpreter, Keypad, State, Stop};

/// Includes come from the folder of the program.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = fs::read(self.0.join(name)).map_err(|error| FileError(error.to_string()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

/// More than any program takes.
const LIMIT: u64 = 20_000_000;
/// Files that are only included.
const INCLUDES: [&str; 2] = ["lib", "macros"];

fn folder(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines").join(machine).join("programs")
}

fn machine(name: &str) -> Isa {
    lathe_isa::load(lathe_machines::find(name).expect("it ships").definition).isa.expect("it is right")
}

fn build(isa: &Isa, path: &Path) -> Image {
    let text = fs::read_to_string(path).expect("the program can be read");
    let files = Folder(path.parent().expect("it is in a folder").to_owned());
    let result = assemble(isa, &files, Source::new(path.to_string_lossy(), text), &Options::default());
    let found: Vec<String> = result.diagnostics.into_sorted().into_iter().map(|found| found.message).collect();
    assert!(found.is_empty(), "{}: {found:?}", path.display());
    result.image.expect("there was no error")
}

/// What a run leaves behind.
struct Outcome {
    state: State,
    output: Vec<u8>,
    screen: String,
    stop: Stop,
}

fn run(isa: &Isa, image: &Image, input: Vec<u8>, keys: &[u32], engine: &mut dyn Engine) -> Outcome {
    let mut state = State::new(isa);
    for segment in &image.segments {
        for (cell, address) in segment.cells.iter().zip(segment.start..) {
            state.memory_mut(segment.memory).set(address, *cell);
        }
    }
    state.pc = image.start(isa);
    let mut devices = Devices::new(isa, Console::with_input(input));
    if let Some(keypad) = devices.find_mut::<Keypad>() {
        *keypad = keypad.clone().with_script(keys);
    }
    let stop = engine.run(&mut state, &mut devices, LIMIT).stop;
    let output = devices.find_console().map_or(Vec::new(), |console| console.output().to_vec());
    let screen = devices.find::<Display>().map_or(String::new(), Display::text);
    Outcome { state, output, screen, stop }
}

/// Every engine there is.
fn engines(isa: &Isa) -> [(&'static str, Box<dyn Engine + '_>); 3] {
    [
        ("the reference interpreter", Box::new(Interpreter::new(isa))),
        ("the fast interpreter", Box::new(Fast::new(isa))),
        ("the JIT", Box::new(Jit::new(isa))),
    ]
}

/// `data[0x80]: 1 1 2 3` and `sp = 0`.
fn check_state(isa: &Isa, state: &State, wanted: &str, path: &Path) {
    let number = |text: &str| {
        let text = text.trim();
        let digits = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        digits.unwrap_or_else(|| text.parse()).unwrap_or_else(|_| panic!("{}: {text} is no number", path.display()))
    };
    for line in wanted.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#'])) {
        if let Some((name, value)) = line.split_once('=') {
            let place = isa.place_named(name.trim()).expect("the register exists");
            assert_eq!(state.place(&place), number(value), "{}: {line}", path.display());
            continue;
        }
        let (place, cells) = line.split_once(':').expect("a line is `name[address]: cells` or `name = value`");
        let (memory, address) = place.trim_end().trim_end_matches(']').split_once('[').expect("an address");
        let memory = isa.memory_named(memory.trim()).expect("the memory exists");
        let wanted: Vec<u64> = cells.split_whitespace().map(number).collect();
        let start = number(address);
        let found: Vec<u64> = (start..).take(wanted.len()).map(|at| state.memory(memory).get(at)).collect();
        assert_eq!(found, wanted, "{}: {place}", path.display());
    }
}

/// Runs every program of a machine; there must be enough of them.
fn check_all(name: &str, enough: usize) {
    let isa = machine(name);
    let mut count = 0;
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder(name)).expect("there are programs").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "asm")) {
        let stem = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        if INCLUDES.contains(&stem.as_str()) {
            continue;
        }
        let expected =
            |extension: &str| fs::read(folder(name).join("expected").join(format!("{stem}.{extension}"))).ok();
        let image = build(&isa, path);
        for (name, engine) in &mut engines(&isa) {
            let at = format!("{} on {name}", path.display());
            let keys = expected("keys").unwrap_or_default();
            let keys: Vec<u32> = keys.iter().filter_map(|key| char::from(*key).to_digit(16)).collect();
            let outcome = run(&isa, &image, expected("in").unwrap_or_default(), &keys, engine.as_mut());
            assert_eq!(outcome.stop, Stop::Halted, "{at}");
            let mut checked = false;
            if let Some(out) = expected("out") {
                assert_eq!(String::from_utf8_lossy(&outcome.output), String::from_utf8_lossy(&out), "{at}");
                checked = true;
            }
            if let Some(text) = expected("state") {
                check_state(&isa, &outcome.state, &String::from_utf8_lossy(&text), path);
                checked = true;
            }
            if let Some(screen) = expected("screen") {
                assert_eq!(outcome.screen, String::from_utf8_lossy(&screen), "{at}");
                checked = true;
            }
            assert!(checked, "{} has no expectation", path.display());
        }
        check_round_trip(&isa, &image, path);
        count += 1;
    }
    assert!(count >= enough, "{name} has only {count} programs");
    println!("{name}: {count} programs");
}

/// The disassembly of a program assembles to the same image.
fn check_round_trip(isa: &Isa, image: &Image, path: &Path) {
    for method in [Method::Follow, Method::Linear] {
        let text = disassemble(isa, image, method);
        let files = Folder(PathBuf::new());
        let again = assemble(isa, &files, Source::new("again.asm", text), &Options::default()).image;
        let again = again.unwrap_or_else(|| panic!("{}: the disassembly does not assemble", path.display()));
        for memory in (0..isa.memories.len() as u32).map(MemoryId) {
            assert_eq!(again.flat(memory, 0), image.flat(memory, 0), "{}", path.display());
        }
    }
}

macro_rules! machines {
    ($($name:ident $enough:literal)*) => {
        $(#[test]
        fn $name() {
            check_all(stringify!($name), $enough);
        })*
    };
}

machines! { quad8 8 duo16 8 stack8a 8 stack8b 8 hex8 8 sm83 5 mos6502 5 rv32i 5 chip8 5 lc3 5 }

/// The trap routines that every LC-3 has at reset are those of the program beside its definition.
#[test]
fn the_lc3_has_its_trap_routines() {
    let isa = machine("lc3");
    let image = build(&isa, &folder("lc3").join("../os.asm"));
    let mut assembled: Vec<(u64, u64)> = Vec::new();
    for segment in &image.segments {
        assembled.extend((segment.start..).zip(segment.cells.iter().copied()));
    }
    assembled.retain(|(_, cell)| *cell != 0);
    assembled.sort_unstable();
    assert_eq!(State::new(&isa).memory(isa.pc.memory).nonzero(), assembled);
}
