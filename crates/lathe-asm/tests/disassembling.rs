//! What the disassembler writes assembles to the same image: exhaustively for short
//! instructions, with corner values for long ones, and for random images.

use lathe_asm::{Image, Method, Options, Segment, assemble, disassemble};
use lathe_base::Source;
use lathe_base::files::MemoryFiles;
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

fn machine(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).expect("it ships").source(), &lathe_machines::Shipped)
        .isa
        .expect("it is right")
}

fn image(isa: &Isa, cells: &[u64]) -> Image {
    let segments = vec![Segment { memory: isa.pc.memory, start: 0, cells: cells.to_vec() }];
    Image { machine: isa.name.clone(), segments, ..Image::default() }
}

/// Disassembles an image, checks that the text assembles to the same image, and returns the text.
fn check(isa: &Isa, image: &Image, method: Method) -> String {
    let text = disassemble(isa, image, method);
    let result = assemble(isa, &MemoryFiles::default(), Source::new("dis.asm", text.clone()), &Options::default());
    let problems: Vec<String> = result.diagnostics.into_sorted().iter().map(|found| found.message.clone()).collect();
    let again = result.image.unwrap_or_else(|| panic!("{problems:?}\n{text}"));
    for memory in (0..isa.memories.len() as u32).map(MemoryId) {
        assert_eq!(again.flat(memory, 0), image.flat(memory, 0), "\n{text}");
    }
    assert_eq!(again.entry, image.entry, "\n{text}");
    text
}

/// Checks all sequences, in as few images as the size of the memory allows.
fn check_all(name: &str, sequences: impl Iterator<Item = Vec<u64>>) {
    let isa = machine(name);
    let size = isa.code_memory().cells() as usize;
    let mut cells: Vec<u64> = Vec::new();
    let mut count = 0;
    for sequence in sequences {
        count += 1;
        if cells.len() + sequence.len() > size {
            check(&isa, &image(&isa, &cells), Method::Linear);
            cells.clear();
        }
        cells.extend(sequence);
    }
    check(&isa, &image(&isa, &cells), Method::Linear);
    println!("{name}: {count} sequences");
}

#[test]
fn one_byte_opcodes_with_every_operand_byte() {
    for name in ["quad8", "stack8a", "stack8b"] {
        check_all(name, (0..=0xFFFFu64).map(|word| vec![word >> 8, word & 0xFF]));
    }
}

#[test]
fn hex8_first_two_bytes_with_corner_third_bytes() {
    let corners = [0, 1, 0x7F, 0x80, 0xFF];
    check_all("hex8", (0..=0xFFFFu64).flat_map(move |word| corners.map(|third| vec![word >> 8, word & 0xFF, third])));
}

#[test]
fn duo16_opcodes_and_registers_with_corner_immediates() {
    let corners = [[0, 0], [1, 0], [0xFF, 0xFF], [0x60, 0x00], [0x34, 0x12]];
    check_all(
        "duo16",
        (0..=0xFFFFu64).flat_map(move |word| corners.map(|tail| vec![word >> 8, word & 0xFF, tail[0], tail[1]])),
    );
}

#[test]
fn random_images_of_all_machines() {
    let mut seed = 0x1234_5678_9ABC_DEF0u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for machine_of in lathe_machines::ALL {
        let isa = machine(machine_of.name);
        for round in 0..200 {
            let mut segments = Vec::new();
            for memory in (0..isa.memories.len() as u32).map(MemoryId) {
                let size = isa.memory(memory).cells();
                let mut start = random() % 4;
                for _ in 0..random() % 4 {
                    let length = 1 + random() % 60;
                    if u128::from(start + length) > size {
                        break;
                    }
                    let cells = (0..length)
                        .map(|_| if random() % 3 == 0 { 0x41 + random() % 26 } else { random() & 0xFF })
                        .collect();
                    segments.push(Segment { memory, start, cells });
                    start += length + random() % 50;
                }
            }
            let entry = (round % 3 == 0).then(|| random() % 64);
            let image = Image { machine: isa.name.clone(), segments, entry, ..Image::default() };
            check(&isa, &image, Method::Follow);
            check(&isa, &image, Method::Linear);
        }
    }
}

#[test]
fn labels_come_back_and_data_is_told_apart() {
    let isa = machine("hex8");
    let source = "
start:  loadimm r1, 'A'
        call print
        jmpo r1, start
        jmp $
text:   .asciiz \"Hello, world\"
print:  output r1
        return
";
    let assembled = assemble(&isa, &MemoryFiles::default(), Source::new("a.asm", source), &Options::default());
    let mut image = assembled.image.unwrap();
    let text = check(&isa, &image, Method::Follow);
    for part in ["call print", "print:", "output r1", "jmpo r1, start", ".asciiz \"Hello, world\"", "text:"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    image.symbols.clear();
    let text = check(&isa, &image, Method::Follow);
    assert!(text.contains("call code_0018"), "{text}");
    assert!(text.contains(".asciiz \"Hello, world\""), "{text}");
}

/// Two rows with the same text that reach different pages: a label tells them apart, a number may not.
#[test]
fn rows_that_only_a_label_tells_apart() {
    let definition = "
machine paged \"Page zero and this page\"
memory ram : u8 -> u8
pc pc : u8 in ram
field Z : u4 address
field C : u4 within pc
instructions {
  jmp Z | 0000 ZZZZ | pc = zext(Z)
  jmp C | 0001 CCCC | pc = C
}
";
    let isa = lathe_isa::load(definition).isa.expect("it is right");
    let cells: Vec<u64> = (0..0x20).map(|cell| if cell == 0x12 { 0x15 } else { cell }).collect();
    let image = Image { entry: Some(0x12), ..image(&isa, &cells) };
    let text = check(&isa, &image, Method::Follow);
    assert!(text.contains("jmp code_15"), "{text}");
    check(&isa, &image, Method::Linear);
}

/// A jump into the middle of another instruction, where no label can be: written as a number, it would be the other
/// row, so it is data.
#[test]
fn rows_that_nothing_tells_apart_are_data() {
    let definition = "
machine paged \"Page zero and this page\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u8
field Z : u4 address
field C : u4 within pc
field N : u8
instructions {
  jmp Z | 0000 ZZZZ      | pc = zext(Z)
  jmp C | 0001 CCCC      | pc = C
  add N | 0010 0000 {N}  | a = a + N
}
";
    let isa = lathe_isa::load(definition).isa.expect("it is right");
    // In page 0 both rows say the same; elsewhere the whole address tells them apart.
    for (start, shown) in [(0, ".byte 0x11"), (0x10, "jmp 0x11")] {
        let segments = vec![Segment { memory: isa.pc.memory, start, cells: vec![0x20, 0x05, 0x11] }];
        let image = Image { machine: isa.name.clone(), segments, entry: Some(start), ..Image::default() };
        for method in [Method::Follow, Method::Linear] {
            let text = check(&isa, &image, method);
            assert!(text.contains(shown), "{text}");
        }
    }
}

/// A row of two cells with ignored bits, and a row whose code is a cell of the first.
const IGNORED: &str = "
machine ignored \"Ignored bits\"
memory ram : u8 -> u8
pc pc : u8 in ram
register a : u8
field N : u8
instructions {
  set N  | 1--- ---- NNNNNNNN | a = N
  inc N  | 01-- ---- NNNNNNNN | a = a + N
  halt   | 0000 0000 | halt
}
";

#[test]
fn an_instruction_with_ignored_bits_set_is_followed_and_keeps_in_step() {
    let loaded = lathe_isa::load(IGNORED);
    let isa = loaded.isa.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let cells = [0x85, 0x80, 0x40, 0x07, 0x00];
    let image = image(&isa, &cells);
    for method in [Method::Follow, Method::Linear] {
        let text = disassemble(&isa, &image, method);
        assert!(text.contains("set 0x80") && text.contains(".byte 0x85, 0x80"), "{text}");
        assert!(text.contains("    inc 7 ") && text.contains("    halt "), "{text}");
        let again = assemble(&isa, &MemoryFiles::default(), Source::new("again", text), &Options::default());
        assert_eq!(again.image.unwrap().segments[0].cells, cells);
    }
}

fn wide8() -> Isa {
    lathe_isa::load(include_str!("../../../tests/machines/wide8.isa")).isa.expect("it is right")
}

/// Returns the lines of a disassembly, without addresses and cells, but with `assumed`.
fn lines(text: &str) -> Vec<&str> {
    let shown = text.lines().map(|line| match line.split_once(" ; ") {
        Some((_, "assumed")) => line,
        Some((code, _)) => code,
        None => line,
    });
    shown
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with([';', '.']) || line.contains("mode"))
        .collect()
}

#[test]
fn modes_are_followed_and_what_is_assumed_is_said() {
    let isa = wide8();
    let disassembled = |source: &str| {
        let source = Source::new("modes.asm", source.to_owned());
        let made = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
        let mut image = made.image.expect("the program is right");
        image.symbols.retain(|symbol| symbol.exported);
        check(&isa, &image, Method::Follow)
    };
    // The effect of constants on a mode is known, whatever the other bits are; and jumps carry the modes along.
    let text = disassembled(
        ".org 0x200\n rep #4\n .mode m = 0\n lda #0x1234\n jmp on\n .byte 0xEE\non: add #1\n sep #0xF4\n .mode m = 1\n lda #1\n halt",
    );
    let found = lines(&text);
    let expected =
        ["rep #4", ".mode m = 0", "lda #0x1234", "jmp 0x0209", "add #1", "sep #0xF4", ".mode m = 1", "lda #1", "halt"];
    assert_eq!(found, expected, "\n{text}");
    // After a call, and after a mode is loaded from memory, the mode is assumed to be unchanged, which is said once.
    let text = disassembled(
        ".org 0x200\n rep #12\n .mode m = 0, i = 0\n jsr f\n lda #1\n lda #2\n sep #4\n .mode m = 1\n lda #3\n plp\n \
         lda #4\n ldx #5\n halt\nf: rts",
    );
    let found = lines(&text);
    let expected = [
        "rep #0x0C",
        "jsr 0x0216",
        ".mode m = 0                  ; assumed",
        "lda #1",
        "lda #2",
        "sep #4",
        ".mode m = 1",
        "lda #3",
        "plp",
        ".mode m = 1                  ; assumed",
        "lda #4",
        ".mode i = 0                  ; assumed",
        "ldx #5",
        "halt",
        "rts",
    ];
    assert_eq!(found, expected, "\n{text}");
    // Nothing is known where other code may enter.
    let text =
        disassembled(".export f\n .entry 0x200\n .org 0x200\n halt\nf: rep #4\n .mode m = 0\n lda #1\n ldx #2\n halt");
    let found = lines(&text);
    let expected =
        ["halt", "f:", "rep #4", ".mode m = 0", "lda #1", ".mode i = 1                  ; assumed", "ldx #2", "halt"];
    assert_eq!(found[found.len() - expected.len()..], expected, "\n{text}");
}

/// A disassembly begins in the modes that `on reset` chooses for this program.
#[test]
fn modes_begin_as_on_reset_says() {
    let definition = include_str!("../../../tests/machines/wide8.isa")
        .replace("instructions {", "on reset { m = ram[0x300][0] }\n\ninstructions {");
    let isa = lathe_isa::load(&definition).isa.expect("it is right");
    for (mode, cells, expected) in [(0, vec![1, 0x34, 0x12], ".mode m = 0"), (1, vec![1, 0x34, 0], "lda #0x34")] {
        let segment = |start, cells| Segment { memory: isa.pc.memory, start, cells };
        let segments = vec![segment(0x200, cells), segment(0x300, vec![mode])];
        let image = Image { machine: isa.name.clone(), segments, ..Image::default() };
        for method in [Method::Follow, Method::Linear] {
            let text = check(&isa, &image, method);
            assert_eq!(lines(&text)[0], expected, "\n{text}");
        }
    }
}

/// A jump into another segment says nothing about that offset in this one.
#[test]
fn jumps_into_other_banks_are_not_followed() {
    let isa = lathe_isa::load(include_str!("../../../tests/machines/segment16.isa")).isa.expect("it is right");
    const RET: u64 = 0x63;
    for (far, expected) in [(true, false), (false, true)] {
        let jump = if far { [0x64, 6, 0, 0, 0x30] } else { [0x61, 6, 0, 0xEE, 0xEE] };
        let text = check(&isa, &image(&isa, &[&jump[..], &[0xEE, RET]].concat()), Method::Follow);
        assert_eq!(lines(&text).contains(&"ret"), expected, "\n{text}");
    }
}

#[test]
fn random_images_of_a_machine_with_modes() {
    let isa = wide8();
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..2000 {
        let length = 1 + random() % 80;
        let cells = (0..length).map(|_| if random() % 3 == 0 { random() & 0xFF } else { random() % 0x12 }).collect();
        let segments = vec![Segment { memory: isa.pc.memory, start: 0x200, cells }];
        let image = Image { machine: isa.name.clone(), segments, ..Image::default() };
        check(&isa, &image, Method::Follow);
        check(&isa, &image, Method::Linear);
    }
}
