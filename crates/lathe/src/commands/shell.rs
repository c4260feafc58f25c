//! `lathe completions` and `lathe man`: what shells and manual readers know about the command line, generated from the
//! description that also parses it.

use std::path::Path;

use clap::CommandFactory;

use super::Outcome;
use crate::arguments::{Arguments, Completions, Man};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::output;

/// Prints the completions for a shell.
pub(super) fn completions(arguments: &Completions) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "lathe", &mut text);
    output::answer(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}

/// Prints the manual page of a command, or writes all of them into a folder.
pub(super) fn man(arguments: &Man) -> Outcome {
    let mut command = Arguments::command();
    command.build();
    if let Some(folder) = &arguments.output {
        files::write_all(&pages(&command, folder)?)?;
        return Ok(Exit::Done);
    }
    let name = arguments.command.as_deref().unwrap_or("");
    let wanted = if name.is_empty() { Some(&command) } else { command.find_subcommand(name) };
    let wanted = wanted.ok_or_else(|| {
        Failure::usage(format!("there is no command `{name}`")).help("`lathe --help` lists the commands")
    })?;
    output::answer(&String::from_utf8_lossy(&page(wanted)?))?;
    Ok(Exit::Done)
}

fn pages(command: &clap::Command, folder: &str) -> Result<Vec<Whole>, Failure> {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let whole = |command: &clap::Command| {
        let title = command.get_display_name().unwrap_or(command.get_name());
        let name = Path::new(folder).join(format!("{title}.1")).to_string_lossy().into_owned();
        Ok(Whole { name, bytes: page(command)? })
    };
    std::iter::once(command).chain(commands).map(whole).collect()
}

fn page(command: &clap::Command) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let failed = |error| Failure::input(format!("the manual page cannot be made: {error}"));
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(failed)?;
    Ok(text)
}
