//! The programs that ship with the machines, disassembled and assembled again. `lathe test` checks what they print or
//! leave behind; the tests of the command line run it over all of them.

use std::fs;
use std::path::{Path, PathBuf};

use lathe_asm::{Image, Method, Options, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use lathe_vm::State;

/// Includes come from the folder of the program.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = fs::read(self.0.join(name)).map_err(|error| FileError(error.to_string()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

/// Files that are only included.
const INCLUDES: [&str; 2] = ["lib", "macros"];

fn folder(machine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines").join(machine).join("programs")
}

fn machine(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).expect("it ships").source(), &lathe_machines::Shipped)
        .isa
        .expect("it is right")
}

fn build(isa: &Isa, path: &Path) -> Image {
    let text = fs::read_to_string(path).expect("the program can be read");
    let files = Folder(path.parent().expect("it is in a folder").to_owned());
    let result = assemble(isa, &files, Source::new(path.to_string_lossy(), text), &Options::default());
    let found: Vec<String> = result.diagnostics.into_sorted().into_iter().map(|found| found.message).collect();
    assert!(found.is_empty(), "{}: {found:?}", path.display());
    result.image.expect("there was no error")
}

/// Disassembles every program of a machine; there must be enough of them.
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
        let image = build(&isa, path);
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

machines! { quad8 8 duo16 8 stack8a 8 stack8b 8 hex8 8 sm83 5 mos6502 5 rv32i 5 chip8 5 lc3 5 z80 8 mos6502x 8 w65c02 8 avr 8 i8051 8 superchip 8 gameboy 8 i8080 8 pdp11 8 pdp8 8 rv32imc 8 rv64i 8 msp430 8 }

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
