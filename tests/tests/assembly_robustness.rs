//! No source makes the assembler panic or hang, and whatever it accepts survives disassembly: soups of tokens, mangled
//! programs, and inputs made to grow.

use std::collections::BTreeMap;

use lathe_asm::{Method, Options, assemble, disassemble};
use lathe_base::files::MemoryFiles;
use lathe_base::{Diagnostics, Source};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use proptest::prelude::*;

fn machine(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).expect("it ships").source(), &lathe_machines::Shipped)
        .isa
        .expect("it is right")
}

fn further() -> MemoryFiles {
    let files = [("a.asm", "x1: nop\n.include \"b.asm\""), ("b.asm", ".byte 1"), ("c.bin", "abc")];
    MemoryFiles(
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect::<BTreeMap<_, _>>(),
    )
}

/// Assembles; whatever is accepted survives being disassembled and assembled again.
fn survive(isa: &Isa, text: &str) -> Diagnostics {
    let result = assemble(isa, &further(), Source::new("soup.asm", text), &Options::default());
    if let Some(image) = &result.image {
        let again = disassemble(isa, image, Method::Follow);
        let second = assemble(isa, &further(), Source::new("again.asm", again.clone()), &Options::default());
        let second = second.image.unwrap_or_else(|| panic!("{text}\n---\n{again}"));
        for memory in (0..isa.memories.len() as u32).map(MemoryId) {
            assert_eq!(second.flat(memory, 0), image.flat(memory, 0), "{text}\n---\n{again}");
        }
    }
    result.diagnostics
}

const PIECES: [&str; 96] = [
    "a",
    "b",
    "r1",
    "r15",
    "r1l",
    "rs",
    "sp",
    "loadimm",
    "addimm",
    "jmp",
    "jmpfwdo",
    "call",
    "ldi",
    "store",
    "load",
    "li",
    "mov",
    "psh",
    "x2A",
    "x7",
    "skp",
    "ldo",
    "push",
    "out",
    "in",
    "nop",
    "halt",
    "label",
    "label:",
    ".local:",
    ".local",
    ":",
    ":+",
    ":-",
    "label.local",
    "name =",
    "=",
    ",",
    "(",
    ")",
    "[",
    "]",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "?",
    "!",
    "~",
    "&&",
    "==",
    "$",
    "0",
    "1",
    "255",
    "256",
    "-1",
    "0xFFFF",
    "$10",
    "%101",
    "'a'",
    "\"text\"",
    "1_000",
    "99999999999999999999999999999999999999",
    ".org",
    ".align",
    ".fill",
    ".space",
    ".byte",
    ".word",
    ".le32",
    ".ascii",
    ".equ",
    ".include \"a.asm\"",
    ".incbin \"c.bin\"",
    ".if",
    ".elif 1",
    ".else",
    ".endif",
    ".macro m x, y = 1",
    ".endm",
    "m",
    ".rept 3, n",
    ".endr",
    ".assert",
    ".section data",
    ".entry",
    ".export",
    "lo(",
    "hi(",
    "defined(label)",
    "[7:4]",
    "; note",
];

fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(PIECES.as_slice());
    let line = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.join(" "));
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

fn any_machine() -> impl Strategy<Value = &'static str> {
    prop::sample::select(lathe_machines::ALL.iter().map(|machine| machine.name).collect::<Vec<_>>())
}

const PROGRAM: &str = "
.machine hex8
count = 10
.macro store value, where = 0x8000 + value
        loadimm r1, value
        storemem r1, where
.endm
start:  loadimm r2, count
.loop:  store 5
        store 'x', table + 3
        subimm r2, r2, 1
        jmpo r2, .loop
        .if count > 5
        call print
        .else
        return
        .endif
        jmp $
print:  .rept 4, n
        output r2               // once more
        addimm r2, r2, n * 2
        .endr
        return
table:  .byte 1, 2, lo(start), hi(print), \"abc\"
        .align 16, 0xFF
        .word start, print - start
";

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn soups_of_tokens(name in any_machine(), text in soup()) {
        survive(&machine(name), &text);
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        survive(&machine("hex8"), &text);
    }

    #[test]
    fn mangled_programs(at in 0..PROGRAM.len(), length in 0usize..40, with in soup(), keep in any::<bool>()) {
        let end = (at + length).min(PROGRAM.len());
        if PROGRAM.is_char_boundary(at) && PROGRAM.is_char_boundary(end) {
            let rest = if keep { &PROGRAM[end..] } else { "" };
            survive(&machine("hex8"), &format!("{}{with}{rest}", &PROGRAM[..at]));
        }
    }
}

#[test]
fn the_program_itself_is_fine() {
    assert!(!survive(&machine("hex8"), PROGRAM).has_errors());
}

/// Inputs that would grow without end are stopped with a reason.
#[test]
fn growth_is_stopped() {
    let isa = machine("hex8");
    let code = |text: &str| survive(&isa, text).into_sorted().first().map(|found| found.code.name).unwrap_or("none");
    let nested = format!("{}.byte 1\n{}", ".rept 1000\n".repeat(4), ".endr\n".repeat(4));
    assert_eq!(code(&nested), "A903");
    assert_eq!(code(".macro m\nm\nm\n.endm\nm"), "A902");
    assert_eq!(code(".space 0xFFFFFFFFFFFF"), "A502");
    assert_eq!(code(".fill 70000, 1"), "A502");
    assert_eq!(code(&format!(".byte {}1{}", "(".repeat(10_000), ")".repeat(10_000))), "A902");
    assert_eq!(code(&format!(".byte {}1", "-".repeat(10_000))), "A902");
    let chain: String = (1..2_000).map(|n| format!("c{n} = c{} + c{}\n", n - 1, n - 1)).collect();
    assert_eq!(code(&format!("{chain}c0 = here\nhere: .byte c1999")), "A902");
    let doubling: String = (1..60).map(|n| format!("c{n} = c{} + c{}\n", n - 1, n - 1)).collect();
    assert_eq!(code(&format!("{doubling}c0 = here\nhere: .assert c59 == 0")), "none");
}
