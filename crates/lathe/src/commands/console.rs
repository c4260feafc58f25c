//! The console of a running machine on standard input and output.
//!
//! Output is collected and written in pieces: when there is much of it, at the end of a line
//! on a terminal, before the program waits for input, and whenever the runner flushes. Input
//! is read when the program asks for it, so one that never does never waits.

use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use lathe_vm::Console;

use crate::exit::Failure;
use crate::{output, signals};

/// Bytes that are read or written at once.
const PIECE: usize = 1 << 16;
/// The most bytes of output that an answer holds.
const CAPTURED: usize = 1 << 24;

/// What a program has written, as far as it is kept.
pub(super) struct Captured {
    pub(super) bytes: Vec<u8>,
    /// Whether there was more.
    pub(super) is_cut: bool,
}

/// Standard input and output, shared between the machine's console and who runs the machine.
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
    /// Whether the last byte that was passed on ends a line.
    at_line_start: bool,
    /// The first thing that went wrong.
    trouble: Option<Trouble>,
    /// What was written, if it is kept instead of passed on.
    captured: Option<Captured>,
    /// What was read, if it may be wanted again.
    recorded: Option<Vec<u8>>,
    /// How much of it was read again, and that nothing is written meanwhile.
    replayed: Option<usize>,
    search: Search,
}

/// Looks for a text in what a program writes.
#[derive(Default)]
struct Search {
    wanted: Vec<u8>,
    /// The last bytes, no more than are wanted.
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
    /// Whoever read the output has gone.
    NoReader,
    Failed(Failure),
}

impl Terminal {
    /// The standard streams of this process.
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

    /// From now on, notes whether this is written. Nothing is written in any case.
    pub(super) fn look_for(&self, text: &str) {
        let search = Search { wanted: text.into(), last: Vec::new(), found: text.is_empty() };
        self.with(|streams| streams.search = search);
    }

    /// Whether what was looked for has been written.
    pub(super) fn has_found(&self) -> bool {
        self.with(|streams| streams.search.found)
    }

    /// Standard input; output is kept for an answer.
    pub(super) fn captured() -> Terminal {
        let terminal = Terminal::new();
        terminal.with(|streams| streams.captured = Some(Captured { bytes: Vec::new(), is_cut: false }));
        terminal
    }

    /// What was kept.
    pub(super) fn take_captured(&self) -> Captured {
        self.with(|streams| {
            streams.flush();
            streams.captured.take().unwrap_or(Captured { bytes: Vec::new(), is_cut: false })
        })
    }

    /// Writes as the program does.
    pub(super) fn write(&self, bytes: &[u8]) {
        self.with(|streams| bytes.iter().for_each(|byte| streams.put(*byte)));
    }

    /// From now on, what is read is written down.
    pub(super) fn record(&self) {
        self.with(|streams| streams.recorded = Some(Vec::new()));
    }

    /// How much has been written down.
    pub(super) fn read_so_far(&self) -> usize {
        self.with(|streams| streams.recorded.as_ref().map_or(0, Vec::len))
    }

    /// Reads again what was written down from here on, and writes nothing.
    pub(super) fn replay(&self, from: usize) {
        self.with(|streams| {
            streams.flush();
            streams.replayed = Some(from);
        });
    }

    /// The console to give to the machine.
    pub(super) fn console(&self) -> Console {
        let (reading, writing) = (self.clone(), self.clone());
        let next = move || reading.with(Streams::next).into();
        Console::connected(next, move |byte| writing.with(|streams| streams.put(byte)))
    }

    /// Passes on what was written. Says whether there is still somebody to read it.
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

    /// Ends a line that the program has left open on a terminal, so that what is told next begins
    /// on its own line. A file gets only what the program wrote.
    pub(super) fn end_line(&self) {
        if self.with(|streams| streams.watched && !streams.at_line_start) && io::stderr().is_terminal() {
            output::complain("\n");
        }
    }

    /// The lock cannot be poisoned in a way that matters: the streams are consistent after every
    /// statement.
    fn with<T>(&self, act: impl FnOnce(&mut Streams) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Streams {
    /// The next byte of the input, `None` at its end.
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
                // Whoever presses Ctrl-C has nothing more to say.
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
