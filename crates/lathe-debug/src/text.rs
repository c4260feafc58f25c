//! Small text functions that several modules need: printable bytes, changes in words.

use lathe_embed::Changes;
use lathe_isa::Isa;

use crate::program::hexadecimal;

/// Renders bytes as text that is harmless to a terminal: control characters become escapes.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        match byte {
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\r' => text.push_str("\\r"),
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            0x20..=0x7E => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02X}")),
        }
    }
    text
}

/// Decodes a text with escapes into bytes; `None` if an escape is unknown.
pub(crate) fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        bytes.push(match characters.next()? {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            '0' => 0,
            '\\' => b'\\',
            '"' => b'"',
            'x' => {
                let digits: String = characters.by_ref().take(2).collect();
                u8::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 2)?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

/// Replaces what stands in a text's braces.
pub(crate) fn fill(template: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}') {
            Some((expression, after)) => {
                filled.push_str(&value(expression));
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

/// Describes what an instruction changed.
pub(crate) fn changes(isa: &Isa, changes: &Changes) -> Vec<String> {
    let mut words = Vec::new();
    for change in &changes.registers {
        let register = isa.register(change.register);
        words.push(changed(&register.name, change.old, change.new, register.width.bits()));
    }
    for change in &changes.cells {
        let memory = isa.memory(change.memory);
        let cell = format!("{}[{}]", memory.name, hexadecimal(change.address, memory.address.bits()));
        words.push(changed(&cell, change.old, change.new, memory.cell.bits()));
    }
    for used in &changes.devices {
        let name = &isa.devices[used.device.index()].name;
        let arguments: Vec<String> = used.arguments.iter().map(|value| format!("{value:#x}")).collect();
        let value = used.value.map(|value| format!(" = {value:#x}")).unwrap_or_default();
        words.push(format!("{name}.{}({}){value}", used.operation.name(), arguments.join(", ")));
    }
    words
}

/// Renders a change as `r1 = 0x05 (was 0x04)`.
pub(crate) fn changed(name: &str, old: u64, new: u64, bits: u32) -> String {
    let value = |value| if bits == 1 { format!("{value}") } else { hexadecimal(value, bits) };
    match old == new {
        true => format!("{name} = {}", value(new)),
        false => format!("{name} = {} (was {})", value(new), value(old)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_shown_and_read_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let shown = printable(&bytes);
        assert!(shown.chars().all(|character| character.is_ascii_graphic() || character == ' '));
        assert_eq!(unescape(&shown), Some(bytes));
        assert_eq!(unescape("\\q"), None);
        assert_eq!(unescape("\\x1"), None);
    }

    #[test]
    fn braces_are_filled() {
        assert_eq!(fill("a={a} b={b", |name| name.to_uppercase()), "a=A b={b");
    }
}
