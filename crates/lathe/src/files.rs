//! Reading and writing files: never more than a limit, and never half.
//!
//! The name `-` stands for standard input where something is read, and for standard output
//! where something is written.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// The name that stands for standard input and output.
pub(crate) const STANDARD: &str = "-";

/// What a person calls the file of this name.
pub(crate) fn title(name: &str) -> &str {
    if name == STANDARD { "standard input" } else { name }
}

/// Everything in a file, if that is no more than `limit` bytes.
pub(crate) fn read(name: &str, limit: u64) -> Result<Vec<u8>, Failure> {
    let read = if name == STANDARD {
        read_all(io::stdin(), limit)
    } else {
        File::open(name).and_then(|file| read_all(file, limit))
    };
    let bytes = read.map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > limit {
        return Err(Failure::input(format!("{} has more than {limit} bytes, which is the limit", title(name))));
    }
    Ok(bytes)
}

/// The same as text. The mark that some editors put before UTF-8 is no part of it.
pub(crate) fn read_text(name: &str, limit: u64) -> Result<String, Failure> {
    let bytes = read(name, limit)?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").map(<[u8]>::to_vec).unwrap_or(bytes);
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        Failure::input(format!("{} is not a text: line {line} is not UTF-8", title(name)))
    })
}

/// Reads one byte more than the limit at most, so that the caller sees that there is more.
fn read_all(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn unreadable(name: &str, error: &io::Error) -> Failure {
    let reason = match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission is denied".to_owned(),
        _ => error.to_string(),
    };
    Failure::input(format!("{} cannot be read: {reason}", title(name)))
}

/// Writes a file that appears whole or not at all.
///
/// The bytes go to a file beside it that then takes its name. What is no plain file, such as
/// `/dev/null`, is written as it is: a rename would put a file in its place.
pub(crate) fn write_whole(name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = Path::new(name);
    let written = if name == STANDARD {
        io::stdout().write_all(bytes).and_then(|()| io::stdout().flush())
    } else if path.exists() && !path.is_file() {
        std::fs::write(path, bytes)
    } else {
        replace(path, bytes)
    };
    written.map_err(|error| Failure::input(format!("{name} cannot be written: {error}")))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = beside(path)?;
    let mut file = File::create_new(&beside)?;
    let done = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&beside, path));
    done.inspect_err(|_| {
        let _ = std::fs::remove_file(&beside);
    })
}

/// A name in the same directory that nobody else uses. A rename across directories may not be
/// possible, and would not be at once.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    let hidden = format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id());
    Ok(path.with_file_name(hidden))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("image.bin");
        let name = path.to_str().unwrap();
        write_whole(name, b"old and long").unwrap();
        write_whole(name, b"new").unwrap();
        assert_eq!(read(name, 100).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_a_failure() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nowhere").join("image.bin");
        assert!(write_whole(path.to_str().unwrap(), b"x").is_err());
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
