//! The rules for customasm, used by customasm itself: every instruction of every shipped program, and every instruction
//! of every machine with corner values, must come out as the cells that Lathe makes.

use std::fmt::Write as _;

use lathe_asm::{Image, LineKind, Options, Overlap, assemble, disassembler};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_isa::encoding::{cells, window};
use lathe_isa::model::{Domain, Field, Instruction, Numeric, Target};

fn machine(name: &str) -> Isa {
    let source = lathe_machines::find(name).expect("it ships").source();
    lathe_isa::load_with(source, &lathe_machines::Shipped).isa.expect("it is right")
}

/// Consecutive instructions and data to assemble, each at its address.
#[derive(Default)]
struct Listing {
    start: u64,
    source: String,
    expected: Vec<u64>,
}

impl Listing {
    fn new(start: u64) -> Self {
        Listing { start, ..Listing::default() }
    }

    fn next(&self) -> u64 {
        self.start + self.expected.len() as u64
    }

    /// Adds the instruction that a window begins with; returns how many cells it has.
    fn instruction(&mut self, isa: &Isa, window: u128) -> usize {
        let decoded = isa.decode(window).expect("it is an instruction");
        let count = isa.instruction(decoded.instruction).encoding.cells as usize;
        let _ = writeln!(self.source, "{}", written(isa, window, self.next()));
        self.expected.extend(cells(window, isa.code_memory().cell).take(count));
        count
    }

    fn data(&mut self, isa: &Isa, value: u64) {
        let _ = writeln!(self.source, "#d{} {value:#x}", isa.code_memory().cell.bits());
        self.expected.push(value);
    }

    /// Checks that customasm makes the same cells as Lathe.
    fn check(&self, isa: &Isa, what: &str) {
        let cell = isa.code_memory().cell.bits();
        let rules = &lathe_export::customasm(isa).files[0].text;
        let source = format!("{rules}#addr {:#x}\n{}", self.start, self.source);
        let (made, report) = customasm::assemble_str_to_binary(&source);
        let made = made.unwrap_or_else(|| {
            let (mut message, mut files) = (Vec::new(), customasm::util::FileServerMock::new());
            files.add("str", source);
            report.print_all(&mut message, &files, false);
            panic!("{what}: customasm does not take it:\n{}", String::from_utf8_lossy(&message))
        });
        let bits: Vec<u8> = made.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
        let number = |cell: &[u8]| cell.iter().fold(0, |sum, bit| sum << 1 | u64::from(*bit));
        let made: Vec<u64> = bits.chunks_exact(cell as usize).skip(self.start as usize).map(number).collect();
        for (at, (made, expected)) in made.iter().zip(&self.expected).enumerate() {
            assert_eq!(made, expected, "{what}: cell {at} at {:#x}", self.start + at as u64);
        }
        assert_eq!(made.len(), self.expected.len(), "{what}");
    }
}

/// Returns the instruction that a window begins with. Every address is written as such: customasm does not take
/// distances as numbers.
fn written(isa: &Isa, window: u128, address: u64) -> String {
    let decoded = isa.decode(window).expect("it is an instruction");
    let digits = isa.pc.width.bits().div_ceil(4) as usize;
    disassembler::instruction(isa, &decoded, address, |_, at| Some(format!("0x{at:0digits$x}")))
}

/// Whether an instruction is among those that customasm cannot express.
fn is_missing(missing: &[String], text: &str) -> bool {
    missing.iter().any(|line| line.contains(&format!("`{text}`")))
}

/// Returns the image of a program; `None` for a file that programs include.
fn image(isa: &Isa, machine: lathe_machines::Machine, program: lathe_machines::Program) -> Option<Image> {
    let mut files = MemoryFiles::default();
    for file in machine.programs {
        files.0.insert(format!("{}.asm", file.name), file.text.as_bytes().to_vec());
    }
    let source = Source::new(format!("{}.asm", program.name), program.text);
    assemble(isa, &files, source, &Options::default()).image
}

#[test]
fn all_programs() {
    for machine in lathe_machines::every() {
        let isa = self::machine(machine.name);
        let missing = lathe_export::customasm(&isa).missing;
        for program in machine.programs {
            let Some(image) = image(&isa, machine, *program) else {
                assert!(program.name.starts_with("lib"), "{}/{}", machine.name, program.name);
                continue;
            };
            for segment in image.segments.iter().filter(|segment| segment.memory == isa.pc.memory) {
                let mut listing = Listing::new(segment.start);
                let mut at = 0;
                while let Some(rest) = segment.cells.get(at..).filter(|rest| !rest.is_empty()) {
                    let address = segment.start + at as u64;
                    let line = image.line_at(segment.memory, address).filter(|line| line.kind == LineKind::Code);
                    let window = window(rest.iter().copied(), isa.code_memory().cell);
                    let can_be_said = line.is_some() && !is_missing(&missing, &written(&isa, window, address));
                    at += match can_be_said {
                        true => listing.instruction(&isa, window),
                        false => {
                            let decoded = isa.decode(window).filter(|_| line.is_some());
                            let count = decoded.map_or(1, |found| isa.instruction(found.instruction).encoding.cells);
                            rest[..count as usize].iter().for_each(|value| listing.data(&isa, *value));
                            count as usize
                        }
                    };
                }
                listing.check(&isa, &format!("{}/{}", machine.name, program.name));
            }
        }
    }
}

/// Returns the codes at the ends and in the middle of a field's range.
fn corners(field: &Field) -> Vec<u64> {
    let (mask, sign) = (field.width.mask(), field.width.sign_bit());
    let mut codes = vec![0, 1, 2, 5, sign - 1, sign, mask - 1, mask, mask & 0x5555_5555_5555_5550];
    codes.retain(|code| *code <= mask && field.admits(*code) && code % (1 << field.unstored_bits()) == 0);
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// Yields all choices of one item from each list.
fn choices(lists: &[Vec<u64>]) -> impl Iterator<Item = Vec<u64>> + '_ {
    let count = lists.iter().map(Vec::len).product::<usize>();
    (0..count).map(move |mut number| {
        let choose = |list: &Vec<u64>| {
            let chosen = list[number % list.len()];
            number /= list.len();
            chosen
        };
        lists.iter().map(choose).collect()
    })
}

/// Returns the cells that Lathe makes from each line at address 0, which differ from the expected ones if it prefers
/// another form. `None` for a line that Lathe refuses, such as one with an address that customasm turns into a
/// distance.
fn made(isa: &Isa, lines: &[String]) -> Vec<Option<Vec<u64>>> {
    let text: String = lines.iter().map(|line| format!(".org 0\n{line}\n")).collect();
    let options = Options { overlap: Overlap::LaterWins, ..Options::default() };
    match assemble(isa, &MemoryFiles::default(), Source::new("lines", text), &options).image {
        Some(image) => image.segments.into_iter().map(|segment| Some(segment.cells)).collect(),
        None if lines.len() == 1 => vec![None],
        None => lines.chunks(lines.len().div_ceil(2)).flat_map(|half| made(isa, half)).collect(),
    }
}

/// How many choices of modes to try for a row, and how many operands with each. customasm tries every rule for every
/// line: with all of them, the PDP-11 alone would take many minutes.
const MODES: usize = 3;
const OPERANDS: usize = 2;

/// Yields all instructions, but of a row whose operands have modes, and thus many instructions, only a few, spread over
/// all of them. So every row is covered. With each come operands, fewer for a row with modes.
fn sample(isa: &Isa) -> impl Iterator<Item = (&Instruction, Vec<u64>)> {
    let rows = isa.instructions.chunk_by(|one, other| one.is_seen_as(other));
    let instructions = rows.flat_map(|choices| choices.iter().step_by(choices.len().div_ceil(MODES)));
    instructions.flat_map(|instruction| {
        let lists: Vec<Vec<u64>> = instruction.operands.iter().map(|id| corners(isa.field(*id))).collect();
        let count = lists.iter().map(Vec::len).product::<usize>();
        let step = if instruction.form.is_some() { count.div_ceil(OPERANDS).max(7) } else { 7 };
        choices(&lists).step_by(step).map(|operands| (instruction, operands)).collect::<Vec<_>>()
    })
}

#[test]
fn every_instruction_with_corner_values() {
    for shipped in lathe_machines::every() {
        let isa = machine(shipped.name);
        let mut listing = Listing::new(0);
        let missing = lathe_export::customasm(&isa).missing;
        let windows = sample(&isa).filter_map(|(instruction, operands)| {
            let window = instruction.encoding.encode(&operands);
            let all = cells(window, isa.code_memory().cell).take(instruction.encoding.cells as usize).collect();
            instruction.encoding.matches(window).then(|| (window, all, written(&isa, window, 0)))
        });
        let can_be_said = |(_, _, text): &(u128, Vec<u64>, String)| !is_missing(&missing, text);
        let windows: Vec<(u128, Vec<u64>, String)> = windows.filter(can_be_said).collect();
        let lines: Vec<String> = windows.iter().map(|(_, _, text)| text.clone()).collect();
        for ((window, cells, _), made) in windows.into_iter().zip(made(&isa, &lines)) {
            if made.is_none_or(|made| made == cells) && listing.expected.len() + 16 < isa.code_memory().cells() as usize
            {
                listing.instruction(&isa, window);
            }
        }
        listing.check(&isa, shipped.name);
    }
}

/// Returns a value of an operand as written: a name, a number, or a label for an address. Wide numbers are large, since
/// customasm substitutes the text: a small one could then become a word of an instruction, as `#1` is on the MSP430.
fn operand(field: &Field, turn: usize) -> String {
    match &field.domain {
        Domain::Registers(list) => list.iter().flatten().cycle().nth(turn * 3).expect("there is a register").0.clone(),
        Domain::Names(list) => list[turn % list.len()].0.clone(),
        Domain::Values(values) => values.numbers().collect::<Vec<_>>()[turn % values.numbers().count()].1.to_string(),
        Domain::Number(Numeric { target: Some(Target::Relative { .. } | Target::Absolute(_)), .. }) => {
            "here".to_owned()
        }
        Domain::Number(_) if field.width.bits() > 8 => ((turn + 100) << field.unstored_bits()).to_string(),
        Domain::Number(_) => (turn << field.unstored_bits()).to_string(),
    }
}

#[test]
fn pseudo_instructions() {
    for shipped in lathe_machines::every() {
        let isa = machine(shipped.name);
        let missing = lathe_export::customasm(&isa).missing;
        let mut text = String::from("here:\n");
        for pseudo in &isa.pseudos {
            let shape = pseudo.syntax.render(|index| pseudo.parameters[index].name.clone());
            if missing.iter().any(|line| line.contains(&format!("`{shape}`"))) {
                continue;
            }
            for turn in 1..4 {
                text += &pseudo.syntax.render(|index| operand(&pseudo.parameters[index], turn + index));
                text.push('\n');
            }
        }
        let source = Source::new("lines", text.clone());
        let assembled = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
        let image = assembled.image.unwrap_or_else(|| panic!("{}:\n{text}", shipped.name));
        let Some(segment) = image.segments.first() else { continue };
        Listing { start: segment.start, source: text, expected: segment.cells.clone() }.check(&isa, shipped.name);
    }
}

/// Short forms that rule out an operand leave it to others, short or long. The cells are those of the RISC-V manual.
#[test]
fn what_a_short_form_excludes_is_left_to_others() {
    let isa = machine("rv32imc");
    let lines: [(&str, &[u64]); 7] = [
        // `c.addi16sp` cannot add 0, `c.addi` can.
        ("addi x2, x2, 0", &[0x01, 0x01]),
        ("addi x2, x2, 64", &[0x21, 0x61]),
        // Nor can `c.addi4spn`, which leaves no short form.
        ("addi x8, x2, 0", &[0x13, 0x04, 0x01, 0x00]),
        ("addi x8, x2, 4", &[0x40, 0x00]),
        // `c.lui` has no `x2`, and `c.lwsp` no `x0`.
        ("lui x2, 5", &[0x37, 0x51, 0x00, 0x00]),
        ("lui x3, 5", &[0x95, 0x61]),
        ("lw x0, 0(x2)", &[0x03, 0x20, 0x01, 0x00]),
    ];
    let texts: Vec<String> = lines.iter().map(|(line, _)| (*line).to_owned()).collect();
    let expected: Vec<Option<Vec<u64>>> = lines.iter().map(|(_, cells)| Some(cells.to_vec())).collect();
    assert_eq!(made(&isa, &texts), expected);
    for (line, cells) in lines {
        Listing { start: 0, source: format!("{line}\n"), expected: cells.to_vec() }.check(&isa, line);
    }
}

/// A short form that excludes a value leaves it to a later one of the same length, whether that one's operand is the
/// same field or another. If it counted as taken, the line would become the long form.
#[test]
fn what_a_short_form_excludes_a_later_one_of_its_length_takes() {
    let text = "machine short \"Short forms beside each other\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b, c, d : u8
field D, S : register { a, b, c, d }
field N : u4
field M : u3
instructions {
  add D, S, N | 00 {D} {N} where S == D, N != 3         | D = S + u8(N)
  add D, S, N | 01 {D} {N} where S == D                 | D = S + u8(N)
  and D, S, N | 1110 {N} where D == a, S == a, N != 5   | D = S & u8(N)
  and D, S, M | 11111 {M} where D == a, S == a          | D = S & u8(M)
  add D, S, N | 1101 0001 {D} {S} {N}                   | D = S + u8(N)
  and D, S, N | 1101 0011 {D} {S} {N}                   | D = S & u8(N)
}
";
    let loaded = lathe_isa::load(text);
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let lines: [(&str, &[u64]); 7] = [
        ("add b, b, 2", &[0b0001_0010]),
        ("add b, b, 3", &[0b0101_0011]),
        ("add b, c, 3", &[0b1101_0001, 0b0110_0011]),
        ("and a, a, 4", &[0b1110_0100]),
        ("and a, a, 5", &[0b1111_1101]),
        ("and a, a, 9", &[0b1110_1001]),
        ("and a, b, 5", &[0b1101_0011, 0b0001_0101]),
    ];
    let texts: Vec<String> = lines.iter().map(|(line, _)| (*line).to_owned()).collect();
    let expected: Vec<Option<Vec<u64>>> = lines.iter().map(|(_, cells)| Some(cells.to_vec())).collect();
    assert_eq!(made(&isa, &texts), expected);
    for (line, cells) in lines {
        Listing { start: 0, source: format!("{line}\n"), expected: cells.to_vec() }.check(&isa, line);
    }
}

#[test]
fn what_customasm_cannot_say_is_named() {
    let missing = |name: &str| lathe_export::customasm(&machine(name)).missing;
    assert_eq!(missing("hex8"), [""; 0]);
    assert_eq!(missing("sm83")[0], "`rlca` and `rlc a`: customasm ignores the space");
}
