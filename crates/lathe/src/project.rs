//! The files of a program: includes and binary files, from the folder of its main source only.
//!
//! Symbolic links are followed before deciding where a name leads, so that neither `..` nor a link leads out of the
//! project.

use std::path::{Path, PathBuf};

use lathe_base::files::{FileError, Files, Found};
use lathe_base::limits;

use crate::exit::Failure;
use crate::files;
use crate::inputs::Inputs;

/// A folder whose files a program may use.
pub(crate) struct Project<'p> {
    /// The path as given.
    folder: PathBuf,
    /// The path with all symbolic links resolved.
    root: PathBuf,
    /// Where opened files are noted.
    inputs: &'p Inputs,
}

impl<'p> Project<'p> {
    /// Creates a project in the folder `root`, or else in that of the main source.
    pub(crate) fn new(main: &str, root: Option<&str>, inputs: &'p Inputs) -> Result<Self, Failure> {
        let beside = Path::new(main).parent().filter(|_| main != files::STANDARD);
        let folder = root.map(PathBuf::from).or_else(|| beside.map(Path::to_owned)).unwrap_or_default();
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
        let resolved = folder.canonicalize().and_then(|root| root.read_dir().map(|_| root));
        let root = resolved.map_err(|error| unusable(&folder, &error))?;
        Ok(Project { folder, root, inputs })
    }

    /// Returns the folder that names in a source are relative to: its own. For standard input, which has no folder, the
    /// project's.
    fn folder_of<'f>(&'f self, source: &'f str) -> &'f Path {
        if source == files::title(files::STANDARD) {
            return &self.folder;
        }
        Path::new(source).parent().unwrap_or(Path::new(""))
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> Failure {
    let message = format!("the folder {} cannot be used: {}", folder.display(), files::reason(error));
    Failure::input(message).help("give a folder that holds the program and its files with `--root`")
}

impl Files for Project<'_> {
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError> {
        let path = self.folder_of(from).join(name);
        self.inputs.note(&path);
        let resolved = path.canonicalize().map_err(|error| FileError(files::reason(&error)))?;
        let Ok(inside) = resolved.strip_prefix(&self.root) else {
            return Err(FileError(format!(
                "it is outside the project's folder {}; `--root` can name a larger one",
                self.folder.display()
            )));
        };
        let title = self.folder.join(inside);
        let title = title.strip_prefix(".").unwrap_or(&title).to_string_lossy().into_owned();
        let bytes =
            files::read_plain(&resolved, limits::IMAGE_BYTES).map_err(|error| FileError(files::reason(&error)))?;
        if bytes.len() as u64 > limits::IMAGE_BYTES {
            return Err(FileError(format!("it has more than {} bytes, which is the limit", limits::IMAGE_BYTES)));
        }
        Ok(Found { name: title, bytes })
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
        let inputs = Inputs::default();
        let project = Project::new(&main, None, &inputs).unwrap();
        assert!(project.open(&main, "lib.asm").is_ok());
        assert!(project.open(&main, "../secret.asm").unwrap_err().0.contains("outside"));
        assert!(project.open(&main, "missing.asm").unwrap_err().0.contains("no such file"));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outer.path().join("secret.asm"), inner.join("link.asm")).unwrap();
            assert!(project.open(&main, "link.asm").unwrap_err().0.contains("outside"));
        }
        #[cfg(unix)]
        {
            let pipe = inner.join("pipe.asm");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            assert!(project.open(&main, "pipe.asm").unwrap_err().0.contains("it is a pipe"));
        }
        assert!(inputs.count() > 2, "what is missing or refused is watched as well");
    }
}
