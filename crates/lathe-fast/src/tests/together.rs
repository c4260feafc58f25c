//! What takes several operations by its meaning, and is one here: flags of sums, parts moved elsewhere, cycles, words,
//! and pairs of operations that follow one another.

use std::sync::Arc;

use lathe_isa::Isa;

use super::{agree, has};
use crate::ops::Code;

const MACHINE: &str = r#"
machine t "Sums, parts and cycles"
memory ram : u16 -> u8 little
pc pc : u16 in ram
register a, b : u8
register sp   : u16
register n, z, v, c : u1
field V : u8
field M : u16 address
instructions with cycles {
  add V   | 0x01 {V} | 2 | let s = u9(a) + u9(V) + u9(c); v = (~(a ^ V) & (a ^ s[7:0]))[7]; n = s[7]; z = s[7:0] == 0; c = s[8]; a = s[7:0]
  adc     | 0x02     | 2 | let s = u9(a) + u9(b) + u9(c); v = ((a ^ s[7:0]) & ~(b ^ a))[7]; c = s[8]; a = s[7:0]
  sub     | 0x03     | 2 | let d = b - a; v = ((a ^ b) & (b ^ d))[7]; z = d == 0; n = d[7]; a = d
  rol     | 0x04     | 3 | let top = a[7]; a = a[6:0] ++ c; c = top
  up      | 0x05     | 3 | a = a[5:2] ++ u4(0); b = b + a
  down    | 0x06     | 3 | b = u2(0) ++ a[6:3] ++ u2(0)
  index M | 0x07 {M} | 4 | let t = M + u16(a); if t[15:8] != M[15:8] { cycles + 1 }; b = ram[t]
  slow    | 0x08     | 1 | if b[0] { cycles + 5 }; b = b + 1
  long    | 0x09     | 60_000 |
  jmp M   | 0x0A {M} | 3 | pc = M
  odd M   | 0x0B {M} | 2 | if a[0] { cycles + 2; pc = M }
  push M  | 0x0C {M} | 3 | sp = sp - 2; ram[sp] = M[7:0]; ram[sp + 1] = M[15:8]
  ret     | 0x0D     | 6 | let l = ram[sp]; let h = ram[sp + 1]; sp = sp + 2; pc = h ++ l
}
"#;

fn isa() -> Arc<Isa> {
    let loaded = lathe_isa::load(MACHINE);
    Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)))
}

#[test]
fn overflow_is_one_operation() {
    let isa = isa();
    for program in [[0x01, 0x6B, 0x08, 0x0A, 0, 0], [0x02, 0x08, 0x04, 0x0A, 0, 0], [0x08, 0x03, 0x04, 0x0A, 0, 0]] {
        let fast = agree(&isa, &program, 0x8000, 17..400);
        assert!(has(&fast, Code::DiffersFromBoth), "{program:?}");
        assert!(!has(&fast, Code::And) && !has(&fast, Code::Xor) && !has(&fast, Code::Not), "{program:?}");
    }
}

#[test]
fn a_part_is_taken_where_it_is_moved() {
    let isa = isa();
    let fast = agree(&isa, &[0x01, 0x2D, 0x04, 0x0A, 0, 0], 0x8000, 17..300);
    assert!(has(&fast, Code::Join));
    // Both ways, by four bits and by one.
    let fast = agree(&isa, &[0x01, 0x5B, 0x05, 0x06, 0x0A, 0, 0], 0x8000, 17..300);
    assert!(has(&fast, Code::ShiftLeft) && !has(&fast, Code::Join) && !has(&fast, Code::JoinNumber));
}

#[test]
fn cycles_that_depend_on_something_are_added_where_they_are_taken() {
    let isa = isa();
    // Accesses of this program cross pages at many points.
    let across = [0x01, 0x35, 0x07, 0x81, 0x20, 0x07, 0xFF, 0x21, 0x07, 0x00, 0x22, 0x0A, 0, 0];
    let fast = agree(&isa, &across, 0x8000, 17..300);
    assert!(has(&fast, Code::CyclesIfLess) && !has(&fast, Code::Cycles) && !has(&fast, Code::Choose));
    // The operation at the end of a block has room for the other cycles, but not for those of `long`.
    assert!(!has(&fast, Code::CyclesNumber));
    let fast = agree(&isa, &[0x08, 0x01, 0x35, 0x08, 0x0B, 0, 0, 0x09, 0x09, 0x0A, 0, 0], 0x8000, 17..300);
    assert!(has(&fast, Code::CyclesIf) && has(&fast, Code::CyclesNumber));
}

#[test]
fn the_cycles_before_an_instruction_that_is_interpreted_are_taken() {
    // The stack grows into the program.
    agree(&isa(), &[0x08, 0x0C, 0, 0, 0x08, 0x0A, 0, 0], 0x20, 17..80);
}

#[test]
fn a_jump_to_somewhere_new_takes_its_cycles_too() {
    let isa = isa();
    let fast = agree(&isa, &[0x08, 0x0D], 0x8000, 17..60);
    assert!(has(&fast, Code::Jump));
}

#[test]
fn words_of_any_length_are_read_and_written_at_once() {
    for (order, bits) in ["little", "big"].into_iter().flat_map(|order| [16, 24, 32, 40, 64].map(|bits| (order, bits)))
    {
        let cells = bits / 8;
        let text = format!(
            "machine t \"Words\"\nmemory ram : u16 -> u8 {order}\npc pc : u16 in ram\nregister a, b, sp : u{bits}\n\
             instructions {{\n  push | 0x01 | let to = sp[15:0] - {cells}; ram.u{bits}[to] = a; sp = sp - {cells}\n  \
             pop | 0x02 | b = b ^ ram.u{bits}[sp[15:0]]; sp = sp + {cells}\n  inc | 0x03 | a = a * 0x85 + b + 0x83\n  \
             back | 0x05 | pc = 0\n}}\n"
        );
        let text = if bits == 16 { text.replace("[15:0]", "") } else { text };
        let loaded = lathe_isa::load(&text);
        let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics)));
        for sp in [0x8000, 0x8001, 0, 1, 2, 5, 0xFFFF] {
            let fast = agree(&isa, &[0x03, 0x03, 0x03, 0x01, 0x03, 0x01, 0x02, 0x02, 0x05], sp, 17..60);
            assert!(sp != 0x8000 || has(&fast, Code::StoreWideUnmarked), "{bits} bits, {order}");
        }
        let fast = agree(&isa, &[0x02, 0x03, 0x05], 0x8000, 17..60);
        assert!(has(&fast, Code::LoadWide), "{bits} bits, {order}");
    }
}
