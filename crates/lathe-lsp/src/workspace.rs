//! The open texts, the files beside them, and the machines they are for.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use lathe_asm::{Assembled, KnownLines, Options, assemble_again};
use lathe_base::files::{FileError, Files, Found};
use lathe_base::{Diagnostic, FileId, Severity, Source, limits};
use lathe_doc::Sheet;
use lathe_edit::assembly::Words;
use lathe_isa::names::Resolved;
use lathe_isa::{Isa, KnownMeanings, Written};
use lathe_machines::WithShipped;

use crate::document::Document;

/// The most files and folders that the search for the workspace's files visits.
const MAX_ENTRIES: usize = 20_000;

/// A machine, and everything derived from it.
pub(crate) struct Machine {
    pub(crate) isa: Isa,
    pub(crate) words: Words,
    /// Its definition, if it is a file.
    pub(crate) path: Option<PathBuf>,
    /// Whether it is complete: programs for an incomplete machine cannot be judged.
    is_sound: bool,
    /// What it was made from.
    pub(crate) written: Rc<Written>,
    sheet: OnceCell<Sheet>,
}

impl Machine {
    fn new(isa: Isa, written: Rc<Written>, path: Option<PathBuf>) -> Machine {
        Machine { words: Words::new(&isa), isa, path, is_sound: true, written, sheet: OnceCell::new() }
    }

    /// Returns its datasheet, made on first use because it runs all examples.
    pub(crate) fn sheet(&self) -> &Sheet {
        self.sheet.get_or_init(|| Sheet::new(&self.isa, &self.written))
    }
}

/// A definition as `lathe check` sees it.
pub(crate) struct Checked {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) written: Rc<Written>,
    pub(crate) names: Resolved,
    /// The machine. If the definition is broken, the last sound one; if it never was sound, what could be made of it.
    pub(crate) machine: Option<Rc<Machine>>,
}

/// A program: the result of assembling its main file.
pub(crate) struct Program {
    pub(crate) assembled: Assembled,
    /// The folder that its file names are relative to.
    folder: PathBuf,
}

impl Program {
    /// Returns the path of one of its sources.
    pub(crate) fn path(&self, file: usize) -> Option<PathBuf> {
        self.assembled.sources.get(file).map(|source| self.folder.join(&source.name))
    }

    /// Returns the number of a file in its spans.
    pub(crate) fn file(&self, path: &Path) -> Option<FileId> {
        let number = (0..self.assembled.sources.len()).find(|number| self.path(*number).as_deref() == Some(path));
        number.map(|number| FileId(number as u32))
    }
}

/// Everything that the server knows. What is derived from texts is kept until one of them changes, since an editor
/// sends many requests after each keystroke.
#[derive(Default)]
pub(crate) struct Workspace {
    pub(crate) documents: BTreeMap<PathBuf, Document>,
    /// The folders that the editor has open.
    pub(crate) folders: Vec<PathBuf>,
    shipped: RefCell<BTreeMap<&'static str, Rc<Machine>>>,
    definitions: RefCell<BTreeMap<PathBuf, Rc<Checked>>>,
    /// Machines as of when their definitions last had no errors.
    sound: RefCell<BTreeMap<PathBuf, Rc<Machine>>>,
    /// The meanings of definitions' rows, for the next keystroke.
    known_meanings: RefCell<BTreeMap<PathBuf, KnownMeanings>>,
    programs: RefCell<BTreeMap<PathBuf, Rc<Program>>>,
    /// Lines of programs as they were read, for the next keystroke, and the machine they were read for.
    known_lines: RefCell<BTreeMap<PathBuf, (Rc<Machine>, KnownLines)>>,
}

impl Workspace {
    /// Forgets what was derived from a changed text.
    pub(crate) fn forget(&mut self, path: &Path) {
        // A program may include any file, and a definition any definition.
        self.programs.get_mut().clear();
        if is_definition(path) {
            self.definitions.get_mut().clear();
        }
    }

    /// Closes a text.
    pub(crate) fn close(&mut self, path: &Path) {
        self.documents.remove(path);
        self.known_lines.get_mut().remove(path);
        self.known_meanings.get_mut().remove(path);
        self.forget(path);
    }

    /// Returns the files beside this one.
    pub(crate) fn project<'w>(&'w self, path: &'w Path) -> Project<'w> {
        Project { workspace: self, folder: path.parent().unwrap_or(Path::new("")), changed: BTreeMap::new() }
    }

    /// Lists programs and definitions: the open ones, and those in the editor's folders and below.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files: BTreeSet<PathBuf> = self.documents.keys().cloned().collect();
        let mut folders: VecDeque<PathBuf> = self.folders.iter().cloned().collect();
        let mut seen = 0;
        while let Some(folder) = folders.pop_front() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                seen += 1;
                let (path, kind) = (entry.path(), entry.file_type());
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let is_made = ["target", "node_modules"].iter().any(|name| entry.file_name() == *name);
                // Links are not followed: one may lead back to its own folder.
                match kind {
                    Ok(kind) if kind.is_dir() && !is_hidden && !is_made => folders.push_back(path),
                    Ok(kind) if kind.is_file() && (is_assembly(&path) || is_definition(&path)) => {
                        files.insert(path);
                    }
                    _ => {}
                }
                // The user may have opened the root of a disk.
                if seen > MAX_ENTRIES {
                    return files.into_iter().collect();
                }
            }
        }
        files.into_iter().collect()
    }

    /// Returns the definition that this file belongs to: itself if it names a machine, or one beside it that includes
    /// it.
    pub(crate) fn main_definition_of(&self, path: &Path) -> PathBuf {
        let is_whole =
            |text: &str| text.lines().any(|line| line.trim_start().split([' ', '\t']).next() == Some("machine"));
        if self.text(path).is_none_or(|text| is_whole(&text)) {
            return path.to_owned();
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let includes = |other: &PathBuf| {
            self.text(other).is_some_and(|text| is_whole(&text) && text.contains(&format!("\"{name}\"")))
        };
        self.beside(path, is_definition).into_iter().find(includes).unwrap_or_else(|| path.to_owned())
    }

    /// Says what these changes would break in the program or definition of a file, or that they would change the
    /// program; `None` if it is broken already.
    pub(crate) fn problem_with(&self, path: &Path, changed: BTreeMap<PathBuf, String>) -> Option<String> {
        let first_error = |diagnostics: Vec<Diagnostic>| {
            let error = diagnostics.into_iter().find(|one| one.severity() == Severity::Error)?;
            Some(format!("something would be wrong: {}", error.message))
        };
        if is_definition(path) {
            let main = self.main_definition_of(path);
            let checked = self.check(&main)?;
            if checked.diagnostics.iter().any(|one| one.severity() == Severity::Error) {
                return None;
            }
            let again = |source: &Source| {
                let text = changed.get(&main.with_file_name(&source.name)).unwrap_or(&source.text);
                Source::new(source.name.clone(), text.clone())
            };
            let sources: Vec<Source> = checked.written.sources.iter().map(again).collect();
            return first_error(lathe_isa::load_again(&sources).diagnostics.into_sorted());
        }
        let (main, program) = (self.main_of(path), self.program(path)?);
        let (machine, before) = (self.machine(path)?, program.assembled.image.as_ref()?);
        let text = changed.get(&main).cloned().or_else(|| Some(self.text(&main)?.into_owned()))?;
        let project = Project { changed, ..self.project(&main) };
        let name = main.file_name()?.to_string_lossy().into_owned();
        let assembled = lathe_asm::assemble(&machine.isa, &project, Source::new(name, text), &Options::default());
        match assembled.image {
            None => first_error(assembled.diagnostics.into_sorted()),
            Some(after) if after.segments != before.segments => Some("the program would be another".to_owned()),
            Some(_) => None,
        }
    }

    /// Returns the text of a file: from the editor, or else from disk.
    pub(crate) fn text(&self, path: &Path) -> Option<Cow<'_, str>> {
        match self.documents.get(path) {
            Some(document) => Some(Cow::Borrowed(&document.text)),
            None => String::from_utf8(read(path).ok()?).ok().map(Cow::Owned),
        }
    }

    /// Returns the machine of a program: the one it names, or that of the program that includes it.
    pub(crate) fn machine(&self, path: &Path) -> Option<Rc<Machine>> {
        let main = self.main_of(path);
        let text = self.text(&main)?;
        self.machine_named(machine_directive(&text)?, &main)
    }

    fn machine_named(&self, name: &str, program: &Path) -> Option<Rc<Machine>> {
        let Some(machine) = lathe_machines::find(name) else {
            return self.check(&program.with_file_name(format!("{name}.isa")))?.machine.clone();
        };
        if let Some(known) = self.shipped.borrow().get(machine.name) {
            return Some(Rc::clone(known));
        }
        let loaded = lathe_isa::load_with(machine.source(), &lathe_machines::Shipped);
        let made = Rc::new(Machine::new(loaded.isa?, Rc::new(loaded.written), None));
        self.shipped.borrow_mut().insert(machine.name, Rc::clone(&made));
        Some(made)
    }

    /// Returns the file to assemble for this one: itself if it names a machine, or a program beside it that includes
    /// it.
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
        self.beside(path, is_assembly).into_iter().find(includes).unwrap_or_else(|| path.to_owned())
    }

    /// Lists files of one kind in the same folder.
    fn beside(&self, path: &Path, is_of_kind: fn(&Path) -> bool) -> Vec<PathBuf> {
        let Some(folder) = path.parent() else { return Vec::new() };
        let on_disk = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
        let open = self.documents.keys().filter(|path| path.parent() == Some(folder)).cloned();
        let mut all: Vec<PathBuf> = on_disk.chain(open).filter(|path| is_of_kind(path)).collect();
        all.sort();
        all.dedup();
        all.truncate(200);
        all
    }

    /// Assembles the program that a file belongs to.
    pub(crate) fn program(&self, path: &Path) -> Option<Rc<Program>> {
        let main = self.main_of(path);
        if let Some(known) = self.programs.borrow().get(&main) {
            return Some(Rc::clone(known));
        }
        let machine = self.machine(&main).filter(|machine| machine.is_sound)?;
        let folder = main.parent()?.to_owned();
        let project = self.project(&main);
        let name = main.file_name()?.to_string_lossy().into_owned();
        let source = Source::new(name, self.text(&main)?);
        let mut all = self.known_lines.borrow_mut();
        let (before, known) = all.entry(main.clone()).or_insert_with(|| (Rc::clone(&machine), KnownLines::default()));
        if !Rc::ptr_eq(before, &machine) {
            (*before, *known) = (Rc::clone(&machine), KnownLines::default());
        }
        let assembled = assemble_again(&machine.isa, &project, source, &Options::default(), known);
        let program = Rc::new(Program { assembled, folder });
        self.programs.borrow_mut().insert(main, Rc::clone(&program));
        Some(program)
    }

    /// Checks a definition like `lathe check`, with what it extends and includes: files beside it, and machines that
    /// come with Lathe.
    pub(crate) fn check(&self, path: &Path) -> Option<Rc<Checked>> {
        let text = self.text(path)?;
        // A file that is not open may have changed on disk.
        let is_same = |known: &&Rc<Checked>| known.written.sources.first().is_some_and(|main| main.text == text);
        if let Some(known) = self.definitions.borrow().get(path).filter(is_same) {
            return Some(Rc::clone(known));
        }
        let name = path.file_name().map_or("definition".into(), |name| name.to_string_lossy());
        let project = self.project(path);
        let mut all = self.known_meanings.borrow_mut();
        let known = all.entry(path.to_owned()).or_default();
        let mut loaded = lathe_isa::load_known(Source::new(name, text), &WithShipped(&project), known);
        drop(all);
        let written = Rc::new(loaded.written);
        if let Some(isa) = loaded.isa {
            loaded.diagnostics.extend(lathe_vm::examples::check(&isa));
            let machine = Machine::new(isa, Rc::clone(&written), Some(path.to_owned()));
            self.sound.borrow_mut().insert(path.to_owned(), Rc::new(machine));
        }
        let partial = |isa: Isa| {
            let machine = Machine::new(isa, Rc::clone(&written), Some(path.to_owned()));
            Rc::new(Machine { is_sound: false, ..machine })
        };
        let machine = self.sound.borrow().get(path).cloned().or_else(|| loaded.partial.map(partial));
        let checked =
            Rc::new(Checked { diagnostics: loaded.diagnostics.into_sorted(), written, names: loaded.names, machine });
        self.definitions.borrow_mut().insert(path.to_owned(), Rc::clone(&checked));
        Some(checked)
    }
}

/// The files of a program: those in the editor take precedence over those on disk, and none are outside its folder.
pub(crate) struct Project<'w> {
    workspace: &'w Workspace,
    folder: &'w Path,
    /// Texts that take precedence over both.
    changed: BTreeMap<PathBuf, String>,
}

impl Files for Project<'_> {
    fn open(&self, from: &str, name: &str) -> Result<Found, FileError> {
        let written = Path::new(from).parent().unwrap_or(Path::new("")).join(name);
        let mut relative = PathBuf::new();
        for part in written.components() {
            let inside = match part {
                Component::Normal(name) => {
                    relative.push(name);
                    true
                }
                Component::CurDir => true,
                Component::ParentDir => relative.pop(),
                Component::RootDir | Component::Prefix(_) => false,
            };
            if !inside {
                return Err(FileError("it is outside of the project's folder".to_owned()));
            }
        }
        let path = self.folder.join(&relative);
        let open = || self.workspace.documents.get(&path).map(|document| &document.text);
        let bytes = match self.changed.get(&path).or_else(open) {
            Some(text) => text.clone().into_bytes(),
            None => read(&path)?,
        };
        Ok(Found { name: relative.to_string_lossy().into_owned(), bytes })
    }
}

/// Reads a plain file. A pipe might never be written, and a device may have no end.
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

/// Whether a file is a program, by its name.
pub(crate) fn is_assembly(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| ["asm", "s", "a", "inc"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Whether a file is a definition, by its name.
pub(crate) fn is_definition(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("isa"))
}

/// Returns the name after `.machine`, which only comments may precede.
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

    /// Opening a stranger's folder must not make the server wait, or read without end.
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
            let project = Project { workspace: &workspace, folder: &path, changed: BTreeMap::new() };
            let opened = ["pipe", "zeros"].map(|name| project.open("main.asm", name).map(|_| ()));
            let texts = ["pipe", "zeros"].map(|name| workspace.text(&path.join(name)).map(Cow::into_owned));
            send.send((opened, texts)).unwrap();
        });
        let (opened, texts) = receive.recv_timeout(Duration::from_secs(120)).expect("nothing is waited for");
        let refused = || Err(FileError("it is not a plain file".to_owned()));
        assert_eq!((opened, texts), ([refused(), refused()], [None, None]));
    }
}
