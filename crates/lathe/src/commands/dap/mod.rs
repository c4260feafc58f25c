//! `lathe dap`: the debugger for editors, as a Debug Adapter Protocol server on standard input and output, or on a port
//! of this computer.
//!
//! A separate thread reads messages, so that `pause` is heard while a program runs.

mod base64;
mod breakpoints;
mod memory;
mod protocol;
mod session;
mod target;

use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::mpsc;

use super::Outcome;
use crate::arguments::Dap;
use crate::exit::{Exit, Failure};
use crate::output;
use protocol::Incoming;
use session::ClientSession;

/// Serves editors.
pub(super) fn execute(arguments: &Dap) -> Outcome {
    let Some(port) = arguments.listen else {
        serve(io::stdin(), io::stdout(), None)?;
        return Ok(Exit::Done);
    };
    let refused = |error: io::Error| Failure::input(format!("port {port} cannot be listened on: {error}"));
    // Only this computer can reach the port, and only with the token.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let token = arguments.token.clone().unwrap_or_else(random_token);
    output::answer(&format!("listening on {address}, token {token}\n"))?;
    loop {
        let (stream, _) = listener.accept().map_err(refused)?;
        let reading = stream.try_clone().map_err(refused)?;
        // A client that disconnects without notice is no reason to stop serving others.
        let _ = serve(reading, stream, Some(&token));
    }
}

/// Serves one client until it leaves.
fn serve(input: impl Read + Send + 'static, output: impl Write, token: Option<&str>) -> Result<(), Failure> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let message = protocol::read(&mut input);
            let is_end = matches!(message, Incoming::End);
            if send.send(message).is_err() || is_end {
                break;
            }
        }
    });
    let ended = ClientSession::new(output, receive, token.map(str::to_owned)).serve();
    ended.or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Ok(()),
        _ => Err(Failure::input(format!("the client cannot be answered: {error}"))),
    })
}

/// Returns a token that nobody can guess: the standard library's hash maps are randomly seeded.
fn random_token() -> String {
    (0..2).map(|at: u32| format!("{:016x}", RandomState::new().hash_one(at))).collect()
}
