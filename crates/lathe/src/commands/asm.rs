//! `lathe asm`: assembles a program and writes it in one or several formats.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lathe_asm::formats::{self, AddressRange, Format, Interleave, Lane};
use lathe_asm::{Image, Options, Overlap};
use lathe_base::{Source, Width, limits};
use lathe_isa::Isa;

use super::Outcome;
use crate::arguments::Asm;
use crate::exit::{Exit, Failure};
use crate::render::count;
use crate::{files, machine, output, program};

/// How often `--watch` looks at the files. Looking is cheap and works on every file system,
/// which waiting for events of the system does not.
const LOOK: Duration = Duration::from_millis(200);

/// Assembles a program, once or whenever it changes.
pub(super) fn execute(arguments: &Asm) -> Outcome {
    if !arguments.watch {
        return once(arguments).map(|_| Exit::Done).map_err(|(failure, _)| failure);
    }
    if arguments.source == files::STANDARD {
        return Err(Failure::usage("standard input cannot be watched"));
    }
    loop {
        let watched = match once(arguments) {
            Ok(watched) => watched,
            Err((failure, watched)) => {
                output::complain(&crate::render::failure(&failure));
                watched
            }
        };
        wait_for_change(&watched);
    }
}

/// Waits until one of the files is not what it was.
fn wait_for_change(names: &[String]) {
    let look = || -> Vec<Option<(SystemTime, u64)>> {
        let stamp = |name: &String| std::fs::metadata(name).ok().and_then(|data| Some((data.modified().ok()?, data.len())));
        names.iter().map(stamp).collect()
    };
    let before = look();
    output::complain(&format!("watching {}\n", count(names.len(), "file")));
    while look() == before {
        std::thread::sleep(LOOK);
    }
}

/// Assembles once; gives the files it is made of, so that they can be watched.
fn once(arguments: &Asm) -> Result<Vec<String>, (Failure, Vec<String>)> {
    let mut watched = vec![arguments.source.clone()];
    let result = assemble(arguments, &mut watched);
    match result {
        Ok(()) => Ok(watched),
        Err(failure) => Err((failure, watched)),
    }
}

fn assemble(arguments: &Asm, watched: &mut Vec<String>) -> Result<(), Failure> {
    let name = &arguments.source;
    let text = files::read_text(name, limits::SOURCE_BYTES as u64)?;
    let isa = program::machine_of_source(name, &text, arguments.machine.machine.as_deref())?;
    let overlap = if arguments.allow_overlap { Overlap::LaterWins } else { Overlap::Refuse };
    let options = Options { definitions: definitions(&arguments.define)?, overlap };
    let mut assembled = program::assemble_text(&isa, name, text, arguments.root.as_deref(), &options)?;
    watched.extend(assembled.sources.iter().skip(1).map(|source| source.name.clone()));
    let sources = std::mem::take(&mut assembled.sources);
    let kept = sources.clone();
    assembled.sources = sources;
    let image = program::show(assembled, name)?;
    let outputs = outputs(arguments)?;
    for (format, target) in &outputs {
        write(arguments, &isa, &image, &kept, *format, target)?;
    }
    Ok(())
}

/// `NAME=VALUE`, or `NAME` for 1.
fn definitions(given: &[String]) -> Result<Vec<(String, i128)>, Failure> {
    given.iter().map(|text| definition(text)).collect()
}

fn definition(text: &str) -> Result<(String, i128), Failure> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let (digits, sign) = value.strip_prefix('-').map_or((value, 1), |digits| (digits, -1));
    let parsed = crate::arguments::number(digits).map(|number| sign * i128::from(number));
    match parsed {
        Ok(number) if !name.is_empty() => Ok((name.to_owned(), number)),
        _ => Err(Failure::usage(format!("`{text}` is no definition")).help("as in `-D DEBUG` or `-D SIZE=0x100`")),
    }
}

/// The format of this name.
pub(super) fn format_named(name: &str) -> Result<Format, Failure> {
    Format::named(name).map_err(|error| Failure::usage(error.cause).help(error.next_step))
}

/// Each format asked for, with the file it goes to.
fn outputs(arguments: &Asm) -> Result<Vec<(Format, String)>, Failure> {
    let names = arguments.format.iter().flat_map(|list| list.split(','));
    let mut formats: Vec<Format> = names.map(format_named).collect::<Result<_, _>>()?;
    if formats.is_empty() {
        formats.push(arguments.output.as_deref().and_then(Format::of_file_name).unwrap_or(Format::Binary));
    }
    let from_standard = arguments.source == files::STANDARD;
    let stem = match &arguments.output {
        Some(output) if formats.len() == 1 || output == files::STANDARD => return Ok(formats.into_iter().map(|format| (format, output.clone())).collect()),
        Some(output) => PathBuf::from(output),
        None if from_standard => return Ok(formats.into_iter().map(|format| (format, files::STANDARD.to_owned())).collect()),
        None => PathBuf::from(&arguments.source),
    };
    let target = |format: Format| stem.with_extension(format.extension()).to_string_lossy().into_owned();
    let outputs: Vec<(Format, String)> = formats.into_iter().map(|format| (format, target(format))).collect();
    for (at, (format, target)) in outputs.iter().enumerate() {
        if outputs[..at].iter().any(|(_, other)| other == target) || *target == arguments.source {
            let message = format!("`{}` would be written over another file: {target}", format.name());
            return Err(Failure::usage(message).help("write one of them in a run of its own, with `-o`"));
        }
    }
    Ok(outputs)
}

/// Writes one format: one file, or several where memories, chips or lanes are split.
fn write(
    arguments: &Asm,
    isa: &Isa,
    image: &Image,
    sources: &[Source],
    format: Format,
    target: &str,
) -> Result<(), Failure> {
    let failure = |error: formats::FormatError| program::format_failure(target, &error);
    let asked = arguments.memory.as_deref().map(|name| memory_named(isa, name)).transpose()?;
    let memories = match asked {
        Some(memory) => vec![Some(memory)],
        None => formats::memories_to_write(format, image, isa),
    };
    let chips = match arguments.interleave {
        Some(chips) if format.holds_one_memory() => Interleave::all(chips).map_err(failure)?.into_iter().map(Some).collect(),
        _ => vec![None],
    };
    let several = memories.len() > 1;
    for memory in memories {
        let described = isa.memory(memory.unwrap_or(isa.pc.memory));
        let lanes = match arguments.lane.and_then(|bits| Width::new(u64::from(bits))) {
            Some(width) if format.holds_one_memory() => Lane::all(described.cell, width).into_iter().map(Some).collect(),
            _ => vec![None],
        };
        for chip in &chips {
            for lane in &lanes {
                let options = formats::Options {
                    memory,
                    fill: arguments.fill.unwrap_or(0),
                    size: arguments.size,
                    range: arguments.range.map(|(first, last)| AddressRange { first, last }),
                    interleave: *chip,
                    lane: *lane,
                    name: arguments.name.clone().unwrap_or_else(|| "program".to_owned()),
                    definition: definition_text(arguments, isa).map(|text| formats::identity(&text)),
                    ..formats::Options::default()
                };
                let mut part = String::new();
                if several {
                    part.push_str(&format!("-{}", described.name));
                }
                part.extend(chip.map(|chip| format!("-{}", chip.chip)));
                part.extend(lane.map(|lane| format!("-bit{}", lane.low)));
                let bytes = formats::write(format, image, isa, sources, &options).map_err(failure)?;
                let name = with_part(target, &part);
                files::write_whole(&name, &bytes)?;
                if name != files::STANDARD {
                    output::complain(&format!("wrote {name}\n"));
                }
            }
        }
    }
    Ok(())
}

fn memory_named(isa: &Isa, name: &str) -> Result<lathe_isa::model::MemoryId, Failure> {
    isa.memory_named(name).ok_or_else(|| {
        let names: Vec<&str> = isa.memories.iter().map(|memory| memory.name.as_str()).collect();
        Failure::usage(format!("{} has no memory `{name}`", isa.name)).help(format!("it has {}", names.join(", ")))
    })
}

/// The text of the definition, for the image to remember.
fn definition_text(arguments: &Asm, isa: &Isa) -> Option<String> {
    let name = arguments.machine.machine.as_deref().unwrap_or(&isa.name);
    machine::find(name).ok().map(|source| source.text)
}

/// `rom.bin` with the part `-0` is `rom-0.bin`.
fn with_part(target: &str, part: &str) -> String {
    if part.is_empty() || target == files::STANDARD {
        return target.to_owned();
    }
    let path = Path::new(target);
    let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let extension = path.extension().map_or(String::new(), |extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}{part}{extension}")).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_names_with_or_without_a_value() {
        assert_eq!(definition("DEBUG").unwrap(), ("DEBUG".into(), 1));
        assert_eq!(definition("SIZE=0x10").unwrap(), ("SIZE".into(), 16));
        assert_eq!(definition("N=-3").unwrap(), ("N".into(), -3));
        assert!(definition("=3").is_err());
        assert!(definition("N=x").is_err());
    }

    #[test]
    fn parts_go_before_the_extension() {
        assert_eq!(with_part("a/rom.bin", "-0"), "a/rom-0.bin");
        assert_eq!(with_part("rom", "-data"), "rom-data");
    }
}
