//! `lathe new`: a folder with a small working machine, a program for it, and a test.

use std::path::Path;

use super::Outcome;
use crate::arguments::{Format, New};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::output;

/// The files of the folder. `NAME` stands for the name of the machine, also in file names.
const TEMPLATE: [(&str, &str); 3] = [
    ("NAME.isa", include_str!("../../template/machine.isa")),
    ("hello.asm", include_str!("../../template/hello.asm")),
    ("README.md", include_str!("../../template/README.md")),
];

/// Makes the folder.
pub(super) fn execute(arguments: &New) -> Outcome {
    let folder = Path::new(&arguments.name);
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    check_name(&name)?;
    make(folder)?;
    let file = |(title, text): &(&str, &str)| Whole {
        name: folder.join(title.replace("NAME", &name)).to_string_lossy().into_owned(),
        bytes: text.replace("NAME", &name).into_bytes(),
    };
    let made: Vec<Whole> = TEMPLATE.iter().map(file).collect();
    files::write_all(&made)?;
    let names: Vec<&str> = made.iter().map(|file| file.name.as_str()).collect();
    output::answer(&match arguments.format.format {
        Format::Json => output::json(&serde_json::json!({ "machine": name, "files": names }))?,
        Format::Text => {
            let made: String = names.iter().map(|name| format!("made {name}\n")).collect();
            format!("{made}\nNow try:\n  cd {}\n  lathe run hello.asm\n  lathe test\n", arguments.name)
        }
    })?;
    Ok(Exit::Done)
}

/// Checks that programs can say `.machine NAME` and mean this machine.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_word {
        let message = format!("`{name}` cannot be the name of a machine");
        return Err(Failure::usage(message).help("use letters, digits and _, with a letter first, as in `mine8`"));
    }
    if lathe_machines::find(name).is_some() {
        let message = format!("a machine `{name}` comes with Lathe already");
        return Err(Failure::usage(message).help(format!("choose another name, such as `my_{name}`")));
    }
    Ok(())
}

/// Creates the folder; an empty one may exist already, and nothing is overwritten.
fn make(folder: &Path) -> Result<(), Failure> {
    let shown = folder.display();
    if folder.read_dir().is_ok_and(|mut entries| entries.next().is_none()) {
        return Ok(());
    }
    if folder.exists() {
        return Err(Failure::usage(format!("{shown} exists already")).help("choose another name"));
    }
    std::fs::create_dir(folder).map_err(|error| {
        Failure::input(format!("the folder {shown} cannot be made: {}", files::reason(&error)))
            .help("check that the folder around it exists and can be written")
    })
}

#[cfg(test)]
mod tests {
    use lathe_base::Source;

    use super::*;
    use crate::machine;

    #[test]
    fn the_machine_has_no_errors_and_no_warnings() {
        let checked = machine::check(
            Source::new("mine.isa", TEMPLATE[0].1.replace("NAME", "mine")),
            &crate::inputs::Inputs::default(),
        );
        assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
        assert!(!checked.isa.expect("there is one").examples.is_empty());
    }
}
