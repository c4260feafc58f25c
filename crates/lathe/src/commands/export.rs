//! `lathe export`: a machine, written for another tool.

use std::path::Path;

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
    let export = match arguments.tool {
        ExportTool::Customasm => lathe_export::customasm(&machine.isa),
    };
    let file = arguments.output.as_deref().filter(|name| *name != files::STANDARD);
    if let Some(name) = file {
        if Path::new(name) == Path::new(&machine.definition().name) {
            return Err(Failure::usage(format!("{name} is the definition itself")).help("give another name with `-o`"));
        }
        files::write_all(&[Whole { name: name.to_owned(), bytes: export.text.clone().into_bytes() }])?;
    }
    match arguments.format.format {
        Format::Text => {
            export.missing.iter().for_each(|line| output::complain(&format!("warning: not exported: {line}\n")));
            match file {
                Some(name) => output::complain(&format!("wrote {name}\n")),
                None => output::answer(&export.text)?,
            }
        }
        Format::Json => {
            let files: Vec<_> = file.iter().map(|name| FileData { name, bytes: export.text.len() }).collect();
            let text = file.is_none().then_some(export.text);
            let answer = json!({
                "ok": true, "machine": machine.isa.name, "files": files, "text": text, "missing": export.missing,
            });
            output::answer(&output::json(&answer)?)?;
        }
    }
    Ok(Exit::Done)
}
