//! `lathe hdl --report`: the size and speed of a machine's hardware, as other tools report it: Yosys and nextpnr for an
//! iCE40, Icarus for the clock cycles of a program.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::exit::Failure;
use crate::{render, tool};

/// Chips to try in order: their names, and the options for nextpnr.
const CHIPS: [(&str, &[&str]); 2] = [
    ("iCE40 UP5K", &["--up5k", "--package", "sg48", "--pcf", "icebreaker.pcf"]),
    ("iCE40 HX8K", &["--hx8k", "--package", "ct256"]),
];

/// What Yosys does for these chips. It is first tried with the chip's multipliers (`-dsp`): Yosys 0.23 fails to map a
/// multiplication to them in some cores, such as chip8's.
const SYNTHESIS: &str = "synth_ice40 -top top";

/// Turns shifts into gates before Yosys asks a solver which of them could be shared: with many shifts, as in chip8's
/// `drw`, that takes all memory, and elsewhere it gains nothing.
const SHIFTS: &str = "techmap t:$shl t:$shr t:$sshr";

/// The figures of a board.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    luts: usize,
    flip_flops: usize,
    block_rams: usize,
    /// Multipliers used on the chip.
    dsps: usize,
    /// The chip that it fits on, and its clock frequency there.
    #[serde(skip_serializing_if = "Option::is_none")]
    chip: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    megahertz: Option<f64>,
    /// Why it fits on none of the chips, as nextpnr said of the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the program did in the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles: Option<u64>,
}

/// Checks that the tools for a report are installed; a report takes minutes.
///
/// # Errors
/// If a tool is missing; the failure names its package.
pub(super) fn check_tools(with_program: bool) -> Result<(), Failure> {
    let simulator: &[&str] = if with_program { &["iverilog", "vvp"] } else { &[] };
    tool::check(&[&["yosys", "nextpnr-ice40"], simulator].concat())
}

/// Measures the hardware in a folder. `limit` is how many instructions of the program to simulate, if there is a
/// program.
pub(super) fn measure(folder: &Path, module: &str, limit: Option<u64>) -> Result<Report, Failure> {
    let mut report = Report::default();
    if let Some(limit) = limit {
        simulate(folder, module, limit, &mut report)?;
    }
    let board = folder.join(lathe_hdl::BOARD);
    let synthesise = |command: &str| {
        let script = format!(
            "read_verilog ../{module}.v top.v; {command} -run begin:coarse; {SHIFTS}; {command} -run coarse: -json top.json"
        );
        tool::run("yosys", Some(&board), &["-q", "-p", &script], "")
    };
    if !synthesise(&format!("{SYNTHESIS} -dsp"))?.succeeded {
        synthesise(SYNTHESIS)?.if_well("yosys")?;
    }
    count(&board, &mut report)?;
    for (chip, arguments) in CHIPS {
        let common = ["--json", "top.json", "--asc", "top.asc", "--report", "report.json", "-q"];
        let _ = std::fs::remove_file(board.join("report.json"));
        // nextpnr fails for a chip that is too small as for any other reason; then there is no report.
        let said = tool::run("nextpnr-ice40", Some(&board), &[arguments, &common].concat(), "")?;
        let Some(found) = frequency(&board) else {
            report.reason = Some(format!("{chip}: {}", reason(&said.complaint)));
            continue;
        };
        (report.chip, report.megahertz, report.reason) = (Some(chip), Some(found), None);
        break;
    }
    Ok(report)
}

/// Returns the first error that nextpnr reported.
fn reason(complaint: &str) -> &str {
    let error = complaint.lines().find_map(|line| line.trim().strip_prefix("ERROR: "));
    error.or_else(|| complaint.lines().next()).unwrap_or("nextpnr does not say why")
}

/// Simulates the program in Icarus.
fn simulate(folder: &Path, module: &str, limit: u64, report: &mut Report) -> Result<(), Failure> {
    let core = format!("{module}.v");
    tool::run("iverilog", Some(folder), &["-g2005", "-o", "bench", &core, "bench.v"], "")?.if_well("iverilog")?;
    let said =
        tool::run("vvp", Some(folder), &["-n", "bench", "+count", &format!("+limit={limit}")], "")?.if_well("vvp")?;
    let last = said.lines().rev().find_map(|line| {
        let (instructions, cycles) = line.strip_suffix(" cycles")?.split_once(" instructions, ")?;
        Some((instructions.parse().ok()?, cycles.parse().ok()?))
    });
    let (instructions, cycles) =
        last.ok_or_else(|| Failure::input("the simulator did not say how many cycles there were"))?;
    (report.instructions, report.cycles) = (Some(instructions), Some(cycles));
    Ok(())
}

/// Counts the cells that Yosys used.
fn count(board: &Path, report: &mut Report) -> Result<(), Failure> {
    let failure = || Failure::input("Yosys wrote no netlist that can be read").help("Lathe is tried with Yosys 0.23");
    let text = std::fs::read_to_string(board.join("top.json")).map_err(|_| failure())?;
    let netlist: serde_json::Value = serde_json::from_str(&text).map_err(|_| failure())?;
    let cells = netlist["modules"]["top"]["cells"].as_object().ok_or_else(failure)?;
    for kind in cells.values().filter_map(|cell| cell["type"].as_str()) {
        match kind {
            "SB_LUT4" => report.luts += 1,
            "SB_MAC16" => report.dsps += 1,
            _ if kind.starts_with("SB_DFF") => report.flip_flops += 1,
            _ if kind.starts_with("SB_RAM40_4K") => report.block_rams += 1,
            _ => {}
        }
    }
    Ok(())
}

/// Returns the highest clock frequency, as nextpnr reports it.
fn frequency(board: &Path) -> Option<f64> {
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(board.join("report.json")).ok()?).ok()?;
    let all = report["fmax"].as_object()?.values().filter_map(|clock| clock["achieved"].as_f64());
    all.reduce(f64::min).map(|found| (found * 10.0).round() / 10.0)
}

impl Report {
    /// Renders the report for people.
    pub(super) fn text(&self) -> String {
        let mut parts = vec![(self.luts, "LUT"), (self.flip_flops, "flip-flop"), (self.block_rams, "block RAM")];
        parts.extend((self.dsps > 0).then_some((self.dsps, "multiplier")));
        let parts: Vec<String> = parts.into_iter().map(|(number, thing)| render::count(number, thing)).collect();
        let mut text = format!("{}\n", parts.join(", "));
        match (self.chip, self.megahertz) {
            (Some(chip), Some(megahertz)) => {
                let _ = writeln!(text, "{megahertz:.1} MHz on an {chip}");
            }
            _ => {
                let _ = writeln!(text, "not placed on an {}", self.reason.as_deref().unwrap_or("iCE40"));
            }
        }
        if let (Some(instructions), Some(cycles)) = (self.instructions, self.cycles) {
            let each = cycles as f64 / instructions.max(1) as f64;
            let _ = writeln!(text, "{each:.2} clock cycles for an instruction, over {instructions} instructions");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nextpnr_complains_about_is_told() {
        let said = "Warning: no clock\nERROR: Unable to place cell 'x', no BELs remaining to implement cell type 'ICESTORM_LC'\n";
        let report = Report { reason: Some(format!("iCE40 HX8K: {}", reason(said))), ..Report::default() };
        let last = "not placed on an iCE40 HX8K: Unable to place cell 'x', no BELs remaining to implement cell type 'ICESTORM_LC'\n";
        assert!(report.text().ends_with(last), "{}", report.text());
        assert_eq!(reason(""), "nextpnr does not say why");
    }
}
