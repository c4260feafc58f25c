//! `lathe machines`.

use crate::Bench;

#[test]
fn one_aligned_line_for_each() {
    let text = Bench::new().run(&["machines"]).succeeds();
    assert!(text.starts_with("quad8      Four registers, one-byte instructions, paged 64 KiB memory\n"), "{text}");
    assert_eq!(text.lines().count(), 23);
    for line in text.lines() {
        assert!(line.is_char_boundary(11) && &line[9..11] == "  " && &line[11..12] != " ", "{line}");
    }
}

#[test]
fn the_same_as_json() {
    let answer = Bench::new().run(&["machines", "--format", "json"]);
    let list = answer.json();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names[..5], ["quad8", "duo16", "stack8a", "stack8b", "hex8"]);
    assert_eq!(
        names[5..],
        [
            "sm83",
            "mos6502",
            "rv32i",
            "chip8",
            "lc3",
            "z80",
            "mos6502x",
            "w65c02",
            "avr",
            "i8051",
            "superchip",
            "gameboy",
            "i8080",
            "pdp11",
            "pdp8",
            "rv32imc",
            "rv64i",
            "msp430"
        ]
    );
    assert_eq!(list[4]["title"], "Sixteen 8-bit registers, variable length, 64 KiB memory, branches on odd");
}
