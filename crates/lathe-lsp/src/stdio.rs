//! Messages on standard input and output. Like `Connection::stdio` of lsp-server, but checks the length that a header
//! claims before allocating that much.

use std::io::{self, BufRead, Read};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, Message};

/// Bytes of the longest accepted message: many times the longest source, as JSON.
const LONGEST: u64 = 256 << 20;
/// Bytes of the longest line in a header.
const HEADER: u64 = 4096;

/// The two threads of a connection.
pub(crate) struct Threads {
    reader: JoinHandle<()>,
    writer: JoinHandle<io::Result<()>>,
    problem: Arc<OnceLock<String>>,
}

/// Connects to the process that started this one.
pub(crate) fn connect() -> (Connection, Threads) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let problem = Arc::new(OnceLock::new());
    let found = Arc::clone(&problem);
    let reader = thread::spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let message = match read(&mut input) {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(error) => return drop(found.set(error.to_string())),
            };
            let is_last = matches!(&message, Message::Notification(notification) if notification.method == "exit");
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
    });
    let writer =
        thread::spawn(move || receiver.into_iter().try_for_each(|message| message.write(&mut io::stdout().lock())));
    (server, Threads { reader, writer, problem })
}

impl Threads {
    /// Returns what went wrong when reading messages, if anything. It is known once no more messages come.
    pub(crate) fn problem(&self) -> Option<String> {
        self.problem.get().cloned()
    }

    /// Waits until everything has been written. The server must have dropped its connection.
    pub(crate) fn join(self) -> Result<(), String> {
        let broken = |_| "a thread of the connection broke down".to_owned();
        self.reader.join().map_err(broken)?;
        self.writer.join().map_err(broken)?.map_err(|error| error.to_string())
    }
}

/// Reads the next message; `None` at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let mut message = Vec::new();
    let mut length = 0;
    loop {
        let begin = message.len();
        if input.take(HEADER).read_until(b'\n', &mut message)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&message[begin..]);
        let line = line.trim();
        match line.split_once(':') {
            _ if line.is_empty() => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let value = value.trim();
                length = value.parse().map_err(|_| io::Error::other(format!("`{value}` is not a length")))?;
            }
            Some(_) => {}
            None => return Err(io::Error::other("a header with `Content-Length: N` comes before each message")),
        }
        if message.len() as u64 > 2 * HEADER {
            return Err(io::Error::other("a header is too long"));
        }
    }
    if length > LONGEST {
        return Err(io::Error::other(format!("a message of {length} bytes is too long; {LONGEST} are taken")));
    }
    input.take(length).read_to_end(&mut message)?;
    Message::read(&mut message.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> Result<Option<String>, String> {
        let read = read(&mut text.as_bytes());
        let method = |message| match message {
            Message::Notification(found) => found.method,
            other => format!("{other:?}"),
        };
        read.map(|message| message.map(method)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_message_is_read_by_its_header() {
        let message = "Content-Length: 36\r\n\r\n{\"jsonrpc\": \"2.0\", \"method\": \"exit\"}Content-";
        assert_eq!(outcome(message), Ok(Some("exit".to_owned())));
        assert_eq!(outcome(""), Ok(None));
    }

    #[test]
    fn what_is_no_message_is_said_and_takes_no_memory() {
        for (text, words) in [
            ("Content-Length: 99999999999999\r\n\r\n{}", "a message of 99999999999999 bytes is too long"),
            ("Content-Length: -5\r\n\r\n{}", "`-5` is not a length"),
            ("hello\r\n\r\n", "a header with `Content-Length: N`"),
            ("X: y\r\n", ""),
        ] {
            match outcome(text) {
                Err(message) => assert!(message.starts_with(words), "{text}: {message}"),
                Ok(found) => assert!(words.is_empty() && found.is_none(), "{text}: {found:?}"),
            }
        }
        let endless = "X: y\r\n".repeat(10_000);
        assert_eq!(outcome(&endless), Err("a header is too long".to_owned()));
    }
}
