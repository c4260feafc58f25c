//! What went wrong, in one sentence, with a next step.

use std::fmt;

use lathe_base::Diagnostics;

/// Why something that was asked for cannot be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The cause, in one sentence without a full stop.
    pub message: String,
    /// The next step, where there is one to give.
    pub help: Option<String>,
}

impl Problem {
    /// A problem with this cause.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }

    /// A next step.
    pub fn help(mut self, text: impl Into<String>) -> Problem {
        self.help = Some(text.into());
        self
    }

    /// The first finding about an expression that somebody typed.
    pub(crate) fn in_expression(text: &str, diagnostics: Diagnostics) -> Problem {
        match diagnostics.into_sorted().into_iter().next() {
            Some(first) => {
                let problem = Problem::new(format!("`{text}`: {}", first.message));
                Problem { help: first.help.into_iter().next(), ..problem }
            }
            None => Problem::new(format!("`{text}` cannot be understood")),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}", self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(formatter, "; {help}"))
    }
}

impl std::error::Error for Problem {}
