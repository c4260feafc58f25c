//! `lathe export`: a machine, written for another tool.

use std::path::Path;

use lathe_isa::Isa;
use serde_json::json;

use super::Outcome;
use super::asm::FileData;
use crate::arguments::{Export, ExportTool, Format};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::{machine, output};

/// Writes the machine.
pub(super) fn execute(arguments: &Export) -> Outcome {
    let machine = machine::open(&arguments.machine.machine)?;
    let export = export(arguments.tool, &machine.isa)?;
    let out = arguments.output.as_deref().filter(|name| *name != files::STANDARD);
    let (files, text) = match (out, &export.files[..]) {
        (None, [only]) => (Vec::new(), Some(&only.text)),
        (None, _) => {
            let failure = Failure::usage("this tool needs several files");
            return Err(failure.help("name a folder for them with `-o`"));
        }
        (Some(name), [only]) => (vec![Whole { name: name.to_owned(), bytes: only.text.clone().into_bytes() }], None),
        (Some(folder), all) => (in_folder(folder, all)?, None),
    };
    if let Some(file) = files.iter().find(|file| Path::new(&file.name) == Path::new(&machine.definition().name)) {
        let failure = Failure::usage(format!("{} is the definition itself", file.name));
        return Err(failure.help("give another name with `-o`"));
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

/// The files below a folder, which is made.
fn in_folder(folder: &str, all: &[lathe_export::File]) -> Result<Vec<Whole>, Failure> {
    let file = |file: &lathe_export::File| {
        let path = Path::new(folder).join(&file.name);
        let parent = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(parent).map_err(|error| {
            let message = format!("the folder {} cannot be made: {}", parent.display(), files::reason(&error));
            Failure::input(message).help("give another name with `-o`")
        })?;
        Ok(Whole { name: path.to_string_lossy().into_owned(), bytes: file.text.clone().into_bytes() })
    };
    all.iter().map(file).collect()
}
