//! The console: bytes in, bytes out.

use std::collections::VecDeque;

use super::Device;

/// The console of a machine: bytes in from a queue, bytes out to a list.
///
/// Who runs the machine fills the one and empties the other between runs; a reader at the
/// edge can also be attached, which is asked when the queue is empty.
#[derive(Default)]
pub struct Console {
    input: VecDeque<u8>,
    output: Vec<u8>,
    more: Option<Box<dyn FnMut() -> Option<u8> + Send>>,
    sink: Option<Box<dyn FnMut(u8) + Send>>,
}

impl Console {
    /// A console that has this to give.
    pub fn with_input(input: impl IntoIterator<Item = u8>) -> Console {
        Console { input: input.into_iter().collect(), ..Console::default() }
    }

    /// A console that asks `more` for every byte and gives `sink` every byte.
    pub fn connected(
        more: impl FnMut() -> Option<u8> + Send + 'static,
        sink: impl FnMut(u8) + Send + 'static,
    ) -> Console {
        Console { more: Some(Box::new(more)), sink: Some(Box::new(sink)), ..Console::default() }
    }

    /// What has been written and not passed on.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Gives it more to read.
    pub fn give(&mut self, bytes: &[u8]) {
        self.input.extend(bytes);
    }

    /// Takes away what has been written and not passed on.
    pub fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.output)
    }

    fn fetch(&mut self) {
        if self.input.is_empty() {
            let byte = self.more.as_mut().and_then(|more| more());
            self.input.extend(byte);
        }
    }
}

impl Device for Console {
    /// Operation 0 reads a byte, 0 at the end of the input; operation 2 tells whether one is left.
    fn read(&mut self, operation: u8, _arguments: &[u64]) -> u64 {
        self.fetch();
        match operation {
            0 => u64::from(self.input.pop_front().unwrap_or(0)),
            _ => u64::from(!self.input.is_empty()),
        }
    }

    fn write(&mut self, _operation: u8, arguments: &[u64]) {
        let byte = arguments.first().map_or(0, |value| *value as u8);
        match &mut self.sink {
            Some(sink) => sink(byte),
            None => self.output.push(byte),
        }
    }
}
