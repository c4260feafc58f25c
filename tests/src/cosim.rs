//! A core of `lathe hdl` beside the reference interpreter, compared after every instruction: addresses, bits, all registers,
//! every cell and every byte that was written, and how it ended.
//!
//! The core runs in a process of its own, a model that Verilator has compiled, and tells over a pipe what it does. A
//! shared object in this process would need `unsafe`, and a model that crashes would take the test with it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use lathe_base::Source;
use lathe_hdl::{Design, Program};
use lathe_isa::Isa;
use lathe_isa::model::{MemoryId, RegisterId};
use lathe_vm::{Console, Devices, FaultCause, Interpreter, State, Stop};

/// A core that can be run.
pub struct Model {
    isa: Arc<Isa>,
    messages: Vec<String>,
    folder: PathBuf,
    binary: PathBuf,
}

/// What a run begins with.
pub struct Start {
    /// Program counter, registers and memories.
    pub state: State,
    /// What there is to read at the console.
    pub input: Vec<u8>,
}

/// How a comparison went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Instructions that were compared.
    pub instructions: u64,
    /// Runs that ended with a fault.
    pub faults: u64,
}

/// Writes the hardware of a machine to a folder.
///
/// # Errors
/// If it cannot be written, or the machine cannot become hardware.
pub fn write(isa: &Isa, definition: &str, program: &Program, folder: &Path) -> Result<Design, String> {
    let sources = [Source::new(format!("{}.isa", isa.name), definition)];
    let design = lathe_hdl::generate(isa, &sources, program).map_err(|found| found.to_string())?;
    std::fs::create_dir_all(folder.join(lathe_hdl::BOARD)).map_err(|error| error.to_string())?;
    for file in &design.files {
        std::fs::write(folder.join(&file.name), &file.text).map_err(|error| error.to_string())?;
    }
    Ok(design)
}

/// Runs a tool in a folder and gives what it printed.
///
/// # Errors
/// If it cannot be run or fails, with all that it printed.
pub fn tool(program: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output =
        Command::new(program).args(arguments).current_dir(folder).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(format!(
        "{} {}: {}\n{text}{}",
        program.display(),
        arguments.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

impl Model {
    /// Writes the core to a folder and compiles it with Verilator.
    ///
    /// # Errors
    /// If either cannot be done.
    pub fn build(isa: &Arc<Isa>, definition: &str, folder: &Path, verilator: &Path) -> Result<Model, String> {
        let design = write(isa, definition, &Program::default(), folder)?;
        let core = format!("{}.v", design.module);
        let flags = [
            "-Wno-fatal",
            "-Wno-WIDTH",
            "--cc",
            "--exe",
            "--build",
            "-O3",
            "--x-assign",
            "fast",
            "--top-module",
            "bench",
            "-CFLAGS",
            "-O1",
            "-o",
            "model",
        ];
        let arguments: Vec<&str> = flags.into_iter().chain([core.as_str(), "bench.v", "bench.cpp"]).collect();
        tool(verilator, folder, &arguments)?;
        Ok(Model {
            isa: isa.clone(),
            messages: design.messages,
            folder: folder.to_owned(),
            binary: folder.join("obj_dir/model"),
        })
    }

    /// Runs for so many instructions at most, on both, and compares.
    ///
    /// # Errors
    /// With what is not the same, and where.
    pub fn compare(&self, start: Start, limit: u64) -> Result<Compared, String> {
        let run = Run::start(self, &start, limit)?;
        let result = run.compare(self, start, limit);
        result.map_err(|difference| format!("{}: {difference}", self.isa.name))
    }
}

/// A core that is running.
struct Run {
    child: std::process::Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the core did in one instruction.
#[derive(Debug, Default)]
struct Told {
    cells: BTreeMap<(u32, u64), u64>,
    devices: Vec<String>,
    end: String,
}

impl Run {
    fn start(model: &Model, start: &Start, limit: u64) -> Result<Run, String> {
        let isa = &model.isa;
        let failure = |error: std::io::Error| error.to_string();
        let mut command = Command::new(&model.binary);
        command.current_dir(&model.folder).stdout(Stdio::piped()).stderr(Stdio::inherit());
        for (id, memory) in (0..).map(MemoryId).zip(&isa.memories) {
            let mut text = String::new();
            let mut expected = None;
            for (address, value) in start.state.memory(id).nonzero() {
                if expected != Some(address) {
                    let _ = writeln!(text, "@{address:x}");
                }
                let _ = writeln!(text, "{value:x}");
                expected = Some(address + 1);
            }
            let name = format!("start.{}.hex", memory.name);
            std::fs::write(model.folder.join(&name), text).map_err(failure)?;
            command.arg(format!("+{}={name}", memory.name));
        }
        let mut text = format!("{:x}\n", start.state.pc);
        for (id, _) in changing(isa) {
            let _ = writeln!(text, "{:x}", start.state.register(id));
        }
        std::fs::write(model.folder.join("start.state"), text).map_err(failure)?;
        std::fs::write(model.folder.join("start.input"), &start.input).map_err(failure)?;
        command.args(["+state=start.state", "+input=start.input", "+trace"]).arg(format!("+limit={limit}"));
        let mut child = command.spawn().map_err(failure)?;
        let stdout = child.stdout.take().ok_or("the model has no output")?;
        Ok(Run { child, lines: BufReader::with_capacity(1 << 16, stdout).lines() })
    }

    /// Everything up to the end of an instruction, or of the run.
    fn next(&mut self) -> Result<Told, String> {
        let mut told = Told::default();
        for line in self.lines.by_ref() {
            let line = line.map_err(|error| error.to_string())?;
            match line.split_once(' ').unwrap_or((&line, "")) {
                ("W", rest) => {
                    let numbers: Vec<u64> =
                        rest.split(' ').filter_map(|text| u64::from_str_radix(text, 16).ok()).collect();
                    if let [memory, address, value] = numbers[..] {
                        told.cells.insert((memory as u32, address), value);
                    }
                }
                ("D", rest) => told.devices.push(rest.to_owned()),
                ("R" | "F" | "H", _) => {
                    told.end = line;
                    return Ok(told);
                }
                // Words of the simulator itself.
                _ => {}
            }
        }
        Err("the core stopped without a word".to_owned())
    }

    fn compare(mut self, model: &Model, start: Start, limit: u64) -> Result<Compared, String> {
        let isa = &model.isa;
        let mut interpreter = Interpreter::new(isa);
        let mut devices = Devices::new(isa, Console::with_input(start.input));
        let mut state = start.state;
        let mut compared = Compared::default();
        let mut cycles = 0u64;
        while compared.instructions < limit {
            devices.catch_up(compared.instructions, cycles);
            let pc = state.pc;
            let window = state.window(isa, pc, isa.longest()) >> (128 - isa.longest() * isa.code_memory().cell.bits());
            let step = interpreter.step(&mut state, &mut devices);
            cycles = cycles.wrapping_add(step.cycles);
            let told = self
                .next()
                .map_err(|error| format!("{error} at {pc:#x}, after {} instructions", compared.instructions))?;
            let at = format!("after {} instructions, at {pc:#x} with the bits {window:#x}", compared.instructions);
            if let Some(Stop::Fault(fault)) = &step.stop {
                let (message, detail) = match &fault.cause {
                    FaultCause::Undefined => (lathe_hdl::UNDEFINED, 0),
                    FaultCause::ForeignState => ("a state of another machine", 0),
                    FaultCause::OutOfMemory => ("out of memory", 0),
                    FaultCause::Declared(message, detail) => (message.as_str(), detail.unwrap_or(0)),
                };
                compared.faults += 1;
                check(&at, "the fault", fault_text(&told.end, &model.messages), format!("{message} {detail:x}"))?;
                check(&at, "cells before a fault", &told.cells, &BTreeMap::new())?;
                check(&at, "devices before a fault", &told.devices, &Vec::new())?;
                return Ok(compared);
            }
            self.check_retired(model, &at, &told, (pc, window), &state, &interpreter)?;
            compared.instructions += 1;
            match step.stop {
                Some(Stop::Halted) => {
                    let end = self.next().map(|told| told.end).unwrap_or_default();
                    if compared.instructions < limit {
                        check(&at, "the end", end, "H".to_owned())?;
                    }
                    return Ok(compared);
                }
                Some(Stop::Idle) => return Ok(compared),
                _ => {}
            }
        }
        Ok(compared)
    }

    fn check_retired(
        &self,
        model: &Model,
        at: &str,
        told: &Told,
        (pc, window): (u64, u128),
        state: &State,
        interpreter: &Interpreter,
    ) -> Result<(), String> {
        let isa = &model.isa;
        let parts: Vec<&str> = told.end.split(' ').collect();
        let ["R", told_pc, told_next, told_bits, registers] = parts[..] else {
            return Err(format!("{at}: the core says `{}`, the interpreter has gone on to {:#x}", told.end, state.pc));
        };
        let number = |text: &str| u128::from_str_radix(text, 16).unwrap_or(u128::MAX);
        check(at, "its address", number(told_pc), u128::from(pc))?;
        check(at, "the next address", number(told_next), u128::from(state.pc))?;
        // What `on step` has put in the place of an instruction was not fetched.
        if isa.on_step.is_none() {
            check(at, "its bits", number(told_bits), window)?;
        }
        let mut low = 0;
        for (id, bits) in changing(isa) {
            check(at, &isa.register(id).name, digits(registers, low, bits), state.register(id))?;
            low += bits;
        }
        let changes = interpreter.changes(state);
        let cells: BTreeMap<(u32, u64), u64> =
            changes.cells.iter().map(|cell| ((cell.memory.0, cell.address), cell.new)).collect();
        check(at, "the cells written", &told.cells, &cells)?;
        let writes = changes.devices.iter().filter(|used| used.value.is_none());
        let writes: Vec<String> = writes
            .map(|used| {
                used.arguments.iter().fold(format!("{} {}", used.device.0, used.operation.name()), |text, value| {
                    format!("{text} {value:x}")
                })
            })
            .collect();
        let told: Vec<String> = told.devices.iter().map(|line| without_zeros(line)).collect();
        check(at, "the devices written", &told, &writes)
    }
}

fn check<T: PartialEq + std::fmt::Debug>(at: &str, what: &str, core: T, interpreter: T) -> Result<(), String> {
    if core == interpreter {
        return Ok(());
    }
    Err(format!("{at}: {what}: the core has {core:x?}, the interpreter {interpreter:x?}"))
}

/// Registers that can change, with their bits, in the order in which the core tells them.
fn changing(isa: &Isa) -> impl Iterator<Item = (RegisterId, u32)> {
    (0..)
        .map(RegisterId)
        .zip(&isa.registers)
        .filter(|(_, register)| !register.constant)
        .map(|(id, register)| (id, register.width.bits()))
}

/// Some bits of a number in hexadecimal.
fn digits(text: &str, low: u32, bits: u32) -> u64 {
    let bytes = text.as_bytes();
    let digit =
        |at: u32| bytes.len().checked_sub(at as usize + 1).and_then(|at| (bytes[at] as char).to_digit(16)).unwrap_or(0);
    let (first, last) = (low / 4, (low + bits - 1) / 4);
    let whole = (first..=last).rev().fold(0u128, |value, at| value << 4 | u128::from(digit(at)));
    (whole >> (low % 4)) as u64 & if bits == 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// `0 write 0a` becomes `0 write a`.
fn without_zeros(line: &str) -> String {
    let mut parts = line.split(' ');
    let mut text = format!("{} {}", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    for part in parts {
        let short = part.trim_start_matches('0');
        let _ = write!(text, " {}", if short.is_empty() { "0" } else { short });
    }
    text
}

/// `F 1 00ff` becomes the message with its number.
fn fault_text(line: &str, messages: &[String]) -> String {
    let mut parts = line.split(' ');
    let is_fault = parts.next() == Some("F");
    let number = |text: Option<&str>| text.and_then(|text| u64::from_str_radix(text, 16).ok()).unwrap_or(u64::MAX);
    let (code, detail) = (number(parts.next()), number(parts.next()));
    match messages.get(code as usize).filter(|_| is_fault) {
        Some(message) => format!("{message} {detail:x}"),
        None => line.to_owned(),
    }
}
