//! `lathe lsp`: serves an editor.

use super::Outcome;
#[cfg(feature = "lsp")]
use crate::exit::Exit;
use crate::exit::Failure;

/// Serves until the editor ends the session.
#[cfg(feature = "lsp")]
pub(super) fn execute() -> Outcome {
    match lathe_lsp::run() {
        Ok(()) => Ok(Exit::Done),
        Err(message) => {
            let failure = Failure::input(format!("the connection to the editor broke: {message}"));
            Err(failure.help("this command is for editors; docs/editors.md says how they start it"))
        }
    }
}

/// Fails: the quick build has no server.
#[cfg(not(feature = "lsp"))]
pub(super) fn execute() -> Outcome {
    Err(Failure::not_built("language server"))
}
