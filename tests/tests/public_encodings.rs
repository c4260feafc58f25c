//! The encodings of the machines that others designed: whatever decodes encodes to the same cells, and nothing decodes
//! that the published descriptions do not define.
//!
//! The descriptions are restated here from the published opcode maps, not from the definitions, so that a row lost,
//! gained or misplaced in a definition shows.
//!
//! `LATHE_SEED` sets where the random words start.

use lathe_isa::Isa;
use lathe_tests::encodings::{Document, Entry, check, check_bytes, check_rows, check_tree};
use lathe_tests::random::Random;

const MACHINES: [(&str, Document); 5] =
    [("sm83", sm83), ("mos6502", mos6502), ("rv32i", rv32i), ("chip8", chip8), ("lc3", lc3)];

/// Returns a word of a list, unless there is a dash in its place.
fn word_of(list: &'static str, at: u64) -> Option<&'static str> {
    list.split(' ').nth(at as usize).filter(|word| *word != "-")
}

/// Returns the instruction for a first byte in an opcode map of 16 rows and 16 columns, and its length: the digit after
/// the mnemonic, or 1.
fn in_map(map: &[&'static str; 16], code: u64) -> Option<(&'static str, usize)> {
    let mut columns = map[(code >> 4) as usize].split_whitespace();
    let entry = columns.nth((code & 15) as usize).expect("a map has sixteen columns");
    let mnemonic = entry.trim_end_matches(|character: char| character.is_ascii_digit());
    let length = entry[mnemonic.len()..].parse().unwrap_or(1);
    (mnemonic != "-").then_some((mnemonic, length))
}

/// The opcode map of the Game Boy's processor, without the prefix CB.
#[rustfmt::skip]
const SM83: [&str; 16] = [
    // 0   1    2    3    4     5    6    7     8    9    A    B    C     D     E    F
    "nop   ld3  ld   inc  inc   dec  ld2  rlca  ld3  add  ld   dec  inc   dec   ld2  rrca", // 0
    "stop  ld3  ld   inc  inc   dec  ld2  rla   jr2  add  ld   dec  inc   dec   ld2  rra",  // 1
    "jr2   ld3  ld   inc  inc   dec  ld2  daa   jr2  add  ld   dec  inc   dec   ld2  cpl",  // 2
    "jr2   ld3  ld   inc  inc   dec  ld2  scf   jr2  add  ld   dec  inc   dec   ld2  ccf",  // 3
    "ld    ld   ld   ld   ld    ld   ld   ld    ld   ld   ld   ld   ld    ld    ld   ld",   // 4
    "ld    ld   ld   ld   ld    ld   ld   ld    ld   ld   ld   ld   ld    ld    ld   ld",   // 5
    "ld    ld   ld   ld   ld    ld   ld   ld    ld   ld   ld   ld   ld    ld    ld   ld",   // 6
    "ld    ld   ld   ld   ld    ld   halt ld    ld   ld   ld   ld   ld    ld    ld   ld",   // 7
    "add   add  add  add  add   add  add  add   adc  adc  adc  adc  adc   adc   adc  adc",  // 8
    "sub   sub  sub  sub  sub   sub  sub  sub   sbc  sbc  sbc  sbc  sbc   sbc   sbc  sbc",  // 9
    "and   and  and  and  and   and  and  and   xor  xor  xor  xor  xor   xor   xor  xor",  // A
    "or    or   or   or   or    or   or   or    cp   cp   cp   cp   cp    cp    cp   cp",   // B
    "ret   pop  jp3  jp3  call3 push add2 rst   ret  ret  jp3  -    call3 call3 adc2 rst",  // C
    "ret   pop  jp3  -    call3 push sub2 rst   ret  reti jp3  -    call3 -     sbc2 rst",  // D
    "ldh2  pop  ldh  -    -     push and2 rst   add2 jp   ld3  -    -     -     xor2 rst",  // E
    "ldh2  pop  ldh  di   -     push or2  rst   ld2  ld   ld3  ei   -     -     cp2  rst",  // F
];

fn sm83(bytes: &[u64; 4]) -> Option<Entry> {
    if bytes[0] == 0xCB {
        let mnemonic = match bytes[1] >> 6 {
            0 => word_of("rlc rrc rl rr sla sra swap srl", bytes[1] >> 3)?,
            1 => "bit",
            2 => "res",
            _ => "set",
        };
        return Some((mnemonic.into(), 2, *bytes));
    }
    let (mnemonic, length) = in_map(&SM83, bytes[0])?;
    Some((mnemonic.into(), length, *bytes))
}

/// The documented opcodes of the NMOS 6502.
#[rustfmt::skip]
const MOS6502: [&str; 16] = [
    // 0  1    2    3  4    5    6    7  8    9    A    B  C    D    E    F
    "brk  ora2 -    -  -    ora2 asl2 -  php  ora2 asl  -  -    ora3 asl3 -", // 0
    "bpl2 ora2 -    -  -    ora2 asl2 -  clc  ora3 -    -  -    ora3 asl3 -", // 1
    "jsr3 and2 -    -  bit2 and2 rol2 -  plp  and2 rol  -  bit3 and3 rol3 -", // 2
    "bmi2 and2 -    -  -    and2 rol2 -  sec  and3 -    -  -    and3 rol3 -", // 3
    "rti  eor2 -    -  -    eor2 lsr2 -  pha  eor2 lsr  -  jmp3 eor3 lsr3 -", // 4
    "bvc2 eor2 -    -  -    eor2 lsr2 -  cli  eor3 -    -  -    eor3 lsr3 -", // 5
    "rts  adc2 -    -  -    adc2 ror2 -  pla  adc2 ror  -  jmp3 adc3 ror3 -", // 6
    "bvs2 adc2 -    -  -    adc2 ror2 -  sei  adc3 -    -  -    adc3 ror3 -", // 7
    "-    sta2 -    -  sty2 sta2 stx2 -  dey  -    txa  -  sty3 sta3 stx3 -", // 8
    "bcc2 sta2 -    -  sty2 sta2 stx2 -  tya  sta3 txs  -  -    sta3 -    -", // 9
    "ldy2 lda2 ldx2 -  ldy2 lda2 ldx2 -  tay  lda2 tax  -  ldy3 lda3 ldx3 -", // A
    "bcs2 lda2 -    -  ldy2 lda2 ldx2 -  clv  lda3 tsx  -  ldy3 lda3 ldx3 -", // B
    "cpy2 cmp2 -    -  cpy2 cmp2 dec2 -  iny  cmp2 dex  -  cpy3 cmp3 dec3 -", // C
    "bne2 cmp2 -    -  -    cmp2 dec2 -  cld  cmp3 -    -  -    cmp3 dec3 -", // D
    "cpx2 sbc2 -    -  cpx2 sbc2 inc2 -  inx  sbc2 nop  -  cpx3 sbc3 inc3 -", // E
    "beq2 sbc2 -    -  -    sbc2 inc2 -  sed  sbc3 -    -  -    sbc3 inc3 -", // F
];

fn mos6502(bytes: &[u64; 4]) -> Option<Entry> {
    let (mnemonic, length) = in_map(&MOS6502, bytes[0])?;
    Some((mnemonic.into(), length, *bytes))
}

/// Returns the bytes of a 32-bit word, the lowest first.
fn little(word: u64) -> [u64; 4] {
    [word & 0xFF, word >> 8 & 0xFF, word >> 16 & 0xFF, word >> 24 & 0xFF]
}

/// RV32I with M, Zicsr and Zifencei, and two instructions of machine mode.
fn rv32i(bytes: &[u64; 4]) -> Option<Entry> {
    let word = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24;
    let (funct3, funct7) = (word >> 12 & 7, word >> 25);
    let mut kept = 0xFFFF_FFFF;
    let mnemonic = match word & 0x7F {
        0x37 => "lui",
        0x17 => "auipc",
        0x6F => "jal",
        0x67 => word_of("jalr", funct3)?,
        0x63 => word_of("beq bne - - blt bge bltu bgeu", funct3)?,
        0x03 => word_of("lb lh lw - lbu lhu", funct3)?,
        0x23 => word_of("sb sh sw", funct3)?,
        0x13 => match (funct3, funct7) {
            (1, 0x00) => "slli",
            (5, 0x00) => "srli",
            (5, 0x20) => "srai",
            _ => word_of("addi - slti sltiu xori - ori andi", funct3)?,
        },
        0x33 => match funct7 {
            0x00 => word_of("add sll slt sltu xor srl or and", funct3)?,
            0x01 => word_of("mul mulh mulhsu mulhu div divu rem remu", funct3)?,
            0x20 => word_of("sub - - - - sra", funct3)?,
            _ => return None,
        },
        0x0F => {
            // Pred and succ matter; fm, rs1 and rd are ignored, and for fence.i all but opcode and funct3.
            kept = if funct3 == 0 { 0x0FF0_707F } else { 0x0000_707F };
            word_of("fence fence.i", funct3)?
        }
        0x73 => match word {
            0x0000_0073 => "ecall",
            0x0010_0073 => "ebreak",
            0x3020_0073 => "mret",
            0x1050_0073 => "wfi",
            _ => word_of("- csrrw csrrs csrrc - csrrwi csrrsi csrrci", funct3)?,
        },
        _ => return None,
    };
    Some((mnemonic.into(), 4, little(word & kept)))
}

fn chip8(bytes: &[u64; 4]) -> Option<Entry> {
    let mnemonic = match (bytes[0] >> 4, bytes[1] & 15) {
        (0x0, _) => match (bytes[0], bytes[1]) {
            (0x00, 0xE0) => "cls",
            (0x00, 0xEE) => "ret",
            _ => return None,
        },
        (0x1 | 0xB, _) => "jp",
        (0x2, _) => "call",
        (0x3, _) | (0x5, 0) => "se",
        (0x4, _) | (0x9, 0) => "sne",
        (0x6 | 0xA, _) => "ld",
        (0x7, _) => "add",
        (0x8, operation) => word_of("ld or and xor add sub shr subn - - - - - - shl -", operation)?,
        (0xC, _) => "rnd",
        (0xD, _) => "drw",
        (0xE, _) => match bytes[1] {
            0x9E => "skp",
            0xA1 => "sknp",
            _ => return None,
        },
        (0xF, _) => match bytes[1] {
            0x07 | 0x0A | 0x15 | 0x18 | 0x29 | 0x33 | 0x55 | 0x65 => "ld",
            0x1E => "add",
            _ => return None,
        },
        _ => return None,
    };
    Some((mnemonic.into(), 2, *bytes))
}

fn lc3(words: &[u64; 4]) -> Option<Entry> {
    let word = words[0];
    let bit = |at: u32| word >> at & 1 == 1;
    // Bits that are not kept are ignored when executed, and 0 when written by the assembler.
    let (mnemonic, kept) = match word >> 12 {
        0x0 => match word >> 9 & 7 {
            0 => ("nop", 0xFE00),
            condition => (word_of("- brp brz brzp brn brnp brnz brnzp", condition)?, 0xFFFF),
        },
        0x1 => ("add", if bit(5) { 0xFFFF } else { 0xFFE7 }),
        0x2 => ("ld", 0xFFFF),
        0x3 => ("st", 0xFFFF),
        0x4 if bit(11) => ("jsr", 0xFFFF),
        0x4 => ("jsrr", 0xF9C0),
        0x5 => ("and", if bit(5) { 0xFFFF } else { 0xFFE7 }),
        0x6 => ("ldr", 0xFFFF),
        0x7 => ("str", 0xFFFF),
        0x8 => ("rti", 0xF000),
        0x9 if word & 0x3F == 0x3F => ("not", 0xFFFF),
        0xA => ("ldi", 0xFFFF),
        0xB => ("sti", 0xFFFF),
        0xC => ("jmp", 0xF1C0),
        0xE => ("lea", 0xFFFF),
        0xF => ("trap", 0xF0FF),
        _ => return None,
    };
    Some((mnemonic.into(), 1, [word & kept, words[1], words[2], words[3]]))
}

fn load(name: &str) -> Isa {
    let machine = lathe_machines::find(name).expect("the machine ships");
    lathe_isa::load_with(machine.source(), &lathe_machines::Shipped).isa.expect("its definition is right")
}

fn seed() -> u64 {
    std::env::var("LATHE_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The documents themselves, against the published numbers for these machines.
#[test]
fn the_documents_define_as_many_as_are_published() {
    let first = |document: Document| (0..256).filter(|first| document(&[*first, 0, 0, 0]).is_some()).count();
    assert_eq!(first(sm83), 245);
    assert_eq!(first(mos6502), 151);
    let undefined: Vec<u64> = (0..256).filter(|first| sm83(&[*first, 0, 0, 0]).is_none()).collect();
    assert_eq!(undefined, [0xD3, 0xDB, 0xDD, 0xE3, 0xE4, 0xEB, 0xEC, 0xED, 0xF4, 0xFC, 0xFD]);
    assert_eq!((0..256).filter(|second| sm83(&[0xCB, *second, 0, 0]).is_some()).count(), 256);
    // Two without free digits; ten with three; 5XY0, 9XY0 and nine 8XYN; two EXNN and nine FXNN.
    let pairs = (0..0x1_0000u64).filter(|pair| chip8(&[pair >> 8, pair & 0xFF, 0, 0]).is_some());
    assert_eq!(pairs.count(), 2 + 10 * 0x1000 + 11 * 0x100 + 11 * 0x10);
    // `not` has six bits that are always 1.
    assert_eq!((0..0x1_0000u64).filter(|word| lc3(&[*word, 0, 0, 0]).is_some()).count(), 14 * 0x1000 + 0x40);
}

/// Every first and second byte, and corners for the rest.
#[test]
fn what_decodes_encodes_to_the_same_bytes() {
    check_bytes(&load("sm83"), sm83);
    check_bytes(&load("mos6502"), mos6502);
    check_bytes(&load("chip8"), chip8);
}

/// Every word, whatever follows it.
#[test]
fn what_decodes_encodes_to_the_same_words() {
    let isa = load("lc3");
    assert_eq!(isa.longest(), 1);
    for word in 0..0x1_0000u64 {
        let lengths = [0, 0xFFFF].map(|rest| check(&isa, lc3, &[word, rest, rest, rest]));
        assert_eq!(lengths[0], lengths[1], "{word:04X}");
    }
}

/// Every opcode, funct3 and funct7, with corners and random registers between them.
#[test]
fn what_decodes_encodes_to_the_same_fields() {
    let isa = load("rv32i");
    assert_eq!(isa.longest(), 4);
    let mut random = Random(seed());
    println!("rv32i: every opcode, funct3 and funct7, registers from seed {}", random.0);
    let mut defined = 0u32;
    let mut one = |word: u64| defined += u32::from(check(&isa, rv32i, &little(word)) > 0);
    for opcode in 0..128u64 {
        for functions in 0..1024u64 {
            let fixed = functions >> 3 << 25 | (functions & 7) << 12 | opcode;
            for rd in [0u64, 1, 31] {
                for rs1 in [0u64, 1, 31] {
                    for rs2 in [0u64, 1, 2, 5, 21, 31] {
                        one(fixed | rs2 << 20 | rs1 << 15 | rd << 7);
                    }
                }
            }
            for _ in 0..4 {
                one(fixed | random.below(32) << 20 | random.below(32) << 15 | random.below(32) << 7);
            }
        }
    }
    println!("rv32i: {defined} encodings");
}

/// Only four words are system instructions without a register: none of their bits is free.
#[test]
fn system_instructions_are_four_words() {
    let isa = load("rv32i");
    let mut found = Vec::new();
    for function in 0..4096u64 {
        for rd in [0u64, 1, 2, 4, 8, 16] {
            for rs1 in [0u64, 1, 2, 4, 8, 16] {
                let word = function << 20 | rs1 << 15 | rd << 7 | 0x73;
                if check(&isa, rv32i, &little(word)) > 0 {
                    found.push(word);
                }
            }
        }
    }
    assert_eq!(found, [0x0000_0073, 0x0010_0073, 0x1050_0073, 0x3020_0073]);
}

/// Random words, half of them with the two low bits that all 32-bit instructions have.
#[test]
fn random_words_encode_to_the_same_bytes() {
    const WORDS: u32 = 2_000_000;
    let isa = load("rv32i");
    let seed = seed();
    println!("rv32i: {WORDS} random words from seed {seed}");
    let mut random = Random(seed);
    let mut defined = 0u32;
    for _ in 0..WORDS {
        let bits = if random.once_in(2) { 3 } else { 0 };
        let word = random.number() & 0xFFFF_FFFF | bits;
        defined += u32::from(check(&isa, rv32i, &little(word)) > 0);
    }
    println!("rv32i: {defined} of them are defined");
    assert!(defined > 0);
}

/// Every row is reached from its own encoding, and is what the document says.
#[test]
fn every_row_decodes_as_itself() {
    for (name, document) in MACHINES {
        check_rows(&load(name), document);
    }
}

/// The decision tree finds the same row as a search through all rows, on windows of any kind.
#[test]
fn the_tree_finds_what_a_search_finds() {
    let seed = seed();
    println!("windows from seed {seed}");
    for (name, document) in MACHINES {
        check_tree(&load(name), document, seed);
    }
}
