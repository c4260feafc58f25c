//! The files that an assembled program is written to: their names and their contents. Nothing is written here.

use std::path::Path;

use lathe_asm::Image;
use lathe_asm::formats::{self, AddressRange, Format, FormatOptions, Interleave, Lane};
use lathe_base::{Source, Width};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use crate::arguments::Asm;
use crate::exit::Failure;
use crate::files::{self, Whole};
use crate::machine::Machine;
use crate::program;

/// A format asked for, and its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    format: Format,
    name: String,
}

impl Target {
    fn title(&self) -> &str {
        if self.name == files::STANDARD { "standard output" } else { &self.name }
    }
}

/// Returns each format asked for, with its file.
pub(crate) fn targets(arguments: &Asm) -> Result<Vec<Target>, Failure> {
    let formats = formats_asked_for(arguments)?;
    if let Some(folder) = arguments.output.as_deref().filter(|output| Path::new(output).is_dir()) {
        let example = Path::new(folder).join(with_extension("program", formats[0]));
        let message = format!("{folder} is a directory, not the name of a file");
        return Err(Failure::usage(message).help(format!("as in `-o {}`", example.display())));
    }
    let several = formats.len() > 1;
    let targets = formats.into_iter().map(|format| Target { format, name: file_name(arguments, format, several) });
    without_doubles(targets.collect())
}

fn formats_asked_for(arguments: &Asm) -> Result<Vec<Format>, Failure> {
    let formats: Vec<Format> = arguments.formats().map(format_named).collect::<Result<_, _>>()?;
    if !formats.is_empty() {
        return Ok(formats);
    }
    let by_name = arguments.output.as_deref().and_then(Format::of_file_name);
    Ok(vec![by_name.unwrap_or(Format::Binary)])
}

/// Returns the format of this name.
pub(crate) fn format_named(name: &str) -> Result<Format, Failure> {
    Format::named(name).map_err(|error| Failure::usage(error.cause).help(error.next_step))
}

/// Names the file of a format: the file asked for, or one with the format's extension.
fn file_name(arguments: &Asm, format: Format, several: bool) -> String {
    match &arguments.output {
        Some(output) if !several || output == files::STANDARD => output.clone(),
        // An unknown extension is part of the name: `-o board.v2`.
        Some(output) if Format::of_file_name(output).is_none() => format!("{output}.{}", format.extension()),
        Some(output) => with_extension(output, format),
        None if arguments.source == files::STANDARD => files::STANDARD.to_owned(),
        None => with_extension(&arguments.source, format),
    }
}

fn with_extension(name: &str, format: Format) -> String {
    Path::new(name).with_extension(format.extension()).to_string_lossy().into_owned()
}

fn without_doubles(targets: Vec<Target>) -> Result<Vec<Target>, Failure> {
    for (at, target) in targets.iter().enumerate() {
        let same = |other: &&Target| other.name == target.name && target.name != files::STANDARD;
        if let Some(other) = targets[..at].iter().find(same) {
            let message =
                format!("`{}` and `{}` would both be {}", other.format.name(), target.format.name(), target.name);
            return Err(Failure::usage(message).help("write one of them in a run of its own, with `-o`"));
        }
    }
    Ok(targets)
}

/// An assembled program, and the options for its files.
pub(crate) struct Product<'p> {
    pub(crate) arguments: &'p Asm,
    pub(crate) machine: &'p Machine,
    pub(crate) image: &'p Image,
    pub(crate) sources: &'p [Source],
}

impl Product<'_> {
    /// Returns all files to write.
    pub(crate) fn files(&self, targets: &[Target]) -> Result<Vec<Whole>, Failure> {
        let mut made = Vec::new();
        for target in targets {
            made.extend(self.files_of(target)?);
        }
        let on_standard = made.iter().filter(|file| file.name == files::STANDARD).count();
        if on_standard > 1 && targets.iter().any(|target| target.format == Format::Binary) {
            let message = format!("{on_standard} files would run together on standard output, and `bin` has no marks");
            return Err(Failure::usage(message).help("give the name of a file with `-o`, or choose with `--memory`"));
        }
        Ok(made)
    }

    /// Returns the files of one format: several where memories, chips or lanes are split.
    fn files_of(&self, target: &Target) -> Result<Vec<Whole>, Failure> {
        let cuts = self.cuts(target)?;
        let several_memories = cuts.iter().any(|cut| cut.memory != cuts[0].memory);
        let file = |cut: &Cut| {
            let written = formats::write(target.format, self.image, self.isa(), self.sources, &self.options(cut));
            let bytes = written.map_err(|error| program::format_failure(target.title(), &error))?;
            let memory = several_memories.then(|| self.memory_name(cut));
            Ok(Whole { name: with_part(&target.name, &cut.part(memory)), bytes })
        };
        cuts.iter().map(file).collect()
    }

    /// Cuts the image for a format: each memory into chips, and chips into lanes.
    fn cuts(&self, target: &Target) -> Result<Vec<Cut>, Failure> {
        let mut cuts = Vec::new();
        for memory in self.memories(target.format)? {
            let whole = Cut { memory, chip: None, lane: None };
            if !target.format.holds_one_memory() {
                cuts.push(whole);
                continue;
            }
            for chip in self.chips(target.title())? {
                let lanes = self.lanes(memory)?;
                cuts.extend(lanes.into_iter().map(|lane| Cut { memory, chip, lane }));
            }
        }
        Ok(cuts)
    }

    fn memories(&self, format: Format) -> Result<Vec<Option<MemoryId>>, Failure> {
        match &self.arguments.memory {
            Some(name) => Ok(vec![Some(memory_named(self.isa(), name)?)]),
            None => Ok(formats::memories_to_write(format, self.image, self.isa())),
        }
    }

    fn chips(&self, target: &str) -> Result<Vec<Option<Interleave>>, Failure> {
        let Some(chips) = self.arguments.interleave else { return Ok(vec![None]) };
        let all = Interleave::all(chips).map_err(|error| program::format_failure(target, &error))?;
        Ok(all.into_iter().map(Some).collect())
    }

    fn lanes(&self, memory: Option<MemoryId>) -> Result<Vec<Option<Lane>>, Failure> {
        let Some(bits) = self.arguments.lane else { return Ok(vec![None]) };
        let memory = self.isa().memory(memory.unwrap_or(self.isa().pc.memory));
        match Width::new(u64::from(bits)).filter(|width| *width <= memory.cell) {
            Some(width) => Ok(Lane::all(memory.cell, width).into_iter().map(Some).collect()),
            None => {
                let message = format!("no lane of {bits} bits fits into a cell of memory `{}`", memory.name);
                Err(Failure::usage(message).help(format!("give `--lane` 1 to {} bits", memory.cell.bits())))
            }
        }
    }

    fn options(&self, cut: &Cut) -> FormatOptions {
        let Asm { fill, size, range, name, .. } = self.arguments;
        let default = FormatOptions::default();
        FormatOptions {
            memory: cut.memory,
            fill: fill.unwrap_or(default.fill),
            size: *size,
            range: range.map(|(first, last)| AddressRange { first, last }),
            interleave: cut.chip,
            lane: cut.lane,
            name: name.clone().unwrap_or(default.name),
            definition: Some(formats::identity(&self.machine.written.whole())),
            addresses: default.addresses,
        }
    }

    fn memory_name(&self, cut: &Cut) -> &str {
        &self.isa().memory(cut.memory.unwrap_or(self.isa().pc.memory)).name
    }

    fn isa(&self) -> &Isa {
        &self.machine.isa
    }
}

/// The part of an image that one file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    memory: Option<MemoryId>,
    chip: Option<Interleave>,
    lane: Option<Lane>,
}

impl Cut {
    /// Returns what distinguishes this file from the others: `-data-0-bit8`.
    fn part(&self, memory: Option<&str>) -> String {
        let memory = memory.map(|name| format!("-{name}"));
        let chip = self.chip.map(|chip| format!("-{}", chip.chip));
        let lane = self.lane.map(|lane| format!("-bit{}", lane.low));
        [memory, chip, lane].into_iter().flatten().collect()
    }
}

fn memory_named(isa: &Isa, name: &str) -> Result<MemoryId, Failure> {
    isa.memory_named(name).ok_or_else(|| {
        let names: Vec<&str> = isa.memories.iter().map(|memory| memory.name.as_str()).collect();
        Failure::usage(format!("{} has no memory `{name}`", isa.name)).help(format!("it has {}", names.join(", ")))
    })
}

/// Inserts a part into a file name: `rom.bin` with the part `-0` is `rom-0.bin`.
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
    fn parts_go_before_the_extension() {
        assert_eq!(with_part("a/rom.bin", "-0"), "a/rom-0.bin");
        assert_eq!(with_part("rom", "-data"), "rom-data");
        assert_eq!(with_part("-", "-data"), "-");
    }
}
