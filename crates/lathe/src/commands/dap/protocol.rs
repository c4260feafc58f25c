//! Messages of the Debug Adapter Protocol: a header with a length, then JSON. Anything else is reported and skipped; no
//! input ends the server.

use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest message accepted, in bytes.
const LONGEST: usize = 16 << 20;
/// The longest credible message, in bytes.
const CREDIBLE: usize = 1 << 30;
/// The longest header line, in bytes.
const HEADER: u64 = 4096;

/// A request of the client.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClientRequest {
    #[serde(default)]
    pub(super) seq: i64,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Value,
}

/// An incoming message.
#[derive(Clone, Debug)]
pub(super) enum Incoming {
    Request(ClientRequest),
    /// Not a request, and why.
    Malformed(String),
    /// The end of the input.
    End,
}

/// Reads the next message.
pub(super) fn read(input: &mut impl BufRead) -> Incoming {
    let Some(length) = read_header(input) else { return Incoming::End };
    let length = match length {
        Ok(length) if length <= LONGEST => length,
        Ok(length) => {
            // The body is skipped, if the length is credible.
            if length <= CREDIBLE {
                let _ = io::copy(&mut input.take(length as u64), &mut io::sink());
            }
            return Incoming::Malformed(format!("a message of {length} bytes is too long; {LONGEST} are taken"));
        }
        Err(cause) => return Incoming::Malformed(cause),
    };
    let mut body = vec![0; length];
    if input.read_exact(&mut body).is_err() {
        return Incoming::End;
    }
    match serde_json::from_slice::<ClientRequest>(&body) {
        Ok(request) if request.kind == "request" => Incoming::Request(request),
        Ok(request) => Incoming::Malformed(format!("a message of type `{}` is not a request", request.kind)),
        Err(error) => Incoming::Malformed(format!("the message is not what it should be: {error}")),
    }
}

/// Reads the length from a header; `None` at the end of the input.
fn read_header(input: &mut impl BufRead) -> Option<Result<usize, String>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(HEADER).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        match (text.is_empty(), text.split_once(':')) {
            (true, _) => match length {
                Some(length) => return Some(length),
                None => continue,
            },
            (_, Some((name, value))) if name.trim().eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().map_err(|_| format!("`{}` is not a length", value.trim())));
            }
            (_, Some(_)) => {}
            (_, None) => return Some(Err("a header with `Content-Length: N` comes before each message".to_owned())),
        }
    }
}

/// The outgoing messages, numbered.
pub(super) struct Outgoing<W> {
    writer: W,
    seq: i64,
}

#[derive(Serialize)]
struct Response<'r> {
    seq: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    request_seq: i64,
    success: bool,
    command: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'r str>,
    #[serde(skip_serializing_if = "Value::is_null")]
    body: Value,
}

#[derive(Serialize)]
struct Event<'e> {
    seq: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    event: &'e str,
    #[serde(skip_serializing_if = "Value::is_null")]
    body: Value,
}

impl<W: Write> Outgoing<W> {
    pub(super) fn new(writer: W) -> Outgoing<W> {
        Outgoing { writer, seq: 0 }
    }

    pub(super) fn respond(&mut self, request: &ClientRequest, body: Value) -> io::Result<()> {
        let (request_seq, command) = (request.seq, request.command.as_str());
        self.seq += 1;
        let response =
            Response { seq: self.seq, kind: "response", request_seq, success: true, command, message: None, body };
        self.send(&response)
    }

    /// Sends an error; `request` is `None` where the request is unknown.
    pub(super) fn refuse(&mut self, request: Option<&ClientRequest>, message: &str) -> io::Result<()> {
        self.seq += 1;
        let body = serde_json::json!({ "error": { "id": 1, "format": message, "showUser": true } });
        let response = Response {
            seq: self.seq,
            kind: "response",
            request_seq: request.map_or(0, |request| request.seq),
            success: false,
            command: request.map_or("", |request| &request.command),
            message: Some(message),
            body,
        };
        self.send(&response)
    }

    pub(super) fn event(&mut self, event: &str, body: Value) -> io::Result<()> {
        self.seq += 1;
        self.send(&Event { seq: self.seq, kind: "event", event, body })
    }

    fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_string(message)?;
        write!(self.writer, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            match read(&mut bytes) {
                Incoming::Request(request) => found.push(request.command),
                Incoming::Malformed(cause) => found.push(format!("! {cause}")),
                Incoming::End => return found,
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn what_is_malformed_is_told_and_passed_over() {
        let good = framed(r#"{"seq":1,"type":"request","command":"threads"}"#);
        for bad in [
            "nonsense\r\n".to_owned(),
            "Content-Length: many\r\n\r\n".to_owned(),
            "Content-Length: -1\r\n\r\n".to_owned(),
            framed("{"),
            framed("[]"),
            framed(r#"{"seq":1,"type":"event","event":"x"}"#),
            framed(r#"{"seq":"x","type":"request"}"#),
        ] {
            let found = all(format!("{good}{bad}{good}").as_bytes());
            assert_eq!(
                (found.len(), found[0].as_str(), found[2].as_str()),
                (3, "threads", "threads"),
                "{bad:?}: {found:?}"
            );
            assert!(found[1].starts_with('!'), "{bad:?}: {found:?}");
        }
        assert!(all(b"Content-Length: 99999999999999\r\n\r\n{}").iter().all(|found| found.starts_with('!')));
        assert!(all(b"Content-Length: 10\r\n\r\n{}").is_empty());
    }
}
