//! Programs: from assembly to an image, from an image back to assembly, and images in the usual file formats.
//!
//! ```
//! use lathe_asm::{Options, assemble};
//! use lathe_base::{Source, files::MemoryFiles};
//!
//! let isa = lathe_isa::load_with(lathe_machines::find("hex8").unwrap().source(), &lathe_machines::Shipped).isa.unwrap();
//! let source = Source::new("hello.asm", "start: loadimm r1, 'H'\n output r1\n jmp $");
//! let assembled = assemble(&isa, &MemoryFiles::default(), source, &Options::default());
//! let image = assembled.image.expect("nothing is wrong with it");
//! assert_eq!(image.segments[0].cells, [0x11, 0x48, 0x01, 0x80, 0x00, 0x03]);
//! ```
//!
//! Deliberately absent: running anything (`lathe-vm`), files and terminals (the binary). Everything specific to a
//! machine comes from its `Isa`.

#![warn(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod codes;
pub mod disassembler;
mod expression;
pub mod formats;
mod forms;
pub mod image;
pub mod labels;
mod layout;
pub mod lines;
pub mod names;
mod parser;
mod program;
mod reader;
mod symbols;
pub mod tokens;
pub mod words;

use lathe_base::files::Files;
use lathe_base::{Diagnostics, Source};
use lathe_isa::Isa;

pub use disassembler::{Method, disassemble};
pub use image::{Image, Segment, Symbol, SymbolKind};
pub use labels::Labels;
pub use layout::Overlap;
pub use lines::{Call, CallKind, Line, LineKind, Lines};
pub use names::{Name, NameKind};
pub use reader::KnownLines;

/// How to assemble.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Constants given from outside the program.
    pub definitions: Vec<(String, i128)>,
    /// What to do when two segments claim one address.
    pub overlap: Overlap,
    /// Whether to collect the names, which takes a while for a long program.
    pub names: bool,
}

/// The result of assembling a program.
#[derive(Debug)]
pub struct Assembled {
    /// The image, if there was no error.
    pub image: Option<Image>,
    /// The image despite errors: without the lines that cannot be read, and with zeros for unknown values.
    pub partial: Option<Image>,
    /// The names of the program, if [`Options::names`] asks for them.
    pub names: Vec<Name>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// The sources that were read; spans refer to them by position.
    pub sources: Vec<Source>,
}

/// Assembles a program for a machine. Included files come from `files`.
pub fn assemble(isa: &Isa, files: &dyn Files, main: Source, options: &Options) -> Assembled {
    assembled(isa, files, main, options, None)
}

/// Assembles like [`assemble`], but faster when most lines are unchanged since an earlier call with the same `known`,
/// which belongs to one machine: for editors, which assemble at every keystroke.
pub fn assemble_again(
    isa: &Isa,
    files: &dyn Files,
    main: Source,
    options: &Options,
    known: &mut KnownLines,
) -> Assembled {
    known.begin();
    assembled(isa, files, main, options, Some(known))
}

fn assembled(
    isa: &Isa,
    files: &dyn Files,
    main: Source,
    options: &Options,
    known: Option<&mut KnownLines>,
) -> Assembled {
    let mut diagnostics = Diagnostics::default();
    let mut read = reader::read(isa, files, main, &options.definitions, known, &mut diagnostics);
    let image = layout::lay_out(isa, &mut read.program, options.overlap, &mut diagnostics);
    let has_errors = diagnostics.has_errors();
    if !has_errors {
        reader::unused_labels(&read.program, &image, isa, &mut diagnostics);
    }
    let names = if options.names { names::of(&mut read.program) } else { Vec::new() };
    let (image, partial) = if has_errors { (None, Some(image)) } else { (Some(image), None) };
    Assembled { image, partial, names, diagnostics, sources: read.sources }
}
