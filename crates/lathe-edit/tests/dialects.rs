//! Hovers in programs: names with their values and places, and words of other assemblers.

use lathe_asm::{Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_doc::Sheet;
use lathe_edit::assembly::Words;
use lathe_edit::hover;

/// Returns what is shown at the first occurrence of each word, in a program for a shipped machine.
fn shown(machine: &str, program: &str, words: &[&str]) -> Vec<String> {
    let loaded = lathe_isa::load(lathe_machines::find(machine).unwrap().definition);
    let isa = loaded.isa.unwrap();
    let (sheet, all) = (Sheet::new(&isa, &loaded.written), Words::new(&isa));
    let source = Source::new("main.asm", program);
    let assembled = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
    let at = |word: &&str| program.find(*word).unwrap_or_else(|| panic!("no {word}"));
    let show = |word: &&str| hover::assembly(program, at(word), (&sheet, &all), Some(&assembled), || None);
    words.iter().map(|word| show(word).unwrap_or_default()).collect()
}

#[test]
fn names_have_their_values_and_places() {
    let program = "start: loadimm r1, count\n jmp start\ncount = 3\n";
    assert_eq!(
        shown("hex8", program, &["start\n", "count\n"]),
        [
            "`start` = 0 (0x0) · label, defined in line 1 of `main.asm`",
            "`count` = 3 (0x3) · constant, defined in line 3 of `main.asm`"
        ]
    );
    // With a mistake elsewhere, the place is still shown.
    let program = "start: loadimm r1, [\n jmp start\n";
    assert_eq!(shown("hex8", program, &["start\n"]), ["`start` · label, defined in line 1"]);
}

#[test]
fn words_of_as65_are_explained() {
    let program = "count equ 5\n        if count <> 4\n        noopt\ntable   dw table\n        endif\n        .segment \"CODE\"\n        lda #lo table\n";
    assert_eq!(
        shown("mos6502", program, &["equ", "<>", "noopt", "dw", "endif", "segment", "lo "]),
        [
            "`equ` is `.equ`: a constant\n```\n.equ name, value\n```",
            "`x <> y` is `x != y`",
            "`noopt` says nothing here",
            "`dw` is `.word`: two bytes in the machine's order, or one cell if cells are wider\n```\n.word 0x1234, label\n```",
            "`endif` is `.endif`: ends a condition\n```\n.endif\n```",
            "`.segment` is `.section`: the memory or section that is filled\n```\n.section data\n```",
            "`lo V` is `V[7:0]`",
        ]
    );
}

#[test]
fn words_of_rgbds_and_gas_are_explained() {
    let program = "DEF LIMIT EQU 3\nSECTION \"main\", ROM0[$150]\n        db HIGH(@), LIMIT\n";
    assert_eq!(
        shown("sm83", program, &["DEF", "SECTION", "ROM0", "HIGH", "@", "LIMIT\n"]),
        [
            "`DEF` is `.set`: a constant that may be defined again\n```\n.set name, value\n```",
            "`SECTION` is `.section`: the memory or section that is filled\n```\n.section data\n```",
            "`ROM0` is a section, from `ram[0x0]` on",
            "`high(V)` is `V[15:8]`",
            "`@` is the current address",
            "`LIMIT` = 3 (0x3) · constant, defined in line 1 of `main.asm`",
        ]
    );
    let program = " lui a0, %hi(0x1234)\n .text\n .half 1\n";
    assert_eq!(
        shown("rv32i", program, &["hi(", ".text", ".half"]),
        [
            "`%hi(V)` is `(V + 0x800)[31:12]`",
            "`.text` says nothing here",
            "`.half` is `.le16`: 16 bits, lowest cell first\n```\n.le16 0x1234\n```"
        ]
    );
}

/// The forms of an instruction that fit the line come first.
#[test]
fn the_form_of_the_line_comes_first() {
    let first = |line: &str| shown("mos6502", line, &["ld"]).remove(0).lines().next().unwrap_or("").to_owned();
    assert!(first(" ldx #0\n").starts_with("**`ldx #N`**"), "{}", first(" ldx #0\n"));
    assert!(first(" ldx $10,Y\n").starts_with("**`ldx Z,y`**"));
    assert!(first(" lda ($10),y\n").starts_with("**`lda (Z),y`**"));
    // A line that fits none shows all, in the order of the definition.
    assert!(first(" ldx\n").starts_with("**`ldx #N`**"));
}
