//! What a page offers as files.

use lathe_asm::formats::{self, Format, FormatError, FormatOptions, identity, memories_to_write};
use lathe_asm::{Assembled, Image};
use lathe_debug::Problem;
use lathe_isa::model::MemoryId;
use serde::Serialize;

use crate::checking::Machine;

/// A file.
#[derive(Debug, Serialize)]
pub(crate) struct File {
    name: String,
    /// Characters whose codes are the bytes.
    bytes: String,
}

fn file(name: String, bytes: &[u8]) -> File {
    File { name, bytes: bytes.iter().map(|byte| char::from(*byte)).collect() }
}

/// Returns the machine as a datasheet, card or hardware, or the program in one of the formats.
// A page has this function, and all that only this function uses, a moment after it opens (`web/build/split.mjs`).
#[inline(never)]
pub(crate) fn download(what: &str, machine: &mut Machine, program: Option<&Assembled>) -> Result<Vec<File>, Problem> {
    let name = machine.isa.name.clone();
    let page = |extension: &str, text: String| vec![file(format!("{name}{extension}"), text.as_bytes())];
    match what {
        "datasheet" => Ok(page(".html", lathe_doc::html(machine.sheet()))),
        "card" => Ok(page("-card.html", lathe_doc::card_html(machine.sheet()))),
        "hardware" => hardware(machine, program.and_then(|program| program.image.as_ref())),
        "model" => Ok(page(".json", lathe_doc::json(machine.sheet()))),
        _ => {
            let format = Format::named(what).map_err(problem)?;
            let missing = || Problem::new("the program has errors").help("correct them first");
            let program = program.ok_or_else(missing)?;
            let image = program.image.as_ref().ok_or_else(missing)?;
            image_files(format, image, machine, program)
        }
    }
}

/// Returns the core and what surrounds it, with the program in its memories if there is one.
fn hardware(machine: &Machine, image: Option<&Image>) -> Result<Vec<File>, Problem> {
    let program = image.map_or_else(lathe_hdl::Program::default, |image| lathe_hdl::Program {
        cells: (0..machine.isa.memories.len() as u32).map(|id| image.cells_of(MemoryId(id)).collect()).collect(),
        entry: Some(image.start(&machine.isa)),
        registers: image.at_reset(&machine.isa).map(|reset| reset.registers).unwrap_or_default(),
        board_bits: None,
    });
    let sources = machine.sources();
    let design = lathe_hdl::generate(&machine.isa, sources, &program).map_err(|found| {
        let line = sources.get(found.place.file.0 as usize).map(|source| source.line_column(found.place.start).0);
        let place = line.map_or_else(String::new, |line| format!("line {line} of the definition: "));
        Problem::new(format!("{place}{}", found.what)).help(found.help)
    })?;
    Ok(design.files.into_iter().map(|made| file(made.name, made.text.as_bytes())).collect())
}

fn image_files(format: Format, image: &Image, machine: &Machine, program: &Assembled) -> Result<Vec<File>, Problem> {
    let memories = memories_to_write(format, image, &machine.isa);
    let several = memories.len() > 1;
    let one = |memory: Option<MemoryId>| {
        let definition = Some(identity(&machine.text));
        let options = FormatOptions { memory, definition, ..FormatOptions::default() };
        let bytes = formats::write(format, image, &machine.isa, &program.sources, &options).map_err(problem)?;
        let part = memory.filter(|_| several).map(|memory| format!("-{}", machine.isa.memory(memory).name));
        Ok(file(format!("program{}.{}", part.unwrap_or_default(), format.extension()), &bytes))
    };
    memories.into_iter().map(one).collect()
}

fn problem(error: FormatError) -> Problem {
    Problem::new(error.cause).help(error.next_step)
}
