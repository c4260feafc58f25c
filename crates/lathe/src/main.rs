//! The command line of Lathe: everything that touches files, terminals and processes.
//!
//! Read [`arguments`] for what can be asked, then the file in [`commands`] that answers.
//! Deliberately absent: any knowledge of what an instruction means. That is in the libraries.

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
mod png;
mod program;
mod project;
mod render;
mod signals;
mod vectors;
mod watch;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let arguments = arguments::Arguments::parse();
    arguments.color.apply();
    match commands::execute(arguments.command) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::complain(&render::failure(&failure));
            failure.exit.into()
        }
    }
}
