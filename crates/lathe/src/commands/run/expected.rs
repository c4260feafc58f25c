//! What a script expects of a run: how it ends, what the program writes, what its display shows.

use lathe_base::limits;
use lathe_embed::Stop;
use lathe_vm::Display;

use super::report::Ended;
use super::session::End;
use crate::arguments::{ExpectedStop, Run};
use crate::commands::test::diff;
use crate::exit::Failure;
use crate::files;
use crate::inputs::Inputs;
use crate::program::Program;

/// The expectations, if there are any.
pub(super) struct Expected {
    /// How it ends, where, and both as given on the command line.
    stop: Option<(ExpectedStop, Option<u64>, String)>,
    output: Option<String>,
    /// A file, and its contents.
    screen: Option<(String, String)>,
}

impl Expected {
    /// Reads the expectations from the command line.
    pub(super) fn new(arguments: &Run, program: &Program, inputs: &Inputs) -> Result<Expected, Failure> {
        let stop = arguments.expect_stop.as_ref().map(|wanted| {
            let (kind, address) = wanted.resolve(program)?;
            Ok::<_, Failure>((kind, address, wanted.to_string()))
        });
        let screen = arguments.expect_screen.as_ref().map(|name| {
            inputs.note(name);
            let bytes = files::read(name, limits::SOURCE_BYTES as u64)?;
            Ok::<_, Failure>((name.clone(), files::text(name, bytes)?.replace("\r\n", "\n")))
        });
        Ok(Expected { stop: stop.transpose()?, output: arguments.expect_output.clone(), screen: screen.transpose()? })
    }

    /// Whether a particular end is expected.
    pub(super) fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    /// Whether anything is expected.
    pub(super) fn has_any(&self) -> bool {
        self.stop.is_some() || self.output.is_some() || self.screen.is_some()
    }

    /// Returns a complaint for each unmet expectation.
    pub(super) fn missed(&self, report: &Ended) -> Vec<String> {
        let stop = self.stop.as_ref().filter(|(kind, address, _)| !ends_so(report, *kind, *address));
        let stop =
            stop.map(|(_, _, wanted)| format!("expected the run to end with {wanted}, but it {}", report.happened()));
        let output = self.output.as_ref().filter(|_| !report.output_was_found);
        let output =
            output.map(|wanted| format!("expected the program to write \"{}\", but it did not", wanted.escape_debug()));
        stop.into_iter()
            .chain(output)
            .chain(self.screen.as_ref().and_then(|screen| other_screen(report, screen)))
            .collect()
    }
}

fn ends_so(report: &Ended, kind: ExpectedStop, address: Option<u64>) -> bool {
    let is_kind = matches!(
        (kind, report.end),
        (ExpectedStop::Halt, End::Stop(Stop::Halted) | End::Passed)
            | (ExpectedStop::Stuck, End::Stop(Stop::Idle) | End::Untold)
            | (ExpectedStop::Fault, End::Stop(Stop::Fault(_)) | End::TestFailed(_))
            | (ExpectedStop::Limit, End::Stop(Stop::Limit))
    );
    is_kind && address.is_none_or(|address| address == report.instance.state().pc)
}

/// Returns how the display differs from what a file shows, if it does.
fn other_screen(report: &Ended, (name, wanted): &(String, String)) -> Option<String> {
    let Some(display) = report.instance.devices().find::<Display>() else {
        return Some("expected a screen, but this machine has no display".to_owned());
    };
    let found = display.text();
    let head = format!("the screen is not what {name} shows: it differs");
    (found != *wanted).then(|| diff::text(&head, wanted.as_bytes(), found.as_bytes()))
}
