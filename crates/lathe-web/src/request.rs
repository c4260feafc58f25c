//! What a page can ask for.

use lathe_debug::Problem;
use serde::{Deserialize, Serialize};

/// A request; the table in `lib.rs` says what each one does.
#[derive(Debug)]
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

/// The current texts.
#[derive(Debug)]
pub(crate) struct Edit {
    pub(crate) definition: String,
    pub(crate) program: String,
    /// The shipped machine whose programs can be included.
    pub(crate) library: String,
    /// Whether these texts replace the last ones, so that nothing is kept from those.
    pub(crate) anew: bool,
}

/// One of the two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pane {
    Definition,
    Program,
}

/// Which part of the machine is on screen.
#[derive(Debug)]
pub(crate) struct Window {
    /// The memory; the code memory if empty.
    pub(crate) memory: String,
    /// The first cell.
    pub(crate) from: u64,
    /// The number of cells.
    pub(crate) count: u64,
    /// The number of instructions before the next one.
    pub(crate) before: usize,
    /// The number of instructions from the next one on.
    pub(crate) after: usize,
    /// How many bytes of output the page already has.
    pub(crate) written: u64,
    /// Whether changes count from here on; false if only another part of the same moment is shown.
    pub(crate) settle: bool,
}

/// The fields of all requests. Deriving `Deserialize` for [`Request`] itself would make the download several times as
/// large.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    call: String,
    machine: Option<String>,
    definition: Option<String>,
    program: Option<String>,
    library: String,
    anew: bool,
    pane: Option<Pane>,
    at: Option<usize>,
    line: Option<String>,
    limit: Option<u64>,
    text: Option<String>,
    key: Option<u32>,
    down: Option<bool>,
    bus: Option<String>,
    port: Option<u64>,
    value: Option<u64>,
    lines: Option<Vec<usize>>,
    memory: String,
    /// In hexadecimal: a page's numbers do not hold every address.
    from: String,
    count: u64,
    before: usize,
    after: usize,
    written: u64,
    settle: bool,
    what: Option<String>,
}

impl Request {
    /// Reads the request that a page sent.
    pub(crate) fn read(text: &str) -> Result<Request, Problem> {
        let asked: Asked = serde_json::from_str(text).map_err(|error| none(&error.to_string()))?;
        Ok(match asked.call.as_str() {
            "gallery" => Request::Gallery,
            "shipped" => Request::Shipped { machine: needed(asked.machine, "machine")?, program: asked.program },
            "edit" => Request::Edit(Edit {
                definition: needed(asked.definition, "definition")?,
                program: needed(asked.program, "program")?,
                library: asked.library,
                anew: asked.anew,
            }),
            "complete" => Request::Complete { pane: needed(asked.pane, "pane")?, at: needed(asked.at, "at")? },
            "hover" => Request::Hover { pane: needed(asked.pane, "pane")?, at: needed(asked.at, "at")? },
            "tidy" => Request::Tidy { pane: needed(asked.pane, "pane")? },
            "reference" => Request::Reference,
            "command" => Request::Command { line: needed(asked.line, "line")?, limit: needed(asked.limit, "limit")? },
            "input" => Request::Input { text: needed(asked.text, "text")? },
            "end_input" => Request::EndInput,
            "key" => Request::Key { key: needed(asked.key, "key")?, down: needed(asked.down, "down")? },
            "port" => Request::Port {
                bus: needed(asked.bus, "bus")?,
                port: needed(asked.port, "port")?,
                value: needed(asked.value, "value")?,
            },
            "breakpoints" => Request::Breakpoints { lines: needed(asked.lines, "lines")? },
            "view" => Request::View(Window {
                memory: asked.memory,
                from: match asked.from.as_str() {
                    "" => 0,
                    digits => u64::from_str_radix(digits, 16).map_err(|error| none(&format!("`from`: {error}")))?,
                },
                count: asked.count,
                before: asked.before,
                after: asked.after,
                written: asked.written,
                settle: asked.settle,
            }),
            "download" => Request::Download { what: needed(asked.what, "what")? },
            other => return Err(none(&format!("`{other}` is not known"))),
        })
    }
}

fn none(why: &str) -> Problem {
    Problem::new(format!("no such request: {why}"))
}

fn needed<T>(given: Option<T>, name: &str) -> Result<T, Problem> {
    given.ok_or_else(|| none(&format!("`{name}` is missing")))
}

/// An answer saying why a call failed.
#[derive(Debug, Serialize)]
struct Failed<'p> {
    problem: Told<'p>,
}

#[derive(Debug, Serialize)]
struct Told<'p> {
    message: &'p str,
    help: Option<&'p str>,
}

/// Returns the answer that a call failed.
pub(crate) fn refused(problem: &Problem) -> String {
    let told = Told { message: &problem.message, help: problem.help.as_deref() };
    value(Failed { problem: told }).unwrap_or_default()
}

/// Serializes an answer directly to text: a tree of values would be slower, and a larger download.
pub(crate) fn value(answer: impl Serialize) -> Result<String, Problem> {
    serde_json::to_string(&answer).map_err(|error| Problem::new(error.to_string()))
}
