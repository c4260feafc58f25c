//! Definitions that are read again after a change: reusing unchanged rows makes no difference to any result.
//! `LATHE_EDITS` sets how many changes of each definition are tried, `LATHE_SEED` which ones.

use lathe_base::Source;
use lathe_isa::{KnownMeanings, Loaded, load_known, load_with};
use lathe_machines::Shipped;
use lathe_tests::emulator::setting;
use lathe_tests::random::Random;

/// Returns all results of a definition, to be compared.
fn told(loaded: Loaded) -> String {
    let Loaded { isa, partial, names, diagnostics, .. } = loaded;
    format!("{isa:#?}\n{partial:#?}\n{names:#?}\n{:#?}", diagnostics.into_sorted())
}

/// Reads a definition with and without the rows kept so far, and compares.
fn check(text: &str, known: &mut KnownMeanings) -> Result<(), String> {
    let source = || Source::new("definition.isa", text);
    let (whole, again) = (told(load_with(source(), &Shipped)), told(load_known(source(), &Shipped, known)));
    let differ = whole.lines().zip(again.lines()).enumerate().find(|(_, (whole, again))| whole != again);
    match differ {
        Some((line, (whole, again))) => Err(format!("line {line} of the model: {whole} became {again} in\n{text}")),
        None if whole.len() != again.len() => Err(format!("a part of the model is missing in\n{text}")),
        None => Ok(()),
    }
}

/// Modes and program counters among registers: rows create fields, which are numbered in the order of the rows.
const MODES: &str = "machine m \"\"
memory ram : u16 -> u8
register r0..r2 : u16
pc pc : u16 in ram
field R, Q : register { r0..r2, pc }
field N : u8
field T : s8 address from next
operand S, D : u4 {
  R    | 00RR       | R
  (R)  | 01RR where R != pc | ram.u16[R]
  N(Q) | 10QQ {N}   | ram.u16[zext(N) + Q]
  T    | 1100 {T}   | ram.u16[T]
}
instructions {
  clr D    | 0000 0000 0000 DDDD | D = 0
  neg R    | 0000 0001 0000 00RR | R = 0 - R
  mov S, D | 0001 0000 SSSS DDDD | D = S
  jmp T    | 0000 0010 {T}       | pc = T
}
";

/// Checks each text in turn, with the rows kept from the one before, and back to the first.
fn check_all(first: &str, texts: &[String]) {
    let mut known = KnownMeanings::default();
    check(first, &mut known).unwrap_or_else(|difference| panic!("{difference}"));
    for text in texts {
        assert_ne!(text, first, "the change is one");
        // A row's errors are reported as long as they are there.
        for text in [text, text, first] {
            check(text, &mut known).unwrap_or_else(|difference| panic!("{difference}"));
        }
    }
}

#[test]
fn rows_before_may_make_other_fields() {
    let loaded = load_with(Source::new("m.isa", MODES), &Shipped);
    assert!(loaded.isa.is_some_and(|isa| isa.instructions.len() > 30), "{:?}", loaded.diagnostics);
    let without = |row: &str| -> String {
        MODES.lines().filter(|line| !line.contains(row)).map(|line| format!("{line}\n")).collect()
    };
    let moved: String = without("clr D").replace("  jmp", "  clr D    | 0000 0000 0000 DDDD | D = 0\n  jmp");
    let other = MODES.replace("clr D    |", "clr S    |").replace("0000 DDDD | D = 0", "0000 SSSS | S = 0");
    let broken = MODES.replace("DDDD | D = 0", "DDDD | D = ]");
    let overlapping = MODES.replace("0000 0010 {T}", "0000 0001 {T}");
    let impossible = MODES.replace("00RR | R = 0", "00RR where R == r0, R == r1 | R = 0");
    let excluded = MODES.replace("00RR | R = 0", "00RR where R != r0 | R = 0");
    check_all(
        MODES,
        &[
            without("clr D"),
            without("neg R"),
            without("mov S"),
            moved,
            other,
            broken,
            overlapping,
            impossible,
            excluded,
        ],
    );
}

/// Findings that involve several rows are reported again: overlaps, rows that look alike, cycles and headings.
#[test]
fn what_rows_have_to_do_with_each_other_is_looked_at_again() {
    let text = "machine m \"\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a, b : u8
trap two = 2
pseudo {
  zero => clr
}
## First.
instructions with cycles {
  nop | 0x00 | two |
  clr | 0x01 | 1 | a = 0

  ## Second.

  mov | 0x02 | 3 | a = b
  add | 0x03 | two | b = a
}
";
    let edits = [
        ("0x02", "0x01"),
        ("mov |", "clr |"),
        ("  nop | 0x00 | two |\n", ""),
        ("## Second.", "## Other."),
        ("  ## Second.\n\n", ""),
        ("3 | a = b", "thre | a = b"),
        ("a = b", "a = a"),
        ("zero => clr", "clr => mov"),
        ("two = 2", "two = 3"),
        ("mov | 0x02", "## About it.\n  mov | 0x02"),
    ];
    let loaded = load_with(Source::new("m.isa", text), &Shipped);
    assert!(loaded.isa.is_some_and(|isa| isa.groups.len() == 2), "{:?}", loaded.diagnostics);
    check_all(text, &edits.map(|(old, new)| text.replace(old, new)));
    // A missing name is reported once, at the first of the remaining rows.
    let missing = text.replace("two | b = a", "thre | b = a");
    let mut known = KnownMeanings::default();
    for text in [missing.replace("3 | a = b", "thre | a = b"), missing] {
        check(&text, &mut known).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// Makes one change to a definition: a line removed, doubled, moved, or a letter of it changed.
fn change(lines: &mut Vec<String>, random: &mut Random) {
    let at = random.below(lines.len() as u64) as usize;
    let any = random.pick(lines).clone();
    match random.below(6) {
        0 if lines.len() > 1 => drop(lines.remove(at)),
        1 => lines.insert(at, any),
        2 => lines.insert(at, "# a comment".to_owned()),
        3 => lines[at].push_str(" # changed"),
        4 if lines.len() > 1 => {
            let line = lines.remove(at);
            let place = random.below(lines.len() as u64) as usize;
            lines.insert(place, line);
        }
        _ => {
            let letters: Vec<char> = lines[at].chars().collect();
            let place = random.below(letters.len() as u64 + 1) as usize;
            let letter = *random.pick(&['0', '1', 'R', 'x', '|', ' ', '}', '#']);
            let (before, after) = (&letters[..place], letters.get(place + 1..).unwrap_or_default());
            lines[at] = before.iter().chain([&letter]).chain(after).collect();
        }
    }
}

/// Rows change in every shipped machine; every third change is undone, as people do.
#[test]
fn shipped_machines_are_read_again_after_random_changes() {
    let (edits, seed) = (setting("LATHE_EDITS", 6), setting("LATHE_SEED", 13));
    for machine in lathe_machines::every() {
        let mut random = Random(seed);
        let mut known = KnownMeanings::default();
        let mut lines: Vec<String> = machine.definition.lines().map(str::to_owned).collect();
        for edit in 0..edits {
            let before = lines.clone();
            change(&mut lines, &mut random);
            let text = lines.join("\n");
            check(&text, &mut known)
                .unwrap_or_else(|difference| panic!("{}, seed {seed}, edit {edit}: {difference}", machine.name));
            if random.below(3) > 0 {
                lines = before;
            }
        }
    }
}
