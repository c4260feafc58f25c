//! From an address to the text that made it and back: against a search through all lines, and on programs with macros,
//! repetitions and includes.

use lathe_asm::formats::{self, Format};
use lathe_asm::{CallKind, Image, Labels, Line, LineKind, Lines, Options, assemble};
use lathe_base::{FileId, Source, Span, files::MemoryFiles};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use proptest::prelude::*;

const RAM: MemoryId = MemoryId(0);

fn quad8() -> Isa {
    lathe_isa::load_with(lathe_machines::find("quad8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap()
}

/// Assembles `main` beside `library.inc`.
fn program(main: &str, library: &str) -> (Image, Vec<Source>) {
    let files = MemoryFiles([("library.inc".to_owned(), library.into())].into());
    let assembled = assemble(&quad8(), &files, Source::new("main.asm", main), &Options::default());
    let diagnostics = assembled.diagnostics.into_sorted();
    (assembled.image.unwrap_or_else(|| panic!("{diagnostics:?}")), assembled.sources)
}

/// Returns the addresses of what a source line made, and of where a breakpoint on it stops.
fn addresses(image: &Image, sources: &[Source], file: u32, line: usize) -> (Vec<u64>, Vec<u64>) {
    let place = sources[file as usize].line(FileId(file), line).unwrap();
    let addresses = |lines: Vec<&Line>| lines.iter().map(|line| line.address).collect();
    (addresses(image.lines_of(place)), addresses(image.stops_of(place)))
}

const LIBRARY: &str = "\
.macro twice R
  inc R
  inc R
.endm
table: .byte 1, 2
";

const MAIN: &str = "\
start: li a, 0x12 ; two instructions
  twice b
  .rept 2
  dec c
  .endr
  .include \"library.inc\"
  .space 3
  jmp start
";

fn main_program() -> (Image, Vec<Source>) {
    // The macro must come first; the rest of the library is included again further down.
    let main = format!(".include \"macros.inc\"\n{MAIN}");
    let files = [("library.inc", "table: .byte 1, 2\n"), ("macros.inc", ".macro twice R\n inc R\n inc R\n.endm\n")];
    let files = MemoryFiles(files.map(|(name, text)| (name.to_owned(), text.into())).into());
    let assembled = assemble(&quad8(), &files, Source::new("main.asm", main), &Options::default());
    let diagnostics = assembled.diagnostics.into_sorted();
    (assembled.image.unwrap_or_else(|| panic!("{diagnostics:?}")), assembled.sources)
}

#[test]
fn an_address_leads_to_its_line_its_kind_and_the_calls_around_it() {
    let (image, sources) = main_program();
    let describe = |address| {
        let line = image.line_at(RAM, address)?;
        let source = &sources[line.span.file.0 as usize];
        let calls = image.lines.calls_around(line).map(|(_, call)| format!(" < {}", call.name));
        let place = format!("{}:{}", source.name, source.line_column(line.span.start).0);
        Some(format!("{} {place}{}", line.kind.name(), calls.collect::<String>()))
    };
    let all: Vec<String> = (0..).map_while(describe).collect();
    let expected = [
        "code main.asm:2",
        "code main.asm:2",
        "code macros.inc:2 < twice",
        "code macros.inc:3 < twice",
        "code main.asm:5 < .rept",
        "code main.asm:5 < .rept",
        "data library.inc:1 < library.inc",
        "data library.inc:1 < library.inc",
        "space main.asm:8",
        "space main.asm:8",
        "space main.asm:8",
        "code main.asm:9",
        "code main.asm:9",
        "code main.asm:9",
    ];
    assert_eq!(all, expected);
    assert_eq!(image.line_at(MemoryId(1), 0), None);
}

#[test]
fn a_place_leads_to_what_it_made_and_to_where_a_breakpoint_stops() {
    let (image, sources) = main_program();
    let of = |file, line| addresses(&image, &sources, file, line);
    assert_eq!(of(0, 2), (vec![0, 1], vec![0]), "a pseudo-instruction is one statement");
    assert_eq!(of(0, 3), (vec![2, 3], vec![2]), "the use of a macro");
    assert_eq!(of(1, 3), (vec![3], vec![3]), "a line of a macro");
    assert_eq!(of(0, 5), (vec![4, 5], vec![4, 5]), "a line that is repeated");
    assert_eq!(of(0, 7), (vec![6], vec![]), "an include of data");
    assert_eq!(of(0, 8), (vec![8], vec![]));
    assert_eq!(of(0, 9), (vec![11, 12, 13], vec![11]));
}

#[test]
fn a_file_that_is_included_twice_is_one_source() {
    let (image, sources) = program(".include \"library.inc\"\n.include \"library.inc\"\n", "  inc a\n");
    assert_eq!(sources.len(), 2);
    assert_eq!(addresses(&image, &sources, 1, 1), (vec![0, 1], vec![0, 1]));
    assert_eq!(addresses(&image, &sources, 0, 2), (vec![1], vec![1]));
    let kinds: Vec<CallKind> = image.lines.calls().iter().map(|call| call.kind).collect();
    assert_eq!(kinds, [CallKind::Include, CallKind::Include]);
    let isa = quad8();
    let listing = formats::write(Format::Listing, &image, &isa, &sources, &formats::FormatOptions::default()).unwrap();
    let listing = String::from_utf8(listing).unwrap();
    assert!(
        listing.contains("; library.inc\n    1  0000  80                         inc a\n       0001  80\n"),
        "{listing}"
    );
}

#[test]
fn an_image_file_keeps_all_of_it() {
    let (image, sources) = main_program();
    let isa = quad8();
    let file = formats::write(Format::Image, &image, &isa, &sources, &formats::FormatOptions::default()).unwrap();
    let read = formats::read(Format::Image, &file, &isa).unwrap();
    assert_eq!(read, image);
    assert_eq!(read.line_at(RAM, 3), image.line_at(RAM, 3));
}

#[test]
fn a_name_for_every_address() {
    let (image, _) = program("start: inc a\nloop: inc b\n.again: inc b\nsame:\nother: jmp same\n", LIBRARY);
    let labels = Labels::new(&image);
    let name = |address| labels.before(RAM, address).map(|(symbol, away)| format!("{}+{away}", symbol.name));
    let names: Vec<_> = (0..5).map(|address| name(address).unwrap()).collect();
    assert_eq!(names, ["start+0", "loop+0", "loop.again+0", "same+0", "same+1"]);
    assert_eq!(labels.before(MemoryId(1), 9), None);
    assert_eq!(labels.at(RAM, 3).map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(), ["same", "other"]);
}

proptest! {
    #[test]
    fn the_index_finds_what_a_search_finds(
        lines in prop::collection::vec((0..2u32, 0..40u64, 0..9u32, 0..3u32, 0..50u32), 0..40)
    ) {
        let line = |(memory, address, cells, file, start): (u32, u64, u32, u32, u32)| Line {
            memory: MemoryId(memory),
            address,
            cells,
            kind: LineKind::Code,
            span: Span { file: FileId(file), start, end: start + 5 },
            call: 0,
        };
        let lines: Vec<Line> = lines.into_iter().map(line).collect();
        let image = Image { lines: Lines::new(lines.clone(), Vec::new()), ..Image::default() };
        for memory in (0..3).map(MemoryId) {
            for address in 0..50 {
                let covers = |line: &&Line| line.memory == memory && line.address <= address && u128::from(address) < line.end();
                prop_assert_eq!(image.line_at(memory, address), lines.iter().rfind(covers));
            }
        }
        let place = Span { file: FileId(1), start: 10, end: 20 };
        let begins = |line: &&Line| line.span.file == place.file && (10..20).contains(&line.span.start);
        prop_assert_eq!(image.lines_of(place), lines.iter().filter(begins).collect::<Vec<_>>());
    }
}
