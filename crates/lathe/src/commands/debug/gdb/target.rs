//! What gdb asks for, done by the debugger: registers and memory as the [`Guise`] shows them, breakpoints,
//! watches, steps in both directions, and `monitor` for all commands of Lathe's own debugger.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;

use gdbstub::arch::{Arch, Registers};
use gdbstub::common::Signal;
use gdbstub::conn::{Connection, ConnectionExt};
use gdbstub::stub::SingleThreadStopReason;
use gdbstub::stub::run_blocking::{BlockingEventLoop, Event, WaitForStopReasonError};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::reverse_exec::{
    ReplayLogPosition, ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps,
};
use gdbstub::target::ext::base::singlethread::{
    SingleThreadBase, SingleThreadResume, SingleThreadResumeOps, SingleThreadSingleStep, SingleThreadSingleStepOps,
};
use gdbstub::target::ext::breakpoints::{
    Breakpoints, BreakpointsOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps, WatchKind,
};
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd, MonitorCmdOps};
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::{TargetError, TargetResult};
use lathe_base::numbers::addresses_from;
use lathe_debug::breakpoints::CellAccess;
use lathe_debug::{Answer, Debugger, Detail, Effect, Host, Problem, Reason, Stopped, What, command, execute};

use super::super::save;
use super::guise::Guise;

/// The register numbers and sizes of a machine in its [`Guise`].
pub(super) struct Posing;

impl Arch for Posing {
    type Usize = u64;
    type Registers = AllRegisters;
    type BreakpointKind = usize;
    type RegId = ();
}

/// All registers, concatenated. The target description says what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AllRegisters(Vec<u8>);

impl Registers for AllRegisters {
    type ProgramCounter = u64;

    /// Unused: gdb finds the program counter among the other registers.
    fn pc(&self) -> u64 {
        0
    }

    fn gdb_serialize(&self, mut write_byte: impl FnMut(Option<u8>)) {
        self.0.iter().for_each(|byte| write_byte(Some(*byte)));
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        self.0 = bytes.to_vec();
        Ok(())
    }
}

/// What gdb has set: the address, the number of bytes, and the accesses. Breakpoints have no accesses.
type Set = (u64, u64, Option<u8>);

/// A debugger that gdb drives.
pub(super) struct GdbTarget<'d> {
    debugger: &'d mut Debugger,
    guise: Guise,
    /// The connection, to hear whether gdb wants something else while a `monitor` command runs.
    line: TcpStream,
    motion: Motion,
    set: BTreeMap<Set, u32>,
}

/// What to do next.
#[derive(Clone, Copy)]
enum Motion {
    Run,
    Step,
    RunBack,
    StepBack,
}

impl<'d> GdbTarget<'d> {
    pub(super) fn new(debugger: &'d mut Debugger, guise: Guise, line: TcpStream) -> GdbTarget<'d> {
        GdbTarget { debugger, guise, line, motion: Motion::Run, set: BTreeMap::new() }
    }

    /// Removes what gdb has set, for the next client.
    pub(super) fn leave(self) -> Guise {
        for id in self.set.values() {
            self.debugger.breakpoints.remove(*id);
        }
        self.guise
    }

    fn go(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        match self.motion {
            Motion::Run => self.run(host),
            Motion::Step => self.debugger.step(1, host),
            Motion::StepBack => match self.debugger.position() {
                0 => Ok(Stopped { reason: Reason::Beginning, from: 0, position: 0 }),
                _ => self.debugger.back(1, host),
            },
            Motion::RunBack => match self.debugger.position() {
                0 => Ok(Stopped { reason: Reason::Beginning, from: 0, position: 0 }),
                _ => self.run_back(host),
            },
        }
    }

    /// Runs forward. gdb expects a RISC-V to stop before a watched access, and executes that access itself.
    fn run(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        let stopped = self.debugger.run(host)?;
        if stopped.reason.is_watch() {
            self.debugger.go_to(stopped.position - 1)?;
        }
        Ok(stopped)
    }

    /// Runs backwards. Here, too, gdb undoes the access itself, which may be the one just executed.
    fn run_back(&mut self, host: &mut dyn Host) -> Result<Stopped, Problem> {
        self.debugger.go_to(self.debugger.position() - 1)?;
        let again = self.debugger.step(1, host)?;
        if again.reason.is_watch() { Ok(again) } else { self.debugger.run_back(host) }
    }

    /// Returns why the run stopped, in gdb's terms; `None` if gdb interrupted it.
    fn reason(&self, reason: &Reason) -> Option<SingleThreadStopReason<u64>> {
        Some(match reason {
            Reason::Done => SingleThreadStopReason::DoneStep,
            Reason::Hit(hits) => {
                let watch = hits.iter().find(|hit| matches!(hit.detail, Detail::Cells { .. }));
                let set = watch.and_then(|hit| self.set.iter().find(|(_, id)| **id == hit.id));
                match set {
                    Some(((addr, _, Some(kind)), _)) => {
                        SingleThreadStopReason::Watch { tid: (), kind: watch_kind(*kind), addr: *addr }
                    }
                    _ => SingleThreadStopReason::SwBreak(()),
                }
            }
            Reason::Halted | Reason::Idle => SingleThreadStopReason::Signal(Signal::SIGSTOP),
            Reason::Fault(_) => SingleThreadStopReason::Signal(Signal::SIGILL),
            Reason::Waiting(_) => SingleThreadStopReason::Signal(Signal::SIGTTIN),
            Reason::Beginning => SingleThreadStopReason::ReplayLog { tid: None, pos: ReplayLogPosition::Begin },
            Reason::Paused => return None,
        })
    }

    fn add(&mut self, set: Set, what: What) -> bool {
        let text = format!("gdb 0x{:x}", set.0);
        let id = self.debugger.breakpoints.add(text, what, None, Effect::Stop);
        if let Some(before) = self.set.insert(set, id) {
            self.debugger.breakpoints.remove(before);
        }
        true
    }

    fn remove(&mut self, set: Set) -> bool {
        let id = self.set.remove(&set);
        id.is_some_and(|id| self.debugger.breakpoints.remove(id))
    }

    /// Disassembles the instruction at one of gdb's addresses, with its length in bytes, for the script's disassembler.
    fn instruction(&self, text: &str) -> Option<String> {
        let address = self.guise.code_cell(u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()?)?;
        let line = self.debugger.program().line(self.debugger.state(), address);
        Some(format!("{} {}\n", self.guise.code_address(line.length), line.text))
    }

    /// Answers a command of Lathe's own debugger.
    fn answer(&mut self, line: &str) -> String {
        if let Some(address) = line.strip_prefix("instruction ") {
            return self.instruction(address.trim()).unwrap_or_else(|| "there is no code there\n".to_owned());
        }
        let mut host = Listening(&self.line);
        let answer = execute(self.debugger, line, &mut host).and_then(|answer| match answer {
            Answer::Save { file, session } => {
                save(&file, &session)?;
                Ok(Answer::Save { file, session })
            }
            Answer::Quit => Err(Problem::new("gdb has its own `quit`").help("`kill` ends Lathe as well")),
            other => Ok(other),
        });
        answer.map_or_else(|problem| plain(&problem), |answer| answer.to_string())
    }
}

/// Renders a problem without colours: gdb's console may be anything.
fn plain(problem: &Problem) -> String {
    let help = problem.help.iter().map(|help| format!("help: {help}\n"));
    std::iter::once(format!("error: {}\n", problem.message)).chain(help).collect()
}

fn watch_number(kind: WatchKind) -> u8 {
    match kind {
        WatchKind::Write => 0,
        WatchKind::Read => 1,
        WatchKind::ReadWrite => 2,
    }
}

fn watch_kind(number: u8) -> WatchKind {
    [WatchKind::Write, WatchKind::Read, WatchKind::ReadWrite][usize::from(number.min(2))]
}

impl gdbstub::target::Target for GdbTarget<'_> {
    type Arch = Posing;
    type Error = io::Error;

    fn base_ops(&mut self) -> BaseOps<'_, Posing, io::Error> {
        BaseOps::SingleThread(self)
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(&mut self) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadBase for GdbTarget<'_> {
    fn read_registers(&mut self, registers: &mut AllRegisters) -> TargetResult<(), Self> {
        registers.0 = self.guise.bytes(self.debugger.state());
        Ok(())
    }

    fn write_registers(&mut self, registers: &AllRegisters) -> TargetResult<(), Self> {
        for (name, value) in self.guise.differences(self.debugger.state(), &registers.0) {
            // A constant register keeps its value, as gdb will see.
            let _ = self.debugger.set(&format!("{name} = {value}"));
        }
        Ok(())
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8]) -> TargetResult<usize, Self> {
        let mut read = 0;
        for (byte, address) in data.iter_mut().zip(addresses_from(start)) {
            let Some(located) = self.guise.locate(address) else { break };
            let cell = self.debugger.state().memory(located.memory).get(located.cell);
            *byte = (cell >> located.shift) as u8;
            read += 1;
        }
        if read == 0 && !data.is_empty() { Err(TargetError::NonFatal) } else { Ok(read) }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8]) -> TargetResult<(), Self> {
        for (byte, address) in data.iter().zip(addresses_from(start)) {
            let located = self.guise.locate(address).ok_or(TargetError::NonFatal)?;
            let cell = self.debugger.state().memory(located.memory).get(located.cell);
            let cell = cell & !(0xFF << located.shift) | u64::from(*byte) << located.shift;
            self.debugger.write_cells(located.memory, located.cell, &[cell]);
        }
        Ok(())
    }

    fn support_resume(&mut self) -> Option<SingleThreadResumeOps<'_, Self>> {
        Some(self)
    }
}

impl SingleThreadResume for GdbTarget<'_> {
    fn resume(&mut self, _: Option<Signal>) -> io::Result<()> {
        self.motion = Motion::Run;
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<SingleThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, (), Self>> {
        Some(self)
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, (), Self>> {
        Some(self)
    }
}

impl SingleThreadSingleStep for GdbTarget<'_> {
    fn step(&mut self, _: Option<Signal>) -> io::Result<()> {
        self.motion = Motion::Step;
        Ok(())
    }
}

impl ReverseStep<()> for GdbTarget<'_> {
    fn reverse_step(&mut self, (): ()) -> io::Result<()> {
        self.motion = Motion::StepBack;
        Ok(())
    }
}

impl ReverseCont<()> for GdbTarget<'_> {
    fn reverse_cont(&mut self) -> io::Result<()> {
        self.motion = Motion::RunBack;
        Ok(())
    }
}

impl Breakpoints for GdbTarget<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl SwBreakpoint for GdbTarget<'_> {
    fn add_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        let Some(cell) = self.guise.code_cell(address) else { return Ok(false) };
        Ok(self.add((address, 0, None), What::At(vec![cell])))
    }

    fn remove_sw_breakpoint(&mut self, address: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove((address, 0, None)))
    }
}

impl HwWatchpoint for GdbTarget<'_> {
    fn add_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let ends = (self.guise.locate(address), self.guise.locate(address.saturating_add(length.max(1) - 1)));
        let (Some(first), Some(last)) = ends else { return Ok(false) };
        if first.memory != last.memory {
            return Ok(false);
        }
        let access = match kind {
            WatchKind::Write => CellAccess::Write,
            WatchKind::Read => CellAccess::Read,
            WatchKind::ReadWrite => CellAccess::Any,
        };
        let what = What::Cells { memory: first.memory, addresses: first.cell..=last.cell, access };
        Ok(self.add((address, length, Some(watch_number(kind))), what))
    }

    fn remove_hw_watchpoint(&mut self, address: u64, length: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        Ok(self.remove((address, length, Some(watch_number(kind)))))
    }
}

impl TargetDescriptionXmlOverride for GdbTarget<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buffer: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        let text = self.guise.description();
        let rest = usize::try_from(offset).ok().and_then(|offset| text.as_bytes().get(offset..)).unwrap_or_default();
        let count = rest.len().min(length).min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl MonitorCmd for GdbTarget<'_> {
    fn handle_monitor_cmd(&mut self, line: &[u8], mut out: ConsoleOutput<'_>) -> io::Result<()> {
        let line = String::from_utf8_lossy(line).into_owned();
        let answer = self.answer(line.trim());
        out.write_raw(answer.as_bytes());
        Ok(())
    }
}

/// Runs until gdb sends something: while it waits, it sends only a request to stop.
struct Listening<'l>(&'l TcpStream);

impl Host for Listening<'_> {
    fn goes_on(&mut self) -> bool {
        is_silent(self.0)
    }
}

fn is_silent(line: &TcpStream) -> bool {
    let silent = line.set_nonblocking(true).and_then(|()| line.peek(&mut [0]));
    silent.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// Passes on a program's output while gdb waits for it to stop.
struct Speaking<'s> {
    line: &'s mut TcpStream,
    failed: Option<io::Error>,
    /// Whether the next text begins a line.
    at_start: bool,
}

impl Speaking<'_> {
    /// Shows a message of ours on its own line.
    fn tell(&mut self, text: &str) {
        let start = if self.at_start { "" } else { "\n" };
        self.show(format!("{start}{text}").as_bytes());
    }

    /// Sends a packet for gdb to show: an `O`, the bytes in hexadecimal, and a checksum of all that.
    fn show(&mut self, bytes: &[u8]) {
        let mut packet = String::from("$O");
        packet.extend(bytes.iter().map(|byte| format!("{byte:02x}")));
        let sum = packet.bytes().skip(1).fold(0u8, u8::wrapping_add);
        packet += &format!("#{sum:02x}");
        let sent = self.line.set_nonblocking(false).and_then(|()| Connection::write_all(self.line, packet.as_bytes()));
        self.failed = self.failed.take().or(sent.err());
        self.at_start = bytes.ends_with(b"\n");
    }
}

impl Host for Speaking<'_> {
    fn goes_on(&mut self) -> bool {
        self.failed.is_none() && is_silent(self.line)
    }

    fn log(&mut self, text: &str) {
        self.tell(&format!("log: {text}\n"));
    }

    /// gdb shows this on a terminal, so escapes must not reach it.
    fn output(&mut self, bytes: &[u8]) {
        self.show(lathe_debug::printable(bytes).as_bytes());
    }
}

/// Runs, and tells gdb why it stopped.
pub(super) struct Loop<'d>(std::marker::PhantomData<&'d ()>);

impl<'d> BlockingEventLoop for Loop<'d> {
    type Target = GdbTarget<'d>;
    type Connection = TcpStream;
    type StopReason = SingleThreadStopReason<u64>;

    fn wait_for_stop_reason(
        target: &mut GdbTarget<'d>,
        line: &mut TcpStream,
    ) -> Result<Event<Self::StopReason>, WaitForStopReasonError<io::Error, io::Error>> {
        let mut host = Speaking { line, failed: None, at_start: true };
        let reason = match target.go(&mut host) {
            Ok(stopped) => {
                let (_, message) = command::explain(target.debugger, &stopped.reason);
                if !matches!(stopped.reason, Reason::Done | Reason::Hit(_) | Reason::Paused | Reason::Beginning) {
                    host.tell(&format!("{message}\n"));
                }
                target.reason(&stopped.reason)
            }
            Err(problem) => {
                host.tell(&plain(&problem));
                Some(SingleThreadStopReason::Signal(Signal::SIGSTOP))
            }
        };
        if let Some(error) = host.failed {
            return Err(WaitForStopReasonError::Connection(error));
        }
        match reason {
            Some(reason) => Ok(Event::TargetStopped(reason)),
            None => ConnectionExt::read(line).map(Event::IncomingData).map_err(WaitForStopReasonError::Connection),
        }
    }

    fn on_interrupt(_: &mut GdbTarget<'d>) -> io::Result<Option<Self::StopReason>> {
        Ok(Some(SingleThreadStopReason::Signal(Signal::SIGINT)))
    }
}
