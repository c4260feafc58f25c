//! A definition as its author wrote it: its files, and a single tree of them all. What `include` names is inserted in
//! its place, and what `extends` names comes before what the definition itself declares.

use std::cell::Cell;

use lathe_base::files::{FileError, Files, Found};
use lathe_base::{Diagnostic, Diagnostics, FileId, Source, Span, limits};

use crate::codes;
use crate::language::ast::{Definition, Import, Item};
use crate::language::{self, inherit};

/// The texts of a definition and their tree.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The file itself, followed by those that it extends and includes. A place names its file by the position in this
    /// list.
    pub sources: Vec<Source>,
    /// All their declarations.
    pub tree: Definition,
}

impl Written {
    /// Returns the text at a place; nothing if there is no such place.
    pub fn at(&self, span: Span) -> &str {
        self.text(span.file).get(span.range()).unwrap_or("")
    }

    /// Returns the whole text of a file.
    pub fn text(&self, file: FileId) -> &str {
        self.sources.get(file.0 as usize).map_or("", |source| &source.text)
    }

    /// Returns all texts, one after the other: what the machine depends on.
    pub fn whole(&self) -> String {
        self.sources.iter().map(|source| source.text.as_str()).collect()
    }
}

/// Reads a definition and the files that it names.
pub(crate) fn read(main: Source, files: &dyn Files, diagnostics: &mut Diagnostics) -> Written {
    let mut reader = Reader { sources: vec![main], bytes: 0, files, diagnostics };
    let tree = reader.file(FileId(0), &mut Vec::new());
    Written { sources: reader.sources, tree }
}

/// The files of a definition that was read before. They are requested in the same order as then, so their locations and
/// names do not matter.
pub(crate) struct Again<'s>(pub(crate) Cell<&'s [Source]>);

impl Files for Again<'_> {
    fn open(&self, _from: &str, _name: &str) -> Result<Found, FileError> {
        let Some((next, rest)) = self.0.get().split_first() else {
            return Err(FileError("it was not there when the definition was read before".to_owned()));
        };
        self.0.set(rest);
        Ok(Found { name: next.name.clone(), bytes: next.text.clone().into_bytes() })
    }
}

struct Reader<'f, 'd> {
    sources: Vec<Source>,
    /// How many bytes have been read so far.
    bytes: usize,
    files: &'f dyn Files,
    diagnostics: &'d mut Diagnostics,
}

/// What another file is wanted as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Machine,
    Part,
}

impl Reader<'_, '_> {
    /// Reads the tree of a file, including what it names. `open` are the files being read.
    fn file(&mut self, file: FileId, open: &mut Vec<String>) -> Definition {
        let source = &self.sources[file.0 as usize];
        open.push(source.name.clone());
        self.bytes += source.text.len();
        let mut tree = language::parse(file, &source.text, self.diagnostics);
        let mut items = Vec::new();
        for item in std::mem::take(&mut tree.items) {
            let Item::Include(import) = &item else {
                items.push(item);
                continue;
            };
            match self.import(import, Wanted::Part, open) {
                Some(part) => {
                    items.extend(part.items);
                    tree.broken.extend(part.broken);
                    tree.declared.extend(part.declared);
                    tree.rows_lost |= part.rows_lost;
                }
                None => tree.lose(),
            }
        }
        tree.items = items;
        if let Some(import) = tree.machine.as_ref().and_then(|machine| machine.extends.clone()) {
            match self.import(&import, Wanted::Machine, open) {
                Some(base) => inherit::inherit(base, &mut tree, self.diagnostics),
                None => tree.lose(),
            }
        } else {
            inherit::check_nothing_removed(&tree, self.diagnostics);
        }
        open.pop();
        tree
    }

    /// Reads another file, if it is available and is what is wanted.
    fn import(&mut self, import: &Import, wanted: Wanted, open: &mut Vec<String>) -> Option<Definition> {
        let from = open.last().cloned().unwrap_or_default();
        // The caller that provides the files knows machines by name; anything else is a file beside this one.
        let machine = import.is_machine.then(|| self.files.open(&from, &import.name).ok()).flatten();
        let file = if import.is_machine { format!("{}.isa", import.name) } else { import.name.clone() };
        let found = match machine.map_or_else(|| self.files.open(&from, &file), Ok) {
            Ok(found) => found,
            Err(error) => {
                let message = format!("`{file}` cannot be read: {}", error.0);
                return self.refuse(import, message, "files are looked for beside the file that names them");
            }
        };
        if open.contains(&found.name) {
            let message = format!("`{}` is made from itself", import.name);
            return self.refuse(import, message, "remove this, or what leads back here");
        }
        let size = self.bytes + found.bytes.len();
        if self.sources.len() >= limits::DEFINITION_FILES || size > limits::DEFINITION_BYTES {
            let (files, bytes) = (limits::DEFINITION_FILES, limits::DEFINITION_BYTES);
            let message = format!("a definition is made of at most {files} files and {bytes} bytes");
            self.diagnostics.push(Diagnostic::new(codes::TOO_LARGE, import.span, message).help("make it smaller"));
            return None;
        }
        let Ok(text) = String::from_utf8(found.bytes) else {
            return self.refuse(import, format!("`{}` is not text", import.name), "save it as UTF-8");
        };
        let file = FileId(self.sources.len() as u32);
        self.sources.push(Source::new(found.name, text.trim_start_matches('\u{FEFF}')));
        let tree = self.file(file, open);
        match (wanted, &tree.machine) {
            (Wanted::Machine, None) if !tree.broken.contains("machine") => {
                let help = "use `include` for a file of shared declarations";
                self.refuse(import, format!("`{}` has no `machine` line, so nothing can extend it", import.name), help)
            }
            (Wanted::Part, Some(machine)) => {
                let message = format!("`{}` is a whole machine, and cannot be included", import.name);
                let help = format!("write `extends {}` in the `machine` line", machine.name.text);
                self.refuse(import, message, &help)
            }
            _ => Some(tree),
        }
    }

    fn refuse<T>(&mut self, import: &Import, message: String, help: &str) -> Option<T> {
        self.diagnostics.push(Diagnostic::new(codes::BAD_FILE, import.span, message).help(help));
        None
    }
}
