//! The thread on which code is compiled while machines go on running.

use std::sync::OnceLock;
use std::sync::mpsc::{SendError, Sender, channel};
use std::thread;

use lathe_jit::Job;

/// Does a job on the thread for compiling, which all machines of the process share. Where there are no threads, it
/// is done at once.
pub(crate) fn run(job: Job) {
    static WORKER: OnceLock<Option<Sender<Job>>> = OnceLock::new();
    let left = match WORKER.get_or_init(start) {
        Some(worker) => worker.send(job).err().map(|SendError(job)| job),
        None => Some(job),
    };
    if let Some(job) = left {
        job();
    }
}

/// A thread that does what is sent to it, if there can be one.
fn start() -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    thread::Builder::new().name("compiling".into()).spawn(work).ok().map(|_| sender)
}
