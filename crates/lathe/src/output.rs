//! Writing to standard output and standard error.
//!
//! Answers go to standard output, complaints to standard error. Texts may be coloured; the
//! colours are taken out on the way where they would not be seen. A reader that goes away
//! (`lathe machines | head -1`) is not an error: it has had enough.

use std::io::{ErrorKind, Write};

use serde::Serialize;

use crate::exit::Failure;

/// Writes an answer to standard output.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    let mut stream = anstream::stdout().lock();
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(unwritable(&error)) })
}

/// Writes a complaint to standard error. If even that cannot be written, there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Puts a text in the place of the last line of the terminal that standard error is.
pub(crate) fn signal(text: &str) {
    complain(&format!("\r\x1b[2K{text}"));
}

/// The failure that standard output could not be written, for a reason other than a closed pipe.
pub(crate) fn unwritable(error: &std::io::Error) -> Failure {
    Failure::input(format!("standard output cannot be written: {error}"))
}

/// An answer as one JSON document, on several lines for people who look at it.
pub(crate) fn json(answer: &impl Serialize) -> Result<String, Failure> {
    document(serde_json::to_string_pretty(answer))
}

/// An answer as one line of JSON.
pub(crate) fn json_line(answer: &impl Serialize) -> Result<String, Failure> {
    document(serde_json::to_string(answer))
}

fn document(text: serde_json::Result<String>) -> Result<String, Failure> {
    let text = text.map_err(|error| Failure::input(format!("the answer cannot be written as JSON: {error}")))?;
    Ok(text + "\n")
}
