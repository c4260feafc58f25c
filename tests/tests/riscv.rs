//! The RISC-V machines against Unicorn, which shares nothing with Lathe: single instructions of every row, with random
//! operands in random states. `LATHE_STATES` and `LATHE_SEED` set how many and which.
//!
//! Instructions that reach the system are left out (environment calls, control registers, `mret`): Unicorn emulates
//! them for a machine with an operating system.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use lathe_asm::disassembler::instruction;
use lathe_isa::Isa;
use lathe_isa::encoding::{cells, window};
use lathe_isa::model::InstructionId;
use lathe_tests::emulator::{answer, setting};
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Engine as _, Interpreter, State, Stop};

/// The size of Unicorn's memory, and its contents.
const SIZE: u64 = 0x1_0000;

fn fill(at: u64) -> u64 {
    (at * 7 + (at >> 8) * 13) & 0xFF
}

const SYSTEM: [&str; 5] = ["ecall", "ebreak", "c.ebreak", "mret", "wfi"];
const THROUGH_REGISTERS: [&str; 12] = ["lb", "lh", "lw", "ld", "lbu", "lhu", "lwu", "sb", "sh", "sw", "sd", "jalr"];

fn machine(name: &str) -> Arc<Isa> {
    let machine = lathe_machines::find(name).expect("it ships");
    let isa = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa;
    Arc::new(isa.expect("it is right"))
}

struct Case {
    row: u32,
    text: String,
    pc: u64,
    code: Vec<u64>,
    registers: [u64; 31],
}

impl Case {
    fn new(isa: &Isa, bits: u32, random: &mut Random) -> Option<Case> {
        let id = InstructionId(random.below(isa.instructions.len() as u64) as u32);
        let row = isa.instruction(id);
        let mnemonic = row.syntax.mnemonic();
        if SYSTEM.contains(&mnemonic) || mnemonic.starts_with("csr") {
            return None;
        }
        let operands: Vec<u64> = row.operands.iter().map(|_| random.value(64)).collect();
        let encoded = row.encoding.encode(&operands);
        let code: Vec<u64> = cells(encoded, isa.code_memory().cell).take(row.encoding.cells as usize).collect();
        let decoded = isa.decode(window(code.iter().copied(), isa.code_memory().cell))?;
        let pc = random.within(SIZE / 4..SIZE / 2) & !3;
        let text = instruction(isa, &decoded, pc, |_, _| None);
        let is_address = THROUGH_REGISTERS.contains(&mnemonic);
        let registers = [(); 31].map(|()| match is_address {
            true => random.within(0x1000..SIZE - 0x1000),
            false => random.value(bits),
        });
        (decoded.instruction == id).then_some(Case { row: row.row, text, pc, code, registers })
    }

    fn line(&self) -> String {
        let code: String = self.code.iter().map(|byte| format!("{byte:02x}")).collect();
        let registers: String = self.registers.iter().map(|value| format!(" {value:x}")).collect();
        format!("{:x} {code}{registers}\n", self.pc)
    }

    /// Returns the machine after the step in Unicorn's form; `None` if the instruction faults.
    fn step(&self, isa: &Arc<Isa>, filled: &State) -> Option<(Vec<u64>, BTreeMap<u64, u64>)> {
        let mut state = filled.clone();
        state.pc = self.pc;
        let places: Vec<_> = (1..32).map(|at| isa.place_named(&format!("x{at}")).expect("it is there")).collect();
        places.iter().zip(self.registers).for_each(|(place, value)| state.set_place(isa, place, value));
        let memory = state.memory_mut(isa.pc.memory);
        (self.pc..).zip(&self.code).for_each(|(at, byte)| memory.set(at, *byte));
        let before: Vec<u64> = (0..SIZE).map(|at| state.memory(isa.pc.memory).get(at)).collect();
        let run = Interpreter::new(isa).run(&mut state, &mut Devices::new(isa, Console::default()), 1);
        if matches!(run.stop, Stop::Fault(_)) {
            return None;
        }
        let memory = state.memory(isa.pc.memory);
        let changed = (0..SIZE).zip(before).filter(|(at, byte)| memory.get(*at) != *byte);
        let changed = changed.map(|(at, _)| (at, memory.get(at))).collect();
        Some(([state.pc].into_iter().chain(places.iter().map(|place| state.place(place))).collect(), changed))
    }
}

/// Reads Unicorn's answer, if it could execute the instruction.
fn read(answer: &str) -> Option<(Vec<u64>, BTreeMap<u64, u64>)> {
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let (changes, values): (Vec<&str>, Vec<&str>) = answer.split_whitespace().partition(|word| word.contains(':'));
    let changes = changes.iter().filter_map(|word| word.split_once(':')).map(|(at, byte)| (number(at), number(byte)));
    (values != ["-"]).then(|| (values.into_iter().map(number).collect(), changes.collect()))
}

fn check(name: &str, bits: u32) {
    let test = format!("{name} against Unicorn");
    let Some(python) = tools::find_python_with(&test, "unicorn") else { return };
    let isa = machine(name);
    let (states, seed) = (setting("LATHE_STATES", 2_000), setting("LATHE_SEED", 1));
    let mut random = Random(seed);
    let mut cases = Vec::new();
    while (cases.len() as u64) < states {
        cases.extend(Case::new(&isa, bits, &mut random));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("emulators/riscv.py");
    let arguments = [script.to_str().expect("a path of text"), &bits.to_string()];
    let answers = answer(&python, &arguments, cases.iter().map(Case::line).collect());
    assert_eq!(answers.lines().count(), cases.len());
    let mut filled = State::new(&isa);
    (0..SIZE).for_each(|at| filled.memory_mut(isa.pc.memory).set(at, fill(at)));
    let (mut seen, mut wanted) = (BTreeSet::new(), BTreeSet::new());
    for (case, answer) in cases.iter().zip(answers.lines()) {
        wanted.insert(case.row);
        // One of them may refuse an address: Unicorn, because it is not memory, or a machine without short
        // instructions, because it is not a multiple of four.
        if let (Some(found), Some(expected)) = (case.step(&isa, &filled), read(answer)) {
            assert_eq!(found, expected, "`{}` in {}(LATHE_SEED={seed})", case.text, case.line());
            seen.insert(case.row);
        }
    }
    assert_eq!(seen, wanted, "every row is compared");
}

#[test]
fn rv32i() {
    check("rv32i", 32);
}

#[test]
fn rv32imc() {
    check("rv32imc", 32);
}

#[test]
fn rv64i() {
    check("rv64i", 64);
}

/// The text printed for random instructions, assembled by GNU's assembler. Short forms are compared elsewhere, as lines
/// that people write (`short_forms.rs`).
#[test]
fn the_bytes_are_those_of_gnu() {
    let tool = |name: &str| tools::find("RISC-V against GNU's assembler", name);
    let (Some(assembler), Some(copy)) = (tool("riscv64-unknown-elf-as"), tool("riscv64-unknown-elf-objcopy")) else {
        return;
    };
    for (name, bits, arguments) in
        [("rv32i", 32, ["-march=rv32im", "-mabi=ilp32"]), ("rv64i", 64, ["-march=rv64im", "-mabi=lp64"])]
    {
        let isa = machine(name);
        let mut random = Random(setting("LATHE_SEED", 1));
        let (mut text, mut expected) = (String::new(), Vec::new());
        while expected.len() < 8_000 {
            let Some(case) = Case::new(&isa, bits, &mut random) else { continue };
            // GNU's assembler names what a fence orders with letters.
            if case.text.starts_with("fence") {
                continue;
            }
            // A number is an address there, not a distance.
            let line = match case.text.rsplit_once(", ") {
                Some((start, distance)) if case.text.starts_with('b') || case.text.starts_with("jal ") => {
                    format!("{start}, . + {distance}")
                }
                _ => case.text,
            };
            let _ = writeln!(text, "{line}");
            expected.extend(case.code.iter().map(|byte| *byte as u8));
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("riscv");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join("all.s"), format!(".option norelax\n{text}")).expect("a file can be written");
        let run = |command: &mut Command| command.current_dir(&folder).status().expect("it starts").success();
        assert!(run(Command::new(&assembler).args(arguments).args(["-mno-relax", "-o", "all.o", "all.s"])));
        assert!(run(Command::new(&copy).args(["-O", "binary", "-j", ".text", "all.o", "all.bin"])));
        let made = std::fs::read(folder.join("all.bin")).expect("it was written");
        let lines: Vec<&str> = text.lines().collect();
        let differs = expected.chunks(4).zip(made.chunks(4)).position(|(ours, theirs)| ours != theirs);
        assert_eq!((differs.map(|at| lines[at]), made.len()), (None, expected.len()), "{name}");
    }
}
