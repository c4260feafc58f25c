//! What readers of text files share: lines, hexadecimal digits, and errors for invalid bytes. Files are read as bytes,
//! since nothing says that they are UTF-8.

use super::FormatError;

/// Strips a byte order mark, which some editors put in front.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// Yields the lines with their numbers from 1, without the white space around them.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    without_mark(bytes)
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .enumerate()
        .map(|(at, line)| (at + 1, line))
}

/// Returns the value of a digit in base 2 or 16.
pub(super) fn digit(byte: u8, base: u32) -> Option<u64> {
    char::from(byte).to_digit(base).map(u64::from)
}

/// Reads a hexadecimal number of one or more digits, with an optional `0x`.
pub(super) fn hexadecimal(word: &[u8]) -> Result<u64, FormatError> {
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")).unwrap_or(word);
    let mut value: u64 = 0;
    for byte in digits {
        let digit = digit(*byte, 16).ok_or_else(|| bad_digit(*byte, "hexadecimal"))?;
        value = value.checked_mul(16).ok_or_else(|| too_long(word))? | digit;
    }
    if digits.is_empty() {
        return Err(FormatError::new(format!("`{}` is not a number", shown(word)), "write hexadecimal digits"));
    }
    Ok(value)
}

/// Returns the error for a byte that is not a digit.
pub(super) fn bad_digit(byte: u8, base: &str) -> FormatError {
    FormatError::new(
        format!("`{}` is no {base} digit", shown(&[byte])),
        "check that the file has the format that was said",
    )
}

/// Returns the error for a number that no cell can hold.
pub(super) fn too_long(word: &[u8]) -> FormatError {
    let cause = format!("`{}` has more than 64 bits", shown(word));
    FormatError::new(cause, "check that the file is for this machine and this memory")
}

/// Returns bytes of a file in readable form, only the first few.
pub(super) fn shown(bytes: &[u8]) -> String {
    let few: String = bytes.iter().take(24).map(|byte| byte.escape_ascii().to_string()).collect();
    if bytes.len() > 24 { few + "..." } else { few }
}
