//! Programs that are assembled again after a change: reusing unchanged lines makes no difference to any result.
//! `LATHE_EDITS` sets how many changes of each program are tried, `LATHE_SEED` which ones.

use lathe_asm::{Assembled, KnownLines, Options, assemble, assemble_again};
use lathe_base::Source;
use lathe_isa::Isa;
use lathe_machines::{Machine, Shipped};
use lathe_tests::random::Random;

fn isa(machine: Machine) -> Isa {
    lathe_isa::load_with(machine.source(), &Shipped).isa.expect("it ships")
}

/// Returns all results of a program, to be compared.
fn told(assembled: Assembled) -> String {
    let Assembled { image, partial, names, diagnostics, sources } = assembled;
    format!("{image:#?}\n{partial:#?}\n{names:#?}\n{:#?}\n{}", diagnostics.into_sorted(), sources.len())
}

fn check(isa: &Isa, files: &dyn lathe_base::files::Files, text: &str, known: &mut KnownLines) -> Result<(), String> {
    let options = Options { names: true, ..Options::default() };
    let source = || Source::new("program.asm", text);
    let (whole, again) =
        (told(assemble(isa, files, source(), &options)), told(assemble_again(isa, files, source(), &options, known)));
    let differ = whole.lines().zip(again.lines()).find(|(whole, again)| whole != again);
    match differ {
        Some((whole, again)) => Err(format!("{whole} became {again} in\n{text}")),
        None => Ok(()),
    }
}

/// Lines that mean something else when other text changes: each program in turn, with the lines kept from those before.
#[test]
fn what_other_lines_say_still_counts() {
    let cases: [(&str, &[&str]); 11] = [
        ("hex8", &[" jmp 5 /* x\n y */\n output r1\n"]),
        ("hex8", &[" jmp 5\n", ".macro jmp x\n output r1\n.endm\n jmp 5\n", " jmp 5\n"]),
        ("hex8", &["a:\n.x: jmp .x\n jmp .x\nb:\n.x: output r1\n jmp .x\n", ".x:\n jmp .x\na:\n.x:\n jmp .x\n"]),
        ("hex8", &["1: output r1\n jmp 1b\n1:\n jmp 1b\n jmp 1f\n1:\n jmp 1f\n1:\n"]),
        ("hex8", &[": output r1\n jmp :-\n: output r1\n jmp :-\n jmp :+\n: output r1\n"]),
        ("hex8", &[" jmp $\n jmp $\n jmp *+2\n jmp *+2\n"]),
        ("hex8", &[" loadimm r1, defined(late)\nlate = 1\n loadimm r1, defined(late)\n"]),
        ("hex8", &[" jmp late\nlate:\n", " output r1\n jmp late\n", "late = 7\n jmp late\n", " jmp LATE\nlate:\n"]),
        ("hex8", &[" jmp 5\n.if 0\n jmp 5\n.else\n jmp 5\n.endif\n", ".if 1\n jmp 5\n jmp 7\n"]),
        ("rv32i", &["big = 5\n li a0, big\n", "big = 0x12345\n li a0, big\n", " li a0, 5\n li a0, 0x12345\n"]),
        ("hex8", &[" loadimm r1, 0x1_0000_0000_0000_0000_0001 & 5\n loadimm r1, 0x1_0000_0000_0000_0000_0001 & 5\n"]),
    ];
    for (machine, texts) in cases {
        let isa = isa(lathe_machines::find(machine).expect("it ships"));
        let mut known = KnownLines::default();
        for text in texts.iter().chain(texts) {
            check(&isa, &Shipped, text, &mut known).unwrap_or_else(|difference| panic!("{machine}: {difference}"));
        }
    }
}

/// Lines that change what others mean.
const PIECES: [&str; 14] = [
    "label:", ".local:", "1:", ":", ".if 0", ".else", ".endif", ".endm", ".rept 2", ".endr", "/* open", "*/", ".end",
    "",
];

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// Makes one change to a program: a line removed, moved, doubled, or a new one.
fn change(lines: &mut Vec<String>, random: &mut Random) {
    let at = random.below(lines.len() as u64 + 1) as usize;
    let any = random.pick(lines).clone();
    let word = any.split_whitespace().next().unwrap_or("x").to_owned();
    match random.below(6) {
        0 if lines.len() > 1 => drop(lines.remove(at.min(lines.len() - 1))),
        1 => lines.insert(at, any),
        2 => lines.insert(at, format!(".macro {word}\n.endm")),
        3 => lines.insert(at, format!("{word} = 5")),
        4 => lines.insert(at, format!("{any} ; changed")),
        _ => lines.insert(at, (*random.pick(&PIECES)).to_owned()),
    }
}

#[test]
fn a_changed_program_is_what_it_would_be_from_scratch() {
    let (count, seed) = (number("LATHE_EDITS", 40), number("LATHE_SEED", 13));
    for machine in lathe_machines::every() {
        let isa = isa(machine);
        let alone = machine.programs.iter().filter(|program| !program.text.contains(".inc"));
        let Some(program) = alone.min_by_key(|program| program.text.len()) else { continue };
        let mut random = Random(seed ^ machine.name.len() as u64);
        let original: Vec<String> = program.text.lines().map(str::to_owned).collect();
        let (mut lines, mut known) = (original.clone(), KnownLines::default());
        for number in 0..count {
            if number % 20 == 19 {
                lines.clone_from(&original);
            }
            change(&mut lines, &mut random);
            check(&isa, &Shipped, &lines.join("\n"), &mut known)
                .unwrap_or_else(|difference| panic!("seed {seed}, {}, edit {number}: {difference}", machine.name));
        }
    }
}
