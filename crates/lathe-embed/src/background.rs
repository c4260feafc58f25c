//! The thread that compiles code while machines keep running.

use std::sync::OnceLock;
use std::sync::mpsc::{SendError, Sender, channel};
use std::thread;

use lathe_jit::Job;

/// Runs a job on the compiling thread, which all machines of the process share. Where there are no threads, the job
/// runs at once.
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

/// Starts a thread that runs the jobs sent to it, if there can be one.
fn start() -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    thread::Builder::new().name("compiling".into()).spawn(work).ok().map(|_| sender)
}
