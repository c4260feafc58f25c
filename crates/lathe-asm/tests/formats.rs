//! Every format against an example worked out by hand from its specification, every readable one against itself over
//! random images, and every refusal with its message.

use lathe_asm::formats::{
    AddressRange, Addresses, Format, FormatOptions, Interleave, Lane, guess, header, identity, memories_to_write, read,
    read_into, write,
};
use lathe_asm::{Call, CallKind, Image, Line, LineKind, Lines, Segment, Symbol, SymbolKind};
use lathe_base::{FileId, Source, Span, Width};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;
use proptest::prelude::*;

const RAM: MemoryId = MemoryId(0);

/// Returns a machine with one memory of this shape.
fn machine(address: u32, cell: u32, order: &str) -> Isa {
    let picture = "0".repeat(cell as usize);
    let text = format!(
        "machine test \"For tests\"\nmemory ram : u{address} -> u{cell} {order}\npc pc : u{address} in ram\n\
         instructions {{\n  halt | {picture} | halt\n}}\n"
    );
    let loaded = lathe_isa::load(&text);
    loaded.isa.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics))
}

fn bytes_machine() -> Isa {
    machine(16, 8, "big")
}

fn shipped(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).unwrap().source(), &lathe_machines::Shipped).isa.unwrap()
}

fn image(segments: &[(u64, &[u64])]) -> Image {
    let segment = |(start, cells): &(u64, &[u64])| Segment { memory: RAM, start: *start, cells: cells.to_vec() };
    Image { segments: segments.iter().map(segment).collect(), ..Image::default() }
}

fn text(format: Format, image: &Image, isa: &Isa, options: &FormatOptions) -> String {
    String::from_utf8(write(format, image, isa, &[], options).unwrap()).unwrap()
}

fn check(format: Format, image: &Image, isa: &Isa, expected: &str) {
    assert_eq!(text(format, image, isa, &FormatOptions::default()), expected);
}

/// Returns the two texts of an error, as a user sees them.
fn refusal(format: Format, bytes: &[u8], isa: &Isa) -> String {
    read(format, bytes, isa).unwrap_err().to_string()
}

fn write_refusal(format: Format, image: &Image, isa: &Isa, options: &FormatOptions) -> String {
    write(format, image, isa, &[], options).unwrap_err().to_string()
}

// ---------------------------------------------------------------------------------------
// Examples
// ---------------------------------------------------------------------------------------

/// "address gap", from Wikipedia's article on Intel HEX, which also has its checksum.
const GAP: &[u64] = &[0x61, 0x64, 0x64, 0x72, 0x65, 0x73, 0x73, 0x20, 0x67, 0x61, 0x70];

#[test]
fn binary_begins_at_address_0_and_has_whole_bytes() {
    let written =
        |isa: &Isa| write(Format::Binary, &image(&[(1, &[0x123, 0xABC])]), isa, &[], &FormatOptions::default());
    assert_eq!(written(&machine(8, 12, "little")).unwrap(), [0, 0, 0x23, 0x01, 0xBC, 0x0A]);
    assert_eq!(written(&machine(8, 12, "big")).unwrap(), [0, 0, 0x01, 0x23, 0x0A, 0xBC]);
}

#[test]
fn intel_hex_has_data_upper_address_entry_and_end() {
    let isa = machine(32, 8, "big");
    let image = Image { entry: Some(0x10), ..image(&[(0x10, GAP), (0xFFFF_FFFE, &[0x12, 0x34]), (0xFFFF, &[1, 2])]) };
    let expected = ":0B0010006164647265737320676170A7\n\
                    :01FFFF000100\n\
                    :020000040001F9\n\
                    :0100000002FD\n\
                    :02000004FFFFFC\n\
                    :02FFFE001234BB\n\
                    :0400000500000010E7\n\
                    :00000001FF\n";
    check(Format::IntelHex, &image, &isa, expected);
}

#[test]
fn intel_hex_counts_bytes_and_breaks_lines_after_16() {
    let expected = ":1000020002000300040005000600070008000900C2\n\
                    :020012000A00E2\n\
                    :00000001FF\n";
    let cells: Vec<u64> = (2..=10).collect();
    check(Format::IntelHex, &image(&[(1, &cells)]), &machine(8, 16, "little"), expected);
}

#[test]
fn intel_hex_reads_segments_and_their_entry() {
    let file = b":020000021200EA\r\n:0400010001020304F1\r\n:0400000312000005E2\r\n:00000001FF\r\n";
    let read = read(Format::IntelHex, file, &machine(20, 8, "big")).unwrap();
    assert_eq!(read, Image { entry: Some(0x12005), ..image(&[(0x12001, &[1, 2, 3, 4])]) });
    let wraps = b":020000021000EC\n:02FFFF00AABB9B\n:00000001FF\n";
    let read = lathe_asm::formats::read(Format::IntelHex, wraps, &machine(20, 8, "big")).unwrap();
    assert_eq!(read, image(&[(0x10000, &[0xBB]), (0x1FFFF, &[0xAA])]));
}

#[test]
fn s_records_take_the_shortest_address_that_reaches() {
    let expected = "S00700007465737438\n\
                    S1130000285F245F2212226A000424290008237C2A\n\
                    S5030001FB\n\
                    S9030000FC\n";
    let cells = [0x28, 0x5F, 0x24, 0x5F, 0x22, 0x12, 0x22, 0x6A, 0, 4, 0x24, 0x29, 0, 8, 0x23, 0x7C];
    check(Format::SRecord, &image(&[(0, &cells)]), &bytes_machine(), expected);
    let at = |address, entry| Image { entry, ..image(&[(address, &[0xAB])]) };
    let expected = "S00700007465737438\nS205010000AB4E\nS5030001FB\nS804010000FA\n";
    check(Format::SRecord, &at(0x1_0000, Some(0x1_0000)), &machine(32, 8, "big"), expected);
    let expected = "S00700007465737438\nS30681000000ABCD\nS5030001FB\nS70500000000FA\n";
    check(Format::SRecord, &at(0x8100_0000, None), &machine(32, 8, "big"), expected);
}

#[test]
fn readmem_gives_addresses_in_cells_where_runs_do_not_follow() {
    let image = image(&[(0, &[0x001, 0xABC]), (0x10, &[5])]);
    let isa = machine(8, 12, "big");
    check(Format::ReadMemH, &image, &isa, "001\nabc\n@10\n005\n");
    check(Format::ReadMemB, &image, &isa, "000000000001\n101010111100\n@10\n000000000101\n");
}

#[test]
fn readmem_is_read_with_comments_and_underscores() {
    let file = b"// a comment\n@1 0_1 /* two\nlines */ F_f// end\n@A\n7";
    let expected = image(&[(1, &[0x01, 0xFF]), (10, &[7])]);
    assert_eq!(read(Format::ReadMemH, file, &bytes_machine()), Ok(expected));
    let expected = image(&[(0, &[0b101, 0b1111_0000])]);
    assert_eq!(read(Format::ReadMemB, b"101 1111_0000", &bytes_machine()), Ok(expected));
}

#[test]
fn logisim_2_repeats_four_and_more_and_logisim_3_gives_addresses() {
    let image = image(&[(0, &[2, 3, 0, 0x14, 0xFF]), (0x22, &[7, 7, 7])]);
    check(Format::Logisim2, &image, &bytes_machine(), "v2.0 raw\n02 03 00 14 ff 29*00 07 07\n07\n");
    let expected = "v3.0 hex words addressed\n0000: 02 03 00 14 ff\n0022: 07 07 07\n";
    check(Format::Logisim, &image, &bytes_machine(), expected);
}

#[test]
fn logisim_is_read_with_runs_comments_and_remarks() {
    let isa = bytes_machine();
    let cells = image(&[(0, &[1, 0xFF, 0xFF, 0xFF, 0xFF, 2])]);
    assert_eq!(read(Format::Logisim2, b"v2.0 raw\n01 4*ff # four\n 2\n", &isa), Ok(cells.clone()));
    assert_eq!(read(Format::Logisim, b"v3.0 hex words plain\r\n0x1 ff ff\r\nff ff 02\r\n", &isa), Ok(cells));
    let expected = image(&[(0, &[0x13, 0x37]), (0x10, &[0xAA])]);
    let ripes = b"v3.0 hex words\n    0:        13 37        addi x2\n  0x10: aa  ..\n";
    assert_eq!(read(Format::Logisim, ripes, &isa), Ok(expected));
}

#[test]
fn mif_fills_the_whole_depth_with_ranges() {
    let expected = "-- Generated by lathe: machine test, memory ram, cells of 12 bits.\n\
                    DEPTH = 16;\nWIDTH = 12;\nADDRESS_RADIX = HEX;\nDATA_RADIX = HEX;\nCONTENT BEGIN\n\
                    [0..1] : 000;\n2 : abc;\n[3..4] : 001;\n[5..f] : 000;\nEND;\n";
    check(Format::Mif, &image(&[(2, &[0xABC, 1, 1])]), &machine(4, 12, "big"), expected);
}

#[test]
fn coe_has_one_vector() {
    let expected = "; Generated by lathe: machine test, memory ram, cells of 8 bits.\n\
                    memory_initialization_radix=16;\nmemory_initialization_vector=\n00,\nff,\n01;\n";
    check(Format::Coe, &image(&[(1, &[0xFF, 1])]), &bytes_machine(), expected);
}

#[test]
fn arrays_have_the_element_type_of_the_cell() {
    let image = image(&[(0, &[1, 0x7FF])]);
    let isa = machine(16, 11, "big");
    let about = "Generated by lathe: machine test, memory ram, cells of 11 bits, addresses 0x0000 to 0x0001.";
    let c = format!(
        "/* {about} */\n#include <stdint.h>\n\nstatic const uint16_t program[2] = {{\n    0x001, 0x7ff,\n}};\n"
    );
    check(Format::C, &image, &isa, &c);
    let rust = format!("// {about}\npub static PROGRAM: [u16; 2] = [\n    0x001, 0x7ff,\n];\n");
    check(Format::Rust, &image, &isa, &rust);
    let vhdl = format!(
        "-- {about}\nlibrary ieee;\nuse ieee.std_logic_1164.all;\n\npackage program_image is\n  \
         type program_cells is array (0 to 1) of std_logic_vector(10 downto 0);\n  \
         constant program : program_cells := (\n    0 => \"00000000001\",\n    1 => \"11111111111\"\n  );\n\
         end package;\n"
    );
    check(Format::Vhdl, &image, &isa, &vhdl);
    let element =
        |cell| text(Format::C, &self::image(&[(0, &[1])]), &machine(8, cell, "big"), &FormatOptions::default());
    assert!(element(1).contains("uint8_t program[1] = {\n    0x1,"));
    assert!(element(17).contains("uint32_t program[1] = {\n    0x00001,"));
    assert!(element(64).contains("uint64_t program[1] = {\n    0x0000000000000001,"));
}

#[test]
fn hexdump_and_csv_are_for_people() {
    let image = image(&[(0x0E, &[0x48, 0x69, 0x00])]);
    let dump = "0000: -- -- -- -- -- -- -- -- -- -- -- -- -- -- 48 69  |              Hi|\n\
                0010: 00 -- -- -- -- -- -- -- -- -- -- -- -- -- -- --  |.               |\n";
    check(Format::HexDump, &image, &bytes_machine(), dump);
    check(Format::Csv, &image, &bytes_machine(), "address,value,hexadecimal\n14,72,0x48\n15,105,0x69\n16,0,0x00\n");
}

const PROGRAM: &str = "\
; greets
start:  inc a
.macro twice X
        dec X
        again X
.endm
.macro again X
        push X
.endm
        twice b
count = 3
message: .asciiz \"Hello, hello\"
buffer: .fill 40
";

fn kind_of(part: &str) -> LineKind {
    match part.split(' ').next() {
        Some(".fill") => LineKind::Space,
        Some(".asciiz") => LineKind::Data,
        _ => LineKind::Code,
    }
}

fn call_kind(name: &str) -> CallKind {
    if name == ".rept" { CallKind::Repetition } else { CallKind::Macro }
}

/// Returns an image as the assembler makes it from `PROGRAM`, with a macro that calls another.
fn program() -> (Image, Vec<Source>) {
    let place = |part: &str| {
        let start = PROGRAM.find(part).unwrap();
        Span::new(FileId(0), start, start + part.len())
    };
    let line =
        |address, cells, part, call| Line { memory: RAM, address, cells, kind: kind_of(part), span: place(part), call };
    let label = |name: &str, value, part| {
        let kind = SymbolKind::Label(RAM);
        Symbol { name: name.into(), value, kind, exported: name == "start", span: place(part) }
    };
    let call = |name: &str, part, parent| Call { kind: call_kind(name), name: name.into(), span: place(part), parent };
    let mut cells = vec![0x80, 0x85, 0xA4];
    cells.extend(b"Hello, hello\0".map(u64::from));
    cells.extend([0; 40]);
    let count = Symbol { kind: SymbolKind::Constant, ..label("count", 3, "count") };
    let image = Image {
        machine: "quad8".into(),
        entry: Some(0),
        segments: vec![Segment { memory: RAM, start: 0, cells }],
        symbols: vec![label("start", 0, "start"), count, label("message", 3, "message"), label("buffer", 16, "buffer")],
        lines: Lines::new(
            vec![
                line(0, 1, "inc a", 0),
                line(1, 1, "dec X", 1),
                line(2, 1, "push X", 2),
                line(3, 13, ".asciiz \"Hello, hello\"", 0),
                line(16, 40, ".fill 40", 0),
            ],
            vec![call("twice", "twice b", 0), call("again", "again X\n.endm", 1)],
        ),
    };
    (image, vec![Source::new("greet.asm", PROGRAM)])
}

fn program_text(format: Format) -> String {
    let (image, sources) = program();
    String::from_utf8(write(format, &image, &shipped("quad8"), &sources, &FormatOptions::default()).unwrap()).unwrap()
}

#[test]
fn the_listing_shows_sources_cells_expansions_and_symbols() {
    let expected = "\
; Listing of quad8, generated by lathe

; greet.asm
    1                                 ; greets
    2  0000  80                       start:  inc a
    3                                 .macro twice X
    4                                         dec X
    5                                         again X
    6                                 .endm
    7                                 .macro again X
    8                                         push X
    9                                 .endm
   10                                         twice b
       0001  85                           dec X
                                          again X
       0002  a4                               push X
   11                                 count = 3
   12  0003  48 65 6c 6c 6f 2c 20 68  message: .asciiz \"Hello, hello\"
       000b  65 6c 6c 6f 00
   13  0010  00 00 00 00 00 00 00 00  buffer: .fill 40
             *
       0030  00 00 00 00 00 00 00 00

; symbols
start   = 0x0000  label in ram, exported
count   = 0x3  constant
message = 0x0003  label in ram
buffer  = 0x0010  label in ram
";
    assert_eq!(program_text(Format::Listing), expected);
}

#[test]
fn turns_of_a_repetition_share_a_heading_and_calls_in_them_do_not() {
    let text = ".macro m\n.rept 2\ninc a\ncall\n.endr\n.endm\nm\n";
    let place = |part: &str| Span::new(FileId(0), text.rfind(part).unwrap(), text.len());
    let call = |name: &str, part, parent| Call { kind: call_kind(name), name: name.into(), span: place(part), parent };
    let line =
        |address, part, call| Line { memory: RAM, address, cells: 1, kind: LineKind::Code, span: place(part), call };
    let image = Image {
        lines: Lines::new(
            vec![line(0, "inc a", 2), line(1, "inc a", 3), line(2, "inc a", 5)],
            vec![
                call("m", "m\n", 0),
                call(".rept", ".rept", 1),
                call("call", "call", 2),
                call(".rept", ".rept", 1),
                call("call", "call", 4),
            ],
        ),
        ..image(&[(0, &[1, 2, 3])])
    };
    let listing =
        write(Format::Listing, &image, &bytes_machine(), &[Source::new("t", text)], &FormatOptions::default());
    let expected = "    7                                 m\n                                          \
                    .rept 2\n       0000  01                               \
                    inc a\n                                              \
                    call\n       0001  02                                   \
                    inc a\n                                              \
                    call\n       0002  03                                   inc a\n";
    assert!(String::from_utf8(listing.unwrap()).unwrap().ends_with(expected));
}

#[test]
fn a_listing_without_sources_still_has_the_cells() {
    let (image, _) = program();
    let listing = text(Format::Listing, &image, &shipped("quad8"), &FormatOptions::default());
    assert!(listing.contains("; cells whose source is not at hand\n       0000  80\n"), "{listing}");
}

#[test]
fn symbols_in_three_ways() {
    let expected = "start = 0x0000\ncount = 0x3\nmessage = 0x0003\nbuffer = 0x0010\n";
    assert_eq!(program_text(Format::Symbols), expected);
    let expected = "al C:0000 .start\nal C:0003 .message\nal C:0010 .buffer\n";
    assert_eq!(program_text(Format::Vice), expected);
    let expected = r#"{
  "machine": "quad8",
  "symbols": [
    {"name":"start","value":0,"kind":"label","memory":"ram","exported":true,"file":"greet.asm","line":2,"column":1},
    {"name":"count","value":3,"kind":"constant","exported":false,"file":"greet.asm","line":11,"column":1},
    {"name":"message","value":3,"kind":"label","memory":"ram","exported":false,"file":"greet.asm","line":12,"column":1},
    {"name":"buffer","value":16,"kind":"label","memory":"ram","exported":false,"file":"greet.asm","line":13,"column":1}
  ]
}
"#;
    assert_eq!(program_text(Format::SymbolsJson), expected);
}

#[test]
fn the_annotated_image_tells_which_line_made_which_cells() {
    let written = program_text(Format::Json);
    let expected = r#"  "lines": [
    {"memory":"ram","address":0,"count":1,"cells":"80","kind":"code","file":"greet.asm","line":2,"column":9,"text":"start:  inc a","symbols":["start"]},
    {"memory":"ram","address":1,"count":1,"cells":"85","kind":"code","file":"greet.asm","line":4,"column":9,"text":"        dec X","call":1},
    {"memory":"ram","address":2,"count":1,"cells":"a4","kind":"code","file":"greet.asm","line":8,"column":9,"text":"        push X","call":2},
"#;
    assert!(written.contains(expected), "{written}");
    let value: serde_json::Value = serde_json::from_str(&written).unwrap();
    assert_eq!(value["machine"], "quad8");
    assert_eq!(value["entry"], 0);
    assert_eq!(value["memories"][0]["cell_bits"], 8);
    assert_eq!(value["calls"][1]["within"], 1);
    assert_eq!(value["symbols"].as_array().unwrap().len(), 4);
}

#[test]
fn the_own_image_comes_back_whole() {
    let (mut image, sources) = program();
    let isa = shipped("quad8");
    image.symbols[1].value = i128::MIN;
    let definition = Some(identity("the text"));
    let options = FormatOptions { definition: definition.clone(), ..FormatOptions::default() };
    let file = write(Format::Image, &image, &isa, &sources, &options).unwrap();
    assert_eq!(read(Format::Image, &file, &isa), Ok(image));
    let header = header(&file).unwrap();
    assert_eq!(
        (header.machine.as_str(), header.definition, header.files),
        ("quad8", definition, vec!["greet.asm".into()])
    );
    assert_eq!(guess("anything", &file), Format::Image);
}

#[test]
fn the_own_image_is_as_documented() {
    let (mut image, sources) = program();
    image.segments[0].cells.truncate(3);
    image.symbols.truncate(2);
    image.lines = Lines::new(image.lines[..2].to_vec(), image.lines.calls().to_vec());
    let written = write(Format::Image, &image, &shipped("quad8"), &sources, &FormatOptions::default()).unwrap();
    let expected = r#"{
  "format": "lathe-image",
  "version": 1,
  "machine": "quad8",
  "entry": 0,
  "memories": [
    {"name":"ram","address_bits":16,"cell_bits":8}
  ],
  "files": [
    "greet.asm"
  ],
  "segments": [
    {"memory":"ram","start":0,"cells":"8085a4"}
  ],
  "symbols": [
    {"name":"start","value":0,"memory":"ram","exported":true,"span":[0,9,14]},
    {"name":"count","value":3,"exported":false,"span":[0,126,131]}
  ],
  "calls": [
    {"kind":"macro","name":"twice","span":[0,118,125],"parent":0},
    {"kind":"macro","name":"again","span":[0,60,73],"parent":1}
  ],
  "lines": [
    [0,0,1,"code",0,17,22,0],
    [0,1,1,"code",0,46,51,1]
  ]
}
"#;
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

// ---------------------------------------------------------------------------------------
// FormatOptions
// ---------------------------------------------------------------------------------------

fn with(change: impl Fn(&mut FormatOptions)) -> FormatOptions {
    let mut options = FormatOptions::default();
    change(&mut options);
    options
}

#[test]
fn a_range_a_size_and_a_fill_value() {
    let image = image(&[(0x8000, &[1, 2, 3]), (0, &[9])]);
    let range = Some(AddressRange { first: 0x8001, last: 0xFFFF });
    let options = with(|options| (options.range, options.size, options.fill) = (range, Some(4), 0xFF));
    assert_eq!(write(Format::Binary, &image, &bytes_machine(), &[], &options).unwrap(), [2, 3, 0xFF, 0xFF]);
    assert_eq!(text(Format::ReadMemH, &image, &bytes_machine(), &options), "@8001\n02\n03\nff\nff\n");
    let chip = FormatOptions { addresses: Addresses::OfChip, ..options.clone() };
    assert_eq!(text(Format::ReadMemH, &image, &bytes_machine(), &chip), "02\n03\nff\nff\n");
    let short = FormatOptions { size: Some(1), ..options };
    assert_eq!(
        write_refusal(Format::Binary, &image, &bytes_machine(), &short),
        "the image needs 2 cells from address 0x8001 on, more than 1; \
         give a larger size, or a range that leaves something out"
    );
}

#[test]
fn chips_that_take_turns() {
    let image = image(&[(3, &[3, 4, 5, 6, 7])]);
    let chips: Vec<Vec<u8>> = Interleave::all(2)
        .unwrap()
        .into_iter()
        .map(|chip| with(|options| options.interleave = Some(chip)))
        .map(|options| write(Format::Binary, &image, &bytes_machine(), &[], &options).unwrap())
        .collect();
    assert_eq!(chips, [vec![0, 0, 4, 6], vec![0, 3, 5, 7]]);
    let range = Some(AddressRange { first: 3, last: 6 });
    let of_chip = |chip| {
        let interleave = Some(Interleave { chips: 2, chip });
        let addresses = Addresses::OfChip;
        let options = with(|options| {
            (options.range, options.interleave, options.addresses) = (range, interleave, addresses);
        });
        text(Format::Mif, &image, &bytes_machine(), &options)
    };
    assert!(of_chip(0).contains("DEPTH = 2;\n") && of_chip(0).contains("\n0 : 03;\n1 : 05;\nEND;"), "{}", of_chip(0));
    assert!(of_chip(1).contains("\n0 : 04;\n1 : 06;\nEND;"), "{}", of_chip(1));
}

#[test]
fn lanes_of_wide_cells() {
    let isa = machine(8, 12, "big");
    let lanes = Lane::all(Width::new(12).unwrap(), Width::new(8).unwrap());
    let bits: Vec<(u32, u32)> = lanes.iter().map(|lane| (lane.low, lane.width.bits())).collect();
    assert_eq!(bits, [(0, 8), (8, 4)]);
    let lane = |lane| text(Format::ReadMemH, &image(&[(0, &[0xABC, 0x123])]), &isa, &with(|o| o.lane = Some(lane)));
    assert_eq!((lane(lanes[0]), lane(lanes[1])), ("bc\n23\n".into(), "a\n1\n".into()));
}

#[test]
fn cells_of_other_memories_are_not_lost() {
    let isa = shipped("stack8b");
    let segment = |memory, cell| Segment { memory: MemoryId(memory), start: 0, cells: vec![cell] };
    let image = Image { segments: vec![segment(0, 1), segment(1, 2)], ..Image::default() };
    assert_eq!(
        write_refusal(Format::Binary, &image, &isa, &FormatOptions::default()),
        "the image has cells for memory `data`, which a `bin` file of memory `prog` would lose; \
         write one file for each memory, or use format `image`, which holds them all"
    );
    let files: Vec<Vec<u8>> = memories_to_write(Format::Binary, &image, &isa)
        .into_iter()
        .map(|memory| write(Format::Binary, &image, &isa, &[], &with(|options| options.memory = memory)).unwrap())
        .collect();
    assert_eq!(files, [[1], [2]]);
    assert_eq!(memories_to_write(Format::Image, &image, &isa), [None]);
    assert_eq!(memories_to_write(Format::Binary, &Image::default(), &isa), [Some(isa.pc.memory)]);
    let data = read_into(Format::Binary, &files[1], &isa, MemoryId(1)).unwrap();
    assert_eq!(data.segments, [segment(1, 2)]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let isa = machine(8, 4, "big");
    let some = image(&[(0, &[1])]);
    let refusal = |change: &dyn Fn(&mut FormatOptions)| write_refusal(Format::C, &some, &isa, &with(change));
    let range = |first, last| refusal(&|options| options.range = Some(AddressRange { first, last }));
    assert!(range(0, 256).starts_with("there is no range from 0x0 to 0x100 in memory `ram`; give addresses from 0"));
    assert!(range(2, 1).starts_with("there is no range from 0x2 to 0x1"));
    let fill = refusal(&|options| options.fill = 16);
    assert_eq!(fill, "the fill value 0x10 is too wide for a cell of memory `ram`; give a value of at most 0xf");
    let chip = refusal(&|options| options.interleave = Some(Interleave { chips: 0, chip: 0 }));
    assert!(chip.starts_with("there is no chip 0 among 0 chips that take turns; give 1 to 256 chips"));
    assert!(Interleave::all(u32::MAX).is_err());
    let lane = refusal(&|options| options.lane = Some(Lane { low: 1, width: Width::new(4).unwrap() }));
    assert!(lane.starts_with("a cell of memory `ram` has no 4 bits from bit 1 on"));
    assert!(refusal(&|options| options.name = "2b".into()).starts_with("`2b` cannot be the name of an array"));
    assert!(refusal(&|options| options.size = Some(u64::MAX)).contains("more than the limit of"));
    assert!(refusal(&|options| options.memory = Some(MemoryId(7))).starts_with("there is no such memory"));
    assert_eq!(
        write_refusal(Format::Coe, &Image::default(), &isa, &FormatOptions::default()),
        "there are no cells to write for machine test, memory ram, cells of 4 bits; \
         choose another memory or range, or give a size to fill up to"
    );
}

#[test]
fn a_program_at_the_end_of_a_vast_memory_is_not_filled_up_to() {
    let isa = machine(32, 16, "big");
    let image = image(&[(0xFFFF_FFFF, &[1])]);
    let message = write_refusal(Format::Binary, &image, &isa, &FormatOptions::default());
    assert!(message.starts_with("the file would have 4294967296 cells, most of them filled in"), "{message}");
    let message = write_refusal(Format::IntelHex, &image, &isa, &FormatOptions::default());
    assert!(message.starts_with("byte address 0x1ffffffff is beyond the 32 bits of Intel HEX"), "{message}");
    assert!(
        text(Format::Mif, &image, &isa, &FormatOptions::default())
            .ends_with("[00000000..fffffffe] : 0000;\nffffffff : 0001;\nEND;\n")
    );
}

#[test]
fn an_image_that_does_not_fit_the_machine_is_refused() {
    let isa = machine(4, 4, "big");
    for format in [Format::Binary, Format::Listing, Format::Json, Format::Image] {
        let wide = write_refusal(format, &image(&[(3, &[1, 16])]), &isa, &FormatOptions::default());
        assert!(wide.starts_with("value 0x10 is too wide for a cell of 4 bits, at address 0x4"), "{wide}");
        let far = write_refusal(format, &image(&[(u64::MAX, &[1])]), &isa, &FormatOptions::default());
        assert!(far.starts_with("the cells at 0xffffffffffffffff run past the end of memory `ram`"), "{far}");
    }
}

// ---------------------------------------------------------------------------------------
// Guessing
// ---------------------------------------------------------------------------------------

#[test]
fn formats_are_guessed_by_content_before_name() {
    let cases: &[(&str, &[u8], Format)] = &[
        ("a.bin", b":00000001FF\n", Format::IntelHex),
        ("a.txt", b"S9030000FC\n", Format::SRecord),
        ("a.bin", b"v2.0 raw\n00", Format::Logisim2),
        ("a.hex", b"v3.0 hex words plain\n00", Format::Logisim),
        ("a", b"@10\n00", Format::ReadMemH),
        ("a.hex", b"00 01 02\n", Format::ReadMemH),
        ("a.hex", b":00000001FE\n", Format::IntelHex),
        ("a.MEM", b"00", Format::ReadMemH),
        ("a.bin", b"00", Format::Binary),
        ("a", b"", Format::Binary),
        ("a.lst", b"S\xFF", Format::Binary),
    ];
    for (name, bytes, format) in cases {
        assert_eq!(guess(name, bytes), *format, "{name} {bytes:?}");
    }
}

// ---------------------------------------------------------------------------------------
// Refused files
// ---------------------------------------------------------------------------------------

#[test]
fn refused_files_say_where_and_why() {
    let isa = machine(8, 8, "big");
    let fresh = "get the file again; a line was cut or joined";
    let cases: &[(Format, &[u8], &str)] = &[
        (
            Format::Binary,
            &[0; 257],
            "257 bytes do not fit: memory `ram` has room for 256; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::IntelHex,
            b":0100000001FE\n:0100010002",
            &format!("line 2: the record is incomplete: it says 1 bytes of data and has 0; {fresh}"),
        ),
        (
            Format::IntelHex,
            b":010000000",
            &format!("line 1: the record is incomplete: half a byte is missing; {fresh}"),
        ),
        (
            Format::IntelHex,
            b"\n:0100000001FF\n",
            "line 2: the checksum is FF, but the record adds up to FE; \
             get the file again; the line was damaged, or changed by hand",
        ),
        (
            Format::IntelHex,
            b":01000000G1FE",
            "line 1: `G` is no hexadecimal digit; check that the file has the format that was said",
        ),
        (
            Format::IntelHex,
            b":02000004FFFFFC\n:0100000001FE\n",
            "line 2: address 0xffff0000 is beyond memory `ram`, whose last byte is at 0xff; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::IntelHex,
            b":0100000001FE\n",
            "the file does not end with an end record; \
             get the file again, or add `:00000001FF` if nothing is missing",
        ),
        (
            Format::IntelHex,
            b":00000001FF\n:0100000001FE\n",
            "line 2: there is more after the record that ends the file; remove it, or split the file in two",
        ),
        (Format::IntelHex, b":00000006FA\n", "line 1: there is no record of type 06; use types 00 to 05 only"),
        (
            Format::IntelHex,
            b":0100000401FA\n",
            "line 1: a record of type 04 does not have 1 bytes of data; check the program that wrote the file",
        ),
        (
            Format::IntelHex,
            b"hello",
            "line 1: a record begins with `:`, not with `hello`; check that this is an Intel HEX file",
        ),
        (
            Format::IntelHex,
            b":0400000500000100F6\n:00000001FF\n",
            "byte address 0x100, where execution begins, is not a cell of memory `ram`; \
             check that the file is for this machine",
        ),
        (
            Format::SRecord,
            b"S1040000AA50\n",
            "line 1: the checksum is 50, but the record adds up to 51; \
             get the file again; the line was damaged, or changed by hand",
        ),
        (
            Format::SRecord,
            b"S1050000AA51\n",
            &format!("line 1: the record is incomplete: it says 5 bytes and has 4; {fresh}"),
        ),
        (
            Format::SRecord,
            b"S1040000AA51\n",
            "the file does not end with an S7, S8 or S9 record; \
             get the file again, or add `S9030000FC` if nothing is missing",
        ),
        (
            Format::SRecord,
            b"S1040000AA51\nS5030002FA\n",
            "line 2: the file says that it has 2 data records, but there are 1; \
             get the file again; lines are missing or doubled",
        ),
        (
            Format::SRecord,
            b"S40500000000FA",
            "line 1: there is no record `S4`; use S0, S1, S2, S3, S5, S6, S7, S8 and S9 only",
        ),
        (
            Format::ReadMemH,
            b"00\n0x\n",
            "line 2: the digit `x` stands for unknown bits, and a memory has none; \
             put a number there, or leave the cells out with `@address`",
        ),
        (
            Format::ReadMemH,
            b"00 g1",
            "line 1: `g` is no hexadecimal digit; check that the file has the format that was said",
        ),
        (Format::ReadMemB, b"012", "line 1: `2` is no binary digit; check that the file has the format that was said"),
        (
            Format::ReadMemH,
            b"\n\n123",
            "line 3: value 0x123 is too wide for a cell of 8 bits; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::ReadMemH,
            b"@FFFFFFFFFFFFFFFF 00",
            "line 1: address 0xffffffffffffffff is beyond memory `ram`, whose last cell is at 0xff; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::ReadMemH,
            b"@12345678901234567",
            "line 1: `12345678901234567` has more than 64 bits; \
             check that the file is for this machine and this memory",
        ),
        (Format::ReadMemH, b"00\n/* to the end", "line 2: the comment has no end; close it with `*/`"),
        (Format::ReadMemH, b"@ 00", "line 1: `` has no digits; write a number"),
        (
            Format::Logisim2,
            b"00 01",
            "line 1: a Logisim file does not begin with `00 01`; \
             begin it with `v2.0 raw`, `v3.0 hex words plain` or `v3.0 hex words addressed`",
        ),
        (
            Format::Logisim2,
            b"v2.0 raw\n4000000000*00",
            "line 2: address 0x100 is beyond memory `ram`, whose last cell is at 0xff; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::Logisim2,
            b"v2.0 raw\nx*00",
            "line 2: `x` is not a decimal repeat count; \
             write repeated cells as `count*value`, such as `16*00`",
        ),
        (
            Format::Logisim,
            b"v3.0 hex bytes plain\n00",
            "line 1: a file of `bytes` does not tell where a cell begins; \
             save it from Logisim as `v3.0 hex words addressed`",
        ),
        (
            Format::Logisim,
            b"v3.0 hex words addressed\n00: 100",
            "line 2: value 0x100 is too wide for a cell of 8 bits; \
             check that the file is for this machine and this memory",
        ),
        (
            Format::Mif,
            b"",
            "a `mif` file cannot be read; use one of bin, hex, srec, readmemh, readmemb, logisim, logisim2, elf, gb, lc3, image",
        ),
    ];
    for (format, bytes, expected) in cases {
        assert_eq!(refusal(*format, bytes, &isa), *expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn bytes_that_are_no_cells_are_refused() {
    let isa = machine(8, 12, "big");
    assert_eq!(
        refusal(Format::Binary, &[0, 1, 2], &isa),
        "the cell at address 0x1 is incomplete: each takes 2 bytes; \
         check that the file is for this machine and this memory"
    );
    assert_eq!(
        refusal(Format::Binary, &[0x00, 0x01, 0x12, 0x34], &isa),
        "value 0x1234 is too wide for a cell of 12 bits, at address 0x1; \
         check that the file is for this machine and this memory"
    );
}

/// Formats with addresses of any width hold the whole of a wide memory, up to its last cell; the others say why not.
#[test]
fn addresses_of_64_bits() {
    let top = u64::MAX - 1;
    for (cell, order) in [(8, "little"), (20, "big")] {
        let isa = machine(64, cell, order);
        let image = Image { entry: Some(top), ..image(&[(0, &[1]), (1 << 47, &[2, 3]), (top, &[4, 5])]) };
        for format in [Format::ReadMemH, Format::ReadMemB, Format::Image] {
            let file = write(format, &image, &isa, &[], &FormatOptions::default()).unwrap();
            assert_eq!(read(format, &file, &isa).unwrap().segments, image.segments, "{}", format.name());
        }
        let refused = |format| write_refusal(format, &image, &isa, &FormatOptions::default());
        let bytes = u128::from(u64::MAX) * u128::from(cell.div_ceil(8)) + u128::from(cell.div_ceil(8)) - 1;
        assert!(refused(Format::IntelHex).starts_with(&format!("byte address {bytes:#x} is beyond the 32 bits")));
        assert!(refused(Format::SRecord).starts_with(&format!("byte address {bytes:#x} is beyond the 32 bits")));
        assert!(refused(Format::Logisim).starts_with("address 0xffffffffffffffff is beyond the 32 bits"));
        assert!(refused(Format::Mif).starts_with("a MIF file says how many cells there are"));
        for format in [Format::Binary, Format::Logisim2, Format::Coe, Format::C, Format::Vhdl] {
            let message = refused(format);
            assert!(message.starts_with("the file would have 18446744073709551616 cells"), "{message}");
            assert!(message.ends_with("such as `readmemh` or `image`"), "{message}");
        }
        // A range, counted from its start, fits in any of them.
        let range = Some(AddressRange { first: top, last: u64::MAX });
        let options = FormatOptions { range, addresses: Addresses::OfChip, ..FormatOptions::default() };
        for format in [Format::IntelHex, Format::SRecord, Format::Logisim, Format::Logisim2, Format::Binary] {
            let file = write(format, &image, &isa, &[], &options).unwrap();
            assert_eq!(cells(&read(format, &file, &isa).unwrap()), [(0, 4), (1, 5)].into(), "{}", format.name());
        }
        let mif = text(Format::Mif, &image, &isa, &options);
        assert!(mif.contains("DEPTH = 2;"), "{mif}");
        let csv = text(Format::Csv, &image, &isa, &FormatOptions::default());
        assert!(
            csv.ends_with(&format!("{},5,0x{:0digits$x}\n", u64::MAX, 5, digits = cell.div_ceil(4) as usize)),
            "{csv}"
        );
    }
}

#[test]
fn what_is_beyond_a_wide_memory_is_refused() {
    let wide = machine(64, 8, "big");
    assert!(
        refusal(Format::ReadMemH, b"@ffffffffffffffff 01 02", &wide).contains("address 0x10000000000000000 is beyond")
    );
    let narrower = machine(40, 8, "big");
    assert!(refusal(Format::ReadMemH, b"@10000000000 01", &narrower).contains("whose last cell is at 0xffffffffff"));
    let image = image(&[(u64::MAX, &[1, 2])]);
    let message = write_refusal(Format::Image, &image, &wide, &FormatOptions::default());
    assert!(message.starts_with("the cells at 0xffffffffffffffff run past the end"), "{message}");
    // Addresses are strings where JSON readers would round them; both kinds are read, but nothing beyond the memory.
    let file = |start: &str| {
        let memories = r#"[{"name":"ram","address_bits":64,"cell_bits":8}]"#;
        format!(
            r#"{{"format":"lathe-image","version":1,"machine":"test","memories":{memories},
            "segments":[{{"memory":"ram","start":{start},"cells":"05"}}]}}"#
        )
    };
    for start in ["18446744073709551615", "\"18446744073709551615\""] {
        let back = read(Format::Image, file(start).as_bytes(), &wide).unwrap();
        assert_eq!(cells(&back), [(u64::MAX, 5)].into());
    }
    for start in ["\"18446744073709551616\"", "-1", "1.5", "\"x\""] {
        assert!(refusal(Format::Image, file(start).as_bytes(), &wide).contains("the image is damaged"), "{start}");
    }
}

#[test]
fn a_short_file_cannot_make_a_vast_image() {
    let isa = machine(32, 8, "big");
    let message = refusal(Format::Logisim2, b"v2.0 raw\n4294967296*00", &isa);
    assert!(message.starts_with("line 2: the file holds more than 33554432 cells, the limit"), "{message}");
    let message = refusal(Format::Logisim, b"v3.0 hex words addressed\n0: 20000000*0\n0: 20000000*0\n", &isa);
    assert!(message.starts_with("line 3: the file holds more than 33554432 cells, the limit"), "{message}");
}

/// Returns Lathe's own image with one change in its text.
fn changed(from: &str, to: &str) -> String {
    let (image, sources) = program();
    let isa = shipped("quad8");
    let file =
        String::from_utf8(write(Format::Image, &image, &isa, &sources, &FormatOptions::default()).unwrap()).unwrap();
    assert!(file.contains(from), "{file}");
    refusal(Format::Image, file.replacen(from, to, 1).as_bytes(), &isa)
}

#[test]
fn damaged_and_foreign_images_are_refused() {
    let again = "assemble the program again";
    let cases = [
        (
            "lathe-image",
            "lath",
            "the file has no `\"format\": \"lathe-image\"`, so it is not one of Lathe's images; say which format it has",
        ),
        (
            "\"version\": 1",
            "\"version\": 2",
            "the image has version 2, and this Lathe reads version 1; assemble the program again, or use the Lathe that wrote it",
        ),
        (
            "\"quad8\"",
            "\"hex8\"",
            "the image is for machine `hex8`, not for `quad8`; choose machine `hex8`, or assemble the program for this one",
        ),
        (
            "\"cell_bits\":8",
            "\"cell_bits\":9",
            "memory `ram` has addresses of 16 bits and cells of 9 in the image, but 16 and 8 in the machine; assemble the program again: the definition has changed since",
        ),
        (
            "{\"name\":\"ram\"",
            "{\"name\":\"rom\"",
            "the image has memory `rom`, which machine `quad8` does not have; assemble the program again: the definition has changed since",
        ),
        (
            "\"entry\": 0",
            "\"entry\": 65536",
            &format!("the image is damaged: execution begins at 0x10000, beyond memory `ram`; {again}"),
        ),
        (
            "{\"memory\":\"ram\"",
            "{\"memory\":\"x\"",
            &format!("the image is damaged: memory `x` is not in its list; {again}"),
        ),
        (
            "\"8085a4",
            "\"085a4",
            &format!("the image is damaged: the last cell of a segment of memory `ram` is incomplete; {again}"),
        ),
        ("\"8085a4", "\"80g5a4", "`g` is no hexadecimal digit; check that the file has the format that was said"),
        (
            "\"start\":0,\"cells\"",
            "\"start\":65535,\"cells\"",
            "the cells at 0xffff run past the end of memory `ram`; check that the image is for this machine",
        ),
        (
            "[0,0,1,",
            "[1,0,1,",
            &format!("the image is damaged: a line is in memory number 1, which is not in its list; {again}"),
        ),
        (
            "[0,0,1,",
            "[0,65535,2,",
            &format!("the image is damaged: a line has cells at 0xffff, beyond its memory; {again}"),
        ),
        ("17,22,0]", "17,22,3]", &format!("the image is damaged: a line is in call 3, but there are only 2; {again}")),
        ("\"parent\":0", "\"parent\":1", &format!("the image is damaged: call 1 is inside the later call 1; {again}")),
        ("[0,9,14]", "[1,9,14]", &format!("the image is damaged: there is no place [1, 9, 14] in its files; {again}")),
        (
            "\"entry\": 0,",
            "\"entry\": 0",
            &format!("line 6: the image is damaged: expected `,` or `}}` at line 6 column 3; {again}"),
        ),
    ];
    for (from, to, expected) in cases {
        assert_eq!(changed(from, to), expected);
    }
}

#[test]
fn unknown_keys_of_an_image_are_ignored() {
    let file = r#"{"format":"lathe-image","version":1,"machine":"quad8","colour":{"deep":[1]},"memories":[]}"#;
    let image = read(Format::Image, file.as_bytes(), &shipped("quad8")).unwrap();
    assert_eq!(image, Image { machine: "quad8".into(), ..Image::default() });
}

// ---------------------------------------------------------------------------------------
// Properties
// ---------------------------------------------------------------------------------------

/// Returns every cell of an image; of two at one address, the later.
fn cells(image: &Image) -> std::collections::BTreeMap<u64, u64> {
    let of_segment =
        |segment: &Segment| (0..).map(|at| segment.start + at).zip(segment.cells.clone()).collect::<Vec<_>>();
    image.segments.iter().flat_map(of_segment).collect()
}

/// Generates a machine, and an image of a few segments, which may overlap.
fn machine_and_image() -> impl Strategy<Value = (u32, &'static str, Image)> {
    let width = prop::sample::select(vec![4_u32, 8, 12, 16, 32]);
    let order = prop::sample::select(vec!["big", "little"]);
    (width, order).prop_flat_map(|(width, order)| {
        let cell = prop_oneof![0..=(u64::MAX >> (64 - width)), Just(0), Just(u64::MAX >> (64 - width))];
        let segment = (0..0xFFC0_u64, prop::collection::vec(cell, 0..64));
        let near = (prop::collection::vec(segment, 0..5), prop::option::of(0..0x1_0000_u64));
        near.prop_map(move |(segments, entry)| {
            let parts: Vec<(u64, &[u64])> = segments.iter().map(|(start, cells)| (*start, cells.as_slice())).collect();
            (width, order, Image { entry, ..image(&parts) })
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_back((width, order, image) in machine_and_image()) {
        let isa = machine(16, width, order);
        let given = cells(&image);
        for format in [Format::IntelHex, Format::SRecord, Format::ReadMemH, Format::ReadMemB, Format::Logisim, Format::Image] {
            let file = write(format, &image, &isa, &[], &FormatOptions::default()).unwrap();
            let back = read(format, &file, &isa).unwrap();
            prop_assert_eq!(cells(&back), given.clone(), "{}", format.name());
            if matches!(format, Format::IntelHex | Format::Image) {
                prop_assert_eq!(back.entry, image.entry);
            }
            if format == Format::SRecord {
                prop_assert_eq!(back.entry.unwrap_or(0), image.entry.unwrap_or(0));
            }
            if !file.is_empty() && format != Format::ReadMemB && format != Format::ReadMemH {
                prop_assert_eq!(guess("file", &file), format);
            }
        }
    }

    #[test]
    fn formats_without_addresses_come_back_filled((width, order, image) in machine_and_image()) {
        let isa = machine(16, width, order);
        let fill = 5;
        let options = FormatOptions { fill, ..FormatOptions::default() };
        let mut given = cells(&image);
        let end = given.last_key_value().map_or(0, |(last, _)| last + 1);
        (0..end).for_each(|address| { given.entry(address).or_insert(fill); });
        for format in [Format::Binary, Format::Logisim2] {
            let file = write(format, &image, &isa, &[], &options).unwrap();
            prop_assert_eq!(cells(&read(format, &file, &isa).unwrap()), given.clone(), "{}", format.name());
        }
    }

    #[test]
    fn chips_and_lanes_together_are_the_whole(
        (width, order, image) in machine_and_image(), chips in 1..5_u32, lane in 1..33_u64,
    ) {
        let isa = machine(16, width, order);
        let mut whole = std::collections::BTreeMap::new();
        for interleave in Interleave::all(chips).unwrap() {
            for lane in Lane::all(Width::new(width.into()).unwrap(), Width::new(lane).unwrap()) {
                let options = FormatOptions { interleave: Some(interleave), lane: Some(lane), ..FormatOptions::default() };
                let file = write(Format::Csv, &image, &isa, &[], &options).unwrap();
                for row in String::from_utf8(file).unwrap().lines().skip(1) {
                    let numbers: Vec<u64> = row.split(',').take(2).map(|number| number.parse().unwrap()).collect();
                    let address = numbers[0] * u64::from(chips) + u64::from(interleave.chip);
                    *whole.entry(address).or_insert(0) |= numbers[1] << lane.low;
                }
            }
        }
        prop_assert_eq!(whole, cells(&image));
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        feed(&bytes);
    }

    #[test]
    fn random_text_never_panics(text in "(:|S[0-9]|@|v2.0 raw\n|v3.0 hex words addressed\n|[0-9a-f]{1,20}|[*:/_xX ,\n#]){0,60}") {
        feed(text.as_bytes());
    }

    #[test]
    fn what_is_left_of_a_damaged_image_can_be_written(changes in prop::collection::vec((any::<prop::sample::Index>(), b'0'..=b'9'), 1..4)) {
        let ((image, sources), isa) = (program(), shipped("quad8"));
        let mut file = write(Format::Image, &image, &isa, &sources, &FormatOptions::default()).unwrap();
        let digits: Vec<usize> = (0..file.len()).filter(|at| file[*at].is_ascii_digit()).collect();
        for (at, digit) in changes {
            file[digits[at.index(digits.len())]] = digit;
        }
        if let Ok(image) = read(Format::Image, &file, &isa) {
            for format in Format::all() {
                let _ = write(format, &image, &isa, &sources, &FormatOptions::default());
            }
        }
    }

    #[test]
    fn damaged_files_never_panic((width, order, image) in machine_and_image(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let isa = machine(16, width, order);
        for format in Format::all().filter(|format| format.can_be_read()) {
            let Ok(mut file) = write(format, &image, &isa, &[], &FormatOptions::default()) else { continue };
            if !file.is_empty() {
                let at = at.index(file.len());
                file[at] = byte;
                let _ = read(format, &file, &isa);
                let _ = read(format, &file[..at], &isa);
            }
        }
    }
}

/// Gives bytes to every reader, and the resulting images to every writer.
fn feed(bytes: &[u8]) {
    let isa = machine(16, 12, "little");
    let _ = guess("file.hex", bytes);
    for format in Format::all() {
        let Ok(image) = read(format, bytes, &isa) else { continue };
        for format in Format::all() {
            let _ = write(format, &image, &isa, &[], &FormatOptions::default());
        }
    }
}
