//! Programs in, cells out: one helper, one program a test, expectations worked out by hand from the encodings in the
//! definitions.

use std::collections::BTreeMap;

use lathe_asm::{Assembled, Options, assemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

fn machine(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).expect("it ships").source(), &lathe_machines::Shipped)
        .isa
        .expect("it is right")
}

fn assembled(name: &str, text: &str, files: &[(&str, &[u8])]) -> Assembled {
    let files: BTreeMap<String, Vec<u8>> = files.iter().map(|(name, bytes)| ((*name).into(), bytes.to_vec())).collect();
    assemble(&machine(name), &MemoryFiles(files), Source::new("main.asm", text), &Options::default())
}

/// Returns the cells of the code memory from its lowest address on, gaps as 0.
fn cells(name: &str, text: &str) -> Vec<u64> {
    let result = assembled(name, text, &[]);
    let problems: Vec<String> = result.diagnostics.into_sorted().iter().map(|found| found.message.clone()).collect();
    let image = result.image.unwrap_or_else(|| panic!("{problems:?}"));
    image.flat(machine(name).pc.memory, 0).map_or(Vec::new(), |segment| segment.cells)
}

/// Returns the codes of all errors, in source order.
fn errors(name: &str, text: &str) -> Vec<&'static str> {
    let found = assembled(name, text, &[]).diagnostics.into_sorted();
    found.iter().map(|found| found.code.name).filter(|code| !code.starts_with('W')).collect()
}

#[test]
fn the_documents_own_syntax() {
    assert_eq!(
        cells("quad8", "PAGE [A]\nSUB B, C\nload d,[ a ]\nJALR a,[b]\nstackpage d\njmpfar d\njmpfar d, d\nsli b, 10"),
        [0x03, 0x16, 0x2C, 0x51, 0xAE, 0x9E, 0x9F, 0xE6]
    );
    assert_eq!(
        cells("stack8b", "x2A\nx7\nldo 1\nsto 63\nout 0\niin 5\nshl 3\nskp 2\nnop\nnop"),
        [0x01, 0x2A, 0xF7, 0x81, 0x7F, 0x08, 0x00, 0x09, 0x05, 0xD3, 0xC2, 0, 0]
    );
    assert_eq!(
        cells("hex8", "loadimm r1, 5\naddimm r1, r2, 5\nadd r3, r4\nloadind r1, r2, r3\ncall 0x1234\nreturn"),
        [0x11, 5, 0xE7, 0x12, 5, 0xF7, 0x34, 0x41, 0x23, 0x60, 0x12, 0x34, 0x70]
    );
    assert_eq!(
        cells("duo16", "store r1, 4, r2l\nstore r1, r2, r3l\ndiv r3, r4, r1, r2\njmp r5\njmp 0x1234\nldi rh, 0x100"),
        [0x27, 0x13, 4, 0, 0x29, 0x12, 0x50, 0x52, 0x34, 0x12, 0x40, 0x51, 0, 0, 0x40, 1, 0x34, 0x12, 0x40, 0xF0, 0, 1]
    );
}

#[test]
fn labels_forward_backward_local_and_anonymous() {
    assert_eq!(
        cells("hex8", "start: jmp .end\n.end: jmp other.end\nother:\n.end: jmpbwdo r1, start"),
        [0x80, 0, 3, 0x80, 0, 6, 0xA1, 8]
    );
    assert_eq!(cells("hex8", ": jmp :+\n: jmp :-\njmp :--\n"), [0x80, 0, 3, 0x80, 0, 3, 0x80, 0, 0]);
}

#[test]
fn relative_operands_take_labels_or_distances() {
    assert_eq!(cells("hex8", "jmpfwdo r1, there\nreturn\nthere: jmpbwdo r2, 4"), [0x91, 1, 0x70, 0xA2, 4]);
    assert_eq!(cells("stack8b", "skp end\nnop\nend: htl"), [0xC1, 0, 2]);
}

#[test]
fn the_shortest_form_is_chosen_and_grows_where_it_must() {
    assert_eq!(cells("stack8a", "psh 15\npsh 16"), [0xFF, 0x01, 16]);
    assert_eq!(cells("stack8a", "psh 'A'\npsh -1"), [0x01, 65, 0x01, 0xFF]);
    // Eight pushes of a label at the end: at first the label seems to be at 8, then at 16.
    let text = "psh end\n".repeat(15) + "nop\nend: htl";
    let expected: Vec<u64> = [0x01, 31].repeat(15).into_iter().chain([0, 2]).collect();
    assert_eq!(cells("stack8a", &text), expected);
}

#[test]
fn pseudo_instructions_expand() {
    assert_eq!(cells("quad8", "li a, 0xA5\nmov b, c"), [0xE2, 0xD1, 0x15, 0x76]);
    assert_eq!(cells("quad8", ".org 0x310\nmsg: li d, msg"), [0xCD, 0xCC]);
    assert_eq!(errors("quad8", "li a, 300"), ["A303"]);
}

#[test]
fn jumps_within_a_page_say_where_they_can_reach() {
    assert_eq!(cells("quad8", "loop: jz a, loop"), [0xCC, 0xCC, 0x41, 0x5F]);
    let far = assembled("quad8", "jmp far\n.org 0x123\nfar: halt", &[]).diagnostics.into_sorted();
    assert_eq!(far[0].code.name, "A304");
    assert!(far[0].message.contains("0x0 to 0xFF"), "{}", far[0].message);
    // The page is that of the jump itself, here the one after the first bytes of the sequence.
    assert_eq!(cells("quad8", ".org 0xFE\njmp there\n.org 0x140\nthere: halt")[..3], [0xDC, 0xCC, 0x5F]);
}

#[test]
fn a_constant_can_measure_from_here() {
    assert_eq!(cells("hex8", "text: .ascii \"abc\"\nlength = $ - text\nloadimm r1, length"), [97, 98, 99, 0x11, 3]);
}

#[test]
fn here_is_the_address_of_the_line_whatever_it_expands_to() {
    assert_eq!(cells("quad8", "nop\njmp $"), [0, 0xCC, 0xCD, 0x5F]);
    assert_eq!(cells("hex8", ".byte 9\n.byte \"ab\", $, $ + 1"), [9, 97, 98, 1, 2]);
}

#[test]
fn a_condition_may_follow_a_label() {
    assert_eq!(cells("hex8", "l: .if 0\n.byte 1\n.else\n.byte l, 2\n.endif"), [0, 2]);
}

#[test]
fn an_argument_means_the_callers_label_even_where_the_macro_has_one_of_that_name() {
    let text = ".macro go where\n.top: jmp where\n.endm\nmain: return\n.top: go .top";
    assert_eq!(cells("hex8", text), [0x70, 0x80, 0, 1]);
    let text = ".macro go where\n return\n.top: jmp where\n.endm\nmain:\n.top: go .top";
    assert_eq!(cells("hex8", text), [0x70, 0x80, 0, 0]);
}

/// Of pseudo-instructions with the same syntax, the shortest that fits is taken, whatever their order.
#[test]
fn overloaded_pseudo_instructions() {
    let definition = "
machine wide \"Two ways to load\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u8
field I : u4
instructions {
  low I  | 0001 IIII | a = zext(I)
  high I | 0010 IIII | a = a | (zext(I) << 4)
}
pseudo {
  li N:u8 => low N[3:0]; high N[7:4]
  li N:u4 => low N
}
";
    let isa = lathe_isa::load(definition).isa.expect("it is right");
    let source = Source::new("a.asm", "li 0xA5\nli 5\nli later\nlater = 3");
    let image = assemble(&isa, &MemoryFiles::default(), source, &Options::default()).image.expect("it is right");
    assert_eq!(image.segments[0].cells, [0x15, 0x2A, 0x15, 0x13, 0x20]);
}

/// `(ix+X)` may be written `(ix-5)`, with any expression after the sign.
#[test]
fn a_plus_before_a_signed_number_may_be_a_minus() {
    assert_eq!(
        cells("z80", "n = 5\nld a, (ix-2)\nld a, (ix+-2)\nld (iy - n + 1), b\nadd (ix-1)\nld a, (ix+n)"),
        [0xDD, 0x7E, 0xFE, 0xDD, 0x7E, 0xFE, 0xFD, 0x70, 0xFC, 0xDD, 0x86, 0xFF, 0xDD, 0x7E, 5]
    );
    assert_eq!(errors("z80", "ld a, (ix-129)\nld a, (ix)\nld a, (ix*2)\nld a, (ix--1)"), ["A303", "A302", "A302"]);
}

/// A row with a `-` of its own takes precedence, and the text printed for either row is read back as that row.
#[test]
fn a_row_with_a_minus_goes_before_a_negative_number() {
    let definition = |more: &str| {
        format!(
            "machine signs \"Signs\"\nmemory ram : u8 -> u8\npc pc : u8 in ram\nregister a : u8\n\
             field X : s4\nfield N : u4\ninstructions {{\n  get a+X | 0001 XXXX | a = sext(X)\n{more}}}\n"
        )
    };
    let cells = |definition: &str, text: &str| {
        let isa = lathe_isa::load(definition).isa.expect("it is right");
        let made = assemble(&isa, &MemoryFiles::default(), Source::new("main.asm", text), &Options::default());
        let image = made.image.expect("it is right");
        let shown = lathe_asm::disassemble(&isa, &image, lathe_asm::Method::Follow);
        (image.segments[0].cells.clone(), shown)
    };
    let (made, shown) = cells(&definition(""), "get a-2\nget a+2");
    assert_eq!(made, [0x1E, 0x12]);
    assert!(shown.contains("get a-2 ") && shown.contains("get a+2 "), "{shown}");
    let (made, shown) = cells(&definition("  get a-N | 0010 NNNN | a = zext(N)\n"), "get a-2\nget a+-2");
    assert_eq!(made, [0x22, 0x1E]);
    assert!(shown.contains("get a-2 ") && shown.contains("get a+-2 "), "{shown}");
    let pseudo = definition("") + "pseudo {\n  get a-X => get a+X\n}\n";
    assert_eq!(cells(&pseudo, "get a-2").0, [0x12]);
}

#[test]
fn a_macro_defined_too_late_is_named_as_such() {
    let found = assembled("hex8", "late 5\nlabel: return\n.macro late x\n.endm", &[]).diagnostics.into_sorted();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("defined only after this line"), "{}", found[0].message);
}

#[test]
fn data_in_every_width_and_order() {
    assert_eq!(
        cells("duo16", ".byte 1, -1, \"ab\", 'c'\n.word 0x1234\n.be16 0x1234\n.le32 0x12345678"),
        [1, 255, 97, 98, 99, 0x34, 0x12, 0x12, 0x34, 0x78, 0x56, 0x34, 0x12]
    );
    assert_eq!(
        cells("hex8", ".word 0x1234\n.asciiz \"a\\n\"\n.align 4, 0xEE\n.fill 2, 7\n.space 1"),
        [0x12, 0x34, 97, 10, 0, 0xEE, 0xEE, 0xEE, 7, 7, 0]
    );
}

#[test]
fn expressions_have_the_precedence_of_c() {
    let text = "n = 5\n.byte 1 + 2 * 3, (1 + 2) * 3, 1 << 2 + 1, 7 & 3 == 3, n > 4 ? 10 : 20, ~0 & 0xF, !n, -n + 6, 17 % 5, n[2:1]\n.byte lo(0x1234), hi(0x1234), len(\"abc\"), defined(n), defined(m), 6 / 4 * 2, $ - $, 5 - 3 - 1";
    assert_eq!(cells("hex8", text), [7, 9, 8, 1, 10, 15, 0, 1, 2, 2, 0x34, 0x12, 3, 1, 0, 2, 0, 1]);
}

#[test]
fn macros_repetitions_and_conditions() {
    let text = "
.macro pair first, second = first + 1
  .byte first, second
.endm
.macro wait reg
.loop: jmpbwdo reg, .loop
.endm
DEBUG = 1
pair 5
pair 7, 1
.rept 3, n
  .if n == 1
    .byte 0xAA
  .elif DEBUG
    .byte n
  .else
    .error \"never\"
  .endif
.endr
wait r1
wait r2
";
    assert_eq!(cells("hex8", text), [5, 6, 7, 1, 0, 0xAA, 2, 0xA1, 2, 0xA2, 2]);
}

#[test]
fn a_macro_sees_the_local_labels_of_its_caller() {
    let text = ".macro go where\n jmp where\n.endm\nmain:\n.top: go .top";
    assert_eq!(cells("hex8", text), [0x80, 0, 0]);
}

#[test]
fn two_memories_and_an_entry() {
    let text = ".machine stack8b\n.section data\n.org 0x10\ntext: .ascii \"hi\"\n.prog\nstart: psh text\n.entry start\n.export text";
    let image = assembled("stack8b", text, &[]).image.expect("it is right");
    assert_eq!(image.entry, Some(0));
    assert_eq!(image.flat(MemoryId(0), 0).unwrap().cells, [0x01, 0x10]);
    assert_eq!(image.flat(MemoryId(1), 0).unwrap().cells, [104, 105]);
    let symbol = image.symbols.iter().find(|symbol| symbol.name == "text").unwrap();
    assert_eq!((symbol.value, symbol.exported), (0x10, true));
}

#[test]
fn includes_and_binary_files() {
    let files: &[(&str, &[u8])] = &[("lib.asm", b"sub: return"), ("data.bin", &[1, 2, 3, 4])];
    let text = "call sub\n.include \"lib.asm\"\n.incbin \"data.bin\", 1, 2\n";
    let result = assembled("hex8", text, files);
    assert_eq!(result.image.unwrap().segments[0].cells, [0x60, 0, 3, 0x70, 2, 3]);
    let cycle: &[(&str, &[u8])] = &[("a.asm", b".include \"b.asm\""), ("b.asm", b".include \"a.asm\"")];
    let found = assembled("hex8", ".include \"a.asm\"", cycle).diagnostics.into_sorted();
    assert_eq!(found[0].code.name, "A406");
    assert!(found[0].message.contains("a.asm → b.asm → a.asm"), "{}", found[0].message);
}

#[test]
fn ranges_are_checked_with_distance_and_limit() {
    let far = format!("jmpfwdo r1, far\n{}far: return", "return\n".repeat(256));
    let found = assembled("hex8", &far, &[]).diagnostics.into_sorted();
    assert_eq!(found[0].code.name, "A304");
    assert!(found[0].message.contains("256") && found[0].message.contains("255"), "{}", found[0].message);
    assert_eq!(errors("stack8b", "skp end\nx00\nx00\nx00\nx00\nend: htl"), ["A304"]);
    assert_eq!(errors("stack8a", "ldo 64\nldo -1\nshl 8"), ["A303", "A303", "A303"]);
    assert_eq!(errors("stack8a", ".fill 256, 0\nnop"), ["A502"]);
}

/// Habits from other assemblers get a hint at what this one has.
#[test]
fn the_next_step_fits_what_was_meant() {
    for (text, help) in [
        ("#define X 5", "a constant is written `NAME = 5`"),
        ("again\n jmp again", "a label needs a colon: `again:`"),
        (" frobnicate", "`lathe show hex8` lists its instructions"),
        (" halt", "a program ends with a jump to itself, or by an instruction whose meaning says `halt`"),
        (".macro m\n .byte 1\n.endmacro\n m", "did you mean `.endm`?"),
        (".repeat 3\n .byte 1\n.endr", "did you mean `.rept`, as in `.rept 8, n`?"),
        (".rept 3\n .byte 1\n.endrep", "did you mean `.endr`?"),
        (".if 1\n .byte 1\n.fi", "did you mean `.endif`?"),
        (".if 0\n.elseif 1\n .byte 1\n.endif", "did you mean `.elif`, as in `.elif OTHER`?"),
        (".data\n .byte 1", "remove it: code and data need no sections here"),
        (".section .text\n .byte 1", "remove the line: its only memory is `ram`"),
        (" .byte 'ab'", "one character is written 'a', '\\n', '\\x7F' or '\\''; several are a text: \"abc\""),
    ] {
        let found = assembled("hex8", text, &[]).diagnostics.into_sorted();
        assert_eq!((found.len(), found[0].help[0].as_str()), (1, help), "{text}");
    }
}

/// Of a mnemonic with many forms, the message shows those nearest to the line.
#[test]
fn the_forms_that_were_probably_meant_are_shown() {
    let found = assembled("z80", " ld (ix), a", &[]).diagnostics.into_sorted();
    let help = found[0].help.last().unwrap();
    assert!(help.contains("`ld (ix+<") && !help.contains("ld <b,"), "{help}");
}

/// Of equally near macros, the message always suggests the same one: the first by name.
#[test]
fn macros_that_are_equally_near() {
    let macros: String = "hbgdface".chars().map(|last| format!(".macro get{last}\n.endm\n")).collect();
    let found = assembled("hex8", &format!("{macros} getx\n"), &[]).diagnostics.into_sorted();
    assert_eq!(found.last().expect("getx is nothing").help, ["did you mean the macro `geta`?"]);
}

/// A macro that uses itself without end is shown once, not once per use.
#[test]
fn a_macro_that_uses_itself_is_shown_once() {
    let found = assembled("hex8", ".macro m a\n m (a+a)\n.endm\n m 1", &[]).diagnostics.into_sorted();
    let places: Vec<&str> = found[0].others.iter().map(|other| other.text.as_str()).collect();
    assert_eq!(places, ["in this use of `m`", "in this use of `m`"]);
}

/// `1b` and `1f` are numbered labels; `b` and `f` are names like any other.
#[test]
fn b_and_f_are_names() {
    let text = "f: jmp b\n.equ n, f + 1\nb: jmp f\n.byte n\n1: jmp 1b\n jmp 1f\n1:\n";
    assert_eq!(cells("hex8", text), [0x80, 0, 3, 0x80, 0, 0, 1, 0x80, 0, 7, 0x80, 0, 13]);
}
