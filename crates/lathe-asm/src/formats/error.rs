//! An error in a file: its line if there is one, a cause and a next step. Files are not sources, so there is no span
//! and no code.

use std::fmt;

/// Why a file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The line of the file, from 1.
    pub line: Option<usize>,
    /// The cause, in one sentence without a full stop.
    pub cause: String,
    /// The next step: what the reader can do about it.
    pub next_step: String,
}

impl FormatError {
    /// Creates an error from a cause and a next step.
    pub fn new(cause: impl Into<String>, next_step: impl Into<String>) -> Self {
        FormatError { line: None, cause: cause.into(), next_step: next_step.into() }
    }

    /// Adds the line, unless one is already known.
    pub fn at_line(mut self, line: usize) -> Self {
        self.line.get_or_insert(line);
        self
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.cause, self.next_step)
    }
}

impl std::error::Error for FormatError {}
