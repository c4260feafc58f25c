//! Commands from a script or from standard input, with answers as text or JSON: for tests and graders.

use std::io::{self, BufRead, Read};

use lathe_debug::{Answer, Debugger, Problem, execute};
use serde::Serialize;

use super::super::Outcome;
use super::{complaint, exit, save, tell};
use crate::arguments::Format;
use crate::exit::Failure;
use crate::{files, output, render};

/// The most bytes in a script.
const LONGEST: u64 = 16 << 20;

/// One answer as data.
#[derive(Serialize)]
struct Line<'l> {
    command: &'l str,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    answer: Option<&'l Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Trouble<'l>>,
}

#[derive(Serialize)]
struct Trouble<'t> {
    message: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'t str>,
}

/// Executes a script, line by line. A failing command is reported, and the next one follows.
pub(super) fn run(debugger: &mut Debugger, script: &str, format: Format) -> Outcome {
    let mut failed = false;
    if script == files::STANDARD {
        let mut line = String::new();
        while read_line(&mut line)? && one(debugger, &line, format, &mut failed)? {}
        return Ok(exit(failed));
    }
    for line in files::read_text(script, LONGEST)?.lines() {
        if !one(debugger, line, format, &mut failed)? {
            break;
        }
    }
    Ok(exit(failed))
}

/// Reads the next line of standard input; returns whether there was one. A line is no longer than a script may be.
fn read_line(line: &mut String) -> Result<bool, Failure> {
    line.clear();
    let read = io::stdin().lock().take(LONGEST).read_line(line);
    let length = read.map_err(|error| Failure::input(format!("standard input cannot be read: {error}")))?;
    Ok(length > 0)
}

/// Executes one line; returns whether another may follow.
fn one(debugger: &mut Debugger, line: &str, format: Format, failed: &mut bool) -> Result<bool, Failure> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(true);
    }
    let answer = execute(debugger, line, &mut ()).and_then(|answer| {
        if let Answer::Save { file, session } = &answer {
            save(file, session)?;
        }
        Ok(answer)
    });
    *failed |= answer.is_err();
    match format {
        Format::Text => tell(&text(line, &answer))?,
        Format::Json => tell(&json(line, &answer)?)?,
    }
    Ok(answer != Ok(Answer::Quit))
}

fn text(line: &str, answer: &Result<Answer, Problem>) -> String {
    let line = render::visible(line);
    match answer {
        Ok(answer) => format!("> {line}\n{}", render::visible(&answer.to_string())),
        Err(problem) => format!("> {line}\n{}", complaint(problem)),
    }
}

fn json(line: &str, answer: &Result<Answer, Problem>) -> Result<String, Failure> {
    let error = answer.as_ref().err();
    let error = error.map(|problem| Trouble { message: &problem.message, help: problem.help.as_deref() });
    output::json_line(&Line { command: line, answer: answer.as_ref().ok(), error })
}
