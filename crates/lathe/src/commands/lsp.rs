//! `lathe lsp`: serves an editor.

use super::Outcome;
use crate::exit::{Exit, Failure};

/// Serves until the editor says goodbye.
pub(super) fn execute() -> Outcome {
    match lathe_lsp::run() {
        Ok(()) => Ok(Exit::Done),
        Err(message) => {
            let failure = Failure::input(format!("the connection to the editor broke: {message}"));
            Err(failure.help("this command is for editors; docs/editors.md says how they start it"))
        }
    }
}
