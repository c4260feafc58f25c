//! A core of `lathe hdl` beside the reference interpreter, compared after every instruction: addresses, bits, all
//! registers, every cell and every byte that was written, and how the run ended.
//!
//! The core, a model compiled by Verilator, runs in a process of its own and reports what it does as numbers over a
//! pipe (`cosim.cpp`). A shared object in this process would need `unsafe`, and a crashing model would take the test
//! with it. The two run at the same time, each on a processor of its own. Executing an instruction allocates nothing,
//! and only a difference is formatted as text.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use lathe_base::Source;
use lathe_hdl::{Design, Program};
use lathe_isa::Isa;
use lathe_isa::model::{DeviceId, DeviceOperation, MemoryId, RegisterId};
use lathe_vm::{Console, Devices, FaultCause, Interpreter, State, Stop};

/// A core that can be run.
pub struct Model {
    isa: Arc<Isa>,
    messages: Vec<String>,
    /// The operations of devices, by the numbers that the core reports.
    operations: Vec<(DeviceId, DeviceOperation)>,
    /// Where the core reports each register of the machine; `None` for constants.
    registers: Vec<Option<Register>>,
    folder: PathBuf,
    binary: PathBuf,
    /// The process that has run the last program to its end, and can be given another.
    waiting: RefCell<Option<Process>>,
    starts: Cell<u64>,
}

/// Where the bits of a register are in the core's report.
struct Register {
    word: usize,
    shift: u32,
    mask: u64,
    /// Whether its bits continue in the next number.
    goes_on: bool,
}

/// The start of a run.
pub struct Start {
    /// Program counter, registers and memories.
    pub state: State,
    /// The input at the console.
    pub input: Vec<u8>,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Instructions that were compared.
    pub instructions: u64,
    /// Runs that ended with a fault.
    pub faults: u64,
    /// Clock cycles of the core for these instructions.
    pub cycles: u64,
}

impl std::ops::AddAssign for Compared {
    fn add_assign(&mut self, other: Compared) {
        self.instructions += other.instructions;
        self.faults += other.faults;
        self.cycles += other.cycles;
    }
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

/// Runs a tool in a folder and returns what it printed.
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
        Model::build_changed(isa, definition, folder, verilator, |_, text| text)
    }

    /// Does the same with changed files, to see whether a mistake is found.
    ///
    /// # Errors
    /// If either cannot be done.
    pub fn build_changed(
        isa: &Arc<Isa>,
        definition: &str,
        folder: &Path,
        verilator: &Path,
        change: impl Fn(&str, String) -> String,
    ) -> Result<Model, String> {
        let design = write(isa, definition, &Program::default(), folder)?;
        let core = format!("{}.v", design.module);
        let save =
            |name: &str, text: String| std::fs::write(folder.join(name), text).map_err(|error| error.to_string());
        for file in design.files.iter().filter(|file| [core.as_str(), "bench.v"].contains(&file.name.as_str())) {
            save(&file.name, change(&file.name, file.text.clone()))?;
        }
        save("cosim.cpp", include_str!("cosim.cpp").to_owned())?;
        tool(verilator, folder, &[FLAGS, &[core.as_str(), "bench.v", "cosim.cpp"]].concat())?;
        Ok(Model::of(isa, design, folder))
    }

    fn of(isa: &Arc<Isa>, design: Design, folder: &Path) -> Model {
        let mut low = 0;
        let mut registers: Vec<Option<Register>> = isa.registers.iter().map(|_| None).collect();
        for (id, bits) in changing(isa) {
            let mask = u64::MAX >> (64 - bits);
            let (word, shift) = (low as usize / 64, low % 64);
            registers[id.index()] = Some(Register { word, shift, mask, goes_on: shift + bits > 64 });
            low += bits;
        }
        Model {
            isa: isa.clone(),
            messages: design.messages,
            operations: design.interface.operations.iter().map(|port| (port.device, port.operation)).collect(),
            registers,
            folder: folder.to_owned(),
            binary: folder.join("obj_dir/model"),
            waiting: RefCell::new(None),
            starts: Cell::new(0),
        }
    }

    /// Runs at most this many instructions on both, and compares.
    ///
    /// # Errors
    /// The first difference, and where it is.
    pub fn compare(&self, start: Start, limit: u64) -> Result<Compared, String> {
        let mut process = match self.waiting.take() {
            Some(process) => process,
            None => Process::start(self)?,
        };
        process.give(self, &start, limit)?;
        let compared = compare(self, &mut process, start, limit)
            .map_err(|difference| format!("{}: {difference}", self.isa.name))?;
        // A machine that cannot change any more keeps running in the core; a process that does not end soon is not used
        // again.
        if process.finish()? && process.given < PROGRAMS {
            self.waiting.replace(Some(process));
        }
        Ok(compared)
    }
}

/// Verilator's options.
const FLAGS: &[&str] = &[
    "-Wno-fatal",
    "-Wno-WIDTH",
    "--cc",
    "--exe",
    "--build",
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--noassert",
    "--output-split",
    "20000",
    "-DRECORDS",
    "--top-module",
    "bench",
    "-CFLAGS",
    "-DVL_USER_FINISH",
    "-o",
    "model",
];

/// How many more instructions than were compared may follow before a process is given up.
const PATIENCE: u64 = 1000;

/// How many programs a process runs: the simulator keeps their input open.
const PROGRAMS: u32 = 500;

/// A process with the core.
struct Process {
    child: Child,
    programs: ChildStdin,
    records: ChildStdout,
    buffer: Vec<u8>,
    /// The part of the buffer that has been read from the pipe but not used.
    from: usize,
    to: usize,
    told: Told,
    /// How many 64-bit numbers hold the registers after an instruction.
    words: usize,
    /// How many programs it was given.
    given: u32,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the core did in one instruction.
#[derive(Debug, Default)]
struct Told {
    /// The written cells by memory and address, each once.
    cells: Vec<(u32, u64, u64)>,
    /// Device operations with their arguments.
    devices: Vec<(usize, [u64; 3])>,
    end: End,
    registers: Vec<u64>,
}

/// How an instruction ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    /// Nothing has been reported.
    #[default]
    Nothing,
    /// The instruction's address, the next one, its bits, and the clock cycles until then.
    Retired(u64, u64, u128, u64),
    /// The code of a fault and the number with it.
    Faulted(u64, u64),
    /// The machine has halted.
    Halted,
    /// The run is over.
    Over,
}

impl Process {
    fn start(model: &Model) -> Result<Process, String> {
        let mut command = Command::new(&model.binary);
        command.current_dir(&model.folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let programs = child.stdin.take().ok_or("the model has no input")?;
        let records = child.stdout.take().ok_or("the model has no output")?;
        let words = words(&model.isa);
        Ok(Process {
            child,
            programs,
            records,
            buffer: vec![0; 1 << 18],
            from: 0,
            to: 0,
            told: Told { registers: vec![0; words], ..Told::default() },
            words,
            given: 0,
        })
    }

    /// Starts a program.
    fn give(&mut self, model: &Model, start: &Start, limit: u64) -> Result<(), String> {
        let isa = &model.isa;
        let failure = |error: std::io::Error| error.to_string();
        // Written as a new file: overwriting one makes it go to the disk at once, which takes longer than most
        // programs.
        let save = |name: &str, bytes: &[u8]| {
            let path = model.folder.join(name);
            let _ = std::fs::remove_file(&path);
            std::fs::write(path, bytes).map_err(failure)
        };
        self.given += 1;
        // A program that was given up may still be reading its files.
        let number = model.starts.replace(model.starts.get() + 1) % 2;
        let mut line = String::new();
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
            let name = format!("start{number}.{}.hex", memory.name);
            save(&name, text.as_bytes())?;
            let _ = write!(line, "+{}={name} ", memory.name);
        }
        let mut text = format!("{:x}\n", start.state.pc);
        for (id, _) in changing(isa) {
            let _ = writeln!(text, "{:x}", start.state.register(id));
        }
        save(&format!("start{number}.state"), text.as_bytes())?;
        save(&format!("start{number}.input"), &start.input)?;
        let _ = writeln!(line, "+state=start{number}.state +input=start{number}.input +trace +limit={limit}");
        self.programs.write_all(line.as_bytes()).and_then(|()| self.programs.flush()).map_err(failure)
    }

    /// Reads numbers of the report.
    fn numbers<const COUNT: usize>(&mut self) -> Result<[u64; COUNT], String> {
        self.have(COUNT * 8)?;
        let mut numbers = [0; COUNT];
        for (number, bytes) in numbers.iter_mut().zip(self.buffer[self.from..].chunks_exact(8)) {
            *number = word(bytes);
        }
        self.from += COUNT * 8;
        Ok(numbers)
    }

    /// Waits until enough bytes are there. They mostly are.
    #[inline]
    fn have(&mut self, count: usize) -> Result<(), String> {
        if self.to - self.from >= count { Ok(()) } else { self.read(count) }
    }

    fn read(&mut self, count: usize) -> Result<(), String> {
        while self.to - self.from < count {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            match self.records.read(&mut self.buffer[self.to..]) {
                Ok(0) => return Err("the core stopped without a word".to_owned()),
                Ok(read) => self.to += read,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Reads everything up to the end of an instruction, or of the run.
    fn next(&mut self) -> Result<(), String> {
        self.told.cells.clear();
        self.told.devices.clear();
        loop {
            let [kind] = self.numbers()?;
            let code = kind >> 8;
            self.told.end = match kind & 0xff {
                1 => {
                    let [address, value] = self.numbers()?;
                    let same = |cell: &&mut (u32, u64, u64)| cell.0 == code as u32 && cell.1 == address;
                    match self.told.cells.iter_mut().find(same) {
                        Some(cell) => cell.2 = value,
                        None => self.told.cells.push((code as u32, address, value)),
                    }
                    continue;
                }
                2 => {
                    let arguments = self.numbers()?;
                    self.told.devices.push((code as usize, arguments));
                    continue;
                }
                3 => {
                    let [pc, next, low, high, cycles] = self.numbers()?;
                    self.have(self.words * 8)?;
                    let bytes = &self.buffer[self.from..self.from + self.words * 8];
                    for (register, bytes) in self.told.registers.iter_mut().zip(bytes.chunks_exact(8)) {
                        *register = word(bytes);
                    }
                    self.from += self.words * 8;
                    End::Retired(pc, next, u128::from(high) << 64 | u128::from(low), cycles)
                }
                4 => {
                    let [detail] = self.numbers()?;
                    End::Faulted(code, detail)
                }
                5 => End::Halted,
                6 => End::Over,
                _ => return Err(format!("the core says {kind:#x}, which is nothing")),
            };
            return Ok(());
        }
    }

    /// Waits for the end of the run, but not for long.
    fn finish(&mut self) -> Result<bool, String> {
        for _ in 0..PATIENCE {
            if self.told.end == End::Over {
                return Ok(true);
            }
            self.next()?;
        }
        Ok(false)
    }
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn compare(model: &Model, process: &mut Process, start: Start, limit: u64) -> Result<Compared, String> {
    let isa = &model.isa;
    let mut interpreter = Interpreter::new(isa);
    let mut devices = Devices::new(isa, Console::with_input(start.input));
    let mut state = start.state;
    let mut compared = Compared::default();
    let mut cycles = 0u64;
    let mut expected = Expected::new(model);
    let longest = isa.longest();
    let unused = 128 - longest * isa.code_memory().cell.bits();
    while compared.instructions < limit {
        devices.catch_up(compared.instructions, cycles);
        let pc = state.pc;
        // An instruction that `on step` replaces is not fetched.
        let window = isa.on_step.is_none().then(|| state.window(isa, pc, longest) >> unused);
        let step = interpreter.step(&mut state, &mut devices);
        cycles = cycles.wrapping_add(step.cycles);
        process.next().map_err(|error| format!("{error} at {pc:#x}, after {} instructions", compared.instructions))?;
        let told = &process.told;
        let done = compared.instructions;
        let place = |difference: String| {
            let bits = window.map_or_else(String::new, |window| format!(" with the bits {window:#x}"));
            format!("after {done} instructions, at {pc:#x}{bits}: {difference}")
        };
        if let Some(Stop::Fault(fault)) = &step.stop {
            check_fault(model, told, &fault.cause).map_err(place)?;
            compared.faults += 1;
            return Ok(compared);
        }
        check_retired(model, told, (pc, window), &state, &interpreter, &mut expected).map_err(place)?;
        if let End::Retired(.., clock) = told.end {
            compared.cycles = clock;
        }
        match step.stop {
            Some(Stop::Halted) => {
                process.next().map_err(|error| format!("{error} at {pc:#x}"))?;
                // If this is the last instruction, the run may be over before the core reports that it has halted.
                if compared.instructions + 1 < limit && process.told.end != End::Halted {
                    return Err(place(format!("the interpreter has halted, the core says {:x?}", process.told.end)));
                }
                compared.instructions += 1;
                return Ok(compared);
            }
            Some(Stop::Idle) => {
                compared.instructions += 1;
                return Ok(compared);
            }
            _ => compared.instructions += 1,
        }
    }
    Ok(compared)
}

/// Compares a fault, before which there may be no effects.
fn check_fault(model: &Model, told: &Told, cause: &FaultCause) -> Result<(), String> {
    let (message, detail) = match cause {
        FaultCause::Undefined => (lathe_hdl::UNDEFINED, 0),
        FaultCause::ForeignState => ("a state of another machine", 0),
        FaultCause::OutOfMemory => ("out of memory", 0),
        FaultCause::Declared(message, detail) => (message.as_str(), detail.unwrap_or(0)),
    };
    let is_same = matches!(told.end, End::Faulted(code, number)
        if number == detail && model.messages.get(code as usize).is_some_and(|told| told == message));
    if !is_same {
        let core = match told.end {
            End::Faulted(code, number) => format!("{:?} {number:x}", model.messages.get(code as usize)),
            other => format!("{other:x?}"),
        };
        return Err(format!("the fault: the core has {core}, the interpreter {message:?} {detail:x}"));
    }
    check("cells before a fault", &told.cells, &Vec::new())?;
    check("devices before a fault", &told.devices, &Vec::new())
}

/// Compares the effects of an instruction that was executed.
fn check_retired(
    model: &Model,
    told: &Told,
    (pc, window): (u64, Option<u128>),
    state: &State,
    interpreter: &Interpreter,
    expected: &mut Expected,
) -> Result<(), String> {
    let isa = &model.isa;
    let End::Retired(told_pc, told_next, told_bits, _) = told.end else {
        return Err(format!("the core says {:x?}, the interpreter has gone on to {:#x}", told.end, state.pc));
    };
    check("its address", told_pc, pc)?;
    check("the next address", told_next, state.pc)?;
    if let Some(window) = window {
        check("its bits", told_bits, window)?;
    }
    expected.follow(model, state)?;
    if told.registers != expected.words {
        for ((described, place), value) in isa.registers.iter().zip(&model.registers).zip(&expected.values) {
            if let Some(core) = place.as_ref().map(|place| place.of(&told.registers)).filter(|core| core != value) {
                return Err(difference(&described.name, &core, value));
            }
        }
        return Err(difference("all registers", &told.registers, &expected.words));
    }
    check_cells(told, state, interpreter)?;
    check_devices(model, told, interpreter)
}

/// Compares the cells that were written, each with its last content.
fn check_cells(told: &Told, state: &State, interpreter: &Interpreter) -> Result<(), String> {
    let value = |memory: MemoryId, address: u64| state.memory(memory).get(address);
    let is_told =
        |(memory, address): (MemoryId, u64)| told.cells.contains(&(memory.0, address, value(memory, address)));
    let is_done = |(memory, address, _): &(u32, u64, u64)| {
        interpreter.written().any(|done| done == (MemoryId(*memory), *address))
    };
    if interpreter.written().all(is_told) && told.cells.iter().all(is_done) {
        return Ok(());
    }
    let core: BTreeMap<(u32, u64), u64> =
        told.cells.iter().map(|(memory, address, value)| ((*memory, *address), *value)).collect();
    let done: BTreeMap<(u32, u64), u64> =
        interpreter.written().map(|(memory, address)| ((memory.0, address), value(memory, address))).collect();
    Err(difference("the cells written", &core, &done))
}

/// Compares the writes to devices, in order.
fn check_devices(model: &Model, told: &Told, interpreter: &Interpreter) -> Result<(), String> {
    let mut rest = told.devices.iter();
    let is_same = interpreter.device_uses().filter(|used| used.value.is_none()).all(|used| {
        let mut arguments = [0; 3];
        arguments.iter_mut().zip(&used.arguments).for_each(|(to, from)| *to = *from);
        rest.next().is_some_and(|(at, told)| {
            model.operations.get(*at) == Some(&(used.device, used.operation)) && *told == arguments
        })
    });
    if is_same && rest.next().is_none() {
        return Ok(());
    }
    let text = |device: DeviceId, operation: DeviceOperation, arguments: &[u64]| {
        let name = &model.isa.devices[device.index()].name;
        format!("{name}.{}{arguments:x?}", operation.name())
    };
    let core: Vec<String> = told
        .devices
        .iter()
        .map(|(at, arguments)| match model.operations.get(*at) {
            Some((device, operation)) => text(*device, *operation, arguments),
            None => format!("operation {at}"),
        })
        .collect();
    let done: Vec<String> = interpreter
        .device_uses()
        .filter(|used| used.value.is_none())
        .map(|used| text(used.device, used.operation, &used.arguments))
        .collect();
    Err(format!("the devices written: the core has {core:?}, the interpreter {done:?}"))
}

/// The registers of the interpreter in the form of the core's report. Most stay the same from one instruction to the
/// next.
struct Expected {
    values: Vec<u64>,
    words: Vec<u64>,
}

impl Expected {
    fn new(model: &Model) -> Expected {
        Expected { values: vec![0; model.registers.len()], words: vec![0; words(&model.isa)] }
    }

    fn follow(&mut self, model: &Model, state: &State) -> Result<(), String> {
        for (at, (value, known)) in state.registers().iter().zip(&mut self.values).enumerate() {
            if value != known {
                *known = *value;
                let Some(place) = &model.registers[at] else { continue };
                if *value > place.mask {
                    let name = &model.isa.registers[at].name;
                    return Err(format!("{name}: the interpreter has {value:x}, which is too wide"));
                }
                place.put(&mut self.words, *value);
            }
        }
        Ok(())
    }
}

impl Register {
    fn put(&self, words: &mut [u64], value: u64) {
        let put = |word: &mut u64, mask: u64, value: u64| *word = *word & !mask | value;
        put(&mut words[self.word], self.mask << self.shift, value << self.shift);
        if self.goes_on {
            let above = 64 - self.shift;
            put(&mut words[self.word + 1], self.mask >> above, value >> above);
        }
    }

    /// Returns its value in the core's report.
    fn of(&self, words: &[u64]) -> u64 {
        let value = words[self.word] >> self.shift;
        let above = if self.goes_on { words[self.word + 1] << (64 - self.shift) } else { 0 };
        (value | above) & self.mask
    }
}

fn check<T: PartialEq + std::fmt::Debug>(what: &str, core: T, interpreter: T) -> Result<(), String> {
    if core == interpreter {
        return Ok(());
    }
    Err(difference(what, &core, &interpreter))
}

fn difference<T: std::fmt::Debug>(what: &str, core: &T, interpreter: &T) -> String {
    format!("{what}: the core has {core:x?}, the interpreter {interpreter:x?}")
}

/// Returns the registers that can change, with their widths, in the order of the core's report.
fn changing(isa: &Isa) -> impl Iterator<Item = (RegisterId, u32)> {
    (0..)
        .map(RegisterId)
        .zip(&isa.registers)
        .filter(|(_, register)| !register.constant)
        .map(|(id, register)| (id, register.width.bits()))
}

/// Returns how many 64-bit numbers they take in the report.
fn words(isa: &Isa) -> usize {
    changing(isa).map(|(_, bits)| bits).sum::<u32>().div_ceil(64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::generate;

    /// Returns the report of a core that does what the interpreter has done.
    fn right(model: &Model, (pc, window): (u64, u128), state: &State, interpreter: &Interpreter) -> Told {
        let mut bits: Vec<bool> = Vec::new();
        for (id, width) in changing(&model.isa) {
            bits.extend((0..width).map(|at| state.register(id) >> at & 1 == 1));
        }
        let word = |bits: &[bool]| (0..).zip(bits).fold(0, |word, (at, bit)| word | u64::from(*bit) << at);
        let changes = interpreter.changes(state);
        let writes = changes.devices.iter().filter(|used| used.value.is_none()).map(|used| {
            let wanted = (used.device, used.operation);
            let at = model.operations.iter().position(|known| *known == wanted).expect("the core has it");
            let mut arguments = used.arguments.clone();
            arguments.resize(3, 0);
            (at, [arguments[0], arguments[1], arguments[2]])
        });
        Told {
            cells: changes.cells.iter().map(|cell| (cell.memory.0, cell.address, cell.new)).collect(),
            devices: writes.collect(),
            end: End::Retired(pc, state.pc, window, 0),
            registers: bits.chunks(64).map(word).collect(),
        }
    }

    /// Returns every kind of error in such a report, once.
    fn wrong(model: &Model, told: &Told) -> Vec<(String, Told)> {
        let mut all = Vec::new();
        let mut add = |what: String, change: &dyn Fn(&mut Told)| {
            let Told { cells, devices, end, registers } = told;
            let mut changed =
                Told { cells: cells.clone(), devices: devices.clone(), end: *end, registers: registers.clone() };
            change(&mut changed);
            all.push((what, changed));
        };
        let bits: u32 = changing(&model.isa).map(|(_, bits)| bits).sum();
        for bit in 0..bits {
            add(format!("bit {bit} of the registers"), &|told| told.registers[bit as usize / 64] ^= 1 << (bit % 64));
        }
        if let End::Retired(pc, next, bits, _) = told.end {
            add("the address".to_owned(), &|told| told.end = End::Retired(pc ^ 1, next, bits, 0));
            add("the next address".to_owned(), &|told| told.end = End::Retired(pc, next ^ 1, bits, 0));
            if model.isa.on_step.is_none() {
                add("the bits".to_owned(), &|told| told.end = End::Retired(pc, next, bits ^ 1, 0));
            }
        }
        add("halted".to_owned(), &|told| told.end = End::Halted);
        add("faulted".to_owned(), &|told| told.end = End::Faulted(0, 0));
        for at in 0..told.cells.len() {
            add(format!("cell {at} not written"), &|told| _ = told.cells.remove(at));
            add(format!("cell {at} in another memory"), &|told| told.cells[at].0 ^= 1);
            add(format!("cell {at} elsewhere"), &|told| told.cells[at].1 ^= 1 << 63);
            add(format!("cell {at} with another value"), &|told| told.cells[at].2 ^= 1);
        }
        add("a cell too many".to_owned(), &|told| told.cells.push((0, 1 << 62, 0)));
        for at in 0..told.devices.len() {
            add(format!("operation {at} lost"), &|told| _ = told.devices.remove(at));
            add(format!("operation {at} is another"), &|told| told.devices[at].0 ^= 1);
            for lane in 0..3 {
                add(format!("argument {lane} of operation {at}"), &|told| told.devices[at].1[lane] ^= 1);
            }
        }
        add("an operation too many".to_owned(), &|told| told.devices.push((0, [0; 3])));
        all
    }

    /// Registers that begin in one 64-bit number and end in another.
    const UNEVEN: &str = "
machine uneven \"Registers across numbers\"
memory ram : u8 -> u8
pc     pc  : u8 in ram
register a : u5
register b, c : u64
field D : register { b, c }
instructions {
  grow D | 0000000 D | D = D + D + 1; a = a + 1
}
";

    /// A correct core passes, and one with an error in anything that is compared does not.
    #[test]
    fn every_difference_is_seen() {
        let mut seen = [0, 0];
        let machines = ["quad8", "duo16", "hex8", "chip8", "rv64i", "rv32i"];
        let shipped = machines.map(|name| lathe_machines::find(name).expect("it ships"));
        let loaded = shipped.map(|machine| lathe_isa::load_with(machine.source(), &lathe_machines::Shipped));
        for loaded in loaded.into_iter().chain([lathe_isa::load(UNEVEN)]) {
            let isa = Arc::new(loaded.isa.expect("its definition is right"));
            let name = &isa.name;
            let design = lathe_hdl::generate(&isa, &[], &Program::default()).expect("it becomes hardware");
            let model = Model::of(&isa, design, Path::new("."));
            for seed in 1..=20 {
                let case = generate(&isa, seed);
                let mut state = State::new(&isa);
                case.lay_down(&isa, &mut state);
                let mut interpreter = Interpreter::new(&isa);
                let mut devices = Devices::new(&isa, Console::with_input(case.input.clone()));
                let mut expected = Expected::new(&model);
                for _ in 0..20 {
                    let before = (state.pc, 5);
                    let step = interpreter.step(&mut state, &mut devices);
                    if step.stop.is_some() {
                        break;
                    }
                    let told = right(&model, before, &state, &interpreter);
                    let given = (before.0, isa.on_step.is_none().then_some(before.1));
                    let check = |told: &Told| {
                        let mut expected = Expected { values: expected.values.clone(), words: expected.words.clone() };
                        check_retired(&model, told, given, &state, &interpreter, &mut expected)
                    };
                    check(&told).unwrap_or_else(|found| panic!("{name}, seed {seed}: {found}"));
                    for (what, told) in wrong(&model, &told) {
                        assert!(check(&told).is_err(), "{name}, seed {seed}: {what} was not seen");
                    }
                    expected.follow(&model, &state).expect("no register is too wide");
                    seen[0] += told.cells.len();
                    seen[1] += told.devices.len();
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 20), "too few cells and operations to be wrong about: {seen:?}");
    }
}
