//! Conversion between bytes of a text, which Lathe counts, and UTF-16 units, which pages count.

use std::borrow::Cow;

/// The positions in one text.
pub(crate) struct Places<'t> {
    text: &'t str,
    /// The number of units before each byte; empty if the text is ASCII, where both are the same.
    units: Cow<'static, [u32]>,
}

impl<'t> Places<'t> {
    pub(crate) fn new(text: &'t str) -> Places<'t> {
        if text.is_ascii() {
            return Places { text, units: Cow::Borrowed(&[]) };
        }
        let mut units = Vec::with_capacity(text.len() + 1);
        let mut count = 0;
        for character in text.chars() {
            units.extend(std::iter::repeat_n(count, character.len_utf8()));
            count += character.len_utf16() as u32;
        }
        units.push(count);
        Places { text, units: Cow::Owned(units) }
    }

    /// Returns the units before a byte; positions beyond the end become the end.
    pub(crate) fn unit(&self, byte: usize) -> u32 {
        let byte = byte.min(self.text.len());
        self.units.get(byte).copied().unwrap_or(byte as u32)
    }

    /// Returns the byte after this many units; positions beyond the end become the end.
    pub(crate) fn byte(&self, unit: usize) -> usize {
        match self.units.is_empty() {
            true => unit.min(self.text.len()),
            false => self.units.partition_point(|before| (*before as usize) < unit).min(self.text.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[test]
    fn units_and_bytes_are_counted_to_and_fro() {
        for text in ["", "plain", "aé𝄞b"] {
            let places = Places::new(text);
            let mut units = 0;
            for (byte, character) in text.char_indices() {
                assert_eq!(places.unit(byte) as usize, units, "{text} {byte}");
                assert_eq!(places.byte(units), byte, "{text} {units}");
                units += character.len_utf16();
            }
            assert_eq!((places.unit(999) as usize, places.byte(999)), (units, text.len()));
        }
    }
}
