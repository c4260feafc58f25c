//! What a page can ask for.

use lathe_debug::Problem;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A request; the table in `lib.rs` says what each does.
#[derive(Debug, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
pub(crate) enum Request {
    Gallery,
    Shipped { machine: String, program: Option<String> },
    Edit(Edit),
    Complete { pane: Pane, at: usize },
    Hover { pane: Pane, at: usize },
    Tidy { pane: Pane },
    Reference,
    Command { line: String, limit: u64 },
    Input { text: String },
    EndInput,
    Key { key: u32, down: bool },
    Port { bus: String, port: u64, value: u64 },
    Breakpoints { lines: Vec<usize> },
    View(Window),
    Download { what: String },
}

/// The texts as they are now.
#[derive(Debug, Deserialize)]
pub(crate) struct Edit {
    pub(crate) definition: String,
    pub(crate) program: String,
    /// The shipped machine whose programs can be included.
    #[serde(default)]
    pub(crate) library: String,
    /// Whether these are other texts, so that nothing of the last ones is to be kept.
    #[serde(default)]
    pub(crate) anew: bool,
}

/// One of the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pane {
    Definition,
    Program,
}

/// Which part of the machine is on the screen.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Window {
    /// The memory; the code memory if empty.
    pub(crate) memory: String,
    /// The first cell, in hexadecimal: a page's numbers do not hold every address.
    #[serde(deserialize_with = "address")]
    pub(crate) from: u64,
    /// How many cells.
    pub(crate) count: u64,
    /// Instructions before the next one.
    pub(crate) before: usize,
    /// Instructions from the next one on.
    pub(crate) after: usize,
    /// How many bytes of output the page has already.
    pub(crate) written: u64,
    /// Whether changes count from here on: not if only another part of the same moment is shown.
    pub(crate) settle: bool,
}

fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let digits = String::deserialize(deserializer)?;
    u64::from_str_radix(&digits, 16).map_err(D::Error::custom)
}

/// Why something could not be done, as an answer.
#[derive(Debug, Serialize)]
struct Failed<'p> {
    problem: Told<'p>,
}

#[derive(Debug, Serialize)]
struct Told<'p> {
    message: &'p str,
    help: Option<&'p str>,
}

/// An answer as text.
pub(crate) fn written(result: Result<serde_json::Value, Problem>) -> String {
    let result = result.and_then(|value| text(&value));
    result.unwrap_or_else(|problem| {
        let told = Told { message: &problem.message, help: problem.help.as_deref() };
        text(&Failed { problem: told }).unwrap_or_default()
    })
}

fn text(value: &impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(value).map_err(|error| Problem::new(error.to_string()))
}

/// Anything as an answer.
pub(crate) fn value(answer: impl Serialize) -> Result<serde_json::Value, Problem> {
    serde_json::to_value(answer).map_err(|error| Problem::new(error.to_string()))
}
