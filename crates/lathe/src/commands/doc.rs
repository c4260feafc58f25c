//! `lathe doc`: the datasheet of a machine.

use std::path::Path;

use lathe_doc::Sheet;

use super::Outcome;
use super::asm::FileData;
use crate::arguments::{Doc, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::{machine, output};

/// Writes the datasheet.
pub(super) fn execute(arguments: &Doc) -> Outcome {
    let inputs = Inputs::default();
    let machine = machine::open_noting(&arguments.machine.machine, &inputs)?;
    let sheet = Sheet::new(&machine.isa, &machine.written);
    let Some(name) = arguments.output.as_deref().filter(|name| *name != files::STANDARD) else {
        output::answer(&match () {
            () if arguments.answer() == Format::Json && arguments.card => return Err(card_is_no_json()),
            () if arguments.answer() == Format::Json => lathe_doc::json(&sheet),
            () if arguments.card => lathe_doc::card_html(&sheet),
            () => lathe_doc::html(&sheet),
        })?;
        return Ok(Exit::Done);
    };
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let all = match extension.as_deref() {
        Some(extension) => vec![(name.to_owned(), one(&sheet, arguments, extension, name)?)],
        None => in_folder(&sheet, name),
    };
    all.iter().try_for_each(|(file, _)| inputs.check_spared(file, "-o"))?;
    if extension.is_none() {
        make(name)?;
    }
    let all: Vec<Whole> = all.into_iter().map(|(name, text)| Whole { name, bytes: text.into_bytes() }).collect();
    files::write_all(&all)?;
    match arguments.format.format {
        Format::Text => all.iter().for_each(|file| output::complain(&format!("wrote {}\n", file.name))),
        Format::Json => {
            let files: Vec<_> = all.iter().map(|file| FileData { name: &file.name, bytes: file.bytes.len() }).collect();
            let answer = serde_json::json!({ "ok": true, "machine": machine.isa.name, "files": files });
            output::answer(&output::json(&answer)?)?;
        }
    }
    Ok(Exit::Done)
}

fn card_is_no_json() -> Failure {
    Failure::usage("a reference card is HTML or SVG, so it cannot be the answer in JSON")
        .help("name a file for it with `-o`")
}

/// Renders the text for a file of this kind.
fn one(sheet: &Sheet, arguments: &Doc, extension: &str, name: &str) -> Result<String, Failure> {
    Ok(match extension {
        "json" => lathe_doc::json(sheet),
        "svg" => lathe_doc::card_svg(sheet),
        "html" | "htm" if arguments.card => lathe_doc::card_html(sheet),
        "html" | "htm" if arguments.json => lathe_doc::json(sheet),
        "html" | "htm" => lathe_doc::html(sheet),
        "md" | "markdown" => lathe_doc::markdown(sheet),
        _ => {
            let failure = Failure::usage(format!("the name {name} does not say in which format to write"));
            return Err(failure.help("name it .html, .md, .svg or .json, or give a folder"));
        }
    })
}

fn make(folder: &str) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("the folder {folder} cannot be made: {}", files::reason(&error));
        Failure::input(message).help("give another name with `-o`")
    })
}

/// Renders everything, for a folder.
fn in_folder(sheet: &Sheet, folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(folder);
    let file = |ending: &str| folder.join(format!("{}{ending}", sheet.name)).to_string_lossy().into_owned();
    vec![
        (file(".html"), lathe_doc::html(sheet)),
        (file(".md"), lathe_doc::markdown(sheet)),
        (file("-card.html"), lathe_doc::card_html(sheet)),
        (file("-card.svg"), lathe_doc::card_svg(sheet)),
        (file(".json"), lathe_doc::json(sheet)),
    ]
}
