//! What went wrong, in one sentence, with a next step.

use std::fmt;

use lathe_base::Diagnostics;

/// Why a request cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The cause, in one sentence without a full stop.
    pub message: String,
    /// The next step, where there is one to give.
    pub help: Option<String>,
}

impl Problem {
    /// Creates a problem with this cause.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }

    /// Adds a next step.
    pub fn help(mut self, text: impl Into<String>) -> Problem {
        self.help = Some(text.into());
        self
    }

    /// Reports the first finding about an expression the user typed.
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
