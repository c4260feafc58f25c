//! The console of a running machine on standard input and output.
//!
//! Output is collected and written in pieces: when there is much of it, at the end of a line on a terminal, before the
//! program waits for input, and whenever the runner flushes. Input is read only when the program asks for it, so a
//! program that never asks never waits.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use lathe_vm::Console;

use crate::exit::Failure;
use crate::{output, signals};

/// How many bytes to read or write at once.
const PIECE: usize = 1 << 16;
/// The most bytes of output in an answer.
const CAPTURED: usize = 1 << 24;

/// The program's output, as far as it is kept.
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more.
    pub(super) is_cut: bool,
}

/// Standard input and output, shared by the machine's console and the runner.
#[derive(Clone)]
pub(super) struct Terminal(Arc<Mutex<Streams>>);

struct Streams {
    input: Vec<u8>,
    /// How many bytes of `input` have been taken.
    taken: usize,
    input_ended: bool,
    written: Vec<u8>,
    /// Whether a person is watching, line by line.
    watched: bool,
    /// Whether the last byte passed on ends a line.
    at_line_start: bool,
    /// The first error.
    trouble: Option<Trouble>,
    /// The output, if it is kept instead of passed on.
    captured: Option<Captured>,
    /// The input read, if it may be needed again.
    recorded: Option<Vec<u8>>,
    /// How much of the recorded input has been read again; while this is set, nothing is written.
    replayed: Option<usize>,
    search: Search,
}

/// Searches a program's output for a text.
#[derive(Default)]
struct Search {
    wanted: Vec<u8>,
    /// The last bytes, as many as the wanted text has at most.
    last: Vec<u8>,
    found: bool,
}

impl Search {
    fn see(&mut self, byte: u8) {
        if self.found {
            return;
        }
        if self.last.len() == self.wanted.len() {
            self.last.remove(0);
        }
        self.last.push(byte);
        self.found = self.last == self.wanted;
    }
}

enum Trouble {
    /// The reader of the output has gone.
    NoReader,
    Failed(Failure),
}

impl Terminal {
    /// Creates a terminal on the standard streams of this process.
    pub(super) fn new() -> Terminal {
        Terminal(Arc::new(Mutex::new(Streams {
            input: Vec::new(),
            taken: 0,
            input_ended: false,
            written: Vec::with_capacity(PIECE),
            watched: io::stdout().is_terminal(),
            at_line_start: true,
            trouble: None,
            captured: None,
            recorded: None,
            replayed: None,
            search: Search { found: true, ..Search::default() },
        })))
    }

    /// Notes from now on whether the program writes this text. An empty text counts as written.
    pub(super) fn look_for(&self, text: &str) {
        let search = Search { wanted: text.into(), last: Vec::new(), found: text.is_empty() };
        self.with(|streams| streams.search = search);
    }

    /// Whether the text looked for has been written.
    pub(super) fn has_found(&self) -> bool {
        self.with(|streams| streams.search.found)
    }

    /// Creates a terminal that reads standard input and keeps output for an answer.
    pub(super) fn captured() -> Terminal {
        let terminal = Terminal::new();
        terminal.with(|streams| streams.captured = Some(Captured { bytes: Vec::new(), is_cut: false }));
        terminal
    }

    /// Takes the kept output.
    pub(super) fn take_captured(&self) -> Captured {
        self.with(|streams| {
            streams.flush();
            streams.captured.take().unwrap_or(Captured { bytes: Vec::new(), is_cut: false })
        })
    }

    /// Writes as the program would.
    pub(super) fn write(&self, bytes: &[u8]) {
        self.with(|streams| bytes.iter().for_each(|byte| streams.put(*byte)));
    }

    /// Records input from now on.
    pub(super) fn record(&self) {
        self.with(|streams| streams.recorded = Some(Vec::new()));
    }

    /// Returns how many bytes have been recorded.
    pub(super) fn read_so_far(&self) -> usize {
        self.with(|streams| streams.recorded.as_ref().map_or(0, Vec::len))
    }

    /// Replays the recorded input from this position on, and writes nothing.
    pub(super) fn replay(&self, from: usize) {
        self.with(|streams| {
            streams.flush();
            streams.replayed = Some(from);
        });
    }

    /// Returns the console to give to the machine.
    pub(super) fn console(&self) -> Console {
        let (reading, writing) = (self.clone(), self.clone());
        let next = move || reading.with(Streams::next).into();
        Console::connected(next, move |byte| writing.with(|streams| streams.put(byte)))
    }

    /// Passes on what was written. Returns whether its reader is still there.
    pub(super) fn flush(&self) -> Result<bool, Failure> {
        self.with(|streams| {
            streams.flush();
            match &streams.trouble {
                None => Ok(true),
                Some(Trouble::NoReader) => Ok(false),
                Some(Trouble::Failed(failure)) => Err(failure.clone()),
            }
        })
    }

    /// Ends a line that the program left open on a terminal, so that a following message starts its own line. A file
    /// gets only what the program wrote.
    pub(super) fn end_line(&self) {
        if self.with(|streams| streams.watched && !streams.at_line_start) && io::stderr().is_terminal() {
            output::complain("\n");
        }
    }

    /// Locks the streams. Poisoning does not matter: the streams are consistent after every statement.
    fn with<T>(&self, act: impl FnOnce(&mut Streams) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Streams {
    /// Returns the next byte of the input, `None` at its end.
    fn next(&mut self) -> Option<u8> {
        if let (Some(at), Some(recorded)) = (&mut self.replayed, &self.recorded) {
            let byte = recorded.get(*at).copied();
            *at += usize::from(byte.is_some());
            return byte;
        }
        let byte = self.next_new();
        if let Some(recorded) = &mut self.recorded {
            recorded.extend(byte);
        }
        byte
    }

    fn next_new(&mut self) -> Option<u8> {
        if self.taken == self.input.len() && !self.input_ended {
            self.flush();
            self.refill();
        }
        let byte = self.input.get(self.taken).copied();
        self.taken += usize::from(byte.is_some());
        byte
    }

    fn refill(&mut self) {
        self.taken = 0;
        self.input.resize(PIECE, 0);
        let count = loop {
            match io::stdin().read(&mut self.input) {
                // Ctrl-C ends the input.
                Err(error) if error.kind() == ErrorKind::Interrupted => {
                    if signals::pressed().load(Ordering::Relaxed) {
                        break 0;
                    }
                }
                Err(error) => {
                    let failure = Failure::input(format!("standard input cannot be read: {error}"));
                    self.trouble.get_or_insert(Trouble::Failed(failure));
                    break 0;
                }
                Ok(count) => break count,
            }
        };
        self.input.truncate(count);
        self.input_ended = count == 0;
    }

    fn put(&mut self, byte: u8) {
        if self.replayed.is_some() {
            return;
        }
        self.search.see(byte);
        self.written.push(byte);
        if self.written.len() >= PIECE || (self.watched && byte == b'\n') {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let Some(last) = self.written.last() else { return };
        if let Some(captured) = &mut self.captured {
            let room = CAPTURED.saturating_sub(captured.bytes.len());
            captured.is_cut |= room < self.written.len();
            captured.bytes.extend(self.written.drain(..).take(room));
            return;
        }
        self.at_line_start = *last == b'\n';
        let mut stream = io::stdout().lock();
        if let Err(error) = stream.write_all(&self.written).and_then(|()| stream.flush()) {
            let closed = error.kind() == ErrorKind::BrokenPipe;
            let trouble = if closed { Trouble::NoReader } else { Trouble::Failed(output::unwritable(&error)) };
            self.trouble.get_or_insert(trouble);
        }
        self.written.clear();
    }
}
