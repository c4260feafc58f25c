//! Programs tested in parallel, each in a process that can be killed without harm to the others: a program that hangs,
//! crashes or takes too long costs only itself.
//!
//! A process tests one program after another. It receives a job as a line of JSON and answers with a line; an empty
//! line in between says that it is still at work.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::job::{Job, Tested};
use crate::exit::Failure;

/// The time allowed for assembling and starting, on top of the limit for a run.
const GRACE: Duration = Duration::from_secs(10);

/// Tests all programs, this many at once, and passes on each result with its position in the list.
pub(super) fn run(jobs: &[Job], at_once: usize, mut each: impl FnMut(usize, Tested)) {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..at_once.min(jobs.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                let mut worker = None;
                while let Some((at, job)) = take(jobs, next) {
                    let tested = ask(&mut worker, job).unwrap_or_else(|why| Tested::error(&job.program, why));
                    if sender.send((at, tested)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        results.into_iter().for_each(|(at, tested)| each(at, tested));
    });
}

fn take<'j>(jobs: &'j [Job], next: &AtomicUsize) -> Option<(usize, &'j Job)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, job))
}

/// A testing process, and a thread that reads its answers.
struct Worker {
    child: Child,
    jobs: ChildStdin,
    answers: Receiver<String>,
}

impl Worker {
    fn start() -> std::io::Result<Worker> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["test", "--worker"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(jobs), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Worker { child, jobs, answers })
    }

    fn answer(&mut self, job: &Job) -> Result<Tested, String> {
        let line = serde_json::to_string(job).map_err(|error| error.to_string())?;
        writeln!(self.jobs, "{line}").map_err(|error| error.to_string())?;
        let patience = Duration::from_secs(job.limits.seconds) + GRACE;
        loop {
            match self.answers.recv_timeout(patience) {
                Ok(line) if line.is_empty() => {}
                Ok(line) => return serde_json::from_str(&line).map_err(|error| error.to_string()),
                Err(RecvTimeoutError::Timeout) => return Err(format!("no answer within {} s", patience.as_secs())),
                Err(RecvTimeoutError::Disconnected) => return Err("Lathe itself stopped while testing it".to_owned()),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended already, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the worker's answer; starts a worker if need be, and drops it if it fails.
fn ask(worker: &mut Option<Worker>, job: &Job) -> Result<Tested, String> {
    let mut active = match worker.take() {
        Some(active) => active,
        None => Worker::start().map_err(|error| format!("no process can be started: {error}"))?,
    };
    let tested = active.answer(job)?;
    *worker = Some(active);
    Ok(tested)
}

/// Does the work of a testing process: tests the programs it is given, until its input ends.
pub(super) fn work() -> Result<(), Failure> {
    let lost = |error: std::io::Error| Failure::input(format!("the process that asked has gone: {error}"));
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(lost)?;
        let job: Job = serde_json::from_str(&line).map_err(|error| Failure::usage(format!("not a job: {error}")))?;
        let tested = job.run(&mut || {
            // If nobody listens, writing the answer will fail as well.
            let _ = writeln!(std::io::stdout());
        });
        let answer = serde_json::to_string(&tested).map_err(|error| Failure::input(error.to_string()))?;
        writeln!(std::io::stdout(), "{answer}").map_err(lost)?;
    }
    Ok(())
}
