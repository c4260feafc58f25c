//! How the process ends: the exit codes as a type, and the failure that carries one.

use std::process::ExitCode;

use lathe_embed::Unavailable;

/// The exit codes, which are part of the interface. The README and `lathe --help` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done; for a run, the machine halted.
    Done = 0,
    /// The input is wrong: a definition, an image, a vector that failed.
    InputWrong = 1,
    /// The command line was wrong. The argument parser also ends with this code.
    Usage = 2,
    /// The machine faulted.
    Fault = 3,
    /// The step limit was reached.
    StepLimit = 4,
    /// The user pressed Ctrl-C, or Esc at a display. Shells use the same number.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command failed.
///
/// An error inside a definition is a diagnostic, not a failure; failures have no place in a source text: for example, a
/// file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the process ends.
    pub(crate) exit: Exit,
    /// The cause, in one sentence without a full stop.
    pub(crate) message: String,
    /// The next step, where there is one to give.
    pub(crate) help: Option<String>,
}

impl Failure {
    /// Reports wrong input.
    pub(crate) fn input(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::InputWrong, message: message.into(), help: None }
    }

    /// Reports wrong use of the command.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, message: message.into(), help: None }
    }

    /// Reports that this build leaves out what was asked for.
    #[cfg(not(all(feature = "gdb", feature = "lsp", feature = "screen")))]
    pub(crate) fn not_built(what: &str) -> Failure {
        Failure::usage(format!("this build of Lathe has no {what}"))
            .help("install Lathe with `cargo install --path crates/lathe`, which builds all of it")
    }

    /// Adds a next step.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Failure {
        self.help = Some(text.into());
        self
    }
}

impl From<lathe_embed::Error> for Failure {
    fn from(error: lathe_embed::Error) -> Failure {
        match error {
            lathe_embed::Error::Engine(unavailable) => unavailable.into(),
            other => Failure::input(other.to_string()),
        }
    }
}

impl From<Unavailable> for Failure {
    fn from(unavailable: Unavailable) -> Failure {
        Failure::usage(unavailable.to_string()).help(unavailable.next_step())
    }
}
