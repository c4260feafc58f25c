//! The console: bytes in, bytes out.

use std::fmt;
use std::sync::Arc;

use lathe_isa::model::DeviceOperation;

use super::Device;

/// The console of a machine: bytes in from a queue, bytes out to a list.
///
/// The host fills the queue and empties the list between runs. A console can also be [connected](Console::connected);
/// it then asks for input when the queue is empty.
#[derive(Default)]
pub struct Console {
    /// The input given; a snapshot may share it.
    given: Arc<Vec<u8>>,
    /// How much of the input has been read.
    position: usize,
    /// Whether more may be given, so that reading from an empty queue waits.
    open: bool,
    source: Option<Source>,
    output: Vec<u8>,
    /// How many bytes were written before those in `output`.
    passed_on: u64,
    sink: Option<Box<dyn FnMut(u8) + Send>>,
}

/// What a read finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The next byte.
    Byte(u8),
    /// Nothing now, but more may come.
    NotYet,
    /// Nothing, and no more will come.
    Ended,
}

/// The next byte, or the end.
impl From<Option<u8>> for Input {
    fn from(byte: Option<u8>) -> Input {
        byte.map_or(Input::Ended, Input::Byte)
    }
}

/// Where input comes from.
struct Source {
    ask: Box<dyn FnMut() -> Input + Send>,
    /// What was received, kept while it may have to be read again because of a snapshot.
    received: Vec<u8>,
    /// How much of what was received has been read.
    position: usize,
    /// Whether a snapshot has been taken.
    kept: bool,
    identity: Arc<()>,
}

impl Source {
    /// Returns what comes next, without consuming it.
    fn peek(&mut self) -> Input {
        if self.position == self.received.len() {
            match (self.ask)() {
                Input::Byte(byte) => self.received.push(byte),
                other => return other,
            }
        }
        Input::Byte(self.received[self.position])
    }

    fn consume(&mut self) {
        self.position += 1;
        if !self.kept && self.position == self.received.len() {
            self.received.clear();
            self.position = 0;
        }
    }
}

impl Console {
    /// Makes a console with this input, which then ends.
    pub fn with_input(input: impl IntoIterator<Item = u8>) -> Console {
        Console { given: Arc::new(input.into_iter().collect()), ..Console::default() }
    }

    /// Makes a console whose input has not ended: a program that reads when there is none yet waits until more is
    /// [given](Console::give) or the input [ends](Console::end_input).
    pub fn open() -> Console {
        Console { open: true, ..Console::default() }
    }

    /// Makes a console that asks `source` for every byte and passes every byte to `sink`. After going back to a
    /// snapshot, it does not ask again for what has been received since: that is kept, and read again.
    pub fn connected(source: impl FnMut() -> Input + Send + 'static, sink: impl FnMut(u8) + Send + 'static) -> Console {
        let identity = Arc::new(());
        let source = Source { ask: Box::new(source), received: Vec::new(), position: 0, kept: false, identity };
        Console { source: Some(source), sink: Some(Box::new(sink)), ..Console::default() }
    }

    /// Returns what has been written and not passed on.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Returns how many bytes have been written since the beginning.
    pub fn written(&self) -> u64 {
        self.passed_on + self.output.len() as u64
    }

    /// Returns how many of the bytes given have not been read yet.
    pub fn unread(&self) -> usize {
        self.given.len() - self.position
    }

    /// Gives the console more to read.
    pub fn give(&mut self, bytes: &[u8]) {
        // Bytes already read are dropped if a snapshot has them, or if there are many.
        if Arc::get_mut(&mut self.given).is_none_or(|given| self.position > given.len() / 2) {
            self.given = Arc::new(self.given[self.position..].to_vec());
            self.position = 0;
        }
        Arc::make_mut(&mut self.given).extend_from_slice(bytes);
    }

    /// Opens the input: more may come from now on, and a program that reads when there is nothing waits.
    pub fn open_input(&mut self) {
        self.open = true;
    }

    /// Ends the input: nothing more will be given, and a program that reads beyond the end gets 0.
    pub fn end_input(&mut self) {
        self.open = false;
    }

    /// Takes out what has been written and not passed on.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.passed_on = self.written();
        std::mem::take(&mut self.output)
    }

    /// Returns what comes next, without consuming it.
    fn peek(&mut self) -> Input {
        match (self.given.get(self.position), &mut self.source) {
            (Some(byte), _) => Input::Byte(*byte),
            (None, Some(source)) => source.peek(),
            (None, None) if self.open => Input::NotYet,
            (None, None) => Input::Ended,
        }
    }

    fn consume(&mut self) {
        match &mut self.source {
            Some(source) if self.position == self.given.len() => source.consume(),
            _ => self.position += 1,
        }
    }
}

impl Device for Console {
    type Saved = SavedConsole;

    /// Reads a byte, 0 at the end of the input, or tells whether there is one now.
    fn read(&mut self, operation: DeviceOperation, _arguments: &[u64]) -> Option<u64> {
        let next = self.peek();
        match (operation, next) {
            (DeviceOperation::Read, Input::Byte(byte)) => {
                self.consume();
                Some(u64::from(byte))
            }
            (DeviceOperation::Read, Input::NotYet) => None,
            (DeviceOperation::Ready, Input::Byte(_)) => Some(1),
            _ => Some(0),
        }
    }

    fn write(&mut self, _operation: DeviceOperation, arguments: &[u64]) {
        let byte = arguments.first().map_or(0, |value| *value as u8);
        match &mut self.sink {
            Some(sink) => {
                sink(byte);
                self.passed_on += 1;
            }
            None => self.output.push(byte),
        }
    }

    fn save(&mut self) -> SavedConsole {
        let received = self.source.as_mut().map(|source| {
            source.kept = true;
            (Identity(source.identity.clone()), source.position)
        });
        let (given, position, open) = (self.given.clone(), self.position, self.open);
        SavedConsole { given, position, open, received, written: self.written() }
    }

    /// Goes back to a saved state. Output written since is dropped if it has not been taken out; otherwise it cannot
    /// be.
    fn restore(&mut self, saved: &SavedConsole) {
        self.given = saved.given.clone();
        (self.position, self.open) = (saved.position, saved.open);
        if let (Some(source), Some((identity, position))) = (&mut self.source, &saved.received)
            && Arc::ptr_eq(&source.identity, &identity.0)
        {
            source.position = *position;
        }
        let kept = saved.written.checked_sub(self.passed_on).filter(|kept| *kept <= self.output.len() as u64);
        self.output.truncate(kept.unwrap_or(0) as usize);
        self.passed_on = saved.written - self.output.len() as u64;
    }
}

/// The state of a console at some moment.
#[derive(Debug)]
pub struct SavedConsole {
    given: Arc<Vec<u8>>,
    position: usize,
    open: bool,
    /// How much of what a source gave had been read, and which source it was.
    received: Option<(Identity, usize)>,
    written: u64,
}

/// The identity of a source.
struct Identity(Arc<()>);

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("source")
    }
}

/// Equal if the same remains to be read and as much has been written.
impl PartialEq for SavedConsole {
    fn eq(&self, other: &Self) -> bool {
        let received = |saved: &Self| saved.received.as_ref().map(|(_, position)| *position);
        self.given[self.position..] == other.given[other.position..]
            && self.open == other.open
            && received(self) == received(other)
            && self.written == other.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(console: &mut Console) -> Option<u64> {
        console.read(DeviceOperation::Read, &[])
    }

    #[test]
    fn open_input_is_waited_for_and_ended_input_reads_zero() {
        let mut console = Console::open();
        assert_eq!((read(&mut console), console.read(DeviceOperation::Ready, &[])), (None, Some(0)));
        console.give(b"ab");
        assert_eq!((read(&mut console), console.read(DeviceOperation::Ready, &[])), (Some(97), Some(1)));
        console.end_input();
        assert_eq!((read(&mut console), read(&mut console)), (Some(98), Some(0)));
    }

    #[test]
    fn what_a_source_gave_after_a_snapshot_is_read_again() {
        let mut bytes = b"xyz".iter().copied();
        let mut console = Console::connected(move || bytes.next().into(), |_| {});
        assert_eq!(read(&mut console), Some(120));
        let saved = console.save();
        assert_eq!((read(&mut console), read(&mut console), read(&mut console)), (Some(121), Some(122), Some(0)));
        console.restore(&saved);
        assert_eq!(console.save(), saved);
        assert_eq!((read(&mut console), read(&mut console), read(&mut console)), (Some(121), Some(122), Some(0)));
    }

    #[test]
    fn output_since_a_snapshot_is_forgotten() {
        let mut console = Console::default();
        let write = |console: &mut Console, byte| console.write(DeviceOperation::Write, &[byte]);
        write(&mut console, 1);
        let saved = console.save();
        write(&mut console, 2);
        console.restore(&saved);
        assert_eq!((console.output(), console.written()), (&[1][..], 1));
        write(&mut console, 3);
        assert_eq!(console.take_output(), [1, 3]);
        console.restore(&saved);
        assert_eq!((console.output(), console.written()), (&[][..], 1));
    }

    #[test]
    fn a_snapshot_has_the_input_of_its_time() {
        let mut console = Console::with_input(*b"abc");
        read(&mut console);
        let saved = console.save();
        console.give(b"d");
        assert_eq!(console.unread(), 3);
        console.restore(&saved);
        assert_eq!(console.unread(), 2);
        let mut other = Console::default();
        other.restore(&saved);
        assert_eq!((read(&mut other), read(&mut other), read(&mut other)), (Some(98), Some(99), Some(0)));
    }
}
