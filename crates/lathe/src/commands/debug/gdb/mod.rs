//! `lathe debug --gdb`: the debugger for gdb users, over gdb's remote protocol.

mod guise;
mod script;
mod target;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use gdbstub::stub::{DisconnectReason, GdbStub};
use lathe_debug::Debugger;

use super::super::Outcome;
use super::failure;
use crate::arguments::Debug;
use crate::exit::{Exit, Failure};
use crate::{files, output};
use guise::Guise;
use target::{GdbTarget, Loop};

/// Serves gdb until the user kills the program there. A client that detaches can come back.
pub(super) fn serve(debugger: &mut Debugger, port: u16, arguments: &Debug) -> Outcome {
    let refused = |error: io::Error| Failure::input(format!("port {port} cannot be listened on: {error}"));
    let mut guise = Guise::new(debugger.program().isa()).map_err(|problem| failure(&arguments.image, problem))?;
    // Only this computer can reach the port.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    if let Some(name) = &arguments.gdb_script {
        let bytes = script::text(debugger.program(), &guise, address).into_bytes();
        files::write_all(&[files::Whole { name: name.clone(), bytes }])?;
    }
    output::answer(&welcome(&guise, arguments, address))?;
    loop {
        let (line, _) = listener.accept().map_err(refused)?;
        let mut target = GdbTarget::new(debugger, guise, line.try_clone().map_err(refused)?);
        let ended = GdbStub::new(line).run_blocking::<Loop>(&mut target);
        guise = target.leave();
        match ended {
            Ok(DisconnectReason::Kill) => return Ok(Exit::Done),
            Ok(_) => {}
            // A client that disconnects without notice is no reason to stop serving others.
            Err(error) => output::complain(&format!("gdb has left: {error}\n")),
        }
    }
}

/// Explains how to connect.
fn welcome(guise: &Guise, arguments: &Debug, address: SocketAddr) -> String {
    let remote = format!("-ex 'target remote {address}'");
    let command = match &arguments.gdb_script {
        Some(script) => format!("gdb-multiarch -x {script}"),
        None if guise.is_itself() => format!("gdb-multiarch {} {remote}", arguments.image),
        None => format!("gdb-multiarch -ex 'set architecture riscv:rv32' -ex 'set osabi none' {remote}"),
    };
    format!("waiting for gdb on {address}; connect with\n  {command}\n")
}
