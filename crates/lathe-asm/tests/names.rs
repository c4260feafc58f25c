//! What assembling a program with errors still gives: an image, and its names with their definitions and uses.

use lathe_asm::{Assembled, NameKind, Options, SymbolKind, assemble};
use lathe_base::{Source, files::MemoryFiles};

fn assembled(text: &str) -> Assembled {
    let isa =
        lathe_isa::load_with(lathe_machines::find("quad8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap();
    let options = Options { names: true, ..Options::default() };
    assemble(&isa, &MemoryFiles::default(), Source::new("main.asm", text), &options)
}

/// Returns every name with its kind, the line of its definition and those of its uses.
fn names(result: &Assembled) -> Vec<String> {
    let line = |span: lathe_base::Span| result.sources[span.file.0 as usize].line_column(span.start).0;
    let describe = |name: &lathe_asm::Name| {
        let kind = match name.kind {
            NameKind::Symbol(SymbolKind::Label(_), value) => format!("label {value:?}"),
            NameKind::Symbol(SymbolKind::Constant, value) => format!("constant {value:?}"),
            NameKind::Macro => "macro".to_owned(),
            NameKind::Undefined => "undefined".to_owned(),
        };
        let uses: Vec<usize> = name.uses.iter().map(|span| line(*span)).collect();
        format!("{} {kind} {:?} {uses:?}", name.name, name.definition.map(line))
    };
    result.names.iter().map(describe).collect()
}

const BROKEN: &str = "\
.macro twice r
  inc r
  inc r
.endm
start: li a, size
  frobnicate a
  twice b
  li c, nowhere
size = 5
.loop: jmp .loop
text: .ascii \"no end
  jmp text
";

#[test]
fn a_program_with_errors_has_its_names_and_the_rest_of_its_image() {
    let result = assembled(BROKEN);
    assert!(result.image.is_none());
    let expected = [
        "size constant Some(5) Some(9) [5]",
        "start label Some(0) Some(5) []",
        "nowhere undefined None [8]",
        "start.loop label Some(6) Some(10) [10]",
        "text label Some(9) Some(11) [12]",
        "twice macro Some(1) [7]",
    ];
    let mut found = names(&result);
    found.sort();
    let mut expected = expected.map(str::to_owned);
    expected.sort();
    assert_eq!(found, expected);
    let image = result.partial.unwrap();
    // The second instruction is missing, and 0 stands for the unknown value.
    assert_eq!(image.segments[0].cells[..6], [0xC0, 0xD1, 0x84, 0x84, 0xC8, 0xC8]);
    let codes: Vec<&str> = result.diagnostics.into_sorted().iter().map(|found| found.code.name).collect();
    assert_eq!(codes, ["A301", "A201", "A103"]);
}

#[test]
fn one_mistake_is_one_message() {
    let codes = |text: &str| -> Vec<&'static str> {
        assembled(text).diagnostics.into_sorted().iter().map(|found| found.code.name).collect()
    };
    assert_eq!(codes("x = 5 +\nli a, x\nli b, x + 1\n"), ["A104"], "a constant that cannot be read");
    assert_eq!(codes("jmp end\n.macro m\nend: jmp end\n"), ["A403"], "a macro that swallows the rest");
    assert_eq!(codes("jmp end\n/* not closed\nend: jmp end\n"), ["A103"], "a comment that does");
    assert_eq!(codes(".include \"gone.inc\"\nprint 5\njmp there\n"), ["A405"], "a file that is missing");
    assert_eq!(codes(".machine hex8\nloadimm r1, 5\nnop\n.if 1\n"), ["A404"], "a program for another machine");
    assert_eq!(codes(".org 0x12000\nstart: inc a\ninc b\njmp start\n.byte 1\n"), ["A502"], "an address outside");
}
