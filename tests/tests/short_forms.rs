//! Short forms of instructions, which the assembler chooses where the operands fit: the compressed instructions of
//! RISC-V. The bytes are those of GNU's assembler, and every short form does the same as its long form.
//!
//! `LATHE_SEED` sets where the random numbers start, `LATHE_STATES` how many lines are tried.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use lathe_asm::disassembler::instruction;
use lathe_asm::{Image, Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_isa::encoding::{cells, window};
use lathe_tests::emulator::setting;
use lathe_tests::random::Random;
use lathe_tests::tools;
use lathe_vm::{Console, Devices, Engine as _, Interpreter, State};

fn compressed() -> Arc<Isa> {
    let machine = lathe_machines::find("rv32imc").expect("it ships");
    let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
    Arc::new(loaded.isa.expect("nothing is wrong with it"))
}

fn image(isa: &Isa, text: &str) -> Image {
    let made = assemble(isa, &MemoryFiles::default(), Source::new("lines", text), &Options::default());
    made.image.unwrap_or_else(|| panic!("{:#?}", made.diagnostics.into_sorted()))
}

fn bytes(image: &Image) -> Vec<u8> {
    image.segments.iter().flat_map(|segment| &segment.cells).map(|cell| *cell as u8).collect()
}

/// Returns one item of a list.
fn one_of<T: Copy>(random: &mut Random, list: &[T]) -> T {
    list[random.below(list.len() as u64) as usize]
}

/// Returns a line as people write it. It often uses registers that all short forms can name, and numbers at the ends of
/// their ranges. No line has `x0` where that makes it a hint, or operands that only GNU's assembler swaps.
fn line(random: &mut Random) -> String {
    let registers = ["sp", "ra", "s0", "s1", "a0", "a1", "a5", "t0", "s2"];
    let (d, s, t) = (one_of(random, &registers), one_of(random, &registers), one_of(random, &registers));
    let s = if random.below(2) == 0 { d } else { s };
    let number = one_of(random, &[-512, -496, -33, -32, -1, 1, 4, 16, 31, 32, 64, 124, 128, 252, 256, 1020, 1024]);
    let offset = one_of(random, &[0, 2, 4, 64, 124, 128, 252, 256]);
    let shift = 1 + random.below(31);
    let upper = one_of(random, &[1, 31, 32, 0xFFFDF, 0xFFFE0, 0xFFFFF]);
    match random.below(20) {
        0 | 1 => format!("addi {d}, {s}, {number}"),
        2 => format!("li {d}, {}", number.clamp(-33, 33)),
        3 => format!("lui {d}, {upper}"),
        4 => format!("lw {d}, {offset}({s})"),
        5 => format!("sw {d}, {offset}({s})"),
        6 => format!("lw {d}, {offset}(sp)"),
        7 => format!("sw {d}, {offset}(sp)"),
        8 => format!("{} {d}, {s}, {shift}", one_of(random, &["slli", "srli", "srai"])),
        9 => format!("andi {d}, {s}, {number}"),
        10 => format!("mv {d}, {t}"),
        // GNU's assembler swaps the operands where only the other order is short.
        11 if d != t => format!("{} {d}, {s}, {t}", one_of(random, &["add", "and", "or", "xor"])),
        12 => format!("sub {d}, {s}, {t}"),
        13 => format!("{} {d}, label{}", one_of(random, &["beqz", "bnez"]), random.below(8)),
        14 => format!("beq {d}, {t}, label{}", random.below(8)),
        // GNU's assembler leaves a short `jal` to the linker.
        15 => format!("j label{}", random.below(8)),
        16 => format!("jalr {s}"),
        17 => format!("jr {s}"),
        18 => "ret".to_owned(),
        _ => format!("mul {d}, {s}, {t}"),
    }
}

/// Returns lines with labels between them, some of them further away than a short branch reaches.
fn program(random: &mut Random, lines: u64) -> String {
    let mut text = String::new();
    for at in 0..lines {
        if at % (lines / 8) == 0 {
            let _ = writeln!(text, "label{}:", at / (lines / 8));
        }
        let _ = writeln!(text, "    {}", line(random));
    }
    text
}

#[test]
fn the_bytes_are_those_of_gnu() {
    let tool = |name: &str| tools::find("short forms against GNU's assembler", name);
    let (Some(assembler), Some(copy)) = (tool("riscv64-unknown-elf-as"), tool("riscv64-unknown-elf-objcopy")) else {
        return;
    };
    let isa = compressed();
    let (seed, lines) = (setting("LATHE_SEED", 1), setting("LATHE_STATES", 800));
    for seed in seed..seed + 4 {
        let text = program(&mut Random(seed), lines / 4);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("short_forms");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        let path = |name: &str| folder.join(name);
        std::fs::write(path("lines.s"), &text).expect("a file can be written");
        let run = |command: &mut Command| assert!(command.status().expect("it starts").success(), "seed {seed}");
        run(Command::new(&assembler)
            .args(["-march=rv32imc", "-mabi=ilp32", "-mno-relax", "-o"])
            .args([path("lines.o"), path("lines.s")]));
        run(Command::new(&copy).args(["-O", "binary", "-j", ".text"]).args([path("lines.o"), path("lines.bin")]));
        let expected = std::fs::read(path("lines.bin")).expect("it was written");
        let image = image(&isa, &text);
        let made = bytes(&image);
        let differs = (0..made.len().max(expected.len())).find(|at| made.get(*at) != expected.get(*at));
        let line = differs.and_then(|at| image.line_at(isa.pc.memory, at as u64));
        let shown = line.map(|line| &text[line.span.start as usize..line.span.end as usize]);
        assert_eq!(differs, None, "seed {seed}: `{shown:?}`");
    }
}

/// Returns all registers and memories after one step from a random state.
fn stepped(isa: &Arc<Isa>, code: &[u64], seed: u64) -> (Vec<u64>, Vec<u64>) {
    let mut random = Random(seed);
    let mut state = State::new(isa);
    let places: Vec<_> = (1..32).map(|at| isa.place_named(&format!("x{at}")).expect("it is a register")).collect();
    for place in &places {
        // Often an address in memory that holds something.
        let value = if random.below(2) == 0 { random.below(0x100) * 4 } else { random.value(32) };
        state.set_place(isa, place, value);
    }
    let memory = state.memory_mut(isa.pc.memory);
    (0..0x1000).for_each(|address| memory.set(address, random.below(256)));
    (0x8000..).zip(code).for_each(|(address, cell)| memory.set(address, *cell));
    state.pc = 0x8000;
    Interpreter::new(isa).run(&mut state, &mut Devices::new(isa, Console::default()), 1);
    // The next address and a return address depend on the length of the instruction.
    let after = |value: u64| if value == 0x8000 + code.len() as u64 { 0x8004 } else { value };
    let registers = places.iter().map(|place| state.place(place)).chain([state.pc]).map(after).collect();
    (registers, (0..0x1000).map(|address| state.memory(isa.pc.memory).get(address)).collect())
}

#[test]
fn a_short_form_does_what_the_long_one_does() {
    let isa = compressed();
    let base = lathe_isa::load(lathe_machines::find("rv32i").expect("it ships").definition).isa.expect("it is right");
    let mut seen = std::collections::BTreeSet::new();
    for seed in (0..0x1_0000u64).step_by(11) {
        // Two-byte words, with another state each.
        let code = [seed & 0xFF, seed >> 8];
        let Some(decoded) = isa.decode(window(code, isa.code_memory().cell)) else { continue };
        let row = isa.instruction(decoded.instruction);
        if row.encoding.cells != 2 || row.syntax.mnemonic().starts_with("c.") {
            continue;
        }
        let distance = |address: u64| address as i64 - 0x8000;
        let text = instruction(&isa, &decoded, 0x8000, |_, address| Some(distance(address).to_string()));
        // A jump to the end of the short or the long form cannot be distinguished from no jump.
        if text.ends_with(" 2") || text.ends_with(" 4") && text.starts_with(['j', 'b']) {
            continue;
        }
        let long = image(&base, &text);
        let long = isa.decode(window(long.segments[0].cells.iter().copied(), isa.code_memory().cell));
        let long = long.expect("the longer machine has it");
        let encoded = isa.instruction(long.instruction).encoding.encode(&long.operands);
        let long: Vec<u64> = cells(encoded, isa.code_memory().cell).take(4).collect();
        let (short, long) = (stepped(&isa, &code, seed), stepped(&isa, &long, seed));
        assert_eq!(short.0, long.0, "{text}, seed {seed}");
        assert!(short.1 == long.1, "{text} leaves memory as the long form does, seed {seed}");
        seen.insert(row.row);
    }
    let short = isa.instructions.iter().filter(|one| one.encoding.is_special() && one.encoding.cells == 2);
    assert!(short.map(|one| one.row).all(|row| seen.contains(&row)), "every short form is seen");
}
