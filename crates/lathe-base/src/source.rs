//! Source texts and places in them. A place is a range of bytes in one file; lines and columns are computed only when a
//! person wants to see them.

/// Which source text a place is in. The first file of a run is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The text that contains the range.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// Makes the place of the bytes `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        let limit = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { file, start: limit(start), end: limit(end) }
    }

    /// Returns the smallest place that covers both, which must be in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the bytes as a range, for slicing the text.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A source text with its name, which can find lines and columns.
#[derive(Clone, Debug)]
pub struct Source {
    /// What a person calls it: a path, or the name of a built-in machine.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
}

impl Source {
    /// Makes a source from a name and a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let after_newline = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(after_newline.map(|(at, _)| at as u32 + 1)).collect();
        Source { name: name.into(), text, line_starts }
    }

    /// Returns the text of a line (from 1), without its line end. `file` is the id of this source.
    pub fn line(&self, file: FileId, line: usize) -> Option<Span> {
        let start = *self.line_starts.get(line.checked_sub(1)?)? as usize;
        let length = self.text.get(start..)?.find('\n').unwrap_or(self.text.len() - start);
        Some(Span::new(file, start, start + length))
    }

    /// Returns the line (from 1) and the column (from 1, in characters) of a byte.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts[line - 1] as usize;
        let end = (offset as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |before| before.chars().count());
        (line, column + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = Source::new("t", "ab\nç d\n");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(2), (1, 3));
        assert_eq!(source.line_column(3), (2, 1));
        assert_eq!(source.line_column(6), (2, 3));
        assert_eq!(source.line_column(999), (3, 1));
        let line = |number| source.line(FileId(7), number).map(|span| &source.text[span.range()]);
        assert_eq!((line(1), line(2), line(3), line(4)), (Some("ab"), Some("ç d"), Some(""), None));
        assert_eq!(line(0), None);
    }
}
