//! Pairs of operations that follow one another: each is made somewhere, and does what its two operations do.

use std::sync::Arc;

use super::agree;
use crate::ops::Code;

const MACHINE: &str = r#"
machine t "Pairs"
memory ram  : u16 -> u8 little
memory data : u8 -> u8
memory more : u16 -> u8
pc pc : u16 in ram
register a, b : u8
register sp   : u16
register n, z, c : u1
field V : u8
field M : u16 address
device console : stream
map ram {
  0xF001 | 7 | console.write(value)
}
instructions {
  set V  | 0x01 {V} | a = V; n = V[7]; z = V == 0
  both   | 0x02     | a = b; b = 5
  add    | 0x03     | let s = u9(a) + u9(b); c = s[8]; a = s[7:0]
  inc    | 0x04     | let s = u9(a) + 0x43; c = s[8]; a = s[7:0]
  signs  | 0x05     | a = a ^ b; n = a[7]; z = a == 0
  other  | 0x06     | a = a - b; z = a == 3; c = a[5]; b = b + 1
  rol    | 0x07     | let top = a[7]; a = a[6:0] ++ c; c = top
  pull   | 0x08     | b = b + 1; a = ram[0x100 + u16(b)]
  two    | 0x09     | data[b + 1] = a; data[b + 2] = a
  push M | 0x0A {M} | ram[0x100 + u16(b)] = M[15:8]; ram[0x100 + u16(b - 1)] = M[7:0]; b = b - 2
  rts    | 0x0B     | b = b + 2; pc = (ram[0x100 + u16(b)] ++ ram[0x100 + u16(b - 1)]) + 1
  cell   | 0x0C     | a = a + ram[sp + 3]; sp = sp + 1
  word   | 0x0D     | let l = ram[sp]; let h = ram[sp + 1]; sp = sp + 2; a = a ^ (h ++ l)[11:4]
  ret    | 0x0E     | let l = ram[sp]; let h = ram[sp + 1]; sp = sp + 2; a = b; pc = h ++ l
  after  | 0x0F     | let l = ram[sp]; let h = ram[sp + 1]; pc = (h ++ l) + 1
  leap   | 0x11     | let l = ram[sp]; let h = ram[sp + 1]; a = b; pc = h ++ l
  jmp M  | 0x10 {M} | pc = M
  spread | 0x12     | ram[0x100 + u16(b)] = a; more[0x200 + u16(b)] = b
  take   | 0x13     | b = b + 1; a = more[0x1FF + u16(b)]
}
"#;

/// Programs, the stack pointer, and pairs that the programs contain.
const PROGRAMS: &[(&[u64], u64, &[Code])] = &[
    (&[0x01, 0x80, 0x02, 0x10, 0, 0], 0, &[Code::MoveThenMove]),
    (&[0x07, 0x10, 0, 0], 0, &[Code::SliceThenJoin]),
    (&[0x04, 0x10, 0, 0], 0, &[Code::AddNumberThenSlice]),
    (&[0x03, 0x07, 0x10, 0, 0], 0, &[Code::AddThenSlice, Code::MoveThenGoto]),
    (&[0x05, 0x10, 0, 0], 0, &[Code::SliceThenEqualNumber]),
    (&[0x06, 0x10, 0, 0], 0, &[Code::EqualNumberThenSlice]),
    (&[0x08, 0x02, 0x10, 0, 0], 0, &[Code::AddNumberThenLoadOffset]),
    (&[0x09, 0x04, 0x10, 0, 0], 0, &[Code::StoreOffsetThenStoreOffset]),
    (&[0x0A, 0, 2, 0x0B, 0x10, 0, 0], 0, &[Code::StoreUnmarkedOffsetThenStoreOffset]),
    (&[0x0B, 0x10, 0, 0], 0, &[Code::JoinThenAddNumber]),
    (&[0x0C, 0x10, 0, 0], 0xEFE0, &[Code::LoadOffsetUnmapped, Code::AddNumberThenGoto]),
    // The mapped address is the first half of a word, then the second; then a word wraps to the beginning of the
    // memory.
    (&[0x0D, 0x10, 0, 0], 0xEFE1, &[Code::LoadWideUnmapped]),
    (&[0x0D, 0x10, 0, 0], 0xEFE0, &[Code::LoadWideUnmapped]),
    (&[0x0D, 0x10, 0, 0], 0xFFF1, &[Code::LoadWideUnmapped]),
    (&[0x0E], 0x8000, &[Code::LoadWideUnmapped, Code::AddNumberThenMove]),
    // The second operation accesses another memory than the first one.
    (&[0x12, 0x13, 0x10, 0, 0], 0, &[Code::StoreUnmarkedOffsetThenStoreOffset, Code::AddNumberThenLoadOffset]),
    (&[0x11], 0x8000, &[Code::LoadWideUnmapped, Code::MoveThenJump]),
];

#[test]
fn pairs_do_what_their_operations_do() {
    let loaded = lathe_isa::load(MACHINE);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    let mut missing = Vec::new();
    for (program, sp, pairs) in PROGRAMS {
        let fast = agree(&isa, program, *sp, 17..120);
        let found: Vec<Code> = fast.ops.iter().map(|ready| ready.op.code).collect();
        if !pairs.iter().all(|pair| found.contains(pair)) {
            missing.push((program, pairs, found));
        }
    }
    assert!(missing.is_empty(), "{missing:x?}");
}

/// If nothing is mapped, a loaded target is compared at once with the address that the jump comes from.
#[test]
fn what_was_read_is_compared_at_once() {
    let unmapped = MACHINE.replace("map ram {\n  0xF001 | 7 | console.write(value)\n}\n", "");
    let loaded = lathe_isa::load(&unmapped);
    let isa = Arc::new(loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics)));
    for (opcode, pair) in [(0x0E, Code::LoadWideThenLeaveIfNumber), (0x0F, Code::AddNumberThenLeaveIfNumber)] {
        // The second one jumps to itself.
        let fast = agree(&isa, &[opcode, opcode], 0x8000, 17..20);
        assert!(fast.ops.iter().any(|ready| ready.op.code == pair), "{pair:?}: {:?}", fast.ops);
    }
}
