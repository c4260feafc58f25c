//! The cores of `lathe hdl` against the reference interpreter, after every instruction: on the programs that ship with
//! the machines, and on generated ones.
//!
//! A plain run compares a million instructions of each machine that ships, and of a few others: compiling a model takes
//! longer than running it. `cargo xtask cosim` compares all machines, and more of everything: it sets `LATHE_COSIM` to
//! the number of instructions for each machine that ships. `LATHE_SEED` sets where the seeds of generated programs
//! start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lathe_asm::{Image, Options, assemble};
use lathe_base::Source;
use lathe_base::files::{FileError, Files, Found};
use lathe_hdl::{Form, Small};
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, RegisterId};
use lathe_tests::cosim::{Compared, Model, Start};
use lathe_tests::differential::generate;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Interpreter, State};

/// How many instructions a plain run compares for each machine.
const INSTRUCTIONS: u64 = 1_000_000;
/// The fewest generated programs for each machine, however many instructions have already been compared.
const PROGRAMS: u64 = 40;
/// How many instructions a generated program counts for in addition to its own, on a machine that does not ship: some
/// programs end at once.
const COUNTED: u64 = 100;
/// The most instructions of a generated program. Programs that do not end by themselves go round in circles.
const GENERATED: u64 = 3_000;
/// The most instructions of a program that ships with a machine, in a plain run and in a long one.
const LIMITS: [u64; 2] = [200_000, 5_000_000];
/// The time between progress messages.
const PATIENCE: Duration = Duration::from_secs(10);
/// The console input for programs that read it.
const INPUT: &[u8] = b"12 34\nHello, world!\n7\n";

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

fn machine(name: &str) -> (Arc<Isa>, &'static str) {
    let machine = lathe_machines::find(name).expect("the machine ships");
    let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
    (Arc::new(loaded.isa.expect("its definition is right")), machine.definition)
}

/// Includes come from the folder of the program.
struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = std::fs::read(self.0.join(name)).map_err(|error| FileError(error.to_string()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}

/// Returns the programs of a machine that assemble by themselves.
fn programs(isa: &Isa, name: &str) -> Vec<(PathBuf, Image)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines").join(name).join("programs");
    let mut paths: Vec<PathBuf> =
        folder.read_dir().expect("there are programs").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "asm"));
    paths.sort();
    let build = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("the program can be read");
        let source = Source::new(path.to_string_lossy(), text);
        assemble(isa, &Folder(folder.clone()), source, &Options::default()).image.map(|image| (path, image))
    };
    paths.into_iter().filter_map(build).collect()
}

/// Returns the state in which a program begins.
fn loaded(isa: &Isa, image: &Image) -> State {
    let mut state = State::new(isa);
    for segment in &image.segments {
        let memory = state.memory_mut(segment.memory);
        (segment.start..).zip(&segment.cells).for_each(|(address, value)| memory.set(address, *value));
    }
    state.pc = image.entry.unwrap_or(state.pc);
    state
}

/// Compares the core of a machine that ships with the interpreter.
fn check(name: &str) {
    let (isa, definition) = machine(name);
    let programs = programs(&isa, name);
    check_definition(name, &isa, definition, &programs, true);
}

/// Compares a core with the interpreter on all programs for its machine.
fn check_definition(name: &str, isa: &Arc<Isa>, definition: &str, programs: &[(PathBuf, Image)], is_always_done: bool) {
    let long = number("LATHE_COSIM");
    let limit = LIMITS[usize::from(long.is_some())];
    let (wanted, counted) = match long {
        None if !is_always_done => return println!("{name}: left to `cargo xtask cosim`"),
        // There are many machines that do not ship.
        found if !MACHINES.contains(&name) => (found.unwrap_or(0) / 10, COUNTED),
        found => (found.unwrap_or(INSTRUCTIONS), 0),
    };
    let Some(verilator) = tools::find(&format!("the hardware of {name}"), "verilator") else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hardware").join(name);
    if long.is_some() {
        println!("{name}: Verilator compiles the model");
    }
    let model = Model::build(isa, definition, &folder, &verilator).unwrap_or_else(|error| panic!("{name}: {error}"));
    compare_all(&model, name, isa, programs, (wanted, counted, limit));
}

/// Compares a core with the interpreter on programs, each up to a limit, and on generated ones until enough
/// instructions have been compared; each generated program counts for some more.
fn compare_all(model: &Model, name: &str, isa: &Isa, programs: &[(PathBuf, Image)], numbers: (u64, u64, u64)) {
    let (wanted, counted, limit) = numbers;
    let since = Instant::now();
    let mut progress = Progress { told: since };
    let mut total = Compared::default();
    for (path, image) in programs {
        let start = Start { state: loaded(isa, image), input: INPUT.to_vec() };
        total += model.compare(start, limit).unwrap_or_else(|difference| panic!("{}: {difference}", path.display()));
        progress.tell(name, &total, wanted);
    }
    // These programs run for long, so this is the speed of a comparison; generated programs end soon, and starting one
    // takes longer.
    let speed = total.cycles as f64 / since.elapsed().as_secs_f64() / 1e6;
    let first = number("LATHE_SEED").unwrap_or(1);
    let mut seed = first;
    while seed < first + PROGRAMS || total.instructions + counted * (seed - first) < wanted {
        total += compare_generated(model, isa, seed)
            .unwrap_or_else(|difference| panic!("the program of seed {seed}: {difference}"));
        progress.tell(name, &total, wanted);
        seed += 1;
    }
    let Compared { instructions, faults, cycles } = total;
    println!(
        "{name}: {instructions} instructions compared, {cycles} clock cycles, {faults} faults; {} programs at {speed:.1} million clock cycles a second, seeds {first} to {}; {:.1} seconds",
        programs.len(),
        seed - 1,
        since.elapsed().as_secs_f64()
    );
}

/// Prints a line now and then about what takes long.
struct Progress {
    told: Instant,
}

impl Progress {
    fn tell(&mut self, name: &str, total: &Compared, wanted: u64) {
        if self.told.elapsed() >= PATIENCE {
            self.told = Instant::now();
            println!("{name}: {} of {wanted} instructions compared so far", total.instructions);
        }
    }
}

/// Compares a core with the interpreter on a generated program.
fn compare_generated(model: &Model, isa: &Isa, seed: u64) -> Result<Compared, String> {
    let case = generate(isa, seed);
    let mut state = State::new(isa);
    case.lay_down(isa, &mut state);
    model.compare(Start { state, input: case.input.clone() }, GENERATED)
}

macro_rules! machines {
    ($($name:ident)*) => {
        const MACHINES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

machines! {
    quad8 duo16 stack8a stack8b hex8 rv32i
    avr chip8 i8051 i8080 lc3 mos6502 mos6502x msp430 pdp8 pdp11 rv32imc rv64i sm83 superchip w65c02 z80
}

/// Every machine is compared but gameboy, whose code is fetched through a map.
#[test]
fn all_machines_are_there() {
    let mut all: Vec<&str> =
        lathe_machines::every().map(|machine| machine.name).filter(|name| *name != "gameboy").collect();
    let mut known = MACHINES.to_vec();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}

/// Mistakes in a core of hex8 or in the code around it: the file, the text, and its replacement.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("a borrow too much", "hex8.v", "A_data = (A_2 - B_2);", "A_data = (A_2 - B_2 - 8'd1);"),
    ("a cell that is not written", "bench.v", "if (ram_write[0] && !reset)", "if (ram_write[0] && ram_address[0])"),
    (
        "a cell that is written elsewhere",
        "hex8.v",
        "ram_address = ADDRESS; ram_data",
        "ram_address = ADDRESS ^ 16'd1; ram_data",
    ),
    ("a byte that is lost", "hex8.v", "console_write = 1'b1;", "console_write = !A[0];"),
    ("a register too early", "hex8.v", "step <= step_next;", "step <= step_next; sp_q <= sp;"),
    ("a wrong next address", "hex8.v", "next = pc + 16'd3;", "next = pc + 16'd2;"),
];

/// Deliberate mistakes are found. Each needs a model of its own, so a plain run leaves this out.
#[test]
fn mistakes_are_found() {
    if number("LATHE_COSIM").is_none() {
        return println!("mistakes: left to `cargo xtask cosim`");
    }
    let Some(verilator) = tools::find("mistakes in hardware", "verilator") else { return };
    let (isa, definition) = machine("hex8");
    let programs = programs(&isa, "hex8");
    for (what, file, right, wrong) in MISTAKES {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hardware/mistake");
        let change = |name: &str, text: String| {
            if name != *file {
                return text;
            }
            assert!(text.contains(right), "{what}: {file} has no {right}");
            text.replacen(right, wrong, 1)
        };
        let model = Model::build_changed(&isa, definition, &folder, &verilator, change);
        let model = model.unwrap_or_else(|error| panic!("{what}: {error}"));
        let starts = programs.iter().map(|(_, image)| Start { state: loaded(&isa, image), input: INPUT.to_vec() });
        let found = starts.map(|start| model.compare(start, LIMITS[0])).find_map(Result::err);
        let found = found.or_else(|| (1..1000).find_map(|seed| compare_generated(&model, &isa, seed).err()));
        println!("{what}: {}", found.unwrap_or_else(|| panic!("{what}: not found")));
    }
}

/// Machines that do not ship: other cell and address widths, other word orders, interrupts, every device.
/// Two are always compared: pair8, with several cells at once in both orders, and mapped8, with maps of every kind.
#[test]
fn machines_that_do_not_ship() {
    for name in ["acc12", "clock8", "irq8", "mapped8", "pair8", "refresh8", "tape16", "twice8", "word32"] {
        let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
        let mut definition = std::fs::read_to_string(&path).expect("the definition is there");
        let load = |definition: &str| Arc::new(lathe_isa::load(definition).isa.expect("the definition is right"));
        if name == "refresh8" {
            // The hook's store would have to be undone if an undefined encoding followed it.
            let refused = lathe_hdl::generate(&load(&definition), &[], &lathe_hdl::Program::default());
            let refused = refused.expect_err("an undefined encoding faults after the hook has stored");
            assert!(refused.to_string().contains("undefined encoding"), "{refused}");
            definition.push_str("\non illegal { halt }\n");
        }
        check_definition(name, &load(&definition), &definition, &[], ["mapped8", "pair8"].contains(&name));
    }
}

/// Machines that nobody designed. Those that cannot become hardware must be refused, and most must not be.
#[test]
fn generated_definitions() {
    const DEFINITIONS: u64 = 12;
    let seed = number("LATHE_SEED").unwrap_or(1);
    let mut refused = 0;
    for seed in seed..seed + DEFINITIONS {
        let definition = lathe_tests::definitions::definition(seed);
        let Some(isa) = lathe_isa::load(&definition).isa.map(Arc::new) else { continue };
        match lathe_hdl::generate(&isa, &[], &lathe_hdl::Program::default()) {
            Ok(_) => check_definition(&format!("generated{seed}"), &isa, &definition, &[], false),
            Err(found) => {
                println!("definition of seed {seed}: no hardware for {found}");
                refused += 1;
            }
        }
    }
    assert!(refused <= DEFINITIONS / 2, "{refused} of {DEFINITIONS} definitions are refused");
}

/// Instructions in parts do the same as in one piece: on machines that ship, on test machines with maps, views and
/// `on step`, and on machines that nobody designed.
#[test]
fn cores_in_parts() {
    let is_long = number("LATHE_COSIM").is_some();
    for (name, is_always_done) in
        [("hex8", true), ("mos6502", false), ("z80", false), ("sm83", false), ("avr", false), ("i8051", false)]
    {
        if is_long || is_always_done {
            let (isa, definition) = machine(name);
            compare_in_parts(name, &isa, definition, &programs(&isa, name));
        }
    }
    for name in ["mapped8", "acc12", "clock8", "irq8", "pair8", "tape16", "twice8", "word32"] {
        if is_long || name == "mapped8" {
            let path = format!("{}/machines/{name}.isa", env!("CARGO_MANIFEST_DIR"));
            let definition = std::fs::read_to_string(&path).expect("the definition is there");
            let isa = Arc::new(lathe_isa::load(&definition).isa.expect("the definition is right"));
            compare_in_parts(name, &isa, &definition, &[]);
        }
    }
    for seed in if is_long { 1..6 } else { 0..0 } {
        let definition = lathe_tests::definitions::definition(seed);
        let Some(isa) = lathe_isa::load(&definition).isa.map(Arc::new) else { continue };
        if lathe_hdl::generate(&isa, &[], &lathe_hdl::Program::default()).is_ok() {
            compare_in_parts(&format!("generated{seed}"), &isa, &definition, &[]);
        }
    }
}

fn compare_in_parts(name: &str, isa: &Arc<Isa>, definition: &str, programs: &[(PathBuf, Image)]) {
    let Some(verilator) = tools::find(&format!("the hardware of {name} in parts"), "verilator") else { return };
    let program = lathe_hdl::Program::default();
    let parts = lathe_hdl::generate_as(isa, &[], &program, Form::Parts).expect("it can be hardware");
    let core = format!("{}.v", parts.module);
    let change = |file: &str, text: String| if file == core { parts.files[0].text.clone() } else { text };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hardware").join(format!("{name}-parts"));
    let model = Model::build_changed(isa, definition, &folder, &verilator, change);
    let model = model.unwrap_or_else(|error| panic!("{name}: {error}"));
    let (wanted, counted) = if MACHINES.contains(&name) { (INSTRUCTIONS, 0) } else { (INSTRUCTIONS / 10, COUNTED) };
    compare_all(&model, &format!("{name} in parts"), isa, programs, (wanted, counted, LIMITS[0]));
}

/// Cores with registers in a memory are compared like others.
#[test]
fn small_cores() {
    for (name, is_always_done) in [("quad8", true), ("hex8", false), ("rv32i", false)] {
        let (isa, definition) = machine(name);
        let small = Arc::new(Small::new(&isa).expect("it has such registers").isa);
        let programs = programs(&isa, name);
        check_definition(&format!("{name}-small"), &small, definition, &programs, is_always_done);
    }
}

/// Registers that one branch reads and another does not; that have two names; that another operand numbers differently.
const IN_A_MEMORY: &str = "
machine memory8 \"Registers in a memory\"
memory ram : u8 -> u8
pc     pc  : u8 in ram
constant none : u8 = 0
register r1..r7 : u8
register flag : u1
field D, S : register { none, r1..r7 }
field E    : register { r4, none, r2, r1 }
field F    : register { r7, r6, r5, r4, r3, r2, r1, none }
instructions {
  pick D, S | 00 DDD SSS   | if D[0] { flag = 1 } else { flag = S[1] }; D = D + S
  two D, S  | 01 DDD SSS   | D = S + 1; r3 = D + r3; S = r3
  other E   | 1000 00 EE   | if flag { E = E + 1; flag = E[0] } else { r4 = E }
  turn F    | 1001 1 FFF   | F = F ^ r5
  store D   | 1001 0 DDD   | ram[r1] = D; r1 = r1 + 1
  skip D, S | 11 DDD SSS   | if D == S { pc = next + r2 }
}
";

/// The machine of a small core does the same as the original, instruction by instruction.
#[test]
fn a_machine_with_registers_in_a_memory_is_the_same_machine() {
    let mut found = Vec::new();
    for shipped in lathe_machines::every() {
        let isa = lathe_isa::load_with(shipped.source(), &lathe_machines::Shipped).isa;
        let isa = Arc::new(isa.expect("its definition is right"));
        let Ok(small) = Small::new(&isa) else { continue };
        let seed = number("LATHE_SEED").unwrap_or(1);
        (seed..seed + PROGRAMS).for_each(|seed| compare_in_memory(&isa, &small, seed));
        found.push(shipped.name);
    }
    let isa = Arc::new(lathe_isa::load(IN_A_MEMORY).isa.expect("the definition is right"));
    let small = Small::new(&isa).expect("it has such registers");
    (1..=PROGRAMS).for_each(|seed| compare_in_memory(&isa, &small, seed));
    found.sort_unstable();
    assert_eq!(found, ["avr", "chip8", "hex8", "lc3", "quad8", "rv32i", "rv32imc", "rv64i", "superchip"]);
}

/// Runs a generated program on both machines.
fn compare_in_memory(isa: &Arc<Isa>, small: &Small, seed: u64) {
    let other = Arc::new(small.isa.clone());
    let case = generate(isa, seed);
    let (mut one, mut two) = (State::new(isa), State::new(&other));
    case.lay_down(isa, &mut one);
    case.lay_down(&other, &mut two);
    for (register, cell) in &small.registers {
        two.memory_mut(small.memory).set(*cell, one.register(*register));
    }
    let start = |isa: &Arc<Isa>| (Interpreter::new(isa), Devices::new(isa, Console::with_input(case.input.clone())));
    let ((mut first, mut its_devices), (mut second, mut other_devices)) = (start(isa), start(&other));
    for step in 0..GENERATED {
        let (a, b) = (first.step(&mut one, &mut its_devices), second.step(&mut two, &mut other_devices));
        let place = format!("{}, seed {seed}, step {step}", isa.name);
        assert_eq!(a, b, "{place}");
        assert_eq!(one.pc, two.pc, "{place}");
        for id in (0..isa.registers.len() as u32).map(RegisterId) {
            let value = match small.registers.get(&id) {
                Some(cell) => two.memory(small.memory).get(*cell),
                None => two.register(id),
            };
            assert_eq!(one.register(id), value, "{place}: {}", isa.register(id).name);
        }
        if a.stop.is_some() {
            break;
        }
    }
    for id in (0..isa.memories.len() as u32).map(MemoryId) {
        let cells = [&one, &two].map(|state| state.memory(id).nonzero());
        assert_eq!(cells[0], cells[1], "{}, seed {seed}: {}", isa.name, isa.memory(id).name);
    }
}
