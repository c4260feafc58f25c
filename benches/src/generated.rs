//! Endless programs for hex8 and rv32i that measure how cost grows; and a definition of many rows, which measures how
//! checking and assembling grow.

use std::fmt::Write;

/// Returns a loop of about this many instructions, all of them executed in every turn.
pub fn straight(instructions: usize) -> String {
    let mut text = String::from(".machine hex8\n loadimm r15, 0xF0\nloop:\n");
    for at in 0..instructions.saturating_sub(1) {
        let (to, from) = (at % 7, (at * 3 + 1) % 7);
        let _ = match at % 4 {
            0 => writeln!(text, " addimm r{to}, r{from}, {}", at % 251),
            1 => writeln!(text, " xor r{to}, r{from}"),
            2 => writeln!(text, " shrimm r{to}, r{from}, 1"),
            _ => writeln!(text, " storeind r{to}, r15, r{from}"),
        };
    }
    text + " jmp loop\n"
}

/// Addresses in a page of the table of [`scattered`].
const IN_A_PAGE: usize = 128;

/// Returns this many routines, a power of two and at least 128, reached one after the other in scattered order through
/// a table of addresses. The jumps are computed: hex8 pushes an address and returns to it.
pub fn scattered(routines: usize) -> String {
    let pages = (routines / IN_A_PAGE).max(1);
    let mut text = format!(
        "
.machine hex8
next:   addimm r10, r10, 74             ; the place in a page of the table
        eqimm r13, r10, 0
        add r11, r13                    ; the page
        andimm r12, r11, {}
        addimm r12, r12, table >> 8
        loadind r2, r12, r10
        addimm r13, r10, 1
        loadind r3, r12, r13
        push r3
        push r2
        return
",
        pages - 1
    );
    for routine in 0..pages * IN_A_PAGE {
        let (to, from) = (4 + routine % 4, 4 + (routine + 1) % 4);
        let _ = writeln!(text, "at{routine}: addimm r{to}, r{from}, {}\n xor r{from}, r{to}\n jmp next", routine % 251);
    }
    text += " .align 256\ntable:\n";
    (0..pages * IN_A_PAGE).for_each(|routine| {
        let _ = writeln!(text, " .word at{routine}");
    });
    text
}

/// The instructions of one place of [`places`].
pub const IN_A_PLACE: usize = 8;

/// Returns this many places, for rv32i, each of which does something of its own and continues at another far away, so
/// that all are executed equally often. No jump has more than one target; none of the code is hotter than the rest.
pub fn places(count: usize) -> String {
    // Every place is reached before the first comes again, because the distance is coprime to `count`.
    let mut distance = (count * 5 / 13) | 1;
    while greatest_common_divisor(distance, count) != 1 {
        distance += 2;
    }
    format!(
        "
.machine rv32i
places:
        .rept {count}, n
        addi    s0, s0, n % 2000
        xor     s1, s1, s0
        slli    t1, s1, n % 31
        add     s2, s2, t1
        sltu    t2, s2, t1
        add     s0, s0, t2
        lui     t0, %hi(places + (n + {distance}) % {count} * {})
        jalr    zero, %lo(places + (n + {distance}) % {count} * {})(t0)
        .endr
",
        IN_A_PLACE * 4,
        IN_A_PLACE * 4,
    )
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Returns a definition with this many rows, at most 2^20, all of one mnemonic: a name tells them apart, as the names
/// of special registers do, and each also takes a register and a number.
pub fn many_rows(count: usize) -> String {
    let mut text = String::from(
        "machine many \"Many rows of one mnemonic\"
memory ram : u16 -> u8
pc pc : u16 in ram
register r0..r15 : u8
field D : register { r0..r15 }
field N : u8

instructions {
",
    );
    for row in 0..count {
        let _ = writeln!(text, "  move D, name{row}, N | {row:020b} DDDD NNNNNNNN | D = D + N");
    }
    text + "}\n"
}

/// Returns a program of this many lines for [`many_rows`], which uses the rows in scattered order.
pub fn lines_for_many_rows(lines: usize, rows: usize) -> String {
    let mut text = String::new();
    for at in 0..lines {
        let again = if at.is_multiple_of(10_000) { ".org 0\n" } else { "" };
        let _ = writeln!(text, "{again} move r{}, name{}, {}", at % 16, at * 7919 % rows, at % 256);
    }
    text
}
