//! Reading of Game Boy cartridges: a raw binary with a header at 0x100. What lies beyond its first
//! two banks needs a chip that switches banks, which a plain memory does not have.

use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use super::FormatError;
use super::bytes::read_binary;
use crate::Image;

/// The bytes that are there without a switch: banks 0 and 1.
const FIXED: usize = 0x8000;
const BANK: usize = 0x4000;
const LOGO: (usize, [u8; 4]) = (0x104, [0xCE, 0xED, 0x66, 0x66]);
const CARTRIDGE_TYPE: usize = 0x147;

/// Whether a file has the header that the machine itself looks for.
pub(super) fn is_cartridge(file: &[u8]) -> bool {
    file.get(LOGO.0..).is_some_and(|rest| rest.starts_with(&LOGO.1)) && file.len() > CARTRIDGE_TYPE
}

/// Reads the banks that are always there.
pub(super) fn read(file: &[u8], isa: &Isa, memory: MemoryId) -> Result<Image, FormatError> {
    read_binary(&file[..file.len().min(FIXED)], isa, memory, 0)
}

/// What is not loaded, and why.
pub(super) fn left_out(file: &[u8], isa: &Isa) -> Option<FormatError> {
    let banks = file.len().div_ceil(BANK);
    if file.len() <= FIXED {
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
    let next = "a program of at most 32 KiB needs none; test suites often come in such parts as well";
    Some(FormatError::new(cause, next))
}
