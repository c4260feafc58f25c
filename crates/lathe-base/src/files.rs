//! Where further source texts and binary files come from. The core asks for them through this trait; its
//! implementations deal with files, sandboxes and browsers.

use std::collections::BTreeMap;

/// Why a file is not available, in words for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError(pub String);

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The full name: a file has the same name however it was asked for.
    pub name: String,
    /// The contents.
    pub bytes: Vec<u8>,
}

/// Opens files by name.
pub trait Files {
    /// Opens the file `name`, as written in the file `from`.
    ///
    /// # Errors
    /// If there is no such file, or it may not be read.
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError>;
}

/// Files kept in memory, for tests and for programs in one piece.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles(pub BTreeMap<String, Vec<u8>>);

impl Files for MemoryFiles {
    fn open(&self, _from: &str, name: &str) -> Result<Found, FileError> {
        let bytes = self.0.get(name).cloned().ok_or_else(|| FileError("there is no such file".into()))?;
        Ok(Found { name: name.to_owned(), bytes })
    }
}
