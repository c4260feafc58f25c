//! External programs that some commands run: synthesisers, simulators, solvers. Lathe needs none of them for anything
//! else.

use std::io::{ErrorKind, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::exit::Failure;
use crate::signals;

/// The running tools. A signal that ends this process ends them first: an abandoned solver would go on until its time
/// is up.
struct Running {
    tools: Vec<Child>,
    /// Whether this process is about to end.
    is_ending: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { tools: Vec::new(), is_ending: false });

impl Running {
    fn lock() -> MutexGuard<'static, Running> {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks for callers that go on afterwards. If the process is about to end, this never returns: that a tool was
    /// killed is not news.
    fn lock_and_go_on() -> MutexGuard<'static, Running> {
        let running = Running::lock();
        if running.is_ending {
            drop(running);
            loop {
                std::thread::park();
            }
        }
        running
    }

    fn end_all() {
        let mut running = Running::lock();
        running.is_ending = true;
        // A tool that has already ended cannot be killed, and need not be.
        running.tools.iter_mut().for_each(|tool| drop(tool.kill().and_then(|()| tool.wait())));
    }
}

/// What a tool printed, and how it ended.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) complaint: String,
    pub(crate) succeeded: bool,
}

/// Runs a tool in a folder, or in the current one, with this text at its standard input.
///
/// # Errors
/// If the tool cannot be run; the failure names the package that has it.
pub(crate) fn run(tool: &str, folder: Option<&Path>, arguments: &[&str], input: &str) -> Result<Said, Failure> {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    signals::before_end(Running::end_all);
    let mut running = Running::lock_and_go_on();
    let mut child = command.spawn().map_err(|error| {
        let reason =
            if error.kind() == ErrorKind::NotFound { "it is not installed".to_owned() } else { error.to_string() };
        Failure::input(format!("`{tool}` cannot be run: {reason}"))
            .help(format!("install it: `apt install {}`", package(tool)))
    })?;
    let (id, stdin, stdout, stderr) = (child.id(), child.stdin.take(), child.stdout.take(), child.stderr.take());
    running.tools.push(child);
    drop(running);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A tool that ends before it has read everything says why itself.
            let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
        });
        let complaint = scope.spawn(move || everything(stderr));
        let text = everything(stdout);
        let complaint = complaint.join().unwrap_or_default();
        let status = forget(id).map_or(Ok(None), |mut child| child.wait().map(Some));
        let status = status.map_err(|error| Failure::input(format!("`{tool}` failed: {error}")))?;
        let succeeded = status.is_some_and(|status| status.success());
        Ok(Said { text, complaint: complaint.trim().to_owned(), succeeded })
    })
}

/// Checks that tools are installed, for a command that runs one after another and would find out late that the last is
/// missing.
///
/// # Errors
/// If some are not installed; the failure names their packages.
pub(crate) fn check(tools: &[&str]) -> Result<(), Failure> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let is_there = |tool: &str| {
        let name = format!("{tool}{}", std::env::consts::EXE_SUFFIX);
        folders.iter().any(|folder| folder.join(&name).is_file())
    };
    let missing: Vec<&str> = tools.iter().copied().filter(|tool| !is_there(tool)).collect();
    let Some((last, before)) = missing.split_last() else { return Ok(()) };
    let (names, are) = match before {
        [] => (format!("`{last}`"), "is"),
        _ => (format!("`{}` and `{last}`", before.join("`, `")), "are"),
    };
    let mut packages: Vec<&str> = missing.iter().map(|tool| package(tool)).collect();
    packages.dedup();
    let failure = Failure::input(format!("{names} {are} not installed"));
    Err(failure.help(format!("install what is missing: `apt install {}`", packages.join(" "))))
}

/// Reads a pipe until it is closed. A tool that closes it early has said what it had to say.
fn everything(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Removes a tool that has ended from the running ones.
fn forget(id: u32) -> Option<Child> {
    let mut running = Running::lock_and_go_on();
    let at = running.tools.iter().position(|tool| tool.id() == id)?;
    Some(running.tools.swap_remove(at))
}

impl Said {
    /// Returns what the tool printed, if it succeeded.
    ///
    /// # Errors
    /// If it failed, in its own words.
    pub(crate) fn if_well(self, tool: &str) -> Result<String, Failure> {
        if self.succeeded { Ok(self.text) } else { Err(self.failure(tool)) }
    }

    /// Reports that the tool failed, in its own words.
    pub(crate) fn failure(&self, tool: &str) -> Failure {
        let words = if self.complaint.is_empty() { self.text.trim() } else { &self.complaint };
        Failure::input(format!("`{tool}` failed: {words}"))
    }
}

/// Returns the Debian package of a tool.
fn package(tool: &str) -> &str {
    if tool == "vvp" { "iverilog" } else { tool }
}
