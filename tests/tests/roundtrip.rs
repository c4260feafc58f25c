//! Encodings in both directions: whatever decodes encodes to the same cells, and nothing decodes that the machines'
//! documents do not define.
//!
//! The encodings of the five machines are restated here as their documents list them, so that a row lost or gained in a
//! definition shows.

use lathe_isa::Isa;
use lathe_tests::encodings::{Document, check_bytes, check_rows, check_tree};

const MACHINES: [(&str, Document); 5] =
    [("quad8", quad8), ("duo16", duo16), ("stack8a", stack8a), ("stack8b", stack8b), ("hex8", hex8)];

fn quad8(bytes: &[u64; 4]) -> Option<(String, usize, [u64; 4])> {
    let (high, low) = (bytes[0] >> 4, bytes[0] & 3);
    let mnemonic = match (high, bytes[0] & 15) {
        (0, 0) => "nop",
        (0, 1) => "halt",
        (0, 3 | 7 | 11 | 15) => "page",
        (0, _) => return None,
        (4, _) => ["skipz", "skipnz", "skipl", "skipge"][low as usize],
        (8, _) => ["inc", "dec", "out", "in"][low as usize],
        (10, _) => *["push", "pop", "stackpage"].get(low as usize)?,
        (11, _) => return None,
        (12.., _) => "sli",
        _ => ["", "sub", "load", "store", "", "jalr", "nand", "add", "", "jmpfar"][high as usize],
    };
    Some((mnemonic.into(), 1, *bytes))
}

/// Mnemonic, opcode, registers, bytes of the immediate. Opcode 40 is three instructions and is handled separately.
#[rustfmt::skip]
const DUO16: [(&str, u64, u32, usize); 51] = [
    ("halt", 0x0A, 0, 0), ("ctf", 0x0B, 0, 0), ("reth", 0x0D, 0, 0), ("nop", 0x20, 0, 0),
    ("push", 0x21, 1, 0), ("push", 0x22, 1, 0), ("pop", 0x23, 1, 0), ("pop", 0x24, 1, 0),
    ("call", 0x25, 0, 2), ("ret", 0x26, 0, 1),
    ("store", 0x27, 2, 2), ("store", 0x28, 2, 2), ("store", 0x29, 3, 0), ("store", 0x2A, 3, 0),
    ("load", 0x2B, 2, 2), ("load", 0x2C, 2, 2), ("load", 0x2D, 3, 0), ("load", 0x2E, 3, 0),
    ("jez", 0x2F, 0, 2), ("jlt", 0x30, 0, 2), ("jle", 0x31, 0, 2), ("jgt", 0x32, 0, 2),
    ("jge", 0x33, 0, 2), ("jnz", 0x34, 0, 2), ("jo", 0x35, 0, 2), ("jno", 0x36, 0, 2),
    ("jb", 0x37, 0, 2), ("jae", 0x38, 0, 2), ("ja", 0x39, 0, 2), ("jbe", 0x3A, 0, 2),
    ("ldi", 0x3F, 1, 1),
    ("add", 0x41, 3, 0), ("add", 0x42, 3, 0), ("sub", 0x43, 3, 0), ("sub", 0x44, 3, 0),
    ("and", 0x45, 3, 0), ("and", 0x46, 3, 0), ("or", 0x47, 3, 0), ("or", 0x48, 3, 0),
    ("xor", 0x49, 3, 0), ("xor", 0x4A, 3, 0), ("shl", 0x4B, 3, 0), ("shl", 0x4C, 3, 0),
    ("asr", 0x4D, 3, 0), ("asr", 0x4E, 3, 0), ("lsr", 0x4F, 3, 0), ("lsr", 0x50, 3, 0),
    ("div", 0x51, 4, 0), ("div", 0x52, 4, 0), ("mul", 0x53, 4, 0), ("mul", 0x54, 4, 0),
];

fn duo16(bytes: &[u64; 4]) -> Option<(String, usize, [u64; 4])> {
    if bytes[0] == 0x40 {
        let mnemonic = match (bytes[1] >> 4, bytes[1] & 15, bytes[2] | bytes[3]) {
            (_, 0, _) => "ldi",
            (0, 1, _) => "jmp",
            (_, 1, 0) => "jmp",
            _ => return None,
        };
        return Some((mnemonic.into(), 4, *bytes));
    }
    let (mnemonic, _, registers, immediate) = DUO16.iter().find(|row| row.1 == bytes[0])?;
    let length = 1 + registers.div_ceil(2) as usize + immediate;
    let filler = if registers % 2 == 1 { bytes[registers.div_ceil(2) as usize] & 15 } else { 0 };
    (filler == 0).then(|| (mnemonic.to_string(), length, *bytes))
}

fn stack8(bytes: &[u64; 4], normal: &[(u64, &str)]) -> Option<(String, usize, [u64; 4])> {
    let first = bytes[0];
    let mnemonic = match first >> 6 {
        0 => normal.iter().find(|(code, _)| *code == first)?.1,
        1 => "sto",
        2 => "ldo",
        _ => ["C0", "sra", "shl", "shr", "slc", "src", "x", "x"][(first >> 3 & 7) as usize],
    };
    let mnemonic = match mnemonic {
        "C0" => normal[0].1,
        other => other,
    };
    Some((mnemonic.into(), if [1, 8, 9].contains(&first) { 2 } else { 1 }, *bytes))
}

/// The first entry names the shift in which the two revisions differ; no byte has its code.
#[rustfmt::skip]
const STACK8A: [(u64, &str); 29] = [
    (0x100, "sla"), (0x00, "nop"), (0x01, "x"), (0x02, "htl"),
    (0x11, "lda"), (0x12, "sta"), (0x13, "ldp"), (0x14, "stp"), (0x15, "ldi"), (0x16, "sti"),
    (0x17, "ldc"), (0x18, "stc"), (0x19, "dup"), (0x1A, "drp"), (0x1B, "swp"),
    (0x20, "add"), (0x21, "adc"), (0x22, "sub"), (0x23, "sbc"), (0x24, "inc"), (0x25, "dec"),
    (0x26, "ilt"), (0x27, "igt"), (0x28, "ieq"), (0x29, "nez"),
    (0x30, "not"), (0x31, "oor"), (0x32, "and"), (0x33, "xor"),
];

fn stack8a(bytes: &[u64; 4]) -> Option<(String, usize, [u64; 4])> {
    stack8(bytes, &STACK8A)
}

fn stack8b(bytes: &[u64; 4]) -> Option<(String, usize, [u64; 4])> {
    let renamed = [(0x100, "skp"), (0x13, "lds"), (0x14, "sts"), (0x17, "ldp"), (0x18, "stp")];
    let added = [(0x08, "out"), (0x09, "iin"), (0x2A, "neg"), (0x2B, "abs"), (0x34, "xnd")];
    let rename = |(code, old): &(u64, &'static str)| {
        (*code, renamed.iter().find(|(other, _)| other == code).map_or(*old, |(_, new)| *new))
    };
    let normal: Vec<(u64, &str)> = STACK8A.iter().map(rename).chain(added).collect();
    stack8(bytes, &normal)
}

fn hex8(bytes: &[u64; 4]) -> Option<(String, usize, [u64; 4])> {
    let operations = "and or xor shl shr rotl rotr add sub mul div mod gt lt eq neq";
    let operation = operations.split(' ').nth((bytes[0] & 15) as usize)?;
    let (mnemonic, length) = match bytes[0] >> 4 {
        0x0 => ("output".to_owned(), 1),
        0x1 => ("loadimm".to_owned(), 2),
        0x2 => ("loadmem".to_owned(), 3),
        0x3 => ("storemem".to_owned(), 3),
        0x4 => ("loadind".to_owned(), 2),
        0x5 => ("storeind".to_owned(), 2),
        0x6 => ("call".to_owned(), 3),
        0x7 => ("return".to_owned(), 1),
        0x8 => ("jmp".to_owned(), 3),
        0x9 => ("jmpfwdo".to_owned(), 2),
        0xA => ("jmpbwdo".to_owned(), 2),
        0xB => ("jmpo".to_owned(), 3),
        0xC => ("push".to_owned(), 1),
        0xD => ("pop".to_owned(), 1),
        0xE => (format!("{operation}imm"), 3),
        _ => (operation.to_owned(), 2),
    };
    let mut written = *bytes;
    if (6..=8).contains(&(bytes[0] >> 4)) {
        // Ignored when executed, 0 when written by the assembler.
        written[0] &= 0xF0;
    }
    Some((mnemonic, length, written))
}

fn load(name: &str) -> Isa {
    let machine = lathe_machines::find(name).expect("the machine ships");
    lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right")
}

/// Every first and second byte, and corners for the rest.
#[test]
fn what_decodes_encodes_to_the_same_bytes() {
    MACHINES.iter().for_each(|(name, document)| check_bytes(&load(name), *document));
}

/// Every row is reached from its own encoding, with operands of all zeros and all ones where it has them.
#[test]
fn every_row_decodes_as_itself() {
    MACHINES.iter().for_each(|(name, document)| check_rows(&load(name), *document));
}

/// The decision tree finds the same row as a search through all rows, on windows of any kind.
#[test]
fn the_tree_finds_what_a_search_finds() {
    MACHINES.iter().for_each(|(name, document)| check_tree(&load(name), *document, 1));
}
