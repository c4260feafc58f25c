//! `--watch`: does something again whenever one of the files that it read has changed.

use std::time::Duration;

use crate::exit::Failure;
use crate::inputs::Inputs;
use crate::{files, output, render};

/// How often the files are looked at. Looking is cheap and works on every file system, which
/// waiting for events of the system does not.
const LOOK: Duration = Duration::from_millis(200);

/// Does it now and whenever a file changes, until the process is ended. Mistakes are told and waited
/// for: whoever watches is about to mend them.
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

/// That these names can be watched: standard input cannot.
pub(crate) fn check<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<(), Failure> {
    if names.into_iter().any(|name| name == files::STANDARD) {
        return Err(Failure::usage("standard input cannot be watched").help("give the name of a file"));
    }
    Ok(())
}
