//! Where the lines and calls of an image are in its sources, for listings and JSON. A place missing from the sources is
//! not an error: an image may have been separated from them.

use lathe_base::{Source, Span};

use crate::{Call, CallKind, Image, Line};

/// Sources, split into lines once.
pub(super) struct Places<'a> {
    sources: &'a [Source],
    lines: Vec<Vec<&'a str>>,
}

/// A place as people count: everything from 1, except the file, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl<'a> Places<'a> {
    pub(super) fn new(sources: &'a [Source]) -> Self {
        let lines = sources.iter().map(|source| source.text.split('\n').map(str::trim_end).collect()).collect();
        Places { sources, lines }
    }

    /// Returns the place where a span begins.
    pub(super) fn of(&self, span: Span) -> Option<Place> {
        let file = span.file.0 as usize;
        let (line, column) = self.sources.get(file)?.line_column(span.start);
        Some(Place { file, line, column })
    }

    /// Returns the name of a file.
    pub(super) fn name(&self, file: usize) -> &'a str {
        self.sources.get(file).map_or("", |source| &source.name)
    }

    /// Returns the lines of a file.
    pub(super) fn lines(&self, file: usize) -> &[&'a str] {
        self.lines.get(file).map_or(&[], Vec::as_slice)
    }

    /// Returns the text of the line that a place is on.
    pub(super) fn text(&self, place: Place) -> &'a str {
        let line = place.line.checked_sub(1).and_then(|at| self.lines(place.file).get(at));
        line.copied().unwrap_or("")
    }
}

/// Returns the calls around a line within its file, outermost first, with their numbers.
pub(super) fn calls_in_file<'i>(image: &'i Image, line: &Line) -> Vec<(u32, &'i Call)> {
    let around = image.lines.calls_around(line);
    let mut calls: Vec<_> = around.take_while(|(_, call)| call.kind != CallKind::Include).collect();
    calls.reverse();
    calls
}
