//! Encodings in both directions, compared with a document: a function that restates, independently of the definition,
//! what a stream of cells begins with.

use lathe_isa::Isa;
use lathe_isa::encoding::{cells, window, witness};
use lathe_isa::model::InstructionId;

use crate::random::Random;

/// An instruction in a document: the mnemonic, the number of cells, and those cells as an assembler writes them,
/// followed by anything.
pub type Entry = (String, usize, [u64; 4]);

/// Returns what a document says about the cells at the beginning of a stream.
pub type Document = fn(&[u64; 4]) -> Option<Entry>;

/// Decodes, compares with the document, encodes, compares with the cells. Returns the length, 0 if nothing is defined.
pub fn check(isa: &Isa, document: Document, start: &[u64; 4]) -> usize {
    let stream = window(*start, isa.code_memory().cell);
    let expected = document(start);
    let Some(decoded) = isa.decode(stream) else {
        assert!(expected.is_none(), "{start:02X?} ought to be {expected:?}");
        return 0;
    };
    let instruction = isa.instruction(decoded.instruction);
    let Some((mnemonic, length, written)) = expected else {
        panic!("{start:02X?} is not defined, but decodes as {}", instruction.syntax.mnemonic());
    };
    assert_eq!(instruction.syntax.mnemonic(), mnemonic, "{start:02X?}");
    assert_eq!(instruction.encoding.cells as usize, length, "{start:02X?}");
    let encoded = instruction.encoding.encode(&decoded.operands);
    let again: Vec<u64> = cells(encoded, isa.code_memory().cell).take(length).collect();
    assert_eq!(again, written[..length], "{start:02X?}");
    assert_eq!(instruction.encoding.is_canonical(stream), written[..length] == start[..length], "{start:02X?}");
    length
}

const CORNERS: [u64; 12] = [0x00, 0x01, 0x0F, 0x10, 0x11, 0x7F, 0x80, 0xA5, 0xF0, 0xFE, 0xFF, 0x5A];

/// Returns values for the third and fourth byte: those that an instruction of this length, or of none, reads.
fn corners(length: usize) -> Vec<(u64, u64)> {
    let all = CORNERS.iter().flat_map(|third| CORNERS.map(|fourth| (*third, fourth)));
    match length {
        1 | 2 => vec![(0, 0), (0xFF, 0xFF)],
        3 => all.filter(|(_, fourth)| [0, 0xFF].contains(fourth)).collect(),
        _ => all.collect(),
    }
}

/// Checks every first and second byte, and corners for the rest.
pub fn check_bytes(isa: &Isa, document: Document) {
    let (mut defined, mut longest) = (0u32, 0);
    for first in 0..256 {
        for second in 0..256 {
            let bytes = |third, fourth| [first, second, third, fourth];
            for (third, fourth) in corners(check(isa, document, &bytes(0, 0))) {
                let length = check(isa, document, &bytes(third, fourth));
                defined += u32::from(length > 0);
                longest = longest.max(length);
            }
        }
    }
    assert_eq!(longest as u32, isa.longest(), "{}", isa.name);
    println!("{}: {defined} encodings, the longest of {longest} bytes", isa.name);
}

/// Returns the first four cells of a window.
fn start(isa: &Isa, stream: u128) -> [u64; 4] {
    let mut all = cells(stream, isa.code_memory().cell);
    [(); 4].map(|()| all.next().unwrap_or(0))
}

/// Checks that every row is reached from its own encodings: from one that it certainly has, and with operands of one
/// and of all ones where it allows them.
pub fn check_rows(isa: &Isa, document: Document) {
    for (at, instruction) in isa.instructions.iter().enumerate() {
        let name = format!("{} row {at}: {}", isa.name, instruction.syntax.mnemonic());
        let row = &instruction.encoding;
        let reaches = |stream: u128| {
            let decoded = isa.decode(stream).unwrap_or_else(|| panic!("{name} does not decode"));
            assert_eq!(decoded.instruction, InstructionId(at as u32), "{name}");
            check(isa, document, &start(isa, stream));
            decoded.operands
        };
        let own = witness(row.fixed, &row.excluded).expect("little is excluded");
        reaches(own.expect("a row has an encoding"));
        for value in [1, u64::MAX] {
            // Only the bits that are stored; those below an alignment are not.
            let stored = row.operands.iter().map(|parts| {
                parts.iter().fold(0u64, |bits, part| bits | (part.width.wrap(value >> part.low) << part.low))
            });
            let operands: Vec<u64> = stored.collect();
            let stream = row.encode(&operands);
            assert!(row.fixed.contains(stream), "{name}");
            if row.matches(stream) {
                assert_eq!(reaches(stream)[..operands.len()], operands, "{name}");
            }
        }
    }
}

/// Checks that the decision tree finds the same row as a search through all rows, on windows of any kind, and that the
/// document agrees.
pub fn check_tree(isa: &Isa, document: Document, seed: u64) {
    let mut random = Random(seed);
    for _ in 0..200_000 {
        let mut stream = u128::from(random.number()) << 64 | u128::from(random.number());
        if random.once_in(2) {
            let row = &isa.instructions[random.below(isa.instructions.len() as u64) as usize].encoding;
            stream = stream & !row.fixed.mask | row.fixed.value;
        }
        let mut fitting = isa.instructions.iter().enumerate().filter(|(_, row)| row.encoding.matches(stream));
        let expected = fitting.next().map(|(at, _)| InstructionId(at as u32));
        assert_eq!(fitting.next().map(|(at, _)| at), None, "{}: two rows for {stream:032X}", isa.name);
        assert_eq!(isa.decode(stream).map(|decoded| decoded.instruction), expected, "{} {stream:032X}", isa.name);
        check(isa, document, &start(isa, stream));
    }
}
