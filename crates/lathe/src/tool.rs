//! Other people's programs that some commands run: synthesisers, simulators, solvers. Lathe needs none of them for anything else.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::exit::Failure;

/// What a tool has said, and how it ended.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) complaint: String,
    pub(crate) succeeded: bool,
}

/// Runs a tool in a folder, or in this one, with something at its standard input.
///
/// # Errors
/// If it cannot be run, with the package that has it.
pub(crate) fn run(tool: &str, folder: Option<&Path>, arguments: &[&str], input: &str) -> Result<Said, Failure> {
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| {
        let reason =
            if error.kind() == ErrorKind::NotFound { "it is not installed".to_owned() } else { error.to_string() };
        Failure::input(format!("`{tool}` cannot be run: {reason}"))
            .help(format!("install it: `apt install {}`", package(tool)))
    })?;
    let stdin = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // A tool that ends before it has read everything says why by itself.
            let _ = stdin.map(|mut stdin| stdin.write_all(input.as_bytes()));
        });
        let output = child.wait_with_output().map_err(|error| Failure::input(format!("`{tool}` failed: {error}")))?;
        Ok(Said {
            text: String::from_utf8_lossy(&output.stdout).into_owned(),
            complaint: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            succeeded: output.status.success(),
        })
    })
}

impl Said {
    /// What it said, if all went well.
    ///
    /// # Errors
    /// With its own words.
    pub(crate) fn if_well(self, tool: &str) -> Result<String, Failure> {
        if self.succeeded { Ok(self.text) } else { Err(self.failure(tool)) }
    }

    /// That it failed, in its own words.
    pub(crate) fn failure(&self, tool: &str) -> Failure {
        let words = if self.complaint.is_empty() { self.text.trim() } else { &self.complaint };
        Failure::input(format!("`{tool}` failed: {words}"))
    }
}

/// The package that has a tool, in Debian.
fn package(tool: &str) -> &str {
    if tool == "vvp" { "iverilog" } else { tool }
}
