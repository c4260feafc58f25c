//! The instruction-set language: from the text of a definition to a typed model, with its decoder, encoder and checks.
//!
//! ```
//! let text = r#"
//! machine tiny "One register that counts"
//! memory ram : u8 -> u8
//! pc pc : u8 in ram
//! register a : u8
//! instructions {
//!   inc  | 0000 0001 | a = a + 1
//!   halt | 0000 0000 | halt
//! }
//! "#;
//! let loaded = lathe_isa::load(text);
//! let isa = loaded.isa.expect("nothing is wrong with it");
//! let inc = isa.decode(lathe_isa::encoding::window([1], isa.code_memory().cell)).unwrap();
//! assert_eq!(isa.instruction(inc.instruction).syntax.mnemonic(), "inc");
//! ```
//!
//! Deliberately absent: machine state and execution (`lathe-vm`), programs (`lathe-asm`), and input and output of any
//! kind. The parser and the checker never fail; they return what they could make and a list of diagnostics.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod codes;
pub mod compile;
pub mod coverage;
pub mod decode;
mod elaborate;
pub mod encoding;
pub mod language;
pub mod matching;
pub mod model;
pub mod names;
pub mod operand;
pub mod operators;
pub mod pseudo;
pub mod reset;
pub mod semantics;
mod simplify;
pub mod specialize;
pub mod syntax;
pub mod values;
pub mod words;
pub mod written;

use std::cell::Cell;

use lathe_base::files::{Files, MemoryFiles};
use lathe_base::{Diagnostics, Source};

pub use elaborate::KnownMeanings;
pub use model::Isa;
pub use written::Written;

use elaborate::Elaborated;
use names::Resolved;

/// The result of reading a definition.
#[derive(Debug)]
pub struct Loaded {
    /// The model, if there was no error: for tools that assemble and run.
    pub isa: Option<Isa>,
    /// What could be made of a definition with errors, for tools that show it: rows and items that could not be
    /// understood are missing, rows whose meanings could not be are marked, and encodings may overlap. Nothing is
    /// missing only if this is `None` and `isa` is present.
    pub partial: Option<Isa>,
    /// Every name with its declaration and uses, whether there are errors or not.
    pub names: Resolved,
    /// The files of the definition, and their tree.
    pub written: Written,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
}

impl Loaded {
    /// Returns the model, sound or not, for tools that only show it.
    pub fn shown(&self) -> Option<&Isa> {
        self.isa.as_ref().or(self.partial.as_ref())
    }
}

/// Reads and checks a definition in a single text. Examples are checked for form, but not run.
pub fn load(text: &str) -> Loaded {
    load_with(Source::new("definition", text), &MemoryFiles::default())
}

/// Reads and checks a definition again, from the files that it was made of: [`Written::sources`].
pub fn load_again(sources: &[Source]) -> Loaded {
    let Some((main, others)) = sources.split_first() else { return load("") };
    load_with(main.clone(), &written::Again(Cell::new(others)))
}

/// Reads and checks a definition; the files that it extends and includes come from `files`. Examples are checked for
/// form, but not run.
pub fn load_with(main: Source, files: &dyn Files) -> Loaded {
    load_changed(main, files, None)
}

/// Reads and checks a definition that has changed a little since the last time, reusing what is known from then. The
/// result is that of [`load_with`].
pub fn load_known(main: Source, files: &dyn Files, known: &mut KnownMeanings) -> Loaded {
    load_changed(main, files, Some(known))
}

fn load_changed(main: Source, files: &dyn Files, known: Option<&mut KnownMeanings>) -> Loaded {
    let mut diagnostics = Diagnostics::default();
    let written = written::read(main, files, &mut diagnostics);
    let Elaborated { isa, names } = elaborate::elaborate(&written, None, known, &mut diagnostics);
    let (isa, partial) = if diagnostics.has_errors() { (None, isa) } else { (isa, None) };
    Loaded { isa, partial, names, written, diagnostics }
}
