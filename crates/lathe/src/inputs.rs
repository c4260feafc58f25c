//! The files that a command has read, as they were when it read them: they must not be overwritten, and `--watch` waits
//! until one changes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::exit::Failure;
use crate::files;

/// When a file was changed and how long it was; `None` if it was not accessible.
type Stamp = Option<(SystemTime, u64)>;

/// The files that a command has read or tried to read.
///
/// They are noted where they are opened, deep inside a call that lends them to the assembler, so the list is in a cell.
#[derive(Debug, Default)]
pub(crate) struct Inputs(RefCell<Vec<(PathBuf, Stamp)>>);

impl Inputs {
    /// Notes a file before it is read, so that a change during the reading is seen. Standard input is not a file.
    pub(crate) fn note(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let mut noted = self.0.borrow_mut();
        if path.as_os_str() != files::STANDARD && !noted.iter().any(|(known, _)| known == path) {
            noted.push((path.to_owned(), stamp(path)));
        }
    }

    /// Returns the number of files.
    pub(crate) fn count(&self) -> usize {
        self.0.borrow().len()
    }

    /// Whether one of them has changed.
    pub(crate) fn have_changed(&self) -> bool {
        self.0.borrow().iter().any(|(path, before)| stamp(path) != *before)
    }

    /// Checks that writing to `output` would overwrite none of them, however the names are spelt; `flag` gave the name.
    pub(crate) fn check_spared(&self, output: &str, flag: &str) -> Result<(), Failure> {
        let real = |path: &Path| path.canonicalize().ok();
        let target = real(Path::new(output));
        if target.is_none() || !self.0.borrow().iter().any(|(path, _)| real(path) == target) {
            return Ok(());
        }
        let message = format!("{output} is an input and would be overwritten");
        Err(Failure::usage(message).help(format!("give another name with `{flag}`")))
    }
}

fn stamp(path: &Path) -> Stamp {
    let data = std::fs::metadata(path).ok()?;
    Some((data.modified().ok()?, data.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_appears_or_goes_away_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let (here, missing) = (directory.path().join("here"), directory.path().join("missing"));
        std::fs::write(&here, "one").unwrap();
        let noted = || {
            let inputs = Inputs::default();
            [&here, &missing, &here].iter().for_each(|path| inputs.note(path));
            assert_eq!(inputs.count(), 2);
            assert!(!inputs.have_changed());
            inputs
        };
        let inputs = noted();
        std::fs::write(&here, "longer").unwrap();
        assert!(inputs.have_changed());
        let inputs = noted();
        std::fs::write(&missing, "").unwrap();
        assert!(inputs.have_changed());
        let inputs = noted();
        std::fs::remove_file(&here).unwrap();
        assert!(inputs.have_changed());
    }

    #[test]
    fn what_is_read_is_not_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("main.asm");
        std::fs::write(&path, "").unwrap();
        let inputs = Inputs::default();
        inputs.note(&path);
        inputs.note(files::STANDARD);
        assert_eq!(inputs.count(), 1);
        let other_spelling = directory.path().join(".").join("main.asm");
        assert!(inputs.check_spared(other_spelling.to_str().unwrap(), "-o").is_err());
        assert!(inputs.check_spared(directory.path().join("main.bin").to_str().unwrap(), "-o").is_ok());
        assert!(inputs.check_spared(files::STANDARD, "-o").is_ok());
    }
}
