//! `lathe machines`: lists the machines that ship with Lathe.

use lathe_isa::Isa;
use serde::Serialize;

use super::Outcome;
use crate::arguments::{Format, Machines};
use crate::exit::{Exit, Failure};
use crate::{machine, output, render};

#[derive(Debug, Serialize)]
struct MachineData {
    name: String,
    title: String,
}

/// Lists the machines.
pub(super) fn execute(arguments: &Machines) -> Outcome {
    let all = lathe_machines::every().map(|known| machine::load(known.name).map(machine_data));
    let all: Vec<MachineData> = all.collect::<Result<_, Failure>>()?;
    output::answer(&match arguments.format.format {
        Format::Text => text(&all),
        Format::Json => output::json(&all)?,
    })?;
    Ok(Exit::Done)
}

/// Takes the title from the definition itself, so that it is in one place.
fn machine_data(isa: Isa) -> MachineData {
    MachineData { name: isa.name, title: isa.title }
}

fn text(all: &[MachineData]) -> String {
    let width = all.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
    let line = |machine: &MachineData| {
        let gap = " ".repeat(width - machine.name.len());
        format!("{}{gap}  {}\n", render::bold(&machine.name), machine.title)
    };
    all.iter().map(line).collect()
}
