//! What can go wrong, with a cause and a next step for each.

use std::fmt;

use lathe_asm::formats::FormatError;
use lathe_base::{Diagnostic, Diagnostics, Severity, Source};

use crate::engine::Unavailable;

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Lathe ships no machine of this name.
    UnknownMachine {
        /// The name asked for.
        name: String,
        /// A machine with a similar name.
        nearest: Option<&'static str>,
    },
    /// The definition has these errors.
    Definition(Vec<Finding>),
    /// The program has these errors.
    Program(Vec<Finding>),
    /// The image is malformed, or not for this machine.
    Image(FormatError),
    /// The machine has nothing of this kind with this name.
    UnknownName {
        /// What was looked up: `register`, `memory`, `device`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// A similar name.
        nearest: Option<String>,
    },
    /// The value has more bits than its destination.
    DoesNotFit {
        /// The value.
        value: u64,
        /// The name of the destination.
        name: String,
        /// How many bits the destination has.
        bits: u32,
    },
    /// The register is constant.
    Constant(String),
    /// The engine is not available.
    Engine(Unavailable),
    /// The snapshot is of another machine, or of other devices.
    OtherMachine,
}

/// An error in a text, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The name of the text.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    /// What is wrong, with its code and its next steps.
    pub diagnostic: Diagnostic,
}

/// Returns the errors among some diagnostics. Warnings are left to `lathe check` and `lathe asm`.
pub(crate) fn findings(diagnostics: Diagnostics, sources: &[Source]) -> Vec<Finding> {
    let errors = diagnostics.into_sorted().into_iter().filter(|found| found.severity() == Severity::Error);
    let place = |diagnostic: Diagnostic| {
        let source = sources.get(diagnostic.primary.span.file.0 as usize);
        let (line, column) = source.map_or((1, 1), |source| source.line_column(diagnostic.primary.span.start));
        let file = source.map(|source| source.name.clone()).unwrap_or_default();
        Finding { file, line, column, diagnostic }
    };
    errors.map(place).collect()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { file, line, column, diagnostic } = self;
        write!(f, "{file}:{line}:{column}: {} [{}]", diagnostic.message, diagnostic.code.name)?;
        diagnostic.help.iter().try_for_each(|help| write!(f, "\n  help: {help}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownMachine { name, nearest } => {
                write!(f, "no machine `{name}` comes with Lathe{}", did_you_mean(nearest.as_deref()))
            }
            Error::Definition(findings) => list(f, "the definition cannot be used", findings),
            Error::Program(findings) => list(f, "the program cannot be assembled", findings),
            Error::Image(error) => {
                let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
                write!(f, "{line}{}; {}", error.cause, error.next_step)
            }
            Error::UnknownName { kind, name, nearest } => {
                write!(f, "the machine has no {kind} `{name}`{}", did_you_mean(nearest.as_deref()))
            }
            Error::DoesNotFit { value, name, bits } => {
                write!(f, "{value} does not fit in `{name}`, which has {bits} bits")
            }
            Error::Constant(name) => write!(f, "`{name}` is constant and cannot be set"),
            Error::OtherMachine => {
                write!(f, "the snapshot is one of another machine, or of other devices; restore it where it was taken")
            }
            Error::Engine(unavailable) => write!(f, "{unavailable}; {}", unavailable.next_step()),
        }
    }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

fn list(f: &mut fmt::Formatter<'_>, head: &str, findings: &[Finding]) -> fmt::Result {
    write!(f, "{head}:")?;
    findings.iter().try_for_each(|finding| write!(f, "\n{finding}"))
}

impl std::error::Error for Error {}
