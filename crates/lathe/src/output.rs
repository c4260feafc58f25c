//! Writing to standard output and standard error.
//!
//! Answers go to standard output, complaints to standard error. Texts may be coloured; colours are removed on the way
//! where they would not be seen. A reader that closes the pipe (`lathe machines | head -1`) is not an error: it has
//! read enough.

use std::io::{ErrorKind, Write};
use std::sync::{Mutex, PoisonError};

use lathe_base::{Diagnostic, Source};
use serde::Serialize;

use crate::exit::Failure;
use crate::render::{self, DiagnosticData};

/// Diagnostics kept for a JSON answer; `None` where they are shown at once.
static KEPT: Mutex<Option<Vec<DiagnosticData>>> = Mutex::new(None);

/// Keeps diagnostics from now on for the answer, which is JSON.
pub(crate) fn keep_diagnostics() {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
}

/// Takes the kept diagnostics.
pub(crate) fn take_diagnostics() -> Vec<DiagnosticData> {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.as_mut().map(std::mem::take).unwrap_or_default()
}

/// Shows a diagnostic on standard error, or keeps it for the answer.
pub(crate) fn diagnostic(sources: &[Source], diagnostic: &Diagnostic) {
    match &mut *KEPT.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(kept) => kept.push(render::diagnostic_data(sources, diagnostic)),
        None => complain(&render::diagnostic(sources, diagnostic)),
    }
}

/// A failure in place of an answer, as JSON.
#[derive(Serialize)]
struct FailureData<'f> {
    ok: bool,
    error: ErrorData<'f>,
    diagnostics: Vec<DiagnosticData>,
}

#[derive(Serialize)]
struct ErrorData<'f> {
    message: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'f str>,
    exit_code: u8,
}

/// Answers with a failure, for programs that read JSON.
pub(crate) fn failure(failure: &Failure) {
    let error = ErrorData { message: &failure.message, help: failure.help.as_deref(), exit_code: failure.exit as u8 };
    let document = FailureData { ok: false, error, diagnostics: take_diagnostics() };
    // If this cannot be written, nobody would read it.
    let _ = json(&document).and_then(|text| answer(&text));
}

/// Writes an answer to standard output.
pub(crate) fn answer(text: &str) -> Result<(), Failure> {
    let mut stream = anstream::stdout().lock();
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(unwritable(&error)) })
}

/// Writes a complaint to standard error. If even that fails, there is nobody to tell.
pub(crate) fn complain(text: &str) {
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

/// Replaces the last line of the terminal at standard error.
pub(crate) fn signal(text: &str) {
    complain(&format!("\r\x1b[2K{text}"));
}

/// Returns the failure that standard output could not be written, for a reason other than a closed pipe.
pub(crate) fn unwritable(error: &std::io::Error) -> Failure {
    Failure::input(format!("standard output cannot be written: {error}"))
}

/// Renders an answer as one JSON document, on several lines for people to read.
pub(crate) fn json(answer: &impl Serialize) -> Result<String, Failure> {
    document(serde_json::to_string_pretty(answer))
}

/// Renders an answer as one line of JSON.
pub(crate) fn json_line(answer: &impl Serialize) -> Result<String, Failure> {
    document(serde_json::to_string(answer))
}

fn document(text: serde_json::Result<String>) -> Result<String, Failure> {
    let text = text.map_err(|error| Failure::input(format!("the answer cannot be written as JSON: {error}")))?;
    Ok(text + "\n")
}
