//! Generated syntaxes: for every definition that passes the check, what the disassembler prints for a row assembles to
//! the same cells.
//!
//! `LATHE_SEED` sets where the seeds start, `LATHE_CASES` how many definitions are tried.

use lathe_asm::{Image, Method, Options, Segment, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_isa::encoding::cells;
use lathe_tests::random::Random;

const HEAD: &str = "machine m \"\"\nmemory ram : u16 -> u8\npc pc : u16 in ram\nregister a, b, x, sp : u8\n\
                    field D, S : register { a, b, x, sp }\nfield N : u8\nfield M : s8\nfield L : u16 address\n\
                    field C : enum { eq = 0, ne = 1, x1 = 2, hi = 3 }\n";

const FIELDS: [(&str, u32); 6] = [("D", 2), ("S", 2), ("N", 8), ("M", 8), ("L", 16), ("C", 2)];

const HEADS: [&str; 24] = [
    "mov",
    "go:",
    "k=",
    "add.w",
    "st+",
    "c.li",
    "a",
    "sp",
    ".op",
    "9ld",
    "ex'",
    "b!",
    "if",
    "_x",
    "ld/load",
    "equ",
    "x{N:hex2}",
    "r{N:dec}q",
    "@go",
    "é",
    "1f",
    "db",
    "x0",
    "n\"",
];

const TEXTS: [&str; 50] = [
    ",", ",", ",", "(", ")", "[", "]", "#", "+", "-", "*", "/", "//", "/*", "%", "$", "&", "|", "^", "~", "!", "?",
    ":", "=", "<", ">", "@", ".", ";", "'", "\"", "\\", "`", "->", "a", "x", "to", "by", "1", "0x10", "5b", "f'", "é",
    "_", "++", "<<", ".w", "%hi", "$5", "{",
];

/// Returns a row of random pieces with every operand once.
fn row(random: &mut Random, number: usize) -> String {
    let head = *random.pick(&HEADS);
    let (mut syntax, mut picture) = (head.to_owned(), format!("0x{:02X}", number + 1));
    let mut left: Vec<(&str, u32)> =
        FIELDS.into_iter().filter(|(name, _)| !head.contains(&format!("{{{name}"))).collect();
    if head.contains("{N") {
        picture += " {N}";
    }
    let mut bits = 0;
    for at in 0..random.below(6) {
        if at == 0 || random.once_in(2) {
            syntax.push(' ');
        }
        if random.once_in(2) && !left.is_empty() {
            let (name, width) = left.remove(random.below(left.len() as u64) as usize);
            syntax += name;
            picture += &format!(" {{{name}}}");
            bits += width;
        } else {
            syntax += *random.pick(&TEXTS);
        }
    }
    picture += &"0".repeat((8 - bits % 8) as usize % 8);
    format!("  {syntax} | {picture} | a = b; b = x; x = sp; sp = a\n")
}

/// Returns the cells of a row with random operands.
fn encoded(random: &mut Random, isa: &Isa, at: usize) -> Vec<u64> {
    let instruction = &isa.instructions[at];
    let operands: Vec<u64> = instruction.operands.iter().map(|id| random.value(isa.field(*id).width.bits())).collect();
    let window = instruction.encoding.encode(&operands);
    cells(window, isa.code_memory().cell).take(instruction.encoding.cells as usize).collect()
}

/// Returns what is wrong with the round trip of these cells, if anything.
fn problem(isa: &Isa, cells: Vec<u64>) -> Option<String> {
    let segments = vec![Segment { memory: isa.pc.memory, start: 0, cells: cells.clone() }];
    let image = Image { machine: isa.name.clone(), segments, ..Image::default() };
    let text = disassemble(isa, &image, Method::Linear);
    let source = Source::new("dis.asm", text.clone());
    let result = assemble(isa, &MemoryFiles::default(), source, &Options::default());
    let messages: Vec<String> = result.diagnostics.into_sorted().iter().map(|found| found.message.clone()).collect();
    match result.image {
        None => Some(format!("{messages:?}\n{text}")),
        Some(again) if again.flat(isa.pc.memory, 0) != image.flat(isa.pc.memory, 0) => {
            Some(format!("other cells\n{text}"))
        }
        Some(_) => None,
    }
}

#[test]
fn what_is_printed_is_read_back() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (first, cases) = (number("LATHE_SEED", 1), number("LATHE_CASES", 4_000));
    let (mut accepted, mut problems) = (0, Vec::new());
    for seed in first..first + cases {
        let mut random = Random(seed);
        let rows: String = (0..=random.below(2) as usize).map(|at| row(&mut random, at)).collect();
        let Some(isa) = lathe_isa::load(&format!("{HEAD}instructions {{\n{rows}}}\n")).isa else { continue };
        accepted += 1;
        for at in 0..isa.instructions.len() {
            let cells = encoded(&mut random, &isa, at);
            if let Some(problem) = problem(&isa, cells) {
                problems.push(format!("seed {seed}\n{rows}{problem}"));
                break;
            }
        }
    }
    println!("{accepted} of {cases} definitions were accepted");
    assert!(
        problems.is_empty(),
        "{} of {accepted}:\n{}",
        problems.len(),
        problems[..problems.len().min(40)].join("\n\n")
    );
    assert!(accepted * 10 > cases, "only {accepted} of {cases} definitions were accepted");
}
