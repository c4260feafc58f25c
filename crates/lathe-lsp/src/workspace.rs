//! The texts that are open, the files beside them, and the machines they are for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lathe_asm::{Assembled, Options, assemble};
use lathe_base::files::{FileError, Files, Found};
use lathe_base::{Diagnostic, Source, limits};
use lathe_doc::Sheet;
use lathe_edit::assembly::Words;
use lathe_isa::{Isa, Loaded, Written};
use lathe_machines::WithShipped;

use crate::document::Document;

/// A machine, and what is derived from it.
pub(crate) struct Machine {
    pub(crate) isa: Isa,
    pub(crate) sheet: Sheet,
    pub(crate) words: Words,
    /// Its definition, if it is a file.
    pub(crate) path: Option<PathBuf>,
    /// What it was made from.
    written: Written,
}

/// A program: the file that is assembled, and what came of it.
pub(crate) struct Program {
    pub(crate) assembled: Assembled,
    /// The folder that names of its files are relative to.
    folder: PathBuf,
}

impl Program {
    /// The path of one of its sources.
    pub(crate) fn path(&self, file: usize) -> Option<PathBuf> {
        self.assembled.sources.get(file).map(|source| self.folder.join(&source.name))
    }
}

/// Everything that the server knows.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) documents: BTreeMap<PathBuf, Document>,
    machines: RefCell<BTreeMap<String, Option<Rc<Machine>>>>,
}

impl Workspace {
    /// The text of a file: as it is in the editor, or else on disk.
    pub(crate) fn text(&self, path: &Path) -> Option<String> {
        match self.documents.get(path) {
            Some(document) => Some(document.text.clone()),
            None => String::from_utf8(read(path).ok()?).ok(),
        }
    }

    /// The machine that a program is for: the one it names, or the one of the program that includes it.
    pub(crate) fn machine(&self, path: &Path) -> Option<Rc<Machine>> {
        let main = self.main_of(path);
        let text = self.text(&main)?;
        self.machine_named(machine_directive(&text)?, &main)
    }

    /// The definition that is being edited, as a machine. While it is broken, as it was before.
    pub(crate) fn machine_of_definition(&self, path: &Path) -> Option<Rc<Machine>> {
        self.load(&path.to_string_lossy(), Some(path.to_owned()), self.text(path)?)
    }

    fn machine_named(&self, name: &str, program: &Path) -> Option<Rc<Machine>> {
        if let Some(machine) = lathe_machines::find(name) {
            return self.load(name, None, machine.definition.to_owned());
        }
        let path = program.with_file_name(format!("{name}.isa"));
        let text = self.text(&path)?;
        self.load(&path.to_string_lossy(), Some(path.clone()), text)
    }

    fn load(&self, key: &str, path: Option<PathBuf>, text: String) -> Option<Rc<Machine>> {
        let mut machines = self.machines.borrow_mut();
        let known = machines.get(key).cloned().flatten();
        // What a machine extends may have changed although its own text has not.
        let is_same = |machine: &Rc<Machine>| matches!(&machine.written.sources[..], [only] if only.text == text);
        if known.as_ref().is_some_and(is_same) {
            return known;
        }
        let loaded = self.loaded(path.as_deref(), &text);
        let (Some(isa), written) = (loaded.isa, loaded.written) else { return known };
        let machine =
            Rc::new(Machine { sheet: Sheet::new(&isa, &written), words: Words::new(&isa), isa, path, written });
        machines.insert(key.to_owned(), Some(Rc::clone(&machine)));
        Some(machine)
    }

    /// The file to assemble for this one: itself if it names a machine, or a program beside it that
    /// includes it.
    pub(crate) fn main_of(&self, path: &Path) -> PathBuf {
        let names_machine = |path: &Path| self.text(path).is_some_and(|text| machine_directive(&text).is_some());
        if names_machine(path) {
            return path.to_owned();
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let includes = |other: &PathBuf| {
            let text = self.text(other).unwrap_or_default();
            machine_directive(&text).is_some() && text.contains(&format!("\"{name}\""))
        };
        self.beside(path).into_iter().find(includes).unwrap_or_else(|| path.to_owned())
    }

    /// Programs in the same folder.
    pub(crate) fn beside(&self, path: &Path) -> Vec<PathBuf> {
        let Some(folder) = path.parent() else { return Vec::new() };
        let on_disk = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let open = self.documents.keys().filter(|path| path.parent() == Some(folder)).cloned();
        let mut all: Vec<PathBuf> = on_disk.chain(open).filter(|path| is_assembly(path)).collect();
        all.sort();
        all.dedup();
        all.truncate(200);
        all
    }

    /// Assembles the program that a file belongs to.
    pub(crate) fn program(&self, path: &Path) -> Option<Program> {
        let machine = self.machine(path)?;
        let main = self.main_of(path);
        let folder = main.parent()?.to_owned();
        let project = Project { workspace: self, folder: &folder };
        let name = main.file_name()?.to_string_lossy().into_owned();
        let source = Source::new(name, self.text(&main)?);
        let assembled = assemble(&machine.isa, &project, source, &Options::default());
        Some(Program { assembled, folder })
    }

    /// A definition and what it extends and includes: files beside it, and machines that come with Lathe.
    pub(crate) fn loaded(&self, path: Option<&Path>, text: &str) -> Loaded {
        let name = path.and_then(Path::file_name).map_or("definition".into(), |name| name.to_string_lossy());
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let project = Project { workspace: self, folder };
        lathe_isa::load_with(Source::new(name, text), &WithShipped(&project))
    }

    /// What `lathe check` says about a definition.
    pub(crate) fn check(&self, path: &Path, text: &str) -> (Vec<Diagnostic>, Written) {
        let mut loaded = self.loaded(Some(path), text);
        if let Some(isa) = &loaded.isa {
            loaded.diagnostics.extend(lathe_vm::examples::check(isa));
        }
        (loaded.diagnostics.into_sorted(), loaded.written)
    }
}

/// The files of a program: those in the editor before those on disk, and none outside of its folder.
struct Project<'w> {
    workspace: &'w Workspace,
    folder: &'w Path,
}

impl Files for Project<'_> {
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError> {
        let relative = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        let inside = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside {
            return Err(FileError("it is outside of the project's folder".to_owned()));
        }
        let path = self.folder.join(&relative);
        let bytes = match self.workspace.documents.get(&path) {
            Some(document) => document.text.clone().into_bytes(),
            None => read(&path)?,
        };
        Ok(Found { name: relative.to_string_lossy().into_owned(), bytes })
    }
}

/// The bytes of a plain file. A pipe would be waited for, and a device may have no end.
fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    let missing = |_| FileError("there is no such file".to_owned());
    if !path.metadata().map_err(missing)?.is_file() {
        return Err(FileError("it is not a plain file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(missing)?;
    file.take(limits::SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(missing)?;
    if bytes.len() > limits::SOURCE_BYTES {
        return Err(FileError("it is too large".to_owned()));
    }
    Ok(bytes)
}

/// Whether a file is a program by its name.
pub(crate) fn is_assembly(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| ["asm", "s", "a", "inc"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Whether a file is a definition by its name.
pub(crate) fn is_definition(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("isa"))
}

/// The name after `.machine`, which stands before anything else but comments.
fn machine_directive(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.find(|line| !line.starts_with([';', '#', '*', '/']))?;
    let (directive, rest) = line.split_once([' ', '\t'])?;
    let name = rest.trim_start().split([' ', '\t', ';', '/']).next()?.trim_matches('"');
    directive.eq_ignore_ascii_case(".machine").then_some(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    /// Opening a folder of somebody else's must not make the server wait, or read without end.
    #[test]
    fn pipes_and_devices_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("zeros")).unwrap();
        let (send, receive) = mpsc::channel();
        let path = folder.path().to_owned();
        std::thread::spawn(move || {
            let workspace = Workspace::default();
            let project = Project { workspace: &workspace, folder: &path };
            let opened = ["pipe", "zeros"].map(|name| project.open("main.asm", name).map(|_| ()));
            let texts = ["pipe", "zeros"].map(|name| workspace.text(&path.join(name)));
            send.send((opened, texts)).unwrap();
        });
        let (opened, texts) = receive.recv_timeout(Duration::from_secs(120)).expect("nothing is waited for");
        let refused = || Err(FileError("it is not a plain file".to_owned()));
        assert_eq!((opened, texts), ([refused(), refused()], [None, None]));
    }
}
