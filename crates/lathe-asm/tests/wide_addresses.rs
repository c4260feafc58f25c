//! Programs at addresses that do not fit in 32 bits: labels, `.org`, cells past the end, and disassembly.

use lathe_asm::{Assembled, Image, Method, Options, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;

fn far64() -> Isa {
    lathe_isa::load(include_str!("../../../tests/machines/far64.isa")).isa.expect("it is right")
}

fn assembled(isa: &Isa, text: &str) -> Assembled {
    assemble(isa, &MemoryFiles::default(), Source::new("far.asm", text), &Options::default())
}

fn image(isa: &Isa, text: &str) -> Image {
    let made = assembled(isa, text);
    let found = made.diagnostics.into_sorted();
    made.image.unwrap_or_else(|| panic!("{found:?}"))
}

/// Returns the messages of errors.
fn errors(isa: &Isa, text: &str) -> Vec<String> {
    let found = assembled(isa, text).diagnostics.into_sorted();
    let errors = found.iter().filter(|one| !one.code.name.starts_with('W'));
    errors.map(|one| one.message.clone()).collect()
}

const PROGRAM: &str = "\
start: li b, text\n call print\n halt\n\
.org 0xFFFF_8000_0000_0000\nprint: lb a, 0(b)\n bz done\n out a\n jmp print\ndone: ret\ntext: .asciiz \"far\"\n\
.org 0xFFFF_FFFF_FFFF_FFF7\n jmp last\nlast = $ - 9\n";

#[test]
fn labels_lie_anywhere_up_to_the_last_cell() {
    let isa = far64();
    let image = image(&isa, PROGRAM);
    let starts: Vec<u64> = image.segments.iter().map(|segment| segment.start).collect();
    assert_eq!(starts, [0x8000_0000_0000, 0xFFFF_8000_0000_0000, 0xFFFF_FFFF_FFFF_FFF7]);
    assert_eq!(image.segments[2].cells, [0x12, 0xF7, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]);
    assert_eq!((image.segments[2].end(), image.start(&isa)), (1 << 64, 0x8000_0000_0000));
    assert!(image.segments[2].contains(u64::MAX) && !image.segments[2].contains(0));
    let line = |address| image.line_at(isa.pc.memory, address).map(|line| line.address);
    assert_eq!((line(u64::MAX), line(0)), (Some(0xFFFF_FFFF_FFFF_FFF7), None));
}

#[test]
fn the_disassembly_assembles_to_the_same_cells() {
    let isa = far64();
    let image = image(&isa, PROGRAM);
    for method in [Method::Follow, Method::Linear] {
        let text = disassemble(&isa, &image, method);
        assert!(text.contains(".org 0xFFFFFFFFFFFFFFF7") && text.contains("FFFF800000000000:"), "{text}");
        assert_eq!(self::image(&isa, &text).segments, image.segments, "{text}");
    }
}

#[test]
fn what_goes_past_the_end_is_said() {
    let isa = far64();
    let cells = "18446744073709551616 cells";
    let past = |text: &str, message: &str| assert_eq!(errors(&isa, text), [message.to_owned()], "{text}");
    past(".org 0xFFFF_FFFF_FFFF_FFFF\n .byte 1, 2", &format!("`ram` has {cells}, and this goes past its end"));
    past(".org 0x1_0000_0000_0000_0001", &format!("18446744073709551617 is outside `ram`, which has {cells}"));
    past(".org -1", &format!("-1 is outside `ram`, which has {cells}"));
    past(".space 0x1_0000_0000_0000_0000", &format!("`ram` has {cells}, and this goes past its end"));
    past(".space 0xFFFF_0000_0000_0000 - 0x8000_0000_0000", "the program has more than 33554432 cells");
    past(".entry 0x1_0000_0000_0000_0000\n halt", "execution cannot begin at 18446744073709551616");
    past("halt\n.org 0x8000_0000_0000\n halt", "two lines fill address 0x800000000000 of `ram`");
    assert_eq!(errors(&isa, ".org 0xFFFF_FFFF_FFFF_FFFF\n .byte 1\n .align 4"), [""; 0]);
}
