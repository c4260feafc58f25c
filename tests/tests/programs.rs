//! The programs that come with the machines, run to their end and compared with what they
//! ought to print or leave behind.
//!
//! `machines/<name>/programs/expected/<program>.out` is the console output, `.in` the input,
//! and `.state`, for machines that print nothing, holds lines such as `data[0x80]: 1 1 2 3`
//! and `sp = 0`. The expectations were worked out independently of the programs.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_asm::{Image, Method, Options, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_jit::Jit;
use lathe_vm::{Console, Devices, Engine, Fast, Interpreter, State, Stop};

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

fn run(isa: &Isa, image: &Image, input: Vec<u8>, engine: &mut dyn Engine) -> (State, Vec<u8>, Stop) {
    let mut state = State::new(isa);
    for segment in &image.segments {
        for (cell, address) in segment.cells.iter().zip(segment.start..) {
            state.memory_mut(segment.memory).set(address, *cell);
        }
    }
    state.pc = image.start(isa);
    let mut devices = Devices::new(isa, Console::with_input(input));
    let run = engine.run(&mut state, &mut devices, LIMIT);
    let output = devices.find_console().map_or(Vec::new(), |console| console.output().to_vec());
    (state, output, run.stop)
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
fn check_all(name: &str) {
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
            let (state, output, stop) = run(&isa, &image, expected("in").unwrap_or_default(), engine.as_mut());
            assert_eq!(stop, Stop::Halted, "{at}");
            match (expected("out"), expected("state")) {
                (Some(out), _) => assert_eq!(String::from_utf8_lossy(&output), String::from_utf8_lossy(&out), "{at}"),
                (None, Some(text)) => check_state(&isa, &state, &String::from_utf8_lossy(&text), path),
                (None, None) => panic!("{} has no expectation", path.display()),
            }
        }
        check_round_trip(&isa, &image, path);
        count += 1;
    }
    assert!(count >= 8, "{name} has only {count} programs");
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

#[test]
fn quad8_programs() {
    check_all("quad8");
}

#[test]
fn duo16_programs() {
    check_all("duo16");
}

#[test]
fn stack8a_programs() {
    check_all("stack8a");
}

#[test]
fn stack8b_programs() {
    check_all("stack8b");
}

#[test]
fn hex8_programs() {
    check_all("hex8");
}
