//! What Intel HEX and S-record share: lines of pairs of hexadecimal digits that end with a checksum.

use super::FormatError;
use super::text::{bad_digit, digit};

/// Bytes of data per line.
pub(super) const DATA: usize = 16;

/// Appends bytes as pairs of digits.
pub(super) fn push_pairs(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in bytes {
        out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Returns the bytes that pairs of digits stand for.
pub(super) fn pairs(text: &[u8]) -> Result<Vec<u8>, FormatError> {
    let value = |byte: u8| digit(byte, 16).ok_or_else(|| bad_digit(byte, "hexadecimal"));
    let bytes = text.chunks_exact(2).map(|pair| Ok((value(pair[0])? << 4 | value(pair[1])?) as u8)).collect();
    if text.len().is_multiple_of(2) { bytes } else { bytes.and_then(|_| Err(cut_short("half a byte is missing"))) }
}

/// Returns the error for a line that ends too early or too late.
pub(super) fn cut_short(what: &str) -> FormatError {
    FormatError::new(format!("the record is incomplete: {what}"), "get the file again; a line was cut or joined")
}

/// Returns the error for a wrong checksum.
pub(super) fn wrong_checksum(found: u8, expected: u8) -> FormatError {
    let cause = format!("the checksum is {found:02X}, but the record adds up to {expected:02X}");
    FormatError::new(cause, "get the file again; the line was damaged, or changed by hand")
}

/// Adds up bytes for a checksum.
pub(super) fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Returns a big-endian number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the error for text after the last record.
pub(super) fn after_the_end() -> FormatError {
    FormatError::new("there is more after the record that ends the file", "remove it, or split the file in two")
}
