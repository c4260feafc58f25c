//! Files that other tools make: where their parts go, and what is left out of them.

use lathe_asm::formats::{self, Format, guess};
use lathe_asm::{Image, Options, assemble};
use lathe_base::{Source, files::MemoryFiles};
use lathe_isa::Isa;

fn shipped(name: &str) -> Isa {
    lathe_isa::load_with(lathe_machines::find(name).unwrap().source(), &lathe_machines::Shipped).isa.unwrap()
}

/// Returns the start of each run of cells, with its cells.
fn runs(image: &Image) -> Vec<(u64, Vec<u64>)> {
    image.segments.iter().map(|segment| (segment.start, segment.cells.clone())).collect()
}

/// Returns an ELF file with these segments: virtual address, physical address, bytes.
fn elf(entry: u32, parts: &[(u32, u32, &[u8])]) -> Vec<u8> {
    let mut file = b"\x7FELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let halves = |file: &mut Vec<u8>, values: &[u16]| file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let words = |file: &mut Vec<u8>, values: &[u32]| file.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    halves(&mut file, &[2, 0xF3]);
    words(&mut file, &[1, entry, 52, 0, 0]);
    halves(&mut file, &[52, 32, parts.len() as u16, 40, 0, 0]);
    let mut offset = 52 + 32 * parts.len() as u32;
    for (at, physical, bytes) in parts {
        words(&mut file, &[1, offset, *at, *physical, bytes.len() as u32, bytes.len() as u32, 7, 1]);
        offset += bytes.len() as u32;
    }
    parts.iter().for_each(|(_, _, bytes)| file.extend_from_slice(bytes));
    file
}

#[test]
fn parts_of_an_elf_file_go_to_their_physical_addresses() {
    let isa = shipped("rv32i");
    let read = |file: Vec<u8>| formats::read(Format::Elf, &file, &isa).unwrap();
    let image = read(elf(0x1002, &[(0x1000, 0x1000, &[1, 2, 3, 4]), (0x8000, 0x1004, &[5, 6])]));
    assert_eq!((runs(&image), image.entry), (vec![(0x1000, vec![1, 2, 3, 4, 5, 6])], Some(0x1002)));
    // Code linked for one address and loaded at another begins where it is loaded.
    let image = read(elf(0x8001, &[(0x8000, 0x1000, &[1, 2])]));
    assert_eq!((runs(&image), image.entry), (vec![(0x1000, vec![1, 2])], Some(0x1001)));
    // A linker that omits physical addresses.
    let image = read(elf(0x1000, &[(0x1000, 0, &[1]), (0x8000, 0, &[2])]));
    assert_eq!(runs(&image), [(0x1000, vec![1]), (0x8000, vec![2])]);
}

#[test]
fn elf_files_of_64_bits_reach_the_last_address() {
    let text =
        "machine m \"\"\nmemory ram : u64 -> u8\npc pc : u64 in ram\ninstructions {\n  h | 0000 0000 | halt\n}\n";
    let isa = lathe_isa::load(text).isa.unwrap();
    let (start, entry): (u64, u64) = (u64::MAX - 3, u64::MAX - 1);
    let mut file = b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    file.extend([2u16, 0xF3].into_iter().flat_map(u16::to_le_bytes));
    file.extend(1u32.to_le_bytes());
    file.extend([entry, 64, 0].into_iter().flat_map(u64::to_le_bytes));
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, 1, 64, 0, 0].into_iter().flat_map(u16::to_le_bytes));
    file.extend([1u32, 7].into_iter().flat_map(u32::to_le_bytes));
    file.extend([64 + 56, start, start, 4, 4, 1].into_iter().flat_map(u64::to_le_bytes));
    file.extend([1, 2, 3, 4]);
    assert_eq!(guess("far.elf", &file), Format::Elf);
    let image = formats::read(Format::Elf, &file, &isa).unwrap();
    assert_eq!((runs(&image), image.entry), (vec![(start, vec![1, 2, 3, 4])], Some(entry)));
    let refused = formats::read(Format::Elf, &file, &shipped("rv32i")).unwrap_err().to_string();
    assert!(refused.contains("beyond memory `ram`, whose last byte is at 0xffffffff"), "{refused}");
    // Big-endian.
    file[5] = 2;
    let refused = formats::read(Format::Elf, &file, &isa).unwrap_err().to_string();
    assert!(refused.contains("build it for a little-endian target"), "{refused}");
}

#[test]
fn an_object_file_of_the_lc3_says_where_it_goes() {
    let isa = shipped("lc3");
    let file = [0x30, 0x00, 0xF0, 0x25, 0x12, 0x34];
    assert_eq!(guess("hello.obj", &file), Format::Lc3);
    let image = formats::read(Format::Lc3, &file, &isa).unwrap();
    assert_eq!((runs(&image), image.start(&isa)), (vec![(0x3000, vec![0xF025, 0x1234])], 0x3000));
    assert_eq!(formats::write(Format::Lc3, &image, &isa, &[], &formats::FormatOptions::default()).unwrap(), file);
    let refused = |file: &[u8], isa: &Isa| formats::read(Format::Lc3, file, isa).unwrap_err().to_string();
    assert!(refused(&file[..5], &isa).contains("words of two bytes"));
    assert!(refused(b"\x1c\x30\x15\xc0\x01\x01\x01..", &isa).contains("lc3tools"));
    assert!(refused(&file, &shipped("hex8")).contains("16-bit cells"));
    assert!(refused(&[0xFF, 0xFF, 0, 1, 0, 2], &isa).contains("beyond memory `ram`"));
}

#[test]
fn parts_of_an_lc3_program_each_end_with_end() {
    let source = ".ORIG x3000\nStart LD R0, VALUE\nHALT\nValue .FILL x41\n.END\n\n.orig x4000\n.fill START\n.end\n";
    let result = assemble(&shipped("lc3"), &MemoryFiles::default(), Source::new("t.asm", source), &Options::default());
    let diagnostics = result.diagnostics.into_sorted();
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let expected = [(0x3000, vec![0x2001, 0xF025, 0x41]), (0x4000, vec![0x3000])];
    assert_eq!(runs(&result.image.unwrap()), expected);
}

#[test]
fn banks_of_a_cartridge_that_nothing_switches_are_named() {
    let isa = shipped("sm83");
    let cartridge = |size: usize, kind: u8| {
        let mut file = vec![0; size];
        file[0x104..0x108].copy_from_slice(&[0xCE, 0xED, 0x66, 0x66]);
        file[0x147] = kind;
        file[0x148] = (size / 0x8000).ilog2() as u8;
        file[0x14D] = file[0x134..0x14D].iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
        file
    };
    let large = cartridge(0x10000, 1);
    assert_eq!(guess("game.bin", &large), Format::GameBoy);
    assert_eq!(formats::read(Format::GameBoy, &large, &isa).unwrap().segments[0].cells.len(), 0x8000);
    let left_out = formats::left_out(Format::GameBoy, &large, &isa).unwrap().to_string();
    assert!(left_out.starts_with("only banks 0 and 1 of 4 can be loaded: its MBC1 switches the others"), "{left_out}");
    assert_eq!(formats::left_out(Format::GameBoy, &cartridge(0x8000, 0), &isa), None);
    let isa = shipped("gameboy");
    let image = formats::read(Format::GameBoy, &large, &isa).unwrap();
    assert_eq!((isa.memory(image.segments[0].memory).name.as_str(), image.segments[0].cells.len()), ("rom", 0x10000));
    assert_eq!(formats::left_out(Format::GameBoy, &large, &isa), None);
    let refused = |file: &[u8]| formats::read(Format::GameBoy, file, &isa).unwrap_err().to_string();
    let no_cartridge = "this is not a Game Boy cartridge: there is no logo at 0x104";
    assert!([&large[..0], &large[..0x148], &[0; 0x8000]].iter().all(|file| refused(file).starts_with(no_cartridge)));
    let mut damaged = large.clone();
    damaged[0x140] ^= 1;
    assert!(refused(&damaged).starts_with("the header of the cartridge is damaged"));
    assert!(refused(&large[..0x9000]).starts_with("the cartridge has 36864 bytes, and its header says 65536"));
    let too_large = refused(&cartridge(0x20_0000, 1));
    assert!(too_large.contains("memory `rom` has room for 1048576"), "{too_large}");
}
