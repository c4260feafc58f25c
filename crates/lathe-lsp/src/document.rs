//! Texts under edit: lines, and positions as the protocol counts them, in UTF-16 units.

use std::ops::{Range, RangeInclusive};

/// A place in a text as the protocol counts: the line, and UTF-16 units within it, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

/// A text and the beginnings of its lines.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) version: i32,
    lines: Vec<usize>,
}

impl Document {
    pub(crate) fn new(text: String, version: i32) -> Document {
        let lines = lines(&text);
        Document { text, version, lines }
    }

    /// Replaces a part of the text, or all of it.
    pub(crate) fn change(&mut self, range: Option<(Place, Place)>, text: &str) {
        match range {
            Some((start, end)) => {
                let (start, end) = (self.offset(start), self.offset(end));
                self.text.replace_range(start.min(end)..end.max(start), text);
            }
            None => text.clone_into(&mut self.text),
        }
        self.lines = lines(&self.text);
    }

    /// Returns the byte at a place. A place beyond the end of a line is at its end.
    pub(crate) fn offset(&self, place: Place) -> usize {
        let Some(start) = self.lines.get(place.line as usize) else { return self.text.len() };
        let line = self.line(place.line as usize);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units >= place.character {
                return start + at;
            }
            units += c.len_utf16() as u32;
        }
        start + line.len()
    }

    /// Returns the place of a byte.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let before = self.text.get(self.lines[line]..offset).unwrap_or("");
        Place { line: line as u32, character: before.encode_utf16().count() as u32 }
    }

    /// Returns the bytes of some lines.
    pub(crate) fn bytes(&self, lines: RangeInclusive<u32>) -> Range<usize> {
        let start = |line: u32| self.lines.get(line as usize).copied().unwrap_or(self.text.len());
        start(*lines.start())..start(lines.end().saturating_add(1))
    }

    /// Returns a line without its end.
    pub(crate) fn line(&self, number: usize) -> &str {
        let Some(start) = self.lines.get(number) else { return "" };
        let end = self.lines.get(number + 1).map_or(self.text.len(), |next| next - 1);
        self.text[*start..end].trim_end_matches('\r')
    }
}

fn lines(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Document, Place};

    #[test]
    fn places_count_utf16() {
        let document = Document::new("aé𝄞b\r\nx".into(), 0);
        let place = Place { line: 0, character: 4 };
        assert_eq!(document.offset(place), 7);
        assert_eq!(document.place(7), place);
        assert_eq!(document.offset(Place { line: 0, character: 99 }), 8);
        assert_eq!(document.offset(Place { line: 9, character: 0 }), document.text.len());
        assert_eq!(document.place(10), Place { line: 1, character: 0 });
    }

    #[test]
    fn a_part_is_replaced() {
        let mut document = Document::new("one\ntwo\n".into(), 0);
        let range = (Place { line: 0, character: 3 }, Place { line: 1, character: 1 });
        document.change(Some(range), " ");
        assert_eq!(document.text, "one wo\n");
        assert_eq!(document.lines.len(), 2);
    }
}
