//! The files of a program: includes and binary files, from the folder of its main source and
//! nowhere else.
//!
//! Where a name leads is decided after symbolic links have been followed, so that neither
//! `..` nor a link leads out of the project.

use std::path::{Path, PathBuf};

use lathe_base::files::{FileError, Files, Found};
use lathe_base::limits;

use crate::exit::Failure;
use crate::files;

/// A folder whose files a program may use.
pub(crate) struct Project {
    /// As a person calls it.
    folder: PathBuf,
    /// With all symbolic links followed.
    root: PathBuf,
}

impl Project {
    /// The folder `root`, or else that of the main source.
    pub(crate) fn new(main: &str, root: Option<&str>) -> Result<Project, Failure> {
        let beside = Path::new(main).parent().filter(|_| main != files::STANDARD);
        let folder = root.map(PathBuf::from).or_else(|| beside.map(Path::to_owned)).unwrap_or_default();
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let failure = |error| Failure::input(format!("the folder {} cannot be used: {error}", folder.display()));
        let root = folder.canonicalize().map_err(failure)?;
        Ok(Project { folder, root })
    }
}

impl Files for Project {
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError> {
        let beside = Path::new(from).parent().unwrap_or(Path::new(""));
        let path = beside.join(name);
        let resolved = path.canonicalize().map_err(|error| FileError(plain(&error)))?;
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            return Err(FileError(format!("it lies outside of the project's folder {}", self.folder.display())));
        };
        let title = self.folder.join(inside);
        let title = title.strip_prefix(".").unwrap_or(&title).to_string_lossy().into_owned();
        let path = resolved.to_string_lossy().into_owned();
        let bytes = files::read(&path, limits::IMAGE_BYTES).map_err(|failure| FileError(failure.message))?;
        Ok(Found { name: title, bytes })
    }
}

fn plain(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_folder_are_refused_even_through_a_link() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("project");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(outer.path().join("secret.asm"), "nop").unwrap();
        std::fs::write(inner.join("lib.asm"), "nop").unwrap();
        let main = inner.join("main.asm").to_string_lossy().into_owned();
        let project = Project::new(&main, None).unwrap();
        assert!(project.open(&main, "lib.asm").is_ok());
        assert!(project.open(&main, "../secret.asm").unwrap_err().0.contains("outside"));
        assert!(project.open(&main, "missing.asm").unwrap_err().0.contains("no such file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret.asm"), inner.join("link.asm")).unwrap();
            assert!(project.open(&main, "link.asm").unwrap_err().0.contains("outside"));
        }
    }
}
