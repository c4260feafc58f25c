//! Reading and writing files: never more than a limit, and never half a file.
//!
//! The name `-` stands for standard input when reading, and for standard output when writing.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use lathe_base::nearest;

use crate::exit::Failure;
use crate::signals;

/// The name that stands for standard input and output.
pub(crate) const STANDARD: &str = "-";

/// The most folder entries searched for a similar name.
const NEIGHBOURS: usize = 1_000;

/// The most symbolic links followed in a row.
const LINKS: usize = 40;

/// The most names tried for a file beside another.
const ATTEMPTS: u32 = 100;

/// Returns what people call the file of this name.
pub(crate) fn title(name: &str) -> &str {
    if name == STANDARD { "standard input" } else { name }
}

/// Reads a whole file, if it has no more than `limit` bytes.
pub(crate) fn read(name: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    let read = if name == STANDARD { read_all(io::stdin(), limit) } else { read_path(Path::new(name), limit) };
    let bytes = read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > limit {
        let message = format!("{} has more than {limit} bytes, which is the limit", title(name));
        return Err(Failure::input(message).help("check that it is the right file, or split it"));
    }
    Ok(bytes)
}

/// Reads a file that must be text.
pub(crate) fn read_text(name: &str, limit: u64) -> Result<String, Failure> {
    text(name, read(name, limit)?)
}

/// Converts a file's bytes to text. A leading byte order mark is removed.
pub(crate) fn text(name: &str, mut bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        let message = format!("{} is not a text: line {line} is not UTF-8", title(name));
        Failure::input(message).help("save it as UTF-8, or check that it is the right file")
    })
}

/// Reads a file. Returns at most one byte more than the limit, so that the caller can tell that there is more.
pub(crate) fn read_path(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    check_is_no_pipe(path)?;
    File::open(path).and_then(|file| read_all(file, limit))
}

/// Creates an empty file of this name, to write piece by piece.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    check_is_no_pipe(path)?;
    File::create(path)
}

/// Refuses a named pipe: opening it would wait, perhaps for ever, for a process at its other end.
fn check_is_no_pipe(path: &Path) -> io::Result<()> {
    if is_named_pipe(path) { Err(io::Error::other("it is a pipe")) } else { Ok(()) }
}

/// What a shell makes for `<(…)` is below `/dev` or `/proc`, and already open.
#[cfg(unix)]
fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_open = path.starts_with("/dev") || path.starts_with("/proc");
    !is_open && path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_named_pipe(_path: &Path) -> bool {
    false
}

/// Reads a file that must be plain. A pipe may have no process at its other end, and reading would wait for one.
pub(crate) fn read_plain(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let data = path.metadata()?;
    if data.is_file() || data.is_dir() {
        return read_path(path, limit);
    }
    Err(io::Error::other("it is a pipe or a device, not a file"))
}

fn read_all(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns why a file is not accessible, in plain words where there are any.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is not a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        _ => error.to_string(),
    }
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    let next = match error.kind() {
        ErrorKind::NotFound => match neighbour(Path::new(name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "check the name and the folder".to_owned(),
        },
        ErrorKind::IsADirectory => "give the name of a file in it".to_owned(),
        ErrorKind::PermissionDenied => "allow it to be read, or give another file".to_owned(),
        _ if is_named_pipe(Path::new(name)) => "copy it into a file first, or read from standard input".to_owned(),
        _ => "check the name and the folder".to_owned(),
    };
    Failure::input(format!("{} cannot be read: {}", title(name), reason(error))).help(next)
}

/// Returns a file in the same folder with a similar name.
fn neighbour(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = folder.read_dir().ok()?.take(NEIGHBOURS).flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let near = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(path.with_file_name(near).to_string_lossy().into_owned())
}

/// A file to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Its name.
    pub(crate) name: String,
    /// Its whole content.
    pub(crate) bytes: Vec<u8>,
}

/// Writes files so that each appears whole or not at all, and none if one cannot be written.
///
/// The bytes go to temporary files in the same folders, which are renamed when all are complete. What is not a plain
/// file, such as `/dev/null`, is written in place before any renaming: a rename would replace it with a file, and
/// writing takes as long as its reader likes.
pub(crate) fn write_all(files: &[Whole]) -> Result<(), Failure> {
    let staged: Vec<Staged> = signals::deferred(|| files.iter().map(Staged::new).collect::<Result<_, Failure>>())?;
    staged.iter().try_for_each(Staged::write_in_place)?;
    signals::deferred(|| staged.iter().try_for_each(Staged::rename))
}

/// A file whose bytes are written, but not yet under its name.
struct Staged<'f> {
    file: &'f Whole,
    /// Where the bytes are and where they belong; `None` if they are written in place.
    renaming: Option<(Temporary, PathBuf)>,
}

/// A file that is deleted unless it is renamed.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl<'f> Staged<'f> {
    fn new(file: &'f Whole) -> Result<Self, Failure> {
        let renaming = stage(file).map_err(|error| unwritable(&file.name, &error))?;
        Ok(Staged { file, renaming })
    }

    fn write_in_place(&self) -> Result<(), Failure> {
        let Whole { name, bytes } = self.file;
        let done = match &self.renaming {
            Some(_) => Ok(()),
            None if name == STANDARD => to_standard_output(bytes),
            None => create(Path::new(name)).and_then(|mut file| file.write_all(bytes)),
        };
        done.map_err(|error| unwritable(name, &error))
    }

    fn rename(&self) -> Result<(), Failure> {
        let Some((from, to)) = &self.renaming else { return Ok(()) };
        std::fs::rename(&from.0, to).map_err(|error| unwritable(&self.file.name, &error))
    }
}

fn stage(file: &Whole) -> io::Result<Option<(Temporary, PathBuf)>> {
    let path = followed(Path::new(&file.name));
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if file.name == STANDARD || (path.exists() && !path.is_file()) {
        return Ok(None);
    }
    let (temporary, mut stream) = beside(&path)?;
    if let Ok(old) = path.metadata() {
        stream.set_permissions(old.permissions())?;
    }
    stream.write_all(&file.bytes)?;
    stream.sync_all()?;
    Ok(Some((temporary, path)))
}

/// Follows symbolic links from a name. A link stays a link: its target is replaced, or created if it does not exist
/// yet.
fn followed(name: &Path) -> PathBuf {
    let mut path = name.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Creates a new file in the same directory: a rename across directories may be impossible, and would not be atomic. A
/// killed process may have left a file of this name, so several names are tried.
fn beside(path: &Path) -> io::Result<(Temporary, File)> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let mut attempt = 0;
    loop {
        let hidden = format!(".{}.{}-{attempt}.tmp", name.to_string_lossy(), std::process::id());
        let hidden = path.with_file_name(hidden);
        match File::create_new(&hidden) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
            created => return Ok((Temporary(hidden), created?)),
        }
    }
}

/// Writes to standard output. A reader that closes the pipe has read enough.
fn to_standard_output(bytes: &[u8]) -> io::Result<()> {
    let mut stream = io::stdout().lock();
    let written = stream.write_all(bytes).and_then(|()| stream.flush());
    written.or_else(|error| if error.kind() == ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

fn unwritable(name: &str, error: &io::Error) -> Failure {
    let folder = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
    let (why, next) = match (folder, error.kind()) {
        (Some(folder), _) => {
            (format!("there is no folder {}", folder.display()), "make the folder, or give another name")
        }
        (None, ErrorKind::StorageFull) => ("the disk is full".to_owned(), "make room, or write somewhere else"),
        (None, _) => (reason(error), "give another name with `-o`"),
    };
    let name = if name == STANDARD { "standard output" } else { name };
    Failure::input(format!("{name} cannot be written: {why}")).help(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(name: &str, bytes: &[u8]) -> Result<(), Failure> {
        write_all(&[Whole { name: name.to_owned(), bytes: bytes.to_vec() }])
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.bin");
        let name = path.to_str().unwrap();
        write(name, b"old and long").unwrap();
        write(name, b"new").unwrap();
        assert_eq!(read(name, 100).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nowhere").join("image.bin");
        assert!(write(path.to_str().unwrap(), b"x").is_err());
    }

    #[test]
    fn all_are_written_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let name = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        let whole = |name: String| Whole { name, bytes: vec![1] };
        std::fs::create_dir(name("folder")).unwrap();
        for wrong in ["nowhere/b", "folder"] {
            assert!(write_all(&[whole(name("a")), whole(name(wrong)), whole(name("c"))]).is_err());
            let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().flatten().collect();
            assert_eq!(left.len(), 1, "{left:?}");
        }
        write_all(&[whole(name("a")), whole(name("folder/b"))]).unwrap();
        assert_eq!(read(&name("folder/b"), 10).unwrap(), [1]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let directory = tempfile::tempdir().unwrap();
        let (real, link) = (directory.path().join("real"), directory.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(link.to_str().unwrap(), b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(real).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_yet_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let (folder, link) = (directory.path().join("folder"), directory.path().join("link"));
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("other", &link).unwrap();
        std::os::unix::fs::symlink("folder/real", directory.path().join("other")).unwrap();
        write(link.to_str().unwrap(), b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(folder.join("real")).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        write(path.to_str().unwrap(), b"old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write(path.to_str().unwrap(), b"new").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    /// What cannot be staged is written before anything else.
    #[cfg(unix)]
    #[test]
    fn a_device_that_fails_leaves_the_other_files_as_they_were() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.bin");
        let name = path.to_str().unwrap().to_owned();
        write(&name, b"old").unwrap();
        let full = Whole { name: "/dev/full".to_owned(), bytes: b"new".to_vec() };
        assert!(write_all(&[Whole { name, bytes: b"new".to_vec() }, full]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_file_names_its_neighbour() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("hello.asm"), "").unwrap();
        let failure = read(directory.path().join("helo.asm").to_str().unwrap(), 10).unwrap_err();
        assert!(failure.help.unwrap().contains("hello.asm`?"));
    }

    #[test]
    fn reading_stops_at_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ten");
        let name = path.to_str().unwrap();
        std::fs::write(&path, [7; 10]).unwrap();
        assert_eq!(read(name, 10).unwrap().len(), 10);
        assert!(read(name, 9).unwrap_err().message.contains("more than 9 bytes"));
    }
}
