//! `--watch`: repeats a command whenever one of the files that it read changes.

use std::time::Duration;

use crate::exit::Failure;
use crate::inputs::Inputs;
use crate::{files, output, render};

/// How often to check the files. Checking is cheap and works on every file system, unlike file system events.
const LOOK: Duration = Duration::from_millis(200);

/// Runs `once` now and after every change of a file, until the process is ended. Errors are printed and do not end the
/// watch: the user is about to correct them.
pub(crate) fn forever<T>(mut once: impl FnMut(&Inputs) -> Result<T, Failure>) -> ! {
    loop {
        let inputs = Inputs::default();
        if let Err(failure) = once(&inputs) {
            output::complain(&render::failure(&failure));
        }
        output::complain(&format!("watching {}\n", render::count(inputs.count(), "file")));
        while !inputs.have_changed() {
            std::thread::sleep(LOOK);
        }
    }
}

/// Checks that these names can be watched: standard input cannot.
pub(crate) fn check<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Failure> {
    if names.into_iter().any(|name| name == files::STANDARD) {
        return Err(Failure::usage("standard input cannot be watched").help("give the name of a file"));
    }
    Ok(())
}
