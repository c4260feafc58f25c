//! Guesses which format a file has, from its content and its name. The content counts for more: Logisim images, too,
//! are often named `.hex` or `.bin`.

use super::text::{lines, without_mark};
use super::{Format, elf, game_boy, intel_hex, s_record};

/// Guesses the format of a file to read; raw binary if nothing says otherwise.
pub fn guess(name: &str, bytes: &[u8]) -> Format {
    by_content(bytes).or_else(|| by_name(name, bytes)).unwrap_or(Format::Binary)
}

/// Recognizes the formats whose content identifies them.
fn by_content(bytes: &[u8]) -> Option<Format> {
    if bytes.starts_with(elf::MAGIC) {
        return Some(Format::Elf);
    }
    if game_boy::is_cartridge(bytes) {
        return Some(Format::GameBoy);
    }
    let first = lines(bytes).map(|(_, line)| line).find(|line| !line.is_empty())?;
    let image = || {
        let start = &bytes[..bytes.len().min(256)];
        start.windows(13).any(|window| window == b"\"lathe-image\"")
    };
    match first {
        [b':', ..] if intel_hex::is_record(first) => Some(Format::IntelHex),
        [b'S' | b's', ..] if s_record::is_record(first) => Some(Format::SRecord),
        [b'{', ..] if image() => Some(Format::Image),
        _ if first.starts_with(b"v2.0 raw") => Some(Format::Logisim2),
        _ if first.starts_with(b"v3.0 hex") => Some(Format::Logisim),
        [b'@', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit) => Some(Format::ReadMemH),
        _ => None,
    }
}

/// Goes by the extension, if it names a readable format. A `.hex` that is text but not Intel HEX is taken for
/// `$readmemh`, whose files are often named so.
fn by_name(name: &str, bytes: &[u8]) -> Option<Format> {
    let format = Format::of_file_name(name).filter(|format| format.can_be_read())?;
    let looks_like_text =
        || without_mark(bytes).iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
    let begins_record = without_mark(bytes).trim_ascii_start().starts_with(b":");
    match format {
        Format::IntelHex if !begins_record && looks_like_text() => Some(Format::ReadMemH),
        other => Some(other),
    }
}
