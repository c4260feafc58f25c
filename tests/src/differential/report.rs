//! A disagreement as a file of assembly: everything needed to reproduce it.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use lathe_asm::{Image, Method, Segment, disassemble};
use lathe_isa::Isa;

use super::{Case, Contestant, Disagreement};

/// Returns the text of a disagreement. The comments say what assembly cannot.
pub fn text(isa: &Isa, machine: &str, engine: &Contestant, found: &Disagreement) -> String {
    let Disagreement { seed, since, case, difference } = found;
    let first = since.unwrap_or(*seed);
    let mut text = format!("; {} on the engine {}: not what the reference interpreter does\n", isa.name, engine.name);
    let _ = writeln!(text, "; seed    {seed}{}", kept(*since));
    let _ = writeln!(text, "; limits  {:?}, one run after the other", case.limits);
    let _ = writeln!(text, "; input   {:?}", case.input);
    let programs = seed - first + 1;
    let again = format!("--machine {machine} --engine {} --seed {first} --programs {programs}", engine.name);
    let _ = writeln!(text, "; repeat  cargo xtask differential {again}");
    for (register, value) in isa.registers.iter().zip(&case.registers) {
        if *value != register.reset {
            let _ = writeln!(text, "; before  {} = {value:#x}", register.name);
        }
    }
    difference.lines().for_each(|line| text += &format!("; differs {line}\n"));
    text + &disassemble(isa, &image(isa, case), Method::Linear)
}

fn kept(since: Option<u64>) -> String {
    let kept = |first| format!(", on an engine that has run the programs from seed {first} on; a new one agrees");
    since.map(kept).unwrap_or_default()
}

/// Returns the program and its data, as the memories hold them at first.
fn image(isa: &Isa, case: &Case) -> Image {
    let cell = |(memory, start, value): &(_, _, u64)| Segment { memory: *memory, start: *start, cells: vec![*value] };
    let segments = case.cells(isa).iter().map(cell).collect();
    Image { machine: isa.name.clone(), entry: Some(case.origin), segments, ..Image::default() }
}

/// Writes the text to a file in a folder; returns its path.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn save(folder: &Path, isa: &Isa, machine: &str, engine: &Contestant, found: &Disagreement) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}-{}-{}.asm", isa.name, engine.name, found.seed));
    std::fs::write(&path, text(isa, machine, engine, found))?;
    Ok(path)
}
