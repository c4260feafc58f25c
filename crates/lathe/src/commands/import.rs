//! `lathe import`: turns what was written for another tool into the start of a definition.

use std::path::Path;

use lathe_base::{Source, limits};
use lathe_export::Finding;
use serde::Serialize;
use serde_json::json;

use super::Outcome;
use super::asm::FileData;
use crate::arguments::{Format, Import, ImportTool};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::output;

/// Something not carried over, as data.
#[derive(Serialize)]
struct FindingData<'f> {
    line: usize,
    column: usize,
    message: &'f str,
}

/// Writes the definition.
pub(super) fn execute(arguments: &Import) -> Outcome {
    let ImportTool::Customasm = arguments.tool;
    let title = files::title(&arguments.file);
    let text = files::read_text(&arguments.file, limits::DEFINITION_BYTES as u64)?;
    let source = Source::new(title, text);
    let out = arguments.output.as_deref().filter(|name| *name != files::STANDARD);
    if let Some(name) = out.filter(|name| Path::new(name).exists()) {
        let failure = Failure::usage(format!("{name} exists already"));
        return Err(failure.help("an import would replace what you wrote there; name a new file with `-o`"));
    }
    let import = match lathe_export::import_customasm(title, &source.text) {
        Ok(import) => import,
        Err(findings) => {
            tell(&source, &findings);
            let failure = Failure::input(format!("no rule of {title} became an instruction"));
            return Err(failure.help("rules stand in a `#ruledef` block: `add {d: reg}, {v: u8} => 0x1 @ d @ v`"));
        }
    };
    let definition = lathe_fmt::definition(&import.text);
    let written = out.map(|name| Whole { name: name.to_owned(), bytes: definition.clone().into_bytes() });
    let files: Vec<Whole> = written.into_iter().collect();
    files::write_all(&files)?;
    match arguments.format.format {
        Format::Text => {
            tell(&source, &import.findings);
            files.iter().for_each(|file| output::complain(&format!("wrote {}\n", file.name)));
            if files.is_empty() {
                output::answer(&definition)?;
            }
        }
        Format::Json => {
            let text = files.is_empty().then_some(&definition);
            let files: Vec<_> =
                files.iter().map(|file| FileData { name: &file.name, bytes: file.bytes.len() }).collect();
            let missing: Vec<FindingData> = import.findings.iter().map(|finding| data(&source, finding)).collect();
            output::answer(&output::json(&json!({ "ok": true, "files": files, "text": text, "missing": missing }))?)?;
        }
    }
    Ok(Exit::Done)
}

fn data<'f>(source: &Source, finding: &'f Finding) -> FindingData<'f> {
    let before = source.text.get(..finding.at).unwrap_or(&source.text);
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    FindingData { line: before.matches('\n').count() + 1, column, message: &finding.message }
}

fn tell(source: &Source, findings: &[Finding]) {
    for FindingData { line, column, message } in findings.iter().map(|finding| data(source, finding)) {
        output::complain(&format!("warning: {}:{line}:{column}: not imported: {message}\n", source.name));
    }
}
