//! The command line of Lathe: everything that touches files, terminals and processes.
//!
//! Read [`arguments`] for what can be asked, then the file in [`commands`] that answers. Deliberately absent: any
//! knowledge of what an instruction means. That is in the libraries.

// The quick build leaves out what uses some of this.
#![cfg_attr(not(all(feature = "gdb", feature = "lsp", feature = "screen")), allow(dead_code))]

mod arguments;
mod commands;
mod definitions;
mod dump;
mod exit;
mod files;
mod inputs;
mod machine;
mod output;
mod outputs;
mod places;
mod png;
mod program;
mod project;
mod render;
mod signals;
mod tool;
mod vectors;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use clap::error::{ContextKind, ContextValue};

use crate::arguments::Format;

fn main() -> ExitCode {
    let arguments = match arguments::Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&with_tip(error)),
    };
    arguments.color.apply();
    let format = arguments.command.format();
    if format == Format::Json {
        output::keep_diagnostics();
    }
    match commands::execute(arguments.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            match format {
                Format::Json => output::failure(&failure),
                Format::Text => output::complain(&render::failure(&failure)),
            }
            failure.exit.into()
        }
    }
}

/// Adds a tip on how to name the machine, for a definition given where a program or nothing belongs.
fn with_tip(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(found)) = error.get(ContextKind::InvalidArg)
        && found.ends_with(".isa")
    {
        let tip = format!("a machine is named with `-m {found}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// Prints help, or reports a command line that cannot be parsed. The format it asks for is then a guess.
fn usage(error: &clap::Error) -> ExitCode {
    let asks = |words: &[String]| words.ends_with(&["--format".to_owned(), "json".to_owned()]);
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let for_programs =
        words.iter().any(|word| word == "--format=json") || (1..=words.len()).any(|end| asks(&words[..end]));
    if !error.use_stderr() || !for_programs {
        error.exit();
    }
    let text = error.render().to_string();
    output::failure(&exit::Failure::usage(text.trim_start_matches("error: ").trim_end()));
    exit::Exit::Usage.into()
}
