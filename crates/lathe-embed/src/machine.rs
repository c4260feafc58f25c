//! A machine: what all of its instances share.

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

/// An instruction set that has been checked. Its instances share it; a copy is the same machine, and
/// can be used from another thread.
#[derive(Clone, Debug)]
pub struct Machine {
    isa: Arc<Isa>,
}

impl Machine {
    /// A machine from the text of its definition.
    ///
    /// # Errors
    /// If the definition has errors, or one of its examples fails.
    pub fn define(text: &str) -> Result<Machine, Error> {
        Machine::define_with("definition", text, &MemoryFiles::default())
    }

    /// A machine from the text of its definition under a name. What it extends and includes comes from `files`,
    /// or is one of the machines that come with Lathe.
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

    /// One of the machines that come with Lathe.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn built_in(name: &str) -> Result<Machine, Error> {
        let found = lathe_machines::find(name).ok_or_else(|| {
            let near = nearest(name, lathe_machines::every().map(|machine| machine.name));
            let nearest = lathe_machines::every().map(|machine| machine.name).find(|known| Some(*known) == near);
            Error::UnknownMachine { name: name.to_owned(), nearest }
        })?;
        Machine::define(found.definition)
    }

    /// Its instruction set.
    pub fn isa(&self) -> &Arc<Isa> {
        &self.isa
    }

    /// Assembles a program that is one piece of text.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn assemble(&self, text: &str) -> Result<Image, Error> {
        self.assemble_with("program", text, &MemoryFiles::default())
    }

    /// Assembles a program under a name; what it includes comes from `files`.
    ///
    /// # Errors
    /// If the program has errors.
    pub fn assemble_with(&self, name: &str, text: &str, files: &dyn Files) -> Result<Image, Error> {
        let assembled = assemble(&self.isa, files, Source::new(name, text), &Options::default());
        assembled.image.ok_or_else(|| Error::Program(findings(assembled.diagnostics, &assembled.sources)))
    }

    /// Reads an image in one of the formats that can be read.
    ///
    /// # Errors
    /// If it is not sound, or does not fit this machine.
    pub fn read_image(&self, format: Format, bytes: &[u8]) -> Result<Image, Error> {
        formats::read(format, bytes, &self.isa).map_err(Error::Image)
    }

    /// An instance at reset, on the fastest engine there is.
    pub fn instance(&self) -> Instance {
        Instance::on(EngineKind::Auto.build(&self.isa).expect("there is always one"))
    }

    /// Many instances that share what is compiled.
    pub fn fleet(&self) -> Fleet {
        Fleet::new(&self.isa)
    }

    /// An instance at reset, on an engine of choice.
    ///
    /// # Errors
    /// If the engine cannot be had.
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
