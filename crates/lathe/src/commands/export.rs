//! `lathe export`: a machine in the format of another tool.

use std::path::Path;

use lathe_isa::Isa;
use serde_json::json;

use super::Outcome;
use super::asm::FileData;
use crate::arguments::{Export, ExportTool, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::{machine, output};

/// Writes the machine.
pub(super) fn execute(arguments: &Export) -> Outcome {
    let inputs = Inputs::default();
    let machine = machine::open_noting(&arguments.machine.machine, &inputs)?;
    let export = export(arguments.tool, &machine.isa)?;
    let out = arguments.output.as_deref().filter(|name| *name != files::STANDARD);
    let (files, text) = match (out, &export.files[..]) {
        (None, [only]) => (Vec::new(), Some(&only.text)),
        (None, _) => {
            let failure = Failure::usage("this tool needs several files");
            return Err(failure.help("name a folder for them with `-o`"));
        }
        (Some(name), [only]) => (vec![Whole { name: name.to_owned(), bytes: only.text.clone().into_bytes() }], None),
        (Some(folder), all) => (in_folder(folder, all), None),
    };
    files.iter().try_for_each(|file| inputs.check_spared(&file.name, "-o"))?;
    if files.len() > 1 {
        files.iter().try_for_each(|file| make_folder_of(&file.name))?;
    }
    files::write_all(&files)?;
    match arguments.format.format {
        Format::Text => {
            export.missing.iter().for_each(|line| output::complain(&format!("warning: not exported: {line}\n")));
            files.iter().for_each(|file| output::complain(&format!("wrote {}\n", file.name)));
            if let Some(text) = text {
                output::answer(text)?;
            }
        }
        Format::Json => {
            let files: Vec<_> =
                files.iter().map(|file| FileData { name: &file.name, bytes: file.bytes.len() }).collect();
            let answer = json!({
                "ok": true, "machine": machine.isa.name, "files": files, "text": text, "missing": export.missing,
            });
            output::answer(&output::json(&answer)?)?;
        }
    }
    Ok(Exit::Done)
}

fn export(tool: ExportTool, isa: &Isa) -> Result<lathe_export::Export, Failure> {
    match tool {
        ExportTool::Customasm => Ok(lathe_export::customasm(isa)),
        ExportTool::Ghidra => lathe_export::ghidra(isa).map_err(|reason| {
            Failure::input(format!("{} cannot be exported for Ghidra: {reason}", isa.name))
                .help("choose a cell width that Ghidra knows, or use the machine with `lathe dis` and `lathe debug`")
        }),
    }
}

/// Returns the files below a folder.
fn in_folder(folder: &str, all: &[lathe_export::File]) -> Vec<Whole> {
    let name = |file: &lathe_export::File| Path::new(folder).join(&file.name).to_string_lossy().into_owned();
    all.iter().map(|file| Whole { name: name(file), bytes: file.text.clone().into_bytes() }).collect()
}

fn make_folder_of(name: &str) -> Result<(), Failure> {
    let Some(folder) = Path::new(name).parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("the folder {} cannot be made: {}", folder.display(), files::reason(&error));
        Failure::input(message).help("give another name with `-o`")
    })
}
