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
    /// The command was used wrongly. The argument parser ends with this code, too.
    Usage = 2,
    /// The machine faulted.
    Fault = 3,
    /// The limit of steps was reached.
    StepLimit = 4,
    /// Somebody has pressed Ctrl-C, or Esc at a display. The number is what shells give for it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Why a command could not do what it was asked.
///
/// What is wrong inside a definition is a diagnostic, not a failure; this is for what has no
/// place in a source text, such as a file that cannot be read.
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
    /// Something is wrong with what was given.
    pub(crate) fn input(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::InputWrong, message: message.into(), help: None }
    }

    /// Something is wrong with the way the command was used.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Usage, message: message.into(), help: None }
    }

    /// Something was asked for that this build leaves out.
    #[cfg(not(all(feature = "gdb", feature = "lsp", feature = "screen")))]
    pub(crate) fn not_built(what: &str) -> Failure {
        Failure::usage(format!("this build of Lathe has no {what}"))
            .help("install Lathe with `cargo install --path crates/lathe`, which builds all of it")
    }

    /// A next step.
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
