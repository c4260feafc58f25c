//! A machine: what all its instances share.

use std::sync::Arc;

use lathe_asm::formats::{self, Format};
use lathe_asm::{Image, Options, assemble};
use lathe_base::files::{Files, MemoryFiles};
use lathe_base::{Source, nearest};
use lathe_isa::Isa;
use lathe_machines::WithShipped;

use crate::engine::EngineKind;
use crate::error::{Error, findings};
use crate::fleet::Fleet;
use crate::instance::Instance;

/// A checked instruction set. Its instances share it; a clone is the same machine, and can be used from another thread.
#[derive(Clone, Debug)]
pub struct Machine {
    isa: Arc<Isa>,
}

impl Machine {
    /// Creates a machine from the text of its definition.
    ///
    /// # Errors
    /// If the definition has errors, or one of its examples fails.
    pub fn define(text: &str) -> Result<Machine, Error> {
        Machine::define_with("definition", text, &MemoryFiles::default())
    }

    /// Creates a machine from the text of its definition, under a name. What the definition extends and includes comes
    /// from `files`, or from the machines that ship with Lathe.
    ///
    /// # Errors
    /// If the definition has errors, or one of its examples fails.
    pub fn define_with(name: &str, text: &str, files: &dyn Files) -> Result<Machine, Error> {
        let mut loaded = lathe_isa::load_with(Source::new(name, text), &WithShipped(files));
        if let Some(isa) = &loaded.isa {
            loaded.diagnostics.extend(lathe_vm::examples::check(isa));
        }
        let usable = loaded.isa.filter(|_| !loaded.diagnostics.has_errors());
        let wrong = || Error::Definition(findings(loaded.diagnostics, &loaded.written.sources));
        usable.map(Machine::from).ok_or_else(wrong)
    }

    /// Returns one of the machines that ship with Lathe.
    ///
    /// # Errors
    /// If Lathe ships no machine of this name.
    pub fn built_in(name: &str) -> Result<Machine, Error> {
        let found = lathe_machines::find(name).ok_or_else(|| {
            let near = nearest(name, lathe_machines::every().map(|machine| machine.name));
            let nearest = lathe_machines::every().map(|machine| machine.name).find(|known| Some(*known) == near);
            Error::UnknownMachine { name: name.to_owned(), nearest }
        })?;
        Machine::define(found.definition)
    }

    /// Returns the instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Assembles a program from a single text.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn assemble(&self, text: &str) -> Result<Image, Error> {
        self.assemble_with("program", text, &MemoryFiles::default())
    }

    /// Assembles a program under a name; the files it includes come from `files`.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn assemble_with(&self, name: &str, text: &str, files: &dyn Files) -> Result<Image, Error> {
        let assembled = assemble(&self.isa, files, Source::new(name, text), &Options::default());
        assembled.image.ok_or_else(|| Error::Program(findings(assembled.diagnostics, &assembled.sources)))
    }

    /// Reads an image in one of the readable formats.
    ///
    /// # Errors
    /// If the image is malformed, or does not fit this machine.
    pub fn read_image(&self, format: Format, bytes: &[u8]) -> Result<Image, Error> {
        formats::read(format, bytes, &self.isa).map_err(Error::Image)
    }

    /// Creates an instance at reset, on the fastest available engine.
    pub fn instance(&self) -> Instance {
        Instance::on(EngineKind::Auto.build(&self.isa).expect("there is always one"))
    }

    /// Creates a fleet: instances that share compiled code.
    pub fn fleet(&self) -> Fleet {
        Fleet::new(&self.isa)
    }

    /// Creates an instance at reset, on the given engine.
    ///
    /// # Errors
    /// If the engine is not available.
    pub fn instance_on(&self, kind: EngineKind) -> Result<Instance, Error> {
        Ok(Instance::on(kind.build(&self.isa).map_err(Error::Engine)?))
    }
}

impl From<Isa> for Machine {
    fn from(isa: Isa) -> Machine {
        Machine { isa: Arc::new(isa) }
    }
}

impl From<Arc<Isa>> for Machine {
    fn from(isa: Arc<Isa>) -> Machine {
        Machine { isa }
    }
}
