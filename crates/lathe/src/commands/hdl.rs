//! `lathe hdl`: the hardware of a machine.

use std::path::Path;

use lathe_asm::Image;
use lathe_base::Source;
use lathe_hdl::{Program, Small, Unsupported};
use lathe_isa::Isa;
use lathe_isa::model::MemoryId;

use super::asm::FileData;
use super::{Outcome, hdl_report};
use crate::arguments::{Format, Hdl, Style};
use crate::exit::{Exit, Failure};
use crate::files::{self, Whole};
use crate::inputs::Inputs;
use crate::program::Request;
use crate::{machine, output};

/// Writes the core and what surrounds it.
pub(super) fn execute(arguments: &Hdl) -> Outcome {
    let inputs = Inputs::default();
    let (isa, sources, program) = load(arguments, &inputs)?;
    let (isa, program) = styled(isa, &sources, program, arguments.style.style)?;
    let design = lathe_hdl::generate(&isa, &sources, &program).map_err(|found| unsupported(&sources, &found))?;
    let folder = Path::new(&arguments.output);
    let name = |file: &lathe_hdl::File| folder.join(&file.name).to_string_lossy().into_owned();
    let all: Vec<Whole> =
        design.files.iter().map(|file| Whole { name: name(file), bytes: file.text.clone().into_bytes() }).collect();
    for file in &all {
        inputs.check_spared(&file.name, "-o")?;
    }
    if arguments.report {
        hdl_report::check_tools(arguments.program.is_some())?;
    }
    std::fs::create_dir_all(folder.join(lathe_hdl::BOARD)).map_err(|error| {
        let message = format!("the folder {} cannot be made: {}", arguments.output, files::reason(&error));
        Failure::input(message).help("give another name with `-o`")
    })?;
    files::write_all(&all)?;
    let limit = arguments.program.is_some().then_some(arguments.limit);
    let report = arguments.report.then(|| hdl_report::measure(folder, &design.module, limit)).transpose()?;
    match arguments.format.format {
        Format::Text => {
            all.iter().for_each(|file| output::complain(&format!("wrote {}\n", file.name)));
            match &report {
                Some(report) => output::answer(&report.text())?,
                None => output::complain(&next_step(&arguments.output)),
            }
        }
        Format::Json => {
            let files: Vec<_> = all.iter().map(|file| FileData { name: &file.name, bytes: file.bytes.len() }).collect();
            let mut answer =
                serde_json::json!({ "ok": true, "machine": isa.name, "module": design.module, "files": files });
            if let Some(report) = report {
                answer["report"] = serde_json::json!(report);
            }
            output::answer(&output::json(&answer)?)?;
        }
    }
    Ok(Exit::Done)
}

/// Loads the machine, the files of its definition, and the program to put in its memories.
fn load(arguments: &Hdl, inputs: &Inputs) -> Result<(Isa, Vec<Source>, Program), Failure> {
    let named = arguments.machine.machine.as_deref();
    let Some(program) = &arguments.program else {
        let Some(named) = named else {
            let failure = Failure::usage("which machine?");
            return Err(failure.help("name one with `-m`, or give a program that names its own with `--program`"));
        };
        let machine = machine::open_noting(named, inputs)?;
        let program = Program { board_bits: arguments.block_ram, ..Program::default() };
        return Ok((machine.isa, machine.written.sources, program));
    };
    let request = Request { name: program, machine: named, from: None, load_at: None, assembly: &arguments.assembly };
    let loaded = request.load(inputs)?;
    let cells = cells(&loaded.isa, &loaded.image);
    let registers = loaded.image.at_reset(&loaded.isa).map(|reset| reset.registers).unwrap_or_default();
    let entry = Some(loaded.image.start(&loaded.isa));
    let program = Program { cells, entry, registers, board_bits: arguments.block_ram };
    Ok((loaded.isa, loaded.definition, program))
}

/// Adapts the machine and its program to a core of this style.
pub(super) fn styled(isa: Isa, sources: &[Source], program: Program, style: Style) -> Result<(Isa, Program), Failure> {
    match style {
        Style::Quick => Ok((isa, program)),
        Style::Small => {
            let small = Small::new(&isa).map_err(|found| unsupported(sources, &found))?;
            let program = small.program(&isa, &program);
            Ok((small.isa, program))
        }
    }
}

/// Returns the cells of an image, memory by memory.
fn cells(isa: &Isa, image: &Image) -> Vec<Vec<(u64, u64)>> {
    (0..isa.memories.len() as u32).map(|id| image.cells_of(MemoryId(id)).collect()).collect()
}

pub(super) fn unsupported(sources: &[Source], found: &Unsupported) -> Failure {
    let place = sources.get(found.place.file.0 as usize).map_or_else(String::new, |source| {
        let (line, _) = source.line_column(found.place.start);
        format!("{}, line {line}: ", source.name)
    });
    Failure::input(format!("{place}there is no hardware for {}", found.what)).help(found.help.clone())
}

fn next_step(folder: &str) -> String {
    format!("simulate it: cd {folder} && iverilog -g2005 -o bench *.v && vvp -n bench\n")
}
