//! Reads Game Boy cartridges: a raw binary with a header at 0x100. All of it goes into the memory that a map puts at
//! address 0 for code. On a machine without such a map, only the first two banks have a place.

use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use super::FormatError;
use super::bytes::read_binary;
use crate::Image;

/// The bytes that are visible without bank switching: banks 0 and 1.
const FIXED: usize = 0x8000;
const BANK: usize = 0x4000;
const LOGO: (usize, [u8; 4]) = (0x104, [0xCE, 0xED, 0x66, 0x66]);
const HEADER: usize = 0x134;
const CARTRIDGE_TYPE: usize = 0x147;
const ROM_SIZE: usize = 0x148;
const CHECKSUM: usize = 0x14D;

/// Whether a file has the header that the machine itself checks.
pub(super) fn is_cartridge(file: &[u8]) -> bool {
    file.get(LOGO.0..).is_some_and(|rest| rest.starts_with(&LOGO.1)) && file.len() > CARTRIDGE_TYPE
}

/// Reads a cartridge, or only its first two banks.
pub(super) fn read(file: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    check(file)?;
    match slot(isa).filter(|_| memory == isa.pc.memory) {
        Some(slot) => read_binary(file, isa, slot, 0),
        None => read_binary(&file[..file.len().min(FIXED)], isa, memory, 0),
    }
}

/// Returns the memory for a whole cartridge, if there is one.
fn slot(isa: &Isa) -> Option<MemoryId> {
    let reset: Vec<u64> = isa.registers.iter().map(|register| register.reset).collect();
    let (memory, _) = isa.code_cell(&reset, 0);
    (memory != isa.pc.memory).then_some(memory)
}

/// Checks the header: the machine would not start with a wrong one.
fn check(file: &[u8]) -> Result<(), FormatError> {
    let Some(header) = file.get(HEADER..=CHECKSUM).filter(|_| is_cartridge(file)) else {
        let cause = "this is not a Game Boy cartridge: there is no logo at 0x104";
        return Err(FormatError::new(cause, "check that it is the right file; `--from bin` loads plain bytes"));
    };
    let (summed, said) = header.split_at(header.len() - 1);
    let sum = summed.iter().fold(0u8, |sum, byte| sum.wrapping_sub(*byte).wrapping_sub(1));
    if said != [sum] {
        let cause =
            format!("the header of the cartridge is damaged: its sum is {sum:#04x}, and it says {:#04x}", said[0]);
        return Err(FormatError::new(cause, "get the file again, or repair the header with `rgbfix -v`"));
    }
    let wanted = FIXED << file[ROM_SIZE].min(8);
    if file.len() < wanted {
        let cause = format!("the cartridge has {} bytes, and its header says {wanted}", file.len());
        return Err(FormatError::new(cause, "the end of the file is missing; get it again"));
    }
    Ok(())
}

/// Says what is not loaded, and why.
pub(super) fn left_out(file: &[u8], isa: &Isa) -> Option<FormatError> {
    let banks = file.len().div_ceil(BANK);
    if file.len() <= FIXED || slot(isa).is_some() {
        return None;
    }
    let chip = match file.get(CARTRIDGE_TYPE).copied().unwrap_or(0) {
        0x01..=0x03 => "its MBC1",
        0x05..=0x06 => "its MBC2",
        0x0F..=0x13 => "its MBC3",
        0x19..=0x1E => "its MBC5",
        _ => "a chip on the cartridge",
    };
    let cause = format!(
        "only banks 0 and 1 of {banks} can be loaded: {chip} switches the others into place, and {} has no such chip",
        isa.name
    );
    let next = "run it on gameboy, which has an MBC1; a program of at most 32 KiB needs none";
    Some(FormatError::new(cause, next))
}
